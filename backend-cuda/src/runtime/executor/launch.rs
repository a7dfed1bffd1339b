//! Launches and their shapes.

use std::time::Instant;

use equelle_runtime::{Error, reduce};

use crate::runtime::device::{Launch, LaunchShape};
use crate::runtime::executor::arguments::Call;
use crate::runtime::executor::autotune::{
    BLOCK, BLOCKS, CELL_BLOCK, CELL_BLOCKS, CELLS_PER_THREAD, GAIN, LONG_ENOUGH, LaunchConfig, LaunchDomain, MAX_BLOCKS, MAX_LAUNCHES,
    PLANES, ROUNDS, Tune, TuningState, WORTH_IT, even_planes, in_blocks, key, planes, row_cells,
};
use crate::runtime::executor::{Executor, kernel_cache};

impl Executor {
    /// Queues a launch.
    pub(crate) fn push(&self, launch: Launch) {
        self.queue.borrow_mut().push(launch);
    }

    /// Changes the last queued launch.
    pub(crate) fn with_last<T>(&self, change: impl FnOnce(&mut Launch) -> Option<T>) -> Option<T> {
        self.queue.borrow_mut().last_mut().and_then(change)
    }

    /// Queues a call with one thread per element; nothing for none.
    ///
    /// # Errors
    /// With `tune=yes` those of the device, which measures shapes; errors of the launch itself
    /// appear at the next flush.
    pub(crate) fn launch_over(&self, call: Call, elements: usize) -> Result<(), Error> {
        self.launch_tuned(call, LaunchDomain::Elements(elements))
    }

    /// Queues a call with one block per leaf of a reduction.
    pub(crate) fn launch_over_leaves(&self, call: Call, leaves: usize) {
        if leaves > 0 {
            self.push(call.shaped(LaunchShape { grid: [leaves as u32, 1, 1], block: [reduce::CHAINS as u32, 1, 1] }));
        }
    }

    /// Queues a call of a single thread.
    pub(crate) fn launch_once(&self, call: Call) {
        self.push(Executor::single_thread_launch(call));
    }

    /// Queues a call of one warp.
    pub(crate) fn launch_warp(&self, call: Call) {
        self.push(call.shaped(LaunchShape { grid: [1; 3], block: [32, 1, 1] }));
    }

    /// The launch of a call of a single thread.
    pub(crate) fn single_thread_launch(call: Call) -> Launch {
        call.shaped(LaunchShape { grid: [1; 3], block: [1; 3] })
    }

