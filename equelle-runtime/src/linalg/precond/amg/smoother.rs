//! Smoothers of one level.

use super::super::super::matrix_space::{Direction, MatrixSpace};
use super::{AmgOptions, AmgSmoother};

/// Damping of Jacobi sweeps over the spectral radius: the best for the upper two thirds of the spectrum.
const JACOBI_DAMPING: f64 = 4.0 / 3.0;
/// The polynomial treats eigenvalues of `D^-1 A` between the radius times the first and times the second number.
/// The lower end suits the degree 2.
const CHEBYSHEV: (f64, f64) = (0.25, 1.1);

/// A smoother with what it needs of its level.
#[derive(Debug)]
pub(super) struct Smoother<S: MatrixSpace> {
    kind: AmgSmoother,
    sweeps: usize,
    inverse_diagonal: S::Vector,
    radius: f64,
}

/// Two vectors for a smoother to work with.
#[derive(Debug)]
pub(super) struct Scratch<V> {
    pub r: V,
    pub d: V,
}

/// Before or after the coarse correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before; the iterate is zero.
    Before,
    /// After.
    After,
}

impl<S: MatrixSpace> Smoother<S> {
    pub fn new(inverse_diagonal: S::Vector, radius: f64, options: &AmgOptions) -> Self {
        let (kind, sweeps) = options.smoothing();
        Smoother { kind, sweeps, inverse_diagonal, radius }
    }

    /// Improves `x`. What `x` held before the coarse correction is taken for zero and not read.
    pub fn smooth(&self, space: &mut S, a: &S::Matrix, x: &mut S::Vector, b: &S::Vector, scratch: &mut Scratch<S::Vector>, when: When) {
        match self.kind {
            AmgSmoother::Jacobi => self.jacobi(space, a, x, b, scratch, when),
            AmgSmoother::Chebyshev => self.chebyshev(space, a, x, b, scratch, when),
            AmgSmoother::GaussSeidel => {
                if when == When::Before {
                    space.clear(x);
                }
                let direction = if when == When::Before { Direction::Forward } else { Direction::Backward };
                for _ in 0..self.sweeps {
                    space.gauss_seidel(x, a, &self.inverse_diagonal, b, direction);
                }
            }
        }
    }

    fn jacobi(&self, space: &mut S, a: &S::Matrix, x: &mut S::Vector, b: &S::Vector, scratch: &mut Scratch<S::Vector>, when: When) {
        let omega = JACOBI_DAMPING / self.radius;
        for sweep in 0..self.sweeps {
            if sweep == 0 && when == When::Before {
                space.add_diagonal(x, 0.0, omega, &self.inverse_diagonal, b);
            } else {
                space.residual(&mut scratch.r, b, a, x);
                space.add_diagonal(x, 1.0, omega, &self.inverse_diagonal, &scratch.r);
            }
        }
    }

    /// The three-term recurrence (Saad 2003, algorithm 12.1).
    fn chebyshev(&self, space: &mut S, a: &S::Matrix, x: &mut S::Vector, b: &S::Vector, scratch: &mut Scratch<S::Vector>, when: When) {
        let (low, high) = (CHEBYSHEV.0 * self.radius, CHEBYSHEV.1 * self.radius);
        let (centre, half) = (0.5 * (high + low), 0.5 * (high - low));
        let sigma = centre / half;
        let mut rho = 1.0 / sigma;
        let one = space.constant(1.0);
        let Scratch { r, d } = scratch;
        if when == When::Before {
            space.add_diagonal(d, 0.0, 1.0 / centre, &self.inverse_diagonal, b);
            space.copy(x, d);
        } else {
            space.residual(r, b, a, x);
            space.add_diagonal(d, 0.0, 1.0 / centre, &self.inverse_diagonal, r);
            space.add_scaled(x, &one, d);
        }
        for step in 1..self.sweeps {
            if step == 1 && when == When::Before {
                space.residual(r, b, a, x);
            } else {
                space.multiply_sub(r, a, d);
            }
            let next = 1.0 / (2.0 * sigma - rho);
            space.add_diagonal(d, next * rho, 2.0 * next / half, &self.inverse_diagonal, r);
            space.add_scaled(x, &one, d);
            rho = next;
        }
    }
}
