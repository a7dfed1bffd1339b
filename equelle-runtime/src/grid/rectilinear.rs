//! Rectilinear grids: the topology of a Cartesian grid, with widths that differ along the axes.
//!
//! They run as unstructured grids, since kernels in Cartesian form take one width for each axis.

use std::sync::Arc;

use super::arrays::RectilinearNodes;
use super::build::{self, Axes};
use super::{Cartesian, Grid, GridShape};
use crate::error::{Error, ErrorKind};

impl Grid {
    /// A grid of cells with these widths along its axes, in metres; empty along axes beyond `dim`.
    /// Its first node is at the origin. [`Grid::cartesian_shape`] is `None`; entities are numbered
    /// as in a Cartesian grid. No array is built yet.
    ///
    /// # Errors
    /// `Data` if an axis has no cells, a width is not positive and finite or too small to move the
    /// next node, or there are too many cells or faces.
    pub fn rectilinear(dim: usize, widths: [&[f64]; 3]) -> Result<Grid, Error> {
        let mut shape = Cartesian { dim, n: [1; 3], spacing: [1.0; 3], joined: [false; 3], place: None };
        let mut nodes = RectilinearNodes::default();
        for axis in 0..dim.min(3) {
            nodes[axis] = positions(axis, widths[axis])?;
            shape.n[axis] = widths[axis].len();
            if let Some(&last) = nodes[axis].last().filter(|_| !widths[axis].is_empty()) {
                shape.spacing[axis] = last / widths[axis].len() as f64;
            }
        }
        let mut grid = Grid::cartesian(shape)?.as_unstructured();
        grid.shape.rectilinear = Some(Arc::new(nodes));
        Ok(grid)
    }

    /// True if widths of cells differ along an axis of a grid that has a shape.
    pub fn is_rectilinear(&self) -> bool {
        self.shape.rectilinear.is_some()
    }

    /// Positions of the nodes along the axes, one axis after another, where widths differ; else
    /// none.
    pub(crate) fn positions_along_axes(&self) -> impl Iterator<Item = f64> + '_ {
        self.shape.rectilinear.iter().flat_map(|nodes| nodes.iter().flatten().copied())
    }
}

impl GridShape {
    /// Positions along the axes of a grid of this shape.
    pub(super) fn axes(&self, shape: &Cartesian) -> Axes {
        build::axes(shape, self.rectilinear.as_deref())
    }
}

fn positions(axis: usize, widths: &[f64]) -> Result<Vec<f64>, Error> {
    let mut nodes = Vec::with_capacity(widths.len() + 1);
    let mut at = 0.0;
    nodes.push(at);
    for (cell, &width) in widths.iter().enumerate() {
        let next = at + width;
        // Catches a width that is not positive, NaN, infinite sums and lost digits alike.
        if !(next > at && next.is_finite()) {
            let name = ["x", "y", "z"][axis];
            let message = format!("the width of cell {cell} along {name} must be positive and not lost beside {at:?}, not {width:?}");
            return Err(Error::new(ErrorKind::Data, message));
        }
        at = next;
        nodes.push(at);
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Renumber;

    /// 3 x 2 cells of widths 1 2 4 and 1 8: volumes and positions are those of the lines through
    /// the nodes.
    #[test]
    fn volumes_and_centroids_follow_the_widths() {
        let grid = Grid::rectilinear(2, [&[1.0, 2.0, 4.0], &[1.0, 8.0], &[]]).unwrap();
        assert!(grid.cartesian_shape().is_none() && grid.has_shape());
        let geometry = grid.geometry();
        assert_eq!(geometry.cell_volumes, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(geometry.cell_centroids[5], [5.0, 5.0, 0.0]);
        assert_eq!(grid.centroid(crate::EntityKind::Cell, 5), Some([5.0, 5.0, 0.0]));
        // Faces across x first: four in the row of height 1, four in that of height 8.
        assert_eq!(geometry.face_areas[..8], [1.0, 1.0, 1.0, 1.0, 8.0, 8.0, 8.0, 8.0]);
        assert_eq!(geometry.face_centroids[3], [7.0, 0.5, 0.0]);
        assert_eq!(grid.vertex_positions()[11], [7.0, 9.0, 0.0]);
    }

    #[test]
    fn equal_widths_are_a_cartesian_grid() {
        let shape = Cartesian::block([3, 2, 4], [0.5, 0.25, 2.0]);
        let uniform = Grid::cartesian(shape).unwrap();
        let widths: [Vec<f64>; 3] = std::array::from_fn(|axis| vec![shape.spacing[axis]; shape.n[axis]]);
        let mut graded = Grid::rectilinear(3, std::array::from_fn(|axis| &widths[axis][..])).unwrap();
        assert_eq!(graded.geometry(), uniform.geometry());
        assert_eq!(graded.topology(), uniform.topology());
        graded.renumber(Renumber::Yes);
        assert!(graded.is_renumbered());
    }

    #[test]
    fn widths_that_no_grid_has() {
        let message = |widths: [&[f64]; 3]| Grid::rectilinear(2, widths).unwrap_err().message;
        assert_eq!(message([&[1.0, 0.0], &[1.0], &[]]), "the width of cell 1 along x must be positive and not lost beside 1.0, not 0.0");
        assert_eq!(
            message([&[1.0], &[1e300, -1.0], &[]]),
            "the width of cell 1 along y must be positive and not lost beside 1e300, not -1.0"
        );
        assert!(message([&[1.0], &[f64::NAN], &[]]).ends_with("not NaN"));
        assert!(message([&[1e300, 1.0], &[1.0], &[]]).starts_with("the width of cell 1 along x"));
        assert_eq!(message([&[1.0], &[], &[]]), "the grid has no cells along y");
    }
}
