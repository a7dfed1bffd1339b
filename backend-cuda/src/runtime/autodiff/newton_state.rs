//! Caches of Newton's method between solves.

use std::rc::Rc;

use equelle_runtime::newton;

use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::space::Space;

/// Caches of Newton's method between solves.
pub(crate) type NewtonState = newton::NewtonCaches<Space<f64>, Patterns>;

/// The last patterns of a solve.
#[derive(Default)]
pub(crate) struct Patterns {
    /// Pattern of the whole matrix.
    pub assembled: Option<Assembled>,
    /// Patterns of the last evaluation. `[equations]`
    pub equations: Vec<Rc<CsrPattern>>,
}

/// The pattern of the matrix of a system of equations.
pub(crate) struct Assembled {
    /// The patterns of its equations.
    pub parts: Vec<Rc<CsrPattern>>,
    pub rows: Rc<CsrPattern>,
}
