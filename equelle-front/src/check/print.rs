//! Texts of types in messages: `Mutable`, `Array Of N`, `Collection Of` or `Sequence Of`, the basic
//! type, `On` a set, `Subset Of` a set, `beyond` rules.

use crate::check::halo::{AXES, Rules};
use crate::typed::{Rule, TreeType};
use crate::types::{Basic, Halo, SetId, SetTable, Shape, Type};

/// Sets and rules that the numbers in types refer to.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub sets: &'a SetTable,
    pub halos: &'a [Rules],
}

/// Name of a set as messages show it: `AllCells()`, or the variable a run-time set was first
/// assigned to.
pub fn set_name(sets: &SetTable, set: SetId) -> &str {
    &sets.get(set).name
}

/// A type without rules beyond the grid: `Collection Of Cell On AllCells() Subset Of AllCells()`.
pub fn type_name(sets: &SetTable, ty: &TreeType) -> String {
    shown_type(Names { sets, halos: &[] }, ty)
}

/// A type as messages show it.
pub(super) fn shown_type(names: Names<'_>, ty: &TreeType) -> String {
    match ty {
        TreeType::Value(ty) => shown_value_type(names, ty),
        TreeType::Array(elements) => array_type_name(names, elements),
        TreeType::Table2 => "Table of two arguments".to_owned(),
        TreeType::Void => "nothing".to_owned(),
    }
}

/// `Array Of 2 Scalar`; where the elements are on different sets, the first few of them:
/// `Array Of 2 (..., ...)`.
fn array_type_name(names: Names<'_>, elements: &[Type]) -> String {
    const SHOWN: usize = 3;
    let size = elements.len();
    match elements {
        [first, rest @ ..] if rest.iter().all(|ty| ty == first) => format!("Array Of {size} {}", shown_value_type(names, first)),
        elements => {
            let mut shown: Vec<String> = elements.iter().take(SHOWN).map(|ty| shown_value_type(names, ty)).collect();
            if size > SHOWN {
                shown.push("...".to_owned());
            }
            format!("Array Of {size} ({})", shown.join(", "))
        }
    }
}

/// As [`shown_type`] for types other than arrays.
pub(super) fn shown_value_type(names: Names<'_>, ty: &Type) -> String {
    let Names { sets, .. } = names;
    let basic = basic_name(ty.basic);
    match ty.shape {
        Shape::Single => basic.to_owned(),
        Shape::Sequence => format!("Sequence Of {basic}"),
        Shape::Collection(set) => {
            let within = ty.within.map_or(String::new(), |w| format!(" Subset Of {}", set_name(sets, w)));
            format!("Collection Of {basic} On {}{within}{}", set_name(sets, set), beyond(names, ty.halo))
        }
        Shape::Domain(set) => {
            format!("Collection Of {basic} On {} Subset Of {}", set_name(sets, set), set_name(sets, sets.get(set).parent))
        }
    }
}

/// `Scalar`, `Cell`, ...
pub(super) fn basic_name(basic: Basic) -> &'static str {
    match basic {
        Basic::Scalar => "Scalar",
        Basic::Vector => "Vector",
        Basic::Bool => "Bool",
        Basic::Entity(kind) => kind.name(),
        Basic::Text => "String",
        Basic::Table => "Table",
        Basic::Axis(_) => "index variable",
    }
}

/// ` beyond periodic I J, mirror low K`: each rule with its axes, or with the side where it stands
/// for one alone.
fn beyond(names: Names<'_>, halo: Halo) -> String {
    let Some(rules) = names.halos.get(halo.0 as usize) else { return String::new() };
    let mut shown: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |rule: Rule, place: String| {
        let name = rule_name(rule);
        match shown.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.push(place),
            None => shown.push((name, vec![place])),
        }
    };
    for (axis, sides) in rules.sides.chunks(2).enumerate() {
        let axis = AXES[axis];
        match sides {
            [Some(low), Some(high)] if rule_name(*low) == rule_name(*high) => add(*low, axis.to_owned()),
            sides => {
                for (end, rule) in ["low", "high"].into_iter().zip(sides) {
                    if let Some(rule) = rule {
                        add(*rule, format!("{end} {axis}"));
                    }
                }
            }
        }
    }
    if shown.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = shown.into_iter().map(|(rule, places)| format!("{rule} {}", places.join(" "))).collect();
    format!(" beyond {}", shown.join(", "))
}

/// A rule as types show it, without its value.
fn rule_name(rule: Rule) -> String {
    match rule {
        Rule::Periodic => "periodic".to_owned(),
        Rule::Mirror => "mirror".to_owned(),
        Rule::MirrorAt => "mirror-at".to_owned(),
        Rule::Negate => "negate".to_owned(),
        Rule::Copy => "copy".to_owned(),
        Rule::AtFace(_) => "at-face".to_owned(),
        Rule::Value(_) => "value".to_owned(),
        Rule::Slope(_) => "slope".to_owned(),
        Rule::Polynomial(degree) => format!("polynomial {degree}"),
    }
}
