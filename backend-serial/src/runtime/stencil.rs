//! Jacobians written in place by the kernels of equations.
//!
//! Which derivatives an equation has is known from its access paths: a kernel of its own tells them once per grid ([`Pattern`]), element by element and in the order in
//! which the equation adds them. A [`Stencil`] keeps the rows and, for each addition, the slot of its row that it goes to. An evaluation then reads slots one after the
//! other; it searches and sorts nothing.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::threads::BLOCK;
use equelle_runtime::{Error, ErrorKind, KernelInfo, Real};

use super::SerialRuntime;
use super::collections::{EntityCollection, ScalarCollection};
use super::jacobian::Jacobian;
use super::kernel::CartesianGrid;
use super::pool::{Buffer, Values};

/// Rows of an equation and the slots of its additions. Memory: 2 bytes an addition beside the pattern of the matrix.
pub struct Stencil {
    n_cols: usize,
    row_ptr: Arc<Vec<usize>>,
    columns: Arc<Vec<u32>>,
    slots: Vec<u16>,
    /// The first slot of every [`BLOCK`] rows. `[rows / BLOCK, rounded up]`
    slot_starts: Vec<usize>,
    /// Number of the first unknown of each group of unknowns, and how many there are.
    unknowns: Vec<(usize, usize)>,
    /// What it was made for, kept so that nothing else is at these addresses.
    domain: Arc<Domain>,
    of_unknowns: Vec<Arc<Domain>>,
    entities: Vec<Values<u32>>,
}

impl Stencil {
    /// Number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Where rows begin; one more than there are rows.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }

    /// Column of each entry, row by row, ascending within one.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Memory, in bytes; row pointers and columns are those of the matrix.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.row_ptr[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.slots[..]) + size_of_val(&self.slot_starts[..])
    }

    /// The place within its row of each addition, row by row in the order of the kernel.
    pub fn slots(&self) -> Slots<'_> {
        Slots { all: &self.slots, starts: &self.slot_starts }
    }

    /// The rows, to search: for kernels whose additions have no fixed order.
    pub fn rows(&self) -> RowPattern<'_> {
        RowPattern { row_ptr: &self.row_ptr, columns: &self.columns, unknowns: &self.unknowns }
    }

    fn is_for<R: Real>(
        &self,
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        ranges: &[(usize, usize)],
        n_cols: usize,
        entities: &[&EntityCollection],
    ) -> bool {
        let same = |(a, b): (&Arc<Domain>, &&ScalarCollection<R>)| Arc::ptr_eq(a, b.domain());
        Arc::ptr_eq(&self.domain, domain)
            && self.n_cols == n_cols
            && self.unknowns == ranges
            && self.of_unknowns.iter().zip(unknowns).all(same)
            && self.entities.len() == entities.len()
            && self.entities.iter().zip(entities).all(|(a, b)| std::ptr::eq(a.as_ptr(), b.values().as_ptr()) && a.len() == b.values().len())
    }
}

/// The place within its row of each addition.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    all: &'a [u16],
    starts: &'a [usize],
}

impl<'a> Slots<'a> {
    /// Those from the first addition of a row on; nothing if there is no such row.
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
    /// The place within a row of the element `position` of an unknown.
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

/// Rows as a kernel tells them.
pub struct Pattern {
    unknowns: Vec<(usize, usize)>,
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    slots: Vec<u16>,
    /// The first slot of every [`BLOCK`] rows.
    slot_starts: Vec<usize>,
    /// Columns of the additions of the row in progress; `None` for what does not exist.
    row: Vec<Option<u32>>,
    sorted: Vec<u32>,
    too_long: bool,
}

impl Pattern {
    fn new(unknowns: &[(usize, usize)], rows: usize) -> Self {
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

    /// The row in progress may have a derivative by the element `position` of an unknown; nothing if there is no such element.
    #[inline]
    pub fn add(&mut self, unknown: usize, position: usize) {
        let (first, len) = self.unknowns[unknown];
        self.row.push((position < len).then(|| (first + position) as u32));
    }

    /// The row is complete.
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
            // An addition that does not exist is never made.
            let slot = column.and_then(|column| self.sorted.binary_search(&column).ok()).unwrap_or(0);
            self.slots.push(slot as u16);
        }
        self.columns.extend_from_slice(&self.sorted);
        self.row_ptr.push(self.columns.len());
    }
}

/// Which elements of an unknown a row of an equation on a Cartesian grid has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The cell itself.
    pub own: bool,
    /// The cells beyond its low sides.
    pub low: bool,
    /// The cells beyond its high sides.
    pub high: bool,
}

