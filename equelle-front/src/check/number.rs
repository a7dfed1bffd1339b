//! Numbers with units.

use crate::check::checker::{Checker, value};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{UnitExpr, UnitExprKind};
use crate::typed::{Expr, ExprKind, TreeDimension};
use crate::types::{Dimension, Type};
use crate::unit_spelling::{kelvins, spelling};
use crate::units::{self, UnitError};

/// A number, in SI units.
pub(super) fn number(checker: &mut Checker<'_>, number: f64, unit: Option<&UnitExpr>, span: Span) -> Option<Expr> {
    let Some(unit) = unit else {
        let dim = if number == 0.0 { TreeDimension::OfZero } else { Dimension::NONE.into() };
        return Some(value(ExprKind::Number(number), Type::SCALAR, dim, span));
    };
    match units::resolve(unit) {
        Ok(resolved) => match resolved.to_si(number) {
            Some(si) => Some(value(ExprKind::Number(si), Type::SCALAR, checker.options.dimension(resolved.dimension), span)),
            None => unit_range(checker, span),
        },
        Err(UnitError::OutOfRange { span }) => unit_range(checker, span),
        Err(UnitError::Unknown { name, span }) => {
            let hint = unit_hint(checker, &name, number, matches!(unit.kind, UnitExprKind::Name(_)));
            checker.fail(Diagnostic::new(Code::UnknownUnit, span, format!("there is no unit `{name}`")).hint(hint))
        }
    }
}

/// The hint for an unknown unit of a number; `is_whole` if nothing stands beside it.
fn unit_hint(checker: &mut Checker<'_>, name: &str, number: f64, is_whole: bool) -> String {
    let names = units::UNITS.iter().map(|u| u.name);
    match kelvins(name, number) {
        Some(kelvin) if is_whole => {
            let zero = kelvins(name, 0.0).unwrap_or_default();
            return format!(
                "the zero of this scale is another one, `{zero} [Kelvin]`: {number} is `{kelvin} [Kelvin]`; to what is read add that zero"
            );
        }
        Some(_) => return "differences of temperatures are in `Kelvin`".to_owned(),
        None => {}
    }
    if let Some(written) = spelling(name, names.clone(), !is_whole) {
        return format!("write `{written}`");
    }
    match checker.reports.suggest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`equellec explain E0301` lists the units; prefixes are factors of their own: `[Kilo*Meter]`".to_owned(),
    }
}

fn unit_range<T>(checker: &mut Checker<'_>, span: Span) -> Option<T> {
    checker.fail(
        Diagnostic::new(Code::UnitRange, span, "the unit, or the number in SI units, is too large or too small to be represented")
            .hint("check the exponents"),
    )
}
