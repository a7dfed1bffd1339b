//! Time-step rescue: a step that fails is taken again in 2, 4, 8, ... equal parts, from the state before it.
//!
//! The compiler hands over the body of a loop over time steps as a function from state and step to state, where it can show that it is one ([`Retry`]). Outputs of
//! an attempt wait until it has succeeded. What is put out belongs to the requested times: the first outputs of a body may show the state before the step, and are
//! those of its first part; all others are those of its last part.

use crate::error::{Error, ErrorKind};
use crate::json;
use crate::launch::Program;
use crate::output::Held;
use crate::params::Parameters;
use crate::traits::Implicit;

/// The key.
pub const KEY: &str = "timestep_cuts";

/// Largest number of cuts: steps a million times shorter.
const MOST: usize = 20;

/// Whether the steps of a loop with implicit solves can be taken again in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Equelle line of the loop.
    pub line: u32,
    /// What stands in the way, as part of a sentence, and its Equelle line; `None` if its body is a function of its mutable state and the step.
    pub obstacle: Option<(&'static str, u32)>,
}

/// How often a step may be cut in two: `timestep_cuts`, 0 if not given.
///
/// # Errors
/// `Data` for what is no such number.
pub fn cuts(parameters: &Parameters) -> Result<u32, Error> {
    let Some(cuts) = parameters.integer(KEY)? else { return Ok(0) };
    if cuts <= MOST {
        return Ok(cuts as u32);
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{KEY}` must be at most {MOST}, not {cuts}"))
        .hint(format!("a step is taken in up to 2^{KEY} parts")))
}

/// Refuses `timestep_cuts` for a program whose steps cannot be taken again.
///
/// # Errors
/// `Data`, with the loop and what stands in the way.
pub fn check(program: &Program, parameters: &Parameters) -> Result<(), Error> {
    if cuts(parameters)? == 0 {
        return Ok(());
    }
    if program.retries.is_empty() {
        return Err(Error::new(
            ErrorKind::Data,
            format!("parameter `{KEY}` has nothing to act on: no loop of the program solves an equation"),
        )
        .hint(format!("leave out `{KEY}`; it is for `NewtonSolve` in a loop over time steps")));
    }
    let Some((retry, (obstacle, at))) = program.retries.iter().find_map(|retry| Some((retry, retry.obstacle?))) else {
        return Ok(());
    };
    let message = format!("parameter `{KEY}` cannot be used: the steps of this loop cannot be taken again in parts, because of {obstacle}");
    let mut error = Error::new(ErrorKind::Data, message).at(at);
    if retry.line != at {
        error.lines.push(retry.line);
    }
    Err(error.hint(format!("leave out `{KEY}`, or let the body of the loop be a function of its mutable variables and the step alone")))
}

/// A step of a loop as a function: from the runtime, the length of the step and the state to the new state.
pub type Step<'a, R, S> = dyn FnMut(&mut R, &<R as crate::traits::EquelleRuntime>::Scalar, S) -> Result<S, Error> + 'a;

/// Takes a step; if the simulation fails, again in parts, as often as `timestep_cuts` allows. The first `opening` outputs of the body show the state before it.
///
/// # Errors
/// Those of the step; where all attempts failed, that of the last one, and the outputs of the first attempt have been put out.
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
    let ranges = rt.session().ranges().clone();
    rt.session().hold_outputs();
    let whole = body(rt, length, state.clone());
    let outputs = rt.session().take_held_outputs();
    let mut error = match whole {
        Err(error) if error.kind == ErrorKind::Simulation => error,
        Ok(_) | Err(_) => {
            rt.session().release_outputs(outputs)?;
            return whole;
        }
    };
    let value = rt.read_scalar(length)?;
    for cut in 1..=cuts {
        let parts = 1 << cut;
        rt.session().step_failed(line, value, parts, &error.message);
        rt.session().restore_ranges(ranges.clone());
        let part = rt.scalar(value / f64::from(parts));
        match in_parts(rt, &part, parts, opening, state.clone(), body) {
            Ok((state, outputs)) => {
                rt.session().release_outputs(outputs)?;
                rt.session().step_rescued(line, value, parts);
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
    // What the step itself would have left behind.
    rt.session().release_outputs(outputs)?;
    if error.kind == ErrorKind::Simulation {
        let value = json::number(value);
        error.message = format!("{}\nthe step of {value} failed as a whole and in up to {} parts ({KEY}={cuts})", error.message, 1 << cuts);
    }
    Err(error)
}

/// The state after the parts of a step, and what is put out.
fn in_parts<R: Implicit, S: Clone>(
    rt: &mut R,
    part: &R::Scalar,
    parts: u32,
    opening: usize,
    mut state: S,
    body: &mut Step<'_, R, S>,
) -> Result<(S, Vec<Held>), Error> {
    let mut outputs = Vec::new();
    for number in 0..parts {
        let next = body(rt, part, state);
        let held = rt.session().take_held_outputs();
        state = next?;
        match number {
            0 => outputs.extend(held.into_iter().take(opening)),
            _ if number + 1 == parts => outputs.extend(held.into_iter().skip(opening)),
            _ => {}
        }
    }
    Ok((state, outputs))
}
