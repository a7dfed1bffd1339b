//! Every program of the project with data to run on: an example on its own, shortened to a few
//! steps; a program of the tests on data made for it, or what [`table`] says. One that is new is
//! found by itself.

mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, iter};

use equelle::interpret;
use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::Numbers;
use equelle_front::lower::lower;
use equelle_front::passes::{OptLevel, optimise};
use equelle_front::source::SourceMap;
use equelle_front::verify::{Verified, verify};
use equelle_runtime::session::grid_from_parameters;
use equelle_runtime::{InputKind, Parameters, Program};

use crate::inputs::invented;
use crate::outcome::Tolerance;
pub use table::SinglePrecision;
use table::{OVERRIDES, ProgramOverrides, SOLVED, STEPS};

/// A program with its runs.
pub struct Subject {
    /// An identifier.
    pub name: String,
    source: SourceMap,
    /// True if units are checked: some programs compare numbers without a unit to others, as in the
    /// original project, and are for `--nondimensional`.
    pub units: bool,
    /// True if it is one of the examples.
    pub example: bool,
    /// Tolerance of outputs if it solves equations.
    pub solved: Option<Tolerance>,
    /// Treatment in single precision.
    pub single: SinglePrecision,
    /// The most steps of a run.
    pub steps: usize,
    /// Description of it for the runtime.
    pub runnable: Arc<Program>,
    /// Grids and data that it runs on.
    pub cases: Vec<Case>,
}

/// A grid with data.
#[derive(Clone)]
pub struct Case {
    /// For messages.
    pub name: String,
    words: Vec<String>,
    /// True if the grid is Cartesian.
    pub cartesian: bool,
    /// True if the program reads by index, and runs on such grids alone.
    reads_by_index: bool,
    /// True if geometry worked out from indices is to the bit that of arrays.
    pub exact: bool,
}

impl Case {
    /// The same with more words.
    pub fn with(&self, more: &[&str]) -> Case {
        Case { words: self.words(more), ..self.clone() }
    }

    /// Layouts of the grid, as words of a run: as it is, and as arrays whose cells and faces have
    /// another order than the file.
    pub fn layouts(&self) -> &'static [&'static [&'static str]] {
        match (self.cartesian, self.reads_by_index) {
            (_, true) => &[&[]],
            (true, false) => &[&[], &["grid_layout=unstructured", "renumber=yes"]],
            (false, false) => &[&["renumber=no"], &["renumber=yes"]],
        }
    }

    /// The words of a run.
    pub fn words(&self, more: &[&str]) -> Vec<String> {
        self.words.iter().cloned().chain(more.iter().map(ToString::to_string)).collect()
    }
}

/// The folder of the project.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there")
}

/// Files below a folder of the repository whose names end so, sorted.
fn files(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, ending, into);
        } else if path.to_string_lossy().ends_with(ending) {
            into.push(path);
        }
    }
}

/// All programs of the project: the examples, and those beside the tests. Texts of diagnostics are
/// none, nor are programs that are there to fail; `tests/conformance`, `tests/wording` and
/// `tests/stories` run their own programs, of which [`ALSO_COMPILED`] are compiled here.
fn programs() -> Vec<String> {
    let root = repository();
    let mut found = Vec::new();
    for folder in ["examples", "tests"] {
        files(&root.join(folder), ".equelle", &mut found);
    }
    let names = found.iter().map(|path| path.strip_prefix(&root).expect("below it").with_extension("").display().to_string());
    let others = ["tests/ui/", "tests/golden/", "tests/run/failing/", "tests/wording/", "tests/stories/"];
    names.filter(|name| ALSO_COMPILED.contains(&name.as_str()) || !others.iter().any(|folder| name.starts_with(folder))).collect()
}

/// A cell chosen by data is an access path of Cartesian forms.
const ALSO_COMPILED: [&str; 1] = ["tests/wording/upwind_cells"];

/// Every program with its runs. Data that no file of the repository has are written to a folder.
///
/// # Panics
/// If the folder cannot be written, or a program or its data are not right, naming it.
pub fn subjects(folder: &Path) -> Vec<Subject> {
    let programs = programs();
    let paths = |known: &ProgramOverrides| format!("{}/{}", known.program, known.program.rsplit('/').next().unwrap_or_default());
    let named = |known: &&ProgramOverrides, program: &str| known.program == program || paths(known) == program;
    for known in OVERRIDES {
        assert!(programs.iter().any(|program| named(&known, program)), "there is no {}", known.program);
    }
    programs.iter().map(|program| subject(program, OVERRIDES.iter().find(|known| named(known, program)), folder)).collect()
}

/// The programs that say the same in other words, with their runs, beside [`subjects`].
///
/// # Panics
/// As there.
pub fn wording_subjects(folder: &Path) -> Vec<Subject> {
    let root = repository();
    let mut found = Vec::new();
    files(&root.join("tests/wording"), ".equelle", &mut found);
    let names = found.iter().map(|path| path.strip_prefix(&root).expect("below it").with_extension("").display().to_string());
    names.filter(|name| !ALSO_COMPILED.contains(&name.as_str())).map(|program| subject(&program, None, folder)).collect()
}

impl Subject {
    /// The program at a level.
    ///
    /// # Panics
    /// If it cannot be compiled.
    pub fn compile(&self, level: OptLevel, numbers: Numbers) -> Verified {
        compile(&self.source, self.units, level, numbers)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.source.text()
    }
}

