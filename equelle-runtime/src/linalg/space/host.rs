//! Vectors on the host: plain loops on the threads of the space. Operators and preconditioners use
//! [`HostSpace::threads`] too.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use super::traffic_counter::TrafficCounter;
use super::traffic_counter::Written;
use super::vector_space::{CANCELLATION, LinearOperator, VectorSpace};
use crate::interrupt::Interrupt;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::dia::Diagonals;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::operators::Reduction;
use crate::reduce;
use crate::threads::{PerBlock, Threads};

/// Vectors that a space keeps: those of CG and of the driver.
const MAX_FREE: usize = 7;

/// Vectors of a given length as `Vec<f64>`; scalars are available at once.
#[derive(Clone, Debug)]
pub struct HostSpace {
    n: usize,
    leaves: Vec<f64>,
    threads: Threads,
    /// The last matrix by its diagonals, for the memory.
    diagonals: Option<Arc<Diagonals>>,
    /// Vectors for [`VectorSpace::zeros`]: fresh memory costs more than a pass over it.
    free: Vec<Vec<f64>>,
    /// True if multigrid runs in double precision.
    pub(in crate::linalg) in_double_precision: bool,
    interrupt: Interrupt,
    /// Bytes of the kernels: lines that are written are not fetched, as in a copy.
    pub(in crate::linalg) traffic: TrafficCounter,
}

impl HostSpace {
    /// Vectors of `n` elements on the calling thread.
    pub fn new(n: usize) -> HostSpace {
        HostSpace::on(&Threads::one(), n)
    }

    /// Vectors of `n` elements on several threads.
    pub fn on(threads: &Threads, n: usize) -> HostSpace {
        let leaves = vec![0.0; reduce::leaf_count(n)];
        HostSpace {
            n,
            leaves,
            threads: threads.clone(),
            diagonals: None,
            free: Vec::new(),
            in_double_precision: false,
            interrupt: Interrupt::default(),
            traffic: TrafficCounter::in_double_precision(Written::Unread),
        }
    }

    /// With multigrid in double precision throughout, for comparisons.
    #[must_use]
    pub fn in_double_precision(self) -> HostSpace {
        HostSpace { in_double_precision: true, ..self }
    }

    /// With an interrupt.
    #[must_use]
    pub fn interruptible(self, interrupt: &Interrupt) -> HostSpace {
        HostSpace { interrupt: interrupt.clone(), ..self }
    }

    /// The interrupt that asks the run to end.
    pub(in crate::linalg) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// A vector without elements and with memory for `n`, which becomes the length of new vectors.
    pub fn empty(&mut self, n: usize) -> Vec<f64> {
        self.set_size(n);
        let mut x = self.free.pop().unwrap_or_else(|| Vec::with_capacity(n));
        x.clear();
        x
    }

    /// Sets the length of new vectors to `n`.
    pub(in crate::linalg) fn set_size(&mut self, n: usize) {
        if n != self.n {
            self.free.clear();
        }
        self.n = n;
        self.leaves.resize(reduce::leaf_count(n), 0.0);
    }

    /// Updates the elements of `y`, leaf by leaf, and sums the products that `f` writes for them,
    /// in the order of [`crate::reduce`].
    pub(in crate::linalg) fn update_sums(&mut self, y: &mut [f64], f: impl Fn(Range<usize>, &mut [f64], &mut [f64]) + Sync) -> f64 {
        self.leaves.resize(reduce::leaf_count(y.len()), 0.0);
        self.threads.each_cheap(y.len(), (&mut *y, PerBlock(&mut self.leaves[..])), |range, (y, PerBlock(leaves))| {
            let mut products = [0.0; reduce::LEAF];
            for ((start, y), sum) in range.step_by(reduce::LEAF).zip(y.chunks_mut(reduce::LEAF)).zip(leaves) {
                let products = &mut products[..y.len()];
                f(start..start + y.len(), y, products);
                *sum = reduce::leaf_sum(products);
            }
        });
        reduce::tree(Reduction::Sum, &mut self.leaves).unwrap_or(0.0)
    }

