//! Sparse direct LU on the host (faer), on one thread: the same bits each time on one kind of
//! processor.
//!
//! The ordering and the elimination tree depend on the pattern alone and are cached while it stays;
//! the factors are cached while the values stay. faer: <https://github.com/sarah-quinones/faer-rs>;
//! its column ordering is COLAMD (T. A. Davis and others, A column approximate minimum degree
//! ordering algorithm, ACM TOMS 30 (2004), doi:10.1145/1024074.1024079).
//!
//! Scaling, pins and condition estimates are in `elimination`.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};

use super::elimination::{Elimination, FactorError, Factored, Pin, check_condition, equilibrate, one_norm, pin, scaled_values};
use super::interruptible::{InterruptibleError, interruptible};
use crate::linalg::matrix::csr::Csr;

/// Cache between solves.
#[derive(Debug, Default)]
pub(in crate::linalg) struct LuCache {
    pattern: Option<Arc<Pattern>>,
    /// The matrix of `numeric` (with `pinned`), if that is complete.
    factored: Option<Factored>,
    numeric: NumericLu<usize, f64>,
}

/// The symbolic factorisation of a pattern.
#[derive(Debug)]
struct Pattern {
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    /// Column indices in faer's type.
    columns: Vec<usize>,
    symbolic: SymbolicLu<usize>,
}

impl LuCache {
    /// True if the cached symbolic factorisation is of this matrix's pattern.
    pub(in crate::linalg) fn knows_pattern(&self, matrix: &Csr) -> bool {
        self.pattern.as_ref().is_some_and(|cached| cached.row_ptr == matrix.row_ptr() && cached.col_idx == matrix.col_idx())
    }
}

impl From<InterruptibleError> for FactorError {
    fn from(error: InterruptibleError) -> FactorError {
        match error {
            InterruptibleError::Interrupted => FactorError::Interrupted,
            InterruptibleError::NoThread => FactorError::OutOfMemory,
        }
    }
}

/// Largest number of unknowns for which a factorisation is fast and runs on the calling thread.
const MOMENT: usize = 5000;

/// Runs one step of a factorisation of `n` unknowns, which faer does not interrupt.
fn step<T: Send + 'static>(
    n: usize,
    is_interrupted: &dyn Fn() -> bool,
    work: impl FnOnce() -> Result<T, FactorError> + Send + 'static,
) -> Result<T, FactorError> {
    if is_interrupted() {
        return Err(FactorError::Interrupted);
    }
    if n <= MOMENT { work() } else { interruptible(is_interrupted, work)? }
}

/// LU on the host. An interrupted run soon returns and caches at most the pattern.
pub(in crate::linalg) struct OnHost<'a> {
    pub cached: &'a mut LuCache,
    pub is_interrupted: &'a dyn Fn() -> bool,
}

impl Elimination for OnHost<'_> {
    fn factorize(&mut self, matrix: &Csr, pinned: &[Pin]) -> Result<(), FactorError> {
        self.cached.factorize(matrix, pinned, self.is_interrupted)
    }

    fn solve(&mut self, x: &mut [f64], transposed: bool) -> Result<(), FactorError> {
        self.cached.solve(x, transposed)
    }
}

