//! Values of expressions over a block of elements: each node of the tree is a loop over the block.
//!
//! Both values of a choice are evaluated: expressions have no effects and cannot fail. A truth
//! value is `None` where a number that is not finite is compared; a number chosen by it is NaN.

use super::{Number, Truth};
use crate::math;
use crate::operators::{Binary, Comparison, Elementary, Logic, Unary};

/// Elements that are evaluated at a time: all values of an expression of usual size fit the cache.
pub const BLOCK: usize = 256;

/// Arrays of blocks, used again by the nodes of an expression and by further blocks.
#[derive(Debug, Default)]
pub struct Scratch {
    numbers: Vec<Vec<f64>>,
    truths: Vec<Vec<Option<bool>>>,
}

impl Scratch {
    fn with_numbers<T>(&mut self, len: usize, with: impl FnOnce(&mut Scratch, &mut [f64]) -> T) -> T {
        let mut array = self.numbers.pop().unwrap_or_else(|| vec![0.0; BLOCK]);
        let result = with(self, &mut array[..len]);
        self.numbers.push(array);
        result
    }

    fn with_truths<T>(&mut self, len: usize, with: impl FnOnce(&mut Scratch, &mut [Option<bool>]) -> T) -> T {
        let mut array = self.truths.pop().unwrap_or_else(|| vec![None; BLOCK]);
        let result = with(self, &mut array[..len]);
        self.truths.push(array);
        result
    }
}

impl Number {
    /// Values at the elements of a block, from those of each variable.
    ///
    /// # Panics
    /// If a variable has no values, if there are not as many as in `out`, and for more than
    /// [`BLOCK`] elements.
    pub fn values(&self, variables: &[Vec<f64>], out: &mut [f64], scratch: &mut Scratch) {
        match self {
            Number::Constant(value) => out.fill(*value),
            Number::Variable(index) => out.copy_from_slice(&variables[*index][..out.len()]),
            Number::Unary(function, a) => {
                a.values(variables, out, scratch);
                unary(*function, out);
            }
            Number::Binary(function, a, b) => {
                a.values(variables, out, scratch);
                if let Number::Constant(b) = **b {
                    return binary(*function, out, |_| b);
                }
                scratch.with_numbers(out.len(), |scratch, second| {
                    b.values(variables, second, scratch);
                    binary(*function, out, |position| second[position]);
                });
            }
            Number::Power(base, exponent) => {
                base.values(variables, out, scratch);
                each(out, |value| power(value, *exponent));
            }
            Number::Choice(condition, a, b) => scratch.with_truths(out.len(), |scratch, holds| {
                condition.truths(variables, holds, scratch);
                a.values(variables, out, scratch);
                scratch.with_numbers(out.len(), |scratch, second| {
                    b.values(variables, second, scratch);
                    choose(out, second, holds, f64::NAN);
                });
            }),
        }
    }
}

impl Truth {
    /// Values at the elements of a block, from those of each variable; `None` where a number that
    /// is not finite is compared, unless the left side of `And` or `Or` decides before.
    ///
    /// # Panics
    /// As [`Number::values`].
    pub fn truths(&self, variables: &[Vec<f64>], out: &mut [Option<bool>], scratch: &mut Scratch) {
        match self {
            Truth::Constant(value) => out.fill(Some(*value)),
            Truth::Compare(comparison, a, b) => scratch.with_numbers(out.len(), |scratch, first| {
                a.values(variables, first, scratch);
                scratch.with_numbers(out.len(), |scratch, second| {
                    b.values(variables, second, scratch);
                    for ((out, a), b) in out.iter_mut().zip(first).zip(second) {
                        *out = compared(*comparison, *a, *b);
                    }
                });
            }),
            Truth::Logic(logic, a, b) => {
                a.truths(variables, out, scratch);
                scratch.with_truths(out.len(), |scratch, second| {
                    b.truths(variables, second, scratch);
                    for (out, second) in out.iter_mut().zip(second) {
                        *out = match (logic, *out) {
                            (_, None) => None,
                            (Logic::And, Some(false)) => Some(false),
                            (Logic::Or, Some(true)) => Some(true),
                            (Logic::And, Some(true)) | (Logic::Or, Some(false)) => *second,
                            (Logic::Xor, Some(first)) => second.map(|second| first != second),
                        };
                    }
                });
            }
            Truth::Not(a) => {
                a.truths(variables, out, scratch);
                out.iter_mut().for_each(|value| *value = value.map(|value| !value));
            }
            Truth::Choice(condition, a, b) => scratch.with_truths(out.len(), |scratch, holds| {
                condition.truths(variables, holds, scratch);
                a.truths(variables, out, scratch);
                scratch.with_truths(out.len(), |scratch, second| {
                    b.truths(variables, second, scratch);
                    choose(out, second, holds, None);
                });
            }),
        }
    }
}

/// Keeps values where the condition holds, takes `otherwise` where it does not, and `unknown` where
/// it has no value.
fn choose<T: Copy>(values: &mut [T], otherwise: &[T], holds: &[Option<bool>], unknown: T) {
    for ((value, otherwise), holds) in values.iter_mut().zip(otherwise).zip(holds) {
        *value = match holds {
            Some(true) => *value,
            Some(false) => *otherwise,
            None => unknown,
        };
    }
}

fn compared(comparison: Comparison, a: f64, b: f64) -> Option<bool> {
    (a.is_finite() && b.is_finite()).then(|| comparison.holds(&a, &b))
}

#[inline(always)]
fn each(values: &mut [f64], function: impl Fn(f64) -> f64) {
    values.iter_mut().for_each(|value| *value = function(*value));
}

/// A loop for each function, so that the function is known where the loop is compiled.
fn unary(function: Unary, values: &mut [f64]) {
    macro_rules! loops {
        ($($variant:ident $function:ident $work:ident { $($facts:tt)* })*) => {
            match function {
                Unary::Copy => {}
                Unary::Neg => each(values, |value| -value),
                Unary::Abs => each(values, f64::abs),
                Unary::Sqrt => each(values, f64::sqrt),
                $(Unary::Elementary(Elementary::$variant) => each(values, math::$function),)*
            }
        };
    }
    equelle_core::elementary_table!(loops);
}

#[inline(always)]
fn binary(function: Binary, values: &mut [f64], second: impl Fn(usize) -> f64) {
    let values = values.iter_mut().enumerate();
    match function {
        Binary::Add => values.for_each(|(position, value)| *value += second(position)),
        Binary::Sub => values.for_each(|(position, value)| *value -= second(position)),
        Binary::Mul => values.for_each(|(position, value)| *value *= second(position)),
        Binary::Div => values.for_each(|(position, value)| *value /= second(position)),
        Binary::Math(function) => values.for_each(|(position, value)| *value = function.of(*value, second(position))),
    }
}

/// By squaring and multiplying, from the lowest binary digit of the exponent up; one over that for
/// a negative exponent.
fn power(base: f64, exponent: i32) -> f64 {
    if exponent == 0 {
        return 1.0;
    }
    let (mut square, mut rest) = (base, exponent.unsigned_abs());
    let mut result: Option<f64> = None;
    loop {
        if rest & 1 == 1 {
            result = Some(result.map_or(square, |so_far| so_far * square));
        }
        rest >>= 1;
        if rest == 0 {
            let power = result.unwrap_or(base);
            return if exponent > 0 { power } else { 1.0 / power };
        }
        square *= square;
    }
}
