//! Source texts and positions in them.
//!
//! The texts of a program lie one behind the other: its own file first, then those that it imports.
//! Positions and lines count on from text to text, so that one number names a place in any of them.

use std::collections::BTreeMap;

/// Greatest length of the texts of a program together, in bytes: 64 MiB.
pub const MAX_TEXT_LEN: usize = 1 << 26;

/// A byte range `[start, end)` in the texts of a program. It lies within one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `[start, end)`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest range that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// As a range of byte indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Index of a file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl FileId {
    /// The program's own file.
    pub const MAIN: FileId = FileId(0);
}

/// Error of an import that names no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// The compiler has no text of this name.
    NoLibrary,
    /// A text of the compiler's own names a file.
    FileInLibrary,
    /// Files are not read here: the program is no file.
    NoFiles,
    /// The file cannot be read, with the reason.
    Unreadable(String),
    /// With it, the texts of the program would be longer than [`MAX_TEXT_LEN`].
    TooLong,
}

/// A text with its name and a table of line starts.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Offset of its beginning in all texts.
    start: u32,
    /// Number of lines of the texts before it.
    lines_before: u32,
    /// Byte offsets in this text where its lines begin.
    line_starts: Vec<u32>,
    /// The texts that it imports, by the path as written.
    pub(crate) imports: BTreeMap<String, Result<FileId, ImportError>>,
}

impl SourceFile {
    /// Name shown in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Position of its first byte among all texts.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Number of the line before its first one among the lines of all texts.
    pub fn lines_before(&self) -> u32 {
        self.lines_before
    }

    /// Byte offset in this text of the beginning of a line of it (from 1); `None` beyond the last.
    pub fn line_start(&self, line: u32) -> Option<u32> {
        self.line_starts.get((line as usize).checked_sub(1)?).copied()
    }

    /// The line, counted in this text from 1, of a byte offset in it. Cost: a binary search.
    pub fn own_line(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|&s| s <= offset) as u32
    }

    /// Looks up the text that an import path names; `None` if this text has no such import.
    pub fn import(&self, path: &str) -> Option<&Result<FileId, ImportError>> {
        self.imports.get(path)
    }

    fn line_text(&self, line: u32) -> &str {
        let Some(start) = self.line_start(line) else { return "" };
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |&e| e as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

/// The texts of a program: its own, and those that it imports.
#[derive(Clone, Debug)]
pub struct SourceMap {
    /// The program's own comes first.
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// One text, whatever it imports; `name` is what messages show.
    pub(crate) fn from_single_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut map = SourceMap { files: Vec::new() };
        map.push(name.into(), text.into());
        map
    }

    /// Puts a text behind the others; `None` if positions do not reach that far.
    pub(crate) fn add(&mut self, name: String, text: String) -> Option<FileId> {
        let last = self.files.last()?;
        let end = last.start as usize + last.text.len() + 1 + text.len();
        (end <= MAX_TEXT_LEN).then(|| self.push(name, text))
    }

    fn push(&mut self, name: String, text: String) -> FileId {
        // A byte lies between two texts, so that the end of one is not the beginning of the next.
        let start = self.files.last().map_or(0, |last| last.start + last.text.len() as u32 + 1);
        let lines_before = self.files.last().map_or(0, |last| last.lines_before + last.line_starts.len() as u32);
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        self.files.push(SourceFile { name, text, start, lines_before, line_starts, imports: BTreeMap::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// Says what a path in a file means.
    pub(crate) fn set_import(&mut self, file: FileId, path: String, meaning: Result<FileId, ImportError>) {
        self.files[file.0 as usize].imports.insert(path, meaning);
    }

    /// The same texts under other names.
    #[must_use]
    pub fn renamed(&self, mut name: impl FnMut(&str) -> String) -> SourceMap {
        let mut map = self.clone();
        map.files.iter_mut().for_each(|file| file.name = name(&file.name));
        map
    }

    /// Name of the program's own file.
    pub fn name(&self) -> &str {
        self.files[0].name()
    }

    /// The program's own text.
    pub fn text(&self) -> &str {
        self.files[0].text()
    }

    /// All files, the program's own first.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The files that the program imports, directly or through others.
    pub fn imported(&self) -> &[SourceFile] {
        &self.files[1..]
    }

    /// A file.
    ///
    /// # Panics
    /// If it belongs to another map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The file of a position; the last one for positions beyond it. Cost: a binary search.
    pub fn file_at(&self, offset: u32) -> FileId {
        FileId(self.files.partition_point(|file| file.start <= offset).max(1) as u32 - 1)
    }

    /// Line of a position, from 1, counted on from text to text. Cost: two binary searches.
    pub fn line(&self, offset: u32) -> u32 {
        let file = self.file(self.file_at(offset));
        file.lines_before + file.own_line(offset - file.start)
    }

    /// Line and column (in characters) of a position in its file, both from 1.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let file = self.file(self.file_at(offset));
        let offset = offset - file.start;
        let line = file.own_line(offset);
        let start = file.line_starts[line as usize - 1] as usize;
        let end = (offset as usize).min(file.text.len());
        let column = file.text.get(start..end).map_or(1, |s| s.chars().count() as u32 + 1);
        (line, column)
    }

    /// The file of a line that counts on from text to text, and the line in that file.
    pub fn file_and_line(&self, line: u32) -> (FileId, u32) {
        let index = self.files.partition_point(|file| file.lines_before < line).max(1) - 1;
        (FileId(index as u32), line - self.files[index].lines_before)
    }

    /// Text of a line (from 1, counted on from text to text) without its end; empty beyond the
    /// last.
    pub fn line_text(&self, line: u32) -> &str {
        let (file, line) = self.file_and_line(line);
        self.file(file).line_text(line)
    }

    /// The text of a range; `None` where it does not lie within one text.
    pub fn text_of(&self, span: Span) -> Option<&str> {
        let file = self.file(self.file_at(span.start));
        file.text.get((span.start - file.start) as usize..span.end.checked_sub(file.start)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ab\ncd` has bytes 0..5, a gap, then `é = 1\n\nx` from byte 6.
    fn two() -> SourceMap {
        let mut map = SourceMap::from_single_text("a", "ab\ncd");
        assert_eq!(map.add("b".into(), "\u{e9} = 1\n\nx".into()), Some(FileId(1)));
        map
    }

    #[test]
    fn positions_and_lines_count_on() {
        let map = two();
        assert_eq!(map.file_at(5), FileId::MAIN, "the end of the first text");
        assert_eq!(map.file_at(6), FileId(1));
        assert_eq!(map.file(FileId(1)).start(), 6);
        assert_eq!([0, 3, 5, 6, 13, 14, 90].map(|at| map.line(at)), [1, 2, 2, 3, 4, 5, 5]);
        assert_eq!(map.line_column(9), (1, 3), "after a letter of two bytes");
        assert_eq!(map.file_and_line(2), (FileId::MAIN, 2));
        assert_eq!(map.file_and_line(3), (FileId(1), 1));
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|line| map.line_text(line)), ["", "ab", "cd", "\u{e9} = 1", "", "x", ""]);
        assert_eq!(map.text_of(Span::new(6, 8)), Some("\u{e9}"));
        assert_eq!(map.text_of(Span::new(4, 7)), None, "over the end of a text");
    }

    #[test]
    fn texts_have_a_limit_together() {
        let mut map = two();
        assert_eq!(map.add("long".into(), " ".repeat(MAX_TEXT_LEN - 10)), None);
        assert_eq!(map.files().len(), 2);
    }
}
