//! Set-up of multigrid on the device: the steps of [`equelle_runtime::linalg::precond::amg`], one
//! thread per row, aggregates by [`Grouping::Scattered`]. The matrices have the bits of the host's
//! as far as products of matrices are added in the same order.
//!
//! [`Grouping::Scattered`]: equelle_runtime::linalg::precond::amg::Grouping::Scattered

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::matrix::scaling::power_of_two_near;
use equelle_runtime::linalg::precond::amg::setup::{NOISE, NOISE_SEED, image_is_worth_it, is_worth_it};
use equelle_runtime::linalg::precond::amg::spectrum::spectral_radius;
use equelle_runtime::linalg::precond::amg::{AmgOptions, Coarsen, Coarsened, LevelParts};
use equelle_runtime::linalg::{SystemSpace, VectorSpace};

use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::SparseMatrix;
use crate::runtime::executor::arguments::{Argument, EqRows};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::csr::Jacobian;
use crate::runtime::linalg::sell::lanes;
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;
use crate::runtime::linalg::spgemm;

/// Rounds of aggregation between two checks whether a row is left.
const ROUNDS: usize = 6;

const WHAT: &str = "multigrid";

/// The field of each unknown, one byte each; `None` for one field.
pub struct DeviceFields(Option<Rc<Buffer>>);

impl DeviceFields {
    fn pointer(&self) -> DevicePtr {
        self.0.as_ref().map_or(DevicePtr(0), |field| field.address())
    }
}

/// The strength of couplings.
struct Strength<'a> {
    fields: &'a DeviceFields,
    largest: DeviceVector,
    dominant: Rc<Buffer>,
    theta: f64,
    symmetric: bool,
}

impl Argument for &Strength<'_> {
    fn words(&self, words: &mut Vec<u64>) {
        let square = self.theta * self.theta;
        words.extend([self.fields.pointer().0, self.largest.address().0, self.dominant.address().0]);
        words.extend([square.to_bits(), u64::from(self.symmetric)]);
    }
}

/// Aggregates of unknowns.
struct Groups {
    /// The aggregate of each unknown.
    numbers: Rc<Buffer>,
    count: usize,
    fields: DeviceFields,
}

impl<'a> Strength<'a> {
    /// Computes the strength of couplings.
    fn new(space: &mut Space<f64>, a: &DeviceMatrix, fields: &'a DeviceFields, theta: f64, symmetric: bool) -> Result<Self, Error> {
        let n = a.rows.len();
        let largest = space.new_vector_of(n)?;
        let dominant = space.executor.buffer(WHAT, n as u64)?;
        let call = space.multigrid_call("equelle_couplings")?.arg(n as u32).arg(a.args()).arg(u32::from(symmetric)).arg(fields.pointer());
        space.executor.launch_over(call.arg(largest.address()).arg(dominant.address()), n)?;
        Ok(Strength { fields, largest, dominant, theta, symmetric })
    }

    /// A matrix without its weak couplings.
    fn strong_part(&self, space: &mut Space<f64>, a: &DeviceMatrix) -> Result<DeviceMatrix, Error> {
        let n = a.rows.len();
        let row_ptr = space.executor.buffer(WHAT, 8 * (n + 1) as u64)?;
        let call = space.multigrid_call("equelle_strong_lengths")?.arg(n as u32).arg(a.args()).arg(self).arg(row_ptr.address());
        space.executor.launch_over(call, n)?;
        let made = space.new_matrix(row_ptr, n, n)?;
        let call = space.multigrid_call("equelle_strong_rows")?.arg(n as u32).arg(a.args()).arg(self);
        space.executor.launch_over(call.arg(made.args()).arg(made.rows.columns.address()), n)?;
        Ok(made)
    }

