//! Memory traffic of multigrid cycles in single precision, and of the passes of CG around them,
//! which convert.

use std::cell::RefCell;
use std::convert::Infallible;

use super::{DOUBLE, SINGLE, Traffic};
use crate::linalg::precond::amg::{Amg, AmgOptions, Hierarchy};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::vector_space::{Preconditioner, VectorSpace};

/// A cycle in single precision.
pub(super) struct MixedPrecisionAmg {
    amg: Amg<Traffic>,
    space: RefCell<Traffic>,
}

impl MixedPrecisionAmg {
    /// Takes a hierarchy, for a space that counts `f32`.
    pub fn new(mut space: Traffic, hierarchy: Hierarchy<HostSpace>, options: &AmgOptions) -> Result<MixedPrecisionAmg, Infallible> {
        let hierarchy = hierarchy.copy_to(&mut space)?;
        Ok(MixedPrecisionAmg { amg: Amg::new(&mut space, hierarchy, options)?, space: RefCell::new(space) })
    }

    /// Converts a residual to single precision.
    fn narrow(&self, outer: &mut Traffic, n: usize) {
        outer.counter.each(n, DOUBLE + self.space.borrow().counter.written());
    }

    /// A cycle with the dot product of residual and result.
    fn cycle(&self, outer: &mut Traffic, n: usize) {
        let space = &mut *self.space.borrow_mut();
        space.take();
        self.amg.apply_dot(space, &mut n.clone(), &n);
        outer.counter.add(space.take());
    }
}

impl Preconditioner<Traffic> for MixedPrecisionAmg {
    fn apply(&self, outer: &mut Traffic, z: &mut usize, r: &usize) {
        // Its largest magnitude.
        outer.counter.each(*r, DOUBLE);
        self.narrow(outer, *r);
        let space = &mut *self.space.borrow_mut();
        space.take();
        self.amg.apply(space, z, r);
        outer.counter.add(space.take());
        outer.counter.each(*z, SINGLE + outer.counter.written());
    }

    fn is_variable(&self) -> bool {
        self.amg.is_variable()
    }

    fn is_rounded(&self) -> bool {
        true
    }

    fn apply_dot(&self, outer: &mut Traffic, z: &mut usize, r: &usize) {
        if self.is_variable() {
            self.apply(outer, z, r);
            return outer.dot(r, z);
        }
        outer.counter.each(*r, DOUBLE);
        self.apply_dot_with_norm(outer, z, r, &());
    }

    fn apply_dot_with_norm(&self, outer: &mut Traffic, z: &mut usize, r: &usize, (): &()) {
        if self.is_variable() {
            return self.apply_dot(outer, z, r);
        }
        self.narrow(outer, *r);
        self.cycle(outer, *r);
    }

    fn advance(&self, outer: &mut Traffic, r: &mut usize, a: &(), q: &usize, z: &mut usize) {
        if self.is_variable() {
            outer.sub_scaled(r, a, q);
            return self.apply_dot(outer, z, r);
        }
        outer.counter.each(*r, outer.counter.changed() + DOUBLE + self.space.borrow().counter.written());
        self.cycle(outer, *r);
    }

    fn step(&self, outer: &mut Traffic, [x, p]: [&mut usize; 2], ab: [&(); 2], [z, _r]: [&usize; 2]) {
        if self.is_variable() {
            return outer.step(x, ab[0], p, ab[1], z);
        }
        outer.counter.each(*x, 2 * outer.counter.changed() + SINGLE);
    }
}
