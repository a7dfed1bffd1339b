//! `cargo xtask text-search`: no code generator looks into text that it has written.
//!
//! Uses of a kernel are known from the IR (`equelle_front::backend::usage`) or noted where a
//! reference is written (`emit/uses.rs` of a back-end). Lines are looked at by their methods: those
//! that texts alone have, and searches for a literal.

use crate::tools::{Failure, read, root, tracked_files};

/// Folders of the generators.
const GENERATORS: [&str; 2] = ["backend-serial/src/codegen/", "backend-cuda/src/codegen/"];

/// Code that looks into a text. A set has `contains` and an iterator `find`, but not of a literal.
const SEARCHES: [&str; 27] = [
    ".contains(\"",
    ".contains('",
    ".contains(|",
    ".contains(&format!",
    ".find(\"",
    ".find('",
    ".find(&format!",
    ".rfind(",
    ".matches(",
    ".match_indices(",
    ".rmatch",
    ".split(",
    ".split_",
    ".rsplit",
    ".lines()",
    ".chars()",
    ".char_indices()",
    ".bytes()",
    ".starts_with(",
    ".ends_with(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".trim_",
    ".replace(\"",
    ".to_string() ==",
    "TokenTree",
    "mentions(",
];

/// Lines that may: file, line and reason.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("backend-serial/src/codegen/emit/writer.rs", "namer.reserve(RESERVED.split(' '));", "a constant list of words"),
    ("backend-cuda/src/codegen/emit/writer.rs", "names.reserve(RESERVED.split(' '));", "a constant list of words"),
    (
        "backend-cuda/src/codegen/emit/writer.rs",
        "let name = self.sets.get(set).name.trim_end_matches(\"()\").to_owned();",
        "the name that a set has in the IR",
    ),
    (
        "backend-cuda/src/codegen/host.rs",
        "let docs = lines.iter().map(|line| format!(\" {}\", line.replace(\"->\", \"→\")));",
        "lines of the Equelle program",
    ),
    (
        "backend-serial/src/codegen/cartesian/boundary.rs",
        "let both = low.to_string() == high.to_string();",
        "whether two ends have one text, whatever it says",
    ),
];

/// Fails, with a line each, where a generator searches a text, or where an exception holds for no
/// line.
pub(crate) fn run() -> Result<(), Failure> {
    let mut unused = EXCEPTIONS.to_vec();
    let mut found = Vec::new();
    for file in tracked_files(&["rs"])? {
        if GENERATORS.iter().any(|folder| file.starts_with(folder)) {
            for (number, line) in searches(&read(&root().join(&file))?) {
                let count = unused.len();
                unused.retain(|(of, text, _)| (*of, *text) != (&file, line));
                if unused.len() == count {
                    found.push(format!("{file}:{number}: {line}"));
                }
            }
        }
    }
    found.extend(unused.iter().map(|(file, line, _)| format!("{file}: the exception `{line}` is not needed")));
    found.iter().for_each(|line| println!("{line}"));
    if found.is_empty() { Ok(()) } else { Err(format!("{} places where a code generator searches text", found.len())) }
}

/// The lines of a file that search a text, with their numbers; tests, which stand last, may.
fn searches(text: &str) -> Vec<(usize, &str)> {
    let code = text.lines().map(str::trim).take_while(|line| !line.starts_with("mod tests {"));
    let is_search = |line: &str| !line.starts_with("//") && SEARCHES.iter().any(|search| line.contains(search));
    (1..).zip(code).filter(|(_, line)| is_search(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_of_text_are_found_and_those_of_sets_are_not() {
        let text = "\
let heavy = body.matches(\" / \").count();
if params.contains(&number) && args.iter().find(|arg| arg.is_used()).is_some() {}
// body.lines()
#[cfg(test)]
let used = body.contains(\"here\");
mod tests { let used = body.contains(\"here\"); }
";
        assert_eq!(searches(text).into_iter().map(|(number, _)| number).collect::<Vec<_>>(), [1, 5]);
    }
}
