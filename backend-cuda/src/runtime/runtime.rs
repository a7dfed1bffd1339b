//! The runtime type, for one run.

use std::rc::Rc;

use equelle_runtime::grid::FaceOrder;
use equelle_runtime::session::Session;
use equelle_runtime::session::placement::ComputeDevice;
use equelle_runtime::{EquelleRuntime, Error, ErrorKind, Real};

use crate::runtime::autodiff::grid_matrix::GridMatrices;
use crate::runtime::autodiff::newton_state::NewtonState;
use crate::runtime::autodiff::pattern::PatternCache;
use crate::runtime::device::gpu::GpuDevice;
use crate::runtime::device::{CompileOptions, Device};
use crate::runtime::executor::Executor;
use crate::runtime::executor::autotune::Tune;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::executor::queue::Counters;
use crate::runtime::grid::arrays::{DeviceGrid, cartesian_args};
use crate::runtime::grid::half_faces;
use crate::runtime::kernels::{
    COLLECTIONS_MODULE, DERIVATIVES_MODULE, KernelModule, MATRICES_MODULE, OPERATIONS_MODULE, PRODUCTS_MODULE, RUNTIME_MODULE,
    VECTORS_MODULE,
};
use crate::runtime::linalg::space::Space;
use crate::runtime::values::change::BeforeRound;
use crate::runtime::values::conditions::Conditions;
use crate::runtime::values::pending_step::PendingStep;

/// Runs programs on a CUDA device.
pub struct CudaRuntime {
    pub(crate) session: Session,
    pub(crate) grid: DeviceGrid,
    pub(crate) conditions: Conditions,
    /// False and true on the device, once used.
    pub(crate) bools: [Option<Rc<Buffer>>; 2],
    pub(crate) finished: bool,
    /// Patterns of the Jacobians of equations.
    pub(crate) patterns: PatternCache,
    pub(crate) matrices: GridMatrices,
    pub(crate) newton: NewtonState,
    /// Equelle line at which a kernel first read an unknown without propagating its derivatives.
    pub(crate) derivatives_lost: Option<u32>,
    /// Vectors and matrices of linear systems.
    pub(crate) solver: Space<f64>,
    pub(crate) before_round: BeforeRound,
    /// A step that the session has not seen.
    pub(crate) pending_step: Option<PendingStep>,
    pub(crate) executor: Rc<Executor>,
}

/// Runs a program on the first CUDA device, or, with the environment variable
/// `EQUELLE_CUDA_DEVICE=host`, on the host (a test aid).
///
/// # Errors
/// `Backend` if there is no usable device; those of the program.
pub fn run(session: Session, program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>) -> Result<(), Error> {
    run_with_precision::<f64>(session, program)
}

/// [`run`] for a program in precision `R`.
///
/// # Errors
/// As for [`run`].
pub fn run_with_precision<R: Real>(session: Session, program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>) -> Result<(), Error> {
    run_compiling::<R>(session, &[], program)
}

/// [`run_with_precision`] for a program with these kernels, which are compiled while the device is
/// opened.
///
/// # Errors
/// As for [`run`].
pub fn run_compiling<R: Real>(
    session: Session,
    kernels: &[KernelModule],
    program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>,
) -> Result<(), Error> {
    let precision = Precision::of::<R>();
    let mut modules = vec![RUNTIME_MODULE, COLLECTIONS_MODULE];
    if kernels.is_empty() {
        modules.push(OPERATIONS_MODULE);
    }
    if !session.program().solves.is_empty() {
        modules.extend([VECTORS_MODULE, PRODUCTS_MODULE, MATRICES_MODULE]);
        if kernels.is_empty() {
            modules.push(DERIVATIVES_MODULE);
        }
    }
    modules.extend_from_slice(kernels);
    // How kernels read the sides of other grids is known when the grid has been renumbered.
    let is_cartesian = session.grid().cartesian_shape().is_some();
    let (now, later): (Vec<_>, Vec<_>) = modules.into_iter().partition(|module| is_cartesian || !module.is_on_grids());
    let options = compile_options(&session, precision, false);
    let device = session.opening_device(|| open_device_for(now.into_iter().map(|module| (module, options)).collect()))?;
    run_compiling_on(session, device, precision, &later, program)
}

/// [`run_with_precision`] on an open device.
///
/// # Errors
/// As for [`run`].
pub fn run_on(
    session: Session,
    device: Rc<dyn Device>,
    precision: Precision,
    program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>,
) -> Result<(), Error> {
    run_compiling_on(session, device, precision, &[], program)
}

fn run_compiling_on(
    mut session: Session,
    device: Rc<dyn Device>,
    precision: Precision,
    modules: &[KernelModule],
    program: impl FnOnce(&mut CudaRuntime) -> Result<(), Error>,
) -> Result<(), Error> {
    session.computes_on(ComputeDevice::Gpu);
    let mut runtime = CudaRuntime::with_precision(session, device, precision)?;
    runtime.executor.prepare(modules)?;
    let end = match program(&mut runtime) {
        Ok(()) => runtime.finish(),
        // An earlier output that could not be written is the cause.
        Err(error) => Err(runtime.ended_by(error)),
    };
    end.map_err(|error| {
        let error = runtime.session.examine(error);
        runtime.session.advise(runtime.session.locate(error))
    })
}

