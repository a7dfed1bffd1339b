//! Length of rounds of loops, and limits on their number.

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;

/// The parameter that bounds the rounds of a loop that a condition ends.
pub const MAX_ROUNDS: &str = "max_rounds";

/// Its value if it is not given.
const DEFAULT_ROUNDS: usize = 1_000_000_000;

/// Time that a round adds to that of outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundLength {
    /// The element of the sequence.
    Element,
    /// The step that [`crate::EquelleRuntime::take_step`] is given.
    Computed,
    /// One: times are numbers of rounds.
    Round,
}

/// `max_rounds`.
///
/// # Errors
/// `Data` if it is no number of rounds.
pub(super) fn max_rounds(parameters: &Parameters) -> Result<usize, Error> {
    match parameters.integer(MAX_ROUNDS)? {
        None => Ok(DEFAULT_ROUNDS),
        Some(0) => Err(Error::new(ErrorKind::Data, format!("parameter {} must be 1 or more", parameters.shown(MAX_ROUNDS)))
            .hint("a loop that a condition ends has at most so many rounds")),
        Some(rounds) => Ok(rounds),
    }
}
