//! Kernels that read nothing but the current element: their loops go over slices of a range, which
//! become vector instructions. An access by position in the whole collection would not, since it is
//! compared with the length.

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KExpr, KStmt, Kernel, ParamId, Path, Space};
use equelle_front::types::{Basic, SetId};
use proc_macro2::TokenStream;
use quote::quote;

use crate::codegen::emit::outputs::Values;
use crate::codegen::emit::path::cells_here;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::Writer;

/// True if a kernel loads what belongs to the current element, and nothing else.
pub(super) fn is_elementwise(kernel: &Kernel) -> bool {
    let mut elementwise = matches!(kernel.space, Space::Set(_)) && kernel.checks.is_empty() && kernel.jacobian.is_none();
    visit_block(&kernel.body, &mut |node| {
        elementwise &= match node {
            Node::Expr(KExpr::Load { at, .. }) => *at == Path::Here,
            Node::Stmt(KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } | KStmt::Add { .. }) | Node::Path(Path::Through { .. }) => {
                false
            }
            Node::Expr(_) | Node::Stmt(_) | Node::Path(_) => true,
        };
    });
    elementwise
}

/// The loop over the elements of a set, range by range; `each` is the text of the writer for the
/// element `i` of slices.
pub(super) fn loop_over_slices(writer: &mut Writer, set: SetId, values: &Values, each: &TokenStream) -> TokenStream {
    // The current elements: a range, or a row of cells in it where volumes are asked for.
    let by_row = writer.uses.has(Use::VolumeHere);
    let elements = if by_row {
        quote! { cells }
    } else {
        quote! { range }
    };
    let mut slices = TokenStream::new();
    for (index, name) in writer.params.iter().enumerate() {
        let id = ParamId(index as u32);
        if writer.uses.has(Use::LoadedHere(id)) {
            slices.extend(match writer.kernel.params[index].ty.basic {
                Basic::Vector => quote! { let #name = #name.map(|component| &component[#elements.start..][..len]); },
                Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                    quote! { let #name = &#name[#elements.start..][..len]; }
                }
            });
        }
    }
    let start = by_row.then(|| quote! { [cells.start - range.start..] });
    for (result, name) in writer.kernel.results.iter().zip(&writer.slices) {
        slices.extend(match result.ty.basic {
            Basic::Vector => quote! { let mut #name = #name.each_mut().map(|component| &mut component #start [..len]); },
            Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => {
                quote! { let #name = &mut #name #start [..len]; }
            }
        });
    }
    let mut domain_elements = None;
    let here = writer.uses.has(Use::Here).then(|| {
        if writer.is_all(set) {
            quote! { let here = (#elements.start + i) as u32; }
        } else {
            domain_elements = Some(quote! { let elements = domain.elements(); });
            slices.extend(quote! { let elements = &elements[#elements.start..][..len]; });
            quote! { let here = elements[i]; }
        }
    });
    let cells_here = cells_here(writer);
    let each = quote! {
        let len = #elements.len();
        #slices
        for i in 0..len { #here #cells_here #each }
    };
    let each = if by_row {
        let grid = writer.grid();
        quote! { for (cells, volume_at) in #grid.rows_with_volumes(range.clone()) { #each } }
    } else {
        each
    };
    let each = values.each(writer, &each);
    quote! { #domain_elements #each }
}
