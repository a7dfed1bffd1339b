//! Jacobians of collections: sparse matrices with one row per element of the domain and one column
//! per unknown of the current Newton solve.
//!
//! **The pattern does not depend on the state.** Entries that happen to be zero stay, and a ternary
//! has the entries of both branches, so that a solver can use one symbolic factorisation for all
//! iterations. The exception is the pattern behind entities chosen by state
//! (`data On (v > 0 ? first : second)`): a row is then that of the chosen entity.
//!
//! **Entries of branches not chosen are −0, all other zeros +0.** Mathematically they do not exist:
//! multiplied by an infinite or undefined factor (`Sqrt(u > 0 ? u : 0)` has the factor 0.5/0 where
//! the constant is chosen) they must stay zero, where a derivative that is zero by value gives NaN.
//! −0 is the identity of IEEE addition, so a sum is −0 only if both terms are; products use
//! [`scaled`], which preserves the two zeros.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use equelle_runtime::Real;

use super::pool::Values;

/// The entry of a branch that was not chosen.
fn not_chosen<R: Real>() -> R {
    -R::ZERO
}

/// Marks a column without a slot in the current row.
const NO_SLOT: usize = usize::MAX;

/// Partial derivatives of a collection's elements.
///
/// Rows: elements of the collection's domain in its order. Columns: unknowns of the Newton solve.
/// Compressed rows with ascending columns; entries that are zero by value are stored.
#[derive(Clone)]
pub struct Jacobian<R = f64> {
    n_rows: usize,
    n_cols: usize,
    /// For unknowns: the number of the first one. Their entries are computed on first use.
    identity: Option<usize>,
    entries: OnceCell<Compressed<R>>,
}

/// Compressed rows.
#[derive(Clone)]
struct Compressed<R> {
    row_ptr: Arc<Vec<usize>>,
    columns: Arc<Vec<u32>>,
    values: Entries<R>,
}

/// Storage of the entries.
#[derive(Clone)]
enum Entries<R> {
    /// From operations.
    Own(Vec<R>),
    /// From a kernel.
    Pooled(Values<R>),
}

impl<R: Real> Jacobian<R> {
    /// Derivatives of the unknowns `offset .. offset + n_rows` with respect to themselves, of
    /// `n_cols` in total.
    pub(super) fn identity(n_rows: usize, offset: usize, n_cols: usize) -> Self {
        Jacobian { n_rows, n_cols, identity: Some(offset), entries: OnceCell::new() }
    }

    fn of(n_cols: usize, row_ptr: Arc<Vec<usize>>, columns: Arc<Vec<u32>>, values: Entries<R>) -> Self {
        let n_rows = row_ptr.len() - 1;
        Jacobian { n_rows, n_cols, identity: None, entries: OnceCell::from(Compressed { row_ptr, columns, values }) }
    }

    fn compressed(&self) -> &Compressed<R> {
        self.entries.get_or_init(|| {
            let offset = self.identity.unwrap_or_default() as u32;
            let row_ptr = Arc::new((0..=self.n_rows).collect());
            let columns = Arc::new((offset..offset + self.n_rows as u32).collect());
            Compressed { row_ptr, columns, values: Entries::Own(vec![R::ONE; self.n_rows]) }
        })
    }

    /// From entries (column, value) of each row, the columns ascending.
    pub(super) fn from_rows(entries: &[Vec<(u32, R)>], n_cols: usize) -> Self {
        let mut rows = CsrBuilder::with_capacity(entries.len(), entries.iter().map(Vec::len).sum());
        for row in entries {
            row.iter().for_each(|&(column, value)| rows.push(column, value));
            rows.end();
        }
        rows.finish(n_cols)
    }

    /// For unknowns the number of the first one; else 0.
    pub(super) fn first_column(&self) -> usize {
        self.identity.unwrap_or_default()
    }

    /// Number of rows: elements of the domain.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns: unknowns of the Newton solve.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Row pointers into [`Self::col_idx`] and [`Self::values`]; one more than there are rows.
    pub fn row_ptr(&self) -> &[usize] {
        &self.compressed().row_ptr
    }

    /// Column of each entry, ascending within a row.
    pub fn col_idx(&self) -> &[u32] {
        &self.compressed().columns
    }

    /// Value of each entry.
    pub fn values(&self) -> &[R] {
        match &self.compressed().values {
            Entries::Own(values) => values,
            Entries::Pooled(values) => values,
        }
    }

