//! Names of inputs whose keys in parameter files something else has too.

use std::collections::BTreeMap;

use equelle_front::diagnostic::{Code, Diagnostic};
use equelle_front::ir::interface::Data;
use equelle_runtime::keys::{self, Part};
use equelle_runtime::{InputKind, TableColumns};

use crate::package::input_kind;

/// A diagnostic for each input with a key of another input or of the runtime.
///
/// A Scalar and a collection of Scalars may share a name, and either may share a number of the
/// runtime, such as `dx`: all read the same number. An input may be read on several domains.
pub fn collisions(inputs: &[Data]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut owners: BTreeMap<String, &Data> = BTreeMap::new();
    for input in inputs {
        let kind = input_kind(input, TableColumns::default());
        let keys: Vec<String> = kind.suffixes().map(|suffix| format!("{}{suffix}", input.name)).collect();
        let other = keys.iter().find_map(|key| owners.get(key).filter(|other| !may_share(input, other, key)).map(|other| (key, other)));
        if let Some((key, other)) = other {
            let message = format!("`{key}` is a key of this input and of the input `{}`", other.name);
            found.push(
                Diagnostic::new(Code::ParameterKey, input.span, message)
                    .label("this one".to_owned())
                    .also(other.span, "that one".to_owned())
                    .hint("give one of them another name; an input has the keys of its name, and of its name with an ending such as `_filename`"),
            );
        } else if let Some(key) = keys.iter().find(|key| is_of_runtime(input, &kind, key)) {
            let message = format!("`{key}` is a key of this input and of every simulator");
            let hint = format!("give the input another name than `{}`", input.name);
            found.push(Diagnostic::new(Code::ParameterKey, input.span, message).hint(hint));
        }
        for key in keys {
            owners.entry(key).or_insert(input);
        }
    }
    found
}

/// True if two inputs read the same of a key.
fn may_share(a: &Data, b: &Data, key: &str) -> bool {
    let (kind, other) = (input_kind(a, TableColumns::default()), input_kind(b, TableColumns::default()));
    let number = |kind: &InputKind| matches!(kind, InputKind::Scalar | InputKind::Collection);
    a.name == b.name && (kind == other || (key == a.name && number(&kind) && number(&other)))
}

/// True if the runtime reads something else of a key of an input.
fn is_of_runtime(input: &Data, kind: &InputKind, key: &str) -> bool {
    keys::single().any(|own| {
        let number = own.form.is_number() && key == input.name && matches!(kind, InputKind::Scalar | InputKind::Collection);
        // A file of this name is that of the program's collection, where it has one.
        let widths = own.part == Part::Grid
            && key != input.name
            && kind.is_collection()
            && keys::single().any(|width| width.name == input.name && width.form.is_number());
        own.name == key && own.part != Part::Old && !number && !widths
    })
}
