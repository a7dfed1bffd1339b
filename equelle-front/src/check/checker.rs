//! State of the checker, and how it reports.

use crate::check::CheckOptions;
use crate::check::builtins;
use crate::check::definition::Definitions;
use crate::check::geometry::Geometry;
use crate::check::halo::RuleTable;
use crate::check::print::{Names, shown_type, shown_value_type};
use crate::check::reports::Reports;
use crate::check::runtime_sets::RuntimeSets;
use crate::check::scope::{DefinitionId, Meaning, Scopes};
use crate::check::texts::Texts;
use crate::check::tree::Tree;
use crate::diagnostic::{Code, Diagnostic, Label};
use crate::source::Span;
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, TreeDimension, TreeType, VarId, Variable};
use crate::types::{Basic, CanonicalSet, Dimension, SetId, SetTable, Type};

/// Deepest nesting of expressions, loops and calls together, where a call weighs [`CALL_WEIGHT`].
/// Chosen so that the checker and everything after it that walks the typed tree stay well within a
/// stack of 2 MiB in an unoptimised build.
pub(super) const MAX_DEPTH: u32 = 400;

/// Depth that a call adds.
pub(super) const CALL_WEIGHT: u32 = 6;

/// Most expressions checked inside function instances.
pub(super) const MAX_WORK: u64 = 1_000_000;

pub(super) struct Checker<'a> {
    pub options: CheckOptions,
    pub texts: Texts<'a>,
    pub sets: SetTable,
    pub runtime_sets: RuntimeSets,
    pub tree: Tree,
    pub scopes: Scopes<'a>,
    pub definitions: Definitions<'a>,
    /// Instances being checked, outermost first.
    pub frames: Vec<Frame>,
    pub rules: RuleTable,
    /// Expressions that are known beyond the grid.
    pub geometry: Geometry,
    /// Statements before the one being checked: values of rules.
    pub before: Vec<Stmt>,
    pub depth: u32,
    pub work: u64,
    pub reports: Reports,
}

/// An instance that is being checked.
pub(super) struct Frame {
    pub definition: DefinitionId,
    /// The call, and what it passes; `None` while an uncalled function is checked.
    pub call: Option<(Span, Vec<TreeType>)>,
    /// Its variables so far.
    pub locals: Vec<VarId>,
    /// Value returned.
    pub result: Option<(TreeType, Vec<TreeDimension>)>,
    /// Variables of the function that rules beyond the grid of the result give: more results.
    pub given: Vec<VarId>,
    /// Span of a Newton call that it reaches.
    pub newton: Option<Span>,
}

impl<'a> Checker<'a> {
    pub fn new(options: CheckOptions, texts: Texts<'a>) -> Self {
        let sets = SetTable::new();
        let rules = RuleTable::new(sets.canonical(CanonicalSet::ALL_CELLS));
        Checker {
            options,
            texts,
            sets,
            runtime_sets: RuntimeSets::default(),
            tree: Tree::default(),
            scopes: Scopes::new(),
            definitions: Definitions::default(),
            frames: Vec::new(),
            rules,
            geometry: Geometry::default(),
            before: Vec::new(),
            depth: 0,
            work: 0,
            reports: Reports::default(),
        }
    }

