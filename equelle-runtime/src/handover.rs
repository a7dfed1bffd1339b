//! Handing a run over to another program at the end of a round, and its pace before that.
//!
//! A driver starts a run by interpretation while the program is built. The run tells its [`Pace`],
//! by which the driver judges whether a build pays; when the build is done the driver asks for a
//! [`Handover`]. The run then writes its state to a file after the next round of an outermost loop
//! and ends; the built program reads the file (`--take-over FILE`) and goes on, to the same bits.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The pace of the outermost loop that runs, for another thread. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pace(Arc<PaceState>);

#[derive(Debug)]
struct PaceState {
    /// Bits of the seconds that are left; NaN if they are not known.
    left: AtomicU64,
}

impl Default for PaceState {
    fn default() -> Self {
        PaceState { left: AtomicU64::new(f64::NAN.to_bits()) }
    }
}

impl Pace {
    /// Records the expected seconds to the end of the loop; NaN if they are not known.
    pub fn tell(&self, left: f64) {
        self.0.left.store(left.to_bits(), Ordering::Relaxed);
    }

    /// Expected seconds to the end of the loop that runs; `None` if they are not known.
    pub fn left(&self) -> Option<f64> {
        let left = f64::from_bits(self.0.left.load(Ordering::Relaxed));
        left.is_finite().then_some(left)
    }
}

/// Asks a run to hand over to another program. Clones share the request.
#[derive(Clone, Debug)]
pub struct Handover {
    state: Arc<HandoverState>,
    file: PathBuf,
}

#[derive(Debug, Default)]
struct HandoverState {
    is_asked: AtomicBool,
    is_done: AtomicBool,
}

impl Handover {
    /// A request not yet made, to a run whose state goes to this file, which exists.
    pub fn through(file: PathBuf) -> Handover {
        Handover { state: Arc::default(), file }
    }

    /// Asks the run to end after the round that it is in.
    pub fn ask(&self) {
        self.state.is_asked.store(true, Ordering::Release);
    }

    /// True if the run has been asked.
    pub fn is_asked(&self) -> bool {
        self.state.is_asked.load(Ordering::Acquire)
    }

    /// True if the run has ended, and its file has the state.
    pub fn is_done(&self) -> bool {
        self.state.is_done.load(Ordering::Acquire)
    }

    /// The file of the state.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Writes the state.
    ///
    /// # Errors
    /// Those of `write` and of the file.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut file = io::BufWriter::new(fs::OpenOptions::new().write(true).truncate(true).open(&self.file)?);
        write(&mut file)?;
        file.flush()?;
        self.state.is_done.store(true, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_known_once_it_is_told() {
        let pace = Pace::default();
        assert_eq!(pace.left(), None);
        pace.clone().tell(2.5);
        assert_eq!(pace.left(), Some(2.5));
        pace.tell(f64::NAN);
        assert_eq!(pace.left(), None);
    }
}
