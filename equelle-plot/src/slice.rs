//! Grids as planes and lines: two dimensions as they are, three cut by a plane.

use equelle_runtime::grid::CellShape;
use equelle_runtime::vtk::reader::VtkGeometry;
use equelle_runtime::{Error, ErrorKind};

use crate::plane::Plane;

/// A plane across an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// 0, 1 or 2.
    pub axis: usize,
    /// Where the plane is.
    pub at: f64,
}

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// Cells that can be drawn, and the number of each in the grid.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The cells.
    pub plane: Plane,
    /// Which cell of the grid each is; `None` for all of them in order.
    pub cells: Option<Vec<usize>>,
    /// The axes that point to the right and up.
    pub axes: [usize; 2],
}

/// The cells of a grid of two dimensions.
pub fn plane(geometry: &VtkGeometry) -> Plane {
    match geometry {
        VtkGeometry::Boxes { n, origin, spacing } => {
            Plane::Boxes { n: [n[0], n[1].max(1)], origin: [origin[0], origin[1]], spacing: [spacing[0], spacing[1]] }
        }
        VtkGeometry::Cells { points, corners, ends, .. } => Plane::Polygons {
            points: points.iter().map(|point| [point[0], point[1]]).collect(),
            corners: corners.clone(),
            ends: ends.clone(),
        },
    }
}

/// The cells of a grid of one dimension: both ends of each.
pub fn intervals(geometry: &VtkGeometry) -> Vec<[f64; 2]> {
    match geometry {
        VtkGeometry::Boxes { n, origin, spacing } => {
            (0..n[0].max(1)).map(|cell| [cell, cell + 1].map(|end| origin[0] + end as f64 * spacing[0])).collect()
        }
        VtkGeometry::Cells { points, corners, ends, .. } => {
            let mut start = 0;
            let interval = |&end: &usize| {
                let own = corners[start..end].iter().map(|&corner| points[corner as usize][0]);
                start = end;
                own.fold([f64::MAX, f64::MIN], |[low, high], x| [low.min(x), high.max(x)])
            };
            ends.iter().map(interval).collect()
        }
    }
}

/// Least and largest coordinate of a grid along an axis.
pub fn extent(geometry: &VtkGeometry, axis: usize) -> [f64; 2] {
    match geometry {
        VtkGeometry::Boxes { n, origin, spacing } => [origin[axis], origin[axis] + n[axis] as f64 * spacing[axis]],
        VtkGeometry::Cells { points, .. } => {
            points.iter().fold([f64::MAX, f64::MIN], |[low, high], point| [low.min(point[axis]), high.max(point[axis])])
        }
    }
}

/// The cells of a grid of three dimensions in a plane. A plane on a face of cells takes the cells
/// above it, at the upper end of the grid those below.
///
/// # Errors
/// `Usage` if the plane is outside of the grid.
pub fn cut(geometry: &VtkGeometry, slice: Slice) -> Result<Cut, Error> {
    let Slice { axis, at } = slice;
    let [low, high] = extent(geometry, axis);
    if !(low <= at && at <= high) {
        let name = AXES[axis];
        return Err(Error::new(ErrorKind::Usage, format!("the slice {name}={at} is outside of the grid"))
            .hint(format!("the grid reaches from {name}={low} to {name}={high}")));
    }
    let axes = [[1, 2], [0, 2], [0, 1]][axis];
    match geometry {
        VtkGeometry::Boxes { n, origin, spacing } => {
            let layer = (((at - origin[axis]) / spacing[axis]) as usize).min(n[axis] - 1);
            let strides = [1, n[0], n[0] * n[1]];
            let [right, up] = axes;
            let row = |v: usize| (0..n[right]).map(move |u| layer * strides[axis] + u * strides[right] + v * strides[up]);
            let cells = (0..n[up]).flat_map(row).collect();
            let plane = Plane::Boxes {
                n: axes.map(|axis| n[axis]),
                origin: axes.map(|axis| origin[axis]),
                spacing: axes.map(|axis| spacing[axis]),
            };
            Ok(Cut { plane, cells: Some(cells), axes })
        }
        VtkGeometry::Cells { .. } => Ok(cut_cells(geometry, slice, axes, high)),
    }
}

