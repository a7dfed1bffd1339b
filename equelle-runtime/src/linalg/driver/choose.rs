//! Choice of method and preconditioner for `solver=auto` and `preconditioner=auto`: properties of a
//! matrix, and the methods to try, best first.

use super::options::{LinearOptions, MAX_LU_UNKNOWNS, Method, Preconditioning, refusal};
use crate::linalg::matrix::csr::Symmetry;
use crate::linalg::matrix::rim::Rim;
use crate::linalg::matrix::scaling::{are_uneven, power_of_two_near};
use crate::linalg::matrix::sparse_rows::SparseRows;
use crate::memory::SMALL;

/// Largest difference between mirrored entries of a symmetric matrix, relative to the largest entry
/// of their rows: round-off passes, upwinding does not.
pub const SYMMETRY: f64 = 1e-10;

// Costs in iterations with Jacobi, measured on one core (docs/benchmarks/linear-solvers.md). No
// times of the run itself, so that it can be repeated.

/// Cost of an iteration with multigrid: 3.7 to 4.6.
const MULTIGRID_COST: f64 = 3.8;
/// Cost of a multigrid set-up: 100 to 150.
const SET_UP_COST: f64 = 150.0;
/// Number of solves that share a set-up where the number of time steps is not known.
const SHARED_BY: f64 = 4.0;
/// Least and greatest number of solves that count: Newton's method has some in any step, and a
/// matrix that changes needs another set-up.
const SHARED_BETWEEN: [f64; 2] = [2.0, 10.0];
/// Decrease of the logarithm of the residual by an iteration with multigrid: ten iterations for
/// 1e-8.
const MULTIGRID_RATE: f64 = 1.84;

/// Rows are diagonally dominant where the diagonal is this many times the sum of the other
/// magnitudes.
const DOMINANT: f64 = 1.05;

/// The signs of a diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagonal {
    /// All positive.
    Positive,
    /// All negative.
    Negative,
    /// Both signs, or a zero.
    Mixed,
}

/// Properties of a matrix that decide which solvers suit it.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixProperties {
    /// Unknowns.
    pub unknowns: usize,
    /// Number of fields on the same elements, 1 if they differ in size.
    pub fields: usize,
    /// True if the matrix equals its transpose up to round-off; else where it does not.
    pub symmetry: Symmetry,
    /// Signs of the diagonal, without rows of zeros.
    pub diagonal: Diagonal,
    /// Least `|a_ii|` over the sum of the other magnitudes of its row; infinite for a diagonal
    /// matrix.
    pub dominance: f64,
    /// Largest magnitude of an entry, in the unit of the matrix; 0 if all are zero.
    pub size: f64,
    /// Least of the largest magnitudes of rows, without rows of zeros; infinite if there are none.
    pub least_row: f64,
    /// True if the matrix is singular and its left null space, and so its range, is unknown.
    pub is_range_unknown: bool,
}

impl MatrixProperties {
    /// Computes the properties of a square matrix row by row, then its symmetry.
    pub fn new(matrix: &impl SparseRows, ends: &[usize], is_range_unknown: bool) -> MatrixProperties {
        MatrixProperties::with_rim(matrix, &Rim::default(), ends, is_range_unknown)
    }

    /// The same where rows have entries in further columns, which count in all but the symmetry.
    pub(in crate::linalg) fn with_rim(matrix: &impl SparseRows, rim: &Rim, ends: &[usize], is_range_unknown: bool) -> MatrixProperties {
        let (mut dominance, mut size, mut least_row) = (f64::INFINITY, 0.0f64, f64::INFINITY);
        let (mut positive, mut negative) = (true, true);
        for row in 0..matrix.n_rows() {
            let (mut diagonal, mut others, mut largest) = (0.0f64, 0.0f64, 0.0f64);
            for (column, value) in matrix.row(row) {
                if column == row {
                    diagonal = value
                } else {
                    others += value.abs()
                }
                largest = largest.max(value.abs());
            }
            for (_, value) in rim.row(row) {
                others += value.abs();
                largest = largest.max(value.abs());
            }
            size = size.max(largest);
            if diagonal == 0.0 && others == 0.0 {
                continue;
            }
            least_row = least_row.min(largest);
            positive &= diagonal > 0.0;
            negative &= diagonal < 0.0;
            if others > 0.0 {
                dominance = dominance.min(diagonal.abs() / others);
            }
        }
        let diagonal = match (positive, negative) {
            (true, _) => Diagonal::Positive,
            (false, true) => Diagonal::Negative,
            (false, false) => Diagonal::Mixed,
        };
        let symmetry = matrix.symmetry(SYMMETRY);
        MatrixProperties {
            unknowns: matrix.n_rows(),
            fields: fields(ends),
            symmetry,
            diagonal,
            dominance,
            size,
            least_row,
            is_range_unknown,
        }
    }

