//! Kernels of the equations of a Newton solve: whatever depends on an unknown is substituted,
//! whatever does not is decided as everywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Notes;
use super::super::analysis::Defs;
use super::super::masks::Masks;
use super::build::{Builder, Interface, Mode, Result, Unfusable};
use super::names::{identifier, value_name};
use super::plan::{Findings, Plan};
use super::repeats::RepeatLimit;
use crate::cost::CostModel;
use crate::ir::{Function, KBlock, KResult, Kernel, Path, Space, ValueId};
use crate::types::{CanonicalSet, SetId, SetTable, Shape};

/// The kernel of an equation.
pub(in crate::passes) struct EquationKernel {
    /// Without derivatives.
    pub kernel: Kernel,
    /// Its body for uniform Cartesian grids, if it has one.
    pub cartesian: Option<KBlock>,
    /// Arguments to pass to it after the unknowns.
    pub args: Vec<ValueId>,
}

/// Reason why an equation has no kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) enum NotBuilt {
    /// The kernel would mostly repeat choices of what depends on an unknown, which is not stored.
    Repetitive,
    /// No kernel can compute it.
    NotComputed,
}

impl NotBuilt {
    /// The construct that stands in the way.
    pub(in crate::passes) fn construct(self) -> &'static str {
        match self {
            NotBuilt::Repetitive => "choices inside many others",
            NotBuilt::NotComputed => "an operation that no kernel can compute",
        }
    }
}

/// A function that a Newton solve stands in, with its residuals substituted.
pub(in crate::passes) struct Equations<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    defs: Defs,
    plan: Plan,
    inside: &'a BTreeSet<ValueId>,
}

impl<'a> Equations<'a> {
    /// `inside` are the values that depend on an unknown. Others are stored where kernels would
    /// evaluate them more often than `repeats`.
    pub(in crate::passes) fn new(
        function: &'a Function,
        sets: &'a SetTable,
        model: &CostModel,
        inside: &'a BTreeSet<ValueId>,
        repeats: RepeatLimit,
    ) -> Self {
        let defs = Defs::of(function);
        let mut plan = Plan::of(function, sets, model, &defs, &Findings { repeats, ..Findings::default() }, &Masks::default());
        plan.substitute(inside);
        plan.substitute_paths(function, &defs);
        Equations { function, sets, defs, plan, inside }
    }

    /// Notes why these values, which do not depend on an unknown, are not evaluated inside the
    /// equations.
    pub(in crate::passes) fn note(&self, args: &[ValueId], notes: &mut Notes) {
        for &arg in args {
            if let Some(why) = self.plan.why(arg) {
                notes.place_before_solve(&self.function.name, arg, why.clone());
            }
        }
    }

    /// The kernel that computes the residual `value`, without derivatives; its first parameters are
    /// the unknowns. The body for uniform Cartesian grids, if there is one; the values of the other
    /// parameters.
    pub(in crate::passes) fn kernel(
        &self,
        value: ValueId,
        unknowns: &[ValueId],
        domains: &BTreeMap<SetId, ValueId>,
    ) -> std::result::Result<EquationKernel, NotBuilt> {
        let info = &self.function.values[value.0 as usize];
        let set = info.ty.mapping().ok_or(NotBuilt::NotComputed)?;
        let (body, mut interface) = self.body(value, unknowns, domains, Mode::General, Interface::default())?;
        let mut cartesian = None;
        let cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        let over_cells = |v: &ValueId| self.function.values[v.0 as usize].ty.mapping() == Some(cells);
        // Entities from memory may lead anywhere.
        let leads_away = interface.params.iter().any(|p| p.ty.entity_kind().is_some() && matches!(p.ty.shape, Shape::Collection(_)));
        if over_cells(&value)
            && unknowns.iter().all(over_cells)
            && !leads_away
            && let Ok((block, extended)) = self.body(value, unknowns, domains, Mode::Full, interface.for_next_body())
        {
            interface = extended;
            cartesian = Some(block);
        }
        let Interface { params, mut args, locals, mut spans, .. } = interface;
        spans.sort_by_key(|s| s.end - s.start);
        if spans.is_empty() {
            spans.push(info.span);
        }
        let name = identifier(&value_name(self.function, &self.defs, self.sets, value));
        let taken = params.iter().any(|p| p.name == name) || locals.iter().any(|l| l.name == name);
        let result = KResult { name: if taken { format!("{name}_residual") } else { name }, ty: info.ty, reduce: None, in_place: None };
        args.drain(..unknowns.len());
        if args.iter().any(|arg| self.inside.contains(arg)) {
            return Err(NotBuilt::NotComputed);
        }
        let kernel = Kernel {
            name: String::new(),
            space: Space::Set(set),
            params,
            locals,
            body,
            cartesian: None,
            jacobian: None,
            results: vec![result],
            checks: Vec::new(),
            spans,
        };
        Ok(EquationKernel { kernel, cartesian, args })
    }

    fn body(
        &self,
        value: ValueId,
        unknowns: &[ValueId],
        domains: &BTreeMap<SetId, ValueId>,
        mode: Mode,
        interface: Interface,
    ) -> std::result::Result<(KBlock, Interface), NotBuilt> {
        let per_axis = BTreeSet::new();
        let mut builder = Builder::new(self.function, self.sets, &self.defs, &self.plan, domains, &per_axis, mode, interface);
        builder.is_differentiated = true;
        match self.block(&mut builder, value, unknowns) {
            // Each copy would have its derivatives.
            Ok(_) | Err(Unfusable) if builder.interface.is_repetitive() => Err(NotBuilt::Repetitive),
            Ok(block) => Ok((block, builder.interface)),
            Err(Unfusable) => Err(NotBuilt::NotComputed),
        }
    }

    fn block(&self, builder: &mut Builder<'_>, value: ValueId, unknowns: &[ValueId]) -> Result<KBlock> {
        let type_of = |v: ValueId| self.function.values[v.0 as usize].ty;
        for &unknown in unknowns {
            builder.add_param(unknown);
        }
        for &unknown in unknowns {
            builder.need_domain(type_of(unknown).mapping().ok_or(Unfusable)?)?;
        }
        let set = type_of(value).mapping().ok_or(Unfusable)?;
        builder.need_domain(set)?;
        builder.facts.learn(self.sets, &Path::Here, set, true);
        builder.scoped(|b| Ok(vec![b.eval(value, &Path::Here)?]))
    }
}
