//! Kernels that mix sums over faces with sums of Vectors, reads by index or centroids of cells. On
//! Cartesian grids they have a form far from the sides alone ([`crate::backend::inside`]), in which
//! a face has its term twice and is asked for no members of sets. Where terms are expensive, read
//! numbers of faces, or ask for something else, values are stored between sums and the rest, so
//! that each part is a kernel with a form of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Defs;
use super::placement::{Placement, is_storable};
use super::smallest_cut::{Graph, smallest_cut};
use crate::cost::CostModel;
use crate::ir::{Block, Function, Op, OpClass, StmtKind, Storage, ValueId};
use crate::types::{Basic, CanonicalSet, SetTable, Shape, Type};

/// The kinds of operations that decide the form of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Sums of Scalars over faces, and extremes.
    Sum,
    /// Sums of Vectors.
    VectorSum,
    /// Reads by index, and centroids: both know where a cell is.
    ByIndex,
}

impl Form {
    const ALL: [Form; 3] = [Form::Sum, Form::VectorSum, Form::ByIndex];

    /// The form that an operation asks for whose value is of this type.
    fn new(op: &Op, ty: Basic, is_on_all_cells: bool) -> Option<Form> {
        match op {
            Op::Divergence(_) | Op::FaceReduce { .. } if ty == Basic::Vector => Some(Form::VectorSum),
            Op::Divergence(_) | Op::FaceReduce { .. } => Some(Form::Sum),
            Op::Shift { .. } | Op::CellFact { .. } => Some(Form::ByIndex),
            // Those of the cells of faces are seen as displacements.
            Op::Centroid(_) if is_on_all_cells => Some(Form::ByIndex),
            _ => None,
        }
    }
}

/// The forms that something asks for, in the order of [`Form`].
type Forms = [bool; 3];

fn count(forms: Forms) -> usize {
    forms.into_iter().filter(|asked| *asked).count()
}

/// Operations that take as long as to store a value and load it again.
pub(super) const CHEAP: u32 = 16;

/// The fewest values to store for each kernel of a plan that is in `formless`, or has reads by
/// index beside sums with expensive terms. Of two ways with as few values, it is the one that
/// stores sums.
pub(super) fn values_to_store(
    function: &Function,
    sets: &SetTable,
    defs: &Defs,
    model: &CostModel,
    formless: &BTreeSet<ValueId>,
    placement: &dyn Fn(ValueId) -> Placement,
) -> BTreeSet<ValueId> {
    let mut splitter = Splitter { function, sets, defs, model, formless, placement, stored: BTreeSet::new() };
    let mut forms = Forms::default();
    splitter.note_forms(&function.body, &mut forms);
    if count(forms) > 1 {
        splitter.block(&function.body);
    }
    splitter.stored
}

struct Splitter<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    defs: &'a Defs,
    model: &'a CostModel,
    formless: &'a BTreeSet<ValueId>,
    placement: &'a dyn Fn(ValueId) -> Placement,
    /// Values to be stored, for the kernels so far.
    stored: BTreeSet<ValueId>,
}

/// The values that a kernel substitutes, operands before their users: the value that it computes is
/// the last.
struct Substituted {
    values: Vec<ValueId>,
    graph: Graph,
    /// The form that the operation of each value asks for.
    own: Vec<Option<Form>>,
    /// The forms that each value asks for, with everything that is substituted in it.
    forms: Vec<Forms>,
}

