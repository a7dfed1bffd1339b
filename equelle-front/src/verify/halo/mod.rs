//! Proof that a program on several ranks reads no stale value of its halo, and nothing beyond it.
//!
//! It shares no code with [`crate::passes::halo`], which inserts exchanges: it is to notice one
//! that is missing or too shallow.

mod kernel;

use std::collections::BTreeMap;

use crate::ir::{Block, Carried, Equation, Function, FunctionId, IrLocation, Module, MutableId, Op, Owner, StmtKind, ValueId};
use crate::ops::{CellFact, Offset};
use crate::source::Span;
use crate::types::{CanonicalSet, Extent, SetId, Shape, Type};
use crate::verify::VerifyError;

/// Layers of the halo to which values are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloDepths {
    /// By value, before it is exchanged. `[n_values]`
    defined: Vec<u32>,
}

impl HaloDepths {
    /// The layers to which a value of the main program is right where it is defined; what is
    /// computed in layers beyond these nobody reads.
    ///
    /// # Panics
    /// If the program has no such value.
    pub fn defined(&self, value: ValueId) -> u32 {
        self.defined[value.0 as usize]
    }
}

/// Checks the main program of a verified module, whose ranks have so many layers of halo cells; the
/// layers to which its values are right.
///
/// # Errors
/// Every read that goes further than its values are right, in the order of the text; every call.
pub fn check(module: &Module, layers: u32) -> Result<HaloDepths, Vec<VerifyError>> {
    let members = module.sets.ids().map(|set| match module.sets.canonical_superset(set).extent {
        Extent::All => layers,
        // The rim of the halo does not tell where the grid ends.
        Extent::Interior | Extent::Boundary => layers.saturating_sub(1),
    });
    let mut checker = Checker::new(module, Owner::Main, layers, members.collect());
    checker.find_facts();
    checker.reports = true;
    checker.statements_of_function();
    if checker.errors.is_empty() { Ok(HaloDepths { defined: checker.defined }) } else { Err(checker.errors) }
}

/// Properties of a value at every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    /// Layers to which its elements are right.
    right: u32,
    /// Layers from an element to the entity that it holds.
    lead: u32,
}

impl Fact {
    /// Properties of one of two values.
    fn either(self, other: Fact) -> Fact {
        Fact { right: self.right.min(other.right), lead: self.lead.max(other.lead) }
    }
}

struct Checker<'a> {
    module: &'a Module,
    /// The main program, or the residual of a solve.
    owner: Owner,
    function: &'a Function,
    layers: u32,
    facts: Vec<Fact>,
    /// Layers to which values are right where they are defined.
    defined: Vec<u32>,
    /// Layers to which each set has its elements.
    members: Vec<u32>,
    /// Facts of mutables at the heads of loops.
    heads: BTreeMap<u32, Vec<Option<Fact>>>,
    /// True if facts of a loop or set were weakened.
    changed: bool,
    /// True if facts are final.
    reports: bool,
    statements: u32,
    span: Span,
    /// Facts of the results.
    returned: Vec<Fact>,
    errors: Vec<VerifyError>,
}