    /// The sum of `n` products, which `f` writes leaf by leaf, in the order of [`crate::reduce`].
    pub(in crate::linalg) fn sum_products(&mut self, n: usize, f: impl Fn(Range<usize>, &mut [f64]) + Sync) -> f64 {
        self.leaves.resize(reduce::leaf_count(n), 0.0);
        self.threads.each_cheap(n, PerBlock(&mut self.leaves[..]), |range, PerBlock(leaves)| {
            let mut products = [0.0; reduce::LEAF];
            for (start, sum) in range.clone().step_by(reduce::LEAF).zip(leaves) {
                let end = range.end.min(start + reduce::LEAF);
                let products = &mut products[..end - start];
                f(start..end, products);
                *sum = reduce::leaf_sum(products);
            }
        });
        reduce::tree(Reduction::Sum, &mut self.leaves).unwrap_or(0.0)
    }

    fn dot_of(&mut self, x: &[f64], y: &[f64]) -> f64 {
        self.sum_products(x.len(), |range, products| {
            products.iter_mut().zip(&x[range.clone()]).zip(&y[range]).for_each(|((product, x), y)| *product = x * y);
        })
    }

    /// A matrix by its diagonals, in memory of an earlier one if that is free; `is_mirrored` says
    /// that mirrored entries have the same bits.
    pub(in crate::linalg) fn by_diagonals(&mut self, a: &Csr, offsets: &[isize], is_mirrored: bool) -> Arc<Diagonals> {
        let mut diagonals = self.diagonals.take().and_then(|known| Arc::try_unwrap(known).ok()).unwrap_or_default();
        diagonals.fill(&self.threads, a, offsets, is_mirrored);
        let diagonals = Arc::new(diagonals);
        self.diagonals = Some(Arc::clone(&diagonals));
        diagonals
    }

    /// Threads of loops over elements: [`Threads::each`] for rows of a matrix,
    /// [`Threads::each_cheap`] for updates of vectors, [`reduce::reduce_leaves`] for sums.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }
}

/// `x . y` in the order of [`crate::reduce`].
///
/// # Panics
/// If the lengths differ.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "vectors of one length");
    HostSpace::new(x.len()).dot_of(x, y)
}

/// `y[i] = f(y[i], x[i])`
fn update(threads: &Threads, y: &mut [f64], x: &[f64], f: impl Fn(f64, f64) -> f64 + Sync) {
    assert_eq!(x.len(), y.len(), "vectors of one length");
    threads.each_cheap(y.len(), y, |range, y| y.iter_mut().zip(&x[range]).for_each(|(y, x)| *y = f(*y, *x)));
}

/// `x = x + a p`, then `p = z + b p`. A function of its own, whose arguments do not overlap, is
/// vectorised.
#[inline(never)]
fn step(x: &mut [f64], p: &mut [f64], [a, b]: [f64; 2], z: &[f64]) {
    for ((x, p), z) in x.iter_mut().zip(p).zip(z) {
        *x += a * *p;
        *p = z + b * *p;
    }
}

/// `|x|` (2-norm), without overflow or underflow of the squares: scales by a power of two first.
/// NaN if an element is not finite.
pub fn norm(x: &[f64]) -> f64 {
    let Some(scale) = power_of_two_near(x) else { return f64::NAN };
    let scaled: Vec<f64> = x.iter().map(|x| x / scale).collect();
    dot(&scaled, &scaled).sqrt() * scale
}

/// Operations of a [`VectorSpace`] on the host with scalars, which are `f64` for any vectors; each
/// space defines the round-off of a sum.
macro_rules! scalars_on_the_host {
    () => {
        fn constant(&mut self, value: f64) -> f64 {
            value
        }

        fn add(&mut self, a: &f64, b: &f64) -> f64 {
            a + b
        }

        fn sub(&mut self, a: &f64, b: &f64) -> f64 {
            a - b
        }

        fn mul(&mut self, a: &f64, b: &f64) -> f64 {
            a * b
        }

        fn ratio(&mut self, a: &f64, b: &f64) -> f64 {
            if *b == 0.0 { 0.0 } else { a / b }
        }

        fn sqrt(&mut self, a: &f64) -> f64 {
            a.sqrt()
        }

        fn min(&mut self, a: &f64, b: &f64) -> f64 {
            $crate::reduce::combine($crate::operators::Reduction::Min, *a, *b)
        }

        fn read<const N: usize>(&mut self, scalars: [&f64; N]) -> Result<[f64; N], std::convert::Infallible> {
            Ok(scalars.map(|scalar| *scalar))
        }
    };
}
pub(in crate::linalg) use scalars_on_the_host;