    /// Adds a diagnostic, with the calls that led to it, unless its like was reported for the same
    /// place.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.reports.incomplete = true;
        }
        if !self.reports.is_new(&diagnostic) {
            return;
        }
        if diagnostic.is_error() {
            let library = self.texts.library(diagnostic.primary.span).map(str::to_owned);
            // The innermost call in the text of the user.
            let mut own = None;
            for frame in self.frames.iter().rev() {
                let Some((span, arguments)) = &frame.call else { continue };
                let name = self.definitions.get(frame.definition).name.name.as_str();
                let arguments: Vec<String> = arguments.iter().map(|ty| shown_type(self.names(), ty)).collect();
                if own.is_none() && self.texts.library(*span).is_none() {
                    own = Some((diagnostic.trail.len(), name, self.shown_dimensions(frame)));
                }
                diagnostic = diagnostic.called(*span, format!("in this call of `{name}` with ({})", arguments.join(", ")));
            }
            if let (Some(library), Some((place, name, dimensions))) = (library, own) {
                diagnostic = at_call(diagnostic, place, &format!("`{name}` of `{library}`"), dimensions);
                // A wrong argument shows itself wherever the function uses it.
                if !self.reports.is_new(&diagnostic) {
                    return;
                }
            }
        }
        self.reports.diagnostics.push(diagnostic);
    }

    /// The parameters of a call that are numbers, with their dimensions.
    fn shown_dimensions(&self, frame: &Frame) -> String {
        let definition = self.definitions.get(frame.definition);
        let params = definition.defined.iter().flat_map(|defined| defined.params.iter());
        let variables = frame.locals.iter().map(|id| self.tree.variable(*id));
        let given = params.filter_map(|param| variables.clone().find(|variable| variable.span == param.span));
        let is_number = |variable: &&Variable| variable.ty.value().is_some_and(|ty| matches!(ty.basic, Basic::Scalar | Basic::Vector));
        let shown = |variable: &Variable| {
            let dimension = variable.dims.first().copied().unwrap_or_default().dimension();
            format!("`{}` has {}", variable.name, show_dimension(dimension))
        };
        given.filter(is_number).map(shown).collect::<Vec<_>>().join(", ")
    }

    /// Reports, and makes the value unknown.
    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.report(diagnostic);
        None
    }

    /// The nearest of the visible variables, or of the visible functions and the built-ins.
    pub fn suggest_visible(&mut self, name: &str, functions: bool) -> Option<String> {
        let wanted = |meaning: &Meaning| matches!(meaning, Meaning::Function(_)) == functions;
        let visible = self.scopes.visible_entries().filter(|e| wanted(&e.meaning)).map(|e| e.name);
        self.reports.suggest(name, visible.chain(builtins::names().filter(|_| functions)))
    }

    /// Returns the sets and rules that the numbers in types refer to.
    pub fn names(&self) -> Names<'_> {
        Names { sets: &self.sets, halos: &self.rules.all }
    }

    /// Name of a type in messages, between back-quotes.
    pub fn show(&self, ty: &TreeType) -> String {
        format!("`{}`", shown_type(self.names(), ty))
    }

    /// As [`Checker::show`] for types other than arrays.
    pub fn show_value(&self, ty: &Type) -> String {
        format!("`{}`", shown_value_type(self.names(), ty))
    }

    /// Name of a set in messages.
    pub fn set_name(&self, set: SetId) -> &str {
        crate::check::print::set_name(&self.sets, set)
    }

    /// A new variable of the instance being checked, or of the main program.
    pub fn new_variable(&mut self, variable: Variable) -> VarId {
        self.new_variable_of(variable, self.frames.len().checked_sub(1))
    }

    /// A new variable of one of the frames, or of the main program.
    pub fn new_variable_of(&mut self, variable: Variable, frame: Option<usize>) -> VarId {
        let id = VarId(self.tree.variables.len() as u32);
        self.tree.variables.push(variable);
        if let Some(frame) = frame.and_then(|frame| self.frames.get_mut(frame)) {
            frame.locals.push(id);
        }
        id
    }

    /// Gives a value a name before the statement being checked.
    pub fn name_value(&mut self, name: &str, value: Expr) -> VarId {
        let Expr { ty, dims, span, .. } = value.clone();
        let variable = self.new_variable(Variable { name: name.to_owned(), ty, dims, mutable: false, owner: None, span });
        self.before.push(Stmt { kind: StmtKind::Let { variable, value }, span });
        variable
    }

    /// Runs `inside` one level (or `weight` levels) deeper, unless that is too deep.
    pub fn nested<T>(&mut self, weight: u32, span: Span, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth + weight > MAX_DEPTH {
            return self.fail(
                Diagnostic::new(Code::NestedTooDeeply, span, "expressions and calls are nested too deeply here")
                    .hint("give intermediate results a name of their own"),
            );
        }
        self.depth += weight;
        let result = inside(self);
        self.depth -= weight;
        result
    }
}

/// An expression that is not an array.
pub(super) fn value(kind: ExprKind, ty: Type, dim: impl Into<TreeDimension>, span: Span) -> Expr {
    Expr { kind, ty: TreeType::Value(ty), dims: vec![dim.into()], span }
}

/// Dimension of an expression that is not an array, as a factor of products.
pub(super) fn dim(expr: &Expr) -> Dimension {
    tree_dim(expr).dimension()
}

/// Dimension of an expression that is not an array, where it meets others.
pub(super) fn tree_dim(expr: &Expr) -> TreeDimension {
    expr.dims.first().copied().unwrap_or_default()
}

/// The error at a call, by its number in the trail, in place of a text of the compiler: nobody can
/// change that one.
fn at_call(mut diagnostic: Diagnostic, place: usize, callee: &str, dimensions: String) -> Diagnostic {
    let call = diagnostic.trail.remove(place);
    let is_of_units = diagnostic.code.as_str().starts_with("E03");
    let text = if is_of_units && !dimensions.is_empty() { dimensions } else { call.text };
    let mut inside = std::mem::replace(&mut diagnostic.primary, Label { span: call.span, text });
    if inside.text.is_empty() {
        inside.text = "here".to_owned();
    }
    diagnostic.secondary.insert(0, inside);
    diagnostic.message = format!("in {callee}, {}", diagnostic.message);
    diagnostic
}

/// Text of a dimension in messages.
pub(super) fn show_dimension(dimension: Dimension) -> String {
    if dimension == Dimension::NONE { "no dimension".to_owned() } else { dimension.to_string() }
}
