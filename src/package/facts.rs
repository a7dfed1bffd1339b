//! What a program reads and writes, found by walking its statements.

use std::collections::BTreeSet;

use equelle_front::check::{self, CheckOptions};
use equelle_front::ir::{Block, Function, FunctionId, Module, Op, StmtKind, UnaryOp, ValueId};
use equelle_front::source::Span;
use equelle_front::types::{Basic, Dimension, Shape, Type};
use equelle_front::{lower, syntax};

use super::kernels::largest_component;

/// Kinds of input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A Scalar.
    Scalar,
    /// A collection.
    Collection,
    /// A domain.
    Domain,
    /// A sequence.
    Sequence,
}

impl Kind {
    fn of(ty: &Type) -> Self {
        match (ty.shape, ty.basic) {
            (Shape::Single, _) => Kind::Scalar,
            (Shape::Collection(_), Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_) | Basic::Text) => Kind::Collection,
            (Shape::Domain(_), _) => Kind::Domain,
            (Shape::Sequence, _) => Kind::Sequence,
        }
    }

    /// As in the manifest.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Scalar => "scalar",
            Kind::Collection => "collection",
            Kind::Domain => "domain",
            Kind::Sequence => "sequence",
        }
    }

    /// Whether an output of it may be a file.
    fn goes_to_files(self) -> bool {
        match self {
            Kind::Collection | Kind::Domain => true,
            Kind::Scalar | Kind::Sequence => false,
        }
    }

    /// Variant of `InputKind`.
    pub(super) fn variant(self) -> &'static str {
        match self {
            Kind::Scalar => "Scalar",
            Kind::Collection => "Collection",
            Kind::Domain => "Domain",
            Kind::Sequence => "Sequence",
        }
    }
}

/// An input or output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// Name of the parameter, or tag.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The domain of a collection, or the superset of an input domain; empty otherwise.
    pub domain: String,
    /// Type of the value.
    pub ty: Type,
    /// Unit as a product of base units; empty if dimensionless.
    pub unit: String,
    /// Physical dimension.
    pub dim: Dimension,
    /// Default of an input scalar, if it is a number.
    pub default: Option<f64>,
    /// Equelle line; 0 if unknown.
    pub line: u32,
    /// The call that reads it, or the value that is written.
    pub span: Span,
    /// Inside a loop, so once in each of its rounds.
    pub per_step: bool,
}

/// What a program reads and writes.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// In the order of the program, each once.
    pub inputs: Vec<Item>,
    /// In the order of the program, each tag once.
    pub outputs: Vec<Item>,
    /// The least number of space axes that the program can do with.
    pub min_dim: u32,
    /// Whether equations are solved with Newton's method.
    pub implicit: bool,
    /// The number of space axes that the program demands, because it makes Vectors of components.
    pub exact_dim: Option<u32>,
    /// The statement that is looked at is in a loop.
    in_loop: bool,
    /// Calls that have been looked at: function, Text arguments, in a loop. Another one like it adds nothing.
    seen: BTreeSet<(u32, Vec<Option<String>>, bool)>,
}

/// Facts of a program. They do not depend on the passes that have changed it.
pub(super) fn facts(module: &Module) -> Facts {
    let as_written = as_written(module);
    let module = as_written.as_ref().unwrap_or(module);
    let mut facts = Facts { min_dim: 1, ..Facts::default() };
    facts.function(module, &module.main, &[]);
    facts
}

/// The program as its text has it; `None` if the module is not made from text. A pass that drops a multiplication by `1 [Kelvin]` keeps the
/// value but not its dimension, so dimensions are those from before the passes.
fn as_written(module: &Module) -> Option<Module> {
    let program = syntax::parse(module.source.text()).program;
    let checked = |nondimensional| check::check(&program, &CheckOptions { nondimensional }).program;
    let typed = if module.source.text().is_empty() { None } else { checked(false).or_else(|| checked(true)) };
    typed.map(|typed| lower::lower(&typed, &module.source, &module.name))
}

impl Facts {
    /// Tags of what may go to files, each once.
    pub(super) fn collection_tags(&self) -> impl Iterator<Item = &str> {
        let mut seen = BTreeSet::new();
        let in_files = self.outputs.iter().filter(|output| output.kind.goes_to_files());
        in_files.map(|output| output.name.as_str()).filter(move |name| seen.insert(*name))
    }

    /// `texts` are the Text arguments, by parameter.
    fn function(&mut self, module: &Module, function: &Function, texts: &[Option<String>]) {
        let mut known: Vec<Option<String>> = vec![None; function.values.len()];
        for (param, text) in function.params.iter().zip(texts) {
            known[param.0 as usize] = text.clone();
        }
        self.block(module, function, &function.body, &mut known);
    }

    /// A function where it is called.
    fn call(&mut self, module: &Module, callee: FunctionId, texts: Vec<Option<String>>) {
        if self.seen.insert((callee.0, texts.clone(), self.in_loop)) {
            self.function(module, &module.functions[callee.0 as usize], &texts);
        }
    }

    /// The body of a loop.
    fn round(&mut self, module: &Module, function: &Function, body: &Block, known: &mut Vec<Option<String>>) {
        let outside = std::mem::replace(&mut self.in_loop, true);
        self.block(module, function, body, known);
        self.in_loop = outside;
    }

