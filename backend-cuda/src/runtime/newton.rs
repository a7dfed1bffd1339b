//! Newton's method on the device: residual and Jacobian by the kernels of the program, linear systems by the front door of [`equelle_runtime::linalg`] with the runtime as
//! their space. Where a direct factorisation runs is told in a note.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::linalg::{LinearCache, LinearOptions, Method, Solution, SystemSpace, solve_in};
use equelle_runtime::newton::{self, Bounds, Correction, Ending, Entry, History, Problem, Size, Trial, Update};
use equelle_runtime::{BinaryMath, EquelleRuntime, Error, ErrorKind, Implicit, Operations, Real, Residual, Session};

use crate::runtime::collections::{Collection, Derivatives, Scalar, VectorCollection};
use crate::runtime::device::DevicePtr;
use crate::runtime::jacobian::Jacobian;
use crate::runtime::krylov::DeviceVector;
use crate::runtime::matrices::DeviceMatrix;
use crate::runtime::pool::Buffer;
use crate::runtime::precision::{Precision, doubles};
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::{Rows, fault};

/// What Newton's method keeps between solves.
#[derive(Default)]
pub(super) struct Newton {
    /// The parameters, once they have been read.
    options: Option<(newton::Options, LinearOptions)>,
    /// Of the linear solver, by Equelle line.
    caches: BTreeMap<u32, LinearCache<CudaRuntime>>,
    /// The last pattern of a whole matrix, by Equelle line.
    assembled: BTreeMap<u32, Assembled>,
    /// The last patterns of the equations, by Equelle line.
    patterns: BTreeMap<u32, Vec<Rc<Rows>>>,
}

/// The pattern of the matrix of a system of equations.
struct Assembled {
    /// The patterns of its equations.
    parts: Vec<Rc<Rows>>,
    rows: Rc<Rows>,
}

impl CudaRuntime {
    /// The parameters of Newton's method and of linear solvers; read once.
    fn newton_options(&mut self) -> Result<(newton::Options, LinearOptions), Error> {
        if let Some(options) = &self.newton.options {
            return Ok(options.clone());
        }
        let options = match self.precision {
            Precision::Double => newton::session::options::<f64>(&mut self.session)?,
            Precision::Single => newton::session::options::<f32>(&mut self.session)?,
        };
        self.newton.options = Some(options.clone());
        Ok(options)
    }

    /// One value per element, without derivatives.
    fn constant_values(&mut self, values: &Collection) -> Result<Collection, Error> {
        self.plain(values)
    }
}

impl Implicit for CudaRuntime {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn read_scalar(&mut self, value: &Scalar) -> Result<f64, Error> {
        self.number(value)
    }

    fn newton(&mut self, guesses: &[Collection], residual: &mut Residual<'_, Self>) -> Result<Vec<Collection>, Error> {
        let line = self.session.current_line();
        let (options, linear) = self.newton_options().map_err(|error| error.at(line))?;
        let options = newton::session::of_solve(&self.session, options, line);
        let mut ends = Vec::with_capacity(guesses.len());
        let mut total = 0;
        for guess in guesses {
            total += guess.domain.len();
            ends.push(total);
        }
        let iterate = guesses.iter().map(|guess| self.constant_values(guess)).collect::<Result<_, _>>()?;
        let (cache, assembled) = (self.newton.caches.remove(&line).unwrap_or_default(), self.newton.assembled.remove(&line));
        let patterns = self.newton.patterns.remove(&line).unwrap_or_default();
        let mut problem = CudaProblem {
            iterate,
            rt: self,
            residual,
            ends,
            equations: Vec::new(),
            line,
            tolerance: linear.tolerance,
            linear,
            cache,
            assembled,
            patterns,
            search: options.line_search,
            bounds: Vec::new(),
            extremes: Vec::new(),
            norms: Vec::new(),
            corrections: Vec::new(),
            sizes: Vec::new(),
            tells_updates: options.update_tol > 0.0,
            last: None,
        };
        let outcome = newton::solve(&mut problem, &options);
        let CudaProblem { iterate, cache, assembled, patterns, .. } = problem;
        self.newton.caches.insert(line, cache);
        self.newton.patterns.insert(line, patterns);
        self.newton.assembled.extend(assembled.map(|assembled| (line, assembled)));
        self.session.line(line);
        outcome.map_err(|error| error.at(line))?;
        Ok(iterate)
    }

