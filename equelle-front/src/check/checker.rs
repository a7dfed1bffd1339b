//! State of the checker, and how it reports.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::check::definition::Definition;
use crate::check::print::{Names, shown_type, shown_value_type};
use crate::check::scope::{DefinitionId, Meaning, ScopeId, Scopes};
use crate::check::texts::Texts;
use crate::check::{CheckOptions, Checked};
use crate::diagnostic::{Code, Diagnostic, Label};
use crate::source::Span;
use crate::syntax::ast;
use crate::typed::captures::{self, Captures};
use crate::typed::{Expr, ExprKind, Function, TreeDimension, TreeType, TypedProgram, VarId, Variable};
use crate::types::{Basic, Dimension, SetId, SetTable, Type};

/// Deepest nesting of expressions, loops and calls together, where a call weighs [`CALL_WEIGHT`].
/// Chosen so that the checker and everything after it that walks the typed tree stay well within a
/// stack of 2 MiB in an unoptimised build.
pub(super) const MAX_DEPTH: u32 = 400;

/// Depth that a call adds.
pub(super) const CALL_WEIGHT: u32 = 6;

/// Most expressions checked inside function instances.
pub(super) const MAX_WORK: u64 = 1_000_000;

/// Near matches are looked for at most this often, because each one visits all visible names.
const MAX_SUGGESTIONS: u32 = 50;

