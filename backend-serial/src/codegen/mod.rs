//! Kernels to Rust.
//!
//! Every kernel becomes a *general* function that runs on any grid, and, if it has a Cartesian form, functions for Cartesian grids: values per axis, or a loop over
//! rows of cells whose inside runs without a test. The trait method picks.
//!
//! Reading order: [`emit`] (text, expressions, statements), [`signature`], [`unstructured`] (any grid),
//! [`flux`] (values of faces and cells), [`cartesian`] (rows of cells), [`jacobian`] (equations with
//! derivatives), [`kernel`] (the trait method).

mod cartesian;
mod emit;
mod flux;
mod jacobian;
mod kernel;
mod signature;
mod unstructured;

use equelle_front::backend::{Backend, BackendError, KernelNames, Namer, Scratch, restore_comments};
use equelle_front::ir::{Module, Precision};
use equelle_front::source::Span;
use equelle_front::verify::Verified;
use proc_macro2::TokenStream;
use quote::quote;

use emit::text;
use emit::writer::{RESERVED, Source};
use unstructured::face_flux_buffer;

/// The back-end of plain loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Backend for Serial {
    fn name(&self) -> &'static str {
        "serial"
    }

    fn files(&self, module: &Verified) -> Result<Vec<(String, String)>, BackendError> {
        Ok(vec![("src/kernels_serial.rs".to_owned(), kernels_file(module)?)])
    }

    fn scratch(&self, module: &Module) -> Vec<Scratch> {
        face_flux_buffer::scratch(module)
    }
}

/// The text of `kernels_serial.rs`.
///
/// # Errors
/// If a kernel uses what no runtime value can hold, or geometry that grids do not have.
pub fn kernels_file(module: &Verified) -> Result<String, BackendError> {
    let module = module.module();
    let names = KernelNames::of_module(module);
    // Free functions, one or more per kernel.
    let mut functions = Namer::rust();
    functions.reserve(RESERVED);
    functions.reserve(names.iter().map(|n| n.method.clone()));
    let mut methods = TokenStream::new();
    let mut items = TokenStream::new();
    for (kernel, names) in module.kernels.iter().zip(&names) {
        let written = kernel::write(Source { module, kernel, names }, &mut functions)?;
        if !methods.is_empty() {
            methods.extend(text::blank());
        }
        methods.extend(written.method);
        items.extend(written.functions);
    }
    let imports = imports(module.numbers.precision, &names, &methods, &items);
    let blank = text::blank();
    let header = format!(" Kernels of {}.equelle as loops.", module.name);
    let file = quote! {
        #![doc = #header]
        #![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

        #blank
        #imports
        #blank

        impl Kernels for SerialRuntime { #methods }

        #items
    };
    let file = syn::parse2(file).map_err(|error| BackendError::internal(Span::default(), format!("the kernels are not Rust: {error}")))?;
    Ok(restore_comments(&prettyplease::unparse(&file)))
}

/// `use` lines for what the text mentions.
fn imports(precision: Precision, names: &[KernelNames], methods: &TokenStream, items: &TokenStream) -> TokenStream {
    let mentioned = |name: &str| text::mentions(methods, name) || text::mentions(items, name);
    let pick =
        |candidates: &[&str]| -> Vec<proc_macro2::Ident> { candidates.iter().copied().filter(|c| mentioned(c)).map(text::ident).collect() };
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
    let runtime = (!runtime.is_empty()).then(|| quote! { use backend_serial::runtime::{#(#runtime),*}; });
    // Ranks come from a method of `Entities`, which Cartesian forms name nowhere else.
    let ranks = mentioned("ranks") || mentioned("canonical_ranks");
    let mut entities = pick(&["Arrays", "Places"]);
    entities.extend((ranks || mentioned("Entities")).then(|| text::ident("Entities")));
    entities.extend(ranks.then(|| text::ident("Positions")));
    entities.sort();
    let kernel = pick(&[
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
    ]);
    let shared = pick(&["CanonicalSet", "EntityKind", "Error", "ErrorKind", "Extent", "Reduction", "math"]);
    let mut own: Vec<String> = vec!["Kernels".to_owned()];
    for name in names.iter().flat_map(|n| [&n.arguments, &n.info]) {
        if mentioned(name) {
            own.push(name.clone());
        }
    }
    own.sort();
    let own = own.iter().map(|n| text::ident(n));
    let stencil = pick(&["Pattern", "Reach", "RowEntries"]);
    let stencil = (!stencil.is_empty()).then(|| quote! { use backend_serial::runtime::stencil::{#(#stencil),*}; });
    let sweep = pick(&["Side", "Sweep", "cells_in"]);
    let sweep = (!sweep.is_empty()).then(|| quote! { use backend_serial::runtime::sweep::{#(#sweep),*}; });
    let entries = mentioned("Entries").then(|| quote! { use equelle_runtime::threads::Entries; });
    let kernel = (!kernel.is_empty()).then(|| quote! { use backend_serial::runtime::kernel::{#(#kernel),*}; });
    let blank = text::blank();
    let single_blank = (!single.is_empty()).then(text::blank);
    let none = mentioned("NONE").then(|| quote! { use equelle_runtime::grid::NONE; });
    let entities = (!entities.is_empty()).then(|| quote! { use backend_serial::runtime::entities::{#(#entities),*}; });
    quote! {
        #entities
        #kernel
        #stencil
        #sweep
        #runtime
        #none
        #entries
        use equelle_runtime::{#(#shared),*};
        #blank
        use crate::kernels::{#(#own),*};
        #single_blank
        #(type #single = backend_serial::runtime::#single<f32>;)*
    }
}
