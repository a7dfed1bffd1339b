//! `equellec compare`: one program on the same data in several ways, and how far their outputs are
//! apart.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use equelle_front::backend::Backend;
use equelle_runtime::ranks::mpi::MPI_LIBRARY;
use equelle_runtime::{Error, ErrorKind, Parameters};

use super::args::{CompareArgs, Level, ProgramArgs, Real};
use super::compile::compile;
use crate::console::Console;
use equelle::failure::Failure;
use equelle::interpret::check_machine;
use equelle::mpi::Installation;
use equelle::registry::Registry;

/// Relative round-off in double precision: geometry is rounded in another order where spacings are
/// no powers of two.
const ROUND_OFF: f64 = 1e-12;

/// The same in single precision, which has 29 bits less.
const ROUND_OFF_SINGLE: f64 = ROUND_OFF * (1_u64 << 29) as f64;

/// The same for programs that solve nonlinear systems: linear systems are solved to 1e-8 of their
/// right-hand sides, and what that leaves grows with the condition of the matrix.
const SOLVERS: f64 = 1e-6;

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    backend: &'static dyn Backend,
    level: Level,
    n_ranks: u32,
}

impl Way {
    fn title(self) -> String {
        let level = match self.level {
            Level::Zero => 0,
            Level::Two => 2,
        };
        let ranks = if self.n_ranks == 1 { String::new() } else { format!(" on {} ranks", self.n_ranks) };
        format!("{} -O{level}{ranks}", self.backend.name())
    }
}

/// Compiles a program in every way, runs it on the same data, and prints how far outputs are apart.
pub(super) fn compare(backends: Registry, args: &CompareArgs, console: &Console) -> Result<(), Failure> {
    let ways = ways(args);
    let [first, others @ ..] = &ways[..] else { return Err(Failure::usage("nothing to compare")) };
    if others.is_empty() {
        let error = Error::new(ErrorKind::Usage, format!("there is only one way to run the program: {}", first.title()));
        let names: Vec<&str> = backends.iter().map(|backend| backend.name()).collect();
        let hint =
            format!("name two back-ends, as in --backend {}, two levels, as in --levels 0,2, or ranks, as in --ranks 1,2", names.join(","));
        return Err(error.hint(hint).into());
    }
    if args.tolerance.is_some_and(|tolerance| tolerance.is_nan() || tolerance < 0.0) {
        return Err(Failure::usage("--tolerance must be 0 or more"));
    }
    args.backends.iter().try_for_each(|backend| check_machine(*backend))?;
    // Everything is built before anything runs.
    let mut programs: BTreeMap<u8, PathBuf> = BTreeMap::new();
    let mut implicit = false;
    let mut backends: Vec<&'static dyn Backend> = ways.iter().map(|way| way.backend).collect();
    backends.dedup();
    for way in &ways {
        if programs.contains_key(&(way.level as u8)) {
            continue;
        }
        let program = ProgramArgs { level: way.level, ..args.source.program.clone() };
        let compiled = compile(&args.source.file, &program, &backends, console)?;
        implicit |= compiled.is_implicit();
        programs.insert(way.level as u8, compiled.cached(&args.source.target.target_cpu)?.program(console)?);
    }
    let tolerance = args.tolerance.unwrap_or(match (args.source.program.precision, implicit) {
        (Real::F32, _) => ROUND_OFF_SINGLE,
        (Real::F64, true) => SOLVERS,
        (Real::F64, false) => ROUND_OFF,
    });
    let is_on_ranks = ways.iter().any(|way| way.n_ranks > 1);
    let library = Parameters::from_words(&args.parameters)?.path(MPI_LIBRARY)?;
    let mpi = is_on_ranks.then(|| Installation::find(library.as_deref())).transpose()?;
    let scratch = tempfile::tempdir().map_err(|error| Failure::io("make a folder in", &env::temp_dir(), &error))?;
    let run = |way: Way| -> Result<Outputs, Failure> {
        console.progress(&format!("Running on {}", way.title()));
        let folder = scratch.path().join(way.title().replace(' ', ""));
        let program = &programs[&(way.level as u8)];
        let mut command = match mpi.as_ref().filter(|_| way.n_ranks > 1) {
            Some(mpi) => mpi.simulator(way.n_ranks, program),
            None => Command::new(program),
        };
        if backends.len() > 1 {
            command.args(["--backend", way.backend.name()]);
        }
        outputs(command.arg("--quiet").args(&args.parameters), &folder)
    };
    let reference = run(*first)?;
    let mut far = Vec::new();
    for way in others {
        let found = run(*way)?;
        let table = Table::of(&found, &reference);
        super::print(&table.text(&way.title(), &first.title(), tolerance))?;
        if !table.agrees(tolerance) {
            far.push(way.title());
        }
    }
    if far.is_empty() {
        return Ok(());
    }
    let message = format!("{} and {} differ by more than {tolerance:e} of the largest value", far.join(", "), first.title());
    Err(Error::new(ErrorKind::Simulation, message).into())
}

