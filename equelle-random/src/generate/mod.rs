//! The generator: programs that are well-typed by construction, whose numbers stay finite on every
//! grid of [`crate::data`].
//!
//! Every expression carries its type and [`Bounds`]. What divides, has a root or a logarithm taken
//! is made positive by its bounds; what grows is scaled down. What depends on the solution of a
//! nonlinear equation is known up to round-off only, so it decides nothing: no comparison looks at
//! it.
//!
//! Two of five programs may fail ([`Generator::fault`]): they ask for data at entities that may be
//! Empty, read sets and sequences without elements, and reduce what may be on none. Outputs stand
//! everywhere between, so that where a run ends shows.
//!
//! [`scalars`], [`vectors`], [`truth`] and [`entities`] make expressions of a wanted type,
//! [`statements`], [`loops`] and [`functions`] what stands around them, [`newton`] residuals,
//! [`stencils`] reads of neighbours by index.

mod entities;
mod functions;
mod loops;
mod newton;
mod scalars;
mod statements;
mod stencils;
mod truth;
mod vectors;

use fastrand::Rng;

use self::stencils::{Beyond, Structure};
use crate::bounds::Bounds;
use crate::data::{CANONICAL, GridRanges, SUBSETS, SUBSETS_WITH_ELEMENTS, kind};
use crate::tree::{Basic, Dimension, Grids, Info, Kind, Node, PURE, Part, Program, Set, Statement, parts};

/// Purpose of generated programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be run: everything of the language, equations that Newton's method solves.
    Run,
    /// To have residuals differentiated: they may choose by the unknowns, and need not be solvable.
    Derivatives,
}

/// Makes a program. The same seed gives the same program.
pub fn program(seed: u64, purpose: Purpose, ranges: &GridRanges) -> Program {
    let mut generator = Generator::new(seed, purpose, ranges);
    let statements = match purpose {
        Purpose::Run => generator.whole(),
        Purpose::Derivatives => generator.derivatives(),
    };
    Program {
        seed,
        statements,
        units: generator.units,
        grids: generator.grids,
        errors: generator.errors,
        residuals: generator.residuals,
        may_fail: generator.faults.is_some(),
    }
}

/// Numbers stay below.
const LARGE: f64 = 1024.0;
/// Divisors stay above.
const SMALL: f64 = 0.0625;

/// Stands for the domain of the arguments of a function that works on any.
const GENERIC: Set = Set(usize::MAX);

/// Requirements on an expression besides its type.
#[derive(Clone, Copy)]
struct Want {
    /// Remaining depth.
    depth: u32,
    /// True if it decides something.
    exact: bool,
}

impl Want {
    fn deeper(self) -> Want {
        Want { depth: self.depth.saturating_sub(1), ..self }
    }

    fn exact(self) -> Want {
        Want { exact: true, depth: self.depth.saturating_sub(1) }
    }

    fn leaf(self) -> Want {
        Want { depth: 0, ..self }
    }

    fn allows(self, bounds: Bounds) -> bool {
        !self.exact || bounds.exact()
    }
}

#[derive(Clone, Debug)]
enum Content {
    Value(Info),
    Array(Vec<Info>),
    /// Numbers within these bounds.
    Sequence(Info),
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    content: Content,
    mutable: bool,
    /// Its values beyond the grid, if it may be read there.
    beyond: Option<Beyond>,
}

/// A function that can be called.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    params: Vec<Content>,
    result: Content,
    /// Factor by which it magnifies differences of its arguments; `None` if it decides something by
    /// them.
    slope: Option<f64>,
    /// True if its parameters have types.
    declared: bool,
    /// True if it writes variables or output.
    effects: bool,
}

/// Percentage of programs that may fail.
const MAY_FAIL: u32 = 40;

