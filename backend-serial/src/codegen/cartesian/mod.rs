//! Rows of cells without tests.
//!
//! Where the terms of a face are the same for both of its cells, as conservation laws have it, a row is made in steps: values that belong to one cell are evaluated once for each cell
//! of a row, the terms of faces from them, and the cells from the terms. What waits for its use is in buffers of a row's length (`backend_serial::runtime::sweep`). Terms of faces
//! on the boundary are evaluated one after the other and put in their places in the buffers, so that the loops over cells know no boundary. Where terms are
//! cheap, nothing is stored for cells inside the grid: each evaluates the terms of all of its faces ([`inside`]), and only rows at the boundary go through buffers.
//!
//! On other grids the same is done in whole loops ([`any`]): over the cells, over the faces, over the cells again.
//!
//! Every operation is one that the body has, so bits do not change; only how often it is done does. Choices evaluate both branches, which vector instructions want: nothing that
//! gets here can fail, and the branch not taken is thrown away.

mod any;
mod boundary;
mod dag;
mod find;
mod functions;
mod inside;
mod rows;

pub(super) use any::{OfFace, terms, values_of_cells};
pub(super) use rows::face_rows;
