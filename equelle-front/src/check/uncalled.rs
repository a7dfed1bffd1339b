//! Functions that no call reaches are checked as far as possible: with unknown parameters, or with
//! declared ones where the declaration says enough.

use crate::check::checker::{CALL_WEIGHT, Checker};
use crate::check::declared::DeclaredType;
use crate::check::definition::Argument;
use crate::check::scope::DefinitionId;
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::TreeDimension;

/// Checks the bodies of functions that were not, and warns of uncalled ones if the program is
/// valid so far. What the bodies would make is thrown away.
pub(super) fn check(checker: &mut Checker<'_>) {
    let (sets, functions, variables) = (checker.sets.clone(), checker.tree.functions.len(), checker.tree.variables.len());
    let (options, incomplete) = (checker.options, checker.reports.incomplete);
    // Dimensions of parameters are not known.
    checker.options.nondimensional = true;
    let mut next = 0;
    // Bodies may define more functions.
    while next < checker.definitions.all.len() {
        check_unreached(checker, DefinitionId(next as u32), !incomplete);
        next += 1;
    }
    checker.options = options;
    // Unknown parameters alone do not make the program incomplete; errors in the bodies do.
    checker.reports.incomplete = incomplete || checker.reports.has_errors();
    checker.sets = sets;
    checker.tree.functions.truncate(functions);
    checker.tree.variables.truncate(variables);
}

fn check_unreached(checker: &mut Checker<'_>, id: DefinitionId, warn: bool) {
    let definition = checker.definitions.get(id);
    let (name, declared) = (definition.name, definition.declared.clone());
    // Other programs may call the functions of an imported text that this one does not.
    let warn = warn && !checker.definitions.called.contains(&name.span) && checker.texts.is_own(name.span);
    let Some(defined) = definition.defined.clone() else {
        if warn {
            checker.report(
                Diagnostic::new(
                    Code::UncalledFunction,
                    name.span,
                    format!("function `{}` is declared but neither defined nor called", name.name),
                )
                .hint("remove the declaration, or define the function"),
            );
        }
        return;
    };
    if warn {
        checker.report(
            Diagnostic::new(Code::UncalledFunction, name.span, format!("function `{}` is never called", name.name))
                .hint("remove it, or call it"),
        );
    }
    if checker.definitions.walked.contains(&name.span) {
        return;
    }
    let arguments: Vec<Option<Argument>> = (0..defined.params.len())
        .map(|i| {
            let declared = declared.as_ref()?.params.get(i)?.as_ref()?;
            let ty = DeclaredType { checker, declared }.complete()?;
            let dims = vec![TreeDimension::default(); ty.elements().len()];
            Some((ty, dims))
        })
        .collect();
    let depth = std::mem::replace(&mut checker.depth, CALL_WEIGHT);
    checker.walk_body(id, arguments, None);
    checker.depth = depth;
}
