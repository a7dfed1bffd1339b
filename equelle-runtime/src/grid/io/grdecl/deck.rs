//! What a deck says about its grid.

use std::collections::BTreeMap;

use super::boxes::{self, Box3};
use super::text::{DeckPosition, Text};
use crate::error::Error;

/// An array of a deck.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// NaN where nothing gave a value. `[nx ny nz]`, the first axis fastest.
    pub values: Vec<f64>,
    /// The keyword that made it.
    pub place: DeckPosition,
    /// Whether `place` is that of its own keyword, behind which its values are.
    pub is_listed: bool,
}

/// A side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub axis: usize,
    /// Whether it is where the index is larger.
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

/// What the keywords of a deck gave.
#[derive(Clone, Debug)]
pub(super) struct Deck {
    /// Numbers of cells along the axes; zeros before they are known.
    pub n: [usize; 3],
    /// The box that arrays without one are for.
    pub current_box: Box3,
    /// Pillars, six numbers each.
    pub coord: Option<Array>,
    /// Depths of the corners of cells, eight for each.
    pub zcorn: Option<Array>,
    /// Arrays of cells by name.
    pub arrays: BTreeMap<String, Array>,
    /// By name.
    pub faults: BTreeMap<String, Vec<FaultSides>>,
    /// Multiplier of each fault that has one.
    pub fault_multipliers: BTreeMap<String, f64>,
    /// Smallest pore volume of an active cell.
    pub minpv: Option<(f64, DeckPosition)>,
    /// Thickness up to which cells without pore volume are bridged.
    pub pinch: Option<f64>,
    /// Metres in the unit of lengths, from GRIDUNIT.
    pub grid_unit: Option<f64>,
    /// The same from the deck's system of units.
    pub deck_unit: Option<f64>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// Most cells that are read.
    pub most_cells: usize,
}

impl Deck {
    pub(super) fn new(most_cells: usize) -> Deck {
        Deck {
            n: [0; 3],
            current_box: [[0; 2]; 3],
            coord: None,
            zcorn: None,
            arrays: BTreeMap::new(),
            faults: BTreeMap::new(),
            fault_multipliers: BTreeMap::new(),
            minpv: None,
            pinch: None,
            grid_unit: None,
            deck_unit: None,
            notes: Vec::new(),
            most_cells,
        }
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

    /// Values for the cells of a box.
    pub(super) fn set(&mut self, name: &str, place: DeckPosition, of: Box3, values: &[f64]) {
        let n = self.n;
        let array = self.array_mut(name, place);
        boxes::cells(n, of).zip(values).for_each(|(cell, &value)| array.values[cell] = value);
    }
}

/// The value of cells where an array is not given.
pub(super) fn default_of(name: &str) -> Option<f64> {
    (name == "ACTNUM" || name == "NTG" || name.starts_with("MULT") || name.ends_with("NUM")).then_some(1.0)
}
