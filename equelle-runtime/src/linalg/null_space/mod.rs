//! Null spaces: matrices that are singular up to a constant per connected component.
//!
//! Where all boundaries are closed, a pressure is determined up to a constant in each connected
//! component of the grid: the rows of the matrix on the component sum to zero. Such a system has a
//! solution only if the right-hand side is orthogonal to the left null vector `w` of the component.
//! We take the solution with mean zero; a Newton update then keeps the mean of the unknown.
//!
//! `w` is constant where the columns sum to zero too. Where residuals are divided by cell volumes,
//! `w` is the volumes. In general detailed balance, `w_i a_ij = w_j a_ji`, gives the only
//! candidate, which is then checked. Where it fails, as for upwinded coefficients, only a
//! factorisation yields `w`.
//!
//! With several fields, as pressure and saturation, one may be determined up to a constant: then
//! all rows sum to zero over its columns alone. The rows that balance may be those of any equation,
//! or of all of them (see [`NullSpace::find_in_blocks`]).

pub(super) mod coupled;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::linalg::driver::options::LinearOptions;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::sparse_rows::SparseRows;

/// The constant null vectors of a square matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NullSpace {
    /// The connected components on which the matrix is singular, by their first unknowns.
    pub components: Vec<Component>,
}

/// Connected unknowns whose columns sum to zero in every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Their columns, ascending.
    pub unknowns: Vec<usize>,
    /// The left null vector; `None` if not known.
    pub left: Option<LeftNullVector>,
}

/// A left null vector, zero outside these rows.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftNullVector {
    /// Rows, ascending.
    pub rows: Vec<usize>,
    /// Its values in these rows, the largest magnitude 1.
    pub weights: Vec<f64>,
}

/// A sum is zero if it is at most this many roundings of the sum of magnitudes: entries that cancel
/// exactly differ by a few roundings each, and the sum of a dozen adds some. A weaker term does not
/// make a matrix regular.
const ROUNDINGS: f64 = 32.0;

/// Relative size below which a sum of entries is zero, for entries with this `rounding`: the
/// machine epsilon of the type that they were computed in, 2.2e-16 or 1.2e-7.
pub fn round_off(rounding: f64) -> f64 {
    ROUNDINGS * rounding
}

impl NullSpace {
    /// Finds the connected components of the matrix graph whose rows sum to zero. Stored zeros do
    /// not connect; a zero row is a component of its own. `rounding` is that of the entries
    /// ([`LinearOptions::rounding`]).
    ///
    /// Cost: two passes over the rows where no row sums to zero, a few more otherwise.
    pub fn find(matrix: &impl SparseRows, rounding: f64) -> NullSpace {
        let n = matrix.n_rows();
        let vanishes: Vec<bool> = (0..n).map(|row| sum_vanishes(matrix.row(row).map(|(_, value)| value), rounding)).collect();
        if !vanishes.contains(&true) {
            return NullSpace::default();
        }
        let roots = components(matrix);
        let mut whole = vanishes;
        for row in 0..n {
            if !whole[row] {
                whole[roots[row]] = false;
            }
        }
        // Components in the order of their first rows, which are their roots.
        let mut of_root = vec![usize::MAX; n];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for row in 0..n {
            let root = roots[row];
            if !whole[root] {
                continue;
            }
            if root == row {
                of_root[row] = parts.len();
                parts.push(Vec::new());
            }
            parts[of_root[root]].push(row);
        }
        let ones = |rows: &Vec<usize>| LeftNullVector { rows: rows.clone(), weights: vec![1.0; rows.len()] };
        let mut left = vanishing(matrix, parts.iter().map(|rows| Some(ones(rows))).collect(), round_off(rounding));
        if left.iter().any(Option::is_none) {
            let candidates =
                parts.iter().zip(&left).map(|(rows, left)| if left.is_none() { balance(matrix, rows) } else { None }).collect();
            // Each weight is a chain of quotients; their round-off accumulates.
            let balanced = vanishing(matrix, candidates, round_off(rounding) * 8.0);
            left.iter_mut().zip(balanced).for_each(|(left, balanced)| *left = left.take().or(balanced));
        }
        let components = parts.into_iter().zip(left).map(|(unknowns, left)| Component { unknowns, left }).collect();
        NullSpace { components }
    }

    /// True if the null space is trivial.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// True if each left null vector is known.
    pub fn is_known(&self) -> bool {
        self.components.iter().all(|component| component.left.is_some())
    }

