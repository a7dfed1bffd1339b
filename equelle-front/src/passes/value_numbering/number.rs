//! Numbers of expressions and paths.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::key::{Key, key};
use crate::ir::kernel::{for_each_part, for_each_part_of_path};
use crate::ir::{KBlock, KExpr, KStmt, Kernel, LocalId, ParamId, Path, SideBlocks, UnaryOp};
use crate::ops::Logic;
use crate::types::SetTable;

/// The number of a value. Parts have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(u32);

impl Value {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expression or path whose parts are numbers: those in the shell stand for nothing.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub shell: Shell,
    pub parts: Vec<Value>,
}

/// Expression or path that makes a value.
#[derive(Clone, Debug)]
pub(super) enum Shell {
    Expr(KExpr),
    Path(Path),
}

impl Node {
    /// True if only one of the last two of its three parts is evaluated.
    pub fn is_choice(&self) -> bool {
        matches!(&self.shell, Shell::Expr(KExpr::Select { .. }) | Shell::Path(Path::Select { .. }))
    }

    /// True if a name would say no more than the value.
    pub fn is_name(&self) -> bool {
        match &self.shell {
            Shell::Expr(expr) => matches!(expr, KExpr::Real(_) | KExpr::Bool(_) | KExpr::Local(_) | KExpr::Param(_) | KExpr::ZeroVector),
            Shell::Path(path) => {
                matches!(path, Path::Here | Path::Local(_) | Path::SideFace(_) | Path::Empty | Path::Shift { .. } | Path::Offset { .. })
            }
        }
    }
}

/// All values of a body.
#[derive(Debug, Default)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    pub fn of(&self, value: Value) -> &Node {
        &self.0[value.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// A block in numbers.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    pub steps: Vec<Step>,
    pub yields: Vec<Value>,
    /// For the body of a sum: values that have a name in its text. Only these may be taken from
    /// outside, so that what was a term of a face stays one.
    pub named: HashSet<Value>,
}

/// A statement in numbers. Blocks and paths of the statements kept are empty.
#[derive(Debug)]
pub(super) enum Step {
    /// Gives a value a name.
    Name {
        local: LocalId,
        value: Value,
    },
    /// An entity that is known to be in other sets than its path tells.
    Entity {
        local: LocalId,
        path: Value,
    },
    Faces {
        statement: KStmt,
        cell: Value,
        body: Numbered,
    },
    Sides {
        statement: KStmt,
        blocks: Box<[Option<Numbered>; 4]>,
    },
    If {
        results: Vec<LocalId>,
        condition: Value,
        then: Numbered,
        otherwise: Numbered,
    },
    Add {
        unknown: ParamId,
        at: Value,
        value: Value,
    },
}

impl Step {
    /// Values that it reads itself, and the blocks in it.
    pub fn reads(&self) -> (Vec<Value>, Vec<&Numbered>) {
        match self {
            Step::Name { .. } => (Vec::new(), Vec::new()),
            Step::Entity { path, .. } => (vec![*path], Vec::new()),
            Step::Faces { cell, body, .. } => (vec![*cell], vec![body]),
            Step::Sides { blocks, .. } => (Vec::new(), blocks.iter().flatten().collect()),
            Step::If { condition, then, otherwise, .. } => (vec![*condition], vec![then, otherwise]),
            Step::Add { at, value, .. } => (vec![*at, *value], Vec::new()),
        }
    }
}

/// Gives numbers to the values of one body.
pub(super) struct Numbering<'a> {
    kernel: &'a Kernel,
    sets: &'a SetTable,
    nodes: Nodes,
    known: HashMap<(Key, Vec<Value>), Value>,
    /// Values that locals hold.
    locals: BTreeMap<LocalId, Value>,
    /// Conditions that hold, or do not, where we are.
    facts: Vec<(Value, bool)>,
    /// For each sum around: values that have a name in its text.
    named: Vec<HashSet<Value>>,
}

