//! Registers: each is used again when its value has been read for the last time.

use std::collections::BTreeMap;

use crate::program::{Accumulation, EntryColumn, EntrySign, Instr, LaneProgram, RealSrc};

/// A kind of register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum File {
    Real,
    Truth,
    Entity,
}

/// The use that an operation makes of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// Reads and writes a variable.
    Update,
}

/// Calls `f` for each register of an operation: what it reads, then what it writes.
pub fn visit(instr: &mut Instr, f: &mut dyn FnMut(Access, File, &mut u32)) {
    use Access::{Read, Update, Write};
    let real = |src: &mut RealSrc, f: &mut dyn FnMut(Access, File, &mut u32)| {
        if let RealSrc::Reg(register) = src {
            f(Read, File::Real, &mut register.0);
        }
    };
    match instr {
        Instr::Fill { dst, value: _ } => f(Write, File::Real, &mut dst.0),
        Instr::CopyReal { dst, src } => {
            real(src, f);
            f(Write, File::Real, &mut dst.0);
        }
        Instr::Unary { op: _, dst, a } | Instr::Interpolate { dst, table: _, of: _, x: a } => {
            real(a, f);
            f(Write, File::Real, &mut dst.0);
        }
        Instr::Binary { op: _, dst, a, b } => {
            real(a, f);
            real(b, f);
            f(Write, File::Real, &mut dst.0);
        }
        Instr::MulAdd { dst, acc, minus: _, a, b } => {
            [acc, a, b].into_iter().for_each(|src| real(src, f));
            f(Write, File::Real, &mut dst.0);
        }
        Instr::MulDiffAdd { dst, acc, minus: _, t, x, y } => {
            [acc, t, x, y].into_iter().for_each(|src| real(src, f));
            f(Write, File::Real, &mut dst.0);
        }
        Instr::Select { dst, condition, a, b } => {
            f(Read, File::Truth, &mut condition.0);
            real(a, f);
            real(b, f);
            f(Write, File::Real, &mut dst.0);
        }
        Instr::Accumulate { variable, how, term } => {
            real(term, f);
            match how {
                Accumulation::AddWhere(truth) => f(Read, File::Truth, &mut truth.0),
                Accumulation::Add | Accumulation::Sub | Accumulation::Max | Accumulation::Min => {}
            }
            f(Update, File::Real, &mut variable.0);
        }
        Instr::AccumulateMulDiff { variable, minus: _, t, x, y } | Instr::AccumulateSide { side: _, variable, minus: _, t, x, y } => {
            [t, x, y].into_iter().for_each(|src| real(src, f));
            f(Update, File::Real, &mut variable.0);
        }
        Instr::GatherReal { dst, array: _, ranks: _, at }
        | Instr::GatherTriple { dst, array: _, axis: _, at }
        | Instr::CellIndex { dst, at, axis: _ } => {
            f(Read, File::Entity, &mut at.0);
            f(Write, File::Real, &mut dst.0);
        }
        Instr::LoadSide { dst, array: _, axis: _, high: _ } | Instr::LoadOffset { dst, array: _, offset: _ } => {
            f(Write, File::Real, &mut dst.0);
        }
        Instr::FillTruth { dst, value: _ } | Instr::LoadTruth { dst, array: _, offset: _ } => f(Write, File::Truth, &mut dst.0),
        Instr::CopyTruth { dst, src: a } | Instr::Not { dst, a } => {
            f(Read, File::Truth, &mut a.0);
            f(Write, File::Truth, &mut dst.0);
        }
        Instr::GatherTruth { dst, array: _, ranks: _, at }
        | Instr::IsEmpty { dst, a: at }
        | Instr::Member { dst, ranks: _, at }
        | Instr::CellOutside { dst, at, axis: _, by: _ }
        | Instr::CellEven { dst, at, axes: _ } => {
            f(Read, File::Entity, &mut at.0);
            f(Write, File::Truth, &mut dst.0);
        }
        Instr::Compare { op: _, dst, a, b } | Instr::Replaces { dst, largest: _, extreme: a, term: b } => {
            real(a, f);
            real(b, f);
            f(Write, File::Truth, &mut dst.0);
        }
        Instr::CompareTruths { op: _, dst, a, b } | Instr::Logic { op: _, dst, a, b } => {
            f(Read, File::Truth, &mut a.0);
            f(Read, File::Truth, &mut b.0);
            f(Write, File::Truth, &mut dst.0);
        }
        Instr::SelectTruth { dst, condition, a, b } => {
            [condition, a, b].into_iter().for_each(|truth| f(Read, File::Truth, &mut truth.0));
            f(Write, File::Truth, &mut dst.0);
        }
        Instr::Same { dst, a, b } => {
            f(Read, File::Entity, &mut a.0);
            f(Read, File::Entity, &mut b.0);
            f(Write, File::Truth, &mut dst.0);
        }
        Instr::Here { dst }
        | Instr::Empty { dst }
        | Instr::LoadEntity { dst, array: _, offset: _ }
        | Instr::SideFace { dst, axis: _, high: _ } => f(Write, File::Entity, &mut dst.0),
        Instr::CopyEntity { dst, src: at }
        | Instr::GatherEntity { dst, array: _, ranks: _, at }
        | Instr::FaceCell { dst, face: at, second: _ }
        | Instr::OffsetCell { dst, from: at, offset: _ } => {
            f(Read, File::Entity, &mut at.0);
            f(Write, File::Entity, &mut dst.0);
        }
        Instr::SelectEntity { dst, condition, a, b } => {
            f(Read, File::Truth, &mut condition.0);
            f(Read, File::Entity, &mut a.0);
            f(Read, File::Entity, &mut b.0);
            f(Write, File::Entity, &mut dst.0);
        }
        Instr::Require { at } => f(Read, File::Entity, &mut at.0),
        Instr::Check { condition } | Instr::Enter { condition, value: _, end: _ } => f(Read, File::Truth, &mut condition.0),
        Instr::Faces { cell, face, outward, only: _, end: _ } => {
            f(Read, File::Entity, &mut cell.0);
            f(Write, File::Entity, &mut face.0);
            f(Write, File::Truth, &mut outward.0);
        }
        Instr::Fail | Instr::EnterSide { .. } | Instr::Leave | Instr::NextFaces { begin: _ } => {}
        Instr::AddEntry { unknown: _, place, sign, value } => {
            real(value, f);
            entry_column(place, f);
            match sign {
                EntrySign::Plus | EntrySign::Minus => {}
                EntrySign::PlusWhere(truth) | EntrySign::MinusWhere(truth) => f(Read, File::Truth, &mut truth.0),
            }
        }
        Instr::MarkEntry { unknown: _, place } => entry_column(place, f),
        Instr::StoreReal { result: _, src } => real(src, f),
        Instr::StoreTruth { result: _, src } => f(Read, File::Truth, &mut src.0),
        Instr::StoreEntity { result: _, src } => f(Read, File::Entity, &mut src.0),
    }
}

