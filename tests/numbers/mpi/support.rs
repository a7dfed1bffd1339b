//! MPIs of this machine, and runs by their launchers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use equelle_mpi::find;

use crate::support::{equellec, repository, scratch, stderr};

/// An MPI, whose launcher `mpiexec` is first on the PATH of its runs.
#[derive(Clone, Debug)]
pub struct Mpi {
    pub name: String,
    pub is_open: bool,
    path: String,
    pub launcher: PathBuf,
    pub library: PathBuf,
}

/// All MPIs: those of the PATH, by the names that Debian gives them too, and those that `.ci/full`
/// installs below `target/`.
pub fn all() -> Vec<Mpi> {
    let paths = env::var("PATH").unwrap_or_default();
    let on_path = |name: &str| env::split_paths(&paths).map(|folder| folder.join(name)).find(|program| program.is_file());
    let own =
        ["mpich", "openmpi"].map(|name| repository("target/mpi").join(name).join("bin/mpiexec")).into_iter().filter(|path| path.is_file());
    let programs = ["mpiexec", "mpiexec.openmpi", "mpiexec.mpich"].into_iter().filter_map(on_path).chain(own);
    let mut found: Vec<Mpi> = Vec::new();
    for mpi in programs.filter_map(|program| at(&program, &paths)) {
        if found.iter().all(|known| known.name != mpi.name) {
            found.push(mpi);
        }
    }
    found
}

/// The first MPI; tells where there is none, so that tests are left out.
pub fn first() -> Option<Mpi> {
    let found = all().into_iter().next();
    if found.is_none() {
        eprintln!("left out: no MPI is installed (apt install openmpi-bin)");
    }
    found
}

fn at(program: &Path, paths: &str) -> Option<Mpi> {
    let launcher = find::launcher_at(program)?;
    let folder = if program.file_name().is_some_and(|name| name == "mpiexec") {
        program.parent()?.to_owned()
    } else {
        let folder = scratch("mpi_launcher");
        #[cfg(unix)]
        std::os::unix::fs::symlink(program, folder.join("mpiexec")).ok()?;
        folder
    };
    let libraries = find::libraries(launcher.family, &find::folders_of(program));
    let library = libraries.into_iter().find(|path| path.is_file())?;
    let is_open = launcher.family == equelle_mpi::Family::OpenMpi;
    let name = format!("{} {}", launcher.family.name(), launcher.version);
    Some(Mpi { name, is_open, path: format!("{}:{paths}", folder.display()), launcher: folder.join("mpiexec"), library })
}

impl Mpi {
    /// Lets a command find this MPI first, and its launcher start ranks as root. The driver lets
    /// them share cores where there are more of them.
    pub fn prepare<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("PATH", &self.path).envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
    }

    /// `equellec` with these words.
    pub fn equellec(&self, words: &[String]) -> Command {
        let mut command = equellec();
        self.prepare(&mut command).args(words);
        command
    }

    /// A shell script on each of so many ranks; `$RANK` is its number.
    pub fn shell(&self, n_ranks: u32, script: &str) -> Command {
        let mut command = Command::new(find::launcher_at(&self.launcher).expect("a launcher").program);
        let script = format!("RANK=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {script}");
        self.prepare(&mut command).args(["-n", &n_ranks.to_string(), "sh", "-c", &script]);
        // A user who starts a launcher says so alone.
        command.envs([("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")]);
        command.env("NO_COLOR", "1");
        command
    }
}

/// Words of a command line.
pub fn words<T: ToString>(words: &[T]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// First character of lines that a driver reads.
const MARK: char = '\u{1e}';

/// The end of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub after: Duration,
}

impl Ended {
    fn of(output: Output, after: Duration) -> Ended {
        let text = stderr(&output);
        Ended { code: output.status.code(), stdout: String::from_utf8_lossy(&output.stdout).into_owned(), stderr: text, after }
    }

    /// Number of errors that it has printed.
    pub fn n_errors(&self) -> usize {
        self.stderr.lines().filter(|line| line.trim_start_matches(MARK).starts_with("error")).count()
    }
}

/// Starts a command whose output is read at its end.
pub fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Waits for a command.
pub fn end(child: Child) -> Ended {
    let since = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    Ended::of(output, since.elapsed())
}

/// Runs a command.
pub fn run(command: &mut Command) -> Ended {
    end(start(command))
}

/// Processes whose command lines have all of these words, and begin with a program of this name.
pub fn processes(program: &str, has: &[&str]) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut found: Vec<u32> = numbers
        .filter(|number| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let line: Vec<String> = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
            let begins = line.first().is_some_and(|first| first.rsplit('/').next() == Some(program));
            begins && has.iter().all(|word| line.iter().any(|found| found == word))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Ranks of a run that interprets, by its output folder.
pub fn ranks_of(folder: &Path) -> Vec<u32> {
    processes("equellec", &["--as-rank", &format!("output_dir={}", folder.display())])
}

/// Sends a signal.
pub fn signal(name: &str, process: u32) {
    let status = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().expect("kill runs");
    assert!(status.success(), "kill -{name} {process}");
}

/// Waits until something holds.
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what} does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Outputs in a folder, by name: no records of runs, and nothing hidden.
pub fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && !name.ends_with(".json") && !name.starts_with('.') {
            files.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
    files
}
