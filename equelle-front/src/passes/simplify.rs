//! Constant folding, common subexpressions, forwarding of stored values. Every rewrite is exact in
//! IEEE arithmetic.

use std::collections::{BTreeMap, HashMap};

use super::analysis::stored_mutables;
use super::inline::rename;
use crate::ir::{Block, Function, MutableId, Op, Stmt, StmtKind, UnaryOp, ValueId};
use crate::ops::{Arithmetic, FaceReduction};
use crate::types::{Basic, CanonicalSet, SetTable, Shape};

/// Simplifies a function.
pub(super) fn run(function: &mut Function, sets: &SetTable) {
    let body = std::mem::take(&mut function.body);
    let (same, ops, current) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut simplifier = Simplifier { function, sets, same, ops, available: vec![HashMap::new()], current };
    let body = simplifier.block(body);
    simplifier.function.body = body;
}

struct Simplifier<'a> {
    function: &'a mut Function,
    sets: &'a SetTable,
    /// Values that turned out to be others.
    same: BTreeMap<ValueId, ValueId>,
    /// Operations of the values kept so far.
    ops: BTreeMap<ValueId, Op>,
    /// Pure operations already computed, by their text; one table per open block.
    available: Vec<HashMap<String, ValueId>>,
    /// Values that mutables are known to hold here.
    current: BTreeMap<MutableId, ValueId>,
}

