//! Cartesian forms.
//!
//! A full form becomes up to three kinds of function. The *cell* code takes any cell and asks for each side whether it is on the boundary. The *row* function takes
//! the inside of a row, where no side is, with everything it reads as slices of the row's length, so that the compiler can drop bounds checks and use
//! vector instructions. Both call the *side* functions, which give the terms of an interior side from the numbers they depend on. A kernel whose
//! interior terms depend on more than that (run-time subsets, entities chosen by state) has cell code alone.

use std::collections::BTreeMap;

use equelle_front::backend::stencil::Skeleton;
use equelle_front::backend::{KernelNames, Namer};
use equelle_front::ir::{CartesianForm, JacobianForm, KBlock, KStmt, Kernel, LocalId, Module, ParamId, Rounding};
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, Shape};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::faces::face_rows;
use super::method::{args_type, buffers, result_type, results, stores};
use super::outputs::Outputs;
use super::reals::Reals;
use super::row::Equation;
use super::text::{blank, ident, mentions};
use super::writer::{End, Failure, Form, Leaf, Place, SideFunction, Writer, Written};

/// Functions of a Cartesian form.
pub(super) struct Functions {
    /// The one that the method calls, with the grid as last argument; generic over the dimension.
    pub entry: Ident,
    /// All of them.
    pub items: TokenStream,
}

/// Writes a Cartesian form.
pub(super) fn functions(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    form: &CartesianForm,
    functions: &mut Namer,
) -> Written<Functions> {
    match form {
        CartesianForm::PerAxis(block) => per_axis(module, kernel, names, block, functions),
        CartesianForm::Full(block) => full(module, kernel, names, block, None, functions),
    }
}

/// Writes the Cartesian body of a Jacobian form.
pub(super) fn equation(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    form: &JacobianForm,
    block: &KBlock,
    functions: &mut Namer,
) -> Written<Functions> {
    let skeleton = Skeleton::of(form);
    full(module, kernel, names, block, Some(&Equation::new(form, block, &skeleton)), functions)
}