/// Every back-end at every level on every number of ranks; the first is the reference. A single
/// back-end runs at both levels unless levels or ranks are named.
fn ways(args: &CompareArgs) -> Vec<Way> {
    let levels = match (&args.levels[..], &args.backends[..]) {
        ([], _) if !args.ranks.is_empty() => vec![args.source.program.level],
        ([], [] | [_]) => vec![Level::Zero, Level::Two],
        ([], _) => vec![args.source.program.level],
        (levels, _) => levels.to_vec(),
    };
    let ranks = if args.ranks.is_empty() { &[1][..] } else { &args.ranks[..] };
    let mut ways: Vec<Way> = Vec::new();
    for &backend in &args.backends {
        for &level in &levels {
            for &n_ranks in ranks {
                let way = Way { backend, level, n_ranks };
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
    }
    ways
}

/// One output: numbers, or words that must be the same.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Numbers(Vec<f64>),
    Words(String),
}

/// Outputs by tag, each in the order of the run.
type Outputs = BTreeMap<String, Vec<Value>>;

/// Runs a simulator, which says itself what goes wrong, and reads what it put out.
fn outputs(command: &mut Command, folder: &Path) -> Result<Outputs, Failure> {
    // Later assignments win over the user's.
    command.arg("output_to_file=true").arg(format!("output_dir={}", folder.display()));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failure::io("start", command.get_program().as_ref(), &error))?;
    match output.status.code() {
        Some(0) => {}
        code => return Err(Failure::Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(equelle::failure::INTERNAL_EXIT_CODE))),
    }
    let mut outputs = Outputs::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        // Other lines are those of `verbose`.
        if let Some((tag, text)) = line.split_once(" = ") {
            outputs.entry(tag.to_owned()).or_default().push(value(text));
        }
    }
    let mut files: Vec<PathBuf> = Vec::new();
    if folder.is_dir() {
        let listed = fs::read_dir(folder).map_err(|error| Failure::io("list", folder, &error))?;
        files.extend(listed.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "output")));
    }
    // `tag-00000.output`, with more digits beyond 99999.
    let number =
        |path: &PathBuf| path.file_stem()?.to_string_lossy().rsplit_once('-').map(|(tag, n)| (tag.to_owned(), n.parse::<u64>().ok()));
    files.sort_by_cached_key(number);
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| Failure::io("read", &file, &error))?;
        let tag = number(&file).map_or_else(|| file.display().to_string(), |(tag, _)| tag);
        outputs.entry(tag).or_default().push(value(&text));
    }
    Ok(outputs)
}

fn value(text: &str) -> Value {
    match text.split_whitespace().map(str::parse).collect() {
        Ok(numbers) => Value::Numbers(numbers),
        Err(_) => Value::Words(text.to_owned()),
    }
}

/// How far one output is from the reference.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    tag: String,
    step: usize,
    values: usize,
    /// Largest absolute value of the reference.
    scale: f64,
    /// Largest absolute difference; infinite where one is not a number, or where there is nothing
    /// to compare with.
    difference: f64,
    same_bits: bool,
}

impl Row {
    /// Relative to the largest value of the reference.
    fn relative(&self) -> f64 {
        if self.difference == 0.0 { 0.0 } else { self.difference / self.scale }
    }

    fn agrees(&self, tolerance: f64) -> bool {
        self.difference <= tolerance * self.scale
    }
}

/// All of them.
struct Table(Vec<Row>);

impl Table {
    fn of(found: &Outputs, expected: &Outputs) -> Table {
        let tags: std::collections::BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
        let mut rows = Vec::new();
        for tag in tags {
            let none = Vec::new();
            let (found, expected) = (found.get(tag).unwrap_or(&none), expected.get(tag).unwrap_or(&none));
            for step in 0..found.len().max(expected.len()) {
                rows.push(row(tag, step, found.get(step), expected.get(step)));
            }
        }
        Table(rows)
    }

    fn agrees(&self, tolerance: f64) -> bool {
        self.0.iter().all(|row| row.agrees(tolerance))
    }

