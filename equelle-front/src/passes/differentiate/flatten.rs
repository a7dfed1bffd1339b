//! Makes a body ready to be differentiated: whatever a derivative needs the value of has a name,
//! and every choice between values that depend on unknowns is an `if`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::locals::{assigned, assigned_inside};
use super::super::rewrite::rename_block;
use crate::backend::visit::{Node, visit_block, visit_expr, visit_stmt};
use crate::ir::{ExprClass, KBlock, KExpr, KStmt, Kernel, Local, LocalId, Path, UnaryOp};
use crate::lower::UniqueNames;
use crate::ops::{Arithmetic, BinaryMath, Comparison, Logic};
use crate::types::Type;

/// The kernel being differentiated, with its locals.
pub(super) struct Work {
    pub kernel: Kernel,
    pub unknowns: u32,
    /// Locals that depend on an unknown.
    pub active: BTreeSet<LocalId>,
    names: UniqueNames,
    /// New locals by the name that they were asked for.
    made: Vec<(String, LocalId)>,
    /// Locals of the other body that this body has not used yet: equal values have the same name in
    /// both.
    unused: Vec<(String, LocalId)>,
    /// Entity locals that are chosen by state.
    chosen: BTreeMap<LocalId, Path>,
}

impl Work {
    pub(super) fn new(kernel: Kernel, unknowns: u32) -> Work {
        let mut names = UniqueNames::default();
        kernel.params.iter().map(|p| &p.name).chain(kernel.locals.iter().map(|l| &l.name)).for_each(|name| {
            names.unique(name);
        });
        let (made, unused) = (Vec::new(), Vec::new());
        Work { kernel, unknowns, active: BTreeSet::new(), names, made, unused, chosen: BTreeMap::new() }
    }

    /// The next body of the same kernel begins.
    pub(super) fn begin_body(&mut self) {
        self.unused = self.made.clone();
        self.active.clear();
        self.chosen.clear();
    }

    /// A new local.
    pub(super) fn local(&mut self, name: &str, ty: Type) -> LocalId {
        let same = |(wanted, id): &(String, LocalId)| wanted == name && self.kernel.local_type(*id) == Some(ty);
        if let Some(position) = self.unused.iter().position(same) {
            return self.unused.remove(position).1;
        }
        let id = LocalId(self.kernel.locals.len() as u32);
        self.made.push((name.to_owned(), id));
        let name = self.names.unique(name);
        self.kernel.locals.push(Local { name, ty });
        id
    }

    /// True if the value of an expression depends on an unknown and passes on derivatives by it.
    pub(super) fn is_active(&self, expr: &KExpr) -> bool {
        match expr {
            KExpr::Local(id) => self.active.contains(id),
            KExpr::Load { param, .. } => param.0 < self.unknowns,
            KExpr::Select { if_true, if_false, .. } => self.is_active(if_true) || self.is_active(if_false),
            other => match other.class() {
                ExprClass::Arithmetic => other.operands().into_iter().any(|operand| self.is_active(operand)),
                ExprClass::Literal
                | ExprClass::Local
                | ExprClass::Param
                | ExprClass::Load
                | ExprClass::Geometry
                | ExprClass::Topology
                | ExprClass::Truth
                | ExprClass::Select => false,
            },
        }
    }

    /// A block in the form to differentiate; notes which locals are active.
    pub(super) fn flatten(&mut self, block: KBlock) -> KBlock {
        let mut out = Vec::new();
        for statement in block.statements {
            self.statement(statement, &mut out);
        }
        let yields = block.yields.into_iter().map(|y| if self.is_active(&y) { self.flat(y, &mut out) } else { y }).collect();
        KBlock { statements: early_first(out), yields }
    }

