//! Providers of kernels, and the element-by-element one.

use std::collections::BTreeMap;

use equelle_front::ir::{Kernel, KernelId, Module};
use equelle_front::source::Span;
use equelle_front::types::SetId;
use equelle_runtime::{DerivativeAccess, Error};

use crate::value::{Value, canonical_set, defect};

/// Evaluates kernels. All providers give the same bits and the same errors: those of the first
/// element that fails, and of the first operation that fails there.
pub trait KernelProvider<R: DerivativeAccess> {
    /// The results of a kernel. Nothing else has an argument whose memory a result may take.
    ///
    /// # Errors
    /// Those of the kernel, with its lines.
    fn launch(&mut self, context: &mut KernelContext<'_, R>, kernel: KernelId, args: Vec<Value<R>>) -> Result<Vec<Value<R>>, Error>;

    /// The residual of an equation with its derivatives by the unknowns, which are the first
    /// parameters of its kernel. What the structure of the equation depends on is found here too.
    ///
    /// # Errors
    /// Those of the kernel, with its lines.
    fn equation(
        &mut self,
        context: &mut KernelContext<'_, R>,
        kernel: KernelId,
        unknowns: &[R::ScalarCollection],
        args: &[Value<R>],
    ) -> Result<R::ScalarCollection, Error>;
}

/// The part of the running program that a provider may use.
pub struct KernelContext<'c, R: DerivativeAccess> {
    /// The program.
    pub module: &'c Module,
    /// Where it runs.
    pub rt: &'c mut R,
    /// On a Cartesian grid: whether kernels are evaluated by their Cartesian form.
    pub cartesian_forms: bool,
    pub(crate) domains: &'c mut BTreeMap<SetId, R::Domain>,
}

impl<'c, R: DerivativeAccess> KernelContext<'c, R> {
    /// A kernel of the program.
    ///
    /// # Errors
    /// `Backend` if there is none.
    pub fn kernel(&self, kernel: KernelId) -> Result<&'c Kernel, Error> {
        kernel_of(self.module, kernel)
    }

    /// The domain that a set is at present.
    ///
    /// # Errors
    /// `Backend` for a set that has not been read; those of the grid.
    pub fn domain(&mut self, set: SetId) -> Result<R::Domain, Error> {
        if let Some(domain) = self.domains.get(&set) {
            return Ok(domain.clone());
        }
        match self.module.sets.get(set).canonical {
            Some(canonical) => {
                let domain = self.rt.domain(canonical_set(canonical))?;
                self.domains.insert(set, domain.clone());
                Ok(domain)
            }
            None => Err(defect(format!("the domain {} has not been read", self.module.sets.get(set).name))),
        }
    }

    /// Line of a place in the Equelle program; 0 when there is no text.
    pub fn line(&self, span: Span) -> u32 {
        line_of(self.module, span)
    }
}

/// Line of a place in the Equelle program; 0 when there is no text.
pub(crate) fn line_of(module: &Module, span: Span) -> u32 {
    if module.source.text().is_empty() { 0 } else { module.source.line(span.start) }
}

pub(crate) fn kernel_of(module: &Module, kernel: KernelId) -> Result<&Kernel, Error> {
    module.kernels.get(kernel.0 as usize).ok_or_else(|| defect("there is no such kernel"))
}

/// Kernels element by element, straight from their definition: the oracle of other providers.
#[derive(Clone, Copy, Debug, Default)]
pub struct ElementKernels;

impl<R: DerivativeAccess> KernelProvider<R> for ElementKernels {
    fn launch(&mut self, context: &mut KernelContext<'_, R>, kernel: KernelId, args: Vec<Value<R>>) -> Result<Vec<Value<R>>, Error> {
        context.launch_by_elements(context.kernel(kernel)?, &args)
    }

    fn equation(
        &mut self,
        context: &mut KernelContext<'_, R>,
        kernel: KernelId,
        unknowns: &[R::ScalarCollection],
        args: &[Value<R>],
    ) -> Result<R::ScalarCollection, Error> {
        context.equation_by_elements(context.kernel(kernel)?, unknowns, args)
    }
}