    /// Aggregates of strongly coupled unknowns.
    fn groups(&self, space: &mut Space<f64>, strong: &DeviceMatrix) -> Result<Groups, Error> {
        let n = strong.rows.len();
        let state = space.executor.buffer(WHAT, n as u64)?;
        let [root, joined, best, numbers] = [(); 4].map(|()| space.executor.buffer(WHAT, 4 * n as u64));
        let (root, joined, best, numbers) = (root?, joined?, best?, numbers?);
        let rows = strong.args();
        let call = space.multigrid_call("equelle_grouping_begin")?.arg(n as u32).arg(rows);
        space.executor.launch_over(call.arg(state.address()).arg(root.address()).arg(best.address()), n)?;
        loop {
            let left = space.zero_bytes(8)?;
            for round in 0..ROUNDS {
                let call = space.multigrid_call("equelle_grouping_claim")?.arg(n as u32).arg(rows).arg(state.address()).arg(best.address());
                space.executor.launch_over(call, n)?;
                let call = space.multigrid_call("equelle_grouping_take")?.arg(n as u32).arg(rows).arg(state.address()).arg(root.address());
                space.executor.launch_over(call.arg(best.address()), n)?;
                // Rows left before the last round may be none after it.
                let told = if round + 1 == ROUNDS { left.address() } else { DevicePtr(left.address().0 + 4) };
                let call =
                    space.multigrid_call("equelle_grouping_retire")?.arg(n as u32).arg(rows).arg(state.address()).arg(root.address());
                space.executor.launch_over(call.arg(best.address()).arg(told), n)?;
            }
            if space.executor.download_one::<u32>(left.address())? == 0 {
                break;
            }
        }
        let call = space.multigrid_call("equelle_grouping_join")?.arg(n as u32).arg(rows).arg(self.dominant.address());
        space.executor.launch_over(call.arg(root.address()).arg(joined.address()), n)?;
        let (marks, whole) = marked(space, n, false, &root, &joined)?;
        let (singles, alone) = marked(space, n, true, &root, &joined)?;
        let count = whole + alone;
        let field = self.fields.0.as_ref();
        let coarse = if field.is_some() { Some(space.executor.buffer(WHAT, count as u64)?) } else { None };
        let coarse_at = coarse.as_ref().map_or(DevicePtr(0), |coarse| coarse.address());
        let call =
            space.multigrid_call("equelle_grouping_number")?.arg(n as u32).arg(whole as u32).arg(root.address()).arg(joined.address());
        let call = call.arg(marks.address()).arg(singles.address()).arg(self.fields.pointer()).arg(numbers.address()).arg(coarse_at);
        space.executor.launch_over(call, n)?;
        Ok(Groups { numbers, count, fields: DeviceFields(coarse) })
    }
}

/// Running sums of the root marks of aggregates, and the number of aggregates.
fn marked(space: &mut Space<f64>, n: usize, single: bool, root: &Buffer, joined: &Buffer) -> Result<(Rc<Buffer>, usize), Error> {
    let marks = space.executor.buffer(WHAT, 8 * (n + 1) as u64)?;
    let call =
        space.multigrid_call("equelle_grouping_mark")?.arg(n as u32).arg(u32::from(single)).arg(root.address()).arg(joined.address());
    space.executor.launch_over(call.arg(marks.address()), n)?;
    space.executor.running_sums(DevicePtr(marks.address().0 + 8), n)?;
    let count: u64 = space.executor.download_one(DevicePtr(marks.address().0 + 8 * n as u64))?;
    Ok((marks, count as usize))
}

impl Groups {
    /// The prolongation from aggregates; `radius` is the spectral radius of the matrix if it equals
    /// that of the strong part.
    fn prolongation(
        &self,
        space: &mut Space<f64>,
        strong: &DeviceMatrix,
        radius: Option<f64>,
        options: &AmgOptions,
    ) -> Result<DeviceMatrix, Error> {
        let n = strong.rows.len();
        let smoothed = u32::from(options.smoothed);
        let inverse = space.diagonal_inverse(strong)?;
        let omega = match (options.smoothed, radius) {
            (false, _) => 0.0,
            (true, Some(radius)) => options.prolongation_damping / radius,
            (true, None) => options.prolongation_damping / spectral_radius(space, strong, &inverse, options.symmetric)?,
        };
        let row_ptr = space.executor.buffer(WHAT, 8 * (n + 1) as u64)?;
        let call = space.multigrid_call("equelle_prolongation_lengths")?.arg(n as u32).arg(smoothed).arg(strong.args());
        space.executor.launch_over(call.arg(self.numbers.address()).arg(row_ptr.address()), n)?;
        let made = space.new_matrix(row_ptr, n, self.count)?;
        let call = space.multigrid_call("equelle_prolongation_rows")?.arg(n as u32).arg(smoothed).arg(strong.args()).arg(omega);
        let call = call.arg(inverse.address()).arg(self.numbers.address()).arg(made.args()).arg(made.rows.columns.address());
        space.executor.launch_over(call, n)?;
        Ok(made)
    }
}

