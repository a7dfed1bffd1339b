//! Runs that are asked to end: by Ctrl-C, by `kill`, or by a batch system whose time is over.
//!
//! The first signal lets a run go on to a place where its files are complete: the next round of a loop, the next iteration of Newton's method, or of the linear solver within one. The second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, ErrorKind};

/// What asked a run to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C at a terminal.
    Interrupt,
    /// SIGTERM: `kill`, or a batch system.
    Terminate,
}

impl Signal {
    const ALL: [Signal; 2] = [Signal::Interrupt, Signal::Terminate];

    fn number(self) -> i32 {
        match self {
            Signal::Interrupt => SIGINT,
            Signal::Terminate => SIGTERM,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "SIGINT",
            Signal::Terminate => "SIGTERM",
        }
    }

    /// Exit code of a program that it ended: 128 and its number.
    pub fn exit_code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

/// Whether a run has been asked to end. Copies are of the same question; the default is never asked.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// Number of the signal; 0 for none.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Asked by the signals of this process, from now on. The second signal of a process ends it at once, with the exit code of that signal.
    ///
    /// # Errors
    /// `Io` if the system does not take the handlers.
    pub fn by_signals() -> Result<Interrupt, Error> {
        let interrupt = Interrupt::default();
        let again = Arc::new(AtomicBool::new(false));
        for signal in Signal::ALL {
            let (number, value) = (signal.number(), signal.number() as usize);
            // In the order in which they run: the first signal finds the flag down, and raises it.
            flag::register_conditional_shutdown(number, i32::from(signal.exit_code()), Arc::clone(&again))
                .and_then(|_| flag::register(number, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(number, Arc::clone(&interrupt.signal), value))
                .map_err(|error| Error::new(ErrorKind::Io, format!("cannot listen to {}: {error}", signal.name())))?;
        }
        Ok(interrupt)
    }

    /// Asks the run to end, as a signal does.
    pub fn ask(&self, signal: Signal) {
        self.signal.store(signal.number() as usize, Ordering::Relaxed);
    }

    /// What asked, if anything did.
    pub fn asked(&self) -> Option<Signal> {
        let number = self.signal.load(Ordering::Relaxed);
        Signal::ALL.into_iter().find(|signal| signal.number() as usize == number)
    }
}