    fn without_derivatives(&mut self, values: &Collection) -> Collection {
        Collection { derivatives: None, ..values.clone() }
    }

    fn vectors_without_derivatives(&mut self, values: &VectorCollection) -> VectorCollection {
        VectorCollection::constant(values.values.clone())
    }
}

struct CudaProblem<'a, 'b> {
    rt: &'a mut CudaRuntime,
    residual: &'a mut Residual<'b, CudaRuntime>,
    iterate: Vec<Collection>,
    /// Where the unknowns of each equation end. `[equations]`
    ends: Vec<usize>,
    /// The residual at the iterate, with derivatives. `[equations]`
    equations: Vec<Collection>,
    /// Equelle line of the solve.
    line: u32,
    linear: LinearOptions,
    /// That the linear solver was asked for, if a looser one is not enough.
    tolerance: f64,
    cache: LinearCache<CudaRuntime>,
    assembled: Option<Assembled>,
    /// The pattern of the last evaluation. `[equations]`
    patterns: Vec<Rc<Rows>>,
    /// Whether corrections may be shortened.
    search: bool,
    /// Values that unknowns may take, of those that have bounds.
    bounds: Vec<(usize, Bounds)>,
    /// Least and greatest value of each unknown at the last evaluation; `None` of one without elements. `[equations]`
    extremes: Vec<Option<[f64; 2]>>,
    /// Norm of each equation at the last evaluation. `[equations]`
    norms: Vec<f64>,
    /// Largest magnitude of the last correction of each unknown, on the device until the next evaluation. `[equations]`
    corrections: Vec<Rc<Buffer>>,
    /// How large the last correction of each unknown was. `[equations]`
    sizes: Vec<Size>,
    /// Whether the size of corrections is asked for.
    tells_updates: bool,
    /// The iterate before the last correction, and that correction, if it may be shortened.
    last: Option<(Vec<Collection>, Rc<Buffer>)>,
}

