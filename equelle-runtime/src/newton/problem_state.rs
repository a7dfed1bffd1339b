//! Common part of the nonlinear problems of all back-ends: the state of a solve, caches between
//! solves, and the part of [`Problem`] that follows from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::linearity::Linearity;
use super::options::{Bounds, Options};
use super::problem::{Correction, Problem, Size, Trial};
use super::range::Range;
use super::report::{Entry, History, SolveOutcome};
use super::{balance, dump, session};
use crate::domain::Domain;
use crate::error::Error;
use crate::input::ConstantTable;
use crate::linalg::krylov::iteration::Pursuit;
use crate::linalg::{Csr, LinearCache, LinearOptions, Rows, VectorSpace};
use crate::rank_id::RankId;
use crate::session::Session;

/// Values of an unknown or of an equation on a domain, in the storage of a back-end.
pub trait Field: Clone {
    /// Its domain.
    fn domain(&self) -> &Arc<Domain>;
    /// True if it depends on an unknown.
    fn has_derivatives(&self) -> bool;
}

/// Caches of Newton's method between the solves of a run. `S`: the space of the linear solvers;
/// `P`: the cached patterns of a solve in a back-end.
pub struct NewtonCaches<S: VectorSpace + 'static, P> {
    /// The parameters, once read.
    options: Option<(Options, LinearOptions)>,
    /// By Equelle line.
    solves: BTreeMap<u32, (LinearCache<S>, P, Linearity)>,
}

impl<S: VectorSpace + 'static, P> Default for NewtonCaches<S, P> {
    fn default() -> Self {
        NewtonCaches { options: None, solves: BTreeMap::new() }
    }
}

impl<S: VectorSpace + 'static, P: Default> NewtonCaches<S, P> {
    /// The parameters of Newton's method and of linear solvers for the solve at the current line;
    /// read once. `rounding` is the machine epsilon of collections.
    ///
    /// # Errors
    /// `Data` for illegal parameters.
    pub fn options(&mut self, session: &mut Session, rounding: f64) -> Result<(Options, LinearOptions), Error> {
        let line = session.current_line();
        let (options, linear) = match &self.options {
            Some(options) => options.clone(),
            None => self.options.insert(session::options(session, rounding).map_err(|error| error.at(line))?).clone(),
        };
        let linear = LinearOptions { solves: session.loops().known_rounds(), ..linear };
        Ok((session::options_at(session, options, line), linear))
    }

    /// The state at the beginning of a solve at an Equelle line.
    pub fn begin<V: Field, C>(
        &mut self,
        line: u32,
        (options, linear): (&Options, LinearOptions),
        iterate: Vec<V>,
    ) -> ProblemState<V, C, S, P> {
        let (mut cache, patterns, linearity) = self.solves.remove(&line).unwrap_or_default();
        cache.forget_rows();
        let ends = iterate.iter().scan(0, |end, unknown| {
            *end += unknown.domain().len();
            Some(*end)
        });
        ProblemState {
            line,
            ends: ends.collect(),
            iterate,
            equations: Vec::new(),
            tolerance: linear.tolerance,
            linear,
            cache,
            patterns,
            linearity,
            bounds: Vec::new(),
            norms: Vec::new(),
            sizes: Vec::new(),
            tells_updates: options.update_tol > 0.0,
            search: options.line_search,
            last: None,
        }
    }

    /// Stores the caches for the next solve at this line; returns the iterate.
    pub fn end<V, C>(&mut self, state: ProblemState<V, C, S, P>) -> Vec<V> {
        self.solves.insert(state.line, (state.cache, state.patterns, state.linearity));
        state.iterate
    }

    /// The cached patterns.
    pub fn patterns(&self) -> impl Iterator<Item = &P> {
        self.solves.values().map(|(_, patterns, _)| patterns)
    }
}

