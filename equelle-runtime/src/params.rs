//! Parameters from the command line and from parameter files.
//!
//! Words are `file.param` or `key=value`. Files are read first, in order, then assignments, in
//! order; later values win, with a warning where both are in one file. In a file: one `key=value` a
//! line, blanks around key and value dropped, blank lines skipped, `//` starts a comment anywhere
//! and `#` at the start of a line or after a blank. A file name is relative to the parameter file
//! with it, or to the working directory if given on the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::data_array::DataArray;
use crate::error::{Error, ErrorKind};
use crate::io::DataSource;
use crate::number::{NumberError, parse_integer, parse_number, parse_truth, without_mark};

/// The origin of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// On the command line.
    CommandLine,
    /// An argument of a call.
    Argument,
    /// In a parameter file.
    File {
        /// The path as given.
        path: PathBuf,
        /// From 1.
        line: u32,
    },
}

impl Origin {
    /// True if it replaces what parameter files give.
    pub fn replaces_files(&self) -> bool {
        match self {
            Origin::CommandLine | Origin::Argument => true,
            Origin::File { .. } => false,
        }
    }

    fn is_in(&self, file: &Path) -> bool {
        match self {
            Origin::CommandLine | Origin::Argument => false,
            Origin::File { path, .. } => path == file,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::CommandLine => f.write_str("command line"),
            Origin::Argument => f.write_str("argument"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
        }
    }
}

#[derive(Debug)]
struct Entry {
    /// As given; the description of an array.
    value: String,
    array: Option<DataArray>,
    origin: Origin,
    used: AtomicBool,
}

/// All parameters of a run, and which of them were read.
#[derive(Debug, Default)]
pub struct Parameters {
    entries: BTreeMap<String, Entry>,
    /// Source of parameter files and of all files that parameters name.
    source: DataSource,
    /// Warnings for values that a later line of the same file replaces.
    replaced: Vec<String>,
}

impl Parameters {
    /// From command-line words; reads the parameter files among them.
    ///
    /// # Errors
    /// `Usage` for a word that is neither, `Io` for a file that cannot be read, `Data` for a
    /// malformed line (with file and line).
    pub fn from_words(words: &[String]) -> Result<Parameters, Error> {
        Parameters::from_words_in(DataSource::Files, words)
    }

    /// The same; parameter files, and the files that parameters name, come from a source.
    ///
    /// # Errors
    /// As [`Parameters::from_words`].
    pub fn from_words_in(source: DataSource, words: &[String]) -> Result<Parameters, Error> {
        let mut parameters = Parameters { source, ..Parameters::default() };
        let mut assignments = Vec::new();
        for (index, word) in words.iter().enumerate() {
            match word.matches('=').count() {
                0 if is_parameter_file(word) => parameters.read_file(Path::new(word))?,
                0 => {
                    return Err(Error::new(ErrorKind::Usage, format!("`{word}` is neither a parameter file nor key=value"))
                        .hint(hint_of_word(words, index)));
                }
                _ => assignments.push(word),
            }
        }
        for word in assignments {
            let (key, value) =
                split_assignment(word).map_err(|what| Error::new(ErrorKind::Usage, format!("`{word}` on the command line: {what}")))?;
            parameters.insert(key, value, Origin::CommandLine);
        }
        Ok(parameters)
    }

    /// Reads a parameter file; its values replace those already there.
    ///
    /// # Errors
    /// `Io` if it cannot be read, `Data` for a malformed line.
    pub fn read_file(&mut self, path: &Path) -> Result<(), Error> {
        let bytes = self.source.read(path, "parameter file")?;
        self.read_text(path, &bytes)
    }

    /// Reads the text of a parameter file; `path` is for messages and for file names relative to
    /// it.
    ///
    /// # Errors
    /// `Data` for a malformed line.
    pub fn read_text(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        for (index, line) in without_mark(bytes).split(|&b| b == b'\n').enumerate() {
            let number = index as u32 + 1;
            let malformed = |what: &str| {
                Error::new(ErrorKind::Data, format!("{}:{number}: {what}", path.display()))
                    .hint("a line is `key=value`, such as `nx = 50`, a comment or blank")
            };
            let line = std::str::from_utf8(line).map_err(|_| malformed("not UTF-8 text"))?;
            let line = without_comment(line).trim();
            if line.is_empty() {
                continue;
            }
            let (key, value) = split_assignment(line).map_err(|what| malformed(&format!("`{line}`: {what}")))?;
            let origin = Origin::File { path: path.to_path_buf(), line: number };
            if let Some(before) = self.entries.get(key).filter(|before| before.origin.is_in(path) && before.value != value) {
                self.replaced
                    .push(format!("parameter `{key}={}` ({}) is replaced in line {number}: `{key}={value}`", before.value, before.origin));
            }
            self.insert(key, value, origin);
        }
        Ok(())
    }

