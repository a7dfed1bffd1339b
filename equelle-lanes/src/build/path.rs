//! Paths, and what is read at their ends.

use equelle_front::ir::{ParamId, Path, Side};
use equelle_front::ops::SideMap;
use equelle_front::types::{Basic, CanonicalSet, EntityKind, Extent, SetId};

use super::Builder;
use super::code::index_of;
use super::value::{Entity, Truth, Value};
use crate::program::{ArrayId, EntityReg, Instr, Layout, RankSource, RealArray, RealSrc, Uniform};
use crate::refusal::Refusal;

impl Builder<'_> {
    /// The register of an entity.
    pub fn entity_reg(&mut self, entity: Entity) -> Result<EntityReg, Refusal> {
        Ok(match entity {
            Entity::Empty => self.code.entity(|dst| Instr::Empty { dst }),
            Entity::Here => self.code.entity(|dst| Instr::Here { dst }),
            Entity::SideFace { axis, high } => self.code.entity(|dst| Instr::SideFace { dst, axis: axis as u8, high }),
            Entity::Offset(offset) => {
                let from = self.entity_reg(Entity::Here)?;
                self.code.entity(|dst| Instr::OffsetCell { dst, from, offset })
            }
            Entity::Shift { axis, by } => {
                // In its region there is a cell there, whatever the rule of a side.
                let mut offset = [0; 3];
                offset[axis] = by;
                let beyond = if self.wraps { SideMap::Wrap } else { SideMap::Never };
                let offset = self.code.offset(offset, [beyond; 6]);
                return self.entity_reg(Entity::Offset(offset));
            }
            Entity::Reg(register) => register,
        })
    }

    /// The entity at the end of a path.
    pub fn path(&mut self, path: &Path) -> Result<Entity, Refusal> {
        match path {
            Path::Here => self.space().map(|_| Entity::Here).ok_or(Refusal::OneElement),
            Path::Local(id) => match self.locals.get(id.0 as usize).cloned().flatten() {
                Some(Value::Entity(entity)) => Ok(entity),
                Some(Value::Real(_) | Value::Vector(_) | Value::Truth(_)) | None => Err(Refusal::Type),
            },
            Path::First(face) | Path::Second(face) => {
                let second = matches!(path, Path::Second(_));
                let face = self.path(face)?;
                let face = self.entity_reg(face)?;
                Ok(Entity::Reg(self.code.entity(|dst| Instr::FaceCell { dst, face, second })))
            }
            Path::Through { param, at } => {
                let set = self.kernel.param(*param).and_then(|param| param.ty.mapping()).ok_or(Refusal::Type)?;
                let entity = self.path(at)?;
                let array = index_of(&mut self.code.program.arrays.entities, *param);
                if let Some(offset) = self.consecutive(set, entity) {
                    return Ok(Entity::Reg(self.code.entity(|dst| Instr::LoadEntity { dst, array, offset })));
                }
                let (at, ranks) = (self.entity_reg(entity)?, self.ranks(set));
                Ok(Entity::Reg(self.code.entity(|dst| Instr::GatherEntity { dst, array, ranks, at })))
            }
            Path::Select { condition, if_true, if_false } => {
                let condition = self.expr(condition)?.truth()?;
                match self.code.known(condition) {
                    Some(true) => self.path(if_true),
                    Some(false) => self.path(if_false),
                    None if self.path_needs_region(if_true) || self.path_needs_region(if_false) => self.choice(
                        condition,
                        |builder| Ok(vec![Value::Entity(builder.path(if_true)?)]),
                        |builder| Ok(vec![Value::Entity(builder.path(if_false)?)]),
                        |values| match values.first() {
                            Some(Value::Entity(entity)) => Ok(*entity),
                            Some(Value::Real(_) | Value::Vector(_) | Value::Truth(_)) | None => Err(Refusal::Type),
                        },
                    ),
                    None => {
                        let (a, b) = (self.path(if_true)?, self.path(if_false)?);
                        self.select_entity(condition, a, b)
                    }
                }
            }
            Path::SideFace(side) => {
                let axis = self.axis.ok_or(Refusal::OtherEntity)?;
                Ok(Entity::SideFace { axis, high: *side == Side::High })
            }
            Path::Shift { from, by } => {
                let axis = self.axis.ok_or(Refusal::OtherEntity)?;
                if **from != Path::Here {
                    return Err(Refusal::OtherEntity);
                }
                Ok(Entity::Shift { axis, by: *by })
            }
            Path::Offset { from, by, beyond } => {
                let from = self.path(from)?;
                if self.target.shape.is_none() {
                    return Err(Refusal::OtherEntity);
                }
                let offset = self.code.offset(*by, *beyond);
                if from == Entity::Here && self.target.layout == Layout::Consecutive(0) {
                    return Ok(Entity::Offset(offset));
                }
                let from = self.entity_reg(from)?;
                Ok(Entity::Reg(self.code.entity(|dst| Instr::OffsetCell { dst, from, offset })))
            }
            Path::Empty => Ok(Entity::Empty),
        }
    }

    /// Fails where an entity is Empty.
    pub fn require(&mut self, entity: Entity) -> Result<(), Refusal> {
        match entity {
            Entity::Here | Entity::Shift { .. } | Entity::SideFace { .. } | Entity::Offset(_) => {}
            Entity::Empty => self.code.push(Instr::Fail),
            Entity::Reg(at) => self.code.push(Instr::Require { at }),
        }
        Ok(())
    }

    /// Places in a set.
    pub fn ranks(&mut self, set: SetId) -> ArrayId {
        let source = match self.all_of(set) {
            Some(kind) => RankSource::All(kind),
            None => RankSource::Set(set),
        };
        index_of(&mut self.code.program.arrays.ranks, source)
    }

    /// The kind of which a set has all entities.
    fn all_of(&self, set: SetId) -> Option<EntityKind> {
        let is_all = |canonical: &CanonicalSet| canonical.extent == Extent::All;
        self.target.sets.get(set).canonical.filter(is_all).map(|canonical| canonical.kind)
    }

    /// Offset of an array's elements from the position of the first lane, if the elements of the
    /// lanes are consecutive in it.
    pub fn consecutive(&self, set: SetId, entity: Entity) -> Option<i64> {
        match (entity, self.target.layout) {
            (Entity::Here, _) if Some(set) == self.space() => Some(0),
            (Entity::Here, Layout::Consecutive(first)) if self.all_of(set).is_some() => Some(i64::from(first)),
            (Entity::Shift { axis, by }, Layout::Consecutive(0)) if self.all_of(set) == Some(EntityKind::Cell) => {
                self.target.shape.map(|shape| {
                    // Joined sides meet: beyond the last cell is the first one.
                    let turn = if self.wraps { -i64::from(by.signum()) * shape.n[axis] as i64 } else { 0 };
                    (i64::from(by) + turn) * shape.stride(axis) as i64
                })
            }
            (Entity::Here | Entity::Shift { .. } | Entity::Empty | Entity::SideFace { .. } | Entity::Offset(_) | Entity::Reg(_), _) => None,
        }
    }

    /// The element of a parameter that belongs to an entity.
    pub fn load(&mut self, id: ParamId, at: &Path) -> Result<Value, Refusal> {
        let param = self.kernel.param(id).ok_or(Refusal::Type)?;
        let set = param.ty.mapping().ok_or(Refusal::Type)?;
        let entity = self.path(at)?;
        if param.per_axis && self.target.cartesian_form && param.ty.basic == Basic::Scalar {
            let axis = match (self.target.sets.get(set).kind, entity, self.target.face_axis) {
                (EntityKind::Face, Entity::SideFace { axis, .. }, _) | (EntityKind::Face, Entity::Here, Some(axis)) => axis,
                (EntityKind::Cell, Entity::Here | Entity::Shift { .. }, _) => 0,
                (EntityKind::Cell | EntityKind::Face | EntityKind::Edge | EntityKind::Vertex, ..) => return Err(Refusal::OtherEntity),
            };
            return Ok(Value::Real(RealSrc::Uniform(self.code.uniform(Uniform::PerAxis(id, axis as u8)))));
        }
        let ranks = match self.all_of(set) {
            Some(kind) => RankSource::All(kind),
            None => RankSource::Set(set),
        };
        Ok(match param.ty.basic {
            Basic::Scalar => Value::Real(self.load_real_on(set, RealArray::Scalars(id), ranks, entity)?),
            Basic::Vector => {
                let dim = self.target.dim;
                let component = |axis: usize| self.load_real_on(set, RealArray::Component(id, axis as u8), ranks, entity);
                Value::Vector((0..dim).map(component).collect::<Result<_, _>>()?)
            }
            Basic::Bool => {
                let array = index_of(&mut self.code.program.arrays.truths, id);
                if let Some(offset) = self.consecutive(set, entity) {
                    return Ok(Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::LoadTruth { dst, array, offset }))));
                }
                let (at, ranks) = (self.entity_reg(entity)?, self.ranks(set));
                Value::Truth(Truth::Reg(self.code.truth(|dst| Instr::GatherTruth { dst, array, ranks, at })))
            }
            Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => return Err(Refusal::Type),
        })
    }

    fn load_real_on(&mut self, set: SetId, array: RealArray, ranks: RankSource, entity: Entity) -> Result<RealSrc, Refusal> {
        match self.consecutive(set, entity) {
            Some(offset) => Ok(self.code.memory(array, offset)),
            None => self.load_real(array, ranks, entity),
        }
    }

    /// A number of an array at an entity.
    pub fn load_real(&mut self, array: RealArray, ranks: RankSource, entity: Entity) -> Result<RealSrc, Refusal> {
        let is_on = |kind| ranks == RankSource::All(kind);
        if let (Entity::Here, Layout::Consecutive(first), RankSource::All(_)) = (entity, self.target.layout, ranks) {
            return Ok(self.code.memory(array, i64::from(first)));
        }
        let array = index_of(&mut self.code.program.arrays.reals, array);
        let on_rows = self.target.layout == Layout::Consecutive(0);
        match entity {
            Entity::SideFace { axis, high } if on_rows && is_on(EntityKind::Face) => {
                Ok(self.code.real(|dst| Instr::LoadSide { dst, array, axis: axis as u8, high }))
            }
            Entity::Offset(offset) if is_on(EntityKind::Cell) => Ok(self.code.real(|dst| Instr::LoadOffset { dst, array, offset })),
            Entity::Empty | Entity::Here | Entity::Shift { .. } | Entity::SideFace { .. } | Entity::Offset(_) | Entity::Reg(_) => {
                let (at, ranks) = (self.entity_reg(entity)?, index_of(&mut self.code.program.arrays.ranks, ranks));
                Ok(self.code.real(|dst| Instr::GatherReal { dst, array, ranks, at }))
            }
        }
    }
}
