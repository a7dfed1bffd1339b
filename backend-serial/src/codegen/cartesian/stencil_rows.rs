//! Kernels that read by index: a function of a part of a row, which takes what it reads as slices.

use std::cmp::Ordering;

use equelle_front::backend::Namer;
use equelle_front::backend::forms::{ChosenForm, LoopForm, Refusal};
use equelle_front::backend::inside::{Inside, InsideForms};
use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::{KBlock, Kernel};
use equelle_front::types::{Basic, CanonicalSet};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::function::{Entry, Functions, entry_function};
use super::inside_rows::InsideRows;
use super::parts::parts;
use super::row_constants::{Lanes, lanes_text, reads_text, rows_text};
use super::strips::{Strips, strips};
use crate::codegen::emit::outputs::{Outputs, buffers, results};
use crate::codegen::emit::read::single_type;
use crate::codegen::emit::stencil_point::Leaf;
use crate::codegen::emit::stencil_reads::Lane;
use crate::codegen::emit::text::{blank, ident};
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};
use crate::codegen::flux::function_writer::face_position;
use crate::codegen::jacobian::by_index::{AtSides, EquationByIndex};

/// Body of a row function.
enum Body {
    /// Statements for cell `i`.
    Loop(TokenStream),
    Strips(Strips),
}

