//! Keys of values: equal keys mean equal values.

use std::mem::{Discriminant, discriminant};

use super::number::{Shell, Value};
use crate::ir::{Interpolant, KExpr, LocalId, ParamId, Path, Side, UnaryOp};
use crate::ops::{Arithmetic, Beyond, BinaryMath, CellFact, Comparison, Logic, Offset};
use crate::types::SetId;

/// Properties that nodes of the same value share beside their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Real(u64),
    Bool(bool),
    Local(LocalId),
    EntityLocal(LocalId),
    Param(ParamId),
    Load(ParamId),
    Member(SetId),
    Unary(UnaryOp),
    Arithmetic(Arithmetic),
    Compare(Comparison),
    Logic(Logic),
    Math(BinaryMath),
    Component(u32),
    Interpolate(ParamId, Interpolant),
    Through(ParamId),
    SideFace(Side),
    Shift(i8),
    Offset(Offset, Beyond),
    CellFact(CellFact),
    /// Expressions that are told apart by their parts.
    Expr(Discriminant<KExpr>),
    /// Paths that are.
    Path(Discriminant<Path>),
}

/// The same for nodes of the same value: with operands in the order of their numbers where that
/// changes no bit.
pub(super) fn key(shell: &Shell, parts: &[Value]) -> (Key, Vec<Value>) {
    let mut parts = parts.to_vec();
    let key = match shell {
        Shell::Expr(expr) => {
            let key = key_of_expr(expr);
            match key {
                Key::Arithmetic(Arithmetic::Add | Arithmetic::Mul)
                | Key::Compare(Comparison::Equal | Comparison::NotEqual)
                | Key::Logic(_) => parts.sort_unstable(),
                Key::Expr(_) if matches!(expr, KExpr::Dot(..) | KExpr::Same(..)) => parts.sort_unstable(),
                _ => {}
            }
            match key {
                Key::Compare(Comparison::Greater) => {
                    parts.reverse();
                    Key::Compare(Comparison::Less)
                }
                Key::Compare(Comparison::GreaterEqual) => {
                    parts.reverse();
                    Key::Compare(Comparison::LessEqual)
                }
                key => key,
            }
        }
        Shell::Path(path) => match path {
            Path::Local(id) => Key::EntityLocal(*id),
            Path::Through { param, .. } => Key::Through(*param),
            Path::SideFace(side) => Key::SideFace(*side),
            Path::Shift { by, .. } => Key::Shift(*by),
            Path::Offset { by, beyond, .. } => Key::Offset(*by, *beyond),
            Path::Here | Path::First(_) | Path::Second(_) | Path::Select { .. } | Path::Empty => Key::Path(discriminant(path)),
        },
    };
    (key, parts)
}

fn key_of_expr(expr: &KExpr) -> Key {
    match expr {
        KExpr::Real(x) => Key::Real(x.to_bits()),
        KExpr::Bool(holds) => Key::Bool(*holds),
        KExpr::Local(id) => Key::Local(*id),
        KExpr::Param(id) => Key::Param(*id),
        KExpr::Load { param, .. } => Key::Load(*param),
        KExpr::Member { set, .. } => Key::Member(*set),
        KExpr::CellFact { fact, .. } => Key::CellFact(*fact),
        KExpr::Unary(op, _) => Key::Unary(*op),
        KExpr::Arithmetic(op, ..) => Key::Arithmetic(*op),
        KExpr::Compare(op, ..) => Key::Compare(*op),
        KExpr::Logic(op, ..) => Key::Logic(*op),
        KExpr::Math(op, ..) => Key::Math(*op),
        KExpr::Component(_, index) => Key::Component(*index),
        KExpr::Interpolate { table, of, .. } => Key::Interpolate(*table, *of),
        KExpr::Measure(_)
        | KExpr::Centroid(_)
        | KExpr::Normal(_)
        | KExpr::FaceGap(_)
        | KExpr::FaceTransmissibility(_)
        | KExpr::IsEmpty(_)
        | KExpr::Same(..)
        | KExpr::Select { .. }
        | KExpr::Dot(..)
        | KExpr::Vector(_)
        | KExpr::ZeroVector
        | KExpr::Entity(_)
        | KExpr::Displacement { .. } => Key::Expr(discriminant(expr)),
    }
}
