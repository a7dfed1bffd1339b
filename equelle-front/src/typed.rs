//! The typed tree: what the checker makes. Every expression has a type and a dimension, every name
//! is resolved, every call names one *instance* of a function (one per combination of argument
//! types and dimensions; per call site where the function makes a domain). Lowering
//! ([`crate::lower`]) turns it into IR.
//!
//! A tree exists only for programs without errors, so lowering cannot fail on user input.

pub(crate) mod captures;
pub(crate) mod clock;

use std::sync::Arc;

use crate::ops::{Arithmetic, CellFact, Comparison, Elementary, GridNumber, InputElement, Logic, Offset, TablePart};
use crate::source::Span;
use crate::syntax::ast::LoopTest;
use crate::types::{CanonicalSet, Dimension, SetTable, Type};

/// A checked program.
#[derive(Clone, Debug)]
pub struct TypedProgram {
    /// All entity sets, canonical ones first.
    pub sets: SetTable,
    /// All variables: of the main program, of loops, and one set per function instance.
    pub variables: Vec<Variable>,
    /// Function instances; an instance calls only instances with a smaller index (recursion is an
    /// error).
    pub functions: Vec<Function>,
    /// The main program.
    pub main: Vec<Stmt>,
    /// True if physical dimensions were checked.
    pub is_dimensional: bool,
}

/// Index into [`TypedProgram::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Index into [`TypedProgram::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name as written.
    pub name: String,
    /// Its type.
    pub ty: TreeType,
    /// Physical dimension; for an array, of each element.
    pub dims: Vec<TreeDimension>,
    /// Declared `Mutable`.
    pub mutable: bool,
    /// The instance whose parameter or local it is; `None` for the main program (loops included).
    pub owner: Option<FunctionId>,
    /// Span of its declaration or first assignment.
    pub span: Span,
}

/// The dimension of a value of the typed tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeDimension {
    /// Zero without a unit, and what is zero with it: it has every dimension.
    OfZero,
    /// The dimension of a number, or none.
    Of(Dimension),
}

impl TreeDimension {
    /// The exponents; of a zero that nothing gives a dimension, none.
    pub fn dimension(self) -> Dimension {
        match self {
            TreeDimension::OfZero => Dimension::NONE,
            TreeDimension::Of(dimension) => dimension,
        }
    }

    /// The dimension of a value that may change: no longer that of zero.
    #[must_use]
    pub fn fixed(self) -> TreeDimension {
        self.dimension().into()
    }

    /// The dimension of both where two values meet in a sum, a comparison or a choice; `None` if
    /// they differ.
    pub fn join(self, other: TreeDimension) -> Option<TreeDimension> {
        match (self, other) {
            (TreeDimension::OfZero, any) | (any, TreeDimension::OfZero) => Some(any),
            (TreeDimension::Of(a), TreeDimension::Of(b)) => (a == b).then_some(self),
        }
    }
}

impl Default for TreeDimension {
    fn default() -> Self {
        Dimension::NONE.into()
    }
}

impl From<Dimension> for TreeDimension {
    fn from(dimension: Dimension) -> Self {
        TreeDimension::Of(dimension)
    }
}

/// The type of an expression: a [`Type`], an array of them, or nothing (the result of `Output`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TreeType {
    /// A plain value.
    Value(Type),
    /// An array, by the types of its elements, at least one. They differ at most in the sets that
    /// collections are on.
    Array(Arc<[Type]>),
    /// A table of two arguments: as many tables of one as it has parts.
    Table2,
    /// No value.
    Void,
}

impl TreeType {
    /// Type of a value that is not an array.
    pub fn value(&self) -> Option<Type> {
        match self {
            TreeType::Value(ty) => Some(*ty),
            TreeType::Array(_) | TreeType::Table2 | TreeType::Void => None,
        }
    }

    /// Without halos.
    #[must_use]
    pub fn bare(&self) -> TreeType {
        match self {
            TreeType::Value(ty) => TreeType::Value(ty.bare()),
            TreeType::Array(elements) => TreeType::Array(elements.iter().map(|ty| ty.bare()).collect()),
            TreeType::Table2 => TreeType::Table2,
            TreeType::Void => TreeType::Void,
        }
    }

    /// Types of the elements of an array, of the parts of a table of two arguments, or of the one
    /// value; empty for no value.
    pub fn elements(&self) -> &[Type] {
        match self {
            TreeType::Value(ty) => std::slice::from_ref(ty),
            TreeType::Array(elements) => elements,
            TreeType::Table2 => const { &[Type::TABLE; TablePart::ALL.len()] },
            TreeType::Void => &[],
        }
    }
}

