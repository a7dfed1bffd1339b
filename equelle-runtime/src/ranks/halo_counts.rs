//! Cost of a partition: elements of halos, neighbours, messages.

use std::collections::BTreeMap;

use super::{CellGraph, Partition, RankId};
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::{Error, ErrorKind};
use crate::grid::{Grid, NONE};

/// Elements of a set that one rank owns and exchanges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankHalo {
    /// Elements that it owns.
    pub owned: u64,
    /// Copies of elements that it keeps, in all layers; faces between ranks are in layer 0.
    pub halo: u64,
    /// Elements that it sends in one exchange of layers 1 and more, once for each copy.
    pub sent: u64,
    /// Ranks that it sends to; itself too where a grid is joined to itself.
    pub neighbours: u64,
}

/// Elements that all ranks own and exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloCounts {
    /// By rank. `[n_ranks]`
    pub ranks: Vec<RankHalo>,
}

impl HaloCounts {
    /// Counts the cells in halos of `depth` layers of a partition. Costs a search from the rim of
    /// each part.
    pub fn of(graph: &CellGraph, partition: &Partition, depth: usize) -> HaloCounts {
        HaloCounts::from_elements(graph, partition, depth, partition.owners(), std::iter::once)
    }

    /// The same for the elements of a canonical set of a grid of arrays; `graph` is that of its
    /// cells.
    ///
    /// # Errors
    /// `Data` for edges and vertices.
    pub fn from_set(grid: &Grid, graph: &CellGraph, partition: &Partition, set: CanonicalSet, depth: usize) -> Result<HaloCounts, Error> {
        let topology = grid.topology();
        let is_member = |is_boundary: bool| match set.extent {
            Extent::All => true,
            Extent::Interior => !is_boundary,
            Extent::Boundary => is_boundary,
        };
        let kind = set.kind.on_grid_of(grid.dim());
        Ok(match kind {
            EntityKind::Cell => {
                let cell_if_member = |cell: u32| Some(cell).filter(|&cell| is_member(topology.is_boundary_cell(cell as usize))).into_iter();
                HaloCounts::from_elements(graph, partition, depth, partition.owners(), cell_if_member)
            }
            EntityKind::Face => {
                let first = |&[first, second]: &[u32; 2]| partition.owners()[if first == NONE { second } else { first } as usize];
                let owners: Vec<RankId> = topology.face_cells.iter().map(first).collect();
                let faces = |cell: u32| {
                    let faces = topology.faces_of(cell as usize).iter().copied();
                    faces.filter(|&face| is_member(topology.is_boundary_face(face as usize)))
                };
                HaloCounts::from_elements(graph, partition, depth, &owners, faces)
            }
            EntityKind::Edge | EntityKind::Vertex => return Err(uncounted(kind)),
        })
    }

    /// Counts elements, which have these owners and are reached from cells.
    fn from_elements<I: Iterator<Item = u32>>(
        graph: &CellGraph,
        partition: &Partition,
        depth: usize,
        owners: &[RankId],
        elements: impl Fn(u32) -> I,
    ) -> HaloCounts {
        let mut cells_of = vec![Vec::new(); partition.n_ranks()];
        for (cell, rank) in partition.owners().iter().enumerate() {
            cells_of[rank.index()].push(cell as u32);
        }
        // Rank that has met a cell or an element last, so that nothing is cleared between ranks.
        let mut met_cells: Vec<Option<RankId>> = vec![None; partition.owners().len()];
        let mut met: Vec<Option<RankId>> = vec![None; owners.len()];
        let mut ranks = vec![RankHalo::default(); partition.n_ranks()];
        for (rank, mut front) in cells_of.into_iter().enumerate() {
            let here = RankId(rank as u32);
            front.iter().for_each(|&cell| met_cells[cell as usize] = Some(here));
            let mut from: BTreeMap<RankId, u64> = BTreeMap::new();
            for layer in 0..=depth {
                for element in front.iter().flat_map(|&cell| elements(cell)) {
                    if met[element as usize].replace(here) == Some(here) {
                        continue;
                    }
                    let owner = owners[element as usize];
                    if owner == here {
                        ranks[rank].owned += 1;
                    } else {
                        ranks[rank].halo += 1;
                        if layer > 0 {
                            *from.entry(owner).or_default() += 1;
                        }
                    }
                }
                if layer < depth {
                    let around = front.iter().flat_map(|&cell| graph.around(cell));
                    front = around.copied().filter(|&cell| met_cells[cell as usize].replace(here) != Some(here)).collect();
                }
            }
            for (sender, elements) in from {
                ranks[sender.index()].sent += elements;
                ranks[sender.index()].neighbours += 1;
            }
        }
        HaloCounts { ranks }
    }

    /// Most elements of a rank over the mean.
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

/// The error of entities that are not counted without running.
pub(super) fn uncounted(kind: EntityKind) -> Error {
    Error::new(ErrorKind::Data, format!("exchanges of {} are not counted without running", kind.nouns()))
}
