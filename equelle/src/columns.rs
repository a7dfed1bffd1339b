//! Tags of outputs that give one name to two columns or arrays of a run.

use std::collections::BTreeMap;

use equelle_front::diagnostic::{Code, Diagnostic};
use equelle_front::ir::interface::{Data, DataKind, Interface};
use equelle_front::types::Basic;
use equelle_runtime::output::{RESERVED, component};

/// A diagnostic for each output whose column in `PROGRAM.csv` or whose files have the name of those
/// of another output, on a grid that the program can run on.
///
/// Outputs with one tag share a column and a numbering: `u` before a loop and in it. The elements
/// of an array have tags that nobody has written, so they share with each other only.
pub fn collisions(interface: &Interface) -> Vec<Diagnostic> {
    let mut found = BTreeMap::new();
    let mut tags: BTreeMap<&str, &Data> = BTreeMap::new();
    for (at, output) in interface.outputs.iter().enumerate() {
        let other = *tags.entry(&output.name).or_insert(output);
        if other.is_element != output.is_element {
            let message = format!("the tag `{}` is that of this output and of an element of an array", output.name);
            found.insert(at, two(output, other, message, "the elements of an array `a` have the tags `a_0`, `a_1` and so on"));
        }
    }
    for dim in dimensions(interface) {
        let mut owners: BTreeMap<String, &Data> = BTreeMap::new();
        for (at, output) in interface.outputs.iter().enumerate() {
            for name in columns(output, dim) {
                if RESERVED.contains(&name.as_str()) {
                    found.entry(at).or_insert_with(|| reserved(output, &name));
                }
                match owners.get(&name) {
                    Some(other) if other.name != output.name => {
                        found.entry(at).or_insert_with(|| one_column(output, other, &name));
                    }
                    Some(_) => {}
                    None => {
                        owners.insert(name, output);
                    }
                }
            }
        }
    }
    found.into_values().collect()
}

fn reserved(output: &Data, name: &str) -> Diagnostic {
    let message = format!("`{name}` is the name of a column or an array that every run writes");
    let hint = format!("give the output another tag than `{}`", output.name);
    Diagnostic::new(Code::OutputName, output.span, message).hint(hint)
}

fn one_column(output: &Data, other: &Data, name: &str) -> Diagnostic {
    let message = format!("the outputs `{}` and `{}` would both be the column `{name}` of a run", other.name, output.name);
    two(output, other, message, "the components of a Vector `v` are the columns `v_x`, `v_y` and `v_z`")
}

fn two(output: &Data, other: &Data, message: String, rule: &str) -> Diagnostic {
    Diagnostic::new(Code::OutputName, output.span, message)
        .label("this one".to_owned())
        .also(other.span, "that one".to_owned())
        .hint(format!("give one of them another tag: {rule}"))
}

/// The dimensions of the grids that the program runs on.
fn dimensions(interface: &Interface) -> impl Iterator<Item = usize> + use<> {
    let (least, exact) = (interface.min_dim as usize, interface.exact_dim.map(|dim| dim as usize));
    (1..=3).filter(move |&dim| dim >= least && exact.is_none_or(|exact| exact == dim))
}

/// The columns of a single value, which collections have at probes alone.
fn columns(output: &Data, dim: usize) -> Vec<String> {
    match (output.kind, output.ty.basic) {
        (DataKind::Scalar, Basic::Vector) => (0..dim).map(|axis| component(&output.name, axis, dim > 1)).collect(),
        (DataKind::Scalar, Basic::Scalar | Basic::Bool) => vec![output.name.clone()],
        (DataKind::Scalar, Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_))
        | (DataKind::Collection | DataKind::Domain | DataKind::Sequence | DataKind::Table, _) => Vec::new(),
    }
}