fn entry_column(place: &mut EntryColumn, f: &mut dyn FnMut(Access, File, &mut u32)) {
    match place {
        EntryColumn::Shifted(_) => {}
        EntryColumn::At { ranks: _, at } => f(Access::Read, File::Entity, &mut at.0),
    }
}

/// Live range of a value.
#[derive(Clone, Copy, Debug)]
struct Life {
    first: usize,
    last: usize,
}

/// Gives values that are not alive at the same time the same register.
pub fn allocate(mut program: LaneProgram) -> LaneProgram {
    let lives = lives(&mut program.code);
    let mut ends: BTreeMap<usize, Vec<(File, u32)>> = BTreeMap::new();
    for (&register, life) in &lives {
        ends.entry(life.last).or_default().push(register);
    }
    let mut places: BTreeMap<(File, u32), u32> = BTreeMap::new();
    let mut free: BTreeMap<File, Vec<u32>> = BTreeMap::new();
    let mut used: BTreeMap<File, u32> = BTreeMap::new();
    for (position, instr) in program.code.iter_mut().enumerate() {
        visit(instr, &mut |_, file, register| {
            let place = places.entry((file, *register)).or_insert_with(|| {
                free.entry(file).or_default().pop().unwrap_or_else(|| {
                    let used = used.entry(file).or_default();
                    *used += 1;
                    *used - 1
                })
            });
            *register = *place;
        });
        // Registers are given back after the operation, so that it writes none that it reads.
        for key in ends.remove(&position).unwrap_or_default() {
            if let Some(place) = places.remove(&key) {
                free.entry(key.0).or_default().push(place);
            }
        }
    }
    let number = |file| used.get(&file).copied().unwrap_or(0);
    program.n_reals = number(File::Real);
    program.n_truths = number(File::Truth);
    program.n_entities = number(File::Entity);
    program
}

/// Live range of each value, from its first to its last operation. What a loop reads from outside
/// lives to the end of the loop.
fn lives(code: &mut [Instr]) -> BTreeMap<(File, u32), Life> {
    let mut lives: BTreeMap<(File, u32), Life> = BTreeMap::new();
    let mut loops = Vec::new();
    for (position, instr) in code.iter_mut().enumerate() {
        visit(instr, &mut |_, file, register| {
            lives.entry((file, *register)).or_insert(Life { first: position, last: position }).last = position;
        });
        if let Instr::Faces { cell, face, outward, end, .. } = *instr {
            loops.push((position, end.0 as usize, [(File::Entity, cell.0), (File::Entity, face.0), (File::Truth, outward.0)]));
        }
    }
    loops.sort_by_key(|&(_, end, _)| end);
    for (begin, end, own) in loops {
        for (register, life) in &mut lives {
            let is_read_inside = life.first < begin && life.last > begin;
            if is_read_inside || own.contains(register) {
                life.last = life.last.max(end);
            }
        }
    }
    lives
}
