//! Inputs of a run; errors name the line of the statement.

use std::sync::Arc;

use super::context::RunContext;
use super::on_ranks::SessionRank;
use super::profile::Phase;
use crate::domain::Domain;
use crate::error::Error;
use crate::grid::Grid;
use crate::input::{CollectionInput, ConstantTable, Inputs};
use crate::math::table::Table;
use crate::math::table2::TablePart;

/// Reads inputs: it times that, shows notes, and gives errors their line.
pub struct InputReader<'s> {
    pub(super) inputs: &'s mut Inputs,
    pub(super) grid: &'s Grid,
    pub(super) run: &'s mut RunContext,
    pub(super) rank: Option<&'s mut SessionRank>,
}

impl InputReader<'_> {
    /// Parameter `name`, or the default.
    ///
    /// # Errors
    /// See [`Inputs::read_scalar`](crate::input::Inputs::read_scalar).
    pub fn scalar(&mut self, name: &str, default: f64) -> Result<f64, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        self.run.progress.messages().send_start();
        self.inputs.read_scalar(&self.run.parameters, name, default).map_err(|e| self.run.locate(e))
    }

    /// A collection on a domain; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::collection`](crate::input::Inputs::collection).
    pub fn collection(&mut self, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let read = |inputs: &mut Inputs, grid: &Grid, domain: &Arc<Domain>, run: &RunContext| {
            inputs.collection(&run.parameters, grid, name, domain).map_err(|e| run.locate(e))
        };
        let collection = match &mut self.rank {
            Some(rank) => rank.read(domain, self.run, |grid, domain, run| read(self.inputs, grid, domain, run)),
            None => read(self.inputs, self.grid, domain, self.run),
        };
        self.tell();
        collection
    }

    /// A collection of Vectors on a domain, by component; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::vectors`](crate::input::Inputs::vectors).
    pub fn vectors(&mut self, name: &str, domain: &Arc<Domain>) -> Result<Vec<CollectionInput>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let read = |inputs: &mut Inputs, domain: &Arc<Domain>, run: &RunContext| {
            inputs.vectors(&run.parameters, name, domain).map_err(|e| run.locate(e))
        };
        let vectors = match &mut self.rank {
            Some(rank) => {
                // All components are read with the first.
                let component = |axis: usize, inputs: &mut Inputs, domain: &Arc<Domain>, run: &RunContext| {
                    read(inputs, domain, run).map(|components| components[axis].clone())
                };
                let dim = self.grid.dim();
                (0..dim).map(|axis| rank.read(domain, self.run, |_, domain, run| component(axis, self.inputs, domain, run))).collect()
            }
            None => read(self.inputs, domain, self.run),
        };
        self.tell();
        vectors
    }

    /// A collection of Bools on a domain; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::bools`](crate::input::Inputs::bools).
    pub fn bools(&mut self, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput<bool>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let read = |inputs: &mut Inputs, domain: &Arc<Domain>, run: &RunContext| {
            inputs.bools(&run.parameters, name, domain).map_err(|e| run.locate(e))
        };
        let bools = match &mut self.rank {
            Some(rank) => rank.read(domain, self.run, |_, domain, run| read(self.inputs, domain, run)),
            None => read(self.inputs, domain, self.run),
        };
        self.tell();
        bools
    }

    /// A domain within another; read once per name and superset.
    ///
    /// # Errors
    /// See [`Inputs::domain`](crate::input::Inputs::domain).
    pub fn domain(&mut self, name: &str, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let read = |inputs: &mut Inputs, grid: &Grid, within: &Arc<Domain>, run: &RunContext| {
            inputs.domain(&run.parameters, grid, name, within).map_err(|e| run.locate(e))
        };
        let domain = match &mut self.rank {
            Some(rank) => rank.read_domain(name, within, self.run, |grid, within, run| read(self.inputs, grid, within, run)),
            None => read(self.inputs, self.grid, within, self.run),
        };
        self.tell();
        domain
    }

    /// Shows notes on inputs.
    fn tell(&mut self) {
        for note in self.inputs.take_notes() {
            self.run.progress.message(&note);
        }
    }

    /// A sequence; read once per name.
    ///
    /// # Errors
    /// See [`Inputs::sequence`](crate::input::Inputs::sequence).
    pub fn sequence(&mut self, name: &str) -> Result<Arc<Vec<f64>>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        self.inputs.sequence(&self.run.parameters, name).map_err(|e| self.run.locate(e))
    }

    /// A table; read once per name and columns.
    ///
    /// # Errors
    /// See [`Inputs::table`](crate::input::Inputs::table).
    pub fn table(&mut self, name: &str, argument: &str, value: &str) -> Result<Arc<Table>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        self.inputs.table(&self.run.parameters, name, argument, value).map_err(|e| self.run.locate(e))
    }

    /// A part of a table of two arguments, which is read once per name and columns.
    ///
    /// # Errors
    /// See [`Inputs::table2`](crate::input::Inputs::table2).
    pub fn table2(&mut self, name: &str, arguments: [&str; 2], value: &str, part: TablePart) -> Result<Arc<Table>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let table = self.inputs.table2(&self.run.parameters, name, arguments, value).map_err(|e| self.run.locate(e))?;
        Ok(Arc::clone(table.part(part)))
    }

    /// The tables read that are constant outside of their rows.
    pub(crate) fn constant_tables(&self) -> &[ConstantTable] {
        self.inputs.constant_tables()
    }
}
