//! Equations on Cartesian grids: derivatives by a cell and its neighbours have a variable each, and
//! a row of the Jacobian is written from them, by ascending column.

use equelle_front::backend::stencil::{Reach, Skeleton, reach};
use equelle_front::ir::{JacobianForm, KBlock};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::derivatives::Derivatives;
use crate::codegen::emit::outputs::Outputs;
use crate::codegen::emit::stencil_point::{End, StencilPoint};
use crate::codegen::emit::text::ident;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Writer, Written};

/// A Jacobian form whose Cartesian body is being written.
pub(in crate::codegen) struct Equation<'a> {
    skeleton: &'a Skeleton,
    /// Entries that its rows may have. `[unknowns]`
    reach: Vec<Reach>,
}

impl<'a> Equation<'a> {
    pub(in crate::codegen) fn new(form: &JacobianForm, block: &KBlock, skeleton: &'a Skeleton) -> Self {
        Equation { skeleton, reach: reach(form.unknowns, block) }
    }

    /// For a writer of one of its functions.
    pub(in crate::codegen) fn derivatives(&self) -> Derivatives<'a> {
        Derivatives::by_places(self.skeleton)
    }

    /// The variables, zero.
    pub(in crate::codegen) fn variables(&self, writer: &Writer) -> TokenStream {
        let mut out = TokenStream::new();
        for (unknown, reach) in (0..).zip(&self.reach) {
            for (place, used) in places(*reach) {
                let Some(name) = writer.derivative(unknown, place).filter(|_| used) else { continue };
                out.extend(match place {
                    StencilPoint::Neighbour(_) => quote! { let mut #name = [0.0; 3]; },
                    StencilPoint::Here | StencilPoint::SideFace(_) => quote! { let mut #name = 0.0; },
                });
            }
        }
        out
    }

    /// Writes them to a row: of a cell `at` a place where there may be no cell beyond some sides,
    /// or of one inside a row.
    pub(in crate::codegen) fn write(&self, writer: &mut Writer, inside: bool) -> TokenStream {
        let entries = if inside {
            quote! { row }
        } else {
            writer.uses.add(Use::Here);
            quote! { entries.row(here) }
        };
        let row_entries = writer.uses.item("RowEntries");
        let mut out = quote! { let mut row = #row_entries::new(#entries); };
        for (unknown, reach) in (0..).zip(&self.reach) {
            for (place, used) in places(*reach) {
                let Some(name) = writer.derivative(unknown, place).filter(|_| used) else { continue };
                if let StencilPoint::Neighbour(_) = place {
                    writer.uses.add(Use::Dim);
                    if !inside {
                        writer.uses.add_all([Use::Grid, Use::At]);
                    }
                }
                out.extend(match (place, inside) {
                    (StencilPoint::Neighbour(End::Low), true) => quote! { row.low::<DIM>(#name); },
                    (StencilPoint::Neighbour(End::Low), false) => quote! { row.low_within::<DIM>(at, #name); },
                    (StencilPoint::Neighbour(End::High), true) => quote! { row.high::<DIM>(#name); },
                    (StencilPoint::Neighbour(End::High), false) => quote! { row.high_within::<DIM>(grid, at, #name); },
                    (StencilPoint::Here | StencilPoint::SideFace(_), _) => quote! { row.own(#name); },
                });
            }
        }
        out
    }

    /// Number of entries of the row of a cell that has all its neighbours.
    pub(in crate::codegen) fn width(&self) -> TokenStream {
        let own = Literal::usize_unsuffixed(self.reach.iter().filter(|r| r.own).count());
        let sides: usize = self.reach.iter().map(|r| usize::from(r.low) + usize::from(r.high)).sum();
        let sides = Literal::usize_unsuffixed(sides);
        quote! { #own + #sides * DIM }
    }

    /// Statements that make the stencil and the buffer of the entries, and the entries as outputs
    /// of the loop.
    pub(in crate::codegen) fn prepare(&self, writer: &mut Writer) -> (TokenStream, Outputs) {
        writer.uses.add_all([Use::Runtime, Use::Grid, Use::Args]);
        let (info, entries, reach_type) = (writer.info(), writer.uses.item("Entries"), writer.uses.item("Reach"));
        let unknowns = writer.names.params.iter().take(self.reach.len()).map(|p| ident(p));
        let reach = self.reach.iter().map(|Reach { own, low, high }| quote! { #reach_type { own: #own, low: #low, high: #high } });
        let before = quote! {
            let stencil = rt.cartesian_stencil(&#info, grid, domain, &[#(args.#unknowns),*], &[#(#reach),*])?;
            let mut rows = rt.take_entries(stencil.entries());
        };
        let entries = Outputs { whole: quote! { #entries::new(stencil.row_ptr(), &mut rows[..]) }, part: quote! { mut entries } };
        (before, entries)
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

/// By ascending column, and whether a row has them.
fn places(reach: Reach) -> [(StencilPoint, bool); 3] {
    [(StencilPoint::Neighbour(End::Low), reach.low), (StencilPoint::Here, reach.own), (StencilPoint::Neighbour(End::High), reach.high)]
}
