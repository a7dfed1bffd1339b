//! Store or recompute: the decision for every value of a function.

mod costs;

use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Defs;
use super::super::masks::Masks;
use super::super::{Need, Notes, Why};
use super::invariant::Again;
use super::mixed_forms::{CHEAP, values_to_store};
use super::offsets::{OffsetReads, reads, sum};
use super::placement::{Placement, is_fusable, is_storable};
use super::repeats::{Planned, RepeatLimit, Repeats};
use crate::cost::{CostModel, Extremes};
use crate::ir::{Block, Function, Op, OpClass, StmtKind, Storage, ValueId};
use crate::ops::Offset;
use crate::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, SetTable, Shape, Type};

/// Operations above one another that are substituted into one expression; what would be higher is
/// stored. No formula that someone wrote comes near it; a sum of thousands of terms does, and
/// whatever walks the expressions of kernels, compilers included, needs stack for each level.
const MAX_HEIGHT: u32 = 250;

/// Placements of all values of one function.
#[derive(Debug, Default)]
pub(super) struct Plan {
    placements: BTreeMap<ValueId, Placement>,
    /// Number of operations that use a value.
    uses: BTreeMap<ValueId, u32>,
    /// Reasons why values are not substituted.
    reasons: BTreeMap<ValueId, Why>,
    /// Extensions of data that cost little to evaluate.
    cheap_extensions: BTreeSet<ValueId>,
    /// Masks of sets made at run time.
    masks: Masks,
    /// Evaluations of the values that are substituted.
    repeats: Repeats,
}

/// Findings about the kernels of earlier plans for the same function.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Values whose kernels cannot be built stay operations; what they read must then exist in
    /// memory.
    pub kept: BTreeSet<ValueId>,
    /// Values whose kernels get no Cartesian form, or a slow one, because they mix reads that no
    /// form has in common.
    pub formless: BTreeSet<ValueId>,
    /// Repetitions are limited if a kernel is mostly made of them.
    pub repeats: RepeatLimit,
}

/// Places and number of evaluations of a value if it is substituted.
#[derive(Clone, Debug, Default)]
struct Sites {
    /// Reasons to keep its value in memory.
    needs: BTreeSet<Need>,
    /// Deepest loop nest.
    depth: usize,
    /// Number of places.
    count: u32,
    /// Number of evaluations for an element: by what is on the same set, and by faces, each for
    /// both of its cells.
    evaluations: u32,
    by_faces: u32,
    /// In programs that read by index: values that exist in memory for which it is evaluated, and
    /// how far from their elements.
    points: BTreeSet<(ValueId, Offset)>,
}

/// Place where an operand is evaluated, relative to the current element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// At the element, or at few others.
    Same,
    /// At the faces of a cell.
    ToFaces,
    /// At so many cells of a face.
    ToCells(u32),
}

impl Sites {
    fn all_evaluations(&self) -> u32 {
        self.evaluations.saturating_add(self.by_faces).max(1)
    }
}

impl Plan {
    /// Decides for a function. Kernels may read these `masks`.
    pub(super) fn of(function: &Function, sets: &SetTable, model: &CostModel, defs: &Defs, findings: &Findings, masks: &Masks) -> Plan {
        // Only a plan tells what kernels substitute, and each value that is stored changes it.
        let mut between_forms = BTreeSet::new();
        loop {
            let plan = Plan::with(function, sets, model, defs, findings, &between_forms, masks);
            let found = values_to_store(function, sets, defs, model, &findings.formless, &|value| plan.placement(value));
            if found.is_empty() {
                return plan;
            }
            between_forms.extend(found);
        }
    }

