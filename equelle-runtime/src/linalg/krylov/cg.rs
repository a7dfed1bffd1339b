//! Conjugate gradients with a preconditioner.
//!
//! M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, J.
//! Res. Nat. Bur. Standards 49 (1952), doi:10.6028/jres.049.044. The flexible form, for a
//! preconditioner that depends on the residual: Y. Notay, Flexible conjugate gradients, SIAM J.
//! Sci. Comput. 22 (2000), doi:10.1137/S1064827599362314.

use super::iteration::{Control, Cycle, ResidualMonitor, StopReason, System};
use crate::linalg::space::vector_space::{LinearOperator, Preconditioner, VectorSpace};

/// Work vectors of CG, for symmetric positive definite matrices, and for singular ones when the
/// right-hand side is in the range.
///
/// Three vectors, and one more for a variable preconditioner. Memory traffic of an iteration: one
/// product with the matrix, one preconditioner, and 104 bytes an unknown if each operation is a
/// pass of its own (two dots 32, three updates 72). With the fused operations of [`VectorSpace`],
/// 80: the residual 24, a dot 16, a step 40. With fused Jacobi, 80 in all instead of 128. A check
/// of the residual adds nothing, or 8 with Jacobi; only these checks wait for the device.
#[derive(Debug)]
pub struct Cg<S: VectorSpace> {
    p: S::Vector,
    q: S::Vector,
    z: S::Vector,
    /// The previous residual, for a variable preconditioner.
    before: Option<S::Vector>,
}

impl<S: VectorSpace> Cg<S> {
    /// Allocates three vectors.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S) -> Result<Self, S::Error> {
        Ok(Cg { p: space.zeros()?, q: space.zeros()?, z: space.zeros()?, before: None })
    }
}

impl<S: VectorSpace> Cycle<S> for Cg<S> {
    fn cycle<A: LinearOperator<S>, M: Preconditioner<S>>(
        &mut self,
        space: &mut S,
        system: System<'_, A, M>,
        x: &mut S::Vector,
        r: &mut S::Vector,
        control: Control,
    ) -> Result<(usize, StopReason), S::Error> {
        if self.before.is_none() && system.preconditioner.is_variable() {
            self.before = Some(space.zeros()?);
        }
        let Cg { p, q, z, before } = self;
        let mut watch = ResidualMonitor::new(control);
        system.preconditioner.apply(space, z, r);
        space.copy(p, z);
        let mut rz = space.dot(r, z);
        // Both are positive for a definite matrix until the residual is exactly zero. The host
        // checks their minimum since the start.
        let mut least_curvature = space.constant(f64::INFINITY);
        let mut least_rz = rz.clone();
        let mut iteration = 0;
        loop {
            iteration += 1;
            let curvature = system.operator.apply_dot(space, q, p, p);
            least_curvature = space.min(&least_curvature, &curvature);
            let alpha = space.ratio(&rz, &curvature);
            if let Some(before) = before {
                space.copy(before, r);
            }
            let rz_new = if watch.is_due(iteration) {
                let square = space.sub_scaled_dot(r, &alpha, q, None);
                let larger = system.operator.larger_square(space, r, &square);
                let [larger, curvature, least_curvature, least_rz] = space.read([&larger, &curvature, &least_curvature, &least_rz])?;
                // An overflow may also appear as a step of zero.
                if !curvature.is_finite() {
                    space.add_scaled(x, &alpha, p);
                    return Ok((iteration, StopReason::NonFinite));
                }
                let breakdown = || {
                    if least_curvature <= 0.0 {
                        Some(format!("p.Ap = {least_curvature:.1e}, so the matrix is not positive definite"))
                    } else {
                        (least_rz <= 0.0).then(|| format!("r.Mr = {least_rz:.1e}, so the preconditioner is not positive definite"))
                    }
                };
                if let Some(proposal) = watch.check(space, iteration, larger.sqrt(), breakdown) {
                    space.add_scaled(x, &alpha, p);
                    return Ok((iteration, proposal));
                }
                system.preconditioner.apply_dot_with_norm(space, z, r, &square)
            } else {
                system.preconditioner.advance(space, r, &alpha, q, z)
            };
            least_rz = space.min(&least_rz, &rz_new);
            // z . (r - r_before): with a fixed preconditioner the second product is zero.
            let gain = match before {
                Some(before) => {
                    let along = space.dot(before, z);
                    space.sub(&rz_new, &along)
                }
                None => rz_new.clone(),
            };
            let beta = space.ratio(&gain, &rz);
            system.preconditioner.step(space, [x, p], [&alpha, &beta], [z, r]);
            rz = rz_new;
        }
    }

    fn recycle(self, space: &mut S) {
        let Cg { p, q, z, before } = self;
        [p, q, z].into_iter().chain(before).for_each(|vector| space.recycle(vector));
    }
}
