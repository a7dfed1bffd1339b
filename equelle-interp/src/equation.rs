//! Equations that are kernels: residuals with derivatives from Jacobian forms.

use equelle_front::ir::{Equation, FunctionId, Kernel, KernelId, ValueId};
use equelle_runtime::{DerivativeAccess, Error, ErrorKind};

use crate::Evaluated;
use crate::program::{Frame, Interpreter, scalars};
use crate::provider::{KernelContext, kernel_of};
use crate::value::{Value, defect};

/// A kernel and its arguments beside the unknowns.
pub(crate) type Called<R> = (KernelId, Vec<Value<R>>);

impl<'a, R: DerivativeAccess> Interpreter<'a, R> {
    /// Kernels of equations with their arguments.
    pub fn equations(&self, frame: &Frame<'a, R>, equations: &[Equation]) -> Result<Vec<Called<R>>, Error> {
        let called = |equation: &Equation| {
            let args = equation.args.iter().map(|&v| frame.value(v).cloned()).collect::<Result<Vec<_>, _>>()?;
            Ok((equation.kernel, args))
        };
        equations.iter().map(called).collect()
    }

    /// Newton's method on the kernels. The residual functions are called for their outputs.
    pub fn newton_by_kernels(
        &mut self,
        frame: &Frame<'a, R>,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        equations: &[Equation],
    ) -> Result<Vec<Value<R>>, Error> {
        let called = self.equations(frame, equations)?;
        let mut functions = Vec::with_capacity(residuals.len());
        for (function, captures) in residuals.iter().zip(captures) {
            let function = self.module.functions.get(function.0 as usize).ok_or_else(|| defect("there is no such function"))?;
            let captures = captures.iter().map(|&v| frame.value(v).cloned()).collect::<Result<Vec<_>, _>>()?;
            functions.push((function, captures));
        }
        let mut guesses = guesses.iter().map(|&v| scalars(frame.value(v)?.clone())).collect::<Result<Vec<_>, _>>()?;
        self.move_guesses(&mut guesses, equations)?;
        let (module, options, domains) = (self.module, self.options, &self.domains);
        let (provider, lifetimes) = (&mut *self.provider, self.lifetimes.clone());
        let mut evaluated = Vec::new();
        let wanted = self.wanted.is_some();
        let solution = self.rt.newton(&guesses, &mut |rt, unknowns| {
            let provider = &mut *provider;
            let (domains, lifetimes) = (domains.clone(), lifetimes.clone());
            let mut inner = Interpreter { module, rt, options, provider, domains, lifetimes, wanted: None, moved: None };
            for (function, captures) in &functions {
                let values = unknowns.iter().map(|u| Value::Scalars(inner.rt.without_derivatives(u)));
                let args = values.chain(captures.iter().cloned()).collect();
                inner.call(function, args)?;
            }
            let equations = called.iter().map(|(kernel, args)| inner.equation(*kernel, unknowns, args)).collect::<Result<Vec<_>, _>>()?;
            if wanted {
                evaluated = equations.iter().map(|equation| inner.evaluated(equation)).collect::<Result<Vec<_>, _>>()?;
                return Err(defect("the run ends here"));
            }
            Ok(equations)
        });
        if wanted {
            self.wanted = Some(evaluated);
            return Err(defect("the run ends at its first solve"));
        }
        let solution = solution?;
        Ok(solution.into_iter().map(Value::Scalars).collect())
    }

    /// Guesses near those of the program, where a run is to evaluate equations there.
    pub fn move_guesses(&mut self, guesses: &mut [R::ScalarCollection], equations: &[Equation]) -> Result<(), Error> {
        let Some(moved) = self.moved else { return Ok(()) };
        for (unknown, (guess, equation)) in guesses.iter_mut().zip(equations).enumerate() {
            let (_, mut context) = self.kernels();
            let set = context.kernel(equation.kernel)?.space_set().ok_or_else(|| defect("an equation is over a set"))?;
            let domain = context.domain(set)?;
            let values = self.rt.values(guess)?.into_iter().enumerate().map(|(position, value)| moved(unknown, position, value));
            let values = values.collect();
            *guess = self.rt.scalar_collection(&domain, values)?;
        }
        Ok(())
    }

    /// A residual and its rows as numbers.
    pub fn evaluated(&mut self, equation: &R::ScalarCollection) -> Result<Evaluated, Error> {
        let plain = self.rt.without_derivatives(equation);
        let rows = self.rt.derivatives(equation)?.into_iter().map(|row| row.into_iter().collect()).collect();
        Ok(Evaluated { residual: self.rt.values(&plain)?, rows })
    }

    /// The residual with its derivatives.
    pub fn equation(
        &mut self,
        kernel: KernelId,
        unknowns: &[R::ScalarCollection],
        args: &[Value<R>],
    ) -> Result<R::ScalarCollection, Error> {
        let (provider, mut context) = self.kernels();
        provider.equation(&mut context, kernel, unknowns, args)
    }

    /// Checks that both ways give the same.
    pub fn agree(&mut self, kernel: KernelId, by_operations: &R::ScalarCollection, by_kernel: &R::ScalarCollection) -> Result<(), Error> {
        let kernel = kernel_of(self.module, kernel)?;
        let differ = |what: String| Err(Error::new(ErrorKind::Backend, format!("{}: {what}", kernel.name)));
        let [a, b] = [by_operations, by_kernel].map(|c| self.rt.without_derivatives(c));
        let (a, b) = (self.rt.values(&a)?, self.rt.values(&b)?);
        let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if let Some(k) = a.iter().zip(&b).position(|(a, b)| !close(*a, *b, largest)) {
            return differ(format!("residual {k} is {:e} by operations and {:e} by the kernel", a[k], b[k]));
        }
        let (a, b) = (self.rt.derivatives(by_operations)?, self.rt.derivatives(by_kernel)?);
        for k in 0..a.len().max(b.len()) {
            let row = |rows: &[Vec<(usize, f64)>]| rows.get(k).cloned().unwrap_or_default();
            let (a, b) = (row(&a), row(&b));
            let largest = a.iter().chain(&b).fold(0.0_f64, |m, (_, x)| m.max(x.abs()));
            let entry = |row: &[(usize, f64)], column: usize| row.iter().find(|e| e.0 == column).map_or(0.0, |e| e.1);
            for &(column, _) in a.iter().chain(&b) {
                let (a, b) = (entry(&a, column), entry(&b, column));
                if !close(a, b, largest) {
                    return differ(format!("the derivative of {k} by {column} is {a:e} by operations and {b:e} by the kernel"));
                }
            }
        }
        Ok(())
    }
}

/// Equal to round-off: the two ways add and multiply the same terms in different orders, some ten
/// of them.
fn close(a: f64, b: f64, largest: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-11 * largest
}

impl<R: DerivativeAccess> KernelContext<'_, R> {
    /// The residual of an equation with its derivatives, element by element.
    pub(crate) fn equation_by_elements(
        &mut self,
        kernel: &Kernel,
        unknowns: &[R::ScalarCollection],
        args: &[Value<R>],
    ) -> Result<R::ScalarCollection, Error> {
        let values: Vec<R::ScalarCollection> = unknowns.iter().map(|u| self.rt.without_derivatives(u)).collect();
        let all: Vec<Value<R>> = values.into_iter().map(Value::Scalars).chain(args.iter().cloned()).collect();
        let (residual, rows) = self.launch_equation(kernel, &all)?;
        self.rt.with_derivatives(&residual, unknowns, &rows)
    }
}
