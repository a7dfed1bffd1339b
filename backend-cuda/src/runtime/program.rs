//! The runtime of one run.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use equelle_runtime::grid::FaceOrder;
use equelle_runtime::session::Session;
use equelle_runtime::session::placement::Place;
use equelle_runtime::{EquelleRuntime, Error, ErrorKind, Real};

use crate::runtime::conditions::{Check, HOLD};
use crate::runtime::derivatives::GridMatrices;
use crate::runtime::device::gpu::GpuDevice;
use crate::runtime::device::{CompileOptions, Device, DevicePtr, FunctionId, ModuleId};
use crate::runtime::elimination::Elimination;
use crate::runtime::fsai::FsaiRows;
use crate::runtime::grid::DeviceGrid;
use crate::runtime::kernels::{KernelModule, RUNTIME_MODULE};
use crate::runtime::krylov::SpaceState;
use crate::runtime::newton::Newton;
use crate::runtime::pool::{Buffer, Pool, out_of_memory};
use crate::runtime::precision::Precision;
use crate::runtime::queue::{Counters, Queue};
use crate::runtime::rows::{KnownRows, Rows};
use crate::runtime::sides::SideCopies;
use crate::runtime::tuning::{Tune, Tuning};

/// Runs programs on a CUDA device.
pub struct CudaRuntime {
    pub(super) session: Session,
    pub(super) device: Rc<dyn Device>,
    pub(super) pool: Pool,
    pub(super) queue: Queue,
    pub(super) counters: Counters,
    /// Of collections.
    pub(super) precision: Precision,
    pub(super) modules: HashMap<(&'static str, usize, Precision), ModuleId>,
    pub(super) functions: HashMap<(ModuleId, &'static str), FunctionId>,
    /// Shapes of launches.
    pub(super) tuning: Tuning,
    pub(super) constants: HashMap<u64, Rc<Buffer>>,
    /// False and true on the device, once asked for.
    pub(super) bools: [Option<Rc<Buffer>>; 2],
    pub(super) grid: DeviceGrid,
    pub(super) side_copies: SideCopies,
    /// Where the blocks of a sum count themselves, once asked for.
    pub(super) arrived: Option<Rc<Buffer>>,
    /// Conditions that kernels check: the smallest one that failed, and where each number comes from; behind it, whether a number was not finite.
    pub(super) flag: Option<Rc<Buffer>>,
    pub(super) checks: Vec<Check>,
    /// The flag of the first output that could not be written because a condition did not hold.
    pub(super) failed_output: Arc<AtomicU64>,
    pub(super) finished: bool,
    /// Rows of the Jacobians of equations.
    pub(super) rows: KnownRows,
    pub(super) matrices: GridMatrices,
    pub(super) newton: Newton,
    /// Orders of elimination, by the patterns of matrices.
    pub(super) eliminations: Vec<Elimination>,
    /// Patterns of block diagonals, by their rows and the fields of each element.
    pub(super) block_diagonals: Vec<((usize, usize), Rc<Rows>)>,
    /// Patterns of approximate inverses, by those of matrices.
    pub(super) inverses: Vec<FsaiRows>,
    /// As the space of linear solvers.
    pub(super) space: SpaceState,
    /// Equelle line at which a kernel first read an unknown without passing its derivatives on.
    pub(super) derivatives_lost: Option<u32>,
}

/// Runs a program on the first CUDA device, or, with the environment variable `EQUELLE_CUDA_DEVICE=host`, on the host (a test aid).
///
/// # Errors
/// `Backend` if there is no usable device; those of the program.
pub fn run(session: Session, program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>) -> Result<(), Error> {
    run_with_precision::<f64>(session, program)
}

/// As [`run`], of a program in the precision `R`.
///
/// # Errors
/// As there.
pub fn run_with_precision<R: Real>(session: Session, program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>) -> Result<(), Error> {
    run_on(session, open_device()?, Precision::of::<R>(), program)
}

/// As [`run_with_precision`], on a device that is open already.
///
/// # Errors
/// As there.
pub fn run_on(
    mut session: Session,
    device: Rc<dyn Device>,
    precision: Precision,
    program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>,
) -> Result<(), Error> {
    session.computes_on(Place::Gpu);
    let mut runtime = CudaRuntime::with_precision(session, device, precision)?;
    let end = match program(&mut runtime) {
        Ok(()) => runtime.finish(),
        // Where an output before could not be written, that is what ended the run.
        Err(error) => Err(runtime.ended_by(error)),
    };
    end.map_err(|error| runtime.session.advise(error))
}

/// What was found, line by line, for reports about the surroundings; the error says what is missing.
///
/// # Errors
/// `Backend`.
pub fn report() -> Result<Vec<(String, String)>, Error> {
    let mut lines = vec![("driver".to_owned(), format!("CUDA {}", GpuDevice::driver_version()?))];
    let device = GpuDevice::open()?;
    let facts = device.facts();
    lines.push(("device".to_owned(), format!("{} ({})", facts.name, facts.arch)));
    let (free, total) = device.memory()?;
    let size = equelle_runtime::report::bytes;
    lines.push(("memory".to_owned(), format!("{} free of {}", size(free), size(total))));
    lines.push(("run-time compiler".to_owned(), format!("NVRTC {}", crate::runtime::device::gpu::nvrtc::version()?)));
    let sparse = match crate::runtime::device::gpu::cusparse::version() {
        Ok(version) => format!("cuSPARSE {version}"),
        Err(error) => format!("{} (-O0 and --ad=spgemm of implicit programs need it)", error.message),
    };
    lines.push(("sparse matrices".to_owned(), sparse));
    let direct = crate::runtime::device::gpu::cudss::version().map_or_else(
        |reason| format!("{reason} (solver=lu runs on the host; `pip install nvidia-cudss-cu13` has it)"),
        |version| format!("cuDSS {version}"),
    );
    lines.push(("direct solves".to_owned(), direct));
    lines.push(("copy rate".to_owned(), format!("{:.2} TB/s, bytes read and written", device.copy_rate()? / 1e12)));
    Ok(lines)
}

/// The first CUDA device, or, with the environment variable `EQUELLE_CUDA_DEVICE=host`, the host (a test aid).
///
/// # Errors
/// `Backend` if there is no usable device.
pub fn open_device() -> Result<Rc<dyn Device>, Error> {
    match std::env::var("EQUELLE_CUDA_DEVICE").as_deref() {
        Ok("host") => Ok(Rc::new(crate::runtime::device::emulator::Emulator::new())),
        Ok(other) if other != "gpu" && !other.is_empty() => {
            Err(Error::new(ErrorKind::Usage, format!("EQUELLE_CUDA_DEVICE must be `gpu` or `host`, not `{other}`")))
        }
        _ => Ok(Rc::new(GpuDevice::open()?)),
    }
}

impl CudaRuntime {
    /// Opens the device and prepares it for the session's grid.
    ///
    /// # Errors
    /// `Backend` if there is no usable device.
    pub fn new(session: Session) -> Result<Self, Error> {
        Self::on_device(session, open_device()?)
    }

    /// As [`CudaRuntime::new`], on a given device.
    ///
    /// # Errors
    /// `Backend`.
    pub fn on_device(session: Session, device: Rc<dyn Device>) -> Result<Self, Error> {
        CudaRuntime::with_precision(session, device, Precision::Double)
    }

    /// As [`CudaRuntime::on_device`], with collections of a precision.
    ///
    /// # Errors
    /// `Backend`; `Data` for a `tune` that is none.
    pub fn with_precision(mut session: Session, device: Rc<dyn Device>, precision: Precision) -> Result<Self, Error> {
        let tuning = Tuning::new(Tune::from_parameters(session.parameters())?);
        session.message(&format!("running on {}", device.facts().name));
        // Threads that run in step read the same face of many cells.
        session.renumber_grid_with(FaceOrder::OfFile);
        let grid = DeviceGrid::new(session.grid());
        Ok(CudaRuntime {
            session,
            device,
            pool: Pool::default(),
            queue: Queue::default(),
            counters: Counters::default(),
            precision,
            modules: HashMap::new(),
            functions: HashMap::new(),
            tuning,
            constants: HashMap::new(),
            bools: [None, None],
            grid,
            side_copies: SideCopies::default(),
            arrived: None,
            flag: None,
            checks: Vec::new(),
            failed_output: Arc::new(AtomicU64::new(HOLD)),
            finished: false,
            rows: KnownRows::default(),
            matrices: GridMatrices::default(),
            newton: Newton::default(),
            eliminations: Vec::new(),
            block_diagonals: Vec::new(),
            inverses: Vec::new(),
            space: SpaceState::default(),
            derivatives_lost: None,
        })
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What the device was asked to do so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    pub(super) fn located<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|e| self.session.locate(e))
    }

    pub(super) fn compile_options(&self, precision: Precision) -> CompileOptions {
        let dim = self.session.grid().dim();
        CompileOptions { dim, wide_offsets: self.grid.wide_offsets(), cartesian: self.uses_cartesian_forms(), precision }
    }

    /// A kernel of a module for collections of a precision; both are prepared at first use.
    pub(super) fn function(&mut self, module: &KernelModule, precision: Precision, name: &'static str) -> Result<FunctionId, Error> {
        let key = (module.name, module.source.as_ptr() as usize, precision);
        let id = match self.modules.get(&key) {
            Some(&id) => id,
            None => {
                let options = module.options(self.compile_options(precision));
                let id = self.device.load(module, options)?;
                self.modules.insert(key, id);
                id
            }
        };
        if let Some(&function) = self.functions.get(&(id, name)) {
            return Ok(function);
        }
        let function = self.device.function(id, name)?;
        self.tuning.register(id, module, function, name, &format!("{:?}", module.options(self.compile_options(precision))));
        self.functions.insert((id, name), function);
        Ok(function)
    }

    pub(super) fn runtime_function(&mut self, name: &'static str) -> Result<FunctionId, Error> {
        self.function(&RUNTIME_MODULE, Precision::Double, name)
    }

    /// Memory for `bytes` bytes.
    pub(super) fn buffer(&mut self, what: &str, bytes: u64) -> Result<Rc<Buffer>, Error> {
        let device = Rc::clone(&self.device);
        if let Some((buffer, new)) = self.pool.take(&*device, bytes)? {
            self.counters.allocations += u64::from(new);
            return Ok(Rc::new(buffer));
        }
        // Unused buffers of other sizes may be enough; graphs that use them go first.
        self.flush()?;
        self.synchronise()?;
        self.queue.forget(&*device);
        // SAFETY: nothing is in flight after the wait, and no graph is left.
        unsafe { self.pool.trim(&*device) };
        match self.pool.take(&*device, bytes)? {
            Some((buffer, new)) => {
                self.counters.allocations += u64::from(new);
                Ok(Rc::new(buffer))
            }
            None => {
                let error = out_of_memory(what, bytes, self.pool.bytes(), device.memory().ok());
                Err(self.session.locate(error))
            }
        }
    }

    /// Hands all queued launches to the device.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let result = self.queue.flush(&*self.device, &mut self.counters);
        self.located(result)
    }

