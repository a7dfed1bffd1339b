//! Rows of equations: the Jacobian as the kernels of a program write it.
//!
//! Which derivatives an equation has is known from its access paths. A kernel of its own tells them once per grid, in two launches: how many each element has, then which. The
//! host sorts them to the rows of a sparse matrix. An evaluation writes the entries in place.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind, KernelInfo};

use crate::runtime::args::{EqPattern, EqRows, EqSlots};
use crate::runtime::collections::{Collection, Derivatives, EntityCollection};
use crate::runtime::forms::Slices;
use crate::runtime::grid::bytes_of;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;

/// No element.
const NONE: u32 = u32::MAX;

/// The pattern of the rows of an equation, on the device and on the host.
#[derive(Debug)]
pub struct Rows {
    pub(super) row_ptr: Rc<Buffer>,
    pub(super) columns: Rc<Buffer>,
    len: usize,
    entries: usize,
    n_cols: usize,
    /// Threads of a block of the kernel that evaluates.
    pub(super) block: u32,
    /// Where the additions of each row begin, and their places in the row.
    slots: Option<(Rc<Buffer>, Rc<Buffer>)>,
    /// The same on the host, once it has been asked for.
    host: OnceCell<HostRows>,
    /// The same by slices, once a matrix has been arranged for products; `None` if that is not worth it.
    pub(super) slices: OnceCell<Option<Rc<Slices>>>,
}

/// A pattern on the host.
#[derive(Debug)]
pub(super) struct HostRows {
    /// `[rows + 1]`
    pub row_ptr: Vec<usize>,
    /// Ascending within a row.
    pub columns: Vec<u32>,
}

/// Entries of the rows of a block that shared memory has room for: `EQ_STAGED` of the prelude.
const STAGED: usize = 2560;

/// Threads of a block where nothing is staged.
const BLOCK: u32 = 256;

/// The largest block whose rows fit in shared memory, wherever it is; if there is none, the largest of all.
fn block_of(row_ptr: &[usize]) -> u32 {
    let rows = row_ptr.len() - 1;
    let fits = |block: u32| {
        let block = block as usize;
        (0..rows).step_by(block).all(|from| row_ptr[rows.min(from + block)] - row_ptr[from] <= STAGED)
    };
    [BLOCK, 128, 64, 32].into_iter().find(|&block| fits(block)).unwrap_or(BLOCK)
}

impl Rows {
    /// Rows that are on the device alone: `len` rows of `n_cols` columns, with so many entries.
    pub(super) fn on_device(row_ptr: Rc<Buffer>, columns: Rc<Buffer>, len: usize, entries: usize, n_cols: usize) -> Self {
        Rows { row_ptr, columns, len, entries, n_cols, block: BLOCK, slots: None, host: OnceCell::new(), slices: OnceCell::new() }
    }

    /// The pattern on the host; copied at first use.
    pub(super) fn host(&self, rt: &mut CudaRuntime) -> Result<&HostRows, Error> {
        if let Some(known) = self.host.get() {
            return Ok(known);
        }
        let row_ptr = rt.download(self.row_ptr.address(), 8 * (self.len + 1))?;
        let row_ptr = row_ptr.as_chunks::<8>().0.iter().map(|&end| u64::from_le_bytes(end) as usize).collect();
        let columns = integers(&rt.download(self.columns.address(), 4 * self.entries)?);
        Ok(self.host.get_or_init(|| HostRows { row_ptr, columns }))
    }

    /// As kernels take them.
    pub fn args(&self, entries: &Buffer) -> EqRows {
        EqRows { row_ptr: self.row_ptr.address().0, columns: self.columns.address().0, entries: entries.address().0 }
    }

