//! Values that do not change in a loop: computed in each round, or loaded from their own array.

use std::collections::BTreeSet;

use super::placement::is_storable;
use super::plan::{Planner, decided_by_grid};
use crate::ir::{Op, OpClass, ValueId};
use crate::types::{Basic, EntityKind, Type};

/// Additions that computing a value anew takes for each element, and loading it instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    pub compute: u32,
    pub load: u32,
}

/// Costs up to which a single value is computed by every element: to keep it is a launch.
const SINGLE: u32 = 3;

/// Place of an evaluation: the steps from the current element.
type Steps = Vec<(ValueId, u8)>;

/// Something that is loaded: an array or geometry, and whether it is that of the current element.
type Loaded = (ValueId, EntityKind, bool);

impl Planner<'_> {
    /// Returns the costs of computing a value anew, if each array that it reads is loaded once, and
    /// of loading it instead. Data that an operation only moves may be stored themselves.
    pub(super) fn again(&mut self, value: ValueId) -> Again {
        if let Some(&known) = self.again.get(&value) {
            return known;
        }
        let again = self.again_of(value);
        self.again.insert(value, again);
        again
    }

    fn again_of(&mut self, value: ValueId) -> Again {
        let Some(root) = self.kind(value) else {
            let work = self.work(value);
            return Again { compute: work.map_or(u32::MAX, |(arithmetic, _)| arithmetic), load: SINGLE };
        };
        let load = self.loaded(root, (value, root, true)).saturating_add(self.model.recompute);
        let Some((arithmetic, loads)) = self.work(value) else { return Again { compute: u32::MAX, load } };
        let loads = loads.iter().fold(0_u32, |sum, &one| sum.saturating_add(self.loaded(root, one).saturating_mul(self.components(one.0))));
        Again { compute: arithmetic.saturating_add(loads), load }
    }

    /// Cost of one number for an element of kind `root`. Values on faces are those of a sum: the
    /// cells of a face are the cell that sums, whose values are loaded once, and a neighbour.
    fn loaded(&self, root: EntityKind, (_, kind, is_own): Loaded) -> u32 {
        let model = self.model;
        match (root, kind) {
            (EntityKind::Face, EntityKind::Cell) => model.load.saturating_add(model.stream / model.faces.max(1)),
            (EntityKind::Face, _) | (_, EntityKind::Face) => model.by_face,
            (_, _) if is_own => model.stream,
            (_, _) => model.load,
        }
    }

    fn kind(&self, value: ValueId) -> Option<EntityKind> {
        self.ty(value).mapping().map(|set| self.sets.get(set).kind)
    }

    fn components(&self, value: ValueId) -> u32 {
        // At most: programs do not say how many axes their grid has.
        if self.ty(value).basic == Basic::Vector { 3 } else { 1 }
    }

    /// Additions for the operations of one evaluation, each done once at a place, and what they
    /// load; `None` if that sums over faces.
    fn work(&mut self, value: ValueId) -> Option<(u32, BTreeSet<Loaded>)> {
        let (mut arithmetic, mut loads) = (0_u32, BTreeSet::new());
        let mut seen = BTreeSet::new();
        let mut open: Vec<(ValueId, Steps)> = vec![(value, Steps::new())];
        while let Some((at_hand, place)) = open.pop() {
            if !seen.insert((at_hand, place.clone())) {
                continue;
            }
            let op = self.defs.op(at_hand).filter(|_| at_hand == value || !self.is_loaded(at_hand));
            let Some(op) = op.cloned() else {
                loads.extend(self.kind(at_hand).map(|kind| (at_hand, kind, place.is_empty())));
                continue;
            };
            let further = |step: u8| {
                let mut place = place.clone();
                place.push((at_hand, step));
                place
            };
            match op {
                Op::Divergence(_) | Op::FaceReduce { .. } => return None,
                Op::Gradient(values) => {
                    arithmetic = arithmetic.saturating_add(1);
                    open.extend([(values, further(0)), (values, further(1))]);
                }
                Op::On { data, target } => {
                    let place = if self.ty(target).is_domain() { place } else { further(0) };
                    if self.is_kept(data) {
                        loads.extend(self.kind(data).map(|kind| (data, kind, place.is_empty())));
                    } else {
                        open.push((data, place));
                    }
                    self.path(target, &mut loads);
                }
                Op::Extend { data, .. } => {
                    arithmetic = arithmetic.saturating_add(1);
                    // Only a search finds the elements of other sets.
                    let is_canonical = self.ty(data).mapping().is_some_and(|set| self.sets.get(set).canonical.is_some());
                    if is_canonical && self.is_kept(data) {
                        loads.extend(self.kind(data).map(|kind| (data, kind, place.is_empty())));
                    } else {
                        open.push((data, place));
                    }
                }
                Op::Broadcast { value, .. } => open.push((value, place)),
                op if op.class() == OpClass::Geometry => self.geometry(&op, at_hand, &place, &mut loads),
                // One number of a Vector.
                Op::Component(of, _) if self.defs.op(of).is_some_and(|op| op.class() == OpClass::Geometry) => {
                    let op = self.defs.op(of).cloned();
                    op.iter().for_each(|op| self.geometry(op, at_hand, &place, &mut loads));
                }
                op if op.class() == OpClass::Topology => self.path(at_hand, &mut loads),
                op => {
                    arithmetic = arithmetic.saturating_add(self.model.operation(&op));
                    open.extend(op.operands().into_iter().map(|operand| (operand, place.clone())));
                }
            }
        }
        Some((arithmetic, loads))
    }

    /// Adds what an operation that asks for geometry loads for a value.
    fn geometry(&self, op: &Op, value: ValueId, place: &Steps, loads: &mut BTreeSet<Loaded>) {
        for entities in op.operands() {
            let of = self.ty(entities);
            loads.extend(self.entities_of(of).map(|kind| (value, kind, of.is_domain() && place.is_empty())));
            self.path(entities, loads);
        }
    }

    /// Adds what a collection of entities loads, if the grid alone does not decide them.
    fn path(&self, entities: ValueId, loads: &mut BTreeSet<Loaded>) {
        if !decided_by_grid(self.function, self.defs, entities) {
            loads.extend(self.kind(entities).map(|kind| (entities, kind, true)));
        }
    }

    /// The kind of the entities that a collection or domain holds.
    fn entities_of(&self, ty: Type) -> Option<EntityKind> {
        match (ty.entity_kind(), ty.shape) {
            (Some(kind), _) => Some(kind),
            (None, crate::types::Shape::Domain(set)) => Some(self.sets.get(set).kind),
            (None, _) => None,
        }
    }

    /// True if data that an operation only moves cost so much that they are stored themselves.
    fn is_kept(&mut self, data: ValueId) -> bool {
        let Some(op) = self.defs.op(data) else { return true };
        if !is_storable(op, self.ty(data)) {
            return false;
        }
        let again = self.again(data);
        again.compute > again.load
    }
}
