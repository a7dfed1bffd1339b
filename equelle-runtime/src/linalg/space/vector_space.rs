//! Operations of a back-end for Krylov methods: vectors, scalars, operators and preconditioners.
//!
//! Scalars are handles that may live on a device. Solvers combine them without reading them, so an
//! iteration only queues work; the host reads the residual every `check_every` iterations. Nothing
//! can therefore branch on a value: where a method could divide by zero, [`VectorSpace::ratio`]
//! returns 0, which freezes the iterate until the host reads it.

/// Relative round-off of a few dozen operations.
pub const CANCELLATION: f64 = 64.0 * f64::EPSILON;

/// Number of matrix rows between two checks for an interrupt, in set-ups on the host.
pub const ROWS_PER_CHECK: usize = 4096;

/// Vectors of one length and scalars on the device of the back-end.
///
/// Calls may only queue work; the next [`VectorSpace::read`] then reports a failure of the device.
pub trait VectorSpace {
    /// A vector.
    type Vector;
    /// A number that the host may not know.
    type Scalar: Clone;
    /// Error of the device; [`std::convert::Infallible`] where it cannot fail.
    type Error;

    /// A vector of zeros.
    ///
    /// # Errors
    /// Out of memory.
    fn zeros(&mut self) -> Result<Self::Vector, Self::Error>;
    /// Takes a vector of [`VectorSpace::zeros`] that is no longer needed, for the next call of it.
    fn recycle(&mut self, x: Self::Vector) {
        drop(x);
    }
    /// `y = x`. Memory traffic, here and below: 24 bytes an element, with the fetch of the written
    /// line.
    fn copy(&mut self, y: &mut Self::Vector, x: &Self::Vector);
    /// `x . y` in the order of [`crate::reduce`]. 16 bytes an element.
    fn dot(&mut self, x: &Self::Vector, y: &Self::Vector) -> Self::Scalar;
    /// `y = y + a x`. 24 bytes.
    fn add_scaled(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector);
    /// `y = y - a x`. 24 bytes.
    fn sub_scaled(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector);
    /// `y = x + a y`. 24 bytes.
    fn scale_add(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector);
    /// `y = a y`. 16 bytes.
    fn scale(&mut self, y: &mut Self::Vector, a: &Self::Scalar);

    /// `y = y - a x`, then `w . y`, or `y . y` without `w`; the bits of [`VectorSpace::sub_scaled`]
    /// and [`VectorSpace::dot`], as in the methods below. Fused 32 bytes an element, 24 without
    /// `w`.
    fn sub_scaled_dot(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector, w: Option<&Self::Vector>) -> Self::Scalar {
        self.sub_scaled(y, a, x);
        self.dot(w.unwrap_or(y), y)
    }
    /// `x = x + a p`, then `p = z + b p`. Fused 40 bytes.
    fn step(&mut self, x: &mut Self::Vector, a: &Self::Scalar, p: &mut Self::Vector, b: &Self::Scalar, z: &Self::Vector) {
        self.add_scaled(x, a, p);
        self.scale_add(p, b, z);
    }
    /// `y = (y + a x) + b z`. Fused 32 bytes.
    fn add_scaled_two(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector, b: &Self::Scalar, z: &Self::Vector) {
        self.add_scaled(y, a, x);
        self.add_scaled(y, b, z);
    }
    /// `p = r + b (p - a v)`. Fused 32 bytes.
    fn bicgstab_direction(&mut self, p: &mut Self::Vector, a: &Self::Scalar, v: &Self::Vector, b: &Self::Scalar, r: &Self::Vector) {
        self.sub_scaled(p, a, v);
        self.scale_add(p, b, r);
    }

