//! Cells of a corner-point grid as columns, and the nodes on its pillars.
//!
//! Corners at the same depth of a pillar are one node. Nodes of a pillar have ascending numbers
//! with depth, so that comparing numbers compares depths exactly.

use crate::grid::NONE;

/// Depths on a pillar that differ by less than this part of the extent of all depths are equal.
const EQUAL: f64 = 1e-10;

/// Pillars and depths of a corner-point grid, in metres.
#[derive(Clone, Debug)]
pub(super) struct CornerPoint {
    /// Numbers of cells along the axes.
    pub n: [usize; 3],
    /// Two points of each pillar. `[6 (nx + 1) (ny + 1)]`
    pub coord: Vec<f64>,
    /// Depths of corners. `[2 nx, 2 ny, 2 nz]`, the first axis fastest
    pub zcorn: Vec<f64>,
    /// True if a cell is there. `[nx ny nz]`
    pub is_active: Vec<bool>,
    /// Cells that are not there for their small pore volume. `[nx ny nz]`
    pub is_small: Vec<bool>,
}

/// Errors in the corners of a cell, numbered as in the deck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CornerError {
    /// Two points of a pillar are at the same depth, but not in the same place.
    FlatPillar { pillar: usize },
    /// The bottom of a cell is above its top.
    BottomAboveTop { cell: usize, corner: usize },
    /// A cell begins above the middle of the one above it.
    BeginsAbove { cell: usize, corner: usize },
    /// Pillars cross between or at the corners of a cell.
    CrossedPillars { cell: usize },
    /// More than fit in 32-bit indices.
    TooManyNodes,
}

impl CornerPoint {
    pub(super) fn n_cells(&self) -> usize {
        self.n.iter().product()
    }

    /// I, J and K of a cell, from 0.
    pub(super) fn ijk(&self, cell: usize) -> [usize; 3] {
        [cell % self.n[0], cell / self.n[0] % self.n[1], cell / (self.n[0] * self.n[1])]
    }

    /// Where the depth of a corner stands, of which the bits are its ends along the axes.
    pub(super) fn depth_index(&self, [i, j, k]: [usize; 3], corner: usize) -> usize {
        let [x, y, z] = [2 * i + (corner & 1), 2 * j + (corner >> 1 & 1), 2 * k + (corner >> 2)];
        (z * 2 * self.n[1] + y) * 2 * self.n[0] + x
    }

    pub(super) fn depth(&self, ijk: [usize; 3], corner: usize) -> f64 {
        self.zcorn[self.depth_index(ijk, corner)]
    }

    fn pillar(&self, [i, j, _]: [usize; 3], corner: usize) -> usize {
        (j + (corner >> 1 & 1)) * (self.n[0] + 1) + i + (corner & 1)
    }

    /// The point of a pillar at a depth.
    fn point(&self, pillar: usize, z: f64) -> [f64; 3] {
        let ends = &self.coord[6 * pillar..6 * pillar + 6];
        let height = ends[5] - ends[2];
        if height == 0.0 {
            return [ends[0], ends[1], z];
        }
        let s = (z - ends[2]) / height;
        [ends[0] + s * (ends[3] - ends[0]), ends[1] + s * (ends[4] - ends[1]), z]
    }

    /// The corners of a cell.
    pub(super) fn corners(&self, cell: usize) -> [[f64; 3]; 8] {
        let ijk = self.ijk(cell);
        std::array::from_fn(|corner| self.point(self.pillar(ijk, corner), self.depth(ijk, corner)))
    }
}