    fn text(&self, found: &str, expected: &str, tolerance: f64) -> String {
        let mut text = format!("{found} against {expected}\n");
        let width = self.0.iter().map(|row| row.tag.chars().count()).max().unwrap_or(0).max("output".len());
        let _ = writeln!(
            text,
            "{:width$}  {:>6}  {:>9}  {:>12}  {:>12}  {:>12}",
            "output", "step", "values", "largest", "difference", "relative"
        );
        for row in &self.0 {
            let verdict = match (row.agrees(tolerance), row.same_bits) {
                (false, _) => "  beyond the tolerance",
                (true, true) => "  same bits",
                (true, false) => "",
            };
            let _ = writeln!(
                text,
                "{:width$}  {:>6}  {:>9}  {:>12.4e}  {:>12.4e}  {:>12.4e}{verdict}",
                row.tag,
                row.step,
                row.values,
                row.scale,
                row.difference,
                row.relative()
            );
        }
        let far = self.0.iter().filter(|row| !row.agrees(tolerance)).count();
        let same = self.0.iter().filter(|row| row.same_bits).count();
        let worst = self.0.iter().map(Row::relative).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "{} outputs, {same} the same to the bit; largest relative difference {worst:.4e}, tolerance {tolerance:e}, {}",
            self.0.len(),
            if far == 0 { "all agree".to_owned() } else { format!("{far} beyond it") }
        );
        text
    }
}

fn row(tag: &str, step: usize, found: Option<&Value>, expected: Option<&Value>) -> Row {
    let mut row = Row { tag: tag.to_owned(), step, values: 1, scale: 0.0, difference: f64::INFINITY, same_bits: false };
    match (found, expected) {
        (Some(Value::Numbers(found)), Some(Value::Numbers(expected))) => {
            row.values = expected.len();
            row.scale = expected.iter().fold(0.0, |scale, value| value.abs().max(scale));
            if found.len() == expected.len() {
                let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                row.same_bits = found.iter().zip(expected).all(same);
                row.difference = found.iter().zip(expected).fold(0.0, |most, (a, b)| {
                    let difference = if same((a, b)) { 0.0 } else { (a - b).abs() };
                    // Infinities and values that are not numbers have no difference.
                    if difference.is_nan() { f64::INFINITY } else { difference.max(most) }
                });
            }
        }
        (Some(Value::Words(found)), Some(Value::Words(expected))) if found == expected => {
            row.difference = 0.0;
            row.same_bits = true;
        }
        (Some(_), Some(_)) | (None, _) | (_, None) => {}
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(values: &[(&str, &[&[f64]])]) -> Outputs {
        values.iter().map(|(tag, steps)| (tag.to_string(), steps.iter().map(|v| Value::Numbers(v.to_vec())).collect())).collect()
    }

    /// |3 - 2.5| of 4 is an eighth; the second step is the same.
    #[test]
    fn differences_are_relative_to_the_largest_value() {
        let expected = outputs(&[("u", &[&[-4.0, 3.0], &[1.0]])]);
        let found = outputs(&[("u", &[&[-4.0, 2.5], &[1.0]])]);
        let table = Table::of(&found, &expected);
        assert_eq!((table.0[0].scale, table.0[0].difference, table.0[0].relative()), (4.0, 0.5, 0.125));
        assert!(table.0[1].same_bits && !table.0[0].same_bits);
        assert!(table.agrees(0.125) && !table.agrees(0.1249));
        let text = table.text("b", "a", 0.01);
        assert!(text.contains("beyond the tolerance") && text.contains("2 outputs, 1 the same to the bit"), "{text}");
    }

    #[test]
    fn what_cannot_be_compared_does_not_agree() {
        let expected = outputs(&[("u", &[&[1.0, 2.0]])]);
        for found in [
            outputs(&[]),
            outputs(&[("u", &[&[1.0]])]),
            outputs(&[("u", &[&[1.0, f64::NAN]])]),
            outputs(&[("u", &[&[1.0, f64::INFINITY]])]),
            outputs(&[("u", &[&[1.0, 2.0], &[1.0, 2.0]])]),
            outputs(&[("u", &[&[1.0, 2.0]]), ("v", &[&[0.0]])]),
            Outputs::from([("u".to_owned(), vec![Value::Words("true".to_owned())])]),
        ] {
            assert!(!Table::of(&found, &expected).agrees(1e300), "{found:?}");
        }
        // Not a number on both sides is the same, so are a zero and its negative but for their
        // bits.
        let odd = outputs(&[("u", &[&[f64::NAN, 0.0]])]);
        let signed = outputs(&[("u", &[&[f64::NAN, -0.0]])]);
        assert!(Table::of(&odd, &odd).0[0].same_bits);
        let table = Table::of(&signed, &odd);
        assert!(table.agrees(0.0) && !table.0[0].same_bits);
    }

    #[test]
    fn words_and_numbers_are_told_apart() {
        assert_eq!(value("1.5 -2"), Value::Numbers(vec![1.5, -2.0]));
        assert_eq!(value("true"), Value::Words("true".into()));
    }
}
