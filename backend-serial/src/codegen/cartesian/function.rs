//! The function of a Cartesian form that the trait method calls, and the loop over rows of cells in
//! it.

use std::collections::BTreeMap;

use equelle_front::backend::Namer;
use equelle_front::backend::forms::{ChosenForm, LoopForm, Refusal};
use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::{CartesianForm, JacobianForm, KBlock};
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::flux_rows::face_rows;
use super::row_function::row_function;
use super::side_function::write_side_functions;
use crate::codegen::emit::outputs::{Outputs, buffers, results, stores};
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::text::{blank, ident};
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};
use crate::codegen::jacobian::cartesian::Equation;
use crate::codegen::signature::{args_type, argument, result_type};

/// Functions of a Cartesian form.
pub(in crate::codegen) struct Functions {
    /// Those that the method calls, with the grid as last argument; generic over the dimension.
    pub entry: Entry,
    /// All of them.
    pub items: TokenStream,
    /// References of their text.
    pub uses: Uses,
    /// The loop in them.
    pub form: ChosenForm,
}

/// The function for the current grid.
pub(in crate::codegen) enum Entry {
    /// One for all grids.
    AnyDimension(Ident),
    /// One for each number of dimensions, from one on.
    ByDimension([Ident; 3]),
}

/// Writes a Cartesian form.
pub(in crate::codegen) fn cartesian_functions(source: Source<'_>, form: &CartesianForm, functions: &mut Namer) -> Written<Functions> {
    match form {
        CartesianForm::PerAxis(block) => per_axis(source, block, functions),
        CartesianForm::Full(block) => full(source, block, None, functions),
    }
}

/// Writes the Cartesian body of a Jacobian form.
pub(in crate::codegen) fn cartesian_equation(
    source: Source<'_>,
    form: &JacobianForm,
    block: &KBlock,
    functions: &mut Namer,
) -> Written<Functions> {
    let skeleton = Skeleton::of(form);
    full(source, block, Some(&Equation::new(form, block, &skeleton)), functions)
}

