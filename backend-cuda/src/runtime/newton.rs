//! Newton's method on the device: residual and Jacobian by the kernels of the program, linear systems by the Krylov methods of [`equelle_runtime::linalg`] on device vectors.
//!
//! What the device has no method for is solved on the host, with a note: a direct factorisation, and matrices that leave levels open in ways that take one to find.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::linalg::bicgstab::BiCgStab;
use equelle_runtime::linalg::cg::Cg;
use equelle_runtime::linalg::gmres::Gmres;
use equelle_runtime::linalg::krylov::{Control, End, Outcome, System, iterate};
use equelle_runtime::linalg::null_space::NullSpace;
use equelle_runtime::linalg::solve::SHARE;
use equelle_runtime::linalg::space::Identity;
use equelle_runtime::linalg::{
    self, Csr, LinearCache, LinearOperator, LinearOptions, Method, Preconditioner, Preconditioning, Symmetry, VectorSpace,
};
use equelle_runtime::newton::{self, Correction, Ending, Entry, History, Problem, Trial};
use equelle_runtime::{EquelleRuntime, Error, ErrorKind, Implicit, Residual, Session};

use crate::runtime::args::Call;
use crate::runtime::collections::{Collection, Derivatives, Scalar, VectorCollection};
use crate::runtime::device::DevicePtr;
use crate::runtime::krylov::{DeviceJacobi, DeviceMatrix, DeviceSpace, DeviceVector};
use crate::runtime::parts::Parts;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::projection::{Projected, Projection};
use crate::runtime::rows::{Rows, fault};
use crate::runtime::traits::doubles;

/// Iterations between two looks at the residual: each look waits for the device.
const CHECK_EVERY: usize = 10;

/// What Newton's method keeps between solves.
#[derive(Default)]
pub(super) struct Newton {
    /// The parameters, once they have been read.
    options: Option<(newton::Options, LinearOptions)>,
    /// Of solves on the host, by Equelle line.
    caches: BTreeMap<u32, LinearCache>,
    /// Connected parts of the unknowns, by Equelle line.
    parts: BTreeMap<u32, Parts>,
    /// The last patterns of the equations, by Equelle line.
    patterns: BTreeMap<u32, Vec<Rc<Rows>>>,
}

impl CudaRuntime {
    /// The parameters of Newton's method and of linear solvers; read once.
    fn newton_options(&mut self) -> Result<(newton::Options, LinearOptions), Error> {
        if let Some(options) = &self.newton.options {
            return Ok(options.clone());
        }
        let options = newton::session::options::<f64>(&mut self.session)?;
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
        let mut ends = Vec::with_capacity(guesses.len());
        let mut total = 0;
        for guess in guesses {
            total += guess.domain.len();
            ends.push(total);
        }
        let iterate = guesses.iter().map(|guess| self.constant_values(guess)).collect::<Result<_, _>>()?;
        let (cache, parts) = (self.newton.caches.remove(&line).unwrap_or_default(), self.newton.parts.remove(&line));
        let patterns = self.newton.patterns.remove(&line).unwrap_or_default();
        let mut problem = CudaProblem {
            iterate,
            rt: self,
            residual,
            ends,
            equations: Vec::new(),
            line,
            linear,
            cache,
            parts,
            patterns,
            corrections: 0,
            search: options.line_search,
            last: None,
        };
        let outcome = newton::solve(&mut problem, &options);
        let CudaProblem { iterate, cache, parts, patterns, .. } = problem;
        self.newton.caches.insert(line, cache);
        self.newton.patterns.insert(line, patterns);
        self.newton.parts.extend(parts.map(|parts| (line, parts)));
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
    cache: LinearCache,
    parts: Option<Parts>,
    /// The pattern of the last evaluation. `[equations]`
    patterns: Vec<Rc<Rows>>,
    /// How many linear systems this solve has had.
    corrections: usize,
    /// Whether corrections may be shortened.
    search: bool,
    /// The iterate before the last correction, and that correction, if it may be shortened.
    last: Option<(Vec<Collection>, Rc<Buffer>)>,
}

/// What a Krylov method on the device says.
enum Attempt {
    Solved {
        x: DeviceVector,
        iterations: usize,
        relative_residual: f64,
        /// What there is to say of open levels.
        open: Option<String>,
    },
    /// Why the host has to.
    NotHere(String),
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

    /// The Jacobian of all equations by all unknowns.
    fn matrix(&self) -> DeviceMatrix {
        let rows = |equation: &Collection| match equation.derivatives.as_deref() {
            Some(Derivatives::Rows { rows, entries }) => Some((Rc::clone(rows), Rc::clone(entries))),
            Some(Derivatives::Unknown { .. }) | None => None,
        };
        DeviceMatrix { blocks: self.equations.iter().filter_map(rows).collect() }
    }

