//! Parameters of the linear solvers.

use equelle_runtime::linalg::{LinearOptions, Method, Preconditioning};
use equelle_runtime::{Error, ErrorKind, Parameters};

fn read(pairs: &[(&str, &str)]) -> Result<(LinearOptions, Vec<String>), Error> {
    let mut parameters = Parameters::default();
    pairs.iter().for_each(|(key, value)| parameters.set(key, value));
    let result = LinearOptions::from_parameters(&parameters);
    if result.is_ok() {
        assert_eq!(parameters.unused(&[]), [""; 0], "whatever is understood counts as used");
    }
    result
}

#[test]
fn defaults() {
    let (options, warnings) = read(&[]).unwrap();
    assert_eq!(options, LinearOptions::default());
    assert_eq!((options.method, options.preconditioner, options.tolerance), (None, Preconditioning::Jacobi, 1e-8));
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
        preconditioner: Preconditioning::None,
        tolerance: 1e-5,
        max_iterations: 7,
        restart: 3,
        check_every: 1,
        negligible: 0.0,
    };
    assert_eq!((options, warnings.len()), (expected, 0));
}

#[test]
fn values_that_are_not_legal() {
    for (key, value, message, hint) in [
        ("solver", "umfpack", "parameter `solver` (command line) cannot be `umfpack`", "it is one of: lu, cg, bicgstab, gmres"),
        ("preconditioner", "ilu", "parameter `preconditioner` (command line) cannot be `ilu`", "it is one of: none, jacobi"),
        ("linsolver", "lu", "parameter `linsolver` (command line) cannot be `lu`", "it is one of: umfpack, istl, petsc"),
        ("solver_tol", "1", "parameter `solver_tol` (command line) must lie between 0 and 1, not `1`", "relative to its right-hand side"),
        ("solver_tol", "0", "must lie between 0 and 1, not `0`", ""),
        ("solver_tol", "nan", "parameter `solver_tol` (command line) must be a number", ""),
        ("solver_max_iter", "0", "parameter `solver_max_iter` (command line) must be 1 or more, not `0`", ""),
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
    assert_eq!(options.preconditioner, Preconditioning::Jacobi);
    assert_eq!(warnings.len(), 2);
}
