//! Building simulators with cargo.

use std::io::{BufRead, BufReader, ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use std::{env, fs, thread};

use equelle_runtime::hash::StableHash;
use equelle_runtime::io::Sink;
use equelle_runtime::{Error, ErrorKind};

use crate::cache::{Cache, version_hash};
use crate::emitter::{BuildProgress, Emitter};
use crate::failure::Failure;
use crate::processor::Flags;

/// Left in a package's folder when it has been built: the path of its program.
const STAMP: &str = "built";

/// The program of a folder of the cache, if it has been built.
pub fn built(folder: &Path) -> Option<PathBuf> {
    fs::read_to_string(folder.join(STAMP)).ok().map(PathBuf::from).filter(|program| program.is_file())
}

/// Left in the cache when the runtime has been built.
fn prepared(cache: &Cache, runtime: &str, flags: &Flags) -> PathBuf {
    cache.target().join(format!("prepared-{}-{runtime}-{}", version_hash(), flags.hash(StableHash::default()).digits()))
}

/// True if the runtime crates have been built, so that a program takes seconds.
pub fn is_prepared(cache: &Cache, runtime: &str, flags: &Flags) -> bool {
    prepared(cache, runtime, flags).exists()
}

/// A build of a package in a folder of the cache.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    /// The cache.
    pub cache: &'a Cache,
    /// The folder of the package.
    pub folder: &'a Path,
    /// Names the runtime crates for the message before the first build.
    pub runtime: &'a str,
    /// Flags of the compiler.
    pub flags: &'a Flags,
    /// Receiver of progress; none in the background.
    pub emitter: Option<&'a dyn Emitter>,
}

impl<'a> Build<'a> {
    /// Builds the package; returns the program.
    ///
    /// # Errors
    /// Cargo is missing or fails.
    pub fn run(&self) -> Result<PathBuf, Failure> {
        let &Build { cache, runtime, flags, emitter, .. } = self;
        let start = Instant::now();
        let mut begun = self.begin()?;
        let say = |text: &str| emitter.iter().for_each(|emitter| emitter.note(text));
        if prepared(cache, runtime, flags).exists() {
            say("Building the simulator");
        } else {
            say(&format!(
                "Building the runtime for the first time ({runtime}), which takes one to three minutes; later builds take seconds"
            ));
        }
        loop {
            match begun.next()? {
                NextStep::Built(program) => {
                    say(&format!("Built in {:.1} s", start.elapsed().as_secs_f64()));
                    return Ok(program);
                }
                NextStep::Begun(again) => begun = again,
            }
        }
    }

    /// Starts cargo.
    ///
    /// # Errors
    /// Cargo is missing.
    pub fn begin(&self) -> Result<Begun<'a>, Failure> {
        Ok(Begun { build: *self, attempt: Attempt::begin(self, Network::Unused)?, network: Network::Unused })
    }
}

/// A build that goes on.
pub struct Begun<'a> {
    build: Build<'a>,
    attempt: Attempt,
    network: Network,
}

/// The step after an attempt to build.
pub enum NextStep<'a> {
    /// The program.
    Built(PathBuf),
    /// Another attempt, which fetches the crates that are not on this machine.
    Begun(Begun<'a>),
}

impl<'a> Begun<'a> {
    /// True if [`Begun::next`] has nothing to wait for.
    pub fn is_over(&self) -> bool {
        self.attempt.messages.is_finished()
    }

    /// Waits for the attempt.
    ///
    /// # Errors
    /// Cargo is missing or fails.
    pub fn next(self) -> Result<NextStep<'a>, Failure> {
        let Begun { build, attempt, network } = self;
        let outcome = attempt.finish()?;
        if outcome.program.is_none() && !outcome.rejected && network == Network::Unused {
            let network = Network::Allowed;
            return Ok(NextStep::Begun(Begun { build, attempt: Attempt::begin(&build, network)?, network }));
        }
        let Some(program) = outcome.program else { return Err(explain(&outcome)) };
        let write = |path: &Path, text: &str| {
            Sink::Files.write(path, |out| out.write_all(text.as_bytes())).map_err(|error| Failure::io("write", path, &error))
        };
        write(&prepared(build.cache, build.runtime, build.flags), "")?;
        write(&build.folder.join(STAMP), &program.to_string_lossy())?;
        Ok(NextStep::Built(program))
    }

    /// Ends the build. What it has finished is there for the next one.
    pub fn stop(mut self) {
        // It may have ended by itself.
        let _ = self.attempt.cargo.kill();
        let _ = self.attempt.cargo.wait();
    }
}