struct Generator<'f> {
    random: Rng,
    /// Decides what fails, in programs that may. It has a stream of its own: others are what they
    /// would be without it.
    faults: Option<Rng>,
    /// Decides which kind a loop is, with a stream of its own too.
    loops: Rng,
    /// Decides between what is said in the same place, with a stream of its own too.
    words: Rng,
    /// Structure of programs that read neighbours by index.
    structure: Option<Structure>,
    purpose: Purpose,
    ranges: &'f GridRanges,
    units: bool,
    grids: Grids,
    /// Names of each domain beside its own, for domains of users at least one once they have been
    /// read.
    aliases: Vec<Vec<String>>,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    names: usize,
    errors: Vec<(String, f64)>,
    residuals: Vec<Bounds>,
    /// No effects here: inside a residual, or where a function must have none.
    pure: bool,
    /// True if a loop takes its steps by the library.
    next_step: bool,
    /// Number of open loops and functions.
    nesting: usize,
    /// Variables from here on are those of the function that is being written.
    base: usize,
    /// True if effects were generated, reset where a function begins.
    effects: bool,
}

impl<'f> Generator<'f> {
    fn new(seed: u64, purpose: Purpose, ranges: &'f GridRanges) -> Self {
        let mut random = Rng::with_seed(seed);
        let units = random.bool();
        let mut grids = match random.u8(..10) {
            0..4 => Grids::Plane,
            4..6 => Grids::Space,
            _ => Grids::Any,
        };
        let structure = Structure::from_seed(seed, purpose);
        if let Some(structure) = &structure {
            grids = Grids::Structured(structure.axes);
        }
        let mut faults = Rng::with_seed(seed ^ 0x6661_756c_7473);
        let may_fail = purpose == Purpose::Run && faults.u32(..100) < MAY_FAIL;
        Generator {
            random,
            faults: may_fail.then_some(faults),
            loops: Rng::with_seed(seed ^ 0x006c_6f6f_7073),
            words: Rng::with_seed(seed ^ 0x0077_6f72_6473),
            structure,
            purpose,
            ranges,
            units,
            grids,
            aliases: vec![Vec::new(); CANONICAL.len() + SUBSETS.len()],
            variables: Vec::new(),
            functions: Vec::new(),
            names: 0,
            errors: Vec::new(),
            residuals: Vec::new(),
            pure: false,
            next_step: false,
            nesting: 0,
            base: 0,
            effects: false,
        }
    }

    /// A name that nothing has yet.
    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// True if something that may fail is to be here, which is never so in most programs.
    fn fault(&mut self, percent: u32) -> bool {
        self.faults.as_mut().is_some_and(|faults| faults.u32(..100) < percent)
    }

