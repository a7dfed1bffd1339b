//! Domains by condition: a `Where` is evaluated once, before the run changes anything.

use crate::check::checker::Checker;
use crate::check::dependence::{Analysis, BadWhere, Misplaced, Through};
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::Stmt;

impl Checker<'_> {
    /// Reports each `Where` of a program without errors that stands in a loop or a residual, or
    /// whose condition depends on state.
    pub fn check_conditions(&mut self, main: &[Stmt]) {
        if !self.conditions {
            return;
        }
        self.extend_captures();
        let mut analysis = Analysis::new(&self.functions, &self.variables, &self.captures, Through::State);
        analysis.program(main);
        for bad in analysis.bad_domains {
            let mut diagnostic = self.bad_domain(&bad);
            for (span, function) in bad.calls.iter().rev() {
                let function = &self.functions[function.0 as usize];
                let arguments: Vec<String> =
                    function.params.iter().map(|p| super::print::shown_type(self.names(), &self.variables[p.0 as usize].ty)).collect();
                diagnostic = diagnostic.called(*span, format!("in this call of `{}` with ({})", function.name, arguments.join(", ")));
            }
            self.report(diagnostic);
        }
    }

    fn bad_domain(&self, bad: &BadWhere) -> Diagnostic {
        let before = |what| format!("make the domain before the {what}; inside, choose values by the condition: `condition ? a : b`");
        match bad.what {
            Misplaced::InLoop(span) => Diagnostic::new(
                Code::DomainRepeated,
                bad.span,
                "`Where` makes a domain once, and a loop would make another one in every round",
            )
            .also(span, "the loop")
            .hint(before("loop")),
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
                let diagnostic = match variable.map(|v| &self.variables[v.0 as usize]) {
                    Some(variable) if variable.mutable => diagnostic.also(variable.span, format!("`{}` is `Mutable`", variable.name)),
                    Some(variable) => diagnostic.also(variable.span, format!("`{}` depends on state", variable.name)),
                    None => diagnostic,
                };
                diagnostic.hint("choose values by the condition, `condition ? a : b`, on a domain that stays the same")
            }
        }
    }
}
