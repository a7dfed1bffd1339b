//! Reproducible pseudo-random numbers, which start eigenvalue estimates.

/// Multiplier and increment of the linear congruential sequence whose upper bits [`noise`] returns
/// (D. E. Knuth's MMIX).
pub const NOISE: (u64, u64) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
/// Its seed.
pub const NOISE_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number in `[-1, 1)` from a state of the sequence.
pub fn noise(state: u64) -> f64 {
    (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The first `n` numbers.
pub(in crate::linalg::precond) fn noises(n: usize) -> impl Iterator<Item = f64> {
    noises_from(NOISE_SEED, n)
}

/// The first `n` numbers from another seed.
pub(in crate::linalg) fn noises_from(seed: u64, n: usize) -> impl Iterator<Item = f64> {
    let mut state = seed;
    (0..n).map(move |_| {
        state = state.wrapping_mul(NOISE.0).wrapping_add(NOISE.1);
        noise(state)
    })
}
