//! Matrices of several fields on the same elements, with one column index for a block of entries.
//!
//! Where `k` equations and `k` unknowns live on the same elements and have the same stencil, each
//! pair of elements has a dense block `[k, k]`: the derivatives of one's equations with respect to
//! the other's unknowns. Rows and columns are numbered field by field: unknown `u` of element `j`
//! has number `u n + j`, and so has its equation.
//!
//! Values are stored by equation, in the order in which a Jacobian is assembled: for each element
//! the derivatives by the first unknown, one for each neighbour, then those by the second.
//! Compressed rows have the same order of entries, so they need no copy, and products sum in the
//! same order with the same bits, yet read each column index once. This is faster on processors
//! than blocks stored one after the other: the `k` rows of an element are `k` streams.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::csr::{Csr, CsrError, Pattern, Symmetry};
use super::sparse_rows::SparseRows;
use crate::threads::Threads;

/// The pattern of a [`BlockMatrix`], which matrices share. Columns ascend strictly within a row,
/// and each row has its diagonal block.
///
/// Memory: 4 bytes a block and 8 an element.
#[derive(Debug)]
pub struct BlockPattern {
    k: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    /// Position of each block's mirrored block in its row, if all exist; computed on first use.
    mirror: OnceLock<Option<Vec<u32>>>,
    /// The pattern in compressed rows; computed on first use.
    rows: OnceLock<Arc<Pattern>>,
}

impl BlockPattern {
    /// The common pattern of `k` equations, from their compressed rows: `row_ptr` `[n + 1]` and
    /// `col_idx`. `None` if they differ, if an equation does not depend on all unknowns of the same
    /// elements, or if a diagonal block is missing.
    pub fn from_equations(equations: &[(&[usize], &[u32])]) -> Option<BlockPattern> {
        let k = equations.len();
        let (row_ptr, col_idx) = *equations.first()?;
        let n = row_ptr.len().checked_sub(1)?;
        let same = |other: &(&[usize], &[u32])| {
            (std::ptr::eq(other.0, row_ptr) || other.0 == row_ptr) && (std::ptr::eq(other.1, col_idx) || other.1 == col_idx)
        };
        if !equations[1..].iter().all(same) {
            return None;
        }
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        let mut elements = Vec::with_capacity(col_idx.len() / k);
        for (row, ends) in row_ptr.windows(2).enumerate() {
            let columns = col_idx.get(ends[0]..ends[1])?;
            let width = columns.len() / k;
            let (own, others) = columns.split_at(width);
            let is_diagonal_there = own.binary_search(&(row as u32)).is_ok();
            let are_elements = own.last().is_some_and(|&last| (last as usize) < n);
            let is_full = columns.len() == k * width
                && others.chunks_exact(width.max(1)).zip(1..).all(|(part, unknown)| {
                    let first = unknown * n;
                    part.iter().zip(own).all(|(&column, &element)| column as usize == first + element as usize)
                });
            if !(is_diagonal_there && are_elements && is_full) {
                return None;
            }
            elements.extend_from_slice(own);
            starts.push(elements.len());
        }
        Some(BlockPattern::from_valid(k, starts, elements))
    }

    /// From arrays that are known to be valid.
    pub(in crate::linalg) fn from_valid(k: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>) -> BlockPattern {
        BlockPattern { k, row_ptr, col_idx, mirror: OnceLock::new(), rows: OnceLock::new() }
    }

    /// Number of fields: rows and columns of a block.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of elements.
    pub fn n(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.col_idx.len()
    }

    /// Index of the first block of each element, and the number of blocks: `[n + 1]`.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }

    /// Element of each block's column: `[n_blocks]`.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }

