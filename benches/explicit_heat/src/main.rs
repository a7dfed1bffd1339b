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

/// How the grid is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Index arithmetic.
    Cartesian,
    /// Lists of faces and cells.
    Unstructured,
}

/// Who wrote the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Author {
    Hand,
    Equellec,
}

const LAYOUTS: [Layout; 2] = [Layout::Cartesian, Layout::Unstructured];
const AUTHORS: [Author; 2] = [Author::Hand, Author::Equellec];

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
        ["memory", layout, author, n] => {
            let layout = LAYOUTS.into_iter().find(|l| layout_name(*l) == *layout).expect("a layout");
            let author = AUTHORS.into_iter().find(|a| author_name(*a) == *author).expect("an author");
            black_box(run(layout, author, &Problem { n: number(n), steps: 3 }).u);
            println!("{}", peak_memory().map_or("unknown".to_owned(), bytes));
        }
        _ => panic!("usage: compare time STEPS REPETITIONS N... | compare memory LAYOUT AUTHOR N"),
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Cartesian => "Cartesian",
        Layout::Unstructured => "unstructured",
    }
}

fn author_name(author: Author) -> &'static str {
    match author {
        Author::Hand => "hand",
        Author::Equellec => "equellec",
    }
}

fn run(layout: Layout, author: Author, problem: &Problem) -> Run {
    match author {
        Author::Hand => by_hand::Loop::new(layout, problem).run(problem),
        Author::Equellec => generated::run(layout, problem),
    }
}

/// Bytes that a step must move for each cell, when every array is read once; where they come from stands at the loops.
fn traffic(layout: Layout, author: Author) -> usize {
    match (layout, author) {
        (Layout::Cartesian, _) => 16,
        (Layout::Unstructured, Author::Hand) => by_hand::UNSTRUCTURED_TRAFFIC,
        // Besides: positions in InteriorFaces() of 3 faces a cell, by which the transmissibilities are found; offsets are 8 bytes instead of 4.
        (Layout::Unstructured, Author::Equellec) => by_hand::UNSTRUCTURED_TRAFFIC + 3 * 4 + 4,
    }
}

/// Times of one size, as a table.
fn table(n: usize, steps: usize, repetitions: usize) {
    let problem = Problem { n, steps };
    let cells = n * n * n;
    let mut copies = Vec::new();
    let mut times = vec![Vec::new(); 4];
    let hands = LAYOUTS.map(|layout| by_hand::Loop::new(layout, &problem));
    for _ in 0..repetitions {
        copies.push(copy(cells, steps));
        for (at, layout) in LAYOUTS.into_iter().enumerate() {
            let hand = hands[at].run(&problem);
            let generated = generated::run(layout, &problem);
            problem::compare(&generated.u, &hand.u);
            times[2 * at].push(hand.step);
            times[2 * at + 1].push(generated.step);
        }
    }
    drop(hands);
    let copied = 16.0 * cells as f64 / median(&copies);
    println!("\n## {n}^3 = {cells} cells\n");
    println!("{steps} steps, {repetitions} turns; copy {:.3} ms, {:.1} GB/s (16 B a cell).\n", median(&copies) * 1e3, copied / 1e9);
    println!("| case | ms/step | least | Mcells/s | B/cell | of copy bandwidth | time / by hand | peak memory |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (at, layout) in LAYOUTS.into_iter().enumerate() {
        for (who, author) in AUTHORS.into_iter().enumerate() {
            let (hand, own) = (&times[2 * at], &times[2 * at + who]);
            let ratios: Vec<f64> = own.iter().zip(hand).map(|(own, hand)| own / hand).collect();
            let least = own.iter().fold(f64::INFINITY, |a, b| a.min(*b));
            let (step, moved) = (median(own), traffic(layout, author));
            println!(
                "| {}, {} | {:.3} | {:.3} | {:.1} | {moved} | {:.0} % | {:.2} | {} |",
                layout_name(layout),
                author_name(author),
                step * 1e3,
                least * 1e3,
                cells as f64 / step / 1e6,
                100.0 * (moved * cells) as f64 / step / copied,
                median(&ratios),
                memory(layout, author, n)
            );
        }
    }
}

/// Peak memory of a process that does nothing but one of the cases.
fn memory(layout: Layout, author: Author, n: usize) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let size = n.to_string();
    let output =
        Command::new(program).args(["memory", layout_name(layout), author_name(author), &size]).output().expect("this program runs");
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
