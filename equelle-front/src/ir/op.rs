//! Operation level: functions, statements, operations.

use crate::ir::interface::Interface;
use crate::ir::kernel::{Kernel, KernelId};
use crate::ir::numbers::Numbers;
use crate::ir::structure::Structure;
use crate::ops::{
    Arithmetic, Beyond, BinaryMath, CellFact, Comparison, Elementary, FaceReduction, GridNumber, InputElement, Logic, Offset, Reduction,
    TablePart,
};
use crate::source::{SourceMap, Span};
use crate::types::{CanonicalSet, Dimension, SetTable, Type};

/// A program.
#[derive(Clone, Debug)]
pub struct Module {
    /// Name of the program: the stem of its file.
    pub name: String,
    /// The text it came from; empty for modules written by hand.
    pub source: SourceMap,
    /// Precision and rounding.
    pub numbers: Numbers,
    /// Entity sets.
    pub sets: SetTable,
    /// Function instances; a function calls only functions before it. Names are unique.
    pub functions: Vec<Function>,
    /// The main program: a function without parameters and results.
    pub main: Function,
    /// Kernels that statements launch. Names are unique.
    pub kernels: Vec<Kernel>,
    /// Input and output of the program, as its text says: no pass changes it, and the text form
    /// leaves it out.
    pub interface: Interface,
    /// Statements that evaluate `On` in both branches of a choice between values, where one between
    /// entities would do, in the order of the text. For messages; the text form of the IR leaves
    /// them out.
    pub choices: Vec<Span>,
    /// Structure that the program requires of its grid, as its text says: no pass changes it, so
    /// that every level runs on the same grids. The text form leaves it out; a parsed module
    /// requires what its operations need.
    pub structure: Option<Structure>,
    /// The first statement that needs the geometry of faces between cells, as
    /// [`Module::structure`]: a parsed module requires that of its operations, not of its kernels.
    pub face_geometry: Option<Span>,
    /// The first statement that reads stored positions of cells through faces, likewise.
    pub stored_positions: Option<Span>,
    /// The user's decisions about storage, which [`Value::storage`] has too. For messages.
    pub storage: StorageRequests,
}

impl Module {
    /// Equelle lines of [`Module::choices`], ascending, each once.
    pub fn choice_lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.choices.iter().map(|span| self.source.line(span.start)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Equelle lines of a kernel, innermost first, each once; none where there is no text.
    pub fn lines_of(&self, kernel: &Kernel) -> Vec<u32> {
        let mut lines = Vec::new();
        for span in kernel.spans.iter().filter(|_| !self.source.text().is_empty()) {
            let line = self.source.line(span.start);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Index into [`Function::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Index into [`Function::mutables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MutableId(pub u32);

/// A function instance.
#[derive(Clone, Debug)]
pub struct Function {
    /// Unique name, derived from the user's.
    pub name: String,
    /// Parameters: those of the source first, then captured values.
    pub params: Vec<ValueId>,
    /// Every value of the function.
    pub values: Vec<Value>,
    /// Mutable variables local to it.
    pub mutables: Vec<Mutable>,
    /// Statements. The last one is [`StmtKind::Return`] unless there are no results.
    pub body: Block,
    /// Types of the results.
    pub results: Vec<Type>,
    /// Span of the definition.
    pub span: Span,
}

impl Function {
    /// A value stands for another from now on: it has its name, and what the user decides of it.
    pub(crate) fn stand_for(&mut self, value: ValueId, other: ValueId) {
        let Value { name, array, storage, .. } = self.values[other.0 as usize].clone();
        let target = &mut self.values[value.0 as usize];
        if target.name.is_empty() {
            (target.name, target.array) = (name, array);
        }
        target.storage = target.storage.or(storage);
    }
}

/// Properties of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// The user's name, or empty for temporaries. Not unique.
    pub name: String,
    /// Physical dimension.
    pub dim: Dimension,
    /// The expression it came from.
    pub span: Span,
    /// Storage that the user decides, instead of the compiler.
    pub storage: Option<Storage>,
    /// The user's name of the array that it is an element of. The text form leaves it out.
    pub array: Option<String>,
}

/// Names of values, as `divu`, and `rates.divu` in a function; the name of an array is that of its
/// elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageRequests {
    /// Values that are stored.
    pub store: Vec<String>,
    /// Values that are computed by whatever reads them.
    pub inline: Vec<String>,
}

/// Relation of a value that kernels compute to the operation that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Through memory.
    Stored,
    /// Each reader computes it.
    Inlined,
}

impl Storage {
    /// Both.
    pub const ALL: [Storage; 2] = [Storage::Stored, Storage::Inlined];

    /// Word in the text of the IR, and of the option that decides so.
    pub fn word(self) -> &'static str {
        match self {
            Storage::Stored => "store",
            Storage::Inlined => "inline",
        }
    }
}

/// A mutable variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutable {
    /// The user's name (with the element number for arrays).
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Physical dimension.
    pub dim: Dimension,
    /// Span of the declaration.
    pub span: Span,
    /// A pass made it to carry a value from round to round, which the user has no name for.
    pub carried: bool,
}

