//! Random trees that the grammar can express: parentheses are put where the grammar
//! (`docs/language/grammar.md`) demands them, and sometimes where it does not.

use equelle_front::ops::{Arithmetic, Comparison, Logic};
use equelle_front::source::Span;
use equelle_front::syntax::ast::*;
use proptest::prelude::*;

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn ident(name: String) -> Ident {
    Ident { name, span: Span::default() }
}

fn name() -> impl Strategy<Value = String> {
    // `x` at the end keeps clear of nothing: reserved words begin with an upper-case letter.
    "[a-z][A-Za-z0-9_]{0,6}"
}

fn builtin() -> impl Strategy<Value = String> {
    // No reserved word contains an underscore.
    "[A-Z][A-Za-z0-9]{0,4}_[0-9]"
}

/// Level of the operator at the root; atoms and postfix forms are above all.
fn level(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Ternary { .. } => 1,
        ExprKind::Binary { op, .. } => op_level(*op),
        // `Not` takes a whole comparison, and is taken by `And`.
        ExprKind::Unary { op: UnaryOp::Not, .. } => 7,
        ExprKind::Unary { op: UnaryOp::Neg, .. } => 13,
        ExprKind::Number { .. }
        | ExprKind::Text(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_)
        | ExprKind::Call { .. }
        | ExprKind::Array(_)
        | ExprKind::Paren(_)
        | ExprKind::Norm(_)
        | ExprKind::Index { .. }
        | ExprKind::Error => 20,
    }
}

fn op_level(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::On => 2,
        BinaryOp::Extend => 3,
        BinaryOp::Logic(Logic::Or) => 4,
        BinaryOp::Logic(Logic::Xor) => 5,
        BinaryOp::Logic(Logic::And) => 6,
        BinaryOp::Comparison(Comparison::Equal | Comparison::NotEqual) => 7,
        BinaryOp::Comparison(Comparison::Less | Comparison::Greater | Comparison::LessEqual | Comparison::GreaterEqual) => 8,
        BinaryOp::Arithmetic(Arithmetic::Add | Arithmetic::Sub) => 9,
        BinaryOp::Arithmetic(Arithmetic::Mul) => 10,
        BinaryOp::Arithmetic(Arithmetic::Div) => 11,
        BinaryOp::Power => 12,
    }
}

fn chains(op: BinaryOp) -> bool {
    !matches!(op, BinaryOp::On | BinaryOp::Extend | BinaryOp::Power | BinaryOp::Comparison(_))
}

/// The operand, in parentheses if its operator is looser than `least`.
fn at_least(least: u8, operand: Expr) -> Box<Expr> {
    let wrap = level(&operand) < least;
    Box::new(if wrap { expr(ExprKind::Paren(Box::new(operand))) } else { operand })
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let own = op_level(op);
    // `Not a == b` is `Not (a == b)`, so a bare `Not` cannot be the left operand of a comparison or
    // anything tighter.
    let not_on_the_left = own >= 7 && ends_with_not(&left);
    // `-a ^ b` is an error.
    let negated = op == BinaryOp::Power && matches!(left.kind, ExprKind::Unary { .. });
    let left = match not_on_the_left || negated {
        true => at_least(20, left),
        false => at_least(if chains(op) { own } else { own + 1 }, left),
    };
    expr(ExprKind::Binary { op, op_span: Span::default(), left, right: at_least(own + 1, right) })
}

/// True if the last operand is under a bare `Not`, which would swallow a comparison that follows.
fn ends_with_not(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Unary { op: UnaryOp::Not, .. } => true,
        ExprKind::Binary { right, .. } => ends_with_not(right),
        _ => false,
    }
}

fn op() -> impl Strategy<Value = BinaryOp> {
    prop::sample::select(vec![
        BinaryOp::Arithmetic(Arithmetic::Add),
        BinaryOp::Arithmetic(Arithmetic::Sub),
        BinaryOp::Arithmetic(Arithmetic::Mul),
        BinaryOp::Arithmetic(Arithmetic::Div),
        BinaryOp::Power,
        BinaryOp::Comparison(Comparison::Less),
        BinaryOp::Comparison(Comparison::Greater),
        BinaryOp::Comparison(Comparison::LessEqual),
        BinaryOp::Comparison(Comparison::GreaterEqual),
        BinaryOp::Comparison(Comparison::Equal),
        BinaryOp::Comparison(Comparison::NotEqual),
        BinaryOp::Logic(Logic::And),
        BinaryOp::Logic(Logic::Or),
        BinaryOp::Logic(Logic::Xor),
        BinaryOp::On,
        BinaryOp::Extend,
    ])
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0u32..1000).prop_map(f64::from),
        prop::num::f64::POSITIVE | prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO
    ]
    .prop_map(f64::abs)
    .prop_filter("finite", |v| v.is_finite())
}

