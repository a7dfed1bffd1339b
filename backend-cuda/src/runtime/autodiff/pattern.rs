//! Patterns of equations: rows of the Jacobian that the kernels of a program write.
//!
//! The derivatives of an equation follow from its access paths. Once per grid, a pattern kernel
//! lists them in two launches: the number for each element, then the columns. The device sorts them
//! into the rows of a sparse matrix; the host learns only their number. An evaluation writes the
//! entries in place.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::executor::Executor;
use crate::runtime::linalg::csr::{CsrPattern, block_of};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::arguments::EqPattern;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::MATRICES_MODULE;

/// First column and domain of an unknown.
type UnknownColumns = (usize, Arc<Domain>);

/// The key of a pattern: handles, which it owns so that their addresses stay unique.
#[derive(Debug)]
pub(crate) struct PatternKey {
    pub kernel: String,
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
    /// True if slots of additions are needed.
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
    Listing(Listed),
}

/// Columns in any order and with repetitions; those of element k begin at `starts[k]`.
#[derive(Debug)]
struct Listed {
    starts: Rc<Buffer>,
    columns: Rc<Buffer>,
    /// The numbers of columns, which the pattern kernel still writes.
    _counts: Rc<Buffer>,
    total: usize,
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
                let starts = executor.buffer("starts of rows", 8 * (rows as u64 + 1))?;
                let call = executor.call(&MATRICES_MODULE, "equelle_lengths")?.arg(rows as u32).arg(counts.address());
                executor.launch_over(call.arg(starts.address()), rows)?;
                let total = total(executor, &starts, rows)?;
                let columns = executor.buffer("columns of derivatives", 4 * total as u64)?;
                let pattern = EqPattern { counts: counts.address().0, starts: starts.address().0, columns: columns.address().0 };
                self.stage = Stage::Listing(Listed { starts, columns, _counts: counts, total });
                Ok(Some(pattern))
            }
            Stage::Listing(listed) => {
                let known = rows_of(executor, rows, self.key.n_cols, &listed, self.slots)?;
                self.stage = Stage::Finished(Rc::new(known));
                Ok(None)
            }
        }
    }
}

/// Turns the lengths of rows behind the first number of `starts` into starts; returns their sum.
fn total(executor: &Executor, starts: &Buffer, rows: usize) -> Result<usize, Error> {
    if rows == 0 {
        return Ok(0);
    }
    executor.running_sums(DevicePtr(starts.address().0 + 8), rows)?;
    Ok(executor.download_one::<u64>(DevicePtr(starts.address().0 + 8 * rows as u64))? as usize)
}