/// True if cargo may fetch crates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Network {
    Unused,
    Allowed,
}

/// A run of cargo.
struct Attempt {
    cargo: Child,
    bar: Arc<Mutex<Option<Box<dyn BuildProgress>>>>,
    /// Gives the program, if there is one.
    messages: JoinHandle<Option<PathBuf>>,
    /// Gives everything on standard error.
    progress: JoinHandle<String>,
}

/// Outcome of one run of cargo.
struct Outcome {
    /// The program, if it was built.
    program: Option<PathBuf>,
    /// The compiler rejected something, so another run would not help.
    rejected: bool,
    /// Everything on standard error.
    log: String,
}

impl Attempt {
    fn begin(build: &Build<'_>, network: Network) -> Result<Attempt, Failure> {
        let &Build { cache, folder, flags, emitter, .. } = build;
        let mut command = cargo();
        command
            .arg("build")
            .args(["--release", "--message-format=json-render-diagnostics", "--manifest-path"])
            .arg(folder.join("Cargo.toml"));
        command.arg("--target-dir").arg(cache.target());
        if network == Network::Unused {
            command.arg("--offline");
        }
        if let Some(configuration) = flags.configuration() {
            command.arg("--config").arg(configuration);
        }
        command.envs(flags.variable());
        // Cargo reads configuration from the current folder upwards; what is built must not depend
        // on where the user stands.
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Cargo tells how many units there are with a bar alone.
        command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "60");
        let mut cargo = command.spawn().map_err(|error| cannot_start(&error))?;
        let (Some(stdout), Some(stderr)) = (cargo.stdout.take(), cargo.stderr.take()) else {
            return Err(Failure::Internal("cargo has no output".into()));
        };
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let bar = Arc::new(Mutex::new(emitter.map(|emitter| emitter.build(&manifest))));
        let simulator = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let shown = Arc::clone(&bar);
        let progress = thread::spawn(move || forward_progress(stderr, &simulator, &shown));
        let shown = Arc::clone(&bar);
        let messages = thread::spawn(move || read_messages(stdout, &shown));
        Ok(Attempt { cargo, bar, messages, progress })
    }

    fn finish(mut self) -> Result<Outcome, Failure> {
        let program = self.messages.join().unwrap_or_default();
        let status = self.cargo.wait().map_err(|error| cannot_start(&error))?;
        let log = self.progress.join().unwrap_or_default();
        with_bar(&self.bar, |bar| bar.close());
        let rejected = log.contains("could not compile");
        Ok(Outcome { program: program.filter(|_| status.success()), rejected, log })
    }
}

/// Follows what cargo has made; returns the program.
fn read_messages(stdout: impl Read, bar: &Mutex<Option<Box<dyn BuildProgress>>>) -> Option<PathBuf> {
    let mut program = None;
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        if let Some(name) = message["target"]["name"].as_str() {
            with_bar(bar, |bar| bar.is_made(name, message["fresh"] == true));
        }
        if let Some(path) = message["executable"].as_str() {
            program = Some(PathBuf::from(path));
        }
    }
    program
}

fn with_bar(bar: &Mutex<Option<Box<dyn BuildProgress>>>, change: impl FnOnce(&mut dyn BuildProgress)) {
    if let Some(bar) = bar.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        change(bar.as_mut());
    }
}