    /// True if rows differ so much in size that residuals are judged, and most methods run, with
    /// scaled rows.
    pub fn has_uneven_rows(&self) -> bool {
        are_uneven(self.least_row, self.size)
    }

    /// Factor for the matrix before a preconditioner is set up: a power of two with a sign, so that
    /// thresholds and roots in the set-up do not depend on the unit of the equations. It changes no
    /// iterate. Multigrid scales by itself and is spared the copy.
    pub(in crate::linalg) fn factor(&self, preconditioner: Preconditioning, sign: f64) -> f64 {
        match preconditioner {
            Preconditioning::None | Preconditioning::Amg | Preconditioning::Cpr => sign,
            Preconditioning::Jacobi
            | Preconditioning::BlockJacobi
            | Preconditioning::Ilu0
            | Preconditioning::BlockIlu0
            | Preconditioning::Fsai => sign / power_of_two_near(&[self.size]).unwrap_or(1.0),
        }
    }

    /// True if CG may be tried.
    pub fn may_be_definite(&self) -> bool {
        self.symmetry == Symmetry::Symmetric && self.diagonal != Diagonal::Mixed
    }

    /// Products with the matrix until Jacobi has reduced the residual by `tolerance`. An upper
    /// bound from diagonal dominance, infinite where there is none: the eigenvalues of `D^-1 A` are
    /// within `1 / dominance` of 1 (Gershgorin). CG converges like the Chebyshev polynomials of
    /// that interval; without symmetry, like powers of `I - D^-1 A`, two for an iteration of
    /// BiCGStab.
    pub fn jacobi_products(&self, tolerance: f64) -> f64 {
        let d = self.dominance;
        if d.is_nan() || d <= 1.0 {
            return f64::INFINITY;
        }
        if d.is_infinite() {
            return 1.0;
        }
        if self.may_be_definite() {
            let condition = (d + 1.0) / (d - 1.0);
            (2.0 * condition.sqrt() / tolerance).ln() / (d + (d * d - 1.0).sqrt()).ln()
        } else {
            -tolerance.ln() / d.ln()
        }
    }

    /// True if Jacobi is predicted to cost less than multigrid.
    pub fn prefers_jacobi(&self, options: &LinearOptions) -> bool {
        let [least, most] = SHARED_BETWEEN;
        let shared_by = options.solves.map_or(SHARED_BY, |solves| (solves as f64).clamp(least, most));
        let multigrid = SET_UP_COST / shared_by - options.tolerance.ln() / MULTIGRID_RATE * MULTIGRID_COST;
        self.jacobi_products(options.tolerance) < multigrid
    }

    /// The properties as text for users.
    pub fn describe(&self) -> String {
        let symmetry = if self.symmetry == Symmetry::Symmetric { "symmetric" } else { "not symmetric" };
        let diagonal = match self.diagonal {
            Diagonal::Positive => "positive diagonal",
            Diagonal::Negative => "negative diagonal",
            Diagonal::Mixed => "diagonal with zeros or both signs",
        };
        let dominant = match self.dominance {
            f64::INFINITY => ", diagonal".to_owned(),
            dominance if dominance > DOMINANT => format!(", dominant by {dominance:.1}"),
            _ => String::new(),
        };
        let fields = if self.fields > 1 { format!(", {} unknowns an element", self.fields) } else { String::new() };
        format!("{} unknowns{fields}, {symmetry}, {diagonal}{dominant}", self.unknowns)
    }
}

/// Number of fields if all have one size; else 1.
pub fn fields(ends: &[usize]) -> usize {
    let first = ends.first().copied().unwrap_or(0);
    let is_even = first > 0 && ends.windows(2).all(|pair| pair[1] - pair[0] == first);
    if is_even { ends.len() } else { 1 }
}

/// A method to try, with its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// The method.
    pub method: Method,
    /// Its preconditioner.
    pub preconditioner: Preconditioning,
    /// Iterations after which the next attempt begins; the user's limit bounds the sum of all.
    pub max_iterations: usize,
    /// Iterations without a new least residual after which the next attempt begins.
    pub patience: usize,
}

