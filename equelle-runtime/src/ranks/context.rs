//! One rank of a run: its messages, and the plans of the domains that it has seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::attempts::Attempts;
use super::domain_plan::{DomainPlan, Exchanged, Planned, ask_owners, nearer_extreme};
use super::transport::{Transport, all_gather, all_to_all, packed, unpacked};
use super::work::WorkTimes;
use crate::domain::Domain;
use crate::error::Error;
use crate::operators::{BoolReduction, Reduction};
use crate::rank_id::RankId;
use crate::real::Real;
use crate::reduce::{LEAF, leaf_of, start, tree};
use crate::wire::Wire;

/// One rank of a run. All ranks call its methods in the same order, with the same domains.
pub struct RankContext {
    transport: Attempts,
    plans: Mutex<Plans>,
    progress: Arc<RankProgress>,
}

/// By domain; those of domains that are gone are dropped.
type Plans = Vec<(Weak<Domain>, Arc<DomainPlan>)>;

/// Progress of a rank, which outlives its run.
#[derive(Debug, Default)]
pub struct RankProgress {
    statements: AtomicU64,
    exchanges: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
    has_lost_rank: AtomicBool,
    work: WorkTimes,
}

impl RankProgress {
    /// Number of statements of the program that have begun: the first error of all ranks is that
    /// of the least number.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// Number of exchanges.
    pub fn exchanges(&self) -> u64 {
        self.exchanges.load(Ordering::Relaxed)
    }