    /// Places of additions, as kernels take them.
    ///
    /// # Errors
    /// `Backend` (an internal error) if they were not asked for when the rows were sought.
    pub fn slots(&self) -> Result<EqSlots, Error> {
        let (starts, slots) = self.slots.as_ref().ok_or_else(|| fault("rows without places of additions"))?;
        Ok(EqSlots { starts: starts.address().0, slots: slots.address().0 })
    }

    /// Number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Number of columns: unknowns of the solve.
    pub(super) fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// First column and domain of an unknown.
type Place = (usize, Arc<Domain>);

/// What rows were made for, kept so that nothing else is at these addresses.
#[derive(Debug)]
struct Made {
    kernel: &'static str,
    n_cols: usize,
    domain: Arc<Domain>,
    unknowns: Vec<Place>,
    /// The entity collections that paths lead through.
    entities: Vec<Rc<Buffer>>,
}

impl Made {
    fn is(&self, other: &Made) -> bool {
        let same_unknown = |(a, b): (&Place, &Place)| a.0 == b.0 && Arc::ptr_eq(&a.1, &b.1);
        self.kernel == other.kernel
            && self.n_cols == other.n_cols
            && Arc::ptr_eq(&self.domain, &other.domain)
            && self.unknowns.len() == other.unknowns.len()
            && self.unknowns.iter().zip(&other.unknowns).all(same_unknown)
            && self.entities.len() == other.entities.len()
            && self.entities.iter().zip(&other.entities).all(|(a, b)| Rc::ptr_eq(a, b))
    }
}

/// Rows of a run, one set for each equation.
#[derive(Debug, Default)]
pub(super) struct KnownRows(Vec<(Made, Rc<Rows>)>);

/// Rows that a kernel is about to need.
#[derive(Debug)]
pub struct Sought {
    made: Made,
    /// Whether the places of additions are asked for.
    slots: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Known(Rc<Rows>),
    Begin,
    /// Derivatives are counted.
    Counting {
        counts: Rc<Buffer>,
    },
    /// Columns are written.
    Telling {
        starts: Vec<u64>,
        columns: Rc<Buffer>,
        /// Of the numbers of derivatives and of the starts.
        device: [Rc<Buffer>; 2],
    },
}

impl CudaRuntime {
    /// The rows of an equation over a domain with these unknowns, whose paths lead through these entity collections: known, or to be told by launches of its pattern
    /// kernel, see [`CudaRuntime::next_pattern`]. With `slots`, what is told is told in the order of the additions of the kernel that evaluates, and [`Rows::slots`] has their places.
    ///
    /// # Errors
    /// `Backend` (an internal error) if an unknown is none.
    pub fn seek_rows(
        &mut self,
        kernel: &KernelInfo,
        domain: &Arc<Domain>,
        unknowns: &[&Collection],
        entities: &[&EntityCollection],
        slots: bool,
    ) -> Result<Sought, Error> {
        let mut made = Made {
            kernel: kernel.name,
            n_cols: 0,
            domain: Arc::clone(domain),
            unknowns: Vec::with_capacity(unknowns.len()),
            entities: entities.iter().map(|e| Rc::clone(&e.values.buffer)).collect(),
        };
        for unknown in unknowns {
            let (first, n_cols) = self.place_of(unknown)?;
            made.unknowns.push((first, Arc::clone(&unknown.domain)));
            made.n_cols = n_cols;
        }
        let known = self.rows.0.iter().find(|(known, _)| known.is(&made)).map(|(_, rows)| Rc::clone(rows));
        Ok(Sought { made, slots, stage: known.map_or(Stage::Begin, Stage::Known) })
    }

