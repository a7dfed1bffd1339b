//! A process that compiles and runs one program after another does not grow. A test of its own: it
//! reads the memory of the process.
#![cfg(target_os = "linux")]

use std::fs;

use equelle::interpret;
use equelle_cuda::CudaKernels;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::lower;
use equelle_front::passes::{self, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::{Verified, verify};
use equelle_runtime::io::Sink;
use equelle_runtime::session::Options;

/// The memory of this process, in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

fn compile(source: &SourceMap) -> Verified {
    let checked = check_text(source.text(), &CheckOptions { nondimensional: true });
    let program = checked.program.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    verify(passes::optimise(lower::lower(&program, source, "case"), OptLevel::O2)).expect("a module")
}

/// Compiles a program and runs it by lanes.
fn by_lanes(text: &str) {
    let source = SourceMap::new("case.equelle", text);
    let verified = compile(&source);
    let words = ["grid_dim=1", "nx=8", "u_expression=x", "output_format=csv"].map(str::to_owned);
    let options = Options { sink: Sink::Nowhere, ..Options::silent() };
    interpret::run(interpret::program(&source, &verified), &verified, &words, options).unwrap_or_else(|error| panic!("{error}"));
}

/// The least leak that is seen in 1,000 rounds is one of 5 kB a round.
const BOUND: u64 = 5 << 20;

/// Asserts that rounds of some action leave the memory of the process as it was.
fn takes_no_memory(what: &str, rounds: u32, action: impl Fn()) {
    // The first rounds fill the free lists of the allocator.
    (0..rounds / 10).for_each(|_| action());
    let before = resident();
    (0..rounds).for_each(|_| action());
    let more = resident().saturating_sub(before);
    assert!(more < BOUND, "{what}: {rounds} rounds took {more} bytes more");
}

#[test]
fn rounds_of_compile_and_run_need_no_more_memory() {
    // 64 kB, so that 200 rounds that keep their text are more than twice the bound.
    let comment = format!("# {}\n", "a comment of some length ".repeat(2)).repeat(1 << 10);
    assert!(comment.len() as u64 * 200 > 2 * BOUND);
    let begin = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
        n = InputScalarWithDefault(\"n\", 3)\nFor i In Range(0, n) {\n";
    let explicit = "    u = u + 0.1 * Divergence(Gradient(u))\n    Output(\"u\", u)\n}\n";
    let implicit = "    residual(v) = { -> v - u + 0.1 * Divergence(-Gradient(v)) }\n    u = NewtonSolve(residual, u)\n\
        \x20   Output(\"u\", u)\n}\n";
    for (name, text, rounds) in [("explicit", explicit, 1000), ("implicit", implicit, 200)] {
        let text = format!("{comment}{begin}{text}");
        takes_no_memory(name, rounds, || by_lanes(&text));
    }
    // The kernels of a device alone: a run needs the device.
    let source = SourceMap::new("case.equelle", format!("{begin}{implicit}"));
    let verified = compile(&source);
    takes_no_memory("kernels of a device", 2000, || drop(CudaKernels::new(&verified).expect("kernels")));
}
