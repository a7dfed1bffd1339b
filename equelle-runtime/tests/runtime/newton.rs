//! Newton's method on problems whose iterates are known.

use std::sync::Arc;

use equelle_runtime::interrupt::Signal;
use equelle_runtime::newton::{
    Bounds, Correction, Entry, History, OnFailure, Options, Problem, Range, Size, SolveOutcome, Trial, Update, solve,
};
use equelle_runtime::{EntityKind, Error, ErrorKind, Parameters, Solve};

/// u^2 - a, one number. Keeps what was said.
struct SquareRoot {
    a: f64,
    u: f64,
    r: f64,
    evaluations: usize,
    printed: Vec<String>,
    warnings: Vec<String>,
    dumps: Vec<bool>,
    bounds: Bounds,
    tolerances: Vec<f64>,
    /// Where the last correction started, and that correction.
    last: (f64, f64),
    /// True if the residual has effects; where they happened, and where the residual was only
    /// tried.
    has_effects: bool,
    effects: Vec<f64>,
    trials: Vec<f64>,
    /// Where the residual is not finite.
    pole: Option<f64>,
    /// After how many corrections the run is asked to end.
    ends_after: usize,
    /// True if the values of the unknown cannot be had.
    is_lost: bool,
    /// How the solve ended, with the ranges of the unknown, and whether they count.
    ended: Option<(SolveOutcome, Vec<Range>, bool)>,
}

impl SquareRoot {
    fn new(a: f64, u: f64) -> Self {
        SquareRoot {
            a,
            u,
            r: f64::NAN,
            evaluations: 0,
            printed: Vec::new(),
            warnings: Vec::new(),
            dumps: Vec::new(),
            bounds: Bounds::default(),
            tolerances: Vec::new(),
            last: (u, 0.0),
            has_effects: false,
            effects: Vec::new(),
            trials: Vec::new(),
            pole: None,
            ends_after: usize::MAX,
            is_lost: false,
            ended: None,
        }
    }
}

impl SquareRoot {
    fn residual(&self) -> f64 {
        if self.pole.is_some_and(|pole| self.u < pole) { f64::NAN } else { self.u * self.u - self.a }
    }
}

impl Problem for SquareRoot {
    fn evaluate(&mut self) -> Result<f64, Error> {
        self.evaluations += 1;
        self.effects.push(self.u);
        self.r = self.residual();
        Ok(self.r.abs())
    }

    fn evaluate_silently(&mut self) -> Result<Trial, Error> {
        self.trials.push(self.u);
        self.r = self.residual();
        Ok(Trial { norm: self.r.abs(), held_back: self.has_effects })
    }

    fn shorten(&mut self, length: f64) -> Result<(), Error> {
        self.u = self.last.0 - length * self.last.1;
        Ok(())
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        if self.u == 0.0 {
            return Err(Error::new(ErrorKind::Simulation, "the matrix is singular").hint("think"));
        }
        let du = self.r / (2.0 * self.u);
        self.last = (self.u, du);
        let wanted = self.u - du;
        self.u = wanted.max(self.bounds.least).min(self.bounds.greatest);
        let update = Some(Update { norm: du.abs(), unknowns: self.u.abs(), at_bounds: usize::from(self.u != wanted), shortened: false });
        Ok(Correction { linear_iterations: Some(7), relative_residual: 1e-9, note: None, update, set_up: 0.0 })
    }

    fn check_interrupt(&mut self) -> Result<(), Error> {
        let asked = self.evaluations > self.ends_after;
        if asked { Err(Error::new(ErrorKind::Interrupted(Signal::Interrupt), "interrupted")) } else { Ok(()) }
    }

    fn ranges(&mut self) -> Result<Vec<Range>, Error> {
        if self.is_lost {
            return Err(Error::new(ErrorKind::Backend, "the device is lost"));
        }
        let solve = Solve { line: 1, unknowns: vec!["u".into()] };
        Ok(Range::from_extremes(Some(&solve), &[Some([self.u, 2.0 * self.u])]))
    }