    /// One of a list, the first `usual` of which every program may have.
    fn pick_usual<T: Clone>(&mut self, from: &[T], usual: usize) -> (usize, T) {
        let n = if self.faults.is_some() { from.len() } else { usual };
        let i = self.random.usize(..n);
        (i, from[i].clone())
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(..100) < percent
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.random.usize(..from.len())].clone())
    }

    /// True if one set is known to lie in another.
    fn lies_in(&self, inner: Set, outer: Set) -> bool {
        inner == outer || parent(inner).is_some_and(|parent| self.lies_in(parent, outer))
    }

    /// True if a set can be named.
    fn known(&self, set: Set) -> bool {
        set.0 < CANONICAL.len() || self.aliases.get(set.0).is_some_and(|names| !names.is_empty())
    }

    /// A domain as it is written.
    fn set_text(&mut self, set: Set) -> String {
        let aliases = self.aliases[set.0].clone();
        match self.pick(&aliases) {
            Some(alias) if set.0 >= CANONICAL.len() || self.chance(60) => alias,
            Some(_) | None => CANONICAL[set.0].0.to_owned(),
        }
    }

    /// A domain as an expression.
    fn domain(&mut self, set: Set) -> Node {
        let info = Info { domain: true, ..Info::entities(kind(set.0), set, set, false) };
        Node { info, parts: parts![self.set_text(set)] }
    }

    /// A set that can be named: cells and faces more often than others.
    fn some_set(&mut self) -> Set {
        loop {
            let set = match self.random.u8(..10) {
                0..4 => Set(0),
                4 => Set(4),
                5 => Set(5),
                6 => Set(self.random.usize(..6)),
                _ => {
                    let unusual = if self.faults.is_some() { 0 } else { SUBSETS.len() - SUBSETS_WITH_ELEMENTS };
                    Set(self.random.usize(..self.aliases.len() - unusual))
                }
            };
            if self.known(set) {
                return set;
            }
        }
    }

    /// Sets that can be named and satisfy a condition.
    fn sets(&self, wanted: impl Fn(&Self, Set) -> bool) -> Vec<Set> {
        (0..self.aliases.len()).map(Set).filter(|&set| self.known(set) && wanted(self, set)).collect()
    }

    /// Names of variables, with their types, that a condition selects.
    fn readable(&self, wanted: impl Fn(&Info) -> bool) -> Vec<Node> {
        let mut found = Vec::new();
        // Rules beyond the grid must not reach mutable variables and results of functions.
        for variable in self.variables.iter().filter(|v| v.beyond.as_ref().is_none_or(|beyond| beyond.is_periodic)) {
            match &variable.content {
                Content::Value(info) if wanted(info) => found.push(Node { info: *info, parts: parts![variable.name.clone()] }),
                Content::Array(infos) => {
                    for (i, info) in infos.iter().enumerate().filter(|(_, info)| wanted(info)) {
                        found.push(Node { info: *info, parts: parts![format!("{}[{i}]", variable.name)] });
                    }
                }
                Content::Value(_) | Content::Sequence(_) => {}
            }
        }
        found
    }

    /// A variable that a condition selects, later ones more often.
    fn variable(&mut self, wanted: impl Fn(&Info) -> bool) -> Option<Node> {
        let found = self.readable(wanted);
        let n = found.len();
        if n == 0 {
            return None;
        }
        let late = self.random.bool();
        let from = if late { n - n.div_ceil(3) } else { 0 };
        self.pick(&found[from..])
    }

    /// A small dimension, or none.
    fn some_dimension(&mut self) -> Dimension {
        if !self.units || self.chance(60) {
            return PURE;
        }
        self.pick(&[[1, 0], [2, 0], [0, 1], [1, -1], [0, -1], [-1, 0], [3, 0], [2, -1]]).unwrap_or(PURE)
    }

    fn dimension(&self, length: i32) -> Dimension {
        if self.units { [length, 0] } else { PURE }
    }

    /// A number as a literal, with its unit.
    fn literal(&mut self, value: f64, dimension: Dimension) -> Node {
        let number = if value.fract() == 0.0 && value.abs() < 1e6 { format!("{}", value.abs()) } else { format!("{:?}", value.abs()) };
        let mut text = match unit(dimension) {
            Some(unit) => format!("{number} [{unit}]"),
            None => number,
        };
        if value < 0.0 {
            text = format!("(-{text})");
        }
        Node { info: Info::scalar(None, dimension, Bounds::number(value)), parts: parts![text] }
    }

    /// A number from a short list, so that equal ones meet.
    fn some_number(&mut self) -> f64 {
        self.pick(&[0.0, 1.0, 2.0, 0.5, 0.25, 3.0, 0.1, 0.7, 1.5, -1.0, -0.5, 10.0, 0.3]).unwrap_or(1.0)
    }

    /// The number spread over the domain, or as it is.
    fn broadcast(&mut self, number: Node, on: Option<Set>) -> Node {
        match on {
            None => number,
            Some(set) => {
                let info = Info { on: Some(set), ..number.info };
                let domain = self.domain(set);
                Node { info, parts: parts!["(", number, " Extend ", domain, ")"] }
            }
        }
    }

    /// A number that meets a collection: as it is, or spread.
    fn beside(&mut self, number: Node, on: Option<Set>) -> Node {
        if self.random.bool() { number } else { self.broadcast(number, on) }
    }

    /// The same numbers in another dimension.
    fn in_dimension(&mut self, node: Node, dimension: Dimension) -> Node {
        let found = node.info.dimension;
        if found == dimension {
            return node;
        }
        let one = self.literal(1.0, [dimension[0] - found[0], dimension[1] - found[1]]);
        let info = Info { dimension, ..node.info };
        Node { info, parts: parts!["(", node, " * ", one, ")"] }
    }

    /// The same, scaled down if it may be large.
    fn tame(&mut self, node: Node) -> Node {
        let magnitude = node.info.bounds.magnitude();
        if magnitude <= LARGE {
            return node;
        }
        let factor = (-(magnitude / LARGE).log2().ceil()).exp2();
        self.times_number(factor, node)
    }

    fn times_number(&mut self, factor: f64, node: Node) -> Node {
        let info = Info { bounds: node.info.bounds.scaled(factor), ..node.info };
        let number = self.literal(factor, PURE);
        Node { info, parts: parts!["(", number, " * ", node, ")"] }
    }

    /// An expression of a type.
    fn expression(&mut self, basic: Basic, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        match (basic, on) {
            (Basic::Scalar, _) => self.scalar(on, dimension, want),
            (Basic::Vector, _) => self.vector(on, dimension, want),
            (Basic::Bool, _) => self.truth(on, want),
            (Basic::Entity(kind), Some(set)) => self.entities(kind, set, want),
            (Basic::Entity(_), None) => unreachable!("entities come in collections only"),
        }
    }
}

