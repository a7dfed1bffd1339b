//! `$ElementData`: numbers of elements, which become named arrays of the cells.

use std::collections::BTreeMap;

use super::reader::Reader;
use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::NamedArray;

/// Numbers of elements.
#[derive(Debug)]
pub(super) struct ElementData {
    name: String,
    /// 1 or 3.
    components: usize,
    /// Tags of elements; several values of one are those of several time steps, of which the last
    /// counts.
    tags: Vec<u64>,
    /// `[n * components]`
    values: Vec<f64>,
}

/// Names of components.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Reads the section up to its end; `None` for tensors and for data without a name, which are
/// nothing that an input takes.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<ElementData>, Error> {
    let mut name = None;
    for at in 0..lines(reader, "texts")? {
        reader.next_line();
        let line = reader.rest_of_line();
        if at == 0 {
            name = Some(String::from_utf8_lossy(line).trim_matches('"').to_string()).filter(|name| !name.is_empty());
        }
    }
    for _ in 0..lines(reader, "real numbers")? {
        reader.next_line();
        reader.rest_of_line();
    }
    let mut whole = [0; 3];
    for at in 0..lines(reader, "whole numbers")? {
        let number = reader.count_in_text("the step, the number of components or that of elements")?;
        if let Some(place) = whole.get_mut(at) {
            *place = number;
        }
    }
    let [_, components, count] = whole;
    let (Some(name), 1 | 3) = (name, components) else { return Ok(None) };
    let components = components as usize;
    let count = reader.checked(count, "elements with data", [1, 0, components])?;
    let mut data = ElementData { name, components, tags: Vec::with_capacity(count), values: Vec::with_capacity(count * components) };
    for _ in 0..count {
        let tag = reader.int("the number of an element")?;
        data.tags.push(u64::from(tag.unsigned_abs()));
        for _ in 0..components {
            data.values.push(reader.real("the value of an element")?);
        }
    }
    Ok(Some(data))
}

/// Number of lines that follow, which is text in binary files as well.
fn lines(reader: &mut Reader<'_>, items: &str) -> Result<usize, Error> {
    let count = reader.count_in_text("a number of lines")?;
    reader.checked(count, items, [1, 0, 0])
}

/// Arrays of those data that have a value for every cell, whose tags are given; of two data with
/// one name the later one.
pub(super) fn arrays(data: Vec<ElementData>, tags: impl Iterator<Item = Option<u64>>) -> Vec<NamedArray> {
    if data.is_empty() {
        return Vec::new();
    }
    let cell_of: BTreeMap<u64, u32> = tags.zip(0..).filter_map(|(tag, cell)| Some((tag?, cell))).collect();
    let mut arrays: BTreeMap<String, NamedArray> = BTreeMap::new();
    for ElementData { name, components, tags, values } in data {
        let mut columns = vec![vec![f64::NAN; cell_of.len()]; components];
        for (tag, with_element) in tags.iter().zip(values.chunks_exact(components)) {
            // The others are faces, or repeats of cells for further groups.
            let Some(&cell) = cell_of.get(tag) else { continue };
            columns.iter_mut().zip(with_element).for_each(|(column, value)| column[cell as usize] = *value);
        }
        if columns[0].iter().any(|value| value.is_nan()) {
            continue;
        }
        for (axis, values) in columns.into_iter().enumerate() {
            let name = if components == 1 { name.clone() } else { format!("{name}_{}", AXES[axis]) };
            arrays.insert(name.clone(), NamedArray { name, kind: EntityKind::Cell, values });
        }
    }
    arrays.into_values().collect()
}
