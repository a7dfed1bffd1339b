//! A grid that is cut into a part for each rank of a run.

use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::{Grid, PartBox};
use crate::program::HaloNeeds;
use crate::ranks::{Boxes, CellGraph, Partition, RankId, bisection};

/// A grid and how it is cut.
pub struct RankParts {
    /// The whole grid, treated as it is on ranks.
    pub grid: Grid,
    /// How it is cut.
    pub cut: Cut,
    layers: usize,
}

/// How a grid is cut.
pub enum Cut {
    /// Boxes of a Cartesian grid.
    Boxes {
        /// The boxes.
        boxes: Boxes,
        /// True for the axes around which the program reads.
        wraps: [bool; 3],
    },
    /// The owner of each cell of a grid of arrays.
    Cells(Partition),
}

impl RankParts {
    /// Cuts a grid for so many ranks: as a partition says, into boxes if it is Cartesian, else by
    /// bisection.
    ///
    /// # Errors
    /// `Data` if it cannot be cut so often.
    pub fn new(grid: Grid, needs: HaloNeeds, n_ranks: u32, partition: Option<Partition>) -> Result<RankParts, Error> {
        let HaloNeeds { layers, cuts, wraps } = needs;
        // Boxes of grids with joined sides miss an error of random program 8401329 on six ranks.
        let shape = grid.cartesian_shape().copied();
        let (grid, cut) = match (partition, shape) {
            (Some(partition), _) => (grid.as_unstructured(), Cut::Cells(partition)),
            (None, Some(shape)) => {
                let n = shape.n.map(|n| n as u64);
                let wraps = std::array::from_fn(|axis| (wraps[axis] && cuts[axis]) || shape.joined[axis]);
                let boxes = Boxes::cut_along(cuts, n, wraps, n_ranks, [[1; 2]; 3]).map_err(|error| uncut(error, cuts))?;
                (grid, Cut::Boxes { boxes, wraps })
            }
            (None, None) => {
                let grid = grid.as_unstructured();
                let partition = bisection::partition(&CellGraph::of(&grid), grid.centroids(EntityKind::Cell), n_ranks)?;
                (grid, Cut::Cells(partition))
            }
        };
        Ok(RankParts { grid, layers: layers as usize, cut })
    }

    /// The part of a rank, with its halo.
    ///
    /// # Errors
    /// `Data` for a halo that goes around the grid more than once.
    pub fn part(&self, rank: RankId) -> Result<Grid, Error> {
        match &self.cut {
            Cut::Cells(partition) => self.grid.part_of(partition.owners(), rank, self.layers),
            Cut::Boxes { boxes, wraps } => {
                let own = boxes.box_of(rank);
                let [start, len] = [own.start, own.len].map(|sizes| sizes.map(|size| size as usize));
                let part = PartBox { start, len, layers: self.layers, wraps: *wraps };
                let boxes = *boxes;
                self.grid.box_of(part, move |ijk| boxes.owner(ijk.map(|at| at as u64)))
            }
        }
    }
}

/// Adds why axes are not cut to the error of a grid that cannot be cut so often.
fn uncut(error: Error, may_be_cut: [bool; 3]) -> Error {
    let names: Vec<&str> = ["x", "y", "z"].into_iter().zip(may_be_cut).filter(|(_, cut)| !cut).map(|(name, _)| name).collect();
    if names.is_empty() {
        return error;
    }
    let most = error.hint.clone().unwrap_or_default();
    error.hint(format!("{most}; not along {}, around which the program reads, and whose ends it sees", names.join(" and ")))
}
