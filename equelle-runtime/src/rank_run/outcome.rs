//! The outcome of a rank, which travels to rank 0 where ranks are processes.

use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Remedy};
use crate::interrupt::Signal;
use crate::ranks::RankProgress;

/// The outcome of a rank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) result: Result<(), Error>,
    /// Number of statements of the program that had begun.
    pub(crate) statements: u64,
    /// True if an error follows from one of another rank.
    pub(crate) has_lost_rank: bool,
}

/// The first error by statement, then by element in the file; errors that follow from those of
/// other ranks come last.
pub(crate) fn first_error(outcomes: Vec<Outcome>) -> Result<(), Error> {
    let failed = outcomes.into_iter().filter_map(|rank| rank.result.err().map(|error| (rank.has_lost_rank, rank.statements, error)));
    let first = failed.min_by_key(|(has_lost_rank, statements, error)| (*has_lost_rank, *statements, error.element.unwrap_or(0)));
    first.map_or(Ok(()), |(.., error)| Err(error))
}

/// Kinds of errors by their names in messages.
const KINDS: [(&str, ErrorKind); 8] = [
    ("usage", ErrorKind::Usage),
    ("simulation", ErrorKind::Simulation),
    ("data", ErrorKind::Data),
    ("io", ErrorKind::Io),
    ("backend", ErrorKind::Backend),
    ("interrupt", ErrorKind::Interrupted(Signal::Interrupt)),
    ("terminate", ErrorKind::Interrupted(Signal::Terminate)),
    ("handed over", ErrorKind::HandedOver),
];

/// Remedies by their names in messages.
const REMEDIES: [(&str, Remedy); 3] = [("solver", Remedy::Solver), ("system", Remedy::System), ("sources", Remedy::Sources)];

impl Outcome {
    /// That of a rank with this progress.
    pub(super) fn of(result: Result<(), Error>, progress: &RankProgress) -> Outcome {
        Outcome { result, statements: progress.statements(), has_lost_rank: progress.has_lost_rank() }
    }

    /// As a message.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let name = |kind: ErrorKind| KINDS.iter().find(|(_, known)| *known == kind).map(|(name, _)| *name);
        let remedy = |remedy: Remedy| REMEDIES.iter().find(|(_, known)| *known == remedy).map(|(name, _)| *name);
        let error = self.result.as_ref().err().map(|error| {
            json!({
                "kind": name(error.kind), "message": error.message, "lines": error.lines, "hint": error.hint,
                "remedy": error.remedy.and_then(remedy), "element": error.element,
            })
        });
        json!({ "statements": self.statements, "has_lost_rank": self.has_lost_rank, "error": error }).to_string().into_bytes()
    }

    /// From a message; `None` if it is none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Outcome> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let result = match value.get("error")? {
            Value::Null => Ok(()),
            error => Err(error_of(error)?),
        };
        Some(Outcome { result, statements: value.get("statements")?.as_u64()?, has_lost_rank: value.get("has_lost_rank")?.as_bool()? })
    }
}

fn error_of(value: &Value) -> Option<Error> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let kind = text("kind").and_then(|name| KINDS.iter().find(|(known, _)| *known == name))?.1;
    Some(Error {
        kind,
        message: text("message")?.to_owned(),
        lines: value.get("lines")?.as_array()?.iter().filter_map(number).collect(),
        hint: text("hint").map(str::to_owned),
        remedy: text("remedy").and_then(|name| REMEDIES.iter().find(|(known, _)| *known == name)).map(|(_, remedy)| *remedy),
        element: value.get("element").and_then(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_arrive_as_they_were_sent() {
        for (_, kind) in KINDS {
            let mut error = Error::new(kind, "cannot \u{3b1}\n\"b\"").hint("try").with_element(4_000_000_000).in_kernel(3, &[1, 2]);
            error.remedy = Some(Remedy::Sources);
            let outcome = Outcome { result: Err(error), statements: u64::MAX, has_lost_rank: true };
            assert_eq!(Outcome::from_bytes(&outcome.bytes()), Some(outcome));
        }
        let ok = Outcome { result: Ok(()), statements: 0, has_lost_rank: false };
        assert_eq!(Outcome::from_bytes(&ok.bytes()), Some(ok));
        assert_eq!(Outcome::from_bytes(b"{"), None);
    }

    /// By statement, then by element; what follows from others only if there is nothing else.
    #[test]
    fn the_first_error_is_that_of_one_process() {
        let failed = |statements: u64, has_lost_rank: bool, element: u32| Outcome {
            result: Err(Error::new(ErrorKind::Simulation, format!("{statements} {element}")).with_element(element)),
            statements,
            has_lost_rank,
        };
        let message = |outcomes: &[Outcome]| first_error(outcomes.to_vec()).err().map(|error| error.message);
        assert_eq!(message(&[failed(1, true, 0), failed(7, false, 5), failed(7, false, 3)]), Some("7 3".into()));
        assert_eq!(message(&[failed(9, false, 0), failed(8, false, 9)]), Some("8 9".into()));
        assert_eq!(message(&[failed(2, true, 0)]), Some("2 0".into()));
        assert_eq!(message(&[Outcome { result: Ok(()), statements: 1, has_lost_rank: false }]), None);
    }
}
