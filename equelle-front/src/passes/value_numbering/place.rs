//! Placement of values: where they are evaluated, and under which names.

use std::collections::HashMap;
use std::rc::Rc;

use super::fresh::Fresh;
use super::number::{Node, Nodes, Numbered, Shell, Step, Value};
use crate::backend::structural::asked_axis;
use crate::ir::kernel::{for_each_part, for_each_part_of_path};
use crate::ir::{ExprClass, KBlock, KExpr, KStmt, Kernel, LocalId, Path, UnaryOp};
use crate::ops::Comparison;

/// Some of the values of a body.
struct Values {
    has: Vec<bool>,
    all: Vec<Value>,
}

impl Values {
    fn none_of(nodes: &Nodes) -> Values {
        Values { has: vec![false; nodes.len()], all: Vec::new() }
    }

    /// True if it was not among them.
    fn insert(&mut self, value: Value) -> bool {
        let new = !std::mem::replace(&mut self.has[value.index()], true);
        if new {
            self.all.push(value);
        }
        new
    }

    fn contains(&self, value: Value) -> bool {
        self.has[value.index()]
    }

    fn in_both(&self, other: &Values) -> Vec<Value> {
        self.all.iter().copied().filter(|&value| other.contains(value)).collect()
    }
}

/// Values by the locals that hold them.
type ValueLocals = HashMap<Value, LocalId>;

/// Writes a body from its numbers.
pub(super) struct Placing<'a> {
    kernel: &'a mut Kernel,
    nodes: &'a Nodes,
    fresh: &'a mut Fresh,
    /// Values that somebody reads.
    read: Vec<bool>,
    /// Values that both branches of a choice evaluate.
    both: HashMap<Value, Rc<[Value]>>,
}

impl<'a> Placing<'a> {
    pub fn new(kernel: &'a mut Kernel, nodes: &'a Nodes, fresh: &'a mut Fresh) -> Self {
        Placing { kernel, nodes, fresh, read: Vec::new(), both: HashMap::new() }
    }

    pub fn whole(mut self, body: &Numbered) -> KBlock {
        self.read = self.uses(body).iter().map(|&times| times > 0).collect();
        self.block(body, ValueLocals::new())
    }

    fn block(&mut self, block: &Numbered, mut locals: ValueLocals) -> KBlock {
        let mut named: ValueLocals = HashMap::new();
        for step in &block.steps {
            if let Step::Name { local, value } = step
                && self.read[value.index()]
                && !self.nodes.of(*value).is_name()
            {
                named.entry(*value).or_insert(*local);
            }
        }
        let uses = self.uses(block);
        let mut wanted = Values::none_of(self.nodes);
        named.keys().for_each(|&value| {
            wanted.insert(value);
        });
        for value in self.certain(block).all {
            if uses[value.index()] > 1 && self.is_work(value) {
                wanted.insert(value);
            }
        }
        let mut done = Values::none_of(self.nodes);
        let mut statements = Vec::new();
        for step in &block.steps {
            if let Step::Name { value, .. } = step {
                if wanted.contains(*value) {
                    self.make(*value, &wanted, &named, &mut done, &mut locals, &mut statements);
                }
                continue;
            }
            let mut make = |value: Value| self.make(value, &wanted, &named, &mut done, &mut locals, &mut statements);
            all_reads(step, &mut make);
            let statement = self.statement(step, &locals);
            statements.push(statement);
        }
        let mut yields = Vec::with_capacity(block.yields.len());
        for &value in &block.yields {
            self.make(value, &wanted, &named, &mut done, &mut locals, &mut statements);
            yields.push(self.expr(value, &locals));
        }
        KBlock { statements, yields }
    }

    /// Names what is wanted of a value and of what it is made of, the parts first.
    fn make(
        &mut self,
        value: Value,
        wanted: &Values,
        named: &ValueLocals,
        done: &mut Values,
        locals: &mut ValueLocals,
        out: &mut Vec<KStmt>,
    ) {
        if locals.contains_key(&value) || !done.insert(value) {
            return;
        }
        let nodes = self.nodes;
        for &part in &nodes.of(value).parts {
            self.make(part, wanted, named, done, locals, out);
        }
        if !wanted.contains(value) {
            return;
        }
        match self.built(value, locals) {
            Shell::Expr(expr) => {
                let local = named.get(&value).copied().unwrap_or_else(|| {
                    let wanted = self.name(nodes.of(value), locals, 2).unwrap_or_else(|| "value".to_owned());
                    let basic = self.kernel.expr_basic(&expr);
                    self.fresh.local(self.kernel, wanted, basic)
                });
                out.push(KStmt::Let { local, value: expr });
                locals.insert(value, local);
            }
            Shell::Path(path) => {
                if let Some(&local) = named.get(&value) {
                    out.push(KStmt::LetEntity { local, path });
                    locals.insert(value, local);
                }
            }
        }
    }

