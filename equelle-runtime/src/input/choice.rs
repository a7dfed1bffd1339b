//! Sources of an input: choice between `<name>`, `<name>_filename` with `<name>_from_file`, and the
//! other keys that give an input of its kind.
//!
//! Sources on the command line replace those in files. Two sources in one place are an error.

use std::path::PathBuf;

use crate::data_array::DataArray;
use crate::error::{Error, ErrorKind};
use crate::keys::COLUMN;
use crate::params::{Origin, Parameters};

/// The source of a collection's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice<T = f64> {
    /// One value for all elements.
    Uniform(T),
    /// A file with one value per element.
    File(PathBuf),
    /// An array in memory.
    Array(DataArray),
    /// Values that follow from the grid.
    Derived(Derived),
    /// No parameter is given.
    Nothing,
}

/// Ways to give a collection of numbers by what the grid has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// A named array: `PERMX`.
    Property,
    /// A value for each of some named sets: `rock: 1e-12, default: 1e-13`.
    Values,
    /// An expression of positions and named arrays: `1 + x*y`.
    Expression,
}

impl Derived {
    /// All of them.
    pub const ALL: [Derived; 3] = [Derived::Property, Derived::Values, Derived::Expression];

    /// The key of an input.
    pub fn key(self, name: &str) -> String {
        let suffix = match self {
            Derived::Property => "property",
            Derived::Values => "values",
            Derived::Expression => "expression",
        };
        format!("{name}_{suffix}")
    }
}

/// The source of a domain or a sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum ListChoice {
    /// A file.
    File(PathBuf),
    /// An array in memory.
    Array(DataArray),
    /// The text of the other key.
    Text,
    /// No parameter is given.
    Nothing,
}

/// The source of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenBy {
    /// One value for all, the default, or nothing.
    Value,
    /// A text that has something for each element.
    Elements,
    /// A file.
    File(PathBuf),
}

impl<T> From<Choice<T>> for GivenBy {
    fn from(choice: Choice<T>) -> GivenBy {
        match choice {
            Choice::Uniform(_) | Choice::Nothing => GivenBy::Value,
            Choice::Derived(_) | Choice::Array(_) => GivenBy::Elements,
            Choice::File(path) => GivenBy::File(path),
        }
    }
}

impl From<ListChoice> for GivenBy {
    fn from(choice: ListChoice) -> GivenBy {
        match choice {
            ListChoice::Nothing => GivenBy::Value,
            ListChoice::Text | ListChoice::Array(_) => GivenBy::Elements,
            ListChoice::File(path) => GivenBy::File(path),
        }
    }
}

/// The key that gives an input as a file.
pub fn filename_key(name: &str) -> String {
    format!("{name}_filename")
}

/// The key that disables the file, or requires it.
pub fn from_file_key(name: &str) -> String {
    format!("{name}_from_file")
}

/// The key that chooses the elements of a domain.
pub fn set_key(name: &str) -> String {
    format!("{name}_set")
}

/// The key of the column of a CSV file.
pub fn column_key(name: &str) -> String {
    format!("{name}{COLUMN}")
}

/// The sources of an input in one place, command line or parameter files.
struct Assignment {
    value: bool,
    filename: bool,
    wants_file: bool,
    derived: Vec<Derived>,
}

impl Assignment {
    /// The sources in `place`, with the flag that applies there. `value` is the key of a value.
    fn by(
        parameters: &Parameters,
        (name, value): (&str, &str),
        derived: &[Derived],
        from_file: Option<bool>,
        place: fn(&Origin) -> bool,
    ) -> Assignment {
        let given = |key: &str| parameters.origin(key).is_some_and(place);
        let filename = given(&filename_key(name));
        let derived = derived.iter().copied().filter(|derived| given(&derived.key(name))).collect();
        Assignment { value: given(value), filename, wants_file: from_file.unwrap_or(filename), derived }
    }

    /// True if there is a source beside the value.
    fn has_other(&self) -> bool {
        self.wants_file || !self.derived.is_empty()
    }
}

/// The source that counts.
enum Found {
    Value,
    File(PathBuf),
    Array(DataArray),
    Derived(Derived),
    Nothing,
}

