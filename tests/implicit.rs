//! Implicit programs: Newton's method and linear solvers from Equelle text to checked numbers, and
//! how they fail.

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

#[path = "../equelle-runtime/examples/polyhedra.rs"]
mod polyhedra;
#[path = "../equelle-runtime/examples/triangles.rs"]
mod triangles;

#[path = "implicit/acceptance.rs"]
mod acceptance;
#[path = "implicit/carried.rs"]
mod carried;
#[path = "implicit/failures.rs"]
mod failures;
#[path = "implicit/flow.rs"]
mod flow;
#[path = "implicit/heat.rs"]
mod heat;
#[path = "implicit/inside.rs"]
mod inside;
#[path = "implicit/rescue.rs"]
mod rescue;
#[path = "implicit/rescue_loops.rs"]
mod rescue_loops;
#[path = "implicit/row_scales.rs"]
mod row_scales;
#[path = "implicit/scalar.rs"]
mod scalar;
#[path = "implicit/search.rs"]
mod search;
#[path = "implicit/sides.rs"]
mod sides;
#[path = "implicit/units.rs"]
mod units;
