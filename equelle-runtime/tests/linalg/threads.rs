//! Threads change no bit of a solution.

use equelle_runtime::linalg::{Csr, LinearOptions, Method, Preconditioning};
use equelle_runtime::threads::{CHEAP_WORTH_SHARING, Threads};

use crate::common::{Random, options, solved, triplets};
use crate::grids::Cells;

/// Rows of -1, 2.5 + something, -1 and a far neighbour: diagonally dominant, symmetric; large
/// enough for every loop to be shared.
fn system() -> (Csr, Vec<f64>) {
    let n = CHEAP_WORTH_SHARING + 1234;
    let mut random = Random(7);
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 4.5 + random.number()));
        for j in [i + 1, i + 200] {
            if j < n {
                let value = -random.number().abs();
                entries.extend([(i, j, value), (j, i, value)]);
            }
        }
    }
    (triplets(n, &entries), random.numbers(n))
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (matrix, rhs) = system();
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        let costly: &[Preconditioning] =
            if method == Method::Cg { &[Preconditioning::Amg, Preconditioning::Fsai, Preconditioning::Ilu0] } else { &[] };
        for &preconditioner in [Preconditioning::None, Preconditioning::Jacobi].iter().chain(costly) {
            let solve = |threads: usize| {
                let options = LinearOptions { preconditioner: Some(preconditioner), threads: Threads::new(threads), ..options(method) };
                let solution = solved(&matrix, &rhs, &options);
                (solution.iterations, solution.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            let one = solve(1);
            assert!(one.0 > 1, "{method:?}: {} iterations", one.0);
            for threads in [2, 3, 4] {
                assert!(solve(threads) == one, "{method:?} {preconditioner:?} on {threads} threads");
            }
        }
    }
}

#[test]
fn all_levels_of_multigrid_give_the_same_bits() {
    let matrix = Cells([64, 48, 40]).poisson();
    let rhs = Random(3).numbers(matrix.n_rows());
    let solve = |threads: usize| {
        let threads = Threads::new(threads);
        let options = LinearOptions { preconditioner: Some(Preconditioning::Amg), threads, ..options(Method::Cg) };
        solved(&matrix, &rhs, &options).x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert!(solve(3) == solve(1));
}
