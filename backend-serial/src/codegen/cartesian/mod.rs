//! Cartesian forms.
//!
//! A full form becomes up to three kinds of function. The *cell* code takes any cell and asks for
//! each side whether it is on the boundary. The *row* function ([`row_function`]) takes the inside
//! of a row, where no side is, with everything it reads as slices of the row's length, so that the
//! compiler can drop bounds checks and use vector instructions. Both call the *side* functions
//! ([`side_function`]), which give the terms of an interior side from the numbers they depend on. A
//! kernel whose interior terms depend on more than that (run-time subsets, entities chosen by
//! state) has cell code alone.
//!
//! Where the terms of a face are the same for both of its cells, as conservation laws have it, a
//! row is made in steps ([`flux_rows`]): values that belong to one cell are evaluated once for each
//! cell of a row, the terms of faces from them, and the cells from the terms. What waits for its
//! use is in buffers of a row's length (`backend_serial::runtime::sweep`). Terms of faces on the
//! boundary ([`boundary`]) are evaluated one after the other and put in their places in the
//! buffers, so that the loops over cells know no boundary. Where terms are cheap, nothing is stored
//! for cells inside the grid: each evaluates the terms of all of its faces ([`inside`]), and only
//! rows at the boundary use buffers.
//!
//! Kernels that read by index ([`stencil_rows`]) take everything as slices, too: parts of rows, or
//! of copies of rows with what stands for cells beyond the grid. So do kernels without a Cartesian
//! body, for cells inside the grid ([`inside_rows`]).
//!
//! Every operation is one that the body has, so bits do not change; only how often it is done does.
//! Choices evaluate both branches, which vector instructions want: nothing that gets here can fail,
//! and the branch not taken is thrown away.

mod boundary;
mod flux_rows;
pub(super) mod function;
mod inside;
mod inside_rows;
mod parts;
mod row_constants;
mod row_function;
mod side_function;
pub(super) mod stencil_rows;
mod strips;
mod sum_sides;
