//! Graphs of kernels in a chain.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, CudaEvent, CudaFunction, CudaStream, sys};

use crate::runtime::device::Launch;

/// A kernel of a loaded module.
#[derive(Debug)]
pub(super) struct Kernel {
    pub function: CudaFunction,
    /// True if it may start while the previous kernel ends (programmatic dependent launch).
    pub is_programmatic: bool,
}

/// Port of an edge that begins at the end of a kernel or at its launch trigger:
/// `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`, a macro of `cuda.h`.
const PROGRAMMATIC_PORT: u8 = 1;

/// Addresses of the arguments of a launch, for the driver.
pub(super) fn addresses(launch: &Launch) -> Vec<*mut c_void> {
    launch.offsets.iter().map(|&o| launch.words[o as usize..].as_ptr().cast_mut().cast()).collect()
}

/// The dependency on a node as the driver takes it.
fn dependency(node: Option<&sys::CUgraphNode>) -> (*const sys::CUgraphNode, usize) {
    (node.map_or(std::ptr::null(), std::ptr::from_ref), usize::from(node.is_some()))
}

/// A graph under construction. Raw calls, since cudarc's `CudaGraph` supports only stream capture.
struct Template(sys::CUgraph);

impl Template {
    fn new() -> Result<Template, DriverError> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: `graph` outlives the call.
        unsafe { sys::cuGraphCreate(&raw mut graph, 0) }.result()?;
        Ok(Template(graph))
    }

    /// Appends a launch after the previous one, to start after it or while it ends.
    fn append(&self, previous: Option<sys::CUgraphNode>, kernel: &Kernel, launch: &Launch) -> Result<sys::CUgraphNode, DriverError> {
        let full = previous.filter(|_| !kernel.is_programmatic);
        let added = self.append_after(full, &kernel.function, launch)?;
        if let Some(before) = previous.filter(|_| kernel.is_programmatic) {
            let edge = sys::CUgraphEdgeData {
                from_port: PROGRAMMATIC_PORT,
                to_port: 0,
                type_: sys::CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
                reserved: [0; 5],
            };
            // SAFETY: both nodes are of this graph. The second kernel waits for the end of the
            // first before it touches memory, and the first ended or was started after all before
            // it.
            unsafe { sys::cuGraphAddDependencies_v2(self.0, &raw const before, &raw const added, &raw const edge, 1) }.result()?;
        }
        Ok(added)
    }

    /// Appends a launch that starts after the previous node has ended.
    fn append_after(
        &self,
        previous: Option<sys::CUgraphNode>,
        function: &CudaFunction,
        launch: &Launch,
    ) -> Result<sys::CUgraphNode, DriverError> {
        let s = launch.shape;
        let mut arguments = addresses(launch);
        let node = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function.cu_function(),
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
        let mut added = std::ptr::null_mut();
        let (dependency, count) = dependency(previous.as_ref());
        // SAFETY: the driver copies parameters, arguments and the dependency, which is of this
        // graph.
        unsafe { sys::cuGraphAddKernelNode_v2(&raw mut added, self.0, dependency, count, &raw const node) }.result()?;
        Ok(added)
    }

    /// Appends a record of an event after the previous node.
    fn append_event(&self, previous: Option<sys::CUgraphNode>, event: &CudaEvent) -> Result<sys::CUgraphNode, DriverError> {
        let mut added = std::ptr::null_mut();
        let (dependency, count) = dependency(previous.as_ref());
        // SAFETY: the dependency is of this graph; the event outlives the graph.
        unsafe { sys::cuGraphAddEventRecordNode(&raw mut added, self.0, dependency, count, event.cu_event()) }.result()?;
        Ok(added)
    }

    fn instantiate(&self) -> Result<Graph, DriverError> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: the template is complete; `graph` outlives the call.
        unsafe { sys::cuGraphInstantiateWithFlags(&raw mut graph, self.0, 0) }.result()?;
        Ok(Graph(graph))
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once; an instantiated graph does not need it.
        let _ = unsafe { sys::cuGraphDestroy(self.0) }.result();
    }
}

/// An instantiated graph.
#[derive(Debug)]
pub(super) struct Graph(sys::CUgraphExec);

impl Graph {
    /// A graph of these launches, in their order.
    pub(super) fn new<'a>(launches: impl Iterator<Item = (&'a Kernel, &'a Launch)>) -> Result<Graph, DriverError> {
        let template = Template::new()?;
        let mut previous = None;
        for (kernel, launch) in launches {
            previous = Some(template.append(previous, kernel, launch)?);
        }
        template.instantiate()
    }

    /// Appends it to a stream.
    ///
    /// # Safety
    /// Kernels and memory of its launches still exist.
    pub(super) unsafe fn launch(&self, stream: &CudaStream) -> Result<(), DriverError> {
        // SAFETY: graph and stream exist; the caller vouches for the rest.
        unsafe { result::graph::launch(self.0, stream.cu_stream()) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: instantiated in `new`, destroyed once.
        let _ = unsafe { result::graph::exec_destroy(self.0) };
    }
}

/// Launches one after the other with events between them: what the host does between launches is
/// not measured.
pub(super) struct TimedGraph {
    graph: Graph,
    /// One before each launch, and one after the last.
    events: Vec<CudaEvent>,
}

impl TimedGraph {
    /// A graph of these launches.
    pub(super) fn new<'a>(
        context: &Arc<CudaContext>,
        launches: impl Iterator<Item = (&'a CudaFunction, &'a Launch)>,
    ) -> Result<TimedGraph, DriverError> {
        let new_event = || context.new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT));
        let mut events = vec![new_event()?];
        let template = Template::new()?;
        let mut previous = template.append_event(None, &events[0])?;
        for (function, launch) in launches {
            previous = template.append_after(Some(previous), function, launch)?;
            let event = new_event()?;
            previous = template.append_event(Some(previous), &event)?;
            events.push(event);
        }
        Ok(TimedGraph { graph: template.instantiate()?, events })
    }

    /// Runs it, and returns the seconds of each launch.
    ///
    /// # Safety
    /// As [`Graph::launch`].
    pub(super) unsafe fn run(&self, stream: &CudaStream) -> Result<Vec<f64>, DriverError> {
        // SAFETY: as the caller promises; the events exist until the stream is idle.
        unsafe { self.graph.launch(stream) }?;
        stream.synchronize()?;
        self.events.windows(2).map(|pair| Ok(1e-3 * f64::from(pair[0].elapsed_ms(&pair[1])?))).collect()
    }
}
