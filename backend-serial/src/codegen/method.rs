//! The trait method of a kernel: picks the form; and what the functions of all forms share.

use equelle_front::backend::visit::{Node, visit_general};
use equelle_front::backend::{BackendError, KernelNames, Namer};
use equelle_front::ir::{CartesianForm, KExpr, Kernel, Module, Space};
use equelle_front::ops::Reduction;
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::cartesian;
use super::general::{self, Part};
use super::text::{Text, ident, mentions};
use super::writer::{Failure, Writer, Written};

/// Text of a kernel.
pub(super) struct Method {
    /// The method of the trait.
    pub method: TokenStream,
    /// Functions that it calls.
    pub functions: TokenStream,
}

/// Writes a kernel.
pub(super) fn write(module: &Module, kernel: &Kernel, names: &KernelNames, functions: &mut Namer) -> Result<Method, BackendError> {
    let name = |functions: &mut Namer, suffix: &str| ident(&functions.fresh(&format!("{}_{suffix}", names.method)));
    let general_name = name(functions, "general");
    let (general, general_dim) = unwrap(kernel, general::function(module, kernel, names, &general_name, Part::Whole, functions))?;
    let mut items = TokenStream::new();
    let mut body = TokenStream::new();
    if let Some(dim) = largest_component(kernel).map(|c| c as usize + 1).filter(|&dim| dim > 1) {
        let (dim, info) = (Literal::usize_unsuffixed(dim), ident(&names.info));
        body.extend(quote! { self.needs_dimension(#dim, &#info)?; });
    }
    if let Some(form) = kernel.cartesian.as_ref() {
        match cartesian::functions(module, kernel, names, form, functions) {
            Ok(written) => {
                items.extend(written.items);
                let mut before = TokenStream::new();
                if !kernel.checks.is_empty() {
                    let checks_name = name(functions, "checks");
                    let checks = general::function(module, kernel, names, &checks_name, Part::Checks, functions);
                    let (checks, dim) = unwrap(kernel, checks)?;
                    items.extend(checks);
                    let call = call(&checks_name, kernel, dim, &TokenStream::new());
                    before = quote! { #call?; };
                }
                body.extend(cartesian_branch(kernel, names, form, &written.entry, &before));
            }
            // This back-end has no way to write it in that form; the general form gives the same numbers.
            Err(Failure::Form) => {}
            Err(Failure::Error(error)) => return Err(error),
        }
    }
    items.extend(general);
    body.extend(call(&general_name, kernel, general_dim, &TokenStream::new()));
    let method = ident(&names.method);
    let args = args_type(kernel, names).map(|ty| quote! { , args: #ty });
    let result = result_type(kernel, names)?;
    Ok(Method { method: quote! { fn #method(&mut self #args) -> Result<#result, Error> { #body } }, functions: items })
}

fn unwrap<T>(kernel: &Kernel, written: Written<T>) -> Result<T, BackendError> {
    written.map_err(|failure| match failure {
        Failure::Error(error) => error,
        Failure::Form => {
            let span = kernel.spans.first().copied().unwrap_or_default();
            BackendError::internal(span, format!("kernel `{}`: a construct of Cartesian forms outside one", kernel.name))
        }
    })
}

/// `if let Some(grid) = ... { return ... }`
fn cartesian_branch(kernel: &Kernel, names: &KernelNames, form: &CartesianForm, entry: &Ident, before: &TokenStream) -> TokenStream {
    // What is kept per axis only by convention of the compiler is looked at; without it the general form runs.
    let kept = kernel.params.iter().zip(&names.params).filter(|(p, _)| p.per_axis).map(|(_, name)| {
        let name = ident(name);
        quote! { && args.#name.per_axis().is_some() }
    });
    let extra = quote! { &grid };
    let dispatch = call(entry, kernel, true, &extra);
    let dispatch = match form {
        CartesianForm::Full(_) | CartesianForm::PerAxis(_) => dispatch,
    };
    quote! {
        if let Some(grid) = self.cartesian_grid() #(#kept)* {
            #before
            return #dispatch;
        }
    }
}

/// A call of a free function, for the dimension of the grid if it is generic.
fn call(name: &Ident, kernel: &Kernel, generic: bool, extra: &TokenStream) -> TokenStream {
    let args = (!kernel.params.is_empty()).then(|| quote! { &args, });
    if !generic {
        return quote! { #name(self, #args #extra) };
    }
    quote! {
        match self.grid().dim() {
            1 => #name::<1>(self, #args #extra),
            2 => #name::<2>(self, #args #extra),
            _ => #name::<3>(self, #args #extra),
        }
    }
}

/// The argument struct for this runtime.
pub(super) fn args_type(kernel: &Kernel, names: &KernelNames) -> Option<TokenStream> {
    let name = ident(&names.arguments);
    (!kernel.params.is_empty()).then(|| quote! { #name<'_, SerialRuntime> })
}

/// `fn name<const DIM: usize>(rt: &SerialRuntime, args: &Args<'_, SerialRuntime>) -> Result<.., Error>`; arguments that the body does not use get an underscore.
pub(super) fn signature(
    kernel: &Kernel,
    names: &KernelNames,
    name: &Ident,
    uses_dim: bool,
    body: &TokenStream,
    result: Option<TokenStream>,
) -> Written<TokenStream> {
    let generics = uses_dim.then(|| quote! { <const DIM: usize> });
    let rt = ident(if mentions(body, "rt") { "rt" } else { "_rt" });
    let args = args_type(kernel, names).map(|ty| {
        let args = ident(if mentions(body, "args") { "args" } else { "_args" });
        quote! { , #args: &#ty }
    });
    let result = match result {
        Some(result) => result,
        None => result_type(kernel, names)?,
    };
    Ok(quote! { fn #name #generics(#rt: &SerialRuntime #args) -> Result<#result, Error> })
}

/// Type of what a kernel gives.
pub(super) fn result_type(kernel: &Kernel, _names: &KernelNames) -> Result<TokenStream, BackendError> {
    let mut types = Vec::new();
    for result in &kernel.results {
        types.push(match (result.ty.shape, result.ty.basic) {
            (Shape::Single, Basic::Scalar) => quote! { f64 },
            (Shape::Collection(_), Basic::Scalar) => quote! { ScalarCollection },
            (Shape::Collection(_), Basic::Vector) => quote! { VectorCollection },
            (Shape::Collection(_), Basic::Bool) => quote! { BoolCollection },
            _ => {
                let span = kernel.spans.first().copied().unwrap_or_default();
                return Err(BackendError::new(span, format!("kernel `{}` gives a {:?}, which is not possible", kernel.name, result.ty.basic)));
            }
        });
    }
    Ok(match types.as_slice() {
        [one] => one.clone(),
        many => quote! { (#(#many),*) },
    })
}

/// Buffers for results.
pub(super) fn buffers(writer: &Writer, len: TokenStream) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    for (result, name) in writer.kernel.results.iter().zip(&writer.names.results) {
        let name = ident(name);
        out.extend(match result.ty.basic {
            Basic::Bool => quote! { let mut #name = rt.take_bool_buffer(#len); },
            Basic::Vector => quote! { let mut #name: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(#len)); },
            Basic::Scalar | Basic::Entity(_) | Basic::Text => quote! { let mut #name = rt.take_buffer(#len); },
        });
        // Written through a slice: a buffer is looked up at every access.
        if result.ty.basic != Basic::Vector {
            let slice = slice_name(&name);
            out.extend(quote! { let #slice = &mut #name[..]; });
        }
    }
    Ok(out)
}

fn slice_name(result: &Ident) -> Ident {
    ident(&format!("{result}_values"))
}

/// Assignments of one element's values.
pub(super) fn stores(writer: &Writer, index: &TokenStream, yields: &[Text]) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    for ((result, name), value) in writer.kernel.results.iter().zip(&writer.names.results).zip(yields) {
        let name = ident(name);
        let slice = slice_name(&name);
        out.extend(match result.ty.basic {
            Basic::Vector => quote! {
                for (component, value) in #name.iter_mut().zip(#value) { component[#index] = value; }
            },
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text => quote! { #slice[#index] = #value; },
        });
    }
    Ok(out)
}

/// Buffers to collections, or reduced to Scalars: `Ok(...)`.
pub(super) fn results(writer: &Writer) -> Written<TokenStream> {
    if writer.kernel.space == Space::Unit {
        return Ok(TokenStream::new());
    }
    let mut parts = Vec::new();
    for (result, name) in writer.kernel.results.iter().zip(&writer.names.results) {
        let name = ident(name);
        let info = ident(&writer.names.info);
        parts.push(match (result.reduce, result.ty.basic) {
            (Some(reduction), _) => {
                let reduction = ident(match reduction {
                    Reduction::Max => "Max",
                    Reduction::Min => "Min",
                    Reduction::Sum => "Sum",
                    Reduction::Prod => "Prod",
                });
                quote! { rt.reduce_in_kernel(Reduction::#reduction, &domain, #name, &#info)? }
            }
            (None, Basic::Vector) => quote! { rt.vector_collection_from(&domain, #name) },
            (None, Basic::Bool) => quote! { rt.bool_collection_from(&domain, #name) },
            (None, Basic::Scalar | Basic::Entity(_) | Basic::Text) => quote! { rt.scalar_collection_from(&domain, #name) },
        });
    }
    Ok(match parts.as_slice() {
        [one] => quote! { Ok(#one) },
        many => quote! { Ok((#(#many),*)) },
    })
}

/// The largest Vector component that a kernel names.
fn largest_component(kernel: &Kernel) -> Option<u32> {
    let mut largest = None;
    visit_general(kernel, &mut |node| {
        if let Node::Expr(KExpr::Component(_, index)) = node {
            largest = largest.max(Some(*index));
        }
    });
    largest
}
