//! Kernels compiled by NVRTC as programs do at their start. Needs no GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use backend_cuda::runtime::Precision;
use backend_cuda::runtime::device::gpu::{nvrtc::KernelRegisters, registers};
use backend_cuda::runtime::kernels::{OWN_MODULES, before_kernels};

use crate::tools::{self, Failure};

/// Name of a folder whose kernels are of single precision.
pub(crate) const SINGLES: &str = "generated-single";

/// Grids that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GridKind {
    Any,
    Cartesian,
    /// Cartesian with sides joined along all axes.
    Joined,
}

/// An architecture, the number of dimensions of the grid, and its kind.
type Target = (&'static str, u32, GridKind);

const TARGETS: [Target; 8] = [
    ("sm_80", 1, GridKind::Any),
    ("sm_80", 2, GridKind::Cartesian),
    ("sm_80", 3, GridKind::Any),
    ("sm_80", 3, GridKind::Joined),
    ("sm_90", 1, GridKind::Cartesian),
    ("sm_90", 2, GridKind::Any),
    ("sm_90", 2, GridKind::Joined),
    ("sm_90", 3, GridKind::Cartesian),
];

/// Targets that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Targets {
    /// Two architectures, grids of one to three dimensions, and the runtime's own kernels of single
    /// precision with them
    All,
    /// One of these for each file, in turn
    InTurn,
}

impl Targets {
    /// The targets of a file.
    fn for_file(self, number: usize) -> &'static [Target] {
        match self {
            Targets::All => &TARGETS,
            Targets::InTurn => &TARGETS[number % TARGETS.len()..][..1],
        }
    }
}

/// Compiles the `.cu` files below a folder, and prints what their kernels take of a
/// multiprocessor if that is asked for.
///
/// # Errors
/// There are none, or NVRTC rejects some.
pub(crate) fn run(folder: &Path, targets: Targets, prints_resources: bool) -> Result<(), Failure> {
    let mut texts = Vec::new();
    collect(folder, &mut texts)?;
    if texts.is_empty() {
        return Err(format!("no kernels in `{}`", folder.display()));
    }
    if targets == Targets::All {
        // Those of double precision are compiled by the tests of the runtime.
        let own = OWN_MODULES.into_iter().filter(|module| module.precision(Precision::Single) == Precision::Single);
        texts
            .extend(own.map(|module| (Path::new(SINGLES).join(format!("the runtime's own `{}`", module.name)), module.source.to_string())));
    }
    texts.sort();
    let next = AtomicUsize::new(0);
    let some = || {
        let mut failures = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((path, text)) = texts.get(number) else { return failures };
            failures.extend(compile(path, text, targets.for_file(number), prints_resources));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut failures: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|_| vec!["NVRTC panicked".to_owned()])).collect()
    });
    failures.sort();
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let list = TARGETS.map(described).join(", ");
    let how = if targets == Targets::All { "each for" } else { "in turn for" };
    eprintln!("xtask: NVRTC compiles the kernels of {} files, {how} {list}", texts.len());
    Ok(())
}

/// Appends the `.cu` files below a folder.
fn collect(folder: &Path, texts: &mut Vec<(PathBuf, String)>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(|error| format!("cannot list `{}`: {error}", folder.display()))?.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "cu") {
            let text = tools::read(&path)?;
            texts.push((path, text));
        }
    }
    Ok(())
}

fn described((arch, dim, kind): Target) -> String {
    let on = match kind {
        GridKind::Any => "",
        GridKind::Cartesian => " on Cartesian grids",
        GridKind::Joined => " on Cartesian grids with joined sides",
    };
    format!("{arch} in {dim}D{on}")
}

/// Compiles a file; returns NVRTC's errors.
fn compile(path: &Path, text: &str, targets: &[Target], prints_resources: bool) -> Vec<String> {
    let mut failures = Vec::new();
    let before = before_kernels();
    for &(arch, dim, kind) in targets {
        let mut options = vec![format!("-DDIM={dim}")];
        match kind {
            GridKind::Any => {}
            GridKind::Cartesian => options.push("-DEQ_CARTESIAN=1".to_owned()),
            GridKind::Joined => options.push(format!("-DEQ_JOINED={}", (1 << dim) - 1)),
        }
        if path.components().any(|part| part.as_os_str() == SINGLES) {
            options.push("-DEQ_SINGLE=1".to_owned());
        }
        let source = format!("{before}\n#line 1\n{text}");
        let target = described((arch, dim, kind));
        match registers::compile(&source, arch, &options) {
            Ok((_, kernels)) if prints_resources => {
                for KernelRegisters { kernel, registers, spill_stores, spill_loads } in kernels {
                    println!("{} {target}: {kernel} {registers} registers, {spill_stores} + {spill_loads} bytes spilled", path.display());
                }
            }
            Ok(_) => {}
            Err(error) => failures.push(format!("{} for {target}: {}", path.display(), error.message)),
        }
    }
    failures
}
