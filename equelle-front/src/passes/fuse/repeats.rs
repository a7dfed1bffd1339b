//! Repeated evaluations: how often kernels evaluate a value that they substitute.
//!
//! Within a scope of a kernel a value at a place is evaluated once and kept. Each branch of a
//! choice is a scope of its own, and so are the ends of each way to other entities; access paths
//! and what their conditions read are written anew at each use. In a chain of choices, each between
//! two that were made before, that would double with every link: such values are stored, so that
//! kernels grow with the text of the program.

use std::collections::{BTreeMap, HashMap};

use super::super::Why;
use super::super::analysis::Defs;
use super::names::demanded;
use super::placement::Placement;
use crate::ir::{Function, Op, OpClass, Side, ValueId};
use crate::types::{CanonicalSet, Extent, SetId, SetTable, Shape};

/// Evaluations for each operation that reads a value; what would have more is stored.
const MAX_REPEATS: u32 = 8;

/// The treatment of values that kernels would evaluate again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::passes) enum RepeatLimit {
    /// They are substituted: most kernels have little of it.
    #[default]
    None,
    /// They are stored where a value has more than [`MAX_REPEATS`] evaluations for each use:
    /// kernels without a limit have turned out to be mostly repetitions.
    PerUse,
}

/// Operations up to which a value may be evaluated any number of times: the inside cell of a
/// boundary face has fewer.
const SMALL: u32 = 12;

/// Number of a [`Context`].
type ContextId = usize;

/// A scope of a kernel and a place, with which equal evaluations share their value.
#[derive(Clone, Copy, Debug)]
struct Context {
    sharing: Sharing,
    /// A set that the place is in.
    within: Option<SetId>,
}

/// Treatment of a value that a context evaluates more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// It is kept in a local.
    Once,
    /// It stands under a condition of a path, and is written anew.
    Repeated,
}

/// The way from one context to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Way {
    /// The kernel of a value.
    Kernel(ValueId),
    /// The condition that an operation demands of its entities.
    Check(ValueId),
    /// A branch of a choice.
    Branch(ValueId, bool),
    /// The entities that a collection holds.
    Entities(ValueId),
    /// A cell of a face.
    Cell(Side),
    /// The faces of a cell, interior or on the boundary.
    Faces(ValueId, bool),
}

/// Number of evaluations of each value by context, as far as the users of a value are known.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    limit: RepeatLimit,
    contexts: Vec<Context>,
    known: HashMap<(Option<ContextId>, Way), ContextId>,
    evaluations: BTreeMap<ValueId, BTreeMap<ContextId, u32>>,
    sizes: BTreeMap<ValueId, u32>,
}

/// The function that is planned.
#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub function: &'a Function,
    pub sets: &'a SetTable,
    pub defs: &'a Defs,
}

impl Planned<'_> {
    fn mapping(self, value: ValueId) -> Option<SetId> {
        self.function.values[value.0 as usize].ty.mapping()
    }

    fn are_entities(self, value: ValueId) -> bool {
        self.function.values[value.0 as usize].ty.entity_kind().is_some()
    }
}

impl Repeats {
    pub(super) fn new(limit: RepeatLimit) -> Repeats {
        Repeats { limit, ..Repeats::default() }
    }

    /// Reason to store a value that `uses` operations read, if it has too many evaluations.
    pub(super) fn too_many(&mut self, planned: Planned<'_>, value: ValueId, uses: u32) -> Option<Why> {
        let evaluations = self.evaluated(planned, value, uses).iter().fold(0, |sum: u32, (_, times)| sum.saturating_add(*times));
        let is_large =
            self.limit == RepeatLimit::PerUse && evaluations > MAX_REPEATS.saturating_mul(uses) && self.size(planned.defs, value) > SMALL;
        is_large.then_some(Why::Repeated { evaluations, limit: MAX_REPEATS })
    }

    /// Notes the evaluations of the operands of a value, which `uses` operations read.
    pub(super) fn pass_on(&mut self, planned: Planned<'_>, value: ValueId, op: &Op, placement: Placement, uses: u32) {
        if self.limit == RepeatLimit::None {
            return;
        }
        let at = match placement {
            Placement::Operation => return,
            Placement::Kernel => {
                let within = if let Op::Reduce(_, of) = op { planned.mapping(*of) } else { planned.mapping(value) };
                vec![(self.context(None, Way::Kernel(value), Context { sharing: Sharing::Once, within }), 1)]
            }
            Placement::Inline => self.evaluated(planned, value, uses),
        };
        for (outer, times) in at {
            for (operand, context) in self.reads(planned, value, op, outer) {
                self.add(operand, context, times);
            }
        }
        if let Some((entities, _)) = demanded(op)
            && planned.defs.may_fail(planned.function, planned.sets, op)
        {
            let alone = Context { sharing: Sharing::Repeated, within: planned.mapping(entities) };
            let check = self.context(None, Way::Check(value), alone);
            self.add(entities, check, 1);
        }
    }

