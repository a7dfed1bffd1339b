//! Matrices on the device for the linear-solver driver: properties, null spaces, preconditioners.
//! Entries stay on the device unless the matrix is singular.

use std::borrow::Cow;
use std::rc::Rc;

use equelle_runtime::linalg::driver::choose::{Diagonal, MatrixProperties, SYMMETRY, fields};
use equelle_runtime::linalg::null_space::NullSpace;
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::precond::simple::Jacobi;
use equelle_runtime::linalg::precond::{Setting, build};
use equelle_runtime::linalg::space::system_space::{Inspection, UNITS_AGREE};
use equelle_runtime::linalg::space::vector_space::Identity;
use equelle_runtime::linalg::{Csr, Direct, MatrixSpace, Preconditioner, Preconditioning, Symmetry, SystemSpace, VectorSpace};
use equelle_runtime::{Error, Reduction, reduce};

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::linalg::connected_components::ConnectedComponents;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::null_space::Projection;
use crate::runtime::linalg::scalars::DeviceNumber;
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;

/// Iterations between two checks of the residual, which wait for the device, with a preconditioner
/// of one or two kernels.
const CHECK_EVERY: usize = 10;
/// Number of patterns whose connected components are cached.
const KNOWN_PARTS: usize = 8;
/// Threads per block of the kernel that computes largest magnitudes.
const LARGEST_BLOCK: u32 = 128;

/// Results of the kernel that inspects a matrix; see there.
struct MatrixInspection {
    words: [u64; 8],
}

impl MatrixInspection {
    /// The initial results.
    fn nothing() -> [u64; 8] {
        let infinite = f64::INFINITY.to_bits();
        [u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX, infinite, u64::MAX, infinite]
    }

    /// Row and column.
    fn place(&self, word: usize) -> Option<(usize, usize)> {
        let place = self.words[word];
        (place != u64::MAX).then_some(((place >> 32) as usize, (place & u64::from(u32::MAX)) as usize))
    }

    fn properties(&self, unknowns: usize, ends: &[usize]) -> MatrixProperties {
        let symmetry = match (self.place(1), self.place(2)) {
            (Some((row, column)), _) => Symmetry::Structural { row, column },
            (None, Some((row, column))) => Symmetry::Numerical { row, column },
            (None, None) => Symmetry::Symmetric,
        };
        let diagonal = match (self.words[3] == u64::MAX, self.words[4] == u64::MAX) {
            (true, _) => Diagonal::Positive,
            (false, true) => Diagonal::Negative,
            (false, false) => Diagonal::Mixed,
        };
        MatrixProperties {
            unknowns,
            fields: fields(ends),
            symmetry,
            diagonal,
            dominance: f64::from_bits(self.words[5]),
            // The kernel computes minima, so a maximum is stored as complement.
            size: f64::from_bits(!self.words[6]),
            least_row: f64::from_bits(self.words[7]),
            is_range_unknown: false,
        }
    }
}

impl Space<f64> {
    /// The null space of a matrix. The host inspects entries only where the matrix may be singular.
    fn null_space(&mut self, a: &DeviceMatrix, ends: &[usize], rounding: f64) -> Result<Rc<NullSpace>, Error> {
        let known = self.setups.find::<ConnectedComponents>(|components| components.is_of(a, ends));
        let components = match known {
            Some(known) => known,
            None => {
                let made = ConnectedComponents::of(&self.executor, a, ends)?;
                self.setups.insert(made, KNOWN_PARTS)
            }
        };
        components.null_space(self, a, rounding)
    }
}

impl SystemSpace for Space<f64> {
    type NullVectors = Rc<Projection>;

    fn set_len(&mut self, n: usize) {
        self.len = n;
    }

    fn check_every(&self, asked: usize, preconditioner: Preconditioning) -> usize {
        match preconditioner {
            // An iteration takes long compared with a wait.
            Preconditioning::Amg | Preconditioning::Cpr => asked.max(2),
            Preconditioning::None
            | Preconditioning::Jacobi
            | Preconditioning::BlockJacobi
            | Preconditioning::Ilu0
            | Preconditioning::BlockIlu0
            | Preconditioning::Fsai => asked.max(CHECK_EVERY),
        }
    }

    fn take_traffic(&mut self) -> u64 {
        self.traffic.take()
    }

