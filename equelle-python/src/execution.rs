//! A run in a thread of its own. Python waits for it, or follows it round by round.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use equelle::compiled::Compiled;
use equelle::inputs;
use equelle::simulation::{Results, RunSettings};
use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::observer::{CellBox, OnRound, RunState, StateValue};
use equelle_runtime::output::{Record, Records, StepTime};
use equelle_runtime::report::Event;
use equelle_runtime::{Error, ErrorKind, Reduction};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arguments::{self, Argument};
use crate::errors;
use crate::grid::PyGrid;
use crate::program::PyProgram;
use crate::row::Row;

/// Interval between checks of Python's signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A request to a run that waits after a round.
enum Request {
    Advance,
    Variables,
    Cells,
    Read(String, Option<CellBox>),
    Write(String, Option<CellBox>, StateValue),
    Reduce(String, Reduction),
}

/// An answer of a run.
enum Reply {
    /// The end of a round, with the outputs since the previous one.
    Round(StepTime, Vec<(StepTime, Record)>),
    Variables(Vec<String>),
    Cells(Option<Vec<usize>>),
    Value(Result<StateValue, Error>),
    Written(Result<(), Error>),
    Number(Result<f64, Error>),
    /// The run is over.
    Over(Box<Results>, Result<(), Error>),
}

/// Step, time and outputs of a round.
type FinishedRound<'py> = (u64, f64, Bound<'py, PyList>);

/// The step that a run is in, for a progress bar.
#[derive(Default)]
struct Position {
    step: AtomicU64,
    /// Steps of the loop; 0 if they are not known.
    steps: AtomicU64,
}

/// A run that has begun.
#[pyclass(frozen)]
pub struct Execution {
    program: Arc<Compiled>,
    requests: Sender<Request>,
    replies: Mutex<Receiver<Reply>>,
    interrupt: Interrupt,
    position: Arc<Position>,
}

impl Drop for Execution {
    /// A run that nobody waits for ends at its next round or iteration.
    fn drop(&mut self) {
        self.interrupt.ask(Signal::Interrupt);
    }
}

#[pymethods]
impl Execution {
    /// Begins a run; with `follows` it waits after each round.
    #[staticmethod]
    fn start(
        py: Python<'_>,
        program: &PyProgram,
        given: Vec<(String, Argument<'_>)>,
        grid: Option<&PyGrid>,
        follows: bool,
    ) -> PyResult<Execution> {
        let parameters = arguments::parameters(py, &given)?;
        let (compiled, kernels) = (Arc::clone(&program.compiled), program.kernels()?);
        let hint = "`inputs` of the program has all that it reads";
        inputs::judge(compiled.program(), &parameters, hint)
            .map_err(|(_, error)| errors::run_error(py, &compiled.program().source, &error))?;
        let (to_run, requests) = mpsc::channel();
        let (to_caller, replies) = mpsc::channel();
        let (interrupt, position) = (Interrupt::default(), Arc::new(Position::default()));
        let grid = grid.map(|grid| grid.grid.clone());
        let (own, told, stop) = (Arc::clone(&compiled), Arc::clone(&position), interrupt.clone());
        let run = move || {
            let records = Records::default();
            let (outputs, to_follower) = (records.clone(), to_caller.clone());
            let on_round = move |state: &mut dyn RunState| serve(state, &requests, &to_follower, &outputs);
            let settings = RunSettings {
                grid,
                interrupt: stop,
                on_event: Some(Box::new(move |event| told.see(event))),
                on_round: follows.then(|| Box::new(on_round) as Box<OnRound>),
                records,
            };
            let (results, result) = own.run(kernels, parameters, settings);
            // The send fails if the caller no longer waits.
            let _ = to_caller.send(Reply::Over(Box::new(results), result));
        };
        thread::Builder::new()
            .name("equelle".to_owned())
            .spawn(run)
            .map_err(|error| PyRuntimeError::new_err(format!("no thread for the run: {error}")))?;
        Ok(Execution { program: compiled, requests: to_run, replies: Mutex::new(replies), interrupt, position })
    }

    /// Waits for the end of the run: outputs, solves of Newton's method (JSON), warnings, summary
    /// (JSON), and the exception of the run or `None`. `progress` is called now and then with the
    /// step, and the number of steps or `None`.
    fn wait<'py>(&self, py: Python<'py>, progress: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyTuple>> {
        match self.receive(py, progress.as_ref())? {
            Reply::Over(results, result) => self.over(py, *results, result),
            _ => Err(out_of_order()),
        }
    }

    /// Runs the next round. Returns its step, time and outputs; after the last round `None` and the
    /// result of [`Execution::wait`]. The first call waits for the first round.
    fn advance<'py>(&self, py: Python<'py>, is_first: bool) -> PyResult<(Option<FinishedRound<'py>>, Option<Bound<'py, PyTuple>>)> {
        if !is_first {
            self.ask(Request::Advance)?;
        }
        match self.receive(py, None)? {
            Reply::Round(moment, outputs) => Ok((Some((moment.step, moment.time, recorded(py, outputs)?)), None)),
            Reply::Over(results, result) => Ok((None, Some(self.over(py, *results, result)?))),
            _ => Err(out_of_order()),
        }
    }

