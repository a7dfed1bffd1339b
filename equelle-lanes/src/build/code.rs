//! Operations, each once: what a region has done, it takes.

use std::collections::HashMap;

use equelle_front::ir::Precision;
use equelle_front::ops::{Arithmetic, Beyond, BinaryMath, Comparison, Logic, Offset};
use equelle_runtime::grid::Cartesian;

use super::value::Truth;
use crate::program::{
    Address, ArrayId, EntityReg, Instr, LaneProgram, Layout, MAX_REGIONS, OffsetId, RealArray, RealBinary, RealReg, RealSrc, RealUnary,
    TruthReg, Uniform, UniformId,
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

/// The code of a program, with what it reads.
pub(super) struct Code {
    /// Precision in which the kernel computes.
    precision: Precision,
    pub program: LaneProgram,
    uniform_ids: HashMap<Uniform, UniformId>,
    /// Operations that the open regions have done, outermost first: by the operation with a
    /// register of number [`ANY`].
    done: Vec<HashMap<Instr, u32>>,
}

impl Code {
    pub fn new(precision: Precision, layout: Layout, shape: Option<Cartesian>) -> Self {
        let program = LaneProgram { layout, shape, ..LaneProgram::default() };
        Code { precision, program, uniform_ids: HashMap::new(), done: vec![HashMap::new()] }
    }

    pub fn push(&mut self, instr: Instr) {
        self.program.code.push(instr);
    }

    pub fn new_real(&mut self) -> RealReg {
        self.program.n_reals += 1;
        RealReg(self.program.n_reals - 1)
    }

    pub fn new_truth(&mut self) -> TruthReg {
        self.program.n_truths += 1;
        TruthReg(self.program.n_truths - 1)
    }

    pub fn new_entity(&mut self) -> EntityReg {
        self.program.n_entities += 1;
        EntityReg(self.program.n_entities - 1)
    }

    /// The register of what an operation gives: that of the same one done before, or a new one.
    fn once(&mut self, instr: impl Fn(u32) -> Instr, new: impl FnOnce(&mut Code) -> u32) -> u32 {
        let key = instr(ANY);
        if let Some(&register) = self.done.iter().rev().find_map(|done| done.get(&key)) {
            return register;
        }
        let register = new(self);
        self.push(instr(register));
        if let Some(done) = self.done.last_mut() {
            done.insert(key, register);
        }
        register
    }

    /// The number that an operation gives.
    pub fn real(&mut self, instr: impl Fn(RealReg) -> Instr) -> RealSrc {
        RealSrc::Reg(RealReg(self.once(|register| instr(RealReg(register)), |code| code.new_real().0)))
    }

    /// The truth values that an operation gives.
    pub fn truth(&mut self, instr: impl Fn(TruthReg) -> Instr) -> TruthReg {
        TruthReg(self.once(|register| instr(TruthReg(register)), |code| code.new_truth().0))
    }

    /// The entities that an operation gives.
    pub fn entity(&mut self, instr: impl Fn(EntityReg) -> Instr) -> EntityReg {
        EntityReg(self.once(|register| instr(EntityReg(register)), |code| code.new_entity().0))
    }

    /// Something that is the same for all elements.
    pub fn uniform(&mut self, uniform: Uniform) -> UniformId {
        if let Some(&id) = self.uniform_ids.get(&uniform) {
            return id;
        }
        let id = UniformId(self.program.uniforms.len() as u32);
        self.program.uniforms.push(uniform);
        self.uniform_ids.insert(uniform, id);
        id
    }

    /// A number of the program, rounded to what the kernel computes in.
    pub fn constant(&mut self, value: f64) -> RealSrc {
        RealSrc::Uniform(self.uniform(Uniform::Const(self.precision.round(value).to_bits())))
    }

    pub fn truth_constant(&mut self, value: bool) -> Truth {
        Truth::Uniform(self.uniform(Uniform::Const(f64::from(u8::from(value)).to_bits())))
    }

    fn const_of(&self, id: UniformId) -> Option<f64> {
        match self.program.uniforms[id.0 as usize] {
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

    /// Consecutive numbers of an array.
    pub fn memory(&mut self, array: RealArray, offset: i64) -> RealSrc {
        RealSrc::Memory(index_of(&mut self.program.arrays.reals, array), offset)
    }

    pub fn offset(&mut self, by: Offset, beyond: Beyond) -> OffsetId {
        OffsetId(index_of(&mut self.program.offsets, (by, beyond)).0)
    }

    /// Opens a region, whose operations are not done outside of it.
    pub fn open_region(&mut self, open: Instr) -> Result<Address, Refusal> {
        // One is for an extreme over faces.
        if self.done.len() > MAX_REGIONS - 1 {
            return Err(Refusal::Depth);
        }
        let begin = self.here();
        self.push(open);
        self.done.push(HashMap::new());
        Ok(begin)
    }

    /// Closes the region that begins at an address.
    pub fn close_region(&mut self, begin: Address, close: Instr) -> Result<(), Refusal> {
        self.done.pop();
        let close_at = self.here();
        match &mut self.program.code[begin.0 as usize] {
            Instr::Enter { end, .. } | Instr::EnterSide { end, .. } | Instr::Faces { end, .. } => *end = close_at,
            _ => return Err(Refusal::Type),
        }
        self.push(close);
        Ok(())
    }

    /// The next address.
    pub fn here(&self) -> Address {
        Address(self.program.code.len() as u32)
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
