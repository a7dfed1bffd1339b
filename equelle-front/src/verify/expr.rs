//! Paths and expressions in kernels.

use crate::ir::{KExpr, Path, Side, UnaryOp};
use crate::ops::{Arithmetic, Comparison, MAX_OFFSET};
use crate::types::{Basic, EntityKind, Shape, Type};
use crate::verify::kernel::{Checker, Form};
use crate::verify::types::exists;

impl Checker<'_> {
    /// Checks an expression that has to give values of `basic`.
    pub fn expect_expr(&mut self, expr: &KExpr, basic: Basic, what: &str) {
        if let Some(found) = self.expr(expr)
            && found != basic
        {
            self.error(format!("{what} is a {found:?}, but a {basic:?} is needed"));
        }
    }

    /// Checks an expression. `None` if it is wrong, which has been reported.
    pub fn expr(&mut self, expr: &KExpr) -> Option<Basic> {
        match expr {
            KExpr::Real(_) => Some(Basic::Scalar),
            KExpr::Bool(_) => Some(Basic::Bool),
            KExpr::Local(id) => {
                self.local(*id)?;
                match self.kernel.local_type(*id)?.basic {
                    basic @ (Basic::Scalar | Basic::Vector | Basic::Bool) => Some(basic),
                    Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => self.fail("an entity is no value"),
                }
            }
            KExpr::Interpolate { table, argument, .. } => {
                match self.kernel.param(*table) {
                    Some(p) if p.ty == Type::TABLE => {}
                    Some(p) => {
                        let message = format!("`{}` is {}, no Table", p.name, self.shown(&p.ty));
                        self.error(message);
                    }
                    None => self.error("there is no such parameter"),
                }
                self.expect_expr(argument, Basic::Scalar, "the argument of a table");
                Some(Basic::Scalar)
            }
            KExpr::Param(id) => match self.kernel.param(*id) {
                None => self.fail("there is no such parameter"),
                Some(p) if p.ty == Type::TABLE => self.fail(format!("`{}` is a table, which has values at numbers", p.name)),
                Some(p) if p.ty.shape == Shape::Single => Some(p.ty.basic),
                Some(p) => {
                    let message = format!("`{}` is {}: an element of it is read at an entity", p.name, self.shown(&p.ty));
                    self.fail(message)
                }
            },
            KExpr::Load { param, at } => {
                let kind = self.path(at);
                let Some(p) = self.kernel.param(*param) else { return self.fail("there is no such parameter") };
                let Shape::Collection(set) = p.ty.shape else { return self.fail(format!("`{}` is no collection", p.name)) };
                if p.ty.entity_kind().is_some() {
                    return self.fail(format!("`{}` holds entities, which are paths, no values", p.name));
                }
                if self.form == Form::PerAxis && !p.per_axis {
                    return self.fail(format!("a per-axis form reads only per-axis collections, not `{}`", p.name));
                }
                self.entity_of(kind, at, set, &format!("`{}`", p.name));
                Some(p.ty.basic)
            }
            KExpr::Measure(p) => {
                self.existing(p);
                Some(Basic::Scalar)
            }
            KExpr::Centroid(p) => {
                self.existing(p);
                if self.form == Form::PerAxis {
                    return self.fail("a centroid is not the same along an axis; a displacement is");
                }
                Some(Basic::Vector)
            }
            KExpr::Normal(p) => self.check_face(p, "a normal"),
            KExpr::FaceGap(p) => self.check_face(p, "a gap"),
            KExpr::FaceTransmissibility(p) => self.check_face(p, "a transmissibility").map(|_| Basic::Scalar),
            KExpr::IsEmpty(p) => {
                self.path(p);
                Some(Basic::Bool)
            }
            KExpr::CellFact { fact, at } => {
                self.cell_in_grid(at);
                Some(if fact.is_truth() { Basic::Bool } else { Basic::Scalar })
            }
            KExpr::Member { set, at } => {
                if !exists(self.sets, *set) {
                    return self.fail("a set that is not in the table");
                }
                self.needs_domain(*set, "membership");
                let kind = self.existing(at);
                if self.form == Form::PerAxis {
                    return self.fail("membership is not the same along an axis");
                }
                if kind.is_some_and(|kind| kind != self.sets.get(*set).kind) {
                    return self.fail(format!("{} holds entities of another kind", self.sets.get(*set).name));
                }
                Some(Basic::Bool)
            }
            KExpr::Same(a, b) => {
                let (a, b) = (self.path(a), self.path(b));
                if a.is_some() && b.is_some() && a != b {
                    return self.fail("entities of two kinds are never the same");
                }
                Some(Basic::Bool)
            }
            KExpr::Unary(op, a) => {
                let a = self.expr(a)?;
                let result = match (op, a) {
                    (UnaryOp::Neg, Basic::Scalar | Basic::Vector) => a,
                    (UnaryOp::Not, Basic::Bool) => Basic::Bool,
                    (UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Elementary(_), Basic::Scalar) | (UnaryOp::Length, Basic::Vector) => {
                        Basic::Scalar
                    }
                    _ => return self.fail(format!("{op} is not defined for a {a:?}")),
                };
                Some(result)
            }
            KExpr::Arithmetic(op, a, b) => {
                // Both are checked before either is used, so that both are reported.
                let (a, b) = (self.expr(a), self.expr(b));
                match (op, a?, b?) {
                    (_, Basic::Scalar, Basic::Scalar) => Some(Basic::Scalar),
                    (Arithmetic::Add | Arithmetic::Sub, Basic::Vector, Basic::Vector)
                    | (Arithmetic::Mul | Arithmetic::Div, Basic::Vector, Basic::Scalar)
                    | (Arithmetic::Mul, Basic::Scalar, Basic::Vector) => Some(Basic::Vector),
                    (op, a, b) => self.fail(format!("{op:?} is not defined for a {a:?} and a {b:?}")),
                }
            }
            KExpr::Compare(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                match (op, a?, b?) {
                    (_, Basic::Scalar, Basic::Scalar) | (Comparison::Equal | Comparison::NotEqual, Basic::Bool, Basic::Bool) => {
                        Some(Basic::Bool)
                    }
                    (op, a, b) => self.fail(format!("{op:?} is not defined for a {a:?} and a {b:?}")),
                }
            }
            KExpr::Logic(_, a, b) => {
                self.expect_expr(a, Basic::Bool, "an operand of logic");
                self.expect_expr(b, Basic::Bool, "an operand of logic");
                Some(Basic::Bool)
            }
            KExpr::Select { condition, if_true, if_false } => {
                self.expect_expr(condition, Basic::Bool, "the condition");
                let (a, b) = (self.expr(if_true), self.expr(if_false));
                let (a, b) = (a?, b?);
                if a == b { Some(a) } else { self.fail(format!("the branches are a {a:?} and a {b:?}")) }
            }
            KExpr::Component(a, i) => {
                self.expect_expr(a, Basic::Vector, "what a component is taken of");
                if *i > 2 { self.fail("a Vector has at most three components, numbered from 0") } else { Some(Basic::Scalar) }
            }
            KExpr::Dot(a, b) => {
                self.expect_expr(a, Basic::Vector, "an operand of dot");
                self.expect_expr(b, Basic::Vector, "an operand of dot");
                Some(Basic::Scalar)
            }
            KExpr::Vector(components) => {
                if components.is_empty() || components.len() > 3 {
                    return self.fail("a Vector has one to three components");
                }
                for component in components {
                    self.expect_expr(component, Basic::Scalar, "a component");
                }
                Some(Basic::Vector)
            }
            KExpr::ZeroVector => Some(Basic::Vector),
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                match (a?, b?) {
                    (Basic::Scalar, Basic::Scalar) => Some(Basic::Scalar),
                    (a, b) => self.fail(format!("{op:?} is not defined for a {a:?} and a {b:?}")),
                }
            }
            KExpr::Entity(_) => self.fail("an entity is no value; only a result of the kernel can be entities"),
            KExpr::Displacement { to, from, is_stored: _ } => {
                if self.form == Form::General {
                    return self.fail("a displacement belongs to the Cartesian form");
                }
                for path in [to, from] {
                    self.existing(path);
                    if !is_near(path) {
                        return self.fail("a displacement is between the element, its side faces, its neighbours and a face's cells");
                    }
                }
                Some(Basic::Vector)
            }
        }
    }

    fn fail<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.error(message);
        None
    }

    fn local(&mut self, id: crate::ir::LocalId) -> Option<()> {
        if self.visible.contains(&id) {
            return Some(());
        }
        match self.kernel.locals.get(id.0 as usize) {
            Some(local) => self.fail(format!("local `{}` is not assigned here", local.name)),
            None => self.fail("there is no such local"),
        }
    }

    /// Checks a path that has to end at a face, of which something is read.
    fn check_face(&mut self, path: &Path, what: &str) -> Option<Basic> {
        match self.existing(path) {
            Some(EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex) => self.fail(format!("{what} is that of a face")),
            Some(EntityKind::Face) | None => Some(Basic::Vector),
        }
    }

    /// Checks a path that has to end at an entity. Its kind.
    fn existing(&mut self, path: &Path) -> Option<EntityKind> {
        if *path == Path::Empty {
            return self.fail("Empty has no value");
        }
        self.path(path)
    }

    /// Checks that the entity at the end of `at` may be one of `set`.
    fn entity_of(&mut self, kind: Option<EntityKind>, at: &Path, set: crate::types::SetId, what: &str) {
        let Some(kind) = kind else {
            if *at == Path::Empty {
                self.error("Empty has no value");
            }
            return;
        };
        let held = self.sets.get(set);
        if kind != held.kind {
            return self.error(format!("{what} is on {}, but is read at a {}", held.name, kind.name()));
        }
        if let Some(within) = self.kernel.path_within(self.sets, at)
            && self.sets.are_disjoint(within, set)
        {
            let (within, held) = (&self.sets.get(within).name, &held.name);
            self.error(format!("{what} is on {held}, but is read at an entity of {within}"));
        }
    }

    /// Checks a path. The kind of its end; `None` for Empty or after an error.
    pub fn path(&mut self, path: &Path) -> Option<EntityKind> {
        match path {
            Path::Here => match self.kernel.space_kind(self.sets) {
                Some(kind) => Some(kind),
                None => self.fail("a kernel over unit has no element"),
            },
            Path::Local(id) => {
                self.local(*id)?;
                match self.kernel.local_type(*id)?.entity_kind() {
                    Some(kind) => Some(kind),
                    None => self.fail("this local is no entity"),
                }
            }
            Path::First(face) | Path::Second(face) => {
                match self.path(face) {
                    Some(EntityKind::Face) | None => {}
                    Some(EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex) => {
                        return self.fail("first and second cell are those of a face");
                    }
                }
                if self.form == Form::Full && matches!(**face, Path::SideFace(_)) {
                    return self.fail("the cells of a side face are the element and its neighbour");
                }
                if self.form == Form::PerAxis && !self.kernel.space_set().is_some_and(|set| self.is_face_set_with_two_cells(set)) {
                    return self.fail("a per-axis form uses the cells of a face only over interior faces");
                }
                Some(EntityKind::Cell)
            }
            Path::Through { param, at } => {
                let at_kind = self.path(at);
                let Some(p) = self.kernel.param(*param) else { return self.fail("there is no such parameter") };
                let (Some(kind), Shape::Collection(set)) = (p.ty.entity_kind(), p.ty.shape) else {
                    return self.fail(format!("`{}` is no collection of entities", p.name));
                };
                if self.form == Form::PerAxis {
                    return self.fail("a per-axis form reads no entity collections");
                }
                self.entity_of(at_kind, at, set, &format!("`{}`", p.name));
                Some(kind)
            }
            Path::Select { condition, if_true, if_false } => {
                self.expect_expr(condition, Basic::Bool, "the condition");
                match (self.path(if_true), self.path(if_false)) {
                    (Some(a), Some(b)) if a != b => self.fail("the branches are entities of two kinds"),
                    (a, b) => a.or(b),
                }
            }
            Path::SideFace(side) => {
                self.side_block(*side, false);
                Some(EntityKind::Face)
            }
            Path::Shift { from, by } => {
                if **from != Path::Here || by.unsigned_abs() != 1 {
                    return self.fail("a shift is from the element, by one cell");
                }
                self.side_block(Side::towards(*by), true);
                Some(EntityKind::Cell)
            }
            Path::Offset { from, by, .. } => {
                if by.iter().any(|by| by.unsigned_abs() > 2 * MAX_OFFSET.unsigned_abs()) {
                    return self.fail("an offset is too large");
                }
                self.cell_in_grid(from);
                Some(EntityKind::Cell)
            }
            Path::Empty => None,
        }
    }

    /// A path to a cell, whose place in a Cartesian grid is asked for.
    fn cell_in_grid(&mut self, path: &Path) {
        let kind = self.existing(path);
        if kind.is_some_and(|kind| kind != EntityKind::Cell) {
            self.error("places and offsets are those of cells");
        }
        if self.form == Form::PerAxis {
            self.error("a place is not the same along an axis");
        }
    }

    fn side_block(&mut self, side: Side, needs_interior: bool) {
        match self.side {
            None => self.error("side faces and neighbours belong into a sum over sides"),
            Some((block, _)) if block != side => self.error("this block is of the other side"),
            Some((_, false)) if needs_interior => self.error("there is no neighbour in a boundary block"),
            Some(_) => {}
        }
    }
}

/// True if the entity's place relative to the element is known on every Cartesian grid.
fn is_near(path: &Path) -> bool {
    match path {
        Path::Here | Path::SideFace(_) | Path::Shift { .. } | Path::Offset { .. } => true,
        Path::First(face) | Path::Second(face) => matches!(**face, Path::Here),
        Path::Local(_) | Path::Through { .. } | Path::Select { .. } | Path::Empty => false,
    }
}