    /// Columns of a row, ascending.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn columns(&self, row: usize) -> &[u32] {
        &self.col_idx[self.row_ptr[row]..self.row_ptr[row + 1]]
    }

    /// Index of the diagonal block of a row among all blocks.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn diagonal(&self, row: usize) -> usize {
        self.row_ptr[row] + self.columns(row).partition_point(|&column| (column as usize) < row)
    }

    /// Memory of the two arrays above, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.row_ptr[..]) + size_of_val(&self.col_idx[..])
    }

    /// The pattern in compressed rows; computed on first use and cached.
    pub fn rows(&self) -> &Arc<Pattern> {
        self.rows.get_or_init(|| {
            let (k, n) = (self.k, self.n());
            let mut row_ptr = Vec::with_capacity(k * n + 1);
            row_ptr.push(0);
            let mut col_idx = Vec::with_capacity(k * k * self.n_blocks());
            for _ in 0..k {
                for ends in self.row_ptr.windows(2) {
                    let elements = &self.col_idx[ends[0]..ends[1]];
                    (0..k).for_each(|unknown| col_idx.extend(elements.iter().map(|&element| (unknown * n) as u32 + element)));
                    row_ptr.push(col_idx.len());
                }
            }
            Arc::new(Pattern::from_valid(k * n, k * n, row_ptr, col_idx))
        })
    }

    /// Position of each block's mirrored block in its row; `None` if one is missing.
    pub(in crate::linalg) fn mirror(&self) -> Option<&[u32]> {
        let made = self.mirror.get_or_init(|| {
            let mut mirror = vec![0; self.n_blocks()];
            // Rows come in ascending order, so the next block of a row is the next one needed.
            let mut next = vec![0u32; self.n()];
            for row in 0..self.n() {
                for (&element, place) in self.col_idx[self.row_ptr[row]..self.row_ptr[row + 1]].iter().zip(&mut mirror[self.row_ptr[row]..])
                {
                    let there = element as usize;
                    let at = self.row_ptr[there] + next[there] as usize;
                    if at == self.row_ptr[there + 1] || self.col_idx[at] as usize != row {
                        return None;
                    }
                    *place = next[there];
                    next[there] += 1;
                }
            }
            Some(mirror)
        });
        made.as_deref()
    }
}

impl PartialEq for BlockPattern {
    fn eq(&self, other: &BlockPattern) -> bool {
        (self.k, &self.row_ptr, &self.col_idx) == (other.k, &other.row_ptr, &other.col_idx)
    }
}

/// A square matrix of dense blocks `[k, k]`; stored zeros are allowed.
///
/// Memory: 8 bytes an entry beside the pattern.
#[derive(Debug)]
pub struct BlockMatrix {
    pattern: Arc<BlockPattern>,
    /// By equation, `[k]` of `[k n_blocks]`. If element `i` has the `w` blocks from `first` of the
    /// pattern, entry (`e`, `u`) of block `b` is `values[e][k first + u w + b - first]`.
    values: Vec<Vec<f64>>,
    /// The matrix in compressed rows; computed on first use.
    rows: OnceLock<Csr>,
}

impl BlockMatrix {
    /// Takes the values of each equation for a pattern: `[k]` of `[k n_blocks]`, in the order of
    /// compressed rows, without a copy.
    ///
    /// # Errors
    /// The number of values differs from that of entries.
    pub fn with_pattern(pattern: Arc<BlockPattern>, values: Vec<Vec<f64>>) -> Result<BlockMatrix, CsrError> {
        let entries = pattern.k() * pattern.n_blocks();
        if values.len() == pattern.k() && values.iter().all(|values| values.len() == entries) {
            Ok(BlockMatrix { pattern, values, rows: OnceLock::new() })
        } else {
            Err(CsrError::Lengths)
        }
    }

