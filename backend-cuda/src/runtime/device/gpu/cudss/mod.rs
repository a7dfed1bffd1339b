//! Direct solves by cuDSS, a library that is loaded on first use if installed.
//!
//! An engine has one handle and the factors of one system. Refinement in the library is off (the
//! caller refines on the system itself), and its deterministic mode is on. It allocates from the
//! driver, outside of the pool: with allocation callbacks, version 1.0.0 fails in its analysis
//! ("the buffer to be deregistered was not registered"), whatever the callbacks do.
//!
//! It works in its own stream, which is synchronised with the default stream, since the library
//! does some of its work there. In a non-blocking stream (as that of the device, and every
//! `CudaStream` of cudarc), version 1.0.0 solved every system of a small program wrongly on an
//! H200, and none otherwise.

mod library;

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use cudarc::driver::result::{self, stream::StreamKind};
use cudarc::driver::sys::CUstream;
use equelle_runtime::linalg::{Definiteness, DirectError};

use self::library::{Api, Object, Status, config, data, library, matrix, phase, status};
use crate::runtime::device::DevicePtr;
use crate::runtime::device::direct::{DirectEngine, DirectSystem};

/// Version of the library, such as `1.0.0`.
///
/// # Errors
/// The reason why there is no library, as text for users.
pub fn version() -> Result<String, String> {
    library().map(version_of)
}

fn version_of(api: &Api) -> String {
    api.version.map(|part| part.to_string()).join(".")
}

/// The environment variable that disables cuDSS if it is `off`.
pub const ENVIRONMENT_SWITCH: &str = "EQUELLE_CUDSS";

/// State of the last analysed system.
struct Analysed {
    data: Object,
    matrix: Object,
    b: Object,
    x: Object,
    definiteness: Definiteness,
    /// True if it is factorised.
    factored: bool,
}

/// A factorisation by the library.
struct Engine {
    api: &'static Api,
    handle: Object,
    config: Object,
    analysed: Option<Analysed>,
    /// Null before it was created.
    stream: CUstream,
}

/// Converts a status; the library has no texts for them.
fn check(status: Status) -> Result<(), DirectError> {
    let text = match status {
        status::SUCCESS => return Ok(()),
        status::ALLOC_FAILED => return Err(DirectError::OutOfMemory("there is not enough memory".to_owned())),
        1 => "it is not initialised",
        3 => "a value is not valid",
        4 => "this is not supported",
        5 => "a kernel failed",
        6 => "an internal error",
        _ => "an unknown answer",
    };
    Err(DirectError::Failed(format!("it says: {text} ({status})")))
}

/// Waits for all work of the device, in every stream.
fn synchronise() -> Result<(), DirectError> {
    result::ctx::synchronize().map_err(|_| DirectError::Failed("a kernel failed".to_owned()))
}

impl Engine {
    fn new(api: &'static Api) -> Result<Engine, DirectError> {
        let mut engine = Engine { api, handle: null_mut(), config: null_mut(), analysed: None, stream: null_mut() };
        engine.stream =
            result::stream::create(StreamKind::Default).map_err(|_| DirectError::Failed("there is no stream for it".to_owned()))?;
        // SAFETY: objects and numbers outlive the calls, which copy them; the stream lives as long
        // as the handle. The context of the device is current in this thread.
        unsafe {
            check((api.create)(&raw mut engine.handle))?;
            check((api.set_stream)(engine.handle, engine.stream))?;
            check((api.config_create)(&raw mut engine.config))?;
        }
        engine.set(config::DETERMINISTIC_MODE, 1)?;
        engine.set(config::IR_N_STEPS, 0)?;
        Ok(engine)
    }

    /// Sets an integer option.
    fn set(&self, what: i32, value: c_int) -> Result<(), DirectError> {
        // SAFETY: the settings exist, the number outlives the call.
        check(unsafe { (self.api.config_set)(self.config, what, (&raw const value).cast(), size_of::<c_int>()) })
    }

    /// Runs phases on the analysed system, and waits until they are done.
    ///
    /// # Safety
    /// The system is still where it was analysed.
    unsafe fn execute(&self, phases: i32) -> Result<(), DirectError> {
        let Some(Analysed { data, matrix, b, x, .. }) = &self.analysed else {
            return Err(DirectError::Failed("no system has been analysed".to_owned()));
        };
        // SAFETY: the objects exist, and so does their memory, as the caller promises.
        check(unsafe { (self.api.execute)(self.handle, phases, self.config, *data, *matrix, *x, *b) })?;
        synchronise()
    }

    /// Frees the system, its analysis and its factors.
    fn release(&mut self) {
        let Some(Analysed { data, matrix, b, x, .. }) = self.analysed.take() else { return };
        let _ = synchronise();
        // SAFETY: no work in flight uses them after the wait; each object was created once and is
        // destroyed once; null ones were never created.
        unsafe {
            for object in [matrix, b, x].into_iter().filter(|object| !object.is_null()) {
                let _ = (self.api.matrix_destroy)(object);
            }
            if !data.is_null() {
                let _ = (self.api.data_destroy)(self.handle, data);
            }
        }
    }

