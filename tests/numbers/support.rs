//! Running programs: interpreted in this process, compiled as processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::{env, fs};

use equelle::{interpret, pipeline};
use equelle_front::passes::OptLevel;
use equelle_runtime::Session;
use equelle_runtime::output::Record;
use equelle_runtime::session::Options;
use equellec::console::{Console, MessageFormat};

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    Interpreted0,
    Interpreted2,
    Compiled0,
    Compiled2,
}

/// Without programs compiled at -O0: they call the operations that interpretation at -O0 calls, and
/// all programs of the project are compared so in one executable (`cargo xtask cuda-host-tests`).
pub const EVERY_WAY: [How; 3] = [How::Interpreted0, How::Interpreted2, How::Compiled2];

/// Outputs of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// Scalars by tag, in order.
    pub scalars: BTreeMap<String, Vec<f64>>,
    /// Collections by tag, in order.
    pub collections: BTreeMap<String, Vec<Vec<f64>>>,
}

impl Outputs {
    /// The collections of a tag.
    pub fn fields(&self, tag: &str) -> &[Vec<f64>] {
        self.collections.get(tag).map_or(&[], Vec::as_slice)
    }

    /// The last collection of a tag.
    pub fn last(&self, tag: &str) -> &[f64] {
        self.fields(tag).last().unwrap_or_else(|| panic!("no output `{tag}`"))
    }
}

