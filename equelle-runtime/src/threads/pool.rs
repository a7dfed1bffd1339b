//! The thread pool.

#[cfg(feature = "threads")]
use std::sync::OnceLock;

/// Threads that wait for work; started by the first loop that needs them.
#[derive(Default)]
pub(super) struct Pool {
    #[cfg(feature = "threads")]
    others: OnceLock<Option<rayon_core::ThreadPool>>,
}

#[cfg(feature = "threads")]
impl Pool {
    /// True if there are other threads.
    pub(super) fn has_started(&self) -> bool {
        self.others.get().is_some_and(Option::is_some)
    }

    /// Calls `work` on this thread and on useful others, at most `number` in all; returns when all
    /// calls have. The calling thread works too, since sleeping and waking up take time.
    pub(super) fn run(&self, number: usize, ranges: usize, work: &(dyn Fn() + Sync)) {
        let others = match number {
            0 | 1 => None,
            _ => self.others.get_or_init(|| others(number - 1)).as_ref(),
        };
        let Some(others) = others else { return work() };
        others.in_place_scope(|scope| {
            for _ in 1..number.min(ranges) {
                scope.spawn(|_| work());
            }
            work();
        });
    }
}

/// `None` if the system refuses threads: then the calling one does the work, with the same result.
#[cfg(feature = "threads")]
fn others(number: usize) -> Option<rayon_core::ThreadPool> {
    rayon_core::ThreadPoolBuilder::new().num_threads(number).thread_name(|index| format!("loop {}", index + 1)).build().ok()
}

#[cfg(not(feature = "threads"))]
impl Pool {
    /// True if there are other threads.
    pub(super) fn has_started(&self) -> bool {
        false
    }

    /// Calls `work` on this thread.
    pub(super) fn run(&self, _number: usize, _ranges: usize, work: &(dyn Fn() + Sync)) {
        work();
    }
}
