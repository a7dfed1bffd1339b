//! Pairs and triples of operations that become one: products that are added or subtracted.
//!
//! A loop over lanes waits for memory more than for arithmetic, so that an operation less is a load
//! and a store of a register less. The bits are those of the single operations.

use crate::program::{Accumulation, Instr, LaneProgram, RealBinary, RealReg, RealSrc};

use super::registers::{Access, File, visit};

/// A register: its only definition, if there is one alone, and how often it is read.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    writes: usize,
    definition: usize,
    reads: usize,
}

struct Joiner {
    code: Vec<Instr>,
    usage: Vec<Usage>,
    /// By operation: how many regions have been opened or closed before it.
    part: Vec<usize>,
    gone: Vec<bool>,
}

/// Joins what can be joined.
pub fn join(mut program: LaneProgram) -> LaneProgram {
    let mut usage = vec![Usage::default(); program.n_reals as usize];
    let mut part = Vec::with_capacity(program.code.len());
    let mut parts = 0;
    for (position, instr) in program.code.iter_mut().enumerate() {
        parts += usize::from(is_border(instr));
        part.push(parts);
        visit(instr, &mut |access, file, register| {
            if file == File::Real {
                let usage = &mut usage[*register as usize];
                match access {
                    Access::Read => usage.reads += 1,
                    Access::Write => {
                        usage.writes += 1;
                        usage.definition = position;
                    }
                    Access::Update => {
                        usage.writes += 1;
                        usage.reads += 1;
                    }
                }
            }
        });
    }
    let gone = vec![false; program.code.len()];
    let mut joiner = Joiner { code: program.code, usage, part, gone };
    for position in 0..joiner.code.len() {
        joiner.join_at(position);
    }
    program.code = sides(without(joiner.code, &joiner.gone));
    program
}

/// Sides with one term become one operation, where they are in no other region.
fn sides(mut code: Vec<Instr>) -> Vec<Instr> {
    let mut gone = vec![false; code.len()];
    let mut depth = 0;
    for position in 0..code.len() {
        if let [Instr::EnterSide { side, .. }, Instr::AccumulateMulDiff { variable, minus, t, x, y }, Instr::Leave, ..] = code[position..]
            && depth == 0
        {
            code[position] = Instr::AccumulateSide { side, variable, minus, t, x, y };
            gone[position + 1..position + 3].fill(true);
        }
        match code[position] {
            _ if gone[position] => {}
            Instr::Enter { .. } | Instr::EnterSide { .. } | Instr::Faces { .. } => depth += 1,
            Instr::Leave | Instr::NextFaces { .. } => depth -= 1,
            _ => {}
        }
    }
    without(code, &gone)
}

impl Joiner {
    /// The definition of an operand, if this operation alone reads it, in the same region.
    fn only_for(&self, src: RealSrc, position: usize) -> Option<usize> {
        let RealSrc::Reg(RealReg(register)) = src else { return None };
        let Usage { writes, definition, reads } = self.usage[register as usize];
        (writes == 1 && reads == 1 && self.part[definition] == self.part[position] && !self.gone[definition]).then_some(definition)
    }

    /// Factors of an operand that is a product for this operation alone.
    fn product(&self, src: RealSrc, position: usize) -> Option<(usize, RealSrc, RealSrc)> {
        let definition = self.only_for(src, position)?;
        match self.code[definition] {
            Instr::Binary { op: RealBinary::Mul, a, b, .. } => Some((definition, a, b)),
            _ => None,
        }
    }

    /// A product of a number that is the same in all lanes with a difference of others.
    fn mul_diff(&self, a: RealSrc, b: RealSrc, position: usize) -> Option<(usize, RealSrc, RealSrc, RealSrc)> {
        for (t, difference) in [(a, b), (b, a)] {
            if let (RealSrc::Uniform(_), Some(definition)) = (t, self.only_for(difference, position))
                && let Instr::Binary { op: RealBinary::Sub, a: x, b: y, .. } = self.code[definition]
                && is_each(x)
                && is_each(y)
            {
                return Some((definition, t, x, y));
            }
        }
        None
    }

    fn join_at(&mut self, position: usize) {
        match self.code[position] {
            Instr::Binary { op: op @ (RealBinary::Add | RealBinary::Sub), dst, a, b } => {
                let minus = op == RealBinary::Sub;
                let mut operands = vec![(a, b)];
                if !minus {
                    operands.push((b, a));
                }
                for (acc, product) in operands {
                    let Some((definition, a, b)) = self.product(product, position).filter(|_| is_each(acc)) else { continue };
                    self.gone[definition] = true;
                    self.code[position] = match self.mul_diff(a, b, position) {
                        Some((difference, t, x, y)) => {
                            self.gone[difference] = true;
                            Instr::MulDiffAdd { dst, acc, minus, t, x, y }
                        }
                        None => Instr::MulAdd { dst, acc, minus, a, b },
                    };
                    return;
                }
            }
            Instr::Accumulate { variable, how: how @ (Accumulation::Add | Accumulation::Sub), term } => {
                let Some((definition, a, b)) = self.product(term, position) else { return };
                let Some((difference, t, x, y)) = self.mul_diff(a, b, position) else { return };
                self.gone[definition] = true;
                self.gone[difference] = true;
                self.code[position] = Instr::AccumulateMulDiff { variable, minus: how == Accumulation::Sub, t, x, y };
            }
            _ => {}
        }
    }
}

fn is_each(src: RealSrc) -> bool {
    match src {
        RealSrc::Uniform(_) => false,
        RealSrc::Reg(_) | RealSrc::Memory(..) => true,
    }
}

/// True if an operation opens or closes a region.
fn is_border(instr: &Instr) -> bool {
    matches!(instr, Instr::Enter { .. } | Instr::EnterSide { .. } | Instr::Leave | Instr::Faces { .. } | Instr::NextFaces { .. })
}

/// The operations that are not gone; addresses follow.
fn without(code: Vec<Instr>, gone: &[bool]) -> Vec<Instr> {
    let mut moved = Vec::with_capacity(code.len());
    let mut next = 0;
    for &gone in gone {
        moved.push(next);
        next += u32::from(!gone);
    }
    let kept = code.into_iter().zip(gone).filter(|&(_, &gone)| !gone);
    kept.map(|(mut instr, _)| {
        match &mut instr {
            Instr::Enter { end: address, .. }
            | Instr::EnterSide { end: address, .. }
            | Instr::Faces { end: address, .. }
            | Instr::NextFaces { begin: address } => address.0 = moved[address.0 as usize],
            _ => {}
        }
        instr
    })
    .collect()
}