    /// Makes `y` orthogonal to the known left null vectors.
    pub fn project_to_range(&self, y: &mut [f64]) {
        for component in &self.components {
            let Some(left) = &component.left else { continue };
            let (along, square) = left.moments(y);
            let factor = along / square;
            left.rows.iter().zip(&left.weights).for_each(|(&row, w)| y[row] -= factor * w);
        }
    }

    /// Subtracts the mean of `x` on each component.
    pub fn remove_mean(&self, x: &mut [f64]) {
        for component in &self.components {
            let mean = component.unknowns.iter().map(|&unknown| x[unknown]).sum::<f64>() / component.unknowns.len() as f64;
            component.unknowns.iter().for_each(|&unknown| x[unknown] -= mean);
        }
    }

    /// Largest imbalance on a component that a solver may ignore, for a right-hand side of 2-norm
    /// `size`. The maximum of a tenth of the tolerance, 1e-12 of the size (round-off of the sum),
    /// the rounding of its entries, and `negligible`.
    pub fn allowed(size: f64, options: &LinearOptions) -> f64 {
        let least = round_off(options.rounding).max(1e-12);
        (0.1 * options.tolerance).max(least).max(options.negligible) * size
    }

    /// Rounds the rows of `matrix` to sum to zero over each component in double precision, where
    /// they do so in a coarser type: the largest entry of a row in the component takes the
    /// difference, which is below its rounding. Otherwise a constant would count as much as these
    /// roundings, which are beyond the tolerance.
    pub(in crate::linalg) fn restore(&self, matrix: &Csr) -> Csr {
        let mut of_column = vec![None; matrix.n_cols()];
        for (number, component) in self.components.iter().enumerate() {
            component.unknowns.iter().for_each(|&unknown| of_column[unknown] = Some(number));
        }
        let mut values = matrix.values().to_vec();
        let columns = matrix.col_idx();
        // By component: its sum, and the position of its largest entry.
        let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (row, ends) in matrix.row_ptr().windows(2).enumerate() {
            // Prefers the diagonal, since other entries have mirrored entries that stay.
            let size = |at: usize| values[at].abs() * if columns[at] as usize == row { 2.0 } else { 1.0 };
            sums.clear();
            for at in ends[0]..ends[1] {
                let Some(number) = of_column[columns[at] as usize] else { continue };
                let (sum, largest) = sums.entry(number).or_insert((0.0, at));
                *sum += values[at];
                if size(at) > size(*largest) {
                    *largest = at;
                }
            }
            sums.values().for_each(|&(sum, largest)| values[largest] -= sum);
        }
        Csr::with_pattern(Arc::clone(matrix.pattern()), values).unwrap_or_else(|_| matrix.clone())
    }

    /// The note for the user on the null space.
    pub fn note(&self) -> Option<String> {
        let count = self.components.len();
        let parts = if count == 1 { "it" } else { "each" };
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| {
            format!("the matrix is singular up to a constant on {count} connected component{plural} of the unknowns; the mean of {parts} is kept")
        })
    }

    /// `w . b` and `w . w` of each component, one after the other; 0 where `w` is not known.
    pub fn moments(&self, b: &[f64]) -> Vec<f64> {
        let of = |component: &Component| component.left.as_ref().map_or((0.0, 0.0), |left| left.moments(b));
        self.components.iter().map(of).flat_map(|(along, square)| [along, square]).collect()
    }

    /// The imbalance on the component where it is largest relative to `allowed`
    /// ([`Self::allowed`]), if it exceeds that anywhere, from [`Self::moments`]. Every `x` leaves a
    /// residual of at least `|w.b| / |w|` on a component.
    pub fn imbalance(&self, moments: &[f64], allowed: f64) -> Option<Imbalance> {
        let mut worst: Option<Imbalance> = None;
        for (index, &[along, square]) in moments.as_chunks::<2>().0.iter().enumerate() {
            if square == 0.0 {
                continue;
            }
            let residual = along.abs() / square.sqrt();
            if residual > allowed && worst.as_ref().is_none_or(|worst| residual > worst.least_residual) {
                worst = Some(Imbalance { component: index, sum: along, least_residual: residual });
            }
        }
        worst
    }
}

/// The part of a right-hand side outside the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// Index of the component.
    pub component: usize,
    /// `w . b` on it; unit of `b`.
    pub sum: f64,
    /// `|w . b| / |w|`: the residual of the best `x`.
    pub least_residual: f64,
}

impl LeftNullVector {
    /// From values in all rows, divided by the largest; `None` for zero.
    #[cfg(feature = "lu")]
    pub(in crate::linalg) fn from_dense(values: &[f64]) -> Option<LeftNullVector> {
        let largest = values.iter().copied().fold(0.0, |most: f64, w| if w.abs() > most.abs() { w } else { most });
        let rows: Vec<usize> = (0..values.len()).filter(|&row| values[row] != 0.0).collect();
        let weights = rows.iter().map(|&row| values[row] / largest).collect();
        (largest != 0.0).then_some(LeftNullVector { rows, weights })
    }

