//! Decks with corner-point grids (Eclipse's GRDECL), and with boxes of DX, DY, DZ and TOPS.
//!
//! Cells that are active and have a volume become the cells of the grid, I fastest, then J, then K.
//! z is the depth of the deck, positive down. Where columns are displaced along a fault, faces are
//! the polygons that two cells share. Arrays of cells keep their names and units, and there are
//! `I`, `J` and `K` (from 1); multipliers become the array `MULT` on faces, and faults sets of
//! faces.
//!
//! Volumes are those of the corners. A face between layers with a gap has two sides
//! ([`crate::grid::Geometry::face_gaps`]).
//!
//! `table` lists the keywords, `text` reads words through included files, `keywords` reads each
//! keyword into a `deck`, with `operations` in `boxes` and `regions`; `block` makes corners of DX,
//! DY and DZ; `columns` numbers the nodes on pillars, `clip` finds polygons, `connections` joins
//! layers, `faces` makes the faces of the grid, `nnc` adds connections without geometry, and
//! `multipliers` names what belongs to faces.
//!
//! Source of the polygons: lines on the two sides of a fault cross once at most, so that cells on
//! either side share a convex polygon; ours, by comparing depths on pillars alone.

mod block;
mod boxes;
mod clip;
mod columns;
mod connections;
mod deck;
mod faces;
mod keywords;
mod multipliers;
mod nnc;
mod operations;
mod options;
mod regions;
mod table;
mod text;
mod units;

use std::path::Path;

use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::builder::geometry_of;
use crate::grid::{BuildError, Grid, Named, NamedArray, StoredGeometry};
use crate::io::{Bytes, DataSource};
use crate::number::write_shortest;
use crate::threads::Threads;
use boxes::cell_name;
use columns::{Columns, CornerError, CornerPoint};
use connections::Connections;
use deck::{Deck, default_of};
use faces::Faces;
pub use options::DeckOptions;
pub use table::DeckFeature;
use text::Text;

/// True for a keyword of decks, in capitals.
pub(super) fn is_deck_keyword(word: &str) -> bool {
    table::find(word).is_some()
}

/// Reads a deck; files that it includes come from the source. The threads compute the geometry.
///
/// # Errors
/// `Data` for what is wrong in it, with file and line; `Io` for an included file that cannot be
/// read.
pub fn read(source: &DataSource, path: &Path, bytes: Bytes, options: &DeckOptions, threads: &Threads) -> Result<Grid, Error> {
    let mut text = Text::new(source, path, bytes);
    let mut deck = Deck::new(*options);
    keywords::read(&mut text, &mut deck)?;
    if deck.n[0] == 0 {
        return Err(text.error_of_deck("expected SPECGRID or DIMENS, found neither"));
    }
    let unit = options.grid_unit.or(deck.units.grid_length()).unwrap_or_else(|| {
        deck.notes.push("lengths are in metres: the deck has no GRIDUNIT (grid_unit=feet says otherwise)".to_string());
        1.0
    });
    check_values(&mut text, &deck)?;
    deck.apply_pore_volume_factors();
    let mut grid = corner_point(&mut text, &mut deck, unit)?;
    leave_out_small(&text, &mut deck, &mut grid)?;
    if !grid.is_active.contains(&true) {
        return Err(text.error_of_deck("no cell is active"));
    }
    build(&mut text, &mut deck, grid, threads)
}

/// Every number is finite; ACTNUM is 0 or 1.
fn check_values(text: &mut Text<'_>, deck: &Deck) -> Result<(), Error> {
    for (name, array) in &deck.arrays {
        let is_wrong = |value: &f64| if name == "ACTNUM" { *value != 0.0 && *value != 1.0 } else { value.is_infinite() };
        if let Some(cell) = array.values.iter().position(is_wrong) {
            let place = if array.is_listed { text.place_of(array.place, cell) } else { array.place };
            let expected = if name == "ACTNUM" { "0 or 1" } else { "a finite number" };
            return Err(text.error(place, &format!("{name}[{cell}]: {}: expected {expected}", array.values[cell])));
        }
    }
    Ok(())
}

