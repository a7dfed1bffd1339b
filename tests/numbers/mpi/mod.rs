//! Runs on ranks that are processes, by each MPI that is installed here.

mod book;
mod examples;
mod faults;
mod support;
