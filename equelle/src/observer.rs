//! Runs that the caller follows: their state after each round of a loop of the main program.

use std::sync::Arc;

use equelle_interp::observer::{Observer, Round};
use equelle_interp::value::Value;
use equelle_runtime::output::StepTime;
use equelle_runtime::{DerivativeAccess, Domain, Error, ErrorKind, Reduction};

/// The value of a variable; elements are in the order of the grid's file.
#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    /// One number.
    Scalar(f64),
    /// One truth value.
    Bool(bool),
    /// One Vector, `[dim]`.
    Vector(Vec<f64>),
    /// A number for each element.
    Scalars(Vec<f64>),
    /// A truth value for each element.
    Bools(Vec<bool>),
    /// A Vector for each element, `[n * dim]`, element by element.
    Vectors {
        /// Axes of space.
        dim: usize,
        /// Components, element by element.
        values: Vec<f64>,
    },
}

/// The state of a run between two rounds.
pub trait RunState {
    /// Step and time of the round that is over.
    fn moment(&mut self) -> StepTime;

    /// Names of the mutable variables that have a value.
    fn variables(&self) -> Vec<String>;

    /// A copy of a variable.
    ///
    /// # Errors
    /// `Usage` if there is none of that name, or it cannot be read; those of the device.
    fn read(&mut self, name: &str) -> Result<StateValue, Error>;

    /// Gives a variable another value of its type and size.
    ///
    /// # Errors
    /// `Usage` if there is none of that name, or the value does not fit; those of the device.
    fn write(&mut self, name: &str, value: StateValue) -> Result<(), Error>;

    /// A reduction of a collection of numbers, where the run has it.
    ///
    /// # Errors
    /// `Usage` if there is no such collection; those of the device.
    fn reduce(&mut self, name: &str, reduction: Reduction) -> Result<f64, Error>;
}

/// Called after each round; an error ends the run.
pub type OnRound<'a> = dyn FnMut(&mut dyn RunState) -> Result<(), Error> + 'a;

/// Calls a function after each round.
pub(crate) struct Watch<'a, 'b>(pub &'a mut OnRound<'b>);

impl<R: DerivativeAccess<Domain = Arc<Domain>>> Observer<R> for Watch<'_, '_> {
    fn round(&mut self, round: &mut Round<'_, R>) -> Result<(), Error> {
        (self.0)(&mut Between(round))
    }
}

struct Between<'a, 'r, R: DerivativeAccess>(&'a mut Round<'r, R>);

impl<R: DerivativeAccess<Domain = Arc<Domain>>> Between<'_, '_, R> {
    fn value(&self, name: &str) -> Result<Value<R>, Error> {
        self.0.value(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = self.0.variables().map(|(known, _)| known).collect();
            let error = Error::new(ErrorKind::Usage, format!("the program has no mutable variable `{name}`"));
            match equelle_runtime::params::near_match(name, names.iter().copied()) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None if names.is_empty() => error.hint("only what is declared `Mutable` is state of a run"),
                None => error.hint(format!("there are {}", names.join(", "))),
            }
        })
    }
}

impl<R: DerivativeAccess<Domain = Arc<Domain>>> RunState for Between<'_, '_, R> {
    fn moment(&mut self) -> StepTime {
        self.0.rt().session().moment()
    }

    fn variables(&self) -> Vec<String> {
        self.0.variables().map(|(name, _)| name.to_owned()).collect()
    }

    fn read(&mut self, name: &str) -> Result<StateValue, Error> {
        let value = self.value(name)?;
        let rt = self.0.rt();
        Ok(match value {
            Value::Scalar(value) => StateValue::Scalar(rt.scalar_value(&value)?),
            Value::Bool(value) => StateValue::Bool(rt.bool_value(&value)?),
            Value::Vector(value) => StateValue::Vector(rt.vector_value(&value)?),
            Value::Scalars(values) => {
                let domain = rt.domain_of(&values);
                StateValue::Scalars(in_file_order(&domain, rt.values(&values)?))
            }
            Value::Bools(values) => {
                let domain = rt.domain_of_bools(&values);
                StateValue::Bools(in_file_order(&domain, rt.bools(&values)?))
            }
            Value::Vectors(values) => {
                let domain = rt.domain_of_vectors(&values);
                let components: Vec<Vec<f64>> = rt.vectors(&values)?.into_iter().map(|values| in_file_order(&domain, values)).collect();
                let dim = components.len();
                let rows = (0..domain.len()).flat_map(|element| components.iter().map(move |component| component[element]));
                StateValue::Vectors { dim, values: rows.collect() }
            }
            Value::Text(_) | Value::Sequence(_) | Value::Table(_) | Value::Domain(_) | Value::Entities(_) => {
                return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {}, which is not read between rounds", value.kind())));
            }
        })
    }

    fn write(&mut self, name: &str, value: StateValue) -> Result<(), Error> {
        let before = self.value(name)?;
        let rt = self.0.rt();
        let fits = |domain: &Domain, found: usize| match domain.len() {
            len if len == found => Ok(()),
            len => Err(Error::new(ErrorKind::Usage, format!("`{name}` has {len} elements, and {found} were given"))),
        };
        let changed = match (&before, value) {
            (Value::Scalar(_), StateValue::Scalar(value)) => Value::Scalar(rt.scalar(value)),
            (Value::Bool(_), StateValue::Bool(value)) => Value::Bool(rt.bool(value)),
            (Value::Vector(_), StateValue::Vector(values)) if values.len() == rt.grid().dim() => Value::Vector(rt.vector_from(&values)?),
            (Value::Scalars(old), StateValue::Scalars(values)) => {
                let domain = rt.domain_of(old);
                fits(&domain, values.len())?;
                Value::Scalars(rt.scalar_collection(&domain, domain.from_file_order(values))?)
            }
            (Value::Bools(old), StateValue::Bools(values)) => {
                let domain = rt.domain_of_bools(old);
                fits(&domain, values.len())?;
                Value::Bools(rt.bool_collection(&domain, domain.from_file_order(values))?)
            }
            (Value::Vectors(old), StateValue::Vectors { dim, values }) if dim == rt.grid().dim() => {
                let domain = rt.domain_of_vectors(old);
                fits(&domain, values.len() / dim)?;
                let component = |axis: usize| domain.from_file_order(values.iter().skip(axis).step_by(dim).copied().collect());
                Value::Vectors(rt.vector_collection(&domain, (0..dim).map(component).collect())?)
            }
            (_, _) => {
                return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {}, and something else was given", before.kind())));
            }
        };
        drop(before);
        self.0.set(name, changed)
    }

    fn reduce(&mut self, name: &str, reduction: Reduction) -> Result<f64, Error> {
        let value = self.value(name)?;
        let rt = self.0.rt();
        let Value::Scalars(values) = value else {
            return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {}, and collections of Scalars are reduced", value.kind())));
        };
        let reduced = rt.reduce(reduction, &values)?;
        rt.scalar_value(&reduced)
    }
}

fn in_file_order<T: Copy>(domain: &Domain, values: Vec<T>) -> Vec<T> {
    if domain.has_file_order() { values } else { domain.in_file_order(&values).into_owned() }
}
