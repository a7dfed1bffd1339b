//! Entity-valued operations become access paths.

use super::build::{Builder, Mode, Result, Unfusable};
use super::placement::Placement;
use crate::ir::{EntitySource, KExpr, Op, Path, Side, ValueId};
use crate::types::{CanonicalSet, Shape};

impl Builder<'_> {
    /// The entity that an entity collection (or domain) holds for the entity `at` of its set.
    pub(super) fn entity(&mut self, value: ValueId, at: &Path) -> Result<Path> {
        if matches!(self.ty(value).shape, Shape::Domain(_)) {
            return Ok(at.clone());
        }
        match (self.plan.placement(value), self.defs.op(value)) {
            // A stored collection has no place in the Cartesian forms: it may lead anywhere. Where
            // an operation makes it, that does not.
            (Placement::Inline, Some(op)) => self.entity_of(&op.clone(), at),
            (Placement::Kernel | Placement::Operation, Some(op)) if self.mode != Mode::General && !self.plan.is_repeated(value) => {
                self.entity_of(&op.clone(), at)
            }
            (_, _) if self.mode != Mode::General => Err(Unfusable),
            (_, _) => {
                let param = self.param(value)?;
                Ok(Path::Through { param, at: Box::new(at.clone()) })
            }
        }
    }

    /// The entity that an operation gives for the entity `at`.
    pub(super) fn entity_of(&mut self, op: &Op, at: &Path) -> Result<Path> {
        self.interface.write(1)?;
        match op.entity_source() {
            EntitySource::First(faces) => {
                let face = self.entity(faces, at)?;
                self.first(&face)
            }
            EntitySource::Second(faces) => {
                let face = self.entity(faces, at)?;
                self.second(&face)
            }
            EntitySource::Shift { cells, by, beyond } => {
                // Other forms have no name for it.
                if self.mode != Mode::General {
                    return Err(Unfusable);
                }
                let from = self.entity(cells, at)?;
                Ok(from.offset(by, beyond))
            }
            EntitySource::Same(faces) => self.entity(faces, at),
            EntitySource::On { data, target } => {
                let path = self.entity(target, at)?;
                self.entity(data, &path)
            }
            EntitySource::Select { condition, if_true, if_false } => {
                let condition = self.eval(condition, at)?;
                let if_true = self.without_statements(|s| s.entity(if_true, at))?;
                let if_false = self.without_statements(|s| s.entity(if_false, at))?;
                Ok(self.facts.select_path(self.sets, condition, if_true, if_false))
            }
            EntitySource::Extend(data) => {
                let set = self.ty(data).mapping().ok_or(Unfusable)?;
                match self.facts.member(self.sets, set, at) {
                    Some(true) => self.entity(data, at),
                    Some(false) => Ok(Path::Empty),
                    None => {
                        self.need_members(set)?;
                        let inside = self.without_statements(|s| {
                            s.facts.learn(s.sets, at, set, true);
                            s.entity(data, at)
                        })?;
                        let condition = KExpr::Member { set, at: at.clone() };
                        Ok(self.facts.select_path(self.sets, condition, inside, Path::Empty))
                    }
                }
            }
            EntitySource::Stored | EntitySource::None => Err(Unfusable),
        }
    }

    /// First cell of a face.
    pub(super) fn first(&mut self, face: &Path) -> Result<Path> {
        self.cell_of(face, Side::Low)
    }

    /// Second cell of a face.
    pub(super) fn second(&mut self, face: &Path) -> Result<Path> {
        self.cell_of(face, Side::High)
    }

    /// The first (`Low`) or second (`High`) cell of a face: normals of Cartesian grids point along
    /// the axes.
    fn cell_of(&mut self, face: &Path, which: Side) -> Result<Path> {
        let plain = match which {
            Side::Low => Path::First(Box::new(face.clone())),
            Side::High => Path::Second(Box::new(face.clone())),
        };
        match (self.mode, face) {
            (Mode::General, _) => Ok(plain),
            (Mode::Full, Path::SideFace(side)) => {
                if *side != which {
                    return Ok(Path::Here);
                }
                match self.facts.side {
                    Some((current, true)) if current == *side => Ok(Path::neighbour(*side)),
                    Some((current, false)) if current == *side => Ok(Path::Empty),
                    Some(_) | None => Err(Unfusable),
                }
            }
            (Mode::PerAxis, Path::Here) => {
                let interior = self.sets.canonical(CanonicalSet::INTERIOR_FACES);
                if self.facts.member(self.sets, interior, face) == Some(true) { Ok(plain) } else { Err(Unfusable) }
            }
            (Mode::Full | Mode::PerAxis, _) => Err(Unfusable),
        }
    }

    /// An entity whose geometry is asked for; in the Cartesian forms it must be one of those whose
    /// geometry is uniform.
    pub(super) fn geometry_path(&mut self, entities: ValueId, at: &Path) -> Result<Path> {
        let path = self.entity(entities, at)?;
        let uniform = match (&path, self.mode) {
            (_, Mode::General) | (Path::Here | Path::SideFace(_) | Path::Shift { .. }, _) => true,
            (Path::First(face) | Path::Second(face), Mode::PerAxis) => **face == Path::Here,
            _ => false,
        };
        if uniform { Ok(path) } else { Err(Unfusable) }
    }
}
