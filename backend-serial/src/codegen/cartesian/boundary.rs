//! Terms of single faces on the boundary.

use equelle_front::ir::{KBlock, KStmt};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::emit::place::End;
use crate::codegen::emit::text::{Level, Text, mentions};
use crate::codegen::emit::writer::{Failure, Writer, Written};
use crate::codegen::flux::analysis::has_terms;

/// A closure that gives the terms of all sums for one side of a cell on the boundary.
pub(in crate::codegen) fn boundary(writer: &mut Writer, block: &KBlock) -> Written<TokenStream> {
    let mut before = Vec::new();
    let mut sums: Vec<Ident> = Vec::new();
    let mut ends = [End::Low, End::High].map(|end| (end, TokenStream::new(), Vec::<TokenStream>::new()));
    for statement in &block.statements {
        let KStmt::SumSides { results, low, high } = statement else {
            before.push(writer.statement(statement)?);
            continue;
        };
        for result in results {
            sums.push(writer.local(*result)?);
        }
        // One without terms is the number 0.
        if !has_terms(low, high) {
            continue;
        }
        for ((_, statements, terms), side) in ends.iter_mut().zip([low, high]) {
            let Some(side) = &side.boundary else {
                // Adding nothing is adding 0: a sum that begins with 0 is never -0.
                terms.extend(results.iter().map(|_| quote! { 0.0 }));
                continue;
            };
            let (outer, places) = (writer.side_interior.replace(false), writer.places.clone());
            let written = writer.block(side);
            (writer.side_interior, writer.places) = (outer, places);
            let (more, values) = written?;
            statements.extend(more);
            terms.extend(values.iter().map(|value: &Text| value.at(Level::Choice)));
        }
    }
    let ends = ends.map(|(end, statements, terms)| {
        let high = end.is_high();
        let body = quote! { #statements [#(#terms),*] };
        let face = mentions(&body, "boundary_face").then(|| quote! { let boundary_face = grid.boundary_face(at, axis, #high); });
        quote! { #face #body }
    });
    let [low, high] = &ends;
    let mut body = if low.to_string() == high.to_string() {
        quote! { #low }
    } else {
        quote! { if side.high { #high } else { #low } }
    };
    // What stands before the sums, as far as it is wanted.
    for statement in before.into_iter().rev() {
        if defines(&statement).is_some_and(|names| names.iter().any(|name| mentions(&body, name))) {
            body = quote! { #statement #body };
        }
    }
    if sums.iter().any(|sum| mentions(&body, &sum.to_string())) {
        return Err(Failure::Form);
    }
    for (name, value) in
        [("at", quote! { let at = side.at; }), ("axis", quote! { let axis = side.axis; }), ("here", quote! { let here = side.cell; })]
    {
        if mentions(&body, name) {
            body = quote! { #value #body };
        }
    }
    let side = if mentions(&body, "side") {
        quote! { side }
    } else {
        quote! { _ }
    };
    Ok(quote! { |#side: &Side| { #body } })
}

/// Names that `let name = ..` or `let (a, b) = ..` defines.
fn defines(statement: &TokenStream) -> Option<Vec<String>> {
    use proc_macro2::TokenTree;
    let mut tokens = statement.clone().into_iter();
    match (tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(word), TokenTree::Ident(name)) if word == "let" => Some(vec![name.to_string()]),
        (TokenTree::Ident(word), TokenTree::Group(names)) if word == "let" => {
            let names = names.stream().into_iter().filter_map(|token| match token {
                TokenTree::Ident(name) => Some(name.to_string()),
                _ => None,
            });
            Some(names.collect())
        }
        _ => None,
    }
}