    /// Decides for a function; the values in `between_forms` are stored.
    fn with(
        function: &Function,
        sets: &SetTable,
        model: &CostModel,
        defs: &Defs,
        findings: &Findings,
        between_forms: &BTreeSet<ValueId>,
        masks: &Masks,
    ) -> Plan {
        let mut planner = Planner {
            function,
            sets,
            model,
            defs,
            findings,
            plan: Plan { masks: masks.clone(), repeats: Repeats::new(findings.repeats), ..Plan::default() },
            sites: BTreeMap::new(),
            costs: BTreeMap::new(),
            functions: BTreeMap::new(),
            again: BTreeMap::new(),
            stored: Stored {
                ringed: BTreeSet::new(),
                tall: BTreeSet::new(),
                sums_over_rounds: BTreeSet::new(),
                for_offsets: BTreeMap::new(),
                between_forms,
            },
            written: BTreeSet::new(),
            offsets: OffsetReads::of(function, defs),
        };
        if model.extremes == Extremes::OnTheWay {
            note_written(&function.body, &mut planner.written);
        }
        planner.heights(&function.body, &mut BTreeMap::new());
        if model.extremes == Extremes::OnTheWay {
            planner.sums_over_rounds(&function.body, 0, &mut BTreeMap::new());
        }
        planner.rings(&function.body);
        planner.stored.ringed.retain(|value| function.values[value.0 as usize].storage != Some(Storage::Inlined));
        planner.prune_rings(&function.body, &mut BTreeSet::new());
        if planner.offsets.any() {
            planner.read_at_offsets(&function.body);
        }
        masks.values().for_each(|mask| planner.root(mask, 0, Need::Membership));
        planner.block(&function.body, 0);
        planner.plan
    }

    /// Placement of a value; those without a defining operation exist in memory.
    pub(super) fn placement(&self, value: ValueId) -> Placement {
        self.placements.get(&value).copied().unwrap_or(Placement::Operation)
    }

    /// Reason why a value is not substituted.
    pub(super) fn why(&self, value: ValueId) -> Option<&Why> {
        self.reasons.get(&value)
    }

    /// True for a value that is stored because kernels would evaluate it too often.
    pub(super) fn is_repeated(&self, value: ValueId) -> bool {
        matches!(self.why(value), Some(Why::Repeated { .. }))
    }

    /// Notes why the values of a function are not substituted.
    pub(super) fn note(&self, function: &str, notes: &mut Notes) {
        for (&value, why) in &self.reasons {
            notes.place(function, value, why.clone());
        }
    }

    /// Decides that these values are substituted, where kernels can compute them.
    pub(super) fn substitute(&mut self, values: &BTreeSet<ValueId>) {
        for (_, placement) in
            self.placements.iter_mut().filter(|(value, placement)| **placement == Placement::Kernel && values.contains(value))
        {
            *placement = Placement::Inline;
        }
    }

    /// Decides that entities which the grid alone decides, as the cell inside a boundary face, are
    /// substituted: facts about the place where they are asked for may then tell which they are.
    pub(super) fn substitute_paths(&mut self, function: &Function, defs: &Defs) {
        let values = (0..function.values.len() as u32).map(ValueId);
        let paths: Vec<ValueId> = values
            .filter(|&v| self.placement(v) == Placement::Kernel && !self.is_repeated(v) && decided_by_grid(function, defs, v))
            .collect();
        for value in paths {
            self.placements.insert(value, Placement::Inline);
        }
    }

    /// True for an extension of data that every element may as well evaluate, member or not.
    pub(super) fn is_cheap_extension(&self, value: ValueId) -> bool {
        self.cheap_extensions.contains(&value)
    }

    /// The value that tells for each entity of a canonical set if it is in a set made at run time.
    pub(super) fn mask(&self, set: SetId) -> Option<ValueId> {
        self.masks.of_sets.get(&set).copied()
    }

    /// The copy of a value that is padded with zeros.
    pub(super) fn padded(&self, value: ValueId) -> Option<ValueId> {
        self.masks.padded.get(&value).copied()
    }

    /// True for masks and padded copies.
    pub(super) fn is_mask(&self, value: ValueId) -> bool {
        self.masks.values().any(|mask| mask == value)
    }

