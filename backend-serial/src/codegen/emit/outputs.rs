//! What the loops of a kernel write, range by range: `(&mut u[..], &mut v[..])` before the loop, `(u_values, v_values)` in it.

use equelle_front::types::Basic;
use proc_macro2::TokenStream;
use quote::quote;

use super::writer::Writer;

/// The most items of a tuple that the runtime can cut.
const WIDEST: usize = 12;

/// Outputs of a loop.
pub(super) struct Outputs {
    /// All of them, as an argument.
    pub whole: TokenStream,
    /// Those of a range, as a pattern.
    pub part: TokenStream,
}

impl Outputs {
    /// The buffers of the results of a kernel, and what else the loop writes.
    pub(super) fn of(writer: &Writer, more: Option<Outputs>) -> Outputs {
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        for ((result, name), slice) in writer.kernel.results.iter().zip(&writer.results).zip(&writer.slices) {
            match result.ty.basic {
                Basic::Vector => {
                    whole.push(quote! { #name.each_mut().map(|component| &mut component[..]) });
                    part.push(quote! { mut #slice });
                }
                Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text => {
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

    /// Of a loop that writes nothing.
    pub(super) fn none() -> Outputs {
        Outputs { whole: quote! { () }, part: quote! { () } }
    }
}

/// A tuple, of tuples where there are too many items.
pub(super) fn tuple(items: Vec<TokenStream>) -> TokenStream {
    match items.as_slice() {
        [one] => one.clone(),
        many if many.len() <= WIDEST => quote! { (#(#many),*) },
        many => tuple(many.chunks(WIDEST).map(|chunk| tuple(chunk.to_vec())).collect()),
    }
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