/// Statements in order.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Kind of statement.
    pub kind: StmtKind,
    /// The Equelle statement or expression it came from.
    pub span: Span,
}

impl Stmt {
    /// Values that it reads, those of a loop body left out.
    pub fn reads(&self) -> Vec<ValueId> {
        match &self.kind {
            StmtKind::Let { op, .. } => op.operands(),
            StmtKind::Store { value, .. } => vec![*value],
            StmtKind::Output { tag, value } => vec![*tag, *value],
            StmtKind::For { rounds, .. } => rounds.operands(),
            StmtKind::Launch { args, .. } => args.clone(),
            StmtKind::Return(values) => values.clone(),
        }
    }

    /// Values that it reads, those of a loop body included.
    pub fn reads_inside(&self) -> Vec<ValueId> {
        let mut all = self.reads();
        if let StmtKind::For { body, .. } = &self.kind {
            all.extend(body.statements.iter().flat_map(Stmt::reads_inside));
        }
        all
    }

    /// True if it stores into a mutable, in a loop body included.
    pub fn stores(&self, mutable: MutableId) -> bool {
        match &self.kind {
            StmtKind::Store { mutable: m, .. } => *m == mutable,
            StmtKind::For { body, .. } => body.statements.iter().any(|s| s.stores(mutable)),
            StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
        }
    }

    /// True if it stores into or loads from a mutable, in a loop body included.
    pub fn mentions(&self, mutable: MutableId) -> bool {
        match &self.kind {
            StmtKind::Let { op: Op::Load(m), .. } => *m == mutable,
            StmtKind::For { rounds, body } => rounds.condition() == Some(mutable) || body.statements.iter().any(|s| s.mentions(mutable)),
            StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) | StmtKind::Store { .. } => {
                self.stores(mutable)
            }
        }
    }

    /// Values that it defines for the statements after it.
    pub fn defines(&self) -> &[ValueId] {
        match &self.kind {
            StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => results,
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => &[],
        }
    }
}

/// Kinds of statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum StmtKind {
    /// `results = op`. One result, except for calls and Newton.
    Let { results: Vec<ValueId>, op: Op },
    /// `mutable := value`
    Store { mutable: MutableId, value: ValueId },
    /// Output of a Scalar or collection under a tag (a Text value).
    Output { tag: ValueId, value: ValueId },
    /// The body in rounds. Values assigned in the body are not visible after it.
    For { rounds: Rounds, body: Block },
    /// Launch of a kernel: `args` match [`Kernel::params`] one to one, `results` its results.
    Launch { kernel: KernelId, args: Vec<ValueId>, results: Vec<ValueId> },
    /// End of a function with results.
    Return(Vec<ValueId>),
}

