//! Reads by index: the value at an offset, and beyond the sides of the grid what rules say.

use super::function::Lowering;
use crate::ir::{Op, UnaryOp, ValueId};
use crate::ops::{Arithmetic, Beyond, CellFact, GridNumber, Offset, SideMap};
use crate::source::Span;
use crate::typed::{Expr, Rule, Rules};
use crate::types::{CanonicalSet, Dimension, EntityKind, Shape, Type};

/// Low or high side of an axis, by the sign of an offset, as an index of [`Rules`].
fn side(axis: usize, by: i8) -> usize {
    2 * axis + usize::from(by > 0)
}

/// Cell that a rule reads.
fn map_of(rule: Rule) -> SideMap {
    match rule {
        Rule::Periodic => SideMap::Wrap,
        Rule::Mirror | Rule::Negate | Rule::AtFace(_) | Rule::Slope(_) => SideMap::Mirror,
        Rule::MirrorAt => SideMap::MirrorAt,
        Rule::Copy | Rule::Value(_) | Rule::Polynomial(_) => SideMap::Clamp,
    }
}

/// A read in progress.
struct Read<'a, 'p> {
    lowering: &'a mut Lowering<'p>,
    expr: &'a Expr,
    args: &'a [ValueId],
    rules: &'a Rules,
}

impl Lowering<'_> {
    pub(super) fn all_cells(&mut self, span: Span) -> ValueId {
        let set = self.program.sets.canonical(CanonicalSet::ALL_CELLS);
        self.emit(Op::CanonicalSet(CanonicalSet::ALL_CELLS), Type::domain(EntityKind::Cell, set), Dimension::NONE, span)
    }

    /// The first argument at an offset.
    pub(super) fn read(&mut self, expr: &Expr, args: &[ValueId], by: Offset, rules: &Rules) -> ValueId {
        let mut beyond = Beyond::default();
        for axis in 0..3 {
            if by[axis] != 0
                && let Some(rule) = rules[side(axis, by[axis])]
            {
                beyond[side(axis, by[axis])] = map_of(rule);
            }
        }
        Read { lowering: self, expr, args, rules }.by_rules(0, by, beyond)
    }
}

impl Read<'_, '_> {
    /// The value at an offset, with the rules of this axis and those after it.
    fn by_rules(&mut self, axis: usize, by: Offset, beyond: Beyond) -> ValueId {
        if axis == 3 {
            return self.data_at(self.args[0], by, beyond);
        }
        let offset = by[axis];
        let rule = if offset == 0 { None } else { self.rules[side(axis, offset)] };
        let args = self.args;
        let arg = |number: u32| args[number as usize];
        match rule {
            None | Some(Rule::Periodic | Rule::Mirror | Rule::MirrorAt | Rule::Copy) => self.by_rules(axis + 1, by, beyond),
            Some(Rule::Negate) => {
                let inside = self.by_rules(axis + 1, by, beyond);
                let outside = self.like(Op::Unary(UnaryOp::Neg, inside));
                self.where_outside(axis, offset, outside, inside)
            }
            Some(Rule::AtFace(given)) => {
                let inside = self.by_rules(axis + 1, by, beyond);
                let given = self.given(arg(given), axis, by, beyond);
                let two = self.real(2.0);
                let twice = self.like(Op::Arithmetic(Arithmetic::Mul, two, given));
                let outside = self.like(Op::Arithmetic(Arithmetic::Sub, twice, inside));
                self.where_outside(axis, offset, outside, inside)
            }
            Some(Rule::Value(given)) => {
                let inside = self.by_rules(axis + 1, by, beyond);
                let outside = self.given(arg(given), axis, by, beyond);
                self.where_outside(axis, offset, outside, inside)
            }
            Some(Rule::Slope(given)) => {
                let inside = self.by_rules(axis + 1, by, beyond);
                let given = self.given(arg(given), axis, by, beyond);
                let steps = self.steps_outside(axis, offset);
                let width =
                    self.lowering.emit(Op::GridNumber(GridNumber::Width(axis as u8)), Type::SCALAR, Dimension::LENGTH, self.expr.span);
                let distance = self.scalars(Op::Arithmetic(Arithmetic::Mul, steps, width));
                let change = self.like(Op::Arithmetic(Arithmetic::Mul, distance, given));
                let op = if offset < 0 { Arithmetic::Sub } else { Arithmetic::Add };
                let outside = self.like(Op::Arithmetic(op, inside, change));
                self.where_outside(axis, offset, outside, inside)
            }
            Some(Rule::Polynomial(degree)) => self.extrapolated(axis, by, beyond, degree),
        }
    }

    /// `2m + 1` of a place m cells beyond a side: the distance from the cell m cells inside.
    fn steps_outside(&mut self, axis: usize, offset: i8) -> ValueId {
        let span = self.expr.span;
        let cells = self.lowering.all_cells(span);
        let index = self.scalars(Op::CellFact { fact: CellFact::Index(axis as u8), cells });
        let two = self.real(2.0);
        let twice = self.scalars(Op::Arithmetic(Arithmetic::Mul, two, index));
        if offset < 0 {
            let from = self.real(f64::from(-1 - 2 * i32::from(offset)));
            let from = self.lowering.broadcast_like(from, twice, span);
            return self.scalars(Op::Arithmetic(Arithmetic::Sub, from, twice));
        }
        let extent = self.lowering.emit(Op::GridNumber(GridNumber::Extent(axis as u8)), Type::SCALAR, Dimension::NONE, span);
        let single = |this: &mut Self, op| this.lowering.emit(op, Type::SCALAR, Dimension::NONE, span);
        let doubled = single(self, Op::Arithmetic(Arithmetic::Mul, two, extent));
        let plus = self.real(f64::from(2 * i32::from(offset) + 1));
        let from = single(self, Op::Arithmetic(Arithmetic::Sub, plus, doubled));
        let from = self.lowering.broadcast_like(from, twice, span);
        self.scalars(Op::Arithmetic(Arithmetic::Add, twice, from))
    }

