//! Precedence and associativity (`docs/language/grammar.md`).

use equelle_front::ops::{Arithmetic, Comparison, Logic};
use equelle_front::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp, UnitExpr, UnitExprKind};

use super::{errors, value};

/// The tree as text with a bracket `{}` around every operation, so that grouping shows.
fn shape(e: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(shape).collect::<Vec<_>>().join(", ");
    match &e.kind {
        ExprKind::Number { value, unit: None } => value.to_string(),
        ExprKind::Number { value, unit: Some(unit) } => format!("{value}[{}]", unit_shape(unit)),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Call { callee, args } => format!("{}({})", callee.name, list(args)),
        ExprKind::Array(elements) => format!("[{}]", list(elements)),
        ExprKind::Paren(inner) => format!("({})", shape(inner)),
        ExprKind::Norm(inner) => format!("|{}|", shape(inner)),
        ExprKind::Index { base, index, .. } => format!("{}[{index}]", shape(base)),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => format!("{{-{}}}", shape(operand)),
        ExprKind::Unary { op: UnaryOp::Not, operand } => format!("{{Not {}}}", shape(operand)),
        ExprKind::Binary { op, left, right, .. } => format!("{{{} {} {}}}", shape(left), symbol(*op), shape(right)),
        ExprKind::Ternary { condition, if_true, if_false } => {
            format!("{{{} ? {} : {}}}", shape(condition), shape(if_true), shape(if_false))
        }
        ExprKind::Error => "error".to_owned(),
    }
}

fn unit_shape(u: &UnitExpr) -> String {
    match &u.kind {
        UnitExprKind::Name(name) => name.clone(),
        UnitExprKind::Paren(inner) => format!("({})", unit_shape(inner)),
        UnitExprKind::Mul(a, b) => format!("{{{}*{}}}", unit_shape(a), unit_shape(b)),
        UnitExprKind::Div(a, b) => format!("{{{}/{}}}", unit_shape(a), unit_shape(b)),
        UnitExprKind::Power(base, n) => format!("{{{}^{n}}}", unit_shape(base)),
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Arithmetic(Arithmetic::Add) => "+",
        BinaryOp::Arithmetic(Arithmetic::Sub) => "-",
        BinaryOp::Arithmetic(Arithmetic::Mul) => "*",
        BinaryOp::Arithmetic(Arithmetic::Div) => "/",
        BinaryOp::Power => "^",
        BinaryOp::Comparison(Comparison::Less) => "<",
        BinaryOp::Comparison(Comparison::Greater) => ">",
        BinaryOp::Comparison(Comparison::LessEqual) => "<=",
        BinaryOp::Comparison(Comparison::GreaterEqual) => ">=",
        BinaryOp::Comparison(Comparison::Equal) => "==",
        BinaryOp::Comparison(Comparison::NotEqual) => "!=",
        BinaryOp::Logic(Logic::And) => "And",
        BinaryOp::Logic(Logic::Or) => "Or",
        BinaryOp::Logic(Logic::Xor) => "Xor",
        BinaryOp::On => "On",
        BinaryOp::Extend => "Extend",
    }
}

#[track_caller]
fn groups(text: &str, expected: &str) {
    assert_eq!(shape(&value(&format!("x = {text}\n"))), expected, "{text}");
}

#[test]
fn division_binds_tighter_than_multiplication() {
    groups("a*b/c", "{a * {b / c}}");
    groups("a/b*c", "{{a / b} * c}");
    groups("a*b/c*d/e", "{{a * {b / c}} * {d / e}}");
    groups("a/b/c", "{{a / b} / c}");
    groups("a*b*c", "{{a * b} * c}");
    groups("a - b - c + d", "{{{a - b} - c} + d}");
    groups("a - b*c", "{a - {b * c}}");
}

#[test]
fn on_and_extend_bind_weaker_than_arithmetic_and_comparison() {
    groups("x + y On f", "{{x + y} On f}");
    groups("-x On f", "{{-x} On f}");
    groups("p < 2 Extend AllCells()", "{{p < 2} Extend AllCells()}");
    groups("1 * 1 [Meter] Extend d", "{{1 * 1[Meter]} Extend d}");
    groups("a Extend b On c", "{{a Extend b} On c}");
    groups("a On b Extend c", "{a On {b Extend c}}");
    groups("a And b On f", "{{a And b} On f}");
}

#[test]
fn ternary_is_loosest() {
    groups("c ? a : b Extend d", "{c ? a : {b Extend d}}");
    groups("c ? d ? e : f : g", "{c ? {d ? e : f} : g}");
    groups("c ? a : (d ? e : f)", "{c ? a : ({d ? e : f})}");
    groups("a > b ? a : b", "{{a > b} ? a : b}");
    groups("u On f ? a : b", "{{u On f} ? a : b}");
    assert_eq!(errors("x = c ? a : d ? e : f\n"), ["E0011@1"]);
    assert_eq!(errors("x = u On f > v On g ? a : b\n"), ["E0010@1"]);
}