/// Volume and centroid within the corners of a cell, numbered by bits, whose sides are surfaces
/// around the mean of their corners.
pub(super) fn measure(corners: &[[f64; 3]; 8]) -> (f64, [f64; 3]) {
    let minus = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [3, 2, 6, 7], [0, 4, 6, 2], [1, 3, 7, 5]];
    let (mut six_times, mut moment) = (0.0, [0.0; 3]);
    for (side, at) in sides.iter().flat_map(|side| (0..4).map(move |at| (side, at))) {
        let mean: [f64; 3] = std::array::from_fn(|axis| side.iter().map(|&corner| corners[corner][axis]).sum::<f64>() / 4.0);
        let [a, b, c] = [mean, corners[side[at]], corners[side[(at + 1) % 4]]].map(|point| minus(point, corners[0]));
        let part = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
        six_times += part;
        // A tetrahedron with a corner at the origin.
        (0..3).for_each(|axis| moment[axis] += 0.25 * part * (a[axis] + b[axis] + c[axis]));
    }
    (six_times.abs() / 6.0, std::array::from_fn(|axis| corners[0][axis] + moment[axis] / six_times))
}

/// The cells that are there, and their nodes.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Number of each cell in the deck. `[n_cells]`
    pub cells: Vec<u32>,
    /// Nodes of each cell, by the bits of the corner. `[n_cells]`
    pub corners: Vec<[u32; 8]>,
    /// Start of the cells of each column. `[nx ny + 1]`
    pub column_pos: Vec<u32>,
    /// Cells of columns, downwards. `[n_cells]`
    pub column_cells: Vec<u32>,
    /// `[n_nodes]`
    pub positions: Vec<[f64; 3]>,
    /// True if the cells turn the other way round: x, y and depth are left-handed.
    pub is_left_handed: bool,
    /// Cells that begin above the end of the cell above them, by their index in `cells`, with the
    /// overlap in metres.
    pub overlaps: Vec<(usize, f64)>,
}

