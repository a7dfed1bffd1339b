//! Values from results of an earlier run: an array of a file of VTK, on the same grid.

use std::path::Path;

use super::choice::column_key;
use super::matching::{Elements, Mismatch};
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::vtk::Association;
use crate::vtk::reader::{self, VtkFile, VtkGeometry};

/// The numbers of a file, `each` for an element of the domain, in ascending order of the elements
/// in the numbering of the grid's file; and whether the file has its entities in another order.
/// `array` is the name of the array; without it, it is the input's, or else that of the only array.
///
/// # Errors
/// `Data` for a file that is damaged or is no such file, another number of entities than the grid
/// has, or entities at other places, an array that is absent or of another number of components,
/// and a number that is not finite (names the element).
pub fn numbers(
    path: &Path,
    bytes: &[u8],
    name: &str,
    array: Option<&str>,
    domain: &Domain,
    each: usize,
) -> Result<(Vec<f64>, bool), Error> {
    let bad = |what: String| Error::new(ErrorKind::Data, format!("{}: {what}", path.display()));
    let file = reader::read(path, bytes)?;
    let (grid, kind) = (domain.grid(), domain.kind());
    let (association, found, nouns) = match (kind.on_grid_of(grid.dim()), grid.dim()) {
        (EntityKind::Vertex, _) | (EntityKind::Face, 1) => (Association::Points, file.n_points, "points"),
        (EntityKind::Cell | EntityKind::Face | EntityKind::Edge, _) => (Association::Cells, file.n_cells, "cells"),
    };
    let expected = grid.n_entities(kind)?;
    if found != expected {
        let error = bad(format!("the file has {found} {nouns}, and the grid has {expected} {}", kind.nouns()));
        return Err(match kind.on_grid_of(grid.dim()) {
            EntityKind::Face => error.hint("fields on faces are in files with `-faces` before their number"),
            EntityKind::Edge => error.hint("fields on edges are in files with `-edges` before their number"),
            EntityKind::Cell | EntityKind::Vertex => error.hint("give a file of results on the same grid"),
        });
    }
    let names: Vec<&str> = file.names(association).collect();
    let is_there = |name: &str| names.iter().any(|other| *other == name || other.starts_with(&format!("{name} [")));
    let array = match (array, &names[..]) {
        (Some(array), _) => array,
        (None, [only]) if !is_there(name) => only,
        (None, _) => name,
    };
    let values = file.values(association, array).map_err(|error| {
        if is_there(array) { error } else { error.hint(format!("give {}=ARRAY, the name of one of them", column_key(name))) }
    })?;
    // Vectors have three components in these files, also on grids of fewer dimensions.
    if values.components != each && (each == 1 || values.components != 3) {
        let wanted = if each == 1 { "one number".to_owned() } else { format!("{each} numbers") };
        let components = values.components;
        return Err(bad(format!("array `{array}` has {components} components, and input `{name}` needs {wanted} for each element")));
    }
    let rows = rows(&file, path, grid, kind)?;
    let mut numbers = Vec::with_capacity(domain.len() * each);
    for position in 0..domain.len() {
        let position = domain.file_order().map_or(position, |order| order[position] as usize);
        let index = grid.file_index(kind, domain.element(position));
        let row = rows.as_ref().map_or(index, |rows| rows[index as usize]);
        let tuple = &values.numbers[row as usize * values.components..][..each];
        if let Some(number) = tuple.iter().find(|number| !number.is_finite()) {
            let error = bad(format!("array `{array}`: {} {index}: {number} is not a finite number", kind.noun()));
            return Err(if number.is_nan() { error.hint("a field on a part of the grid is NaN on the rest") } else { error });
        }
        numbers.extend_from_slice(tuple);
    }
    Ok((numbers, rows.is_some()))
}

