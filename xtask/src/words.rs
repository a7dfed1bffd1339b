//! `cargo xtask words`: names that the conventions have replaced.
//!
//! `docs/conventions.md` has a table of them. A row holds for identifiers and for paths of files:
//! `spread` refuses `spread_values`, `SPREAD` and `spread.rs`, `Told` refuses `EqTold`, `MOST`
//! refuses `MOST_CELLS`, `fn of_` refuses functions whose names begin so, and `folder: name` holds
//! in that folder. Comments, texts of messages and names that are sentences, as those of tests, are
//! prose and are not looked at.

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

/// Precedes the name of a function where it is declared.
const FUNCTION: &str = "fn ";

/// Names that a rule holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    /// Functions, variables, modules and files.
    Lower,
    /// Types, in camel case.
    Type,
    /// Constants, in capitals.
    Constant,
    /// Declarations of functions, [`FUNCTION`] and the name.
    Function,
}

impl NameKind {
    fn of(name: &str) -> NameKind {
        match (name.contains(char::is_uppercase), name.contains(char::is_lowercase)) {
            _ if name.starts_with(FUNCTION) => NameKind::Function,
            (true, false) => NameKind::Constant,
            _ if name.starts_with(char::is_uppercase) => NameKind::Type,
            _ => NameKind::Lower,
        }
    }
}

/// A name of the table.
#[derive(Debug)]
struct Rule {
    /// Folder in which it holds; empty for all.
    folder: String,
    /// As the table has it, without the folder.
    name: String,
    /// [`parts`] of the name.
    parts: Vec<String>,
    kind: NameKind,
    replacement: String,
}

impl Rule {
    /// True if a name has the parts of this one; for functions, if it begins like this one.
    fn is_broken_by(&self, name: &str, parts: &[String]) -> bool {
        let kind = NameKind::of(name);
        let is_of_kind = match self.kind {
            NameKind::Lower => matches!(kind, NameKind::Lower | NameKind::Constant),
            NameKind::Type | NameKind::Constant | NameKind::Function => kind == self.kind,
        };
        let is_sentence = kind == NameKind::Lower && parts.len() > WORDS_OF_A_NAME;
        is_of_kind
            && !is_sentence
            && match self.kind {
                NameKind::Function => name.starts_with(&self.name),
                NameKind::Lower | NameKind::Type | NameKind::Constant => parts.windows(self.parts.len()).any(|part| part == self.parts),
            }
    }
}

/// Fails, with a line each, where a name of the table is used.
pub(crate) fn run() -> Result<(), Failure> {
    let rules = rules(&read(&root().join(PAGE))?)?;
    let mut found = Vec::new();
    for file in tracked_files(&["rs", "cu", "cuh"])? {
        found.extend(refusals(&rules, &file, &read(&root().join(&file))?)?);
    }
    found.iter().for_each(|line| println!("{line}"));
    if found.is_empty() { Ok(()) } else { Err(format!("{} names that {PAGE} replaces", found.len())) }
}

/// A line for each name of a file, and for its own, that a rule refuses.
fn refusals(rules: &[Rule], file: &str, text: &str) -> Result<Vec<String>, Failure> {
    let path = Path::new(file);
    let mut names = identifiers(text, path.extension().is_some_and(|end| end == "rs")).map_err(|error| format!("{file}: {error}"))?;
    names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    let broken = |name: &String| {
        let parts = parts(name);
        let rules = rules.iter().filter(|rule| path.starts_with(&rule.folder) && rule.is_broken_by(name, &parts));
        rules.map(|rule| format!("{file}: `{name}`: {PAGE} says {}", rule.replacement)).collect::<Vec<_>>()
    };
    Ok(names.iter().flat_map(broken).collect())
}

/// The words of an identifier, in lower case: `cell_faces`, `CellFaces`, `CELL_FACES`.
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

/// The names of the table, each with what stands for it now.
///
/// # Errors
/// No table, one without rows, and old names without back-ticks.
fn rules(page: &str) -> Result<Vec<Rule>, Failure> {
    let table = page.split_once(HEADING).map(|(_, rest)| rest).ok_or_else(|| format!("{PAGE} has no heading `{HEADING}`"))?;
    let rows = table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let mut rules = Vec::new();
    // The head of the table, and the line below it.
    for row in rows.skip(2) {
        let (old, replacement) = row.trim_matches('|').split_once('|').ok_or_else(|| format!("{PAGE}: `{row}` has one column"))?;
        for name in old.split(',').map(str::trim) {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            let name = name.ok_or_else(|| format!("{PAGE}: `{row}` has a name without back-ticks"))?;
            let (folder, name) = name.split_once(": ").unwrap_or(("", name));
            let (folder, replacement) = (folder.to_owned(), replacement.trim().to_owned());
            rules.push(Rule { folder, kind: NameKind::of(name), parts: parts(name), name: name.to_owned(), replacement });
        }
    }
    if rules.is_empty() { Err(format!("the table of {PAGE} is empty")) } else { Ok(rules) }
}

