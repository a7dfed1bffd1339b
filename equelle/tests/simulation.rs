//! Runs in memory: arrays in, results out, and runs that the caller follows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use equelle::compiled::Compiled;
use equelle::emitter::Collector;
use equelle::failure::Failure;
use equelle::interpret::Kernels;
use equelle::pipeline::Options;
use equelle::registry::{self, BACKENDS};
use equelle::simulation::RunSettings;
use equelle_front::source::SourceMap;
use equelle_runtime::grid::Cartesian;
use equelle_runtime::interrupt::Signal;
use equelle_runtime::observer::{CellBox, RunState, StateValue};
use equelle_runtime::output::Record;
use equelle_runtime::report::Event;
use equelle_runtime::{ArrayValues, DataArray, Error, ErrorKind, Grid, Parameters, Reduction};

const HEAT: &str = "u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar(\"u\", AllCells())\n\
    scale : Mutable Scalar = 1\n\
    For dt In InputSequenceOfScalar(\"steps\") {\n\
    \x20   u = u + scale * dt * Divergence(Gradient(u))\n    scale = scale * 1\n    Output(\"u\", u)\n    Output(\"total\", SumReduce(u))\n}\n";

fn compiled(text: &str) -> Result<Compiled, Box<(Failure, Collector)>> {
    let backend = registry::default(BACKENDS);
    let options = Options { nondimensional: true, costs: registry::costs(&[backend]), ..Options::default() };
    let collector = Collector::default();
    Compiled::new(SourceMap::new("heat.equelle", text), options, &[backend], &collector).map_err(|failure| Box::new((failure, collector)))
}

fn heat() -> Compiled {
    compiled(HEAT).unwrap_or_else(|refused| panic!("{refused:?}"))
}

/// A line of four cells with a step, and three rounds.
fn parameters() -> Parameters {
    let mut parameters = Parameters::default();
    parameters.set_array("u", DataArray::numbers(vec![1.0, 1.0, 0.0, 0.0]));
    parameters.set_array("steps", DataArray::numbers(vec![0.25; 3]));
    parameters
}

fn line() -> Option<Grid> {
    Some(Grid::cartesian(Cartesian::line(4, 1.0)).expect("a grid"))
}

fn rows(outputs: &[(equelle_runtime::output::StepTime, Record)]) -> Vec<Vec<f64>> {
    let values = outputs.iter().filter_map(|(_, record)| match record {
        Record::Collection { values, .. } => Some(values.clone()),
        _ => None,
    });
    values.collect()
}

#[test]
fn arrays_go_in_and_rows_come_out() {
    let (results, result) = heat().run(Kernels::Lanes, parameters(), RunSettings { grid: line(), ..RunSettings::default() });
    result.expect("it ends");
    // By hand: a quarter of each difference passes.
    let expected = [[1.0, 0.75, 0.25, 0.0], [0.9375, 0.6875, 0.3125, 0.0625], [0.875, 0.65625, 0.34375, 0.125]];
    assert_eq!(rows(&results.outputs), expected);
    let moments: Vec<(u64, f64)> = results.outputs.iter().map(|(moment, _)| (moment.step, moment.time)).collect();
    assert_eq!(moments, [(1, 0.25), (1, 0.25), (2, 0.5), (2, 0.5), (3, 0.75), (3, 0.75)]);
    assert_eq!(results.summary.map(|summary| (summary.steps, summary.cells)), Some((3, 4)));
    assert!(results.warnings.is_empty());
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let run = |name: &str, array: DataArray| {
        let mut parameters = parameters();
        parameters.set_array(name, array);
        let (_, result) = heat().run(Kernels::Lanes, parameters, RunSettings { grid: line(), ..RunSettings::default() });
        let error = result.expect_err("it does not fit");
        (error.kind, error.message)
    };
    let numbers = |shape: &[usize], values: Vec<f64>| DataArray { shape: shape.to_vec(), values: ArrayValues::Numbers(Arc::new(values)) };
    let data = |message: &str| (ErrorKind::Data, message.to_owned());
    assert_eq!(run("u", numbers(&[3], vec![0.0; 3])), data("input `u` on AllCells(): expected shape (4,), found (3,)"));
    assert_eq!(run("u", numbers(&[2, 2], vec![0.0; 4])), data("input `u` on AllCells(): expected shape (4,), found (2, 2)"));
    assert_eq!(run("u", numbers(&[4], vec![0.0, 0.0, f64::INFINITY, 0.0])), data("input `u`: element [2]: inf is not a finite number"));
    let truths = DataArray { shape: vec![4], values: ArrayValues::Truths(Arc::new(vec![true; 4])) };
    assert_eq!(run("u", truths), data("input `u` needs numbers, and an array of truth values of shape (4,) was given"));
    assert_eq!(run("steps", numbers(&[1, 2], vec![0.1; 2])), data("input `steps`: expected 1 axis, found shape (1, 2)"));
}

