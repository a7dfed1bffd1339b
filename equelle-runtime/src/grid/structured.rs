//! Places in a Cartesian grid: what is read by index.

pub use equelle_core::SideMap;

use super::Cartesian;

/// The number of a cell along an axis of `n` cells: `at`, or what the maps of low and high side
/// make of it. Always in the grid.
#[inline]
pub fn mapped(at: i64, n: i64, [low, high]: [SideMap; 2]) -> i64 {
    if (0..n).contains(&at) {
        return at;
    }
    let (map, beyond) = if at < 0 { (low, -1 - at) } else { (high, at - n) };
    let inside = match map {
        // A division only where one turn is not enough.
        SideMap::Wrap => {
            let turned = if at < 0 { at + n } else { at - n };
            return if (0..n).contains(&turned) { turned } else { at.rem_euclid(n) };
        }
        SideMap::Mirror => beyond,
        SideMap::MirrorAt => beyond + 1,
        SideMap::Clamp | SideMap::Never => 0,
    };
    let inside = inside.clamp(0, n - 1);
    if at < 0 { inside } else { n - 1 - inside }
}

impl Cartesian {
    /// The cell at an offset.
    #[inline]
    pub fn offset_cell(&self, cell: u32, by: [i8; 3], beyond: [SideMap; 6]) -> u32 {
        let mut ijk = self.cell_ijk(cell as usize);
        for axis in 0..3 {
            if by[axis] != 0 {
                let maps = [beyond[2 * axis], beyond[2 * axis + 1]];
                ijk[axis] = mapped(ijk[axis] as i64 + i64::from(by[axis]), self.n[axis] as i64, maps) as usize;
            }
        }
        self.cell(ijk) as u32
    }

    /// True if the cell this many cells further along an axis is beyond the side of the grid there.
    #[inline]
    pub fn is_outside(&self, cell: u32, axis: usize, by: i8) -> bool {
        let at = self.index_along(cell, axis) as i64 + i64::from(by);
        !(0..self.whole_n()[axis] as i64).contains(&at)
    }

    /// The number of a cell along an axis of the whole grid.
    #[inline]
    pub fn index_along(&self, cell: u32, axis: usize) -> usize {
        self.whole_index(axis, self.cell_ijk(cell as usize)[axis])
    }

    /// True if the sum of the numbers of a cell along some axes is even.
    #[inline]
    pub fn is_even(&self, cell: u32, axes: [bool; 3]) -> bool {
        (0..3).filter(|&axis| axes[axis]).map(|axis| self.index_along(cell, axis)).sum::<usize>() % 2 == 0
    }
}
