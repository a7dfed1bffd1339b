//! Cache of factorisations and preconditioners between solves.

use std::time::{Duration, Instant};

use super::choose::Attempt;
use super::options::{LinearOptions, Method, Preconditioning};
use super::system::Rows;
#[cfg(feature = "lu")]
use crate::linalg::direct::{device_lu::FactorLocation, lu::LuCache};
use crate::linalg::precond::amg::AmgOptions;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::matrix_space::{Parts, Shape};
use crate::linalg::space::vector_space::{Preconditioner, VectorSpace};
use crate::solve_traffic::SolveTraffic;

/// Data that one solve leaves for the next. LU: the symbolic factorisation while the pattern stays,
/// and the factors while the matrix stays; neither changes a result. The last preconditioner that
/// was costly to set up, while it helps: an older matrix changes the result within the tolerance,
/// and the same sequence of solves gives the same bits.
///
/// Preconditioners live on the device of the back-end, in vectors of `S`.
pub struct LinearCache<S: VectorSpace + 'static = HostSpace> {
    #[cfg(feature = "lu")]
    pub(in crate::linalg) lu: LuCache,
    #[cfg(feature = "lu")]
    pub(in crate::linalg) place: FactorLocation<S>,
    cached: Option<CachedPreconditioner<S>>,
    /// Treatment of the rows of the last matrix.
    pub(in crate::linalg) rows: Rows<S::Vector>,
    /// The last method that succeeded, and whether its choice was worth a note.
    last: Option<((Method, Preconditioning), bool)>,
    /// Methods that failed where another succeeded, and that have not succeeded since.
    failed: Vec<(Method, Preconditioning)>,
    /// Time of set-ups since [`take_set_up_time`](Self::take_set_up_time) was called last.
    set_up: Duration,
    /// Work since [`take_traffic`](Self::take_traffic) was called last.
    traffic: SolveTraffic,
}

impl<S: VectorSpace> Default for LinearCache<S> {
    fn default() -> Self {
        LinearCache {
            #[cfg(feature = "lu")]
            lu: LuCache::default(),
            #[cfg(feature = "lu")]
            place: FactorLocation::Unknown,
            cached: None,
            rows: Rows::Even,
            last: None,
            failed: Vec::new(),
            set_up: Duration::ZERO,
            traffic: SolveTraffic::default(),
        }
    }
}

impl<S: VectorSpace> std::fmt::Debug for LinearCache<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinearCache").field("cached", &self.cached.as_ref().map(|cached| &cached.key)).finish_non_exhaustive()
    }
}

/// A preconditioner of an older matrix.
struct CachedPreconditioner<S: VectorSpace + 'static> {
    key: CacheKey,
    preconditioner: Box<dyn Preconditioner<S>>,
    /// Iterations with the matrix that it was set up for.
    iterations: usize,
}

/// Properties that must match for a preconditioner to be reused.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::linalg) struct CacheKey {
    pub kind: Preconditioning,
    pub rows: usize,
    pub entries: usize,
    /// [`Parts::sizes`]
    pub sizes: u64,
    pub is_negated: bool,
    pub has_scaled_rows: bool,
    pub is_symmetric: bool,
    pub pressure: usize,
    pub amg: AmgOptions,
}

impl CacheKey {
    /// For a positive matrix that is not known to be symmetric.
    pub(in crate::linalg) fn new(parts: Parts, kind: Preconditioning, options: &LinearOptions) -> CacheKey {
        let Parts { whole: Shape { rows, entries, .. }, sizes } = parts;
        CacheKey {
            kind,
            rows,
            entries,
            sizes,
            is_negated: false,
            has_scaled_rows: false,
            is_symmetric: false,
            pressure: 0,
            amg: options.amg,
        }
    }
}

/// Iterations that cost as much as a set-up: a cached preconditioner may cost this many more.
const SET_UP: usize = 10;

impl<S: VectorSpace> LinearCache<S> {
    /// The cached preconditioner for `key`, and the number of iterations after which to give it up.
    pub(in crate::linalg) fn cached(&self, key: &CacheKey) -> Option<(&dyn Preconditioner<S>, usize)> {
        let cached = self.cached.as_ref().filter(|cached| cached.key == *key)?;
        Some((&*cached.preconditioner, 2 * (cached.iterations + SET_UP)))
    }

