//! Outputs, checks and exchanges of values of each type.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::ranks::RankWork;
use equelle_runtime::wire::Wire;
use equelle_runtime::{Check, Error, Exchange, Output, Real, Session};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection, Storage, VectorCollection};
use super::pool::Values;

/// Brings values of the halo from their owners, if this is a rank; into a copy where others hold
/// the values.
fn exchange_values<T: Wire>(session: &Session, domain: &Arc<Domain>, values: &mut Values<T>, depth: u32) -> Result<(), Error> {
    let Some(rank) = session.rank() else { return Ok(()) };
    let _time = rank.progress().work().time(RankWork::Exchange);
    let mut buffer = values.take().into_buffer();
    rank.exchange(domain, &mut buffer, depth).map_err(|error| session.locate(error))?;
    *values = buffer.share();
    Ok(())
}

impl<R: Real> Exchange<ScalarCollection<R>> for SerialRuntime<R> {
    fn exchange(&mut self, values: &mut ScalarCollection<R>, depth: u32) -> Result<(), Error> {
        match &mut values.storage {
            Storage::Dense(dense) => exchange_values(&self.session, &values.domain, dense, depth),
            // The same on all ranks.
            Storage::PerAxis(_) => Ok(()),
        }
    }
}

impl<R: Real> Exchange<VectorCollection<R>> for SerialRuntime<R> {
    fn exchange(&mut self, values: &mut VectorCollection<R>, depth: u32) -> Result<(), Error> {
        let mut components = values.components.iter_mut().flatten();
        components.try_for_each(|component| exchange_values(&self.session, &values.domain, component, depth))
    }
}

impl<R: Real> Exchange<BoolCollection> for SerialRuntime<R> {
    fn exchange(&mut self, values: &mut BoolCollection, depth: u32) -> Result<(), Error> {
        exchange_values(&self.session, &values.domain, &mut values.values, depth)
    }
}

impl<R: Real> Output<f64> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &f64) -> Result<(), Error> {
        self.session.outputs().scalar(tag, *value)
    }
}

impl<R: Real> Output<ScalarCollection<R>> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &ScalarCollection<R>) -> Result<(), Error> {
        let values = self.values_of(value);
        self.session.outputs().collection(tag, &value.domain, &values)
    }
}

impl<R: Real> Output<bool> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &bool) -> Result<(), Error> {
        self.session.outputs().bool(tag, *value)
    }
}

impl<R: Real> Output<[f64; 3]> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &[f64; 3]) -> Result<(), Error> {
        let dim = self.grid().dim();
        self.session.outputs().vector(tag, &value[..dim])
    }
}

impl<R: Real> Output<VectorCollection<R>> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &VectorCollection<R>) -> Result<(), Error> {
        let components: Vec<&[R]> = value.components().map(|component| &component[..]).collect();
        self.session.outputs().vectors(tag, &value.domain, &components)
    }
}

impl<R: Real> Output<BoolCollection> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &BoolCollection) -> Result<(), Error> {
        self.session.outputs().bools(tag, &value.domain, &value.values)
    }
}

impl<R: Real> Output<EntityCollection> for SerialRuntime<R> {
    fn output(&mut self, tag: &str, value: &EntityCollection) -> Result<(), Error> {
        self.session.outputs().entities(tag, &value.domain, value.kind, &value.values)
    }
}

impl<R: Real> Check<f64> for SerialRuntime<R> {
    fn check(&mut self, name: &str, value: &f64) -> Result<(), Error> {
        self.session.check_numbers(name, &[*value])
    }
}

impl<R: Real> Check<[f64; 3]> for SerialRuntime<R> {
    fn check(&mut self, name: &str, value: &[f64; 3]) -> Result<(), Error> {
        let dim = self.grid().dim();
        self.session.check_numbers(name, &value[..dim])
    }
}

impl<R: Real> Check<ScalarCollection<R>> for SerialRuntime<R> {
    fn check(&mut self, name: &str, value: &ScalarCollection<R>) -> Result<(), Error> {
        let values = self.values_of(value);
        self.session.check_collection(name, &value.domain, &[&values])
    }
}

impl<R: Real> Check<VectorCollection<R>> for SerialRuntime<R> {
    fn check(&mut self, name: &str, value: &VectorCollection<R>) -> Result<(), Error> {
        let components: Vec<&[R]> = value.components().map(|component| &component[..]).collect();
        self.session.check_collection(name, &value.domain, &components)
    }
}