/// The entity of the file that each entity of the grid is, by their places; `None` if they have one
/// order, or if the file or the grid does not tell places.
fn rows(file: &VtkFile<'_>, path: &Path, grid: &Grid, kind: EntityKind) -> Result<Option<Vec<u32>>, Error> {
    let (Ok(geometry), Some(own)) = (file.geometry(), places_in_grid(grid, kind)) else { return Ok(None) };
    let found = places_in_file(geometry, kind.on_grid_of(grid.dim()), grid.dim());
    if found.len() != own.len() {
        return Ok(None);
    }
    let index: Vec<u32> = (0..own.len() as u32).collect();
    let element_of_row = Elements { seen: &own, all: &own, index: &index }.of(&found);
    let noun = kind.noun();
    let shown = |point: [f64; 3]| {
        let numbers: Vec<String> = point[..grid.dim()].iter().map(|x| format!("{x}")).collect();
        format!("({})", numbers.join(", "))
    };
    let element_of_row = element_of_row.map_err(|mismatch| {
        let (row, what) = match mismatch {
            Mismatch::Nowhere { row, nearest, off } => {
                (row, format!("no {noun} of the grid: the nearest is {noun} {nearest} at {}, {off} away", shown(own[nearest])))
            }
            Mismatch::Both { row, elements: [first, second] } => (row, format!("where {noun} {first} and {noun} {second} of the grid are")),
            Mismatch::Again { row, earlier, element } => {
                (row, format!("{noun} {element} of the grid, and {noun} {earlier} of the file is it, too"))
            }
        };
        let message = format!("{}: {noun} {row} of the file, at {}, is {what}", path.display(), shown(found[row]));
        Error::new(ErrorKind::Data, message).hint("give a file of results on the same grid; its entities may have another order")
    })?;
    Ok(element_of_row.map(|element_of_row| {
        let mut rows = vec![0; own.len()];
        element_of_row.into_iter().zip(0..).for_each(|(element, row)| rows[element as usize] = row);
        rows
    }))
}

/// Means of the corners of the entities of a kind, in the order of the grid's file; `None` for a
/// grid without nodes.
fn places_in_grid(grid: &Grid, kind: EntityKind) -> Option<Vec<[f64; 3]>> {
    let points = grid.corner_positions().ok()?;
    match grid.corners(kind).ok()? {
        None => Some(points),
        Some(corners) => Some((0..corners.len()).map(|entity| mean(&points, corners.of(entity), grid.dim())).collect()),
    }
}

/// Means of the corners of the entities of a file that are those of a kind, without the axes that
/// the grid does not have.
fn places_in_file(geometry: VtkGeometry, kind: EntityKind, dim: usize) -> Vec<[f64; 3]> {
    let are_points = kind == EntityKind::Vertex || (kind == EntityKind::Face && dim == 1);
    match geometry {
        VtkGeometry::Cells { points, .. } if are_points => points.iter().map(|point| along(*point, dim)).collect(),
        VtkGeometry::Cells { points, corners, ends, .. } => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            starts.zip(&ends).map(|(start, &end)| mean(&points, &corners[start..end], dim)).collect()
        }
        VtkGeometry::Boxes { n, origin, spacing } => {
            // Points are at ends, centres half a box behind them.
            let count = |axis: usize| if are_points { n[axis] + 1 } else { n[axis].max(1) };
            let place = |axis: usize, i: usize| {
                let half = if are_points || n[axis] == 0 { 0.0 } else { 0.5 };
                origin[axis] + (i as f64 + half) * spacing[axis]
            };
            let mut places = Vec::new();
            for k in 0..count(2) {
                for j in 0..count(1) {
                    places.extend((0..count(0)).map(|i| along([place(0, i), place(1, j), place(2, k)], dim)));
                }
            }
            places
        }
    }
}

fn mean(points: &[[f64; 3]], corners: &[u32], dim: usize) -> [f64; 3] {
    let mut sum = [0.0; 3];
    corners.iter().for_each(|&corner| (0..3).for_each(|axis| sum[axis] += points[corner as usize][axis]));
    along(sum.map(|sum| sum / corners.len().max(1) as f64), dim)
}

/// A point without the axes that the grid does not have.
fn along(mut point: [f64; 3], dim: usize) -> [f64; 3] {
    point[dim..].fill(0.0);
    point
}

/// The truth values of a file; see [`numbers`].
///
/// # Errors
/// As for [`numbers`], and for a number that is neither 0 nor 1.
pub fn truths(path: &Path, bytes: &[u8], name: &str, array: Option<&str>, domain: &Domain) -> Result<(Vec<bool>, bool), Error> {
    let truth = |number: f64| match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        other => Err(Error::new(ErrorKind::Data, format!("{}: {other} is not a truth value, which is 0 or 1", path.display()))),
    };
    let (numbers, is_sorted) = numbers(path, bytes, name, array, domain, 1)?;
    Ok((numbers.into_iter().map(truth).collect::<Result<_, Error>>()?, is_sorted))
}
