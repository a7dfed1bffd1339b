//! Functions of a kernel, and the loop over rows that calls them.

use std::collections::BTreeMap;

use equelle_front::backend::Namer;
use equelle_front::backend::forms::Refusal;
use equelle_front::ir::KBlock;
use equelle_front::types::{Basic, SetId};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::boundary::boundary;
use super::inside::{Inside, inside};
use crate::codegen::emit::outputs::stores;
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::text::ident;
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written, reserve};
use crate::codegen::flux::analysis::{FluxAnalysis, analyse_cartesian_form};
use crate::codegen::flux::dag::{At, Node};
use crate::codegen::flux::function_writer::{Function, FunctionWriter, Kind};

/// The functions of a kernel.
pub(in crate::codegen) struct FaceRows {
    /// All of them.
    pub items: TokenStream,
    /// References of their text.
    pub uses: Uses,
    cells: Option<Function>,
    faces: Vec<Function>,
    row: Function,
    /// A row with the faces between it and the next one, where rows in the grid are made so.
    row_and_faces: Option<Function>,
    inside: Option<Inside>,
    /// Sets whose cells are evaluated one by one.
    subsets: Vec<SetId>,
    /// Number of stored values of a cell, and number of terms of a face.
    counts: (usize, usize),
}

/// Writes them. [`Failure::Form`] if the kernel is not of that kind.
pub(in crate::codegen) fn face_rows(source: Source<'_>, block: &KBlock, functions: &mut Namer) -> Written<FaceRows> {
    let Source { kernel, names, .. } = source;
    if kernel.results.iter().any(|r| r.ty.basic != Basic::Scalar) {
        return Err(Failure::Form(Refusal::Result));
    }
    let mut writer = Writer::new(source, Form::Cell, functions);
    // Buffers between rows have the type of collections.
    if writer.reals == Reals::Rounded {
        return Err(Failure::Form(Refusal::Numbers));
    }
    // Tells whether there is one.
    boundary(&mut writer, block)?;
    let mut writer = Writer::new(source, Form::Cell, functions);
    let FluxAnalysis { mut dag, yields, subsets, terms, sums, cells, expensive } = analyse_cartesian_form(&mut writer, block)?;
    let mut stored = BTreeMap::new();
    for (number, &cell) in cells.iter().enumerate() {
        for at in [At::First, At::Second] {
            stored.insert(dag.moved(cell, At::Here, at), (number, at));
        }
    }
    let analysis = FluxAnalysis { dag, yields, subsets, terms, sums, cells, expensive };
    let method = &names.method;
    let mut namer = functions.clone();
    reserve(&mut namer);
    for sum in &analysis.sums {
        namer.reserve([writer.local(*sum)?.to_string()]);
    }
    let function_writer = FunctionWriter { analysis: &analysis, stored: &stored, writer: &writer, namer };
    let mut cells = None;
    if !analysis.cells.is_empty() {
        let doc = format!(" Values that [`Kernels::{method}`] needs of one cell, for a row of cells.");
        let outputs: Vec<String> = analysis.cells.iter().map(|node| analysis.dag.name(*node).to_owned()).collect();
        cells =
            Some(function_writer.function(&functions.fresh(&format!("{method}_cells")), &doc, &outputs, &analysis.cells, Kind::Cells)?);
    }
    let mut faces = Vec::new();
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate().filter(|_| !analysis.terms.is_empty()) {
        let doc = format!(" Terms of [`Kernels::{method}`] on faces that {letter} crosses, each between a first and a second cell.");
        let roots: Vec<Node> = analysis.terms.iter().map(|terms| terms[axis]).collect();
        let outputs: Vec<String> = analysis.sums.iter().map(|sum| kernel.locals[sum.0 as usize].name.clone()).collect();
        faces.push(function_writer.function(
            &functions.fresh(&format!("{method}_faces_{letter}")),
            &doc,
            &outputs,
            &roots,
            Kind::Faces(axis),
        )?);
    }
    let outputs: Vec<String> = names.results.clone();
    let doc = match analysis.terms.len() {
        0 => format!(" [`Kernels::{method}`] for a row of cells."),
        _ => format!(" [`Kernels::{method}`] for a row of cells, from the terms of their faces."),
    };
    let row = function_writer.function(&functions.fresh(&format!("{method}_row")), &doc, &outputs, &analysis.yields, Kind::Row)?;
    let cheap = !analysis.expensive && !analysis.terms.is_empty();
    let inside = cheap.then(|| inside(&function_writer, names, functions)).transpose()?;
    let row_and_faces = (analysis.expensive && !analysis.terms.is_empty()).then(|| {
        let doc = format!(" [`Kernels::{method}`] for a row of cells, with the terms of the faces between it and the next row.");
        function_writer.function(
            &functions.fresh(&format!("{method}_row_and_faces_y")),
            &doc,
            &outputs,
            &analysis.yields,
            Kind::RowAndFaces,
        )
    });
    let row_and_faces = row_and_faces.transpose()?;
    let all = std::iter::once(&row).chain(&row_and_faces).chain(&cells).chain(&faces);
    let (mut items, mut uses) = (TokenStream::new(), Uses::default());
    for function in all {
        items.extend(function.item.clone());
        uses.append(&function.uses);
    }
    if let Some(inside) = &inside {
        items.extend(inside.items.clone());
        uses.append(&inside.uses);
    }
    let subsets = analysis.subsets.clone();
    Ok(FaceRows { items, uses, subsets, counts: (analysis.cells.len(), analysis.terms.len()), cells, faces, row, row_and_faces, inside })
}