fn unit() -> impl Strategy<Value = UnitExpr> {
    let unit = |kind| UnitExpr { kind, span: Span::default() };
    let unit_level = |u: &UnitExpr| match u.kind {
        UnitExprKind::Mul(..) => 1,
        UnitExprKind::Div(..) => 2,
        UnitExprKind::Name(_) | UnitExprKind::Paren(_) | UnitExprKind::Power(..) => 3,
    };
    let at_least = move |least: u8, u: UnitExpr| Box::new(if unit_level(&u) < least { unit(UnitExprKind::Paren(Box::new(u))) } else { u });
    builtin().prop_map(move |n| unit(UnitExprKind::Name(n))).prop_recursive(3, 8, 2, move |inner| {
        prop_oneof![
            inner.clone().prop_map(move |u| unit(UnitExprKind::Paren(Box::new(u)))),
            (inner.clone(), inner.clone()).prop_map(move |(a, b)| unit(UnitExprKind::Mul(at_least(1, a), at_least(2, b)))),
            (inner.clone(), inner.clone()).prop_map(move |(a, b)| unit(UnitExprKind::Div(at_least(2, a), at_least(3, b)))),
            (inner, -9i32..10).prop_map(move |(a, n)| unit(UnitExprKind::Power(at_least(3, a), n))),
        ]
    })
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        4 => name().prop_map(|n| expr(ExprKind::Name(n))),
        2 => (value(), prop::option::weighted(0.3, unit())).prop_map(|(value, unit)| expr(ExprKind::Number { value, unit })),
        1 => any::<String>().prop_map(|t| expr(ExprKind::Text(t))),
        1 => any::<bool>().prop_map(|b| expr(ExprKind::Bool(b))),
    ]
}

pub fn expression() -> impl Strategy<Value = Expr> {
    sized(5, 24)
}

/// Expressions that do not fit on a line.
pub fn long_expression() -> impl Strategy<Value = Expr> {
    prop::collection::vec((op(), sized(3, 12)), 4..12).prop_map(|terms| {
        let first = expr(ExprKind::Name("first_of_many".to_owned()));
        terms.into_iter().fold(first, |sum, (op, term)| binary(op, sum, term))
    })
}

fn sized(depth: u32, size: u32) -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(depth, size, 3, |inner| {
        let callee = prop_oneof![name(), builtin()];
        prop_oneof![
            6 => (op(), inner.clone(), inner.clone()).prop_map(|(op, a, b)| binary(op, a, b)),
            1 => inner.clone().prop_map(|e| expr(ExprKind::Unary { op: UnaryOp::Neg, operand: at_least(13, e) })),
            1 => inner.clone().prop_map(|e| expr(ExprKind::Unary { op: UnaryOp::Not, operand: at_least(7, e) })),
            1 => inner.clone().prop_map(|e| expr(ExprKind::Paren(Box::new(e)))),
            1 => inner.clone().prop_map(|e| expr(ExprKind::Norm(Box::new(e)))),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(|es| expr(ExprKind::Array(es))),
            2 => (callee, prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(callee, args)| expr(ExprKind::Call { callee: ident(callee), args })),
            1 => (inner.clone(), any::<u32>()).prop_map(|(base, index)| {
                // After a number a bracket would open a unit.
                let bare_number = matches!(base.kind, ExprKind::Number { .. });
                let base = at_least(20, base);
                let base = if bare_number { Box::new(expr(ExprKind::Paren(base))) } else { base };
                expr(ExprKind::Index { base, index, index_span: Span::default() })
            }),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(c, a, b)| {
                expr(ExprKind::Ternary { condition: at_least(2, c), if_true: Box::new(a), if_false: at_least(2, b) })
            }),
        ]
    })
}

