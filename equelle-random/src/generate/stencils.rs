//! Reads of neighbours by index: rules beyond the grid, reads at offsets, functions that take index
//! variables, assignments by index.
//!
//! A variable with rules beyond the grid knows how far it may be read and what bounds such reads
//! have. Rules are applied axis by axis, I first, so that their bounds grow from the last axis to
//! the first. At edges and corners it may be read where what its rules give is known: everywhere
//! for single values and expressions of geometry (`data`), by own rules, or nowhere.

use fastrand::Rng;

use super::{Content, GENERIC, Generator, LARGE, PURE, Purpose, Variable, Want, line};
use crate::bounds::Bounds;
use crate::tree::{Basic, Dimension, Info, Node, Part, Set, Statement, parts};

/// Percentage of programs that read neighbours by index.
const STRUCTURED: u32 = 30;
/// The same, of programs for derivatives.
const STRUCTURED_RESIDUALS: u32 = 20;
/// Names of index variables.
const INDICES: [&str; 3] = ["i", "j", "k"];
/// All cells.
const CELLS: Set = Set(0);
/// The largest width of a cell, the smallest one, and the most cells along an axis.
const WIDTHS: (f64, f64) = (0.25, 0.5);
const EXTENT: f64 = 8.0;

/// Structure of a program that reads neighbours by index.
#[derive(Clone, Debug)]
pub(super) struct Structure {
    /// Axes of its grids.
    pub axes: usize,
    /// The largest offset.
    reach: i32,
    formulas: Vec<Formula>,
}

impl Structure {
    /// The structure that the program of a seed requires of its grid, if any; drawn apart from all
    /// other choices.
    pub fn from_seed(seed: u64, purpose: Purpose) -> Option<Structure> {
        let mut random = Rng::with_seed(seed ^ 0x7374_656e_6369_6c73);
        let share = match purpose {
            Purpose::Run => STRUCTURED,
            Purpose::Derivatives => STRUCTURED_RESIDUALS,
        };
        let chosen = random.u32(..100) < share;
        let reach = match random.u8(..8) {
            0..3 => 1,
            3..7 => 2,
            _ => 3,
        };
        chosen.then(|| Structure { axes: random.usize(1..4), reach, formulas: Vec::new() })
    }
}

/// Values of a variable beyond the grid.
#[derive(Clone, Debug)]
pub(super) struct Beyond {
    /// How far it may be read beyond each side: low and high one of I, then J and K.
    reach: [i32; 6],
    /// True if all of its rules are `Periodic`, which stay with what is computed of it.
    pub is_periodic: bool,
    /// Bounds of the values read.
    bounds: Bounds,
    /// For values of the rules of sides that are not known everywhere: where they may be read.
    given: Vec<(usize, Beyond)>,
}

/// A function of values and index variables: `f(a-1) + 2 * f(b+2)`.
#[derive(Clone, Debug)]
struct Formula {
    name: String,
    /// Index variables that it takes.
    axes: usize,
    /// How far it reads along each, backwards and forwards.
    reach: [(i32, i32); 2],
    /// The sum of the absolute values of its coefficients.
    weight: f64,
    /// True if it divides by the width of cells.
    divides: bool,
}

impl Beyond {
    /// Makes the bounds of a value that may be read at its own cells only.
    pub(super) fn nowhere(bounds: Bounds) -> Beyond {
        Beyond { reach: [0; 6], is_periodic: false, bounds, given: Vec::new() }
    }

    /// True if it may be read at an offset. What a rule gives is read at the cell next to its side,
    /// at the offset along the axes after that.
    fn allows(&self, by: [i32; 3]) -> bool {
        let side = |axis: usize| 2 * axis + usize::from(by[axis] > 0);
        let after = |side: usize| std::array::from_fn(|axis| if axis > side / 2 { by[axis] } else { 0 });
        (0..3).all(|axis| by[axis].abs() <= self.reach[side(axis)] || by[axis] == 0)
            && self.given.iter().all(|(at, given)| by[at / 2] == 0 || side(at / 2) != *at || given.allows(after(*at)))
    }

