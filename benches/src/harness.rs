//! Turns, tables and agreement of results, for all comparisons.

use std::io::Write as _;
use std::process::Command;

use crate::generated::Input;
use crate::measure::{copy, least, median};

/// A problem and the ways to compute it.
pub struct Suite {
    /// Name by which it is chosen.
    pub name: &'static str,
    /// Dimension of its grid, which has the same number of cells along each axis.
    pub dim: u32,
    /// The ways; a loop by hand comes before what is compared with it.
    pub cases: &'static [Case],
    /// Makes the problem with `n` cells along each axis and a number of steps.
    pub prepare: fn(usize, usize) -> Problem,
    /// How much results may differ, as a part of the largest value; where it comes from stands
    /// there.
    pub tolerance: f64,
    /// Checks that run once, before anything is timed.
    pub check: fn(),
}

/// One way to compute a problem.
pub struct Case {
    /// A row of the table.
    pub name: &'static str,
    /// The loop by hand that does the same; its own name for that loop.
    pub yardstick: &'static str,
    /// Bytes that a step must move for each cell, when every array is read once and written once.
    pub traffic: usize,
    /// True if equellec wrote it.
    pub generated: bool,
    /// Runs all steps.
    pub run: fn(&Problem) -> Run,
}

/// Size of a run, and its data.
pub struct Problem {
    /// Cells along each axis; at least 3.
    pub n: usize,
    /// Time steps; at least 2.
    pub steps: usize,
    /// Threads of generated programs.
    pub threads: usize,
    /// For generated programs.
    pub input: Input,
}

/// Results, and the time they took.
pub struct Run {
    /// Seconds of one step, the mean over all steps but the first.
    pub step: f64,
    /// After the last step, field after field.
    pub values: Vec<f64>,
}

/// Everything measured, one JSON object a line.
#[derive(Default)]
pub struct Report(Vec<String>);

impl Report {
    fn add(&mut self, suite: &Suite, case: &str, cells: usize, threads: usize, times: &[f64], copied: f64) {
        self.0.push(format!(
            "{{\"suite\":\"{}\",\"case\":\"{case}\",\"cells\":{cells},\"threads\":{threads},\"median_s\":{:e},\"least_s\":{:e},\"copy_bytes_per_s\":{copied:e}}}",
            suite.name,
            median(times),
            least(times)
        ));
    }

    /// Appends to a file.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn append(&self, path: &str) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the file can be written");
        writeln!(file, "{}", self.0.join("\n")).expect("the file can be written");
    }
}

impl Suite {
    fn cells(&self, n: usize) -> usize {
        n.pow(self.dim)
    }

    /// # Panics
    /// If results differ by more than the tolerance.
    fn compare(&self, name: &str, own: &[f64], reference: &[f64]) {
        assert_eq!(own.len(), reference.len(), "{name}: number of results");
        let largest = reference.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        // Written so that a NaN is the worst.
        let worst = own.iter().zip(reference).map(|(a, b)| (a - b).abs()).fold(0.0, |worst: f64, d| if d <= worst { worst } else { d });
        assert!(worst <= self.tolerance * largest, "{name}: results differ by {worst}, with values up to {largest}");
    }
}

/// Times of one size, as a table.
pub fn time(suite: &Suite, n: usize, steps: usize, repetitions: usize, report: &mut Report) {
    let problem = (suite.prepare)(n, steps);
    let cells = suite.cells(n);
    let mut copies = Vec::new();
    let mut times = vec![Vec::new(); suite.cases.len()];
    for _ in 0..repetitions {
        copies.push(copy(cells, steps, 1));
        let mut reference = Vec::new();
        for (case, times) in suite.cases.iter().zip(&mut times) {
            let run = (case.run)(&problem);
            times.push(run.step);
            if reference.is_empty() {
                reference = run.values;
            } else {
                suite.compare(case.name, &run.values, &reference);
            }
        }
    }
    let copied = 16.0 * cells as f64 / median(&copies);
    println!("\n## {}, {n}^{} = {cells} cells\n", suite.name, suite.dim);
    println!("{steps} steps, {repetitions} turns; copy {:.3} ms, {:.1} GB/s (16 B a cell).\n", median(&copies) * 1e3, copied / 1e9);
    println!("| case | ms/step | least | Mcells/s | B/cell | of copy bandwidth | time / by hand | least / least | peak memory |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (case, own) in suite.cases.iter().zip(&times) {
        let hand = &times[suite.cases.iter().position(|c| c.name == case.yardstick).expect("a case")];
        let ratios: Vec<f64> = own.iter().zip(hand).map(|(own, hand)| own / hand).collect();
        let step = median(own);
        println!(
            "| {} | {:.3} | {:.3} | {:.0} | {} | {:.0} % | {:.2} | {:.2} | {} |",
            case.name,
            step * 1e3,
            least(own) * 1e3,
            cells as f64 / step / 1e6,
            case.traffic,
            100.0 * (case.traffic * cells) as f64 / step / copied,
            median(&ratios),
            least(own) / least(hand),
            memory(suite, case, n)
        );
        report.add(suite, case.name, cells, 1, own, copied);
    }
}

