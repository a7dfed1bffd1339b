//! The programs of the original Equelle project, written afresh: what they give, against results of
//! the original implementation (2018, double precision). Heat conduction and the flow of a gas are
//! in `run` and `implicit`.

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;
#[path = "../equelle-runtime/examples/triangles.rs"]
mod triangles;

#[path = "programs/declared.rs"]
mod declared;
#[path = "programs/renumber.rs"]
mod renumber;
#[path = "programs/shallow_water.rs"]
mod shallow_water;
#[path = "programs/small.rs"]
mod small;
#[path = "programs/two_phase.rs"]
mod two_phase;
#[path = "programs/where_case.rs"]
mod where_case;
