//! A longer run needs no more memory than a shorter one, in the interpreter. A test of its own: it
//! reads the peak of the process.
#![cfg(target_os = "linux")]

use std::fs;

use equelle::interpret;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::verify;
use equelle_runtime::io::Sink;
use equelle_runtime::session::Options;

/// The largest memory of this process so far, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

/// Runs a program in each kind of loop and of output.
fn run(text: &str, words: &[&str], sink: Sink) {
    let source = SourceMap::new("case.equelle", text);
    let checked = check_text(source.text(), &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let verified = verify(passes::optimise(lower::lower(&program, &source, "case"), OptLevel::O2)).expect("a module");
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let options = Options { sink, ..Options::silent() };
    interpret::run(interpret::program(&source, &verified), &verified, &words, options).unwrap_or_else(|error| panic!("{error}"));
}

/// The heap grows by 128 kB at a time; a double for each of 500 cells and 600 rounds is 2.4 MB, 100
/// bytes for each of 30,000 rounds are 3 MB.
const BOUND: u64 = 512 << 10;

#[test]
fn four_times_as_many_rounds_need_no_more_memory() {
    let begin = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        n = InputScalarWithDefault(\"n\", 1)\nt : Mutable Scalar = 0\n";
    let explicit = "    u = u + 0.1 * Divergence(Gradient(u))\n    Output(\"t\", MaxReduce(u))\n}\n";
    let implicit = "    residual(v) = { -> v - u + 0.1 * Divergence(-Gradient(v)) }\n    u = NewtonSolve(residual, u)\n}\n";
    let whole = "    u = u + 0.1 * Divergence(Gradient(u))\n    Output(\"u\", u)\n}\n";
    let programs = [
        ("range", format!("{begin}For i In Range(0, n) {{\n{explicit}")),
        ("condition", format!("{begin}While t < n {{\n    t = t + 1\n{explicit}")),
        ("solve", format!("{begin}For i In Range(0, n / 4) {{\n{implicit}")),
        ("collection", format!("{begin}For i In Range(0, n / 10) {{\n{whole}")),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("output_dir={}", folder.path().display());
    for (name, program) in &programs {
        // The rows of a table stay in memory, as many as there are.
        let ways = [
            (Sink::Files, ["output_to_file=false", "checkpoint_every=1000000"]),
            (Sink::Files, ["output_format=csv", "output_every=1000"]),
            (Sink::Nowhere, ["output_format=csv", "checkpoint_every=1"]),
        ];
        for (sink, outputs) in ways {
            for (cells, rounds) in [("nx=500", 200), ("nx=2", 10_000)] {
                let given = |rounds: usize| format!("n={rounds}");
                let once = |rounds| {
                    run(program, &["grid_dim=1", cells, "u_expression=x", &given(rounds), outputs[0], outputs[1], &dir], sink.clone())
                };
                once(rounds);
                let before = peak();
                once(4 * rounds);
                // Linux counts pages for each thread, and corrects the sum later.
                let more = peak().saturating_sub(before);
                assert!(more < BOUND, "{name} with {outputs:?} and {cells}: {more} bytes more");
            }
        }
    }
}