/// How the terms of the faces of a row are made.
struct Advance {
    /// The closure for faces, where it has a name.
    faces: TokenStream,
    call: TokenStream,
}

impl FaceRows {
    /// The loop over the rows of a range.
    pub(in crate::codegen) fn rows(&self, writer: &mut Writer, block: &KBlock) -> Written<TokenStream> {
        let cells = if self.counts.1 == 0 { self.cell_by_cell(writer)? } else { self.swept(writer, block)? };
        let subsets = self.one_by_one(writer, block)?;
        Ok(quote! { #cells #subsets })
    }

    /// Where no sum asks what is beside a cell, a range is one row.
    fn cell_by_cell(&self, writer: &mut Writer) -> Written<TokenStream> {
        let here = |at| match at {
            At::Here => Ok(quote! { [range.clone()] }),
            At::First | At::Second | At::Face => Err(Failure::Form(Refusal::OtherElement)),
        };
        let (args, name, slices) = (self.row.args(writer, [&[], &[]], here)?, &self.row.name, writer.slices.clone());
        Ok(quote! { #name(#(#slices,)* #args); })
    }

    /// Row after row, with the terms of its faces.
    fn swept(&self, writer: &mut Writer, block: &KBlock) -> Written<TokenStream> {
        let here = |at| match at {
            At::Here => Ok(quote! { [row.start..][..len] }),
            At::First | At::Second | At::Face => Err(Failure::Form(Refusal::OtherElement)),
        };
        let (args, name, slices) = (self.row.args(writer, [&[], &[]], here)?, &self.row.name, writer.slices.clone());
        let generics = &self.row.generics;
        let mut row = quote! { #name #generics(#(&mut #slices[row.start - range.start..][..len],)* #args); };
        let mut with_next = TokenStream::new();
        if let Some(function) = &self.row_and_faces {
            with_next = quote! { let with_next = row.at[1] + 1 < grid.n[1]; };
            let both = self.with_next(function, writer)?;
            row = quote! { if with_next { #both } else { #row } };
        }
        let (cells, terms) = (Literal::usize_unsuffixed(self.counts.0), Literal::usize_unsuffixed(self.counts.1));
        let (boundary, Advance { faces, call: advance }) = (boundary(writer, block)?, self.advance(writer)?);
        let (rows, row) = match &self.inside {
            None => (quote! { strips }, quote! { #advance #row }),
            Some(inside) => {
                let inside_row = inside.row(writer)?;
                (inside.rows(), quote! { if row.inside { #inside_row } else { #advance #row } })
            }
        };
        let (sweep, real) = (writer.uses.item("Sweep"), writer.reals.ty());
        writer.uses.add(Use::Grid);
        Ok(quote! {
            let boundary = #boundary;
            #faces
            let mut sweep = #sweep::<#real, DIM, #cells, #terms>::new(grid);
            for row in sweep.#rows(&range) {
                let len = row.len;
                #with_next
                #row
            }
        })
    }

    /// The call that makes a row and the terms of the faces between it and the next one.
    fn with_next(&self, function: &Function, writer: &mut Writer) -> Written<TokenStream> {
        let of_cells = |field: &str| {
            let field = ident(field);
            let of = (0..self.counts.0).map(Literal::usize_unsuffixed).map(|number| quote! { around.#field[#number] });
            of.collect::<Vec<_>>()
        };
        let (here, next) = (of_cells("here"), of_cells("next"));
        let args = function.args(writer, [&here, &next], |at| match at {
            At::Here => Ok(quote! { [row.start..][..len] }),
            At::Second => Ok(quote! { [faces.second..][..faces.len] }),
            At::First | At::Face => Err(Failure::Form(Refusal::OtherElement)),
        })?;
        let between: Vec<Ident> = (0..self.counts.1).map(|number| ident(&writer.namer.fresh(&format!("between_{number}")))).collect();
        let (name, generics, slices) = (&function.name, &function.generics, &writer.slices);
        let faces = function.reads_faces().then(|| quote! { let faces = around.faces; });
        Ok(quote! {
            let around = sweep.around(&row);
            #faces
            let [#(#between),*] = around.between;
            #name #generics(#(&mut #slices[row.start - range.start..][..len],)* #(#between,)* #args);
        })
    }

    /// Rows take no cell for one of a set made at run time: those are evaluated again, by code that
    /// asks.
    fn one_by_one(&self, writer: &mut Writer, block: &KBlock) -> Written<TokenStream> {
        let mut out = TokenStream::new();
        if self.subsets.is_empty() {
            return Ok(out);
        }
        let (cell, uses) = writer.noted(|writer| {
            let (statements, yields) = writer.block(block)?;
            let stores = stores(writer, &quote! { here - range.start }, &yields)?;
            Ok(quote! { #statements #stores })
        })?;
        writer.uses.append(&uses);
        let at = uses.has(Use::At).then(|| {
            let grid = writer.grid();
            quote! { let at = #grid.at(here); }
        });
        let cells_in = writer.uses.item("cells_in");
        for &set in &self.subsets {
            let domain = writer.domain(set)?;
            out.extend(quote! {
                for here in #cells_in(#domain, &range) { #at #cell }
            });
        }
        Ok(out)
    }

    /// The statement that makes the terms of the faces of a row.
    fn advance(&self, writer: &mut Writer) -> Written<Advance> {
        let mut names = |prefix: &str, count: usize| {
            let names = (0..count).map(|number| ident(&writer.namer.fresh(&format!("{prefix}_{number}"))));
            names.collect::<Vec<_>>()
        };
        let (stored, terms) = (names("value", self.counts.0), names("term", self.counts.1));
        let (of_first, of_second) = (names("first", self.counts.0), names("second", self.counts.0));
        let [first_values, second_values] =
            [&of_first, &of_second].map(|names| names.iter().map(|name| quote! { #name }).collect::<Vec<_>>());
        let cells = match &self.cells {
            None => quote! { |_, []| {} },
            Some(function) => {
                let args = function.args(writer, [&first_values, &second_values], |at| match at {
                    At::Here => Ok(quote! { [cells.clone()] }),
                    At::First | At::Second | At::Face => Err(Failure::Form(Refusal::OtherElement)),
                })?;
                let name = &function.name;
                quote! { |cells, [#(#stored),*]| #name(#(#stored,)* #args) }
            }
        };
        let mut arms = TokenStream::new();
        for (axis, function) in self.faces.iter().enumerate() {
            let args = function.args(writer, [&first_values, &second_values], |at| match at {
                At::First => Ok(quote! { [faces.first..][..faces.len] }),
                At::Second => Ok(quote! { [faces.second..][..faces.len] }),
                At::Here | At::Face => Err(Failure::Form(Refusal::OtherElement)),
            })?;
            let (name, last, axis) = (&function.name, axis == 2, Literal::usize_unsuffixed(axis));
            let pattern = if last {
                quote! { _ }
            } else {
                quote! { #axis }
            };
            arms.extend(quote! { #pattern => #name(#(#terms,)* #args), });
        }
        let used = |names: Vec<Ident>, at: At| {
            let is_read = |number| self.faces.iter().any(|function| function.reads_stored(number, at));
            let shown = names.into_iter().enumerate();
            shown.map(|(number, name)| if is_read(number) { name } else { ident(&format!("_{name}")) }).collect::<Vec<_>>()
        };
        let (of_first, of_second) = (used(of_first, At::First), used(of_second, At::Second));
        let with_next = if self.row_and_faces.is_some() {
            quote! { with_next }
        } else {
            quote! { false }
        };
        // The ends of rows inside the grid need it, too.
        let (faces, argument) = match &self.inside {
            None => (TokenStream::new(), quote! { |faces, [#(#of_first),*], [#(#of_second),*], [#(#terms),*]| match faces.axis { #arms } }),
            Some(_) => {
                let (run, real) = (writer.uses.item("FaceRun"), writer.reals.ty());
                let [values, count] = [self.counts.0, self.counts.1].map(Literal::usize_unsuffixed);
                let closure = quote! {
                    let faces = |faces: &#run,
                                 [#(#of_first),*]: [&[#real]; #values],
                                 [#(#of_second),*]: [&[#real]; #values],
                                 [#(#terms),*]: [&mut [#real]; #count]| match faces.axis { #arms };
                };
                (closure, quote! { &faces })
            }
        };
        Ok(Advance { faces, call: quote! { sweep.advance(&row, #with_next, #cells, #argument, &boundary); } })
    }
}
