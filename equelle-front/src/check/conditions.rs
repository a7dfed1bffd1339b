//! Domains by condition: a `Where` is evaluated once, before the run changes anything.

use crate::check::checker::Checker;
use crate::check::dependence::{Analysis, BadWhere, Misplaced, Through};
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::Stmt;

/// Reports each `Where` of a program without errors that stands in a loop or a residual, or
/// whose condition depends on state.
pub(super) fn check(checker: &mut Checker<'_>, main: &[Stmt]) {
    if !checker.runtime_sets.has_conditions {
        return;
    }
    checker.tree.extend_captures();
    let mut analysis = Analysis::new(&checker.tree, Through::State);
    analysis.program(main);
    for bad in analysis.bad_domains {
        let mut diagnostic = bad_domain(checker, &bad);
        for (span, function) in bad.calls.iter().rev() {
            let function = checker.tree.function(*function);
            let arguments: Vec<String> =
                function.params.iter().map(|p| super::print::shown_type(checker.names(), &checker.tree.variable(*p).ty)).collect();
            diagnostic = diagnostic.called(*span, format!("in this call of `{}` with ({})", function.name, arguments.join(", ")));
        }
        checker.report(diagnostic);
    }
}

fn bad_domain(checker: &Checker<'_>, bad: &BadWhere) -> Diagnostic {
    let before = |what| format!("make the domain before the {what}; inside, choose values by the condition: `condition ? a : b`");
    match bad.what {
        Misplaced::InLoop(span) => {
            Diagnostic::new(Code::DomainRepeated, bad.span, "`Where` makes a domain once, and a loop would make another one in every round")
                .also(span, "the loop")
                .hint(before("loop"))
        }
        Misplaced::InResidual(span) => Diagnostic::new(
            Code::DomainRepeated,
            bad.span,
            "`Where` makes a domain once, and a residual is evaluated in every iteration of Newton's method",
        )
        .also(span, "the solve")
        .hint(before("residual")),
        Misplaced::OnState(variable) => {
            let diagnostic = Diagnostic::new(
                Code::ConditionOnState,
                bad.span,
                "the condition of a domain depends on inputs and geometry alone, and this one changes in the run",
            );
            let diagnostic = match variable.map(|v| checker.tree.variable(v)) {
                Some(variable) if variable.mutable => diagnostic.also(variable.span, format!("`{}` is `Mutable`", variable.name)),
                Some(variable) => diagnostic.also(variable.span, format!("`{}` depends on state", variable.name)),
                None => diagnostic,
            };
            diagnostic.hint("choose values by the condition, `condition ? a : b`, on a domain that stays the same")
        }
    }
}
