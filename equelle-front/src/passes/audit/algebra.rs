//! Sums of products of values: the form in which updates are compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{MutableId, ValueId};

/// A factor: the number of a value up to what computes the same ([`super::values::Values`]).
pub(super) type Atom = u32;

/// A sum with more terms than this is a value of its own.
const MAX_TERMS: usize = 48;

/// Through which value a flux came into a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Via {
    /// The value that a variable was assigned.
    Stored(MutableId),
    /// A value with a flux and a variable, which may be a stage of the variable's update.
    Value(ValueId),
}

/// A number times powers of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Term {
    pub(super) number: f64,
    pub(super) powers: BTreeMap<Atom, i32>,
    /// A term with a flux.
    pub(super) via: BTreeSet<Via>,
}

impl Term {
    pub(super) fn of(atom: Atom) -> Term {
        Term { number: 1.0, powers: BTreeMap::from([(atom, 1)]), ..Term::default() }
    }

    pub(super) fn times(&self, other: &Term) -> Term {
        let mut powers = self.powers.clone();
        for (&atom, &power) in &other.powers {
            let sum = powers.entry(atom).or_insert(0);
            *sum += power;
        }
        powers.retain(|_, power| *power != 0);
        Term { number: self.number * other.number, powers, via: &self.via | &other.via }
    }

    /// 1 over it; `None` for zero.
    pub(super) fn inverse(&self) -> Option<Term> {
        let powers = self.powers.iter().map(|(&atom, &power)| (atom, -power)).collect();
        (self.number != 0.0).then(|| Term { number: 1.0 / self.number, powers, via: self.via.clone() })
    }
}

/// A sum of terms that differ in their powers, or in what they came through.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum(pub(super) Vec<Term>);

impl Sum {
    pub(super) fn of(term: Term) -> Sum {
        let mut sum = Sum::default();
        sum.add(term);
        sum
    }

    fn add(&mut self, term: Term) {
        match self.0.iter_mut().find(|own| own.powers == term.powers && own.via == term.via) {
            Some(own) => {
                let (old, new) = (own.number, own.number + term.number);
                // A coefficient that cancels up to rounding becomes 0.
                own.number = if new.abs() <= 4.0 * f64::EPSILON * old.abs().max(term.number.abs()) { 0.0 } else { new };
            }
            None => self.0.push(term),
        }
        self.0.retain(|own| own.number != 0.0);
    }

    pub(super) fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut sum = self.clone();
        other.0.iter().for_each(|term| sum.add(term.clone()));
        (sum.0.len() <= MAX_TERMS).then_some(sum)
    }

    pub(super) fn scaled(&self, by: &Term) -> Sum {
        Sum(self.0.iter().map(|term| term.times(by)).collect())
    }

    pub(super) fn times(&self, other: &Sum) -> Option<Sum> {
        let mut sum = Sum::default();
        if self.0.len() * other.0.len() > MAX_TERMS {
            return None;
        }
        for term in &self.0 {
            other.0.iter().for_each(|factor| sum.add(term.times(factor)));
        }
        Some(sum)
    }

    pub(super) fn negative(&self) -> Sum {
        Sum(self.0.iter().map(|term| Term { number: -term.number, ..term.clone() }).collect())
    }

    /// With what each term came through replaced.
    pub(super) fn with_via(&self, mut via: impl FnMut(&Term) -> BTreeSet<Via>) -> Sum {
        let mut sum = Sum::default();
        self.0.iter().for_each(|term| sum.add(Term { via: via(term), ..term.clone() }));
        sum
    }

    /// The only term.
    pub(super) fn single(&self) -> Option<&Term> {
        if let [term] = self.0.as_slice() { Some(term) } else { None }
    }

    /// The number of the term that is this value alone; 0 without one.
    pub(super) fn number_of(&self, atom: Atom) -> f64 {
        let alone = self.0.iter().find(|term| term.powers.len() == 1 && term.powers.get(&atom) == Some(&1));
        alone.map_or(0.0, |term| term.number)
    }

    /// Without the term that is this value alone.
    pub(super) fn without(&self, atom: Atom) -> Sum {
        let is_it = |term: &&Term| term.powers.len() == 1 && term.powers.get(&atom) == Some(&1);
        Sum(self.0.iter().filter(|term| !is_it(term)).cloned().collect())
    }
}

/// The value of an unknown for which a residual is zero, as an update of `base`; what the terms of
/// the residual are multiplied by in it, and the sign of the unknown in the residual.
pub(super) fn update(residual: &Sum, unknown: Atom, base: Atom) -> Option<(Sum, Term, f64)> {
    residual.0.iter().enumerate().find_map(|(index, term)| {
        let inverse = (term.powers.get(&unknown) == Some(&1)).then(|| {
            let mut factor = term.clone();
            factor.powers.remove(&unknown);
            factor.inverse()
        })??;
        let mut rest = residual.clone();
        rest.0.remove(index);
        let update = rest.negative().scaled(&inverse);
        let factor = Term { number: -inverse.number, ..inverse };
        is_one(update.number_of(base)).then(|| (update, factor, term.number.signum()))
    })
}

/// True if a number is 1 but for rounding: `0.5 + 0.5`, `1/3 + 2/3`.
pub(super) fn is_one(number: f64) -> bool {
    (number - 1.0).abs() <= 8.0 * f64::EPSILON
}
