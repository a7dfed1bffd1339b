//! What the iterative methods have in common: cycles, each started from the true residual, and the decision when to stop.
//!
//! A method's own recurrence drifts away from `b - A x`. So a method only ever *proposes* to stop; [`iterate`] then computes the residual
//! from `x` and either agrees, starts another cycle from it, or says why there is no point.

use crate::linalg::space::vector_space::{LinearOperator, Preconditioner, VectorSpace};

/// How small a residual is to be; 2-norms, in the unit of the right-hand side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The largest that counts as solved.
    pub accept: f64,
    /// What a method goes on for once that is reached, while it costs few iterations: at most `accept`. What comes out between the two is as solved as any other.
    pub aim: f64,
}

/// An aim is worth its while where it is at most so many times smaller than what is accepted: two powers of ten, beside the eight of a whole solve.
const REACH: f64 = 100.0;
/// Iterations for the aim, over those until the residual was accepted. At the same rate two powers of ten after eight take a quarter; rates vary.
const FOR_AIM: f64 = 0.5;

impl Target {
    /// No more than what is accepted.
    pub fn just(accept: f64) -> Target {
        Target { accept, aim: accept }
    }

    /// With the aim at a residual that saves the caller another solve, if that is near; `saves` is 0 where none does.
    pub fn near(accept: f64, saves: f64) -> Target {
        let is_near = saves < accept && accept <= REACH * saves;
        Target { accept, aim: if is_near { saves } else { accept } }
    }

    /// Both times a factor.
    fn times(self, factor: f64) -> Target {
        Target { accept: factor * self.accept, aim: factor * self.aim }
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Which residual counts as solved.
    pub target: Target,
    /// Iterations in all.
    pub max_iterations: usize,
    /// Iterations between two looks at the residual; at least 1.
    pub check_every: usize,
    /// Iterations without a new least residual after which a method gives up. In exact arithmetic CG and BiCGStab end within as many
    /// iterations as there are unknowns, so anything beyond twice that is round-off.
    pub patience: usize,
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The true residual is accepted.
    Converged,
    /// A division by zero, or a sign that the matrix is not of the method's class; says which.
    Breakdown(String),
    /// The true residual does not come down; says how that showed.
    Stagnation(String),
    /// The limit was reached.
    MaxIterations,
    /// The residual overflowed.
    NonFinite,
    /// The run has been asked to end.
    Interrupted,
}

/// What came of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Iterations made.
    pub iterations: usize,
    /// Least true residual norm met at the start or end of a cycle.
    pub residual: f64,
}

/// Why a method proposes to stop.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// By its recurrence the residual is at most the aim; or it is accepted, and the aim costs too much.
    Converged,
    /// The cycle is complete.
    Restart,
    /// No new least residual for too long.
    OutOfPatience,
    /// Something that it divides by is zero; says what.
    Breakdown(String),
    /// The iterations of the cycle are used up.
    OutOfIterations,
    /// A number is not finite.
    NonFinite,
    /// The run has been asked to end.
    Interrupted,
}

/// A method: one cycle of iterations with its working vectors.
pub trait Cycle<S: VectorSpace> {
    /// Improves `x`. `r` holds `b - A x` at the start and anything at the end. Makes at most `control.max_iterations` iterations and
    /// returns how many it made.
    ///
    /// # Errors
    /// The device failed.
    fn cycle<A: LinearOperator<S>, M: Preconditioner<S>>(
        &mut self,
        space: &mut S,
        system: System<'_, A, M>,
        x: &mut S::Vector,
        r: &mut S::Vector,
        control: Control,
    ) -> Result<(usize, StopReason), S::Error>;

    /// A preconditioner turned out not to be the fixed linear map that it was taken for: what a cycle made of its own numbers was far from the truth. Asks for a form that allows for
    /// it, in all cycles from here on; `false` if there is none, or it has been asked for before.
    fn allow_for_variation(&mut self) -> bool {
        false
    }
}

/// A matrix with its preconditioner.
#[derive(Debug)]
pub struct System<'a, A, M> {
    /// The matrix.
    pub operator: &'a A,
    /// Its approximate inverse.
    pub preconditioner: &'a M,
}

impl<A, M> Clone for System<'_, A, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, M> Copy for System<'_, A, M> {}

/// A cycle that should have helped is repeated only if it left less than this part of the residual.
const GAIN: f64 = 0.5;
/// Cycles in a row that may break down without gain before that is final: a restart takes another shadow residual. Where the residual has
/// not changed at all, the next cycle would be the same.
const RETRIES: usize = 2;
/// GMRES repeats itself exactly when a cycle changes nothing; less gain than this part in a cycle would take a million cycles.
const LEAST_RESTART_GAIN: f64 = 1e-6;
/// The recurrence is asked for a little more than the target, so that its drift does not cost a second cycle.
const RECURRENCE_MARGIN: f64 = 0.9;

