//! Expressions.

use super::function::{Lowering, element_types};
use crate::ir::{FunctionId, Op, StmtKind, UnaryOp, ValueId};
use crate::ops::Reduction;
use crate::typed::{self, Builtin, Expr, ExprKind, TreeType};
use crate::types::{Basic, Dimension, Shape, Type};

impl Lowering<'_> {
    /// Values of an expression: one, or one per element of an array.
    pub(super) fn expr(&mut self, expr: &Expr) -> Vec<ValueId> {
        match &expr.kind {
            ExprKind::Variable(variable) => self.read_variable(*variable),
            ExprKind::Array(elements) => elements.iter().flat_map(|e| self.expr(e)).collect(),
            ExprKind::Element { array, index } => {
                let elements = self.expr(array);
                elements.get(*index as usize).copied().into_iter().collect()
            }
            ExprKind::Call { function, args } => self.call(expr, *function, args),
            ExprKind::Newton { residuals, guesses } => self.newton(expr, residuals, guesses),
            ExprKind::Number(value) => vec![self.one(expr, Op::Real(*value))],
            ExprKind::Text(text) => vec![self.one(expr, Op::Text(text.clone()))],
            ExprKind::Bool(value) => vec![self.one(expr, Op::Bool(*value))],
            ExprKind::CanonicalSet(set) => vec![self.one(expr, Op::CanonicalSet(*set))],
            ExprKind::Builtin { builtin, args } => {
                let args: Vec<ValueId> = args.iter().flat_map(|a| self.expr(a)).collect();
                let op = builtin_op(*builtin, &args);
                vec![self.one(expr, op)]
            }
            ExprKind::Component { vector, index } => {
                let vector = self.expr(vector)[0];
                vec![self.one(expr, Op::Component(vector, *index))]
            }
            ExprKind::Neg(a) => {
                let a = self.expr(a)[0];
                vec![self.one(expr, Op::Unary(UnaryOp::Neg, a))]
            }
            ExprKind::Not(a) => {
                let a = self.expr(a)[0];
                vec![self.one(expr, Op::Unary(UnaryOp::Not, a))]
            }
            ExprKind::Norm(a) => {
                let a = self.expr(a)[0];
                let op = match self.values[a.0 as usize].ty.basic {
                    Basic::Entity(_) => Op::Measure(a),
                    Basic::Vector => Op::Unary(UnaryOp::Length, a),
                    Basic::Scalar | Basic::Bool | Basic::Text => Op::Unary(UnaryOp::Abs, a),
                };
                vec![self.one(expr, op)]
            }
            ExprKind::Arithmetic { op, left, right } => {
                let (a, b) = self.two(left, right);
                vec![self.one(expr, Op::Arithmetic(*op, a, b))]
            }
            ExprKind::Comparison { op, left, right } => {
                let (a, b) = self.two(left, right);
                vec![self.one(expr, Op::Compare(*op, a, b))]
            }
            ExprKind::Logic { op, left, right } => {
                let (a, b) = self.two(left, right);
                vec![self.one(expr, Op::Logic(*op, a, b))]
            }
            ExprKind::On { data, target } => {
                let (data, target) = self.two(data, target);
                vec![self.one(expr, Op::On { data, target })]
            }
            ExprKind::Extend { data, domain } => {
                let (data, domain) = self.two(data, domain);
                let op = match self.values[data.0 as usize].ty.shape {
                    Shape::Single => Op::Spread { value: data, domain },
                    Shape::Collection(_) | Shape::Domain(_) | Shape::Sequence => Op::Extend { data, domain },
                };
                vec![self.one(expr, op)]
            }
            ExprKind::Ternary { condition, if_true, if_false } => {
                let condition = self.expr(condition)[0];
                let (if_true, if_false) = self.two(if_true, if_false);
                vec![self.one(expr, Op::Select { condition, if_true, if_false })]
            }
        }
    }

    fn two(&mut self, a: &Expr, b: &Expr) -> (ValueId, ValueId) {
        let a = self.expr(a)[0];
        let b = self.expr(b)[0];
        (a, b)
    }

    fn one(&mut self, expr: &Expr, op: Op) -> ValueId {
        let ty = match expr.ty {
            TreeType::Value(ty) | TreeType::Array { element: ty, .. } => ty,
            TreeType::Void => Type::SCALAR,
        };
        self.emit(op, ty, expr.dims.first().copied().unwrap_or_default(), expr.span)
    }

    fn call(&mut self, expr: &Expr, function: typed::FunctionId, args: &[Expr]) -> Vec<ValueId> {
        let mut args: Vec<ValueId> = args.iter().flat_map(|a| self.expr(a)).collect();
        args.extend(self.captured(function));
        let results = self.results(expr);
        let writes = self.captures[function.0 as usize].writes.clone();
        let mut all = results.clone();
        let mut written = Vec::new();
        for &variable in &writes {
            let info = &self.program.variables[variable.0 as usize];
            let (types, dims, name) = (element_types(info.ty), info.dims.clone(), info.name.clone());
            let ids: Vec<ValueId> = types
                .iter()
                .enumerate()
                .map(|(i, &ty)| self.new_value(ty, dims.get(i).copied().unwrap_or_default(), &name, expr.span))
                .collect();
            all.extend(&ids);
            written.push((variable, ids));
        }
        self.push(StmtKind::Let { results: all, op: Op::Call { function: FunctionId(function.0), args } });
        for (variable, ids) in written {
            self.store_variable(variable, &ids);
        }
        results
    }

    fn newton(&mut self, expr: &Expr, residuals: &[typed::FunctionId], guesses: &[Expr]) -> Vec<ValueId> {
        let guesses: Vec<ValueId> = guesses.iter().flat_map(|g| self.expr(g)).collect();
        let captures = residuals.iter().map(|&f| self.captured(f)).collect();
        let results = self.results(expr);
        let residuals = residuals.iter().map(|f| FunctionId(f.0)).collect();
        self.push(StmtKind::Let { results: results.clone(), op: Op::Newton { residuals, captures, guesses } });
        results
    }

    fn results(&mut self, expr: &Expr) -> Vec<ValueId> {
        element_types(expr.ty)
            .into_iter()
            .enumerate()
            .map(|(i, ty)| self.new_value(ty, expr.dims.get(i).copied().unwrap_or(Dimension::NONE), "", expr.span))
            .collect()
    }

    fn captured(&mut self, function: typed::FunctionId) -> Vec<ValueId> {
        let reads = self.captures[function.0 as usize].reads.clone();
        reads.into_iter().flat_map(|v| self.read_variable(v)).collect()
    }
}

