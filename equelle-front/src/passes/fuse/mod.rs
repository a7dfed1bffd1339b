//! Fusion: operations become kernels.
//!
//! A kernel is built by *pulling*: starting from a value that must exist in memory, the operations
//! that make it are substituted along access paths (an `On` evaluates its data at another entity, a
//! Divergence becomes a sum over faces, an Extend a membership test), until only inputs, scalars,
//! and values that exist in memory are left. [`plan`] decides which values exist in memory (store)
//! and which are substituted (recompute); [`build`] makes the kernels, each with its general body
//! and, where it has one, its Cartesian form.

mod axes;
mod branch_sums;
mod build;
mod displacement;
mod entity;
mod equation;
mod facts;
mod invariant;
mod kernel_maker;
mod membership;
mod mixed_forms;
mod names;
mod offsets;
mod placement;
mod plan;
mod repeats;
mod smallest_cut;
mod sum;
mod tidy;

use crate::backend::inside::InsideForms;
use crate::passes::fuse::names::demanded;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::cost::CostModel;
use crate::ir::{Block, Function, KernelId, Module, Op, Stmt, StmtKind, ValueId, sums_over_faces};
use crate::lower::UniqueNames;
use crate::types::{SetId, Shape};

use super::Notes;
use super::analysis::{Defs, residual_functions};
use super::masks::Masks;
use build::Unfusable;
use kernel_maker::KernelMaker;
use placement::Placement;
use plan::{Findings, Plan};

pub(super) use equation::{EquationKernel, Equations, NotBuilt};
pub(super) use names::{identifier, value_name};
pub(super) use repeats::RepeatLimit;
pub(super) use tidy::inline_all_single_uses;

/// Fuses all functions of a module except residuals of Newton's method and their callees, which are
/// differentiated operation by operation.
pub(super) fn run(module: &mut Module, model: &CostModel, notes: &mut Notes) {
    let residuals = residual_functions(module);
    let mut kernels = std::mem::take(&mut module.kernels);
    let mut names = UniqueNames::default();
    for kernel in &kernels {
        names.unique(&kernel.name);
    }
    let sets = &module.sets;
    for function in fused_functions(&mut module.functions, &residuals).chain([&mut module.main]) {
        // The plan is made again as long as its kernels show something new.
        let mut findings = Findings::default();
        // Masks and padded copies that no kernel reads are dropped.
        let mut unread = BTreeSet::new();
        let (body, made, named, of_equations) = loop {
            let defs = Defs::of(function);
            let mut masks = Masks::of(function, sets);
            masks.drop(&unread);
            let plan = Plan::of(function, sets, model, &defs, &findings, &masks);
            let mut fuser = Fuser {
                maker: KernelMaker {
                    function,
                    sets,
                    defs: &defs,
                    plan: &plan,
                    domains: BTreeMap::new(),
                    per_axis: BTreeSet::new(),
                    is_repetitive: Cell::new(false),
                },
                kernels: Vec::new(),
                first: kernels.len(),
                names: names.clone(),
                unfusable: BTreeSet::new(),
                formless: BTreeSet::new(),
                read: BTreeSet::new(),
                named: Vec::new(),
                of_equations: Vec::new(),
            };
            for &param in &function.params {
                fuser.note_domain(param);
            }
            let body = fuser.block(&function.body);
            let unread_before = unread.len();
            unread.extend(masks.values().filter(|mask| !fuser.read.contains(mask)));
            if fuser.maker.is_repetitive.get() && findings.repeats == RepeatLimit::None {
                findings.repeats = RepeatLimit::PerUse;
                continue;
            }
            if fuser.unfusable.is_subset(&findings.kept) && fuser.formless.is_subset(&findings.formless) && unread.len() == unread_before {
                plan.note(&function.name, notes);
                break (body, (fuser.kernels, fuser.names), fuser.named, fuser.of_equations);
            }
            findings.kept.extend(fuser.unfusable);
            findings.formless.extend(fuser.formless);
        };
        function.body = body;
        for (value, name) in named {
            notes.generate_name(&function.name, value);
            function.values[value.0 as usize].name = name;
        }
        kernels.extend(made.0);
        names = made.1;
        for (kernel, param) in of_equations {
            kernels[kernel.0 as usize].params[param].per_axis = true;
        }
    }
    module.kernels = kernels;
}

