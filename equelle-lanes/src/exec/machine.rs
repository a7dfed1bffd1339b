//! Registers of a thread, and the loop over operations.

use std::ops::Range;

use equelle_front::ir::Interpolant;
use equelle_runtime::grid::{Cartesian, NONE, Topology};
use equelle_runtime::{Real, math};

use super::bindings::{Bindings, Output, Outputs, Ranks};
use super::regions::{Entities, Regions, Truths};
use super::rows::{self, Origin};
use super::vector::{self, Operand};
use crate::program::{Accumulation, EntityReg, EntryColumn, EntrySign, Instr, LANES, LaneProgram, Layout, RealReg, RealSrc, TruthReg};

/// Registers of one type. One that is being written is taken out, so that others can be read.
#[derive(Debug)]
struct File<T>(Vec<Option<Box<[T; LANES]>>>);

impl<T: Copy + Default> File<T> {
    fn new(n: u32) -> Self {
        File((0..n).map(|_| Some(Box::new([T::default(); LANES]))).collect())
    }

    #[inline(always)]
    fn get(&self, register: u32) -> &[T; LANES] {
        self.0[register as usize].as_deref().expect("no operation reads what it writes")
    }

    #[inline(always)]
    fn take(&mut self, register: u32) -> Box<[T; LANES]> {
        self.0[register as usize].take().expect("no operation writes a register twice")
    }

    #[inline(always)]
    fn put(&mut self, register: u32, values: Box<[T; LANES]>) {
        self.0[register as usize] = Some(values);
    }
}

/// Bytes of registers of numbers that leave room for those of arrays in a first cache of 48 KB.
const FAST_BYTES: usize = 32 << 10;
/// Elements of a block at least: an operation takes as long to begin as for some tens of elements.
const MIN_LANES: usize = 96;

/// Writes a register in the lanes of the region. It is no function: its argument would be a closure
/// that is compiled for other instructions than what calls it.
macro_rules! write {
    ($machine:ident, $file:ident, $register:expr, |$out:ident| $body:expr) => {{
        let region = $machine.regions.region();
        let mut values = $machine.$file.take($register.0);
        {
            let $out = &mut values[region.lo..region.hi];
            $body
        }
        $machine.$file.put($register.0, values);
    }};
}

/// An element has an error.
struct Failed;

/// Runs a program on registers of its own.
pub struct Machine<'p, T> {
    program: &'p LaneProgram,
    bindings: &'p Bindings<'p, T>,
    reals: File<T>,
    truths: File<bool>,
    entities: File<u32>,
    regions: Regions,
    /// Elements of a block.
    lanes: usize,
    /// Position of lane 0.
    start: usize,
    /// Its cell, where cells of a Cartesian grid follow each other.
    origin: Origin,
    /// True if elements without a value are passed over: places of derivatives may be those of
    /// elements that do not exist.
    lenient: bool,
}

impl<'p, T: Real> Machine<'p, T> {
    pub fn new(program: &'p LaneProgram, bindings: &'p Bindings<'p, T>) -> Self {
        Machine {
            program,
            bindings,
            reals: File::new(program.n_reals),
            truths: File::new(program.n_truths),
            entities: File::new(program.n_entities),
            regions: Regions::new(),
            lanes: (FAST_BYTES / size_of::<T>() / (program.n_reals as usize).max(1)).next_multiple_of(8).clamp(MIN_LANES, LANES),
            start: 0,
            origin: Origin::default(),
            lenient: false,
        }
    }

