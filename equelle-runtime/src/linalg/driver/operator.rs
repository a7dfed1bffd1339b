//! The system that a Krylov method sees: a matrix with its sign, null space and scaling of rows,
//! and the preconditioner of the matrix.

use std::cell::RefCell;

use super::system::Weights;
use crate::linalg::space::system_space::SystemSpace;
use crate::linalg::space::vector_space::{LinearOperator, Preconditioner};

/// `s P A`, where `s` is 1 or -1 and `P` removes round-off outside the range of a matrix with a
/// constant null space.
pub(super) struct Projected<'a, S: SystemSpace> {
    pub matrix: &'a S::Matrix,
    /// `None` if the matrix has no such null space.
    pub vectors: Option<&'a S::NullVectors>,
    pub sign: f64,
    /// Factors of the rows of the product.
    pub left: Option<&'a LeftScaling<'a, S>>,
    pub second: Option<SecondNorm<'a, S>>,
}

/// A second norm of residuals, with memory for a product.
pub(super) struct SecondNorm<'a, S: SystemSpace> {
    weights: Weights<'a, S::Vector>,
    product: RefCell<S::Vector>,
}

impl<'a, S: SystemSpace> SecondNorm<'a, S> {
    /// The norm with these weights.
    pub fn new(space: &mut S, weights: Weights<'a, S::Vector>) -> Result<SecondNorm<'a, S>, S::Error> {
        Ok(SecondNorm { weights, product: RefCell::new(space.zeros()?) })
    }
}

/// Multiplies a system with weighed rows by their weights, with memory for products.
pub(super) struct LeftScaling<'a, S: SystemSpace> {
    factors: &'a S::Vector,
    pub inverses: S::Vector,
    /// Factor of the norm with `inverses`, which is that of the system as it was.
    pub weight: f64,
    product: RefCell<S::Vector>,
}

impl<'a, S: SystemSpace> LeftScaling<'a, S> {
    /// The scaling by these weights, if the right-hand side has a part that they count.
    pub fn new(space: &mut S, (factors, weight): Weights<'a, S::Vector>) -> Result<Option<LeftScaling<'a, S>>, S::Error> {
        if weight == 0.0 {
            return Ok(None);
        }
        let inverses = space.host_vector(factors)?.into_iter().map(|factor| 1.0 / factor).collect();
        let (inverses, product) = (space.vector(inverses)?, RefCell::new(space.zeros()?));
        Ok(Some(LeftScaling { factors, inverses, weight: 1.0 / weight, product }))
    }

    /// `y_i = y_i w_i`
    pub fn apply(&self, space: &mut S, y: &mut S::Vector) {
        let product = &mut *self.product.borrow_mut();
        space.add_diagonal(product, 0.0, 1.0, self.factors, y);
        space.copy(y, product);
    }
}

/// A preconditioner for the system that a method sees: of rows without their scaling, and projected
/// along the null space. A rounded set-up may return components in that many times as large as the
/// rest, and a product with the matrix would lose as many digits.
pub(super) struct RightPreconditioner<'a, S: SystemSpace, M> {
    pub preconditioner: &'a M,
    pub vectors: Option<&'a S::NullVectors>,
    pub left: Option<&'a LeftScaling<'a, S>>,
}

impl<S: SystemSpace, M: Preconditioner<S>> Preconditioner<S> for RightPreconditioner<'_, S, M> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        match self.left {
            Some(left) => {
                let product = &mut *left.product.borrow_mut();
                space.add_diagonal(product, 0.0, 1.0, &left.inverses, r);
                self.preconditioner.apply(space, z, product);
            }
            None => self.preconditioner.apply(space, z, r),
        }
        if let Some(vectors) = self.vectors {
            space.remove_mean(vectors, z);
        }
    }

    fn is_variable(&self) -> bool {
        self.preconditioner.is_variable()
    }

    fn is_rounded(&self) -> bool {
        self.preconditioner.is_rounded()
    }
}

impl<S: SystemSpace> Projected<'_, S> {
    /// True if the operator is the matrix itself.
    fn is_plain(&self) -> bool {
        self.sign == 1.0 && self.vectors.is_none() && self.left.is_none()
    }
}

impl<S: SystemSpace> LinearOperator<S> for Projected<'_, S> {
    fn prepare(&self, space: &mut S) {
        space.will_multiply(self.matrix);
    }

    fn apply(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector) {
        space.multiply(y, self.matrix, x);
        if self.sign != 1.0 {
            let sign = space.constant(self.sign);
            space.scale(y, &sign);
        }
        if let Some(vectors) = self.vectors {
            space.to_range(vectors, y);
        }
        if let Some(left) = self.left {
            left.apply(space, y);
        }
    }

    fn apply_dot(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector, w: &S::Vector) -> S::Scalar {
        if self.is_plain() {
            return space.multiply_dot(y, self.matrix, x, w);
        }
        self.apply(space, y, x);
        space.dot(w, y)
    }

    fn apply_dots(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector, w: &S::Vector) -> [S::Scalar; 2] {
        if self.is_plain() {
            return space.multiply_dots(y, self.matrix, x, w);
        }
        self.apply(space, y, x);
        [space.dot(w, y), space.dot(y, y)]
    }

    fn has_two_norms(&self) -> bool {
        self.second.is_some()
    }

    fn larger_square(&self, space: &mut S, r: &S::Vector, square: &S::Scalar) -> S::Scalar {
        let Some(SecondNorm { weights: (weights, factor), product }) = &self.second else { return square.clone() };
        let product = &mut *product.borrow_mut();
        space.add_diagonal(product, 0.0, *factor, weights, r);
        let weighted = space.dot(product, product);
        let (sum, smaller) = (space.add(square, &weighted), space.min(square, &weighted));
        space.sub(&sum, &smaller)
    }
}
