//! Metadata of a generated program.

use std::fmt;
use std::sync::Arc;

use crate::entity::EntityKind;
use crate::io::unit::Dimension;
use crate::source::Source;

/// Metadata of a program: what `program()` of a generated package and the interpreter create.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Name of the program, such as `heat`.
    pub name: Arc<str>,
    /// Its Equelle source, for messages.
    pub source: Source,
    /// Its inputs, in the order of the source.
    pub inputs: Vec<InputInfo>,
    /// Least number of grid dimensions it runs on.
    pub min_dim: usize,
    /// True if the steps of each loop with equations can be repeated in parts, in the order of the
    /// source.
    pub retries: Vec<Retry>,
    /// Its solves of equations, in the order of the source.
    pub solves: Vec<Solve>,
    /// Its outputs but texts, in the order of the source; a tag may have several of other kinds.
    pub outputs: Vec<OutputInfo>,
    /// Units of coordinates and times.
    pub axes: AxisUnits,
    /// Its needs on several ranks.
    pub ranks: RankNeeds,
}

impl Program {
    /// A program without inputs, outputs and equations, of a file `NAME.equelle` without text: what
    /// a caller needs that drives a runtime by itself.
    pub fn named(name: &str) -> Program {
        let source = Source { file: format!("{name}.equelle").into(), ..Source::default() };
        Program { name: name.into(), source, min_dim: 1, ..Program::default() }
    }

    /// The unit of an output collection, where the program divides it by one.
    pub fn output_unit(&self, tag: &str) -> Option<&Arc<str>> {
        self.outputs.iter().find(|output| &*output.tag == tag && output.kind.entities().is_some())?.unit_in_names()
    }
}

/// Needs of a program on several ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RankNeeds {
    /// It has no exchanges, and nobody has looked for them.
    #[default]
    Unknown,
    /// It has the exchanges that it needs.
    Halo(HaloNeeds),
    /// It does not run on several ranks.
    Refused(RankRefusal),
}

/// Needs of a program on several ranks that decide how grids are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HaloNeeds {
    /// Layers of halo cells, 1 at least.
    pub layers: u32,
    /// True for the axes of Cartesian grids along which boxes may be cut.
    pub cuts: [bool; 3],
    /// True for the axes around which the program reads by index.
    pub wraps: [bool; 3],
}

/// A construct that does not run on several ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankRefusal {
    /// The construct: `a read further away than 16 layers of cells`.
    pub construct: Arc<str>,
    /// Its line; 0 if unknown.
    pub line: u32,
}

impl fmt::Display for RankRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program does not run on several ranks: it has {}", self.construct)
    }
}

/// Units of what outputs are drawn over, for people; `None` where the program has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AxisUnits {
    /// Unit of coordinates: `m`.
    pub coordinates: Option<Arc<str>>,
    /// Unit of the lengths of rounds, and of their sum: `s`.
    pub time: Option<Arc<str>>,
}

/// The unit of an output, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputUnit {
    /// The unit by which the program divides it: `Bar`. It is part of names in files.
    Divided(Arc<str>),
    /// The SI unit of the dimension that it has: `m/s`.
    Si(Arc<str>),
}

impl OutputUnit {
    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            OutputUnit::Divided(text) | OutputUnit::Si(text) => text,
        }
    }
}

/// An output of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputInfo {
    /// As given to `Output`.
    pub tag: Arc<str>,
    /// Its kind.
    pub kind: OutputKind,
    /// Its unit; `None` without a dimension.
    pub unit: Option<OutputUnit>,
}

impl OutputInfo {
    /// The unit that is part of names in files: what the program divides by.
    pub fn unit_in_names(&self) -> Option<&Arc<str>> {
        match self.unit.as_ref()? {
            OutputUnit::Divided(unit) => Some(unit),
            OutputUnit::Si(_) => None,
        }
    }
}

/// Kinds of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputKind {
    /// A single Scalar or Bool.
    #[default]
    Number,
    /// A single Vector.
    Vector,
    /// A collection of Scalars, Bools or entities on entities of a kind.
    Numbers(EntityKind),
    /// A collection of Vectors on entities of a kind.
    Vectors(EntityKind),
}

impl OutputKind {
    /// The entities that a collection is on.
    pub fn entities(self) -> Option<EntityKind> {
        match self {
            OutputKind::Number | OutputKind::Vector => None,
            OutputKind::Numbers(entities) | OutputKind::Vectors(entities) => Some(entities),
        }
    }

