//! Expressions of geometry: of centroids, indices and volumes of cells, and of values that are the
//! same everywhere. They are known beyond the sides of the grid as well, where rules of `Halo` that
//! give such data read them.

use std::collections::HashMap;

use crate::ops::{Arithmetic, Offset};
use crate::source::Span;
use crate::typed::{Builtin, Expr, ExprKind, Function, Rule, Stmt, StmtKind, TreeDimension, TreeType, VarId};
use crate::types::Type;

/// Index into [`Geometry::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(pub u32);

/// An operation of an expression of geometry.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// The same everywhere.
    Constant(Expr),
    /// `Centroid(AllCells())`
    Centroid(Expr),
    /// `IndexOf(a)`
    Index(u8, Expr),
    /// `Even(a, ...)`
    Even([bool; 3], Expr),
    /// Without its operands, which stand beside it.
    Operation(Expr, Vec<NodeId>),
}

/// Facts about expressions of geometry.
#[derive(Debug, Default)]
pub(super) struct Geometry {
    /// Operands stand before what is computed of them.
    pub nodes: Vec<Node>,
    /// Values of variables that are assigned once, if some of the value is on all cells.
    pub definitions: HashMap<VarId, Expr>,
    /// An element of a variable.
    pub known: HashMap<VarId, Vec<Option<NodeId>>>,
    /// Values that variables had before others were assigned: these, the new variables, and the
    /// values.
    pub snapshots: Vec<(VarId, VarId, Expr)>,
    pub depth: u32,
    pub work: usize,
    /// The condition of a loop is checked, before which no statement may stand.
    pub in_condition: bool,
}

impl Geometry {
    /// Statements with the snapshots before the assignments that they belong to; also those of
    /// functions.
    pub fn with_snapshots(&mut self, mut main: Vec<Stmt>, functions: &mut [Function]) -> Vec<Stmt> {
        let snapshots = std::mem::take(&mut self.snapshots);
        if !snapshots.is_empty() {
            insert(&mut main, &snapshots);
            functions.iter_mut().for_each(|function| insert(&mut function.body, &snapshots));
        }
        main
    }
}

/// True if each element of the result depends on the same elements of arguments alone.
pub(super) fn is_pointwise(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Dot
            | Builtin::Sqrt
            | Builtin::Abs
            | Builtin::Elementary(_)
            | Builtin::Min
            | Builtin::Max
            | Builtin::Pow
            | Builtin::ATan2
            | Builtin::Interpolate
    )
}

/// Stands for an operand that is kept elsewhere.
pub(super) fn operand(span: Span) -> Expr {
    number(0.0, span)
}

fn number(number: f64, span: Span) -> Expr {
    Expr { kind: ExprKind::Number(number), ty: TreeType::Value(Type::SCALAR), dims: vec![TreeDimension::default()], span }
}

/// A coordinate at an offset: it grows by the width of a cell along its axis, and along no other.
pub(super) fn coordinate(component: Expr, axis: usize, by: Offset, span: Span) -> Expr {
    let along: Offset = std::array::from_fn(|k| if k == axis { by[k] } else { 0 });
    let slope = number(1.0, span);
    read(component, Some(slope), along, Rule::Slope(1), span)
}

/// Vectors that change evenly along each axis, at an offset.
pub(super) fn linear(centroid: Expr, by: Offset, span: Span) -> Expr {
    read(centroid, None, by, Rule::Polynomial(1), span)
}

/// A read with one rule for all sides.
fn read(data: Expr, given: Option<Expr>, by: Offset, rule: Rule, span: Span) -> Expr {
    if by == Offset::default() {
        return data;
    }
    let (ty, dims) = (data.ty.clone(), data.dims.clone());
    let args = std::iter::once(data).chain(given).collect();
    let rules = std::array::from_fn(|side| (by[side / 2] != 0).then_some(rule));
    Expr { kind: ExprKind::Read { args, by, rules }, ty, dims, span }
}

/// The number of the cell at an offset.
pub(super) fn shifted(index: Expr, by: i8, span: Span) -> Expr {
    if by == 0 {
        return index;
    }
    let (ty, dims) = (index.ty.clone(), index.dims.clone());
    let right = number(f64::from(by), span);
    Expr { kind: ExprKind::Arithmetic { op: Arithmetic::Add, left: Box::new(index), right: Box::new(right) }, ty, dims, span }
}

/// True if the sum of the numbers of the cell at an offset is even.
pub(super) fn parity(even: Expr, axes: [bool; 3], by: Offset, span: Span) -> Expr {
    let offset: i32 = (0..3).filter(|&axis| axes[axis]).map(|axis| i32::from(by[axis])).sum();
    if offset % 2 == 0 {
        return even;
    }
    let (ty, dims) = (even.ty.clone(), even.dims.clone());
    Expr { kind: ExprKind::Not(Box::new(even)), ty, dims, span }
}

