//! Scaling by powers of two, which rounds nothing.
//!
//! Rows of one system may have different units: a cell that a residual holds at a value, a penalty,
//! a graded mesh. In the 2-norm of `b - A x` the rows with the largest entries then hide all
//! others.

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

/// Exponents by which the largest entries of rows may differ before the rows are scaled.
pub const EVEN_ROWS: i32 = 8;
/// Largest exponent of a scale: squares of scaled numbers do not overflow.
const MAX_EXPONENT: i32 = 500;

/// Exponent of a positive finite number: 0 from 1 up to 2; -1022 for subnormal numbers.
fn exponent(x: f64) -> i32 {
    (x.max(f64::MIN_POSITIVE).to_bits() >> 52) as i32 - 1023
}

/// True if the largest magnitudes of rows, from `least` to `greatest`, differ by more than
/// [`EVEN_ROWS`] powers of two.
pub fn are_uneven(least: f64, greatest: f64) -> bool {
    least.is_finite() && greatest.is_finite() && exponent(greatest) - exponent(least) > EVEN_ROWS
}

/// The power of two that brings a row with this largest magnitude to between 1 and 2; 1 for a row
/// of zeros.
pub fn inverse_row_scale(largest: f64) -> f64 {
    if largest == 0.0 {
        return 1.0;
    }
    let exponent = (-exponent(largest)).clamp(-MAX_EXPONENT, MAX_EXPONENT);
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_brought_to_between_one_and_two() {
        for largest in [1.0, 1.5, 4.0, 5.0, 0.3, 1e-13, 1e30, 2.0_f64.powi(-400)] {
            let scaled = largest * inverse_row_scale(largest);
            assert!((1.0..2.0).contains(&scaled), "{largest}: {scaled}");
            // No bit of the significand changes.
            assert_eq!(scaled.to_bits() << 12, largest.to_bits() << 12);
        }
        assert_eq!(inverse_row_scale(0.0), 1.0);
        assert_eq!(inverse_row_scale(1e300), 2.0_f64.powi(-500));
        assert_eq!(inverse_row_scale(5e-324), 2.0_f64.powi(500));
    }

    #[test]
    fn rows_within_eight_exponents_are_even() {
        assert!(!are_uneven(1.0, 511.9));
        assert!(are_uneven(1.0, 512.0));
        assert!(!are_uneven(1.99, 256.0));
        // No row with an entry, and entries that are not finite.
        assert!(!are_uneven(f64::INFINITY, 0.0));
        assert!(!are_uneven(1.0, f64::INFINITY) && !are_uneven(1.0, f64::NAN));
    }
}
