//! Matrices that leave the level of the unknown open.
//!
//! Where all boundaries are closed, a pressure is determined up to a constant in each connected part of the grid: the rows of the matrix
//! that belong to the part sum to zero. Such a system has a solution only if the right-hand side is orthogonal to the left null vector `w`
//! of the part, and then the solution with mean zero is taken; for a Newton update this leaves the mean of the unknown as it was.
//!
//! `w` is constant where the columns sum to zero too. A residual that was divided by the volume of its cell has `w` = volumes; in general
//! detailed balance, `w_i a_ij = w_j a_ji`, gives the only candidate, which is then checked. A part for which that fails (upwinded
//! coefficients, say) has a `w` that only a factorisation finds.

use std::collections::BTreeMap;

use super::csr::Csr;
use super::host::norm;

/// The constant null vectors of a square matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NullSpace {
    /// The connected components of the matrix graph whose rows sum to zero, by their first row.
    pub components: Vec<Component>,
}

/// A connected component whose rows sum to zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its rows, ascending.
    pub rows: Vec<usize>,
    /// Left null vector on these rows, largest magnitude 1; `None` if not known.
    pub left: Option<Vec<f64>>,
}

/// A sum of entries vanishes if it is at most this part of the sum of their magnitudes. Entries of a row that cancel exactly on paper
/// differ by a few roundings each (2.2e-16 relative), and adding up a dozen of them costs some more; the weakest term that really fixes a
/// level must be larger.
pub const ROUND_OFF: f64 = 32.0 * f64::EPSILON;

impl NullSpace {
    /// Finds the components. Stored zeros are no connections; a row of zeros is a component of its own.
    ///
    /// Cost: two passes over the rows where no row sums to zero, a few more otherwise.
    pub fn find(matrix: &Csr) -> NullSpace {
        let n = matrix.n_rows();
        let vanishes: Vec<bool> = (0..n).map(|row| sum_vanishes(matrix.row(row).map(|(_, value)| value))).collect();
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
        let mut found: Vec<Component> = Vec::new();
        for row in 0..n {
            let root = roots[row];
            if !whole[root] {
                continue;
            }
            if root == row {
                of_root[row] = found.len();
                found.push(Component { rows: Vec::new(), left: None });
            }
            found[of_root[root]].rows.push(row);
        }
        let ones = |component: &Component| vec![1.0; component.rows.len()];
        let vanish = column_sums_vanish(matrix, &found, ones, ROUND_OFF);
        for (component, vanish) in found.iter_mut().zip(vanish) {
            component.left = vanish.then(|| vec![1.0; component.rows.len()]);
        }
        let open = |component: &Component| component.left.is_none();
        if found.iter().any(open) {
            let candidates: Vec<Option<Vec<f64>>> =
                found.iter().map(|component| if open(component) { balance(matrix, component) } else { None }).collect();
            let mut next = candidates.iter();
            let candidate = |component: &Component| next.next().and_then(Clone::clone).unwrap_or_else(|| vec![0.0; component.rows.len()]);
            // Each weight is a chain of quotients; their roundings add up.
            let vanish = column_sums_vanish(matrix, &found, candidate, ROUND_OFF * 8.0);
            for ((component, candidate), vanish) in found.iter_mut().zip(candidates).zip(vanish) {
                if let (true, Some(weights)) = (vanish, candidate) {
                    component.left = Some(weights);
                }
            }
        }
        NullSpace { components: found }
    }

