//! Points and cells of a file.

use super::tags::Tag;
use super::{Section, VtkFile, bad};
use crate::error::Error;
use crate::vtk::names::{CONNECTIVITY, FACE_OFFSETS, FACES, OFFSETS, TYPES};

/// Attributes of a tag `ImageData`; parsed on demand.
#[derive(Clone, Debug)]
pub(super) struct BoxTags {
    origin: Option<String>,
    spacing: Option<String>,
    /// Extent of the piece.
    pub extent: Option<String>,
}

impl BoxTags {
    pub fn of(tag: &Tag) -> BoxTags {
        let text = |key: &str| tag.get(key).map(str::to_owned);
        BoxTags { origin: text("Origin"), spacing: text("Spacing"), extent: None }
    }
}

/// Geometry of the cells of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum VtkGeometry {
    /// Boxes of one size, the first axis fastest.
    Boxes {
        /// Cells along each axis; 0 along axes that the grid does not have.
        n: [usize; 3],
        /// The corner with the least coordinates.
        origin: [f64; 3],
        /// Widths of a box, above 0.
        spacing: [f64; 3],
    },
    /// Cells of any shape.
    Cells {
        /// Coordinates of the points.
        points: Vec<[f64; 3]>,
        /// Points of all cells, one cell behind the other; each less than the number of points.
        corners: Vec<u32>,
        /// End of each cell's points; ascending.
        ends: Vec<usize>,
        /// VTK's number of the shape of each cell.
        shapes: Vec<u8>,
        /// For polyhedra the number of faces, then of each face the number of its points and the
        /// points, one cell behind the other; and where those of each cell end.
        faces: Option<(Vec<u32>, Vec<usize>)>,
    },
}

