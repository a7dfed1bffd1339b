//! Every solver with every preconditioner on every back-end, and the page of the book that says
//! what came of it. With `EQUELLE_BLESS` set the page is written.
#![cfg(feature = "runtime")]

use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

use backend_cuda::runtime::Space;
use backend_cuda::runtime::device::emulator::Emulator;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::linalg::{
    Csr, LinearCache, LinearError, LinearErrorKind, LinearOptions, MatrixSpace, Method, Preconditioning, Solution, refusal, solve_blocks,
    solve_in,
};

/// Cells along each edge of the box.
const SIZE: [usize; 3] = [12, 11, 10];
const TOLERANCE: f64 = 1e-8;

/// A matrix by what it does between neighbours: `entry(f, g, side)` couples equation `f` to unknown
/// `g` of a neighbour (-1 before, 1 behind on each axis) or of the cell itself (0, with the number
/// of neighbours).
fn matrix(fields: usize, entry: impl Fn(usize, usize, i32, usize) -> f64) -> Csr {
    let n = SIZE.iter().product::<usize>();
    let strides = [1, SIZE[0], SIZE[0] * SIZE[1]];
    let mut entries = Vec::new();
    for cell in 0..n {
        let mut neighbours = Vec::new();
        for axis in 0..3 {
            let place = cell / strides[axis] % SIZE[axis];
            if place > 0 {
                neighbours.push((cell - strides[axis], -1));
            }
            if place + 1 < SIZE[axis] {
                neighbours.push((cell + strides[axis], 1));
            }
        }
        let count = neighbours.len();
        for (other, side) in neighbours.into_iter().chain([(cell, 0)]) {
            for (f, g) in (0..fields).flat_map(|f| (0..fields).map(move |g| (f, g))) {
                let value = entry(f, g, side, count);
                if value != 0.0 {
                    entries.push((f * n + cell, g * n + other, value));
                }
            }
        }
    }
    Csr::from_triplets(fields * n, fields * n, &entries).expect("legal entries")
}

/// The systems of the page: what they are like, fields, and the matrix.
fn systems() -> Vec<(&'static str, usize, Csr)> {
    let diffusion = |side, count: usize| if side == 0 { count as f64 + 0.1 } else { -1.0 };
    let transport = |side, _| match side {
        0 => 6.3,
        -1 => -2.0,
        _ => -0.1,
    };
    let coupled = move |f, g, side, count| match (f, g) {
        (0, 0) => diffusion(side, count),
        (1, 1) => transport(side, count),
        _ if side == 0 => 0.3,
        _ => 0.0,
    };
    vec![
        ("Diffusion: one unknown a cell, symmetric", 1, matrix(1, |_, _, side, count| diffusion(side, count))),
        ("Transport: one unknown a cell, not symmetric", 1, matrix(1, |_, _, side, count| transport(side, count))),
        ("Pressure and transport: two unknowns a cell, not symmetric", 2, matrix(2, coupled)),
    ]
}

/// Outcome of a solve: iterations, or the reason for its failure.
fn outcome<V>(result: Result<Solution<V>, LinearError>, method: Method, preconditioner: Preconditioning) -> Result<String, String> {
    match result {
        Ok(solution) => {
            // The driver has checked the true residual; it must have taken what was asked for.
            assert_eq!((solution.method, solution.preconditioner), (method, preconditioner));
            assert!(solution.relative_residual <= TOLERANCE);
            Ok(if method == Method::Lu { "yes".to_owned() } else { solution.iterations.to_string() })
        }
        Err(error) => {
            let refused = refusal(method, preconditioner);
            assert_eq!(refused.is_some(), error.detail == refused.unwrap_or("no refusal"), "{error}");
            assert!(
                matches!(error.kind, LinearErrorKind::Unsuitable | LinearErrorKind::Breakdown),
                "{method:?} {preconditioner:?}: {error}"
            );
            // Places differ from matrix to matrix; what matters stands before them.
            Err(error.detail.split(':').next().unwrap_or_default().to_owned())
        }
    }
}