    /// Whether the level of no unknown is open.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty()
    }

    /// Whether each left null vector is known.
    pub fn is_known(&self) -> bool {
        self.components.iter().all(|component| component.left.is_some())
    }

    /// Makes `y` orthogonal to the left null vectors that are known.
    pub fn project_to_range(&self, y: &mut [f64]) {
        for component in &self.components {
            let Some(left) = &component.left else { continue };
            let (along, square) = component.moments(left, y);
            let factor = along / square;
            component.rows.iter().zip(left).for_each(|(&row, w)| y[row] -= factor * w);
        }
    }

    /// Gives `x` the mean zero on each component.
    pub fn remove_mean(&self, x: &mut [f64]) {
        for component in &self.components {
            let mean = component.rows.iter().map(|&row| x[row]).sum::<f64>() / component.rows.len() as f64;
            component.rows.iter().for_each(|&row| x[row] -= mean);
        }
    }

    /// The imbalance of a right-hand side on the component where it is largest beside what the tolerance allows, if it is too large
    /// anywhere.
    ///
    /// No `x` has a smaller residual on a component than `|w.b| / |w|`. This must be at most a tenth of `tolerance |b|`, so that it uses up
    /// little of what the solver is allowed, or 1e-12 `|b|`, which is what summing a right-hand side in double precision may leave.
    pub fn imbalance(&self, b: &[f64], tolerance: f64) -> Option<Imbalance> {
        let size = norm(b);
        let allowed = (0.1 * tolerance).max(1e-12) * size;
        let mut worst: Option<Imbalance> = None;
        for (index, component) in self.components.iter().enumerate() {
            let Some(left) = &component.left else { continue };
            let (along, square) = component.moments(left, b);
            let residual = along.abs() / square.sqrt();
            if residual > allowed && worst.as_ref().is_none_or(|worst| residual > worst.least_residual) {
                worst = Some(Imbalance { component: index, sum: along, least_residual: residual });
            }
        }
        worst
    }
}

/// By how much a right-hand side is outside the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// Index of the component.
    pub component: usize,
    /// `w . b` on it; unit of `b`.
    pub sum: f64,
    /// `|w . b| / |w|`: the residual of the best `x`.
    pub least_residual: f64,
}

impl Component {
    /// `w . b` and `w . w`
    fn moments(&self, left: &[f64], b: &[f64]) -> (f64, f64) {
        let along = self.rows.iter().zip(left).map(|(&row, w)| w * b[row]).sum();
        let square = left.iter().map(|w| w * w).sum();
        (along, square)
    }
}

fn sum_vanishes(values: impl Iterator<Item = f64>) -> bool {
    let (mut sum, mut size) = (0.0, 0.0);
    for value in values {
        sum += value;
        size += value.abs();
    }
    // The sum of very large numbers may overflow, and infinities compare equal.
    size.is_finite() && f64::abs(sum) <= ROUND_OFF * size
}

/// Smallest row of the component of each row.
fn components(matrix: &Csr) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..matrix.n_rows()).collect();
    fn root(parent: &mut [usize], mut row: usize) -> usize {
        while parent[row] != row {
            parent[row] = parent[parent[row]];
            row = parent[row];
        }
        row
    }
    for row in 0..matrix.n_rows() {
        for (column, value) in matrix.row(row) {
            if value != 0.0 && column != row {
                let (a, b) = (root(&mut parent, row), root(&mut parent, column));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    (0..matrix.n_rows()).map(|row| root(&mut parent, row)).collect()
}

/// Weights by detailed balance along a breadth-first tree from the component's first row, the largest magnitude 1. `None` where the pattern
/// is not symmetric or a weight is not finite.
fn balance(matrix: &Csr, component: &Component) -> Option<Vec<f64>> {
    let position: BTreeMap<usize, usize> = component.rows.iter().enumerate().map(|(position, &row)| (row, position)).collect();
    let mut weights = vec![0.0; component.rows.len()];
    weights[0] = 1.0;
    let mut queue = vec![component.rows[0]];
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
    usable.then(|| weights.iter().map(|w| w / largest).collect())
}

/// Which components have vanishing column sums once each row is multiplied by its weight.
fn column_sums_vanish(matrix: &Csr, found: &[Component], mut weights: impl FnMut(&Component) -> Vec<f64>, tolerance: f64) -> Vec<bool> {
    let mut sums = vec![0.0; matrix.n_cols()];
    let mut sizes = vec![0.0; matrix.n_cols()];
    for component in found {
        for (&row, w) in component.rows.iter().zip(weights(component)) {
            for (column, value) in matrix.row(row) {
                sums[column] += w * value;
                sizes[column] += (w * value).abs();
            }
        }
    }
    let vanishes = |&column: &usize| f64::abs(sums[column]) <= tolerance * sizes[column];
    found.iter().map(|component| component.rows.iter().all(vanishes)).collect()
}
