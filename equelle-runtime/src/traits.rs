//! The interface between generated code and back-ends.
//!
//! [`EquelleRuntime`] has what every program needs: domains, inputs, outputs, loops.
//! [`crate::Operations`] is the operation level (`-O0`): one method per Equelle operation. The
//! kernel level (`-O2`) is a trait `Kernels: EquelleRuntime` in the generated package, with one
//! method per kernel, implemented there once per back-end. [`Implicit`] adds Newton's method.
//! [`HostAccess`] and [`crate::DerivativeAccess`] copy values to and from plain vectors, for the
//! interpreter and the tests.
//!
//! Scalars are opaque handles that may live on a device; only [`HostAccess`] and outputs read them.
//! Collections are cheap to clone (reference counted), immutable, and have a domain. Errors name
//! the line of the last call of [`EquelleRuntime::line`].

use crate::entity::{CanonicalSet, EntityKind};
use crate::error::Error;
use crate::grid::{GeometryArray, Grid};
use crate::math::table2::TablePart;
use crate::memory::MemoryPlan;
use crate::newton::rescue;
use crate::session::{RoundLength, Session};
use crate::value_traits::{Check, Exchange, Output};

/// Methods for every program.
pub trait EquelleRuntime:
    Sized
    + Output<<Self as EquelleRuntime>::Scalar>
    + Output<<Self as EquelleRuntime>::Bool>
    + Output<<Self as EquelleRuntime>::Vector>
    + Output<<Self as EquelleRuntime>::ScalarCollection>
    + Output<<Self as EquelleRuntime>::VectorCollection>
    + Output<<Self as EquelleRuntime>::BoolCollection>
    + Output<<Self as EquelleRuntime>::EntityCollection>
    + Check<<Self as EquelleRuntime>::Scalar>
    + Check<<Self as EquelleRuntime>::Vector>
    + Check<<Self as EquelleRuntime>::ScalarCollection>
    + Check<<Self as EquelleRuntime>::VectorCollection>
    + Exchange<<Self as EquelleRuntime>::ScalarCollection>
    + Exchange<<Self as EquelleRuntime>::VectorCollection>
    + Exchange<<Self as EquelleRuntime>::BoolCollection>
{
    /// One real number, possibly on a device.
    type Scalar: Clone;
    /// One Bool, possibly on a device.
    type Bool: Clone;
    /// One geometric vector, possibly on a device.
    type Vector: Clone;
    /// One real number per element of a domain.
    type ScalarCollection: Clone;
    /// One geometric vector per element.
    type VectorCollection: Clone;
    /// One Bool per element.
    type BoolCollection: Clone;
    /// One entity or Empty per element.
    type EntityCollection: Clone;
    /// A set of distinct entities, ascending.
    type Domain: Clone;
    /// A list of real numbers.
    type Sequence: Clone;
    /// A function that data give.
    type Table: Clone;
    /// State of a loop over a sequence.
    type Loop;

    /// Sets the current Equelle line; errors name it.
    fn line(&mut self, line: u32);

    /// Sets the Equelle lines of each `? :` whose branches both read data at possibly Empty
    /// elements, where a choice of the entity would read once; see [`Session::advise`].
    fn choices(&mut self, lines: &[u32]);

    /// Checks the memory plan of the program; called before anything is read. Returns an error if
    /// it cannot fit.
    fn plan_memory(&mut self, _plan: MemoryPlan) -> Result<(), Error> {
        Ok(())
    }

    /// Later calls read only these arrays of the geometry of cells and faces: a back-end may free
    /// the others.
    fn keep_geometry(&mut self, _arrays: &[GeometryArray]) {}

    /// A canonical set. Computed once.
    fn domain(&mut self, set: CanonicalSet) -> Result<Self::Domain, Error>;
    /// The elements of a domain as an entity collection on itself.
    fn entities(&mut self, domain: &Self::Domain) -> Result<Self::EntityCollection, Error>;
    /// A number known at compile time.
    fn scalar(&mut self, value: f64) -> Self::Scalar;
    /// A Bool known at compile time.
    fn bool(&mut self, value: bool) -> Self::Bool;

    /// Parameter `name`, or the default.
    fn input_scalar(&mut self, name: &str, default: &Self::Scalar) -> Result<Self::Scalar, Error>;
    /// Values from a file or one value for all. Read once per name and domain.
    fn input_collection(&mut self, name: &str, domain: &Self::Domain) -> Result<Self::ScalarCollection, Error>;
    /// [`EquelleRuntime::input_collection`] for Vectors.
    fn input_vectors(&mut self, name: &str, domain: &Self::Domain) -> Result<Self::VectorCollection, Error>;
    /// [`EquelleRuntime::input_collection`] for Bools.
    fn input_bools(&mut self, name: &str, domain: &Self::Domain) -> Result<Self::BoolCollection, Error>;
    /// A domain from a file. Read once per name and superset.
    fn input_domain(&mut self, name: &str, within: &Self::Domain) -> Result<Self::Domain, Error>;
    /// A new domain of this name: those elements of another for which a condition on it holds.
    fn domain_where(&mut self, name: &str, within: &Self::Domain, condition: &Self::BoolCollection) -> Result<Self::Domain, Error>;
    /// A sequence from a file. Read once per name.
    fn input_sequence(&mut self, name: &str) -> Result<Self::Sequence, Error>;
    /// A table from a file: the columns of its arguments and of its values. Read once per name and
    /// columns.
    fn input_table(&mut self, name: &str, argument: &str, value: &str) -> Result<Self::Table, Error>;
    /// A part of a table of two arguments.
    fn input_table2(&mut self, name: &str, first: &str, second: &str, value: &str, part: TablePart) -> Result<Self::Table, Error>;

    /// Writes `tag = text`. Other values are put out by [`Output`].
    fn output_text(&mut self, tag: &str, value: &str) -> Result<(), Error>;

    /// Begins `For ... In sequence`. The outermost loop drives progress messages.
    fn begin_loop(&mut self, sequence: &Self::Sequence) -> Result<Self::Loop, Error>;
    /// The next element, or `None` when the loop is over.
    fn next(&mut self, state: &mut Self::Loop) -> Result<Option<Self::Scalar>, Error>;
    /// Begins a loop over `from`, `from` + 1, ... below `below`, which [`EquelleRuntime::next`]
    /// gives. Both bounds are whole numbers within 1e-9.
    fn begin_range(&mut self, from: &Self::Scalar, below: &Self::Scalar, length: RoundLength) -> Result<Self::Loop, Error>;
    /// Begins `While` or `Repeat Until`.
    fn begin_rounds(&mut self, length: RoundLength) -> Result<Self::Loop, Error>;
    /// True if such a loop has another round. The host waits for the condition.
    fn goes_on(&mut self, state: &mut Self::Loop, condition: &Self::Bool) -> Result<bool, Error>;
    /// Takes the length of a round: what comes back is a part of it where a round that failed is
    /// taken again.
    fn take_step(&mut self, length: &Self::Scalar) -> Result<Self::Scalar, Error>;
    /// True if the state is checked now, at the end of a round of an outermost loop: after few of
    /// many rounds. See [`crate::session::finite`].
    fn samples_state(&mut self, state: &Self::Loop) -> bool;
    /// Refuses a grid that is no uniform Cartesian one with at least these numbers of cells (0: the
    /// program names no such axis), for the statement on a line.
    fn require_cells(&mut self, cells: [usize; 3], line: u32) -> Result<(), Error>;
    /// Refuses a grid with faces that have no geometry, for the statement on a line, which reads
    /// that of faces between cells.
    fn require_face_geometry(&mut self, line: u32) -> Result<(), Error>;
    /// Warns on a grid with joined sides that the statement on a line reads stored positions of
    /// cells through faces.
    fn read_stored_positions(&mut self, line: u32);
    /// The width of the cells of a Cartesian grid along an axis.
    fn cell_width(&mut self, axis: usize) -> Result<Self::Scalar, Error>;
    /// The number of its cells along an axis.
    fn cells_along(&mut self, axis: usize) -> Result<Self::Scalar, Error>;
    /// Ends the program: waits for all queued work, reports deferred errors.
    fn finish(&mut self) -> Result<(), Error>;
}

