//! Rests between looks at what has arrived.

use std::thread;
use std::time::Duration;

/// Looks without a rest, where each rank has a core: most messages arrive within some microseconds.
const SPINS: u32 = 2_000;

/// Looks after each of which others may have the core.
const YIELDS: u32 = 200;

/// The first rest, and the longest.
const RESTS: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(1)];

/// Rests that become longer.
pub(super) struct BackOff {
    looks: u32,
    spins: u32,
    rest: Duration,
}

impl BackOff {
    /// Rests of a rank that has a core for itself, or shares it with others.
    pub(super) fn new(shares_core: bool) -> BackOff {
        BackOff { looks: 0, spins: if shares_core { 0 } else { SPINS }, rest: RESTS[0] }
    }

    /// Rests; true if it slept.
    pub(super) fn rest(&mut self) -> bool {
        self.looks = self.looks.saturating_add(1);
        if self.looks <= self.spins {
            std::hint::spin_loop();
            return false;
        }
        if self.looks <= self.spins + YIELDS {
            thread::yield_now();
            return false;
        }
        thread::sleep(self.rest);
        self.rest = (self.rest * 2).min(RESTS[1]);
        true
    }
}
