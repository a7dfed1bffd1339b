//! The trait method of a kernel: picks the form; and what the functions of all forms share.

use equelle_front::backend::visit::{Node, vector_sizes, visit_general};
use equelle_front::backend::{BackendError, KernelNames, Namer};
use equelle_front::ir::{KExpr, Kernel, Module, Space};
use equelle_front::ops::Reduction;
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::general::{self, GeneralFunction, GridUse, Part};
use super::reals::Reals;
use super::text::{Text, ident, mentions};
use super::writer::{Failure, Writer, Written, entity_kind};
use super::{cartesian, stencil};

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
    let general = match &kernel.jacobian {
        None => unwrap(kernel, general::function(module, kernel, names, general_name, Part::Whole, functions))?,
        Some(form) => {
            let pattern_name = name(functions, "pattern");
            unwrap(kernel, stencil::function(module, kernel, form, names, [general_name, pattern_name], functions))?
        }
    };
    let reals = Reals::of(module, kernel);
    let mut items = TokenStream::new();
    let mut body = TokenStream::new();
    if let Some(dim) = largest_component(kernel).map(|c| c as usize + 1).filter(|&dim| dim > 1) {
        let (dim, info) = (Literal::usize_unsuffixed(dim), ident(&names.info));
        body.extend(quote! { self.needs_dimension(#dim, &#info)?; });
    }
    for components in vector_sizes(kernel) {
        let (components, info) = (Literal::usize_unsuffixed(components), ident(&names.info));
        body.extend(quote! { self.vector_size(#components, &#info)?; });
    }
    // Only numbers are kept per axis.
    let kept = kernel.params.iter().all(|p| !p.per_axis || p.ty.basic == Basic::Scalar);
    let written = match (&kernel.jacobian, &kernel.cartesian) {
        (Some(form), _) => form.cartesian.as_ref().filter(|_| kept).map(|b| cartesian::equation(module, kernel, names, form, b, functions)),
        (None, Some(form)) if kept => Some(cartesian::functions(module, kernel, names, form, functions)),
        (None, _) => None,
    };
    if let Some(written) = written {
        match written {
            Ok(written) => {
                items.extend(written.items);
                let mut before = TokenStream::new();
                if !kernel.checks.is_empty() {
                    let checks_name = name(functions, "checks");
                    let checks = unwrap(kernel, general::function(module, kernel, names, checks_name, Part::Checks, functions))?;
                    let grid = checks.grid.map(|_| quote! { &grid });
                    let call = call(&checks.name, kernel, checks.generic(), &quote! { #grid });
                    items.extend(checks.item);
                    before = quote! { #call?; };
                }
                body.extend(cartesian_branch(kernel, reals, names, &written.entry, &before));
            }
            // This back-end has no way to write it in that form; the general form gives the same numbers.
            Err(Failure::Form) => body.extend(closed_form(kernel, reals, &general)),
            Err(Failure::Error(error)) => return Err(error),
        }
    } else {
        body.extend(closed_form(kernel, reals, &general));
    }
    body.extend(with_arrays(kernel, reals, &general));
    items.extend(general.item);
    let method = ident(&names.method);
    let args = args_type(kernel, names).map(|ty| quote! { , args: #ty });
    let result = result_type(kernel, names)?;
    Ok(Method { method: quote! { fn #method(&mut self #args) -> Result<#result, Error> { #body } }, functions: items })
}

/// The general function without the arrays of the grid, where they need not exist.
fn closed_form(kernel: &Kernel, reals: Reals, general: &GeneralFunction) -> TokenStream {
    // A sum over faces with derivatives visits each face from both sides and at every iterate: faster through arrays than by divisions.
    if !general.grid.is_some_and(GridUse::any) || kernel.jacobian.is_some() {
        return TokenStream::new();
    }
    let call = call(&general.name, kernel, general.generic(), &quote! { &grid });
    let cartesian_grid = reals.cartesian_grid();
    quote! { if let Some(grid) = self.#cartesian_grid() { return #call; } }
}

/// The general function on the arrays of the grid.
fn with_arrays(kernel: &Kernel, reals: Reals, general: &GeneralFunction) -> TokenStream {
    let Some(needs) = general.grid else { return call(&general.name, kernel, general.generic(), &TokenStream::new()) };
    let topology = needs.topology.then(|| quote! { .with_topology() });
    let sides = needs.sides.then(|| quote! { .with_sides() });
    let geometry = needs.geometry.then(|| quote! { .with_geometry() });
    let edges = needs.edges.then(|| quote! { .with_edges() });
    let rounded = (reals == Reals::Single).then(|| quote! { .rounded::<f32>() });
    let vertices = needs.vertices.then(|| quote! { .with_vertices() });
    let call = call(&general.name, kernel, general.generic(), &quote! { &grid });
    quote! {
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid) #topology #sides #geometry #edges #vertices #rounded;
        #call
    }
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
fn cartesian_branch(kernel: &Kernel, reals: Reals, names: &KernelNames, entry: &Ident, before: &TokenStream) -> TokenStream {
    // What is kept per axis only by convention of the compiler is looked at; without it the general form runs.
    let kept = kernel.params.iter().zip(&names.params).filter(|(p, _)| p.per_axis).map(|(_, name)| {
        let name = ident(name);
        quote! { && args.#name.per_axis().is_some() }
    });
    let (extra, cartesian_grid) = (quote! { &grid }, reals.cartesian_grid());
    let dispatch = call(entry, kernel, Generic::Dim, &extra);
    quote! {
        if let Some(grid) = self.#cartesian_grid() #(#kept)* {
            #before
            return #dispatch;
        }
    }
}

/// Generic arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generic {
    /// None that need be said.
    None,
    /// The dimension.
    Dim,
    /// The dimension and the kind of grid.
    DimAndGrid,
}

impl GeneralFunction {
    fn generic(&self) -> Generic {
        match (self.takes_dim, self.grid) {
            (false, _) => Generic::None,
            (true, None) => Generic::Dim,
            (true, Some(_)) => Generic::DimAndGrid,
        }
    }
}

/// A call of a free function, for the dimension of the grid if it is generic.
fn call(name: &Ident, kernel: &Kernel, generic: Generic, extra: &TokenStream) -> TokenStream {
    let others = match generic {
        Generic::None => None,
        Generic::Dim => Some(TokenStream::new()),
        Generic::DimAndGrid => Some(quote! { , _ }),
    };
    let args = (!kernel.params.is_empty()).then(|| quote! { &args, });
    let Some(others) = others else { return quote! { #name(self, #args #extra) } };
    quote! {
        match self.grid().dim() {
            1 => #name::<1 #others>(self, #args #extra),
            2 => #name::<2 #others>(self, #args #extra),
            _ => #name::<3 #others>(self, #args #extra),
        }
    }
}

/// The argument struct for this runtime.
pub(super) fn args_type(kernel: &Kernel, names: &KernelNames) -> Option<TokenStream> {
    let name = ident(&names.arguments);
    (!kernel.params.is_empty()).then(|| quote! { #name<'_, SerialRuntime> })
}

/// `fn name<const DIM: usize>(rt: &mut SerialRuntime, args: &Args<'_, SerialRuntime>, grid: &G) -> Result<.., Error>`; arguments that the body does not use
/// get an underscore.
#[allow(clippy::too_many_arguments)]
pub(super) fn signature(
    kernel: &Kernel,
    names: &KernelNames,
    name: &Ident,
    generics: &TokenStream,
    takes_grid: bool,
    body: &TokenStream,
    result: Option<TokenStream>,
    extra: TokenStream,
) -> Written<TokenStream> {
    let generics = (!generics.is_empty()).then(|| quote! { <#generics> });
    let rt = ident(if mentions(body, "rt") { "rt" } else { "_rt" });
    let args = args_type(kernel, names).map(|ty| {
        let args = ident(if mentions(body, "args") { "args" } else { "_args" });
        quote! { , #args: &#ty }
    });
    let grid = takes_grid.then(|| quote! { , grid: &G });
    let result = match result {
        Some(result) => result,
        None => result_type(kernel, names)?,
    };
    Ok(quote! { fn #name #generics(#rt: &mut SerialRuntime #args #grid #extra) -> Result<#result, Error> })
}

/// Type of what a kernel gives.
pub(super) fn result_type(kernel: &Kernel, _names: &KernelNames) -> Result<TokenStream, BackendError> {
    let mut types = Vec::new();
    for result in &kernel.results {
        types.push(match (result.ty.shape, result.ty.basic) {
            (Shape::Single, Basic::Scalar) => quote! { f64 },
            (Shape::Single, Basic::Bool) => quote! { bool },
            (Shape::Single, Basic::Vector) => quote! { [f64; 3] },
            (Shape::Collection(_), Basic::Scalar) => quote! { ScalarCollection },
            (Shape::Collection(_), Basic::Vector) => quote! { VectorCollection },
            (Shape::Collection(_), Basic::Bool) => quote! { BoolCollection },
            (Shape::Collection(_), Basic::Entity(_)) => quote! { EntityCollection },
            _ => {
                let span = kernel.spans.first().copied().unwrap_or_default();
                return Err(BackendError::new(
                    span,
                    format!("kernel `{}` gives a {:?}, which is not possible", kernel.name, result.ty.basic),
                ));
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
    for (result, name) in writer.kernel.results.iter().zip(&writer.results) {
        out.extend(match result.ty.basic {
            Basic::Bool => quote! { let mut #name = rt.take_bool_buffer(#len); },
            Basic::Vector => quote! { let mut #name: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(#len)); },
            Basic::Entity(_) => quote! { let mut #name = rt.take_entity_buffer(#len); },
            Basic::Scalar | Basic::Text => quote! { let mut #name = rt.take_buffer(#len); },
        });
    }
    Ok(out)
}

/// Assignments of one element's values, at its index in the range at hand.
pub(super) fn stores(writer: &Writer, index: &TokenStream, yields: &[Text]) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    for ((result, slice), value) in writer.kernel.results.iter().zip(&writer.slices).zip(yields) {
        out.extend(match result.ty.basic {
            Basic::Vector => {
                let component = writer.reals.stored(&Text::atom(ident("value")));
                quote! {
                    for (component, value) in #slice.iter_mut().zip(#value) { component[#index] = #component; }
                }
            }
            Basic::Scalar => {
                let value = writer.reals.stored(value);
                quote! { #slice[#index] = #value; }
            }
            Basic::Bool | Basic::Entity(_) | Basic::Text => quote! { #slice[#index] = #value; },
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
    for (result, name) in writer.kernel.results.iter().zip(&writer.results) {
        let info = ident(&writer.names.info);
        parts.push(match (result.reduce, result.ty.basic) {
            (Some(reduction), basic) => {
                let reduction = ident(match reduction {
                    Reduction::Max => "Max",
                    Reduction::Min => "Min",
                    Reduction::Sum => "Sum",
                    Reduction::Prod => "Prod",
                    Reduction::Any => {
                        parts.push(quote! { #name.iter().any(|&truth| truth) });
                        continue;
                    }
                    Reduction::All => {
                        parts.push(quote! { #name.iter().all(|&truth| truth) });
                        continue;
                    }
                });
                match basic {
                    Basic::Vector => quote! { rt.reduce_vectors_in_kernel(Reduction::#reduction, domain, #name, &#info)? },
                    Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text => {
                        quote! { rt.reduce_in_kernel(Reduction::#reduction, domain, #name, &#info)? }
                    }
                }
            }
            (None, Basic::Vector) => quote! { rt.vector_collection_from(domain, #name) },
            (None, Basic::Bool) => quote! { rt.bool_collection_from(domain, #name) },
            (None, Basic::Entity(kind)) => {
                let kind = entity_kind(kind);
                quote! { rt.entity_collection_from(domain, #kind, #name) }
            }
            (None, Basic::Scalar | Basic::Text) => quote! { rt.scalar_collection_from(domain, #name) },
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
