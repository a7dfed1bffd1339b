//! Tests of membership in sets made at run time.
//!
//! Rows of cells or faces cannot ask a set for its members. The condition by which
//! [`Op::Where`] made the set of a canonical one is a value in memory for each entity, and loading
//! it is the same test; other sets have a mask ([`crate::passes::masks`]).

use std::collections::BTreeSet;

use super::build::{Builder, Result};
use super::placement::Placement;
use crate::ir::{KExpr, Op, Path, ValueId};
use crate::types::{EntityKind, SetId, Shape};

impl Builder<'_> {
    /// The data of a set at an entity that may be a member of it, and something else where it is
    /// none. `value` is what the choice gives.
    pub(super) fn if_member(
        &mut self,
        value: ValueId,
        (set, data): (SetId, ValueId),
        at: &Path,
        otherwise: impl FnOnce(&mut Self) -> Result<KExpr>,
    ) -> Result<KExpr> {
        let of_mask = self.condition_of(value, set, data, at);
        let (is_masked, outer) = (of_mask.is_some(), self.masked.len());
        let condition = match of_mask {
            Some(condition) => self.eval(condition, at)?,
            None => {
                self.need_members(set)?;
                KExpr::Member { set, at: at.clone() }
            }
        };
        let inside = |s: &mut Self| {
            s.facts.learn(s.sets, at, set, true);
            s.masked.extend(is_masked.then(|| (set, at.clone())));
            let value = s.eval(data, at);
            s.masked.truncate(outer);
            value
        };
        self.select(value, condition, inside, otherwise)
    }

    /// The condition that made a set, if it stands for membership at an entity: it has a value
    /// there, and nobody asks for the place of the entity in the set. Few cells are in most sets,
    /// and rows evaluate the data at all cells: only where that takes little.
    fn condition_of(&self, value: ValueId, set: SetId, data: ValueId, at: &Path) -> Option<ValueId> {
        // Masks themselves are made by asking the set.
        if self.plan.is_mask(value) {
            return None;
        }
        let of_where = match self.defs.op(*self.domains.get(&set)?) {
            Some(Op::Where { within, condition }) if self.is_of_canonical(*within) => Some(*condition),
            _ => None,
        };
        let condition = of_where.or(self.plan.mask(set))?;
        let parent = self.ty(condition).mapping()?;
        let pays = self.sets.get(set).kind == EntityKind::Face || self.plan.is_cheap_extension(value);
        let stands = pays && !self.is_differentiated && self.facts.member(self.sets, parent, at) == Some(true) && !self.reads_subsets(data);
        stands.then_some(condition)
    }

    fn is_of_canonical(&self, domain: ValueId) -> bool {
        matches!(self.ty(domain).shape, Shape::Domain(set) if self.sets.get(set).canonical.is_some())
    }

    /// The padded copy of a value, at an entity that a mask tells to be in its set.
    pub(super) fn padded(&self, value: ValueId, at: &Path) -> Option<ValueId> {
        let (copy, set) = (self.plan.padded(value)?, self.ty(value).mapping()?);
        self.masked.iter().any(|(masked, there)| there == at && self.sets.is_subset(*masked, set)).then_some(copy)
    }

    /// True if something that is substituted in a value is loaded from a collection on a set made
    /// at run time, and has no padded copy.
    fn reads_subsets(&self, value: ValueId) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![value]);
        while let Some(value) = open.pop() {
            if !seen.insert(value) || matches!(self.ty(value).shape, Shape::Domain(_)) || self.plan.padded(value).is_some() {
                continue;
            }
            match self.defs.op(value).filter(|_| self.plan.placement(value) == Placement::Inline) {
                Some(op) => open.extend(op.operands()),
                None if self.ty(value).mapping().is_some_and(|set| self.sets.get(set).canonical.is_none()) => return true,
                None => {}
            }
        }
        false
    }
}
