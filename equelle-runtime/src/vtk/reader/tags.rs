//! Tags of an XML file, one after the other.

use std::path::Path;

use super::error::bad;
use crate::error::Error;
use crate::number::line_and_column;

/// A tag.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub name: String,
    attributes: Vec<(String, String)>,
    /// `</name>`
    pub is_end: bool,
    /// `<name/>`
    pub is_empty: bool,
    /// Byte offset of the first byte after it.
    pub end: usize,
}

impl Tag {
    /// The value of an attribute.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| &value[..])
    }
}

/// Tags of a text; comments and declarations are left out.
pub(super) struct Tags<'a> {
    path: &'a Path,
    text: &'a [u8],
    at: usize,
}

impl<'a> Tags<'a> {
    pub fn new(path: &'a Path, text: &'a [u8]) -> Tags<'a> {
        Tags { path, text, at: 0 }
    }

    /// The next tag.
    pub fn next(&mut self) -> Result<Option<Tag>, Error> {
        loop {
            let Some(start) = find(self.text, self.at, b"<") else { return Ok(None) };
            let rest = &self.text[start..];
            let end_of = |mark: &[u8]| find(self.text, start, mark).map(|end| end + mark.len());
            let skipped = if rest.starts_with(b"<!--") {
                end_of(b"-->")
            } else if rest.starts_with(b"<?") || rest.starts_with(b"<!") {
                end_of(b">")
            } else {
                let Some(tag) = parse(self.text, start + 1) else { return Err(self.not_closed(start)) };
                self.at = tag.end;
                return Ok(Some(tag));
            };
            self.at = skipped.ok_or_else(|| self.not_closed(start))?;
        }
    }

    fn not_closed(&self, start: usize) -> Error {
        let (line, column) = line_and_column(self.text, start);
        bad(self.path, &format!("the tag at line {line}, column {column} is damaged or does not end"))
    }
}

/// Offset of the first occurrence of a mark at or after `from`.
pub(super) fn find(text: &[u8], from: usize, mark: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(mark.len()).position(|window| window == mark).map(|at| at + from)
}

/// A tag whose name begins at an offset.
fn parse(text: &[u8], start: usize) -> Option<Tag> {
    let mut at = start;
    let word = |at: &mut usize| {
        let from = *at;
        while text.get(*at).is_some_and(|&byte| !byte.is_ascii_whitespace() && !b"<>/=\"'".contains(&byte)) {
            *at += 1;
        }
        std::str::from_utf8(&text[from..*at]).ok().filter(|word| !word.is_empty()).map(str::to_owned)
    };
    let blanks = |at: &mut usize| {
        while text.get(*at).is_some_and(u8::is_ascii_whitespace) {
            *at += 1;
        }
    };
    let is_end = text.get(at) == Some(&b'/');
    at += usize::from(is_end);
    let mut tag = Tag { name: word(&mut at)?, attributes: Vec::new(), is_end, is_empty: false, end: 0 };
    loop {
        blanks(&mut at);
        match text.get(at)? {
            b'>' => {
                tag.end = at + 1;
                return Some(tag);
            }
            b'/' if text.get(at + 1) == Some(&b'>') => {
                (tag.is_empty, tag.end) = (true, at + 2);
                return Some(tag);
            }
            _ => {}
        }
        let name = word(&mut at)?;
        blanks(&mut at);
        if text.get(at) != Some(&b'=') {
            return None;
        }
        at += 1;
        blanks(&mut at);
        let quote = *text.get(at).filter(|quote| b"\"'".contains(quote))?;
        let value_end = at + 1 + text.get(at + 1..)?.iter().position(|&byte| byte == quote)?;
        let value = std::str::from_utf8(&text[at + 1..value_end]).ok()?;
        tag.attributes.push((name, unescaped(value)));
        at = value_end + 1;
    }
}

/// An attribute value whose character references are replaced.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut value = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.split_once(';').and_then(|(mark, rest)| {
            let c = match mark {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                _ => {
                    let digits = mark.strip_prefix('#')?;
                    let number = match digits.strip_prefix('x') {
                        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                        None => digits.parse().ok()?,
                    };
                    char::from_u32(number)?
                }
            };
            Some((c, rest))
        });
        match known {
            Some((c, rest)) => {
                value.push(c);
                value.push_str(rest);
            }
            None => {
                value.push('&');
                value.push_str(part);
            }
        }
    }
    value
}
