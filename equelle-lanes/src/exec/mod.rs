//! Execution of lane programs.
//!
//! [`Machine`] has the registers of a thread, and runs a program block by block. [`regions`] opens
//! and closes regions of lanes, [`rows`] loads what Cartesian grids have in rows, [`vector`] has
//! the loops over lanes. Everything that a block calls is `inline(always)`: then all of it is
//! compiled for the instructions that [`run`] finds in the processor.

pub mod bindings;
mod machine;
mod regions;
mod rows;
mod vector;

#[cfg(test)]
mod tests;

use std::ops::Range;

use bindings::{Bindings, Outputs};
use machine::Machine;

use crate::program::LaneProgram;

/// Runs a program for the elements at these positions; outputs are those of the positions.
///
/// # Errors
/// The first position of a block in which an element has an error.
pub fn run(program: &LaneProgram, bindings: &Bindings<'_>, positions: Range<usize>, mut outputs: Outputs<'_>) -> Result<(), usize> {
    let mut machine = Machine::new(program, bindings);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || machine.range(positions, &mut outputs),
    )
}
