//! Properties of a matrix on ranks.

use std::rc::Rc;

use super::matrix::RankMatrix;
use super::mirrored::mirrored;
use super::null_space::find_in_blocks;
use super::space::RankSpace;
use crate::error::Error;
use crate::linalg::SparseRows;
use crate::linalg::driver::choose::{Diagonal, MatrixProperties};
use crate::linalg::matrix::csr::Symmetry;
use crate::linalg::matrix::rim::Rim;
use crate::linalg::null_space::NullSpace;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_inspection::Entries;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::system_space::Inspection;
use crate::operators::Reduction;

/// Row, column and value of an entry that is not finite, by numbers of the whole system.
type NotFinite = (usize, usize, f64);

impl RankSpace<HostSpace> {
    /// [`crate::linalg::SystemSpace::inspect`] over all ranks.
    pub(super) fn inspect_all(&mut self, a: &RankMatrix<HostMatrix>, ends: &[usize], rounding: f64) -> Result<Inspection, Error> {
        let own = self.own_properties(a, ends, rounding);
        let mut is_finite = [if own.is_some() { 1.0 } else { 0.0 }];
        self.combine_all(Reduction::Min, &mut is_finite);
        self.checked()?;
        let Some((own, vanishes)) = own.filter(|_| is_finite[0] == 1.0) else {
            let not_finite = Some(self.first_not_finite(a)?);
            let properties = MatrixProperties::new(&crate::linalg::Csr::default(), &[], false);
            return Ok(Inspection { not_finite, null_space: Rc::default(), properties });
        };
        let flag = |is: bool| if is { 1.0 } else { 0.0 };
        let is_negative = |own: &MatrixProperties| own.diagonal == Diagonal::Negative || own.size == 0.0;
        let is_positive = own.diagonal == Diagonal::Positive;
        let numbers = [own.dominance, own.least_row, flag(is_positive), flag(is_negative(&own)), -own.size, -flag(vanishes)];
        let mut least = numbers;
        self.combine_all(Reduction::Min, &mut least);
        let [dominance, least_row, positive, negative, size, vanishes] = least;
        let symmetry = self.symmetry_of_all(a, own.symmetry)?;
        let properties = MatrixProperties {
            unknowns: self.numbering.n_whole(),
            fields: self.numbering.n_fields(),
            symmetry,
            diagonal: match (positive == 1.0, negative == 1.0) {
                (true, _) => Diagonal::Positive,
                (false, true) => Diagonal::Negative,
                (false, false) => Diagonal::Mixed,
            },
            dominance,
            size: -size,
            least_row,
            is_range_unknown: false,
        };
        let has_null_space = vanishes != 0.0 || ends.len() > 1;
        let null_space = if has_null_space { find_in_blocks(self, a, ends, rounding)? } else { NullSpace::default() };
        Ok(Inspection { not_finite: None, null_space: Rc::new(null_space), properties })
    }

    /// Properties of own rows, and whether one sums to zero; `None` if an entry is not finite.
    fn own_properties(&self, a: &RankMatrix<HostMatrix>, ends: &[usize], rounding: f64) -> Option<(MatrixProperties, bool)> {
        match a.own() {
            HostMatrix::Rows(own) => {
                let Entries { vanishes, is_mirrored, properties } = Entries::new(self.inner.threads(), (own, a.rim()), ends, rounding)?;
                own.set_mirrored(is_mirrored);
                Some((properties, vanishes))
            }
            HostMatrix::Blocks(own) => {
                let is_finite = not_finite_in(own, a.rim()).is_none();
                // Several fields are looked at each by itself.
                is_finite.then(|| (MatrixProperties::with_rim(own, a.rim(), ends, false), false))
            }
        }
    }

    /// The first entry of all ranks that is not finite.
    fn first_not_finite(&mut self, a: &RankMatrix<HostMatrix>) -> Result<NotFinite, Error> {
        let found = match a.own() {
            HostMatrix::Rows(own) => not_finite_in(&**own, a.rim()),
            HostMatrix::Blocks(own) => not_finite_in(own, a.rim()),
        };
        let numbered = found.map(|(row, column, value)| {
            let n_own = a.columns().n_own();
            let column = if column < n_own { self.numbering.own(column) } else { self.numbering.halo(a.columns().halo()[column - n_own]) };
            [self.numbering.own(row) as f64, column as f64, value]
        });
        let all = self.gather(numbered.unwrap_or([f64::INFINITY, 0.0, 0.0]))?;
        let first = all.iter().copied().reduce(|first, other| if other[0] < first[0] { other } else { first });
        let [row, column, value] = first.unwrap_or_default();
        Ok((row as usize, column as usize, value))
    }

    /// Symmetry of the matrix of all ranks from that of own columns.
    fn symmetry_of_all(&mut self, a: &RankMatrix<HostMatrix>, own: Symmetry) -> Result<Symmetry, Error> {
        let beyond = mirrored(&self.ranks, a)?.differs.map(|differs| {
            let column = self.numbering.halo(a.columns().halo()[differs.place]);
            differs.symmetry(self.numbering.own(differs.row), column)
        });
        let own = match own {
            Symmetry::Structural { row, column } => {
                Symmetry::Structural { row: self.numbering.own(row), column: self.numbering.own(column) }
            }
            Symmetry::Numerical { row, column } => Symmetry::Numerical { row: self.numbering.own(row), column: self.numbering.own(column) },
            Symmetry::Symmetric | Symmetry::NotSquare => own,
        };
        // The order of preference, row, column.
        let place = |symmetry: Symmetry| match symmetry {
            Symmetry::NotSquare => [0.0, 0.0, 0.0],
            Symmetry::Structural { row, column } => [1.0, row as f64, column as f64],
            Symmetry::Numerical { row, column } => [2.0, row as f64, column as f64],
            Symmetry::Symmetric => [3.0, 0.0, 0.0],
        };
        let before = |a: [f64; 3], b: [f64; 3]| if b < a { b } else { a };
        let first = beyond.map_or(place(own), |beyond| before(place(own), place(beyond)));
        let [kind, row, column] = self.gather(first)?.into_iter().fold(place(Symmetry::Symmetric), before);
        let (row, column) = (row as usize, column as usize);
        Ok(match kind as u8 {
            0 => Symmetry::NotSquare,
            1 => Symmetry::Structural { row, column },
            2 => Symmetry::Numerical { row, column },
            _ => Symmetry::Symmetric,
        })
    }
}

/// Row, column of all, and value of the first entry that is not finite.
fn not_finite_in(own: &impl SparseRows, rim: &Rim) -> Option<NotFinite> {
    let n_own = own.n_cols();
    (0..own.n_rows()).find_map(|row| {
        let beyond = rim.row(row).map(|(column, value)| (n_own + column, value));
        let (column, value) = own.row(row).chain(beyond).find(|(_, value)| !value.is_finite())?;
        Some((row, column, value))
    })
}