    fn ended(&mut self, history: &History, ending: SolveOutcome) {
        self.ended = Some((ending, history.ranges.clone(), history.is_kept));
    }

    fn equation_norms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(vec![self.r.abs()])
    }

    fn correction_sizes(&mut self) -> Result<Vec<Size>, Error> {
        Ok(vec![Size { correction: self.last.1.abs(), unknown: self.u.abs() }])
    }

    fn terms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(vec![2.0 * self.u * self.u])
    }

    fn at_bounds(&mut self) -> Result<Option<[usize; 2]>, Error> {
        Ok(Some([usize::from(self.u == self.bounds.least || self.u == self.bounds.greatest), 1]))
    }

    fn bound(&mut self, bounds: &[(usize, Bounds)]) -> Result<(), Error> {
        assert_eq!(bounds[0].0, 0);
        self.bounds = bounds[0].1;
        Ok(())
    }

    fn loosen(&mut self, tolerance: f64) {
        self.tolerances.push(tolerance);
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

/// With du = r/(2u) the next residual is du^2 = r^2/(4u^2), so each divided by the square of the
/// one before tends to 1/(4*2) = 1/8.
#[test]
fn residuals_are_squared() {
    let mut problem = SquareRoot::new(2.0, 3.0);
    let history = solve(&mut problem, &Options { abs_res_tol: Some(1e-12), ..Options::default() }).unwrap();
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
    let history = solve(&mut problem, &Options { abs_res_tol: Some(2.0), verbose: 1, ..Options::default() }).unwrap();
    assert_eq!((history.count(), problem.u, problem.evaluations), (0, 2.0, 1));
    assert_eq!(problem.printed, ["Newton solver converged in 0 iterations"]);
}

#[test]
fn verbose_tells_each_iteration() {
    let mut problem = SquareRoot::new(4.0, 2.5);
    solve(&mut problem, &Options { abs_res_tol: Some(0.1), verbose: 3, ..Options::default() }).unwrap();
    // 2.5: 2.25; 2.05: 0.2025; 2.000609...: 0.0024.
    assert_eq!(problem.printed[0], "Newton iteration 0 (at most 10): residual norm 2.25e0, tolerance 1e-1");
    assert_eq!(problem.printed[1], "Linear solver: 7 iterations, relative residual 1e-9");
    assert!(problem.printed[2].starts_with("Newton iteration 1 (at most 10): residual norm 2.02"), "{:?}", problem.printed);
    assert_eq!(problem.printed[5], "Newton solver stops: the norm of the residual is at most `abs_res_tol`");
    assert_eq!(problem.printed[6], "Newton solver converged in 2 iterations");
    assert!(problem.printed[7].starts_with("Newton solver took "));
    assert_eq!(problem.dumps, [true, false, false]);
}

#[test]
fn no_convergence_is_reported_as_asked() {
    let options = Options { max_iter: 2, abs_res_tol: Some(1e-6), ..Options::default() };
    let error = solve(&mut SquareRoot::new(-1.0, 2.0), &options).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Simulation);
    // 5; u = 0.75: 1.5625; u = -7/24: 1.0850694...
    let expected = "Newton's method did not converge in 2 iterations: the norm of the residual is 1.0850694444444444e0, the tolerance 1e-6\n\
                    iteration  residual norm  linear iterations\n        \
                    0     5.000000e0\n        \
                    1     1.562500e0  7\n        \
                    2     1.085069e0  7\n\
                    unknowns: u from -0.291667 to -0.583333\n\
                    largest entries of the residual:\n  face 12 at (0.5, 2): 1.085069e0";
    assert_eq!(error.message, expected);
    assert!(error.hint.is_some());

    let mut problem = SquareRoot::new(-1.0, 2.0);
    let history = solve(&mut problem, &Options { on_failure: OnFailure::Warn, ..options.clone() }).unwrap();
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
        // 1e-200: r = -1, du = -1 / 2e-200; the square of 5e199 overflows.
        let unknowns = if u == 1e-200 {
            "\nunknowns: u from 5e+199 to 1e+200\n".to_owned()
        } else {
            format!("unknowns: u from {}", u.to_string().to_lowercase())
        };
        assert!(error.message.contains(&unknowns), "{}", error.message);
    }
}