impl CudaProblem<'_, '_> {
    fn total(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Every equation must be one for its unknown, and depend on some unknown.
    fn check_equations(&self) -> Result<(), Error> {
        if self.equations.len() != self.iterate.len() {
            let (found, wanted) = (self.equations.len(), self.iterate.len());
            return Err(fault(&format!("{found} equations for {wanted} unknowns")));
        }
        for (number, (equation, unknown)) in self.equations.iter().zip(&self.iterate).enumerate() {
            if equation.domain.len() != unknown.domain.len() {
                return Err(fault(&format!("{} values of an equation for {}", equation.domain.len(), unknown.domain.len())));
            }
            if equation.derivatives.is_none() && !equation.domain.is_empty() {
                return Err(newton::session::determines_nothing(number, self.iterate.len()));
            }
        }
        Ok(())
    }

    /// Gives every equation its rows of the Jacobian, in the memory of the last evaluation's pattern where that is the same.
    fn settle_rows(&mut self) -> Result<(), Error> {
        let mut patterns = Vec::with_capacity(self.equations.len());
        for number in 0..self.equations.len() {
            let Some(mut jacobian) = self.rt.jacobian_of(&self.equations[number])? else { continue };
            if let Some(old) = self.patterns.get(number) {
                jacobian.rows = self.rt.same_pattern(old, &jacobian.rows)?;
            }
            patterns.push(Rc::clone(&jacobian.rows));
            self.equations[number].derivatives = Some(Rc::new(Derivatives::from(jacobian)));
        }
        self.patterns = patterns;
        Ok(())
    }

    /// The Jacobian of all equations by all unknowns, in double precision. The rows of one equation are the matrix, nothing is copied unless entries are singles; of a system their
    /// entries are copied behind one another.
    fn matrix(&mut self) -> Result<DeviceMatrix, Error> {
        let mut equations = Vec::with_capacity(self.equations.len());
        for number in 0..self.equations.len() {
            equations.extend(self.rt.jacobian_of(&self.equations[number])?);
        }
        if let [only] = &equations[..] {
            let entries = self.rt.doubles_of(&only.entries, only.rows.entries())?;
            return Ok(DeviceMatrix::new(Rc::clone(&only.rows), entries));
        }
        let same = |known: &Assembled| {
            known.parts.len() == equations.len() && known.parts.iter().zip(&equations).all(|(a, b)| Rc::ptr_eq(a, &b.rows))
        };
        let rows = match self.assembled.as_ref().filter(|known| same(known)) {
            Some(known) => Rc::clone(&known.rows),
            None => {
                let rows = Rc::new(self.assemble(&equations)?);
                let parts = equations.iter().map(|equation| Rc::clone(&equation.rows)).collect();
                self.assembled = Some(Assembled { parts, rows: Rc::clone(&rows) });
                rows
            }
        };
        let entries = self.rt.buffer("the Jacobian", 8 * rows.entries() as u64)?;
        let mut at = entries.address().0;
        for equation in &equations {
            let len = equation.rows.entries();
            self.rt.write_doubles(equation.entries.address(), len, DevicePtr(at))?;
            at += 8 * len as u64;
        }
        Ok(DeviceMatrix::new(rows, entries))
    }

    /// The rows of equations, one after the other.
    fn assemble(&mut self, equations: &[Jacobian]) -> Result<Rows, Error> {
        let total = self.total();
        let entries = equations.iter().map(|equation| equation.rows.entries()).sum();
        let row_ptr = self.rt.upload("rows of the Jacobian", &vec![0; 8 * (total + 1)])?;
        let columns = self.rt.buffer("columns of the Jacobian", 4 * entries as u64)?;
        let (mut row, mut before) = (0, 0);
        for equation in equations {
            let len = equation.rows.len();
            let call = self.rt.solver_call("equelle_append_rows")?.arg(len as u32).arg(before as u64);
            let call = call.arg(equation.rows.args(&equation.entries)).arg(DevicePtr(row_ptr.address().0 + 8 * row as u64));
            self.rt.launch_over(call.arg(columns.address()), len)?;
            row += len;
            before += equation.rows.entries();
        }
        Ok(Rows::on_device(row_ptr, columns, total, entries, total))
    }

    /// The residuals of all equations one after the other, on the device.
    fn right_hand_side(&mut self) -> Result<DeviceVector, Error> {
        let b = self.rt.new_vector_of(self.total())?;
        for number in 0..self.equations.len() {
            let (from, len) = (self.equations[number].pointer(), self.equations[number].domain.len());
            let to = DevicePtr(b.address().0 + 8 * (self.ends[number] - len) as u64);
            self.rt.write_doubles(from, len, to)?;
        }
        Ok(b)
    }

    /// Takes a correction from the iterate; how large it is, if that is asked for.
    fn subtract(&mut self, du: &Rc<Buffer>) -> Result<Option<Update>, Error> {
        let base = (self.search || self.tells_updates).then(|| self.iterate.clone());
        self.corrections.clear();
        for (unknown, &end) in self.iterate.iter().zip(&self.ends) {
            let len = unknown.domain.len();
            let largest = self.rt.largest_at(DevicePtr(du.address().0 + 8 * (end - len) as u64), len, false);
            self.corrections.push(largest.ok_or_else(|| fault("a number that was not computed"))?);
        }
        self.advance(None, du, 1.0)?;
        let Some(base) = base else { return Ok(None) };
        let update = if self.tells_updates { Some(self.update(&base, du)?) } else { None };
        if self.search {
            self.last = Some((base, Rc::clone(du)));
        }
        Ok(update)
    }

    /// How large a correction from `base` to the iterate is. What stopped at bounds is counted on the host.
    fn update(&mut self, base: &[Collection], du: &Rc<Buffer>) -> Result<Update, Error> {
        let mut squares = vec![self.rt.new_number()?];
        self.rt.dot_into(self.total(), du.address(), du.address(), squares[0].address())?;
        for unknown in self.iterate.clone() {
            let (len, square) = (unknown.domain.len(), self.rt.new_number()?);
            let values = self.rt.doubles_of(&unknown.buffer, len)?;
            self.rt.dot_into(len, values.address(), values.address(), square.address())?;
            squares.push(square);
        }
        let addresses: Vec<DevicePtr> = squares.iter().map(|square| square.address()).collect();
        let squares = self.rt.read_numbers(&addresses)?;
        let mut at_bounds = 0;
        for &(number, Bounds { least, greatest }) in &self.bounds {
            let (len, end) = (base[number].domain.len(), self.ends[number]);
            let before = self.rt.download_reals(base[number].pointer(), len)?;
            let du = doubles(&self.rt.download(DevicePtr(du.address().0 + 8 * (end - len) as u64), 8 * len)?);
            let wanted = before.iter().zip(&du).map(|(value, du)| value - du);
            at_bounds += wanted.filter(|wanted| *wanted < least || *wanted > greatest).count();
        }
        let unknowns = squares[1..].iter().sum::<f64>().sqrt();
        Ok(Update { norm: squares[0].sqrt(), unknowns, at_bounds, shortened: false })
    }

    /// Goes from `base`, or from the iterate, by this part of a correction, as far as bounds allow.
    fn advance(&mut self, base: Option<&[Collection]>, du: &Rc<Buffer>, length: f64) -> Result<(), Error> {
        for number in 0..self.ends.len() {
            let end = self.ends[number];
            let values = base.unwrap_or(&self.iterate)[number].clone();
            let len = values.domain.len();
            let new = self.rt.new_collection(&values.domain)?;
            let from = DevicePtr(du.address().0 + 8 * (end - len) as u64);
            let call = self.rt.collection_call("equelle_subtract")?.arg(len as u32).arg(values.pointer());
            let call = call.arg(length).arg(from).arg(new.pointer());
            self.rt.launch_over(call, len)?;
            self.iterate[number] = self.bounded(number, new)?;
        }
        Ok(())
    }

    /// Values of an unknown where its bounds allow them, and else the bounds. NaN stays, for the next evaluation to tell.
    fn bounded(&mut self, number: usize, mut values: Collection) -> Result<Collection, Error> {
        let Some(&(_, Bounds { least, greatest })) = self.bounds.iter().find(|(unknown, _)| *unknown == number) else { return Ok(values) };
        for (function, bound) in [(BinaryMath::Max, least), (BinaryMath::Min, greatest)] {
            if bound.is_finite() {
                let bound = self.rt.scalar(bound);
                values = self.rt.math_scalar(function, &values, &bound)?;
            }
        }
        Ok(values)
    }

    /// Least and greatest value of each unknown, two numbers on the device; `None` of one without elements. `[equations]`
    fn queue_extremes(&mut self) -> Result<Vec<Option<Rc<Buffer>>>, Error> {
        let mut extremes = Vec::with_capacity(self.iterate.len());
        for unknown in &self.iterate {
            extremes.push(if unknown.domain.is_empty() { None } else { Some(self.rt.extremes(unknown.domain.len(), unknown.pointer())?) });
        }
        Ok(extremes)
    }

    fn residual_values(&mut self, equation: usize) -> Result<Vec<f64>, Error> {
        let (from, len) = (self.equations[equation].pointer(), self.equations[equation].domain.len());
        self.rt.download_reals(from, len)
    }
}

impl Problem for CudaProblem<'_, '_> {
    fn evaluate(&mut self) -> Result<f64, Error> {
        let n_cols = self.total();
        let unknown = |(values, end): (&Collection, &usize)| {
            let derivatives = Derivatives::Unknown { first: end - values.domain.len(), n_cols, identity: OnceCell::new() };
            Collection { derivatives: Some(Rc::new(derivatives)), ..values.clone() }
        };
        let unknowns: Vec<Collection> = self.iterate.iter().zip(&self.ends).map(unknown).collect();
        self.equations = (self.residual)(self.rt, &unknowns)?;
        self.rt.line(self.line);
        if let Some(line) = self.rt.derivatives_lost.take() {
            let message = "a kernel inside a residual reads an unknown, and kernels pass on no derivatives";
            return Err(Error::new(ErrorKind::Backend, message).at(line));
        }
        self.check_equations()?;
        self.settle_rows()?;
        let mut squares = Vec::with_capacity(self.equations.len());
        for equation in &self.equations {
            let square = self.rt.new_number()?;
            let residual = self.rt.doubles_of(&equation.buffer, equation.domain.len())?;
            self.rt.dot_into(equation.domain.len(), residual.address(), residual.address(), square.address())?;
            squares.push(square);
        }
        // What unknowns are like comes to the host in the same copy: nothing else waits for it.
        let extremes = self.queue_extremes()?;
        let both = |extremes: &Rc<Buffer>| [extremes.address(), DevicePtr(extremes.address().0 + 8)];
        let corrections = std::mem::take(&mut self.corrections);
        let numbers = squares.iter().map(|square| square.address()).chain(corrections.iter().map(|number| number.address()));
        let numbers: Vec<DevicePtr> = numbers.chain(extremes.iter().flatten().flat_map(both)).collect();
        let numbers = self.rt.read_numbers(&numbers)?;
        let (squares, values) = numbers.split_at(squares.len());
        let (corrections, values) = values.split_at(corrections.len());
        let mut values = values.as_chunks::<2>().0.iter();
        self.extremes = extremes.iter().map(|unknown| unknown.as_ref().and_then(|_| values.next().copied())).collect();
        if !corrections.is_empty() {
            let magnitude = |extremes: &Option<[f64; 2]>| extremes.map_or(0.0, |[least, greatest]| least.abs().max(greatest.abs()));
            let size = |(&correction, extremes)| Size { correction, unknown: magnitude(extremes) };
            self.sizes = corrections.iter().zip(&self.extremes).map(size).collect();
        }
        self.rt.check_flag()?;
        self.norms = squares.iter().map(|square| square.sqrt()).collect();
        Ok(squares.iter().sum::<f64>().sqrt())
    }

