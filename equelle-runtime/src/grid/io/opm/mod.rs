//! Grids in OPM's text format (runtime specification, section 1.4), checked.
//!
//! What is checked, so that nothing wrong goes unnoticed: every item is there and is a number; index ranges; `face_cells` and `cell_faces` describe the
//! same grid; areas and volumes are positive; each normal's length is the area; normals point from
//! the first cell to the second; cells are closed; and, unless the file is believed, areas,
//! volumes, centroids and normals are those that the nodes give (`stored`).

use std::path::Path;

use super::digits::Digits;
use super::shapes::{Face, dot, minus, norm};
use super::stored::{Item, Mismatch, Stored};
use super::{Geometry, Grid, MAX_ENTITIES, NONE, Nodes, StoredGeometry, Topology};
use crate::error::{Error, ErrorKind};
use crate::number::{NumberError, Words, line_and_column, parse_integer, parse_number, quoted};
use crate::threads::Threads;

/// Reads a grid file and checks its geometry.
///
/// # Errors
/// `Io` if it cannot be read, `Data` for what is wrong in it; names file, line and item.
pub fn read_file(path: &Path) -> Result<Grid, Error> {
    read_file_with(path, StoredGeometry::Check, &Threads::one())
}

/// Reads a grid file; the threads check its geometry, unless that is believed.
///
/// # Errors
/// `Io` if it cannot be read, `Data` for what is wrong in it; names file, line and item.
pub fn read_file_with(path: &Path, stored: StoredGeometry, threads: &Threads) -> Result<Grid, Error> {
    let text = std::fs::read(path).map_err(|e| Error::new(ErrorKind::Io, format!("cannot read grid file `{}`: {e}", path.display())))?;
    read_text_with(path, &text, stored, threads)
}

/// Reads the text of a grid file and checks its geometry; `path` is for messages.
///
/// # Errors
/// `Data` for what is wrong in it; names file, line and item.
pub fn read_text(path: &Path, text: &[u8]) -> Result<Grid, Error> {
    read_text_with(path, text, StoredGeometry::Check, &Threads::one())
}

/// As [`read_file_with`], of the text of a grid file; `path` is for messages.
///
/// # Errors
/// `Data` for what is wrong in it; names file, line and item.
pub fn read_text_with(path: &Path, text: &[u8], stored: StoredGeometry, threads: &Threads) -> Result<Grid, Error> {
    let mut reader = Reader { path, text, words: Words::new(text), digits: Digits::default() };
    let raw = reader.read()?;
    let topology = raw.topology(&reader)?;
    let geometry = raw.geometry(&reader)?;
    raw.check_orientation(&reader, &topology)?;
    match stored {
        StoredGeometry::Check => raw.stored(&topology).check(threads).map_err(|mismatch| raw.differs(&reader, mismatch))?,
        StoredGeometry::Trust => {}
    }
    Grid::unstructured(raw.dim, topology, geometry)?.with_nodes(raw.nodes)
}

/// An array of the file: where its items begin, and how many words each takes.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    offset: usize,
    words_per_item: usize,
}

struct Array<T> {
    values: Vec<T>,
    place: Place,
}

/// The arrays as they stand in the file.
struct Raw {
    dim: usize,
    n_cells: usize,
    n_faces: usize,
    nodes: Nodes,
    /// Where the nodes of faces stand.
    face_nodes: Place,
    /// Of the positions of nodes, and of areas, volumes, centroids and normals.
    node_digits: Digits,
    digits: Digits,
    face_cells: Array<[i64; 2]>,
    face_areas: Array<f64>,
    face_centroids: Array<[f64; 3]>,
    face_normals: Array<[f64; 3]>,
    cell_face_pos: Array<usize>,
    cell_faces: Array<u32>,
    cell_volumes: Array<f64>,
    cell_centroids: Array<[f64; 3]>,
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a [u8],
    words: Words<'a>,
    /// Of the numbers since this was reset.
    digits: Digits,
}

impl<'a> Reader<'a> {
    fn error_at(&self, offset: usize, what: &str) -> Error {
        let (line, column) = line_and_column(self.text, offset);
        Error::new(ErrorKind::Data, format!("{}:{line}:{column}: {what}", self.path.display()))
    }

    /// An error about an item of an array.
    fn error_in(&self, place: Place, item: usize, what: &str) -> Error {
        let offset = Words::from_offset(self.text, place.offset).nth(item * place.words_per_item).map_or(self.text.len(), |w| w.offset);
        let (line, _) = line_and_column(self.text, offset);
        Error::new(ErrorKind::Data, format!("{}:{line}: {what}", self.path.display()))
    }

