//! Vectors of unknowns that each rank owns, with sums over all ranks.

use std::convert::Infallible;
use std::sync::Arc;

use super::columns::HaloColumns;
use super::numbering::Numbering;
use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupt;
use crate::linalg::driver::cache::LinearCache;
use crate::linalg::matrix::rim::Rim;
use crate::linalg::precond::ilu::BlockFactors;
use crate::linalg::precond::mixed_precision::space::F32Space;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::VectorSpace;
use crate::operators::Reduction;
use crate::ranks::RankContext;
use crate::reduce;

/// The space of a rank and its messages. Vectors are those of the inner space, of own unknowns;
/// scalars are the same on all ranks, so that all decide alike. A sum is that of each rank in the
/// order of its space, added in the order of ranks: the same bits for the same partition.
///
/// Operations that return no error note that of a message; the next [`VectorSpace::read`] has it.
pub struct RankSpace<S = HostSpace> {
    pub(super) inner: S,
    pub(super) ranks: Arc<RankContext>,
    failure: Option<Error>,
    /// True if a rank was interrupted when numbers were gathered last.
    is_interrupted: bool,
    /// True while this rank works without messages.
    pub(super) is_alone: bool,
    /// Values of the halo that arrived last.
    halo: Vec<f64>,
    pub(super) numbering: Numbering,
    /// The factors of gathered systems, on rank 0.
    pub(super) gathered: LinearCache<HostSpace>,
    pub(super) interrupt: Interrupt,
}

impl RankSpace<HostSpace> {
    /// The space of this rank, over its own space.
    pub fn new(inner: HostSpace, ranks: Arc<RankContext>) -> Self {
        let interrupt = inner.interrupt().clone();
        RankSpace::over(inner, ranks, interrupt)
    }
}

impl<S> RankSpace<S> {
    fn over(inner: S, ranks: Arc<RankContext>, interrupt: Interrupt) -> Self {
        RankSpace {
            interrupt,
            numbering: Numbering::default(),
            inner,
            ranks,
            failure: None,
            is_interrupted: false,
            is_alone: false,
            halo: Vec::new(),
            gathered: LinearCache::default(),
        }
    }

    /// Another space of own unknowns on the same ranks.
    pub(super) fn with_inner<T>(&self, inner: T) -> RankSpace<T> {
        RankSpace::over(inner, Arc::clone(&self.ranks), self.interrupt.clone())
    }

