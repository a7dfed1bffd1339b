//! Random programs, and all of the project, in every way that programs run. Tests run in the order
//! of their names: those that take longest, and use one core at their end, come first.

mod agree;
mod all_programs;
mod compiled;
mod cuda;
mod forms;
mod halo;
mod lanes;
mod on_ranks;
mod parameters;
mod rank_mutants;
mod residuals;
mod restarts;
