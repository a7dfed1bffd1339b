//! Parameters of functions that are declared and defined: a definition may leave out some of those
//! that the declaration names and that it reads.

use std::collections::HashSet;
use std::rc::Rc;

use crate::check::checker::Checker;
use crate::check::scope::DefinitionId;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Ident;

/// The parameters of a definition, with those that only the declaration names where it has them;
/// `None` if the two contradict each other. Names may differ where the numbers are the same.
pub(super) fn with_missing<'a>(listed: &'a [Ident], declared: &[&'a Ident]) -> Option<Rc<[&'a Ident]>> {
    if listed.len() == declared.len() {
        return Some(listed.iter().collect());
    }
    let is_twice = |i: usize| declared[..i].iter().any(|name| name.name == declared[i].name);
    if (0..declared.len()).any(is_twice) {
        return None;
    }
    let mut rest = listed.iter().peekable();
    let merged = declared.iter().map(|name| rest.next_if(|next| next.name == name.name).unwrap_or(name)).collect();
    rest.next().is_none().then_some(merged)
}

impl Checker<'_> {
    /// Reports a definition whose parameters are not those of its declaration.
    pub fn report_parameter_count(&mut self, id: DefinitionId) {
        let definition = &self.definitions[id.0 as usize];
        let (Some(declared), Some(defined), name) = (&definition.declared, &definition.defined, definition.name) else { return };
        let (declared_with, defined_with) = (parameters(declared.names.len()), parameters(defined.listed));
        let message = format!("`{}` is declared with {declared_with}, but defined with {defined_with}", name.name);
        let diagnostic = Diagnostic::new(Code::ParameterCount, name.span, message).also(declared.span, "declared here");
        self.report(diagnostic.hint("make the definition list the declared parameters"));
    }

    /// Reports definitions that leave out parameters: warns if the body reads all of them; else
    /// nothing tells whether the declaration or the definition is meant.
    pub fn check_missing_parameters(&mut self) {
        let used: HashSet<Span> = self.scopes.entries().filter(|e| e.used).map(|e| e.span).collect();
        // Beside errors, a name may seem unused only because its use was not understood.
        let is_valid = !self.has_errors();
        let (mut warnings, mut contradictions) = (Vec::new(), Vec::new());
        for (number, definition) in self.definitions.iter().enumerate() {
            let (Some(declared), Some(defined), name) = (&definition.declared, &definition.defined, definition.name) else { continue };
            if defined.listed >= defined.params.len() || self.has_reported(Code::ParameterCount, name.span) {
                continue;
            }
            let is_missing = |param: &&&Ident| declared.names.iter().any(|name| name.span == param.span);
            if is_valid && defined.params.iter().filter(is_missing).any(|param| !used.contains(&param.span)) {
                contradictions.push(DefinitionId(number as u32));
                continue;
            }
            let missing: Vec<String> = defined.params.iter().filter(is_missing).map(|param| format!("`{}`", param.name)).collect();
            let names: Vec<&str> = defined.params.iter().map(|param| param.name.as_str()).collect();
            let message = format!("the definition of `{}` leaves out {} of its declaration", name.name, missing.join(", "));
            let warning = Diagnostic::new(Code::MissingParameter, name.span, message).also(declared.span, "declared here");
            warnings.push(warning.hint(format!("write `{}({})`", name.name, names.join(", "))));
        }
        contradictions.into_iter().for_each(|id| self.report_parameter_count(id));
        warnings.into_iter().for_each(|warning| self.report(warning));
    }
}

/// `1 parameter`, `2 parameters`
fn parameters(n: usize) -> String {
    if n == 1 { "1 parameter".to_owned() } else { format!("{n} parameters") }
}
