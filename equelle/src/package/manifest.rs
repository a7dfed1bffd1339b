//! `manifest.json`: what a program reads and writes, for people and programs that embed it.

use equelle_front::check::type_name;
use equelle_front::ir::Module;
use equelle_front::ir::interface::{Column, Data, DataKind, ExpectedUnit};
use equelle_front::typed::TreeType;
use equelle_front::types::Dimension;
use serde_json::{Map, Value, json};

/// Version of the format. It grows when a key is removed or changes its meaning, not when one is
/// added.
const VERSION: u32 = 1;

/// The file. Keys come sorted, lists in program order.
pub(super) fn text(module: &Module) -> String {
    let interface = &module.interface;
    let inputs: Vec<Value> = interface.inputs.iter().map(|item| input(module, item)).collect();
    let outputs: Vec<Value> = interface.outputs.iter().map(|item| output(module, item)).collect();
    let mut grid_dimension = json!({ "minimum": interface.min_dim });
    if let Some(exact) = interface.exact_dim {
        grid_dimension["exact"] = json!(exact);
    }
    let manifest = json!({
        "version": VERSION,
        "program": module.name,
        "precision": module.numbers.precision.name(),
        "floating_point": module.numbers.rounding.name(),
        "grid_dimension": grid_dimension,
        "implicit": interface.implicit,
        "inputs": inputs,
        "outputs": outputs,
    });
    format!("{manifest:#}\n")
}

fn input(module: &Module, item: &Data) -> Value {
    let mut entry = entry(module, item);
    if let Some(default) = item.default {
        entry.insert("default".to_owned(), json!(default));
    }
    if !item.columns.is_empty() {
        let column = |column: &Column| {
            let mut entry = Map::new();
            entry.insert("name".to_owned(), json!(column.name));
            if let Some(unit) = column.unit {
                entry.insert("expected_unit".to_owned(), unit_of_data(module, &unit));
            }
            Value::Object(entry)
        };
        entry.insert("columns".to_owned(), item.columns.iter().map(column).collect());
    }
    if let Some(expected) = item.unit {
        entry.insert("expected_unit".to_owned(), unit_of_data(module, &expected));
    }
    Value::Object(entry)
}

fn unit_of_data(module: &Module, expected: &ExpectedUnit) -> Value {
    let mut unit = dimension(expected.dimension);
    unit.insert("factor".to_owned(), json!(expected.factor));
    if let Some(written) = written(module, expected) {
        unit.insert("written".to_owned(), json!(written));
    }
    Value::Object(unit)
}

fn output(module: &Module, item: &Data) -> Value {
    let mut entry = entry(module, item);
    entry.insert("per_step".to_owned(), json!(item.per_step));
    if let Some(unit) = item.unit {
        entry.insert("unit".to_owned(), unit_of_data(module, &unit));
    }
    Value::Object(entry)
}

fn entry(module: &Module, item: &Data) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), json!(item.name));
    entry.insert("kind".to_owned(), json!(kind(item.kind)));
    entry.insert("type".to_owned(), json!(type_name(&module.sets, &TreeType::Value(item.ty))));
    if !item.domain.is_empty() {
        entry.insert("domain".to_owned(), json!(item.domain));
    }
    if item.dim != Dimension::NONE {
        entry.insert("dimension".to_owned(), Value::Object(dimension(item.dim)));
    }
    if item.line > 0 {
        entry.insert("line".to_owned(), json!(item.line));
    }
    entry
}

/// The SI unit as text, and its exponents other than zero.
fn dimension(dimension: Dimension) -> Map<String, Value> {
    let exponents: Map<String, Value> =
        Dimension::BASE_UNITS.iter().zip(dimension.0).filter(|(_, e)| *e != 0).map(|(name, e)| ((*name).to_owned(), json!(e))).collect();
    let mut entry = Map::new();
    entry.insert("si".to_owned(), json!(unit(dimension)));
    entry.insert("exponents".to_owned(), Value::Object(exponents));
    entry
}

fn kind(kind: DataKind) -> &'static str {
    match kind {
        DataKind::Scalar => "scalar",
        DataKind::Collection => "collection",
        DataKind::Domain => "domain",
        DataKind::Sequence => "sequence",
        DataKind::Table => "table",
    }
}

/// The quantity that an input is multiplied by or an output divided by, as the program has it.
fn written<'m>(module: &'m Module, unit: &ExpectedUnit) -> Option<&'m str> {
    Some(module.source.text_of(unit.literal?)?.trim_matches(['(', ')', ' ']))
}

/// The unit of an input for people: `Kelvin`, `2 [Hour]`, `0.5 [Meter * Second^-1]`.
pub(super) fn unit_text(module: &Module, expected: &ExpectedUnit) -> String {
    let quantity = match written(module, expected) {
        Some(written) => written.to_owned(),
        None => format!("{} {}", expected.factor, expected.dimension),
    };
    let single = quantity.strip_prefix("1 [").and_then(|rest| rest.strip_suffix(']'));
    single.map_or_else(|| quantity.clone(), str::to_owned)
}

/// A unit as a product of base units; empty if there is no dimension.
fn unit(dimension: Dimension) -> String {
    dimension.to_string().trim_matches(['[', ']']).to_owned()
}
