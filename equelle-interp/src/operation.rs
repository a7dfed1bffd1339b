//! Operations: each is one call of the runtime, where the runtime has a method for it.

use equelle_front::ir::{Op, UnaryOp, ValueId};
use equelle_front::ops::{Arithmetic, CellFact, Comparison, FaceReduction, GridNumber, InputElement, Logic};
use equelle_front::types::Type;
use equelle_runtime::{DerivativeAccess, Error};

use crate::program::{Frame, Interpreter};
use crate::value::{Value, binary, canonical_set, defect, reduction};

impl<R: DerivativeAccess> Interpreter<'_, R> {
    /// An operation of one result, which is of type `ty`.
    pub fn operation(&mut self, frame: &Frame<'_, R>, op: &Op, ty: Type) -> Result<Value<R>, Error> {
        let v = |id: &ValueId| frame.value(*id);
        Ok(match op {
            Op::Real(x) => Value::Scalar(self.rt.scalar(*x)),
            Op::Bool(b) => Value::Bool(self.rt.bool(*b)),
            Op::Text(t) => Value::Text(t.clone()),
            Op::CanonicalSet(set) => Value::Domain(self.rt.domain(canonical_set(*set))?),
            Op::InputScalar { name, default } => match (v(name)?, v(default)?) {
                (Value::Text(name), Value::Scalar(default)) => Value::Scalar(self.rt.input_scalar(name, default)?),
                (a, b) => return Err(unfit("InputScalar", &[a, b])),
            },
            Op::InputCollection { element, name, domain } => match (v(name)?, v(domain)?) {
                (Value::Text(name), Value::Domain(domain)) => match element {
                    InputElement::Scalar => Value::Scalars(self.rt.input_collection(name, domain)?),
                    InputElement::Vector => Value::Vectors(self.rt.input_vectors(name, domain)?),
                    InputElement::Bool => Value::Bools(self.rt.input_bools(name, domain)?),
                },
                (a, b) => return Err(unfit("InputCollection", &[a, b])),
            },
            Op::InputDomain { name, within } => match (v(name)?, v(within)?) {
                (Value::Text(name), Value::Domain(within)) => Value::Domain(self.rt.input_domain(name, within)?),
                (a, b) => return Err(unfit("InputDomain", &[a, b])),
            },
            Op::Where { within, condition } => match (v(within)?, v(condition)?) {
                (Value::Domain(within), Value::Bools(condition)) => {
                    let name = ty.mapping().map_or("", |set| &self.module.sets.get(set).name);
                    Value::Domain(self.rt.domain_where(name, within, condition)?)
                }
                (a, b) => return Err(unfit("Where", &[a, b])),
            },
            Op::InputSequence { name } => match v(name)? {
                Value::Text(name) => Value::Sequence(self.rt.input_sequence(name)?),
                a => return Err(unfit("InputSequence", &[a])),
            },
            Op::InputTable { name, argument, value } => match (v(name)?, v(argument)?, v(value)?) {
                (Value::Text(name), Value::Text(argument), Value::Text(value)) => Value::Table(self.rt.input_table(name, argument, value)?),
                (a, b, c) => return Err(unfit("InputTable", &[a, b, c])),
            },
            Op::InputTable2 { name, arguments: [first, second], value, part } => match (v(name)?, v(first)?, v(second)?, v(value)?) {
                (Value::Text(name), Value::Text(first), Value::Text(second), Value::Text(value)) => {
                    Value::Table(self.rt.input_table2(name, first, second, value, *part)?)
                }
                (a, b, c, d) => return Err(unfit("InputTable2", &[a, b, c, d])),
            },
            Op::Interpolate { table, argument } => match (v(table)?, v(argument)?) {
                (Value::Table(table), Value::Scalar(argument)) => Value::Scalar(self.rt.interpolate(table, argument)?),
                (Value::Table(table), Value::Scalars(argument)) => Value::Scalars(self.rt.interpolate(table, argument)?),
                (a, b) => return Err(unfit("Interpolate", &[a, b])),
            },
            Op::Step(length) => match v(length)? {
                Value::Scalar(length) => Value::Scalar(self.rt.take_step(length)?),
                a => return Err(unfit("Step", &[a])),
            },
            Op::FirstCell(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Entities(self.rt.first_cell(&faces)?)
            }
            Op::SecondCell(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Entities(self.rt.second_cell(&faces)?)
            }
            Op::Shift { cells, by, beyond } => {
                let cells = self.entities(v(cells)?)?;
                Value::Entities(self.rt.offset_cells(&cells, *by, *beyond)?)
            }
            Op::CellFact { fact, cells } => {
                let cells = self.entities(v(cells)?)?;
                match *fact {
                    CellFact::Outside { axis, by } => Value::Bools(self.rt.is_outside(&cells, usize::from(axis), by)?),
                    CellFact::Index(axis) => Value::Scalars(self.rt.index_along(&cells, usize::from(axis))?),
                    CellFact::Even(axes) => Value::Bools(self.rt.is_even(&cells, axes)?),
                }
            }
            Op::GridNumber(GridNumber::Width(axis)) => Value::Scalar(self.rt.cell_width(usize::from(*axis))?),
            Op::GridNumber(GridNumber::Extent(axis)) => Value::Scalar(self.rt.cells_along(usize::from(*axis))?),
            Op::IsEmpty(a) => {
                let entities = self.entities(v(a)?)?;
                Value::Bools(self.rt.is_empty(&entities)?)
            }
            Op::OneCell(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Entities(self.rt.one_cell(&faces)?)
            }
            Op::Centroid(a) => {
                let entities = self.entities(v(a)?)?;
                Value::Vectors(self.rt.centroid(&entities)?)
            }
            Op::FaceGap(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Vectors(self.rt.face_gap(&faces)?)
            }
            Op::FaceTransmissibility(a) => {
                let faces = self.entities(v(a)?)?;
                Value::Scalars(self.rt.face_transmissibility(&faces)?)
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
                (Value::Scalars(a), Value::Scalars(b)) => Value::Bools(self.rt.compare(*op, a, b)?),
                (Value::Scalars(a), Value::Scalar(b)) => Value::Bools(self.rt.compare(*op, a, b)?),
                (Value::Scalar(a), Value::Scalars(b)) => Value::Bools(self.rt.compare(*op, a, b)?),
                (Value::Scalar(a), Value::Scalar(b)) => Value::Bool(self.rt.compare(*op, a, b)?),
                (a, b) => self.equality(*op, a, b)?,
            },
            Op::Logic(op, a, b) => self.logic(*op, v(a)?, v(b)?)?,
            Op::Select { condition, if_true, if_false } => self.select(v(condition)?, v(if_true)?, v(if_false)?, ty)?,
            Op::On { data, target } => {
                let target = self.entities(v(target)?)?;
                match v(data)? {
                    Value::Scalars(data) => Value::Scalars(self.rt.on(data, &target)?),
                    Value::Vectors(data) => Value::Vectors(self.rt.on(data, &target)?),
                    Value::Bools(data) => Value::Bools(self.rt.on(data, &target)?),
                    data => {
                        let data = self.entities(data)?;
                        Value::Entities(self.rt.on(&data, &target)?)
                    }
                }
            }
            Op::Extend { data, domain } => {
                let Value::Domain(domain) = v(domain)? else { return Err(unfit("Extend", &[v(domain)?])) };
                match v(data)? {
                    Value::Scalars(data) => Value::Scalars(self.rt.extend(data, domain)?),
                    Value::Vectors(data) => Value::Vectors(self.rt.extend(data, domain)?),
                    Value::Bools(data) => Value::Bools(self.rt.extend(data, domain)?),
                    data => {
                        let data = self.entities(data)?;
                        Value::Entities(self.rt.extend(&data, domain)?)
                    }
                }
            }
            Op::Broadcast { value, domain } => match (v(value)?, self.domain_of(v(domain)?)) {
                (Value::Scalar(value), Some(domain)) => Value::Scalars(self.rt.broadcast(value, &domain)?),
                (Value::Vector(value), Some(domain)) => Value::Vectors(self.rt.broadcast(value, &domain)?),
                (Value::Bool(value), Some(domain)) => Value::Bools(self.rt.broadcast(value, &domain)?),
                (a, _) => return Err(unfit("Broadcast", &[a])),
            },
            Op::Gradient(a) => match v(a)? {
                Value::Scalars(a) => Value::Scalars(self.rt.gradient(a)?),
                a => return Err(unfit("Gradient", &[a])),
            },
            Op::Divergence(a) => match v(a)? {
                Value::Scalars(a) => Value::Scalars(self.rt.divergence(a)?),
                a => return Err(unfit("Divergence", &[a])),
            },
            Op::FaceReduce { reduction, first, second } => match (v(first)?, v(second)?) {
                (Value::Scalars(first), Value::Scalars(second)) => Value::Scalars(self.rt.face_reduce(*reduction, first, second)?),
                (Value::Vectors(first), Value::Vectors(second)) if *reduction == FaceReduction::Sum => {
                    Value::Vectors(self.rt.face_reduce(FaceReduction::Sum, first, second)?)
                }
                (a, b) => return Err(unfit(reduction.name(), &[a, b])),
            },
            Op::Dot(a, b) => match (v(a)?, v(b)?) {
                (Value::Vectors(a), Value::Vectors(b)) => Value::Scalars(self.rt.dot(a, b)?),
                (Value::Vector(a), Value::Vector(b)) => Value::Scalar(self.rt.dot(a, b)?),
                (a, b) => return Err(unfit("Dot", &[a, b])),
            },
            Op::Component(a, i) => match v(a)? {
                Value::Vectors(a) => Value::Scalars(self.rt.component(a, *i as usize)?),
                Value::Vector(a) => Value::Scalar(self.rt.component(a, *i as usize)?),
                a => return Err(unfit("a component", &[a])),
            },
            Op::Vector(components) => {
                let components = components.iter().map(&v).collect::<Result<Vec<_>, _>>()?;
                self.vector(&components)?
            }
            Op::Math(op, a, b) => {
                let op = *op;
                match (v(a)?, v(b)?) {
                    (Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(self.rt.math(op, a, b)?),
                    (Value::Scalars(a), Value::Scalar(b)) => Value::Scalars(self.rt.math(op, a, b)?),
                    (Value::Scalar(a), Value::Scalars(b)) => Value::Scalars(self.rt.math(op, a, b)?),
                    (Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(self.rt.math(op, a, b)?),
                    (a, b) => return Err(unfit(&format!("{op:?}"), &[a, b])),
                }
            }
            Op::TextIndex(a, i) => match v(a)? {
                Value::Text(text) => Value::Text(format!("{text}_{i}")),
                a => return Err(unfit("a numbered text", &[a])),
            },
            Op::Reduce(op, a) => match (reduction(*op), v(a)?) {
                (Ok(op), Value::Scalars(a)) => Value::Scalar(self.rt.reduce(op, a)?),
                (Ok(op), Value::Vectors(a)) => Value::Vector(self.rt.reduce(op, a)?),
                (Err(op), Value::Bools(a)) => Value::Bool(self.rt.reduce(op, a)?),
                (_, a) => return Err(unfit("a reduction", &[a])),
            },
            Op::Load(_) | Op::Exchange { .. } | Op::Call { .. } | Op::Newton { .. } => {
                return Err(defect("this operation is one of the program's control"));
            }
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
        if let UnaryOp::Elementary(function) = op {
            return match a {
                Value::Scalar(a) => Ok(Value::Scalar(self.rt.elementary(function, a)?)),
                Value::Scalars(a) => Ok(Value::Scalars(self.rt.elementary(function, a)?)),
                a => Err(unfit(&format!("{op}"), &[a])),
            };
        }
        Ok(match (op, a) {
            (UnaryOp::Neg, Value::Scalar(a)) => Value::Scalar(self.rt.neg(a)?),
            (UnaryOp::Neg, Value::Scalars(a)) => Value::Scalars(self.rt.neg(a)?),
            (UnaryOp::Neg, Value::Vector(a)) => Value::Vector(self.rt.neg(a)?),
            (UnaryOp::Neg, Value::Vectors(a)) => Value::Vectors(self.rt.neg(a)?),
            (UnaryOp::Neg, Value::Sequence(a)) => Value::Sequence(self.rt.neg(a)?),
            (UnaryOp::Not, Value::Bool(a)) => Value::Bool(self.rt.not(a)?),
            (UnaryOp::Not, Value::Bools(a)) => Value::Bools(self.rt.not(a)?),
            (UnaryOp::Abs, Value::Scalar(a)) => Value::Scalar(self.rt.abs(a)?),
            (UnaryOp::Abs, Value::Scalars(a)) => Value::Scalars(self.rt.abs(a)?),
            (UnaryOp::Sqrt, Value::Scalar(a)) => Value::Scalar(self.rt.sqrt(a)?),
            (UnaryOp::Sqrt, Value::Scalars(a)) => Value::Scalars(self.rt.sqrt(a)?),
            (UnaryOp::Length, Value::Vector(a)) => Value::Scalar(self.rt.length(a)?),
            (UnaryOp::Length, Value::Vectors(a)) => Value::Scalars(self.rt.length(a)?),
            (op, a) => return Err(unfit(&format!("{op}"), &[a])),
        })
    }

    /// Compares truth values or entities.
    fn equality(&mut self, op: Comparison, a: &Value<R>, b: &Value<R>) -> Result<Value<R>, Error> {
        let unequal = match (a, b) {
            (Value::Bool(_) | Value::Bools(_), Value::Bool(_) | Value::Bools(_)) => self.logic(Logic::Xor, a, b)?,
            (Value::Entities(_) | Value::Domain(_), Value::Entities(_) | Value::Domain(_)) => {
                let (a, b) = (self.entities(a)?, self.entities(b)?);
                let same = self.rt.same_entities(&a, &b)?;
                Value::Bools(self.rt.not(&same)?)
            }
            (a, b) => return Err(unfit(&format!("{op:?}"), &[a, b])),
        };
        match op {
            Comparison::NotEqual => Ok(unequal),
            Comparison::Equal => self.unary(UnaryOp::Not, &unequal),
            Comparison::Less | Comparison::Greater | Comparison::LessEqual | Comparison::GreaterEqual => {
                Err(unfit(&format!("{op:?}"), &[a, b]))
            }
        }
    }

    fn logic(&mut self, op: Logic, a: &Value<R>, b: &Value<R>) -> Result<Value<R>, Error> {
        let rt = &mut *self.rt;
        Ok(match (op, a, b) {
            (op, Value::Bool(a), Value::Bool(b)) => Value::Bool(rt.logic(op, a, b)?),
            (op, Value::Bools(a), Value::Bools(b)) => Value::Bools(rt.logic(op, a, b)?),
            // All three commute.
            (op, Value::Bools(a), Value::Bool(b)) | (op, Value::Bool(b), Value::Bools(a)) => Value::Bools(rt.logic(op, a, b)?),
            (op, a, b) => return Err(unfit(&format!("{op:?}"), &[a, b])),
        })
    }

    /// The domain that a value is, or that of a collection.
    fn domain_of(&self, value: &Value<R>) -> Option<R::Domain> {
        if let Value::Domain(domain) = value { Some(domain.clone()) } else { self.collection_domain(value) }
    }

    /// The domain of a collection.
    pub(crate) fn collection_domain(&self, value: &Value<R>) -> Option<R::Domain> {
        match value {
            Value::Scalars(values) => Some(self.rt.domain_of(values)),
            Value::Vectors(values) => Some(self.rt.domain_of(values)),
            Value::Bools(values) => Some(self.rt.domain_of(values)),
            Value::Entities(values) => Some(self.rt.domain_of_entities(values).0),
            Value::Scalar(_)
            | Value::Bool(_)
            | Value::Vector(_)
            | Value::Text(_)
            | Value::Sequence(_)
            | Value::Table(_)
            | Value::Domain(_) => None,
        }
    }

    /// Composes Vectors from single components, or from collections with single ones broadcast.
    fn vector(&mut self, components: &[&Value<R>]) -> Result<Value<R>, Error> {
        let single: Option<Vec<&R::Scalar>> = components.iter().map(|c| if let Value::Scalar(c) = c { Some(c) } else { None }).collect();
        if let Some(single) = single {
            return Ok(Value::Vector(self.rt.vector(&single)?));
        }
        let Some(sample) = components.iter().find_map(|c| if let Value::Scalars(c) = c { Some(c) } else { None }) else {
            return Err(unfit("Vector", components));
        };
        let mut broadcast = Vec::with_capacity(components.len());
        for component in components {
            broadcast.push(match component {
                Value::Scalars(values) => values.clone(),
                Value::Scalar(value) => self.rt.broadcast(value, &self.rt.domain_of(sample))?,
                other => return Err(unfit("Vector", &[other])),
            });
        }
        let broadcast: Vec<&R::ScalarCollection> = broadcast.iter().collect();
        Ok(Value::Vectors(self.rt.vector(&broadcast)?))
    }

    fn arithmetic(&mut self, op: Arithmetic, a: &Value<R>, b: &Value<R>) -> Result<Value<R>, Error> {
        use Arithmetic::{Add, Div, Mul, Sub};
        let (rt, binary) = (&mut *self.rt, binary(op));
        // Products of a number and a Vector or a sequence commute bit for bit.
        Ok(match (op, a, b) {
            (_, Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(rt.binary(binary, a, b)?),
            (_, Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(rt.binary(binary, a, b)?),
            (Mul | Div, Value::Scalars(a), Value::Scalar(b)) => Value::Scalars(rt.binary(binary, a, b)?),
            (Mul | Div, Value::Scalar(a), Value::Scalars(b)) => Value::Scalars(rt.binary(binary, a, b)?),
            (Add | Sub, Value::Vector(a), Value::Vector(b)) => Value::Vector(rt.binary(binary, a, b)?),
            (Mul | Div, Value::Vector(a), Value::Scalar(b)) | (Mul, Value::Scalar(b), Value::Vector(a)) => {
                Value::Vector(rt.binary(binary, a, b)?)
            }
            (Mul | Div, Value::Vector(a), Value::Scalars(b)) | (Mul, Value::Scalars(b), Value::Vector(a)) => {
                Value::Vectors(rt.binary(binary, a, b)?)
            }
            (Add | Sub, Value::Vectors(a), Value::Vectors(b)) => Value::Vectors(rt.binary(binary, a, b)?),
            (Mul | Div, Value::Vectors(a), Value::Scalars(b)) | (Mul, Value::Scalars(b), Value::Vectors(a)) => {
                Value::Vectors(rt.binary(binary, a, b)?)
            }
            (Mul | Div, Value::Vectors(a), Value::Scalar(b)) | (Mul, Value::Scalar(b), Value::Vectors(a)) => {
                Value::Vectors(rt.binary(binary, a, b)?)
            }
            (Mul | Div, Value::Sequence(a), Value::Scalar(b)) | (Mul, Value::Scalar(b), Value::Sequence(a)) => {
                Value::Sequence(rt.binary(binary, a, b)?)
            }
            (Add | Sub | Mul | Div, a, b) => return Err(unfit(&format!("{op:?}"), &[a, b])),
        })
    }

    fn select(&mut self, condition: &Value<R>, a: &Value<R>, b: &Value<R>, ty: Type) -> Result<Value<R>, Error> {
        Ok(match (condition, a, b) {
            (Value::Bool(c), Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Bool(a), Value::Bool(b)) => Value::Bool(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Vector(a), Value::Vector(b)) => Value::Vector(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Sequence(a), Value::Sequence(b)) => Value::Sequence(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Vectors(a), Value::Vectors(b)) => Value::Vectors(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Bools(a), Value::Bools(b)) => Value::Bools(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Domain(a), Value::Domain(b)) if ty.is_domain() => Value::Domain(self.rt.choose(c, a, b)?),
            (Value::Bool(c), Value::Entities(_) | Value::Domain(_), Value::Entities(_) | Value::Domain(_)) => {
                let (a, b) = (self.entities(a)?, self.entities(b)?);
                Value::Entities(self.rt.choose(c, &a, &b)?)
            }
            (Value::Bools(c), Value::Scalars(a), Value::Scalars(b)) => Value::Scalars(self.rt.select(c, a, b)?),
            (Value::Bools(c), Value::Vectors(a), Value::Vectors(b)) => Value::Vectors(self.rt.select(c, a, b)?),
            (Value::Bools(c), Value::Bools(a), Value::Bools(b)) => Value::Bools(self.rt.select(c, a, b)?),
            (Value::Bools(c), Value::Entities(_) | Value::Domain(_), Value::Entities(_) | Value::Domain(_)) => {
                let (a, b) = (self.entities(a)?, self.entities(b)?);
                Value::Entities(self.rt.select(c, &a, &b)?)
            }
            (c, a, b) => return Err(unfit("a choice", &[c, a, b])),
        })
    }
}

/// Operands that verification should have refused.
pub(crate) fn unfit<R: DerivativeAccess>(what: &str, values: &[&Value<R>]) -> Error {
    let kinds: Vec<&str> = values.iter().map(|v| v.kind()).collect();
    defect(format!("{what} is not defined for {}", kinds.join(" and ")))
}