/// The state of a solve. `V`: values of an unknown or an equation; `C`: a correction of all
/// unknowns; `S` and `P` as in [`NewtonCaches`].
pub struct ProblemState<V, C, S: VectorSpace + 'static, P> {
    /// Equelle line of the solve.
    pub line: u32,
    /// The iterate. `[unknowns]`
    pub iterate: Vec<V>,
    /// Ends of the fields of unknowns. `[equations]`
    pub ends: Vec<usize>,
    /// The residual at the iterate, with derivatives. `[equations]`
    pub equations: Vec<V>,
    /// Options of the next linear solve.
    pub linear: LinearOptions,
    /// Tolerance of the linear solver in the parameters, from which `linear` may deviate.
    tolerance: f64,
    /// Cache of the linear solver.
    pub cache: LinearCache<S>,
    /// Cached patterns of equations and of the matrix.
    pub patterns: P,
    /// Linearity of the corrections, also of those of the solve before.
    pub linearity: Linearity,
    /// Bounds of unknowns.
    pub bounds: Vec<(usize, Bounds)>,
    /// Norm of each equation at the last evaluation. `[equations]`
    pub norms: Vec<f64>,
    /// Size of the last correction of each unknown. `[equations]`
    pub sizes: Vec<Size>,
    /// True if the norm of corrections is needed.
    pub tells_updates: bool,
    /// True if corrections may be shortened.
    pub search: bool,
    /// The iterate before the last correction, and that correction, if it may be shortened.
    pub last: Option<(Vec<V>, C)>,
}

impl<V: Field, C, S: VectorSpace + 'static, P> ProblemState<V, C, S, P> {
    /// Number of unknown values.
    pub fn total(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The bounds of an unknown.
    pub fn bounds_of(&self, unknown: usize) -> Option<Bounds> {
        self.bounds.iter().find(|(number, _)| *number == unknown).map(|(_, bounds)| *bounds)
    }

    /// True if there are as many equations as unknowns.
    fn is_square(&self) -> bool {
        self.equations.len() == self.iterate.len()
    }

    /// Checks that every equation is on the domain of its unknown and depends on some unknown.
    ///
    /// # Errors
    /// `Simulation` if one does not depend on any; `Backend` (an internal error) if domains do not
    /// fit.
    pub fn check_equations(&self) -> Result<(), Error> {
        let (equations, unknowns) = (self.equations.len(), self.iterate.len());
        if !self.is_square() {
            return Err(Error::internal(format!("{equations} equations for {unknowns} unknowns")));
        }
        for (number, (equation, unknown)) in self.equations.iter().zip(&self.iterate).enumerate() {
            let (found, wanted) = (equation.domain().len(), unknown.domain().len());
            if found != wanted {
                return Err(Error::internal(format!("{found} values of an equation for {wanted}")));
            }
            if !equation.has_derivatives() && found > 0 {
                return Err(session::determines_nothing(number, unknowns));
            }
        }
        Ok(())
    }
}

/// The part of a nonlinear problem that a back-end implements; the rest of [`Problem`] follows.
pub trait GridProblem {
    /// Values of an unknown or of an equation.
    type Field: Field;
    /// A correction of all unknowns.
    type Correction;
    /// The space of the linear solvers.
    type Space: VectorSpace + 'static;
    /// The cached patterns.
    type Patterns;

    /// The state of the solve.
    fn state(&self) -> &ProblemState<Self::Field, Self::Correction, Self::Space, Self::Patterns>;
    /// The state of the solve, mutable.
    fn state_mut(&mut self) -> &mut ProblemState<Self::Field, Self::Correction, Self::Space, Self::Patterns>;
    /// The run.
    fn session(&mut self) -> &mut Session;

    /// [`Problem::evaluate`], which stores the norms of the equations in the state.
    ///
    /// # Errors
    /// As for [`Problem::evaluate`].
    fn evaluate(&mut self) -> Result<f64, Error>;
    /// [`Problem::correct`]. By the next evaluation the sizes of the correction are in the state,
    /// and with a line search the correction itself.
    ///
    /// # Errors
    /// As for [`Problem::correct`].
    fn correct(&mut self) -> Result<Correction, Error>;
    /// Sets the iterate to `base` plus this part of a correction, clipped to the bounds.
    ///
    /// # Errors
    /// Those of the back-end.
    fn advance_from(&mut self, base: &[Self::Field], correction: &Self::Correction, length: f64) -> Result<(), Error>;
    /// Euclidean norm of each equation of the last evaluation, with rows times their scales.
    /// `[equations]`
    ///
    /// # Errors
    /// Those of the back-end.
    fn scaled_norms(&mut self, scales: &<Self::Space as VectorSpace>::Vector) -> Result<Vec<f64>, Error>;
    /// Norm of `sum_j |J_ij| |u_j|` for each equation, with rows times their scales
    /// ([`Problem::terms`]). `[equations]`
    ///
    /// # Errors
    /// As for [`Problem::terms`].
    fn terms(&mut self, scales: Option<&<Self::Space as VectorSpace>::Vector>) -> Result<Vec<f64>, Error>;
    /// Least and greatest value of each unknown at the last evaluation; `None` for one without
    /// elements. `[unknowns]`
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    fn extremes(&mut self) -> Result<Vec<Option<[f64; 2]>>, Error>;

