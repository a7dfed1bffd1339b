//! Expressions.

use equelle_front::ir::{KExpr, ParamId, Path, UnaryOp};
use equelle_front::ops::{Arithmetic, CellFact, Comparison, FROM_GEOMETRY, Logic};
use equelle_front::types::{Basic, EntityKind, Shape};

use super::Builder;
use super::code::{arithmetic, index_of, math};
use super::value::{Entity, Truth, Value};
use crate::program::{Address, Instr, RankSource, RealArray, RealBinary, RealSrc, RealUnary, TripleArray, Uniform};
use crate::refusal::Refusal;

impl Builder<'_> {
    /// The value of an expression.
    pub fn expr(&mut self, expr: &KExpr) -> Result<Value, Refusal> {
        Ok(match expr {
            KExpr::Real(x) => Value::Real(self.code.constant(*x)),
            KExpr::Bool(b) => Value::Truth(self.code.truth_constant(*b)),
            KExpr::Local(id) => self.locals.get(id.0 as usize).cloned().flatten().ok_or(Refusal::Type)?,
            KExpr::Param(id) => self.param(*id)?,
            KExpr::Load { param, at } => self.load(*param, at)?,
            KExpr::Measure(path) => Value::Real(self.measure(path)?),
            KExpr::Centroid(path) => {
                let kind = self.kind(path)?;
                Value::Vector(self.triple(TripleArray::Centroids(kind), path)?)
            }
            KExpr::Normal(path) => Value::Vector(self.normal(path)?),
            KExpr::FaceTransmissibility(path) => Value::Real(self.face_transmissibility(path)?),
            KExpr::FaceGap(path) => Value::Vector(self.triple(TripleArray::FaceGaps, path)?),
            KExpr::IsEmpty(path) => Value::Truth(match self.path(path)? {
                Entity::Empty => self.code.truth_constant(true),
                Entity::Here | Entity::Shift { .. } | Entity::SideFace { .. } | Entity::Offset(_) => self.code.truth_constant(false),
                Entity::Reg(a) => Truth::Reg(self.code.truth(|dst| Instr::IsEmpty { dst, a })),
            }),
            KExpr::CellFact { fact, at } => self.cell_fact(*fact, at)?,
            KExpr::Member { set, at } => {
                let entity = self.path(at)?;
                if entity == Entity::Here && Some(*set) == self.space() {
                    return Ok(Value::Truth(self.code.truth_constant(true)));
                }
                let at = self.entity_reg(entity)?;
                let ranks = self.ranks(*set);
                Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::Member { dst, ranks, at })))
            }
            KExpr::Same(a, b) => {
                let (a, b) = (self.path(a)?, self.path(b)?);
                if a == b && !matches!(a, Entity::Reg(_)) {
                    return Ok(Value::Truth(self.code.truth_constant(true)));
                }
                let (a, b) = (self.entity_reg(a)?, self.entity_reg(b)?);
                Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::Same { dst, a, b })))
            }
            KExpr::Unary(op, a) => {
                let a = self.expr(a)?;
                self.unary_of(*op, a)?
            }
            KExpr::Arithmetic(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.arithmetic_of(*op, a, b)?
            }
            KExpr::Compare(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                Value::Truth(self.compare_of(*op, a, b)?)
            }
            KExpr::Logic(op, a, b) => {
                let (a, b) = (self.expr(a)?.truth()?, self.expr(b)?.truth()?);
                Value::Truth(self.code.logic(*op, a, b))
            }
            KExpr::Select { condition, if_true, if_false } => {
                let condition = self.expr(condition)?.truth()?;
                match self.code.known(condition) {
                    Some(true) => self.expr(if_true)?,
                    Some(false) => self.expr(if_false)?,
                    None if self.needs_region(if_true) || self.needs_region(if_false) => self.choice(
                        condition,
                        |builder| Ok(vec![builder.expr(if_true)?]),
                        |builder| Ok(vec![builder.expr(if_false)?]),
                        |values| values.into_iter().next().ok_or(Refusal::Type),
                    )?,
                    None => {
                        let (a, b) = (self.expr(if_true)?, self.expr(if_false)?);
                        self.select(condition, a, b)?
                    }
                }
            }
            KExpr::Component(a, i) => {
                let components = self.expr(a)?.vector()?;
                Value::Real(match components.get(*i as usize) {
                    Some(component) => *component,
                    None => {
                        self.code.push(Instr::Fail);
                        self.code.constant(0.0)
                    }
                })
            }
            KExpr::Dot(a, b) => {
                let (a, b) = (self.expr(a)?.vector()?, self.expr(b)?.vector()?);
                Value::Real(self.dot(&a, &b)?)
            }
            KExpr::Vector(components) => {
                // Whoever launches has checked their number.
                let components = components.iter().map(|component| self.expr(component)?.real()).collect::<Result<Vec<_>, _>>()?;
                if components.len() != self.target.dim {
                    return Err(Refusal::Type);
                }
                Value::Vector(components)
            }
            KExpr::ZeroVector => Value::Vector(vec![self.code.constant(0.0); self.target.dim]),
            KExpr::Math(op, a, b) => {
                let (a, b) = (self.expr(a)?.real()?, self.expr(b)?.real()?);
                Value::Real(self.code.binary(math(*op), a, b))
            }
            KExpr::Interpolate { table, of, argument } => {
                let x = self.expr(argument)?.real()?;
                let table = index_of(&mut self.code.program.arrays.tables, *table);
                Value::Real(match x {
                    RealSrc::Uniform(x) => RealSrc::Uniform(self.code.uniform(Uniform::Interpolate(table, *of, x))),
                    RealSrc::Reg(_) | RealSrc::Memory(..) => self.code.real(|dst| Instr::Interpolate { dst, table, of: *of, x }),
                })
            }
            KExpr::Entity(path) => Value::Entity(self.path(path)?),
            KExpr::Displacement { to, from, is_stored: _ } => Value::Vector(self.displacement(to, from)?),
        })
    }

    fn param(&mut self, id: ParamId) -> Result<Value, Refusal> {
        let ty = self.kernel.param(id).ok_or(Refusal::Type)?.ty;
        if ty.shape != Shape::Single {
            return Err(Refusal::Type);
        }
        Ok(match ty.basic {
            Basic::Scalar => Value::Real(RealSrc::Uniform(self.code.uniform(Uniform::Param(id)))),
            Basic::Bool => Value::Truth(Truth::Uniform(self.code.uniform(Uniform::Param(id)))),
            Basic::Vector => {
                let dim = self.target.dim;
                let component = |axis| RealSrc::Uniform(self.code.uniform(Uniform::Component(id, axis as u8)));
                Value::Vector((0..dim).map(component).collect())
            }
            Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => return Err(Refusal::Type),
        })
    }

    fn unary_of(&mut self, op: UnaryOp, a: Value) -> Result<Value, Refusal> {
        Ok(match (op, a) {
            (UnaryOp::Neg, Value::Real(a)) => Value::Real(self.code.unary(RealUnary::Neg, a)),
            (UnaryOp::Neg, Value::Vector(a)) => Value::Vector(a.into_iter().map(|a| self.code.unary(RealUnary::Neg, a)).collect()),
            (UnaryOp::Not, Value::Truth(a)) => Value::Truth(self.code.not(a)),
            (UnaryOp::Abs, Value::Real(a)) => Value::Real(self.code.unary(RealUnary::Abs, a)),
            (UnaryOp::Sqrt, Value::Real(a)) => Value::Real(self.code.unary(RealUnary::Sqrt, a)),
            (UnaryOp::Elementary(function), Value::Real(a)) => Value::Real(self.code.unary(RealUnary::Elementary(function), a)),
            (UnaryOp::Length, Value::Vector(a)) => {
                let square = self.dot(&a, &a)?;
                Value::Real(self.code.unary(RealUnary::Sqrt, square))
            }
            (UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length | UnaryOp::Elementary(_), _) => {
                return Err(Refusal::Type);
            }
        })
    }

    fn arithmetic_of(&mut self, op: Arithmetic, a: Value, b: Value) -> Result<Value, Refusal> {
        let op = arithmetic(op);
        Ok(match (a, b) {
            (Value::Real(a), Value::Real(b)) => Value::Real(self.code.binary(op, a, b)),
            (Value::Vector(a), Value::Vector(b)) => Value::Vector(a.into_iter().zip(b).map(|(a, b)| self.code.binary(op, a, b)).collect()),
            (Value::Vector(a), Value::Real(b)) => Value::Vector(a.into_iter().map(|a| self.code.binary(op, a, b)).collect()),
            (Value::Real(a), Value::Vector(b)) => Value::Vector(b.into_iter().map(|b| self.code.binary(op, a, b)).collect()),
            (Value::Truth(_) | Value::Entity(_), _) | (_, Value::Truth(_) | Value::Entity(_)) => return Err(Refusal::Type),
        })
    }

    fn compare_of(&mut self, op: Comparison, a: Value, b: Value) -> Result<Truth, Refusal> {
        match (a, b) {
            (Value::Real(a), Value::Real(b)) => Ok(self.code.compare(op, a, b)),
            (Value::Truth(a), Value::Truth(b)) => match (op, self.code.known(a), self.code.known(b)) {
                (op, Some(a), Some(b)) => Ok(self.code.truth_constant(op.holds(&a, &b))),
                (Comparison::NotEqual, _, _) => Ok(self.code.logic(Logic::Xor, a, b)),
                (Comparison::Equal, _, _) => {
                    let unequal = self.code.logic(Logic::Xor, a, b);
                    Ok(self.code.not(unequal))
                }
                (Comparison::Less | Comparison::Greater | Comparison::LessEqual | Comparison::GreaterEqual, _, _) => {
                    let (a, b) = (self.code.truth_reg(a), self.code.truth_reg(b));
                    Ok(Truth::Reg(self.code.truth(|dst| Instr::CompareTruths { op, dst, a, b })))
                }
            },
            (Value::Real(_) | Value::Vector(_) | Value::Truth(_) | Value::Entity(_), _) => Err(Refusal::Type),
        }
    }

    /// Products of the components, added in order.
    fn dot(&mut self, a: &[RealSrc], b: &[RealSrc]) -> Result<RealSrc, Refusal> {
        let mut products = a.iter().zip(b);
        let (&a, &b) = products.next().ok_or(Refusal::Type)?;
        let mut sum = self.code.binary(RealBinary::Mul, a, b);
        for (&a, &b) in products {
            let product = self.code.binary(RealBinary::Mul, a, b);
            sum = self.code.binary(RealBinary::Add, sum, product);
        }
        Ok(sum)
    }

    /// A choice of values that are there in all lanes.
    pub fn select(&mut self, condition: Truth, a: Value, b: Value) -> Result<Value, Refusal> {
        Ok(match (a, b) {
            (Value::Real(a), Value::Real(b)) => Value::Real(self.select_real(condition, a, b)),
            (Value::Vector(a), Value::Vector(b)) => {
                Value::Vector(a.into_iter().zip(b).map(|(a, b)| self.select_real(condition, a, b)).collect())
            }
            (Value::Truth(a), Value::Truth(b)) if a == b => Value::Truth(a),
            (Value::Truth(a), Value::Truth(b)) => {
                let (condition, a, b) = (self.code.truth_reg(condition), self.code.truth_reg(a), self.code.truth_reg(b));
                Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::SelectTruth { dst, condition, a, b })))
            }
            (Value::Entity(a), Value::Entity(b)) => Value::Entity(self.select_entity(condition, a, b)?),
            (Value::Real(_) | Value::Vector(_) | Value::Truth(_) | Value::Entity(_), _) => return Err(Refusal::Type),
        })
    }

    fn select_real(&mut self, condition: Truth, a: RealSrc, b: RealSrc) -> RealSrc {
        if a == b {
            return a;
        }
        if let (Truth::Uniform(condition), RealSrc::Uniform(a), RealSrc::Uniform(b)) = (condition, a, b) {
            return RealSrc::Uniform(self.code.uniform(Uniform::Select(condition, a, b)));
        }
        let condition = self.code.truth_reg(condition);
        self.code.real(|dst| Instr::Select { dst, condition, a, b })
    }

    pub fn select_entity(&mut self, condition: Truth, a: Entity, b: Entity) -> Result<Entity, Refusal> {
        if a == b {
            return Ok(a);
        }
        let (condition, a, b) = (self.code.truth_reg(condition), self.entity_reg(a)?, self.entity_reg(b)?);
        Ok(Entity::Reg(self.code.entity(|dst| Instr::SelectEntity { dst, condition, a, b })))
    }

    /// A choice whose branches are evaluated in the lanes that take them alone.
    pub fn choice<T>(
        &mut self,
        condition: Truth,
        then: impl FnOnce(&mut Self) -> Result<Vec<Value>, Refusal>,
        otherwise: impl FnOnce(&mut Self) -> Result<Vec<Value>, Refusal>,
        of: impl FnOnce(Vec<Value>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let condition = self.code.truth_reg(condition);
        let open = |value| Instr::Enter { condition, value, end: Address(0) };
        let variables = self.in_region(
            open(true),
            |_| Instr::Leave,
            |builder| {
                let values = then(builder)?;
                values.into_iter().map(|value| builder.copied(value, None)).collect::<Result<Vec<Value>, Refusal>>()
            },
        )?;
        self.in_region(
            open(false),
            |_| Instr::Leave,
            |builder| {
                let values = otherwise(builder)?;
                for (value, variable) in values.into_iter().zip(&variables) {
                    builder.copied(value, Some(variable))?;
                }
                Ok(())
            },
        )?;
        of(variables)
    }

    /// Copies a value into a variable, which is new or given.
    fn copied(&mut self, value: Value, variable: Option<&Value>) -> Result<Value, Refusal> {
        Ok(match (value, variable) {
            (Value::Real(src), None) => Value::Real(self.copy_real(src, None)?),
            (Value::Real(src), Some(Value::Real(variable))) => Value::Real(self.copy_real(src, Some(*variable))?),
            (Value::Vector(components), None) => {
                Value::Vector(components.into_iter().map(|src| self.copy_real(src, None)).collect::<Result<_, _>>()?)
            }
            (Value::Vector(components), Some(Value::Vector(variables))) => Value::Vector(
                components
                    .into_iter()
                    .zip(variables)
                    .map(|(src, &variable)| self.copy_real(src, Some(variable)))
                    .collect::<Result<_, _>>()?,
            ),
            (Value::Truth(truth), variable @ (None | Some(Value::Truth(Truth::Reg(_))))) => {
                let src = self.code.truth_reg(truth);
                let dst = match variable {
                    Some(Value::Truth(Truth::Reg(variable))) => *variable,
                    Some(_) | None => self.code.new_truth(),
                };
                self.code.push(Instr::CopyTruth { dst, src });
                Value::Truth(Truth::Reg(dst))
            }
            (Value::Entity(entity), variable @ (None | Some(Value::Entity(Entity::Reg(_))))) => {
                let src = self.entity_reg(entity)?;
                let dst = match variable {
                    Some(Value::Entity(Entity::Reg(variable))) => *variable,
                    Some(_) | None => self.code.new_entity(),
                };
                self.code.push(Instr::CopyEntity { dst, src });
                Value::Entity(Entity::Reg(dst))
            }
            (Value::Real(_) | Value::Vector(_) | Value::Truth(_) | Value::Entity(_), Some(_)) => return Err(Refusal::Type),
        })
    }

    fn copy_real(&mut self, src: RealSrc, variable: Option<RealSrc>) -> Result<RealSrc, Refusal> {
        let dst = match variable {
            None => self.code.new_real(),
            Some(RealSrc::Reg(variable)) => variable,
            Some(RealSrc::Uniform(_) | RealSrc::Memory(..)) => return Err(Refusal::Type),
        };
        self.code.push(Instr::CopyReal { dst, src });
        Ok(RealSrc::Reg(dst))
    }

    fn measure(&mut self, path: &Path) -> Result<RealSrc, Refusal> {
        let Some(kind) = self.kernel.path_kind(self.target.sets, path) else {
            self.code.push(Instr::Fail);
            return Ok(self.code.constant(0.0));
        };
        let entity = self.path(path)?;
        if let (true, Some(shape)) = (self.target.cartesian_form, self.target.shape) {
            let left_out = match (kind, entity) {
                (EntityKind::Face, Entity::SideFace { axis, .. }) => Some(axis),
                (EntityKind::Face, Entity::Here) if self.target.face_axis.is_some() => self.target.face_axis,
                (EntityKind::Cell, Entity::Here | Entity::Shift { .. }) => None,
                (EntityKind::Cell | EntityKind::Face | EntityKind::Edge | EntityKind::Vertex, _) => return Err(Refusal::OtherEntity),
            };
            // As in the evaluator of elements: in the order of the axes.
            let widths = (0..shape.dim).filter(|&axis| Some(axis) != left_out).map(|axis| shape.spacing[axis]);
            return Ok(self.code.constant(widths.reduce(|product, width| product * width).unwrap_or(1.0)));
        }
        if kind == EntityKind::Vertex {
            self.require(entity)?;
            return Ok(self.code.constant(1.0));
        }
        self.load_real(RealArray::Measures(kind), RankSource::All(kind), entity)
    }

    fn face_transmissibility(&mut self, path: &Path) -> Result<RealSrc, Refusal> {
        let entity = self.path(path)?;
        if self.target.shape.is_some() {
            self.require(entity)?;
            return Ok(self.code.constant(FROM_GEOMETRY));
        }
        self.load_real(RealArray::FaceTransmissibilities, RankSource::All(EntityKind::Face), entity)
    }

    fn normal(&mut self, path: &Path) -> Result<Vec<RealSrc>, Refusal> {
        if !self.target.cartesian_form {
            return self.triple(TripleArray::Normals, path);
        }
        match (self.path(path)?, self.target.face_axis) {
            (Entity::SideFace { axis, .. }, _) | (Entity::Here, Some(axis)) => {
                Ok((0..self.target.dim).map(|other| self.code.constant(if other == axis { 1.0 } else { 0.0 })).collect())
            }
            (Entity::Empty | Entity::Here | Entity::Shift { .. } | Entity::Offset(_) | Entity::Reg(_), _) => Err(Refusal::OtherEntity),
        }
    }

    /// A Vector of the grid at an entity.
    fn triple(&mut self, array: TripleArray, path: &Path) -> Result<Vec<RealSrc>, Refusal> {
        let entity = self.path(path)?;
        let at = self.entity_reg(entity)?;
        let array = index_of(&mut self.code.program.arrays.triples, array);
        let dim = self.target.dim;
        let component = |axis: usize| self.code.real(|dst| Instr::GatherTriple { dst, array, axis: axis as u8, at });
        Ok((0..dim).map(component).collect())
    }

    fn displacement(&mut self, to: &Path, from: &Path) -> Result<Vec<RealSrc>, Refusal> {
        let shape = self.target.shape.ok_or(Refusal::OtherEntity)?;
        let place = |path: &Path| path.half_widths().ok_or(Refusal::OtherEntity);
        let halves = place(to)? - place(from)?;
        let axis = match self.axis.or(self.target.face_axis) {
            Some(axis) => Some(axis),
            None if halves == 0 => None,
            None => return Err(Refusal::OtherEntity),
        };
        let component = |other: usize| match axis {
            Some(axis) if axis == other => f64::from(halves) * 0.5 * shape.spacing[axis],
            Some(_) | None => 0.0,
        };
        Ok((0..self.target.dim).map(|other| self.code.constant(component(other))).collect())
    }

    fn cell_fact(&mut self, fact: CellFact, at: &Path) -> Result<Value, Refusal> {
        let entity = self.path(at)?;
        let at = self.entity_reg(entity)?;
        if self.target.shape.is_none() {
            return Err(Refusal::OtherEntity);
        }
        Ok(match fact {
            CellFact::Outside { axis, by } => Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::CellOutside { dst, at, axis, by }))),
            CellFact::Index(axis) => Value::Real(self.code.real(|dst| Instr::CellIndex { dst, at, axis })),
            CellFact::Even(axes) => Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::CellEven { dst, at, axes }))),
        })
    }

    fn kind(&self, path: &Path) -> Result<EntityKind, Refusal> {
        self.kernel.path_kind(self.target.sets, path).ok_or(Refusal::Type)
    }
}
