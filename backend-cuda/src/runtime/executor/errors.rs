//! Errors of the executor.

use equelle_runtime::{Error, ErrorKind};

/// The error of a device without enough memory.
pub(crate) fn out_of_memory(what: &str, bytes: u64, held: u64, memory: Option<(u64, u64)>) -> Error {
    let size = |b: u64| equelle_runtime::report::bytes(b);
    let rest = memory.map(|(free, total)| format!("; {} of {} are free", size(free), size(total))).unwrap_or_default();
    let message = format!("the device has not enough memory for {what}: {} more are needed, {} are in use{rest}", size(bytes), size(held));
    Error::new(ErrorKind::Backend, message).hint("use a smaller grid, another device, or --backend serial")
}
