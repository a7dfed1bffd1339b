//! Builds beside runs that have begun without one.
//!
//! A run begins at once by lanes. It is built meanwhile where a build pays: where the rounds that
//! are left take longer than the build, or where nothing is known of them and the run has taken as
//! long already, so that in the worst case twice the time of the better way is lost.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cargo::{Begun, NextStep};
use crate::compiled::{BuildState, CachedPackage};

/// Time between two looks at a run and its build.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A build of a package for runs that go on without it.
pub struct BackgroundBuild<'a> {
    package: &'a CachedPackage,
    /// Multiple of its own time that a build must save.
    worth: f64,
    built: Mutex<Option<PathBuf>>,
}

/// Seconds of a build on two cores, about.
fn build_seconds(state: BuildState) -> f64 {
    match state {
        BuildState::Prepared => 3.0,
        BuildState::Nothing => 40.0,
    }
}

/// True if a build pays after `elapsed` seconds of runs that have `left` seconds to go, if that is
/// known.
fn pays(build: f64, elapsed: f64, left: Option<f64>) -> bool {
    left.unwrap_or(elapsed) > build
}

impl<'a> BackgroundBuild<'a> {
    /// A build that pays if it saves `worth` times its time.
    pub fn new(package: &'a CachedPackage, worth: f64) -> Self {
        BackgroundBuild { package, worth, built: Mutex::new(None) }
    }

    /// The program, once it is built.
    pub fn built(&self) -> Option<PathBuf> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does `run`, and builds the program beside it where the seconds that are `left` make it pay.
    /// `when_built` is called by another thread; a build that is not done when the run ends is
    /// stopped.
    pub fn beside<T>(&self, left: impl Fn() -> Option<f64> + Sync, when_built: impl Fn() + Sync, run: impl FnOnce() -> T) -> T {
        // On a single core both would take longer.
        if thread::available_parallelism().map_or(1, usize::from) == 1 {
            return run();
        }
        thread::scope(|scope| {
            let (over, is_over) = mpsc::channel::<()>();
            let (left, when_built) = (&left, &when_built);
            scope.spawn(move || {
                if let Some(program) = self.build_in_time(&is_over, &left) {
                    *self.built.lock().unwrap_or_else(PoisonError::into_inner) = Some(program);
                    when_built();
                }
            });
            let result = run();
            drop(over);
            result
        })
    }

    /// The program, if a build pays and is done before the run is over. One that fails is not
    /// told: `--compiled` fails in the same way, and says why.
    fn build_in_time(&self, is_over: &Receiver<()>, left: &dyn Fn() -> Option<f64>) -> Option<PathBuf> {
        let start = Instant::now();
        let goes_on = || is_over.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout);
        let seconds = self.worth * build_seconds(self.package.state());
        while !pays(seconds, start.elapsed().as_secs_f64(), left()) {
            if !goes_on() {
                return None;
            }
        }
        let build = self.package.build(None);
        let mut begun: Begun<'_> = build.begin().ok()?;
        loop {
            if begun.is_over() {
                match begun.next().ok()? {
                    NextStep::Built(program) => return Some(program),
                    NextStep::Begun(again) => begun = again,
                }
            } else if !goes_on() {
                begun.stop();
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_pays_if_it_takes_less_than_what_is_left() {
        assert!(!pays(3.0, 2.0, Some(2.9)) && pays(3.0, 2.0, Some(3.1)));
        // Nothing is known before the first round, or where a condition ends the loop.
        assert!(!pays(3.0, 2.9, None) && pays(3.0, 3.1, None));
        // A run that is nearly over is not built, however long it took.
        assert!(!pays(3.0, 100.0, Some(0.5)));
    }
}
