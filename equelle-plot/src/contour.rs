//! Iso-lines of values on cells.
//!
//! Values at vertices are the means of those of their cells. Each cell is a fan of triangles around
//! its centre, in which values are linear.

use std::collections::BTreeMap;

use crate::plane::Plane;

/// Lines where the values, one for each cell, are one of `levels`: pairs of ends.
pub fn segments(plane: &Plane, values: &[f64], levels: &[f64]) -> Vec<[[f64; 2]; 2]> {
    let vertices = vertex_values(plane, values);
    let mut found = Vec::new();
    for (cell, &value) in values.iter().enumerate() {
        let points = plane.polygon(cell);
        if points.len() < 3 || !value.is_finite() {
            continue;
        }
        let n = points.len() as f64;
        let centre = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / n);
        for (index, &point) in points.iter().enumerate() {
            let next = points[(index + 1) % points.len()];
            let corners = [(centre, value), (point, vertices.at(point)), (next, vertices.at(next))];
            for &level in levels {
                found.extend(in_triangle(corners, level));
            }
        }
    }
    found
}

/// Where a linear function has a value in a triangle.
fn in_triangle(corners: [([f64; 2], f64); 3], level: f64) -> Option<[[f64; 2]; 2]> {
    let mut ends = [0, 1, 2].into_iter().filter_map(|at| {
        let ((a, u), (b, v)) = (corners[at], corners[(at + 1) % 3]);
        // Half open, so that a line through a corner has two ends.
        let t = ((u < level) != (v < level)).then(|| (level - u) / (v - u))?;
        t.is_finite().then(|| [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])])
    });
    Some([ends.next()?, ends.next()?])
}

/// Values at points.
struct VertexValues(BTreeMap<[u64; 2], (f64, f64)>);

impl VertexValues {
    fn key(point: [f64; 2]) -> [u64; 2] {
        point.map(f64::to_bits)
    }

    fn at(&self, point: [f64; 2]) -> f64 {
        self.0.get(&VertexValues::key(point)).map_or(f64::NAN, |(sum, n)| sum / n)
    }
}

fn vertex_values(plane: &Plane, values: &[f64]) -> VertexValues {
    let mut sums: BTreeMap<[u64; 2], (f64, f64)> = BTreeMap::new();
    for (cell, &value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        for point in plane.polygon(cell) {
            let (sum, n) = sums.entry(VertexValues::key(point)).or_insert((0.0, 0.0));
            (*sum, *n) = (*sum + value, *n + 1.0);
        }
    }
    VertexValues(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values x at the centres of 4 by 4 unit cells: the line of 2 is x = 2, from y = 0 to 4.
    #[test]
    fn a_linear_field_has_a_straight_line() {
        let plane = Plane::Boxes { n: [4, 4], origin: [0.0; 2], spacing: [1.0; 2] };
        let values: Vec<f64> = (0..16).map(|cell| f64::from(cell % 4) + 0.5).collect();
        let lines = segments(&plane, &values, &[2.0]);
        assert!(lines.iter().flatten().all(|point| point[0] == 2.0), "{lines:?}");
        let length: f64 = lines.iter().map(|[a, b]| (a[1] - b[1]).abs()).sum();
        assert_eq!(length, 4.0);
        assert!(segments(&plane, &[f64::NAN; 16], &[2.0]).is_empty());
    }
}
