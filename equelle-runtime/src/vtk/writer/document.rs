//! A document of VTK's XML format: tags that describe arrays, and behind them the arrays.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{Result, Write};

use super::array::{Array, Compression, Encoded};
use crate::threads::Threads;
use crate::vtk::names::ZLIB;

impl<'a> Source<'a> {
    fn encoded(&self) -> &Encoded<'a> {
        match self {
            Source::Owned(encoded) => encoded,
            Source::Shared(encoded) => encoded,
        }
    }
}

/// A document while it is composed.
pub(super) struct Document<'a> {
    kind: &'static str,
    compression: Compression,
    threads: &'a Threads,
    /// Content of the outermost tag, behind the place of the last array.
    text: String,
    depth: usize,
    /// Each with the text before its place.
    arrays: Vec<(String, Source<'a>)>,
}

/// An array of this document, or of many.
enum Source<'a> {
    Owned(Encoded<'a>),
    Shared(&'a Encoded<'a>),
}

impl<'a> Document<'a> {
    /// A data set of a kind such as `UnstructuredGrid`.
    pub fn new(kind: &'static str, compression: Compression, threads: &'a Threads) -> Document<'a> {
        Document { kind, compression, threads, text: String::new(), depth: 1, arrays: Vec::new() }
    }

    /// Opens a tag with attributes.
    pub fn open(&mut self, tag: &str, attributes: &[(&str, String)]) {
        self.indent();
        let _ = write!(self.text, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
        self.text.push_str(">\n");
        self.depth += 1;
    }

    /// Closes a tag.
    pub fn close(&mut self, tag: &str) {
        self.depth -= 1;
        self.indent();
        let _ = writeln!(self.text, "</{tag}>");
    }

    /// An array, which is encoded at once.
    pub fn array(&mut self, array: Array<'a>) {
        let encoded = array.encode(self.compression, self.threads);
        self.add(Source::Owned(encoded));
    }

    /// An array that was encoded before, with the compression of this document.
    pub fn shared(&mut self, encoded: &'a Encoded<'a>) {
        self.add(Source::Shared(encoded));
    }

    fn add(&mut self, source: Source<'a>) {
        self.indent();
        let array = source.encoded().array();
        let _ = write!(self.text, "<DataArray type=\"{}\" Name=\"{}\"", array.number.name(), escaped(&array.name));
        if let Some(components) = array.components {
            let _ = write!(self.text, " NumberOfComponents=\"{components}\"");
        }
        if array.is_free {
            let _ = write!(self.text, " NumberOfTuples=\"{}\"", array.n_tuples());
        }
        self.text.push_str(" format=\"appended\" offset=\"");
        self.arrays.push((std::mem::replace(&mut self.text, "\"/>\n".to_owned()), source));
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }

    /// Writes the document, with the arrays behind it; the last one first. That is as good as any
    /// order, and meshio (5.3) takes one array for another if they stand in the order of the tags.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, out: &mut dyn Write) -> Result<()> {
        let compressor = match self.compression {
            Compression::None => String::new(),
            Compression::Zlib => format!(" compressor=\"{ZLIB}\""),
        };
        writeln!(
            out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>",
            self.kind
        )?;
        let mut end: u64 = self.arrays.iter().map(|(_, source)| source.encoded().size()).sum();
        for (before, source) in &self.arrays {
            end -= source.encoded().size();
            write!(out, "{before}{end}")?;
        }
        write!(out, "{}  <AppendedData encoding=\"raw\">\n_", self.text)?;
        self.arrays.iter().rev().try_for_each(|(_, source)| source.encoded().write(out))?;
        out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
    }
}

/// A text inside quotation marks.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\n', '\t', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // A reader takes these for blanks.
            '\n' | '\t' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
