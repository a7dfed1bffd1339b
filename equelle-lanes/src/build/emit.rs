//! Operations, each once: what a region has done, it takes.

use std::collections::HashMap;

use equelle_front::ops::{Arithmetic, BinaryMath, Comparison, Logic, SideMap};

use super::{Builder, Entity, Truth};
use crate::program::{
    Address, ArrayId, EntityReg, Instr, MAX_REGIONS, RealArray, RealBinary, RealReg, RealSrc, RealUnary, TruthReg, Uniform, UniformId,
};
use crate::refusal::Refusal;

/// Number of the register in keys of operations.
pub const ANY: u32 = u32::MAX;

/// Position of a value in a list, to which it is added if it is not there.
pub fn index_of<T: PartialEq>(list: &mut Vec<T>, value: T) -> ArrayId {
    let position = list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    });
    ArrayId(position as u32)
}

impl Builder<'_> {
    fn find(&self, key: &Instr) -> Option<u32> {
        self.done.iter().rev().find_map(|done| done.get(key).copied())
    }

    fn keep(&mut self, key: Instr, register: u32) {
        if let Some(done) = self.done.last_mut() {
            done.insert(key, register);
        }
    }

    pub fn new_real(&mut self) -> RealReg {
        self.n_reals += 1;
        RealReg(self.n_reals - 1)
    }

    pub fn new_truth(&mut self) -> TruthReg {
        self.n_truths += 1;
        TruthReg(self.n_truths - 1)
    }

    pub fn new_entity(&mut self) -> EntityReg {
        self.n_entities += 1;
        EntityReg(self.n_entities - 1)
    }

    /// The number that an operation gives.
    pub fn real(&mut self, instr: impl Fn(RealReg) -> Instr) -> RealSrc {
        let key = instr(RealReg(ANY));
        if let Some(register) = self.find(&key) {
            return RealSrc::Reg(RealReg(register));
        }
        let register = self.new_real();
        self.code.push(instr(register));
        self.keep(key, register.0);
        RealSrc::Reg(register)
    }

    /// The truth values that an operation gives.
    pub fn truth(&mut self, instr: impl Fn(TruthReg) -> Instr) -> TruthReg {
        let key = instr(TruthReg(ANY));
        if let Some(register) = self.find(&key) {
            return TruthReg(register);
        }
        let register = self.new_truth();
        self.code.push(instr(register));
        self.keep(key, register.0);
        register
    }

    /// The entities that an operation gives.
    pub fn entity(&mut self, instr: impl Fn(EntityReg) -> Instr) -> EntityReg {
        let key = instr(EntityReg(ANY));
        if let Some(register) = self.find(&key) {
            return EntityReg(register);
        }
        let register = self.new_entity();
        self.code.push(instr(register));
        self.keep(key, register.0);
        register
    }

    /// Something that is the same for all elements.
    pub fn uniform(&mut self, uniform: Uniform) -> UniformId {
        if let Some(&id) = self.uniform_ids.get(&uniform) {
            return id;
        }
        let id = UniformId(self.uniforms.len() as u32);
        self.uniforms.push(uniform);
        self.uniform_ids.insert(uniform, id);
        id
    }

    /// A number of the program, rounded to what the kernel computes in.
    pub fn constant(&mut self, value: f64) -> RealSrc {
        RealSrc::Uniform(self.uniform(Uniform::Const(self.target.precision.round(value).to_bits())))
    }

    pub fn truth_constant(&mut self, value: bool) -> Truth {
        Truth::Uniform(self.uniform(Uniform::Const(f64::from(u8::from(value)).to_bits())))
    }

    fn const_of(&self, id: UniformId) -> Option<f64> {
        match self.uniforms[id.0 as usize] {
            Uniform::Const(bits) => Some(f64::from_bits(bits)),
            Uniform::Param(_)
            | Uniform::Component(..)
            | Uniform::PerAxis(..)
            | Uniform::Unary(..)
            | Uniform::Binary(..)
            | Uniform::Compare(..)
            | Uniform::Not(_)
            | Uniform::Logic(..)
            | Uniform::Select(..)
            | Uniform::Interpolate(..) => None,
        }
    }

    /// The truth value, if it is known now.
    pub fn known(&self, truth: Truth) -> Option<bool> {
        match truth {
            Truth::Uniform(id) => self.const_of(id).map(|value| value != 0.0),
            Truth::Reg(_) => None,
        }
    }

    pub fn unary(&mut self, op: RealUnary, a: RealSrc) -> RealSrc {
        match a {
            RealSrc::Uniform(a) => RealSrc::Uniform(self.uniform(Uniform::Unary(op, a))),
            RealSrc::Reg(_) | RealSrc::Memory(..) => self.real(|dst| Instr::Unary { op, dst, a }),
        }
    }

    pub fn binary(&mut self, op: RealBinary, a: RealSrc, b: RealSrc) -> RealSrc {
        match (a, b) {
            (RealSrc::Uniform(a), RealSrc::Uniform(b)) => RealSrc::Uniform(self.uniform(Uniform::Binary(op, a, b))),
            (RealSrc::Uniform(_) | RealSrc::Reg(_) | RealSrc::Memory(..), _) => self.real(|dst| Instr::Binary { op, dst, a, b }),
        }
    }

    pub fn compare(&mut self, op: Comparison, a: RealSrc, b: RealSrc) -> Truth {
        match (a, b) {
            (RealSrc::Uniform(a), RealSrc::Uniform(b)) => match (self.const_of(a), self.const_of(b)) {
                (Some(a), Some(b)) => self.truth_constant(op.holds(&a, &b)),
                (Some(_) | None, _) => Truth::Uniform(self.uniform(Uniform::Compare(op, a, b))),
            },
            (RealSrc::Uniform(_) | RealSrc::Reg(_) | RealSrc::Memory(..), _) => {
                Truth::Reg(self.truth(|dst| Instr::Compare { op, dst, a, b }))
            }
        }
    }

    pub fn not(&mut self, a: Truth) -> Truth {
        match (self.known(a), a) {
            (Some(value), _) => self.truth_constant(!value),
            (None, Truth::Uniform(a)) => Truth::Uniform(self.uniform(Uniform::Not(a))),
            (None, Truth::Reg(a)) => Truth::Reg(self.truth(|dst| Instr::Not { dst, a })),
        }
    }

    pub fn logic(&mut self, op: Logic, a: Truth, b: Truth) -> Truth {
        match (self.known(a), self.known(b)) {
            (Some(a), Some(b)) => return self.truth_constant(equelle_interp::value::logic(op, a, b)),
            (Some(known), None) => {
                if let Some(truth) = self.logic_with(op, b, known) {
                    return truth;
                }
            }
            (None, Some(known)) => {
                if let Some(truth) = self.logic_with(op, a, known) {
                    return truth;
                }
            }
            (None, None) => {}
        }
        if let (Truth::Uniform(a), Truth::Uniform(b)) = (a, b) {
            return Truth::Uniform(self.uniform(Uniform::Logic(op, a, b)));
        }
        let (a, b) = (self.truth_reg(a), self.truth_reg(b));
        Truth::Reg(self.truth(|dst| Instr::Logic { op, dst, a, b }))
    }

    /// Logic where one side is known.
    fn logic_with(&mut self, op: Logic, a: Truth, known: bool) -> Option<Truth> {
        match (op, known) {
            (Logic::And, true) | (Logic::Or | Logic::Xor, false) => Some(a),
            (Logic::And, false) => Some(self.truth_constant(false)),
            (Logic::Or, true) => Some(self.truth_constant(true)),
            (Logic::Xor, true) => None,
        }
    }

    /// The register of a truth value.
    pub fn truth_reg(&mut self, truth: Truth) -> TruthReg {
        match truth {
            Truth::Reg(register) => register,
            Truth::Uniform(value) => self.truth(|dst| Instr::FillTruth { dst, value }),
        }
    }

    /// The register of an entity.
    pub fn entity_reg(&mut self, entity: Entity) -> Result<EntityReg, Refusal> {
        Ok(match entity {
            Entity::Empty => self.entity(|dst| Instr::Empty { dst }),
            Entity::Here => self.entity(|dst| Instr::Here { dst }),
            Entity::SideFace { axis, high } => self.entity(|dst| Instr::SideFace { dst, axis: axis as u8, high }),
            Entity::Offset(offset) => {
                let from = self.entity_reg(Entity::Here)?;
                self.entity(|dst| Instr::OffsetCell { dst, from, offset })
            }
            Entity::Shift { axis, by } => {
                // In its region there is a cell there, whatever the rule of a side.
                let mut offset = [0; 3];
                offset[axis] = by;
                let beyond = if self.wraps { SideMap::Wrap } else { SideMap::Never };
                let offset = self.offset(offset, [beyond; 6]);
                return self.entity_reg(Entity::Offset(offset));
            }
            Entity::Reg(register) => register,
        })
    }

    /// Consecutive numbers of an array.
    pub fn memory(&mut self, array: RealArray, offset: i64) -> RealSrc {
        RealSrc::Memory(index_of(&mut self.arrays.reals, array), offset)
    }

    pub fn offset(&mut self, by: equelle_front::ops::Offset, beyond: equelle_front::ops::Beyond) -> crate::program::OffsetId {
        crate::program::OffsetId(index_of(&mut self.offsets, (by, beyond)).0)
    }

    /// The next address.
    pub fn here(&self) -> Address {
        Address(self.code.len() as u32)
    }

    /// Writes code in a region that `open` opens; `close` closes it.
    pub fn in_region<T>(
        &mut self,
        open: Instr,
        close: impl FnOnce(Address) -> Instr,
        inside: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        // One is for an extreme over faces.
        if self.done.len() > MAX_REGIONS - 1 {
            return Err(Refusal::Depth);
        }
        let begin = self.here();
        self.code.push(open);
        self.done.push(HashMap::new());
        let value = inside(self)?;
        self.done.pop();
        let close_at = self.here();
        match &mut self.code[begin.0 as usize] {
            Instr::Enter { end, .. } | Instr::EnterSide { end, .. } | Instr::Faces { end, .. } => *end = close_at,
            _ => return Err(Refusal::Type),
        }
        self.code.push(close(begin));
        Ok(value)
    }
}

/// The operation on numbers.
pub fn arithmetic(op: Arithmetic) -> RealBinary {
    match op {
        Arithmetic::Add => RealBinary::Add,
        Arithmetic::Sub => RealBinary::Sub,
        Arithmetic::Mul => RealBinary::Mul,
        Arithmetic::Div => RealBinary::Div,
    }
}

/// The operation on numbers.
pub fn math(op: BinaryMath) -> RealBinary {
    match op {
        BinaryMath::Min => RealBinary::Min,
        BinaryMath::Max => RealBinary::Max,
        BinaryMath::Pow => RealBinary::Pow,
        BinaryMath::ATan2 => RealBinary::ATan2,
    }
}