impl Space<f64> {
    /// Allocates rows whose lengths follow the first number of `row_ptr`.
    fn new_matrix(&mut self, row_ptr: Rc<Buffer>, n: usize, n_cols: usize) -> Result<DeviceMatrix, Error> {
        let Jacobian { rows, entries } = Jacobian::begin(&self.executor, row_ptr, n, n_cols)?;
        // A Jacobian has the precision of collections; a matrix has double precision.
        let entries = match self.executor.precision() {
            Precision::Double => entries,
            Precision::Single => self.executor.buffer(WHAT, 8 * rows.entries() as u64)?,
        };
        Ok(DeviceMatrix::new(rows, entries))
    }

    /// The transpose of a matrix.
    pub(crate) fn transposed(&mut self, a: &DeviceMatrix) -> Result<DeviceMatrix, Error> {
        let (n, columns) = (a.rows.len(), a.rows.n_cols());
        let row_ptr = self.zero_bytes(8 * (columns + 1))?;
        let call = self.multigrid_call("equelle_transposed_lengths")?.arg(n as u32).arg(a.args()).arg(row_ptr.address());
        self.executor.launch_over(call, n)?;
        let made = self.new_matrix(row_ptr, columns, n)?;
        let taken = self.zero_bytes(8 * columns)?;
        // Threads reach the rows in any order.
        let entries = made.rows.entries();
        let (their_columns, theirs) = (self.executor.buffer(WHAT, 4 * entries as u64)?, self.executor.buffer(WHAT, 8 * entries as u64)?);
        let any_order = EqRows { columns: their_columns.address().0, entries: theirs.address().0, ..made.args() };
        let call = self.multigrid_call("equelle_transposed_rows")?.arg(n as u32).arg(a.args()).arg(taken.address());
        self.executor.launch_over(call.arg(any_order).arg(their_columns.address()), n)?;
        self.put_in_order(any_order, &made)?;
        Ok(made)
    }

    /// Sorts the entries of rows in any order into rows.
    fn put_in_order(&mut self, any_order: EqRows, made: &DeviceMatrix) -> Result<(), Error> {
        let (n, lanes) = (made.rows.len(), lanes(&made.rows));
        let call = self.multigrid_call("equelle_ordered_rows")?.arg(n as u32).arg(lanes).arg(any_order);
        self.executor.launch_over(call.arg(made.args()).arg(made.rows.columns.address()), n * lanes as usize)
    }

    /// A buffer of zeros; `bytes` is a multiple of 8.
    pub(crate) fn zero_bytes(&mut self, bytes: usize) -> Result<Rc<Buffer>, Error> {
        Ok(self.new_zeros(bytes / 8)?.buffer)
    }

    /// The product of two matrices.
    pub(crate) fn sparse_product(&mut self, a: &DeviceMatrix, b: &DeviceMatrix) -> Result<DeviceMatrix, Error> {
        let (n, columns) = (a.rows.len(), b.rows.n_cols());
        if a.rows.entries() == 0 || b.rows.entries() == 0 {
            let row_ptr = self.zero_bytes(8 * (n + 1))?;
            let (none, entries) = (self.executor.buffer(WHAT, 0)?, self.executor.buffer(WHAT, 0)?);
            return Ok(DeviceMatrix::new(Rc::new(CsrPattern::on_device(row_ptr, none, n, 0, columns)), entries));
        }
        let offsets = a.rows.narrow_offsets(&self.executor)?;
        let left = SparseMatrix {
            rows: n,
            columns: a.rows.n_cols(),
            entries: a.rows.entries(),
            row_ptr: offsets.address(),
            col_idx: a.rows.columns.address(),
            values: a.entries.address(),
            precision: Precision::Double,
        };
        let (rows, entries) = spgemm::sparse_product(&self.executor, &left, &b.rows, &b.entries)?;
        Ok(DeviceMatrix::new(Rc::new(rows), entries))
    }
}

impl Coarsen for Space<f64> {
    type Fields = DeviceFields;