    fn place(&self, name: &'static str, words_per_item: usize) -> Place {
        Place { name, offset: self.words.offset(), words_per_item }
    }

    fn word(&mut self, name: &str, item: usize) -> Result<crate::number::Word<'a>, Error> {
        self.words.next().ok_or_else(|| {
            self.error_at(self.text.len(), &format!("the grid file ends too early: {name}[{item}] is missing"))
                .hint("the file is cut off, or the sizes in its first line are too large")
        })
    }

    fn integer(&mut self, name: &str, item: usize) -> Result<i64, Error> {
        let word = self.word(name, item)?;
        parse_integer(word.bytes)
            .map_err(|_| self.error_at(word.offset, &format!("{name}[{item}]: {} is not a whole number", quoted(word.bytes))))
    }

    /// An integer from 0 to `end - 1`.
    fn index(&mut self, name: &str, item: usize, end: usize) -> Result<usize, Error> {
        let before = self.words.clone();
        let value = self.integer(name, item)?;
        usize::try_from(value).ok().filter(|&v| v < end).ok_or_else(|| {
            let offset = before.clone().next().map_or(0, |w| w.offset);
            let range = if end == 0 { "nothing is allowed".to_string() } else { format!("allowed is 0 to {}", end - 1) };
            self.error_at(offset, &format!("{name}[{item}]: {value} is out of range ({range})"))
        })
    }

    fn real(&mut self, name: &str, item: usize) -> Result<f64, Error> {
        let word = self.word(name, item)?;
        let value = parse_number(word.bytes).map_err(|fault| {
            let what = match fault {
                NumberError::NotANumber => "is not a number",
                NumberError::OutOfRange => "is beyond the range of numbers",
            };
            self.error_at(word.offset, &format!("{name}[{item}]: {} {what}", quoted(word.bytes)))
        })?;
        self.digits.see(word.bytes, value);
        Ok(value)
    }

    /// `n` items of `words_per_item` words. A word takes two bytes at least, so that sizes beyond what the file can hold are found before memory is
    /// asked for.
    fn array<T>(
        &mut self,
        name: &'static str,
        n: usize,
        words_per_item: usize,
        mut item: impl FnMut(&mut Self, usize) -> Result<T, Error>,
    ) -> Result<Array<T>, Error> {
        let place = self.place(name, words_per_item);
        let left = self.text.len() - self.words.offset();
        let mut values = Vec::with_capacity(n.min(left / (2 * words_per_item) + 1));
        for i in 0..n {
            values.push(item(self, i)?);
        }
        Ok(Array { values, place })
    }

    fn reals(&mut self, name: &'static str, n: usize) -> Result<Array<f64>, Error> {
        self.array(name, n, 1, |r, i| r.real(name, i))
    }

    fn vectors(&mut self, name: &'static str, n: usize, dim: usize) -> Result<Array<[f64; 3]>, Error> {
        self.array(name, n, dim, |r, i| {
            let mut vector = [0.0; 3];
            for component in &mut vector[..dim] {
                *component = r.real(name, i)?;
            }
            Ok(vector)
        })
    }

    /// Offsets `0 = p[0] <= p[1] <= ... <= p[n] = total`.
    fn offsets(&mut self, name: &'static str, n: usize, total: usize) -> Result<Array<usize>, Error> {
        let array = self.array(name, n + 1, 1, |r, i| r.index(name, i, total + 1))?;
        for (i, &value) in array.values.iter().enumerate() {
            let wrong = if i == 0 && value != 0 {
                Some("the first must be 0".to_string())
            } else if i > 0 && value < array.values[i - 1] {
                Some(format!("must not be less than the one before it, {}", array.values[i - 1]))
            } else if i == n && value != total {
                Some(format!("the last must be {total}, the number of entries given in the first line"))
            } else {
                None
            };
            if let Some(wrong) = wrong {
                return Err(self.error_in(array.place, i, &format!("{name}[{i}]: {value}: {wrong}")));
            }
        }
        Ok(array)
    }

    fn size(&mut self, name: &str) -> Result<usize, Error> {
        self.index(name, 0, MAX_ENTITIES + 1)
    }

    fn flag(&mut self, name: &str) -> Result<bool, Error> {
        Ok(self.index(name, 0, 2)? == 1)
    }

    fn read(&mut self) -> Result<Raw, Error> {
        let dim = self.index("dimensions", 0, 4)?;
        if !(2..=3).contains(&dim) {
            return Err(self.error_at(0, &format!("dimensions: a grid file has 2 or 3, not {dim}")));
        }
        let n_cells = self.size("number_of_cells")?;
        let n_faces = self.size("number_of_faces")?;
        let n_nodes = self.size("number_of_nodes")?;
        let n_face_nodes = self.index("number of face nodes", 0, isize::MAX as usize)?;
        let n_cell_faces = self.index("number of cell faces", 0, isize::MAX as usize)?;
        let has_tags = self.flag("has-facetags flag")?;
        let has_index_map = self.flag("has-indexmap flag")?;
        self.array("cartdims", dim, 1, |r, i| r.integer("cartdims", i))?;
        let positions = self.vectors("node_coordinates", n_nodes, dim)?.values;
        let node_digits = std::mem::take(&mut self.digits);
        let face_node_pos = self.offsets("face_nodepos", n_faces, n_face_nodes)?.values;
        let face_nodes = self.array("face_nodes", n_face_nodes, 1, |r, i| r.index("face_nodes", i, n_nodes).map(|node| node as u32))?;
        let nodes = Nodes { positions, face_node_pos, face_nodes: face_nodes.values };
        let face_cells = self.array("face_cells", n_faces, 2, |r, i| Ok([r.integer("face_cells", i)?, r.integer("face_cells", i)?]))?;
        let face_areas = self.reals("face_areas", n_faces)?;
        let face_centroids = self.vectors("face_centroids", n_faces, dim)?;
        let face_normals = self.vectors("face_normals", n_faces, dim)?;
        let cell_face_pos = self.offsets("cell_facepos", n_cells, n_cell_faces)?;
        let words_per_item = if has_tags { 2 } else { 1 };
        let cell_faces = self.array("cell_faces", n_cell_faces, words_per_item, |r, i| {
            let face = r.index("cell_faces", i, n_faces)? as u32;
            if has_tags {
                r.integer("cell_facetag", i)?;
            }
            Ok(face)
        })?;
        if has_index_map {
            self.array("global_cell", n_cells, 1, |r, i| r.integer("global_cell", i).map(|_| ()))?;
        }
        let cell_volumes = self.reals("cell_volumes", n_cells)?;
        let cell_centroids = self.vectors("cell_centroids", n_cells, dim)?;
        if let Some(word) = self.words.next() {
            return Err(self
                .error_at(word.offset, &format!("{} after the last cell centroid", quoted(word.bytes)))
                .hint("the sizes in the first line are too small"));
        }
        Ok(Raw {
            dim,
            n_cells,
            n_faces,
            nodes,
            face_nodes: face_nodes.place,
            node_digits,
            digits: self.digits,
            face_cells,
            face_areas,
            face_centroids,
            face_normals,
            cell_face_pos,
            cell_faces,
            cell_volumes,
            cell_centroids,
        })
    }
}