impl StmtKind {
    /// A loop with its body changed; other statements as they are.
    #[must_use]
    pub fn map_body(self, change: impl FnOnce(Block) -> Block) -> StmtKind {
        match self {
            StmtKind::For { rounds, body } => StmtKind::For { rounds, body: change(body) },
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => self,
        }
    }
}

/// The rounds of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Rounds {
    /// One for each element of a sequence, in order.
    Sequence { sequence: ValueId, element: ValueId },
    /// One for each of `from`, `from` + 1, ... that is below `below`.
    Range { from: ValueId, below: ValueId, element: ValueId },
    /// As long as a Bool is true, which is looked at before each round.
    While(MutableId),
}

impl Rounds {
    /// The value that each round gives anew.
    pub fn element(self) -> Option<ValueId> {
        match self {
            Rounds::Sequence { element, .. } | Rounds::Range { element, .. } => Some(element),
            Rounds::While(_) => None,
        }
    }

    /// The variable that is looked at before each round.
    pub fn condition(self) -> Option<MutableId> {
        match self {
            Rounds::Sequence { .. } | Rounds::Range { .. } => None,
            Rounds::While(condition) => Some(condition),
        }
    }

    /// Values that it reads, before the first round.
    pub fn operands(self) -> Vec<ValueId> {
        match self {
            Rounds::Sequence { sequence, .. } => vec![sequence],
            Rounds::Range { from, below, .. } => vec![from, below],
            Rounds::While(_) => Vec::new(),
        }
    }

    /// The same rounds of other values.
    #[must_use]
    pub fn map_operands(self, f: &mut dyn FnMut(ValueId) -> ValueId) -> Rounds {
        match self {
            Rounds::Sequence { sequence, element } => Rounds::Sequence { sequence: f(sequence), element },
            Rounds::Range { from, below, element } => Rounds::Range { from: f(from), below: f(below), element },
            Rounds::While(condition) => Rounds::While(condition),
        }
    }
}