    fn fields(&mut self, ends: &[usize]) -> Result<DeviceFields, Error> {
        let ([_, _, ..], Some(&total)) = (ends, ends.last()) else { return Ok(DeviceFields(None)) };
        let field = self.executor.buffer(WHAT, total as u64)?;
        let mut begin = 0;
        for (number, &end) in ends.iter().enumerate() {
            let call = self.multigrid_call("equelle_field")?.arg(begin as u32).arg(end as u32).arg(number.min(255) as u32);
            self.executor.launch_over(call.arg(field.address()), end - begin)?;
            begin = end;
        }
        Ok(DeviceFields(Some(field)))
    }

    fn coarsen(&mut self, matrix: DeviceMatrix, fields: &DeviceFields, theta: f64, options: &AmgOptions) -> Result<Coarsened<Self>, Error> {
        let strength = Strength::new(self, &matrix, fields, theta, options.symmetric)?;
        let strong = strength.strong_part(self, &matrix)?;
        let groups = strength.groups(self, &strong)?;
        if !is_worth_it(groups.count, matrix.rows.len()) {
            return Ok(Coarsened::Ended(matrix));
        }
        drop(strength);
        let inverse_diagonal = self.diagonal_inverse(&matrix)?;
        let radius = spectral_radius(self, &matrix, &inverse_diagonal, options.symmetric)?;
        // Without weak couplings the filtered matrix is the matrix.
        let known = (strong.rows.entries() == matrix.rows.entries()).then_some(radius);
        let prolongation = groups.prolongation(self, &strong, known, options)?;
        drop(strong);
        let restriction = self.transposed(&prolongation)?;
        let image = self.sparse_product(&matrix, &prolongation)?;
        let coarse = self.sparse_product(&restriction, &image)?;
        let image = image_is_worth_it(matrix.rows.entries(), image.rows.entries()).then_some(image);
        let level = LevelParts { matrix, prolongation, image, restriction, inverse_diagonal, radius };
        Ok(Coarsened::Level(level, coarse, groups.fields))
    }

    fn diagonal_inverse(&mut self, a: &DeviceMatrix) -> Result<DeviceVector, Error> {
        self.inverse_diagonal(a, 1.0, 0.0)
    }

    fn row_bound(&mut self, a: &DeviceMatrix, d: &DeviceVector) -> Result<(f64, bool), Error> {
        let n = a.rows.len();
        let (sums, negative) = (self.new_vector_of(n)?, self.zero_bytes(8)?);
        let call = self.multigrid_call("equelle_row_sums")?.arg(n as u32).arg(a.args()).arg(d.address()).arg(sums.address());
        self.executor.launch_over(call.arg(negative.address()), n)?;
        let largest = self.largest(&sums);
        let [largest] = self.read([&largest])?;
        Ok((largest, self.executor.download_one::<u32>(negative.address())? != 0))
    }

    fn roots(&mut self, x: &DeviceVector) -> Result<DeviceVector, Error> {
        let out = self.new_vector_of(x.len)?;
        let call = self.multigrid_call("equelle_roots")?.arg(x.len as u32).arg(x.address()).arg(out.address());
        self.executor.launch_over(call, x.len)?;
        Ok(out)
    }

    fn reciprocal_roots(&mut self, x: &DeviceVector) -> Result<DeviceVector, Error> {
        let largest = self.largest_of(x, false);
        let [largest] = self.read([&largest])?;
        let factor = 1.0 / power_of_two_near(&[largest]).unwrap_or(1.0);
        let out = self.new_vector_of(x.len)?;
        let call = self.multigrid_call("equelle_reciprocal_roots")?.arg(x.len as u32).arg(factor).arg(x.address()).arg(out.address());
        self.executor.launch_over(call, x.len)?;
        Ok(out)
    }

