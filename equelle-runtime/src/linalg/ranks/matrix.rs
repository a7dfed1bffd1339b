//! Rows of a matrix that a rank owns.

use std::sync::{Arc, OnceLock};

use super::columns::HaloColumns;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::rim::Rim;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::{MatrixSpace, Parts, Shape};

/// The rows of a matrix that a rank owns: entries in the columns of its own unknowns, in the format
/// of the space there, and those in the columns of others.
#[derive(Clone, Debug)]
pub struct RankMatrix<M> {
    own: M,
    rim: Rim,
    columns: Arc<HaloColumns>,
    /// The parts of all ranks, once they have told each other.
    parts: OnceLock<Parts>,
}

impl RankMatrix<HostMatrix> {
    /// From the entries in own columns, and those in the halo `[rows, halo]`. All ranks have rows
    /// of one matrix.
    ///
    /// # Panics
    /// If the sizes do not fit each other.
    pub fn new(own: HostMatrix, halo: Csr, columns: Arc<HaloColumns>) -> Self {
        assert_eq!(own_shape(&own).rows, halo.n_rows(), "entries of the same rows");
        RankMatrix::from_rim(own, Rim::new(halo), columns)
    }

    /// From own entries and those of the rim.
    ///
    /// # Panics
    /// As for [`RankMatrix::new`].
    pub(super) fn from_rim(own: HostMatrix, rim: Rim, columns: Arc<HaloColumns>) -> Self {
        assert_eq!(own_shape(&own).columns, columns.n_own(), "own columns");
        assert!(rim.rows().is_empty() || rim.entries().n_cols() == columns.halo().len(), "columns of the halo");
        RankMatrix { own, rim, columns, parts: OnceLock::new() }
    }

    /// Without entries in columns of others.
    pub(super) fn local(own: HostMatrix) -> Self {
        let n_columns = own_shape(&own).columns;
        RankMatrix::without_rim(own, n_columns)
    }

    /// From all columns, the own ones first: `[rows, n_all]`.
    pub(super) fn from_all_columns(all: &Csr, columns: Arc<HaloColumns>) -> Self {
        let (rows, n_own, n_all) = (all.n_rows(), columns.n_own(), columns.n_all());
        let own = all.block(0..rows, 0..n_own);
        RankMatrix::new(own.into(), all.block(0..rows, n_own..n_all), columns)
    }

    /// All columns, the own ones first: `[rows, n_all]`.
    pub(super) fn all_columns(&self) -> Csr {
        let own = self.own.rows();
        let n_own = self.columns.n_own();
        let entries = own.n_entries() + self.rim.entries().n_entries();
        let mut row_ptr = Vec::with_capacity(own.n_rows() + 1);
        row_ptr.push(0);
        let (mut col_idx, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for row in 0..own.n_rows() {
            let range = own.row_ptr()[row]..own.row_ptr()[row + 1];
            col_idx.extend_from_slice(&own.col_idx()[range.clone()]);
            values.extend_from_slice(&own.values()[range]);
            for (column, value) in self.rim.row(row) {
                col_idx.push((n_own + column) as u32);
                values.push(value);
            }
            row_ptr.push(col_idx.len());
        }
        Csr::from_valid(own.n_rows(), self.columns.n_all(), row_ptr, col_idx, values)
    }

    /// Number of own rows.
    pub fn n_rows(&self) -> usize {
        own_shape(&self.own).rows
    }

    /// Size of the own rows, with entries in columns of others.
    pub(super) fn shape(&self) -> Shape {
        self.with_rim(own_shape(&self.own))
    }

    /// Number of the largest magnitude of each own row.
    pub(super) fn largest_of(&self, row: usize) -> f64 {
        let largest = |most: f64, (_, value): (usize, f64)| most.max(value.abs());
        let own = match &self.own {
            HostMatrix::Rows(own) => own.row(row).fold(0.0, largest),
            HostMatrix::Blocks(own) => crate::linalg::SparseRows::row(own, row).fold(0.0, largest),
        };
        self.rim.row(row).fold(own, largest)
    }

    /// The same places with other values.
    pub(super) fn with(&self, own: HostMatrix, rim: Rim) -> Self {
        self.converted(own, rim)
    }

    /// In compressed rows.
    pub(super) fn in_rows(self) -> Self {
        RankMatrix { own: self.own.into_rows().into(), ..self }
    }

    /// With columns that begin with its own ones and its halo.
    pub(super) fn in_columns(self, columns: &Arc<HaloColumns>) -> Self {
        let same: Vec<u32> = (0..self.columns.halo().len() as u32).collect();
        let rim = self.rim.renumbered(&same, columns.halo().len());
        let made = RankMatrix::from_rim(self.own, rim, Arc::clone(columns));
        self.parts.get().into_iter().for_each(|parts| made.set_parts(*parts));
        made
    }

    /// The matrix times a factor.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let own = match &self.own {
            HostMatrix::Rows(own) => own.scaled(factor).into(),
            HostMatrix::Blocks(own) => own.scaled(factor).into(),
        };
        self.with(own, self.rim.changed(|_, _, value| factor * value))
    }
}

impl<M> RankMatrix<M> {
    /// The same matrix with own entries and a rim in another form.
    pub(super) fn converted<N>(&self, own: N, rim: Rim) -> RankMatrix<N> {
        RankMatrix { own, rim, columns: Arc::clone(&self.columns), parts: self.parts.clone() }
    }

    /// Entries in own columns alone, of which there are so many.
    pub(super) fn without_rim(own: M, n_columns: usize) -> Self {
        RankMatrix { own, rim: Rim::default(), columns: Arc::new(HaloColumns::own(n_columns)), parts: OnceLock::new() }
    }

    /// Entries in own columns.
    pub fn own(&self) -> &M {
        &self.own
    }

    /// The size of the own entries with those in columns of others.
    pub(super) fn with_rim(&self, own: Shape) -> Shape {
        Shape { entries: own.entries + self.rim.entries().n_entries(), ..own }
    }

    /// Entries in columns of the halo.
    pub fn rim(&self) -> &Rim {
        &self.rim
    }

    /// Its columns.
    pub fn columns(&self) -> &Arc<HaloColumns> {
        &self.columns
    }

    /// The parts of all ranks.
    pub(super) fn parts(&self) -> Option<Parts> {
        self.parts.get().copied()
    }

    /// Remembers the parts of all ranks.
    pub(super) fn set_parts(&self, parts: Parts) {
        let _ = self.parts.set(parts);
    }
}

/// The parts of a matrix from rows, columns and entries of each rank.
pub(super) fn parts_of(all: &[[f64; 3]], fields: usize) -> Parts {
    let mut whole = Shape { rows: 0, columns: 0, entries: 0, fields };
    let mut sizes = 0u64;
    for &[rows, columns, entries] in all {
        whole.rows += rows as usize;
        whole.columns += columns as usize;
        whole.entries += entries as usize;
        for number in [rows, columns, entries] {
            sizes = (sizes ^ number as u64).wrapping_mul(0x0100_0000_01b3).rotate_left(7);
        }
    }
    Parts { whole, sizes }
}

/// The size of own entries.
fn own_shape(own: &HostMatrix) -> Shape {
    crate::linalg::space::host::HostSpace::shape(own)
}
