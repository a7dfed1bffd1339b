//! Names in the text form.
//!
//! Names of values, mutables and sets need not be unique in a module. In the text the k-th bearer
//! of a name that several share is written `name.k`; temporaries, which have no name, are numbered.
//! A name that is no word, or is a reserved one, stands in backquotes.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A name as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// The user's name, or the digits of a temporary.
    pub base: String,
    /// Which of those that share it.
    pub copy: Option<u32>,
    /// True if it stands in backquotes; then it is never a keyword.
    pub quoted: bool,
}

impl Name {
    fn is_temporary(&self) -> bool {
        !self.quoted && self.base.chars().all(|c| c.is_ascii_digit())
    }

    /// Returns the key that distinguishes bearers.
    pub fn key(&self) -> (String, Option<u32>) {
        let number = if self.is_temporary() { self.base.parse().ok() } else { self.copy };
        (self.user().to_owned(), number)
    }

    /// The user's name; empty for temporaries.
    pub fn user(&self) -> &str {
        if self.is_temporary() { "" } else { &self.base }
    }
}

/// Words that are no names of parameters and locals in kernels unless in backquotes.
pub(super) const RESERVED: [&str; 11] = ["here", "empty", "true", "false", "inf", "yield", "sum", "largest", "smallest", "if", "add"];

/// The name as the text has it.
pub(super) fn write_name(name: &str) -> String {
    let word =
        name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) && name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    if word && !RESERVED.contains(&name) { name.to_owned() } else { escape(name, '`') }
}

/// The text in quotes.
pub(super) fn escape(text: &str, quote: char) -> String {
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Gives each item of a list its name in the text; an empty name makes a temporary.
pub(super) fn unique_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let mut bearers: BTreeMap<&str, u32> = BTreeMap::new();
    for name in &names {
        *bearers.entry(name).or_default() += 1;
    }
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    names
        .into_iter()
        .map(|name| {
            let k = seen.entry(name).or_default();
            *k += 1;
            match (name, bearers[name]) {
                ("", _) => (*k - 1).to_string(),
                (name, 1) => write_name(name),
                (name, _) => format!("{}.{k}", write_name(name)),
            }
        })
        .collect()
}
