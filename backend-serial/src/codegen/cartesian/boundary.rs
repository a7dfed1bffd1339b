//! Terms of single faces on the boundary.

use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{KBlock, KStmt, LocalId};
use equelle_front::ops::FaceReduction;
use proc_macro2::TokenStream;
use quote::quote;

use crate::codegen::emit::stencil_point::End;
use crate::codegen::emit::text::{Level, Text};
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Writer, Written};
use crate::codegen::flux::analysis::has_terms;

/// Terms that one end of an axis adds.
struct Terms {
    end: End,
    statements: TokenStream,
    terms: Vec<TokenStream>,
    uses: Uses,
}

/// A closure that gives the terms of all sums for one side of a cell on the boundary.
pub(in crate::codegen) fn boundary(writer: &mut Writer, block: &KBlock) -> Written<TokenStream> {
    let mut before = Vec::new();
    let mut sums: Vec<LocalId> = Vec::new();
    let mut ends = [End::Low, End::High].map(|end| Terms { end, statements: TokenStream::new(), terms: Vec::new(), uses: Uses::default() });
    for statement in &block.statements {
        let KStmt::ReduceSides { reduction: FaceReduction::Sum, results, low, high, .. } = statement else {
            before.push((statement, writer.noted(|writer| writer.statement(statement))?));
            continue;
        };
        sums.extend(results);
        // One without terms is the number 0.
        if !has_terms(low, high) {
            continue;
        }
        for (end, side) in ends.iter_mut().zip([low, high]) {
            let Some(side) = &side.boundary else {
                // Adding nothing is adding 0: a sum that begins with 0 is never -0.
                end.terms.extend(results.iter().map(|_| quote! { 0.0 }));
                continue;
            };
            let (outer, places) = (writer.side_interior.replace(false), writer.places.clone());
            let written = writer.noted(|writer| writer.block(side));
            (writer.side_interior, writer.places) = (outer, places);
            let ((more, values), uses) = written?;
            end.statements.extend(more);
            end.terms.extend(values.iter().map(|value: &Text| value.at(Level::Choice)));
            end.uses.append(&uses);
        }
    }
    let mut uses = Uses::default();
    let ends = ends.map(|Terms { end, statements, terms, uses: of_end }| {
        let high = end.is_high();
        uses.append(&of_end);
        let face = of_end.has(Use::BoundaryFace).then(|| quote! { let boundary_face = grid.boundary_face(at, axis, #high); });
        quote! { #face #statements [#(#terms),*] }
    });
    if uses.has(Use::BoundaryFace) {
        uses.add_all([Use::Grid, Use::At, Use::Axis]);
    }
    let [low, high] = &ends;
    let both = low.to_string() == high.to_string();
    let mut body = if both {
        quote! { #low }
    } else {
        quote! { if side.high { #high } else { #low } }
    };
    // Statements before the sums, as far as their locals are used.
    for (statement, (text, more)) in before.into_iter().rev() {
        if defines(statement).iter().any(|local| uses.has(Use::Local(*local))) {
            body = quote! { #text #body };
            uses.append(&more);
        }
    }
    if sums.iter().any(|sum| uses.has(Use::Local(*sum))) {
        return Err(Failure::Form(Refusal::BoundaryTerms));
    }
    let mut side = !both;
    for (what, value) in [
        (Use::At, quote! { let at = side.at; }),
        (Use::Axis, quote! { let axis = side.axis; }),
        (Use::Here, quote! { let here = side.cell; }),
    ] {
        if uses.has(what) {
            body = quote! { #value #body };
            side = true;
        }
    }
    let side = if side {
        quote! { side }
    } else {
        quote! { _ }
    };
    writer.uses.append(&uses);
    let side_type = writer.uses.item("Side");
    Ok(quote! { |#side: &#side_type| { #body } })
}

/// The locals that a statement defines.
fn defines(statement: &KStmt) -> &[LocalId] {
    match statement {
        KStmt::Let { local, .. } | KStmt::LetEntity { local, .. } => std::slice::from_ref(local),
        KStmt::If { results, .. } | KStmt::ReduceFaces { results, .. } | KStmt::ReduceSides { results, .. } => results,
        KStmt::Add { .. } => &[],
    }
}
