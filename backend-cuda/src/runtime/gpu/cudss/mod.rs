//! Direct solves by cuDSS, a library that is loaded at first use where it is there.
//!
//! One engine has one handle and the factors of one system. The library gets its memory from whoever calls the engine, works in the stream of the device, refines nothing (the
//! caller does, on the system itself) and is asked for the same bits at every run.

mod library;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::rc::Rc;

use cudarc::driver::result;
use cudarc::driver::sys::CUstream;
use equelle_runtime::linalg::{Definiteness, DirectFault};

use self::library::{Api, MemoryHandler, Object, Status, config, data, library, matrix, phase, status};
use super::GpuDevice;
use crate::runtime::device::DevicePtr;
use crate::runtime::direct::{DirectEngine, DirectSolves, DirectSystem, Memory};
use crate::runtime::pool::Buffer;

/// Version of the library, such as `1.0.0`.
///
/// # Errors
/// What is missing, for people.
pub fn version() -> Result<String, String> {
    library().map(version_of)
}

fn version_of(api: &Api) -> String {
    api.version.map(|part| part.to_string()).join(".")
}

/// What the functions that give memory to the library know.
struct Context {
    /// What it has, by address.
    held: RefCell<BTreeMap<u64, Rc<Buffer>>>,
    /// Who gives, while a function of the library runs.
    giver: Cell<Option<*mut Memory<'static>>>,
    /// Whether there was not enough.
    refused: Cell<bool>,
    stream: CUstream,
}

/// Gives memory to the library: 0, or 1 if there is not enough.
///
/// # Safety
/// `context` is the [`Context`] of an engine that exists, `to` can be written.
unsafe extern "C" fn allocate(context: *mut c_void, to: *mut *mut c_void, bytes: usize, _: CUstream) -> c_int {
    // SAFETY: the caller's promise.
    let context = unsafe { &*context.cast::<Context>() };
    // SAFETY: it is there while a function of the library runs, and the library calls from the thread that runs it, one call at a time.
    let buffer = context.giver.get().and_then(|giver| unsafe { (*giver)(bytes as u64) });
    let (Some(buffer), Ok(mut held)) = (buffer, context.held.try_borrow_mut()) else {
        context.refused.set(true);
        return 1;
    };
    // SAFETY: the caller's promise.
    unsafe { *to = buffer.address().0 as *mut c_void };
    held.insert(buffer.address().0, buffer);
    0
}

/// Takes memory back.
///
/// # Safety
/// As for [`allocate`]; nothing that is appended to `stream` from now on uses the memory.
unsafe extern "C" fn free(context: *mut c_void, memory: *mut c_void, _: usize, stream: CUstream) -> c_int {
    // SAFETY: the caller's promise.
    let context = unsafe { &*context.cast::<Context>() };
    // The pool hands memory out again in the order of the device's stream.
    if stream != context.stream {
        // SAFETY: the library works with this stream.
        let _ = unsafe { result::stream::synchronize(stream) };
    }
    let given = context.held.try_borrow_mut().ok().and_then(|mut held| held.remove(&(memory as u64)));
    c_int::from(given.is_none() && !memory.is_null())
}

/// What is known of the system that was analysed last.
struct Analysed {
    data: Object,
    matrix: Object,
    b: Object,
    x: Object,
    definiteness: Definiteness,
    /// Whether it has been factorised.
    factored: bool,
}

/// Factorises by the library.
struct Engine {
    api: &'static Api,
    handle: Object,
    config: Object,
    analysed: Option<Analysed>,
    context: Rc<Context>,
}

/// An answer as a result; texts of its answers the library has none.
fn told(status: Status) -> Result<(), DirectFault> {
    let text = match status {
        status::SUCCESS => return Ok(()),
        // What the pool has refused is told by `with`.
        status::ALLOC_FAILED => "it got no memory",
        1 => "it is not initialised",
        3 => "a value is not valid",
        4 => "this is not supported",
        5 => "a kernel failed",
        6 => "an internal error",
        _ => "an unknown answer",
    };
    Err(DirectFault::Failed(format!("it says: {text} ({status})")))
}

impl Engine {
    fn new(api: &'static Api, stream: CUstream) -> Result<Engine, DirectFault> {
        let context = Context { held: RefCell::default(), giver: Cell::new(None), refused: Cell::new(false), stream };
        let mut engine = Engine { api, handle: null_mut(), config: null_mut(), analysed: None, context: Rc::new(context) };
        let mut name = [0; 64];
        name.iter_mut().zip(c"equelle".to_bytes()).for_each(|(to, from)| *to = *from as _);
        let handler = MemoryHandler { context: Rc::as_ptr(&engine.context).cast_mut().cast(), allocate, free, name };
        // SAFETY: objects, handler and numbers outlive the calls, which copy them; the context of the handler lives as long as the handle, and so does the stream, as the caller of
        // `direct_engine` promises. The context of the device is current in this thread.
        unsafe {
            told((api.create)(&raw mut engine.handle))?;
            told((api.set_stream)(engine.handle, stream))?;
            told((api.set_memory)(engine.handle, &raw const handler))?;
            told((api.config_create)(&raw mut engine.config))?;
        }
        engine.set(config::DETERMINISTIC_MODE, 1)?;
        engine.set(config::IR_N_STEPS, 0)?;
        Ok(engine)
    }

    /// Sets a number.
    fn set(&self, what: i32, value: c_int) -> Result<(), DirectFault> {
        // SAFETY: the settings exist, the number outlives the call.
        told(unsafe { (self.api.config_set)(self.config, what, (&raw const value).cast(), size_of::<c_int>()) })
    }

