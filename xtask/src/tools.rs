//! Helpers shared by the commands.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

/// Reason why a command failed.
pub(crate) type Failure = String;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Cargo, in the folder of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command to its end, shown on standard error first.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    eprintln!("xtask: {} {}", command.get_program().to_string_lossy(), words.join(" "));
    let status = command.status().map_err(|error| format!("{} cannot be run: {error}", command.get_program().to_string_lossy()))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", command.get_program().to_string_lossy())) }
}

/// Files that git knows with one of these endings, as paths from the root of the workspace.
pub(crate) fn tracked_files(endings: &[&str]) -> Result<Vec<String>, Failure> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = git.output().map_err(|error| format!("git cannot be run: {error}"))?;
    if !listed.status.success() {
        return Err(format!("git does not list the files: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let files = String::from_utf8_lossy(&listed.stdout).into_owned();
    let wanted = |file: &&str| file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending)) && root().join(file).is_file();
    Ok(files.lines().filter(wanted).map(str::to_owned).collect())
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

/// An example: name of its folder, which is also the stem of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Example {
    pub name: String,
    /// True if it uses Newton's method.
    pub implicit: bool,
}

impl Example {
    /// Path of the program.
    pub(crate) fn program(&self) -> String {
        format!("examples/{0}/{0}.equelle", self.name)
    }

    /// Path of its parameter file.
    pub(crate) fn case(&self) -> String {
        format!("examples/{}/case.param", self.name)
    }
}

/// All examples, by name.
pub(crate) fn examples() -> Result<Vec<Example>, Failure> {
    let folder = root().join("examples");
    let mut examples = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| format!("cannot list `{}`: {error}", folder.display()))? {
        let name = entry.map_err(|error| error.to_string())?.file_name().to_string_lossy().into_owned();
        let program = folder.join(&name).join(format!("{name}.equelle"));
        if program.is_file() {
            examples.push(Example { implicit: read(&program)?.contains("NewtonSolve"), name });
        }
    }
    examples.sort();
    Ok(examples)
}

/// The compiler of this workspace, built once for all calls, with a build cache below target/. The
/// profile is `dev` or `release`.
pub(crate) fn equellec(profile: &str) -> Result<Command, Failure> {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // Nobody panics while it is locked; and what it holds would still be true.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    // With the features that the whole workspace asks for, as the tests have it: nothing is
    // compiled twice.
    if !built.contains(profile) {
        run(cargo().args(["build", "--quiet", "--workspace", "--bin", "equellec", "--profile", profile]))?;
        built.insert(profile.to_owned());
    }
    drop(built);
    let folder = if profile == "dev" { "debug" } else { profile };
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder));
    let mut command = Command::new(target.join(folder).join(format!("equellec{}", env::consts::EXE_SUFFIX)));
    command.current_dir(root());
    if env::var_os("EQUELLE_CACHE_DIR").is_none() {
        command.env("EQUELLE_CACHE_DIR", root().join("target/equelle-cache"));
    }
    Ok(command)
}

/// One value a line, with the fewest digits that read back as the same number.
pub(crate) fn lines<T: std::fmt::Display>(values: impl Iterator<Item = T>) -> String {
    values.fold(String::new(), |mut text, value| {
        let _ = writeln!(text, "{value}");
        text
    })
}

/// The `cell value` lines of a file of samples.
pub(crate) fn samples(path: &Path) -> Result<Vec<(usize, f64)>, Failure> {
    let text = read(path)?;
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs.filter_map(|(cell, value)| Some((cell.parse().ok()?, value.parse().ok()?))).collect())
}

/// Makes an empty folder.
pub(crate) fn empty_folder(folder: &Path) -> Result<(), Failure> {
    let removed = if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) };
    removed.and_then(|()| fs::create_dir_all(folder)).map_err(|error| format!("cannot empty `{}`: {error}", folder.display()))
}
