//! Shapes of launches by measurement. With `tune=yes` a kernel of the program that is launched for the second time is timed in every shape that it may have, and the fastest is kept on disk for
//! this kernel, size and device. Later runs find it there, but with `tune=no`. A shape says which thread does what, and changes no bit of a result.
//!
//! Kernels of programs write what they do not read, so that launching them again gives the same; kernels of the runtime, some of which do not, keep their shapes.

use std::collections::HashMap;

use equelle_runtime::params::Parameters;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::{DeviceProperties, FunctionId, LaunchShape, ModuleId};
use crate::runtime::executor::kernel_cache;
use crate::runtime::kernels::{KernelModule, OWN_MODULES};

/// Threads of a block. On an H200 a step of explicit heat on 256^3 cells of an unstructured grid takes 0.605 ms with 128, 0.617 with 256, 0.622 with 512.
pub(super) const BLOCK: [u32; 2] = [128, 1];
/// Threads of a block over cells. A warp is a piece of a row; its rows share the cache lines of the layers above and below. Milliseconds on an H200 of explicit heat on 256^3 cells, and of a
/// stage of shallow water on 4096^2 cells: 32x4 0.110, 1.04; 32x8 0.114, 1.00; 64x4 0.117, 1.02; 128x2 0.121.
pub(super) const CELL_BLOCK: [u32; 2] = [32, 4];
/// Most cells that a thread goes through inside a Cartesian grid. A step of explicit heat on 256^3 cells takes 0.102, 0.100, 0.093, 0.093 ms on an H200 with 1, 2, 4, 8 of them.
const MOST_CELLS_PER_THREAD: usize = 4;
/// Threads that there should be before any goes through several cells: those that a GPU of today holds at a time.
const ENOUGH_THREADS: usize = 1 << 17;

/// Blocks that are tried over elements, and over cells. Kernels are compiled for 256 threads at most.
pub(super) const BLOCKS: [[u32; 2]; 3] = [[64, 1], [128, 1], [256, 1]];
pub(super) const CELL_BLOCKS: [[u32; 2]; 10] =
    [[16, 8], [16, 16], [32, 2], [32, 4], [32, 8], [64, 2], [64, 4], [128, 1], [128, 2], [256, 1]];
/// Cells a thread that are tried.
pub(super) const CELLS_PER_THREAD: [u32; 4] = [1, 2, 4, 8];
/// Blocks along the second and the third axis of a launch, at most.
pub(super) const MOST_BLOCKS: u32 = 65_535;

/// Elements from which a launch over them is worth a measurement: fewer are one block in any shape.
pub(super) const WORTH_IT: usize = 257;
/// What is measured together lasts about so many seconds, and is of so many launches at most.
pub(super) const LONG_ENOUGH: f64 = 2e-3;
pub(super) const MOST_LAUNCHES: usize = 64;
/// How often a shape is measured: once to warm up, then for the shortest time.
pub(super) const ROUNDS: usize = 4;
/// Another shape takes at most so much of the time of the usual one, or that one stays: less is noise.
pub(super) const GAIN: f64 = 0.98;

/// Whether shapes are looked for: parameter `tune`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tune {
    /// The usual shapes.
    No,
    /// Those that were found before, if any.
    #[default]
    Auto,
    /// Those that are measured now, to be kept.
    Yes,
}

impl Tune {
    /// From `tune` (`auto`).
    ///
    /// # Errors
    /// `Data` for another word than `auto`, `no` or `yes`.
    pub(crate) fn from_parameters(parameters: &Parameters) -> Result<Tune, Error> {
        match parameters.text("tune") {
            None | Some("auto") => Ok(Tune::Auto),
            Some("no") => Ok(Tune::No),
            Some("yes") => Ok(Tune::Yes),
            Some(other) => Err(Error::new(ErrorKind::Data, format!("parameter `tune` must be `auto`, `no` or `yes`, not `{other}`"))),
        }
    }
}

/// What the threads of a launch are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaunchDomain {
    /// One for each of so many elements.
    Elements(usize),
    /// One for each cell of the Cartesian grid.
    Cells,
    /// Each for some cells inside the Cartesian grid, then one for each on its boundary.
    InsideAndBoundary,
}

/// A shape, whatever the size: threads of a block along rows and across them, and cells that a thread goes through along the last axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaunchConfig {
    pub(crate) block: [u32; 2],
    pub(crate) cells_per_thread: u32,
}

