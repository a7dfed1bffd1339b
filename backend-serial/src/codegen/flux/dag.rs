//! Values as nodes that exist once: two values are the same if they are the same node.

use std::collections::{BTreeMap, HashMap};

use equelle_front::ir::{Interpolant, ParamId, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath, Comparison, Logic, Work};
use equelle_front::types::SetId;

/// A value. Operands have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::codegen) struct Node(u32);

/// Position of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::codegen) enum At {
    /// At the cell that is evaluated.
    Here,
    /// At the first cell of a face.
    First,
    /// At its second cell.
    Second,
    /// At the face.
    Face,
}

/// Dependencies of a value, besides what is the same for all elements: a set of these.
pub(in crate::codegen) mod reach {
    use super::At;

    pub(in crate::codegen) const HERE: u8 = 1;
    pub(in crate::codegen) const FIRST: u8 = 2;
    pub(in crate::codegen) const SECOND: u8 = 4;
    /// The face, or the axis.
    pub(in crate::codegen) const FACE: u8 = 8;
    /// Sums over faces.
    pub(in crate::codegen) const SUM: u8 = 16;

    pub(in crate::codegen) fn of(at: At) -> u8 {
        match at {
            At::Here => HERE,
            At::First => FIRST,
            At::Second => SECOND,
            At::Face => FACE,
        }
    }
}

/// Operation that makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen) enum Op {
    /// A number, by its bits.
    Real(u64),
    Bool(bool),
    /// A single Scalar or Bool.
    Param(ParamId),
    /// The one value for all cells of a collection stored so.
    OfCells(ParamId),
    /// The value for the current axis of a collection stored so.
    OfAxis(ParamId),
    /// Area of the face.
    Area,
    /// A component of the normal of the face, on any grid.
    Normal(u32),
    /// Volume of a cell.
    Volume,
    /// A sum over the faces of the cell, by its number.
    Sum(u32),
    Load(ParamId, At),
    /// True if the element is in a set made at run time.
    Member(SetId, At),
    /// The element of a collection on such a set.
    OfSubset(ParamId, At),
    Unary(UnaryOp, Node),
    Arithmetic(Arithmetic, Node, Node),
    Compare(Comparison, Node, Node),
    Logic(Logic, Node, Node),
    Math(BinaryMath, Node, Node),
    /// The value or slope of a table at an argument.
    Table(ParamId, Interpolant, Node),
    /// `condition ? a : b`. Both are evaluated: nothing here can fail.
    Select(Node, Node, Node),
}

impl Op {
    pub(in crate::codegen) fn operands(self) -> Vec<Node> {
        match self {
            Op::Real(_)
            | Op::Bool(_)
            | Op::Param(_)
            | Op::OfCells(_)
            | Op::OfAxis(_)
            | Op::Area
            | Op::Normal(_)
            | Op::Volume
            | Op::Sum(_)
            | Op::Load(..)
            | Op::Member(..)
            | Op::OfSubset(..) => Vec::new(),
            Op::Unary(_, a) | Op::Table(_, _, a) => vec![a],
            Op::Arithmetic(_, a, b) | Op::Compare(_, a, b) | Op::Logic(_, a, b) | Op::Math(_, a, b) => vec![a, b],
            Op::Select(c, a, b) => vec![c, a, b],
        }
    }

    /// The same with other operands.
    fn with(self, operands: &[Node]) -> Op {
        match (self, operands) {
            (Op::Unary(op, _), &[a]) => Op::Unary(op, a),
            (Op::Table(table, of, _), &[a]) => Op::Table(table, of, a),
            (Op::Arithmetic(op, ..), &[a, b]) => Op::Arithmetic(op, a, b),
            (Op::Compare(op, ..), &[a, b]) => Op::Compare(op, a, b),
            (Op::Logic(op, ..), &[a, b]) => Op::Logic(op, a, b),
            (Op::Math(op, ..), &[a, b]) => Op::Math(op, a, b),
            (Op::Select(..), &[c, a, b]) => Op::Select(c, a, b),
            (op, _) => op,
        }
    }

