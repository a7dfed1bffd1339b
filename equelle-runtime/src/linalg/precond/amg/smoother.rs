//! Smoothers of one level: polynomials in `D^-1 A` with fused steps, and Gauss-Seidel.

use super::{AmgOptions, AmgSmoother};
use crate::linalg::space::matrix_space::{Correction, Direction, MatrixSpace, Smoothed};

/// Damping of Jacobi sweeps, divided by the spectral radius: optimal for the upper two thirds of
/// the spectrum.
const JACOBI_DAMPING: f64 = 4.0 / 3.0;
/// The interval of the polynomial: eigenvalues of `D^-1 A` between these factors of the spectral
/// radius. The lower end suits degree 2.
const CHEBYSHEV: (f64, f64) = (0.25, 1.1);

/// The sweeps of a smoother.
#[derive(Debug)]
enum Sweeps<M> {
    /// Steps `d = a d + b D (b - A x)`, `x = x + d` with their `a` and `b`, at least one; the first
    /// `a` is 0. With the image of the prolongation, if there is one, the first step after the
    /// coarse correction includes the correction.
    Polynomial(Vec<[f64; 2]>, Option<M>),
    /// Number of sweeps, forward before the coarse correction and backward after it.
    GaussSeidel(usize),
}

/// A smoother with the data of its level. Steps alternate between `x` and [`Scratch::other`] such
/// that the last one ends in `x`.
#[derive(Debug)]
pub(super) struct Smoother<S: MatrixSpace> {
    sweeps: Sweeps<S::Matrix>,
    inverse_diagonal: S::Vector,
}

/// Work vectors of a smoother.
#[derive(Debug)]
pub(super) struct Scratch<V> {
    /// The residual.
    pub r: V,
    /// The last step; empty for Gauss-Seidel, like `other`.
    d: V,
    /// The other buffer of the iterate.
    other: V,
}

/// A system to smooth, `A x = b`, and its work vectors.
#[derive(Debug)]
pub(super) struct Work<'w, S: MatrixSpace> {
    pub a: &'w S::Matrix,
    pub b: &'w S::Vector,
    pub x: &'w mut S::Vector,
    pub scratch: &'w mut Scratch<S::Vector>,
}

/// The buffer of the iterate `turns` steps before the end in `x`, and the other buffer.
fn by_turns<'v, V>(turns: usize, x: &'v mut V, other: &'v mut V) -> (&'v mut V, &'v mut V) {
    if turns.is_multiple_of(2) { (x, other) } else { (other, x) }
}

fn jacobi(radius: f64, sweeps: usize) -> Vec<[f64; 2]> {
    vec![[0.0, JACOBI_DAMPING / radius]; sweeps]
}

/// The three-term recurrence (Saad 2003, algorithm 12.1).
fn chebyshev(radius: f64, degree: usize) -> Vec<[f64; 2]> {
    let (low, high) = (CHEBYSHEV.0 * radius, CHEBYSHEV.1 * radius);
    let (centre, half) = (0.5 * (high + low), 0.5 * (high - low));
    let sigma = centre / half;
    let mut rho = 1.0 / sigma;
    let mut steps = vec![[0.0, 1.0 / centre]];
    for _ in 1..degree {
        let next = 1.0 / (2.0 * sigma - rho);
        steps.push([next * rho, 2.0 * next / half]);
        rho = next;
    }
    steps
}

impl<S: MatrixSpace> Smoother<S> {
    /// `image` is that of the level's prolongation, `A P`.
    pub fn new(inverse_diagonal: S::Vector, radius: f64, image: Option<S::Matrix>, options: &AmgOptions) -> Self {
        let (kind, sweeps) = options.smoothing();
        let sweeps = match kind {
            AmgSmoother::Jacobi => Sweeps::Polynomial(jacobi(radius, sweeps), image),
            AmgSmoother::Chebyshev => Sweeps::Polynomial(chebyshev(radius, sweeps), image),
            AmgSmoother::GaussSeidel => Sweeps::GaussSeidel(sweeps),
        };
        Smoother { sweeps, inverse_diagonal }
    }

    /// Work vectors for a level of `n` unknowns.
    pub fn scratch(&self, space: &mut S, n: usize) -> Result<Scratch<S::Vector>, S::Error> {
        let steps = match &self.sweeps {
            Sweeps::Polynomial(..) => n,
            Sweeps::GaussSeidel(_) => 0,
        };
        Ok(Scratch { r: space.zeros_of(n)?, d: space.zeros_of(steps)?, other: space.zeros_of(steps)? })
    }

