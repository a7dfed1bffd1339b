//! `Halo(u, rule, ...)`: rules for values beyond the grid.

use crate::check::beyond::keep_definition;
use crate::check::checker::{Checker, dim, show_dimension, tree_dim};
use crate::check::halo::{Given, Rules, side_name};
use crate::check::indices::axis;
use crate::check::operation::Operation;
use crate::check::parameters::argument_count;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as Ast, Ident};
use crate::typed::{Expr, ExprKind, Rule, TreeType};
use crate::types::{Basic, CanonicalSet, Dimension, Shape, Type};

/// Names of the rules in `Halo`.
pub(super) const RULES: [&str; 9] = ["Periodic", "Mirror", "MirrorAt", "Negate", "Copy", "AtFace", "Value", "Slope", "Polynomial"];

/// Largest degree of an extrapolation.
const MAX_DEGREE: f64 = 8.0;

/// The sides that a rule names, the rule, and the value that it gives.
type SidesOfRule = (Vec<(usize, Span)>, Rule, Option<Given>);

/// `Halo(u, rule, ...)`
pub(super) fn halo<'a>(checker: &mut Checker<'a>, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
    let Some((data, rules)) = args.split_first() else {
        return checker.fail(argument_count("Halo", &["u", "rule"], &[], span));
    };
    let data = checker.expr(data)?;
    let ty = Operation::new(checker, "`Halo`", span).on_cells(&data)?;
    let mut halo = Rules { geometry: None, ..checker.rules.get(ty.halo) };
    let mut seen = [false; 6];
    for rule in rules {
        let (sides, rule, given) = rule_of_sides(checker, rule, &data)?;
        for (side, place) in sides {
            if seen[side] {
                let (end, axis) = side_name(side);
                return checker.fail(
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
    let halo = checker.rules.number(halo);
    Some(Expr { ty: TreeType::Value(Type { halo, ..ty }), span, ..data })
}

/// A rule: its sides, what it does there, and the value that it gives.
fn rule_of_sides<'a>(checker: &mut Checker<'a>, rule: &'a ast::Expr, data: &Expr) -> Option<SidesOfRule> {
    let wrong = |what: String| {
        Diagnostic::new(Code::HaloRule, rule.span, what)
            .hint("rules are `Periodic(i)`, `Mirror(i)`, `MirrorAt(i)`, `Negate(i)`, `Copy(i)`, `AtFace(i, g)`, `Value(i, g)`, `Slope(i, g)` and `Polynomial(i, degree)`; `Low(i)` and `High(i)` are single sides")
    };
    let Ast::Call { callee, args } = &rule.kind else {
        return checker.fail(wrong("this is no rule".to_owned()));
    };
    let name = callee.name.as_str();
    let plain = match name {
        "Periodic" => Some(Rule::Periodic),
        "Mirror" => Some(Rule::Mirror),
        "MirrorAt" => Some(Rule::MirrorAt),
        "Negate" => Some(Rule::Negate),
        "Copy" => Some(Rule::Copy),
        "AtFace" | "Value" | "Slope" | "Polynomial" => None,
        _ => return checker.fail(wrong(format!("`{name}` is no rule"))),
    };
    let (sides, last) = match plain {
        Some(_) => (&args[..], None),
        None => match args.split_last() {
            Some((last, sides)) => (sides, Some(last)),
            None => return checker.fail(wrong(format!("`{name}` needs a side and a value"))),
        },
    };
    if sides.is_empty() {
        return checker.fail(wrong(format!("`{name}` names no side")));
    }
    let mut found = Vec::new();
    for side in sides {
        match &side.kind {
            Ast::Call { callee: Ident { name: end, .. }, args } if matches!(end.as_str(), "Low" | "High") => {
                let [index] = &args[..] else { return checker.fail(wrong(format!("`{end}` takes one index variable"))) };
                let axis = usize::from(axis(checker, index)?);
                if name == "Periodic" {
                    return checker.fail(wrong("an axis is periodic on both sides".to_owned()));
                }
                found.push((2 * axis + usize::from(end == "High"), side.span));
            }
            _ => {
                let axis = usize::from(axis(checker, side)?);
                found.extend([(2 * axis, side.span), (2 * axis + 1, side.span)]);
            }
        }
    }
    let ty = data.ty.value()?;
    let needs_numbers = !matches!(name, "Periodic" | "Mirror" | "MirrorAt" | "Copy" | "Value");
    if needs_numbers && !matches!(ty.basic, Basic::Scalar | Basic::Vector) {
        return checker.fail(wrong(format!("`{name}` computes with the values, and these are no numbers")));
    }
    let Some(last) = last else { return Some((found, plain?, None)) };
    if name == "Polynomial" {
        if let Ast::Number { value, unit: None } = last.kind
            && value.fract() == 0.0
            && (0.0..=MAX_DEGREE).contains(&value)
        {
            return Some((found, Rule::Polynomial(value as u8), None));
        }
        return checker.fail(wrong("the degree of a polynomial is a whole number in the text, at most 8".to_owned()));
    }
    let given = checker.expr(last)?;
    let wanted = match name {
        "Slope" => dim(data).over(checker.options.dimension(Dimension::LENGTH)).unwrap_or_default(),
        _ => dim(data),
    };
    let rule = match name {
        "AtFace" => Rule::AtFace(0),
        "Slope" => Rule::Slope(0),
        _ => Rule::Value(0),
    };
    Some((found, rule, Some(given_value(checker, name, given, &ty, wanted)?)))
}

/// The value of a rule, by name.
fn given_value(checker: &mut Checker<'_>, rule: &str, given: Expr, data: &Type, wanted: Dimension) -> Option<Given> {
    let all_cells = checker.sets.canonical(CanonicalSet::ALL_CELLS);
    let fits = given.ty.value().is_some_and(|ty| {
        let shape = matches!(ty.shape, Shape::Single) || ty.shape == Shape::Collection(all_cells);
        ty.basic == data.basic && shape && !matches!(ty.basic, Basic::Entity(_))
    });
    if !fits {
        let shown = checker.show(&given.ty);
        return checker.fail(
            Diagnostic::new(Code::HaloUnit, given.span, format!("`{rule}` gives a value of the type of the others, not {shown}"))
                .label(shown)
                .hint("give one value, or a collection on AllCells(), which is read at the cell next to the side"),
        );
    }
    if !checker.options.agree(tree_dim(&given), wanted) {
        let (found, wanted) = (show_dimension(dim(&given)), show_dimension(wanted));
        return checker.fail(
            Diagnostic::new(Code::HaloUnit, given.span, format!("`{rule}` gives values with {wanted} here, and this has {found}"))
                .label(found)
                .hint(format!("give it its unit: `... {wanted}`")),
        );
    }
    match &given.kind {
        ExprKind::Number(number) => return Some(Given::Number(number.to_bits())),
        ExprKind::Variable(var) if !checker.tree.variable(*var).mutable && checker.tree.variable(*var).ty == given.ty => {
            return Some(Given::Variable(*var));
        }
        _ => {}
    }
    let variable = checker.name_value("beyond", given.clone());
    keep_definition(checker, variable, &given);
    Some(Given::Variable(variable))
}
