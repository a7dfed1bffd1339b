//! Values of rules beyond the sides of the grid: which of them are expressions of geometry, and
//! what these are there. They are found on demand, by following variables to what they were
//! assigned, and calls into functions.

use std::collections::{BTreeSet, HashMap};

use crate::check::checker::{Checker, value};
use crate::check::geometry::{Geometry, Node, NodeId, coordinate, is_shallow, linear, operand, parity, shifted, with_operands};
use crate::check::halo::{Rules, bare, with_elements};
use crate::ops::{CellFact, Offset};
use crate::source::Span;
use crate::typed::{Builtin, Expr, ExprKind, FunctionId, Stmt, StmtKind, TreeType, VarId, Variable};
use crate::types::{Basic, CanonicalSet, Dimension, Shape, Type};

/// Deepest nesting that is followed, through variables and functions.
const MAX_DEPTH: u32 = 300;

/// Most operations and statements of a program that are followed.
const MAX_WORK: usize = 200_000;

/// Deepest tree that is made of an expression without a variable for a part of it.
const MAX_TREE: u32 = 50;

/// Largest tree, which matters in conditions, where nothing gets a variable.
const MAX_SIZE: usize = 1000;

/// A function whose body is followed, and its variables.
struct Body {
    function: FunctionId,
    variables: HashMap<VarId, Vec<Option<NodeId>>>,
}

/// A search for the expression of geometry that an expression is.
struct Search<'c, 'a> {
    checker: &'c mut Checker<'a>,
    /// Calls around it, outermost first.
    bodies: Vec<Body>,
    /// The variable whose assignment it belongs to; `None`: the statement that is checked.
    assigned: Option<VarId>,
}

/// Keeps what a variable that is assigned once was assigned.
pub(super) fn keep_definition(checker: &mut Checker<'_>, variable: VarId, value: &Expr) {
    if value.ty.elements().iter().any(|ty| may_be_geometry(checker, ty)) && is_shallow(value, MAX_DEPTH) {
        checker.geometry.definitions.insert(variable, value.clone());
    }
}

fn may_be_geometry(checker: &Checker<'_>, ty: &Type) -> bool {
    let all_cells = checker.sets.canonical(CanonicalSet::ALL_CELLS);
    ty.shape == Shape::Collection(all_cells) && matches!(ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool)
}

/// A type of an argument that says which expression of geometry it is, if it is one: the
/// function may give it in rules.
pub(super) fn with_geometry(checker: &mut Checker<'_>, argument: &Expr) -> TreeType {
    let mut types = argument.ty.elements().to_vec();
    if !types.iter().any(|ty| may_be_geometry(checker, ty)) {
        return argument.ty.clone();
    }
    let before = checker.before.len();
    let nodes = if checker.tree.may_be_repeated(argument) {
        Search { checker: &mut *checker, bodies: Vec::new(), assigned: None }.elements(argument)
    } else {
        Vec::new()
    };
    if nodes.iter().all(Option::is_none) {
        checker.before.truncate(before);
    }
    for (ty, node) in types.iter_mut().zip(nodes) {
        if may_be_geometry(checker, ty) && node.is_some() {
            ty.halo = checker.rules.number(Rules { geometry: node, ..Rules::default() });
        }
    }
    with_elements(&argument.ty, types)
}

/// The value of a variable at an offset, if it is an expression of geometry.
pub(super) fn geometry_at(checker: &mut Checker<'_>, variable: VarId, by: Offset, span: Span) -> Option<Expr> {
    let node = Search { checker: &mut *checker, bodies: Vec::new(), assigned: None }.variable(variable).first().copied().flatten()?;
    evaluated(checker, node, by, span)
}

impl Search<'_, '_> {
    fn node(&mut self, node: Node) -> Option<NodeId> {
        let nodes = &mut self.checker.geometry.nodes;
        nodes.push(node);
        Some(NodeId(nodes.len() as u32 - 1))
    }

