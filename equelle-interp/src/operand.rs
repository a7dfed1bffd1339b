//! Operands of kernels: values, parameters on the host, elements of sets.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::value::defect;

/// Value of an expression. Unused components of Vectors are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Real(f64),
    Vector([f64; 3]),
    Bool(bool),
    /// Only as a result of a kernel.
    Entity(Option<u32>),
}

impl Number {
    pub fn real(self) -> Result<f64, Error> {
        match self {
            Number::Real(v) => Ok(v),
            Number::Vector(_) | Number::Bool(_) | Number::Entity(_) => Err(defect("a Scalar is needed")),
        }
    }

    pub fn vector(self) -> Result<[f64; 3], Error> {
        match self {
            Number::Vector(v) => Ok(v),
            Number::Real(_) | Number::Bool(_) | Number::Entity(_) => Err(defect("a Vector is needed")),
        }
    }

    pub fn bool(self) -> Result<bool, Error> {
        match self {
            Number::Bool(v) => Ok(v),
            Number::Real(_) | Number::Vector(_) | Number::Entity(_) => Err(defect("a Bool is needed")),
        }
    }

    pub fn entity(self) -> Result<Option<u32>, Error> {
        match self {
            Number::Entity(v) => Ok(v),
            Number::Real(_) | Number::Vector(_) | Number::Bool(_) => Err(defect("an entity is needed")),
        }
    }
}

/// A parameter on the host.
pub(crate) enum Bound {
    Single(Number),
    Scalars(Vec<f64>),
    /// By component.
    Vectors(Vec<Vec<f64>>),
    Bools(Vec<bool>),
    Entities(Vec<Option<u32>>),
    /// Its numbers.
    Table(Vec<f64>),
    Domain,
}

/// Elements of a set, ascending.
#[derive(Clone)]
pub(crate) enum Members {
    /// 0 to n-1.
    All(usize),
    Some(Rc<Vec<u32>>),
}

impl Members {
    /// Position of an entity.
    pub fn rank(&self, entity: u32) -> Option<usize> {
        match self {
            Members::All(n) => ((entity as usize) < *n).then_some(entity as usize),
            Members::Some(elements) => elements.binary_search(&entity).ok(),
        }
    }

    pub fn to_vec(&self) -> Vec<u32> {
        match self {
            Members::All(n) => (0..*n as u32).collect(),
            Members::Some(elements) => elements.to_vec(),
        }
    }
}
