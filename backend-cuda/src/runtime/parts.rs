//! Whether a matrix may leave the level of an unknown open: looked at on the device, so that the entries stay there.
//!
//! See [`equelle_runtime::linalg::null_space`]. Unknowns of a field that meet in a row are connected; a connected part has a fixed level if the entries of some row do not
//! cancel over it. Parts come from the pattern, which has all connections that the entries can have and perhaps more: what is said to be fixed here may still be
//! open where entries are zero. A Krylov method does not converge then, and the host looks closer.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::null_space::Groups;

use crate::runtime::args::Call;
use crate::runtime::grid::bytes_of;
use crate::runtime::krylov::DeviceMatrix;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::Rows;

/// The connected parts of the columns of each field, and of all together where there are several.
pub(super) struct Parts {
    made_for: Vec<Rc<Rows>>,
    ranges: Vec<Columns>,
}

struct Columns {
    begin: usize,
    end: usize,
    /// Number of the part of each column.
    parts: Rc<Buffer>,
    count: usize,
}

impl Parts {
    /// Of a pattern whose fields end at `ends`.
    pub(super) fn of(rt: &mut CudaRuntime, matrix: &DeviceMatrix, ends: &[usize]) -> Result<Self, Error> {
        let mut fields: Vec<(usize, usize)> = Vec::new();
        for &end in ends {
            fields.push((fields.last().map_or(0, |last| last.1), end));
        }
        if let ([_, _, ..], Some(&total)) = (ends, ends.last()) {
            fields.push((0, total));
        }
        let mut ranges = Vec::with_capacity(fields.len());
        for (begin, end) in fields {
            let (numbers, count) = connected(rt, matrix, begin, end)?;
            let parts = rt.upload("connected parts", &bytes_of(&numbers, u32::to_le_bytes))?;
            ranges.push(Columns { begin, end, parts, count });
        }
        Ok(Parts { made_for: matrix.blocks.iter().map(|(rows, _)| Rc::clone(rows)).collect(), ranges })
    }

    /// Whether these are of the pattern of a matrix.
    pub(super) fn is_of(&self, matrix: &DeviceMatrix) -> bool {
        self.made_for.len() == matrix.blocks.len() && self.made_for.iter().zip(&matrix.blocks).all(|(a, (b, _))| Rc::ptr_eq(a, b))
    }

    /// Whether the level of each part is fixed. One small copy to the host.
    pub(super) fn all_fixed(&self, rt: &mut CudaRuntime, matrix: &DeviceMatrix) -> Result<bool, Error> {
        for range in &self.ranges {
            let fixed = rt.upload("which parts are fixed", &vec![0; range.count])?;
            let function = rt.runtime_function("equelle_fixed_parts")?;
            for (rows, entries) in &matrix.blocks {
                let call = Call::new(function, "equelle_fixed_parts")
                    .arg(rows.len() as u32)
                    .arg(rows.args(entries))
                    .arg(range.begin as u32)
                    .arg(range.end as u32)
                    .arg(range.parts.address())
                    .arg(fixed.address());
                rt.launch_over(call, rows.len())?;
            }
            if rt.download(fixed.address(), range.count)?.contains(&0) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Numbers of the connected parts of the columns from `begin` to `end`, and how many parts there are.
fn connected(rt: &mut CudaRuntime, matrix: &DeviceMatrix, begin: usize, end: usize) -> Result<(Vec<u32>, usize), Error> {
    let mut groups = Groups::new(end - begin);
    for (rows, _) in &matrix.blocks {
        let rows = rows.host(rt)?;
        for ends in rows.row_ptr.windows(2) {
            let columns = rows.columns[ends[0]..ends[1]].iter().map(|&column| column as usize).filter(|c| (begin..end).contains(c));
            let mut first = None;
            for column in columns {
                groups.join(*first.get_or_insert(column - begin), column - begin);
            }
        }
    }
    let mut numbers = vec![0; end - begin];
    let mut count = 0;
    for member in 0..numbers.len() {
        // A root is the smallest of its part, so it comes first.
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
