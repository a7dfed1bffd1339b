//! What is computed: a cube of unit cells, temperatures given on both ends of the first axis, no heat through the other sides.

/// Thermal diffusivity.
pub const K: f64 = 0.3;
/// Time step.
pub const DT: f64 = 0.5;
/// Temperature at the start.
pub const START: f64 = 500.0;
/// Temperature given at x = 0.
pub const LOW: f64 = 100.0;
/// Temperature given at x = n.
pub const HIGH: f64 = 900.0;

/// Size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Cells along each axis; at least 3.
    pub n: usize,
    /// Time steps; at least 2.
    pub steps: usize,
}

/// Both sides add the same terms, in another order and with factors drawn out of the sum. A step does about 10 operations on a value, each with a relative error of
/// at most 1.1e-16, and does not enlarge errors that are there: 1e-12 is enough for 900 steps.
///
/// # Panics
/// If the results differ by more.
pub fn compare(generated: &[f64], by_hand: &[f64]) {
    assert_eq!(generated.len(), by_hand.len());
    let largest = by_hand.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let worst = generated.iter().zip(by_hand).map(|(a, b)| (a - b).abs()).fold(0.0, |worst: f64, d| if d <= worst { worst } else { d });
    assert!(worst <= 1e-12 * largest, "results differ by {worst}, with values up to {largest}");
    assert!(by_hand.iter().any(|u| *u != START), "nothing happened");
}