    /// True if all reads of a function are, if it reads at all corners.
    fn fits(&self, formula: &Formula, axes: &[usize]) -> bool {
        let mut corners = vec![[0; 3]];
        for (&axis, (low, high)) in axes.iter().zip(formula.reach) {
            corners = corners
                .iter()
                .flat_map(|by| {
                    [-low, 0, high].map(|offset| {
                        let mut by = *by;
                        by[axis] = offset;
                        by
                    })
                })
                .collect();
        }
        corners.into_iter().all(|by| self.allows(by))
    }
}

impl Generator<'_> {
    /// Index variables and functions that take them, which stand at the head of the program.
    pub(super) fn stencil_head(&mut self) -> Vec<Statement> {
        let Some(Structure { axes, reach, .. }) = self.structure else { return Vec::new() };
        let builtins = ["StencilI()", "StencilJ()", "StencilK()"];
        let mut out: Vec<Statement> = (0..axes).map(|axis| line(parts![INDICES[axis], " = ", builtins[axis]])).collect();
        out.push(Statement::Block { head: parts!["e0(f, c) ="], body: vec![line(parts!["g = c * f"]), line(parts!["-> g + f"])] });
        for _ in 0..self.random.usize(1..4) {
            let formula = self.formula(axes, reach, &mut out);
            if let Some(structure) = &mut self.structure {
                structure.formulas.push(formula);
            }
        }
        out
    }

    /// The definition of a function that takes index variables.
    fn formula(&mut self, axes: usize, reach: i32, out: &mut Vec<Statement>) -> Formula {
        let name = self.name("s");
        let taken = if axes > 1 && self.random.bool() { 2 } else { 1 };
        let mut formula = Formula { name: name.clone(), axes: taken, reach: [(0, 0); 2], weight: 0.0, divides: self.chance(30) };
        let mut sum: Option<String> = None;
        for _ in 0..self.random.usize(1..5) {
            let mut indices = Vec::new();
            for (axis, param) in ["a", "b"].into_iter().take(taken).enumerate() {
                let by = self.random.i32(-reach..=reach);
                let (low, high) = &mut formula.reach[axis];
                (*low, *high) = ((*low).max(-by), (*high).max(by));
                if by != 0 || self.chance(20) {
                    indices.push(self.index_text(param, by));
                }
            }
            if self.random.bool() {
                indices.reverse();
            }
            let read = if indices.is_empty() { "f".to_owned() } else { format!("f({})", indices.join(", ")) };
            let factor = self.pick(&[1.0, 1.0, 2.0, 0.5, 0.25, 0.7, 3.0]).unwrap_or(1.0);
            formula.weight += factor;
            let term = if factor == 1.0 { read } else { format!("{factor} * {read}") };
            sum = Some(match sum {
                None => term,
                Some(sum) => format!("({sum} {} {term})", if self.random.bool() { "+" } else { "-" }),
            });
        }
        let mut value = sum.unwrap_or_else(|| "f".to_owned());
        if value.starts_with('f') && formula.reach == [(0, 0); 2] {
            // Without the rules beyond the grid, which the result of a call would have.
            value = format!("1 * {value}");
        }
        if formula.divides {
            value = format!("({value}) / Width(a)");
            formula.weight /= WIDTHS.0;
        }
        let params = if taken == 2 { "f, a, b" } else { "f, a" };
        out.push(Statement::Block { head: parts![format!("{name}({params}) =")], body: vec![line(parts![format!("-> {value}")])] });
        formula
    }

    /// `i+1`
    fn index_text(&mut self, name: &str, by: i32) -> String {
        match by {
            0 => name.to_owned(),
            1.. if self.chance(20) => format!("{by} + {name}"),
            1.. => format!("{name}+{by}"),
            _ => format!("{name}-{}", -by),
        }
    }

    /// Something that needs the structure, in programs that have it.
    pub(super) fn some_read(&mut self, basic: Basic, on: Option<Set>, dimension: Dimension, want: Want) -> Option<Node> {
        let Structure { axes, .. } = self.structure.as_ref()?;
        let axes = *axes;
        let suits = on == Some(CELLS) || (on.is_none() && basic == Basic::Scalar);
        if !suits || !self.chance(if on.is_none() { 5 } else { 30 }) {
            return None;
        }
        let axis = self.random.usize(..axes);
        let index = INDICES[axis];
        if on.is_none() {
            let (text, info) = if self.random.bool() {
                (format!("Width({index})"), Info::scalar(None, self.dimension(1), Bounds::new(WIDTHS.0, WIDTHS.1)))
            } else {
                (format!("Extent({index})"), Info::scalar(None, PURE, Bounds::new(1.0, EXTENT)))
            };
            return Some(self.in_dimension(Node { info, parts: parts![text] }, dimension));
        }
        match (basic, self.random.u8(..10)) {
            (Basic::Bool, 0..3) => {
                let named: Vec<&str> = INDICES[..axes].iter().copied().filter(|_| self.random.bool()).collect();
                let named = if named.is_empty() { index.to_owned() } else { named.join(", ") };
                Some(Node { info: Info::truth(on, &[]), parts: parts![format!("Even({named})")] })
            }
            (Basic::Scalar, 0) => {
                let info = Info::scalar(on, PURE, Bounds::new(0.0, EXTENT - 1.0));
                Some(self.in_dimension(Node { info, parts: parts![format!("IndexOf({index})")] }, dimension))
            }
            (Basic::Scalar, 1..5) => self.by_formula(dimension, want),
            (Basic::Scalar | Basic::Bool | Basic::Vector | Basic::Entity(_), _) => self.reads(basic, dimension, want),
        }
        .filter(|node| want.allows(node.info.bounds))
    }

    /// Variables that may be read beyond the grid, with what they are.
    fn with_beyond(&self, wanted: impl Fn(&Info) -> bool) -> Vec<(String, Info, Beyond)> {
        let with = |v: &Variable| match (&v.content, &v.beyond) {
            (Content::Value(info), Some(beyond)) if wanted(info) => Some((v.name.clone(), *info, beyond.clone())),
            _ => None,
        };
        self.variables.iter().filter_map(with).collect()
    }

    /// One or two reads of a variable.
    fn reads(&mut self, basic: Basic, dimension: Dimension, want: Want) -> Option<Node> {
        let units = self.units;
        let found = self.with_beyond(|info| info.basic == basic && (units || info.dimension == PURE));
        let found: Vec<_> = found.into_iter().filter(|(_, _, beyond)| want.allows(beyond.bounds)).collect();
        let (name, info, beyond) = self.pick(&found)?;
        let info = Info { bounds: beyond.bounds, on: Some(CELLS), domain: false, ..info };
        let first = self.one_read(&name, &beyond);
        let node = if basic == Basic::Bool || self.random.bool() {
            Node { info, parts: parts![first] }
        } else {
            let second = if self.random.bool() { name.clone() } else { self.one_read(&name, &beyond) };
            let sum = self.random.bool();
            let bounds = if sum { info.bounds.plus(info.bounds) } else { info.bounds.minus(info.bounds) };
            let operand = |text| Node { info, parts: parts![text] };
            let parts = parts!["(", operand(first), if sum { " + " } else { " - " }, operand(second), ")"];
            Node { info: Info { bounds, ..info }, parts }
        };
        Some(if basic == Basic::Bool { node } else { self.in_dimension(node, dimension) })
    }

    /// `h(i+1, j-2)`, with an offset unless no side has a rule; at edges and corners as often as
    /// what rules give allows it.
    fn one_read(&mut self, name: &str, beyond: &Beyond) -> String {
        let axes = self.structure.as_ref().map_or(1, |structure| structure.axes);
        let sides: Vec<usize> = (0..2 * axes).filter(|&side| beyond.reach[side] > 0).collect();
        let certain = self.pick(&sides);
        let corner = self.chance(40);
        let mut by = [0; 3];
        for axis in 0..axes {
            let (low, high) = (beyond.reach[2 * axis], beyond.reach[2 * axis + 1]);
            by[axis] = match certain {
                Some(side) if side / 2 == axis => {
                    let by = self.random.i32(1..=beyond.reach[side]);
                    if side % 2 == 0 { -by } else { by }
                }
                Some(_) if corner || self.chance(35) => self.random.i32(-low..=high),
                Some(_) | None => 0,
            };
        }
        if !beyond.allows(by)
            && let Some(side) = certain
        {
            let along = by[side / 2];
            by = [0; 3];
            by[side / 2] = along;
        }
        let mut indices = Vec::new();
        for (axis, index) in INDICES.into_iter().enumerate().take(axes) {
            if by[axis] != 0 || self.chance(20) {
                indices.push(self.index_text(index, by[axis]));
            }
        }
        if indices.is_empty() { name.to_owned() + "(i)" } else { format!("{name}({})", indices.join(", ")) }
    }

    /// A call of a function with a variable, or with values whose rules are written there.
    fn by_formula(&mut self, dimension: Dimension, want: Want) -> Option<Node> {
        let structure = self.structure.clone()?;
        let formula = self.pick(&structure.formulas)?;
        let mut axes: Vec<usize> = (0..structure.axes).collect();
        self.random.shuffle(&mut axes);
        axes.truncate(formula.axes);
        let (argument, mut info, beyond) = if self.random.bool() {
            let units = self.units;
            let found = self.with_beyond(|info| info.basic == Basic::Scalar && (units || info.dimension == PURE));
            let (name, info, beyond) = self.pick(&found)?;
            (parts![name], info, beyond)
        } else {
            let rest = self.some_dimension();
            let data = self.scalar(Some(CELLS), rest, want.deeper());
            let info = data.info;
            let (parts, beyond) = self.halo(data, want.deeper());
            (parts, info, beyond)
        };
        if !beyond.fits(&formula, &axes) {
            return None;
        }
        let names: Vec<&str> = axes.iter().map(|&axis| INDICES[axis]).collect();
        let mut parts: Vec<Part> = parts![format!("{}(", formula.name)];
        parts.extend(argument);
        parts.extend(parts![format!(", {})", names.join(", "))]);
        let magnitude = beyond.bounds.magnitude() * formula.weight;
        let scaled = beyond.bounds.scaled(formula.weight);
        info.bounds = Bounds { lo: -magnitude, hi: magnitude, ..scaled };
        if formula.divides && self.units {
            info.dimension[0] -= 1;
        }
        Some(self.in_dimension(Node { info: Info { on: Some(CELLS), domain: false, ..info }, parts }, dimension))
    }

    /// `Halo(data, rule, ...)`, in parts that must stay together.
    fn halo(&mut self, data: Node, want: Want) -> (Vec<Part>, Beyond) {
        let (axes, reach) = self.structure.as_ref().map_or((1, 1), |structure| (structure.axes, structure.reach));
        let info = data.info;
        let mut beyond = Beyond { is_periodic: true, ..Beyond::nowhere(info.bounds) };
        let mut rules: Vec<Vec<Part>> = Vec::new();
        let mut extrapolates = false;
        if self.chance(25) {
            // One rule for all axes.
            let name = self.pick(&["Periodic", "Periodic", "Mirror", "MirrorAt", "Copy"]).unwrap_or("Periodic");
            beyond.is_periodic = name == "Periodic";
            beyond.reach[..2 * axes].fill(reach);
            rules.push(parts![format!("{name}({})", INDICES[..axes].join(", "))]);
        } else {
            for axis in (0..axes).rev() {
                let index = INDICES[axis];
                if self.chance(35) {
                    beyond.reach[2 * axis..2 * axis + 2].fill(reach);
                    rules.push(parts![format!("Periodic({index})")]);
                    continue;
                }
                let sides: &[(&str, &[usize])] = if self.random.bool() { &[("", &[0, 1])] } else { &[("Low", &[0]), ("High", &[1])] };
                let inside = beyond.bounds;
                for (end, numbers) in sides {
                    if self.chance(10) {
                        continue;
                    }
                    let place = if end.is_empty() { index.to_owned() } else { format!("{end}({index})") };
                    let (rule, outside, given) = self.rule(&place, &info, inside, &mut extrapolates, want);
                    beyond.bounds = beyond.bounds.either(outside);
                    beyond.is_periodic = false;
                    for side in numbers.iter().map(|side| 2 * axis + side) {
                        beyond.reach[side] = reach;
                        beyond.given.extend(given.clone().map(|given| (side, given)));
                    }
                    rules.push(rule);
                }
            }
        }
        if rules.is_empty() {
            beyond.reach[..2].fill(reach);
            rules.push(parts!["Periodic(i)"]);
        }
        if self.random.bool() {
            rules.reverse();
        }
        let mut parts = parts!["Halo(", data];
        for rule in rules {
            parts.extend(parts![", "]);
            parts.extend(rule);
        }
        parts.extend(parts![")"]);
        (parts, beyond)
    }

    /// A rule for one side or both, other than `Periodic`, bounds of what is beyond, and where what
    /// it gives may be read, if that is not everywhere.
    fn rule(
        &mut self,
        place: &str,
        data: &Info,
        inside: Bounds,
        extrapolates: &mut bool,
        want: Want,
    ) -> (Vec<Part>, Bounds, Option<Beyond>) {
        let reach = self.structure.as_ref().map_or(1, |structure| structure.reach);
        let is_number = matches!(data.basic, Basic::Scalar | Basic::Vector);
        match self.random.u8(..if is_number { 12 } else { 4 }) {
            0 => (parts![format!("Mirror({place})")], inside, None),
            1 => (parts![format!("MirrorAt({place})")], inside, None),
            2 => (parts![format!("Copy({place})")], inside, None),
            3 | 4 => {
                let (given, bounds, beyond) = self.given(data, data.dimension, want);
                (rule("Value", place, given), bounds, beyond)
            }
            5 | 6 => {
                let (given, bounds, beyond) = self.given(data, data.dimension, want);
                (rule("AtFace", place, given), bounds.scaled(2.0).minus(inside), beyond)
            }
            7 | 8 => {
                let dimension = if self.units { [data.dimension[0] - 1, data.dimension[1]] } else { PURE };
                let (given, bounds, beyond) = self.given(data, dimension, want);
                let change = bounds.scaled(f64::from(2 * reach - 1) * WIDTHS.1);
                (rule("Slope", place, given), inside.plus(change).either(inside.minus(change)), beyond)
            }
            9 | 10 if !*extrapolates => {
                // Sums of sums where two axes have it: once is enough.
                *extrapolates = true;
                let degree = self.random.u32(..3);
                let weight = (1..=reach).map(|m| weights(f64::from(-m), degree)).fold(0.0, f64::max);
                let magnitude = inside.magnitude() * weight;
                let bounds = Bounds { lo: -magnitude, hi: magnitude, ..inside.scaled(weight) };
                (parts![format!("Polynomial({place}, {degree})")], bounds, None)
            }
            _ => (parts![format!("Negate({place})")], inside.negative(), None),
        }
    }

    /// The value of a rule: one, an expression of geometry, values with rules of their own, or any
    /// on all cells. With bounds of it at every place, and where it may be read if not everywhere.
    fn given(&mut self, data: &Info, dimension: Dimension, want: Want) -> (Vec<Part>, Bounds, Option<Beyond>) {
        let single = data.basic == Basic::Scalar || data.basic == Basic::Bool || self.grids.components().is_some();
        let want = Want { depth: want.depth.min(2), ..want };
        let basic = data.basic;
        let (node, beyond) = match self.random.u8(..10) {
            0..3 if single => (self.expression(basic, None, dimension, want), None),
            3..6 => match self.known_everywhere(basic, dimension) {
                Some(node) => (node, None),
                None => (self.expression(basic, Some(CELLS), dimension, want), Some(())),
            },
            6..9 if want.depth > 0 => {
                let node = self.expression(basic, Some(CELLS), dimension, Want { depth: want.depth - 1, ..want });
                let node = self.tame(node);
                let (parts, beyond) = self.halo(node, Want { depth: want.depth - 1, ..want });
                if beyond.bounds.magnitude() <= LARGE {
                    return (parts, beyond.bounds, Some(beyond));
                }
                (self.expression(basic, Some(CELLS), dimension, want), Some(()))
            }
            _ => (self.expression(basic, Some(CELLS), dimension, want), Some(())),
        };
        let node = self.tame(node);
        let bounds = node.info.bounds;
        (parts![node], bounds, beyond.map(|()| Beyond::nowhere(bounds)))
    }

    /// An expression of geometry, with bounds that hold beyond the sides too.
    fn known_everywhere(&mut self, basic: Basic, dimension: Dimension) -> Option<Node> {
        let Structure { axes, reach, .. } = *self.structure.as_ref()?;
        let outside = f64::from(reach) * WIDTHS.1;
        let (lo, hi) = (self.ranges.position.0 - outside, self.ranges.position.1 + outside);
        let info = |basic, dimension, bounds| Info::numbers(basic, Some(CELLS), dimension, bounds);
        let length = self.dimension(1);
        match basic {
            Basic::Scalar => {}
            Basic::Vector => {
                let bounds = Bounds::new(lo, hi).scaled(0.5);
                let node = Node { info: info(Basic::Vector, length, bounds), parts: parts!["(0.5 * Centroid(AllCells()))"] };
                return Some(self.in_dimension(node, dimension));
            }
            Basic::Bool => {
                let number = self.known_everywhere(Basic::Scalar, PURE)?;
                let limit = self.some_number();
                let limit = self.literal(limit, PURE);
                return Some(Node { info: Info::truth(Some(CELLS), &[]), parts: parts!["(", number, " > ", limit, ")"] });
            }
            Basic::Entity(_) => return None,
        }
        let axis = self.random.usize(..axes);
        let coordinate =
            Node { info: info(Basic::Scalar, length, Bounds::new(lo, hi)), parts: parts![format!("Centroid(AllCells())[{axis}]")] };
        let pure = self.in_dimension(coordinate.clone(), PURE);
        let pure_bounds = pure.info.bounds;
        let scalar = |bounds| info(Basic::Scalar, PURE, bounds);
        let node = match self.random.u8(..8) {
            0 => {
                let cells = Bounds::new(-f64::from(reach), EXTENT - 1.0 + f64::from(reach));
                Node { info: scalar(cells), parts: parts![format!("IndexOf({})", INDICES[axis])] }
            }
            1 => Node { info: scalar(Bounds::new(-1.0, 1.0)), parts: parts!["Sin(", pure, ")"] },
            2 => {
                let parts = parts![format!("(Even({}) ? ", INDICES[axis]), pure, " : 0.5)"];
                Node { info: scalar(pure_bounds.either(Bounds::number(0.5))), parts }
            }
            3 => {
                let size = lo.abs().max(hi.abs()) * (axes as f64).sqrt();
                let length = Node { info: info(Basic::Scalar, length, Bounds::new(0.0, size)), parts: parts!["|Centroid(AllCells())|"] };
                self.in_dimension(length, PURE)
            }
            4 => Node { info: scalar(pure_bounds.times(pure_bounds)), parts: parts!["(", pure.clone(), " * ", pure, ")"] },
            5 => {
                // A function, and a number that may change.
                let factor = self.variable(|info| {
                    info.basic == Basic::Scalar && info.on.is_none() && info.dimension == PURE && !info.domain && info.bounds.exact()
                });
                let factor = factor.filter(|node| node.info.bounds.magnitude() <= 10.0).unwrap_or_else(|| self.literal(0.25, PURE));
                let bounds = pure_bounds.times(factor.info.bounds).plus(pure_bounds);
                Node { info: scalar(bounds), parts: parts!["e0(", pure, ", ", factor, ")"] }
            }
            _ => return Some(self.in_dimension(coordinate, dimension)),
        };
        Some(self.in_dimension(node, dimension))
    }

    /// A statement that programs without structure have not.
    pub(super) fn stencil_statement(&mut self, out: &mut Vec<Statement>) {
        let want = self.want();
        match self.random.u8(..10) {
            0..6 => {
                let basic = self.pick(&[Basic::Scalar, Basic::Scalar, Basic::Scalar, Basic::Scalar, Basic::Vector, Basic::Bool]);
                let dimension = self.some_dimension();
                let data = self.expression(basic.unwrap_or(Basic::Scalar), Some(CELLS), dimension, want);
                // A named value can be read without rules as well.
                let data = if self.random.bool() && !data.info.domain {
                    let info = data.info;
                    self.bind("x", data, out);
                    Node { info, parts: parts![self.variables.last().map(|v| v.name.clone()).unwrap_or_default()] }
                } else {
                    data
                };
                let info = data.info;
                let (parts, beyond) = self.halo(data, want.deeper());
                let name = self.name("h");
                out.push(line([parts![name.clone(), " = "], parts].concat()));
                self.declare(name, Content::Value(Info { domain: false, ..info }), false);
                self.set_beyond(beyond);
            }
            6 | 7 => self.periodic(out),
            8 => {
                // Zero beyond the grid.
                let node = self.scalar(Some(CELLS), PURE, want);
                let found = node.info.bounds;
                let bounds = Bounds { lo: found.lo.clamp(-LARGE, 0.0), hi: found.hi.clamp(1.0, LARGE), ..found };
                let info = Info { bounds, domain: false, ..node.info };
                let name = self.name("z");
                let assigned = self.by_index(name.clone(), &info);
                if assigned == name {
                    return self.bind("x", node, out);
                }
                out.push(line(parts![assigned, " = ", node]));
                self.declare(name, Content::Value(info), true);
                let (axes, reach) = self.structure.as_ref().map_or((1, 1), |structure| (structure.axes, structure.reach));
                let mut beyond = Beyond::nowhere(bounds);
                beyond.reach[..2 * axes].fill(reach);
                self.set_beyond(beyond);
            }
            _ => {
                let dimension = self.some_dimension();
                match self.by_formula(dimension, want) {
                    Some(node) => self.bind("x", node, out),
                    None => self.periodic(out),
                }
            }
        }
    }

    /// The variable that was declared last, an unknown on cells, with rules beyond the grid: so
    /// that residuals of programs for derivatives read neighbours of it.
    pub(super) fn unknown_beyond(&mut self, out: &mut Vec<Statement>) {
        if self.structure.is_none() || self.purpose != Purpose::Derivatives {
            return;
        }
        let Some(Variable { name, content: Content::Value(info), .. }) = self.variables.last() else { return };
        if info.on != Some(CELLS) {
            return;
        }
        let (data, info) = (Node { info: *info, parts: parts![name.clone()] }, *info);
        let want = self.want();
        let (parts, beyond) = self.halo(data, want.deeper());
        let name = self.name("h");
        out.push(line([parts![name.clone(), " = "], parts].concat()));
        self.declare(name, Content::Value(Info { domain: false, ..info }), false);
        self.set_beyond(beyond);
    }

    /// Sets it for the variable that was declared last.
    fn set_beyond(&mut self, beyond: Beyond) {
        if let Some(variable) = self.variables.last_mut() {
            variable.beyond = Some(beyond);
        }
    }

    /// Computes a value from periodic ones, which is periodic too.
    fn periodic(&mut self, out: &mut Vec<Statement>) {
        let found = self.with_beyond(|info| info.basic == Basic::Scalar);
        let found: Vec<_> = found.into_iter().filter(|(_, _, beyond)| beyond.is_periodic).collect();
        let Some((name, info, beyond)) = self.pick(&found) else { return };
        let info = Info { on: Some(CELLS), domain: false, bounds: beyond.bounds, ..info };
        let operand = |text: String| Node { info, parts: parts![text] };
        let first = operand(self.one_read(&name, &beyond));
        let (parts, bounds, dimension) = match self.random.u8(..4) {
            0 => {
                let second = operand(self.one_read(&name, &beyond));
                (parts!["(", first, " - ", second, ")"], info.bounds.minus(info.bounds), info.dimension)
            }
            1 => (parts!["(", operand(name), " * ", first, ")"], info.bounds.times(info.bounds), info.dimension.map(|d| 2 * d)),
            2 => (parts!["(0.5 * ", first, ")"], info.bounds.scaled(0.5), info.dimension),
            _ => (parts!["Abs(", first, ")"], info.bounds.absolute(), info.dimension),
        };
        if bounds.magnitude() > LARGE {
            return;
        }
        self.bind("w", Node { info: Info { bounds, dimension, ..info }, parts }, out);
        self.set_beyond(Beyond { bounds, ..beyond });
    }

    /// The left side of an assignment: `m(i, j)` for numbers on all cells.
    pub(super) fn by_index(&mut self, name: String, info: &Info) -> String {
        let Some(Structure { axes, .. }) = self.structure else { return name };
        if info.on != Some(CELLS) || info.on == Some(GENERIC) {
            return name;
        }
        let n = self.random.usize(1..=axes);
        format!("{name}({})", INDICES[..n].join(", "))
    }
}

/// `AtFace(i, g)`
fn rule(name: &str, place: &str, given: Vec<Part>) -> Vec<Part> {
    [parts![format!("{name}({place}, ")], given, parts![")"]].concat()
}

/// The sum of the absolute values of the weights of a polynomial through 0, 1, ..., at a place.
fn weights(place: f64, degree: u32) -> f64 {
    let nodes = || (0..=degree).map(f64::from);
    let weight = |node: f64| nodes().filter(|&other| other != node).map(|other| (place - other) / (node - other)).product::<f64>();
    nodes().map(|node| weight(node).abs()).sum()
}
