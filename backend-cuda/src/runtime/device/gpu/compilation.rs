//! Compilation of kernel modules, also ahead: in threads of their own, while the driver starts and
//! the program reads its inputs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use equelle_runtime::Error;

use super::{nvrtc, registers};
use crate::runtime::executor::kernel_cache;
use crate::runtime::kernels::{CompileOptions, FloatingPoint, KernelModule};

/// A module that is to be compiled for an architecture.
pub(super) struct Job {
    module: KernelModule,
    source: String,
    flags: Vec<String>,
    arch: String,
    /// The hash of all that the result depends on.
    pub key: u64,
}

impl Job {
    /// A module with these options.
    ///
    /// # Errors
    /// `Backend`: NVRTC is missing.
    pub fn new(module: &KernelModule, options: CompileOptions, arch: &str) -> Result<Job, Error> {
        let mut flags = options.definitions();
        if module.floating_point == FloatingPoint::Fast {
            flags.push("--fmad=true".to_owned());
        }
        let source = module.full_source();
        let inputs = [source.as_bytes(), flags.join(" ").as_bytes(), arch.as_bytes(), nvrtc::version()?.as_bytes()].map(<[u8]>::to_vec);
        let key = kernel_cache::hash(&inputs.each_ref().map(Vec::as_slice));
        Ok(Job { module: module.clone(), source, flags, arch: arch.to_owned(), key })
    }

    /// The compiled module, from the cache on disk or by NVRTC.
    ///
    /// # Errors
    /// `Backend` (an internal error): the module does not compile.
    fn image(&self) -> Result<Vec<u8>, Error> {
        if let Some(image) = kernel_cache::read(self.key, "cubin") {
            return Ok(image);
        }
        let (image, _) = registers::compile(&self.source, &self.arch, &self.flags).map_err(|error| self.module.with_kernel(error))?;
        kernel_cache::write(self.key, "cubin", &image);
        Ok(image)
    }
}

/// Compilations that are under way, by the keys of their jobs. NVRTC must not run when the process
/// ends, so a drop waits for them.
#[derive(Debug, Default)]
pub(super) struct Compilations(BTreeMap<u64, JoinHandle<Result<Vec<u8>, Error>>>);

impl Compilations {
    /// Begins to compile modules, each in a thread, but for those that are under way.
    ///
    /// # Errors
    /// As for [`Job::new`].
    pub fn begin(&mut self, modules: &[(KernelModule, CompileOptions)], arch: &str) -> Result<(), Error> {
        for (module, options) in modules {
            let job = Job::new(module, module.options(*options), arch)?;
            if let Entry::Vacant(entry) = self.0.entry(job.key)
                // Without another thread it is compiled when it is needed.
                && let Ok(thread) = thread::Builder::new().spawn(move || job.image())
            {
                entry.insert(thread);
            }
        }
        Ok(())
    }

    /// The compiled module of a job.
    ///
    /// # Errors
    /// `Backend` (an internal error): the module does not compile.
    pub fn image(&mut self, job: &Job) -> Result<Vec<u8>, Error> {
        match self.0.remove(&job.key) {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => job.image(),
        }
    }
}

impl Drop for Compilations {
    fn drop(&mut self) {
        // Errors are reported where the module is needed.
        std::mem::take(&mut self.0).into_values().for_each(|thread| drop(thread.join()));
    }
}
