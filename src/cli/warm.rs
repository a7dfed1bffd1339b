//! `equellec doctor --warm`: what first runs would wait for is built ahead. The runtime, with the
//! direct solver and without it; on a GPU also the kernels of the runtime.

use std::fs;
use std::process::{Command, Stdio};

use equelle_front::backend::DeviceKind;

use super::args::{Ad, Fp, Level, ProgramArgs, Real};
use super::compile::compile;
use crate::console::Console;
use equelle::failure::Failure;
use equelle::processor::TargetCpu;
use equelle::registry::Registry;

/// Programs without and with equations.
const PROGRAMS: [(&str, &str); 2] = [
    (
        "explicit",
        "# dimensions: ignore\n\
         u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
         For dt In InputSequenceOfScalar(\"steps\") {\n    u = u + dt * Divergence(Gradient(u))\n}\n\
         Output(\"largest\", MaxReduce(u))\n",
    ),
    (
        "implicit",
        "# dimensions: ignore\n\
         u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
         For dt In InputSequenceOfScalar(\"steps\") {\n\
         residual(v) = {\n        -> v - u - dt * Divergence(Gradient(v))\n    }\n    u = NewtonSolve(residual, u)\n}\n\
         Output(\"largest\", MaxReduce(u))\n",
    ),
];

/// Grids of each dimension, large enough for levels of multigrid.
const GRIDS: [&[&str]; 3] = [&["nx=20000"], &["nx=150", "ny=150"], &["nx=28", "ny=28", "nz=28"]];

/// Parameters that choose the methods whose kernels are compiled.
const METHODS: [&[&str]; 2] = [&["solver=cg", "preconditioner=jacobi"], &["solver=cg", "preconditioner=amg"]];

/// Builds programs for all back-ends that run here, and runs those on a device.
pub(super) fn warm(backends: Registry, console: &Console) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::io("write", &std::env::temp_dir(), &error))?;
    let how = ProgramArgs {
        level: Level::Two,
        nondimensional: false,
        ad: Ad::Stencil,
        precision: Real::F64,
        fp: Fp::Strict,
        audit: false,
        store: Vec::new(),
        inline: Vec::new(),
        report: false,
    };
    for backend in backends.iter().copied().filter(|backend| backend.availability().runs) {
        for (name, text) in PROGRAMS {
            let file = folder.path().join(format!("{name}.equelle"));
            fs::write(&file, text).map_err(|error| Failure::io("write", &file, &error))?;
            let compiled = compile(&file, &how, &[backend], console)?;
            let program = compiled.cached(&TargetCpu::Native)?.program(console)?;
            if backend.device_kind() == DeviceKind::Cores {
                continue;
            }
            let methods = if compiled.is_implicit() { &METHODS[..] } else { &[&[][..]] };
            for (words, method) in GRIDS.iter().flat_map(|words| methods.iter().map(move |method| (words, method))) {
                let mut run = Command::new(&program);
                run.args(["--quiet", "u=x", "steps=2*0.1"]).args(*words).args(*method);
                let ended =
                    run.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|error| Failure::io("start", &program, &error))?;
                if !ended.success() {
                    return Err(Failure::Internal(format!("a small program fails on {}", backend.description())));
                }
            }
        }
        console.progress(&format!("Programs for {} start at once", backend.description()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use equelle_front::check::{CheckOptions, check_text};

    use super::PROGRAMS;

    #[test]
    fn the_programs_are_programs() {
        for (name, text) in PROGRAMS {
            assert!(check_text(text, &CheckOptions { nondimensional: false }).program.is_some(), "{name}");
        }
    }
}
