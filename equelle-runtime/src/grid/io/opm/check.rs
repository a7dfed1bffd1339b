//! Checks that the arrays of a file are those of one grid.

use super::Raw;
use super::reader::Reader;
use crate::error::Error;
use crate::grid::shapes::{Face, dot, minus, norm};
use crate::grid::stored::{Item, Mismatch, Stored};
use crate::grid::{Geometry, NONE, Topology};

impl Raw {
    /// Checked topology, faces ascending within each cell.
    pub(super) fn topology(&self, reader: &Reader<'_>) -> Result<Topology, Error> {
        let mut face_cells = Vec::with_capacity(self.n_faces);
        let mut sides_left: Vec<u8> = Vec::with_capacity(self.n_faces);
        for (face, &cells) in self.face_cells.values.iter().enumerate() {
            let fail = |what: String| Err(reader.error_in(self.face_cells.place, face, &format!("face_cells[{face}]: {what}")));
            for cell in cells {
                if cell < -1 || cell >= self.n_cells as i64 {
                    return fail(format!("cell {cell} is out of range (the grid has {} cells; -1 is outside)", self.n_cells));
                }
            }
            if cells == [-1, -1] {
                return fail("both cells of the face are outside".to_string());
            }
            if cells[0] == cells[1] {
                return fail(format!("both cells of the face are {}", cells[0]));
            }
            face_cells.push(cells.map(|cell| u32::try_from(cell).unwrap_or(NONE)));
            sides_left.push(cells.iter().filter(|&&cell| cell >= 0).count() as u8);
        }
        let mut cell_faces = self.cell_faces.values.clone();
        for cell in 0..self.n_cells {
            let range = self.cell_face_pos.values[cell]..self.cell_face_pos.values[cell + 1];
            for (entry, &face) in range.clone().zip(&self.cell_faces.values[range.clone()]) {
                let fail = |what: String| Err(reader.error_in(self.cell_faces.place, entry, &format!("cell_faces[{entry}]: {what}")));
                if !face_cells[face as usize].contains(&(cell as u32)) {
                    return fail(format!("cell {cell} lists face {face}, but face_cells[{face}] does not list cell {cell}"));
                }
                if self.cell_faces.values[range.start..entry].contains(&face) {
                    return fail(format!("cell {cell} lists face {face} twice"));
                }
                sides_left[face as usize] -= 1;
            }
            cell_faces[range].sort_unstable();
        }
        let topology = Topology { cell_face_pos: self.cell_face_pos.values.clone(), cell_faces, face_cells };
        if let Some(face) = sides_left.iter().position(|&left| left > 0) {
            let cells = topology.face_cells[face];
            let cell = cells.into_iter().find(|&c| c != NONE && !topology.faces_of(c as usize).contains(&(face as u32))).unwrap_or(NONE);
            let what = format!("face_cells[{face}]: lists cell {cell}, but cell_faces of cell {cell} does not list face {face}");
            return Err(reader.error_in(self.face_cells.place, face, &what));
        }
        Ok(topology)
    }

    /// Checked geometry with unit normals.
    pub(super) fn geometry(&self, reader: &Reader<'_>) -> Result<Geometry, Error> {
        for array in [&self.face_areas, &self.cell_volumes] {
            if let Some(item) = array.values.iter().position(|&measure| measure <= 0.0) {
                let what = format!("{}[{item}]: {} is not positive", array.place.name, array.values[item]);
                return Err(reader.error_in(array.place, item, &what));
            }
        }
        let mut face_normals = Vec::with_capacity(self.n_faces);
        for (face, &vector) in self.face_normals.values.iter().enumerate() {
            let length = norm(vector);
            let area = self.face_areas.values[face];
            // 1e-4 allows for areas computed otherwise; then come the digits of the file. A
            // face that is not flat has a range of areas.
            let tolerance = || 1e-4 * area + self.digits.error_of(area) + self.error_of(vector);
            let is_bent = || Face::of(&self.nodes, face, self.dim).is_some_and(|face| face.area.most > face.area.least);
            if (length - area).abs() > 1e-4 * area && (length - area).abs() > tolerance() && !is_bent() {
                let what = format!("face_normals[{face}]: its length {length} is not the area of the face, {area}");
                return Err(reader.error_in(self.face_normals.place, face, &what));
            }
            // A length of zero among numbers of few digits leaves no direction.
            if length == 0.0 {
                return Err(reader.error_in(self.face_normals.place, face, &format!("face_normals[{face}]: it is zero")));
            }
            face_normals.push(vector.map(|component| component / length));
        }
        Ok(Geometry {
            cell_volumes: self.cell_volumes.values.clone(),
            cell_centroids: self.cell_centroids.values.clone(),
            face_areas: self.face_areas.values.clone(),
            face_centroids: self.face_centroids.values.clone(),
            face_normals,
            face_gaps: Vec::new(),
            face_transmissibilities: Vec::new(),
            faces_without_geometry: Vec::new(),
        })
    }

