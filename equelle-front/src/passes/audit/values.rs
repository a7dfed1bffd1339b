//! Values as sums of products, and which values are the same.

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Atom, Sum, Term, Via};
use super::stages::{FluxFactors, Stages};
use crate::ir::{Function, MutableId, Op, UnaryOp, ValueId};
use crate::ops::{Arithmetic, FaceReduction};
use crate::types::{Basic, CanonicalSet, SetTable, Shape};

/// Facts about the values of the main program.
pub(super) struct Values<'a> {
    sets: &'a SetTable,
    /// By operation and the numbers of its operands.
    numbers: BTreeMap<String, Atom>,
    /// Number of each value.
    atoms: BTreeMap<ValueId, Atom>,
    /// A value for each number.
    pub(super) representatives: Vec<ValueId>,
    sums: BTreeMap<ValueId, Sum>,
    /// Sums with one of these are written out; others are one value.
    pub(super) special: BTreeSet<Atom>,
    /// Net fluxes over the faces of cells: values on the faces, positive out of the first cell, and
    /// those out of the second where the faces have one cell only.
    pub(super) fluxes: BTreeMap<Atom, Flux>,
    /// The values that variables are updates of.
    pub(super) bases: BTreeMap<Atom, MutableId>,
    pub(super) stages: Stages,
}

/// Flux out of the cells of a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flux {
    /// Out of the first cell of a face.
    pub(super) first: ValueId,
    /// Out of the second cell; `None` where it is the negative of the other.
    pub(super) second: Option<ValueId>,
}

