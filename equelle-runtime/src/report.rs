//! Messages of a run: progress, warnings, events, and the summary at the end; on standard error,
//! never among the results.

pub mod event;
pub mod marked;
mod messages;
mod progress;
mod rounds;

pub use event::Event;
pub use messages::{Listener, Messages};
pub use progress::Progress;
pub use rounds::{Pause, Rounds};

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
