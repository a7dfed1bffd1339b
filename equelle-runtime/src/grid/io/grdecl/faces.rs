//! Faces of a corner-point grid: polygons between columns, and tops and bottoms of cells.

use std::collections::HashMap;

use super::clip::{ABOVE, BELOW, Clipper, Corner, Edge, Interval, Line};
use super::columns::{Columns, CornerPoint};
use super::connections::Connections;
use crate::grid::{NONE, Nodes, Topology};

/// Faces, and which side of a cell each is.
#[derive(Debug, Default)]
pub(super) struct Faces {
    /// First and second cell. `[n_faces]`
    pub face_cells: Vec<[u32; 2]>,
    pub nodes: Nodes,
    /// Where the faces across the first and the second axis end.
    pub ends: [usize; 2],
    /// Number of faces with geometry, behind which connections without it are.
    pub n_with_geometry: usize,
    /// True if the first cell is the one with the smaller index along the axis, or the face its end
    /// with the larger one. `[n_faces]`
    pub first_is_low: Vec<bool>,
}

/// Cells of the deck on both sides of a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceSides {
    pub axis: usize,
    /// On the side with the smaller index along the axis, and on the other.
    pub cells: [Option<usize>; 2],
}

impl FaceSides {
    /// True if both cells are there, and are neighbours by index.
    pub(super) fn are_neighbours(self, n: [usize; 3]) -> bool {
        let step = [1, n[0], n[0] * n[1]][self.axis];
        matches!(self.cells, [Some(low), Some(high)] if high == low + step)
    }
}

/// Crossings of two lines.
#[derive(Debug, Default)]
struct Crossings {
    /// Node by the line of the column with the smaller index, and that of the other.
    nodes: HashMap<[Line; 2], u32>,
    /// Nodes on each line, with how far they are along it.
    on_line: HashMap<Line, Vec<(f64, u32)>>,
}

impl Crossings {
    fn node(&mut self, lines: [Line; 2], positions: &mut Vec<[f64; 3]>) -> u32 {
        if let Some(&node) = self.nodes.get(&lines) {
            return node;
        }
        let ends = lines.map(|line| line.map(|node| positions[node as usize]));
        let gap = [ends[1][0][2] - ends[0][0][2], ends[1][1][2] - ends[0][1][2]];
        let s = (gap[0] / (gap[0] - gap[1])).clamp(0.0, 1.0);
        // On pillars that do not lie in a plane the lines pass each other: halfway between them.
        let at = |axis: usize, line: usize| ends[line][0][axis] + s * (ends[line][1][axis] - ends[line][0][axis]);
        positions.push(std::array::from_fn(|axis| 0.5 * (at(axis, 0) + at(axis, 1))));
        let node = positions.len() as u32 - 1;
        self.nodes.insert(lines, node);
        for line in lines {
            self.on_line.entry(line).or_default().push((s, node));
        }
        node
    }
}

/// Sides of cells that two columns share, as intervals between two pillars.
struct Row {
    low: Vec<Interval>,
    high: Vec<Interval>,
}

impl Faces {
    /// Builds the faces of all columns. Adds the nodes where lines cross.
    pub(super) fn new(grid: &CornerPoint, columns: &mut Columns, connections: &Connections<'_>) -> Faces {
        let [nx, ny, _] = grid.n;
        let mut faces = Faces::default();
        faces.nodes.face_node_pos.push(0);
        let mut crossings = Crossings::default();
        let mut clipper = Clipper::default();
        let mut row = Row { low: Vec::new(), high: Vec::new() };
        // Corners of the two pillars, on the high side of a cell and on its low side.
        let corners = [[[1, 3], [0, 2]], [[2, 3], [0, 1]]];
        for (axis, corners) in corners.into_iter().enumerate() {
            let of_axis = if axis == 0 { [nx + 1, ny] } else { [nx, ny + 1] };
            for j in 0..of_axis[1] {
                for i in 0..of_axis[0] {
                    let column = |i: usize, j: usize| (i < nx && j < ny).then_some(j * nx + i);
                    let before =
                        if axis == 0 { i.checked_sub(1).and_then(|i| column(i, j)) } else { j.checked_sub(1).and_then(|j| column(i, j)) };
                    intervals(columns, before, corners[0], &mut row.low);
                    intervals(columns, column(i, j), corners[1], &mut row.high);
                    faces.between(&row, axis, columns, &mut crossings, &mut clipper);
                }
            }
            faces.ends[axis] = faces.face_cells.len();
        }
        crossings.on_line.values_mut().for_each(|nodes| nodes.sort_by(|a, b| a.0.total_cmp(&b.0)));
        (0..nx * ny).for_each(|column| faces.lids(connections, columns, column, &crossings));
        faces.n_with_geometry = faces.face_cells.len();
        faces
    }

