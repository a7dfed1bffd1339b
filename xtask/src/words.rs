//! `cargo xtask words`: names that the conventions have replaced.
//!
//! `docs/conventions.md` has a table of them. A row holds for identifiers and for paths of files:
//! `spread` refuses `spread_values` and `spread.rs`, `Told` refuses `EqTold`. Comments, texts of
//! messages and names that are sentences, as those of tests, are prose and are not looked at.

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use crate::tools::{Failure, read, root, tracked_files};

/// The page with the table.
const PAGE: &str = "docs/conventions.md";
/// The heading above it.
const HEADING: &str = "## Names that are not used";

/// A name of more words is a sentence.
const WORDS_OF_A_NAME: usize = 3;

/// A row of the table.
struct Rule {
    /// The parts of the old name, in lower case.
    old: Vec<String>,
    /// True if it is the name of a type, which begins with a capital.
    is_type: bool,
    replacement: String,
}

/// Fails, with a line each, where a name of the table is used.
pub(crate) fn run() -> Result<(), Failure> {
    let rules = rules(&read(&root().join(PAGE))?)?;
    let mut found = Vec::new();
    for file in tracked_files(&["rs", "cu", "cuh"])? {
        let path = Path::new(&file);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let text = read(&root().join(path))?;
        let mut names = identifiers(&text, path.extension().is_some_and(|end| end == "rs"))?;
        names.insert(stem);
        for name in &names {
            found.extend(broken(&rules, name).map(|rule| format!("{file}: `{name}`: {PAGE} says {}", rule.replacement)));
        }
    }
    found.iter().for_each(|line| println!("{line}"));
    if found.is_empty() { Ok(()) } else { Err(format!("{} names that {PAGE} replaces", found.len())) }
}

/// The rules that a name breaks.
fn broken<'r>(rules: &'r [Rule], name: &str) -> impl Iterator<Item = &'r Rule> {
    let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let parts = parts(name);
    let is_sentence = parts.len() > WORDS_OF_A_NAME;
    rules.iter().filter(move |rule| !is_sentence && rule.is_type == is_type && parts.windows(rule.old.len()).any(|part| part == rule.old))
}

/// The words of an identifier, in lower case: `cell_faces`, `CellFaces`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut previous = '_';
    for character in name.chars() {
        if character == '_' || (character.is_uppercase() && previous.is_lowercase()) {
            parts.push(String::new());
        }
        if let (true, Some(part)) = (character != '_', parts.last_mut()) {
            part.extend(character.to_lowercase());
        }
        previous = character;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The rows of the table: an old name and what stands for it now, each in back-ticks.
fn rules(page: &str) -> Result<Vec<Rule>, Failure> {
    let table = page.split_once(HEADING).map(|(_, rest)| rest).ok_or_else(|| format!("{PAGE} has no heading `{HEADING}`"))?;
    let rows = table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let rules: Vec<Rule> = rows
        .filter_map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let (old, replacement) = (cells.next()?, cells.next()?);
            let names = old.split(',').filter_map(|name| name.trim().strip_prefix('`')?.strip_suffix('`'));
            Some(
                names
                    .map(|name| Rule {
                        old: parts(name),
                        is_type: name.starts_with(char::is_uppercase),
                        replacement: replacement.to_owned(),
                    })
                    .collect(),
            )
        })
        .flat_map(|rules: Vec<Rule>| rules)
        .collect();
    if rules.is_empty() { Err(format!("the table of {PAGE} is empty")) } else { Ok(rules) }
}

/// The identifiers of a file. CUDA text is read by characters, without its comments.
fn identifiers(text: &str, is_rust: bool) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    if is_rust {
        collect_identifiers(text.parse().map_err(|error| format!("not Rust: {error}"))?, &mut names);
    } else {
        for code in text.lines().filter_map(|line| line.split("//").next()) {
            let words = code.split(|character: char| !(character.is_alphanumeric() || character == '_'));
            names.extend(words.map(str::to_owned));
        }
    }
    Ok(names)
}

fn collect_identifiers(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_identifiers(group.stream(), names),
            TokenTree::Ident(name) => drop(names.insert(name.to_string())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "## Names that are not used\n\n| not | but |\n| --- | --- |\n| `spread` | `broadcast` |\n| `Told`, `Sought` | `ResidualScale` |\n\n| `other` | |\n";

    fn refused(name: &str) -> bool {
        let rules = rules(PAGE).unwrap();
        broken(&rules, name).next().is_some()
    }

    #[test]
    fn a_name_is_refused_by_its_parts() {
        for name in ["spread", "spread_values", "to_spread", "Told", "EqTold", "ToldBefore", "Sought"] {
            assert!(refused(name), "{name}");
        }
        for name in ["broadcast", "spreading", "Spread", "told", "Toldo", "other", "a_value_is_spread"] {
            assert!(!refused(name), "{name}");
        }
    }

    #[test]
    fn comments_and_texts_are_prose() {
        let refused =
            |text: &str, is_rust| identifiers(text, is_rust).unwrap().into_iter().filter(|name| refused(name)).collect::<Vec<_>>();
        assert_eq!(refused("// spread\nlet a = \"spread\"; f([spread_b]);\n", true), ["spread_b"]);
        assert_eq!(refused("int a; // spread\nint spread_b;\n", false), ["spread_b"]);
    }

    #[test]
    fn a_page_without_the_table_is_an_error() {
        assert!(rules("# Conventions\n").is_err());
        assert!(rules(HEADING).is_err());
    }
}