fn basic() -> impl Strategy<Value = BasicTypeName> {
    prop::sample::select(vec![
        BasicTypeName::Scalar,
        BasicTypeName::Vector,
        BasicTypeName::Bool,
        BasicTypeName::Cell,
        BasicTypeName::Face,
        BasicTypeName::Edge,
        BasicTypeName::Vertex,
        BasicTypeName::String,
    ])
}

fn type_of(kind: TypeExprKind) -> TypeExpr {
    TypeExpr { kind, span: Span::default() }
}

fn collection() -> impl Strategy<Value = TypeExpr> {
    let place = prop_oneof![
        sized(2, 4).prop_map(|e| Some(CollectionDomain::On(Box::new(e)))),
        sized(2, 4).prop_map(|e| Some(CollectionDomain::SubsetOf(Box::new(e)))),
        Just(None),
    ];
    (basic(), place).prop_map(|(element, place)| type_of(TypeExprKind::Collection { element, place }))
}

fn ty() -> impl Strategy<Value = TypeExpr> {
    let simple = prop_oneof![
        basic().prop_map(|b| type_of(TypeExprKind::Basic(b))),
        basic().prop_map(|b| type_of(TypeExprKind::Sequence(b))),
        collection(),
        collection().prop_map(|c| type_of(TypeExprKind::Stencil(Box::new(c)))),
    ];
    (simple, 0u8..4, 1u32..9).prop_map(|(simple, shape, size)| {
        let array = |t| type_of(TypeExprKind::Array { size, size_span: Span::default(), element: Box::new(t) });
        let mutable = |t| type_of(TypeExprKind::Mutable(Box::new(t)));
        match shape {
            0 => simple,
            1 => mutable(simple),
            2 => array(simple),
            _ => mutable(array(mutable(simple))),
        }
    })
}

fn statement() -> impl Strategy<Value = Stmt> {
    let stmt = |kind| Stmt { kind, span: Span::default() };
    let simple = prop_oneof![
        (name(), ty()).prop_map(|(n, ty)| StmtKind::Declaration { name: ident(n), ty }),
        (name(), prop::collection::vec((name(), ty()), 0..3), ty()).prop_map(|(n, params, result)| {
            let params = params.into_iter().map(|(p, t)| (ident(p), t)).collect();
            StmtKind::FunctionDeclaration { name: ident(n), params, result }
        }),
        (name(), prop::option::of(ty()), expression()).prop_map(|(n, ty, value)| StmtKind::Assignment { name: ident(n), ty, value }),
        (name(), prop::collection::vec(expression(), 0..3), expression()).prop_map(|(n, indices, value)| StmtKind::StencilAssignment {
            name: ident(n),
            indices,
            value
        }),
        (prop_oneof![name(), builtin()], prop::collection::vec(expression(), 0..3))
            .prop_map(|(callee, args)| StmtKind::Call(expr(ExprKind::Call { callee: ident(callee), args }))),
        expression().prop_map(StmtKind::Return),
        ("[a-z./: \"\\\\]{0,9}", prop::collection::vec(name(), 1..4)).prop_map(|(text, names)| StmtKind::Import {
            path: Some(ImportPath { text, span: Span::default() }),
            names: names.into_iter().map(ident).collect()
        }),
    ];
    simple.prop_map(stmt).prop_recursive(3, 8, 3, move |inner| {
        let body = prop::collection::vec(inner, 0..3).prop_map(|statements| Block { statements, span: Span::default() });
        prop_oneof![
            (name(), prop::collection::vec(name(), 0..3), body.clone()).prop_map(move |(n, params, body)| {
                let params = params.into_iter().map(ident).collect();
                stmt(StmtKind::FunctionDefinition { name: ident(n), params, body })
            }),
            (name(), sized(2, 6), body.clone()).prop_map(move |(n, sequence, body)| stmt(StmtKind::For {
                variable: ident(n),
                sequence,
                body
            })),
            (prop::bool::ANY, sized(2, 6), body).prop_map(move |(is_while, condition, body)| {
                let test = if is_while { LoopTest::While } else { LoopTest::Until };
                stmt(StmtKind::Conditional { test, condition, body })
            }),
        ]
    })
}

pub fn program() -> impl Strategy<Value = Program> {
    prop::collection::vec(statement(), 0..5).prop_map(|statements| Program { statements, ..Program::default() })
}
