//! Newton's method on ranks: the nonlinear problem with the rows of a rank's own unknowns.
//!
//! Each rank has the values of all elements here. Unknowns are exchanged to all layers of the halo
//! after each change, so that the next evaluation needs no message for derivatives. Norms, sizes
//! and counts are those of all ranks, so that all take the same decisions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::linalg::ranks::{RankMatrix, RankSpace};
use equelle_runtime::linalg::space::host::{HostSpace, norm};
use equelle_runtime::linalg::{self, Csr, HostMatrix};
use equelle_runtime::newton::{self, Correction, GridProblem, ProblemState, Size, Update};
use equelle_runtime::ranks::{RankContext, RankUnknowns};
use equelle_runtime::{Error, Real, Reduction, Residual, Session};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::jacobian::Jacobian;
use super::newton_evaluation::evaluate;
use super::rank_systems::{RankPattern, RankSolvers};

/// Drops what solvers keep between solves on ranks.
pub(super) fn forget_solvers<R: Real>(rt: &mut SerialRuntime<R>) {
    rt.solvers.on_ranks = RankSolvers::default();
}

/// Solves `residual(u) = 0` from the guesses, together with the other ranks.
pub(super) fn newton_on_ranks<R: Real>(
    rt: &mut SerialRuntime<R>,
    rank: Arc<RankContext>,
    guesses: &[ScalarCollection<R>],
    residual: &mut Residual<'_, SerialRuntime<R>>,
) -> Result<Vec<ScalarCollection<R>>, Error> {
    let line = rt.current_line();
    let (options, linear) = rt.solvers.on_ranks.caches.options(&mut rt.session, R::EPSILON)?;
    let iterate = guesses.iter().map(|guess| rt.without_derivatives(guess)).collect();
    let state = rt.solvers.on_ranks.caches.begin(line, (&options, linear), iterate);
    let domains: Vec<Arc<Domain>> = state.iterate.iter().map(|unknown: &ScalarCollection<R>| Arc::clone(&unknown.domain)).collect();
    let is_known = state.patterns.as_ref().is_some_and(|known| known.unknowns().are_on(&domains));
    // All ranks make them together.
    let is_new = rank.any(!is_known)?;
    let unknowns = match &state.patterns {
        Some(known) if !is_new => Rc::clone(known.unknowns()),
        Some(_) | None => Rc::new(RankUnknowns::new(&rank, domains)?),
    };
    let mut problem = RankProblem { rt, rank, residual, state, unknowns, identities: Vec::new(), has_failed: false };
    let outcome = problem.exchange_guesses().and_then(|()| newton::solve(&mut problem, &options));
    let RankProblem { rt, state, .. } = problem;
    let iterate = rt.solvers.on_ranks.caches.end(state);
    rt.session.line(line);
    outcome.map_err(|error| error.at(line))?;
    Ok(iterate)
}

/// The state of a solve; corrections are of own unknowns.
type State<R> = ProblemState<ScalarCollection<R>, Vec<f64>, RankSpace<HostSpace>, Option<RankPattern>>;

struct RankProblem<'a, 'b, R: Real> {
    rt: &'a mut SerialRuntime<R>,
    rank: Arc<RankContext>,
    residual: &'a mut Residual<'b, SerialRuntime<R>>,
    state: State<R>,
    unknowns: Rc<RankUnknowns>,
    /// Derivatives of the unknowns with respect to themselves. `[equations]`
    identities: Vec<Rc<Jacobian<R>>>,
    /// True if an evaluation has failed, which may have been on this rank alone: then nothing is
    /// sent.
    has_failed: bool,
}

impl<R: Real> RankProblem<'_, '_, R> {
    /// Brings the guesses of all elements here from their owners.
    fn exchange_guesses(&mut self) -> Result<(), Error> {
        for number in 0..self.state.iterate.len() {
            let guess = self.state.iterate[number].clone();
            let values = self.rt.values_of(&guess);
            let mut new = self.rt.take_buffer(values.len());
            new.copy_from_slice(&values);
            self.unknowns.exchange(&self.rank, number, &mut new[..])?;
            self.state.iterate[number] = self.rt.scalar_collection_from(&guess.domain, new);
        }
        Ok(())
    }

