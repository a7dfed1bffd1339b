//! Explicit heat on a cube: the program that `equellec` generates against loops written by hand, in one process, with the same compiler flags, on one core.
//! `cargo xtask bench` builds it beside the generated package and starts it; what it prints is Markdown.
//!
//! Only steps are timed: all of a run but the first, which warms caches and touches the memory. Copies, loops by hand and the generated program take turns, and medians over
//! the turns are printed, so that a busy machine disturbs all of them alike.

mod by_hand;
mod generated;
mod problem;

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use equelle_runtime::report::{bytes, peak_memory};

use problem::Problem;

/// A loop to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Hand(by_hand::Style),
    /// By equellec; on a Cartesian grid, or on the same grid as lists of faces and cells.
    Generated {
        unstructured: bool,
    },
}

/// All of them, each loop by hand before what is compared with it.
const CASES: [(&str, Case); 5] = [
    ("Cartesian, by hand", Case::Hand(by_hand::Style::Stencil)),
    ("Cartesian, by hand with the program's operations", Case::Hand(by_hand::Style::Fluxes)),
    ("Cartesian, equellec", Case::Generated { unstructured: false }),
    ("unstructured, by hand", Case::Hand(by_hand::Style::Mesh)),
    ("unstructured, equellec", Case::Generated { unstructured: true }),
];

impl Case {
    fn run(self, problem: &Problem) -> Run {
        match self {
            Case::Hand(style) => by_hand::run(style, problem),
            Case::Generated { unstructured } => generated::run(unstructured, problem),
        }
    }

    /// The loop by hand that does the same.
    fn yardstick(self) -> usize {
        match self {
            Case::Hand(by_hand::Style::Stencil | by_hand::Style::Fluxes) | Case::Generated { unstructured: false } => 0,
            Case::Hand(by_hand::Style::Mesh) | Case::Generated { unstructured: true } => 3,
        }
    }

    /// Bytes that a step must move for each cell, when every array is read once; where they come from stands at the loops.
    fn traffic(self) -> usize {
        match self {
            Case::Hand(by_hand::Style::Stencil | by_hand::Style::Fluxes) | Case::Generated { unstructured: false } => {
                by_hand::CARTESIAN_TRAFFIC
            }
            Case::Hand(by_hand::Style::Mesh) => by_hand::UNSTRUCTURED_TRAFFIC,
            // Besides: of 3 faces a cell the position in InteriorFaces(), by which transmissibilities are found; offsets have 8 bytes instead of 4.
            Case::Generated { unstructured: true } => by_hand::UNSTRUCTURED_TRAFFIC + 3 * 4 + 4,
        }
    }
}

/// Steps whose results are compared, and the time they took.
pub struct Run {
    /// Seconds of one step, the mean over all steps but the first.
    pub step: f64,
    /// Temperature of each cell after the last step.
    pub u: Vec<f64>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["time", steps, repetitions, sizes @ ..] => {
            for n in sizes {
                table(number(n), number(steps), number(repetitions));
            }
        }
        ["memory", name, n] => {
            let (_, case) = CASES.into_iter().find(|(known, _)| known == name).expect("a case");
            black_box(case.run(&Problem { n: number(n), steps: 3 }).u);
            println!("{}", peak_memory().map_or("unknown".to_owned(), bytes));
        }
        _ => panic!("usage: compare time STEPS REPETITIONS N... | compare memory CASE N"),
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}

/// Times of one size, as a table.
fn table(n: usize, steps: usize, repetitions: usize) {
    let problem = Problem { n, steps };
    let cells = n.pow(3);
    let mut copies = Vec::new();
    let mut times = CASES.map(|_| Vec::new());
    for _ in 0..repetitions {
        copies.push(copy(cells, steps));
        let mut results: [Vec<f64>; CASES.len()] = Default::default();
        for (at, (_, case)) in CASES.into_iter().enumerate() {
            let run = case.run(&problem);
            times[at].push(run.step);
            problem::compare(&run.u, if at == 0 { &run.u } else { &results[0] });
            results[at] = run.u;
        }
    }
    let copied = 16.0 * cells as f64 / median(&copies);
    println!("\n## {n}^3 = {cells} cells\n");
    println!("{steps} steps, {repetitions} turns; copy {:.3} ms, {:.1} GB/s (16 B a cell).\n", median(&copies) * 1e3, copied / 1e9);
    println!("| case | ms/step | least | Mcells/s | B/cell | of copy bandwidth | time / by hand | peak memory |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (at, (name, case)) in CASES.into_iter().enumerate() {
        let own = &times[at];
        let ratios: Vec<f64> = own.iter().zip(&times[case.yardstick()]).map(|(own, hand)| own / hand).collect();
        let least = own.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        let (step, moved) = (median(own), case.traffic());
        println!(
            "| {name} | {:.3} | {:.3} | {:.0} | {moved} | {:.0} % | {:.2} | {} |",
            step * 1e3,
            least * 1e3,
            cells as f64 / step / 1e6,
            100.0 * (moved * cells) as f64 / step / copied,
            median(&ratios),
            memory(name, n)
        );
    }
}

/// Peak memory of a process that does nothing but one of the cases.
fn memory(name: &str, n: usize) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).args(["memory", name, &n.to_string()]).output().expect("this program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Seconds of a copy of one field to another.
fn copy(cells: usize, steps: usize) -> f64 {
    let (mut from, mut to) = (vec![1.0; cells], vec![0.0; cells]);
    let mut once = || {
        black_box(&mut to).copy_from_slice(black_box(&from));
        std::mem::swap(&mut from, &mut to);
    };
    once();
    let start = Instant::now();
    (1..steps).for_each(|_| once());
    start.elapsed().as_secs_f64() / (steps - 1) as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}
