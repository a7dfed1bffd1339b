//! Set-up of factorised sparse approximate inverses on the device. The host computes the pattern of
//! the factors for the first matrix of a pattern.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::Csr;
use equelle_runtime::linalg::precond::fsai::{Fsai, FsaiPattern, lower_pattern};

use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Argument;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::FACTORISATION_MODULE;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::space::Space;

/// Largest number of bytes for local systems that threads process at the same time.
const WORKSPACE_BYTES: u64 = 64 << 20;
/// Number of cached patterns.
const KNOWN: usize = 4;

/// The patterns of both factors for matrices of a pattern.
#[derive(Debug)]
pub(crate) struct FsaiRows {
    of: Rc<CsrPattern>,
    left: Rc<CsrPattern>,
    right: Rc<CsrPattern>,
    /// Index of each entry of the left factor in the right one, its transpose.
    places: Rc<Buffer>,
    /// Number of entries of the widest row.
    widest: usize,
}

/// Workspace for local systems.
struct Local<'a> {
    workspace: &'a Buffer,
    threads: u32,
}

impl Argument for Local<'_> {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.workspace.address().0, u64::from(self.threads)]);
    }
}

impl FsaiRows {
    fn new(executor: &Executor, a: &DeviceMatrix) -> Result<Self, Error> {
        let lower = lower_pattern(a.host(executor)?, FsaiPattern::default());
        let n = lower.len();
        let widest = lower.iter().map(Vec::len).max().unwrap_or(0);
        let row_ptr: Vec<usize> = std::iter::once(0)
            .chain(lower.iter().scan(0, |end, row| {
                *end += row.len();
                Some(*end)
            }))
            .collect();
        let columns = lower.concat();
        let entries = columns.len();
        if u32::try_from(entries).is_err() {
            return Err(Error::internal("an approximate inverse has more entries than can be numbered"));
        }
        // Transposed with the number of each entry as its value, which `f64` represents exactly.
        let left = Csr::new(n, n, row_ptr, columns, (0..entries).map(|number| number as f64).collect());
        let left = left.map_err(|what| Error::internal(format!("a pattern is malformed: {what}")))?;
        let right = left.transpose();
        let mut places = vec![0u32; entries];
        right.values().iter().zip(0..).for_each(|(&number, place)| places[number as usize] = place);
        let rows = |matrix: &Csr| {
            let what = "an approximate inverse";
            let row_ptr: Vec<u64> = matrix.row_ptr().iter().map(|&start| start as u64).collect();
            let row_ptr = executor.upload(what, &row_ptr)?;
            let columns = executor.upload(what, matrix.col_idx())?;
            Ok::<_, Error>(Rc::new(CsrPattern::on_device(row_ptr, columns, n, entries, n)))
        };
        let (left, right) = (rows(&left)?, rows(&right)?);
        let places = executor.upload("an approximate inverse", &places)?;
        Ok(FsaiRows { of: Rc::clone(&a.rows), left, right, places, widest })
    }
}

impl Space<f64> {
    /// An approximate inverse of `sign` times a matrix.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub(crate) fn approximate_inverse(&mut self, a: &DeviceMatrix, sign: f64, symmetric: bool) -> Result<Fsai<Space<f64>>, Error> {
        let pattern = match self.setups.find::<FsaiRows>(|known| Rc::ptr_eq(&known.of, &a.rows)) {
            Some(known) => known,
            None => {
                let made = FsaiRows::new(&self.executor, a)?;
                self.setups.insert(made, KNOWN)
            }
        };
        let made = self.fill(&pattern, a, sign, symmetric);
        let [left, right] = made?;
        Fsai::from_factors(self, left, right, a.rows.len())
    }

    fn fill(&mut self, pattern: &FsaiRows, a: &DeviceMatrix, sign: f64, symmetric: bool) -> Result<[DeviceMatrix; 2], Error> {
        let what = "an approximate inverse";
        let (n, entries) = (a.rows.len(), pattern.left.entries());
        let [left, right] = [self.executor.buffer(what, 8 * entries as u64)?, self.executor.buffer(what, 8 * entries as u64)?];
        let local = 8 * (pattern.widest * (pattern.widest + 1)) as u64;
        let threads = (WORKSPACE_BYTES / local.max(8)).clamp(1, n.max(1) as u64) as u32;
        let workspace = self.executor.buffer("the local systems of an approximate inverse", u64::from(threads) * local)?;
        let call =
            self.executor.call(&FACTORISATION_MODULE, "equelle_fsai")?.arg(n as u32).arg(u32::from(symmetric)).arg(a.args()).arg(sign);
        let call = call.arg(pattern.left.args(&left)).arg(pattern.places.address()).arg(right.address());
        self.executor.launch_over(call.arg(Local { workspace: &workspace, threads }), if n == 0 { 0 } else { threads as usize })?;
        Ok([DeviceMatrix::new(Rc::clone(&pattern.left), left), DeviceMatrix::new(Rc::clone(&pattern.right), right)])
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::precond::fsai::FsaiFactors;
    use equelle_runtime::linalg::space::host::HostSpace;
    use equelle_runtime::linalg::{MatrixSpace, Preconditioner};

    use equelle_runtime::linalg::SystemSpace;

    use super::*;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    #[test]
    fn factors_have_the_bits_of_the_host() {
        let regular = box_matrix([6, 5, 4], 1);
        // Local systems without a solution: a zero diagonal, an indefinite matrix, equal rows.
        let entries = [(0, 0, 0.0), (1, 1, -2.0), (1, 0, 1.0), (2, 2, 1.0), (2, 3, 1.0), (3, 2, 1.0), (3, 3, 1.0)];
        let singular = Csr::from_triplets(4, 4, &entries).expect("legal entries");
        let wide: Vec<_> =
            (0..60).flat_map(|i| (0..60).map(move |j| (i, j, if i == j { 70.0 } else { 1.0 / (1 + i + 2 * j) as f64 }))).collect();
        let wide = Csr::from_triplets(60, 60, &wide).expect("legal entries");
        for matrix in [&regular, &singular, &wide, &Csr::from_triplets(0, 0, &[]).expect("nothing")] {
            let n = matrix.n_rows();
            let r = numbers(2, n);
            for (symmetric, sign) in [(true, 1.0), (false, 1.0), (true, -1.0), (false, -1.0)] {
                let mut host = HostSpace::new(n);
                let Ok(there) = Fsai::new(&mut host, FsaiFactors::new(&matrix.scaled(sign), symmetric, FsaiPattern::default()));
                let mut expected = vec![0.0; n];
                there.apply(&mut host, &mut expected, &r);
                for mut rt in spaces() {
                    let a = rt.matrix(matrix.clone()).expect("memory");
                    let here = rt.approximate_inverse(&a, sign, symmetric).expect("memory");
                    let (r, mut z) = (rt.vector(r.clone()).expect("memory"), rt.zeros_of(n).expect("memory"));
                    here.apply(&mut rt, &mut z, &r);
                    assert_eq!(bits(&rt.host_vector(&z).expect("a device")), bits(&expected), "{n} rows, {symmetric} {sign}");
                }
            }
        }
    }
}
