//! Autotuning of launch shapes. With `tune=yes` a kernel of the program is timed at its second
//! launch in every possible shape, and the fastest is cached on disk for this kernel, size and
//! device. Later runs use it, except with `tune=no`. A shape maps threads to elements and changes
//! no bit of a result.
//!
//! Kernels of programs write no array that they read, so repeated launches give the same result.
//! Those with results in place do, and some kernels of the runtime, so they keep their shapes.

use std::collections::HashMap;

use equelle_runtime::params::Parameters;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::{DeviceProperties, FunctionId, LaunchShape, ModuleId};
use crate::runtime::executor::kernel_cache;
use crate::runtime::kernels::{KernelModule, OWN_MODULES};

/// Threads per block. On an H200 a step of explicit heat on 256^3 cells of an unstructured grid
/// takes 0.605 ms with 128, 0.617 with 256, 0.622 with 512.
pub(super) const BLOCK: [u32; 2] = [128, 1];
/// Threads per block over cells. A warp is part of a row; its rows share the cache lines of the
/// layers above and below. Milliseconds on an H200 for explicit heat on 256^3 cells, and for a
/// stage of shallow water on 4096^2 cells: 32x4 0.110, 1.04; 32x8 0.114, 1.00; 64x4 0.117, 1.02;
/// 128x2 0.121.
pub(super) const CELL_BLOCK: [u32; 2] = [32, 4];
/// Largest number of cells per thread inside a Cartesian grid. A step of explicit heat on 256^3
/// cells takes 0.102, 0.100, 0.093, 0.093 ms on an H200 with 1, 2, 4, 8 of them.
const MAX_CELLS_PER_THREAD: usize = 4;
/// Number of threads from which several cells per thread pay: those that a current GPU runs at a
/// time.
const ENOUGH_THREADS: usize = 1 << 17;

/// Tuned block sizes over elements, and over cells. Kernels are compiled for 256 threads at most.
pub(super) const BLOCKS: [[u32; 2]; 3] = [[64, 1], [128, 1], [256, 1]];
pub(super) const CELL_BLOCKS: [[u32; 2]; 10] =
    [[16, 8], [16, 16], [32, 2], [32, 4], [32, 8], [64, 2], [64, 4], [128, 1], [128, 2], [256, 1]];
/// Tuned numbers of cells per thread.
pub(super) const CELLS_PER_THREAD: [u32; 4] = [1, 2, 4, 8];
/// Largest number of planes that a thread goes through, and tuned ones. Each run loads as many
/// values more as its kernel reads ahead; but with 32 planes the blocks of 256^3 doubles are 3.1
/// times those that an H100 runs at a time, with 16 they are 6.2 times, so its last ones idle less.
const MAX_PLANES: usize = 16;
pub(super) const PLANES: [u32; 6] = [1, 4, 8, 16, 32, 64];
/// Largest number of blocks along the second and the third axis of a launch.
pub(super) const MAX_BLOCKS: u32 = 65_535;

/// Least number of elements for tuning: fewer are one block in any shape.
pub(super) const WORTH_IT: usize = 257;
/// Duration in seconds of a measurement, and its largest number of launches.
pub(super) const LONG_ENOUGH: f64 = 2e-3;
pub(super) const MAX_LAUNCHES: usize = 64;
/// Number of measurements of a shape: one to warm up, then the minimum counts.
pub(super) const ROUNDS: usize = 4;
/// A shape replaces the default if it takes at most this part of its time: less is noise.
pub(super) const GAIN: f64 = 0.98;

/// The parameter `tune`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tune {
    /// Default shapes.
    No,
    /// Cached shapes, if any.
    #[default]
    Auto,
    /// Measure and cache shapes.
    Yes,
}

impl Tune {
    /// Reads `tune` (default `auto`).
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

/// The elements of a launch's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaunchDomain {
    /// One thread for each of these elements.
    Elements(usize),
    /// One thread for each cell of the Cartesian grid.
    Cells,
    /// Several cells per thread inside the Cartesian grid, then one thread for each boundary cell.
    InsideAndBoundary,
}

/// A shape for any size: threads of a block along and across rows, and cells per thread along the
/// last axis and, adjacent ones, along rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaunchConfig {
    pub(crate) block: [u32; 2],
    pub(crate) cells_per_thread: u32,
    pub(crate) row_cells: u32,
}

impl LaunchConfig {
    pub(super) fn text(self) -> String {
        format!("{} {} {} {}", self.block[0], self.block[1], self.cells_per_thread, self.row_cells)
    }

    pub(super) fn title(self, over: LaunchDomain) -> String {
        let [x, y] = self.block;
        match over {
            LaunchDomain::Elements(_) => format!("blocks of {x}"),
            LaunchDomain::Cells => match (self.row_cells, self.cells_per_thread) {
                (1, _) => format!("blocks of {x}x{y}"),
                (row, 1) => format!("blocks of {x}x{y}, {row} cells of a row a thread"),
                (row, planes) => format!("blocks of {x}x{y}, {row} cells of a row in {planes} planes a thread"),
            },
            LaunchDomain::InsideAndBoundary => match (self.row_cells, self.cells_per_thread) {
                (1, 1) => format!("blocks of {x}x{y}, a cell a thread"),
                (1, cells) => format!("blocks of {x}x{y}, {cells} cells a thread"),
                (row, 1) => format!("blocks of {x}x{y}, {row} cells of a row a thread"),
                (row, rows) => format!("blocks of {x}x{y}, {row} cells of a row and {rows} rows a thread"),
            },
        }
    }
}

