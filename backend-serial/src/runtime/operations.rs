//! The operation level: each method calls the file of its topic and adds the Equelle line to
//! errors.

use std::sync::Arc;

use equelle_runtime::grid::SideMap;
use equelle_runtime::math::table::Table;
use equelle_runtime::operations::{
    BinaryOperations, Comparisons, Components, Interpolation, LogicOperations, Negation, UnaryOperations, VectorOperations,
};
use equelle_runtime::{Binary, CanonicalSet, Comparison, EntityKind, Error, Extent, Logic, Operations, Real, Unary, math};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection, VectorCollection};
use super::topology::FaceCell;
use super::vectors::Vector;
use super::{arithmetic, bools, discrete, sequences, structured, topology, vectors};

pub(super) type Scalars<R> = ScalarCollection<R>;
pub(super) type Vectors<R> = VectorCollection<R>;
pub(super) type Bools = BoolCollection;
pub(super) type Entities = EntityCollection;
pub(super) type Domain = Arc<equelle_runtime::Domain>;
type Sequence = Arc<Vec<f64>>;

impl<R: Real> Operations for SerialRuntime<R> {
    fn first_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.located(topology::cell_of(self, faces, FaceCell::First))
    }

    fn second_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.located(topology::cell_of(self, faces, FaceCell::Second))
    }

    fn offset_cells(&mut self, cells: &Entities, by: [i8; 3], beyond: [SideMap; 6]) -> Result<Entities, Error> {
        self.located(structured::offset_cells(self, cells, by, beyond))
    }

    fn is_outside(&mut self, cells: &Entities, axis: usize, by: i8) -> Result<Bools, Error> {
        self.located(structured::truths(self, cells, |shape, cell| shape.is_outside(cell, axis, by)))
    }

    fn is_even(&mut self, cells: &Entities, axes: [bool; 3]) -> Result<Bools, Error> {
        self.located(structured::truths(self, cells, |shape, cell| shape.is_even(cell, axes)))
    }

    fn index_along(&mut self, cells: &Entities, axis: usize) -> Result<Scalars<R>, Error> {
        self.located(structured::index_along(self, cells, axis))
    }

    fn is_empty(&mut self, entities: &Entities) -> Result<Bools, Error> {
        Ok(topology::is_empty(self, entities))
    }

    fn one_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.located(topology::one_cell(self, faces))
    }

    fn measure(&mut self, entities: &Entities) -> Result<Scalars<R>, Error> {
        self.located(topology::measure(self, entities))
    }

    fn centroid(&mut self, entities: &Entities) -> Result<Vectors<R>, Error> {
        self.located(topology::centroid(self, entities))
    }

    fn face_gap(&mut self, faces: &Entities) -> Result<Vectors<R>, Error> {
        self.located(topology::face_gap(self, faces))
    }

    fn face_transmissibility(&mut self, faces: &Entities) -> Result<Scalars<R>, Error> {
        self.located(topology::face_transmissibility(self, faces))
    }

    fn normal(&mut self, faces: &Entities) -> Result<Vectors<R>, Error> {
        self.located(topology::normal(self, faces))
    }

    fn choose<T: Clone>(&mut self, condition: &bool, a: &T, b: &T) -> Result<T, Error> {
        Ok(if *condition { a.clone() } else { b.clone() })
    }

    fn same_entities(&mut self, a: &Entities, b: &Entities) -> Result<Bools, Error> {
        Ok(bools::same_entities(self, a, b))
    }

    fn gradient(&mut self, values: &Scalars<R>) -> Result<Scalars<R>, Error> {
        let interior = self.canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
        Ok(discrete::gradient(self, &interior, values))
    }

    fn divergence(&mut self, values: &Scalars<R>) -> Result<Scalars<R>, Error> {
        let cells = self.canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        Ok(discrete::divergence(self, &cells, values))
    }
}

impl<R: Real> UnaryOperations<f64> for SerialRuntime<R> {
    fn unary(&mut self, op: Unary, a: &f64) -> Result<f64, Error> {
        Ok(op.of(*a))
    }
}

impl<R: Real> UnaryOperations<Vector> for SerialRuntime<R> {
    fn unary(&mut self, op: Unary, a: &Vector) -> Result<Vector, Error> {
        Ok(a.map(|a| op.of(a)))
    }
}

impl<R: Real> UnaryOperations<Scalars<R>> for SerialRuntime<R> {
    fn unary(&mut self, op: Unary, a: &Scalars<R>) -> Result<Scalars<R>, Error> {
        Ok(arithmetic::unary(self, op, a))
    }
}

