//! The interface between generated code and back-ends.
//!
//! [`EquelleRuntime`] has what every program needs: domains, inputs, outputs, loops. [`Operations`]
//! is the operation level (`-O0`): one method per Equelle operation. The kernel level (`-O2`) is a
//! trait `Kernels: EquelleRuntime` in the generated package, with one method per kernel,
//! implemented there once per back-end. [`Implicit`] adds Newton's method. [`HostAccess`] and
//! [`crate::DerivativeAccess`] copy values to and from plain vectors, for the interpreter and the
//! tests.
//!
//! Scalars are opaque handles that may live on a device; only [`HostAccess`] and outputs read them.
//! Collections are cheap to clone (reference counted), immutable, and have a domain. Errors name
//! the line of the last call of [`EquelleRuntime::line`].

use crate::entity::{CanonicalSet, EntityKind};
use crate::error::Error;
use crate::grid::{GeometryArray, Grid, SideMap};
use crate::math::table2::TablePart;
use crate::memory::MemoryPlan;
use crate::newton::rescue;
use crate::operators::{Binary, BinaryMath, BoolReduction, Comparison, Elementary, FaceReduction, Logic, Reduction, Unary};
use crate::session::{RoundLength, Session};

/// Methods for every program.
pub trait EquelleRuntime: Sized {
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

    /// Writes `tag = value` to standard output.
    fn output_scalar(&mut self, tag: &str, value: &Self::Scalar) -> Result<(), Error>;
    /// Writes to standard output or to a file, in the order of the grid's file.
    fn output_collection(&mut self, tag: &str, value: &Self::ScalarCollection) -> Result<(), Error>;
    /// Writes `tag = true` or `tag = false`.
    fn output_bool(&mut self, tag: &str, value: &Self::Bool) -> Result<(), Error>;
    /// Writes `tag = x y z`, as many components as the grid has dimensions.
    fn output_vector(&mut self, tag: &str, value: &Self::Vector) -> Result<(), Error>;
    /// Writes `tag = text`.
    fn output_text(&mut self, tag: &str, value: &str) -> Result<(), Error>;
    /// Writes the components of each element in a row.
    fn output_vectors(&mut self, tag: &str, value: &Self::VectorCollection) -> Result<(), Error>;
    /// Writes 1 or 0 for each element.
    fn output_bools(&mut self, tag: &str, value: &Self::BoolCollection) -> Result<(), Error>;
    /// Writes the index of each entity in its kind, -1 for Empty.
    fn output_entities(&mut self, tag: &str, value: &Self::EntityCollection) -> Result<(), Error>;

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
    /// Checks that a mutable variable of this name is finite. Errors have the current line.
    fn check_scalar(&mut self, name: &str, value: &Self::Scalar) -> Result<(), Error>;
    /// [`EquelleRuntime::check_scalar`] for a Vector.
    fn check_vector(&mut self, name: &str, value: &Self::Vector) -> Result<(), Error>;
    /// [`EquelleRuntime::check_scalar`] for each element; the error names the first one in the
    /// order of the grid's file.
    fn check_collection(&mut self, name: &str, value: &Self::ScalarCollection) -> Result<(), Error>;
    /// [`EquelleRuntime::check_collection`] for each component.
    fn check_vectors(&mut self, name: &str, value: &Self::VectorCollection) -> Result<(), Error>;
    /// Refuses a grid that is no uniform Cartesian one with at least these numbers of cells (0: the
    /// program names no such axis), for the statement on a line.
    fn require_cells(&mut self, cells: [usize; 3], line: u32) -> Result<(), Error>;
    /// Refuses a grid with faces that have no geometry, for the statement on a line, which reads
    /// that of faces between cells.
    fn require_face_geometry(&mut self, line: u32) -> Result<(), Error>;
    /// Warns on a grid with joined sides that the statement on a line reads stored positions of
    /// cells through faces.
    fn read_stored_positions(&mut self, line: u32);
    /// Brings the values of the first `depth` layers of the halo from the ranks that own them.
    /// Nothing on one rank.
    fn exchange(&mut self, _values: &mut Self::ScalarCollection, _depth: u32) -> Result<(), Error> {
        Ok(())
    }
    /// [`EquelleRuntime::exchange`] for Vectors.
    fn exchange_vectors(&mut self, _values: &mut Self::VectorCollection, _depth: u32) -> Result<(), Error> {
        Ok(())
    }
    /// [`EquelleRuntime::exchange`] for Bools.
    fn exchange_bools(&mut self, _values: &mut Self::BoolCollection, _depth: u32) -> Result<(), Error> {
        Ok(())
    }
    /// The width of the cells of a Cartesian grid along an axis.
    fn cell_width(&mut self, axis: usize) -> Result<Self::Scalar, Error>;
    /// The number of its cells along an axis.
    fn cells_along(&mut self, axis: usize) -> Result<Self::Scalar, Error>;
    /// Ends the program: waits for all queued work, reports deferred errors.
    fn finish(&mut self) -> Result<(), Error>;
}

