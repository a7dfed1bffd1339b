//! What a back-end provides for the iterative solvers: vectors, scalars, operators and preconditioners.
//!
//! Scalars are handles that may live on a device. The solvers combine them without looking, so that an iteration queues work only; the
//! host reads numbers when it looks at the residual, every `check_every` iterations. Nothing here can therefore branch on a value: where a
//! method could divide by zero, [`VectorSpace::ratio`] gives 0 instead, which freezes the iterate until the host looks.

/// Round-off of a few dozen operations, relative.
pub const CHOP: f64 = 64.0 * f64::EPSILON;

/// Vectors of one length, and scalars, where the computation happens.
///
/// Calls may only queue work; a failure of the device is then reported by the next [`VectorSpace::read`].
pub trait VectorSpace {
    /// A vector.
    type Vector;
    /// A number, perhaps not known to the host.
    type Scalar: Clone;
    /// How the device fails; [`std::convert::Infallible`] where it cannot.
    type Error;

    /// A vector of zeros.
    ///
    /// # Errors
    /// Out of memory.
    fn zeros(&mut self) -> Result<Self::Vector, Self::Error>;
    /// `y = x`. Traffic: 24 bytes an element (with the fetch of the line that is written), here and below.
    fn copy(&mut self, y: &mut Self::Vector, x: &Self::Vector);
    /// `x . y`, in the order of [`crate::reduce`]. 16 bytes an element.
    fn dot(&mut self, x: &Self::Vector, y: &Self::Vector) -> Self::Scalar;
    /// `y = y + a x`. 24 bytes.
    fn add_scaled(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector);
    /// `y = y - a x`. 24 bytes.
    fn sub_scaled(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector);
    /// `y = x + a y`. 24 bytes.
    fn scale_add(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector);
    /// `y = a y`. 16 bytes.
    fn scale(&mut self, y: &mut Self::Vector, a: &Self::Scalar);

    /// A number known to the host.
    fn constant(&mut self, value: f64) -> Self::Scalar;
    /// `a + b`
    fn add(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a - b`
    fn sub(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a * b`
    fn mul(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a / b`, or 0 where `b` is 0.
    fn ratio(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a`, or 0 where `|a| <= ` [`CHOP`] `|b|`: what is left of numbers of the size of `b` that cancelled.
    fn chop(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// Square root of a number that is not negative.
    fn sqrt(&mut self, a: &Self::Scalar) -> Self::Scalar;
    /// The smaller one; NaN if either is.
    fn min(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;

    /// Brings numbers to the host, all of them in one transfer. The only call that waits for the device.
    ///
    /// # Errors
    /// The device was lost, or something queued before failed.
    fn read<const N: usize>(&mut self, scalars: [&Self::Scalar; N]) -> Result<[f64; N], Self::Error>;
}

/// A square matrix, or anything that acts like one. On the host its loops run on [`super::host::HostSpace::threads`].
pub trait LinearOperator<S: VectorSpace> {
    /// `y = A x`
    fn apply(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector);
}

/// An approximate inverse.
pub trait Preconditioner<S: VectorSpace> {
    /// `z = M r`, where `M` is near the inverse of the matrix. CG asks for `M` symmetric positive definite.
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector);

    /// Whether `M` depends on `r`, as in a cycle that holds Krylov iterations. The methods then keep what they need to allow for it.
    fn is_variable(&self) -> bool {
        false
    }
}

impl<S: VectorSpace, M: Preconditioner<S> + ?Sized> Preconditioner<S> for Box<M> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        (**self).apply(space, z, r);
    }

    fn is_variable(&self) -> bool {
        (**self).is_variable()
    }
}

impl<S: VectorSpace, M: Preconditioner<S> + ?Sized> Preconditioner<S> for &M {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        (**self).apply(space, z, r);
    }

    fn is_variable(&self) -> bool {
        (**self).is_variable()
    }
}

/// No preconditioner: a copy.
#[derive(Clone, Copy, Debug)]
pub struct Identity;

impl<S: VectorSpace> Preconditioner<S> for Identity {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        space.copy(z, r);
    }
}
