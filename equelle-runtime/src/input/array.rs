//! Inputs that are given as arrays in memory.

use std::path::PathBuf;
use std::sync::Arc;

use super::data_file::EntityList;
use crate::data_array::{ArrayValues, DataArray, index_text, shape_text};
use crate::domain::Domain;
use crate::entity::{EntityKind, Extent};
use crate::error::{Error, ErrorKind};
use crate::io::table::Column;
use crate::number::general;

/// The numbers of the elements of a domain in the order of the grid's file, `each` for an element.
///
/// # Errors
/// `Data` for values of another type, another shape, and a number that is not finite.
pub(super) fn numbers(name: &str, array: &DataArray, domain: &Domain, each: usize) -> Result<Arc<Vec<f64>>, Error> {
    let ArrayValues::Numbers(values) = &array.values else { return Err(wrong_type(name, array, "numbers")) };
    check_shape(&format!("input `{name}`"), &array.shape, domain, each)?;
    check_finite(name, array, values)?;
    Ok(Arc::clone(values))
}

/// The truth values of the elements of a domain in the order of the grid's file.
///
/// # Errors
/// `Data` for values of another type and another shape.
pub(super) fn truths(name: &str, array: &DataArray, domain: &Domain) -> Result<Arc<Vec<bool>>, Error> {
    let ArrayValues::Truths(values) = &array.values else { return Err(wrong_type(name, array, "truth values")) };
    check_shape(&format!("input `{name}`"), &array.shape, domain, 1)?;
    Ok(Arc::clone(values))
}

/// Entities of a subset, ascending, in the numbering of the grid's file.
///
/// # Errors
/// `Data` for values of another type, and for the first one that is no element of `within` or not
/// larger than the one before.
pub(super) fn entities(name: &str, array: &DataArray, within: &Domain) -> Result<Vec<u32>, Error> {
    let ArrayValues::Indices(values) = &array.values else { return Err(wrong_type(name, array, "indices")) };
    check_axes(name, array, 1)?;
    let mut list = EntityList::new(within);
    for (position, &value) in values.iter().enumerate() {
        list.push(value, &value.to_string(), "array")
            .map_err(|(what, hint)| Error::new(ErrorKind::Data, format!("input `{name}`: element [{position}]: {what}")).hint(hint))?;
    }
    Ok(list.into_elements())
}

/// Numbers along one axis.
///
/// # Errors
/// `Data` for values of another type, more axes, and a number that is not finite.
pub(super) fn sequence(name: &str, array: &DataArray) -> Result<Arc<Vec<f64>>, Error> {
    let ArrayValues::Numbers(values) = &array.values else { return Err(wrong_type(name, array, "numbers")) };
    check_axes(name, array, 1)?;
    check_finite(name, array, values)?;
    Ok(Arc::clone(values))
}

/// Columns of a table, with what stands for its file in messages and for the lines of rows.
///
/// # Errors
/// `Data` for values of another type, a column that is not there, and a number that is not finite.
pub(super) fn columns<const N: usize>(name: &str, array: &DataArray, wanted: [&str; N]) -> Result<(PathBuf, [Column; N], Vec<u64>), Error> {
    let ArrayValues::Columns(columns) = &array.values else { return Err(wrong_type(name, array, "columns of a table")) };
    let rows = array.shape.first().copied().unwrap_or(0);
    let find = |column: &str| columns.iter().find(|(known, _)| known == column).map(|(_, numbers)| numbers);
    for column in wanted {
        let Some(numbers) = find(column) else {
            let names: Vec<&str> = columns.iter().map(|(known, _)| known.as_str()).collect();
            let message = format!("input `{name}`: no column `{column}`; there are {}", names.join(", "));
            return Err(Error::new(ErrorKind::Data, message));
        };
        check_finite(column, array, numbers)?;
    }
    let found =
        wanted.map(|column| Column { numbers: find(column).map_or_else(Vec::new, |numbers| numbers.to_vec()), unit: None, line: 1 });
    Ok((PathBuf::from(format!("input `{name}`, row")), found, (1..=rows as u64).collect()))
}

/// True if a shape is the cells of a Cartesian grid of more than one axis, the last axis first.
///
/// # Errors
/// `Data` for a shape that is neither that nor an element after another; behind either are the
/// components of a Vector. `subject` begins the message.
pub(super) fn check_shape(subject: &str, found: &[usize], domain: &Domain, each: usize) -> Result<bool, Error> {
    let components: &[usize] = if each == 1 { &[] } else { &[each] };
    let flat = [&[domain.len()], components].concat();
    let all_cells = domain.canonical_set().is_some_and(|set| set.kind == EntityKind::Cell && set.extent == Extent::All);
    let cartesian = domain.grid().closed_shape().filter(|shape| all_cells && shape.dim > 1);
    let of_axes = |n: Vec<usize>| [&n[..], components].concat();
    let n = cartesian.map(|shape| of_axes(shape.n[..shape.dim].iter().rev().copied().collect()));
    if n.as_deref() == Some(found) {
        return Ok(true);
    }
    if found == flat {
        return Ok(false);
    }
    let other = n.map_or_else(String::new, |n| format!(" or {}", shape_text(&n)));
    let message = format!("{subject} on {}: expected shape {}{other}, found {}", domain.name(), shape_text(&flat), shape_text(found));
    let is_transposed = cartesian.is_some_and(|shape| of_axes(shape.n[..shape.dim].to_vec()) == found);
    let rule = match (all_cells, found.len()) {
        (true, 2..) if is_transposed => format!("{AXES}; these axes are in the other order: `numpy.transpose` turns them"),
        (true, 2..) => AXES.to_owned(),
        _ => "the array needs one value per element of the domain, in ascending order of the elements".to_owned(),
    };
    Err(Error::new(ErrorKind::Data, message).hint(rule))
}

/// The order of the axes of an array.
pub(super) const AXES: &str = "the first index counts along the last axis of the grid: u[k, j, i], as NumPy has images";

fn check_axes(name: &str, array: &DataArray, axes: usize) -> Result<(), Error> {
    if array.shape.len() == axes {
        return Ok(());
    }
    let message = format!("input `{name}`: expected {axes} axis, found shape {}", array.shape_text());
    Err(Error::new(ErrorKind::Data, message))
}

fn check_finite(name: &str, array: &DataArray, values: &[f64]) -> Result<(), Error> {
    let Some(position) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let value = general(values[position]);
    Err(Error::new(
        ErrorKind::Data,
        format!("input `{name}`: element [{}]: {value} is not a finite number", index_text(&array.shape, position)),
    ))
}

fn wrong_type(name: &str, array: &DataArray, wanted: &str) -> Error {
    Error::new(ErrorKind::Data, format!("input `{name}` needs {wanted}, and an {array} was given"))
}
