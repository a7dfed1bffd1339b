//! The largest or smallest value of a loop's state, as in `dt = cfl * MinReduce(size / speed)`, is
//! taken at the end of the round before it is read, where the kernel that writes the state can take
//! it on the way. A variable carries it to the next round.
//!
//! The extreme is then also computed before the loop, and once more after the last round, where
//! nothing reads it: operations that may fail therefore stay in place. Operations that read the
//! state of other elements stay, too, because a kernel does not have it while it writes. So does
//! the extreme of a plain variable, which is read once in either place.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::{Defs, stored_mutables};
use super::fuse::value_name;
use super::inline::rename;
use super::rewrite::each_function;
use super::{Notes, dce};
use crate::cost::{CostModel, Extremes};
use crate::ir::{Block, Function, Module, Mutable, MutableId, Op, OpClass, Rounds, Stmt, StmtKind, UnaryOp, ValueId};
use crate::lower::UniqueNames;
use crate::ops::{Arithmetic, Reduction};
use crate::types::{Basic, SetTable, Shape};

/// Maximum number of divisions and roots of a round whose time is that of memory. One with more has
/// neither time nor registers left for an extreme on the way.
const MAX_SLOW: usize = 8;

/// Carries the extremes of every loop, if kernels take them on the way.
pub(super) fn run(module: &mut Module, model: &CostModel, _: &mut Notes) {
    match model.extremes {
        Extremes::OnTheWay => each_function(module, carry_extremes),
        Extremes::Apart => {}
    }
}

fn carry_extremes(function: &mut Function, sets: &SetTable) {
    let mut names = UniqueNames::default();
    for mutable in &function.mutables {
        names.unique(&mutable.name);
    }
    let defs = Defs::of(function);
    if function.values.iter().enumerate().any(|(value, _)| matches!(defs.op(ValueId(value as u32)), Some(Op::Shift { .. }))) {
        // Kernels that read by index write over what they read, and take no extremes.
        return;
    }
    let body = std::mem::take(&mut function.body);
    let mut carrier = Carrier { function, sets, defs, names, carried: BTreeSet::new() };
    let body = carrier.block(body);
    let any = !carrier.carried.is_empty();
    function.body = body;
    if any {
        dce::run(function, sets);
    }
}

struct Carrier<'a> {
    function: &'a mut Function,
    sets: &'a SetTable,
    defs: Defs,
    names: UniqueNames,
    /// Extremes at the ends of rounds.
    carried: BTreeSet<ValueId>,
}

/// Backward slice of a value in a loop's body that is computed from the state before a round.
#[derive(Clone, Debug, Default)]
struct Slice {
    /// Positions of the statements that compute it.
    statements: BTreeSet<usize>,
    /// The variables of the state that it reads.
    state: BTreeSet<MutableId>,
}

/// An extreme of the state at the beginning of a round.
struct Extreme {
    position: usize,
    slice: Slice,
}

