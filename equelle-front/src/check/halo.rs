//! Rules for values beyond the grid, as the checker numbers them.

use std::collections::HashSet;

use crate::check::geometry::NodeId;
use crate::syntax::ast::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::typed::{self, Rule, TreeType, VarId};
use crate::types::{Basic, Halo, SetId, Shape, Type};

/// Names of the axes.
pub(super) const AXES: [&str; 3] = ["I", "J", "K"];

/// The value that a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Given {
    /// A number, as bits.
    Number(u64),
    Variable(VarId),
}

/// Rules beyond the grid, with the values that they number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub sides: typed::Rules,
    pub given: Vec<Given>,
    /// The expression of geometry that an argument is.
    pub geometry: Option<NodeId>,
}

/// Rules beyond the grid, each once: [`Halo`] is the place.
pub(super) struct RuleTable {
    pub all: Vec<Rules>,
    all_cells: SetId,
}

impl RuleTable {
    pub fn new(all_cells: SetId) -> Self {
        RuleTable { all: vec![Rules::default()], all_cells }
    }

    /// The number of rules.
    pub fn number(&mut self, rules: Rules) -> Halo {
        let place = self.all.iter().position(|known| *known == rules).unwrap_or_else(|| {
            self.all.push(rules);
            self.all.len() - 1
        });
        Halo(place as u32)
    }

    pub fn get(&self, halo: Halo) -> Rules {
        self.all.get(halo.0 as usize).cloned().unwrap_or_default()
    }

    /// A result with the periodic axes that all of its operands have.
    pub fn keep_periodic(&mut self, mut result: typed::Expr, operands: &[TreeType]) -> typed::Expr {
        if operands.iter().all(|ty| ty.elements().iter().all(|ty| ty.halo == Halo::NONE)) {
            return result;
        }
        let mut types = result.ty.elements().to_vec();
        for (index, ty) in types.iter_mut().enumerate() {
            let mut kept: Option<typed::Rules> = None;
            for operand in operands {
                let elements = operand.elements();
                let element = if matches!(operand, TreeType::Array(_)) { elements.get(index) } else { elements.first() };
                let Some(element) = element.filter(|ty| ty.shape != Shape::Single) else { continue };
                let periodic = periodic_sides(&self.get(element.halo).sides);
                kept = Some(match kept {
                    None => periodic,
                    Some(kept) => std::array::from_fn(|side| kept[side].and(periodic[side])),
                });
            }
            let sides = kept.filter(|_| ty.shape == Shape::Collection(self.all_cells)).unwrap_or_default();
            ty.halo = self.number(Rules { sides, ..Rules::default() });
        }
        result.ty = with_elements(&result.ty, types);
        result
    }

    /// Types with zero beyond all sides: that of `Stencil Collection`.
    pub fn with_zero_halo(&mut self, ty: &TreeType) -> TreeType {
        let halo = self.number(zero_beyond());
        let mut types = ty.elements().to_vec();
        for ty in types.iter_mut().filter(|ty| matches!((ty.basic, ty.shape), (Basic::Scalar, Shape::Collection(_)))) {
            ty.halo = halo;
        }
        with_elements(ty, types)
    }

    /// A type that says no longer which expression of geometry it is.
    pub fn without_geometry(&mut self, ty: &TreeType) -> TreeType {
        let mut types = ty.elements().to_vec();
        for ty in &mut types {
            let rules = self.get(ty.halo);
            if rules.geometry.is_some() {
                ty.halo = self.number(Rules { geometry: None, ..rules });
            }
        }
        with_elements(ty, types)
    }

    /// A type whose rules give other variables.
    pub fn renamed(&mut self, ty: &TreeType, from: &[VarId], to: &[VarId]) -> TreeType {
        let TreeType::Value(ty) = ty else { return ty.clone() };
        let mut rules = self.get(ty.halo);
        for given in &mut rules.given {
            if let Given::Variable(var) = given
                && let Some(place) = from.iter().position(|known| known == var)
            {
                *var = to[place];
            }
        }
        // It was that of the function.
        rules.geometry = None;
        TreeType::Value(Type { halo: self.number(rules), ..*ty })
    }
}

/// A value or an array with these types of its elements.
pub(super) fn with_elements(ty: &TreeType, types: Vec<Type>) -> TreeType {
    match ty {
        TreeType::Value(ty) => TreeType::Value(types.first().copied().unwrap_or(*ty)),
        TreeType::Array(_) => TreeType::Array(types.into()),
        TreeType::Table2 => TreeType::Table2,
        TreeType::Void => TreeType::Void,
    }
}

/// Without rules beyond the grid.
pub(super) fn bare(mut expr: typed::Expr) -> typed::Expr {
    if expr.ty.elements().iter().any(|ty| ty.halo != Halo::NONE) {
        expr.ty = expr.ty.bare();
        if let typed::ExprKind::Array(elements) = expr.kind {
            expr.kind = typed::ExprKind::Array(elements.into_iter().map(bare).collect());
        }
    }
    expr
}

/// `low` or `high`, and the name of the axis.
pub(super) fn side_name(side: usize) -> (&'static str, &'static str) {
    (if side.is_multiple_of(2) { "low" } else { "high" }, AXES[side / 2])
}

/// Zero beyond all sides.
pub(super) fn zero_beyond() -> Rules {
    Rules { sides: [Some(Rule::Value(1)); 6], given: vec![Given::Number(0.0_f64.to_bits())], geometry: None }
}

/// The periodic ones of rules.
fn periodic_sides(sides: &typed::Rules) -> typed::Rules {
    sides.map(|rule| rule.filter(|rule| *rule == Rule::Periodic))
}

/// True if a body has a rule with a value of its own, or calls one of the functions that have.
pub(super) fn gives_values(body: &Block, givers: &HashSet<&str>) -> bool {
    let mut statements: Vec<&Stmt> = body.statements.iter().collect();
    let mut exprs: Vec<&Expr> = Vec::new();
    while let Some(statement) = statements.pop() {
        match &statement.kind {
            StmtKind::Assignment { value, .. } | StmtKind::StencilAssignment { value, .. } => exprs.push(value),
            StmtKind::Call(value) | StmtKind::Return(value) => exprs.push(value),
            StmtKind::For { sequence: head, body, .. } | StmtKind::Conditional { condition: head, body, .. } => {
                exprs.push(head);
                statements.extend(&body.statements);
            }
            StmtKind::FunctionDefinition { body, .. } => statements.extend(&body.statements),
            StmtKind::Declaration { .. } | StmtKind::FunctionDeclaration { .. } | StmtKind::Import { .. } => {}
        }
    }
    while let Some(expr) = exprs.pop() {
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                let name = callee.name.as_str();
                if matches!(name, "AtFace" | "Value" | "Slope") || givers.contains(name) {
                    return true;
                }
                exprs.extend(args);
            }
            ExprKind::Array(elements) => exprs.extend(elements),
            ExprKind::Paren(a) | ExprKind::Norm(a) | ExprKind::Index { base: a, .. } | ExprKind::Unary { operand: a, .. } => exprs.push(a),
            ExprKind::Binary { left, right, .. } => exprs.extend([&**left, &**right]),
            ExprKind::Ternary { condition, if_true, if_false } => exprs.extend([&**condition, &**if_true, &**if_false]),
            ExprKind::Number { .. } | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Error => {}
        }
    }
    false
}
