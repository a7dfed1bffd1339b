//! Structured grids: index variables, and rules for values beyond the grid.

use crate::check::builtins::Word;
use crate::check::checker::{Checker, dim, show_dimension, tree_dim, value};
use crate::check::halo::{AXES, Given, Rules};
use crate::check::scope::{Meaning, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{CellFact, GridNumber};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::typed::{self, Expr, ExprKind, Rule, StmtKind, TreeType, VarId, Variable};
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, Halo, Shape, Type};

/// Names of the rules in `Halo`.
pub(super) const RULES: [&str; 9] = ["Periodic", "Mirror", "MirrorAt", "Negate", "Copy", "AtFace", "Value", "Slope", "Polynomial"];

/// Largest degree of an extrapolation.
const MAX_DEGREE: f64 = 8.0;

/// Without rules beyond the grid.
pub(super) fn bare(mut expr: Expr) -> Expr {
    if expr.ty.elements().iter().any(|ty| ty.halo != Halo::NONE) {
        expr.ty = expr.ty.bare();
        if let ExprKind::Array(elements) = expr.kind {
            expr.kind = ExprKind::Array(elements.into_iter().map(bare).collect());
        }
    }
    expr
}

impl<'a> Checker<'a> {
    /// The number of rules.
    pub fn halo(&mut self, rules: Rules) -> Halo {
        let place = self.halos.iter().position(|known| *known == rules).unwrap_or_else(|| {
            self.halos.push(rules);
            self.halos.len() - 1
        });
        Halo(place as u32)
    }

    pub fn rules_of(&self, halo: Halo) -> Rules {
        self.halos.get(halo.0 as usize).cloned().unwrap_or_default()
    }

    /// A result with the periodic axes that all of its operands have.
    pub fn keep_periodic(&mut self, mut result: Expr, operands: &[TreeType]) -> Expr {
        if operands.iter().all(|ty| ty.elements().iter().all(|ty| ty.halo == Halo::NONE)) {
            return result;
        }
        let all_cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        let mut types = result.ty.elements().to_vec();
        for (index, ty) in types.iter_mut().enumerate() {
            let mut kept: Option<typed::Rules> = None;
            for operand in operands {
                let elements = operand.elements();
                let element = if matches!(operand, TreeType::Array(_)) { elements.get(index) } else { elements.first() };
                let Some(element) = element.filter(|ty| ty.shape != Shape::Single) else { continue };
                let periodic = periodic_sides(&self.rules_of(element.halo).sides);
                kept = Some(match kept {
                    None => periodic,
                    Some(kept) => std::array::from_fn(|side| kept[side].and(periodic[side])),
                });
            }
            let sides = kept.filter(|_| ty.shape == Shape::Collection(all_cells)).unwrap_or_default();
            ty.halo = self.halo(Rules { sides, ..Rules::default() });
        }
        result.ty = match result.ty {
            TreeType::Value(ty) => TreeType::Value(types.first().copied().unwrap_or(ty)),
            TreeType::Array(_) => TreeType::Array(types.into()),
            TreeType::Table2 => TreeType::Table2,
            TreeType::Void => TreeType::Void,
        };
        result
    }

    /// A value for a mutable variable; reports a halo that is written in its place. Zero beyond all
    /// sides is what `Stencil Collection` has by itself.
    pub fn without_halo(&mut self, value: &Expr) -> Expr {
        let has_rules = |this: &Self, ty: &Type| {
            let rules = this.rules_of(ty.halo);
            rules != zero_beyond() && rules.sides.iter().any(|r| r.is_some_and(|r| r != Rule::Periodic))
        };
        if value.ty.elements().iter().any(|ty| has_rules(self, ty)) {
            self.report(
                Diagnostic::new(Code::HaloMutable, value.span, "a mutable variable has no rules beyond the grid")
                    .hint("assign the values themselves, and write `Halo(...)` where the variable is read"),
            );
        }
        bare(value.clone())
    }

