//! Columns of a matrix on a rank: its own unknowns, and those of other ranks that its rows read.

use crate::error::{Error, ErrorKind};
use crate::linalg::matrix::rim::Rim;
use crate::rank_id::RankId;
use crate::ranks::RankContext;
use crate::wire::Wire;

/// The columns of a matrix on a rank. Columns 0 to `n_own` are its own unknowns, those after them
/// the *halo*: unknowns of other ranks, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct HaloColumns {
    n_own: usize,
    halo: Vec<(RankId, u32)>,
    /// By rank: own unknowns that it has in its halo, in its order.
    sent: Vec<(RankId, Vec<u32>)>,
    /// By rank: places in the halo of what it sends.
    received: Vec<(RankId, Vec<u32>)>,
    /// The halo by rank and number, and the place of each.
    sorted: Vec<(RankId, u32, u32)>,
}

impl HaloColumns {
    /// Columns with `n_own` own unknowns; column `n_own + k` is unknown `halo[k].1` of those of
    /// rank `halo[k].0`. All ranks make theirs at the same time, and learn what to send.
    ///
    /// # Errors
    /// `Backend` if another rank has ended, or names an unknown that is not here.
    pub fn new(ranks: &RankContext, n_own: usize, halo: &[(RankId, u32)]) -> Result<HaloColumns, Error> {
        let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); ranks.n_ranks()];
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); ranks.n_ranks()];
        for (place, (owner, number)) in halo.iter().enumerate() {
            wanted[owner.index()].push(*number);
            places[owner.index()].push(place as u32);
        }
        let asked = ranks.exchange_lists(&wanted)?;
        let rank_of = |index: usize| RankId(index as u32);
        let has_own = !wanted[ranks.rank().index()].is_empty();
        if has_own || asked.iter().flatten().any(|&number| number as usize >= n_own) {
            return Err(Error::new(ErrorKind::Backend, "a halo names an unknown that its rank does not have"));
        }
        let by_rank = |lists: Vec<Vec<u32>>| -> Vec<(RankId, Vec<u32>)> {
            lists.into_iter().enumerate().filter(|(_, list)| !list.is_empty()).map(|(rank, list)| (rank_of(rank), list)).collect()
        };
        let mut sorted: Vec<(RankId, u32, u32)> = (0..).zip(halo).map(|(place, &(owner, number))| (owner, number, place)).collect();
        sorted.sort_unstable();
        Ok(HaloColumns { n_own, halo: halo.to_vec(), sent: by_rank(asked), received: by_rank(places), sorted })
    }

    /// Own columns only; no message.
    pub fn own(n_own: usize) -> HaloColumns {
        HaloColumns { n_own, halo: Vec::new(), sent: Vec::new(), received: Vec::new(), sorted: Vec::new() }
    }

    /// Number of own unknowns.
    pub fn n_own(&self) -> usize {
        self.n_own
    }

    /// Rank and number of each unknown in the halo.
    pub fn halo(&self) -> &[(RankId, u32)] {
        &self.halo
    }

    /// Number of columns.
    pub fn n_all(&self) -> usize {
        self.n_own + self.halo.len()
    }

    /// Place in the halo of an unknown of another rank.
    pub fn place(&self, owner: RankId, number: u32) -> Option<u32> {
        let at = self.sorted.partition_point(|&(other, its, _)| (other, its) < (owner, number));
        self.sorted.get(at).filter(|(other, its, _)| (*other, *its) == (owner, number)).map(|(_, _, place)| *place)
    }

    /// By rank: own unknowns that it has in its halo.
    pub fn sent(&self) -> &[(RankId, Vec<u32>)] {
        &self.sent
    }

    /// By rank: places in the halo of what it owns.
    pub fn received(&self) -> &[(RankId, Vec<u32>)] {
        &self.received
    }

    /// Sends values of own unknowns to the ranks that have these in their halo.
    ///
    /// # Errors
    /// `Backend` if another rank has ended, as below.
    pub fn send<T: Wire>(&self, ranks: &RankContext, value: impl Fn(usize) -> T) -> Result<(), Error> {
        self.sent.iter().try_for_each(|(rank, own)| ranks.send(*rank, own.iter().map(|&own| value(own as usize))))
    }

    /// Receives the values of the halo.
    ///
    /// # Errors
    /// As above.
    pub fn receive<T: Wire>(&self, ranks: &RankContext, halo: &mut [T]) -> Result<(), Error> {
        let mut take = |(rank, places): &(RankId, Vec<u32>)| ranks.receive(*rank, |at, value| halo[places[at] as usize] = value);
        self.received.iter().try_for_each(&mut take)
    }

    /// The values of the halo, from those of own unknowns.
    ///
    /// # Errors
    /// As above.
    pub fn exchange<T: Wire>(&self, ranks: &RankContext, value: impl Fn(usize) -> T) -> Result<Vec<T>, Error> {
        self.send(ranks, value)?;
        let mut halo = vec![T::default(); self.halo.len()];
        self.receive(ranks, &mut halo)?;
        Ok(halo)
    }

    /// Sends values of the halo to the ranks that own its unknowns, which take them as `(unknown,
    /// value)`, by rank and in its order.
    ///
    /// # Errors
    /// As above.
    pub fn send_back<T: Wire>(&self, ranks: &RankContext, halo: &[T], mut take: impl FnMut(usize, T)) -> Result<(), Error> {
        for (rank, places) in &self.received {
            ranks.send(*rank, places.iter().map(|&place| halo[place as usize]))?;
        }
        self.sent.iter().try_for_each(|(rank, own)| ranks.receive(*rank, |at, value| take(own[at] as usize, value)))
    }

    /// Sends something of each entry of a rim, `entry(row, number of the column at its owner,
    /// value)`, to the rank that owns its column; returns what came, by rank.
    ///
    /// # Errors
    /// As above.
    pub fn send_entries_back<T: Wire>(
        &self,
        ranks: &RankContext,
        rim: &Rim,
        entry: impl Fn(usize, u32, f64) -> T,
    ) -> Result<Vec<(RankId, Vec<T>)>, Error> {
        let mut lists: Vec<Vec<T>> = vec![Vec::new(); self.received.len()];
        for (row, _, place, value) in rim.each() {
            let (owner, number) = self.halo[place];
            // Owners ascend.
            lists[self.received.partition_point(|(rank, _)| *rank < owner)].push(entry(row, number, value));
        }
        for ((rank, _), list) in self.received.iter().zip(lists) {
            ranks.send(*rank, list.into_iter())?;
        }
        self.sent.iter().map(|(rank, _)| Ok((*rank, ranks.receive_list(*rank)?))).collect()
    }

    /// Sends a list for each own unknown that is in a halo, with the lists of all that go to one
    /// rank joined; returns what came for the halo, by rank in the order of [`Self::received`].
    ///
    /// # Errors
    /// As above.
    pub fn send_lists<T: Wire>(&self, ranks: &RankContext, list: impl Fn(usize, &mut Vec<T>)) -> Result<Vec<Vec<T>>, Error> {
        let mut joined = Vec::new();
        for (rank, own) in &self.sent {
            joined.clear();
            own.iter().for_each(|&own| list(own as usize, &mut joined));
            ranks.send(*rank, joined.iter().copied())?;
        }
        self.received.iter().map(|(rank, _)| ranks.receive_list(*rank)).collect()
    }
}
