//! Messages of a session between processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::process::{Process, Received};
use crate::error::{Error, ErrorKind};
use crate::rank_id::RankId;
use crate::ranks::Transport;

/// A rank that is a process. When it is dropped the others learn that this rank has ended.
pub struct MpiTransport {
    process: Arc<Process>,
    has_lost: AtomicBool,
}

impl MpiTransport {
    /// The messages of a session that this process runs; of one at most.
    pub fn new(process: &Arc<Process>) -> MpiTransport {
        MpiTransport { process: Arc::clone(process), has_lost: AtomicBool::new(false) }
    }

    fn lost(&self, rank: RankId) -> Error {
        self.has_lost.store(true, Ordering::Relaxed);
        Error::new(ErrorKind::Backend, format!("rank {} has ended", rank.0))
    }
}

impl Transport for MpiTransport {
    fn rank(&self) -> RankId {
        self.process.rank()
    }

    fn n_ranks(&self) -> usize {
        self.process.n_ranks()
    }

    fn send(&self, to: RankId, message: Vec<u8>) -> Result<(), Error> {
        if self.process.has_ended(to) {
            return Err(self.lost(to));
        }
        self.process.send(to, message)
    }

    fn receive(&self, from: RankId) -> Result<Vec<u8>, Error> {
        match self.process.receive(from)? {
            Received::Message(message) => Ok(message),
            Received::End => Err(self.lost(from)),
        }
    }

    fn has_lost_rank(&self) -> bool {
        self.has_lost.load(Ordering::Relaxed)
    }
}

impl Drop for MpiTransport {
    fn drop(&mut self) {
        // Where MPI fails nobody can be told.
        let _ = self.process.tell_end();
    }
}
