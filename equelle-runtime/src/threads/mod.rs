//! Loops over elements on several threads.
//!
//! A loop that computes one value per element is split into ranges of elements; each thread takes
//! the next range together with its part of the outputs ([`Parts`]). No value depends on the split,
//! so results have the same bits for any number of threads. Sums in a fixed order are split where
//! [`crate::reduce`] splits them.
//!
//! Kernels and products with a sparse matrix call [`Threads::each`]; updates of vectors
//! [`Threads::each_cheap`]; sums and other reductions [`crate::reduce::reduce_leaves`]. Loops with
//! dependent elements, such as a Gauss-Seidel sweep in the order of the unknowns, use none of
//! these.
//!
//! Without the feature `threads` of this crate everything runs on the calling thread.

mod parts;
mod pool;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, ErrorKind};
use crate::number::parse_integer;
use crate::params::Parameters;
use pool::Pool;

pub use parts::{BLOCK, Columns, Entries, Parts, PerBlock};

/// Loops over fewer elements stay on the calling thread: waking another one takes longer.
pub const WORTH_SHARING: usize = 4 * BLOCK;

/// [`WORTH_SHARING`] for [`Threads::each_cheap`].
pub const CHEAP_WORTH_SHARING: usize = 32 * BLOCK;

/// Ranges per thread, for load balance between threads that start late or have cheaper elements.
const RANGES_PER_THREAD: usize = 4;

/// Largest number of threads.
const MAX_THREADS: usize = 1024;

/// A number of threads, which start with the first loop that needs them. Clones share them.
#[derive(Clone)]
pub struct Threads {
    number: usize,
    /// `None` if there is only the calling thread.
    pool: Option<Arc<Pool>>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({})", self.number)
    }
}

impl PartialEq for Threads {
    /// True if the numbers are equal; the identity of threads changes no result.
    fn eq(&self, other: &Threads) -> bool {
        self.number == other.number
    }
}

impl Default for Threads {
    fn default() -> Self {
        Threads::one()
    }
}

impl Threads {
    /// Only the calling thread.
    pub fn one() -> Threads {
        Threads::new(1)
    }

    /// The calling thread and `number - 1` more, which start with the first loop that needs them. 0
    /// counts as 1.
    pub fn new(number: usize) -> Threads {
        let number = number.clamp(1, MAX_THREADS);
        Threads { number, pool: (number > 1).then(Arc::default) }
    }

    /// The number of parameter `threads`; without it, one thread for each available processor.
    ///
    /// # Errors
    /// `Data` if it is no whole number from 1 to 1024.
    pub fn from_parameters(parameters: &Parameters) -> Result<Threads, Error> {
        let Some(text) = parameters.text("threads") else {
            return Ok(Threads::new(std::thread::available_parallelism().map_or(1, usize::from)));
        };
        let number = parse_integer(text.as_bytes()).ok().and_then(|number| usize::try_from(number).ok());
        number.filter(|number| (1..=MAX_THREADS).contains(number)).map(Threads::new).ok_or_else(|| {
            let place = parameters.place("threads");
            let message = format!("parameter `threads`{place} must be a whole number from 1 to {MAX_THREADS}, not `{text}`");
            Error::new(ErrorKind::Data, message).hint("such as threads=4; without it there is a thread for each processor")
        })
    }