    /// Creates the descriptors of a system.
    fn describe(&mut self, system: &DirectSystem) -> Result<(), DirectError> {
        let nothing = null_mut();
        let definiteness = system.definiteness;
        let made = Analysed { data: nothing, matrix: nothing, b: nothing, x: nothing, definiteness, factored: false };
        let (api, handle, made) = (self.api, self.handle, self.analysed.insert(made));
        let pointer = |at: DevicePtr| at.0 as *const c_void;
        let (n, entries) = (system.n as i64, system.entries as i64);
        let kind = match definiteness {
            Definiteness::General => matrix::GENERAL,
            Definiteness::Symmetric => matrix::POSITIVE_DEFINITE,
        };
        // SAFETY: the objects outlive the calls, which read no device memory; created objects are
        // destroyed with the analysed system.
        unsafe {
            check((api.data_create)(handle, &raw mut made.data))?;
            check((api.create_csr)(
                &raw mut made.matrix,
                n,
                n,
                entries,
                pointer(system.row_ptr),
                null(),
                pointer(system.col_idx),
                pointer(system.values),
                matrix::INTEGERS,
                matrix::INTEGERS,
                matrix::DOUBLES,
                kind,
                matrix::FULL,
                matrix::FROM_ZERO,
            ))?;
            for (to, at) in [(&mut made.b, system.b), (&mut made.x, system.x)] {
                check((api.create_dense)(to, n, 1, n, pointer(at), matrix::DOUBLES, matrix::BY_COLUMNS))?;
            }
        }
        Ok(())
    }

    /// Result of the last factorisation: 0, or the row of a failure.
    fn info(&self) -> Result<c_int, DirectError> {
        let Some(Analysed { data, .. }) = &self.analysed else { return Ok(0) };
        let (mut info, mut written) = (0, 0);
        // SAFETY: the objects exist, the numbers outlive the call.
        unsafe {
            let size = size_of::<c_int>();
            check((self.api.data_get)(self.handle, *data, data::INFO, (&raw mut info).cast(), size, &raw mut written))?;
        }
        Ok(info)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.release();
        // SAFETY: created in `new`, destroyed once, after all objects that need them.
        unsafe {
            if !self.config.is_null() {
                let _ = (self.api.config_destroy)(self.config);
            }
            if !self.handle.is_null() {
                let _ = (self.api.destroy)(self.handle);
            }
            if !self.stream.is_null() {
                let _ = result::stream::destroy(self.stream);
            }
        }
    }
}

impl DirectEngine for Engine {
    fn name(&self) -> String {
        format!("cuDSS {}", version_of(self.api))
    }

    unsafe fn analyse(&mut self, system: &DirectSystem) -> Result<(), DirectError> {
        self.release();
        self.describe(system)?;
        // SAFETY: the caller's promise.
        unsafe { self.execute(phase::ANALYSIS) }
    }

    unsafe fn factorize(&mut self) -> Result<(), DirectError> {
        let again = self.analysed.as_ref().is_some_and(|analysed| analysed.factored);
        let phases = if again { phase::REFACTORIZATION } else { phase::FACTORIZATION };
        // SAFETY: the caller's promise.
        let executed = unsafe { self.execute(phases) };
        let definiteness = self.analysed.as_ref().map(|analysed| analysed.definiteness);
        let done = executed.and_then(|()| match (self.info()?, definiteness) {
            (0, _) => Ok(()),
            (_, Some(Definiteness::Symmetric)) => Err(DirectError::NotDefinite),
            (row, _) => Err(DirectError::Failed(format!("elimination fails at row {row}"))),
        });
        if let Some(analysed) = &mut self.analysed {
            analysed.factored = done.is_ok();
        }
        done
    }

    unsafe fn solve(&mut self, transposed: bool) -> Result<(), DirectError> {
        // A symmetric matrix equals its transpose.
        let is_general = self.analysed.as_ref().is_some_and(|analysed| analysed.definiteness == Definiteness::General);
        self.set(config::SOLVE_MODE, c_int::from(transposed && is_general))?;
        // SAFETY: the caller's promise.
        unsafe { self.execute(phase::SOLVE) }
    }
}

/// A new engine in the current context; the error says what is missing, as text for users.
pub(super) fn engine() -> Result<Box<dyn DirectEngine>, String> {
    if std::env::var_os(ENVIRONMENT_SWITCH).is_some_and(|value| value == "off") {
        return Err(format!("{ENVIRONMENT_SWITCH} is off"));
    }
    match Engine::new(library()?) {
        Ok(engine) => Ok(Box::new(engine)),
        Err(DirectError::NotDefinite) => Err("cuDSS cannot be used".to_owned()),
        Err(DirectError::OutOfMemory(detail) | DirectError::Failed(detail)) => Err(format!("cuDSS cannot be used: {detail}")),
    }
}