/// The tuning state of a kernel for a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TuningState {
    /// Launched once; measured if it is launched again, since a single launch does not pay.
    Launched,
    Chosen(LaunchConfig),
}

/// The launch shapes of a run.
#[derive(Debug, Default)]
pub(crate) struct Autotune {
    how: Tune,
    /// Keys of the program's modules and kernels on disk.
    modules: HashMap<ModuleId, u64>,
    kernels: HashMap<FunctionId, u64>,
    known: HashMap<(FunctionId, LaunchDomain), TuningState>,
    /// Number of kernels with a cached shape other than the default.
    pub(super) from_before: usize,
    /// Measurements, for the summary.
    pub(super) measured: Vec<String>,
}

/// Rows or layers per thread inside a Cartesian grid of `cells` cells, however many cells of a row
/// it takes: with four of a row, 100^3 singles take 0.0093, 0.0080, 0.0072 ms on an H100 with 1, 2,
/// 4 of them.
pub(crate) fn cells_per_thread(cells: usize) -> u32 {
    (cells / ENOUGH_THREADS).clamp(1, MAX_CELLS_PER_THREAD) as u32
}

/// Cells of a row per thread: as many as there are functions for and as rows are multiples of,
/// where that leaves enough threads.
pub(crate) fn row_cells(widths: &[u32], cells: usize) -> u32 {
    widths.iter().copied().filter(|&width| width == 1 || cells / width as usize >= ENOUGH_THREADS).max().unwrap_or(1)
}

/// Planes that a thread goes through with so many cells of a row, where they are `layers` in all:
/// as even shares as leave threads for the device twice.
pub(crate) fn planes(cells: usize, row_cells: u32, layers: u32) -> u32 {
    let most = cells / row_cells as usize / (2 * ENOUGH_THREADS);
    even_planes(most.clamp(1, MAX_PLANES) as u32, layers)
}

/// The planes of each share, of which there are as many as with `most` planes each.
pub(super) fn even_planes(most: u32, layers: u32) -> u32 {
    layers.div_ceil(layers.div_ceil(most).max(1)).max(1)
}

/// One thread per element, in blocks of `threads`.
pub(super) fn in_blocks(elements: usize, threads: u32) -> LaunchShape {
    let blocks = (elements as u64).div_ceil(u64::from(threads)) as u32;
    LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1] }
}

/// One thread per element, in blocks of the default size.
pub(crate) fn shape_over(elements: usize) -> LaunchShape {
    in_blocks(elements, BLOCK[0])
}

impl Autotune {
    pub(crate) fn new(how: Tune) -> Autotune {
        Autotune { how, ..Autotune::default() }
    }

    /// Registers a kernel of a module.
    pub(crate) fn register(&mut self, id: ModuleId, module: &KernelModule, function: FunctionId, name: &str, compiled: &str) {
        if self.how == Tune::No || OWN_MODULES.contains(module) {
            return;
        }
        let module = *self.modules.entry(id).or_insert_with(|| {
            kernel_cache::hash(&[module.full_source().as_bytes(), format!("{:?}", module.floating_point).as_bytes(), compiled.as_bytes()])
        });
        self.kernels.insert(function, kernel_cache::hash(&[&module.to_le_bytes(), name.as_bytes()]));
    }

    /// The key of a kernel on disk, if it is tuned.
    pub(super) fn kernel(&self, function: FunctionId) -> Option<u64> {
        self.kernels.get(&function).copied()
    }

    /// The tuning state of a kernel, and the parameter `tune`.
    pub(super) fn known(&self, function: FunctionId, over: LaunchDomain) -> (Option<TuningState>, Tune) {
        (self.known.get(&(function, over)).copied(), self.how)
    }

    /// Stores the tuning state of a kernel.
    pub(super) fn learn(&mut self, function: FunctionId, over: LaunchDomain, known: TuningState) {
        self.known.insert((function, over), known);
    }

    /// Lines for the summary; returned once.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.measured);
        let kernels = if self.from_before == 1 { "1 kernel is".to_owned() } else { format!("{} kernels are", self.from_before) };
        notes.extend(
            (self.from_before > 0)
                .then(|| format!("{kernels} launched in shapes that an earlier run measured; `tune=no` takes the default shapes")),
        );
        notes
    }
}

/// The key of a shape in the cache.
pub(super) fn key(kernel: u64, over: LaunchDomain, n: [u32; 3], properties: &DeviceProperties) -> u64 {
    kernel_cache::hash(&[
        &kernel.to_le_bytes(),
        format!("{over:?} {n:?}").as_bytes(),
        properties.name.as_bytes(),
        properties.arch.as_bytes(),
    ])
}

#[cfg(all(test, feature = "codegen"))]
mod planes_tests;
#[cfg(test)]
mod row_cells_tests;
#[cfg(test)]
mod tests;
