//! The unit of the equations: a system times a power of two has the same solution to the bit, after
//! the same iterations.

use equelle_runtime::linalg::precond::amg::{AmgCycle, AmgOptions, AmgSmoother};
use equelle_runtime::linalg::{Csr, LinearCache, LinearOptions, Method, Preconditioning, refusal, solve_blocks};

use crate::common::{Random, neumann, triplets};
use crate::grids::Cells;

/// Odd powers too: the root of 2 is no power of two.
const POWERS: [i32; 6] = [-40, -39, -1, 1, 7, 40];

/// Asserts that a system is solved, or refused, in the same way in every unit.
fn assert_same(name: &str, matrix: &Csr, ends: &[usize], b: &[f64], options: &LinearOptions) {
    let run = |factor: f64| {
        let b: Vec<f64> = b.iter().map(|b| b * factor).collect();
        // The second solve takes what the first has kept.
        let mut cache = LinearCache::default();
        [(); 2].map(|()| match solve_blocks(&matrix.scaled(factor), ends, &b, options, &mut cache) {
            Ok(solution) => Ok((solution.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), solution.iterations)),
            Err(error) => Err((error.method, error.preconditioner, error.iterations, error.relative_residual.to_bits())),
        })
    };
    let expected = run(1.0);
    for power in POWERS {
        assert!(run(2.0_f64.powi(power)) == expected, "{name}: 2^{power}, {:?} {:?}", options.method, options.preconditioner);
    }
}

#[test]
fn every_solver_with_every_preconditioner() {
    let cells = Cells([12, 10, 9]);
    let n = cells.count();
    let small = Cells([5, 4, 3]);
    let m = small.count();
    let open = neumann(12, 11, {
        let mut random = Random(4);
        move || 1.5 + random.number()
    });
    // Zeros on the diagonal, which incomplete factors, block inverses and sweeps replace by
    // something.
    let no_diagonal: Vec<(usize, usize, f64)> =
        (0..40).flat_map(|i| [(i, i, if i % 5 == 0 { 0.0 } else { 3.0 }), (i, (i + 1) % 40, 1.0), ((i + 1) % 40, i, -1.5)]).collect();
    let systems = [
        ("poisson", cells.poisson(), vec![n]),
        ("negative", small.poisson().scaled(-3.0), vec![m]),
        ("transport", cells.transport([3.0, -2.0, 1.0]), vec![n]),
        ("two phases", small.two_phase(&vec![1.0; m], 1e-2, 9), vec![m, 2 * m]),
        ("open", open, vec![132]),
        ("zeros", triplets(40, &no_diagonal), vec![40]),
    ];
    for (name, matrix, ends) in &systems {
        let b = matrix.mul(&Random(2).numbers(matrix.n_rows()));
        for method in Method::ALL {
            for preconditioner in Preconditioning::ALL {
                if refusal(method, preconditioner).is_none() {
                    let options = LinearOptions {
                        method: Some(method),
                        preconditioner: Some(preconditioner),
                        max_iterations: 300,
                        ..LinearOptions::default()
                    };
                    assert_same(name, matrix, ends, &b, &options);
                }
            }
        }
        for smoother in AmgSmoother::ALL {
            let amg = AmgOptions { smoother: Some(smoother), cycle: AmgCycle::K, ..AmgOptions::default() };
            let options =
                LinearOptions { method: Some(Method::Gmres), preconditioner: Some(Preconditioning::Amg), amg, ..LinearOptions::default() };
            assert_same(name, matrix, ends, &b, &options);
        }
        assert_same(name, matrix, ends, &b, &LinearOptions::default());
    }
}
