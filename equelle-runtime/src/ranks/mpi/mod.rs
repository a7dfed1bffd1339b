//! Ranks that are processes, connected by MPI.
//!
//! Messages of a rank to another are one stream, at whose end stands that the rank has ended. So
//! what was sent before arrives, and whoever waits for more learns that nothing comes, as with
//! ranks that are threads. An ended rank goes on to receive until all have ended
//! ([`Process::end`]): then nothing is under way, and outcomes are told.
//!
//! A wait is a loop that lets MPI go on, and rests longer the longer it takes ([`back_off`]). When
//! nothing has come for half of the time limit it asks the other rank whether it waits itself
//! ([`notice`]): the one that does not answer is the one to be named.

mod back_off;
mod notice;
mod process;
mod transport;

pub use process::{Ending, NodeRanks, Process, Received};
pub use transport::MpiTransport;

/// Parameter of the longest wait for a rank, in seconds.
pub const RANK_TIMEOUT: &str = "rank_timeout";

/// Parameter of the library of MPI.
pub const MPI_LIBRARY: &str = "mpi_library";
