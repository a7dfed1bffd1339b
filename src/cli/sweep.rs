//! `equellec sweep`: one program on every combination of some values of parameters, and a table of
//! the single numbers that it put out last.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{fs, thread};

use equelle_front::backend::DeviceKind;
use equelle_runtime::keys::{self, Form};
use equelle_runtime::session::{is_known, nearest};
use equelle_runtime::{Error, ErrorKind, InputInfo, InputKind, OutputInfo, OutputKind, Program};

use super::args::{InterpretedKernels, SweepArgs};
use super::compile::compile;
use super::inputs;
use super::run::{AT_ONCE, interpreted_kernels};
use crate::console::Console;
use equelle::background::BackgroundBuild;
use equelle::failure::{Failure, INTERNAL_EXIT_CODE};
use equelle::files;
use equelle::interpret::check_machine;
use equelle::pipeline;

/// The name of the table.
const TABLE: &str = "sweep.csv";
/// More runs than this are a mistake.
const MAX_RUNS: usize = 100_000;
/// Keys that the sweep itself gives.
const OWN: [&str; 2] = ["output_dir", "restart"];

/// Keys that have the same value in a run, with their values.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    keys: Vec<String>,
    values: Vec<String>,
}

/// One run: its number from 1, the assignments that tell it from others, and its folder.
#[derive(Clone, Debug, PartialEq)]
struct Case {
    assignments: Vec<(String, String)>,
    folder: PathBuf,
}

/// Outcome of a run: its exit code, `None` if a signal ended it, and the single values that it put
/// out last, by tag.
#[derive(Clone, Debug, Default, PartialEq)]
struct Outcome {
    code: Option<u8>,
    values: BTreeMap<String, String>,
}

/// Runs a program on every combination; prints and writes the table.
pub(super) fn sweep(args: &SweepArgs, this: &[OsString], console: &Console) -> Result<(), Failure> {
    let file = &args.source.file;
    if pipeline::is_standard_input(file) {
        return Err(Failure::usage("a sweep runs its program several times: give a file"));
    }
    check_machine(args.backend)?;
    let kernels = interpreted_kernels(args.interpret.unwrap_or(InterpretedKernels::Lanes), args.backend, &args.source.program);
    let kernels = match args.interpret {
        Some(_) => Some(kernels?),
        None => kernels.ok(),
    };
    let compiled = compile(file, &args.source.program, &[args.backend], console)?;
    let program = compiled.program();
    let (axes, fixed) = axes(program, &args.parameters)?;
    check_columns(program, &axes)?;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-sweep", pipeline::stem(file))));
    let cases = cases(&axes, &output)?;
    let words = |case: &Case| -> Vec<String> {
        let assignments = case.assignments.iter().map(|(key, value)| format!("{key}={value}"));
        fixed.iter().cloned().chain(assignments).collect()
    };
    let first = cases.first().map(words).unwrap_or_default();
    inputs::check(program, file, &first, console)?.iter().for_each(|warning| console.warning(warning));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or(match args.backend.device_kind() {
        DeviceKind::Cores => cores,
        DeviceKind::Gpu => 1,
    });
    let jobs = jobs.clamp(1, cases.len().max(1));
    let threads = (!fixed.iter().any(|word| word.starts_with("threads="))).then(|| format!("threads={}", (cores / jobs).max(1)));
    // The interpreter needs no package.
    let package = args.interpret.is_none().then(|| compiled.cached(&args.source.target.target_cpu)).transpose()?;
    let is_interpreted = args.interpret.is_some() || (!args.compiled && kernels.is_some());
    let built = match &package {
        Some(package) if !is_interpreted => Some(package.program(console)?),
        Some(package) => package.built(),
        None => None,
    };
    // Runs begin at once; those after a build that pays have its program.
    let is_faster = args.backend.device_kind() == DeviceKind::Cores;
    let build = package.as_ref().filter(|_| built.is_none() && is_faster).map(|package| BackgroundBuild::new(package, 1.0));
    if build.is_some() {
        console.progress(AT_ONCE);
    }
    console.progress(&format!("{} runs in `{}`, {jobs} at a time", cases.len(), output.display()));
    let run = |case: &Case| -> Result<Outcome, Failure> {
        let mut command = match built.clone().or_else(|| build.as_ref().and_then(BackgroundBuild::built)) {
            Some(simulator) => Command::new(simulator),
            None => interpreter(args, this),
        };
        command.arg("--quiet").args(words(case)).args(&threads);
        outcome(command.arg(format!("output_dir={}", case.folder.display())), &case.folder)
    };
    let (begin, done) = (Instant::now(), AtomicUsize::new(0));
    // By those that are done.
    let left = || match done.load(Ordering::Relaxed) {
        0 => None,
        done => Some(begin.elapsed().as_secs_f64() / done as f64 * (cases.len() - done) as f64),
    };
    let all = || {
        all_cores(jobs, &cases, |case| {
            let outcome = run(case)?;
            done.fetch_add(1, Ordering::Relaxed);
            let failed = outcome.code != Some(0);
            console.progress(&format!("  {}{}", case.folder.display(), if failed { ": failed" } else { "" }));
            Ok(outcome)
        })
    };
    let outcomes = match &build {
        Some(build) => build.beside(left, || (), all),
        None => all(),
    }?;

    let table = table(&axes, &cases, &outcomes);
    let path = output.join(TABLE);
    files::write(&path, &table).map_err(|error| Failure::io("write", &path, &error))?;
    super::print(&table)?;
    let failed: Vec<(&Case, &Outcome)> = cases.iter().zip(&outcomes).filter(|(_, outcome)| outcome.code != Some(0)).collect();
    match failed.first() {
        None => Ok(()),
        Some((case, outcome)) => {
            let message =
                format!("{} of {} runs failed; why is in `{}`", failed.len(), cases.len(), case.folder.join("stderr.txt").display());
            console.failure(&Failure::Error(Error::new(ErrorKind::Simulation, message)));
            Err(Failure::Exit(outcome.code.unwrap_or(INTERNAL_EXIT_CODE)))
        }
    }
}

