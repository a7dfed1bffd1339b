//! Differences of centroids in the Cartesian forms.

use std::collections::BTreeSet;

use super::build::{Builder, Mode, Result};
use super::placement::Placement;
use crate::ir::{EntitySource, KExpr, Op, Path, ValueId};
use crate::ops::Arithmetic;

/// The entities whose centroids a value holds, and which of them is meant.
struct CentroidOf {
    entities: ValueId,
    at: Path,
    /// As in [`KExpr::Displacement`].
    is_stored: bool,
}

impl Builder<'_> {
    /// The difference of two centroids, where the Cartesian form has it as a whole.
    pub(super) fn displacement(&mut self, op: Arithmetic, a: ValueId, b: ValueId, at: &Path) -> Result<Option<KExpr>> {
        if self.mode == Mode::General || op != Arithmetic::Sub {
            return Ok(None);
        }
        let (Some(to), Some(from)) = (self.centroid_of(a, at)?, self.centroid_of(b, at)?) else { return Ok(None) };
        let is_stored = to.is_stored || from.is_stored;
        let to = Box::new(self.geometry_path(to.entities, &to.at)?);
        let from = Box::new(self.geometry_path(from.entities, &from.at)?);
        Ok(Some(KExpr::Displacement { to, from, is_stored }))
    }

    /// The entities whose centroid a value is at `at`, looking through restrictions.
    fn centroid_of(&mut self, value: ValueId, at: &Path) -> Result<Option<CentroidOf>> {
        if self.plan.placement(value) != Placement::Inline {
            return Ok(None);
        }
        match self.defs.op(value) {
            Some(Op::Centroid(entities)) => {
                Ok(Some(CentroidOf { entities: *entities, at: at.clone(), is_stored: self.are_behind_faces(*entities) }))
            }
            Some(Op::Arithmetic(Arithmetic::Add, centroid, gap)) if self.is_gap(*gap) => {
                let centroid = self.centroid_of(*centroid, at)?;
                Ok(centroid.map(|centroid| CentroidOf { is_stored: false, ..centroid }))
            }
            Some(Op::On { data, target }) => {
                let (data, target) = (*data, *target);
                let path = self.entity(target, at)?;
                let is_behind = self.are_behind_faces(target);
                let centroid = self.centroid_of(data, &path)?;
                Ok(centroid.map(|centroid| CentroidOf { is_stored: centroid.is_stored || is_behind, ..centroid }))
            }
            _ => Ok(None),
        }
    }

    /// True if some of these entities are second cells of faces.
    fn are_behind_faces(&self, entities: ValueId) -> bool {
        let (mut open, mut met) = (vec![entities], BTreeSet::new());
        while let Some(value) = open.pop() {
            match self.defs.op(value).map(Op::entity_source) {
                Some(EntitySource::Second(_)) => return true,
                Some(source) if met.insert(value) => open.extend(source.parts()),
                Some(_) | None => {}
            }
        }
        false
    }

    /// True for gaps of faces ([`Op::FaceGap`]): all, or some of them and else none.
    fn is_gap(&self, value: ValueId) -> bool {
        let (mut open, mut met) = (vec![value], BTreeSet::new());
        while let Some(value) = open.pop() {
            match self.defs.op(value) {
                Some(Op::FaceGap(_)) => {}
                Some(Op::On { data, .. } | Op::Extend { data, .. }) => open.push(*data),
                Some(Op::Select { if_true, if_false, .. }) if met.insert(value) => open.extend([*if_true, *if_false]),
                Some(Op::Select { .. }) => {}
                Some(Op::Arithmetic(Arithmetic::Mul, gap, zero)) if matches!(self.defs.op(*zero), Some(Op::Real(0.0))) => open.push(*gap),
                _ => return false,
            }
        }
        true
    }
}
