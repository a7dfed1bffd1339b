//! Cells that can be drawn: polygons of a plane, or intervals of a line.

/// Cells of two dimensions.
#[derive(Clone, Debug, PartialEq)]
pub enum Plane {
    /// Boxes of one size, x fastest.
    Boxes {
        /// Cells along x and y.
        n: [usize; 2],
        /// Lower left corner.
        origin: [f64; 2],
        /// Widths of a cell.
        spacing: [f64; 2],
    },
    /// Polygons.
    Polygons {
        /// Points.
        points: Vec<[f64; 2]>,
        /// Corners of all polygons, one after the other, by point.
        corners: Vec<u32>,
        /// Where the corners of each polygon end.
        ends: Vec<usize>,
    },
}

impl Plane {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Plane::Boxes { n, .. } => n[0] * n[1],
            Plane::Polygons { ends, .. } => ends.len(),
        }
    }

    /// True if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Least and largest coordinates; a side without extent gets one.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        let (mut low, mut high) = match self {
            Plane::Boxes { n, origin, spacing } => (*origin, [0, 1].map(|axis| origin[axis] + n[axis] as f64 * spacing[axis])),
            Plane::Polygons { points, .. } => points.iter().fold(([f64::MAX; 2], [f64::MIN; 2]), |(low, high), point| {
                ([0, 1].map(|axis| low[axis].min(point[axis])), [0, 1].map(|axis| high[axis].max(point[axis])))
            }),
        };
        for axis in 0..2 {
            let has_extent = high[axis] > low[axis] && (high[axis] - low[axis]).is_finite();
            if !has_extent {
                (low[axis], high[axis]) = (-0.5, 0.5);
            }
        }
        [low, high]
    }

    /// The polygon of a cell.
    pub fn polygon(&self, cell: usize) -> Vec<[f64; 2]> {
        match self {
            Plane::Boxes { n, origin, spacing } => {
                let at = [cell % n[0], cell / n[0]];
                let corner =
                    |x: usize, y: usize| [origin[0] + (at[0] + x) as f64 * spacing[0], origin[1] + (at[1] + y) as f64 * spacing[1]];
                vec![corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
            }
            Plane::Polygons { points, corners, ends } => {
                let start = cell.checked_sub(1).map_or(0, |before| ends[before]);
                corners[start..ends[cell]].iter().map(|&corner| points[corner as usize]).collect()
            }
        }
    }
}
