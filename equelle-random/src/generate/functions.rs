//! Functions of the program, and calls of them.

use super::{Content, Function, GENERIC, Generator, Purpose, Want, line, type_text};
use crate::bounds::Bounds;
use crate::data::kind;
use crate::tree::{Basic, Info, Kind, Node, Part, Set, Statement, parts};

impl Generator<'_> {
    /// A definition. Smooth functions decide nothing by their arguments, so that they may be called
    /// with what is not exact.
    pub(super) fn function(&mut self, out: &mut Vec<Statement>) {
        let generic = self.chance(40);
        let smooth = self.purpose == Purpose::Derivatives || self.random.bool();
        let name = self.name("f");
        let place = if self.chance(20) { None } else { Some(self.some_set()) };
        let mut params: Vec<(String, Content)> = Vec::new();
        for i in 0..self.random.usize(1..4) {
            let content = self.parameter(if generic { Some(GENERIC) } else { place }, smooth, generic || i == 0);
            params.push((self.name("p"), content));
        }

        let outer = (self.pure, self.base, self.effects);
        let (variables, functions) = (self.variables.len(), self.functions.len());
        self.pure |= smooth;
        self.base = variables;
        self.effects = false;
        self.nesting += 1;
        for (name, content) in &params {
            self.declare(name.clone(), content.clone(), false);
        }
        let mut body = Vec::new();
        for _ in 0..self.random.usize(..3) {
            if generic {
                let (dimension, want) = (self.some_dimension(), self.want());
                let node = self.scalar(Some(GENERIC), dimension, want);
                self.bind_plainly(node, &mut body);
            } else {
                self.statement(&mut body);
            }
        }
        let (dimension, want) = (self.some_dimension(), self.want());
        let on = if generic {
            Some(GENERIC)
        } else if self.chance(60) {
            place
        } else {
            Some(self.some_set())
        };
        let n = if !generic && self.chance(15) { 2 } else { 1 };
        let mut results = Vec::new();
        let mut returned: Vec<Part> = parts![if n == 2 { "-> [" } else { "-> " }];
        for i in 0..n {
            let result = self.scalar(on, dimension, want);
            results.push(Info { domain: false, ..result.info });
            returned.extend(parts![if i == 0 { "" } else { ", " }, result]);
        }
        returned.extend(parts![if n == 2 { "]" } else { "" }]);
        body.push(line(returned));
        self.nesting -= 1;
        self.variables.truncate(variables);
        self.functions.truncate(functions);
        let effects = self.effects;
        (self.pure, self.base, self.effects) = outer;

        let slope = results.iter().map(|info| info.bounds.slope).fold(0.0, f64::max);
        let result = if n == 2 { Content::Array(results) } else { Content::Value(results[0]) };
        let declared = !generic && self.chance(40);
        if declared {
            let types: Vec<String> = params.iter().map(|(name, content)| format!("{name} : {}", type_text(content, self))).collect();
            out.push(line(parts![format!("{name} : Function({}) -> {}", types.join(", "), type_text(&result, self))]));
        }
        let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
        out.push(Statement::Block { head: parts![format!("{name}({}) =", names.join(", "))], body });
        let params = params.into_iter().map(|(_, content)| content).collect();
        self.functions.push(Function { name, params, result, slope: smooth.then_some(slope), declared, effects });
    }

    /// As [`Generator::bind`], without a type, which a function of any domain cannot name.
    fn bind_plainly(&mut self, node: Node, out: &mut Vec<Statement>) {
        let name = self.name("x");
        let content = Content::Value(node.info);
        out.push(line(parts![name.clone(), " = ", node]));
        self.declare(name, content, false);
    }

    fn parameter(&mut self, place: Option<Set>, smooth: bool, number: bool) -> Content {
        let (lo, hi) = self.pick(&[(0.5, 2.0), (-1.0, 1.0), (0.0, 4.0), (-8.0, 8.0)]).unwrap_or((-1.0, 1.0));
        let bounds = Bounds { slope: if smooth { 1.0 } else { 0.0 }, ..Bounds::new(lo, hi) };
        let info = Info::scalar(place, self.some_dimension(), bounds);
        if number {
            return Content::Value(info);
        }
        match (self.random.u8(..10), place) {
            (0, Some(_)) => Content::Value(Info { basic: Basic::Vector, ..info }),
            (1, _) => Content::Value(Info::truth(place, &[])),
            (2, Some(set)) if kind(set.0) == Kind::Face => Content::Value(Info::entities(Kind::Cell, set, Set(0), false)),
            (3, _) => Content::Array(vec![info, info]),
            (4, _) => Content::Value(Info { on: None, ..info }),
            (_, _) => Content::Value(info),
        }
    }

    /// A call with arguments that fit.
    pub(super) fn call(&mut self, function: &Function, on: Option<Set>, want: Want) -> Option<Node> {
        let mut parts: Vec<Part> = parts![format!("{}(", function.name)];
        let (mut slope, mut error) = (0.0_f64, 0.0_f64);
        for (i, param) in function.params.iter().enumerate() {
            // A declared collection may be given one value.
            let single = function.declared && self.chance(25);
            let argument = match param {
                Content::Value(info) if single && !matches!(info.basic, Basic::Entity(_)) => {
                    self.argument(&Content::Value(Info { on: None, ..*info }), on, want)?
                }
                param => self.argument(param, on, want)?,
            };
            for info in &argument.1 {
                slope = slope.max(info.bounds.slope);
                error = error.max(info.bounds.error);
            }
            parts.extend(parts![if i == 0 { "" } else { ", " }]);
            parts.extend(argument.0);
        }
        if function.slope.is_none() && (slope > 0.0 || error > 0.0) {
            return None;
        }
        self.effects |= function.effects;
        let (mut info, index) = match &function.result {
            Content::Value(info) => (*info, None),
            Content::Array(infos) => {
                let i = self.random.usize(..infos.len());
                (infos[i], Some(i))
            }
            Content::Sequence(_) => return None,
        };
        let factor = function.slope.unwrap_or(0.0);
        // At least a trace of the unknown, also where its contribution is zero.
        let trace = if slope > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
        info.bounds = Bounds { slope: (factor * slope).max(trace), error: info.bounds.error + factor * error, ..info.bounds };
        info.on = if info.on == Some(GENERIC) { on } else { info.on };
        let end = index.map_or_else(|| ")".to_owned(), |i| format!(")[{i}]"));
        parts.extend(parts![end]);
        Some(Node { info, parts })
    }

    /// How an argument is written, and what its parts are.
    fn argument(&mut self, param: &Content, on: Option<Set>, want: Want) -> Option<(Vec<Part>, Vec<Info>)> {
        match param {
            Content::Sequence(_) => None,
            Content::Value(info) => {
                let node = self.value_argument(info, on, want)?;
                let info = node.info;
                Some((parts![node], vec![info]))
            }
            Content::Array(infos) => {
                let (mut parts, mut found) = (parts!["["], Vec::new());
                for (i, info) in infos.iter().enumerate() {
                    let node = self.value_argument(info, on, want)?;
                    found.push(node.info);
                    parts.extend(parts![if i == 0 { "" } else { ", " }, node]);
                }
                parts.extend(parts!["]"]);
                Some((parts, found))
            }
        }
    }

    fn value_argument(&mut self, info: &Info, on: Option<Set>, want: Want) -> Option<Node> {
        let on = if info.on == Some(GENERIC) { on } else { info.on };
        Some(match info.basic {
            Basic::Scalar => {
                let node = self.scalar(on, info.dimension, want);
                self.fitted(node, info.bounds.lo, info.bounds.hi)
            }
            // Only functions of any domain take Vectors or Bools of any.
            Basic::Vector => {
                let node = self.vector(on, info.dimension, want);
                let bound = info.bounds.lo.abs().min(info.bounds.hi.abs());
                // An interval that does not hold zero in its middle is hard to meet.
                if bound == 0.0 || info.bounds.lo > 0.0 {
                    return None;
                }
                let factor = (bound / node.info.bounds.magnitude()).log2().floor().exp2().min(1.0);
                self.times_number(factor, node)
            }
            Basic::Bool => self.truth(on, want.exact()),
            Basic::Entity(kind) => {
                let node = self.full(kind, on?, want.exact());
                // A domain has a type of its own, which a declared parameter takes all the same.
                node
            }
        })
    }
}