/// The identifiers of a file, those of functions also with [`FUNCTION`]. CUDA text is read by
/// characters, without its comments.
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
    let mut declares_function = false;
    for token in tokens {
        let follows_fn = std::mem::take(&mut declares_function);
        match token {
            TokenTree::Group(group) => collect_identifiers(group.stream(), names),
            TokenTree::Ident(name) => {
                let name = name.to_string();
                declares_function = name == FUNCTION.trim_end();
                if follows_fn {
                    names.insert(format!("{FUNCTION}{name}"));
                }
                names.insert(name);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "## Names that are not used\n\n| not | but |\n| --- | --- |\n| `spread` | `broadcast` |\n| `Told`, `Sought` | `ResidualScale` |\n| `MOST` | `MAX` |\n| `fn of_` | `from_` |\n\n| `other` | |\n";

    fn refused(text: &str) -> Vec<String> {
        let lines = refusals(&rules(TABLE).unwrap(), "a.rs", text).unwrap();
        lines.iter().map(|line| line.split('`').nth(1).unwrap().to_owned()).collect()
    }

    /// Each rule of the page refuses its name, in the code where it would stand, and longer ones.
    #[test]
    fn every_rule_of_the_page_can_fail() {
        let rules = rules(&read(&root().join(PAGE)).unwrap()).unwrap();
        for rule in &rules {
            let name = &rule.name;
            let codes = match rule.kind {
                NameKind::Lower => {
                    vec![format!("let {name} = 1;"), format!("use a::{name};"), format!("const {}: u8 = 1;", name.to_uppercase())]
                }
                NameKind::Type => vec![format!("struct {name};"), format!("fn f() -> Eq{name} {{}}")],
                NameKind::Constant => {
                    vec![format!("const {name}: u8 = 1;"), format!("f(&[{name}_CELLS_OF_A_GRID]);"), format!("f(IN_{name});")]
                }
                NameKind::Function => vec![format!("impl A {{ pub {name}cells() {{}} }}"), format!("{name}a_b_c_d() {{}}")],
            };
            let says = format!("says {}", rule.replacement);
            let folder = if rule.folder.is_empty() { String::new() } else { format!("{}/", rule.folder) };
            for code in codes {
                let lines = refusals(std::slice::from_ref(rule), &format!("{folder}a.rs"), &code).unwrap();
                assert!(matches!(&lines[..], [line] if line.ends_with(&says)), "{name}: {code}: {lines:?}");
            }
            if rule.kind == NameKind::Lower {
                assert_eq!(refusals(std::slice::from_ref(rule), &format!("{folder}src/{name}.cu"), "").unwrap().len(), 1, "{name}");
            }
        }
        for kind in [NameKind::Lower, NameKind::Type, NameKind::Constant, NameKind::Function] {
            assert!(rules.iter().any(|rule| rule.kind == kind), "{kind:?}");
        }
    }

    #[test]
    fn a_name_is_refused_by_its_parts() {
        for name in
            ["spread", "spread_values", "to_spread", "SPREAD", "Told", "EqTold", "ToldBefore", "Sought", "MOST", "MOST_CELLS_OF_GRIDS"]
        {
            assert_eq!(refused(&format!("use {name};")), [name]);
        }
        for name in ["broadcast", "spreading", "Spread", "told", "Toldo", "TOLD", "other", "a_value_is_spread", "Most", "most", "ALMOST"] {
            assert!(refused(&format!("use {name};")).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_name_may_be_refused_in_one_folder() {
        let rules = rules(&TABLE.replace("`spread`", "`crate/src: spread`")).unwrap();
        let refused = |file| refusals(&rules, file, "fn spread() {}").unwrap().len();
        assert_eq!(["crate/src/a.rs", "crate/src/b/a.rs", "crate/tests/a.rs", "crate/srcs/a.rs", "a.rs"].map(refused), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn a_function_is_refused_where_it_is_declared() {
        assert_eq!(refused("fn of_x() {}\nimpl A { pub const fn of_a_cell_of_it() {} }"), ["fn of_a_cell_of_it", "fn of_x"]);
        assert!(refused("fn x_of_() { of_y(); let of_z: fn(u8) = f; }").is_empty());
    }

    #[test]
    fn comments_and_texts_are_prose() {
        assert_eq!(refused("// spread\nlet a = \"spread\"; f([spread_b]);\n"), ["spread_b"]);
        let lines = refusals(&rules(TABLE).unwrap(), "a.cu", "int a; // spread\nint spread_b;\n").unwrap();
        assert_eq!(lines, ["a.cu: `spread_b`: docs/conventions.md says `broadcast`"]);
    }

    #[test]
    fn a_page_without_the_table_is_an_error() {
        assert!(rules("# Conventions\n").is_err());
        assert!(rules(HEADING).is_err());
        assert!(rules(&TABLE.replace("`spread`", "spread")).is_err(), "a row that would refuse nothing");
    }
}
