//! Equations of compiled kernels: cached stencils, and residuals with rows of the Jacobian.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, KernelInfo, Real};

use super::SerialRuntime;
use super::cartesian_grid::CartesianGrid;
use super::collections::{EntityCollection, ScalarCollection};
use super::jacobian::Jacobian;
use super::pool::{Buffer, Values};
use super::stencil::{Pattern, Reach, Stencil, StencilKey};

fn internal_error(kernel: &KernelInfo, what: &str) -> Error {
    Error::internal(format!("{}: {what}", kernel.name))
}

/// First column and number of each unknown, and the number of columns. They must ascend, so that
/// the columns of a row do.
fn columns_of<R: Real>(kernel: &KernelInfo, unknowns: &[&ScalarCollection<R>]) -> Result<(Vec<(usize, usize)>, usize), Error> {
    let (mut ranges, mut n_cols, mut end) = (Vec::with_capacity(unknowns.len()), 0, 0);
    for unknown in unknowns {
        let jacobian = unknown.jacobian().ok_or_else(|| internal_error(kernel, "an unknown without derivatives"))?;
        let (first, len) = (jacobian.first_column(), unknown.domain().len());
        if first < end {
            return Err(internal_error(kernel, "unknowns in another order than their numbers"));
        }
        end = first + len;
        n_cols = jacobian.n_cols();
        ranges.push((first, len));
    }
    if end > n_cols {
        return Err(internal_error(kernel, "more unknowns than the solve has"));
    }
    Ok((ranges, n_cols))
}

impl<R: Real> SerialRuntime<R> {
    /// The stencil of an equation, cached by domain, unknowns and entity collections (the same
    /// handles); else `build` computes it.
    ///
    /// # Errors
    /// Those of `build`; `Backend` for an unknown without derivatives, or if a row has more entries
    /// than can be numbered.
    pub fn stencil(
        &mut self,
        kernel: &KernelInfo,
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        entities: &[&EntityCollection],
        build: impl FnOnce(&mut SerialRuntime<R>, &mut Pattern) -> Result<(), Error>,
    ) -> Result<Rc<Stencil>, Error> {
        let key = StencilKey::new(domain, unknowns, columns_of(kernel, unknowns)?, entities);
        if let Some(known) = self.stencils.known(kernel.name, &key) {
            return Ok(known);
        }
        let mut pattern = Pattern::new(&key.unknowns, domain.len());
        build(self, &mut pattern)?;
        if !pattern.is_complete(domain.len()) {
            return Err(internal_error(kernel, "rows that cannot be kept"));
        }
        Ok(self.stencils.keep(kernel.name, key, pattern))
    }

    /// The stencil of an equation on a Cartesian grid, cached: rows follow from cell positions,
    /// without slots. Memory: the pattern of the matrix alone.
    ///
    /// # Errors
    /// `Backend` for an unknown without derivatives, or if it or the equation is not on the cells
    /// of the grid.
    pub fn cartesian_stencil(
        &mut self,
        kernel: &KernelInfo,
        grid: &CartesianGrid<R>,
        domain: &Arc<Domain>,
        unknowns: &[&ScalarCollection<R>],
        reach: &[Reach],
    ) -> Result<Rc<Stencil>, Error> {
        let key = StencilKey::new(domain, unknowns, columns_of(kernel, unknowns)?, &[]);
        if let Some(known) = self.stencils.known(kernel.name, &key) {
            return Ok(known);
        }
        let n = grid.n_cells();
        if domain.len() != n || key.unknowns.iter().any(|&(_, len)| len != n) || reach.len() != unknowns.len() {
            return Err(internal_error(kernel, "an equation or an unknown that is not over the cells of the grid"));
        }
        let pattern = Pattern::cartesian(grid, &key.unknowns, reach);
        Ok(self.stencils.keep(kernel.name, key, pattern))
    }

    /// First column and number of elements of each unknown, and the number of columns; `None` where
    /// one is no unknown, or where they do not ascend.
    pub fn unknown_columns(&self, unknowns: &[ScalarCollection<R>]) -> Option<(Vec<(usize, usize)>, usize)> {
        let (mut columns, mut end, mut n_cols) = (Vec::with_capacity(unknowns.len()), 0, 0);
        for unknown in unknowns {
            let jacobian = unknown.jacobian()?;
            let (first, len) = (jacobian.first_column(), unknown.domain().len());
            if first < end {
                return None;
            }
            (end, n_cols) = (first + len, jacobian.n_cols());
            columns.push((first, len));
        }
        Some((columns, n_cols))
    }

    /// A residual with derivatives in rows: their starts, the columns of the entries, ascending in
    /// a row, and the entries.
    ///
    /// # Errors
    /// `Backend` where these do not fit each other.
    pub fn equation_of_rows(
        &self,
        residual: ScalarCollection<R>,
        n_cols: usize,
        (row_ptr, columns): (&Arc<Vec<usize>>, &Arc<Vec<u32>>),
        entries: Buffer<R>,
    ) -> Result<ScalarCollection<R>, Error> {
        let fits = row_ptr.len() == residual.domain().len() + 1 && row_ptr.last() == Some(&columns.len()) && columns.len() == entries.len();
        if !fits {
            return Err(Error::internal("rows of another equation"));
        }
        let jacobian = Jacobian::written(n_cols, row_ptr, columns, entries.share());
        Ok(ScalarCollection { jacobian: Some(Rc::new(jacobian)), ..residual })
    }

    /// The values of an unknown, for a kernel with derivatives.
    pub fn unknown_values(&self, unknown: &ScalarCollection<R>) -> Values<R> {
        self.values_of(unknown)
    }

    /// A residual with its derivatives.
    pub fn equation(&self, residual: ScalarCollection<R>, stencil: &Stencil, entries: Buffer<R>) -> ScalarCollection<R> {
        stencil.equation(residual, entries)
    }
}