/// Rows of a sparse matrix from the listed columns of `rows` elements.
fn rows_of(executor: &Executor, rows: usize, n_cols: usize, listed: &Listed, with_slots: bool) -> Result<CsrPattern, Error> {
    if rows == 0 {
        let row_ptr = executor.upload("rows of the Jacobian", &[0u64])?;
        let columns = executor.buffer("columns of the Jacobian", 0)?;
        let slots = with_slots.then(|| (Rc::clone(&row_ptr), Rc::clone(&columns)));
        return Ok(CsrPattern::on_device(row_ptr, columns, 0, 0, n_cols).with_kernel_data(block_of([0; 4]), slots));
    }
    let Listed { starts, columns, total: listed_columns, .. } = listed;
    let call = |name| Ok::<_, Error>(executor.call(&MATRICES_MODULE, name)?.arg(rows as u32));
    let row_ptr = executor.buffer("rows of the Jacobian", 8 * (rows as u64 + 1))?;
    // Slots follow the order in which columns were listed.
    let sorted = if with_slots { executor.buffer("columns of the Jacobian", 4 * *listed_columns as u64)? } else { Rc::clone(columns) };
    let sort = call("equelle_sort_rows")?.arg(starts.address()).arg(columns.address()).arg(sorted.address());
    executor.launch_over(sort.arg(row_ptr.address()), rows)?;
    let entries = total(executor, &row_ptr, rows)?;
    // If every row has each of its columns once, both have the same row pointers, which a kernel
    // reads anyway.
    let same = entries == *listed_columns;
    let packed = if same {
        sorted
    } else {
        let packed = executor.buffer("columns of the Jacobian", 4 * entries as u64)?;
        let pack = call("equelle_pack_rows")?.arg(starts.address()).arg(sorted.address()).arg(row_ptr.address());
        executor.launch_over(pack.arg(packed.address()), rows)?;
        packed
    };
    let most = executor.upload("the longest rows", &[0u64; 5])?;
    executor.launch_over(call("equelle_longest")?.arg(row_ptr.address()).arg(most.address()), rows)?;
    let slots = if with_slots {
        let slots = executor.buffer("places of derivatives", 2 * *listed_columns as u64)?;
        let call = call("equelle_slots")?.arg(starts.address()).arg(columns.address()).arg(row_ptr.address()).arg(packed.address());
        executor.launch_over(call.arg(slots.address()), rows)?;
        Some((if same { Rc::clone(&row_ptr) } else { Rc::clone(starts) }, slots))
    } else {
        None
    };
    let most: Vec<u64> = executor.download(most.address(), 5)?;
    if with_slots && most[4] > u64::from(u16::MAX) {
        return Err(Error::new(ErrorKind::Backend, "a row of the Jacobian has more entries than can be numbered"));
    }
    let block = block_of([most[0], most[1], most[2], most[3]]);
    Ok(CsrPattern::on_device(row_ptr, packed, rows, entries, n_cols).with_kernel_data(block, slots))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::test_support::runtimes;

    /// No element.
    const NONE: u32 = u32::MAX;

    /// The columns of listed rows, their starts and the slots of what was listed.
    fn rows_of_lists(executor: &Executor, lists: &[Vec<u32>], with_slots: bool) -> (Vec<u64>, Vec<u32>, Vec<u16>, u32) {
        let mut starts = vec![0u64];
        for list in lists {
            starts.push(starts[starts.len() - 1] + list.len() as u64);
        }
        let columns = lists.concat();
        let total = columns.len();
        let (starts, columns) =
            (executor.upload("starts", &starts).expect("memory"), executor.upload("columns", &columns).expect("memory"));
        let listed = Listed { _counts: Rc::clone(&columns), starts, columns, total };
        let rows = rows_of(executor, lists.len(), 1000, &listed, with_slots).expect("rows");
        let row_ptr = executor.download(rows.row_ptr.address(), lists.len() + 1).expect("a device");
        let columns = executor.download(rows.columns.address(), rows.entries()).expect("a device");
        let slots = rows.slots().map_or_else(|_| Vec::new(), |slots| executor.download(DevicePtr(slots.slots), total).expect("a device"));
        (row_ptr, columns, slots, rows.block)
    }

    /// Two rows: 5, 3, 5 and a missing element; 7, 1. Entries by ascending column, each once.
    #[test]
    fn columns_are_sorted_and_places_follow_what_was_told() {
        for rt in runtimes() {
            let lists = [vec![5, 3, 5, NONE], vec![7, 1], vec![]];
            let (row_ptr, columns, slots, _) = rows_of_lists(&rt.executor, &lists, true);
            assert_eq!((row_ptr, columns), (vec![0, 2, 4, 4], vec![3, 5, 1, 7]));
            assert_eq!(slots, [1, 0, 1, 0, 1, 0]);
            let (row_ptr, columns, slots, block) = rows_of_lists(&rt.executor, &lists[1..], false);
            assert_eq!((row_ptr, columns, slots, block), (vec![0, 2, 2], vec![1, 7], vec![], 256));
            assert!(rows_of_lists(&rt.executor, &[], true).1.is_empty());
        }
    }

    /// Rows of 1 to 400 columns, listed in an order that is not theirs, some twice: short ones are
    /// sorted by insertion, long ones by a heap.
    #[test]
    fn rows_of_any_length_are_sorted() {
        for rt in runtimes() {
            let list = |row: u32| (0..1 + 7 * row % 400).map(|k| (k * 7919 + row) % (300 + row)).collect::<Vec<u32>>();
            let lists: Vec<Vec<u32>> = (0..150).map(list).collect();
            let (row_ptr, columns, slots, block) = rows_of_lists(&rt.executor, &lists, true);
            let mut at = slots.iter();
            for (row, list) in lists.iter().enumerate() {
                let mut wanted = list.clone();
                wanted.sort_unstable();
                wanted.dedup();
                let found = &columns[row_ptr[row] as usize..row_ptr[row + 1] as usize];
                assert_eq!(found, wanted, "row {row}");
                assert!(list.iter().all(|column| at.next().is_some_and(|&slot| found[usize::from(slot)] == *column)), "row {row}");
            }
            assert_eq!(block, 256, "32 rows of 200 columns fit nowhere");
        }
    }

    /// 2560 entries: 256 rows of ten, 128 of twenty.
    #[test]
    fn blocks_are_as_large_as_shared_memory_allows() {
        for rt in runtimes() {
            let block = |width: u32| rows_of_lists(&rt.executor, &vec![(0..width).collect(); 1000], false).3;
            assert_eq!([7, 10, 11, 80].map(block), [256, 256, 128, 32]);
            // Too large for shared memory: rows are written in global memory.
            assert_eq!(block(81), 256);
        }
    }
}
