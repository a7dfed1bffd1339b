//! Validity of collections: layers of the halo up to which their values are right.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Flow, Transfer};
use super::program::Program;
use super::reads::Reads;
use crate::ir::{KernelId, Op, ValueId};
use crate::source::Span;
use crate::types::{Extent, SetId, Shape};

/// Validity with some exchanges.
struct Validity<'a> {
    program: &'a Program<'a>,
    layers: u32,
    /// Layers to which values are exchanged.
    depths: &'a BTreeMap<ValueId, u32>,
    values: Vec<u32>,
    sets: Vec<u32>,
    sets_changed: bool,
}

/// A read of what is not right as far out.
#[derive(Clone, Copy, Debug)]
enum Short {
    Value(ValueId, u32),
    Set(SetId, u32),
    Topology,
}

/// Remedy for a read that falls short.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Remedy {
    Exchange(ValueId),
    MoreLayers,
}

/// A read that no exchange of so many layers helps.
pub(super) struct TooFewLayers {
    /// Place of the read.
    pub span: Span,
}

/// Exchanges that a program needs with so many layers, each as shallow as it can be.
///
/// # Errors
/// A read that needs more layers.
pub(super) fn solve(program: &Program<'_>, layers: u32) -> Result<BTreeMap<ValueId, u32>, TooFewLayers> {
    let mut depths = BTreeMap::new();
    while let Err((remedy, span)) = Validity::run(program, layers, &depths) {
        match remedy {
            Remedy::Exchange(value) => depths.insert(value, layers),
            Remedy::MoreLayers => return Err(TooFewLayers { span }),
        };
    }
    // An exchange that a later one made needless goes, and layers that nothing reads.
    let values: Vec<ValueId> = depths.keys().copied().rev().collect();
    for value in values {
        depths.remove(&value);
        for depth in 0..=layers {
            if depth > 0 {
                depths.insert(value, depth);
            }
            if Validity::run(program, layers, &depths).is_ok() {
                break;
            }
        }
    }
    Ok(depths)
}

impl<'a> Validity<'a> {
    /// Finds the first read that falls short.
    fn run(program: &'a Program<'a>, layers: u32, depths: &'a BTreeMap<ValueId, u32>) -> Result<(), (Remedy, Span)> {
        let main = &program.module.main;
        let table = &program.module.sets;
        let sets = table.ids().map(|set| match table.canonical_superset(set).extent {
            Extent::Interior | Extent::Boundary => layers.saturating_sub(1),
            Extent::All => layers,
        });
        let (values, sets) = (vec![layers; main.values.len()], sets.collect());
        let mut validity = Validity { program, layers, depths, values, sets, sets_changed: false };
        let mut flow = Flow::new(main.mutables.len());
        loop {
            validity.sets_changed = false;
            match flow.sweep(&mut validity, &main.body) {
                Ok(weakened) if weakened.is_empty() && !validity.sets_changed => return Ok(()),
                Ok(_) => {}
                Err((short, span)) => {
                    let mut seen = BTreeSet::new();
                    return Err((validity.short(short, &mut seen).unwrap_or(Remedy::MoreLayers), span));
                }
            }
        }
    }

    /// Layers to which a result of such reads is right.
    fn meet(&self, reads: &Reads, span: Span) -> Result<u32, (Short, Span)> {
        let mut valid = self.layers.checked_sub(reads.topology).ok_or((Short::Topology, span))?;
        for (&set, &reach) in &reads.sets {
            let rest = self.sets[set.0 as usize].checked_sub(reach).ok_or((Short::Set(set, reach), span))?;
            valid = valid.min(rest);
        }
        for (&value, &reach) in &reads.values {
            let rest = self.values[value.0 as usize].checked_sub(reach).ok_or((Short::Value(value, reach), span))?;
            valid = valid.min(rest);
        }
        Ok(valid)
    }

    fn set_value(&mut self, value: ValueId, valid: u32) {
        let Shape::Collection(set) = self.program.shape(value) else { return };
        let exchanged = self.depths.get(&value).copied().unwrap_or(0);
        self.values[value.0 as usize] = valid.max(exchanged).min(self.sets[set.0 as usize]);
    }

