//! Mirrored entries of those in the halo, which other ranks have.

use super::matrix::RankMatrix;
use crate::error::Error;
use crate::linalg::driver::choose::SYMMETRY;
use crate::linalg::matrix::csr::Symmetry;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::ranks::RankContext;

/// For each entry in the halo of a square matrix, its mirrored one.
pub(super) struct Mirrored {
    /// Values of the mirrored entries, 0 where there is none; in the order of the rim.
    pub values: Vec<f64>,
    /// Row and halo column of the first entry that differs from its mirrored one, both numbers of
    /// unknowns here; its mirrored one is missing, or has another value.
    pub differs: Option<Difference>,
}

/// An entry that differs from its mirrored one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    /// Own row.
    pub row: usize,
    /// Place of the column in the halo.
    pub place: usize,
    /// True if there is no mirrored entry.
    pub is_structural: bool,
}

impl Difference {
    /// As a property of a matrix, with numbers of the whole system.
    pub fn symmetry(self, row: usize, column: usize) -> Symmetry {
        if self.is_structural { Symmetry::Structural { row, column } } else { Symmetry::Numerical { row, column } }
    }
}

/// Brings the mirrored entries of those in the halo.
///
/// # Errors
/// `Backend` if another rank has ended.
pub(super) fn mirrored(ranks: &RankContext, a: &RankMatrix<HostMatrix>) -> Result<Mirrored, Error> {
    let (columns, rim) = (a.columns(), a.rim());
    // Row and column as the owner of the column knows them, the value, the largest of the row.
    let entry = |row: usize, unknown: u32, value: f64| ((unknown, row as u32), (value, a.largest_of(row)));
    let arrived = columns.send_entries_back(ranks, rim, entry)?;
    let mut values = vec![0.0; rim.entries().n_entries()];
    let mut largest = vec![f64::NAN; values.len()];
    for (rank, entries) in arrived {
        for ((row, unknown), (value, its_largest)) in entries {
            let place = columns.place(rank, unknown);
            if let Some(at) = place.and_then(|place| rim.position(row as usize, place)) {
                (values[at], largest[at]) = (value, its_largest);
            }
        }
    }
    let mut differs: Option<Difference> = None;
    for (row, at, place, value) in rim.each() {
        let is_structural = largest[at].is_nan() && value != 0.0;
        let is_near = || (value - values[at]).abs() <= SYMMETRY * largest[at].max(a.largest_of(row));
        let is_other = is_structural || !(largest[at].is_nan() || value == values[at] || is_near());
        if is_other && differs.is_none_or(|known| is_structural && !known.is_structural) {
            differs = Some(Difference { row, place, is_structural });
        }
    }
    Ok(Mirrored { values, differs })
}