    /// Number of operations that use a value.
    pub(super) fn uses(&self, value: ValueId) -> u32 {
        self.uses.get(&value).copied().unwrap_or(0)
    }
}

/// Values that are stored for what is known before the decisions.
struct Stored<'a> {
    /// Sums over faces that are evaluated at other cells: each cell would sum over the faces of its
    /// neighbours.
    ringed: BTreeSet<ValueId>,
    /// Too many operations would be substituted above one another.
    tall: BTreeSet<ValueId>,
    /// Sums over faces that do not change in a loop which reads them: stored before it.
    sums_over_rounds: BTreeSet<ValueId>,
    /// Read at several offsets: each place would evaluate them again.
    for_offsets: BTreeMap<ValueId, Why>,
    /// Kernels would mix forms.
    between_forms: &'a BTreeSet<ValueId>,
}

impl Stored<'_> {
    fn contains(&self, value: ValueId) -> bool {
        self.ringed.contains(&value)
            || self.tall.contains(&value)
            || self.sums_over_rounds.contains(&value)
            || self.for_offsets.contains_key(&value)
            || self.between_forms.contains(&value)
    }
}

pub(super) struct Planner<'a> {
    pub function: &'a Function,
    pub sets: &'a SetTable,
    pub model: &'a CostModel,
    pub defs: &'a Defs,
    findings: &'a Findings,
    plan: Plan,
    sites: BTreeMap<ValueId, Sites>,
    costs: BTreeMap<ValueId, (u32, bool)>,
    functions: BTreeMap<ValueId, u32>,
    /// Costs of the values of a loop that do not change in it.
    pub again: BTreeMap<ValueId, Again>,
    stored: Stored<'a>,
    /// Values of variables and outputs: they are in memory, whatever they are computed from.
    written: BTreeSet<ValueId>,
    /// At which offsets values are read.
    offsets: OffsetReads,
}

