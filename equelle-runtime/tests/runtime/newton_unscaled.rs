//! Newton's method where no tolerance is given: what ends a solve depends on no unit.

use equelle_runtime::newton::{Correction, Entry, History, Linearity, Options, Problem, Range, Size, Trial, Update, solve};
use equelle_runtime::{Error, ErrorKind, Parameters, Solve};

/// Value and derivative of an equation at the unknowns.
type Equation = fn(&[f64]) -> (f64, f64);

/// Equations, each for an unknown of one value, whose derivatives by the other unknowns are taken
/// for zero.
struct Equations {
    functions: Vec<Equation>,
    /// By which each equation is multiplied.
    factors: Vec<f64>,
    u: Vec<f64>,
    r: Vec<(f64, f64)>,
    last: (Vec<f64>, Vec<f64>),
    /// Round-off of each residual, before the factor.
    noise: f64,
    /// Factor of a correction: a matrix that amplifies roundings.
    condition: f64,
    /// Part of the residual that linear solves leave, and whether they refuse systems whose noise
    /// is above what is negligible.
    inexact: f64,
    refuses: bool,
    negligible: Vec<f64>,
    /// Tolerances of inexact corrections.
    loosened: Vec<f64>,
    /// Sizes of terms that cancel, beside that of the unknown: an ill-conditioned matrix.
    cancels: f64,
    /// True if corrections are watched for those of a linear problem.
    linearity: Option<Linearity>,
    corrections: usize,
    printed: Vec<String>,
}

impl Equations {
    fn new(functions: &[Equation], u: &[f64]) -> Equations {
        Equations {
            functions: functions.to_vec(),
            factors: vec![1.0; u.len()],
            u: u.to_vec(),
            r: Vec::new(),
            last: (Vec::new(), Vec::new()),
            noise: 0.0,
            condition: 1.0,
            inexact: 0.0,
            refuses: false,
            negligible: Vec::new(),
            loosened: Vec::new(),
            cancels: 0.0,
            linearity: None,
            corrections: 0,
            printed: Vec::new(),
        }
    }

    fn norm(&self) -> f64 {
        self.r.iter().map(|(r, _)| r * r).sum::<f64>().sqrt()
    }
}

impl Problem for Equations {
    fn evaluate(&mut self) -> Result<f64, Error> {
        let value = |(function, factor): (&Equation, &f64)| {
            let (value, slope) = function(&self.u);
            ((value + self.noise) * factor, slope * factor)
        };
        self.r = self.functions.iter().zip(&self.factors).map(value).collect();
        Ok(self.norm())
    }

    fn evaluate_silently(&mut self) -> Result<Trial, Error> {
        Ok(Trial { norm: self.evaluate()?, held_back: false })
    }

    fn shorten(&mut self, length: f64) -> Result<(), Error> {
        self.u = self.last.0.iter().zip(&self.last.1).map(|(u, du)| u - length * du).collect();
        Ok(())
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        self.corrections += 1;
        if self.refuses && self.negligible.last().is_none_or(|negligible| self.noise > *negligible) {
            return Err(Error::new(ErrorKind::Simulation, "the linear system has no solution"));
        }
        let du: Vec<f64> = self.r.iter().map(|(r, slope)| (1.0 - self.inexact) * (r / slope) * self.condition).collect();
        self.last = (self.u.clone(), du);
        self.shorten(1.0)?;
        let size = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let update = Update { norm: size(&self.last.1), unknowns: size(&self.u), ..Update::default() };
        Ok(Correction { update: Some(update), relative_residual: self.inexact, ..Correction::default() })
    }

    fn worst(&mut self, _: usize) -> Result<Vec<Entry>, Error> {
        Ok(Vec::new())
    }

    fn ranges(&mut self) -> Result<Vec<Range>, Error> {
        let solve = Solve { line: 1, unknowns: vec!["u".into()] };
        Ok(Range::from_extremes(Some(&solve), &self.u.iter().map(|u| Some([*u, *u])).collect::<Vec<_>>()))
    }

