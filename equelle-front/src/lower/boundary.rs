//! Cells and directions of boundary faces, as operations on the two cells of each face.

use super::function::Lowering;
use crate::ir::{Op, UnaryOp, ValueId};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, SetId, Shape, Type};

impl Lowering<'_> {
    /// `IsEmpty(FirstCell(faces)) ? SecondCell(faces) : FirstCell(faces)`
    pub(super) fn inner_cell(&mut self, faces: ValueId, span: Span) -> Op {
        let faces = self.with_one_cell(faces, span);
        let (first, outside) = self.first_cell_is_outside(faces, span);
        let second = self.cells(Op::SecondCell(faces), faces, span);
        Op::Select { condition: outside, if_true: second, if_false: first }
    }

    /// `IsEmpty(FirstCell(faces)) ? (-1 Extend faces) : (1 Extend faces)`
    pub(super) fn outward_sign(&mut self, faces: ValueId, span: Span) -> Op {
        let checked = self.with_one_cell(faces, span);
        let (_, outside) = self.first_cell_is_outside(checked, span);
        let one = self.emit(Op::Real(1.0), Type::SCALAR, Dimension::NONE, span);
        let minus_one = self.emit(Op::Unary(UnaryOp::Neg, one), Type::SCALAR, Dimension::NONE, span);
        let inwards = self.for_each(minus_one, faces, span);
        let outwards = self.for_each(one, faces, span);
        Op::Select { condition: outside, if_true: inwards, if_false: outwards }
    }

    /// `Normal(faces) * OutwardSign(faces)`
    pub(super) fn outward_normal(&mut self, faces: ValueId, span: Span) -> Op {
        let sign = self.outward_sign(faces, span);
        let set = self.set_of(faces);
        let sign = self.emit(sign, Type::collection(Basic::Scalar, set), Dimension::NONE, span);
        let normal = self.emit(Op::Normal(faces), Type::collection(Basic::Vector, set), Dimension::NONE, span);
        Op::Arithmetic(Arithmetic::Mul, normal, sign)
    }

    /// The faces, which are checked where they may have two cells.
    fn with_one_cell(&mut self, faces: ValueId, span: Span) -> ValueId {
        let sets = &self.program.sets;
        let within = self.within(faces);
        if sets.is_subset(within, sets.canonical(CanonicalSet::BOUNDARY_FACES)) {
            return faces;
        }
        let ty = Type::entities(EntityKind::Face, self.set_of(faces), within);
        self.emit(Op::OneCell(faces), ty, Dimension::NONE, span)
    }

    /// The first cell of each face, and whether it is Empty.
    fn first_cell_is_outside(&mut self, faces: ValueId, span: Span) -> (ValueId, ValueId) {
        let first = self.cells(Op::FirstCell(faces), faces, span);
        let ty = Type::collection(Basic::Bool, self.set_of(faces));
        (first, self.emit(Op::IsEmpty(first), ty, Dimension::NONE, span))
    }

    fn cells(&mut self, op: Op, faces: ValueId, span: Span) -> ValueId {
        let all = self.program.sets.canonical(CanonicalSet::ALL_CELLS);
        self.emit(op, Type::entities(EntityKind::Cell, self.set_of(faces), all), Dimension::NONE, span)
    }

    /// A number for each face: spread over the domain, or over all faces and then restricted where
    /// the faces are no domain.
    fn for_each(&mut self, number: ValueId, faces: ValueId, span: Span) -> ValueId {
        let ty = Type::collection(Basic::Scalar, self.set_of(faces));
        if matches!(self.values[faces.0 as usize].ty.shape, Shape::Domain(_)) {
            return self.emit(Op::Broadcast { value: number, domain: faces }, ty, Dimension::NONE, span);
        }
        let all = self.program.sets.canonical(CanonicalSet::ALL_FACES);
        let domain = self.emit(Op::CanonicalSet(CanonicalSet::ALL_FACES), Type::domain(EntityKind::Face, all), Dimension::NONE, span);
        let data = self.emit(Op::Broadcast { value: number, domain }, Type::collection(Basic::Scalar, all), Dimension::NONE, span);
        self.emit(Op::On { data, target: faces }, ty, Dimension::NONE, span)
    }

    fn within(&self, faces: ValueId) -> SetId {
        let all = self.program.sets.canonical(CanonicalSet::ALL_FACES);
        self.values[faces.0 as usize].ty.within.unwrap_or(all)
    }

    /// The set that a collection of faces is on.
    fn set_of(&self, faces: ValueId) -> SetId {
        self.values[faces.0 as usize].ty.mapping().unwrap_or_else(|| self.within(faces))
    }
}
