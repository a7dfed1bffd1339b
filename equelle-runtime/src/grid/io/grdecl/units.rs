//! Units of a deck.

use super::options::FEET;

/// Units that a deck names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Units {
    /// Metres in the unit of lengths, from GRIDUNIT.
    pub grid: Option<f64>,
    pub system: Option<System>,
}

impl Units {
    /// Metres in the unit of corners and widths, if the deck names one.
    pub(super) fn grid_length(&self) -> Option<f64> {
        self.grid.or(self.system.map(|system| system.length))
    }

    /// The system of all other numbers.
    pub(super) fn system(&self) -> System {
        self.system.unwrap_or(System::METRIC)
    }
}

/// Units of a deck's system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct System {
    /// Metres in its unit of length.
    pub length: f64,
    /// Cubic metres in its unit of pore volume.
    pub pore_volume: f64,
    /// Cubic metres in its unit of transmissibility, a volume of liquid of 1 cP in a time at a
    /// difference of pressure.
    pub transmissibility: f64,
}

/// Cubic metres in a barrel of 42 US gallons.
const BARREL: f64 = 0.158_987_294_928;

/// Pascals in a pound-force per square inch.
const PSI: f64 = 6_894.757_293_168;

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// Pascal seconds in a centipoise.
const CENTIPOISE: f64 = 1e-3;

impl System {
    pub(super) const METRIC: System = System { length: 1.0, pore_volume: 1.0, transmissibility: CENTIPOISE / (DAY * 1e5) };
    pub(super) const FIELD: System = System { length: FEET, pore_volume: BARREL, transmissibility: CENTIPOISE * BARREL / (DAY * PSI) };
    pub(super) const LAB: System = System { length: 0.01, pore_volume: 1e-6, transmissibility: CENTIPOISE * 1e-6 / (3_600.0 * 101_325.0) };
}
