//! The operation level (`-O0`): one method per Equelle operation, whatever the types of its
//! operands.
//!
//! Where operands may have several types, an operation is a trait with type parameters, which a
//! back-end implements once for each of them: `rt.add(&a, &b)` adds two Scalars, two collections,
//! or two Vectors. [`Operations`] lists what there is for which types. Collections in one call are
//! on the same domain unless said otherwise, as the compiler has checked.

use crate::error::Error;
use crate::grid::SideMap;
use crate::operators::{Binary, BinaryMath, BoolReduction, Comparison, Elementary, FaceReduction, Logic, Reduction, Unary};
use crate::traits::EquelleRuntime;

/// Operations on collections of one type, of numbers, truth values or entities.
#[allow(missing_docs)]
pub trait Collections<C>: EquelleRuntime {
    /// The domain that a collection is on.
    fn domain_of(&self, data: &C) -> Self::Domain;
    /// Gathers data at the entities of `target`. An Empty target is an error that names the
    /// element.
    fn on(&mut self, data: &C, target: &Self::EntityCollection) -> Result<C, Error>;
    /// Scatters to a domain that contains the data's, with zeros elsewhere.
    fn extend(&mut self, data: &C, domain: &Self::Domain) -> Result<C, Error>;
    /// For each element the value of one branch; NaN of the other does not propagate.
    fn select(&mut self, condition: &Self::BoolCollection, a: &C, b: &C) -> Result<C, Error>;
}

/// Collections of equal values.
pub trait Broadcast<V>: EquelleRuntime {
    /// The collection of such values.
    type Collection;
    /// Broadcasts a value to a domain.
    ///
    /// # Errors
    /// Out of memory.
    fn broadcast(&mut self, value: &V, domain: &Self::Domain) -> Result<Self::Collection, Error>;
}

/// Operations on one operand, component by component.
#[allow(missing_docs)]
pub trait UnaryOperations<A> {
    /// The operation for any operator.
    fn unary(&mut self, op: Unary, a: &A) -> Result<A, Error>;
    fn neg(&mut self, a: &A) -> Result<A, Error> {
        self.unary(Unary::Neg, a)
    }
    fn abs(&mut self, a: &A) -> Result<A, Error> {
        self.unary(Unary::Abs, a)
    }
    fn sqrt(&mut self, a: &A) -> Result<A, Error> {
        self.unary(Unary::Sqrt, a)
    }
    fn elementary(&mut self, function: Elementary, a: &A) -> Result<A, Error> {
        self.unary(Unary::Elementary(function), a)
    }
}

/// Operations on two operands. Vectors are added, and multiplied and divided by numbers.
#[allow(missing_docs)]
pub trait BinaryOperations<A, B> {
    /// The type of the result.
    type Value;
    /// The operation for any operator.
    fn binary(&mut self, op: Binary, a: &A, b: &B) -> Result<Self::Value, Error>;
    fn add(&mut self, a: &A, b: &B) -> Result<Self::Value, Error> {
        self.binary(Binary::Add, a, b)
    }
    fn sub(&mut self, a: &A, b: &B) -> Result<Self::Value, Error> {
        self.binary(Binary::Sub, a, b)
    }
    fn mul(&mut self, a: &A, b: &B) -> Result<Self::Value, Error> {
        self.binary(Binary::Mul, a, b)
    }
    fn div(&mut self, a: &A, b: &B) -> Result<Self::Value, Error> {
        self.binary(Binary::Div, a, b)
    }
    fn math(&mut self, function: BinaryMath, a: &A, b: &B) -> Result<Self::Value, Error> {
        self.binary(Binary::Math(function), a, b)
    }
}

/// Tables of numbers of one type.
pub trait Interpolation<A>: EquelleRuntime {
    /// The value of a table at each number, with its slope as derivative.
    ///
    /// # Errors
    /// Out of memory.
    fn interpolate(&mut self, table: &Self::Table, a: &A) -> Result<A, Error>;
}

