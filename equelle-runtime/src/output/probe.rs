//! Cells that contain the points of probes.

use super::component::component;
use super::field::{Field, FieldValues};
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::{Grid, NONE};
use crate::number::write_shortest;

/// A point counts as inside of a cell up to this part of the cell's size beyond a face.
const ROUNDING: f64 = 1e-9;

/// Faces of a mesh need not be flat: between two cells may be a gap of this part of their size.
const GAP: f64 = 0.1;

/// A probe: a point, and the cell that contains it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probe {
    /// `(0.5 0.25)`, for names of columns.
    pub name: String,
    /// Index of the cell in the grid's file.
    pub cell: u32,
}

impl Probe {
    /// Names and values of a collection at this point, by component; none if it is not on cells or
    /// not on this one.
    pub(super) fn cells(&self, field: &Field) -> Vec<(String, f64)> {
        if field.support.kind != EntityKind::Cell {
            return Vec::new();
        }
        let position = match &field.support.subset {
            None => Some(self.cell as usize),
            Some(subset) => subset.binary_search(&self.cell).ok(),
        };
        let Some(position) = position else { return Vec::new() };
        let values: Vec<f64> = match &field.values {
            FieldValues::F64(columns) => columns.iter().map(|column| column[position]).collect(),
            FieldValues::F32(columns) => columns.iter().map(|column| f64::from(column[position])).collect(),
            FieldValues::Bool(values) => vec![f64::from(values[position])],
            // Indices have 32 bits.
            FieldValues::Entity(values) => vec![values[position] as f64],
        };
        let is_vector = values.len() > 1;
        let named = |(axis, value)| (component(&field.tag, axis, is_vector) + &self.name, value);
        values.into_iter().enumerate().map(named).collect()
    }
}

/// Locates the points of probes, each with one coordinate per dimension.
///
/// # Errors
/// `Data` for a wrong number of coordinates, a point outside of the grid, and a grid without
/// normals of faces.
pub(super) fn locate(grid: &Grid, points: &[Vec<f64>]) -> Result<Vec<Probe>, Error> {
    points.iter().map(|point| locate_one(grid, point)).collect()
}

fn locate_one(grid: &Grid, coordinates: &[f64]) -> Result<Probe, Error> {
    let shown = shown(coordinates);
    let dim = grid.dim();
    if coordinates.len() != dim {
        let message = format!("the probe ({shown}) has {} coordinates, the grid has {dim} dimensions", coordinates.len());
        return Err(Error::new(ErrorKind::Data, message));
    }
    let mut point = [0.0; 3];
    point[..dim].copy_from_slice(coordinates);
    let cell = match grid.cell_of_shape(point) {
        Some(found) => found,
        None if grid.geometry().face_normals.len() != grid.n_faces() || grid.geometry().cell_volumes.len() != grid.n_cells() => {
            return Err(Error::new(ErrorKind::Data, "parameter `probe` needs a grid with normals of faces and volumes of cells"));
        }
        None => nearest(grid, point),
    };
    match cell {
        Some(cell) => Ok(Probe { name: format!("({shown})"), cell: grid.file_index(EntityKind::Cell, cell) }),
        None => {
            let message = format!("the probe ({shown}) is outside of the grid");
            Err(Error::new(ErrorKind::Data, message).hint("give probe=X,Y,Z in metres, within the grid"))
        }
    }
}

/// The cell that contains a point of a grid of arrays. Cells count as convex.
fn nearest(grid: &Grid, point: [f64; 3]) -> Option<u32> {
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let mut best: Option<(f64, u32, bool)> = None;
    for cell in 0..grid.n_cells() {
        let size = geometry.cell_volumes[cell].abs().powf(1.0 / grid.dim() as f64);
        let (mut beyond, mut at_boundary) = (f64::NEG_INFINITY, false);
        for &face in topology.faces_of(cell) {
            let face = face as usize;
            let [first, second] = topology.face_cells[face];
            let is_first = first as usize == cell;
            let sign = if is_first { 1.0 } else { -1.0 };
            let (centre, normal) = (geometry.side_centroid(face, is_first), geometry.face_normals[face]);
            let distance = sign * (0..3).map(|axis| (point[axis] - centre[axis]) * normal[axis]).sum::<f64>() / size;
            at_boundary |= distance > ROUNDING && (first == NONE || second == NONE);
            beyond = beyond.max(distance);
        }
        // The first of several: a point of a face belongs to the cell with the smaller number.
        if best.is_none_or(|(least, _, _)| beyond.max(ROUNDING) < least) {
            best = Some((beyond.max(ROUNDING), cell as u32, at_boundary));
        }
        if beyond <= ROUNDING {
            break;
        }
    }
    best.filter(|&(beyond, _, at_boundary)| beyond <= ROUNDING || (!at_boundary && beyond < GAP)).map(|(_, cell, _)| cell)
}

