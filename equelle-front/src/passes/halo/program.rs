//! Statements of a program as what their results are made of, which is the same for any exchanges.

use std::collections::{BTreeMap, BTreeSet};

use super::reads::Reads;
use crate::ir::{Block, CartesianForm, KernelId, Module, MutableId, Op, StmtKind, ValueId};
use crate::types::{Basic, SetId, Shape};

/// The main program, without calls, and with solves as loops.
pub(super) struct Program<'a> {
    pub module: &'a Module,
    /// Number of values outside of solves.
    n_values: u32,
    /// Reads of the operation that makes each value; none for loads and launches. `[values]`
    operations: Vec<Option<Reads>>,
    launches: BTreeMap<(KernelId, Vec<ValueId>), Reads>,
    origins: BTreeMap<ValueId, Origin>,
    /// Values stored to each mutable.
    stores: BTreeMap<MutableId, BTreeSet<ValueId>>,
    /// Reads of what makes a set by a condition.
    conditions: BTreeMap<SetId, Vec<Reads>>,
}

/// Statement that makes a value.
#[derive(Clone, Debug)]
enum Origin {
    Operation,
    Load(MutableId),
    Launch((KernelId, Vec<ValueId>)),
}

impl<'a> Program<'a> {
    /// Collects the statements; `outreach` is that of [`super::outreach::find`]. Values from
    /// `n_values` on are those of residuals.
    pub fn new(module: &'a Module, n_values: u32, outreach: &[u32]) -> Program<'a> {
        let mut program = Program {
            module,
            n_values,
            operations: vec![None; module.main.values.len()],
            launches: BTreeMap::new(),
            origins: BTreeMap::new(),
            stores: BTreeMap::new(),
            conditions: BTreeMap::new(),
        };
        program.block(&module.main.body, outreach);
        program
    }

    fn block(&mut self, block: &Block, outreach: &[u32]) {
        let main = &self.module.main;
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op: Op::Load(mutable) } => {
                    self.origins.extend(results.iter().map(|&result| (result, Origin::Load(*mutable))));
                }
                StmtKind::Let { results, op } => {
                    for &result in results {
                        let reads = Reads::from_operation(&self.module.sets, main, outreach, op, result);
                        if let (Op::Where { .. }, Some(set)) = (op, main.values[result.0 as usize].ty.mapping()) {
                            self.conditions.entry(set).or_default().push(reads.clone());
                        }
                        self.operations[result.0 as usize] = Some(reads);
                        self.origins.insert(result, Origin::Operation);
                    }
                }
                StmtKind::Launch { kernel: id, args, results } => {
                    let key = (*id, args.clone());
                    self.origins.extend(results.iter().map(|&result| (result, Origin::Launch(key.clone()))));
                    if let Some(kernel) = self.module.kernels.get(id.0 as usize) {
                        let sets = &self.module.sets;
                        self.launches.entry(key).or_insert_with(|| Reads::from_launch(kernel, sets, main, outreach, args));
                    }
                }
                StmtKind::Store { mutable, value } => {
                    self.stores.entry(*mutable).or_default().insert(*value);
                }
                StmtKind::For { body, .. } => self.block(body, outreach),
                StmtKind::Output { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// Shape of a value.
    pub fn shape(&self, value: ValueId) -> Shape {
        self.module.main.values[value.0 as usize].ty.shape
    }

    /// True for collections that can be sent: numbers and truth values, whose meaning does not
    /// depend on the rank, unless a Cartesian grid has one for each axis. Residuals send nothing.
    pub fn is_exchangeable(&self, value: ValueId) -> bool {
        if value.0 >= self.n_values {
            return false;
        }
        if let Some(Origin::Launch((kernel, _))) = self.origins.get(&value)
            && matches!(self.module.kernels[kernel.0 as usize].cartesian, Some(CartesianForm::PerAxis(_)))
        {
            return false;
        }
        match self.module.main.values[value.0 as usize].ty.basic {
            Basic::Scalar | Basic::Vector | Basic::Bool => matches!(self.shape(value), Shape::Collection(_)),
            Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => false,
        }
    }

    /// Reads of the operation that makes a value.
    pub fn operation(&self, result: ValueId) -> Option<&Reads> {
        self.operations[result.0 as usize].as_ref()
    }

    /// Reads of a launch.
    pub fn launch(&self, kernel: KernelId, args: &[ValueId]) -> Option<&Reads> {
        self.launches.get(&(kernel, args.to_vec()))
    }

    /// Reads of the operation or launch that makes a value; none for loads.
    pub fn made_of(&self, value: ValueId) -> Option<&Reads> {
        match self.origins.get(&value)? {
            Origin::Operation => self.operation(value),
            Origin::Launch(key) => self.launches.get(key),
            Origin::Load(_) => None,
        }
    }

    /// The mutable that a value is loaded from.
    pub fn loaded_from(&self, value: ValueId) -> Option<MutableId> {
        match self.origins.get(&value)? {
            Origin::Load(mutable) => Some(*mutable),
            Origin::Operation | Origin::Launch(_) => None,
        }
    }

    /// Values that are stored to a mutable.
    pub fn stored(&self, mutable: MutableId) -> impl Iterator<Item = ValueId> {
        self.stores.get(&mutable).into_iter().flatten().copied()
    }

    /// Reads of the conditions that make a set; none for other sets.
    pub fn conditions(&self, set: SetId) -> &[Reads] {
        self.conditions.get(&set).map_or(&[], Vec::as_slice)
    }
}