/// Comparisons of numbers.
#[allow(missing_docs)]
pub trait Comparisons<A, B> {
    /// Truth values.
    type Truth;
    fn compare(&mut self, op: Comparison, a: &A, b: &B) -> Result<Self::Truth, Error>;
}

/// Operations on truth values, of which the second operand may be one for all elements.
#[allow(missing_docs)]
pub trait LogicOperations<A, B> {
    /// The operation for any operator.
    fn logic(&mut self, op: Logic, a: &A, b: &B) -> Result<A, Error>;
    fn and(&mut self, a: &A, b: &B) -> Result<A, Error> {
        self.logic(Logic::And, a, b)
    }
    fn or(&mut self, a: &A, b: &B) -> Result<A, Error> {
        self.logic(Logic::Or, a, b)
    }
    fn xor(&mut self, a: &A, b: &B) -> Result<A, Error> {
        self.logic(Logic::Xor, a, b)
    }
}

/// Negation of truth values.
#[allow(missing_docs)]
pub trait Negation<A> {
    fn not(&mut self, a: &A) -> Result<A, Error>;
}

/// Vectors made of components.
pub trait Components<S> {
    /// Vectors with such components.
    type Composed;
    /// As many components as the grid has dimensions; another number is an error that names both.
    ///
    /// # Errors
    /// `Data` for another number.
    fn vector(&mut self, components: &[&S]) -> Result<Self::Composed, Error>;
}

/// Operations on Vectors that give numbers.
#[allow(missing_docs)]
pub trait VectorOperations<V> {
    /// A component.
    type Component;
    fn dot(&mut self, a: &V, b: &V) -> Result<Self::Component, Error>;
    fn length(&mut self, a: &V) -> Result<Self::Component, Error>;
    fn component(&mut self, a: &V, index: usize) -> Result<Self::Component, Error>;
}

/// Reductions over the faces of cells.
pub trait FaceReductions<C> {
    /// For each cell: a reduction of `first` on the faces of which it is the first cell and of
    /// `second` on those of which it is the second, in ascending face index. Both on one set of
    /// faces; others do not take part. Vectors are reduced component by component.
    ///
    /// # Errors
    /// Out of memory.
    fn face_reduce(&mut self, reduction: FaceReduction, first: &C, second: &C) -> Result<C, Error>;
}

/// Reductions over all elements.
pub trait Reductions<C> {
    /// How they reduce.
    type Reduction;
    /// The result.
    type Value;
    /// The reduction, of Vectors component by component.
    ///
    /// # Errors
    /// `Simulation` for the extreme of no elements.
    fn reduce(&mut self, reduction: Self::Reduction, values: &C) -> Result<Self::Value, Error>;
}

type Scalar<R> = <R as EquelleRuntime>::Scalar;
type Vector<R> = <R as EquelleRuntime>::Vector;
type Bool<R> = <R as EquelleRuntime>::Bool;
type Sequence<R> = <R as EquelleRuntime>::Sequence;
type Scalars<R> = <R as EquelleRuntime>::ScalarCollection;
type Vectors<R> = <R as EquelleRuntime>::VectorCollection;
type Bools<R> = <R as EquelleRuntime>::BoolCollection;
type Entities<R> = <R as EquelleRuntime>::EntityCollection;