/// This program, to interpret.
fn interpreter(args: &SweepArgs, this: &[OsString]) -> Command {
    let (program, words) = this.split_first().expect("a command has a name");
    let mut command = Command::new(program);
    command.args(words);
    let kernels = args.interpret.map_or("lanes", InterpretedKernels::word);
    command.args(["run", &format!("--interpret={kernels}"), "--backend", args.backend.name()]).arg(&args.source.file);
    command.args(args.source.program.words());
    command
}

/// The keys with several values, in the order given, and the other words.
fn axes(program: &Program, words: &[String]) -> Result<(Vec<Axis>, Vec<String>), Failure> {
    let (mut axes, mut fixed): (Vec<Axis>, Vec<String>) = (Vec::new(), Vec::new());
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            fixed.push(word.clone());
            continue;
        };
        let own_keys: Vec<String> = key.split(',').map(|key| key.trim().to_owned()).collect();
        if let Some(key) = own_keys.iter().find(|key| OWN.contains(&key.as_str())) {
            let error = Error::new(ErrorKind::Usage, format!("`{key}` is given by the sweep: each run has a folder of its own"));
            return Err(error.hint("`--output DIR` names the folder of all").into());
        }
        let values: Vec<String> = value.split(',').map(|value| value.trim().to_owned()).collect();
        let unknown = own_keys.iter().find(|key| !is_known(program, key)).filter(|_| own_keys.len() > 1 || values.len() > 1);
        if let Some(key) = unknown {
            let error = Error::new(ErrorKind::Usage, format!("`{word}`: no run reads a parameter `{key}`"));
            return Err(error
                .hint(match nearest(program, key) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`equellec run FILE.equelle --list-inputs` lists all parameters".to_owned(),
                })
                .into());
        }
        // One key that takes a list keeps it; several keys have a value of each run.
        if own_keys.len() == 1 && (values.len() == 1 || !holds_one_value(program, &own_keys[0])) {
            fixed.push(word.clone());
            continue;
        }
        if let Some(key) = own_keys.iter().find(|key| !holds_one_value(program, key)) {
            return Err(Failure::usage(format!("`{word}`: `{key}` takes a list, so that it cannot be one of several keys")));
        }
        if values.iter().any(String::is_empty) {
            return Err(Failure::usage(format!("`{word}`: there is no value before or after a comma")));
        }
        axes.retain(|axis| !axis.keys.iter().any(|key| own_keys.contains(key)));
        axes.push(Axis { keys: own_keys, values });
    }
    if axes.is_empty() {
        let error = Error::new(ErrorKind::Usage, "no parameter has several values");
        return Err(error.hint("separate them with commas, as in `k=0.1,0.2`; keys that take lists stay whole").into());
    }
    Ok((axes, fixed))
}

