//! Launches wait here until something needs their results. A sequence of launches that comes again becomes a graph.
//!
//! The buffers of a time step rotate with some period p, so p different sequences come back again and again: the first time a sequence is
//! launched one by one, the second time a graph is built from it, from then on the graph is launched.

use std::collections::HashMap;

use crate::runtime::device::{Device, GraphId, Launch};
use equelle_runtime::Error;

/// More different sequences than this are not remembered: the arguments do not repeat.
const REMEMBERED: usize = 256;

#[derive(Debug)]
enum Seen {
    Once,
    Graph(GraphId),
}

/// What the device was asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Kernels launched, those in graphs included.
    pub kernels: u64,
    /// Graphs launched.
    pub graphs: u64,
    /// Copies from host to device.
    pub uploads: u64,
    /// Bytes of them.
    pub uploaded_bytes: u64,
    /// Copies from device to host.
    pub downloads: u64,
    /// Bytes of them.
    pub downloaded_bytes: u64,
    /// Requests for device memory.
    pub allocations: u64,
    /// Waits of the host for the device.
    pub synchronisations: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Vec<Launch>,
    seen: HashMap<Vec<Launch>, Seen>,
}

impl Queue {
    pub(crate) fn push(&mut self, launch: Launch) {
        self.waiting.push(launch);
    }

    /// Hands everything that waits to the device; waits for nothing.
    pub(crate) fn flush(&mut self, device: &dyn Device, counters: &mut Counters) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let launches = std::mem::take(&mut self.waiting);
        counters.kernels += launches.len() as u64;
        match self.seen.get_mut(&launches) {
            Some(Seen::Graph(graph)) => {
                counters.graphs += 1;
                // SAFETY: memory of the graph's launches is given back only after `forget`.
                unsafe { device.launch_graph(*graph) }
            }
            Some(seen @ Seen::Once) => {
                // SAFETY: the launches were put together by the runtime for kernels of their modules, on memory of the pool.
                let graph = unsafe { device.build_graph(&launches)? };
                *seen = Seen::Graph(graph);
                counters.graphs += 1;
                // SAFETY: as above.
                unsafe { device.launch_graph(graph) }
            }
            None => {
                for launch in &launches {
                    // SAFETY: as for building a graph.
                    unsafe { device.launch(launch)? };
                }
                if self.seen.len() < REMEMBERED {
                    self.seen.insert(launches, Seen::Once);
                }
                Ok(())
            }
        }
    }

    /// Frees all graphs.
    pub(crate) fn forget(&mut self, device: &dyn Device) {
        let mut graphs: Vec<GraphId> =
            self.seen.drain().filter_map(|(_, seen)| if let Seen::Graph(graph) = seen { Some(graph) } else { None }).collect();
        graphs.sort_by_key(|g| g.0);
        graphs.into_iter().for_each(|g| device.free_graph(g));
    }
}