#[test]
fn a_cartesian_array_has_the_axes_of_the_grid() {
    let shape = |shape: &[usize]| {
        let mut parameters = parameters();
        let values = ArrayValues::Numbers(Arc::new((0..6).map(f64::from).collect()));
        parameters.set_array("u", DataArray { shape: shape.to_vec(), values });
        parameters.set_array("steps", DataArray::numbers(vec![0.0]));
        let grid = Grid::cartesian(Cartesian::plane([3, 2], [1.0, 1.0])).expect("a grid");
        let (results, result) = heat().run(Kernels::Lanes, parameters, RunSettings { grid: Some(grid), ..RunSettings::default() });
        result.map(|()| rows(&results.outputs)).map_err(|error| error.message)
    };
    let expected = vec![vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]];
    assert_eq!(shape(&[2, 3]), Ok(expected.clone()), "x is the last axis, as in NumPy's images");
    assert_eq!(shape(&[6]), Ok(expected));
    assert_eq!(shape(&[3, 2]), Err("input `u` on AllCells(): expected shape (6,) or (2, 3), found (3, 2)".to_owned()));
}

#[test]
fn the_caller_reads_and_changes_the_state() {
    for kernels in [Kernels::Lanes, Kernels::Elements] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        let on_round = move |state: &mut dyn RunState| -> Result<(), Error> {
            let moment = state.moment();
            let StateValue::Scalars(u) = state.read("u")? else { panic!("a collection") };
            shared.lock().unwrap().push((moment.step, moment.time, u, state.reduce("u", Reduction::Max)?));
            match moment.step {
                1 => state.write("u", StateValue::Scalars(vec![0.0, 0.0, 0.0, 4.0])),
                2 => state.write("scale", StateValue::Scalar(0.0)),
                _ => Ok(()),
            }
        };
        let settings = RunSettings { grid: line(), on_round: Some(Box::new(on_round)), ..RunSettings::default() };
        let (_, result) = heat().run(kernels, parameters(), settings);
        result.expect("it ends");
        let seen = seen.lock().unwrap();
        assert_eq!(seen[0], (1, 0.25, vec![1.0, 0.75, 0.25, 0.0], 1.0));
        assert_eq!(seen[1], (2, 0.5, vec![0.0, 0.0, 1.0, 3.0], 3.0));
        assert_eq!(seen[2], (3, 0.75, vec![0.0, 0.0, 1.0, 3.0], 3.0), "without a scale nothing moves");
    }
}

#[test]
fn a_box_of_cells_is_read_and_changed() {
    let mut given = parameters();
    given.set_array("u", DataArray::numbers((0..24).map(f64::from).collect()));
    given.set_array("steps", DataArray::numbers(vec![0.0]));
    let grid = Grid::cartesian(Cartesian::block([4, 3, 2], [1.0; 3])).expect("a grid");
    let on_round = |state: &mut dyn RunState| -> Result<(), Error> {
        assert_eq!(state.cells(), Some(vec![4, 3, 2]));
        let cells = CellBox::block(1..3, 1..2, 0..2);
        assert_eq!(state.read_box("u", &cells)?, StateValue::Scalars(vec![5.0, 6.0, 17.0, 18.0]));
        state.write_box("u", &cells, StateValue::Scalars(vec![-1.0; 4]))?;
        let StateValue::Scalars(u) = state.read("u")? else { panic!("a collection") };
        let expected = |cell: usize| if [5, 6, 17, 18].contains(&cell) { -1.0 } else { cell as f64 };
        assert_eq!(u, (0..24).map(expected).collect::<Vec<_>>());
        assert_eq!(state.read_box("u", &CellBox::block(1..1, 0..3, 0..2))?, StateValue::Scalars(vec![]));
        Ok(())
    };
    let settings = RunSettings { grid: Some(grid), on_round: Some(Box::new(on_round)), ..RunSettings::default() };
    heat().run(Kernels::Lanes, given, settings).1.expect("it ends");
}

