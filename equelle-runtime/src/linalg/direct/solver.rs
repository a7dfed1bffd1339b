//! Direct solvers that a back-end brings: factors that live where the computation happens.
//!
//! What a system leaves open, scaling, the test for singular matrices and iterative refinement are the same for all of them (`elimination`); a direct solver orders, eliminates and substitutes.

/// What is known of a matrix before it is factorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definiteness {
    /// Nothing.
    General,
    /// Symmetric, with a positive diagonal; whether it is positive definite shows in the factorisation.
    Symmetric,
}

/// Why a direct solver does not give an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectError {
    /// A matrix that was said to be symmetric is not positive definite.
    NotDefinite,
    /// Not enough memory for the factors; says how much.
    OutOfMemory(String),
    /// Anything else, in words.
    Failed(String),
}

/// A square matrix by compressed rows.
#[derive(Clone, Copy, Debug)]
pub struct DirectMatrix<'a> {
    /// Where rows begin. `[n + 1]`
    pub row_ptr: &'a [usize],
    /// Column of each entry, ascending within a row. `[entries]`
    pub col_idx: &'a [u32],
    /// Value of each entry; both triangles of a symmetric matrix. `[entries]`
    pub values: &'a [f64],
    /// What is known of it.
    pub definiteness: Definiteness,
}

impl DirectMatrix<'_> {
    /// Number of rows, and of columns.
    pub fn n(&self) -> usize {
        self.row_ptr.len() - 1
    }
}

/// Factorises matrices of one pattern after the other, and solves with the last factors. The same calls with the same numbers give the same bits.
pub trait DirectSolver<S: ?Sized> {
    /// Its name and version.
    fn name(&self) -> String;
    /// Orders the unknowns and factorises symbolically. Values may have a say in the order; those of other matrices with this pattern are factorised with it too.
    ///
    /// # Errors
    /// Why not; nothing is kept then.
    fn analyse(&mut self, space: &mut S, matrix: DirectMatrix<'_>) -> Result<(), DirectError>;
    /// Factorises the matrix with these values on the pattern that was analysed last. `[entries]`
    ///
    /// # Errors
    /// Why not; there are no factors then. A small pivot is no reason: it shows in what is solved.
    fn factorize(&mut self, space: &mut S, values: &[f64]) -> Result<(), DirectError>;
    /// Overwrites a right-hand side with the solution of the system or, if asked for, of its transpose. `[n]`
    ///
    /// # Errors
    /// Why not.
    fn solve(&mut self, space: &mut S, x: &mut [f64], transposed: bool) -> Result<(), DirectError>;
}

/// Where a back-end has matrices factorised.
pub enum Direct<S: ?Sized> {
    /// On the host, which is where it computes.
    Host,
    /// On the host, for want of what its device needs; says what.
    Unavailable(String),
    /// By a direct solver of its own.
    Solver(Box<dyn DirectSolver<S>>),
}
