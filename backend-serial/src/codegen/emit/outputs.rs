//! Outputs of the loops of a kernel, range by range: `(&mut u[..], &mut v[..])` before the loop,
//! `(u_values, v_values)` in it.

use equelle_front::ir::{CheckKind, Space};
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
}

/// Destination of the values of a loop over the elements of a domain.
pub(in crate::codegen) enum Values {
    /// They are outputs.
    Stored(Outputs),
    /// The same, if conditions of this kind hold; else the loop ends with the error of the first
    /// element for which one does not.
    Checked(Outputs, CheckKind),
    /// One number for each element is reduced leaf by leaf, without a buffer.
    Reduced {
        /// The name of the number that they are reduced to.
        result: Ident,
        reduction: TokenStream,
        /// Those of a range, as a pattern.
        part: Ident,
    },
}

impl Values {
    /// Those of the results of a kernel.
    pub(in crate::codegen) fn of(writer: &mut Writer) -> Values {
        let kernel = writer.kernel;
        if let ([result], [name], [part]) = (&kernel.results[..], &writer.results.clone()[..], &writer.slices.clone()[..])
            && let (Some(reduction), Basic::Scalar, true) = (result.reduce, result.ty.basic, kernel.checks.is_empty())
            && let Some(reduction) = reduction_of_numbers(writer, reduction)
        {
            return Values::Reduced { result: name.clone(), reduction, part: part.clone() };
        }
        Values::stored(writer, Outputs::of(writer, None))
    }

    /// These outputs, with the conditions of the kernel, which are of one kind.
    pub(in crate::codegen) fn stored(writer: &Writer, outputs: Outputs) -> Values {
        match writer.kernel.checks.first() {
            None => Values::Stored(outputs),
            Some(check) => Values::Checked(outputs, check.kind),
        }
    }

    /// The loop, with its body for a range.
    pub(in crate::codegen) fn each(&self, writer: &mut Writer, body: &TokenStream) -> TokenStream {
        writer.uses.add(Use::Runtime);
        match self {
            Values::Stored(Outputs { whole, part }) => quote! { rt.each(domain.len(), #whole, move |range, #part| { #body }); },
            Values::Checked(Outputs { whole, part }, kind) => {
                let error = ident(match kind {
                    CheckKind::OnEmpty => "on_empty_in_kernel",
                    CheckKind::OneCell => "two_cells_in_kernel",
                });
                let info = writer.info();
                quote! {
                    rt.try_each(domain.len(), #whole, move |range, #part| { #body Ok(()) })
                        .map_err(|position| rt.#error(&#info, domain, position))?;
                }
            }
            Values::Reduced { result, reduction, part } => {
                let info = writer.info();
                quote! {
                    let #result = rt.reduce_written_in_kernel(#reduction, domain, &#info, move |range, #part| { #body })?;
                }
            }
        }
    }
}

impl Outputs {
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
        Outputs { whole: tuple(whole), part: tuple(part) }
    }

    /// Outputs of a loop that writes nothing.
    pub(in crate::codegen) fn none() -> Outputs {
        Outputs { whole: quote! { () }, part: quote! { () } }
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

/// Assignments of one element's values, at its index in the current range.
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

/// The stores of an element that has no value.
pub(in crate::codegen) fn empty_stores(writer: &mut Writer, index: &TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    for (result, slice) in writer.kernel.results.iter().zip(&writer.slices) {
        writer.uses.add(Use::Range);
        out.extend(match result.ty.basic {
            Basic::Vector => quote! { #slice.iter_mut().for_each(|component| component[#index] = 0.0); },
            Basic::Scalar | Basic::Text | Basic::Table | Basic::Axis(_) => quote! { #slice[#index] = 0.0; },
            Basic::Bool => quote! { #slice[#index] = false; },
            Basic::Entity(_) => {
                let none = writer.uses.item("NONE");
                quote! { #slice[#index] = #none; }
            }
        });
    }
    out
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