    /// What the next launch of the pattern kernel takes; `None` when the rows are known.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or the device fails.
    pub fn next_pattern(&mut self, sought: &mut Sought) -> Result<Option<EqPattern>, Error> {
        let rows = sought.made.domain.len();
        match std::mem::replace(&mut sought.stage, Stage::Begin) {
            Stage::Known(known) => {
                sought.stage = Stage::Known(known);
                Ok(None)
            }
            Stage::Begin => {
                let counts = self.buffer("numbers of derivatives", 4 * rows as u64)?;
                let pattern = EqPattern { counts: counts.address().0, starts: 0, columns: 0 };
                sought.stage = Stage::Counting { counts };
                Ok(Some(pattern))
            }
            Stage::Counting { counts } => {
                let told = integers(&self.download(counts.address(), 4 * rows)?);
                let mut starts = Vec::with_capacity(rows + 1);
                let mut total = 0;
                starts.push(total);
                for count in told {
                    total += u64::from(count);
                    starts.push(total);
                }
                let device = self.upload("starts of rows", &bytes_of(&starts, u64::to_le_bytes))?;
                let columns = self.buffer("columns of derivatives", 4 * total)?;
                let pattern = EqPattern { counts: counts.address().0, starts: device.address().0, columns: columns.address().0 };
                sought.stage = Stage::Telling { starts, columns, device: [counts, device] };
                Ok(Some(pattern))
            }
            Stage::Telling { starts, columns, device } => {
                let total = starts.last().copied().unwrap_or(0) as usize;
                let told = integers(&self.download(columns.address(), 4 * total)?);
                let known = self.sorted_rows(&starts, told, sought, &device[1])?;
                sought.stage = Stage::Known(Rc::new(known));
                Ok(None)
            }
        }
    }

    /// The rows, to keep for the next evaluation.
    ///
    /// # Errors
    /// `Backend` (an internal error) if they have not been told.
    pub fn found_rows(&mut self, sought: Sought) -> Result<Rc<Rows>, Error> {
        let Sought { made, stage: Stage::Known(rows), .. } = sought else { return Err(fault("rows that nobody told")) };
        if !self.rows.0.iter().any(|(_, known)| Rc::ptr_eq(known, &rows)) {
            self.rows.0.retain(|(known, _)| known.kernel != made.kernel);
            self.rows.0.push((made, Rc::clone(&rows)));
        }
        Ok(rows)
    }

    /// Rows from the columns that elements told, in any order and more than once; those of element k from `starts[k]` on.
    fn sorted_rows(&mut self, starts: &[u64], told: Vec<u32>, sought: &Sought, device_starts: &Rc<Buffer>) -> Result<Rows, Error> {
        let Sorted { row_ptr: host_row_ptr, columns: host_columns, slots: places } = sorted(starts, told, sought.slots)?;
        let row_ptr = self.upload("rows of the Jacobian", &bytes_of(&host_row_ptr, |p| (p as u64).to_le_bytes()))?;
        let columns = self.upload("columns of the Jacobian", &bytes_of(&host_columns, u32::to_le_bytes))?;
        let block = block_of(&host_row_ptr);
        let slots = if sought.slots {
            let places = self.upload("places of derivatives", &bytes_of(&places, u16::to_le_bytes))?;
            // Where every row has each of its columns once, both begin at the same numbers, which a kernel reads for the rows anyway.
            let same = host_row_ptr.iter().zip(starts).all(|(&row, &start)| row as u64 == start);
            Some((if same { Rc::clone(&row_ptr) } else { Rc::clone(device_starts) }, places))
        } else {
            None
        };
        let rows = Rows::on_device(row_ptr, columns, starts.len() - 1, host_columns.len(), sought.made.n_cols);
        let rows = Rows { block, slots, ..rows };
        let _ = rows.host.set(HostRows { row_ptr: host_row_ptr, columns: host_columns });
        Ok(rows)
    }

    /// Room for the entries of rows, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_entries(&mut self, rows: &Rows) -> Result<Rc<Buffer>, Error> {
        self.reals("the Jacobian", rows.entries())
    }

    /// A residual with its derivatives.
    pub fn equation(&self, residual: Collection, rows: &Rc<Rows>, entries: Rc<Buffer>) -> Collection {
        let derivatives = Derivatives::Rows { rows: Rc::clone(rows), entries };
        Collection { derivatives: Some(Rc::new(derivatives)), ..residual }
    }