/// Ranges of unknowns are told of every end that leaves an iterate; those of a result count.
#[test]
fn ranges_are_those_of_the_last_iterate() {
    let options = Options { max_iter: 1, ..Options::default() };
    let ended = |a: f64, is_lost: bool, on_failure: OnFailure| {
        let mut problem = SquareRoot { is_lost, ..SquareRoot::new(a, 2.0) };
        let error = solve(&mut problem, &Options { on_failure, ..options.clone() }).err().map(|error| error.kind);
        (problem.ended.map(|(ending, ranges, kept)| (ending, Range::text(&ranges), kept)), error)
    };
    let text = |text: &str| text.to_owned();
    // u^2 = 4 from 2: the guess is the solution. u^2 = -1: 2 - 5/4.
    assert_eq!(ended(4.0, false, OnFailure::Error), (Some((SolveOutcome::Converged, text("u from 2 to 4"), true)), None));
    let wanders = Some((SolveOutcome::NotConverged, text("u from 0.75 to 1.5"), true));
    assert_eq!(ended(-1.0, false, OnFailure::Continue), (wanders.clone(), None));
    assert_eq!(ended(-1.0, false, OnFailure::Warn), (wanders, None));
    let dropped = Some((SolveOutcome::NotConverged, text("u from 0.75 to 1.5"), false));
    assert_eq!(ended(-1.0, false, OnFailure::Error), (dropped, Some(ErrorKind::Simulation)));
    // Without a residual that is finite, and where the values cannot be had.
    assert_eq!(
        ended(f64::NAN, false, OnFailure::Continue),
        (Some((SolveOutcome::Failed, text("u from 2 to 4"), false)), Some(ErrorKind::Simulation))
    );
    assert_eq!(ended(4.0, true, OnFailure::Continue), (Some((SolveOutcome::Failed, text(""), false)), Some(ErrorKind::Backend)));
    // A run that is asked to end asks for nothing more.
    let mut problem = SquareRoot { ends_after: 0, ..SquareRoot::new(-1.0, 2.0) };
    solve(&mut problem, &options).unwrap_err();
    assert_eq!(problem.ended, Some((SolveOutcome::Failed, Vec::new(), false)));
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
    let expected = Options { max_iter: 3, abs_res_tol: Some(0.0), verbose: 2, on_failure: OnFailure::Warn, ..Options::default() };
    assert_eq!(Options::from_parameters(&given).unwrap(), expected);
    for word in ["max_iter=2.5", "abs_res_tol=-1e-9", "newton_failure=retry", "verbose=-1"] {
        assert_eq!(Options::from_parameters(&parameters(&[word])).unwrap_err().kind, ErrorKind::Data, "{word}");
    }
}

