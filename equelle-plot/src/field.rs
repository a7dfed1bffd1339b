//! One collection at one step: numbers on cells, and the cells.

use std::path::Path;

use equelle_runtime::io::npy;
use equelle_runtime::number::Words;
use equelle_runtime::vtk::Association;
use equelle_runtime::vtk::reader::{self, VtkGeometry};
use equelle_runtime::{Error, ErrorKind};

use crate::run::{Content, OutputFile, Run, split_unit};

/// Numbers of a collection, and where they are.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its unit, if it is known.
    pub unit: Option<String>,
    /// Round of the outermost loop.
    pub step: u64,
    /// Its time, if it is known.
    pub time: Option<f64>,
    /// One number for each cell: of vectors their length, of values on vertices the mean of those
    /// of the cell.
    pub values: Vec<f64>,
    /// The cells.
    pub geometry: VtkGeometry,
}

/// Least number of cells of a row that is drawn as a line; fewer are a map.
const MIN_OF_ROW: usize = 8;

/// Which number of a Vector is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The length.
    Length,
    /// The component along an axis.
    Axis(usize),
}

impl Field {
    /// Dimensions in which it is drawn: those of the grid, but a single row of several cells is a
    /// line.
    pub fn dim(&self) -> usize {
        match &self.geometry {
            VtkGeometry::Boxes { n: [across, 1, 0], .. } if *across >= MIN_OF_ROW => 1,
            VtkGeometry::Boxes { n, .. } => n.iter().rposition(|&n| n > 0).map_or(1, |last| last + 1),
            VtkGeometry::Cells { shapes, .. } => match shapes.iter().max() {
                Some(0..=4) | None => 1,
                Some(5..=9) => 2,
                Some(10..) => 3,
            },
        }
    }

    /// How many values are NaN.
    pub fn n_nan(&self) -> usize {
        self.values.iter().filter(|value| value.is_nan()).count()
    }

    /// Reads a tag from a file; `None` if a file of VTK lacks it.
    ///
    /// # Errors
    /// `Io`; `Data` for damaged files, and for NumPy arrays and text of a grid that the record of
    /// the run does not describe, or of another length than the grid has cells.
    pub fn read(run: &Run, file: &OutputFile, tag: &str, component: Component) -> Result<Option<Field>, Error> {
        let bytes = file.read()?;
        let field = |unit: Option<&str>, values, geometry| Field {
            unit: unit.or_else(|| run.units.output(tag)).map(str::to_owned),
            step: file.step,
            time: file.time,
            values,
            geometry,
        };
        match &file.content {
            Content::Step => {
                let vtk = reader::read(&file.path, &bytes)?;
                for association in [Association::Cells, Association::Points] {
                    let Some(name) = vtk.names(association).find(|name| *name == tag || split_unit(name).0 == tag) else { continue };
                    let found = vtk.values(association, name)?;
                    let geometry = vtk.geometry()?;
                    let leaves_out = |n: &[usize; 3]| n.windows(2).any(|pair| pair[0] == 0 && pair[1] > 0) || n[0] == 0 && n[2] > 0;
                    if matches!(&geometry, VtkGeometry::Boxes { n, .. } if leaves_out(n)) {
                        let message = format!("{}: a grid without extent along one of its first axes", file.path.display());
                        return Err(Error::new(ErrorKind::Data, message));
                    }
                    let numbers = numbers(&found.numbers, found.components, component);
                    let values = match association {
                        Association::Cells => numbers,
                        Association::Points => means(&geometry, &numbers),
                    };
                    return Ok(Some(field(split_unit(name).1, values, geometry)));
                }
                Ok(None)
            }
            Content::Npy(_) => {
                let array = npy::read(&file.path, &bytes)?;
                let values = numbers(&array.values()?, array.shape().get(1).copied().unwrap_or(1).max(1), component);
                let geometry = geometry_of(run, &file.path, values.len())?;
                Ok(Some(field(None, values, geometry)))
            }
            Content::Text(_) => {
                let (values, columns) = text(&file.path, &bytes)?;
                let values = numbers(&values, columns, component);
                let geometry = geometry_of(run, &file.path, values.len())?;
                Ok(Some(field(None, values, geometry)))
            }
            Content::Rows => Ok(None),
        }
    }
}

