//! Kernels that read by index: a function of a part of a row, which takes what it reads as slices.

use std::collections::BTreeSet;

use equelle_front::backend::Namer;
use equelle_front::backend::forms::{ChosenForm, LoopForm, Refusal};
use equelle_front::backend::inside::Inside;
use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::{KBlock, ParamId};
use equelle_front::types::{Basic, CanonicalSet, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::function::{Functions, entry_function};
use super::parts::parts;
use super::strips::{Strips, strips};
use crate::codegen::emit::outputs::{Outputs, buffers, results};
use crate::codegen::emit::read::single_type;
use crate::codegen::emit::stencil::steps_text;
use crate::codegen::emit::stencil_point::Leaf;
use crate::codegen::emit::stencil_reads::{Lane, StencilReads};
use crate::codegen::emit::text::{blank, ident};
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};
use crate::codegen::jacobian::by_index::{AtSides, EquationByIndex};

/// Lanes of one type: of numbers, or of truth values.
struct Lanes<'a> {
    basic: Basic,
    lanes: Vec<&'a Lane>,
    /// `LANES`, the array of them; `lanes`; copies of rows.
    names: [Ident; 3],
}

/// What a row function does.
enum Body {
    /// Statements for cell `i`.
    Loop(TokenStream),
    Strips(Strips),
}

