//! Constants of a kernel that reads by index: the rows and lanes that it reads.

use std::collections::BTreeSet;

use equelle_front::types::Basic;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::stencil::steps_text;
use crate::codegen::emit::stencil_reads::{Array, Lane, StencilReads};
use crate::codegen::emit::writer::{Writer, Written};

/// Lanes of one type: of numbers, or of truth values.
pub(super) struct Lanes<'a> {
    pub basic: Basic,
    pub lanes: Vec<&'a Lane>,
    /// `LANES`, the array of them; `lanes`; copies of rows.
    pub names: [Ident; 3],
}

/// `const ROWS: ..`
pub(super) fn rows_text(writer: &mut Writer) -> TokenStream {
    let rows = if writer.stencil.rows.is_empty() { vec![Default::default()] } else { writer.stencil.rows.clone() };
    let number = Literal::usize_unsuffixed(rows.len());
    let [offset, offsets] = ["RowOffset", "RowOffsets"].map(|name| writer.uses.item(name));
    let rows = rows.iter().map(|[y, z]| {
        let (y, z) = (steps_text(y, &mut writer.uses), steps_text(z, &mut writer.uses));
        quote! { #offset::new(#y, #z) }
    });
    let rows: Vec<TokenStream> = rows.collect();
    quote! { const ROWS: #offsets<#number> = #offsets::new([#(#rows),*]); }
}

/// `const READS: ..`
pub(super) fn reads_text(lanes: &[Lane], cache: &Ident, writer: &mut Writer) -> Written<TokenStream> {
    let arrays: BTreeSet<Array> = lanes.iter().map(|lane| lane.array).collect();
    let mut bytes = 0;
    for (param, _) in arrays {
        let of_numbers = writer.param(param)?.0.ty.basic != Basic::Bool;
        bytes += if !of_numbers {
            1
        } else if writer.reals.kept() == "f32" {
            4
        } else {
            8
        };
    }
    let bytes = Literal::usize_unsuffixed(bytes);
    let around = [0, 1].map(|axis| {
        let mut reach = StencilReads::default();
        writer.stencil.rows.iter().for_each(|row| reach.reaches(&row[axis], 0));
        Literal::usize_unsuffixed(usize::from(reach.reach[1].abs_diff(reach.reach[0])))
    });
    let [rows, planes] = around;
    let [reads, caches] = ["Reads", "TileCache"].map(|name| writer.uses.item(name));
    Ok(quote! { const READS: #reads = #reads { bytes: #bytes, around: [#rows, #planes], cache: #caches::#cache }; })
}

/// `const LANES: ..`, and the arrays that they are of.
pub(super) fn lanes_text(kind: &Lanes, writer: &mut Writer) -> Written<(TokenStream, Vec<TokenStream>)> {
    let mut arrays = Vec::new();
    let lane_type = writer.uses.item("Lane");
    let mut items = Vec::new();
    for lane in &kind.lanes {
        let array = arrays.iter().position(|known| *known == lane.array).unwrap_or_else(|| {
            arrays.push(lane.array);
            arrays.len() - 1
        });
        let (array, row) = (Literal::usize_unsuffixed(array), Literal::usize_unsuffixed(lane.row));
        let [low, high] = lane.reach.map(Literal::i8_unsuffixed);
        let along = steps_text(&lane.steps(), &mut writer.uses);
        items.push(quote! { #lane_type::new(#array, #row, [#low, #high], #along) });
    }
    let array = |(param, component): Array| {
        let name = writer.read(param)?;
        Ok(match component {
            Some(component) => {
                let component = Literal::u32_unsuffixed(component);
                quote! { #name[#component] }
            }
            None => quote! { #name },
        })
    };
    let arrays = arrays.into_iter().map(array).collect::<Written<Vec<TokenStream>>>()?;
    let (name, number) = (&kind.names[0], Literal::usize_unsuffixed(items.len()));
    Ok((quote! { const #name: [#lane_type; #number] = [#(#items),*]; }, arrays))
}