/// The source that counts: the one on the command line, else the one in files.
fn found(parameters: &Parameters, name: &str, value: &str, derived: &[Derived], shared: bool) -> Result<Found, Error> {
    let key = from_file_key(name);
    let flag = parameters.flag(&key)?;
    if let Some(array) = parameters.array(name) {
        let others = [filename_key(name)].into_iter().chain(derived.iter().map(|derived| derived.key(name)));
        let others = others.chain((value != name).then(|| value.to_owned()));
        return match others.into_iter().find(|key| parameters.origin(key).is_some_and(Origin::replaces_files)) {
            Some(other) => Err(two_sources(parameters, name, [&name.to_owned(), &other])),
            None => Ok(Found::Array(array.clone())),
        };
    }
    let flag_of_words = flag.filter(|_| parameters.origin(&key).is_some_and(Origin::replaces_files));
    let words = Assignment::by(parameters, (name, value), derived, flag_of_words, Origin::replaces_files);
    let files = Assignment::by(parameters, (name, value), derived, flag, |origin| !origin.replaces_files());
    for said in [&words, &files] {
        if said.wants_file && !parameters.contains(&filename_key(name)) {
            return Err(no_file_name(parameters, name));
        }
        let has_value = said.value && !(shared && (said.has_other() || files.has_other()));
        let mut keys: Vec<String> = Vec::new();
        keys.extend(has_value.then(|| value.to_owned()));
        keys.extend(said.wants_file.then(|| if said.filename { filename_key(name) } else { key.clone() }));
        keys.extend(said.derived.iter().map(|derived| derived.key(name)));
        if let [first, second, ..] = &keys[..] {
            return Err(two_sources(parameters, name, [first, second]));
        }
        if said.wants_file {
            return Ok(parameters.path(&filename_key(name))?.map_or(Found::Nothing, Found::File));
        }
        if let Some(derived) = said.derived.first() {
            return Ok(Found::Derived(*derived));
        }
        if has_value {
            return Ok(Found::Value);
        }
    }
    Ok(Found::Nothing)
}

/// The source of a collection's values; `uniform` reads the value `<name>`, `derived` are the other
/// ways to give it. `shared`: something else reads the number `<name>` too, which is then no second
/// source beside another one.
///
/// # Errors
/// `Data` for two sources in one place (names both), for `<name>_from_file=true` without a file
/// name, and for a value that is not of its type.
pub fn collection_choice<T>(
    parameters: &Parameters,
    name: &str,
    derived: &[Derived],
    shared: bool,
    uniform: impl FnOnce(&Parameters, &str) -> Result<Option<T>, Error>,
) -> Result<Choice<T>, Error> {
    Ok(match found(parameters, name, name, derived, shared)? {
        Found::Value => uniform(parameters, name)?.map_or(Choice::Nothing, Choice::Uniform),
        Found::File(path) => Choice::File(path),
        Found::Array(array) => Choice::Array(array),
        Found::Derived(derived) => Choice::Derived(derived),
        Found::Nothing => Choice::Nothing,
    })
}

/// The source of a domain or a sequence: its file, or the text of `key`, which something else reads
/// too if it is `shared`.
///
/// # Errors
/// As for [`collection_choice`]; also for `<name>_from_file=false` without another source.
pub fn list_choice(parameters: &Parameters, name: &str, key: &str, shared: bool) -> Result<ListChoice, Error> {
    let flag = from_file_key(name);
    match found(parameters, name, key, &[], shared)? {
        Found::Value => Ok(ListChoice::Text),
        Found::File(path) => Ok(ListChoice::File(path)),
        Found::Array(array) => Ok(ListChoice::Array(array)),
        Found::Derived(_) | Found::Nothing if parameters.flag(&flag)? == Some(false) => {
            let (place, filename) = (parameters.place(&flag), filename_key(name));
            let message = format!("`{flag}=false`{place} keeps the file out, and `{name}` has no other source");
            Err(Error::new(ErrorKind::Data, message).hint(format!("leave {flag} out, and give {filename}=FILE")))
        }
        Found::Derived(_) | Found::Nothing => Ok(ListChoice::Nothing),
    }
}

fn no_file_name(parameters: &Parameters, name: &str) -> Error {
    let (flag, filename) = (from_file_key(name), filename_key(name));
    let message = format!("missing parameter `{filename}`: `{flag}=true`{} asks for a file", parameters.place(&flag));
    let error = Error::new(ErrorKind::Data, message);
    match parameters.near_unused(&filename) {
        Some(near) => error.hint(format!("`{near}` is given but not used; is it meant to be `{filename}`?")),
        None => error.hint(format!("give {filename}=FILE, or leave {flag} out")),
    }
}

fn two_sources(parameters: &Parameters, name: &str, keys: [&String; 2]) -> Error {
    let flag = from_file_key(name);
    let file = keys.iter().any(|key| **key == flag || **key == filename_key(name));
    let [first, second] = keys.map(|key| parameters.shown(key));
    let keeps_out = if file { format!("{flag}=false keeps the file out, and ") } else { String::new() };
    Error::new(ErrorKind::Data, format!("input `{name}` has two sources: {first} and {second}"))
        .hint(format!("leave one of them out; {keeps_out}the command line replaces what files give"))
}
