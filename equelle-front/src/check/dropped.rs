//! Derivatives that Newton's method does not see: a reduction of an unknown has a value, but no
//! derivatives (they would fill whole rows of the Jacobian).

use crate::check::checker::Checker;
use crate::check::dependence::{Analysis, Through};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::FunctionId;

/// Warns of reductions in a residual whose argument depends on an unknown. `passed` is where
/// the residual is given to the solver.
pub(super) fn warn(checker: &mut Checker<'_>, residual: FunctionId, passed: Span) {
    checker.tree.extend_captures();
    let mut analysis = Analysis::new(&checker.tree, Through::Derivatives);
    analysis.residuals(&[residual]);
    let found = analysis.reductions;
    for ((place, reduction), unknowns) in found {
        let params = &checker.tree.function(residual).params;
        let names: Vec<&str> =
            unknowns.iter().filter_map(|i| params.get(*i as usize)).map(|v| checker.tree.variable(*v).name.as_str()).collect();
        let of = format!("`{}`", names.join("`, `"));
        checker.report(
                Diagnostic::new(
                    Code::DroppedDerivative,
                    place,
                    format!("the derivative of `{reduction}(...)` with respect to {of} is dropped, though its value depends on it"),
                )
                .label("a constant to Newton's method")
                .also(passed, "in this residual")
                .note("each iteration uses the current value but leaves its derivative out of the Jacobian, so the solver may converge slowly or not at all")
                .hint("compute the reduction before the solve; where it must be that of the solution, solve in a loop: `For n In Range(0, 10) {` computes it from the last solution, then solves"),
            );
    }
}
