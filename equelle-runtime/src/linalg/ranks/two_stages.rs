//! CPR over ranks: multigrid over ranks for the pressure equation, then block ILU(0) of own rows.

use std::sync::Arc;

use super::columns::HaloColumns;
use super::matrix::RankMatrix;
use super::mirrored::mirrored;
use super::space::RankSpace;
use crate::error::Error;
use crate::linalg::matrix::csr::{Csr, Symmetry};
use crate::linalg::matrix::rim::Rim;
use crate::linalg::precond::Setting;
use crate::linalg::precond::amg::AmgOptions;
use crate::linalg::precond::blocks::BlockCsr;
use crate::linalg::precond::cpr::{Cpr, Stages, columns_of, injection, restriction, weights_of};
use crate::linalg::precond::ilu::incomplete;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::Preconditioner;
use crate::operators::Reduction;
use crate::rank_id::RankId;

/// Largest difference of mirrored entries of a symmetric pressure equation.
const SYMMETRY: f64 = 1e-10;

impl RankSpace<HostSpace> {
    /// Both stages for `factor` times a matrix of fields on the same elements.
    pub(super) fn two_stages(
        &mut self,
        a: &RankMatrix<HostMatrix>,
        factor: f64,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<Self>>, Error> {
        let scaled;
        let a = if factor == 1.0 {
            a
        } else {
            scaled = a.scaled(factor);
            &scaled
        };
        let (k, pressure) = (setting.ends.len(), setting.pressure);
        let n = a.n_rows() / k;
        let blocks = match a.own() {
            HostMatrix::Rows(own) => BlockCsr::new(own, k),
            HostMatrix::Blocks(own) => BlockCsr::of(own),
        };
        let restriction = restriction(k, &weights_of(&blocks, pressure));
        let columns = self.pressure_columns(a, k, pressure)?;
        let all = restriction.product(&columns.all_columns());
        let equation = RankMatrix::from_all_columns(&all, Arc::clone(columns.columns()));
        let own = equation.own().rows();
        let is_symmetric = own.symmetry(SYMMETRY) == Symmetry::Symmetric && own.diagonal().iter().all(|d| *d > 0.0);
        let is_symmetric = mirrored(&self.ranks, &equation)?.differs.is_none() && is_symmetric;
        let mut symmetric = [if is_symmetric { 1.0 } else { 0.0 }];
        self.combine_all(Reduction::Min, &mut symmetric);
        self.checked()?;
        let options = AmgOptions { symmetric: symmetric[0] == 1.0, singular: setting.singular, ..setting.amg };
        let amg = self.multigrid_over(equation, Vec::new(), &options)?;
        self.is_alone = true;
        let second = incomplete(self, blocks);
        self.is_alone = false;
        let stages = Stages {
            restriction: self.matrix(restriction)?,
            injection: self.matrix(injection(k, n, pressure))?,
            pressure_columns: columns,
            amg,
            second: second?,
        };
        Ok(Box::new(Cpr::assemble(self, stages)?))
    }

    /// The columns of one field: `[k n, n]`.
    fn pressure_columns(&mut self, a: &RankMatrix<HostMatrix>, k: usize, pressure: usize) -> Result<RankMatrix<HostMatrix>, Error> {
        let n = a.n_rows() / k;
        let own = match a.own() {
            HostMatrix::Rows(own) => own.block(0..k * n, pressure * n..(pressure + 1) * n),
            HostMatrix::Blocks(own) => columns_of(own, pressure),
        };
        // By place in the halo: rank and element of an unknown of this field.
        let element = |&(RankId(owner), unknown): &(RankId, u32)| {
            let n_there = self.numbering.n_of(owner as usize) / k;
            let (field, element) = (unknown as usize / n_there.max(1), unknown as usize % n_there.max(1));
            (field == pressure).then_some((RankId(owner), element as u32))
        };
        let elements: Vec<Option<(RankId, u32)>> = a.columns().halo().iter().map(element).collect();
        let halo: Vec<(RankId, u32)> = elements.iter().copied().flatten().collect();
        let mut place = 0;
        let places: Vec<Option<u32>> = elements
            .iter()
            .map(|element| {
                element.map(|_| {
                    place += 1;
                    place - 1
                })
            })
            .collect();
        let columns = Arc::new(HaloColumns::new(&self.ranks, n, &halo)?);
        let mut entries: Vec<(usize, usize, f64)> = Vec::new();
        for (row, _, column, value) in a.rim().each() {
            entries.extend(places[column].map(|place| (row, place as usize, value)));
        }
        let mut row_ptr = vec![0; k * n + 1];
        entries.iter().for_each(|(row, ..)| row_ptr[row + 1] += 1);
        (0..k * n).for_each(|row| row_ptr[row + 1] += row_ptr[row]);
        let col_idx = entries.iter().map(|(_, place, _)| *place as u32).collect();
        let values = entries.iter().map(|(.., value)| *value).collect();
        let rim = Rim::new(Csr::from_valid(k * n, halo.len(), row_ptr, col_idx, values));
        Ok(RankMatrix::from_rim(own.into(), rim, columns))
    }

    /// [`crate::linalg::precond::cpr::departure_from_elliptic`] over all ranks. `[k]`
    pub(super) fn departure(&mut self, a: &RankMatrix<HostMatrix>, k: usize) -> Result<Vec<f64>, Error> {
        let (n_own, rank) = (a.columns().n_own(), self.ranks.rank().index());
        let n = n_own / k;
        let all = a.all_columns();
        let beyond = self.opposite(a, k)?;
        let field_of: Vec<usize> = (0..n_own)
            .map(|unknown| self.numbering.field(rank, unknown))
            .chain(a.columns().halo().iter().map(|&(RankId(owner), unknown)| self.numbering.field(owner as usize, unknown as usize)))
            .collect();
        // By field: sum and count of the row sums, then of the couplings of one way.
        let mut totals = vec![[0.0; 4]; k];
        let mut row_sums = vec![(0.0f64, 0.0f64); k];
        for row in 0..all.n_rows() {
            row_sums.fill((0.0, 0.0));
            for (column, value) in all.row(row) {
                let own = &mut row_sums[field_of[column]];
                *own = (own.0 + value, own.1 + value.abs());
                let (equation, element) = (row / n, row % n);
                if column < n_own && column % n != element && value != 0.0 {
                    let field = column / n;
                    let other = all.entry(equation * n + column % n, field * n + element);
                    totals[field][2] += (value - other).abs() / (value.abs() + other.abs());
                    totals[field][3] += 1.0;
                }
            }
            for (total, (sum, size)) in totals.iter_mut().zip(&row_sums).filter(|(_, (_, size))| *size > 0.0) {
                total[0] += sum.abs() / size;
                total[1] += 1.0;
            }
        }
        for (_, at, place, value) in a.rim().each().filter(|(.., value)| *value != 0.0) {
            let (field, other) = (field_of[n_own + place], beyond[at]);
            totals[field][2] += (value - other).abs() / (value.abs() + other.abs());
            totals[field][3] += 1.0;
        }
        let mut totals = totals.concat();
        self.combine_all(Reduction::Sum, &mut totals);
        self.checked()?;
        let mean = |total: f64, count: f64| if count == 0.0 { 1.0 } else { total / count };
        Ok(totals.as_chunks::<4>().0.iter().map(|&[sums, rows, one_way, pairs]| mean(sums, rows) + mean(one_way, pairs)).collect())
    }

    /// For each entry of the rim, equation and unknown of two elements, that of the same equation
    /// and unknown with the elements exchanged; 0 where there is none. In the order of the rim.
    fn opposite(&mut self, a: &RankMatrix<HostMatrix>, k: usize) -> Result<Vec<f64>, Error> {
        let (columns, rim, n) = (a.columns(), a.rim(), a.n_rows() / k);
        // Unknown at the owner, equation and element here, and the value.
        let entry = |row: usize, unknown: u32, value: f64| ((unknown, ((row / n) as u32, (row % n) as u32)), value);
        let arrived = columns.send_entries_back(&self.ranks, rim, entry)?;
        let mut values = vec![0.0; rim.entries().n_entries()];
        for (rank, entries) in arrived {
            let n_there = self.numbering.n_of(rank.index()) / k;
            for ((unknown, (equation, element)), value) in entries {
                let (field, own) = (unknown as usize / n, unknown as usize % n);
                let place = columns.place(rank, (field * n_there) as u32 + element);
                if let Some(at) = place.and_then(|place| rim.position(equation as usize * n + own, place)) {
                    values[at] = value;
                }
            }
        }
        Ok(values)
    }
}