/// True if the value of a key is one value, and a comma in it separates several.
fn holds_one_value(program: &Program, key: &str) -> bool {
    let is_single = |shown: &str| matches!(shown, "NUMBER" | "FILE" | "ARRAY" | "true|false");
    let of_input = |input: &InputInfo| match input.kind {
        InputKind::Scalar
        | InputKind::Collection
        | InputKind::Vectors
        | InputKind::Bools
        | InputKind::Domain
        | InputKind::Sequence
        | InputKind::Table(_) => {
            input.kind.forms().iter().find(|form| format!("{}{}", input.name, form.suffix) == key).map(|form| is_single(form.value))
        }
    };
    if let Some(single) = program.inputs.iter().find_map(of_input) {
        return single;
    }
    // Widths of cells may be given one by one; they are the numbers that files give, too.
    let takes_list = keys::single().any(|other| other.name == format!("{key}{}", "_filename"));
    let own = keys::single().find(|known| known.name == key);
    let family = keys::families().any(|family| key.starts_with(family));
    match own.map(|known| known.form) {
        Some(Form::Number | Form::Count) => !takes_list,
        Some(Form::Flag | Form::Words(_)) => true,
        Some(Form::Other(shown)) => matches!(shown, "FILE" | "N" | "SIZE"),
        None => family,
    }
}

/// Checks that no number that the program puts out has the column of a key or of the exit code.
fn check_columns(program: &Program, axes: &[Axis]) -> Result<(), Failure> {
    let is_taken = |tag: &str| tag == "exit" || axes.iter().flat_map(|axis| &axis.keys).any(|key| key == tag);
    match program.outputs.iter().find(|output| output.kind == OutputKind::Number && is_taken(&output.tag)) {
        None => Ok(()),
        Some(OutputInfo { tag, .. }) => {
            let message = format!("`{TABLE}` would have two columns `{tag}`: one of the sweep, and one of the output `{tag}`");
            Err(Failure::usage(format!("{message}; give the output another tag")))
        }
    }
}

/// Every combination; the last key changes fastest.
fn cases(axes: &[Axis], output: &Path) -> Result<Vec<Case>, Failure> {
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len())).filter(|count| *count <= MAX_RUNS);
    let count = count.ok_or_else(|| Failure::usage(format!("a sweep has at most {MAX_RUNS} runs")))?;
    let width = count.to_string().len().max(3);
    let case = |number: usize| {
        let mut rest = number;
        let mut assignments: Vec<(String, String)> = Vec::with_capacity(axes.len());
        for axis in axes.iter().rev() {
            let value = &axis.values[rest % axis.values.len()];
            assignments.extend(axis.keys.iter().rev().map(|key| (key.clone(), value.clone())));
            rest /= axis.values.len();
        }
        assignments.reverse();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '_' };
        // No `=`, which a value of a parameter cannot have.
        let names = assignments.iter().map(|(key, value)| format!("-{key}_{}", value.chars().map(plain).collect::<String>()));
        let name: String = format!("{:0width$}{}", number + 1, names.collect::<String>()).chars().take(80).collect();
        Case { assignments, folder: output.join(name) }
    };
    Ok((0..count).map(case).collect())
}

/// Runs a simulator in a folder of its own, with what it prints in files there.
fn outcome(command: &mut Command, folder: &Path) -> Result<Outcome, Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, &error))?;
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::io("start", command.get_program().as_ref(), &error))?;
    for (name, bytes) in [("stdout.txt", &output.stdout), ("stderr.txt", &output.stderr)] {
        let path = folder.join(name);
        files::write(&path, bytes).map_err(|error| Failure::io("write", &path, &error))?;
    }
    let code = output.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Outcome { code, values: last_values(&String::from_utf8_lossy(&output.stdout)) })
}

/// The single values among `tag = value` lines, the last one of each tag.
fn last_values(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once(" = "));
    lines.filter(|(_, value)| value.split_whitespace().count() == 1).map(|(tag, value)| (tag.to_owned(), value.trim().to_owned())).collect()
}

/// Applies a function to all cases on some threads; results in the order of the cases, or the error
/// of the first case that has one.
fn all_cores(jobs: usize, cases: &[Case], run: impl Fn(&Case) -> Result<Outcome, Failure> + Sync) -> Result<Vec<Outcome>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Outcome, Failure>>>> = Mutex::new(cases.iter().map(|_| None).collect());
    let work = || {
        while let Some((number, case)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|number| Some((number, cases.get(number)?))) {
            let result = run(case);
            results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(result);
        }
    };
    thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missing = || Err(Failure::Internal("a run of the sweep has no result".into()));
    results.into_iter().map(|result| result.unwrap_or_else(missing)).collect()
}

/// The table: a row for each run with its values of the keys, its exit code, and what it put out.
fn table(axes: &[Axis], cases: &[Case], outcomes: &[Outcome]) -> String {
    let mut tags: Vec<&String> = outcomes.iter().flat_map(|outcome| outcome.values.keys()).collect();
    tags.sort();
    tags.dedup();
    let head = axes.iter().flat_map(|axis| &axis.keys).map(String::as_str).chain(["exit"]).chain(tags.iter().map(|tag| tag.as_str()));
    let mut text = row(head);
    for (case, outcome) in cases.iter().zip(outcomes) {
        let code = outcome.code.map_or_else(String::new, |code| code.to_string());
        let keys = case.assignments.iter().map(|(_, value)| value.as_str());
        let values = tags.iter().map(|tag| outcome.values.get(*tag).map_or("", String::as_str));
        text.push_str(&row(keys.chain([code.as_str()]).chain(values)));
    }
    text
}

