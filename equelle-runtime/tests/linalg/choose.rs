//! Methods chosen by default, the attempts after a failure, and the state kept between solves.

use equelle_runtime::linalg::driver::choose::{Diagonal, MatrixProperties, plan};
use equelle_runtime::linalg::{Csr, LinearCache, LinearErrorKind, LinearOptions, Method, Preconditioning, Symmetry, solve};

use crate::common::{Random, dense, distance, relative_residual, triplets};
use crate::grids::Cells;

fn properties(matrix: &Csr) -> MatrixProperties {
    MatrixProperties::new(matrix, &[matrix.n_rows()], false)
}

fn pairs(properties: &MatrixProperties, options: &LinearOptions) -> Vec<(Method, Preconditioning)> {
    plan(properties, options).iter().map(|attempt| (attempt.method, attempt.preconditioner)).collect()
}

#[test]
fn facts_by_hand() {
    let found = MatrixProperties::new(&dense([[4.0, -1.0], [-2.0, 3.0]]), &[1, 2], false);
    assert_eq!((found.unknowns, found.fields, found.diagonal, found.dominance), (2, 2, Diagonal::Positive, 1.5));
    assert!(matches!(found.symmetry, Symmetry::Numerical { .. }));
    assert!(!found.may_be_definite());
    assert_eq!(found.describe(), "2 unknowns, 2 unknowns an element, not symmetric, positive diagonal, dominant by 1.5");
    let found = properties(&dense([[-4.0, 1.0, 0.0], [1.0, -3.0, 0.0], [0.0, 0.0, 0.0]]));
    assert_eq!((found.diagonal, found.dominance, found.may_be_definite()), (Diagonal::Negative, 3.0, true));
    assert_eq!(properties(&dense([[1.0, 0.0], [0.0, -1.0]])).diagonal, Diagonal::Mixed);
    assert_eq!(properties(&dense([[0.0, 1.0], [1.0, 1.0]])).diagonal, Diagonal::Mixed);
    assert_eq!(
        MatrixProperties::new(&dense([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), &[2, 3], false).fields,
        1,
        "of two sizes"
    );
}

#[test]
fn plans() {
    use Method::{BiCgStab, Cg, Gmres, Lu};
    use Preconditioning::{Amg, Cpr, Fsai, Ilu0, Jacobi, None as Plain};
    let auto = LinearOptions::default();
    let asked = |method, preconditioner| LinearOptions { method, preconditioner, ..LinearOptions::default() };
    let poisson = properties(&Cells::cube(12).poisson());
    assert_eq!(pairs(&poisson, &auto), [(Cg, Amg), (Cg, Ilu0), (Lu, Plain), (Cg, Amg)], "in the end the first one, with all iterations");
    assert_eq!(pairs(&properties(&Cells::cube(10).poisson()), &auto), [(Lu, Plain)], "small");
    // No direct solver for millions.
    assert_eq!(pairs(&MatrixProperties { unknowns: 1_000_000, ..poisson.clone() }, &auto), [(Cg, Amg), (Cg, Ilu0), (Cg, Jacobi)]);
    let transport = properties(&Cells::cube(12).transport([1.0, 0.0, 0.0]));
    assert_eq!(pairs(&transport, &auto), [(BiCgStab, Amg), (Gmres, Ilu0), (Lu, Plain), (BiCgStab, Amg)]);
    // A short time step: the diagonal does it all.
    let heat = properties(&Cells::cube(12).diffusion(|_, _, _| 0.01, [0.0, 0.0, 0.0]));
    let step = MatrixProperties { dominance: 16.0, ..heat };
    assert_eq!(pairs(&step, &auto)[0], (Cg, Jacobi));
    assert!(step.describe().ends_with("positive diagonal, dominant by 16.0"), "{}", step.describe());
    assert_eq!(pairs(&MatrixProperties { fields: 2, ..step.clone() }, &asked(Some(BiCgStab), None))[0], (BiCgStab, Jacobi));
    assert_eq!(pairs(&MatrixProperties { dominance: 1.01, ..step }, &asked(Some(BiCgStab), None))[0], (BiCgStab, Amg));
    let indefinite = MatrixProperties { diagonal: Diagonal::Mixed, ..poisson.clone() };
    assert_eq!(pairs(&indefinite, &auto), [(BiCgStab, Ilu0), (Lu, Plain), (BiCgStab, Ilu0)]);
    let system = MatrixProperties { fields: 2, ..transport.clone() };
    assert_eq!(pairs(&system, &auto)[0], (Gmres, Cpr));
    // Which right-hand sides fit only a factorisation tells.
    assert_eq!(pairs(&MatrixProperties { is_range_unknown: true, ..poisson.clone() }, &auto), [(Lu, Plain)]);
    // A choice of the user stays.
    assert_eq!(pairs(&poisson, &asked(Some(Gmres), Some(Fsai))), [(Gmres, Fsai)]);
    assert_eq!(pairs(&poisson, &asked(Some(Lu), None)), [(Lu, Plain)]);
    assert_eq!(pairs(&poisson, &asked(None, Some(Fsai))), [(Cg, Fsai), (Gmres, Fsai)]);
    assert_eq!(pairs(&transport, &asked(None, Some(Fsai))), [(BiCgStab, Fsai), (Gmres, Fsai)]);
    assert!(pairs(&system, &asked(Some(Cg), None)).iter().all(|(method, preconditioner)| *method == Cg && *preconditioner != Cpr));
    // The last one has all iterations.
    let last = plan(&poisson, &asked(Some(Cg), None)).pop().expect("something");
    assert_eq!((last.preconditioner, last.max_iterations), (Jacobi, 5000));
}

/// More on the diagonal.
fn shifted(matrix: &Csr, by: f64) -> Csr {
    let places = |row: usize| matrix.row_ptr()[row]..matrix.row_ptr()[row + 1];
    let mut values = matrix.values().to_vec();
    for row in 0..matrix.n_rows() {
        places(row).filter(|at| matrix.col_idx()[*at] as usize == row).for_each(|at| values[at] += by);
    }
    Csr::with_pattern(matrix.pattern().clone(), values).unwrap()
}

/// Backward Euler for heat on a cube, `a` = k dt / dx^2: the diagonal is `1 + 6 a` and the rest of
/// a row `6 a`.
#[test]
fn jacobi_while_it_is_cheaper() {
    let cells = Cells::cube(20);
    let mut choices = Vec::new();
    for a in [0.15, 1.0, 2.0, 10.0, 1000.0] {
        let matrix = cells.diffusion(move |_, _, _| a, [1.0; 3]);
        let n = matrix.n_rows();
        let matrix = shifted(&matrix, 1.0);
        let properties = properties(&matrix);
        assert!((properties.dominance - (1.0 + 6.0 * a) / (6.0 * a)).abs() < 1e-12 * properties.dominance, "{}", properties.dominance);
        let b = Random(5).numbers(n);
        let jacobi = LinearOptions { preconditioner: Some(Preconditioning::Jacobi), ..LinearOptions::default() };
        let made = solve(&matrix, &b, &jacobi, &mut LinearCache::default()).unwrap();
        // The prediction is a bound, of which much is not left out where the eigenvalues fill their
        // interval.
        assert!(
            made.iterations as f64 <= properties.jacobi_products(1e-8).ceil(),
            "{a}: {} {}",
            made.iterations,
            properties.jacobi_products(1e-8)
        );
        if a <= 10.0 {
            assert!(
                made.iterations as f64 >= 0.5 * properties.jacobi_products(1e-8),
                "{a}: {} {}",
                made.iterations,
                properties.jacobi_products(1e-8)
            );
        }
        choices.push(plan(&properties, &LinearOptions::default())[0].preconditioner);
    }
    use Preconditioning::{Amg, Jacobi};
    assert_eq!(choices, [Jacobi, Jacobi, Jacobi, Amg, Amg]);
}

/// Multigrid pays where its set-up is for many steps: `a` = 3 takes about 63 iterations.
#[test]
fn jacobi_where_few_steps_would_share_a_set_up() {
    let properties = properties(&shifted(&Cells::cube(12).diffusion(|_, _, _| 3.0, [1.0; 3]), 1.0));
    let chosen = |solves| plan(&properties, &LinearOptions { solves, ..LinearOptions::default() })[0].preconditioner;
    use Preconditioning::{Amg, Jacobi};
    assert_eq!([None, Some(1), Some(4), Some(10), Some(1000)].map(chosen), [Jacobi, Jacobi, Jacobi, Amg, Amg]);
}

/// A choice follows the matrix: what did it for a short step is not tried first for a long one.
#[test]
fn what_did_it_before_does_not_stay() {
    let long = Cells::cube(12).diffusion(|_, _, _| 1.0, [1.0; 3]);
    let short = shifted(&long, 6.0);
    let b = Random(3).numbers(short.n_rows());
    let mut cache = LinearCache::default();
    let mut with = |matrix: &Csr| solve(matrix, &b, &LinearOptions::default(), &mut cache).unwrap().preconditioner;
    assert_eq!([&short, &long, &short].map(&mut with), [Preconditioning::Jacobi, Preconditioning::Amg, Preconditioning::Jacobi]);
}

#[test]
fn it_says_what_it_chose_once() {
    let matrix = Cells::cube(12).poisson();
    let b = Random(3).numbers(matrix.n_rows());
    let mut cache = LinearCache::default();
    let first = solve(&matrix, &b, &LinearOptions::default(), &mut cache).unwrap();
    assert_eq!(first.note.as_deref(), Some("chose CG with AMG (1728 unknowns, symmetric, positive diagonal)"));
    assert_eq!(solve(&matrix, &b, &LinearOptions::default(), &mut cache).unwrap().note, None);
}

/// Symmetric with a positive diagonal, yet indefinite: neighbours weigh more than the diagonal.
fn in_disguise(n: usize) -> Csr {
    let chain = (0..n - 1).flat_map(|i| [(i, i + 1, 2.0), (i + 1, i, 2.0)]);
    triplets(n, &chain.chain((0..n).map(|i| (i, i, 1.0 + 0.3 * (i % 5) as f64))).collect::<Vec<_>>())
}

#[test]
fn what_fails_is_followed_by_another() {
    let n = 2000;
    let matrix = in_disguise(n);
    let b = matrix.mul(&Random(3).numbers(n));
    let mut cache = LinearCache::default();
    let first = solve(&matrix, &b, &LinearOptions::default(), &mut cache).unwrap_or_else(|error| panic!("{error}"));
    assert!(relative_residual(&matrix, &b, &first.x) <= 1e-8);
    assert_ne!(first.preconditioner, Preconditioning::Amg);
    let note = first.note.expect("a note");
    assert!(note.contains("before that CG with AMG broke down"), "{note}");
    // The next time what helped comes first: fewer iterations in all, and the same answer.
    let second = solve(&matrix, &b, &LinearOptions::default(), &mut cache).unwrap();
    assert_eq!((second.method, second.preconditioner), (first.method, first.preconditioner));
    assert!(second.iterations < first.iterations || first.iterations == 0, "{} {}", second.iterations, first.iterations);
    assert_eq!(second.x, first.x);
}

#[test]
fn the_report_when_nothing_helps() {
    // Larger than what LU is tried for, so that iterative methods are all there is; what happens at
    // one end does not reach the other.
    let matrix = Cells([60_000, 1, 1]).diffusion(|_, _, _| 1.0, [1.0, 0.0, 0.0]);
    let b = Random(3).numbers(matrix.n_rows());
    let options = LinearOptions { preconditioner: Some(Preconditioning::Jacobi), max_iterations: 1010, ..LinearOptions::default() };
    let error = solve(&matrix, &b, &options, &mut LinearCache::default()).unwrap_err();
    assert_eq!((error.kind, error.method), (LinearErrorKind::MaxIterations, Method::Gmres));
    let text = error.to_string();
    assert!(
        text.contains("before that CG with Jacobi did not converge in 1000 iterations")
            || text.contains("before that CG with Jacobi stagnated"),
        "{text}"
    );
    assert!(text.ends_with(error.hint()), "{text}");
    assert_eq!(error.before.len(), 1);
}

#[test]
fn a_set_up_is_used_again_while_it_helps() {
    let cells = Cells::cube(16);
    let amg = LinearOptions {
        method: Some(Method::Cg),
        preconditioner: Some(Preconditioning::Amg),
        tolerance: 1e-10,
        ..LinearOptions::default()
    };
    let matrix = |time: f64, contrast: f64| {
        let conductivity = move |cell: usize| 1.0 + contrast * ((cell * 7919) % 13) as f64 + time * (cell % 3) as f64;
        cells.diffusion(move |a, b, _| (conductivity(a) * conductivity(b)).sqrt(), [1.0; 3])
    };
    let b = Random(3).numbers(cells.count());
    let mut cache = LinearCache::default();
    let fresh = |matrix: &Csr| solve(matrix, &b, &amg, &mut LinearCache::default()).unwrap();
    let first = solve(&matrix(0.0, 0.1), &b, &amg, &mut cache).unwrap();
    assert_eq!(first, fresh(&matrix(0.0, 0.1)));
    // Slowly changing: the old hierarchy takes a few more iterations at most, and the answer is the
    // same to the tolerance.
    for step in 1..5 {
        let now = matrix(0.05 * step as f64, 0.1);
        let (kept, new) = (solve(&now, &b, &amg, &mut cache).unwrap(), fresh(&now));
        assert!(kept.iterations <= new.iterations + 4, "{} {}", kept.iterations, new.iterations);
        assert_ne!(kept.x, new.x, "another preconditioner leaves other bits");
        // The least eigenvalue is above 3 (pi / 17)^2 = 0.1 and |b| below 64.
        assert!(distance(&kept.x, &new.x) < 2.0 * 1e-10 * 64.0 / 0.1);
    }
    // A jump: the old one is given up.
    let jump = cells.diffusion(|a, _, axis| if axis == 2 && a % 5 != 0 { 1e6 } else { 1.0 }, [1.0; 3]);
    let after = solve(&jump, &b, &amg, &mut cache).unwrap();
    assert!(relative_residual(&jump, &b, &after.x) <= 1e-10 * (1.0 + 1e-6));
    let with_amg = solve(&jump, &b, &amg, &mut cache).unwrap();
    assert_eq!(with_amg.iterations, fresh(&jump).iterations);
}
