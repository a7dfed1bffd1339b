//! Multipliers of faces, and faults as sets of faces.

use super::boxes;
use super::connections::Connections;
use super::deck::Deck;
use super::faces::{FaceSides, Faces};
use super::nnc;
use super::regions::RegionFactors;
use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::{Named, NamedArray, NamedSet};

/// Multipliers on the side of cells with the larger index, and on the other.
const NAMES: [[&str; 2]; 3] = [["MULTX", "MULTX-"], ["MULTY", "MULTY-"], ["MULTZ", "MULTZ-"]];

/// True if an array is not of cells, but of their sides.
pub(super) fn is_of_faces(name: &str) -> bool {
    NAMES.iter().flatten().any(|known| *known == name)
}

/// Adds the sets of faults, and the array `MULT` if the deck has multipliers.
pub(super) fn name_faces(
    deck: &Deck,
    connections: &Connections<'_>,
    cells: &[u32],
    faces: &Faces,
    face_cells: &[[u32; 2]],
    named: &mut Named,
) -> Result<(), Error> {
    let between_regions = RegionFactors::new(deck);
    let has_multipliers = deck.arrays.keys().any(|name| is_of_faces(name))
        || deck.faults.values().any(|fault| fault.multipliers.is_some())
        || !between_regions.is_empty()
        || deck.connections.has_factors()
        || deck.connections.pinch.is_some_and(|pinch| pinch.resists);
    if !has_multipliers && deck.faults.is_empty() {
        return Ok(());
    }
    let sides = |face: usize| faces.sides(face, face_cells[face], cells);
    let mut values = vec![1.0; if has_multipliers { face_cells.len() } else { 0 }];
    let arrays = NAMES.map(|names| names.map(|name| deck.arrays.get(name)));
    for (face, value) in values.iter_mut().enumerate().take(faces.n_with_geometry) {
        let sides = sides(face);
        let (axis, cells) = (sides.axis, sides.cells);
        if let [Some(low), Some(high)] = cells {
            *value *= between_regions.of([low, high], axis, sides.are_neighbours(deck.n));
            if axis == 2 {
                *value *= connections.multiplier(deck, low, high);
                continue;
            }
        }
        for (array, cell) in arrays[axis].iter().zip(cells) {
            if let (Some(array), Some(cell)) = (array, cell) {
                *value *= if array.values[cell].is_nan() { 1.0 } else { array.values[cell] };
            }
        }
    }
    let mut marks = vec![0_u8; deck.n_cells()];
    for (name, fault) in &deck.faults {
        // A bit for each side of a cell.
        let bit = |axis: usize, is_high: bool| 1_u8 << (2 * axis + usize::from(is_high));
        for sides in &fault.sides {
            boxes::cells(deck.n, sides.cells).for_each(|cell| marks[cell] |= bit(sides.side.axis, sides.side.is_high));
        }
        let is_member = |&face: &u32| {
            let FaceSides { axis, cells } = sides(face as usize);
            cells.iter().zip([true, false]).any(|(cell, is_high)| cell.is_some_and(|cell| marks[cell] & bit(axis, is_high) != 0))
        };
        let members: Vec<u32> = (0..faces.n_with_geometry as u32).filter(is_member).collect();
        if let Some([in_grid, in_edit]) = fault.multipliers {
            let multiplier = in_grid * in_edit;
            members.iter().for_each(|&face| values[face as usize] *= multiplier);
        }
        named.add_set(NamedSet { name: name.clone(), kind: EntityKind::Face, members })?;
        for sides in &fault.sides {
            boxes::cells(deck.n, sides.cells).for_each(|cell| marks[cell] = 0);
        }
    }
    for (value, &face_cells) in values.iter_mut().zip(face_cells).skip(faces.n_with_geometry) {
        *value *= nnc::pair_of(cells, face_cells).map_or(1.0, |pair| between_regions.without_geometry(pair));
    }
    if has_multipliers && deck.connections.has_edits() {
        for (value, &face_cells) in values.iter_mut().zip(face_cells) {
            let Some(pair) = nnc::pair_of(cells, face_cells) else { continue };
            *value *= deck.connections.factors.get(&pair).copied().unwrap_or(1.0);
            // It replaces the product.
            if deck.connections.replaced.contains_key(&pair) {
                *value = 1.0;
            }
        }
    }
    if has_multipliers {
        named.add_array(NamedArray { name: "MULT".to_string(), kind: EntityKind::Face, values })?;
    }
    Ok(())
}