impl LuCache {
    /// See [`Elimination::factorize`].
    pub(in crate::linalg) fn factorize(
        &mut self,
        matrix: &Csr,
        pinned: &[Pin],
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<(), FactorError> {
        let n = matrix.n_rows();
        let values = pin(matrix, pinned);
        if !self.knows_pattern(matrix) {
            self.factored = None;
            self.pattern = None;
            // faer takes only a new buffer or one of the same size.
            self.numeric = NumericLu::new();
            let columns: Vec<usize> = matrix.col_idx().iter().map(|&column| column as usize).collect();
            let (row_ptr, col_idx) = (matrix.row_ptr().to_vec(), matrix.col_idx().to_vec());
            let pattern = step(n, is_interrupted, move || {
                let transpose = SymbolicSparseColMatRef::new_checked(n, n, &row_ptr, None, &columns);
                let symbolic = factorize_symbolic_lu(transpose, Default::default()).map_err(|_| FactorError::OutOfMemory)?;
                Ok(Pattern { row_ptr, col_idx, columns, symbolic })
            })?;
            self.pattern = Some(Arc::new(pattern));
        }
        let Some(pattern) = &self.pattern else { return Err(FactorError::OutOfMemory) };
        if self.factored.as_ref().is_some_and(|cached| cached.values == values) {
            return Ok(());
        }
        self.factored = None;
        let (row_scale, column_scale) = equilibrate(matrix, &values)?;
        let scaled = scaled_values(matrix, &values, &row_scale, &column_scale);
        let norm = one_norm(matrix, &scaled);
        let (own, mut numeric) = (Arc::clone(pattern), std::mem::take(&mut self.numeric));
        self.numeric = step(n, is_interrupted, move || {
            numeric_factors(&own, &mut numeric, n, &scaled)?;
            Ok(numeric)
        })?;
        let (lu, mut workspace) = (LuRef::new_unchecked(&pattern.symbolic, &self.numeric), workspace(pattern)?);
        check_condition(n, norm, |x, transposed| {
            substitute(lu, x, transposed, &mut workspace);
            Ok(())
        })?;
        self.factored = Some(Factored { values, row_scale, column_scale });
        Ok(())
    }

    /// See [`Elimination::solve`].
    pub(in crate::linalg) fn solve(&self, x: &mut [f64], transposed: bool) -> Result<(), FactorError> {
        let (Some(pattern), Some(factored)) = (&self.pattern, &self.factored) else { return Err(FactorError::OutOfMemory) };
        let (lu, mut workspace) = (LuRef::new_unchecked(&pattern.symbolic, &self.numeric), workspace(pattern)?);
        factored.solve(x, transposed, |x| {
            substitute(lu, x, transposed, &mut workspace);
            Ok(())
        })
    }
}

/// Workspace of a solve.
fn workspace(pattern: &Pattern) -> Result<MemBuffer, FactorError> {
    let scratch = pattern.symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq);
    let workspace = MemBuffer::try_new(scratch.or(pattern.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
    workspace.map_err(|_| FactorError::OutOfMemory)
}

/// Solves with the factors of the transpose.
fn substitute(lu: LuRef<'_, usize, f64>, x: &mut [f64], transposed: bool, workspace: &mut MemBuffer) {
    let n = x.len();
    let stack = MemStack::new(workspace);
    let x = MatMut::from_column_major_slice_mut(x, n, 1);
    if transposed {
        lu.solve_in_place_with_conj(Conj::No, x, Par::Seq, stack);
    } else {
        lu.solve_transpose_in_place_with_conj(Conj::No, x, Par::Seq, stack);
    }
}

/// Factorises the transpose, whose compressed columns are our compressed rows; a solve transposes
/// back.
fn numeric_factors(pattern: &Pattern, numeric: &mut NumericLu<usize, f64>, n: usize, scaled: &[f64]) -> Result<(), FactorError> {
    let transpose = SymbolicSparseColMatRef::new_checked(n, n, &pattern.row_ptr, None, &pattern.columns);
    let scratch = pattern.symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
    let mut workspace = MemBuffer::try_new(scratch).map_err(|_| FactorError::OutOfMemory)?;
    let stack = MemStack::new(&mut workspace);
    let matrix = SparseColMatRef::new(transpose, scaled);
    match pattern.symbolic.factorize_numeric_lu(numeric, matrix, Par::Seq, stack, Default::default()) {
        Ok(_) => Ok(()),
        Err(LuError::SymbolicSingular { index }) => Err(FactorError::Singular(format!(
            "elimination finds no pivot in step {index}: some unknowns do not appear in enough equations"
        ))),
        Err(LuError::Generic(_)) => Err(FactorError::OutOfMemory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_between_factorisations() {
        let matrix = |values: [f64; 4]| Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], values.to_vec()).expect("legal");
        let mut cache = LuCache::default();
        let mut solve = |matrix: &Csr, b: [f64; 2]| {
            let knew = cache.knows_pattern(matrix);
            let mut x = b;
            cache.factorize(matrix, &[], &|| false).and_then(|()| cache.solve(&mut x, false)).map(|()| (knew, x))
        };
        let first = matrix([2.0, 0.0, 0.0, 4.0]);
        assert_eq!(solve(&first, [2.0, 4.0]), Ok((false, [1.0, 1.0])));
        assert_eq!(solve(&first, [4.0, 4.0]), Ok((true, [2.0, 1.0])));
        // Other values on the same pattern; then a singular matrix, whose failure leaves nothing
        // wrong in the cache.
        assert_eq!(solve(&matrix([4.0, 0.0, 0.0, 4.0]), [4.0, 4.0]), Ok((true, [1.0, 1.0])));
        assert!(matches!(solve(&matrix([1.0, 1.0, 1.0, 1.0]), [1.0, 1.0]), Err(FactorError::Singular(_))));
        assert_eq!(solve(&first, [2.0, 4.0]), Ok((true, [1.0, 1.0])));
        // The transpose, by the second column of the inverse of ((2, 1), (0, 4)): x = (1/2, 0) b0 +
        // (-1/8, 1/4) b1.
        let upper = matrix([2.0, 1.0, 0.0, 4.0]);
        assert_eq!(solve(&upper, [0.0, 8.0]), Ok((true, [-1.0, 2.0])));
        let mut x = [8.0, 0.0];
        cache.factorize(&upper, &[], &|| false).and_then(|()| cache.solve(&mut x, true)).expect("regular");
        assert_eq!(x, [4.0, -1.0]);
        let diagonal = Csr::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![2.0, 4.0]).expect("legal");
        assert!(!cache.knows_pattern(&diagonal));
    }

    /// -x'' on `n` points, below and above the size for a thread of its own. The run is interrupted
    /// before the first step, before the second step, or not at all; the cache stays valid.
    #[test]
    fn factorisations_end_when_the_run_is_asked_to() {
        for n in [MOMENT, MOMENT + 1] {
            let entries: Vec<_> = (0..n)
                .flat_map(|i| {
                    [(i, i, 2.0)].into_iter().chain((i + 1 < n).then_some([(i, i + 1, -1.0), (i + 1, i, -1.0)]).into_iter().flatten())
                })
                .collect();
            let matrix = Csr::from_triplets(n, n, &entries).expect("legal");
            let mut cache = LuCache::default();
            assert_eq!(cache.factorize(&matrix, &[], &|| true).err(), Some(FactorError::Interrupted));
            assert!(!cache.knows_pattern(&matrix));
            let is_asked = std::cell::Cell::new(false);
            assert_eq!(cache.factorize(&matrix, &[], &|| is_asked.replace(true)).err(), Some(FactorError::Interrupted));
            let mut x = vec![0.0; n];
            x[0] = 1.0;
            cache.factorize(&matrix, &[], &|| false).and_then(|()| cache.solve(&mut x, false)).expect("regular");
            // The line from 1 at point -1 to 0 at point n. Condition n^2.
            let line = |i: usize| (n - i) as f64 / (n + 1) as f64;
            assert!(x.iter().enumerate().all(|(i, x)| (x - line(i)).abs() < f64::EPSILON * (n * n) as f64));
        }
    }
}