/// Time per cell as grids grow, of the generated programs and of the loops by hand, which show what
/// of a jump is the machine's.
pub fn scaling(suite: &Suite, sizes: &[usize], steps: usize, repetitions: usize, report: &mut Report) {
    println!("\n## {}: time per cell as the grid grows\n", suite.name);
    println!(
        "{steps} steps, {repetitions} turns, one thread; ns/cell of the least disturbed turn, and in brackets the growth: over that of the column before.\n"
    );
    let problems: Vec<Problem> = sizes.iter().map(|&n| (suite.prepare)(n, steps)).collect();
    let mut times = vec![vec![Vec::new(); sizes.len()]; suite.cases.len()];
    for _ in 0..repetitions {
        // All cases of a size one after the other, so that a disturbance meets all of them.
        for (at, problem) in problems.iter().enumerate() {
            for (case, times) in suite.cases.iter().zip(&mut times) {
                times[at].push((case.run)(problem).step);
            }
        }
    }
    let head = |first: &str| {
        println!("| {first} |{}", sizes.iter().map(|&n| format!(" {} |", suite.cells(n))).collect::<String>());
        println!("| --- |{}", " ---: |".repeat(sizes.len()));
    };
    let per_cell = |case: usize, at: usize| least(&times[case][at]) / suite.cells(sizes[at]) as f64;
    let growth = |case: usize, at: usize| per_cell(case, at) / per_cell(case, at - 1);
    head("cells");
    for (number, case) in suite.cases.iter().enumerate() {
        let mut row = format!("| {} |", case.name);
        for (at, &n) in sizes.iter().enumerate() {
            row += &format!(" {:.3}", per_cell(number, at) * 1e9);
            if at > 0 {
                row += &format!(" ({:.2})", growth(number, at));
            }
            row += " |";
            report.add(suite, case.name, suite.cells(n), 1, &times[number][at], 0.0);
        }
        println!("{row}");
    }
    println!("\nTime over that of the loop by hand; in brackets growth over its growth: what of a jump is not the machine's.\n");
    head("cells");
    for (number, case) in suite.cases.iter().enumerate().filter(|(_, case)| case.generated) {
        let hand = suite.cases.iter().position(|c| c.name == case.yardstick).expect("a case");
        let mut row = format!("| {} |", case.name);
        for at in 0..sizes.len() {
            row += &format!(" {:.2}", per_cell(number, at) / per_cell(hand, at));
            if at > 0 {
                row += &format!(" ({:.2})", growth(number, at) / growth(hand, at));
            }
            row += " |";
        }
        println!("{row}");
    }
}

/// The generated programs with one thread and with two.
pub fn threads(suite: &Suite, n: usize, steps: usize, repetitions: usize, report: &mut Report) {
    let cells = suite.cells(n);
    let cases: Vec<&Case> = suite.cases.iter().filter(|case| case.generated).collect();
    let mut problem = (suite.prepare)(n, steps);
    let mut copies = [Vec::new(), Vec::new()];
    let mut times = vec![[Vec::new(), Vec::new()]; cases.len()];
    for _ in 0..repetitions {
        for threads in [1, 2] {
            problem.threads = threads;
            copies[threads - 1].push(copy(cells, steps, threads));
            for (case, times) in cases.iter().zip(&mut times) {
                times[threads - 1].push((case.run)(&problem).step);
            }
        }
    }
    println!("\n## {}, {n}^{} = {cells} cells: one thread against two\n", suite.name, suite.dim);
    println!("{steps} steps, {repetitions} turns.\n");
    println!("| case | ms/step, 1 thread | 2 threads | speed-up | speed-up of the least |\n| --- | ---: | ---: | ---: | ---: |");
    let mut row = |name: &str, times: &[Vec<f64>; 2]| {
        let [one, two] = times;
        let ratios: Vec<f64> = one.iter().zip(two).map(|(one, two)| one / two).collect();
        println!(
            "| {name} | {:.3} | {:.3} | {:.2} | {:.2} |",
            median(one) * 1e3,
            median(two) * 1e3,
            median(&ratios),
            least(one) / least(two)
        );
        (1..=2).for_each(|threads| report.add(suite, name, cells, threads, &times[threads - 1], 0.0));
    };
    row("copy of a field", &copies);
    cases.iter().zip(&times).for_each(|(case, times)| row(case.name, times));
}

/// Peak memory of a process that does nothing but one of the cases.
fn memory(suite: &Suite, case: &Case, n: usize) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).args(["memory", suite.name, case.name, &n.to_string()]).output().expect("this program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