/// Operations. Type rules are those of [`crate::verify`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Op {
    /// A number.
    Real(f64),
    /// A truth value.
    Bool(bool),
    /// Text.
    Text(String),
    /// The domain that is a canonical set.
    CanonicalSet(CanonicalSet),
    /// Current value of a mutable.
    Load(MutableId),
    /// Scalar parameter with a default (a Scalar value).
    InputScalar { name: ValueId, default: ValueId },
    /// Collection read from a file or uniform.
    InputCollection { element: InputElement, name: ValueId, domain: ValueId },
    /// Domain read from a file, a subset of `within`; the result's type names the new set.
    InputDomain { name: ValueId, within: ValueId },
    /// Domain of those elements of `within` for which a collection of Bools on it holds; the
    /// result's type names the new set.
    Where { within: ValueId, condition: ValueId },
    /// Sequence read from a file.
    InputSequence { name: ValueId },
    /// Table read from a file: the column of its arguments and that of its values, by name.
    InputTable { name: ValueId, argument: ValueId, value: ValueId },
    /// A part of a table of two arguments, with the columns of both and that of the values.
    InputTable2 { name: ValueId, arguments: [ValueId; 2], value: ValueId, part: TablePart },
    /// The length of a round of a loop, by which the time of outputs goes on: a Scalar, or a part
    /// of it where the round is taken again. A negative one and NaN are errors.
    Step(ValueId),
    /// First cell of each face; Empty outside.
    FirstCell(ValueId),
    /// Second cell of each face; Empty outside.
    SecondCell(ValueId),
    /// The cell this many cells further along each axis of a Cartesian grid, for each cell;
    /// beyond a side the one that the map of the side names.
    Shift { cells: ValueId, by: Offset, beyond: Beyond },
    /// Position of each cell in a Cartesian grid.
    CellFact { fact: CellFact, cells: ValueId },
    /// A number of a Cartesian grid.
    GridNumber(GridNumber),
    /// True if each entity is Empty.
    IsEmpty(ValueId),
    /// The faces themselves, Empty included; one with two cells is an error.
    OneCell(ValueId),
    /// Centroid of each entity.
    Centroid(ValueId),
    /// From the centroid of each face on the side of its second cell to that on the side of the
    /// first; zero unless a gap lies between both.
    FaceGap(ValueId),
    /// Transmissibility that the grid gives each face; negative where that of geometry holds.
    FaceTransmissibility(ValueId),
    /// Unit normal of each face, from first to second cell.
    Normal(ValueId),
    /// Volume, area or length of each entity.
    Measure(ValueId),
    /// Negation, `Not`, magnitude, square root, length of a Vector.
    Unary(UnaryOp, ValueId),
    /// Element-wise on equal sets; a Single operand goes with every element. Scalar and Vector;
    /// Sequence with Scalar.
    Arithmetic(Arithmetic, ValueId, ValueId),
    /// Element-wise comparison of Scalars (for `==`, `!=` also of Bools and entities).
    Compare(Comparison, ValueId, ValueId),
    /// Element-wise logic of Bools.
    Logic(Logic, ValueId, ValueId),
    /// Per element: `condition ? if_true : if_false`; the unselected branch never shows through.
    Select { condition: ValueId, if_true: ValueId, if_false: ValueId },
    /// Data at the entities of the target (a domain or an entity collection); an Empty target
    /// element is an error.
    On { data: ValueId, target: ValueId },
    /// Collection padded with 0, false or Empty to a domain that holds its set.
    Extend { data: ValueId, domain: ValueId },
    /// One value for every element of a domain, or of that of a collection.
    Broadcast { value: ValueId, domain: ValueId },
    /// A statement without results: on several ranks, the collection gets the values of the first
    /// `depth` layers of the halo from the ranks that own them. Nothing on one rank.
    Exchange { value: ValueId, depth: u32 },
    /// Per interior face: value in the second cell minus value in the first.
    Gradient(ValueId),
    /// Per cell: sum over its faces, positive where it is the first cell, in ascending face index.
    /// Argument on interior or all faces.
    Divergence(ValueId),
    /// Per cell, in ascending face index: a reduction of `first` on the faces of which it is the
    /// first cell and of `second` on those of which it is the second. Both on one set of faces;
    /// other faces do not take part. Scalars, or Vectors for a sum.
    FaceReduce { reduction: FaceReduction, first: ValueId, second: ValueId },
    /// Scalar product of Vectors, components in order.
    Dot(ValueId, ValueId),
    /// Component of Vectors, from 0.
    Component(ValueId, u32),
    /// Vector of components, Scalars in the order of the axes; as many as the grid has dimensions,
    /// checked at run time.
    Vector(Vec<ValueId>),
    /// Element-wise function of two Scalars on equal sets; a Single operand goes with every
    /// element.
    Math(BinaryMath, ValueId, ValueId),
    /// The function that a table is, of each Scalar.
    Interpolate { table: ValueId, argument: ValueId },
    /// Text with `_` and a number appended: the tag of an element of an array.
    TextIndex(ValueId, u32),
    /// Reduction of a collection: Max, Min, Sum, Prod of Scalars; Max, Min, Sum of Vectors by
    /// component; Any, All of Bools.
    Reduce(Reduction, ValueId),
    /// Call of a function instance; one result per result of the function.
    Call { function: FunctionId, args: Vec<ValueId> },
    /// Newton's method: one residual function, one list of captured arguments and one guess per
    /// unknown. Each residual takes all unknowns, then its captures. Results: one per unknown, then
    /// the last values of the carried variables. `equations`: none, or for each unknown the kernel
    /// that evaluates its residual with derivatives; then residual functions are called for their
    /// outputs alone, and there may be none.
    Newton {
        residuals: Vec<FunctionId>,
        captures: Vec<Vec<ValueId>>,
        guesses: Vec<ValueId>,
        carried: Vec<Carried>,
        equations: Vec<Equation>,
    },
}