fn entry_signature(module: &Module, kernel: &Kernel, names: &KernelNames, entry: &Ident, body: &TokenStream) -> Written<TokenStream> {
    let args = args_type(kernel, names).map(|ty| {
        let args = ident(if mentions(body, "args") { "args" } else { "_args" });
        quote! { #args: &#ty, }
    });
    let grid = ident(if mentions(body, "grid") { "grid" } else { "_grid" });
    let result = result_type(kernel, names)?;
    let precision = Reals::of(module, kernel).argument();
    let doc = format!(" [`Kernels::{}`] on a Cartesian grid.", names.method);
    let blank = blank();
    Ok(
        quote! { #blank #[doc = #doc] fn #entry<const DIM: usize>(rt: &mut SerialRuntime, #args #grid: &CartesianGrid #precision) -> Result<#result, Error> },
    )
}

/// One value per axis, or one.
fn per_axis(module: &Module, kernel: &Kernel, names: &KernelNames, block: &KBlock, functions: &mut Namer) -> Written<Functions> {
    let storable =
        kernel.results.iter().all(|r| r.reduce.is_none() && r.ty.basic == Basic::Scalar && matches!(r.ty.shape, Shape::Collection(_)));
    let (Some(set), true) = (kernel.space_set(), storable) else { return Err(Failure::Form) };
    let mut writer = Writer::new(module, kernel, names, Form::PerAxis, functions);
    let (statements, yields) = writer.block(block)?;
    let outputs = writer.results.clone();
    let domain = writer.domain(set)?;
    let each = quote! { #statements #(#outputs[axis] = #yields;)* };
    let evaluate = match module.sets.get(set).kind {
        EntityKind::Face => quote! { for axis in 0..DIM { #each } },
        EntityKind::Cell => quote! { #statements #(#outputs[0] = #yields;)* },
        EntityKind::Edge | EntityKind::Vertex => return Err(Failure::Form),
    };
    let collections = outputs.iter().map(|o| {
        let values = writer.reals.stored_per_axis(o);
        quote! { rt.per_axis_collection(domain, #values) }
    });
    let result = match outputs.len() {
        1 => quote! { Ok(#(#collections)*) },
        _ => quote! { Ok((#(#collections),*)) },
    };
    let prelude = writer.prelude();
    let body = quote! {
        #prelude
        let domain = #domain;
        #(let mut #outputs = [0.0; 3];)*
        #evaluate
        #result
    };
    let entry = ident(&functions.fresh(&format!("{}_per_axis", names.method)));
    let signature = entry_signature(module, kernel, names, &entry, &body)?;
    Ok(Functions { items: quote! { #signature { #body } }, entry })
}

/// Cell and row code.
fn full(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    functions: &mut Namer,
) -> Written<Functions> {
    let all_cells = module.sets.canonical(CanonicalSet::ALL_CELLS);
    if kernel.space_set() != Some(all_cells) {
        return Err(Failure::Form);
    }
    let mut writer = Writer::new(module, kernel, names, Form::Cell, functions);
    // Rows that evaluate a face once are made of doubles, and of operations as written.
    let strict = writer.reals == Reals::Double && module.numbers.rounding == Rounding::Strict;
    let rows = match equation {
        None if strict => face_rows(module, kernel, names, block, functions),
        None | Some(_) => Err(Failure::Form),
    };
    let (rows, functions_of_rows) = match rows {
        Ok(rows) => (rows.rows(&mut writer, block)?, rows.items),
        Err(Failure::Form) => cells_and_rows(module, kernel, names, block, equation, functions, &mut writer)?,
        Err(error) => return Err(error),
    };
    let buffers = buffers(&writer, quote! { grid.n_cells() })?;
    let (prepare, more) = equation.map(|equation| equation.prepare(&writer)).unzip();
    let Outputs { whole, part } = Outputs::of(&writer, more);
    let finish = match equation {
        Some(equation) => equation.finish(&writer)?,
        None => results(&writer)?,
    };
    let domain = writer.domain(all_cells)?;
    let prelude = writer.prelude();
    let body = quote! {
        #prelude
        let domain = #domain;
        #buffers
        #prepare
        rt.each_row(grid, #whole, |range, #part| { #rows });
        #finish
    };
    let entry = ident(&functions.fresh(&format!("{}_cartesian", names.method)));
    let signature = entry_signature(module, kernel, names, &entry, &body)?;
    let mut items = quote! { #signature { #body } };
    items.extend(functions_of_rows);
    Ok(Functions { entry, items })
}

/// The loop over the rows of a range, cell by cell, the inside of rows by a function of its own where that can be, and the functions that it calls.
fn cells_and_rows<'a>(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    block: &KBlock,
    equation: Option<&'a Equation<'a>>,
    functions: &mut Namer,
    writer: &mut Writer<'a>,
) -> Written<(TokenStream, TokenStream)> {
    let mut side_functions = Vec::new();
    write_side_functions(module, kernel, names, block, equation, &mut BTreeMap::new(), functions, &mut side_functions)?;
    let row = match row_function(module, kernel, names, block, equation, functions, &side_functions) {
        Ok(row) => Some(row),
        Err(Failure::Form) => None,
        Err(error) => return Err(error),
    };
    writer.side_functions = side_functions.clone();
    writer.derivatives = equation.map(Equation::derivatives);
    let (statements, yields) = writer.block(block)?;
    let here = stores(writer, &quote! { here - range.start }, &yields)?;
    let mut cell = quote! { #statements #here };
    if let Some(equation) = equation {
        let (variables, write) = (equation.variables(writer), equation.write(writer, false));
        cell = quote! { #variables #cell #write };
    }
    if mentions(&cell, "at") {
        let at = quote! { let at = [i, row.j, row.k]; };
        cell = quote! { #at #cell };
    }
    let cell = quote! { let here = row.start + i; #cell };
    let rows = match &row {
        None => quote! { for row in grid.rows_in(&range) { for i in 0..grid.n[0] { #cell } } },
        Some(row) => {
            let call = row.call(writer)?;
            quote! {
                for row in grid.rows_in(&range) {
                    // The cells of this row that may be on the boundary: all, or the first and the last.
                    let step = if row.interior { grid.n[0] - 1 } else { 1 };
                    for i in (0..grid.n[0]).step_by(step) { #cell }
                    if row.interior { #call }
                }
            }
        }
    };
    let items = row.map(|row| row.item).into_iter().chain(side_functions.into_iter().flatten().flatten().map(|f| f.item));
    Ok((rows, items.collect()))
}

/// Side functions of every sum, in the order in which the sums stand.
#[allow(clippy::too_many_arguments)]
fn write_side_functions(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    places: &mut BTreeMap<LocalId, Place>,
    functions: &mut Namer,
    out: &mut Vec<[Option<SideFunction>; 2]>,
) -> Written<()> {
    for statement in &block.statements {
        match statement {
            KStmt::LetEntity { local, path } => {
                let mut writer = Writer::new(module, kernel, names, Form::Cell, functions);
                writer.places = places.clone();
                if let Some(place) = writer.place(path) {
                    places.insert(*local, place);
                }
            }
            KStmt::SumSides { results, low, high } => {
                let mut pair = [None, None];
                for (slot, side, blocks) in [(0, End::Low, low), (1, End::High, high)] {
                    let Some(interior) = &blocks.interior else { continue };
                    pair[slot] = match side_function(module, kernel, names, interior, equation, results, side, places, functions) {
                        Ok(function) => Some(function),
                        Err(Failure::Form) => None,
                        Err(error) => return Err(error),
                    };
                }
                out.push(pair);
            }
            KStmt::If { then, otherwise, .. } => {
                write_side_functions(module, kernel, names, then, equation, &mut places.clone(), functions, out)?;
                write_side_functions(module, kernel, names, otherwise, equation, &mut places.clone(), functions, out)?;
            }
            KStmt::Let { .. } | KStmt::SumFaces { .. } | KStmt::Add { .. } => {}
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn side_function(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    results: &[LocalId],
    side: End,
    places: &BTreeMap<LocalId, Place>,
    functions: &mut Namer,
) -> Written<SideFunction> {
    let mut writer = Writer::new(module, kernel, names, Form::Row, functions);
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
    let takes = (mentions(&body, "grid"), mentions(&body, "axis"));
    let vectors = writer.leaves.iter().any(|(leaf, _)| match leaf {
        Leaf::Single(id) => kernel.params.get(id.0 as usize).is_some_and(|p| p.ty.basic == Basic::Vector),
        Leaf::Local(id) => kernel.local_type(*id).is_some_and(|ty| ty.basic == Basic::Vector),
        Leaf::PerAxis(_) | Leaf::Element(..) => false,
    });
    let (generics, turbofish) =
        if mentions(&body, "DIM") || vectors { (quote! { <const DIM: usize> }, quote! { ::<DIM> }) } else { (quote! {}, quote! {}) };
    let mut params = TokenStream::new();
    if takes.0 {
        params.extend(quote! { grid: &CartesianGrid #precision, });
    }
    if takes.1 {
        params.extend(quote! { axis: usize, });
    }
    for (leaf, name) in &writer.leaves {
        let ty = match leaf {
            Leaf::Single(id) => single_type(kernel, &real, *id),
            Leaf::PerAxis(_) => quote! { #real },
            Leaf::Element(id, _) => element_type(kernel, &real, *id),
            Leaf::Local(id) => writer.type_text(&kernel.local_type(*id).ok_or(Failure::Form)?),
        };
        params.extend(quote! { #name: #ty, });
    }
    for &(unknown, place) in &reached {
        let name = writer.derivative(unknown, place).ok_or(Failure::Form)?;
        params.extend(quote! { #name: &mut #real, });
    }
    let sum = results.first().map_or("sum", |r| kernel.locals[r.0 as usize].name.as_str());
    let name = ident(&functions.fresh(&format!("{}_{sum}_{}", names.method, side.name())));
    let doc = match side {
        End::Low => " Term of the low side of a cell where there is a cell beyond; the caller subtracts it.",
        End::High => " Term of the high side of a cell where there is a cell beyond; the caller adds it.",
    };
    let blank = blank();
    let item = quote! {
        #blank
        #[doc = #doc]
        #[inline(always)]
        fn #name #generics(#params) -> #ty { #body }
    };
    let leaves = writer.leaves.into_iter().map(|(leaf, _)| leaf).collect();
    Ok(SideFunction { name, generics: turbofish, takes, leaves, reached, item })
}

fn single_type(kernel: &Kernel, real: &Ident, id: ParamId) -> TokenStream {
    match kernel.params.get(id.0 as usize).map(|p| p.ty.basic) {
        Some(Basic::Bool) => quote! { bool },
        Some(Basic::Vector) => quote! { [#real; DIM] },
        Some(Basic::Scalar | Basic::Entity(_) | Basic::Text) | None => quote! { #real },
    }
}

fn element_type(kernel: &Kernel, real: &Ident, id: ParamId) -> TokenStream {
    match kernel.params.get(id.0 as usize).map(|p| p.ty.basic) {
        Some(Basic::Bool) => quote! { bool },
        Some(Basic::Scalar | Basic::Vector | Basic::Entity(_) | Basic::Text) | None => quote! { #real },
    }
}

/// The function that evaluates the inside of a row.
struct RowFunction {
    name: Ident,
    generic: bool,
    takes_grid: bool,
    /// It writes rows of a Jacobian.
    adds: bool,
    leaves: Vec<Leaf>,
    item: TokenStream,
}

fn row_function(
    module: &Module,
    kernel: &Kernel,
    names: &KernelNames,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    functions: &mut Namer,
    side_functions: &[[Option<SideFunction>; 2]],
) -> Written<RowFunction> {
    // Vectors are stored component by component, and in a row nobody has indices.
    if kernel.results.iter().any(|r| matches!(r.ty.basic, Basic::Vector | Basic::Entity(_))) {
        return Err(Failure::Form);
    }
    let mut writer = Writer::new(module, kernel, names, Form::Row, functions);
    writer.in_row = true;
    writer.side_functions = side_functions.to_vec();
    writer.derivatives = equation.map(Equation::derivatives);
    let (statements, yields) = writer.block(block)?;
    let outputs = writer.results.clone();
    let first = outputs.first().ok_or(Failure::Form)?;
    let stored = kernel.results.iter().zip(&yields).map(|(result, value)| match result.ty.basic {
        Basic::Scalar => writer.reals.stored(value),
        Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text => quote! { #value },
    });
    let mut each = quote! { #statements #(#outputs[i] = #stored;)* };
    if let Some(equation) = equation {
        let (variables, write) = (equation.variables(&writer), equation.write(&writer, true));
        each = quote! { #variables #each #write };
    }
    let takes_grid = mentions(&each, "grid");
    let (real, precision) = (writer.reals.ty(), writer.reals.argument());
    let kept = writer.reals.kept();

    let mut params = if takes_grid {
        quote! { grid: &CartesianGrid #precision, }
    } else {
        TokenStream::new()
    };
    let mut lanes = TokenStream::new();
    let mut cells = quote! { for i in 0..len };
    if let Some(equation) = equation {
        let width = equation.width();
        params.extend(quote! { entries: &mut [#real], });
        cells = quote! { for (i, row) in (0..len).zip(entries.chunks_exact_mut(#width)) };
    }
    for (result, name) in kernel.results.iter().zip(&outputs) {
        let ty = if result.ty.basic == Basic::Bool {
            quote! { bool }
        } else {
            quote! { #kept }
        };
        params.extend(quote! { #name: &mut [#ty], });
        if name != first {
            lanes.extend(quote! { let #name = &mut #name[..len]; });
        }
    }
    for (leaf, name) in writer.leaves.clone() {
        match leaf {
            Leaf::Single(id) => {
                let ty = single_type(kernel, &real, id);
                params.extend(quote! { #name: #ty, });
            }
            Leaf::PerAxis(_) => params.extend(quote! { #name: [#real; 3], }),
            Leaf::Element(id, Place::Here) => {
                let ty = element_type(kernel, &real, id);
                params.extend(quote! { #name: &[#ty], });
                lanes.extend(quote! { let #name = &#name[..len]; });
            }
            Leaf::Element(id, place @ (Place::SideFace(_) | Place::Neighbour(_))) => {
                if kernel.params.get(id.0 as usize).is_some_and(|p| p.ty.basic != Basic::Scalar) {
                    return Err(Failure::Form);
                }
                params.extend(quote! { #name: [&[#real]; DIM], });
                for axis in 0..3 {
                    if let Some(lane) = writer.lane_name(&name, place, axis) {
                        let axis = Literal::usize_unsuffixed(axis);
                        lanes.extend(quote! { let #lane = lane(&#name, #axis, len); });
                    }
                }
            }
            // The row function has no surrounding block.
            Leaf::Local(_) => return Err(Failure::Form),
        }
    }
    let body = quote! {
        let len = #first.len();
        #lanes
        #cells { #each }
    };
    let generic = mentions(&body, "DIM") || mentions(&params, "DIM");
    let generics = generic.then(|| quote! { <const DIM: usize> });
    let name = ident(&functions.fresh(&format!("{}_row", names.method)));
    let blank = blank();
    let doc = format!(" [`Kernels::{}`] inside a row of cells, where no side is on the boundary.", names.method);
    let item = quote! {
        #blank
        #[doc = #doc]
        #[inline(never)]
        fn #name #generics(#params) { #body }
    };
    let leaves = writer.leaves.into_iter().map(|(leaf, _)| leaf).collect();
    Ok(RowFunction { name, generic, takes_grid, adds: equation.is_some(), leaves, item })
}

impl RowFunction {
    /// Its call for the inside of `row`.
    fn call(&self, writer: &mut Writer) -> Written<TokenStream> {
        let real = writer.reals.ty();
        let mut args = Vec::new();
        let mut arrays = TokenStream::new();
        if self.takes_grid {
            args.push(quote! { grid });
        }
        if self.adds {
            args.push(quote! { entries.rows(first, len) });
        }
        for slice in &writer.slices {
            args.push(quote! { &mut #slice[first - range.start..][..len] });
        }
        for leaf in &self.leaves {
            args.push(match leaf {
                Leaf::Single(id) => {
                    let name = writer.read(*id)?;
                    quote! { #name }
                }
                Leaf::PerAxis(id) => {
                    let name = writer.read_per_axis(*id)?;
                    quote! { #name }
                }
                Leaf::Element(id, Place::Here) => {
                    let name = writer.read(*id)?;
                    quote! { &#name[first..][..len] }
                }
                Leaf::Element(id, Place::Neighbour(side)) => {
                    let (name, array) =
                        (writer.read(*id)?, ident(&writer.namer.fresh(&format!("{}_{}", writer.param(*id)?.1, side.name()))));
                    let start = match side {
                        End::Low => quote! { first - grid.stride[axis] },
                        End::High => quote! { first + grid.stride[axis] },
                    };
                    arrays.extend(quote! { let #array: [&[#real]; DIM] = std::array::from_fn(|axis| &#name[#start..][..len]); });
                    quote! { #array }
                }
                Leaf::Element(id, Place::SideFace(side)) => {
                    let (name, array) =
                        (writer.read(*id)?, ident(&writer.namer.fresh(&format!("{}_{}", writer.param(*id)?.1, side.name()))));
                    let (high, set) = (side.is_high(), writer.set_of(*id)?);
                    let position = match writer.superset(set).extent {
                        Extent::Interior => ident("interior_face"),
                        Extent::All | Extent::Boundary => ident("face"),
                    };
                    let start = quote! { grid.#position([1, row.j, row.k], axis, #high) };
                    arrays.extend(quote! { let #array: [&[#real]; DIM] = std::array::from_fn(|axis| &#name[#start..][..len]); });
                    quote! { #array }
                }
                Leaf::Local(_) => return Err(Failure::Form),
            });
        }
        // Arrays of slices among the arguments tell the dimension.
        let told = self.leaves.iter().any(|l| matches!(l, Leaf::Element(_, Place::SideFace(_) | Place::Neighbour(_))));
        let (name, generics) = (&self.name, (self.generic && !told).then(|| quote! { ::<DIM> }));
        Ok(quote! {
            let (first, len) = (row.start + 1, grid.n[0] - 2);
            #arrays
            #name #generics(#(#args),*);
        })
    }
}

impl Writer<'_> {
    /// In the row function: the name of an element that is read, also where only a side function wants it.
    pub(super) fn element_leaf(&mut self, id: ParamId, place: Place) -> Written<Ident> {
        let (_, name) = self.param(id)?;
        let wanted = match place {
            Place::Here => name.to_string(),
            Place::SideFace(side) | Place::Neighbour(side) => format!("{name}_{}", side.name()),
        };
        Ok(self.leaf(Leaf::Element(id, place), &wanted))
    }

    /// In the row function: the slice of one axis of something that is read beyond or at a side.
    pub(super) fn lane_name(&self, name: &Ident, place: Place, axis: usize) -> Option<Ident> {
        match place {
            Place::Here => None,
            Place::SideFace(_) | Place::Neighbour(_) => Some(ident(&format!("{name}_{}", ["x", "y", "z"][axis]))),
        }
    }
}
