//! Values from results of an earlier run: an array of a file of VTK, on the same grid.

use std::path::Path;

use super::choice::column_key;
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::io::vtk::{self, Association};

/// The numbers of a file, `each` for an element of the domain, in ascending order of the elements
/// in the numbering of the grid's file. `array` is the name of the array; without it, it is the
/// input's, or else that of the only array.
///
/// # Errors
/// `Data` for a file that is damaged or is no such file, another number of entities than the grid
/// has, an array that is absent or of another number of components, and a number that is not finite
/// (names the element).
pub fn numbers(path: &Path, bytes: &[u8], name: &str, array: Option<&str>, domain: &Domain, each: usize) -> Result<Vec<f64>, Error> {
    let bad = |what: String| Error::new(ErrorKind::Data, format!("{}: {what}", path.display()));
    let file = vtk::read(path, bytes)?;
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
    let mut numbers = Vec::with_capacity(domain.len() * each);
    for position in 0..domain.len() {
        let position = domain.file_order().map_or(position, |order| order[position] as usize);
        let index = grid.file_index(kind, domain.element(position));
        let tuple = &values.numbers[index as usize * values.components..][..each];
        if let Some(number) = tuple.iter().find(|number| !number.is_finite()) {
            let error = bad(format!("array `{array}`: {} {index}: {number} is not a finite number", kind.noun()));
            return Err(if number.is_nan() { error.hint("a field on a part of the grid is NaN on the rest") } else { error });
        }
        numbers.extend_from_slice(tuple);
    }
    Ok(numbers)
}

/// The truth values of a file; see [`numbers`].
///
/// # Errors
/// As for [`numbers`], and for a number that is neither 0 nor 1.
pub fn truths(path: &Path, bytes: &[u8], name: &str, array: Option<&str>, domain: &Domain) -> Result<Vec<bool>, Error> {
    let truth = |number: f64| match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        other => Err(Error::new(ErrorKind::Data, format!("{}: {other} is not a truth value, which is 0 or 1", path.display()))),
    };
    numbers(path, bytes, name, array, domain, 1)?.into_iter().map(truth).collect()
}