    /// Converts a matrix of `k` fields; `None` if its pattern does not consist of dense blocks with
    /// a diagonal.
    pub fn from_csr(matrix: &Csr, k: usize) -> Option<BlockMatrix> {
        let total = matrix.n_rows();
        if k == 0 || matrix.n_cols() != total || !total.is_multiple_of(k) {
            return None;
        }
        let n = total / k;
        let starts: Vec<usize> = (0..=k).map(|equation| matrix.row_ptr()[equation * n]).collect();
        let row_ptr: Vec<Vec<usize>> = (0..k)
            .map(|equation| matrix.row_ptr()[equation * n..=(equation + 1) * n].iter().map(|end| end - starts[equation]).collect())
            .collect();
        let equations: Vec<(&[usize], &[u32])> =
            (0..k).map(|equation| (&row_ptr[equation][..], &matrix.col_idx()[starts[equation]..starts[equation + 1]])).collect();
        let pattern = BlockPattern::from_equations(&equations)?;
        let values = starts.windows(2).map(|ends| matrix.values()[ends[0]..ends[1]].to_vec()).collect();
        BlockMatrix::with_pattern(Arc::new(pattern), values).ok()
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The values of each equation, as buffers to overwrite.
    pub fn into_values(self) -> Vec<Vec<f64>> {
        self.values
    }

    /// The derivatives of an equation at an element by one unknown of its neighbours:
    /// `[blocks of the element]`.
    ///
    /// # Panics
    /// If there is no such equation, element or unknown.
    #[inline]
    pub fn derivatives(&self, equation: usize, element: usize, unknown: usize) -> &[f64] {
        let (first, last) = (self.pattern.row_ptr[element], self.pattern.row_ptr[element + 1]);
        let start = self.pattern.k * first + unknown * (last - first);
        &self.values[equation][start..start + (last - first)]
    }

    /// Writes block `number`, which belongs to the element, row by row.
    ///
    /// # Panics
    /// If there is no such block or element, or `block` is not `[k, k]`.
    pub fn block(&self, number: usize, element: usize, block: &mut [f64]) {
        let k = self.pattern.k;
        let place = number - self.pattern.row_ptr[element];
        for (at, value) in block.iter_mut().enumerate() {
            *value = self.derivatives(at / k, element, at % k)[place];
        }
    }

    /// All values of an equation, in the order of compressed rows: `[k n_blocks]`.
    ///
    /// # Panics
    /// If there is no such equation.
    pub fn equation(&self, equation: usize) -> &[f64] {
        &self.values[equation]
    }

    /// The matrix in compressed rows, for methods without blocks; computed on first use and cached.
    /// Costs a copy of the values.
    pub fn rows(&self) -> &Csr {
        self.rows.get_or_init(|| Csr::with_pattern(Arc::clone(self.pattern.rows()), self.values.concat()).unwrap_or_default())
    }

    /// [`BlockMatrix::rows`], where the matrix is no longer needed.
    pub fn into_rows(self) -> Csr {
        self.rows();
        self.rows.into_inner().unwrap_or_default()
    }

    /// The matrix times a factor.
    pub fn scaled(&self, factor: f64) -> BlockMatrix {
        let values = self.values.iter().map(|values| values.iter().map(|value| value * factor).collect()).collect();
        BlockMatrix { pattern: Arc::clone(&self.pattern), values, rows: OnceLock::new() }
    }

    /// The matrix with each row times its factor, `[k n]`.
    ///
    /// # Panics
    /// If there are fewer factors than rows.
    pub fn scaled_rows(&self, factors: &[f64]) -> BlockMatrix {
        let (k, n) = (self.pattern.k, self.pattern.n());
        let mut values = self.values.clone();
        for (equation, values) in values.iter_mut().enumerate() {
            for (ends, factor) in self.pattern.row_ptr().windows(2).zip(&factors[equation * n..]) {
                values[k * ends[0]..k * ends[1]].iter_mut().for_each(|value| *value *= factor);
            }
        }
        BlockMatrix { pattern: Arc::clone(&self.pattern), values, rows: OnceLock::new() }
    }

    /// `y_row = f(y_row, row, (A x)_row)`, each row summed in ascending column order: the bits of
    /// compressed rows, for any number of threads.
    ///
    /// Memory traffic: 8 bytes an entry and 4 a block; 8 an element for the row pointer; 8 a row
    /// for `x`, and the traffic of `f`.
    ///
    /// # Panics
    /// If `x` or `y` is not `[k n]`.
    pub(in crate::linalg) fn for_rows_on(&self, threads: &Threads, y: &mut [f64], x: &[f64], f: impl Fn(f64, usize, f64) -> f64 + Sync) {
        let total = self.n_rows();
        assert!(x.len() == total && y.len() == total, "vectors of the matrix's size");
        if total == 0 {
            return;
        }
        match self.pattern.k {
            2 => self.for_panels::<2>(threads, y, x, f),
            3 => self.for_panels::<3>(threads, y, x, f),
            4 => self.for_panels::<4>(threads, y, x, f),
            _ => self.for_each_row(threads, y, x, f),
        }
    }

    /// All equations of an element at once.
    fn for_panels<const K: usize>(&self, threads: &Threads, y: &mut [f64], x: &[f64], f: impl Fn(f64, usize, f64) -> f64 + Sync) {
        let n = self.pattern.n();
        let (row_ptr, col_idx) = (self.pattern.row_ptr(), self.pattern.col_idx());
        let mut parts = y.chunks_exact_mut(n);
        let outputs: [&mut [f64]; K] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let values: [&[f64]; K] = std::array::from_fn(|equation| &self.values[equation][..]);
        let x: [&[f64]; K] = std::array::from_fn(|unknown| &x[unknown * n..(unknown + 1) * n]);
        threads.each(n, outputs, |range, mut outputs| {
            for (at, element) in range.enumerate() {
                let columns = &col_idx[row_ptr[element]..row_ptr[element + 1]];
                let width = columns.len();
                let panel = values.map(|values| &values[K * row_ptr[element]..K * row_ptr[element + 1]]);
                let mut sums = [0.0; K];
                for (unknown, x) in x.iter().enumerate() {
                    let part = panel.map(|panel| &panel[unknown * width..][..width]);
                    for (block, &column) in columns.iter().enumerate() {
                        let x = x[column as usize];
                        for (sum, part) in sums.iter_mut().zip(&part) {
                            *sum += part[block] * x;
                        }
                    }
                }
                for (equation, (out, sum)) in outputs.iter_mut().zip(sums).enumerate() {
                    out[at] = f(out[at], equation * n + element, sum);
                }
            }
        });
    }

    fn for_each_row(&self, threads: &Threads, y: &mut [f64], x: &[f64], f: impl Fn(f64, usize, f64) -> f64 + Sync) {
        threads.each(y.len(), y, |rows, y| {
            for (row, y) in rows.zip(y) {
                *y = f(*y, row, self.row(row).fold(0.0, |sum, (column, value)| sum + value * x[column]));
            }
        });
    }

    /// True if the blocks form a symmetric matrix; `None` where a block has no mirrored block.
    fn symmetry_of_blocks(&self, tolerance: f64) -> Option<Symmetry> {
        let mirror = self.pattern.mirror()?;
        let (k, n) = (self.pattern.k, self.pattern.n());
        let row_ptr = self.pattern.row_ptr();
        // By row, computed on first use.
        let mut known = vec![f64::NAN; k * n];
        let mut largest = |row: usize| {
            if known[row].is_nan() {
                known[row] = self.row(row).fold(0.0, |most: f64, (_, value)| most.max(value.abs()));
            }
            known[row]
        };
        for row in 0..k * n {
            let (equation, element) = (row / n, row % n);
            let blocks = row_ptr[element]..row_ptr[element + 1];
            for unknown in 0..k {
                let values = self.derivatives(equation, element, unknown);
                for ((&other, &place), value) in self.pattern.col_idx[blocks.clone()].iter().zip(&mirror[blocks.clone()]).zip(values) {
                    let there = self.derivatives(unknown, other as usize, equation)[place as usize];
                    let column = unknown * n + other as usize;
                    // Equal values, most of a symmetric matrix, need no scale. Written so that NaN
                    // differs.
                    let is_near = *value == there || (value - there).abs() <= tolerance * largest(row).max(largest(column));
                    if !is_near {
                        return Some(Symmetry::Numerical { row, column });
                    }
                }
            }
        }
        Some(Symmetry::Symmetric)
    }
}

impl Clone for BlockMatrix {
    fn clone(&self) -> BlockMatrix {
        BlockMatrix { pattern: Arc::clone(&self.pattern), values: self.values.clone(), rows: OnceLock::new() }
    }
}

impl PartialEq for BlockMatrix {
    fn eq(&self, other: &BlockMatrix) -> bool {
        (&self.pattern, &self.values) == (&other.pattern, &other.values)
    }
}

impl SparseRows for BlockMatrix {
    fn n_rows(&self) -> usize {
        self.pattern.k * self.pattern.n()
    }

