//! Values in plain vectors, for the interpreter, the tests and comparisons between back-ends.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::math::table::Table;
use equelle_runtime::{EntityKind, Error, ErrorKind, HostAccess, Real};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection, VectorCollection};
use super::pool::Values;
use super::vectors;

impl<R: Real> HostAccess for SerialRuntime<R> {
    fn grid(&self) -> &Grid {
        SerialRuntime::grid(self)
    }

    fn scalar_value(&mut self, s: &f64) -> Result<f64, Error> {
        Ok(*s)
    }

    fn bool_value(&mut self, b: &bool) -> Result<bool, Error> {
        Ok(*b)
    }

    fn vector_value(&mut self, v: &[f64; 3]) -> Result<Vec<f64>, Error> {
        Ok(v[..self.grid().dim()].to_vec())
    }

    fn vector_from(&mut self, components: &[f64]) -> Result<[f64; 3], Error> {
        self.located(vectors::single(self, components))
    }

    fn table_numbers(&self, table: &Arc<Table>) -> Vec<f64> {
        table.numbers().to_vec()
    }

    fn domain_elements(&mut self, domain: &Arc<Domain>) -> Result<Vec<u32>, Error> {
        Ok(domain.elements().to_vec())
    }

    fn values(&mut self, c: &ScalarCollection<R>) -> Result<Vec<f64>, Error> {
        // Interpreted kernels read values here.
        self.note_lost_derivatives(c.jacobian.is_some());
        Ok(R::slice_to_f64(&self.values_of(c)))
    }

    fn vectors(&mut self, c: &VectorCollection<R>) -> Result<Vec<Vec<f64>>, Error> {
        // Interpreted kernels read values here.
        self.note_lost_derivatives(c.has_derivatives());
        Ok(c.components().map(|component| R::slice_to_f64(component)).collect())
    }

    fn bools(&mut self, c: &BoolCollection) -> Result<Vec<bool>, Error> {
        Ok(c.values.to_vec())
    }

    fn entity_indices(&mut self, c: &EntityCollection) -> Result<Vec<Option<u32>>, Error> {
        Ok(c.values.iter().map(|&entity| (entity != NONE).then_some(entity)).collect())
    }

    fn scalar_collection(&mut self, domain: &Arc<Domain>, values: Vec<f64>) -> Result<ScalarCollection<R>, Error> {
        self.located(check_length(domain, values.len()))?;
        Ok(ScalarCollection::new(domain, self.reals.adopt(R::vec_from_f64(values))))
    }

    fn vector_collection(&mut self, domain: &Arc<Domain>, components: Vec<Vec<f64>>) -> Result<VectorCollection<R>, Error> {
        let dim = self.grid().dim();
        if components.len() != dim {
            let message = format!("{} components given for vectors on a grid of dimension {dim}", components.len());
            return self.located(Err(Error::new(ErrorKind::Data, message)));
        }
        for component in &components {
            self.located(check_length(domain, component.len()))?;
        }
        let mut components = components.into_iter().map(|component| self.reals.adopt(R::vec_from_f64(component)));
        let components: [Option<Values<R>>; 3] = std::array::from_fn(|_| components.next());
        Ok(VectorCollection { domain: Arc::clone(domain), components, jacobians: Default::default() })
    }

    fn bool_collection(&mut self, domain: &Arc<Domain>, values: Vec<bool>) -> Result<BoolCollection, Error> {
        self.located(check_length(domain, values.len()))?;
        Ok(BoolCollection { domain: Arc::clone(domain), values: self.bools.adopt(values) })
    }

    fn entity_collection(&mut self, domain: &Arc<Domain>, kind: EntityKind, values: Vec<Option<u32>>) -> Result<EntityCollection, Error> {
        self.located(check_length(domain, values.len()))?;
        let values = values.into_iter().map(|entity| entity.unwrap_or(NONE)).collect();
        Ok(EntityCollection { domain: Arc::clone(domain), kind, values: self.indices.adopt(values) })
    }
}

fn check_length(domain: &Domain, len: usize) -> Result<(), Error> {
    if len == domain.len() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Data, format!("{len} values given for a domain of {} elements", domain.len())))
}
