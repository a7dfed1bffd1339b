//! The queue of launches, which runs when a result is needed. A sequence of launches that repeats
//! becomes a graph.
//!
//! The buffers of a time step cycle with some period p, so p different sequences repeat, or fewer
//! where a sequence spans several steps. The first occurrence is launched one by one, the second
//! builds a graph, later ones launch the graph.

use std::collections::HashMap;

use crate::runtime::device::{Device, DevicePtr, GraphId, Launch};
use crate::runtime::executor::kernel_times::{KernelTimes, Occurrence};
use equelle_runtime::Error;

/// Largest number of remembered sequences: beyond it, arguments do not repeat.
const REMEMBERED: usize = 256;

#[derive(Debug)]
enum SequenceState {
    Once,
    /// Timed for the second time, with `--profile`.
    Timed,
    Graph(GraphId),
    /// The graph could not be built; launched one by one.
    Plain,
}

/// Counters of the device's work.
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
    /// Number of sequences of launches submitted to the device.
    handed_over: u64,
    seen: HashMap<Vec<Launch>, SequenceState>,
    /// Error of the first graph that could not be built.
    refused: Option<Error>,
    /// Times of kernels, with `--profile`.
    times: Option<KernelTimes>,
}

/// Submits launches one by one.
fn launch_all(device: &dyn Device, launches: &[Launch]) -> Result<(), Error> {
    // SAFETY: the launches were put together by the runtime for kernels of their modules, on memory
    // of the pool.
    launches.iter().try_for_each(|launch| unsafe { device.launch(launch) })
}

/// Submits launches, waits for them, and adds their times.
fn time_all(device: &dyn Device, launches: &[Launch], times: &mut KernelTimes, occurrence: Occurrence) -> Result<(), Error> {
    // SAFETY: as in `launch_all`.
    match unsafe { device.time_launches(launches) }? {
        Some(seconds) => times.add(launches, &seconds, occurrence),
        None => launch_all(device, launches)?,
    }
    Ok(())
}

impl Queue {
    /// Times kernels from here on.
    pub(crate) fn measure_times(&mut self) {
        self.times.get_or_insert_default();
    }

    /// Times of kernels so far, if they are measured.
    pub(crate) fn times(&self) -> Option<&KernelTimes> {
        self.times.as_ref()
    }

    pub(crate) fn push(&mut self, launch: Launch) {
        self.waiting.push(launch);
    }

    /// Inserts a launch after the last one that has one of these addresses among its arguments; at
    /// the end if none has. Launches that write a number or a Bool have its address as an argument.
    pub(crate) fn insert_behind(&mut self, launch: Launch, addresses: &[DevicePtr]) {
        let has = |launch: &Launch| launch.words.iter().any(|word| addresses.iter().any(|address| address.0 == *word));
        let place = self.waiting.iter().rposition(has).map_or(self.waiting.len(), |last| last + 1);
        self.waiting.insert(place, launch);
    }

    /// Number of queued launches.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Number of sequences of launches submitted to the device.
    pub(crate) fn handed_over(&self) -> u64 {
        self.handed_over
    }

    /// True if the queue is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The last queued launch.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Launch> {
        self.waiting.last_mut()
    }

    /// Submits all queued launches to the device; does not wait.
    pub(crate) fn flush(&mut self, device: &dyn Device, counters: &mut Counters) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let launches = std::mem::take(&mut self.waiting);
        self.handed_over += 1;
        counters.kernels += launches.len() as u64;
        if let Some(times) = &mut self.times {
            times.count(&launches);
        }
        match (self.seen.get_mut(&launches), &mut self.times) {
            (Some(SequenceState::Graph(graph)), _) => {
                counters.graphs += 1;
                // SAFETY: memory of the graph's launches is freed only after `forget`.
                unsafe { device.launch_graph(*graph) }
            }
            (Some(seen @ SequenceState::Once), Some(times)) => {
                *seen = SequenceState::Timed;
                time_all(device, &launches, times, Occurrence::Second)
            }
            // SAFETY: the launches were put together by the runtime for kernels of their modules,
            // on memory of the pool.
            (Some(seen @ (SequenceState::Once | SequenceState::Timed)), _) => match unsafe { device.build_graph(&launches) } {
                Ok(graph) => {
                    *seen = SequenceState::Graph(graph);
                    counters.graphs += 1;
                    // SAFETY: as above.
                    unsafe { device.launch_graph(graph) }
                }
                // Graphs only save time. If the device is lost, the launches report it.
                Err(error) => {
                    *seen = SequenceState::Plain;
                    self.refused.get_or_insert(error);
                    launch_all(device, &launches)
                }
            },
            (Some(SequenceState::Plain), _) => launch_all(device, &launches),
            (None, times) => {
                match times {
                    Some(times) if self.seen.len() < REMEMBERED => time_all(device, &launches, times, Occurrence::First)?,
                    Some(_) | None => launch_all(device, &launches)?,
                }
                if self.seen.len() < REMEMBERED {
                    self.seen.insert(launches, SequenceState::Once);
                }
                Ok(())
            }
        }
    }

    /// The error that prevented graphs, if any.
    pub(crate) fn refused(&self) -> Option<&Error> {
        self.refused.as_ref()
    }

    /// Frees all graphs.
    pub(crate) fn forget(&mut self, device: &dyn Device) {
        let mut graphs: Vec<GraphId> =
            self.seen.drain().filter_map(|(_, seen)| if let SequenceState::Graph(graph) = seen { Some(graph) } else { None }).collect();
        graphs.sort_by_key(|g| g.0);
        graphs.into_iter().for_each(|g| device.free_graph(g));
    }
}
