//! Equations: the residual and its row of the Jacobian in one pass.
//!
//! An equation becomes two functions. The *pattern* tells once which derivatives each element has,
//! from the skeleton of the Jacobian form; the other one evaluates, and adds each derivative to the
//! slot of the row that the stencil says. Both are written from one form with the same decisions,
//! so that additions come in the same order.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::backend::Namer;
use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::{JacobianForm, Space};
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::derivatives::{Derivatives, Target};
use crate::codegen::emit::outputs::{Outputs, Values, buffers, stores};
use crate::codegen::emit::text::ident;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};
use crate::codegen::signature::{GeneralBody, GeneralFunction, generic_function};
use crate::codegen::unstructured::function::loop_over;

/// The function that evaluates, its item with the pattern's.
pub(in crate::codegen) fn unstructured_equation<'a>(
    source: Source<'a>,
    form: &'a JacobianForm,
    [name, pattern_name]: [Ident; 2],
    functions: &Namer,
) -> Written<GeneralFunction> {
    let skeleton = Skeleton::of(form);
    match evaluation(source, form, &skeleton, Target::Slots, [&name, &pattern_name], functions) {
        Err(Failure::Form(_)) => evaluation(source, form, &skeleton, Target::Search, [&name, &pattern_name], functions),
        written => written,
    }
}

fn evaluation(
    source: Source<'_>,
    form: &JacobianForm,
    skeleton: &Skeleton,
    target: Target,
    [name, pattern_name]: [&Ident; 2],
    functions: &Namer,
) -> Written<GeneralFunction> {
    let Source { kernel, names, .. } = source;
    let new = |target, twice, diagonals| {
        let derivatives = Derivatives { twice, diagonals, ..Derivatives::new(target, skeleton) };
        let mut writer = Writer::new(source, Form::General, functions);
        writer.derivatives = Some(derivatives);
        writer
    };
    let mut writer = new(target, BTreeMap::new(), BTreeSet::new());
    let Space::Set(set) = kernel.space else { return Err(writer.internal("an equation that is over no set")) };
    let (statements, yields) = writer.block(&form.body)?;
    let (twice, diagonals) = match &writer.derivatives {
        Some(derivatives) => (derivatives.twice.clone(), derivatives.diagonals.clone()),
        None => (BTreeMap::new(), BTreeSet::new()),
    };

    // The pattern, with the decisions of the evaluation.
    let mut telling = new(Target::Pattern, twice, diagonals.clone());
    let (told, _) = telling.block(&skeleton.block)?;
    let numbers: Vec<Literal> = diagonals.iter().map(|&k| Literal::usize_unsuffixed(k as usize)).collect();
    let told = quote! { #(pattern.add(#numbers, position);)* #told pattern.end_row(); };
    let domain = telling.domain(set)?;
    let loop_ = each(&telling, set, &told);
    let prelude = telling.prelude();
    let pattern_type = telling.uses.item("Pattern");
    let body = GeneralBody {
        tokens: quote! { #prelude let domain = #domain; #loop_ Ok(()) },
        uses: telling.function_uses(),
        result: Some(quote! { () }),
        extra: quote! { , pattern: &mut #pattern_type },
        doc: format!(" Which derivatives [`Kernels::{}`] has, element by element.", names.method),
    };
    let pattern = generic_function(source, pattern_name.clone(), body)?;

    let own: Vec<Ident> = diagonals.iter().map(|k| writer.diagonal(*k)).collect();
    let places: Vec<Ident> = own.iter().map(|name| ident(&writer.namer.fresh(&format!("{name}_slot")))).collect();
    let (begin, end) = match target {
        Target::Slots => {
            (quote! { #(let #places = usize::from(slots[next]); next += 1; let mut #own = 0.0;)* }, quote! { #(row[#places] += #own;)* })
        }
        Target::Search | Target::Pattern | Target::Places | Target::Offsets => {
            (quote! { #(let mut #own = 0.0;)* }, quote! { #(row[pattern.place(position, #numbers, position)] += #own;)* })
        }
    };
    let begin_row = quote! {
        let row = entries.row(position);
        row.fill(0.0);
    };
    let (slots, begin_range) = match target {
        Target::Slots => (quote! { let slots = stencil.slots(); }, quote! { let slots = slots.from(range.start); let mut next = 0; }),
        Target::Search | Target::Pattern | Target::Places | Target::Offsets => {
            (quote! { let pattern = stencil.rows(); }, TokenStream::new())
        }
    };
    let domain = writer.domain(set)?;
    let buffers = buffers(&mut writer, quote! { domain.len() })?;
    let stores = stores(&mut writer, &quote! { position - range.start }, &yields)?;
    let entries = writer.uses.item("Entries");
    let entries = Outputs { whole: quote! { #entries::new(stencil.row_ptr(), &mut rows[..]) }, part: quote! { mut entries } };
    let values = Values::stored(&writer, Outputs::of(&writer, Some(entries)));
    let each = quote! { #begin_row #begin #statements #stores #end };
    let loop_ = loop_over(&mut writer, set, &values, &begin_range, &each);
    let prelude = writer.prelude();
    let info = writer.info();
    writer.uses.add_all([Use::Runtime, Use::Args]);
    let unknowns = names.params.iter().take(form.unknowns as usize).map(|p| ident(p));
    // Paths lead through these; the pattern is that of their entities.
    let entities = kernel
        .params
        .iter()
        .zip(&names.params)
        .filter(|(p, _)| matches!((p.ty.basic, p.ty.shape), (Basic::Entity(_), Shape::Collection(_))));
    let entities = entities.map(|(_, p)| ident(p));
    if pattern.takes_dim {
        writer.uses.add(Use::Dim);
    }
    if pattern.grid.is_some() {
        writer.uses.add(Use::Grid);
    }
    let call_generics = pattern.takes_dim.then(|| {
        if pattern.grid.is_some() {
            quote! { ::<DIM, _> }
        } else {
            quote! { ::<DIM> }
        }
    });
    let call_grid = pattern.grid.map(|_| quote! { , grid });
    let result = writer.results.first().cloned().ok_or_else(|| writer.internal("an equation without a residual"))?;
    let body = quote! {
        #prelude
        let domain = #domain;
        let stencil = rt.stencil(&#info, domain, &[#(args.#unknowns),*], &[#(args.#entities),*], |rt, pattern| {
            #pattern_name #call_generics(rt, args #call_grid, pattern)
        })?;
        #buffers
        let mut rows = rt.take_entries(stencil.entries());
        #slots
        #loop_
        let #result = rt.scalar_collection_from(domain, #result);
        Ok(rt.equation(#result, &stencil, rows))
    };
    let doc = format!(" [`Kernels::{}`] on any grid: the residual, and its derivatives by the unknowns.", names.method);
    let body = GeneralBody { tokens: body, uses: writer.function_uses(), result: None, extra: TokenStream::new(), doc };
    let mut written = generic_function(source, name.clone(), body)?;
    written.item.extend(pattern.item);
    written.uses.append(&pattern.uses);
    written.grid = written.grid.map(|grid| grid.or(pattern.grid.unwrap_or_default()));
    Ok(written)
}

/// The loop over the elements of the space.
fn each(writer: &Writer, set: equelle_front::types::SetId, body: &TokenStream) -> TokenStream {
    if !writer.uses.has(Use::Here) {
        quote! { for position in 0..domain.len() { #body } }
    } else if writer.is_all(set) {
        quote! { for position in 0..domain.len() { let here = position as u32; #body } }
    } else {
        quote! { for (position, &here) in domain.elements().iter().enumerate() { #body } }
    }
}
