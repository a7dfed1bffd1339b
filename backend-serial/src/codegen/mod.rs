//! Kernels to Rust.
//!
//! Every kernel becomes a *general* function that runs on any grid, and, if it has a Cartesian
//! form, functions for Cartesian grids: values per axis, or a loop over rows of cells whose inside
//! runs without a test. The trait method picks.
//!
//! Reading order: [`emit`] (text, expressions, statements), [`signature`], [`unstructured`] (any
//! grid), [`flux`] (values of faces and cells), [`cartesian`] (rows of cells), [`jacobian`]
//! (equations with derivatives), [`kernel`] (the trait method).

mod cartesian;
mod costs;
mod emit;
mod flux;
mod jacobian;
mod kernel;
mod signature;
mod unstructured;

use std::collections::BTreeSet;

use equelle_front::backend::forms::ChosenForm;
use equelle_front::backend::usage::ModuleUsage;
use equelle_front::backend::{Backend, BackendError, DeviceKind, KernelNames, Namer, Scratch, restore_comments};
use equelle_front::cost::CostModel;
use equelle_front::ir::{Module, Precision};
use equelle_front::source::Span;
use equelle_front::verify::Verified;
use proc_macro2::TokenStream;
use quote::quote;

use emit::text;
use emit::uses::{Use, Uses};
use emit::writer::{Source, reserve};
use kernel::Method;
use unstructured::face_flux_buffer;

/// The back-end of plain loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Backend for Serial {
    fn name(&self) -> &'static str {
        "serial"
    }

    fn costs(&self) -> CostModel {
        costs::COSTS
    }

    fn description(&self) -> &'static str {
        "Plain loops on the processor"
    }

    fn listing(&self) -> (&'static str, &'static str) {
        ("rust", ".rs")
    }

    fn device_kind(&self) -> DeviceKind {
        DeviceKind::Cores
    }

    fn files(&self, module: &Verified) -> Result<Vec<(String, String)>, BackendError> {
        Ok(vec![("src/kernels_serial.rs".to_owned(), kernels_file(module)?)])
    }

    fn forms(&self, module: &Verified) -> Result<Vec<ChosenForm>, BackendError> {
        let module = module.module();
        Ok(methods(module, &KernelNames::for_module(module))?.iter().map(|method| method.form).collect())
    }

    fn scratch(&self, module: &Module) -> Vec<Scratch> {
        face_flux_buffer::scratch(module)
    }
}

/// The kernels of a module, in order.
fn methods(module: &Module, names: &[KernelNames]) -> Result<Vec<Method>, BackendError> {
    // Free functions, one or more per kernel.
    let mut functions = Namer::rust();
    reserve(&mut functions);
    functions.reserve(names.iter().map(|n| n.method.clone()));
    let usage = ModuleUsage::of(module);
    let kernels = module.kernels.iter().zip(names).zip(&usage.kernels);
    kernels.map(|((kernel, names), usage)| kernel::write(Source { module, kernel, names, tables: &[] }, usage, &mut functions)).collect()
}

