//! Numbers that are the same for all elements of a launch.

use equelle_front::ir::Interpolant;
use equelle_runtime::{Real, math};

use crate::program::{RealBinary, RealUnary, Uniform, UniformId};

/// Source of the numbers of a launch.
pub trait UniformSource {
    /// A parameter that is a Scalar, or a Bool as 1 or 0.
    fn param(&self, param: equelle_front::ir::ParamId) -> f64;
    /// A component of a Vector.
    fn component(&self, param: equelle_front::ir::ParamId, axis: u8) -> f64;
    /// The value of an axis.
    fn per_axis(&self, param: equelle_front::ir::ParamId, axis: u8) -> f64;
    /// The numbers of a table.
    fn table(&self, table: crate::program::ArrayId) -> &[f64];
}

/// The value of each. What enters is rounded to `T`, and so is every operation.
pub fn evaluate<T: Real>(uniforms: &[Uniform], source: &impl UniformSource) -> Vec<T> {
    let mut values: Vec<T> = Vec::with_capacity(uniforms.len());
    for uniform in uniforms {
        let of = |id: UniformId| values[id.0 as usize];
        let holds = |id: UniformId| of(id) != T::ZERO;
        let truth = |truth: bool| if truth { T::ONE } else { T::ZERO };
        let value = match *uniform {
            Uniform::Const(bits) => T::from_f64(f64::from_bits(bits)),
            Uniform::Param(param) => T::from_f64(source.param(param)),
            Uniform::Component(param, axis) => T::from_f64(source.component(param, axis)),
            Uniform::PerAxis(param, axis) => T::from_f64(source.per_axis(param, axis)),
            Uniform::Unary(op, a) => unary(op, of(a)),
            Uniform::Binary(op, a, b) => binary(op, of(a), of(b)),
            Uniform::Compare(op, a, b) => truth(op.holds(&of(a), &of(b))),
            Uniform::Not(a) => truth(!holds(a)),
            Uniform::Logic(op, a, b) => truth(equelle_interp::value::logic(op, holds(a), holds(b))),
            Uniform::Select(condition, a, b) => {
                if holds(condition) {
                    of(a)
                } else {
                    of(b)
                }
            }
            Uniform::Interpolate(table, Interpolant::Value, x) => math::interpolate(source.table(table), of(x)),
            Uniform::Interpolate(table, Interpolant::Slope, x) => math::slope(source.table(table), of(x)),
        };
        values.push(value);
    }
    values
}

/// Operation on one number.
pub fn unary<T: Real>(op: RealUnary, a: T) -> T {
    match op {
        RealUnary::Neg => -a,
        RealUnary::Abs => a.abs(),
        RealUnary::Sqrt => a.sqrt(),
        RealUnary::Elementary(function) => function.of(a),
    }
}

/// Operation on two numbers.
pub fn binary<T: Real>(op: RealBinary, a: T, b: T) -> T {
    match op {
        RealBinary::Add => a + b,
        RealBinary::Sub => a - b,
        RealBinary::Mul => a * b,
        RealBinary::Div => a / b,
        RealBinary::Min => math::min(a, b),
        RealBinary::Max => math::max(a, b),
        RealBinary::Pow => math::pow(a, b),
        RealBinary::ATan2 => math::atan2(a, b),
    }
}