    fn statement(&mut self, statement: KStmt, out: &mut Vec<KStmt>) {
        match statement {
            KStmt::Let { local, value } => {
                let value = if self.is_active(&value) {
                    self.active.insert(local);
                    self.flat_root(value, out)
                } else {
                    value
                };
                out.push(KStmt::Let { local, value });
            }
            KStmt::LetEntity { local, path } => {
                if split(&path).is_some() {
                    self.chosen.insert(local, path.clone());
                }
                out.push(KStmt::LetEntity { local, path });
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                let body = self.flatten(body);
                self.note_results(&results, &[&body]);
                out.push(KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body });
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, mut low, mut high } => {
                for slot in [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary] {
                    *slot = slot.take().map(|block| self.flatten(block));
                    if let Some(block) = slot {
                        self.note_results(&results, &[block]);
                    }
                }
                out.push(KStmt::ReduceSides { reduction, results, extreme_faces, low, high });
            }
            KStmt::If { results, condition, then, otherwise } => {
                let (then, otherwise) = (self.flatten(then), self.flatten(otherwise));
                self.note_results(&results, &[&then, &otherwise]);
                let condition = if results.iter().any(|r| self.active.contains(r)) { self.named(condition, out) } else { condition };
                out.push(KStmt::If { results, condition, then, otherwise });
            }
            KStmt::Add { .. } => out.push(statement),
        }
    }

    fn note_results(&mut self, results: &[LocalId], blocks: &[&KBlock]) {
        for (i, &result) in results.iter().enumerate() {
            if blocks.iter().any(|b| b.yields.get(i).is_some_and(|y| self.is_active(y))) {
                self.active.insert(result);
            }
        }
    }

    /// An expression that costs nothing to repeat: itself, or a new local for it.
    fn named(&mut self, expr: KExpr, out: &mut Vec<KStmt>) -> KExpr {
        if is_atom(&expr) {
            return expr;
        }
        let active = self.is_active(&expr);
        let expr = if active { self.flat_root(expr, out) } else { expr };
        if is_atom(&expr) {
            return expr;
        }
        let local = self.local("t", self.kernel.expr_type(&expr));
        if active {
            self.active.insert(local);
        }
        out.push(KStmt::Let { local, value: expr });
        KExpr::Local(local)
    }

    /// As [`Work::flat_root`] for an expression inside another: if its derivative needs its value,
    /// it gets a name.
    fn flat(&mut self, expr: KExpr, out: &mut Vec<KStmt>) -> KExpr {
        let needs_value = match &expr {
            KExpr::Unary(op, _) => match op {
                UnaryOp::Sqrt | UnaryOp::Length => true,
                UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs => false,
                UnaryOp::Elementary(function) => function.reads().value,
            },
            KExpr::Arithmetic(Arithmetic::Div, _, b) | KExpr::Math(BinaryMath::Pow, _, b) => self.is_active(b),
            _ => false,
        };
        if needs_value { self.named(expr, out) } else { self.flat_root(expr, out) }
    }

    fn flat_if_active(&mut self, expr: KExpr, out: &mut Vec<KStmt>) -> KExpr {
        if self.is_active(&expr) { self.flat(expr, out) } else { expr }
    }

    /// An active expression whose operands have names where its derivative needs them. Its own
    /// value may be needed.
    fn flat_root(&mut self, expr: KExpr, out: &mut Vec<KStmt>) -> KExpr {
        match expr {
            KExpr::Load { param, at } => self.load(param, at, out),
            KExpr::Unary(op, a) => {
                let needs_operand = match op {
                    UnaryOp::Abs | UnaryOp::Length => true,
                    UnaryOp::Neg | UnaryOp::Not | UnaryOp::Sqrt => false,
                    UnaryOp::Elementary(function) => function.reads().argument,
                };
                let a = if needs_operand { self.named(*a, out) } else { self.flat_if_active(*a, out) };
                KExpr::Unary(op, Box::new(a))
            }
            KExpr::Arithmetic(op, a, b) => {
                let (in_a, in_b) = (self.is_active(&a), self.is_active(&b));
                let (a, b) = match op {
                    Arithmetic::Add | Arithmetic::Sub => (self.flat_if_active(*a, out), self.flat_if_active(*b, out)),
                    Arithmetic::Mul => {
                        let a = if in_b { self.named(*a, out) } else { self.flat_if_active(*a, out) };
                        (a, if in_a { self.named(*b, out) } else { self.flat_if_active(*b, out) })
                    }
                    Arithmetic::Div => (self.flat_if_active(*a, out), self.named(*b, out)),
                };
                KExpr::Arithmetic(op, Box::new(a), Box::new(b))
            }
            KExpr::Interpolate { table, of, argument } => {
                let argument = Box::new(self.named(*argument, out));
                KExpr::Interpolate { table, of, argument }
            }
            KExpr::Dot(a, b) => {
                let (in_a, in_b) = (self.is_active(&a), self.is_active(&b));
                let a = if in_b { self.named(*a, out) } else { self.flat_if_active(*a, out) };
                let b = if in_a { self.named(*b, out) } else { self.flat_if_active(*b, out) };
                KExpr::Dot(Box::new(a), Box::new(b))
            }
            KExpr::Component(a, i) => KExpr::Component(Box::new(self.flat_if_active(*a, out)), i),
            KExpr::Vector(components) => KExpr::Vector(components.into_iter().map(|c| self.flat_if_active(c, out)).collect()),
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.named(*a, out), self.named(*b, out));
                let comparison = match op {
                    BinaryMath::Pow | BinaryMath::ATan2 => return KExpr::Math(op, Box::new(a), Box::new(b)),
                    BinaryMath::Min => Comparison::LessEqual,
                    BinaryMath::Max => Comparison::GreaterEqual,
                };
                // The first of equal ones, and the first if it is not a number.
                let chosen = KExpr::Compare(comparison, Box::new(a.clone()), Box::new(b.clone()));
                let nan = KExpr::Compare(Comparison::NotEqual, Box::new(a.clone()), Box::new(a.clone()));
                let condition = KExpr::Logic(Logic::Or, Box::new(chosen), Box::new(nan));
                self.choice(condition, a, b, out)
            }
            KExpr::Select { condition, if_true, if_false } => self.choice(*condition, *if_true, *if_false, out),
            other => other,
        }
    }

    /// An `if` for a choice.
    fn choice(&mut self, condition: KExpr, if_true: KExpr, if_false: KExpr, out: &mut Vec<KStmt>) -> KExpr {
        let result = self.local("chosen", self.kernel.expr_type(&if_true));
        let then = KBlock { statements: Vec::new(), yields: vec![if_true] };
        let otherwise = KBlock { statements: Vec::new(), yields: vec![if_false] };
        self.statement(KStmt::If { results: vec![result], condition, then, otherwise }, out);
        KExpr::Local(result)
    }

    /// An element of an unknown. Where the entity is chosen by state, each branch reads its own.
    fn load(&mut self, param: crate::ir::ParamId, at: Path, out: &mut Vec<KStmt>) -> KExpr {
        let at = self.substituted(at);
        match split(&at) {
            None => KExpr::Load { param, at },
            // There is no value at Empty, so the other branch is the one.
            Some((_, Path::Empty, at) | (_, at, Path::Empty)) => self.load(param, at, out),
            Some((condition, a, b)) => self.choice(condition, KExpr::Load { param, at: a }, KExpr::Load { param, at: b }, out),
        }
    }

    fn substituted(&self, path: Path) -> Path {
        match path {
            Path::Local(id) => self.chosen.get(&id).cloned().map_or(Path::Local(id), |p| self.substituted(p)),
            Path::First(at) => Path::First(Box::new(self.substituted(*at))),
            Path::Second(at) => Path::Second(Box::new(self.substituted(*at))),
            Path::Through { param, at } => Path::Through { param, at: Box::new(self.substituted(*at)) },
            Path::Select { condition, if_true, if_false } => {
                let (if_true, if_false) = (Box::new(self.substituted(*if_true)), Box::new(self.substituted(*if_false)));
                Path::Select { condition, if_true, if_false }
            }
            Path::Shift { from, by } => Path::Shift { from: Box::new(self.substituted(*from)), by },
            Path::Offset { from, by, beyond } => Path::Offset { from: Box::new(self.substituted(*from)), by, beyond },
            Path::Here | Path::SideFace(_) | Path::Empty => path,
        }
    }
}