/// A body in one loop.
fn one_loop(writer: &mut Writer, body: &KBlock) -> Written<Body> {
    let (statements, yields) = writer.block(body)?;
    let stored = writer.kernel.results.iter().zip(&yields).map(|(result, value)| match result.ty.basic {
        Basic::Scalar => writer.reals.stored(value),
        Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => quote! { #value },
    });
    let stored: Vec<TokenStream> = stored.collect();
    let outputs = &writer.results;
    Ok(Body::Loop(if outputs.len() > 1 && writer.kernel.writes_what_it_reads() {
        // Any of the values may be computed of what a result is written to.
        let values: Vec<Ident> = (0..outputs.len()).map(|_| ident(&writer.namer.fresh("value"))).collect();
        quote! { #statements #(let #values = #stored;)* #(#outputs[i] = #values;)* }
    } else {
        quote! { #statements #(#outputs[i] = #stored;)* }
    }))
}

/// Writes the functions of an equation that reads by index.
pub(in crate::codegen) fn equation_by_index(source: Source<'_>, functions: &mut Namer) -> Written<Functions> {
    let Source { module, kernel, .. } = source;
    let form = kernel.jacobian.as_ref().ok_or(Failure::Form(Refusal::Columns))?;
    let all_cells = Shape::Collection(module.sets.canonical(CanonicalSet::ALL_CELLS));
    let unknowns = &kernel.params[..form.unknowns as usize];
    if unknowns.iter().any(|param| param.ty.shape != all_cells) || kernel.params.iter().any(|param| param.per_axis) {
        return Err(Failure::Form(Refusal::OtherDomain));
    }
    let inside = Inside::of(form).ok_or(Failure::Form(Refusal::Columns))?;
    stencil_rows(source, Some(&EquationByIndex::new(form, &inside, &Skeleton::of(form))), functions)
}

/// The loop of an equation, over cells inside the grid.
fn loop_of_equation<'a>(writer: &mut Writer<'a>, equation: &EquationByIndex<'a>) -> Written<Body> {
    let begin = equation.begin(writer);
    let Body::Loop(each) = one_loop(writer, equation.body())? else { return Err(Failure::Form(Refusal::Columns)) };
    let end = equation.end(writer);
    Ok(Body::Loop(quote! { #begin #each #end }))
}

/// Writes the function that the method calls, and the one of a part of a row. That of an equation
/// evaluates rows of cells inside the grid alone.
pub(in crate::codegen) fn stencil_rows<'a>(
    source: Source<'a>,
    equation: Option<&EquationByIndex<'a>>,
    functions: &mut Namer,
) -> Written<Functions> {
    let Source { module, kernel, names, .. } = source;
    let all_cells = module.sets.canonical(CanonicalSet::ALL_CELLS);
    let fits = |basic| matches!(basic, Basic::Scalar | Basic::Bool);
    if kernel.space_set() != Some(all_cells) || !kernel.results.iter().all(|r| fits(r.ty.basic)) {
        return Err(Failure::Form(Refusal::Result));
    }
    let mut writer = Writer::new(source, Form::Stencil, functions);
    let body = match equation {
        Some(equation) => loop_of_equation(&mut writer, equation)?,
        None => match parts(&mut writer, &kernel.body)? {
            Some(parts) => Body::Strips(strips(&mut writer, &parts)?),
            None => one_loop(&mut writer, &kernel.body)?,
        },
    };
    let outputs = writer.results.clone();
    let first = outputs.first().ok_or(Failure::Form(Refusal::Result))?.clone();
    let (all, lane_of) = writer.stencil.lanes();
    let kinds: Vec<Lanes> = [Basic::Scalar, Basic::Bool]
        .into_iter()
        .map(|basic| {
            let suffix = if basic == Basic::Bool { "_of_truths" } else { "" };
            let names = [format!("LANES{}", suffix.to_uppercase()), format!("lanes{suffix}"), format!("copies{suffix}")].map(|n| ident(&n));
            let of_kind = |lane: &&Lane| kernel.params.get(lane.param.0 as usize).is_some_and(|p| p.ty.basic == basic);
            Lanes { basic, lanes: all.iter().filter(of_kind).collect(), names }
        })
        .filter(|kind| !kind.lanes.is_empty())
        .collect();

    // The function of a part of a row.
    let (real, precision) = (writer.reals.ty(), writer.reals.argument());
    let takes_grid = writer.uses.has(Use::Grid);
    let (mut params, mut args, mut before) = (TokenStream::new(), Vec::new(), TokenStream::new());
    if takes_grid {
        let grid = writer.uses.item("CartesianGrid");
        params.extend(quote! { grid: &#grid #precision, });
        args.push(quote! { grid });
    }
    if writer.stencil.asks_first {
        params.extend(quote! { first: usize, });
        args.push(quote! { segment.first });
    }
    if writer.stencil.asks_rows {
        let row = writer.uses.item("LaneRow");
        params.extend(quote! { rows: &[#row], });
        args.push(quote! { &rows });
    }
    for ((result, name), slice) in kernel.results.iter().zip(&outputs).zip(&writer.slices.clone()) {
        let ty = if result.ty.basic == Basic::Bool { ident("bool") } else { writer.reals.kept() };
        params.extend(quote! { #name: &mut [#ty], });
        args.push(quote! { &mut #slice[start..][..segment.len] });
        if *name != first {
            before.extend(quote! { let #name = &mut #name[..len]; });
        }
    }
    if let Some(equation) = equation {
        let width = equation.width();
        params.extend(quote! { entries: &mut [#real], });
        args.push(quote! { entries.rows(row.start + segment.first, segment.len) });
        before.extend(quote! { let entries = &mut entries.as_chunks_mut::<#width>().0[..len]; });
    }
    for kind in &kinds {
        let (number, lanes) = (Literal::usize_unsuffixed(kind.lanes.len()), &kind.names[1]);
        let ty = if kind.basic == Basic::Bool { ident("bool") } else { real.clone() };
        params.extend(quote! { #lanes: &[&[#ty]; #number], });
        args.push(quote! { &#lanes });
    }
    let mut slices = Vec::new();
    for (((param, _, steps), slice), &lane) in writer.stencil.slices.iter().zip(&lane_of) {
        let lane = &all[lane];
        let basic = kernel.params[param.0 as usize].ty.basic;
        let kind = kinds.iter().find(|kind| kind.basic == basic).ok_or(Failure::Form(Refusal::OtherElement))?;
        let number = kind.lanes.iter().position(|known| *known == lane).ok_or(Failure::Form(Refusal::OtherElement))?;
        let (lanes, number) = (&kind.names[1], Literal::usize_unsuffixed(number));
        let by = if lane.chain.is_empty() { steps.first().map_or(0, |(by, _)| *by) } else { 0 };
        let from = usize::from(by.abs_diff(lane.reach[0]));
        slices.push(if from == 0 {
            quote! { let #slice = &#lanes[#number][..len]; }
        } else {
            let from = Literal::usize_unsuffixed(from);
            quote! { let #slice = &#lanes[#number][#from..][..len]; }
        });
    }
    if let Body::Loop(_) = &body {
        before.extend(slices.iter().cloned());
    }
    for (leaf, name) in writer.leaves.clone() {
        let (ty, value) = match leaf {
            Leaf::Single(id) => (single_type(kernel, &real, id, &mut writer.uses), writer.read(id)?),
            Leaf::PerAxis(id) => (quote! { [#real; 3] }, writer.read_per_axis(id)?),
            Leaf::Element(..) | Leaf::Local(_) => return Err(Failure::Form(Refusal::OtherElement)),
        };
        params.extend(quote! { #name: #ty, });
        args.push(quote! { #value });
    }
    for (_, name, value) in &writer.stencil.before {
        before.extend(quote! { let #name = #value; });
    }
    let strips_buffer = match &body {
        Body::Loop(_) => None,
        Body::Strips(strips) => {
            let strip = writer.uses.item("STRIP");
            params.extend(strips.param(&real, &strip));
            args.push(quote! { &mut strips });
            let number = Literal::usize_unsuffixed(strips.buffers.len());
            Some(quote! { let mut strips = [[0.0; #strip]; #number]; })
        }
    };
    let (dim, asks_ends) = (writer.uses.has(Use::Dim), writer.stencil.asks_ends);
    let mut generics = Vec::new();
    generics.extend(dim.then(|| quote! { const DIM: usize }));
    generics.extend(asks_ends.then(|| quote! { const ENDS: bool }));
    let generics = (!generics.is_empty()).then(|| quote! { <#(#generics),*> });
    let row_name = ident(&functions.fresh(&format!("{}_row", names.method)));
    let (blank, doc) = (blank(), format!(" [`Kernels::{}`] in a part of a row.", names.method));
    let evaluate = match &body {
        Body::Loop(each) => quote! { for i in 0..len { #each } },
        Body::Strips(strips) => strips.text(|number| slices[number].clone()),
    };
    let row_function = quote! {
        #blank
        #[doc = #doc]
        #[inline(never)]
        fn #row_name #generics(#params) {
            let len = #first.len();
            #before
            #evaluate
        }
    };
    let call = |ends: bool| {
        let mut generics = Vec::new();
        generics.extend(dim.then(|| quote! { DIM }));
        generics.extend(asks_ends.then(|| quote! { #ends }));
        let generics = (!generics.is_empty()).then(|| quote! { ::<#(#generics),*> });
        quote! { #row_name #generics(#(#args),*); }
    };
    let (inside, at_ends) = (call(false), call(true));
    let call = if asks_ends && equation.is_none() {
        quote! { if segment.inside { #inside } else { #at_ends } }
    } else {
        inside
    };

    // The loop over rows.
    let rows_text = rows_text(&mut writer);
    let cache = match &body {
        Body::Strips(_) => "L3",
        Body::Loop(_) => "L2",
    };
    let reads_text = reads_text(&all, &ident(cache), &mut writer)?;
    let mut constants = TokenStream::new();
    let (mut copies_of_rows, mut lanes_of_segment) = (TokenStream::new(), TokenStream::new());
    for kind in &kinds {
        let (constant, arrays) = lanes_text(kind, &mut writer)?;
        let [name, lanes, copies] = &kind.names;
        let number = Literal::usize_unsuffixed(kind.lanes.len());
        let (make, row_copies) = (writer.uses.item("lanes_of"), writer.uses.item("RowCopies"));
        constants.extend(constant);
        copies_of_rows.extend(quote! { let mut #copies = #row_copies::new(grid, &ROWS, &#name, READS); });
        lanes_of_segment.extend(quote! {
            let mut #lanes = [&[][..]; #number];
            #make(grid, &segment, &rows, &#name, &[#(#arrays),*], &mut #copies, &mut #lanes);
        });
    }
    let [low, high] = writer.stencil.reach.map(|reach| Literal::usize_unsuffixed(usize::from(reach.unsigned_abs())));
    let (lane_row, n_rows) = (writer.uses.item("LaneRow"), Literal::usize_unsuffixed(writer.stencil.rows.len().max(1)));
    let buffers = buffers(&mut writer, quote! { grid.n_cells() })?;
    let at_sides = equation.map(|equation| equation.at_sides(&mut writer)).transpose()?;
    let more = equation.map(|equation| equation.outputs(&mut writer));
    let Outputs { whole, part } = Outputs::of(&writer, more);
    let finish = match equation {
        Some(equation) => equation.finish(&writer)?,
        None => results(&mut writer)?,
    };
    let domain = writer.domain(all_cells)?;
    let prelude = writer.prelude();
    let (cell_rows, lane_rows) = (writer.uses.item("cell_rows"), writer.uses.item("lane_rows"));
    let way = ident(match &body {
        Body::Strips(_) if asks_ends => "strips_and_ends",
        Body::Strips(_) => "strips",
        Body::Loop(_) if asks_ends => "ends",
        Body::Loop(_) => "whole",
    });
    let (constant, segments) = match equation {
        Some(equation) => (equation.constant(&mut writer), quote! { INSIDE.segments(grid, &row) }),
        None => {
            let cuts = writer.uses.item("Cuts");
            (quote! { const CUTS: #cuts = #cuts::#way([#low, #high]); }, quote! { CUTS.segments(grid.n[0], &row) })
        }
    };
    let (before, cells) = match at_sides {
        Some(AtSides { before, each }) => (
            before,
            Some(quote! {
                if !segment.inside {
                    for position in (row.start + segment.first..).take(segment.len) { #each }
                    continue;
                }
            }),
        ),
        None => (TokenStream::new(), None),
    };
    let body = quote! {
        #rows_text
        #constants
        #reads_text
        #constant
        #prelude
        let domain = #domain;
        #buffers
        #before
        rt.each_row_or_part(grid, #whole, |range, #part| {
            #copies_of_rows
            #strips_buffer
            let mut rows = [#lane_row::default(); #n_rows];
            for row in #cell_rows(grid, &range, READS) {
                #lane_rows(grid, &row, &ROWS, &mut rows);
                for segment in #segments {
                    #cells
                    #lanes_of_segment
                    let start = row.start + segment.first - range.start;
                    #call
                }
            }
        });
        #finish
    };
    let entry = ident(&functions.fresh(&format!("{}_stencil", names.method)));
    let mut uses = writer.function_uses();
    uses.add_all([Use::Grid, Use::Runtime]);
    let mut items = entry_function(source, &entry, &body, &mut uses)?;
    items.extend(row_function);
    Ok(Functions { entry, items, uses, form: ChosenForm::new(LoopForm::Rows) })
}

/// `const ROWS: ..`
fn rows_text(writer: &mut Writer) -> TokenStream {
    let rows = if writer.stencil.rows.is_empty() { vec![Default::default()] } else { writer.stencil.rows.clone() };
    let number = Literal::usize_unsuffixed(rows.len());
    let [offset, offsets] = ["RowOffset", "RowOffsets"].map(|name| writer.uses.item(name));
    let rows = rows.iter().map(|[y, z]| {
        let (y, z) = (steps_text(y, &mut writer.uses), steps_text(z, &mut writer.uses));
        quote! { #offset::new(#y, #z) }
    });
    let rows: Vec<TokenStream> = rows.collect();
    quote! { const ROWS: #offsets<#number> = #offsets::new([#(#rows),*]); }
}

/// `const READS: ..`
fn reads_text(lanes: &[Lane], cache: &Ident, writer: &mut Writer) -> Written<TokenStream> {
    let params: BTreeSet<ParamId> = lanes.iter().map(|lane| lane.param).collect();
    let mut bytes = 0;
    for param in params {
        let of_numbers = writer.param(param)?.0.ty.basic == Basic::Scalar;
        bytes += if !of_numbers {
            1
        } else if writer.reals.kept() == "f32" {
            4
        } else {
            8
        };
    }
    let bytes = Literal::usize_unsuffixed(bytes);
    let around = [0, 1].map(|axis| {
        let mut reach = StencilReads::default();
        writer.stencil.rows.iter().for_each(|row| reach.reaches(&row[axis], 0));
        Literal::usize_unsuffixed(usize::from(reach.reach[1].abs_diff(reach.reach[0])))
    });
    let [rows, planes] = around;
    let [reads, caches] = ["Reads", "TileCache"].map(|name| writer.uses.item(name));
    Ok(quote! { const READS: #reads = #reads { bytes: #bytes, around: [#rows, #planes], cache: #caches::#cache }; })
}

/// `const LANES: ..`, and the arrays that they are of.
fn lanes_text(kind: &Lanes, writer: &mut Writer) -> Written<(TokenStream, Vec<TokenStream>)> {
    let mut arrays = Vec::new();
    let lane_type = writer.uses.item("Lane");
    let mut items = Vec::new();
    for lane in &kind.lanes {
        let array = arrays.iter().position(|known| *known == lane.param).unwrap_or_else(|| {
            arrays.push(lane.param);
            arrays.len() - 1
        });
        let (array, row) = (Literal::usize_unsuffixed(array), Literal::usize_unsuffixed(lane.row));
        let [low, high] = lane.reach.map(Literal::i8_unsuffixed);
        let along = steps_text(&lane.steps(), &mut writer.uses);
        items.push(quote! { #lane_type::new(#array, #row, [#low, #high], #along) });
    }
    let arrays = arrays.into_iter().map(|param| writer.read(param)).collect::<Written<Vec<Ident>>>()?;
    let (name, number) = (&kind.names[0], Literal::usize_unsuffixed(items.len()));
    Ok((quote! { const #name: [#lane_type; #number] = [#(#items),*]; }, arrays.iter().map(|name| quote! { #name }).collect()))
}
