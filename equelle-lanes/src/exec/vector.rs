//! Loops over lanes.

use equelle_front::ops::{Comparison, Elementary, Logic, elementary_table};
use equelle_runtime::{Real, math};

use crate::program::{Accumulation, RealBinary, RealUnary};

/// Numbers of an operation, in the lanes of the region.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a, T> {
    /// The same in all lanes.
    One(T),
    /// One for each lane.
    Each(&'a [T]),
}

/// `dst = f(a)`
#[inline(always)]
fn map<T: Real>(dst: &mut [T], a: Operand<'_, T>, f: impl Fn(T) -> T) {
    match a {
        Operand::One(a) => dst.fill(f(a)),
        Operand::Each(a) => {
            for (dst, &a) in dst.iter_mut().zip(a) {
                *dst = f(a);
            }
        }
    }
}

/// `dst = f(a, b)`
#[inline(always)]
fn zip<T: Real, D: Copy>(dst: &mut [D], a: Operand<'_, T>, b: Operand<'_, T>, f: impl Fn(T, T) -> D) {
    match (a, b) {
        (Operand::Each(a), Operand::Each(b)) => {
            for ((dst, &a), &b) in dst.iter_mut().zip(a).zip(b) {
                *dst = f(a, b);
            }
        }
        (Operand::Each(a), Operand::One(b)) => {
            for (dst, &a) in dst.iter_mut().zip(a) {
                *dst = f(a, b);
            }
        }
        (Operand::One(a), Operand::Each(b)) => {
            for (dst, &b) in dst.iter_mut().zip(b) {
                *dst = f(a, b);
            }
        }
        (Operand::One(a), Operand::One(b)) => dst.fill(f(a, b)),
    }
}

/// Operation on one number.
#[inline(always)]
pub fn unary<T: Real>(op: RealUnary, dst: &mut [T], a: Operand<'_, T>) {
    match op {
        RealUnary::Neg => map(
            dst,
            a,
            #[inline(always)]
            |a| -a,
        ),
        RealUnary::Abs => map(dst, a, T::abs),
        RealUnary::Sqrt => map(dst, a, T::sqrt),
        RealUnary::Elementary(function) => {
            macro_rules! loops {
                ($($variant:ident $function:ident $work:ident { $($facts:tt)* })*) => {
                    match function {
                        $(Elementary::$variant => map(dst, a, math::$function),)*
                    }
                };
            }
            elementary_table!(loops)
        }
    }
}

/// Operation on two numbers.
#[inline(always)]
pub fn binary<T: Real>(op: RealBinary, dst: &mut [T], a: Operand<'_, T>, b: Operand<'_, T>) {
    match op {
        RealBinary::Add => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a + b,
        ),
        RealBinary::Sub => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a - b,
        ),
        RealBinary::Mul => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a * b,
        ),
        RealBinary::Div => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a / b,
        ),
        RealBinary::Min => zip(dst, a, b, math::min),
        RealBinary::Max => zip(dst, a, b, math::max),
        RealBinary::Pow => zip(dst, a, b, math::pow),
        RealBinary::ATan2 => zip(dst, a, b, math::atan2),
    }
}

/// Comparison of numbers.
#[inline(always)]
pub fn compare<T: Real>(op: Comparison, dst: &mut [bool], a: Operand<'_, T>, b: Operand<'_, T>) {
    match op {
        Comparison::Less => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a < b,
        ),
        Comparison::Greater => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a > b,
        ),
        Comparison::LessEqual => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a <= b,
        ),
        Comparison::GreaterEqual => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a >= b,
        ),
        Comparison::Equal => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a == b,
        ),
        Comparison::NotEqual => zip(
            dst,
            a,
            b,
            #[inline(always)]
            |a, b| a != b,
        ),
    }
}

/// Comparison of truth values, false before true.
#[inline(always)]
pub fn compare_truths(op: Comparison, dst: &mut [bool], a: &[bool], b: &[bool]) {
    for ((dst, a), b) in dst.iter_mut().zip(a).zip(b) {
        *dst = op.holds(a, b);
    }
}

/// Logic.
#[inline(always)]
pub fn logic(op: Logic, dst: &mut [bool], a: &[bool], b: &[bool]) {
    for ((dst, &a), &b) in dst.iter_mut().zip(a).zip(b) {
        *dst = match op {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        };
    }
}

