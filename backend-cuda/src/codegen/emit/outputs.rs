//! What kernels store.

use equelle_front::ir::{KBlock, KExpr};
use equelle_front::types::Basic;

use super::writer::Writer;

pub(in crate::codegen) fn store(w: &mut Writer<'_>, block: &KBlock, index: &str, size: &str) {
    for (number, value) in block.yields.iter().enumerate() {
        store_one(w, number, value, index, size);
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
