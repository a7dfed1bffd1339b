//! Results of a run, and how far two runs may be apart.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use equelle_runtime::output::{Record, Records};
use equelle_runtime::{Error, Program as Runnable, Session, session};

use crate::tree::Program;

/// Results of a run: outputs, and the error that ended it.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The tag and all numbers of each output, in order; truth as 0 and 1, text by its bytes.
    pub outputs: Vec<(String, Vec<f64>)>,
    /// How it ended, if not well.
    pub error: Option<Ended>,
}

/// The error that ended a run.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Its kind, as in the code.
    pub kind: String,
    /// The Equelle line of the statement that failed; 0 if unknown.
    pub line: u32,
    /// For people. Levels may say the same in other words.
    pub message: String,
}

impl PartialEq for Ended {
    fn eq(&self, other: &Ended) -> bool {
        (&self.kind, self.line) == (&other.kind, other.line)
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Ended {
        Ended { kind: format!("{:?}", error.kind), line: error.lines.first().copied().unwrap_or(0), message: error.message }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}: {}", self.kind, self.line, self.message)
    }
}

/// Runs a program in a session, with the words of a command line. Numbers that are not finite end a
/// run of one program in four, and are compared like others in runs of the rest.
pub fn run_by(runnable: &Arc<Runnable>, words: &[String], run: impl FnOnce(Session) -> Result<(), Error>) -> Outcome {
    let mut outcome = Outcome::default();
    let words = with_policy(runnable, words);
    let result = Session::open_with(Arc::clone(runnable), &words, session::Options::silent()).and_then(|mut session| {
        let records = session.record_outputs();
        let result = run(session);
        outcome.outputs = records.take().into_iter().map(numbers).collect();
        result
    });
    outcome.error = result.err().map(Ended::from);
    outcome
}

/// The words of a command line with what numbers that are not finite do.
pub(crate) fn with_policy(runnable: &Runnable, words: &[String]) -> Vec<String> {
    let nonfinite = if allows_nonfinite(runnable) { "nonfinite=allow" } else { "nonfinite=error" };
    [&[nonfinite.to_owned()], words].concat()
}

/// Outputs that were recorded, and how the run ended.
pub(crate) fn from_records(records: &Records, result: Result<(), Error>) -> Outcome {
    Outcome { outputs: records.take().into_iter().map(numbers).collect(), error: result.err().map(Ended::from) }
}

/// True if numbers that are not finite are put out: a choice by the program's text, the same in
/// every way to run it.
fn allows_nonfinite(runnable: &Runnable) -> bool {
    !runnable.source.text.len().is_multiple_of(4)
}

/// Tolerance of the values of outputs with a tag: `absolute`, or `relative` of the largest value
/// where that is more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// In the unit of the output.
    pub absolute: f64,
    /// Relative to the largest value.
    pub relative: f64,
    /// Zeros may have either sign.
    pub any_zero: bool,
}

impl Tolerance {
    /// The same bits.
    pub const BITS: Tolerance = Tolerance { absolute: 0.0, relative: 0.0, any_zero: false };
    /// The same bits, but for the sign of zeros: in Cartesian forms a component of a normal that is
    /// 0 annihilates its product, whatever the sign of the other factor.
    pub const NUMBERS: Tolerance = Tolerance { any_zero: true, ..Tolerance::BITS };

    /// Part of the largest value.
    pub const fn relative(relative: f64) -> Tolerance {
        Tolerance { relative, ..Tolerance::NUMBERS }
    }

    /// In the unit of the output.
    pub const fn absolute(absolute: f64) -> Tolerance {
        Tolerance { absolute, ..Tolerance::NUMBERS }
    }
}

/// Outputs must have the same bits.
pub fn bits(_tag: &str) -> Tolerance {
    Tolerance::BITS
}

/// Allows zeros of either sign besides the tolerance of a tag.
pub fn or_any_zero(allowed: impl Fn(&str) -> Tolerance) -> impl Fn(&str) -> Tolerance {
    move |tag| Tolerance { any_zero: true, ..allowed(tag) }
}

/// Tolerances where derivatives are found in another way.
pub fn errors_of(program: &Program) -> impl Fn(&str) -> Tolerance + use<> {
    let errors: BTreeMap<String, f64> = program.errors.iter().cloned().collect();
    move |tag| errors.get(tag).map_or(Tolerance::BITS, |&absolute| Tolerance { absolute, ..Tolerance::relative(1e-12) })
}

/// True if two runs gave the same, where `allowed` says by the tag how far values may be apart.
///
/// # Errors
/// The first difference.
pub fn same(expected: &Outcome, found: &Outcome, allowed: &dyn Fn(&str) -> Tolerance) -> Result<(), String> {
    if expected.error != found.error {
        let text = |error: &Option<Ended>| error.as_ref().map_or_else(|| "no error".to_owned(), |error| format!("`{error}`"));
        return Err(format!("ends with {}, not with {}", text(&found.error), text(&expected.error)));
    }
    if expected.outputs.len() != found.outputs.len() {
        return Err(format!("{} outputs, not {}", found.outputs.len(), expected.outputs.len()));
    }
    for ((tag, a), (other, b)) in expected.outputs.iter().zip(&found.outputs) {
        if tag != other || a.len() != b.len() {
            return Err(format!("puts out `{other}` of {} numbers, not `{tag}` of {}", b.len(), a.len()));
        }
        let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let tolerance = allowed(tag);
        let allowed = tolerance.absolute.max(tolerance.relative * largest);
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            if x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()) {
                continue;
            }
            if (x - y).abs() <= allowed && (allowed > 0.0 || tolerance.any_zero) {
                continue;
            }
            let mut text = String::new();
            let _ = write!(text, "`{tag}` at {i} is {y:e}, not {x:e} (difference {:e}, allowed {allowed:e})", (x - y).abs());
            return Err(text);
        }
    }
    Ok(())
}

fn numbers(record: Record) -> (String, Vec<f64>) {
    match record {
        Record::Scalar { tag, value } => (tag, vec![value]),
        Record::Bool { tag, value } => (tag, vec![f64::from(u8::from(value))]),
        Record::Text { tag, value } => (tag, value.bytes().map(f64::from).collect()),
        Record::Vector { tag, components } => (tag, components),
        Record::Vectors { tag, values } => (tag, values.concat()),
        Record::Collection { tag, values } => (tag, values),
    }
}
