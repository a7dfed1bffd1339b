//! Reads of kernels.

use std::collections::BTreeMap;

use super::{Checker, furthest, told_from};
use crate::ir::{CartesianForm, FaceFilter, KBlock, KExpr, KStmt, Kernel, LocalId, ParamId, Path, ValueId};
use crate::types::CanonicalSet;

/// One walk over the bodies of a kernel, for a launch.
pub(super) struct Walk<'a, 'b> {
    checker: &'a mut Checker<'b>,
    kernel: &'a Kernel,
    args: &'a [ValueId],
    /// Layers from an element of each argument to the entity that it holds. `[args]`
    leads: Vec<u32>,
    /// Layers from the element to entity locals.
    locals: BTreeMap<LocalId, u32>,
    /// Layers to which the results are right, as far as the walk has come.
    right: u32,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub fn new(checker: &'a mut Checker<'b>, kernel: &'a Kernel, args: &'a [ValueId], leads: Vec<u32>) -> Self {
        let right = checker.layers;
        Walk { checker, kernel, args, leads, locals: BTreeMap::new(), right }
    }

    /// Layers to which the results are right, and from each to the entity that it holds.
    pub fn kernel(mut self) -> (u32, Vec<u32>) {
        let kernel = self.kernel;
        if let Some(set) = kernel.space_set() {
            let left = self.checker.member(set, 0);
            self.keep(left);
        }
        for check in &kernel.checks {
            self.expr(&check.condition);
        }
        let mut leads = self.block(&kernel.body);
        if let Some(CartesianForm::Full(block)) = &kernel.cartesian {
            let others = self.block(block);
            leads = leads.into_iter().zip(others).map(|(a, b)| a.max(b)).collect();
        }
        if let Some(form) = &kernel.jacobian {
            self.block(&form.body);
            form.cartesian.iter().for_each(|block| drop(self.block(block)));
        }
        (self.right, leads)
    }

    fn keep(&mut self, left: u32) {
        self.right = self.right.min(left);
    }

    /// Walks over a block. Layers to the entities that it yields, 0 for other values.
    fn block(&mut self, block: &KBlock) -> Vec<u32> {
        for statement in &block.statements {
            self.statement(statement);
        }
        block.yields.iter().map(|value| if let KExpr::Entity(path) = value { self.path(path) } else { self.value(value) }).collect()
    }

    fn value(&mut self, expr: &KExpr) -> u32 {
        self.expr(expr);
        0
    }

    fn statement(&mut self, statement: &KStmt) {
        match statement {
            KStmt::Let { local: _, value } => self.expr(value),
            KStmt::LetEntity { local, path } => {
                let at = self.path(path);
                self.locals.insert(*local, at);
            }
            KStmt::ReduceFaces { reduction: _, results: _, extreme_faces, cell, face, only, body } => {
                let at = self.path(cell);
                match only {
                    FaceFilter::All => {}
                    FaceFilter::Interior => self.set(CanonicalSet::INTERIOR_FACES, at),
                    FaceFilter::Boundary => self.set(CanonicalSet::BOUNDARY_FACES, at),
                }
                self.locals.insert(*face, at);
                for local in extreme_faces {
                    self.locals.insert(*local, at);
                }
                self.block(body);
            }
            KStmt::ReduceSides { reduction: _, results: _, extreme_faces, low, high } => {
                for local in extreme_faces {
                    self.locals.insert(*local, 0);
                }
                for side in [low, high] {
                    if side.interior != side.boundary {
                        self.set(CanonicalSet::BOUNDARY_FACES, 0);
                    }
                    for block in [&side.interior, &side.boundary].into_iter().flatten() {
                        self.block(block);
                    }
                }
            }
            KStmt::If { results: _, condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                self.block(otherwise);
            }
            KStmt::Add { unknown: _, at, value } => {
                self.path(at);
                self.expr(value);
            }
        }
    }

    fn set(&mut self, set: CanonicalSet, at: u32) {
        let left = self.checker.member(self.checker.module.sets.canonical(set), at);
        self.keep(left);
    }

    fn param(&mut self, param: ParamId, at: u32) {
        if let Some(&arg) = self.args.get(param.0 as usize) {
            let left = self.checker.read(arg, at);
            self.keep(left);
        }
    }

    /// Layers from the element to the end of a path.
    fn path(&mut self, path: &Path) -> u32 {
        let at = match path {
            Path::Here | Path::SideFace(_) | Path::Empty => 0,
            Path::Local(local) => self.locals.get(local).copied().unwrap_or_default(),
            Path::First(face) | Path::Second(face) => {
                let within = self.kernel.path_within(&self.checker.module.sets, face);
                self.path(face) + self.checker.beyond_face(within)
            }
            Path::Through { param, at } => {
                let at = self.path(at);
                self.param(*param, at);
                at + self.leads.get(param.0 as usize).copied().unwrap_or_default()
            }
            Path::Select { condition, if_true, if_false } => {
                self.expr(condition);
                self.path(if_true).max(self.path(if_false))
            }
            Path::Shift { from, by } => self.path(from) + u32::from(by.unsigned_abs()),
            Path::Offset { from, by, beyond: _ } => self.path(from) + furthest(by),
        };
        let left = self.checker.exists(at);
        self.keep(left);
        at
    }

    fn expr(&mut self, expr: &KExpr) {
        match expr {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::Local(_) | KExpr::Param(_) | KExpr::ZeroVector => {}
            KExpr::Load { param, at } => {
                let at = self.path(at);
                self.param(*param, at);
            }
            KExpr::Measure(path)
            | KExpr::Centroid(path)
            | KExpr::FaceGap(path)
            | KExpr::FaceTransmissibility(path)
            | KExpr::Normal(path)
            | KExpr::IsEmpty(path)
            | KExpr::Entity(path) => {
                self.path(path);
            }
            KExpr::CellFact { fact, at } => {
                let at = self.path(at);
                let left = self.checker.exists(at + told_from(*fact));
                self.keep(left);
            }
            KExpr::Member { set, at } => {
                let at = self.path(at);
                let left = self.checker.member(*set, at);
                self.keep(left);
            }
            KExpr::Same(a, b) | KExpr::Displacement { to: a, from: b, is_stored: _ } => {
                self.path(a);
                self.path(b);
            }
            KExpr::Unary(_, a) | KExpr::Component(a, _) | KExpr::Interpolate { table: _, of: _, argument: a } => self.expr(a),
            KExpr::Arithmetic(_, a, b) | KExpr::Compare(_, a, b) | KExpr::Logic(_, a, b) | KExpr::Dot(a, b) | KExpr::Math(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            KExpr::Select { condition, if_true, if_false } => {
                self.expr(condition);
                self.expr(if_true);
                self.expr(if_false);
            }
            KExpr::Vector(components) => components.iter().for_each(|component| self.expr(component)),
        }
    }
}
