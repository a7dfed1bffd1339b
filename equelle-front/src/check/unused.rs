//! Warnings about names that nothing reads.

use std::collections::HashSet;

use crate::check::checker::Checker;
use crate::check::scope::{Meaning, Role, ScopeKind, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// Warns of variables and parameters that are never read. A name in a body counts as read if
/// any instance reads it.
pub(super) fn warn(checker: &mut Checker<'_>) {
    let used: HashSet<Span> = checker.scopes.entries().filter(|e| e.used).map(|e| e.span).collect();
    let assigned: HashSet<Span> = checker
        .scopes
        .entries()
        .filter(|e| matches!(&e.meaning, Meaning::Variable(v) if v.state != State::Unassigned))
        .map(|e| e.span)
        .collect();
    let mut warnings = Vec::new();
    for entry in checker.scopes.entries() {
        let name = entry.name;
        if entry.import.is_some() {
            if !entry.used {
                let diagnostic = Diagnostic::new(Code::UnusedImport, entry.span, format!("`{name}` is imported, but never used"));
                warnings.push(diagnostic.hint("take it out of the list of names"));
            }
            continue;
        }
        let Meaning::Variable(variable) = &entry.meaning else { continue };
        if !assigned.contains(&entry.span) {
            if !variable.reported {
                warnings.push(
                    Diagnostic::new(Code::NeverAssigned, entry.span, format!("`{name}` is declared but never assigned"))
                        .hint("remove the declaration, or assign a value"),
                );
            }
            continue;
        }
        if used.contains(&entry.span) {
            continue;
        }
        match variable.role {
            Role::LoopVariable => {}
            // A constant that others may import.
            Role::Local if !checker.texts.is_own(entry.span) && checker.scopes.kind(entry.scope) == ScopeKind::Main => {}
            Role::Parameter if checker.definitions.unknowns.contains(&entry.span) => {}
            Role::Parameter => warnings.push(
                Diagnostic::new(Code::UnusedParameter, entry.span, format!("parameter `{name}` is never used"))
                    .hint("remove it, here and in the calls"),
            ),
            Role::Local => {
                warnings.push(
                    Diagnostic::new(Code::UnusedVariable, entry.span, format!("the value of `{name}` is never used"))
                        .hint("remove the variable"),
                );
            }
        }
    }
    for warning in warnings {
        checker.report(warning);
    }
}