/// `0.5 0.25`
fn shown(coordinates: &[f64]) -> String {
    let mut text = String::new();
    for (index, &coordinate) in coordinates.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        write_shortest(&mut text, coordinate);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Cartesian;

    fn cells(grid: &Grid, points: &[&[f64]]) -> Vec<Option<u32>> {
        points.iter().map(|point| locate_one(grid, point).ok().map(|probe| probe.cell)).collect()
    }

    /// The same points on the shape and on its arrays: 4 x 3 cells of 0.5 x 1.
    #[test]
    fn the_cell_that_contains_a_point() {
        let shape = Cartesian::plane([4, 3], [0.5, 1.0]);
        let of_shape = Grid::cartesian(shape).unwrap();
        let mut of_arrays = Grid::cartesian(shape).unwrap().as_unstructured();
        let points: [&[f64]; 8] =
            [&[0.1, 0.1], &[1.9, 2.9], &[0.5, 0.5], &[1.25, 1.5], &[0.0, 0.0], &[2.0, 3.0], &[2.01, 1.0], &[0.1, -0.1]];
        let expected = [Some(0), Some(11), Some(0), Some(6), Some(0), Some(11), None, None];
        assert_eq!(cells(&of_shape, &points), expected);
        assert_eq!(cells(&of_arrays, &points), expected);
        let arrays = Grid::unstructured(2, of_arrays.topology().clone(), of_arrays.geometry().clone()).unwrap();
        assert_eq!(cells(&arrays, &points), expected);
        // Numbers are those of the file, however the grid is numbered.
        of_arrays.renumber(crate::grid::Renumber::Yes);
        assert_eq!(cells(&of_arrays, &points), expected);
    }

    /// Two cells over each other with a gap between their sides of the face.
    #[test]
    fn a_point_beside_a_gap() {
        let line = Grid::cartesian(Cartesian::line(2, 1.0)).unwrap();
        let mut geometry = line.geometry().clone();
        geometry.cell_centroids[1][0] += 1.0;
        geometry.face_centroids[2][0] += 1.0;
        geometry.face_gaps = vec![[0.0; 3], [-1.0, 0.0, 0.0], [0.0; 3]];
        let grid = Grid::unstructured(1, line.topology().clone(), geometry).unwrap();
        assert_eq!(cells(&grid, &[&[0.5], &[1.5], &[2.5]]), [Some(0), None, Some(1)]);
    }

    #[test]
    fn widths_that_differ() {
        let grid = Grid::rectilinear(1, [&[1.0, 2.0, 4.0], &[], &[]]).unwrap();
        assert_eq!(cells(&grid, &[&[0.5], &[2.5], &[3.5], &[7.0], &[7.5]]), [Some(0), Some(1), Some(2), Some(2), None]);
    }

    #[test]
    fn what_is_wrong_with_a_point() {
        let grid = Grid::cartesian(Cartesian::plane([4, 3], [0.5, 1.0])).unwrap();
        let message = |point: &[f64]| locate_one(&grid, point).unwrap_err().message;
        assert_eq!(message(&[0.5]), "the probe (0.5) has 1 coordinates, the grid has 2 dimensions");
        assert_eq!(message(&[0.5, 3.5]), "the probe (0.5 3.5) is outside of the grid");
        assert_eq!(message(&[f64::NAN, 0.5]), "the probe (nan 0.5) is outside of the grid");
    }
}
