//! Messages to the user on standard error.

use std::io::{IsTerminal, Write};

use clap::ValueEnum;
use equelle_front::report::Report;
use equelle_front::source::SourceMap;
use equelle_runtime::Error;

use equelle::failure::Failure;
use equelle::report;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// With the source lines they are about
    Human,
    /// One line each
    Short,
    /// One JSON object a line
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// True if standard error gets colours.
    pub fn enabled(self) -> bool {
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                !forbidden && std::env::var_os("TERM").is_none_or(|term| term != "dumb") && std::io::stderr().is_terminal()
            }
        }
    }
}

/// Writes messages to standard error.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// How.
    pub format: MessageFormat,
    /// With colours.
    pub color: bool,
}

impl Console {
    /// How runs in this process write their messages.
    pub fn format_of_runs(&self) -> equelle_runtime::report::MessageFormat {
        match self.format {
            MessageFormat::Human | MessageFormat::Short => equelle_runtime::report::MessageFormat::Human,
            MessageFormat::Json => equelle_runtime::report::MessageFormat::Json,
        }
    }

    /// Why a command ended early, unless that has been shown already.
    pub fn failure(&self, failure: &Failure) {
        match failure {
            Failure::Program | Failure::Exit(_) => {}
            Failure::Error(error) => self.error(error),
            Failure::Internal(message) => {
                let error = Error::new(equelle_runtime::ErrorKind::Backend, format!("internal error: {message}"));
                self.error(&error.hint("this is a bug of equellec; please report it with the program that shows it"));
            }
        }
    }

    fn error(&self, error: &Error) {
        match self.format {
            MessageFormat::Human => {
                write(&format!("{}: {}\n", self.paint("error", "1;31"), error.message));
                if let Some(hint) = &error.hint {
                    write(&format!("  {}: {hint}\n", self.paint("hint", "1;36")));
                }
            }
            MessageFormat::Short => write(&format!("error: {}\n", error.message.replace('\n', " "))),
            MessageFormat::Json => {
                let object = serde_json::json!({ "severity": "error", "message": error.message, "hint": error.hint });
                write(&format!("{object}\n"));
            }
        }
    }

    /// A warning about something other than the program.
    pub fn warning(&self, message: &str) {
        match self.format {
            MessageFormat::Human => write(&format!("{}: {message}\n", self.paint("warning", "1;33"))),
            MessageFormat::Short => write(&format!("warning: {message}\n")),
            MessageFormat::Json => write(&format!("{}\n", serde_json::json!({ "severity": "warning", "message": message }))),
        }
    }

    /// Prints progress. Not shown as JSON, which is for programs.
    pub fn progress(&self, message: &str) {
        match self.format {
            MessageFormat::Human | MessageFormat::Short => write(&format!("{message}\n")),
            MessageFormat::Json => {}
        }
    }

    /// A line of a terminal that the next one overwrites.
    pub fn bar(&self, line: &str) {
        write(&format!("\r{line}\x1b[K"));
    }

    /// Prints the compiler's report.
    pub fn report(&self, report: &Report, source: &SourceMap) {
        match self.format {
            MessageFormat::Human | MessageFormat::Short => write(&report::text(report, source)),
            MessageFormat::Json => write(&format!("{}\n", report::json(report))),
        }
    }

    fn paint(&self, text: &str, style: &str) -> String {
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Standard error may be closed; there is nobody to tell then.
pub(crate) fn write(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