    fn block(&mut self, module: &Module, function: &Function, block: &Block, known: &mut Vec<Option<String>>) {
        for statement in &block.statements {
            let line = if module.source.text().is_empty() { 0 } else { module.source.line(statement.span.start) };
            match &statement.kind {
                StmtKind::Let { results, op } => self.operation(module, function, results, op, known, line),
                StmtKind::Output { tag, value } => {
                    let Some(name) = known[tag.0 as usize].clone() else { continue };
                    let value = &function.values[value.0 as usize];
                    let domain = value.ty.mapping().map(|set| module.sets.get(set).name.clone()).unwrap_or_default();
                    let unit = unit(&value.dim.to_string());
                    let (kind, ty, dim, span, per_step) = (Kind::of(&value.ty), value.ty, value.dim, value.span, self.in_loop);
                    match self.outputs.iter_mut().find(|o| o.name == name && o.kind == kind) {
                        Some(known) => known.per_step |= per_step,
                        None => self.outputs.push(Item { name, kind, domain, ty, unit, dim, default: None, line, span, per_step }),
                    }
                }
                StmtKind::For { body, .. } => self.round(module, function, body, known),
                StmtKind::Launch { kernel, .. } => {
                    let largest = largest_component(&module.kernels[kernel.0 as usize]);
                    self.min_dim = self.min_dim.max(largest.map_or(0, |c| c + 1));
                }
                StmtKind::Store { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn operation(&mut self, module: &Module, function: &Function, results: &[ValueId], op: &Op, known: &mut [Option<String>], line: u32) {
        let set_name = |value: ValueId| {
            let ty = function.values[value.0 as usize].ty;
            ty.mapping().map(|set| module.sets.get(set).name.clone()).unwrap_or_default()
        };
        let (name, domain, default) = match op {
            Op::Text(text) => {
                if let Some(result) = results.first() {
                    known[result.0 as usize] = Some(text.clone());
                }
                return;
            }
            Op::InputScalar { name, default } => (*name, String::new(), constant(&function.body, *default)),
            Op::InputCollection { name, domain } => (*name, set_name(*domain), None),
            Op::InputDomain { name, within } => (*name, set_name(*within), None),
            Op::InputSequence { name } => (*name, String::new(), None),
            Op::Component(_, index) => {
                self.min_dim = self.min_dim.max(index + 1);
                return;
            }
            Op::Vector(components) => {
                self.min_dim = self.min_dim.max(components.len() as u32);
                self.exact_dim = self.exact_dim.max(Some(components.len() as u32));
                return;
            }
            Op::TextIndex(text, index) => {
                if let Some(result) = results.first() {
                    known[result.0 as usize] = known[text.0 as usize].as_ref().map(|text| format!("{text}_{index}"));
                }
                return;
            }
            Op::Call { function: callee, args } => {
                let texts: Vec<Option<String>> = args.iter().map(|a| known[a.0 as usize].clone()).collect();
                self.call(module, *callee, texts);
                return;
            }
            Op::Newton { residuals, captures, guesses, .. } => {
                self.implicit = true;
                for (residual, captures) in residuals.iter().zip(captures) {
                    let texts: Vec<Option<String>> = guesses.iter().chain(captures).map(|a| known[a.0 as usize].clone()).collect();
                    self.call(module, *residual, texts);
                }
                return;
            }
            Op::Real(_)
            | Op::Bool(_)
            | Op::CanonicalSet(_)
            | Op::Load(_)
            | Op::FirstCell(_)
            | Op::SecondCell(_)
            | Op::IsEmpty(_)
            | Op::Centroid(_)
            | Op::Normal(_)
            | Op::Measure(_)
            | Op::Unary(..)
            | Op::Arithmetic(..)
            | Op::Compare(..)
            | Op::Logic(..)
            | Op::Select { .. }
            | Op::On { .. }
            | Op::Extend { .. }
            | Op::Spread { .. }
            | Op::Gradient(_)
            | Op::Divergence(_)
            | Op::Dot(..)
            | Op::Math(..)
            | Op::Reduce(..) => return,
        };
        let (Some(name), Some(result)) = (known[name.0 as usize].clone(), results.first()) else { return };
        let result = &function.values[result.0 as usize];
        let (kind, ty, dim) = (Kind::of(&result.ty), result.ty, result.dim);
        let item =
            Item { name, kind, domain, ty, unit: unit(&dim.to_string()), dim, default, line, span: result.span, per_step: self.in_loop };
        if !self.inputs.iter().any(|i| (&i.name, i.kind, &i.domain) == (&item.name, item.kind, &item.domain)) {
            self.inputs.push(item);
        }
    }
}

/// The number that a value is, if a statement of this body (or of a loop in it) says so.
fn constant(block: &Block, value: ValueId) -> Option<f64> {
    block.statements.iter().find_map(|statement| match &statement.kind {
        StmtKind::Let { results, op: Op::Real(number) } => results.contains(&value).then_some(*number),
        StmtKind::Let { results, op: Op::Unary(UnaryOp::Neg, number) } if results.contains(&value) => constant(block, *number).map(|n| -n),
        StmtKind::For { body, .. } => constant(body, value),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    })
}

/// `[Meter^2]` without the brackets.
pub(super) fn unit(text: &str) -> String {
    text.trim_matches(['[', ']']).to_owned()
}
