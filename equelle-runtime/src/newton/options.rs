//! Options of Newton's method.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;
use crate::program::Solve;

/// Action if the residual norm exceeds the tolerance after the last iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The run ends with an error and a report.
    #[default]
    Error,
    /// The report is a warning, and the program goes on with the last iterate.
    Warn,
    /// The program goes on with the last iterate; only `verbose` reports it.
    Continue,
}

/// Values that an unknown may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least.
    pub least: f64,
    /// Greatest.
    pub greatest: f64,
}

impl Bounds {
    /// The nearest value within them, and true if that is another one. NaN stays for the next
    /// evaluation to report.
    pub fn nearest(self, wanted: f64) -> (f64, bool) {
        let is_outside = wanted < self.least || wanted > self.greatest;
        (if is_outside { wanted.clamp(self.least, self.greatest) } else { wanted }, is_outside)
    }
}

impl Default for Bounds {
    /// All values.
    fn default() -> Self {
        Bounds { least: f64::NEG_INFINITY, greatest: f64::INFINITY }
    }
}

/// Options of Newton's method.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Largest number of iterations; 0 only evaluates the residual.
    pub max_iter: usize,
    /// Largest norm of the residual at convergence, in its own unit. Without it the criteria do not
    /// depend on that unit: see `criteria.rs`.
    pub abs_res_tol: Option<f64>,
    /// Largest norm of the residual at convergence, relative to that at the guess; 0 is off.
    pub rel_res_tol: f64,
    /// Largest norm of each equation at convergence, in its own unit: `(equation, tolerance)` with
    /// equations from 0, ascending. Equations without one do not count. Empty is off.
    pub equation_tols: Vec<(usize, f64)>,
    /// Largest norm of a correction at convergence, relative to that of the unknowns; 0 is off.
    pub update_tol: f64,
    /// Largest relative residual of a linear solve, which decreases with the residual norm: an
    /// iterate far from the solution needs no exact correction. 0 solves each system to the
    /// tolerance of the linear solver.
    pub forcing: f64,
    /// True if corrections are shortened while they do not reduce the norm of the residual.
    pub line_search: bool,
    /// Bounds of unknowns, `(unknown, bounds)` with unknowns from 0, ascending; a correction stops
    /// there.
    pub bounds: Vec<(usize, Bounds)>,
    /// Bounds by the names of unknowns in the program, in the order of the names; see
    /// [`Options::with_unknowns`].
    pub named_bounds: Vec<(String, Bounds)>,
    /// 0: silent; 1: one line a solve; 2: one line an iteration and the time; 3: also iterates,
    /// residuals and reports of the linear solver.
    pub verbose: usize,
    /// Action if the solve does not converge. A residual that is not finite is always an error.
    pub on_failure: OnFailure,
    /// Machine epsilon of residuals. No parameter: the back-end sets it.
    pub rounding: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_iter: 10,
            abs_res_tol: None,
            rel_res_tol: 0.0,
            equation_tols: Vec::new(),
            update_tol: 0.0,
            forcing: 0.0,
            line_search: false,
            bounds: Vec::new(),
            named_bounds: Vec::new(),
            verbose: 0,
            on_failure: OnFailure::Error,
            rounding: f64::EPSILON,
        }
    }
}

impl Options {
    /// Reads `max_iter` (10), `abs_res_tol` (none), `verbose` (0) and `newton_failure` (`error`,
    /// `warn` or `continue`); and, off by default, `rel_res_tol`, `abs_res_tol_1` and so on for
    /// each equation, `update_tol`, `newton_forcing`, `newton_line_search`, `unknown_min_1` and
    /// `unknown_max_1` and so on for each unknown, numbered from 1, and `unknown_min_s` for the
    /// unknown `s`.
    ///
    /// # Errors
    /// `Data` for a value that is no number of its kind, a negative tolerance, bounds without a
    /// value between them, or another word.
    pub fn from_parameters(parameters: &Parameters) -> Result<Options, Error> {
        let default = Options::default();
        let (bounds, named_bounds) = bounds(parameters)?;
        let options = Options {
            max_iter: parameters.integer("max_iter")?.unwrap_or(default.max_iter),
            abs_res_tol: tolerance(parameters, "abs_res_tol")?,
            rel_res_tol: part(parameters, "rel_res_tol")?,
            equation_tols: numbered(parameters, "abs_res_tol_", tolerance)?,
            update_tol: part(parameters, "update_tol")?,
            forcing: part(parameters, "newton_forcing")?,
            line_search: parameters.flag("newton_line_search")?.unwrap_or(default.line_search),
            bounds,
            named_bounds,
            verbose: parameters.integer("verbose")?.unwrap_or(default.verbose),
            on_failure: match parameters.text("newton_failure") {
                None | Some("error") => OnFailure::Error,
                Some("warn") => OnFailure::Warn,
                Some("continue") => OnFailure::Continue,
                Some(other) => {
                    let message = format!("parameter `newton_failure` must be `error`, `warn` or `continue`, not `{other}`");
                    return Err(Error::new(ErrorKind::Data, message));
                }
            },
            rounding: default.rounding,
        };
        Ok(options)
    }