/// A residual as a kernel with a [`crate::ir::JacobianForm`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// The kernel. Its first parameters are the unknowns.
    pub kernel: KernelId,
    /// The other parameters.
    pub args: Vec<ValueId>,
}

/// A variable of the program that residuals assign: it goes from one evaluation to the next with
/// its values, without derivatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Places where residuals take its current value: number of the residual, and of the capture
    /// there. At first it is that capture; all name one value.
    pub reads: Vec<(u32, u32)>,
    /// Places where residuals give it a new value, in order: number of the residual, and of the
    /// result there, of which 0 is the residual itself.
    pub writes: Vec<(u32, u32)>,
}

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `0 - x` never: the sign bit flips.
    Neg,
    /// Logical not.
    Not,
    /// Magnitude of a Scalar.
    Abs,
    /// Square root of a Scalar.
    Sqrt,
    /// Euclidean length of a Vector, components added in order.
    Length,
    /// Elementary function of a Scalar.
    Elementary(Elementary),
}

impl UnaryOp {
    /// All of them.
    pub fn all() -> impl Iterator<Item = UnaryOp> {
        let others = [UnaryOp::Neg, UnaryOp::Not, UnaryOp::Abs, UnaryOp::Sqrt, UnaryOp::Length];
        others.into_iter().chain(Elementary::ALL.map(UnaryOp::Elementary))
    }
}

/// For messages.
impl std::fmt::Display for UnaryOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UnaryOp::Elementary(function) => f.write_str(function.name()),
            UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Sqrt | UnaryOp::Length => write!(f, "{self:?}"),
        }
    }
}

/// Classes of operations that passes and writers treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpClass {
    /// A number or a truth value of the text.
    Literal,
    /// Text, or text with a number.
    Text,
    /// The domain of a canonical set.
    Domain,
    /// The value of a mutable.
    Load,
    /// Data from outside, lengths of rounds, and every domain made at run time: no two are the
    /// same.
    Input,
    /// Entities by entities: cells of faces, what is Empty, and how many cells there are.
    Topology,
    /// Numbers of the grid.
    Geometry,
    /// The same function of each element.
    Pointwise,
    /// Values of one set on another.
    Transfer,
    /// Sums and differences over cells and their faces.
    FiniteVolume,
    /// One value of a collection.
    Reduction,
    /// A function of the program.
    Call,
    /// Newton's method.
    Solve,
    /// Values from other ranks.
    Exchange,
}

impl OpClass {
    /// True if it has no effect and depends on nothing but its operands.
    pub fn is_pure(self) -> bool {
        match self {
            OpClass::Load | OpClass::Input | OpClass::Call | OpClass::Solve | OpClass::Exchange => false,
            OpClass::Literal
            | OpClass::Text
            | OpClass::Domain
            | OpClass::Topology
            | OpClass::Geometry
            | OpClass::Pointwise
            | OpClass::Transfer
            | OpClass::FiniteVolume
            | OpClass::Reduction => true,
        }
    }
}

/// The entities that an operation gives, in terms of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum EntitySource {
    /// First cells of faces.
    First(ValueId),
    /// Second cells of faces.
    Second(ValueId),
    /// Those at an offset in a Cartesian grid.
    Shift { cells: ValueId, by: Offset, beyond: Beyond },
    /// These.
    Same(ValueId),
    /// Those at the entities of the target.
    On { data: ValueId, target: ValueId },
    /// Those of a branch.
    Select { condition: ValueId, if_true: ValueId, if_false: ValueId },
    /// These, and Empty elsewhere.
    Extend(ValueId),
    /// Those of a domain, a variable, a call or a solve.
    Stored,
    /// It gives no entities.
    None,
}

