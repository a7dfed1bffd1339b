//! Patterns of equations: rows of the Jacobian that the kernels of a program write.
//!
//! The derivatives of an equation follow from its access paths. Once per grid, a pattern kernel
//! lists them in two launches: the number for each element, then the columns. The host sorts them
//! into the rows of a sparse matrix. An evaluation writes the entries in place.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::executor::Executor;
use crate::runtime::linalg::csr::{CsrPattern, HostPattern, block_of};

use crate::runtime::executor::arguments::EqPattern;
use crate::runtime::executor::pool::Buffer;

/// No element.
const NONE: u32 = u32::MAX;

/// First column and domain of an unknown.
type UnknownColumns = (usize, Arc<Domain>);

/// The key of a pattern: handles, which it owns so that their addresses stay unique.
#[derive(Debug)]
pub(crate) struct PatternKey {
    pub kernel: &'static str,
    pub n_cols: usize,
    pub domain: Arc<Domain>,
    pub unknowns: Vec<UnknownColumns>,
    /// The entity collections of the access paths.
    pub entities: Vec<Rc<Buffer>>,
}

impl PatternKey {
    fn is(&self, other: &PatternKey) -> bool {
        let same_unknown = |(a, b): (&UnknownColumns, &UnknownColumns)| a.0 == b.0 && Arc::ptr_eq(&a.1, &b.1);
        self.kernel == other.kernel
            && self.n_cols == other.n_cols
            && Arc::ptr_eq(&self.domain, &other.domain)
            && self.unknowns.len() == other.unknowns.len()
            && self.unknowns.iter().zip(&other.unknowns).all(same_unknown)
            && self.entities.len() == other.entities.len()
            && self.entities.iter().zip(&other.entities).all(|(a, b)| Rc::ptr_eq(a, b))
    }
}

/// Patterns of a run, one for each equation.
#[derive(Debug, Default)]
pub(crate) struct PatternCache(Vec<(PatternKey, Rc<CsrPattern>)>);

/// Construction of a pattern, which a kernel is about to need.
#[derive(Debug)]
pub struct PatternBuilder {
    key: PatternKey,
    /// Whether slots of additions are needed.
    slots: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Finished(Rc<CsrPattern>),
    Begin,
    /// Derivatives are counted.
    Counting {
        counts: Rc<Buffer>,
    },
    /// Columns are written.
    Listing {
        starts: Vec<u64>,
        columns: Rc<Buffer>,
        /// The numbers of derivatives, and their prefix sums.
        device: [Rc<Buffer>; 2],
    },
}

impl PatternCache {
    /// Begins the pattern of an equation: cached, or to be listed by launches of its pattern
    /// kernel.
    pub(crate) fn begin(&self, key: PatternKey, slots: bool) -> PatternBuilder {
        let known = self.0.iter().find(|(known, _)| known.is(&key)).map(|(_, rows)| Rc::clone(rows));
        PatternBuilder { key, slots, stage: known.map_or(Stage::Begin, Stage::Finished) }
    }

    /// The pattern, cached for the next evaluation.
    ///
    /// # Errors
    /// `Backend` (an internal error) if it has not been listed.
    pub(crate) fn finish(&mut self, builder: PatternBuilder) -> Result<Rc<CsrPattern>, Error> {
        let PatternBuilder { key, stage: Stage::Finished(rows), .. } = builder else {
            return Err(Error::internal("a pattern that was not listed"));
        };
        if !self.0.iter().any(|(_, known)| Rc::ptr_eq(known, &rows)) {
            self.0.retain(|(known, _)| known.kernel != key.kernel);
            self.0.push((key, Rc::clone(&rows)));
        }
        Ok(rows)
    }
}

impl PatternBuilder {
    /// The argument of the next launch of the pattern kernel; `None` once the pattern is known.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or the device fails.
    pub(crate) fn next(&mut self, executor: &Executor) -> Result<Option<EqPattern>, Error> {
        let rows = self.key.domain.len();
        match std::mem::replace(&mut self.stage, Stage::Begin) {
            Stage::Finished(known) => {
                self.stage = Stage::Finished(known);
                Ok(None)
            }
            Stage::Begin => {
                let counts = executor.buffer("numbers of derivatives", 4 * rows as u64)?;
                let pattern = EqPattern { counts: counts.address().0, starts: 0, columns: 0 };
                self.stage = Stage::Counting { counts };
                Ok(Some(pattern))
            }
            Stage::Counting { counts } => {
                let told: Vec<u32> = executor.download(counts.address(), rows)?;
                let mut starts = Vec::with_capacity(rows + 1);
                let mut total = 0;
                starts.push(total);
                for count in told {
                    total += u64::from(count);
                    starts.push(total);
                }
                let device = executor.upload("starts of rows", &starts)?;
                let columns = executor.buffer("columns of derivatives", 4 * total)?;
                let pattern = EqPattern { counts: counts.address().0, starts: device.address().0, columns: columns.address().0 };
                self.stage = Stage::Listing { starts, columns, device: [counts, device] };
                Ok(Some(pattern))
            }
            Stage::Listing { starts, columns, device } => {
                let total = starts.last().copied().unwrap_or(0) as usize;
                let told = executor.download(columns.address(), total)?;
                let known = self.sorted_rows(executor, &starts, told, &device[1])?;
                self.stage = Stage::Finished(Rc::new(known));
                Ok(None)
            }
        }
    }

    /// Rows from the listed columns, in any order and with repetitions; those of element k begin at
    /// `starts[k]`.
    fn sorted_rows(&self, executor: &Executor, starts: &[u64], told: Vec<u32>, device_starts: &Rc<Buffer>) -> Result<CsrPattern, Error> {
        let Sorted { row_ptr: host_row_ptr, columns: host_columns, slots: places } = sorted(starts, told, self.slots)?;
        let row_ptr = executor.upload("rows of the Jacobian", &host_row_ptr.iter().map(|&p| p as u64).collect::<Vec<_>>())?;
        let columns = executor.upload("columns of the Jacobian", &host_columns)?;
        let block = block_of(&host_row_ptr);
        let slots = if self.slots {
            let places = executor.upload("places of derivatives", &places)?;
            // If every row has each of its columns once, both have the same row pointers, which a
            // kernel reads anyway.
            let same = host_row_ptr.iter().zip(starts).all(|(&row, &start)| row as u64 == start);
            Some((if same { Rc::clone(&row_ptr) } else { Rc::clone(device_starts) }, places))
        } else {
            None
        };
        let rows = CsrPattern::on_device(row_ptr, columns, starts.len() - 1, host_columns.len(), self.key.n_cols);
        Ok(rows.of_kernel(block, slots, HostPattern { row_ptr: host_row_ptr, columns: host_columns }))
    }
}

/// Rows, and the slot of each listed column.
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
            // Elements that do not exist come last.
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
            // Nothing is added for elements that do not exist.
            slots.extend(order.iter().map(|column| columns.binary_search(column).unwrap_or(0) as u16));
        }
        row_ptr.push(kept);
    }
    told.truncate(kept);
    told.shrink_to_fit();
    Ok(Sorted { row_ptr, columns: told, slots })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows: 5, 3, 5 and a missing element; 7, 1. Entries by ascending column, each once.
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
        // Too large for shared memory: rows are written in global memory.
        assert_eq!(block_of(&rows(81, 1000)), 256);
        assert_eq!(block_of(&[0]), 256);
    }
}
