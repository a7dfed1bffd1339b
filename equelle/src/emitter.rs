//! Messages of compilations and builds, for whoever shows or keeps them. The library prints
//! nothing.

use std::sync::{Mutex, PoisonError};

use equelle_front::diagnostic::Diagnostic;
use equelle_front::source::SourceMap;

/// Receives diagnostics and messages while a program is compiled or built.
pub trait Emitter: Sync {
    /// Diagnostics of a program.
    fn diagnostics(&self, source: &SourceMap, diagnostics: &[Diagnostic]);

    /// A warning about something other than the text of the program.
    fn warning(&self, message: &str);

    /// The step that begins, or something that the user may want to know.
    fn note(&self, message: &str);

    /// The progress of a build of a package with this manifest (`Cargo.toml`).
    fn build(&self, _manifest: &str) -> Box<dyn BuildProgress> {
        Box::new(Silent)
    }
}

/// Follows a build by cargo.
pub trait BuildProgress: Send {
    /// Cargo compiles or fetches (`verb`) something.
    fn begins(&mut self, verb: &str, what: &str);

    /// A unit is made, or was there before.
    fn is_made(&mut self, name: &str, is_fresh: bool);

    /// The number of all units is known.
    fn units(&mut self, units: usize);

    /// The build is over.
    fn close(&mut self);
}

/// Shows no progress.
struct Silent;

impl BuildProgress for Silent {
    fn begins(&mut self, _: &str, _: &str) {}

    fn is_made(&mut self, _: &str, _: bool) {}

    fn units(&mut self, _: usize) {}

    fn close(&mut self) {}
}

/// Messages of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Diagnostics of the program, by position.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings about something other than its text.
    pub warnings: Vec<String>,
}

/// Keeps messages, and drops notes.
#[derive(Debug, Default)]
pub struct Collector(Mutex<Messages>);

impl Collector {
    /// The messages so far.
    pub fn into_messages(self) -> Messages {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Messages)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Emitter for Collector {
    fn diagnostics(&self, _: &SourceMap, diagnostics: &[Diagnostic]) {
        self.change(|messages| messages.diagnostics.extend_from_slice(diagnostics));
    }

    fn warning(&self, message: &str) {
        self.change(|messages| messages.warnings.push(message.to_owned()));
    }

    fn note(&self, _: &str) {}
}
