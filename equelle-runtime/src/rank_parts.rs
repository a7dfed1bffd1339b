//! A grid that is cut into a part for each rank of a run.

use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::{Cartesian, Grid, PartBox, Renumber};
use crate::io::Sink;
use crate::params::Parameters;
use crate::program::{HaloNeeds, Program};
use crate::ranks::{Boxes, CellGraph, Partition, RankId, bisection, partition_file};
use crate::session::grid_for_program;

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
    /// The owner of each cell, which the user gives.
    Given(Partition),
    /// The owner of each cell of a grid of arrays.
    Bisection(Partition),
}

impl RankParts {
    /// Cuts the grid of a program for so many ranks: as `partition_file` or `partition` says, into
    /// boxes if it is Cartesian, else by bisection.
    ///
    /// # Errors
    /// Those of the grid, and of `partition_file`; `Data` if it cannot be cut so often.
    pub fn new(
        program: &Program,
        parameters: &Parameters,
        needs: HaloNeeds,
        n_ranks: u32,
        partition: Option<Partition>,
    ) -> Result<RankParts, Error> {
        let grid = grid_for_program(program, parameters)?;
        let given = partition_file::from_parameters(parameters, grid.n_cells(), n_ranks)?.or(partition);
        // Renumbered, a grid with joined sides has no closed forms in one process.
        let is_renumbered = grid.has_joined_sides() && Renumber::from_parameters(parameters)? == Renumber::Yes;
        let shape = grid.closed_shape().filter(|_| !is_renumbered).copied();
        let (grid, cut) = match (given, shape) {
            (Some(partition), _) => (grid.as_unstructured(), Cut::Given(partition)),
            (None, Some(shape)) => {
                let cut = boxes(&shape, needs, n_ranks)?;
                (grid, cut)
            }
            (None, None) => {
                let grid = grid.as_unstructured();
                let partition = bisection::partition(&CellGraph::of(&grid), grid.centroids(EntityKind::Cell), n_ranks)?;
                (grid, Cut::Bisection(partition))
            }
        };
        Ok(RankParts { grid, layers: needs.layers as usize, cut })
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> usize {
        match &self.cut {
            Cut::Boxes { boxes, .. } => boxes.n_ranks() as usize,
            Cut::Given(partition) | Cut::Bisection(partition) => partition.n_ranks(),
        }
    }

    /// Writes the rank that owns each cell where `partition_write` says.
    ///
    /// # Errors
    /// `Data` for a bad parameter; `Io` if it cannot be written.
    pub fn write_owners(&self, parameters: &Parameters, sink: &Sink) -> Result<(), Error> {
        match &self.cut {
            Cut::Boxes { boxes, .. } => partition_file::write_for_parameters(parameters, boxes.owners(), sink),
            Cut::Given(partition) | Cut::Bisection(partition) => {
                partition_file::write_for_parameters(parameters, partition.owners().iter().copied(), sink)
            }
        }
    }

    /// The part of a rank, with its halo.
    ///
    /// # Errors
    /// `Data` for a halo that goes around the grid more than once.
    pub fn part(&self, rank: RankId) -> Result<Grid, Error> {
        match &self.cut {
            Cut::Given(partition) | Cut::Bisection(partition) => self.grid.part_of(partition.owners(), rank, self.layers),
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

/// Boxes of a Cartesian grid. Where sides are joined, an axis with so few cells that the halo of a
/// box meets the box from the other side is not cut.
fn boxes(shape: &Cartesian, HaloNeeds { layers, cuts, wraps }: HaloNeeds, n_ranks: u32) -> Result<Cut, Error> {
    let n = shape.n.map(|n| n as u64);
    let wraps = std::array::from_fn(|axis| (wraps[axis] && cuts[axis]) || shape.joined[axis]);
    let mut axes = cuts;
    loop {
        let boxes = Boxes::cut_along(axes, n, wraps, n_ranks, [[1; 2]; 3]).map_err(|error| uncut(error, cuts, axes))?;
        let is_short = |axis: &usize| {
            let ranks = u64::from(boxes.ranks()[*axis]);
            shape.joined[*axis] && ranks > 1 && n[*axis].div_ceil(ranks) + 2 * u64::from(layers) > n[*axis]
        };
        match (0..3).find(is_short) {
            Some(axis) => axes[axis] = false,
            None => return Ok(Cut::Boxes { boxes, wraps }),
        }
    }
}

/// Adds why axes are not cut to the error of a grid that cannot be cut so often: those that a
/// program allows, and those of them that were tried last.
fn uncut(mut error: Error, allowed: [bool; 3], tried: [bool; 3]) -> Error {
    let names = |is_named: &dyn Fn(usize) -> bool| {
        let names: Vec<&str> = ["x", "y", "z"].into_iter().enumerate().filter(|(axis, _)| is_named(*axis)).map(|(_, name)| name).collect();
        names.join(" and ")
    };
    let reasons = [
        (names(&|axis| !allowed[axis]), "around which the program reads, and whose ends it sees"),
        (names(&|axis| allowed[axis] && !tried[axis]), "whose sides are joined: a box with its halo would meet itself"),
    ];
    for (names, reason) in reasons.into_iter().filter(|(names, _)| !names.is_empty()) {
        let hint = error.hint.take().unwrap_or_default();
        error = error.hint(format!("{hint}; not along {names}, {reason}"));
    }
    error
}