#[test]
fn logical_operators_at_their_reserved_levels() {
    groups("a Or b Xor c And d", "{a Or {b Xor {c And d}}}");
    groups("a And b Xor c Or d", "{{{a And b} Xor c} Or d}");
    groups("a And b And c", "{{a And b} And c}");
    groups("a == b And c < d", "{{a == b} And {c < d}}");
    groups("a < b == c < d", "{{a < b} == {c < d}}");
    groups("Not a And b", "{{Not a} And b}");
    groups("Not a == b", "{Not {a == b}}");
    groups("a And Not Not b", "{a And {Not {Not b}}}");
    groups("True Or False", "{true Or false}");
    assert_eq!(errors("x = a == Not b\n"), ["E0005@1"]);
    assert_eq!(errors("x = -Not b\n"), ["E0005@1"]);
}

#[test]
fn what_does_not_chain() {
    for text in ["a < b < c", "a < b >= c", "a == b != c", "a <= b + 1 > c"] {
        assert_eq!(errors(&format!("x = {text}\n")), ["E0009@1"], "{text}");
    }
    for text in ["a On b On c", "a Extend b Extend c", "a On b Extend c On d"] {
        assert_eq!(errors(&format!("x = {text}\n")), ["E0010@1"], "{text}");
    }
}

#[test]
fn prefix_minus_and_index() {
    groups("-a*b", "{{-a} * b}");
    groups("-a/b", "{{-a} / b}");
    groups("-q[0]", "{-q[0]}");
    groups("--a", "{-{-a}}");
    groups("a - -b", "{a - {-b}}");
    groups("[a, b][1]", "[a, b][1]");
    groups("f(x)[0][1]", "f(x)[0][1]");
    groups("(a + b)[2]", "({a + b})[2]");
}

#[test]
fn bars_open_where_an_operand_is_expected() {
    groups("||a| - |b||", "|{|a| - |b|}|");
    groups("2*|a|/|b|", "{2 * {|a| / |b|}}");
    groups("|a| * |b|", "{|a| * |b|}");
    groups("|-a|", "|{-a}|");
    groups("|Centroid(first) - Centroid(second)|", "|{Centroid(first) - Centroid(second)}|");
}

#[test]
fn brackets_after_a_number_hold_a_unit() {
    groups("3 [Meter]", "3[Meter]");
    groups("3[Kilo*Meter] * a", "{3[{Kilo*Meter}] * a}");
    groups("1 [A*B/C]", "1[{A*{B/C}}]");
    groups("1 [A/B*C]", "1[{{A/B}*C}]");
    groups("1 [A/B/C]", "1[{{A/B}/C}]");
    groups("1 [Meter^2^2]", "1[{{Meter^2}^2}]");
    groups("1 [(Meter/Second)^-1]", "1[{({Meter/Second})^-1}]");
    groups("-3 [Meter]", "{-3[Meter]}");
    assert_eq!(errors("x = 3[0]\n"), ["E0013@1"]);
    assert_eq!(errors("x = 3 [Meter][0]\n"), ["E0013@1"]);
    assert_eq!(errors("x = (a) [Meter]\n"), ["E0012@1"]);
    assert_eq!(errors("x = a [(Meter/Second)]\n"), ["E0012@1"]);
    for text in ["[Kilo Meter]", "[2*Meter]", "[meter]", "[Meter^0.5]", "[Meter^x]"] {
        assert_eq!(errors(&format!("x = 1 {text}\n")), ["E0014@1"], "{text}");
    }
}

#[test]
fn an_index_is_a_whole_number() {
    for text in ["a[i]", "a[1.5]", "a[]", "a[-1]", "a[1"] {
        assert_eq!(errors(&format!("x = {text}\n")), ["E0005@1"], "{text}");
    }
    assert_eq!(errors("x = a[4294967296]\n"), ["E0003@1"]);
}

#[test]
fn powers_bind_between_division_and_the_sign() {
    groups("a*b^2", "{a * {b ^ 2}}");
    groups("a/b^2", "{a / {b ^ 2}}");
    groups("a^2*b", "{{a ^ 2} * b}");
    groups("a^-2", "{a ^ {-2}}");
    groups("a[0]^2", "{a[0] ^ 2}");
    groups("|v|^2", "{|v| ^ 2}");
    groups("(-a)^2", "{({-a}) ^ 2}");
}

#[test]
fn a_power_of_a_power_or_of_a_negated_value_needs_parentheses() {
    assert_eq!(errors("x = a^b^c\n"), ["E0026@1"]);
    assert_eq!(errors("x = a^-b^c\n"), ["E0026@1"]);
    assert_eq!(errors("x = -a^2\n"), ["E0027@1"]);
    assert_eq!(errors("x = b * -a^2\n"), ["E0027@1"]);
    assert_eq!(errors("x = b - a^2\n"), [""; 0]);
    assert_eq!(errors("x = -(a^2)\n"), [""; 0]);
}

#[test]
fn the_reserved_word_vector_makes_vectors() {
    groups("Vector(a, b + c)", "Vector(a, {b + c})");
    assert_eq!(errors("v : Vector = Vector(1, 2)\n"), [""; 0]);
    assert_eq!(errors("v = Vector\n"), ["E0005@1"]);
}
