//! The thread that writes files while the run goes on.
//!
//! It takes collections and ends of steps in the order of the outputs: if a run ends early, the
//! existing files are the first ones. After an error it writes nothing more; the run gets the error
//! with its next file, or when it waits for its outputs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::steps::{FieldOrder, FileWriter, StepEnd};
use crate::error::Error;

/// Largest number of queued collections, which bounds their memory.
const WAITING: usize = 4;

pub(super) enum Order {
    /// Takes a collection.
    Field(FieldOrder),
    /// The collections so far are those of a step.
    EndStep(StepEnd),
    /// Writes the lists of files and rows so far, and answers once all is written.
    Answer { lists: bool, to: SyncSender<()> },
}

/// The thread, started with the first order.
#[derive(Default)]
pub(super) struct Writer {
    state: State,
    /// True if the run waits for the thread, which then uses all threads to format text.
    is_awaited: Arc<AtomicBool>,
}

#[derive(Default)]
enum State {
    #[default]
    NotStarted,
    Thread(Running),
    /// The thread could not be started: the run writes the files itself.
    Here {
        writer: Box<FileWriter>,
        error: Option<Error>,
    },
}

struct Running {
    orders: SyncSender<Order>,
    thread: JoinHandle<()>,
    /// The first error.
    error: Arc<Mutex<Option<Error>>>,
}

fn work(orders: &Receiver<Order>, error: &Mutex<Option<Error>>, mut writer: FileWriter) {
    let mut has_failed = false;
    for order in orders {
        let (result, answer) = match order {
            Order::Field(order) if !has_failed => (writer.field(order), None),
            Order::EndStep(step) if !has_failed => (writer.end_step(step), None),
            // A dropped order returns its buffers to their owner.
            Order::Field(_) | Order::EndStep(_) => (Ok(()), None),
            Order::Answer { lists: true, to } => {
                let written = writer.write_lists();
                (if has_failed { Ok(()) } else { written }, Some(to))
            }
            Order::Answer { lists: false, to } => (Ok(()), Some(to)),
        };
        if let Err(found) = result {
            has_failed = true;
            *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
        if let Some(to) = answer {
            // Nobody waits for an answer after the end of the run.
            let _ = to.send(());
        }
    }
}

fn ended() -> Error {
    Error::internal("the thread that writes outputs has ended")
}

impl Writer {
    /// Set while the run waits.
    pub(super) fn is_awaited(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_awaited)
    }

    /// True if there was an order.
    pub(super) fn has_started(&self) -> bool {
        !matches!(self.state, State::NotStarted)
    }

    fn start(&mut self, writer: FileWriter) {
        let (sender, orders) = sync_channel(WAITING);
        let error = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&error);
        // The writer moves into the thread, which may fail to start.
        let slot = Arc::new(Mutex::new(Some(writer)));
        let of_thread = Arc::clone(&slot);
        let thread = std::thread::Builder::new().name("outputs".to_owned()).spawn(move || {
            let writer = of_thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(writer) = writer {
                work(&orders, &shared, writer);
            }
        });
        self.state = match thread {
            Ok(thread) => State::Thread(Running { orders: sender, thread, error }),
            Err(_) => match slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(writer) => State::Here { writer: Box::new(writer), error: None },
                None => State::NotStarted,
            },
        };
    }

    /// Returns the error so far, once.
    fn report(&mut self) -> Result<(), Error> {
        let found = match &mut self.state {
            State::NotStarted => None,
            State::Thread(running) => running.error.lock().unwrap_or_else(PoisonError::into_inner).take(),
            State::Here { error, .. } => error.take(),
        };
        found.map_or(Ok(()), Err)
    }

    /// Waits until all files are written; with `lists`, also those that list the others.
    ///
    /// # Errors
    /// The error since the last report.
    pub(super) fn wait(&mut self, lists: bool) -> Result<(), Error> {
        let is_written = match &mut self.state {
            State::NotStarted => true,
            State::Here { writer, error } => {
                if let (true, Err(found)) = (lists, writer.write_lists()) {
                    error.get_or_insert(found);
                }
                true
            }
            State::Thread(running) => {
                let (to, answered) = sync_channel(1);
                self.is_awaited.store(true, Ordering::Relaxed);
                let is_written = running.orders.send(Order::Answer { lists, to }).is_ok() && answered.recv().is_ok();
                self.is_awaited.store(false, Ordering::Relaxed);
                is_written
            }
        };
        self.report()?;
        if is_written { Ok(()) } else { Err(ended()) }
    }

    /// Queues an order after all earlier ones; waits if the queue is full.
    ///
    /// # Errors
    /// The error of earlier ones.
    pub(super) fn add(&mut self, order: Order, writer: impl FnOnce() -> FileWriter) -> Result<(), Error> {
        self.report()?;
        self.push(order, writer)?;
        match &self.state {
            State::Here { .. } => self.report(),
            State::NotStarted | State::Thread(_) => Ok(()),
        }
    }

    /// [`Writer::add`] that leaves the error of earlier orders to the next report.
    ///
    /// # Errors
    /// If the thread has ended.
    pub(super) fn push(&mut self, order: Order, writer: impl FnOnce() -> FileWriter) -> Result<(), Error> {
        if !self.has_started() {
            self.start(writer());
        }
        let result = match (&mut self.state, order) {
            (State::NotStarted, _) => return Err(ended()),
            (State::Thread(running), order) => {
                return match running.orders.try_send(order) {
                    Ok(()) => Ok(()),
                    Err(TrySendError::Disconnected(_)) => Err(ended()),
                    Err(TrySendError::Full(order)) => {
                        self.is_awaited.store(true, Ordering::Relaxed);
                        let sent = running.orders.send(order);
                        self.is_awaited.store(false, Ordering::Relaxed);
                        sent.map_err(|_| ended())
                    }
                };
            }
            (State::Here { error: Some(_), .. }, _) | (State::Here { .. }, Order::Answer { .. }) => Ok(()),
            (State::Here { writer, .. }, Order::Field(order)) => writer.field(order),
            (State::Here { writer, .. }, Order::EndStep(step)) => writer.end_step(step),
        };
        if let (State::Here { error, .. }, Err(found)) = (&mut self.state, result) {
            error.get_or_insert(found);
        }
        Ok(())
    }
}

impl Drop for Writer {
    /// All files are written before the run ends, however it ends.
    fn drop(&mut self) {
        // A caller that wants the error has taken it with `wait`.
        let _ = self.wait(true);
        if let State::Thread(Running { orders, thread, .. }) = std::mem::take(&mut self.state) {
            drop(orders);
            // A panic of the thread has been printed on standard error.
            let _ = thread.join();
        }
    }
}
