//! Programs as trees: what is written, and of which type each expression is.

use crate::bounds::Bounds;

/// Kinds of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In a grid of any dimension.
    Cell,
    /// Between cells.
    Face,
    /// Has one dimension.
    Edge,
    /// Points.
    Vertex,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Cell, Kind::Face, Kind::Edge, Kind::Vertex];

    /// As in types.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Cell => "Cell",
            Kind::Face => "Face",
            Kind::Edge => "Edge",
            Kind::Vertex => "Vertex",
        }
    }
}

/// Basic types that are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    /// A number.
    Scalar,
    /// As many numbers as the grid has dimensions.
    Vector,
    /// A truth value.
    Bool,
    /// An entity of the grid.
    Entity(Kind),
}

impl Basic {
    /// As in types.
    pub fn name(self) -> &'static str {
        match self {
            Basic::Scalar => "Scalar",
            Basic::Vector => "Vector",
            Basic::Bool => "Bool",
            Basic::Entity(kind) => kind.name(),
        }
    }
}

/// A domain, by its number in the table of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set(pub usize);

/// Exponents of length and of time.
pub type Dimension = [i32; 2];

/// No dimension.
pub const PURE: Dimension = [0, 0];

/// Type and bounds of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// Type of a value, or of the elements of a collection.
    pub basic: Basic,
    /// The domain of a collection.
    pub on: Option<Set>,
    /// True if it is the domain itself.
    pub domain: bool,
    /// The set that entities lie in.
    pub within: Option<Set>,
    /// True if some entities may be Empty.
    pub empty: bool,
    /// Dimension of numbers.
    pub dimension: Dimension,
    /// Bounds of numbers; for Bools and entities only whether they are exact.
    pub bounds: Bounds,
}

impl Info {
    /// Numbers.
    pub fn numbers(basic: Basic, on: Option<Set>, dimension: Dimension, bounds: Bounds) -> Self {
        Info { basic, on, domain: false, within: None, empty: false, dimension, bounds }
    }

    /// Scalars.
    pub fn scalar(on: Option<Set>, dimension: Dimension, bounds: Bounds) -> Self {
        Info::numbers(Basic::Scalar, on, dimension, bounds)
    }

    /// Truth values that depend on numbers with these bounds.
    pub fn truth(on: Option<Set>, of: &[Bounds]) -> Self {
        let bounds = of.iter().fold(Bounds::number(0.0), |all, bounds| all.decided_by(*bounds));
        Info::numbers(Basic::Bool, on, PURE, bounds)
    }

    /// Entities.
    pub fn entities(kind: Kind, over: Set, within: Set, empty: bool) -> Self {
        let plain = Info::numbers(Basic::Entity(kind), Some(over), PURE, Bounds::number(0.0));
        Info { within: Some(within), empty, ..plain }
    }

    /// True if one expression may stand in the place of the other: the same type.
    pub fn same_type(&self, other: &Info) -> bool {
        let shape = self.on == other.on && self.domain == other.domain && self.within == other.within && self.empty == other.empty;
        self.basic == other.basic && shape && self.dimension == other.dimension
    }
}

/// A part of what is written.
#[derive(Clone, Debug)]
pub enum Part {
    /// As it stands.
    Text(String),
    /// An expression.
    Node(Node),
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Text(text)
    }
}

impl From<Node> for Part {
    fn from(node: Node) -> Part {
        Part::Node(node)
    }
}

/// An expression, in parentheses where it needs them.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its type and bounds.
    pub info: Info,
    /// How it is written.
    pub parts: Vec<Part>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// One line.
    Line(Vec<Part>),
    /// A line that opens a block, and the block.
    Block {
        /// Without the brace.
        head: Vec<Part>,
        /// Inside the braces.
        body: Vec<Statement>,
    },
}

/// A program with what its comparison needs.
#[derive(Clone, Debug)]
pub struct Program {
    /// It is generated from this number.
    pub seed: u64,
    /// Its statements.
    pub statements: Vec<Statement>,
    /// True if dimensions are those of physics, and checked.
    pub units: bool,
    /// Grids on which it runs.
    pub grids: Grids,
    /// Tags of outputs that depend on solutions of nonlinear equations, and how much they may
    /// differ.
    pub errors: Vec<(String, f64)>,
    /// Bounds for the residuals of the first solve, in order: of the sum of the absolute values of
    /// all contributions to a row, and of the residual itself.
    pub residuals: Vec<Bounds>,
    /// True if it may end with an error: entities that are Empty, sets without elements.
    pub may_fail: bool,
}

/// Grids on which a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grids {
    /// All.
    Any,
    /// Grids of two dimensions: it makes Vectors of two components.
    Plane,
    /// Grids of three dimensions.
    Space,
    /// Uniform Cartesian ones of this many dimensions: it reads neighbours by index. Others are
    /// refused.
    Structured(usize),
}

impl Grids {
    /// Number of components of Vectors, if the program may name each.
    pub fn components(self) -> Option<usize> {
        match self {
            Grids::Any => None,
            Grids::Plane => Some(2),
            Grids::Space => Some(3),
            Grids::Structured(n) => (n > 1).then_some(n),
        }
    }
}

impl Program {
    /// The text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        write(&self.statements, 0, &mut text);
        text
    }
}

/// The text of a line or an expression.
pub(crate) fn text(parts: &[Part]) -> String {
    let mut text = String::new();
    write_parts(parts, &mut text);
    text
}

/// Writes statements as text, at a depth of blocks.
pub(crate) fn write(statements: &[Statement], depth: usize, out: &mut String) {
    for statement in statements {
        out.push_str(&"    ".repeat(depth));
        match statement {
            Statement::Line(parts) => write_parts(parts, out),
            Statement::Block { head, body } => {
                write_parts(head, out);
                out.push_str(" {\n");
                write(body, depth + 1, out);
                out.push_str(&"    ".repeat(depth));
                out.push('}');
            }
        }
        out.push('\n');
    }
}

fn write_parts(parts: &[Part], out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Node(node) => write_parts(&node.parts, out),
        }
    }
}

/// The parts of an expression or line.
macro_rules! parts {
    ($($part:expr),* $(,)?) => { vec![$($crate::tree::Part::from($part)),*] };
}
pub(crate) use parts;
