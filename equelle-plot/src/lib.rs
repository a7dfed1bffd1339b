//! Pictures of what runs write: coloured cells in two dimensions, lines in one, slices of three,
//! and single numbers over time, as SVG, PNG and GIF.
//!
//! `page` makes a page of HTML of a run, with what its log of events says (`log`, `solves`).
//!
//! `run` finds the files of a run, `field` reads one collection, `slice` makes polygons of its
//! cells; `panels` and `sweep` choose what is shown; `chart` draws diagrams (`panel`) as `maps` and
//! `lines`, with `axes`, `bar` and `caption`, into a `drawing`, which becomes pixels (`raster`,
//! `png_file`, `gif_file`) or `svg`. Letters are those of a `font` in the crate: no font or library
//! of the system takes part, and a picture has the same bytes everywhere.

mod axes;
mod axis;
mod bar;
mod caption;
mod chart;
mod colour;
mod contour;
mod drawing;
mod field;
mod font;
mod frames;
mod gif_file;
mod image;
mod layout;
mod lines;
mod log;
mod maps;
mod options;
mod page;
mod panel;
mod panels;
mod plane;
mod png_file;
mod raster;
mod run;
mod series;
mod slice;
mod solves;
mod svg;
mod sweep;
mod terminal;
mod texts;

use std::path::Path;

use equelle_runtime::Error;

pub use axes::Numbers;
pub use axis::short;
pub use chart::draw;
pub use colour::{BLACK, Colour, ColourMap, NAN, Range, Scale, WHITE};
pub use drawing::{Anchor, Drawing, Item, Label, Map};
pub use font::TEXT;
pub use image::{Image, Rect};
pub use options::{Format, Options, Steps, parse_size};
pub use page::page;
pub use panel::{Curve, LinePanel, MapPanel, Panel};
pub use plane::Plane;
pub use run::Run;
pub use slice::Slice;
pub use sweep::table as sweep_table;
pub use terminal::{TextPicture, text_picture};

/// A picture as a file.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Notes on parts left out, a sentence each.
    pub notes: Vec<String>,
}

/// A picture of a run: `path` is the folder with its record, or the record. Of a sweep it is the
/// folder with its table, or the table.
///
/// # Errors
/// `Usage` for a tag, a step or a slice that the run does not have; `Data` for a folder without
/// outputs and for damaged files; `Io` for files that cannot be read.
pub fn plot(path: &Path, options: &Options) -> Result<Picture, Error> {
    let chosen = match sweep::table(path) {
        Some(file) => sweep::choose(&file, options)?,
        None => panels::choose(&Run::open(path)?, options)?,
    };
    let (width, height) = options.size.unwrap_or_else(|| chosen.size());
    let mut drawings = chosen.frames.iter().map(|panels| draw(panels, width, height));
    let mut images = || drawings.by_ref().map(|drawing| drawing.pixels()).collect::<Vec<Image>>();
    let bytes = match options.format {
        Format::Svg => drawings.next().map(|drawing| svg::text(&drawing).into_bytes()).unwrap_or_default(),
        Format::Png => png_file::file(&images(), options.frame_milliseconds),
        Format::Gif => gif_file::file(&images(), options.frame_milliseconds),
    };
    Ok(Picture { bytes, notes: chosen.notes })
}
