//! Numbers: programs interpreted and compiled, at both levels, against reference results and exact
//! answers; bad input from end to end.

mod bad_input;
mod edges;
mod exact;
mod fast;
mod finite;
mod gaps;
mod heat_2d;
mod heat_3d;
#[cfg(unix)]
mod interrupts;
mod loops;
mod nnc;
mod periodic;
mod precision;
mod processor;
mod restart;
mod threads;
