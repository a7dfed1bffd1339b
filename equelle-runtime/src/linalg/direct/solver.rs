//! Direct solvers of back-ends, with factors on the device.
//!
//! Null spaces, scaling, the test for singular matrices and iterative refinement are common to all
//! (`elimination`); a direct solver orders, factorises and substitutes.

/// Definiteness of a matrix before it is factorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definiteness {
    /// Unknown.
    General,
    /// Symmetric with a positive diagonal; the factorisation decides whether it is positive
    /// definite.
    Symmetric,
}

/// Failure of a direct solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectError {
    /// A matrix declared symmetric is not positive definite.
    NotDefinite,
    /// Not enough memory for the factors; with the amount.
    OutOfMemory(String),
    /// Anything else, in words.
    Failed(String),
}

/// A square matrix in compressed rows.
#[derive(Clone, Copy, Debug)]
pub struct DirectMatrix<'a> {
    /// Row pointers. `[n + 1]`
    pub row_ptr: &'a [usize],
    /// Column of each entry, ascending within a row. `[entries]`
    pub col_idx: &'a [u32],
    /// Value of each entry; both triangles of a symmetric matrix. `[entries]`
    pub values: &'a [f64],
    /// Its definiteness.
    pub definiteness: Definiteness,
}

impl DirectMatrix<'_> {
    /// Number of rows, and of columns.
    pub fn n(&self) -> usize {
        self.row_ptr.len() - 1
    }
}

/// Factorises matrices of one pattern after the other, and solves with the last factors. Equal
/// calls give equal bits.
pub trait DirectSolver<S: ?Sized> {
    /// Its name and version.
    fn name(&self) -> String;
    /// Orders the unknowns and factorises symbolically. The order may depend on the values; later
    /// matrices with this pattern use it too.
    ///
    /// # Errors
    /// The reason; the solver is empty then.
    fn analyse(&mut self, space: &mut S, matrix: DirectMatrix<'_>) -> Result<(), DirectError>;
    /// Factorises the matrix with these values on the pattern that was analysed last. `[entries]`
    ///
    /// # Errors
    /// The reason; there are no factors then. A small pivot is no error: the residual of a solve
    /// shows it.
    fn factorize(&mut self, space: &mut S, values: &[f64]) -> Result<(), DirectError>;
    /// Overwrites a right-hand side with the solution of the system or, if `transposed`, of its
    /// transpose. `[n]`
    ///
    /// # Errors
    /// The reason.
    fn solve(&mut self, space: &mut S, x: &mut [f64], transposed: bool) -> Result<(), DirectError>;
}

/// Device or host on which a back-end factorises matrices.
pub enum Direct<S: ?Sized> {
    /// On the host, which is its device.
    Host,
    /// On the host, since the device lacks something; with the reason.
    Unavailable(String),
    /// By its own direct solver.
    Solver(Box<dyn DirectSolver<S>>),
}
