//! The intermediate representation.
//!
//! A [`Module`] is a set table, functions and kernels. It has two levels that may be mixed:
//!
//! * **Operation level** ([`op`]): one statement per Equelle operation, in static single
//!   assignment: a [`ValueId`] is assigned once, mutables are explicit ([`Op::Load`],
//!   [`StmtKind::Store`]) and local to one function (lowering turns access to outer mutables into
//!   parameters and results). Arrays are gone: each element is a value.
//! * **Kernel level** ([`kernel`]): a pure function evaluated for each element of an index space,
//!   reading collections through access paths and writing its results at the element itself; or
//!   reducing them.
//!
//! **Index spaces** are the entity sets of [`crate::types::SetTable`]. Element k of a collection
//! over a set belongs to the k-th entity of the set in ascending order. A *domain value* is the
//! run-time object behind a set; its type names the set.
//!
//! **Order and effects.** Statements run in order. Input, Output, Store, a loop and a call of a
//! function with such are effects; everything else is pure and may be hoisted, merged, dropped or
//! reordered, unless it may be an error at run time ([`failure`]): then it stays where it is, in
//! its order among effects and others that may fail.
//!
//! [`infer`] says what kernel expressions and paths are, [`interface`] what a program reads and
//! writes, [`body_usage`] what a kernel uses, [`reach`] how far around a cell it reads,
//! [`AxisRules`] what lies beyond the ends of axes,
//! [`liveness`] where values end, [`visit`] walks over kernels, [`text`] prints and parses modules,
//! [`location`] names locations in them; [`crate::verify`] checks the rules.
//!
//! **Floating point.** Operations mean IEEE operations in the order written; nothing is
//! reassociated. [`numbers`] says in which precision.

mod axis_rules;
pub mod body_usage;
mod expected_unit;
pub mod failure;
pub mod infer;
mod infer_face_geometry;
pub mod infer_interface;
mod infer_stored_positions;
mod infer_structure;
pub mod interface;
pub mod kernel;
pub mod liveness;
pub mod location;
pub mod numbers;
pub mod op;
pub mod reach;
mod structure;
pub mod text;
pub mod visit;

pub use axis_rules::AxisRules;
pub use failure::Failure;
pub use infer_face_geometry::face_geometry as infer_face_geometry;
pub use infer_stored_positions::stored_positions as infer_stored_positions;
pub use infer_structure::{reads_by_index, structure as infer_structure, sums_over_faces};
pub use interface::Interface;
pub use kernel::*;
pub use location::{IrLocation, KernelItem, Owner};
pub use numbers::{Numbers, Precision, Rounding};
pub use op::*;
pub use structure::Structure;
