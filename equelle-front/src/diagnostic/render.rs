//! Diagnostics to text: the one place that knows how a message looks.

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use serde_json::{Value, json};
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::SourceFile;

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With the source lines, labels, notes and hint.
    Human {
        /// With ANSI colour sequences.
        color: bool,
    },
    /// One line each: `file:line:column: error[E0005]: message`.
    Short,
    /// One JSON object per line: `code`, `severity`, `message`, `file`, `span` (bytes), `line`,
    /// `column`, `end_line`, `end_column` (from 1, in characters), `label`, `labels`, `trail`,
    /// `notes`, `hint`.
    Json,
}

/// Writes diagnostics in the order given. Places outside the text are moved to its end.
pub fn render(diagnostics: &[Diagnostic], source: &SourceFile, format: Format) -> String {
    match format {
        Format::Human { color: true } => human(diagnostics, source, Ansi::new(Vec::new()), Ansi::into_inner),
        Format::Human { color: false } => human(diagnostics, source, NoColor::new(Vec::new()), NoColor::into_inner),
        Format::Short => diagnostics.iter().map(|d| short(d, source) + "\n").collect(),
        Format::Json => diagnostics.iter().map(|d| json_object(d, source).to_string() + "\n").collect(),
    }
}

fn human<W: WriteColor>(diagnostics: &[Diagnostic], source: &SourceFile, mut writer: W, into_inner: impl Fn(W) -> Vec<u8>) -> String {
    let config = term::Config::default();
    let files = OneFile(source);
    for diagnostic in diagnostics {
        // Writing to memory cannot fail and the places are within the text; should either happen,
        // the message itself is kept.
        if term::emit_to_write_style(&mut writer, &config, &files, &to_codespan(diagnostic, source)).is_err() {
            let _ = writeln!(writer, "{}", short(diagnostic, source));
        }
    }
    String::from_utf8_lossy(&into_inner(writer)).into_owned()
}

fn to_codespan(d: &Diagnostic, source: &SourceFile) -> codespan::Diagnostic<()> {
    let mut labels = vec![codespan::Label::primary((), place(&d.primary, source)).with_message(&d.primary.text)];
    labels.extend(d.secondary.iter().chain(&d.trail).map(|l| codespan::Label::secondary((), place(l, source)).with_message(&l.text)));
    let mut notes = d.notes.clone();
    notes.extend(d.hint.iter().map(|h| format!("hint: {h}")));
    codespan::Diagnostic {
        severity: match d.severity {
            Severity::Error => codespan::Severity::Error,
            Severity::Warning => codespan::Severity::Warning,
            Severity::Note => codespan::Severity::Note,
        },
        code: Some(d.code.as_str().to_owned()),
        message: d.message.clone(),
        labels,
        notes,
    }
}

/// The bytes of a label, within the text and on character boundaries.
fn place(label: &Label, source: &SourceFile) -> Range<usize> {
    let text = source.text();
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let range = label.span.range();
    let start = boundary(range.start);
    start..boundary(range.end).max(start)
}

fn short(d: &Diagnostic, source: &SourceFile) -> String {
    let (line, column) = source.line_column(place(&d.primary, source).start as u32);
    format!("{}:{line}:{column}: {}[{}]: {}", source.name(), severity(d.severity), d.code.as_str(), d.message)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn json_object(d: &Diagnostic, source: &SourceFile) -> Value {
    let mut object = json_place(&d.primary, source);
    object["code"] = json!(d.code.as_str());
    object["severity"] = json!(severity(d.severity));
    object["message"] = json!(d.message);
    object["file"] = json!(source.name());
    object["labels"] = d.secondary.iter().map(|l| json_place(l, source)).collect();
    object["trail"] = d.trail.iter().map(|l| json_place(l, source)).collect();
    object["notes"] = json!(d.notes);
    object["hint"] = json!(d.hint);
    object
}

fn json_place(label: &Label, source: &SourceFile) -> Value {
    let range = place(label, source);
    let (line, column) = source.line_column(range.start as u32);
    let (end_line, end_column) = source.line_column(range.end as u32);
    json!({
        "span": { "start": range.start, "end": range.end },
        "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "label": label.text,
    })
}

/// The source as codespan wants it.
struct OneFile<'s>(&'s SourceFile);

