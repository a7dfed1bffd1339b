//! Progress of the outermost loop, and the messages beside it.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::event::{self, Event};
use super::{MessageFormat, Messages, ProgressStyle, seconds};
use crate::handover::Pace;

/// Progress of the outermost loop.
pub struct Progress {
    style: ProgressStyle,
    messages: Messages,
    started: Instant,
    loop_started: Instant,
    last_shown: Option<Instant>,
    depth: usize,
    /// `None` where a condition decides.
    total: Option<usize>,
    done: usize,
    /// Rounds that an earlier run did.
    skipped: usize,
    steps: usize,
    /// Those of them that an earlier run did.
    earlier_steps: usize,
    /// Time of outermost loops that are over.
    in_loops: Duration,
    pauses: Pauses,
    bar_open: bool,
    /// When the last [`Event::Step`] was sent.
    last_event: Option<Instant>,
    /// Time of the run at the end of the current step, and its length.
    time: f64,
    dt: f64,
    /// Told how long the loop will take.
    pace: Option<Pace>,
}

/// Time in loops that is not that of rounds. Clones share it.
#[derive(Clone, Default)]
struct Pauses(Arc<Mutex<PauseState>>);

#[derive(Default)]
struct PauseState {
    /// When the first of the pauses that go on began, and how many go on.
    open: Option<(Instant, u32)>,
    total: Duration,
}

/// A pause until it is dropped.
#[must_use]
pub struct Pause(Option<Pauses>);

impl Pauses {
    fn state(&self) -> MutexGuard<'_, PauseState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn total(&self) -> Duration {
        self.state().total
    }

    fn begin(&self) -> Pauses {
        let mut state = self.state();
        let (since, count) = state.open.unwrap_or_else(|| (Instant::now(), 0));
        state.open = Some((since, count + 1));
        self.clone()
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let Some(pauses) = &self.0 else { return };
        let mut state = pauses.state();
        match state.open {
            Some((since, 1)) => {
                state.total += since.elapsed();
                state.open = None;
            }
            Some((since, count)) => state.open = Some((since, count.saturating_sub(1))),
            None => {}
        }
    }
}

/// Least time of rounds that tell something of the others.
const TELLING: Duration = Duration::from_millis(200);

/// Least time between two [`Event::Step`].
const BETWEEN_EVENTS: Duration = Duration::from_millis(100);

impl Progress {
    /// Starts the clock.
    pub fn new(style: ProgressStyle, format: MessageFormat, out: Box<dyn Write + Send>) -> Self {
        let now = Instant::now();
        // Programs get everything: there is no bar, and `--quiet` is for users.
        let style = match format {
            MessageFormat::Human => style,
            MessageFormat::Json => ProgressStyle::Lines,
        };
        Progress {
            style,
            messages: Messages::new(format, out),
            started: now,
            loop_started: now,
            last_shown: None,
            depth: 0,
            total: None,
            done: 0,
            skipped: 0,
            steps: 0,
            earlier_steps: 0,
            in_loops: Duration::ZERO,
            pauses: Pauses::default(),
            bar_open: false,
            last_event: None,
            time: f64::NAN,
            dt: f64::NAN,
            pace: None,
        }
    }

    /// Tells how long the loop will take, from now on.
    pub fn tell_pace(&mut self, pace: Pace) {
        self.pace = Some(pace);
    }

    /// Begins a loop of `total` iterations; `None` if they are not known.
    pub fn begin(&mut self, total: Option<usize>) {
        self.depth += 1;
        if self.depth == 1 {
            (self.total, self.done, self.skipped, self.last_shown, self.last_event) = (total, 0, 0, None, None);
            self.loop_started = Instant::now();
            if let Some(pace) = &self.pace {
                pace.tell(f64::NAN);
            }
        }
    }

    /// Rounds of the outermost loop that runs, if they are known.
    pub fn known_rounds(&self) -> Option<usize> {
        self.total.filter(|_| self.depth > 0)
    }

    /// The outermost loop goes on after `done` of its rounds, which are not shown again; the run
    /// after `steps` rounds of outermost loops.
    pub fn skip(&mut self, done: usize, steps: usize) {
        (self.done, self.skipped, self.steps, self.earlier_steps) = (done, done, steps, steps);
    }

