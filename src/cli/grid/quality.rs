//! How well a grid suits a scheme that takes fluxes along the line between centroids.

use equelle_runtime::EntityKind;
use equelle_runtime::grid::{Grid, NONE};

/// Angles from which such a flux has little to do with the gradient.
const STEEP: f64 = 80.0;
/// Ratios from which a cell is thin.
const THIN: f64 = 1000.0;

/// The smallest and the largest value, and where they are in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extremes {
    pub least: (f64, usize),
    pub most: (f64, usize),
}

impl Extremes {
    /// Extremes of values; the first of equal ones.
    fn of(values: impl Iterator<Item = f64>) -> Extremes {
        let start = Extremes { least: (f64::INFINITY, 0), most: (f64::NEG_INFINITY, 0) };
        values.enumerate().fold(start, |extremes, (index, value)| Extremes {
            least: if value < extremes.least.0 { (value, index) } else { extremes.least },
            most: if value > extremes.most.0 { (value, index) } else { extremes.most },
        })
    }
}

/// How many values are from one bin's number up to the next one's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Histogram {
    /// Where bins begin, ascending; the last has no end.
    pub bins: &'static [f64],
    pub counts: Vec<usize>,
    /// The largest value, and where it is in the file.
    pub most: Option<(f64, usize)>,
}

impl Histogram {
    fn new(bins: &'static [f64]) -> Histogram {
        Histogram { bins, counts: vec![0; bins.len()], most: None }
    }

    fn add(&mut self, value: f64, index: usize) {
        self.counts[self.bins.partition_point(|&bin| bin <= value).saturating_sub(1)] += 1;
        if self.most.is_none_or(|(most, _)| value > most) {
            self.most = Some((value, index));
        }
    }
}

/// Measures of a whole grid.
#[derive(Clone, Debug)]
pub(super) struct Quality {
    pub volumes: Extremes,
    pub total_volume: f64,
    /// Sum of the outward area vectors of each cell, relative to its surface.
    pub closure: Extremes,
    /// Cells with a flux of position, which is the volume times the dimension, that is negative.
    pub n_turned: usize,
    /// Degrees between the normal of interior faces and the line from centroid to centroid.
    pub non_orthogonality: Histogram,
    /// Largest over smallest distance from the centroid of a cell to the plane of a face.
    pub aspect: Histogram,
    /// Numbers of cells that hang together, largest first.
    pub components: Vec<usize>,
}

impl Quality {
    pub(super) fn of(grid: &Grid) -> Quality {
        let (topology, geometry) = (grid.topology(), grid.geometry());
        let mut non_orthogonality = Histogram::new(&[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]);
        for (face, &[first, second]) in topology.face_cells.iter().enumerate() {
            // A connection without geometry has no normal.
            if first != NONE && second != NONE && geometry.face_areas[face] > 0.0 {
                let centroids = [first, second].map(|cell| geometry.cell_centroids[cell as usize]);
                let gap = geometry.face_gap(face);
                let way = std::array::from_fn(|axis| centroids[1][axis] + gap[axis] - centroids[0][axis]);
                let cosine = dot(way, geometry.face_normals[face]) / dot(way, way).sqrt();
                // Centroids in the same place have no line between them.
                let angle = cosine.clamp(-1.0, 1.0).acos().to_degrees();
                non_orthogonality.add(if angle.is_nan() { 90.0 } else { angle }, face);
            }
        }
        let mut aspect = Histogram::new(&[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0]);
        let (mut closures, mut n_turned) = (Vec::with_capacity(grid.n_cells()), 0);
        for cell in 0..grid.n_cells() {
            let (mut sum, mut surface, mut flux) = ([0.0; 3], 0.0, 0.0);
            let (mut nearest, mut farthest) = (f64::INFINITY, 0.0_f64);
            for &face in topology.faces_of(cell) {
                let face = face as usize;
                if geometry.face_areas[face] == 0.0 {
                    continue;
                }
                let is_first = topology.face_cells[face][0] == cell as u32;
                let sign = if is_first { 1.0 } else { -1.0 };
                let (area, normal) = (geometry.face_areas[face], geometry.face_normals[face]);
                let height = sign * dot(minus(geometry.side_centroid(face, is_first), geometry.cell_centroids[cell]), normal);
                (0..3).for_each(|axis| sum[axis] += sign * area * normal[axis]);
                surface += area;
                flux += area * height;
                (nearest, farthest) = (nearest.min(height.abs()), farthest.max(height.abs()));
            }
            closures.push(dot(sum, sum).sqrt() / surface);
            n_turned += usize::from(flux < 0.0);
            aspect.add((farthest / nearest).max(1.0), cell);
        }
        Quality {
            volumes: Extremes::of(geometry.cell_volumes.iter().copied()),
            total_volume: grid.measures(EntityKind::Cell).iter().sum(),
            closure: Extremes::of(closures.into_iter()),
            n_turned,
            non_orthogonality,
            aspect,
            components: components(grid),
        }
    }

