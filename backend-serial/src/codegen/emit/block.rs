//! Statements of kernels.

use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId, Path};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::stencil::leads_to_cell;
use super::text::Text;
use super::writer::{Form, Writer, Written};

/// A name that is being defined, with its type where nothing else tells it.
fn typed(name: &Ident, ty: Option<&TokenStream>) -> TokenStream {
    match ty {
        Some(ty) => quote! { #name: #ty },
        None => quote! { #name },
    }
}

impl Writer<'_> {
    /// Statements of a block, and its values.
    pub(in crate::codegen) fn block(&mut self, block: &KBlock) -> Written<(TokenStream, Vec<Text>)> {
        let mut out = TokenStream::new();
        for statement in &block.statements {
            out.extend(self.statement(statement)?);
        }
        let yields = block.yields.iter().map(|y| self.expr(y)).collect::<Written<Vec<Text>>>()?;
        Ok((out, yields))
    }

    pub(in crate::codegen) fn statement(&mut self, statement: &KStmt) -> Written<TokenStream> {
        match statement {
            KStmt::Let { local, value } => {
                let ty = self.untyped(value);
                let value = self.expr(value)?;
                let name = self.define(*local)?;
                let name = typed(&name, ty.as_ref());
                Ok(quote! { let #name = #value; })
            }
            KStmt::LetEntity { local, path } => {
                if self.form == Form::Stencil && leads_to_cell(self, path) {
                    self.stencil.cells.insert(*local, path.clone());
                    return Ok(TokenStream::new());
                }
                if let Some(place) = self.place(path) {
                    self.places.insert(*local, place);
                    return Ok(TokenStream::new());
                }
                if let (Form::Row, Path::Select { condition, if_true, if_false }) = (self.form, path)
                    && let (Some(a), Some(b)) = (self.place(if_true), self.place(if_false))
                {
                    // Rows have no element indices, so each read chooses between the two places.
                    let condition = self.expr(condition)?;
                    let name = self.define(*local)?;
                    self.choices.insert(*local, (name.clone(), a, b));
                    return Ok(quote! { let #name = #condition; });
                }
                let entity = self.entity(path)?;
                let name = self.define(*local)?;
                Ok(quote! { let #name = #entity; })
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                self.reduce_faces(*reduction, (results, extreme_faces), cell, (*face, *only), body)
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                self.reduce_sides(*reduction, (results, extreme_faces), low, high)
            }
            KStmt::If { results, condition, then, otherwise } => self.if_statement(results, condition, then, otherwise),
            KStmt::Add { unknown, at, value } => self.add(*unknown, at, value),
        }
    }

    /// Sums with terms of these blocks, with their types where nothing else tells them.
    pub(in crate::codegen) fn typed_sums(&self, sums: &[Ident], blocks: &[&KBlock]) -> Vec<TokenStream> {
        let ty = self.reals.ty();
        let ty = quote! { #ty };
        let untyped = |k: usize| blocks.iter().all(|block| block.yields.get(k).is_none_or(|term| self.is_made_of_literals(term)));
        let is_vector = |k: usize| blocks.iter().any(|block| block.yields.get(k).is_some_and(|term| self.is_vector(term)));
        let ty_of = |k: usize| {
            if is_vector(k) {
                quote! { [#ty; DIM] }
            } else {
                ty.clone()
            }
        };
        sums.iter().enumerate().map(|(k, name)| typed(name, untyped(k).then(|| ty_of(k)).as_ref())).collect()
    }

    pub(in crate::codegen) fn define(&mut self, local: LocalId) -> Written<proc_macro2::Ident> {
        self.own_locals.push(local);
        self.local(local)
    }

    fn if_statement(&mut self, results: &[LocalId], condition: &KExpr, then: &KBlock, otherwise: &KBlock) -> Written<TokenStream> {
        let decided = self.decided(condition);
        let untyped = |writer: &mut Self, a, b| if writer.is_made_of_literals(a) { writer.untyped(b) } else { None };
        let types: Vec<Option<TokenStream>> = then.yields.iter().zip(&otherwise.yields).map(|(a, b)| untyped(self, a, b)).collect();
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
}