/// The state of the device and its libraries, by lines of name and value, for `equellec doctor`;
/// the error says what is missing.
///
/// # Errors
/// `Backend`.
pub fn report() -> Result<Vec<(String, String)>, Error> {
    let mut lines = vec![("driver".to_owned(), format!("CUDA {}", GpuDevice::driver_version()?))];
    let device = GpuDevice::open()?;
    let properties = device.properties();
    lines.push(("device".to_owned(), format!("{} ({})", properties.name, properties.arch)));
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

/// The first CUDA device, or, with the environment variable `EQUELLE_CUDA_DEVICE=host`, the host (a
/// test aid).
///
/// # Errors
/// `Backend` if there is no usable device.
pub fn open_device() -> Result<Rc<dyn Device>, Error> {
    open_device_for(Vec::new())
}

/// [`open_device`] for a program that will load these modules.
fn open_device_for(modules: Vec<(KernelModule, CompileOptions)>) -> Result<Rc<dyn Device>, Error> {
    match std::env::var("EQUELLE_CUDA_DEVICE").as_deref() {
        Ok("host") => Ok(Rc::new(crate::runtime::device::emulator::Emulator::new())),
        Ok(other) if other != "gpu" && !other.is_empty() => {
            Err(Error::new(ErrorKind::Usage, format!("EQUELLE_CUDA_DEVICE must be `gpu` or `host`, not `{other}`")))
        }
        _ => Ok(Rc::new(GpuDevice::open_for(modules)?)),
    }
}

/// Compile options of the kernels of a session's program; `narrow_sides` is false on an open
/// Cartesian grid.
fn compile_options(session: &Session, precision: Precision, narrow_sides: bool) -> CompileOptions {
    let grid = session.grid();
    // An offset must be able to count half-faces, at most two per face.
    let wide_offsets = 2 * grid.n_faces() as u64 > u64::from(u32::MAX);
    let joined = grid.closed_shape().map_or([false; 3], |shape| shape.joined);
    CompileOptions { dim: grid.dim(), wide_offsets, narrow_sides, cartesian: grid.cartesian_shape().is_some(), joined, precision }
}

impl CudaRuntime {
    /// Opens the device and prepares it for the session's grid.
    ///
    /// # Errors
    /// `Backend` if there is no usable device.
    pub fn new(session: Session) -> Result<Self, Error> {
        Self::on_device(session, open_device()?)
    }

    /// [`CudaRuntime::new`] on a given device.
    ///
    /// # Errors
    /// `Backend`.
    pub fn on_device(session: Session, device: Rc<dyn Device>) -> Result<Self, Error> {
        CudaRuntime::with_precision(session, device, Precision::Double)
    }

    /// [`CudaRuntime::on_device`] with collections in a given precision.
    ///
    /// # Errors
    /// `Backend`; `Data` for an illegal `tune`.
    pub fn with_precision(mut session: Session, device: Rc<dyn Device>, precision: Precision) -> Result<Self, Error> {
        if session.rank().is_some() {
            let error = Error::new(ErrorKind::Usage, "runs on several ranks are on processors, not on GPUs");
            return Err(error.hint("--backend serial"));
        }
        let tune = Tune::from_parameters(session.parameters())?;
        session.message(&format!("running on {}", device.properties().name));
        // The threads of a warp read the same face of many cells.
        session.grid_domains().renumber_with(FaceOrder::OfFile);
        let grid = session.grid();
        let shape = grid.closed_shape().map(cartesian_args);
        // The arrays of an open Cartesian grid are made where something reads them.
        let narrow = if grid.cartesian_shape().is_none() { half_faces::narrow(grid.topology(), grid.threads()) } else { None };
        let options = compile_options(&session, precision, narrow.is_some());
        let executor = Executor::new(device, options, shape, tune, session.interrupt().clone());
        if session.profiler().is_some() {
            executor.measure_kernel_times();
        }
        Ok(CudaRuntime {
            grid: DeviceGrid::new(&executor, narrow),
            session,
            conditions: Conditions::new(&executor),
            bools: [None, None],
            finished: false,
            patterns: PatternCache::default(),
            matrices: GridMatrices::default(),
            newton: NewtonState::default(),
            derivatives_lost: None,
            solver: Space::new(&executor),
            before_round: BeforeRound::default(),
            pending_step: None,
            executor,
        })
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Counters of the device's work so far.
    pub fn counters(&self) -> Counters {
        self.executor.counters()
    }

    /// Vectors and matrices of linear systems on the device of this runtime.
    pub fn linear_space(&self) -> Space<f64> {
        Space::new(&self.executor)
    }

    pub(crate) fn located<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|e| self.session.locate(e))
    }
}

impl Drop for CudaRuntime {
    fn drop(&mut self) {
        // Direct solvers, which are dropped before the executor, are not in use then.
        self.executor.quiesce();
    }
}
