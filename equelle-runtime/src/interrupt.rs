//! Interrupts of runs: by Ctrl-C, by `kill`, or by a batch system at its time limit.
//!
//! After the first signal the run goes on to a point with complete files: the next round of a loop,
//! Newton iteration, or iteration of the linear solver. The second signal ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(unix)]
use signal_hook::consts::SIGXFSZ;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, ErrorKind};

/// The signal of an interrupt.
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

    /// Exit code of a program that it ended: 128 plus its number.
    pub fn exit_code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

/// The interrupt flag of a run. Copies share it; the default is never set.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// Number of the signal; 0 for none.
    signal: Arc<AtomicUsize>,
    /// True if the run ends at the end of the round of its loop, with a checkpoint.
    is_deferred: Arc<AtomicBool>,
}

impl Interrupt {
    /// Sets the flag by signals of this process from now on. The second signal ends the process at
    /// once, with the exit code of that signal. A write beyond `ulimit -f` fails from
    /// now on, and ends nothing.
    ///
    /// # Errors
    /// `Io` if the system refuses the handlers.
    pub fn by_signals() -> Result<Interrupt, Error> {
        let interrupt = Interrupt::default();
        let again = Arc::new(AtomicBool::new(false));
        for signal in Signal::ALL {
            let (number, value) = (signal.number(), signal.number() as usize);
            // Handlers run in this order: at the first signal the flag is still unset, and the
            // second handler sets it.
            flag::register_conditional_shutdown(number, i32::from(signal.exit_code()), Arc::clone(&again))
                .and_then(|_| flag::register(number, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(number, Arc::clone(&interrupt.signal), value))
                .map_err(|error| Error::new(ErrorKind::Io, format!("cannot listen to {}: {error}", signal.name())))?;
        }
        #[cfg(unix)]
        flag::register(SIGXFSZ, Arc::default()).map_err(|error| Error::new(ErrorKind::Io, format!("cannot listen to SIGXFSZ: {error}")))?;
        Ok(interrupt)
    }

    /// Interrupts the run, as a signal does.
    pub fn ask(&self, signal: Signal) {
        self.signal.store(signal.number() as usize, Ordering::Relaxed);
    }

    /// The signal, if the run is interrupted and does not end its round first.
    pub fn asked(&self) -> Option<Signal> {
        if self.is_deferred.load(Ordering::Relaxed) {
            return None;
        }
        self.signal()
    }

    /// True if the run ends its round first, at whose end somebody asks for [`Interrupt::signal`].
    pub fn defer(&self, is_deferred: bool) {
        self.is_deferred.store(is_deferred, Ordering::Relaxed);
    }

    /// The signal, if there was one.
    pub fn signal(&self) -> Option<Signal> {
        let number = self.signal.load(Ordering::Relaxed);
        Signal::ALL.into_iter().find(|signal| signal.number() as usize == number)
    }
}