/// One number of each tuple.
fn numbers(values: &[f64], columns: usize, component: Component) -> Vec<f64> {
    let tuple = |tuple: &[f64]| match component {
        _ if tuple.len() == 1 => tuple[0],
        Component::Length => tuple.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Component::Axis(axis) => tuple.get(axis).copied().unwrap_or(f64::NAN),
    };
    values.chunks_exact(columns).map(tuple).collect()
}

/// The grid that the record of a run describes, for files that hold none.
fn geometry_of(run: &Run, path: &Path, n_values: usize) -> Result<VtkGeometry, Error> {
    let bad = |what: String| Error::new(ErrorKind::Data, format!("{}: {what}", path.display())).hint("run with output_format=vtu");
    let Some((numbers, widths)) = &run.boxes else {
        return Err(bad("the file does not hold the grid, which is not Cartesian".to_owned()));
    };
    let (mut n, mut spacing) = ([0; 3], [1.0; 3]);
    n[..numbers.len()].copy_from_slice(numbers);
    spacing[..widths.len()].copy_from_slice(widths);
    let n_cells = numbers.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    if n_cells != Some(n_values) {
        return Err(bad(format!(
            "{n_values} values on a grid of {} cells: those of other entities, or of a part of the cells",
            run.n_cells
        )));
    }
    Ok(VtkGeometry::Boxes { n, origin: [0.0; 3], spacing })
}

/// Numbers of a text, and how many stand in its first line.
fn text(path: &Path, bytes: &[u8]) -> Result<(Vec<f64>, usize), Error> {
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let columns = Words::new(first).count().max(1);
    let number = |(index, word): (usize, &[u8])| {
        std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok()).ok_or_else(|| {
            let line = index / columns + 1;
            Error::new(ErrorKind::Data, format!("{}: line {line}: `{}` is not a number", path.display(), String::from_utf8_lossy(word)))
        })
    };
    let numbers: Result<Vec<f64>, Error> = Words::new(bytes).map(|word| word.bytes).enumerate().map(number).collect();
    Ok((numbers?, columns))
}

/// Values on points to cells: the mean of the corners.
fn means(geometry: &VtkGeometry, values: &[f64]) -> Vec<f64> {
    match geometry {
        VtkGeometry::Boxes { n, .. } => {
            let points = n.map(|n| n + 1);
            let last = n.map(|n| usize::from(n > 0));
            let cells = n.map(|n| n.max(1));
            let mut found = Vec::with_capacity(cells.iter().product());
            for z in 0..cells[2] {
                for y in 0..cells[1] {
                    for x in 0..cells[0] {
                        let corners = (0..8).map(|corner| [corner & 1, corner >> 1 & 1, corner >> 2]);
                        let own = corners.filter(|corner| (0..3).all(|axis| corner[axis] <= last[axis]));
                        let of = |corner: [usize; 3]| values[((z + corner[2]) * points[1] + y + corner[1]) * points[0] + x + corner[0]];
                        let (sum, n) = own.fold((0.0, 0.0), |(sum, n), corner| (sum + of(corner), n + 1.0));
                        found.push(sum / n);
                    }
                }
            }
            found
        }
        VtkGeometry::Cells { corners, ends, .. } => {
            let mut start = 0;
            let mean = |&end: &usize| {
                let own = &corners[start..end];
                start = end;
                own.iter().map(|&corner| values[corner as usize]).sum::<f64>() / own.len() as f64
            };
            ends.iter().map(mean).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors (3, 4) and (0, 2) have lengths 5 and 2, second components 4 and 2.
    #[test]
    fn one_number_of_a_vector() {
        let values = [3.0, 4.0, 0.0, 2.0];
        assert_eq!(numbers(&values, 2, Component::Length), [5.0, 2.0]);
        assert_eq!(numbers(&values, 2, Component::Axis(1)), [4.0, 2.0]);
        assert_eq!(numbers(&values, 1, Component::Axis(1)), values);
    }

    /// On 2 by 1 cells with values x + 10 y at the vertices the means are those at the centres.
    #[test]
    fn values_on_vertices_become_means() {
        let boxes = VtkGeometry::Boxes { n: [2, 1, 0], origin: [0.0; 3], spacing: [1.0; 3] };
        assert_eq!(means(&boxes, &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]), [5.5, 6.5]);
    }
}