fn corner_point(text: &mut Text<'_>, deck: &mut Deck, unit: f64) -> Result<CornerPoint, Error> {
    let n = deck.n;
    let is_active = match deck.arrays.remove("ACTNUM") {
        Some(actnum) => actnum.values.iter().map(|&value| value == 1.0).collect(),
        None => vec![true; deck.n_cells()],
    };
    let (mut coord, mut zcorn) = match (&mut deck.coord, &mut deck.zcorn) {
        (Some(coord), Some(zcorn)) => (std::mem::take(&mut coord.values), std::mem::take(&mut zcorn.values)),
        (None, None) if deck.arrays.contains_key("DX") => block::corners(text, deck)?,
        (None, None) => return Err(text.error_of_deck("expected COORD and ZCORN, or DX, DY, DZ and TOPS, found neither")),
        (Some(_), None) => return Err(text.error_of_deck("expected ZCORN beside COORD, found none")),
        (None, Some(_)) => return Err(text.error_of_deck("expected COORD beside ZCORN, found none")),
    };
    if unit != 1.0 {
        coord.iter_mut().chain(&mut zcorn).for_each(|length| *length *= unit);
    }
    let is_small = vec![false; is_active.len()];
    Ok(CornerPoint { n, coord, zcorn, is_active, is_small })
}

/// Pore volume below which a cell is not active where the deck says nothing, in its own unit.
const MIN_PORE_VOLUME: f64 = 1e-6;

/// Cells of too little pore volume are not active.
fn leave_out_small(text: &Text<'_>, deck: &mut Deck, grid: &mut CornerPoint) -> Result<(), Error> {
    let pore_volumes = deck.arrays.get("PORV");
    let porosity = deck.arrays.get("PORO");
    if pore_volumes.is_none() && porosity.is_none() {
        return match deck.minpv {
            Some((_, place)) => Err(text.error(place, "MINPV: expected PORO, of which pore volumes are made, found none")),
            None => Ok(()),
        };
    }
    let unit = deck.units.system().pore_volume;
    let has_limit = deck.minpv.is_some() || deck.arrays.contains_key("MINPVV");
    let usual = deck.minpv.map_or(MIN_PORE_VOLUME, |(least, _)| least);
    let value = |name: &str, cell: usize| deck.arrays.get(name).map(|array| array.values[cell]).filter(|value| !value.is_nan());
    let mut n_small = 0;
    for cell in 0..grid.n_cells() {
        // A pore volume that equals the limit stays, also where it is rounded.
        let least = value("MINPVV", cell).unwrap_or(usual) * unit * (1.0 - 1e-9);
        let pore_volume = value("PORV", cell).map(|volume| volume * unit).unwrap_or_else(|| {
            // A cell without a porosity is an error of its own if it is there.
            let porosity = value("PORO", cell).unwrap_or(f64::INFINITY);
            columns::measure(&grid.corners(cell)).0 * porosity * value("NTG", cell).unwrap_or(1.0) * value("MULTPV", cell).unwrap_or(1.0)
        });
        if grid.is_active[cell] && pore_volume < least {
            grid.is_active[cell] = false;
            // A cell whose bottom is its top has no volume, whatever rounding leaves of it.
            let ijk = grid.ijk(cell);
            let has_height = (0..4).any(|corner| grid.depth(ijk, corner + 4) > grid.depth(ijk, corner));
            n_small += usize::from(has_height && pore_volume > 0.0);
            // Without any pore volume, or a limit in the deck, it is inactive as if ACTNUM said so.
            grid.is_small[cell] = pore_volume > 0.0 && has_limit;
        }
    }
    if n_small > 0 {
        let limit = if has_limit { "MINPV allows" } else { "1e-6, which MINPV is where a deck has none" };
        deck.notes.push(format!("{n_small} of {} cells have a smaller pore volume than {limit}: they are left out", grid.n_cells()));
    }
    Ok(())
}