    /// Names of the variables that can be read between rounds.
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.ask(Request::Variables)?;
        match self.receive(py, None)? {
            Reply::Variables(variables) => Ok(variables),
            _ => Err(out_of_order()),
        }
    }

    /// Cells along the axes of a Cartesian grid, x first; `None` for other grids.
    fn cells(&self, py: Python<'_>) -> PyResult<Option<Vec<usize>>> {
        self.ask(Request::Cells)?;
        match self.receive(py, None)? {
            Reply::Cells(cells) => Ok(cells),
            _ => Err(out_of_order()),
        }
    }

    /// A copy of a variable, or of its values in a box of cells: start and end along each axis, x
    /// first.
    fn read<'py>(&self, py: Python<'py>, name: String, cells: Option<Vec<(usize, usize)>>) -> PyResult<Bound<'py, PyAny>> {
        self.ask(Request::Read(name, cells.map(cell_box)))?;
        match self.receive(py, None)? {
            Reply::Value(value) => state(py, value.map_err(|error| errors::from_error(&error))?),
            _ => Err(out_of_order()),
        }
    }

    /// Overwrites a variable, or its values in a box of cells.
    fn write(&self, py: Python<'_>, name: String, cells: Option<Vec<(usize, usize)>>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.ask(Request::Write(name, cells.map(cell_box), arguments::state_value(py, value)?))?;
        match self.receive(py, None)? {
            Reply::Written(result) => result.map_err(|error| errors::from_error(&error)),
            _ => Err(out_of_order()),
        }
    }

    /// A reduction of a collection: `sum`, `max`, `min` or `prod`.
    fn reduce(&self, py: Python<'_>, name: String, reduction: &str) -> PyResult<f64> {
        let reduction = match reduction {
            "sum" => Reduction::Sum,
            "max" => Reduction::Max,
            "min" => Reduction::Min,
            "prod" => Reduction::Prod,
            _ => return Err(PyValueError::new_err(format!("there is no reduction {reduction:?}; there are sum, max, min and prod"))),
        };
        self.ask(Request::Reduce(name, reduction))?;
        match self.receive(py, None)? {
            Reply::Number(number) => number.map_err(|error| errors::from_error(&error)),
            _ => Err(out_of_order()),
        }
    }

    /// Ends the run and waits until it is over.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.interrupt.ask(Signal::Interrupt);
        // The run may be over.
        let _ = self.requests.send(Request::Advance);
        while !matches!(self.receive(py, None)?, Reply::Over(..)) {
            let _ = self.requests.send(Request::Advance);
        }
        Ok(())
    }
}

impl Execution {
    fn ask(&self, request: Request) -> PyResult<()> {
        self.requests.send(request).map_err(|_| PyRuntimeError::new_err("the run is over"))
    }

