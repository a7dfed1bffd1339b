//! Memory and linear systems of a program, from the needs that runs are checked against.

use std::collections::BTreeSet;

use super::Report;
use super::bytes::number_bytes;
use super::traffic::per_cell;
use crate::ir::Module;
use crate::memory::{Buffers, Needs, SolveNeeds};

/// Memory of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Bytes of collections that live at the same time, for each cell of a large grid, on any grid.
    /// `[dimensions]`
    pub general: Vec<f64>,
    /// The same on uniform Cartesian grids. `[dimensions]`
    pub cartesian: Vec<f64>,
    /// Sets whose collections are not in these sums, because they have few elements.
    pub left_out: BTreeSet<String>,
    /// Linear systems, in order.
    pub systems: Vec<System>,
}

/// The linear systems of a solve with Newton's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// The Equelle line; 0 if unknown.
    pub line: u32,
    /// Names of the sets of the unknowns, one for each equation.
    pub unknowns: Vec<String>,
    /// Entries in a row of each equation; an estimate. `[equations][dimensions]`
    pub entries: Vec<Vec<u32>>,
}

impl Report {
    /// Adds the memory that a module needs.
    pub fn add_memory(&mut self, module: &Module, needs: &Needs) {
        let number = number_bytes(module);
        let bytes = |buffers: &Buffers, dim: u32| {
            u64::from(buffers.numbers[dim as usize - 1]) * number + u64::from(buffers.truths) + 4 * u64::from(buffers.entities)
        };
        let sum = |pick: &dyn Fn(&crate::memory::SetNeeds) -> Buffers| {
            let of_dim = |&dim: &u32| {
                let sets = needs.sets.iter().filter_map(|entry| Some((module.sets.get(entry.set).canonical?, entry)));
                sets.map(|(set, entry)| per_cell(set, dim) * bytes(&pick(entry), dim) as f64).sum()
            };
            self.dimensions.iter().map(of_dim).collect()
        };
        let (general, cartesian) = (sum(&|entry| entry.general), sum(&|entry| entry.cartesian));
        let set_name = |set| module.sets.get(set).name.clone();
        let is_small = |entry: &&crate::memory::SetNeeds| {
            let few = module.sets.get(entry.set).canonical.is_none_or(|set| per_cell(set, 3) == 0.0);
            few && (entry.general != Buffers::default() || entry.cartesian != Buffers::default())
        };
        let system = |solve: &SolveNeeds| System {
            line: solve.line,
            unknowns: solve.unknowns.iter().map(|set| set_name(*set)).collect(),
            entries: solve.entries.iter().map(|row| self.dimensions.iter().map(|dim| row[*dim as usize - 1]).collect()).collect(),
        };
        let left_out = needs.sets.iter().filter(is_small).map(|entry| set_name(entry.set)).collect();
        let systems = needs.solves.iter().map(system).collect();
        self.memory = Some(Memory { general, cartesian, left_out, systems });
    }
}