    fn evaluate_silently(&mut self) -> Result<Trial, Error> {
        self.rt.session.begin_trial();
        let norm = self.evaluate();
        let held_back = self.rt.session.end_trial();
        Ok(Trial { norm: norm?, held_back })
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        let matrix = self.matrix()?;
        let rhs = self.right_hand_side()?;
        let Solution { x, iterations, relative_residual, method, note, .. } =
            solve_in(self.rt, &matrix, &self.ends, rhs, &self.linear, &mut self.cache)??;
        let update = self.subtract(&x.buffer)?;
        let direct = (method == Method::Lu).then(|| self.cache.direct_note()).flatten();
        let note = match (direct, note) {
            (Some(direct), Some(note)) => Some(format!("{direct}; {note}")),
            (direct, note) => note.or(direct),
        };
        Ok(Correction {
            linear_iterations: (method != Method::Lu).then_some(iterations),
            relative_residual,
            note,
            update,
            set_up: self.cache.take_set_up_time(),
        })
    }

    fn ranges(&mut self) -> Result<Vec<newton::Range>, Error> {
        Ok(newton::session::ranges(&self.rt.session, self.line, &self.extremes))
    }

    fn equation_norms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(self.norms.clone())
    }

    fn correction_sizes(&mut self) -> Result<Vec<Size>, Error> {
        Ok(self.sizes.clone())
    }