impl Planner<'_> {
    pub(super) fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    /// The user's storage request for a value.
    fn storage(&self, value: ValueId) -> Option<Storage> {
        self.function.values[value.0 as usize].storage
    }

    /// Finds the values to store because of [`MAX_HEIGHT`]. `heights` holds those of values that
    /// may be substituted.
    fn heights(&mut self, block: &Block, heights: &mut BTreeMap<ValueId, u32>) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    let [result] = results[..] else { continue };
                    let ty = self.ty(result);
                    if !is_fusable(op, ty) || matches!(op, Op::Reduce(..)) || self.findings.kept.contains(&result) {
                        continue;
                    }
                    let height = 1 + op.operands().iter().filter_map(|v| heights.get(v)).max().copied().unwrap_or(0);
                    if height > MAX_HEIGHT && is_storable(op, ty) {
                        self.stored.tall.insert(result);
                    } else {
                        heights.insert(result, height);
                    }
                }
                StmtKind::For { body, .. } => self.heights(body, heights),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// Finds the sums that a loop reads and does not change, operands before their users, so that
    /// what reads them there is no sum itself. `defined` holds the depths of definitions.
    fn sums_over_rounds(&mut self, block: &Block, depth: usize, defined: &mut BTreeMap<ValueId, usize>) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    for operand in op.operands() {
                        if defined.get(&operand).is_some_and(|&outer| outer < depth) && self.is_stored_sum(operand) {
                            self.stored.sums_over_rounds.insert(operand);
                            self.costs.clear();
                        }
                    }
                    defined.extend(results.iter().map(|&result| (result, depth)));
                }
                StmtKind::For { body, .. } => self.sums_over_rounds(body, depth + 1, defined),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// True if a value that a deeper loop reads is stored because it sums over faces.
    fn is_stored_sum(&mut self, value: ValueId) -> bool {
        let Some(op) = self.defs.op(value) else { return false };
        let may_be_kept = self.ty(value).basic == Basic::Scalar && is_storable(op, self.ty(value));
        may_be_kept && self.storage(value) != Some(Storage::Inlined) && self.cost(value).1
    }

    /// Finds the values to store because an operation evaluates a sum elsewhere, users after their
    /// operands.
    fn rings(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { op, .. } => {
                    for operand in op.operands() {
                        if evaluates_elsewhere(op, operand) && self.cost(operand).1 {
                            self.stored.ringed.insert(operand);
                            self.costs.remove(&operand);
                        }
                    }
                }
                StmtKind::For { body, .. } => self.rings(body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// Keeps of the values to store because of a sum those that still contain one when the others
    /// are stored: what a cell makes of its own stored values is no sum. `sums` holds the values
    /// that contain one.
    fn prune_rings(&mut self, block: &Block, sums: &mut BTreeSet<ValueId>) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    let [result] = results[..] else { continue };
                    let ty = self.ty(result);
                    let stored = self.findings.kept.contains(&result)
                        || self.stored.tall.contains(&result)
                        || self.stored.sums_over_rounds.contains(&result)
                        || self.stored.between_forms.contains(&result);
                    let substituted = is_fusable(op, ty) && !matches!(op, Op::Reduce(..)) && !stored;
                    let sum = substituted && (is_sum(op) || op.operands().iter().any(|v| sums.contains(v)));
                    if !self.stored.ringed.contains(&result) {
                        if sum {
                            sums.insert(result);
                        }
                    } else if !sum {
                        self.stored.ringed.remove(&result);
                    }
                }
                StmtKind::For { body, .. } => self.prune_rings(body, sums),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
        self.costs.clear();
    }

    /// Finds the values to store because they are read at several offsets, users after their
    /// operands: a value at s offsets costs s times as much to evaluate.
    fn read_at_offsets(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    let [result] = results[..] else { continue };
                    let (ty, places) = (self.ty(result), self.offsets.places(result));
                    if places < 2
                        || self.storage(result).is_some()
                        || !is_fusable(op, ty)
                        || !is_storable(op, ty)
                        || ty.entity_kind().is_some()
                    {
                        continue;
                    }
                    let (cost, limit) = (self.cost_at_offsets(result), self.model.at_offsets);
                    if cost.saturating_mul(places - 1) > limit {
                        self.stored.for_offsets.insert(result, Why::ReadAtOffsets { places, cost, limit });
                        self.costs.clear();
                    }
                }
                StmtKind::For { body, .. } => self.read_at_offsets(body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// Cost of one evaluation where everything is substituted and evaluated once at each offset, as
    /// kernels do.
    fn cost_at_offsets(&mut self, value: ValueId) -> u32 {
        let mut cost = 0u32;
        let mut seen = BTreeSet::new();
        let mut next = vec![(value, Offset::default())];
        while let Some((value, at)) = next.pop() {
            if !seen.insert((value, at)) {
                continue;
            }
            let op = self.defs.op(value).filter(|_| seen.len() == 1 || !self.is_loaded(value)).cloned();
            let Some(op) = op else {
                cost = cost.saturating_add(self.load(value));
                continue;
            };
            if op.class() == OpClass::FiniteVolume || (matches!(op, Op::On { .. }) && reads(self.function, self.defs, &op).len() > 1) {
                cost = cost.saturating_add(self.cost(value).0);
                continue;
            }
            let operands = reads(self.function, self.defs, &op);
            if !matches!(op, Op::On { .. }) {
                cost = cost.saturating_add(self.model.operation(&op));
            }
            if op.class() != OpClass::Geometry {
                next.extend(operands.into_iter().map(|(operand, by)| (operand, sum(at, by))));
            }
        }
        cost
    }

    fn root(&mut self, value: ValueId, depth: usize, need: Need) {
        let sites = self.sites.entry(value).or_default();
        sites.needs.insert(need);
        sites.depth = sites.depth.max(depth);
        *self.plan.uses.entry(value).or_default() += 1;
    }

    /// Statements in reverse, so that all users of a value are decided before it.
    fn block(&mut self, block: &Block, depth: usize) {
        for statement in block.statements.iter().rev() {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let [result] = results[..] {
                        self.single(result, op, depth);
                    } else {
                        op.operands().into_iter().for_each(|v| self.root(v, depth, need_of(op)));
                    }
                }
                StmtKind::Store { value, .. } => self.root(*value, depth, Need::Variable),
                StmtKind::Output { tag, value } => {
                    self.root(*tag, depth, Need::Output);
                    self.root(*value, depth, Need::Output);
                }
                StmtKind::For { rounds, body } => {
                    self.block(body, depth + 1);
                    rounds.operands().into_iter().for_each(|value| self.root(value, depth, Need::Operation));
                }
                StmtKind::Launch { args, .. } => args.iter().for_each(|&v| self.root(v, depth, Need::Operation)),
                StmtKind::Return(values) => values.iter().for_each(|&v| self.root(v, depth, Need::Result)),
            }
        }
    }

    fn single(&mut self, result: ValueId, op: &Op, depth: usize) {
        let sites = self.sites.get(&result).cloned().unwrap_or_default();
        let placement = match self.decide(result, op, depth, &sites) {
            None => Placement::Inline,
            Some((placement, why)) => {
                self.plan.reasons.insert(result, why);
                placement
            }
        };
        self.plan.placements.insert(result, placement);
        let planned = Planned { function: self.function, sets: self.sets, defs: self.defs };
        let uses = self.plan.uses(result);
        self.plan.repeats.pass_on(planned, result, op, placement, uses);
        if let Op::Extend { data, .. } = op
            && self.cost(*data).0 <= CHEAP
        {
            self.plan.cheap_extensions.insert(result);
        }
        match placement {
            Placement::Operation => op.operands().into_iter().for_each(|v| self.root(v, depth, need_of(op))),
            Placement::Inline | Placement::Kernel => {
                let stored = placement == Placement::Kernel;
                if self.offsets.any() {
                    for (operand, by) in reads(self.function, self.defs, op) {
                        let points =
                            if stored { vec![(result, by)] } else { sites.points.iter().map(|&(root, at)| (root, sum(at, by))).collect() };
                        self.sites.entry(operand).or_default().points.extend(points);
                    }
                }
                for operand in op.operands() {
                    let reduced = matches!(op, Op::Reduce(..)) && self.cost(operand).1 && self.sums_itself(operand);
                    let step = self.step(op, result, operand);
                    let entry = self.sites.entry(operand).or_default();
                    entry.needs.extend(reduced.then_some(Need::ReducedSum));
                    entry.depth = entry.depth.max(if stored { depth } else { sites.depth.max(depth) });
                    entry.count = entry.count.saturating_add(if stored { 1 } else { sites.count.max(1) });
                    let times = if stored { 1 } else { sites.all_evaluations() };
                    match step {
                        Step::Same => entry.evaluations = entry.evaluations.max(times),
                        Step::ToFaces => entry.evaluations = entry.evaluations.max(times.saturating_mul(2)),
                        Step::ToCells(cells) => {
                            let faces_of_cell = cells * self.model.faces / 2;
                            entry.by_faces = entry.by_faces.saturating_add(times.saturating_mul(faces_of_cell));
                        }
                    }
                    *self.plan.uses.entry(operand).or_default() += 1;
                }
            }
        }
    }

    /// Placement of a value that is not substituted, with the reason; `None` if it is substituted.
    fn decide(&mut self, result: ValueId, op: &Op, depth: usize, sites: &Sites) -> Option<(Placement, Why)> {
        if self.findings.kept.contains(&result) {
            return Some((Placement::Operation, Why::NotBuilt));
        }
        if !is_fusable(op, self.ty(result)) {
            return Some((Placement::Operation, Why::NoKernel));
        }
        if matches!(op, Op::Reduce(..)) {
            return Some((Placement::Kernel, Why::Reduction));
        }
        let ty = self.ty(result);
        let storable = is_storable(op, ty);
        if !sites.needs.is_empty() {
            return Some(if storable {
                (Placement::Kernel, Why::Needed(sites.needs.clone()))
            } else {
                (Placement::Operation, Why::NotStorable)
            });
        }
        if !storable {
            return None;
        }
        let planned = Planned { function: self.function, sets: self.sets, defs: self.defs };
        let repeated = self.plan.repeats.too_many(planned, result, self.plan.uses(result));
        match self.storage(result) {
            Some(Storage::Stored) => return Some((Placement::Kernel, Why::ChosenByUser)),
            Some(Storage::Inlined) if !self.stored.tall.contains(&result) && repeated.is_none() => return None,
            Some(Storage::Inlined) | None => {}
        }
        let (cost, has_sum) = self.cost(result);
        // Entities are access paths where they are used, which Cartesian forms know in closed form;
        // through memory they could lead anywhere.
        let may_be_kept = match ty.basic {
            Basic::Scalar => true,
            Basic::Vector | Basic::Bool => cost > self.model.share,
            Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => false,
        };
        // Values on faces are mostly summed over the faces of cells: each cell evaluates them anew,
        // next to its other terms, and nothing goes through memory.
        let on_faces = ty.mapping().is_some_and(|set| self.sets.get(set).kind == EntityKind::Face);
        let is_invariant = sites.depth > depth && may_be_kept;
        let again = is_invariant.then(|| self.again(result)).filter(|again| again.compute > again.load);
        // Where programs read by index, what is evaluated at one cell for several users is
        // evaluated once.
        let of_cells = self.offsets.any() && ty.mapping() == Some(self.sets.canonical(CanonicalSet::ALL_CELLS));
        let places = if of_cells { sites.points.len() as u32 } else { sites.count };
        let cost = if of_cells && places > 1 { self.cost_at_offsets(result) } else { cost };
        let why = if let Some(Again { compute, load }) = again {
            Why::Invariant { cost: compute, load }
        } else if self.stored.ringed.contains(&result) {
            Why::SumElsewhere
        } else if let Some(why) = self.stored.for_offsets.get(&result) {
            why.clone()
        } else if self.stored.between_forms.contains(&result) {
            Why::MixedForms
        } else if has_sum && sites.count > 1 {
            Why::SharedSum { places: sites.count }
        } else if places > 1 && cost > self.model.share && ty.entity_kind().is_none() && !on_faces {
            Why::Shared { places, cost, limit: self.model.share }
        } else if let Some(why) = self.read_by_faces(result, cost, sites) {
            why
        } else if self.stored.tall.contains(&result) {
            Why::Tall { limit: MAX_HEIGHT }
        } else {
            repeated?
        };
        Some((Placement::Kernel, why))
    }

    /// Reason to store a value at cells that faces read, if there is one: most of its cost is
    /// functions and tables. Other arithmetic is done again: rows keep it for both sides of a face,
    /// and threads keep it in registers.
    fn read_by_faces(&mut self, result: ValueId, cost: u32, sites: &Sites) -> Option<Why> {
        let evaluations = sites.all_evaluations();
        let again = cost.saturating_mul(evaluations.saturating_sub(1));
        let is_read_often = sites.by_faces > 0 && again > self.model.share;
        let is_stored = is_read_often && self.functions(result) > cost / 2;
        is_stored.then_some(Why::ReadByFaces { evaluations, cost, limit: self.model.share })
    }

    /// Place where an operation evaluates an operand.
    fn step(&self, op: &Op, result: ValueId, operand: ValueId) -> Step {
        let is_kind = |value: ValueId, kind: EntityKind| self.ty(value).mapping().is_some_and(|set| self.sets.get(set).kind == kind);
        // The boundary has few faces.
        let on_most_faces = |value: ValueId| {
            let set = self.ty(value).mapping().and_then(|set| self.sets.get(set).canonical);
            set.is_some_and(|set| set.kind == EntityKind::Face && set.extent != Extent::Boundary)
        };
        match op {
            Op::Divergence(_) | Op::FaceReduce { .. } => Step::ToFaces,
            Op::Gradient(_) => Step::ToCells(2),
            Op::On { data, .. } if *data == operand && on_most_faces(result) && is_kind(operand, EntityKind::Cell) => Step::ToCells(1),
            _ => Step::Same,
        }
    }

    /// True if a value sums over faces other than through what is written anyway.
    fn sums_itself(&self, value: ValueId) -> bool {
        let (mut seen, mut open) = (BTreeSet::from([value]), vec![value]);
        while let Some(at_hand) = open.pop() {
            let Some(op) = self.defs.op(at_hand).filter(|_| !self.is_loaded(at_hand)) else { continue };
            if is_sum(op) {
                return true;
            }
            open.extend(op.operands().into_iter().filter(|operand| !self.written.contains(operand) && seen.insert(*operand)));
        }
        false
    }

    /// True if a value exists in memory for what is known before the decisions.
    pub(super) fn is_loaded(&self, value: ValueId) -> bool {
        let Some(op) = self.defs.op(value) else { return true };
        !is_fusable(op, self.ty(value))
            || op.class() == OpClass::Reduction
            || self.findings.kept.contains(&value)
            || self.stored.contains(value)
            || (self.storage(value) == Some(Storage::Stored) && is_storable(op, self.ty(value)))
    }
}