    /// Queues a call with one thread per cell of the Cartesian grid, blocks along rows.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub(crate) fn launch_over_cells(&self, call: Call) -> Result<(), Error> {
        let g = self.cartesian_args()?;
        let cells = g.n.iter().map(|&n| n as usize).product();
        self.launch_tuned(call, if g.flat == 1 { LaunchDomain::Elements(cells) } else { LaunchDomain::Cells })
    }

    /// Queues a call over the interior of the Cartesian grid, several cells per thread along the
    /// last axis, and then over its boundary cells, one per thread.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub(crate) fn launch_inside_and_boundary(&self, call: Call) -> Result<(), Error> {
        if self.cartesian_args()?.flat == 1 {
            return self.launch_over_cells(call);
        }
        self.launch_tuned(call, LaunchDomain::InsideAndBoundary)
    }

    /// Queues a call in the best known shape; nothing for no elements.
    pub(crate) fn launch_tuned(&self, call: Call, over: LaunchDomain) -> Result<(), Error> {
        if over == LaunchDomain::Elements(0) {
            return Ok(());
        }
        let config = self.config(&call, over)?;
        let launch = self.in_shape(call, over, config)?;
        self.push(launch);
        Ok(())
    }

    /// A launch of a call in a given shape.
    pub(crate) fn in_shape(&self, call: Call, over: LaunchDomain, config: LaunchConfig) -> Result<Launch, Error> {
        let [x, y] = config.block;
        let block = [x, y, 1];
        match over {
            LaunchDomain::Elements(elements) => Ok(call.shaped(in_blocks(elements, x))),
            LaunchDomain::Cells => {
                let g = self.cartesian_args()?;
                let grid = [g.n[0].div_ceil(x * config.row_cells), g.n[1].div_ceil(y), g.n[2].div_ceil(config.cells_per_thread)];
                let call = self.call_with_row_cells(call, config.row_cells)?;
                Ok(call.with_cells_per_thread(&g, config.cells_per_thread).shaped(LaunchShape { grid, block }))
            }
            LaunchDomain::InsideAndBoundary => {
                let g = self.cartesian_args()?;
                let dim = self.dim();
                let n = g.n.map(u64::from);
                let inside: u64 = n[..dim].iter().map(|n| n.saturating_sub(2)).product();
                // Where threads take several cells, blocks over the interior take the ends of rows.
                let beside = if config.row_cells == 1 { 0 } else { 2 * n[1..dim].iter().map(|n| n.saturating_sub(2)).product::<u64>() };
                let boundary = n.iter().product::<u64>() - inside - beside;
                let mut cells = block;
                cells[0] *= config.row_cells;
                cells[dim - 1] *= config.cells_per_thread;
                let [across, along, layers] = [0, 1, 2].map(|axis| g.n[axis].div_ceil(cells[axis]));
                let threads = u64::from(across) * u64::from(along) * u64::from(x * y);
                let shape = LaunchShape { grid: [across, along, layers + boundary.div_ceil(threads) as u32], block };
                let call = self.call_with_row_cells(call, config.row_cells)?;
                Ok(call.with_cells_per_thread(&g, config.cells_per_thread).shaped(shape))
            }
        }
    }

    /// The call of the variant of its function that takes so many cells of a row per thread.
    fn call_with_row_cells(&self, call: Call, row_cells: u32) -> Result<Call, Error> {
        let Some(rows) = call.rows() else { return Ok(call) };
        let Some((_, name)) = rows.names.iter().find(|(width, _)| *width == row_cells) else { return Ok(call) };
        let (function, name) = self.function(&rows.module, self.precision(), name)?;
        Ok(call.with_function(function, name))
    }

    /// Numbers of cells of a row that a thread may take: rows must be multiples of it.
    fn row_widths(&self, call: &Call, over: LaunchDomain) -> Result<Vec<u32>, Error> {
        let mut widths = vec![1];
        if let (LaunchDomain::InsideAndBoundary | LaunchDomain::Cells, Some(rows)) = (over, call.rows()) {
            let length = self.cartesian_args()?.n[0];
            widths.extend(rows.names.iter().map(|(width, _)| width).filter(|&width| length.is_multiple_of(width)));
        }
        Ok(widths)
    }

    /// The default shape.
    pub(crate) fn usual_config(&self, call: &Call, over: LaunchDomain) -> Result<LaunchConfig, Error> {
        Ok(match over {
            LaunchDomain::Elements(_) => LaunchConfig { block: BLOCK, cells_per_thread: 1, row_cells: 1 },
            LaunchDomain::Cells => {
                let n = self.cartesian_args()?.n;
                let cells = n.iter().map(|&n| n as usize).product();
                let row_cells = row_cells(&self.row_widths(call, over)?, cells);
                let planes = if call.goes_by_planes(row_cells) { planes(cells, row_cells, n[2]) } else { 1 };
                LaunchConfig { block: CELL_BLOCK, cells_per_thread: planes, row_cells }
            }
            LaunchDomain::InsideAndBoundary => {
                let grid = self.cartesian_args()?;
                let row_cells = row_cells(&self.row_widths(call, over)?, grid.n.iter().map(|&n| n as usize).product());
                LaunchConfig { block: CELL_BLOCK, cells_per_thread: grid.cells_per_thread, row_cells }
            }
        })
    }

    /// All shapes that a launch may have on this grid.
    pub(crate) fn configs(&self, call: &Call, over: LaunchDomain) -> Result<Vec<LaunchConfig>, Error> {
        let blocks: &[[u32; 2]] = match over {
            LaunchDomain::Elements(_) => &BLOCKS,
            LaunchDomain::Cells | LaunchDomain::InsideAndBoundary => &CELL_BLOCKS,
        };
        let mut configs = Vec::new();
        for row_cells in self.row_widths(call, over)? {
            let cells_per_thread = match over {
                LaunchDomain::InsideAndBoundary => CELLS_PER_THREAD.to_vec(),
                LaunchDomain::Cells if call.goes_by_planes(row_cells) => {
                    let (n, usual) = (self.cartesian_args()?.n, self.usual_config(call, over)?);
                    let mut planes: Vec<u32> = PLANES.iter().map(|&most| even_planes(most, n[2])).collect();
                    planes.extend((usual.row_cells == row_cells).then_some(usual.cells_per_thread));
                    planes.sort_unstable();
                    planes.dedup();
                    planes
                }
                LaunchDomain::Elements(_) | LaunchDomain::Cells => vec![1],
            };
            for cells_per_thread in cells_per_thread {
                for &block in blocks.iter().filter(|[x, y]| x * y <= call.most_threads(row_cells)) {
                    let config = LaunchConfig { block, cells_per_thread, row_cells };
                    let [_, y, z] = self.in_shape(call.clone(), over, config)?.shape.grid;
                    if y <= MAX_BLOCKS && z <= MAX_BLOCKS {
                        configs.push(config);
                    }
                }
            }
        }
        Ok(configs)
    }

    /// The shape of a call.
    fn config(&self, call: &Call, over: LaunchDomain) -> Result<LaunchConfig, Error> {
        let usual = self.usual_config(call, over)?;
        let function = call.function();
        let Some(kernel) = self.autotune.borrow().kernel(function) else { return Ok(usual) };
        if matches!(over, LaunchDomain::Elements(elements) if elements < WORTH_IT) {
            return Ok(usual);
        }
        let n = match over {
            LaunchDomain::Elements(_) => [0; 3],
            LaunchDomain::Cells | LaunchDomain::InsideAndBoundary => self.cartesian_args()?.n,
        };
        let (known, how) = self.autotune.borrow().known(function, over);
        let known = match known {
            Some(TuningState::Chosen(config)) => return Ok(config),
            Some(TuningState::Launched) if !call.repeats() => TuningState::Chosen(usual),
            Some(TuningState::Launched) => {
                let config = self.measured(call, over, usual)?;
                kernel_cache::write(key(kernel, over, n, self.device.properties()), "shape", config.text().as_bytes());
                TuningState::Chosen(config)
            }
            None if how == Tune::Yes => TuningState::Launched,
            None => {
                let kept = kernel_cache::read(key(kernel, over, n, self.device.properties()), "shape");
                let config =
                    self.configs(call, over)?.into_iter().find(|config| kept.as_deref() == Some(config.text().as_bytes())).unwrap_or(usual);
                self.autotune.borrow_mut().from_before += usize::from(config != usual);
                TuningState::Chosen(config)
            }
        };
        self.autotune.borrow_mut().learn(function, over, known);
        Ok(if let TuningState::Chosen(config) = known { config } else { usual })
    }

    /// The fastest shape of a call, which was launched before and may be launched again. Waits for
    /// the device.
    fn measured(&self, call: &Call, over: LaunchDomain, usual: LaunchConfig) -> Result<LaunchConfig, Error> {
        // Computes its inputs.
        self.flush()?;
        self.synchronise()?;
        let launches = ((LONG_ENOUGH / self.seconds(call, over, usual, 1)?) as usize).clamp(1, MAX_LAUNCHES);
        let mut best = (f64::INFINITY, usual);
        for config in self.configs(call, over)? {
            let seconds = self.seconds(call, over, config, launches)?;
            if seconds < best.0 {
                best = (seconds, config);
            }
        }
        // One after the other, since clocks may have changed since the first measurement.
        let (before, after) = (self.seconds(call, over, usual, launches)?, self.seconds(call, over, best.1, launches)?);
        let config = if after < GAIN * before { best.1 } else { usual };
        if config != usual {
            self.autotune.borrow_mut().measured.push(format!(
                "`{}` is launched in {}, which takes {:.2} of the time of {}",
                call.name(),
                config.title(over),
                after / before,
                usual.title(over)
            ));
        }
        Ok(config)
    }

    /// Seconds of one launch out of `launches` in a row.
    fn seconds(&self, call: &Call, over: LaunchDomain, config: LaunchConfig, launches: usize) -> Result<f64, Error> {
        let launch = self.in_shape(call.clone(), over, config)?;
        // SAFETY: the runtime put the call together, its kernel takes any of these shapes, and the
        // graph is freed before any of its memory is.
        let graph = unsafe { self.device.build_graph(&vec![launch; launches]) }?;
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
            self.count(|counters| {
                counters.kernels += launches as u64;
                counters.graphs += 1;
                counters.synchronisations += 1;
            });
        }
        self.device.free_graph(graph);
        result.map(|()| shortest)
    }
}
