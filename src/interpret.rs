//! Running a program without compiling it: the interpreter over the serial runtime.

mod memory;

use backend_serial::runtime::SerialRuntime;
use equelle_front::source::SourceFile;
use equelle_front::time_steps;
use equelle_front::verify::Verified;
use equelle_runtime::session::Options;
use equelle_runtime::threads::Threads;
use equelle_runtime::{EquelleRuntime, Error, ErrorKind, InputInfo, InputKind, Program, Session, Solve, Source, launch};
use serde_json::Value;

use crate::failure::Failure;
use crate::package;

/// Runs a program with parameters as on the command line of a simulator.
///
/// # Errors
/// Those of the run; they have been shown, and what is returned is their exit code.
pub fn interpret(source: &SourceFile, verified: &Verified, parameters: &[String], options: Options) -> Result<(), Failure> {
    let program = program(source, verified);
    let format = options.format;
    run(program, verified, parameters, options).map_err(|error| {
        eprint!("{}", launch::render_error(&program.source, &error, format));
        Failure::Exit(error.kind.exit_code())
    })
}

/// The same with other streams.
///
/// # Errors
/// Those of the run.
pub fn run(program: &'static Program, verified: &Verified, parameters: &[String], options: Options) -> Result<(), Error> {
    if let Some(option) = parameters.iter().find(|word| word.starts_with('-')) {
        return Err(Error::new(ErrorKind::Usage, format!("there is no option `{option}`")).hint("parameters are given as key=value"));
    }
    let options = Options { back_end: "interpreter", ..options };
    launch::recorded(Session::open_with(program, parameters, options)?, |session| run_session(verified, session))
}

/// The same in a session.
///
/// # Errors
/// Those of the run.
pub fn run_session(verified: &Verified, session: Session) -> Result<(), Error> {
    let mut runtime = SerialRuntime::new(session);
    runtime.session_mut().set_threads(Threads::one());
    if let Some(plan) = memory::plan(verified.module()) {
        runtime.plan_memory(plan)?;
    }
    equelle_interp::interpret(verified, &mut runtime)
}

/// What the runtime needs to know of a program. It lives as long as the process, because generated
/// programs have it as a constant.
pub fn program(source: &SourceFile, verified: &Verified) -> &'static Program {
    let manifest: Value = serde_json::from_str(&package::manifest(verified)).unwrap_or_default();
    let retries = package::retries(verified.module(), &time_steps::loops(verified.module()));
    let solve = |(line, unknowns): (u32, Vec<String>)| {
        let unknowns: Vec<&'static str> = unknowns.iter().map(|name| leak(name)).collect();
        Solve { line, unknowns: Box::leak(unknowns.into_boxed_slice()) }
    };
    let solves: Vec<Solve> = package::solves(verified.module()).into_iter().map(solve).collect();
    let inputs: Vec<InputInfo> = manifest["inputs"].as_array().into_iter().flatten().filter_map(input).collect();
    Box::leak(Box::new(Program {
        name: leak(&verified.module().name),
        source: Source { file: leak(source.name()), text: leak(source.text()) },
        inputs: Box::leak(inputs.into_boxed_slice()),
        min_dim: manifest["grid_dimension"]["minimum"].as_u64().map_or(1, |dim| dim as usize),
        retries: Box::leak(retries.into_boxed_slice()),
        solves: Box::leak(solves.into_boxed_slice()),
        outputs: Box::leak(package::collection_tags(verified).iter().map(|tag| leak(tag)).collect::<Vec<_>>().into_boxed_slice()),
    }))
}

fn input(entry: &Value) -> Option<InputInfo> {
    let kind = match entry["kind"].as_str()? {
        "scalar" => InputKind::Scalar,
        "collection" => match entry["type"].as_str()? {
            ty if ty.starts_with("Collection Of Vector") => InputKind::Vectors,
            ty if ty.starts_with("Collection Of Bool") => InputKind::Bools,
            _ => InputKind::Collection,
        },
        "domain" => InputKind::Domain,
        "sequence" => InputKind::Sequence,
        _ => return None,
    };
    Some(InputInfo {
        name: leak(entry["name"].as_str()?),
        kind,
        domain: leak(entry["domain"].as_str().or(entry["subset_of"].as_str()).unwrap_or_default()),
        unit: leak(entry["unit"].as_str().unwrap_or_default()),
        default: leak(&entry["default"].as_f64().map(|value| value.to_string()).unwrap_or_default()),
        line: entry["line"].as_u64().map_or(0, |line| line as u32),
    })
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}
