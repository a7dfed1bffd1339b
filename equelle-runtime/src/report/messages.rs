//! Destinations of a run's messages: standard error, as text for users or as events for programs,
//! and a log of events.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::MessageFormat;
use super::event::{Event, Start};

/// The stream of messages. Clones share it, also those of threads that write files.
#[derive(Clone)]
pub struct Messages(Arc<Mutex<Stream>>);

struct Stream {
    out: Box<dyn Write + Send>,
    format: MessageFormat,
    log: Log,
    listener: Option<Listener>,
    /// The description of the run, until the first event after it.
    start: Option<Start>,
}

/// Called with each event of a run.
pub type Listener = Box<dyn FnMut(&Event) + Send>;

/// A file of events beside standard error.
enum Log {
    /// None.
    Off,
    /// Events until the file is open.
    Waiting(String),
    /// The file.
    Open(File),
}

impl Messages {
    /// Messages in a format.
    pub fn new(format: MessageFormat, out: Box<dyn Write + Send>) -> Messages {
        Messages(Arc::new(Mutex::new(Stream { out, format, log: Log::Off, listener: None, start: None })))
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Format of messages.
    pub fn format(&self) -> MessageFormat {
        self.stream().format
    }

    /// True if events are read by anybody.
    pub fn has_events(&self) -> bool {
        self.stream().has_events()
    }

    /// Sends an event; for users nothing is written.
    pub fn event(&self, event: &Event) {
        let mut stream = self.stream();
        if stream.has_events() {
            stream.send_start();
            stream.write_event(event);
        }
    }

    /// Calls a function with each event from now on.
    pub fn listen(&self, listener: Listener) {
        self.stream().listener = Some(listener);
    }

    /// Keeps events for a log; those that come before [`Messages::open_log`] wait for it.
    pub fn keep_log(&self) {
        self.stream().log = Log::Waiting(String::new());
    }

    /// Sends events to a file too, if there is to be a log.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open_log(&self, file: impl FnOnce() -> std::io::Result<File>) -> std::io::Result<()> {
        let mut stream = self.stream();
        if let Log::Waiting(events) = &stream.log {
            let mut file = file()?;
            file.write_all(events.as_bytes())?;
            stream.log = Log::Open(file);
        }
        Ok(())
    }

    /// Begins with the description of a run; it is sent with the next event, or by
    /// [`Messages::send_start`].
    pub fn start(&self, start: Start) {
        let mut stream = self.stream();
        stream.start = Some(start).filter(|_| stream.has_events());
    }

    /// Completes a description that was not sent yet.
    pub fn complete_start(&self, complete: impl FnOnce(&mut Start)) {
        if let Some(start) = &mut self.stream().start {
            complete(start);
        }
    }

    /// Sends the description of the run, unless it was sent.
    pub fn send_start(&self) {
        self.stream().send_start();
    }

    /// Writes text for users.
    pub(super) fn write(&self, text: &str) {
        self.stream().write(text);
    }
}

impl Stream {
    fn send_start(&mut self) {
        if let Some(start) = self.start.take() {
            self.write_event(&Event::Start(start));
        }
    }

    fn has_events(&self) -> bool {
        self.format == MessageFormat::Json || !matches!(self.log, Log::Off) || self.listener.is_some()
    }

    fn write_event(&mut self, event: &Event) {
        if let Some(listener) = &mut self.listener {
            listener(event);
        }
        if self.format != MessageFormat::Json && matches!(self.log, Log::Off) {
            return;
        }
        let line = format!("{}\n", event.json());
        match &mut self.log {
            Log::Off => {}
            Log::Waiting(events) => events.push_str(&line),
            Log::Open(file) => {
                // A full disk ends the run with its next output; the log is no result.
                let _ = file.write_all(line.as_bytes());
            }
        }
        if self.format == MessageFormat::Json {
            self.write(&line);
        }
    }

    fn write(&mut self, text: &str) {
        // A closed standard error cannot be reported.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}
