//! `src/kernels.rs`: one argument struct and one `KernelInfo` per kernel, and the trait `Kernels`.
//! Names no target.

use equelle_front::backend::{BackendError, Handle, KernelNames};
use equelle_front::ir::{Kernel, Module, ParamId, Space};
use equelle_front::report::KernelBytes;
use equelle_front::source::Span;
use equelle_front::types::{Basic, CanonicalSet, SetTable, Shape, Type};
use proc_macro2::TokenStream;
use quote::quote;

use super::rust::{blank, format, ident};
use super::sets::canonical_set;
use super::source::place;

/// The file; `halo_layers` has [`equelle_runtime::KernelInfo::halo_layers`] of each kernel.
pub(super) fn text(module: &Module, halo_layers: &[u32]) -> Result<String, BackendError> {
    let names = KernelNames::for_module(module);
    let mut items = TokenStream::new();
    let mut methods = TokenStream::new();
    for ((kernel, names), &halo_layers) in module.kernels.iter().zip(&names).zip(halo_layers) {
        items.extend(argument_struct(module, kernel, names)?);
        items.extend(info(module, kernel, names, halo_layers));
        if !methods.is_empty() {
            methods.extend(blank());
        }
        methods.extend(method(module, kernel, names)?);
    }
    let sets = module.kernels.iter().any(|kernel| canonical(module, kernel).is_some());
    let sets = sets.then(|| quote! { CanonicalSet, EntityKind, Extent, });
    let blank = blank();
    let header = format!(" Kernels of {}.equelle. Names no target: every back-end implements [`Kernels`] for its runtime.", module.name);
    format(quote! {
        #![doc = #header]

        #blank
        use equelle_runtime::{#sets EquelleRuntime, Error, KernelBytes, KernelInfo};

        #items

        #blank
        /// One method per kernel.
        pub trait Kernels: EquelleRuntime {
            #methods
        }
    })
}

fn argument_struct(module: &Module, kernel: &Kernel, names: &KernelNames) -> Result<TokenStream, BackendError> {
    if kernel.params.is_empty() {
        return Ok(TokenStream::new());
    }
    let mut fields = TokenStream::new();
    for ((id, param), name) in (0..).map(ParamId).zip(&kernel.params).zip(&names.params) {
        let handle = ident(handle(kernel, &param.ty)?.name());
        let doc = format!(" {}", type_text(&module.sets, &param.ty));
        let name = ident(name);
        fields.extend(match kernel.result_in(id) {
            Some(result) => {
                let doc = format!("{doc}, whose memory `{}` takes", names.results[result]);
                quote! { #[doc = #doc] pub #name: R::#handle, }
            }
            None => quote! { #[doc = #doc] pub #name: &'a R::#handle, },
        });
    }
    let doc = format!(" Arguments of [`Kernels::{}`].", names.method);
    let name = ident(&names.arguments);
    let blank = blank();
    Ok(quote! {
        #blank
        #[doc = #doc]
        pub struct #name<'a, R: EquelleRuntime> { #fields }
    })
}

fn info(module: &Module, kernel: &Kernel, names: &KernelNames, halo_layers: u32) -> TokenStream {
    let doc = format!(" Facts of [`Kernels::{}`].", names.method);
    let constant = ident(&names.info);
    let name = &kernel.name;
    let lines = module.lines_of(kernel).into_iter().map(proc_macro2::Literal::u32_unsuffixed);
    let set = match canonical(module, kernel).map(canonical_set) {
        Some(set) => quote! { Some(#set) },
        None => quote! { None },
    };
    let KernelBytes { general, cartesian } = KernelBytes::of(module, kernel);
    let by_dim = |bytes: [u32; 3]| {
        let bytes = bytes.map(proc_macro2::Literal::u32_unsuffixed);
        quote! { [#(#bytes),*] }
    };
    let (general, cartesian) = (by_dim(general), by_dim(cartesian.unwrap_or(general)));
    let takes_joined_sides = kernel.takes_joined_sides(&module.sets);
    let halo_layers = proc_macro2::Literal::u32_unsuffixed(halo_layers);
    let blank = blank();
    quote! {
        #blank
        #[doc = #doc]
        pub const #constant: KernelInfo = KernelInfo {
            name: #name,
            lines: &[#(#lines),*],
            set: #set,
            bytes: KernelBytes { general: #general, cartesian: #cartesian },
            takes_joined_sides: #takes_joined_sides,
            halo_layers: #halo_layers,
        };
    }
}

/// The canonical set over which a kernel runs.
fn canonical(module: &Module, kernel: &Kernel) -> Option<CanonicalSet> {
    match kernel.space {
        Space::Set(set) => module.sets.get(set).canonical,
        Space::Unit => None,
    }
}

fn method(module: &Module, kernel: &Kernel, names: &KernelNames) -> Result<TokenStream, BackendError> {
    let mut docs: Vec<String> = Vec::new();
    for line in module.lines_of(kernel).into_iter().rev() {
        if !docs.is_empty() {
            docs.push(String::new());
        }
        docs.push(format!(" {}: `{}`", place(module, line), module.source.line_text(line).trim().replace('`', "'")));
    }
    let space = match kernel.space {
        Space::Unit => " Evaluated once.".to_owned(),
        Space::Set(set) => format!(" Evaluated once per element of {}.", module.sets.get(set).name),
    };
    if !docs.is_empty() {
        docs.push(String::new());
    }
    docs.push(space);
    let arguments = (!kernel.params.is_empty()).then(|| {
        let arguments = ident(&names.arguments);
        quote! { , args: #arguments<'_, Self> }
    });
    let results = kernel.results.iter().map(|r| Ok(ident(handle(kernel, &r.ty)?.name()))).collect::<Result<Vec<_>, BackendError>>()?;
    let result = match results.as_slice() {
        [one] => quote! { Self::#one },
        many => quote! { (#(Self::#many),*) },
    };
    let name = ident(&names.method);
    Ok(quote! {
        #(#[doc = #docs])*
        fn #name(&mut self #arguments) -> Result<#result, Error>;
    })
}

fn handle(kernel: &Kernel, ty: &Type) -> Result<Handle, BackendError> {
    Handle::of(ty).ok_or_else(|| {
        let span = kernel.spans.first().copied().unwrap_or(Span::default());
        BackendError::new(span, format!("kernel `{}` takes or gives a {:?}, which no runtime can hold", kernel.name, ty.basic))
    })
}

/// A type as Equelle writes it: `Collection Of Scalar On AllCells()`.
pub(super) fn type_text(sets: &SetTable, ty: &Type) -> String {
    let basic = match ty.basic {
        Basic::Scalar => "Scalar",
        Basic::Vector => "Vector",
        Basic::Bool => "Bool",
        Basic::Entity(kind) => kind.name(),
        Basic::Text | Basic::Axis(_) => "String",
        Basic::Table => "Table",
    };
    match ty.shape {
        Shape::Single => basic.to_owned(),
        Shape::Collection(set) => format!("Collection Of {basic} On {}", sets.get(set).name),
        Shape::Domain(set) => format!("Domain {}", sets.get(set).name),
        Shape::Sequence => format!("Sequence Of {basic}"),
    }
}