fn fused_functions<'a>(functions: &'a mut [Function], residuals: &'a [bool]) -> impl Iterator<Item = &'a mut Function> {
    functions.iter_mut().zip(residuals).filter(|(_, residual)| !**residual).map(|(function, _)| function)
}

struct Fuser<'a> {
    maker: KernelMaker<'a>,
    kernels: Vec<crate::ir::Kernel>,
    first: usize,
    names: UniqueNames,
    unfusable: BTreeSet<ValueId>,
    /// Values whose kernels go over their faces on Cartesian grids too, or read numbers of faces
    /// twice: sums that are alone are faster.
    formless: BTreeSet<ValueId>,
    /// Values that kernels read.
    read: BTreeSet<ValueId>,
    /// Names of results that have none in the program.
    named: Vec<(ValueId, String)>,
    /// Parameters of equations, whose kernels exist already, that are stored per axis.
    of_equations: Vec<(KernelId, usize)>,
}

impl Fuser<'_> {
    fn note_domain(&mut self, value: ValueId) {
        if let Shape::Domain(set) = self.maker.function.values[value.0 as usize].ty.shape {
            self.maker.domains.entry(set).or_insert(value);
        }
    }

    fn block(&mut self, block: &Block) -> Block {
        let outer: BTreeMap<SetId, ValueId> = self.maker.domains.clone();
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            self.statement(statement, &mut out);
        }
        self.maker.domains = outer;
        Block { statements: out }
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Vec<Stmt>) {
        match &statement.kind {
            StmtKind::Let { results, op } => {
                if let Op::Newton { equations, guesses, .. } = op {
                    for equation in equations {
                        let kept = equation.args.iter().enumerate().filter(|(_, arg)| self.maker.per_axis.contains(arg));
                        self.of_equations.extend(kept.map(|(k, _)| (equation.kernel, guesses.len() + k)));
                    }
                }
                if let [result] = results[..] {
                    self.single(statement, result, op, out);
                } else {
                    out.push(statement.clone());
                }
                for &result in results {
                    self.note_domain(result);
                }
            }
            StmtKind::For { rounds, body } => {
                let body = self.block(body);
                let kind = StmtKind::For { rounds: *rounds, body };
                out.push(Stmt { kind, span: statement.span });
            }
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => out.push(statement.clone()),
        }
    }

    fn single(&mut self, statement: &Stmt, result: ValueId, op: &Op, out: &mut Vec<Stmt>) {
        match self.maker.plan.placement(result) {
            Placement::Operation => out.push(statement.clone()),
            Placement::Inline => {
                if let Some((entities, kind)) = demanded(op)
                    && self.maker.defs.may_fail(self.maker.function, self.maker.sets, op)
                {
                    match self.maker.check(entities, kind, statement.span) {
                        Ok(made) => self.launch(made, vec![], statement, out),
                        Err(Unfusable) => {
                            self.unfusable.insert(result);
                        }
                    }
                }
            }
            Placement::Kernel => match self.maker.kernel(result, op, statement.span) {
                Ok(made) => self.launch(made, vec![result], statement, out),
                Err(Unfusable) => {
                    self.unfusable.insert(result);
                    out.push(statement.clone());
                }
            },
        }
    }

    fn launch(&mut self, made: kernel_maker::KernelAndArgs, results: Vec<ValueId>, statement: &Stmt, out: &mut Vec<Stmt>) {
        let kernel_maker::KernelAndArgs { mut kernel, args } = made;
        kernel.name = self.names.unique(&kernel.name);
        if matches!(kernel.cartesian, Some(crate::ir::CartesianForm::PerAxis(_))) {
            self.maker.per_axis.extend(&results);
        }
        for (&value, result) in results.iter().zip(&kernel.results) {
            if self.maker.function.values[value.0 as usize].name.is_empty() {
                self.named.push((value, result.name.clone()));
            }
        }
        if kernel.cartesian.is_none()
            && sums_over_faces(&kernel)
            && InsideForms::of(&kernel, self.maker.sets).is_none_or(|forms| forms.reads_faces())
        {
            self.formless.extend(&results);
        }
        let id = KernelId((self.first + self.kernels.len()) as u32);
        self.kernels.push(kernel);
        self.read.extend(&args);
        out.push(Stmt { kind: StmtKind::Launch { kernel: id, args, results }, span: statement.span });
    }
}
