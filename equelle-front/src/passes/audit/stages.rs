//! Stages of updates: values of a round that belong to one variable, such as its new value before
//! it is assigned, or a stage by Runge and Kutta. In the update of another variable they are
//! sources.
//!
//! A value with a flux and a multiple of a variable is a stage of that variable
//!
//! * if it reaches what the variable is assigned, and the multiple times the factor on that way is
//!   a plain number: `w * u - dt * div` in `u = (w * u - dt * div) / w` is one, the rate
//!   `k * u - div` is not;
//! * else if it is a number times an update of the variable, with the factors that fluxes have
//!   there: so is the value after half a step, of which only the flux reaches the variable. Where
//!   no factor differs from round to round, a rate may look so, and what its fluxes depend on has
//!   it too.

use std::collections::{BTreeMap, BTreeSet};

use super::algebra::{Atom, Sum, Term, Via, is_one};
use crate::ir::{MutableId, Op, UnaryOp, ValueId};
use crate::ops::{Arithmetic, BinaryMath};

/// The factors of a flux beside a number.
type Factors = BTreeMap<Atom, i32>;

/// A value with fluxes that may be a stage.
struct Candidate {
    /// The multiples of variables in it.
    shares: Vec<(MutableId, Term)>,
    fluxes: Vec<FluxFactors>,
}

/// A flux in a sum.
pub(super) struct FluxFactors {
    pub(super) flux: ValueId,
    pub(super) factors: Factors,
    pub(super) via: BTreeSet<Via>,
}

/// Expressions that pass operands on, and where that ends.
#[derive(Default)]
pub(super) struct Stages {
    /// Operations in order.
    operations: Vec<(ValueId, Op)>,
    /// Loads of variables, and what was assigned to those.
    loads: BTreeMap<ValueId, ValueId>,
    candidates: Vec<(ValueId, Candidate)>,
    /// The factors of fluxes in updates of variables.
    updates: BTreeMap<MutableId, BTreeSet<Factors>>,
    /// Values assigned to variables, with the factor from there to their values.
    assigned: Vec<(MutableId, ValueId, Term)>,
}

impl Stages {
    pub(super) fn define(&mut self, result: ValueId, op: &Op) {
        self.operations.push((result, op.clone()));
    }

    pub(super) fn load(&mut self, result: ValueId, value: ValueId) {
        self.loads.insert(result, value);
    }

    pub(super) fn candidate(&mut self, value: ValueId, shares: Vec<(MutableId, Term)>, fluxes: Vec<FluxFactors>) {
        self.candidates.push((value, Candidate { shares, fluxes }));
    }

    pub(super) fn update(&mut self, variable: MutableId, factors: impl Iterator<Item = Factors>) {
        self.updates.entry(variable).or_default().extend(factors);
    }

    pub(super) fn assign(&mut self, variable: MutableId, value: ValueId, factor: Term) {
        self.assigned.push((variable, value, factor));
    }

    /// The variables of each stage. `varies`: whether a value may differ from round to round.
    pub(super) fn owners(&self, sum: impl Fn(ValueId) -> Sum, varies: impl Fn(Atom) -> bool) -> Owners {
        let mut owners: BTreeMap<ValueId, Vec<(MutableId, bool)>> = BTreeMap::new();
        let variables: BTreeSet<MutableId> = self.assigned.iter().map(|(variable, ..)| *variable).collect();
        for variable in variables {
            let factors = self.factors(variable, &sum);
            for (value, Candidate { shares, .. }) in &self.candidates {
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
        // A value that makes up the whole of one variable is no part of another.
        let of_value = |variables: Vec<(MutableId, bool)>| {
            let any_whole = variables.iter().any(|(_, is_whole)| *is_whole);
            variables.into_iter().filter(|(_, is_whole)| *is_whole || !any_whole).map(|(variable, _)| variable).collect()
        };
        let mut owners: BTreeMap<ValueId, BTreeSet<MutableId>> =
            owners.into_iter().map(|(value, variables)| (value, of_value(variables))).collect();
        for (value, candidate) in &self.candidates {
            let alike = self.alike(candidate, &owners, &varies);
            if !alike.is_empty() {
                owners.entry(*value).or_insert(alike);
            }
        }
        Owners(owners)
    }

    /// The variables that a value is a number times an update of. What its fluxes came through
    /// before says more where it is a stage.
    fn alike(
        &self,
        candidate: &Candidate,
        owners: &BTreeMap<ValueId, BTreeSet<MutableId>>,
        varies: impl Fn(Atom) -> bool,
    ) -> BTreeSet<MutableId> {
        let is_known = |via: &Via| match via {
            Via::Stored(_) => true,
            Via::Value(value) => owners.contains_key(value),
        };
        let Candidate { shares, fluxes } = candidate;
        let fluxes: Vec<&FluxFactors> = fluxes.iter().filter(|flux| !flux.via.iter().any(is_known)).collect();
        let mut found = BTreeSet::new();
        for (variable, share) in shares {
            let (Some(updates), Some(inverse)) = (self.updates.get(variable), share.inverse()) else { continue };
            let factors = |flux: &FluxFactors| Term { number: 1.0, powers: flux.factors.clone(), ..Term::default() }.times(&inverse).powers;
            if !fluxes.is_empty() && fluxes.iter().all(|flux| updates.contains(&factors(flux))) {
                found.insert(*variable);
                for flux in &fluxes {
                    if !factors(flux).keys().any(|&atom| varies(atom)) {
                        found.extend(self.read(flux.flux));
                    }
                }
            }
        }
        found
    }

    /// The variables that a value is made of.
    fn read(&self, value: ValueId) -> BTreeSet<MutableId> {
        let (mut found, mut open) = (BTreeSet::new(), BTreeSet::from([value]));
        for (result, op) in self.operations.iter().rev() {
            if !open.contains(result) {
                continue;
            }
            match (op, self.loads.get(result)) {
                (_, Some(value)) => open.extend([*value]),
                (Op::Load(variable), None) => found.extend([*variable]),
                (op, None) => open.extend(op.operands()),
            }
        }
        found
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
    // The first of too many terms are kept: a plain number stands among them.
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
