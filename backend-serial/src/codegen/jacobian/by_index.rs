//! Equations whose rows are the same for all cells inside: derivatives by the cells at offsets have
//! a variable each, which are the entries of a row, in the order of its columns. Cells near a side
//! take the body for any grid, and search for the entries.

use equelle_front::backend::inside::{Inside, OffsetColumn};
use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::JacobianForm;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::derivatives::{Derivatives, Target};
use crate::codegen::emit::outputs::{Outputs, stores};
use crate::codegen::emit::text::ident;
use crate::codegen::emit::writer::{Writer, Written};

/// An equation whose rows inside the grid are being written.
pub(in crate::codegen) struct EquationByIndex<'a> {
    form: &'a JacobianForm,
    inside: &'a Inside,
    skeleton: &'a Skeleton,
}

/// Text that evaluates the cells near a side, one after the other.
pub(in crate::codegen) struct AtSides {
    /// Makes the pattern, and the buffer of the entries.
    pub before: TokenStream,
    /// For the cell at `position`.
    pub each: TokenStream,
}

impl<'a> EquationByIndex<'a> {
    pub(in crate::codegen) fn new(form: &'a JacobianForm, inside: &'a Inside, skeleton: &'a Skeleton) -> Self {
        EquationByIndex { form, inside, skeleton }
    }

    /// Begins the loop over cells inside: the variables, zero.
    pub(in crate::codegen) fn begin(&self, writer: &mut Writer<'a>) -> TokenStream {
        let mut derivatives = Derivatives::new(Target::Offsets, self.skeleton);
        for OffsetColumn { unknown, by } in &self.inside.columns {
            let name = if *by == [0; 3] {
                writer.diagonal(unknown.0)
            } else {
                ident(&writer.namer.fresh(&format!("by_{}{}", writer.params[unknown.0 as usize], direction(*by))))
            };
            derivatives.columns.push((unknown.0, *by, name));
        }
        let names: Vec<Ident> = derivatives.columns.iter().map(|(_, _, name)| name.clone()).collect();
        writer.derivatives = Some(derivatives);
        quote! { #(let mut #names = 0.0;)* }
    }

    /// Ends it: the variables are the row of cell `i`.
    pub(in crate::codegen) fn end(&self, writer: &Writer) -> TokenStream {
        let names = writer.derivatives.iter().flat_map(|d| &d.columns).map(|(_, _, name)| name);
        quote! { entries[i] = [#(#names),*]; }
    }

    /// Number of entries of a row.
    pub(in crate::codegen) fn width(&self) -> Literal {
        Literal::usize_unsuffixed(self.inside.columns.len())
    }

    /// The entries as outputs of the loop.
    pub(in crate::codegen) fn outputs(&self, writer: &mut Writer) -> Outputs {
        let entries = writer.uses.item("Entries");
        Outputs { whole: quote! { #entries::new(stencil.row_ptr(), &mut rows[..]) }, part: quote! { mut entries } }
    }

    /// After everything about cells inside has been written.
    pub(in crate::codegen) fn at_sides(&self, writer: &mut Writer<'a>) -> Written<AtSides> {
        writer.derivatives = Some(Derivatives::new(Target::Search, self.skeleton));
        let (statements, yields) = writer.block(&self.form.body)?;
        let stores = stores(writer, &quote! { position - range.start }, &yields)?;
        let diagonals = writer.derivatives.take().map(|d| d.diagonals).unwrap_or_default();
        let numbers: Vec<Literal> = diagonals.iter().map(|&k| Literal::usize_unsuffixed(k as usize)).collect();
        let own: Vec<Ident> = diagonals.iter().map(|k| writer.diagonal(*k)).collect();
        let each = quote! {
            let here = position as u32;
            let row = entries.row(position);
            row.fill(0.0);
            #(let mut #own = 0.0;)*
            #statements
            #stores
            #(row[pattern.place(position, #numbers, position)] += #own;)*
        };

        writer.derivatives = Some(Derivatives { diagonals, ..Derivatives::new(Target::Pattern, self.skeleton) });
        let (told, _) = writer.block(&self.skeleton.block)?;
        writer.derivatives = None;
        let info = writer.info();
        let unknowns = writer.names.params.iter().take(self.form.unknowns as usize).map(|p| ident(p));
        let columns = self.inside.columns.iter().map(|OffsetColumn { unknown, by }| {
            let (unknown, [x, y, z]) = (Literal::usize_unsuffixed(unknown.0 as usize), by.map(Literal::i8_unsuffixed));
            quote! { (#unknown, [#x, #y, #z]) }
        });
        let before = quote! {
            let stencil = rt.stencil(&#info, domain, &[#(args.#unknowns),*], &[], |_, pattern| {
                pattern.by_index(grid, INSIDE, &[#(#columns),*], |position, pattern| {
                    let here = position as u32;
                    #(pattern.add(#numbers, position);)*
                    #told
                });
                Ok(())
            })?;
            let mut rows = rt.take_entries(stencil.entries());
            let pattern = stencil.rows();
        };
        Ok(AtSides { before, each })
    }

    /// Writes the return value of the function.
    pub(in crate::codegen) fn finish(&self, writer: &Writer) -> Written<TokenStream> {
        let result = writer.results.first().cloned().ok_or_else(|| writer.internal("an equation without a residual"))?;
        Ok(quote! {
            let #result = rt.scalar_collection_from(domain, #result);
            Ok(rt.equation(#result, &stencil, rows))
        })
    }
}

/// `_xp1_ym2`
fn direction(by: [i8; 3]) -> String {
    let part = |(by, axis): (i8, &str)| match by {
        0 => String::new(),
        by => format!("_{axis}{}{}", if by < 0 { "m" } else { "p" }, by.unsigned_abs()),
    };
    by.into_iter().zip(["x", "y", "z"]).map(part).collect()
}
