//! Partitions of Cartesian grids into boxes, in closed form.

use super::RankId;
use crate::error::{Error, ErrorKind};

/// A box of cells of a Cartesian grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Box3 {
    /// Its first cell along each axis.
    pub start: [u64; 3],
    /// Cells along each axis.
    pub len: [u64; 3],
}

impl Box3 {
    /// Number of cells.
    pub fn n_cells(&self) -> u64 {
        self.len.iter().product()
    }
}

/// A Cartesian grid that is cut into as many boxes as there are ranks, along planes through the
/// whole grid. Ranks count along x first, as cells do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boxes {
    n: [u64; 3],
    joined: [bool; 3],
    ranks: [u32; 3],
}

/// Estimates of what it costs to send a cell across each axis, in cells that are computed: planes
/// across the last axis lie together in memory, others are gathered.
const COST_OF_SENDING: [f64; 3] = [4.0, 4.0, 2.0];

impl Boxes {
    /// Cuts a grid of `n` cells along each axis so that the largest box and what it sends take
    /// least, by [`COST_OF_SENDING`]. `reach` is how many cells around a cell a program reads,
    /// below and above along each axis: no box is narrower along an axis that is cut, so that
    /// an exchange is one between neighbours.
    ///
    /// # Errors
    /// `Data` if there are no ranks, or no such boxes, with the largest number of ranks that works
    /// along single axes.
    pub fn new(n: [u64; 3], joined: [bool; 3], n_ranks: u32, reach: [[u8; 2]; 3]) -> Result<Boxes, Error> {
        Boxes::cut_along([true; 3], n, joined, n_ranks, reach)
    }

    /// [`Boxes::new`] that cuts some axes alone.
    ///
    /// # Errors
    /// As for [`Boxes::new`].
    pub fn cut_along(axes: [bool; 3], n: [u64; 3], joined: [bool; 3], n_ranks: u32, reach: [[u8; 2]; 3]) -> Result<Boxes, Error> {
        let narrowest: [u64; 3] = std::array::from_fn(|axis| u64::from(reach[axis][0].max(reach[axis][1]).max(1)));
        let pieces = |axis: usize| if axes[axis] { n[axis] / narrowest[axis] } else { 1 };
        let most = |axis: usize| u32::try_from(pieces(axis)).unwrap_or(u32::MAX).max(1);
        let last = (0..3).rev().find(|&axis| n[axis] > 1).unwrap_or(0);
        let mut best: Option<(f64, Boxes)> = None;
        for z in divisors(n_ranks).filter(|&z| z <= most(2)) {
            for y in divisors(n_ranks / z).filter(|&y| y <= most(1)) {
                let x = n_ranks / z / y;
                if x > most(0) {
                    continue;
                }
                let boxes = Boxes { n, joined, ranks: [x, y, z] };
                let cost = boxes.cost(reach, last);
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, boxes));
                }
            }
        }
        best.map(|(_, boxes)| boxes).ok_or_else(|| {
            let size = n[..=last].iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
            let error = Error::new(ErrorKind::Data, format!("{size} cells cannot be cut into boxes for {n_ranks} ranks"));
            let axes = ["x", "y", "z"].iter().zip(0..=last).map(|(name, axis)| format!("{} along {name}", most(axis)));
            error.hint(format!("there can be at most {}", axes.collect::<Vec<_>>().join(", ")))
        })
    }

    /// Estimated time of a step of the largest box, in cells that are computed.
    fn cost(&self, reach: [[u8; 2]; 3], last: usize) -> f64 {
        let largest: [u64; 3] = std::array::from_fn(|axis| self.n[axis].div_ceil(u64::from(self.ranks[axis])));
        let cells = largest.iter().product::<u64>() as f64;
        let sent = (0..3).filter(|&axis| self.ranks[axis] > 1).map(|axis| {
            let depth = f64::from(reach[axis][0]) + f64::from(reach[axis][1]);
            COST_OF_SENDING[if axis == last { 2 } else { 0 }] * depth * cells / largest[axis] as f64
        });
        cells + sent.sum::<f64>()
    }

    /// Cells along each axis.
    pub fn cells(&self) -> [u64; 3] {
        self.n
    }

    /// Ranks along each axis.
    pub fn ranks(&self) -> [u32; 3] {
        self.ranks
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> u32 {
        self.ranks.iter().product()
    }

    /// Place of a rank among the boxes.
    pub fn place(&self, rank: RankId) -> [u32; 3] {
        let row = rank.0 / self.ranks[0];
        [rank.0 % self.ranks[0], row % self.ranks[1], row / self.ranks[1]]
    }

    /// The box of a rank. Widths along an axis differ by at most one cell.
    pub fn box_of(&self, rank: RankId) -> Box3 {
        let place = self.place(rank);
        let start: [u64; 3] = std::array::from_fn(|axis| self.cut(axis, place[axis]));
        Box3 { start, len: std::array::from_fn(|axis| self.cut(axis, place[axis] + 1) - start[axis]) }
    }

    /// The first cell along an axis of the boxes at a place; the number of cells for the place
    /// after the last one.
    pub(super) fn cut(&self, axis: usize, place: u32) -> u64 {
        let (place, ranks) = (u64::from(place), u64::from(self.ranks[axis]));
        place * (self.n[axis] / ranks) + place.min(self.n[axis] % ranks)
    }

    /// The rank that owns each cell, x fastest. `[n_cells]`
    pub fn owners(&self) -> impl Iterator<Item = RankId> {
        let [nx, ny, nz] = self.n;
        let rows = (0..nz).flat_map(move |k| (0..ny).map(move |j| (j, k)));
        rows.flat_map(move |(j, k)| (0..nx).map(move |i| self.owner([i, j, k])))
    }

    /// The rank that owns a cell.
    ///
    /// # Panics
    /// May panic if there is no such cell.
    pub fn owner(&self, ijk: [u64; 3]) -> RankId {
        self.rank_at(std::array::from_fn(|axis| self.place_along(axis, ijk[axis])))
    }

    /// Place of the boxes that have the cells with a number along an axis.
    pub(super) fn place_along(&self, axis: usize, at: u64) -> u32 {
        let ranks = u64::from(self.ranks[axis]);
        let (narrow, wide) = (self.n[axis] / ranks, self.n[axis] % ranks);
        // The first boxes have a cell more.
        let in_wide = wide * (narrow + 1);
        (if at < in_wide { at / (narrow + 1) } else { wide + (at - in_wide) / narrow }) as u32
    }

    /// The rank whose box is at a place.
    pub(super) fn rank_at(&self, place: [u32; 3]) -> RankId {
        RankId(place[0] + self.ranks[0] * (place[1] + self.ranks[1] * place[2]))
    }

    /// True if the ends of an axis are joined.
    pub(super) fn is_joined(&self, axis: usize) -> bool {
        self.joined[axis]
    }
}