    /// One level deeper, unless that is too deep or has been done too often.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.checker.geometry.depth >= MAX_DEPTH || self.checker.geometry.work >= MAX_WORK {
            return None;
        }
        self.checker.geometry.work += 1;
        self.checker.geometry.depth += 1;
        let found = inside(self);
        self.checker.geometry.depth -= 1;
        found
    }

    /// The expression of geometry that each element of an array is, or the one value.
    fn elements(&mut self, expr: &Expr) -> Vec<Option<NodeId>> {
        let found = match (&expr.kind, &expr.ty) {
            (_, TreeType::Value(_)) => vec![self.single_value(expr)],
            (ExprKind::Array(elements), _) => elements.iter().flat_map(|element| self.elements(element)).collect(),
            (ExprKind::Variable(variable), _) => self.variable(*variable),
            (ExprKind::Call { function, args }, _) => self.called(*function, args),
            _ => Vec::new(),
        };
        let count = expr.ty.elements().len();
        if found.len() == count { found } else { vec![None; count] }
    }

    /// That of each element of a variable.
    fn variable(&mut self, variable: VarId) -> Vec<Option<NodeId>> {
        if let Some(known) = self.bodies.iter().rev().find_map(|body| body.variables.get(&variable)) {
            return known.clone();
        }
        let Variable { ty, owner, mutable, .. } = self.checker.tree.variable(variable);
        let types = ty.elements().to_vec();
        let nothing = vec![None; types.len()];
        if *mutable || self.bodies.iter().any(|body| Some(body.function) == *owner) {
            return nothing;
        }
        if let Some(known) = self.checker.geometry.known.get(&variable) {
            return known.clone();
        }
        let snapshots = self.checker.geometry.snapshots.len();
        let definition = self.checker.geometry.definitions.remove(&variable);
        let mut nodes = nothing;
        if let Some(value) = definition.as_ref().filter(|value| self.checker.tree.may_be_repeated(value)) {
            nodes = Search { checker: &mut *self.checker, bodies: Vec::new(), assigned: Some(variable) }.elements(value);
        }
        if nodes.iter().all(Option::is_none) {
            self.checker.geometry.snapshots.truncate(snapshots);
        }
        self.checker.geometry.definitions.extend(definition.map(|value| (variable, value)));
        for (node, ty) in nodes.iter_mut().zip(&types) {
            *node = self.checker.rules.get(ty.halo).geometry.or(*node);
        }
        if nodes.iter().any(Option::is_some) {
            self.checker.geometry.known.insert(variable, nodes.clone());
        }
        nodes
    }

    /// Returns a function's result for these arguments, element by element; empty if the function
    /// does something else as well.
    fn called(&mut self, function: FunctionId, args: &[Expr]) -> Vec<Option<NodeId>> {
        self.checker.tree.extend_captures();
        if self.checker.tree.captures.get(function.0 as usize).is_none_or(|does| does.outputs || !does.writes.is_empty()) {
            return Vec::new();
        }
        let params = self.checker.tree.functions[function.0 as usize].params.clone();
        let variables = params.into_iter().zip(args).map(|(param, arg)| (param, self.elements(arg))).collect();
        self.bodies.push(Body { function, variables });
        // No function calls itself.
        let body = std::mem::take(&mut self.checker.tree.functions[function.0 as usize].body);
        let result = self.deeper(|this| this.returned(&body));
        self.checker.tree.functions[function.0 as usize].body = body;
        self.bodies.pop();
        result.unwrap_or_default()
    }

    /// The value that a function returns, if all its other statements are definitions.
    fn returned(&mut self, statements: &[Stmt]) -> Option<Vec<Option<NodeId>>> {
        let (last, definitions) = statements.split_last()?;
        for statement in definitions {
            let StmtKind::Let { variable, value } = &statement.kind else { return None };
            let nodes = self.elements(value);
            self.bodies.last_mut()?.variables.insert(*variable, nodes);
        }
        let StmtKind::Return(value) = &last.kind else { return None };
        Some(self.elements(value))
    }

    fn single_value(&mut self, expr: &Expr) -> Option<NodeId> {
        let ty = expr.ty.value()?;
        let is_constant = ty.shape == Shape::Single;
        if !(is_constant || may_be_geometry(self.checker, &ty)) {
            return None;
        }
        let found = self.deeper(|this| this.operation(expr));
        if found.is_none() && is_constant { self.constant(expr) } else { found }
    }

    /// A value that is the same everywhere, by a variable if it may change.
    fn constant(&mut self, expr: &Expr) -> Option<NodeId> {
        if expr.ty.value()?.shape != Shape::Single {
            return None;
        }
        let is_outer = |var: &VarId| {
            let owner = self.checker.tree.variable(*var).owner;
            self.bodies.iter().all(|body| Some(body.function) != owner)
        };
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::GridNumber(_) => return self.node(Node::Constant(expr.clone())),
            ExprKind::Variable(var) if !is_outer(var) => return None,
            ExprKind::Variable(var) if !self.checker.tree.variable(*var).mutable => return self.node(Node::Constant(expr.clone())),
            ExprKind::Variable(_) => {}
            _ if self.bodies.is_empty() && self.checker.tree.may_be_repeated(expr) => {}
            _ => return None,
        }
        if self.assigned.is_none() && self.checker.geometry.in_condition {
            return None;
        }
        let snapshot = match self.assigned {
            None => self.checker.name_value("constant", expr.clone()),
            Some(assigned) => {
                let frame = self.checker.frames.iter().position(|frame| frame.locals.contains(&assigned));
                let Expr { ty, dims, span, .. } = expr.clone();
                let variable = Variable { name: "constant".to_owned(), ty, dims, mutable: false, owner: None, span };
                let snapshot = self.checker.new_variable_of(variable, frame);
                self.checker.geometry.snapshots.push((assigned, snapshot, expr.clone()));
                snapshot
            }
        };
        self.node(Node::Constant(Expr { kind: ExprKind::Variable(snapshot), ..expr.clone() }))
    }

    fn operation(&mut self, expr: &Expr) -> Option<NodeId> {
        let all_cells = self.checker.sets.canonical(CanonicalSet::ALL_CELLS);
        let is_all_cells = |of: &Expr| of.ty.value().is_some_and(|ty| ty.shape == Shape::Domain(all_cells));
        let cells = || {
            let ty = Type::domain(CanonicalSet::ALL_CELLS.kind, all_cells);
            value(ExprKind::CanonicalSet(CanonicalSet::ALL_CELLS), ty, Dimension::NONE, expr.span)
        };
        match &expr.kind {
            ExprKind::Variable(variable) => self.variable(*variable).first().copied().flatten(),
            ExprKind::Builtin { builtin: Builtin::Centroid, args } if args.iter().all(is_all_cells) => {
                let kind = ExprKind::Builtin { builtin: Builtin::Centroid, args: vec![cells()] };
                self.node(Node::Centroid(Expr { kind, ..expr.clone() }))
            }
            ExprKind::Norm(of) if is_all_cells(of) => {
                self.node(Node::Constant(Expr { kind: ExprKind::Norm(Box::new(cells())), ..expr.clone() }))
            }
            ExprKind::CellFact(CellFact::Index(axis)) => self.node(Node::Index(*axis, expr.clone())),
            ExprKind::CellFact(CellFact::Even(axes)) => self.node(Node::Even(*axes, expr.clone())),
            ExprKind::Element { array, index } => self.elements(array).get(*index as usize).copied().flatten(),
            ExprKind::Call { function, args } => self.called(*function, args).first().copied().flatten(),
            ExprKind::Extend { data, .. } if data.ty.value().is_some_and(|ty| ty.shape == Shape::Single) => {
                let data = self.single_value(data)?;
                let kind = ExprKind::Extend { data: Box::new(operand(expr.span)), domain: Box::new(cells()) };
                self.node(Node::Operation(Expr { kind, ..expr.clone() }, vec![data]))
            }
            _ => {
                let mut operands = Vec::new();
                let shell = with_operands(expr, &mut |of| {
                    operands.push(if of.ty == TreeType::Table2 { self.table(of) } else { self.single_value(of) }?);
                    Some(operand(of.span))
                })?;
                self.node(Node::Operation(bare(shell), operands))
            }
        }
    }

    /// A table of two arguments that a variable is.
    fn table(&mut self, of: &Expr) -> Option<NodeId> {
        let ExprKind::Variable(variable) = &of.kind else { return None };
        let Variable { owner, mutable, .. } = self.checker.tree.variable(*variable);
        let is_inner = self.bodies.iter().any(|body| Some(body.function) == *owner);
        if *mutable || is_inner { None } else { self.node(Node::Constant(of.clone())) }
    }
}

