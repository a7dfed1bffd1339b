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
use crate::params::Parameters;
use crate::wire::Wire;

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
        self.read(domain, |inputs, parameters, grid, domain| inputs.collection(parameters, grid, name, domain))
    }

    /// A collection of Vectors on a domain, by component; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::vectors`](crate::input::Inputs::vectors).
    pub fn vectors(&mut self, name: &str, domain: &Arc<Domain>) -> Result<Vec<CollectionInput>, Error> {
        // All components are read with the first.
        let component = |axis: usize| {
            self.read(domain, |inputs, parameters, _, domain| inputs.vectors(parameters, name, domain).map(|all| all[axis].clone()))
        };
        (0..domain.grid().dim()).map(component).collect()
    }

    /// A collection of Bools on a domain; read once per name and domain.
    ///
    /// # Errors
    /// See [`Inputs::bools`](crate::input::Inputs::bools).
    pub fn bools(&mut self, name: &str, domain: &Arc<Domain>) -> Result<CollectionInput<bool>, Error> {
        self.read(domain, |inputs, parameters, _, domain| inputs.bools(parameters, name, domain))
    }

    /// Reads a collection on a domain, or on ranks on the whole one.
    fn read<T: Wire>(
        &mut self,
        domain: &Arc<Domain>,
        read: impl Fn(&mut Inputs, &Parameters, &Grid, &Arc<Domain>) -> Result<CollectionInput<T>, Error>,
    ) -> Result<CollectionInput<T>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let (inputs, run) = (&mut *self.inputs, &mut *self.run);
        let result = match &mut self.rank {
            Some(rank) => rank.read(domain, run, |grid, whole, run| read(inputs, &run.parameters, grid, whole)),
            None => read(inputs, &run.parameters, self.grid, domain),
        };
        let result = result.map_err(|error| self.run.locate(error));
        self.tell();
        result
    }

    /// A domain within another; read once per name and superset.
    ///
    /// # Errors
    /// See [`Inputs::domain`](crate::input::Inputs::domain).
    pub fn domain(&mut self, name: &str, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
        let _phase = self.run.in_phase(Phase::Read);
        let (inputs, run) = (&mut *self.inputs, &mut *self.run);
        let domain = match &mut self.rank {
            Some(rank) => rank.read_domain(name, within, run, |grid, whole, run| inputs.domain(&run.parameters, grid, name, whole)),
            None => inputs.domain(&run.parameters, self.grid, name, within),
        };
        let domain = domain.map_err(|error| self.run.locate(error));
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