    /// The arrays of [`Self::row_ptr`] and [`Self::col_idx`], which other Jacobians may share.
    pub(super) fn pattern(&self) -> (&Arc<Vec<usize>>, &Arc<Vec<u32>>) {
        let entries = self.compressed();
        (&entries.row_ptr, &entries.columns)
    }

    /// [`Self::pattern`], shared.
    pub(super) fn shared_arrays(&self) -> (Arc<Vec<usize>>, Arc<Vec<u32>>) {
        let (row_ptr, columns) = self.pattern();
        (Arc::clone(row_ptr), Arc::clone(columns))
    }

    /// The values; copied if they are shared.
    pub(super) fn into_values(self) -> Vec<R> {
        self.compressed();
        match self.entries.into_inner().map(|entries| entries.values) {
            Some(Entries::Own(values)) => values,
            Some(Entries::Pooled(values)) => values.into_vec(),
            None => Vec::new(),
        }
    }

    /// Columns and values of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], &[R]) {
        let range = self.range(row);
        (&self.col_idx()[range.clone()], &self.values()[range])
    }

    /// From a pattern and the entries that a kernel has written.
    pub(super) fn written(n_cols: usize, row_ptr: &Arc<Vec<usize>>, columns: &Arc<Vec<u32>>, values: Values<R>) -> Self {
        debug_assert_eq!(columns.len(), values.len());
        Jacobian::of(n_cols, Arc::clone(row_ptr), Arc::clone(columns), Entries::Pooled(values))
    }

    fn range(&self, row: usize) -> Range<usize> {
        let row_ptr = self.row_ptr();
        row_ptr[row]..row_ptr[row + 1]
    }

    /// `f` of the row and value of each entry: derivatives of a function of one collection.
    pub(super) fn map(&self, f: impl Fn(usize, R) -> R) -> Self {
        let row_ptr = self.row_ptr();
        let mut values = self.values().to_vec();
        for (row, ends) in row_ptr.windows(2).enumerate() {
            for value in &mut values[ends[0]..ends[1]] {
                *value = scaled(*value, |d| f(row, d));
            }
        }
        let Compressed { row_ptr, columns, .. } = self.compressed();
        Jacobian::of(self.n_cols, Arc::clone(row_ptr), Arc::clone(columns), Entries::Own(values))
    }

    /// Row by row `f` of the entries of `a` plus `g` of those of `b`, of the same shape. Pattern:
    /// the union.
    pub(super) fn merge(a: &Self, b: &Self, f: impl Fn(usize, R) -> R, g: impl Fn(usize, R) -> R) -> Self {
        let mut rows = CsrBuilder::with_capacity(a.n_rows(), a.values().len().max(b.values().len()));
        for row in 0..a.n_rows() {
            rows.push_merged(a.row(row), b.row(row), |d| scaled(d, |d| f(row, d)), |d| scaled(d, |d| g(row, d)));
            rows.end();
        }
        rows.finish(a.n_cols())
    }

    /// The row of `a` or, where the condition is false, of `b`. `None` has no entries. Pattern: the
    /// union; entries only in the row not chosen are [`not_chosen`].
    pub(super) fn select(condition: &[bool], a: Option<&Self>, b: Option<&Self>) -> Option<Self> {
        let n_cols = a.or(b)?.n_cols();
        let entries = |jacobian: Option<&Self>| jacobian.map_or(0, |jacobian| jacobian.values().len());
        let mut rows = CsrBuilder::with_capacity(condition.len(), entries(a).max(entries(b)));
        for (row, &chosen) in condition.iter().enumerate() {
            rows.push_merged(
                a.map_or((&[], &[]), |a| a.row(row)),
                b.map_or((&[], &[]), |b| b.row(row)),
                |d| if chosen { d } else { not_chosen() },
                |d| if chosen { not_chosen() } else { d },
            );
            rows.end();
        }
        Some(rows.finish(n_cols))
    }

    /// The given rows in that order, with repetitions; `None` is a row without entries.
    pub(super) fn gather(&self, rows: impl ExactSizeIterator<Item = Option<usize>>) -> Self {
        let mut out = CsrBuilder::with_capacity(rows.len(), self.values().len());
        for row in rows {
            if let Some(row) = row {
                let (columns, values) = self.row(row);
                out.columns.extend_from_slice(columns);
                out.values.extend_from_slice(values);
            }
            out.end();
        }
        out.finish(self.n_cols())
    }

    /// For each pair of rows the second minus the first.
    pub(super) fn differences(&self, pairs: impl ExactSizeIterator<Item = [usize; 2]>) -> Self {
        let mut rows = CsrBuilder::with_capacity(pairs.len(), 2 * self.values().len());
        for [first, second] in pairs {
            rows.push_merged(self.row(first), self.row(second), |d| scaled(d, |d| -d), |d| d);
            rows.end();
        }
        rows.finish(self.n_cols())
    }

    /// Sums of rows: `terms` are the result's row, this one's row, and whether it is subtracted.
    /// Entries are added in the order of `terms`.
    pub(super) fn signed_sums(&self, n_rows: usize, terms: impl Iterator<Item = (usize, usize, bool)> + Clone) -> Self {
        // Stable counting sort by the result's row.
        let mut starts = vec![0; n_rows + 1];
        for (to, ..) in terms.clone() {
            starts[to + 1] += 1;
        }
        for row in 0..n_rows {
            starts[row + 1] += starts[row];
        }
        let mut sorted = vec![(0, false); starts[n_rows]];
        let mut next = starts.clone();
        for (to, from, subtracted) in terms {
            sorted[next[to]] = (from, subtracted);
            next[to] += 1;
        }

        let mut rows = CsrBuilder::with_capacity(n_rows, 2 * self.values().len());
        // Slot of each column in the current row.
        let mut slots = vec![NO_SLOT; self.n_cols()];
        let mut row: Vec<(u32, R)> = Vec::new();
        for terms in starts.windows(2) {
            for &(from, subtracted) in &sorted[terms[0]..terms[1]] {
                let (columns, values) = self.row(from);
                for (&column, &value) in columns.iter().zip(values) {
                    let term = if subtracted { scaled(value, |d| -d) } else { value };
                    let slot = &mut slots[column as usize];
                    match row.get_mut(*slot) {
                        Some((_, sum)) => *sum += term,
                        None => {
                            *slot = row.len();
                            row.push((column, term));
                        }
                    }
                }
            }
            row.sort_unstable_by_key(|&(column, _)| column);
            for (column, value) in row.drain(..) {
                slots[column as usize] = NO_SLOT;
                rows.push(column, value);
            }
            rows.end();
        }
        rows.finish(self.n_cols())
    }
}

