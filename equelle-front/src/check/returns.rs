//! Returns of functions.

use crate::check::checker::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident, StmtKind as Ast};

/// Reports returns of a body other than one, its last statement.
pub(super) fn check(checker: &mut Checker<'_>, name: &Ident, body: &ast::Block, body_span: Span) {
    let mut first = None;
    let mut in_loop = false;
    for (i, stmt) in body.statements.iter().enumerate() {
        match &stmt.kind {
            Ast::Return(_) => {
                first.get_or_insert((i, stmt.span));
            }
            Ast::For { body, .. } | Ast::Conditional { body, .. } => in_loop |= report_in_loop(checker, body),
            Ast::Declaration { .. }
            | Ast::FunctionDeclaration { .. }
            | Ast::Assignment { .. }
            | Ast::FunctionDefinition { .. }
            | Ast::StencilAssignment { .. }
            | Ast::Import { .. }
            | Ast::Call(_) => {}
        }
    }
    match first {
        None if in_loop => {}
        // A statement with a syntax error may have been the result.
        None if checker.reports.unread.iter().any(|place| body_span.start <= place.start && place.end <= body_span.end) => {}
        None => checker.report(
            Diagnostic::new(Code::MissingReturn, name.span, format!("function `{}` has no result", name.name))
                .label("its body has no `->`")
                .hint("end the body with `-> value`"),
        ),
        Some((i, span)) => {
            if let Some(next) = body.statements.get(i + 1) {
                checker.report(
                    Diagnostic::new(Code::AfterReturn, next.span, format!("`->` ends function `{}`, and this comes after it", name.name))
                        .also(span, "the function ends here")
                        .hint("move `->` to the end of the body"),
                );
            }
        }
    }
}

/// Reports returns in a loop; true if there are any.
fn report_in_loop(checker: &mut Checker<'_>, body: &ast::Block) -> bool {
    let mut found = false;
    // An explicit stack: loops may be nested as deep as the parser allows.
    let mut blocks = vec![body];
    while let Some(block) = blocks.pop() {
        for stmt in &block.statements {
            match &stmt.kind {
                Ast::Return(_) => {
                    found = true;
                    checker.report(
                        Diagnostic::new(Code::ReturnInLoop, stmt.span, "a loop cannot end the function")
                            .hint("assign to a `Mutable` variable in the loop, and return that after it"),
                    );
                }
                Ast::For { body, .. } | Ast::Conditional { body, .. } => blocks.push(body),
                Ast::Declaration { .. }
                | Ast::FunctionDeclaration { .. }
                | Ast::Assignment { .. }
                | Ast::FunctionDefinition { .. }
                | Ast::StencilAssignment { .. }
                | Ast::Import { .. }
                | Ast::Call(_) => {}
            }
        }
    }
    found
}
