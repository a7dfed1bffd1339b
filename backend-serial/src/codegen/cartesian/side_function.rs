//! Side functions: the terms of an interior side from the numbers that they depend on.

use std::collections::BTreeMap;

use equelle_front::backend::Namer;
use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{KBlock, KStmt, LocalId};
use equelle_front::ops::FaceReduction;
use proc_macro2::TokenStream;
use quote::quote;

use crate::codegen::emit::read::{element_type, single_type};
use crate::codegen::emit::stencil_point::{End, Leaf, NO_SIDES, SideFunction, SideFunctions, StencilPoint};
use crate::codegen::emit::text::{blank, ident};
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};
use crate::codegen::jacobian::cartesian::Equation;

/// Side functions of every sum, in the order in which the sums stand.
pub(in crate::codegen) fn write_side_functions(
    source: Source<'_>,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    places: &mut BTreeMap<LocalId, StencilPoint>,
    functions: &mut Namer,
    out: &mut Vec<SideFunctions>,
) -> Written<()> {
    for statement in &block.statements {
        match statement {
            KStmt::LetEntity { local, path } => {
                let mut writer = Writer::new(source, Form::Cell, functions);
                writer.places = places.clone();
                if let Some(place) = writer.place(path) {
                    places.insert(*local, place);
                }
            }
            KStmt::ReduceSides { reduction, results, low, high, .. } => {
                let mut pair = NO_SIDES;
                for (slot, side, blocks) in [(0, End::Low, low), (1, End::High, high)] {
                    let Some(interior) = &blocks.interior else { continue };
                    pair[slot] = match side_function(source, interior, equation, (*reduction, results), side, places, functions) {
                        Ok(function) => Ok(function),
                        Err(Failure::Form(refusal)) => Err(refusal),
                        Err(error) => return Err(error),
                    };
                }
                out.push(pair);
            }
            KStmt::If { then, otherwise, .. } => {
                write_side_functions(source, then, equation, &mut places.clone(), functions, out)?;
                write_side_functions(source, otherwise, equation, &mut places.clone(), functions, out)?;
            }
            KStmt::Let { .. } | KStmt::ReduceFaces { .. } | KStmt::Add { .. } => {}
        }
    }
    Ok(())
}

fn side_function(
    source: Source<'_>,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    (reduction, results): (FaceReduction, &[LocalId]),
    side: End,
    places: &BTreeMap<LocalId, StencilPoint>,
    functions: &mut Namer,
) -> Written<SideFunction> {
    let Source { kernel, names, .. } = source;
    let mut writer = Writer::new(source, Form::Row, functions);
    writer.places = places.clone();
    writer.side_interior = Some(true);
    writer.derivatives = equation.map(Equation::derivatives);
    writer.begin_side(side);
    let (statements, yields) = writer.block(block)?;
    let reached = writer.derivatives.as_ref().map_or_else(Vec::new, |derivatives| derivatives.reached.clone());
    let body = match yields.as_slice() {
        [one] => quote! { #statements #one },
        many => quote! { #statements (#(#many),*) },
    };
    let (real, precision) = (writer.reals.ty(), writer.reals.argument());
    let types = results.iter().map(|_| quote! { #real });
    let ty = if results.len() == 1 {
        quote! { #real }
    } else {
        quote! { (#(#types),*) }
    };
    let takes = (writer.uses.has(Use::Grid), writer.uses.has(Use::Axis));
    let mut params = TokenStream::new();
    if takes.0 {
        let grid = writer.uses.item("CartesianGrid");
        params.extend(quote! { grid: &#grid #precision, });
    }
    if takes.1 {
        params.extend(quote! { axis: usize, });
    }
    for (leaf, name) in writer.leaves.clone() {
        let ty = match leaf {
            Leaf::Single(id) => single_type(kernel, &real, id, &mut writer.uses),
            Leaf::PerAxis(_) => quote! { #real },
            Leaf::Element(id, _) => element_type(kernel, &real, id),
            Leaf::Local(id) => writer.type_text(&kernel.local_type(id).ok_or(Failure::Form(Refusal::OtherElement))?),
        };
        params.extend(quote! { #name: #ty, });
    }
    for &(unknown, place) in &reached {
        let name = writer.derivative(unknown, place).ok_or(Failure::Form(Refusal::Columns))?;
        params.extend(quote! { #name: &mut #real, });
    }
    let generic = writer.uses.has(Use::Dim);
    let (generics, turbofish) = if generic { (quote! { <const DIM: usize> }, quote! { ::<DIM> }) } else { (quote! {}, quote! {}) };
    let sum = results.first().map_or("sum", |r| kernel.locals[r.0 as usize].name.as_str());
    let name = ident(&functions.fresh(&format!("{}_{sum}_{}", names.method, side.name())));
    let doc = match (reduction, side) {
        (FaceReduction::Sum, End::Low) => " Term of the low side of a cell where there is a cell beyond; the caller subtracts it.",
        (FaceReduction::Sum, End::High) => " Term of the high side of a cell where there is a cell beyond; the caller adds it.",
        (FaceReduction::Max | FaceReduction::Min, End::Low) => " Term of the low side of a cell where there is a cell beyond.",
        (FaceReduction::Max | FaceReduction::Min, End::High) => " Term of the high side of a cell where there is a cell beyond.",
    };
    let blank = blank();
    let item = quote! {
        #blank
        #[doc = #doc]
        #[inline(always)]
        fn #name #generics(#params) -> #ty { #body }
    };
    let leaves = writer.leaves.into_iter().map(|(leaf, _)| leaf).collect();
    Ok(SideFunction { name, generics: turbofish, takes, leaves, reached, item, uses: writer.uses })
}
