//! Locations inside a module, for messages of the verifier and the text form.

use crate::ir::kernel::KernelId;
use crate::ir::op::FunctionId;
use crate::types::SetId;

/// A location inside a [`crate::ir::Module`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IrLocation {
    /// An entity set.
    Set(SetId),
    /// The head of a function.
    Function(Owner),
    /// A statement of a function: its number in the order of the text, from 0; a loop comes before
    /// its body.
    Statement(Owner, u32),
    /// Part of a kernel.
    Kernel(KernelId, KernelItem),
}

/// Main program or function. Functions come first, as in the text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A function instance.
    Function(FunctionId),
    /// The main program.
    Main,
}

/// Part of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KernelItem {
    /// Name and space.
    Head,
    /// A parameter.
    Param(u32),
    /// A result.
    Result(u32),
    /// A check.
    Check(u32),
    /// A statement or the `yield` of a block, numbered together in the order of the text, from 0:
    /// body first, then Cartesian form; a statement comes before its blocks. A block without yields
    /// has that number all the same.
    Line(u32),
}
