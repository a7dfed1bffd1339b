//! Numbers: programs interpreted and compiled, at both levels, against reference results and exact
//! answers; bad input from end to end.

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

#[path = "run/bad_input.rs"]
mod bad_input;
#[path = "run/edges.rs"]
mod edges;
#[path = "run/exact.rs"]
mod exact;
#[path = "run/fast.rs"]
mod fast;
#[path = "run/finite.rs"]
mod finite;
#[path = "run/gaps.rs"]
mod gaps;
#[path = "run/heat_2d.rs"]
mod heat_2d;
#[path = "run/heat_3d.rs"]
mod heat_3d;
#[cfg(unix)]
#[path = "run/interrupts.rs"]
mod interrupts;
#[path = "run/loops.rs"]
mod loops;
#[path = "run/nnc.rs"]
mod nnc;
#[path = "run/periodic.rs"]
mod periodic;
#[path = "run/precision.rs"]
mod precision;
#[path = "run/processor.rs"]
mod processor;
#[path = "run/restart.rs"]
mod restart;
#[path = "run/threads.rs"]
mod threads;