/// The function that the method calls, for a body that refers to `uses`.
pub(super) fn entry_function(source: Source<'_>, entry: &Ident, body: &TokenStream, uses: &mut Uses) -> Written<TokenStream> {
    let Source { module, kernel, names, .. } = source;
    let args = args_type(kernel, names).map(|ty| {
        let args = argument("args", uses, Use::Args);
        if kernel.writes_what_it_reads() {
            quote! { #args: #ty, }
        } else {
            quote! { #args: &#ty, }
        }
    });
    let grid = argument("grid", uses, Use::Grid);
    let (result, grid_type) = (result_type(kernel, uses)?, uses.item("CartesianGrid"));
    let precision = Reals::of(module, kernel).argument();
    let doc = format!(" [`Kernels::{}`] on a Cartesian grid.", names.method);
    let blank = blank();
    Ok(quote! {
        #blank
        #[doc = #doc]
        fn #entry<const DIM: usize>(rt: &mut SerialRuntime, #args #grid: &#grid_type #precision) -> Result<#result, Error> { #body }
    })
}

/// One value per axis, or one.
fn per_axis(source: Source<'_>, block: &KBlock, functions: &mut Namer) -> Written<Functions> {
    let Source { module, kernel, names, .. } = source;
    let storable =
        kernel.results.iter().all(|r| r.reduce.is_none() && r.ty.basic == Basic::Scalar && matches!(r.ty.shape, Shape::Collection(_)));
    let (Some(set), true) = (kernel.space_set(), storable) else { return Err(Failure::Form(Refusal::Result)) };
    let mut writer = Writer::new(source, Form::PerAxis, functions);
    let (statements, yields) = writer.block(block)?;
    let outputs = writer.results.clone();
    let domain = writer.domain(set)?;
    let each = quote! { #statements #(#outputs[axis] = #yields;)* };
    let evaluate = match module.sets.get(set).kind {
        EntityKind::Face => quote! { for axis in 0..DIM { #each } },
        EntityKind::Cell => quote! { #statements #(#outputs[0] = #yields;)* },
        EntityKind::Edge | EntityKind::Vertex => return Err(Failure::Form(Refusal::OtherDomain)),
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
    let mut uses = writer.function_uses();
    let items = entry_function(source, &entry, &body, &mut uses)?;
    Ok(Functions { items, entry: Entry::AnyDimension(entry), uses, form: ChosenForm::new(LoopForm::PerAxis) })
}

/// Cell and row code.
fn full(source: Source<'_>, block: &KBlock, equation: Option<&Equation<'_>>, functions: &mut Namer) -> Written<Functions> {
    let Source { module, kernel, names, .. } = source;
    let all_cells = module.sets.canonical(CanonicalSet::ALL_CELLS);
    if kernel.space_set() != Some(all_cells) {
        return Err(Failure::Form(Refusal::OtherDomain));
    }
    let mut writer = Writer::new(source, Form::Cell, functions);
    let rows = match equation {
        None => face_rows(source, block, functions),
        // Derivatives are written cell by cell or by the row function.
        Some(_) => Err(Failure::Form(Refusal::Columns)),
    };
    let (rows, functions_of_rows, uses_of_rows, form) = match rows {
        Ok(rows) => (rows.rows(&mut writer, block)?, rows.items, rows.uses, ChosenForm::new(LoopForm::Rows)),
        Err(Failure::Form(_)) => cells_and_rows(source, block, equation, functions, &mut writer)?,
        Err(error) => return Err(error),
    };
    let buffers = buffers(&mut writer, quote! { grid.n_cells() })?;
    let (prepare, more) = equation.map(|equation| equation.prepare(&mut writer)).unzip();
    let Outputs { whole, part } = Outputs::of(&writer, more);
    let finish = match equation {
        Some(equation) => equation.finish(&writer)?,
        None => results(&mut writer)?,
    };
    let domain = writer.domain(all_cells)?;
    let info = writer.info();
    let prelude = writer.prelude();
    let body = quote! {
        #prelude
        let domain = #domain;
        #buffers
        #prepare
        rt.each_row(grid, &#info, #whole, |range, #part| { #rows });
        #finish
    };
    let entry = ident(&functions.fresh(&format!("{}_cartesian", names.method)));
    let mut uses = writer.function_uses();
    uses.add(Use::Grid);
    uses.append(&uses_of_rows);
    let mut items = entry_function(source, &entry, &body, &mut uses)?;
    items.extend(functions_of_rows);
    Ok(Functions { entry: Entry::AnyDimension(entry), items, uses, form })
}

/// The loop over the rows of a range, cell by cell, the inside of rows by a function of its own
/// where that can be, and the functions that it calls.
fn cells_and_rows<'a>(
    source: Source<'_>,
    block: &KBlock,
    equation: Option<&'a Equation<'a>>,
    functions: &mut Namer,
    writer: &mut Writer<'a>,
) -> Written<(TokenStream, TokenStream, Uses, ChosenForm)> {
    let mut side_functions = Vec::new();
    write_side_functions(source, block, equation, &mut BTreeMap::new(), functions, &mut side_functions)?;
    let row = match row_function(source, block, equation, functions, &side_functions) {
        Ok(row) => Ok(row),
        Err(Failure::Form(refusal)) => Err(refusal),
        Err(error) => return Err(error),
    };
    let form = row.as_ref().map_or_else(|refusal| ChosenForm::slower(LoopForm::Cells, *refusal), |_| ChosenForm::new(LoopForm::Rows));
    writer.side_functions = side_functions.clone();
    writer.derivatives = equation.map(Equation::derivatives);
    let (mut cell, uses) = writer.noted(|writer| {
        let (statements, yields) = writer.block(block)?;
        let here = stores(writer, &quote! { here - range.start }, &yields)?;
        let cell = quote! { #statements #here };
        Ok(match equation {
            Some(equation) => {
                let (variables, write) = (equation.variables(writer), equation.write(writer, false));
                quote! { #variables #cell #write }
            }
            None => cell,
        })
    })?;
    writer.uses.append(&uses);
    if uses.has(Use::At) {
        let at = quote! { let at = [i, row.j, row.k]; };
        cell = quote! { #at #cell };
    }
    let cell = quote! { let here = row.start + i; #cell };
    let rows = match &row {
        Err(_) => quote! { for row in grid.rows_in(&range) { for i in 0..grid.n[0] { #cell } } },
        Ok(row) => {
            let call = row.call(writer)?;
            quote! {
                for row in grid.rows_in(&range) {
                    // The cells of this row that may be on the boundary: all, or the first and the
                    // last.
                    let step = if row.interior { grid.n[0] - 1 } else { 1 };
                    for i in (0..grid.n[0]).step_by(step) { #cell }
                    if row.interior { #call }
                }
            }
        }
    };
    let row = row.into_iter().map(|row| (row.item, row.uses));
    let sides = side_functions.into_iter().flatten().flatten().map(|function| (function.item, function.uses));
    let (mut items, mut uses) = (TokenStream::new(), Uses::default());
    for (item, of_item) in row.chain(sides) {
        items.extend(item);
        uses.append(&of_item);
    }
    Ok((rows, items, uses, form))
}
