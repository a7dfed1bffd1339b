//! Set-up of CPR on the device: the steps of [`equelle_runtime::linalg::precond::cpr`], with the
//! weights of the equations from the inverses of the diagonal blocks.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::Preconditioner;
use equelle_runtime::linalg::precond::Setting;
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::precond::cpr::{Cpr, Stages};

use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::space::Space;

const WHAT: &str = "the pressure equation";

impl Space<f64> {
    /// CPR for `sign` times a matrix; `None` if the host has to set it up: a diagonal block is
    /// singular, or the blocks are too large.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub(crate) fn two_stages(
        &mut self,
        a: &DeviceMatrix,
        sign: f64,
        setting: Setting<'_>,
    ) -> Result<Option<Box<dyn Preconditioner<Space<f64>>>>, Error> {
        let (k, pressure) = (setting.ends.len().max(1), setting.pressure);
        let n = a.rows.len() / k;
        let Some(inverse) = self.block_inverse(a, sign, k)? else { return Ok(None) };
        let Some(second) = self.factorize(a, sign, k)? else { return Ok(None) };
        let a = self.times(a, sign)?;
        let restriction = self.pressure_equation(&inverse, n, k, pressure)?;
        drop(inverse);
        let injection = self.pressure_among_all(n, k, pressure)?;
        let pressure_columns = self.sparse_product(&a, &injection)?;
        let matrix = self.sparse_product(&restriction, &pressure_columns)?;
        let symmetric = self.is_symmetric_and_positive(&matrix)?;
        let options = AmgOptions { symmetric, singular: setting.singular, ..setting.amg };
        let amg = self.multigrid_of(matrix, &[n], &options)?;
        let stages = Stages { restriction, injection, pressure_columns, amg, second };
        Ok(Some(Box::new(Cpr::assemble(self, stages)?)))
    }

    /// The weighted sum of each element's equations, `[n, k n]`: the row of the pressure in the
    /// inverse of the diagonal block, divided by its largest magnitude.
    fn pressure_equation(&mut self, inverse: &DeviceMatrix, n: usize, k: usize, pressure: usize) -> Result<DeviceMatrix, Error> {
        let row_ptr = self.executor.buffer(WHAT, 8 * (n + 1) as u64)?;
        let (columns, entries) = (self.executor.buffer(WHAT, 4 * (n * k) as u64)?, self.executor.buffer(WHAT, 8 * (n * k) as u64)?);
        let call = self.solver_call("equelle_pressure_equation")?.arg(n as u32).arg(k as u32).arg(pressure as u32);
        let call = call.arg(inverse.entries.address()).arg(row_ptr.address()).arg(columns.address()).arg(entries.address());
        self.executor.launch_over(call, n)?;
        Ok(DeviceMatrix::new(Rc::new(CsrPattern::on_device(row_ptr, columns, n, n * k, k * n)), entries))
    }

    /// Injection of the pressure into all unknowns: `[k n, n]`.
    fn pressure_among_all(&mut self, n: usize, k: usize, pressure: usize) -> Result<DeviceMatrix, Error> {
        let row_ptr = self.executor.buffer(WHAT, 8 * (k * n + 1) as u64)?;
        let (columns, entries) = (self.executor.buffer(WHAT, 4 * n as u64)?, self.executor.buffer(WHAT, 8 * n as u64)?);
        let call = self.solver_call("equelle_pressure_among_all")?.arg(n as u32).arg(k as u32).arg(pressure as u32);
        self.executor.launch_over(call.arg(row_ptr.address()).arg(columns.address()).arg(entries.address()), k * n)?;
        Ok(DeviceMatrix::new(Rc::new(CsrPattern::on_device(row_ptr, columns, k * n, n, n)), entries))
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::precond::amg::{AmgSmoother, Grouping};
    use equelle_runtime::linalg::precond::build;
    use equelle_runtime::linalg::space::host::HostSpace;
    use equelle_runtime::linalg::{
        Csr, LinearCache, LinearOptions, MatrixSpace, Method, Preconditioning, SystemSpace, VectorSpace, solve_in,
    };

    use super::*;
    use crate::runtime::test_support::{box_matrix, numbers, spaces};

    /// Three fields with the pressure as second, with equations in very different units and both
    /// signs; for the second matrix of a pattern no entry goes to the host. Equal to the host up to
    /// the round-off of a hierarchy of two levels.
    #[test]
    fn both_stages_are_those_of_the_host() {
        let (k, cells) = (3, 8 * 8 * 7);
        let n = k * cells;
        let mut matrix = box_matrix([8, 8, 7], k);
        let places: Vec<usize> = (0..n).flat_map(|row| std::iter::repeat_n(row, matrix.row(row).count())).collect();
        matrix.values_mut().iter_mut().zip(places).for_each(|(value, row)| *value *= [1.0, 1e6, 1e-4][row / cells]);
        let ends = [cells, 2 * cells, n];
        // Sweeps on the device would be in the order of colours.
        let amg = AmgOptions { grouping: Grouping::Scattered, smoother: Some(AmgSmoother::Jacobi), ..AmgOptions::default() };
        let setting = Setting { ends: &ends, symmetric: false, singular: false, pressure: 1, amg };
        let r = numbers(3, n);
        for sign in [1.0, -1.0] {
            let signed = matrix.scaled(sign);
            let mut host = HostSpace::new(n).in_double_precision();
            let Ok(there) = build(&mut host, &signed, Preconditioning::Cpr, setting);
            let mut expected = vec![0.0; n];
            there.apply(&mut host, &mut expected, &r);
            for rt in spaces() {
                let mut rt = rt.in_double_precision();
                rt.set_len(n);
                let a = rt.matrix(matrix.clone()).expect("memory");
                let first = rt.two_stages(&a, sign, setting).expect("memory");
                assert!(first.is_some(), "on the device");
                let before = rt.executor.counters().downloaded_bytes;
                let again = DeviceMatrix::new(Rc::clone(&a.rows), Rc::clone(&a.entries));
                let made = rt.two_stages(&again, sign, setting).expect("memory").expect("on the device");
                assert!(rt.executor.counters().downloaded_bytes - before < 8 * matrix.n_entries() as u64, "entries stay there");
                let (r, mut z) = (rt.vector(r.clone()).expect("memory"), rt.zeros().expect("memory"));
                made.apply(&mut rt, &mut z, &r);
                let found = rt.host_vector(&z).expect("what was computed");
                for field in 0..k {
                    let range = field * cells..(field + 1) * cells;
                    let largest = expected[range.clone()].iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                    let apart = range.fold(0.0, |most: f64, at| most.max((found[at] - expected[at]).abs()));
                    assert!(apart <= 1e-11 * largest, "field {field}: {apart} of {largest}");
                }
            }
        }
    }

    /// A singular diagonal block is left to the host.
    #[test]
    fn blocks_without_an_inverse_are_left_to_the_host() {
        let entries = [(0, 0, 1.0), (0, 2, 1.0), (2, 0, 1.0), (2, 2, 1.0), (1, 1, 1.0), (3, 3, 1.0)];
        let matrix = Csr::from_triplets(4, 4, &entries).expect("legal entries");
        let setting = Setting { ends: &[2, 4], symmetric: true, singular: false, pressure: 0, amg: AmgOptions::default() };
        for mut rt in spaces() {
            let a = rt.matrix(matrix.clone()).expect("memory");
            assert!(rt.two_stages(&a, 1.0, setting).expect("a device").is_none());
        }
    }

    /// Balances of volume and of water in a closed box, where the flow through a face is multiplied
    /// by the upwind mobility: cells are coupled a million times stronger along the last axis than
    /// along the others. The coarsest matrix of the pressure is then hardly more than round-off,
    /// which must not count as regular.
    #[test]
    fn closed_boxes_of_flat_cells() {
        let side = 12;
        let n = side * side * side;
        let saturation: Vec<f64> = numbers(2, n).into_iter().map(|x| 0.5 + 0.3 * x).collect();
        let mut entries: Vec<(usize, usize, f64)> = (0..n).map(|cell| (n + cell, n + cell, 1.0)).collect();
        for (a, &s) in saturation.iter().enumerate() {
            let place = [a % side, a / side % side, a / (side * side)];
            for (axis, stride) in [1, side, side * side].into_iter().enumerate().filter(|(axis, _)| place[*axis] + 1 < side) {
                let (b, t) = (a + stride, if axis == 2 { 1e6 } else { 1.0 });
                let (total, water) = (s * s + (1.0 - s) * (1.0 - s), s * s);
                for (equation, mobility, slope) in [(0, total, 2.0 * s - 1.0), (1, water, s)] {
                    for (cell, sign) in [(a, 1.0), (b, -1.0)] {
                        let row = equation * n + cell;
                        entries.extend([(row, a, sign * t * mobility), (row, b, -sign * t * mobility), (row, n + a, sign * slope)]);
                    }
                }
            }
        }
        let matrix = Csr::from_triplets(2 * n, 2 * n, &entries).expect("legal entries");
        let rhs = matrix.mul(&numbers(7, 2 * n));
        let options = LinearOptions { method: Some(Method::Gmres), preconditioner: Some(Preconditioning::Cpr), ..LinearOptions::default() };
        for mut rt in spaces() {
            let (a, b) = (rt.matrix(matrix.clone()).expect("memory"), rt.vector(rhs.clone()).expect("memory"));
            let solved = solve_in(&mut rt, &a, &[n, 2 * n], b, &options, &mut LinearCache::default()).expect("a device");
            let solution = solved.unwrap_or_else(|error| panic!("{error}"));
            // As many as on the host, plus those up to the next check of the residual.
            assert!(solution.iterations <= 30, "{}", solution.iterations);
        }
    }
}
