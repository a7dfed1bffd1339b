//! Interpreter of the IR over the runtime traits.
//!
//! Operations go to the runtime one by one ([`equelle_runtime::Operations`]), kernels to a
//! [`provider`]. That of this crate evaluates them element by element on host values, straight from
//! their definition. So it is slow, works on every back-end that gives access to host values, and
//! is the oracle for passes, code generation and other providers.
//!
//! [`program`] runs statements, [`checkpoint`] saves and restores the state, [`lifetime`] says when
//! values end, [`operation`] hands operations over,
//! [`equation`] has equations of Newton solves, [`launch`] prepares kernels, [`evaluate`] evaluates
//! them on [`operand`]s by [`arithmetic`], [`cartesian`] has the geometry of Cartesian forms.
//! [`poison`] makes wrong what nobody may read.

#![forbid(unsafe_code)]

mod arithmetic;
mod cartesian;
mod checkpoint;
mod equation;
mod evaluate;
mod launch;
mod lifetime;
mod operand;
mod operation;
mod poison;
mod program;
pub mod provider;
pub mod value;

use equelle_front::verify::Verified;
use equelle_front::verify::halo::HaloDepths;
use std::collections::BTreeMap;

use equelle_runtime::{DerivativeAccess, Error, ErrorKind};

/// Options of the interpreter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options<'p> {
    /// On a Cartesian grid: evaluate the Cartesian form of kernels that have one instead of the
    /// general body.
    pub cartesian_forms: bool,
    /// Derivatives for Newton solves whose equations are kernels.
    pub derivatives: Derivatives,
    /// Makes values wrong where ranks do not need them, for tests.
    pub poison: Option<Poison<'p>>,
}

/// Makes values wrong beyond the layers to which they are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poison<'p> {
    /// These layers.
    pub depths: &'p HaloDepths,
    /// Decides on truth values and entities.
    pub seed: u64,
}

/// An equation at a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// One per element.
    pub residual: Vec<f64>,
    /// Derivatives of each element by the number of the unknown.
    pub rows: Vec<BTreeMap<usize, f64>>,
}

/// Replaces an element of a guess, given the number of the unknown, its position and value.
pub type Moved<'a> = &'a dyn Fn(usize, usize, f64) -> f64;

/// Runs the program until its first Newton solve whose equations are kernels, and evaluates these
/// at the guess.
///
/// # Errors
/// As [`interpret`]; `Backend` if there is no such solve.
pub fn evaluate_equations<R: DerivativeAccess>(module: &Verified, rt: &mut R) -> Result<Vec<Evaluated>, Error> {
    evaluate_equations_at(module, rt, Options::default(), &|_, _, value| value)
}

/// The same near the guess.
///
/// # Errors
/// As there.
pub fn evaluate_equations_at<R: DerivativeAccess>(
    module: &Verified,
    rt: &mut R,
    options: Options<'_>,
    moved: Moved<'_>,
) -> Result<Vec<Evaluated>, Error> {
    let mut elements = provider::ElementKernels;
    evaluate_equations_by(module, rt, options, moved, &mut elements)
}

/// The same with kernels of a provider.
///
/// # Errors
/// As there.
pub fn evaluate_equations_by<R: DerivativeAccess>(
    module: &Verified,
    rt: &mut R,
    options: Options<'_>,
    moved: Moved<'_>,
    provider: &mut dyn provider::KernelProvider<R>,
) -> Result<Vec<Evaluated>, Error> {
    let mut found = Vec::new();
    let interpreter = program::Interpreter::new(module.module(), rt, options, provider);
    // The run ends where its purpose is fulfilled.
    match interpreter.first_solve(moved, &mut found) {
        _ if !found.is_empty() => Ok(found),
        Ok(()) => Err(Error::new(ErrorKind::Backend, "no solve with equations that are kernels")),
        Err(error) => Err(error),
    }
}

/// Source of the derivatives of a residual that has a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derivatives {
    /// From the Jacobian form of the kernel.
    #[default]
    Kernels,
    /// From the operations of the residual function.
    Operations,
    /// From both, which must agree: residuals and derivatives each to 1e-11 of the largest in their
    /// row or collection.
    Both,
}

/// Runs the program on a runtime, kernels by their general body.
///
/// # Errors
/// Those of the runtime; `Simulation` where a check of a kernel fails, naming the element and the
/// lines.
pub fn interpret<R: DerivativeAccess>(module: &Verified, rt: &mut R) -> Result<(), Error> {
    interpret_with(module, rt, Options::default())
}

/// Runs the program on a runtime.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_with<R: DerivativeAccess>(module: &Verified, rt: &mut R, options: Options<'_>) -> Result<(), Error> {
    interpret_by(module, rt, options, &mut provider::ElementKernels)
}

/// Runs the program on a runtime with kernels of a provider.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_by<R: DerivativeAccess>(
    module: &Verified,
    rt: &mut R,
    options: Options<'_>,
    provider: &mut dyn provider::KernelProvider<R>,
) -> Result<(), Error> {
    program::Interpreter::new(module.module(), rt, options, provider).run()
}
