//! Newton's method: the nonlinear problem for [`equelle_runtime::newton`] on collections with
//! derivatives.
//!
//! The unknowns of all equations are numbered one after the other, and so are the rows of the
//! Jacobian. Between solves each line of the program caches the symbolic factorisation, which
//! depends on the pattern alone.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{self, BlockMatrix, Csr, HostMatrix, VectorSpace};
use equelle_runtime::newton::{self, Correction, Field, GridProblem, ProblemState, Size, Update};
use equelle_runtime::reduce::{leaf_count, reduce_leaves, reduce_on};
use equelle_runtime::threads::Threads;
use equelle_runtime::{Error, Real, Reduction, Residual, Session};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::jacobian::Jacobian;
use super::newton_evaluation::evaluate;
use super::newton_on_ranks::newton_on_ranks;
use super::newton_state::{Assembled, Shared};

/// Solves `residual(u) = 0` from the guesses.
pub(super) fn newton_solve<R: Real>(
    rt: &mut SerialRuntime<R>,
    guesses: &[ScalarCollection<R>],
    residual: &mut Residual<'_, SerialRuntime<R>>,
) -> Result<Vec<ScalarCollection<R>>, Error> {
    if let Some(rank) = rt.session.rank().cloned() {
        return newton_on_ranks(rt, rank, guesses, residual);
    }
    let line = rt.current_line();
    let (options, linear) = rt.newton.options(&mut rt.session, R::EPSILON)?;
    let iterate = guesses.iter().map(|guess| rt.without_derivatives(guess)).collect();
    let state = rt.newton.begin(line, (&options, linear), iterate);
    let mut problem = SerialProblem { rt, residual, state, identities: Vec::new(), values: Vec::new(), unsolved: None };
    let outcome = newton::solve(&mut problem, &options);
    let SerialProblem { state, .. } = problem;
    let iterate = rt.newton.end(state);
    rt.session.line(line);
    outcome.map_err(|error| error.at(line))?;
    Ok(iterate)
}

impl<R: Real> Field for ScalarCollection<R> {
    fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    fn has_derivatives(&self) -> bool {
        self.jacobian.is_some()
    }
}

/// The state of a solve; its corrections are numbers on the host.
type State<R> = ProblemState<ScalarCollection<R>, Vec<f64>, HostSpace, Option<Assembled>>;

struct SerialProblem<'a, 'b, R: Real> {
    rt: &'a mut SerialRuntime<R>,
    residual: &'a mut Residual<'b, SerialRuntime<R>>,
    state: State<R>,
    /// Derivatives of the unknowns with respect to themselves. `[equations]`
    identities: Vec<Rc<Jacobian<R>>>,
    /// Buffer for the matrix values of a system.
    values: Vec<f64>,
    /// The matrix of a failed linear solve.
    unsolved: Option<HostMatrix>,
}

impl<R: Real> SerialProblem<'_, '_, R> {
    /// The Jacobian of all equations; takes the derivatives of the equations. The rows of one
    /// equation, and of a system in blocks, become the matrix without a copy. Other systems copy
    /// their values one after another.
    fn matrix(&mut self) -> Result<HostMatrix, Error> {
        // The matrix of a failed solve.
        if let Some(matrix) = self.unsolved.take() {
            return Ok(matrix);
        }
        let total = self.state.total();
        let taken: Vec<Rc<Jacobian<R>>> = self.state.equations.iter_mut().filter_map(|equation| equation.jacobian.take()).collect();
        let malformed = |fault| Error::internal(format!("the Jacobian is malformed: {fault}"));
        let known = match self.state.patterns.take().filter(|known| known.is_for(&taken, total)) {
            Some(known) => known,
            None => Assembled::new(&taken, total).map_err(malformed)?,
        };
        let assembled = self.state.patterns.insert(known);
        let taken = taken.into_iter().map(Rc::unwrap_or_clone);
        let pattern = match &assembled.pattern {
            Shared::Rows(pattern) => Arc::clone(pattern),
            Shared::Blocks(pattern) => {
                let values = taken.map(|jacobian| jacobian.into_values().into_iter().map(R::to_f64).collect()).collect();
                return Ok(BlockMatrix::with_pattern(Arc::clone(pattern), values).map_err(malformed)?.into());
            }
        };
        let mut taken: Vec<Jacobian<R>> = taken.collect();
        let values = match (taken.pop(), taken.is_empty()) {
            (Some(only), true) => only.into_values().into_iter().map(R::to_f64).collect(),
            (last, _) => {
                let mut values = std::mem::take(&mut self.values);
                values.clear();
                values.reserve_exact(pattern.n_entries());
                for jacobian in taken.iter().chain(&last) {
                    values.extend(jacobian.values().iter().map(|value| value.to_f64()));
                }
                values
            }
        };
        Ok(Csr::with_pattern(pattern, values).map_err(malformed)?.into())
    }

