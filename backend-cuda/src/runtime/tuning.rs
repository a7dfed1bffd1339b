//! Shapes of launches by measurement. With `tune=yes` a kernel of the program that is launched for the second time is timed in every shape that it may have, and the fastest is kept on disk for
//! this kernel, size and device. Later runs find it there, but with `tune=no`. A shape says which thread does what, and changes no bit of a result.
//!
//! Kernels of programs write what they do not read, so that launching them again gives the same; kernels of the runtime, some of which do not, keep their shapes.

use std::collections::HashMap;
use std::time::Instant;

use equelle_runtime::params::Parameters;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::args::Call;
use crate::runtime::cache;
use crate::runtime::device::{DeviceFacts, FunctionId, Launch, LaunchShape, ModuleId};
use crate::runtime::kernels::{KernelModule, OWN_MODULES};
use crate::runtime::program::CudaRuntime;

/// Threads of a block. On an H200 a step of explicit heat on 256^3 cells of an unstructured grid takes 0.605 ms with 128, 0.617 with 256, 0.622 with 512.
const BLOCK: [u32; 2] = [128, 1];
/// Threads of a block over cells. A warp is a piece of a row; its rows share the cache lines of the layers above and below. Milliseconds on an H200 of explicit heat on 256^3 cells, and of a
/// stage of shallow water on 4096^2 cells: 32x4 0.110, 1.04; 32x8 0.114, 1.00; 64x4 0.117, 1.02; 128x2 0.121.
const CELL_BLOCK: [u32; 2] = [32, 4];
/// Most cells that a thread goes through inside a Cartesian grid. A step of explicit heat on 256^3 cells takes 0.102, 0.100, 0.093, 0.093 ms on an H200 with 1, 2, 4, 8 of them.
const LONGEST_MARCH: usize = 4;
/// Threads that there should be before any goes through several cells: those that a GPU of today holds at a time.
const ENOUGH_THREADS: usize = 1 << 17;

/// Blocks that are tried over elements, and over cells. Kernels are compiled for 256 threads at most.
const BLOCKS: [[u32; 2]; 3] = [[64, 1], [128, 1], [256, 1]];
const CELL_BLOCKS: [[u32; 2]; 10] = [[16, 8], [16, 16], [32, 2], [32, 4], [32, 8], [64, 2], [64, 4], [128, 1], [128, 2], [256, 1]];
/// Cells a thread that are tried.
const MARCHES: [u32; 4] = [1, 2, 4, 8];
/// Blocks along the second and the third axis of a launch, at most.
const MOST_BLOCKS: u32 = 65_535;

/// Elements from which a launch over them is worth a measurement: fewer are one block in any shape.
const WORTH_IT: usize = 257;
/// What is measured together lasts about so many seconds, and is of so many launches at most.
const LONG_ENOUGH: f64 = 2e-3;
const MOST_LAUNCHES: usize = 64;
/// How often a shape is measured: once to warm up, then for the shortest time.
const ROUNDS: usize = 4;
/// Another shape takes at most so much of the time of the usual one, or that one stays: less is noise.
const GAIN: f64 = 0.98;

/// Whether shapes are looked for: parameter `tune`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tune {
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
    pub(super) fn from_parameters(parameters: &Parameters) -> Result<Tune, Error> {
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
pub(super) enum Over {
    /// One for each of so many elements.
    Elements(usize),
    /// One for each cell of the Cartesian grid.
    Cells,
    /// Each for some cells inside the Cartesian grid, then one for each on its boundary.
    InsideAndBoundary,
}

/// A shape, whatever the size: threads of a block along rows and across them, and cells that a thread goes through along the last axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) block: [u32; 2],
    pub(super) march: u32,
}

impl Tile {
    fn text(self) -> String {
        format!("{} {} {}", self.block[0], self.block[1], self.march)
    }

    fn title(self, over: Over) -> String {
        let [x, y] = self.block;
        match over {
            Over::Elements(_) => format!("blocks of {x}"),
            Over::Cells => format!("blocks of {x}x{y}"),
            Over::InsideAndBoundary if self.march == 1 => format!("blocks of {x}x{y}, a cell a thread"),
            Over::InsideAndBoundary => format!("blocks of {x}x{y}, {} cells a thread", self.march),
        }
    }
}

/// What is known of the shape of a kernel for a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It was launched, and will be measured if it is again: what is launched once is not worth it.
    Launched,
    Chosen(Tile),
}

