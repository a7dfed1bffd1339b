//! Openings of comments: a sentence begins with its subject, not with a clause in its place.

use std::collections::BTreeMap;

use crate::tools::{Failure, read, root, tracked_files};

/// Words that open a clause where a subject should stand: "What a kernel reads" for "Reads of a
/// kernel".
const CLAUSES: [&str; 3] = ["What", "Whether", "Of"];

/// The most comments that may open so, for each thousand lines of comments of a crate.
const MAX_PER_THOUSAND: usize = 5;

/// Lines of comments, and where a comment opens with a clause.
#[derive(Debug, Default, PartialEq, Eq)]
struct Comments {
    lines: usize,
    clauses: Vec<usize>,
}

impl Comments {
    /// The comments of a Rust file.
    fn new(text: &str) -> Comments {
        let mut comments = Comments::default();
        let mut is_open = true;
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                is_open = true;
                continue;
            };
            comments.lines += 1;
            let words = comment.trim_start_matches(['/', '!']).trim_start();
            let first = words.split(|character: char| !character.is_alphabetic()).next().unwrap_or_default();
            if is_open && CLAUSES.contains(&first) {
                comments.clauses.push(number + 1);
            }
            is_open = words.is_empty();
        }
        comments
    }
}

/// Fails, with a line for each comment, where too many comments of a crate open with a clause.
///
/// # Errors
/// As said, and files that cannot be read.
pub(crate) fn check() -> Result<(), Failure> {
    let mut crates: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for file in tracked_files(&["rs"])?.iter().filter(|file| !file.starts_with("tests/golden/")) {
        let Comments { lines, clauses } = Comments::new(&read(&root().join(file))?);
        let folder = file.split('/').next().filter(|folder| root().join(folder).join("Cargo.toml").is_file());
        let (all, found) = crates.entry(folder.unwrap_or("equellec").to_owned()).or_default();
        *all += lines;
        found.extend(clauses.iter().map(|line| format!("{file}:{line}")));
    }
    let too_many: Vec<String> =
        crates.into_values().filter(|(lines, found)| found.len() * 1000 > MAX_PER_THOUSAND * lines).flat_map(|(_, found)| found).collect();
    too_many.iter().for_each(|place| println!("{place}: the comment does not begin with its subject"));
    if too_many.is_empty() { Ok(()) } else { Err(format!("{} comments open with {}", too_many.len(), CLAUSES.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_count_where_a_comment_opens() {
        let text =
            "/// What a kernel reads.\nfn a() {}\n\n//! Reads of a kernel.\n//! Of these, some\n//!\n//! Whether it is.\n    // Offsets.\n";
        assert_eq!(Comments::new(text), Comments { lines: 6, clauses: vec![1, 7] });
        assert_eq!(Comments::new("let what = 1; // What\n"), Comments::default());
    }
}
