//! Running a program without building it: the interpreter over the runtime of a back-end.

mod cuda;
pub(crate) mod memory;

use std::sync::Arc;

use backend_serial::runtime::{CompiledReal, SerialRuntime};
use equelle_front::backend::{Availability, Backend, DeviceKind};
use equelle_front::ir::interface::{Data, ExpectedUnit};
use equelle_front::ir::{Module, Numbers, Precision, Rounding};
use equelle_front::source::SourceMap;
use equelle_front::time_steps;
use equelle_front::verify::Verified;
use equelle_interp::Poison;
use equelle_interp::provider::KernelProvider;
use equelle_lanes::Lanes;
use equelle_runtime::session::Options;
use equelle_runtime::threads::Threads;
use equelle_runtime::{
    AxisUnits, EquelleRuntime, Error, ErrorKind, ImportedSource, InputInfo, InputUnit, MemoryPlan, OutputInfo, OutputUnit, Program,
    RankNeeds, Session, Solve, Source, TableColumn, TableColumns, simulator,
};

use crate::failure::Failure;
use crate::package::{self, UnitOfOutput};

/// The evaluator of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Lanes, by Cartesian forms where there are some, as compiled programs: the same numbers.
    Lanes,
    /// The evaluator of elements, by general bodies.
    Elements,
    /// Those of a CUDA device.
    Cuda,
}

impl Kernels {
    /// Name of the back-end in records of runs.
    pub fn back_end(self) -> &'static str {
        match self {
            Kernels::Lanes | Kernels::Elements => "interpreter",
            Kernels::Cuda => "cuda",
        }
    }
}

/// The fastest kernels by which a program runs without a build, to the numbers of the built one.
///
/// # Errors
/// `Usage` if none give these numbers.
pub fn fast_kernels(backend: &dyn Backend, numbers: Numbers) -> Result<Kernels, Failure> {
    match backend.device_kind() {
        DeviceKind::Gpu => Ok(Kernels::Cuda),
        DeviceKind::Cores if numbers.rounding == Rounding::Fast => {
            Err(Failure::usage("--interpret rounds every operation; without it, programs are compiled for --fp fast"))
        }
        DeviceKind::Cores => Ok(Kernels::Lanes),
    }
}

/// The kernels that evaluate a program from its definition.
///
/// # Errors
/// `Usage` for a GPU, and if they do not give the numbers of the built program.
pub fn oracle_kernels(backend: &dyn Backend, numbers: Numbers) -> Result<Kernels, Failure> {
    match backend.device_kind() {
        DeviceKind::Gpu => Err(Failure::usage(format!("--interpret=elements does not go with --backend {}", backend.name()))),
        DeviceKind::Cores => fast_kernels(backend, numbers).map(|_| Kernels::Elements),
    }
}

/// Checks that programs for a back-end can run on this machine.
///
/// # Errors
/// `Backend` if not, with what was looked for.
pub fn check_machine(backend: &dyn Backend) -> Result<(), Failure> {
    let Availability { runs, found } = backend.availability();
    if runs {
        return Ok(());
    }
    let name = backend.name();
    let message = format!("programs for {name} cannot run on this machine: {}", found.first().map_or("", String::as_str));
    let hint = format!("`equellec build --backend {name}` builds the program for another machine; `equellec doctor` says what is here");
    Err(Error::new(ErrorKind::Backend, message).hint(hint).into())
}

/// Runs a program by lanes, with parameters as on the command line of a simulator.
///
/// # Errors
/// Those of the run.
pub fn run(program: Arc<Program>, verified: &Verified, parameters: &[String], options: Options) -> Result<(), Error> {
    run_by(Kernels::Lanes, program, verified, parameters, options)
}

/// The same by other kernels.
///
/// # Errors
/// Those of the run.
pub fn run_by(kernels: Kernels, program: Arc<Program>, verified: &Verified, parameters: &[String], options: Options) -> Result<(), Error> {
    if let Some(option) = parameters.iter().find(|word| word.starts_with('-')) {
        return Err(Error::new(ErrorKind::Usage, format!("there is no option `{option}`")).hint("parameters are given as key=value"));
    }
    let session = Session::open_with(program, parameters, Options { back_end: kernels.back_end(), ..options })?;
    simulator::recorded(session, |session| run_in(kernels, verified, session))
}

/// The same in a session.
///
/// # Errors
/// Those of the run.
pub fn run_in(kernels: Kernels, verified: &Verified, session: Session) -> Result<(), Error> {
    run_poisoned(kernels, verified, session, None)
}

