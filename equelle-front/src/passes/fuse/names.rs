//! Names of values in kernels, and what must hold before them.

use super::super::analysis::Defs;
use crate::ir::{CheckKind, Failure, Function, Op, ValueId};
use crate::ops::FaceReduction;
use crate::types::{SetTable, Shape};

/// The entities that an operation demands something of at run time, and what: that those exist
/// which it asks for data or geometry, or have one cell.
pub(super) fn demanded(op: &Op) -> Option<(ValueId, CheckKind)> {
    match op.failure() {
        Failure::Empty(entities) => Some((entities, CheckKind::OnEmpty)),
        Failure::TwoCells(faces) => Some((faces, CheckKind::OneCell)),
        Failure::Never | Failure::NoElements(_) | Failure::Outside => None,
    }
}

/// Name of a value in kernels: the user's, or one made from what it is computed from.
pub(in crate::passes) fn value_name(function: &Function, defs: &Defs, sets: &SetTable, value: ValueId) -> String {
    name_of(function, defs, sets, value, 2).unwrap_or_else(|| "value".to_owned())
}

fn name_of(function: &Function, defs: &Defs, sets: &SetTable, value: ValueId, depth: usize) -> Option<String> {
    let info = &function.values[value.0 as usize];
    if !info.name.is_empty() {
        return Some(info.name.clone());
    }
    if let Shape::Domain(set) = info.ty.shape {
        return Some(sets.get(set).name.trim_end_matches("()").to_owned());
    }
    if depth == 0 {
        return None;
    }
    let part = |v: ValueId| name_of(function, defs, sets, v, depth - 1);
    match defs.op(value)? {
        Op::Unary(crate::ir::UnaryOp::Neg, a) => Some(format!("minus_{}", part(*a)?)),
        Op::Unary(_, a) | Op::Component(a, _) => part(*a),
        Op::On { data, .. } | Op::OneCell(data) => part(*data),
        Op::Extend { data, .. } | Op::Broadcast { value: data, .. } => part(*data),
        Op::Arithmetic(_, a, b) | Op::Dot(a, b) | Op::Math(_, a, b) => match (part(*a), part(*b)) {
            (Some(a), Some(b)) => Some(format!("{a}_{b}")),
            (a, b) => a.or(b),
        },
        Op::Reduce(reduction, a) => {
            let name = match reduction {
                crate::ops::Reduction::Max => "max",
                crate::ops::Reduction::Min => "min",
                crate::ops::Reduction::Sum => "sum",
                crate::ops::Reduction::Prod => "prod",
                crate::ops::Reduction::Any => "any",
                crate::ops::Reduction::All => "all",
            };
            Some(format!("{name}_{}", part(*a)?))
        }
        Op::Divergence(a) => Some(format!("divergence_{}", part(*a)?)),
        Op::FaceReduce { reduction, first, .. } => {
            let name = match reduction {
                FaceReduction::Sum => "face_sum",
                FaceReduction::Max => "face_max",
                FaceReduction::Min => "face_min",
            };
            Some(format!("{name}_{}", part(*first)?))
        }
        Op::Interpolate { table, argument } => Some(format!("{}_of_{}", part(*table)?, part(*argument)?)),
        Op::Gradient(a) => Some(format!("gradient_{}", part(*a)?)),
        Op::GridNumber(crate::ops::GridNumber::Width(_)) => Some("width".to_owned()),
        Op::GridNumber(crate::ops::GridNumber::Extent(_)) => Some("extent".to_owned()),
        Op::FirstCell(_)
        | Op::Shift { .. }
        | Op::CellFact { .. }
        | Op::SecondCell(_)
        | Op::IsEmpty(_)
        | Op::Centroid(_)
        | Op::Normal(_)
        | Op::FaceGap(_)
        | Op::FaceTransmissibility(_)
        | Op::Measure(_)
        | Op::Compare(..)
        | Op::Logic(..)
        | Op::Select { .. }
        | Op::Vector(_)
        | Op::Real(_)
        | Op::Bool(_)
        | Op::Text(_)
        | Op::TextIndex(..)
        | Op::CanonicalSet(_)
        | Op::Load(_)
        | Op::InputScalar { .. }
        | Op::InputCollection { .. }
        | Op::InputDomain { .. }
        | Op::Where { .. }
        | Op::InputSequence { .. }
        | Op::InputTable { .. }
        | Op::InputTable2 { .. }
        | Op::Step(_)
        | Op::Exchange { .. }
        | Op::Call { .. }
        | Op::Newton { .. } => None,
    }
}

/// Letters, digits and underscores only, not starting with a digit, lower-case snake.
pub(in crate::passes) fn identifier(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            if !out.is_empty() && !out.ends_with('_') && !out.ends_with(|c: char| c.is_ascii_uppercase()) {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if c.is_ascii_alphanumeric() || c == '_' {
            out.push(c);
        } else {
            out.push('_');
        }
    }
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) { format!("v{out}") } else { out }
}