    /// Normals point from the first cell to the second, and cells are closed.
    ///
    /// A cell is in order if its outward area vectors sum to zero, and if (divergence theorem) the
    /// sum of position times outward area vector over its faces is positive. Both hold for cells of
    /// any shape, also for the twisted ones of geological grids, where a normal may well point
    /// against the way from centroid to centroid. Only of a cell that is not in order is it asked
    /// which face is to blame: one that, turned around, closes the cell, and of several such faces
    /// one whose normal points against that way.
    pub(super) fn check_orientation(&self, reader: &Reader<'_>, topology: &Topology) -> Result<(), Error> {
        for cell in 0..self.n_cells {
            let faces: Vec<(usize, [f64; 3])> = self.outward(topology, cell).collect();
            let centre = self.cell_centroids.values[cell];
            let sum = faces.iter().fold([0.0; 3], |sum, (_, vector)| std::array::from_fn(|a| sum[a] + vector[a]));
            let total: f64 = faces.iter().map(|(_, vector)| norm(*vector)).sum();
            // 2e-5 is for six digits, of which each component is good to 5e-6; then come fewer
            // digits, and lengths of normals of faces that are not flat.
            let vanishes = |vector: [f64; 3]| norm(vector) <= 2e-5 * total || norm(vector) <= 2e-5 * total + self.open(&faces);
            let outward =
                faces.iter().map(|&(face, vector)| dot(minus(self.face_centroids.values[face], centre), vector)).sum::<f64>() > 0.0;
            if vanishes(sum) && outward {
                continue;
            }
            let closes = |vector: [f64; 3]| !vanishes(sum) && vanishes(std::array::from_fn(|a| sum[a] - 2.0 * vector[a]));
            let candidates = || faces.iter().copied();
            let to_blame = candidates()
                .find(|&(face, vector)| closes(vector) && self.points_against(topology, face))
                .or_else(|| candidates().find(|&(_, vector)| closes(vector)))
                .or_else(|| candidates().find(|&(face, _)| self.points_against(topology, face)));
            if let Some((face, _)) = to_blame {
                return Err(self.swapped(reader, topology, face));
            }
            let entry = self.cell_face_pos.values[cell];
            let what = format!("cell_faces[{entry}]: cell {cell} is not closed: its outward area vectors do not sum to zero");
            return Err(reader
                .error_in(self.cell_faces.place, entry, &what)
                .hint("a face is missing from the cell, or has a wrong normal"));
        }
        Ok(())
    }

    /// How far the sum of some area vectors may be from what it would be with all digits and flat
    /// faces.
    fn open(&self, faces: &[(usize, [f64; 3])]) -> f64 {
        // A normal may be as long as the area of some surface, which is more than the area vector.
        let longer = |&(face, vector): &(usize, [f64; 3])| {
            let of_nodes = Face::of(&self.nodes, face, self.dim);
            of_nodes.map_or(0.0, |face| (norm(vector) - norm(face.vector)).min(face.area.most - face.area.least).max(0.0))
        };
        faces.iter().map(|face| self.error_of(face.1) + longer(face)).sum()
    }

    /// Error bound of a vector, by its digits.
    fn error_of(&self, vector: [f64; 3]) -> f64 {
        self.digits.error_of_vector(vector, self.dim)
    }

    pub(super) fn stored<'a>(&'a self, topology: &'a Topology) -> Stored<'a> {
        Stored {
            dim: self.dim,
            nodes: &self.nodes,
            topology,
            face_areas: &self.face_areas.values,
            face_centroids: &self.face_centroids.values,
            face_normals: &self.face_normals.values,
            cell_volumes: &self.cell_volumes.values,
            cell_centroids: &self.cell_centroids.values,
            node_digits: self.node_digits,
            digits: self.digits,
        }
    }

    pub(super) fn differs(&self, reader: &Reader<'_>, mismatch: Mismatch) -> Error {
        let Mismatch { array, index, what } = mismatch;
        let (place, word) = match array {
            Item::NodesOfFace => (self.face_nodes, self.nodes.face_node_pos[index]),
            Item::FaceArea => (self.face_areas.place, index),
            Item::FaceCentroid => (self.face_centroids.place, index),
            Item::FaceNormal => (self.face_normals.place, index),
            Item::CellVolume => (self.cell_volumes.place, index),
            Item::CellCentroid => (self.cell_centroids.place, index),
        };
        reader
            .error_in(place, word, &format!("{}[{word}]: {what}", place.name))
            .hint("correct the file, or let it be believed with grid_geometry=trust")
    }

    fn swapped(&self, reader: &Reader<'_>, topology: &Topology, face: usize) -> Error {
        let [first, second] =
            topology.face_cells[face].map(|cell| if cell == NONE { "outside".to_string() } else { format!("cell {cell}") });
        let what = format!(
            "face_normals[{face}]: swapped orientation: the normal points from {second} to {first}, but face_cells[{face}] has {first} first"
        );
        reader.error_in(self.face_normals.place, face, &what).hint("negate the normal, or swap the two cells of the face in face_cells")
    }

    /// Outward area vectors of a cell's faces.
    fn outward<'a>(&'a self, topology: &'a Topology, cell: usize) -> impl Iterator<Item = (usize, [f64; 3])> + 'a {
        topology.faces_of(cell).iter().map(move |&face| {
            let face = face as usize;
            let sign = if topology.face_cells[face][0] == cell as u32 { 1.0 } else { -1.0 };
            (face, self.face_normals.values[face].map(|component| sign * component))
        })
    }

    /// True if the normal points against the way from the first cell to the second; from or to the
    /// face on the boundary.
    fn points_against(&self, topology: &Topology, face: usize) -> bool {
        let place = |cell: u32| if cell == NONE { self.face_centroids.values[face] } else { self.cell_centroids.values[cell as usize] };
        let [first, second] = topology.face_cells[face];
        dot(minus(place(second), place(first)), self.face_normals.values[face]) < 0.0
    }
}
