//! Systems to solve, and an independent check of what comes back.

use equelle_runtime::linalg::{Csr, LinearCache, LinearError, LinearOptions, Method, Preconditioning, Solution, solve};

/// A fixed sequence of pseudo-random numbers (Knuth's MMIX multiplier).
pub struct Random(pub u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 11
    }

    /// In [-1, 1).
    pub fn number(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 20) as usize % n
    }

    pub fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

pub fn triplets(n: usize, entries: &[(usize, usize, f64)]) -> Csr {
    Csr::from_triplets(n, n, entries).expect("legal entries")
}

pub fn dense<const N: usize>(rows: [[f64; N]; N]) -> Csr {
    let entries: Vec<_> = (0..N).flat_map(|i| (0..N).map(move |j| (i, j))).map(|(i, j)| (i, j, rows[i][j])).collect();
    triplets(N, &entries.into_iter().filter(|entry| entry.2 != 0.0).collect::<Vec<_>>())
}

/// With Jacobi, where the method takes a preconditioner.
pub fn options(method: Method) -> LinearOptions {
    let preconditioner = if method == Method::Lu { Preconditioning::None } else { Preconditioning::Jacobi };
    LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..LinearOptions::default() }
}

pub fn plain(method: Method) -> LinearOptions {
    LinearOptions { preconditioner: Some(Preconditioning::None), ..options(method) }
}

/// `|b - A x| / |b|` summed naively, apart from the code under test.
pub fn relative_residual(matrix: &Csr, b: &[f64], x: &[f64]) -> f64 {
    let (mut r2, mut b2) = (0.0, 0.0);
    for (row, b) in b.iter().enumerate() {
        let ax: f64 = matrix.row(row).map(|(column, value)| value * x[column]).sum();
        r2 += (b - ax) * (b - ax);
        b2 += b * b;
    }
    f64::sqrt(r2 / b2)
}

/// Solves with an empty cache; whatever is marked solved is checked.
pub fn attempt(matrix: &Csr, b: &[f64], options: &LinearOptions) -> Result<Solution, LinearError> {
    let result = solve(matrix, b, options, &mut LinearCache::default());
    if let Ok(solution) = &result {
        let residual = relative_residual(matrix, b, &solution.x);
        // The two sums differ by round-off, far below any tolerance used here.
        assert!(residual <= options.tolerance * (1.0 + 1e-6), "marked solved with residual {residual:e}: {solution:?}");
    }
    result
}

pub fn solved(matrix: &Csr, b: &[f64], options: &LinearOptions) -> Solution {
    match attempt(matrix, b, options) {
        Ok(solution) => solution,
        Err(error) => panic!("{error}"),
    }
}

pub fn refused(matrix: &Csr, b: &[f64], options: &LinearOptions) -> LinearError {
    match attempt(matrix, b, options) {
        Ok(solution) => panic!("solved: {solution:?}"),
        Err(error) => error,
    }
}

/// Largest difference.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

/// The sum of the fluxes out of each cell of an nx by ny grid with these coefficients per face and
/// closed boundaries: pure Neumann.
pub fn neumann(nx: usize, ny: usize, mut coefficient: impl FnMut() -> f64) -> Csr {
    let mut entries = Vec::new();
    let mut face = |a: usize, b: usize| {
        let t = coefficient();
        entries.extend([(a, a, t), (a, b, -t), (b, b, t), (b, a, -t)]);
    };
    for j in 0..ny {
        for i in 0..nx {
            let cell = j * nx + i;
            if i + 1 < nx {
                face(cell, cell + 1);
            }
            if j + 1 < ny {
                face(cell, cell + nx);
            }
        }
    }
    triplets(nx * ny, &entries)
}
