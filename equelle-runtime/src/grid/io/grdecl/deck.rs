//! Grid data of a deck.

use std::collections::{BTreeMap, BTreeSet};

use super::boxes::Box3;
use super::options::DeckOptions;
use super::table::DeckFeature;
use super::text::{DeckPosition, Text};
use super::units::Units;
use crate::error::Error;

/// An array of a deck.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// NaN where nothing gave a value. `[nx ny nz]`, the first axis fastest.
    pub values: Vec<f64>,
    /// The keyword that made it.
    pub place: DeckPosition,
    /// True if `place` is that of its own keyword, behind which its values are.
    pub is_listed: bool,
}

/// A side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub axis: usize,
    /// True if it is where the index is larger.
    pub is_high: bool,
}

impl Side {
    /// `I`, `I+`, `X-` and so on.
    pub(super) fn named(name: &str) -> Option<Side> {
        let mut letters = name.chars();
        let axis = match letters.next()?.to_ascii_uppercase() {
            'I' | 'X' => 0,
            'J' | 'Y' => 1,
            'K' | 'Z' => 2,
            _ => return None,
        };
        match letters.as_str() {
            "" | "+" => Some(Side { axis, is_high: true }),
            "-" => Some(Side { axis, is_high: false }),
            _ => None,
        }
    }
}

/// Sides of the cells of a box that lie on a fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultSides {
    pub cells: Box3,
    pub side: Side,
}

/// A fault of a deck.
#[derive(Clone, Debug, Default)]
pub(super) struct Fault {
    pub sides: Vec<FaultSides>,
    /// Multipliers from GRID and from EDIT, if there is one.
    pub multipliers: Option<[f64; 2]>,
}

/// The section of a deck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    #[default]
    Grid,
    Edit,
}

/// Rules for layers without cells, from PINCH. Lengths in the unit of the deck's system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pinch {
    /// Thickness up to which layers without cells are bridged.
    pub thickness: f64,
    /// True if cells that MINPV removed are bridged whatever their thickness.
    pub bridges_small: bool,
    /// Largest gap between neighbouring layers that are connected.
    pub largest_gap: f64,
    /// True if the layers between resist the flow: the harmonic mean of all, not of both ends.
    pub resists: bool,
    /// True if the smallest MULTZ and MULTZ- of the cells between hold, not those of both ends.
    pub smallest_multiplier: bool,
}

impl Default for Pinch {
    fn default() -> Pinch {
        Pinch { thickness: 0.001, bridges_small: true, largest_gap: 1e20, resists: false, smallest_multiplier: false }
    }
}

/// The arrays that number the cells of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RegionSet {
    Multiplier,
    Flux,
    Operation,
}

impl RegionSet {
    pub(super) const fn array(self) -> &'static str {
        match self {
            RegionSet::Multiplier => "MULTNUM",
            RegionSet::Flux => "FLUXNUM",
            RegionSet::Operation => "OPERNUM",
        }
    }
}

/// Multiplies the transmissibilities between two regions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BetweenRegions {
    /// Region numbers; `None` for all.
    pub regions: [Option<i64>; 2],
    pub factor: f64,
    /// True for the axes whose faces are among them.
    pub axes: [bool; 3],
    /// True if neighbours by index are among them, and if others are.
    pub neighbours: [bool; 2],
    pub set: RegionSet,
}

/// Rules of a deck for regions.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionRules {
    /// True if MULTNUM is the usual array of regions, by GRIDOPTS.
    pub has_multipliers: bool,
    /// From MULTREGP: regions (`None` for all) and multipliers of their pore volumes.
    pub pore_volume_factors: Vec<(RegionSet, Option<i64>, f64)>,
    pub between: Vec<BetweenRegions>,
}

/// Cells of a deck, the smaller number first.
pub(super) type CellPair = [usize; 2];

