//! Statements of kernels.

use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId, Path, SideBlocks};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::text::{Level, Text};
use super::writer::{End, Failure, Form, Leaf, Place, SideFunction, Writer, Written};

/// A name that is being defined, with its type where nothing else tells it.
fn typed(name: &Ident, ty: Option<&TokenStream>) -> TokenStream {
    match ty {
        Some(ty) => quote! { #name: #ty },
        None => quote! { #name },
    }
}

impl Writer<'_> {
    /// Statements of a block, and its values.
    pub(super) fn block(&mut self, block: &KBlock) -> Written<(TokenStream, Vec<Text>)> {
        let mut out = TokenStream::new();
        for statement in &block.statements {
            out.extend(self.statement(statement)?);
        }
        let yields = block.yields.iter().map(|y| self.expr(y)).collect::<Written<Vec<Text>>>()?;
        Ok((out, yields))
    }

    pub(super) fn statement(&mut self, statement: &KStmt) -> Written<TokenStream> {
        match statement {
            KStmt::Let { local, value } => {
                let ty = self.untyped(value);
                let value = self.expr(value)?;
                let name = self.define(*local)?;
                let name = typed(&name, ty.as_ref());
                Ok(quote! { let #name = #value; })
            }
            KStmt::LetEntity { local, path } => {
                if let Some(place) = self.place(path) {
                    self.places.insert(*local, place);
                    return Ok(TokenStream::new());
                }
                if let (Form::Row, Path::Select { condition, if_true, if_false }) = (self.form, path)
                    && let (Some(a), Some(b)) = (self.place(if_true), self.place(if_false))
                {
                    // In a row nobody has indices; what is read is chosen where it is read.
                    let condition = self.expr(condition)?;
                    let name = self.define(*local)?;
                    self.choices.insert(*local, (name.clone(), a, b));
                    return Ok(quote! { let #name = #condition; });
                }
                let entity = self.entity(path)?;
                let name = self.define(*local)?;
                Ok(quote! { let #name = #entity; })
            }
            KStmt::SumFaces { results, cell, face, only, body } => self.sum_faces(results, cell, *face, *only, body),
            KStmt::SumSides { results, low, high } => self.sum_sides(results, low, high),
            KStmt::If { results, condition, then, otherwise } => self.if_statement(results, condition, then, otherwise),
            KStmt::Add { unknown, at, value } => self.add(*unknown, at, value),
        }
    }

    /// Sums with terms of these blocks, with their types where nothing else tells them.
    pub(super) fn typed_sums(&self, sums: &[Ident], blocks: &[&KBlock]) -> Vec<TokenStream> {
        let ty = self.reals.ty();
        let ty = quote! { #ty };
        let untyped = |k: usize| blocks.iter().all(|block| block.yields.get(k).is_none_or(|term| self.untyped(term).is_some()));
        sums.iter().enumerate().map(|(k, name)| typed(name, untyped(k).then_some(&ty))).collect()
    }

    pub(super) fn define(&mut self, local: LocalId) -> Written<proc_macro2::Ident> {
        self.own_locals.push(local);
        self.local(local)
    }

    fn if_statement(&mut self, results: &[LocalId], condition: &KExpr, then: &KBlock, otherwise: &KBlock) -> Written<TokenStream> {
        let decided = self.decided(condition);
        let types: Vec<Option<TokenStream>> =
            then.yields.iter().zip(&otherwise.yields).map(|(a, b)| self.untyped(a).and(self.untyped(b))).collect();
        let condition = self.expr(condition)?;
        let before = self.begin_branch();
        let (mut then, a) = self.block(then)?;
        let between = self.begin_branch();
        let (mut otherwise, b) = self.block(otherwise)?;
        self.end_branches(before, between, decided, &mut then, &mut otherwise)?;
        let names = results.iter().map(|r| self.define(*r)).collect::<Written<Vec<_>>>()?;
        Ok(match (names.as_slice(), a.as_slice(), b.as_slice()) {
            ([], [], []) if otherwise.is_empty() => quote! { if #condition { #then } },
            ([], [], []) => quote! { if #condition { #then } else { #otherwise } },
            ([name], [a], [b]) => {
                let name = typed(name, types.first().and_then(Option::as_ref));
                quote! { let #name = if #condition { #then #a } else { #otherwise #b }; }
            }
            _ => {
                let is_told = types.iter().all(Option::is_none);
                let types = types.into_iter().map(|ty| ty.unwrap_or_else(|| quote! { _ }));
                let types = (!is_told).then(|| quote! { : (#(#types),*) });
                quote! { let (#(#names),*) #types = if #condition { #then (#(#a),*) } else { #otherwise (#(#b),*) }; }
            }
        })
    }

    /// Axis by axis the low side, subtracted, then the high side, added.
    fn sum_sides(&mut self, results: &[LocalId], low: &SideBlocks, high: &SideBlocks) -> Written<TokenStream> {
        let number = self.sums_written;
        self.sums_written += 1;
        let sums = results.iter().map(|r| self.define(*r)).collect::<Written<Vec<_>>>()?;
        let functions = self.side_functions.get(number).cloned().unwrap_or([None, None]);
        let blocks = [&low.interior, &low.boundary, &high.interior, &high.boundary];
        match self.form {
            Form::Cell => {
                let low = self.cell_side(End::Low, low, &functions[0], &sums)?;
                let blocks: Vec<&KBlock> = blocks.into_iter().flatten().collect();
                let high = self.cell_side(End::High, high, &functions[1], &sums)?;
                let sums = self.typed_sums(&sums, &blocks);
                Ok(quote! {
                    #(let mut #sums = 0.0;)*
                    for axis in 0..DIM { #low #high }
                })
            }
            // Inside a row no side is on the boundary.
            Form::Row if self.in_row && low.interior.is_none() && high.interior.is_none() => {
                let sums = self.typed_sums(&sums, &[]);
                Ok(quote! { #(let #sums = 0.0;)* })
            }
            Form::Row if self.in_row => {
                let mut out = quote! { #(let mut #sums = 0.0;)* };
                for axis in 0..3usize {
                    let mut terms = TokenStream::new();
                    for (side, blocks, function) in [(End::Low, low, &functions[0]), (End::High, high, &functions[1])] {
                        if blocks.interior.is_some() {
                            let function = function.as_ref().ok_or(Failure::Form)?;
                            let call = self.row_call(function, axis)?;
                            terms.extend(add_terms(side, &sums, &call));
                        }
                    }
                    let number = proc_macro2::Literal::usize_unsuffixed(axis);
                    out.extend(if axis == 0 {
                        terms
                    } else {
                        quote! { if DIM > #number { #terms } }
                    });
                }
                Ok(out)
            }
            Form::Row | Form::General | Form::PerAxis => Err(Failure::Form),
        }
    }

    /// One side in [`Form::Cell`].
    fn cell_side(
        &mut self,
        side: End,
        blocks: &SideBlocks,
        function: &Option<SideFunction>,
        sums: &[proc_macro2::Ident],
    ) -> Written<TokenStream> {
        let outer = self.side_interior;
        let interior = match (&blocks.interior, function) {
            (None, _) => None,
            (Some(_), Some(function)) => {
                self.side_interior = Some(true);
                let call = self.cell_call(function)?;
                Some(add_terms(side, sums, &call))
            }
            (Some(block), None) => Some(self.inline_side(side, block, true, sums)?),
        };
        let boundary = match &blocks.boundary {
            None => None,
            Some(block) => Some(self.inline_side(side, block, false, sums)?),
        };
        self.side_interior = outer;
        let (inside, outside) = match side {
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

    fn inline_side(&mut self, side: End, block: &KBlock, interior: bool, sums: &[proc_macro2::Ident]) -> Written<TokenStream> {
        self.side_interior = Some(interior);
        let places = self.places.clone();
        self.begin_side(side);
        let written = self.block(block);
        self.end_side();
        let (statements, terms) = written?;
        self.places = places;
        let (op, terms) = (add_or_subtract(side), terms.iter().map(|t| t.at(Level::Choice)));
        let block = quote! { #statements #(#sums #op #terms;)* };
        let high = side.is_high();
        // Subsets are asked for this position more than once: whether the face is in them, and where.
        let position = (!interior && super::text::mentions(&block, "boundary_face"))
            .then(|| quote! { let boundary_face = grid.boundary_face(at, axis, #high); });
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
                    let name = self.local(*id)?;
                    quote! { #name }
                }
            });
        }
        args.extend(self.derivatives_of_side(function, &quote! { axis }));
        Ok(call(function, quote! { axis }, &args))
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
                    let name = self.local(id)?;
                    quote! { #name }
                }
            });
        }
        args.extend(self.derivatives_of_side(function, &quote! { #number }));
        Ok(call(function, quote! { #number }, &args))
    }

    /// The variables that a side function adds derivatives to.
    fn derivatives_of_side(&self, function: &SideFunction, axis: &TokenStream) -> Vec<TokenStream> {
        let variable = |&(unknown, place): &(u32, Place)| {
            let name = self.derivative(unknown, place)?;
            Some(match place {
                Place::Neighbour(_) => quote! { &mut #name[#axis] },
                Place::Here | Place::SideFace(_) => quote! { &mut #name },
            })
        };
        function.reached.iter().filter_map(variable).collect()
    }

    /// Which entry of values per axis belongs to a parameter: the axis for faces, 0 for cells.
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

fn call(function: &SideFunction, axis: TokenStream, args: &[TokenStream]) -> TokenStream {
    let (name, generics) = (&function.name, &function.generics);
    let grid = function.takes.0.then(|| quote! { grid, });
    let axis = function.takes.1.then(|| quote! { #axis, });
    quote! { #name #generics(#grid #axis #(#args),*) }
}

/// The operator that adds terms of a side to a sum over sides. The sign is -1 on the low side, and subtracting is the same as adding the negative, to the bit.
fn add_or_subtract(side: End) -> TokenStream {
    match side {
        End::Low => quote! { -= },
        End::High => quote! { += },
    }
}

/// `sum -= call;` for the low side, `sum += call;` for the high one.
fn add_terms(side: End, sums: &[proc_macro2::Ident], call: &TokenStream) -> TokenStream {
    let op = add_or_subtract(side);
    match sums {
        [] => quote! { #call; },
        [sum] => quote! { #sum #op #call; },
        many => {
            let terms: Vec<_> = (0..many.len()).map(proc_macro2::Literal::usize_unsuffixed).collect();
            quote! {
                let terms = #call;
                #(#many #op terms.#terms;)*
            }
        }
    }
}