    pub(super) fn synchronise(&mut self) -> Result<(), Error> {
        self.counters.synchronisations += 1;
        let result = self.device.synchronise();
        self.located(result)
    }

    /// A new buffer with these bytes.
    pub(super) fn upload(&mut self, what: &str, bytes: &[u8]) -> Result<Rc<Buffer>, Error> {
        let buffer = self.buffer(what, bytes.len() as u64)?;
        self.upload_to(&buffer, bytes)?;
        Ok(buffer)
    }

    /// Writes to a buffer of this length at least, after everything queued so far.
    pub(super) fn upload_to(&mut self, buffer: &Buffer, bytes: &[u8]) -> Result<(), Error> {
        // The buffer may have been used by a launch that still waits in the queue: that one comes first.
        self.flush()?;
        self.counters.uploads += 1;
        self.counters.uploaded_bytes += bytes.len() as u64;
        self.counters.synchronisations += 1;
        // SAFETY: the buffer has this length at least.
        let result = unsafe { self.device.upload(buffer.address(), bytes) };
        self.located(result)
    }

    /// The first bytes of device memory, after everything queued so far.
    pub(super) fn download(&mut self, from: DevicePtr, bytes: usize) -> Result<Vec<u8>, Error> {
        self.flush()?;
        let mut data = vec![0; bytes];
        self.counters.downloads += 1;
        self.counters.downloaded_bytes += bytes as u64;
        self.counters.synchronisations += 1;
        // SAFETY: callers pass buffers and their lengths.
        let result = unsafe { self.device.download(from, &mut data) };
        self.located(result)?;
        Ok(data)
    }
}

impl Drop for CudaRuntime {
    fn drop(&mut self) {
        self.queue.forget(&*self.device);
        // A device that was lost has said so before.
        let _ = self.device.synchronise();
        // Direct solvers give their memory back to the pool.
        self.newton = Newton::default();
        // SAFETY: nothing is in flight after the wait and no graph is left. Handles that outlive this runtime are of no use to another one.
        unsafe { self.pool.release(&*self.device) };
    }
}
