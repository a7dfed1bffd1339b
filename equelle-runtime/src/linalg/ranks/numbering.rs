//! Numbers of unknowns in a whole system: those of the first field, by rank, then of the next one.

use crate::error::Error;
use crate::linalg::driver::choose::fields;
use crate::rank_id::RankId;
use crate::ranks::RankContext;

/// The fields of all ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Numbering {
    rank: usize,
    /// By rank: ends of the fields of its unknowns.
    ends: Vec<Vec<usize>>,
}

impl Numbering {
    /// From the ends of the fields of each rank.
    pub fn new(ranks: &RankContext, ends: &[usize]) -> Result<Numbering, Error> {
        let own: Vec<u64> = ends.iter().map(|&end| end as u64).collect();
        let all = ranks.lists(&own)?;
        let ends = all.into_iter().map(|ends| ends.into_iter().map(|end| end as usize).collect()).collect();
        Ok(Numbering { rank: ranks.rank().index(), ends })
    }

    /// Number of unknowns of a rank.
    pub fn n_of(&self, rank: usize) -> usize {
        self.ends.get(rank).and_then(|ends| ends.last()).copied().unwrap_or(0)
    }

    /// Number of all unknowns.
    pub fn n_whole(&self) -> usize {
        (0..self.ends.len()).map(|rank| self.n_of(rank)).sum()
    }

    /// Ends of the fields of the whole system.
    pub fn whole_ends(&self) -> Vec<usize> {
        let n_fields = self.ends.first().map_or(0, Vec::len);
        (0..n_fields).map(|field| self.ends.iter().map(|ends| ends[field]).sum()).collect()
    }

    /// Number of fields on the same elements, 1 if they differ in size on a rank.
    pub fn n_fields(&self) -> usize {
        let n_fields = self.ends.first().map_or(1, Vec::len);
        let are_even = |ends: &Vec<usize>| ends.last() == Some(&0) || fields(ends) == n_fields;
        if self.n_whole() > 0 && self.ends.iter().all(are_even) { n_fields } else { 1 }
    }

    /// The field of an unknown of a rank.
    pub fn field(&self, rank: usize, unknown: usize) -> usize {
        self.ends[rank].partition_point(|&end| end <= unknown)
    }

    /// Number of an unknown of a rank in the whole system.
    pub fn number(&self, rank: usize, unknown: usize) -> usize {
        let Some(ends) = self.ends.get(rank) else { return unknown };
        let field = self.field(rank, unknown);
        let size = |ends: &[usize], field: usize| ends[field] - if field > 0 { ends[field - 1] } else { 0 };
        let before_field: usize = if field > 0 { self.ends.iter().map(|ends| ends[field - 1]).sum() } else { 0 };
        let before_rank: usize = self.ends[..rank].iter().map(|ends| size(ends, field)).sum();
        let start = if field > 0 { ends[field - 1] } else { 0 };
        before_field + before_rank + unknown - start
    }

    /// Numbers of all unknowns of a rank, which ascend.
    pub fn numbers(&self, rank: usize) -> Vec<usize> {
        let Some(ends) = self.ends.get(rank) else { return Vec::new() };
        let mut start = 0;
        let runs = ends.iter().flat_map(|&end| {
            let field = std::mem::replace(&mut start, end)..end;
            let first = if field.is_empty() { 0 } else { self.number(rank, field.start) };
            first..first + field.len()
        });
        runs.collect()
    }

    /// Number of an own unknown.
    pub fn own(&self, unknown: usize) -> usize {
        self.number(self.rank, unknown)
    }

    /// Number of an unknown of the halo.
    pub fn halo(&self, (owner, unknown): (RankId, u32)) -> usize {
        self.number(owner.index(), unknown as usize)
    }

    /// The own unknown with this number, if it is one.
    pub fn unknown(&self, number: usize) -> Option<usize> {
        self.numbers(self.rank).binary_search(&number).ok()
    }
}
