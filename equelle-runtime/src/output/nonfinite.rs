//! Checks for numbers that are not finite: the option `nonfinite`, and messages with the location.

use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::number::write_shortest;
use crate::params::Parameters;
use crate::real::Real;

/// Action on outputs or state that are not finite: `nonfinite`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nonfinite {
    /// They end the run.
    #[default]
    Error,
    /// They are treated like other numbers.
    Allow,
}

impl Nonfinite {
    /// Reads `nonfinite` (default `error`).
    ///
    /// # Errors
    /// `Data` for another word than `error` or `allow`.
    pub fn from_parameters(parameters: &Parameters) -> Result<Nonfinite, Error> {
        match parameters.text("nonfinite") {
            None | Some("error") => Ok(Nonfinite::Error),
            Some("allow") => Ok(Nonfinite::Allow),
            Some(other) => {
                let message = format!("parameter `nonfinite` must be `error` or `allow`, not `{other}`");
                Err(Error::new(ErrorKind::Data, message))
            }
        }
    }
}

/// A step of the outermost loop, from 1, and the number of steps, if known.
pub type Step = (usize, Option<usize>);

/// A step in messages: `step 3 of 10`, or `step 3`.
pub fn step_text((step, steps): Step) -> String {
    match steps {
        Some(steps) => format!("step {step} of {steps}"),
        None => format!("step {step}"),
    }
}

/// The subject and the time of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The checked values.
    pub what: CheckedValues,
    /// Equelle line; 0 where it is not known.
    pub line: u32,
    /// The step in which, or after which; `None` outside loops.
    pub step: Option<Step>,
    /// The last earlier step in which, or after which, it was finite, if checked.
    pub finite: Option<usize>,
}

/// The origin of checked values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedValues {
    /// Values of an `Output` with this tag.
    Output(String),
    /// Values of a mutable variable.
    State(String),
}

/// The first number that is not finite, in the order of the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstNonfinite {
    /// Position of its element; 0 for a single value.
    pub position: usize,
    /// Its component, from 0.
    pub component: usize,
    /// Number of components.
    pub components: usize,
    /// The number.
    pub value: f64,
}

impl FirstNonfinite {
    /// The first number that is not finite, by element and then by component; `components` holds
    /// the elements of each component.
    pub fn first<R: Real>(components: &[&[R]]) -> Option<FirstNonfinite> {
        let in_component = |(component, values): (usize, &&[R])| {
            let position = first_of(values)?;
            Some(FirstNonfinite { position, component, components: components.len(), value: values[position].to_f64() })
        };
        components.iter().enumerate().filter_map(in_component).min_by_key(|found| (found.position, found.component))
    }
}

/// Position of the first number that is not finite.
fn first_of<R: Real>(values: &[R]) -> Option<usize> {
    // Nearly all blocks are finite, so they are scanned without a branch.
    const BLOCK: usize = 1024;
    let is_bad = |value: &R| !value.to_f64().is_finite();
    let bad = values.chunks(BLOCK).position(|block| block.iter().fold(false, |bad, value| bad | is_bad(value)))?;
    Some(bad * BLOCK + values[bad * BLOCK..].iter().position(is_bad)?)
}

/// An element of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementLocation {
    kind: EntityKind,
    /// In the grid's numbering.
    entity: u32,
}

impl ElementLocation {
    /// The element at a position in the order of the grid's file.
    pub fn in_file_order(domain: &Domain, position: usize) -> Option<ElementLocation> {
        let position = domain.file_order().map_or(position, |order| order[position] as usize);
        (position < domain.len()).then(|| ElementLocation { kind: domain.kind(), entity: domain.element(position) })
    }
}

/// A number that is not finite and ends the run.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// The check that found it.
    pub checked: Checked,
    /// The number.
    pub found: FirstNonfinite,
    /// Its element; `None` for a single value.
    pub place: Option<ElementLocation>,
}

impl NotFinite {
    /// Converts to an error. The centroid comes from the grid, if that still has it. `solves`:
    /// whether the program solves equations, so that its steps are not explicit ones.
    pub fn error(&self, grid: &Grid, solves: bool) -> Error {
        let Checked { what, line, step, finite } = &self.checked;
        let (subject, when, earlier) = match what {
            CheckedValues::Output(tag) => (format!("output `{tag}` is not finite"), "in", "when it was written in"),
            CheckedValues::State(name) => (format!("`{name}` is not finite"), "after", "after"),
        };
        let when = match (step, what) {
            (Some(step), _) => format!(" {when} {}", step_text(*step)),
            (None, CheckedValues::Output(_)) => String::new(),
            (None, CheckedValues::State(_)) => " at the end of the run".to_owned(),
        };
        let last = match (step, finite) {
            (Some((step, _)), Some(finite)) if finite + 1 == *step => format!("; step {step} is the first where it is not"),
            (_, Some(finite)) => format!("; it was finite {earlier} step {finite}"),
            (_, None) => String::new(),
        };
        let whose = match &self.place {
            None => "it".to_owned(),
            Some(ElementLocation { kind, entity }) => {
                let at = grid.centroid(*kind, *entity).map_or_else(String::new, |centroid| at(&centroid[..grid.dim()]));
                format!("{} {}{at}", kind.noun(), grid.file_index(*kind, *entity))
            }
        };
        let FirstNonfinite { component, components, value, .. } = self.found;
        let number = if value.is_nan() { "NaN".to_owned() } else { shortest(value) };
        let is = if components == 1 { format!("is {number}") } else { format!("has {number} as component {component}") };
        let reason = if step.is_some() && !solves {
            "an explicit step that is too long does this, and so do a division by zero and a root of a negative number"
        } else {
            "a division by zero does this, and so does a root of a negative number"
        };
        Error::new(ErrorKind::Simulation, format!("{subject}{when}: {whose} {is}{last}"))
            .hint(format!("{reason}; `nonfinite=allow` puts such numbers out"))
            .at(*line)
    }
}

/// ` at (0.5, 1.5)`
fn at(centroid: &[f64]) -> String {
    let axes: Vec<String> = centroid.iter().map(|&x| shortest(x)).collect();
    format!(" at ({})", axes.join(", "))
}

fn shortest(value: f64) -> String {
    let mut text = String::new();
    write_shortest(&mut text, value);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_in_the_order_of_the_elements() {
        assert_eq!(FirstNonfinite::first::<f64>(&[]), None);
        assert_eq!(FirstNonfinite::first(&[&[1.0, f64::MAX, -0.0][..]]), None);
        for position in [0, 1, 1023, 1024, 1025, 2999] {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut values = vec![1.0; 3000];
                values[position] = value;
                values[2999] = f64::NAN;
                let found = FirstNonfinite::first(&[&values[..]]).expect("one");
                assert_eq!((found.position, found.component), (position, 0));
                assert!(position == 2999 || found.value.to_bits() == value.to_bits());
            }
        }
        // The second element of the first component comes after the first element of the second
        // one.
        let (x, y) = ([1.0_f32, f32::INFINITY], [f32::NAN, 0.0]);
        let found = FirstNonfinite::first(&[&x[..], &y[..]]).expect("one");
        assert_eq!((found.position, found.component, found.components), (0, 1, 2));
        assert!(found.value.is_nan());
    }
}
