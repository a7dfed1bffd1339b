//! Readers of grid files.
//!
//! The first bytes of a file tell its [`Format`], not its name. Each format that is read has a
//! module here, those of VTK have [`crate::vtk::reader`].

mod format;
pub mod gmsh;
pub mod grdecl;
pub mod opm;
pub(crate) mod plane;

use std::path::Path;

use super::{Grid, StoredGeometry};
use crate::error::{Error, ErrorKind};
use crate::io::DataSource;
use crate::threads::Threads;
use crate::vtk::reader;
use format::Format;

/// Reads a grid file and checks its geometry.
///
/// # Errors
/// `Io` if it cannot be read, `Data` for what is wrong in it; names file, line and item.
pub fn read_file(path: &Path) -> Result<Grid, Error> {
    read_file_with(&DataSource::Files, path, StoredGeometry::Check, &Threads::one())
}

/// Reads a grid file from a source; the threads check its geometry, unless that is believed.
///
/// # Errors
/// `Io` if it cannot be read, `Data` for what is wrong in it, or a format that has no reader.
pub fn read_file_with(source: &DataSource, path: &Path, stored: StoredGeometry, threads: &Threads) -> Result<Grid, Error> {
    let options = ReadOptions { stored, ..ReadOptions::default() };
    read_file_as(source, path, &options, threads)
}

/// Options of the readers of grid files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// True if geometry in the file is compared with its nodes.
    pub stored: StoredGeometry,
    /// Options of decks.
    pub deck: grdecl::DeckOptions,
    /// Options of meshes of Gmsh.
    pub gmsh: gmsh::GmshOptions,
}

/// As [`read_file_with`], with options of formats.
///
/// # Errors
/// As [`read_file_with`].
pub fn read_file_as(source: &DataSource, path: &Path, options: &ReadOptions, threads: &Threads) -> Result<Grid, Error> {
    let bytes = source.read(path, "grid file")?;
    let stored = options.stored;
    match Format::of(&bytes, path) {
        Format::Grdecl => grdecl::read(source, path, bytes, &options.deck.with_stored(stored), threads),
        Format::Opm => opm::read_text_with(path, &bytes, stored, threads),
        Format::Vtk => reader::read_grid(path, &bytes, threads),
        Format::VtkLegacy => reader::read_legacy_grid(path, &bytes, threads),
        Format::Gmsh => gmsh::read(path, &bytes, &options.gmsh, threads),
        Format::GmshScript => {
            let error = Error::new(ErrorKind::Data, format!("`{}` is a script of Gmsh, from which Gmsh makes a mesh", path.display()));
            Err(error.hint("make the mesh and give its name: `gmsh -3 -format msh41 -o mesh.msh SCRIPT.geo` (in the plane, `-2`)"))
        }
        Format::Unsupported(name) => {
            let error = Error::new(ErrorKind::Data, format!("`{}` is {name}, a format that is not read", path.display()));
            Err(error
                .hint("grid files are Gmsh's MSH 2 to 2.2 and 4.1, VTK's `.vtu` and `.vtk`, GRDECL decks and OPM's text format; a Cartesian grid needs no file (grid_dim, nx, dx)"))
        }
    }
}