    fn equation_norms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(self.r.iter().map(|(r, _)| r.abs()).collect())
    }

    fn correction_sizes(&mut self) -> Result<Vec<Size>, Error> {
        let size = |(du, u): (&f64, &f64)| Size { correction: du.abs(), unknown: u.abs() };
        Ok(self.last.1.iter().zip(&self.u).map(size).collect())
    }

    fn terms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(self.r.iter().zip(&self.u).map(|((_, slope), u)| (slope * u).abs() + self.cancels).collect())
    }

    fn linearity(&mut self) -> Option<&mut Linearity> {
        self.linearity.as_mut()
    }

    fn neglect(&mut self, part: f64) {
        self.negligible.push(part * self.norm());
    }

    fn loosen(&mut self, tolerance: f64) {
        self.loosened.push(tolerance);
    }

    fn equations(&self) -> usize {
        self.functions.len()
    }

    fn print(&mut self, line: &str) -> Result<(), Error> {
        self.printed.push(line.to_owned());
        Ok(())
    }

    fn warn(&mut self, _: &str) {}

    fn dump(&mut self, _: bool) -> Result<(), Error> {
        Ok(())
    }
}

fn root_of_two(u: &[f64]) -> (f64, f64) {
    (u[0] * u[0] - 2.0, 2.0 * u[0])
}

fn three(u: &[f64]) -> (f64, f64) {
    (2.0 * u[0] - 6.0, 2.0)
}

/// A step that goes too far from a guess beyond 1.39.
fn arc_tangent(u: &[f64]) -> (f64, f64) {
    (u[0].atan() + 0.25, 1.0 / (1.0 + u[0] * u[0]))
}