/// The shapes of a run.
#[derive(Debug, Default)]
pub(super) struct Tuning {
    how: Tune,
    /// What identifies modules and kernels of the program on disk.
    modules: HashMap<ModuleId, u128>,
    kernels: HashMap<FunctionId, u128>,
    known: HashMap<(FunctionId, Over), Known>,
    /// Kernels whose shape is another than the usual one because an earlier run found it.
    from_before: usize,
}

/// Cells that a thread goes through inside a Cartesian grid of so many.
pub(super) fn march(cells: usize) -> u32 {
    (cells / ENOUGH_THREADS).clamp(1, LONGEST_MARCH) as u32
}

/// A thread for each element, in blocks of so many.
fn in_blocks(elements: usize, threads: u32) -> LaunchShape {
    let blocks = (elements as u64).div_ceil(u64::from(threads)) as u32;
    LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1] }
}

/// A thread for each element, in the usual blocks.
pub(super) fn shape_over(elements: usize) -> LaunchShape {
    in_blocks(elements, BLOCK[0])
}

impl Tuning {
    pub(super) fn new(how: Tune) -> Tuning {
        Tuning { how, ..Tuning::default() }
    }

    /// A kernel that was found in a module.
    pub(super) fn register(&mut self, id: ModuleId, module: &KernelModule, function: FunctionId, name: &str, compiled: &str) {
        if self.how == Tune::No || OWN_MODULES.contains(module) {
            return;
        }
        let module = *self.modules.entry(id).or_insert_with(|| {
            cache::hash(&[module.full_source().as_bytes(), format!("{:?}", module.floating_point).as_bytes(), compiled.as_bytes()])
        });
        self.kernels.insert(function, cache::hash(&[&module.to_le_bytes(), name.as_bytes()]));
    }

    /// Lines for the summary.
    pub(super) fn note(&self) -> Option<String> {
        let kernels = if self.from_before == 1 { "1 kernel is".to_owned() } else { format!("{} kernels are", self.from_before) };
        (self.from_before > 0).then(|| format!("{kernels} launched in shapes that an earlier run measured; `tune=no` takes the usual ones"))
    }
}

/// Where a shape is kept.
fn key(kernel: u128, over: Over, n: [u32; 3], facts: &DeviceFacts) -> u128 {
    cache::hash(&[&kernel.to_le_bytes(), format!("{over:?} {n:?}").as_bytes(), facts.name.as_bytes(), facts.arch.as_bytes()])
}

impl CudaRuntime {
    /// Queues a call in the shape that is best as far as is known; nothing for no elements.
    pub(super) fn launch_tuned(&mut self, call: Call, over: Over) -> Result<(), Error> {
        if over == Over::Elements(0) {
            return Ok(());
        }
        let tile = self.tile(&call, over)?;
        let launch = self.in_shape(call, over, tile)?;
        self.queue.push(launch);
        Ok(())
    }

    /// A call in a shape.
    pub(super) fn in_shape(&self, call: Call, over: Over, tile: Tile) -> Result<Launch, Error> {
        let [x, y] = tile.block;
        let block = [x, y, 1];
        let grid = match over {
            Over::Elements(elements) => return Ok(call.shaped(in_blocks(elements, x))),
            Over::Cells => {
                let n = self.cartesian_args()?.n;
                [n[0].div_ceil(x), n[1].div_ceil(y), n[2]]
            }
            Over::InsideAndBoundary => {
                let g = self.cartesian_args()?;
                let dim = self.session.grid().dim();
                let n = g.n.map(u64::from);
                let inside: u64 = n[..dim].iter().map(|n| n.saturating_sub(2)).product();
                let boundary = n.iter().product::<u64>() - inside;
                let mut cells = block;
                cells[dim - 1] *= tile.march;
                let [across, along, layers] = [0, 1, 2].map(|axis| g.n[axis].div_ceil(cells[axis]));
                let threads = u64::from(across) * u64::from(along) * u64::from(x * y);
                let shape = LaunchShape { grid: [across, along, layers + boundary.div_ceil(threads) as u32], block };
                return Ok(call.marching(&g, tile.march).shaped(shape));
            }
        };
        Ok(call.shaped(LaunchShape { grid, block }))
    }

    /// The shape where nothing was measured.
    pub(super) fn usual_tile(&self, over: Over) -> Result<Tile, Error> {
        Ok(match over {
            Over::Elements(_) => Tile { block: BLOCK, march: 1 },
            Over::Cells => Tile { block: CELL_BLOCK, march: 1 },
            Over::InsideAndBoundary => Tile { block: CELL_BLOCK, march: self.cartesian_args()?.march },
        })
    }