    /// Messages that were sent in exchanges, and their bytes.
    pub fn exchanged(&self) -> Exchanged {
        Exchanged { messages: self.messages.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// Its times with other ranks.
    pub fn work(&self) -> &WorkTimes {
        &self.work
    }

    /// True if another rank ended before it had sent what this one waited for, so that an error
    /// follows from one there.
    pub fn has_lost_rank(&self) -> bool {
        self.has_lost_rank.load(Ordering::Relaxed)
    }
}

impl RankContext {
    /// A rank that sends its messages so.
    pub fn new(transport: Box<dyn Transport>) -> RankContext {
        RankContext { transport: Attempts::new(transport), plans: Mutex::default(), progress: Arc::default() }
    }

    /// The rank that this is.
    pub fn rank(&self) -> RankId {
        self.transport.rank()
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> usize {
        self.transport.n_ranks()
    }

    /// True for rank 0, which reads and writes files.
    pub fn is_root(&self) -> bool {
        self.rank() == RankId(0)
    }

    /// Its progress.
    pub fn progress(&self) -> &Arc<RankProgress> {
        &self.progress
    }

    /// Counts a statement of the program.
    pub fn begin_statement(&self) {
        self.progress.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of elements of a whole domain.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn whole_len(&self, domain: &Arc<Domain>) -> Result<usize, Error> {
        Ok(self.planned(domain, |planned| planned.whole_len())? as usize)
    }

    /// Brings the values of the first `depth` layers of the halo from the ranks that own them.
    /// `values` has one for each element of the domain.
    ///
    /// # Errors
    /// As for [`RankContext::whole_len`].
    pub fn exchange<T: Wire>(&self, domain: &Arc<Domain>, values: &mut [T], depth: u32) -> Result<(), Error> {
        let sent = self.planned(domain, |planned| planned.exchange(values, depth))?;
        self.count_exchange(sent);
        Ok(())
    }

    /// Asks the owners for the elements at some positions, `[n_ranks]`: where this rank has those
    /// that each other one asks for, in their order; `None` for one that is not in the domain.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn ask_owners(&self, domain: &Domain, wanted: &[Vec<u32>]) -> Result<Vec<Vec<Option<u32>>>, Error> {
        ask_owners(&self.transport, domain, wanted)
    }

    /// Sends the values at some positions to each rank, and takes those of each at others.
    /// `[n_ranks]`
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn exchange_at<T: Wire>(&self, [sent, received]: [&[Vec<u32>]; 2], values: &mut [T]) -> Result<(), Error> {
        let mut exchanged = Exchanged::default();
        for (to, positions) in sent.iter().enumerate().filter(|(_, positions)| !positions.is_empty()) {
            self.send(RankId(to as u32), positions.iter().map(|&position| values[position as usize]))?;
            exchanged.messages += 1;
            exchanged.bytes += (positions.len() * T::BYTES) as u64;
        }
        for (from, positions) in received.iter().enumerate().filter(|(_, positions)| !positions.is_empty()) {
            self.receive(RankId(from as u32), |at, value| values[positions[at] as usize] = value)?;
        }
        self.count_exchange(exchanged);
        Ok(())
    }

    fn count_exchange(&self, exchanged: Exchanged) {
        self.progress.exchanges.fetch_add(1, Ordering::Relaxed);
        self.progress.messages.fetch_add(exchanged.messages, Ordering::Relaxed);
        self.progress.bytes.fetch_add(exchanged.bytes, Ordering::Relaxed);
    }

    /// Reduces values in the order of [`crate::reduce`] over the whole domain; the same bits as one
    /// process, on every rank. `None` for Max or Min without elements.
    ///
    /// # Errors
    /// As for [`RankContext::whole_len`].
    pub fn reduce<R: Real>(&self, reduction: Reduction, domain: &Arc<Domain>, values: &[R]) -> Result<Option<f64>, Error> {
        if let Reduction::Max | Reduction::Min = reduction {
            let extremes = self.lists(self.planned(domain, |planned| planned.extreme(reduction, values))?.as_slice())?.concat();
            let Some(extreme) = extremes.into_iter().reduce(|a, b| nearer_extreme(reduction, a, b)) else { return Ok(None) };
            // Only the sign of a zero and the place of a NaN depend on the order.
            if extreme != 0.0 && !extreme.is_nan() {
                return Ok(Some(extreme));
            }
        }
        let block = self.planned(domain, |planned| planned.gather_leaves(values))?;
        // Leaves are never empty, so that each has a value.
        let leaves: Vec<f64> = block.chunks(LEAF).map(|values| leaf_of(reduction, values).unwrap_or(f64::NAN)).collect();
        let mut leaves = self.lists(&leaves)?.concat();
        Ok(if leaves.is_empty() { start(reduction) } else { tree(reduction, &mut leaves) })
    }

    /// Reduces truth values over the whole domain.
    ///
    /// # Errors
    /// As for [`RankContext::whole_len`].
    pub fn reduce_bools(&self, reduction: BoolReduction, domain: &Arc<Domain>, values: &[bool]) -> Result<bool, Error> {
        let own = self.planned(domain, |planned| planned.gather_leaves(values))?;
        let of = |values: &[bool]| match reduction {
            BoolReduction::Any => values.contains(&true),
            BoolReduction::All => !values.contains(&false),
        };
        Ok(of(&self.lists(&[of(&own)])?.concat()))
    }

    /// True if it is true on any rank.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn any(&self, value: bool) -> Result<bool, Error> {
        Ok(self.lists(&[value])?.concat().contains(&true))
    }

    /// The list of each rank, on every rank. `[n_ranks]`
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn lists<T: Wire>(&self, own: &[T]) -> Result<Vec<Vec<T>>, Error> {
        all_gather(&self.transport, own)
    }

    /// Sends a list to each rank, and receives one from each: `[n_ranks]`.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn exchange_lists<T: Wire>(&self, lists: &[Vec<T>]) -> Result<Vec<Vec<T>>, Error> {
        all_to_all(&self.transport, lists)
    }

    /// Sends values to one rank, and does not wait until it receives them.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn send<T: Wire>(&self, to: RankId, values: impl ExactSizeIterator<Item = T>) -> Result<(), Error> {
        self.transport.send(to, packed(values))
    }