/// True if repeating the expression costs nothing.
pub(super) fn is_atom(expr: &KExpr) -> bool {
    matches!(expr, KExpr::Real(_) | KExpr::Bool(_) | KExpr::Local(_) | KExpr::Param(_) | KExpr::ZeroVector)
}

/// The outermost choice by state in a path, and the path for either branch.
fn split(path: &Path) -> Option<(KExpr, Path, Path)> {
    let wrapped = |at: &Path, wrap: &dyn Fn(Box<Path>) -> Path| {
        let wrap = |p: Path| if p == Path::Empty { Path::Empty } else { wrap(Box::new(p)) };
        split(at).map(|(condition, a, b)| (condition, wrap(a), wrap(b)))
    };
    match path {
        Path::Select { condition, if_true, if_false } => Some(((**condition).clone(), (**if_true).clone(), (**if_false).clone())),
        Path::First(at) => wrapped(at, &Path::First),
        Path::Second(at) => wrapped(at, &Path::Second),
        Path::Through { param, at } => wrapped(at, &|at| Path::Through { param: *param, at }),
        Path::Shift { from, by } => wrapped(from, &|from| Path::Shift { from, by: *by }),
        Path::Offset { from, by, beyond } => wrapped(from, &|from| Path::Offset { from, by: *by, beyond: *beyond }),
        Path::Here | Path::Local(_) | Path::SideFace(_) | Path::Empty => None,
    }
}

/// Statements with the values first that depend on no sum and no choice of the block: factors of a
/// sum are then known before it.
fn early_first(statements: Vec<KStmt>) -> Vec<KStmt> {
    let mut late: BTreeSet<LocalId> = BTreeSet::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for statement in statements {
        let mut depends = false;
        let mut look = |node: Node<'_>| {
            if let Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) = node {
                depends |= late.contains(id);
            }
        };
        let movable = match &statement {
            KStmt::Let { value, .. } => {
                visit_expr(value, &mut look);
                true
            }
            KStmt::LetEntity { .. } => {
                visit_stmt(&statement, &mut look);
                true
            }
            KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } | KStmt::If { .. } | KStmt::Add { .. } => false,
        };
        if movable && !depends {
            first.push(statement);
        } else {
            late.extend(assigned(&statement));
            rest.push(statement);
        }
    }
    first.extend(rest);
    first
}

/// Names new locals for everything that a block assigns, so that it can be evaluated a second time.
pub(super) fn fresh_copy(work: &mut Work, block: &KBlock) -> KBlock {
    let mut names: BTreeMap<LocalId, LocalId> = BTreeMap::new();
    for old in assigned_inside(block) {
        let Local { name, ty } = work.kernel.locals[old.0 as usize].clone();
        let new = work.local(&name, ty);
        if work.active.contains(&old) {
            work.active.insert(new);
        }
        names.insert(old, new);
    }
    let mut copy = block.clone();
    rename_block(&mut copy, &mut |id| names.get(&id).copied().unwrap_or(id));
    copy
}

/// Locals that something reads and that are not assigned in it.
pub(super) fn read_by_block(block: &KBlock) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    visit_block(block, &mut |node| {
        if let Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) = node {
            found.insert(*id);
        }
    });
    found
}