    /// The options of a solve with these names of unknowns; bounds by name take precedence over
    /// those by number.
    pub fn with_unknowns(mut self, unknowns: &[Arc<str>]) -> Options {
        for (name, own) in std::mem::take(&mut self.named_bounds) {
            let Some(number) = unknowns.iter().position(|unknown| **unknown == *name) else { continue };
            match self.bounds.binary_search_by_key(&number, |(number, _)| *number) {
                Ok(at) => self.bounds[at].1 = own,
                Err(at) => self.bounds.insert(at, (number, own)),
            }
        }
        self
    }

    /// Checks the names of unknowns in options against those of all solves of a program.
    ///
    /// # Errors
    /// `Data` for a name that no unknown has.
    pub fn check_names(&self, solves: &[Solve]) -> Result<(), Error> {
        let known: BTreeSet<&str> = solves.iter().flat_map(|solve| &solve.unknowns).map(|name| &**name).collect();
        let Some((name, bounds)) = self.named_bounds.iter().find(|(name, _)| !known.contains(name.as_str())) else { return Ok(()) };
        let key = if bounds.least.is_finite() { "unknown_min_" } else { "unknown_max_" };
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("parameter `{key}{name}` is for an unknown `{name}`, and the program has none of that name");
        let hint = match known.is_empty() {
            true => "it solves for nothing with Newton's method".to_owned(),
            false => format!("its unknowns are {}: the parameters of the functions that are solved", known.join(", ")),
        };
        Err(Error::new(ErrorKind::Data, message).hint(hint))
    }

    /// Checks the numbers of equations and unknowns in options against `equations`.
    ///
    /// # Errors
    /// `Data` for a number beyond the last.
    pub fn check(&self, equations: usize) -> Result<(), Error> {
        let beyond = |keys: &[&str], number: usize| {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}{}`", number + 1)).collect();
            let message = format!("parameter {} is for number {} of {equations}", keys.join(" or "), number + 1);
            Err(Error::new(ErrorKind::Data, message).hint("equations and unknowns are numbered from 1, in the order of the program"))
        };
        match (self.equation_tols.last(), self.bounds.last()) {
            (Some((number, _)), _) if *number >= equations => beyond(&["abs_res_tol_"], *number),
            (_, Some((number, _))) if *number >= equations => beyond(&["unknown_min_", "unknown_max_"], *number),
            _ => Ok(()),
        }
    }
}

/// A nonnegative number.
fn tolerance(parameters: &Parameters, key: &str) -> Result<Option<f64>, Error> {
    let Some(value) = parameters.number(key)? else { return Ok(None) };
    if value >= 0.0 {
        return Ok(Some(value));
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{key}` must not be negative, it is {value}")))
}

/// A fraction: from 0, which is off, to below 1.
fn part(parameters: &Parameters, key: &str) -> Result<f64, Error> {
    let value = parameters.number(key)?.unwrap_or(0.0);
    if (0.0..1.0).contains(&value) {
        return Ok(value);
    }
    Err(Error::new(ErrorKind::Data, format!("parameter `{key}` must be 0 or more and below 1, not {value}")))
}

type Read = fn(&Parameters, &str) -> Result<Option<f64>, Error>;

/// The values of `prefix1`, `prefix2` and so on, by their numbers from 0, ascending.
fn numbered(parameters: &Parameters, prefix: &str, read: Read) -> Result<Vec<(usize, f64)>, Error> {
    let number = |key: &str| key.strip_prefix(prefix)?.parse::<usize>().ok()?.checked_sub(1);
    let mut numbers: Vec<usize> = parameters.keys().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut values = Vec::with_capacity(numbers.len());
    for number in numbers {
        if let Some(value) = read(parameters, &format!("{prefix}{}", number + 1))? {
            values.push((number, value));
        }
    }
    Ok(values)
}

/// Access to one of the two bounds.
type End = fn(&mut Bounds) -> &mut f64;
type ByNumber = Vec<(usize, Bounds)>;
type ByName = Vec<(String, Bounds)>;

/// Bounds by the numbers of unknowns from 0, and by their names.
fn bounds(parameters: &Parameters) -> Result<(ByNumber, ByName), Error> {
    let mut numbered_bounds: BTreeMap<usize, Bounds> = BTreeMap::new();
    let mut named: BTreeMap<String, Bounds> = BTreeMap::new();
    let ends: [(&str, End); 2] = [("unknown_min_", |bounds| &mut bounds.least), ("unknown_max_", |bounds| &mut bounds.greatest)];
    for (prefix, end) in ends {
        for (number, value) in numbered(parameters, prefix, |parameters, key| parameters.number(key))? {
            *end(numbered_bounds.entry(number).or_default()) = value;
        }
        let names = parameters.keys().filter_map(|key| key.strip_prefix(prefix)).filter(|rest| rest.parse::<usize>().is_err());
        for name in names {
            if let Some(value) = parameters.number(&format!("{prefix}{name}"))? {
                *end(named.entry(name.to_owned()).or_default()) = value;
            }
        }
    }
    let all = numbered_bounds.iter().map(|(number, bounds)| ((number + 1).to_string(), *bounds));
    let mut all = all.chain(named.iter().map(|(name, bounds)| (name.clone(), *bounds)));
    if let Some((which, Bounds { least, greatest })) = all.find(|(_, bounds)| bounds.least > bounds.greatest) {
        let message = format!("no value is between `unknown_min_{which}`, {least}, and `unknown_max_{which}`, {greatest}");
        return Err(Error::new(ErrorKind::Data, message));
    }
    drop(all);
    Ok((numbered_bounds.into_iter().collect(), named.into_iter().collect()))
}