/// The entries of a row on a Cartesian grid, written by ascending column: of each unknown the cells beyond the low sides, last axis first, the cell, those beyond the high sides.
#[derive(Debug)]
pub struct RowEntries<'a, R> {
    entries: &'a mut [R],
    next: usize,
}

impl<'a, R: Real> RowEntries<'a, R> {
    /// None written.
    #[inline(always)]
    pub fn new(entries: &'a mut [R]) -> Self {
        RowEntries { entries, next: 0 }
    }

    #[inline(always)]
    fn put(&mut self, value: R) {
        self.entries[self.next] = value;
        self.next += 1;
    }

    /// The cell itself.
    #[inline(always)]
    pub fn own(&mut self, value: R) {
        self.put(value);
    }

    /// The cells beyond the low sides along the axes, all of which are there.
    #[inline(always)]
    pub fn low<const DIM: usize>(&mut self, values: [R; 3]) {
        (0..DIM).rev().for_each(|axis| self.put(values[axis]));
    }

    /// The cells beyond the high sides.
    #[inline(always)]
    pub fn high<const DIM: usize>(&mut self, values: [R; 3]) {
        (0..DIM).for_each(|axis| self.put(values[axis]));
    }

    /// The cells beyond the low sides of the cell at a position, as far as they are there.
    #[inline(always)]
    pub fn low_within<const DIM: usize>(&mut self, at: [usize; 3], values: [R; 3]) {
        (0..DIM).rev().filter(|&axis| at[axis] > 0).for_each(|axis| self.put(values[axis]));
    }

    /// The cells beyond its high sides, as far as they are there.
    #[inline(always)]
    pub fn high_within<const DIM: usize>(&mut self, grid: &CartesianGrid<R>, at: [usize; 3], values: [R; 3]) {
        (0..DIM).filter(|&axis| at[axis] + 1 < grid.n[axis]).for_each(|axis| self.put(values[axis]));
    }
}

