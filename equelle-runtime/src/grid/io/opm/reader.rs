//! The arrays of a file, read in order.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::scan::{Fault, Scanner, WordIndex};
use super::{Array, ArrayLayout, Raw};
use crate::error::{Error, ErrorKind};
use crate::grid::digits::Digits;
use crate::grid::{MAX_ENTITIES, Nodes};
use crate::number::{Words, line_and_column, quoted};
use crate::threads::Threads;

/// Reads arrays one after the other, each by several threads.
pub(super) struct Reader<'a> {
    path: &'a Path,
    text: &'a [u8],
    threads: &'a Threads,
    index: WordIndex<'a>,
    /// Offset of the unread text, and number of words before it.
    at: usize,
    word: usize,
    /// Digits of the numbers since this was reset.
    digits: Digits,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, text: &'a [u8], threads: &'a Threads) -> Reader<'a> {
        Reader { path, text, threads, index: WordIndex::new(text, threads), at: 0, word: 0, digits: Digits::default() }
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

    fn fault(&self, fault: Fault<'_>, name: &str, item: usize) -> Error {
        let error = self.error_at(fault.offset(self.text.len()), &fault.describe(name, item));
        match fault {
            Fault::Missing => error.hint("the file is cut off, or the sizes in its first line are too large"),
            Fault::NotWhole(_) | Fault::OutOfRange { .. } | Fault::NotANumber(_) | Fault::TooLarge(_) => error,
        }
    }

    /// A number from 0 to `end - 1`.
    fn size(&mut self, name: &str, end: usize) -> Result<usize, Error> {
        let mut scanner = Scanner::new(self.text, self.at);
        let size = scanner.index(end).map_err(|fault| self.fault(fault, name, 0))?;
        (self.at, self.word) = (scanner.offset(), self.word + 1);
        Ok(size)
    }

    /// `n` items of `words_per_item` words.
    fn array<T: Clone + Default + Send>(
        &mut self,
        name: &'static str,
        n: usize,
        words_per_item: usize,
        item: impl Fn(&mut Scanner<'a>) -> Result<T, (&'static str, Fault<'a>)> + Sync,
    ) -> Result<Array<T>, Error> {
        let place = ArrayLayout { name, offset: self.at, words_per_item };
        // A word takes two bytes at least, so that sizes beyond what the file can hold are found
        // before memory is asked for.
        let len = n.min((self.text.len() - self.at) / (2 * words_per_item) + 1);
        let (text, index, first) = (self.text, &self.index, (self.word, self.at));
        let start_of = |at: usize| index.offset(first.0 + at * words_per_item, first);
        let mut values = vec![T::default(); len];
        let seen = Mutex::new((self.digits, self.at));
        let outcome = self.threads.try_each(len, &mut values[..], |range, values| {
            let mut scanner = Scanner::new(text, start_of(range.start));
            for (at, value) in range.clone().zip(values) {
                *value = item(&mut scanner).map_err(|_| at)?;
            }
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = (seen.0.and(scanner.digits), seen.1.max(scanner.offset()));
            Ok(())
        });
        if let Err(at) = outcome {
            // Read again, to see what is wrong.
            let mut scanner = Scanner::new(text, self.at);
            let read = (0..=at).try_for_each(|_| item(&mut scanner).map(drop));
            let (name, fault) = read.err().unwrap_or((name, Fault::Missing));
            return Err(self.fault(fault, name, at));
        }
        if len < n {
            return Err(self.fault(Fault::Missing, name, len));
        }
        (self.digits, self.at) = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.word += n * words_per_item;
        Ok(Array { values, place })
    }

    fn integers(&mut self, name: &'static str, n: usize) -> Result<(), Error> {
        self.array(name, n, 1, |scanner| scanner.integer().map(drop).map_err(|fault| (name, fault))).map(drop)
    }

    fn indices(&mut self, name: &'static str, n: usize, end: usize) -> Result<Array<u32>, Error> {
        self.array(name, n, 1, |scanner| scanner.index(end).map(|index| index as u32).map_err(|fault| (name, fault)))
    }

    fn reals(&mut self, name: &'static str, n: usize) -> Result<Array<f64>, Error> {
        self.array(name, n, 1, |scanner| scanner.real().map_err(|fault| (name, fault)))
    }

    fn vectors(&mut self, name: &'static str, n: usize, dim: usize) -> Result<Array<[f64; 3]>, Error> {
        self.array(name, n, dim, |scanner| {
            let mut vector = [0.0; 3];
            for component in &mut vector[..dim] {
                *component = scanner.real().map_err(|fault| (name, fault))?;
            }
            Ok(vector)
        })
    }

    /// Offsets `0 = p[0] <= p[1] <= ... <= p[n] = total`.
    fn offsets(&mut self, name: &'static str, n: usize, total: usize) -> Result<Array<usize>, Error> {
        let array = self.array(name, n + 1, 1, |scanner| scanner.index(total + 1).map_err(|fault| (name, fault)))?;
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

    pub(super) fn read(&mut self) -> Result<Raw, Error> {
        let dim = self.size("dimensions", 4)?;
        if !(2..=3).contains(&dim) {
            return Err(self.error_at(0, &format!("dimensions: a grid file has 2 or 3, not {dim}")));
        }
        let n_cells = self.size("number_of_cells", MAX_ENTITIES + 1)?;
        let n_faces = self.size("number_of_faces", MAX_ENTITIES + 1)?;
        let n_nodes = self.size("number_of_nodes", MAX_ENTITIES + 1)?;
        let n_face_nodes = self.size("number of face nodes", isize::MAX as usize)?;
        let n_cell_faces = self.size("number of cell faces", isize::MAX as usize)?;
        let has_tags = self.size("has-facetags flag", 2)? == 1;
        let has_index_map = self.size("has-indexmap flag", 2)? == 1;
        self.integers("cartdims", dim)?;
        let positions = self.vectors("node_coordinates", n_nodes, dim)?.values;
        let node_digits = std::mem::take(&mut self.digits);
        let face_node_pos = self.offsets("face_nodepos", n_faces, n_face_nodes)?.values;
        let face_nodes = self.indices("face_nodes", n_face_nodes, n_nodes)?;
        let nodes = Nodes { positions, face_node_pos, face_nodes: face_nodes.values, ..Nodes::default() };
        let face_cells = self.array("face_cells", n_faces, 2, |scanner| {
            let mut cell = || scanner.integer().map_err(|fault| ("face_cells", fault));
            Ok([cell()?, cell()?])
        })?;
        let face_areas = self.reals("face_areas", n_faces)?;
        let face_centroids = self.vectors("face_centroids", n_faces, dim)?;
        let face_normals = self.vectors("face_normals", n_faces, dim)?;
        let cell_face_pos = self.offsets("cell_facepos", n_cells, n_cell_faces)?;
        let words_per_item = if has_tags { 2 } else { 1 };
        let cell_faces = self.array("cell_faces", n_cell_faces, words_per_item, |scanner| {
            let face = scanner.index(n_faces).map_err(|fault| ("cell_faces", fault))? as u32;
            if has_tags {
                scanner.integer().map_err(|fault| ("cell_facetag", fault))?;
            }
            Ok(face)
        })?;
        if has_index_map {
            self.integers("global_cell", n_cells)?;
        }
        let cell_volumes = self.reals("cell_volumes", n_cells)?;
        let cell_centroids = self.vectors("cell_centroids", n_cells, dim)?;
        if let Some(word) = Scanner::new(self.text, self.at).word() {
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