/// An operation that is done for each element alone, with other operands; `None` for any other.
pub(super) fn with_operands(expr: &Expr, next: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Option<Expr> {
    let mut boxed = |of: &Expr| next(of).map(Box::new);
    let kind = match &expr.kind {
        ExprKind::Neg(a) => ExprKind::Neg(boxed(a)?),
        ExprKind::Not(a) => ExprKind::Not(boxed(a)?),
        ExprKind::Norm(a) => ExprKind::Norm(boxed(a)?),
        ExprKind::Power { base, exponent } => ExprKind::Power { base: boxed(base)?, exponent: *exponent },
        ExprKind::Component { vector, index } => ExprKind::Component { vector: boxed(vector)?, index: *index },
        ExprKind::Arithmetic { op, left, right } => ExprKind::Arithmetic { op: *op, left: boxed(left)?, right: boxed(right)? },
        ExprKind::Comparison { op, left, right } => ExprKind::Comparison { op: *op, left: boxed(left)?, right: boxed(right)? },
        ExprKind::Logic { op, left, right } => ExprKind::Logic { op: *op, left: boxed(left)?, right: boxed(right)? },
        ExprKind::Ternary { condition, if_true, if_false } => {
            ExprKind::Ternary { condition: boxed(condition)?, if_true: boxed(if_true)?, if_false: boxed(if_false)? }
        }
        ExprKind::Vector(components) => ExprKind::Vector(components.iter().map(next).collect::<Option<_>>()?),
        ExprKind::Builtin { builtin, args } if is_pointwise(*builtin) || *builtin == Builtin::Interpolate2 => {
            ExprKind::Builtin { builtin: *builtin, args: args.iter().map(next).collect::<Option<_>>()? }
        }
        ExprKind::Extend { data, domain } => ExprKind::Extend { data: boxed(data)?, domain: domain.clone() },
        ExprKind::Number(_)
        | ExprKind::Text(_)
        | ExprKind::Bool(_)
        | ExprKind::Variable(_)
        | ExprKind::CanonicalSet(_)
        | ExprKind::Builtin { .. }
        | ExprKind::Call { .. }
        | ExprKind::Newton { .. }
        | ExprKind::Array(_)
        | ExprKind::Element { .. }
        | ExprKind::Axis(_)
        | ExprKind::CellFact(_)
        | ExprKind::GridNumber(_)
        | ExprKind::Read { .. }
        | ExprKind::On { .. } => return None,
    };
    Some(Expr { kind, ty: expr.ty.clone(), dims: expr.dims.clone(), span: expr.span })
}

/// True if no operand stands deeper in an expression.
pub(super) fn is_shallow(expr: &Expr, depth: u32) -> bool {
    let inside = |of: &Expr| is_shallow(of, depth - 1);
    depth > 0
        && match &expr.kind {
            ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::Variable(_)
            | ExprKind::CanonicalSet(_)
            | ExprKind::Axis(_)
            | ExprKind::CellFact(_)
            | ExprKind::GridNumber(_) => true,
            ExprKind::Builtin { args, .. }
            | ExprKind::Call { args, .. }
            | ExprKind::Newton { guesses: args, .. }
            | ExprKind::Array(args)
            | ExprKind::Vector(args)
            | ExprKind::Read { args, .. } => args.iter().all(inside),
            ExprKind::Neg(a)
            | ExprKind::Not(a)
            | ExprKind::Norm(a)
            | ExprKind::Power { base: a, .. }
            | ExprKind::Element { array: a, .. }
            | ExprKind::Component { vector: a, .. } => inside(a),
            ExprKind::Arithmetic { left: a, right: b, .. }
            | ExprKind::Comparison { left: a, right: b, .. }
            | ExprKind::Logic { left: a, right: b, .. }
            | ExprKind::On { data: a, target: b }
            | ExprKind::Extend { data: a, domain: b } => inside(a) && inside(b),
            ExprKind::Ternary { condition, if_true, if_false } => inside(condition) && inside(if_true) && inside(if_false),
        }
}

/// Puts snapshots before the assignments that they belong to.
fn insert(statements: &mut Vec<Stmt>, snapshots: &[(VarId, VarId, Expr)]) {
    let mut all = Vec::with_capacity(statements.len());
    for mut statement in statements.drain(..) {
        match &mut statement.kind {
            StmtKind::Let { variable, .. } => {
                for (_, snapshot, value) in snapshots.iter().filter(|(assigned, ..)| assigned == variable) {
                    let kind = StmtKind::Let { variable: *snapshot, value: value.clone() };
                    all.push(Stmt { kind, span: statement.span });
                }
            }
            StmtKind::For { body, .. } | StmtKind::Range { body, .. } | StmtKind::Conditional { body, .. } => insert(body, snapshots),
            StmtKind::Assign { .. } | StmtKind::Output { .. } | StmtKind::Discard(_) | StmtKind::Return(_) => {}
        }
        all.push(statement);
    }
    *statements = all;
}
