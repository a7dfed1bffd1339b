//! Operations on numbers of a precision, which doubles hold.

use equelle_front::ir::{Interpolant, Precision};
use equelle_runtime::{Binary, Float, Unary, math};

/// The function of a number.
pub(crate) fn unary(precision: Precision, op: Unary, a: f64) -> f64 {
    match precision {
        Precision::Double => op.of(a),
        Precision::Single => op.of(f32::from_f64(a)).to_f64(),
    }
}

/// The function of two numbers.
pub(crate) fn binary(precision: Precision, op: Binary, a: f64, b: f64) -> f64 {
    match precision {
        Precision::Double => op.of(a, b),
        Precision::Single => op.of(f32::from_f64(a), f32::from_f64(b)).to_f64(),
    }
}

/// Value or slope of a table at an argument.
pub(crate) fn interpolate(precision: Precision, table: &[f64], of: Interpolant, x: f64) -> f64 {
    precision.round(match of {
        Interpolant::Value => math::interpolate(table, x),
        Interpolant::Slope => math::slope(table, x),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16777217 is no single, 0.1 and a third of it are rounded; the tangent is that of singles.
    #[test]
    fn single_precision_rounds_every_operation() {
        let single = |op, a, b| binary(Precision::Single, op, a, b);
        assert_eq!(single(Binary::Add, 16_777_216.0, 1.0), 16_777_216.0);
        assert_eq!(binary(Precision::Double, Binary::Add, 16_777_216.0, 1.0), 16_777_217.0);
        assert_eq!(single(Binary::Div, 1.0, 3.0), f64::from(1.0_f32 / 3.0));
        assert_eq!(unary(Precision::Single, Unary::Sqrt, 2.0), f64::from(2.0_f32.sqrt()));
        let tan = Unary::Elementary(equelle_runtime::Elementary::Tan);
        assert_eq!(unary(Precision::Single, tan, 1.5), f64::from(math::tan(1.5_f32)));
        assert_ne!(unary(Precision::Single, tan, 1.5), unary(Precision::Double, tan, 1.5));
    }
}