    fn statement(&mut self, step: &Step, locals: &ValueLocals) -> KStmt {
        match step {
            Step::Name { local, value } => KStmt::Let { local: *local, value: self.expr(*value, locals) },
            Step::Entity { local, path } => KStmt::LetEntity { local: *local, path: self.path(*path, locals) },
            Step::Faces { statement, cell, body } => {
                let mut statement = statement.clone();
                if let KStmt::ReduceFaces { cell: at, body: into, .. } = &mut statement {
                    *at = self.path(*cell, locals);
                    *into = self.block(body, self.captured_locals(body, locals));
                }
                statement
            }
            Step::Sides { statement, blocks } => {
                let mut statement = statement.clone();
                if let KStmt::ReduceSides { low, high, .. } = &mut statement {
                    let into = [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary];
                    for (into, block) in into.into_iter().zip(blocks.iter()) {
                        *into = block.as_ref().map(|block| self.block(block, self.captured_locals(block, locals)));
                    }
                }
                statement
            }
            Step::If { results, condition, then, otherwise } => KStmt::If {
                results: results.clone(),
                condition: self.expr(*condition, locals),
                then: self.block(then, locals.clone()),
                otherwise: self.block(otherwise, locals.clone()),
            },
            Step::Add { unknown, at, value } => {
                KStmt::Add { unknown: *unknown, at: self.path(*at, locals), value: self.expr(*value, locals) }
            }
        }
    }

    /// Returns the locals that the body of a sum takes from outside.
    fn captured_locals(&self, body: &Numbered, locals: &ValueLocals) -> ValueLocals {
        locals.iter().filter(|(value, _)| body.named.contains(value)).map(|(&value, &local)| (value, local)).collect()
    }

