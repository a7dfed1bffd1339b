//! Files that a thread writes in the background, for back-ends whose numbers arrive after the
//! `Output` statement.
//!
//! One thread writes the files in the order of the outputs: if a run ends early, the existing files
//! are the first ones. After an error it writes nothing more; the run gets the error with its next
//! file, or when it waits for its outputs.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::rows::RowText;
use super::{Outputs, next_file, write_file};
use crate::error::Error;
use crate::real::Real;
use crate::threads::Threads;

/// Largest number of queued files, which bounds their memory.
const WAITING: usize = 4;

/// Writes a file; all files share the buffers of text.
type Job = Box<dyn FnOnce(&mut RowText) -> Result<(), Error> + Send>;

enum Order {
    Write(Job),
    /// Answer once all earlier files are written.
    Answer(SyncSender<()>),
}

/// The thread, started with the first file.
#[derive(Default)]
pub(super) struct Writer {
    running: Option<Running>,
}

struct Running {
    orders: SyncSender<Order>,
    thread: JoinHandle<()>,
    /// The first error.
    error: Arc<Mutex<Option<Error>>>,
}

fn work(orders: &Receiver<Order>, error: &Mutex<Option<Error>>, threads: Threads) {
    let mut text = RowText::new(threads);
    let mut failed = false;
    for order in orders {
        match order {
            Order::Write(job) if !failed => {
                if let Err(found) = job(&mut text) {
                    failed = true;
                    *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                }
            }
            // A dropped job returns its buffers to their owner.
            Order::Write(job) => drop(job),
            // Nobody waits for an answer after the end of the run.
            Order::Answer(to) => drop(to.send(())),
        }
    }
}

fn ended() -> Error {
    Error::internal("the thread that writes outputs has ended")
}

impl Writer {
    fn start(&mut self, threads: &Threads) -> std::io::Result<&Running> {
        if self.running.is_none() {
            let (sender, orders) = sync_channel(WAITING);
            let error = Arc::new(Mutex::new(None));
            let (shared, threads) = (Arc::clone(&error), threads.clone());
            let thread = std::thread::Builder::new().name("outputs".to_owned()).spawn(move || work(&orders, &shared, threads))?;
            self.running = Some(Running { orders: sender, thread, error });
        }
        self.running.as_ref().ok_or_else(|| std::io::Error::other("no thread"))
    }

    /// Returns the error so far, once.
    fn report(&self) -> Result<(), Error> {
        let Some(running) = &self.running else { return Ok(()) };
        running.error.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Waits until all files are written.
    ///
    /// # Errors
    /// The error since the last report.
    pub(super) fn wait_for_outputs(&self) -> Result<(), Error> {
        let Some(running) = &self.running else { return Ok(()) };
        let (answer, answered) = sync_channel(1);
        let is_written = running.orders.send(Order::Answer(answer)).is_ok() && answered.recv().is_ok();
        self.report()?;
        if is_written { Ok(()) } else { Err(ended()) }
    }

    /// Queues a file after all earlier ones; waits if the queue is full.
    fn add(&mut self, threads: &Threads, job: Job) -> Result<(), Error> {
        self.report()?;
        match self.start(threads) {
            Ok(running) => running.orders.send(Order::Write(job)).map_err(|_| ended()),
            // The process can start no thread: write at once.
            Err(_) => job(&mut RowText::default()),
        }
    }
}

impl Drop for Writer {
    /// All files are written before the run ends, however it ends.
    fn drop(&mut self) {
        if let Some(Running { orders, thread, .. }) = self.running.take() {
            drop(orders);
            // A panic of the thread has been printed on standard error.
            let _ = thread.join();
        }
    }
}

impl Outputs {
    /// Whether collections of this size currently go to files: not to standard output or memory,
    /// and neither deferred nor suppressed.
    pub fn go_to_files(&self, elements: usize) -> bool {
        self.has_files_for(elements) && self.deferred.is_none() && self.suppressed.is_none()
    }

    /// Queues a file for numbers that are still being copied: components of `elements` numbers, in
    /// the order of the domain. Requires [`Outputs::go_to_files`]. Errors name the line.
    ///
    /// # Errors
    /// `Data` if the tag cannot be part of a file name; `Io` if another run uses the folder; an
    /// error of earlier files, whose copies may have failed.
    ///
    /// # Panics
    /// If collections do not go to files.
    pub fn write_in_background<R: Real>(
        &mut self,
        tag: &str,
        line: u32,
        elements: usize,
        numbers: impl FnOnce() -> Result<Vec<Vec<R>>, Error> + Send + 'static,
    ) -> Result<(), Error> {
        assert!(self.go_to_files(elements), "only outputs to files are written in the background");
        let Some(record) = self.record_of_files(elements).map_err(|error| error.at(line))? else { return Ok(()) };
        let file = next_file(&mut self.counts, &record, tag, self.moment).map_err(|error| error.at(line))?;
        self.writer.add(
            self.rows.threads(),
            Box::new(move |text| {
                let columns = numbers()?;
                let columns: Vec<&[R]> = columns.iter().map(Vec::as_slice).collect();
                write_file(&record, file, &columns, text).map_err(|error| error.at(line))
            }),
        )?;
        self.files += 1;
        Ok(())
    }

    /// Waits until all files are written.
    ///
    /// # Errors
    /// Their error, unless it was returned before.
    pub fn wait_for_outputs(&mut self) -> Result<(), Error> {
        self.writer.wait_for_outputs()
    }
}