/// A body in one loop, which writes these slices.
fn one_loop(writer: &mut Writer, body: &KBlock, outputs: &[&Output]) -> Written<Body> {
    let (statements, yields) = writer.block(body)?;
    let stored = outputs.iter().zip(&yields).map(|(output, value)| match output.is_bool {
        false => writer.reals.stored(value),
        true => quote! { #value },
    });
    let stored: Vec<TokenStream> = stored.collect();
    let outputs: Vec<&Ident> = outputs.iter().map(|output| &output.name).collect();
    Ok(Body::Loop(if outputs.len() > 1 && writer.kernel.writes_what_it_reads() {
        // Any of the values may be computed of what a result is written to.
        let values: Vec<Ident> = (0..outputs.len()).map(|_| ident(&writer.namer.fresh("value"))).collect();
        quote! { #statements #(let #values = #stored;)* #(#outputs[i] = #values;)* }
    } else {
        quote! { #statements #(#outputs[i] = #stored;)* }
    }))
}

/// Writes the functions of a kernel that has no Cartesian body, for rows of cells inside the grid.
pub(in crate::codegen) fn inside_rows(source: Source<'_>, functions: &mut Namer) -> Written<Functions> {
    let inside = InsideForms::of(source.kernel, &source.module.sets).ok_or(Failure::Form(Refusal::NoCartesianBody))?;
    let body = source.kernel.jacobian.as_ref().map_or(&source.kernel.body, |form| &form.body);
    let skeleton = source.kernel.jacobian.as_ref().map(|form| (form, Skeleton::of(form)));
    let mut write = |inside: &Inside, suffix: &str| {
        let kernel = Kernel { locals: inside.locals.clone(), ..source.kernel.clone() };
        let source = Source { kernel: &kernel, ..source };
        let equation = skeleton.as_ref().map(|(form, skeleton)| EquationByIndex::new(form, inside, skeleton));
        rows(source, Some(&InsideRows { inside, body, equation }), suffix, functions)
    };
    match &inside {
        InsideForms::AnyDimension(inside) => write(inside, ""),
        InsideForms::ByDimension(forms) => {
            let [one, two, three] = &**forms;
            let written = [write(one, "_1d")?, write(two, "_2d")?, write(three, "_3d")?];
            let (mut items, mut uses, form) = (TokenStream::new(), Uses::default(), written[0].form);
            let entries = written.map(|functions| {
                items.extend(functions.items);
                uses.append(&functions.uses);
                functions.entry
            });
            match entries {
                [Entry::AnyDimension(one), Entry::AnyDimension(two), Entry::AnyDimension(three)] => {
                    Ok(Functions { entry: Entry::ByDimension([one, two, three]), items, uses, form })
                }
                _ => Err(Failure::Form(Refusal::Columns)),
            }
        }
    }
}

/// The loop over cells inside the grid.
fn loop_inside<'a>(writer: &mut Writer<'a>, rows: &'a InsideRows<'a>, outputs: &[&Output]) -> Written<Body> {
    let Some(equation) = &rows.equation else { return one_loop(writer, &rows.inside.body, outputs) };
    let begin = equation.begin(writer);
    let Body::Loop(each) = one_loop(writer, &rows.inside.body, outputs)? else { return Err(Failure::Form(Refusal::Columns)) };
    let end = equation.end(writer);
    Ok(Body::Loop(quote! { #begin #each #end }))
}

/// A slice that a row function writes: a result, or a component of one.
struct Output {
    name: Ident,
    is_bool: bool,
}

/// The slices of each result; a Vector has `dim` of them.
fn slices_of_results(writer: &mut Writer, dim: usize) -> Vec<Vec<Output>> {
    let mut slices = Vec::new();
    for (result, name) in writer.kernel.results.iter().zip(writer.results.clone()) {
        let is_bool = result.ty.basic == Basic::Bool;
        slices.push(match result.ty.basic {
            Basic::Vector => ["x", "y", "z"]
                .iter()
                .take(dim)
                .map(|axis| Output { name: ident(&writer.namer.fresh(&format!("{name}_{axis}"))), is_bool })
                .collect(),
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => vec![Output { name, is_bool }],
        });
    }
    slices
}

/// Writes the functions of a kernel that reads by index.
pub(in crate::codegen) fn stencil_rows(source: Source<'_>, functions: &mut Namer) -> Written<Functions> {
    rows(source, None, "", functions)
}

/// Writes the function that the method calls, and the one of a part of a row. With `inside_rows`
/// that evaluates rows of cells inside the grid alone. `suffix` ends their names.
fn rows<'a>(source: Source<'a>, inside_rows: Option<&'a InsideRows<'a>>, suffix: &str, functions: &mut Namer) -> Written<Functions> {
    let Source { module, kernel, names, .. } = source;
    let equation = inside_rows.and_then(|rows| rows.equation.as_ref());
    let all_cells = module.sets.canonical(CanonicalSet::ALL_CELLS);
    let fits = |basic| matches!(basic, Basic::Scalar | Basic::Bool) || basic == Basic::Vector && inside_rows.is_some();
    if kernel.space_set() != Some(all_cells) || !kernel.results.iter().all(|r| fits(r.ty.basic)) {
        return Err(Failure::Form(Refusal::Result));
    }
    let mut writer = Writer::new(source, Form::Stencil, functions);
    writer.faces_across = inside_rows.map(|rows| rows.inside.faces.clone()).unwrap_or_default();
    let slices = slices_of_results(&mut writer, inside_rows.and_then(|rows| rows.inside.dim).unwrap_or_default());
    let outputs: Vec<&Output> = slices.iter().flatten().collect();
    let body = match inside_rows {
        Some(rows) => loop_inside(&mut writer, rows, &outputs)?,
        None => match parts(&mut writer, &kernel.body)? {
            Some(parts) => Body::Strips(strips(&mut writer, &parts)?),
            None => one_loop(&mut writer, &kernel.body, &outputs)?,
        },
    };
    let first = outputs.first().ok_or(Failure::Form(Refusal::Result))?.name.clone();
    let (all, lane_of) = writer.stencil.lanes();
    let kinds: Vec<Lanes> = [Basic::Scalar, Basic::Bool]
        .into_iter()
        .map(|basic| {
            let suffix = if basic == Basic::Bool { "_of_truths" } else { "" };
            let names = [format!("LANES{}", suffix.to_uppercase()), format!("lanes{suffix}"), format!("copies{suffix}")].map(|n| ident(&n));
            let of_kind = |lane: &&Lane| {
                kernel.params.get(lane.array.0.0 as usize).is_some_and(|p| (p.ty.basic == Basic::Bool) == (basic == Basic::Bool))
            };
            Lanes { basic, lanes: all.iter().filter(of_kind).collect(), names }
        })
        .filter(|kind| !kind.lanes.is_empty())
        .collect();

    // The function of a part of a row.
    let (real, precision) = (writer.reals.ty(), writer.reals.argument());
    let takes_grid = writer.uses.has(Use::Grid);
    let (mut params, mut args, mut before) = (TokenStream::new(), Vec::new(), TokenStream::new());
    let mut components_of = TokenStream::new();
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
    for (((result, name), slice), parts) in kernel.results.iter().zip(&writer.results.clone()).zip(&writer.slices.clone()).zip(&slices) {
        let ty = if result.ty.basic == Basic::Bool { ident("bool") } else { writer.reals.kept() };
        if result.ty.basic == Basic::Vector {
            writer.uses.add(Use::Dim);
            let names: Vec<&Ident> = parts.iter().map(|part| &part.name).collect();
            let next = names.iter().map(|_| quote! { components.next() });
            params.extend(quote! { #name: [&mut [#ty]; DIM], });
            args.push(quote! { #slice.each_mut().map(|component| &mut component[start..][..segment.len]) });
            components_of.extend(quote! {
                let mut components = #name.into_iter();
                let (#(Some(#names),)*) = (#(#next,)*) else { return };
            });
        } else {
            params.extend(quote! { #name: &mut [#ty], });
            args.push(quote! { &mut #slice[start..][..segment.len] });
        }
        for Output { name, .. } in parts.iter().filter(|part| part.name != first) {
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
    for ((id, axis, first), slice) in writer.stencil.faces.clone() {
        let (is_truth, name, position) =
            (kernel.params[id.0 as usize].ty.basic == Basic::Bool, writer.read(id)?, face_position(&writer, id)?);
        let ty = if is_truth { ident("bool") } else { real.clone() };
        let places = [quote! { segment.first }, quote! { row.at[0] }, quote! { row.at[1] }];
        let at = places.into_iter().zip(first).map(|(place, by)| {
            let cells = Literal::usize_unsuffixed(usize::from(by.unsigned_abs()));
            match by.cmp(&0) {
                Ordering::Less => quote! { #place - #cells },
                Ordering::Equal => place,
                Ordering::Greater => quote! { #place + #cells },
            }
        });
        let axis = Literal::usize_unsuffixed(axis);
        params.extend(quote! { #slice: &[#ty], });
        args.push(quote! { &#name[grid.#position([#(#at),*], #axis, true)..][..segment.len] });
        before.extend(quote! { let #slice = &#slice[..len]; });
    }
    let mut slices = Vec::new();
    for ((((param, _), _, steps), slice), &lane) in writer.stencil.slices.iter().zip(&lane_of) {
        let lane = &all[lane];
        let of_truths = kernel.params[param.0 as usize].ty.basic == Basic::Bool;
        let kind = kinds.iter().find(|kind| (kind.basic == Basic::Bool) == of_truths).ok_or(Failure::Form(Refusal::OtherElement))?;
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
    let row_name = ident(&functions.fresh(&format!("{}_row{suffix}", names.method)));
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
            #components_of
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
    let call = if asks_ends && inside_rows.is_none() {
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
    let [mut idle_copies, mut copies_of_rows, mut lanes_of_segment, mut give_back] = [(); 4].map(|()| TokenStream::new());
    for kind in &kinds {
        let (constant, arrays) = lanes_text(kind, &mut writer)?;
        let [name, lanes, copies] = &kind.names;
        let number = Literal::usize_unsuffixed(kind.lanes.len());
        let make = writer.uses.item("lanes_of");
        constants.extend(constant);
        let idle = ident(&format!("idle_{copies}"));
        idle_copies.extend(quote! { let #idle = rt.idle_copies(&ROWS, &#name, READS); });
        copies_of_rows.extend(quote! { let mut #copies = #idle.take(grid); });
        give_back.extend(quote! { #idle.give_back(#copies); });
        lanes_of_segment.extend(quote! {
            let mut #lanes = [&[][..]; #number];
            #make(grid, &segment, &rows, &#name, &[#(#arrays),*], &mut #copies, &mut #lanes);
        });
    }
    let [low, high] = writer.stencil.reach.map(|reach| Literal::usize_unsuffixed(usize::from(reach.unsigned_abs())));
    let (lane_row, n_rows) = (writer.uses.item("LaneRow"), Literal::usize_unsuffixed(writer.stencil.rows.len().max(1)));
    let buffers = buffers(&mut writer, quote! { grid.n_cells() })?;
    let at_sides = inside_rows.map(|rows| rows.at_sides(&mut writer)).transpose()?;
    let more = equation.map(|equation| equation.outputs(&mut writer));
    let Outputs { whole, part } = Outputs::of(&writer, more);
    let finish = match equation {
        Some(equation) => equation.finish(&writer)?,
        None => results(&mut writer)?,
    };
    let domain = writer.domain(all_cells)?;
    let info = writer.info();
    let prelude = writer.prelude();
    let (cell_rows, lane_rows) = (writer.uses.item("cell_rows"), writer.uses.item("lane_rows"));
    let way = ident(match &body {
        Body::Strips(_) if asks_ends => "strips_and_ends",
        Body::Strips(_) => "strips",
        Body::Loop(_) if asks_ends => "ends",
        Body::Loop(_) => "whole",
    });
    let (constant, segments) = match inside_rows {
        Some(rows) => (rows.constant(&mut writer), quote! { INSIDE.segments(grid, &row) }),
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
        #idle_copies
        rt.each_row_or_part(grid, &#info, #whole, |range, #part| {
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
            #give_back
        });
        #finish
    };
    let entry = ident(&functions.fresh(&format!("{}_stencil{suffix}", names.method)));
    let mut uses = writer.function_uses();
    uses.add_all([Use::Grid, Use::Runtime]);
    let mut items = entry_function(source, &entry, &body, &mut uses)?;
    items.extend(row_function);
    Ok(Functions { entry: Entry::AnyDimension(entry), items, uses, form: ChosenForm::new(LoopForm::Rows) })
}