    fn n_cols(&self) -> usize {
        self.n_rows()
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let BlockPattern { k, row_ptr, col_idx, .. } = &*self.pattern;
        let n = self.pattern.n();
        let (equation, element) = (row / n, row % n);
        let (first, last) = (row_ptr[element], row_ptr[element + 1]);
        let columns = &col_idx[first..last];
        let parts = self.values[equation][k * first..k * last].chunks_exact(columns.len().max(1)).enumerate();
        parts.flat_map(move |(unknown, part)| columns.iter().zip(part).map(move |(&column, &value)| (unknown * n + column as usize, value)))
    }

    /// Reads only the fields that intersect the range.
    fn row_within(&self, row: usize, columns: Range<usize>) -> impl Iterator<Item = (usize, f64)> + '_ {
        let n = self.pattern.n();
        let (equation, element) = (row / n, row % n);
        let elements = self.pattern.columns(element);
        let fields = if columns.is_empty() { 0..0 } else { columns.start / n..columns.end.div_ceil(n).min(self.pattern.k) };
        let of_field = move |unknown: usize| {
            let values = self.derivatives(equation, element, unknown);
            elements.iter().zip(values).map(move |(&column, &value)| (unknown * n + column as usize, value))
        };
        fields.flat_map(of_field).filter(move |(column, _)| columns.contains(column))
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        if row.max(column) >= self.n_rows() {
            return 0.0;
        }
        let n = self.pattern.n();
        let (element, other) = (row % n, (column % n) as u32);
        let (first, last) = (self.pattern.row_ptr[element], self.pattern.row_ptr[element + 1]);
        let place = self.pattern.col_idx[first..last].binary_search(&other);
        place.map_or(0.0, |place| self.derivatives(row / n, element, column / n)[place])
    }

    fn symmetry(&self, tolerance: f64) -> Symmetry {
        // A missing mirrored block is rare, and may be zero.
        self.symmetry_of_blocks(tolerance).unwrap_or_else(|| self.rows().symmetry(tolerance))
    }
}
