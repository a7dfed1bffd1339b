//! A process of a run.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use equelle_mpi::{Connection, Message, MpiError};

use super::back_off::BackOff;
use super::notice::Notice;
use crate::error::{Error, ErrorKind};
use crate::rank_id::RankId;
use crate::ranks::Waits;

/// Kinds of messages.
mod kind {
    /// A message of a session.
    pub(super) const DATA: u8 = 0;
    /// The last one of a session.
    pub(super) const END: u8 = 1;
    /// Between processes after their sessions.
    pub(super) const AFTER: u8 = 2;
}

/// How often a rank that answers, but sends nothing, is waited for again.
const PATIENCE: u32 = 3;

/// How long a rank that ends without the others waits for rank 0, or the launcher, to end all.
const ENDED_BY_OTHERS: Duration = Duration::from_secs(5);

/// A message of a session, or its end.
pub enum Received {
    /// A message.
    Message(Vec<u8>),
    /// No more come.
    End,
}

/// How a rank ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// With the others.
    #[default]
    Together,
    /// Without them: one does not answer.
    Alone,
    /// Without them: MPI fails, as it does where the launcher is about to end all.
    WithoutMpi,
}

/// The ranks of the machine that a rank runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRanks {
    /// Number of machines of the run.
    pub n_nodes: usize,
    /// Number of ranks on the same cores as this one, itself among them.
    pub on_these_cores: usize,
}

/// A process of a run, with the others.
pub struct Process {
    connection: Connection,
    state: Mutex<State>,
    /// Machine of each rank. `[n_ranks]`
    nodes: Vec<String>,
    ranks_of_node: NodeRanks,
    shares_core: bool,
    /// Longest wait in milliseconds; 0 for any.
    limit: AtomicU64,
    waits: Waits,
    is_ended: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Messages of this rank to itself.
    to_itself: VecDeque<Vec<u8>>,
    /// Ranks whose sessions have ended. `[n_ranks]`
    ended: Vec<bool>,
    /// The outcome of a rank that ends without the others.
    fault: Option<Vec<u8>>,
    ending: Ending,
}

/// A wait for a rank.
struct Wait {
    of: RankId,
    begun: Instant,
    /// When it last answered, or the wait began.
    answered: Instant,
    has_asked: bool,
    answers: u32,
}

impl Process {
    /// A process with the others, who all call this.
    ///
    /// # Errors
    /// `Backend` if MPI fails.
    pub fn new(connection: Connection) -> Result<Process, Error> {
        let node = connection.node().map_err(failed)?;
        let n_ranks = connection.n_ranks() as usize;
        let mut process = Process {
            connection,
            state: Mutex::new(State { ended: vec![false; n_ranks], ..State::default() }),
            nodes: Vec::new(),
            ranks_of_node: NodeRanks { n_nodes: 1, on_these_cores: 1 },
            // Until it is known.
            shares_core: true,
            limit: AtomicU64::new(0),
            waits: Waits::default(),
            is_ended: AtomicBool::new(false),
        };
        let places = process.gather_everywhere(format!("{node}\n{}", allowed_cores()).into_bytes())?;
        let places: Vec<String> = places.into_iter().map(|place| String::from_utf8_lossy(&place).into_owned()).collect();
        process.nodes = places.iter().map(|place| place.split('\n').next().unwrap_or_default().to_owned()).collect();
        let own = places.get(process.rank().index()).cloned().unwrap_or_default();
        let mut names: Vec<&String> = process.nodes.iter().collect();
        names.sort_unstable();
        names.dedup();
        process.ranks_of_node =
            NodeRanks { n_nodes: names.len(), on_these_cores: places.iter().filter(|place| **place == own).count().max(1) };
        process.shares_core = process.ranks_of_node.on_these_cores > cores();
        Ok(process)
    }