/// Shows what cargo compiles and fetches; returns the log, which a failure needs. The name of the
/// simulator's own package means nothing to the user.
fn forward_progress(mut stderr: impl Read, simulator: &str, bar: &Mutex<Option<Box<dyn BuildProgress>>>) -> String {
    let (mut log, mut rest, mut bytes) = (String::new(), Vec::new(), [0; 4096]);
    let mut line = |line: &str| {
        let line = plain(line);
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("Building" | "Blocking" | "Updating"), Some(what)) if what.starts_with('[') || what == "waiting" => {
                return units(&line).map_or((), |units| with_bar(bar, |bar| bar.units(units)));
            }
            (Some(verb @ ("Compiling" | "Downloading" | "Downloaded")), Some(what)) => {
                let what = if what == simulator { "the simulator" } else { what };
                with_bar(bar, |bar| bar.begins(&verb.to_lowercase(), what));
            }
            _ => {}
        }
        log.push_str(&line);
        log.push('\n');
    };
    while let Ok(count) = stderr.read(&mut bytes) {
        if count == 0 {
            break;
        }
        rest.extend_from_slice(&bytes[..count]);
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let text: Vec<u8> = rest.drain(..=end).collect();
            let text = String::from_utf8_lossy(&text[..end]);
            if !text.trim().is_empty() {
                line(&text);
            }
        }
    }
    if !rest.is_empty() {
        line(&String::from_utf8_lossy(&rest));
    }
    log
}

/// A line of a terminal without its control sequences.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // `ESC [ ... letter`
            let _ = rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            text.push(c);
        }
    }
    text
}

/// The number of units of `Building [===>  ] 45/109: serde`.
fn units(line: &str) -> Option<usize> {
    line.split_once(']')?.1.split(':').next()?.trim().split_once('/')?.1.trim().parse().ok()
}

/// The cargo that runs this process, if one does, else the one on the path.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Copies the crates of registries that a package needs to its folder `vendor`, without a network
/// if they are on this machine; returns the configuration that makes cargo use them.
///
/// # Errors
/// Cargo is missing or fails.
pub fn vendor(folder: &Path) -> Result<String, Failure> {
    // With `--quiet` cargo does not print the configuration.
    let run = |offline: bool| {
        let mut command = cargo();
        command.args(["vendor", "--versioned-dirs", "vendor"]).args(offline.then_some("--offline"));
        command.current_dir(folder).stdin(Stdio::null()).output().map_err(|error| cannot_start(&error))
    };
    let first = run(true)?;
    let output = if first.status.success() { first } else { run(false)? };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let log = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    let error = Error::new(ErrorKind::Backend, format!("cargo cannot copy the crates that the runtime needs\n{log}"));
    Err(error.hint("`cargo vendor` fetches crates that are not on this machine: try again with a network").into())
}

/// Returns the output of `cargo --version`.
///
/// # Errors
/// Cargo cannot be run.
pub fn version() -> Result<String, Failure> {
    let output = cargo().arg("--version").stdin(Stdio::null()).output().map_err(|error| cannot_start(&error))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn cannot_start(error: &std::io::Error) -> Failure {
    let message = match error.kind() {
        IoErrorKind::NotFound => "cargo was not found: simulators are built with the Rust tool chain".to_owned(),
        _ => format!("cargo cannot be run: {error}"),
    };
    let hint = "install Rust from https://rustup.rs, or try `equellec run --interpret`, which needs no compiler";
    Error::new(ErrorKind::Backend, message).hint(hint).into()
}

fn explain(attempt: &Outcome) -> Failure {
    if attempt.log.contains("linker `") && attempt.log.contains("not found") {
        let error = Error::new(ErrorKind::Backend, format!("the simulator cannot be linked\n{}", attempt.log.trim_end()));
        return error.hint("install a C compiler: Rust uses its linker").into();
    }
    if attempt.rejected {
        return Failure::Internal(format!("the generated program does not compile\n{}", attempt.log.trim_end()));
    }
    Error::new(ErrorKind::Backend, format!("cargo cannot build the simulator\n{}", attempt.log.trim_end())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_units_is_read_from_cargos_bar() {
        let line = "\u{1b}[1m\u{1b}[36m    Building\u{1b}[0m [=====>                ] 45/109: serde, syn(build)";
        assert_eq!(plain(line), "    Building [=====>                ] 45/109: serde, syn(build)");
        assert_eq!(units(&plain(line)), Some(109));
        assert_eq!(units("    Building something"), None);
    }
}
