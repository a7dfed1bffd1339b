//! The parameter `timestep_cuts`: how often a failed time step may be halved.

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;
use crate::program::Program;

/// The name of the parameter.
pub const KEY: &str = "timestep_cuts";

/// Largest value: steps a million times shorter.
const MAX_CUTS: usize = 20;

/// Number of times that a step may be halved: `timestep_cuts`, 0 if not given.
///
/// # Errors
/// `Data` if it is no such number.
pub fn cuts(parameters: &Parameters) -> Result<u32, Error> {
    let Some(cuts) = parameters.integer(KEY)? else { return Ok(0) };
    if cuts <= MAX_CUTS {
        return Ok(cuts as u32);
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{KEY}` must be at most {MAX_CUTS}, not {cuts}"))
        .hint(format!("a step is taken in up to 2^{KEY} parts")))
}

/// Refuses `timestep_cuts` for a program whose steps cannot be repeated.
///
/// # Errors
/// `Data`, with the loop and the obstacle.
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
    let Some((retry, (obstacle, at))) = program.retries.iter().find_map(|retry| Some((retry, retry.obstacle.as_ref()?))) else {
        return Ok(());
    };
    let message = format!("parameter `{KEY}` cannot be used: the steps of this loop cannot be taken again in parts, because of {obstacle}");
    let mut error = Error::new(ErrorKind::Data, message).at(*at);
    if retry.line != *at {
        error.lines.push(retry.line);
    }
    Err(error.hint(format!("leave out `{KEY}`, or let the body of the loop be a function of its mutable variables and the step alone")))
}
