//! Terms of faces on any grid, from values that are evaluated once for each cell.

use std::collections::BTreeMap;

use equelle_front::ir::{KBlock, KExpr, LocalId, Path};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::dag::{At, Op};
use super::find::{Found, terms_of_face};
use super::functions::{Kind, Scribe};
use crate::codegen::outputs::tuple;
use crate::codegen::reals::Reals;
use crate::codegen::text::{Text, ident};
use crate::codegen::writer::{Failure, KnownFace, RESERVED, Writer, Written};

/// How the terms of a face are made.
pub(in crate::codegen) struct OfFace {
    /// Before the loop over faces: the loop over cells, if there is one.
    pub cells: TokenStream,
    /// Before the loop over the faces of a range: values of cells, cut to one length that the compiler knows, so that an index is checked once.
    pub slices: TokenStream,
    /// In the loop over faces.
    pub statements: TokenStream,
    /// The terms.
    pub terms: Vec<Text>,
}

/// Terms of the face that the writer knows best, an interior one. [`Failure::Form`] if nothing in them is of one cell alone, or they ask for something else than values of the face
/// and its two cells.
pub(in crate::codegen) fn terms(writer: &mut Writer, face: LocalId, body: &KBlock) -> Written<OfFace> {
    let Some(KnownFace { first, second, .. }) = writer.known_faces.last().cloned() else { return Err(Failure::Form) };
    let mut found = found(writer, face, body)?;
    let method = &writer.names.method;
    let names: Vec<String> = found.cells.iter().map(|cell| found.dag.name(*cell).to_owned()).collect();
    let mut fresh = |ending: &str| -> Vec<Ident> {
        let names = names.iter().map(|name| ident(&writer.namer.fresh(&format!("{name}_{ending}"))));
        names.collect()
    };
    let (buffers, parts) = (fresh("of_cells"), fresh("of_cells_values"));
    let (mut stored, mut given) = (BTreeMap::new(), BTreeMap::new());
    for (number, (cell, buffer)) in found.cells.clone().into_iter().zip(&buffers).enumerate() {
        for (at, end) in [(At::First, &first), (At::Second, &second)] {
            let node = found.dag.moved(cell, At::Here, at);
            stored.insert(node, (number, at));
            given.insert(node, Text::atom(quote! { #buffer[#end as usize] }));
        }
    }
    let mut of_cells: Vec<Ident> = buffers.clone();
    for node in found.dag.below_until(&found.yields, |node| stored.contains_key(&node)) {
        if let Op::Load(id, At::First | At::Second) = found.dag.op(node) {
            let (_, name) = writer.param(id)?;
            if !of_cells.contains(&name) {
                of_cells.push(name);
            }
        }
        if !stored.contains_key(&node)
            && let Some(expr) = leaf(found.dag.op(node), face)
        {
            given.insert(node, writer.expr(&expr)?);
        }
    }
    let name = writer.cell_functions.0.fresh(&format!("{method}_values"));
    let (function, statements, terms) = {
        let mut namer = writer.namer.clone();
        namer.reserve(RESERVED);
        // No value of a face is stored for a cell.
        let none = BTreeMap::new();
        let cells = Scribe { found: &found, stored: &none, writer, namer: namer.clone() };
        let doc = format!(" What faces need of a cell in [`Kernels::{method}`], for some cells.");
        let function = cells.function(&name, &doc, &names, &found.cells, Kind::Cells)?;
        let faces = Scribe { found: &found, stored: &stored, writer, namer };
        let mut body = faces.body(0);
        body.given = given;
        let statements = body.statements(&found.yields)?;
        let terms = found.yields.iter().map(|term| body.value(*term)).collect::<Written<Vec<Text>>>()?;
        (function, statements, terms)
    };
    let args = function.args(writer, [&[], &[]], |at| match at {
        At::Here => Ok(quote! { [range.clone()] }),
        At::First | At::Second | At::Face => Err(Failure::Form),
    })?;
    writer.cell_functions.1.extend(function.item.clone());
    let name = &function.name;
    let comment = "What faces need of a cell, once for each cell.";
    let whole = tuple(buffers.iter().map(|buffer| quote! { &mut #buffer[..] }).collect());
    let part = tuple(parts.iter().map(|part| quote! { #part }).collect());
    let cells = quote! {
        __comment!(#comment);
        #(let mut #buffers = rt.take_buffer(cells);)*
        rt.each(cells, #whole, |range, #part| #name(#(#parts,)* #args));
        #(let #buffers = &#buffers[..];)*
    };
    let slices = quote! { #(let #of_cells = &#of_cells[..cells];)* };
    Ok(OfFace { cells, slices, statements, terms })
}

/// How many values of a cell are evaluated for the terms of faces.
pub(in crate::codegen) fn values_of_cells(writer: &mut Writer, face: LocalId, body: &KBlock) -> u32 {
    found(writer, face, body).map_or(0, |found| found.cells.len() as u32)
}

fn found(writer: &mut Writer, face: LocalId, body: &KBlock) -> Written<Found> {
    // Functions over cells are written for double precision.
    if writer.reals != Reals::Double {
        return Err(Failure::Form);
    }
    let found = terms_of_face(writer, face, body)?;
    if found.cells.is_empty() { Err(Failure::Form) } else { Ok(found) }
}

/// What is written for a value that is made of no other.
fn leaf(op: Op, face: LocalId) -> Option<KExpr> {
    let face = || Path::Local(face);
    Some(match op {
        Op::Param(id) => KExpr::Param(id),
        Op::Load(param, at) => {
            let at = match at {
                At::First => Path::First(Box::new(face())),
                At::Second => Path::Second(Box::new(face())),
                At::Face => face(),
                At::Here => return None,
            };
            KExpr::Load { param, at }
        }
        Op::Area => KExpr::Measure(face()),
        Op::Normal(component) => KExpr::Component(Box::new(KExpr::Normal(face())), component),
        _ => return None,
    })
}
