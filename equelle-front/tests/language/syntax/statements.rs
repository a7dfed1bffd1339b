//! Statements, types and layout (`docs/language/grammar.md`).

use equelle_front::syntax::ast::{BasicTypeName, CollectionDomain, ExprKind, StmtKind, TypeExpr, TypeExprKind};
use equelle_front::syntax::{self, same_modulo_spans};

use super::good;

fn declared(text: &str) -> TypeExprKind {
    match good(&format!("x : {text}\n")).statements.remove(0).kind {
        StmtKind::Declaration { ty: TypeExpr { kind, .. }, .. } => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn types() {
    assert_eq!(declared("Scalar"), TypeExprKind::Basic(BasicTypeName::Scalar));
    assert_eq!(declared("String"), TypeExprKind::Basic(BasicTypeName::String));
    assert_eq!(declared("Sequence Of Scalar"), TypeExprKind::Sequence(BasicTypeName::Scalar));
    assert_eq!(declared("Collection Of Face"), TypeExprKind::Collection { element: BasicTypeName::Face, place: None });
    // The place takes the longest expression.
    match declared("Collection Of Scalar On a Extend b") {
        TypeExprKind::Collection { element: BasicTypeName::Scalar, place: Some(CollectionDomain::On(e)) } => {
            assert!(matches!(e.kind, ExprKind::Binary { .. }));
        }
        other => panic!("{other:?}"),
    }
    match declared("Collection Of Face Subset Of BoundaryFaces()") {
        TypeExprKind::Collection { element: BasicTypeName::Face, place: Some(CollectionDomain::SubsetOf(e)) } => {
            assert!(matches!(e.kind, ExprKind::Call { .. }));
        }
        other => panic!("{other:?}"),
    }
    match declared("Mutable Array Of 3 Mutable Collection Of Scalar On AllCells()") {
        TypeExprKind::Mutable(array) => match array.kind {
            TypeExprKind::Array { size: 3, element, .. } => assert!(matches!(element.kind, TypeExprKind::Mutable(_))),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    assert!(matches!(declared("Stencil Collection Of Scalar On AllCells()"), TypeExprKind::Stencil(_)));
}

#[test]
fn kinds_of_statement() {
    let text = "\
a : Scalar
b : Mutable Scalar = 3
c = b
f : Function(x : Scalar, y : Collection Of Scalar On AllCells()) -> Scalar
f(x, y) = {
    -> x
}
g() = {
}
u(i, j+1) = u(i, j)
Output(\"c\", c)
f(a, b)
For t In ts {
    c = t
}
-> c
";
    let program = good(text);
    let kinds: Vec<&str> = program
        .statements
        .iter()
        .map(|s| match &s.kind {
            StmtKind::Declaration { .. } => "declaration",
            StmtKind::FunctionDeclaration { params, .. } if params.len() == 2 => "function declaration",
            StmtKind::FunctionDeclaration { .. } => "function declaration with other parameters",
            StmtKind::Assignment { ty: Some(_), .. } => "declared assignment",
            StmtKind::Assignment { ty: None, .. } => "assignment",
            StmtKind::FunctionDefinition { .. } => "definition",
            StmtKind::StencilAssignment { .. } => "stencil",
            StmtKind::Call(_) => "call",
            StmtKind::Return(_) => "return",
            StmtKind::For { .. } => "for",
            StmtKind::Conditional { .. } => "conditional",
            StmtKind::Import { .. } => "import",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "declaration",
            "declared assignment",
            "assignment",
            "function declaration",
            "definition",
            "definition",
            "stencil",
            "call",
            "call",
            "for",
            "return"
        ]
    );
    // A span covers a statement from its first to its last token.
    let texts: Vec<&str> = program.statements.iter().map(|s| &text[s.span.range()]).collect();
    assert_eq!(texts[4], "f(x, y) = {\n    -> x\n}");
    assert_eq!(texts[7], "Output(\"c\", c)");
    match &program.statements[1].kind {
        StmtKind::Assignment { ty: Some(ty), value, .. } => {
            assert_eq!((&text[ty.span.range()], &text[value.span.range()]), ("Mutable Scalar", "3"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn layout_is_free_where_it_is_harmless() {
    let plain = good("f(x) = {\n-> x\n}\nFor t In ts {\na = t\n}\n");
    for same in [
        "f(x) = { # head\n\n  -> x # body\n\n} # end\nFor t In ts { # head\n a = t\n}",
        "f(x) =\n{\n-> x\n}\nFor t In ts\n{\na = t\n}\n",
        "\n\nf(x) = # head\n\n  # more\n{\n\t-> x\n\t}\nFor t In ts\r\n\r\n{\r\na = t\r\n}\r\n",
    ] {
        assert!(same_modulo_spans(&plain, &good(same)), "{same:?}");
    }
}

#[test]
fn nothing_is_a_program() {
    for text in ["", "\n", "  ", "# only a comment", "...", "... # c\n"] {
        assert_eq!(good(text).statements.len(), 0);
    }
}

/// Indices without blanks stay so; other sums and sums outside of calls get theirs.
#[test]
fn indices_keep_their_form() {
    let text = "d = u(i+1, j-2) - u(i + 1, a*b+1) + (i+1)\nv(i+1) = f(1+i, x+y)\n";
    let parsed = syntax::parse(text);
    assert_eq!(parsed.diagnostics, []);
    let formatted = syntax::format(&parsed.program, text);
    assert_eq!(formatted, "d = u(i+1, j-2) - u(i + 1, a * b + 1) + (i + 1)\nv(i+1) = f(1+i, x+y)\n");
}