impl<'a> Values<'a> {
    pub(super) fn new(sets: &'a SetTable) -> Values<'a> {
        Values {
            sets,
            numbers: BTreeMap::new(),
            atoms: BTreeMap::new(),
            representatives: Vec::new(),
            sums: BTreeMap::new(),
            special: BTreeSet::new(),
            fluxes: BTreeMap::new(),
            bases: BTreeMap::new(),
            stages: Stages::default(),
        }
    }

    /// The number of a value.
    pub(super) fn atom(&mut self, value: ValueId) -> Atom {
        if let Some(&atom) = self.atoms.get(&value) {
            return atom;
        }
        let atom = self.representatives.len() as Atom;
        self.representatives.push(value);
        self.atoms.insert(value, atom);
        atom
    }

    /// A value as a sum.
    pub(super) fn sum(&mut self, value: ValueId) -> Sum {
        if let Some(sum) = self.sums.get(&value) {
            return sum.clone();
        }
        Sum::of(Term::of(self.atom(value)))
    }

    /// [`Values::sum`] of a value that has been entered.
    pub(super) fn known_sum(&self, value: ValueId) -> Sum {
        let atom = || self.atoms.get(&value).map(|atom| Sum::of(Term::of(*atom)));
        self.sums.get(&value).cloned().or_else(atom).unwrap_or_default()
    }

    /// Says what a value is, other than by its operation.
    pub(super) fn set(&mut self, value: ValueId, sum: Sum) {
        self.sums.insert(value, sum);
    }

    /// Enters a value that an operation defines.
    pub(super) fn define(&mut self, function: &Function, result: ValueId, op: &Op) {
        self.stages.define(result, op);
        if op.class().is_pure() {
            let numbered = op.map_operands(|value| ValueId(self.atom(value)));
            let known = self.numbers.get(&format!("{numbered:?}")).copied();
            let atom = known.unwrap_or_else(|| self.atom(result));
            self.numbers.insert(format!("{numbered:?}"), atom);
            self.atoms.insert(result, atom);
        }
        let ty = function.values[result.0 as usize].ty;
        if ty.basic != Basic::Scalar || matches!(ty.shape, Shape::Sequence | Shape::Domain(_)) {
            return;
        }
        let sum = self.operation_sum(function, result, op);
        let Some(sum) = sum else { return };
        let sum = self.noted(result, sum);
        let is_written_out = sum.0.len() <= 1 || sum.0.iter().any(|term| term.powers.keys().any(|atom| self.special.contains(atom)));
        if is_written_out {
            self.sums.insert(result, sum);
        }
    }

    /// A sum that may be a stage of an update, whose fluxes know that they came through it.
    fn noted(&mut self, result: ValueId, sum: Sum) -> Sum {
        if !sum.0.iter().any(|term| self.has_flux(term)) {
            return sum;
        }
        let mut shares: Vec<(MutableId, Term)> = Vec::new();
        for term in &sum.0 {
            for (atom, power) in &term.powers {
                if let (Some(&variable), 1) = (self.bases.get(atom), *power) {
                    let mut share = term.clone();
                    share.powers.remove(atom);
                    shares.push((variable, share));
                }
            }
        }
        if shares.is_empty() {
            return sum;
        }
        let fluxes = sum.0.iter().flat_map(|term| self.factors(term)).collect();
        self.stages.candidate(result, shares, fluxes);
        self.came_through(&sum, Via::Value(result))
    }

    /// The flux of a term, with its factors.
    fn factors(&self, term: &Term) -> Option<FluxFactors> {
        let (&atom, _) = term.powers.iter().find(|(atom, power)| **power == 1 && self.fluxes.contains_key(atom))?;
        let mut factors = term.powers.clone();
        factors.remove(&atom);
        Some(FluxFactors { flux: self.representatives[atom as usize], factors, via: term.via.clone() })
    }

    /// Enters what a variable is assigned as an update of it.
    pub(super) fn update(&mut self, variable: MutableId, sum: &Sum) {
        let factors: Vec<_> = sum.0.iter().filter_map(|term| self.factors(term)).map(|flux| flux.factors).collect();
        self.stages.update(variable, factors.into_iter());
    }

    /// A sum whose fluxes came through a value.
    pub(super) fn came_through(&self, sum: &Sum, value: Via) -> Sum {
        sum.with_via(|term| if self.has_flux(term) { term.via.iter().copied().chain([value]).collect() } else { term.via.clone() })
    }

    fn operation_sum(&mut self, function: &Function, result: ValueId, op: &Op) -> Option<Sum> {
        match *op {
            Op::Real(number) => Some(Sum::of(Term { number, ..Term::default() })),
            Op::Unary(UnaryOp::Neg, a) => Some(self.sum(a).negative()),
            Op::Broadcast { value, .. } => Some(self.sum(value)),
            Op::Extend { data, .. } if function.values[data.0 as usize].ty.shape == Shape::Single => Some(self.sum(data)),
            Op::Arithmetic(operation, a, b) => {
                let (a, b) = (self.sum(a), self.sum(b));
                match operation {
                    Arithmetic::Add => a.plus(&b),
                    Arithmetic::Sub => a.plus(&b.negative()),
                    Arithmetic::Mul => a.times(&b),
                    Arithmetic::Div => b.single().and_then(Term::inverse).map(|inverse| a.scaled(&inverse)),
                }
            }
            Op::Divergence(flux) => {
                self.flux(result, Flux { first: flux, second: None });
                None
            }
            Op::FaceReduce { reduction: FaceReduction::Sum, first, second } => {
                let opposite = self.sum(first).plus(&self.sum(second)).is_some_and(|sum| sum.0.is_empty());
                let faces = function.values[first.0 as usize].ty.mapping();
                let boundary = self.sets.canonical(CanonicalSet::BOUNDARY_FACES);
                let on_boundary = faces.is_some_and(|faces| self.sets.is_subset(faces, boundary));
                if opposite || on_boundary {
                    self.flux(result, Flux { first, second: (!opposite).then_some(second) });
                }
                None
            }
            _ => None,
        }
    }

    fn flux(&mut self, result: ValueId, flux: Flux) {
        let atom = self.atom(result);
        self.special.insert(atom);
        self.fluxes.insert(atom, flux);
    }
}
