//! Errors of CUDA's libraries, and their messages.

use std::ffi::CStr;

use cudarc::driver::result::DriverError;
use cudarc::nvrtc::result::NvrtcError;
use equelle_runtime::{Error, ErrorKind};

/// Failure of an operation on the GPU.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum GpuError {
    /// A library is missing, or too old.
    #[error("{message}")]
    Library { message: String, hint: &'static str },
    #[error("starting CUDA failed on the GPU: {}", text_of(.0))]
    Start(DriverError),
    #[error("no CUDA device was found")]
    NoDevice,
    #[error("the GPU (compute capability {}.{}) is too old for NVRTC {nvrtc}", capability / 10, capability % 10)]
    OldDevice { capability: u32, nvrtc: String },
    #[error("{task} failed on the GPU: {}", text_of(error))]
    Driver { task: String, error: DriverError },
    #[error("{task} failed on the GPU: cuSPARSE says: {text}")]
    Cusparse { task: &'static str, text: String, out_of_memory: bool },
    #[error("internal error: NVRTC: {0}")]
    Nvrtc(#[from] NvrtcError),
    /// The compiler's messages.
    #[error("internal error: generated kernels do not compile\n{0}")]
    Compile(String),
    #[error("internal error: {0} holds a zero byte")]
    ZeroByte(&'static str),
    #[error("internal error: a freed graph was launched")]
    FreedGraph,
}

impl GpuError {
    /// A hint.
    fn hint(&self) -> Option<&'static str> {
        match self {
            GpuError::Library { hint, .. } => Some(hint),
            GpuError::Start(_) | GpuError::NoDevice => Some("check that `nvidia-smi` shows a GPU, or use --backend serial"),
            GpuError::OldDevice { .. } => Some("use a newer GPU, or --backend serial"),
            GpuError::Cusparse { out_of_memory, .. } => out_of_memory.then_some("use a smaller grid, or -O2 without --ad=spgemm"),
            GpuError::Driver { .. } | GpuError::Nvrtc(_) | GpuError::Compile(_) | GpuError::ZeroByte(_) | GpuError::FreedGraph => None,
        }
    }
}

impl From<GpuError> for Error {
    fn from(error: GpuError) -> Error {
        Error { hint: error.hint().map(str::to_owned), ..Error::new(ErrorKind::Backend, error.to_string()) }
    }
}

/// The driver's text of an error.
fn text_of(error: &DriverError) -> String {
    let text =
        |told: Result<&CStr, DriverError>, otherwise: &str| told.ok().and_then(|text| text.to_str().ok()).unwrap_or(otherwise).to_owned();
    format!("{} ({})", text(error.error_string(), "unknown error"), text(error.error_name(), ""))
}

/// Conversion of driver errors.
pub(super) trait During<T> {
    /// Adds the task of the driver.
    fn during(self, task: &str) -> Result<T, Error>;
}

impl<T> During<T> for Result<T, DriverError> {
    fn during(self, task: &str) -> Result<T, Error> {
        self.map_err(|error| GpuError::Driver { task: task.to_owned(), error }.into())
    }
}
