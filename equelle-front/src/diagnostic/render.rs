//! Diagnostics to text: the one place that knows how a message looks.

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use serde_json::{Value, json};
use std::ops::Range;

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{FileId, SourceMap};

/// Format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With the source lines, labels, notes and hint.
    Human {
        /// With ANSI colour sequences.
        color: bool,
    },
    /// One line each: `file:line:column: error[E0005]: message`.
    Short,
    /// One JSON object per line: `code`, `severity`, `message`, `file`, `span` (bytes in that
    /// file), `line`, `column`, `end_line`, `end_column` (from 1, in characters), `label`,
    /// `labels`, `trail`, `notes`, `hint`. Labels and calls of the trail have a place of their
    /// own, `file` included.
    Json,
}

/// Writes diagnostics in the order given. Places outside the text are moved to its end.
pub fn render(diagnostics: &[Diagnostic], source: &SourceMap, format: Format) -> String {
    match format {
        Format::Human { color: true } => human(diagnostics, source, Ansi::new(Vec::new()), Ansi::into_inner),
        Format::Human { color: false } => human(diagnostics, source, NoColor::new(Vec::new()), NoColor::into_inner),
        Format::Short => diagnostics.iter().map(|d| short(d, source) + "\n").collect(),
        Format::Json => diagnostics.iter().map(|d| json_object(d, source).to_string() + "\n").collect(),
    }
}

fn human<W: WriteColor>(diagnostics: &[Diagnostic], source: &SourceMap, mut writer: W, into_inner: impl Fn(W) -> Vec<u8>) -> String {
    let config = term::Config::default();
    let files = AllFiles(source);
    for diagnostic in diagnostics {
        // Writing to memory cannot fail and the places are within the text; should either happen,
        // the message itself is kept.
        if term::emit_to_write_style(&mut writer, &config, &files, &to_codespan(diagnostic, source)).is_err() {
            let _ = writeln!(writer, "{}", short(diagnostic, source));
        }
    }
    String::from_utf8_lossy(&into_inner(writer)).into_owned()
}

