//! Identifiers of a device, and launches.

use std::rc::Rc;

/// Address in device memory; never 0 for memory that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DevicePtr(pub u64);

/// A loaded module of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u32);

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u32);

/// An asynchronous copy to the host; later copies have larger numbers and end later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId(pub u64);

/// An instantiated graph of launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphId(pub u32);

/// Numbers of blocks and of threads per block along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
}

/// Work of a launch, for `--profile`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Work {
    /// Lines of the program that it computes.
    pub lines: Rc<[u32]>,
    /// Least memory traffic in bytes.
    pub bytes: u64,
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// The kernel.
    pub function: FunctionId,
    /// Its name, for messages.
    pub name: Rc<str>,
    /// Its shape.
    pub shape: LaunchShape,
    /// Argument values, each aligned to 8 bytes.
    pub words: Vec<u64>,
    /// Index in `words` of each argument.
    pub offsets: Vec<u32>,
    /// With `--profile`, the work of a kernel of the program.
    pub work: Option<Work>,
}