fn build(text: &mut Text<'_>, deck: &mut Deck, grid: CornerPoint, threads: &Threads) -> Result<Grid, Error> {
    let trust = deck.options.stored == StoredGeometry::Trust;
    let mut columns = Columns::new(&grid, trust).map_err(|error| corner_error(text, deck, &grid, error))?;
    if columns.cells.is_empty() {
        return Err(text.error_of_deck("no active cell has a volume"));
    }
    note_cells(deck, &grid, &columns);
    let connections = Connections::new(&grid, deck.connections.pinch, deck.units.system().length);
    let mut faces = Faces::new(&grid, &mut columns, &connections);
    faces.nodes.positions = std::mem::take(&mut columns.positions);
    let given = nnc::add_faces(deck, &columns, &mut faces);
    let topology = faces.topology(columns.cells.len());
    refuse_others_than_neighbours(text, deck, &faces, &columns, &topology.face_cells)?;
    let mut named = Named::default();
    multipliers::name_faces(deck, &connections, &columns.cells, &faces, &topology.face_cells, &mut named)?;
    let nodes = std::mem::take(&mut faces.nodes);
    drop(faces);
    let mut geometry = geometry_of(&topology, &nodes, threads).map_err(|error| build_error(text, deck, &columns.cells, &error))?;
    for &(index, _) in &columns.overlaps {
        // The faces of a cell that overlaps another do not close; its own corners do.
        let corners = grid.corners(columns.cells[index] as usize);
        (geometry.cell_volumes[index], geometry.cell_centroids[index]) = columns::measure(&corners);
    }
    drop(grid);
    nnc::set(deck, &columns.cells, &topology.face_cells, &given, &mut geometry);
    if !nodes.second_sides.is_empty() {
        let n = nodes.second_sides.len();
        deck.notes.push(format!("faces between layers with a gap: {n}; each of their cells has its own side of the face"));
    }
    name_cells(text, deck, &columns.cells, &mut named)?;
    drop(columns);
    let grid = Grid::unstructured(3, topology, geometry)?.with_nodes(nodes)?.with_named(named)?;
    deck.notes.push("z is the depth of the deck, positive down".to_string());
    let left_out =
        deck.left_out.iter().map(|(reason, names)| format!("{reason}: {}", Vec::from_iter(names.iter().map(String::as_str)).join(", ")));
    deck.notes.extend(left_out);
    Ok(grid.with_notes(std::mem::take(&mut deck.notes)))
}

/// With NONNC, refuses connections of cells that are not neighbours by index.
fn refuse_others_than_neighbours(
    text: &Text<'_>,
    deck: &mut Deck,
    faces: &Faces,
    columns: &Columns,
    face_cells: &[[u32; 2]],
) -> Result<(), Error> {
    let Some(place) = deck.connections.neighbours_only else { return Ok(()) };
    let joins_others = |face: usize| {
        let sides = faces.sides(face, face_cells[face], &columns.cells);
        matches!(sides.cells, [Some(_), Some(_)]) && !sides.are_neighbours(deck.n)
    };
    if (0..faces.n_with_geometry).any(joins_others) {
        deck.changes_answer(text, DeckFeature::NeighboursOnly, "NONNC", place)?;
    }
    Ok(())
}

/// Notes cells that are left out, and those that overlap.
fn note_cells(deck: &mut Deck, grid: &CornerPoint, columns: &Columns) {
    let n_left_out = grid.n_cells() - columns.cells.len();
    if n_left_out > 0 {
        deck.notes.push(format!("{n_left_out} of {} cells are not active or have no volume", grid.n_cells()));
    }
    if let Some(&(index, depth)) = columns.overlaps.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        let (n, cell) = (columns.overlaps.len(), cell_name(deck.n, columns.cells[index] as usize));
        let mut what = format!("cells that begin above the end of the cell above them: {n}; the largest overlap is ");
        write_shortest(&mut what, (depth * 1e9).round() / 1e9);
        deck.notes.push(format!("{what} m, of {cell}; volumes are those of the corners"));
    }
}