    /// Runs the program for the elements at these positions.
    #[inline(always)]
    pub fn range<S: Real>(&mut self, positions: Range<usize>, outputs: &mut Outputs<'_, S>) -> Result<(), usize> {
        self.lenient = matches!(outputs.0.first(), Some(Output::Marks(_)));
        let rows = self.program.shape.as_ref().filter(|_| self.program.layout == Layout::Consecutive(0));
        if let Some(shape) = rows {
            self.origin = Origin::new(shape, positions.start);
        }
        let mut start = positions.start;
        while start < positions.end {
            let lanes = self.block_length(rows).min(positions.end - start);
            self.start = start;
            self.regions.begin(lanes);
            self.block(start - positions.start, outputs).map_err(|Failed| start)?;
            if let Some(Output::Marks(marks)) = outputs.0.first_mut() {
                marks.end_block(lanes);
            }
            start += lanes;
            if let Some(shape) = rows {
                self.origin.advance(shape, lanes);
            }
        }
        Ok(())
    }

    /// Length of the block that begins here: a row of cells is cut in equal parts, unless it is
    /// short.
    fn block_length(&self, rows: Option<&Cartesian>) -> usize {
        let Some(shape) = rows else { return self.lanes };
        let row = shape.n[0];
        if row <= self.lanes / 2 {
            return self.lanes / row * row;
        }
        let rest = row - self.origin.ijk[0];
        if row <= self.lanes {
            return rest;
        }
        let part = row.div_ceil(row.div_ceil(self.lanes)).next_multiple_of(8).min(LANES);
        part.min(rest)
    }