/// A line of CSV (RFC 4180).
fn row<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let quoted = |field: &str| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    };
    fields.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str, kind: InputKind) -> InputInfo {
        InputInfo { name: name.into(), kind, line: 1, ..InputInfo::default() }
    }

    fn program() -> Program {
        let inputs = vec![
            input("k", InputKind::Scalar),
            input("u", InputKind::Collection),
            input("v", InputKind::Vectors),
            input("steps", InputKind::Sequence),
            input("well", InputKind::Domain),
        ];
        Program { inputs, ..Program::named("program") }
    }

    #[test]
    fn only_keys_with_one_value_are_split() {
        for key in ["k", "u", "u_filename", "nx", "lx", "max_iter", "renumber", "output_to_file", "threads", "grid_filename"] {
            assert!(holds_one_value(&program(), key), "{key}");
        }
        for key in ["v", "steps", "well_set", "u_values", "u_expression", "dx", "output_times", "probe", "output_format", "other"] {
            assert!(!holds_one_value(&program(), key), "{key}");
        }
    }

    #[test]
    fn every_combination_is_a_case_with_a_folder() {
        let words = ["a.param", "k=1, 2 [Meter]", "v=1,2", "nx=5,6,7"].map(str::to_owned);
        let (axes, fixed) = axes(&program(), &words).expect("axes");
        assert_eq!(fixed, ["a.param", "v=1,2"]);
        let cases = cases(&axes, Path::new("out")).expect("cases");
        let names: Vec<String> = cases.iter().map(|case| case.folder.display().to_string()).collect();
        assert_eq!(names.len(), 6);
        assert_eq!((names[0].as_str(), names[5].as_str()), ("out/001-k_1-nx_5", "out/006-k_2__Meter_-nx_7"));
        let values: Vec<&str> = cases.iter().map(|case| case.assignments[1].1.as_str()).collect();
        assert_eq!(values, ["5", "6", "7", "5", "6", "7"]);
    }

    #[test]
    fn a_key_and_an_output_of_one_name_are_refused() {
        let number = |tag: &str| OutputInfo { tag: tag.into(), ..OutputInfo::default() };
        let puts_out_k = Program { outputs: vec![number("m"), number("k")], ..program() };
        let puts_out_exit = Program { outputs: vec![number("exit")], ..program() };
        let of = |key: &str| [Axis { keys: vec![key.to_owned()], values: vec!["1".to_owned()] }];
        assert!(check_columns(&puts_out_k, &of("nx")).is_ok() && check_columns(&puts_out_k, &of("k")).is_err());
        assert!(check_columns(&puts_out_exit, &[]).is_err());
    }

    #[test]
    fn several_keys_have_the_same_value_in_a_run() {
        let words = |words: &[&str]| axes(&program(), &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let (joined, _) = words(&["nx, ny=5,6", "k=1,2"]).expect("axes");
        let cases = cases(&joined, Path::new("out")).expect("cases");
        let of = |case: &Case| case.assignments.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ");
        assert_eq!(cases.iter().map(of).collect::<Vec<_>>(), ["nx=5 ny=5 k=1", "nx=5 ny=5 k=2", "nx=6 ny=6 k=1", "nx=6 ny=6 k=2"]);
        assert!(words(&["nx,v=1,2"]).is_err() && words(&["nx,output_dir=1,2"]).is_err() && words(&["nx,=1,2"]).is_err());
        // The last word about a key counts.
        assert_eq!(words(&["nx,ny=5,6", "nx=7,8"]).expect("axes").0.len(), 1);
    }

    #[test]
    fn the_last_single_value_of_each_tag_is_in_the_table() {
        let values = last_values("t = 1\nu = 1 2 3\nt = 2\nwet = true\nno line of an output\n");
        assert_eq!(values, BTreeMap::from([("t".to_owned(), "2".to_owned()), ("wet".to_owned(), "true".to_owned())]));
        let axes = [Axis { keys: vec!["file".into()], values: vec!["a,b".into()] }];
        let case = Case { assignments: vec![("file".into(), "a,b".into())], folder: PathBuf::new() };
        let outcomes = [Outcome { code: Some(0), values }, Outcome { code: Some(3), values: BTreeMap::new() }];
        assert_eq!(table(&axes, &[case.clone(), case], &outcomes), "file,exit,t,wet\n\"a,b\",0,2,true\n\"a,b\",3,,\n");
    }
}
