//! Copies of rows, kept from one launch of a kernel to the next: on small grids allocating them
//! takes longer than the loop.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};

use equelle_runtime::Real;

use super::cartesian_grid::CartesianGrid;
use super::row_copies::{Lane, RowCopies};
use super::row_offsets::{RowOffset, RowOffsets};
use super::stencil_rows::Reads;

/// The most bytes of copies that are kept. Beside larger ones an allocation is nothing.
const MAX_KEPT: usize = 64 << 10;

/// Idle copies of the rows of a kernel. Each range of its loop takes some, and gives them back.
pub struct IdleCopies<T> {
    rows: &'static [RowOffset],
    reach: [isize; 2],
    lanes: &'static [Lane],
    reads: Reads,
    idle: Mutex<Vec<RowCopies<T>>>,
}

impl<T: Copy + PartialEq> IdleCopies<T> {
    /// For a kernel with these rows and lanes.
    pub(super) fn new<const ROWS: usize>(rows: &'static RowOffsets<ROWS>, lanes: &'static [Lane], reads: Reads) -> Self {
        IdleCopies { rows: &rows.all, reach: rows.reach[0], lanes, reads, idle: Mutex::default() }
    }

    /// Copies for a range of cells: none is made yet.
    #[inline]
    pub fn take<R: Real>(&self, grid: &CartesianGrid<R>) -> RowCopies<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(mut copies) => {
                copies.clear();
                copies
            }
            None => RowCopies::new(grid, self.rows, self.reach, self.lanes, self.reads),
        }
    }

    /// Keeps copies for the next launch, unless they are large.
    pub fn give_back(&self, copies: RowCopies<T>) {
        if copies.bytes() <= MAX_KEPT {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(copies);
        }
    }
}

/// A kernel, by where its rows and lanes are, what it reads, and the type of what is copied.
type Key = ([usize; 2], Reads, TypeId);

/// Idle copies of all kernels.
#[derive(Default)]
pub(super) struct CopiesCache {
    all: RefCell<Vec<(Key, Arc<dyn Any + Send + Sync>)>>,
    /// The kernel that is probably next: launches come in the same order again and again.
    next: Cell<usize>,
}

impl CopiesCache {
    /// Those of a kernel with these rows and lanes.
    pub(super) fn idle<T: Copy + PartialEq + Send + 'static, const ROWS: usize>(
        &self,
        rows: &'static RowOffsets<ROWS>,
        lanes: &'static [Lane],
        reads: Reads,
    ) -> Arc<IdleCopies<T>> {
        let key = ([std::ptr::from_ref(rows).addr(), lanes.as_ptr().addr()], reads, TypeId::of::<T>());
        let mut all = self.all.borrow_mut();
        let (before, after) = all.split_at(self.next.get().min(all.len()));
        let later = after.iter().position(|kernel| kernel.0 == key).map(|position| before.len() + position);
        let position = later.or_else(|| before.iter().position(|kernel| kernel.0 == key));
        if let Some(position) = position
            && let Ok(idle) = Arc::clone(&all[position].1).downcast()
        {
            self.next.set(position + 1);
            return idle;
        }
        let idle = Arc::new(IdleCopies::new(rows, lanes, reads));
        all.push((key, Arc::clone(&idle) as Arc<dyn Any + Send + Sync>));
        idle
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::grid::{Cartesian, SideMap};

    use super::super::stencil_rows::{Cuts, cell_rows};
    use super::super::{lanes::lanes_of, row_offsets::LaneRow, row_offsets::lane_rows};
    use super::*;

    static ROWS: RowOffsets<1> = RowOffsets::new([RowOffset::new(&[], &[])]);
    static LANES: [Lane; 1] = [Lane::new(0, 0, [-1, 1], &[(0, [SideMap::Wrap; 2])])];

    /// Reads `u` with both neighbours of each cell, as a kernel does.
    fn read(idle: &IdleCopies<f64>, grid: &CartesianGrid, u: &[f64]) -> Vec<f64> {
        let mut found = Vec::new();
        let mut copies = idle.take(grid);
        for row in cell_rows(grid, &(0..grid.n_cells()), Reads::NOTHING) {
            let mut rows = [LaneRow::default(); 1];
            lane_rows(grid, &row, &ROWS, &mut rows);
            for segment in Cuts::whole([1, 1]).segments(grid.n[0], &row) {
                let mut lanes = [&[][..]; 1];
                lanes_of(grid, &segment, &rows, &LANES, &[u], &mut copies, &mut lanes);
                found.extend_from_slice(lanes[0]);
            }
        }
        idle.give_back(copies);
        found
    }

    /// A launch reads the values of its own arrays: what an earlier one has copied is forgotten.
    #[test]
    fn launches_make_copies_of_their_own() {
        let (idle, grid) = (IdleCopies::new(&ROWS, &LANES, Reads::NOTHING), CartesianGrid::new(&Cartesian::line(3, 1.0)));
        assert_eq!(read(&idle, &grid, &[1.0, 2.0, 3.0]), [3.0, 1.0, 2.0, 3.0, 1.0]);
        assert_eq!(read(&idle, &grid, &[4.0, 5.0, 6.0]), [6.0, 4.0, 5.0, 6.0, 4.0]);
        assert_eq!(idle.idle.lock().unwrap().len(), 1);
    }

    #[test]
    fn large_copies_are_not_kept() {
        let (idle, grid) = (IdleCopies::new(&ROWS, &LANES, Reads::NOTHING), CartesianGrid::new(&Cartesian::block([2000, 10, 1], [1.0; 3])));
        read(&idle, &grid, &vec![0.0; grid.n_cells()]);
        assert_eq!(idle.idle.lock().unwrap().len(), 0);
    }

    /// Kernels with the same rows and lanes are told apart by what they read.
    #[test]
    fn kernels_are_found_in_any_order() {
        let cache = CopiesCache::default();
        let reads = |bytes: usize| Reads { bytes, ..Reads::NOTHING };
        let found = |bytes: usize| Arc::as_ptr(&cache.idle::<f64, 1>(&ROWS, &LANES, reads(bytes))).addr();
        let first = [0, 1, 2].map(found);
        for bytes in [0, 1, 2, 2, 0, 1, 1, 0] {
            assert_eq!(found(bytes), first[bytes]);
        }
        assert_ne!(Arc::as_ptr(&cache.idle::<bool, 1>(&ROWS, &LANES, reads(0))).addr(), first[0]);
        assert_eq!(cache.all.borrow().len(), 4);
    }
}