impl VtkFile<'_> {
    /// The first number of an array of the whole file, such as `TimeValue`; `None` without it.
    pub fn whole(&self, name: &str) -> Option<f64> {
        let array = self.arrays.iter().find(|array| array.section == Section::Whole && array.name == name)?;
        self.encoding.numbers(self.bytes, &array.number, &array.place, array.components).ok()?.first().copied()
    }

    /// The cells. Memory: 24 bytes a point and 4 bytes for each corner of a cell, and 8 bytes for
    /// each while it is read.
    ///
    /// # Errors
    /// `Data` for a rectilinear grid, widths that are not above 0, arrays that are missing or
    /// damaged, and cells whose points do not exist.
    pub fn geometry(&self) -> Result<VtkGeometry, Error> {
        let found = match &self.boxes {
            Some(boxes) => self.box_geometry(boxes),
            None => self.cell_geometry(),
        };
        found.map_err(|what| bad(self.path, &what))
    }

    fn box_geometry(&self, tags: &BoxTags) -> Result<VtkGeometry, String> {
        let three = |name: &str, text: &Option<String>, missing: [f64; 3]| {
            let Some(text) = text else { return Ok(missing) };
            let numbers: Option<Vec<f64>> = text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
            let numbers = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
            numbers.filter(|numbers| numbers.iter().all(|x| x.is_finite())).ok_or_else(|| format!("{name} `{text}` is not three numbers"))
        };
        let (mut origin, spacing) = (three("Origin", &tags.origin, [0.0; 3])?, three("Spacing", &tags.spacing, [1.0; 3])?);
        if !spacing.iter().all(|&width| width > 0.0) {
            return Err("Spacing has a width that is not above 0".to_owned());
        }
        let ends: Option<Vec<i64>> = tags.extent.as_deref().unwrap_or("").split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let ends = ends.filter(|ends| ends.len() == 6).ok_or("the piece has no Extent")?;
        let mut n = [0; 3];
        for axis in 0..3 {
            let (low, high) = (ends[2 * axis], ends[2 * axis + 1]);
            n[axis] = high.checked_sub(low).and_then(|n| usize::try_from(n).ok()).ok_or("Extent ends before it begins")?;
            origin[axis] += low as f64 * spacing[axis];
        }
        Ok(VtkGeometry::Boxes { n, origin, spacing })
    }

    fn cell_geometry(&self) -> Result<VtkGeometry, String> {
        let coordinates = self.array(Section::Points, None, self.n_points.checked_mul(3).ok_or("too many points")?)?;
        let points: Vec<[f64; 3]> = coordinates.chunks_exact(3).map(|point| [point[0], point[1], point[2]]).collect();
        if !points.iter().flatten().all(|x| x.is_finite()) {
            return Err("a point has a coordinate that is not finite".to_owned());
        }
        let ends = self.ends(OFFSETS, self.n_cells)?;
        let corners = self.whole_numbers(CONNECTIVITY, ends.last().copied().unwrap_or(0))?;
        if corners.iter().any(|&corner| corner as usize >= points.len()) {
            return Err("a cell has a point that does not exist".to_owned());
        }
        let shapes = self.array(Section::Cells, Some(TYPES), self.n_cells)?.into_iter().map(|number| number as u8).collect();
        let has = |name: &str| self.arrays.iter().any(|array| array.section == Section::Cells && array.name == name);
        let faces = if has(FACES) {
            let face_ends = self.ends(FACE_OFFSETS, self.n_cells)?;
            Some((self.whole_numbers(FACES, face_ends.last().copied().unwrap_or(0))?, face_ends))
        } else if has("polyhedron_to_faces") {
            Some(self.shared_faces()?)
        } else {
            None
        };
        Ok(VtkGeometry::Cells { points, corners, ends, shapes, faces })
    }

    /// Faces of polyhedra in files of VTK 9.4 and later: a list of faces, and which of them each
    /// cell has.
    fn shared_faces(&self) -> Result<(Vec<u32>, Vec<usize>), String> {
        let of_cells = self.ends("polyhedron_offsets", self.n_cells)?;
        let faces = self.whole_numbers("polyhedron_to_faces", of_cells.last().copied().unwrap_or(0))?;
        let n_faces = faces.iter().max().map_or(0, |&most| most as usize + 1);
        let ends = self.ends("face_offsets", n_faces)?;
        let points = self.whole_numbers("face_connectivity", ends.last().copied().unwrap_or(0))?;
        let (mut list, mut list_ends, mut begin) = (Vec::new(), Vec::with_capacity(self.n_cells), 0);
        let mut n_uses = vec![0_u8; n_faces];
        for end in of_cells {
            if end > begin {
                list.push((end - begin) as u32);
            }
            for &face in &faces[begin..end] {
                let start = (face as usize).checked_sub(1).map_or(0, |before| ends[before]);
                let of_face = &points[start..ends[face as usize]];
                list.push(of_face.len() as u32);
                list.extend_from_slice(of_face);
                n_uses[face as usize] += 1;
                if n_uses[face as usize] > 2 {
                    return Err(format!("array `polyhedron_to_faces`: face {face} has three cells"));
                }
            }
            list_ends.push(list.len());
            begin = end;
        }
        Ok((list, list_ends))
    }

    /// Numbers of an array of a section, the only one where it has no name.
    fn array(&self, section: Section, name: Option<&str>, expected: usize) -> Result<Vec<f64>, String> {
        let named = |array: &&super::ArrayTag| array.section == section && name.is_none_or(|name| array.name == name);
        let what = name.unwrap_or("Points");
        let array = self.arrays.iter().find(named).ok_or_else(|| format!("no array `{what}`"))?;
        let numbers = self.encoding.numbers(self.bytes, &array.number, &array.place, expected);
        numbers.map_err(|error| format!("array `{what}`: {error}"))
    }

    fn whole_numbers(&self, name: &str, expected: usize) -> Result<Vec<u32>, String> {
        let numbers = self.array(Section::Cells, Some(name), expected)?;
        numbers
            .into_iter()
            .map(|number| {
                let is_index = (0.0..=f64::from(u32::MAX)).contains(&number);
                if is_index { Ok(number as u32) } else { Err(format!("array `{name}`: {number} is not an index")) }
            })
            .collect()
    }

    fn ends(&self, name: &str, expected: usize) -> Result<Vec<usize>, String> {
        let ends: Vec<usize> = self.whole_numbers(name, expected)?.into_iter().map(|end| end as usize).collect();
        if ends.is_sorted() { Ok(ends) } else { Err(format!("array `{name}` does not ascend")) }
    }
}