    /// Copies values to the host. `[domain]`
    ///
    /// # Errors
    /// Those of the copy.
    fn host_values(&mut self, values: &Self::Field) -> Result<Vec<f64>, Error>;
    /// Copies the Jacobian of the last evaluation to the host.
    ///
    /// # Errors
    /// Those of its assembly and of the copy.
    fn host_matrix(&mut self) -> Result<Csr, Error>;
}

/// Values on a domain, `[domain]`.
type DomainValues = (Arc<Domain>, Vec<f64>);

/// Residual of each equation.
fn residuals<G: GridProblem>(problem: &mut G) -> Result<Vec<DomainValues>, Error> {
    let equations = problem.state().equations.clone();
    equations.iter().map(|equation| Ok((Arc::clone(equation.domain()), problem.host_values(equation)?))).collect()
}

/// Domain, iterate and residual of an unknown, `[domain]` each.
type FailedField = (Arc<Domain>, Vec<f64>, Vec<f64>);

/// Iterate and residual of each unknown.
fn failed_fields<G: GridProblem>(problem: &mut G) -> Result<Vec<FailedField>, Error> {
    let (iterate, residuals) = (problem.state().iterate.clone(), residuals(problem)?);
    let fields = iterate.iter().zip(residuals);
    fields.map(|(unknown, (domain, residual))| Ok((domain, problem.host_values(unknown)?, residual))).collect()
}

impl<G: GridProblem> Problem for G {
    fn evaluate(&mut self) -> Result<f64, Error> {
        GridProblem::evaluate(self)
    }

    fn evaluate_silently(&mut self) -> Result<Trial, Error> {
        self.session().outputs().begin_trial();
        let norm = GridProblem::evaluate(self);
        let held_back = self.session().outputs().end_trial();
        Ok(Trial { norm: norm?, held_back })
    }

    fn shorten(&mut self, length: f64) -> Result<(), Error> {
        if let Some((base, correction)) = self.state_mut().last.take() {
            self.advance_from(&base, &correction, length)?;
            self.state_mut().last = Some((base, correction));
        }
        Ok(())
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        GridProblem::correct(self)
    }

    fn worst(&mut self, count: usize) -> Result<Vec<Entry>, Error> {
        let residuals = residuals(self)?;
        let rank = self.session().rank().cloned();
        let number = rank.as_ref().map_or(RankId(0), |rank| rank.rank());
        let own = session::largest(self.session().grid(), number, &residuals, count);
        match rank {
            Some(rank) => session::largest_of_all(&rank, &residuals, own, count),
            None => Ok(own),
        }
    }

    fn ranges(&mut self) -> Result<Vec<Range>, Error> {
        let (line, extremes) = (self.state().line, self.extremes()?);
        Ok(session::ranges(self.session(), line, &extremes))
    }

