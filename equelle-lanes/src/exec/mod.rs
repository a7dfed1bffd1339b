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
use equelle_runtime::Real;
use machine::Machine;

use crate::program::LaneProgram;

/// Runs a program for the elements at these positions; outputs are those of the positions. It
/// computes in `T`; collections of numbers are of `S`, to which values are rounded when stored.
///
/// # Errors
/// The first position of a block in which an element has an error.
pub fn run<T: Real, S: Real>(
    program: &LaneProgram,
    bindings: &Bindings<'_, T>,
    positions: Range<usize>,
    mut outputs: Outputs<'_, S>,
) -> Result<(), usize> {
    let mut machine = Machine::new(program, bindings);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || machine.range(positions, &mut outputs),
    )
}