impl<R: Real> UnaryOperations<Vectors<R>> for SerialRuntime<R> {
    fn unary(&mut self, op: Unary, a: &Vectors<R>) -> Result<Vectors<R>, Error> {
        vectors::map(self, a, |a| Ok(arithmetic::unary(self, op, a)))
    }
}

impl<R: Real> UnaryOperations<Sequence> for SerialRuntime<R> {
    fn unary(&mut self, op: Unary, sequence: &Sequence) -> Result<Sequence, Error> {
        Ok(sequences::map(sequence, |value| op.of(value)))
    }
}

impl<R: Real> BinaryOperations<f64, f64> for SerialRuntime<R> {
    type Value = f64;

    fn binary(&mut self, op: Binary, a: &f64, b: &f64) -> Result<f64, Error> {
        Ok(op.of(*a, *b))
    }
}

impl<R: Real> BinaryOperations<Vector, Vector> for SerialRuntime<R> {
    type Value = Vector;

    fn binary(&mut self, op: Binary, a: &Vector, b: &Vector) -> Result<Vector, Error> {
        Ok(std::array::from_fn(|i| op.of(a[i], b[i])))
    }
}

impl<R: Real> BinaryOperations<Vector, f64> for SerialRuntime<R> {
    type Value = Vector;

    fn binary(&mut self, op: Binary, a: &Vector, s: &f64) -> Result<Vector, Error> {
        Ok(a.map(|a| op.of(a, *s)))
    }
}

impl<R: Real> BinaryOperations<Vector, Scalars<R>> for SerialRuntime<R> {
    type Value = Vectors<R>;

    fn binary(&mut self, op: Binary, a: &Vector, s: &Scalars<R>) -> Result<Vectors<R>, Error> {
        vectors::broadcast_with(self, a, s.domain(), |a| Ok(arithmetic::scalar_binary(self, op, a, s)))
    }
}

impl<R: Real> BinaryOperations<Scalars<R>, Scalars<R>> for SerialRuntime<R> {
    type Value = Scalars<R>;

    fn binary(&mut self, op: Binary, a: &Scalars<R>, b: &Scalars<R>) -> Result<Scalars<R>, Error> {
        self.located(arithmetic::binary(self, op, a, b))
    }
}

impl<R: Real> BinaryOperations<Scalars<R>, f64> for SerialRuntime<R> {
    type Value = Scalars<R>;

    fn binary(&mut self, op: Binary, a: &Scalars<R>, s: &f64) -> Result<Scalars<R>, Error> {
        Ok(arithmetic::binary_scalar(self, op, a, R::from_f64(*s)))
    }
}

impl<R: Real> BinaryOperations<f64, Scalars<R>> for SerialRuntime<R> {
    type Value = Scalars<R>;

    fn binary(&mut self, op: Binary, s: &f64, a: &Scalars<R>) -> Result<Scalars<R>, Error> {
        Ok(arithmetic::scalar_binary(self, op, R::from_f64(*s), a))
    }
}

impl<R: Real> BinaryOperations<Vectors<R>, Vectors<R>> for SerialRuntime<R> {
    type Value = Vectors<R>;

    fn binary(&mut self, op: Binary, a: &Vectors<R>, b: &Vectors<R>) -> Result<Vectors<R>, Error> {
        self.located(vectors::zip(self, a, b, |a, b| arithmetic::binary(self, op, a, b)))
    }
}

impl<R: Real> BinaryOperations<Vectors<R>, Scalars<R>> for SerialRuntime<R> {
    type Value = Vectors<R>;

    fn binary(&mut self, op: Binary, a: &Vectors<R>, s: &Scalars<R>) -> Result<Vectors<R>, Error> {
        self.located(vectors::map(self, a, |a| arithmetic::binary(self, op, a, s)))
    }
}

impl<R: Real> BinaryOperations<Vectors<R>, f64> for SerialRuntime<R> {
    type Value = Vectors<R>;

    fn binary(&mut self, op: Binary, a: &Vectors<R>, s: &f64) -> Result<Vectors<R>, Error> {
        let s = R::from_f64(*s);
        vectors::map(self, a, |a| Ok(arithmetic::binary_scalar(self, op, a, s)))
    }
}

impl<R: Real> BinaryOperations<Sequence, f64> for SerialRuntime<R> {
    type Value = Sequence;

    fn binary(&mut self, op: Binary, sequence: &Sequence, s: &f64) -> Result<Sequence, Error> {
        Ok(sequences::map(sequence, |value| op.of(value, *s)))
    }
}

impl<R: Real> Interpolation<f64> for SerialRuntime<R> {
    fn interpolate(&mut self, table: &Arc<Table>, a: &f64) -> Result<f64, Error> {
        Ok(math::interpolate(table.numbers(), *a))
    }
}