impl EntitySource {
    /// The entities of which it gives some or all.
    pub fn parts(self) -> impl Iterator<Item = ValueId> {
        let parts = match self {
            EntitySource::Select { if_true, if_false, .. } => [Some(if_true), Some(if_false)],
            EntitySource::On { data, .. } | EntitySource::Extend(data) | EntitySource::Same(data) => [Some(data), None],
            EntitySource::First(_) | EntitySource::Second(_) | EntitySource::Shift { .. } | EntitySource::Stored | EntitySource::None => {
                [None; 2]
            }
        };
        parts.into_iter().flatten()
    }
}

/// Calls `$f` with each operand of an operation in order: references or mutable references, as
/// `$op` is one and `$iter` says. The one list of operands.
macro_rules! for_each_operand {
    ($op:expr, $iter:ident, $f:expr) => {
        match $op {
            Op::Real(_) | Op::Bool(_) | Op::Text(_) | Op::CanonicalSet(_) | Op::Load(_) | Op::GridNumber(_) => {}
            Op::InputSequence { name: v }
            | Op::Step(v)
            | Op::FirstCell(v)
            | Op::SecondCell(v)
            | Op::Shift { cells: v, .. }
            | Op::CellFact { cells: v, .. }
            | Op::IsEmpty(v)
            | Op::OneCell(v)
            | Op::Centroid(v)
            | Op::Normal(v)
            | Op::FaceGap(v)
            | Op::FaceTransmissibility(v)
            | Op::Measure(v)
            | Op::Unary(_, v)
            | Op::Gradient(v)
            | Op::Divergence(v)
            | Op::Component(v, _)
            | Op::TextIndex(v, _)
            | Op::Exchange { value: v, .. }
            | Op::Reduce(_, v) => $f(v),
            Op::InputTable { name, argument, value } => {
                $f(name);
                $f(argument);
                $f(value);
            }
            Op::InputTable2 { name, arguments: [first, second], value, part: _ } => {
                $f(name);
                $f(first);
                $f(second);
                $f(value);
            }
            Op::InputScalar { name: a, default: b }
            | Op::InputCollection { element: _, name: a, domain: b }
            | Op::InputDomain { name: a, within: b }
            | Op::Where { within: a, condition: b }
            | Op::Arithmetic(_, a, b)
            | Op::Compare(_, a, b)
            | Op::Logic(_, a, b)
            | Op::Dot(a, b)
            | Op::Math(_, a, b)
            | Op::On { data: a, target: b }
            | Op::Extend { data: a, domain: b }
            | Op::FaceReduce { first: a, second: b, .. }
            | Op::Interpolate { table: a, argument: b }
            | Op::Broadcast { value: a, domain: b } => {
                $f(a);
                $f(b);
            }
            Op::Select { condition, if_true, if_false } => {
                $f(condition);
                $f(if_true);
                $f(if_false);
            }
            Op::Vector(values) | Op::Call { args: values, .. } => values.$iter().for_each($f),
            Op::Newton { captures, guesses, equations, .. } => {
                guesses.$iter().for_each(&mut $f);
                captures.$iter().flatten().for_each(&mut $f);
                equations.$iter().for_each(|e| e.args.$iter().for_each(&mut $f));
            }
        }
    };
}