/// Rules of a deck for connections of cells, and those of pairs that it gives or changes.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionRules {
    pub pinch: Option<Pinch>,
    /// Where NONNC forbids connections of cells that are not neighbours by index.
    pub neighbours_only: Option<DeckPosition>,
    /// From NNC, in the unit of the deck's system.
    pub added: Vec<(CellPair, f64)>,
    /// From EDITNNC.
    pub factors: BTreeMap<CellPair, f64>,
    /// From EDITNNCR, in the unit of the deck's system.
    pub replaced: BTreeMap<CellPair, f64>,
    /// Number of records of the last two that name neighbours by index, which they do not change.
    pub n_of_neighbours: usize,
}

impl ConnectionRules {
    /// True if a transmissibility that geometry gives is multiplied.
    pub(super) fn has_factors(&self) -> bool {
        !self.factors.is_empty()
    }

    /// True if connections that are there are changed.
    pub(super) fn has_edits(&self) -> bool {
        self.has_factors() || !self.replaced.is_empty()
    }
}

/// Content of a deck's keywords.
#[derive(Clone, Debug, Default)]
pub(super) struct Deck {
    /// Numbers of cells along the axes; zeros before they are known.
    pub n: [usize; 3],
    /// The box that arrays without one are for.
    pub current_box: Box3,
    /// Pillars, six numbers each.
    pub coord: Option<Array>,
    /// Depths of the corners of cells, eight for each.
    pub zcorn: Option<Array>,
    /// Depths of the tops of pillars, from DEPTHZ. `[(nx + 1) (ny + 1)]`
    pub pillar_tops: Option<Vec<f64>>,
    /// Arrays of cells by name.
    pub arrays: BTreeMap<String, Array>,
    /// By name.
    pub faults: BTreeMap<String, Fault>,
    pub section: Section,
    /// Smallest pore volume of an active cell, in the unit of the deck's system.
    pub minpv: Option<(f64, DeckPosition)>,
    pub regions: RegionRules,
    pub connections: ConnectionRules,
    pub units: Units,
    /// Notes on what changes results, in the order of the deck.
    pub notes: Vec<String>,
    /// Keywords that are left out, by the reason.
    pub left_out: BTreeMap<&'static str, BTreeSet<String>>,
    pub options: DeckOptions,
}

impl Deck {
    pub(super) fn new(options: DeckOptions) -> Deck {
        Deck { options, ..Deck::default() }
    }

    /// Notes that a part of the deck is left out, which changes the answer.
    ///
    /// # Errors
    /// Unless the options ignore it.
    pub(super) fn changes_answer(&mut self, text: &Text<'_>, part: DeckFeature, keyword: &str, of: DeckPosition) -> Result<(), Error> {
        let (parameter, without) = (part.parameter(), part.without());
        if self.options.ignores(part) {
            self.notes.push(format!("{keyword} is left out ({parameter}=ignore): {without}"));
            return Ok(());
        }
        let error = text.error(of, &format!("{keyword}: {}", part.reason()));
        Err(error.hint(format!("go on without it by {parameter}=ignore: {without}")))
    }

    /// True between EDIT and the end.
    pub(super) fn is_in_edit(&self) -> bool {
        self.section == Section::Edit
    }

    pub(super) fn n_cells(&self) -> usize {
        self.n.iter().product()
    }

    /// Numbers of cells, which the keyword at a place needs.
    pub(super) fn need_dims(&self, text: &Text<'_>, keyword: &str, of: DeckPosition) -> Result<[usize; 3], Error> {
        if self.n[0] > 0 {
            return Ok(self.n);
        }
        Err(text.error(of, &format!("{keyword}: expected SPECGRID or DIMENS before it")))
    }

    /// The array of a name; a new one has the value that cells have where the deck says nothing.
    pub(super) fn array_mut(&mut self, name: &str, place: DeckPosition) -> &mut Array {
        let n = self.n_cells();
        self.arrays.entry(name.to_string()).or_insert_with(|| Array {
            values: vec![default_of(name).unwrap_or(f64::NAN); n],
            place,
            is_listed: false,
        })
    }
}

/// The value of cells where an array is not given.
pub(super) fn default_of(name: &str) -> Option<f64> {
    (name == "ACTNUM" || name == "NTG" || name.starts_with("MULT") || name.ends_with("NUM")).then_some(1.0)
}
