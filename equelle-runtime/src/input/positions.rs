//! Positions beside values in a table: they say which element a row belongs to.

use std::path::Path;

use super::matching::{Elements, Mismatch};
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::io::csv::Located;
use crate::number::write_shortest;

/// Values in the order of the elements in the grid's file; whether that is another order than that
/// of the rows.
///
/// # Errors
/// `Data`, with the line: a position that is no element's, two of one element, and columns that do
/// not tell elements apart.
pub(super) fn in_file_order(path: &Path, located: Located, name: &str, grid: &Grid, domain: &Domain) -> Result<(Vec<f64>, bool), Error> {
    let Located { values, positions } = located;
    // Another number of rows is an error of its own.
    let Some(positions) = positions.filter(|positions| positions.points.len() == domain.len()) else { return Ok((values, false)) };
    let kind = domain.kind();
    let centroids = grid.centroids_of(kind);
    let of_file = |index: u32| centroids.at(grid.entity_of_file(kind, index));
    let all: Option<Vec<[f64; 3]>> = (0..grid.n_entities(kind)? as u32).map(of_file).collect();
    let Some(all) = all else {
        let message = format!("{}: positions beside values, and the grid tells no centroids of {}", path.display(), kind.nouns());
        return Err(Error::new(ErrorKind::Data, message).hint("rename the columns of positions: values are taken in order then"));
    };
    let position_of = |element: usize| domain.file_order().map_or(element, |order| order[element] as usize);
    let index: Vec<u32> = (0..domain.len()).map(|element| grid.file_index(kind, domain.element(position_of(element)))).collect();
    let seen = |point: [f64; 3]| seen(point, positions.axes, grid.dim());
    let table = Table {
        path,
        name,
        domain,
        columns: (0..3).filter(|&axis| positions.axes[axis]).map(|axis| ["x", "y", "z"][axis]).collect(),
        points: positions.points.iter().map(|point| seen(*point)).collect(),
        lines: &positions.lines,
        centroids: index.iter().map(|&index| seen(all[index as usize])).collect(),
        index: &index,
    };
    let elements = Elements { seen: &table.centroids, all: &all, index: &index };
    let Some(element_of_row) = elements.of(&table.points).map_err(|mismatch| table.error(mismatch))? else { return Ok((values, false)) };
    let mut sorted = vec![0.0; values.len()];
    for (element, value) in element_of_row.into_iter().zip(values) {
        sorted[element as usize] = value;
    }
    Ok((sorted, true))
}

/// A point without the axes that have no column, or that the grid does not have.
fn seen(point: [f64; 3], axes: [bool; 3], dim: usize) -> [f64; 3] {
    let mut seen = [0.0; 3];
    (0..dim).filter(|&axis| axes[axis]).for_each(|axis| seen[axis] = point[axis]);
    seen
}

/// Rows and elements, for messages.
struct Table<'a> {
    path: &'a Path,
    name: &'a str,
    domain: &'a Domain,
    columns: Vec<&'static str>,
    /// Positions of the rows.
    points: Vec<[f64; 3]>,
    lines: &'a [u64],
    /// Centroids of the elements, in the order of the grid's file, with their indices there.
    centroids: Vec<[f64; 3]>,
    index: &'a [u32],
}

impl Table<'_> {
    fn error(&self, mismatch: Mismatch) -> Error {
        let (noun, nouns, columns) = (self.domain.kind().noun(), self.domain.kind().nouns(), self.columns.join(", "));
        let (row, what, hint) = match mismatch {
            Mismatch::Nowhere { row, nearest, off } => {
                let mut away = String::new();
                write_shortest(&mut away, off);
                let (point, name, nearest) = (self.tuple(self.points[row]), self.domain.name(), self.element(nearest));
                let what = format!("{point} is the centroid of no {noun} of {name}: the nearest is {nearest}, {away} away");
                let hint = format!(
                    "a row belongs to the {noun} whose centroid its columns {columns} have, in metres, to a tenth of the distance of the next centroid; rename columns that are no positions"
                );
                (row, what, hint)
            }
            Mismatch::Both { row, elements } => {
                let [first, second] = elements.map(|element| self.element(element));
                let hint = format!("the rows are not in the order of the {nouns}, and {columns} alone cannot tell: give all coordinates");
                (row, format!("both {first} and {second} have these coordinates"), hint)
            }
            Mismatch::Again { row, earlier, element } => {
                let what = format!("{} again: line {} has it, too", self.element(element), self.lines[earlier]);
                (row, what, format!("each {noun} needs one row"))
            }
        };
        let (path, line) = (self.path.display(), self.lines[row]);
        Error::new(ErrorKind::Data, format!("{path}:{line}: input `{}`: {what}", self.name)).hint(hint)
    }

    /// `cell 17 at (0.5, 1)`
    fn element(&self, element: usize) -> String {
        format!("{} {} at {}", self.domain.kind().noun(), self.index[element], self.tuple(self.centroids[element]))
    }

    /// The coordinates that there are.
    fn tuple(&self, point: [f64; 3]) -> String {
        let axes = (0..3).filter(|&axis| self.columns.contains(&["x", "y", "z"][axis]));
        let numbers: Vec<String> = axes
            .map(|axis| {
                let mut text = String::new();
                write_shortest(&mut text, point[axis]);
                text
            })
            .collect();
        format!("({})", numbers.join(", "))
    }
}