    /// The rank that this is.
    pub fn rank(&self) -> RankId {
        RankId(self.connection.rank())
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> usize {
        self.connection.n_ranks() as usize
    }

    /// True for rank 0, which prints.
    pub fn is_root(&self) -> bool {
        self.rank() == RankId(0)
    }

    /// Name and version of the MPI.
    pub fn mpi(&self) -> &str {
        self.connection.name()
    }

    /// Name of this machine.
    pub fn node(&self) -> &str {
        self.nodes.get(self.rank().index()).map_or("", String::as_str)
    }

    /// The ranks of this machine.
    pub fn ranks_of_node(&self) -> NodeRanks {
        self.ranks_of_node
    }

    /// Threads of this rank where the user gives no number: its cores, shared with the ranks that
    /// have the same.
    pub fn fair_threads(&self) -> usize {
        (cores() / self.ranks_of_node.on_these_cores).max(1)
    }

    /// Limits how long a rank is waited for; `None` for any time.
    pub fn limit_waits(&self, limit: Option<Duration>) {
        self.limit.store(limit.map_or(0, |limit| limit.as_millis().max(1) as u64), Ordering::Relaxed);
    }

    /// Its waits for others.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Sends a message of the session.
    ///
    /// # Errors
    /// `Backend` if MPI fails.
    pub fn send(&self, to: RankId, message: Vec<u8>) -> Result<(), Error> {
        if to == self.rank() {
            self.state().to_itself.push_back(message);
            return Ok(());
        }
        self.post(to, kind::DATA, message)
    }

    /// Waits for the next message of a session, or its end.
    ///
    /// # Errors
    /// `Backend` if MPI fails, or the rank does not answer.
    pub fn receive(&self, from: RankId) -> Result<Received, Error> {
        if from == self.rank() {
            return Ok(self.state().to_itself.pop_front().map_or(Received::End, Received::Message));
        }
        if self.has_ended(from) {
            return Ok(Received::End);
        }
        let message = self.next(from)?;
        if message.kind == kind::DATA {
            return Ok(Received::Message(message.bytes));
        }
        if let Some(ended) = self.state().ended.get_mut(from.index()) {
            *ended = true;
        }
        Ok(Received::End)
    }

    /// True if the session of a rank is known to have ended.
    pub(super) fn has_ended(&self, rank: RankId) -> bool {
        self.state().ended.get(rank.index()).copied().unwrap_or(false)
    }

    /// Tells the others that the session of this rank has ended; once.
    ///
    /// # Errors
    /// `Backend` if MPI fails.
    pub(super) fn tell_end(&self) -> Result<(), Error> {
        if self.is_ended.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.others().try_for_each(|rank| self.post(rank, kind::END, Vec::new()))
    }

    /// Ends the session of this rank, and waits until all have ended theirs.
    ///
    /// # Errors
    /// `Backend` if MPI fails, or a rank does not answer.
    pub fn end(&self) -> Result<(), Error> {
        self.tell_end()?;
        self.others().try_for_each(|rank| {
            while let Received::Message(_) = self.receive(rank)? {}
            Ok(())
        })
    }

    /// Sends what each rank has to rank 0: `[n_ranks]`, there.
    ///
    /// # Errors
    /// As for [`Process::end`].
    pub fn gather_at_root(&self, own: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Error> {
        if !self.is_root() {
            self.post(RankId(0), kind::AFTER, own)?;
            return Ok(None);
        }
        let others = self.others().map(|rank| Ok(self.next(rank)?.bytes));
        std::iter::once(Ok(own)).chain(others).collect::<Result<Vec<_>, Error>>().map(Some)
    }

    /// The bytes that rank 0 has, on every rank.
    ///
    /// # Errors
    /// As for [`Process::end`].
    pub fn broadcast(&self, of_root: Option<Vec<u8>>) -> Result<Vec<u8>, Error> {
        let Some(bytes) = of_root else { return Ok(self.next(RankId(0))?.bytes) };
        self.others().try_for_each(|rank| self.post(rank, kind::AFTER, bytes.clone()))?;
        Ok(bytes)
    }

    /// The bytes that each rank has, on every rank. `[n_ranks]`
    ///
    /// # Errors
    /// As for [`Process::end`].
    fn gather_everywhere(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Error> {
        let joined = self.gather_at_root(own)?.map(|all| serde_json::json!(all).to_string().into_bytes());
        let joined = self.broadcast(joined)?;
        serde_json::from_slice(&joined).map_err(|error| Error::internal(format!("ranks do not tell where they are: {error}")))
    }

    /// Leaves MPI, once all that was sent has arrived.
    ///
    /// # Errors
    /// As for [`Process::end`].
    pub fn leave(self) -> Result<(), Error> {
        let mut back_off = BackOff::new(self.shares_core);
        while self.connection.progress().map_err(failed)? > 0 {
            back_off.rest();
        }
        self.connection.finalize().map_err(failed)
    }

    /// How this rank ends, as far as is known.
    pub fn ending(&self) -> Ending {
        self.state().ending
    }

    /// The outcome of another rank that ends without the others.
    pub fn fault(&self) -> Option<Vec<u8>> {
        self.state().fault.clone()
    }

    /// Tells rank 0 the outcome of this rank, which ends without the others, and gives rank 0, or
    /// the launcher, some time to end all.
    pub fn post_fault(&self, outcome: Vec<u8>) {
        if !self.is_root() {
            // This rank prints in the end what MPI cannot send.
            let _ = self.connection.notify(0, Notice::Fault(outcome).bytes());
        }
        // One of those that posted is first.
        let patience = ENDED_BY_OTHERS + ENDED_BY_OTHERS / 2 * self.connection.rank().min(4);
        let begun = Instant::now();
        while begun.elapsed() < patience {
            let _ = self.connection.progress();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends all ranks at once, with an exit code.
    pub fn abort(&self, exit_code: u8) -> ! {
        self.connection.abort(exit_code)
    }

    fn others(&self) -> impl Iterator<Item = RankId> {
        let own = self.rank();
        (0..self.connection.n_ranks()).map(RankId).filter(move |rank| *rank != own)
    }

    fn post(&self, to: RankId, kind: u8, bytes: Vec<u8>) -> Result<(), Error> {
        self.connection.send(to.0, Message { kind, bytes }).map_err(|error| self.alone(error))
    }

    /// Waits for the next message of a rank.
    fn next(&self, from: RankId) -> Result<Message, Error> {
        let mut back_off = BackOff::new(self.shares_core);
        let mut wait: Option<Wait> = None;
        loop {
            if let Some(message) = self.connection.receive(from.0).map_err(|error| self.alone(error))? {
                if let Some(wait) = wait {
                    self.waits.add(wait.begun.elapsed());
                }
                return Ok(message);
            }
            let now = Instant::now();
            let wait = wait.get_or_insert(Wait { of: from, begun: now, answered: now, has_asked: false, answers: 0 });
            self.connection.progress().map_err(|error| self.alone(error))?;
            if back_off.rest() {
                self.read_notices(wait)?;
                self.check_limit(wait)?;
            }
        }
    }

    fn read_notices(&self, wait: &mut Wait) -> Result<(), Error> {
        while let Some(bytes) = self.connection.notice().map_err(|error| self.alone(error))? {
            match Notice::from_bytes(&bytes) {
                Some(Notice::Ask(rank)) => {
                    self.connection.notify(rank.0, Notice::Waiting(self.rank()).bytes()).map_err(|error| self.alone(error))?;
                }
                Some(Notice::Waiting(rank)) if rank == wait.of => {
                    (wait.answered, wait.has_asked, wait.answers) = (Instant::now(), false, wait.answers + 1);
                }
                Some(Notice::Fault(outcome)) => {
                    let mut state = self.state();
                    (state.fault, state.ending) = (Some(outcome), Ending::Alone);
                    return Err(Error::new(ErrorKind::Backend, "another rank ends the run"));
                }
                Some(Notice::Waiting(_)) | None => {}
            }
        }
        Ok(())
    }

    fn check_limit(&self, wait: &mut Wait) -> Result<(), Error> {
        let limit = Duration::from_millis(self.limit.load(Ordering::Relaxed));
        let waited = wait.answered.elapsed();
        if limit.is_zero() || waited < limit / 2 {
            return Ok(());
        }
        if !wait.has_asked {
            wait.has_asked = true;
            return self.connection.notify(wait.of.0, Notice::Ask(self.rank()).bytes()).map_err(|error| self.alone(error));
        }
        if waited < limit && wait.answers < PATIENCE {
            return Ok(());
        }
        self.state().ending = Ending::Alone;
        let node = self.nodes.get(wait.of.index()).map(|node| format!(" on {node}")).unwrap_or_default();
        let seconds = wait.begun.elapsed().as_secs_f64();
        let message = format!("rank {}{node} has not answered for {seconds:.0} s", wait.of.0);
        Err(Error::new(ErrorKind::Backend, message).hint("rank_timeout=SECONDS waits longer, rank_timeout=0 for any time"))
    }

    fn alone(&self, error: MpiError) -> Error {
        self.state().ending = Ending::WithoutMpi;
        failed(error)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of an MPI.
fn failed(error: MpiError) -> Error {
    Error::new(ErrorKind::Backend, error.message)
}

/// Cores that this process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The cores that this process may use, as the system writes them; empty where it does not tell.
fn allowed_cores() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_default().trim().to_owned()
}
