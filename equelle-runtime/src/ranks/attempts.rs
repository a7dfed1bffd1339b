//! Attempts of a step on ranks: where one rank fails, all give up the attempt, and the next one
//! begins without messages of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::transport::Transport;
use crate::error::{Error, ErrorKind};
use crate::rank_id::RankId;

/// Last byte of a message with data.
const DATA: u8 = 0;
/// Last byte of the message that ends an attempt.
const GIVEN_UP: u8 = 1;

/// Messages of ranks that may give up what they do.
pub(super) struct Attempts {
    inner: Box<dyn Transport>,
    /// True for the ranks that have given up the attempt, as far as this one has heard. `[n_ranks]`
    given_up: Mutex<Vec<bool>>,
    /// True if this rank has heard of one.
    follows: AtomicBool,
}

impl Attempts {
    pub fn new(inner: Box<dyn Transport>) -> Attempts {
        let n_ranks = inner.n_ranks();
        Attempts { inner, given_up: Mutex::new(vec![false; n_ranks]), follows: AtomicBool::new(false) }
    }

    /// True if an error follows from another rank that has given up the attempt.
    pub fn follows(&self) -> bool {
        self.follows.load(Ordering::Relaxed)
    }

    /// Tells the others that the attempt is given up, and waits until all have done so. What was
    /// sent in it is gone.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn give_up(&self) -> Result<(), Error> {
        for rank in 0..self.n_ranks() {
            self.inner.send(RankId(rank as u32), vec![GIVEN_UP])?;
        }
        let mut given_up = self.known();
        for (rank, given_up) in given_up.iter_mut().enumerate() {
            while !std::mem::take(given_up) {
                *given_up = self.inner.receive(RankId(rank as u32))?.last() == Some(&GIVEN_UP);
            }
        }
        self.follows.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Vec<bool>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Attempts {
    fn rank(&self) -> RankId {
        self.inner.rank()
    }

    fn n_ranks(&self) -> usize {
        self.inner.n_ranks()
    }

    fn send(&self, to: RankId, mut message: Vec<u8>) -> Result<(), Error> {
        message.push(DATA);
        self.inner.send(to, message)
    }

    fn receive(&self, from: RankId) -> Result<Vec<u8>, Error> {
        // Nothing of this attempt follows from a rank that has given it up.
        if !self.known()[from.index()] {
            let mut message = self.inner.receive(from)?;
            if message.pop() == Some(DATA) {
                return Ok(message);
            }
            self.known()[from.index()] = true;
        }
        self.follows.store(true, Ordering::Relaxed);
        Err(Error::new(ErrorKind::Simulation, format!("rank {} has given up", from.0)))
    }

    fn has_lost_rank(&self) -> bool {
        self.inner.has_lost_rank() || self.follows()
    }
}

#[cfg(test)]
mod tests {
    use super::super::threads::ThreadTransport;
    use super::super::transport::all_gather;
    use super::*;

    /// One rank fails before it sends; the others notice where they wait for it, or for one that
    /// waits for it. The next attempt gets no message of the one before.
    #[test]
    fn the_next_attempt_begins_anew() {
        let n_ranks = 4;
        let attempt = |transport: Attempts| {
            let own = transport.rank().index();
            let next = RankId(((own + 1) % n_ranks) as u32);
            let before = RankId(((own + n_ranks - 1) % n_ranks) as u32);
            let mut heard = Vec::new();
            for number in 0..20_u8 {
                let result = if own == usize::from(number) % n_ranks && number < 19 {
                    Err(Error::new(ErrorKind::Simulation, "it fails"))
                } else {
                    transport.send(RankId(own as u32), vec![number]).unwrap();
                    transport.send(next, vec![number]).unwrap();
                    transport.receive(before).and_then(|message| all_gather(&transport, &message))
                };
                match result {
                    Ok(lists) => heard.push(lists.concat()),
                    Err(_) => transport.give_up().unwrap(),
                }
            }
            heard
        };
        let found: Vec<Vec<Vec<u8>>> = std::thread::scope(|scope| {
            let ranks = ThreadTransport::connected(n_ranks, Some(5)).into_iter();
            let threads: Vec<_> = ranks.map(|rank| scope.spawn(move || attempt(Attempts::new(Box::new(rank))))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|heard| *heard == [[19; 4]]), "{found:?}");
    }
}