    /// Ends one iteration of the innermost loop.
    pub fn step(&mut self) {
        if self.depth != 1 {
            return;
        }
        self.done += 1;
        self.steps += 1;
        let interval = match self.style {
            ProgressStyle::Quiet if !self.messages.has_events() && self.pace.is_none() => return,
            ProgressStyle::Quiet => Duration::MAX,
            ProgressStyle::Bar => Duration::from_millis(100),
            ProgressStyle::Lines => Duration::from_secs(1),
        };
        let now = Instant::now();
        let is_last = self.total.is_some_and(|total| self.done >= total);
        let is_due = |last: Option<Instant>, interval| is_last || last.is_none_or(|last| now.duration_since(last) >= interval);
        let elapsed = now.duration_since(self.loop_started).as_secs_f64();
        let left = self.left(elapsed);
        if let Some(pace) = self.pace.as_ref().filter(|_| elapsed >= TELLING.as_secs_f64()) {
            pace.tell(left);
        }
        if self.messages.has_events() && is_due(self.last_event, BETWEEN_EVENTS) {
            self.last_event = Some(now);
            let (steps_done, time, dt) = (self.steps, self.time, self.dt);
            self.event(&Event::Step(event::Step { step: self.done, steps: self.total, steps_done, time, dt, elapsed, left }));
        }
        if self.style == ProgressStyle::Quiet || !is_due(self.last_shown, interval) {
            return;
        }
        self.last_shown = Some(now);
        let line = match (self.style, self.format()) {
            (_, MessageFormat::Json) => {
                return self.event(&Event::Progress { step: self.done, steps: self.total, elapsed, left });
            }
            (ProgressStyle::Bar, MessageFormat::Human) => match self.total {
                Some(total) => format!("\r{}\x1b[K", bar(self.done, total, left)),
                None => format!("\r{}\x1b[K", self.without_end(elapsed, left)),
            },
            (ProgressStyle::Quiet | ProgressStyle::Lines, MessageFormat::Human) => match self.total {
                Some(total) => format!("step {}/{total}, {} elapsed, {} left\n", self.done, seconds(elapsed), seconds(left)),
                None => format!("{}\n", self.without_end(elapsed, left)),
            },
        };
        self.bar_open = self.style == ProgressStyle::Bar;
        self.messages.write(&line);
    }

    /// Expected seconds to the end of the loop; NaN if not known.
    fn left(&self, elapsed: f64) -> f64 {
        match self.total {
            Some(total) => elapsed / (self.done - self.skipped) as f64 * (total - self.done.min(total)) as f64,
            None => f64::NAN,
        }
    }

    /// Text for a loop whose rounds are not known: `step 12, time 0.35, 2.0 s elapsed`.
    fn without_end(&self, elapsed: f64, left: f64) -> String {
        let mut text = format!("step {}", self.done);
        if self.time.is_finite() {
            text.push_str(&format!(", time {}", self.time));
        }
        text.push_str(&format!(", {} elapsed", seconds(elapsed)));
        if left.is_finite() {
            text.push_str(&format!(", {} left", seconds(left)));
        }
        text
    }

    /// Sets the time of the run at the end of the step that begins, and its length, for events; NaN
    /// if not known.
    pub fn at(&mut self, time: f64, dt: f64) {
        (self.time, self.dt) = (time, dt);
    }

    /// Ends the innermost loop.
    pub fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.in_loops += self.loop_started.elapsed();
            self.close_bar();
        }
    }

    /// Ends the line of an open bar, so that the next text starts on a new line.
    pub fn close_bar(&mut self) {
        if std::mem::take(&mut self.bar_open) {
            self.messages.write("\n");
        }
    }

    /// Steps of outermost loops so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Rounds of outermost loops that this run did, and their time without reading and writing.
    pub fn rounds(&self) -> (usize, Duration) {
        let running = if self.depth > 0 { self.loop_started.elapsed() } else { Duration::ZERO };
        (self.steps - self.earlier_steps, (self.in_loops + running).saturating_sub(self.pauses.total()))
    }

    /// Time that is none of a round, until the result is dropped; that of several at once counts
    /// once.
    pub fn pause(&self) -> Pause {
        if self.depth > 0 { Pause(Some(self.pauses.begin())) } else { Pause(None) }
    }

    /// Time since the start of the run.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The current step of the outermost loop, from 1, and the number of steps, if known; `None`
    /// outside loops.
    pub fn current_step(&self) -> Option<(usize, Option<usize>)> {
        (self.depth > 0).then_some((self.done + 1, self.total))
    }

    /// True if the current loop is the outermost one.
    pub fn is_outermost(&self) -> bool {
        self.depth == 1
    }

    /// Format of messages.
    pub fn format(&self) -> MessageFormat {
        self.messages.format()
    }

    /// The stream of messages, for other owners.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Prints a message on standard error; not when quiet.
    pub fn message(&mut self, text: &str) {
        self.event(&Event::Note(text.to_owned()));
        match self.format() {
            MessageFormat::Human if self.style == ProgressStyle::Quiet => {}
            MessageFormat::Human => self.line(&format!("{text}\n")),
            MessageFormat::Json => {}
        }
    }

    /// Sends an event for programs; nothing for users.
    pub fn event(&self, event: &Event) {
        self.messages.event(event);
    }

    /// Prints a warning on standard error, even when quiet.
    pub fn warning(&mut self, text: &str) {
        self.event(&Event::Warning(text.to_owned()));
        if self.format() == MessageFormat::Human {
            self.line(&format!("warning: {text}\n"));
        }
    }

    fn line(&mut self, text: &str) {
        self.close_bar();
        self.messages.write(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.close_bar();
    }
}

fn bar(done: usize, total: usize, left: f64) -> String {
    const WIDTH: usize = 30;
    // In floating point, since the product of the integers could overflow.
    let filled = if total == 0 { WIDTH } else { (WIDTH as f64 * (done as f64 / total as f64)) as usize }.min(WIDTH);
    format!("[{}{}] {done}/{total}, {} left", "#".repeat(filled), " ".repeat(WIDTH - filled), seconds(left))
}
