//! Expected texts of the tests (diagnostics, IR, generated code).

use std::process::Command;

use crate::tools::{self, Failure, cargo, root};

/// The variable that makes the tests write what they find instead of comparing it.
const BLESS: &str = "EQUELLE_BLESS";

/// Runs the tests so that they write their expected texts. With `check`, fails if that changes a file that git knows.
pub(crate) fn bless(check: bool) -> Result<(), Failure> {
    let before = status()?;
    tools::run(cargo().args(["test", "--workspace", "--quiet"]).env(BLESS, "1"))?;
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