impl VectorSpace for HostSpace {
    type Vector = Vec<f64>;
    type Scalar = f64;
    type Error = Infallible;

    fn zeros(&mut self) -> Result<Vec<f64>, Infallible> {
        self.traffic.clear(self.n);
        let Some(mut x) = self.free.pop() else { return Ok(vec![0.0; self.n]) };
        self.threads.each_cheap(x.len(), &mut x[..], |_, x| x.fill(0.0));
        Ok(x)
    }

    fn recycle(&mut self, x: Vec<f64>) {
        if x.len() == self.n && self.free.len() < MAX_FREE {
            self.free.push(x);
        }
    }

    fn copy(&mut self, y: &mut Vec<f64>, x: &Vec<f64>) {
        self.traffic.copy(y.len());
        update(&self.threads, y, x, |_, x| x);
    }

    fn dot(&mut self, x: &Vec<f64>, y: &Vec<f64>) -> f64 {
        self.traffic.dot(x.len(), std::ptr::eq(x, y));
        assert_eq!(x.len(), y.len(), "vectors of one length");
        self.dot_of(x, y)
    }

    fn add_scaled(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>) {
        self.traffic.update(y.len());
        update(&self.threads, y, x, |y, x| y + a * x);
    }

    fn sub_scaled(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>) {
        self.traffic.update(y.len());
        update(&self.threads, y, x, |y, x| y - a * x);
    }

    fn scale_add(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>) {
        self.traffic.update(y.len());
        update(&self.threads, y, x, |y, x| x + a * y);
    }

    fn scale(&mut self, y: &mut Vec<f64>, a: &f64) {
        self.traffic.scale(y.len());
        self.threads.each_cheap(y.len(), &mut y[..], |_, y| y.iter_mut().for_each(|y| *y *= a));
    }

    fn sub_scaled_dot(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>, w: Option<&Vec<f64>>) -> f64 {
        self.traffic.sub_scaled_dot(y.len(), w.is_some());
        let (a, x) = (*a, &x[..y.len()]);
        match w.map(|w| &w[..y.len()]) {
            Some(w) => self.update_sums(y, |range, y, products| {
                for (((product, y), x), w) in products.iter_mut().zip(y).zip(&x[range.clone()]).zip(&w[range]) {
                    *y -= a * x;
                    *product = w * *y;
                }
            }),
            None => self.update_sums(y, |range, y, products| {
                for ((product, y), x) in products.iter_mut().zip(y).zip(&x[range]) {
                    *y -= a * x;
                    *product = *y * *y;
                }
            }),
        }
    }

    fn step(&mut self, x: &mut Vec<f64>, a: &f64, p: &mut Vec<f64>, b: &f64, z: &Vec<f64>) {
        self.traffic.step(x.len());
        let ab = [*a, *b];
        self.threads.each_cheap(x.len(), (&mut x[..], &mut p[..]), |range, (x, p)| step(x, p, ab, &z[range]));
    }

    fn add_scaled_two(&mut self, y: &mut Vec<f64>, a: &f64, x: &Vec<f64>, b: &f64, z: &Vec<f64>) {
        self.traffic.update_by_two(y.len());
        self.threads.each_cheap(y.len(), &mut y[..], |range, y| {
            y.iter_mut().zip(&x[range.clone()]).zip(&z[range]).for_each(|((y, x), z)| *y = (*y + a * x) + b * z);
        });
    }

    fn bicgstab_direction(&mut self, p: &mut Vec<f64>, a: &f64, v: &Vec<f64>, b: &f64, r: &Vec<f64>) {
        self.traffic.update_by_two(p.len());
        self.threads.each_cheap(p.len(), &mut p[..], |range, p| {
            p.iter_mut().zip(&v[range.clone()]).zip(&r[range]).for_each(|((p, v), r)| *p = r + b * (*p - a * v));
        });
    }

    scalars_on_the_host!();

    fn zero_if_cancelled(&mut self, a: &f64, b: &f64) -> f64 {
        if a.abs() <= CANCELLATION * b.abs() { 0.0 } else { *a }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.asked().is_some()
    }
}

impl LinearOperator<HostSpace> for Csr {
    fn apply(&self, space: &mut HostSpace, y: &mut Vec<f64>, x: &Vec<f64>) {
        self.mul_into_on(&space.threads, y, x);
    }
}