/// An instance of a user function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name as written.
    pub name: String,
    /// Parameters, in order; variables owned by this instance.
    pub params: Vec<VarId>,
    /// Statements; the last one is [`StmtKind::Return`], and there is no other.
    pub body: Vec<Stmt>,
    /// Type of the result.
    pub result: TreeType,
    /// Span of the definition.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of statement.
    pub kind: StmtKind,
    /// Its span.
    pub span: Span,
}

/// Kinds of statement. Declarations and function definitions leave no statement behind.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The fields are named after their roles.
pub enum StmtKind {
    /// First and only assignment of an immutable variable.
    Let { variable: VarId, value: Expr },
    /// Assignment of a mutable variable, the first one included.
    Assign { variable: VarId, value: Expr },
    /// `Output(tag, value)`
    Output { tag: Expr, value: Expr },
    /// A call whose result is discarded.
    Discard(Expr),
    /// `For variable In sequence`; the variable is a Scalar, new in every round.
    For { variable: VarId, sequence: Expr, body: Vec<Stmt> },
    /// `For variable In Range(from, below)`; the variable is a Scalar, new in every round.
    Range { variable: VarId, from: Expr, below: Expr, body: Vec<Stmt> },
    /// `While condition` or `Repeat Until condition`.
    Conditional { test: LoopTest, condition: Expr, body: Vec<Stmt> },
    /// `-> value`, last in a function body.
    Return(Expr),
}

/// A typed expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Kind of expression.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TreeType,
    /// Physical dimension; for an array, of each element; one entry otherwise.
    pub dims: Vec<TreeDimension>,
    /// Its span.
    pub span: Span,
}

impl Expr {
    /// The left operand of an infix operator. Chains of operators may be thousands long, so that
    /// walks go along left operands in a loop.
    pub fn left_operand(&self) -> Option<&Expr> {
        match &self.kind {
            ExprKind::Arithmetic { left, .. } | ExprKind::Comparison { left, .. } | ExprKind::Logic { left, .. } => Some(left),
            ExprKind::On { data, .. } | ExprKind::Extend { data, .. } => Some(data),
            ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::Variable(_)
            | ExprKind::CanonicalSet(_)
            | ExprKind::Builtin { .. }
            | ExprKind::Call { .. }
            | ExprKind::Newton { .. }
            | ExprKind::Array(_)
            | ExprKind::Vector(_)
            | ExprKind::Power { .. }
            | ExprKind::Element { .. }
            | ExprKind::Component { .. }
            | ExprKind::Axis(_)
            | ExprKind::CellFact(_)
            | ExprKind::GridNumber(_)
            | ExprKind::Read { .. }
            | ExprKind::Neg(_)
            | ExprKind::Not(_)
            | ExprKind::Norm(_)
            | ExprKind::Ternary { .. } => None,
        }
    }
}

/// Rules for a value beyond a side of a Cartesian grid, m = 0, 1, ... cells out. Numbers are those
/// of arguments of [`ExprKind::Read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The grid begins again.
    Periodic,
    /// That of the cell m cells inside.
    Mirror,
    /// That of the cell m + 1 cells inside.
    MirrorAt,
    /// Minus that of the cell m cells inside.
    Negate,
    /// That of the last cell.
    Copy,
    /// Twice a value on the side minus that of the cell m cells inside.
    AtFace(u32),
    /// This value.
    Value(u32),
    /// By a slope along the axis from the cell m cells inside.
    Slope(u32),
    /// On the polynomial of this degree through the cells nearest to the side.
    Polynomial(u8),
}

/// Rules of low and high side of each axis.
pub type Rules = [Option<Rule>; 6];

