//! Stabilised bi-conjugate gradients with right preconditioning.
//!
//! H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric linear systems,
//! SIAM J. Sci. Stat. Comput. 13 (1992), doi:10.1137/0913035.

use super::krylov::{Control, Cycle, Proposal, System, Watch};
use super::space::{LinearOperator, Preconditioner, VectorSpace};

/// Working vectors of BiCGStab, for any matrix.
///
/// Traffic of an iteration: two products with the matrix, two preconditioners, and 200 bytes an unknown: four dots 56 (one of them of a
/// vector with itself), six updates 144. A look at the residual adds three dots of a vector with itself, 24.
#[derive(Debug)]
pub struct BiCgStab<S: VectorSpace> {
    shadow: S::Vector,
    p: S::Vector,
    v: S::Vector,
    t: S::Vector,
    preconditioned: S::Vector,
}

impl<S: VectorSpace> BiCgStab<S> {
    /// Allocates five vectors.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S) -> Result<Self, S::Error> {
        Ok(BiCgStab { shadow: space.zeros()?, p: space.zeros()?, v: space.zeros()?, t: space.zeros()?, preconditioned: space.zeros()? })
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
    ) -> Result<(usize, Proposal), S::Error> {
        let BiCgStab { shadow, p, v, t, preconditioned } = self;
        let mut watch = Watch::new(control);
        space.copy(shadow, r);
        space.copy(p, r);
        let shadow_square = space.dot(shadow, shadow);
        let mut rho = shadow_square.clone();
        let mut iteration = 0;
        loop {
            iteration += 1;
            system.preconditioner.apply(space, preconditioned, p);
            system.operator.apply(space, v, preconditioned);
            let shadow_v = space.dot(shadow, v);
            let alpha = space.ratio(&rho, &shadow_v);
            space.add_scaled(x, &alpha, preconditioned);
            // From here `r` is s, the residual after the half step.
            space.sub_scaled(r, &alpha, v);
            system.preconditioner.apply(space, preconditioned, r);
            system.operator.apply(space, t, preconditioned);
            let (ts, tt) = (space.dot(t, r), space.dot(t, t));
            let half_square = watch.is_due(iteration).then(|| (space.dot(r, r), space.dot(v, v)));
            let omega = space.ratio(&ts, &tt);
            space.add_scaled(x, &omega, preconditioned);
            space.sub_scaled(r, &omega, t);
            let rho_new = space.dot(shadow, r);
            if let Some((half_square, v_square)) = half_square {
                let square = space.dot(r, r);
                let [square, rho, shadow_v, shadow_square, v_square, ts, tt, half_square] =
                    space.read([&square, &rho_new, &shadow_v, &shadow_square, &v_square, &ts, &tt, &half_square])?;
                // An overflow may also show as a step of zero.
                if ![shadow_v, v_square, ts, tt].iter().all(|value| value.is_finite()) {
                    return Ok((iteration, Proposal::NonFinite));
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
                if let Some(proposal) = watch.judge(iteration, square.sqrt(), breakdown) {
                    return Ok((iteration, proposal));
                }
            }
            let (rho_ratio, step_ratio) = (space.ratio(&rho_new, &rho), space.ratio(&alpha, &omega));
            let beta = space.mul(&rho_ratio, &step_ratio);
            space.sub_scaled(p, &omega, v);
            space.scale_add(p, &beta, r);
            rho = rho_new;
        }
    }
}
