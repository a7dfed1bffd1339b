//! Kernels of the equations of a Newton solve: whatever depends on an unknown is substituted, whatever does not is decided as everywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Notes;
use super::super::analysis::Defs;
use super::build::{Builder, Interface, Mode};
use super::plan::Plan;
use super::{identifier, value_name};
use crate::ir::{Function, KResult, Kernel, Path, Space, ValueId};
use crate::types::{SetId, SetTable};

/// A function that a Newton solve stands in, with its residuals substituted.
pub(in crate::passes) struct Equations<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    defs: Defs,
    plan: Plan,
    inside: &'a BTreeSet<ValueId>,
}

impl<'a> Equations<'a> {
    /// `inside` are the values that depend on an unknown.
    pub(in crate::passes) fn new(function: &'a Function, sets: &'a SetTable, inside: &'a BTreeSet<ValueId>) -> Self {
        let defs = Defs::of(function);
        let mut plan = Plan::of(function, sets, &defs, &BTreeSet::new());
        plan.substitute(inside);
        Equations { function, sets, defs, plan, inside }
    }

    /// Notes why these values, which do not depend on an unknown, are not evaluated inside the equations.
    pub(in crate::passes) fn note(&self, args: &[ValueId], notes: &mut Notes) {
        for &arg in args {
            if let Some(why) = self.plan.why(arg) {
                notes.place_before_solve(&self.function.name, arg, why.clone());
            }
        }
    }

    /// The kernel that computes the residual `value`, without derivatives; its first parameters are the unknowns. The values of the other parameters. `None` if no kernel can.
    pub(in crate::passes) fn kernel(
        &self,
        value: ValueId,
        unknowns: &[ValueId],
        domains: &BTreeMap<SetId, ValueId>,
    ) -> Option<(Kernel, Vec<ValueId>)> {
        let info = &self.function.values[value.0 as usize];
        let set = info.ty.mapping()?;
        let per_axis = BTreeSet::new();
        let interface = Interface::default();
        let mut builder = Builder::new(self.function, self.sets, &self.defs, &self.plan, domains, &per_axis, Mode::General, interface);
        for &unknown in unknowns {
            builder.add_param(unknown);
        }
        for &unknown in unknowns {
            builder.need_domain(self.function.values[unknown.0 as usize].ty.mapping()?).ok()?;
        }
        builder.need_domain(set).ok()?;
        builder.facts.learn(self.sets, &Path::Here, set, true);
        let body = builder.scoped(|b| Ok(vec![b.eval(value, &Path::Here)?])).ok()?;
        let Interface { params, mut args, locals, mut spans, .. } = builder.interface;
        spans.sort_by_key(|s| s.end - s.start);
        if spans.is_empty() {
            spans.push(info.span);
        }
        let name = identifier(&value_name(self.function, &self.defs, self.sets, value));
        let taken = params.iter().any(|p| p.name == name) || locals.iter().any(|l| l.name == name);
        let result = KResult { name: if taken { format!("{name}_residual") } else { name }, ty: info.ty, reduce: None };
        args.drain(..unknowns.len());
        if args.iter().any(|arg| self.inside.contains(arg)) {
            return None;
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
        Some((kernel, args))
    }
}
