//! `equellec grid make`: grids for tests and teaching, always the same for the same options.

use super::super::args::{MakeArgs, MakeKind};
use super::boxes::BoxShape;
use super::deck;
use super::files::{self, Format};
use super::voronoi;
use crate::console::Console;
use equelle::failure::Failure;

/// Makes a grid and writes it.
pub(super) fn make(args: &MakeArgs, console: &Console) -> Result<(), Failure> {
    let shape = BoxShape::of(args)?;
    match args.kind {
        MakeKind::Deck => {
            if !args.out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("grdecl")) {
                return Err(Failure::usage(format!("`{}`: decks are written as .grdecl", args.out.display())));
            }
            let text = deck::text(&shape, args)?;
            files::save(&args.out, console, |file| file.write_all(text.as_bytes()))
        }
        MakeKind::Voronoi => {
            let format = Format::of(&args.out)?;
            files::write(&voronoi::grid(&shape)?, &args.out, format, console)
        }
        MakeKind::Box | MakeKind::Triangles | MakeKind::Tetrahedra => {
            let format = Format::of(&args.out)?;
            let grid = shape.grid(args.kind)?;
            files::write(&grid, &args.out, format, console)
        }
    }
}