fn solved(problem: &mut Equations, options: &Options) -> History {
    solve(problem, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Powers of two, from 2^-40 to 2^40.
fn factors() -> impl Iterator<Item = f64> {
    (-40..=40).map(|power| 2.0_f64.powi(power))
}

/// The iterates have the same bits whatever the equations are multiplied by, and are as many, with
/// every option that looks at the norm of the residual.
#[test]
fn a_factor_changes_nothing() {
    let plain = Options { max_iter: 30, ..Options::default() };
    let searching = Options { line_search: true, ..plain.clone() };
    let forcing = Options { forcing: 0.5, ..plain.clone() };
    for (function, guess, options) in [
        (root_of_two as fn(&[f64]) -> (f64, f64), 3.0, &plain),
        (root_of_two, 1e-3, &searching),
        (root_of_two, 3.0, &forcing),
        (three, -1e6, &plain),
        (arc_tangent, 5.0, &searching),
        (arc_tangent, 1.0, &plain),
    ] {
        let run = |factor: f64| {
            let mut problem = Equations { factors: vec![factor], ..Equations::new(&[function], &[guess]) };
            let history = solved(&mut problem, options);
            let norms: Vec<u64> = history.iterations.iter().map(|iteration| (iteration.norm / factor).to_bits()).collect();
            (norms, problem.u[0].to_bits())
        };
        let expected = run(1.0);
        assert!(expected.0.len() > 1);
        for factor in factors() {
            assert_eq!(run(factor), expected, "2^{}", factor.log2());
        }
    }
}

/// Wells of 1e-7 m^3/s were no reason to compute a pressure: the guess was within 1e-6. A tolerance
/// that is given means what it says.
#[test]
fn a_small_residual_is_no_solution() {
    let wells = || Equations { factors: vec![1e-7 / 6.0], ..Equations::new(&[three], &[0.0]) };
    let mut problem = wells();
    assert_eq!(solved(&mut problem, &Options::default()).count(), 1);
    assert_eq!(problem.u, [3.0]);
    let mut problem = wells();
    assert_eq!(solved(&mut problem, &Options { abs_res_tol: Some(1e-6), ..Options::default() }).count(), 0);
    assert_eq!(problem.u, [0.0]);
}

/// One correction, whether it finds rounding or nothing at all; none where the residual is zero.
#[test]
fn a_guess_that_is_the_solution_costs_one_correction() {
    // The nearest double to the root of 2: the residual is 4.4e-16.
    let mut problem = Equations::new(&[root_of_two], &[std::f64::consts::SQRT_2]);
    assert_eq!(solved(&mut problem, &Options::default()).count(), 1);
    // A residual that stays what rounding makes of terms of 6, with a matrix that turns it into
    // 1e-6 of the unknown.
    let noisy = |verbose: usize, line_search: bool| {
        let mut problem = Equations { noise: 4e-16, condition: 1e10, ..Equations::new(&[|_| (0.0, 2.0)], &[3.0]) };
        let count = solved(&mut problem, &Options { verbose, line_search, ..Options::default() }).count();
        (count, problem.printed)
    };
    let (count, printed) = noisy(2, false);
    assert_eq!(count, 1);
    assert!(printed.contains(&"Newton solver stops: the residual is round-off of its terms".to_owned()), "{printed:?}");
    // The search does not shorten it either.
    let (count, printed) = noisy(2, true);
    assert!(count == 1 && printed.iter().all(|line| !line.starts_with("Line search")), "{printed:?}");
    let mut problem = Equations::new(&[three], &[3.0]);
    let history = solved(&mut problem, &Options { verbose: 2, ..Options::default() });
    assert_eq!((history.count(), problem.corrections), (0, 0));
    assert!(problem.printed.contains(&"Newton solver stops: the residual is zero".to_owned()), "{:?}", problem.printed);
}

/// In single precision what is left is rounding at 1e-7.
#[test]
fn singles_end_with_their_rounding() {
    let rounding = f64::from(f32::EPSILON);
    let mut problem = Equations { noise: 2e-7, condition: 100.0, ..Equations::new(&[|_| (0.0, 2.0)], &[3.0]) };
    assert_eq!(solved(&mut problem, &Options { rounding, ..Options::default() }).count(), 1);
    let mut problem = Equations { noise: 2e-7, condition: 100.0, ..Equations::new(&[|_| (0.0, 2.0)], &[3.0]) };
    assert!(solve(&mut problem, &Options::default()).is_err(), "doubles leave less");
}

/// u^10 = 1 from 100: the residual falls by 0.35 a correction from 1e20, so that 1e10 would be a
/// small part of it.
#[test]
fn a_guess_that_is_far_off_makes_nothing_small() {
    let mut problem = Equations::new(&[|u| (u[0].powi(10) - 1.0, 10.0 * u[0].powi(9))], &[100.0]);
    let history = solved(&mut problem, &Options { max_iter: 100, ..Options::default() });
    assert!(history.count() > 40, "{}", history.count());
    // The next correction may be this large where the residual has been reduced.
    assert!((problem.u[0] - 1.0).abs() < 1e-8, "{}", problem.u[0]);
}

/// A linear solve that leaves 1e-8 of a linear equation takes another correction; 1e-10 does not.
#[test]
fn linear_solves_that_are_not_exact() {
    let count = |inexact: f64| {
        let mut problem = Equations { inexact, ..Equations::new(&[three], &[0.0]) };
        (solved(&mut problem, &Options { verbose: 2, ..Options::default() }).count(), problem.negligible, problem.printed)
    };
    assert_eq!(count(1e-8).0, 2);
    let (count, negligible, printed) = count(1e-10);
    assert_eq!(count, 1);
    assert!(printed.contains(&"Newton solver stops: the residual is 1.0e-10 of that at the guess".to_owned()), "{printed:?}");
    // Half of the accepted part of the residual at the guess, 6.
    // A few roundings between a part and a norm.
    assert!(negligible.len() == 1 && (negligible[0] / (0.5 * 2e-10 * 6.0) - 1.0).abs() < 1e-15, "{negligible:?}");
}

/// A linear equation that is solved to 1e-6, beside terms that cancel. The residual has not
/// stagnated, yet is round-off of those: 32 roundings of 1e8 are 7e-7. Of a linear problem, another
/// correction would be iterative refinement, unless it changed the eighth digit.
#[test]
fn linear_problems_are_not_refined_within_roundings() {
    let solve = |away: f64, linearity: Option<Linearity>| {
        let equation = Equations::new(&[three], &[3.0 - away]);
        let mut problem = Equations { inexact: 1e-6, cancels: 1e8, linearity, ..equation };
        let history = solved(&mut problem, &Options { verbose: 2, ..Options::default() });
        let rounded = problem.printed.contains(&"Newton solver stops: the residual is round-off of its terms".to_owned());
        (history.count(), rounded)
    };
    // The residual is 2e-9, the next correction 3.3e-10 of the unknown.
    assert_eq!(solve(1e-3, Some(Linearity::default())), (1, true));
    assert_eq!(solve(1e-3, None), (2, false));
    // 2e-7, and 3.3e-8 of the unknown.
    assert_eq!(solve(0.1, Some(Linearity::default())), (2, false));
    // 1.8e-8 and 3e-9 of it, but roundings make 7.1e-11 of terms of 1e4.
    let equation = Equations { inexact: 1e-6, cancels: 1e4, ..Equations::new(&[three], &[3.0 - 9e-3]) };
    let mut problem = Equations { linearity: Some(Linearity::default()), ..equation };
    assert_eq!(solved(&mut problem, &Options::default()).count(), 2);
}

/// An equation that the guess satisfies holds up none, whatever its unit is beside that of the
/// other; nor does an unknown that is zero.
#[test]
fn equations_count_for_themselves() {
    for factor in [1e-12, 1.0, 1e12] {
        let satisfied: fn(&[f64]) -> (f64, f64) = |u| (0.3 * u[1] - 0.3 * 7.0 + 4e-16, 0.3);
        let mut problem = Equations { factors: vec![1.0, factor], ..Equations::new(&[root_of_two, satisfied], &[3.0, 7.0]) };
        let alone = solved(&mut Equations::new(&[root_of_two], &[3.0]), &Options::default()).count();
        assert_eq!(solved(&mut problem, &Options::default()).count(), alone, "{factor}");
        // An equation that is far from its solution is not hidden behind a larger one.
        let mut problem =
            Equations { factors: vec![1.0, factor], ..Equations::new(&[three, |u| (u[1] * u[1] - 2.0, 2.0 * u[1])], &[0.0, 3.0]) };
        solved(&mut problem, &Options::default());
        assert!((problem.u[1] - std::f64::consts::SQRT_2).abs() < 1e-12, "{factor}: {}", problem.u[1]);
        let mut problem = Equations { factors: vec![1.0, factor], ..Equations::new(&[root_of_two, |u| (3.0 * u[1], 3.0)], &[3.0, 0.0]) };
        assert_eq!(solved(&mut problem, &Options::default()).count(), alone, "{factor}");
    }
}

/// A system that has no solution for a residual of roundings alone is solved; beside more than that
/// the roundings are left out.
#[test]
fn roundings_without_a_solution() {
    let mut problem = Equations { noise: 4e-16, refuses: true, ..Equations::new(&[|_| (0.0, 2.0)], &[3.0]) };
    let history = solved(&mut problem, &Options::default());
    assert_eq!((history.count(), problem.corrections, &problem.u[..]), (0, 1, &[3.0][..]));
    // 1e-7 beside terms of 6: 5e-11 of it is less than the roundings of those, 4e-14.
    let mut problem = Equations { noise: 4e-16, refuses: true, ..Equations::new(&[|u| (2.0 * (u[0] - 3.0 - 5e-8), 2.0)], &[3.0]) };
    assert!(solved(&mut problem, &Options::default()).count() <= 2);
    assert!((problem.u[0] - 3.0 - 5e-8).abs() < 1e-14, "{}", problem.u[0]);
    let rounding = 32.0 * f64::EPSILON * 6.0;
    assert!(problem.negligible.len() == 2 && (problem.negligible[1] / rounding - 1.0).abs() < 1e-15, "{:?}", problem.negligible);
    // With a tolerance a failure is one.
    let mut problem = Equations { noise: 4e-16, refuses: true, ..Equations::new(&[|_| (0.0, 2.0)], &[3.0]) };
    let error = solve(&mut problem, &Options { abs_res_tol: Some(0.0), ..Options::default() }).unwrap_err();
    assert_eq!((error.kind, problem.corrections), (ErrorKind::Simulation, 1));
}

/// Tolerances include their values. A correction that leaves a quarter goes from 0 to 2.25: the
/// residual falls from 6 to 1.5, and the correction is all of the unknown.
#[test]
fn tolerances_are_inclusive() {
    let count = |options: Options| {
        let mut problem = Equations { inexact: 0.25, ..Equations::new(&[three], &[0.0]) };
        solved(&mut problem, &options).count()
    };
    assert_eq!(count(Options { rel_res_tol: 0.25, ..Options::default() }), 1);
    assert_eq!(count(Options { abs_res_tol: Some(1.5), ..Options::default() }), 1);
    assert_eq!(count(Options { equation_tols: vec![(0, 1.5)], ..Options::default() }), 1);
    assert_eq!(count(Options { update_tol: 1.0, ..Options::default() }), 1);
    for below in [
        Options { rel_res_tol: 0.2499, ..Options::default() },
        Options { equation_tols: vec![(0, 1.499)], ..Options::default() },
        // The second correction, 0.5625 of 2.8125.
        Options { update_tol: 0.2, ..Options::default() },
    ] {
        assert_eq!(count(below), 2);
    }
}

/// An inexact correction leaves no less than half of what ends the solve: of the tolerance, or of
/// 2e-10 of the residual at the guess, here 7.
#[test]
fn inexact_corrections_know_what_is_enough() {
    for (abs_res_tol, target) in [(Some(1e-3), 1e-3), (None, 2e-10 * 7.0)] {
        let mut problem = Equations::new(&[root_of_two], &[3.0]);
        let history = solved(&mut problem, &Options { forcing: 0.5, abs_res_tol, ..Options::default() });
        let norms: Vec<f64> = history.iterations.iter().map(|iteration| iteration.norm).collect();
        let least: Vec<f64> = norms.iter().map(|norm| (0.5 * target / norm).min(0.5)).collect();
        assert_eq!(problem.loosened.len(), norms.len() - 1);
        assert!(problem.loosened.iter().zip(&least).all(|(term, least)| term >= least), "{:?} {least:?}", problem.loosened);
        // Where 0.9 (r / r')^2 is less, that is the tolerance: in the last correction at least.
        let last = problem.loosened.len() - 1;
        assert_eq!(problem.loosened[last], least[last], "{:?}", problem.loosened);
    }
}

/// Other tolerances hold at the guess as they did, beside what holds without any.
#[test]
fn other_tolerances_stay_what_they_are() {
    let words = ["abs_res_tol_1=10".to_owned()];
    let options = Options::from_parameters(&Parameters::from_words(&words).unwrap()).unwrap();
    assert_eq!(solved(&mut Equations::new(&[three], &[0.0]), &options).count(), 0);
    let count = |options: Options| solved(&mut Equations::new(&[root_of_two], &[3.0]), &options).count();
    assert_eq!(count(Options { rel_res_tol: 0.2, ..Options::default() }), 1);
    // One that is never met leaves the others.
    let never = vec![(0, 0.0)];
    assert_eq!(count(Options { equation_tols: never, ..Options::default() }), count(Options::default()));
}
