//! Connected components of matrices, and a check on the device whether they are singular, so that
//! the entries stay there.
//!
//! See [`equelle_runtime::linalg::null_space`]. Unknowns of a field that share a row are connected;
//! a component is regular if the entries of some row do not cancel over it. The components come
//! from the pattern, which may connect more than the nonzero entries do: a matrix that is declared
//! regular here may still be singular where entries are zero. A Krylov method then does not
//! converge, and the host inspects the entries.

use std::cell::RefCell;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::null_space::{NullSpace, round_off};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::MATRICES_MODULE;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::null_space::Projection;
use crate::runtime::linalg::space::Space;

/// The connected components of the columns of each field, and of all fields together if there are
/// several.
pub(crate) struct ConnectedComponents {
    made_for: (Rc<CsrPattern>, Vec<usize>),
    ranges: Vec<Columns>,
    /// The last result of the host.
    found: RefCell<Option<CachedNullSpace>>,
}

/// The null space of a matrix.
struct CachedNullSpace {
    /// Flags of the regular components.
    fixed: Vec<Vec<u8>>,
    null_space: Rc<NullSpace>,
    projection: Rc<Projection>,
}

struct Columns {
    begin: usize,
    end: usize,
    /// Component of each column.
    parts: Rc<Buffer>,
    count: usize,
}

impl ConnectedComponents {
    /// The components of a pattern whose fields end at `ends`.
    pub(crate) fn of(executor: &Executor, matrix: &DeviceMatrix, ends: &[usize]) -> Result<Self, Error> {
        let mut fields: Vec<(usize, usize)> = Vec::new();
        for &end in ends {
            fields.push((fields.last().map_or(0, |last| last.1), end));
        }
        if let ([_, _, ..], Some(&total)) = (ends, ends.last()) {
            fields.push((0, total));
        }
        let mut ranges = Vec::with_capacity(fields.len());
        for (begin, end) in fields {
            let (parts, count) = connected(executor, matrix, begin, end)?;
            ranges.push(Columns { begin, end, parts, count });
        }
        Ok(ConnectedComponents { made_for: (Rc::clone(&matrix.rows), ends.to_vec()), ranges, found: RefCell::new(None) })
    }

    /// True if these components belong to the pattern of a matrix whose fields end at `ends`.
    pub(crate) fn is_of(&self, matrix: &DeviceMatrix, ends: &[usize]) -> bool {
        Rc::ptr_eq(&self.made_for.0, &matrix.rows) && self.made_for.1 == ends
    }

    /// The null space of a matrix of this pattern. The host inspects entries only where a component
    /// may be singular and its last result no longer holds.
    pub(crate) fn null_space(&self, rt: &mut Space<f64>, matrix: &DeviceMatrix, rounding: f64) -> Result<Rc<NullSpace>, Error> {
        let fixed = self.fixed(&rt.executor, matrix, rounding)?;
        if fixed.iter().flatten().all(|&is_fixed| is_fixed != 0) {
            return Ok(Rc::default());
        }
        let known = self
            .found
            .borrow()
            .as_ref()
            .filter(|found| found.fixed == fixed)
            .map(|found| (Rc::clone(&found.projection), Rc::clone(&found.null_space)));
        if let Some((projection, null_space)) = known
            && projection.holds(rt, matrix, rounding)?
        {
            return Ok(null_space);
        }
        let null_space = Rc::new(NullSpace::find_in_blocks(matrix.host(&rt.executor)?, &self.made_for.1, rounding));
        let projection = Rc::new(Projection::of(rt, matrix.rows.len(), &null_space)?);
        *self.found.borrow_mut() = Some(CachedNullSpace { fixed, null_space: Rc::clone(&null_space), projection });
        Ok(null_space)
    }

    /// The projection of the last result, if `null_space` is that.
    pub(crate) fn projection(&self, null_space: &Rc<NullSpace>) -> Option<Rc<Projection>> {
        self.found.borrow().as_ref().filter(|found| Rc::ptr_eq(&found.null_space, null_space)).map(|found| Rc::clone(&found.projection))
    }