/// From 3 to the root of 2: u = 3, 1.8333, 1.4621, 1.4150, ...; r = 7, 1.3611, 0.13780, 0.0022,
/// ...; du = 1.1667, 0.3712, 0.0471, ...
#[test]
fn other_criteria_end_it_sooner() {
    let count = |options: Options| solve(&mut SquareRoot::new(2.0, 3.0), &options).unwrap().count();
    let strict = Options { abs_res_tol: Some(0.0), max_iter: 20, ..Options::default() };
    // 1.3611 / 7 = 0.194
    assert_eq!(count(Options { rel_res_tol: 0.2, ..strict.clone() }), 1);
    assert_eq!(count(Options { rel_res_tol: 0.19, ..strict.clone() }), 2);
    // 0.3712 / 1.4621 = 0.254; 0.0471 / 1.4150 = 0.033
    assert_eq!(count(Options { update_tol: 0.26, ..strict.clone() }), 2);
    assert_eq!(count(Options { update_tol: 0.25, ..strict.clone() }), 3);
    assert_eq!(count(Options { equation_tols: vec![(0, 0.14)], ..strict.clone() }), 2);
    // One that holds is enough.
    assert_eq!(count(Options { rel_res_tol: 0.2, update_tol: 1e-9, equation_tols: vec![(0, 1e-9)], ..strict.clone() }), 1);
    let error = solve(&mut SquareRoot::new(2.0, 3.0), &Options { equation_tols: vec![(1, 0.1)], ..strict }).unwrap_err();
    assert!(error.kind == ErrorKind::Data && error.message == "parameter `abs_res_tol_2` is for number 2 of 1", "{error}");
}

/// The root of 2 is beyond the bound: the iterate stays there, which is not convergence however
/// small the updates are.
#[test]
fn bounds_hold_the_iterate() {
    let bounds = vec![(0, Bounds { least: 1.5, greatest: 4.0 })];
    let options = Options { bounds, update_tol: 0.5, verbose: 2, on_failure: OnFailure::Continue, ..Options::default() };
    let mut problem = SquareRoot::new(2.0, 3.0);
    let history = solve(&mut problem, &options).unwrap();
    assert_eq!((problem.u, history.norm()), (1.5, 0.25));
    // 3 goes to 1.8333 by 1.1667, beyond half of it; the next one stops at the bound.
    assert_eq!(history.count(), 10);
    assert!(problem.printed.contains(&"1 values stopped at a bound".to_owned()), "{:?}", problem.printed);
}

/// 0.5; then the square of that times 0.9, which is more than 0.9 (1.3611 / 7)^2; then 0.9 (0.13780
/// / 1.36111)^2 = 0.00922, and so on, never below half of what the tolerance needs.
#[test]
fn corrections_become_exact_as_the_residual_falls() {
    let mut problem = SquareRoot::new(2.0, 3.0);
    solve(&mut problem, &Options { forcing: 0.5, abs_res_tol: Some(1e-6), ..Options::default() }).unwrap();
    let found = &problem.tolerances;
    assert_eq!(found[..2], [0.5, 0.225]);
    assert!((found[2] - 0.009225).abs() < 1e-6, "{found:?}");
    // The residual before the last one is 0.00222; r^2 / 8 = 6e-7 is below the tolerance.
    let (least, norm) = (found[found.len() - 1], 0.0022);
    assert!(least >= 0.5e-6 / norm * 0.9 && least < 1e-3, "{found:?}");
    let mut problem = SquareRoot::new(2.0, 3.0);
    solve(&mut problem, &Options::default()).unwrap();
    assert!(problem.tolerances.is_empty(), "off by default");
}

#[test]
fn options_of_single_equations_and_unknowns() {
    let parameters = |words: &[&str]| Parameters::from_words(&words.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    let given = parameters(&[
        "abs_res_tol_2=1e-3",
        "abs_res_tol_1=1e-5",
        "unknown_min_2=0",
        "unknown_max_2=1",
        "unknown_max_1=5",
        "rel_res_tol=1e-4",
        "update_tol=1e-2",
        "newton_forcing=0.1",
    ]);
    let options = Options::from_parameters(&given).unwrap();
    assert_eq!(given.unread().next(), None);
    assert_eq!(options.equation_tols, [(0, 1e-5), (1, 1e-3)]);
    let open = Bounds::default();
    assert_eq!(options.bounds, [(0, Bounds { greatest: 5.0, ..open }), (1, Bounds { least: 0.0, greatest: 1.0 })]);
    assert_eq!((options.rel_res_tol, options.update_tol, options.forcing), (1e-4, 1e-2, 0.1));
    assert!(options.check(2).is_ok());
    let error = options.check(1).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Data, "parameter `abs_res_tol_2` is for number 2 of 1"));
    for words in [
        &["rel_res_tol=1"][..],
        &["update_tol=-0.1"],
        &["abs_res_tol_1=-1"],
        &["unknown_min_1=2", "unknown_max_1=1"],
        &["newton_forcing=x"],
    ] {
        assert_eq!(Options::from_parameters(&parameters(words)).unwrap_err().kind, ErrorKind::Data, "{words:?}");
    }
}

