//! Where messages of a run go: standard error, as text for users or as events for programs.

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
    /// The description of the run, until the first event after it.
    start: Option<Start>,
}

impl Messages {
    /// Messages in a format.
    pub fn new(format: MessageFormat, out: Box<dyn Write + Send>) -> Messages {
        Messages(Arc::new(Mutex::new(Stream { out, format, start: None })))
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Format of messages.
    pub fn format(&self) -> MessageFormat {
        self.stream().format
    }

    /// Sends an event; for users nothing is written.
    pub fn event(&self, event: &Event) {
        let mut stream = self.stream();
        if stream.format == MessageFormat::Json {
            stream.send_start();
            stream.write(&format!("{}\n", event.json()));
        }
    }

    /// Begins with the description of a run; it is sent with the next event, or by
    /// [`Messages::send_start`].
    pub fn start(&self, start: Start) {
        let mut stream = self.stream();
        stream.start = Some(start).filter(|_| stream.format == MessageFormat::Json);
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
            self.write(&format!("{}\n", Event::Start(start).json()));
        }
    }

    fn write(&mut self, text: &str) {
        // A closed standard error cannot be reported.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}
