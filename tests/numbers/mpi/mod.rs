//! Runs on ranks that are processes, by each MPI that is installed here.

mod examples;
mod faults;
mod support;
