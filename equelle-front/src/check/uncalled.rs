//! Functions that no call reaches are checked as far as possible: with unknown parameters, or with
//! declared ones where the declaration says enough.

use crate::check::checker::{CALL_WEIGHT, Checker};
use crate::check::definition::Argument;
use crate::check::scope::DefinitionId;
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::TreeDimension;

impl Checker<'_> {
    /// Checks the bodies of functions that were not, and warns of uncalled ones if the program is
    /// valid so far. What the bodies would make is thrown away.
    pub fn check_uncalled(&mut self) {
        let (sets, functions, variables) = (self.sets.clone(), self.functions.len(), self.variables.len());
        let (options, incomplete) = (self.options, self.incomplete);
        // Dimensions of parameters are not known.
        self.options.nondimensional = true;
        let mut next = 0;
        // Bodies may define more functions.
        while next < self.definitions.len() {
            self.check_unreached(DefinitionId(next as u32), !incomplete);
            next += 1;
        }
        self.options = options;
        // Unknown parameters alone do not make the program incomplete; errors in the bodies do.
        self.incomplete = incomplete || self.has_errors();
        self.sets = sets;
        self.functions.truncate(functions);
        self.variables.truncate(variables);
    }

    fn check_unreached(&mut self, id: DefinitionId, warn: bool) {
        let definition = &self.definitions[id.0 as usize];
        let (name, declared) = (definition.name, definition.declared.clone());
        // Other programs may call the functions of an imported text that this one does not.
        let warn = warn && !self.called.contains(&name.span) && self.texts.is_own(name.span);
        let Some(defined) = definition.defined.clone() else {
            if warn {
                self.report(
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
            self.report(
                Diagnostic::new(Code::UncalledFunction, name.span, format!("function `{}` is never called", name.name))
                    .hint("remove it, or call it"),
            );
        }
        if self.walked.contains(&name.span) {
            return;
        }
        let arguments: Vec<Option<Argument>> = (0..defined.params.len())
            .map(|i| {
                let declared = declared.as_ref()?.params.get(i)?.as_ref()?;
                let ty = self.complete(declared)?;
                let dims = vec![TreeDimension::default(); ty.elements().len()];
                Some((ty, dims))
            })
            .collect();
        let depth = std::mem::replace(&mut self.depth, CALL_WEIGHT);
        self.walk_body(id, arguments, None);
        self.depth = depth;
    }
}
