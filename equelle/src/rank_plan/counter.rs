//! Numbers of elements of the parts of a grid.

use std::collections::BTreeMap;
use std::rc::Rc;

use equelle_front::ir::{Module, Precision};
use equelle_runtime::grid::Cartesian;
use equelle_runtime::rank_parts::{Cut, RankParts};
use equelle_runtime::ranks::{Boxes, CellGraph, HaloCounts, Partition, RankId};
use equelle_runtime::{CanonicalSet, Error, Extent, Grid};

/// Counts elements of parts, each set and depth once.
pub(super) struct Counter<'a> {
    grid: &'a Grid,
    parts: CountedParts<'a>,
    counted: BTreeMap<(CanonicalSet, u32), Rc<HaloCounts>>,
}

/// The parts.
enum CountedParts<'a> {
    Boxes { boxes: &'a Boxes, shape: Cartesian },
    Cells { partition: &'a Partition, graph: CellGraph },
}

impl<'a> Counter<'a> {
    pub fn new(parts: &'a RankParts) -> Counter<'a> {
        let counted = match (&parts.cut, parts.grid.closed_shape()) {
            (Cut::Boxes { boxes, .. }, Some(&shape)) => CountedParts::Boxes { boxes, shape },
            (Cut::Boxes { .. }, None) => unreachable!("boxes are cut out of a Cartesian grid"),
            (Cut::Given(partition) | Cut::Bisection(partition), _) => CountedParts::Cells { partition, graph: CellGraph::of(&parts.grid) },
        };
        Counter { grid: &parts.grid, parts: counted, counted: BTreeMap::new() }
    }

    /// The whole grid.
    pub fn grid(&self) -> &'a Grid {
        self.grid
    }

    /// Elements of a set that ranks own and exchange to a depth.
    pub fn counts(&mut self, set: CanonicalSet, depth: u32) -> Result<Rc<HaloCounts>, Error> {
        if let Some(found) = self.counted.get(&(set, depth)) {
            return Ok(Rc::clone(found));
        }
        let counts = Rc::new(match &self.parts {
            CountedParts::Boxes { boxes, .. } => boxes.halo_counts(self.grid.dim(), set, depth)?,
            CountedParts::Cells { partition, graph } => HaloCounts::from_set(self.grid, graph, partition, set, depth as usize)?,
        });
        self.counted.insert((set, depth), Rc::clone(&counts));
        Ok(counts)
    }

    /// Number of elements of a canonical set in the part of each rank with so many layers; of a
    /// grid of arrays a bound from above, because faces at the rim may count as boundary faces.
    pub fn lens(&mut self, set: CanonicalSet, layers: u32) -> Result<Vec<u64>, Error> {
        if let CountedParts::Boxes { boxes, shape } = &self.parts {
            let len = |rank| widened(boxes, shape, rank, layers).set_len(set) as u64;
            return Ok((0..boxes.n_ranks()).map(RankId).map(len).collect());
        }
        let mut total = |extent, layers| -> Result<Vec<u64>, Error> {
            let counts = self.counts(CanonicalSet { extent, ..set }, layers)?;
            Ok(counts.ranks.iter().map(|rank| rank.owned + rank.halo).collect())
        };
        match set.extent {
            Extent::All | Extent::Interior => total(set.extent, layers),
            Extent::Boundary => {
                let (all, inner) = (total(Extent::All, layers)?, total(Extent::Interior, layers.saturating_sub(1))?);
                Ok(all.into_iter().zip(inner).map(|(all, inner)| all - inner).collect())
            }
        }
    }
}

/// The box of a rank with its halo.
fn widened(boxes: &Boxes, shape: &Cartesian, rank: RankId, layers: u32) -> Cartesian {
    let (own, place) = (boxes.box_of(rank), boxes.place(rank));
    let n = std::array::from_fn(|axis| (own.len[axis] + boxes.widths(axis, place[axis], layers).iter().sum::<u64>()) as usize);
    let joined = std::array::from_fn(|axis| shape.joined[axis] && boxes.ranks()[axis] == 1);
    Cartesian { n, joined, ..*shape }
}

/// Bytes of a number in a collection.
pub(super) fn real_bytes(module: &Module) -> u64 {
    match module.numbers.precision {
        Precision::Double => 8,
        Precision::Single => 4,
    }
}
