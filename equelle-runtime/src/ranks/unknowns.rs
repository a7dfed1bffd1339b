//! Unknowns of a solve on a rank: each has one owner, which has a row for it.

use std::sync::Arc;

use super::context::RankContext;
use crate::domain::Domain;
use crate::error::Error;
use crate::rank_id::RankId;
use crate::wire::Wire;

/// The unknowns of a solve on a rank.
pub struct RankUnknowns {
    domains: Vec<Arc<Domain>>,
    /// Positions of the rank's own elements of each unknown, ascending. `[unknowns]`
    own: Vec<Vec<u32>>,
    /// Ends of the fields of own unknowns. `[unknowns]`
    ends: Vec<usize>,
    /// The number of each unknown here, halo included, in the order of derivatives; none for one
    /// that its owner does not have.
    numbers: Vec<Option<OwnedNumber>>,
    /// Positions whose values are sent to each rank, and received from each. `[unknowns][n_ranks]`
    exchanged: Vec<[Vec<Vec<u32>>; 2]>,
}

/// The number of an unknown among those of the rank that owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnedNumber {
    /// The rank that owns it.
    pub owner: RankId,
    /// Its number among those of that rank.
    pub number: u32,
}

impl RankUnknowns {
    /// The unknowns on these domains; all ranks make them together. Every element has one owner,
    /// also where ranks compute it from the same numbers, as faces between them.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn new(rank: &RankContext, domains: Vec<Arc<Domain>>) -> Result<RankUnknowns, Error> {
        let mut unknowns =
            RankUnknowns { domains: Vec::new(), own: Vec::new(), ends: Vec::new(), numbers: Vec::new(), exchanged: Vec::new() };
        let mut end = 0;
        for domain in domains {
            let (grid, kind, this) = (domain.grid(), domain.kind().on_grid_of(domain.grid().dim()), rank.rank());
            let part = grid.part().ok_or_else(|| Error::internal("a rank has a part of the grid"))?;
            let mut numbers: Vec<Option<OwnedNumber>> = vec![None; domain.len()];
            let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); rank.n_ranks()];
            let mut own = Vec::new();
            for position in 0..domain.len() as u32 {
                let element = domain.element(position as usize);
                if part.owns(this, kind, element) {
                    numbers[position as usize] = Some(OwnedNumber { owner: this, number: end });
                    own.push(position);
                    end += 1;
                } else if let Some(owner) = part.owner(kind, element) {
                    wanted[owner.index()].push(position);
                }
            }
            let asked = rank.ask_owners(&domain, &wanted)?;
            let mut sent = Vec::with_capacity(asked.len());
            let mut answers: Vec<Vec<u32>> = Vec::with_capacity(asked.len());
            for found in &asked {
                let number = |position: Option<u32>| Some(numbers[position? as usize].filter(|number| number.owner == this)?.number);
                answers.push(found.iter().map(|&position| number(position).unwrap_or(NOWHERE)).collect());
                sent.push(found.iter().flatten().copied().filter(|&position| number(Some(position)).is_some()).collect());
            }
            let answers = rank.exchange_lists(&answers)?;
            for (owner, (wanted, answers)) in wanted.iter_mut().zip(answers).enumerate() {
                let mut answers = answers.into_iter();
                wanted.retain(|&position| {
                    let number = answers.next().filter(|&number| number != NOWHERE);
                    numbers[position as usize] = number.map(|number| OwnedNumber { owner: RankId(owner as u32), number });
                    number.is_some()
                });
            }
            unknowns.domains.push(Arc::clone(&domain));
            unknowns.own.push(own);
            unknowns.ends.push(end as usize);
            unknowns.numbers.extend(numbers);
            unknowns.exchanged.push([sent, wanted]);
        }
        Ok(unknowns)
    }

    /// Brings the values of an unknown from the owners of its elements.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    ///
    /// # Panics
    /// If there is not a value for each element of its domain.
    pub fn exchange<R: Wire>(&self, rank: &RankContext, unknown: usize, values: &mut [R]) -> Result<(), Error> {
        let [sent, received] = &self.exchanged[unknown];
        rank.exchange_at([sent, received], values)
    }

    /// True if these are the unknowns of these domains.
    pub fn are_on(&self, domains: &[Arc<Domain>]) -> bool {
        self.domains.len() == domains.len() && self.domains.iter().zip(domains).all(|(own, other)| Arc::ptr_eq(own, other))
    }

    /// The number of an unknown here, in the order of derivatives; `None` for one that its owner
    /// does not have.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn number(&self, unknown: usize) -> Option<OwnedNumber> {
        self.numbers[unknown]
    }

    /// Positions of the rank's own elements of an unknown, ascending.
    ///
    /// # Panics
    /// If there are fewer unknowns.
    pub fn own(&self, unknown: usize) -> &[u32] {
        &self.own[unknown]
    }

    /// Ends of the fields of own unknowns. `[unknowns]`
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Number of own unknowns.
    pub fn total(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

/// The number of an unknown that its owner does not have.
const NOWHERE: u32 = u32::MAX;
