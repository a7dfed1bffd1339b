//! Operations of the driver on ranks.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::gathered::gathered_everywhere;
use super::matrix::RankMatrix;
use super::null_space::RankNullVectors;
use super::space::{RankSpace, sure};
use crate::error::Error;
use crate::linalg::driver::error::LinearError;
use crate::linalg::driver::options::{LinearOptions, Preconditioning};
use crate::linalg::driver::solution::Solution;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::inverse_row_scale;
use crate::linalg::null_space::NullSpace;
use crate::linalg::precond::simple::{Jacobi, inverse_of};
use crate::linalg::precond::{Setting, build, build_of_blocks};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::system_space::{Inspection, SystemSpace, UNITS_AGREE};
use crate::linalg::space::vector_space::Preconditioner;
use crate::operators::Reduction;

impl SystemSpace for RankSpace<HostSpace> {
    type NullVectors = RankNullVectors;

    fn set_len(&mut self, n: usize) {
        self.inner.set_len(n);
    }

    fn check_every(&self, asked: usize, preconditioner: Preconditioning) -> usize {
        self.inner.check_every(asked, preconditioner)
    }

    fn take_traffic(&mut self) -> u64 {
        self.inner.take_traffic()
    }

    fn largest(&mut self, x: &Vec<f64>) -> f64 {
        let mut most = [self.inner.largest(x)];
        self.combine_all(Reduction::Max, &mut most);
        most[0]
    }

    fn host_vector(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(x.clone())
    }

    fn host_matrix<'m>(&mut self, a: &'m RankMatrix<HostMatrix>) -> Result<Cow<'m, Csr>, Error> {
        Ok(Cow::Owned(gathered_everywhere(&self.ranks, a, &self.numbering)?))
    }

    fn combine(&mut self, how: Reduction, numbers: &mut [f64]) {
        self.combine_all(how, numbers);
    }

    fn number(&self, unknown: usize) -> usize {
        self.numbering.own(unknown)
    }

    fn entry(&mut self, a: &RankMatrix<HostMatrix>, row: usize, column: usize) -> Result<f64, Error> {
        let found = self.numbering.unknown(row).and_then(|row| {
            let n_own = a.columns().n_own();
            let number = |at: usize| if at < n_own { self.numbering.own(at) } else { self.numbering.halo(a.columns().halo()[at - n_own]) };
            let own = a.own().rows().row(row);
            let beyond = a.rim().row(row).map(|(place, value)| (n_own + place, value));
            own.chain(beyond).find(|(at, _)| number(*at) == column).map(|(_, value)| value)
        });
        let [entry] = self.sums([found.unwrap_or(0.0)]);
        self.checked()?;
        Ok(entry)
    }

    fn restored(&mut self, a: &RankMatrix<HostMatrix>, null_space: &NullSpace) -> Result<RankMatrix<HostMatrix>, Error> {
        self.restored_matrix(a, null_space)
    }

    fn solve_gathered(
        &mut self,
        a: &RankMatrix<HostMatrix>,
        _ends: &[usize],
        rhs: impl FnOnce(&mut Self) -> Result<Vec<f64>, Error>,
        options: &LinearOptions,
    ) -> Result<Option<Result<Solution, LinearError>>, Error> {
        let rhs = rhs(self)?;
        self.solve_at_root(a, &rhs, options).map(Some)
    }

    fn departure_from_elliptic(&mut self, a: &RankMatrix<HostMatrix>, k: usize) -> Result<Vec<f64>, Error> {
        self.departure(a, k)
    }

    fn inspect(&mut self, a: &RankMatrix<HostMatrix>, ends: &[usize], rounding: f64) -> Result<Inspection, Error> {
        self.inspect_all(a, ends, rounding)
    }

    fn null_vectors(&mut self, null_space: &Rc<NullSpace>) -> Result<RankNullVectors, Error> {
        Ok(self.null_vectors_of(null_space))
    }

    fn row_scales(&mut self, a: &RankMatrix<HostMatrix>) -> Result<Vec<f64>, Error> {
        let mut scales = sure(self.inner.row_scales(a.own()));
        for &row in a.rim().rows() {
            scales[row as usize] = inverse_row_scale(a.largest_of(row as usize));
        }
        Ok(scales)
    }

    fn rows_agree(&mut self, a: &RankMatrix<HostMatrix>, ends: &[usize]) -> Result<bool, Error> {
        let own = sure(self.inner.rows_agree(a.own(), ends));
        let agree = self.rim_agrees(a)? && own;
        let mut agrees = [if agree { 1.0 } else { 0.0 }];
        self.combine_all(Reduction::Min, &mut agrees);
        self.checked()?;
        Ok(agrees[0] == 1.0)
    }

    fn scaled_rows(&mut self, a: &RankMatrix<HostMatrix>, scales: &Vec<f64>) -> Result<RankMatrix<HostMatrix>, Error> {
        let own = sure(self.inner.scaled_rows(a.own(), scales));
        Ok(a.with(own, a.rim().changed(|row, _, value| scales[row] * value)))
    }

    fn magnitudes(&mut self, a: &RankMatrix<HostMatrix>) -> Result<RankMatrix<HostMatrix>, Error> {
        let own = sure(self.inner.magnitudes(a.own()));
        Ok(a.with(own, a.rim().changed(|_, _, value| value.abs())))
    }

    fn to_range(&mut self, vectors: &RankNullVectors, y: &mut Vec<f64>) {
        self.project_to_range(vectors, y);
    }

    fn remove_mean(&mut self, vectors: &RankNullVectors, x: &mut Vec<f64>) {
        self.subtract_mean(vectors, x);
    }

    fn set_up(
        &mut self,
        a: &RankMatrix<HostMatrix>,
        factor: f64,
        kind: Preconditioning,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<Self>>, Error> {
        let made = match kind {
            Preconditioning::Jacobi => {
                let rows = self.inner.threads();
                let inverse = match a.own() {
                    HostMatrix::Rows(own) => rows.values(a.n_rows(), |row| inverse_of(factor * own.diagonal_entry(row))),
                    HostMatrix::Blocks(own) => {
                        rows.values(a.n_rows(), |row| inverse_of(factor * crate::linalg::SparseRows::entry(own, row, row)))
                    }
                };
                Box::new(Jacobi::from_inverse(inverse))
            }
            Preconditioning::None
            | Preconditioning::BlockJacobi
            | Preconditioning::Ilu0
            | Preconditioning::BlockIlu0
            | Preconditioning::Fsai => {
                self.is_alone = true;
                let made = self.set_up_own(a.own(), factor, kind, setting);
                self.is_alone = false;
                made?
            }
            Preconditioning::Amg => self.multigrid_of(a, factor, setting)?,
            Preconditioning::Cpr => self.two_stages(a, factor, setting)?,
        };
        // A rank that was interrupted has made another one.
        self.agree()?;
        Ok(made)
    }
}

