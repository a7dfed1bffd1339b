//! Sparse direct LU (faer), one thread, so the same bits each time on one kind of processor.
//!
//! The ordering and the elimination tree depend on the pattern alone and are kept while it does not change; the factors are kept while the
//! values do not change. faer: <https://github.com/sarah-quinones/faer-rs>; its column ordering is COLAMD (T. A. Davis and others, A column
//! approximate minimum degree ordering algorithm, ACM TOMS 30 (2004), doi:10.1145/1024074.1024079).
//!
//! Rows and columns are first scaled by powers of two, so that equations in different units do not look singular. A singular matrix shows
//! as a row or column of zeros, as a column without pivot, or as a condition number beyond double precision. The condition number is
//! estimated with a few solves: W. W. Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984), doi:10.1137/0905023; N. J. Higham,
//! FORTRAN codes for estimating the one-norm of a real or complex matrix, ACM TOMS 14 (1988), doi:10.1145/50063.214386.

use faer::dyn_stack::{MemBuffer, MemStack};

use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};

use super::coupled::blocks;
use super::csr::Csr;
use super::host::power_of_two_near;
use super::null_space::{Left, NullSpace};

/// What is kept between solves.
#[derive(Debug, Default)]
pub(super) struct LuCache {
    pattern: Option<Pattern>,
    /// Values that `numeric` belongs to (with `pinned`), if it is complete.
    factored: Option<Factored>,
    numeric: NumericLu<usize, f64>,
}

/// The symbolic factorisation of a pattern.
#[derive(Debug)]
struct Pattern {
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    /// Column indices as faer wants them.
    columns: Vec<usize>,
    symbolic: SymbolicLu<usize>,
}

/// What goes with the numerical factors.
#[derive(Debug)]
struct Factored {
    values: Vec<f64>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
}

/// An equation that is replaced by "this unknown is 0".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pin {
    pub row: usize,
    pub column: usize,
}

/// Why there are no factors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LuFault {
    /// The matrix is singular to working precision; says how that showed.
    Singular(String),
    /// Not enough memory for the factors.
    OutOfMemory,
}

/// Factors of a matrix, in which one unknown of each component without a level is held at 0.
pub(super) struct Factors<'a> {
    lu: LuRef<'a, usize, f64>,
    facts: &'a Factored,
    workspace: MemBuffer,
}

/// A singular matrix, rounded, is a regular one with a condition number near this one over [`f64::EPSILON`]; rounding errors of elimination
/// grow like the square root of the number of unknowns. A solution from a matrix that is worse than this has no correct digit.
fn worst_condition(n: usize) -> f64 {
    1.0 / (f64::EPSILON * (n as f64).sqrt().max(10.0))
}

impl LuCache {
    /// Whether the symbolic factorisation of this matrix's pattern is the kept one.
    pub(super) fn knows_pattern(&self, matrix: &Csr) -> bool {
        self.pattern.as_ref().is_some_and(|kept| kept.row_ptr == matrix.row_ptr() && kept.col_idx == matrix.col_idx())
    }

    /// Factorises, reusing what is kept. `matrix` has an entry at each pin; in the row and in the column of a pin everything counts as 0 but
    /// the pin, which counts as 1.
    pub(super) fn factorize(&mut self, matrix: &Csr, pinned: &[Pin]) -> Result<Factors<'_>, LuFault> {
        let n = matrix.n_rows();
        let values = pin(matrix, pinned);
        if !self.knows_pattern(matrix) {
            self.factored = None;
            self.pattern = None;
            // faer takes only a buffer that is new or of the same size.
            self.numeric = NumericLu::new();
            let columns: Vec<usize> = matrix.col_idx().iter().map(|&column| column as usize).collect();
            let transpose = SymbolicSparseColMatRef::new_checked(n, n, matrix.row_ptr(), None, &columns);
            let symbolic = factorize_symbolic_lu(transpose, Default::default()).map_err(|_| LuFault::OutOfMemory)?;
            let (row_ptr, col_idx) = (matrix.row_ptr().to_vec(), matrix.col_idx().to_vec());
            self.pattern = Some(Pattern { row_ptr, col_idx, columns, symbolic });
        }
        let Some(pattern) = &self.pattern else { return Err(LuFault::OutOfMemory) };
        let is_kept = self.factored.as_ref().is_some_and(|kept| kept.values == values);
        if !is_kept {
            self.factored = None;
            let (row_scale, column_scale) = equilibrate(matrix, &values)?;
            let scaled = scaled_values(matrix, &values, &row_scale, &column_scale);
            let norm = one_norm(matrix, &scaled);
            numeric_factors(pattern, &mut self.numeric, n, &scaled)?;
            self.factored = Some(Factored { values, row_scale, column_scale });
            let mut factors = factors(pattern, &self.numeric, &self.factored)?;
            let condition = norm * factors.inverse_norm(n);
            // NaN counts as singular.
            if condition.is_nan() || condition > worst_condition(n) {
                let text =
                    format!("its condition number is about {condition:.1e} after scaling, so no digit of a solution would be correct");
                self.factored = None;
                return Err(LuFault::Singular(text));
            }
        }
        factors(pattern, &self.numeric, &self.factored)
    }
}

