//! `cargo xtask pages`: checks of the documentation against the repository. Links, pictures, paths,
//! names and quoted code exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::links;
use crate::tools::{Failure, read, root, tracked_files};

/// Endings of the sources that names are looked up in.
const SOURCES: [&str; 8] = ["rs", "cu", "cuh", "hpp", "toml", "py", "sh", "equelle"];
/// Endings of other files that pages name.
const OTHERS: [&str; 4] = ["md", "json", "eqir", "out"];
/// Files of generated packages and of runs, which the repository does not hold.
const GENERATED: [&str; 2] = ["manifest.json", ".equelle-package.json"];
/// Suffix of a path that a recipe asks for.
const NEW: &str = " (new)";
/// Suffixes that make a word in back-ticks a path.
const SUFFIXES: [&str; 9] = [".rs", ".cu", ".cuh", ".hpp", ".md", ".toml", ".json", ".eqir", ".sh"];

/// The most words of ARCHITECTURE.md.
const WORDS_OF_MAP: usize = 1200;

/// The files of the repository and the words in its sources.
struct Repository {
    files: Vec<String>,
    words_of: BTreeMap<String, BTreeSet<String>>,
}

impl Repository {
    fn read() -> Result<Repository, Failure> {
        let sources = tracked_files(&SOURCES)?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = |file: &String| {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            text.split(|c| !is_word(c)).map(str::to_owned).collect()
        };
        let this = file!().replace('\\', "/");
        let looked_up = sources.iter().filter(|file| **file != this);
        let words_of = looked_up.map(|file| (file.clone(), words(file))).collect();
        Ok(Repository { files: [sources, tracked_files(&OTHERS)?].concat(), words_of })
    }

    /// A file or folder with this path, or whose path ends so.
    fn has_path(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        if GENERATED.contains(&path) || root().join(path).exists() {
            return true;
        }
        let (below, inside) = (format!("/{path}"), format!("{path}/"));
        let matches =
            |file: &String| file == path || file.ends_with(&below) || file.starts_with(&inside) || file.contains(&format!("{below}/"));
        self.files.iter().any(matches)
    }

    fn has_word(&self, word: &str) -> bool {
        self.words_of.values().any(|words| words.contains(word)) || self.files.iter().any(|file| stem(file) == word)
    }

    /// `Type::member` stands in one file; of `module::item` each part is a word or a module.
    fn has_item(&self, item: &str) -> bool {
        let parts: Vec<&str> = item.split("::").collect();
        if parts[0].starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.words_of.values().any(|words| parts.iter().all(|part| words.contains(*part)));
        }
        parts.iter().all(|part| self.has_word(part) || self.has_path(&format!("{part}.rs")))
    }
}

/// `a/b.rs` is `b`.
fn stem(file: &str) -> &str {
    let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn expanded(word: &str) -> Vec<String> {
    match (word.find('{'), word.find('}')) {
        (Some(open), Some(close)) if open < close => {
            let names = word[open + 1..close].split(',');
            names.flat_map(|name| expanded(&format!("{}{name}{}", &word[..open], &word[close + 1..]))).collect()
        }
        _ => vec![word.to_owned()],
    }
}

/// Fault of a word in back-ticks.
fn fault(repository: &Repository, word: &str) -> Option<String> {
    let only = |extra: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c));
    let is_path = only("_./-") && (word.contains('/') || SUFFIXES.iter().any(|end| word.ends_with(end)));
    if is_path {
        let is_ours = !word.starts_with(['/', '-', '~']) && !word.contains("PROGRAM");
        return (is_ours && !repository.has_path(word)).then(|| format!("no file or folder `{word}`"));
    }
    let word = word.trim_end_matches("()").trim_end_matches('!');
    let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':') && !word.contains(":::");
    let has_hump = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    if !is_name || word.is_empty() {
        return None;
    }
    if word.contains("::") {
        return (!repository.has_item(word)).then(|| format!("no item `{word}`"));
    }
    ((word.contains('_') || has_hump) && !repository.has_word(word)).then(|| format!("no name `{word}` in the sources"))
}

/// Lines of a quotation that do not follow each other in the text, where `...` stands for lines
/// left out.
fn misquoted<'a>(quotation: &[&'a str], text: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    let said = quotation.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.ends_with("..."));
    said.into_iter().find(|line| !lines.any(|other| other == *line))
}

