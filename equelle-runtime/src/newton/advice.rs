//! Hints after a failed solve: bounds for unknowns that left their range, and the options that
//! decide.

use super::options::Options;
use super::problem::Problem;
use super::range::Range;
use super::report::{FailureCause, History};
use crate::error::Error;
use crate::input::ConstantTable;

/// A line with the number of values at a bound, if there are any.
pub(super) fn bounds_line(problem: &mut dyn Problem, options: &Options) -> Result<String, Error> {
    let at_bounds = if options.bounds.is_empty() { None } else { problem.at_bounds()? };
    Ok(match at_bounds {
        Some([count, all]) if count > 0 => format!("{count} of {all} unknowns stand at a bound\n"),
        Some(_) | None => String::new(),
    })
}

/// The hint after the last iteration without convergence.
pub(super) fn no_convergence_hint(history: &History, options: &Options) -> String {
    if let Some(hint) = ranges_hint(&history.first_ranges, &history.ranges, options) {
        return hint;
    }
    if options.abs_res_tol.is_some() && options.rounding > f64::EPSILON {
        return "in single precision a residual cannot get below the rounding of its terms, about 6e-8 of the largest one: give a larger \
                `abs_res_tol` or none, or compile with `--precision f64`"
            .to_owned();
    }
    match history.cause {
        Some(FailureCause::Alternating) if !options.line_search => {
            "the residual alternates, so that the corrections lead too far: `newton_line_search=true` shortens them".to_owned()
        }
        Some(FailureCause::Alternating) => {
            "the residual alternates even with shorter corrections, as it does where it jumps: make it continuous in the unknown".to_owned()
        }
        None
        | Some(
            FailureCause::IterationLimit
            | FailureCause::NotFinite
            | FailureCause::LinearSolver
            | FailureCause::LinearSystem
            | FailureCause::Residual,
        ) => {
            let keys = if options.abs_res_tol.is_some() { "`max_iter` and `abs_res_tol` decide" } else { "`max_iter` decides" };
            let search = if options.line_search { "" } else { ", and so may `newton_line_search=true`" };
            format!(
                "a smaller time step or a better guess may help{search}; {keys} when to stop, \
                 and `newton_failure=warn` goes on with the last iterate"
            )
        }
    }
}

/// Advice for a system that may be singular because of tables; `None` without such tables.
pub(super) fn tables_hint(tables: &[ConstantTable]) -> Option<String> {
    let first = tables.first()?;
    let rows = |table: &ConstantTable| {
        let arguments: Vec<String> = table.arguments.iter().map(|[first, last]| format!("from {first} to {last}")).collect();
        format!("`{}` (rows {})", table.name, arguments.join(" and "))
    };
    let listed: Vec<String> = tables.iter().map(rows).collect();
    Some(format!(
        "outside of its rows a table is constant, and its derivative zero: {}; begin with a guess within the rows, or give `{}_outside=linear`",
        listed.join(", "),
        first.name
    ))
}

/// Advice where the residual has a sum that no unknown changes.
pub(super) const OF_SOURCES: &str = "without a boundary condition or a time derivative nothing takes up what sources add, so they must sum to zero: correct them or add \
     a condition";

/// Distance outside a range, relative to it, below which an iterate has not left it.
const OUTSIDE: f64 = 1e-3;