impl Op {
    /// The entities that it gives, if its result is of entities.
    pub fn entity_source(&self) -> EntitySource {
        match *self {
            Op::FirstCell(faces) => EntitySource::First(faces),
            Op::SecondCell(faces) => EntitySource::Second(faces),
            Op::Shift { cells, by, beyond } => EntitySource::Shift { cells, by, beyond },
            Op::OneCell(faces) => EntitySource::Same(faces),
            Op::On { data, target } => EntitySource::On { data, target },
            Op::Select { condition, if_true, if_false } => EntitySource::Select { condition, if_true, if_false },
            Op::Extend { data, .. } => EntitySource::Extend(data),
            Op::CanonicalSet(_)
            | Op::InputDomain { .. }
            | Op::Where { .. }
            | Op::Load(_)
            | Op::Broadcast { .. }
            | Op::Call { .. }
            | Op::Newton { .. } => EntitySource::Stored,
            Op::Real(_)
            | Op::Bool(_)
            | Op::Text(_)
            | Op::TextIndex(..)
            | Op::Unary(..)
            | Op::Arithmetic(..)
            | Op::Compare(..)
            | Op::Logic(..)
            | Op::Dot(..)
            | Op::Component(..)
            | Op::Vector(_)
            | Op::Math(..)
            | Op::IsEmpty(_)
            | Op::CellFact { .. }
            | Op::GridNumber(_)
            | Op::Centroid(_)
            | Op::Normal(_)
            | Op::FaceGap(_)
            | Op::FaceTransmissibility(_)
            | Op::Measure(_)
            | Op::Gradient(_)
            | Op::Divergence(_)
            | Op::FaceReduce { .. }
            | Op::Reduce(..)
            | Op::Exchange { .. }
            | Op::InputScalar { .. }
            | Op::InputCollection { .. }
            | Op::InputSequence { .. }
            | Op::InputTable { .. }
            | Op::InputTable2 { .. }
            | Op::Interpolate { .. }
            | Op::Step(_) => EntitySource::None,
        }
    }

    /// Returns its class.
    pub fn class(&self) -> OpClass {
        match self {
            Op::Real(_) | Op::Bool(_) => OpClass::Literal,
            Op::Text(_) | Op::TextIndex(..) => OpClass::Text,
            Op::CanonicalSet(_) => OpClass::Domain,
            Op::Load(_) => OpClass::Load,
            Op::InputScalar { .. }
            | Op::InputCollection { .. }
            | Op::InputDomain { .. }
            | Op::InputSequence { .. }
            | Op::InputTable { .. }
            | Op::InputTable2 { .. }
            | Op::Where { .. }
            | Op::Step(_) => OpClass::Input,
            Op::FirstCell(_) | Op::SecondCell(_) | Op::IsEmpty(_) | Op::OneCell(_) | Op::Shift { .. } | Op::CellFact { .. } => {
                OpClass::Topology
            }
            Op::Centroid(_) | Op::FaceGap(_) | Op::FaceTransmissibility(_) | Op::Normal(_) | Op::Measure(_) | Op::GridNumber(_) => {
                OpClass::Geometry
            }
            Op::Unary(..)
            | Op::Arithmetic(..)
            | Op::Compare(..)
            | Op::Logic(..)
            | Op::Select { .. }
            | Op::Dot(..)
            | Op::Component(..)
            | Op::Vector(_)
            | Op::Math(..)
            | Op::Interpolate { .. } => OpClass::Pointwise,
            Op::On { .. } | Op::Extend { .. } | Op::Broadcast { .. } => OpClass::Transfer,
            Op::Gradient(_) | Op::Divergence(_) | Op::FaceReduce { .. } => OpClass::FiniteVolume,
            Op::Reduce(..) => OpClass::Reduction,
            Op::Call { .. } => OpClass::Call,
            Op::Newton { .. } => OpClass::Solve,
            Op::Exchange { .. } => OpClass::Exchange,
        }
    }

    /// Values it reads, in order.
    pub fn operands(&self) -> Vec<ValueId> {
        let mut operands = Vec::new();
        let mut add = |v: &ValueId| operands.push(*v);
        for_each_operand!(self, iter, add);
        operands
    }

    /// The same operation on other values.
    #[must_use]
    pub fn map_operands(&self, mut f: impl FnMut(ValueId) -> ValueId) -> Op {
        let mut op = self.clone();
        let mut change = |v: &mut ValueId| *v = f(*v);
        for_each_operand!(&mut op, iter_mut, change);
        op
    }

    /// Functions that it runs.
    pub fn functions(&self) -> &[FunctionId] {
        if let Op::Call { function, .. } = self {
            return std::slice::from_ref(function);
        }
        if let Op::Newton { residuals, .. } = self { residuals } else { &[] }
    }

    /// Kernels that it runs.
    pub fn equations(&self) -> &[Equation] {
        if let Op::Newton { equations, .. } = self { equations } else { &[] }
    }
}
