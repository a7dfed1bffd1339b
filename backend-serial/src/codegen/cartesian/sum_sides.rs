//! Sums over the sides of a cell.

use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{KBlock, LocalId, SideBlocks};
use equelle_front::ops::FaceReduction;
use proc_macro2::TokenStream;
use quote::quote;

use crate::codegen::emit::reduction;
use crate::codegen::emit::stencil_point::{End, Leaf, NO_SIDES, SideFunction, StencilPoint};
use crate::codegen::emit::text::Text;
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Writer, Written};

impl Writer<'_> {
    /// Axis by axis the low side, in a sum subtracted, then the high side.
    pub(in crate::codegen) fn reduce_sides(
        &mut self,
        reduction: FaceReduction,
        (results, extreme_faces): (&[LocalId], &[LocalId]),
        low: &SideBlocks,
        high: &SideBlocks,
    ) -> Written<TokenStream> {
        let start = reduction::start_of(self, reduction);
        let number = self.sums_written;
        self.sums_written += 1;
        let sums = results.iter().map(|r| self.define(*r)).collect::<Written<Vec<_>>>()?;
        let extreme_faces = extreme_faces.iter().map(|f| self.define(*f)).collect::<Written<Vec<_>>>()?;
        let none = (!extreme_faces.is_empty()).then(|| self.none());
        let results = Results { reduction, sums: &sums, extreme_faces: &extreme_faces };
        let functions = self.side_functions.get(number).cloned().unwrap_or(NO_SIDES);
        let blocks = [&low.interior, &low.boundary, &high.interior, &high.boundary];
        match self.form {
            Form::Cell => {
                let low = self.cell_side(results, End::Low, low, &functions[0])?;
                let blocks: Vec<&KBlock> = blocks.into_iter().flatten().collect();
                let high = self.cell_side(results, End::High, high, &functions[1])?;
                let sums = self.typed_sums(&sums, &blocks);
                self.uses.add(Use::Dim);
                Ok(quote! {
                    #(let mut #sums = #start;)*
                    #(let mut #extreme_faces = #none;)*
                    for axis in 0..DIM { #low #high }
                })
            }
            // Inside a row no side is on the boundary.
            Form::Row if self.in_row && low.interior.is_none() && high.interior.is_none() => {
                let sums = self.typed_sums(&sums, &[]);
                Ok(quote! { #(let #sums = #start;)* #(let #extreme_faces = #none;)* })
            }
            Form::Row if self.in_row => {
                let mut out = quote! { #(let mut #sums = #start;)* #(let mut #extreme_faces = #none;)* };
                for axis in 0..3usize {
                    let mut terms = TokenStream::new();
                    for (side, blocks, function) in [(End::Low, low, &functions[0]), (End::High, high, &functions[1])] {
                        if blocks.interior.is_some() {
                            let function = function.as_ref().map_err(|refusal| Failure::Form(*refusal))?;
                            let call = self.row_call(function, axis)?;
                            terms.extend(take_in_call(self, results, side, Some(axis), &call));
                        }
                    }
                    let number = proc_macro2::Literal::usize_unsuffixed(axis);
                    out.extend(if axis == 0 {
                        terms
                    } else {
                        self.uses.add(Use::Dim);
                        quote! { if DIM > #number { #terms } }
                    });
                }
                Ok(out)
            }
            Form::Row | Form::Stencil | Form::General | Form::PerAxis => Err(Failure::Form(Refusal::NestedSum)),
        }
    }

    /// One side in [`Form::Cell`].
    fn cell_side(
        &mut self,
        results: Results<'_>,
        side: End,
        blocks: &SideBlocks,
        function: &Result<SideFunction, Refusal>,
    ) -> Written<TokenStream> {
        let outer = self.side_interior;
        let interior = match (&blocks.interior, function) {
            (None, _) => None,
            (Some(_), Ok(function)) => {
                self.side_interior = Some(true);
                let call = self.cell_call(function)?;
                Some(take_in_call(self, results, side, None, &call))
            }
            (Some(block), Err(_)) => Some(self.inline_side(results, side, block, true)?),
        };
        let boundary = match &blocks.boundary {
            None => None,
            Some(block) => Some(self.inline_side(results, side, block, false)?),
        };
        self.side_interior = outer;
        if interior.is_some() || boundary.is_some() {
            self.uses.add(Use::At);
        }
        let high = side.is_high();
        let (inside, outside) = match side {
            _ if self.takes_joined_sides => {
                let boundary = quote! { grid.is_boundary_side(at, axis, #high) };
                (quote! { !#boundary }, boundary)
            }
            End::Low => (quote! { at[axis] > 0 }, quote! { at[axis] == 0 }),
            End::High => (quote! { at[axis] + 1 < grid.n[axis] }, quote! { at[axis] + 1 == grid.n[axis] }),
        };
        Ok(match (interior, boundary) {
            (None, None) => TokenStream::new(),
            (Some(interior), None) => quote! { if #inside { #interior } },
            (None, Some(boundary)) => quote! { if #outside { #boundary } },
            (Some(interior), Some(boundary)) => quote! { if #inside { #interior } else { #boundary } },
        })
    }

    fn inline_side(&mut self, results: Results<'_>, side: End, block: &KBlock, interior: bool) -> Written<TokenStream> {
        self.side_interior = Some(interior);
        let places = self.places.clone();
        self.begin_side(side);
        let written = self.noted(|writer| writer.block(block));
        self.end_side();
        let ((statements, terms), uses) = written?;
        self.uses.append(&uses);
        self.places = places;
        let terms = take_in_all(self, results, side, None, &terms);
        let block = quote! { #statements #terms };
        let high = side.is_high();
        // Subsets are asked for this position more than once: whether the face is in them, and
        // where.
        let position = (!interior && uses.has(Use::BoundaryFace)).then(|| {
            self.uses.add(Use::At);
            quote! { let boundary_face = grid.boundary_face(at, axis, #high); }
        });
        Ok(quote! { #position #block })
    }

    /// A call of a side function from the cell function.
    fn cell_call(&mut self, function: &SideFunction) -> Written<TokenStream> {
        let mut args = Vec::new();
        for leaf in &function.leaves {
            args.push(match leaf {
                Leaf::Single(id) => {
                    let name = self.read(*id)?;
                    quote! { #name }
                }
                Leaf::PerAxis(id) => {
                    let (name, axis) = (self.read_per_axis(*id)?, self.per_axis_index(*id, quote! { axis })?);
                    quote! { #name[#axis] }
                }
                Leaf::Element(id, place) => {
                    let set = self.set_of(*id)?;
                    let position = self.place_position(set, *place)?;
                    let name = self.read(*id)?;
                    quote! { #name[#position] }
                }
                Leaf::Local(id) => {
                    let name = self.read_local(*id)?;
                    quote! { #name }
                }
            });
        }
        args.extend(self.derivatives_of_side(function, &quote! { axis }));
        Ok(self.call_side(function, quote! { axis }, &args))
    }

    /// A call of a side function from the row function, for one axis.
    fn row_call(&mut self, function: &SideFunction, axis: usize) -> Written<TokenStream> {
        let number = proc_macro2::Literal::usize_unsuffixed(axis);
        let mut args = Vec::new();
        for leaf in function.leaves.clone() {
            args.push(match leaf {
                Leaf::Single(id) => {
                    let (_, name) = self.param(id)?;
                    let name = self.leaf(leaf, &name.to_string());
                    quote! { #name }
                }
                Leaf::PerAxis(id) => {
                    let (_, name) = self.param(id)?;
                    let index = self.per_axis_index(id, quote! { #number })?;
                    let name = self.leaf(leaf, &name.to_string());
                    quote! { #name[#index] }
                }
                Leaf::Element(id, place) => {
                    let name = self.element_leaf(id, place)?;
                    match self.lane_name(&name, place, axis) {
                        Some(lane) => quote! { #lane[i] },
                        None => quote! { #name[i] },
                    }
                }
                Leaf::Local(id) => {
                    let name = self.read_local(id)?;
                    quote! { #name }
                }
            });
        }
        args.extend(self.derivatives_of_side(function, &quote! { #number }));
        Ok(self.call_side(function, quote! { #number }, &args))
    }

    fn call_side(&mut self, function: &SideFunction, axis: TokenStream, args: &[TokenStream]) -> TokenStream {
        let (name, generics) = (&function.name, &function.generics);
        if !generics.is_empty() {
            self.uses.add(Use::Dim);
        }
        let grid = function.takes.0.then(|| {
            let grid = self.grid();
            quote! { #grid, }
        });
        let axis = function.takes.1.then(|| quote! { #axis, });
        quote! { #name #generics(#grid #axis #(#args),*) }
    }

    /// The variables that a side function adds derivatives to.
    fn derivatives_of_side(&self, function: &SideFunction, axis: &TokenStream) -> Vec<TokenStream> {
        let variable = |&(unknown, place): &(u32, StencilPoint)| {
            let name = self.derivative(unknown, place)?;
            Some(match place {
                StencilPoint::Neighbour(_) => quote! { &mut #name[#axis] },
                StencilPoint::Here | StencilPoint::SideFace(_) => quote! { &mut #name },
            })
        };
        function.reached.iter().filter_map(variable).collect()
    }

    /// Index of a parameter's entry in values per axis: the axis for faces, 0 for cells.
    fn per_axis_index(&self, id: equelle_front::ir::ParamId, axis: TokenStream) -> Written<TokenStream> {
        let set = self.set_of(id)?;
        Ok(match self.module.sets.get(set).kind {
            equelle_front::types::EntityKind::Face => axis,
            equelle_front::types::EntityKind::Cell | equelle_front::types::EntityKind::Edge | equelle_front::types::EntityKind::Vertex => {
                quote! { 0 }
            }
        })
    }
}

/// The variables of a reduction over sides.
#[derive(Clone, Copy)]
struct Results<'a> {
    reduction: FaceReduction,
    sums: &'a [proc_macro2::Ident],
    /// Faces of an extreme, if they are asked for: numbers as of [`reduction::side_number`].
    extreme_faces: &'a [proc_macro2::Ident],
}

/// Takes the results of a side function into reductions. The axis is a variable unless it is known.
fn take_in_call(writer: &mut Writer, results: Results<'_>, side: End, axis: Option<usize>, call: &TokenStream) -> TokenStream {
    match results.sums {
        [] => quote! { #call; },
        [_] => take_in_all(writer, results, side, axis, &[Text::atom(call)]),
        many => {
            let terms: Vec<Text> = (0..many.len())
                .map(|number| {
                    let number = proc_macro2::Literal::usize_unsuffixed(number);
                    Text::atom(quote! { terms.#number })
                })
                .collect();
            let taken = take_in_all(writer, results, side, axis, &terms);
            quote! { let terms = #call; #taken }
        }
    }
}

fn take_in_all(writer: &mut Writer, results: Results<'_>, side: End, axis: Option<usize>, terms: &[Text]) -> TokenStream {
    let Results { reduction, sums, extreme_faces } = results;
    let face = reduction::side_number(side, axis);
    let mut out = TokenStream::new();
    for (i, (sum, term)) in sums.iter().zip(terms).enumerate() {
        let found = extreme_faces.get(i).map(|found| (found, &face));
        out.extend(reduction::take_in(writer, reduction, (sum, found), side, term));
    }
    out
}