/// Iterations and patience of an attempt that others may follow.
const FIRST_TRY: (usize, usize) = (500, 60);
/// Iterations and patience for methods that converge slowly as a rule.
const SLOW_TRY: (usize, usize) = (1000, 300);

/// The attempts in order. They keep what the user has chosen; one attempt if nothing is left to
/// choose.
pub fn plan(properties: &MatrixProperties, options: &LinearOptions) -> Vec<Attempt> {
    let full = (options.max_iterations, 2 * properties.unknowns + 100);
    let attempt = |method, preconditioner, limit: (usize, usize)| Attempt {
        method,
        preconditioner,
        max_iterations: limit.0.min(options.max_iterations),
        patience: limit.1,
    };
    let mut attempts = match (options.method, options.preconditioner) {
        (Some(Method::Lu), preconditioner) => vec![attempt(Method::Lu, preconditioner.unwrap_or(Preconditioning::None), full)],
        (Some(method), Some(preconditioner)) => vec![attempt(method, preconditioner, full)],
        (Some(method), None) => preconditioners(properties, options)
            .iter()
            .filter(|(p, _)| refusal(method, *p).is_none())
            .map(|(p, limit)| attempt(method, *p, *limit))
            .collect(),
        (None, Some(preconditioner)) => {
            let definite = properties.may_be_definite() && refusal(Method::Cg, preconditioner).is_none();
            let first = if definite { Method::Cg } else { Method::BiCgStab };
            vec![attempt(first, preconditioner, SLOW_TRY), attempt(Method::Gmres, preconditioner, full)]
        }
        (None, None) => {
            all(properties, options).into_iter().map(|(method, preconditioner, limit)| attempt(method, preconditioner, limit)).collect()
        }
    };
    if let Some(last) = attempts.last_mut() {
        (last.max_iterations, last.patience) = full;
    }
    attempts
}

type Limit = (usize, usize);

/// Preconditioners for a matrix with these properties, best first.
fn preconditioners(properties: &MatrixProperties, options: &LinearOptions) -> Vec<(Preconditioning, Limit)> {
    use Preconditioning::{Amg, BlockIlu0, Cpr, Ilu0, Jacobi};
    let mut list = Vec::new();
    if properties.prefers_jacobi(options) {
        list.push((Jacobi, FIRST_TRY));
    }
    if properties.diagonal != Diagonal::Mixed && properties.fields == 1 {
        list.push((Amg, FIRST_TRY));
    }
    if properties.fields > 1 {
        if properties.symmetry == Symmetry::Symmetric && properties.diagonal != Diagonal::Mixed {
            list.push((Amg, FIRST_TRY));
        }
        list.push((Cpr, FIRST_TRY));
        list.push((BlockIlu0, SLOW_TRY));
    } else {
        list.push((Ilu0, SLOW_TRY));
    }
    list.push((Jacobi, SLOW_TRY));
    list
}

fn all(properties: &MatrixProperties, options: &LinearOptions) -> Vec<(Method, Preconditioning, Limit)> {
    let lu = (Method::Lu, Preconditioning::None, FIRST_TRY);
    let has_lu = cfg!(feature = "lu");
    // Only LU determines which right-hand sides are in the range.
    if has_lu && (properties.unknowns <= SMALL || (properties.is_range_unknown && properties.unknowns <= MAX_LU_UNKNOWNS)) {
        return vec![lu];
    }
    let definite = properties.may_be_definite();
    let mut list = Vec::new();
    for (number, (preconditioner, limit)) in preconditioners(properties, options).into_iter().enumerate() {
        if definite && refusal(Method::Cg, preconditioner).is_none() {
            list.push((Method::Cg, preconditioner, limit));
        } else {
            // An iteration of BiCGStab is cheaper; where it fails, GMRES seldom breaks down.
            let method = if number == 0 && properties.fields == 1 { Method::BiCgStab } else { Method::Gmres };
            list.push((method, preconditioner, limit));
        }
    }
    if has_lu && properties.unknowns <= MAX_LU_UNKNOWNS {
        // Slow iterations are skipped where a direct solver can take over.
        list.retain(|(_, preconditioner, _)| *preconditioner != Preconditioning::Jacobi || properties.prefers_jacobi(options));
        list.push(lu);
        // Large values may round too much for LU; more iterations may still reach the tolerance.
        list.extend(list.first().copied().filter(|(method, ..)| *method != Method::Lu));
    }
    list
}
