//! Functions that no call reaches are checked as far as possible: with unknown parameters, or with declared ones where the declaration says enough.

use crate::check::checker::{CALL_WEIGHT, Checker};
use crate::check::function::Argument;
use crate::check::scope::DefinitionId;
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::TreeType;
use crate::types::Dimension;

impl Checker<'_> {
    /// Warns of uncalled functions and checks their bodies. What they would make is thrown away.
    pub fn check_uncalled(&mut self) {
        let (sets, functions, variables) = (self.sets.clone(), self.functions.len(), self.variables.len());
        let (options, incomplete) = (self.options, self.incomplete);
        // Dimensions of parameters are not known.
        self.options.nondimensional = true;
        let mut next = 0;
        while next < self.definitions.len() {
            let id = DefinitionId(next as u32);
            next += 1;
            self.check_unreached(id);
        }
        self.options = options;
        // Unknown parameters are no errors; errors set the mark again when the diagnostics are looked through.
        self.incomplete = incomplete;
        self.sets = sets;
        self.functions.truncate(functions);
        self.variables.truncate(variables);
    }

    fn check_unreached(&mut self, id: DefinitionId) {
        let definition = &self.definitions[id.0 as usize];
        let (name, called, checked) = (definition.name, definition.called, definition.checked);
        let declared = definition.declared.clone();
        let Some(defined) = definition.defined else {
            if !called {
                self.report(
                    Diagnostic::new(Code::UncalledFunction, name.span, format!("function `{}` is declared but neither defined nor called", name.name))
                        .hint("remove the declaration, or define the function"),
                );
            }
            return;
        };
        // A nested function has one definition per instance around it; any of them counts.
        let called = called || self.definitions.iter().any(|d| d.called && d.name.span == name.span);
        let checked = checked || self.definitions.iter().any(|d| d.checked && d.name.span == name.span);
        if !called {
            self.report(
                Diagnostic::new(Code::UncalledFunction, name.span, format!("function `{}` is never called", name.name)).hint("remove it, or call it"),
            );
        }
        if checked {
            return;
        }
        let arguments: Vec<Option<Argument>> = (0..defined.params.len())
            .map(|i| {
                let declared = declared.as_ref()?.params.get(i)?.as_ref()?;
                let ty = self.complete(declared)?;
                let elements = match ty {
                    TreeType::Array { size, .. } => size as usize,
                    TreeType::Value(_) | TreeType::Void => 1,
                };
                // A huge array in a declaration alone is not worth its memory.
                (elements <= 1000).then(|| (ty, vec![Dimension::NONE; elements]))
            })
            .collect();
        let depth = std::mem::replace(&mut self.depth, CALL_WEIGHT);
        self.walk_body(id, arguments, None);
        self.depth = depth;
    }
}
