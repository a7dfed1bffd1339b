//! Openings of comments: a sentence begins with its subject, not with a clause in its place.

use crate::tools::{Failure, read, root, tracked_files};

/// Words that open a clause where a subject should stand: "What a kernel reads" for "Reads of a
/// kernel".
const CLAUSES: [&str; 3] = ["What", "Whether", "Of"];

/// Numbers of the lines of a Rust file where a comment opens with a clause.
fn clauses(text: &str) -> Vec<usize> {
    let (mut found, mut is_open) = (Vec::new(), true);
    for (number, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_open = true;
            continue;
        };
        let words = comment.trim_start_matches(['/', '!']).trim_start();
        let first = words.split(|character: char| !character.is_alphabetic()).next().unwrap_or_default();
        if is_open && CLAUSES.contains(&first) {
            found.push(number + 1);
        }
        is_open = words.is_empty();
    }
    found
}

/// Fails, with a line for each comment that opens with a clause.
///
/// # Errors
/// As said, and files that cannot be read.
pub(crate) fn check() -> Result<(), Failure> {
    let mut found = 0;
    for file in tracked_files(&["rs"])? {
        for line in clauses(&read(&root().join(&file))?) {
            println!("{file}:{line}: the comment does not begin with its subject");
            found += 1;
        }
    }
    if found == 0 { Ok(()) } else { Err(format!("{found} comments open with {}", CLAUSES.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_count_where_a_comment_opens() {
        let text =
            "/// What a kernel reads.\nfn a() {}\n\n//! Reads of a kernel.\n//! Of these, some\n//!\n//! Whether it is.\n    // Offsets.\n";
        assert_eq!(clauses(text), [1, 7]);
        assert!(clauses("let what = 1; // What\n").is_empty());
    }
}