    /// The rows of this rank of the Jacobian of all equations. Their derivatives stay, for a solve
    /// that is tried again.
    fn matrix(&mut self) -> Result<RankMatrix<HostMatrix>, Error> {
        let equations: Vec<Option<Rc<Jacobian<R>>>> = self.state.equations.iter().map(|equation| equation.jacobian.clone()).collect();
        let is_known = self.state.patterns.as_ref().is_some_and(|known| known.is_for(&equations, &self.unknowns));
        if self.rank.any(!is_known)? {
            self.state.patterns = Some(RankPattern::new(&self.rank, &self.unknowns, &equations)?);
        }
        let pattern = self.state.patterns.as_ref().ok_or_else(|| Error::internal("a pattern is there once it is made"))?;
        pattern.matrix(&equations)
    }

    /// The numbers of all ranks, in their order.
    fn gathered(&self, own: f64) -> Result<Vec<f64>, Error> {
        Ok(self.rank.lists(&[own])?.concat())
    }

    /// The Euclidean norm over all ranks of what has this norm here.
    fn norm_of_all(&self, own: f64) -> Result<f64, Error> {
        Ok(norm(&self.gathered(own)?))
    }

    /// The largest number of all ranks; NaN if one is.
    fn largest_of_all(&self, own: f64) -> Result<f64, Error> {
        Ok(self.gathered(own)?.into_iter().fold(0.0, |largest, number| if number > largest || number.is_nan() { number } else { largest }))
    }

    /// The norm of each equation whose own entries are told. `[equations]`
    fn norms(&self, entries: impl Fn(usize) -> Vec<f64>) -> Result<Vec<f64>, Error> {
        (0..self.state.equations.len()).map(|number| self.norm_of_all(norm(&entries(number)))).collect()
    }

    /// Sets the iterate to `base`, or to itself, plus this part of a correction of own unknowns,
    /// clipped to the bounds, and exchanges it; returns the size of the unknowns and the number of
    /// values at bounds, of all ranks.
    fn advance(&mut self, base: Option<&[ScalarCollection<R>]>, du: &[f64], length: f64) -> Result<Update, Error> {
        let mut update = Update::default();
        let (mut at_bounds, mut begin) = (0, 0);
        for (number, &end) in self.unknowns.ends().iter().enumerate() {
            let values = base.unwrap_or(&self.state.iterate)[number].clone();
            let bounds = self.state.bounds_of(number);
            let (own, du) = (self.unknowns.own(number), &du[begin..end]);
            begin = end;
            let old = self.rt.values_of(&values);
            let mut new = self.rt.take_buffer(old.len());
            new.copy_from_slice(&old);
            let (mut square, mut unknown) = (0.0, 0.0_f64);
            for (&position, du) in own.iter().zip(du) {
                let value = &mut new[position as usize];
                *value = R::from_f64(value.to_f64() - length * du);
                if let Some(bounds) = bounds {
                    let (bounded, is_at_bound) = bounds.nearest(value.to_f64());
                    at_bounds += usize::from(is_at_bound);
                    *value = R::from_f64(bounded);
                }
                let value: f64 = value.to_f64();
                square += value * value;
                unknown = if value.abs() > unknown || value.is_nan() { value.abs() } else { unknown };
            }
            if self.state.tells_updates {
                update.unknowns += self.gathered(square)?.into_iter().sum::<f64>();
            }
            if base.is_none() {
                let correction = du.iter().fold(0.0, |largest: f64, du| if du.abs() > largest || du.is_nan() { du.abs() } else { largest });
                let size = Size { correction: self.largest_of_all(correction)?, unknown: self.largest_of_all(unknown)? };
                self.state.sizes.push(size);
            }
            self.unknowns.exchange(&self.rank, number, &mut new[..])?;
            self.state.iterate[number] = self.rt.scalar_collection_from(&values.domain, new);
        }
        update.unknowns = update.unknowns.sqrt();
        update.at_bounds = self.gathered(at_bounds as f64)?.into_iter().sum::<f64>() as usize;
        Ok(update)
    }

    /// Own values of a collection of an unknown's domain.
    fn own_values(&self, number: usize, values: &ScalarCollection<R>) -> Vec<f64> {
        let values = self.rt.values_of(values);
        self.unknowns.own(number).iter().map(|&position| values[position as usize].to_f64()).collect()
    }

