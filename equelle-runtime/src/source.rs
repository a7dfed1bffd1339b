//! The Equelle source of a generated program, for messages.

use std::sync::Arc;

use crate::hash::StableHash;

/// Name and text of the program, and of what it imports. Lines count on from text to text.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// File name as given to the compiler (no directory).
    pub file: Arc<str>,
    /// Whole text.
    pub text: Arc<str>,
    /// The texts that it imports, in the order of their lines.
    pub imports: Vec<ImportedSource>,
}

/// A text that a program imports.
#[derive(Clone, Debug, Default)]
pub struct ImportedSource {
    /// Its file, as seen from the program's folder, or its name in the compiler's library.
    pub file: Arc<str>,
    /// Whole text.
    pub text: Arc<str>,
}

impl Source {
    /// Text of a line, from 1, without blanks at its ends; empty if there is no such line.
    pub fn line(&self, line: u32) -> &str {
        let (_, text, line) = self.find(line);
        text.lines().nth((line as usize).wrapping_sub(1)).unwrap_or("").trim()
    }

    /// The file of a line, and the line in it.
    pub fn file_and_line(&self, line: u32) -> (&Arc<str>, u32) {
        let (file, _, line) = self.find(line);
        (file, line)
    }

    /// `line 12`, or `line 3 of limiters.equelle` in a text that the program imports.
    pub fn shown(&self, line: u32) -> String {
        match self.file_and_line(line) {
            (_, own) if own == line => format!("line {line}"),
            (file, line) => format!("line {line} of {file}"),
        }
    }

    /// Hash of all texts, in hexadecimal digits.
    pub fn hash(&self) -> String {
        let own = StableHash::default().bytes(self.text.as_bytes());
        self.imports.iter().fold(own, |hash, import| hash.text(&import.file).text(&import.text)).digits()
    }

    /// Each imported file, with the number of its first line.
    pub fn imported(&self) -> impl Iterator<Item = (&Arc<str>, u32)> {
        let mut before = lines(&self.text);
        self.imports.iter().map(move |import| {
            let first = before + 1;
            before += lines(&import.text);
            (&import.file, first)
        })
    }

    fn find(&self, line: u32) -> (&Arc<str>, &Arc<str>, u32) {
        let mut found = (&self.file, &self.text, line);
        for ((file, first), import) in self.imported().zip(&self.imports) {
            if line >= first {
                found = (file, &import.text, line - first + 1);
            }
        }
        found
    }
}

/// Number of lines as the compiler counts them: one more than line ends.
fn lines(text: &str) -> u32 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(file: &str, text: &str) -> ImportedSource {
        ImportedSource { file: file.into(), text: text.into() }
    }

    fn texts() -> Source {
        Source {
            file: "p.equelle".into(),
            text: "a = 1\nb = 2\n".into(),
            imports: vec![imported("q.equelle", "c = 3"), imported("equelle:r", "\n  d = 4\n")],
        }
    }

    #[test]
    fn lines_count_on_from_text_to_text() {
        let texts = texts();
        let file_and_line = |line| {
            let (file, own) = texts.file_and_line(line);
            (&**file, own)
        };
        // Three lines, the last one empty; one line; three lines.
        let all: Vec<_> = (1..=7).map(|line| (file_and_line(line), texts.line(line))).collect();
        let expected = [
            (("p.equelle", 1), "a = 1"),
            (("p.equelle", 2), "b = 2"),
            (("p.equelle", 3), ""),
            (("q.equelle", 1), "c = 3"),
            (("equelle:r", 1), ""),
            (("equelle:r", 2), "d = 4"),
            (("equelle:r", 3), ""),
        ];
        assert_eq!(all, expected);
        assert_eq!([texts.shown(2), texts.shown(6)], ["line 2", "line 2 of equelle:r"]);
        let imported: Vec<_> = texts.imported().map(|(file, first)| (&**file, first)).collect();
        assert_eq!(imported, [("q.equelle", 4), ("equelle:r", 5)]);
    }

    #[test]
    fn the_hash_knows_every_text() {
        let texts = texts();
        let with = |imports: &[ImportedSource]| Source { imports: imports.to_vec(), ..texts.clone() };
        let alone = with(&[]);
        assert_eq!(alone.hash(), StableHash::default().bytes(texts.text.as_bytes()).digits(), "as before there were imports");
        let changed = with(&[imported("q.equelle", "c = 4")]);
        let shorter = with(&texts.imports[..1]);
        let hashes = std::collections::BTreeSet::from([alone.hash(), texts.hash(), changed.hash(), shorter.hash()]);
        assert_eq!(hashes.len(), 4);
    }
}