impl RankSpace<HostSpace> {
    /// True if entries in the halo agree in their unit with the others.
    fn rim_agrees(&mut self, a: &RankMatrix<HostMatrix>) -> Result<bool, Error> {
        let columns = Arc::clone(a.columns());
        let diagonal = |own: usize| match a.own() {
            HostMatrix::Rows(own_rows) => own_rows.diagonal_entry(own),
            HostMatrix::Blocks(blocks) => crate::linalg::SparseRows::entry(blocks, own, own),
        };
        let diagonals = columns.exchange(&self.ranks, diagonal)?;
        let mirror = super::mirrored::mirrored(&self.ranks, a)?.values;
        let rank = self.ranks.rank().index();
        let agrees = |(row, at, place, value): (usize, usize, usize, f64)| {
            let (owner, unknown) = columns.halo()[place];
            let is_own_field = self.numbering.field(rank, row) == self.numbering.field(owner.index(), unknown as usize);
            let bound = |other: f64| value.abs() <= UNITS_AGREE * other.abs();
            !is_own_field || bound(diagonals[place]) || bound(mirror[at])
        };
        Ok(a.rim().each().all(agrees))
    }

    /// A preconditioner of own rows and columns.
    fn set_up_own(
        &mut self,
        own: &HostMatrix,
        factor: f64,
        kind: Preconditioning,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<Self>>, Error> {
        match own {
            HostMatrix::Rows(own) => {
                let scaled = (factor != 1.0).then(|| own.scaled(factor));
                build(self, scaled.as_ref().unwrap_or(own), kind, setting)
            }
            HostMatrix::Blocks(own) => {
                let scaled = (factor != 1.0).then(|| own.scaled(factor));
                build_of_blocks(self, scaled.as_ref().unwrap_or(own), kind, setting)
            }
        }
    }
}
