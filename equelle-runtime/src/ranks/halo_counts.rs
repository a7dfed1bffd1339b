//! Cost of a partition: cells of halos, neighbours, messages.

use std::collections::BTreeMap;

use super::{CellGraph, Partition, RankId};

/// Cells that one rank owns and exchanges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankHalo {
    /// Cells that it owns.
    pub owned: u64,
    /// Copies of cells of others that it keeps, in all layers.
    pub halo: u64,
    /// Cells that it sends in one exchange of all layers, once for each rank that gets them.
    pub sent: u64,
    /// Ranks that it sends to.
    pub neighbours: u64,
}

/// Cells that all ranks own and exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloCounts {
    /// By rank. `[n_ranks]`
    pub ranks: Vec<RankHalo>,
}

impl HaloCounts {
    /// Counts the halos of `depth` layers of a partition. Costs a search from the rim of each part.
    pub fn of(graph: &CellGraph, partition: &Partition, depth: usize) -> HaloCounts {
        let owners = partition.owners();
        let mut cells_of = vec![Vec::new(); partition.n_ranks()];
        for (cell, rank) in owners.iter().enumerate() {
            cells_of[rank.index()].push(cell as u32);
        }
        // Rank that has met a cell last, so that nothing is cleared between ranks.
        let mut met: Vec<Option<RankId>> = vec![None; owners.len()];
        let mut ranks: Vec<RankHalo> = Vec::with_capacity(partition.n_ranks());
        let mut sent_by = vec![0; partition.n_ranks()];
        let mut receivers_of = vec![0; partition.n_ranks()];
        for (rank, owned) in cells_of.iter().enumerate() {
            let here = RankId(rank as u32);
            let mut halo = 0;
            let mut from: BTreeMap<RankId, u64> = BTreeMap::new();
            let mut front: Vec<u32> = owned.clone();
            for _ in 0..depth {
                let mut next = Vec::new();
                for &other in front.iter().flat_map(|&cell| graph.around(cell)) {
                    if owners[other as usize] != here && met[other as usize] != Some(here) {
                        met[other as usize] = Some(here);
                        *from.entry(owners[other as usize]).or_default() += 1;
                        next.push(other);
                    }
                }
                halo += next.len() as u64;
                front = next;
            }
            for (sender, cells) in &from {
                sent_by[sender.index()] += cells;
                receivers_of[sender.index()] += 1;
            }
            ranks.push(RankHalo { owned: owned.len() as u64, halo, sent: 0, neighbours: 0 });
        }
        for (rank, (sent, receivers)) in ranks.iter_mut().zip(sent_by.into_iter().zip(receivers_of)) {
            (rank.sent, rank.neighbours) = (sent, receivers);
        }
        HaloCounts { ranks }
    }

    /// Most cells of a rank over the mean.
    pub fn imbalance(&self) -> f64 {
        let total: u64 = self.ranks.iter().map(|rank| rank.owned).sum();
        self.most(|rank| rank.owned) as f64 * self.ranks.len() as f64 / total as f64
    }

    /// The largest value of any rank.
    pub fn most(&self, value: impl Fn(&RankHalo) -> u64) -> u64 {
        self.ranks.iter().map(value).max().unwrap_or(0)
    }

    /// The sum over all ranks.
    pub fn total(&self, value: impl Fn(&RankHalo) -> u64) -> u64 {
        self.ranks.iter().map(value).sum()
    }
}