    /// The cached preconditioner was used and took this many iterations.
    pub(in crate::linalg) fn used(&mut self, iterations: usize) {
        if self.cached.as_ref().is_some_and(|cached| iterations > cached.iterations + SET_UP) {
            self.cached = None;
        }
    }

    /// Caches a new preconditioner with its iterations, if its set-up costs more than an iteration
    /// or two.
    pub(in crate::linalg) fn keep(&mut self, key: CacheKey, preconditioner: Box<dyn Preconditioner<S>>, iterations: usize) {
        self.cached = match key.kind {
            Preconditioning::Amg | Preconditioning::Cpr | Preconditioning::Fsai => {
                Some(CachedPreconditioner { key, preconditioner, iterations })
            }
            Preconditioning::None
            | Preconditioning::Jacobi
            | Preconditioning::BlockJacobi
            | Preconditioning::Ilu0
            | Preconditioning::BlockIlu0 => None,
        };
    }

    /// Runs the set-up of a preconditioner and adds its time.
    pub(in crate::linalg) fn set_up<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let started = Instant::now();
        let made = run(self);
        self.set_up += started.elapsed();
        made
    }

    /// Adds the time of a set-up.
    #[cfg(feature = "lu")]
    pub(in crate::linalg) fn has_set_up(&mut self, took: Duration) {
        self.set_up += took;
    }

    /// Where the last direct solve ran, as text for users, with the reason if the host had to
    /// replace the device; `None` where there is no choice.
    pub fn direct_note(&self) -> Option<String> {
        #[cfg(feature = "lu")]
        match &self.place {
            FactorLocation::Host(Some(reason)) => return Some(format!("LU runs on the host: {reason}")),
            FactorLocation::Device(cached) => return Some(format!("LU runs on the device, by {}", cached.name())),
            FactorLocation::Unknown | FactorLocation::Host(None) => {}
        }
        None
    }

    /// The treatment of the rows of the last matrix.
    pub fn rows(&self) -> &Rows<S::Vector> {
        &self.rows
    }

    /// Forgets the treatment of rows, before the first solve of another problem.
    pub(crate) fn forget_rows(&mut self) {
        self.rows = Rows::Even;
    }

    /// Seconds of set-ups of preconditioners and factorisations since the last call.
    pub fn take_set_up_time(&mut self) -> f64 {
        std::mem::take(&mut self.set_up).as_secs_f64()
    }

    /// Adds the work of a method.
    pub(in crate::linalg) fn has_iterated(&mut self, traffic: SolveTraffic) {
        self.traffic += traffic;
    }

    /// Work of iterative methods since the last call.
    pub fn take_traffic(&mut self) -> SolveTraffic {
        std::mem::take(&mut self.traffic)
    }

    /// Drops the cached preconditioner.
    pub(in crate::linalg) fn forget(&mut self) {
        self.cached = None;
    }

    /// The attempts in order; methods that failed before come last.
    pub(in crate::linalg) fn order(&self, plan: Vec<Attempt>) -> Vec<Attempt> {
        let failed = |attempt: &Attempt| self.failed.contains(&(attempt.method, attempt.preconditioner));
        let (behind, mut order): (Vec<_>, Vec<_>) = plan.into_iter().partition(failed);
        order.extend(behind);
        order
    }

    /// Records that a method succeeded after others had failed.
    pub(in crate::linalg) fn succeeded(
        &mut self,
        method: (Method, Preconditioning),
        failed: impl Iterator<Item = (Method, Preconditioning)>,
    ) {
        self.failed.extend(failed);
        self.failed.retain(|failed| *failed != method);
    }

    /// The note for the user after a success: `note` each time, the choice when the method has
    /// changed.
    pub(in crate::linalg) fn new_note(
        &mut self,
        method: (Method, Preconditioning),
        note: Option<String>,
        choice: Option<String>,
    ) -> Option<String> {
        let is_news = self.last != Some((method, choice.is_some()));
        self.last = Some((method, choice.is_some()));
        match (note, choice.filter(|_| is_news)) {
            (note, None) => note,
            (None, choice) => choice,
            (Some(note), Some(choice)) => Some(format!("{choice}; {note}")),
        }
    }
}
