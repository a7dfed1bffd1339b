//! Terms of faces on any grid, from values that are evaluated once for each cell.

use equelle_front::backend::forms::Refusal;
use std::collections::BTreeMap;

use equelle_front::ir::{KBlock, KExpr, LocalId, Path};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::emit::outputs::tuple;
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::stencil_point::FaceNames;
use crate::codegen::emit::text::{Text, ident};
use crate::codegen::emit::writer::{Failure, Writer, Written, reserve};
use crate::codegen::flux::analysis::{FluxAnalysis, analyse_face_terms};
use crate::codegen::flux::dag::{At, Op};
use crate::codegen::flux::function_writer::{FunctionWriter, Kind};

/// Code that makes the terms of a face.
pub(in crate::codegen) struct FaceTerms {
    /// Before the loop over faces: the loop over cells.
    pub cells: TokenStream,
    /// Before the loop over the faces of a range: values of cells, cut to one length that the
    /// compiler knows, so that an index is checked once.
    pub slices: TokenStream,
    /// In the loop over faces.
    pub statements: TokenStream,
    /// The terms.
    pub terms: Vec<Text>,
}

/// Terms of the face that the writer knows best, an interior one. [`Failure::Form`] if nothing in
/// them is of one cell alone, or they ask for something else than values of the face and its two
/// cells.
pub(in crate::codegen) fn face_terms(writer: &mut Writer, face: LocalId, body: &KBlock) -> Written<FaceTerms> {
    let Some(FaceNames { first, second, .. }) = writer.known_faces.last().cloned() else {
        return Err(Failure::Form(Refusal::OtherElement));
    };
    let mut analysis = analyse(writer, face, body)?;
    let method = &writer.names.method;
    let names: Vec<String> = analysis.cells.iter().map(|cell| analysis.dag.name(*cell).to_owned()).collect();
    let mut fresh = |ending: &str| -> Vec<Ident> {
        let names = names.iter().map(|name| ident(&writer.namer.fresh(&format!("{name}_{ending}"))));
        names.collect()
    };
    let (buffers, parts) = (fresh("of_cells"), fresh("of_cells_values"));
    let (mut stored, mut given) = (BTreeMap::new(), BTreeMap::new());
    for (number, (cell, buffer)) in analysis.cells.clone().into_iter().zip(&buffers).enumerate() {
        for (at, end) in [(At::First, &first), (At::Second, &second)] {
            let node = analysis.dag.moved(cell, At::Here, at);
            stored.insert(node, (number, at));
            given.insert(node, Text::atom(quote! { #buffer[#end as usize] }));
        }
    }
    let mut of_cells: Vec<Ident> = buffers.clone();
    for node in analysis.dag.below_until(&analysis.yields, |node| stored.contains_key(&node)) {
        if let Op::Load(id, At::First | At::Second) = analysis.dag.op(node) {
            let (_, name) = writer.param(id)?;
            if !of_cells.contains(&name) {
                of_cells.push(name);
            }
        }
        if !stored.contains_key(&node)
            && let Some(expr) = leaf(analysis.dag.op(node), face)
        {
            given.insert(node, writer.expr(&expr)?);
        }
    }
    let name = writer.cell_functions.0.fresh(&format!("{method}_values"));
    let (function, statements, terms) = {
        let mut namer = writer.namer.clone();
        reserve(&mut namer);
        // No value of a face is stored for a cell.
        let none = BTreeMap::new();
        let cells = FunctionWriter { analysis: &analysis, stored: &none, writer, namer: namer.clone() };
        let doc = format!(" Values of a cell that its faces read in [`Kernels::{method}`], for some cells.");
        let function = cells.function(&name, &doc, &names, &analysis.cells, Kind::Cells)?;
        let faces = FunctionWriter { analysis: &analysis, stored: &stored, writer, namer };
        let mut body = faces.body(0);
        body.given = given;
        let statements = body.statements(&analysis.yields)?;
        let terms = analysis.yields.iter().map(|term| body.value(*term)).collect::<Written<Vec<Text>>>()?;
        let uses = body.uses;
        writer.uses.append(&uses);
        (function, statements, terms)
    };
    let args = function.args(writer, [&[], &[]], |at| match at {
        At::Here => Ok(quote! { [range.clone()] }),
        At::First | At::Second | At::Face => Err(Failure::Form(Refusal::OtherElement)),
    })?;
    writer.cell_functions.1.extend(function.item.clone());
    writer.uses.append(&function.uses);
    let name = &function.name;
    let comment = "Values of a cell that its faces read, once for each cell.";
    let whole = tuple(buffers.iter().map(|buffer| quote! { &mut #buffer[..] }).collect());
    let part = tuple(parts.iter().map(|part| quote! { #part }).collect());
    let cells = quote! {
        __comment!(#comment);
        #(let mut #buffers = rt.take_buffer(cells);)*
        rt.each(cells, #whole, |range, #part| #name(#(#parts,)* #args));
        #(let #buffers = &#buffers[..];)*
    };
    let slices = quote! { #(let #of_cells = &#of_cells[..cells];)* };
    Ok(FaceTerms { cells, slices, statements, terms })
}

/// Number of values of a cell that are evaluated for the terms of faces.
pub(in crate::codegen) fn cell_value_count(writer: &mut Writer, face: LocalId, body: &KBlock) -> u32 {
    analyse(writer, face, body).map_or(0, |analysis| analysis.cells.len() as u32)
}

fn analyse(writer: &mut Writer, face: LocalId, body: &KBlock) -> Written<FluxAnalysis> {
    // Buffers between cells and faces have the type of collections.
    if writer.reals == Reals::Rounded {
        return Err(Failure::Form(Refusal::Numbers));
    }
    let analysis = analyse_face_terms(writer, face, body)?;
    if analysis.cells.is_empty() { Err(Failure::Form(Refusal::NotWorthIt)) } else { Ok(analysis) }
}

/// Returns the expression of a value that is made of no other.
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
