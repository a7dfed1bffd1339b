//! Stages of updates: values of a round that belong to one variable, such as its new value before it
//! is assigned, or a stage by Runge and Kutta. In the update of another variable they are sources.
//!
//! A value with a flux and a multiple of a variable is a stage of that variable if it reaches what
//! the variable is assigned, and the multiple times the factor on that way is a plain number:
//! `w * u - dt * div` in `u = (w * u - dt * div) / w` is one, the rate `k * u - div` is not.

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Sum, Term, Via};
use super::is_one;
use crate::ir::{MutableId, Op, UnaryOp, ValueId};
use crate::ops::{Arithmetic, BinaryMath};

/// What passes operands on, and where that ends.
#[derive(Default)]
pub(super) struct Stages {
    /// Operations in order.
    operations: Vec<(ValueId, Op)>,
    /// Loads of variables, and what was assigned to those.
    loads: BTreeMap<ValueId, ValueId>,
    /// Values with a flux, and the multiples of variables in them.
    candidates: BTreeMap<ValueId, Vec<(MutableId, Term)>>,
    /// What variables are assigned, with the factor from there to their values.
    assigned: Vec<(MutableId, ValueId, Term)>,
}

impl Stages {
    pub(super) fn define(&mut self, result: ValueId, op: &Op) {
        self.operations.push((result, op.clone()));
    }

    pub(super) fn load(&mut self, result: ValueId, value: ValueId) {
        self.loads.insert(result, value);
    }

    pub(super) fn candidate(&mut self, value: ValueId, shares: Vec<(MutableId, Term)>) {
        self.candidates.insert(value, shares);
    }

    pub(super) fn assign(&mut self, variable: MutableId, value: ValueId, factor: Term) {
        self.assigned.push((variable, value, factor));
    }

    /// The variables of each stage.
    pub(super) fn owners(&self, sum: impl Fn(ValueId) -> Sum) -> Owners {
        let mut owners: BTreeMap<ValueId, Vec<(MutableId, bool)>> = BTreeMap::new();
        let variables: BTreeSet<MutableId> = self.assigned.iter().map(|(variable, ..)| *variable).collect();
        for variable in variables {
            let factors = self.factors(variable, &sum);
            for (value, shares) in &self.candidates {
                let Some(factor) = factors.get(value) else { continue };
                let numbers = shares.iter().filter(|(other, _)| *other == variable).flat_map(|(_, share)| {
                    factor
                        .0
                        .iter()
                        .map(|factor| factor.times(share))
                        .filter(|product| product.powers.is_empty())
                        .map(|product| product.number)
                });
                if let Some(is_whole) = numbers.map(is_one).reduce(|a, b| a || b) {
                    owners.entry(*value).or_default().push((variable, is_whole));
                }
            }
        }
        // What is all of a variable's value is no part of another's.
        let of_value = |variables: Vec<(MutableId, bool)>| {
            let any_whole = variables.iter().any(|(_, is_whole)| *is_whole);
            variables.into_iter().filter(|(_, is_whole)| *is_whole || !any_whole).map(|(variable, _)| variable).collect()
        };
        Owners(owners.into_iter().map(|(value, variables)| (value, of_value(variables))).collect())
    }

    /// The factors of values in what a variable is assigned.
    fn factors(&self, variable: MutableId, sum: impl Fn(ValueId) -> Sum) -> BTreeMap<ValueId, Sum> {
        let mut factors: BTreeMap<ValueId, Sum> = BTreeMap::new();
        for (_, value, factor) in self.assigned.iter().filter(|(other, ..)| *other == variable) {
            add(&mut factors, *value, Sum::of(factor.clone()));
        }
        for (result, op) in self.operations.iter().rev() {
            let Some(factor) = factors.get(result).cloned() else { continue };
            if let Some(value) = self.loads.get(result) {
                add(&mut factors, *value, factor);
                continue;
            }
            match *op {
                Op::Arithmetic(Arithmetic::Add, a, b) | Op::Math(BinaryMath::Min | BinaryMath::Max, a, b) => {
                    add(&mut factors, a, factor.clone());
                    add(&mut factors, b, factor);
                }
                Op::Arithmetic(Arithmetic::Sub, a, b) => {
                    add(&mut factors, a, factor.clone());
                    add(&mut factors, b, factor.negative());
                }
                Op::Arithmetic(Arithmetic::Mul, a, b) => {
                    for (operand, other) in [(a, b), (b, a)] {
                        if let Some(by) = sum(other).single() {
                            add(&mut factors, operand, factor.scaled(by));
                        }
                    }
                }
                Op::Arithmetic(Arithmetic::Div, a, b) => {
                    if let Some(by) = sum(b).single().and_then(Term::inverse) {
                        add(&mut factors, a, factor.scaled(&by));
                    }
                }
                Op::Unary(UnaryOp::Neg, a) => add(&mut factors, a, factor.negative()),
                Op::Broadcast { value, .. } | Op::Extend { data: value, .. } => add(&mut factors, value, factor),
                Op::Select { if_true, if_false, .. } => {
                    add(&mut factors, if_true, factor.clone());
                    add(&mut factors, if_false, factor);
                }
                _ => {}
            }
        }
        factors
    }
}

fn add(factors: &mut BTreeMap<ValueId, Sum>, value: ValueId, factor: Sum) {
    let sum = factors.entry(value).or_default();
    // Of too many terms the first ones are kept: a plain number stands among them.
    if let Some(both) = sum.plus(&factor) {
        *sum = both;
    }
}

/// The variables that stages belong to.
pub(super) struct Owners(BTreeMap<ValueId, BTreeSet<MutableId>>);

impl Owners {
    /// A sum of a variable's update, in which only fluxes that came through another variable know
    /// that they did.
    pub(super) fn resolve(&self, variable: MutableId, sum: &Sum) -> Sum {
        sum.with_via(|term| term.via.iter().copied().filter(|via| self.is_foreign(variable, *via)).collect())
    }

    fn is_foreign(&self, variable: MutableId, via: Via) -> bool {
        match via {
            Via::Stored(other) => other != variable,
            Via::Value(value) => self.0.get(&value).is_some_and(|owners| !owners.contains(&variable)),
        }
    }
}