    /// The row of the largest weight, the first of several, and its magnitude.
    pub(in crate::linalg) fn heaviest_row(&self) -> Option<(usize, f64)> {
        let heavier = |most: (Option<usize>, f64), (&row, w): (&usize, &f64)| if w.abs() > most.1 { (Some(row), w.abs()) } else { most };
        let (row, weight) = self.rows.iter().zip(&self.weights).fold((None, 0.0), heavier);
        row.map(|row| (row, weight))
    }

    /// `w . b` and `w . w`
    fn moments(&self, b: &[f64]) -> (f64, f64) {
        let along = self.rows.iter().zip(&self.weights).map(|(&row, w)| w * b[row]).sum();
        let square = self.weights.iter().map(|w| w * w).sum();
        (along, square)
    }
}

/// True if a sum is zero up to round-off.
pub(in crate::linalg) fn sum_vanishes(values: impl Iterator<Item = f64>, rounding: f64) -> bool {
    let (mut sum, mut size) = (0.0, 0.0);
    for value in values {
        sum += value;
        size += value.abs();
    }
    // The sum of very large numbers may overflow, and infinities compare equal.
    size.is_finite() && f64::abs(sum) <= round_off(rounding) * size
}

/// Smallest row of the component of each row.
fn components(matrix: &impl SparseRows) -> Vec<usize> {
    let mut groups = Groups::new(matrix.n_rows());
    for row in 0..matrix.n_rows() {
        for (column, value) in matrix.row(row) {
            if value != 0.0 && column != row {
                groups.join(row, column);
            }
        }
    }
    (0..matrix.n_rows()).map(|row| groups.root(row)).collect()
}

/// Disjoint sets of numbers (union-find), identified by their smallest members.
pub struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    /// The sets `{0}` to `{n - 1}`.
    pub fn new(n: usize) -> Groups {
        Groups { parent: (0..n).collect() }
    }

    /// Merges the sets of two numbers.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// The smallest number in the set.
    pub fn root(&mut self, mut member: usize) -> usize {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }
}

/// Weights by detailed balance along a breadth-first tree from the component's first row. `None` if
/// the pattern is not symmetric or a weight is not finite.
fn balance(matrix: &impl SparseRows, rows: &[usize]) -> Option<LeftNullVector> {
    let position: BTreeMap<usize, usize> = rows.iter().enumerate().map(|(position, &row)| (row, position)).collect();
    let mut weights = vec![0.0; rows.len()];
    weights[0] = 1.0;
    let mut queue = vec![rows[0]];
    let mut next = 0;
    while let Some(&row) = queue.get(next) {
        next += 1;
        for (column, value) in matrix.row(row).filter(|(_, value)| *value != 0.0) {
            let back = matrix.entry(column, row);
            let at = *position.get(&column)?;
            if back != 0.0 && weights[at] == 0.0 {
                weights[at] = weights[position[&row]] * (value / back);
                queue.push(column);
            }
        }
    }
    let largest = weights.iter().fold(0.0, |most: f64, w| if w.abs() > most.abs() { *w } else { most });
    let usable = weights.iter().all(|w| *w != 0.0 && w.is_finite());
    usable.then(|| LeftNullVector { rows: rows.to_vec(), weights: weights.iter().map(|w| w / largest).collect() })
}

/// The candidates, on disjoint rows, that are left null vectors: the weighted sum of every column
/// is zero.
fn vanishing(matrix: &impl SparseRows, candidates: Vec<Option<LeftNullVector>>, tolerance: f64) -> Vec<Option<LeftNullVector>> {
    let mut sums = vec![0.0; matrix.n_cols()];
    let mut sizes = vec![0.0; matrix.n_cols()];
    for candidate in candidates.iter().flatten() {
        for (&row, w) in candidate.rows.iter().zip(&candidate.weights) {
            for (column, value) in matrix.row(row) {
                sums[column] += w * value;
                sizes[column] += (w * value).abs();
            }
        }
    }
    let vanishes = |column: usize| f64::abs(sums[column]) <= tolerance * sizes[column];
    let is_null =
        |left: &LeftNullVector| left.rows.iter().all(|&row| matrix.row(row).all(|(column, value)| value == 0.0 || vanishes(column)));
    candidates.into_iter().map(|candidate| candidate.filter(is_null)).collect()
}