impl<'a> Numbering<'a> {
    pub fn new(kernel: &'a Kernel, sets: &'a SetTable) -> Self {
        let (nodes, known, locals) = (Nodes::default(), HashMap::new(), BTreeMap::new());
        Numbering { kernel, sets, nodes, known, locals, facts: Vec::new(), named: Vec::new() }
    }

    pub fn finish(self) -> Nodes {
        self.nodes
    }

    pub fn block(&mut self, block: KBlock) -> Numbered {
        let mut steps = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            self.statement(statement, &mut steps);
        }
        let yields = block.yields.into_iter().map(|value| self.expr(value)).collect();
        Numbered { steps, yields, named: HashSet::new() }
    }

    /// The body of a sum.
    fn sum(&mut self, body: KBlock) -> Numbered {
        self.named.push(HashSet::new());
        let block = self.block(body);
        Numbered { named: self.named.pop().unwrap_or_default(), ..block }
    }

    fn has_name(&mut self, value: Value) -> Value {
        self.named.iter_mut().for_each(|named| {
            named.insert(value);
        });
        value
    }

    fn name(&mut self, local: LocalId, value: Value, steps: &mut Vec<Step>) {
        self.has_name(value);
        self.locals.insert(local, value);
        steps.push(Step::Name { local, value });
    }

    fn statement(&mut self, statement: KStmt, steps: &mut Vec<Step>) {
        match statement {
            KStmt::Let { local, value } => {
                let value = self.expr(value);
                self.name(local, value, steps);
            }
            KStmt::LetEntity { local, path } => {
                let within = |path: &Path| self.kernel.path_within(self.sets, path);
                // Cells of a side face have no path: a local that is the face names them.
                let tells_all = within(&path) == within(&Path::Local(local)) && !matches!(path, Path::SideFace(_));
                let path = self.path(path);
                if tells_all {
                    self.name(local, path, steps);
                } else {
                    steps.push(Step::Entity { local, path });
                }
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                let cell = self.path(cell);
                let body = self.sum(body);
                let statement =
                    KStmt::ReduceFaces { reduction, results, extreme_faces, cell: Path::Empty, face, only, body: KBlock::default() };
                steps.push(Step::Faces { statement, cell, body });
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                let mut one = |block: Option<KBlock>| block.map(|block| self.sum(block));
                let blocks = Box::new([one(low.interior), one(low.boundary), one(high.interior), one(high.boundary)]);
                let none = || SideBlocks { interior: None, boundary: None };
                let statement = KStmt::ReduceSides { reduction, results, extreme_faces, low: none(), high: none() };
                steps.push(Step::Sides { statement, blocks });
            }
            KStmt::If { results, condition, then, otherwise } => {
                let condition = self.expr(condition);
                if let Some(holds) = self.holds(condition) {
                    let taken = self.block(if holds { then } else { otherwise });
                    steps.extend(taken.steps);
                    results.iter().zip(taken.yields).for_each(|(&local, value)| self.name(local, value, steps));
                    return;
                }
                let then = self.given(condition, true, |s| s.block(then));
                let otherwise = self.given(condition, false, |s| s.block(otherwise));
                steps.push(Step::If { results, condition, then, otherwise });
            }
            KStmt::Add { unknown, at, value } => {
                let (at, value) = (self.path(at), self.expr(value));
                steps.push(Step::Add { unknown, at, value });
            }
        }
    }

    /// Runs `f` where a condition is known, and what follows from it.
    fn given<T>(&mut self, condition: Value, holds: bool, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.facts.len();
        let mut open = vec![(condition, holds)];
        while let Some((value, holds)) = open.pop() {
            self.facts.push((value, holds));
            let node = self.nodes.of(value);
            match (&node.shell, &node.parts[..]) {
                (Shell::Expr(KExpr::Unary(UnaryOp::Not, _)), &[a]) => open.push((a, !holds)),
                (Shell::Expr(KExpr::Logic(Logic::And, ..)), &[a, b]) if holds => open.extend([(a, true), (b, true)]),
                (Shell::Expr(KExpr::Logic(Logic::Or, ..)), &[a, b]) if !holds => open.extend([(a, false), (b, false)]),
                _ => {}
            }
        }
        let result = f(self);
        self.facts.truncate(before);
        result
    }

    fn holds(&self, condition: Value) -> Option<bool> {
        if let Shell::Expr(KExpr::Bool(holds)) = self.nodes.of(condition).shell {
            return Some(holds);
        }
        self.facts.iter().rev().find(|(known, _)| *known == condition).map(|(_, holds)| *holds)
    }

    fn expr(&mut self, mut expr: KExpr) -> Value {
        match expr {
            KExpr::Local(local) => match self.locals.get(&local) {
                Some(&value) => self.has_name(value),
                None => self.make(Shell::Expr(expr), Vec::new()),
            },
            KExpr::Select { condition, if_true, if_false } => {
                let condition = self.expr(*condition);
                if let Some(holds) = self.holds(condition) {
                    return self.expr(if holds { *if_true } else { *if_false });
                }
                let if_true = self.given(condition, true, |s| s.expr(*if_true));
                let if_false = self.given(condition, false, |s| s.expr(*if_false));
                let shell = KExpr::Select { condition: nothing(), if_true: nothing(), if_false: nothing() };
                self.make(Shell::Expr(shell), vec![condition, if_true, if_false])
            }
            _ => {
                let mut taken = Taken { numbering: self, parts: Vec::new() };
                for_each_part!(&mut expr, iter_mut, take_expr, take_path, &mut taken);
                let parts = taken.parts;
                self.make(Shell::Expr(expr), parts)
            }
        }
    }

    fn path(&mut self, mut path: Path) -> Value {
        match path {
            Path::Local(local) => match self.locals.get(&local) {
                Some(&value) => self.has_name(value),
                None => self.make(Shell::Path(path), Vec::new()),
            },
            Path::Select { condition, if_true, if_false } => {
                let condition = self.expr(*condition);
                if let Some(holds) = self.holds(condition) {
                    return self.path(if holds { *if_true } else { *if_false });
                }
                let if_true = self.given(condition, true, |s| s.path(*if_true));
                let if_false = self.given(condition, false, |s| s.path(*if_false));
                let shell = Path::Select { condition: nothing(), if_true: Box::new(Path::Empty), if_false: Box::new(Path::Empty) };
                self.make(Shell::Path(shell), vec![condition, if_true, if_false])
            }
            _ => {
                let mut taken = Taken { numbering: self, parts: Vec::new() };
                for_each_part_of_path!(&mut path, take_expr, take_path, &mut taken);
                let parts = taken.parts;
                self.make(Shell::Path(path), parts)
            }
        }
    }

    /// The number of a node, which it has from now on.
    fn make(&mut self, shell: Shell, parts: Vec<Value>) -> Value {
        let key = key(&shell, &parts);
        if let Some(&value) = self.known.get(&key) {
            return value;
        }
        let value = Value(self.nodes.0.len() as u32);
        self.nodes.0.push(Node { shell, parts });
        self.known.insert(key, value);
        value
    }
}

/// Placeholder for a part in a shell.
pub(super) fn nothing() -> Box<KExpr> {
    Box::new(KExpr::ZeroVector)
}

/// Parts on their way out of a shell.
struct Taken<'n, 'a> {
    numbering: &'n mut Numbering<'a>,
    parts: Vec<Value>,
}

fn take_expr(part: &mut KExpr, taken: &mut Taken<'_, '_>) {
    let part = std::mem::replace(part, KExpr::ZeroVector);
    let value = taken.numbering.expr(part);
    taken.parts.push(value);
}

fn take_path(part: &mut Path, taken: &mut Taken<'_, '_>) {
    let part = std::mem::replace(part, Path::Empty);
    let value = taken.numbering.path(part);
    taken.parts.push(value);
}
