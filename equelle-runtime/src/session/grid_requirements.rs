//! Requirements of programs on their grid.

use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::session::Session;
use crate::session::on_ranks::SessionRank;

/// Refuses a grid that is no uniform Cartesian one with at least these numbers of cells.
///
/// # Errors
/// `Data`, with the line of the statement that needs the structure.
pub fn require_cells(grid: &Grid, cells: [usize; 3], line: u32) -> Result<(), Error> {
    let refused = |message: String, hint: &str| Err(Error::new(ErrorKind::Data, message).hint(hint).at(line));
    let Some(shape) = grid.cartesian_shape() else {
        let message = "neighbours by index need a uniform Cartesian grid, and this grid is none".to_owned();
        let hint = match grid.has_joined_sides() {
            true => "sides that are joined have faces alone; write Halo(u, Periodic(i)) and leave grid_periodic out",
            false => "give grid_dim, nx and dx, or a grid file of a uniform Cartesian grid",
        };
        return refused(message, hint);
    };
    for (axis, &needed) in cells.iter().enumerate() {
        let name = ["I", "J", "K"][axis];
        if needed > 0 && axis >= shape.dim {
            return refused(
                format!("axis {name} needs a grid of {} dimensions, and this one has {}", axis + 1, shape.dim),
                "give another grid",
            );
        }
        let n = shape.whole_n()[axis];
        if n < needed {
            let message = format!("the program needs {needed} cells along {name}, and the grid has {n}");
            return refused(message, "give a grid with more cells along that axis");
        }
    }
    Ok(())
}

/// Refuses a grid with faces that have no geometry. Rank 0, whose error counts, looks at the whole
/// grid.
///
/// # Errors
/// `Data`, with the line of the statement that reads it.
pub fn require_face_geometry(session: &Session, line: u32) -> Result<(), Error> {
    let grid: &Grid = session.rank.as_ref().and_then(SessionRank::whole_grid).unwrap_or(session.grid.grid());
    // A grid of a shape has no arrays yet, and all of its faces have geometry.
    if grid.has_shape() {
        return Ok(());
    }
    let without = grid.geometry().faces_without_geometry.iter();
    let Some(&face) = without.min_by_key(|&&face| grid.file_index(EntityKind::Face, face)) else { return Ok(()) };
    let cells = grid.topology().face_cells[face as usize].map(|cell| cell_of_deck(grid, cell));
    let message = format!(
        "the program reads the area, normal or centroid of faces between cells, and {} and {} are joined without geometry (NNC)",
        cells[0], cells[1]
    );
    let hint = "take transmissibilities of `transmissibility` in equelle:boundaries or of GivenTransmissibility, or leave such connections out: nnc=ignore";
    Err(Error::new(ErrorKind::Data, message).hint(hint).at(line))
}

/// A cell by its indices in the deck, or else by its number in the grid's file.
fn cell_of_deck(grid: &Grid, cell: u32) -> String {
    let in_file = grid.file_index(EntityKind::Cell, cell);
    let index = |name: &str| grid.named().array(EntityKind::Cell, name).map(|array| array.values[in_file as usize]);
    match ["I", "J", "K"].map(index) {
        [Some(i), Some(j), Some(k)] => format!("cell ({i}, {j}, {k})"),
        _ => format!("cell {in_file}"),
    }
}
