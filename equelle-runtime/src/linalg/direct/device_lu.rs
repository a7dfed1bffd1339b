//! LU by the direct solver of a back-end, with its cache between solves.
//!
//! Symmetric matrices are scaled symmetrically, with the sign that makes the diagonal positive, and
//! factorised as positive definite (Cholesky); if that fails, as general matrices.

use super::elimination::{
    Elimination, FactorError, Factored, Pin, check_condition, equilibrate, one_norm, pin, scaled_values, symmetric_scales,
};
use super::solver::{Definiteness, Direct, DirectError, DirectMatrix, DirectSolver};
use crate::linalg::matrix::csr::Csr;

/// Device or host that factorises the systems of a cache.
pub(in crate::linalg) enum FactorLocation<S> {
    /// Not determined yet.
    Unknown,
    /// On the host, with the reason if there is a device.
    Host(Option<String>),
    /// By the direct solver of the back-end.
    Device(CachedFactors<S>),
}

impl<S> FactorLocation<S> {
    pub(in crate::linalg) fn of(direct: Direct<S>) -> FactorLocation<S> {
        match direct {
            Direct::Host => FactorLocation::Host(None),
            Direct::Unavailable(reason) => FactorLocation::Host(Some(reason)),
            Direct::Solver(solver) => FactorLocation::Device(CachedFactors { solver, pattern: None, factored: None, stale: false }),
        }
    }
}

/// A direct solver with its cache between solves.
pub(in crate::linalg) struct CachedFactors<S> {
    solver: Box<dyn DirectSolver<S>>,
    pattern: Option<Analysed>,
    /// The matrix of its factors, if there are any.
    factored: Option<Factored>,
    /// True if the elimination order was computed for other values than those factorised last.
    stale: bool,
}

/// The pattern that was analysed last.
struct Analysed {
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    definiteness: Definiteness,
    /// True if a factorisation as positive definite has failed.
    is_indefinite: bool,
}

impl<S> CachedFactors<S> {
    /// Name and version of the solver.
    pub(in crate::linalg) fn name(&self) -> String {
        self.solver.name()
    }

    /// True if the elimination order was computed for other values.
    pub(in crate::linalg) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Drops the elimination order and the factors.
    pub(in crate::linalg) fn forget(&mut self) {
        self.pattern = None;
        self.factored = None;
        self.stale = false;
    }

    /// The analysed pattern, if it is that of the matrix.
    fn known(&self, matrix: &Csr) -> Option<&Analysed> {
        self.pattern.as_ref().filter(|cached| cached.row_ptr == matrix.row_ptr() && cached.col_idx == matrix.col_idx())
    }
}

/// LU by the direct solver of the device, as an [`Elimination`].
pub(in crate::linalg) struct DeviceLu<'a, S> {
    pub cached: &'a mut CachedFactors<S>,
    pub space: &'a mut S,
    /// True if the matrix is symmetric and its diagonal of one sign.
    pub may_be_definite: bool,
}

/// Converts an error of the direct solver.
fn lu_fault(fault: DirectError) -> FactorError {
    match fault {
        DirectError::NotDefinite => FactorError::Unanswered("the matrix is not positive definite".to_owned()),
        DirectError::OutOfMemory(detail) | DirectError::Failed(detail) => FactorError::Unanswered(detail),
    }
}

impl<S> DeviceLu<'_, S> {
    /// Factorises scaled values, with an analysis if the pattern or its definiteness is new.
    fn eliminate(&mut self, matrix: &Csr, scaled: &[f64], definiteness: Definiteness) -> Result<(), DirectError> {
        let cached = &mut *self.cached;
        let known = cached.known(matrix);
        let is_indefinite = known.is_some_and(|known| known.is_indefinite);
        cached.stale = known.is_some_and(|known| known.definiteness == definiteness);
        if !cached.stale {
            cached.pattern = None;
            let (row_ptr, col_idx) = (matrix.row_ptr(), matrix.col_idx());
            cached.solver.analyse(self.space, DirectMatrix { row_ptr, col_idx, values: scaled, definiteness })?;
            let (row_ptr, col_idx) = (row_ptr.to_vec(), col_idx.to_vec());
            cached.pattern = Some(Analysed { row_ptr, col_idx, definiteness, is_indefinite });
        }
        let done = cached.solver.factorize(self.space, scaled);
        if let Err(DirectError::OutOfMemory(_) | DirectError::Failed(_)) = &done {
            cached.pattern = None;
        }
        done
    }
}

