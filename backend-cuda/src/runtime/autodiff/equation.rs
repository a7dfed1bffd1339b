//! Equations of compiled kernels: residuals with rows of the Jacobian.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, KernelInfo};

use crate::runtime::autodiff::pattern::{PatternBuilder, PatternKey};
use crate::runtime::executor::arguments::EqPattern;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Derivatives, EntityCollection};

impl CudaRuntime {
    /// Begins the pattern of an equation on a domain with these unknowns and entity collections:
    /// cached, or to be listed by launches of its pattern kernel, see
    /// [`CudaRuntime::next_pattern`]. With `slots`, columns are listed in the order of the
    /// additions of the evaluation kernel, and [`CsrPattern::slots`] has their slots.
    ///
    /// # Errors
    /// `Backend` (an internal error) for an unknown without derivatives.
    pub fn begin_pattern(
        &mut self,
        kernel: &KernelInfo,
        domain: &Arc<Domain>,
        unknowns: &[&Collection],
        entities: &[&EntityCollection],
        slots: bool,
    ) -> Result<PatternBuilder, Error> {
        let mut key = PatternKey {
            kernel: kernel.name.to_owned(),
            n_cols: 0,
            domain: Arc::clone(domain),
            unknowns: Vec::with_capacity(unknowns.len()),
            entities: entities.iter().map(|e| Rc::clone(&e.values.buffer)).collect(),
        };
        for unknown in unknowns {
            let (first, n_cols) = self.located(unknown.columns())?;
            key.unknowns.push((first, Arc::clone(&unknown.domain)));
            key.n_cols = n_cols;
        }
        Ok(self.patterns.begin(key, slots))
    }

    /// The argument of the next launch of the pattern kernel; `None` once the pattern is known.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or the device fails.
    pub fn next_pattern(&mut self, builder: &mut PatternBuilder) -> Result<Option<EqPattern>, Error> {
        builder.next(&self.executor)
    }

    /// The pattern, cached for the next evaluation.
    ///
    /// # Errors
    /// `Backend` (an internal error) if it has not been listed.
    pub fn finish_pattern(&mut self, builder: PatternBuilder) -> Result<Rc<CsrPattern>, Error> {
        self.patterns.finish(builder)
    }

    /// Allocates the entries of rows, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_entries(&mut self, rows: &CsrPattern) -> Result<Rc<Buffer>, Error> {
        self.executor.reals("the Jacobian", rows.entries())
    }

    /// A residual with its derivatives.
    pub fn equation(&self, residual: Collection, rows: &Rc<CsrPattern>, entries: Rc<Buffer>) -> Collection {
        let derivatives = Derivatives::Rows { rows: Rc::clone(rows), entries };
        Collection { derivatives: Some(Rc::new(derivatives)), ..residual }
    }

    /// Number of the first column of an unknown.
    ///
    /// # Errors
    /// `Backend` (an internal error) if it has no derivatives.
    pub fn first_column(&self, unknown: &Collection) -> Result<u32, Error> {
        Ok(self.located(unknown.columns())?.0 as u32)
    }
}