    /// Sets the iterate to `base`, or to itself, plus this part of a correction, clipped to the
    /// bounds; returns the size of the unknowns and the number of values at bounds.
    fn advance(&mut self, base: Option<&[ScalarCollection<R>]>, du: &[f64], length: f64) -> Update {
        let mut update = Update::default();
        for (number, end) in self.state.ends.iter().enumerate() {
            let values = base.unwrap_or(&self.state.iterate)[number].clone();
            let bounds = self.state.bounds_of(number);
            let du = &du[end - values.domain.len()..*end];
            let old = self.rt.values_of(&values);
            let mut new = self.rt.take_buffer(old.len());
            let old = &old[..];
            self.rt.session.threads().each_cheap(old.len(), &mut new[..], |range, new| {
                for ((new, old), du) in new.iter_mut().zip(&old[range.clone()]).zip(&du[range]) {
                    *new = R::from_f64(old.to_f64() - length * du);
                }
            });
            if let Some(bounds) = bounds {
                for value in new.iter_mut() {
                    let (bounded, is_at_bound) = bounds.nearest(value.to_f64());
                    update.at_bounds += usize::from(is_at_bound);
                    *value = R::from_f64(bounded);
                }
            }
            if self.state.tells_updates {
                let squares: Vec<f64> = new.iter().map(|u| u.to_f64() * u.to_f64()).collect();
                update.unknowns += equelle_runtime::reduce::reduce(Reduction::Sum, &squares).unwrap_or(0.0);
            }
            if base.is_none() {
                let threads = self.rt.session.threads();
                self.state.sizes.push(Size { correction: largest(threads, du), unknown: largest(threads, &new) });
            }
            self.state.iterate[number] = self.rt.scalar_collection_from(&values.domain, new);
        }
        update.unknowns = update.unknowns.sqrt();
        update
    }

    /// Takes the buffers of a matrix for the next one.
    fn keep(&mut self, matrix: HostMatrix) {
        match matrix {
            HostMatrix::Rows(matrix) if self.state.iterate.len() == 1 => {
                self.rt.reals.give_back(R::vec_from_f64(matrix.into_rows().into_values()))
            }
            HostMatrix::Rows(matrix) => self.values = matrix.into_rows().into_values(),
            HostMatrix::Blocks(matrix) => {
                matrix.into_values().into_iter().for_each(|values| self.rt.reals.give_back(R::vec_from_f64(values)));
            }
        }
    }
}

/// Largest magnitude, 0 for none; NaN if a value is.
fn largest<R: Real>(threads: &Threads, values: &[R]) -> f64 {
    let mut leaves = vec![0.0; leaf_count(values.len())];
    let magnitudes = |range: Range<usize>| values[range].iter().map(|value| value.to_f64().abs());
    reduce_leaves(threads, Reduction::Max, values.len(), &mut leaves, magnitudes).unwrap_or(0.0)
}

impl<R: Real> GridProblem for SerialProblem<'_, '_, R> {
    type Field = ScalarCollection<R>;
    type Correction = Vec<f64>;
    type Space = HostSpace;
    type Patterns = Option<Assembled>;

    fn state(&self) -> &State<R> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<R> {
        &mut self.state
    }

    fn session(&mut self) -> &mut Session {
        &mut self.rt.session
    }