    fn terms(&mut self) -> Result<Vec<f64>, Error> {
        let matrix = self.matrix()?;
        let (unknowns, terms) = (self.rt.new_vector_of(self.total())?, self.rt.new_vector_of(self.total())?);
        for (unknown, &end) in self.iterate.iter().zip(&self.ends) {
            let len = unknown.domain.len();
            self.rt.write_doubles(unknown.pointer(), len, DevicePtr(unknowns.address().0 + 8 * (end - len) as u64))?;
        }
        let call = self.rt.solver_call("equelle_row_terms")?.arg(self.total() as u32).arg(matrix.args());
        self.rt.launch_over(call.arg(unknowns.address()).arg(terms.address()), self.total())?;
        let mut squares = Vec::with_capacity(self.ends.len());
        for (unknown, &end) in self.iterate.iter().zip(&self.ends) {
            let (len, square) = (unknown.domain.len(), self.rt.new_number()?);
            let own = DevicePtr(terms.address().0 + 8 * (end - len) as u64);
            self.rt.dot_into(len, own, own, square.address())?;
            squares.push(square);
        }
        let squares: Vec<DevicePtr> = squares.iter().map(|square| square.address()).collect();
        Ok(self.rt.read_numbers(&squares)?.into_iter().map(f64::sqrt).collect())
    }

