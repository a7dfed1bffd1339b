//! Shapes of launches: the usual one, and the fastest one that autotuning finds.

use std::time::Instant;

use equelle_runtime::Error;

use crate::runtime::device::{Launch, LaunchShape};
use crate::runtime::executor::arguments::Call;
use crate::runtime::executor::autotune::{
    BLOCK, BLOCKS, CELL_BLOCK, CELL_BLOCKS, CELLS_PER_THREAD, GAIN, LONG_ENOUGH, LaunchConfig, LaunchDomain, MAX_BLOCKS, MAX_LAUNCHES,
    PLANES, ROUNDS, Tune, TuningState, WORTH_IT, even_planes, in_blocks, key, planes, row_cells,
};
use crate::runtime::executor::{Executor, kernel_cache};

/// The shapes in which calls may be launched over a domain.
pub(crate) struct Shapes<'e> {
    pub executor: &'e Executor,
    pub over: LaunchDomain,
}

impl Shapes<'_> {
    /// A launch of a call in a given shape.
    pub fn launch(&self, call: Call, config: LaunchConfig) -> Result<Launch, Error> {
        let [x, y] = config.block;
        let block = [x, y, 1];
        match self.over {
            LaunchDomain::Elements(elements) => Ok(call.shaped(in_blocks(elements, x))),
            LaunchDomain::Cells => {
                let g = self.executor.cartesian_args()?;
                let grid = [g.n[0].div_ceil(x * config.row_cells), g.n[1].div_ceil(y), g.n[2].div_ceil(config.cells_per_thread)];
                let call = self.call_with_row_cells(call, config.row_cells)?;
                Ok(call.with_cells_per_thread(&g, config.cells_per_thread).shaped(LaunchShape { grid, block }))
            }
            LaunchDomain::InsideAndBoundary => {
                let g = self.executor.cartesian_args()?;
                let dim = self.executor.dim();
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
        let (function, name) = self.executor.function(&rows.module, self.executor.precision(), name)?;
        Ok(call.with_function(function, name))
    }

    /// Numbers of cells of a row that a thread may take: rows must be multiples of it.
    fn row_widths(&self, call: &Call) -> Result<Vec<u32>, Error> {
        let mut widths = vec![1];
        if let (LaunchDomain::InsideAndBoundary | LaunchDomain::Cells, Some(rows)) = (self.over, call.rows()) {
            let length = self.executor.cartesian_args()?.n[0];
            widths.extend(rows.names.iter().map(|(width, _)| width).filter(|&width| length.is_multiple_of(width)));
        }
        Ok(widths)
    }

    /// The default shape.
    pub fn usual(&self, call: &Call) -> Result<LaunchConfig, Error> {
        Ok(match self.over {
            LaunchDomain::Elements(_) => LaunchConfig { block: BLOCK, cells_per_thread: 1, row_cells: 1 },
            LaunchDomain::Cells => {
                let n = self.executor.cartesian_args()?.n;
                let cells = n.iter().map(|&n| n as usize).product();
                let row_cells = row_cells(&self.row_widths(call)?, cells);
                let planes = if call.goes_by_planes(row_cells) { planes(cells, row_cells, n[2]) } else { 1 };
                LaunchConfig { block: CELL_BLOCK, cells_per_thread: planes, row_cells }
            }
            LaunchDomain::InsideAndBoundary => {
                let grid = self.executor.cartesian_args()?;
                let row_cells = row_cells(&self.row_widths(call)?, grid.n.iter().map(|&n| n as usize).product());
                LaunchConfig { block: CELL_BLOCK, cells_per_thread: grid.cells_per_thread, row_cells }
            }
        })
    }

    /// All shapes that a launch may have on this grid.
    pub fn all(&self, call: &Call) -> Result<Vec<LaunchConfig>, Error> {
        let blocks: &[[u32; 2]] = match self.over {
            LaunchDomain::Elements(_) => &BLOCKS,
            LaunchDomain::Cells | LaunchDomain::InsideAndBoundary => &CELL_BLOCKS,
        };
        let mut configs = Vec::new();
        for row_cells in self.row_widths(call)? {
            let cells_per_thread = match self.over {
                LaunchDomain::InsideAndBoundary => CELLS_PER_THREAD.to_vec(),
                LaunchDomain::Cells if call.goes_by_planes(row_cells) => {
                    let (n, usual) = (self.executor.cartesian_args()?.n, self.usual(call)?);
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
                    let [_, y, z] = self.launch(call.clone(), config)?.shape.grid;
                    if y <= MAX_BLOCKS && z <= MAX_BLOCKS {
                        configs.push(config);
                    }
                }
            }
        }
        Ok(configs)
    }

    /// The shape of a call.
    pub fn config(&self, call: &Call) -> Result<LaunchConfig, Error> {
        let usual = self.usual(call)?;
        let function = call.function();
        let Some(kernel) = self.executor.autotune.borrow().kernel(function) else { return Ok(usual) };
        if matches!(self.over, LaunchDomain::Elements(elements) if elements < WORTH_IT) {
            return Ok(usual);
        }
        let n = match self.over {
            LaunchDomain::Elements(_) => [0; 3],
            LaunchDomain::Cells | LaunchDomain::InsideAndBoundary => self.executor.cartesian_args()?.n,
        };
        let (known, how) = self.executor.autotune.borrow().known(function, self.over);
        let known = match known {
            Some(TuningState::Chosen(config)) => return Ok(config),
            Some(TuningState::Launched) if !call.repeats() => TuningState::Chosen(usual),
            Some(TuningState::Launched) => {
                let config = self.measured(call, usual)?;
                kernel_cache::write(key(kernel, self.over, n, self.executor.device.properties()), "shape", config.text().as_bytes());
                TuningState::Chosen(config)
            }
            None if how == Tune::Yes => TuningState::Launched,
            None => {
                let kept = kernel_cache::read(key(kernel, self.over, n, self.executor.device.properties()), "shape");
                let config = self.all(call)?.into_iter().find(|config| kept.as_deref() == Some(config.text().as_bytes())).unwrap_or(usual);
                self.executor.autotune.borrow_mut().from_before += usize::from(config != usual);
                TuningState::Chosen(config)
            }
        };
        self.executor.autotune.borrow_mut().learn(function, self.over, known);
        Ok(if let TuningState::Chosen(config) = known { config } else { usual })
    }

    /// The fastest shape of a call, which was launched before and may be launched again. Waits for
    /// the device.
    fn measured(&self, call: &Call, usual: LaunchConfig) -> Result<LaunchConfig, Error> {
        // Computes its inputs.
        self.executor.flush()?;
        self.executor.synchronise()?;
        let launches = ((LONG_ENOUGH / self.seconds(call, usual, 1)?) as usize).clamp(1, MAX_LAUNCHES);
        let mut best = (f64::INFINITY, usual);
        for config in self.all(call)? {
            let seconds = self.seconds(call, config, launches)?;
            if seconds < best.0 {
                best = (seconds, config);
            }
        }
        // One after the other, since clocks may have changed since the first measurement.
        let (before, after) = (self.seconds(call, usual, launches)?, self.seconds(call, best.1, launches)?);
        let config = if after < GAIN * before { best.1 } else { usual };
        if config != usual {
            self.executor.autotune.borrow_mut().measured.push(format!(
                "`{}` is launched in {}, which takes {:.2} of the time of {}",
                call.name(),
                config.title(self.over),
                after / before,
                usual.title(self.over)
            ));
        }
        Ok(config)
    }

    /// Seconds of one launch out of `launches` in a row.
    fn seconds(&self, call: &Call, config: LaunchConfig, launches: usize) -> Result<f64, Error> {
        let launch = self.launch(call.clone(), config)?;
        // SAFETY: the runtime put the call together, its kernel takes any of these shapes, and the
        // graph is freed before any of its memory is.
        let graph = unsafe { self.executor.device.build_graph(&vec![launch; launches]) }?;
        let mut shortest = f64::INFINITY;
        let mut result = Ok(());
        for round in 0..ROUNDS {
            let start = Instant::now();
            // SAFETY: as above.
            result = unsafe { self.executor.device.launch_graph(graph) }.and_then(|()| self.executor.device.synchronise());
            if result.is_err() {
                break;
            }
            if round > 0 {
                shortest = shortest.min(start.elapsed().as_secs_f64() / launches as f64);
            }
            self.executor.count(|counters| {
                counters.kernels += launches as u64;
                counters.graphs += 1;
                counters.synchronisations += 1;
            });
        }
        self.executor.device.free_graph(graph);
        result.map(|()| shortest)
    }
}