    fn equation_norms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(self.state().norms.clone())
    }

    fn judged_norms(&mut self) -> Result<Vec<f64>, Error> {
        let plain = self.state().norms.clone();
        match self.state().cache.rows().clone() {
            Rows::Even => Ok(plain),
            Rows::Weighed(scales) => Ok([plain, self.scaled_norms(&scales)?].concat()),
            Rows::Scaled(scales) => self.scaled_norms(&scales),
        }
    }

    fn judged_norm(&mut self, norm: f64) -> Result<f64, Error> {
        match self.state().cache.rows().clone() {
            Rows::Weighed(scales) | Rows::Scaled(scales) if norm.is_finite() => {
                Ok(self.scaled_norms(&scales)?.into_iter().map(|norm| norm * norm).sum::<f64>().sqrt())
            }
            Rows::Even | Rows::Weighed(_) | Rows::Scaled(_) => Ok(norm),
        }
    }

    fn correction_sizes(&mut self) -> Result<Vec<Size>, Error> {
        Ok(self.state().sizes.clone())
    }

    fn terms(&mut self) -> Result<Vec<f64>, Error> {
        match self.state().cache.rows().clone() {
            Rows::Even => GridProblem::terms(self, None),
            Rows::Weighed(scales) => Ok([GridProblem::terms(self, None)?, GridProblem::terms(self, Some(&scales))?].concat()),
            Rows::Scaled(scales) => GridProblem::terms(self, Some(&scales)),
        }
    }

    fn neglect(&mut self, part: f64) {
        self.state_mut().linear.negligible = part;
    }

    fn pursue(&mut self, pursuit: Pursuit) {
        self.state_mut().linear.pursuit = pursuit;
    }

    fn linearity(&mut self) -> Option<&mut Linearity> {
        Some(&mut self.state_mut().linearity)
    }

    fn at_bounds(&mut self) -> Result<Option<[usize; 2]>, Error> {
        let is_single = is_single(&self.state().linear);
        let mut counts = [0, 0];
        for (number, Bounds { least, greatest }) in self.state().bounds.clone() {
            let unknown = self.state().iterate[number].clone();
            let values = self.host_values(&unknown)?;
            let [least, greatest] = [least, greatest].map(|bound| if is_single { f64::from(bound as f32) } else { bound });
            let rank = self.session().rank().map_or(RankId(0), |rank| rank.rank());
            let is_own = |&(position, _): &(usize, &f64)| unknown.domain().is_owned_by(rank, position);
            let own: Vec<f64> = values.iter().enumerate().filter(is_own).map(|(_, value)| *value).collect();
            counts[0] += own.iter().filter(|value| **value == least || **value == greatest).count();
            counts[1] += own.len();
        }
        if let Some(rank) = self.session().rank() {
            let lists = rank.lists(&counts.map(|count| count as u64))?;
            counts = [0, 1].map(|which| lists.iter().filter_map(|list| list.get(which)).sum::<u64>() as usize);
        }
        Ok(Some(counts))
    }

    fn bound(&mut self, bounds: &[(usize, Bounds)]) -> Result<(), Error> {
        self.state_mut().bounds = bounds.to_vec();
        Ok(())
    }

    fn loosen(&mut self, tolerance: f64) {
        let state = self.state_mut();
        state.linear.tolerance = tolerance.max(state.tolerance);
    }

    fn equations(&self) -> usize {
        self.state().iterate.len()
    }

    fn print(&mut self, line: &str) -> Result<(), Error> {
        self.session().outputs().print_line(line)
    }

    fn warn(&mut self, text: &str) {
        let line = self.state().line;
        session::warn(self.session(), line, text);
    }

    fn fixed_sum(&mut self) -> Option<(usize, f64)> {
        // No rank has the whole matrix.
        if self.session().rank().is_some() {
            return None;
        }
        // The failure that is being told takes precedence over one of a copy.
        let (matrix, residuals) = (self.host_matrix().ok()?, residuals(self).ok()?);
        let sizes: Vec<usize> = residuals.iter().map(|(domain, _)| domain.len()).collect();
        let all: Vec<f64> = residuals.into_iter().flat_map(|(_, values)| values).collect();
        balance::fixed_sum(&matrix, &sizes, &all)
    }

    fn constant_tables(&mut self) -> Vec<ConstantTable> {
        self.session().inputs().constant_tables().to_vec()
    }

    fn dump(&mut self, initial: bool) -> Result<(), Error> {
        let iterate = self.state().iterate.clone();
        let iterate = iterate.iter().map(|unknown| self.host_values(unknown)).collect::<Result<Vec<_>, _>>()?;
        let fields: Vec<_> = residuals(self)?.into_iter().zip(iterate).map(|((domain, residual), u)| (domain, u, residual)).collect();
        if is_single(&self.state().linear) {
            session::dump::<f32>(self.session(), initial, &fields)
        } else {
            session::dump::<f64>(self.session(), initial, &fields)
        }
    }

    fn check_interrupt(&mut self) -> Result<(), Error> {
        self.session().check_interrupt()
    }

    fn ended(&mut self, history: &History, ending: SolveOutcome) {
        let line = self.state().line;
        self.session().solves().ended(line, history, ending);
        // On ranks a failure leaves no state, and no rank has the whole matrix.
        if self.session().rank().is_some() {
            return;
        }
        if history.is_kept {
            // Whatever failed before, another attempt has gone on.
            self.session().solves().drop_failed();
        } else if self.session().checkpoints().leaves_failure()
            && self.state().is_square()
            && let Ok(fields) = failed_fields(self)
        {
            self.session().solves().keep_failed(line, history, fields);
        }
        if ending == SolveOutcome::Converged || !dump::is_wanted(self.session()) || !self.state().is_square() {
            return;
        }
        let (residuals, matrix) = match residuals(self) {
            Ok(residuals) => (residuals, self.host_matrix()),
            Err(error) => (Vec::new(), Err(error)),
        };
        dump::failure(self.session(), line, &residuals, matrix);
    }
}

/// True if collections are in single precision.
fn is_single(linear: &LinearOptions) -> bool {
    linear.rounding > f64::EPSILON
}
