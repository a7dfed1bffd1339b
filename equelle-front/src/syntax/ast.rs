//! The untyped tree: what the parser makes, one node per construct of the grammar
//! (`docs/language/grammar.md`). Nothing here has been checked.

// Fields of enum variants are explained by the comment of their variant.
#![allow(missing_docs)]

use crate::ops::{Arithmetic, Comparison, Logic};
use crate::source::Span;

/// A parsed program. Comments are kept beside the tree, in source order, for the formatter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Top-level statements.
    pub statements: Vec<Stmt>,
    /// Every comment, with its `#`.
    pub comments: Vec<Comment>,
    /// Byte offset of the beginning of each line of the text: tells the formatter which comments
    /// share a line with a statement and where blank lines are. Empty for a tree that was not made
    /// from text.
    pub line_starts: Vec<u32>,
}

/// `# text` up to the end of the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// Text with the `#`.
    pub text: String,
    /// Its span.
    pub span: Span,
}

/// A name as written (starts with a lower-case letter for variables and functions, upper-case for
/// built-ins).
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The text.
    pub name: String,
    /// Its span.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Kind of statement.
    pub kind: StmtKind,
    /// From its first to its last token, a block included.
    pub span: Span,
}

/// Kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `name : type`
    Declaration { name: Ident, ty: TypeExpr },
    /// `name : Function(a : T, ...) -> R`
    FunctionDeclaration { name: Ident, params: Vec<(Ident, TypeExpr)>, result: TypeExpr },
    /// `name = value`, or `name : type = value`
    Assignment { name: Ident, ty: Option<TypeExpr>, value: Expr },
    /// `name(params) = { ... }`
    FunctionDefinition { name: Ident, params: Vec<Ident>, body: Block },
    /// `name(indices) = value` (stencil dialect)
    StencilAssignment { name: Ident, indices: Vec<Expr>, value: Expr },
    /// A call whose result is discarded. Always [`ExprKind::Call`].
    Call(Expr),
    /// `-> value`
    Return(Expr),
    /// `For variable In sequence { ... }`, or `For variable In Range(from, below) { ... }`
    For { variable: Ident, sequence: Expr, body: Block },
    /// `While condition { ... }` or `Repeat Until condition { ... }`
    Conditional { test: LoopTest, condition: Expr, body: Block },
    /// `Import "path" (name, ...)`; the path is `None` where it could not be read.
    Import { path: Option<ImportPath>, names: Vec<Ident> },
}

/// Time of evaluation and meaning of the condition of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopTest {
    /// `While`: before each round, which runs if it holds.
    While,
    /// `Repeat Until`: after each round, which is the last one if it holds.
    Until,
}

impl LoopTest {
    /// The words before the condition.
    pub fn words(self) -> &'static str {
        match self {
            LoopTest::While => "While",
            LoopTest::Until => "Repeat Until",
        }
    }
}

/// Path of an import, escapes resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportPath {
    /// The path.
    pub text: String,
    /// Its span.
    pub span: Span,
}

/// Statements between braces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// From `{` to `}`.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Kind of expression.
    pub kind: ExprKind,
    /// From its first to its last token.
    pub span: Span,
}

/// Kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number literal with an optional unit: `3`, `2.5 [Meter]`. `value` is as written, not
    /// converted.
    Number { value: f64, unit: Option<UnitExpr> },
    /// A string literal, escapes resolved.
    Text(String),
    /// `True` or `False`.
    Bool(bool),
    /// A variable (or function) name.
    Name(String),
    /// `callee(args)`; the callee is a user function or, with an upper-case letter, a built-in (the
    /// reserved word `Vector` among them).
    Call { callee: Ident, args: Vec<Expr> },
    /// `[a, b, ...]`
    Array(Vec<Expr>),
    /// `( inner )`
    Paren(Box<Expr>),
    /// `| inner |`
    Norm(Box<Expr>),
    /// `base[index]`
    Index { base: Box<Expr>, index: u32, index_span: Span },
    /// `-operand` or `Not operand`
    Unary { op: UnaryOp, operand: Box<Expr> },
    /// `left op right`
    Binary { op: BinaryOp, op_span: Span, left: Box<Expr>, right: Box<Expr> },
    /// `condition ? if_true : if_false`
    Ternary { condition: Box<Expr>, if_true: Box<Expr>, if_false: Box<Expr> },
    /// Stands where the parser could not make an expression; an error has been reported.
    Error,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `Not`
    Not,
}

/// Infix operators, `On` and `Extend` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+ - * /`
    Arithmetic(Arithmetic),
    /// `^`
    Power,
    /// `< > <= >= == !=`
    Comparison(Comparison),
    /// `And Or Xor`
    Logic(Logic),
    /// `On`
    On,
    /// `Extend`
    Extend,
}

impl BinaryOp {
    /// As in the language.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Arithmetic(op) => op.symbol(),
            BinaryOp::Power => "^",
            BinaryOp::Comparison(op) => op.symbol(),
            BinaryOp::Logic(op) => op.word(),
            BinaryOp::On => "On",
            BinaryOp::Extend => "Extend",
        }
    }
}

/// A unit expression between brackets after a number.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitExpr {
    /// Kind of unit expression.
    pub kind: UnitExprKind,
    /// Its span.
    pub span: Span,
}

/// Kinds of unit expression.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitExprKind {
    /// `Meter`
    Name(String),
    /// `( inner )`
    Paren(Box<UnitExpr>),
    /// `a * b`
    Mul(Box<UnitExpr>, Box<UnitExpr>),
    /// `a / b`
    Div(Box<UnitExpr>, Box<UnitExpr>),
    /// `a ^ 2`, `a ^ -1`
    Power(Box<UnitExpr>, i32),
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// Kind of type.
    pub kind: TypeExprKind,
    /// Its span.
    pub span: Span,
}

/// Kinds of type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// `Scalar`, `Cell`, ...
    Basic(BasicTypeName),
    /// `Collection Of T [On e | Subset Of e]`
    Collection { element: BasicTypeName, place: Option<CollectionDomain> },
    /// `Stencil Collection ...`
    Stencil(Box<TypeExpr>),
    /// `Sequence Of T`
    Sequence(BasicTypeName),
    /// `Array Of N T`
    Array { size: u32, size_span: Span, element: Box<TypeExpr> },
    /// `Mutable T`
    Mutable(Box<TypeExpr>),
    /// Stands where the parser could not make a type; an error has been reported.
    Error,
}

/// Part of a type after `Collection Of T`.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectionDomain {
    /// `On e`
    On(Box<Expr>),
    /// `Subset Of e`
    SubsetOf(Box<Expr>),
}

/// Names of basic types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasicTypeName {
    /// `Scalar`
    Scalar,
    /// `Vector`
    Vector,
    /// `Bool`
    Bool,
    /// `Cell`
    Cell,
    /// `Face`
    Face,
    /// `Edge`
    Edge,
    /// `Vertex`
    Vertex,
    /// `String`
    String,
}
