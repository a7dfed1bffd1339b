//! Grids in VTK's legacy format, `.vtk`: text or binary (big endian), versions 1 to 5, unstructured
//! or structured with points. Arrays and sets of cells as in `.vtu`.

mod number;

use std::path::Path;

use super::grid::{CellArray, Mesh};
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::threads::Threads;
use crate::vtk::cell_types::{HEXAHEDRON, POLYHEDRON, QUADRANGLE};
use number::Number;

/// Reads a mesh; `path` is for messages. The threads match faces and compute the geometry.
///
/// # Errors
/// `Data` for what is wrong in it, with line or byte, and for data sets that are no meshes.
pub fn read_legacy_grid(path: &Path, bytes: &[u8], threads: &Threads) -> Result<Grid, Error> {
    let mut reader = Reader { bytes, at: 0, binary: false };
    let mesh = reader.file().map_err(|what| {
        let at = reader.at.min(bytes.len());
        let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
        let place = if reader.binary { format!(": byte {at}") } else { format!(":{line}") };
        Error::new(ErrorKind::Data, format!("{}{place}: {what}", path.display()))
    })?;
    mesh.check().map_err(|what| Error::new(ErrorKind::Data, format!("{}: {what}", path.display())))?;
    mesh.grid(path, threads)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    binary: bool,
}

impl<'a> Reader<'a> {
    fn file(&mut self) -> Result<Mesh, String> {
        let first = self.line().ok_or("the file is empty")?;
        if !first.starts_with(b"# vtk DataFile") {
            return Err("expected `# vtk DataFile Version ...`".to_owned());
        }
        self.line().ok_or("expected a title in the second line")?;
        self.binary = match self.words().first().map(|word| word.to_ascii_uppercase()).as_deref() {
            Some("ASCII") => false,
            Some("BINARY") => true,
            _ => return Err("expected ASCII or BINARY in the third line".to_owned()),
        };
        let mut mesh = Mesh::default();
        let (mut dimensions, mut is_of_cells) = (None, false);
        // How many tuples the arrays have that follow CELL_DATA or POINT_DATA.
        let mut n_tuples = 0;
        while let Some(words) = self.next_words() {
            let word = |at: usize| words.get(at).map_or("", String::as_str);
            let count = |at: usize| word(at).parse::<usize>().map_err(|_| format!("{}: `{}` is not a count", words[0], word(at)));
            match word(0).to_ascii_uppercase().as_str() {
                "DATASET" => match word(1).to_ascii_uppercase().as_str() {
                    "UNSTRUCTURED_GRID" => {}
                    "STRUCTURED_GRID" => dimensions = Some([1; 3]),
                    "POLYDATA" => return Err("data set POLYDATA: a surface, or lines, and no grid".to_owned()),
                    other => return Err(format!("data set {other}: those that are read are UNSTRUCTURED_GRID and STRUCTURED_GRID")),
                },
                "DIMENSIONS" if dimensions.is_some() => dimensions = Some([count(1)?, count(2)?, count(3)?]),
                "POINTS" => {
                    let n = count(1)?.checked_mul(3).ok_or("too many points")?;
                    let numbers = self.numbers("POINTS", n, Number::named(word(2))?)?;
                    if !numbers.iter().all(|x| x.is_finite()) {
                        return Err("POINTS: a coordinate is not finite".to_owned());
                    }
                    mesh.points = numbers.as_chunks().0.to_vec();
                }
                "CELLS" => self.cells(&mut mesh, count(1)?, count(2)?)?,
                "CELL_TYPES" => {
                    let shapes = self.numbers("CELL_TYPES", count(1)?, Number::I32)?;
                    mesh.shapes = shapes.into_iter().map(|shape| shape as u8).collect();
                }
                "CELL_DATA" => (is_of_cells, n_tuples) = (true, count(1)?),
                "POINT_DATA" => (is_of_cells, n_tuples) = (false, count(1)?),
                "FIELD" => {
                    for _ in 0..count(2)? {
                        let mut words = self.next_words().ok_or("FIELD: fewer arrays than it says")?;
                        // Notes of VTK on the array before.
                        if words[0] == "METADATA" {
                            self.skip_block();
                            words = self.next_words().ok_or("FIELD: fewer arrays than it says")?;
                        }
                        let [name, components, tuples, number] = &words[..] else {
                            return Err("FIELD: expected name, components, tuples and type of an array".to_owned());
                        };
                        let count = |word: &str| word.parse::<usize>().map_err(|_| format!("FIELD: `{word}` is not a count"));
                        if number.eq_ignore_ascii_case("string") {
                            let n = count(components)?.checked_mul(count(tuples)?).ok_or("FIELD: too many texts")?;
                            self.skip_texts(name, n)?;
                            continue;
                        }
                        let number = Number::named(number)?;
                        self.array(&mut mesh, is_of_cells, name, count(components)?, count(tuples)?, number)?;
                    }
                }
                "SCALARS" => {
                    let components = if words.len() > 3 { count(3)? } else { 1 };
                    let number = Number::named(word(2))?;
                    // The table of colours has a line of its own, which old files leave out.
                    let start = self.at;
                    if !self.next_words().is_some_and(|words| words[0].eq_ignore_ascii_case("LOOKUP_TABLE")) {
                        self.at = start;
                    }
                    self.array(&mut mesh, is_of_cells, word(1), components, n_tuples, number)?;
                }
                "VECTORS" | "NORMALS" => self.array(&mut mesh, is_of_cells, word(1), 3, n_tuples, Number::named(word(2))?)?,
                "TENSORS" => self.array(&mut mesh, is_of_cells, word(1), 9, n_tuples, Number::named(word(2))?)?,
                "LOOKUP_TABLE" => {
                    let number = if self.binary { Number::U8 } else { Number::F32 };
                    self.numbers("LOOKUP_TABLE", count(2)?.checked_mul(4).ok_or("too many colours")?, number)?;
                }
                "METADATA" => self.skip_block(),
                other => return Err(format!("`{other}` is not a keyword that is read")),
            }
        }
        if let Some(n) = dimensions {
            structured(&mut mesh, n)?;
        }
        Ok(mesh)
    }