    /// Waits for the next values of one rank, and takes each with its position in the message.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn receive<T: Wire>(&self, from: RankId, mut take: impl FnMut(usize, T)) -> Result<(), Error> {
        let message = self.transport.receive(from)?;
        unpacked(&message).enumerate().for_each(|(at, value)| take(at, value));
        Ok(())
    }

    /// Waits for the next values of one rank.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn receive_list<T: Wire>(&self, from: RankId) -> Result<Vec<T>, Error> {
        let mut list = Vec::new();
        self.receive(from, |_, value| list.push(value))?;
        Ok(list)
    }

    /// All values of the whole domain in the order of the file, on rank 0; `None` on others.
    ///
    /// # Errors
    /// As for [`RankContext::whole_len`].
    pub fn gather<T: Wire>(&self, domain: &Arc<Domain>, values: &[T]) -> Result<Option<Vec<T>>, Error> {
        let whole = self.planned(domain, |planned| planned.gather(values))?;
        Ok(self.is_root().then_some(whole))
    }

    /// The values of the elements here, halo included, of those that rank 0 has of the whole domain
    /// in the order of the file.
    ///
    /// # Errors
    /// As for [`RankContext::whole_len`].
    pub fn scatter<T: Wire>(&self, domain: &Arc<Domain>, whole: Option<&[T]>) -> Result<Vec<T>, Error> {
        self.planned(domain, |planned| planned.scatter(whole))
    }

    /// The values that rank 0 has, on every rank.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn broadcast<T: Wire>(&self, values: Option<&[T]>) -> Result<Vec<T>, Error> {
        let Some(values) = values else { return Ok(unpacked(&self.transport.receive(RankId(0))?).collect()) };
        for rank in 1..self.n_ranks() {
            self.transport.send(RankId(rank as u32), packed(values.iter().copied()))?;
        }
        Ok(values.to_vec())
    }

    /// Rank 0 waits until all ranks have come here without an error: what it puts out next comes
    /// after all that may fail before.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn meet_at_root(&self) -> Result<(), Error> {
        if !self.is_root() {
            return self.transport.send(RankId(0), Vec::new());
        }
        (1..self.n_ranks()).try_for_each(|rank| self.transport.receive(RankId(rank as u32)).map(|_| ()))
    }

    /// Waits until all ranks have come here without an error, so that none goes on where another
    /// one has failed.
    ///
    /// # Errors
    /// `Simulation` if another rank gives up the attempt, `Backend` if one has ended.
    pub fn meet(&self) -> Result<(), Error> {
        self.lists::<u8>(&[]).map(|_| ())
    }

    /// True if an error follows from another rank, which has ended or given up the attempt.
    pub fn follows(&self) -> bool {
        self.transport.has_lost_rank()
    }

    /// Drops the plans of domains, which all ranks make together when they first need them.
    pub(crate) fn forget_plans(&self) {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Gives up an attempt that failed here or on another rank. All ranks do so; then the next one
    /// begins.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn give_up(&self) -> Result<(), Error> {
        self.transport.give_up()
    }

    /// Waits until rank 0 has ended, which has found an error; an error that follows from it.
    pub fn follow_error(&self) -> Error {
        loop {
            if let Err(error) = self.transport.receive(RankId(0)) {
                return error;
            }
        }
    }

    /// Sends or receives by the plan of a domain.
    fn planned<T>(&self, domain: &Arc<Domain>, act: impl FnOnce(Planned<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let known = |plans: &Plans| plans.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(domain)).map(|(_, plan)| Arc::clone(plan));
        let plan = {
            let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
            known(&plans).unwrap_or_else(|| {
                let plan = Arc::<DomainPlan>::default();
                plans.retain(|(known, _)| known.strong_count() > 0);
                plans.push((Arc::downgrade(domain), Arc::clone(&plan)));
                plan
            })
        };
        act(Planned { domain, plan: &plan, transport: &self.transport })
    }
}

impl Drop for RankContext {
    fn drop(&mut self) {
        self.progress.has_lost_rank.store(self.transport.has_lost_rank(), Ordering::Relaxed);
    }
}
