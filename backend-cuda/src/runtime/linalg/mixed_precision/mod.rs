//! Multigrid cycles in single precision on the device, for hierarchies set up in double precision:
//! levels take half the memory and half the traffic. The host's criteria
//! ([`equelle_runtime::linalg::precond::mixed_precision`]) select the matrices.
//!
//! In CG only conversions are added to the traffic of the cycle: the update of the residual also
//! writes it in single precision, and the step reads the result of the cycle in single precision.
//! The sum `r . z` comes from the cycle's last pass, over the rounded residual; this changes it no
//! more than the cycle's rounding does.

mod matrix;
mod space;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::precond::amg::setup::CoarseParts;
use equelle_runtime::linalg::precond::amg::{Amg, AmgOptions, Hierarchy};
use equelle_runtime::linalg::precond::mixed_precision::{scale_of, suits};
use equelle_runtime::linalg::{Preconditioner, SystemSpace, VectorSpace};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::{MIXED_PRECISION_MODULE, MULTIGRID_MODULE};
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::scalars::{DeviceNumber, ScalarOp};
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;

impl Space<f64> {
    /// With multigrid in double precision throughout.
    #[must_use]
    pub fn in_double_precision(mut self) -> Space<f64> {
        self.in_double_precision = true;
        self
    }

    /// The cycle of a hierarchy, in single precision where that is enough. Waits for the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub fn cycle(&mut self, hierarchy: Hierarchy<Space<f64>>, options: &AmgOptions) -> Result<Box<dyn Preconditioner<Space<f64>>>, Error> {
        Ok(match self.scale_for(&hierarchy, options)? {
            Some(scale) => Box::new(MixedPrecision::new(self, hierarchy, scale, options)?),
            None => Box::new(Amg::new(self, hierarchy, options)?),
        })
    }

    /// Multigrid for a square matrix whose unknowns of each field end at `ends`.
    pub(crate) fn multigrid_of(
        &mut self,
        matrix: DeviceMatrix,
        ends: &[usize],
        options: &AmgOptions,
    ) -> Result<Box<dyn Preconditioner<Space<f64>>>, Error> {
        // The cycles are compiled while the levels are set up.
        self.executor.prepare(&[MULTIGRID_MODULE])?;
        if !self.in_double_precision && suits(options) {
            self.executor.prepare(&[MIXED_PRECISION_MODULE])?;
        }
        let hierarchy = Hierarchy::new(self, matrix, ends, options)?;
        self.cycle(hierarchy, options)
    }

    /// Factor that scales the matrix of a hierarchy into the range of single precision, if that is
    /// enough.
    fn scale_for(&mut self, hierarchy: &Hierarchy<Space<f64>>, options: &AmgOptions) -> Result<Option<f64>, Error> {
        if self.in_double_precision || !suits(options) || !matrix::counts(hierarchy) {
            return Ok(None);
        }
        let finest = match (hierarchy.levels.first(), &hierarchy.coarse) {
            (Some(level), _) => level,
            (None, CoarseParts::Smoothed(level)) => level,
            // A product with a small dense inverse.
            (None, CoarseParts::Direct(_)) => return Ok(None),
        };
        let (least, most) = self.range_of(&finest.inverse_diagonal)?;
        Ok(scale_of(least, most))
    }
}

/// A cycle in single precision.
struct MixedPrecision {
    amg: Amg<Space<f32>>,
    /// Factor of the matrix.
    scale: f64,
    /// Factor of the cycle's result, and its product with the residual: see `equelle_narrow`.
    factors: Rc<Buffer>,
    work: RefCell<Work>,
}

struct Work {
    space: Space<f32>,
    r: DeviceVector<f32>,
    z: DeviceVector<f32>,
    scale_of_residual: Option<ResidualScale>,
}

/// A measure of the size of a residual: a number on the device.
#[derive(Clone)]
enum ResidualScale {
    /// Its largest magnitude.
    Largest(Rc<Buffer>),
    /// Its dot product with the cycle's result.
    Product(Rc<Buffer>),
    /// Its square norm.
    Square(Rc<Buffer>),
}

impl MixedPrecision {
    /// Takes a hierarchy.
    fn new(rt: &mut Space<f64>, hierarchy: Hierarchy<Space<f64>>, scale: f64, options: &AmgOptions) -> Result<MixedPrecision, Error> {
        let n = hierarchy.sizes.first().copied().unwrap_or(0);
        let hierarchy = matrix::narrow(rt, hierarchy, scale)?;
        let factors = rt.executor.buffer("factors of a cycle", 16)?;
        let mut space = Space::<f32>::new(&rt.executor);
        let amg = Amg::new(&mut space, hierarchy, options)?;
        let work = Work { r: space.new_zeros(n)?, z: space.new_zeros(n)?, space, scale_of_residual: None };
        Ok(MixedPrecision { amg, scale, factors, work: RefCell::new(work) })
    }

    /// Converts `r` to single precision, after the optional update `r = r - a q`;
    /// `scale_of_residual` is its size, or that before the update.
    fn narrow(
        &self,
        rt: &mut Space<f64>,
        narrow: &DeviceVector<f32>,
        r: &DeviceVector,
        scale_of_residual: &ResidualScale,
        update: Option<(&Rc<Buffer>, &DeviceVector)>,
    ) -> Result<(), Error> {
        debug_assert_eq!(narrow.len, r.len, "vectors of one length");
        // The residual, or its update by another vector, and the result.
        rt.traffic.each(r.len, if update.is_some() { 3 * 8 + 4 } else { 8 + 4 });
        let (kind, number) = match scale_of_residual {
            ResidualScale::Largest(number) => (0u32, number),
            ResidualScale::Product(number) => (1, number),
            ResidualScale::Square(number) => (2, number),
        };
        let (a, q) = update.map_or((DevicePtr(0), DevicePtr(0)), |(a, q)| (a.address(), q.address()));
        let call = rt.multigrid_call("equelle_narrow")?.arg(r.len as u32).arg(kind).arg(number.address()).arg(self.scale);
        let call = call.arg(r.address()).arg(a).arg(q).arg(narrow.address()).arg(self.factors.address());
        rt.executor.launch_over(call, r.len)
    }