    /// Runs functions of the library with memory to give.
    fn with(&mut self, memory: &mut Memory<'_>, run: impl FnOnce(&mut Engine) -> Result<(), DirectFault>) -> Result<(), DirectFault> {
        let giver: *mut Memory<'_> = memory;
        // SAFETY: only the lifetime changes; it is taken away again before it ends.
        let giver = unsafe { std::mem::transmute::<*mut Memory<'_>, *mut Memory<'static>>(giver) };
        self.context.giver.set(Some(giver));
        self.context.refused.set(false);
        let done = run(self);
        self.context.giver.set(None);
        match done {
            Err(_) if self.context.refused.get() => Err(DirectFault::OutOfMemory("there is not enough memory".to_owned())),
            done => done,
        }
    }

    /// Runs phases on what has been analysed.
    ///
    /// # Safety
    /// The system is where it was said to be.
    unsafe fn execute(&self, phases: i32) -> Result<(), DirectFault> {
        let Some(Analysed { data, matrix, b, x, .. }) = &self.analysed else {
            return Err(DirectFault::Failed("no system has been analysed".to_owned()));
        };
        // SAFETY: the objects exist; the memory that they name is there, as the caller promises.
        told(unsafe { (self.api.execute)(self.handle, phases, self.config, *data, *matrix, *x, *b) })
    }

    /// Gives up the system, its analysis and its factors.
    fn forget(&mut self) {
        let Some(Analysed { data, matrix, b, x, .. }) = self.analysed.take() else { return };
        // SAFETY: nothing that uses them is in flight after the wait; each object was created once and is destroyed once; null ones were never created.
        unsafe {
            let _ = result::stream::synchronize(self.context.stream);
            for object in [matrix, b, x].into_iter().filter(|object| !object.is_null()) {
                let _ = (self.api.matrix_destroy)(object);
            }
            if !data.is_null() {
                let _ = (self.api.data_destroy)(self.handle, data);
            }
        }
    }

    /// Describes a system.
    fn describe(&mut self, system: &DirectSystem) -> Result<(), DirectFault> {
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
        // SAFETY: the objects outlive the calls, which read no device memory; what has been created is destroyed with what was analysed.
        unsafe {
            told((api.data_create)(handle, &raw mut made.data))?;
            told((api.create_csr)(
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
                told((api.create_dense)(to, n, 1, n, pointer(at), matrix::DOUBLES, matrix::BY_COLUMNS))?;
            }
        }
        Ok(())
    }

    /// What the library says of the last factorisation: 0, or a row.
    fn info(&self) -> Result<c_int, DirectFault> {
        let Some(Analysed { data, .. }) = &self.analysed else { return Ok(0) };
        let (mut info, mut written) = (0, 0);
        // SAFETY: the objects exist, the numbers outlive the call.
        unsafe {
            result::stream::synchronize(self.context.stream).map_err(|_| DirectFault::Failed("a kernel failed".to_owned()))?;
            let size = size_of::<c_int>();
            told((self.api.data_get)(self.handle, *data, data::INFO, (&raw mut info).cast(), size, &raw mut written))?;
        }
        Ok(info)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.forget();
        // SAFETY: created in `new`, destroyed once, after all that needs them.
        unsafe {
            if !self.config.is_null() {
                let _ = (self.api.config_destroy)(self.config);
            }
            if !self.handle.is_null() {
                let _ = (self.api.destroy)(self.handle);
            }
        }
    }
}

impl DirectEngine for Engine {
    fn name(&self) -> String {
        format!("cuDSS {}", version_of(self.api))
    }

    unsafe fn analyse(&mut self, system: &DirectSystem, memory: &mut Memory<'_>) -> Result<(), DirectFault> {
        self.forget();
        self.with(memory, |engine| {
            engine.describe(system)?;
            // SAFETY: the caller's promise.
            unsafe { engine.execute(phase::ANALYSIS) }
        })
    }

    unsafe fn factorize(&mut self, memory: &mut Memory<'_>) -> Result<(), DirectFault> {
        let again = self.analysed.as_ref().is_some_and(|analysed| analysed.factored);
        let phases = if again { phase::REFACTORIZATION } else { phase::FACTORIZATION };
        let done = self.with(memory, |engine| {
            // SAFETY: the caller's promise.
            unsafe { engine.execute(phases) }?;
            match (engine.info()?, engine.analysed.as_ref().map(|analysed| analysed.definiteness)) {
                (0, _) => Ok(()),
                (_, Some(Definiteness::Symmetric)) => Err(DirectFault::NotDefinite),
                (row, _) => Err(DirectFault::Failed(format!("elimination fails at row {row}"))),
            }
        });
        if let Some(analysed) = &mut self.analysed {
            analysed.factored = done.is_ok();
        }
        done
    }

    unsafe fn solve(&mut self, transposed: bool, memory: &mut Memory<'_>) -> Result<(), DirectFault> {
        // A symmetric matrix is its transpose.
        let is_general = self.analysed.as_ref().is_some_and(|analysed| analysed.definiteness == Definiteness::General);
        self.set(config::SOLVE_MODE, c_int::from(transposed && is_general))?;
        // SAFETY: the caller's promise.
        self.with(memory, |engine| unsafe { engine.execute(phase::SOLVE) })
    }
}

impl DirectSolves for GpuDevice {
    unsafe fn direct_engine(&self) -> Result<Box<dyn DirectEngine>, String> {
        let api = library()?;
        match Engine::new(api, self.stream) {
            Ok(engine) => Ok(Box::new(engine)),
            Err(DirectFault::NotDefinite) => Err("cuDSS cannot be used".to_owned()),
            Err(DirectFault::OutOfMemory(detail) | DirectFault::Failed(detail)) => Err(format!("cuDSS cannot be used: {detail}")),
        }
    }
}
