//! Times of kernels on the device (`--profile`). A sequence of launches is timed at its first two
//! occurrences; later ones are graphs, and are counted.

use std::rc::Rc;

use equelle_runtime::session::profile::Profiler;

use crate::runtime::device::{Device, FunctionId, Launch, Work};

/// The form of loops on a device: a thread for each element.
const FORM: &str = "threads";

/// Calls and times of each kernel.
#[derive(Debug, Default)]
pub(crate) struct KernelTimes {
    /// By number of the function.
    kernels: Vec<Option<OneKernel>>,
}

#[derive(Debug)]
struct OneKernel {
    function: FunctionId,
    name: Rc<str>,
    /// Threads of a block, of the last launch.
    threads: u32,
    lines: Rc<[u32]>,
    calls: u64,
    bytes: u64,
    /// Times of first occurrences, in which clocks and caches are cold.
    first: Mean,
    second: Mean,
}

#[derive(Debug, Default)]
struct Mean {
    launches: u64,
    seconds: f64,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.launches += 1;
        self.seconds += seconds;
    }

    fn per_launch(&self) -> Option<f64> {
        (self.launches > 0).then(|| self.seconds / self.launches as f64)
    }
}

/// Occurrence of a sequence that was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    First,
    Second,
}

impl KernelTimes {
    fn kernel(&mut self, launch: &Launch) -> &mut OneKernel {
        let number = launch.function.0 as usize;
        if self.kernels.len() <= number {
            self.kernels.resize_with(number + 1, || None);
        }
        self.kernels[number].get_or_insert_with(|| OneKernel {
            function: launch.function,
            name: Rc::clone(&launch.name),
            threads: 0,
            lines: Rc::default(),
            calls: 0,
            bytes: 0,
            first: Mean::default(),
            second: Mean::default(),
        })
    }

    /// Counts launches.
    pub(crate) fn count(&mut self, launches: &[Launch]) {
        for launch in launches {
            let kernel = self.kernel(launch);
            kernel.calls += 1;
            kernel.threads = launch.shape.block.iter().product();
            if let Some(Work { lines, bytes }) = &launch.work {
                (kernel.lines, kernel.bytes) = (Rc::clone(lines), kernel.bytes + bytes);
            }
        }
    }

    /// Adds the seconds of each launch of a sequence.
    pub(crate) fn add(&mut self, launches: &[Launch], seconds: &[f64], occurrence: Occurrence) {
        for (launch, &seconds) in launches.iter().zip(seconds) {
            let kernel = self.kernel(launch);
            match occurrence {
                Occurrence::First => kernel.first.add(seconds),
                Occurrence::Second => kernel.second.add(seconds),
            }
        }
    }

    /// Tells the profiler of each kernel: all calls, at the mean time of those that were timed, and
    /// what it takes on the device.
    pub(crate) fn report(&self, device: &dyn Device, profiler: &Profiler) {
        for kernel in self.kernels.iter().flatten() {
            let per_launch = kernel.second.per_launch().or(kernel.first.per_launch()).unwrap_or(f64::NAN);
            profiler.kernel((&kernel.name, &kernel.lines), FORM, kernel.calls, per_launch * kernel.calls as f64, kernel.bytes);
            if let Some(resources) = device.resources(kernel.function, kernel.threads) {
                profiler.resources(&kernel.name, resources);
            }
        }
    }
}
