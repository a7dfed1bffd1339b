//! Element-wise arithmetic on collections of Scalar: IEEE operations as written, in the precision
//! of collections, with their derivatives.

use equelle_runtime::math::table::Table;
use equelle_runtime::{Binary, Error, Real, Unary, math};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::forward::{by_sign, map, zip};

/// Applies an operation to each element.
pub(super) fn unary<R: Real>(rt: &SerialRuntime<R>, op: Unary, a: &ScalarCollection<R>) -> ScalarCollection<R> {
    match op {
        Unary::Copy => a.clone(),
        Unary::Neg => map(rt, a, |a| -a, |_, _, d| -d),
        Unary::Abs => map(rt, a, R::abs, by_sign),
        Unary::Sqrt => map(rt, a, R::sqrt, |_, root, d| R::from_f64(0.5) / root * d),
        Unary::Elementary(f) => map(rt, a, |a| f.of(a), |a, value, d| f.derivative(a, value).factor() * d),
    }
}

/// A table at each element.
pub(super) fn interpolate<R: Real>(rt: &SerialRuntime<R>, table: &Table, a: &ScalarCollection<R>) -> ScalarCollection<R> {
    let numbers = table.numbers();
    map(rt, a, |a| math::interpolate(numbers, a), |a, _, d| math::slope(numbers, a) * d)
}

/// Applies an operation to each pair of elements.
pub(super) fn binary<R: Real>(
    rt: &SerialRuntime<R>,
    op: Binary,
    a: &ScalarCollection<R>,
    b: &ScalarCollection<R>,
) -> Result<ScalarCollection<R>, Error> {
    match op {
        Binary::Add => zip(rt, a, b, |a, b| a + b, |_, _, _, d| d, |_, _, _, d| d),
        Binary::Sub => zip(rt, a, b, |a, b| a - b, |_, _, _, d| d, |_, _, _, d| -d),
        Binary::Mul => zip(rt, a, b, |a, b| a * b, |_, b, _, d| b * d, |a, _, _, d| a * d),
        Binary::Div => zip(rt, a, b, |a, b| a / b, |_, b, _, d| d / b, |_, b, quotient, d| -(quotient * d) / b),
        Binary::Math(f) => {
            zip(rt, a, b, |a, b| f.of(a, b), |a, b, _, d| f.by_first(a, b) * d, |a, b, value, d| f.by_second(a, b, value) * d)
        }
    }
}

/// Applies an operation to each element and a number.
pub(super) fn binary_scalar<R: Real>(rt: &SerialRuntime<R>, op: Binary, a: &ScalarCollection<R>, s: R) -> ScalarCollection<R> {
    match op {
        Binary::Add => map(rt, a, |a| a + s, |_, _, d| d),
        Binary::Sub => map(rt, a, |a| a - s, |_, _, d| d),
        Binary::Mul => map(rt, a, |a| a * s, |_, _, d| d * s),
        Binary::Div => map(rt, a, |a| a / s, |_, _, d| d / s),
        Binary::Math(f) => map(rt, a, |a| f.of(a, s), |a, _, d| f.by_first(a, s) * d),
    }
}

/// Applies an operation to a number and each element.
pub(super) fn scalar_binary<R: Real>(rt: &SerialRuntime<R>, op: Binary, s: R, a: &ScalarCollection<R>) -> ScalarCollection<R> {
    match op {
        Binary::Add => map(rt, a, |a| s + a, |_, _, d| d),
        Binary::Sub => map(rt, a, |a| s - a, |_, _, d| -d),
        Binary::Mul => map(rt, a, |a| s * a, |_, _, d| s * d),
        Binary::Div => map(rt, a, |a| s / a, |a, quotient, d| -(quotient * d) / a),
        Binary::Math(f) => map(rt, a, |a| f.of(s, a), |a, value, d| f.by_second(s, a, value) * d),
    }
}
