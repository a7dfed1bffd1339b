//! Variables of a program, interpreted or generated, for who follows its run.

use std::fmt;
use std::sync::Arc;

use crate::checkpoint::Checkpoint;
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::observer::{RunState, StateValue};
use crate::operators::Reduction;
use crate::output::StepTime;
use crate::params::near_match;
use crate::traits::EquelleRuntime;

/// A mutable variable of a program.
pub enum Variable<'a, R: EquelleRuntime> {
    /// A Scalar.
    Scalar(&'a mut R::Scalar),
    /// A Bool.
    Bool(&'a mut R::Bool),
    /// A Vector.
    Vector(&'a mut R::Vector),
    /// A Collection Of Scalar.
    Collection(&'a mut R::ScalarCollection),
    /// A Collection Of Bool.
    Bools(&'a mut R::BoolCollection),
    /// A Collection Of Vector.
    Vectors(&'a mut R::VectorCollection),
    /// Another type, in words: it is neither read nor written.
    Other(&'static str),
}

impl<R: EquelleRuntime> Variable<'_, R> {
    /// The type in words.
    fn kind(&self) -> &'static str {
        match self {
            Variable::Scalar(_) => "a Scalar",
            Variable::Bool(_) => "a Bool",
            Variable::Vector(_) => "a Vector",
            Variable::Collection(_) => "a Collection Of Scalar",
            Variable::Bools(_) => "a Collection Of Bool",
            Variable::Vectors(_) => "a Collection Of Vector",
            Variable::Other(kind) => kind,
        }
    }
}

impl<R: EquelleRuntime> fmt::Debug for Variable<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// Calls of programs at the end of a round.
pub trait Observed: Checkpoint {
    /// True if somebody follows the run.
    fn is_observed(&mut self) -> bool {
        self.session().observer.is_some()
    }

    /// Shows the state to who follows the run, who may change it.
    ///
    /// # Errors
    /// Those of the observer.
    fn round_is_over(&mut self, variables: &mut [(&str, Variable<'_, Self>)]) -> Result<(), Error> {
        let Some(mut observer) = self.session().observer.take() else { return Ok(()) };
        let result = observer(&mut Between { rt: self, variables });
        self.session().observer = Some(observer);
        result
    }
}

impl<R: Checkpoint> Observed for R {}

/// The state between two rounds.
struct Between<'a, 'n, 'v, R: EquelleRuntime> {
    rt: &'a mut R,
    variables: &'a mut [(&'n str, Variable<'v, R>)],
}

impl<R: Checkpoint> Between<'_, '_, '_, R> {
    fn position(&self, name: &str) -> Result<usize, Error> {
        let position = self.variables.iter().position(|(known, _)| *known == name);
        position.ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("the program has no mutable variable `{name}`"));
            match near_match(name, self.variables.iter().map(|(known, _)| *known)) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None if self.variables.is_empty() => error.hint("only what is declared `Mutable` is state of a run"),
                None => error.hint(format!("there are {}", self.variables().join(", "))),
            }
        })
    }
}

impl<R: Checkpoint> RunState for Between<'_, '_, '_, R> {
    fn moment(&mut self) -> StepTime {
        self.rt.session().outputs().moment()
    }

    fn variables(&self) -> Vec<String> {
        self.variables.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn read(&mut self, name: &str) -> Result<StateValue, Error> {
        let position = self.position(name)?;
        let Between { rt, variables } = self;
        Ok(match &variables[position].1 {
            Variable::Scalar(value) => StateValue::Scalar(rt.scalar_value(value)?),
            Variable::Bool(value) => StateValue::Bool(rt.bool_value(value)?),
            Variable::Vector(value) => StateValue::Vector(rt.vector_value(value)?),
            Variable::Collection(values) => {
                let domain = rt.domain_of(&**values);
                StateValue::Scalars(in_file_order(&domain, rt.values(values)?))
            }
            Variable::Bools(values) => {
                let domain = rt.domain_of(&**values);
                StateValue::Bools(in_file_order(&domain, rt.bools(values)?))
            }
            Variable::Vectors(values) => {
                let domain = rt.domain_of(&**values);
                let components: Vec<Vec<f64>> = rt.vectors(values)?.into_iter().map(|values| in_file_order(&domain, values)).collect();
                let dim = components.len();
                let rows = (0..domain.len()).flat_map(|element| components.iter().map(move |component| component[element]));
                StateValue::Vectors { dim, values: rows.collect() }
            }
            Variable::Other(kind) => {
                return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {kind}, which is not read between rounds")));
            }
        })
    }

    fn write(&mut self, name: &str, value: StateValue) -> Result<(), Error> {
        let position = self.position(name)?;
        let Between { rt, variables } = self;
        let dim = rt.grid().dim();
        let fits = |domain: &Domain, found: usize| match domain.len() {
            len if len == found => Ok(()),
            len => Err(Error::new(ErrorKind::Usage, format!("`{name}` has {len} elements, and {found} were given"))),
        };
        match (&mut variables[position].1, value) {
            (Variable::Scalar(variable), StateValue::Scalar(value)) => {
                let value = rt.scalar(value);
                rt.assign(*variable, value);
            }
            (Variable::Bool(variable), StateValue::Bool(value)) => {
                let value = rt.bool(value);
                rt.assign(*variable, value);
            }
            (Variable::Vector(variable), StateValue::Vector(values)) if values.len() == dim => {
                let value = rt.vector_from(&values)?;
                rt.assign(*variable, value);
            }
            (Variable::Collection(variable), StateValue::Scalars(values)) => {
                let domain = rt.domain_of(&**variable);
                fits(&domain, values.len())?;
                let values = rt.scalar_collection(&domain, domain.from_file_order(values))?;
                rt.assign(*variable, values);
            }
            (Variable::Bools(variable), StateValue::Bools(values)) => {
                let domain = rt.domain_of(&**variable);
                fits(&domain, values.len())?;
                let values = rt.bool_collection(&domain, domain.from_file_order(values))?;
                rt.assign(*variable, values);
            }
            (Variable::Vectors(variable), StateValue::Vectors { dim: axes, values }) if axes == dim => {
                let domain = rt.domain_of(&**variable);
                fits(&domain, values.len() / dim)?;
                let component = |axis: usize| domain.from_file_order(values.iter().skip(axis).step_by(dim).copied().collect());
                let values = rt.vector_collection(&domain, (0..dim).map(component).collect())?;
                rt.assign(*variable, values);
            }
            (variable, _) => {
                return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {}, and something else was given", variable.kind())));
            }
        }
        Ok(())
    }

    fn reduce(&mut self, name: &str, reduction: Reduction) -> Result<f64, Error> {
        let position = self.position(name)?;
        let Between { rt, variables } = self;
        let Variable::Collection(values) = &variables[position].1 else {
            let kind = variables[position].1.kind();
            return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {kind}, and collections of Scalars are reduced")));
        };
        let reduced = rt.reduce(reduction, &**values)?;
        rt.scalar_value(&reduced)
    }

    fn cells(&mut self) -> Option<Vec<usize>> {
        self.rt.grid().closed_shape().map(|shape| shape.n[..shape.dim].to_vec())
    }
}

fn in_file_order<T: Copy>(domain: &Arc<Domain>, values: Vec<T>) -> Vec<T> {
    if domain.has_file_order() { values } else { domain.in_file_order(&values).into_owned() }
}