    /// Adds a connection of two cells without geometry.
    pub(super) fn add_connection(&mut self, cells: [u32; 2]) {
        self.end_face(self.nodes.face_nodes.len(), cells, true, true);
    }

    /// Faces between two columns.
    fn between(&mut self, row: &Row, axis: usize, columns: &mut Columns, crossings: &mut Crossings, clipper: &mut Clipper) {
        // From the first pillar to the second, then down: that is along the first axis, against
        // the second.
        let is_along = (axis == 0) != columns.is_left_handed;
        let mut start = 0;
        for own in row.low.iter().filter(|own| own.cell.is_some()) {
            while row.high.get(start).is_some_and(|other| other.is_above(own)) {
                start += 1;
            }
            for other in row.high[start..].iter().take_while(|other| !own.is_above(other)) {
                let cells = [own.cell.unwrap_or(NONE), other.cell.unwrap_or(NONE)];
                self.polygon(clipper.shared(own, other), cells, true, is_along, |lines| crossings.node(lines, &mut columns.positions));
            }
        }
        start = 0;
        for own in row.high.iter().filter(|own| own.cell.is_some()) {
            while row.low.get(start).is_some_and(|other| other.is_above(own)) {
                start += 1;
            }
            for other in row.low[start..].iter().take_while(|other| !own.is_above(other)).filter(|other| other.cell.is_none()) {
                let cells = [own.cell.unwrap_or(NONE), NONE];
                self.polygon(clipper.shared(own, other), cells, false, !is_along, |[own, other]| {
                    crossings.node([other, own], &mut columns.positions)
                });
            }
        }
    }

    /// A polygon; `is_outward` if its corners turn such that its normal leaves the first cell.
    fn polygon(
        &mut self,
        corners: &[(Corner, Edge)],
        cells: [u32; 2],
        first_is_low: bool,
        is_outward: bool,
        mut crossing: impl FnMut([Line; 2]) -> u32,
    ) {
        if corners.is_empty() {
            return;
        }
        let start = self.nodes.face_nodes.len();
        let nodes = &mut self.nodes.face_nodes;
        for (at, (corner, edge)) in corners.iter().enumerate() {
            match *corner {
                Corner::Crossing { own, other } => nodes.push(crossing([own, other])),
                Corner::Node { end, node } => {
                    nodes.push(node);
                    // Other nodes of the pillar between two corners.
                    if let (Edge::Pillar(along), (Corner::Node { end: next_end, node: next }, _)) =
                        (*edge, corners[(at + 1) % corners.len()])
                        && along == end
                        && end == next_end
                    {
                        if node < next {
                            nodes.extend(node + 1..next);
                        } else {
                            nodes.extend((next + 1..node).rev());
                        }
                    }
                }
            }
        }
        self.end_face(start, cells, first_is_low, is_outward);
    }

    /// Ends a face: its first cell is the one with the smaller number.
    fn end_face(&mut self, start: usize, cells: [u32; 2], first_is_low: bool, is_outward: bool) {
        let is_swapped = cells[1] < cells[0];
        if is_outward == is_swapped {
            self.nodes.face_nodes[start..].reverse();
        }
        self.nodes.face_node_pos.push(self.nodes.face_nodes.len());
        self.face_cells.push(if is_swapped { [cells[1], cells[0]] } else { cells });
        self.first_is_low.push(first_is_low != is_swapped);
    }

    /// Tops and bottoms of the cells of a column. A face between two cells has two sides where the
    /// bottom of the one is not the top of the other.
    fn lids(&mut self, connections: &Connections<'_>, columns: &Columns, column: usize, crossings: &Crossings) {
        let cells = columns.cells_in_column(column);
        let ends = |cell: u32, end: usize| -> [u32; 4] { std::array::from_fn(|corner| columns.corners[cell as usize][4 * end + corner]) };
        let is_down = !columns.is_left_handed;
        let mut is_joined = false;
        for (at, &cell) in cells.iter().enumerate() {
            if !is_joined {
                self.lid(ends(cell, 0), [cell, NONE], false, !is_down, crossings);
            }
            let below = cells.get(at + 1).copied().filter(|&below| connections.are_joined(columns, cell, below));
            self.lid(ends(cell, 1), [cell, below.unwrap_or(NONE)], true, is_down, crossings);
            is_joined = below.is_some();
            if let Some(top) = below.map(|below| ends(below, 0)).filter(|top| *top != ends(cell, 1)) {
                let face = self.face_cells.len() as u32 - 1;
                let mut nodes = around(top, crossings);
                // Turned as the first side is, whose cell has the smaller number.
                if !is_down {
                    nodes.reverse();
                }
                self.nodes.second_sides.insert(face, nodes);
            }
        }
    }