impl Simplifier<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            self.statement(statement, &mut out);
        }
        Block { statements: out }
    }

    fn statement(&mut self, statement: Stmt, out: &mut Vec<Stmt>) {
        let Stmt { kind, span } = statement;
        let kind = rename(kind, &mut |v| self.same.get(&v).copied().unwrap_or(v));
        let kind = match kind {
            StmtKind::Let { results, op } if results.len() == 1 => {
                let Some(op) = self.single(results[0], op) else { return };
                StmtKind::Let { results, op }
            }
            StmtKind::Store { mutable, value } => {
                self.current.insert(mutable, value);
                StmtKind::Store { mutable, value }
            }
            StmtKind::For { rounds, body } => {
                let changed = stored_mutables(&body);
                self.current.retain(|m, _| !changed.contains(m));
                let outside = self.current.clone();
                self.available.push(HashMap::new());
                let body = self.block(body);
                self.available.pop();
                // A value of the last round is not visible after the loop, nor is one that was
                // loaded inside.
                self.current = outside;
                StmtKind::For { rounds, body }
            }
            kind @ (StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_)) => kind,
        };
        out.push(Stmt { kind, span });
    }

    /// Treats `result = op`; `None` if the statement is not needed any more.
    fn single(&mut self, result: ValueId, op: Op) -> Option<Op> {
        if let Op::Load(mutable) = op {
            if let Some(&value) = self.current.get(&mutable) {
                self.replace(result, value);
                return None;
            }
            self.current.insert(mutable, result);
            return Some(op);
        }
        if !op.class().is_pure() {
            return Some(op);
        }
        let op = match self.fold(result, op) {
            Folded::Value(value) => {
                self.replace(result, value);
                return None;
            }
            Folded::Op(op) => op,
        };
        // The result type is part of the key: equal operations on equal operands make equal types.
        let key = format!("{op:?}");
        if let Some(&value) = self.available.iter().rev().find_map(|table| table.get(&key)) {
            self.replace(result, value);
            return None;
        }
        if let Some(table) = self.available.last_mut() {
            table.insert(key, result);
        }
        self.ops.insert(result, op.clone());
        Some(op)
    }

    fn replace(&mut self, result: ValueId, value: ValueId) {
        self.function.stand_for(value, result);
        self.same.insert(result, value);
    }

    fn real(&self, value: ValueId) -> Option<f64> {
        match self.ops.get(&value) {
            Some(Op::Real(x)) => Some(*x),
            _ => None,
        }
    }

    /// A value on the same set as this one from which it is made, the domain where that is among
    /// them: nothing has to be computed only to say where something is.
    fn source(&self, value: ValueId) -> ValueId {
        let ty = |v: ValueId| self.function.values[v.0 as usize].ty;
        let set = ty(value).mapping();
        let says_where = |v: &ValueId| ty(*v).mapping() == set && (ty(*v).is_domain() || ty(*v).entity_kind().is_none());
        let mut source = value;
        while !ty(source).is_domain()
            && let Some(operand) = self.ops.get(&source).and_then(|op| op.operands().into_iter().find(says_where))
        {
            source = operand;
        }
        source
    }

    fn fold(&self, result: ValueId, op: Op) -> Folded {
        let ty = |v: ValueId| self.function.values[v.0 as usize].ty;
        let keeps_type = |v: ValueId| ty(v) == ty(result);
        match &op {
            Op::Unary(UnaryOp::Neg, a) => {
                if let Some(x) = self.real(*a) {
                    return Folded::Op(Op::Real(-x));
                }
                if let Some(Op::Unary(UnaryOp::Neg, inner)) = self.ops.get(a) {
                    return Folded::Value(*inner);
                }
            }
            Op::Arithmetic(operator, a, b) => {
                if let (Some(x), Some(y)) = (self.real(*a), self.real(*b)) {
                    return Folded::Op(Op::Real(match operator {
                        Arithmetic::Add => x + y,
                        Arithmetic::Sub => x - y,
                        Arithmetic::Mul => x * y,
                        Arithmetic::Div => x / y,
                    }));
                }
                // Multiplication and division by one are exact.
                let one = |v: ValueId| self.real(v) == Some(1.0);
                match operator {
                    Arithmetic::Mul if one(*b) && keeps_type(*a) => return Folded::Value(*a),
                    Arithmetic::Mul if one(*a) && keeps_type(*b) => return Folded::Value(*b),
                    Arithmetic::Div if one(*b) && keeps_type(*a) => return Folded::Value(*a),
                    Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul | Arithmetic::Div => {}
                }
            }
            // Subtracting is adding the negative.
            Op::FaceReduce { reduction: FaceReduction::Sum, first, second } => {
                let canonical = ty(*first).mapping().and_then(|set| self.sets.get(set).canonical);
                let whole = matches!(canonical, Some(CanonicalSet::INTERIOR_FACES | CanonicalSet::ALL_FACES));
                let negated = self.ops.get(second) == Some(&Op::Unary(UnaryOp::Neg, *first));
                if whole && negated && ty(*first).basic == Basic::Scalar {
                    return Folded::Op(Op::Divergence(*first));
                }
            }
            Op::Select { condition, if_true, if_false } => {
                if let Some(Op::Bool(known)) = self.ops.get(condition) {
                    return Folded::Value(if *known { *if_true } else { *if_false });
                }
            }
            Op::On { data, target } => {
                // Restriction to its own domain, and of a value spread over more.
                if ty(*target).is_domain() && ty(*target).mapping() == ty(*data).mapping() && keeps_type(*data) {
                    return Folded::Value(*data);
                }
                if let Some(Op::Broadcast { value, .. }) = self.ops.get(data)
                    && ty(*target).is_domain()
                    && matches!(ty(*value).shape, Shape::Single)
                    && ty(*value).basic == Basic::Scalar
                {
                    return Folded::Op(Op::Broadcast { value: *value, domain: *target });
                }
            }
            Op::Broadcast { value, domain } => return Folded::Op(Op::Broadcast { value: *value, domain: self.source(*domain) }),
            Op::Extend { data, domain } if ty(*domain).mapping() == ty(*data).mapping() && keeps_type(*data) => {
                return Folded::Value(*data);
            }
            _ => {}
        }
        Folded::Op(op)
    }
}

enum Folded {
    /// The result is another value.
    Value(ValueId),
    /// The result is made by this operation.
    Op(Op),
}
