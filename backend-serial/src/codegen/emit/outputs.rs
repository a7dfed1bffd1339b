//! What the loops of a kernel write, range by range: `(&mut u[..], &mut v[..])` before the loop,
//! `(u_values, v_values)` in it.

use equelle_front::ir::Space;
use equelle_front::ops::Reduction;
use equelle_front::types::Basic;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::text::{Text, entity_kind, ident};
use super::uses::Use;
use super::writer::{Form, Writer, Written};

/// The most items of a tuple that the runtime can cut.
const WIDEST: usize = 12;

/// Outputs of a loop.
pub(in crate::codegen) struct Outputs {
    /// All of them, as an argument.
    pub whole: TokenStream,
    /// Those of a range, as a pattern.
    pub part: TokenStream,
    /// The one result, if it is a number that a loop without conditions reduces.
    pub reduced: Option<(Ident, TokenStream)>,
}

impl Outputs {
    /// What is written besides results.
    pub(in crate::codegen) fn other(whole: TokenStream, part: TokenStream) -> Outputs {
        Outputs { whole, part, reduced: None }
    }

    /// The buffers of the results of a kernel, and what else the loop writes.
    pub(in crate::codegen) fn of(writer: &Writer, more: Option<Outputs>) -> Outputs {
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        for ((result, name), slice) in writer.kernel.results.iter().zip(&writer.results).zip(&writer.slices) {
            match result.ty.basic {
                Basic::Vector => {
                    whole.push(quote! { #name.each_mut().map(|component| &mut component[..]) });
                    part.push(quote! { mut #slice });
                }
                Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                    whole.push(quote! { &mut #name[..] });
                    part.push(quote! { #slice });
                }
            }
        }
        if let Some(more) = more {
            whole.push(more.whole);
            part.push(more.part);
        }
        Outputs { whole: tuple(whole), part: tuple(part), reduced: None }
    }

    /// The same, but for values that are reduced and not kept: leaf by leaf, without a buffer.
    pub(in crate::codegen) fn of_values(writer: &mut Writer) -> Outputs {
        let mut outputs = Outputs::of(writer, None);
        if let ([result], [name], []) = (&writer.kernel.results[..], &writer.results.clone()[..], &writer.kernel.checks[..])
            && let (Some(reduction), Basic::Scalar) = (result.reduce, result.ty.basic)
        {
            outputs.reduced = reduction_of_numbers(writer, reduction).map(|reduction| (name.clone(), reduction));
        }
        outputs
    }

    /// The loop over a domain, with its body as a closure of a range and its outputs.
    pub(in crate::codegen) fn each(&self, writer: &mut Writer, body: &TokenStream) -> TokenStream {
        let Outputs { whole, part, reduced } = self;
        writer.uses.add(Use::Runtime);
        match reduced {
            None => quote! { rt.each(domain.len(), #whole, move |range, #part| { #body }); },
            Some((result, reduction)) => {
                let info = writer.info();
                quote! {
                    let #result = rt.reduce_written_in_kernel(#reduction, domain, &#info, move |range, #part| { #body })?;
                }
            }
        }
    }

    /// Of a loop that writes nothing.
    pub(in crate::codegen) fn none() -> Outputs {
        Outputs { whole: quote! { () }, part: quote! { () }, reduced: None }
    }
}

/// A tuple, of tuples where there are too many items.
pub(in crate::codegen) fn tuple(items: Vec<TokenStream>) -> TokenStream {
    match items.as_slice() {
        [one] => one.clone(),
        many if many.len() <= WIDEST => quote! { (#(#many),*) },
        many => tuple(many.chunks(WIDEST).map(|chunk| tuple(chunk.to_vec())).collect()),
    }
}

/// Buffers for results.
pub(in crate::codegen) fn buffers(writer: &mut Writer, len: TokenStream) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    if writer.kernel.results.iter().any(|result| result.ty.basic == Basic::Vector) {
        writer.uses.add(Use::Dim);
    }
    for (result, name) in writer.kernel.results.iter().zip(&writer.results) {
        writer.uses.add(Use::Runtime);
        if let (Some(param), Form::Stencil) = (result.in_place, writer.form) {
            writer.uses.add(Use::Args);
            let field = writer.field(param);
            out.extend(quote! { let mut #name = rt.in_place(args.#field); });
            continue;
        }
        out.extend(match result.ty.basic {
            Basic::Bool => quote! { let mut #name = rt.take_bool_buffer(#len); },
            Basic::Vector => quote! { let mut #name: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(#len)); },
            Basic::Entity(_) => quote! { let mut #name = rt.take_entity_buffer(#len); },
            Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_) => quote! { let mut #name = rt.take_buffer(#len); },
        });
    }
    Ok(out)
}

/// Assignments of one element's values, at its index in the range at hand.
pub(in crate::codegen) fn stores(writer: &mut Writer, index: &TokenStream, yields: &[Text]) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    for ((result, slice), value) in writer.kernel.results.iter().zip(&writer.slices).zip(yields) {
        writer.uses.add(Use::Range);
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
            Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => quote! { #slice[#index] = #value; },
        });
    }
    Ok(out)
}

/// A reduction as the runtime knows it; `None` for those of truth values.
pub(in crate::codegen) fn reduction_of_numbers(writer: &mut Writer, reduction: Reduction) -> Option<TokenStream> {
    let reduction = ident(match reduction {
        Reduction::Max => "Max",
        Reduction::Min => "Min",
        Reduction::Sum => "Sum",
        Reduction::Prod => "Prod",
        Reduction::Any | Reduction::All => return None,
    });
    let reductions = writer.uses.item("Reduction");
    Some(quote! { #reductions::#reduction })
}

/// Buffers to collections, or reduced to Scalars: `Ok(...)`.
pub(in crate::codegen) fn results(writer: &mut Writer) -> Written<TokenStream> {
    if writer.kernel.space == Space::Unit {
        return Ok(TokenStream::new());
    }
    let mut parts = Vec::new();
    for (result, name) in writer.kernel.results.iter().zip(&writer.results.clone()) {
        parts.push(match (result.reduce, result.ty.basic) {
            (Some(reduction), basic) => {
                let Some(reduction) = reduction_of_numbers(writer, reduction) else {
                    let test = ident(if reduction == Reduction::Any { "any" } else { "all" });
                    parts.push(quote! { #name.iter().#test(|&value| value) });
                    continue;
                };
                writer.uses.add(Use::Runtime);
                let info = writer.info();
                let reduce = ident(match basic {
                    Basic::Vector => "reduce_vectors_in_kernel",
                    Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => "reduce_in_kernel",
                });
                quote! { rt.#reduce(#reduction, domain, #name, &#info)? }
            }
            (None, Basic::Vector) => quote! { rt.vector_collection_from(domain, #name) },
            (None, Basic::Bool) => quote! { rt.bool_collection_from(domain, #name) },
            (None, Basic::Entity(kind)) => {
                let kind = entity_kind(kind, &mut writer.uses);
                quote! { rt.entity_collection_from(domain, #kind, #name) }
            }
            (None, Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_)) => quote! { rt.scalar_collection_from(domain, #name) },
        });
    }
    Ok(match parts.as_slice() {
        [one] => quote! { Ok(#one) },
        many => quote! { Ok((#(#many),*)) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_outputs_are_tuples_of_tuples() {
        let items = |n: usize| (0..n).map(|_| quote! { a }).collect::<Vec<_>>();
        assert_eq!(tuple(items(1)).to_string(), "a");
        assert_eq!(tuple(items(2)).to_string(), "(a , a)");
        assert_eq!(tuple(items(13)).to_string(), "((a , a , a , a , a , a , a , a , a , a , a , a) , a)");
    }
}
