//! Expected texts of the tests (diagnostics, IR, generated code).

use std::process::Command;

use crate::tools::{self, Failure, cargo, root};

/// The variable that makes the tests write what they find instead of comparing it.
const BLESS: &str = "EQUELLE_BLESS";

/// The targets whose tests have expected texts, as arguments of cargo. Of the whole workspace, so
/// that what `cargo test --workspace` has built serves here.
const TARGETS: [&str; 4] = ["--bin=xtask", "--test=host", "--test=language", "--test=texts"];

/// Runs those tests so that they write their expected texts. With `check`, fails if that changes a
/// file that git knows.
pub(crate) fn bless(check: bool) -> Result<(), Failure> {
    let before = status()?;
    tools::run(cargo().args(["test", "--workspace", "--quiet"]).args(TARGETS).env(BLESS, "1"))?;
    let after = status()?;
    if before == after {
        eprintln!("xtask: nothing changed");
        return Ok(());
    }
    let changed: Vec<&str> = after.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
    if check { Err(format!("expected texts are out of date:\n{}", changed.join("\n"))) } else { tools::run(git().args(["diff", "--stat"])) }
}

/// Tracked files that differ from the index, with their content's hash, and untracked files.
fn status() -> Result<String, Failure> {
    let mut text = String::new();
    for arguments in [&["diff", "--raw", "--no-abbrev"][..], &["diff", "--shortstat"], &["ls-files", "--others", "--exclude-standard"]] {
        let output = git().args(arguments).output().map_err(|error| format!("git cannot be run: {error}"))?;
        if !output.status.success() {
            return Err(format!("git failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        text.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    Ok(text)
}

fn git() -> Command {
    let mut command = Command::new("git");
    command.current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Targets of tests below a folder of the workspace whose files name the variable.
    fn targets(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder of the workspace").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                targets(&path, found);
            } else if name.ends_with(".rs") && fs::read_to_string(&path).is_ok_and(|text| text.contains(BLESS)) {
                let place: Vec<_> = path.strip_prefix(root()).expect("below the root").iter().map(|part| part.to_string_lossy()).collect();
                let below = place.iter().position(|part| part == "tests").map(|tests| &place[tests + 1..]);
                found.insert(match below {
                    // The file, or the folder, directly below `tests/` is the target.
                    Some([first, ..]) => format!("--test={}", first.trim_end_matches(".rs")),
                    _ => format!("--bin={}", place[0]),
                });
            }
        }
    }

    #[test]
    fn all_targets_with_expected_texts_are_known() {
        let mut found = BTreeSet::new();
        targets(&root(), &mut found);
        let known: BTreeSet<String> = TARGETS.map(str::to_owned).into();
        assert_eq!(found, known);
    }
}
