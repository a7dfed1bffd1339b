//! The statements of an audit at the end of a round.

use std::collections::BTreeSet;

use super::algebra::{Atom, Sum, Term};
use super::tags::{PARTS, TAG};
use super::values::{Flux, Values};
use crate::ir::{Module, MutableId, Op, Stmt, StmtKind, UnaryOp, Value, ValueId};
use crate::ops::{Arithmetic, Reduction};
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, SetId, Shape, Type};

/// Writes the statements of a loop's audits.
pub(super) struct Emitter<'a, 'b> {
    module: &'a mut Module,
    values: &'a mut Values<'b>,
    varying: &'a BTreeSet<ValueId>,
    span: Span,
    pub(super) statements: Vec<Stmt>,
}

impl Values<'_> {
    /// True if a flux is a factor of a term.
    pub(super) fn has_flux(&self, term: &Term) -> bool {
        term.powers.keys().any(|atom| self.fluxes.contains_key(atom))
    }

    /// True if it is, and came through no value of another variable.
    fn has_own_flux(&self, term: &Term) -> bool {
        term.via.is_empty() && self.has_flux(term)
    }
}

impl<'a, 'b> Emitter<'a, 'b> {
    pub(super) fn new(module: &'a mut Module, values: &'a mut Values<'b>, varying: &'a BTreeSet<ValueId>, span: Span) -> Emitter<'a, 'b> {
        Emitter { module, values, varying, span, statements: Vec::new() }
    }

    /// The name of a variable.
    pub(super) fn name(&self, mutable: MutableId) -> String {
        self.module.main.mutables[mutable.0 as usize].name.clone()
    }

    /// True if a sum has a flux of its own.
    pub(super) fn has_flux(&self, sum: &Sum) -> bool {
        sum.0.iter().any(|term| self.values.has_own_flux(term))
    }

    /// The outputs of a quantity: a variable with its value at the begin of the round, and its
    /// update with a sign. Terms that came through values of other variables are sources. `false`
    /// if there is no weight with which fluxes cancel inside.
    pub(super) fn quantity(&mut self, label: &str, (mutable, start): (MutableId, ValueId), (sum, sign): (&Sum, f64), span: Span) -> bool {
        let Some(weight) = sum.0.iter().find_map(|term| self.weight(term, sign)) else { return false };
        self.span = span;
        let (mut boundary, mut sources) = (Vec::new(), Vec::new());
        for term in &sum.scaled(&weight).0 {
            match self.flux_of(term) {
                Some((factor, flux)) => boundary.extend(self.through_boundary(&factor, flux)),
                None => sources.push(self.sum_of(term)),
            }
        }
        let ty = self.cells();
        let end = self.emit(Op::Load(mutable), ty);
        let difference = self.emit(Op::Arithmetic(Arithmetic::Sub, end, start), ty);
        let change = self.weighted_sum(&weight, difference);
        let content = self.weighted_sum(&weight, end);
        let parts = [self.total(&boundary), self.total(&sources), Some(change), Some(content)];
        for (part, value) in PARTS.iter().zip(parts) {
            if let Some(value) = value {
                let tag = self.emit(Op::Text(format!("{TAG}{label}{part}")), Type::TEXT);
                self.statements.push(Stmt { kind: StmtKind::Output { tag, value }, span });
            }
        }
        true
    }

    /// Computes the factor for a term with a flux that gives the flux one factor for all cells.
    fn weight(&self, term: &Term, sign: f64) -> Option<Term> {
        if !self.values.has_own_flux(term) {
            return None;
        }
        let mut weight = Term { number: sign, ..Term::default() };
        let mut n_fluxes = 0;
        for (&atom, &power) in &term.powers {
            if self.values.fluxes.contains_key(&atom) {
                n_fluxes += power;
            } else {
                let is_varying = self.is_varying(atom);
                match self.is_single(atom) {
                    // A factor of the flux, such as the step or a coefficient.
                    true if is_varying || power > 0 => {}
                    false if is_varying => return None,
                    true | false => {
                        weight.powers.insert(atom, -power);
                    }
                }
            }
        }
        (n_fluxes == 1).then_some(weight)
    }

    /// The one factor of a flux, and the flux.
    fn flux_of(&self, term: &Term) -> Option<(Term, Flux)> {
        if !self.values.has_own_flux(term) {
            return None;
        }
        let mut factor = term.clone();
        let (&atom, flux) = self.values.fluxes.iter().find(|(atom, _)| term.powers.get(atom) == Some(&1))?;
        factor.powers.remove(&atom);
        factor.powers.keys().all(|&atom| self.is_single(atom)).then_some((factor, *flux))
    }

    fn is_varying(&self, atom: Atom) -> bool {
        self.varying.contains(&self.value_of(atom))
    }

    fn is_single(&self, atom: Atom) -> bool {
        self.type_of(self.value_of(atom)).shape == Shape::Single
    }

    fn value_of(&self, atom: Atom) -> ValueId {
        self.values.representatives[atom as usize]
    }

    fn type_of(&self, value: ValueId) -> Type {
        self.module.main.values[value.0 as usize].ty
    }

    fn cells(&self) -> Type {
        Type::collection(Basic::Scalar, self.module.sets.canonical(CanonicalSet::ALL_CELLS))
    }

