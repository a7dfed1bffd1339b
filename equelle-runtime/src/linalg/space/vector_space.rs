//! What a back-end provides for the iterative solvers: vectors, scalars, operators and preconditioners.
//!
//! Scalars are handles that may live on a device. The solvers combine them without looking, so that an iteration queues work only; the
//! host reads numbers when it looks at the residual, every `check_every` iterations. Nothing here can therefore branch on a value: where a
//! method could divide by zero, [`VectorSpace::ratio`] gives 0 instead, which freezes the iterate until the host looks.

/// Round-off of a few dozen operations, relative.
pub const CANCELLATION: f64 = 64.0 * f64::EPSILON;

/// Rows of a matrix between two questions whether the run has been asked to end, in set-ups that go row by row on the host.
pub const ROWS_PER_LOOK: usize = 4096;

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

    /// `y = y - a x`, then `w . y`, or `y . y` without `w`; the bits of [`VectorSpace::sub_scaled`] and [`VectorSpace::dot`], as in the methods below. In one pass 32 bytes an
    /// element, 24 without `w`.
    fn sub_scaled_dot(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector, w: Option<&Self::Vector>) -> Self::Scalar {
        self.sub_scaled(y, a, x);
        self.dot(w.unwrap_or(y), y)
    }
    /// `x = x + a p`, then `p = z + b p`. In one pass 40 bytes.
    fn step(&mut self, x: &mut Self::Vector, a: &Self::Scalar, p: &mut Self::Vector, b: &Self::Scalar, z: &Self::Vector) {
        self.add_scaled(x, a, p);
        self.scale_add(p, b, z);
    }
    /// `y = (y + a x) + b z`. In one pass 32 bytes.
    fn add_scaled_two(&mut self, y: &mut Self::Vector, a: &Self::Scalar, x: &Self::Vector, b: &Self::Scalar, z: &Self::Vector) {
        self.add_scaled(y, a, x);
        self.add_scaled(y, b, z);
    }
    /// `p = r + b (p - a v)`. In one pass 32 bytes.
    fn bicgstab_direction(&mut self, p: &mut Self::Vector, a: &Self::Scalar, v: &Self::Vector, b: &Self::Scalar, r: &Self::Vector) {
        self.sub_scaled(p, a, v);
        self.scale_add(p, b, r);
    }

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
    /// `a`, or 0 where `|a| <= ` [`CANCELLATION`] `|b|`: what is left of numbers of the size of `b` that cancelled.
    fn zero_if_cancelled(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;
    /// Square root of a number that is not negative.
    fn sqrt(&mut self, a: &Self::Scalar) -> Self::Scalar;
    /// The smaller one; NaN if either is.
    fn min(&mut self, a: &Self::Scalar, b: &Self::Scalar) -> Self::Scalar;

    /// Whether the run has been asked to end. Asked with every look at the residual, and during set-ups: for each level, and every so many rows.
    fn is_interrupted(&self) -> bool {
        false
    }

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

    /// Tells that it will be applied again and again.
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
}

/// An approximate inverse.
pub trait Preconditioner<S: VectorSpace> {
    /// `z = M r`, where `M` is near the inverse of the matrix. CG asks for `M` symmetric positive definite.
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector);

    /// Whether `M` depends on `r`, as in a cycle that holds Krylov iterations. The methods then keep what they need to allow for it.
    fn is_variable(&self) -> bool {
        false
    }

    /// Whether what `M` makes is rounded so much more than its argument, as by a cycle of singles, that `M` of a combination of vectors is no longer that combination of what `M` made of
    /// them. Methods that rely on it keep what it made.
    fn is_rounded(&self) -> bool {
        self.is_variable()
    }

    /// What there is to tell the user of its set-up, in words that follow a semicolon.
    fn note(&self) -> Option<String> {
        None
    }

    /// `r = r - a q`, then `r . z` with `z = M r`. What `z` holds afterwards is for [`Preconditioner::step`] alone.
    fn advance(&self, space: &mut S, r: &mut S::Vector, a: &S::Scalar, q: &S::Vector, z: &mut S::Vector) -> S::Scalar {
        space.sub_scaled(r, a, q);
        self.apply_dot(space, z, r)
    }

    /// `r . z` with `z = M r`, and `z` as [`Preconditioner::advance`] leaves it.
    fn apply_dot(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) -> S::Scalar {
        self.apply(space, z, r);
        space.dot(r, z)
    }

    /// [`Preconditioner::apply_dot`] where `r . r` is known, which tells how large `r` is.
    fn apply_dot_with_norm(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector, _square: &S::Scalar) -> S::Scalar {
        self.apply_dot(space, z, r)
    }

    /// `x = x + a p`, then `p = M r + b p`, where the last of those above has left `z` and `r`.
    fn step(&self, space: &mut S, [x, p]: [&mut S::Vector; 2], [a, b]: [&S::Scalar; 2], [z, _r]: [&S::Vector; 2]) {
        space.step(x, a, p, b, z);
    }
}

/// A pointer to a preconditioner is one.
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