impl<S> Elimination for DeviceLu<'_, S> {
    fn factorize(&mut self, matrix: &Csr, pinned: &[Pin]) -> Result<(), FactorError> {
        let values = pin(matrix, pinned);
        let known = self.cached.known(matrix);
        if known.is_some() && self.cached.factored.as_ref().is_some_and(|cached| cached.values == values) {
            return Ok(());
        }
        let is_indefinite = known.is_some_and(|known| known.is_indefinite);
        self.cached.factored = None;
        // Detects zero rows and columns.
        let general = equilibrate(matrix, &values)?;
        let is_symmetric = self.may_be_definite && !is_indefinite && pinned.iter().all(|pin| pin.row == pin.column);
        let symmetric = if is_symmetric { symmetric_scales(matrix, &values) } else { None };
        let mut tried = None;
        if let Some((row_scale, column_scale)) = symmetric {
            let scaled = scaled_values(matrix, &values, &row_scale, &column_scale);
            match self.eliminate(matrix, &scaled, Definiteness::Symmetric) {
                Ok(()) => tried = Some((scaled, row_scale, column_scale)),
                Err(DirectError::NotDefinite) => {
                    if let Some(pattern) = &mut self.cached.pattern {
                        pattern.is_indefinite = true;
                    }
                }
                // A failure as symmetric may still succeed as general.
                Err(DirectError::Failed(_)) => {}
                Err(fault @ DirectError::OutOfMemory(_)) => return Err(lu_fault(fault)),
            }
        }
        let (scaled, row_scale, column_scale) = match tried {
            Some(tried) => tried,
            None => {
                let (row_scale, column_scale) = general;
                let scaled = scaled_values(matrix, &values, &row_scale, &column_scale);
                self.eliminate(matrix, &scaled, Definiteness::General).map_err(lu_fault)?;
                (scaled, row_scale, column_scale)
            }
        };
        check_condition(matrix.n_rows(), one_norm(matrix, &scaled), |x, transposed| {
            self.cached.solver.solve(self.space, x, transposed).map_err(lu_fault)
        })?;
        self.cached.factored = Some(Factored { values, row_scale, column_scale });
        Ok(())
    }

    fn solve(&mut self, x: &mut [f64], transposed: bool) -> Result<(), FactorError> {
        let CachedFactors { solver, factored, .. } = &mut *self.cached;
        let Some(factored) = factored else { return Err(FactorError::Unanswered("there are no factors".to_owned())) };
        factored.solve(x, transposed, |x| solver.solve(self.space, x, transposed).map_err(lu_fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::direct::lu::LuCache;
    use crate::linalg::space::host::HostSpace;
    use crate::linalg::{LinearCache, LinearErrorKind, LinearOptions, Method, Solution, solve};

    /// A direct solver with scripted answers, which uses the LU of the host.
    struct Scripted {
        lu: LuCache,
        matrix: Option<Csr>,
        answer: Result<(), DirectError>,
        /// The part of the solution that it returns.
        part: f64,
    }

    impl DirectSolver<HostSpace> for Scripted {
        fn name(&self) -> String {
            "another".to_owned()
        }

        fn analyse(&mut self, _: &mut HostSpace, matrix: DirectMatrix<'_>) -> Result<(), DirectError> {
            let (row_ptr, col_idx, values) = (matrix.row_ptr.to_vec(), matrix.col_idx.to_vec(), matrix.values.to_vec());
            self.matrix = Csr::new(matrix.n(), matrix.n(), row_ptr, col_idx, values).ok();
            Ok(())
        }

        fn factorize(&mut self, _: &mut HostSpace, values: &[f64]) -> Result<(), DirectError> {
            self.answer.clone()?;
            let matrix = self.matrix.as_mut().ok_or_else(|| DirectError::Failed("no pattern".to_owned()))?;
            matrix.values_mut().copy_from_slice(values);
            self.lu.factorize(matrix, &[], &|| false).map_err(|fault| DirectError::Failed(format!("{fault:?}")))
        }

        fn solve(&mut self, _: &mut HostSpace, x: &mut [f64], transposed: bool) -> Result<(), DirectError> {
            let solved = self.lu.solve(x, transposed).map_err(|fault| DirectError::Failed(format!("{fault:?}")));
            x.iter_mut().for_each(|x| *x *= self.part);
            solved
        }
    }

    /// A solve by this solver, and the note on where it ran.
    fn solved(answer: Result<(), DirectError>, matrix: &Csr, rhs: &[f64]) -> (Result<Solution, LinearErrorKind>, Option<String>) {
        solved_in_part(answer, 1.0, matrix, rhs)
    }

    fn solved_in_part(
        answer: Result<(), DirectError>,
        part: f64,
        matrix: &Csr,
        rhs: &[f64],
    ) -> (Result<Solution, LinearErrorKind>, Option<String>) {
        let mut cache = LinearCache::default();
        cache.place = FactorLocation::of(Direct::Solver(Box::new(Scripted { lu: LuCache::default(), matrix: None, answer, part })));
        let options = LinearOptions { method: Some(Method::Lu), ..LinearOptions::default() };
        let found = solve(matrix, rhs, &options, &mut cache).map_err(|error| error.kind);
        (found, cache.direct_note())
    }

    /// ((3, 1), (1, 2)) with the inverse ((2, -1), (-1, 3)) / 5.
    fn regular() -> Csr {
        Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![3.0, 1.0, 1.0, 2.0]).expect("legal")
    }

    #[test]
    fn answers_of_a_direct_solver_and_who_solves_then() {
        let near = |found: Result<Solution, LinearErrorKind>| {
            let x = found.expect("regular").x;
            // The solution is of size 1, the condition number below 10.
            assert!((x[0] - 1.0).abs() + (x[1] - 1.0).abs() < 1e-14, "{x:?}");
        };
        let (found, note) = solved(Ok(()), &regular(), &[4.0, 3.0]);
        near(found);
        assert_eq!(note.as_deref(), Some("LU runs on the device, by another"));
        for fault in [DirectError::Failed("it is tired".to_owned()), DirectError::OutOfMemory("it is tired".to_owned())] {
            let (found, note) = solved(Err(fault), &regular(), &[4.0, 3.0]);
            near(found);
            assert_eq!(note.as_deref(), Some("LU runs on the host: another has no solution: it is tired"));
        }
        // Not definite, whatever it is factorised as.
        let (found, note) = solved(Err(DirectError::NotDefinite), &regular(), &[4.0, 3.0]);
        near(found);
        assert_eq!(note.as_deref(), Some("LU runs on the host: another has no solution: the matrix is not positive definite"));
        // Both find the matrix singular: the solver stays on the device.
        let singular = Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 2.0, 4.0]).expect("legal");
        let (found, note) = solved(Ok(()), &singular, &[1.0, 1.0]);
        assert_eq!(found, Err(LinearErrorKind::Singular));
        assert_eq!(note.as_deref(), Some("LU runs on the device, by another"));
    }

    /// Factors that leave a tenth of the residual per step leave 1e-4 after all steps: the host
    /// does better. With the condition number 1e10 the solution is 1e9 times the right-hand side
    /// and its round-off far above the tolerance: the host cannot do better and is not used.
    #[test]
    fn the_host_is_asked_where_it_may_do_better() {
        let (found, note) = solved_in_part(Ok(()), 0.9, &regular(), &[4.0, 3.0]);
        assert!(found.is_ok());
        let note = note.expect("a note");
        assert!(note.starts_with("LU runs on the host: another has no solution: 3 steps of iterative refinement"), "{note}");
        let nearly = Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![3.0, 1.0, 1.0, 1.0 / 3.0 + 1e-9]).expect("legal");
        let (found, note) = solved(Ok(()), &nearly, &[0.1, 0.7]);
        assert_eq!(found, Err(LinearErrorKind::Stagnation));
        assert_eq!(note.as_deref(), Some("LU runs on the device, by another"));
    }

    /// Diagonals of either sign, with the square roots of 4 and 16, and one with a zero.
    #[test]
    fn symmetric_scales_keep_the_symmetry() {
        let matrix = |values: [f64; 4]| Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], values.to_vec()).expect("legal");
        let scaled = |values: [f64; 4]| {
            let matrix = matrix(values);
            let (rows, columns) = symmetric_scales(&matrix, &values)?;
            Some(scaled_values(&matrix, &values, &rows, &columns))
        };
        assert_eq!(scaled([4.0, 2.0, 2.0, 16.0]), Some(vec![1.0, 0.25, 0.25, 1.0]));
        assert_eq!(scaled([-4.0, 2.0, 2.0, -16.0]), Some(vec![1.0, -0.25, -0.25, 1.0]));
        assert_eq!(scaled([4.0, 2.0, 2.0, 0.0]), None);
        // In any unit: the root of 2 is no power of two.
        let values = [3.0, 2.0, 2.0, 5.0];
        assert_eq!(scaled(values.map(|value| 2.0 * value)), scaled(values));
    }
}
