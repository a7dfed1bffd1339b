//! Stencils: patterns of Jacobians that kernels of equations write in place.
//!
//! The derivatives of an equation follow from its access paths: once per grid, a kernel lists them
//! ([`Pattern`]), by elements and in the order in which the equation adds them. A [`Stencil`]
//! stores the rows and the slot in its row of each addition. An evaluation then reads slots one
//! after the other, without searching or sorting.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::Real;
use equelle_runtime::domain::Domain;
use equelle_runtime::threads::BLOCK;

use super::cartesian_grid::CartesianGrid;
use super::collections::{EntityCollection, ScalarCollection};
use super::jacobian::Jacobian;
use super::pool::{Buffer, Values};
use super::stencil_rows::{Inside, Reads, cell_rows};

/// The key of a stencil: handles, which it owns so that their addresses stay unique.
pub(super) struct StencilKey {
    /// First number and size of each group of unknowns.
    pub unknowns: Vec<(usize, usize)>,
    pub n_cols: usize,
    domain: Arc<Domain>,
    of_unknowns: Vec<Arc<Domain>>,
    entities: Vec<Values<u32>>,
}

/// Rows of an equation and the slots of its additions. Memory: 2 bytes an addition beside the
/// pattern of the matrix.
pub struct Stencil {
    row_ptr: Arc<Vec<usize>>,
    columns: Arc<Vec<u32>>,
    slots: Vec<u16>,
    /// The first slot of every [`BLOCK`] rows. `[rows / BLOCK, rounded up]`
    slot_starts: Vec<usize>,
    key: StencilKey,
}

impl StencilKey {
    /// A key for an equation on a domain, with paths through these entity collections; `unknowns`
    /// ascend.
    pub(super) fn new<R: Real>(
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        (ranges, n_cols): (Vec<(usize, usize)>, usize),
        entities: &[&EntityCollection],
    ) -> Self {
        StencilKey {
            unknowns: ranges,
            n_cols,
            domain: Arc::clone(domain),
            of_unknowns: unknowns.iter().map(|u| Arc::clone(u.domain())).collect(),
            entities: entities.iter().map(|e| e.values().clone()).collect(),
        }
    }

    fn is(&self, other: &StencilKey) -> bool {
        let same = |(a, b): (&Values<u32>, &Values<u32>)| std::ptr::eq(a.as_ptr(), b.as_ptr()) && a.len() == b.len();
        Arc::ptr_eq(&self.domain, &other.domain)
            && self.n_cols == other.n_cols
            && self.unknowns == other.unknowns
            && self.of_unknowns.iter().zip(&other.of_unknowns).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.entities.len() == other.entities.len()
            && self.entities.iter().zip(&other.entities).all(same)
    }
}

impl Stencil {
    /// Number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Row pointers; one more than there are rows.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }

    /// Column of each entry, row by row, ascending within a row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Memory in bytes; row pointers and columns are counted with the matrix.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.row_ptr[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.slots[..]) + size_of_val(&self.slot_starts[..])
    }

    /// The slots of all additions within their rows, row by row in the order of the kernel.
    pub fn slots(&self) -> Slots<'_> {
        Slots { all: &self.slots, starts: &self.slot_starts }
    }

    /// The rows for searches: for kernels whose additions have no fixed order.
    pub fn rows(&self) -> RowPattern<'_> {
        RowPattern { row_ptr: &self.row_ptr, columns: &self.columns, unknowns: &self.key.unknowns }
    }

    /// A residual with its derivatives.
    pub(super) fn equation<R: Real>(&self, residual: ScalarCollection<R>, entries: Buffer<R>) -> ScalarCollection<R> {
        let jacobian = Jacobian::written(self.key.n_cols, &self.row_ptr, &self.columns, entries.share());
        ScalarCollection { jacobian: Some(Rc::new(jacobian)), ..residual }
    }
}

/// The slots of all additions within their rows.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    all: &'a [u16],
    starts: &'a [usize],
}

impl<'a> Slots<'a> {
    /// The slots from the first addition of a row on; empty if there is no such row.
    ///
    /// # Panics
    /// If the row is no multiple of [`BLOCK`].
    pub fn from(self, row: usize) -> &'a [u16] {
        assert_eq!(row % BLOCK, 0, "the first row of a range");
        self.starts.get(row / BLOCK).map_or(&[], |&start| &self.all[start..])
    }
}

/// The pattern of an equation's rows.
#[derive(Clone, Copy, Debug)]
pub struct RowPattern<'a> {
    row_ptr: &'a [usize],
    columns: &'a [u32],
    unknowns: &'a [(usize, usize)],
}

