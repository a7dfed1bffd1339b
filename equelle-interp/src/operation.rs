//! Operations: each is one call of the runtime, where the runtime has a method for it.

use equelle_front::ir::{Op, UnaryOp, ValueId};
use equelle_front::ops::{Arithmetic, Logic};
use equelle_front::types::Type;
use equelle_runtime::{Error, HostAccess, Implicit};

use crate::program::{Frame, Interpreter};
use crate::value::{Value, canonical_set, comparison, defect, logic, reduction};

impl<R: Implicit + HostAccess> Interpreter<'_, R> {
    /// An operation of one result, which is of type `ty`.
    pub fn operation(&mut self, frame: &Frame<'_, R>, op: &Op, ty: Type) -> Result<Value<R>, Error> {
        let v = |id: &ValueId| frame.value(*id);
        Ok(match op {
            Op::Real(x) => Value::Scalar(self.rt.scalar(*x)),
            Op::Bool(b) => Value::Bool(*b),
            Op::Text(t) => Value::Text(t.clone()),
            Op::CanonicalSet(set) => Value::Domain(self.rt.domain(canonical_set(*set))?),
            Op::InputScalar { name, default } => match (v(name)?, v(default)?) {
                (Value::Text(name), Value::Scalar(default)) => Value::Scalar(self.rt.input_scalar(name, default)?),
                (a, b) => return Err(unfit("InputScalar", &[a, b])),
            },
            Op::InputCollection { name, domain } => match (v(name)?, v(domain)?) {
                (Value::Text(name), Value::Domain(domain)) => Value::Scalars(self.rt.input_collection(name, domain)?),
                (a, b) => return Err(unfit("InputCollection", &[a, b])),
            },
            Op::InputDomain { name, within } => match (v(name)?, v(within)?) {
                (Value::Text(name), Value::Domain(within)) => Value::Domain(self.rt.input_domain(name, within)?),
                (a, b) => return Err(unfit("InputDomain", &[a, b])),
            },
            Op::InputSequence { name } => match v(name)? {
                Value::Text(name) => Value::Sequence(self.rt.input_sequence(name)?),
                a => return Err(unfit("InputSequence", &[a])),
            },
            Op::FirstCell(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Entities(self.rt.first_cell(&faces)?)
            }
            Op::SecondCell(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Entities(self.rt.second_cell(&faces)?)
            }
            Op::IsEmpty(a) => {
                let entities = self.entities(v(a)?)?;
                Value::Bools(self.rt.is_empty(&entities)?)
            }
            Op::Centroid(a) => {
                let entities = self.entities(v(a)?)?;
                Value::Vectors(self.rt.centroid(&entities)?)
            }
            Op::Normal(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Vectors(self.rt.normal(&faces)?)
            }
            Op::Measure(a) => {
                let entities = self.entities(v(a)?)?;
                Value::Scalars(self.rt.measure(&entities)?)
            }
            Op::Unary(op, a) => self.unary(*op, v(a)?)?,
            Op::Arithmetic(op, a, b) => self.arithmetic(*op, v(a)?, v(b)?)?,
            Op::Compare(op, a, b) => match (v(a)?, v(b)?) {
                (Value::Scalars(a), Value::Scalars(b)) => Value::Bools(self.rt.compare(comparison(*op), a, b)?),
                (Value::Scalars(a), Value::Scalar(b)) => Value::Bools(self.rt.compare_scalar(comparison(*op), a, b)?),
                (Value::Scalar(a), Value::Scalars(b)) => Value::Bools(self.rt.scalar_compare(comparison(*op), a, b)?),
                (a, b) => self.host_compare(*op, a, b, ty)?,
            },
            Op::Logic(op, a, b) => match (op, v(a)?, v(b)?) {
                (op, Value::Bool(a), Value::Bool(b)) => Value::Bool(logic(*op, *a, *b)),
                (Logic::And, Value::Bools(a), Value::Bools(b)) => Value::Bools(self.rt.and(a, b)?),
                (Logic::Or, Value::Bools(a), Value::Bools(b)) => Value::Bools(self.rt.or(a, b)?),
                (Logic::Xor, Value::Bools(a), Value::Bools(b)) => Value::Bools(self.rt.xor(a, b)?),
                (op, a, b) => self.host_logic(*op, a, b, ty)?,
            },
            Op::Select { condition, if_true, if_false } => self.select(v(condition)?, v(if_true)?, v(if_false)?, ty)?,
            Op::On { data, target } => {
                let target = self.entities(v(target)?)?;
                match v(data)? {
                    Value::Scalars(data) => Value::Scalars(self.rt.on(data, &target)?),
                    Value::Vectors(data) => Value::Vectors(self.rt.on_vectors(data, &target)?),
                    Value::Bools(data) => Value::Bools(self.rt.on_bools(data, &target)?),
                    data => {
                        let data = self.entities(data)?;
                        Value::Entities(self.rt.on_entities(&data, &target)?)
                    }
                }
            }
            Op::Extend { data, domain } => {
                let Value::Domain(domain) = v(domain)? else { return Err(unfit("Extend", &[v(domain)?])) };
                match v(data)? {
                    Value::Scalars(data) => Value::Scalars(self.rt.extend(data, domain)?),
                    Value::Vectors(data) => Value::Vectors(self.rt.extend_vectors(data, domain)?),
                    Value::Bools(data) => Value::Bools(self.rt.extend_bools(data, domain)?),
                    data => {
                        let data = self.entities(data)?;
                        Value::Entities(self.rt.extend_entities(&data, domain)?)
                    }
                }
            }
            Op::Spread { value, domain } => match (v(value)?, v(domain)?) {
                (Value::Scalar(value), Value::Domain(domain)) => Value::Scalars(self.rt.spread(value, domain)?),
                (Value::Bool(value), Value::Domain(domain)) => {
                    let n = self.rt.domain_elements(domain)?.len();
                    Value::Bools(self.rt.bool_collection(domain, vec![*value; n])?)
                }
                (a, b) => return Err(unfit("Spread", &[a, b])),
            },
            Op::Gradient(a) => match v(a)? {
                Value::Scalars(a) => Value::Scalars(self.rt.gradient(a)?),
                a => return Err(unfit("Gradient", &[a])),
            },
            Op::Divergence(a) => match v(a)? {
                Value::Scalars(a) => Value::Scalars(self.rt.divergence(a)?),
                a => return Err(unfit("Divergence", &[a])),
            },
            Op::Dot(a, b) => match (v(a)?, v(b)?) {
                (Value::Vectors(a), Value::Vectors(b)) => Value::Scalars(self.rt.dot(a, b)?),
                (a, b) => return Err(unfit("Dot", &[a, b])),
            },
            Op::Component(a, i) => match v(a)? {
                Value::Vectors(a) => Value::Scalars(self.rt.component(a, *i as usize)?),
                a => return Err(unfit("a component", &[a])),
            },
            Op::Reduce(op, a) => match v(a)? {
                Value::Scalars(a) => Value::Scalar(self.rt.reduce(reduction(*op), a)?),
                a => return Err(unfit("a reduction", &[a])),
            },
            Op::Load(_) | Op::Call { .. } | Op::Newton { .. } => return Err(defect("this operation is one of the program's control")),
        })
    }

    /// A collection of entities, or the entities of a domain.
    pub fn entities(&mut self, value: &Value<R>) -> Result<R::EntityCollection, Error> {
        match value {
            Value::Entities(entities) => Ok(entities.clone()),
            Value::Domain(domain) => self.rt.entities(domain),
            other => Err(unfit("an operation on entities", &[other])),
        }
    }

    fn unary(&mut self, op: UnaryOp, a: &Value<R>) -> Result<Value<R>, Error> {
        Ok(match (op, a) {
            (UnaryOp::Neg, Value::Scalar(a)) => Value::Scalar(self.rt.scalar_neg(a)?),
            (UnaryOp::Neg, Value::Scalars(a)) => Value::Scalars(self.rt.neg(a)?),
            (UnaryOp::Neg, Value::Vectors(a)) => Value::Vectors(self.rt.vector_neg(a)?),
            (UnaryOp::Neg, Value::Sequence(a)) => Value::Sequence(self.rt.sequence_neg(a)?),
            (UnaryOp::Not, Value::Bool(a)) => Value::Bool(!a),
            (UnaryOp::Not, Value::Bools(a)) => Value::Bools(self.rt.not(a)?),
            (UnaryOp::Abs, Value::Scalar(a)) => Value::Scalar(self.rt.scalar_abs(a)?),
            (UnaryOp::Abs, Value::Scalars(a)) => Value::Scalars(self.rt.abs(a)?),
            (UnaryOp::Sqrt, Value::Scalar(a)) => Value::Scalar(self.rt.scalar_sqrt(a)?),
            (UnaryOp::Sqrt, Value::Scalars(a)) => Value::Scalars(self.rt.sqrt(a)?),
            (UnaryOp::Length, Value::Vectors(a)) => Value::Scalars(self.rt.length(a)?),
            (UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length, a) => {
                return Err(unfit(&format!("{op:?}"), &[a]));
            }
        })
    }

    fn arithmetic(&mut self, op: Arithmetic, a: &Value<R>, b: &Value<R>) -> Result<Value<R>, Error> {
        use Arithmetic::{Add, Div, Mul, Sub};
        let rt = &mut *self.rt;
        Ok(match (op, a, b) {
            (Add, Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(rt.scalars_add(a, b)?),
            (Sub, Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(rt.scalars_sub(a, b)?),
            (Mul, Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(rt.scalars_mul(a, b)?),
            (Div, Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(rt.scalars_div(a, b)?),
            (Add, Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(rt.add(a, b)?),
            (Sub, Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(rt.sub(a, b)?),
            (Mul, Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(rt.mul(a, b)?),
            (Div, Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(rt.div(a, b)?),
            (Mul, Value::Scalars(a), Value::Scalar(b)) => Value::Scalars(rt.mul_scalar(a, b)?),
            (Mul, Value::Scalar(a), Value::Scalars(b)) => Value::Scalars(rt.scalar_mul(a, b)?),
            (Div, Value::Scalars(a), Value::Scalar(b)) => Value::Scalars(rt.div_scalar(a, b)?),
            (Div, Value::Scalar(a), Value::Scalars(b)) => Value::Scalars(rt.scalar_div(a, b)?),
            (Add, Value::Vectors(a), Value::Vectors(b)) => Value::Vectors(rt.vector_add(a, b)?),
            (Sub, Value::Vectors(a), Value::Vectors(b)) => Value::Vectors(rt.vector_sub(a, b)?),
            // Products of a Scalar and a Vector commute bit for bit.
            (Mul, Value::Vectors(a), Value::Scalars(b)) | (Mul, Value::Scalars(b), Value::Vectors(a)) => {
                Value::Vectors(rt.vector_mul(a, b)?)
            }
            (Mul, Value::Vectors(a), Value::Scalar(b)) | (Mul, Value::Scalar(b), Value::Vectors(a)) => {
                Value::Vectors(rt.vector_mul_scalar(a, b)?)
            }
            (Div, Value::Vectors(a), Value::Scalars(b)) => Value::Vectors(rt.vector_div(a, b)?),
            (Div, Value::Vectors(a), Value::Scalar(b)) => Value::Vectors(rt.vector_div_scalar(a, b)?),
            (Mul, Value::Sequence(a), Value::Scalar(b)) | (Mul, Value::Scalar(b), Value::Sequence(a)) => {
                Value::Sequence(rt.sequence_mul(a, b)?)
            }
            (Div, Value::Sequence(a), Value::Scalar(b)) => Value::Sequence(rt.sequence_div(a, b)?),
            (Add | Sub | Mul | Div, a, b) => return Err(unfit(&format!("{op:?}"), &[a, b])),
        })
    }

    fn select(&mut self, condition: &Value<R>, a: &Value<R>, b: &Value<R>, ty: Type) -> Result<Value<R>, Error> {
        Ok(match (condition, a, b) {
            (Value::Bool(condition), a, b) => {
                let chosen = if *condition { a } else { b };
                match chosen {
                    Value::Domain(domain) => Value::Entities(self.rt.entities(domain)?),
                    chosen => chosen.clone(),
                }
            }
            (Value::Bools(condition), Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(self.rt.select(condition, a, b)?),
            (Value::Bools(condition), Value::Entities(_) | Value::Domain(_), Value::Entities(_) | Value::Domain(_)) => {
                let (a, b) = (self.entities(a)?, self.entities(b)?);
                Value::Entities(self.rt.select_entities(condition, &a, &b)?)
            }
            (condition, a, b) => self.host_select(condition, a, b, ty)?,
        })
    }
}

/// Operands that verification should have refused.
pub(crate) fn unfit<R: Implicit + HostAccess>(what: &str, values: &[&Value<R>]) -> Error {
    let kinds: Vec<&str> = values.iter().map(|v| v.kind()).collect();
    defect(format!("{what} is not defined for {}", kinds.join(" and ")))
}