/// The page.
fn page(rt: &mut Space<f64>) -> String {
    let mut text = "# Solvers and preconditioners\n\n".to_owned();
    let n: usize = SIZE.iter().product();
    let _ = writeln!(
        text,
        "Every `solver` with every `preconditioner`: iterations on the serial back-end and on CUDA, on
systems of {n} cells solved to `solver_tol={TOLERANCE:e}`. CUDA looks at the residual every few iterations
only, and counts those until it looks; sweeps of multigrid for matrices that are not symmetric go by
colours there. `lu` runs on the device where cuDSS is found, else on the host, as it did for this
page. Numbers in brackets are reasons, below. This page is written by a test.
"
    );
    let mut reasons: Vec<String> = Vec::new();
    for (title, fields, matrix) in systems() {
        let ends: Vec<usize> = (1..=fields).map(|field| field * n).collect();
        let rhs: Vec<f64> = (0..fields * n).map(|k| (k % 13) as f64 - 5.0).collect();
        let _ = writeln!(text, "## {title}\n\n| | {} |", Method::ALL.map(|method| format!("`{}`", method.key())).join(" | "));
        let _ = writeln!(text, "| --- | {} |", Method::ALL.map(|_| "---").join(" | "));
        for preconditioner in Preconditioning::ALL {
            let cells = Method::ALL.map(|method| {
                let options = LinearOptions {
                    method: Some(method),
                    preconditioner: Some(preconditioner),
                    tolerance: TOLERANCE,
                    ..LinearOptions::default()
                };
                let serial = outcome(solve_blocks(&matrix, &ends, &rhs, &options, &mut LinearCache::default()), method, preconditioner);
                let device = {
                    let a = rt.matrix(matrix.clone()).expect("memory");
                    let b = rt.vector(rhs.clone()).expect("memory");
                    solve_in(rt, &a, &ends, b, &options, &mut LinearCache::default()).expect("a device")
                };
                let cuda = outcome(device, method, preconditioner);
                match (serial, cuda) {
                    (Ok(serial), Ok(cuda)) if method == Method::Lu => {
                        assert_eq!(serial, cuda);
                        serial
                    }
                    (Ok(serial), Ok(cuda)) => format!("{serial}, {cuda}"),
                    (Err(serial), Err(cuda)) => {
                        assert_eq!(serial, cuda);
                        let number = reasons.iter().position(|reason| *reason == serial).unwrap_or_else(|| {
                            reasons.push(serial);
                            reasons.len() - 1
                        });
                        format!("[{}]", number + 1)
                    }
                    (serial, cuda) => panic!("{method:?} {preconditioner:?}: {serial:?} on the serial back-end, {cuda:?} on CUDA"),
                }
            });
            let _ = writeln!(text, "| `{}` | {} |", preconditioner.key(), cells.join(" | "));
        }
        text.push('\n');
    }
    text.push_str("## Reasons\n\n");
    for (number, reason) in reasons.iter().enumerate() {
        let _ = writeln!(text, "{}. {reason}", number + 1);
    }
    text
}

#[test]
fn every_solver_with_every_preconditioner_on_every_back_end() {
    if !crate::common::host_compiler() {
        return;
    }
    let rt = crate::common::runtime(Rc::new(Emulator::new()), Grid::cartesian(Cartesian::line(2, 1.0)).expect("a grid"), &[]);
    let found = page(&mut rt.linear_space());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/reference/solvers.md");
    if std::env::var_os("EQUELLE_BLESS").is_some() {
        std::fs::write(&path, &found).expect("a file that can be written");
    }
    let expected = std::fs::read_to_string(&path).expect("the page");
    assert!(found == expected, "the page is out of date; `cargo xtask bless` writes it:\n{found}");
}
