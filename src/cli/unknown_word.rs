//! The answer to a word that is neither a verb nor a file.

use std::path::Path;

use equelle_runtime::params::near_match;
use equelle_runtime::{Error, ErrorKind};

use super::args;
use crate::failure::Failure;
use crate::pipeline;
use crate::registry::Registry;

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
        .or_else(|| near_match(&word, command.get_subcommands().map(clap::Command::get_name)).map(|near| format!("did you mean `equellec {near}`?")))
        .unwrap_or_else(|| "`equellec --help` lists the verbs; the name of a program ends in `.equelle`".to_owned());
    Err(Error::new(ErrorKind::Usage, format!("`{word}` is neither a verb nor a file")).hint(hint).into())
}