/// The same with values made wrong where ranks do not need them, for tests; not on a GPU.
///
/// # Errors
/// Those of the run.
pub fn run_poisoned(kernels: Kernels, verified: &Verified, session: Session, poison: Option<Poison<'_>>) -> Result<(), Error> {
    let module = verified.module();
    let session = match package::mode(module.numbers) {
        None => session,
        Some(mode) => session.in_mode(&mode),
    };
    let session = match module.storage.text() {
        text if text.is_empty() => session,
        text => session.with_storage(&text),
    };
    match (kernels, module.numbers.precision) {
        (Kernels::Cuda, _) => cuda::run(verified, session),
        (Kernels::Lanes, Precision::Double) => by_lanes::<f64>(verified, session, poison),
        (Kernels::Lanes, Precision::Single) => by_lanes::<f32>(verified, session, poison),
        (Kernels::Elements, Precision::Double) => by_elements::<f64>(verified, session, poison),
        (Kernels::Elements, Precision::Single) => by_elements::<f32>(verified, session, poison),
    }
}

fn by_lanes<R: CompiledReal>(verified: &Verified, session: Session, poison: Option<Poison<'_>>) -> Result<(), Error>
where
    Lanes: KernelProvider<SerialRuntime<R>>,
{
    let mut runtime = planned::<R>(session, memory::by_lanes(verified.module()))?;
    let options = equelle_interp::Options { cartesian_forms: true, poison, ..equelle_interp::Options::default() };
    equelle_interp::interpret_by(verified, &mut runtime, options, &mut Lanes::default())
}

fn by_elements<R: CompiledReal>(verified: &Verified, mut session: Session, poison: Option<Poison<'_>>) -> Result<(), Error> {
    session.set_threads(Threads::one());
    let mut runtime = planned::<R>(session, memory::by_elements(verified.module()))?;
    equelle_interp::interpret_with(verified, &mut runtime, equelle_interp::Options { poison, ..equelle_interp::Options::default() })
}

/// The same element by element: what other ways are compared with.
///
/// # Errors
/// Those of the run.
pub fn run_session(verified: &Verified, session: Session) -> Result<(), Error> {
    run_in(Kernels::Elements, verified, session)
}

/// A runtime with what it needs memory for.
///
/// # Errors
/// `Data` if that is more than there is.
fn planned<R: CompiledReal>(session: Session, plan: Option<MemoryPlan>) -> Result<SerialRuntime<R>, Error> {
    let mut runtime = SerialRuntime::with_precision(session);
    if let Some(plan) = plan {
        runtime.plan_memory(plan)?;
    }
    Ok(runtime)
}

/// Data of a program that the runtime needs.
pub fn program(source: &SourceMap, verified: &Verified) -> Arc<Program> {
    let interface = &verified.module().interface;
    let retries = package::retries(verified.module(), &time_steps::loops(verified.module()));
    let solve = |(line, unknowns): (u32, Vec<String>)| Solve { line, unknowns: unknowns.into_iter().map(Arc::from).collect() };
    let output = |data: &Data| OutputInfo {
        tag: data.name.as_str().into(),
        kind: package::output_kind(verified.module(), data),
        unit: package::output_unit(verified.module(), data).map(|unit| match unit {
            UnitOfOutput::Divided(unit) => OutputUnit::Divided(unit.into()),
            UnitOfOutput::Si(unit) => OutputUnit::Si(unit.into()),
        }),
    };
    let unit = |dimension| package::symbol(dimension).map(Arc::from);
    let imports = source.imported().iter().map(|file| ImportedSource { file: file.name().into(), text: file.text().into() });
    Arc::new(Program {
        name: verified.module().name.as_str().into(),
        source: Source { file: source.name().into(), text: source.text().into(), imports: imports.collect() },
        inputs: interface.inputs.iter().map(|data| input(verified.module(), data)).collect(),
        min_dim: interface.min_dim as usize,
        retries,
        solves: package::solves(verified.module()).into_iter().map(solve).collect(),
        outputs: interface.named_outputs().map(output).collect(),
        axes: AxisUnits { coordinates: unit(interface.coordinates), time: unit(interface.time) },
        ranks: RankNeeds::Unknown,
    })
}

fn input(module: &Module, input: &Data) -> InputInfo {
    let unit =
        |unit: ExpectedUnit| InputUnit { text: package::unit_text(module, &unit).into(), factor: unit.factor, dimension: unit.dimension.0 };
    let column = |number: usize| {
        let column = input.columns.get(number);
        TableColumn { name: column.map_or("", |column| &column.name).into(), unit: column.and_then(|column| column.unit).map(unit) }
    };
    let last = input.columns.len().saturating_sub(1);
    let columns = TableColumns { argument: column(0), second: (last == 2).then(|| Box::new(column(1))), value: column(last) };
    InputInfo {
        name: input.name.as_str().into(),
        kind: package::input_kind(input, columns),
        domain: input.domain.as_str().into(),
        unit: input.unit.map(unit),
        default: input.default.map(|value| value.to_string()).unwrap_or_default().into(),
        line: input.line,
    }
}
