//! Files that a thread writes while the run goes on, for back-ends whose numbers arrive later than the `Output` that asks for them.
//!
//! One thread writes one file after the other, in the order of the outputs: whatever ends a run, the files that are there are the first ones. After an error it writes
//! nothing more; the run hears of it at its next file, or where it settles its outputs.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{Outputs, next_file, write_file};
use crate::error::{Error, ErrorKind};
use crate::real::Real;

/// Files that wait for the thread at most: what they hold is bounded.
const WAITING: usize = 4;

/// Writes a file; the text is memory that all files share.
type Job = Box<dyn FnOnce(&mut String) -> Result<(), Error> + Send>;

enum Order {
    Write(Job),
    /// Answer when all before has been written.
    Answer(SyncSender<()>),
}

/// The thread, from the first file on.
#[derive(Default)]
pub(super) struct Writer {
    running: Option<Running>,
}

struct Running {
    orders: SyncSender<Order>,
    thread: JoinHandle<()>,
    /// What went wrong first.
    error: Arc<Mutex<Option<Error>>>,
}

fn work(orders: &Receiver<Order>, error: &Mutex<Option<Error>>) {
    let mut text = String::new();
    let mut failed = false;
    for order in orders {
        match order {
            Order::Write(job) if !failed => {
                if let Err(found) = job(&mut text) {
                    failed = true;
                    *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                }
            }
            // What a job holds goes back to its owner.
            Order::Write(job) => drop(job),
            // Nobody waits for an answer where the run has ended.
            Order::Answer(to) => drop(to.send(())),
        }
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::Backend, "internal error: the thread that writes outputs has ended")
}

impl Writer {
    fn start(&mut self) -> std::io::Result<&Running> {
        if self.running.is_none() {
            let (sender, orders) = sync_channel(WAITING);
            let error = Arc::new(Mutex::new(None));
            let shared = Arc::clone(&error);
            let thread = std::thread::Builder::new().name("outputs".to_owned()).spawn(move || work(&orders, &shared))?;
            self.running = Some(Running { orders: sender, thread, error });
        }
        self.running.as_ref().ok_or_else(|| std::io::Error::other("no thread"))
    }

    /// What went wrong so far; told once.
    fn report(&self) -> Result<(), Error> {
        let Some(running) = &self.running else { return Ok(()) };
        running.error.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Waits until everything has been written.
    ///
    /// # Errors
    /// What went wrong since the last report.
    pub(super) fn settle(&self) -> Result<(), Error> {
        let Some(running) = &self.running else { return Ok(()) };
        let (answer, answered) = sync_channel(1);
        let settled = running.orders.send(Order::Answer(answer)).is_ok() && answered.recv().is_ok();
        self.report()?;
        if settled { Ok(()) } else { Err(ended()) }
    }

    /// Has a file written after all before; waits where there are too many.
    fn add(&mut self, job: Job) -> Result<(), Error> {
        self.report()?;
        match self.start() {
            Ok(running) => running.orders.send(Order::Write(job)).map_err(|_| ended()),
            // No more threads in this process: at once, then.
            Err(_) => job(&mut String::new()),
        }
    }
}

impl Drop for Writer {
    /// Everything is written before the run ends, however it ends.
    fn drop(&mut self) {
        if let Some(Running { orders, thread, .. }) = self.running.take() {
            drop(orders);
            // A panic there has been told on standard error.
            let _ = thread.join();
        }
    }
}

impl Outputs {
    /// Whether collections of so many elements go to files at present: not to standard output or memory, and neither waiting nor dropped.
    pub fn go_to_files(&self, elements: usize) -> bool {
        self.has_files_for(elements) && self.held.is_none() && self.muted.is_none()
    }

    /// Numbers that are on their way, to a file which a thread writes: components of `elements` numbers, in the order of
    /// the domain. Where [`Outputs::go_to_files`]. Errors name the line.
    ///
    /// # Errors
    /// `Data` if the tag cannot be part of a file name; `Io` if the folder is another run's; what went wrong with files before, the numbers of which may have failed to arrive.
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
        assert!(self.go_to_files(elements), "what waits, or is no file, is put out at once");
        let Some(record) = self.record_of_files(elements).map_err(|error| error.at(line))? else { return Ok(()) };
        let file = next_file(&mut self.counts, &record, tag, self.moment).map_err(|error| error.at(line))?;
        self.writer.add(Box::new(move |text| {
            let columns = numbers()?;
            let columns: Vec<&[R]> = columns.iter().map(Vec::as_slice).collect();
            write_file(&record, file, &columns, text).map_err(|error| error.at(line))
        }))?;
        self.files += 1;
        Ok(())
    }

    /// Waits until all files have been written.
    ///
    /// # Errors
    /// What went wrong with them, unless that has been told.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.writer.settle()
    }
}
