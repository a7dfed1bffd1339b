//! Tables at cells, evaluated before the loop of an equation.

use equelle_front::backend::tabulated::TablesOfCells;
use equelle_front::ir::{Interpolant, KExpr};
use quote::quote;

use super::text::{Level, ident};
use super::uses::Use;
use super::writer::{Form, Writer, Written};

/// The statement that evaluates tables at every cell; the parameters that stand for what they
/// give are slices after it.
pub(super) fn prepare_tables(writer: &mut Writer<'_>, group: &TablesOfCells) -> Written<()> {
    let names = group.tables.iter().map(|(_, _, param)| Ok(writer.param(*param)?.1)).collect::<Written<Vec<_>>>()?;
    let Some(first) = names.first() else { return Ok(()) };
    let functions = group.tables.iter().map(|(table, of, _)| {
        let (table, of) = (writer.field(*table), ident(if *of == Interpolant::Slope { "slopes" } else { "values" }));
        quote! { args.#table.#of() }
    });
    let (functions, over) = (quote! { [#(#functions),*] }, writer.field(group.over));
    writer.prelude_uses.add(Use::Runtime);
    let slices = quote! { #(let #names = &#names[..];)* };
    if matches!(group.argument, KExpr::Load { .. }) && writer.is_unknown(group.over) {
        writer.prepared(first.to_string(), None, |_| {
            quote! { let [#(#names),*] = rt.tabulated_unknown(args.#over, #functions); #slices }
        });
        return Ok(());
    }
    // The argument is that of a cell of any grid: numbers of collections at its index.
    let form = std::mem::replace(&mut writer.form, Form::Cell);
    let written = writer.noted(|inner| inner.expr(&group.argument));
    writer.form = form;
    let (argument, uses) = written?;
    uses.items().for_each(|item| writer.prelude_uses.add(Use::Item(item)));
    let argument = argument.at(Level::Choice);
    writer.prepared(first.to_string(), None, |_| {
        quote! {
            let [#(#names),*] = rt.tabulated(args.#over.domain().len(), #functions, |here| #argument);
            #slices
        }
    });
    Ok(())
}
