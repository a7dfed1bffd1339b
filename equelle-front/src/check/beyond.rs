//! Values of rules beyond the sides of the grid: which of them are expressions of geometry, and
//! what these are there. They are found on demand, by following variables to what they were
//! assigned, and calls into functions.

use std::collections::{BTreeSet, HashMap};

use crate::check::checker::{Checker, value};
use crate::check::geometry::{Node, NodeId, coordinate, insert, is_shallow, linear, operand, parity, shifted, with_operands};
use crate::check::halo::Rules;
use crate::check::stencil::bare;
use crate::ops::{CellFact, Offset};
use crate::source::Span;
use crate::typed::captures::reads_and_writes;
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

/// Context of an expression.
struct Context {
    /// Calls around it, outermost first.
    bodies: Vec<Body>,
    /// The variable whose assignment it belongs to; `None`: the statement that is checked.
    assigned: Option<VarId>,
}

impl<'a> Checker<'a> {
    /// Keeps what a variable that is assigned once was assigned.
    pub fn keep_definition(&mut self, variable: VarId, value: &Expr) {
        if value.ty.elements().iter().any(|ty| self.may_be_geometry(ty)) && is_shallow(value, MAX_DEPTH) {
            self.geometry.definitions.insert(variable, value.clone());
        }
    }

    fn may_be_geometry(&self, ty: &Type) -> bool {
        let all_cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        ty.shape == Shape::Collection(all_cells) && matches!(ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool)
    }

    /// A type of an argument that says which expression of geometry it is, if it is one: the
    /// function may give it in rules.
    pub fn with_geometry(&mut self, argument: &Expr) -> TreeType {
        let mut types = argument.ty.elements().to_vec();
        if !types.iter().any(|ty| self.may_be_geometry(ty)) {
            return argument.ty.clone();
        }
        let before = self.before.len();
        let nodes = if self.may_be_repeated(argument) {
            self.elements(argument, &mut Context { bodies: Vec::new(), assigned: None })
        } else {
            Vec::new()
        };
        if nodes.iter().all(Option::is_none) {
            self.before.truncate(before);
        }
        for (ty, node) in types.iter_mut().zip(nodes) {
            if self.may_be_geometry(ty) && node.is_some() {
                ty.halo = self.halo(Rules { geometry: node, ..Rules::default() });
            }
        }
        match argument.ty {
            TreeType::Value(ty) => TreeType::Value(types.first().copied().unwrap_or(ty)),
            TreeType::Array(_) => TreeType::Array(types.into()),
            TreeType::Table2 => TreeType::Table2,
            TreeType::Void => TreeType::Void,
        }
    }

    /// A type that says no longer which expression of geometry it is.
    pub fn without_geometry(&mut self, ty: &TreeType) -> TreeType {
        let mut types = ty.elements().to_vec();
        for ty in &mut types {
            let rules = self.rules_of(ty.halo);
            if rules.geometry.is_some() {
                ty.halo = self.halo(Rules { geometry: None, ..rules });
            }
        }
        match ty {
            TreeType::Value(ty) => TreeType::Value(types.first().copied().unwrap_or(*ty)),
            TreeType::Array(_) => TreeType::Array(types.into()),
            TreeType::Table2 => TreeType::Table2,
            TreeType::Void => TreeType::Void,
        }
    }

    /// The value of a variable at an offset, if it is an expression of geometry.
    pub fn geometry_at(&mut self, variable: VarId, by: Offset, span: Span) -> Option<Expr> {
        let node = self.variable(variable, &Context { bodies: Vec::new(), assigned: None }).first().copied().flatten()?;
        self.evaluated(node, by, span)
    }

    /// Statements with the snapshots before the assignments that they belong to.
    pub fn with_snapshots(&mut self, mut main: Vec<Stmt>) -> Vec<Stmt> {
        let snapshots = std::mem::take(&mut self.geometry.snapshots);
        if !snapshots.is_empty() {
            insert(&mut main, &snapshots);
            for function in &mut self.functions {
                insert(&mut function.body, &snapshots);
            }
        }
        main
    }