    #[inline(always)]
    fn operand(&self, src: RealSrc) -> Operand<'_, T> {
        let region = self.regions.region();
        self.operand_in(src, region.lo..region.hi)
    }

    /// The numbers of some lanes.
    #[inline(always)]
    fn operand_in(&self, src: RealSrc, lanes: Range<usize>) -> Operand<'_, T> {
        match src {
            RealSrc::Uniform(uniform) => Operand::One(self.bindings.uniforms[uniform.0 as usize]),
            RealSrc::Reg(register) => Operand::Each(&self.reals.get(register.0)[lanes]),
            RealSrc::Memory(array, offset) => {
                let first = (self.start + lanes.start).wrapping_add_signed(offset as isize);
                Operand::Each(&self.bindings.reals[array.0 as usize][first..first + lanes.len()])
            }
        }
    }

    #[inline(always)]
    fn truth(&self, register: TruthReg) -> &[bool] {
        let region = self.regions.region();
        &self.truths.get(register.0)[region.lo..region.hi]
    }

    #[inline(always)]
    fn entity(&self, register: EntityReg) -> &[u32] {
        let region = self.regions.region();
        &self.entities.get(register.0)[region.lo..region.hi]
    }

    #[inline(always)]
    fn shape(&self) -> &'p Cartesian {
        self.program.shape.as_ref().expect("operations on rows are for Cartesian grids")
    }

    #[inline(always)]
    fn topology(&self) -> &'p Topology {
        self.bindings.topology.expect("programs with faces of cells have it")
    }

    /// Writes `value(entity)` in each lane; an error where there is none in an active lane.
    #[inline(always)]
    fn gather<V: Copy>(&self, at: EntityReg, dst: &mut [V], missing: V, value: impl Fn(u32) -> Option<V>) -> Result<(), Failed> {
        let active = self.regions.active();
        let mut failed = false;
        for (lane, (dst, &entity)) in dst.iter_mut().zip(self.entity(at)).enumerate() {
            match value(entity) {
                Some(value) => *dst = value,
                None => {
                    *dst = missing;
                    failed |= active.is_none_or(|active| active[lane]);
                }
            }
        }
        if failed && !self.lenient { Err(Failed) } else { Ok(()) }
    }

    #[inline(always)]
    fn gather_real(&mut self, dst: RealReg, at: EntityReg, value: impl Fn(u32) -> Option<T>) -> Result<(), Failed> {
        let gathered;
        write!(self, reals, dst, |dst| gathered = self.gather(at, dst, T::ZERO, value));
        gathered
    }

    #[inline(always)]
    fn gather_truth(&mut self, dst: TruthReg, at: EntityReg, value: impl Fn(u32) -> Option<bool>) -> Result<(), Failed> {
        let gathered;
        write!(self, truths, dst, |dst| gathered = self.gather(at, dst, false, value));
        gathered
    }

    #[inline(always)]
    fn gather_entity(&mut self, dst: EntityReg, at: EntityReg, value: impl Fn(u32) -> Option<u32>) -> Result<(), Failed> {
        let gathered;
        write!(self, entities, dst, |dst| gathered = self.gather(at, dst, NONE, value));
        gathered
    }

    /// Position of the element of an unknown that belongs to a lane of the region, counted from its
    /// beginning.
    #[inline(always)]
    fn entry_position(&self, place: EntryColumn, lane: usize, ranks: Option<(Ranks<'_>, &[u32])>) -> usize {
        match (place, ranks) {
            (EntryColumn::Shifted(offset), _) => (self.start + self.regions.region().lo + lane).wrapping_add_signed(offset as isize),
            (EntryColumn::At { .. }, Some((ranks, entities))) => ranks.of(entities[lane]) as usize,
            (EntryColumn::At { .. }, None) => NONE as usize,
        }
    }

    #[inline(always)]
    fn entry_ranks(&self, place: EntryColumn) -> Option<(Ranks<'p>, &[u32])> {
        match place {
            EntryColumn::Shifted(_) => None,
            EntryColumn::At { ranks, at } => Some((self.bindings.ranks[ranks.0 as usize], self.entity(at))),
        }
    }

    /// Adds to the rows of the lanes of the region.
    #[inline(always)]
    fn add_entries<S: Real>(
        &self,
        outputs: &mut Outputs<'_, S>,
        unknown: u32,
        place: EntryColumn,
        sign: EntrySign,
        value: RealSrc,
    ) -> Result<(), Failed> {
        let Some(Output::Entries(entries)) = outputs.0.last_mut() else { return Err(Failed) };
        let (region, active, rows) = (self.regions.region(), self.regions.active(), self.bindings.rows);
        let (value, ranks) = (self.operand(value), self.entry_ranks(place));
        let truth = match sign {
            EntrySign::PlusWhere(truth) | EntrySign::MinusWhere(truth) => self.truth(truth),
            EntrySign::Plus | EntrySign::Minus => &[],
        };
        let mut slot = 0;
        for lane in 0..region.hi - region.lo {
            if active.is_some_and(|active| !active[lane]) {
                continue;
            }
            let row = self.start + region.lo + lane;
            let column = rows.column(unknown, self.entry_position(place, lane, ranks)).ok_or(Failed)?;
            slot = rows.slot(row, column, slot).ok_or(Failed)?;
            let value = match value {
                Operand::One(value) => value,
                Operand::Each(values) => values[lane],
            };
            let plus = match sign {
                EntrySign::Plus => true,
                EntrySign::Minus => false,
                EntrySign::PlusWhere(_) => truth[lane],
                EntrySign::MinusWhere(_) => !truth[lane],
            };
            let (entry, value) = (&mut entries.row(row)[slot], S::from_f64(value.to_f64()));
            *entry = if plus { *entry + value } else { *entry - value };
        }
        Ok(())
    }

    /// Marks places in the rows of the lanes of the region.
    #[inline(always)]
    fn mark_entries<S: Real>(&self, outputs: &mut Outputs<'_, S>, unknown: u32, place: EntryColumn) {
        let Some(Output::Marks(marks)) = outputs.0.first_mut() else { return };
        let (region, active, ranks) = (self.regions.region(), self.regions.active(), self.entry_ranks(place));
        for lane in 0..region.hi - region.lo {
            let is_active = active.is_none_or(|active| active[lane]);
            if is_active && let Some(column) = self.bindings.rows.column(unknown, self.entry_position(place, lane, ranks)) {
                marks.block.push(((region.lo + lane) as u32, column));
            }
        }
    }

    /// Runs the program for one block.
    #[inline(always)]
    fn block<S: Real>(&mut self, first: usize, outputs: &mut Outputs<'_, S>) -> Result<(), Failed> {
        let (code, bindings) = (&self.program.code[..], self.bindings);
        let mut pc = 0;
        while let Some(instr) = code.get(pc) {
            pc += 1;
            match *instr {
                Instr::Fill { dst, value } => {
                    let value = bindings.uniforms[value.0 as usize];
                    write!(self, reals, dst, |dst| dst.fill(value));
                }
                Instr::CopyReal { dst, src } => write!(self, reals, dst, |dst| match self.operand(src) {
                    Operand::Each(src) => vector::copy(dst, self.regions.active(), src),
                    Operand::One(src) => vector::copy(dst, self.regions.active(), &[src; LANES][..dst.len()]),
                }),
                Instr::Unary { op, dst, a } => write!(self, reals, dst, |dst| vector::unary(op, dst, self.operand(a))),
                Instr::Binary { op, dst, a, b } => {
                    write!(self, reals, dst, |dst| vector::binary(op, dst, self.operand(a), self.operand(b)));
                }
                Instr::MulAdd { dst, acc, minus, a, b } => write!(self, reals, dst, |dst| {
                    vector::mul_add(dst, self.operand(acc), minus, self.operand(a), self.operand(b));
                }),
                Instr::MulDiffAdd { dst, acc, minus, t, x, y } => write!(self, reals, dst, |dst| {
                    let (t, x, y) = (self.operand(t), self.operand(x), self.operand(y));
                    vector::mul_diff_add(dst, self.operand(acc), minus, t, x, y);
                }),
                Instr::Select { dst, condition, a, b } => write!(self, reals, dst, |dst| {
                    vector::select(dst, self.truth(condition), self.operand(a), self.operand(b));
                }),
                Instr::Interpolate { dst, table, of, x } => {
                    let table = bindings.tables[table.0 as usize];
                    write!(self, reals, dst, |dst| {
                        let x = self.operand(x);
                        for (lane, dst) in dst.iter_mut().enumerate() {
                            let x = match x {
                                Operand::One(x) => x,
                                Operand::Each(x) => x[lane],
                            };
                            *dst = match of {
                                Interpolant::Value => math::interpolate(table, x),
                                Interpolant::Slope => math::slope(table, x),
                            };
                        }
                    });
                }
                Instr::Accumulate { variable, how, term } => write!(self, reals, variable, |variable| {
                    let truth = match how {
                        Accumulation::AddWhere(truth) => self.truth(truth),
                        Accumulation::Add | Accumulation::Sub | Accumulation::Max | Accumulation::Min => &[],
                    };
                    vector::accumulate(variable, self.regions.active(), how, truth, self.operand(term));
                }),
                Instr::AccumulateMulDiff { variable, minus, t, x, y } => write!(self, reals, variable, |variable| {
                    let (t, x, y) = (self.operand(t), self.operand(x), self.operand(y));
                    vector::accumulate_mul_diff(variable, self.regions.active(), minus, t, x, y);
                }),
                Instr::AccumulateSide { side, variable, minus, t, x, y } => {
                    let (shape, origin, lanes) = (self.shape(), self.origin, self.regions.region().hi);
                    let mut values = self.reals.take(variable.0);
                    rows::each_at_side(
                        shape,
                        origin,
                        lanes,
                        side,
                        #[inline(always)]
                        |lanes| {
                            let (t, x) = (self.operand_in(t, lanes.clone()), self.operand_in(x, lanes.clone()));
                            let y = self.operand_in(y, lanes.clone());
                            vector::accumulate_mul_diff(&mut values[lanes], None, minus, t, x, y);
                        },
                    );
                    self.reals.put(variable.0, values);
                }
                Instr::GatherReal { dst, array, ranks, at } => {
                    let (array, ranks) = (bindings.reals[array.0 as usize], bindings.ranks[ranks.0 as usize]);
                    self.gather_real(
                        dst,
                        at,
                        #[inline(always)]
                        |entity| array.get(ranks.of(entity) as usize).copied(),
                    )?;
                }
                Instr::GatherTriple { dst, array, axis, at } => {
                    let array = bindings.triples[array.0 as usize];
                    self.gather_real(
                        dst,
                        at,
                        #[inline(always)]
                        |entity| array.get(entity as usize).map(|triple| T::from_f64(triple[usize::from(axis)])),
                    )?;
                }
                Instr::LoadSide { dst, array, axis, high } => {
                    let (array, shape, origin) = (bindings.reals[array.0 as usize], self.shape(), self.origin);
                    let region = self.regions.region();
                    let mut values = self.reals.take(dst.0);
                    rows::load_side(&mut values[..], array, shape, origin, (region.lo, region.hi), usize::from(axis), high);
                    self.reals.put(dst.0, values);
                }
                Instr::LoadOffset { dst, array, offset } => {
                    let (array, shape, origin) = (bindings.reals[array.0 as usize], self.shape(), self.origin);
                    let region = self.regions.region();
                    let offset = bindings.offsets[offset.0 as usize];
                    let mut values = self.reals.take(dst.0);
                    rows::load_offset(&mut values[..], array, shape, origin, (region.lo, region.hi), offset);
                    self.reals.put(dst.0, values);
                }
                Instr::CellIndex { dst, at, axis } => {
                    let shape = self.shape();
                    self.gather_real(
                        dst,
                        at,
                        #[inline(always)]
                        |cell| (cell != NONE).then(|| T::from_f64(shape.index_along(cell, usize::from(axis)) as f64)),
                    )?;
                }
                Instr::FillTruth { dst, value } => {
                    let value = bindings.uniforms[value.0 as usize] != T::ZERO;
                    write!(self, truths, dst, |dst| dst.fill(value));
                }
                Instr::CopyTruth { dst, src } => {
                    write!(self, truths, dst, |dst| vector::copy(dst, self.regions.active(), self.truth(src)));
                }
                Instr::LoadTruth { dst, array, offset } => {
                    let first = (self.start + self.regions.region().lo).wrapping_add_signed(offset as isize);
                    let array = &bindings.truths[array.0 as usize][first..];
                    write!(self, truths, dst, |dst| dst.copy_from_slice(&array[..dst.len()]));
                }
                Instr::GatherTruth { dst, array, ranks, at } => {
                    let (array, ranks) = (bindings.truths[array.0 as usize], bindings.ranks[ranks.0 as usize]);
                    self.gather_truth(
                        dst,
                        at,
                        #[inline(always)]
                        |entity| array.get(ranks.of(entity) as usize).copied(),
                    )?;
                }
                Instr::Compare { op, dst, a, b } => {
                    write!(self, truths, dst, |dst| vector::compare(op, dst, self.operand(a), self.operand(b)));
                }
                Instr::CompareTruths { op, dst, a, b } => {
                    write!(self, truths, dst, |dst| vector::compare_truths(op, dst, self.truth(a), self.truth(b)));
                }
                Instr::Not { dst, a } => write!(self, truths, dst, |dst| {
                    for (dst, &a) in dst.iter_mut().zip(self.truth(a)) {
                        *dst = !a;
                    }
                }),
                Instr::Logic { op, dst, a, b } => {
                    write!(self, truths, dst, |dst| vector::logic(op, dst, self.truth(a), self.truth(b)));
                }
                Instr::SelectTruth { dst, condition, a, b } => write!(self, truths, dst, |dst| {
                    vector::select_of(dst, self.truth(condition), self.truth(a), self.truth(b));
                }),
                Instr::IsEmpty { dst, a } => write!(self, truths, dst, |dst| {
                    for (dst, &a) in dst.iter_mut().zip(self.entity(a)) {
                        *dst = a == NONE;
                    }
                }),
                Instr::Same { dst, a, b } => write!(self, truths, dst, |dst| {
                    for ((dst, a), b) in dst.iter_mut().zip(self.entity(a)).zip(self.entity(b)) {
                        *dst = a == b;
                    }
                }),
                Instr::Member { dst, ranks, at } => {
                    let ranks = bindings.ranks[ranks.0 as usize];
                    self.gather_truth(
                        dst,
                        at,
                        #[inline(always)]
                        |entity| (entity != NONE).then(|| ranks.of(entity) != NONE),
                    )?;
                }
                Instr::CellOutside { dst, at, axis, by } => {
                    let shape = self.shape();
                    self.gather_truth(
                        dst,
                        at,
                        #[inline(always)]
                        |cell| (cell != NONE).then(|| shape.is_outside(cell, usize::from(axis), by)),
                    )?;
                }
                Instr::CellEven { dst, at, axes } => {
                    let shape = self.shape();
                    self.gather_truth(
                        dst,
                        at,
                        #[inline(always)]
                        |cell| (cell != NONE).then(|| shape.is_even(cell, axes)),
                    )?;
                }
                Instr::Replaces { dst, largest, extreme, term } => {
                    write!(self, truths, dst, |dst| vector::replaces(dst, largest, self.operand(extreme), self.operand(term)));
                }
                Instr::Here { dst } => {
                    let (first, layout) = (self.start + self.regions.region().lo, self.program.layout);
                    write!(self, entities, dst, |dst| match layout {
                        Layout::Consecutive(offset) => {
                            for (dst, entity) in dst.iter_mut().zip(offset + first as u32..) {
                                *dst = entity;
                            }
                        }
                        Layout::List => dst.copy_from_slice(&bindings.elements[first..first + dst.len()]),
                    });
                }
                Instr::Empty { dst } => write!(self, entities, dst, |dst| dst.fill(NONE)),
                Instr::CopyEntity { dst, src } => {
                    write!(self, entities, dst, |dst| vector::copy(dst, self.regions.active(), self.entity(src)));
                }
                Instr::LoadEntity { dst, array, offset } => {
                    let first = (self.start + self.regions.region().lo).wrapping_add_signed(offset as isize);
                    let array = &bindings.entities[array.0 as usize][first..];
                    write!(self, entities, dst, |dst| dst.copy_from_slice(&array[..dst.len()]));
                }
                Instr::GatherEntity { dst, array, ranks, at } => {
                    let (array, ranks) = (bindings.entities[array.0 as usize], bindings.ranks[ranks.0 as usize]);
                    self.gather_entity(
                        dst,
                        at,
                        #[inline(always)]
                        |entity| array.get(ranks.of(entity) as usize).copied(),
                    )?;
                }
                Instr::SelectEntity { dst, condition, a, b } => write!(self, entities, dst, |dst| {
                    vector::select_of(dst, self.truth(condition), self.entity(a), self.entity(b));
                }),
                Instr::FaceCell { dst, face, second } => {
                    let cells = &self.topology().face_cells;
                    self.gather_entity(
                        dst,
                        face,
                        #[inline(always)]
                        |face| cells.get(face as usize).map(|cells| cells[usize::from(second)]),
                    )?;
                }
                Instr::SideFace { dst, axis, high } => {
                    let (shape, origin, region) = (self.shape(), self.origin, self.regions.region());
                    let mut values = self.entities.take(dst.0);
                    rows::side_faces(&mut values[..], shape, origin, (region.lo, region.hi), usize::from(axis), high);
                    self.entities.put(dst.0, values);
                }
                Instr::OffsetCell { dst, from, offset } => {
                    let (shape, offset) = (self.shape(), bindings.offsets[offset.0 as usize]);
                    self.gather_entity(
                        dst,
                        from,
                        #[inline(always)]
                        |cell| (cell != NONE).then(|| shape.offset_cell(cell, offset.by, offset.beyond)),
                    )?;
                }
                Instr::Require { at } => {
                    let active = self.regions.active();
                    let missing = |(lane, &entity): (usize, &u32)| entity == NONE && active.is_none_or(|active| active[lane]);
                    if !self.lenient && self.entity(at).iter().enumerate().any(missing) {
                        return Err(Failed);
                    }
                }
                Instr::Check { condition } => {
                    let active = self.regions.active();
                    let fails = |(lane, &holds): (usize, &bool)| !holds && active.is_none_or(|active| active[lane]);
                    if !self.lenient && self.truth(condition).iter().enumerate().any(fails) {
                        return Err(Failed);
                    }
                }
                Instr::Fail if self.lenient => {}
                Instr::Fail => return Err(Failed),
                Instr::Enter { condition, value, end } => {
                    let condition = self.truths.get(condition.0);
                    if !self.regions.enter(
                        #[inline(always)]
                        |lanes, wanted| {
                            for (wanted, &condition) in wanted.iter_mut().zip(&condition[lanes]) {
                                *wanted = condition == value;
                            }
                        },
                    ) {
                        pc = end.0 as usize + 1;
                    }
                }
                Instr::EnterSide { side, end } => {
                    let (shape, origin) = (self.shape(), self.origin);
                    if !rows::enter_side(&mut self.regions, shape, origin, side) {
                        pc = end.0 as usize + 1;
                    }
                }
                Instr::Leave => self.regions.leave(),
                Instr::Faces { cell, face, outward, only, end } => {
                    let mut faces = self.entities.take(face.0);
                    let mut outwards = self.truths.take(outward.0);
                    let cells: &Entities = self.entities.get(cell.0);
                    let outwards_of: &mut Truths = &mut outwards;
                    let topology = self.topology();
                    let begun = self.regions.begin_faces(topology, (cell, cells), (face, &mut faces), (outward, outwards_of), only);
                    self.entities.put(face.0, faces);
                    self.truths.put(outward.0, outwards);
                    match begun {
                        None if !self.lenient => return Err(Failed),
                        Some(true) => {}
                        None | Some(false) => pc = end.0 as usize + 1,
                    }
                }
                Instr::NextFaces { begin } => {
                    self.regions.leave();
                    let (cell, face, outward) = self.regions.face_registers();
                    let mut faces = self.entities.take(face.0);
                    let mut outwards = self.truths.take(outward.0);
                    let (topology, cells) = (self.topology(), self.entities.get(cell.0));
                    let goes_on = self.regions.next_faces(topology, cells, &mut faces, &mut outwards);
                    self.entities.put(face.0, faces);
                    self.truths.put(outward.0, outwards);
                    if goes_on {
                        pc = begin.0 as usize + 1;
                    }
                }
                Instr::AddEntry { unknown, place, sign, value } => self.add_entries(outputs, unknown, place, sign, value)?,
                Instr::MarkEntry { unknown, place } => self.mark_entries(outputs, unknown, place),
                Instr::StoreReal { result, src } => {
                    if let Some(Output::Reals(values)) = outputs.0.get_mut(result as usize) {
                        let src = self.operand(src);
                        let values = &mut values[first..first + self.regions.region().hi];
                        match src {
                            Operand::One(value) => values.fill(S::from_f64(value.to_f64())),
                            // The compiler makes a copy of this where both types are one.
                            Operand::Each(src) => {
                                for (out, value) in values.iter_mut().zip(src) {
                                    *out = S::from_f64(value.to_f64());
                                }
                            }
                        }
                    }
                }
                Instr::StoreTruth { result, src } => {
                    if let Some(Output::Truths(values)) = outputs.0.get_mut(result as usize) {
                        values[first..first + self.regions.region().hi].copy_from_slice(self.truth(src));
                    }
                }
                Instr::StoreEntity { result, src } => {
                    if let Some(Output::Entities(values)) = outputs.0.get_mut(result as usize) {
                        values[first..first + self.regions.region().hi].copy_from_slice(self.entity(src));
                    }
                }
            }
        }
        Ok(())
    }
}