pub(super) struct Checker<'a> {
    pub options: CheckOptions,
    pub texts: Texts<'a>,
    pub sets: SetTable,
    /// Run-time sets not yet assigned to a variable.
    pub anonymous: BTreeSet<SetId>,
    /// Number of run-time sets.
    pub new_sets: u32,
    /// True if a domain is made by a condition.
    pub conditions: bool,
    /// Names given to run-time sets, with the number to try for the next one of that name.
    pub set_names: HashMap<String, u32>,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// Captures of the first instances, as far as they were asked for.
    pub captures: Vec<Captures>,
    pub scopes: Scopes<'a>,
    /// The scope being checked.
    pub scope: ScopeId,
    pub definitions: Vec<Definition<'a>>,
    /// Instances being checked, outermost first.
    pub frames: Vec<Frame>,
    /// Names of functions that some call or Newton names, by place: a nested function has one
    /// definition per instance around it.
    pub called: HashSet<Span>,
    /// Parameters of residuals of systems, by place: each residual takes all unknowns, whether its
    /// equation has them or not.
    pub unknowns: HashSet<Span>,
    /// Names of functions whose body has been walked.
    pub walked: HashSet<Span>,
    /// Rules beyond the grid, each once: [`crate::types::Halo`] is the place.
    pub halos: Vec<super::halo::Rules>,
    /// Expressions that are known beyond the grid.
    pub geometry: super::geometry::Geometry,
    /// Names of functions that give values in rules of `Halo`, or call such functions.
    pub givers: HashSet<&'a str>,
    /// Statements before the one being checked: values of rules.
    pub before: Vec<crate::typed::Stmt>,
    pub depth: u32,
    pub work: u64,
    pub suggestions: u32,
    /// Names that were given to a variable and to a function, which has been reported: either may
    /// be meant.
    pub clashes: HashSet<String>,
    /// Unknown names that were reported.
    pub unknown_names: HashSet<String>,
    /// Places of syntax errors.
    pub unread: Vec<Span>,
    /// Variables whose missing unit was reported, and the dimension that they met.
    pub without_unit: HashSet<(VarId, Dimension)>,
    /// Something is unknown, reported here or by the parser: there will be no program.
    pub incomplete: bool,
    diagnostics: Vec<Diagnostic>,
    seen: HashSet<(Code, Span)>,
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
        Checker {
            options,
            texts,
            sets: SetTable::new(),
            anonymous: BTreeSet::new(),
            new_sets: 0,
            conditions: false,
            set_names: HashMap::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            captures: Vec::new(),
            scopes: Scopes::new(),
            scope: Scopes::MAIN,
            definitions: Vec::new(),
            frames: Vec::new(),
            called: HashSet::new(),
            unknowns: HashSet::new(),
            walked: HashSet::new(),
            halos: vec![super::halo::Rules::default()],
            geometry: Default::default(),
            givers: HashSet::new(),
            before: Vec::new(),
            depth: 0,
            work: 0,
            suggestions: 0,
            clashes: HashSet::new(),
            unknown_names: HashSet::new(),
            unread: Vec::new(),
            without_unit: HashSet::new(),
            incomplete: false,
            diagnostics: Vec::new(),
            seen: HashSet::new(),
        }
    }

    pub fn program(mut self, program: &'a ast::Program) -> Checked {
        let main = self.statements(&program.statements);
        let main = self.with_snapshots(main);
        self.check_uncalled();
        self.check_missing_parameters();
        // Beside errors, a name may seem unused only because its use was not understood.
        if !self.incomplete {
            self.warn_unused();
            self.check_constants(&main);
            self.check_conditions(&main);
        }
        let main = self.drop_unread_constants(main);
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|d| (d.primary.span, d.code));
        let is_dimensional = !self.options.nondimensional;
        let (sets, variables, functions) = (self.sets, self.variables, self.functions);
        let program = (!self.incomplete).then_some(TypedProgram { sets, variables, functions, main, is_dimensional });
        Checked { program, diagnostics }
    }

    /// Adds a diagnostic, with the calls that led to it, unless its like was reported for the same
    /// place.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.incomplete = true;
        }
        if !self.seen.insert((diagnostic.code, diagnostic.primary.span)) {
            return;
        }
        if diagnostic.is_error() {
            let library = self.texts.library(diagnostic.primary.span).map(str::to_owned);
            // The innermost call in the text of the user.
            let mut own = None;
            for frame in self.frames.iter().rev() {
                let Some((span, arguments)) = &frame.call else { continue };
                let name = self.definitions[frame.definition.0 as usize].name.name.as_str();
                let arguments: Vec<String> = arguments.iter().map(|ty| shown_type(self.names(), ty)).collect();
                if own.is_none() && self.texts.library(*span).is_none() {
                    own = Some((diagnostic.trail.len(), name, self.shown_dimensions(frame)));
                }
                diagnostic = diagnostic.called(*span, format!("in this call of `{name}` with ({})", arguments.join(", ")));
            }
            if let (Some(library), Some((place, name, dimensions))) = (library, own) {
                diagnostic = at_call(diagnostic, place, &format!("`{name}` of `{library}`"), dimensions);
                // A wrong argument shows itself wherever the function uses it.
                if !self.seen.insert((diagnostic.code, diagnostic.primary.span)) {
                    return;
                }
            }
        }
        self.diagnostics.push(diagnostic);
    }

    /// The parameters of a call that are numbers, with their dimensions.
    fn shown_dimensions(&self, frame: &Frame) -> String {
        let definition = &self.definitions[frame.definition.0 as usize];
        let params = definition.defined.iter().flat_map(|defined| defined.params.iter());
        let variables = frame.locals.iter().map(|id| &self.variables[id.0 as usize]);
        let given = params.filter_map(|param| variables.clone().find(|variable| variable.span == param.span));
        let is_number = |variable: &&Variable| variable.ty.value().is_some_and(|ty| matches!(ty.basic, Basic::Scalar | Basic::Vector));
        let shown = |variable: &Variable| {
            let dimension = variable.dims.first().copied().unwrap_or_default().dimension();
            format!("`{}` has {}", variable.name, show_dimension(dimension))
        };
        given.filter(is_number).map(shown).collect::<Vec<_>>().join(", ")
    }

    /// True if this was reported here.
    pub fn has_reported(&self, code: Code, span: Span) -> bool {
        self.seen.contains(&(code, span))
    }

    /// Brings `captures` up to the last instance.
    pub fn extend_captures(&mut self) {
        captures::extend(&mut self.captures, &self.functions, &self.variables);
    }

    /// True if an error has been reported.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Reports, and makes the value unknown.
    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.report(diagnostic);
        None
    }

    /// A value is unknown without a report here: an [`ast::ExprKind::Error`] node.
    pub fn unknown<T>(&mut self) -> Option<T> {
        self.incomplete = true;
        None
    }

    /// The nearest of the candidates, to be offered in a hint.
    pub fn suggest<'c>(&mut self, name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
        if self.suggestions >= MAX_SUGGESTIONS {
            return None;
        }
        self.suggestions += 1;
        crate::diagnostic::nearest(name, candidates).map(str::to_owned)
    }

    /// As [`Checker::suggest`], among the visible variables, or among the visible functions and the
    /// built-ins.
    pub fn suggest_visible(&mut self, name: &str, functions: bool) -> Option<String> {
        if self.suggestions >= MAX_SUGGESTIONS {
            return None;
        }
        let wanted = |meaning: &Meaning| matches!(meaning, Meaning::Function(_)) == functions;
        let visible: Vec<&'a str> = self.scopes.visible_entries(self.scope).filter(|e| wanted(&e.meaning)).map(|e| e.name).collect();
        let builtins = crate::check::builtins::names().filter(|_| functions);
        self.suggest(name, visible.into_iter().chain(builtins))
    }

    /// Returns the sets and rules that the numbers in types refer to.
    pub fn names(&self) -> Names<'_> {
        Names { sets: &self.sets, halos: &self.halos }
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

    /// The dimension, or none where dimensions are not looked at.
    pub fn dimension(&self, dimension: Dimension) -> Dimension {
        if self.options.nondimensional { Dimension::NONE } else { dimension }
    }

    /// The dimension of two values that meet, as in a sum; `None` if they must not.
    pub fn joined(&self, a: impl Into<TreeDimension>, b: impl Into<TreeDimension>) -> Option<TreeDimension> {
        let (a, b) = (a.into(), b.into());
        a.join(b).or_else(|| self.options.nondimensional.then_some(a))
    }

    /// True if two values of these dimensions may meet.
    pub fn agree(&self, a: impl Into<TreeDimension>, b: impl Into<TreeDimension>) -> bool {
        self.joined(a, b).is_some()
    }

    /// A new variable of the instance being checked, or of the main program.
    pub fn new_variable(&mut self, variable: Variable) -> VarId {
        self.new_variable_of(variable, self.frames.len().checked_sub(1))
    }

    /// A new variable of one of the frames, or of the main program.
    pub fn new_variable_of(&mut self, variable: Variable, frame: Option<usize>) -> VarId {
        let id = VarId(self.variables.len() as u32);
        self.variables.push(variable);
        if let Some(frame) = frame.and_then(|frame| self.frames.get_mut(frame)) {
            frame.locals.push(id);
        }
        id
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
