//! Scaling by powers of two, which rounds nothing.

/// A power of two near the largest magnitude, 1 if all are zero; `None` if an element is not
/// finite. Division by it loses no bit of elements that matter compared with the largest.
pub fn power_of_two_near(x: &[f64]) -> Option<f64> {
    if x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let largest = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return Some(1.0);
    }
    // Only the exponent field; subnormals get the smallest normal number.
    Some(f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE))
}