    fn evaluate(&mut self) -> Result<f64, Error> {
        evaluate(self.rt, self.residual, &mut self.state, &mut self.identities)
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        let matrix = self.matrix()?;
        let (total, threads) = (self.state.total(), &self.state.linear.threads);
        let space = self.rt.solvers.space.take();
        let mut space = space.unwrap_or_else(|| HostSpace::on(threads, total).interruptible(self.rt.session.interrupt()));
        let mut rhs = space.empty(total);
        for equation in &self.state.equations {
            rhs.extend(self.rt.values_of(equation).iter().map(|r| r.to_f64()));
        }
        let solution = linalg::solve_on_host(&mut space, &matrix, &self.state.ends, rhs, &self.state.linear, &mut self.state.cache);
        self.rt.solvers.space = Some(space);
        self.rt.session.linear_solve_ended(self.state.line, self.state.cache.take_traffic());
        let solution = match solution {
            Ok(solution) => solution,
            Err(error) => {
                self.unsolved = Some(matrix);
                return Err(error.into());
            }
        };
        self.keep(matrix);
        let base = self.state.search.then(|| self.state.iterate.clone());
        self.state.sizes.clear();
        let update = self.advance(None, &solution.x, 1.0);
        let norm = if self.state.tells_updates { linalg::space::host::norm(&solution.x) } else { 0.0 };
        let update = Update { norm, ..update };
        let correction = Correction::new(&solution, Some(update), self.state.cache.take_set_up_time());
        match (base, &mut self.rt.solvers.space) {
            (Some(base), _) => self.state.last = Some((base, solution.x)),
            (None, Some(space)) => {
                self.state.last = None;
                space.recycle(solution.x);
            }
            (None, None) => self.state.last = None,
        }
        Ok(correction)
    }

    fn extremes(&mut self) -> Result<Vec<Option<[f64; 2]>>, Error> {
        let extremes = |unknown: &ScalarCollection<R>| {
            let values = self.rt.values_of(unknown);
            let reduced = |reduction| reduce_on(self.rt.session.threads(), reduction, &values);
            Some([reduced(Reduction::Min)?, reduced(Reduction::Max)?])
        };
        Ok(self.state.iterate.iter().map(extremes).collect())
    }

    fn advance_from(&mut self, base: &[ScalarCollection<R>], correction: &Vec<f64>, length: f64) -> Result<(), Error> {
        self.advance(Some(base), correction, length);
        Ok(())
    }

    fn scaled_norms(&mut self, scales: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let mut norms = Vec::with_capacity(self.state.ends.len());
        for (equation, &end) in self.state.equations.iter().zip(&self.state.ends) {
            let values = self.rt.values_of(equation);
            let scales = &scales[end - values.len()..end];
            let scaled: Vec<f64> = values.iter().zip(scales).map(|(r, scale)| r.to_f64() * scale).collect();
            norms.push(linalg::space::host::norm(&scaled));
        }
        Ok(norms)
    }

    fn terms(&mut self, scales: Option<&Vec<f64>>) -> Result<Vec<f64>, Error> {
        let mut unknowns = Vec::with_capacity(self.state.total());
        for unknown in &self.state.iterate {
            unknowns.extend(self.rt.values_of(unknown).iter().map(|u| u.to_f64().abs()));
        }
        let mut begin = 0;
        let mut norms = Vec::with_capacity(self.state.ends.len());
        for (equation, &end) in self.state.equations.iter().zip(&self.state.ends) {
            let mut terms: Vec<f64> = match (&self.unsolved, equation.jacobian()) {
                (Some(matrix), _) => {
                    let term = |(column, value): (usize, f64)| value.abs() * unknowns[column];
                    (begin..end).map(|row| matrix.rows().row(row).map(term).sum()).collect()
                }
                (None, Some(jacobian)) => {
                    let terms = |row| {
                        let (columns, values) = jacobian.row(row);
                        columns.iter().zip(values).map(|(&column, value)| value.to_f64().abs() * unknowns[column as usize]).sum()
                    };
                    (0..end - begin).map(terms).collect()
                }
                // An equation without elements.
                (None, None) => Vec::new(),
            };
            if let Some(scales) = scales {
                terms.iter_mut().zip(&scales[begin..end]).for_each(|(term, scale)| *term *= scale);
            }
            norms.push(linalg::space::host::norm(&terms));
            begin = end;
        }
        Ok(norms)
    }

    fn host_values(&mut self, values: &ScalarCollection<R>) -> Result<Vec<f64>, Error> {
        Ok(R::slice_to_f64(&self.rt.values_of(values)))
    }

    fn host_matrix(&mut self) -> Result<Csr, Error> {
        self.matrix().map(HostMatrix::into_rows)
    }
}