impl Raw {
    /// Checked topology, faces ascending within each cell.
    fn topology(&self, reader: &Reader<'_>) -> Result<Topology, Error> {
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
    fn geometry(&self, reader: &Reader<'_>) -> Result<Geometry, Error> {
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
        })
    }

    /// Normals point from the first cell to the second, and cells are closed.
    ///
    /// A cell is in order if its outward area vectors sum to zero, and if (divergence theorem) the sum of position times outward area vector over its
    /// faces is positive. Both hold for cells of any shape, also for the twisted ones of geological grids, where a normal may well point against the way
    /// from centroid to centroid. Only of a cell that is not in order is it asked which face is to blame: one that, turned around, closes the cell,
    /// and of several such faces one whose normal points against that way.
    fn check_orientation(&self, reader: &Reader<'_>, topology: &Topology) -> Result<(), Error> {
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

    /// How far a vector may be off, by its digits.
    fn error_of(&self, vector: [f64; 3]) -> f64 {
        self.digits.error_of_vector(vector, self.dim)
    }

    fn stored<'a>(&'a self, topology: &'a Topology) -> Stored<'a> {
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

    fn differs(&self, reader: &Reader<'_>, mismatch: Mismatch) -> Error {
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

    /// Whether the normal points against the way from the first cell to the second; from or to the face on the boundary.
    fn points_against(&self, topology: &Topology, face: usize) -> bool {
        let place = |cell: u32| if cell == NONE { self.face_centroids.values[face] } else { self.cell_centroids.values[cell as usize] };
        let [first, second] = topology.face_cells[face];
        dot(minus(place(second), place(first)), self.face_normals.values[face]) < 0.0
    }
}