    /// A scalar from a number of the host.
    fn constant(&mut self, value: f64) -> Self::Scalar;
    /// `a + b`
    fn add(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a - b`
    fn sub(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a * b`
    fn mul(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a / b`, or 0 where `b` is 0.
    fn ratio(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// `a`, or 0 where `|a| <= ` [`CANCELLATION`] `|b|`: only round-off of terms of size `b`.
    fn zero_if_cancelled(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// Square root of a nonnegative number.
    fn sqrt(&mut self, a: &Self::Scalar) -> Self::Scalar;
    /// The smaller one; NaN if either is.
    fn min(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;

    /// True if the run is interrupted. Checked with the residual, and during set-ups for each level
    /// and every some rows.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Copies scalars to the host in one transfer. The only call that waits for the device.
    ///
    /// # Errors
    /// The device was lost, or something queued before failed.
    fn read<const N: usize>(&mut self, scalars: [&Self::Scalar; N]) -> Result<[f64; N], Self::Error>;
}

/// A linear operator, as a square matrix. On the host its loops use
/// [`super::host::HostSpace::threads`].
pub trait LinearOperator<S: VectorSpace> {
    /// `y = A x`
    fn apply(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector);

    /// Announces that the operator will be applied many times.
    fn prepare(&self, _space: &mut S) {}

    /// `y = A x`, and `w . y`.
    fn apply_dot(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector, w: &S::Vector) -> S::Scalar {
        self.apply(space, y, x);
        space.dot(w, y)
    }

    /// `y = A x`, and `w . y` and `y . y`.
    fn apply_dots(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector, w: &S::Vector) -> [S::Scalar; 2] {
        self.apply(space, y, x);
        [space.dot(w, y), space.dot(y, y)]
    }

    /// True if residuals are judged by a second norm beside the 2-norm.
    fn has_two_norms(&self) -> bool {
        false
    }

    /// Square of the larger norm of a residual, where that of its 2-norm is `square`.
    fn larger_square(&self, _space: &mut S, _r: &S::Vector, square: &S::Scalar) -> S::Scalar {
        square.clone()
    }
}

/// A preconditioner: an approximate inverse.
pub trait Preconditioner<S: VectorSpace> {
    /// `z = M r`, where `M` approximates the inverse of the matrix. CG needs a symmetric positive
    /// definite `M`.
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector);

    /// True if `M` depends on `r`, as a cycle with Krylov iterations. Methods then use their
    /// flexible forms.
    fn is_variable(&self) -> bool {
        false
    }

    /// True if `M` rounds much more than its argument, as a cycle in single precision does, so that
    /// it is not linear to working precision. Methods that rely on linearity store the
    /// preconditioned vectors.
    fn is_rounded(&self) -> bool {
        self.is_variable()
    }

    /// A note for the user on the set-up, in words that follow a semicolon.
    fn note(&self) -> Option<String> {
        None
    }

    /// `r = r - a q`, then `r . z` with `z = M r`. Only [`Preconditioner::step`] may read `z`
    /// afterwards.
    fn advance(&self, space: &mut S, r: &mut S::Vector, a: &S::Scalar, q: &S::Vector, z: &mut S::Vector) -> S::Scalar {
        space.sub_scaled(r, a, q);
        self.apply_dot(space, z, r)
    }

    /// `r . z` with `z = M r`, and `z` as after [`Preconditioner::advance`].
    fn apply_dot(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) -> S::Scalar {
        self.apply(space, z, r);
        space.dot(r, z)
    }

    /// [`Preconditioner::apply_dot`] with `r . r`, which gives the size of `r`.
    fn apply_dot_with_norm(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector, _square: &S::Scalar) -> S::Scalar {
        self.apply_dot(space, z, r)
    }

    /// `x = x + a p`, then `p = M r + b p`, with `z` and `r` from the last of those above.
    fn step(&self, space: &mut S, [x, p]: [&mut S::Vector; 2], [a, b]: [&S::Scalar; 2], [z, _r]: [&S::Vector; 2]) {
        space.step(x, a, p, b, z);
    }
}

/// Implements the trait for pointers to preconditioners.
macro_rules! point_to_preconditioners {
    ($($pointer:ty),*) => {$(
        impl<S: VectorSpace, M: Preconditioner<S> + ?Sized> Preconditioner<S> for $pointer {
            fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
                (**self).apply(space, z, r);
            }

            fn is_variable(&self) -> bool {
                (**self).is_variable()
            }

            fn is_rounded(&self) -> bool {
                (**self).is_rounded()
            }

            fn note(&self) -> Option<String> {
                (**self).note()
            }

            fn advance(&self, space: &mut S, r: &mut S::Vector, a: &S::Scalar, q: &S::Vector, z: &mut S::Vector) -> S::Scalar {
                (**self).advance(space, r, a, q, z)
            }

            fn apply_dot(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) -> S::Scalar {
                (**self).apply_dot(space, z, r)
            }

            fn apply_dot_with_norm(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector, square: &S::Scalar) -> S::Scalar {
                (**self).apply_dot_with_norm(space, z, r, square)
            }

            fn step(&self, space: &mut S, xp: [&mut S::Vector; 2], ab: [&S::Scalar; 2], zr: [&S::Vector; 2]) {
                (**self).step(space, xp, ab, zr);
            }
        }
    )*};
}
point_to_preconditioners!(Box<M>, &M);

/// No preconditioner: a copy.
#[derive(Clone, Copy, Debug)]
pub struct Identity;

impl<S: VectorSpace> Preconditioner<S> for Identity {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        space.copy(z, r);
    }
}