    /// Where the files that parameters name come from.
    pub fn source(&self) -> &DataSource {
        &self.source
    }

    /// Sets a parameter as if on the command line.
    pub fn set(&mut self, key: &str, value: &str) {
        self.insert(key, value, Origin::CommandLine);
    }

    /// Sets a parameter as an argument of a call.
    pub fn set_argument(&mut self, key: &str, value: &str) {
        self.insert(key, value, Origin::Argument);
    }

    /// Gives the input of a name an array, as an argument of a call.
    pub fn set_array(&mut self, name: &str, array: DataArray) {
        let entry = Entry { value: array.to_string(), array: Some(array), origin: Origin::Argument, used: AtomicBool::new(false) };
        self.entries.insert(name.to_owned(), entry);
    }

    /// The array of an input, if one is given.
    pub fn array(&self, name: &str) -> Option<&DataArray> {
        self.entries.get(name).and_then(|entry| entry.array.as_ref()).inspect(|_| {
            self.entry(name);
        })
    }

    /// True if an array is given under a name. Does not count as reading it.
    pub fn has_array(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.array.is_some())
    }

    fn insert(&mut self, key: &str, value: &str, origin: Origin) {
        let entry = Entry { value: value.to_string(), array: None, origin, used: AtomicBool::new(false) };
        self.entries.insert(key.to_string(), entry);
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        let entry = self.entries.get(key)?;
        entry.used.store(true, Ordering::Relaxed);
        Some(entry)
    }

    /// True if a parameter was given. Does not count as reading it.
    pub fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// All keys, ascending.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// All parameters with their values and origins, by key. Does not count as reading them.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str, &Origin)> {
        self.entries.iter().map(|(key, entry)| (key.as_str(), entry.value.as_str(), &entry.origin))
    }

    /// The origin of a parameter.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.entries.get(key).map(|entry| &entry.origin)
    }

    /// The origin of a parameter for messages, ` (case.param:3)`; empty if it is not given.
    pub fn place(&self, key: &str) -> String {
        self.origin(key).map(|origin| format!(" ({origin})")).unwrap_or_default()
    }

    /// A parameter as given, with its origin, for messages: `` `nx=4` (command line)``.
    pub fn shown(&self, key: &str) -> String {
        let value = self.entries.get(key).map_or("", |entry| &entry.value);
        format!("`{key}={value}`{}", self.place(key))
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.entry(key).map(|entry| entry.value.as_str())
    }

    /// A real number.
    ///
    /// # Errors
    /// `Data` if it is not one; with key, file and line.
    pub fn number(&self, key: &str) -> Result<Option<f64>, Error> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        parse_number(entry.value.as_bytes()).map(Some).map_err(|fault| wrong_type(key, entry, fault, "a number", "0.5"))
    }

    /// Numbers separated by commas or blanks, at least one.
    ///
    /// # Errors
    /// `Data` if one is not a number, or there is none; with key, file and line.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let words = entry.value.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        let wrong = |fault| wrong_type(key, entry, fault, "numbers separated by commas", "1, 0.5");
        let numbers = words.map(|word| parse_number(word.as_bytes())).collect::<Result<Vec<f64>, _>>().map_err(wrong)?;
        if numbers.is_empty() { Err(wrong(NumberError::NotANumber)) } else { Ok(Some(numbers)) }
    }

    /// A truth value of data: `true`, `1`, `false` or `0`.
    ///
    /// # Errors
    /// `Data` if it is neither; with key, file and line.
    pub fn truth(&self, key: &str) -> Result<Option<bool>, Error> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let truth = parse_truth(entry.value.as_bytes());
        truth.map(Some).ok_or_else(|| wrong_type(key, entry, NumberError::NotANumber, "`true`, `1`, `false` or `0`", "true"))
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    /// `Data` if it is not one; with key, file and line.
    pub fn integer(&self, key: &str) -> Result<Option<usize>, Error> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let wrong = |fault| wrong_type(key, entry, fault, "a whole number, 0 or more", "10");
        let value = parse_integer(entry.value.as_bytes()).map_err(wrong)?;
        usize::try_from(value).map(Some).map_err(|_| wrong(NumberError::NotANumber))
    }

    /// `true` or `false`; also `yes` and `no`, `1` and `0`, in capitals or not.
    ///
    /// # Errors
    /// `Data` if it is neither; with key, file and line.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let flag = parse_truth(entry.value.as_bytes());
        flag.map(Some).ok_or_else(|| wrong_type(key, entry, NumberError::NotANumber, "`true` or `false`", "true"))
    }

    /// A file name, relative to the parameter file that gave it.
    ///
    /// # Errors
    /// `Data` if it is empty.
    pub fn path(&self, key: &str) -> Result<Option<PathBuf>, Error> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        if entry.value.is_empty() {
            return Err(wrong_type(key, entry, NumberError::NotANumber, "a file name", "data.txt"));
        }
        Ok(Some(match &entry.origin {
            Origin::CommandLine | Origin::Argument => PathBuf::from(&entry.value),
            Origin::File { path, .. } => path.parent().unwrap_or(Path::new("")).join(&entry.value),
        }))
    }

    /// Warnings for values that a later line of the same file replaces.
    pub fn replaced(&self) -> &[String] {
        &self.replaced
    }

    /// A warning for each unknown parameter; `near` returns the key that is probably meant.
    pub fn unknown(&self, is_known: impl Fn(&str) -> bool, near: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let unknown = self.entries.iter().filter(|(key, _)| !is_known(key));
        let warning = |(key, entry): (&String, &Entry)| {
            let meant = near(key).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("parameter `{key}` ({}) is not used: this program has no input of that name{meant}", entry.origin)
        };
        unknown.map(warning).collect()
    }

    /// Keys that were not read, ascending.
    pub fn unread(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, e)| !e.used.load(Ordering::Relaxed)).map(|(key, _)| key.as_str())
    }

    /// The given but unread key most similar to a missing one.
    pub fn near_unused(&self, missing: &str) -> Option<&str> {
        near_match(missing, self.unread())
    }
}

