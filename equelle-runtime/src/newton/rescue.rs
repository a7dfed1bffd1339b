//! Time-step rescue: a failed step is repeated in 2, 4, 8, ... equal parts from the state before
//! it.
//!
//! The compiler passes the body of a loop over time steps as a function from state and step to
//! state, where it can prove that it is one ([`crate::Retry`]). Outputs of an attempt are deferred
//! until it succeeds. Outputs belong to the requested times: the first outputs of a body may show
//! the state before the step, and come from its first part; all others come from its last part.

use crate::error::{Error, ErrorKind};
use crate::json;
use crate::newton::timestep_cuts::{KEY, cuts};
use crate::output::DeferredOutput;
use crate::rank_run::{Outcome, first_error};
use crate::session;
use crate::traits::Implicit;

/// A step of a loop as a function: from the runtime, the length of the step and the state to the
/// new state.
pub type Step<'a, R, S> = dyn FnMut(&mut R, &<R as crate::traits::EquelleRuntime>::Scalar, S) -> Result<S, Error> + 'a;

/// Takes a step; if the simulation fails, again in parts, as often as `timestep_cuts` allows. The
/// first `opening` outputs of the body show the state before it.
///
/// # Errors
/// Those of the step. If all attempts failed, that of the last one, after the outputs of the first
/// attempt.
pub fn step<R: Implicit, S: Clone>(
    rt: &mut R,
    length: &R::Scalar,
    opening: usize,
    state: S,
    body: &mut Step<'_, R, S>,
) -> Result<S, Error> {
    let cuts = cuts(rt.session().parameters())?;
    if cuts == 0 {
        return body(rt, length, state);
    }
    let line = rt.session().current_line();
    let ranges = rt.session().solves().ranges().clone();
    rt.session().outputs().defer();
    let whole = attempt(rt, |rt| body(rt, length, state.clone()));
    let outputs = rt.session().outputs().take_deferred();
    let mut error = match whole {
        Err(error) if error.kind == ErrorKind::Simulation => error,
        Ok(_) | Err(_) => {
            rt.session().outputs().release(outputs)?;
            return whole;
        }
    };
    let value = rt.read_scalar(length)?;
    for cut in 1..=cuts {
        let parts = 1 << cut;
        rt.session().solves().step_failed(line, value, parts, &error.message);
        rt.session().solves().restore_ranges(ranges.clone());
        let part = rt.scalar(value / f64::from(parts));
        match attempt(rt, |rt| in_parts(rt, &part, parts, opening, state.clone(), body)) {
            Ok((state, outputs)) => {
                rt.session().outputs().release(outputs)?;
                rt.session().solves().step_rescued(line, value, parts);
                return Ok(state);
            }
            Err(failure) => {
                let is_final = failure.kind != ErrorKind::Simulation;
                error = failure;
                if is_final {
                    break;
                }
            }
        }
    }
    // The outputs of the step as a whole.
    rt.session().outputs().release(outputs)?;
    if error.kind == ErrorKind::Simulation {
        let value = json::number(value);
        error.message = format!("{}\nthe step of {value} failed as a whole and in up to {} parts ({KEY}={cuts})", error.message, 1 << cuts);
    }
    Err(error)
}

/// A round of a loop that computes its steps as a function: from the runtime and the state to the
/// new state.
pub type Round<'a, R, S> = dyn FnMut(&mut R, S) -> Result<S, Error> + 'a;

/// Takes a round; if the simulation fails, again with a half, a quarter, ... of the step, as often
/// as `timestep_cuts` allows. The loop goes on from where that leads.
///
/// # Errors
/// Those of the round. If all attempts failed, that of the last one, after the outputs of the first
/// attempt.
pub fn round<R: Implicit, S: Clone>(rt: &mut R, state: S, body: &mut Round<'_, R, S>) -> Result<S, Error> {
    let cuts = cuts(rt.session().parameters())?;
    if cuts == 0 {
        return body(rt, state);
    }
    let line = rt.session().current_line();
    let ranges = rt.session().solves().ranges().clone();
    let mut first_outputs = Vec::new();
    for cut in 0..=cuts {
        let parts = 1_u32 << cut;
        rt.session().outputs().defer();
        let outside = rt.session().loops().set_step_scale(1.0 / f64::from(parts));
        let result = attempt(rt, |rt| body(rt, state.clone()));
        rt.session().loops().set_step_scale(outside);
        let outputs = rt.session().outputs().take_deferred();
        let length = rt.session().loops().last_step();
        match result {
            Err(error) if error.kind == ErrorKind::Simulation && cut < cuts => {
                if cut == 0 {
                    first_outputs = outputs;
                }
                rt.session().solves().round_failed(line, length, 2 * parts, &error.message);
                rt.session().solves().restore_ranges(ranges.clone());
            }
            Err(mut error) => {
                rt.session().outputs().release(if cut == 0 { outputs } else { first_outputs })?;
                if error.kind == ErrorKind::Simulation {
                    let length = json::number(length);
                    error.message = format!(
                        "{}\nthe round failed with the step of {length}, and with parts of it down to 1/{parts} ({KEY}={cuts})",
                        error.message
                    );
                }
                return Err(error);
            }
            Ok(state) => {
                rt.session().outputs().release(outputs)?;
                if cut > 0 {
                    rt.session().solves().round_rescued(line, length, parts);
                }
                return Ok(state);
            }
        }
    }
    Err(Error::internal("a round without an attempt"))
}

/// An attempt of a step. On ranks it succeeds on all, or all give it up and have the first error of
/// them.
fn attempt<R: Implicit, T>(rt: &mut R, run: impl FnOnce(&mut R) -> Result<T, Error>) -> Result<T, Error> {
    let Some(rank) = rt.session().rank().cloned() else { return run(rt) };
    session::begin_attempt(rt.session());
    let error = match run(rt).and_then(|value| rank.meet().map(|()| value)) {
        Err(error) if error.kind == ErrorKind::Simulation => error,
        ended @ (Ok(_) | Err(_)) => return ended,
    };
    let outcome = Outcome { result: Err(error), statements: rank.progress().statements(), has_lost_rank: rank.follows() };
    rank.give_up()?;
    session::forget_attempt(rt.session());
    rt.forget_attempt();
    let outcomes = rank.lists(&outcome.bytes())?;
    match first_error(outcomes.iter().filter_map(|bytes| Outcome::from_bytes(bytes)).collect()) {
        Err(error) => Err(error),
        Ok(()) => Err(Error::internal("an attempt that failed has an error")),
    }
}

/// The state after the parts of a step, and its outputs.
fn in_parts<R: Implicit, S: Clone>(
    rt: &mut R,
    part: &R::Scalar,
    parts: u32,
    opening: usize,
    mut state: S,
    body: &mut Step<'_, R, S>,
) -> Result<(S, Vec<DeferredOutput>), Error> {
    let mut outputs = Vec::new();
    for number in 0..parts {
        let next = body(rt, part, state);
        let deferred = rt.session().outputs().take_deferred();
        state = next?;
        // Balances are those of all parts.
        let is_kept = |index: usize| (number == 0 && index < opening) || (number + 1 == parts && index >= opening);
        let kept = deferred.into_iter().enumerate().filter(|(index, output)| is_kept(*index) || output.is_audit());
        outputs.extend(kept.map(|(_, output)| output));
    }
    Ok((state, outputs))
}
