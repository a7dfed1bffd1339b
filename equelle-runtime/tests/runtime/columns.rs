//! Names of columns and arrays that two outputs would share.

use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::io::Sink;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{EntityKind, Error, ErrorKind, OutputInfo, OutputKind, OutputUnit, Program, simulator};

use crate::common::*;

fn output(tag: &str, kind: OutputKind) -> OutputInfo {
    OutputInfo { tag: tag.into(), kind, unit: None }
}

const CELLS: OutputKind = OutputKind::Numbers(EntityKind::Cell);
const CELL_VECTORS: OutputKind = OutputKind::Vectors(EntityKind::Cell);

/// The error of a run at its start.
fn start(program: &Program, grid: Grid, given: &[&str]) -> Result<(), String> {
    let options = Options { sink: Sink::memory(), ..Options::silent() };
    Session::on_grid(program.clone(), parameters(given), grid, options).map(|_| ()).map_err(|error| {
        assert_eq!(error.kind, ErrorKind::Data);
        error.message
    })
}

fn line() -> Grid {
    Grid::cartesian(Cartesian::line(4, 0.5)).expect("a grid")
}

#[test]
fn what_parameters_make_one_column_of_is_refused_before_the_run() {
    let fields = Program {
        outputs: vec![
            output("v", CELL_VECTORS),
            output("v_x", CELLS),
            output("v_x", OutputKind::Numbers(EntityKind::Face)),
            output("w", OutputKind::Vectors(EntityKind::Face)),
            output("w_x", CELLS),
        ],
        ..heat()
    };
    let both = "`v_x(0.6 0.1)` would be two columns or arrays of program `heat`: of the output `v` and of the output `v_x`";
    assert_eq!(start(&fields, four_by_three(), &["output_format=csv", "probe=0.6,0.1"]), Err(both.to_owned()));
    // Without probes, and on a line, where a Vector has one component, there is no such column.
    assert_eq!(start(&fields, four_by_three(), &["output_format=csv,vtu,npy"]), Ok(()));
    assert_eq!(start(&fields, line(), &["output_format=csv", "probe=0.6"]), Ok(()));
    let twice = "the probe (0.6 0.1) is given twice, the second time as number 3";
    assert_eq!(start(&heat(), four_by_three(), &["output_format=csv", "probe=0.6,0.1; 0.1,0.1; 0.6,0.10"]), Err(twice.to_owned()));
    let like_a_probe = Program { outputs: vec![output("u(0.6 0.1)", OutputKind::Number), output("u", CELLS)], ..heat() };
    assert!(start(&like_a_probe, four_by_three(), &["output_format=csv", "probe=0.6,0.1"]).is_err());
    assert_eq!(start(&like_a_probe, four_by_three(), &["output_format=csv", "probe=0.6,0.2"]), Ok(()));
    // Arrays of VTK have the unit behind the tag.
    let units = Program {
        outputs: vec![OutputInfo { unit: Some(OutputUnit::Divided("Bar".into())), ..output("p", CELLS) }, output("p [Bar]", CELLS)],
        ..heat()
    };
    assert!(start(&units, four_by_three(), &["output_format=vtu"]).is_err());
    assert_eq!(start(&units, four_by_three(), &["output_format=csv,npy,text"]), Ok(()));
}

fn run(program: impl FnOnce(&mut Session) -> Result<(), Error>) -> (Result<(), Error>, Option<String>) {
    let sink = Sink::memory();
    let options = Options { sink: sink.clone(), ..Options::silent() };
    let session = Session::on_grid(heat(), parameters(&["output_format=csv,vtu"]), four_by_three(), options).expect("a session");
    let result = simulator::recorded(session, |mut session| {
        program(&mut session).map_err(|error| session.outputs().ended_by(error))?;
        session.outputs().complete()
    });
    let table = sink.contents().into_iter().find(|(path, _)| path.ends_with("heat.csv"));
    (result, table.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Tags that only the run knows, as those of a mutable String, are in no list of outputs.
#[test]
fn tags_of_the_run_are_refused_with_their_row() {
    for (tag, name) in [("w_y", "w_y"), ("step", "step"), ("time", "time"), ("TimeValue", "TimeValue")] {
        let (result, _) = run(|session| {
            session.line(3);
            session.outputs().vector("w", &[1.0, 2.0])?;
            session.outputs().scalar(tag, 5.0)
        });
        let error = result.expect_err(tag);
        assert_eq!((error.kind, error.message.split(' ').next()), (ErrorKind::Data, Some(format!("`{name}`").as_str())));
    }
}

/// A field and a single number of one tag are in one step.
#[test]
fn a_field_and_a_number_of_one_tag() {
    let (result, table) = run(|session| {
        let (cells, faces) = (session.domain(ALL_CELLS)?, session.domain(ALL_FACES)?);
        for time in [1.0, 2.0] {
            session.outputs().collection("u", &cells, &[time; 12])?;
            session.outputs().collection("u", &faces, &[time; 31])?;
            session.outputs().scalar("u", time)?;
            session.outputs().scalar("m", -time)?;
        }
        Ok(())
    });
    result.expect("a run");
    assert_eq!(table.as_deref(), Some("step,time,u,m\n0,0,1,-1\n0,0,2,-2\n"));
}
