//! Results of programs: interpreted, compiled and on CUDA's emulator, against closed forms,
//! reference results, sums and each other.

#[path = "../../equelle-runtime/examples/polyhedra.rs"]
mod polyhedra;
mod support;
#[path = "../../equelle-runtime/examples/triangles.rs"]
mod triangles;

mod audit;
mod audit_coupled;
mod audit_sums;
mod compiled_reports;
mod conformance;
mod cuda;
mod implicit;
mod memory;
mod mhd;
mod mpi;
mod nested_choices;
mod package;
mod patterns;
mod programs;
mod ranks;
mod reads_by_index;
mod run;
mod steady_state;
mod stencil;
mod wells;
mod wording;