    /// Pre-smoothing from zero; `scratch.r` becomes the residual. Does not read `x`; the iterate is
    /// in the buffer that [`Smoother::after`] expects.
    pub fn before(&self, space: &mut S, work: &mut Work<'_, S>) {
        let turns = match &self.sweeps {
            Sweeps::Polynomial(steps, None) => steps.len(),
            Sweeps::Polynomial(steps, Some(_)) => steps.len() - 1,
            Sweeps::GaussSeidel(_) => 0,
        };
        self.begin(space, work, turns);
        let Scratch { r, other, .. } = &mut *work.scratch;
        space.residual(r, work.b, work.a, by_turns(turns, work.x, other).0);
    }

    /// Adds the coarse correction to the iterate of [`Smoother::before`] and smooths, into `x`.
    /// Returns `b . x` if `ask` is set and the last step computes it.
    pub fn after(
        &self,
        space: &mut S,
        work: &mut Work<'_, S>,
        prolongation: &S::Matrix,
        coarse: &S::Vector,
        ask: bool,
    ) -> Option<S::Scalar> {
        match &self.sweeps {
            Sweeps::Polynomial(steps, None) => {
                space.multiply_add(by_turns(steps.len(), work.x, &mut work.scratch.other).0, prolongation, coarse);
                self.steps(space, work, steps, steps.len(), ask)
            }
            Sweeps::Polynomial(steps, Some(image)) => {
                let by = Correction { prolongation, image, coarse, inverse_diagonal: &self.inverse_diagonal };
                let Scratch { r, d, other } = &mut *work.scratch;
                space.correct(by_turns(steps.len() - 1, work.x, other).0, d, r, by, steps[0][1]);
                self.steps(space, work, &steps[1..], steps.len() - 1, ask)
            }
            Sweeps::GaussSeidel(sweeps) => {
                space.multiply_add(work.x, prolongation, coarse);
                self.sweep(space, work, *sweeps, Direction::Backward);
                None
            }
        }
    }

    /// Smooths from zero without a coarse level.
    pub fn solve(&self, space: &mut S, work: &mut Work<'_, S>) {
        match &self.sweeps {
            Sweeps::Polynomial(steps, _) => {
                self.begin(space, work, steps.len());
                self.steps(space, work, steps, steps.len(), false);
            }
            Sweeps::GaussSeidel(sweeps) => {
                self.begin(space, work, 0);
                self.sweep(space, work, *sweeps, Direction::Backward);
            }
        }
    }

    /// Smooths from zero into the buffer of the iterate `turns` steps before the end in `x`.
    fn begin(&self, space: &mut S, work: &mut Work<'_, S>, turns: usize) {
        match &self.sweeps {
            Sweeps::Polynomial(steps, _) => {
                let Scratch { r, d, other } = &mut *work.scratch;
                let [_, first] = steps[0];
                let Some(&[again, second]) = steps.get(1) else {
                    space.add_diagonal(by_turns(turns, work.x, other).0, 0.0, first, &self.inverse_diagonal, work.b);
                    return;
                };
                let rest = &steps[2..];
                let turns = turns + rest.len();
                let y = by_turns(turns, work.x, other).0;
                space.smooth_from_zero(y, self.on(work.a, work.b), [first, again, second], [r, d], !rest.is_empty());
                self.steps(space, work, rest, turns, false);
            }
            Sweeps::GaussSeidel(sweeps) => {
                space.clear(work.x);
                self.sweep(space, work, *sweeps, Direction::Forward);
            }
        }
    }

    /// Steps of a polynomial, the first of them `turns` before the end in `x`. Returns `b . x` of
    /// the last one if `ask` is set.
    fn steps(&self, space: &mut S, work: &mut Work<'_, S>, steps: &[[f64; 2]], turns: usize, ask: bool) -> Option<S::Scalar> {
        let on = self.on(work.a, work.b);
        let Scratch { r, d, other } = &mut *work.scratch;
        for (number, &c) in steps.iter().enumerate() {
            let (from, to) = by_turns(turns - number, work.x, other);
            let is_last = number + 1 == steps.len();
            if is_last && ask {
                return Some(space.smooth_dot(to, from, on, c, [r, d]));
            }
            space.smooth(to, from, on, c, [r, d], !is_last);
        }
        None
    }

    fn sweep(&self, space: &mut S, work: &mut Work<'_, S>, sweeps: usize, direction: Direction) {
        for _ in 0..sweeps {
            space.gauss_seidel(work.x, work.a, &self.inverse_diagonal, work.b, direction);
        }
    }

    fn on<'a>(&'a self, a: &'a S::Matrix, b: &'a S::Vector) -> Smoothed<'a, S> {
        Smoothed { matrix: a, inverse_diagonal: &self.inverse_diagonal, right: b }
    }
}
