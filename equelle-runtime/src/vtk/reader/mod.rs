//! Arrays in files of VTK's XML formats: `.vtu`, `.vti` and `.vtr`, of one piece; in text, in base
//! 64 or appended, compressed by zlib or not, in either order of bytes.
//!
//! `tags` reads the tags and `data` the numbers. `geometry` reads the cells for who asks for them,
//! `grid` makes a grid of them, `legacy` does so from the older format.

mod data;
mod error;
mod geometry;
mod grid;
mod legacy;
mod tags;

use std::path::Path;

use super::names::{Association, FIELD_DATA};
use crate::error::Error;
use data::Encoding;
use error::bad;
use tags::{Tag, Tags};

pub use geometry::VtkGeometry;
pub use grid::read_grid;
pub use legacy::read_legacy_grid;

/// A file: its arrays are not read yet.
#[derive(Debug)]
pub struct VtkFile<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    encoding: Encoding,
    /// Number of points.
    pub n_points: usize,
    /// Number of cells.
    pub n_cells: usize,
    boxes: Option<geometry::BoxTags>,
    arrays: Vec<ArrayTag>,
}

/// Section of a file in which an array stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// It has a tuple for each point or cell.
    Values(Association),
    /// It belongs to the whole file.
    Whole,
    /// Coordinates of points.
    Points,
    /// Definition of the cells.
    Cells,
}

impl Section {
    fn of(tag: &str) -> Option<Section> {
        let values = [Association::Points, Association::Cells].into_iter().find(|association| association.tag() == tag);
        match tag {
            FIELD_DATA => Some(Section::Whole),
            "Points" => Some(Section::Points),
            "Cells" => Some(Section::Cells),
            _ => values.map(Section::Values),
        }
    }
}

/// An array as its tag describes it.
#[derive(Clone, Debug)]
struct ArrayTag {
    name: String,
    section: Section,
    components: usize,
    number: String,
    place: data::DataLocation,
}

/// Numbers of an array, one tuple behind the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Numbers of a tuple.
    pub components: usize,
    /// Perhaps NaN or infinite.
    pub numbers: Vec<f64>,
}

/// True if the bytes begin like a file of these formats.
pub fn is_vtk(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(1024)];
    start.trim_ascii_start().starts_with(b"<") && start.windows(8).any(|window| window == b"<VTKFile")
}

/// Reads the tags of a file; `path` is for messages.
///
/// # Errors
/// `Data` for another format or type of data set, several pieces, a compression that is not read
/// (by name), and tags that are not closed.
pub fn read<'a>(path: &'a Path, bytes: &'a [u8]) -> Result<VtkFile<'a>, Error> {
    let bad = |what: &str| bad(path, what);
    let mut tags = Tags::new(path, bytes);
    let file = loop {
        match tags.next()? {
            Some(tag) if tag.name == "VTKFile" => break tag,
            Some(_) => {}
            None => return Err(bad("not a file of VTK: there is no tag `VTKFile`")),
        }
    };
    let kind = file.get("type").unwrap_or("none");
    if kind == "PolyData" {
        let hint = "a grid needs cells that fill the plane or space: save the volume as `.vtu`";
        return Err(bad("data set of type `PolyData`: a surface, or lines, and no grid").hint(hint));
    }
    if !matches!(kind, "UnstructuredGrid" | "ImageData" | "RectilinearGrid") {
        return Err(bad(&format!("data set of type `{kind}`; types that are read are UnstructuredGrid, ImageData and RectilinearGrid"))
            .hint("save the file as `.vtu`; of a parallel file (`.pvtu`), merge the pieces"));
    }
    let mut found = VtkFile {
        path,
        bytes,
        encoding: Encoding::of(&file).map_err(|what| bad(&what).hint("save the file in text, or compressed by zlib or not at all"))?,
        n_points: 0,
        n_cells: 0,
        boxes: None,
        arrays: Vec::new(),
    };
    let (mut n_pieces, mut section) = (0, None);
    while let Some(tag) = tags.next()? {
        match (tag.name.as_str(), tag.is_end) {
            ("Piece", false) => {
                n_pieces += 1;
                (found.n_points, found.n_cells) =
                    counts(&tag, kind).ok_or_else(|| bad("tag `Piece` has no numbers of points and cells"))?;
                if let Some(boxes) = &mut found.boxes {
                    boxes.extent = tag.get("Extent").map(str::to_owned);
                }
            }
            ("ImageData", false) => found.boxes = Some(geometry::BoxTags::of(&tag)),
            ("DataArray", false) => match (section, section.map(|section| ArrayTag::of(&tag, section))) {
                (Some(Section::Values(_)), Some(array)) => {
                    let array = array.map_err(|what| bad(&what))?;
                    if found.arrays.iter().any(|other| other.name == array.name && other.section == array.section) {
                        return Err(bad(&format!("two arrays `{}`", array.name)));
                    }
                    found.arrays.push(array);
                }
                // Who asks for the geometry is told what is missing.
                (Some(Section::Whole | Section::Points | Section::Cells), Some(Ok(array))) => found.arrays.push(array),
                (None, _) | (_, None | Some(Err(_))) => {}
            },
            ("AppendedData", false) => {
                found.encoding.append(&tag, bytes).map_err(|what| bad(&what))?;
                break;
            }
            (name, is_end) => {
                if let Some(named) = Section::of(name) {
                    section = Some(named).filter(|_| !is_end && !tag.is_empty);
                }
            }
        }
    }
    match n_pieces {
        0 => Err(bad("there is no tag `Piece`")),
        1 => Ok(found),
        _ => {
            Err(bad(&format!("{n_pieces} pieces; files of one piece are read"))
                .hint("merge them, in ParaView with the filter Merge Blocks"))
        }
    }
}