    /// The same on the host.
    fn host_matrix(&mut self, matrix: &DeviceMatrix) -> Result<Csr, Error> {
        let total = self.total();
        let entries = matrix.blocks.iter().map(|(rows, _)| rows.entries()).sum();
        let mut row_ptr = Vec::with_capacity(total + 1);
        let (mut columns, mut values): (Vec<u32>, Vec<f64>) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        row_ptr.push(0);
        for (rows, entries) in &matrix.blocks {
            let before = columns.len();
            let host = rows.host(self.rt)?;
            row_ptr.extend(host.row_ptr[1..].iter().map(|end| before + end));
            columns.extend_from_slice(&host.columns);
            values.extend(doubles(&self.rt.download(entries.address(), 8 * rows.entries())?));
        }
        Csr::new(total, total, row_ptr, columns, values).map_err(|what| fault(&format!("the Jacobian is malformed: {what}")))
    }

    /// The residuals of all equations one after the other, on the device.
    fn right_hand_side(&mut self) -> Result<DeviceVector, Error> {
        if let [equation] = &self.equations[..] {
            return Ok(Rc::clone(&equation.buffer));
        }
        let b = self.rt.buffer("the right-hand side", 8 * self.total() as u64)?;
        for (equation, end) in self.equations.iter().zip(&self.ends) {
            let len = equation.domain.len();
            let function = self.rt.runtime_function("equelle_vector")?;
            let to = DevicePtr(b.address().0 + 8 * (end - len) as u64);
            let call = Call::new(function, "equelle_vector").arg(0u32).arg(len as u32).arg(to).arg(DevicePtr(0)).arg(equation.pointer());
            self.rt.launch_over(call, len)?;
        }
        Ok(b)
    }

    /// Solves on the device, or says why not.
    fn solve_here(&mut self, matrix: &DeviceMatrix) -> Result<Attempt, Error> {
        let n = self.total();
        let method = self.linear.method_for(n);
        if method == Method::Lu {
            let why = if self.linear.method.is_some() { "LU runs on the host" } else { "it is small" };
            return Ok(Attempt::NotHere(why.to_owned()));
        }
        if method == Method::Cg && self.corrections == 1 {
            let csr = self.host_matrix(matrix)?;
            if csr.symmetry(1e-10) != Symmetry::Symmetric {
                return Ok(Attempt::NotHere("the matrix is not symmetric".to_owned()));
            }
        }
        let parts = match self.parts.take().filter(|parts| parts.is_of(matrix)) {
            Some(parts) => parts,
            None => Parts::of(self.rt, matrix, &self.ends)?,
        };
        let fixed = parts.all_fixed(self.rt, matrix);
        self.parts = Some(parts);
        // The host finds the null vectors of what may leave a level open.
        let null_space = if fixed? {
            NullSpace::default()
        } else {
            NullSpace::find_in_blocks(&self.host_matrix(matrix)?, &self.ends, self.linear.rounding)
        };
        let mut b = self.right_hand_side()?;
        let tolerance = self.linear.tolerance;
        let preconditioner = self.linear.preconditioner.unwrap_or(Preconditioning::Jacobi);
        let restart = self.linear.restart;
        let space = &mut DeviceSpace::new(self.rt, n);
        let square = space.dot(&b, &b);
        let size = space.read([&square])?[0].sqrt();
        if !size.is_normal() {
            return Ok(Attempt::NotHere("the right-hand side is zero or not finite".to_owned()));
        }
        let Some(projection) = Projection::of(space, &null_space)? else {
            return Ok(Attempt::NotHere("the matrix leaves levels open in a way that takes a factorisation to find".to_owned()));
        };
        if projection.len() > 0 {
            let allowed = NullSpace::allowed(size, &self.linear);
            if projection.imbalances(space, &b)?.iter().any(|least| least.is_nan() || *least > allowed) {
                return Ok(Attempt::NotHere("the right-hand side does not fit a matrix that leaves a level open".to_owned()));
            }
            let mut balanced = space.zeros()?;
            space.copy(&mut balanced, &b);
            projection.to_range(space, &mut balanced);
            b = balanced;
        }
        let control = Control {
            target: SHARE * tolerance * size,
            max_iterations: self.linear.max_iterations,
            check_every: self.linear.check_every.max(CHECK_EVERY),
            patience: 2 * n + 100,
        };
        let mut x = space.zeros()?;
        let operator = Projected { matrix, projection: &projection };
        let outcome = match preconditioner {
            Preconditioning::None => {
                run(space, method, restart, System { operator: &operator, preconditioner: &Identity }, &mut x, &b, control)?
            }
            Preconditioning::Jacobi => {
                let jacobi = DeviceJacobi::new(space, matrix)?;
                run(space, method, restart, System { operator: &operator, preconditioner: &jacobi }, &mut x, &b, control)?
            }
            other => return Ok(Attempt::NotHere(format!("{} is not on the device", other.title()))),
        };
        projection.remove_mean(space, &mut x);
        Ok(match outcome.end {
            End::Converged => {
                Attempt::Solved { x, iterations: outcome.iterations, relative_residual: outcome.residual / size, open: null_space.note() }
            }
            End::Breakdown(why) | End::Stagnation(why) => Attempt::NotHere(format!("{} on the device: {why}", method.title())),
            End::MaxIterations => Attempt::NotHere(format!("{} on the device reached {} iterations", method.title(), outcome.iterations)),
            End::NonFinite => Attempt::NotHere(format!("{} on the device overflowed", method.title())),
        })
    }

