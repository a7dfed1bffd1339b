//! Newton's method on problems whose iterates are known.

use equelle_runtime::newton::{Correction, Entry, OnFailure, Options, Problem, solve};
use equelle_runtime::{EntityKind, Error, ErrorKind, Parameters};

/// u^2 - a, one number. Keeps what was said.
struct SquareRoot {
    a: f64,
    u: f64,
    r: f64,
    evaluations: usize,
    printed: Vec<String>,
    warnings: Vec<String>,
    dumps: Vec<bool>,
}

impl SquareRoot {
    fn new(a: f64, u: f64) -> Self {
        SquareRoot { a, u, r: f64::NAN, evaluations: 0, printed: Vec::new(), warnings: Vec::new(), dumps: Vec::new() }
    }
}

impl Problem for SquareRoot {
    fn evaluate(&mut self) -> Result<f64, Error> {
        self.evaluations += 1;
        self.r = self.u * self.u - self.a;
        Ok(self.r.abs())
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        if self.u == 0.0 {
            return Err(Error::new(ErrorKind::Simulation, "the matrix is singular").hint("think"));
        }
        self.u -= self.r / (2.0 * self.u);
        Ok(Correction { linear_iterations: Some(7), relative_residual: 1e-9, note: None })
    }

    fn worst(&mut self, count: usize) -> Result<Vec<Entry>, Error> {
        assert!(count >= 1);
        Ok(vec![Entry { equation: 0, kind: EntityKind::Face, entity: 12, value: self.r, centroid: vec![0.5, 2.0] }])
    }

    fn equations(&self) -> usize {
        1
    }

    fn print(&mut self, line: &str) -> Result<(), Error> {
        self.printed.push(line.to_owned());
        Ok(())
    }

    fn warn(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }

    fn dump(&mut self, initial: bool) -> Result<(), Error> {
        self.dumps.push(initial);
        Ok(())
    }
}

/// With du = r/(2u) the next residual is du^2 = r^2/(4u^2), so each divided by the square of the one before tends to 1/(4*2) = 1/8.
#[test]
fn residuals_are_squared() {
    let mut problem = SquareRoot::new(2.0, 3.0);
    let history = solve(&mut problem, &Options { abs_res_tol: 1e-12, ..Options::default() }).unwrap();
    assert_eq!(history.count(), 5);
    assert_eq!(problem.evaluations, 6, "1 + iterations");
    let norms: Vec<f64> = history.iterations.iter().map(|i| i.norm).collect();
    // Above rounding of 2, which is 4e-16.
    let rates: Vec<f64> = norms.windows(2).filter(|pair| pair[1] > 1e-10).map(|pair| pair[1] / (pair[0] * pair[0])).collect();
    assert!((rates[rates.len() - 1] - 0.125).abs() < 1e-3, "{rates:?}");
    assert!((problem.u - std::f64::consts::SQRT_2).abs() < 1e-12);
    assert!(problem.printed.is_empty() && problem.warnings.is_empty());
    assert_eq!(history.iterations[0].linear_iterations, None);
    assert_eq!(history.iterations[1].linear_iterations, Some(7));
}

#[test]
fn a_norm_equal_to_the_tolerance_has_converged() {
    let mut problem = SquareRoot::new(2.0, 2.0);
    let history = solve(&mut problem, &Options { abs_res_tol: 2.0, verbose: 1, ..Options::default() }).unwrap();
    assert_eq!((history.count(), problem.u, problem.evaluations), (0, 2.0, 1));
    assert_eq!(problem.printed, ["Newton solver converged in 0 iterations"]);
}

#[test]
fn verbose_tells_each_iteration() {
    let mut problem = SquareRoot::new(4.0, 2.5);
    solve(&mut problem, &Options { abs_res_tol: 0.1, verbose: 3, ..Options::default() }).unwrap();
    // 2.5: 2.25; 2.05: 0.2025; 2.000609...: 0.0024.
    assert_eq!(problem.printed[0], "Newton iteration 0 (at most 10): residual norm 2.25e0, tolerance 1e-1");
    assert_eq!(problem.printed[1], "Linear solver: 7 iterations, relative residual 1e-9");
    assert!(problem.printed[2].starts_with("Newton iteration 1 (at most 10): residual norm 2.02"), "{:?}", problem.printed);
    assert_eq!(problem.printed[5], "Newton solver converged in 2 iterations");
    assert!(problem.printed[6].starts_with("Newton solver took "));
    assert_eq!(problem.dumps, [true, false, false]);
}

#[test]
fn no_convergence_is_reported_as_asked() {
    let options = Options { max_iter: 2, ..Options::default() };
    let error = solve(&mut SquareRoot::new(-1.0, 2.0), &options).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Simulation);
    // 5; u = 0.75: 1.5625; u = -7/24: 1.0850694...
    let expected = "Newton's method did not converge in 2 iterations: the norm of the residual is 1.0850694444444444e0, the tolerance 1e-6\n\
                    iteration  residual norm  linear iterations\n        \
                    0     5.000000e0\n        \
                    1     1.562500e0  7\n        \
                    2     1.085069e0  7\n\
                    largest entries of the residual:\n  face 12 at (0.5, 2): 1.085069e0";
    assert_eq!(error.message, expected);
    assert!(error.hint.is_some());

    let mut problem = SquareRoot::new(-1.0, 2.0);
    let history = solve(&mut problem, &Options { on_failure: OnFailure::Warn, ..options }).unwrap();
    assert_eq!(problem.warnings, [expected]);
    assert_eq!(history.count(), 2);
    assert_eq!(problem.u, 0.75 - 1.5625 / 1.5);

    let mut problem = SquareRoot::new(-1.0, 2.0);
    solve(&mut problem, &Options { on_failure: OnFailure::Continue, verbose: 1, ..options }).unwrap();
    assert!(problem.warnings.is_empty());
    assert_eq!(problem.printed, ["Newton solver failed to converge in 2 iterations"]);
}

/// Never taken for convergence, and an error even where no convergence is none.
#[test]
fn what_is_not_finite_fails() {
    for (u, told) in [(f64::NAN, "the residual is not finite at the guess"), (f64::INFINITY, "at the guess"), (1e-200, "after iteration 1")]
    {
        let mut problem = SquareRoot::new(1.0, u);
        let error = solve(&mut problem, &Options { on_failure: OnFailure::Continue, ..Options::default() }).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Simulation);
        assert!(error.message.contains(told), "{}", error.message);
    }
}

#[test]
fn failure_of_the_linear_solver_keeps_its_words() {
    let error = solve(&mut SquareRoot::new(2.0, 0.0), &Options::default()).unwrap_err();
    assert!(error.message.starts_with("the matrix is singular\niteration  residual norm"), "{}", error.message);
    assert_eq!(error.hint.as_deref(), Some("think"));
}

#[test]
fn options_come_from_parameters() {
    let parameters = |words: &[&str]| Parameters::from_words(&words.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    assert_eq!(Options::from_parameters(&parameters(&[])).unwrap(), Options::default());
    let given = parameters(&["max_iter=3", "abs_res_tol=0", "verbose=2", "newton_failure=warn"]);
    let expected = Options { max_iter: 3, abs_res_tol: 0.0, verbose: 2, on_failure: OnFailure::Warn };
    assert_eq!(Options::from_parameters(&given).unwrap(), expected);
    for word in ["max_iter=2.5", "abs_res_tol=-1e-9", "newton_failure=retry", "verbose=-1"] {
        assert_eq!(Options::from_parameters(&parameters(&[word])).unwrap_err().kind, ErrorKind::Data, "{word}");
    }
}