impl RowPattern<'_> {
    /// The slot of element `position` of an unknown in a row.
    ///
    /// # Panics
    /// If the row has no such entry.
    #[inline]
    pub fn place(self, row: usize, unknown: usize, position: usize) -> usize {
        let column = (self.unknowns[unknown].0 + position) as u32;
        let found = self.columns[self.row_ptr[row]..self.row_ptr[row + 1]].binary_search(&column);
        found.expect("the pattern of an equation has every element that it reads")
    }
}

/// Rows as listed by a kernel.
pub struct Pattern {
    unknowns: Vec<(usize, usize)>,
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    slots: Vec<u16>,
    /// The first slot of every [`BLOCK`] rows.
    slot_starts: Vec<usize>,
    /// Columns of the additions of the current row; `None` for elements that do not exist.
    row: Vec<Option<u32>>,
    sorted: Vec<u32>,
    too_long: bool,
}

impl Pattern {
    pub(super) fn new(unknowns: &[(usize, usize)], rows: usize) -> Self {
        let mut row_ptr = Vec::with_capacity(rows + 1);
        row_ptr.push(0);
        Pattern {
            unknowns: unknowns.to_vec(),
            row_ptr,
            columns: Vec::new(),
            slots: Vec::new(),
            slot_starts: Vec::with_capacity(rows.div_ceil(BLOCK)),
            row: Vec::new(),
            sorted: Vec::new(),
            too_long: false,
        }
    }

    /// Adds a derivative with respect to element `position` of an unknown to the current row;
    /// nothing if there is no such element.
    #[inline]
    pub fn add(&mut self, unknown: usize, position: usize) {
        let (first, len) = self.unknowns[unknown];
        self.row.push((position < len).then(|| (first + position) as u32));
    }

    /// Completes the current row.
    pub fn end_row(&mut self) {
        self.sorted.clear();
        self.sorted.extend(self.row.iter().flatten());
        self.sorted.sort_unstable();
        self.sorted.dedup();
        self.too_long |= self.sorted.len() > usize::from(u16::MAX);
        if (self.row_ptr.len() - 1).is_multiple_of(BLOCK) {
            self.slot_starts.push(self.slots.len());
        }
        for column in self.row.drain(..) {
            // An addition of an element that does not exist is never made.
            let slot = column.and_then(|column| self.sorted.binary_search(&column).ok()).unwrap_or(0);
            self.slots.push(slot as u16);
        }
        self.columns.extend_from_slice(&self.sorted);
        self.row_ptr.push(self.columns.len());
    }

    /// True if there are `rows` rows, and every slot can be numbered.
    pub(super) fn is_complete(&self, rows: usize) -> bool {
        !self.too_long && self.row_ptr.len() == rows + 1
    }

    /// Rows of an equation that reads by index. Those of cells inside have an entry for each of
    /// `columns`, the unknown and the offset from the cell, which ascend; `elsewhere` lists the
    /// columns of any other cell.
    pub fn by_index<R: Real>(
        &mut self,
        grid: &CartesianGrid<R>,
        inside: Inside,
        columns: &[(usize, [i8; 3])],
        elsewhere: impl Fn(usize, &mut Pattern),
    ) {
        let distance = |by: [i8; 3]| (0..3).map(|axis| isize::from(by[axis]) * grid.stride[axis] as isize).sum::<isize>();
        let starts: Vec<usize> = columns.iter().map(|&(unknown, by)| self.unknowns[unknown].0.wrapping_add_signed(distance(by))).collect();
        self.columns.reserve(columns.len() * grid.n_cells());
        for row in cell_rows(grid, &(0..grid.n_cells()), Reads::NOTHING) {
            for segment in inside.segments(grid, &row) {
                let first = row.start + segment.first;
                for cell in first..first + segment.len {
                    if segment.inside {
                        self.columns.extend(starts.iter().map(|start| start.wrapping_add(cell) as u32));
                        self.row_ptr.push(self.columns.len());
                    } else {
                        elsewhere(cell, self);
                        self.end_row();
                    }
                }
            }
        }
    }

