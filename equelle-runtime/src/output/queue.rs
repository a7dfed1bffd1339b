//! Files that a thread writes, and what it needs from its start on.

use std::sync::Arc;

use super::background::{Order, Writer};
use super::plan::Formats;
use super::probe::Probe;
use super::steps::{FileNeeds, FileWriter, Meshes};
use crate::error::Error;
use crate::grid::Grid;
use crate::run::RunRecord;
use crate::threads::Threads;

/// Files on their way to the thread that writes them.
#[derive(Default)]
pub(super) struct FileQueue {
    pub writer: Writer,
    /// Until the thread has them.
    pub probes: Vec<Probe>,
    /// With files of VTK, until the thread has them.
    pub meshes: Option<Meshes>,
    /// The grid without geometry, for files of VTK.
    pub grid: Option<Arc<Grid>>,
    /// The round after which the run goes on, and the number of steps written by then.
    pub continues_after: Option<(u64, u64)>,
}

impl FileQueue {
    /// Queues an order. With `reports`, returns the error of earlier ones, else leaves it to the
    /// next report.
    pub(super) fn add(
        &mut self,
        order: Order,
        reports: bool,
        record: &RunRecord,
        formats: Formats,
        threads: &Threads,
    ) -> Result<(), Error> {
        let FileQueue { writer, probes, meshes, continues_after, .. } = self;
        let is_awaited = writer.is_awaited();
        let start = || {
            FileWriter::new(FileNeeds {
                record: record.clone(),
                formats,
                probes: std::mem::take(probes),
                meshes: meshes.take(),
                // It comes with the first collection: a step of single numbers may be earlier.
                grid: None,
                // Its own threads: those of the run's loops would wait for it.
                threads: Threads::new(threads.number()),
                is_awaited,
                continues_after: *continues_after,
            })
        };
        if reports { writer.add(order, start) } else { writer.push(order, start) }
    }
}
