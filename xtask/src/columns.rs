//! `cargo xtask columns`: comments and Markdown prose have at most 100 columns.
//!
//! Tables, code, links that are longer by themselves, and expected texts of tests are left out.

use crate::tools::{Failure, read, root, tracked_files};

/// Columns of a line of prose.
const COLUMNS: usize = 100;
/// Expected texts, which say what a program prints.
const EXPECTED: [&str; 3] = ["tests/golden/", "tests/ui/", "tests/ir/"];

/// Fails, with a line each, where a line is too long.
pub(crate) fn run() -> Result<(), Failure> {
    let mut count = 0;
    for file in tracked_files(&["rs", "cu", "cuh", "md"])? {
        if EXPECTED.iter().any(|folder| file.contains(folder)) {
            continue;
        }
        let text = read(&root().join(&file))?;
        let lines = if file.ends_with(".md") { long_prose(&text) } else { long_comments(&text) };
        lines.iter().for_each(|line| println!("{file}:{line}"));
        count += lines.len();
    }
    if count == 0 { Ok(()) } else { Err(format!("{count} lines of prose have more than {COLUMNS} columns")) }
}

/// True if a line is too long for another reason than one long word, such as a link.
fn is_too_long(line: &str) -> bool {
    line.chars().count() > COLUMNS && line.split_whitespace().all(|word| word.chars().count() < COLUMNS / 2)
}

/// Numbers of the comment lines that are too long.
fn long_comments(text: &str) -> Vec<usize> {
    let mut is_code = false;
    numbers(text.lines().map(|line| {
        let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        is_code ^= comment.starts_with("```");
        !is_code && !comment.starts_with('|') && is_too_long(line)
    }))
}

/// Numbers of the lines of prose that are too long.
fn long_prose(text: &str) -> Vec<usize> {
    let mut is_code = false;
    numbers(text.lines().map(|line| {
        let start = line.trim_start();
        is_code ^= start.starts_with("```");
        !is_code && !start.starts_with(['|', '<']) && is_too_long(line)
    }))
}

/// The places, from 1, where something holds.
fn numbers(holds: impl Iterator<Item = bool>) -> Vec<usize> {
    holds.zip(1..).filter_map(|(holds, line)| holds.then_some(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_of_prose_are_found() {
        let long = "word ".repeat(25);
        assert_eq!(long_prose(&format!("short\n{long}\n| {long} |\n```\n{long}\n```\n- {long}\n")), [2, 7]);
        assert_eq!(long_comments(&format!("let a = 0; // {long}\n    /// {long}\n// short\n//! {long}\n// | {long}\n")), [2, 4]);
        assert_eq!(long_comments(&format!("/// ```\n/// {long}\n/// ```\n/// {long}\n")), [4]);
        let link = format!("[text](https://example.org/{})", "path/".repeat(20));
        assert_eq!(long_prose(&format!("as {link} says, with some words before it")), [0; 0]);
    }
}
