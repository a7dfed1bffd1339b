//! Makes whole kernels: interface, general body, Cartesian form.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Defs;
use super::build::{Builder, Interface, Mode, Result, Unfusable};
use super::names::{demanded, identifier, value_name};
use super::plan::Plan;
use crate::ir::{
    CHECK, COMPUTE, CartesianForm, Check, CheckKind, Function, KBlock, KExpr, KResult, Kernel, Op, Path, Space, UnaryOp, ValueId,
};
use crate::ops::Reduction;
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, EntityKind, SetId, SetTable, Shape};

/// Makes the kernels of one function.
pub(super) struct KernelMaker<'a> {
    pub function: &'a Function,
    pub sets: &'a SetTable,
    pub defs: &'a Defs,
    pub plan: &'a Plan,
    /// Domain value of each set made at run time, where visible.
    pub domains: BTreeMap<SetId, ValueId>,
    /// Values that Cartesian runs store per axis.
    pub per_axis: BTreeSet<ValueId>,
    /// True if a kernel has been mostly repetitions.
    pub is_repetitive: Cell<bool>,
}

/// A kernel and what to pass to it.
pub(super) struct KernelAndArgs {
    pub kernel: Kernel,
    pub args: Vec<ValueId>,
}

impl KernelMaker<'_> {
    /// The kernel that computes a value, by the statement at `span`.
    pub(super) fn kernel(&self, value: ValueId, op: &Op, span: Span) -> Result<KernelAndArgs> {
        let info = &self.function.values[value.0 as usize];
        let name = value_name(self.function, self.defs, self.sets, value);
        let (reduce, source) = match op {
            Op::Reduce(reduction, source) => (Some(*reduction), Some(*source)),
            _ => (None, None),
        };
        let mapping = match source {
            Some(source) => self.function.values[source.0 as usize].ty.mapping(),
            None => info.ty.mapping(),
        };
        let space = match (mapping, info.ty.shape) {
            (Some(set), _) => Space::Set(set),
            (None, Shape::Single) => Space::Unit,
            (None, Shape::Collection(_) | Shape::Domain(_) | Shape::Sequence) => return Err(Unfusable),
        };
        let evaluate = |builder: &mut Builder<'_>| match source {
            Some(source) => builder.eval(source, &Path::Here),
            None => builder.root(value, op, &Path::Here),
        };
        let mut checks = Vec::new();
        let roots = op.operands();
        let (body, mut interface) = self.body(space, Mode::General, Interface::default(), &roots, |builder| {
            if let Some((entities, kind)) = demanded(op)
                && self.defs.may_fail(self.function, self.sets, op)
            {
                checks.push(Check { condition: condition(builder, entities, kind)?, kind, span });
            }
            evaluate(builder)
        })?;
        let mut cartesian = None;
        // Conditions are those of the body for any grid, and only numbers are stored per axis. An
        // extreme has a form with which it may join a kernel that writes what it is of. A mask is
        // made once, by a list.
        if reduce.is_none_or(Reduction::is_extreme) && checks.is_empty() && !self.plan.is_mask(value) {
            let scalars = info.ty.basic == Basic::Scalar && reduce.is_none();
            for mode in modes(self.sets, space).iter().filter(|mode| scalars || **mode != Mode::PerAxis) {
                if let Ok((form, extended)) = self.body(space, *mode, interface.for_next_body(), &roots, evaluate) {
                    interface = extended;
                    cartesian = Some(match mode {
                        Mode::PerAxis => CartesianForm::PerAxis(form),
                        Mode::Full | Mode::General => CartesianForm::Full(form),
                    });
                    break;
                }
            }
        }
        // A new value of what it is computed from: `u` from `u`.
        let own = identifier(&name);
        let taken = interface.params.iter().any(|p| p.name == own);
        let result = KResult { name: if taken { format!("{own}_new") } else { own }, ty: info.ty, reduce, in_place: None };
        let mut spans = interface.spans.clone();
        spans.sort_by_key(|s| s.end - s.start);
        if spans.is_empty() {
            spans.push(info.span);
        }
        let kernel = Kernel {
            name: format!("{COMPUTE}{}", identifier(&name)),
            space,
            params: interface.params,
            locals: interface.locals,
            body,
            cartesian,
            jacobian: None,
            results: vec![result],
            checks,
            spans,
        };
        Ok(KernelAndArgs { kernel, args: interface.args })
    }

    /// A kernel without results that checks each element of an entity collection.
    pub(super) fn check(&self, entities: ValueId, kind: CheckKind, span: Span) -> Result<KernelAndArgs> {
        let set = self.function.values[entities.0 as usize].ty.mapping().ok_or(Unfusable)?;
        let space = Space::Set(set);
        let mut holds = None;
        let (mut body, interface) = self.body(space, Mode::General, Interface::default(), &[entities], |builder| {
            let expr = condition(builder, entities, kind)?;
            holds = Some(expr.clone());
            Ok(expr)
        })?;
        body.yields.clear();
        let name = identifier(&value_name(self.function, self.defs, self.sets, entities));
        let check = Check { condition: holds.ok_or(Unfusable)?, kind, span };
        let kernel = Kernel {
            name: format!("{CHECK}{name}"),
            space,
            params: interface.params,
            locals: interface.locals,
            body,
            cartesian: None,
            jacobian: None,
            results: Vec::new(),
            checks: vec![check],
            spans: vec![span],
        };
        Ok(KernelAndArgs { kernel, args: interface.args })
    }

    fn body(
        &self,
        space: Space,
        mode: Mode,
        interface: Interface,
        roots: &[ValueId],
        mut evaluate: impl FnMut(&mut Builder<'_>) -> Result<KExpr>,
    ) -> Result<(KBlock, Interface)> {
        let mut builder = Builder::new(self.function, self.sets, self.defs, self.plan, &self.domains, &self.per_axis, mode, interface);
        if let Space::Set(set) = space {
            builder.need_domain(set)?;
            builder.facts.learn(self.sets, &Path::Here, set, true);
        }
        let mut whole = |builder: &mut Builder<'_>| builder.scoped(|b| Ok(vec![evaluate(b)?]));
        let block = match mode {
            Mode::General | Mode::Full => whole(&mut builder).map(Some),
            // Only face spaces: those of cells have no normals.
            Mode::PerAxis => builder.each_axis(roots, &Path::Here, &KExpr::Real(0.0), |b| Ok(Some(whole(b)?))),
        };
        self.is_repetitive.set(self.is_repetitive.get() || builder.interface.is_repetitive());
        Ok((block?.ok_or(Unfusable)?, builder.interface))
    }
}