fn factors<'a>(pattern: &'a Pattern, numeric: &'a NumericLu<usize, f64>, facts: &'a Option<Factored>) -> Result<Factors<'a>, LuFault> {
    let Some(facts) = facts else { return Err(LuFault::OutOfMemory) };
    let scratch = pattern.symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq);
    let workspace = MemBuffer::try_new(scratch.or(pattern.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
    let workspace = workspace.map_err(|_| LuFault::OutOfMemory)?;
    Ok(Factors { lu: LuRef::new_unchecked(&pattern.symbolic, numeric), facts, workspace })
}

/// The values with the pinned rows and columns replaced.
fn pin(matrix: &Csr, pinned: &[Pin]) -> Vec<f64> {
    let mut values = matrix.values().to_vec();
    if pinned.is_empty() {
        return values;
    }
    let mut column_of = vec![None; matrix.n_rows()];
    let mut is_pinned_column = vec![false; matrix.n_cols()];
    for pin in pinned {
        column_of[pin.row] = Some(pin.column);
        is_pinned_column[pin.column] = true;
    }
    for (ends, own) in matrix.row_ptr().windows(2).zip(column_of) {
        let range = ends[0]..ends[1];
        for (&column, value) in matrix.col_idx()[range.clone()].iter().zip(&mut values[range]) {
            let column = column as usize;
            if own == Some(column) {
                *value = 1.0;
            } else if own.is_some() || is_pinned_column[column] {
                *value = 0.0;
            }
        }
    }
    values
}

/// Powers of two by which rows, then columns, are divided to bring their largest entries near 1.
fn equilibrate(matrix: &Csr, values: &[f64]) -> Result<(Vec<f64>, Vec<f64>), LuFault> {
    let n = matrix.n_rows();
    let mut row_scale = Vec::with_capacity(n);
    let mut largest = vec![0.0f64; n];
    for row in 0..n {
        let range = matrix.row_ptr()[row]..matrix.row_ptr()[row + 1];
        let own = &values[range.clone()];
        if own.iter().all(|value| *value == 0.0) {
            return Err(LuFault::Singular(format!("row {row} is zero, so equation {row} depends on no unknown")));
        }
        let scale = power_of_two_near(own).unwrap_or(f64::NAN);
        for (&column, value) in matrix.col_idx()[range].iter().zip(own) {
            let most = &mut largest[column as usize];
            *most = most.max((value / scale).abs());
        }
        row_scale.push(scale);
    }
    if let Some(column) = largest.iter().position(|most| *most == 0.0) {
        return Err(LuFault::Singular(format!("column {column} is zero, so no equation depends on unknown {column}")));
    }
    let column_scale = largest.iter().map(|most| power_of_two_near(&[*most]).unwrap_or(f64::NAN)).collect();
    Ok((row_scale, column_scale))
}

fn scaled_values(matrix: &Csr, values: &[f64], row_scale: &[f64], column_scale: &[f64]) -> Vec<f64> {
    let mut scaled = values.to_vec();
    for (ends, row_scale) in matrix.row_ptr().windows(2).zip(row_scale) {
        let range = ends[0]..ends[1];
        for (&column, value) in matrix.col_idx()[range.clone()].iter().zip(&mut scaled[range]) {
            *value = *value / row_scale / column_scale[column as usize];
        }
    }
    scaled
}

/// Largest column sum of magnitudes.
fn one_norm(matrix: &Csr, values: &[f64]) -> f64 {
    let mut sums = vec![0.0; matrix.n_cols()];
    matrix.col_idx().iter().zip(values).for_each(|(&column, value)| sums[column as usize] += value.abs());
    sums.iter().fold(0.0, |most: f64, sum| most.max(*sum))
}

/// Compressed rows of a matrix are compressed columns of its transpose, which is what is factorised; solving then transposes back.
fn numeric_factors(pattern: &Pattern, numeric: &mut NumericLu<usize, f64>, n: usize, scaled: &[f64]) -> Result<(), LuFault> {
    let transpose = SymbolicSparseColMatRef::new_checked(n, n, &pattern.row_ptr, None, &pattern.columns);
    let scratch = pattern.symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default());
    let mut workspace = MemBuffer::try_new(scratch).map_err(|_| LuFault::OutOfMemory)?;
    let stack = MemStack::new(&mut workspace);
    let matrix = SparseColMatRef::new(transpose, scaled);
    match pattern.symbolic.factorize_numeric_lu(numeric, matrix, Par::Seq, stack, Default::default()) {
        Ok(_) => Ok(()),
        Err(LuError::SymbolicSingular { index }) => {
            Err(LuFault::Singular(format!("elimination finds no pivot in step {index}: some unknowns do not appear in enough equations")))
        }
        Err(LuError::Generic(_)) => Err(LuFault::OutOfMemory),
    }
}