fn to_codespan(d: &Diagnostic, source: &SourceMap) -> codespan::Diagnostic<FileId> {
    let label = |label: &Label, style| {
        let (file, range) = place(label, source);
        codespan::Label::new(style, file, range).with_message(&label.text)
    };
    let mut labels = vec![label(&d.primary, codespan::LabelStyle::Primary)];
    labels.extend(d.secondary.iter().chain(&d.trail).map(|l| label(l, codespan::LabelStyle::Secondary)));
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

/// The file of a label and its bytes there, within the text and on character boundaries.
fn place(label: &Label, source: &SourceMap) -> (FileId, Range<usize>) {
    let id = source.file_at(label.span.start);
    let file = source.file(id);
    let boundary = |at: u32| {
        let mut at = (at.saturating_sub(file.start()) as usize).min(file.text().len());
        while !file.text().is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(label.span.start);
    (id, start..boundary(label.span.end).max(start))
}

/// Line and column of a byte of a file.
fn line_column(source: &SourceMap, file: FileId, at: usize) -> (u32, u32) {
    source.line_column(source.file(file).start() + at as u32)
}

fn short(d: &Diagnostic, source: &SourceMap) -> String {
    let (file, range) = place(&d.primary, source);
    let (line, column) = line_column(source, file, range.start);
    format!("{}:{line}:{column}: {}[{}]: {}", source.file(file).name(), severity(d.severity), d.code.as_str(), d.message)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn json_object(d: &Diagnostic, source: &SourceMap) -> Value {
    let mut object = json_place(&d.primary, source);
    object["code"] = json!(d.code.as_str());
    object["severity"] = json!(severity(d.severity));
    object["message"] = json!(d.message);
    object["labels"] = d.secondary.iter().map(|l| json_place(l, source)).collect();
    object["trail"] = d.trail.iter().map(|l| json_place(l, source)).collect();
    object["notes"] = json!(d.notes);
    object["hint"] = json!(d.hint);
    object
}

fn json_place(label: &Label, source: &SourceMap) -> Value {
    let (file, range) = place(label, source);
    let (line, column) = line_column(source, file, range.start);
    let (end_line, end_column) = line_column(source, file, range.end);
    json!({
        "file": source.file(file).name(),
        "span": { "start": range.start, "end": range.end },
        "line": line, "column": column, "end_line": end_line, "end_column": end_column,
        "label": label.text,
    })
}

/// The texts as codespan wants them.
struct AllFiles<'s>(&'s SourceMap);

impl<'a> Files<'a> for AllFiles<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, file: FileId) -> Result<&'a str, Error> {
        Ok(self.0.file(file).name())
    }

    fn source(&'a self, file: FileId) -> Result<&'a str, Error> {
        Ok(self.0.file(file).text())
    }

    fn line_index(&'a self, file: FileId, byte_index: usize) -> Result<usize, Error> {
        Ok(self.0.file(file).own_line(byte_index as u32) as usize - 1)
    }

    fn line_range(&'a self, file: FileId, line_index: usize) -> Result<Range<usize>, Error> {
        let file = self.0.file(file);
        let starts = |line: usize| file.line_start(line as u32 + 1).map(|s| s as usize);
        let given = line_index;
        let start = starts(line_index).ok_or(Error::LineTooLarge { given, max: file.own_line(u32::MAX) as usize - 1 })?;
        Ok(start..starts(line_index + 1).unwrap_or(file.text().len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;
    use crate::source::Span;

    fn sample() -> (SourceMap, Diagnostic) {
        let source = SourceMap::new("a.equelle", "x = 1\ny\u{e9} = x + z\n");
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
                "file": "a.equelle",
                "span": { "start": 0, "end": 1 }, "line": 1, "column": 1, "end_line": 1, "end_column": 2, "label": "and there",
            }],
            "trail": [{
                "file": "a.equelle",
                "span": { "start": 6, "end": 7 }, "line": 2, "column": 1, "end_line": 2, "end_column": 2, "label": "in this call",
            }],
            "notes": ["a fact"], "hint": "do it",
        });
        assert_eq!(object, expected);
    }

    #[test]
    fn labels_name_the_file_that_they_are_in() {
        let mut source = SourceMap::from_single_text("a.equelle", "Import \"b\" (f)\ny = f(1)\n");
        let b = source.add("b.equelle".into(), "f(x) = {\n    -> x + z\n}\n".into()).expect("fits");
        let at = source.file(b).start();
        let z = at + 20;
        let d = Diagnostic::new(Code::UnknownName, Span { start: z, end: z + 1 }, "no `z`")
            .called(Span::new(19, 23), "in this call")
            .also(Span { start: at, end: at + 1 }, "this function");
        assert_eq!(render(std::slice::from_ref(&d), &source, Format::Short), "b.equelle:2:12: error[E0101]: no `z`\n");
        let human = render(std::slice::from_ref(&d), &source, Format::Human { color: false });
        for part in ["b.equelle:2:12", "-> x + z", "a.equelle:2:5", "y = f(1)", "in this call", "f(x) = {"] {
            assert!(human.contains(part), "{part} is missing in\n{human}");
        }
        let object: Value = serde_json::from_str(&render(&[d], &source, Format::Json)).unwrap();
        assert_eq!((&object["file"], &object["span"]["start"], &object["line"]), (&json!("b.equelle"), &json!(20), &json!(2)));
        assert_eq!((&object["labels"][0]["file"], &object["labels"][0]["line"]), (&json!("b.equelle"), &json!(1)));
        assert_eq!((&object["trail"][0]["file"], &object["trail"][0]["line"]), (&json!("a.equelle"), &json!(2)));
    }

    #[test]
    fn places_outside_the_text_are_moved_into_it() {
        let source = SourceMap::new("a", "\u{e9}");
        for span in [Span::new(1, 1), Span::new(5, 9), Span { start: 9, end: 3 }, Span::new(0, u32::MAX as usize)] {
            let d = Diagnostic::new(Code::UnexpectedToken, span, "m").also(span, "there");
            for format in [Format::Human { color: false }, Format::Short, Format::Json] {
                assert!(render(std::slice::from_ref(&d), &source, format).contains("E0005"));
            }
        }
        let empty = SourceMap::new("a", "");
        let d = Diagnostic::new(Code::UnexpectedToken, Span::new(0, 0), "m");
        assert_eq!(render(std::slice::from_ref(&d), &empty, Format::Short), "a:1:1: error[E0005]: m\n");
        assert!(render(&[d], &empty, Format::Human { color: false }).contains("error[E0005]: m"));
    }
}
