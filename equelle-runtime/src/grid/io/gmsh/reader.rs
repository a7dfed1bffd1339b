//! Numbers and sections of a file, as text or binary.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::number::{NumberError, Word, Words, line_and_column, parse_integer, parse_number, quoted};

/// Versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V22,
    V41,
}

/// Encoding of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    /// With bytes in the other order than those of this machine, and with counts of 4 or 8 bytes.
    Binary {
        swapped: bool,
        size: usize,
    },
}

/// Reads a file from its beginning to its end.
pub(super) struct Reader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
    section: &'a str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Reader<'a> {
        Reader { path, bytes, at: 0, encoding: Encoding::Text, section: "MeshFormat" }
    }

    /// An error where reading has arrived.
    pub(super) fn error(&self, what: &str) -> Error {
        self.error_at(self.at, what)
    }

    /// An error at a byte, named by line in a text.
    pub(super) fn error_at(&self, at: usize, what: &str) -> Error {
        let (path, section) = (self.path.display(), self.section);
        let section = if section.is_empty() { String::new() } else { format!(" ${section}:") };
        let message = match self.encoding {
            Encoding::Text => format!("{path}:{}:{section} {what}", line_and_column(self.bytes, at).0),
            Encoding::Binary { .. } => format!("{path}: byte {at}:{section} {what}"),
        };
        Error::new(ErrorKind::Data, message)
    }

    /// An error about the whole file.
    pub(super) fn error_of_file(&self, what: &str) -> Error {
        Error::new(ErrorKind::Data, format!("{}: {what}", self.path.display()))
    }

    /// Offset of the next item.
    pub(super) fn next_item(&mut self) -> usize {
        if self.is_text() {
            self.skip_blanks();
        }
        self.at
    }

    pub(super) fn go_to(&mut self, at: usize, section: &'a str) {
        (self.at, self.section) = (at, section);
    }

    pub(super) fn is_text(&self) -> bool {
        self.encoding == Encoding::Text
    }

    /// The tag of an element that begins at a byte.
    pub(super) fn tag_at(&self, version: Version, at: usize) -> Option<u64> {
        let mut reader = Reader { at, ..*self };
        match version {
            Version::V22 => reader.int("a tag").ok().map(|tag| tag as u64),
            Version::V41 => reader.size("a tag").ok(),
        }
    }

    fn skip_blanks(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
    }

    /// Passes blanks, also in a binary file, where lines of text follow.
    pub(super) fn next_line(&mut self) {
        self.skip_blanks();
    }

    /// Bytes up to the end of the line, which is passed.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&byte| byte == b'\n');
        self.at += len.map_or(rest.len(), |len| len + 1);
        rest[..len.unwrap_or(rest.len())].trim_ascii()
    }

    /// The section that begins here; `None` at the end of the file.
    pub(super) fn next_section(&mut self) -> Result<Option<&'a str>, Error> {
        self.section = "";
        self.skip_blanks();
        let start = self.at;
        if start == self.bytes.len() {
            return Ok(None);
        }
        let line = self.rest_of_line();
        let name = line.strip_prefix(b"$").and_then(|name| std::str::from_utf8(name).ok());
        match name.filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            Some(name) => {
                self.section = name;
                Ok(Some(name))
            }
            None => Err(self.error_at(start, &format!("expected the beginning of a section, such as $Nodes, found {}", quoted(line)))),
        }
    }

    pub(super) fn end_section(&mut self, name: &str) -> Result<(), Error> {
        self.skip_blanks();
        let start = self.at;
        let line = self.rest_of_line();
        let is_end = line.strip_prefix(b"$End").is_some_and(|end| end == name.as_bytes());
        let found = if line.is_empty() { "the end of the file".to_string() } else { quoted(line) };
        if is_end { Ok(()) } else { Err(self.error_at(start, &format!("expected $End{name}, found {found}"))) }
    }

    pub(super) fn skip_section(&mut self, name: &str) -> Result<(), Error> {
        let end = format!("$End{name}");
        let rest = &self.bytes[self.at..];
        let starts_line = |at: usize| at == 0 || rest[at - 1] == b'\n';
        // A search for the first byte, as sections of data may be long.
        let mut from = 0;
        while let Some(found) = rest[from..].iter().position(|&byte| byte == b'$') {
            from += found;
            if starts_line(from) && rest[from..].starts_with(end.as_bytes()) {
                self.at += from + end.len();
                return Ok(());
            }
            from += 1;
        }
        Err(self.error_at(self.bytes.len(), &format!("expected {end}, found the end of the file")))
    }

    /// The first section, `$MeshFormat`, which decides how the others are read. Only comments may
    /// stand before it.
    pub(super) fn format(&mut self) -> Result<Version, Error> {
        while let Some(section) = self.next_section()? {
            match section {
                "MeshFormat" => return self.read_format(),
                "Comments" => self.skip_section(section)?,
                _ => break,
            }
        }
        self.section = "";
        Err(self.error_at(0, "expected $MeshFormat as the first section"))
    }

    fn read_format(&mut self) -> Result<Version, Error> {
        let word = self.word("the version")?;
        // The numbers of versions 2 to 2.2 have one meaning here; some programs write 2.200000.
        let version = match parse_number(word.bytes) {
            Ok(2.0..=2.2) => Version::V22,
            Ok(4.1) => Version::V41,
            Ok(_) | Err(_) => {
                let error = self.error_at(word.offset, &format!("expected version 2 to 2.2 or 4.1, found {}", quoted(word.bytes)));
                return Err(error.hint("save the mesh as MSH 4.1, as by `gmsh old.msh -save -format msh41 -o new.msh`"));
            }
        };
        let is_binary = match self.int("the file type")? {
            0 => false,
            1 => true,
            other => return Err(self.error(&format!("expected file type 0 (text) or 1 (binary), found {other}"))),
        };
        let size = match (self.int("the data size")?, version) {
            (8, _) => 8,
            (4, Version::V41) => 4,
            (other, Version::V41) => return Err(self.error(&format!("expected data size 4 or 8, found {other}"))),
            (other, Version::V22) => return Err(self.error(&format!("expected data size 8, found {other}"))),
        };
        if is_binary {
            self.rest_of_line();
            let start = self.at;
            let one = self.take::<4>("the number 1, which shows the order of bytes")?;
            let swapped = match u32::from_ne_bytes(one) {
                1 => false,
                0x0100_0000 => true,
                other => {
                    self.encoding = Encoding::Binary { swapped: false, size };
                    return Err(self.error_at(start, &format!("expected the number 1, which shows the order of bytes, found {other}")));
                }
            };
            self.encoding = Encoding::Binary { swapped, size };
        }
        self.end_section("MeshFormat")?;
        Ok(version)
    }

    /// A word of a text.
    pub(super) fn word(&mut self, item: &str) -> Result<Word<'a>, Error> {
        let mut words = Words::from_offset(self.bytes, self.at);
        let Some(word) = words.next() else {
            return Err(self.error_at(self.bytes.len(), &format!("expected {item}, found the end of the file")));
        };
        self.at = words.offset();
        Ok(word)
    }

    fn take<const N: usize>(&mut self, item: &str) -> Result<[u8; N], Error> {
        match self.bytes[self.at..].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.error_at(self.bytes.len(), &format!("expected {item}, found the end of the file"))),
        }
    }

    fn take_in_order<const N: usize>(&mut self, item: &str, swapped: bool) -> Result<[u8; N], Error> {
        let mut bytes = self.take::<N>(item)?;
        if swapped {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// A whole number, and where it begins.
    fn integer_of_text(&mut self, item: &str) -> Result<(i64, usize), Error> {
        let word = self.word(item)?;
        parse_integer(word.bytes).map(|value| (value, word.offset)).map_err(|error| {
            let found = match error {
                NumberError::NotANumber => quoted(word.bytes),
                NumberError::OutOfRange => format!("{}, which does not fit in 64 bits", quoted(word.bytes)),
            };
            self.error_at(word.offset, &format!("expected {item} (a whole number), found {found}"))
        })
    }

    /// A number of type `int`, of 32 bits.
    pub(super) fn int(&mut self, item: &str) -> Result<i32, Error> {
        match self.encoding {
            Encoding::Text => {
                let (value, start) = self.integer_of_text(item)?;
                i32::try_from(value).map_err(|_| self.error_at(start, &format!("expected {item} (a number of 32 bits), found {value}")))
            }
            Encoding::Binary { swapped, .. } => Ok(i32::from_ne_bytes(self.take_in_order(item, swapped)?)),
        }
    }

    /// A number of type `size_t`.
    pub(super) fn size(&mut self, item: &str) -> Result<u64, Error> {
        match self.encoding {
            Encoding::Text => {
                let (value, start) = self.integer_of_text(item)?;
                u64::try_from(value).map_err(|_| self.error_at(start, &format!("expected {item}, found {value}, which is negative")))
            }
            Encoding::Binary { swapped, size: 4 } => Ok(u64::from(u32::from_ne_bytes(self.take_in_order(item, swapped)?))),
            Encoding::Binary { swapped, .. } => Ok(u64::from_ne_bytes(self.take_in_order(item, swapped)?)),
        }
    }

    /// A number of type `double`, finite.
    pub(super) fn real(&mut self, item: &str) -> Result<f64, Error> {
        match self.encoding {
            Encoding::Text => {
                let word = self.word(item)?;
                parse_number(word.bytes).map_err(|error| {
                    let what = match error {
                        NumberError::NotANumber => "",
                        NumberError::OutOfRange => ", which is too large",
                    };
                    self.error_at(word.offset, &format!("expected {item} (a finite number), found {}{what}", quoted(word.bytes)))
                })
            }
            Encoding::Binary { swapped, .. } => {
                let start = self.at;
                let value = f64::from_ne_bytes(self.take_in_order(item, swapped)?);
                if value.is_finite() {
                    Ok(value)
                } else {
                    Err(self.error_at(start, &format!("expected {item} (a finite number), found {value}")))
                }
            }
        }
    }

    /// Passes a number of type `double` that is not used, whatever its value.
    pub(super) fn skip_real(&mut self, item: &str) -> Result<(), Error> {
        match self.encoding {
            Encoding::Text => self.word(item).map(drop),
            Encoding::Binary { swapped, .. } => self.take_in_order::<8>(item, swapped).map(drop),
        }
    }

    /// A count that stands as text in binary files of version 2.2 as well.
    pub(super) fn count_in_text(&mut self, item: &str) -> Result<u64, Error> {
        let encoding = std::mem::replace(&mut self.encoding, Encoding::Text);
        let count = self.size(item);
        self.encoding = encoding;
        if encoding != Encoding::Text {
            self.rest_of_line();
        }
        count
    }

    /// Reads a section that is text in binary files of version 2.2 as well.
    pub(super) fn in_text<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let encoding = std::mem::replace(&mut self.encoding, Encoding::Text);
        let found = read(self);
        self.encoding = encoding;
        found
    }

    /// True if the text goes on with this word.
    pub(super) fn next_word_is(&mut self, word: &str) -> bool {
        self.skip_blanks();
        self.bytes[self.at..].starts_with(word.as_bytes())
    }

    /// `count` as a length of an array, if that many items can be in the rest of the file: an item
    /// has some numbers of type `int`, `size_t` and `double`, each at least a digit and a blank in
    /// a text.
    pub(super) fn checked(&self, count: u64, item: &str, [ints, sizes, reals]: [usize; 3]) -> Result<usize, Error> {
        let each = match self.encoding {
            Encoding::Text => 2 * (ints + sizes + reals),
            Encoding::Binary { size, .. } => 4 * ints + size * sizes + 8 * reals,
        };
        let left = self.bytes.len() - self.at;
        usize::try_from(count).ok().filter(|count| count.checked_mul(each).is_some_and(|bytes| bytes <= left)).ok_or_else(|| {
            let what = format!("expected {count} {item} of at least {each} bytes each, found {left} bytes up to the end of the file");
            self.error(&what).hint("the file is cut off, or the number is wrong")
        })
    }
}