impl Factors<'_> {
    /// `x = A^-1 b`, in place. Not finite if a pivot was zero.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        x.iter_mut().zip(&self.facts.row_scale).for_each(|(x, scale)| *x /= scale);
        self.solve_scaled(x);
        x.iter_mut().zip(&self.facts.column_scale).for_each(|(x, scale)| *x /= scale);
    }

    /// `x = A^-T b`, in place.
    pub(super) fn solve_transpose(&mut self, x: &mut [f64]) {
        x.iter_mut().zip(&self.facts.column_scale).for_each(|(x, scale)| *x /= scale);
        self.solve_scaled_transpose(x);
        x.iter_mut().zip(&self.facts.row_scale).for_each(|(x, scale)| *x /= scale);
    }

    fn solve_scaled(&mut self, x: &mut [f64]) {
        let n = x.len();
        let stack = MemStack::new(&mut self.workspace);
        self.lu.solve_transpose_in_place_with_conj(Conj::No, MatMut::from_column_major_slice_mut(x, n, 1), Par::Seq, stack);
    }

    fn solve_scaled_transpose(&mut self, x: &mut [f64]) {
        let n = x.len();
        let stack = MemStack::new(&mut self.workspace);
        self.lu.solve_in_place_with_conj(Conj::No, MatMut::from_column_major_slice_mut(x, n, 1), Par::Seq, stack);
    }

    /// A lower bound, rarely below a third, of the 1-norm of the inverse of the scaled matrix (Hager 1984, Higham 1988). The start is a
    /// vector of fixed pseudo-random signs rather than ones, which the inverse of a nearly singular Laplacian may not magnify at all.
    /// Infinite or NaN if a pivot was zero.
    fn inverse_norm(&mut self, n: usize) -> f64 {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut x: Vec<f64> = (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if state >> 63 == 0 { 1.0 / n as f64 } else { -1.0 / n as f64 }
            })
            .collect();
        let mut best = 0.0;
        let mut visited = Vec::new();
        for _ in 0..5 {
            self.solve_scaled(&mut x);
            let size: f64 = x.iter().map(|x| x.abs()).sum();
            if !size.is_finite() {
                return f64::INFINITY;
            }
            if size <= best {
                break;
            }
            best = size;
            x.iter_mut().for_each(|x| *x = if *x < 0.0 { -1.0 } else { 1.0 });
            self.solve_scaled_transpose(&mut x);
            let steepest =
                x.iter().enumerate().fold((0, 0.0), |most: (usize, f64), (i, x)| if x.abs() > most.1 { (i, x.abs()) } else { most });
            if !steepest.1.is_finite() {
                return f64::INFINITY;
            }
            if visited.contains(&steepest.0) {
                break;
            }
            visited.push(steepest.0);
            x.fill(0.0);
            x[steepest.0] = 1.0;
        }
        best
    }
}