/// The error of a value that is not what is expected; the hint has the key with an example.
fn wrong_type(key: &str, entry: &Entry, fault: NumberError, expected: &str, example: &str) -> Error {
    let what = match fault {
        NumberError::NotANumber => format!("must be {expected}, not `{}`", entry.value),
        NumberError::OutOfRange => format!("`{}` is beyond the range of numbers", entry.value),
    };
    Error::new(ErrorKind::Data, format!("parameter `{key}` ({}) {what}", entry.origin)).hint(format!("such as `{key}={example}`"))
}

/// The hint for a word that is no assignment, by the words beside it.
fn hint_of_word(words: &[String], index: usize) -> String {
    let at = |index: usize| words.get(index).map_or("", String::as_str);
    let (before, word, next) = (index.checked_sub(1).map_or("", at), at(index), at(index + 1));
    let without_blanks = |text: String| format!("an assignment is one word, without blanks: `{text}`");
    if next == "=" {
        return without_blanks(format!("{word}={}", at(index + 2)));
    }
    if next.starts_with('=') {
        return without_blanks(format!("{word}{next}"));
    }
    if before.ends_with('=') {
        return without_blanks(format!("{before}{word}"));
    }
    if before.contains('=') {
        return format!("where the value before has a blank, quote the word for the shell: `'{before} {word}'`");
    }
    "the name of a parameter file ends in `.param`; a parameter is given as `nx=50`".to_owned()
}

/// True if the extension of a file name is `param`; a name without a dot is its own extension.
fn is_parameter_file(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.rsplit('.').next() == Some("param")
}

fn without_comment(line: &str) -> &str {
    let mut end = line.find("//").unwrap_or(line.len());
    for (at, _) in line[..end].match_indices('#') {
        if at == 0 || line[..at].ends_with([' ', '\t']) {
            end = at;
            break;
        }
    }
    &line[..end]
}

/// True if a value has a `=` that is not part of a comparison, as in `where x <= 0.5`.
fn has_second_assignment(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.iter().enumerate().any(|(at, &byte)| {
        let compares = at > 0 && matches!(bytes[at - 1], b'<' | b'>' | b'!' | b'=') || bytes.get(at + 1) == Some(&b'=');
        byte == b'=' && !compares
    })
}

fn split_assignment(text: &str) -> Result<(&str, &str), &'static str> {
    let (key, value) = text.split_once('=').ok_or("there is no `=`")?;
    let (key, value) = (key.trim(), value.trim());
    if has_second_assignment(value) {
        return Err("there is more than one `=`");
    }
    if key.is_empty() {
        return Err("there is no key before `=`");
    }
    if key.contains(char::is_whitespace) {
        return Err("the key has a blank in it");
    }
    Ok((key, value))
}

/// The candidate most similar to `word`, if it may be a misspelling: at most a third of the letters
/// differ, or only case does.
pub fn near_match<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .filter(|candidate| *candidate != word)
        .map(|candidate| {
            let same_letters = candidate.to_lowercase() == word.to_lowercase();
            (if same_letters { 0 } else { edit_distance(word, candidate) }, candidate)
        })
        // A single letter is at distance 1 from every other letter, which proves nothing.
        .filter(|(distance, candidate)| *distance <= limit && *distance < word.chars().count().max(candidate.chars().count()))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance: insertions, deletions, replacements, swaps of neighbours (optimal string
/// alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