    /// Number of reads of each value in a block and its inner blocks, if each reader is evaluated
    /// once.
    fn uses(&self, block: &Numbered) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        self.count(block, &mut uses);
        uses
    }

    fn count(&self, block: &Numbered, uses: &mut [u32]) {
        for step in &block.steps {
            let (values, blocks) = step.reads();
            values.into_iter().for_each(|value| self.count_value(value, uses));
            blocks.into_iter().for_each(|block| self.count(block, uses));
        }
        block.yields.iter().for_each(|&value| self.count_value(value, uses));
    }

    fn count_value(&self, value: Value, uses: &mut [u32]) {
        let times = &mut uses[value.index()];
        *times += 1;
        if *times == 1 {
            self.nodes.of(value).parts.iter().for_each(|&part| self.count_value(part, uses));
        }
    }

    /// The values that a block evaluates whatever branches are taken.
    fn certain(&mut self, block: &Numbered) -> Values {
        let mut certain = Values::none_of(self.nodes);
        for step in &block.steps {
            match step {
                Step::Name { value, .. } => {
                    if self.read[value.index()] {
                        self.evaluated(*value, &mut certain);
                    }
                }
                Step::If { condition, then, otherwise, .. } => {
                    self.evaluated(*condition, &mut certain);
                    let (then, otherwise) = (self.certain(then), self.certain(otherwise));
                    then.in_both(&otherwise).into_iter().for_each(|value| {
                        certain.insert(value);
                    });
                }
                Step::Entity { .. } | Step::Faces { .. } | Step::Sides { .. } | Step::Add { .. } => {
                    step.reads().0.into_iter().for_each(|value| self.evaluated(value, &mut certain));
                }
            }
        }
        block.yields.iter().for_each(|&value| self.evaluated(value, &mut certain));
        certain
    }

    fn evaluated(&mut self, value: Value, certain: &mut Values) {
        if !certain.insert(value) {
            return;
        }
        let nodes = self.nodes;
        let node = nodes.of(value);
        match node.parts[..] {
            [condition, if_true, if_false] if node.is_choice() => {
                self.evaluated(condition, certain);
                for &value in &*self.in_both(value, [if_true, if_false]) {
                    certain.insert(value);
                }
            }
            _ => node.parts.iter().for_each(|&part| self.evaluated(part, certain)),
        }
    }

    fn in_both(&mut self, choice: Value, branches: [Value; 2]) -> Rc<[Value]> {
        if let Some(both) = self.both.get(&choice) {
            return both.clone();
        }
        let [then, otherwise] = branches.map(|branch| {
            let mut certain = Values::none_of(self.nodes);
            self.evaluated(branch, &mut certain);
            certain
        });
        let both: Rc<[Value]> = then.in_both(&otherwise).into();
        self.both.insert(choice, both.clone());
        both
    }

    /// True if evaluating a value is more than reading what is there.
    fn is_work(&self, value: Value) -> bool {
        let Shell::Expr(expr) = &self.nodes.of(value).shell else { return false };
        match expr.class() {
            ExprClass::Arithmetic => !matches!(expr, KExpr::Component(..) | KExpr::Vector(_)),
            ExprClass::Select => true,
            ExprClass::Truth => {
                let asks_axis = || matches!(self.built(value, &ValueLocals::new()), Shell::Expr(e) if asked_axis(&e).is_some());
                let equal = matches!(expr, KExpr::Compare(Comparison::Equal, ..));
                matches!(expr, KExpr::Compare(..) | KExpr::Logic(..)) && !(equal && asks_axis())
            }
            ExprClass::Literal | ExprClass::Local | ExprClass::Param | ExprClass::Load | ExprClass::Geometry | ExprClass::Topology => false,
        }
    }

    fn expr(&self, value: Value, locals: &ValueLocals) -> KExpr {
        match locals.get(&value) {
            Some(&local) => KExpr::Local(local),
            None => match self.built(value, locals) {
                Shell::Expr(expr) => expr,
                Shell::Path(path) => KExpr::Entity(path),
            },
        }
    }

    fn path(&self, value: Value, locals: &ValueLocals) -> Path {
        match locals.get(&value) {
            Some(&local) => Path::Local(local),
            None => match self.built(value, locals) {
                Shell::Path(path) => path,
                Shell::Expr(_) => Path::Empty,
            },
        }
    }

    /// A value of its parts.
    fn built(&self, value: Value, locals: &ValueLocals) -> Shell {
        let node = self.nodes.of(value);
        let mut parts = Parts { placing: self, locals, left: node.parts.iter() };
        let mut shell = node.shell.clone();
        match &mut shell {
            Shell::Expr(expr) => for_each_part!(expr, iter_mut, fill_expr, fill_path, &mut parts),
            Shell::Path(path) => for_each_part_of_path!(path, fill_expr, fill_path, &mut parts),
        }
        shell
    }

    /// A name for a value, made of those of its parts.
    fn name(&self, node: &Node, locals: &ValueLocals, depth: u32) -> Option<String> {
        let part = |index: usize| {
            let value = *node.parts.get(index)?;
            match locals.get(&value) {
                Some(local) => Some(self.kernel.locals[local.0 as usize].name.clone()),
                None if depth > 0 => self.name(self.nodes.of(value), locals, depth - 1),
                None => None,
            }
        };
        let Shell::Expr(expr) = &node.shell else { return None };
        match expr {
            KExpr::Local(id) => self.kernel.locals.get(id.0 as usize).map(|local| local.name.clone()),
            KExpr::Param(id) | KExpr::Load { param: id, .. } => self.kernel.params.get(id.0 as usize).map(|param| param.name.clone()),
            KExpr::Unary(UnaryOp::Neg, _) => Some(format!("minus_{}", part(0)?)),
            KExpr::Interpolate { table, .. } => self.kernel.params.get(table.0 as usize).map(|param| param.name.clone()),
            KExpr::Unary(..) | KExpr::Component(..) => part(0),
            KExpr::Arithmetic(..) | KExpr::Dot(..) | KExpr::Math(..) | KExpr::Compare(..) => match (part(0), part(1)) {
                (Some(a), Some(b)) => Some(format!("{a}_{b}")),
                (a, b) => a.or(b),
            },
            KExpr::Select { .. } => part(1).or_else(|| part(2)),
            KExpr::Real(_)
            | KExpr::Bool(_)
            | KExpr::Measure(_)
            | KExpr::Centroid(_)
            | KExpr::Normal(_)
            | KExpr::FaceGap(_)
            | KExpr::FaceTransmissibility(_)
            | KExpr::IsEmpty(_)
            | KExpr::CellFact { .. }
            | KExpr::Member { .. }
            | KExpr::Same(..)
            | KExpr::Logic(..)
            | KExpr::Vector(_)
            | KExpr::ZeroVector
            | KExpr::Entity(_)
            | KExpr::Displacement { .. } => None,
        }
    }
}

/// Every value that a statement reads, those of its blocks included.
fn all_reads(step: &Step, f: &mut impl FnMut(Value)) {
    let (values, blocks) = step.reads();
    values.into_iter().for_each(&mut *f);
    for block in blocks {
        block.steps.iter().for_each(|step| all_reads(step, f));
        block.yields.iter().for_each(|&value| f(value));
    }
}

/// Parts on their way into a shell.
struct Parts<'p, 'a> {
    placing: &'p Placing<'a>,
    locals: &'p ValueLocals,
    left: std::slice::Iter<'p, Value>,
}

fn fill_expr(part: &mut KExpr, parts: &mut Parts<'_, '_>) {
    if let Some(&value) = parts.left.next() {
        *part = parts.placing.expr(value, parts.locals);
    }
}

fn fill_path(part: &mut Path, parts: &mut Parts<'_, '_>) {
    if let Some(&value) = parts.left.next() {
        *part = parts.placing.path(value, parts.locals);
    }
}
