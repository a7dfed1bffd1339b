//! Statements of the bodies for Cartesian grids: what is loaded first, and sums over the sides of a
//! cell.

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{KBlock, KExpr, ParamId, Path, Side, SideBlocks};
use equelle_front::ops::FaceReduction;
use equelle_front::types::{Basic, CanonicalSet, EntityKind};

use crate::codegen::emit::block::Reduced;
use crate::codegen::emit::writer::Writer;

impl Writer<'_> {
    /// True if a parameter has a number, in memory, for every cell: what only some cells have must
    /// not be loaded before a test says that it is there.
    pub(in crate::codegen) fn is_everywhere(&self, param: ParamId) -> bool {
        let param = &self.kernel.params[param.0 as usize];
        let all = param.ty.mapping().is_some_and(|set| self.sets.get(set).canonical == Some(CanonicalSet::ALL_CELLS));
        all && param.ty.basic == Basic::Scalar && !param.per_axis
    }

    /// Loads what a Cartesian body reads of the cell itself, and what is kept per axis, before
    /// anything else, so that no branch stands before the loads.
    pub(in crate::codegen) fn load_here(&mut self, block: &KBlock) {
        let mut wanted: Vec<ParamId> = Vec::new();
        visit_block(block, &mut |node| {
            if let Node::Expr(KExpr::Load { param, at: Path::Here }) = node
                && self.is_everywhere(*param)
                && !wanted.contains(param)
            {
                wanted.push(*param);
            }
        });
        for param in wanted {
            let value = self.load(param, &Path::Here);
            let name = self.names.fresh(&format!("{}_here", self.params[param.0 as usize]));
            self.line(&format!("const {} {name} = {value};", self.reals.number()));
            self.here.insert(param, name);
        }
        self.load_per_axis(block);
    }

    /// Loads what is kept per axis.
    pub(in crate::codegen) fn load_per_axis(&mut self, block: &KBlock) {
        let mut kept: Vec<ParamId> = Vec::new();
        visit_block(block, &mut |node| {
            if let Node::Expr(KExpr::Load { param, .. }) = node
                && self.kernel.params[param.0 as usize].per_axis
                && !kept.contains(param)
            {
                kept.push(*param);
            }
        });
        for param in kept {
            let of = self.param(param);
            let faces = self.kernel.params[param.0 as usize].ty.mapping().is_some_and(|set| self.sets.get(set).kind == EntityKind::Face);
            let name = self.names.fresh(&format!("{of}_{}", if faces { "axis" } else { "here" }));
            if faces {
                self.line(&format!("{} {name}[DIM];", self.reals.number()));
                self.line("#pragma unroll");
                self.line(&format!("for (int axis = 0; axis < DIM; ++axis) {name}[axis] = {of}[axis];"));
            } else {
                self.line(&format!("const {} {name} = {of}[0];", self.reals.number()));
            }
            self.per_axis.insert(param, name);
        }
    }

    /// Loads what the interior sides read of their neighbours before any of it is used. Left in
    /// place, each load would wait for the boundary code of the sides before it: 0.156 instead of
    /// 0.126 ms per step of explicit heat on 256^3 cells.
    pub(in crate::codegen) fn load_neighbours(&mut self, low: &SideBlocks, high: &SideBlocks) {
        let mut wanted: Vec<(ParamId, u32)> = Vec::new();
        for (blocks, number) in [(low, 0), (high, 1)] {
            if let Some(block) = &blocks.interior {
                visit_block(block, &mut |node| {
                    if let Node::Expr(KExpr::Load { param, at: Path::Shift { .. } }) = node
                        && self.is_everywhere(*param)
                        && !wanted.contains(&(*param, number))
                    {
                        wanted.push((*param, number));
                    }
                });
            }
        }
        if wanted.is_empty() {
            return;
        }
        let mut lines = [Vec::new(), Vec::new()];
        for &(param, number) in &wanted {
            let side = if number == 0 { Side::Low } else { Side::High };
            let value = self.load(param, &Path::neighbour(side));
            let name = self.names.fresh(&format!("{}_{}", self.params[param.0 as usize], if number == 0 { "low" } else { "high" }));
            let zeros = if self.inside { "" } else { " = {}" };
            self.line(&format!("{} {name}[DIM]{zeros};", self.reals.number()));
            lines[number as usize].push(format!("{name}[axis] = {value};"));
            self.neighbours.insert((param, number), name);
        }
        self.line("#pragma unroll");
        self.open("for (int axis = 0; axis < DIM; ++axis) {");
        for (number, lines) in lines.iter().enumerate().filter(|(_, lines)| !lines.is_empty()) {
            if self.inside {
                lines.iter().for_each(|line| self.line(line));
                continue;
            }
            self.open(&format!("if (!eq_side_on_boundary(g, cell, axis, {number})) {{"));
            lines.iter().for_each(|line| self.line(line));
            self.close("}");
        }
        self.close("}");
    }

    pub(in crate::codegen) fn side(&mut self, (reduction, results, extreme_faces): Reduced<'_>, blocks: &SideBlocks, high: u32) {
        let sign = if high == 1 { '+' } else { '-' };
        let end = if high == 1 { Side::High } else { Side::Low };
        let add = |w: &mut Self, block: &KBlock| {
            w.begin_side(end);
            w.statements(block);
            w.end_side();
            for (i, (&result, term)) in results.iter().zip(&block.yields).enumerate() {
                let term = w.expr(term);
                if reduction == FaceReduction::Sum {
                    let name = w.local(result).to_owned();
                    w.line(&format!("{name} = {name} {sign} {term};"));
                } else {
                    w.take_in_extreme(reduction, (result, extreme_faces.get(i).copied()), &Path::SideFace(end), &term);
                }
            }
        };
        let boundary = format!("eq_side_on_boundary(g, cell, axis, {high})");
        match (&blocks.interior, &blocks.boundary) {
            (None, None) => {}
            (Some(interior), _) if self.inside => add(self, interior),
            (None, Some(_)) if self.inside => {}
            (Some(interior), None) => {
                self.open(&format!("if (!{boundary}) {{"));
                add(self, interior);
                self.close("}");
            }
            (None, Some(block)) => {
                self.open(&format!("if ({boundary}) {{"));
                add(self, block);
                self.close("}");
            }
            (Some(interior), Some(block)) => {
                self.open(&format!("if (!{boundary}) {{"));
                add(self, interior);
                self.close("} else {");
                self.deeper();
                add(self, block);
                self.close("}");
            }
        }
    }
}