    /// By the polynomial through the cells next to the side: a sum for each distance from it.
    fn extrapolated(&mut self, axis: usize, by: Offset, beyond: Beyond, degree: u8) -> ValueId {
        let reach = i16::from(by[axis].unsigned_abs());
        let towards: i16 = if by[axis] < 0 { -1 } else { 1 };
        let mut value = self.by_rules(axis + 1, by, beyond);
        // `distance` is that of the current cell from the last one, so that m + 1 cells are beyond.
        for distance in (0..reach).rev() {
            let m = reach - 1 - distance;
            let mut sum: Option<ValueId> = None;
            for node in 0..=i16::from(degree) {
                let mut place = by;
                place[axis] = i8::try_from(towards * (distance - node)).unwrap_or(0);
                let mut sides = beyond;
                sides[2 * axis] = SideMap::default();
                sides[2 * axis + 1] = SideMap::default();
                let at = self.by_rules(axis + 1, place, sides);
                let weight = self.real(weight(f64::from(-1 - m), u32::from(degree), node as u32));
                let term = self.like(Op::Arithmetic(Arithmetic::Mul, weight, at));
                sum = Some(match sum {
                    None => term,
                    Some(sum) => self.like(Op::Arithmetic(Arithmetic::Add, sum, term)),
                });
            }
            let by = i8::try_from(towards * (distance + 1)).unwrap_or(0);
            value = self.where_outside(axis, by, sum.unwrap_or(value), value);
        }
        value
    }

    fn where_outside(&mut self, axis: usize, by: i8, outside: ValueId, inside: ValueId) -> ValueId {
        let cells = self.lowering.all_cells(self.expr.span);
        let fact = CellFact::Outside { axis: axis as u8, by };
        let set = self.lowering.program.sets.canonical(CanonicalSet::ALL_CELLS);
        let ty = Type::collection(crate::types::Basic::Bool, set);
        let condition = self.lowering.emit(Op::CellFact { fact, cells }, ty, Dimension::NONE, self.expr.span);
        self.like(Op::Select { condition, if_true: outside, if_false: inside })
    }

    /// The value of a rule: one, or that of the last cell before the side. It has been read at the
    /// offset along the axes after this one.
    fn given(&mut self, value: ValueId, axis: usize, mut by: Offset, mut beyond: Beyond) -> ValueId {
        if self.lowering.values[value.0 as usize].ty.shape == Shape::Single {
            let like = self.lowering.all_cells(self.expr.span);
            return self.lowering.broadcast_like(value, like, self.expr.span);
        }
        beyond[side(axis, by[axis])] = SideMap::Clamp;
        by[axis + 1..].fill(0);
        self.data_at(value, by, beyond)
    }

    fn data_at(&mut self, data: ValueId, by: Offset, beyond: Beyond) -> ValueId {
        if by == Offset::default() {
            return data;
        }
        let set = self.lowering.program.sets.canonical(CanonicalSet::ALL_CELLS);
        let cells = self.lowering.all_cells(self.expr.span);
        let ty = Type::entities(EntityKind::Cell, set, set);
        let target = self.lowering.emit(Op::Shift { cells, by, beyond: asked(by, beyond) }, ty, Dimension::NONE, self.expr.span);
        let info = &self.lowering.values[data.0 as usize];
        let (shape, dim) = (info.ty.mapping().map_or(info.ty.shape, Shape::Collection), info.dim);
        let ty = Type { shape, ..info.ty };
        self.lowering.emit(Op::On { data, target }, ty, dim, self.expr.span)
    }

    fn real(&mut self, number: f64) -> ValueId {
        self.lowering.emit(Op::Real(number), Type::SCALAR, Dimension::NONE, self.expr.span)
    }

    fn scalars(&mut self, op: Op) -> ValueId {
        let set = self.lowering.program.sets.canonical(CanonicalSet::ALL_CELLS);
        self.lowering.emit(op, Type::collection(crate::types::Basic::Scalar, set), Dimension::NONE, self.expr.span)
    }

    /// A value of the type of the self.
    fn like(&mut self, op: Op) -> ValueId {
        self.lowering.one(self.expr, op)
    }
}

/// The maps that an offset asks for: those of the sides that it leads towards.
fn asked(by: Offset, mut beyond: Beyond) -> Beyond {
    for (number, map) in beyond.iter_mut().enumerate() {
        let by = by[number / 2];
        if by == 0 || (by > 0) != (number % 2 == 1) {
            *map = SideMap::default();
        }
    }
    beyond
}

/// The weight of a cell in the polynomial of a degree through the cells 0, 1, ..., at a place.
fn weight(place: f64, degree: u32, node: u32) -> f64 {
    let others = (0..=degree).filter(|&other| other != node);
    let (above, below) =
        others.fold((1.0, 1.0), |(above, below), other| (above * (place - f64::from(other)), below * (f64::from(node) - f64::from(other))));
    above / below
}
