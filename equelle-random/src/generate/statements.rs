//! Statements: inputs, variables, outputs.

use super::{Content, Generator, LARGE, Variable, Want, has_nothing, line, type_text};
use crate::bounds::Bounds;
use crate::data::{
    BOOLS, CANONICAL, COLLECTIONS, SCALARS, SEQUENCES, SEQUENCES_WITH_ELEMENTS, SUBSETS, SUBSETS_WITH_ELEMENTS, VECTORS, key, kind,
};
use crate::tree::{Basic, Info, Kind, Node, PURE, Part, Set, Statement, parts};

impl Generator<'_> {
    /// A whole program.
    pub(super) fn whole(&mut self) -> Vec<Statement> {
        let mut statements = self.stencil_head();
        for _ in 0..self.random.usize(2..6) {
            self.input(&mut statements);
        }
        for _ in 0..self.random.usize(3..14) {
            self.statement(&mut statements);
        }
        self.outputs(&mut statements);
        if self.next_step {
            statements.insert(0, line(parts!["Import \"equelle:time\" (next_step)"]));
        }
        statements
    }

    /// A variable whose value may be an error; perhaps nobody reads it.
    fn failing(&mut self, out: &mut Vec<Statement>) {
        let want = if self.pure { self.want().exact() } else { self.want() };
        let nothing = self.sets(|_, set| has_nothing(set) || set == Set(1));
        // Subsets of `AllFaces()` may have faces with two cells.
        let mixed =
            self.sets(|g, set| kind(set.0) == Kind::Face && set.0 >= CANONICAL.len() && !g.lies_in(set, Set(4)) && !g.lies_in(set, Set(5)));
        let side = if self.random.bool() { "FirstCell(" } else { "SecondCell(" };
        if let Some(faces) = self.pick(&mixed)
            && self.chance(70)
        {
            let (data, place) = (self.scalar(Some(Set(0)), PURE, want), self.domain(faces));
            let info = Info::scalar(Some(faces), PURE, data.info.bounds);
            return self.bind("z", Node { info, parts: parts!["(", data, " On InnerCell(", place, "))"] }, out);
        }
        let node = match (self.random.u8(..4), self.pick(&nothing)) {
            (0 | 1, Some(set)) => {
                let a = self.scalar(Some(set), PURE, want);
                let name = if self.random.bool() { "MinReduce(" } else { "MaxReduce(" };
                Node { info: Info::scalar(None, PURE, a.info.bounds), parts: parts![name, a, ")"] }
            }
            (2, _) => {
                let faces = self.domain(Set(5));
                let (lo, hi) = self.ranges.measures[0];
                let bounds = Bounds::new(lo, hi);
                let volume = Node { info: Info::scalar(Some(Set(5)), self.dimension(3), bounds), parts: parts!["|", side, faces, ")|"] };
                self.in_dimension(volume, PURE)
            }
            (_, _) => {
                let (data, faces) = (self.scalar(Some(Set(0)), PURE, want), self.domain(Set(5)));
                let info = Info::scalar(Some(Set(5)), PURE, data.info.bounds);
                Node { info, parts: parts!["(", data, " On ", side, faces, "))"] }
            }
        };
        self.bind("z", node, out);
    }

    /// One statement, with what it needs before it.
    pub(super) fn statement(&mut self, out: &mut Vec<Statement>) {
        // Outputs show where a run has ended.
        if !self.pure && self.fault(25) {
            self.output(out);
        }
        if self.fault(8) {
            self.failing(out);
        }
        if self.structure.is_some() && self.chance(35) {
            return self.stencil_statement(out);
        }
        let top = self.nesting == 0;
        match self.random.u8(..100) {
            0..12 if top => self.input(out),
            12..48 => self.variable_statement(out),
            48..58 => self.mutable(out),
            58..68 => self.assignment(out),
            68..76 if self.nesting < 2 => self.repeated(out),
            76..84 if self.nesting < 2 => self.function(out),
            84..88 if !self.pure && top => self.solve(out),
            88..93 => self.array(out),
            _ if !self.pure => self.output(out),
            _ => self.variable_statement(out),
        }
    }

    pub(super) fn declare(&mut self, name: String, content: Content, mutable: bool) {
        self.variables.push(Variable { name, content, mutable, beyond: None });
    }

    /// Reads something; domains of users come into being here only, so that everything after can
    /// name them.
    pub(super) fn input(&mut self, out: &mut Vec<Statement>) {
        match self.random.u8(..12) {
            0..5 => {
                let set = self.some_set();
                self.input_collection(set, out);
            }
            5 | 6 => {
                let (key, given) = self.pick(&SCALARS).unwrap_or(SCALARS[0]);
                let default = self.pick(&[0.5, 1.0, 1.25]).unwrap_or(1.0);
                let dimension = self.some_dimension();
                let value = given.unwrap_or(default);
                let read = Node {
                    info: Info::scalar(None, PURE, Bounds::number(value)),
                    parts: parts![format!("InputScalarWithDefault(\"{key}\", {default:?})")],
                };
                let node = self.in_dimension(read, dimension);
                self.bind("k", node, out);
            }
            7..10 => {
                let (mut subset, _) = self.pick_usual(&SUBSETS, SUBSETS_WITH_ELEMENTS);
                if self.fault(60) {
                    subset = SUBSETS_WITH_ELEMENTS + subset % (SUBSETS.len() - SUBSETS_WITH_ELEMENTS);
                }
                let (key, parent) = SUBSETS[subset];
                if !self.known(Set(parent)) {
                    return;
                }
                let set = crate::data::CANONICAL.len() + subset;
                // Read twice it would be two domains.
                if self.known(Set(set)) {
                    return;
                }
                let name = self.name("d");
                let parent = self.domain(Set(parent));
                let declared = if self.chance(20) { format!(" : Collection Of {} Subset Of ", kind(set).name()) } else { String::new() };
                let mut parts = parts![name.clone()];
                if !declared.is_empty() {
                    parts.extend(parts![declared, parent.clone()]);
                }
                if self.chance(30) {
                    let read = self.name("f");
                    out.push(line(parts![read.clone(), format!(" = InputDomainSubsetOf(\"{key}\", "), parent.clone(), ")"]));
                    let condition = self.condition(&read, &parent);
                    parts.extend(parts![" = Where(", parent, ", ", condition, ")"]);
                } else {
                    parts.extend(parts![format!(" = InputDomainSubsetOf(\"{key}\", "), parent, ")"]);
                }
                out.push(line(parts));
                self.aliases[set].push(name);
                if self.random.bool() {
                    self.input_collection(Set(set), out);
                }
            }
            10 => {
                let set = self.some_set();
                let name = self.name("e");
                let domain = self.domain(set);
                out.push(line(parts![name.clone(), " = ", domain]));
                self.aliases[set.0].push(name);
            }
            _ => {
                self.sequence(out);
            }
        }
    }

    /// A condition that holds for the entities of a domain in another one: that they are in it, and
    /// facts that always hold of inputs and geometry.
    fn condition(&mut self, domain: &str, within: &Node) -> Node {
        let inside = format!("(1 Extend {domain}) Extend ");
        let parts = match self.random.u8(..4) {
            0 => parts!["(", inside, within.clone(), ") > 0"],
            1 => parts!["0.5 < (", inside, within.clone(), ")"],
            2 => parts!["((", inside, within.clone(), ") > 0) And (|", within.clone(), "| > 0 * |", within.clone(), "|)"],
            _ => parts!["Not ((", inside, within.clone(), ") < 0.5)"],
        };
        Node { info: Info::truth(None, &[]), parts }
    }

    fn input_collection(&mut self, set: Set, out: &mut Vec<Statement>) {
        match self.random.u8(..10) {
            0 => {
                let (prefix, lo, hi) = VECTORS;
                let info = Info::numbers(Basic::Vector, Some(set), PURE, Bounds::new(lo, hi));
                let node = self.read(set, "InputCollectionOfVector", prefix, info);
                let dimension = self.some_dimension();
                let node = self.in_dimension(node, dimension);
                return self.bind(prefix, node, out);
            }
            1 => {
                let node = self.read(set, "InputCollectionOfBool", BOOLS, Info::truth(Some(set), &[]));
                return self.bind(BOOLS, node, out);
            }
            _ => {}
        }
        let (prefix, lo, hi) = self.pick(&COLLECTIONS).unwrap_or(COLLECTIONS[0]);
        let node = self.data(set, prefix, lo, hi);
        let dimension = self.some_dimension();
        let node = self.in_dimension(node, dimension);
        self.bind(prefix, node, out);
    }

    /// Data of a file.
    pub(super) fn data(&mut self, set: Set, prefix: &str, lo: f64, hi: f64) -> Node {
        self.read(set, "InputCollectionOfScalar", prefix, Info::scalar(Some(set), PURE, Bounds::new(lo, hi)))
    }

    fn read(&mut self, set: Set, builtin: &str, prefix: &str, info: Info) -> Node {
        let domain = self.domain(set);
        Node { info, parts: parts![format!("{builtin}(\"{prefix}_{}\", ", key(set.0)), domain, ")"] }
    }

    /// A new variable with this value, perhaps with its type declared.
    pub(super) fn bind(&mut self, stem: &str, node: Node, out: &mut Vec<Statement>) {
        let name = self.name(stem);
        let content = Content::Value(Info { domain: false, ..node.info });
        let mut parts = parts![name.clone()];
        match self.random.u8(..10) {
            0 => parts.extend(parts![" : ", type_text(&content, self)]),
            1 => {
                let declaration = parts![name.clone(), " : ", type_text(&content, self)];
                out.push(line(declaration));
            }
            _ => {}
        }
        parts.extend(parts![" = ", node]);
        out.push(line(parts));
        self.declare(name, content, false);
    }

    /// A sequence to loop over, read or made of one; its name.
    pub(super) fn sequence(&mut self, out: &mut Vec<Statement>) -> (String, Info) {
        let sequences: Vec<(String, Info)> = self
            .variables
            .iter()
            .filter_map(|v| if let Content::Sequence(info) = v.content { Some((v.name.clone(), info)) } else { None })
            .collect();
        let name = self.name("t");
        let (text, info) = match self.pick(&sequences) {
            Some((of, info)) if self.random.bool() => match self.random.u8(..4) {
                0 => (format!("-{of}"), Info { bounds: info.bounds.negative(), ..info }),
                1 => (format!("{of} * 0.5"), Info { bounds: info.bounds.scaled(0.5), ..info }),
                2 => (format!("2 * {of}"), Info { bounds: info.bounds.scaled(2.0), ..info }),
                _ => (format!("{of} / 2"), Info { bounds: info.bounds.scaled(0.5), ..info }),
            },
            Some(_) | None => {
                let (_, (key, values)) = self.pick_usual(&SEQUENCES, SEQUENCES_WITH_ELEMENTS);
                let (lo, hi) = values.iter().fold((f64::INFINITY, 0.0_f64), |(lo, hi), &v| (lo.min(v), hi.max(v)));
                let lo = lo.min(hi);
                let dimension = if self.units && self.random.bool() { [0, 1] } else { PURE };
                let unit = if dimension == PURE { "" } else { " * 1 [Second]" };
                (format!("InputSequenceOfScalar(\"{key}\"){unit}"), Info::scalar(None, dimension, Bounds::new(lo, hi)))
            }
        };
        out.push(line(parts![name.clone(), " = ", text]));
        self.declare(name.clone(), Content::Sequence(info), false);
        (name, info)
    }

    fn depth(&mut self) -> u32 {
        self.random.u32(1..5)
    }

    pub(super) fn want(&mut self) -> Want {
        Want { depth: self.depth(), exact: false }
    }

    fn some_place(&mut self) -> Option<Set> {
        if self.chance(25) { None } else { Some(self.some_set()) }
    }

    fn variable_statement(&mut self, out: &mut Vec<Statement>) {
        let on = self.some_place();
        let want = self.want();
        let dimension = self.some_dimension();
        let (stem, node) = match (self.random.u8(..12), on) {
            (0 | 1, _) if on.is_some() || self.grids.components().is_some() => ("v", self.vector(on, dimension, want)),
            (2 | 3, _) => ("b", self.truth(on, want)),
            (4, Some(set)) => {
                let set = if self.random.bool() && kind(set.0) != Kind::Face { Set(4) } else { set };
                let kind = if kind(set.0) == Kind::Face { Kind::Cell } else { kind(set.0) };
                let full = self.full(kind, set, want);
                if full.info.domain {
                    return;
                }
                ("c", full)
            }
            (_, _) => ("x", self.scalar(on, dimension, want)),
        };
        self.bind(stem, node, out);
    }

    fn array(&mut self, out: &mut Vec<Statement>) {
        let n = self.random.usize(1..4);
        let on = self.some_place();
        let (mut infos, mut parts) = (Vec::new(), Vec::new());
        let basic = self.pick(&[Basic::Scalar, Basic::Scalar, Basic::Bool]).unwrap_or(Basic::Scalar);
        let elsewhere = on.is_some() && self.chance(40);
        for i in 0..n {
            let place = if elsewhere && i > 0 { Some(self.some_set()) } else { on };
            let (dimension, want) = (self.some_dimension(), self.want());
            let node = self.expression(basic, place, dimension, want);
            infos.push(Info { domain: false, ..node.info });
            parts.extend(parts![if i == 0 { "[" } else { ", " }, node]);
        }
        let name = self.name("a");
        let mut whole = parts![name.clone()];
        let content = Content::Array(infos);
        if self.chance(20) {
            whole.extend(parts![" : ", type_text(&content, self)]);
        }
        whole.extend(parts![" = "]);
        whole.extend(parts);
        whole.extend(parts!["]"]);
        out.push(line(whole));
        self.declare(name, content, false);
    }

    /// A mutable variable with its first value. Its bounds are those that all its values keep to.
    pub(super) fn mutable(&mut self, out: &mut Vec<Statement>) {
        let on = self.some_place();
        let (dimension, want) = (self.some_dimension(), self.want());
        let basic = if self.chance(15) { Basic::Bool } else { Basic::Scalar };
        let first = self.expression(basic, on, dimension, want);
        let found = first.info.bounds;
        let bounds =
            Bounds { lo: found.lo.clamp(-LARGE, 0.0), hi: found.hi.clamp(1.0, LARGE), slope: 2.0 * found.slope, error: 2.0 * found.error };
        let content = Content::Value(Info { bounds, domain: false, ..first.info });
        let name = self.name("m");
        if self.random.bool() {
            out.push(line(parts![name.clone(), " : Mutable ", type_text(&content, self), " = ", first]));
        } else {
            out.push(line(parts![name.clone(), " : Mutable ", type_text(&content, self)]));
            out.push(line(parts![name.clone(), " = ", first]));
        }
        self.declare(name, content, true);
    }

    /// A later value of a mutable variable.
    pub(super) fn assignment(&mut self, out: &mut Vec<Statement>) {
        let from = if self.pure { self.base } else { 0 };
        let found: Vec<(usize, String, Info)> = self
            .variables
            .iter()
            .enumerate()
            .skip(from)
            .filter(|(_, v)| v.mutable)
            .filter_map(|(i, v)| if let Content::Value(info) = v.content { Some((i, v.name.clone(), info)) } else { None })
            .collect();
        let Some((index, name, info)) = self.pick(&found) else { return self.variable_statement(out) };
        let want = self.want();
        let mut node = self.expression(info.basic, info.on, info.dimension, want);
        if info.basic == Basic::Scalar {
            node = self.fitted(node, info.bounds.lo, info.bounds.hi);
        }
        let fits = |bounds: Bounds| bounds.slope <= info.bounds.slope && bounds.error <= info.bounds.error;
        if !fits(node.info.bounds) {
            node = self.expression(info.basic, info.on, info.dimension, want.exact());
            if info.basic == Basic::Scalar {
                node = self.fitted(node, info.bounds.lo, info.bounds.hi);
            }
        }
        if !fits(node.info.bounds) {
            return;
        }
        if index < self.base {
            self.effects = true;
        }
        let name = if self.random.bool() { self.by_index(name, &info) } else { name };
        out.push(line(parts![name, " = ", node]));
    }

    fn output(&mut self, out: &mut Vec<Statement>) {
        if self.chance(10) {
            let tag = self.name("text");
            self.effects = true;
            return out.push(line(parts![format!("Output(\"{tag}\", \"some text\")")]));
        }
        let on = self.some_place();
        let (dimension, want) = (self.some_dimension(), self.want());
        let basic = match self.random.u8(..8) {
            0 if on.is_some() || self.grids.components().is_some() => Basic::Vector,
            1 => Basic::Bool,
            _ => Basic::Scalar,
        };
        let node = self.expression(basic, on, dimension, want);
        self.put_out(node, out);
    }

    pub(super) fn put_out(&mut self, node: Node, out: &mut Vec<Statement>) {
        let tag = self.name("y");
        if node.info.bounds.error > 0.0 {
            self.errors.push((tag.clone(), node.info.bounds.error));
        }
        self.effects = true;
        let head: Part = format!("Output(\"{tag}\", ").into();
        out.push(line(parts![head, node, ")"]));
    }

    /// Puts values out: one that is not put out proves nothing.
    fn outputs(&mut self, out: &mut Vec<Statement>) {
        let mut found = self.readable(|info| !info.domain && info.on != Some(super::GENERIC));
        found.retain(|_| self.random.u8(..10) < 7);
        for node in found {
            self.put_out(node, out);
        }
    }
}