impl Carrier<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            let StmtKind::For { rounds, body } = statement.kind else {
                out.push(statement);
                continue;
            };
            let mut body = self.block(body);
            while let Some(extreme) = self.extreme(rounds, &body).filter(|extreme| self.is_light(&body, extreme)) {
                out.extend(self.carry(&mut body, &extreme));
            }
            out.push(Stmt { kind: StmtKind::For { rounds, body }, span: statement.span });
        }
        Block { statements: out }
    }

    /// True if a round without an extreme has few divisions and roots of collections.
    fn is_light(&self, body: &Block, extreme: &Extreme) -> bool {
        let is_slow = |statement: &Stmt| match &statement.kind {
            StmtKind::Let { results, op: Op::Arithmetic(Arithmetic::Div, ..) | Op::Unary(UnaryOp::Sqrt, _) } => {
                results.iter().any(|value| matches!(self.function.values[value.0 as usize].ty.shape, Shape::Collection(_)))
            }
            _ => false,
        };
        let others = body.statements.iter().enumerate().filter(|(position, _)| !extreme.slice.statements.contains(position));
        others.filter(|(_, statement)| is_slow(statement)).count() <= MAX_SLOW
    }

    /// The first extreme that the end of a round can give.
    fn extreme(&self, rounds: Rounds, body: &Block) -> Option<Extreme> {
        let changed = stored_mutables(body);
        let mut stored = BTreeSet::new();
        let mut inside = BTreeSet::from_iter(rounds.element());
        let mut slices: BTreeMap<ValueId, Slice> = BTreeMap::new();
        for (position, statement) in body.statements.iter().enumerate() {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let [result] = results[..]
                        && let Some(slice) = self.slice(position, op, &changed, &stored, &inside, &slices)
                    {
                        if self.is_extreme(op, &slice) && !self.carried.contains(&result) && is_written(body, &slice) {
                            return Some(Extreme { position, slice });
                        }
                        slices.insert(result, slice);
                    }
                }
                StmtKind::Store { mutable, .. } => {
                    stored.insert(*mutable);
                }
                StmtKind::For { body, .. } => stored.extend(stored_mutables(body)),
                StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
            inside.extend(statement.defines());
        }
        None
    }

    /// Returns the slice of an operation, if it can be computed at the end of the round before.
    fn slice(
        &self,
        position: usize,
        op: &Op,
        changed: &BTreeSet<MutableId>,
        stored: &BTreeSet<MutableId>,
        inside: &BTreeSet<ValueId>,
        slices: &BTreeMap<ValueId, Slice>,
    ) -> Option<Slice> {
        let mut slice = Slice { statements: BTreeSet::from([position]), state: BTreeSet::new() };
        if let Op::Load(mutable) = op {
            slice.state.extend(changed.contains(mutable).then_some(*mutable));
            return (!stored.contains(mutable)).then_some(slice);
        }
        if !op.class().is_pure() || self.defs.may_fail(self.function, self.sets, op) || matches!(op, Op::Interpolate { .. }) {
            return None;
        }
        for operand in op.operands().into_iter().filter(|operand| inside.contains(operand)) {
            let Slice { statements, state } = slices.get(&operand)?;
            slice.statements.extend(statements);
            slice.state.extend(state);
        }
        let here = matches!(op.class(), OpClass::Pointwise | OpClass::Reduction) || matches!(op, Op::Broadcast { .. });
        (here || slice.state.is_empty()).then_some(slice)
    }

    fn is_extreme(&self, op: &Op, slice: &Slice) -> bool {
        let Op::Reduce(Reduction::Max | Reduction::Min, values) = op else { return false };
        let of_state = |mutable: &MutableId| matches!(self.function.mutables[mutable.0 as usize].ty.shape, Shape::Collection(_));
        let is_computed = self.defs.op(*values).is_some_and(|op| !matches!(op, Op::Load(_)));
        is_computed && self.function.values[values.0 as usize].ty.basic == Basic::Scalar && slice.state.iter().any(of_state)
    }

    /// Moves an extreme to the end of the round before; what computes it before the first round.
    fn carry(&mut self, body: &mut Block, extreme: &Extreme) -> Vec<Stmt> {
        let Extreme { position, slice } = extreme;
        let statement = body.statements[*position].clone();
        let span = statement.span;
        let result = statement.defines()[0];
        let name = self.names.unique(&value_name(self.function, &self.defs, self.sets, result));
        let info = &mut self.function.values[result.0 as usize];
        info.name.clone_from(&name);
        let carried = Mutable { name, ty: info.ty, dim: info.dim, span: info.span, carried: true };
        let mutable = MutableId(self.function.mutables.len() as u32);
        self.function.mutables.push(carried);

        let of_round: Vec<Stmt> = slice.statements.iter().map(|&at| body.statements[at].clone()).collect();
        let mut before = Vec::new();
        let first = self.copy(&of_round, BTreeMap::new(), &mut before);
        before.push(Stmt { kind: StmtKind::Store { mutable, value: first }, span });

        // The state at the end of the round: what has been stored.
        let mut end = BTreeMap::new();
        for statement in &of_round {
            if let StmtKind::Let { results, op: Op::Load(read) } = &statement.kind
                && let Some((_, value)) = written(body, *read)
            {
                end.extend(results.iter().map(|&result| (result, value)));
            }
        }
        let mut after = Vec::new();
        let next = self.copy(&of_round, end, &mut after);
        self.carried.extend([first, next]);
        after.push(Stmt { kind: StmtKind::Store { mutable, value: next }, span });
        let at =
            slice.state.iter().filter_map(|&stored| written(body, stored)).map(|(at, _)| at + 1).max().unwrap_or(body.statements.len());
        body.statements.splice(at..at, after);
        body.statements.retain(|statement| statement.defines() != [result]);
        body.statements.insert(0, Stmt { kind: StmtKind::Let { results: vec![result], op: Op::Load(mutable) }, span });
        before
    }

    /// Copies of statements with values of their own, but those in `same`; the last value.
    fn copy(&mut self, statements: &[Stmt], mut same: BTreeMap<ValueId, ValueId>, out: &mut Vec<Stmt>) -> ValueId {
        let mut last = ValueId(0);
        for statement in statements {
            let StmtKind::Let { results, op } = &statement.kind else { continue };
            let result = results[0];
            if same.contains_key(&result) {
                continue;
            }
            last = ValueId(self.function.values.len() as u32);
            let info = self.function.values[result.0 as usize].clone();
            self.function.values.push(info);
            let kind = StmtKind::Let { results: vec![last], op: op.clone() };
            out.push(Stmt { kind: rename(kind, &mut |value| same.get(&value).copied().unwrap_or(value)), span: statement.span });
            same.insert(result, last);
        }
        last
    }
}

/// True if a body itself stores what its state is at the end of a round.
fn is_written(body: &Block, slice: &Slice) -> bool {
    slice.state.iter().all(|&mutable| written(body, mutable).is_some())
}

/// The last store of a variable in a body, if no loop in it comes later: its position and value.
fn written(body: &Block, mutable: MutableId) -> Option<(usize, ValueId)> {
    for (position, statement) in body.statements.iter().enumerate().rev() {
        match &statement.kind {
            StmtKind::Store { mutable: stored, value } if *stored == mutable => return Some((position, *value)),
            StmtKind::For { body, .. } if stored_mutables(body).contains(&mutable) => return None,
            StmtKind::Let { .. }
            | StmtKind::Store { .. }
            | StmtKind::For { .. }
            | StmtKind::Output { .. }
            | StmtKind::Launch { .. }
            | StmtKind::Return(_) => {}
        }
    }
    None
}
