//! Expressions.

use std::collections::{BTreeMap, BTreeSet};

use super::function::{Binding, Lowering};
use crate::ir::{Carried, FunctionId, Op, StmtKind, UnaryOp, ValueId};
use crate::ops::{Arithmetic, BinaryMath, Comparison, FaceReduction, Logic, Reduction, TablePart};
use crate::source::Span;
use crate::typed::{self, Builtin, Expr, ExprKind};
use crate::types::{Basic, Dimension, SetId, Shape, Type};

impl Lowering<'_> {
    /// Values of an expression: one, or one per element of an array.
    pub(super) fn expr(&mut self, expr: &Expr) -> Vec<ValueId> {
        // Along a chain of operators, each the left operand of the next, in a loop: it may be long.
        let mut chain = Vec::new();
        let mut leftmost = expr;
        while let Some(left) = leftmost.left_operand() {
            chain.push(leftmost);
            leftmost = left;
        }
        let mut values = self.node(leftmost, None);
        for expr in chain.into_iter().rev() {
            values = self.node(expr, Some(values));
        }
        values
    }

    /// Values of an expression whose left operand, if it has one, has been evaluated.
    fn node(&mut self, expr: &Expr, evaluated: Option<Vec<ValueId>>) -> Vec<ValueId> {
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
            ExprKind::Builtin { builtin: Builtin::InputTable2, args } => {
                let args: Vec<ValueId> = args.iter().flat_map(|a| self.expr(a)).collect();
                self.table2(expr, &args)
            }
            ExprKind::Builtin { builtin: Builtin::Interpolate2, args } => {
                let args: Vec<ValueId> = args.iter().flat_map(|a| self.expr(a)).collect();
                vec![self.interpolate2(&args, expr.span)]
            }
            ExprKind::Builtin { builtin, args } => {
                let mut args: Vec<ValueId> = args.iter().flat_map(|a| self.expr(a)).collect();
                if let (Builtin::Dot, [a, b]) = (builtin, &mut args[..]) {
                    (*a, *b) = self.on_one_set(*a, *b, expr.span);
                }
                vec![self.builtin(expr, *builtin, &args)]
            }
            ExprKind::Axis(axis) => vec![self.one(expr, Op::Text(format!("axis {axis}")))],
            ExprKind::CellFact(fact) => {
                let cells = self.all_cells(expr.span);
                vec![self.one(expr, Op::CellFact { fact: *fact, cells })]
            }
            ExprKind::GridNumber(number) => vec![self.one(expr, Op::GridNumber(*number))],
            ExprKind::Read { args, by, rules } => {
                let args: Vec<ValueId> = args.iter().flat_map(|a| self.expr(a)).collect();
                vec![self.read(expr, &args, *by, rules)]
            }
            ExprKind::Component { vector, index } => {
                let vector = self.expr(vector)[0];
                vec![self.one(expr, Op::Component(vector, *index))]
            }
            ExprKind::Vector(components) => {
                let components = components.iter().flat_map(|c| self.expr(c)).collect();
                vec![self.one(expr, Op::Vector(components))]
            }
            ExprKind::Power { base, exponent } => {
                let base = self.expr(base)[0];
                vec![self.power(expr, base, *exponent)]
            }
            ExprKind::Neg(a) => {
                let elements = self.expr(a);
                elements.into_iter().enumerate().map(|(i, a)| self.element(expr, i, Op::Unary(UnaryOp::Neg, a))).collect()
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
                    Basic::Scalar | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => Op::Unary(UnaryOp::Abs, a),
                };
                vec![self.one(expr, op)]
            }
            ExprKind::Arithmetic { op, left, right } => {
                let (left, right) = self.both(evaluated, left, right);
                let element = |i: usize| {
                    let (a, b) = (beside(&left, i), beside(&right, i));
                    let (a, b) = match op {
                        Arithmetic::Add | Arithmetic::Sub => self.on_one_set(a, b, expr.span),
                        Arithmetic::Mul | Arithmetic::Div => (a, b),
                    };
                    self.element(expr, i, Op::Arithmetic(*op, a, b))
                };
                (0..expr.ty.elements().len()).map(element).collect()
            }
            ExprKind::Comparison { op, left, right } => {
                let (a, b) = self.two(evaluated, left, right);
                vec![self.comparison(expr, *op, a, b)]
            }
            ExprKind::Logic { op, left, right } => {
                let (a, b) = self.two(evaluated, left, right);
                vec![self.one(expr, Op::Logic(*op, a, b))]
            }
            ExprKind::On { data, target } => {
                let (data, target) = self.two(evaluated, data, target);
                vec![self.one(expr, Op::On { data, target })]
            }
            ExprKind::Extend { data, domain } => {
                let (data, domain) = self.two(evaluated, data, domain);
                let op = match self.values[data.0 as usize].ty.shape {
                    Shape::Single => Op::Broadcast { value: data, domain },
                    Shape::Collection(_) | Shape::Domain(_) | Shape::Sequence => Op::Extend { data, domain },
                };
                vec![self.one(expr, op)]
            }
            ExprKind::Ternary { condition, if_true, if_false } => {
                let condition = self.expr(condition)[0];
                let (first, second) = self.both(None, if_true, if_false);
                let element = |(i, ty): (usize, &Type)| {
                    let (if_true, if_false) = (beside(&first, i), beside(&second, i));
                    if ty.is_domain() {
                        // Both branches are this one domain.
                        return if_true;
                    }
                    let (if_true, if_false) = self.on_one_set(if_true, if_false, expr.span);
                    // Where the condition is a collection, two single branches are on its set.
                    let [if_true, if_false] = [if_true, if_false].map(|branch| self.broadcast_like(branch, condition, expr.span));
                    self.element(expr, i, Op::Select { condition, if_true, if_false })
                };
                expr.ty.elements().iter().enumerate().map(element).collect()
            }
        }
    }

    fn builtin(&mut self, expr: &Expr, builtin: Builtin, args: &[ValueId]) -> ValueId {
        let arg = |i: usize| args[i];
        let op = match builtin {
            Builtin::InnerCell => self.inner_cell(arg(0), expr.span),
            Builtin::OutwardSign => self.outward_sign(arg(0), expr.span),
            Builtin::OutwardNormal => self.outward_normal(arg(0), expr.span),
            Builtin::GivenTransmissibility => self.given_transmissibility(arg(0), arg(1), expr),
            Builtin::FirstCell => Op::FirstCell(arg(0)),
            Builtin::SecondCell => Op::SecondCell(arg(0)),
            Builtin::IsEmpty => Op::IsEmpty(arg(0)),
            Builtin::Centroid => Op::Centroid(arg(0)),
            Builtin::Normal => Op::Normal(arg(0)),
            Builtin::Gradient => Op::Gradient(arg(0)),
            Builtin::Divergence => Op::Divergence(arg(0)),
            Builtin::FaceSum => self.face_reduce(FaceReduction::Sum, args, expr.span),
            Builtin::FaceMax => {
                let extreme = self.face_reduce(FaceReduction::Max, args, expr.span);
                self.face_extreme(expr, extreme, BinaryMath::Max, arg(2))
            }
            Builtin::FaceMin => {
                let extreme = self.face_reduce(FaceReduction::Min, args, expr.span);
                self.face_extreme(expr, extreme, BinaryMath::Min, arg(2))
            }
            Builtin::Dot => Op::Dot(arg(0), arg(1)),
            Builtin::Sqrt => Op::Unary(UnaryOp::Sqrt, arg(0)),
            Builtin::Abs => Op::Unary(UnaryOp::Abs, arg(0)),
            Builtin::Elementary(function) => Op::Unary(UnaryOp::Elementary(function), arg(0)),
            Builtin::Min => Op::Math(BinaryMath::Min, arg(0), arg(1)),
            Builtin::Max => Op::Math(BinaryMath::Max, arg(0), arg(1)),
            Builtin::Pow => Op::Math(BinaryMath::Pow, arg(0), arg(1)),
            Builtin::ATan2 => Op::Math(BinaryMath::ATan2, arg(0), arg(1)),
            Builtin::AnyReduce => Op::Reduce(Reduction::Any, arg(0)),
            Builtin::AllReduce => Op::Reduce(Reduction::All, arg(0)),
            Builtin::MaxReduce => Op::Reduce(Reduction::Max, arg(0)),
            Builtin::MinReduce => Op::Reduce(Reduction::Min, arg(0)),
            Builtin::SumReduce => Op::Reduce(Reduction::Sum, arg(0)),
            Builtin::ProdReduce => Op::Reduce(Reduction::Prod, arg(0)),
            Builtin::InputScalarWithDefault => Op::InputScalar { name: arg(0), default: arg(1) },
            Builtin::InputCollection(element) => Op::InputCollection { element, name: arg(0), domain: arg(1) },
            Builtin::InputDomainSubsetOf => Op::InputDomain { name: arg(0), within: arg(1) },
            Builtin::Where => Op::Where { within: arg(0), condition: arg(1) },
            Builtin::InputSequenceOfScalar => Op::InputSequence { name: arg(0) },
            Builtin::InputTable => {
                let op = Op::InputTable { name: arg(0), argument: arg(1), value: arg(2) };
                // A checkpoint has no tables: they are read again where statements around are left
                // out.
                let statement = std::mem::replace(&mut self.statement, expr.span);
                let table = self.one(expr, op);
                self.statement = statement;
                return table;
            }
            Builtin::Interpolate => Op::Interpolate { table: arg(0), argument: arg(1) },
            Builtin::InputTable2 | Builtin::Interpolate2 => unreachable!("they have several values"),
        };
        self.one(expr, op)
    }

    /// The parts of a table of two arguments.
    fn table2(&mut self, expr: &Expr, args: &[ValueId]) -> Vec<ValueId> {
        let (name, arguments, value) = (args[0], [args[1], args[2]], args[3]);
        // As in `InputTable`.
        let statement = std::mem::replace(&mut self.statement, expr.span);
        let part = |part| Op::InputTable2 { name, arguments, value, part };
        let parts = TablePart::ALL.into_iter().map(|of| self.emit(part(of), Type::TABLE, Dimension::NONE, expr.span)).collect();
        self.statement = statement;
        parts
    }

    /// The value of a table of two arguments, by its parts, at the two numbers that follow them.
    fn interpolate2(&mut self, args: &[ValueId], span: Span) -> ValueId {
        let parts = &args[..TablePart::ALL.len()];
        let (x, y) = (args[parts.len()], args[parts.len() + 1]);
        let at = |this: &mut Self, part: TablePart, argument: ValueId| {
            let ty = this.values[argument.0 as usize].ty;
            this.emit(Op::Interpolate { table: parts[part as usize], argument }, ty, Dimension::NONE, span)
        };
        let both = |this: &mut Self, op: Arithmetic, a: ValueId, b: ValueId| {
            let (a, b) = this.on_one_set(a, b, span);
            let ty = this.values[a.0 as usize].ty;
            this.emit(Op::Arithmetic(op, a, b), ty, Dimension::NONE, span)
        };
        let (of_x, of_y) = (at(self, TablePart::First, x), at(self, TablePart::Second, y));
        let piece = both(self, Arithmetic::Add, of_x, of_y);
        let origin = at(self, TablePart::FirstOrigin, x);
        let d = both(self, Arithmetic::Sub, x, origin);
        let origin = at(self, TablePart::SecondOrigin, y);
        let e = both(self, Arithmetic::Sub, y, origin);
        let twist = at(self, TablePart::Twist, piece);
        let change = both(self, Arithmetic::Mul, d, twist);
        let slope = at(self, TablePart::SecondSlope, piece);
        let slope = both(self, Arithmetic::Add, slope, change);
        let second = both(self, Arithmetic::Mul, e, slope);
        let slope = at(self, TablePart::FirstSlope, piece);
        let first = both(self, Arithmetic::Mul, d, slope);
        let value = at(self, TablePart::Value, piece);
        let value = both(self, Arithmetic::Add, value, first);
        both(self, Arithmetic::Add, value, second)
    }

    /// The transmissibility that the grid gives faces, or else another value.
    fn given_transmissibility(&mut self, faces: ValueId, otherwise: ValueId, expr: &Expr) -> Op {
        let ty = match self.values[faces.0 as usize].ty.mapping() {
            Some(set) => Type::collection(Basic::Scalar, set),
            None => Type::SCALAR,
        };
        let given = self.emit(Op::FaceTransmissibility(faces), ty, Dimension::NONE, expr.span);
        let zero = self.emit(Op::Real(0.0), Type::SCALAR, Dimension::NONE, expr.span);
        let (given, zero) = self.on_one_set(given, zero, expr.span);
        let condition = Op::Compare(Comparison::GreaterEqual, given, zero);
        let condition = self.emit(condition, Type { basic: Basic::Bool, ..ty }, Dimension::NONE, expr.span);
        Op::Select { condition, if_true: given, if_false: self.broadcast_like(otherwise, given, expr.span) }
    }

    /// A reduction over faces of the first two arguments.
    fn face_reduce(&mut self, reduction: FaceReduction, args: &[ValueId], span: Span) -> Op {
        let (first, second) = self.on_one_set(args[0], args[1], span);
        Op::FaceReduce { reduction, first, second }
    }

    /// Both operands: values, or the elements of arrays.
    fn both(&mut self, evaluated: Option<Vec<ValueId>>, a: &Expr, b: &Expr) -> (Vec<ValueId>, Vec<ValueId>) {
        let a = evaluated.unwrap_or_else(|| self.expr(a));
        (a, self.expr(b))
    }

    /// Both operands of an operation that arrays do not have.
    fn two(&mut self, evaluated: Option<Vec<ValueId>>, a: &Expr, b: &Expr) -> (ValueId, ValueId) {
        let (a, b) = self.both(evaluated, a, b);
        (a[0], b[0])
    }

    /// Two values, a single one beside a collection as the collection of itself.
    fn on_one_set(&mut self, a: ValueId, b: ValueId, span: Span) -> (ValueId, ValueId) {
        (self.broadcast_like(a, b, span), self.broadcast_like(b, a, span))
    }

    /// A single value for each element of the set of a collection; any other value as it is.
    pub(super) fn broadcast_like(&mut self, value: ValueId, like: ValueId, span: Span) -> ValueId {
        let (of, like_ty) = (self.values[value.0 as usize].clone(), self.values[like.0 as usize].ty);
        let (Shape::Single, Some(set)) = (of.ty.shape, like_ty.mapping()) else { return value };
        let ty = Type::collection(of.ty.basic, set);
        let domain = self.value_on(set, span).unwrap_or(like);
        self.emit(Op::Broadcast { value, domain }, ty, of.dim, span)
    }

    /// A value on a set: the domain where it is canonical, else a variable, a domain if there is
    /// one.
    fn value_on(&mut self, set: SetId, span: Span) -> Option<ValueId> {
        let info = self.program.sets.get(set);
        if let Some(canonical) = info.canonical {
            let ty = Type::domain(info.kind, set);
            return Some(self.emit(Op::CanonicalSet(canonical), ty, Dimension::NONE, span));
        }
        let bound = self.bindings.values().flat_map(|binding| match binding {
            Binding::Values(values) => values.as_slice(),
            Binding::Mutables(_) => &[],
        });
        let ty = |value: ValueId| self.values[value.0 as usize].ty;
        let on_set = bound.copied().filter(|&v| ty(v).mapping() == Some(set) && (ty(v).is_domain() || ty(v).entity_kind().is_none()));
        on_set.min_by_key(|&v| !ty(v).is_domain())
    }

    /// `FaceMax(a, b, start)`: the extreme of `start` and of that of the faces.
    fn face_extreme(&mut self, expr: &Expr, of_faces: Op, math: BinaryMath, start: ValueId) -> Op {
        let of_faces = self.one(expr, of_faces);
        Op::Math(math, start, of_faces)
    }

    /// `a op b`. Truth values differ where `Xor` says so; entities that are not equal are those of
    /// which equality does not hold.
    fn comparison(&mut self, expr: &Expr, op: Comparison, a: ValueId, b: ValueId) -> ValueId {
        let basic = self.values[a.0 as usize].ty.basic;
        let (op, negated) = match (basic, op) {
            (Basic::Bool, Comparison::Equal) => (Op::Logic(Logic::Xor, a, b), true),
            (Basic::Bool, Comparison::NotEqual) => (Op::Logic(Logic::Xor, a, b), false),
            (Basic::Entity(_), Comparison::NotEqual) => (Op::Compare(Comparison::Equal, a, b), true),
            (Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_), op) => {
                (Op::Compare(op, a, b), false)
            }
        };
        let result = self.one(expr, op);
        if negated { self.one(expr, Op::Unary(UnaryOp::Not, result)) } else { result }
    }

    /// `base ^ exponent` by squaring and multiplying, from the lowest binary digit of the exponent
    /// up; one over that for a negative exponent.
    fn power(&mut self, expr: &Expr, base: ValueId, exponent: i32) -> ValueId {
        let of = self.values[base.0 as usize].clone();
        if exponent == 0 {
            let one = self.emit(Op::Real(1.0), Type::SCALAR, Dimension::NONE, expr.span);
            return match of.ty.shape {
                Shape::Single => one,
                // One in each place where the base has a value, whatever that is.
                Shape::Collection(_) | Shape::Domain(_) | Shape::Sequence => self.one(expr, Op::Math(BinaryMath::Pow, one, base)),
            };
        }
        let mut result: Option<(ValueId, i32)> = None;
        let (mut square, mut degree) = (base, 1_i32);
        let mut rest = exponent.unsigned_abs();
        let multiply = |this: &mut Self, (a, m): (ValueId, i32), (b, n): (ValueId, i32)| {
            let degree = m.saturating_add(n);
            // The checker has seen the dimension of the whole power, and no factor has larger
            // exponents.
            let dim = of.dim.power(degree).unwrap_or(of.dim);
            (this.emit(Op::Arithmetic(Arithmetic::Mul, a, b), of.ty, dim, expr.span), degree)
        };
        loop {
            if rest & 1 == 1 {
                result = Some(match result {
                    Some(so_far) => multiply(self, so_far, (square, degree)),
                    None => (square, degree),
                });
            }
            rest >>= 1;
            if rest == 0 {
                break;
            }
            (square, degree) = multiply(self, (square, degree), (square, degree));
        }
        let power = result.map_or(base, |(value, _)| value);
        if exponent > 0 {
            return power;
        }
        let one = self.emit(Op::Real(1.0), Type::SCALAR, Dimension::NONE, expr.span);
        self.one(expr, Op::Arithmetic(Arithmetic::Div, one, power))
    }

    pub(super) fn one(&mut self, expr: &Expr, op: Op) -> ValueId {
        self.element(expr, 0, op)
    }

    /// An element of the array that an expression is, or its one value.
    fn element(&mut self, expr: &Expr, index: usize, op: Op) -> ValueId {
        let ty = expr.ty.elements().get(index).copied().unwrap_or(Type::SCALAR);
        self.emit(op, ty, expr.dims.get(index).copied().unwrap_or_default().dimension(), expr.span)
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
            let ids: Vec<ValueId> = info
                .ty
                .elements()
                .iter()
                .enumerate()
                .map(|(i, &ty)| self.new_value(ty, info.dims.get(i).copied().unwrap_or_default().dimension(), &info.name, expr.span))
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
        let captures = self.captured_by_residuals(residuals);
        let carried = self.carried(residuals);
        let results = self.results(expr);
        let mut all = results.clone();
        let mut written = Vec::new();
        // Carried variables are in the order of their elements.
        let variables: BTreeSet<typed::VarId> = residuals.iter().flat_map(|f| self.captures[f.0 as usize].writes.clone()).collect();
        for variable in variables {
            let info = &self.program.variables[variable.0 as usize];
            let ids: Vec<ValueId> = info
                .ty
                .elements()
                .iter()
                .enumerate()
                .map(|(i, &ty)| self.new_value(ty, info.dims.get(i).copied().unwrap_or_default().dimension(), &info.name, expr.span))
                .collect();
            all.extend(&ids);
            written.push((variable, ids));
        }
        let residuals = residuals.iter().map(|f| FunctionId(f.0)).collect();
        self.push(StmtKind::Let { results: all, op: Op::Newton { residuals, captures, guesses, carried, equations: Vec::new() } });
        for (variable, ids) in written {
            self.store_variable(variable, &ids);
        }
        results
    }

    /// Captured values of each residual; a variable that several read is one value.
    fn captured_by_residuals(&mut self, residuals: &[typed::FunctionId]) -> Vec<Vec<ValueId>> {
        let mut read: BTreeMap<typed::VarId, Vec<ValueId>> = BTreeMap::new();
        let mut all = Vec::with_capacity(residuals.len());
        for residual in residuals {
            let mut captures = Vec::new();
            for variable in self.captures[residual.0 as usize].reads.clone() {
                let values = read.entry(variable).or_insert_with(|| self.read_variable(variable));
                captures.extend(values.iter());
            }
            all.push(captures);
        }
        all
    }

    /// The variables that residuals assign, with the places where these take and give their values.
    fn carried(&self, residuals: &[typed::FunctionId]) -> Vec<Carried> {
        let elements = |variable: &typed::VarId| self.program.variables[variable.0 as usize].ty.elements().len() as u32;
        let mut carried: BTreeMap<(typed::VarId, u32), Carried> = BTreeMap::new();
        for (residual, function) in (0..).zip(residuals) {
            let mut place = 1;
            for variable in &self.captures[function.0 as usize].writes {
                for element in 0..elements(variable) {
                    let entry = carried.entry((*variable, element)).or_insert(Carried { reads: Vec::new(), writes: Vec::new() });
                    entry.writes.push((residual, place));
                    place += 1;
                }
            }
        }
        for (residual, function) in (0..).zip(residuals) {
            let mut place = 0;
            for variable in &self.captures[function.0 as usize].reads {
                for element in 0..elements(variable) {
                    if let Some(entry) = carried.get_mut(&(*variable, element)) {
                        entry.reads.push((residual, place));
                    }
                    place += 1;
                }
            }
        }
        carried.into_values().collect()
    }

    fn results(&mut self, expr: &Expr) -> Vec<ValueId> {
        expr.ty
            .elements()
            .iter()
            .enumerate()
            .map(|(i, &ty)| self.new_value(ty, expr.dims.get(i).copied().unwrap_or_default().dimension(), "", expr.span))
            .collect()
    }

    fn captured(&mut self, function: typed::FunctionId) -> Vec<ValueId> {
        let reads = self.captures[function.0 as usize].reads.clone();
        reads.into_iter().flat_map(|v| self.read_variable(v)).collect()
    }
}

/// The element of an operand with a number; one value stands beside every element.
fn beside(operand: &[ValueId], index: usize) -> ValueId {
    if let [single] = operand { *single } else { operand[index] }
}