impl LaunchConfig {
    pub(super) fn text(self) -> String {
        format!("{} {} {}", self.block[0], self.block[1], self.cells_per_thread)
    }

    pub(super) fn title(self, over: LaunchDomain) -> String {
        let [x, y] = self.block;
        match over {
            LaunchDomain::Elements(_) => format!("blocks of {x}"),
            LaunchDomain::Cells => format!("blocks of {x}x{y}"),
            LaunchDomain::InsideAndBoundary if self.cells_per_thread == 1 => format!("blocks of {x}x{y}, a cell a thread"),
            LaunchDomain::InsideAndBoundary => format!("blocks of {x}x{y}, {} cells a thread", self.cells_per_thread),
        }
    }
}

/// What is known of the shape of a kernel for a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was launched, and will be measured if it is again: what is launched once is not worth it.
    Launched,
    Chosen(LaunchConfig),
}

/// The shapes of a run.
#[derive(Debug, Default)]
pub(crate) struct Autotune {
    how: Tune,
    /// What identifies modules and kernels of the program on disk.
    modules: HashMap<ModuleId, u64>,
    kernels: HashMap<FunctionId, u64>,
    known: HashMap<(FunctionId, LaunchDomain), Known>,
    /// Kernels whose shape is another than the usual one because an earlier run found it.
    pub(super) from_before: usize,
    /// What was measured, for the summary.
    pub(super) measured: Vec<String>,
}

/// Cells that a thread goes through inside a Cartesian grid of so many.
pub(crate) fn cells_per_thread(cells: usize) -> u32 {
    (cells / ENOUGH_THREADS).clamp(1, MOST_CELLS_PER_THREAD) as u32
}

/// A thread for each element, in blocks of so many.
pub(super) fn in_blocks(elements: usize, threads: u32) -> LaunchShape {
    let blocks = (elements as u64).div_ceil(u64::from(threads)) as u32;
    LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1] }
}

/// A thread for each element, in the usual blocks.
pub(crate) fn shape_over(elements: usize) -> LaunchShape {
    in_blocks(elements, BLOCK[0])
}

impl Autotune {
    pub(crate) fn new(how: Tune) -> Autotune {
        Autotune { how, ..Autotune::default() }
    }

    /// A kernel that was found in a module.
    pub(crate) fn register(&mut self, id: ModuleId, module: &KernelModule, function: FunctionId, name: &str, compiled: &str) {
        if self.how == Tune::No || OWN_MODULES.contains(module) {
            return;
        }
        let module = *self.modules.entry(id).or_insert_with(|| {
            kernel_cache::hash(&[module.full_source().as_bytes(), format!("{:?}", module.floating_point).as_bytes(), compiled.as_bytes()])
        });
        self.kernels.insert(function, kernel_cache::hash(&[&module.to_le_bytes(), name.as_bytes()]));
    }

    /// What identifies a kernel on disk, if its shape is looked for.
    pub(super) fn kernel(&self, function: FunctionId) -> Option<u64> {
        self.kernels.get(&function).copied()
    }

    /// What is known of the shape of a kernel, and whether shapes are measured.
    pub(super) fn known(&self, function: FunctionId, over: LaunchDomain) -> (Option<Known>, Tune) {
        (self.known.get(&(function, over)).copied(), self.how)
    }

    /// Keeps what is known of the shape of a kernel.
    pub(super) fn learn(&mut self, function: FunctionId, over: LaunchDomain, known: Known) {
        self.known.insert((function, over), known);
    }

    /// Lines for the summary, once.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.measured);
        let kernels = if self.from_before == 1 { "1 kernel is".to_owned() } else { format!("{} kernels are", self.from_before) };
        notes.extend(
            (self.from_before > 0)
                .then(|| format!("{kernels} launched in shapes that an earlier run measured; `tune=no` takes the usual ones")),
        );
        notes
    }
}

/// Where a shape is kept.
pub(super) fn key(kernel: u64, over: LaunchDomain, n: [u32; 3], facts: &DeviceProperties) -> u64 {
    kernel_cache::hash(&[&kernel.to_le_bytes(), format!("{over:?} {n:?}").as_bytes(), facts.name.as_bytes(), facts.arch.as_bytes()])
}

#[cfg(test)]
mod tests;