/// Bounds for the first unknown that was between 0 and 1, or nonnegative, at the guess and has left
/// that range, as fractions and pressures may; `None` if there is none, or it has bounds.
pub(super) fn ranges_hint(first: &[Range], now: &[Range], options: &Options) -> Option<String> {
    first.iter().zip(now).enumerate().find_map(|(number, (first, now))| {
        let has_bounds = options.bounds.iter().any(|(bounded, _)| *bounded == number);
        if has_bounds || first.unknown != now.unknown || first.least.is_nan() || first.least < 0.0 {
            return None;
        }
        let name = &now.unknown;
        let is_share = first.greatest <= 1.0;
        let size = if is_share { 1.0 } else { first.greatest };
        let (below, above) = (now.least < -OUTSIDE * size, is_share && now.greatest > 1.0 + OUTSIDE);
        // A guess of zeros reveals no range, nor does one that is at most 1 and grows.
        if first.greatest == 0.0 || !below {
            return None;
        }
        let gone = if is_share && above { "has left the range from 0 to 1" } else { "has gone below 0" };
        let bounds = if is_share && above {
            format!("`unknown_min_{name}=0` and `unknown_max_{name}=1`")
        } else {
            format!("`unknown_min_{name}=0`")
        };
        Some(format!("`{name}` {gone} since the guess: if such values are meaningless, give bounds: {bounds}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::newton::{Bounds, Iteration, Times};

    fn range(name: &str, least: f64, greatest: f64) -> Range {
        Range { unknown: name.to_owned(), least, greatest }
    }

    fn history(norms: &[f64], cause: FailureCause) -> History {
        let iteration = |norm: &f64| Iteration { norm: *norm, linear_iterations: None, length: 1.0, times: Times::default() };
        History { iterations: norms.iter().map(iteration).collect(), cause: Some(cause), ..History::default() }
    }

    /// Newton's method on a residual with a steep part goes to and fro; where it creeps, grows or
    /// halves the residual it does not.
    #[test]
    fn what_alternates_is_told_the_line_search() {
        let alternates = |norms: &[f64]| history(norms, FailureCause::IterationLimit).alternates();
        for norms in [
            &[1.7, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0][..],
            &[9.0, 4.0, 4.7, 4.0, 4.7, 4.0, 4.7],
            &[15.0, 12.8, 15.0, 12.8, 15.0, 12.8],
        ] {
            assert!(alternates(norms), "{norms:?}");
        }
        for norms in [
            &[9.0, 4.5, 2.25, 1.1, 0.6, 0.3][..],
            &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
            &[1.0, 1.0, 1.0],
            &[5.0, 4.0, 4.7, 3.0, 4.0, 2.0],
            &[0.0; 6],
        ] {
            assert!(!alternates(norms), "{norms:?}");
        }
        let hint = |options: &Options, cause| no_convergence_hint(&history(&[1.0, 2.0], cause), options);
        let plain = Options::default();
        let searching = Options { line_search: true, ..Options::default() };
        assert!(hint(&plain, FailureCause::Alternating).ends_with("`newton_line_search=true` shortens them"));
        assert!(hint(&searching, FailureCause::Alternating).contains("make it continuous"));
        assert!(hint(&plain, FailureCause::IterationLimit).contains("a smaller time step"));
        assert!(!hint(&searching, FailureCause::IterationLimit).contains("newton_line_search"));
    }

    #[test]
    fn tables_are_named_with_their_rows() {
        assert_eq!(tables_hint(&[]), None);
        let table = |name: &str, arguments: &[[f64; 2]]| ConstantTable { name: name.to_owned(), arguments: arguments.to_vec() };
        let told = tables_hint(&[table("kr", &[[0.25, 0.75]]), table("pvt", &[[0.0, 1.0], [2.0, 3.0]])]).expect("advice");
        assert!(told.contains("`kr` (rows from 0.25 to 0.75), `pvt` (rows from 0 to 1 and from 2 to 3)"), "{told}");
        assert!(told.ends_with("`kr_outside=linear`"), "{told}");
    }

    #[test]
    fn bounds_are_suggested_where_the_guess_kept_to_them() {
        let options = Options::default();
        let hint = |first: Range, now: Range| ranges_hint(&[first], &[now], &options);
        let below = hint(range("s", 0.5, 0.5), range("s", -0.3, 0.7)).expect("a hint");
        assert!(below.contains("below 0") && below.ends_with("`unknown_min_s=0`"), "{below}");
        let both = hint(range("s", 0.0, 1.0), range("s", -3.0, 9.0)).expect("a hint");
        assert!(both.ends_with("`unknown_min_s=0` and `unknown_max_s=1`"), "{both}");
        let pressure = hint(range("p", 1e5, 2e5), range("p", -1e4, 2e5)).expect("a hint");
        assert!(pressure.ends_with("`unknown_min_p=0`"), "{pressure}");
        // Within rounding of 0; negative before; a guess of zeros; not finite.
        assert_eq!(hint(range("s", 0.0, 1.0), range("s", -1e-9, 1.0)), None);
        assert_eq!(hint(range("p", -1.0, 2.0), range("p", -8.0, 2.0)), None);
        assert_eq!(hint(range("p", 0.0, 0.0), range("p", -8.0, 2.0)), None);
        assert_eq!(hint(range("p", 1.0, 2.0), range("p", f64::NAN, f64::NAN)), None);
        let bounded = Options { bounds: vec![(0, Bounds { least: -1.0, greatest: 1.0 })], ..options };
        assert_eq!(ranges_hint(&[range("s", 0.5, 0.5)], &[range("s", -1.0, 0.7)], &bounded), None);
    }
}