    /// Rows in closed form, without slots: `reach` of every cell, by unknown.
    pub(super) fn cartesian(grid: &CartesianGrid<impl Real>, unknowns: &[(usize, usize)], reach: &[Reach]) -> Self {
        let n = grid.n_cells();
        let pairs: usize = (0..grid.dim).map(|axis| n / grid.n[axis] * (grid.n[axis] - 1)).sum();
        let of = |reach: &Reach| usize::from(reach.own) * n + (usize::from(reach.low) + usize::from(reach.high)) * pairs;
        let mut pattern = Pattern::new(unknowns, n);
        let columns = &mut pattern.columns;
        columns.reserve_exact(reach.iter().map(of).sum());
        for here in 0..n {
            let at = grid.at(here);
            for (&(first, _), reach) in unknowns.iter().zip(reach) {
                let cell = first + here;
                if reach.low {
                    let low = (0..grid.dim).rev().filter(|&axis| at[axis] > 0);
                    columns.extend(low.map(|axis| (cell - grid.stride[axis]) as u32));
                }
                if reach.own {
                    columns.push(cell as u32);
                }
                if reach.high {
                    let high = (0..grid.dim).filter(|&axis| at[axis] + 1 < grid.n[axis]);
                    columns.extend(high.map(|axis| (cell + grid.stride[axis]) as u32));
                }
            }
            pattern.row_ptr.push(columns.len());
        }
        pattern
    }
}

/// The elements of an unknown in a row of an equation on a Cartesian grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The cell itself.
    pub own: bool,
    /// The neighbours on its low sides.
    pub low: bool,
    /// The neighbours on its high sides.
    pub high: bool,
}

/// The entries of a row on a Cartesian grid, written by ascending column: for each unknown the
/// neighbours on the low sides, last axis first, the cell, the neighbours on the high sides.
#[derive(Debug)]
pub struct RowEntries<'a, R> {
    entries: &'a mut [R],
    next: usize,
}

impl<'a, R: Real> RowEntries<'a, R> {
    /// Before the first entry.
    #[inline(always)]
    pub fn new(entries: &'a mut [R]) -> Self {
        RowEntries { entries, next: 0 }
    }

    #[inline(always)]
    fn put(&mut self, value: R) {
        self.entries[self.next] = value;
        self.next += 1;
    }

    /// Writes the entry of the cell itself.
    #[inline(always)]
    pub fn own(&mut self, value: R) {
        self.put(value);
    }

    /// Writes the neighbours on the low sides along the axes, all of which exist.
    #[inline(always)]
    pub fn low<const DIM: usize>(&mut self, values: [R; 3]) {
        (0..DIM).rev().for_each(|axis| self.put(values[axis]));
    }

    /// Writes the neighbours on the high sides, all of which exist.
    #[inline(always)]
    pub fn high<const DIM: usize>(&mut self, values: [R; 3]) {
        (0..DIM).for_each(|axis| self.put(values[axis]));
    }

    /// Writes the existing neighbours on the low sides of the cell at a position.
    #[inline(always)]
    pub fn low_within<const DIM: usize>(&mut self, at: [usize; 3], values: [R; 3]) {
        (0..DIM).rev().filter(|&axis| at[axis] > 0).for_each(|axis| self.put(values[axis]));
    }

    /// Writes the existing neighbours on its high sides.
    #[inline(always)]
    pub fn high_within<const DIM: usize>(&mut self, grid: &CartesianGrid<R>, at: [usize; 3], values: [R; 3]) {
        (0..DIM).filter(|&axis| at[axis] + 1 < grid.n[axis]).for_each(|axis| self.put(values[axis]));
    }
}

/// Stencils of a run, by kernel.
#[derive(Default)]
pub(super) struct Stencils {
    known: Vec<(String, Rc<Stencil>)>,
}

impl Stencils {
    /// The stencil of a kernel, if its key is the same.
    pub fn known(&self, kernel: &str, key: &StencilKey) -> Option<Rc<Stencil>> {
        let (_, stencil) = self.known.iter().find(|(name, _)| *name == kernel)?;
        stencil.key.is(key).then(|| Rc::clone(stencil))
    }

    /// Stores the stencil of a kernel with this pattern, replacing the previous one.
    pub fn keep(&mut self, kernel: &str, key: StencilKey, mut pattern: Pattern) -> Rc<Stencil> {
        pattern.columns.shrink_to_fit();
        pattern.slots.shrink_to_fit();
        let Pattern { row_ptr, columns, slots, slot_starts, .. } = pattern;
        let stencil = Rc::new(Stencil { row_ptr: Arc::new(row_ptr), columns: Arc::new(columns), slots, slot_starts, key });
        self.known.retain(|(name, _)| *name != kernel);
        self.known.push((kernel.to_owned(), Rc::clone(&stencil)));
        stencil
    }

    /// Their memory in bytes.
    pub fn bytes(&self) -> usize {
        self.known.iter().map(|(_, stencil)| stencil.bytes()).sum()
    }
}
