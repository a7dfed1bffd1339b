//! Terms of faces made once: a sum over the faces of every cell, whose terms depend on the face
//! alone, meets each interior face from both of its cells. Where a term costs more than to store it
//! and to read it twice, a loop over the faces makes the terms of interior ones first, and the loop
//! over the cells only adds them: the same terms in the same order. A boundary face has one cell,
//! which makes its terms when it adds them. What terms need of one cell is evaluated once for each
//! cell before.

use std::collections::BTreeSet;

use equelle_front::backend::faces::specialised;
use equelle_front::backend::tabulated::{Tabulated, tabulated};
use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::backend::{KernelNames, Namer, Scratch};
use equelle_front::cost::CostModel;
use equelle_front::ir::{FaceFilter, KBlock, KExpr, KStmt, Kernel, LocalId, Module, Path, Space};
use equelle_front::ops::FaceReduction;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::face_terms::{FaceTerms, cell_value_count, face_terms};
use crate::codegen::costs::COSTS;
use crate::codegen::emit::reals::Reals;
use crate::codegen::emit::reduction;
use crate::codegen::emit::stencil_point::FaceNames;
use crate::codegen::emit::text::{Level, ident};
use crate::codegen::emit::uses::Use;
use crate::codegen::emit::writer::{Failure, Form, Source, Writer, Written};

/// Returns the buffers that the general bodies of kernels keep while they run, by kernel.
pub(in crate::codegen) fn scratch(module: &Module) -> Vec<Scratch> {
    let names = KernelNames::for_module(module);
    // Equations share what tables give at unknowns until all have been evaluated.
    let mut tables_of_cells = BTreeSet::new();
    for Tabulated { kernel, general, cartesian } in module.kernels.iter().filter_map(|kernel| tabulated(module, kernel)) {
        let params = general.iter().chain(&cartesian).flat_map(|group| &group.tables).map(|(_, _, param)| param.0 as usize);
        tables_of_cells.extend(params.filter_map(|param| kernel.params.get(param)).map(|param| param.name.clone()));
    }
    let of_kernel = |(kernel, names): (&Kernel, _)| {
        let mut writer = Writer::new(Source { module, kernel, names, tables: &[] }, Form::General, &Namer::rust());
        let mut kept = Scratch::default();
        for (results, face, body) in writer.staged_sums() {
            kept.of_faces += results.len() as u32;
            kept.of_cells += cell_value_count(&mut writer, face, &body);
        }
        if kernel.jacobian.is_some() {
            kept.of_cells += tables_of_cells.len() as u32;
        }
        kept
    };
    module.kernels.iter().zip(&names).map(of_kernel).collect()
}

impl<'a> Writer<'a> {
    /// Sums of the kernel's body whose terms are made before its loop: the results, the face, and
    /// the body where the face is an interior one.
    fn staged_sums(&self) -> Vec<(&'a [LocalId], LocalId, KBlock)> {
        let Space::Set(set) = self.kernel.space else { return Vec::new() };
        // Conditions must hold before anything is evaluated; and collections that round what is
        // stored would round terms.
        if !self.is_all(set) || !self.kernel.checks.is_empty() || self.reals == Reals::Rounded {
            return Vec::new();
        }
        let mut sums = Vec::new();
        for statement in &self.kernel.body.statements {
            let KStmt::ReduceFaces {
                reduction: FaceReduction::Sum,
                results,
                cell: Path::Here,
                face,
                only: FaceFilter::All | FaceFilter::Interior,
                body,
                ..
            } = statement
            else {
                continue;
            };
            if results.iter().any(|result| reduction::is_vector(self, *result)) {
                continue;
            }
            let body = specialised(&self.module.sets, body, *face, true);
            if is_face_local(&body, *face) && cost(&body, &COSTS) > COSTS.stage {
                sums.push((&results[..], *face, body));
            }
        }
        sums
    }

    /// The loops that make terms of faces for sums of the kernel's body; the body then reads them.
    pub(in crate::codegen) fn stage(&mut self) -> Written<TokenStream> {
        let mut loops = TokenStream::new();
        for (results, face, body) in self.staged_sums() {
            loops.extend(self.stage_sum(results, face, &body)?);
        }
        Ok(loops)
    }