    /// Types with zero beyond all sides: that of `Stencil Collection`.
    pub fn with_zero_halo(&mut self, ty: &TreeType) -> TreeType {
        let halo = self.halo(zero_beyond());
        let with =
            |ty: &Type| if matches!((ty.basic, ty.shape), (Basic::Scalar, Shape::Collection(_))) { Type { halo, ..*ty } } else { *ty };
        match ty {
            TreeType::Value(ty) => TreeType::Value(with(ty)),
            TreeType::Array(elements) => TreeType::Array(elements.iter().map(with).collect()),
            TreeType::Table2 => TreeType::Table2,
            TreeType::Void => TreeType::Void,
        }
    }

    /// A result, with the variables of the function that ends whose values its rules give: they
    /// are the last elements of an array that the caller takes apart.
    pub fn return_given(&mut self, result: Expr) -> Expr {
        let Some(frame) = self.frames.last() else { return result };
        let mut given: Vec<VarId> = Vec::new();
        let mut types: Vec<Type> = result.ty.elements().to_vec();
        let mut next = 0;
        while let Some(ty) = types.get(next) {
            next += 1;
            for value in self.rules_of(ty.halo).given {
                if let Given::Variable(var) = value
                    && frame.locals.contains(&var)
                    && !given.contains(&var)
                {
                    given.push(var);
                    // Its rules may give others.
                    types.extend(self.variables[var.0 as usize].ty.elements());
                }
            }
        }
        if given.is_empty() {
            return result;
        }
        let span = result.span;
        let (ty, mut dims) = (self.with_given(&result.ty, &given), result.dims.clone());
        let mut elements = vec![result];
        for &var in &given {
            let Variable { ty, dims: own, .. } = &self.variables[var.0 as usize];
            dims.extend(own);
            elements.push(Expr { kind: ExprKind::Variable(var), ty: ty.bare(), dims: own.clone(), span });
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.given = given;
        }
        Expr { kind: ExprKind::Array(elements), ty, dims, span }
    }

    /// The type of a result that these variables come with.
    pub fn with_given(&self, result: &TreeType, given: &[VarId]) -> TreeType {
        if given.is_empty() {
            return result.clone();
        }
        let given = given.iter().flat_map(|var| self.variables[var.0 as usize].ty.elements());
        TreeType::Array(result.elements().iter().chain(given).copied().collect())
    }

    /// Takes the result of a call that also returns values of its rules; these get names here.
    pub fn take_given(&mut self, call: Expr, ty: &TreeType, given: &[VarId]) -> Expr {
        if given.is_empty() {
            return call;
        }
        let (span, count) = (call.span, ty.elements().len() as u32);
        let own = |this: &mut Self, name: &str, value: Expr| {
            let variable =
                Variable { name: name.to_owned(), ty: value.ty.clone(), dims: value.dims.clone(), mutable: false, owner: None, span };
            let (variable, read) = (this.new_variable(variable), Expr { kind: ExprKind::Array(Vec::new()), ..value.clone() });
            this.keep_definition(variable, &value);
            this.before.push(typed::Stmt { kind: StmtKind::Let { variable, value }, span });
            (variable, Expr { kind: ExprKind::Variable(variable), ..read })
        };
        let (_, all) = own(self, "result", call);
        let names: Vec<VarId> = (0..given.len() as u32).map(|k| own(self, "beyond", element(&all, count + k)).0).collect();
        for (&name, &var) in names.iter().zip(given) {
            let Variable { ty, span, .. } = self.variables[var.0 as usize].clone();
            let ty = self.renamed(&ty, given, &names);
            let own = &mut self.variables[name.0 as usize];
            (own.ty, own.span) = (ty, span);
        }
        let mut elements: Vec<Expr> = (0..count).map(|index| element(&all, index)).collect();
        for element in &mut elements {
            element.ty = self.renamed(&element.ty, given, &names);
        }
        match ty {
            TreeType::Array(_) => {
                let types = elements.iter().flat_map(|e| e.ty.elements().to_vec()).collect();
                let dims = elements.iter().flat_map(|e| e.dims.clone()).collect();
                Expr { kind: ExprKind::Array(elements), ty: TreeType::Array(types), dims, span }
            }
            TreeType::Value(_) | TreeType::Table2 | TreeType::Void => elements.swap_remove(0),
        }
    }