    /// True if each component is regular, by entries with this rounding. One small copy to the host
    /// for each field.
    fn fixed(&self, executor: &Executor, matrix: &DeviceMatrix, rounding: f64) -> Result<Vec<Vec<u8>>, Error> {
        let mut all = Vec::with_capacity(self.ranges.len());
        for range in &self.ranges {
            let fixed = executor.upload("which parts are fixed", &vec![0u8; range.count])?;
            let call = executor
                .runtime_call("equelle_fixed_parts")?
                .arg(matrix.rows.len() as u32)
                .arg(matrix.args())
                .arg(range.begin as u32)
                .arg(range.end as u32)
                .arg(range.parts.address())
                .arg(round_off(rounding))
                .arg(fixed.address());
            executor.launch_over(call, matrix.rows.len())?;
            all.push(executor.download(fixed.address(), range.count)?);
        }
        Ok(all)
    }
}

/// Component of each column from `begin` to `end`, in the order of their first columns, and their
/// number.
fn connected(executor: &Executor, matrix: &DeviceMatrix, begin: usize, end: usize) -> Result<(Rc<Buffer>, usize), Error> {
    let n = end - begin;
    let parts = executor.buffer("connected parts", 4 * n as u64)?;
    if n == 0 {
        return Ok((parts, 0));
    }
    let (parents, roots) = (executor.buffer("connected parts", 4 * n as u64)?, executor.buffer("connected parts", 8 * (n as u64 + 1))?);
    executor.launch_over(executor.runtime_call("equelle_iota")?.arg(n as u32).arg(0u32).arg(parents.address()), n)?;
    let rows = matrix.rows.len();
    let join = executor.call(&MATRICES_MODULE, "equelle_join_columns")?.arg(rows as u32).arg(matrix.args()).arg(begin as u32);
    executor.launch_over(join.arg(end as u32).arg(parents.address()), rows)?;
    let find = executor.call(&MATRICES_MODULE, "equelle_find_roots")?.arg(n as u32).arg(parents.address());
    executor.launch_over(find.arg(roots.address()), n)?;
    executor.running_sums(DevicePtr(roots.address().0 + 8), n)?;
    let number = executor.call(&MATRICES_MODULE, "equelle_number_parts")?.arg(n as u32).arg(parents.address()).arg(roots.address());
    executor.launch_over(number.arg(parts.address()), n)?;
    Ok((parts, executor.download_one::<u64>(DevicePtr(roots.address().0 + 8 * n as u64))? as usize))
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::Csr;

    use super::*;
    use crate::runtime::test_support::spaces;

    /// Chains of every third column, joined from both ends, and a column alone.
    #[test]
    fn components_are_numbered_by_their_first_columns() {
        for rt in spaces() {
            let (mut row_ptr, mut columns) = (vec![0], Vec::new());
            let n = 3000u32;
            for row in 0..n - 1 {
                let other = if row % 2 == 0 { row + 3 } else { (row * 7 / 3 + 3) * 3 + row % 3 };
                let mut own = vec![row];
                own.extend((other < n - 1).then_some(other));
                columns.extend(own);
                row_ptr.push(columns.len());
            }
            columns.push(n - 1);
            row_ptr.push(columns.len());
            let matrix = Csr::new(n as usize, n as usize, row_ptr, columns.clone(), vec![1.0; columns.len()]).expect("rows");
            let matrix = DeviceMatrix::upload(&rt.executor, &matrix).expect("memory");
            let (parts, count) = connected(&rt.executor, &matrix, 0, n as usize).expect("components");
            let parts: Vec<u32> = rt.executor.download(parts.address(), n as usize).expect("a device");
            // By flooding from each column in turn.
            let host = matrix.host(&rt.executor).expect("a device");
            let mut wanted = vec![u32::MAX; n as usize];
            let mut neighbours = vec![Vec::new(); n as usize];
            for row in 0..n as usize {
                let own = &host.col_idx()[host.row_ptr()[row]..host.row_ptr()[row + 1]];
                for &column in own {
                    neighbours[own[0] as usize].push(column as usize);
                    neighbours[column as usize].push(own[0] as usize);
                }
            }
            let mut found = 0;
            for first in 0..n as usize {
                if wanted[first] != u32::MAX {
                    continue;
                }
                let mut open = vec![first];
                while let Some(column) = open.pop() {
                    if std::mem::replace(&mut wanted[column], found) == u32::MAX {
                        open.extend(neighbours[column].iter().filter(|&&next| wanted[next] == u32::MAX));
                    }
                }
                found += 1;
            }
            assert!(found > 2, "{found} components");
            assert_eq!((parts, count), (wanted, found as usize));
        }
    }
}
