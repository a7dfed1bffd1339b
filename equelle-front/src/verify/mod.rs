//! Checking that a module obeys the rules of the IR.
//!
//! Lowering and every pass promise what is checked here, so a failure is a defect of the compiler,
//! or of a module written by hand.
//!
//! * [`types`]: sets exist, types are ones that values can have.
//! * [`rules`]: what each operation takes and gives; also used by whoever builds operations.
//! * [`function`]: single assignment, scopes, statements.
//! * [`kernel`]: spaces, parameters, locals, blocks, Cartesian forms; [`expr`]: paths and
//!   expressions in kernels.
//! * [`halo`]: no stale value is read on several ranks; for modules with exchanges alone.

pub mod halo;
pub mod rules;
pub mod types;

mod error;
mod expr;
mod function;
mod kernel;

pub use error::VerifyError;

use std::collections::BTreeSet;

use crate::ir::{IrLocation, Module, Owner, infer_structure};

/// A module that obeys the rules. Immutable: to change it, take it out with
/// [`Verified::into_module`] and verify again.
#[derive(Clone, Debug)]
pub struct Verified {
    module: Module,
}

impl Verified {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The module, no longer known to be verified once changed.
    pub fn into_module(self) -> Module {
        self.module
    }
}

/// Checks every rule.
///
/// # Errors
/// All violations found, in the order of the text form within each function and kernel.
pub fn verify(module: Module) -> Result<Verified, Vec<VerifyError>> {
    let mut errors = Vec::new();
    types::check_sets(&module.sets, &mut errors);
    if !errors.is_empty() {
        // Everything else looks sets up.
        return Err(errors);
    }
    let mut names = BTreeSet::new();
    for (i, k) in module.kernels.iter().enumerate() {
        kernel::check(&module, crate::ir::KernelId(i as u32), k, names.insert(k.name.as_str()), &mut errors);
    }
    let mut names = BTreeSet::new();
    for (i, f) in module.functions.iter().enumerate() {
        let owner = Owner::Function(crate::ir::FunctionId(i as u32));
        function::check(&module, owner, f, names.insert(f.name.as_str()), &mut errors);
    }
    function::check(&module, Owner::Main, &module.main, true, &mut errors);
    if let Some(needed) = infer_structure(&module)
        && !module.structure.is_some_and(|structure| structure.includes(&needed))
    {
        let message = format!("the grid needs {:?} cells along its axes, more than the program asks for", needed.cells);
        let (location, within) = (IrLocation::Function(Owner::Main), "main".to_owned());
        errors.push(VerifyError { location, within, span: needed.span, message });
    }
    if errors.is_empty() { Ok(Verified { module }) } else { Err(errors) }
}
