//! Kernels over all cells that have no Cartesian body: rows of cells inside the grid, and the body
//! for any grid for cells near its sides.

use equelle_front::backend::inside::Inside;
use equelle_front::ir::KBlock;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::outputs::stores;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Form, Writer, Written};
use crate::codegen::jacobian::by_index::{AtSides, EquationByIndex};

/// Rows of cells inside the grid, and what cells near a side take.
pub(super) struct InsideRows<'a> {
    pub inside: &'a Inside,
    /// The body for any grid.
    pub body: &'a KBlock,
    pub equation: Option<EquationByIndex<'a>>,
}

impl<'a> InsideRows<'a> {
    /// Code for the cells near a side.
    pub(super) fn at_sides(&self, writer: &mut Writer<'a>) -> Written<AtSides> {
        writer.form = Form::General;
        writer.on_cartesian_grid = true;
        writer.uses.add(Use::Dim);
        writer.uses.item("Entities");
        let AtSides { before, each } = match &self.equation {
            Some(equation) => equation.at_sides(writer)?,
            None => {
                let (each, uses) = writer.noted(|writer| {
                    let (statements, yields) = writer.block(self.body)?;
                    let stores = stores(writer, &quote! { position - range.start }, &yields)?;
                    Ok(quote! { #statements #stores })
                })?;
                writer.uses.append(&uses);
                let here = uses.has(Use::Here).then(|| quote! { let here = position as u32; });
                AtSides { before: TokenStream::new(), each: quote! { #here #each } }
            }
        };
        if writer.uses.has(Use::Places) {
            writer.uses.item("Places");
        }
        Ok(AtSides { before: quote! { let places = grid.places::<DIM>(); #before }, each })
    }

    /// `const INSIDE: Inside = ..;`
    pub(super) fn constant(&self, writer: &mut Writer) -> TokenStream {
        let reach = self.inside.reach.iter().map(|sides| {
            let [low, high] = sides.map(|by| Literal::usize_unsuffixed(usize::from(by)));
            quote! { [#low, #high] }
        });
        let inside = writer.uses.item("Inside");
        quote! { const INSIDE: #inside = #inside::new([#(#reach),*]); }
    }
}
