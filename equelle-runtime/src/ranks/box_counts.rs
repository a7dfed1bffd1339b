//! Elements that ranks own and exchange where boxes of a Cartesian grid are theirs, in closed form.
//!
//! The layer of an element is its largest distance along an axis, so that what one rank has of
//! another one is a product of numbers along the axes.

use std::collections::BTreeMap;

use super::halo_counts::uncounted;
use super::{Boxes, HaloCounts, RankHalo, RankId};
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::Error;

/// Numbers of layers of elements along an axis, in the box of a rank and up to a depth.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    own: u64,
    wide: u64,
}

impl Numbers {
    fn add(&mut self, own: u64, wide: u64) {
        self.own += own;
        self.wide += wide;
    }

    fn product(factors: [Numbers; 3]) -> Numbers {
        let of = |number: fn(&Numbers) -> u64| factors.iter().map(number).product();
        Numbers { own: of(|numbers| numbers.own), wide: of(|numbers| numbers.wide) }
    }
}

/// Numbers along an axis that one place has of another one.
#[derive(Clone, Copy, Debug, Default)]
struct AlongAxis {
    cells: Numbers,
    /// Those between the first and the last cell.
    inner_cells: Numbers,
    /// Faces across the axis.
    faces: Numbers,
    /// Those between two cells.
    inner_faces: Numbers,
}

impl Boxes {
    /// Counts the elements of a set that ranks own and exchange up to a depth, on a grid of `dim`
    /// dimensions. Axes that boxes go around have no ends. Costs a few numbers for each rank and
    /// its neighbours.
    ///
    /// # Errors
    /// `Data` for edges and vertices.
    pub fn halo_counts(&self, dim: usize, set: CanonicalSet, depth: u32) -> Result<HaloCounts, Error> {
        let kind = set.kind.on_grid_of(dim);
        let is_of_cells = match kind {
            EntityKind::Cell => true,
            EntityKind::Face => false,
            EntityKind::Edge | EntityKind::Vertex => return Err(uncounted(kind)),
        };
        let along: [Vec<Vec<(u32, AlongAxis)>>; 3] = std::array::from_fn(|axis| {
            let places = 0..self.ranks()[axis];
            places.map(|place| self.along(axis, place, depth).into_iter().collect()).collect()
        });
        let counted = |parts: [&AlongAxis; 3], extent: Extent| {
            let inner = extent == Extent::Interior;
            if is_of_cells {
                let cells = |axis: usize| if inner && axis < dim { parts[axis].inner_cells } else { parts[axis].cells };
                return Numbers::product([cells(0), cells(1), cells(2)]);
            }
            let across = (0..dim).map(|axis| {
                let mut factors = parts.map(|part| part.cells);
                factors[axis] = if inner { parts[axis].inner_faces } else { parts[axis].faces };
                Numbers::product(factors)
            });
            across.fold(Numbers::default(), |sum, faces| Numbers { own: sum.own + faces.own, wide: sum.wide + faces.wide })
        };
        let mut ranks = vec![RankHalo::default(); self.n_ranks() as usize];
        for here in (0..self.n_ranks()).map(RankId) {
            let [x, y, z] = self.place(here);
            for (k, along_z) in &along[2][z as usize] {
                for (j, along_y) in &along[1][y as usize] {
                    for (i, along_x) in &along[0][x as usize] {
                        let of = |extent| counted([along_x, along_y, along_z], extent);
                        let Numbers { own, wide } = match set.extent {
                            Extent::All | Extent::Interior => of(set.extent),
                            Extent::Boundary => {
                                let (all, inner) = (of(Extent::All), of(Extent::Interior));
                                Numbers { own: all.own - inner.own, wide: all.wide - inner.wide }
                            }
                        };
                        let owner = self.rank_at([*i, *j, *k]);
                        let (owned, copies) = if owner == here { (own, wide - own) } else { (0, wide) };
                        ranks[here.index()].owned += owned;
                        ranks[here.index()].halo += copies;
                        ranks[owner.index()].sent += wide - own;
                        ranks[owner.index()].neighbours += u64::from(wide > own);
                    }
                }
            }
        }
        Ok(HaloCounts { ranks })
    }

    /// Numbers along an axis that a place has of each place.
    fn along(&self, axis: usize, place: u32, depth: u32) -> BTreeMap<u32, AlongAxis> {
        let (start, n) = (self.cut(axis, place) as i64, self.cells()[axis] as i64);
        let end = self.cut(axis, place + 1) as i64;
        let [low, high] = self.widths(axis, place, depth).map(|width| width as i64);
        let mut found: BTreeMap<u32, AlongAxis> = BTreeMap::new();
        // Inside the box in closed form: a line of cells may be long.
        let own = found.entry(place).or_default();
        let len = (end - start) as u64;
        let is_joined = self.is_joined(axis);
        let ends = if is_joined { 0 } else { u64::from(start == 0) + u64::from(end == n && n > 1) };
        own.cells.add(len, len);
        own.inner_cells.add(len - ends, len - ends);
        let faces = len - u64::from(end == n && !is_joined);
        own.faces.add(len, len);
        own.inner_faces.add(faces, faces);
        for at in (start - low..start).chain(end..end + high) {
            let at = at.rem_euclid(n);
            let other = found.entry(self.place_along(axis, at as u64)).or_default();
            other.cells.add(0, 1);
            other.inner_cells.add(0, u64::from(is_joined || (at > 0 && at + 1 < n)));
        }
        // The face below the first cell of an axis that goes around is that above the last one.
        let is_whole = is_joined && self.ranks()[axis] == 1;
        for at in (start - low..=start).chain(end + 1..=end + high).filter(|_| !is_whole) {
            // A face belongs to the cell below it, the first one to the cell above.
            let below = if is_joined { (at - 1).rem_euclid(n) } else { (at - 1).max(0) };
            let (is_own, is_inner) = (u64::from(at == start), u64::from(is_joined || (at > 0 && at < n)));
            let other = found.entry(self.place_along(axis, below as u64)).or_default();
            other.faces.add(is_own, 1);
            other.inner_faces.add(is_own * is_inner, is_inner);
        }
        found
    }

    /// Layers by which the boxes at a place are widened for a depth, below and above along an axis.
    pub fn widths(&self, axis: usize, place: u32, depth: u32) -> [u64; 2] {
        let depth = u64::from(depth);
        match (self.ranks()[axis] > 1, self.is_joined(axis)) {
            (false, _) => [0, 0],
            (true, true) => [depth; 2],
            (true, false) => [self.cut(axis, place), self.cells()[axis] - self.cut(axis, place + 1)].map(|cells| cells.min(depth)),
        }
    }
}