    fn noise(&mut self, n: usize) -> Result<DeviceVector, Error> {
        let out = self.new_vector_of(n)?;
        let call = self.multigrid_call("equelle_noise")?.arg(n as u32).arg(NOISE.0).arg(NOISE.1).arg(NOISE_SEED).arg(out.address());
        self.executor.launch_over(call, n)?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::Csr;
    use equelle_runtime::linalg::precond::amg::setup::CoarseParts;
    use equelle_runtime::linalg::precond::amg::{Grouping, Hierarchy};
    use equelle_runtime::linalg::space::host::HostSpace;

    use equelle_runtime::linalg::{MatrixSpace, SystemSpace};

    use super::*;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    /// A matrix of a box with coefficients by axis, upwind along x, and `lonely` cells with
    /// dominant diagonals.
    fn transport([nx, ny, nz]: [usize; 3], coefficients: [f64; 3], wind: f64, lonely: usize) -> Csr {
        let n = nx * ny * nz;
        let mut entries = Vec::new();
        let mut random = numbers(5, 6 * n).into_iter();
        for cell in 0..n {
            let place = [cell % nx, cell / nx % ny, cell / (nx * ny)];
            let mut diagonal = if lonely > 0 && cell % lonely == 0 { 100.0 } else { 1e-3 };
            for (axis, (size, stride)) in [(nx, 1), (ny, nx), (nz, nx * ny)].into_iter().enumerate() {
                for (other, is_there) in [(cell.wrapping_sub(stride), place[axis] > 0), (cell + stride, place[axis] + 1 < size)] {
                    if !is_there {
                        continue;
                    }
                    let upwind = if axis == 0 && other < cell { wind * (1.5 + random.next().unwrap_or(0.0)) } else { 0.0 };
                    entries.push((cell, other, -coefficients[axis] - upwind));
                    diagonal += coefficients[axis] + upwind;
                }
            }
            entries.push((cell, cell, diagonal));
        }
        Csr::from_triplets(n, n, &entries).expect("legal entries")
    }

    /// True if products of matrices are added in the order of the host: a library's own order
    /// changes last bits, which decide between couplings of equal strength on the levels below.
    fn adds_as_the_host_does(rt: &Space<f64>) -> bool {
        rt.executor.device().properties().arch == "host"
    }

    /// Both are equal to the bit; with `near` up to a few roundings of a few dozen terms.
    fn same(rt: &mut Space<f64>, here: &DeviceMatrix, there: &Csr, near: bool, what: &str) {
        let here = rt.host_matrix(here).expect("a device");
        assert_eq!((here.row_ptr(), here.col_idx()), (there.row_ptr(), there.col_idx()), "{what}");
        if !near {
            return assert_eq!(bits(here.values()), bits(there.values()), "{what}");
        }
        let largest = there.values().iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let apart = here.values().iter().zip(there.values()).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        assert!(apart <= 1e-13 * largest, "{what}: {apart}");
    }

    fn compare(matrix: &Csr, ends: &[usize], options: &AmgOptions) {
        let options = AmgOptions { grouping: Grouping::Scattered, ..*options };
        let Ok(there) = Hierarchy::new(&mut HostSpace::new(matrix.n_rows()).in_double_precision(), matrix.clone().into(), ends, &options);
        for mut rt in spaces() {
            let a = rt.matrix(matrix.clone()).expect("memory");
            let here = Hierarchy::new(&mut rt, a, ends, &options).expect("memory");
            let exact = adds_as_the_host_does(&rt);
            assert_eq!(here.sizes[..here.sizes.len().min(2)], there.sizes[..there.sizes.len().min(2)]);
            if exact {
                assert_eq!(here.sizes, there.sizes);
                assert_eq!(here.complexity.to_bits(), there.complexity.to_bits());
            }
            for (number, (here, there)) in here.levels.iter().zip(&there.levels).enumerate() {
                let what = |part: &str| format!("{part} of level {number} of {} unknowns", matrix.n_rows());
                same(&mut rt, &here.matrix, there.matrix.rows(), number > 0 && !exact, &what("matrix"));
                if number > 0 && !exact {
                    break;
                }
                same(&mut rt, &here.prolongation, there.prolongation.rows(), false, &what("prolongation"));
                same(&mut rt, &here.restriction, there.restriction.rows(), false, &what("restriction"));
                let inverse = rt.host_vector(&here.inverse_diagonal).expect("a device");
                assert_eq!(bits(&inverse), bits(&there.inverse_diagonal));
                assert_eq!(here.radius.to_bits(), there.radius.to_bits());
            }
            let what = "the coarsest one";
            match (&here.coarse, &there.coarse) {
                (CoarseParts::Direct(here), CoarseParts::Direct(there)) if exact => same(&mut rt, here, there.rows(), false, what),
                (CoarseParts::Smoothed(here), CoarseParts::Smoothed(there)) => {
                    same(&mut rt, &here.matrix, there.matrix.rows(), !exact, what)
                }
                (CoarseParts::Direct(_), CoarseParts::Direct(_)) => {}
                (CoarseParts::Direct(_), CoarseParts::Smoothed(_)) | (CoarseParts::Smoothed(_), CoarseParts::Direct(_)) => {
                    panic!("one is direct")
                }
            }
        }
    }

    #[test]
    fn levels_have_the_bits_of_the_host() {
        let options = AmgOptions::default();
        let n = 15 * 14 * 13;
        compare(&transport([15, 14, 13], [1.0; 3], 0.0, 0), &[n], &options);
        // Weak couplings along two axes, dominant rows, and neither.
        compare(&transport([15, 14, 13], [1.0, 1e-3, 1e-3], 0.0, 7), &[n], &options);
        compare(&transport([5, 5, 5], [1.0; 3], 0.0, 1), &[125], &options);
        compare(&transport([15, 14, 13], [1.0; 3], 0.0, 0), &[n], &AmgOptions { smoothed: false, ..options });
        // Not symmetric; two fields.
        compare(&transport([15, 14, 13], [1.0; 3], 3.0, 11), &[n], &AmgOptions { symmetric: false, ..options });
        let n = 8 * 8 * 7;
        compare(&box_matrix([8, 8, 7], 2), &[n, 2 * n], &AmgOptions { symmetric: false, ..options });
        // An unsymmetric pattern: upwind only.
        let n = 900;
        let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 2.0), (i, i.max(1) - 1, -1.0), (i, i.max(30) - 30, -0.9)]).collect();
        let entries: Vec<_> = entries.into_iter().filter(|&(i, j, value)| i != j || value == 2.0).collect();
        compare(&Csr::from_triplets(n, n, &entries).expect("legal entries"), &[n], &AmgOptions { symmetric: false, ..options });
        // Nothing to coarsen, and too large for a direct solve.
        compare(
            &Csr::from_triplets(600, 600, &(0..600).map(|i| (i, i, 1.0 + i as f64)).collect::<Vec<_>>()).expect("legal entries"),
            &[600],
            &options,
        );
    }

    /// On a GPU threads reach the rows of a transposed matrix in any order; the emulator keeps
    /// their order, so rows of several lengths are reversed here.
    #[test]
    fn entries_in_any_order() {
        let entries: Vec<_> =
            (0..40usize).flat_map(|row| (0..=row).step_by(1 + row % 3).map(move |k| (row, 3 * k, (row * 100 + k) as f64))).collect();
        let expected = Csr::from_triplets(40, 120, &entries).expect("legal entries");
        let turned =
            |values: &mut dyn FnMut(usize)| expected.row_ptr().windows(2).for_each(|ends| (ends[0]..ends[1]).rev().for_each(&mut *values));
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        turned(&mut |at| {
            columns.extend(expected.col_idx()[at].to_le_bytes());
            values.extend(expected.values()[at].to_le_bytes());
        });
        for mut rt in spaces() {
            let row_ptr: Vec<u8> = expected.row_ptr().iter().flat_map(|&start| (start as u64).to_le_bytes()).collect();
            let row_ptr = rt.executor.upload(WHAT, &row_ptr).expect("memory");
            let (columns, values) =
                (rt.executor.upload(WHAT, &columns).expect("memory"), rt.executor.upload(WHAT, &values).expect("memory"));
            let parts =
                (rt.zero_bytes(4 * entries.len().next_multiple_of(2)).expect("memory"), rt.zero_bytes(8 * entries.len()).expect("memory"));
            let made = DeviceMatrix::new(Rc::new(CsrPattern::on_device(row_ptr, parts.0, 40, entries.len(), 120)), parts.1);
            let any_order = EqRows { columns: columns.address().0, entries: values.address().0, ..made.args() };
            rt.put_in_order(any_order, &made).expect("a device");
            same(&mut rt, &made, &expected, false, "rows in order");
        }
    }

    /// Scattered aggregates coarsen by more than 4 from level to level, as ordered ones do.
    #[test]
    fn scattered_groups_are_not_small() {
        let matrix = transport([20, 20, 20], [1.0; 3], 0.0, 0);
        for grouping in [Grouping::InOrder, Grouping::Scattered] {
            let options = AmgOptions { grouping, ..AmgOptions::default() };
            let Ok(hierarchy) = Hierarchy::new(&mut HostSpace::new(8000), matrix.clone().into(), &[8000], &options);
            assert!(hierarchy.sizes.windows(2).all(|pair| 4 * pair[1] < pair[0]), "{:?}", hierarchy.sizes);
            assert!(hierarchy.complexity < 2.0, "{grouping:?}: {}", hierarchy.complexity);
        }
    }
}
