//! `manifest.json`: what a program reads and writes, for people and programs that embed it.

use equelle_front::ir::Module;
use serde_json::{Map, Value, json};

use super::facts::{Facts, Item};

/// The file. Keys come sorted, lists in program order.
pub(super) fn text(module: &Module, facts: &Facts) -> String {
    let manifest = json!({
        "program": module.name,
        "precision": "f64",
        "grid_dimension": { "minimum": facts.min_dim },
        "inputs": facts.inputs.iter().map(entry).collect::<Vec<_>>(),
        "outputs": facts.outputs.iter().map(entry).collect::<Vec<_>>(),
    });
    format!("{manifest:#}\n")
}

fn entry(item: &Item) -> Value {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), json!(item.name));
    entry.insert("kind".to_owned(), json!(item.kind.name()));
    if !item.domain.is_empty() {
        entry.insert("domain".to_owned(), json!(item.domain));
    }
    if !item.unit.is_empty() {
        entry.insert("dimension".to_owned(), json!(item.unit));
    }
    if let Some(default) = item.default {
        entry.insert("default".to_owned(), json!(default));
    }
    Value::Object(entry)
}