    fn largest(&mut self, x: &DeviceVector) -> DeviceNumber {
        self.traffic.each(x.len, 8);
        self.largest_of(x, false)
    }

    fn host_vector(&mut self, x: &DeviceVector) -> Result<Vec<f64>, Error> {
        self.executor.download(x.address(), x.len)
    }

    fn host_matrix<'m>(&mut self, a: &'m DeviceMatrix) -> Result<Cow<'m, Csr>, Error> {
        Ok(Cow::Borrowed(a.host(&self.executor)?))
    }

    fn inspect(&mut self, a: &DeviceMatrix, ends: &[usize], rounding: f64) -> Result<Inspection, Error> {
        let n = a.rows.len();
        let found = self.inspect_matrix(a)?;
        let not_finite = match found.place(0) {
            Some((row, column)) => Some((row, column, self.host_matrix(a)?.entry(row, column))),
            None => None,
        };
        let null_space = if not_finite.is_none() { self.null_space(a, ends, rounding)? } else { Rc::default() };
        Ok(Inspection { not_finite, null_space, properties: found.properties(n, ends) })
    }

    fn row_scales(&mut self, a: &DeviceMatrix) -> Result<DeviceVector, Error> {
        let n = a.rows.len();
        let scales = self.new_vector_of(n)?;
        let call = self.solver_call("equelle_row_scales")?.arg(n as u32).arg(a.args()).arg(scales.address());
        self.executor.launch_over(call, n)?;
        Ok(scales)
    }

    fn rows_agree(&mut self, a: &DeviceMatrix, ends: &[usize]) -> Result<bool, Error> {
        let differ = self.executor.upload("rows in different units", &[0u32])?;
        let mut begin = 0;
        for &end in ends {
            let call = self.solver_call("equelle_rows_agree")?.arg(a.rows.len() as u32).arg(a.args());
            let call = call.arg(begin as u32).arg(end as u32).arg(UNITS_AGREE).arg(differ.address());
            self.executor.launch_over(call, end - begin)?;
            begin = end;
        }
        Ok(self.executor.download_one::<u32>(differ.address())? == 0)
    }

    fn scaled_rows(&mut self, a: &DeviceMatrix, scales: &DeviceVector) -> Result<DeviceMatrix, Error> {
        let (n, entries) = (a.rows.len(), self.new_vector_of(a.rows.entries())?);
        let call = self.solver_call("equelle_scale_rows")?.arg(n as u32).arg(a.args()).arg(scales.address());
        self.executor.launch_over(call.arg(entries.address()), n)?;
        Ok(DeviceMatrix::new(Rc::clone(&a.rows), entries.buffer))
    }

    fn null_vectors(&mut self, null_space: &Rc<NullSpace>) -> Result<Rc<Projection>, Error> {
        let known = self.setups.values::<ConnectedComponents>().find_map(|components| components.projection(null_space));
        match known {
            Some(known) => Ok(known),
            None => Ok(Rc::new(Projection::of(self, self.len, null_space)?)),
        }
    }

    fn to_range(&mut self, vectors: &Rc<Projection>, y: &mut DeviceVector) {
        self.traffic.dot(y.len, false);
        self.traffic.update(y.len);
        vectors.to_range(self, y);
    }

    fn remove_mean(&mut self, vectors: &Rc<Projection>, x: &mut DeviceVector) {
        self.traffic.dot(x.len, true);
        self.traffic.scale(x.len);
        vectors.remove_mean(self, x);
    }

    fn direct_solver(&mut self) -> Direct<Space<f64>> {
        self.new_direct_solver()
    }

    fn set_up(
        &mut self,
        a: &DeviceMatrix,
        factor: f64,
        kind: Preconditioning,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<Space<f64>>>, Error> {
        let k = setting.ends.len().max(1);
        let made: Option<Box<dyn Preconditioner<Space<f64>>>> = match kind {
            Preconditioning::None => Some(Box::new(Identity)),
            Preconditioning::Jacobi => Some(Box::new(Jacobi::from_inverse(self.inverse_diagonal(a, factor, 1.0)?))),
            Preconditioning::BlockJacobi => self.block_jacobi(a, factor, k)?.map(|made| Box::new(made) as _),
            Preconditioning::Ilu0 => self.factorize(a, factor, 1)?,
            Preconditioning::BlockIlu0 => self.factorize(a, factor, k)?,
            Preconditioning::Fsai => Some(Box::new(self.approximate_inverse(a, factor, setting.symmetric)?)),
            Preconditioning::Amg => {
                let options = AmgOptions { symmetric: setting.symmetric, singular: setting.singular, ..setting.amg };
                let matrix = self.times(a, factor)?;
                Some(self.multigrid_of(matrix, setting.ends, &options)?)
            }
            Preconditioning::Cpr => self.two_stages(a, factor, setting)?,
        };
        match made {
            Some(made) => Ok(made),
            None => {
                let matrix = self.host_matrix(a)?;
                let matrix = if factor != 1.0 { Cow::Owned(matrix.scaled(factor)) } else { matrix };
                build(self, &matrix, kind, setting)
            }
        }
    }
}