/// The divisors of a number, ascending.
fn divisors(of: u32) -> impl Iterator<Item = u32> {
    (1..=of).filter(move |&by| of.is_multiple_of(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [[u8; 2]; 3] = [[1; 2]; 3];

    #[test]
    fn every_cell_is_in_the_box_of_its_owner() {
        for (n, n_ranks) in [([7, 5, 3], 6), ([13, 1, 1], 4), ([4, 9, 1], 5), ([2, 2, 2], 8), ([5, 6, 7], 1)] {
            let boxes = Boxes::new(n, [false; 3], n_ranks, ONE).expect("boxes");
            let mut count = vec![0; n_ranks as usize];
            for (k, j, i) in (0..n[2]).flat_map(|k| (0..n[1]).flat_map(move |j| (0..n[0]).map(move |i| (k, j, i)))) {
                let owner = boxes.owner([i, j, k]);
                let Box3 { start, len } = boxes.box_of(owner);
                assert!([i, j, k].iter().enumerate().all(|(a, &at)| (start[a]..start[a] + len[a]).contains(&at)), "{n:?} {i} {j} {k}");
                count[owner.index()] += 1;
            }
            let sizes: Vec<u64> = (0..n_ranks).map(|rank| boxes.box_of(RankId(rank)).n_cells()).collect();
            assert_eq!(count, sizes, "{n:?}");
        }
    }

    #[test]
    fn few_ranks_get_slabs_and_many_boxes() {
        let ranks = |n_ranks| Boxes::new([100; 3], [false; 3], n_ranks, ONE).expect("boxes").ranks();
        assert_eq!(ranks(2), [1, 1, 2]);
        assert_eq!(ranks(4), [1, 1, 4]);
        assert_eq!(ranks(64), [4, 4, 4]);
        assert_eq!(ranks(4096), [16; 3]);
        // A prime number of ranks has one way alone.
        assert_eq!(ranks(7), [1, 1, 7]);
    }

    #[test]
    fn boxes_are_not_narrower_than_the_reach() {
        let reach = [[3, 2], [3, 3], [0, 0]];
        let boxes = Boxes::new([12, 10, 1], [false; 3], 12, reach).expect("boxes");
        assert_eq!(boxes.ranks(), [4, 3, 1]);
        let error = Boxes::new([12, 10, 1], [false; 3], 13, reach).expect_err("4 x 3 boxes at most");
        assert!(error.to_string().contains("12 x 10 cells cannot be cut into boxes for 13 ranks"), "{error}");
        assert_eq!(error.hint.as_deref(), Some("there can be at most 4 along x, 3 along y"));
        assert!(Boxes::new([3, 1, 1], [false; 3], 4, ONE).is_err());
        assert!(Boxes::new([3, 1, 1], [false; 3], 0, ONE).is_err());
    }
}
