//! Outreach of collections of entities: layers that the entities may lie beyond the elements that
//! hold them.

use super::flow::{Flow, Transfer, Weakened};
use super::layers::{HaloRefusal, RefusedConstruct};
use super::reads::{KernelReads, source_outreach};
use crate::ir::{Block, KernelId, Module, MutableId, Op, StmtKind, ValueId};
use crate::source::Span;

/// Outreach of each value of the main program; 0 where it holds no entities. `[values]`
///
/// # Errors
/// A variable that leads further in each round of a loop, and calls.
pub(super) fn find(module: &Module) -> Result<Vec<u32>, HaloRefusal> {
    let main = &module.main;
    let is_entity = |mutable: MutableId| main.mutables[mutable.0 as usize].ty.entity_kind().is_some();
    let mut outreach = Outreach { module, values: vec![0; main.values.len()] };
    let mut flow = Flow::new(main.mutables.len());
    // A sweep carries outreach past one head of a loop at least. Where no loop adds to itself, it
    // has passed all of them after as many sweeps (Bellman and Ford).
    let n_entities = (0..main.mutables.len() as u32).filter(|&mutable| is_entity(MutableId(mutable))).count();
    let mut grown: Option<Weakened> = None;
    for _ in 0..n_entities.saturating_mul(count_loops(&main.body)) + 2 {
        grown = flow.sweep(&mut outreach, &main.body)?.into_iter().find(|weakened| is_entity(weakened.mutable));
        if grown.is_none() {
            return Ok(outreach.values);
        }
    }
    let span = grown.map_or(main.span, |grown| last_store(&main.body, grown).unwrap_or(grown.round));
    Err(HaloRefusal { span, construct: RefusedConstruct::GrowingReach })
}

fn count_loops(block: &Block) -> usize {
    let inside = |body: &Block| 1 + count_loops(body);
    block.statements.iter().map(|s| if let StmtKind::For { body, .. } = &s.kind { inside(body) } else { 0 }).sum()
}

/// Place of the last store to a mutable in a loop.
fn last_store(block: &Block, grown: Weakened) -> Option<Span> {
    block.statements.iter().rev().find_map(|statement| match &statement.kind {
        StmtKind::Store { mutable, .. } if *mutable == grown.mutable => Some(statement.span),
        StmtKind::For { body, .. } => last_store(body, grown),
        StmtKind::Store { .. } | StmtKind::Let { .. } | StmtKind::Launch { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => None,
    })
}

struct Outreach<'a> {
    module: &'a Module,
    values: Vec<u32>,
}

impl Outreach<'_> {
    fn note(&mut self, value: ValueId, outreach: u32) {
        if self.module.main.values[value.0 as usize].ty.entity_kind().is_some() {
            self.values[value.0 as usize] = outreach;
        }
    }
}

impl Transfer for Outreach<'_> {
    type Fact = u32;
    type Stop = HaloRefusal;

    fn join(a: u32, b: u32) -> u32 {
        a.max(b)
    }

    fn fact(&self, value: ValueId) -> u32 {
        self.values[value.0 as usize]
    }

    fn load(&mut self, value: ValueId, fact: u32) {
        self.note(value, fact);
    }

    fn operation(&mut self, results: &[ValueId], op: &Op, span: Span) -> Result<(), HaloRefusal> {
        if let Op::Call { function, .. } = op {
            let name = self.module.functions.get(function.0 as usize).map_or_else(String::new, |f| f.name.clone());
            return Err(HaloRefusal { span, construct: RefusedConstruct::Call(name) });
        }
        let outreach = source_outreach(&self.module.sets, &self.module.main, op.entity_source(), |v| self.values[v.0 as usize]);
        results.iter().for_each(|&result| self.note(result, outreach));
        Ok(())
    }

    fn launch(&mut self, kernel: KernelId, args: &[ValueId], results: &[ValueId], _: Span) -> Result<(), HaloRefusal> {
        let Some(kernel) = self.module.kernels.get(kernel.0 as usize) else { return Ok(()) };
        if kernel.results.iter().any(|result| result.ty.entity_kind().is_some()) {
            let outreach = |param: crate::ir::ParamId| args.get(param.0 as usize).map_or(0, |arg| self.values[arg.0 as usize]);
            let reads = KernelReads::new(kernel, &self.module.sets, &outreach);
            for (&result, outreach) in results.iter().zip(reads.results) {
                self.note(result, outreach);
            }
        }
        Ok(())
    }
}
