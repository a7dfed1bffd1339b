//! The check of a whole program, from its statements to warnings.

use crate::check::checker::Checker;
use crate::check::reports::Reports;
use crate::check::tree::Tree;
use crate::check::{Checked, conditions, constants, import, parameters, uncalled, unused};
use crate::syntax::ast;
use crate::typed::TypedProgram;

/// Checks a program by a checker that has seen nothing yet.
pub(super) fn check<'a>(mut checker: Checker<'a>, program: &'a ast::Program) -> Checked {
    let main = checker.statements(&program.statements);
    let main = checker.geometry.with_snapshots(main, &mut checker.tree.functions);
    uncalled::check(&mut checker);
    parameters::check_missing(&mut checker);
    // Beside errors, a name may seem unused only because its use was not understood.
    if !checker.reports.incomplete {
        unused::warn(&mut checker);
        constants::check(&mut checker, &main);
        conditions::check(&mut checker, &main);
    }
    let main = import::drop_unread_constants(&mut checker, main);
    let Checker { reports: Reports { mut diagnostics, incomplete, .. }, tree: Tree { variables, functions, .. }, sets, options, .. } =
        checker;
    diagnostics.sort_by_key(|d| (d.primary.span, d.code));
    let is_dimensional = !options.nondimensional;
    let program = (!incomplete).then_some(TypedProgram { sets, variables, functions, main, is_dimensional });
    Checked { program, diagnostics }
}