#[test]
fn what_the_caller_cannot_have_is_an_error_of_its_own() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&told);
    let on_round = move |state: &mut dyn RunState| -> Result<(), Error> {
        assert_eq!(state.variables(), ["u", "scale"]);
        let mut messages = shared.lock().unwrap();
        messages.extend(state.read("v").err().map(|error| error.message));
        messages.extend(state.write("u", StateValue::Scalars(vec![1.0])).err().map(|error| error.message));
        messages.extend(state.write("u", StateValue::Scalar(1.0)).err().map(|error| error.message));
        messages.extend(state.reduce("scale", Reduction::Sum).err().map(|error| error.message));
        messages.extend(state.read_box("u", &CellBox::line(1..5)).err().map(|error| error.message));
        messages.extend(state.read_box("scale", &CellBox::line(0..1)).err().map(|error| error.message));
        messages.extend(state.write_box("u", &CellBox::line(1..2), StateValue::Scalars(vec![])).err().map(|error| error.message));
        Err(Error::new(ErrorKind::Interrupted(Signal::Interrupt), "enough"))
    };
    let settings = RunSettings { grid: line(), on_round: Some(Box::new(on_round)), ..RunSettings::default() };
    let (results, result) = heat().run(Kernels::Lanes, parameters(), settings);
    assert_eq!(result.expect_err("the caller ends it").message, "enough");
    assert_eq!(rows(&results.outputs).len(), 1, "what was put out before stays");
    assert_eq!(
        *told.lock().unwrap(),
        [
            "the program has no mutable variable `v`",
            "`u` has 4 elements, and 1 were given",
            "`u` is a Collection Of Scalar, and something else was given",
            "`scale` is a Scalar, and collections of Scalars are reduced",
            "the box [1..5] is not inside of the [4] cells of the grid",
            "`scale` is not a collection on all cells of a Cartesian grid, which a box is read from",
            "the box of `u` has 1 cells, and values for 0 were given",
        ]
    );
}

#[test]
fn events_are_told_to_the_caller() {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let listener = move |event: &Event| {
        if matches!(event, Event::Step(_)) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut parameters = parameters();
    parameters.set_argument("unknown", "1");
    let settings = RunSettings { grid: line(), on_event: Some(Box::new(listener)), ..RunSettings::default() };
    let (results, result) = heat().run(Kernels::Lanes, parameters, settings);
    result.expect("it ends");
    assert!(steps.load(Ordering::Relaxed) >= 2, "the first and the last step are always told");
    assert_eq!(results.warnings.len(), 1);
    assert!(results.warnings[0].starts_with("parameter `unknown` (argument) is not used"), "{:?}", results.warnings);
}

#[test]
fn programs_that_read_the_width_have_that_of_a_grid_in_memory() {
    let program = compiled("dx = InputScalarWithDefault(\"dx\", 10)\nOutput(\"dx\", dx)\n").unwrap_or_else(|refused| panic!("{refused:?}"));
    let run = |words: &[(&str, &str)]| {
        let mut parameters = Parameters::default();
        words.iter().for_each(|(key, value)| parameters.set_argument(key, value));
        let grid = Grid::cartesian(Cartesian::line(4, 0.5)).expect("a grid");
        let (results, result) = program.run(Kernels::Lanes, parameters, RunSettings { grid: Some(grid), ..RunSettings::default() });
        result.expect("it ends");
        match &results.outputs[..] {
            [(_, Record::Scalar { value, .. })] => *value,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(run(&[]), 0.5);
    assert_eq!(run(&[("dx", "3")]), 3.0);
}

#[test]
fn errors_of_programs_are_data() {
    let (failure, collector) = *compiled("Output(\"u\", v)\n").err().expect("there is no v");
    assert!(matches!(failure, Failure::Program));
    let diagnostics = collector.into_messages().diagnostics;
    assert_eq!(diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect::<Vec<_>>(), ["E0101"]);
}
