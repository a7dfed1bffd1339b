//! What kernels store.

use equelle_front::ir::{KBlock, KExpr};
use equelle_front::types::Basic;

use super::writer::Writer;

pub(in crate::codegen) fn store(w: &mut Writer<'_>, block: &KBlock, index: &str, size: &str) {
    if block.yields.len() > 1 && w.kernel.results.iter().any(|result| result.in_place.is_some()) {
        return store_together(w, block, index);
    }
    for (number, value) in block.yields.iter().enumerate() {
        store_one(w, number, value, index, size);
    }
}

/// Stores numbers when all of them have been computed: any may be of what a result is written to.
fn store_together(w: &mut Writer<'_>, block: &KBlock, index: &str) {
    let values = block.yields.iter().map(|value| {
        let (ty, name, value) = (w.reals.number(), w.names.fresh("value"), w.expr(value));
        w.line(&format!("const {ty} {name} = {};", value.bare()));
        name
    });
    let values: Vec<String> = values.collect();
    for (result, value) in w.results.clone().iter().zip(values) {
        w.line(&format!("{result}[{index}] = {value};"));
    }
}

pub(in crate::codegen) fn store_one(w: &mut Writer<'_>, number: usize, value: &KExpr, index: &str, size: &str) {
    let name = w.results[number].clone();
    let value = w.expr(value);
    let value = value.bare();
    let text = match w.kernel.results[number].ty.basic {
        Basic::Vector => format!("eq_store({name}, {size}, {index}, {value});"),
        Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
            format!("{name}[{index}] = {value};")
        }
    };
    w.line(&text);
}