/// The number at a lane.
#[inline(always)]
fn at<T: Real>(a: Operand<'_, T>, lane: usize) -> T {
    match a {
        Operand::One(a) => a,
        Operand::Each(a) => a[lane],
    }
}

/// `dst = condition ? a : b`
#[inline(always)]
pub fn select<T: Real>(dst: &mut [T], condition: &[bool], a: Operand<'_, T>, b: Operand<'_, T>) {
    match (a, b) {
        (Operand::Each(a), Operand::Each(b)) => {
            for (((dst, &condition), &a), &b) in dst.iter_mut().zip(condition).zip(a).zip(b) {
                *dst = if condition { a } else { b };
            }
        }
        (Operand::Each(a), Operand::One(b)) => {
            for ((dst, &condition), &a) in dst.iter_mut().zip(condition).zip(a) {
                *dst = if condition { a } else { b };
            }
        }
        (Operand::One(a), Operand::Each(b)) => {
            for ((dst, &condition), &b) in dst.iter_mut().zip(condition).zip(b) {
                *dst = if condition { a } else { b };
            }
        }
        (Operand::One(a), Operand::One(b)) => {
            for (dst, &condition) in dst.iter_mut().zip(condition) {
                *dst = if condition { a } else { b };
            }
        }
    }
}

/// `dst = condition ? a : b`
#[inline(always)]
pub fn select_of<T: Copy>(dst: &mut [T], condition: &[bool], a: &[T], b: &[T]) {
    for (((dst, &condition), &a), &b) in dst.iter_mut().zip(condition).zip(a).zip(b) {
        *dst = if condition { a } else { b };
    }
}

/// `dst = acc + a * b`, or with a minus.
#[inline(always)]
pub fn mul_add<T: Real>(dst: &mut [T], acc: Operand<'_, T>, minus: bool, a: Operand<'_, T>, b: Operand<'_, T>) {
    if minus {
        with_product(
            dst,
            acc,
            a,
            b,
            #[inline(always)]
            |acc, product| acc - product,
        );
    } else {
        with_product(
            dst,
            acc,
            a,
            b,
            #[inline(always)]
            |acc, product| acc + product,
        );
    }
}

#[inline(always)]
fn with_product<T: Real>(dst: &mut [T], acc: Operand<'_, T>, a: Operand<'_, T>, b: Operand<'_, T>, f: impl Fn(T, T) -> T) {
    match (acc, a, b) {
        (Operand::Each(acc), Operand::Each(a), Operand::Each(b)) => {
            for (((dst, &acc), &a), &b) in dst.iter_mut().zip(acc).zip(a).zip(b) {
                *dst = f(acc, a * b);
            }
        }
        (Operand::Each(acc), Operand::One(a), Operand::Each(b)) => {
            for ((dst, &acc), &b) in dst.iter_mut().zip(acc).zip(b) {
                *dst = f(acc, a * b);
            }
        }
        (Operand::Each(acc), Operand::Each(a), Operand::One(b)) => {
            for ((dst, &acc), &a) in dst.iter_mut().zip(acc).zip(a) {
                *dst = f(acc, a * b);
            }
        }
        (Operand::Each(_), Operand::One(_), Operand::One(_)) | (Operand::One(_), ..) => {
            for (lane, dst) in dst.iter_mut().enumerate() {
                *dst = f(at(acc, lane), at(a, lane) * at(b, lane));
            }
        }
    }
}

/// `dst = acc + t * (x - y)`, or with a minus.
#[inline(always)]
pub fn mul_diff_add<T: Real>(dst: &mut [T], acc: Operand<'_, T>, minus: bool, t: Operand<'_, T>, x: Operand<'_, T>, y: Operand<'_, T>) {
    match (acc, t, x, y) {
        (Operand::Each(acc), Operand::One(t), Operand::Each(x), Operand::Each(y)) => {
            let lanes = dst.iter_mut().zip(acc).zip(x).zip(y);
            if minus {
                for (((dst, &acc), &x), &y) in lanes {
                    *dst = acc - t * (x - y);
                }
            } else {
                for (((dst, &acc), &x), &y) in lanes {
                    *dst = acc + t * (x - y);
                }
            }
        }
        (Operand::Each(_) | Operand::One(_), ..) => {
            for (lane, dst) in dst.iter_mut().enumerate() {
                let product = at(t, lane) * (at(x, lane) - at(y, lane));
                *dst = if minus { at(acc, lane) - product } else { at(acc, lane) + product };
            }
        }
    }
}