    /// Remedy for a read; none if nothing that it reads is short.
    fn short(&self, short: Short, seen: &mut BTreeSet<ValueId>) -> Option<Remedy> {
        match short {
            Short::Topology => Some(Remedy::MoreLayers),
            Short::Set(set, need) => self.short_set(set, need, seen),
            Short::Value(value, need) => self.short_value(value, need, seen),
        }
    }

    fn short_value(&self, value: ValueId, need: u32, seen: &mut BTreeSet<ValueId>) -> Option<Remedy> {
        if self.fact(value) >= need || !seen.insert(value) {
            return None;
        }
        match self.program.shape(value) {
            Shape::Collection(set) | Shape::Domain(set) if self.sets[set.0 as usize] < need => return self.short_set(set, need, seen),
            Shape::Collection(_) | Shape::Domain(_) | Shape::Single | Shape::Sequence => {}
        }
        if self.program.is_exchangeable(value) {
            let is_new = !self.depths.contains_key(&value);
            return Some(if is_new { Remedy::Exchange(value) } else { Remedy::MoreLayers });
        }
        if let Some(mutable) = self.program.loaded_from(value) {
            return first_of(self.program.stored(mutable).map(|stored| self.short_value(stored, need, seen)));
        }
        self.program.made_of(value).and_then(|reads| self.short_reads(reads, need, seen))
    }

    fn short_set(&self, set: SetId, need: u32, seen: &mut BTreeSet<ValueId>) -> Option<Remedy> {
        if self.sets[set.0 as usize] >= need {
            return None;
        }
        let conditions = self.program.conditions(set);
        if need > self.layers || conditions.is_empty() {
            return Some(Remedy::MoreLayers);
        }
        first_of(conditions.iter().map(|reads| self.short_reads(reads, need, seen)))
    }

    /// Remedy for a result of such reads that has to be right as far.
    fn short_reads(&self, reads: &Reads, need: u32, seen: &mut BTreeSet<ValueId>) -> Option<Remedy> {
        if need.saturating_add(reads.topology) > self.layers {
            return Some(Remedy::MoreLayers);
        }
        let sets: Vec<_> = reads.sets.iter().map(|(&set, &reach)| self.short_set(set, need.saturating_add(reach), seen)).collect();
        let values = reads.values.iter().map(|(&value, &reach)| self.short_value(value, need.saturating_add(reach), seen));
        first_of(sets.into_iter().chain(values))
    }
}

/// More layers where anything needs these; else the first exchange.
fn first_of(remedies: impl Iterator<Item = Option<Remedy>>) -> Option<Remedy> {
    let mut first = None;
    for remedy in remedies.flatten() {
        match remedy {
            Remedy::MoreLayers => return Some(remedy),
            Remedy::Exchange(_) => first = first.or(Some(remedy)),
        }
    }
    first
}

impl Transfer for Validity<'_> {
    type Fact = u32;
    type Stop = (Short, Span);

    fn join(a: u32, b: u32) -> u32 {
        a.min(b)
    }

    fn fact(&self, value: ValueId) -> u32 {
        match self.program.shape(value) {
            Shape::Domain(set) => self.sets[set.0 as usize],
            Shape::Collection(_) | Shape::Single | Shape::Sequence => self.values[value.0 as usize],
        }
    }

    fn load(&mut self, value: ValueId, fact: u32) {
        self.set_value(value, fact);
    }

    fn operation(&mut self, results: &[ValueId], op: &Op, span: Span) -> Result<(), Self::Stop> {
        let program = self.program;
        if let Op::Exchange { value, depth } = op {
            self.set_value(*value, self.values[value.0 as usize].max(*depth));
        }
        for &result in results {
            let Some(reads) = program.operation(result) else { continue };
            let valid = self.meet(reads, span)?;
            match (op, program.shape(result)) {
                (Op::Where { .. }, Shape::Domain(set)) => {
                    let known = &mut self.sets[set.0 as usize];
                    self.sets_changed |= valid < *known;
                    *known = valid.min(*known);
                }
                _ => self.set_value(result, valid),
            }
        }
        Ok(())
    }

    fn launch(&mut self, kernel: KernelId, args: &[ValueId], results: &[ValueId], span: Span) -> Result<(), Self::Stop> {
        let Some(reads) = self.program.launch(kernel, args) else { return Ok(()) };
        let valid = self.meet(reads, span)?;
        results.iter().for_each(|&result| self.set_value(result, valid));
        Ok(())
    }
}