/// Kinds of typed expression. Parentheses are gone.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The fields are named after their roles.
pub enum ExprKind {
    /// A number in SI units.
    Number(f64),
    /// Text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// A variable's value. A function may read variables of enclosing scopes.
    Variable(VarId),
    /// A canonical set.
    CanonicalSet(CanonicalSet),
    /// A built-in other than the canonical sets, `Output` and Newton.
    Builtin { builtin: Builtin, args: Vec<Expr> },
    /// A call of a user function.
    Call { function: FunctionId, args: Vec<Expr> },
    /// `NewtonSolve`/`NewtonSolveSystem`: one residual function per unknown; every function takes
    /// all unknowns. The guesses together have one value per unknown: an array among them stands
    /// for its elements.
    Newton { residuals: Vec<FunctionId>, guesses: Vec<Expr> },
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `Vector(x, y)`: one to three components.
    Vector(Vec<Expr>),
    /// `base ^ exponent` for a whole number: repeated multiplication, and for a negative exponent
    /// one over that.
    Power { base: Box<Expr>, exponent: i32 },
    /// `array[index]`
    Element { array: Box<Expr>, index: u32 },
    /// `vector[index]`: a component.
    Component { vector: Box<Expr>, index: u32 },
    /// `StencilI()` and the like.
    Axis(u8),
    /// `IndexOf(a)`, `Even(a, ...)`
    CellFact(CellFact),
    /// `Width(a)`, `Extent(a)`
    GridNumber(GridNumber),
    /// `u(i+1)`: the first argument read at an offset, by rules beyond the grid which name the
    /// other arguments.
    Read { args: Vec<Expr>, by: Offset, rules: Rules },
    /// `-a`
    Neg(Box<Expr>),
    /// `Not a`
    Not(Box<Expr>),
    /// `|a|`: measure of entities, length of vectors, magnitude of numbers.
    Norm(Box<Expr>),
    /// `+ - * /`
    Arithmetic { op: Arithmetic, left: Box<Expr>, right: Box<Expr> },
    /// `< > <= >= == !=`
    Comparison { op: Comparison, left: Box<Expr>, right: Box<Expr> },
    /// `And Or Xor`
    Logic { op: Logic, left: Box<Expr>, right: Box<Expr> },
    /// `data On target`
    On { data: Box<Expr>, target: Box<Expr> },
    /// `data Extend domain`: zero-padded collection, or one value spread.
    Extend { data: Box<Expr>, domain: Box<Expr> },
    /// `condition ? if_true : if_false`
    Ternary { condition: Box<Expr>, if_true: Box<Expr>, if_false: Box<Expr> },
}

/// Built-in functions that stay calls in the typed tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `FirstCell(faces)`
    FirstCell,
    /// `SecondCell(faces)`
    SecondCell,
    /// `IsEmpty(entities)`
    IsEmpty,
    /// `InnerCell(faces)`
    InnerCell,
    /// `OutwardSign(faces)`
    OutwardSign,
    /// `OutwardNormal(faces)`
    OutwardNormal,
    /// `GivenTransmissibility(faces, otherwise)`
    GivenTransmissibility,
    /// `Centroid(entities)`
    Centroid,
    /// `Normal(faces)`
    Normal,
    /// `Gradient(cell values)`
    Gradient,
    /// `Divergence(face values)`
    Divergence,
    /// `FaceSum(a, b)`
    FaceSum,
    /// `FaceMax(a, b, start)`
    FaceMax,
    /// `FaceMin(a, b, start)`
    FaceMin,
    /// `Dot(v1, v2)`
    Dot,
    /// `Sqrt(s)`
    Sqrt,
    /// `Abs(x)`
    Abs,
    /// `Exp(x)` and its like.
    Elementary(Elementary),
    /// `Min(a, b)`
    Min,
    /// `Max(a, b)`
    Max,
    /// `Pow(a, b)`, and `a ^ b` where the exponent is not a whole number.
    Pow,
    /// `ATan2(y, x)`
    ATan2,
    /// `MaxReduce(x)`
    MaxReduce,
    /// `MinReduce(x)`
    MinReduce,
    /// `SumReduce(x)`
    SumReduce,
    /// `ProdReduce(x)`
    ProdReduce,
    /// `AnyReduce(x)`
    AnyReduce,
    /// `AllReduce(x)`
    AllReduce,
    /// `InputScalarWithDefault(name, default)`
    InputScalarWithDefault,
    /// `InputCollectionOfScalar(name, domain)`, and of Vectors and Bools
    InputCollection(InputElement),
    /// `InputDomainSubsetOf(name, domain)`
    InputDomainSubsetOf,
    /// `InputSequenceOfScalar(name)`
    InputSequenceOfScalar,
    /// `InputTable(name, argument, value)`
    InputTable,
    /// `InputTable2(name, first, second, value)`
    InputTable2,
    /// `Interpolate(table, x)`
    Interpolate,
    /// `Interpolate(table, x, y)`
    Interpolate2,
    /// `Where(domain, condition)`
    Where,
}
