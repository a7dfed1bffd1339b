//! Times at which a run writes checkpoints.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;

/// Checkpoints that a run keeps: should one be lost with the disk's cache, there is one before.
pub const KEPT: usize = 2;

/// Time between two looks for a file `STOP`.
const STOP_INTERVAL: Duration = Duration::from_millis(200);

/// Times at which a run writes checkpoints.
#[derive(Clone, Debug)]
pub struct Policy {
    /// After every so many rounds of outermost loops.
    pub every: Option<u64>,
    /// After this time since the last one.
    pub interval: Option<Duration>,
    last: Instant,
    looked: Option<Instant>,
}

/// Rounds after which rank 0 tells the others what it alone sees: the time, signals, files.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    next: u64,
    /// The step of the last one, and when it was.
    last: Option<(u64, Instant)>,
}

/// Checkpoint from which a restart goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartFrom {
    /// The last complete checkpoint in the output folder.
    Latest,
    /// This file.
    File(PathBuf),
}

impl Policy {
    /// From `checkpoint_every` and `checkpoint_minutes`.
    ///
    /// # Errors
    /// `Data` if one is no number above 0.
    pub fn from_parameters(parameters: &Parameters) -> Result<Policy, Error> {
        let positive = |key: &str| {
            Error::new(ErrorKind::Data, format!("{}: must be more than 0", parameters.shown(key)))
                .hint(format!("leave `{key}` out for a run without such checkpoints"))
        };
        let every = parameters.integer("checkpoint_every")?.map(|every| every as u64);
        if every == Some(0) {
            return Err(positive("checkpoint_every"));
        }
        let interval = match parameters.number("checkpoint_minutes")? {
            None => None,
            Some(minutes) => {
                let interval = Duration::try_from_secs_f64(60.0 * minutes).ok().filter(|interval| !interval.is_zero());
                Some(interval.ok_or_else(|| positive("checkpoint_minutes"))?)
            }
        };
        Ok(Policy { every, interval, last: Instant::now(), looked: None })
    }

    /// True if it is time, after `step` rounds of outermost loops.
    pub fn is_time(&self, step: u64) -> bool {
        self.is_round(step) || self.interval.is_some_and(|interval| self.last.elapsed() >= interval)
    }

    /// True if there is one after so many rounds of outermost loops, whatever the time is.
    pub fn is_round(&self, step: u64) -> bool {
        self.every.is_some_and(|every| step.is_multiple_of(every))
    }

    /// True if parameters ask for checkpoints.
    pub fn is_asked(&self) -> bool {
        self.every.is_some() || self.interval.is_some()
    }

    /// True if the file `STOP` is looked for now: not after each of many short rounds.
    pub fn looks_for_stop(&mut self) -> bool {
        let looks = self.looked.is_none_or(|looked| looked.elapsed() >= STOP_INTERVAL);
        if looks {
            self.looked = Some(Instant::now());
        }
        looks
    }

    /// A checkpoint has been written.
    pub fn written(&mut self) {
        self.last = Instant::now();
    }
}

impl Looks {
    /// True if rank 0 tells after this step; the same on all ranks.
    pub fn is_time(&self, step: u64) -> bool {
        step >= self.next
    }

    /// The step of the next look, of rank 0 after one: as many rounds later as take a
    /// fifth of a second, at most twice as many as last time.
    pub fn after(&mut self, step: u64, now: Instant) -> u64 {
        let pause = self.last.map_or(1, |(last, when)| {
            let (rounds, seconds) = (step.saturating_sub(last).max(1), now.duration_since(when).as_secs_f64());
            let within = rounds as f64 * STOP_INTERVAL.as_secs_f64() / seconds.max(1e-9);
            (within.round() as u64).clamp(1, 2 * rounds)
        });
        self.last = Some((step, now));
        step + pause
    }

    /// Sets the step of the next look.
    pub fn wait_for(&mut self, step: u64) {
        self.next = step;
    }
}

impl RestartFrom {
    /// From `restart`; `None` for a run from the beginning.
    ///
    /// # Errors
    /// `Data` for a bad parameter.
    pub fn from_parameters(parameters: &Parameters) -> Result<Option<RestartFrom>, Error> {
        Ok(match parameters.text("restart") {
            None => None,
            Some("latest") => Some(RestartFrom::Latest),
            Some(_) => parameters.path("restart")?.map(RestartFrom::File),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 10 ms: pauses double up to twenty rounds, and are one round where rounds take
    /// longer than the interval.
    #[test]
    fn looks_are_a_fifth_of_a_second_apart() {
        let (mut looks, start) = (Looks::default(), Instant::now());
        let mut found = Vec::new();
        let mut step = 1;
        for _ in 0..7 {
            assert!(looks.is_time(step));
            let next = looks.after(step, start + Duration::from_millis(10 * step));
            looks.wait_for(next);
            assert!(!looks.is_time(next - 1));
            found.push(next - step);
            step = next;
        }
        assert_eq!(found, [1, 2, 4, 8, 16, 20, 20]);
        assert_eq!(looks.after(step, start + Duration::from_secs(60)), step + 1);
    }
}