    /// The same value with the operands exchanged, to the bit but for the payload of a NaN.
    fn exchanged(self) -> Option<Op> {
        match self {
            Op::Arithmetic(op @ (Arithmetic::Add | Arithmetic::Mul), a, b) => Some(Op::Arithmetic(op, b, a)),
            Op::Logic(op, a, b) => Some(Op::Logic(op, b, a)),
            Op::Compare(op, a, b) => {
                let op = match op {
                    Comparison::Less => Comparison::Greater,
                    Comparison::Greater => Comparison::Less,
                    Comparison::LessEqual => Comparison::GreaterEqual,
                    Comparison::GreaterEqual => Comparison::LessEqual,
                    Comparison::Equal | Comparison::NotEqual => op,
                };
                Some(Op::Compare(op, b, a))
            }
            _ => None,
        }
    }

    /// Additions that it takes about as long as.
    fn cost(self) -> u32 {
        match self {
            Op::Unary(UnaryOp::Sqrt, _) | Op::Arithmetic(Arithmetic::Div, ..) => SLOW,
            Op::Unary(UnaryOp::Elementary(function), _) => match function.work() {
                Work::Steps => STEP,
                Work::Function | Work::Long => ELEMENTARY,
            },
            Op::Math(function, ..) => match function.work() {
                Work::Steps => 1,
                Work::Function | Work::Long => ELEMENTARY,
            },
            Op::Table(..) => ELEMENTARY,
            Op::Unary(..) | Op::Arithmetic(..) | Op::Compare(..) | Op::Logic(..) | Op::Select(..) => 1,
            _ => 0,
        }
    }
}

/// A division or a root, in additions.
const SLOW: u32 = 8;
/// An elementary function or a look-up, in additions.
const ELEMENTARY: u32 = 24;
/// A whole number near another one.
const STEP: u32 = 4;

/// All values of a kernel.
#[derive(Default)]
pub(in crate::codegen) struct Dag {
    ops: Vec<Op>,
    known: HashMap<Op, Node>,
    reach: Vec<u8>,
    cost: Vec<u32>,
    names: BTreeMap<Node, String>,
}

impl Dag {
    pub(in crate::codegen) fn op(&self, node: Node) -> Op {
        self.ops[node.0 as usize]
    }

    /// Returns the dependencies of a value, of [`reach`].
    pub(in crate::codegen) fn reach(&self, node: Node) -> u8 {
        self.reach[node.0 as usize]
    }

    /// Additions that an evaluation takes about as long as, if nothing in it is shared.
    pub(in crate::codegen) fn cost(&self, node: Node) -> u32 {
        self.cost[node.0 as usize]
    }

    /// The user's name of a value, if it has one.
    pub(in crate::codegen) fn name(&self, node: Node) -> &str {
        self.names.get(&node).map_or("value", String::as_str)
    }

    pub(in crate::codegen) fn call(&mut self, node: Node, name: &str) {
        if !self.op(node).operands().is_empty() {
            self.names.entry(node).or_insert_with(|| name.to_owned());
        }
    }

    pub(in crate::codegen) fn real(&mut self, number: f64) -> Node {
        self.make(Op::Real(number.to_bits()))
    }

    pub(in crate::codegen) fn make(&mut self, op: Op) -> Node {
        if let Op::Select(condition, a, b) = op {
            return self.select(condition, a, b);
        }
        self.intern(op)
    }