    fn neglect(&mut self, residual: f64) {
        self.linear.negligible = residual;
    }

    fn at_bounds(&mut self) -> Result<Option<[usize; 2]>, Error> {
        let mut counts = [0, 0];
        for (number, Bounds { least, greatest }) in self.bounds.clone() {
            let values = self.rt.download_reals(self.iterate[number].pointer(), self.iterate[number].domain.len())?;
            let [least, greatest] = [least, greatest].map(|bound| match self.rt.precision {
                Precision::Double => bound,
                Precision::Single => f64::from(bound as f32),
            });
            counts[0] += values.iter().filter(|value| **value == least || **value == greatest).count();
            counts[1] += values.len();
        }
        Ok(Some(counts))
    }

    fn shorten(&mut self, length: f64) -> Result<(), Error> {
        if let Some((base, du)) = self.last.take() {
            self.advance(Some(&base), &du, length)?;
            self.last = Some((base, du));
        }
        Ok(())
    }

    fn worst(&mut self, count: usize) -> Result<Vec<Entry>, Error> {
        let domains: Vec<_> = self.equations.iter().map(|residual| Arc::clone(&residual.domain)).collect();
        let values = (0..domains.len()).map(|equation| self.residual_values(equation)).collect::<Result<Vec<_>, _>>()?;
        let residuals: Vec<_> = domains.into_iter().zip(values).collect();
        Ok(newton::session::largest(self.rt.session.grid(), &residuals, count))
    }

    fn check_interrupt(&mut self) -> Result<(), Error> {
        self.rt.session.check_interrupt()
    }

    fn bound(&mut self, bounds: &[(usize, Bounds)]) -> Result<(), Error> {
        self.bounds = bounds.to_vec();
        Ok(())
    }

    fn loosen(&mut self, tolerance: f64) {
        self.linear.tolerance = tolerance.max(self.tolerance);
    }

    fn equations(&self) -> usize {
        self.iterate.len()
    }

    fn print(&mut self, line: &str) -> Result<(), Error> {
        self.rt.session.print_line(line)
    }

    fn warn(&mut self, text: &str) {
        newton::session::warn(&mut self.rt.session, self.line, text);
    }

    fn ended(&mut self, history: &History, ending: Ending) {
        self.rt.session.solve_ended(self.line, history, ending);
        if ending == Ending::Converged || !newton::dump::is_wanted(&self.rt.session) || self.equations.len() != self.iterate.len() {
            return;
        }
        let domains: Vec<_> = self.equations.iter().map(|residual| Arc::clone(&residual.domain)).collect();
        let values: Result<Vec<_>, Error> = (0..domains.len()).map(|equation| self.residual_values(equation)).collect();
        let (values, matrix) = match values {
            Ok(values) => {
                let matrix = self.matrix().and_then(|matrix| Ok(self.rt.host_matrix(&matrix)?.into_owned()));
                (values, matrix)
            }
            Err(error) => (Vec::new(), Err(error)),
        };
        let residuals: Vec<_> = domains.into_iter().zip(values).collect();
        newton::dump::failure(&mut self.rt.session, self.line, &residuals, matrix);
    }

    fn dump(&mut self, initial: bool) -> Result<(), Error> {
        let mut fields = Vec::with_capacity(self.ends.len());
        for number in 0..self.ends.len() {
            let domain = Arc::clone(&self.iterate[number].domain);
            let u = self.rt.download_reals(self.iterate[number].pointer(), domain.len())?;
            fields.push((domain, u, self.residual_values(number)?));
        }
        match self.rt.precision {
            Precision::Double => newton::session::dump(&mut self.rt.session, initial, &fields),
            Precision::Single => {
                let rounded = |(domain, u, r)| (domain, f32::vec_from_f64(u), f32::vec_from_f64(r));
                let fields: Vec<_> = fields.into_iter().map(rounded).collect();
                newton::session::dump(&mut self.rt.session, initial, &fields)
            }
        }
    }
}
