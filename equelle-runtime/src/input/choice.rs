//! Sources of an input: choice between `<name>`, `<name>_filename` and `<name>_from_file`.
//!
//! Sources on the command line replace those in files. Two sources in one place are an error.

use std::path::PathBuf;

use crate::error::{Error, ErrorKind};
use crate::params::{Origin, Parameters};

/// The source of a collection's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice<T = f64> {
    /// One value for all elements.
    Uniform(T),
    /// A file with one value per element.
    File(PathBuf),
    /// No parameter is given.
    Nothing,
}

impl<T> Choice<T> {
    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        match self {
            Choice::File(_) => true,
            Choice::Uniform(_) | Choice::Nothing => false,
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

/// The sources of an input in one place, command line or parameter files.
#[derive(Clone, Copy)]
struct Assignment {
    value: bool,
    filename: bool,
    wants_file: bool,
}

impl Assignment {
    /// The sources in `place`, with the flag that applies there.
    fn by(parameters: &Parameters, name: &str, from_file: Option<bool>, place: fn(&Origin) -> bool) -> Assignment {
        let given = |key: &str| parameters.origin(key).is_some_and(place);
        let filename = given(&filename_key(name));
        Assignment { value: given(name), filename, wants_file: from_file.unwrap_or(filename) }
    }
}

/// The source of a collection's values; `uniform` reads the value `<name>`. `shared`: something
/// else reads the number `<name>` too, which is then no second source beside a file.
///
/// # Errors
/// `Data` for two sources in one place (names both), for `<name>_from_file=true` without a file
/// name, and for a value that is not of its type.
pub fn of_collection<T>(
    parameters: &Parameters,
    name: &str,
    shared: bool,
    uniform: impl FnOnce(&Parameters, &str) -> Result<Option<T>, Error>,
) -> Result<Choice<T>, Error> {
    let key = from_file_key(name);
    let flag = parameters.flag(&key)?;
    let flag_of_words = flag.filter(|_| parameters.origin(&key).is_some_and(on_command_line));
    let words = Assignment::by(parameters, name, flag_of_words, on_command_line);
    let files = Assignment::by(parameters, name, flag, |origin| !on_command_line(origin));
    for said in [words, files] {
        if said.wants_file {
            if !parameters.contains(&filename_key(name)) {
                return Err(no_file_name(parameters, name));
            }
            if said.value && !shared {
                return Err(two_sources(parameters, name, said));
            }
            return Ok(parameters.path(&filename_key(name))?.map_or(Choice::Nothing, Choice::File));
        }
        if said.value && !(shared && files.wants_file) {
            return Ok(uniform(parameters, name)?.map_or(Choice::Nothing, Choice::Uniform));
        }
    }
    Ok(Choice::Nothing)
}

/// The file of a domain or a sequence, which have no other source; `None` if no parameter names
/// one.
///
/// # Errors
/// `Data` for `<name>_from_file=false`, unless the command line names a file that a parameter file
/// disables; for an empty name.
pub fn of_list(parameters: &Parameters, name: &str) -> Result<Option<PathBuf>, Error> {
    let (flag, filename) = (from_file_key(name), filename_key(name));
    let kept_out = parameters.flag(&flag)? == Some(false);
    let [of_flag, of_name] = [&flag, &filename].map(|key| parameters.origin(key));
    if kept_out && !(of_name == Some(&Origin::CommandLine) && of_flag != Some(&Origin::CommandLine)) {
        let place = place(parameters, &flag);
        return Err(Error::new(ErrorKind::Data, format!("`{flag}=false`{place} keeps the file out, and `{name}` has no other source"))
            .hint(format!("leave {flag} out, and give {filename}=FILE")));
    }
    if of_name.is_none() && parameters.flag(&flag)? == Some(true) {
        return Err(no_file_name(parameters, name));
    }
    parameters.path(&filename)
}

fn on_command_line(origin: &Origin) -> bool {
    *origin == Origin::CommandLine
}

fn place(parameters: &Parameters, key: &str) -> String {
    parameters.origin(key).map(|origin| format!(" ({origin})")).unwrap_or_default()
}

fn no_file_name(parameters: &Parameters, name: &str) -> Error {
    let (flag, filename) = (from_file_key(name), filename_key(name));
    let message = format!("missing parameter `{filename}`: `{flag}=true`{} asks for a file", place(parameters, &flag));
    let error = Error::new(ErrorKind::Data, message);
    match parameters.near_unused(&filename) {
        Some(near) => error.hint(format!("`{near}` is given but not used; is it meant to be `{filename}`?")),
        None => error.hint(format!("give {filename}=FILE, or leave {flag} out")),
    }
}

fn two_sources(parameters: &Parameters, name: &str, said: Assignment) -> Error {
    let (flag, filename) = (from_file_key(name), filename_key(name));
    let file = if said.filename { &filename } else { &flag };
    let [value, file] = [name, file].map(|key| format!("`{key}={}`{}", parameters.text(key).unwrap_or_default(), place(parameters, key)));
    Error::new(ErrorKind::Data, format!("input `{name}` has two sources: {value} and {file}"))
        .hint(format!("leave one of them out; {flag}=false keeps the file out, and the command line replaces what files give"))
}
