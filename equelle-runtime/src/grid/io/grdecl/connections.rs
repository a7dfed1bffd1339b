//! Connections of cells above each other: layers that touch, gaps between them, and layers without
//! cells that PINCH bridges.
//!
//! Source of the rules: the published tables of pinch-out tests of the Open Porous Media project,
//! which agree with Eclipse 100; for layers that resist, OPM Flow.

use super::columns::{Columns, CornerPoint};
use super::deck::{Deck, Pinch};

/// Connects the cells of columns.
pub(super) struct Connections<'a> {
    grid: &'a CornerPoint,
    /// Rules with lengths in metres.
    pinch: Option<Pinch>,
}

impl<'a> Connections<'a> {
    /// `length` is the metres in a length of PINCH.
    pub(super) fn new(grid: &'a CornerPoint, pinch: Option<Pinch>, length: f64) -> Connections<'a> {
        let in_metres = |pinch: Pinch| Pinch { thickness: pinch.thickness * length, largest_gap: pinch.largest_gap * length, ..pinch };
        Connections { grid, pinch: pinch.map(in_metres) }
    }

    /// True if flow passes from a cell to the next one below it that is there.
    pub(super) fn are_joined(&self, columns: &Columns, above: u32, below: u32) -> bool {
        let [above, below] = [above, below].map(|cell| columns.cells[cell as usize] as usize);
        let mut layers = self.layers(above, below).skip(1).peekable();
        if layers.peek().is_none() {
            return self.pinch.is_none_or(|pinch| self.gap(above, below) <= pinch.largest_gap);
        }
        let Some(pinch) = self.pinch else { return false };
        let counted = layers.filter(|&cell| !(pinch.bridges_small && self.grid.is_small[cell]));
        counted.map(|cell| self.thickness(cell)).sum::<f64>() <= pinch.thickness && self.gap(above, below) <= pinch.largest_gap
    }

    /// Cells of a column from one down to another, without that one.
    fn layers(&self, above: usize, below: usize) -> impl Iterator<Item = usize> {
        (above..below).step_by(self.grid.n[0] * self.grid.n[1])
    }

    fn thickness(&self, cell: usize) -> f64 {
        self.mean_height([cell, cell], [4, 0])
    }

    /// From the bottom of a cell down to the top of another.
    fn gap(&self, above: usize, below: usize) -> f64 {
        self.mean_height([below, above], [0, 4])
    }

    /// The mean over the four pillars of how much deeper an end of one cell is than one of another;
    /// 0 for its top and 4 for its bottom.
    fn mean_height(&self, cells: [usize; 2], ends: [usize; 2]) -> f64 {
        let [ijk, other] = cells.map(|cell| self.grid.ijk(cell));
        (0..4).map(|corner| self.grid.depth(ijk, corner + ends[0]) - self.grid.depth(other, corner + ends[1])).sum::<f64>() / 4.0
    }

    /// The multiplier of a connection of two cells of the deck above each other, and of the layers
    /// between them.
    pub(super) fn multiplier(&self, deck: &Deck, above: usize, below: usize) -> f64 {
        let value = |name: &str, cell: usize| {
            let value = deck.arrays.get(name).map_or(1.0, |array| array.values[cell]);
            if value.is_nan() { 1.0 } else { value }
        };
        let Some(pinch) = self.pinch else { return value("MULTZ", above) * value("MULTZ-", below) };
        if pinch.resists
            && let Some(permeability) = deck.arrays.get("PERMZ").or(deck.arrays.get("PERMX"))
        {
            return self.through_layers(&permeability.values, above, below, |above, below| value("MULTZ", above) * value("MULTZ-", below));
        }
        let smallest =
            |name: &str, cells: &mut dyn Iterator<Item = usize>| cells.map(|cell| value(name, cell)).fold(f64::INFINITY, f64::min);
        if !pinch.smallest_multiplier {
            return value("MULTZ", above) * value("MULTZ-", below);
        }
        let up = &mut self.layers(above, below).skip(1).chain([below]);
        smallest("MULTZ", &mut self.layers(above, below)) * smallest("MULTZ-", up)
    }

    /// The transmissibility through all layers and gaps from one cell to another, as a part of that
    /// through the halves of both. A gap has the permeability of the cell below it.
    fn through_layers(&self, permeability: &[f64], above: usize, below: usize, multiplier: impl Fn(usize, usize) -> f64) -> f64 {
        let half = |cell: usize| 0.5 * self.thickness(cell) / permeability[cell];
        let mut resistance = 0.0;
        let mut upper = above;
        // A layer without thickness resists nothing, whatever its permeability.
        let thick = self.layers(above, below).skip(1).filter(|&cell| self.thickness(cell) > 0.0);
        for lower in thick.chain([below]) {
            let gap = self.gap(upper, lower);
            let across_gap = if gap > 0.0 { gap / permeability[lower] } else { 0.0 };
            resistance += (half(upper) + across_gap + half(lower)) / multiplier(upper, lower);
            upper = lower;
        }
        // Layers without permeability let nothing through.
        if resistance.is_finite() { (half(above) + half(below)) / resistance } else { 0.0 }
    }
}
