//! Progress of the outermost loop, and the messages beside it.

use std::io::Write;
use std::time::{Duration, Instant};

use super::event::{self, Event};
use super::{MessageFormat, Messages, ProgressStyle, Rounds, seconds};
use crate::handover::Pace;

/// Progress of the outermost loop.
pub struct Progress {
    style: ProgressStyle,
    messages: Messages,
    started: Instant,
    rounds: Rounds,
    last_shown: Option<Instant>,
    bar_open: bool,
    /// When the last [`Event::Step`] was sent.
    last_event: Option<Instant>,
    /// Time of the run at the end of the current step, and its length.
    time: f64,
    dt: f64,
    /// Told how long the loop will take.
    pace: Option<Pace>,
}

/// Least time of rounds that tell something of the others.
const TELLING: Duration = Duration::from_millis(200);

/// Least time between two [`Event::Step`].
const BETWEEN_EVENTS: Duration = Duration::from_millis(100);

impl Progress {
    /// Starts the clock.
    pub fn new(style: ProgressStyle, format: MessageFormat, out: Box<dyn Write + Send>) -> Self {
        // Programs get everything: there is no bar, and `--quiet` is for users.
        let style = match format {
            MessageFormat::Human => style,
            MessageFormat::Json => ProgressStyle::Lines,
        };
        Progress {
            style,
            messages: Messages::new(format, out),
            started: Instant::now(),
            rounds: Rounds::default(),
            last_shown: None,
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
        if self.rounds.begin(total) {
            (self.last_shown, self.last_event) = (None, None);
            if let Some(pace) = &self.pace {
                pace.tell(f64::NAN);
            }
        }
    }

    /// The outermost loop goes on after `done` of its rounds, which are not shown again; the run
    /// after `steps` rounds of outermost loops.
    pub fn skip(&mut self, done: usize, steps: usize) {
        let rounds = &mut self.rounds;
        (rounds.done, rounds.skipped, rounds.steps, rounds.earlier_steps) = (done, done, steps, steps);
    }

    /// Ends one iteration of the innermost loop.
    pub fn step(&mut self) {
        if !self.rounds.advance() {
            return;
        }
        let interval = match self.style {
            ProgressStyle::Quiet if !self.messages.has_events() && self.pace.is_none() => return,
            ProgressStyle::Quiet => Duration::MAX,
            ProgressStyle::Bar => Duration::from_millis(100),
            ProgressStyle::Lines => Duration::from_secs(1),
        };
        let now = Instant::now();
        let Rounds { done, total, steps: steps_done, .. } = self.rounds;
        let is_last = total.is_some_and(|total| done >= total);
        let is_due = |last: Option<Instant>, interval| is_last || last.is_none_or(|last| now.duration_since(last) >= interval);
        let elapsed = self.rounds.elapsed(now).as_secs_f64();
        let left = self.rounds.left(elapsed);
        if let Some(pace) = self.pace.as_ref().filter(|_| elapsed >= TELLING.as_secs_f64()) {
            pace.tell(left);
        }
        if self.messages.has_events() && is_due(self.last_event, BETWEEN_EVENTS) {
            self.last_event = Some(now);
            let (time, dt) = (self.time, self.dt);
            self.event(&Event::Step(event::Step { step: done, steps: total, steps_done, time, dt, elapsed, left }));
        }
        if self.style == ProgressStyle::Quiet || !is_due(self.last_shown, interval) {
            return;
        }
        self.last_shown = Some(now);
        let line = match (self.style, self.format()) {
            (_, MessageFormat::Json) => {
                return self.event(&Event::Progress { step: done, steps: total, elapsed, left });
            }
            (ProgressStyle::Bar, MessageFormat::Human) => match total {
                Some(total) => format!("\r{}\x1b[K", bar(done, total, left)),
                None => format!("\r{}\x1b[K", self.without_end(elapsed, left)),
            },
            (ProgressStyle::Quiet | ProgressStyle::Lines, MessageFormat::Human) => match total {
                Some(total) => format!("step {done}/{total}, {} elapsed, {} left\n", seconds(elapsed), seconds(left)),
                None => format!("{}\n", self.without_end(elapsed, left)),
            },
        };
        self.bar_open = self.style == ProgressStyle::Bar;
        self.messages.write(&line);
    }

    /// Text for a loop whose rounds are not known: `step 12, time 0.35, 2.0 s elapsed`.
    fn without_end(&self, elapsed: f64, left: f64) -> String {
        let mut text = format!("step {}", self.rounds.done);
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
        if self.rounds.end() {
            self.close_bar();
        }
    }

    /// Ends the line of an open bar, so that the next text starts on a new line.
    pub fn close_bar(&mut self) {
        if std::mem::take(&mut self.bar_open) {
            self.messages.write("\n");
        }
    }

    /// Rounds of loops.
    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Time since the start of the run.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
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