/// Rows in closed form: of every cell, by unknown its number of the first element and what is reached.
fn cartesian_rows(grid: &CartesianGrid<impl Real>, unknowns: &[(usize, Reach)]) -> (Vec<usize>, Vec<u32>) {
    let n = grid.n_cells();
    let pairs: usize = (0..grid.dim).map(|axis| n / grid.n[axis] * (grid.n[axis] - 1)).sum();
    let of = |reach: &Reach| usize::from(reach.own) * n + (usize::from(reach.low) + usize::from(reach.high)) * pairs;
    let (mut row_ptr, mut columns) = (Vec::with_capacity(n + 1), Vec::with_capacity(unknowns.iter().map(|(_, reach)| of(reach)).sum()));
    row_ptr.push(0);
    for here in 0..n {
        let at = grid.at(here);
        for &(first, reach) in unknowns {
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
        row_ptr.push(columns.len());
    }
    (row_ptr, columns)
}

/// Stencils of a run, by kernel.
#[derive(Default)]
pub(super) struct Stencils {
    known: Vec<(&'static str, Rc<Stencil>)>,
    /// How many have been built.
    built: Cell<u64>,
}

/// Where the unknowns of an equation are among all of the solve.
struct Key {
    /// First column and number of each.
    ranges: Vec<(usize, usize)>,
    n_cols: usize,
}

fn fault(kernel: &KernelInfo, what: &str) -> Error {
    Error::new(ErrorKind::Backend, format!("internal error: {}: {what}", kernel.name))
}

impl<R: Real> SerialRuntime<R> {
    /// The stencil of an equation, built by `build` unless it is known: for this domain, these unknowns, and these entity collections, the same handles.
    ///
    /// # Errors
    /// Those of `build`; `Backend` if an unknown is none, or if a row has more entries than can be numbered.
    pub fn stencil(
        &mut self,
        kernel: &KernelInfo,
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        entities: &[&EntityCollection],
        build: impl FnOnce(&mut SerialRuntime<R>, &mut Pattern) -> Result<(), Error>,
    ) -> Result<Rc<Stencil>, Error> {
        let key = self.stencil_key(kernel, unknowns)?;
        if let Some(known) = self.known_stencil(kernel, &key, domain, unknowns, entities) {
            return Ok(known);
        }
        let mut pattern = Pattern::new(&key.ranges, domain.len());
        build(self, &mut pattern)?;
        if pattern.too_long || pattern.row_ptr.len() != domain.len() + 1 {
            return Err(fault(kernel, "rows that cannot be kept"));
        }
        pattern.columns.shrink_to_fit();
        pattern.slots.shrink_to_fit();
        let of_unknowns = unknowns.iter().map(|u| Arc::clone(u.domain())).collect();
        Ok(self.keep_stencil(
            kernel,
            Stencil {
                n_cols: key.n_cols,
                row_ptr: Arc::new(pattern.row_ptr),
                columns: Arc::new(pattern.columns),
                slots: pattern.slots,
                slot_starts: pattern.slot_starts,
                unknowns: key.ranges,
                domain: Arc::clone(domain),
                of_unknowns,
                entities: entities.iter().map(|e| e.values().clone()).collect(),
            },
        ))
    }

    /// The stencil of an equation on a Cartesian grid, unless it is known: rows follow from the places of cells, and there are no slots. Memory: the pattern of the matrix alone.
    ///
    /// # Errors
    /// `Backend` if an unknown is none, or if it or the equation is not over the cells of the grid.
    pub fn cartesian_stencil(
        &mut self,
        kernel: &KernelInfo,
        grid: &CartesianGrid<R>,
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        reach: &[Reach],
    ) -> Result<Rc<Stencil>, Error> {
        let key = self.stencil_key(kernel, unknowns)?;
        if let Some(known) = self.known_stencil(kernel, &key, domain, unknowns, &[]) {
            return Ok(known);
        }
        let n = grid.n_cells();
        if domain.len() != n || key.ranges.iter().any(|&(_, len)| len != n) || reach.len() != unknowns.len() {
            return Err(fault(kernel, "an equation or an unknown that is not over the cells of the grid"));
        }
        let places: Vec<(usize, Reach)> = key.ranges.iter().zip(reach).map(|(&(first, _), &reach)| (first, reach)).collect();
        let (row_ptr, columns) = cartesian_rows(grid, &places);
        let of_unknowns = unknowns.iter().map(|u| Arc::clone(u.domain())).collect();
        Ok(self.keep_stencil(
            kernel,
            Stencil {
                n_cols: key.n_cols,
                row_ptr: Arc::new(row_ptr),
                columns: Arc::new(columns),
                slots: Vec::new(),
                slot_starts: Vec::new(),
                unknowns: key.ranges,
                domain: Arc::clone(domain),
                of_unknowns,
                entities: Vec::new(),
            },
        ))
    }

    /// The columns of the unknowns. They must ascend, so that the columns of a row do.
    fn stencil_key(&self, kernel: &KernelInfo, unknowns: &[&ScalarCollection<R>]) -> Result<Key, Error> {
        let (mut ranges, mut n_cols, mut end) = (Vec::with_capacity(unknowns.len()), 0, 0);
        for unknown in unknowns {
            let jacobian = unknown.jacobian().ok_or_else(|| fault(kernel, "an unknown without derivatives"))?;
            let (first, len) = (jacobian.first_column(), unknown.domain().len());
            if first < end {
                return Err(fault(kernel, "unknowns in another order than their numbers"));
            }
            end = first + len;
            n_cols = jacobian.n_cols();
            ranges.push((first, len));
        }
        if end > n_cols {
            return Err(fault(kernel, "more unknowns than the solve has"));
        }
        Ok(Key { ranges, n_cols })
    }

    fn known_stencil(
        &self,
        kernel: &KernelInfo,
        key: &Key,
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        entities: &[&EntityCollection],
    ) -> Option<Rc<Stencil>> {
        let (_, stencil) = self.stencils.known.iter().find(|(name, _)| *name == kernel.name)?;
        stencil.is_for(domain, unknowns, &key.ranges, key.n_cols, entities).then(|| Rc::clone(stencil))
    }

    fn keep_stencil(&mut self, kernel: &KernelInfo, stencil: Stencil) -> Rc<Stencil> {
        let stencil = Rc::new(stencil);
        self.stencils.built.set(self.stencils.built.get() + 1);
        self.stencils.known.retain(|(name, _)| *name != kernel.name);
        self.stencils.known.push((kernel.name, Rc::clone(&stencil)));
        stencil
    }

    /// Memory of all stencils, in bytes.
    pub(super) fn stencil_bytes(&self) -> usize {
        self.stencils.known.iter().map(|(_, stencil)| stencil.bytes()).sum()
    }

    /// How many stencils have been built in this run: in a steady step this does not grow.
    pub fn stencils_built(&self) -> u64 {
        self.stencils.built.get()
    }

    /// The values of an unknown, for a kernel that passes its derivatives on.
    pub fn unknown_values(&self, unknown: &ScalarCollection<R>) -> Values<R> {
        self.values_of(unknown)
    }

    /// A residual with its derivatives.
    pub fn equation(&self, residual: ScalarCollection<R>, stencil: &Stencil, entries: Buffer<R>) -> ScalarCollection<R> {
        let jacobian = Jacobian::written(stencil.n_cols, &stencil.row_ptr, &stencil.columns, entries.share());
        ScalarCollection { jacobian: Some(Rc::new(jacobian)), ..residual }
    }
}