/// Iterates from `x` until the true residual is accepted, or says why not. The cycle that gets there may go on for the aim; none is begun for it.
///
/// # Errors
/// The device failed.
pub fn iterate<S: VectorSpace, A: LinearOperator<S>, M: Preconditioner<S>>(
    space: &mut S,
    method: &mut impl Cycle<S>,
    system: System<'_, A, M>,
    x: &mut S::Vector,
    b: &S::Vector,
    control: Control,
) -> Result<Outcome, S::Error> {
    let mut r = space.zeros()?;
    let mut iterations = 0;
    let mut failures = 0;
    let mut previous = true_residual(space, system.operator, &mut r, x, b)?;
    let (start, mut least) = (previous, previous);
    if previous <= control.target.accept {
        return Ok(Outcome { end: End::Converged, iterations, residual: least });
    }
    system.operator.prepare(space);
    let end = loop {
        if !previous.is_finite() {
            break End::NonFinite;
        }
        if iterations >= control.max_iterations {
            break End::MaxIterations;
        }
        let inner =
            Control { target: control.target.times(RECURRENCE_MARGIN), max_iterations: control.max_iterations - iterations, ..control };
        let (made, proposal) = method.cycle(space, system, x, &mut r, inner)?;
        iterations += made;
        let norm = true_residual(space, system.operator, &mut r, x, b)?;
        if norm < least {
            least = norm;
        }
        if norm <= control.target.accept {
            break End::Converged;
        }
        let gained = norm <= GAIN * previous;
        // What a method believes to have gained is not there; a whole cycle makes no residual larger, on paper.
        let is_drift = if proposal == StopReason::Converged { !gained } else { norm > (1.0 + LEAST_RESTART_GAIN) * previous };
        match proposal {
            StopReason::NonFinite => break End::NonFinite,
            StopReason::Interrupted => break End::Interrupted,
            _ if !norm.is_finite() => break End::NonFinite,
            StopReason::OutOfIterations => break End::MaxIterations,
            StopReason::Converged | StopReason::Restart if is_drift && method.allow_for_variation() => {
                // An iterate that is worse than none is no place to go on from.
                if norm > start {
                    let zero = space.constant(0.0);
                    space.scale(x, &zero);
                    previous = true_residual(space, system.operator, &mut r, x, b)?;
                    continue;
                }
            }
            StopReason::Converged if !gained => {
                break End::Stagnation(format!("its own residual reached the tolerance, the true one stays at {norm:.1e}"));
            }
            StopReason::OutOfPatience if !gained => {
                break End::Stagnation(format!("no smaller residual in {} iterations", control.patience));
            }
            StopReason::Restart if norm > (1.0 - LEAST_RESTART_GAIN) * previous => {
                break End::Stagnation(format!("a cycle of {made} iterations left the residual at {norm:.1e}"));
            }
            StopReason::Breakdown(what) if !gained => {
                failures += 1;
                if norm == previous || failures > RETRIES {
                    break End::Breakdown(what);
                }
            }
            StopReason::Converged | StopReason::OutOfPatience | StopReason::Restart | StopReason::Breakdown(_) => failures = 0,
        }
        previous = norm;
    };
    Ok(Outcome { end, iterations, residual: least })
}

/// `r = b - A x`, and its norm.
fn true_residual<S: VectorSpace>(
    space: &mut S,
    operator: &impl LinearOperator<S>,
    r: &mut S::Vector,
    x: &S::Vector,
    b: &S::Vector,
) -> Result<f64, S::Error> {
    operator.apply(space, r, x);
    let minus_one = space.constant(-1.0);
    space.scale_add(r, &minus_one, b);
    let square = space.dot(r, r);
    let [square] = space.read([&square])?;
    Ok(square.sqrt())
}

/// Follows the residual that a method computes for itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResidualMonitor {
    control: Control,
    least: f64,
    least_at: usize,
    /// Iterations until the residual was accepted first.
    accepted_at: Option<usize>,
}

impl ResidualMonitor {
    pub fn new(control: Control) -> ResidualMonitor {
        ResidualMonitor { control, least: f64::INFINITY, least_at: 0, accepted_at: None }
    }

    /// Whether the host should look after this iteration (from 1).
    pub fn is_due(&self, iteration: usize) -> bool {
        iteration.is_multiple_of(self.control.check_every.max(1)) || iteration == self.control.max_iterations
    }

    /// What the residual says; `breakdown` is asked only when it is finite and the iteration goes on.
    pub fn check<S: VectorSpace>(
        &mut self,
        space: &S,
        iteration: usize,
        residual: f64,
        breakdown: impl FnOnce() -> Option<String>,
    ) -> Option<StopReason> {
        if !residual.is_finite() {
            return Some(StopReason::NonFinite);
        }
        let Target { accept, aim } = self.control.target;
        if residual <= aim {
            return Some(StopReason::Converged);
        }
        if residual <= accept {
            let accepted_at = *self.accepted_at.get_or_insert(iteration);
            if (iteration - accepted_at) as f64 >= FOR_AIM * accepted_at as f64 {
                return Some(StopReason::Converged);
            }
        }
        if let Some(what) = breakdown() {
            return Some(StopReason::Breakdown(what));
        }
        if space.is_interrupted() {
            return Some(StopReason::Interrupted);
        }
        if residual < self.least {
            (self.least, self.least_at) = (residual, iteration);
        }
        if iteration >= self.control.max_iterations {
            return Some(StopReason::OutOfIterations);
        }
        (iteration - self.least_at >= self.control.patience).then_some(StopReason::OutOfPatience)
    }
}