impl<R: Real> Interpolation<Scalars<R>> for SerialRuntime<R> {
    fn interpolate(&mut self, table: &Arc<Table>, a: &Scalars<R>) -> Result<Scalars<R>, Error> {
        Ok(arithmetic::interpolate(self, table, a))
    }
}

impl<R: Real> Comparisons<f64, f64> for SerialRuntime<R> {
    type Truth = bool;

    fn compare(&mut self, op: Comparison, a: &f64, b: &f64) -> Result<bool, Error> {
        Ok(op.holds(a, b))
    }
}

impl<R: Real> Comparisons<Scalars<R>, Scalars<R>> for SerialRuntime<R> {
    type Truth = Bools;

    fn compare(&mut self, op: Comparison, a: &Scalars<R>, b: &Scalars<R>) -> Result<Bools, Error> {
        Ok(bools::compare(self, op, a, b))
    }
}

impl<R: Real> Comparisons<Scalars<R>, f64> for SerialRuntime<R> {
    type Truth = Bools;

    fn compare(&mut self, op: Comparison, a: &Scalars<R>, s: &f64) -> Result<Bools, Error> {
        Ok(bools::compare_scalar(self, op, a, *s))
    }
}

impl<R: Real> Comparisons<f64, Scalars<R>> for SerialRuntime<R> {
    type Truth = Bools;

    fn compare(&mut self, op: Comparison, s: &f64, a: &Scalars<R>) -> Result<Bools, Error> {
        Ok(bools::scalar_compare(self, op, *s, a))
    }
}

impl<R: Real> LogicOperations<bool, bool> for SerialRuntime<R> {
    fn logic(&mut self, op: Logic, a: &bool, b: &bool) -> Result<bool, Error> {
        Ok(bools::combine_bools(op, *a, *b))
    }
}

impl<R: Real> LogicOperations<Bools, bool> for SerialRuntime<R> {
    fn logic(&mut self, op: Logic, a: &Bools, b: &bool) -> Result<Bools, Error> {
        let b = *b;
        Ok(bools::map_bools(self, a, |a| bools::combine_bools(op, a, b)))
    }
}

impl<R: Real> LogicOperations<Bools, Bools> for SerialRuntime<R> {
    fn logic(&mut self, op: Logic, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        Ok(bools::combine(self, a, b, |a, b| bools::combine_bools(op, a, b)))
    }
}

impl<R: Real> Negation<bool> for SerialRuntime<R> {
    fn not(&mut self, a: &bool) -> Result<bool, Error> {
        Ok(!a)
    }
}

impl<R: Real> Negation<Bools> for SerialRuntime<R> {
    fn not(&mut self, a: &Bools) -> Result<Bools, Error> {
        Ok(bools::not(self, a))
    }
}

impl<R: Real> Components<f64> for SerialRuntime<R> {
    type Composed = Vector;

    fn vector(&mut self, components: &[&f64]) -> Result<Vector, Error> {
        let components: Vec<f64> = components.iter().map(|&&component| component).collect();
        self.located(vectors::single(self, &components))
    }
}

impl<R: Real> Components<Scalars<R>> for SerialRuntime<R> {
    type Composed = Vectors<R>;

    fn vector(&mut self, components: &[&Scalars<R>]) -> Result<Vectors<R>, Error> {
        self.located(vectors::collect(self, components))
    }
}

impl<R: Real> VectorOperations<Vector> for SerialRuntime<R> {
    type Component = f64;

    fn dot(&mut self, a: &Vector, b: &Vector) -> Result<f64, Error> {
        Ok(vectors::single_dot(self, a, b))
    }

    fn length(&mut self, a: &Vector) -> Result<f64, Error> {
        Ok(vectors::single_dot(self, a, a).sqrt())
    }

    fn component(&mut self, a: &Vector, index: usize) -> Result<f64, Error> {
        self.located(vectors::single_component(self, a, index))
    }
}

impl<R: Real> VectorOperations<Vectors<R>> for SerialRuntime<R> {
    type Component = Scalars<R>;

    fn length(&mut self, a: &Vectors<R>) -> Result<Scalars<R>, Error> {
        self.located(vectors::length(self, a))
    }

    fn dot(&mut self, a: &Vectors<R>, b: &Vectors<R>) -> Result<Scalars<R>, Error> {
        self.located(vectors::dot(self, a, b))
    }

    fn component(&mut self, a: &Vectors<R>, index: usize) -> Result<Scalars<R>, Error> {
        self.located(vectors::component(self, a, index))
    }
}