    /// Points of cells: with their number before those of each cell, or, from version 5 on, two
    /// arrays.
    fn cells(&mut self, mesh: &mut Mesh, n: usize, size: usize) -> Result<(), String> {
        let start = self.at;
        let words = self.next_words().unwrap_or_default();
        if words.first().is_some_and(|word| word.eq_ignore_ascii_case("OFFSETS")) {
            let number = Number::named(words.get(1).map_or("", String::as_str))?;
            let offsets = indices("OFFSETS", &self.numbers("OFFSETS", n, number)?)?;
            let words = self.next_words().unwrap_or_default();
            if !words.first().is_some_and(|word| word.eq_ignore_ascii_case("CONNECTIVITY")) {
                return Err("CELLS: expected CONNECTIVITY after OFFSETS".to_owned());
            }
            let number = Number::named(words.get(1).map_or("", String::as_str))?;
            mesh.corners = indices("CONNECTIVITY", &self.numbers("CONNECTIVITY", size, number)?)?;
            if offsets.first() != Some(&0) || !offsets.is_sorted() || offsets.last().is_none_or(|&last| last as usize != size) {
                return Err(format!("OFFSETS do not ascend from 0 to {size}"));
            }
            mesh.ends = offsets[1..].iter().map(|&end| end as usize).collect();
            return Ok(());
        }
        self.at = start;
        let list = indices("CELLS", &self.numbers("CELLS", size, Number::I32)?)?;
        let mut rest = &list[..];
        for cell in 0..n {
            let own = rest.split_first().and_then(|(&len, others)| others.split_at_checked(len as usize));
            let (own, others) = own.ok_or_else(|| format!("CELLS: the list ends in cell {cell} of {n}"))?;
            mesh.corners.extend_from_slice(own);
            mesh.ends.push(mesh.corners.len());
            rest = others;
        }
        if rest.is_empty() { Ok(()) } else { Err(format!("CELLS: {} numbers are left over after {n} cells", rest.len())) }
    }

    fn array(
        &mut self,
        mesh: &mut Mesh,
        is_of_cells: bool,
        name: &str,
        components: usize,
        tuples: usize,
        number: Number,
    ) -> Result<(), String> {
        let n = components.checked_mul(tuples).ok_or_else(|| format!("array `{name}`: too many numbers"))?;
        let numbers = self.numbers(name, n, number)?;
        if is_of_cells {
            mesh.arrays.push(CellArray { name: decoded(name), components, numbers });
        }
        Ok(())
    }

    /// `n` numbers that follow; no more memory than the file has bytes for.
    fn numbers(&mut self, name: &str, n: usize, number: Number) -> Result<Vec<f64>, String> {
        let left = self.bytes.len() - self.at;
        let short = || format!("{name}: the file ends before its {n} numbers");
        if self.binary {
            let len = n.checked_mul(number.bits()).ok_or_else(short)?.div_ceil(8);
            let bytes = self.bytes[self.at..].get(..len).ok_or_else(short)?;
            self.at += len;
            return Ok(number.decode(bytes, n));
        }
        if n > left {
            return Err(short());
        }
        let mut numbers = Vec::with_capacity(n.min(left / 2 + 1));
        for at in 0..n {
            let word = self.word().ok_or_else(short)?;
            let value = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            numbers.push(value.ok_or_else(|| format!("{name}[{at}]: `{}` is not a number", String::from_utf8_lossy(word)))?);
        }
        Ok(numbers)
    }

