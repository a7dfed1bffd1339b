//! Common part of the iterative methods: cycles, each started from the true residual, and stopping
//! criteria.
//!
//! The recurrence of a method drifts away from `b - A x`, so a method only *proposes* to stop. Then
//! [`iterate`] computes the residual from `x` and accepts it, starts another cycle from it, or
//! returns why that is pointless.

use crate::linalg::space::vector_space::{LinearOperator, Preconditioner, VectorSpace};

/// How far methods go beyond what counts as converged, for a residual that saves the caller another
/// solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pursuit {
    /// Where that residual is near: another solve may follow all the same.
    #[default]
    Near,
    /// Where it takes at most as many powers of ten again as the tolerance, so that iterations at a
    /// constant rate double at most.
    Affordable,
    /// As far as the rate seen leads: the caller knows that it is spared the other solve, which
    /// would make these iterations too.
    Saved,
}

/// Target of the residual; 2-norms in the unit of the right-hand side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Largest residual that counts as converged.
    pub accept: f64,
    /// Smaller residual to aim for after that; at most `accept`. A result between the two is
    /// converged.
    pub aim: f64,
    /// How many iterations the aim may cost.
    pub pursuit: Pursuit,
}

/// An aim is near where it is at most this factor below `accept`: two powers of ten, where a whole
/// solve takes eight.
const REACH: f64 = 100.0;
/// Extra iterations for an aim that is near, relative to those for `accept`. At a constant rate,
/// two powers of ten after eight take a quarter; rates vary.
const FOR_AIM: f64 = 0.5;
/// Iterations for the aim, relative to those that the rate seen predicts, and some more.
const PATIENCE_FOR_AIM: (f64, f64) = (2.0, 4.0);

impl Target {
    /// No aim beyond `accept`.
    pub fn just(accept: f64) -> Target {
        Target { accept, aim: accept, pursuit: Pursuit::Near }
    }

    /// Aims at a residual that saves the caller another solve. `saves` is 0 where there is none;
    /// `start` is the residual before the first iteration.
    pub fn toward(start: f64, accept: f64, saves: f64, pursuit: Pursuit) -> Target {
        let is_pursued = match pursuit {
            Pursuit::Near => accept <= REACH * saves,
            Pursuit::Affordable => accept / saves <= (start / accept).max(REACH),
            Pursuit::Saved => true,
        };
        let is_smaller = saves > 0.0 && saves < accept;
        Target { accept, aim: if is_smaller && is_pursued { saves } else { accept }, pursuit }
    }

    /// Both residuals multiplied by a factor.
    pub(super) fn times(self, factor: f64) -> Target {
        Target { accept: factor * self.accept, aim: factor * self.aim, ..self }
    }

    /// Most iterations for the aim after `made` ones, of which the last `over` reduced the residual
    /// from `start` to `residual`.
    fn extra(self, start: f64, residual: f64, over: usize, made: usize) -> f64 {
        let made = made as f64;
        let rate = (start / residual).ln() / over as f64;
        // Without a rate, what is left may take as long as what was done.
        let predicted = if rate > 0.0 { (residual / self.aim).ln() / rate } else { made };
        let (part, more) = PATIENCE_FOR_AIM;
        match self.pursuit {
            Pursuit::Near => FOR_AIM * made,
            Pursuit::Affordable | Pursuit::Saved => part * predicted + more,
        }
    }
}

/// Stopping criteria.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The residual to reach.
    pub target: Target,
    /// Total number of iterations.
    pub max_iterations: usize,
    /// Iterations between two checks of the residual; at least 1.
    pub check_every: usize,
    /// Iterations without a new least residual after which a method gives up. In exact arithmetic
    /// CG and BiCGStab need at most as many iterations as unknowns, so beyond twice that is only
    /// round-off.
    pub patience: usize,
}

/// End of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The true residual is accepted.
    Converged,
    /// Division by zero, or a matrix outside the method's class; with the reason.
    Breakdown(String),
    /// The true residual does not decrease; with how that was detected.
    Stagnation(String),
    /// The limit on iterations was reached.
    MaxIterations,
    /// The residual overflowed.
    NonFinite,
    /// The run was interrupted.
    Interrupted,
}

/// The result of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// End of the iteration.
    pub end: End,
    /// Number of iterations.
    pub iterations: usize,
    /// Least true residual norm at the start or end of a cycle.
    pub residual: f64,
}

/// Reason for which a method proposes to stop.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// By the recurrence, the residual is at most the aim, or it is accepted and the aim costs too
    /// much.
    Converged,
    /// The cycle is complete.
    Restart,
    /// No new least residual for too long.
    OutOfPatience,
    /// A divisor is zero; with which one.
    Breakdown(String),
    /// The iterations of the cycle are used up.
    OutOfIterations,
    /// A number is not finite.
    NonFinite,
    /// The run was interrupted.
    Interrupted,
}

/// A method: one cycle of iterations with its work vectors.
pub trait Cycle<S: VectorSpace> {
    /// Improves `x`. `r` holds `b - A x` at the start and is undefined at the end. Makes at most
    /// `control.max_iterations` iterations and returns their number.
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