impl<'a> Checker<'a> {
    fn new(module: &'a Module, owner: Owner, layers: u32, members: Vec<u32>) -> Self {
        let function = match owner {
            Owner::Main => &module.main,
            Owner::Function(FunctionId(number)) => &module.functions[number as usize],
        };
        Checker {
            module,
            owner,
            function,
            layers,
            facts: vec![Fact { right: layers, lead: 0 }; function.values.len()],
            defined: vec![layers; function.values.len()],
            members,
            heads: BTreeMap::new(),
            changed: false,
            reports: false,
            statements: 0,
            span: Span::default(),
            returned: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Goes through the statements until no loop and no set changes a fact.
    fn find_facts(&mut self) {
        loop {
            self.changed = false;
            self.statements_of_function();
            if !self.changed {
                break;
            }
        }
    }

    fn error(&mut self, message: String) {
        if self.reports {
            let location = IrLocation::Statement(self.owner, self.statements.saturating_sub(1));
            let within = match self.owner {
                Owner::Main => "main".to_owned(),
                Owner::Function(_) => self.function.name.clone(),
            };
            self.errors.push(VerifyError { location, within, span: self.span, message });
        }
    }

    fn statements_of_function(&mut self) {
        let function = self.function;
        self.statements = 0;
        let mut state = vec![None; function.mutables.len()];
        self.block(&function.body, &mut state);
    }

    fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    fn name(&self, value: ValueId) -> String {
        match &self.function.values[value.0 as usize].name {
            name if name.is_empty() => format!("value {}", value.0),
            name => format!("`{name}`"),
        }
    }

    fn fact(&self, value: ValueId) -> Fact {
        match self.ty(value).shape {
            Shape::Domain(set) => Fact { right: self.members[set.0 as usize], lead: 0 },
            Shape::Collection(_) | Shape::Single | Shape::Sequence => self.facts[value.0 as usize],
        }
    }

    fn lead(&self, value: ValueId) -> u32 {
        self.fact(value).lead
    }

    /// Layers that are left of a value where it is read so many layers out.
    fn read(&mut self, value: ValueId, at: u32) -> u32 {
        match self.ty(value).shape {
            Shape::Single | Shape::Sequence => self.layers,
            Shape::Domain(set) => self.member(set, at),
            Shape::Collection(_) => {
                let right = self.fact(value).right;
                if right < at {
                    let name = self.name(value);
                    self.error(format!("{name} is read at layer {at} of the halo and is right up to layer {right}"));
                }
                right.saturating_sub(at)
            }
        }
    }

    /// Layers that are left of a set where an entity so many layers out is looked up in it.
    fn member(&mut self, set: SetId, at: u32) -> u32 {
        let right = self.members[set.0 as usize];
        if right < at {
            let name = self.module.sets.get(set).name.clone();
            self.error(format!("{name} is asked at layer {at} of the halo and is right up to layer {right}"));
        }
        right.saturating_sub(at)
    }

    /// Layers that are left of the grid beyond an entity so many layers out.
    fn exists(&mut self, at: u32) -> u32 {
        if self.layers < at {
            self.error(format!("an entity at layer {at} is read, of a halo of {} layers", self.layers));
        }
        self.layers.saturating_sub(at)
    }

    fn block(&mut self, block: &Block, state: &mut Vec<Option<Fact>>) {
        for statement in &block.statements {
            let number = self.statements;
            self.statements += 1;
            self.span = statement.span;
            match &statement.kind {
                StmtKind::Let { results, op } => self.operation(results, op, state),
                StmtKind::Launch { kernel, args, results } => {
                    if let Some(kernel) = self.module.kernels.get(kernel.0 as usize) {
                        let leads = args.iter().map(|&arg| self.lead(arg)).collect();
                        let (right, found) = kernel::Walk::new(self, kernel, args, leads).kernel();
                        for (&result, lead) in results.iter().zip(found) {
                            self.set(result, Fact { right, lead });
                        }
                    }
                }
                StmtKind::Store { mutable: MutableId(mutable), value } => state[*mutable as usize] = Some(self.fact(*value)),
                StmtKind::Output { value, .. } => {
                    self.read(*value, 0);
                }
                StmtKind::Return(values) => self.returned = values.iter().map(|&value| self.fact(value)).collect(),
                StmtKind::For { body, .. } => {
                    let mut head = self.heads.get(&number).cloned().unwrap_or_else(|| state.clone());
                    weaken(&mut head, state);
                    let mut inside = head.clone();
                    self.block(body, &mut inside);
                    self.changed |= weaken(&mut head, &inside) || self.heads.get(&number) != Some(&head);
                    state.clone_from(&head);
                    self.heads.insert(number, head);
                }
            }
        }
    }

    /// Layers from faces of a set to cells: a boundary face has the layer of its one cell.
    fn beyond_face(&self, within: Option<SetId>) -> u32 {
        let sets = &self.module.sets;
        match within {
            Some(set) if sets.is_subset(set, sets.canonical(CanonicalSet::BOUNDARY_FACES)) => 0,
            Some(_) | None => 1,
        }
    }

    fn set(&mut self, value: ValueId, fact: Fact) {
        let Some(set) = self.ty(value).mapping() else { return };
        let lead = if self.ty(value).entity_kind().is_some() { fact.lead.min(self.layers + 1) } else { 0 };
        let right = fact.right.min(self.members[set.0 as usize]);
        self.facts[value.0 as usize] = Fact { right, lead };
        self.defined[value.0 as usize] = right;
    }

    fn operation(&mut self, results: &[ValueId], op: &Op, state: &[Option<Fact>]) {
        if let Op::Exchange { value, depth } = op {
            return self.exchange(*value, *depth);
        }
        if let Op::Newton { residuals, captures, guesses, carried, equations } = op {
            let (unknowns, assigned) = results.split_at(guesses.len().min(results.len()));
            return self.solve((unknowns, assigned), (residuals, captures), carried, equations);
        }
        let &[result] = results else {
            return self.error("a call that has several results has no place on ranks".to_owned());
        };
        let fact = match op {
            Op::Load(mutable) => match state[mutable.0 as usize] {
                Some(fact) => fact,
                None => return,
            },
            Op::Where { within, condition } => {
                let right = self.read(*within, 0).min(self.read(*condition, 0));
                if let Some(SetId(set)) = self.ty(result).mapping()
                    && right < self.members[set as usize]
                {
                    self.members[set as usize] = right;
                    self.changed = true;
                }
                return;
            }
            Op::FirstCell(faces) | Op::SecondCell(faces) => {
                let lead = self.lead(*faces) + self.beyond_face(self.ty(*faces).within);
                Fact { right: self.read(*faces, 0).min(self.exists(lead)), lead }
            }
            Op::OneCell(faces) => {
                let lead = self.lead(*faces);
                Fact { right: self.read(*faces, 0).min(self.exists(lead + 1)), lead }
            }
            Op::Shift { cells, by, .. } => {
                let lead = self.lead(*cells) + furthest(by);
                Fact { right: self.read(*cells, 0).min(self.exists(lead)), lead }
            }
            Op::On { data, target } => {
                let there = self.lead(*target);
                let lead = there + self.lead(*data);
                Fact { right: self.read(*target, 0).min(self.read(*data, there)).min(self.exists(lead)), lead }
            }
            Op::Gradient(values) => Fact { right: self.read(*values, 1), lead: 0 },
            Op::Extend { data, domain } => Fact { right: self.read(*data, 0).min(self.read(*domain, 0)), lead: self.lead(*data) },
            Op::Select { condition, if_true, if_false } => {
                let right = self.read(*condition, 0).min(self.read(*if_true, 0)).min(self.read(*if_false, 0));
                Fact { right, lead: self.lead(*if_true).max(self.lead(*if_false)) }
            }
            Op::IsEmpty(entities)
            | Op::Centroid(entities)
            | Op::FaceGap(entities)
            | Op::FaceTransmissibility(entities)
            | Op::Normal(entities)
            | Op::Measure(entities) => {
                let there = self.lead(*entities);
                Fact { right: self.read(*entities, 0).min(self.exists(there)), lead: 0 }
            }
            Op::CellFact { fact, cells } => {
                let there = self.lead(*cells) + told_from(*fact);
                Fact { right: self.read(*cells, 0).min(self.exists(there)), lead: 0 }
            }
            // Entities that are compared are those of this rank.
            Op::Compare(_, a, b) => {
                let there = self.lead(*a).max(self.lead(*b));
                Fact { right: self.read(*a, 0).min(self.read(*b, 0)).min(self.exists(there)), lead: 0 }
            }
            Op::Unary(_, a) | Op::Divergence(a) | Op::Component(a, _) | Op::Reduce(_, a) => Fact { right: self.read(*a, 0), lead: 0 },
            Op::Arithmetic(_, a, b) | Op::Logic(_, a, b) | Op::Dot(a, b) | Op::Math(_, a, b) => {
                Fact { right: self.read(*a, 0).min(self.read(*b, 0)), lead: 0 }
            }
            Op::FaceReduce { reduction: _, first, second } => Fact { right: self.read(*first, 0).min(self.read(*second, 0)), lead: 0 },
            Op::Interpolate { table: _, argument } => Fact { right: self.read(*argument, 0), lead: 0 },
            Op::Vector(components) => {
                let right = components.iter().map(|&component| self.read(component, 0)).min();
                Fact { right: right.unwrap_or(self.layers), lead: 0 }
            }
            Op::Real(_)
            | Op::Bool(_)
            | Op::Text(_)
            | Op::TextIndex(..)
            | Op::CanonicalSet(_)
            | Op::GridNumber(_)
            | Op::Broadcast { .. }
            | Op::InputScalar { .. }
            | Op::InputCollection { .. }
            | Op::InputDomain { .. }
            | Op::InputSequence { .. }
            | Op::InputTable { .. }
            | Op::InputTable2 { .. }
            | Op::Step(_) => Fact { right: self.layers, lead: 0 },
            Op::Exchange { .. } | Op::Call { .. } | Op::Newton { .. } => {
                return self.error("a call has no place on ranks".to_owned());
            }
        };
        self.set(result, fact);
    }

    /// Unknowns are exchanged to all layers before their residuals are evaluated, which happens
    /// again and again: what one evaluation assigns the next one reads.
    fn solve(
        &mut self,
        (unknowns, assigned): (&[ValueId], &[ValueId]),
        (residuals, captures): (&[FunctionId], &[Vec<ValueId>]),
        carried: &[Carried],
        equations: &[Equation],
    ) {
        for &unknown in unknowns {
            self.set(unknown, Fact { right: self.layers, lead: 0 });
        }
        let begins = |variable: &Carried| variable.reads.first().and_then(|&(r, c)| captures.get(r as usize)?.get(c as usize).copied());
        let mut state: Vec<Option<Fact>> = carried.iter().map(|variable| begins(variable).map(|value| self.fact(value))).collect();
        loop {
            let mut after = state.clone();
            for (number, (&residual, captures)) in residuals.iter().zip(captures).enumerate() {
                let mut params: Vec<Fact> = unknowns.iter().chain(captures).map(|&value| self.fact(value)).collect();
                let is_here = |&&(other, _): &&(u32, u32)| other as usize == number;
                for (variable, fact) in carried.iter().zip(&after) {
                    for &(_, capture) in variable.reads.iter().filter(is_here) {
                        params[unknowns.len() + capture as usize] = fact.unwrap_or(Fact { right: 0, lead: 0 });
                    }
                }
                let given = self.residual(residual, &params);
                for (variable, fact) in carried.iter().zip(&mut after) {
                    if let Some(&(_, result)) = variable.writes.iter().rfind(is_here) {
                        *fact = given.get(result as usize).copied();
                    }
                }
            }
            if !weaken(&mut state, &after) {
                break;
            }
        }
        for (&value, fact) in assigned.iter().zip(state) {
            self.set(value, fact.unwrap_or(Fact { right: 0, lead: 0 }));
        }
        for equation in equations {
            if let Some(kernel) = self.module.kernels.get(equation.kernel.0 as usize) {
                let args = [unknowns, &equation.args].concat();
                let leads = args.iter().map(|&arg| self.lead(arg)).collect();
                kernel::Walk::new(self, kernel, &args, leads).kernel();
            }
        }
    }

    /// Facts of the results of a residual with arguments of these.
    fn residual(&mut self, residual: FunctionId, params: &[Fact]) -> Vec<Fact> {
        let mut checker = Checker::new(self.module, Owner::Function(residual), self.layers, self.members.clone());
        for (param, &fact) in checker.function.params.iter().zip(params) {
            checker.facts[param.0 as usize] = fact;
        }
        checker.find_facts();
        checker.reports = self.reports;
        checker.statements_of_function();
        self.changed |= checker.members != self.members;
        self.members = checker.members;
        self.errors.append(&mut checker.errors);
        checker.returned
    }

    /// From here on the value is right to this depth.
    fn exchange(&mut self, value: ValueId, depth: u32) {
        if depth > self.layers || self.ty(value).mapping().is_some_and(|set| depth > self.members[set.0 as usize]) {
            self.error(format!("an exchange of {depth} layers is deeper than what ranks have"));
        }
        let right = self.read(value, 0).max(depth);
        let Some(SetId(set)) = self.ty(value).mapping() else { return };
        self.facts[value.0 as usize] = Fact { right: right.min(self.members[set as usize]), lead: 0 };
    }
}

/// Layers from a cell to the cell that decides a fact of it.
fn told_from(fact: CellFact) -> u32 {
    match fact {
        CellFact::Outside { by, axis: _ } => by.unsigned_abs().into(),
        CellFact::Index(_) | CellFact::Even(_) => 0,
    }
}

/// Layers of a box to the cell at an offset.
fn furthest(by: &Offset) -> u32 {
    let [x, y, z] = by.map(|by| u32::from(by.unsigned_abs()));
    x.max(y).max(z)
}

/// Makes facts hold for another state too. True if one changes.
fn weaken(facts: &mut [Option<Fact>], other: &[Option<Fact>]) -> bool {
    let mut changed = false;
    for (fact, other) in facts.iter_mut().zip(other) {
        let both = match (*fact, *other) {
            (Some(a), Some(b)) => Some(a.either(b)),
            (Some(a), None) | (None, Some(a)) => Some(a),
            (None, None) => None,
        };
        changed |= both != *fact;
        *fact = both;
    }
    changed
}
