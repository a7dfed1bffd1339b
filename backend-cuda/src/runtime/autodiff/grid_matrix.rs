//! Matrices of the grid that multiply derivatives of Gradient and of sums over faces.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;

use crate::runtime::executor::pool::Buffer;

/// A matrix of the grid, for products.
#[derive(Debug)]
pub(crate) struct GridMatrix {
    pub rows: usize,
    pub columns: usize,
    pub entries: usize,
    pub row_ptr: Rc<Buffer>,
    pub col_idx: Rc<Buffer>,
    pub values: Rc<Buffer>,
}

/// Faces of a cell over which a sum goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// All faces; those whose second cell it is are subtracted.
    Signed,
    /// Faces whose first cell it is.
    First,
    /// Faces whose second cell it is.
    Second,
}

/// Matrices of the grid, computed on first use.
#[derive(Debug, Default)]
pub(crate) struct GridMatrices {
    pub gradient: Option<Rc<GridMatrix>>,
    /// By the domain of the operand, which is kept alive so that its address stays unique.
    pub face_sums: Vec<(Arc<Domain>, Sides, Rc<GridMatrix>)>,
}
