//! The executor: a device with its memory pool, queue of launches, loaded modules, constants,
//! counters and autotuning. Grid, program and linear algebra share it.
//!
//! Methods take `&self`: the handles of a run, all on one thread, share one executor. No method
//! keeps a part borrowed while it calls another one.

pub mod arguments;
pub mod autotune;
pub(crate) mod early_read;
pub(crate) mod errors;
pub(crate) mod kernel_cache;
pub(crate) mod kernel_times;
mod launch;
pub mod pool;
pub mod precision;
pub mod queue;
pub(crate) mod reduce;
pub(crate) mod shapes;
mod transfer;

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ptr;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::interrupt::Interrupt;

use crate::runtime::device::{CompileOptions, Device, DevicePtr, FunctionId, MappedWords, ModuleId};
use crate::runtime::executor::arguments::{Call, EqCartesian};
use crate::runtime::executor::autotune::{Autotune, Tune};
use crate::runtime::executor::errors::out_of_memory;
use crate::runtime::executor::pool::{Buffer, Pool};
use crate::runtime::executor::precision::Precision;
use crate::runtime::executor::queue::{Counters, Queue};
use crate::runtime::kernels::{COLLECTIONS_MODULE, KernelModule, KernelText, RUNTIME_MODULE};

/// A loaded module. Its source counts by address: a comparison of whole texts takes too long in
/// every call, and the key owns the source, so that no other text gets its address.
struct ModuleKey {
    name: KernelText,
    source: KernelText,
    precision: Precision,
}

impl PartialEq for ModuleKey {
    fn eq(&self, other: &ModuleKey) -> bool {
        ptr::eq(&*self.source, &*other.source) && self.name == other.name && self.precision == other.precision
    }
}

impl Eq for ModuleKey {}

impl Hash for ModuleKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.source.as_ptr(), self.precision).hash(state);
    }
}

/// A device with the shared state of the launches of a run.
pub struct Executor {
    device: Rc<dyn Device>,
    pool: RefCell<Pool>,
    queue: RefCell<Queue>,
    counters: Cell<Counters>,
    /// Compile options of the program's kernels.
    options: CompileOptions,
    /// The grid, if it is Cartesian; sides may be joined.
    shape: Option<EqCartesian>,
    modules: RefCell<HashMap<ModuleKey, ModuleId>>,
    functions: RefCell<HashMap<ModuleId, HashMap<Rc<str>, FunctionId>>>,
    autotune: RefCell<Autotune>,
    /// Numbers known on the host, by their bits.
    constants: RefCell<HashMap<u64, Rc<Buffer>>>,
    /// Counter of the blocks of a sum.
    arrived: OnceCell<Rc<Buffer>>,
    /// Keys of extremes that kernels take on the way.
    extreme_keys: RefCell<Vec<Rc<Buffer>>>,
    /// Words that the device writes for a host that waits for them.
    told: OnceCell<Rc<dyn MappedWords>>,
    interrupt: Interrupt,
    /// The first error of an operation that could not return it.
    deferred: RefCell<Option<Error>>,
}

impl Executor {
    /// An executor on a device, with these compile options.
    pub(crate) fn new(
        device: Rc<dyn Device>,
        options: CompileOptions,
        shape: Option<EqCartesian>,
        tune: Tune,
        interrupt: Interrupt,
    ) -> Rc<Executor> {
        Rc::new(Executor {
            device,
            pool: RefCell::default(),
            queue: RefCell::default(),
            counters: Cell::default(),
            options,
            shape,
            modules: RefCell::default(),
            functions: RefCell::default(),
            autotune: RefCell::new(Autotune::new(tune)),
            constants: RefCell::default(),
            arrived: OnceCell::new(),
            extreme_keys: RefCell::default(),
            told: OnceCell::new(),
            interrupt,
            deferred: RefCell::default(),
        })
    }

    /// The device.
    pub(crate) fn device(&self) -> &Rc<dyn Device> {
        &self.device
    }