/// A value at an offset, also beyond the sides of the grid.
fn evaluated(checker: &mut Checker<'_>, root: NodeId, by: Offset, span: Span) -> Option<Expr> {
    let mut reached = BTreeSet::from([root]);
    let mut uses: HashMap<NodeId, u32> = HashMap::from([(root, 1)]);
    let mut rest = vec![root];
    while let Some(node) = rest.pop() {
        if component(&checker.geometry, node).is_some() {
            continue;
        }
        let Node::Operation(_, operands) = &checker.geometry.nodes[node.0 as usize] else { continue };
        for &operand in operands {
            *uses.entry(operand).or_insert(0) += 1;
            if reached.insert(operand) {
                rest.push(operand);
            }
        }
    }
    // With the depth and the size of each tree.
    let mut made: HashMap<NodeId, (Expr, u32, usize)> = HashMap::new();
    for node in reached {
        let (expr, depth, size) = match (component(&checker.geometry, node), &checker.geometry.nodes[node.0 as usize]) {
            (Some((centroid, axis)), Node::Operation(shell, _)) => {
                let component = with_operands(shell, &mut |_| Some(centroid.clone())).unwrap_or(centroid);
                (coordinate(component, axis, by, span), 1, 1)
            }
            (_, Node::Constant(expr)) => (expr.clone(), 0, 1),
            (_, Node::Centroid(expr)) => (linear(expr.clone(), by, span), 1, 1),
            (_, Node::Index(axis, expr)) => (shifted(expr.clone(), by[usize::from(*axis)], span), 1, 1),
            (_, Node::Even(axes, expr)) => (parity(expr.clone(), *axes, by, span), 1, 1),
            (_, Node::Operation(shell, operands)) => {
                let (mut depth, mut size) = (1, 1_usize);
                let mut operands = operands.iter();
                let whole = with_operands(shell, &mut |_| {
                    let (operand, below, inside) = made.get(operands.next()?)?;
                    depth = depth.max(below + 1);
                    size += inside;
                    (size <= MAX_SIZE).then(|| operand.clone())
                });
                (whole?, depth, size)
            }
        };
        let is_named = depth > 0
            && !checker.geometry.in_condition
            && node != root
            && (uses.get(&node).is_some_and(|&uses| uses > 1) || depth > MAX_TREE || size > MAX_SIZE / 4);
        made.insert(node, if is_named { (named(checker, expr), 0, 1) } else { (expr, depth, size) });
    }
    made.remove(&root).map(|(expr, ..)| Expr { span, ..expr })
}

/// The centroid and the axis of a coordinate.
fn component(geometry: &Geometry, node: NodeId) -> Option<(Expr, usize)> {
    let Node::Operation(Expr { kind: ExprKind::Component { index, .. }, .. }, operands) = &geometry.nodes[node.0 as usize] else {
        return None;
    };
    match &geometry.nodes[operands.first()?.0 as usize] {
        Node::Centroid(centroid) => Some((centroid.clone(), *index as usize)),
        Node::Constant(_) | Node::Index(..) | Node::Even(..) | Node::Operation(..) => None,
    }
}

/// A value by a variable of its own.
fn named(checker: &mut Checker<'_>, value: Expr) -> Expr {
    let variable = checker.name_value("beyond", value.clone());
    Expr { kind: ExprKind::Variable(variable), ..value }
}