    /// Converts a residual of unknown size, and stores the size.
    fn narrow_anew(&self, rt: &mut Space<f64>, work: &mut Work, r: &DeviceVector) {
        let largest = rt.largest(r);
        work.scale_of_residual = largest.map(ResidualScale::Largest);
        if let Some(scale_of_residual) = &work.scale_of_residual {
            let result = self.narrow(rt, &work.r, r, scale_of_residual, None);
            rt.executor.attempt(result);
        }
    }

    /// A cycle on the result of [`MixedPrecision::narrow`]; returns the sum `r . z`.
    fn cycle(&self, rt: &mut Space<f64>, work: &mut Work) -> DeviceNumber {
        let sum = self.amg.apply_dot(&mut work.space, &mut work.z, &work.r);
        rt.traffic.add(work.space.traffic.take());
        let factor = self.factors.number(1);
        let sum = sum.and_then(|sum| {
            let product = |out| rt.executor.scalar_op(ScalarOp::Mul, sum.address(), factor, out);
            rt.executor.make_scalar(product)
        });
        work.scale_of_residual = sum.clone().map(ResidualScale::Product);
        sum
    }

    fn step_in(
        &self,
        rt: &mut Space<f64>,
        [x, p]: [&DeviceVector; 2],
        [a, b]: [&Rc<Buffer>; 2],
        z: &DeviceVector<f32>,
    ) -> Result<(), Error> {
        rt.traffic.each(x.len, 4 * 8 + 4);
        let call = rt.multigrid_call("equelle_step_narrow")?.arg(x.len as u32).arg(x.address()).arg(a.address()).arg(p.address());
        let call = call.arg(b.address()).arg(z.address()).arg(self.factors.address());
        rt.executor.launch_over(call, x.len)
    }
}

impl Preconditioner<Space<f64>> for MixedPrecision {
    fn apply(&self, rt: &mut Space<f64>, z: &mut DeviceVector, r: &DeviceVector) {
        let work = &mut *self.work.borrow_mut();
        self.narrow_anew(rt, work, r);
        self.amg.apply(&mut work.space, &mut work.z, &work.r);
        rt.traffic.add(work.space.traffic.take());
        rt.traffic.each(z.len, 4 + 8);
        let result = rt.multigrid_call("equelle_widen").and_then(|call| {
            let call = call.arg(z.len as u32).arg(work.z.address()).arg(self.factors.address()).arg(z.address());
            rt.executor.launch_over(call, z.len)
        });
        rt.executor.attempt(result);
    }

    fn is_variable(&self) -> bool {
        self.amg.is_variable()
    }

    fn is_rounded(&self) -> bool {
        true
    }

    /// Writes `z` only if the cycle depends on `r`: methods read it then.
    fn apply_dot(&self, rt: &mut Space<f64>, z: &mut DeviceVector, r: &DeviceVector) -> DeviceNumber {
        if self.is_variable() {
            self.apply(rt, z, r);
            return rt.dot(r, z);
        }
        let work = &mut *self.work.borrow_mut();
        self.narrow_anew(rt, work, r);
        self.cycle(rt, work)
    }

    fn apply_dot_with_norm(&self, rt: &mut Space<f64>, z: &mut DeviceVector, r: &DeviceVector, square: &DeviceNumber) -> DeviceNumber {
        if self.is_variable() {
            return self.apply_dot(rt, z, r);
        }
        let scale_of_residual = ResidualScale::Square(Rc::clone(square.as_ref()?));
        let work = &mut *self.work.borrow_mut();
        let result = self.narrow(rt, &work.r, r, &scale_of_residual, None);
        rt.executor.attempt(result)?;
        self.cycle(rt, work)
    }

    /// See [`MixedPrecision::apply_dot`]. The size of the residual comes from the previous one:
    /// methods begin with one of the above.
    fn advance(&self, rt: &mut Space<f64>, r: &mut DeviceVector, a: &DeviceNumber, q: &DeviceVector, z: &mut DeviceVector) -> DeviceNumber {
        let scale_of_residual = self.work.borrow().scale_of_residual.clone();
        let (Some(scale_of_residual), Some(number), false) = (scale_of_residual, a, self.is_variable()) else {
            rt.sub_scaled(r, a, q);
            return self.apply_dot(rt, z, r);
        };
        let work = &mut *self.work.borrow_mut();
        let result = self.narrow(rt, &work.r, r, &scale_of_residual, Some((number, q)));
        rt.executor.attempt(result)?;
        self.cycle(rt, work)
    }

    fn step(&self, rt: &mut Space<f64>, [x, p]: [&mut DeviceVector; 2], [a, b]: [&DeviceNumber; 2], [z, _r]: [&DeviceVector; 2]) {
        if self.is_variable() {
            return VectorSpace::step(rt, x, a, p, b, z);
        }
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.step_in(rt, [x, p], [a, b], &self.work.borrow().z);
            rt.executor.attempt(result);
        }
    }
}
