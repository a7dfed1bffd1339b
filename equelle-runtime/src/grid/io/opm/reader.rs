//! The arrays of a file, read in order.

use std::path::Path;

use super::{Array, ArrayLayout, Raw};
use crate::error::{Error, ErrorKind};
use crate::grid::digits::Digits;
use crate::grid::{MAX_ENTITIES, Nodes};
use crate::number::{NumberError, Words, line_and_column, parse_integer, parse_number, quoted};

/// Reads arrays word by word.
pub(super) struct Reader<'a> {
    path: &'a Path,
    text: &'a [u8],
    words: Words<'a>,
    /// Of the numbers since this was reset.
    digits: Digits,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, text: &'a [u8]) -> Reader<'a> {
        Reader { path, text, words: Words::new(text), digits: Digits::default() }
    }

    fn error_at(&self, offset: usize, what: &str) -> Error {
        let (line, column) = line_and_column(self.text, offset);
        Error::new(ErrorKind::Data, format!("{}:{line}:{column}: {what}", self.path.display()))
    }

    /// An error about an item of an array.
    pub(super) fn error_in(&self, place: ArrayLayout, item: usize, what: &str) -> Error {
        let offset = Words::from_offset(self.text, place.offset).nth(item * place.words_per_item).map_or(self.text.len(), |w| w.offset);
        let (line, _) = line_and_column(self.text, offset);
        Error::new(ErrorKind::Data, format!("{}:{line}: {what}", self.path.display()))
    }

    fn place(&self, name: &'static str, words_per_item: usize) -> ArrayLayout {
        ArrayLayout { name, offset: self.words.offset(), words_per_item }
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

    /// `n` items of `words_per_item` words. A word takes two bytes at least, so that sizes beyond
    /// what the file can hold are found before memory is asked for.
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

    pub(super) fn read(&mut self) -> Result<Raw, Error> {
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