    fn emit(&mut self, op: Op, ty: Type) -> ValueId {
        let value = ValueId(self.module.main.values.len() as u32);
        self.module.main.values.push(Value { ty, name: String::new(), dim: Dimension::NONE, span: self.span, storage: None, array: None });
        self.statements.push(Stmt { kind: StmtKind::Let { results: vec![value], op }, span: self.span });
        value
    }

    /// A product or quotient of Scalars or collections on all cells.
    fn arithmetic(&mut self, operation: Arithmetic, a: ValueId, b: ValueId) -> ValueId {
        let ty = if self.type_of(a).shape == Shape::Single { self.type_of(b) } else { self.type_of(a) };
        self.emit(Op::Arithmetic(operation, a, b), ty)
    }

    /// A term times a value.
    fn times(&mut self, term: &Term, value: Option<ValueId>) -> ValueId {
        let mut product = value;
        for (&atom, &power) in &term.powers {
            let factor = self.value_of(atom);
            for _ in 0..power {
                product = Some(product.map_or(factor, |product| self.arithmetic(Arithmetic::Mul, product, factor)));
            }
        }
        let number = term.number;
        let mut product = match product {
            Some(product) if number == 1.0 => product,
            Some(product) if number == -1.0 => {
                let ty = self.type_of(product);
                self.emit(Op::Unary(UnaryOp::Neg, product), ty)
            }
            Some(product) => {
                let number = self.number(number);
                self.arithmetic(Arithmetic::Mul, product, number)
            }
            None => self.number(number),
        };
        for (&atom, &power) in &term.powers {
            let factor = self.value_of(atom);
            for _ in power..0 {
                product = self.arithmetic(Arithmetic::Div, product, factor);
            }
        }
        product
    }

    fn number(&mut self, number: f64) -> ValueId {
        let magnitude = self.emit(Op::Real(number.abs()), Type::SCALAR);
        if number.is_sign_negative() { self.emit(Op::Unary(UnaryOp::Neg, magnitude), Type::SCALAR) } else { magnitude }
    }

    fn weighted_sum(&mut self, weight: &Term, values: ValueId) -> ValueId {
        let product = self.times(weight, Some(values));
        self.emit(Op::Reduce(Reduction::Sum, product), Type::SCALAR)
    }

    /// The sum of a term over all cells.
    fn sum_of(&mut self, term: &Term) -> ValueId {
        let mut product = self.times(term, None);
        if self.type_of(product).shape == Shape::Single {
            let domain = self.domain(CanonicalSet::ALL_CELLS);
            let ty = self.cells();
            product = self.emit(Op::Broadcast { value: product, domain }, ty);
        }
        self.emit(Op::Reduce(Reduction::Sum, product), Type::SCALAR)
    }

    fn total(&mut self, parts: &[ValueId]) -> Option<ValueId> {
        let (&first, rest) = parts.split_first()?;
        Some(rest.iter().fold(first, |sum, &part| self.arithmetic(Arithmetic::Add, sum, part)))
    }

    fn domain(&mut self, set: CanonicalSet) -> ValueId {
        let id = self.set(set);
        self.emit(Op::CanonicalSet(set), Type::domain(set.kind, id))
    }

    fn set(&self, set: CanonicalSet) -> SetId {
        self.module.sets.canonical(set)
    }

    /// A factor times what flows out through the boundary; `None` where no face is at the boundary.
    fn through_boundary(&mut self, factor: &Term, flux: Flux) -> Option<ValueId> {
        let set = self.type_of(flux.first).mapping()?;
        if self.module.sets.is_subset(set, self.set(CanonicalSet::INTERIOR_FACES)) {
            return None;
        }
        let faces = self.domain(CanonicalSet::BOUNDARY_FACES);
        let boundary = self.set(CanonicalSet::BOUNDARY_FACES);
        let (ty, all) = (Type::collection(Basic::Scalar, boundary), self.set(CanonicalSet::ALL_CELLS));
        let cells = self.emit(Op::FirstCell(faces), Type::entities(EntityKind::Cell, boundary, all));
        let condition = self.emit(Op::IsEmpty(cells), Type::collection(Basic::Bool, boundary));
        let first = self.at(flux.first, faces, ty);
        let second = match flux.second {
            Some(second) => self.at(second, faces, ty),
            None => self.emit(Op::Unary(UnaryOp::Neg, first), ty),
        };
        let outwards = self.emit(Op::Select { condition, if_true: second, if_false: first }, ty);
        let sum = self.emit(Op::Reduce(Reduction::Sum, outwards), Type::SCALAR);
        Some(self.times(factor, Some(sum)))
    }

    /// Values on faces at the boundary, 0 where there are none.
    fn at(&mut self, values: ValueId, faces: ValueId, ty: Type) -> ValueId {
        let all = self.set(CanonicalSet::ALL_FACES);
        let mut data = values;
        if self.type_of(values).mapping() != Some(all) {
            let domain = self.domain(CanonicalSet::ALL_FACES);
            data = self.emit(Op::Extend { data, domain }, Type::collection(Basic::Scalar, all));
        }
        self.emit(Op::On { data, target: faces }, ty)
    }
}