    /// Takes a correction from the iterate.
    fn subtract(&mut self, du: &Rc<Buffer>) -> Result<(), Error> {
        if self.search {
            self.last = Some((self.iterate.clone(), Rc::clone(du)));
        }
        self.advance(None, du, 1.0)
    }

    /// Goes from `base`, or from the iterate, by this part of a correction.
    fn advance(&mut self, base: Option<&[Collection]>, du: &Rc<Buffer>, length: f64) -> Result<(), Error> {
        for (number, end) in self.ends.iter().enumerate() {
            let values = base.unwrap_or(&self.iterate)[number].clone();
            let len = values.domain.len();
            let new = self.rt.new_collection(&values.domain)?;
            let function = self.rt.runtime_function("equelle_subtract")?;
            let from = DevicePtr(du.address().0 + 8 * (end - len) as u64);
            let call =
                Call::new(function, "equelle_subtract").arg(len as u32).arg(values.pointer()).arg(length).arg(from).arg(new.pointer());
            self.rt.launch_over(call, len)?;
            self.iterate[number] = new;
        }
        Ok(())
    }

    fn residual_values(&mut self, equation: usize) -> Result<Vec<f64>, Error> {
        let (from, len) = (self.equations[equation].pointer(), self.equations[equation].domain.len());
        Ok(doubles(&self.rt.download(from, 8 * len)?))
    }
}

/// Iterates by a method.
fn run<'a, A: LinearOperator<DeviceSpace<'a>>, M: Preconditioner<DeviceSpace<'a>>>(
    space: &mut DeviceSpace<'a>,
    method: Method,
    restart: usize,
    system: System<'_, A, M>,
    x: &mut DeviceVector,
    b: &DeviceVector,
    control: Control,
) -> Result<Outcome, Error> {
    match method {
        Method::Cg => {
            let mut cycle = Cg::new(space)?;
            iterate(space, &mut cycle, system, x, b, control)
        }
        Method::Gmres => {
            let mut cycle = Gmres::new(space, restart)?;
            iterate(space, &mut cycle, system, x, b, control)
        }
        // LU never comes here.
        Method::BiCgStab | Method::Lu => {
            let mut cycle = BiCgStab::new(space)?;
            iterate(space, &mut cycle, system, x, b, control)
        }
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
            self.rt.dot_into(equation.domain.len(), equation.pointer(), equation.pointer(), square.address())?;
            squares.push(square);
        }
        let addresses: Vec<DevicePtr> = squares.iter().map(|square| square.address()).collect();
        let sum: f64 = self.rt.read_numbers(&addresses)?.into_iter().fold(0.0, |sum, square| sum + square);
        self.rt.check_flag()?;
        Ok(sum.sqrt())
    }

    fn evaluate_silently(&mut self) -> Result<Trial, Error> {
        self.rt.session.begin_trial();
        let norm = self.evaluate();
        let held_back = self.rt.session.end_trial();
        Ok(Trial { norm: norm?, held_back })
    }

    fn correct(&mut self) -> Result<Correction, Error> {
        self.corrections += 1;
        let matrix = self.matrix();
        let why = match self.solve_here(&matrix)? {
            Attempt::Solved { x, iterations, relative_residual, open } => {
                self.subtract(&x)?;
                return Ok(Correction { linear_iterations: Some(iterations), relative_residual, note: open, update: None, set_up: 0.0 });
            }
            Attempt::NotHere(why) => why,
        };
        let csr = self.host_matrix(&matrix)?;
        let mut rhs = Vec::with_capacity(self.total());
        for equation in 0..self.equations.len() {
            rhs.extend(self.residual_values(equation)?);
        }
        let solution = linalg::solve_blocks(&csr, &self.ends, &rhs, &self.linear, &mut self.cache)?;
        let bytes = crate::runtime::grid::bytes_of(&solution.x, f64::to_le_bytes);
        let du = self.rt.upload("a correction", &bytes)?;
        self.subtract(&du)?;
        let note = match solution.note {
            Some(note) => format!("solved on the host ({why}); {note}"),
            None => format!("solved on the host ({why})"),
        };
        Ok(Correction {
            linear_iterations: (solution.method != Method::Lu).then_some(solution.iterations),
            relative_residual: solution.relative_residual,
            note: Some(note),
            update: None,
            set_up: self.cache.take_set_up_time(),
        })
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
                let matrix = self.matrix();
                (values, self.host_matrix(&matrix))
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
            let u = doubles(&self.rt.download(self.iterate[number].pointer(), 8 * domain.len())?);
            fields.push((domain, u, self.residual_values(number)?));
        }
        newton::session::dump(&mut self.rt.session, initial, &fields)
    }
}