/// Bounds by name are those of the solves that have such an unknown, and go before bounds by number
/// there.
#[test]
fn bounds_by_the_names_of_unknowns() {
    let parameters = |words: &[&str]| Parameters::from_words(&words.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    let given = parameters(&["unknown_min_s=0", "unknown_max_s=1", "unknown_max_p=1e7", "unknown_min_1=5", "unknown_max_2=3"]);
    let options = Options::from_parameters(&given).unwrap();
    assert_eq!(given.unread().next(), None);
    let within = |least: f64, greatest: f64| Bounds { least, greatest };
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    let of = |unknowns: &[&str]| {
        let unknowns: Vec<Arc<str>> = unknowns.iter().map(|&name| name.into()).collect();
        options.clone().with_unknowns(&unknowns).bounds
    };
    assert_eq!(of(&["p", "s"]), [(0, within(low, 1e7)), (1, within(0.0, 1.0))]);
    assert_eq!(of(&["s"]), [(0, within(0.0, 1.0)), (1, within(low, 3.0))]);
    assert_eq!(of(&["u", "v", "s"]), [(0, within(5.0, high)), (1, within(low, 3.0)), (2, within(0.0, 1.0))]);
    let solves = [(3, "p"), (9, "s")].map(|(line, unknown)| Solve { line, unknowns: vec![unknown.into()] });
    assert!(options.check_names(&solves).is_ok());
    let error = options.check_names(&solves[..1]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Data);
    assert_eq!(error.message, "parameter `unknown_min_s` is for an unknown `s`, and the program has none of that name");
    let hint = error.hint.expect("a hint");
    assert_eq!(hint, "its unknowns are `p`: the parameters of the functions that are solved");
    let crossed = Options::from_parameters(&parameters(&["unknown_min_s=2", "unknown_max_s=1"])).unwrap_err();
    assert_eq!(crossed.message, "no value is between `unknown_min_s`, 2, and `unknown_max_s`, 1");
}

fn searching() -> Options {
    Options { line_search: true, max_iter: 20, ..Options::default() }
}

/// A step that reduces the residual is taken whole, and costs no residual more: the iterates are
/// those without a search.
#[test]
fn line_search_leaves_good_steps_alone() {
    let mut plain = SquareRoot::new(2.0, 3.0);
    solve(&mut plain, &Options::default()).unwrap();
    let mut problem = SquareRoot::new(2.0, 3.0);
    let history = solve(&mut problem, &searching()).unwrap();
    assert_eq!([&problem.effects[..], &problem.trials[..]].concat(), plain.effects, "the guess, then one trial an iteration");
    assert!(history.iterations.iter().all(|iteration| iteration.length == 1.0));
    assert!(!history.table().contains("length"));
}

/// u^2 = 1 from 0.1: the correction leads to 5.05, where the residual is 24.5 instead of 0.99. The
/// parabola through norm, slope and that norm has its least value at 1 / ((24.5025/0.99)^2 - 1 +
/// 2) = 0.0016, so a tenth is tried: 0.1 + 0.495 = 0.595, where the residual is 0.646.
#[test]
fn line_search_shortens_what_goes_too_far() {
    let mut problem = SquareRoot::new(1.0, 0.1);
    let options = Options { verbose: 2, ..searching() };
    let history = solve(&mut problem, &options).unwrap();
    let first = &history.iterations[1];
    assert!((first.length - 0.1).abs() < 1e-15 && (first.norm - (1.0 - 0.595 * 0.595)).abs() < 1e-12, "{first:?}");
    assert!((problem.trials[0] - 5.05).abs() < 1e-12 && (problem.trials[1] - 0.595).abs() < 1e-12, "{:?}", problem.trials);
    assert!((problem.u - 1.0).abs() < 1e-6);
    assert!(problem.printed.iter().any(|line| line == "Line search: 0.1 of the correction, after 1 longer ones"), "{:?}", problem.printed);
    assert!(history.table().contains("length\n") && history.table().contains("1.000e-1"), "{}", history.table());
    // Each norm is below the one before: that is what the search is for.
    assert!(history.iterations.windows(2).all(|pair| pair[1].norm < pair[0].norm));
}

/// Effects happen at the iterates that are kept, once each, whatever was tried.
#[test]
fn effects_of_trials_do_not_happen() {
    let mut problem = SquareRoot { has_effects: true, ..SquareRoot::new(1.0, 0.1) };
    let history = solve(&mut problem, &searching()).unwrap();
    assert_eq!(problem.effects.len(), 1 + history.count());
    assert!((problem.effects[1] - 0.595).abs() < 1e-12, "{:?}", problem.effects);
    assert!(problem.trials.len() > history.count(), "the first step took two trials");
}

/// Below 0.5 there is no residual: from 3 the correction for u^2 = 0.26 leads to 1.54, then 0.85,
/// 0.58, 0.5141, ..., always above. From 0.9 for 0.26 to 0.594. For u^2 = 0.01 from 1 it leads to
/// 0.505, and then to 0.262, where the residual is NaN; half of that is 0.384, a quarter 0.444, and
/// so on: none is at or above 0.5 but those shorter than 0.005/0.243 of it.
#[test]
fn line_search_leaves_what_is_not_finite() {
    let mut problem = SquareRoot { pole: Some(0.5), ..SquareRoot::new(0.01, 1.0) };
    let options = Options { line_search: true, max_iter: 2, on_failure: OnFailure::Continue, ..Options::default() };
    let history = solve(&mut problem, &options).unwrap();
    assert_eq!(history.iterations[2].length, 1.0 / 64.0, "the first power of a half below 0.0206");
    assert!(problem.u >= 0.5 && history.norm().is_finite());
}

/// u^2 = -1 has no root: at 0 the residual is least, and no step reduces it. Near there the search
/// gives up, says so, and the steps are whole ones from then on.
#[test]
fn line_search_switches_itself_off() {
    let mut problem = SquareRoot::new(-1.0, 1e-9);
    let options = Options { verbose: 2, on_failure: OnFailure::Continue, max_iter: 3, ..searching() };
    let history = solve(&mut problem, &options).unwrap();
    let told = problem.printed.iter().filter(|line| line.contains("no length of the step reduces the residual")).count();
    assert_eq!(told, 1, "{:?}", problem.printed);
    assert!(history.iterations.iter().all(|iteration| iteration.length == 1.0), "{history:?}");
    // The guess, then the two iterations after the search was switched off.
    assert_eq!(problem.evaluations, 3);
}

/// Whatever a failure of the solve means, a run that is asked to end does so: after the guess and
/// two corrections, before the third.
#[test]
fn a_solve_ends_between_corrections() {
    let mut problem = SquareRoot { ends_after: 2, ..SquareRoot::new(2.0, 100.0) };
    let options = Options { on_failure: OnFailure::Continue, ..Options::default() };
    let error = solve(&mut problem, &options).unwrap_err();
    assert_eq!((error.kind, problem.evaluations), (ErrorKind::Interrupted(Signal::Interrupt), 3));
}

/// The equation is named where there are several.
#[test]
fn an_equation_without_derivatives() {
    use equelle_runtime::newton::session::determines_nothing;
    assert!(determines_nothing(0, 1).message.starts_with("the residual does not depend"));
    assert!(determines_nothing(1, 2).message.starts_with("the residual of equation 2 does not depend"));
}
