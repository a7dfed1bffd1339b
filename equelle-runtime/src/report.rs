//! Progress while a program runs, and the summary at its end; on standard error, never among the results.

use std::io::Write;
use std::time::{Duration, Instant};

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressStyle {
    /// Not at all.
    Quiet,
    /// A bar redrawn in place, for a terminal.
    Bar,
    /// One line a step, but at most one a second.
    Lines,
}

/// Progress of the outermost loop.
pub struct Progress {
    style: ProgressStyle,
    out: Box<dyn Write + Send>,
    started: Instant,
    loop_started: Instant,
    last_shown: Option<Instant>,
    depth: usize,
    total: usize,
    done: usize,
    steps: usize,
    bar_open: bool,
}

impl Progress {
    /// Starts the clock.
    pub fn new(style: ProgressStyle, out: Box<dyn Write + Send>) -> Self {
        let now = Instant::now();
        Progress { style, out, started: now, loop_started: now, last_shown: None, depth: 0, total: 0, done: 0, steps: 0, bar_open: false }
    }

    /// A loop of `total` iterations begins.
    pub fn begin(&mut self, total: usize) {
        self.depth += 1;
        if self.depth == 1 {
            (self.total, self.done, self.last_shown) = (total, 0, None);
            self.loop_started = Instant::now();
        }
    }

    /// One iteration of the innermost loop is over.
    pub fn step(&mut self) {
        if self.depth != 1 {
            return;
        }
        self.done += 1;
        self.steps += 1;
        let interval = match self.style {
            ProgressStyle::Quiet => return,
            ProgressStyle::Bar => Duration::from_millis(100),
            ProgressStyle::Lines => Duration::from_secs(1),
        };
        let now = Instant::now();
        if self.done < self.total && self.last_shown.is_some_and(|last| now.duration_since(last) < interval) {
            return;
        }
        self.last_shown = Some(now);
        let elapsed = now.duration_since(self.loop_started).as_secs_f64();
        let left = elapsed / self.done as f64 * (self.total - self.done.min(self.total)) as f64;
        let line = match self.style {
            ProgressStyle::Bar => format!("\r{}\x1b[K", bar(self.done, self.total, left)),
            ProgressStyle::Quiet | ProgressStyle::Lines => {
                format!("step {}/{}, {} elapsed, {} left\n", self.done, self.total, seconds(elapsed), seconds(left))
            }
        };
        self.bar_open = self.style == ProgressStyle::Bar;
        self.write(&line);
    }

    /// The innermost loop is over.
    pub fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.close_bar();
        }
    }

    /// Ends the line of an open bar, so that what follows starts on a line of its own.
    pub fn close_bar(&mut self) {
        if std::mem::take(&mut self.bar_open) {
            self.write("\n");
        }
    }

    /// Steps of outermost loops so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Time since the run was opened.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A message line on standard error; not when quiet.
    pub fn message(&mut self, text: &str) {
        if self.style != ProgressStyle::Quiet {
            self.close_bar();
            self.write(&format!("{text}\n"));
        }
    }

    /// A warning on standard error, even when quiet.
    pub fn warning(&mut self, text: &str) {
        self.close_bar();
        self.write(&format!("warning: {text}\n"));
    }

    fn write(&mut self, text: &str) {
        // There is nowhere to report that standard error is closed.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.close_bar();
    }
}

fn bar(done: usize, total: usize, left: f64) -> String {
    const WIDTH: usize = 30;
    // The ratio is taken in floating point: the product of the integers could overflow.
    let filled = if total == 0 { WIDTH } else { (WIDTH as f64 * (done as f64 / total as f64)) as usize }.min(WIDTH);
    format!("[{}{}] {done}/{total}, {} left", "#".repeat(filled), " ".repeat(WIDTH - filled), seconds(left))
}

/// A duration for people.
pub fn seconds(value: f64) -> String {
    if value < 0.001 {
        format!("{:.0} us", value * 1e6)
    } else if value < 1.0 {
        format!("{:.1} ms", value * 1e3)
    } else if value < 100.0 {
        format!("{value:.1} s")
    } else if value < 6000.0 {
        format!("{:.0} min {:02.0} s", (value / 60.0).floor(), (value % 60.0).floor())
    } else {
        format!("{:.0} h {:02.0} min", (value / 3600.0).floor(), (value % 3600.0 / 60.0).floor())
    }
}

/// A number of bytes for people, in powers of 1000.
pub fn bytes(value: u64) -> String {
    let value = value as f64;
    if value < 1e6 {
        format!("{:.0} kB", value / 1e3)
    } else if value < 1e9 {
        format!("{:.1} MB", value / 1e6)
    } else {
        format!("{:.2} GB", value / 1e9)
    }
}

/// Most memory the process has occupied so far, in bytes; `None` where the system does not tell (it is read from Linux's `/proc/self/status`).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