/// The faults of a page. Names and paths in back-ticks are looked up if `names`.
fn faults(repository: &Repository, page: &str, names: bool) -> Result<Vec<String>, Failure> {
    let text = read(&root().join(page))?;
    let mut faults = Vec::new();
    let mut quotation: Option<(Option<&str>, Vec<&str>)> = None;
    for (number, line) in text.lines().enumerate() {
        let mut add = |fault: String| faults.push(format!("{page}:{}: {fault}", number + 1));
        if let Some(info) = line.trim_start().strip_prefix("```") {
            match quotation.take() {
                None => quotation = Some((info.split_once(" from ").map(|(_, file)| file.trim()), Vec::new())),
                Some((Some(file), lines)) => match fs::read_to_string(root().join(file)) {
                    Ok(text) => {
                        misquoted(&lines, &text).into_iter().for_each(|line| add(format!("not in this order in {file}: {line}")));
                    }
                    Err(error) => add(format!("quotes {file}: {error}")),
                },
                Some((None, _)) => {}
            }
            continue;
        }
        if let Some((_, lines)) = &mut quotation {
            lines.push(line);
            continue;
        }
        if names {
            let parts: Vec<&str> = line.split('`').collect();
            let words = parts[1..].chunks(2).filter(|part| !part.get(1).is_some_and(|after| after.starts_with(NEW)));
            words.flat_map(|part| expanded(part[0])).filter_map(|word| fault(repository, &word)).for_each(&mut add);
        }
    }
    Ok(faults)
}

/// Fails, with a line each, where a page is wrong.
pub(crate) fn run() -> Result<(), Failure> {
    let mut found = links::all()?;
    found.extend(names_and_quotations()?);
    found.extend(openings()?);
    found.extend(map_fault(&read(&root().join("ARCHITECTURE.md"))?));
    found.iter().for_each(|fault| println!("{fault}"));
    if found.is_empty() { Ok(()) } else { Err(format!("{} faults of pages", found.len())) }
}

/// Names, paths and quoted code that do not exist.
fn names_and_quotations() -> Result<Vec<String>, Failure> {
    let repository = Repository::read()?;
    let is_page = |file: &&String| file.ends_with(".md") && !file.starts_with("docs/book/") && !file.contains("/diagnostic/pages/");
    let is_history = |file: &str| file == "CHANGELOG.md" || file.starts_with("docs/benchmarks/");
    // The page of conventions lists words that are not to be used.
    let looks_up = |file: &str| {
        !is_history(file) && (file.starts_with("docs/") || !file.contains('/')) && file != "docs/conventions.md" && file != "README.md"
    };
    let pages = repository.files.iter().filter(is_page);
    let found: Result<Vec<_>, Failure> = pages.map(|page| faults(&repository, page, looks_up(page))).collect();
    Ok(found?.concat())
}

/// Pages of internals that do not say first what their reader will know.
fn openings() -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for page in tracked_files(&["md"])?.iter().filter(|file| file.starts_with("docs/internals/") || *file == "docs/ir.md") {
        found.extend(opening_fault(page, &read(&root().join(page))?));
    }
    Ok(found)
}

fn opening_fault(page: &str, text: &str) -> Option<String> {
    let opening = text.lines().nth(2).unwrap_or_default();
    (!opening.starts_with("After this page you ")).then(|| format!("{page} begins with: {opening}"))
}

/// The map of the repository is one page.
fn map_fault(text: &str) -> Option<String> {
    let words = text.split_whitespace().count();
    (words > WORDS_OF_MAP).then(|| format!("ARCHITECTURE.md has {words} words, more than {WORDS_OF_MAP}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_right() {
        assert_eq!(run(), Ok(()));
    }

    #[test]
    fn long_maps_and_other_openings_are_found() {
        assert_eq!(map_fault(&"word ".repeat(WORDS_OF_MAP)), None);
        assert_eq!(map_fault(&"word ".repeat(WORDS_OF_MAP + 1)).as_deref(), Some("ARCHITECTURE.md has 1201 words, more than 1200"));
        assert_eq!(opening_fault("a.md", "# A\n\nAfter this page you know A.\n"), None);
        assert_eq!(opening_fault("a.md", "# A\n\nA is this.\n").as_deref(), Some("a.md begins with: A is this."));
    }

    #[test]
    fn what_does_not_exist_is_found() {
        let repository = Repository::read().expect("git lists the files");
        let fault = |word: &str| fault(&repository, word).is_some();
        assert!(fault("src/nowhere.rs") && fault(concat!("Backend::has_", "newton")) && fault(concat!("no_such_", "name")));
        assert!(!fault("xtask/src/pages.rs") && !fault("Backend::files") && !fault("linalg/krylov/cg.rs") && !fault("plain"));
        assert_eq!(misquoted(&["b", "...", "a"], "a\nb\nc"), Some("a"));
        assert_eq!(misquoted(&["  a", "...", "c"], "a\nb\nc"), None);
    }
}