/// Condition that the entity which a collection holds for the current element exists, or, if it
/// does, has one cell.
fn condition(builder: &mut Builder<'_>, entities: ValueId, kind: CheckKind) -> Result<KExpr> {
    // A condition stands alone, before the body.
    let path = builder.without_statements(|b| b.entity(entities, &Path::Here))?;
    let empty = match builder.facts.is_empty(builder.sets, &path) {
        Some(known) => KExpr::Bool(known),
        None => KExpr::IsEmpty(path.clone()),
    };
    match kind {
        CheckKind::OnEmpty => Ok(match empty {
            KExpr::Bool(known) => KExpr::Bool(!known),
            empty => KExpr::Unary(UnaryOp::Not, Box::new(empty)),
        }),
        CheckKind::OneCell => {
            let set = builder.sets.canonical(CanonicalSet::BOUNDARY_FACES);
            builder.need_members(set)?;
            let one_cell = KExpr::Member { set, at: path };
            Ok(match empty {
                KExpr::Bool(true) => KExpr::Bool(true),
                KExpr::Bool(false) => one_cell,
                empty => KExpr::Select { condition: Box::new(empty), if_true: Box::new(KExpr::Bool(true)), if_false: Box::new(one_cell) },
            })
        }
    }
}

/// Cartesian forms to try, best first.
fn modes(sets: &SetTable, space: Space) -> &'static [Mode] {
    let Space::Set(set) = space else { return &[] };
    let Some(canonical) = sets.get(set).canonical else { return &[] };
    match canonical.kind {
        EntityKind::Cell if canonical == CanonicalSet::ALL_CELLS => &[Mode::PerAxis, Mode::Full],
        EntityKind::Cell | EntityKind::Face => &[Mode::PerAxis],
        EntityKind::Edge | EntityKind::Vertex => &[],
    }
}