impl Columns {
    /// # Errors
    /// The first cell with corners that are out of order, or pillars that cross.
    pub(super) fn new(grid: &CornerPoint, trust: bool) -> Result<Columns, CornerError> {
        for (pillar, ends) in grid.coord.chunks_exact(6).enumerate() {
            if ends[2] == ends[5] && ends[..2] != ends[3..5] {
                return Err(CornerError::FlatPillar { pillar });
            }
        }
        let extent = grid.zcorn.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &z| [low.min(z), high.max(z)]);
        let equal = EQUAL * (extent[1] - extent[0]);
        let mut cells = Vec::new();
        // The cell above in each column, as far as it is there.
        let mut above: Vec<u32> = vec![NONE; grid.n[0] * grid.n[1]];
        let mut overlaps = Vec::new();
        for cell in 0..grid.n_cells() {
            if !grid.is_active[cell] {
                continue;
            }
            let ijk = grid.ijk(cell);
            let mut is_thick = false;
            let mut own_overlap = 0.0_f64;
            let last = &mut above[ijk[1] * grid.n[0] + ijk[0]];
            for corner in 0..4 {
                let (top, bottom) = (grid.depth(ijk, corner), grid.depth(ijk, corner + 4));
                if bottom < top - equal {
                    return Err(CornerError::BottomAboveTop { cell, corner });
                }
                is_thick |= bottom > top + equal;
                if *last != NONE {
                    let ends = [0, 4].map(|end| grid.depth(grid.ijk(*last as usize), corner + end));
                    if top < 0.5 * (ends[0] + ends[1]) - equal && !trust {
                        return Err(CornerError::BeginsAbove { cell, corner });
                    }
                    own_overlap = own_overlap.max(ends[1] - top);
                }
            }
            if is_thick {
                if own_overlap > equal {
                    overlaps.push((cells.len(), own_overlap));
                }
                cells.push(cell as u32);
                *last = cell as u32;
            }
        }
        drop(above);
        let (column_pos, column_cells) = columns(grid, &cells);
        let mut columns = Columns {
            corners: vec![[0; 8]; cells.len()],
            cells,
            column_pos,
            column_cells,
            positions: Vec::new(),
            is_left_handed: false,
            overlaps,
        };
        columns.number_nodes(grid, equal)?;
        columns.check_handedness()?;
        Ok(columns)
    }

    /// The number of a cell of the deck here, if it is there.
    pub(super) fn index_of(&self, cell: usize) -> Option<u32> {
        self.cells.binary_search(&(cell as u32)).ok().map(|index| index as u32)
    }

    /// Cells of a column, downwards.
    pub(super) fn cells_in_column(&self, column: usize) -> &[u32] {
        &self.column_cells[self.column_pos[column] as usize..self.column_pos[column + 1] as usize]
    }

    fn number_nodes(&mut self, grid: &CornerPoint, equal: f64) -> Result<(), CornerError> {
        let [nx, ny, _] = grid.n;
        // Depth, cell and corner of all corners on a pillar.
        let mut on_pillar: Vec<(f64, u32, u8)> = Vec::new();
        for pillar in 0..(nx + 1) * (ny + 1) {
            let (i, j) = (pillar % (nx + 1), pillar / (nx + 1));
            on_pillar.clear();
            for corner in 0..4_usize {
                let (di, dj) = (corner & 1, corner >> 1);
                let (Some(ci), Some(cj)) = (i.checked_sub(di), j.checked_sub(dj)) else { continue };
                if ci >= nx || cj >= ny {
                    continue;
                }
                for &cell in self.cells_in_column(cj * nx + ci) {
                    let ijk = grid.ijk(self.cells[cell as usize] as usize);
                    on_pillar.extend([corner, corner + 4].map(|corner| (grid.depth(ijk, corner), cell, corner as u8)));
                }
            }
            on_pillar.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let mut last = f64::NEG_INFINITY;
            for &(z, cell, corner) in &on_pillar {
                if z > last + equal || last == f64::NEG_INFINITY {
                    self.positions.push(grid.point(pillar, z));
                }
                last = z;
                self.corners[cell as usize][usize::from(corner)] = self.positions.len() as u32 - 1;
            }
            if self.positions.len() >= (NONE / 2) as usize {
                return Err(CornerError::TooManyNodes);
            }
        }
        Ok(())
    }

    /// All cells turn the same way in the map, at their tops and bottoms.
    fn check_handedness(&mut self) -> Result<(), CornerError> {
        let mut turns = None;
        for (cell, corners) in self.corners.iter().enumerate() {
            for lid in [[0, 1, 3, 2], [4, 5, 7, 6]] {
                let points = lid.map(|corner: usize| self.positions[corners[corner] as usize]);
                let cross = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
                let area = cross(points[0], points[1], points[2]) + cross(points[0], points[2], points[3]);
                let is_left = area < 0.0;
                let n_turned = (0..4).filter(|&at| {
                    let turn = cross(points[at], points[(at + 1) % 4], points[(at + 2) % 4]);
                    if is_left { turn > 0.0 } else { turn < 0.0 }
                });
                // In a quadrangle whose sides do not cross, one corner at most turns the other way.
                if area == 0.0 || n_turned.count() > 1 || *turns.get_or_insert(is_left) != is_left {
                    return Err(CornerError::CrossedPillars { cell: self.cells[cell] as usize });
                }
            }
        }
        self.is_left_handed = turns.unwrap_or(false);
        Ok(())
    }
}

fn columns(grid: &CornerPoint, cells: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let n_columns = grid.n[0] * grid.n[1];
    let column_of = |cell: u32| cell as usize % n_columns;
    let mut column_pos = vec![0_u32; n_columns + 1];
    cells.iter().for_each(|&cell| column_pos[column_of(cell) + 1] += 1);
    (0..n_columns).for_each(|column| column_pos[column + 1] += column_pos[column]);
    let mut next = column_pos.clone();
    let mut column_cells = vec![0; cells.len()];
    for (index, &cell) in cells.iter().enumerate() {
        let place = &mut next[column_of(cell)];
        column_cells[*place as usize] = index as u32;
        *place += 1;
    }
    (column_pos, column_cells)
}
