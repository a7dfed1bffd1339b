//! Text of what is read by index, in [`Form::Stencil`](super::writer::Form::Stencil).

use equelle_front::backend::forms::Refusal;
use equelle_front::backend::inside::FaceAcross;
use equelle_front::backend::offset_steps::{Steps, offset_steps};
use equelle_front::ir::Path;
use equelle_front::ops::{CellFact, Offset, SideMap};
use equelle_front::types::{Basic, CanonicalSet};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::stencil_reads::Array;
use super::text::{Level, Text, ident};
use super::uses::{Use, Uses};
use super::writer::{Failure, Writer, Written};

/// The map as the runtime calls it.
pub(super) fn side_map(map: SideMap) -> &'static str {
    match map {
        SideMap::Wrap => "Wrap",
        SideMap::Mirror => "Mirror",
        SideMap::MirrorAt => "MirrorAt",
        SideMap::Clamp => "Clamp",
        SideMap::Never => "Never",
    }
}

/// `&[(1, [SideMap::Never, SideMap::Wrap])]`
pub(in crate::codegen) fn steps_text(steps: &[(i8, [SideMap; 2])], uses: &mut Uses) -> TokenStream {
    let steps = steps.iter().map(|(by, maps)| {
        let side = uses.item("SideMap");
        let (by, maps) = (Literal::i8_unsuffixed(*by), maps.map(|map| ident(side_map(map))));
        let [low, high] = maps.map(|map| quote! { #side::#map });
        quote! { (#by, [#low, #high]) }
    });
    quote! { &[#(#steps),*] }
}

/// `_xp1`, `_ym2`
fn offset_name(axis: usize, by: i32) -> String {
    let sign = if by < 0 { "m" } else { "p" };
    format!("_{}{sign}{}", ["x", "y", "z"][axis], by.unsigned_abs())
}

/// Name of where steps along an axis lead; none for no steps.
fn steps_name(axis: usize, steps: &[(i8, [SideMap; 2])]) -> Option<String> {
    (!steps.is_empty()).then(|| offset_name(axis, steps.iter().map(|(by, _)| i32::from(*by)).sum()))
}

/// The steps from the current cell to the end of a path. Of the side that a step does not approach
/// the map says nothing, so that steps are the same more often.
pub(in crate::codegen) fn steps(writer: &Writer<'_>, path: &Path) -> Written<[Steps; 3]> {
    let mut steps = offset_steps(path, &writer.stencil.cells).ok_or(Failure::Form(Refusal::ChosenEntity))?;
    for (by, maps) in steps.iter_mut().flatten() {
        maps[usize::from(*by < 0)] = SideMap::Never;
    }
    Ok(steps)
}

/// True if a path is known to lead to a cell; then what is asked of it needs no look.
pub(in crate::codegen) fn leads_to_cell(writer: &Writer<'_>, path: &Path) -> bool {
    steps(writer, path).is_ok()
}

/// An element, in [`super::writer::Form::Stencil`]; of Vectors this component of one.
pub(in crate::codegen) fn stencil_load(writer: &mut Writer<'_>, array: Array, path: &Path) -> Written<Text> {
    let (id, component) = array;
    if let Path::Select { condition, if_true, if_false } = path {
        let condition = writer.expr(condition)?;
        let (if_true, if_false) = (stencil_load(writer, array, if_true)?, stencil_load(writer, array, if_false)?);
        return Ok(Text::choice(&condition, &if_true, &if_false));
    }
    if let Path::Local(local) = path
        && let Some(FaceAcross { axis, first: Some(first) }) = writer.faces_across.get(local).copied()
    {
        return face_load(writer, array, axis, first);
    }
    let (param, name) = writer.param(id)?;
    let all_cells = writer.module.sets.canonical(CanonicalSet::ALL_CELLS);
    let fits = match component {
        None => matches!(param.ty.basic, Basic::Scalar | Basic::Bool),
        Some(_) => param.ty.basic == Basic::Vector && writer.kernel.result_in(id).is_none(),
    };
    if !fits || writer.set_of(id)? != all_cells {
        return Err(Failure::Form(Refusal::OtherElement));
    }
    let [x, y, z] = steps(writer, path)?;
    if let Some(result) = writer.kernel.result_in(id) {
        // The result is written where this value was, after everything has been computed.
        let result = &writer.results[result];
        return if x.is_empty() && y.is_empty() && z.is_empty() {
            Ok(Text::atom(quote! { #result[i] }))
        } else {
            Err(Failure::Form(Refusal::OtherElement))
        };
    }
    let axis = component.map(|axis| ["_0", "_1", "_2"][axis as usize % 3]).unwrap_or_default();
    let wanted: String = [&x, &y, &z].into_iter().enumerate().filter_map(|(axis, steps)| steps_name(axis, steps)).collect();
    let wanted = format!("{axis}{wanted}");
    let row = writer.stencil.row([y, z]);
    writer.stencil.reaches(&x, 0);
    let read = (array, row, x);
    if let Some(number) = writer.stencil.slices.iter().position(|(known, _)| *known == read) {
        writer.stencil.touched.insert(number);
        let slice = &writer.stencil.slices[number].1;
        return Ok(Text::atom(quote! { #slice[i] }));
    }
    let free = wanted.is_empty() && !writer.stencil.slices.iter().any(|(_, slice)| *slice == name);
    let slice = if free { name } else { ident(&writer.namer.fresh(&format!("{name}{wanted}"))) };
    writer.stencil.touched.insert(writer.stencil.slices.len());
    writer.stencil.slices.push((read, slice.clone()));
    Ok(Text::atom(quote! { #slice[i] }))
}

/// An element on a face across an axis, whose first cell is at an offset.
fn face_load(writer: &mut Writer<'_>, (id, component): Array, axis: usize, first: Offset) -> Written<Text> {
    let (param, name) = writer.param(id)?;
    if component.is_some() || !matches!(param.ty.basic, Basic::Scalar | Basic::Bool) {
        return Err(Failure::Form(Refusal::OtherElement));
    }
    let read = (id, axis, first);
    let known = writer.stencil.faces.iter().find(|(known, _)| *known == read).map(|(_, slice)| slice.clone());
    let slice = known.unwrap_or_else(|| {
        let offset: String = (0..3).filter(|&axis| first[axis] != 0).map(|axis| offset_name(axis, first[axis].into())).collect();
        let slice = ident(&writer.namer.fresh(&format!("{name}_{}{offset}", ["x", "y", "z"][axis])));
        writer.stencil.faces.push((read, slice.clone()));
        slice
    });
    Ok(Text::atom(quote! { #slice[i] }))
}

/// A number or truth of a row, defined before the loop.
fn before_row(writer: &mut Writer<'_>, wanted: &str, value: TokenStream) -> Ident {
    let key = value.to_string();
    if let Some((_, name, _)) = writer.stencil.before.iter().find(|(known, _, _)| *known == key) {
        return name.clone();
    }
    let name = ident(&writer.namer.fresh(wanted));
    writer.stencil.before.push((key, name.clone(), value));
    name
}

/// The place of the end of a path along the row: `first + i`, or where steps from there lead.
fn place_in_row(writer: &mut Writer<'_>, steps: &[(i8, [SideMap; 2])]) -> TokenStream {
    writer.stencil.asks_first = true;
    writer.stencil.reaches(steps, 0);
    if steps.is_empty() {
        return quote! { first + i };
    }
    writer.stencil.asks_ends = true;
    let (after, steps, grid) = (writer.uses.item("after_in_row"), steps_text(steps, &mut writer.uses), writer.grid());
    quote! { #after::<ENDS>(first + i, #steps, #grid.n[0]) }
}

/// The centroid of the cell at the end of a path; across the row it does not change along it.
pub(in crate::codegen) fn stencil_centroid(writer: &mut Writer<'_>, path: &Path) -> Written<Text> {
    let [x, y, z] = steps(writer, path)?;
    let row = Literal::usize_unsuffixed(writer.stencil.row([y, z]));
    writer.stencil.asks_rows = true;
    let (along, row) = (place_in_row(writer, &x), before_row(writer, "at_row", quote! { rows[#row].at }));
    writer.uses.add(Use::Dim);
    let grid = writer.grid();
    Ok(Text::atom(quote! { #grid.cell_centroid::<DIM>([#along, #row[0], #row[1]]) }))
}

/// Position of a cell in the grid.
pub(in crate::codegen) fn stencil_fact(writer: &mut Writer<'_>, fact: CellFact, path: &Path) -> Written<Text> {
    let [x, y, z] = steps(writer, path)?;
    let row = writer.stencil.row([y, z]);
    let number = Literal::usize_unsuffixed(row);
    let place = |writer: &mut Writer<'_>, axis: usize| {
        if axis == 0 {
            return place_in_row(writer, &x);
        }
        writer.stencil.asks_rows = true;
        let axis = Literal::usize_unsuffixed(axis - 1);
        quote! { rows[#number].at[#axis] }
    };
    let whole_place = |writer: &mut Writer<'_>, axis: usize| {
        let (place, grid, axis) = (place(writer, axis), writer.grid(), Literal::usize_unsuffixed(axis));
        quote! { #grid.whole_layer(#axis, #place) }
    };
    let axis_name = |axis: usize| ["x", "y", "z"].get(axis).copied().ok_or(Failure::Form(Refusal::CellFact));
    Ok(match fact {
        CellFact::Outside { axis, by } => {
            let (axis, name) = (usize::from(axis), axis_name(usize::from(axis))?);
            let place = place(writer, axis);
            let (is_beyond, grid) = (writer.uses.item("is_beyond"), writer.grid());
            let (number, offset) = (Literal::usize_unsuffixed(axis), Literal::i8_unsuffixed(by));
            let beyond = quote! { #is_beyond(#place, #offset, #grid.n[#number]) };
            if axis == 0 {
                writer.stencil.reaches(&x, by);
                writer.stencil.asks_ends = true;
                return Ok(Text::new(Level::And, quote! { ENDS && #beyond }));
            }
            let name = before_row(writer, &format!("is_beyond_{name}"), beyond);
            Text::atom(quote! { #name })
        }
        CellFact::Index(axis) => {
            let (axis, name) = (usize::from(axis), axis_name(usize::from(axis))?);
            let place = whole_place(writer, axis);
            let ty = writer.reals.ty();
            // Conversions of 32-bit integers are vector instructions everywhere.
            let index = quote! { #place as i32 as #ty };
            if axis == 0 {
                return Ok(Text::cast(index));
            }
            Text::atom(before_row(writer, &format!("index_{name}"), index))
        }
        CellFact::Even(axes) => {
            let rows: Vec<TokenStream> = (1..3).filter(|&axis| axes[axis]).map(|axis| whole_place(writer, axis)).collect();
            let of_row = (!rows.is_empty()).then(|| before_row(writer, "index_of_row", quote! { #(#rows)+* }));
            let along = axes[0].then(|| whole_place(writer, 0));
            let sum = match (along, of_row) {
                (Some(along), Some(of_row)) => quote! { (#along + #of_row) },
                (Some(along), None) => along,
                (None, Some(of_row)) => quote! { #of_row },
                (None, None) => quote! { 0 },
            };
            Text::new(Level::Compare, quote! { #sum % 2 == 0 })
        }
    })
}