/// Arrays of the cells that are there.
fn name_cells(text: &Text<'_>, deck: &mut Deck, cells: &[u32], named: &mut Named) -> Result<(), Error> {
    let n = deck.n;
    for (name, array) in std::mem::take(&mut deck.arrays) {
        if multipliers::is_of_faces(&name) {
            continue;
        }
        let values: Vec<f64> = cells.iter().map(|&cell| array.values[cell as usize]).collect();
        if let Some(at) = values.iter().position(|value| value.is_nan()) {
            let error = text.error(array.place, &format!("{name} has no value for {}, which is active", cell_name(n, cells[at] as usize)));
            return Err(error);
        }
        debug_assert!(default_of(&name).is_none_or(f64::is_finite));
        named.add_array(NamedArray { name, kind: EntityKind::Cell, values })?;
    }
    let ijk = |cell: u32| [cell as usize % n[0], cell as usize / n[0] % n[1], cell as usize / (n[0] * n[1])];
    for (axis, name) in ["I", "J", "K"].into_iter().enumerate() {
        if named.array(EntityKind::Cell, name).is_none() {
            let values = cells.iter().map(|&cell| (ijk(cell)[axis] + 1) as f64).collect();
            named.add_array(NamedArray { name: name.to_string(), kind: EntityKind::Cell, values })?;
        }
    }
    Ok(())
}

fn corner_error(text: &mut Text<'_>, deck: &Deck, grid: &CornerPoint, error: CornerError) -> Error {
    let n = deck.n;
    let of_zcorn = |text: &mut Text<'_>, cell: usize, corner: usize, what: String| match &deck.zcorn {
        Some(zcorn) => {
            let index = grid.depth_index(grid.ijk(cell), corner);
            let place = text.place_of(zcorn.place, index);
            text.error(place, &format!("ZCORN[{index}]: {what}"))
        }
        None => text.error_of_deck(&what),
    };
    let of_coord = |text: &mut Text<'_>, pillar: usize, what: &str| match &deck.coord {
        Some(coord) => {
            let place = text.place_of(coord.place, 6 * pillar);
            text.error(place, &format!("COORD[{}]: {what}", 6 * pillar))
        }
        None => text.error_of_deck(what),
    };
    match error {
        CornerError::FlatPillar { pillar } => of_coord(text, pillar, "the two points of a pillar are at the same depth"),
        CornerError::BottomAboveTop { cell, corner } => {
            of_zcorn(text, cell, corner + 4, format!("corners out of order: the bottom of {} is above its top", cell_name(n, cell)))
        }
        CornerError::BeginsAbove { cell, corner } => {
            let what = format!("corners out of order: {} begins above the middle of the cell above it", cell_name(n, cell));
            of_zcorn(text, cell, corner, what).hint("grid_geometry=trust takes the cells as they are")
        }
        CornerError::CrossedPillars { cell } => {
            let [i, j, _] = grid.ijk(cell);
            let what = format!("pillars cross, or turn the other way than elsewhere, at {}", cell_name(n, cell));
            of_coord(text, j * (n[0] + 1) + i, &what)
        }
        CornerError::TooManyNodes => text.error_of_deck("too many corners for 32-bit indices"),
    }
}

fn build_error(text: &Text<'_>, deck: &Deck, cells: &[u32], error: &BuildError) -> Error {
    let name = |cell: usize| cells.get(cell).map_or_else(|| format!("cell {cell}"), |&cell| cell_name(deck.n, cell as usize));
    let what = error.describe(name, |node| format!("corner {node}"));
    let place = deck.zcorn.as_ref().map(|zcorn| zcorn.place);
    let error = place.map_or_else(|| text.error_of_deck(&what), |place| text.error(place, &format!("ZCORN: {what}")));
    Error { kind: ErrorKind::Data, ..error }
}