    fn intern(&mut self, op: Op) -> Node {
        if let Some(node) = self.known.get(&op).or_else(|| self.known.get(&op.exchanged()?)) {
            return *node;
        }
        let own = match op {
            Op::Load(_, at) | Op::Member(_, at) | Op::OfSubset(_, at) => reach::of(at),
            Op::OfAxis(_) | Op::Area | Op::Normal(_) => reach::FACE,
            Op::Sum(_) => reach::SUM,
            _ => 0,
        };
        let operands = op.operands();
        let node = Node(self.ops.len() as u32);
        self.reach.push(operands.iter().fold(own, |all, operand| all | self.reach(*operand)));
        self.cost.push(operands.iter().fold(op.cost(), |all, operand| all.saturating_add(self.cost(*operand))));
        self.ops.push(op);
        self.known.insert(op, node);
        node
    }

    /// A choice, drawn inwards where that saves an operation: `c ? x/a : x/b` is `x / (c ? a : b)`,
    /// bit for bit.
    fn select(&mut self, condition: Node, a: Node, b: Node) -> Node {
        if let Some(node) = self.merged(condition, a, b) {
            return node;
        }
        // `c ? m : k * n` where m and n are one value for a known c: that value, made once.
        if let Op::Arithmetic(Arithmetic::Mul, k, n) = self.op(b)
            && matches!(self.op(k), Op::Real(_))
            && let Some(both) = self.merged(condition, a, n)
        {
            let product = self.intern(Op::Arithmetic(Arithmetic::Mul, k, both));
            return self.intern(Op::Select(condition, both, product));
        }
        self.intern(Op::Select(condition, a, b))
    }

    /// A choice without two evaluations of anything that both branches do, if there is such.
    fn merged(&mut self, condition: Node, a: Node, b: Node) -> Option<Node> {
        match self.op(condition) {
            Op::Bool(true) => return Some(a),
            Op::Bool(false) => return Some(b),
            _ if a == b => return Some(a),
            _ => {}
        }
        let (left, right) = (self.op(a), self.op(b));
        let (x, y) = (left.operands(), right.operands());
        let mergeable = matches!(left, Op::Unary(..) | Op::Arithmetic(..) | Op::Math(..) | Op::Table(..));
        if !mergeable || x.is_empty() || x.len() != y.len() || left.with(&y) != right {
            return None;
        }
        let mut choices = 0;
        let mut operands = Vec::new();
        for (x, y) in x.into_iter().zip(y) {
            operands.push(match self.merged(condition, x, y) {
                Some(node) => node,
                None => {
                    choices += 1;
                    self.select(condition, x, y)
                }
            });
        }
        // One operation and the choices of its operands, instead of two operations and one choice.
        (choices <= 1 || left.cost() >= SLOW).then(|| self.intern(left.with(&operands)))
    }

    /// The same value at another place.
    pub(in crate::codegen) fn moved(&mut self, node: Node, from: At, to: At) -> Node {
        if self.reach(node) & reach::of(from) == 0 {
            return node;
        }
        let mut moved: BTreeMap<Node, Node> = BTreeMap::new();
        for old in self.below(&[node]) {
            let op = match self.op(old) {
                Op::Load(param, at) if at == from => Op::Load(param, to),
                Op::Member(set, at) if at == from => Op::Member(set, to),
                Op::OfSubset(param, at) if at == from => Op::OfSubset(param, to),
                op => op.with(&op.operands().iter().map(|operand| moved[operand]).collect::<Vec<_>>()),
            };
            // Choices have been drawn inwards.
            let new = self.intern(op);
            if let Some(name) = self.names.get(&old).cloned() {
                self.call(new, &name);
            }
            moved.insert(old, new);
        }
        moved[&node]
    }

    /// Values for elements that are in no set made at run time.
    pub(in crate::codegen) fn outside_subsets(&mut self, roots: &[Node]) -> Vec<Node> {
        let mut outside: BTreeMap<Node, Node> = BTreeMap::new();
        for old in self.below(roots) {
            let new = match self.op(old) {
                Op::Member(..) => self.make(Op::Bool(false)),
                op => self.make(op.with(&op.operands().iter().map(|operand| outside[operand]).collect::<Vec<_>>())),
            };
            if let Some(name) = self.names.get(&old).cloned() {
                self.call(new, &name);
            }
            outside.insert(old, new);
        }
        roots.iter().map(|root| outside[root]).collect()
    }

