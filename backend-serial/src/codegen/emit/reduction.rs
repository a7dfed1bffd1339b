//! Reductions over the faces of a cell: where they begin, and how they take in one more term.

use equelle_front::ir::LocalId;
use equelle_front::ops::FaceReduction;
use equelle_front::types::Basic;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::operators::comparison;
use super::stencil_point::End;
use super::text::{Level, Text, ident};
use super::writer::Writer;

/// Returns the initial value of a reduction.
pub(in crate::codegen) fn start_of(writer: &Writer, reduction: FaceReduction) -> TokenStream {
    match reduction {
        FaceReduction::Sum => quote! { 0.0 },
        FaceReduction::Max | FaceReduction::Min => writer.reals.literal(reduction.start()).at(Level::Choice),
    }
}

/// The zeros that sums of these results begin with, or the infinity of an extreme.
pub(in crate::codegen) fn starts_of(writer: &mut Writer, reduction: FaceReduction, results: &[LocalId]) -> Vec<TokenStream> {
    let mut start = |local: &LocalId| {
        if is_vector(writer, *local) { writer.zero_vector().at(Level::Choice) } else { start_of(writer, reduction) }
    };
    results.iter().map(&mut start).collect()
}

/// True if a local is a Vector.
pub(in crate::codegen) fn is_vector(writer: &Writer, local: LocalId) -> bool {
    writer.kernel.local_type(local).is_some_and(|ty| ty.basic == Basic::Vector)
}

/// [`take_in`] for a sum of Vectors.
pub(in crate::codegen) fn take_in_vector(writer: &mut Writer, result: &Ident, side: End, term: &Text) -> TokenStream {
    let function = match side {
        End::Low => "vector_sub",
        End::High => "vector_add",
    };
    let value = writer.call(function, &[Text::atom(result), term.clone()]);
    quote! { #result = #value; }
}

/// Takes in the term of a face on this side of the cell. A sum subtracts on the low side, which is
/// the same as adding the negative, to the bit. Of an extreme `found` may be the variable for its
/// face, with the current face.
pub(in crate::codegen) fn take_in(
    writer: &mut Writer,
    reduction: FaceReduction,
    (result, found): (&Ident, Option<(&Ident, &TokenStream)>),
    side: End,
    term: &Text,
) -> TokenStream {
    let (Some(extreme), Some(stays)) = (reduction.extreme(), reduction.stays()) else {
        let term = term.at(Level::Choice);
        return match side {
            End::Low => quote! { #result -= #term; },
            End::High => quote! { #result += #term; },
        };
    };
    let Some((found, face)) = found else {
        let value = writer.math(extreme.word(), &[Text::atom(result), term.clone()]);
        return quote! { #result = #value; };
    };
    let (name, stays) = (ident(&writer.namer.fresh(&format!("{result}_term"))), comparison(stays));
    let value = writer.math(extreme.word(), &[Text::atom(result), Text::atom(&name)]);
    quote! {
        let #name = #term;
        if !(#result #stays #name || #result.is_nan()) { #found = #face; }
        #result = #value;
    }
}

/// Number that stands for a face of the cell in the text: rows have no indices of faces. The axis
/// is a variable unless it is known.
pub(in crate::codegen) fn side_number(side: End, axis: Option<usize>) -> TokenStream {
    let high = u32::from(side.is_high());
    match axis {
        Some(axis) => {
            let number = proc_macro2::Literal::u32_unsuffixed(2 * axis as u32 + high);
            quote! { #number }
        }
        None if side.is_high() => quote! { 2 * axis as u32 + 1 },
        None => quote! { 2 * axis as u32 },
    }
}
