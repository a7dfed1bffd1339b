//! Options for what decks leave open.

use super::table::DeckFeature;
use crate::grid::StoredGeometry;

pub(super) const FEET: f64 = 0.3048;

/// Options for what a deck leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeckOptions {
    /// Metres in its unit of length, whatever the deck says.
    pub grid_unit: Option<f64>,
    /// Parts that are left out, though that changes the answer; the others are errors.
    ignored: [bool; DeckFeature::ALL.len()],
    /// `Trust` accepts cells that begin above the middle of the cell above.
    pub stored: StoredGeometry,
    /// Most cells of a deck, with those that are not active.
    pub most_cells: usize,
}

impl Default for DeckOptions {
    fn default() -> DeckOptions {
        DeckOptions { grid_unit: None, ignored: Default::default(), stored: StoredGeometry::Check, most_cells: 100_000_000 }
    }
}

impl DeckOptions {
    /// Metres in a unit that `grid_unit` names: `metres`, `feet` or `cm`.
    pub fn unit(name: &str) -> Option<f64> {
        match &name.to_ascii_uppercase()[..] {
            "METRES" | "METRE" | "METERS" | "METER" | "M" => Some(1.0),
            "FEET" | "FOOT" | "FT" => Some(FEET),
            "CM" | "CENTIMETRES" => Some(0.01),
            _ => None,
        }
    }

    /// The same options, which leave out a part of decks.
    #[must_use]
    pub fn without(mut self, part: DeckFeature) -> DeckOptions {
        self.ignored[part as usize] = true;
        self
    }

    /// The same options, with another choice for cells that overlap.
    #[must_use]
    pub fn with_stored(self, stored: StoredGeometry) -> DeckOptions {
        DeckOptions { stored, ..self }
    }

    /// True if a part of decks is left out.
    pub fn ignores(&self, part: DeckFeature) -> bool {
        self.ignored[part as usize]
    }
}