    /// Some values and all they are made of, operands first.
    pub(in crate::codegen) fn below(&self, roots: &[Node]) -> Vec<Node> {
        self.below_until(roots, |_| false)
    }

    /// The same, but not what those are made of that are given.
    pub(in crate::codegen) fn below_until(&self, roots: &[Node], given: impl Fn(Node) -> bool) -> Vec<Node> {
        let mut found = std::collections::BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(node) = open.pop() {
            if found.insert(node) && !given(node) {
                open.extend(self.op(node).operands());
            }
        }
        found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_go_to_the_operands_that_differ() {
        let mut dag = Dag::default();
        let load = |dag: &mut Dag, id| dag.make(Op::Load(ParamId(id), At::Here));
        let (q, h) = (load(&mut dag, 0), load(&mut dag, 1));
        let (dry, thousand, zero) = (dag.real(0.05), dag.real(1000.0), dag.real(0.0));
        let wet = dag.make(Op::Compare(Comparison::Greater, h, dry));
        let divide = |dag: &mut Dag, by| dag.make(Op::Arithmetic(Arithmetic::Div, q, by));
        let (fast, slow) = (divide(&mut dag, h), divide(&mut dag, thousand));
        let nothing = dag.make(Op::Arithmetic(Arithmetic::Mul, zero, slow));
        let depth = dag.make(Op::Select(wet, h, thousand));
        let speed = divide(&mut dag, depth);
        assert_eq!(dag.make(Op::Select(wet, fast, slow)), speed);
        let none = dag.make(Op::Arithmetic(Arithmetic::Mul, zero, speed));
        let chosen = dag.make(Op::Select(wet, fast, nothing));
        assert_eq!(dag.op(chosen), Op::Select(wet, speed, none), "a product with a number is made of the one value");
        let (sum, product) = (dag.make(Op::Arithmetic(Arithmetic::Add, q, h)), dag.make(Op::Arithmetic(Arithmetic::Mul, q, h)));
        let different = dag.make(Op::Select(wet, sum, product));
        assert_eq!(dag.op(different), Op::Select(wet, sum, product));
    }

    /// Passes may have exchanged operands at one side of a cell and not at the other.
    #[test]
    fn operands_of_a_product_may_be_exchanged() {
        let mut dag = Dag::default();
        let (q, h) = (dag.make(Op::Load(ParamId(0), At::Here)), dag.make(Op::Load(ParamId(1), At::Here)));
        let mut both = |make: fn(Node, Node) -> Op| (dag.make(make(q, h)), dag.make(make(h, q)));
        let (a, b) = both(|a, b| Op::Arithmetic(Arithmetic::Mul, a, b));
        assert_eq!(a, b);
        let (a, b) = both(|a, b| Op::Arithmetic(Arithmetic::Sub, a, b));
        assert_ne!(a, b);
        let (a, b) = both(|a, b| Op::Math(BinaryMath::Min, a, b));
        assert_ne!(a, b);
        let less = dag.make(Op::Compare(Comparison::Less, q, h));
        assert_eq!(dag.make(Op::Compare(Comparison::Greater, h, q)), less);
        assert_ne!(dag.make(Op::Compare(Comparison::Less, h, q)), less);
    }

    #[test]
    fn values_move_from_cell_to_cell() {
        let mut dag = Dag::default();
        let here = dag.make(Op::Load(ParamId(0), At::Here));
        let root = dag.make(Op::Unary(UnaryOp::Sqrt, here));
        let first = dag.moved(root, At::Here, At::First);
        assert_eq!((dag.reach(root), dag.reach(first)), (reach::HERE, reach::FIRST));
        assert_eq!(dag.moved(first, At::First, At::Here), root);
        assert_eq!(dag.cost(root), 8);
    }
}
