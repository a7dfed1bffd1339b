//! Stabilised bi-conjugate gradients with right preconditioning.
//!
//! H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution
//! of nonsymmetric linear systems, SIAM J. Sci. Stat. Comput. 13 (1992), doi:10.1137/0913035.

use super::iteration::{Control, Cycle, ResidualMonitor, StopReason, System};
use crate::linalg::space::vector_space::{LinearOperator, Preconditioner, VectorSpace};

/// Work vectors of BiCGStab, for any matrix.
///
/// Memory traffic of an iteration: two products with the matrix, two preconditioners, and 200 bytes
/// an unknown if each operation is a pass of its own (four dots 56, one of them of a vector with
/// itself; six updates 144). With the fused operations of [`VectorSpace`], 136: the dots with the
/// products 16, and updates 24, 32, 32 and 32. A check of the residual adds two or three dots of a
/// vector with itself, 8 each.
#[derive(Debug)]
pub struct BiCgStab<S: VectorSpace> {
    shadow: S::Vector,
    p: S::Vector,
    v: S::Vector,
    t: S::Vector,
    /// The preconditioned `p` and `r`.
    along_p: S::Vector,
    along_r: S::Vector,
}

impl<S: VectorSpace> BiCgStab<S> {
    /// Allocates six vectors.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S) -> Result<Self, S::Error> {
        let mut vector = || space.zeros();
        Ok(BiCgStab { shadow: vector()?, p: vector()?, v: vector()?, t: vector()?, along_p: vector()?, along_r: vector()? })
    }
}

/// A dot product below this part of the product of the norms is round-off.
const ROUND_OFF: f64 = f64::EPSILON;

impl<S: VectorSpace> Cycle<S> for BiCgStab<S> {
    fn cycle<A: LinearOperator<S>, M: Preconditioner<S>>(
        &mut self,
        space: &mut S,
        system: System<'_, A, M>,
        x: &mut S::Vector,
        r: &mut S::Vector,
        control: Control,
    ) -> Result<(usize, StopReason), S::Error> {
        let BiCgStab { shadow, p, v, t, along_p, along_r } = self;
        let mut watch = ResidualMonitor::new(control);
        space.copy(shadow, r);
        space.copy(p, r);
        let shadow_square = space.dot(shadow, shadow);
        let mut rho = shadow_square.clone();
        let mut iteration = 0;
        loop {
            iteration += 1;
            system.preconditioner.apply(space, along_p, p);
            let shadow_v = system.operator.apply_dot(space, v, along_p, shadow);
            let alpha = space.ratio(&rho, &shadow_v);
            // From here `r` is `s`, the residual after the half step.
            let half_square = if watch.is_due(iteration) {
                let square = space.sub_scaled_dot(r, &alpha, v, None);
                Some((square, space.dot(v, v)))
            } else {
                space.sub_scaled(r, &alpha, v);
                None
            };
            system.preconditioner.apply(space, along_r, r);
            let [ts, tt] = system.operator.apply_dots(space, t, along_r, r);
            let omega = space.ratio(&ts, &tt);
            space.add_scaled_two(x, &alpha, along_p, &omega, along_r);
            let rho_new = space.sub_scaled_dot(r, &omega, t, Some(shadow));
            if let Some((half_square, v_square)) = half_square {
                let square = space.dot(r, r);
                let larger = system.operator.larger_square(space, r, &square);
                let [larger, square, rho, shadow_v, shadow_square, v_square, ts, tt, half_square] =
                    space.read([&larger, &square, &rho_new, &shadow_v, &shadow_square, &v_square, &ts, &tt, &half_square])?;
                // An overflow may also appear as a step of zero.
                if ![shadow_v, v_square, ts, tt].iter().all(|value| value.is_finite()) {
                    return Ok((iteration, StopReason::NonFinite));
                }
                let vanishes = |dot: f64, a: f64, b: f64| dot.abs() <= ROUND_OFF * a.sqrt() * b.sqrt();
                let breakdown = || {
                    if vanishes(shadow_v, shadow_square, v_square) {
                        Some("the shadow residual is orthogonal to A p".to_owned())
                    } else if vanishes(ts, tt, half_square) {
                        Some("the residual is orthogonal to its image under the matrix".to_owned())
                    } else {
                        vanishes(rho, shadow_square, square).then(|| "the shadow residual is orthogonal to the residual".to_owned())
                    }
                };
                if let Some(proposal) = watch.check(space, iteration, larger.sqrt(), breakdown) {
                    return Ok((iteration, proposal));
                }
            }
            let (rho_ratio, step_ratio) = (space.ratio(&rho_new, &rho), space.ratio(&alpha, &omega));
            let beta = space.mul(&rho_ratio, &step_ratio);
            space.bicgstab_direction(p, &omega, v, &beta, r);
            rho = rho_new;
        }
    }
}
