//! Small runtimes, and Jacobians in a form that can be compared.

use std::path::Path;

use backend_serial::runtime::{EntityCollection, Jacobian, ScalarCollection, SerialRuntime};
use equelle_runtime::grid::{Cartesian, Grid, io};
use equelle_runtime::session::Options;
use equelle_runtime::*;

pub const ALL_CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::All };
pub const BOUNDARY_CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::Boundary };
pub const ALL_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::All };
pub const INTERIOR_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior };
pub const BOUNDARY_FACES: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Boundary };

pub fn on_grid(grid: Grid) -> SerialRuntime {
    let session = Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent());
    SerialRuntime::new(session.expect("a silent session without parameters opens"))
}

pub fn cartesian(shape: Cartesian) -> SerialRuntime {
    on_grid(Grid::cartesian(shape).expect("the shapes of the tests are valid"))
}

/// `n` cells of width 1.
pub fn line(n: usize) -> SerialRuntime {
    cartesian(Cartesian::line(n, 1.0))
}

/// 60 triangles, irregularly numbered and turned.
pub fn triangles() -> SerialRuntime {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    on_grid(io::read_file(&path).expect("grids/triangles-6x5.grid is committed"))
}

/// One grid of each dimension, and one of triangles.
pub fn grids() -> [(&'static str, SerialRuntime); 4] {
    [
        ("line", cartesian(Cartesian::line(7, 0.5))),
        ("plane", cartesian(Cartesian::plane([4, 3], [0.5, 0.25]))),
        ("block", cartesian(Cartesian::block([3, 3, 2], [0.5, 0.25, 1.0]))),
        ("triangles", triangles()),
    ]
}

/// The cells' values as the unknowns, and no others.
pub fn unknown_on_cells(rt: &mut SerialRuntime, values: &[f64]) -> Result<ScalarCollection, Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let values = rt.scalar_collection(&cells, values.to_vec())?;
    rt.unknown(&values, 0, cells.len())
}

/// First and second cells of a set of faces.
pub fn cells_of(rt: &mut SerialRuntime, faces: CanonicalSet) -> Result<[EntityCollection; 2], Error> {
    let faces = rt.domain(faces)?;
    let faces = rt.entities(&faces)?;
    Ok([rt.first_cell(&faces)?, rt.second_cell(&faces)?])
}

/// Rows as lists of (column, value).
#[track_caller]
pub fn rows(collection: &ScalarCollection) -> Vec<Vec<(u32, f64)>> {
    let jacobian = collection.jacobian().expect("this depends on an unknown");
    (0..jacobian.n_rows())
        .map(|row| {
            let (columns, values) = jacobian.row(row);
            columns.iter().copied().zip(values.iter().copied()).collect()
        })
        .collect()
}

/// Columns of each row.
#[track_caller]
pub fn pattern(collection: &ScalarCollection) -> Vec<Vec<u32>> {
    rows(collection).into_iter().map(|row| row.into_iter().map(|(column, _)| column).collect()).collect()
}

/// `J d`, by sprs.
pub fn times(jacobian: &Jacobian, d: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; jacobian.n_rows()];
    let shape = (jacobian.n_rows(), jacobian.n_cols());
    let matrix = sprs::CsMatViewI::<f64, u32, usize>::new(shape, jacobian.row_ptr(), jacobian.col_idx(), jacobian.values());
    sprs::prod::mul_acc_mat_vec_csr(matrix, d, &mut out[..]);
    out
}

/// Numbers in [0, 1) that look random and are the same in every run.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    pub fn draw(&mut self) -> f64 {
        // Knuth's MMIX generator; its high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The error of something that must fail.
#[track_caller]
pub fn failure<T>(result: Result<T, Error>) -> Error {
    match result {
        Ok(_) => panic!("this must fail"),
        Err(error) => error,
    }
}