    /// A type whose rules give other variables.
    fn renamed(&mut self, ty: &TreeType, from: &[VarId], to: &[VarId]) -> TreeType {
        let TreeType::Value(ty) = ty else { return ty.clone() };
        let mut rules = self.rules_of(ty.halo);
        for given in &mut rules.given {
            if let Given::Variable(var) = given
                && let Some(place) = from.iter().position(|known| known == var)
            {
                *var = to[place];
            }
        }
        // It was that of the function.
        rules.geometry = None;
        TreeType::Value(Type { halo: self.halo(rules), ..*ty })
    }

    /// The axis that a name stands for.
    pub fn axis_named(&mut self, name: &str) -> Option<u8> {
        let id = self.scopes.lookup(name, self.scope)?;
        let Meaning::Variable(variable) = &self.scopes.entry(id).meaning else { return None };
        let State::Assigned(var) = variable.state else { return None };
        let Basic::Axis(axis) = self.variables[var.0 as usize].ty.value()?.basic else { return None };
        self.scopes.entry_mut(id).used = true;
        Some(axis)
    }

    /// The axis that an expression is.
    fn axis(&mut self, expr: &'a ast::Expr) -> Option<u8> {
        let found = self.expr(expr)?;
        if let Some(Type { basic: Basic::Axis(axis), .. }) = found.ty.value() {
            return Some(axis);
        }
        let shown = self.show(&found.ty);
        self.fail(
            Diagnostic::new(Code::StencilNotIndex, expr.span, format!("an index variable stands here, not {shown}"))
                .label(shown)
                .hint("index variables come from `StencilI()`, `StencilJ()` and `StencilK()`"),
        )
    }

    /// A built-in of structured grids.
    pub fn stencil_builtin(&mut self, word: Word, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let all_cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        if word == Word::Halo {
            return self.halo_call(args, span);
        }
        let axes: Vec<Option<u8>> = args.iter().map(|a| self.axis(a)).collect();
        let axes = axes.into_iter().collect::<Option<Vec<u8>>>()?;
        let expected = match word {
            Word::Axis(_) => 0,
            Word::Even => axes.len().clamp(1, 3),
            Word::Width | Word::Extent | Word::Index | Word::Halo => 1,
        };
        if axes.len() != expected {
            let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
            let names: &[&str] = if expected == 0 { &[] } else { &["i"] };
            return self.fail(super::call::argument_count(word.name(), names, &spans, span));
        }
        let axis = axes.first().copied().unwrap_or(0);
        let (kind, ty, dim) = match word {
            Word::Axis(axis) => {
                let ty = Type { basic: Basic::Axis(axis), ..Type::TEXT };
                (ExprKind::Axis(axis), ty, Dimension::NONE)
            }
            Word::Width => (ExprKind::GridNumber(GridNumber::Width(axis)), Type::SCALAR, self.dimension(Dimension::LENGTH)),
            Word::Extent => (ExprKind::GridNumber(GridNumber::Extent(axis)), Type::SCALAR, Dimension::NONE),
            Word::Index => (ExprKind::CellFact(CellFact::Index(axis)), Type::collection(Basic::Scalar, all_cells), Dimension::NONE),
            Word::Even | Word::Halo => {
                let named = std::array::from_fn(|axis| axes.contains(&(axis as u8)));
                if named.iter().filter(|&&named| named).count() < axes.len() {
                    return self.fail(Diagnostic::new(Code::StencilTwice, span, "an axis stands twice here").hint("name each axis once"));
                }
                (ExprKind::CellFact(CellFact::Even(named)), Type::collection(Basic::Bool, all_cells), Dimension::NONE)
            }
        };
        Some(value(kind, ty, dim, span))
    }

    /// `Halo(u, rule, ...)`
    fn halo_call(&mut self, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let Some((data, rules)) = args.split_first() else {
            return self.fail(super::call::argument_count("Halo", &["u", "rule"], &[], span));
        };
        let data = self.expr(data)?;
        let ty = self.no_array(&data, "`Halo`")?;
        self.is_on_cells(&data, &ty, "`Halo`")?;
        let mut halo = Rules { geometry: None, ..self.rules_of(ty.halo) };
        let mut seen = [false; 6];
        for rule in rules {
            let (sides, rule, given) = self.rule(rule, &data)?;
            for (side, place) in sides {
                if seen[side] {
                    let (end, axis) = side_name(side);
                    return self.fail(
                        Diagnostic::new(Code::HaloTwice, place, format!("the {end} side of {axis} has two rules"))
                            .hint("give each side one rule"),
                    );
                }
                seen[side] = true;
                halo.sides[side] = Some(match given {
                    None => rule,
                    Some(given) => {
                        let number = 1 + halo.given.iter().position(|known| *known == given).unwrap_or_else(|| {
                            halo.given.push(given);
                            halo.given.len() - 1
                        }) as u32;
                        match rule {
                            Rule::AtFace(_) => Rule::AtFace(number),
                            Rule::Slope(_) => Rule::Slope(number),
                            _ => Rule::Value(number),
                        }
                    }
                });
            }
        }
        let halo = self.halo(halo);
        Some(Expr { ty: TreeType::Value(Type { halo, ..ty }), span, ..data })
    }