    /// Warnings of what makes results inaccurate, though the grid can be used.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some((angle, face)) = self.non_orthogonality.most.filter(|(angle, _)| *angle >= STEEP) {
            let n_steep: usize = self
                .non_orthogonality
                .bins
                .iter()
                .zip(&self.non_orthogonality.counts)
                .filter(|(bin, _)| **bin >= STEEP)
                .map(|(_, count)| count)
                .sum();
            warnings.push(format!(
                "{n_steep} faces are at {STEEP} degrees or more to the line between the centroids of their cells, face {face} at {angle:.1}: fluxes by two points are wrong there"
            ));
        }
        if let Some((ratio, cell)) = self.aspect.most.filter(|(ratio, _)| *ratio >= THIN) {
            warnings.push(format!("cell {cell} is {ratio:.0} times as long as thin"));
        }
        if let [_, others @ ..] = &self.components[..]
            && !others.is_empty()
        {
            warnings.push(format!(
                "the grid is in {} parts that no face joins; of the smallest {} cells: systems without a fixed value in each are singular",
                self.components.len(),
                others[others.len() - 1]
            ));
        }
        warnings
    }
}

fn components(grid: &Grid) -> Vec<usize> {
    let topology = grid.topology();
    let mut is_known = vec![false; grid.n_cells()];
    let (mut sizes, mut waiting) = (Vec::new(), Vec::new());
    for start in 0..grid.n_cells() {
        if std::mem::replace(&mut is_known[start], true) {
            continue;
        }
        waiting.push(start);
        let mut size = 0;
        while let Some(cell) = waiting.pop() {
            size += 1;
            for &face in topology.faces_of(cell) {
                for &next in topology.face_cells[face as usize].iter().filter(|&&next| next != NONE) {
                    if !std::mem::replace(&mut is_known[next as usize], true) {
                        waiting.push(next as usize);
                    }
                }
            }
        }
        sizes.push(size);
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use equelle_runtime::grid::{Cartesian, CellShape, GridBuilder};
    use equelle_runtime::threads::Threads;

    /// Boxes of 1 x 2 x 4: distances to faces are 1/2, 1 and 2.
    #[test]
    fn boxes_are_orthogonal() {
        let grid =
            Grid::cartesian(Cartesian { dim: 3, n: [2, 2, 1], spacing: [1.0, 2.0, 4.0], joined: [false; 3], place: None }).expect("a grid");
        let quality = Quality::of(&grid);
        assert_eq!(quality.non_orthogonality.counts[0], 4);
        assert_eq!((quality.aspect.counts[1], quality.aspect.most), (4, Some((4.0, 0))));
        assert_eq!((quality.volumes.least, quality.total_volume), ((8.0, 0), 32.0));
        assert_eq!((quality.closure.most.0, quality.n_turned, &quality.components[..]), (0.0, 0, &[4][..]));
        assert!(quality.warnings().is_empty());
    }

    /// Two triangles, with centroids (1/3, 1/3) and (11/3, 4/3) and the common edge from (1, 0) to
    /// (0, 1): the line between them, (10, 3), and the normal, (1, 1), have the cosine 13 over the
    /// root of 218. Apart from them a thin one, a thousand times as long as high.
    #[test]
    fn triangles_at_an_angle_and_one_apart() {
        let nodes = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [10.0, 3.0], [20.0, 0.0], [2020.0, 0.0], [20.0, 1.0]].map(|[x, y]| [x, y, 0.0]);
        let mut builder = GridBuilder::new(2, nodes.to_vec()).expect("nodes");
        for corners in [[0, 1, 2], [1, 3, 2], [4, 5, 6]] {
            builder.add(CellShape::Triangle, &corners).expect("a cell");
        }
        let quality = Quality::of(&builder.build(&Threads::one()).expect("a grid"));
        let angle = (13.0 / (2.0 * (100.0 + 9.0_f64)).sqrt()).acos().to_degrees();
        let (found, face) = quality.non_orthogonality.most.expect("an interior face");
        // An angle near 30 degrees loses no digits.
        assert!((found - angle).abs() < 1e-12 && face == 1, "{found} {angle}");
        assert_eq!(quality.components, [2, 1]);
        let warnings = quality.warnings();
        assert!(warnings[0].starts_with("cell 2 is ") && warnings[1].contains("2 parts"), "{warnings:?}");
    }
}