    /// Own rows of an equation times what a vector of all rows has there.
    fn scale(&self, number: usize, mut entries: Vec<f64>, scales: &[f64]) -> Vec<f64> {
        let end = self.unknowns.ends()[number];
        entries.iter_mut().zip(&scales[end - self.unknowns.own(number).len()..end]).for_each(|(entry, scale)| *entry *= scale);
        entries
    }
}

impl<R: Real> GridProblem for RankProblem<'_, '_, R> {
    type Field = ScalarCollection<R>;
    type Correction = Vec<f64>;
    type Space = RankSpace<HostSpace>;
    type Patterns = Option<RankPattern>;

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
        let norm = evaluate(self.rt, self.residual, &mut self.state, &mut self.identities);
        self.has_failed |= norm.is_err();
        norm
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        let matrix = self.matrix()?;
        let (ends, threads) = (self.unknowns.ends(), &self.state.linear.threads);
        let total = ends.last().copied().unwrap_or(0);
        let interrupt = self.rt.session.interrupt();
        let rank = &self.rank;
        let space = self.rt.solvers.on_ranks.space.take();
        let mut space = space.unwrap_or_else(|| RankSpace::new(HostSpace::on(threads, total).interruptible(interrupt), Arc::clone(rank)));
        let mut rhs = Vec::with_capacity(total);
        for (number, equation) in self.state.equations.iter().enumerate() {
            rhs.extend(self.own_values(number, equation));
        }
        let solution = linalg::ranks::solve_on_ranks(&mut space, &matrix, ends, rhs, &self.state.linear, &mut self.state.cache);
        self.rt.solvers.on_ranks.space = Some(space);
        self.rt.session.linear_solve_ended(self.state.line, self.state.cache.take_traffic());
        let solution = solution??;
        let base = self.state.search.then(|| self.state.iterate.clone());
        self.state.sizes.clear();
        let update = self.advance(None, &solution.x, 1.0)?;
        let norm = if self.state.tells_updates { self.norm_of_all(norm(&solution.x))? } else { 0.0 };
        let update = Update { norm, ..update };
        let correction = Correction::new(&solution, Some(update), self.state.cache.take_set_up_time());
        self.state.last = base.map(|base| (base, solution.x));
        Ok(correction)
    }

    fn extremes(&mut self) -> Result<Vec<Option<[f64; 2]>>, Error> {
        if self.has_failed {
            return Ok(vec![None; self.state.iterate.len()]);
        }
        let mut extremes = Vec::with_capacity(self.state.iterate.len());
        for unknown in &self.state.iterate {
            let values = self.rt.values_of(unknown);
            let reduced = |reduction| self.rank.reduce(reduction, &unknown.domain, &values);
            extremes.push(reduced(Reduction::Min)?.zip(reduced(Reduction::Max)?).map(<[f64; 2]>::from));
        }
        Ok(extremes)
    }

    fn advance_from(&mut self, base: &[ScalarCollection<R>], correction: &Vec<f64>, length: f64) -> Result<(), Error> {
        self.advance(Some(base), correction, length).map(|_| ())
    }

    fn scaled_norms(&mut self, scales: &Vec<f64>) -> Result<Vec<f64>, Error> {
        self.norms(|number| self.scale(number, self.own_values(number, &self.state.equations[number]), scales))
    }

    fn terms(&mut self, scales: Option<&Vec<f64>>) -> Result<Vec<f64>, Error> {
        let mut unknowns = Vec::with_capacity(self.state.total());
        for unknown in &self.state.iterate {
            unknowns.extend(self.rt.values_of(unknown).iter().map(|u| u.to_f64().abs()));
        }
        self.norms(|number| {
            let Some(jacobian) = self.state.equations[number].jacobian() else { return Vec::new() };
            let term = |&row: &u32| {
                let (columns, values) = jacobian.row(row as usize);
                columns.iter().zip(values).map(|(&column, &value)| value.to_f64().abs() * unknowns[column as usize]).sum()
            };
            let terms: Vec<f64> = self.unknowns.own(number).iter().map(term).collect();
            match scales {
                Some(scales) => self.scale(number, terms, scales),
                None => terms,
            }
        })
    }

    fn host_values(&mut self, values: &ScalarCollection<R>) -> Result<Vec<f64>, Error> {
        Ok(R::slice_to_f64(&self.rt.values_of(values)))
    }

    fn host_matrix(&mut self) -> Result<Csr, Error> {
        Err(Error::internal("no rank has the matrix of all"))
    }
}
