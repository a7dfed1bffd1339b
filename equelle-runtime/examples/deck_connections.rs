//! Prints the cells and connections of a deck, for comparison with other readers.
//!
//! `cell I J K volume`, and for each interior face `face I J K I J K multiplier area-vector
//! centroid centroid-on-the-second-side transmissibility`, in metres and cubic metres; the last one
//! is negative where that of geometry holds. Arguments: the deck, and names of parts that are left
//! out.

use std::fmt::Write as _;
use std::path::PathBuf;

use equelle_runtime::EntityKind;
use equelle_runtime::grid::io::grdecl::DeckFeature;
use equelle_runtime::grid::io::{ReadOptions, read_file_as};
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::io::DataSource;
use equelle_runtime::threads::Threads;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let deck = PathBuf::from(arguments.next().ok_or("expected the name of a deck")?);
    let mut options = ReadOptions::default();
    for name in arguments {
        let part = DeckFeature::ALL.into_iter().find(|part| part.parameter() == name).ok_or("no such part of decks")?;
        options.deck = options.deck.without(part);
    }
    let grid = read_file_as(&DataSource::Files, &deck, &options, &Threads::one()).map_err(|error| error.to_string())?;
    print!("{}", text(&grid)?);
    Ok(())
}

fn text(grid: &Grid) -> Result<String, Box<dyn std::error::Error>> {
    let array = |name: &str| grid.named().array(EntityKind::Cell, name).map(|array| &array.values[..]).ok_or("the grid is no deck");
    let places = [array("I")?, array("J")?, array("K")?];
    let place = |cell: u32| places.map(|place| place[cell as usize].to_string()).join(" ");
    let multipliers = grid.named().array(EntityKind::Face, "MULT").map(|array| &array.values[..]);
    let (topology, geometry) = (grid.topology(), grid.geometry());
    let mut text = String::new();
    for (cell, volume) in geometry.cell_volumes.iter().enumerate() {
        writeln!(text, "cell {} {volume}", place(cell as u32))?;
    }
    for (face, &[first, second]) in topology.face_cells.iter().enumerate().filter(|(_, cells)| !cells.contains(&NONE)) {
        let multiplier = multipliers.map_or(1.0, |multipliers| multipliers[face]);
        let area = geometry.face_normals[face].map(|component| component * geometry.face_areas[face]);
        let centroid = geometry.face_centroids[face];
        let gap = geometry.face_gaps.get(face).copied().unwrap_or_default();
        write!(text, "face {} {} {multiplier}", place(first), place(second))?;
        let second_side: [f64; 3] = std::array::from_fn(|axis| centroid[axis] - gap[axis]);
        for number in [area, centroid, second_side].concat() {
            write!(text, " {number}")?;
        }
        writeln!(text, " {}", geometry.face_transmissibility(face))?;
    }
    Ok(text)
}