fn cut_cells(geometry: &VtkGeometry, slice: Slice, axes: [usize; 2], high: f64) -> Cut {
    let Slice { axis, at } = slice;
    let (mut found, mut corners_found, mut ends_found, mut cells) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut crossing: Vec<[f64; 2]> = Vec::new();
    let is_at_top = at >= high;
    if let VtkGeometry::Cells { points, ends, .. } = geometry {
        let is_above = |point: [f64; 3]| if is_at_top { point[axis] >= at } else { point[axis] > at };
        for cell in 0..ends.len() {
            crossing.clear();
            edges(geometry, cell, &mut |a, b| {
                // In one order, so that neighbours get the same point.
                let (Some(&a), Some(&b)) = (points.get(a.min(b) as usize), points.get(a.max(b) as usize)) else { return };
                if is_above(a) != is_above(b) {
                    let t = (at - a[axis]) / (b[axis] - a[axis]);
                    crossing.push(axes.map(|axis| a[axis] + t * (b[axis] - a[axis])));
                }
            });
            if crossing.len() < 3 {
                continue;
            }
            let n = crossing.len() as f64;
            let centre = [0, 1].map(|axis| crossing.iter().map(|point| point[axis]).sum::<f64>() / n);
            let angle = |point: &[f64; 2]| (point[1] - centre[1]).atan2(point[0] - centre[0]);
            crossing.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
            crossing.dedup();
            corners_found.extend((0..crossing.len()).map(|corner| (found.len() + corner) as u32));
            found.extend_from_slice(&crossing);
            ends_found.push(found.len());
            cells.push(cell);
        }
    }
    Cut { plane: Plane::Polygons { points: found, corners: corners_found, ends: ends_found }, cells: Some(cells), axes }
}

/// The edges of a cell, each once or twice.
fn edges(geometry: &VtkGeometry, cell: usize, edge: &mut dyn FnMut(u32, u32)) {
    let VtkGeometry::Cells { corners, ends, shapes, faces, .. } = geometry else { return };
    let start_of = |ends: &[usize]| cell.checked_sub(1).map_or(0, |before| ends[before]);
    let mut around = |face: &[u32]| {
        let next = face.iter().skip(1).chain(face.first());
        face.iter().zip(next).for_each(|(&a, &b)| edge(a, b));
    };
    let own = &corners[start_of(ends)..ends[cell]];
    let shape = match shapes[cell] {
        10 => CellShape::Tetrahedron,
        12 => CellShape::Hexahedron,
        13 => CellShape::Prism,
        14 => CellShape::Pyramid,
        _ => {
            if let Some((list, ends)) = faces {
                let mut rest = &list[start_of(ends)..ends[cell]];
                rest = rest.get(1..).unwrap_or_default();
                while let Some((&length, others)) = rest.split_first() {
                    let Some((face, others)) = others.split_at_checked(length as usize) else { break };
                    around(face);
                    rest = others;
                }
            }
            return;
        }
    };
    if own.len() == shape.n_corners() {
        for face in shape.faces() {
            let face: Vec<u32> = face.iter().map(|&corner| own[usize::from(corner)]).collect();
            around(&face);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In 2 by 3 by 4 cells, x = 1.5 takes the upper layer: cells 1, 3, 5, and so on.
    #[test]
    fn a_slice_of_boxes_takes_one_layer() {
        let boxes = VtkGeometry::Boxes { n: [2, 3, 4], origin: [0.0; 3], spacing: [1.0; 3] };
        let found = cut(&boxes, Slice { axis: 0, at: 1.5 }).unwrap();
        assert_eq!((found.axes, found.cells.unwrap()), ([1, 2], (0..12).map(|cell| 2 * cell + 1).collect()));
        let top = cut(&boxes, Slice { axis: 2, at: 4.0 }).unwrap();
        assert_eq!(top.cells.unwrap()[0], 18);
        let error = cut(&boxes, Slice { axis: 1, at: 3.5 }).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("the grid reaches from y=0 to y=3"));
    }

    /// The unit tetrahedron at z = 1/2 is the triangle of half its size.
    #[test]
    fn a_slice_of_a_tetrahedron_is_a_triangle() {
        let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let cells = VtkGeometry::Cells { points, corners: vec![0, 1, 2, 3], ends: vec![4], shapes: vec![10], faces: None };
        let found = cut(&cells, Slice { axis: 2, at: 0.5 }).unwrap();
        let mut triangle = found.plane.polygon(0);
        triangle.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(triangle, [[0.0, 0.0], [0.0, 0.5], [0.5, 0.0]]);
        assert_eq!(cut(&cells, Slice { axis: 2, at: 0.0 }).unwrap().plane.len(), 1);
    }
}