    /// Gives the work vectors back.
    fn recycle(self, space: &mut S)
    where
        Self: Sized,
    {
        let _ = space;
    }

    /// Switches to a form for variable preconditioners in all later cycles, since the
    /// preconditioner is not the fixed linear map it claims to be: a cycle's recurrence was far
    /// from the true residual. Returns `false` if there is no such form or it is already used.
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

/// A cycle that should have helped is repeated only if it reduced the residual below this part.
const GAIN: f64 = 0.5;
/// Largest number of breakdowns in a row without gain: a restart takes another shadow residual.
/// With an unchanged residual the next cycle would be the same.
const RETRIES: usize = 2;
/// GMRES repeats itself exactly when a cycle changes nothing; below this gain a solve would take a
/// million cycles.
const MIN_RESTART_GAIN: f64 = 1e-6;
/// The target of the recurrence is a little smaller, so that its drift does not cost a second
/// cycle.
const RECURRENCE_MARGIN: f64 = 0.9;

/// Iterates from `x` until the true residual is accepted, or returns why not. The cycle that gets
/// there may go on to the aim; where it is complete before, others follow.
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
    system.operator.prepare(space);
    let mut iterations = 0;
    let mut failures = 0;
    let mut previous = true_residual(space, system.operator, &mut r, x, b)?;
    let (start, mut least) = (previous, previous);
    if previous <= control.target.accept {
        space.recycle(r);
        return Ok(Outcome { end: End::Converged, iterations, residual: least });
    }
    // Number of iterations at which the aim is given up, once the residual is accepted.
    let mut for_aim = None;
    let end = loop {
        if !previous.is_finite() {
            break End::NonFinite;
        }
        if iterations >= control.max_iterations {
            break End::MaxIterations;
        }
        let (target, limit) = match for_aim {
            None => (control.target, control.max_iterations),
            Some(limit) => (Target::just(control.target.aim), control.max_iterations.min(limit)),
        };
        let inner = Control { target: target.times(RECURRENCE_MARGIN), max_iterations: limit.saturating_sub(iterations).max(1), ..control };
        let (made, proposal) = method.cycle(space, system, x, &mut r, inner)?;
        iterations += made;
        let norm = true_residual(space, system.operator, &mut r, x, b)?;
        if norm < least {
            least = norm;
        }
        if norm <= control.target.accept {
            let limit = *for_aim.get_or_insert_with(|| iterations + control.target.extra(start, norm, iterations, iterations) as usize);
            let is_slow = norm > GAIN * previous;
            let is_cut = proposal == StopReason::Restart && norm > control.target.aim;
            if !is_cut || is_slow || iterations >= limit.min(control.max_iterations) {
                break End::Converged;
            }
            previous = norm;
            continue;
        }
        for_aim = None;
        let gained = norm <= GAIN * previous;
        // The gain of the recurrence is not in the true residual; in exact arithmetic no cycle
        // increases the residual.
        let is_drift = if proposal == StopReason::Converged { !gained } else { norm > (1.0 + MIN_RESTART_GAIN) * previous };
        match proposal {
            StopReason::NonFinite => break End::NonFinite,
            StopReason::Interrupted => break End::Interrupted,
            _ if !norm.is_finite() => break End::NonFinite,
            StopReason::OutOfIterations => break End::MaxIterations,
            StopReason::Converged | StopReason::Restart if is_drift && method.allow_for_variation() => {
                // An iterate that is worse than zero is no starting point.
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
            StopReason::Restart if norm > (1.0 - MIN_RESTART_GAIN) * previous => {
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
    space.recycle(r);
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
    let square = operator.larger_square(space, r, &square);
    let [square] = space.read([&square])?;
    Ok(square.sqrt())
}

/// Monitors the residual of a method's own recurrence.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResidualMonitor {
    control: Control,
    least: f64,
    least_at: usize,
    /// The first check: iteration and residual.
    first: Option<(usize, f64)>,
    /// The iteration in which the aim is given up; from the one in which the residual was accepted.
    for_aim: Option<f64>,
}

impl ResidualMonitor {
    pub fn new(control: Control) -> ResidualMonitor {
        ResidualMonitor { control, least: f64::INFINITY, least_at: 0, first: None, for_aim: None }
    }

    /// True if the host checks the residual after this iteration (from 1).
    pub fn is_due(&self, iteration: usize) -> bool {
        iteration.is_multiple_of(self.control.check_every.max(1)) || iteration == self.control.max_iterations
    }

    /// The proposal that follows from the residual; `breakdown` is evaluated only if it is finite
    /// and the iteration goes on.
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
        let target = self.control.target;
        if residual <= target.aim {
            return Some(StopReason::Converged);
        }
        let (from, start) = *self.first.get_or_insert((iteration, residual));
        if residual <= target.accept {
            let extra = || iteration as f64 + target.extra(start, residual, iteration - from, iteration);
            if iteration as f64 >= *self.for_aim.get_or_insert_with(extra) {
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