/// True if a program, by its file in the repository, reads by index.
///
/// # Panics
/// If it cannot be read or compiled.
pub fn reads_by_index(file: &str) -> bool {
    let source = SourceMap::new(file, fs::read_to_string(repository().join(file)).expect("a program"));
    is_structured(&compile(&source, has_units(&source), OptLevel::O0, Numbers::default()))
}

/// True if a program runs on Cartesian grids alone.
fn is_structured(verified: &Verified) -> bool {
    verified.module().structure.is_some()
}

/// True if a program is right with units.
fn has_units(source: &SourceMap) -> bool {
    check_text(source.text(), &CheckOptions { nondimensional: false }).program.is_some()
}

fn compile(source: &SourceMap, units: bool, level: OptLevel, numbers: Numbers) -> Verified {
    let checked = check_text(source.text(), &CheckOptions { nondimensional: !units });
    let typed = checked.program.unwrap_or_else(|| panic!("{}: {:?}", source.name(), checked.diagnostics));
    let mut module = lower(&typed, source, "program");
    module.numbers = numbers;
    verify(optimise(module, level)).unwrap_or_else(|errors| panic!("{}: {errors:?}", source.name()))
}

fn subject(program: &str, known: Option<&ProgramOverrides>, folder: &Path) -> Subject {
    let root = repository();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    let file = format!("{name}.equelle");
    let source = SourceMap::new(file.as_str(), fs::read_to_string(root.join(program).with_file_name(&file)).expect("a program"));
    let units = has_units(&source);
    let verified = compile(&source, units, OptLevel::O0, Numbers::default());
    let runnable = interpret::program(&source, &verified);
    let example = Path::new(program).with_file_name("case.param").display().to_string();
    let plane: &[&str] = &["nx=5", "ny=4", "dx=0.5", "dy=0.25"];
    let block: &[&str] = &["grid_dim=3", "nx=3", "ny=4", "nz=3", "dx=0.5", "dy=0.25", "dz=2"];
    let runs: Vec<Vec<&str>> = match known {
        Some(known) if !known.runs.is_empty() => known.runs.iter().map(|run| run.to_vec()).collect(),
        _ if program.starts_with("examples/") => vec![vec![&example]],
        _ => [(2, plane), (3, block)].into_iter().filter(|(dim, _)| *dim >= runnable.min_dim).map(|(_, words)| words.to_vec()).collect(),
    };
    let steps = known.map_or(STEPS, |known| known.steps);
    let reads_by_index = is_structured(&verified);
    let of_run =
        |(number, words): (usize, &Vec<&str>)| cases(&runnable, reads_by_index, words, steps, &folder.join(&name).join(number.to_string()));
    let cases = runs.iter().enumerate().flat_map(of_run).collect();
    let solved = source.text().contains("NewtonSolve").then(|| known.and_then(|known| known.solved).unwrap_or(SOLVED));
    let single =
        known.and_then(|known| known.single).unwrap_or(if solved.is_some() { SinglePrecision::No } else { SinglePrecision::Explicit });
    Subject { example: program.starts_with("examples/"), cases, solved, single, steps, name, units, source, runnable }
}

/// A run on its grid, and once more with widths of cells that are powers of two where they are
/// none.
fn cases(runnable: &Program, reads_by_index: bool, words: &[&str], steps: usize, folder: &Path) -> Vec<Case> {
    fs::create_dir_all(folder).expect("the target folder can be written");
    let root = repository();
    let place = |word: &&str| if word.ends_with(".param") { root.join(word).display().to_string() } else { (*word).to_owned() };
    let mut words: Vec<String> = words.iter().map(place).collect();
    let parameters = Parameters::from_words(&words).expect("words of a command line");
    let grid = grid_from_parameters(&parameters).expect("a grid");
    let given: Vec<String> = parameters.keys().map(|key| format!("{key}=")).collect();
    words.extend(invented(runnable, &grid, &given, folder));
    let parameters = Parameters::from_words(&words).expect("words of a command line");
    for input in runnable.inputs.iter().filter(|input| input.kind == InputKind::Sequence) {
        if let Some(path) = parameters.path(&format!("{}_filename", input.name)).expect("a file") {
            let all = fs::read_to_string(path).expect("a sequence");
            let some: Vec<&str> = all.split_whitespace().take(steps).collect();
            let file = folder.join(format!("{}-some.txt", input.name));
            fs::write(&file, some.join("\n")).expect("the target folder can be written");
            words.push(format!("{}_filename={}", input.name, file.display()));
        }
    }
    words.push("output_to_file=false".to_owned());
    let cartesian = grid.cartesian_shape().is_some();
    let widths: Vec<(&str, f64)> =
        ["dx", "dy", "dz"].into_iter().filter_map(|key| Some((key, parameters.number(key).expect("a number")?))).collect();
    let exact = widths.iter().all(|(_, width)| width.log2().fract() == 0.0);
    let case = |name: &str, more: Vec<String>, exact: bool| Case {
        name: format!("{} {name}", folder.file_name().unwrap_or_default().display()),
        words: words.iter().cloned().chain(more).collect(),
        cartesian,
        reads_by_index,
        exact,
    };
    let own = case("own", Vec::new(), exact || !cartesian);
    // Larger cells, so that explicit schemes stay stable.
    let rounded = widths.iter().map(|(key, width)| format!("{key}={}", width.log2().ceil().exp2())).collect();
    iter::once(own).chain((cartesian && !exact).then(|| case("powers of two", rounded, true))).collect()
}
