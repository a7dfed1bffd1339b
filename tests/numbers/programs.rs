//! The programs of the original Equelle project, written afresh: what they give, against results of
//! the original implementation (2018, double precision). Heat conduction and the flow of a gas are
//! in `run` and `implicit`.

mod declared;
mod renumber;
mod shallow_water;
mod small;
mod two_phase;
pub mod where_case;
