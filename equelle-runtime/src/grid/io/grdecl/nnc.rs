//! Connections without geometry: NNC, EDITNNC and EDITNNCR. As in OPM Flow, NNC adds to what
//! neighbours by index have, and the others change connections of cells that are no such
//! neighbours.

use std::collections::BTreeMap;

use super::boxes;
use super::columns::Columns;
use super::deck::{CellPair, Deck};
use super::faces::Faces;
use super::table::DeckFeature;
use super::text::{DeckPosition, Text, number_of};
use crate::error::Error;
use crate::grid::Geometry;

/// Reads NNC, EDITNNC or EDITNNCR: records of two cells and a transmissibility or a factor.
pub(super) fn read(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    let n = deck.need_dims(text, keyword, of)?;
    let is_left_out = deck.options.ignores(DeckFeature::Nnc);
    if is_left_out {
        deck.changes_answer(text, DeckFeature::Nnc, keyword, of)?;
    }
    loop {
        let items = text.record(keyword, of)?;
        if items.is_empty() {
            return Ok(());
        }
        if items.len() < 6 {
            return Err(text.error(of, &format!("{keyword}: expected the three indices of each of two cells")));
        }
        let mut pair = [0; 2];
        for (cell, ends) in pair.iter_mut().zip([0, 3]) {
            // A box of one cell, by its first ends.
            let ends: Vec<_> = items[ends..ends + 3].iter().flat_map(|item| [item.clone(), item.clone()]).collect();
            let cell_box = boxes::read(text, keyword, &ends, n, [[usize::MAX; 2]; 3])?;
            if cell_box.iter().flatten().any(|&end| end == usize::MAX) {
                return Err(text.error(of, &format!("{keyword}: expected the three indices of each of two cells")));
            }
            *cell = cell_box[0][0] + n[0] * (cell_box[1][0] + n[1] * cell_box[2][0]);
        }
        if pair[0] == pair[1] {
            return Err(text.error(of, &format!("{keyword}: {} is connected to itself", boxes::cell_name(n, pair[0]))));
        }
        pair.sort_unstable();
        let given = number_of(text, keyword, &items, 6)?;
        if is_left_out {
            continue;
        }
        let connections = &mut deck.connections;
        let are_neighbours = [1, n[0], n[0] * n[1]].contains(&(pair[1] - pair[0]));
        match keyword {
            "NNC" => connections.added.push((pair, given.unwrap_or(0.0))),
            "EDITNNC" | "EDITNNCR" if are_neighbours => connections.n_of_neighbours += 1,
            "EDITNNC" => *connections.factors.entry(pair).or_insert(1.0) *= given.unwrap_or(1.0),
            _ => {
                if let Some(value) = given {
                    connections.replaced.insert(pair, value);
                }
            }
        }
    }
}

/// Adds a face without nodes for each connection of two cells that are there. Transmissibilities
/// of these faces in cubic metres, before factors.
pub(super) fn add_faces(deck: &mut Deck, columns: &Columns, faces: &mut Faces) -> Vec<f64> {
    let unit = deck.units.system().transmissibility;
    let mut given = Vec::new();
    let n_listed = deck.connections.added.len();
    for &(pair, value) in &deck.connections.added {
        let [Some(first), Some(second)] = pair.map(|cell| columns.index_of(cell)) else { continue };
        faces.add_connection([first, second]);
        given.push(value * unit);
    }
    if !given.is_empty() {
        deck.notes.push(format!("connections without geometry (NNC): {}", given.len()));
    }
    if given.len() < n_listed {
        deck.notes.push(format!("NNC of cells that are not there, left out: {}", n_listed - given.len()));
    }
    let n_of_neighbours = deck.connections.n_of_neighbours;
    if n_of_neighbours > 0 {
        deck.notes.push(format!("EDITNNC of neighbours by index, without effect: {n_of_neighbours}"));
    }
    given
}

/// Sets the transmissibilities that the deck gives, and what stands for the geometry of faces that
/// have none.
pub(super) fn set(deck: &mut Deck, cells: &[u32], face_cells: &[[u32; 2]], given: &[f64], geometry: &mut Geometry) {
    if given.is_empty() && deck.connections.replaced.is_empty() {
        return;
    }
    let n_with_geometry = face_cells.len() - given.len();
    let mut values = vec![Geometry::FROM_GEOMETRY; n_with_geometry];
    values.extend_from_slice(given);
    let unit = deck.units.system().transmissibility;
    let mut left: BTreeMap<CellPair, f64> = deck.connections.replaced.iter().map(|(&pair, value)| (pair, value * unit)).collect();
    if !left.is_empty() {
        for (value, &face_cells) in values.iter_mut().zip(face_cells) {
            let Some(pair) = pair_of(cells, face_cells) else { continue };
            // The first face of a pair takes it all.
            if let Some(of_pair) = left.get_mut(&pair) {
                *value = std::mem::replace(of_pair, 0.0);
            }
        }
    }
    for (centroid, face_cells) in geometry.face_centroids.iter_mut().zip(face_cells).skip(n_with_geometry) {
        let [a, b] = face_cells.map(|cell| geometry.cell_centroids[cell as usize]);
        *centroid = std::array::from_fn(|axis| 0.5 * (a[axis] + b[axis]));
    }
    geometry.face_transmissibilities = values;
    geometry.faces_without_geometry = (n_with_geometry as u32..face_cells.len() as u32).collect();
}

/// Cells of the deck on both sides of a face between cells, the smaller number first.
pub(super) fn pair_of(cells: &[u32], face_cells: [u32; 2]) -> Option<CellPair> {
    let [Some(&first), Some(&second)] = face_cells.map(|cell| cells.get(cell as usize)) else { return None };
    let mut pair = [first as usize, second as usize];
    pair.sort_unstable();
    Some(pair)
}
