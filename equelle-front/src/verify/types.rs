//! Sets and types by themselves, and when a value may stand where a type is asked for.

use crate::ir::IrLocation;
use crate::source::Span;
use crate::types::{Basic, Extent, SetId, SetTable, Shape, Type};
use crate::verify::VerifyError;

/// Parents exist and come first; kinds agree.
pub(super) fn check_sets(sets: &SetTable, errors: &mut Vec<VerifyError>) {
    for id in sets.ids() {
        let set = sets.get(id);
        let is_all = set.canonical.is_some_and(|c| c.extent == Extent::All);
        let problem = if is_all && set.parent != id {
            "an All-set is its own parent"
        } else if set.canonical.is_none() && set.parent.0 >= id.0 {
            "a set made at run time comes after its parent"
        } else if sets.ids().nth(set.parent.0 as usize).is_none() {
            "its parent is not in the table"
        } else if sets.get(set.parent).kind != set.kind {
            "a set and its parent hold entities of one kind"
        } else {
            continue;
        };
        let message = problem.to_owned();
        errors.push(VerifyError { location: IrLocation::Set(id), within: format!("set {}", set.name), span: Span::default(), message });
    }
}

/// A type as messages show it: `Scalar On AllCells()`.
pub fn show(sets: &SetTable, ty: &Type) -> String {
    let name = |id: SetId| if exists(sets, id) { sets.get(id).name.as_str() } else { "an unknown set" };
    let basic = match ty.basic {
        Basic::Scalar => "Scalar",
        Basic::Vector => "Vector",
        Basic::Bool => "Bool",
        Basic::Text => "Text",
        Basic::Table => "Table",
        Basic::Axis(_) => "index",
        Basic::Entity(kind) => kind.name(),
    };
    let mut text = match ty.shape {
        Shape::Single => basic.to_owned(),
        Shape::Collection(set) => format!("{basic} On {}", name(set)),
        Shape::Domain(set) => return format!("Domain {}", name(set)),
        Shape::Sequence => return "Sequence".to_owned(),
    };
    if let Some(within) = ty.within {
        text.push_str(" In ");
        text.push_str(name(within));
    }
    text
}

pub(super) fn exists(sets: &SetTable, id: SetId) -> bool {
    sets.ids().nth(id.0 as usize).is_some()
}

/// True if values of the type can exist at operation level.
///
/// # Errors
/// The reason why they cannot.
pub fn check_type(sets: &SetTable, ty: &Type) -> Result<(), String> {
    let mentioned = [ty.mapping(), ty.within];
    if mentioned.into_iter().flatten().any(|id| !exists(sets, id)) {
        return Err("the type names a set that is not in the table".to_owned());
    }
    let shown = show(sets, ty);
    match (ty.basic, ty.shape, ty.within) {
        (Basic::Text | Basic::Table | Basic::Axis(_), shape, _) if shape != Shape::Single => {
            Err(format!("Texts and Tables are Single, not {shown}"))
        }
        (basic, Shape::Sequence, _) if basic != Basic::Scalar => Err("a Sequence is of Scalars".to_owned()),
        (Basic::Entity(kind), Shape::Domain(set), within) => {
            if sets.get(set).kind == kind && within == Some(set) {
                Ok(())
            } else {
                Err(format!("the domain {shown} holds exactly the entities of its set"))
            }
        }
        (_, Shape::Domain(_), _) => Err("a domain is of entities".to_owned()),
        (Basic::Entity(kind), _, Some(within)) => {
            if sets.get(within).kind == kind {
                Ok(())
            } else {
                Err(format!("{shown}: the set is of another kind"))
            }
        }
        (Basic::Entity(_), _, None) => Err(format!("{shown}: entities name a set that holds them")),
        (Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_), _, Some(_)) => {
            Err(format!("{shown}: only entities are In a set"))
        }
        (
            Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_),
            Shape::Single | Shape::Collection(_) | Shape::Sequence,
            None,
        ) => Ok(()),
    }
}

/// True if a value of type `from` may stand where `to` is asked for: the same, but entities may be
/// known to be in a smaller set.
pub fn assignable(sets: &SetTable, from: &Type, to: &Type) -> bool {
    from.basic == to.basic
        && from.shape == to.shape
        && match (from.within, to.within) {
            (Some(from), Some(to)) => sets.is_subset(from, to),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
}
