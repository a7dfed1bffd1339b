//! Named sets and arrays of a mesh of VTK.

use std::collections::BTreeMap;

use super::CellArray;
use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::{Named, NamedArray, NamedSet};
use crate::vtk::SET;

/// Arrays of whole numbers that put cells into groups: the name, what names of their sets begin
/// with, and the number of cells without a group. Gmsh has the first two (the first by meshio),
/// OpenGeoSys the third.
const GROUPS: [(&str, &str, Option<f64>); 3] =
    [("gmsh:physical", "physical_", Some(0.0)), ("CellEntityIds", "entity_", Some(0.0)), ("MaterialIds", "material_", None)];

/// Cells of the file that are entities of the grid.
pub(super) struct Entities {
    /// Numbers of the cells of the grid in the file, ascending.
    pub cells: Vec<u32>,
    /// Cells of the file that are faces, and their faces.
    pub faces: Vec<(u32, u32)>,
}

/// Members of sets, by kind and name.
type Sets = BTreeMap<(EntityKind, String), Vec<u32>>;

/// Which set a cell of the file belongs to by an array of one component.
fn set_of<'a>(name: &'a str, numbers: &'a [f64]) -> Option<Box<dyn Fn(u32) -> Option<String> + 'a>> {
    if let Some(set) = name.strip_prefix(SET) {
        let is_of_set = numbers.iter().all(|&value| value == 0.0 || value == 1.0 || value.is_nan());
        return is_of_set.then(|| Box::new(move |cell: u32| (numbers[cell as usize] == 1.0).then(|| set.to_string())) as _);
    }
    let &(_, prefix, none) = GROUPS.iter().find(|(group, ..)| *group == name)?;
    // Whole numbers of 64 bits are exact up to here.
    let is_whole = numbers.iter().all(|value| value.fract() == 0.0 && value.abs() <= 9.007_199_254_740_992e15);
    is_whole.then(|| {
        Box::new(move |cell: u32| Some(numbers[cell as usize]).filter(|value| Some(*value) != none).map(|value| format!("{prefix}{value}")))
            as _
    })
}

/// True if an array names sets.
pub(super) fn names_sets(array: &CellArray) -> bool {
    array.components == 1 && set_of(&array.name, &array.numbers).is_some()
}

/// Sets of cells and faces, and arrays of cells. An array of a set alone is no array of the grid.
pub(super) fn named(arrays: Vec<CellArray>, entities: &Entities) -> Result<Named, Error> {
    let (mut named, mut sets) = (Named::default(), Sets::new());
    for CellArray { name, components: n, numbers } in arrays {
        let set = (n == 1).then(|| set_of(&name, &numbers)).flatten();
        if let Some(set_of) = &set {
            add(&mut sets, EntityKind::Cell, (0..).zip(&entities.cells).filter_map(|(entity, &cell)| Some((set_of(cell)?, entity))));
            add(&mut sets, EntityKind::Face, entities.faces.iter().filter_map(|&(cell, face)| Some((set_of(cell)?, face))));
        }
        if let Some(name) = name.strip_prefix(SET).filter(|_| set.is_some()) {
            // A set without members is one all the same.
            if !sets.contains_key(&(EntityKind::Face, name.to_string())) {
                sets.entry((EntityKind::Cell, name.to_string())).or_default();
            }
            continue;
        }
        for component in (0..n).filter(|_| n <= 3) {
            let name = if n == 1 { name.clone() } else { format!("{name}_{}", ["x", "y", "z"][component]) };
            let values: Vec<f64> = entities.cells.iter().map(|&cell| numbers[cell as usize * n + component]).collect();
            if values.iter().all(|value| value.is_finite()) {
                named.add_array(NamedArray { name, kind: EntityKind::Cell, values })?;
            }
        }
    }
    for ((kind, name), mut members) in sets {
        members.sort_unstable();
        members.dedup();
        named.add_set(NamedSet { name, kind, members })?;
    }
    Ok(named)
}

fn add(sets: &mut Sets, kind: EntityKind, members: impl Iterator<Item = (String, u32)>) {
    members.for_each(|(name, member)| sets.entry((kind, name)).or_default().push(member));
}