    /// A rule: its sides, what it does there, and the value that it gives.
    fn rule(&mut self, rule: &'a ast::Expr, data: &Expr) -> Option<SidesOfRule> {
        let wrong = |what: String| {
            Diagnostic::new(Code::HaloRule, rule.span, what)
                .hint("rules are `Periodic(i)`, `Mirror(i)`, `MirrorAt(i)`, `Negate(i)`, `Copy(i)`, `AtFace(i, g)`, `Value(i, g)`, `Slope(i, g)` and `Polynomial(i, degree)`; `Low(i)` and `High(i)` are single sides")
        };
        let Ast::Call { callee, args } = &rule.kind else {
            return self.fail(wrong("this is no rule".to_owned()));
        };
        let name = callee.name.as_str();
        let plain = match name {
            "Periodic" => Some(Rule::Periodic),
            "Mirror" => Some(Rule::Mirror),
            "MirrorAt" => Some(Rule::MirrorAt),
            "Negate" => Some(Rule::Negate),
            "Copy" => Some(Rule::Copy),
            "AtFace" | "Value" | "Slope" | "Polynomial" => None,
            _ => return self.fail(wrong(format!("`{name}` is no rule"))),
        };
        let (sides, last) = match plain {
            Some(_) => (&args[..], None),
            None => match args.split_last() {
                Some((last, sides)) => (sides, Some(last)),
                None => return self.fail(wrong(format!("`{name}` needs a side and a value"))),
            },
        };
        if sides.is_empty() {
            return self.fail(wrong(format!("`{name}` names no side")));
        }
        let mut found = Vec::new();
        for side in sides {
            match &side.kind {
                Ast::Call { callee: Ident { name: end, .. }, args } if matches!(end.as_str(), "Low" | "High") => {
                    let [axis] = &args[..] else { return self.fail(wrong(format!("`{end}` takes one index variable"))) };
                    let axis = usize::from(self.axis(axis)?);
                    if name == "Periodic" {
                        return self.fail(wrong("an axis is periodic on both sides".to_owned()));
                    }
                    found.push((2 * axis + usize::from(end == "High"), side.span));
                }
                _ => {
                    let axis = usize::from(self.axis(side)?);
                    found.extend([(2 * axis, side.span), (2 * axis + 1, side.span)]);
                }
            }
        }
        let ty = data.ty.value()?;
        let needs_numbers = !matches!(name, "Periodic" | "Mirror" | "MirrorAt" | "Copy" | "Value");
        if needs_numbers && !matches!(ty.basic, Basic::Scalar | Basic::Vector) {
            return self.fail(wrong(format!("`{name}` computes with the values, and these are no numbers")));
        }
        let Some(last) = last else { return Some((found, plain?, None)) };
        if name == "Polynomial" {
            if let Ast::Number { value, unit: None } = last.kind
                && value.fract() == 0.0
                && (0.0..=MAX_DEGREE).contains(&value)
            {
                return Some((found, Rule::Polynomial(value as u8), None));
            }
            return self.fail(wrong("the degree of a polynomial is a whole number in the text, at most 8".to_owned()));
        }
        let given = self.expr(last)?;
        let wanted = match name {
            "Slope" => dim(data).over(self.dimension(Dimension::LENGTH)).unwrap_or_default(),
            _ => dim(data),
        };
        let rule = match name {
            "AtFace" => Rule::AtFace(0),
            "Slope" => Rule::Slope(0),
            _ => Rule::Value(0),
        };
        Some((found, rule, Some(self.given(name, given, &ty, wanted)?)))
    }