/// A residual of Newton's method: from the runtime and the unknowns in order to one equation for
/// each unknown, on the unknown's domain.
pub type Residual<'a, R> =
    dyn FnMut(&mut R, &[<R as EquelleRuntime>::ScalarCollection]) -> Result<Vec<<R as EquelleRuntime>::ScalarCollection>, Error> + 'a;

/// The residual of one unknown.
pub type ScalarResidual<'a, R> =
    dyn FnMut(&mut R, &<R as EquelleRuntime>::ScalarCollection) -> Result<<R as EquelleRuntime>::ScalarCollection, Error> + 'a;

/// The residuals of `N` unknowns.
pub type SystemResidual<'a, R, const N: usize> =
    dyn FnMut(&mut R, [&<R as EquelleRuntime>::ScalarCollection; N]) -> Result<[<R as EquelleRuntime>::ScalarCollection; N], Error> + 'a;

/// Implicit programs: Newton's method. The derivatives of a residual come from its kernels, or, at
/// the operation level, from the runtime, which differentiates each operation.
pub trait Implicit: EquelleRuntime {
    /// Solves `residual(u) = 0` from the guesses, with the parameters of
    /// [`crate::newton::Options`]. Evaluates the residual once per iterate, 1 + iterations times.
    /// The results carry no derivatives.
    ///
    /// # Errors
    /// Those of the residual; `Simulation` as for [`crate::newton::solve`]; `Data` for illegal
    /// parameters.
    fn newton(
        &mut self,
        guesses: &[Self::ScalarCollection],
        residual: &mut Residual<'_, Self>,
    ) -> Result<Vec<Self::ScalarCollection>, Error>;

    /// The session of the run.
    fn session(&mut self) -> &mut Session;

    /// Copies a number to the host.
    ///
    /// # Errors
    /// Those of the copy.
    fn read_scalar(&mut self, value: &Self::Scalar) -> Result<f64, Error>;

