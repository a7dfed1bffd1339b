//! Runs on several ranks: which cells each rank owns, and what it needs of others.
//!
//! A *rank* is one of the processes that share a run. It *owns* the cells of one part of the grid
//! and keeps, around them, copies of cells that others own: its *halo*. Layer k of a halo is the
//! cells at distance k from the owned ones, counted across faces.
//!
//! Cartesian grids are cut into [`Boxes`], in closed form. Cells of other grids are a
//! [`CellGraph`], cut by [`bisection`] or as a file says ([`partition_file`]). [`HaloCounts`] are
//! what a partition costs.
//!
//! A [`RankContext`] is one rank of a run, on its part of the grid ([`crate::grid::GridPart`]): it
//! exchanges halo values (`domain_plan`), and brings values to the order of the file (`routes`), by
//! messages of a [`Transport`]; [`ThreadTransport`] is that of ranks that are threads, [`mpi`] has
//! that of processes. The design is in `docs/internals/ranks.md`.

mod attempts;
pub mod bisection;
mod box_counts;
mod boxes;
mod context;
mod domain_plan;
mod graph;
mod halo_counts;
pub mod mpi;
mod partition;
pub mod partition_file;
mod routes;
mod threads;
mod transport;
mod unknowns;
mod work;

pub use crate::rank_id::RankId;
pub use boxes::{Box3, Boxes};
pub use context::{RankContext, RankProgress};
pub use domain_plan::Exchanged;
pub use graph::CellGraph;
pub use halo_counts::{HaloCounts, RankHalo};
pub use partition::Partition;
pub use threads::ThreadTransport;
pub use transport::Transport;
pub use unknowns::{OwnedNumber, RankUnknowns};
pub use work::{RankSurroundings, RankTimer, RankWork, Waits, WorkTimes};