    /// True if a loop has needed more than the calling thread.
    pub fn are_used(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.has_started())
    }

    /// Number of threads, with the calling one.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Calls `body` for ranges that together are `0..len`, each with its part of the outputs:
    /// element `p` of an output is element `p - range.start` of the part. Ranges begin at multiples
    /// of [`BLOCK`]; a loop shorter than [`WORTH_SHARING`] is one range.
    ///
    /// ```
    /// use equelle_runtime::threads::Threads;
    ///
    /// let u: Vec<f64> = (0..10_000).map(f64::from).collect();
    /// let (mut twice, mut large) = (vec![0.0; u.len()], vec![false; u.len()]);
    /// Threads::new(2).each(u.len(), (&mut twice[..], &mut large[..]), |range, (twice, large)| {
    ///     for position in range.clone() {
    ///         twice[position - range.start] = 2.0 * u[position];
    ///         large[position - range.start] = u[position] > 100.0;
    ///     }
    /// });
    /// assert_eq!((twice[7000], large[7000]), (14_000.0, true));
    /// ```
    ///
    /// # Panics
    /// If an output is not `[len]`, or if `body` panics.
    pub fn each<P: Parts>(&self, len: usize, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        self.each_of(len, BLOCK, outputs, body);
    }

    /// [`Threads::each`] for loops with few operations per element, such as a sum of two vectors:
    /// shared from [`CHEAP_WORTH_SHARING`] elements.
    ///
    /// # Panics
    /// As for [`Threads::each`].
    pub fn each_cheap<P: Parts>(&self, len: usize, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        if len < CHEAP_WORTH_SHARING {
            Threads::one().each(len, outputs, body);
        } else {
            self.each(len, outputs, body);
        }
    }

    /// The values of a function of the index, for `0..len`.
    pub fn values<T: Clone + Default + Send>(&self, len: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut values = vec![T::default(); len];
        self.each_cheap(len, &mut values[..], |range, part| {
            for (place, index) in part.iter_mut().zip(range) {
                *place = value(index);
            }
        });
        values
    }

    /// Those of `0..len` for which a condition holds, ascending.
    pub fn filtered(&self, len: usize, holds: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); len.div_ceil(BLOCK)];
        self.each_cheap(len, PerBlock(&mut found), |range, PerBlock(part)| {
            for (block, start) in part.iter_mut().zip(range.clone().step_by(BLOCK)) {
                block.extend((start..range.end.min(start + BLOCK)).filter(|&index| holds(index)).map(|index| index as u32));
            }
        });
        found.concat()
    }

    /// [`Threads::each`] with ranges that begin at multiples of `unit`; 0 counts as 1.
    ///
    /// # Panics
    /// As for [`Threads::each`].
    pub fn each_of<P: Parts>(&self, len: usize, unit: usize, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        let outcome = self.try_each_of(
            len,
            unit,
            outputs,
            #[inline(always)]
            |range, outputs| {
                body(range, outputs);
                Ok(())
            },
        );
        debug_assert_eq!(outcome, Ok(()));
    }

    /// [`Threads::each`] for a body that may fail.
    ///
    /// # Errors
    /// The error of the first failing range: the one of a single thread, for any number of threads.
    ///
    /// # Panics
    /// As for [`Threads::each`].
    pub fn try_each<P: Parts>(
        &self,
        len: usize,
        outputs: P,
        body: impl Fn(Range<usize>, P) -> Result<(), usize> + Sync,
    ) -> Result<(), usize> {
        self.try_each_of(len, BLOCK, outputs, body)
    }

    fn try_each_of<P: Parts>(
        &self,
        len: usize,
        unit: usize,
        outputs: P,
        body: impl Fn(Range<usize>, P) -> Result<(), usize> + Sync,
    ) -> Result<(), usize> {
        assert!(outputs.fits(len), "outputs of {len} elements");
        let size = self.range_size(len, unit);
        let queue = Mutex::new(Queue { next: 0, rest: Some(outputs), first_error: None });
        let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || {
            loop {
                // A separate statement, so that the queue is unlocked while the range is processed.
                let next = lock().take(len, size);
                let Some((range, part)) = next else { break };
                let start = range.start;
                let outcome = for_processor(
                    #[inline(always)]
                    || body(range, part),
                );
                if let Err(position) = outcome {
                    lock().fail(start, position);
                }
            }
        };
        match &self.pool {
            Some(pool) if len > size => pool.run(self.number, len.div_ceil(size), &work),
            Some(_) | None => work(),
        }
        let error = lock().first_error;
        error.map_or(Ok(()), |(_, position)| Err(position))
    }

    /// Number of elements of a range: a multiple of `unit`, or `len` for a single range.
    fn range_size(&self, len: usize, unit: usize) -> usize {
        if self.number == 1 || len < WORTH_SHARING {
            return len;
        }
        let unit = unit.max(1);
        let least = len.div_ceil(self.number * RANGES_PER_THREAD).max(BLOCK);
        least.div_ceil(unit).saturating_mul(unit)
    }
}

/// Calls a loop as it is compiled for the best instructions of the processor, as far as it calls
/// functions that are inlined. Programs that cargo builds for a processor do without.
#[cfg(feature = "dispatch")]
#[inline(always)]
fn for_processor<T>(body: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(body)
}

/// Calls a loop as it is compiled for the target.
#[cfg(not(feature = "dispatch"))]
#[inline(always)]
fn for_processor<T>(body: impl FnOnce() -> T) -> T {
    body()
}

/// The rest of a loop.
struct Queue<P> {
    next: usize,
    rest: Option<P>,
    /// Start of the failed range, and its error.
    first_error: Option<(usize, usize)>,
}

impl<P: Parts> Queue<P> {
    /// The next range of at most `size` elements.
    fn take(&mut self, len: usize, size: usize) -> Option<(Range<usize>, P)> {
        let rest = self.rest.take()?;
        let start = self.next;
        if len - start <= size {
            return Some((start..len, rest));
        }
        let (part, rest) = rest.split_at(size);
        self.rest = Some(rest);
        self.next = start + size;
        Some((start..self.next, part))
    }

    /// Ranges are taken in order: earlier ones will finish, and later ones need not begin.
    fn fail(&mut self, start: usize, error: usize) {
        self.rest = None;
        if self.first_error.is_none_or(|(first, _)| start < first) {
            self.first_error = Some((start, error));
        }
    }
}

#[cfg(test)]
mod tests;