    fn add(&mut self, value: ValueId, context: ContextId, times: u32) {
        let known = self.evaluations.entry(value).or_default().entry(context).or_default();
        *known = known.saturating_add(times);
    }

    /// The contexts that evaluate a value, each with the number of evaluations.
    fn evaluated(&self, planned: Planned<'_>, value: ValueId, uses: u32) -> Vec<(ContextId, u32)> {
        let is_plain = matches!(planned.defs.op(value), Some(Op::Broadcast { .. } | Op::IsEmpty(_)));
        let is_kept = uses > 1 && !is_plain && !planned.are_entities(value);
        let once = |context: ContextId| is_kept && self.contexts[context].sharing == Sharing::Once;
        let at = self.evaluations.get(&value).into_iter().flatten();
        at.map(|(&context, &times)| (context, if once(context) { times.min(1) } else { times })).collect()
    }

    fn context(&mut self, outer: Option<ContextId>, way: Way, context: Context) -> ContextId {
        *self.known.entry((outer, way)).or_insert_with(|| {
            self.contexts.push(context);
            self.contexts.len() - 1
        })
    }

    /// The operands of an operation, each with the context in which `outer` evaluates it.
    fn reads(&mut self, planned: Planned<'_>, value: ValueId, op: &Op, outer: ContextId) -> Vec<(ValueId, ContextId)> {
        let at = self.contexts[outer];
        let branch_sharing = if planned.are_entities(value) { Sharing::Repeated } else { at.sharing };
        let on_faces = |repeats: &mut Repeats, fluxes: ValueId| {
            let extent = planned.mapping(fluxes).and_then(|set| planned.sets.get(set).canonical).map(|set| set.extent);
            let sides = match extent {
                Some(Extent::Interior) => vec![CanonicalSet::INTERIOR_FACES],
                Some(Extent::Boundary) => vec![CanonicalSet::BOUNDARY_FACES],
                Some(Extent::All) | None => vec![CanonicalSet::INTERIOR_FACES, CanonicalSet::BOUNDARY_FACES],
            };
            let one = |side: CanonicalSet| {
                let context = Context { within: Some(planned.sets.canonical(side)), ..at };
                repeats.context(Some(outer), Way::Faces(value, side.extent == Extent::Interior), context)
            };
            sides.into_iter().map(one).collect::<Vec<_>>()
        };
        match op {
            Op::Select { condition, if_true, if_false } => {
                let branch = Context { sharing: branch_sharing, ..at };
                let [then, otherwise] = [true, false].map(|holds| self.context(Some(outer), Way::Branch(value, holds), branch));
                vec![(*condition, outer), (*if_true, then), (*if_false, otherwise)]
            }
            Op::On { data, target } => {
                let ty = planned.function.values[target.0 as usize].ty;
                let there = match ty.shape {
                    Shape::Domain(_) => outer,
                    Shape::Collection(_) | Shape::Single | Shape::Sequence => {
                        self.context(Some(outer), Way::Entities(*target), Context { within: ty.within, ..at })
                    }
                };
                vec![(*target, outer), (*data, there)]
            }
            Op::Gradient(values) => {
                let cell = Context { within: planned.mapping(*values), ..at };
                [Side::High, Side::Low].map(|side| (*values, self.context(Some(outer), Way::Cell(side), cell))).to_vec()
            }
            Op::Divergence(fluxes) => on_faces(self, *fluxes).into_iter().map(|faces| (*fluxes, faces)).collect(),
            Op::FaceReduce { first, second, .. } => {
                let mut read = Vec::new();
                for faces in on_faces(self, *first) {
                    let at = self.contexts[faces];
                    read.push((*first, self.context(Some(faces), Way::Branch(value, true), at)));
                    if first != second {
                        read.push((*second, self.context(Some(faces), Way::Branch(value, false), at)));
                    }
                }
                read
            }
            Op::Extend { data, .. } => {
                let set = planned.mapping(*data);
                let is_inside = at.within.zip(set).is_some_and(|(within, set)| planned.sets.is_subset(within, set));
                let inside = Context { sharing: branch_sharing, within: set };
                vec![(*data, if is_inside { outer } else { self.context(Some(outer), Way::Branch(value, true), inside) })]
            }
            // The domain alone is asked of the other operand.
            Op::Broadcast { value, .. } => vec![(*value, outer)],
            op => op.operands().into_iter().map(|operand| (operand, outer)).collect(),
        }
    }

    /// Operations of a value with everything substituted.
    fn size(&mut self, defs: &Defs, value: ValueId) -> u32 {
        if let Some(&known) = self.sizes.get(&value) {
            return known;
        }
        let size = match defs.op(value) {
            Some(op) if op.class() != OpClass::Input => {
                op.operands().into_iter().fold(1, |sum: u32, operand| sum.saturating_add(self.size(defs, operand)))
            }
            Some(_) | None => 1,
        };
        self.sizes.insert(value, size);
        size
    }
}
