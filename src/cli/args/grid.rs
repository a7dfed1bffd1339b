//! Arguments of `equellec grid`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use equelle_runtime::grid::io::grdecl::DeckFeature;

/// Arguments of `grid`.
#[derive(Debug, Args)]
pub struct GridArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: GridVerb,
}

/// Verbs for a grid file.
#[derive(Debug, Subcommand)]
pub enum GridVerb {
    /// Print counts, bounding box, volumes, quality, named sets and arrays
    Info {
        /// The grid: a mesh of Gmsh, a VTU, a GRDECL deck, or OPM's text format
        #[arg(value_name = "GRIDFILE")]
        file: PathBuf,
        /// Choices that decks leave open.
        #[command(flatten)]
        deck: DeckArgs,
    },
    /// Report what is wrong with grids, and warn of what makes results inaccurate
    Check {
        /// The grids
        #[arg(value_name = "GRIDFILE", required = true)]
        files: Vec<PathBuf>,
        /// Choices that decks leave open.
        #[command(flatten)]
        deck: DeckArgs,
    },
    /// Write a grid in another format
    Convert {
        /// The grid, in any format that is read
        #[arg(value_name = "GRIDFILE")]
        file: PathBuf,
        /// The new file: `.vtu` with names, or `.grid` or `.txt` in OPM's text format
        #[arg(value_name = "OUT")]
        out: PathBuf,
        /// Choices that decks leave open.
        #[command(flatten)]
        deck: DeckArgs,
    },
    /// Make a grid for tests and teaching, always the same for the same options
    Make(MakeArgs),
    /// Cut a grid into a part for each rank of a run, and print what the parts exchange
    Partition(PartitionArgs),
}

/// Arguments of `grid partition`.
#[derive(Debug, Args)]
pub struct PartitionArgs {
    /// The grid, in any format that is read
    #[arg(value_name = "GRIDFILE", required_unless_present = "cells", conflicts_with = "cells")]
    pub file: Option<PathBuf>,
    /// Cells of a Cartesian grid along each axis, one to three numbers, in place of a file
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',')]
    pub cells: Option<Vec<u64>>,
    /// Number of ranks
    #[arg(long, value_name = "N", required_unless_present = "parts", value_parser = clap::value_parser!(u32).range(1..))]
    pub ranks: Option<u32>,
    /// Read the parts from a file instead: a line for each cell with its rank, from 0
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cells", "ranks"])]
    pub parts: Option<PathBuf>,
    /// Layers of cells around its own that a rank keeps: how far away a program reads
    #[arg(long, value_name = "LAYERS", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub layers: u8,
    /// Write the parts, a line for each cell with its rank
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Choices that decks leave open.
    #[command(flatten)]
    pub deck: DeckArgs,
}

/// Arguments of `grid make`.
#[derive(Debug, Args)]
pub struct MakeArgs {
    /// Kind of grid
    #[arg(value_name = "KIND", value_enum)]
    pub kind: MakeKind,
    /// The new file: `.vtu`, `.grid` or `.txt`; of a deck `.grdecl`
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Cells of the box along each axis, two or three numbers; triangles are two for each, and
    /// tetrahedra six
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',', default_value = "10,10,10")]
    pub cells: Vec<usize>,
    /// Lengths of the box, in metres [default: as many as there are cells]
    #[arg(long, value_name = "LX,LY,LZ", value_delimiter = ',', allow_negative_numbers = true)]
    pub size: Option<Vec<f64>>,
    /// How many times as wide the last cell is as the first one, along each axis
    #[arg(long, value_name = "RATIO", default_value_t = 1.0, allow_negative_numbers = true)]
    pub grade: f64,
    /// How far x moves for each metre along the last axis; of a deck, its pillars
    #[arg(long, value_name = "SLOPE", default_value_t = 0.0, allow_negative_numbers = true)]
    pub shear: f64,
    /// How far inner corners move at random, in widths of a cell, below 0.3; of Voronoi cells, over
    /// which width their seeds are spread
    #[arg(long, value_name = "PART", default_value_t = 0.0, allow_negative_numbers = true)]
    pub perturb: f64,
    /// Tilt of a deck: how much deeper it is for each metre along x
    #[arg(long, value_name = "SLOPE", default_value_t = 0.1, allow_negative_numbers = true)]
    pub tilt: f64,
    /// Throw of a deck: how much deeper its second half is along x, in metres at the first row; it
    /// falls along y, to the negative of a quarter
    #[arg(long, value_name = "METRES", default_value_t = 2.0, allow_negative_numbers = true)]
    pub throw: f64,
    /// Part of a deck's cells that is not active, at random
    #[arg(long, value_name = "PART", default_value_t = 0.05, allow_negative_numbers = true)]
    pub inactive: f64,
}

/// Kinds of grids that are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MakeKind {
    /// Quadrangles or hexahedra
    Box,
    /// Two triangles of each rectangle, along diagonals that alternate
    Triangles,
    /// Six tetrahedra of each box
    Tetrahedra,
    /// Polygons: what is nearer to a seed in a box of its own than to other seeds
    Voronoi,
    /// A GRDECL deck with a fault, layers that pinch out, and cells that are not active
    Deck,
}

/// Choices that GRDECL decks and meshes of Gmsh leave open.
#[derive(Debug, Args)]
pub struct DeckArgs {
    /// Unit of lengths of a GRDECL deck, whatever it says
    #[arg(long, value_name = "UNIT", value_enum)]
    pub grid_unit: Option<GridUnit>,
    /// A part of a deck that is left out, though that changes the answer; else it is an error
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = ignored_part)]
    pub ignore: Vec<DeckFeature>,
    /// Sides that are joined, as x-:x+,west:east; `none`: not even those that a mesh of Gmsh joins
    #[arg(long, value_name = "SIDES")]
    pub periodic: Option<String>,
}

/// A part by the name of its parameter.
fn ignored_part(name: &str) -> Result<DeckFeature, String> {
    let part = DeckFeature::ALL.into_iter().find(|part| part.parameter() == name);
    part.ok_or_else(|| format!("expected one of {}", DeckFeature::ALL.map(DeckFeature::parameter).join(", ")))
}

/// Units of lengths of a deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GridUnit {
    /// Metres
    Metres,
    /// Feet of 0.3048 m
    Feet,
    /// Centimetres
    Cm,
}
