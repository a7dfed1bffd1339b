//! Sums and extremes over the faces of a cell, on any grid.
//!
//! Faces come in ascending order, each with the cell beyond. A short body is written for faces
//! whose first cell is the one that sums and again for faces whose second one is, and for faces
//! inside the grid and on its boundary where that decides what is evaluated: so the values of the
//! cell itself are not looked up through the face, which a compiler could not know to be the same.
//! Where exchanging the cells of a face changes the sign of a term and nothing else, as that of a
//! difference does, both ends add the same.

use equelle_front::backend::faces::{is_antisymmetric, oriented, specialised};
use equelle_front::backend::forms::Refusal;
use equelle_front::ir::{FaceFilter, KBlock, KStmt, LocalId, Path, SideBlocks};
use equelle_front::ops::FaceReduction;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::emit::reduction;
use crate::codegen::emit::stencil_point::{End, FaceNames};
use crate::codegen::emit::text::{Level, Text, ident};
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Writer, Written};

/// The longest body of a sum over faces that is written twice, in statements.
const WRITTEN_TWICE: usize = 8;

/// Names in the loop of a reduction over the faces of a cell.
struct SumNames<'a> {
    reduction: FaceReduction,
    results: &'a [LocalId],
    /// Path of the cell.
    of: &'a Path,
    face: LocalId,
    cell: Ident,
    /// The cell beyond the face.
    neighbour: Ident,
    /// True if the cell that sums is the face's first.
    outward: Ident,
    sums: Vec<Ident>,
    /// Faces of an extreme, if they are asked for.
    extreme_faces: Vec<Ident>,
    /// True if the cell is [`Path::Here`].
    own_is_here: bool,
}