impl<R> fmt::Debug for Jacobian<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The row of an unknown has one entry, computed or not.
        let entries = self.entries.get().map_or(self.n_rows, |entries| entries.columns.len());
        write!(f, "Jacobian({} x {}, {entries} entries)", self.n_rows, self.n_cols)
    }
}

/// `f` of an existing entry; the entry of a branch not chosen stays. Never turns one into the
/// other.
fn scaled<R: Real>(entry: R, f: impl FnOnce(R) -> R) -> R {
    // Adding +0 turns −0 into +0 and changes nothing else.
    if entry.is_negative_zero() { entry } else { f(entry) + R::ZERO }
}

/// A matrix under construction, row by row.
struct CsrBuilder<R> {
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<R>,
}

impl<R: Real> CsrBuilder<R> {
    fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut row_ptr = Vec::with_capacity(rows + 1);
        row_ptr.push(0);
        CsrBuilder { row_ptr, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    /// Appends an entry to the current row, beyond its last column.
    fn push(&mut self, column: u32, value: R) {
        self.columns.push(column);
        self.values.push(value);
    }

    /// Appends `f` of the entries of `a` plus `g` of those of `b`.
    fn push_merged(&mut self, a: (&[u32], &[R]), b: (&[u32], &[R]), f: impl Fn(R) -> R, g: impl Fn(R) -> R) {
        let (mut i, mut j) = (0, 0);
        loop {
            match (a.0.get(i), b.0.get(j)) {
                (Some(&left), Some(&right)) if left == right => {
                    self.push(left, f(a.1[i]) + g(b.1[j]));
                    (i, j) = (i + 1, j + 1);
                }
                (Some(&left), Some(&right)) if left > right => {
                    self.push(right, g(b.1[j]));
                    j += 1;
                }
                (Some(&left), Some(_) | None) => {
                    self.push(left, f(a.1[i]));
                    i += 1;
                }
                (None, Some(&right)) => {
                    self.push(right, g(b.1[j]));
                    j += 1;
                }
                (None, None) => return,
            }
        }
    }

    fn end(&mut self) {
        self.row_ptr.push(self.columns.len());
    }

    fn finish(self, n_cols: usize) -> Jacobian<R> {
        let (row_ptr, columns) = (Arc::new(self.row_ptr), Arc::new(self.columns));
        Jacobian::of(n_cols, row_ptr, columns, Entries::Own(self.values))
    }
}