/// A path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A new empty folder that only this call knows.
pub fn scratch(name: &str) -> PathBuf {
    // Tests of a process run at once.
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{number}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// `equellec` with a build cache that all tests share.
pub fn equellec() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equellec"));
    if env::var_os("EQUELLE_CACHE_DIR").is_none() {
        command.env("EQUELLE_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("equelle-cache"));
    }
    command.env("NO_COLOR", "1");
    command
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a program that must succeed. `words` are parameter files and assignments; outputs are
/// collected, whatever the parameters say of them.
pub fn run(how: How, program: &str, words: &[&str]) -> Outputs {
    run_with(how, Dimensions::Checked, program, words)
}

/// True if the dimensions of a program are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimensions {
    Checked,
    /// `--nondimensional`, for programs without units.
    Unchecked,
}

/// As [`run`].
pub fn run_with(how: How, dimensions: Dimensions, program: &str, words: &[&str]) -> Outputs {
    match how {
        How::Interpreted0 => interpreted(OptLevel::O0, dimensions, program, words),
        How::Interpreted2 => interpreted(OptLevel::O2, dimensions, program, words),
        How::Compiled0 => compiled("-O0", dimensions, program, words),
        How::Compiled2 => compiled("-O2", dimensions, program, words),
    }
}

fn interpreted(level: OptLevel, dimensions: Dimensions, program: &str, words: &[&str]) -> Outputs {
    let console = Console { format: MessageFormat::Human, color: false };
    let source = pipeline::read(&repository(program)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let options = pipeline::Options { level, nondimensional: dimensions == Dimensions::Unchecked, ..Default::default() };
    let verified = pipeline::compile(&source, options, &console).unwrap_or_else(|failure| panic!("{program}: {failure:?}"));
    let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.push("output_to_file=false".into());
    let program = interpret::program(&source, &verified);
    let mut session = Session::open_with(program, &words, Options::silent()).unwrap_or_else(|error| panic!("{error:?}"));
    let records = session.record_outputs();
    interpret::run_in(interpret::Kernels::Lanes, &verified, session).unwrap_or_else(|error| panic!("{error:?}"));
    let mut outputs = Outputs::default();
    for record in records.take() {
        match record {
            Record::Scalar { tag, value } => outputs.scalars.entry(tag).or_default().push(value),
            Record::Collection { tag, values } => outputs.collections.entry(tag).or_default().push(values),
            other @ (Record::Bool { .. } | Record::Text { .. } | Record::Vector { .. } | Record::Vectors { .. }) => {
                panic!("these programs put out numbers, not {other:?}")
            }
        }
    }
    outputs
}

fn compiled(level: &str, dimensions: Dimensions, program: &str, words: &[&str]) -> Outputs {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let folder = scratch(&format!("run-{}", COUNTER.fetch_add(1, Ordering::Relaxed)));
    let (outputs, _) = run_simulator(&built_with(level, dimensions, program), &folder, words);
    outputs
}

/// Runs a simulator with outputs to a folder that is removed afterwards: the outputs, and what it
/// said on standard error.
pub fn run_simulator(simulator: &Path, folder: &Path, words: &[&str]) -> (Outputs, String) {
    fs::create_dir_all(folder).expect("a scratch folder can be written");
    let output = Command::new(simulator)
        .args(words)
        .arg("output_to_file=true")
        .arg(format!("output_dir={}", folder.display()))
        .output()
        .expect("a simulator that was built starts");
    assert!(output.status.success(), "{} {words:?}: {}", simulator.display(), stderr(&output));
    let outputs = read_outputs(&output, folder);
    fs::remove_dir_all(folder).expect("the output folder can be removed");
    (outputs, stderr(&output))
}

/// Reads the outputs of a simulator from standard output and a folder.
pub fn read_outputs(output: &Output, folder: &Path) -> Outputs {
    let mut outputs = Outputs::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((tag, value)) = line.split_once(" = ") {
            outputs.scalars.entry(tag.to_owned()).or_default().push(value.parse().unwrap_or_else(|_| panic!("{line}")));
        }
    }
    let mut files: Vec<PathBuf> = fs::read_dir(folder).expect("the output folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "output"));
    files.sort();
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let (tag, count) = name.rsplit_once('-').unwrap_or_else(|| panic!("{name}"));
        let fields = outputs.collections.entry(tag.to_owned()).or_default();
        assert_eq!(count.parse(), Ok(fields.len()), "files are numbered from 0");
        fields.push(numbers(&file));
    }
    outputs
}

/// The simulator of a program, built once.
pub fn built(level: &str, program: &str) -> PathBuf {
    built_with(level, Dimensions::Checked, program)
}

/// As [`built`].
pub fn built_with(level: &str, dimensions: Dimensions, program: &str) -> PathBuf {
    type Programs = Mutex<BTreeMap<(String, Dimensions, String), Arc<OnceLock<PathBuf>>>>;
    static PROGRAMS: Programs = Mutex::new(BTreeMap::new());
    let slot = {
        let mut programs = PROGRAMS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(programs.entry((level.to_owned(), dimensions, program.to_owned())).or_default())
    };
    slot.get_or_init(|| {
        // Texts of several folders may have one name.
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let stem = Path::new(program).file_stem().expect("a file").to_string_lossy();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = scratch(&format!("{stem}{level}-{number}"));
        let mut command = equellec();
        command.arg("build").arg(repository(program)).arg(level).args(["--force", "-o"]).arg(&folder);
        if dimensions == Dimensions::Unchecked {
            command.arg("--nondimensional");
        }
        let output = command.output().expect("equellec starts");
        assert!(output.status.success(), "{program} {level}: {}", stderr(&output));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    })
    .clone()
}

/// The numbers in a file, one a line.
pub fn numbers(path: &Path) -> Vec<f64> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| line.trim().parse().unwrap_or_else(|_| panic!("{}: `{line}`", path.display()))).collect()
}

/// Fails unless max|a - b| <= tolerance * max|b|.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: number of values");
    let scale = expected.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        // Written so that NaN fails.
        assert!((a - b).abs() <= tolerance * scale, "{what}: value {index} is {a}, expected {b}");
    }
}

/// Fails unless all values are the same, bit for bit.
pub fn assert_same_bits(a: &Outputs, b: &Outputs, what: &str) {
    let bits = |outputs: &Outputs| -> Vec<(String, Vec<u64>)> {
        let scalars = outputs.scalars.iter().map(|(tag, values)| (tag.clone(), values.iter().map(|v| v.to_bits()).collect()));
        let fields = outputs.collections.iter().flat_map(|(tag, fields)| {
            fields.iter().enumerate().map(move |(n, values)| (format!("{tag}-{n}"), values.iter().map(|v| v.to_bits()).collect()))
        });
        scalars.chain(fields).collect()
    };
    for ((tag, a), (other, b)) in bits(a).into_iter().zip(bits(b)) {
        assert_eq!(tag, other, "{what}: outputs");
        assert!(a == b, "{what}: `{tag}` differs, first at {:?}", a.iter().zip(&b).position(|(a, b)| a != b));
    }
    assert_eq!(bits(a).len(), bits(b).len(), "{what}: number of outputs");
}
