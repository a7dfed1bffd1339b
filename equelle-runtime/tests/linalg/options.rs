//! Parameters of the linear solvers.

use equelle_runtime::linalg::precond::amg::{AmgCycle, AmgSmoother};
use equelle_runtime::linalg::{LinearOptions, Method, Preconditioning, refusal};
use equelle_runtime::{Error, ErrorKind, Parameters};

fn read(pairs: &[(&str, &str)]) -> Result<(LinearOptions, Vec<String>), Error> {
    let mut parameters = Parameters::default();
    pairs.iter().for_each(|(key, value)| parameters.set(key, value));
    let result = LinearOptions::from_parameters(&parameters);
    if result.is_ok() {
        assert_eq!(parameters.unread().next(), None, "whatever is understood counts as used");
    }
    result
}

#[test]
fn defaults() {
    let (options, warnings) = read(&[]).unwrap();
    assert_eq!(options, LinearOptions::default());
    assert_eq!((options.method, options.preconditioner, options.tolerance), (None, None, 1e-8));
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn legal_values() {
    for method in Method::ALL {
        if cfg!(feature = "lu") || method != Method::Lu {
            assert_eq!(read(&[("solver", method.key())]).unwrap().0.method, Some(method));
        }
    }
    // The spelling of the original CUDA back-end.
    assert_eq!(read(&[("solver", "BiCGStab")]).unwrap().0.method, Some(Method::BiCgStab));
    assert_eq!(read(&[("solver", "GMRes")]).unwrap().0.method, Some(Method::Gmres));
    let (options, warnings) =
        read(&[("solver", "gmres"), ("preconditioner", "none"), ("solver_tol", "1e-5"), ("solver_max_iter", "7"), ("solver_restart", "3")])
            .unwrap();
    let expected = LinearOptions {
        method: Some(Method::Gmres),
        preconditioner: Some(Preconditioning::None),
        tolerance: 1e-5,
        max_iterations: 7,
        restart: 3,
        ..LinearOptions::default()
    };
    assert_eq!((options, warnings.len()), (expected, 0));
}

#[test]
fn words_of_multigrid() {
    let (options, _) = read(&[
        ("solver", "auto"),
        ("preconditioner", "AMG"),
        ("amg_smoother", "gauss_seidel"),
        ("amg_cycle", "k"),
        ("amg_strength", "0.1"),
        ("cpr_pressure", "2"),
    ])
    .unwrap();
    assert_eq!((options.method, options.preconditioner, options.pressure), (None, Some(Preconditioning::Amg), Some(1)));
    assert_eq!((options.amg.smoother, options.amg.cycle, options.amg.strength), (Some(AmgSmoother::GaussSeidel), AmgCycle::K, 0.1));
    assert_eq!(read(&[("preconditioner", "auto")]).unwrap().0.preconditioner, None);
}

#[test]
fn each_solver_takes_each_preconditioner_or_says_why_not() {
    for method in Method::ALL.into_iter().filter(|method| cfg!(feature = "lu") || *method != Method::Lu) {
        for preconditioner in Preconditioning::ALL {
            let result = read(&[("solver", method.key()), ("preconditioner", preconditioner.key())]);
            match refusal(method, preconditioner) {
                None => {
                    let options = result.unwrap().0;
                    assert_eq!((options.method, options.preconditioner), (Some(method), Some(preconditioner)));
                }
                Some(reason) => {
                    let error = result.unwrap_err();
                    assert_eq!(error.kind, ErrorKind::Data);
                    assert!(error.message.contains(&format!("`solver={}`", method.key())) && error.message.ends_with(reason), "{error}");
                    assert!(error.hint.is_some());
                }
            }
        }
        let refused = Preconditioning::ALL.into_iter().filter(|other| refusal(method, *other).is_some()).count();
        assert_eq!(
            refused,
            match method {
                Method::Lu => 7,
                Method::Cg => 1,
                Method::BiCgStab | Method::Gmres => 0,
            }
        );
    }
}

#[test]
fn values_that_are_not_legal() {
    for (key, value, message, hint) in [
        ("solver", "umfpack", "parameter `solver` (command line) cannot be `umfpack`", "it is one of: auto, lu, cg, bicgstab, gmres"),
        (
            "preconditioner",
            "ilu",
            "parameter `preconditioner` (command line) cannot be `ilu`",
            "it is one of: auto, none, jacobi, block_jacobi, ilu0, block_ilu0, fsai, amg, cpr",
        ),
        ("linsolver", "lu", "parameter `linsolver` (command line) cannot be `lu`", "it is one of: umfpack, istl, petsc"),
        ("solver_tol", "1", "parameter `solver_tol` (command line) must lie between 0 and 1, not `1`", "relative to its right-hand side"),
        ("solver_tol", "0", "must lie between 0 and 1, not `0`", ""),
        ("solver_tol", "nan", "parameter `solver_tol` (command line) must be a number", ""),
        ("solver_max_iter", "0", "parameter `solver_max_iter` (command line) must be 1 or more, not `0`", ""),
        ("amg_smoother", "sor", "parameter `amg_smoother` (command line) cannot be `sor`", "jacobi, chebyshev, gauss_seidel"),
        ("amg_cycle", "w", "parameter `amg_cycle` (command line) cannot be `w`", "v, k"),
        ("amg_strength", "1", "parameter `amg_strength` (command line) must be 0 or more and below 1, not `1`", "coarsened along"),
        ("amg_strength", "nan", "must be a number", ""),
        ("cpr_pressure", "0", "parameter `cpr_pressure` (command line) must be 1 or more, not `0`", ""),
        ("solver_restart", "-1", "parameter `solver_restart` (command line) must be a whole number", ""),
    ] {
        let error = read(&[(key, value)]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.unwrap_or_default().contains(hint), "{key}");
    }
}

#[test]
fn old_names() {
    let (options, warnings) = read(&[("linsolver", "istl"), ("linsolver_type", "0"), ("linsolver_residual_tolerance", "1e-6")]).unwrap();
    assert_eq!((options.method, options.tolerance), (Some(Method::Cg), 1e-6));
    assert_eq!(
        warnings,
        [
            "parameter `linsolver` (command line) is an old name: use `solver`",
            "parameter `linsolver_type` (command line) is an old name: use `solver`",
            "parameter `linsolver_residual_tolerance` (command line) is an old name: use `solver_tol`",
        ]
    );
    assert_eq!(read(&[("linsolver", "istl")]).unwrap().0.method, Some(Method::BiCgStab));
    assert_eq!(read(&[("linsolver", "petsc")]).unwrap().0.method, Some(Method::Gmres));
    assert_eq!(read(&[("linsolver_max_iterations", "0")]).unwrap().0.max_iterations, 5000, "0 was the default");
    assert_eq!(read(&[("linsolver_max_iterations", "9")]).unwrap().0.max_iterations, 9);
    // The new name wins, whatever the order.
    let (options, warnings) = read(&[("solver", "cg"), ("linsolver", "petsc")]).unwrap();
    assert_eq!(options.method, Some(Method::Cg));
    assert_eq!(warnings, ["parameter `linsolver` (command line) is an old name: `solver` is given, so it is ignored"]);
    let (options, warnings) = read(&[("preconditioner", "diagonal"), ("linsolver_verbosity", "2")]).unwrap();
    assert_eq!(options.preconditioner, Some(Preconditioning::Jacobi));
    assert_eq!(warnings.len(), 2);
}