    /// Passes lines up to an empty one.
    fn skip_block(&mut self) {
        while self.line().is_some_and(|line| !line.trim_ascii().is_empty()) {}
    }

    /// Passes `n` texts: a line of each, or in bytes its length, of 1, 2, 4 or 8 bytes as the two
    /// highest bits say, and the text.
    fn skip_texts(&mut self, name: &str, n: usize) -> Result<(), String> {
        for _ in 0..n {
            let short = || format!("{name}: the file ends before its {n} texts");
            if !self.binary {
                self.line().ok_or_else(short)?;
                continue;
            }
            let rest = &self.bytes[self.at..];
            let width = 8 >> (rest.first().ok_or_else(short)? >> 6);
            let head = rest.get(..width).ok_or_else(short)?;
            let length = head.iter().fold(0, |length, &byte| length << 8 | u64::from(byte)) & (u64::MAX >> (66 - 8 * width));
            let end = usize::try_from(length).ok().and_then(|length| length.checked_add(self.at + width));
            self.at = end.filter(|&end| end <= self.bytes.len()).ok_or_else(short)?;
        }
        Ok(())
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let begin = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let len = rest[begin..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - begin);
        self.at += begin + len;
        Some(&rest[begin..begin + len])
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
        self.at += len;
        (len > 0).then(|| &rest[..len])
    }

    fn words(&mut self) -> Vec<String> {
        let line = self.line().unwrap_or_default();
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// Words of the next line that has some.
    fn next_words(&mut self) -> Option<Vec<String>> {
        while self.at < self.bytes.len() {
            let words = self.words();
            if !words.is_empty() {
                return Some(words);
            }
        }
        None
    }
}

/// Cells between points that are numbered along x first; two dimensions if one has one point.
fn structured(mesh: &mut Mesh, n: [usize; 3]) -> Result<(), String> {
    let n_points = n.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    if n_points != Some(mesh.points.len()) || mesh.points.is_empty() {
        return Err(format!("DIMENSIONS {} x {} x {} are not those of {} points", n[0], n[1], n[2], mesh.points.len()));
    }
    let axes: Vec<usize> = (0..3).filter(|&axis| n[axis] > 1).collect();
    let step = |axis: usize| n[..axis].iter().product::<usize>();
    let (shape, corners): (u8, Vec<usize>) = match axes[..] {
        [a, b] => (QUADRANGLE, vec![0, step(a), step(a) + step(b), step(b)]),
        [a, b, c] => {
            let base = [0, step(a), step(a) + step(b), step(b)];
            (HEXAHEDRON, base.into_iter().chain(base.map(|corner| corner + step(c))).collect())
        }
        _ => return Err("DIMENSIONS: expected more than one point along two axes at least".to_owned()),
    };
    let cells = n.map(|n| n.saturating_sub(1).max(1));
    for (k, j, i) in (0..cells[2]).flat_map(|k| (0..cells[1]).flat_map(move |j| (0..cells[0]).map(move |i| (k, j, i)))) {
        let first = i + n[0] * (j + n[1] * k);
        mesh.corners.extend(corners.iter().map(|corner| (first + corner) as u32));
        mesh.ends.push(mesh.corners.len());
        mesh.shapes.push(shape);
    }
    Ok(())
}

fn indices(name: &str, numbers: &[f64]) -> Result<Vec<u32>, String> {
    let index = |&number: &f64| {
        let is_index = (0.0..=f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0;
        if is_index { Ok(number as u32) } else { Err(format!("{name}: {number} is not an index")) }
    };
    numbers.iter().map(index).collect()
}

/// VTK writes a blank in a name as `%20`, and so on.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, others)) = rest.split_first() {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &others[2..];
            }
            None => {
                bytes.push(byte);
                rest = others;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Mesh {
    /// True if its arrays fit. The list of a polyhedron has counts among its points, which the
    /// builder sees.
    fn check(&self) -> Result<(), String> {
        let n_cells = self.ends.len();
        if self.shapes.len() != n_cells {
            return Err(format!("CELL_TYPES has {} types: expected {n_cells}", self.shapes.len()));
        }
        if let Some(array) = self.arrays.iter().find(|array| array.numbers.len() != n_cells * array.components) {
            return Err(format!("array `{}` has {} numbers: expected {n_cells} tuples", array.name, array.numbers.len()));
        }
        let mut begin = 0;
        for (cell, (&end, &shape)) in self.ends.iter().zip(&self.shapes).enumerate() {
            let own = &self.corners[begin..end];
            if shape != POLYHEDRON && own.iter().any(|&corner| corner as usize >= self.points.len()) {
                return Err(format!("cell {cell} has a point that does not exist"));
            }
            begin = end;
        }
        Ok(())
    }
}