    /// The space of own unknowns.
    pub fn inner(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Its messages.
    pub fn ranks(&self) -> &Arc<RankContext> {
        &self.ranks
    }

    /// The error of a message, if there was one.
    ///
    /// # Errors
    /// That error.
    pub(super) fn checked(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Notes the error of a message: from then on there are none.
    pub(super) fn note<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    /// Numbers of all ranks, by rank. With them goes whether a rank is interrupted.
    pub(super) fn gather<const N: usize>(&mut self, own: [f64; N]) -> Result<Vec<[f64; N]>, Error> {
        let mut all = vec![[0.0; N]; self.ranks.n_ranks()];
        self.each_of(&own, |rank, at, number| all[rank][at] = number)?;
        Ok(all)
    }

    /// Takes each number of each rank as (rank, position, number), in the order of ranks.
    fn each_of(&mut self, own: &[f64], mut take: impl FnMut(usize, usize, f64)) -> Result<(), Error> {
        self.checked()?;
        let asked = if self.interrupt.asked().is_some() { 1.0 } else { 0.0 };
        let ranks = &self.ranks;
        let (rank, n) = (ranks.rank(), ranks.n_ranks());
        let others = |other: &u32| *other != rank.0;
        for other in (0..n as u32).filter(others) {
            let count = own.len() + 1;
            let values = (0..count).map(|at| own.get(at).copied().unwrap_or(asked));
            ranks.send(crate::ranks::RankId(other), values)?;
        }
        let mut is_asked = asked != 0.0;
        for other in 0..n {
            if other == rank.index() {
                own.iter().enumerate().for_each(|(at, &number)| take(other, at, number));
                continue;
            }
            let mut received = 0;
            ranks.receive(crate::ranks::RankId(other as u32), |at, number| {
                received = at + 1;
                if at < own.len() {
                    take(other, at, number);
                } else {
                    is_asked |= number != 0.0;
                }
            })?;
            if received != own.len() + 1 {
                return Err(Error::new(ErrorKind::Backend, format!("rank {other} gathers other numbers")));
            }
        }
        self.is_interrupted = is_asked;
        Ok(())
    }

    /// Combines numbers of all ranks in the order of ranks; NaN after an error.
    pub(super) fn combine_all(&mut self, how: Reduction, numbers: &mut [f64]) {
        let own = numbers.to_vec();
        let gathered = self.each_of(&own, |rank, at, number| {
            numbers[at] = if rank == 0 { number } else { reduce::combine(how, numbers[at], number) };
        });
        if self.note(gathered).is_none() {
            numbers.fill(f64::NAN);
        }
    }

    /// The sums of numbers of all ranks.
    pub(super) fn sums<const N: usize>(&mut self, own: [f64; N]) -> [f64; N] {
        let mut sums = [0.0; N];
        let gathered = self.each_of(&own, |rank, at, number| {
            sums[at] = if rank == 0 { number } else { sums[at] + number };
        });
        if self.note(gathered).is_none() { [f64::NAN; N] } else { sums }
    }

    /// The sum of a number of all ranks.
    pub(super) fn sum(&mut self, own: f64) -> f64 {
        let [sum] = self.sums([own]);
        sum
    }

    /// Sends values of own unknowns for products with this matrix.
    pub(super) fn begin(&mut self, columns: &HaloColumns, value: impl Fn(usize) -> f64) {
        if self.failure.is_none() {
            let sent = columns.send(&self.ranks, value);
            self.note(sent);
        }
    }

    /// Receives the values of the halo, and takes `(row, product)` of each row of the rim.
    pub(super) fn end(&mut self, columns: &HaloColumns, rim: &Rim, take: impl FnMut(usize, f64)) {
        self.receive(columns);
        rim.products(&self.halo, take);
    }

    /// Receives the values of the halo.
    pub(super) fn receive(&mut self, columns: &HaloColumns) {
        let mut halo = std::mem::take(&mut self.halo);
        halo.resize(columns.halo().len(), 0.0);
        if self.failure.is_none() {
            let received = columns.receive(&self.ranks, &mut halo);
            self.note(received);
        }
        self.halo = halo;
    }

    /// Values of the halo that arrived last.
    pub(super) fn halo(&self) -> &[f64] {
        &self.halo
    }

    /// Agrees on whether the run is interrupted.
    pub(super) fn agree(&mut self) -> Result<bool, Error> {
        self.gather([])?;
        Ok(self.is_interrupted)
    }
}

/// The value of an operation of the host.
pub(super) fn sure<T>(Ok(value): Result<T, Infallible>) -> T {
    value
}

/// A space of one process whose vectors lie in the memory of the host.
pub trait InMemory: MatrixSpace<Scalar = f64, Error = Infallible, Factors = BlockFactors> {
    /// An element of a vector.
    fn get(x: &Self::Vector, at: usize) -> f64;
    /// Sets an element of a vector.
    fn set(x: &mut Self::Vector, at: usize, value: f64);
}

impl InMemory for HostSpace {
    #[inline]
    fn get(x: &Vec<f64>, at: usize) -> f64 {
        x[at]
    }

    #[inline]
    fn set(x: &mut Vec<f64>, at: usize, value: f64) {
        x[at] = value;
    }
}

impl InMemory for F32Space {
    #[inline]
    fn get(x: &Vec<f32>, at: usize) -> f64 {
        f64::from(x[at])
    }

    #[inline]
    fn set(x: &mut Vec<f32>, at: usize, value: f64) {
        x[at] = value as f32;
    }
}

impl<S: InMemory> VectorSpace for RankSpace<S> {
    type Vector = S::Vector;
    type Scalar = f64;
    type Error = Error;

    fn zeros(&mut self) -> Result<S::Vector, Error> {
        self.checked()?;
        Ok(sure(self.inner.zeros()))
    }

    fn recycle(&mut self, x: S::Vector) {
        self.inner.recycle(x);
    }

    fn copy(&mut self, y: &mut S::Vector, x: &S::Vector) {
        self.inner.copy(y, x);
    }

    fn dot(&mut self, x: &S::Vector, y: &S::Vector) -> f64 {
        let own = self.inner.dot(x, y);
        self.sum(own)
    }

    fn add_scaled(&mut self, y: &mut S::Vector, a: &f64, x: &S::Vector) {
        self.inner.add_scaled(y, a, x);
    }

    fn sub_scaled(&mut self, y: &mut S::Vector, a: &f64, x: &S::Vector) {
        self.inner.sub_scaled(y, a, x);
    }

    fn scale_add(&mut self, y: &mut S::Vector, a: &f64, x: &S::Vector) {
        self.inner.scale_add(y, a, x);
    }

    fn scale(&mut self, y: &mut S::Vector, a: &f64) {
        self.inner.scale(y, a);
    }

    fn sub_scaled_dot(&mut self, y: &mut S::Vector, a: &f64, x: &S::Vector, w: Option<&S::Vector>) -> f64 {
        let own = self.inner.sub_scaled_dot(y, a, x, w);
        self.sum(own)
    }

    fn step(&mut self, x: &mut S::Vector, a: &f64, p: &mut S::Vector, b: &f64, z: &S::Vector) {
        self.inner.step(x, a, p, b, z);
    }

    fn add_scaled_two(&mut self, y: &mut S::Vector, a: &f64, x: &S::Vector, b: &f64, z: &S::Vector) {
        self.inner.add_scaled_two(y, a, x, b, z);
    }

    fn bicgstab_direction(&mut self, p: &mut S::Vector, a: &f64, v: &S::Vector, b: &f64, r: &S::Vector) {
        self.inner.bicgstab_direction(p, a, v, b, r);
    }

    fn constant(&mut self, value: f64) -> f64 {
        value
    }

    fn add(&mut self, a: &f64, b: &f64) -> f64 {
        self.inner.add(a, b)
    }

    fn sub(&mut self, a: &f64, b: &f64) -> f64 {
        self.inner.sub(a, b)
    }

    fn mul(&mut self, a: &f64, b: &f64) -> f64 {
        self.inner.mul(a, b)
    }

    fn ratio(&mut self, a: &f64, b: &f64) -> f64 {
        self.inner.ratio(a, b)
    }

    fn zero_if_cancelled(&mut self, a: &f64, b: &f64) -> f64 {
        self.inner.zero_if_cancelled(a, b)
    }

    fn sqrt(&mut self, a: &f64) -> f64 {
        self.inner.sqrt(a)
    }

    fn min(&mut self, a: &f64, b: &f64) -> f64 {
        self.inner.min(a, b)
    }

    /// As all ranks know it from the numbers that they gathered last, or this one alone.
    fn is_interrupted(&self) -> bool {
        if self.is_alone { self.inner.is_interrupted() } else { self.is_interrupted }
    }

    fn read<const N: usize>(&mut self, scalars: [&f64; N]) -> Result<[f64; N], Error> {
        self.checked()?;
        Ok(scalars.map(|scalar| *scalar))
    }
}