    /// Precision of collections.
    pub(crate) fn precision(&self) -> Precision {
        self.options.precision
    }

    /// Dimension of the grid.
    pub(crate) fn dim(&self) -> usize {
        self.options.dim
    }

    /// True if offsets into the cells' face lists take 64 bits.
    pub(crate) fn wide_offsets(&self) -> bool {
        self.options.wide_offsets
    }

    /// The grid, if it is Cartesian; sides may be joined.
    pub(crate) fn closed_shape(&self) -> Option<EqCartesian> {
        self.shape
    }

    /// The grid, if it is Cartesian and no sides are joined.
    pub(crate) fn open_shape(&self) -> Option<EqCartesian> {
        self.shape.filter(|_| self.options.joined == [false; 3])
    }

    /// The Cartesian grid, whose sides may be joined.
    ///
    /// # Errors
    /// `Backend` (an internal error) if it is not Cartesian.
    pub(crate) fn cartesian_args(&self) -> Result<EqCartesian, Error> {
        self.shape.ok_or_else(|| Error::internal("a Cartesian kernel without a Cartesian grid"))
    }

    /// True if the run is interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.asked().is_some()
    }

    /// Counters of the device's work so far.
    pub(crate) fn counters(&self) -> Counters {
        self.counters.get()
    }

    pub(in crate::runtime::executor) fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }

    /// Times kernels from here on, for `--profile`.
    pub(crate) fn measure_kernel_times(&self) {
        self.queue.borrow_mut().measure_times();
    }

    /// The queue, read-only.
    pub(crate) fn queue(&self) -> Ref<'_, Queue> {
        self.queue.borrow()
    }

    /// Bytes allocated on the device.
    pub(crate) fn pool_bytes(&self) -> u64 {
        self.pool.borrow().bytes()
    }

    /// Bytes of buffers in use.
    #[cfg(test)]
    pub(crate) fn pool_in_use(&self) -> u64 {
        self.pool.borrow().in_use()
    }

    /// The key of a tuned kernel.
    #[cfg(test)]
    pub(crate) fn kernel_key(&self, function: FunctionId) -> Option<u64> {
        self.autotune.borrow().kernel(function)
    }

    /// Lines of autotuning for the summary.
    pub(crate) fn tuning_notes(&self) -> Vec<String> {
        self.autotune.borrow_mut().take_notes()
    }

    /// A kernel of a module for collections in a given precision, and its name; prepared on first
    /// use.
    fn function(&self, module: &KernelModule, precision: Precision, name: &str) -> Result<(FunctionId, Rc<str>), Error> {
        let options = || module.options(CompileOptions { precision, ..self.options });
        let key = ModuleKey { name: module.name.clone(), source: module.source.clone(), precision };
        let known = self.modules.borrow().get(&key).copied();
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.device.load(module, options())?;
                self.modules.borrow_mut().insert(key, id);
                id
            }
        };
        if let Some((name, function)) = self.functions.borrow().get(&id).and_then(|functions| functions.get_key_value(name)) {
            return Ok((*function, Rc::clone(name)));
        }
        let function = self.device.function(id, name)?;
        self.autotune.borrow_mut().register(id, module, function, name, &format!("{:?}", options()));
        let name: Rc<str> = name.into();
        self.functions.borrow_mut().entry(id).or_default().insert(Rc::clone(&name), function);
        Ok((function, name))
    }

    /// Begins to compile modules that are not loaded and will be needed soon.
    pub(crate) fn prepare(&self, modules: &[KernelModule]) -> Result<(), Error> {
        let is_loaded = |module: &KernelModule| self.modules.borrow().keys().any(|key| key.name == module.name);
        let wanted: Vec<_> = modules.iter().filter(|module| !is_loaded(module)).map(|module| (module.clone(), self.options)).collect();
        if wanted.is_empty() { Ok(()) } else { self.device.prepare(&wanted) }
    }

    /// Prepares the call of a kernel, which then gets its arguments and a launch.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn call(&self, module: &KernelModule, name: &str) -> Result<Call, Error> {
        self.call_in(module, self.precision(), name)
    }

    /// [`Executor::call`] for collections of another precision than the program's.
    pub(crate) fn call_in(&self, module: &KernelModule, precision: Precision, name: &str) -> Result<Call, Error> {
        let (function, name) = self.function(module, precision, name)?;
        Ok(Call::new(function, name))
    }

    /// Prepares the call of a kernel that works on collections of the program.
    pub(crate) fn collection_call(&self, name: &str) -> Result<Call, Error> {
        self.call(&COLLECTIONS_MODULE, name)
    }

    /// Prepares the call of a kernel of the runtime that works on no collection.
    pub(crate) fn runtime_call(&self, name: &str) -> Result<Call, Error> {
        self.call_in(&RUNTIME_MODULE, Precision::Double, name)
    }

    /// A buffer of `bytes` bytes with undefined contents.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn buffer(&self, what: &str, bytes: u64) -> Result<Rc<Buffer>, Error> {
        if let Some(buffer) = self.take(bytes)? {
            return Ok(buffer);
        }
        // Unused buffers of other sizes may suffice; graphs that use them are freed first.
        self.flush()?;
        self.synchronise()?;
        self.queue.borrow_mut().forget(&*self.device);
        // SAFETY: nothing is in flight after the wait, and no graph is left.
        unsafe { self.pool.borrow_mut().trim(&*self.device) };
        match self.take(bytes)? {
            Some(buffer) => Ok(buffer),
            None => Err(out_of_memory(what, bytes, self.pool_bytes(), self.device.memory().ok())),
        }
    }

    fn take(&self, bytes: u64) -> Result<Option<Rc<Buffer>>, Error> {
        let Some((buffer, new)) = self.pool.borrow_mut().take(&*self.device, bytes)? else { return Ok(None) };
        self.count(|counters| counters.allocations += u64::from(new));
        Ok(Some(Rc::new(buffer)))
    }

    /// A buffer for a number.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn new_number(&self) -> Result<Rc<Buffer>, Error> {
        self.buffer("a number", 8)
    }

    /// The address of a number known on the host, uploaded once.
    pub(crate) fn constant(&self, value: f64) -> Result<DevicePtr, Error> {
        Ok(self.constant_buffer(value)?.address())
    }

    /// The buffer of a number known on the host.
    pub(crate) fn constant_buffer(&self, value: f64) -> Result<Rc<Buffer>, Error> {
        if let Some(buffer) = self.constants.borrow().get(&value.to_bits()) {
            return Ok(Rc::clone(buffer));
        }
        let buffer = self.upload("a number", &[value])?;
        self.constants.borrow_mut().insert(value.to_bits(), Rc::clone(&buffer));
        Ok(buffer)
    }

    /// Address of the counter of a sum's blocks; sums use it one after the other.
    pub(crate) fn arrived(&self) -> Result<DevicePtr, Error> {
        if let Some(buffer) = self.arrived.get() {
            return Ok(buffer.address());
        }
        let buffer = self.upload("a counter", &[0u32])?;
        Ok(self.arrived.get_or_init(|| buffer).address())
    }

    /// The value of a result; its error goes to [`Executor::deferred`], if it is the first one.
    pub(crate) fn attempt<T>(&self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.deferred.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    /// Returns the first error of operations that could not return it.
    ///
    /// # Errors
    /// That error, once.
    pub(crate) fn deferred(&self) -> Result<(), Error> {
        self.deferred.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Waits for the device and frees graphs: memory may be freed after this.
    pub(crate) fn quiesce(&self) {
        self.queue.borrow_mut().forget(&*self.device);
        // A lost device was reported before.
        let _ = self.device.synchronise();
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.quiesce();
        // SAFETY: nothing is in flight after the wait and no graph is left. Whatever shared this
        // executor is gone, so nobody uses its buffers again.
        unsafe { self.pool.borrow_mut().release(&*self.device) };
    }
}
