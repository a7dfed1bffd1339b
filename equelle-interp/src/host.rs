//! Operations that the runtime has no method for, on host values.

use equelle_front::ops::{Comparison, Logic};
use equelle_front::types::{SetId, Type};
use equelle_runtime::{Error, HostAccess, Implicit};

use crate::operation::unfit;
use crate::program::Interpreter;
use crate::value::{Value, compare, defect, logic};

impl<R: Implicit + HostAccess> Interpreter<'_, R> {
    fn result_domain(&mut self, ty: Type) -> Result<R::Domain, Error> {
        let set: SetId = ty.mapping().ok_or_else(|| defect("a collection results from collections only"))?;
        self.domain(set)
    }

    fn bools_result(&mut self, values: Vec<bool>, ty: Type) -> Result<Value<R>, Error> {
        let domain = self.result_domain(ty)?;
        Ok(Value::Bools(self.rt.bool_collection(&domain, values)?))
    }

    /// Comparison of plain Scalars and Bools, of Collections Of Bool, of entities.
    pub fn host_compare(&mut self, op: Comparison, a: &Value<R>, b: &Value<R>, ty: Type) -> Result<Value<R>, Error> {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                let (a, b) = (self.rt.scalar_value(a)?, self.rt.scalar_value(b)?);
                Ok(Value::Bool(compare(op, &a, &b)))
            }
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(compare(op, a, b))),
            (Value::Bools(_) | Value::Bool(_), Value::Bools(_) | Value::Bool(_)) => {
                let (a, b) = self.two_bools(a, b)?;
                self.bools_result(a.iter().zip(&b).map(|(a, b)| compare(op, a, b)).collect(), ty)
            }
            (Value::Entities(_) | Value::Domain(_), Value::Entities(_) | Value::Domain(_)) => {
                let (a, b) = (self.entities(a)?, self.entities(b)?);
                let (a, b) = (self.rt.entity_indices(&a)?, self.rt.entity_indices(&b)?);
                self.bools_result(a.iter().zip(&b).map(|(a, b)| compare(op, a, b)).collect(), ty)
            }
            (a, b) => Err(unfit(&format!("{op:?}"), &[a, b])),
        }
    }

    /// Logic of a Collection Of Bool and a Bool.
    pub fn host_logic(&mut self, op: Logic, a: &Value<R>, b: &Value<R>, ty: Type) -> Result<Value<R>, Error> {
        let (a, b) = self.two_bools(a, b)?;
        self.bools_result(a.iter().zip(&b).map(|(&a, &b)| logic(op, a, b)).collect(), ty)
    }

    /// Two lists of one length; a single Bool is repeated.
    fn two_bools(&mut self, a: &Value<R>, b: &Value<R>) -> Result<(Vec<bool>, Vec<bool>), Error> {
        match (a, b) {
            (Value::Bools(a), Value::Bools(b)) => Ok((self.rt.bools(a)?, self.rt.bools(b)?)),
            (Value::Bools(a), Value::Bool(b)) => {
                let a = self.rt.bools(a)?;
                let n = a.len();
                Ok((a, vec![*b; n]))
            }
            (Value::Bool(a), Value::Bools(b)) => {
                let b = self.rt.bools(b)?;
                Ok((vec![*a; b.len()], b))
            }
            (a, b) => Err(unfit("an operation on Bools", &[a, b])),
        }
    }

    /// Choice among Bools and Vectors.
    pub fn host_select(&mut self, condition: &Value<R>, a: &Value<R>, b: &Value<R>, ty: Type) -> Result<Value<R>, Error> {
        let Value::Bools(condition) = condition else { return Err(unfit("a choice", &[condition])) };
        let condition = self.rt.bools(condition)?;
        match (a, b) {
            (Value::Bools(a), Value::Bools(b)) => {
                let (a, b) = (self.rt.bools(a)?, self.rt.bools(b)?);
                self.bools_result(choose(&condition, &a, &b), ty)
            }
            (Value::Vectors(a), Value::Vectors(b)) => {
                let (a, b) = (self.rt.vectors(a)?, self.rt.vectors(b)?);
                let components = a.iter().zip(&b).map(|(a, b)| choose(&condition, a, b)).collect();
                let domain = self.result_domain(ty)?;
                Ok(Value::Vectors(self.rt.vector_collection(&domain, components)?))
            }
            (a, b) => Err(unfit("a choice", &[a, b])),
        }
    }
}

fn choose<T: Copy>(condition: &[bool], a: &[T], b: &[T]) -> Vec<T> {
    condition.iter().zip(a.iter().zip(b)).map(|(&c, (&a, &b))| if c { a } else { b }).collect()
}
