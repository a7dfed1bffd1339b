//! Ranks that are threads of one process, for tests and trials: nothing needs to be installed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::transport::Transport;
use super::work::Waits;
use crate::error::{Error, ErrorKind};
use crate::rank_id::RankId;

/// A rank that is a thread. Messages are queued without a limit.
pub struct ThreadTransport {
    rank: RankId,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    has_lost: AtomicBool,
    waits: Waits,
    /// State of the numbers by which messages are delayed, if they are.
    delays: Option<Mutex<u64>>,
}

impl ThreadTransport {
    /// Connects so many ranks. With a seed they wait now and then before they send, so that
    /// messages of different ranks arrive in other orders.
    pub fn connected(n_ranks: usize, seed: Option<u64>) -> Vec<ThreadTransport> {
        let mut senders: Vec<Vec<Sender<Vec<u8>>>> = (0..n_ranks).map(|_| Vec::new()).collect();
        let mut receivers: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = (0..n_ranks).map(|_| Vec::new()).collect();
        for senders in &mut senders {
            for receivers in &mut receivers {
                let (sender, receiver) = channel();
                senders.push(sender);
                receivers.push(Mutex::new(receiver));
            }
        }
        let ranks = senders.into_iter().zip(receivers).enumerate();
        let delays = |rank: usize| seed.map(|seed| Mutex::new(seed.wrapping_add(rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
        ranks
            .map(|(rank, (to, from))| ThreadTransport {
                rank: RankId(rank as u32),
                to,
                from,
                has_lost: AtomicBool::new(false),
                waits: Waits::default(),
                delays: delays(rank),
            })
            .collect()
    }

    /// Its waits.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Waits up to half a millisecond before one message in eight.
    fn delay(&self) {
        let Some(delays) = &self.delays else { return };
        // Xorshift (Marsaglia 2003, doi:10.18637/jss.v008.i14).
        let mut state = delays.lock().unwrap_or_else(PoisonError::into_inner);
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        if *state % 8 == 0 {
            std::thread::sleep(Duration::from_micros((*state >> 32) % 500));
        }
    }

    fn lost(&self, rank: RankId) -> Error {
        self.has_lost.store(true, Ordering::Relaxed);
        Error::new(ErrorKind::Backend, format!("rank {} has ended", rank.0))
    }
}

impl Transport for ThreadTransport {
    fn rank(&self) -> RankId {
        self.rank
    }

    fn n_ranks(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: RankId, message: Vec<u8>) -> Result<(), Error> {
        self.delay();
        let sent = self.to.get(to.index()).map(|sender| sender.send(message));
        sent.and_then(Result::ok).ok_or_else(|| self.lost(to))
    }

    fn receive(&self, from: RankId) -> Result<Vec<u8>, Error> {
        let receiver = self.from.get(from.index()).map(|receiver| receiver.lock().unwrap_or_else(PoisonError::into_inner));
        let received = receiver.map(|receiver| {
            receiver.try_recv().or_else(|_| {
                let begun = Instant::now();
                let received = receiver.recv();
                self.waits.add(begun.elapsed());
                received
            })
        });
        received.and_then(Result::ok).ok_or_else(|| self.lost(from))
    }

    fn has_lost_rank(&self) -> bool {
        self.has_lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::transport::{all_gather, all_to_all};
    use super::*;

    /// Runs a function on ranks that are threads.
    fn on_ranks<T: Send>(n: usize, run: impl Fn(ThreadTransport) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let run = &run;
            let ranks = ThreadTransport::connected(n, Some(n as u64)).into_iter();
            let threads: Vec<_> = ranks.map(|transport| scope.spawn(move || run(transport))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn lists_arrive_where_they_were_sent() {
        for n in [1, 2, 5] {
            let sent = |from: usize, to: usize| vec![(from * 100 + to) as u32; from + to];
            let found = on_ranks(n, |transport| {
                let own = transport.rank().index();
                let lists: Vec<Vec<u32>> = (0..n).map(|to| sent(own, to)).collect();
                (all_to_all(&transport, &lists).unwrap(), all_gather(&transport, &[own as f64, -0.0]).unwrap())
            });
            for (own, (lists, gathered)) in found.into_iter().enumerate() {
                assert_eq!(lists, (0..n).map(|from| sent(from, own)).collect::<Vec<_>>());
                assert_eq!(gathered, (0..n).map(|from| vec![from as f64, -0.0]).collect::<Vec<_>>());
                assert!(gathered.iter().all(|list| list[1].is_sign_negative()));
            }
        }
    }

    /// A rank that ends early is an error of those that wait, after they have what it had sent.
    #[test]
    fn a_rank_that_ends_is_noticed() {
        let found = on_ranks(2, |transport| {
            if transport.rank() == RankId(0) {
                transport.send(RankId(1), vec![7]).unwrap();
                return (false, None);
            }
            let first = transport.receive(RankId(0)).ok();
            let second = transport.receive(RankId(0));
            (second.is_err() && transport.has_lost_rank(), first)
        });
        assert_eq!(found[1], (true, Some(vec![7])));
    }
}
