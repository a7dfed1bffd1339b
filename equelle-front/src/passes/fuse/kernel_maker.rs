//! Makes whole kernels: interface, general body, Cartesian form.

use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Defs;
use super::build::{Builder, Interface, Mode, Result, Unfusable};
use super::names::{identifier, must_exist, value_name};
use super::plan::Plan;
use crate::ir::{
    CHECK, COMPUTE, CartesianForm, Check, CheckKind, Function, KBlock, KExpr, KResult, Kernel, Op, Path, Space, UnaryOp, ValueId,
};
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
        let (body, mut interface) = self.body(space, Mode::General, Interface::default(), |builder| {
            if let Some(target) = must_exist(op)
                && !self.defs.never_empty(self.function, self.sets, target)
            {
                let condition = not_empty(builder, target)?;
                checks.push(Check { condition, kind: CheckKind::OnEmpty, span });
            }
            evaluate(builder)
        })?;
        let mut cartesian = None;
        // Conditions are those of the body for any grid, and only numbers are stored per axis.
        if reduce.is_none() && checks.is_empty() {
            let scalars = info.ty.basic == Basic::Scalar;
            for mode in modes(self.sets, space).iter().filter(|mode| scalars || **mode != Mode::PerAxis) {
                if let Ok((form, extended)) = self.body(space, *mode, interface.for_next_body(), evaluate) {
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
        let result = KResult { name: if taken { format!("{own}_new") } else { own }, ty: info.ty, reduce };
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

    /// A kernel without results that checks that no element of an entity collection is Empty.
    pub(super) fn check_not_empty(&self, target: ValueId, span: Span) -> Result<KernelAndArgs> {
        let set = self.function.values[target.0 as usize].ty.mapping().ok_or(Unfusable)?;
        let space = Space::Set(set);
        let mut condition = None;
        let (mut body, interface) = self.body(space, Mode::General, Interface::default(), |builder| {
            let expr = not_empty(builder, target)?;
            condition = Some(expr.clone());
            Ok(expr)
        })?;
        body.yields.clear();
        let name = identifier(&value_name(self.function, self.defs, self.sets, target));
        let check = Check { condition: condition.ok_or(Unfusable)?, kind: CheckKind::OnEmpty, span };
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
        evaluate: impl FnOnce(&mut Builder<'_>) -> Result<KExpr>,
    ) -> Result<(KBlock, Interface)> {
        let mut builder = Builder::new(self.function, self.sets, self.defs, self.plan, &self.domains, &self.per_axis, mode, interface);
        if let Space::Set(set) = space {
            builder.need_domain(set)?;
            builder.facts.learn(self.sets, &Path::Here, set, true);
        }
        let block = builder.scoped(|b| Ok(vec![evaluate(b)?]))?;
        Ok((block, builder.interface))
    }
}

/// That an entity collection holds an entity for the element at hand.
fn not_empty(builder: &mut Builder<'_>, target: ValueId) -> Result<KExpr> {
    // A condition stands alone, before the body.
    let path = builder.without_statements(|b| b.entity(target, &Path::Here))?;
    Ok(match builder.facts.is_empty(builder.sets, &path) {
        Some(empty) => KExpr::Bool(!empty),
        None => KExpr::Unary(UnaryOp::Not, Box::new(KExpr::IsEmpty(path))),
    })
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
