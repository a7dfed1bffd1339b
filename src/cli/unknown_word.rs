//! The answer to a word that is neither a verb nor a file.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapErrorKind};
use equelle_runtime::params::near_match;
use equelle_runtime::{Error, ErrorKind};

use super::args;
use equelle::failure::Failure;
use equelle::pipeline;
use equelle::registry::Registry;

/// Words that other tools have for what this one has elsewhere, or has not, and what to do.
const ELSEWHERE: [(&[&str], &str); 5] = [
    (
        &["lsp", "language-server", "lsp-server", "server"],
        "there is no language server; the folder `editors` of the project has a TextMate grammar for Visual Studio Code and others \
         and a mode for Emacs, and `equellec check --message-format json FILE.equelle` gives the places of errors to an editor",
    ),
    (&["help"], "`equellec --help` lists the verbs, `equellec VERB --help` the options of one"),
    (&["version"], "`equellec --version` prints the version"),
    (&["compile"], "`equellec build FILE.equelle` compiles a program, `equellec run FILE.equelle` runs it"),
    (
        &["new", "init", "template"],
        "a program is one text file: write it, and `equellec run FILE.equelle --template` prints a parameter file for it",
    ),
];

/// The failure of an unknown option that may be a parameter: these have no dashes.
pub(super) fn with_dashes(error: &clap::Error, words: &[OsString]) -> Option<Failure> {
    if error.kind() != ClapErrorKind::UnknownArgument || error.get(ContextKind::SuggestedArg).is_some() {
        return None;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let at = words.iter().position(|word| word.to_str().is_some_and(|word| word.starts_with(option.as_str())))?;
    let word = words[at].to_str()?;
    let (key, value) = word.trim_start_matches('-').split_once('=').unwrap_or_else(|| {
        let next = words.get(at + 1).and_then(|next| next.to_str()).filter(|next| !next.starts_with('-') && !next.contains('='));
        (word.trim_start_matches('-'), next.unwrap_or("VALUE"))
    });
    let is_key = !key.is_empty() && word.starts_with('-') && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let hint = format!("`--help` lists the options; a parameter has no dashes: `{key}={value}`");
    is_key.then(|| Error::new(ErrorKind::Usage, format!("there is no option `{word}`")).hint(hint).into())
}

/// Refuses a word in place of a program that can only be meant as a verb.
///
/// # Errors
/// `Usage`, with what to write.
pub(super) fn check(backends: Registry, file: &Path) -> Result<(), Failure> {
    let word = file.to_string_lossy();
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if pipeline::is_standard_input(file) || !is_word || file.exists() {
        return Ok(());
    }
    let lower = word.to_lowercase();
    let elsewhere = ELSEWHERE.iter().find(|(words, _)| words.contains(&&lower[..])).map(|(_, hint)| (*hint).to_owned());
    let command = args::command(backends);
    let hint = elsewhere
        .or_else(|| {
            near_match(&word, command.get_subcommands().map(clap::Command::get_name)).map(|near| format!("did you mean `equellec {near}`?"))
        })
        .unwrap_or_else(|| "`equellec --help` lists the verbs; the name of a program ends in `.equelle`".to_owned());
    Err(Error::new(ErrorKind::Usage, format!("`{word}` is neither a verb nor a file")).hint(hint).into())
}
