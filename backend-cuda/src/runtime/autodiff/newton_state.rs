//! What Newton's method keeps between solves.

use std::rc::Rc;

use equelle_runtime::newton;

use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::space::Space;

/// What Newton's method keeps between solves.
pub(crate) type NewtonState = newton::NewtonCaches<Space<f64>, Patterns>;

/// The last patterns of a solve.
#[derive(Default)]
pub(crate) struct Patterns {
    /// Of a whole matrix.
    pub assembled: Option<Assembled>,
    /// Of the last evaluation. `[equations]`
    pub equations: Vec<Rc<CsrPattern>>,
}

/// The pattern of the matrix of a system of equations.
pub(crate) struct Assembled {
    /// The patterns of its equations.
    pub parts: Vec<Rc<CsrPattern>>,
    pub rows: Rc<CsrPattern>,
}