/// Takes `t * (x - y)` into a variable.
#[inline(always)]
pub fn accumulate_mul_diff<T: Real>(
    variable: &mut [T],
    active: Option<&[bool]>,
    minus: bool,
    t: Operand<'_, T>,
    x: Operand<'_, T>,
    y: Operand<'_, T>,
) {
    match (active, t, x, y) {
        (None, Operand::One(t), Operand::Each(x), Operand::Each(y)) => {
            let lanes = variable.iter_mut().zip(x).zip(y);
            if minus {
                for ((variable, &x), &y) in lanes {
                    *variable -= t * (x - y);
                }
            } else {
                for ((variable, &x), &y) in lanes {
                    *variable += t * (x - y);
                }
            }
        }
        (None | Some(_), ..) => {
            for (lane, variable) in variable.iter_mut().enumerate() {
                if active.is_none_or(|active| active[lane]) {
                    let product = at(t, lane) * (at(x, lane) - at(y, lane));
                    *variable = if minus { *variable - product } else { *variable + product };
                }
            }
        }
    }
}

/// Takes terms into a variable; `truth` belongs to [`Accumulation::AddWhere`].
#[inline(always)]
pub fn accumulate<T: Real>(variable: &mut [T], active: Option<&[bool]>, how: Accumulation, truth: &[bool], term: Operand<'_, T>) {
    match how {
        Accumulation::Add => take(
            variable,
            active,
            term,
            #[inline(always)]
            |variable, term| variable + term,
        ),
        Accumulation::Sub => take(
            variable,
            active,
            term,
            #[inline(always)]
            |variable, term| variable - term,
        ),
        Accumulation::Max => take(variable, active, term, math::max),
        Accumulation::Min => take(variable, active, term, math::min),
        Accumulation::AddWhere(_) => {
            for ((lane, variable), &add) in variable.iter_mut().enumerate().zip(truth) {
                let term = at(term, lane);
                let sum = if add { *variable + term } else { *variable - term };
                *variable = if active.is_none_or(|active| active[lane]) { sum } else { *variable };
            }
        }
    }
}

#[inline(always)]
fn take<T: Real>(variable: &mut [T], active: Option<&[bool]>, term: Operand<'_, T>, f: impl Fn(T, T) -> T) {
    match (active, term) {
        (None, Operand::Each(term)) => {
            for (variable, &term) in variable.iter_mut().zip(term) {
                *variable = f(*variable, term);
            }
        }
        (None, Operand::One(term)) => {
            for variable in variable.iter_mut() {
                *variable = f(*variable, term);
            }
        }
        (Some(active), Operand::Each(term)) => {
            for ((variable, &active), &term) in variable.iter_mut().zip(active).zip(term) {
                let taken = f(*variable, term);
                *variable = if active { taken } else { *variable };
            }
        }
        (Some(active), Operand::One(term)) => {
            for (variable, &active) in variable.iter_mut().zip(active) {
                let taken = f(*variable, term);
                *variable = if active { taken } else { *variable };
            }
        }
    }
}

/// A variable becomes other values in the active lanes.
#[inline(always)]
pub fn copy<T: Copy>(dst: &mut [T], active: Option<&[bool]>, src: &[T]) {
    match active {
        None => dst.copy_from_slice(src),
        Some(active) => {
            for ((dst, &active), &src) in dst.iter_mut().zip(active).zip(src) {
                *dst = if active { src } else { *dst };
            }
        }
    }
}

/// Marks the lanes in which a term takes the place of an extreme.
#[inline(always)]
pub fn replaces<T: Real>(dst: &mut [bool], largest: bool, extreme: Operand<'_, T>, term: Operand<'_, T>) {
    if largest {
        zip(
            dst,
            extreme,
            term,
            #[inline(always)]
            |extreme, term| !(extreme >= term || extreme.is_nan()),
        );
    } else {
        zip(
            dst,
            extreme,
            term,
            #[inline(always)]
            |extreme, term| !(extreme <= term || extreme.is_nan()),
        );
    }
}
