//! How types are written in messages: `Mutable`, `Array Of N`, `Collection Of` or `Sequence Of`,
//! the basic type, `On` a set, `Subset Of` a set.

use crate::typed::TreeType;
use crate::types::{Basic, SetId, SetTable, Shape, Type};

/// Name of a set as messages show it: `AllCells()`, or the variable a run-time set was first
/// assigned to.
pub fn set_name(sets: &SetTable, set: SetId) -> &str {
    &sets.get(set).name
}

/// A type as messages show it: `Collection Of Cell On AllCells() Subset Of AllCells()`.
pub fn type_name(sets: &SetTable, ty: &TreeType) -> String {
    match ty {
        TreeType::Value(ty) => value_type_name(sets, ty),
        TreeType::Array(elements) => array_type_name(sets, elements),
        TreeType::Table2 => "Table of two arguments".to_owned(),
        TreeType::Void => "nothing".to_owned(),
    }
}

/// `Array Of 2 Scalar`; where the elements are on different sets, the first few of them:
/// `Array Of 2 (..., ...)`.
fn array_type_name(sets: &SetTable, elements: &[Type]) -> String {
    const SHOWN: usize = 3;
    let size = elements.len();
    match elements {
        [first, rest @ ..] if rest.iter().all(|ty| ty == first) => format!("Array Of {size} {}", value_type_name(sets, first)),
        elements => {
            let mut names: Vec<String> = elements.iter().take(SHOWN).map(|ty| value_type_name(sets, ty)).collect();
            if size > SHOWN {
                names.push("...".to_owned());
            }
            format!("Array Of {size} ({})", names.join(", "))
        }
    }
}

/// As [`type_name`] for types other than arrays.
pub(super) fn value_type_name(sets: &SetTable, ty: &Type) -> String {
    let basic = basic_name(ty.basic);
    match ty.shape {
        Shape::Single => basic.to_owned(),
        Shape::Sequence => format!("Sequence Of {basic}"),
        Shape::Collection(set) => {
            let within = ty.within.map_or(String::new(), |w| format!(" Subset Of {}", set_name(sets, w)));
            format!("Collection Of {basic} On {}{within}", set_name(sets, set))
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
