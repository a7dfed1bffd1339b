//! Smoothers of one level: polynomials in `D^-1 A`, a step in one pass, and Gauss-Seidel.

use super::{AmgOptions, AmgSmoother};
use crate::linalg::space::matrix_space::{Correction, Direction, MatrixSpace, Smoothed};

/// Damping of Jacobi sweeps over the spectral radius: the best for the upper two thirds of the spectrum.
const JACOBI_DAMPING: f64 = 4.0 / 3.0;
/// The polynomial treats eigenvalues of `D^-1 A` between the radius times the first and times the second number.
/// The lower end suits the degree 2.
const CHEBYSHEV: (f64, f64) = (0.25, 1.1);

/// How a level is smoothed.
#[derive(Debug)]
enum Sweeps<M> {
    /// Steps `d = a d + b D (b - A x)`, `x = x + d`, with `a` and `b` of each, at least one; the first `a` is 0. And the image of the prolongation, if there is one: the first step
    /// after the correction of a coarse level is then one with it.
    Polynomial(Vec<[f64; 2]>, Option<M>),
    /// So many sweeps, forward before the coarse correction and backward after it.
    GaussSeidel(usize),
}

/// A smoother with what it needs of its level. Where it steps from one vector to another, `x` and [`Scratch::other`] take turns, so that the last step ends in `x`.
#[derive(Debug)]
pub(super) struct Smoother<S: MatrixSpace> {
    sweeps: Sweeps<S::Matrix>,
    inverse_diagonal: S::Vector,
}

/// Vectors for a smoother to work with.
#[derive(Debug)]
pub(super) struct Scratch<V> {
    /// The residual.
    pub r: V,
    /// Empty for Gauss-Seidel, as is the next.
    d: V,
    /// The iterate, every other time.
    other: V,
}

/// A system to smooth, `A x = b`, and what is worked with.
#[derive(Debug)]
pub(super) struct Work<'w, S: MatrixSpace> {
    pub a: &'w S::Matrix,
    pub b: &'w S::Vector,
    pub x: &'w mut S::Vector,
    pub scratch: &'w mut Scratch<S::Vector>,
}

/// The vector that holds the iterate `turns` steps before it ends in `x`, and the other one.
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
    /// `image` is that of the prolongation of the level, `A P`.
    pub fn new(inverse_diagonal: S::Vector, radius: f64, image: Option<S::Matrix>, options: &AmgOptions) -> Self {
        let (kind, sweeps) = options.smoothing();
        let sweeps = match kind {
            AmgSmoother::Jacobi => Sweeps::Polynomial(jacobi(radius, sweeps), image),
            AmgSmoother::Chebyshev => Sweeps::Polynomial(chebyshev(radius, sweeps), image),
            AmgSmoother::GaussSeidel => Sweeps::GaussSeidel(sweeps),
        };
        Smoother { sweeps, inverse_diagonal }
    }

    /// Working vectors for a level of `n` unknowns.
    pub fn scratch(&self, space: &mut S, n: usize) -> Result<Scratch<S::Vector>, S::Error> {
        let steps = match &self.sweeps {
            Sweeps::Polynomial(..) => n,
            Sweeps::GaussSeidel(_) => 0,
        };
        Ok(Scratch { r: space.zeros_of(n)?, d: space.zeros_of(steps)?, other: space.zeros_of(steps)? })
    }

    /// An approximate solution, and in `scratch.r` the residual that it leaves, before the correction of a coarse level. What `x` held is not read; the solution is where
    /// [`Smoother::after`] looks for it.
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

    /// Improves what [`Smoother::before`] has left by what a coarse level has found, to `x`. `b . x` where that is asked for and comes with the last step.
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

    /// An approximate solution, from zero and without a coarse level.
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

    /// Smooths from zero, to the vector that holds the iterate `turns` steps before it ends in `x`.
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

    /// Steps of a polynomial, the first of which is `turns` before the iterate ends in `x`; with the last one `b . x` if that is asked for.
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