    /// The value of a rule, by name.
    fn given(&mut self, rule: &str, given: Expr, data: &Type, wanted: Dimension) -> Option<Given> {
        let all_cells = self.sets.canonical(CanonicalSet::ALL_CELLS);
        let fits = given.ty.value().is_some_and(|ty| {
            let shape = matches!(ty.shape, Shape::Single) || ty.shape == Shape::Collection(all_cells);
            ty.basic == data.basic && shape && !matches!(ty.basic, Basic::Entity(_))
        });
        if !fits {
            let shown = self.show(&given.ty);
            return self.fail(
                Diagnostic::new(Code::HaloUnit, given.span, format!("`{rule}` gives a value of the type of the others, not {shown}"))
                    .label(shown)
                    .hint("give one value, or a collection on AllCells(), which is read at the cell next to the side"),
            );
        }
        if !self.agree(tree_dim(&given), wanted) {
            let (found, wanted) = (show_dimension(dim(&given)), show_dimension(wanted));
            return self.fail(
                Diagnostic::new(Code::HaloUnit, given.span, format!("`{rule}` gives values with {wanted} here, and this has {found}"))
                    .label(found)
                    .hint(format!("give it its unit: `... {wanted}`")),
            );
        }
        match &given.kind {
            ExprKind::Number(number) => return Some(Given::Number(number.to_bits())),
            ExprKind::Variable(var) if !self.variables[var.0 as usize].mutable && self.variables[var.0 as usize].ty == given.ty => {
                return Some(Given::Variable(*var));
            }
            _ => {}
        }
        let variable = self.new_variable(Variable {
            name: "beyond".to_owned(),
            ty: given.ty.clone(),
            dims: given.dims.clone(),
            mutable: false,
            owner: None,
            span: given.span,
        });
        let span = given.span;
        self.keep_definition(variable, &given);
        self.before.push(typed::Stmt { kind: StmtKind::Let { variable, value: given }, span });
        Some(Given::Variable(variable))
    }

    /// Reports what is no collection on all cells.
    pub fn is_on_cells(&mut self, data: &Expr, ty: &Type, what: &str) -> Option<()> {
        let found = self.show_value(ty);
        let kind = ty.mapping().map(|set| self.sets.get(set).kind);
        let kept = matches!(ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(EntityKind::Cell));
        if kind != Some(EntityKind::Cell) || !kept {
            return self.fail(
                Diagnostic::new(Code::StencilOperand, data.span, format!("{what} takes a collection on cells, and this is {found}"))
                    .label(found)
                    .hint("spread one value with `Extend AllCells()`; bring values of faces to cells first"),
            );
        }
        if ty.mapping() != Some(self.sets.canonical(CanonicalSet::ALL_CELLS)) {
            return self.fail(
                Diagnostic::new(Code::StencilDomain, data.span, format!("{what} takes a collection on all cells, and this is {found}"))
                    .label(found)
                    .hint("`Extend` it first: `(...) Extend AllCells()`"),
            );
        }
        Some(())
    }
}

/// The sides that a rule names, the rule, and the value that it gives.
type SidesOfRule = (Vec<(usize, Span)>, Rule, Option<Given>);

/// Zero beyond all sides.
fn zero_beyond() -> Rules {
    Rules { sides: [Some(Rule::Value(1)); 6], given: vec![Given::Number(0.0_f64.to_bits())], geometry: None }
}

/// The periodic ones of rules.
fn periodic_sides(sides: &typed::Rules) -> typed::Rules {
    sides.map(|rule| rule.filter(|rule| *rule == Rule::Periodic))
}

/// An element of an array.
fn element(array: &Expr, index: u32) -> Expr {
    let ty = array.ty.elements().get(index as usize).map_or(TreeType::Void, |ty| TreeType::Value(*ty));
    let dims = array.dims.get(index as usize).copied().into_iter().collect();
    Expr { kind: ExprKind::Element { array: Box::new(array.clone()), index }, ty, dims, span: array.span }
}

/// `low` or `high`, and the name of the axis.
pub(super) fn side_name(side: usize) -> (&'static str, &'static str) {
    (if side.is_multiple_of(2) { "low" } else { "high" }, AXES[side / 2])
}
