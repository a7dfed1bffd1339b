//! Progress of a run, and its summary at the end; on standard error, never among the results.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::json;

/// Style of progress messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressStyle {
    /// None.
    Quiet,
    /// A bar redrawn in place, for a terminal.
    Bar,
    /// One line a step, but at most one a second.
    Lines,
}

/// Format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageFormat {
    /// Text for users.
    #[default]
    Human,
    /// One JSON object a line, for programs.
    Json,
}

/// Progress of the outermost loop.
pub struct Progress {
    style: ProgressStyle,
    format: MessageFormat,
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
    pub fn new(style: ProgressStyle, format: MessageFormat, out: Box<dyn Write + Send>) -> Self {
        let now = Instant::now();
        // JSON reports all steps of a second, and never a bar.
        let style = if format == MessageFormat::Json && style == ProgressStyle::Bar { ProgressStyle::Lines } else { style };
        Progress {
            style,
            format,
            out,
            started: now,
            loop_started: now,
            last_shown: None,
            depth: 0,
            total: 0,
            done: 0,
            steps: 0,
            bar_open: false,
        }
    }

    /// Begins a loop of `total` iterations.
    pub fn begin(&mut self, total: usize) {
        self.depth += 1;
        if self.depth == 1 {
            (self.total, self.done, self.last_shown) = (total, 0, None);
            self.loop_started = Instant::now();
        }
    }

    /// Ends one iteration of the innermost loop.
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
            ProgressStyle::Quiet | ProgressStyle::Lines if self.format == MessageFormat::Json => {
                format!(
                    "{{\"event\":\"progress\",\"step\":{},\"steps\":{},\"elapsed\":{},\"left\":{}}}\n",
                    self.done,
                    self.total,
                    json::number(elapsed),
                    json::number(left)
                )
            }
            ProgressStyle::Quiet | ProgressStyle::Lines => {
                format!("step {}/{}, {} elapsed, {} left\n", self.done, self.total, seconds(elapsed), seconds(left))
            }
        };
        self.bar_open = self.style == ProgressStyle::Bar;
        self.write(&line);
    }

    /// Ends the innermost loop.
    pub fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.close_bar();
        }
    }

    /// Ends the line of an open bar, so that the next text starts on a new line.
    pub fn close_bar(&mut self) {
        if std::mem::take(&mut self.bar_open) {
            self.write("\n");
        }
    }

    /// Steps of outermost loops so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Time since the start of the run.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The current step of the outermost loop, from 1, and the number of steps; `None` outside
    /// loops.
    pub fn current_step(&self) -> Option<(usize, usize)> {
        (self.depth > 0).then_some((self.done + 1, self.total))
    }

    /// Whether the current loop is the outermost one.
    pub fn is_outermost(&self) -> bool {
        self.depth == 1
    }

    /// Format of messages.
    pub fn format(&self) -> MessageFormat {
        self.format
    }

    /// Prints a message on standard error; not when quiet.
    pub fn message(&mut self, text: &str) {
        if self.style != ProgressStyle::Quiet {
            self.close_bar();
            self.write(&match self.format {
                MessageFormat::Human => format!("{text}\n"),
                MessageFormat::Json => json::message("note", text),
            });
        }
    }

    /// Prints an event as a JSON object; only in JSON format, and not when quiet.
    pub fn event(&mut self, object: &str) {
        if self.style != ProgressStyle::Quiet && self.format == MessageFormat::Json {
            self.write(&format!("{object}\n"));
        }
    }

    /// Prints a warning on standard error, even when quiet.
    pub fn warning(&mut self, text: &str) {
        self.close_bar();
        self.write(&match self.format {
            MessageFormat::Human => format!("warning: {text}\n"),
            MessageFormat::Json => json::message("warning", text),
        });
    }

    fn write(&mut self, text: &str) {
        // A closed standard error cannot be reported.
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
    // In floating point, since the product of the integers could overflow.
    let filled = if total == 0 { WIDTH } else { (WIDTH as f64 * (done as f64 / total as f64)) as usize }.min(WIDTH);
    format!("[{}{}] {done}/{total}, {} left", "#".repeat(filled), " ".repeat(WIDTH - filled), seconds(left))
}

/// A duration as text for users.
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

/// A number of bytes as text for users, in powers of 1000.
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

/// Peak memory of the process in bytes; `None` where the system does not report it (read from
/// Linux's `/proc/self/status`).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