impl Splitter<'_> {
    fn note_forms(&self, block: &Block, forms: &mut Forms) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let [result] = results[..]
                        && let Some(form) = self.form(result, op)
                    {
                        forms[form as usize] = true;
                    }
                }
                StmtKind::For { body, .. } => self.note_forms(body, forms),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn form(&self, value: ValueId, op: &Op) -> Option<Form> {
        let ty = self.ty(value);
        Form::new(op, ty.basic, self.is_on_all_cells(ty))
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    // Reductions have no form for Cartesian grids alone.
                    let is_root = |result| (self.placement)(result) == Placement::Kernel && !matches!(op, Op::Reduce(..));
                    if let [result] = results[..]
                        && is_root(result)
                        && self.is_on_all_cells(self.ty(result))
                    {
                        let values = self.between_forms(result).unwrap_or_default();
                        self.stored.extend(values);
                    }
                }
                StmtKind::For { body, .. } => self.block(body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    fn is_on_all_cells(&self, ty: Type) -> bool {
        ty.shape == Shape::Collection(self.sets.canonical(CanonicalSet::ALL_CELLS))
    }

    /// The values to store so that the kernel of a value has one form; `None` if none do that.
    fn between_forms(&self, root: ValueId) -> Option<BTreeSet<ValueId>> {
        let mut stored = BTreeSet::new();
        let mut kernel = self.substituted(root, &stored);
        let by_index = |node: usize| kernel.forms[node][Form::ByIndex as usize];
        if !self.formless.contains(&root) && (!by_index(kernel.values.len() - 1) || self.has_cheap_terms(&kernel)) {
            return None;
        }
        // No form has reads by index below a sum, whatever is beside it. Sums below others are
        // stored in any case.
        let is_sum = |node: usize| matches!(kernel.own[node], Some(Form::Sum | Form::VectorSum));
        let sums: Vec<usize> = (0..kernel.values.len()).filter(|&node| is_sum(node) && by_index(node)).collect();
        if !sums.is_empty() {
            stored.extend(self.cut(&kernel, Form::ByIndex, &sums)?);
            kernel = self.substituted(root, &stored);
        }
        let last = kernel.values.len() - 1;
        if count(kernel.forms[last]) > 1 {
            // All forms but one are stored.
            let ways = Form::ALL.iter().rev().filter(|kept| kernel.forms[last][**kept as usize]).filter_map(|kept| {
                let others = Form::ALL.iter().filter(|form| *form != kept && kernel.forms[last][**form as usize]);
                let cuts: Option<Vec<_>> = others.map(|form| self.cut(&kernel, *form, &[last])).collect();
                Some(cuts?.concat())
            });
            stored.extend(ways.min_by_key(Vec::len)?);
        }
        Some(stored)
    }

    /// True if it takes no longer to evaluate the terms of sums for both cells of a face than to
    /// store what stands beside the sums.
    fn has_cheap_terms(&self, kernel: &Substituted) -> bool {
        let mut is_in_term = vec![false; kernel.values.len()];
        for node in (0..kernel.values.len()).rev() {
            if is_in_term[node] || matches!(kernel.own[node], Some(Form::Sum | Form::VectorSum)) {
                kernel.graph.operands[node].iter().for_each(|&operand| is_in_term[operand] = true);
            }
        }
        let in_terms = kernel.values.iter().zip(&is_in_term).filter(|(_, is_in_term)| **is_in_term);
        let costs = in_terms.filter_map(|(value, _)| {
            let op = self.defs.op(*value)?;
            Some(if matches!(op.class(), OpClass::Geometry) { 0 } else { self.model.operation(op) })
        });
        costs.sum::<u32>() <= CHEAP
    }

    /// The fewest values that leave nothing of a form in what these nodes substitute.
    fn cut(&self, kernel: &Substituted, form: Form, sinks: &[usize]) -> Option<Vec<ValueId>> {
        let sources: Vec<usize> = (0..kernel.values.len()).filter(|&node| kernel.own[node] == Some(form)).collect();
        let mut alone = Forms::default();
        alone[form as usize] = true;
        let may_store = |node: usize| !sinks.contains(&node) && kernel.forms[node] == alone && self.may_store(kernel.values[node]);
        let cut = smallest_cut(&kernel.graph, &sources, sinks, may_store)?;
        Some(cut.into_iter().map(|node| kernel.values[node]).collect())
    }

    /// True if a kernel with a form for rows of cells can compute a value, and the user lets it.
    fn may_store(&self, value: ValueId) -> bool {
        let info = &self.function.values[value.0 as usize];
        self.is_on_all_cells(info.ty)
            && matches!(info.ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool)
            && info.storage != Some(Storage::Inlined)
            && self.defs.op(value).is_some_and(|op| is_storable(op, info.ty))
    }

    /// The values that the kernel of a value substitutes if these are stored.
    fn substituted(&self, root: ValueId, stored: &BTreeSet<ValueId>) -> Substituted {
        let is_substituted =
            |value: &ValueId| (self.placement)(*value) == Placement::Inline && !self.stored.contains(value) && !stored.contains(value);
        let mut kernel = Substituted { values: Vec::new(), graph: Graph { operands: Vec::new() }, own: Vec::new(), forms: Vec::new() };
        let mut known: BTreeMap<ValueId, usize> = BTreeMap::new();
        let mut open = vec![(root, false)];
        while let Some((value, operands_are_known)) = open.pop() {
            let Some(op) = self.defs.op(value).filter(|_| !known.contains_key(&value)) else { continue };
            let operands: Vec<ValueId> = match op {
                // The domain alone is asked of the other operand.
                Op::Broadcast { value, .. } => vec![*value],
                op => op.operands(),
            };
            if !operands_are_known {
                open.push((value, true));
                open.extend(operands.into_iter().filter(is_substituted).map(|operand| (operand, false)));
                continue;
            }
            let operands: Vec<usize> = operands.iter().filter_map(|operand| known.get(operand)).copied().collect();
            // The form far from the sides has both kinds of sums.
            let own = match self.form(value, op) {
                Some(Form::VectorSum) if !self.formless.contains(&root) => Some(Form::Sum),
                own => own,
            };
            let has = |form: Form| own == Some(form) || operands.iter().any(|&operand| kernel.forms[operand][form as usize]);
            let forms = Form::ALL.map(has);
            known.insert(value, kernel.values.len());
            kernel.values.push(value);
            kernel.graph.operands.push(operands);
            kernel.own.push(own);
            kernel.forms.push(forms);
        }
        kernel
    }
}
