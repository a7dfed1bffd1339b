//! Messages of the library on the console.

use equelle::emitter::{BuildProgress, Emitter};
use equelle_front::diagnostic::Diagnostic;
use equelle_front::diagnostic::render::{self, Format};
use equelle_front::source::SourceMap;

use crate::build_bar::BuildBar;
use crate::console::{Console, MessageFormat, write};

impl Emitter for Console {
    fn diagnostics(&self, source: &SourceMap, diagnostics: &[Diagnostic]) {
        let format = match self.format {
            MessageFormat::Human => Format::Human { color: self.color },
            MessageFormat::Short => Format::Short,
            MessageFormat::Json => Format::Json,
        };
        write(&render::render(diagnostics, source, format));
    }

    fn warning(&self, message: &str) {
        Console::warning(self, message);
    }

    fn note(&self, message: &str) {
        self.progress(message);
    }

    fn build(&self, manifest: &str) -> Box<dyn BuildProgress> {
        Box::new(BuildBar::new(self, manifest))
    }
}