    /// The next reply. Ctrl-C interrupts the run, which ends in order.
    fn receive(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Reply> {
        let mut interrupted = None;
        let mut last = u64::MAX;
        loop {
            let reply = py.detach(|| self.replies.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(BETWEEN_LOOKS));
            match (reply, interrupted.take()) {
                (Ok(Reply::Over(..)), Some(exception)) => return Err(exception),
                (Ok(reply), exception) => {
                    if let Some(exception) = exception {
                        interrupted = Some(exception);
                        let _ = self.requests.send(Request::Advance);
                        continue;
                    }
                    return Ok(reply);
                }
                (Err(RecvTimeoutError::Disconnected), exception) => {
                    return Err(exception.unwrap_or_else(|| PyRuntimeError::new_err("internal error: the run ended without a result")));
                }
                (Err(RecvTimeoutError::Timeout), exception) => interrupted = exception,
            }
            let outcome = py.check_signals().and_then(|()| {
                let (step, steps) = (self.position.step.load(Ordering::Relaxed), self.position.steps.load(Ordering::Relaxed));
                if let Some(progress) = progress.filter(|_| step != last) {
                    last = step;
                    progress.call1((step, (steps > 0).then_some(steps)))?;
                }
                Ok(())
            });
            if let Err(exception) = outcome {
                self.interrupt.ask(Signal::Interrupt);
                interrupted.get_or_insert(exception);
            }
        }
    }

    fn over<'py>(&self, py: Python<'py>, results: Results, result: Result<(), Error>) -> PyResult<Bound<'py, PyTuple>> {
        let newton: Vec<String> = results.newton.into_iter().map(|newton| Event::Newton(newton).json().to_string()).collect();
        let summary = results.summary.map(|summary| Event::Summary(summary).json().to_string());
        let exception = result.err().map(|error| errors::run_error(py, &self.program.program().source, &error));
        (recorded(py, results.outputs)?, newton, results.warnings, summary, exception).into_pyobject(py)
    }
}

impl Position {
    fn see(&self, event: &Event) {
        if let Event::Step(step) = event {
            self.step.store(step.step as u64, Ordering::Relaxed);
            self.steps.store(step.steps.unwrap_or(0) as u64, Ordering::Relaxed);
        }
    }
}

/// Reports the end of a round, then answers requests until one asks for the next round.
fn serve(state: &mut dyn RunState, requests: &Receiver<Request>, replies: &Sender<Reply>, outputs: &Records) -> Result<(), Error> {
    let over = || Error::new(ErrorKind::Interrupted(Signal::Interrupt), "the run was ended by its caller");
    replies.send(Reply::Round(state.moment(), outputs.take_with_moments())).map_err(|_| over())?;
    loop {
        let reply = match requests.recv().map_err(|_| over())? {
            Request::Advance => return Ok(()),
            Request::Variables => Reply::Variables(state.variables()),
            Request::Cells => Reply::Cells(state.cells()),
            Request::Read(name, None) => Reply::Value(state.read(&name)),
            Request::Read(name, Some(cells)) => Reply::Value(state.read_box(&name, &cells)),
            Request::Write(name, None, value) => Reply::Written(state.write(&name, value)),
            Request::Write(name, Some(cells), value) => Reply::Written(state.write_box(&name, &cells, value)),
            Request::Reduce(name, reduction) => Reply::Number(state.reduce(&name, reduction)),
        };
        replies.send(reply).map_err(|_| over())?;
    }
}

fn cell_box(axes: Vec<(usize, usize)>) -> CellBox {
    CellBox(axes.into_iter().map(|(start, end)| start..end).collect())
}

fn out_of_order() -> PyErr {
    PyRuntimeError::new_err("the run is not between two rounds")
}

/// Outputs as tuples of tag, step, time and value; collections are rows, which take over the memory
/// of the run.
fn recorded(py: Python<'_>, outputs: Vec<(StepTime, Record)>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for (StepTime { step, time }, record) in outputs {
        let (tag, value) = match record {
            Record::Scalar { tag, value } => (tag, value.into_pyobject(py)?.into_any()),
            Record::Bool { tag, value } => (tag, value.into_pyobject(py)?.to_owned().into_any()),
            Record::Text { tag, value } => (tag, value.into_pyobject(py)?.into_any()),
            Record::Vector { tag, components } => (tag, PyTuple::new(py, components)?.into_any()),
            Record::Collection { tag, values } => (tag, Bound::new(py, Row::from_scalars(values))?.into_any()),
            Record::Vectors { tag, values } => {
                let dim = values.first().map_or(0, Vec::len);
                (tag, Bound::new(py, Row::from_vectors(values.concat(), dim))?.into_any())
            }
        };
        list.append((tag, step, time, value))?;
    }
    Ok(list)
}

/// A value of the state.
fn state(py: Python<'_>, value: StateValue) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        StateValue::Scalar(value) => value.into_pyobject(py)?.into_any(),
        StateValue::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        StateValue::Vector(components) => PyTuple::new(py, components)?.into_any(),
        StateValue::Scalars(values) => Bound::new(py, Row::from_scalars(values))?.into_any(),
        StateValue::Bools(values) => values.into_pyobject(py)?.into_any(),
        StateValue::Vectors { dim, values } => Bound::new(py, Row::from_vectors(values, dim))?.into_any(),
    })
}
