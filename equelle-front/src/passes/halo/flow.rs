//! Facts about values and mutables along the statements of a program. A sweep goes through every
//! statement once; what a loop brings back to its head waits there for the next sweep, so that the
//! cost does not double with each loop in another.

use std::collections::BTreeMap;

use crate::ir::{Block, KernelId, MutableId, Op, Stmt, StmtKind, ValueId};
use crate::source::Span;

/// Effect of one statement on facts. These only become weaker from sweep to sweep.
pub(super) trait Transfer {
    /// Property of a value.
    type Fact: Copy + PartialEq;
    /// Reason to stop.
    type Stop;

    /// The fact that holds for either.
    fn join(a: Self::Fact, b: Self::Fact) -> Self::Fact;
    /// Fact of a value.
    fn fact(&self, value: ValueId) -> Self::Fact;
    /// A value is what a mutable with this fact holds.
    fn load(&mut self, value: ValueId, fact: Self::Fact);
    /// Results of an operation other than a load.
    fn operation(&mut self, results: &[ValueId], op: &Op, span: Span) -> Result<(), Self::Stop>;
    /// Results of a launch.
    fn launch(&mut self, kernel: KernelId, args: &[ValueId], results: &[ValueId], span: Span) -> Result<(), Self::Stop>;
}

/// Facts of mutables; none where nothing is assigned yet.
type State<F> = Vec<Option<F>>;

/// Sweeps over the statements of a function.
pub(super) struct Flow<F> {
    /// Facts that the last sweeps brought back to the head of each loop, by its number.
    heads: BTreeMap<usize, State<F>>,
    n_mutables: usize,
}

/// A mutable whose fact at the head of a loop was weakened by a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weakened {
    /// Place of the loop.
    pub round: Span,
    /// The mutable.
    pub mutable: MutableId,
}

impl<F: Copy + PartialEq> Flow<F> {
    /// Nothing is known of loops.
    pub fn new(n_mutables: usize) -> Flow<F> {
        Flow { heads: BTreeMap::new(), n_mutables }
    }

    /// One sweep over a program.
    ///
    /// # Errors
    /// What stops the transfer.
    pub fn sweep<T: Transfer<Fact = F>>(&mut self, transfer: &mut T, body: &Block) -> Result<Vec<Weakened>, T::Stop> {
        let mut sweep = Sweep { flow: self, transfer, loops: 0, weakened: Vec::new() };
        let mut state = vec![None; sweep.flow.n_mutables];
        sweep.block(body, &mut state)?;
        Ok(sweep.weakened)
    }
}

struct Sweep<'a, T: Transfer> {
    flow: &'a mut Flow<T::Fact>,
    transfer: &'a mut T,
    loops: usize,
    weakened: Vec<Weakened>,
}

impl<T: Transfer> Sweep<'_, T> {
    fn block(&mut self, block: &Block, state: &mut State<T::Fact>) -> Result<(), T::Stop> {
        block.statements.iter().try_for_each(|statement| self.statement(statement, state))
    }

    fn statement(&mut self, statement: &Stmt, state: &mut State<T::Fact>) -> Result<(), T::Stop> {
        match &statement.kind {
            StmtKind::Let { results, op: Op::Load(mutable) } => {
                if let (&[result], Some(fact)) = (&results[..], state[mutable.0 as usize]) {
                    self.transfer.load(result, fact);
                }
                Ok(())
            }
            StmtKind::Let { results, op } => self.transfer.operation(results, op, statement.span),
            StmtKind::Launch { kernel, args, results } => self.transfer.launch(*kernel, args, results, statement.span),
            StmtKind::Store { mutable, value } => {
                state[mutable.0 as usize] = Some(self.transfer.fact(*value));
                Ok(())
            }
            StmtKind::For { body, .. } => {
                let number = self.loops;
                self.loops += 1;
                if let Some(head) = self.flow.heads.get(&number) {
                    join_states::<T>(state, head);
                }
                let mut inside = state.clone();
                self.block(body, &mut inside)?;
                let changed = join_states::<T>(state, &inside);
                self.weakened.extend(changed.into_iter().map(|mutable| Weakened { round: statement.span, mutable }));
                self.flow.heads.insert(number, state.clone());
                Ok(())
            }
            StmtKind::Output { .. } | StmtKind::Return(_) => Ok(()),
        }
    }
}

/// Joins another state into one, and returns the mutables that changed.
fn join_states<T: Transfer>(into: &mut State<T::Fact>, other: &State<T::Fact>) -> Vec<MutableId> {
    let mut changed = Vec::new();
    for (index, (mine, other)) in into.iter_mut().zip(other).enumerate() {
        let joined = match (*mine, *other) {
            (Some(a), Some(b)) => Some(T::join(a, b)),
            (a, b) => a.or(b),
        };
        if joined != *mine {
            *mine = joined;
            changed.push(MutableId(index as u32));
        }
    }
    changed
}