    /// Takes a step of a loop whose body is a function of state and step; in parts, if it fails and
    /// `timestep_cuts` allows. The first `opening` outputs of the body show the state before it.
    /// See [`crate::newton::rescue`].
    ///
    /// # Errors
    /// Those of the step.
    fn step<S: Clone>(
        &mut self,
        length: &Self::Scalar,
        opening: usize,
        state: S,
        body: &mut rescue::Step<'_, Self, S>,
    ) -> Result<S, Error> {
        rescue::step(self, length, opening, state, body)
    }

    /// A round of a loop that computes its steps: one that fails is taken again with half the step,
    /// as often as `timestep_cuts` allows. See [`crate::newton::rescue`].
    ///
    /// # Errors
    /// Those of the round.
    fn round<S: Clone>(&mut self, state: S, body: &mut rescue::Round<'_, Self, S>) -> Result<S, Error> {
        rescue::round(self, state, body)
    }

    /// Drops what solvers of ranks have made together in an attempt of a step that they give up.
    fn forget_attempt(&mut self) {}

    /// Assigns a variable of the program in a residual, unless the residual is on trial.
    fn assign<T>(&mut self, variable: &mut T, value: T) {
        if !self.session().outputs().holds_back() {
            *variable = value;
        }
    }

    /// The values without derivatives, for a variable that a residual assigns.
    fn without_derivatives(&mut self, values: &Self::ScalarCollection) -> Self::ScalarCollection;

    /// [`Implicit::without_derivatives`] for Vectors.
    fn vectors_without_derivatives(&mut self, values: &Self::VectorCollection) -> Self::VectorCollection;

    /// `NewtonSolve`: [`Implicit::newton`] with one unknown.
    ///
    /// # Errors
    /// As for [`Implicit::newton`].
    fn newton_solve(
        &mut self,
        guess: &Self::ScalarCollection,
        residual: &mut ScalarResidual<'_, Self>,
    ) -> Result<Self::ScalarCollection, Error> {
        let [u] = self.newton_solve_system([guess], &mut |rt, [u]| Ok([residual(rt, u)?]))?;
        Ok(u)
    }

    /// `NewtonSolveSystem`: [`Implicit::newton`] with as many unknowns as equations.
    ///
    /// # Errors
    /// As for [`Implicit::newton`].
    fn newton_solve_system<const N: usize>(
        &mut self,
        guesses: [&Self::ScalarCollection; N],
        residual: &mut SystemResidual<'_, Self, N>,
    ) -> Result<[Self::ScalarCollection; N], Error> {
        let count = || Error::internal("as many unknowns as equations are solved for");
        let solution = self.newton(&guesses.map(Clone::clone), &mut |rt, unknowns| {
            let unknowns: &[Self::ScalarCollection; N] = unknowns.try_into().map_err(|_| count())?;
            Ok(residual(rt, unknowns.each_ref())?.into())
        })?;
        solution.try_into().map_err(|_| count())
    }
}

/// Values in plain vectors: for the interpreter, the tests and `compare`. Never on a hot path.
#[allow(missing_docs)]
pub trait HostAccess: EquelleRuntime {
    fn grid(&self) -> &Grid;
    fn scalar_value(&mut self, s: &Self::Scalar) -> Result<f64, Error>;
    fn bool_value(&mut self, b: &Self::Bool) -> Result<bool, Error>;
    /// As many components as the grid has dimensions.
    fn vector_value(&mut self, v: &Self::Vector) -> Result<Vec<f64>, Error>;
    /// From as many components as the grid has dimensions.
    fn vector_from(&mut self, components: &[f64]) -> Result<Self::Vector, Error>;
    /// See [`Table::numbers`](crate::math::table::Table::numbers).
    fn table_numbers(&self, table: &Self::Table) -> Vec<f64>;
    /// Ascending entity indices.
    fn domain_elements(&mut self, domain: &Self::Domain) -> Result<Vec<u32>, Error>;
    fn values(&mut self, c: &Self::ScalarCollection) -> Result<Vec<f64>, Error>;
    /// One inner vector per component.
    fn vectors(&mut self, c: &Self::VectorCollection) -> Result<Vec<Vec<f64>>, Error>;
    fn bools(&mut self, c: &Self::BoolCollection) -> Result<Vec<bool>, Error>;
    fn entity_indices(&mut self, c: &Self::EntityCollection) -> Result<Vec<Option<u32>>, Error>;
    fn scalar_collection(&mut self, domain: &Self::Domain, values: Vec<f64>) -> Result<Self::ScalarCollection, Error>;
    fn vector_collection(&mut self, domain: &Self::Domain, components: Vec<Vec<f64>>) -> Result<Self::VectorCollection, Error>;
    fn bool_collection(&mut self, domain: &Self::Domain, values: Vec<bool>) -> Result<Self::BoolCollection, Error>;
    fn entity_collection(
        &mut self,
        domain: &Self::Domain,
        kind: EntityKind,
        values: Vec<Option<u32>>,
    ) -> Result<Self::EntityCollection, Error>;
}