/// Numbers of points and cells of a piece.
fn counts(piece: &Tag, kind: &str) -> Option<(usize, usize)> {
    let number = |key: &str| piece.get(key)?.trim().parse::<usize>().ok();
    if kind == "UnstructuredGrid" {
        return Some((number("NumberOfPoints")?, number("NumberOfCells")?));
    }
    let ends: Option<Vec<i64>> = piece.get("Extent")?.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let ends = ends.filter(|ends| ends.len() == 6)?;
    let (mut points, mut cells) = (1_usize, 1_usize);
    for axis in ends.chunks(2) {
        let n = usize::try_from(axis[1].checked_sub(axis[0])?).ok()?;
        points = points.checked_mul(n.checked_add(1)?)?;
        cells = cells.checked_mul(n.max(1))?;
    }
    Some((points, cells))
}

impl ArrayTag {
    fn of(tag: &Tag, section: Section) -> Result<ArrayTag, String> {
        let name = tag.get("Name").unwrap_or_default().to_owned();
        let components = tag.get("NumberOfComponents").unwrap_or("1").trim();
        let components = components.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("array `{name}`: `{components}` components"))?;
        let number = tag.get("type").unwrap_or("none").to_owned();
        let place = data::DataLocation::of(tag).map_err(|what| format!("array `{name}`: {what}"))?;
        Ok(ArrayTag { name, section, components, number, place })
    }
}

impl VtkFile<'_> {
    /// Names of the arrays of points or cells, in the order of the file.
    pub fn names(&self, association: Association) -> impl Iterator<Item = &str> {
        self.arrays.iter().filter(move |array| array.section == Section::Values(association)).map(|array| &array.name[..])
    }

    /// The types of numbers of arrays that are not read, with their names.
    pub fn unread(&self, association: Association) -> impl Iterator<Item = (&str, &str)> {
        let of_kind = move |array: &&ArrayTag| array.section == Section::Values(association);
        let arrays = self.arrays.iter().filter(of_kind).filter(|array| !data::is_read(&array.number));
        arrays.map(|array| (&array.name[..], &array.number[..]))
    }

    /// Numbers of the array of this name, perhaps with a unit behind it in brackets: `p` is also
    /// the name of `p [Bar]`.
    ///
    /// # Errors
    /// `Data` if there is none (names those that there are), for a type that is not read, and for
    /// data that is too short, damaged, or of another length than there are entities.
    pub fn values(&self, association: Association, name: &str) -> Result<Values, Error> {
        let has_unit = |array: &str| array.strip_prefix(name).is_some_and(|rest| rest.starts_with(" [") && rest.ends_with(']'));
        let (noun, n) = match association {
            Association::Points => ("points", self.n_points),
            Association::Cells => ("cells", self.n_cells),
        };
        let of_kind = || self.arrays.iter().filter(|array| array.section == Section::Values(association));
        let Some(array) = of_kind().find(|array| array.name == name).or_else(|| of_kind().find(|array| has_unit(&array.name))) else {
            let names: Vec<String> = self.names(association).map(|name| format!("`{name}`")).collect();
            let others = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(bad(self.path, &format!("no array `{name}` of {noun}; there are {others}")));
        };
        let expected = n.checked_mul(array.components).ok_or_else(|| bad(self.path, "more numbers than memory can hold"))?;
        let numbers = self.encoding.numbers(self.bytes, &array.number, &array.place, expected);
        let numbers = numbers.map_err(|what| bad(self.path, &format!("array `{}`: {what}", array.name)))?;
        Ok(Values { components: array.components, numbers })
    }
}
