//! Options of a run that are no parameters: its streams, its sink, and who follows it.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::handover::{Handover, Pace};
use crate::interrupt::Interrupt;
use crate::io::Sink;
use crate::report::marked::Marked;
use crate::report::{Listener, MessageFormat, ProgressStyle};

/// Options of a session's messages and streams.
pub struct Options {
    /// No progress, no summary.
    pub quiet: bool,
    /// Collect and print timings of kernels.
    pub profile: bool,
    /// Time that a driver took to compile the program; `--profile` shows it.
    pub compiled_in: Duration,
    /// Print a table of each solve of Newton's method.
    pub verbose: bool,
    /// How progress, warnings and the summary are written.
    pub format: MessageFormat,
    /// Where results go.
    pub stdout: Box<dyn Write + Send>,
    /// Where progress, warnings and the summary go.
    pub stderr: Box<dyn Write + Send>,
    /// How progress is shown unless `quiet`.
    pub progress: ProgressStyle,
    /// The source of interrupts.
    pub interrupt: Interrupt,
    /// Name of the back-end, for the record of the run.
    pub back_end: &'static str,
    /// Where output files and the record of the run go.
    pub sink: Sink,
    /// Told how long the loop that runs will take.
    pub pace: Option<Pace>,
    /// Called with each event of the run.
    pub listener: Option<Listener>,
    /// Ends the run for another program to go on.
    pub handover: Option<Handover>,
    /// The file of a run that was handed over to this one, which goes on. It is removed.
    pub take_over: Option<PathBuf>,
}

impl Default for Options {
    /// Standard streams; a progress bar on a terminal, lines elsewhere.
    fn default() -> Self {
        let progress = if std::io::stderr().is_terminal() { ProgressStyle::Bar } else { ProgressStyle::Lines };
        let (stdout, stderr) = (Box::new(std::io::stdout()), Box::new(std::io::stderr()));
        Options { quiet: false, stdout, stderr, progress, ..Options::silent() }
    }
}

impl Options {
    /// Standard streams whose lines a driver tells from those of a launcher.
    #[must_use]
    pub fn marked(self) -> Options {
        let (stdout, stderr) = (Box::new(Marked::new(std::io::stdout())), Box::new(Marked::new(std::io::stderr())));
        Options { stdout, stderr, progress: ProgressStyle::Lines, ..self }
    }

    /// Without any output; for tests and embedding, with [`super::Session::record_outputs`].
    pub fn silent() -> Self {
        Options {
            quiet: true,
            profile: false,
            compiled_in: Duration::ZERO,
            verbose: false,
            format: MessageFormat::Human,
            stdout: Box::new(std::io::sink()),
            stderr: Box::new(std::io::sink()),
            progress: ProgressStyle::Quiet,
            interrupt: Interrupt::default(),
            back_end: "",
            sink: Sink::Files,
            pace: None,
            listener: None,
            handover: None,
            take_over: None,
        }
    }
}
