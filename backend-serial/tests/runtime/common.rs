//! Small runtimes and other helpers of the tests.

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::session::Options;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Parameters, Program, Session};

pub const ALL_CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::All };
pub const ALL_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::All };
pub const INTERIOR_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior };
pub const BOUNDARY_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Boundary };

pub fn session(grid: Grid) -> Session {
    Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent())
        .expect("a silent session without parameters opens")
}

pub fn runtime(shape: Cartesian) -> SerialRuntime {
    SerialRuntime::new(session(Grid::cartesian(shape).expect("the shapes of the tests are valid")))
}

/// The same grid with nothing known of its regularity.
pub fn unstructured(shape: Cartesian) -> SerialRuntime {
    SerialRuntime::new(session(Grid::cartesian(shape).expect("the shapes of the tests are valid").as_unstructured()))
}

pub fn line(n: usize, dx: f64) -> SerialRuntime {
    runtime(Cartesian::line(n, dx))
}

pub fn plane(n: [usize; 2], spacing: [f64; 2]) -> SerialRuntime {
    runtime(Cartesian::plane(n, spacing))
}

pub fn block(n: [usize; 3], spacing: [f64; 3]) -> SerialRuntime {
    runtime(Cartesian::block(n, spacing))
}

/// The error of something that must fail.
#[track_caller]
pub fn failure<T>(result: Result<T, Error>) -> Error {
    match result {
        Ok(_) => panic!("this must fail"),
        Err(error) => error,
    }
}

/// Values as bits, for comparisons in which -0 is not +0.
pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
