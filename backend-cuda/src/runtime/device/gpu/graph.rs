//! Kernels in graphs, one after the other.

use std::ffi::c_void;

use cudarc::driver::{result, sys};

use crate::runtime::device::Launch;

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub function: sys::CUfunction,
    /// It begins by waiting for the kernel before it, and may be started while that one ends: `EQ_START` of the prelude.
    pub waits_by_itself: bool,
}

/// Where edges of a graph begin that a kernel announces while it runs, or by its end: `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`, a macro of `cuda.h`.
const ANNOUNCED: u8 = 1;

/// Addresses of the arguments of a launch, as the driver takes them.
pub(super) fn addresses(launch: &Launch) -> Vec<*mut c_void> {
    launch.offsets.iter().map(|&o| launch.words[o as usize..].as_ptr().cast_mut().cast()).collect()
}

/// Appends a launch to a graph behind the one before. One that waits by itself may be started while that one ends.
pub(super) fn append(
    graph: sys::CUgraph,
    previous: Option<sys::CUgraphNode>,
    kernel: Kernel,
    launch: &Launch,
) -> Result<sys::CUgraphNode, result::DriverError> {
    let s = launch.shape;
    let mut arguments = addresses(launch);
    let node = sys::CUDA_KERNEL_NODE_PARAMS {
        func: kernel.function,
        gridDimX: s.grid[0],
        gridDimY: s.grid[1],
        gridDimZ: s.grid[2],
        blockDimX: s.block[0],
        blockDimY: s.block[1],
        blockDimZ: s.block[2],
        sharedMemBytes: 0,
        kernelParams: arguments.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    };
    let mut added: sys::CUgraphNode = std::ptr::null_mut();
    let waits_for_all = previous.filter(|_| !kernel.waits_by_itself);
    let dependency = waits_for_all.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = usize::from(waits_for_all.is_some());
    // SAFETY: the driver copies node parameters, arguments and the dependency, which is of this graph.
    unsafe { sys::cuGraphAddKernelNode_v2(&raw mut added, graph, dependency, count, &raw const node) }.result()?;
    if let Some(before) = previous.filter(|_| kernel.waits_by_itself) {
        let edge = sys::CUgraphEdgeData {
            from_port: ANNOUNCED,
            to_port: 0,
            type_: sys::CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
            reserved: [0; 5],
        };
        // SAFETY: both nodes are kernels of this graph. The second one waits for the end of the first before it touches memory; the first ended after all before it, since it waited for them or
        // was not started before.
        unsafe { sys::cuGraphAddDependencies_v2(graph, &raw const before, &raw const added, &raw const edge, 1) }.result()?;
    }
    Ok(added)
}
