//! Words of a deck, through the files that it includes.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::io::{Bytes, DataSource};

use crate::number::{line_and_column, parse_number, quoted};

/// Files that may be open in one another.
const MAX_OPEN_FILES: usize = 64;
/// Files that a deck may include in all, so that files that include others twice come to an end.
const MAX_FILES: usize = 10_000;
/// Values of a record that is no array.
const MAX_ITEMS: usize = 1000;

/// A place in a file of the deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeckPosition {
    file: usize,
    offset: usize,
}

/// A word, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub place: DeckPosition,
    end: usize,
    pub is_quoted: bool,
}

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// `n*`: as if nothing was said.
    Default,
    /// Anything else; its place is for messages.
    Text(String, DeckPosition),
}

struct File {
    path: PathBuf,
    bytes: Bytes,
}

/// The files of a deck as one text.
pub(super) struct Text<'a> {
    source: &'a DataSource,
    files: Vec<File>,
    /// Files that are open, and where the next word of each is.
    open: Vec<DeckPosition>,
    /// Folders by the names that PATHS gives them.
    paths: Vec<(String, String)>,
    /// True if a slash has just ended a record, so that the rest of its line is a remark.
    after_slash: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(source: &'a DataSource, path: &Path, bytes: Bytes) -> Text<'a> {
        let start = bytes.len() - crate::number::without_mark(&bytes).len();
        let files = vec![File { path: path.to_path_buf(), bytes }];
        Text { source, files, open: vec![DeckPosition { file: 0, offset: start }], paths: Vec::new(), after_slash: false }
    }

    /// An error at a place.
    pub(super) fn error(&self, place: DeckPosition, what: &str) -> Error {
        let file = &self.files[place.file];
        let (line, _) = line_and_column(&file.bytes, place.offset);
        Error::new(ErrorKind::Data, format!("{}:{line}: {what}", file.path.display()))
    }

    /// An error of the deck as a whole.
    pub(super) fn error_of_deck(&self, what: &str) -> Error {
        Error::new(ErrorKind::Data, format!("{}: {what}", self.files[0].path.display()))
    }

    /// The line of a place, for messages about another.
    pub(super) fn line(&self, place: DeckPosition) -> usize {
        line_and_column(&self.files[place.file].bytes, place.offset).0
    }

    pub(super) fn word(&self, word: Word) -> &[u8] {
        &self.files[word.place.file].bytes[word.place.offset..word.end]
    }

    fn is_line_start(&self, place: DeckPosition) -> bool {
        let before = &self.files[place.file].bytes[..place.offset];
        before.iter().rev().take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
    }

    /// The next word; a slash is one. `None` at the end of the file that is open.
    fn next_in_file(&mut self) -> Option<Word> {
        let here = self.open.last_mut()?;
        let bytes = &self.files[here.file].bytes[..];
        let mut at = here.offset;
        if std::mem::take(&mut self.after_slash) {
            at = end_of_line(bytes, at);
        }
        loop {
            match bytes.get(at) {
                None => {
                    here.offset = at;
                    return None;
                }
                Some(byte) if byte.is_ascii_whitespace() || *byte == b',' => at += 1,
                Some(b'-') if bytes.get(at + 1) == Some(&b'-') => at = end_of_line(bytes, at),
                Some(_) => break,
            }
        }
        let mut word = Word { place: DeckPosition { file: here.file, offset: at }, end: at + 1, is_quoted: false };
        match bytes[at] {
            b'/' => {
                here.offset = word.end;
                self.after_slash = true;
                return Some(word);
            }
            quote @ (b'\'' | b'"') => {
                let len = bytes[at + 1..].iter().position(|&byte| byte == quote || byte == b'\n').unwrap_or(bytes.len() - at - 1);
                word = Word { place: DeckPosition { file: here.file, offset: at + 1 }, end: at + 1 + len, is_quoted: true };
                here.offset = (word.end + 1).min(bytes.len());
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b',' | b'\'' | b'"');
                word.end = at + bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at);
                here.offset = word.end;
            }
        }
        Some(word)
    }

    /// Gives a word back, so that it comes again.
    fn give_back(&mut self, word: Word) {
        if let Some(here) = self.open.last_mut() {
            here.offset = word.place.offset - usize::from(word.is_quoted);
            self.after_slash = false;
        }
    }

    /// The next keyword. Stray slashes are left out, and files that have ended are closed.
    pub(super) fn next_keyword(&mut self) -> Result<Option<(String, DeckPosition)>, Error> {
        while !self.open.is_empty() {
            match self.next_in_file() {
                None => {
                    self.open.pop();
                    // The rest of the line behind the slash of INCLUDE.
                    self.after_slash = true;
                }
                Some(word) if !word.is_quoted && self.word(word) == b"/" => {}
                Some(word) => {
                    return match self.keyword(word) {
                        Some(name) => Ok(Some((name, word.place))),
                        None => Err(self.error(word.place, &format!("expected a keyword, found {}", quoted(self.word(word))))),
                    };
                }
            }
        }
        Ok(None)
    }

    fn keyword(&self, word: Word) -> Option<String> {
        let text = self.word(word);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'&');
        let fits = !word.is_quoted && text.len() <= 32 && text[0].is_ascii_alphabetic() && text.iter().all(is_name);
        fits.then(|| String::from_utf8_lossy(text).to_ascii_uppercase())
    }

    /// True if a word begins another keyword: then the slash before it is missing.
    fn begins_keyword(&self, word: Word) -> bool {
        self.keyword(word).is_some() && self.is_line_start(word.place)
    }

    fn no_slash(&self, keyword: &str, of: DeckPosition, found: Option<Word>) -> Error {
        let line = self.line(of);
        let what = match found {
            Some(word) => format!("expected the `/` that ends {keyword} of line {line}, found {}", quoted(self.word(word))),
            None => format!("expected the `/` that ends {keyword} of line {line}, found the end of the file"),
        };
        let place = found.map_or_else(|| self.open.last().copied().unwrap_or(of), |word| word.place);
        self.error(place, &what).hint("end the data of each keyword by a slash")
    }

    /// The values of a record of a keyword; none for the slash that ends a list of records.
    pub(super) fn record(&mut self, keyword: &str, of: DeckPosition) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        loop {
            let Some(word) = self.next_in_file() else { return Err(self.no_slash(keyword, of, None)) };
            let text = String::from_utf8_lossy(self.word(word)).into_owned();
            if word.is_quoted {
                items.push(Item::Text(text, word.place));
            } else if text == "/" {
                return Ok(items);
            } else if !items.is_empty() && self.begins_keyword(word) && super::table::find(&text.to_ascii_uppercase()).is_some() {
                return Err(self.no_slash(keyword, of, Some(word)));
            } else {
                let (n, value) = match text.split_once('*') {
                    Some((n, value)) if n.bytes().all(|byte| byte.is_ascii_digit()) && !n.is_empty() => (n.parse().ok(), value),
                    _ => (Some(1), &text[..]),
                };
                let Some(n) = n.filter(|&n: &usize| n > 0 && n <= MAX_ITEMS.saturating_sub(items.len())) else {
                    return Err(self.error(word.place, &format!("{keyword}: {}: more values than a record has", quoted(text.as_bytes()))));
                };
                let item = if value.is_empty() { Item::Default } else { Item::Text(value.to_string(), word.place) };
                items.extend(std::iter::repeat_n(item, n));
            }
        }
    }

    /// The numbers of a keyword, up to its slash.
    ///
    /// # Errors
    /// A word that is no number, `n*` without a value, and another count than `expected`.
    pub(super) fn numbers(&mut self, keyword: &str, of: DeckPosition, expected: usize) -> Result<Vec<f64>, Error> {
        let numbers = self.numbers_or_defaults(keyword, of, expected)?;
        if let Some(index) = numbers.iter().position(|number| number.is_nan()) {
            let place = self.place_of(of, index);
            return Err(self.error(place, &format!("{keyword}[{index}]: expected a number: there is no default")));
        }
        Ok(numbers)
    }

    /// As [`Text::numbers`]; NaN for what `n*` leaves as it is.
    pub(super) fn numbers_or_defaults(&mut self, keyword: &str, of: DeckPosition, expected: usize) -> Result<Vec<f64>, Error> {
        // A number takes two bytes at least, unless it is repeated.
        let left = self.open.last().map_or(0, |here| self.files[here.file].bytes.len() - here.offset);
        let mut numbers = Vec::with_capacity(expected.min(left / 2 + 1));
        loop {
            let Some(word) = self.next_in_file() else { return Err(self.no_slash(keyword, of, None)) };
            let text = self.word(word);
            if text == b"/" && !word.is_quoted {
                if numbers.len() == expected {
                    return Ok(numbers);
                }
                let what = format!("{keyword} of line {} has {} values: expected {expected}", self.line(of), numbers.len());
                return Err(self.error(word.place, &what));
            }
            let star = text.iter().position(|&byte| byte == b'*');
            let (n, value) = match star {
                Some(at) => (repeat_count(&text[..at]), &text[at + 1..]),
                None => (Some(1), text),
            };
            let value = if star.is_some() && value.is_empty() { Some(f64::NAN) } else { number(value) };
            let (Some(n), Some(value)) = (n, value) else {
                return Err(if self.begins_keyword(word) && !matches!(&text.to_ascii_lowercase()[..], b"nan" | b"inf" | b"infinity") {
                    self.no_slash(keyword, of, Some(word))
                } else {
                    self.error(word.place, &format!("{keyword}[{}]: {} is not a number", numbers.len(), quoted(text)))
                });
            };
            if n > expected - numbers.len() {
                let what = format!("{keyword} of line {} has more than {expected} values", self.line(of));
                return Err(self.error(word.place, &format!("{what}: expected its `/` before {}", quoted(text))));
            }
            if n == 1 {
                numbers.push(value);
            } else {
                numbers.resize(numbers.len() + n, value);
            }
        }
    }

    /// Position of a number of an array whose keyword is at `of`.
    pub(super) fn place_of(&mut self, of: DeckPosition, index: usize) -> DeckPosition {
        let open = std::mem::replace(&mut self.open, vec![of]);
        let after_slash = std::mem::take(&mut self.after_slash);
        let mut seen = 0;
        self.next_in_file();
        let mut found = of;
        while let Some(word) = self.next_in_file() {
            let text = self.word(word);
            let star = text.iter().position(|&byte| byte == b'*');
            seen = star.and_then(|at| repeat_count(&text[..at])).unwrap_or(1).saturating_add(seen);
            found = word.place;
            if seen > index || text == b"/" {
                break;
            }
        }
        (self.open, self.after_slash) = (open, after_slash);
        found
    }

    /// Leaves out the data of a keyword that is not read: up to the next keyword behind a slash.
    pub(super) fn skip(&mut self, keyword: &str, of: DeckPosition) -> Result<(), Error> {
        let mut is_ended = true;
        while let Some(word) = self.next_in_file() {
            if self.word(word) == b"/" && !word.is_quoted {
                is_ended = true;
            } else if is_ended && self.begins_keyword(word) {
                self.give_back(word);
                return Ok(());
            } else if super::table::find(&String::from_utf8_lossy(self.word(word)).to_ascii_uppercase()).is_some()
                && self.begins_keyword(word)
            {
                return Err(self.no_slash(keyword, of, Some(word)));
            } else {
                is_ended = false;
            }
        }
        if is_ended { Ok(()) } else { Err(self.no_slash(keyword, of, None)) }
    }

    /// Leaves out the rest of the line, which is a remark behind a keyword without data.
    pub(super) fn skip_rest_of_line(&mut self) {
        self.after_slash = true;
    }

    /// Leaves out everything up to the keyword that ends a block, and that keyword.
    ///
    /// # Errors
    /// If the file ends before.
    pub(super) fn skip_block(&mut self, keyword: &str, of: DeckPosition, end: &str) -> Result<(), Error> {
        let Some(here) = self.open.last_mut() else { return Ok(()) };
        let bytes = &self.files[here.file].bytes[..];
        let mut at = here.offset;
        while at < bytes.len() {
            at = (end_of_line(bytes, at) + 1).min(bytes.len());
            let line = &bytes[at..end_of_line(bytes, at)];
            let word = line.trim_ascii_start().split(|byte| byte.is_ascii_whitespace() || *byte == b'/').next().unwrap_or(b"");
            if word.eq_ignore_ascii_case(end.as_bytes()) {
                here.offset = end_of_line(bytes, at);
                return Ok(());
            }
        }
        let what = format!("expected the {end} that ends {keyword} of line {}, found the end of the file", self.line(of));
        Err(self.error(of, &what))
    }

    /// Ends an included file here; the deck itself goes on.
    pub(super) fn end_include(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
            self.after_slash = true;
        }
    }

    /// Goes on behind the next ends of lines.
    pub(super) fn skip_lines(&mut self, n: usize) {
        if let Some(here) = self.open.last_mut() {
            let bytes = &self.files[here.file].bytes[..];
            (0..n).for_each(|_| here.offset = (end_of_line(bytes, here.offset) + 1).min(bytes.len()));
        }
    }

    /// Numbers of a keyword that may be an array of cells: `None`, and it is left out, if it is
    /// something else.
    pub(super) fn perhaps_numbers(&mut self, keyword: &str, of: DeckPosition, expected: usize) -> Result<Option<Vec<f64>>, Error> {
        let numbers = self.perhaps_all(of, expected);
        if numbers.is_none() {
            self.skip(keyword, of)?;
        }
        Ok(numbers)
    }

    /// Numbers up to the slash if there are as many as `expected`; else nothing is read.
    pub(super) fn perhaps_all(&mut self, of: DeckPosition, expected: usize) -> Option<Vec<f64>> {
        let before = (self.open.last().copied(), self.after_slash);
        let numbers = self.numbers_or_defaults("", of, expected).ok();
        if let (None, Some(here), (Some(place), after_slash)) = (&numbers, self.open.last_mut(), before) {
            (*here, self.after_slash) = (place, after_slash);
        }
        numbers
    }

    /// Reads PATHS: names for folders.
    pub(super) fn read_paths(&mut self, of: DeckPosition) -> Result<(), Error> {
        loop {
            match &self.record("PATHS", of)?[..] {
                [] => return Ok(()),
                [Item::Text(alias, _), Item::Text(folder, _)] => self.paths.push((alias.clone(), folder.clone())),
                _ => return Err(self.error(of, "PATHS: expected a name and a folder, each in quotes")),
            }
        }
    }

    /// The name of a file, with the folder for its alias `$NAME`, and slashes between folders.
    fn without_alias(&self, name: &str) -> String {
        let mut name = name.replace('\\', "/");
        for (alias, folder) in &self.paths {
            name = name.replace(&format!("${alias}"), folder);
        }
        name
    }

    /// Goes on in another file, whose name is relative to the file that names it.
    pub(super) fn include(&mut self, of: DeckPosition) -> Result<(), Error> {
        let items = self.record("INCLUDE", of)?;
        let [Item::Text(name, place)] = &items[..] else {
            return Err(self.error(of, "INCLUDE: expected the name of one file in quotes"));
        };
        let folder = self.files[of.file].path.parent().unwrap_or(Path::new("")).to_path_buf();
        let path = folder.join(self.without_alias(name));
        if let Some(at) = self.open.iter().find(|open| self.files[open.file].path == path) {
            let what = if at.file == of.file { "the file includes itself".to_string() } else { format!("`{name}` includes this file") };
            return Err(self.error(*place, &format!("INCLUDE: {what}")));
        }
        if self.open.len() >= MAX_OPEN_FILES || self.files.len() >= MAX_FILES {
            return Err(self.error(*place, "INCLUDE: more files than a deck can have, which may include one another"));
        }
        let bytes = self.source.read(&path, "included file").map_err(|error| {
            let at = self.error(*place, &format!("INCLUDE: {}", error.message));
            Error { kind: error.kind, ..at }
        })?;
        self.files.push(File { path, bytes });
        self.open.push(DeckPosition { file: self.files.len() - 1, offset: 0 });
        self.after_slash = false;
        Ok(())
    }
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at)
}

fn repeat_count(digits: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|&n| n > 0)
}

/// A number, also with Fortran's exponents of double precision: `1.0D-3`.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    parse_number(word).ok().or_else(|| {
        let at = word.iter().position(|byte| matches!(byte, b'd' | b'D'))?;
        let mut word = word.to_vec();
        word[at] = b'e';
        parse_number(&word).ok()
    })
}

/// A number of a record, unless it is left out.
pub(super) fn number_of(text: &Text<'_>, keyword: &str, items: &[Item], at: usize) -> Result<Option<f64>, Error> {
    match items.get(at) {
        None | Some(Item::Default) => Ok(None),
        Some(Item::Text(word, place)) => {
            let number = number(word.as_bytes()).filter(|&number| number >= 0.0);
            let what = || format!("{keyword}: {} is not a number of 0 or more", quoted(word.as_bytes()));
            number.map(Some).ok_or_else(|| text.error(*place, &what()))
        }
    }
}
