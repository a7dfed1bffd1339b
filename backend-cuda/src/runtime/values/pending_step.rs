//! A step of a loop that the host has not read.

use std::rc::Rc;

use crate::runtime::executor::pool::Buffer;

/// A step that the device computes, and that the session has not seen.
#[derive(Debug)]
pub(crate) struct PendingStep {
    /// The number.
    pub length: Rc<Buffer>,
    /// The line of the program that takes it.
    pub line: u32,
}