fn builtin_op(builtin: Builtin, args: &[ValueId]) -> Op {
    let arg = |i: usize| args[i];
    match builtin {
        Builtin::FirstCell => Op::FirstCell(arg(0)),
        Builtin::SecondCell => Op::SecondCell(arg(0)),
        Builtin::IsEmpty => Op::IsEmpty(arg(0)),
        Builtin::Centroid => Op::Centroid(arg(0)),
        Builtin::Normal => Op::Normal(arg(0)),
        Builtin::Gradient => Op::Gradient(arg(0)),
        Builtin::Divergence => Op::Divergence(arg(0)),
        Builtin::Dot => Op::Dot(arg(0), arg(1)),
        Builtin::Sqrt => Op::Unary(UnaryOp::Sqrt, arg(0)),
        Builtin::MaxReduce => Op::Reduce(Reduction::Max, arg(0)),
        Builtin::MinReduce => Op::Reduce(Reduction::Min, arg(0)),
        Builtin::SumReduce => Op::Reduce(Reduction::Sum, arg(0)),
        Builtin::ProdReduce => Op::Reduce(Reduction::Prod, arg(0)),
        Builtin::InputScalarWithDefault => Op::InputScalar { name: arg(0), default: arg(1) },
        Builtin::InputCollectionOfScalar => Op::InputCollection { name: arg(0), domain: arg(1) },
        Builtin::InputDomainSubsetOf => Op::InputDomain { name: arg(0), within: arg(1) },
        Builtin::InputSequenceOfScalar => Op::InputSequence { name: arg(0) },
    }
}