impl<'a> Files<'a> for OneFile<'a> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(self.0.name())
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(self.0.text())
    }

    fn line_index(&'a self, (): (), byte_index: usize) -> Result<usize, Error> {
        Ok(self.0.line(byte_index as u32) as usize - 1)
    }

    fn line_range(&'a self, (): (), line_index: usize) -> Result<Range<usize>, Error> {
        let starts = |line: usize| self.0.line_start(line as u32 + 1).map(|s| s as usize);
        let given = line_index;
        let start = starts(line_index).ok_or(Error::LineTooLarge { given, max: self.0.line(u32::MAX) as usize - 1 })?;
        Ok(start..starts(line_index + 1).unwrap_or(self.0.text().len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;
    use crate::source::Span;

    fn sample() -> (SourceFile, Diagnostic) {
        let source = SourceFile::new("a.equelle", "x = 1\ny\u{e9} = x + z\n");
        let d = Diagnostic::new(Code::UnexpectedToken, Span::new(11, 12), "expected \"this\"")
            .label("here")
            .also(Span::new(0, 1), "and there")
            .called(Span::new(6, 7), "in this call")
            .note("a fact")
            .hint("do it");
        (source, d)
    }

    #[test]
    fn short_is_one_line_with_a_column_in_characters() {
        let (source, d) = sample();
        // Byte 11 is the fifth character of line 2: the accented letter has two bytes.
        assert_eq!(render(&[d], &source, Format::Short), "a.equelle:2:5: error[E0005]: expected \"this\"\n");
    }

    #[test]
    fn human_shows_everything() {
        let (source, d) = sample();
        let plain = render(std::slice::from_ref(&d), &source, Format::Human { color: false });
        for part in
            ["error[E0005]: expected \"this\"", "a.equelle:2:5", "y\u{e9} = x + z", "^ here", "- and there", "= a fact", "= hint: do it"]
        {
            assert!(plain.contains(part), "{part} is missing in\n{plain}");
        }
        assert!(!plain.contains('\u{1b}'));
        let colored = render(&[d], &source, Format::Human { color: true });
        assert!(colored.contains("\u{1b}["));
        let mut stripped = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            stripped.push_str(before);
            rest = after.split_once('m').map_or("", |(_, r)| r);
        }
        assert_eq!(stripped + rest, plain);
    }

    #[test]
    fn json_is_one_object_per_line() {
        let (source, d) = sample();
        let text = render(&[d.clone(), d], &source, Format::Json);
        assert_eq!(text.lines().count(), 2);
        let object: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let expected = json!({
            "code": "E0005", "severity": "error", "message": "expected \"this\"", "file": "a.equelle",
            "span": { "start": 11, "end": 12 }, "line": 2, "column": 5, "end_line": 2, "end_column": 6, "label": "here",
            "labels": [{
                "span": { "start": 0, "end": 1 }, "line": 1, "column": 1, "end_line": 1, "end_column": 2, "label": "and there",
            }],
            "trail": [{
                "span": { "start": 6, "end": 7 }, "line": 2, "column": 1, "end_line": 2, "end_column": 2, "label": "in this call",
            }],
            "notes": ["a fact"], "hint": "do it",
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn places_outside_the_text_are_moved_into_it() {
        let source = SourceFile::new("a", "\u{e9}");
        for span in [Span::new(1, 1), Span::new(5, 9), Span { start: 9, end: 3 }, Span::new(0, u32::MAX as usize)] {
            let d = Diagnostic::new(Code::UnexpectedToken, span, "m").also(span, "there");
            for format in [Format::Human { color: false }, Format::Short, Format::Json] {
                assert!(render(std::slice::from_ref(&d), &source, format).contains("E0005"));
            }
        }
        let empty = SourceFile::new("a", "");
        let d = Diagnostic::new(Code::UnexpectedToken, Span::new(0, 0), "m");
        assert_eq!(render(std::slice::from_ref(&d), &empty, Format::Short), "a:1:1: error[E0005]: m\n");
        assert!(render(&[d], &empty, Format::Human { color: false }).contains("error[E0005]: m"));
    }
}
