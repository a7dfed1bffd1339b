//! Grid files: read, written and converted.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use equelle_runtime::grid::io::gmsh::GmshOptions;
use equelle_runtime::grid::io::grdecl::DeckOptions;
use equelle_runtime::grid::io::opm::OpmText;
use equelle_runtime::grid::io::{ReadOptions, read_file_as};
use equelle_runtime::grid::{Grid, StoredGeometry};
use equelle_runtime::io::DataSource;
use equelle_runtime::output::{Field, FieldValues, StepFields, Support};
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::SET;
use equelle_runtime::vtk::writer::vtu::{self, VtuMesh};
use equelle_runtime::vtk::writer::{Compression, VtkPart};
use equelle_runtime::{EntityKind, Error};

use super::super::args::{DeckArgs, GridUnit};
use crate::console::Console;
use equelle::failure::Failure;
use equelle::files;

/// Reads a grid and writes it in the format that the name of the new file tells.
pub(super) fn convert(file: &Path, out: &Path, deck: &DeckArgs, console: &Console) -> Result<(), Failure> {
    let format = Format::of(out)?;
    let grid = read(file, deck)?;
    grid.notes().iter().for_each(|note| console.progress(&format!("note: {note}")));
    write(&grid, out, format, console)
}

/// Reads a grid file, which is checked.
pub(super) fn read(file: &Path, deck: &DeckArgs) -> Result<Grid, Error> {
    let unit = deck.grid_unit.map(|unit| match unit {
        GridUnit::Metres => "metres",
        GridUnit::Feet => "feet",
        GridUnit::Cm => "cm",
    });
    let gmsh = GmshOptions { joins_sides: deck.periodic.is_none() };
    let mut options = DeckOptions::default();
    options.grid_unit = unit.and_then(DeckOptions::unit);
    for part in &deck.ignore {
        options = options.without(*part);
    }
    let threads = Threads::new(std::thread::available_parallelism().map_or(1, usize::from));
    let grid = read_file_as(&DataSource::Files, file, &ReadOptions { stored: StoredGeometry::Check, deck: options, gmsh }, &threads)?;
    match &deck.periodic {
        None => Ok(grid),
        Some(sides) => grid.with_periodic_sides(sides),
    }
}

/// Formats that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Opm,
    Vtu,
}

impl Format {
    /// By the end of a file's name.
    pub(super) fn of(file: &Path) -> Result<Format, Failure> {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("grid" | "txt") => Ok(Format::Opm),
            Some("vtu") => Ok(Format::Vtu),
            _ => Err(Failure::usage(format!("`{}`: grids are written as .vtu, or as .grid or .txt in OPM's text format", file.display()))),
        }
    }
}

/// Writes a grid, and says which files have been written and what has been left out.
pub(super) fn write(grid: &Grid, out: &Path, format: Format, console: &Console) -> Result<(), Failure> {
    match format {
        Format::Opm => {
            let text = OpmText::new(grid)?;
            save(out, console, |file| text.write(file))?;
            let (n_arrays, n_sets) = (grid.named().arrays().count(), grid.named().sets().count());
            if n_arrays + n_sets > 0 {
                console.progress(&format!("note: {n_arrays} arrays and {n_sets} sets are left out: OPM's text format has no names"));
            }
            Ok(())
        }
        Format::Vtu => {
            write_vtu(grid, VtkPart::Cells, EntityKind::Cell, out, console)?;
            let n_gaps = grid.geometry().face_gaps.iter().filter(|gap| **gap != [0.0; 3]).count();
            if n_gaps > 0 {
                console.progress(&format!(
                    "note: connections over gaps are left out, {n_gaps} in all: cells of a VTU are joined by common nodes"
                ));
            }
            let n_given = grid.geometry().faces_without_geometry.len();
            if n_given > 0 {
                console.progress(&format!("note: connections without geometry are left out, {n_given} in all"));
            }
            // Faces are no cells of the mesh, so that what belongs to them is in a file of its own.
            let has_faces = grid.named().arrays().any(|array| array.kind == EntityKind::Face)
                || grid.named().sets().any(|set| set.kind == EntityKind::Face);
            if has_faces { write_vtu(grid, VtkPart::Faces, EntityKind::Face, &faces_path(out), console) } else { Ok(()) }
        }
    }
}

/// `x-faces.vtu` for `x.vtu`.
fn faces_path(out: &Path) -> PathBuf {
    let mut name = out.file_stem().map_or_else(OsString::new, OsString::from);
    name.push("-faces.vtu");
    out.with_file_name(name)
}

/// Arrays keep their names; a set becomes an array of 0 and 1.
fn write_vtu(grid: &Grid, part: VtkPart, kind: EntityKind, out: &Path, console: &Console) -> Result<(), Failure> {
    let n_entities = if kind == EntityKind::Cell { grid.n_cells() } else { grid.n_faces() };
    let on_all = || Support { kind, n_entities, subset: None };
    let arrays = grid.named().arrays().filter(|array| array.kind == kind).map(|array| Field {
        tag: array.name.clone(),
        support: on_all(),
        values: FieldValues::F64(vec![array.values.clone()]),
        unit: None,
    });
    let sets = grid.named().sets().filter(|set| set.kind == kind).map(|set| {
        let mut values = vec![0; n_entities];
        set.members.iter().for_each(|&member| values[member as usize] = 1);
        Field { tag: format!("{SET}{}", set.name), support: on_all(), values: FieldValues::Bool(values), unit: None }
    });
    let fields: Vec<Field> = arrays.chain(sets).collect();
    let mesh = VtuMesh::new(grid, part, Compression::Zlib)?;
    let step = StepFields { step: 0, time: 0.0, fields: &fields, scalars: &[] };
    save(out, console, |file| vtu::write(file, &mesh, &step))
}

/// Writes a file, and says so.
pub(super) fn save(out: &Path, console: &Console, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    files::write_with(out, write).map_err(|error| Failure::io("write", out, &error))?;
    console.progress(&format!("wrote {}", out.display()));
    Ok(())
}
