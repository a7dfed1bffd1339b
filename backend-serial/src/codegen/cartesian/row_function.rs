//! The function that evaluates the inside of a row, where no side is on the boundary.

use equelle_front::backend::Namer;
use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{KBlock, ParamId};
use equelle_front::types::{Basic, Extent};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::codegen::emit::read::{element_type, single_type};
use crate::codegen::emit::stencil_point::{End, Leaf, SideFunctions, StencilPoint};
use crate::codegen::emit::text::{blank, ident};
use crate::codegen::emit::uses::{Use, Uses};
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};
use crate::codegen::jacobian::cartesian::Equation;

/// The function that evaluates the inside of a row.
pub(in crate::codegen) struct RowFunction {
    name: Ident,
    generic: bool,
    takes_grid: bool,
    /// It writes rows of a Jacobian.
    adds: bool,
    leaves: Vec<Leaf>,
    pub item: TokenStream,
    /// References of its text.
    pub uses: Uses,
}

pub(in crate::codegen) fn row_function(
    source: Source<'_>,
    block: &KBlock,
    equation: Option<&Equation<'_>>,
    functions: &mut Namer,
    side_functions: &[SideFunctions],
) -> Written<RowFunction> {
    let Source { kernel, names, .. } = source;
    // Vectors are stored component by component, and rows have no element indices.
    if kernel.results.iter().any(|r| matches!(r.ty.basic, Basic::Vector | Basic::Entity(_))) {
        return Err(Failure::Form(Refusal::Result));
    }
    let mut writer = Writer::new(source, Form::Row, functions);
    writer.in_row = true;
    writer.side_functions = side_functions.to_vec();
    writer.derivatives = equation.map(Equation::derivatives);
    let (statements, yields) = writer.block(block)?;
    let outputs = writer.results.clone();
    let first = outputs.first().ok_or(Failure::Form(Refusal::Result))?;
    let stored = kernel.results.iter().zip(&yields).map(|(result, value)| match result.ty.basic {
        Basic::Scalar => writer.reals.stored(value),
        Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => quote! { #value },
    });
    let mut each = quote! { #statements #(#outputs[i] = #stored;)* };
    if let Some(equation) = equation {
        let (variables, write) = (equation.variables(&writer), equation.write(&mut writer, true));
        each = quote! { #variables #each #write };
    }
    let takes_grid = writer.uses.has(Use::Grid);
    let (real, precision) = (writer.reals.ty(), writer.reals.argument());
    let kept = writer.reals.kept();

    let mut params = if takes_grid {
        let grid = writer.uses.item("CartesianGrid");
        quote! { grid: &#grid #precision, }
    } else {
        TokenStream::new()
    };
    let mut lanes = TokenStream::new();
    let mut cells = quote! { for i in 0..len };
    if let Some(equation) = equation {
        let width = equation.width();
        writer.uses.add(Use::Dim);
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
                let ty = single_type(kernel, &real, id, &mut writer.uses);
                params.extend(quote! { #name: #ty, });
            }
            Leaf::PerAxis(_) => params.extend(quote! { #name: [#real; 3], }),
            Leaf::Element(id, StencilPoint::Here) => {
                let ty = element_type(kernel, &real, id);
                params.extend(quote! { #name: &[#ty], });
                lanes.extend(quote! { let #name = &#name[..len]; });
            }
            Leaf::Element(id, place @ (StencilPoint::SideFace(_) | StencilPoint::Neighbour(_))) => {
                if kernel.params.get(id.0 as usize).is_some_and(|p| p.ty.basic != Basic::Scalar) {
                    return Err(Failure::Form(Refusal::OtherElement));
                }
                params.extend(quote! { #name: [&[#real]; DIM], });
                writer.uses.add(Use::Dim);
                let cut = writer.uses.item("lane");
                for axis in 0..3 {
                    if let Some(lane) = writer.lane_name(&name, place, axis) {
                        let axis = Literal::usize_unsuffixed(axis);
                        lanes.extend(quote! { let #lane = #cut(&#name, #axis, len); });
                    }
                }
            }
            // The row function has no surrounding block.
            Leaf::Local(_) => return Err(Failure::Form(Refusal::OtherElement)),
        }
    }
    let body = quote! {
        let len = #first.len();
        #lanes
        #cells { #each }
    };
    let generic = writer.uses.has(Use::Dim);
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
    Ok(RowFunction { name, generic, takes_grid, adds: equation.is_some(), leaves, item, uses: writer.uses })
}

impl RowFunction {
    /// Its call for the inside of `row`.
    pub(in crate::codegen) fn call(&self, writer: &mut Writer) -> Written<TokenStream> {
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
                Leaf::Element(id, StencilPoint::Here) => {
                    let name = writer.read(*id)?;
                    quote! { &#name[first..][..len] }
                }
                Leaf::Element(id, StencilPoint::Neighbour(side)) => {
                    let (name, array) =
                        (writer.read(*id)?, ident(&writer.namer.fresh(&format!("{}_{}", writer.param(*id)?.1, side.name()))));
                    let start = match side {
                        End::Low => quote! { first - grid.stride[axis] },
                        End::High => quote! { first + grid.stride[axis] },
                    };
                    arrays.extend(quote! { let #array: [&[#real]; DIM] = std::array::from_fn(|axis| &#name[#start..][..len]); });
                    quote! { #array }
                }
                Leaf::Element(id, StencilPoint::SideFace(side)) => {
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
                Leaf::Local(_) => return Err(Failure::Form(Refusal::OtherElement)),
            });
        }
        // Arrays of slices among the arguments tell the dimension.
        let told = self.leaves.iter().any(|l| matches!(l, Leaf::Element(_, StencilPoint::SideFace(_) | StencilPoint::Neighbour(_))));
        let (name, generics) = (&self.name, (self.generic && !told).then(|| quote! { ::<DIM> }));
        Ok(quote! {
            let (first, len) = (row.start + 1, grid.n[0] - 2);
            #arrays
            #name #generics(#(#args),*);
        })
    }
}

impl Writer<'_> {
    /// In the row function: the name of an element that is read, also where only a side function
    /// wants it.
    pub(in crate::codegen) fn element_leaf(&mut self, id: ParamId, place: StencilPoint) -> Written<Ident> {
        let (_, name) = self.param(id)?;
        let wanted = match place {
            StencilPoint::Here => name.to_string(),
            StencilPoint::SideFace(side) | StencilPoint::Neighbour(side) => format!("{name}_{}", side.name()),
        };
        Ok(self.leaf(Leaf::Element(id, place), &wanted))
    }

    /// In the row function: the slice of one axis of something that is read beyond or at a side.
    pub(in crate::codegen) fn lane_name(&self, name: &Ident, place: StencilPoint, axis: usize) -> Option<Ident> {
        match place {
            StencilPoint::Here => None,
            StencilPoint::SideFace(_) | StencilPoint::Neighbour(_) => Some(ident(&format!("{name}_{}", ["x", "y", "z"][axis]))),
        }
    }
}