    fn stage_sum(&mut self, results: &[LocalId], face: LocalId, body: &KBlock) -> Written<TokenStream> {
        let [from, to] = ["from", "to"].map(|name| ident(&self.namer.fresh(name)));
        let name = self.local(face)?;
        let sums = results.iter().map(|r| self.local(*r)).collect::<Written<Vec<_>>>()?;
        let terms_of = sums.iter().map(ToString::to_string).collect::<Vec<_>>().join("`, `");
        let [buffer, part, all] = ["buffer", "part", "terms_of_faces"].map(|name| ident(&self.namer.fresh(name)));
        self.known_faces.push(FaceNames { face, first: from.clone(), second: to.clone(), own: None, own_is_here: false });
        let written = match self.noted(|writer| face_terms(writer, face, body)) {
            Err(Failure::Form(_)) => self.noted(|writer| writer.block(body)).map(|((statements, terms), uses)| {
                (FaceTerms { cells: TokenStream::new(), slices: TokenStream::new(), statements, terms }, TokenStream::new(), uses)
            }),
            written => written.map(|(terms, uses)| (terms, quote! { let cells = rt.grid().n_cells(); }, uses)),
        };
        self.known_faces.pop();
        let (FaceTerms { cells, slices, statements: before, terms }, count, uses) = written?;
        self.uses.append(&uses);
        self.uses.add_all([Use::Runtime, Use::FaceCells]);
        let (grid, none) = (self.grid(), self.none());
        let terms = terms.iter().map(|term| term.at(Level::Choice));
        let size = Literal::usize_unsuffixed(results.len());
        let comment = format!("Terms of `{terms_of}`, the same for both cells of a face: made here, added below.");
        self.staged.insert(face, all.clone());
        Ok(quote! {
            #count
            #cells
            __comment!(#comment);
            let mut #buffer = rt.take_buffer(#size * rt.grid().n_faces());
            rt.each(rt.grid().n_faces(), #buffer.as_chunks_mut::<#size>().0, move |range, #part| {
                #slices
                for position in range.clone() {
                    let #name = position as u32;
                    let [#from, #to] = #grid.face_cells(#name);
                    if #from == #none || #to == #none { continue; }
                    #before
                    #part[position - range.start] = [#(#terms),*];
                }
            });
            let #all = #buffer.as_chunks::<#size>().0;
        })
    }
}

/// True if the terms of a face depend on nothing else of the cell that sums.
fn is_face_local(body: &KBlock, face: LocalId) -> bool {
    let (mut own, mut used, mut alone) = (vec![face], Vec::new(), true);
    visit_block(body, &mut |node| match node {
        Node::Stmt(KStmt::Let { local, .. } | KStmt::LetEntity { local, .. }) => own.push(*local),
        Node::Stmt(KStmt::If { results, .. }) => own.extend(results),
        Node::Stmt(KStmt::ReduceFaces { results, face, .. }) => {
            own.extend(results);
            own.push(*face);
        }
        Node::Stmt(KStmt::ReduceSides { .. } | KStmt::Add { .. }) | Node::Path(Path::Here) => alone = false,
        Node::Expr(KExpr::Local(local)) | Node::Path(Path::Local(local)) => used.push(*local),
        Node::Expr(_) | Node::Path(_) => {}
    });
    alone && used.iter().all(|local| own.contains(local))
}

/// Returns the cost of evaluating a block; both branches of a choice count.
fn cost(block: &KBlock, model: &CostModel) -> u32 {
    let mut cost = 0_u32;
    visit_block(block, &mut |node| {
        cost = cost.saturating_add(match node {
            Node::Expr(expr) => model.expression(expr),
            Node::Stmt(KStmt::ReduceFaces { .. }) => model.sum,
            Node::Stmt(_) | Node::Path(_) => 0,
        });
    });
    cost
}

#[cfg(test)]
mod tests {
    use equelle_front::ir::{ParamId, UnaryOp};
    use equelle_front::ops::Arithmetic;

    use super::*;

    fn load(at: Path) -> KExpr {
        KExpr::Load { param: ParamId(0), at }
    }

    fn block(value: KExpr) -> KBlock {
        KBlock { statements: vec![KStmt::Let { local: LocalId(1), value }], yields: vec![KExpr::Local(LocalId(1))] }
    }

    #[test]
    fn what_a_term_depends_on() {
        let face = LocalId(0);
        let first = || Path::First(Box::new(Path::Local(face)));
        assert!(is_face_local(&block(load(first())), face));
        assert!(!is_face_local(&block(load(Path::Here)), face), "the cell that sums");
        assert!(!is_face_local(&block(KExpr::Local(LocalId(7))), face), "made outside the sum");
        let add = KStmt::Add { unknown: ParamId(0), at: first(), value: KExpr::Real(1.0) };
        assert!(!is_face_local(&KBlock { statements: vec![add], yields: vec![] }, face), "derivatives go to the row of the cell");
    }

    #[test]
    fn what_a_term_costs() {
        let at = || Path::Local(LocalId(0));
        let difference = KExpr::Arithmetic(Arithmetic::Sub, Box::new(load(at())), Box::new(load(at())));
        let cost = |block: &KBlock| super::cost(block, &crate::codegen::costs::COSTS);
        assert_eq!(cost(&block(difference.clone())), 3);
        let root = KExpr::Unary(UnaryOp::Sqrt, Box::new(difference.clone()));
        assert_eq!(cost(&block(KExpr::Arithmetic(Arithmetic::Div, Box::new(root), Box::new(difference)))), 36);
    }
}
