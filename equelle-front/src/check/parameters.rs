//! Numbers of parameters: of calls, and of functions that are declared and defined, where the
//! definition may leave out some of those that the declaration names and that it reads.

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

/// Reports a definition whose parameters are not those of its declaration.
pub(super) fn report_count(checker: &mut Checker<'_>, id: DefinitionId) {
    let definition = checker.definitions.get(id);
    let (Some(declared), Some(defined), name) = (&definition.declared, &definition.defined, definition.name) else { return };
    let (declared_with, defined_with) = (parameters(declared.names.len()), parameters(defined.listed));
    let message = format!("`{}` is declared with {declared_with}, but defined with {defined_with}", name.name);
    let diagnostic = Diagnostic::new(Code::ParameterCount, name.span, message).also(declared.span, "declared here");
    checker.report(diagnostic.hint("make the definition list the declared parameters"));
}

/// Reports definitions that leave out parameters: warns if the body reads all of them; else
/// nothing tells whether the declaration or the definition is meant.
pub(super) fn check_missing(checker: &mut Checker<'_>) {
    let used: HashSet<Span> = checker.scopes.entries().filter(|e| e.used).map(|e| e.span).collect();
    // Beside errors, a name may seem unused only because its use was not understood.
    let is_valid = !checker.reports.has_errors();
    let (mut warnings, mut contradictions) = (Vec::new(), Vec::new());
    for (number, definition) in checker.definitions.all.iter().enumerate() {
        let (Some(declared), Some(defined), name) = (&definition.declared, &definition.defined, definition.name) else { continue };
        if defined.listed >= defined.params.len() || checker.reports.has_reported(Code::ParameterCount, name.span) {
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
    contradictions.into_iter().for_each(|id| report_count(checker, id));
    warnings.into_iter().for_each(|warning| checker.report(warning));
}

/// The report of a call with too many or too few arguments.
pub(super) fn argument_count(name: &str, params: &[&str], args: &[Span], call: Span) -> Diagnostic {
    let expected = match params.len() {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    };
    let place = args.get(params.len()).map_or(call, |first| args.last().map_or(*first, |last| first.to(*last)));
    let diagnostic = Diagnostic::new(Code::ArgumentCount, place, format!("`{name}` takes {expected}, not {}", args.len()))
        .hint(format!("write `{name}({})`", params.join(", ")));
    if args.len() > params.len() { diagnostic.label("too many") } else { diagnostic.label("too few arguments") }
}

/// `1 parameter`, `2 parameters`
fn parameters(n: usize) -> String {
    if n == 1 { "1 parameter".to_owned() } else { format!("{n} parameters") }
}