impl Writer<'_> {
    /// The results, from where the reduction begins.
    pub(in crate::codegen) fn reduce_faces(
        &mut self,
        reduction: FaceReduction,
        (results, extreme_faces): (&[LocalId], &[LocalId]),
        cell: &Path,
        (face, only): (LocalId, FaceFilter),
        body: &KBlock,
    ) -> Written<TokenStream> {
        if self.form != Form::General {
            return Err(Failure::Form(Refusal::NestedSum));
        }
        let (of, own_is_here) = (cell, *cell == Path::Here);
        let cell_value = self.entity(cell)?;
        let [cell, neighbour, outward] = ["cell", "neighbour", "outward"].map(|name| ident(&self.namer.fresh(name)));
        let face_name = self.define(face)?;
        let sums = results.iter().map(|r| self.define(*r)).collect::<Written<Vec<_>>>()?;
        let extreme_faces = extreme_faces.iter().map(|f| self.define(*f)).collect::<Written<Vec<_>>>()?;
        let names = SumNames {
            reduction,
            results,
            of,
            face,
            cell: cell.clone(),
            neighbour: neighbour.clone(),
            outward: outward.clone(),
            sums: sums.clone(),
            extreme_faces: extreme_faces.clone(),
            own_is_here,
        };
        let outermost = self.known_faces.is_empty();
        let (terms, uses) = self.noted(|writer| writer.terms_by_extent(&names, only, body))?;
        self.uses.append(&uses);
        // Elements of the current cell are loaded once.
        let mut loads = TokenStream::new();
        if outermost {
            for (param, (name, value)) in std::mem::take(&mut self.loaded_here) {
                if uses.has(Use::LoadedHere(param)) {
                    loads.extend(quote! { let #name = #value; });
                }
            }
        }
        let [shown_face, shown_outward] = [(&face_name, Use::Local(face)), (&outward, Use::Outward(face))].map(|(name, what)| {
            if uses.has(what) {
                quote! { #name }
            } else {
                quote! { _ }
            }
        });
        self.uses.add(Use::Sides);
        let grid = self.grid();
        let (starts, sums) = (reduction::starts_of(self, reduction, results), self.typed_sums(&sums, &[body]));
        let none = (!extreme_faces.is_empty()).then(|| self.none());
        Ok(quote! {
            #(let mut #sums = #starts;)*
            #(let mut #extreme_faces = #none;)*
            #loads
            let #cell = #cell_value;
            for (#shown_face, #neighbour, #shown_outward) in #grid.sides_of(#cell) { #terms }
        })
    }

    /// Adds the terms of the current face: inside the grid and on its boundary, as far as they are
    /// wanted and differ.
    fn terms_by_extent(&mut self, names: &SumNames<'_>, only: FaceFilter, body: &KBlock) -> Written<TokenStream> {
        let SumNames { face, neighbour, outward, sums, .. } = names;
        let inside = match self.staged.get(face).cloned() {
            None => None,
            Some(staged) => {
                let outward_of = Use::Outward(*face);
                self.uses.add(outward_of);
                let face = self.read_local(*face)?;
                let terms: Vec<Ident> = sums.iter().map(|sum| ident(&self.namer.fresh(&format!("{sum}_term")))).collect();
                Some(quote! {
                    let [#(#terms),*] = #staged[#face as usize];
                    if #outward { #(#sums += #terms;)* } else { #(#sums -= #terms;)* }
                })
            }
        };
        // The pattern of an equation follows the conditions of its skeleton, which stay as they
        // are.
        let derived = self.derivatives.is_some();
        let part = |writer: &mut Self, interior: bool| match &inside {
            Some(inside) if interior => Ok(inside.clone()),
            _ if derived => writer.signed_terms(names, body),
            _ => {
                let body = specialised(&writer.module.sets, body, *face, interior);
                writer.signed_terms(names, &body)
            }
        };
        Ok(match only {
            FaceFilter::All if inside.is_none() && (derived || specialised(&self.module.sets, body, *face, true) == *body) => {
                self.signed_terms(names, body)?
            }
            FaceFilter::All => {
                let (inside, outside, none) = (part(self, true)?, part(self, false)?, self.none());
                quote! { if #neighbour != #none { #inside } else { #outside } }
            }
            FaceFilter::Interior => {
                let (inside, none) = (part(self, true)?, self.none());
                quote! { if #neighbour != #none { #inside } }
            }
            FaceFilter::Boundary => {
                let (outside, none) = (part(self, false)?, self.none());
                quote! { if #neighbour == #none { #outside } }
            }
        })
    }

    /// Adds the terms of the current face to the sums, with its sign.
    fn signed_terms(&mut self, names: &SumNames<'_>, body: &KBlock) -> Written<TokenStream> {
        let SumNames { reduction, of, face, cell, neighbour, outward, sums, own_is_here, .. } = names;
        let twice = self.written_twice(*face, statements(body) <= WRITTEN_TWICE);
        // Multiplying by the sign is exact.
        let sign = if twice { None } else { Some(ident(&self.namer.fresh("sign"))) };
        let known = |own: Option<End>, first: &Ident, second: &Ident| FaceNames {
            face: *face,
            first: first.clone(),
            second: second.clone(),
            own,
            own_is_here: *own_is_here,
        };
        if !twice {
            let [from, to] = ["from", "to"].map(|name| ident(&self.namer.fresh(name)));
            let ((before, terms), uses) = self.noted(|writer| writer.block_at(known(None, &from, &to), body, &sign))?;
            self.uses.append(&uses);
            let signed = *reduction == FaceReduction::Sum && !sums.is_empty();
            let body = if signed {
                let sign = Text::atom(&sign);
                let mut added = TokenStream::new();
                for ((&local, sum), term) in names.results.iter().zip(sums).zip(&terms) {
                    added.extend(if reduction::is_vector(self, local) {
                        let term = self.call("vector_mul", &[term.clone(), sign.clone()]);
                        reduction::take_in_vector(self, sum, End::High, &term)
                    } else {
                        let term = term.at(Level::Cast);
                        quote! { #sum += #sign * #term; }
                    });
                }
                quote! { #before #added }
            } else {
                let terms = take_in_all(self, names, End::High, &terms)?;
                quote! { #before #terms }
            };
            let sign = sign.filter(|_| signed || uses.has(Use::Sign(*face)));
            let ends = uses.has(Use::Ends(*face));
            if sign.is_some() || ends {
                self.uses.add(Use::Outward(*face));
            }
            let sign = sign.map(|sign| quote! { let #sign = if #outward { 1.0 } else { -1.0 }; });
            let ends = ends.then(|| quote! { let [#from, #to] = if #outward { [#cell, #neighbour] } else { [#neighbour, #cell] }; });
            return Ok(quote! { #sign #ends #body });
        }
        let ends = [known(Some(End::Low), cell, neighbour), known(Some(End::High), neighbour, cell)];
        let [low, high] = ends.clone();
        // An equation keeps its conditions, which its pattern follows.
        let derived = self.derivatives.is_some();
        let [as_first, as_second] = [true, false].map(|is_first| if derived { body.clone() } else { oriented(body, *face, of, is_first) });
        let (before_added, added) = self.block_at(low, &as_first, &sign)?;
        let ((before_subtracted, subtracted), uses) = self.noted(|writer| writer.block_at(high, &as_second, &sign))?;
        let added = take_in_all(self, names, End::High, &added)?;
        let subtracted = take_in_all(self, names, End::Low, &subtracted)?;
        if *reduction == FaceReduction::Sum
            && !derived
            && body.statements.is_empty()
            && body.yields.iter().all(|term| is_antisymmetric(term, *face))
        {
            return Ok(added);
        }
        self.uses.append(&uses);
        self.uses.add(Use::Outward(*face));
        Ok(quote! {
            if #outward {
                #before_added
                #added
            } else {
                #before_subtracted
                #subtracted
            }
        })
    }

    /// The body of a sum at a face.
    fn block_at(&mut self, known: FaceNames, body: &KBlock, sign: &Option<Ident>) -> Written<(TokenStream, Vec<Text>)> {
        let (own, face) = (known.own, known.face);
        self.known_faces.push(known);
        self.begin_sum(own, face, sign);
        let written = self.block(body);
        self.end_sum();
        self.known_faces.pop();
        written
    }
}

/// Number of statements of a block and of the blocks in it.
fn statements(block: &KBlock) -> usize {
    let within = |statement: &KStmt| match statement {
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => 0,
        KStmt::ReduceFaces { body, .. } => statements(body),
        KStmt::ReduceSides { low, high, .. } => {
            let SideBlocks { interior, boundary } = low;
            [interior, boundary, &high.interior, &high.boundary].into_iter().flatten().map(statements).sum()
        }
        KStmt::If { then, otherwise, .. } => statements(then) + statements(otherwise),
    };
    block.statements.iter().map(|statement| 1 + within(statement)).sum()
}

fn take_in_all(writer: &mut Writer, names: &SumNames<'_>, side: End, terms: &[Text]) -> Written<TokenStream> {
    let mut out = TokenStream::new();
    let mut face = TokenStream::new();
    if !names.extreme_faces.is_empty() {
        let entity = writer.entity(&Path::Local(names.face))?;
        face = quote! { #entity };
    }
    for (i, ((&local, result), term)) in names.results.iter().zip(&names.sums).zip(terms).enumerate() {
        out.extend(if reduction::is_vector(writer, local) {
            reduction::take_in_vector(writer, result, side, term)
        } else {
            let found = names.extreme_faces.get(i).map(|found| (found, &face));
            reduction::take_in(writer, names.reduction, (result, found), side, term)
        });
    }
    Ok(out)
}
