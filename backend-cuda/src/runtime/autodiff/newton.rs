//! Newton's method on the device: residual and Jacobian by the kernels of the program, linear
//! systems by the driver of [`equelle_runtime::linalg`] with the runtime as their space. A note
//! says where a direct factorisation runs.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::linalg::{Csr, MatrixSpace, Method, SystemSpace, solve_in};
use equelle_runtime::newton::{self, Bounds, Correction, Field, GridProblem, ProblemState, Size, Update};
use equelle_runtime::operations::BinaryOperations;
use equelle_runtime::{BinaryMath, EquelleRuntime, Error, ErrorKind, Implicit, Residual, Session};

use crate::runtime::autodiff::jacobian;
use crate::runtime::autodiff::newton_state::{Assembled, Patterns};
use crate::runtime::device::DevicePtr;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::csr::Jacobian;
use crate::runtime::linalg::space::{DeviceVector, Space};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Derivatives, Scalar, VectorCollection};

impl Implicit for CudaRuntime {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn read_scalar(&mut self, value: &Scalar) -> Result<f64, Error> {
        value.value(&self.executor)
    }

    fn newton(&mut self, guesses: &[Collection], residual: &mut Residual<'_, Self>) -> Result<Vec<Collection>, Error> {
        self.resolve_step()?;
        let line = self.session.current_line();
        let rounding = match self.executor.precision() {
            Precision::Double => f64::EPSILON,
            Precision::Single => f32::EPSILON.into(),
        };
        let (options, linear) = self.newton.options(&mut self.session, rounding)?;
        let iterate = guesses.iter().map(|guess| self.plain(guess)).collect::<Result<_, _>>()?;
        let state = self.newton.begin(line, (&options, linear), iterate);
        let mut problem = CudaProblem { rt: self, residual, state, extremes: Vec::new(), corrections: Vec::new() };
        let outcome = newton::solve(&mut problem, &options);
        let CudaProblem { state, .. } = problem;
        let iterate = self.newton.end(state);
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

impl Field for Collection {
    fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    fn has_derivatives(&self) -> bool {
        self.derivatives.is_some()
    }
}

/// The state of a solve; its corrections are in double precision on the device.
type State = ProblemState<Collection, Rc<Buffer>, Space<f64>, Patterns>;

struct CudaProblem<'a, 'b> {
    rt: &'a mut CudaRuntime,
    residual: &'a mut Residual<'b, CudaRuntime>,
    state: State,
    /// Least and greatest value of each unknown at the last evaluation; `None` for one without
    /// elements. `[equations]`
    extremes: Vec<Option<[f64; 2]>>,
    /// Largest magnitude of the last correction of each unknown, on the device until the next
    /// evaluation. `[equations]`
    corrections: Vec<Rc<Buffer>>,
}

impl CudaProblem<'_, '_> {
    /// Sets the rows of the Jacobian of every equation, with the pattern handle of the last
    /// evaluation if it is the same.
    fn set_jacobian_rows(&mut self) -> Result<(), Error> {
        let mut patterns = Vec::with_capacity(self.state.equations.len());
        for number in 0..self.state.equations.len() {
            let Some(mut jacobian) = jacobian::jacobian_of(&self.rt.executor, &self.state.equations[number])? else { continue };
            if let Some(old) = self.state.patterns.equations.get(number) {
                jacobian.rows = jacobian::same_pattern(&self.rt.executor, old, &jacobian.rows)?;
            }
            patterns.push(Rc::clone(&jacobian.rows));
            self.state.equations[number].derivatives = Some(Rc::new(Derivatives::from(jacobian)));
        }
        self.state.patterns.equations = patterns;
        Ok(())
    }

    /// The Jacobian of all equations, in double precision. The rows of one equation become the
    /// matrix, without a copy unless they are in single precision; a system copies its entries one
    /// after another.
    fn matrix(&mut self) -> Result<DeviceMatrix, Error> {
        let mut equations = Vec::with_capacity(self.state.equations.len());
        for number in 0..self.state.equations.len() {
            equations.extend(jacobian::jacobian_of(&self.rt.executor, &self.state.equations[number])?);
        }
        if let [only] = &equations[..] {
            let entries = self.rt.executor.doubles_of(&only.entries, only.rows.entries())?;
            return Ok(DeviceMatrix::new(Rc::clone(&only.rows), entries));
        }
        let same = |known: &Assembled| {
            known.parts.len() == equations.len() && known.parts.iter().zip(&equations).all(|(a, b)| Rc::ptr_eq(a, &b.rows))
        };
        let rows = match self.state.patterns.assembled.as_ref().filter(|known| same(known)) {
            Some(known) => Rc::clone(&known.rows),
            None => {
                let rows = Rc::new(self.assemble(&equations)?);
                let parts = equations.iter().map(|equation| Rc::clone(&equation.rows)).collect();
                self.state.patterns.assembled = Some(Assembled { parts, rows: Rc::clone(&rows) });
                rows
            }
        };
        let entries = self.rt.executor.buffer("the Jacobian", 8 * rows.entries() as u64)?;
        let mut at = entries.address().0;
        for equation in &equations {
            let len = equation.rows.entries();
            self.rt.executor.write_doubles(equation.entries.address(), len, DevicePtr(at))?;
            at += 8 * len as u64;
        }
        Ok(DeviceMatrix::new(rows, entries))
    }

    /// The rows of equations, one after the other.
    fn assemble(&mut self, equations: &[Jacobian]) -> Result<CsrPattern, Error> {
        let total = self.state.total();
        let entries = equations.iter().map(|equation| equation.rows.entries()).sum();
        let row_ptr = self.rt.executor.upload("rows of the Jacobian", &vec![0u64; total + 1])?;
        let columns = self.rt.executor.buffer("columns of the Jacobian", 4 * entries as u64)?;
        let (mut row, mut before) = (0, 0);
        for equation in equations {
            let len = equation.rows.len();
            let call = self.rt.solver.solver_call("equelle_append_rows")?.arg(len as u32).arg(before as u64);
            let call = call.arg(equation.rows.args(&equation.entries)).arg(DevicePtr(row_ptr.address().0 + 8 * row as u64));
            self.rt.executor.launch_over(call.arg(columns.address()), len)?;
            row += len;
            before += equation.rows.entries();
        }
        Ok(CsrPattern::on_device(row_ptr, columns, total, entries, total))
    }

    /// Euclidean norm of the rows of each equation, times their scales.
    fn norms_of_equations(&mut self, rows: &DeviceVector, scales: Option<&DeviceVector>) -> Result<Vec<f64>, Error> {
        let mut scaled = None;
        if let Some(scales) = scales {
            let product = scaled.insert(self.rt.solver.new_vector_of(self.state.total())?);
            self.rt.solver.add_diagonal(product, 0.0, 1.0, scales, rows);
        }
        let from = scaled.as_ref().unwrap_or(rows).address();
        let mut squares = Vec::with_capacity(self.state.ends.len());
        for (unknown, &end) in self.state.iterate.iter().zip(&self.state.ends) {
            let (len, square) = (unknown.domain.len(), self.rt.executor.new_number()?);
            let own = DevicePtr(from.0 + 8 * (end - len) as u64);
            self.rt.solver.dot_into(len, own, own, square.address())?;
            squares.push(square);
        }
        let squares: Vec<DevicePtr> = squares.iter().map(|square| square.address()).collect();
        Ok(self.rt.executor.read_scalars(&squares)?.into_iter().map(f64::sqrt).collect())
    }

    /// The residuals of all equations one after the other, on the device.
    fn right_hand_side(&mut self) -> Result<DeviceVector, Error> {
        let b = self.rt.solver.new_vector_of(self.state.total())?;
        for number in 0..self.state.equations.len() {
            let (from, len) = (self.state.equations[number].pointer(), self.state.equations[number].domain.len());
            let to = DevicePtr(b.address().0 + 8 * (self.state.ends[number] - len) as u64);
            self.rt.executor.write_doubles(from, len, to)?;
        }
        Ok(b)
    }

    /// Subtracts a correction from the iterate; returns its size if needed.
    fn subtract(&mut self, du: &Rc<Buffer>) -> Result<Option<Update>, Error> {
        let base = (self.state.search || self.state.tells_updates).then(|| self.state.iterate.clone());
        self.corrections.clear();
        for (unknown, &end) in self.state.iterate.iter().zip(&self.state.ends) {
            let len = unknown.domain.len();
            let largest = self.rt.solver.largest_at(DevicePtr(du.address().0 + 8 * (end - len) as u64), len, false);
            self.corrections.push(largest.ok_or_else(|| Error::internal("a number that was not computed"))?);
        }
        self.advance(None, du, 1.0)?;
        let Some(base) = base else { return Ok(None) };
        let update = if self.state.tells_updates { Some(self.update(&base, du)?) } else { None };
        if self.state.search {
            self.state.last = Some((base, Rc::clone(du)));
        }
        Ok(update)
    }

    /// Size of a correction from `base` to the iterate. The host counts the values at bounds.
    fn update(&mut self, base: &[Collection], du: &Rc<Buffer>) -> Result<Update, Error> {
        let mut squares = vec![self.rt.executor.new_number()?];
        self.rt.solver.dot_into(self.state.total(), du.address(), du.address(), squares[0].address())?;
        for unknown in self.state.iterate.clone() {
            let (len, square) = (unknown.domain.len(), self.rt.executor.new_number()?);
            let values = self.rt.executor.doubles_of(&unknown.buffer, len)?;
            self.rt.solver.dot_into(len, values.address(), values.address(), square.address())?;
            squares.push(square);
        }
        let addresses: Vec<DevicePtr> = squares.iter().map(|square| square.address()).collect();
        let squares = self.rt.executor.read_scalars(&addresses)?;
        let mut at_bounds = 0;
        for &(number, Bounds { least, greatest }) in &self.state.bounds {
            let (len, end) = (base[number].domain.len(), self.state.ends[number]);
            let before = self.rt.executor.download_reals(base[number].pointer(), len)?;
            let du = self.rt.executor.download::<f64>(DevicePtr(du.address().0 + 8 * (end - len) as u64), len)?;
            let wanted = before.iter().zip(&du).map(|(value, du)| value - du);
            at_bounds += wanted.filter(|wanted| *wanted < least || *wanted > greatest).count();
        }
        let unknowns = squares[1..].iter().sum::<f64>().sqrt();
        Ok(Update { norm: squares[0].sqrt(), unknowns, at_bounds, shortened: false })
    }

    /// Sets the iterate to `base`, or to itself, plus this part of a correction, clipped to the
    /// bounds.
    fn advance(&mut self, base: Option<&[Collection]>, du: &Rc<Buffer>, length: f64) -> Result<(), Error> {
        for number in 0..self.state.ends.len() {
            let end = self.state.ends[number];
            let values = base.unwrap_or(&self.state.iterate)[number].clone();
            let len = values.domain.len();
            let new = self.rt.new_collection(&values.domain)?;
            let from = DevicePtr(du.address().0 + 8 * (end - len) as u64);
            let call = self.rt.executor.collection_call("equelle_subtract")?.arg(len as u32).arg(values.pointer());
            let call = call.arg(length).arg(from).arg(new.pointer());
            self.rt.executor.launch_over(call, len)?;
            self.state.iterate[number] = self.bounded(number, new)?;
        }
        Ok(())
    }

    /// Values of an unknown clipped to its bounds. NaN stays for the next evaluation to report.
    fn bounded(&mut self, number: usize, mut values: Collection) -> Result<Collection, Error> {
        let Some(Bounds { least, greatest }) = self.state.bounds_of(number) else { return Ok(values) };
        for (function, bound) in [(BinaryMath::Max, least), (BinaryMath::Min, greatest)] {
            if bound.is_finite() {
                let bound = self.rt.scalar(bound);
                values = self.rt.math(function, &values, &bound)?;
            }
        }
        Ok(values)
    }

    /// Least and greatest value of each unknown, two numbers on the device; `None` for one without
    /// elements. `[equations]`
    fn queue_extremes(&mut self) -> Result<Vec<Option<Rc<Buffer>>>, Error> {
        let mut extremes = Vec::with_capacity(self.state.iterate.len());
        for unknown in &self.state.iterate {
            extremes.push(if unknown.domain.is_empty() {
                None
            } else {
                Some(self.rt.executor.extremes(unknown.domain.len(), unknown.pointer())?)
            });
        }
        Ok(extremes)
    }
}

impl GridProblem for CudaProblem<'_, '_> {
    type Field = Collection;
    type Correction = Rc<Buffer>;
    type Space = Space<f64>;
    type Patterns = Patterns;

    fn state(&self) -> &State {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    fn session(&mut self) -> &mut Session {
        &mut self.rt.session
    }

    fn evaluate(&mut self) -> Result<f64, Error> {
        let n_cols = self.state.total();
        let unknown = |(values, end): (&Collection, &usize)| {
            let derivatives = Derivatives::Unknown { first: end - values.domain.len(), n_cols, identity: OnceCell::new() };
            Collection { derivatives: Some(Rc::new(derivatives)), ..values.clone() }
        };
        let unknowns: Vec<Collection> = self.state.iterate.iter().zip(&self.state.ends).map(unknown).collect();
        let equations = (self.residual)(self.rt, &unknowns);
        self.state.equations = self.rt.located(equations)?;
        self.rt.line(self.state.line);
        if let Some(line) = self.rt.derivatives_lost.take() {
            let message = "a kernel inside a residual reads an unknown, and kernels pass on no derivatives";
            return Err(Error::new(ErrorKind::Backend, message).at(line));
        }
        self.state.check_equations()?;
        self.set_jacobian_rows()?;
        let mut squares = Vec::with_capacity(self.state.equations.len());
        for equation in &self.state.equations {
            let square = self.rt.executor.new_number()?;
            let residual = self.rt.executor.doubles_of(&equation.buffer, equation.domain.len())?;
            self.rt.solver.dot_into(equation.domain.len(), residual.address(), residual.address(), square.address())?;
            squares.push(square);
        }
        // The ranges of unknowns are copied to the host together: no extra wait.
        let extremes = self.queue_extremes()?;
        let both = |extremes: &Rc<Buffer>| [extremes.address(), DevicePtr(extremes.address().0 + 8)];
        let corrections = std::mem::take(&mut self.corrections);
        let numbers = squares.iter().map(|square| square.address()).chain(corrections.iter().map(|number| number.address()));
        let numbers: Vec<DevicePtr> = numbers.chain(extremes.iter().flatten().flat_map(both)).collect();
        let numbers = self.rt.executor.read_scalars(&numbers)?;
        let (squares, values) = numbers.split_at(squares.len());
        let (corrections, values) = values.split_at(corrections.len());
        let mut values = values.as_chunks::<2>().0.iter();
        self.extremes = extremes.iter().map(|unknown| unknown.as_ref().and_then(|_| values.next().copied())).collect();
        if !corrections.is_empty() {
            let magnitude = |extremes: &Option<[f64; 2]>| extremes.map_or(0.0, |[least, greatest]| least.abs().max(greatest.abs()));
            let size = |(&correction, extremes)| Size { correction, unknown: magnitude(extremes) };
            self.state.sizes = corrections.iter().zip(&self.extremes).map(size).collect();
        }
        self.rt.check_flag()?;
        self.state.norms = squares.iter().map(|square| square.sqrt()).collect();
        Ok(squares.iter().sum::<f64>().sqrt())
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        let matrix = self.matrix()?;
        let rhs = self.right_hand_side()?;
        let solved = solve_in(&mut self.rt.solver, &matrix, &self.state.ends, rhs, &self.state.linear, &mut self.state.cache)?;
        self.rt.session.linear_solve_ended(self.state.line, self.state.cache.take_traffic());
        let solution = solved?;
        let update = self.subtract(&solution.x.buffer)?;
        let direct = (solution.method == Method::Lu).then(|| self.state.cache.direct_note()).flatten();
        let correction = Correction::new(&solution, update, self.state.cache.take_set_up_time());
        let note = match (direct, correction.note) {
            (Some(direct), Some(note)) => Some(format!("{direct}; {note}")),
            (direct, note) => note.or(direct),
        };
        Ok(Correction { note, ..correction })
    }

    fn extremes(&mut self) -> Result<Vec<Option<[f64; 2]>>, Error> {
        Ok(self.extremes.clone())
    }

    fn advance_from(&mut self, base: &[Collection], correction: &Rc<Buffer>, length: f64) -> Result<(), Error> {
        self.advance(Some(base), correction, length)
    }

    fn scaled_norms(&mut self, scales: &DeviceVector) -> Result<Vec<f64>, Error> {
        let residual = self.right_hand_side()?;
        self.norms_of_equations(&residual, Some(scales))
    }

    fn terms(&mut self, scales: Option<&DeviceVector>) -> Result<Vec<f64>, Error> {
        let matrix = self.matrix()?;
        let (unknowns, terms) = (self.rt.solver.new_vector_of(self.state.total())?, self.rt.solver.new_vector_of(self.state.total())?);
        for (unknown, &end) in self.state.iterate.iter().zip(&self.state.ends) {
            let len = unknown.domain.len();
            self.rt.executor.write_doubles(unknown.pointer(), len, DevicePtr(unknowns.address().0 + 8 * (end - len) as u64))?;
        }
        let call = self.rt.solver.solver_call("equelle_row_terms")?.arg(self.state.total() as u32).arg(matrix.args());
        self.rt.executor.launch_over(call.arg(unknowns.address()).arg(terms.address()), self.state.total())?;
        self.norms_of_equations(&terms, scales)
    }

    fn host_values(&mut self, values: &Collection) -> Result<Vec<f64>, Error> {
        self.rt.executor.download_reals(values.pointer(), values.domain.len())
    }

    fn host_matrix(&mut self) -> Result<Csr, Error> {
        let matrix = self.matrix()?;
        Ok(self.rt.solver.host_matrix(&matrix)?.into_owned())
    }
}