    fn node(&mut self, node: Node) -> Option<NodeId> {
        let nodes = &mut self.geometry.nodes;
        nodes.push(node);
        Some(NodeId(nodes.len() as u32 - 1))
    }

    /// One level deeper, unless that is too deep or has been done too often.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.geometry.depth >= MAX_DEPTH || self.geometry.work >= MAX_WORK {
            return None;
        }
        self.geometry.work += 1;
        self.geometry.depth += 1;
        let found = inside(self);
        self.geometry.depth -= 1;
        found
    }

    /// The expression of geometry that each element of an array is, or the one value.
    fn elements(&mut self, expr: &Expr, context: &mut Context) -> Vec<Option<NodeId>> {
        let found = match (&expr.kind, &expr.ty) {
            (_, TreeType::Value(_)) => vec![self.single_value(expr, context)],
            (ExprKind::Array(elements), _) => elements.iter().flat_map(|element| self.elements(element, context)).collect(),
            (ExprKind::Variable(variable), _) => self.variable(*variable, context),
            (ExprKind::Call { function, args }, _) => self.called(*function, args, context),
            _ => Vec::new(),
        };
        let count = expr.ty.elements().len();
        if found.len() == count { found } else { vec![None; count] }
    }

    /// That of each element of a variable.
    fn variable(&mut self, variable: VarId, context: &Context) -> Vec<Option<NodeId>> {
        if let Some(known) = context.bodies.iter().rev().find_map(|body| body.variables.get(&variable)) {
            return known.clone();
        }
        let Variable { ty, owner, mutable, .. } = &self.variables[variable.0 as usize];
        let types = ty.elements().to_vec();
        let nothing = vec![None; types.len()];
        if *mutable || context.bodies.iter().any(|body| Some(body.function) == *owner) {
            return nothing;
        }
        if let Some(known) = self.geometry.known.get(&variable) {
            return known.clone();
        }
        let snapshots = self.geometry.snapshots.len();
        let definition = self.geometry.definitions.remove(&variable);
        let mut nodes = nothing;
        if let Some(value) = definition.as_ref().filter(|value| self.may_be_repeated(value)) {
            nodes = self.elements(value, &mut Context { bodies: Vec::new(), assigned: Some(variable) });
        }
        if nodes.iter().all(Option::is_none) {
            self.geometry.snapshots.truncate(snapshots);
        }
        self.geometry.definitions.extend(definition.map(|value| (variable, value)));
        for (node, ty) in nodes.iter_mut().zip(&types) {
            *node = self.rules_of(ty.halo).geometry.or(*node);
        }
        if nodes.iter().any(Option::is_some) {
            self.geometry.known.insert(variable, nodes.clone());
        }
        nodes
    }

    /// Returns a function's result for these arguments, element by element; empty if the function
    /// does something else as well.
    fn called(&mut self, function: FunctionId, args: &[Expr], context: &mut Context) -> Vec<Option<NodeId>> {
        self.extend_captures();
        if self.captures.get(function.0 as usize).is_none_or(|does| does.outputs || !does.writes.is_empty()) {
            return Vec::new();
        }
        let params = self.functions[function.0 as usize].params.clone();
        let variables = params.into_iter().zip(args).map(|(param, arg)| (param, self.elements(arg, context))).collect();
        context.bodies.push(Body { function, variables });
        // No function calls itself.
        let body = std::mem::take(&mut self.functions[function.0 as usize].body);
        let result = self.deeper(|this| this.returned(&body, context));
        self.functions[function.0 as usize].body = body;
        context.bodies.pop();
        result.unwrap_or_default()
    }

    /// The value that a function returns, if all its other statements are definitions.
    fn returned(&mut self, statements: &[Stmt], context: &mut Context) -> Option<Vec<Option<NodeId>>> {
        let (last, definitions) = statements.split_last()?;
        for statement in definitions {
            let StmtKind::Let { variable, value } = &statement.kind else { return None };
            let nodes = self.elements(value, context);
            context.bodies.last_mut()?.variables.insert(*variable, nodes);
        }
        let StmtKind::Return(value) = &last.kind else { return None };
        Some(self.elements(value, context))
    }

    fn single_value(&mut self, expr: &Expr, context: &mut Context) -> Option<NodeId> {
        let ty = expr.ty.value()?;
        let is_constant = ty.shape == Shape::Single;
        if !(is_constant || self.may_be_geometry(&ty)) {
            return None;
        }
        let found = self.deeper(|this| this.operation(expr, context));
        if found.is_none() && is_constant { self.constant(expr, context) } else { found }
    }

    /// A value that is the same everywhere, by a variable if it may change.
    fn constant(&mut self, expr: &Expr, context: &Context) -> Option<NodeId> {
        if expr.ty.value()?.shape != Shape::Single {
            return None;
        }
        let is_outer = |var: &VarId| {
            let owner = self.variables[var.0 as usize].owner;
            context.bodies.iter().all(|body| Some(body.function) != owner)
        };
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::GridNumber(_) => return self.node(Node::Constant(expr.clone())),
            ExprKind::Variable(var) if !is_outer(var) => return None,
            ExprKind::Variable(var) if !self.variables[var.0 as usize].mutable => return self.node(Node::Constant(expr.clone())),
            ExprKind::Variable(_) => {}
            _ if context.bodies.is_empty() && self.may_be_repeated(expr) => {}
            _ => return None,
        }
        if context.assigned.is_none() && self.geometry.in_condition {
            return None;
        }
        let span = expr.span;
        let variable =
            Variable { name: "constant".to_owned(), ty: expr.ty.clone(), dims: expr.dims.clone(), mutable: false, owner: None, span };
        let snapshot = match context.assigned {
            None => {
                let snapshot = self.new_variable(variable);
                self.before.push(Stmt { kind: StmtKind::Let { variable: snapshot, value: expr.clone() }, span });
                snapshot
            }
            Some(assigned) => {
                let frame = self.frames.iter().position(|frame| frame.locals.contains(&assigned));
                let snapshot = self.new_variable_of(variable, frame);
                self.geometry.snapshots.push((assigned, snapshot, expr.clone()));
                snapshot
            }
        };
        self.node(Node::Constant(Expr { kind: ExprKind::Variable(snapshot), ..expr.clone() }))
    }

    /// True if an expression gives its value only.
    fn may_be_repeated(&mut self, expr: &Expr) -> bool {
        self.extend_captures();
        let statement = [Stmt { kind: StmtKind::Discard(expr.clone()), span: expr.span }];
        let does = reads_and_writes(&self.captures, &statement);
        does.writes.is_empty() && !does.outputs
    }

    fn operation(&mut self, expr: &Expr, context: &mut Context) -> Option<NodeId> {
        let all_cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        let is_all_cells = |of: &Expr| of.ty.value().is_some_and(|ty| ty.shape == Shape::Domain(all_cells));
        let cells = || {
            let ty = Type::domain(CanonicalSet::ALL_CELLS.kind, all_cells);
            value(ExprKind::CanonicalSet(CanonicalSet::ALL_CELLS), ty, Dimension::NONE, expr.span)
        };
        match &expr.kind {
            ExprKind::Variable(variable) => self.variable(*variable, context).first().copied().flatten(),
            ExprKind::Builtin { builtin: Builtin::Centroid, args } if args.iter().all(is_all_cells) => {
                let kind = ExprKind::Builtin { builtin: Builtin::Centroid, args: vec![cells()] };
                self.node(Node::Centroid(Expr { kind, ..expr.clone() }))
            }
            ExprKind::Norm(of) if is_all_cells(of) => {
                self.node(Node::Constant(Expr { kind: ExprKind::Norm(Box::new(cells())), ..expr.clone() }))
            }
            ExprKind::CellFact(CellFact::Index(axis)) => self.node(Node::Index(*axis, expr.clone())),
            ExprKind::CellFact(CellFact::Even(axes)) => self.node(Node::Even(*axes, expr.clone())),
            ExprKind::Element { array, index } => self.elements(array, context).get(*index as usize).copied().flatten(),
            ExprKind::Call { function, args } => self.called(*function, args, context).first().copied().flatten(),
            ExprKind::Extend { data, .. } if data.ty.value().is_some_and(|ty| ty.shape == Shape::Single) => {
                let data = self.single_value(data, context)?;
                let kind = ExprKind::Extend { data: Box::new(operand(expr.span)), domain: Box::new(cells()) };
                self.node(Node::Operation(Expr { kind, ..expr.clone() }, vec![data]))
            }
            _ => {
                let mut operands = Vec::new();
                let shell = with_operands(expr, &mut |of| {
                    operands.push(if of.ty == TreeType::Table2 { self.table(of, context) } else { self.single_value(of, context) }?);
                    Some(operand(of.span))
                })?;
                self.node(Node::Operation(bare(shell), operands))
            }
        }
    }

    /// A table of two arguments that a variable is.
    fn table(&mut self, of: &Expr, context: &Context) -> Option<NodeId> {
        let ExprKind::Variable(variable) = &of.kind else { return None };
        let Variable { owner, mutable, .. } = &self.variables[variable.0 as usize];
        let is_inner = context.bodies.iter().any(|body| Some(body.function) == *owner);
        if *mutable || is_inner { None } else { self.node(Node::Constant(of.clone())) }
    }

    /// A value at an offset, also beyond the sides of the grid.
    fn evaluated(&mut self, root: NodeId, by: Offset, span: Span) -> Option<Expr> {
        let mut reached = BTreeSet::from([root]);
        let mut uses: HashMap<NodeId, u32> = HashMap::from([(root, 1)]);
        let mut rest = vec![root];
        while let Some(node) = rest.pop() {
            if self.component(node).is_some() {
                continue;
            }
            let Node::Operation(_, operands) = &self.geometry.nodes[node.0 as usize] else { continue };
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
            let (expr, depth, size) = match (self.component(node), &self.geometry.nodes[node.0 as usize]) {
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
                && !self.geometry.in_condition
                && node != root
                && (uses.get(&node).is_some_and(|&uses| uses > 1) || depth > MAX_TREE || size > MAX_SIZE / 4);
            made.insert(node, if is_named { (self.named(expr), 0, 1) } else { (expr, depth, size) });
        }
        made.remove(&root).map(|(expr, ..)| Expr { span, ..expr })
    }

    /// The centroid and the axis of a coordinate.
    fn component(&self, node: NodeId) -> Option<(Expr, usize)> {
        let Node::Operation(Expr { kind: ExprKind::Component { index, .. }, .. }, operands) = &self.geometry.nodes[node.0 as usize] else {
            return None;
        };
        match &self.geometry.nodes[operands.first()?.0 as usize] {
            Node::Centroid(centroid) => Some((centroid.clone(), *index as usize)),
            Node::Constant(_) | Node::Index(..) | Node::Even(..) | Node::Operation(..) => None,
        }
    }

    /// A value by a variable of its own.
    fn named(&mut self, value: Expr) -> Expr {
        let Expr { ty, dims, span, .. } = value.clone();
        let variable = Variable { name: "beyond".to_owned(), ty: ty.clone(), dims: dims.clone(), mutable: false, owner: None, span };
        let variable = self.new_variable(variable);
        self.before.push(Stmt { kind: StmtKind::Let { variable, value }, span });
        Expr { kind: ExprKind::Variable(variable), ty, dims, span }
    }
}
