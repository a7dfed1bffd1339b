//! Cycles of multigrid in single precision on the device, for hierarchies that were set up in double precision: the levels take half the memory, and so do the passes over them. As on the host
//! ([`equelle_runtime::linalg::precond::mixed_precision`]), with the rules of which matrices it suits from there.
//!
//! In CG nothing but the conversions is added to what a cycle of doubles passes over: the update of the residual writes it for the cycle too, and the step reads what the cycle made as singles.
//! The sum `r . z` is that of the cycle's last pass, over the rounded residual: what that changes is no more than what the cycle rounds.

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
use equelle_runtime::linalg::{MatrixSpace, Preconditioner, SystemSpace, VectorSpace};

use crate::runtime::device::DevicePtr;
use crate::runtime::krylov::{DeviceNumber, DeviceVector};
use crate::runtime::matrices::DeviceMatrix;
use crate::runtime::passes::Number;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use space::{SingleVector, Singles};

impl CudaRuntime {
    /// With multigrid in double precision throughout.
    #[must_use]
    pub fn in_doubles(mut self) -> CudaRuntime {
        self.space.in_doubles = true;
        self
    }

    /// The cycle of a hierarchy: of singles where they will do. Waits for the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub fn cycle(
        &mut self,
        hierarchy: Hierarchy<CudaRuntime>,
        options: &AmgOptions,
    ) -> Result<Box<dyn Preconditioner<CudaRuntime>>, Error> {
        Ok(match self.scale_for(&hierarchy, options)? {
            Some(scale) => Box::new(Single::new(self, hierarchy, scale, options)?),
            None => Box::new(Amg::new(self, hierarchy, options)?),
        })
    }

    /// Multigrid for a square matrix whose unknowns of each field end at `ends`.
    pub(super) fn multigrid_of(
        &mut self,
        matrix: DeviceMatrix,
        ends: &[usize],
        options: &AmgOptions,
    ) -> Result<Box<dyn Preconditioner<CudaRuntime>>, Error> {
        let hierarchy = Hierarchy::new(self, matrix, ends, options)?;
        self.cycle(hierarchy, options)
    }

    /// By which the matrix of a hierarchy is multiplied so that singles will do, if they will.
    fn scale_for(&mut self, hierarchy: &Hierarchy<CudaRuntime>, options: &AmgOptions) -> Result<Option<f64>, Error> {
        if self.space.in_doubles || !suits(options) || !matrix::counts(hierarchy) {
            return Ok(None);
        }
        let finest = match (hierarchy.levels.first(), &hierarchy.coarse) {
            (Some(level), _) => level,
            (None, CoarseParts::Smoothed(level)) => level,
            // A product with a small inverse.
            (None, CoarseParts::Direct(_)) => return Ok(None),
        };
        let (least, most) = self.range_of(&finest.inverse_diagonal)?;
        Ok(scale_of(least, most))
    }
}

/// A cycle of singles.
struct Single {
    amg: Amg<Singles>,
    /// By which the matrix was multiplied.
    scale: f64,
    /// What a cycle made of a residual is multiplied by, and the product of both: see `equelle_narrow`.
    factors: Rc<Buffer>,
    work: RefCell<Work>,
}

struct Work {
    r: SingleVector,
    z: SingleVector,
    told: Option<Told>,
}

/// What is known of the size of a residual: a number on the device.
#[derive(Clone)]
enum Told {
    /// Its largest magnitude.
    Largest(Rc<Buffer>),
    /// Its product with what a cycle made of it.
    Product(Rc<Buffer>),
    /// Its product with itself.
    Square(Rc<Buffer>),
}

impl Single {
    /// Takes over a hierarchy.
    fn new(rt: &mut CudaRuntime, hierarchy: Hierarchy<CudaRuntime>, scale: f64, options: &AmgOptions) -> Result<Single, Error> {
        let n = hierarchy.sizes.first().copied().unwrap_or(0);
        let hierarchy = matrix::narrow(rt, hierarchy, scale)?;
        let factors = rt.buffer("factors of a cycle", 16)?;
        let singles = Singles::of(rt);
        let amg = Amg::new(singles, hierarchy, options)?;
        let work = Work { r: singles.zeros_of(n)?, z: singles.zeros_of(n)?, told: None };
        Ok(Single { amg, scale, factors, work: RefCell::new(work) })
    }

    /// Brings `r` to singles, after `r = r - a q` if that is asked for; `told` tells its size, or that before the update.
    fn narrow(
        &self,
        rt: &mut CudaRuntime,
        narrow: &SingleVector,
        r: &DeviceVector,
        told: &Told,
        update: Option<(&Rc<Buffer>, &DeviceVector)>,
    ) -> Result<(), Error> {
        debug_assert_eq!(narrow.len, r.len, "vectors of one length");
        let (kind, number) = match told {
            Told::Largest(number) => (0u32, number),
            Told::Product(number) => (1, number),
            Told::Square(number) => (2, number),
        };
        let (a, q) = update.map_or((DevicePtr(0), DevicePtr(0)), |(a, q)| (a.address(), q.address()));
        let call = rt.solver_call("equelle_narrow")?.arg(r.len as u32).arg(kind).arg(number.address()).arg(self.scale);
        let call = call.arg(r.address()).arg(a).arg(q).arg(narrow.address()).arg(self.factors.address());
        rt.launch_over(call, r.len)
    }