    fn lid(&mut self, corners: [u32; 4], cells: [u32; 2], first_is_low: bool, is_outward: bool, crossings: &Crossings) {
        let start = self.nodes.face_nodes.len();
        self.nodes.face_nodes.extend(around(corners, crossings));
        self.end_face(start, cells, first_is_low, is_outward);
    }

    /// Cells of the deck on both sides of a face with geometry, by the cells of the grid that it
    /// has.
    pub(super) fn sides(&self, face: usize, face_cells: [u32; 2], cells: &[u32]) -> FaceSides {
        let axis = self.ends.iter().filter(|&&end| face >= end).count();
        let [first, second] = face_cells.map(|cell| (cell != NONE).then(|| cells[cell as usize] as usize));
        FaceSides { axis, cells: if self.first_is_low[face] { [first, second] } else { [second, first] } }
    }

    /// Faces of cells.
    pub(super) fn topology(&mut self, n_cells: usize) -> Topology {
        let mut cell_face_pos = vec![0_usize; n_cells + 1];
        for &cell in self.face_cells.iter().flatten().filter(|&&cell| cell != NONE) {
            cell_face_pos[cell as usize + 1] += 1;
        }
        (0..n_cells).for_each(|cell| cell_face_pos[cell + 1] += cell_face_pos[cell]);
        let mut cell_faces = vec![0; cell_face_pos[n_cells]];
        // Each start becomes the end, which is the next start.
        for (face, cells) in self.face_cells.iter().enumerate() {
            for &cell in cells.iter().filter(|&&cell| cell != NONE) {
                let place = &mut cell_face_pos[cell as usize];
                cell_faces[*place] = face as u32;
                *place += 1;
            }
        }
        cell_face_pos.rotate_right(1);
        cell_face_pos[0] = 0;
        Topology { cell_face_pos, cell_faces, face_cells: std::mem::take(&mut self.face_cells) }
    }
}

/// Nodes around the top or bottom of a cell.
fn around(corners: [u32; 4], crossings: &Crossings) -> Vec<u32> {
    let mut around = Vec::with_capacity(4);
    // Lines go from the pillar with the smaller index to the other.
    for (from, to, is_forwards) in [(0, 1, true), (1, 3, true), (3, 2, false), (2, 0, false)] {
        around.push(corners[from]);
        let line = if is_forwards { [corners[from], corners[to]] } else { [corners[to], corners[from]] };
        if crossings.on_line.is_empty() {
            continue;
        }
        let Some(nodes) = crossings.on_line.get(&line) else { continue };
        let nodes = nodes.iter().map(|&(_, node)| node);
        if is_forwards { around.extend(nodes) } else { around.extend(nodes.rev()) }
    }
    around
}

/// Cells of a column and what is between them, by their lines on one side.
fn intervals(columns: &Columns, column: Option<usize>, side: [usize; 2], intervals: &mut Vec<Interval>) {
    intervals.clear();
    let mut last = ABOVE;
    for &cell in column.map_or(&[][..], |column| columns.cells_in_column(column)) {
        let corners = &columns.corners[cell as usize];
        let (top, bottom) = (side.map(|corner| corners[corner]), side.map(|corner| corners[corner + 4]));
        // Where a cell overlaps the one above it, that one keeps the side.
        let top = if last == ABOVE { top } else { [0, 1].map(|end| top[end].max(last[end])) };
        let bottom = [0, 1].map(|end| bottom[end].max(top[end]));
        let of_cell = Interval { top, bottom, cell: Some(cell) };
        if of_cell.is_empty() {
            continue;
        }
        let gap = Interval { top: last, bottom: top, cell: None };
        if last == ABOVE || !gap.is_empty() {
            intervals.push(gap);
        }
        intervals.push(of_cell);
        last = bottom;
    }
    intervals.push(Interval { top: last, bottom: BELOW, cell: None });
}
