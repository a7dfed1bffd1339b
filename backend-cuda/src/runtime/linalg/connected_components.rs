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
use equelle_runtime::linalg::null_space::{Groups, NullSpace, round_off};

use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;
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
            let (numbers, count) = connected(executor, &matrix.rows, begin, end)?;
            let parts = executor.upload("connected parts", &numbers)?;
            ranges.push(Columns { begin, end, parts, count });
        }
        Ok(ConnectedComponents { made_for: (Rc::clone(&matrix.rows), ends.to_vec()), ranges, found: RefCell::new(None) })
    }

    /// Whether these components belong to the pattern of a matrix whose fields end at `ends`.
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

    /// Whether each component is regular, by entries with this rounding. One small copy to the host
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

/// Component of each column from `begin` to `end`, and the number of components.
fn connected(executor: &Executor, rows: &CsrPattern, begin: usize, end: usize) -> Result<(Vec<u32>, usize), Error> {
    let mut groups = Groups::new(end - begin);
    let rows = rows.host(executor)?;
    for ends in rows.row_ptr.windows(2) {
        let columns = rows.columns[ends[0]..ends[1]].iter().map(|&column| column as usize).filter(|c| (begin..end).contains(c));
        let mut first = None;
        for column in columns {
            groups.join(*first.get_or_insert(column - begin), column - begin);
        }
    }
    let mut numbers = vec![0; end - begin];
    let mut count = 0;
    for member in 0..numbers.len() {
        // A root is the smallest member of its component, so it comes first.
        let root = groups.root(member);
        if root == member {
            numbers[member] = count;
            count += 1;
        } else {
            numbers[member] = numbers[root];
        }
    }
    Ok((numbers, count as usize))
}
