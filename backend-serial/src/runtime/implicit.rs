//! Operations for programs that solve equations, besides Newton's method itself.

use std::rc::Rc;

use equelle_runtime::{DerivativeAccess, Error, Implicit, Residual, Session};

use super::SerialRuntime;
use super::collections::{ScalarCollection, VectorCollection};
use super::compiled::CompiledReal;
use super::jacobian::Jacobian;

impl<R: CompiledReal> Implicit for SerialRuntime<R> {
    fn without_derivatives(&mut self, values: &ScalarCollection<R>) -> ScalarCollection<R> {
        SerialRuntime::without_derivatives(self, values)
    }

    fn vectors_without_derivatives(&mut self, values: &VectorCollection<R>) -> VectorCollection<R> {
        VectorCollection { jacobians: [None, None, None], ..values.clone() }
    }

    fn forget_attempt(&mut self) {
        R::forget_solvers(self);
    }

    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn read_scalar(&mut self, value: &f64) -> Result<f64, Error> {
        Ok(*value)
    }

    fn newton(&mut self, guesses: &[ScalarCollection<R>], residual: &mut Residual<'_, Self>) -> Result<Vec<ScalarCollection<R>>, Error> {
        R::newton(self, guesses, residual)
    }
}

impl<R: CompiledReal> DerivativeAccess for SerialRuntime<R> {
    fn with_derivatives(
        &mut self,
        values: &ScalarCollection<R>,
        unknowns: &[ScalarCollection<R>],
        rows: &[Vec<(usize, usize, f64)>],
    ) -> Result<ScalarCollection<R>, Error> {
        let fault = || Error::internal("derivatives by what is no unknown");
        let ranges = unknowns.iter().map(|u| u.jacobian().map(|j| (j.first_column(), u.domain.len(), j.n_cols())));
        let ranges: Vec<(usize, usize, usize)> = ranges.collect::<Option<_>>().ok_or_else(fault)?;
        let columns = ranges.first().ok_or_else(fault)?.2;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let mut out = Vec::with_capacity(row.len());
            for &(unknown, position, value) in row {
                let &(first, len, _) = ranges.get(unknown).filter(|range| position < range.1).ok_or_else(fault)?;
                debug_assert!(position < len);
                out.push(((first + position) as u32, R::from_f64(value)));
            }
            out.sort_unstable_by_key(|&(column, _)| column);
            entries.push(out);
        }
        Ok(ScalarCollection { jacobian: Some(Rc::new(Jacobian::from_rows(&entries, columns))), ..values.clone() })
    }

    fn derivatives(&mut self, values: &ScalarCollection<R>) -> Result<Vec<Vec<(usize, f64)>>, Error> {
        let Some(jacobian) = values.jacobian() else { return Ok(Vec::new()) };
        let row = |row| {
            let (columns, values) = jacobian.row(row);
            columns.iter().zip(values).map(|(&column, &value)| (column as usize, value.to_f64())).collect()
        };
        Ok((0..jacobian.n_rows()).map(row).collect())
    }
}