    /// The same of a residual of which nothing is known; what is known then is kept.
    fn narrow_anew(&self, rt: &mut CudaRuntime, work: &mut Work, r: &DeviceVector) {
        let largest = rt.largest(r);
        work.told = largest.map(Told::Largest);
        if let Some(told) = &work.told {
            let result = self.narrow(rt, &work.r, r, told, None);
            rt.attempt(result);
        }
    }

    /// A cycle on what [`Single::narrow`] has left; the sum `r . z`.
    fn cycle(&self, rt: &mut CudaRuntime, work: &mut Work) -> DeviceNumber {
        let sum = self.amg.apply_dot(Singles::of(rt), &mut work.z, &work.r);
        let factor = self.factors.number(1);
        let sum = sum.and_then(|sum| rt.make_number(|rt, out| rt.number_into(Number::Mul, sum.address(), factor, out)));
        work.told = sum.clone().map(Told::Product);
        sum
    }

    fn step_in(&self, rt: &mut CudaRuntime, [x, p]: [&DeviceVector; 2], [a, b]: [&Rc<Buffer>; 2], z: &SingleVector) -> Result<(), Error> {
        let call = rt.solver_call("equelle_step_narrow")?.arg(x.len as u32).arg(x.address()).arg(a.address()).arg(p.address());
        let call = call.arg(b.address()).arg(z.address()).arg(self.factors.address());
        rt.launch_over(call, x.len)
    }
}

impl Preconditioner<CudaRuntime> for Single {
    fn apply(&self, rt: &mut CudaRuntime, z: &mut DeviceVector, r: &DeviceVector) {
        let work = &mut *self.work.borrow_mut();
        self.narrow_anew(rt, work, r);
        self.amg.apply(Singles::of(rt), &mut work.z, &work.r);
        let result = rt.solver_call("equelle_widen").and_then(|call| {
            let call = call.arg(z.len as u32).arg(work.z.address()).arg(self.factors.address()).arg(z.address());
            rt.launch_over(call, z.len)
        });
        rt.attempt(result);
    }

    fn is_variable(&self) -> bool {
        self.amg.is_variable()
    }

    fn is_rounded(&self) -> bool {
        true
    }

    /// `z` is not written, but where the cycle depends on `r`: methods read it then.
    fn apply_dot(&self, rt: &mut CudaRuntime, z: &mut DeviceVector, r: &DeviceVector) -> DeviceNumber {
        if self.is_variable() {
            self.apply(rt, z, r);
            return rt.dot(r, z);
        }
        let work = &mut *self.work.borrow_mut();
        self.narrow_anew(rt, work, r);
        self.cycle(rt, work)
    }

    fn apply_dot_with_norm(&self, rt: &mut CudaRuntime, z: &mut DeviceVector, r: &DeviceVector, square: &DeviceNumber) -> DeviceNumber {
        if self.is_variable() {
            return self.apply_dot(rt, z, r);
        }
        let told = Told::Square(Rc::clone(square.as_ref()?));
        let work = &mut *self.work.borrow_mut();
        let result = self.narrow(rt, &work.r, r, &told, None);
        rt.attempt(result)?;
        self.cycle(rt, work)
    }

    /// As [`Single::apply_dot`]. The size of the residual is known from the one before: methods begin with one of the above.
    fn advance(
        &self,
        rt: &mut CudaRuntime,
        r: &mut DeviceVector,
        a: &DeviceNumber,
        q: &DeviceVector,
        z: &mut DeviceVector,
    ) -> DeviceNumber {
        let told = self.work.borrow().told.clone();
        let (Some(told), Some(number), false) = (told, a, self.is_variable()) else {
            rt.sub_scaled(r, a, q);
            return self.apply_dot(rt, z, r);
        };
        let work = &mut *self.work.borrow_mut();
        let result = self.narrow(rt, &work.r, r, &told, Some((number, q)));
        rt.attempt(result)?;
        self.cycle(rt, work)
    }

    fn step(&self, rt: &mut CudaRuntime, [x, p]: [&mut DeviceVector; 2], [a, b]: [&DeviceNumber; 2], [z, _r]: [&DeviceVector; 2]) {
        if self.is_variable() {
            return VectorSpace::step(rt, x, a, p, b, z);
        }
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.step_in(rt, [x, p], [a, b], &self.work.borrow().z);
            rt.attempt(result);
        }
    }
}
