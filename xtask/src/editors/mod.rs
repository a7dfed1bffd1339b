//! Files made from the tables of the language: the grammar and the mode of the editors, and the
//! reference of the book.
//!
//! The words come from the tables that the compiler itself uses:
//! [`equelle_front::syntax::Keyword`], [`equelle_front::check::builtins`] and
//! [`equelle_front::units::UNITS`].

mod emacs;
mod reference;
mod textmate;
mod words;

use crate::tools::{self, Failure, read, root};

/// Writes everything, or with `check` fails if something would change.
pub(crate) fn write(check: bool) -> Result<(), Failure> {
    let mut stale = Vec::new();
    for (name, text) in files() {
        let path = root().join(name);
        if !check {
            tools::write(&path, &text)?;
        } else if read(&path).ok().as_deref() != Some(&text) {
            stale.push(name);
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("run `cargo xtask editors`; out of date: {}", stale.join(", "))) }
}

/// Files with their text, by path below the folder of the workspace.
fn files() -> [(&'static str, String); 4] {
    [
        ("editors/equelle.tmLanguage.json", textmate::grammar()),
        ("editors/equelle-mode.el", emacs::mode()),
        ("docs/book/src/reference/builtins.md", reference::builtins_page()),
        ("docs/book/src/reference/units.md", reference::units_page()),
    ]
}

#[cfg(test)]
mod tests {
    use equelle_front::check::builtins;
    use equelle_front::ops::CONSTANTS;
    use equelle_front::syntax::Keyword;

    use super::words::{WordKind, builtin_names, unit_names, words};
    use super::*;

    /// `cargo xtask bless` writes them anew, as it does with all expected texts.
    #[test]
    fn files_are_up_to_date() {
        let bless = std::env::var_os("EQUELLE_BLESS").is_some_and(|v| v == "1");
        if let Err(message) = write(!bless) {
            panic!("{message}");
        }
    }

    #[test]
    fn every_word_has_its_place() {
        let kinds = [WordKind::Type, WordKind::Operator, WordKind::Constant, WordKind::Control];
        assert_eq!(kinds.iter().map(|kind| words(*kind).len()).sum::<usize>(), Keyword::ALL.len() + CONSTANTS.len());
        for (name, text) in files() {
            let all = builtins();
            let mut wanted = Vec::new();
            if name.starts_with("editors/") {
                wanted.extend(Keyword::ALL.iter().map(|word| word.as_str()));
            }
            if !name.ends_with("units.md") {
                wanted.extend(builtin_names(&all));
            }
            if !name.ends_with("builtins.md") {
                wanted.extend(unit_names());
            }
            for word in wanted {
                let whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
                assert!(text.match_indices(word).any(|(at, _)| whole(&text[at + word.len()..])), "{name} does not name {word}");
            }
        }
    }
}