/// A method for each operation that takes the operator, and a method for each operator by its name.
macro_rules! by_operator {
    ($($all:ident(op: $op:ident, $a:ident: $left:ident $(, $b:ident: $right:ident)?) -> $out:ident { $($name:ident: $value:ident),* })*) => {$(
        fn $all(&mut self, op: $op, $a: &Self::$left $(, $b: &Self::$right)?) -> Result<Self::$out, Error>;
        by_operator! { @each $all $op ($a $left $($b $right)?) $out $($name $value)* }
    )*};
    (@each $all:ident $op:ident $operands:tt $out:ident $($name:ident $value:ident)*) => {
        $(by_operator! { @one $all $op $operands $out $name $value })*
    };
    (@one $all:ident $op:ident ($a:ident $left:ident $($b:ident $right:ident)?) $out:ident $name:ident $value:ident) => {
        fn $name(&mut self, $a: &Self::$left $(, $b: &Self::$right)?) -> Result<Self::$out, Error> {
            self.$all($op::$value, $a $(, $b)?)
        }
    };
}

/// The operation level. Collection operands of one call are on the same domain unless said
/// otherwise, as the compiler has checked. Method names: `op` for collections, `op_scalar` for
/// collection and Scalar, `scalar_op` for Scalar and collection, `scalars_op` for Scalars.
#[allow(missing_docs)]
pub trait Operations: EquelleRuntime {
    // Topology and geometry.
    fn first_cell(&mut self, faces: &Self::EntityCollection) -> Result<Self::EntityCollection, Error>;
    fn second_cell(&mut self, faces: &Self::EntityCollection) -> Result<Self::EntityCollection, Error>;
    /// The cell at an offset in a Cartesian grid from each cell.
    fn offset_cells(&mut self, cells: &Self::EntityCollection, by: [i8; 3], beyond: [SideMap; 6]) -> Result<Self::EntityCollection, Error>;
    /// True if the cell this many cells further along an axis is beyond the side there.
    fn is_outside(&mut self, cells: &Self::EntityCollection, axis: usize, by: i8) -> Result<Self::BoolCollection, Error>;
    /// True if the sum of the numbers of each cell along some axes is even.
    fn is_even(&mut self, cells: &Self::EntityCollection, axes: [bool; 3]) -> Result<Self::BoolCollection, Error>;
    /// The number of each cell along an axis.
    fn index_along(&mut self, cells: &Self::EntityCollection, axis: usize) -> Result<Self::ScalarCollection, Error>;
    fn is_empty(&mut self, entities: &Self::EntityCollection) -> Result<Self::BoolCollection, Error>;
    /// The faces themselves, Empty included.
    ///
    /// # Errors
    /// `Simulation` where one has two cells.
    fn one_cell(&mut self, faces: &Self::EntityCollection) -> Result<Self::EntityCollection, Error>;
    fn measure(&mut self, entities: &Self::EntityCollection) -> Result<Self::ScalarCollection, Error>;
    fn centroid(&mut self, entities: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    fn normal(&mut self, faces: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    /// From the centroid of each face on the side of its second cell to that on the side of the
    /// first, in metres; zero where both meet.
    fn face_gap(&mut self, faces: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    /// Transmissibility that the grid gives each face, in cubic metres; negative where that of
    /// geometry holds.
    fn face_transmissibility(&mut self, faces: &Self::EntityCollection) -> Result<Self::ScalarCollection, Error>;

    // Arithmetic: of one operation the method for all operators, then those for each. Vectors are
    // added, and multiplied and divided by numbers.
    by_operator! {
        scalars_unary(op: Unary, a: Scalar) -> Scalar { scalar_neg: Neg, scalar_abs: Abs, scalar_sqrt: Sqrt }
        unary(op: Unary, a: ScalarCollection) -> ScalarCollection { neg: Neg, abs: Abs, sqrt: Sqrt }
        scalars_binary(op: Binary, a: Scalar, b: Scalar) -> Scalar { scalars_add: Add, scalars_sub: Sub, scalars_mul: Mul, scalars_div: Div }
        binary(op: Binary, a: ScalarCollection, b: ScalarCollection) -> ScalarCollection { add: Add, sub: Sub, mul: Mul, div: Div }
        binary_scalar(op: Binary, a: ScalarCollection, s: Scalar) -> ScalarCollection { mul_scalar: Mul, div_scalar: Div }
        scalar_binary(op: Binary, s: Scalar, a: ScalarCollection) -> ScalarCollection { scalar_mul: Mul, scalar_div: Div }
        vectors_binary(op: Binary, a: Vector, b: Vector) -> Vector { vectors_add: Add, vectors_sub: Sub }
        vectors_binary_scalar(op: Binary, a: Vector, s: Scalar) -> Vector { vectors_mul: Mul, vectors_div: Div }
        vectors_binary_collection(op: Binary, a: Vector, s: ScalarCollection) -> VectorCollection {
            vectors_mul_collection: Mul, vectors_div_collection: Div
        }
        vector_binary(op: Binary, a: VectorCollection, b: VectorCollection) -> VectorCollection { vector_add: Add, vector_sub: Sub }
        vector_binary_collection(op: Binary, a: VectorCollection, s: ScalarCollection) -> VectorCollection { vector_mul: Mul, vector_div: Div }
        vector_binary_scalar(op: Binary, a: VectorCollection, s: Scalar) -> VectorCollection { vector_mul_scalar: Mul, vector_div_scalar: Div }
        sequence_binary_scalar(op: Binary, sequence: Sequence, s: Scalar) -> Sequence { sequence_mul: Mul, sequence_div: Div }
        logic(op: Logic, a: BoolCollection, b: BoolCollection) -> BoolCollection { and: And, or: Or, xor: Xor }
    }

    // Scalars.
    fn scalars_elementary(&mut self, function: Elementary, a: &Self::Scalar) -> Result<Self::Scalar, Error> {
        self.scalars_unary(Unary::Elementary(function), a)
    }
    fn scalars_math(&mut self, function: BinaryMath, a: &Self::Scalar, b: &Self::Scalar) -> Result<Self::Scalar, Error> {
        self.scalars_binary(Binary::Math(function), a, b)
    }

    /// The value of a table.
    fn scalars_interpolate(&mut self, table: &Self::Table, a: &Self::Scalar) -> Result<Self::Scalar, Error>;

    // Single Vectors.
    /// As many components as the grid has dimensions; another number is an error that names both.
    fn vector(&mut self, components: &[&Self::Scalar]) -> Result<Self::Vector, Error>;
    fn vectors_neg(&mut self, a: &Self::Vector) -> Result<Self::Vector, Error>;
    fn vectors_dot(&mut self, a: &Self::Vector, b: &Self::Vector) -> Result<Self::Scalar, Error>;
    fn vectors_length(&mut self, a: &Self::Vector) -> Result<Self::Scalar, Error>;
    fn vectors_component(&mut self, a: &Self::Vector, index: usize) -> Result<Self::Scalar, Error>;

    // Single Bools.
    fn scalars_compare(&mut self, op: Comparison, a: &Self::Scalar, b: &Self::Scalar) -> Result<Self::Bool, Error>;
    fn bools_not(&mut self, a: &Self::Bool) -> Result<Self::Bool, Error>;
    fn bools_logic(&mut self, op: Logic, a: &Self::Bool, b: &Self::Bool) -> Result<Self::Bool, Error>;
    /// The Bool of each element with one Bool for all.
    fn logic_bool(&mut self, op: Logic, a: &Self::BoolCollection, b: &Self::Bool) -> Result<Self::BoolCollection, Error>;
    /// One of two whole values.
    fn choose<T: Clone>(&mut self, condition: &Self::Bool, a: &T, b: &T) -> Result<T, Error>;

    // Collections of Scalar.
    fn elementary(&mut self, function: Elementary, a: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error> {
        self.unary(Unary::Elementary(function), a)
    }
    fn math(
        &mut self,
        function: BinaryMath,
        a: &Self::ScalarCollection,
        b: &Self::ScalarCollection,
    ) -> Result<Self::ScalarCollection, Error> {
        self.binary(Binary::Math(function), a, b)
    }
    fn math_scalar(&mut self, function: BinaryMath, a: &Self::ScalarCollection, s: &Self::Scalar) -> Result<Self::ScalarCollection, Error> {
        self.binary_scalar(Binary::Math(function), a, s)
    }
    fn scalar_math(&mut self, function: BinaryMath, s: &Self::Scalar, a: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error> {
        self.scalar_binary(Binary::Math(function), s, a)
    }

    /// The value of a table at each number, with its slope as derivative.
    fn interpolate(&mut self, table: &Self::Table, a: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error>;

    // Collections of Vector.
    fn vector_neg(&mut self, a: &Self::VectorCollection) -> Result<Self::VectorCollection, Error>;
    fn length(&mut self, a: &Self::VectorCollection) -> Result<Self::ScalarCollection, Error>;
    fn dot(&mut self, a: &Self::VectorCollection, b: &Self::VectorCollection) -> Result<Self::ScalarCollection, Error>;
    fn component(&mut self, a: &Self::VectorCollection, index: usize) -> Result<Self::ScalarCollection, Error>;
    /// As many components as the grid has dimensions; another number is an error that names both.
    fn vector_collection_of(&mut self, components: &[&Self::ScalarCollection]) -> Result<Self::VectorCollection, Error>;

    // Collections of Bool.
    fn compare(&mut self, op: Comparison, a: &Self::ScalarCollection, b: &Self::ScalarCollection) -> Result<Self::BoolCollection, Error>;
    fn compare_scalar(&mut self, op: Comparison, a: &Self::ScalarCollection, s: &Self::Scalar) -> Result<Self::BoolCollection, Error>;
    fn scalar_compare(&mut self, op: Comparison, s: &Self::Scalar, a: &Self::ScalarCollection) -> Result<Self::BoolCollection, Error>;
    /// True if two entities, or two Empties, are the same.
    fn same_entities(&mut self, a: &Self::EntityCollection, b: &Self::EntityCollection) -> Result<Self::BoolCollection, Error>;
    fn not(&mut self, a: &Self::BoolCollection) -> Result<Self::BoolCollection, Error>;

    /// For each element the value of one branch; NaN of the other does not propagate.
    fn select(
        &mut self,
        condition: &Self::BoolCollection,
        a: &Self::ScalarCollection,
        b: &Self::ScalarCollection,
    ) -> Result<Self::ScalarCollection, Error>;
    fn select_vectors(
        &mut self,
        condition: &Self::BoolCollection,
        a: &Self::VectorCollection,
        b: &Self::VectorCollection,
    ) -> Result<Self::VectorCollection, Error>;
    fn select_bools(
        &mut self,
        condition: &Self::BoolCollection,
        a: &Self::BoolCollection,
        b: &Self::BoolCollection,
    ) -> Result<Self::BoolCollection, Error>;
    fn select_entities(
        &mut self,
        condition: &Self::BoolCollection,
        a: &Self::EntityCollection,
        b: &Self::EntityCollection,
    ) -> Result<Self::EntityCollection, Error>;

    // Gather and scatter.
    /// Gathers data at the entities of `target`. An Empty target is an error that names the
    /// element.
    fn on(&mut self, data: &Self::ScalarCollection, target: &Self::EntityCollection) -> Result<Self::ScalarCollection, Error>;
    fn on_vectors(&mut self, data: &Self::VectorCollection, target: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    fn on_bools(&mut self, data: &Self::BoolCollection, target: &Self::EntityCollection) -> Result<Self::BoolCollection, Error>;
    fn on_entities(&mut self, data: &Self::EntityCollection, target: &Self::EntityCollection) -> Result<Self::EntityCollection, Error>;
    /// Scatters to a domain that contains the data's, with zeros elsewhere.
    fn extend(&mut self, data: &Self::ScalarCollection, domain: &Self::Domain) -> Result<Self::ScalarCollection, Error>;
    fn extend_vectors(&mut self, data: &Self::VectorCollection, domain: &Self::Domain) -> Result<Self::VectorCollection, Error>;
    fn extend_bools(&mut self, data: &Self::BoolCollection, domain: &Self::Domain) -> Result<Self::BoolCollection, Error>;
    fn extend_entities(&mut self, data: &Self::EntityCollection, domain: &Self::Domain) -> Result<Self::EntityCollection, Error>;
    /// The domain that a collection is on.
    fn domain_of(&self, data: &Self::ScalarCollection) -> Self::Domain;
    fn domain_of_vectors(&self, data: &Self::VectorCollection) -> Self::Domain;
    fn domain_of_bools(&self, data: &Self::BoolCollection) -> Self::Domain;
    /// Broadcasts a value to a domain.
    fn broadcast(&mut self, value: &Self::Scalar, domain: &Self::Domain) -> Result<Self::ScalarCollection, Error>;
    fn broadcast_vector(&mut self, value: &Self::Vector, domain: &Self::Domain) -> Result<Self::VectorCollection, Error>;
    fn broadcast_bool(&mut self, value: &Self::Bool, domain: &Self::Domain) -> Result<Self::BoolCollection, Error>;

    // Discrete operators and reductions.
    /// For each interior face: second minus first cell.
    fn gradient(&mut self, values: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error>;
    /// For each cell: signed sum over its faces in ascending face index. Values on interior or on
    /// all faces.
    fn divergence(&mut self, values: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error>;
    /// For each cell: a reduction of `first` on the faces of which it is the first cell and of
    /// `second` on those of which it is the second, in ascending face index. Both on one set of
    /// faces; others do not take part.
    fn face_reduce(
        &mut self,
        reduction: FaceReduction,
        first: &Self::ScalarCollection,
        second: &Self::ScalarCollection,
    ) -> Result<Self::ScalarCollection, Error>;
    /// The sum of [`Operations::face_reduce`], component by component.
    fn face_sum_vectors(
        &mut self,
        first: &Self::VectorCollection,
        second: &Self::VectorCollection,
    ) -> Result<Self::VectorCollection, Error>;
    fn reduce(&mut self, reduction: Reduction, values: &Self::ScalarCollection) -> Result<Self::Scalar, Error>;
    /// Component by component.
    fn reduce_vectors(&mut self, reduction: Reduction, values: &Self::VectorCollection) -> Result<Self::Vector, Error>;
    fn reduce_bools(&mut self, reduction: BoolReduction, values: &Self::BoolCollection) -> Result<Self::Bool, Error>;

    // Sequences.
    fn sequence_neg(&mut self, sequence: &Self::Sequence) -> Result<Self::Sequence, Error>;
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