impl Space<f64> {
    /// Largest magnitude of the elements, or of the inverses of nonzero ones.
    pub(crate) fn largest_of(&mut self, x: &DeviceVector, inverses: bool) -> DeviceNumber {
        self.largest_at(x.address(), x.len, inverses)
    }

    /// [`Self::largest_of`] for `n` numbers at an address.
    pub(crate) fn largest_at(&mut self, x: DevicePtr, n: usize, inverses: bool) -> DeviceNumber {
        let leaves = reduce::leaf_count(n);
        if leaves == 0 {
            let zero = self.executor.constant_buffer(0.0);
            return self.executor.attempt(zero);
        }
        let result = self.executor.new_number().and_then(|out| {
            let partial = self.executor.buffer("partial results", 8 * leaves as u64)?;
            let call = self.solver_call("equelle_largest")?.arg(n as u32).arg(u32::from(inverses)).arg(x);
            let call = call.arg(partial.address());
            self.executor.push(call.shaped(LaunchShape { grid: [leaves as u32, 1, 1], block: [LARGEST_BLOCK, 1, 1] }));
            self.executor.combine_into(Reduction::Max, leaves, partial.address(), out.address())?;
            Ok(out)
        });
        self.executor.attempt(result)
    }

    /// Computes the properties of a matrix.
    fn inspect_matrix(&mut self, a: &DeviceMatrix) -> Result<MatrixInspection, Error> {
        let n = a.rows.len();
        let found = self.executor.upload("what a matrix is like", &MatrixInspection::nothing())?;
        let call = self.solver_call("equelle_inspect")?.arg(n as u32).arg(a.args()).arg(SYMMETRY).arg(found.address());
        self.executor.launch_over(call, n)?;
        let words = self.executor.download(found.address(), 8)?;
        Ok(MatrixInspection { words: std::array::from_fn(|word| words[word]) })
    }

    /// True if a square matrix is symmetric and its diagonal positive.
    pub(crate) fn is_symmetric_and_positive(&mut self, a: &DeviceMatrix) -> Result<bool, Error> {
        let n = a.rows.len();
        let properties = self.inspect_matrix(a)?.properties(n, &[n]);
        Ok(properties.symmetry == Symmetry::Symmetric && properties.diagonal == Diagonal::Positive)
    }

    /// A multiple of a matrix, with the same pattern; shares the entries if they do not change,
    /// since they are never written again.
    pub(crate) fn times(&mut self, a: &DeviceMatrix, factor: f64) -> Result<DeviceMatrix, Error> {
        if factor == 1.0 {
            return Ok(a.share());
        }
        let len = a.rows.entries();
        let entries = DeviceVector::new(Rc::clone(&a.entries), len);
        let mut scaled = self.zeros_of(len)?;
        let factor = self.constant(factor);
        self.add_scaled(&mut scaled, &factor, &entries);
        Ok(DeviceMatrix::new(Rc::clone(&a.rows), scaled.buffer))
    }

    /// Inverse of the diagonal of `factor` times a square matrix; `instead` where the diagonal is
    /// zero.
    pub(crate) fn inverse_diagonal(&mut self, a: &DeviceMatrix, factor: f64, instead: f64) -> Result<DeviceVector, Error> {
        let n = a.rows.len();
        let inverse = self.new_vector_of(n)?;
        let call = self.solver_call("equelle_inverse_diagonal")?.arg(n as u32).arg(a.args()).arg(factor).arg(instead);
        self.executor.launch_over(call.arg(inverse.address()), n)?;
        Ok(inverse)
    }
}