/// The text of `kernels_serial.rs`.
///
/// # Errors
/// If a kernel uses what no runtime value can hold, or geometry that grids do not have.
pub fn kernels_file(module: &Verified) -> Result<String, BackendError> {
    let module = module.module();
    let names = KernelNames::for_module(module);
    let mut impl_items = TokenStream::new();
    let mut items = TokenStream::new();
    let mut uses = Uses::default();
    let mut own = BTreeSet::from(["Kernels"]);
    for ((kernel, names), written) in module.kernels.iter().zip(&names).zip(methods(module, &names)?) {
        uses.append(&written.uses);
        own.extend((!kernel.params.is_empty()).then_some(names.arguments.as_str()));
        own.extend(written.uses.has(Use::Info).then_some(names.info.as_str()));
        if !impl_items.is_empty() {
            impl_items.extend(text::blank());
        }
        impl_items.extend(written.method);
        items.extend(written.functions);
    }
    // The signature of every method names them.
    uses.add_all(["SerialRuntime", "Error"].map(Use::Item));
    let imports = imports(module.numbers.precision, &own, &uses);
    let blank = text::blank();
    let header = format!(" Kernels of {}.equelle as loops.", module.name);
    let file = quote! {
        #![doc = #header]
        #![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

        #blank
        #imports
        #blank

        impl Kernels for SerialRuntime { #impl_items }

        #items
    };
    let file = syn::parse2(file).map_err(|error| BackendError::internal(Span::default(), format!("the kernels are not Rust: {error}")))?;
    Ok(restore_comments(&prettyplease::unparse(&file)))
}

/// Items that files of kernels import from `backend_serial::runtime::kernel`.
const KERNEL_ITEMS: [&str; 17] = [
    "CartesianGrid",
    "SubsetRanks",
    "component",
    "components",
    "dot",
    "lane",
    "length",
    "mul_add",
    "padded",
    "vector",
    "vector_add",
    "vector_at",
    "vector_div",
    "vector_mul",
    "vector_neg",
    "vector_of",
    "vector_sub",
];

/// `use` lines for what the text refers to. `own` are the names of arguments and descriptions of
/// kernels.
fn imports(precision: Precision, own: &BTreeSet<&str>, uses: &Uses) -> TokenStream {
    let used = |name: &str| uses.items().any(|item| item == name);
    let pick =
        |candidates: &[&str]| -> Vec<proc_macro2::Ident> { candidates.iter().copied().filter(|c| used(c)).map(text::ident).collect() };
    let of_numbers = pick(&["ScalarCollection", "SerialRuntime", "VectorCollection"]);
    let of_others = pick(&["BoolCollection", "EntityCollection"]);
    let (runtime, single) = match precision {
        Precision::Double => {
            let mut runtime = [of_others, of_numbers].concat();
            runtime.sort();
            (runtime, Vec::new())
        }
        Precision::Single => (of_others, of_numbers),
    };
    let import = |path: TokenStream, items: &[&str]| {
        let items = pick(items);
        (!items.is_empty()).then(|| quote! { use #path::{#(#items),*}; })
    };
    let runtime = (!runtime.is_empty()).then(|| quote! { use backend_serial::runtime::{#(#runtime),*}; });
    let entities = import(quote! { backend_serial::runtime::entities }, &["Arrays", "Entities", "Places", "Positions"]);
    let kernel = import(quote! { backend_serial::runtime::kernel }, &KERNEL_ITEMS);
    let stencil = import(quote! { backend_serial::runtime::stencil }, &["Pattern", "Reach", "RowEntries"]);
    let lanes = import(quote! { backend_serial::runtime::lanes }, &["Lane", "lanes_of"]);
    let rows = import(quote! { backend_serial::runtime::stencil_rows }, &["Cuts", "Inside", "Reads", "STRIP", "TileCache", "cell_rows"]);
    let around = import(
        quote! { backend_serial::runtime::row_offsets },
        &["LaneRow", "RowOffset", "RowOffsets", "after_in_row", "is_beyond", "lane_rows"],
    );
    let sweep = import(quote! { backend_serial::runtime::sweep }, &["FaceRun", "Side", "Sweep", "cells_in"]);
    let shared = import(quote! { equelle_runtime }, &["CanonicalSet", "EntityKind", "Error", "Extent", "Reduction", "math"]);
    let none = used("NONE").then(|| quote! { use equelle_runtime::grid::NONE; });
    let side_map = used("SideMap").then(|| quote! { use equelle_runtime::grid::SideMap; });
    let entries = used("Entries").then(|| quote! { use equelle_runtime::threads::Entries; });
    let own = own.iter().map(|name| text::ident(name));
    let blank = text::blank();
    let single_blank = (!single.is_empty()).then(text::blank);
    quote! {
        #entities
        #kernel
        #lanes
        #around
        #stencil
        #rows
        #sweep
        #runtime
        #none
        #side_map
        #entries
        #shared
        #blank
        use crate::kernels::{#(#own),*};
        #single_blank
        #(type #single = backend_serial::runtime::#single<f32>;)*
    }
}

#[cfg(test)]
mod tests {
    use equelle_front::ir::text::parse;
    use equelle_front::verify::verify;

    use super::*;

    const MODULE: &str = "module m
kernel doubled over AllCells() {
  param v: Vector On AllCells()
  result w: Vector On AllCells()
  body {
    yield (v[here] + v[here])
  }
}
main {
}
";

    const ROWS: &str = "module m
kernel by_index over AllCells() {
  param u: Scalar On AllCells()
  param t: Table
  result w: Scalar On AllCells()
  body {
    x: Vector = centroid(here)
    yield ((interpolate(t, u[here]) * u[offset(here, 1, 0, 0, never, wrap, never, never, never, never)]) + (component(x, 0) * measure(here)))
  }
}
main {
}
";

    /// The function of a part of a row takes the table, and no general function is left.
    #[test]
    fn tables_and_centroids_stay_in_rows_by_index() {
        let module = verify(parse(ROWS).expect("a module")).expect("a valid module");
        let text = kernels_file(&module).expect("kernels");
        assert!(text.contains("t: &[f64]") && text.contains("math::interpolate(t, u[i])"), "{text}");
        assert!(text.contains("grid.cell_centroid::<DIM>([first + i, at_row[0], at_row[1]])"), "{text}");
        assert!(!text.contains("_general"), "{text}");
    }

    /// `component` is the name of a loop variable here, and of a function that other kernels call.
    #[test]
    fn what_is_called_is_imported_and_nothing_else() {
        let module = verify(parse(MODULE).expect("a module")).expect("a valid module");
        let text = kernels_file(&module).expect("kernels");
        assert!(text.contains("for (component, value) in"), "{text}");
        assert!(text.contains("use backend_serial::runtime::kernel::{components, vector_add, vector_at};"), "{text}");
        assert!(text.contains("use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};"), "{text}");
    }
}
