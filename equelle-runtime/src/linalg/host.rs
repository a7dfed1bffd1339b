//! Vectors and operators on the host: plain loops, one thread.

use std::convert::Infallible;

use super::csr::Csr;
use super::null_space::NullSpace;
use super::space::{CHOP, LinearOperator, VectorSpace};
use crate::reduce;
use crate::traits::Reduction;

/// Vectors of a given length as `Vec<f64>`; every number is known at once.
#[derive(Clone, Debug)]
pub struct HostSpace {
    n: usize,
    leaves: Vec<f64>,
}

impl HostSpace {
    /// Vectors of `n` elements.
    pub fn new(n: usize) -> HostSpace {
        HostSpace { n, leaves: Vec::with_capacity(reduce::leaf_count(n)) }
    }
}

/// `x . y` in the order of [`crate::reduce`].
///
/// # Panics
/// If the lengths differ.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    dot_with(&mut Vec::new(), x, y)
}

fn dot_with(leaves: &mut Vec<f64>, x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "vectors of one length");
    let leaf = |(x, y): (&[f64], &[f64])| reduce::leaf(Reduction::Sum, x.iter().zip(y).map(|(x, y)| x * y)).unwrap_or(0.0);
    leaves.clear();
    leaves.extend(x.chunks(reduce::LEAF).zip(y.chunks(reduce::LEAF)).map(leaf));
    reduce::tree(Reduction::Sum, leaves).unwrap_or(0.0)
}

/// `|x|` (2-norm), without overflow or underflow of the squares: the elements are scaled by a power of two first. NaN if an element is not
/// finite.
pub fn norm(x: &[f64]) -> f64 {
    let Some(scale) = power_of_two_near(x) else { return f64::NAN };
    let scaled: Vec<f64> = x.iter().map(|x| x / scale).collect();
    dot(&scaled, &scaled).sqrt() * scale
}

/// A power of two near the largest magnitude, 1 if all are zero; `None` if an element is not finite. Dividing by it loses no bit of any
/// element that matters beside the largest one.
pub(super) fn power_of_two_near(x: &[f64]) -> Option<f64> {
    if x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let largest = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return Some(1.0);
    }
    // The exponent field alone; subnormals get the smallest normal number.
    Some(f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000).max(f64::MIN_POSITIVE))
}

impl VectorSpace for HostSpace {
    type Vector = Vec<f64>;
    type Scalar = f64;
    type Error = Infallible;

    fn zeros(&mut self) -> Result<Vec<f64>, Infallible> {
        Ok(vec![0.0; self.n])
    }

    fn copy(&mut self, y: &mut Vec<f64>, x: &Vec<f64>) {
        y.copy_from_slice(x);
    }

    fn dot(&mut self, x: &Vec<f64>, y: &Vec<f64>) -> f64 {
        dot_with(&mut self.leaves, x, y)
    }

    fn add_scaled(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
    }

    fn sub_scaled(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y -= a * x);
    }

    fn scale_add(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x + a * *y);
    }

    fn scale(&mut self, y: &mut Vec<f64>, a: &f64) {
        y.iter_mut().for_each(|y| *y *= a);
    }

    fn constant(&mut self, value: f64) -> f64 {
        value
    }

    fn add(&mut self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn sub(&mut self, a: &f64, b: &f64) -> f64 {
        a - b
    }

    fn mul(&mut self, a: &f64, b: &f64) -> f64 {
        a * b
    }

    fn ratio(&mut self, a: &f64, b: &f64) -> f64 {
        if *b == 0.0 { 0.0 } else { a / b }
    }

    fn chop(&mut self, a: &f64, b: &f64) -> f64 {
        if a.abs() <= CHOP * b.abs() { 0.0 } else { *a }
    }

    fn sqrt(&mut self, a: &f64) -> f64 {
        a.sqrt()
    }

    fn min(&mut self, a: &f64, b: &f64) -> f64 {
        reduce::combine(Reduction::Min, *a, *b)
    }

    fn read<const N: usize>(&mut self, scalars: [&f64; N]) -> Result<[f64; N], Infallible> {
        Ok(scalars.map(|scalar| *scalar))
    }
}

impl LinearOperator<HostSpace> for Csr {
    fn apply(&self, _space: &mut HostSpace, y: &mut Vec<f64>, x: &Vec<f64>) {
        self.mul_into(y, x);
    }
}

/// `s P A`, where `s` is 1 or -1 and `P` removes what round-off has put outside the range of a matrix with a constant null space.
pub(super) struct Projected<'a> {
    pub matrix: &'a Csr,
    pub null_space: &'a NullSpace,
    pub sign: f64,
}

impl LinearOperator<HostSpace> for Projected<'_> {
    fn apply(&self, _space: &mut HostSpace, y: &mut Vec<f64>, x: &Vec<f64>) {
        self.matrix.mul_into(y, x);
        if self.sign != 1.0 {
            y.iter_mut().for_each(|y| *y *= self.sign);
        }
        self.null_space.project_to_range(y);
    }
}