    /// True if it has a component for each dimension of the grid.
    pub fn is_vector(self) -> bool {
        match self {
            OutputKind::Vector | OutputKind::Vectors(_) => true,
            OutputKind::Number | OutputKind::Numbers(_) => false,
        }
    }
}

/// A solve of equations by Newton's method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Solve {
    /// Equelle line.
    pub line: u32,
    /// Names of its unknowns: the parameters of the first residual.
    pub unknowns: Vec<Arc<str>>,
}

/// An input of a program.
#[derive(Clone, Debug, Default)]
pub struct InputInfo {
    /// Name of the parameter.
    pub name: Arc<str>,
    /// Kind of the input.
    pub kind: InputKind,
    /// The domain of a collection, or the superset of a domain, as written in Equelle; empty for
    /// scalars and sequences.
    pub domain: Arc<str>,
    /// Unit of the values, where the program multiplies them by one.
    pub unit: Option<InputUnit>,
    /// Default of a scalar, as written in Equelle; empty if none.
    pub default: Arc<str>,
    /// Equelle line of the statement.
    pub line: u32,
}

/// The unit that a program takes an input in.
#[derive(Clone, Debug, PartialEq)]
pub struct InputUnit {
    /// For people: `Kelvin`, `2 [Hour]`.
    pub text: Arc<str>,
    /// Value of a 1 in the input, in SI units.
    pub factor: f64,
    /// Its dimension.
    pub dimension: Dimension,
}

/// The columns of a table that a program reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableColumns {
    /// That of the arguments.
    pub argument: TableColumn,
    /// That of the second arguments, in a table of two.
    pub second: Option<Box<TableColumn>>,
    /// That of the values.
    pub value: TableColumn,
}

impl TableColumns {
    /// Names: of the argument, of the second one, of the values.
    pub(crate) fn names(&self) -> (&str, Option<&str>, &str) {
        (&self.argument.name, self.second.as_ref().map(|second| &*second.name), &self.value.name)
    }

    /// For people: ``column `mu` by column `p`, in Bar``.
    pub fn described(&self) -> String {
        let of = |column: &TableColumn| {
            let unit = column.unit.as_ref().map_or_else(String::new, |unit| format!(", in {},", unit.text));
            format!("column `{}`{unit}", column.name)
        };
        let second = self.second.as_ref().map_or_else(String::new, |second| format!(" and {}", of(second)));
        format!("{} by {}{second}", of(&self.value), of(&self.argument)).trim_end_matches(',').to_owned()
    }
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableColumn {
    /// Its name, or its number from 1.
    pub name: Arc<str>,
    /// The unit that the program divides arguments by, or multiplies values by.
    pub unit: Option<InputUnit>,
}

/// Kinds of input.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InputKind {
    /// `InputScalarWithDefault`
    #[default]
    Scalar,
    /// `InputCollectionOfScalar`
    Collection,
    /// `InputCollectionOfVector`
    Vectors,
    /// `InputCollectionOfBool`
    Bools,
    /// `InputDomainSubsetOf`
    Domain,
    /// `InputSequenceOfScalar`
    Sequence,
    /// `InputTable` and `InputTable2`
    Table(TableColumns),
}

impl InputKind {
    /// True if it is one value for each element of a domain.
    pub fn is_collection(&self) -> bool {
        match self {
            InputKind::Collection | InputKind::Vectors | InputKind::Bools => true,
            InputKind::Scalar | InputKind::Domain | InputKind::Sequence | InputKind::Table(_) => false,
        }
    }
}

impl InputInfo {
    /// Its keys, with those that older parameter files give without need.
    pub fn keys(&self) -> Vec<String> {
        self.kind.suffixes().map(|suffix| format!("{}{suffix}", self.name)).collect()
    }

    /// True if a key is one of them. Makes no texts: every parameter asks every input.
    pub fn has_key(&self, key: &str) -> bool {
        key.strip_prefix(&*self.name).is_some_and(|end| self.kind.suffixes().any(|suffix| suffix == end))
    }
}

/// True if the steps of a loop with implicit solves can be repeated in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Equelle line of the loop.
    pub line: u32,
    /// The obstacle, as part of a sentence, and its Equelle line; `None` if the body is a function
    /// of its mutable state and the step.
    pub obstacle: Option<(Arc<str>, u32)>,
}