/// The operation level: which operations a back-end has, and those on operands of one type alone.
#[allow(missing_docs)]
pub trait Operations:
    EquelleRuntime
    + Collections<Scalars<Self>>
    + Collections<Vectors<Self>>
    + Collections<Bools<Self>>
    + Collections<Entities<Self>>
    + Broadcast<Scalar<Self>, Collection = Scalars<Self>>
    + Broadcast<Vector<Self>, Collection = Vectors<Self>>
    + Broadcast<Bool<Self>, Collection = Bools<Self>>
    + UnaryOperations<Scalar<Self>>
    + UnaryOperations<Vector<Self>>
    + UnaryOperations<Scalars<Self>>
    + UnaryOperations<Vectors<Self>>
    + UnaryOperations<Sequence<Self>>
    + BinaryOperations<Scalar<Self>, Scalar<Self>, Value = Scalar<Self>>
    + BinaryOperations<Scalars<Self>, Scalars<Self>, Value = Scalars<Self>>
    + BinaryOperations<Scalars<Self>, Scalar<Self>, Value = Scalars<Self>>
    + BinaryOperations<Scalar<Self>, Scalars<Self>, Value = Scalars<Self>>
    + BinaryOperations<Vector<Self>, Vector<Self>, Value = Vector<Self>>
    + BinaryOperations<Vector<Self>, Scalar<Self>, Value = Vector<Self>>
    + BinaryOperations<Vector<Self>, Scalars<Self>, Value = Vectors<Self>>
    + BinaryOperations<Vectors<Self>, Vectors<Self>, Value = Vectors<Self>>
    + BinaryOperations<Vectors<Self>, Scalars<Self>, Value = Vectors<Self>>
    + BinaryOperations<Vectors<Self>, Scalar<Self>, Value = Vectors<Self>>
    + BinaryOperations<Sequence<Self>, Scalar<Self>, Value = Sequence<Self>>
    + Interpolation<Scalar<Self>>
    + Interpolation<Scalars<Self>>
    + Comparisons<Scalar<Self>, Scalar<Self>, Truth = Bool<Self>>
    + Comparisons<Scalars<Self>, Scalars<Self>, Truth = Bools<Self>>
    + Comparisons<Scalars<Self>, Scalar<Self>, Truth = Bools<Self>>
    + Comparisons<Scalar<Self>, Scalars<Self>, Truth = Bools<Self>>
    + LogicOperations<Bool<Self>, Bool<Self>>
    + LogicOperations<Bools<Self>, Bools<Self>>
    + LogicOperations<Bools<Self>, Bool<Self>>
    + Negation<Bool<Self>>
    + Negation<Bools<Self>>
    + Components<Scalar<Self>, Composed = Vector<Self>>
    + Components<Scalars<Self>, Composed = Vectors<Self>>
    + VectorOperations<Vector<Self>, Component = Scalar<Self>>
    + VectorOperations<Vectors<Self>, Component = Scalars<Self>>
    + FaceReductions<Scalars<Self>>
    + FaceReductions<Vectors<Self>>
    + Reductions<Scalars<Self>, Reduction = Reduction, Value = Scalar<Self>>
    + Reductions<Vectors<Self>, Reduction = Reduction, Value = Vector<Self>>
    + Reductions<Bools<Self>, Reduction = BoolReduction, Value = Bool<Self>>
{
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
    /// True if two entities, or two Empties, are the same.
    fn same_entities(&mut self, a: &Self::EntityCollection, b: &Self::EntityCollection) -> Result<Self::BoolCollection, Error>;
    fn measure(&mut self, entities: &Self::EntityCollection) -> Result<Self::ScalarCollection, Error>;
    fn centroid(&mut self, entities: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    fn normal(&mut self, faces: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    /// From the centroid of each face on the side of its second cell to that on the side of the
    /// first, in metres; zero where both meet.
    fn face_gap(&mut self, faces: &Self::EntityCollection) -> Result<Self::VectorCollection, Error>;
    /// Transmissibility that the grid gives each face, in cubic metres; negative where that of
    /// geometry holds.
    fn face_transmissibility(&mut self, faces: &Self::EntityCollection) -> Result<Self::ScalarCollection, Error>;

    /// One of two whole values.
    fn choose<T: Clone>(&mut self, condition: &Self::Bool, a: &T, b: &T) -> Result<T, Error>;

    // Discrete operators.
    /// For each interior face: second minus first cell.
    fn gradient(&mut self, values: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error>;
    /// For each cell: signed sum over its faces in ascending face index. Values on interior or on
    /// all faces.
    fn divergence(&mut self, values: &Self::ScalarCollection) -> Result<Self::ScalarCollection, Error>;
}