    /// All shapes that a launch may have on this grid.
    pub(super) fn tiles(&self, over: Over) -> Result<Vec<Tile>, Error> {
        let (blocks, marches): (&[[u32; 2]], &[u32]) = match over {
            Over::Elements(_) => (&BLOCKS, &[1]),
            Over::Cells => (&CELL_BLOCKS, &[1]),
            Over::InsideAndBoundary => (&CELL_BLOCKS, &MARCHES),
        };
        let all = marches.iter().flat_map(|&march| blocks.iter().map(move |&block| Tile { block, march }));
        let mut tiles = Vec::new();
        for tile in all {
            let nothing = Call::new(FunctionId(0), "");
            let [_, y, z] = self.in_shape(nothing, over, tile)?.shape.grid;
            if y <= MOST_BLOCKS && z <= MOST_BLOCKS {
                tiles.push(tile);
            }
        }
        Ok(tiles)
    }

    /// The shape of a call.
    fn tile(&mut self, call: &Call, over: Over) -> Result<Tile, Error> {
        let usual = self.usual_tile(over)?;
        let function = call.function();
        let Some(&kernel) = self.tuning.kernels.get(&function) else { return Ok(usual) };
        if matches!(over, Over::Elements(elements) if elements < WORTH_IT) {
            return Ok(usual);
        }
        let n = match over {
            Over::Elements(_) => [0; 3],
            Over::Cells | Over::InsideAndBoundary => self.cartesian_args()?.n,
        };
        let known = match self.tuning.known.get(&(function, over)) {
            Some(&Known::Chosen(tile)) => return Ok(tile),
            Some(Known::Launched) => {
                let tile = self.measured(call, over, usual)?;
                cache::write(key(kernel, over, n, self.device.facts()), "shape", tile.text().as_bytes());
                Known::Chosen(tile)
            }
            None if self.tuning.how == Tune::Yes => Known::Launched,
            None => {
                let kept = cache::read(key(kernel, over, n, self.device.facts()), "shape");
                let tile = self.tiles(over)?.into_iter().find(|tile| kept.as_deref() == Some(tile.text().as_bytes())).unwrap_or(usual);
                self.tuning.from_before += usize::from(tile != usual);
                Known::Chosen(tile)
            }
        };
        self.tuning.known.insert((function, over), known);
        Ok(if let Known::Chosen(tile) = known { tile } else { usual })
    }

    /// The fastest shape of a call, which has been launched before and may be launched again. Waits for the device.
    fn measured(&mut self, call: &Call, over: Over, usual: Tile) -> Result<Tile, Error> {
        // What it reads is there then.
        self.flush()?;
        self.synchronise()?;
        let launches = ((LONG_ENOUGH / self.seconds(call, over, usual, 1)?) as usize).clamp(1, MOST_LAUNCHES);
        let mut best = (f64::INFINITY, usual);
        for tile in self.tiles(over)? {
            let seconds = self.seconds(call, over, tile, launches)?;
            if seconds < best.0 {
                best = (seconds, tile);
            }
        }
        // One after the other: clocks may have changed since the first of them.
        let (before, after) = (self.seconds(call, over, usual, launches)?, self.seconds(call, over, best.1, launches)?);
        let tile = if after < GAIN * before { best.1 } else { usual };
        if tile != usual {
            self.session.note(format!(
                "`{}` is launched in {}, which takes {:.2} of the time of {}",
                call.name(),
                tile.title(over),
                after / before,
                usual.title(over)
            ));
        }
        Ok(tile)
    }

    /// Seconds of a launch among some of them in a row.
    fn seconds(&mut self, call: &Call, over: Over, tile: Tile, launches: usize) -> Result<f64, Error> {
        let launch = self.in_shape(call.clone(), over, tile)?;
        // SAFETY: the runtime put the call together, its kernel takes any of these shapes, and the graph is freed before any of its memory is.
        let graph = self.located(unsafe { self.device.build_graph(&vec![launch; launches]) })?;
        let mut shortest = f64::INFINITY;
        let mut result = Ok(());
        for round in 0..ROUNDS {
            let start = Instant::now();
            // SAFETY: as above.
            result = unsafe { self.device.launch_graph(graph) }.and_then(|()| self.device.synchronise());
            if result.is_err() {
                break;
            }
            if round > 0 {
                shortest = shortest.min(start.elapsed().as_secs_f64() / launches as f64);
            }
            self.counters.kernels += launches as u64;
            self.counters.graphs += 1;
            self.counters.synchronisations += 1;
        }
        self.device.free_graph(graph);
        self.located(result)?;
        Ok(shortest)
    }
}

#[cfg(test)]
mod tests;