    /// Number of the first column of an unknown.
    ///
    /// # Errors
    /// `Backend` (an internal error) if it is none.
    pub fn first_column(&self, unknown: &Collection) -> Result<u32, Error> {
        Ok(self.place_of(unknown)?.0 as u32)
    }

    /// Number of the first column of an unknown, and how many columns there are.
    pub(super) fn place_of(&self, unknown: &Collection) -> Result<(usize, usize), Error> {
        match unknown.derivatives.as_deref() {
            Some(&Derivatives::Unknown { first, n_cols, .. }) => Ok((first, n_cols)),
            Some(Derivatives::Rows { .. }) | None => Err(self.session.locate(fault("an unknown without derivatives"))),
        }
    }
}

/// Rows, and the place in its row of everything that was told.
struct Sorted {
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    slots: Vec<u16>,
}

fn sorted(starts: &[u64], mut told: Vec<u32>, with_slots: bool) -> Result<Sorted, Error> {
    let mut row_ptr = Vec::with_capacity(starts.len());
    row_ptr.push(0);
    let mut slots = Vec::with_capacity(if with_slots { told.len() } else { 0 });
    let (mut kept, mut order) = (0, Vec::new());
    for ends in starts.windows(2) {
        let row = ends[0] as usize..ends[1] as usize;
        let begin = kept;
        order.clear();
        order.extend_from_slice(&told[row.clone()]);
        told[row.clone()].sort_unstable();
        for at in row {
            let column = told[at];
            // What does not exist comes last.
            if column == NONE {
                break;
            }
            if kept == begin || told[kept - 1] != column {
                told[kept] = column;
                kept += 1;
            }
        }
        if with_slots {
            let columns = &told[begin..kept];
            if columns.len() > usize::from(u16::MAX) {
                return Err(Error::new(ErrorKind::Backend, "a row of the Jacobian has more entries than can be numbered"));
            }
            // Nothing is added to what does not exist.
            slots.extend(order.iter().map(|column| columns.binary_search(column).unwrap_or(0) as u16));
        }
        row_ptr.push(kept);
    }
    told.truncate(kept);
    told.shrink_to_fit();
    Ok(Sorted { row_ptr, columns: told, slots })
}

pub(super) fn fault(what: &str) -> Error {
    Error::new(ErrorKind::Backend, format!("internal error: {what}"))
}

fn integers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&c| u32::from_le_bytes(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows: 5, 3, 5 and nothing; 7, 1. Entries by ascending column, each once.
    #[test]
    fn columns_are_sorted_and_places_follow_what_was_told() {
        let Sorted { row_ptr, columns, slots } = sorted(&[0, 4, 6, 6], vec![5, 3, 5, NONE, 7, 1], true).expect("short rows");
        assert_eq!((row_ptr, columns), (vec![0, 2, 4, 4], vec![3, 5, 1, 7]));
        assert_eq!(slots, [1, 0, 1, 0, 1, 0]);
        assert!(sorted(&[0, 1], vec![2], false).expect("one entry").slots.is_empty());
    }

    /// 2560 entries: 256 rows of ten, 128 of twenty.
    #[test]
    fn blocks_are_as_large_as_shared_memory_allows() {
        let rows = |width: usize, count: usize| (0..=count).map(|k| width * k).collect::<Vec<_>>();
        assert_eq!(block_of(&rows(7, 1000)), 256);
        assert_eq!(block_of(&rows(10, 1000)), 256);
        assert_eq!(block_of(&rows(11, 1000)), 128);
        assert_eq!(block_of(&rows(80, 1000)), 32);
        // Nothing fits: rows are written where they are.
        assert_eq!(block_of(&rows(81, 1000)), 256);
        assert_eq!(block_of(&[0]), 256);
    }
}
