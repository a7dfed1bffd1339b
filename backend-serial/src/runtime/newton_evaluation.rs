//! Evaluation of residuals for Newton's method, on one process and on ranks.

use std::rc::Rc;

use equelle_runtime::linalg::VectorSpace;
use equelle_runtime::newton::ProblemState;
use equelle_runtime::reduce::leaf_count;
use equelle_runtime::{EquelleRuntime, Error, Real, Reduction, Residual};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::discrete::reduce_values;
use super::jacobian::Jacobian;

/// Evaluates the residual, and stores the equations and their norms. Keeps in `identities` the
/// derivatives of unknowns with respect to themselves.
pub(super) fn evaluate<R: Real, S: VectorSpace + 'static, P>(
    rt: &mut SerialRuntime<R>,
    residual: &mut Residual<'_, SerialRuntime<R>>,
    state: &mut ProblemState<ScalarCollection<R>, Vec<f64>, S, P>,
    identities: &mut Vec<Rc<Jacobian<R>>>,
) -> Result<f64, Error> {
    let total = state.total();
    let mut unknowns = Vec::with_capacity(state.iterate.len());
    for (number, (values, end)) in state.iterate.iter().zip(&state.ends).enumerate() {
        let unknown = match identities.get(number) {
            Some(identity) => rt.unknown_with(values, identity),
            None => rt.unknown(values, end - values.domain.len(), total)?,
        };
        if identities.len() == number {
            identities.extend(unknown.jacobian.clone());
        }
        unknowns.push(unknown);
    }
    rt.tabulated_unknowns.clear();
    let equations = residual(rt, &unknowns);
    rt.tabulated_unknowns.clear();
    state.equations = rt.located(equations)?;
    rt.line(state.line);
    rt.check_derivatives_kept()?;
    state.check_equations()?;
    let mut sum = 0.0;
    state.norms.clear();
    for equation in &state.equations {
        let square = sum_of_squares(rt, equation)?;
        state.norms.push(square.sqrt());
        sum += square;
    }
    Ok(sum.sqrt())
}

/// The sum of the squares of values, in the order of [`equelle_runtime::reduce`].
fn sum_of_squares<R: Real>(rt: &SerialRuntime<R>, equation: &ScalarCollection<R>) -> Result<f64, Error> {
    let values = rt.values_of(equation);
    if let Some(rank) = rt.session.rank() {
        let squares: Vec<f64> = values.iter().map(|r| r.to_f64() * r.to_f64()).collect();
        return Ok(rank.reduce(Reduction::Sum, &equation.domain, &squares)?.unwrap_or(0.0));
    }
    let mut leaves = rt.doubles.take(leaf_count(values.len()));
    Ok(reduce_values(rt, Reduction::Sum, &equation.domain, &values, &mut leaves, |r| r * r).unwrap_or(0.0))
}