/// For each component the equation to leave out, one that the others imply, and the unknown to hold at 0. If its left null vector is known, the
/// equation with the largest weight; else one of the equations of a block (the component's own block in the first attempt), which is wrong if
/// its weight turns out to be 0: then the factorisation finds a singular matrix.
pub(super) fn pins(matrix: &Csr, null_space: &NullSpace, ends: &[usize], attempt: usize) -> Vec<Pin> {
    let blocks = blocks(ends);
    let choose = |component: &super::null_space::Component| {
        let first = component.unknowns[0];
        let own = blocks.iter().position(|block| block.contains(&first)).unwrap_or(0);
        if let Some(row) = component.left.as_ref().and_then(Left::heaviest_row) {
            // On the diagonal if possible: it is there in most matrices.
            let column = if component.unknowns.binary_search(&row).is_ok() { row } else { first };
            return Pin { row, column };
        }
        if attempt == 0 {
            return Pin { row: first, column: first };
        }
        let block = blocks[(own + attempt) % blocks.len()].clone();
        let start = block.start;
        let larger = |most: (usize, f64), row| {
            let size = matrix.entry(row, first).abs();
            if size > most.1 { (row, size) } else { most }
        };
        Pin { row: block.fold((start, 0.0), larger).0, column: first }
    };
    null_space.components.iter().map(choose).collect()
}

/// The matrix with a place for each pin; `None` if they have one.
pub(super) fn with_places(matrix: &Csr, pinned: &[Pin]) -> Option<Csr> {
    let is_missing = |pin: &&Pin| !matrix.row(pin.row).any(|(column, _)| column == pin.column);
    let missing: Vec<(usize, usize, f64)> = pinned.iter().filter(is_missing).map(|pin| (pin.row, pin.column, 0.0)).collect();
    if missing.is_empty() {
        return None;
    }
    let n = matrix.n_rows();
    let mut entries: Vec<(usize, usize, f64)> =
        (0..n).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).collect();
    entries.extend(missing);
    Csr::from_triplets(n, n, &entries).ok()
}

/// The components with their left null vectors: `w` with `A^T w = 0` that is 1 in the component's pinned row and 0 in those of the others. Those
/// that are known are found again if they should be `anew`.
pub(super) fn left_null_vectors(matrix: &Csr, null_space: &NullSpace, pinned: &[Pin], factors: &mut Factors<'_>, anew: bool) -> NullSpace {
    let mut known = null_space.clone();
    for (component, own) in known.components.iter_mut().zip(pinned) {
        if component.left.is_some() && !anew {
            continue;
        }
        // The other rows of the pinned matrix, transposed, with minus the pinned row on the right.
        let mut w = vec![0.0; matrix.n_rows()];
        matrix.row(own.row).for_each(|(column, value)| w[column] -= value);
        pinned.iter().for_each(|pin| w[pin.column] = 0.0);
        w[own.column] = 1.0;
        factors.solve_transpose(&mut w);
        component.left = Left::from_dense(&w);
    }
    known
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
            cache.factorize(matrix, &[]).map(|mut factors| factors.solve(&mut x)).map(|()| (knew, x))
        };
        let first = matrix([2.0, 0.0, 0.0, 4.0]);
        assert_eq!(solve(&first, [2.0, 4.0]), Ok((false, [1.0, 1.0])));
        assert_eq!(solve(&first, [4.0, 4.0]), Ok((true, [2.0, 1.0])));
        // Other values on the same pattern; then singular ones, after which nothing wrong is left behind.
        assert_eq!(solve(&matrix([4.0, 0.0, 0.0, 4.0]), [4.0, 4.0]), Ok((true, [1.0, 1.0])));
        assert!(matches!(solve(&matrix([1.0, 1.0, 1.0, 1.0]), [1.0, 1.0]), Err(LuFault::Singular(_))));
        assert_eq!(solve(&first, [2.0, 4.0]), Ok((true, [1.0, 1.0])));
        // The transpose, by the second column of the inverse of ((2, 1), (0, 4)): x = (1/2, 0) b0 + (-1/8, 1/4) b1.
        let upper = matrix([2.0, 1.0, 0.0, 4.0]);
        assert_eq!(solve(&upper, [0.0, 8.0]), Ok((true, [-1.0, 2.0])));
        let mut x = [8.0, 0.0];
        cache.factorize(&upper, &[]).expect("regular").solve_transpose(&mut x);
        assert_eq!(x, [4.0, -1.0]);
        let diagonal = Csr::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![2.0, 4.0]).expect("legal");
        assert!(!cache.knows_pattern(&diagonal));
    }
}