/// Returns the reason for which an operation outside kernels needs its operands.
fn need_of(op: &Op) -> Need {
    match op.class() {
        OpClass::Solve => Need::Solve,
        OpClass::Call => Need::Call,
        OpClass::Literal
        | OpClass::Text
        | OpClass::Domain
        | OpClass::Load
        | OpClass::Input
        | OpClass::Topology
        | OpClass::Geometry
        | OpClass::Pointwise
        | OpClass::Transfer
        | OpClass::FiniteVolume
        | OpClass::Reduction
        | OpClass::Exchange => Need::Operation,
    }
}

/// True if a value is made of domains, of the cells of faces, and of choices between them by what
/// is Empty, so that it costs nothing to substitute.
pub(super) fn decided_by_grid(function: &Function, defs: &Defs, value: ValueId) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([value]), vec![value]);
    while let Some(value) = open.pop() {
        if matches!(function.values[value.0 as usize].ty.shape, Shape::Domain(_)) {
            continue;
        }
        let parts = match defs.op(value) {
            Some(Op::FirstCell(a) | Op::SecondCell(a) | Op::IsEmpty(a) | Op::OneCell(a)) => vec![*a],
            Some(Op::Shift { cells, .. } | Op::CellFact { cells, .. }) => vec![*cells],
            Some(Op::On { data, target }) => vec![*data, *target],
            Some(Op::Select { condition, if_true, if_false }) => vec![*condition, *if_true, *if_false],
            _ => return false,
        };
        open.extend(parts.into_iter().filter(|part| seen.insert(*part)));
    }
    true
}

/// Notes what a block stores in variables or puts out.
fn note_written(block: &Block, written: &mut BTreeSet<ValueId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Store { value, .. } | StmtKind::Output { value, .. } => {
                written.insert(*value);
            }
            StmtKind::For { body, .. } => note_written(body, written),
            StmtKind::Let { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

/// True if it goes over the faces of a cell.
fn is_sum(op: &Op) -> bool {
    matches!(op, Op::Divergence(_) | Op::FaceReduce { .. })
}

/// True if an operation evaluates an operand at other entities than its own.
fn evaluates_elsewhere(op: &Op, operand: ValueId) -> bool {
    op.class() == OpClass::FiniteVolume || matches!(op, Op::On { data, .. } if *data == operand)
}
