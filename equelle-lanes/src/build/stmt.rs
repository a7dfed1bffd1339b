//! Statements.

use equelle_front::ir::{KBlock, KStmt, LocalId, ParamId, Path, SideBlocks};
use equelle_front::ops::FaceReduction;
use equelle_front::types::Basic;

use super::value::{Entity, Value};
use super::{Additions, Builder};
use crate::program::{Accumulation, Address, CellSide, EntityReg, EntryColumn, EntrySign, Instr, RealReg, RealSrc, TruthReg, Uniform};
use crate::refusal::Refusal;

/// A result of a reduction over faces, by component.
type Variables = Vec<Vec<RealReg>>;

/// The terms of one face.
struct Terms {
    reduction: FaceReduction,
    /// Accumulation of a sum's terms.
    how: Accumulation,
    face: Entity,
}

impl Builder<'_> {
    /// Writes code in a region that `open` opens; `close` closes it.
    pub fn in_region<T>(
        &mut self,
        open: Instr,
        close: impl FnOnce(Address) -> Instr,
        inside: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let begin = self.code.open_region(open)?;
        let value = inside(self)?;
        self.code.close_region(begin, close(begin))?;
        Ok(value)
    }

    /// Statements of a block, then its values.
    pub fn block(&mut self, block: &KBlock) -> Result<Vec<Value>, Refusal> {
        for stmt in &block.statements {
            self.statement(stmt)?;
        }
        block.yields.iter().map(|value| self.expr(value)).collect()
    }

    fn set(&mut self, local: LocalId, value: Value) -> Result<(), Refusal> {
        *self.locals.get_mut(local.0 as usize).ok_or(Refusal::Type)? = Some(value);
        Ok(())
    }

    fn statement(&mut self, stmt: &KStmt) -> Result<(), Refusal> {
        match stmt {
            KStmt::Let { local, value } => {
                let value = self.expr(value)?;
                self.set(*local, value)
            }
            KStmt::LetEntity { local, path } => {
                let entity = self.path(path)?;
                self.set(*local, Value::Entity(entity))
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                let cell = self.path(cell)?;
                let cell = self.entity_reg(cell)?;
                let (variables, found) = self.starts(*reduction, results, extreme_faces)?;
                let (face_reg, outward) = (self.code.new_entity(), self.code.new_truth());
                self.set(*face, Value::Entity(Entity::Reg(face_reg)))?;
                self.never_empty.insert(*face);
                let terms = Terms { reduction: *reduction, how: Accumulation::AddWhere(outward), face: Entity::Reg(face_reg) };
                let outer = self.sign;
                self.sign = within_faces(outer, outward)?;
                self.in_region(
                    Instr::Faces { cell, face: face_reg, outward, only: *only, end: Address(0) },
                    |begin| Instr::NextFaces { begin },
                    |builder| builder.take_in(&terms, &variables, &found, body),
                )?;
                self.sign = outer;
                self.finish(results, extreme_faces, variables, &found)
            }
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                let (variables, found) = self.starts(*reduction, results, extreme_faces)?;
                for axis in 0..self.target.dim {
                    self.axis = Some(axis);
                    for (blocks, high) in [(low, false), (high, true)] {
                        self.side(*reduction, (axis, high), blocks, &variables, &found)?;
                    }
                }
                self.axis = None;
                self.finish(results, extreme_faces, variables, &found)
            }
            KStmt::Add { unknown, at, value } => {
                let place = self.entry_column(*unknown, at)?;
                let unknown = unknown.0;
                match self.additions {
                    Additions::None => return Err(Refusal::Derivatives),
                    Additions::Marked => self.code.push(Instr::MarkEntry { unknown, place }),
                    Additions::Added => {
                        let value = self.expr(value)?.real()?;
                        self.code.push(Instr::AddEntry { unknown, place, sign: self.sign, value });
                    }
                }
                Ok(())
            }
            KStmt::If { results, condition, then, otherwise } => {
                let condition = self.expr(condition)?.truth()?;
                let values = match self.code.known(condition) {
                    Some(true) => self.block(then)?,
                    Some(false) => self.block(otherwise)?,
                    None if self.block_needs_region(then) || self.block_needs_region(otherwise) => {
                        self.choice(condition, |builder| builder.block(then), |builder| builder.block(otherwise), Ok)?
                    }
                    None => {
                        let (a, b) = (self.block(then)?, self.block(otherwise)?);
                        a.into_iter().zip(b).map(|(a, b)| self.select(condition, a, b)).collect::<Result<_, _>>()?
                    }
                };
                for (result, value) in results.iter().zip(values) {
                    self.set(*result, value)?;
                }
                Ok(())
            }
        }
    }

    /// The terms of one side of the cells.
    fn side(
        &mut self,
        reduction: FaceReduction,
        (axis, high): (usize, bool),
        blocks: &SideBlocks,
        variables: &Variables,
        found: &[EntityReg],
    ) -> Result<(), Refusal> {
        if self.path(&Path::Here)? != Entity::Here || self.target.layout != crate::program::Layout::Consecutive(0) {
            return Err(Refusal::OtherEntity);
        }
        let how = if high { Accumulation::Add } else { Accumulation::Sub };
        let terms = Terms { reduction, how, face: Entity::SideFace { axis, high } };
        let outer = self.sign;
        self.sign = if high { outer } else { flipped(outer) };
        // Where sides are joined, cells at the end have a neighbour, too: at another distance.
        let is_joined = self.target.shape.is_some_and(|shape| shape.joined[axis]);
        let at_end = if is_joined { &blocks.interior } else { &blocks.boundary };
        for (block, boundary) in [(&blocks.interior, false), (at_end, true)] {
            let Some(block) = block else { continue };
            self.wraps = is_joined && boundary;
            self.in_region(
                Instr::EnterSide { side: CellSide { axis: axis as u8, high, boundary }, end: Address(0) },
                |_| Instr::Leave,
                |builder| builder.take_in(&terms, variables, found, block),
            )?;
        }
        (self.sign, self.wraps) = (outer, false);
        Ok(())
    }

    /// The element of an unknown that belongs to an entity.
    fn entry_column(&mut self, unknown: ParamId, at: &Path) -> Result<EntryColumn, Refusal> {
        let set = self.kernel.param(unknown).and_then(|param| param.ty.mapping()).ok_or(Refusal::Type)?;
        let entity = self.path(at)?;
        if let Some(offset) = self.consecutive(set, entity) {
            return Ok(EntryColumn::Shifted(offset));
        }
        let (at, ranks) = (self.entity_reg(entity)?, self.ranks(set));
        Ok(EntryColumn::At { ranks, at })
    }

    /// Variables of a reduction, as it begins.
    fn starts(
        &mut self,
        reduction: FaceReduction,
        results: &[LocalId],
        extreme_faces: &[LocalId],
    ) -> Result<(Variables, Vec<EntityReg>), Refusal> {
        let mut variables = Vec::new();
        for local in results {
            let is_vector = self.kernel.local_type(*local).is_some_and(|ty| ty.basic == Basic::Vector);
            let (n, start) = if is_vector { (self.target.dim, 0.0) } else { (1, reduction.start()) };
            let value = self.code.uniform(Uniform::Const(start.to_bits()));
            let mut components = Vec::new();
            for _ in 0..n {
                let dst = self.code.new_real();
                self.code.push(Instr::Fill { dst, value });
                components.push(dst);
            }
            variables.push(components);
        }
        let mut found = Vec::new();
        for _ in extreme_faces {
            let dst = self.code.new_entity();
            self.code.push(Instr::Empty { dst });
            found.push(dst);
        }
        Ok((variables, found))
    }

    /// Takes the terms of a face into the variables.
    fn take_in(&mut self, terms: &Terms, variables: &Variables, found: &[EntityReg], body: &KBlock) -> Result<(), Refusal> {
        let values = self.block(body)?;
        for (i, (value, components)) in values.into_iter().zip(variables).enumerate() {
            let sources = match value {
                Value::Real(src) => vec![src],
                Value::Vector(sources) => sources,
                Value::Truth(_) | Value::Entity(_) => return Err(Refusal::Type),
            };
            if sources.len() != components.len() {
                return Err(Refusal::Type);
            }
            let (how, largest) = match terms.reduction {
                FaceReduction::Sum => (terms.how, None),
                FaceReduction::Max => (Accumulation::Max, Some(true)),
                FaceReduction::Min => (Accumulation::Min, Some(false)),
            };
            for (term, &variable) in sources.into_iter().zip(components) {
                if let (Some(largest), Some(&found)) = (largest, found.get(i)) {
                    let condition = self.code.new_truth();
                    self.code.push(Instr::Replaces { dst: condition, largest, extreme: RealSrc::Reg(variable), term });
                    let face = self.entity_reg(terms.face)?;
                    self.in_region(
                        Instr::Enter { condition, value: true, end: Address(0) },
                        |_| Instr::Leave,
                        |builder| {
                            builder.code.push(Instr::CopyEntity { dst: found, src: face });
                            Ok(())
                        },
                    )?;
                }
                self.code.push(Instr::Accumulate { variable, how, term });
            }
        }
        Ok(())
    }

    /// Defines the results of a reduction.
    fn finish(&mut self, results: &[LocalId], extreme_faces: &[LocalId], variables: Variables, found: &[EntityReg]) -> Result<(), Refusal> {
        for (local, components) in results.iter().zip(variables) {
            let is_vector = self.kernel.local_type(*local).is_some_and(|ty| ty.basic == Basic::Vector);
            let mut sources: Vec<RealSrc> = components.into_iter().map(RealSrc::Reg).collect();
            let value = match (is_vector, sources.len()) {
                (true, _) => Value::Vector(sources),
                (false, 1) => Value::Real(sources.remove(0)),
                (false, _) => return Err(Refusal::Type),
            };
            self.set(*local, value)?;
        }
        for (local, &entity) in extreme_faces.iter().zip(found) {
            self.set(*local, Value::Entity(Entity::Reg(entity)))?;
        }
        Ok(())
    }
}

/// The sign of a term of faces of which some point outward.
fn within_faces(outer: EntrySign, outward: TruthReg) -> Result<EntrySign, Refusal> {
    match outer {
        EntrySign::Plus => Ok(EntrySign::PlusWhere(outward)),
        EntrySign::Minus => Ok(EntrySign::MinusWhere(outward)),
        EntrySign::PlusWhere(_) | EntrySign::MinusWhere(_) => Err(Refusal::NestedSums),
    }
}

fn flipped(sign: EntrySign) -> EntrySign {
    match sign {
        EntrySign::Plus => EntrySign::Minus,
        EntrySign::Minus => EntrySign::Plus,
        EntrySign::PlusWhere(truth) => EntrySign::MinusWhere(truth),
        EntrySign::MinusWhere(truth) => EntrySign::PlusWhere(truth),
    }
}