/// True if a set has no element on any grid.
fn has_nothing(set: Set) -> bool {
    set.0 != GENERIC.0 && set.0 >= CANONICAL.len() + SUBSETS_WITH_ELEMENTS
}

/// The set that a set is known to lie in.
fn parent(set: Set) -> Option<Set> {
    match SUBSETS.get(set.0.wrapping_sub(CANONICAL.len())) {
        Some(&(_, parent)) => Some(Set(parent)),
        None if set.0 < CANONICAL.len() => (!set.0.is_multiple_of(3)).then(|| Set(set.0 - set.0 % 3)),
        None => None,
    }
}

/// All entities of a kind.
fn all_of(kind: Kind) -> Set {
    Set(3 * Kind::ALL.iter().position(|&k| k == kind).unwrap_or(0))
}

fn unit(dimension: Dimension) -> Option<String> {
    let power = |name: &str, n: i32| if n == 1 { name.to_owned() } else { format!("{name}^{n}") };
    match dimension {
        [0, 0] => None,
        [l, 0] => Some(power("Meter", l)),
        [0, t] => Some(power("Second", t)),
        [l, -1] => Some(format!("{}/Second", power("Meter", l))),
        [l, t] => Some(format!("{}*{}", power("Meter", l), power("Second", t))),
    }
}

/// A type as it is written in a declaration.
fn type_text(content: &Content, generator: &mut Generator) -> String {
    match content {
        Content::Value(Info { basic, on: None, .. }) => basic.name().to_owned(),
        Content::Value(Info { basic, on: Some(set), .. }) => {
            format!("Collection Of {} On {}", basic.name(), generator.set_text(*set))
        }
        Content::Sequence(_) => "Sequence Of Scalar".to_owned(),
        Content::Array(infos) => {
            let first = infos.first().copied().map(Content::Value);
            let alike = infos.windows(2).all(|pair| pair[0].on == pair[1].on);
            let element = match first {
                Some(Content::Value(info)) if !alike => format!("Collection Of {}", info.basic.name()),
                Some(content) => type_text(&content, generator),
                None => String::new(),
            };
            format!("Array Of {} {element}", infos.len())
        }
    }
}

/// Line statements are built in one place.
fn line(parts: Vec<Part>) -> Statement {
    Statement::Line(parts)
}
