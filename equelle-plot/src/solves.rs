//! Diagrams of what Newton's method did: iterations of each step, ranges of the unknowns, and how
//! residuals fall.

use std::collections::BTreeMap;

use crate::axes::Numbers;
use crate::colour::{Colour, ColourMap, Range};
use crate::log::{Log, Solve};
use crate::panel::{Curve, LinePanel};
use crate::panels::evenly;

/// Most points of a line.
const MAX_POINTS: usize = 1000;

/// Most solves whose residuals are drawn.
const MAX_SOLVES: usize = 6;

/// Colours of two lines.
const TWO: [Colour; 2] = [[0x31, 0x68, 0x8e], [0xc8, 0x55, 0x1b]];

/// All of them; none of a run without solves.
pub fn panels(log: &Log) -> Vec<LinePanel> {
    if log.solves.is_empty() {
        return Vec::new();
    }
    let mut panels = vec![iterations(log)];
    panels.extend(convergence(log));
    panels.extend(unknowns(log));
    panels
}

fn panel(title: String, axes: [&str; 2], curves: Vec<Curve>) -> LinePanel {
    let ends = Range::of(curves.iter().flat_map(|curve| &curve.points).map(|point| point[0])).unwrap_or(Range { low: 0.0, high: 1.0 });
    LinePanel {
        title,
        axes: axes.map(str::to_owned),
        extent: [ends.low, ends.high],
        range: None,
        numbers: [Numbers::Whole, Numbers::Round],
        has_dots: false,
        curves,
        n_nan: 0,
    }
}

fn curve(name: &str, points: &[[f64; 2]], colour: Colour) -> Curve {
    let points = evenly(points.len(), MAX_POINTS).into_iter().map(|index| points[index]).collect();
    Curve { name: name.to_owned(), points, colour }
}

/// Iterations of Newton's method and of linear solvers, summed over the solves of a step.
fn iterations(log: &Log) -> LinePanel {
    let mut sums: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
    for solve in &log.solves {
        let sum = sums.entry(solve.step).or_default();
        sum[0] += solve.n_iterations() as f64;
        sum[1] += solve.linear_iterations as f64;
    }
    let points = |which: usize| sums.iter().map(|(&step, sum)| [step as f64, sum[which]]).collect::<Vec<_>>();
    let mut curves = vec![curve("Newton", &points(0), TWO[0])];
    // Direct solvers have no iterations.
    if sums.values().any(|sum| sum[1] > 0.0) {
        curves.push(curve("linear", &points(1), TWO[1]));
    }
    LinePanel { numbers: [Numbers::Whole, Numbers::Whole], ..panel("Iterations of a step".to_owned(), ["step", "iterations"], curves) }
}

/// Norms of the residual over the iterations of some solves; the one with the most among them.
pub fn convergence(log: &Log) -> Option<LinePanel> {
    let with_norms: Vec<&Solve> = log.solves.iter().filter(|solve| solve.norms.iter().any(|norm| *norm > 0.0)).collect();
    let hardest = (0..with_norms.len()).max_by_key(|&index| (with_norms[index].norms.len(), usize::MAX - index))?;
    let mut chosen = evenly(with_norms.len(), MAX_SOLVES);
    if !chosen.contains(&hardest) {
        chosen.push(hardest);
        chosen.sort_unstable();
    }
    let colours = ColourMap::Viridis.table();
    let count = chosen.len().max(2) - 1;
    let curve = |(number, &index): (usize, &usize)| {
        let solve = with_norms[index];
        let points: Vec<[f64; 2]> = solve.norms.iter().enumerate().map(|(iteration, &norm)| [iteration as f64, norm]).collect();
        let end = if solve.is_converged { "" } else { " failed" };
        // The last colours are too bright for lines on white.
        curve(&format!("step {}{end}", solve.step), &points, colours[number * 225 / count])
    };
    let curves = chosen.iter().enumerate().map(curve).collect();
    Some(LinePanel {
        numbers: [Numbers::Whole, Numbers::Powers],
        ..panel("Norm of the residual".to_owned(), ["iteration of Newton's method", "norm"], curves)
    })
}

/// Least and greatest value of each unknown at the end of solves.
fn unknowns(log: &Log) -> Vec<LinePanel> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in log.solves.iter().flat_map(|solve| &solve.unknowns) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let of = |name: &str| {
        let points = |end: usize| {
            let range = |solve: &Solve| solve.unknowns.iter().find(|(own, _)| own == name).map(|(_, range)| range[end]);
            log.solves.iter().filter_map(|solve| Some([solve.step as f64, range(solve)?])).collect::<Vec<_>>()
        };
        panel(format!("Range of {name}"), ["step", name], vec![curve("greatest", &points(1), TWO[1]), curve("least", &points(0), TWO[0])])
    };
    names.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(step: u64, norms: &[f64], linear_iterations: u64) -> Solve {
        Solve {
            line: 9,
            step,
            is_converged: true,
            norms: norms.to_vec(),
            linear_iterations,
            unknowns: vec![("u".to_owned(), [0.0, step as f64])],
        }
    }

    /// Step 2 has two solves with 1 and 2 iterations, and 3 and 4 linear ones.
    #[test]
    fn iterations_of_a_step_are_summed() {
        let solves = vec![solve(1, &[1.0, 1e-9], 5), solve(2, &[1.0, 1e-3], 3), solve(2, &[1.0, 0.1, 1e-6], 4)];
        let found = panels(&Log { solves, ..Log::default() });
        assert_eq!(found[0].curves[0].points, [[1.0, 1.0], [2.0, 3.0]]);
        assert_eq!(found[0].curves[1].points, [[1.0, 5.0], [2.0, 7.0]]);
        assert!(found[1].numbers[1].is_log() && found[1].curves.len() == 3 && found[1].extent == [0.0, 2.0]);
        assert_eq!(found[2].title, "Range of u");
        assert_eq!(found[2].curves[0].points, [[1.0, 1.0], [2.0, 2.0], [2.0, 2.0]]);
    }

    #[test]
    fn the_hardest_solve_is_among_those_drawn() {
        let mut solves: Vec<Solve> = (1..=100).map(|step| solve(step, &[1.0, 0.1], 0)).collect();
        solves[41].norms = vec![1.0, 0.5, 0.1];
        let log = Log { solves, ..Log::default() };
        let names: Vec<String> = convergence(&log).expect("a diagram").curves.into_iter().map(|curve| curve.name).collect();
        assert_eq!(names, ["step 1", "step 20", "step 40", "step 42", "step 60", "step 80", "step 100"]);
        // Direct solvers alone: one line.
        assert_eq!(iterations(&log).curves.len(), 1);
        assert!(panels(&Log::default()).is_empty());
    }
}
