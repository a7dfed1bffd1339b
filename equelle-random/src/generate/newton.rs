//! Equations. `a (u - m) + e F(u) - b = 0`, where `a` is at least `a0 > 0`, `F` any expression and
//! `e` a number so small that `e |F'| <= a0/4` and `e |F| <= a0 R/8`, and `|b| <= a0 R/8`, all in
//! the largest row, for `|u - m| <= R`.
//!
//! Newton's method solves these from any guess within `R` of `m`: with `|J^-1| <= 1/(a0 - a0/4)`
//! each iterate stays there, because `u1 - m = J^-1 (e F'(u0) (u0 - m) - e F(u0) + b)` is at most
//! `4/(3 a0) (a0 R/4 + a0 R/8 + a0 R/8) = 2R/3`; and the distance to the solution falls by at least
//! `4/(3 a0) (a0/4 + a0/4) = 2/3` in each iteration, also where `F` has kinks, and quadratically
//! where it has none. Two ways to find derivatives that differ by round-off find solutions that
//! differ by round-off: the system has condition at most `(1 + 1/4)/(1 - 1/4)` times the spread of
//! `a`.

use super::{Content, type_text};
use super::{Generator, PURE, Purpose, Variable, Want, has_nothing, line};
use crate::bounds::Bounds;
use crate::tree::{Dimension, Info, Node, Part, Set, Statement, parts};

/// Solutions found in two ways agree to this fraction of the largest value that an unknown may
/// have: ten iterations of at most ten units in the last place of a system of condition below 10
/// leave 1e-13, and products of the terms of `F` leave less than that again.
const AGREEMENT: f64 = 1e-12;

/// An unknown.
struct Unknown {
    name: String,
    set: Set,
    dimension: Dimension,
    middle: f64,
    radius: f64,
}

impl Unknown {
    fn info(&self, slope: f64, error: f64) -> Info {
        let bounds = Bounds { slope, error, ..Bounds::new(self.middle - self.radius, self.middle + self.radius) };
        Info::scalar(Some(self.set), self.dimension, bounds)
    }
}

impl Generator<'_> {
    /// A program for derivatives: one solve, with what it needs.
    pub(super) fn derivatives(&mut self) -> Vec<Statement> {
        let mut out = self.stencil_head();
        for _ in 0..self.random.usize(2..5) {
            self.input(&mut out);
        }
        self.pure = true;
        for _ in 0..self.random.usize(..3) {
            match self.random.u8(..3) {
                0 => self.function(&mut out),
                _ => self.statement(&mut out),
            }
        }
        self.pure = false;
        self.solve(&mut out);
        out
    }

    /// Residuals, guesses, and the solve.
    pub(super) fn solve(&mut self, out: &mut Vec<Statement>) {
        let n = self.pick(&[1, 1, 1, 2, 2, 3]).unwrap_or(1);
        let mut unknowns: Vec<Unknown> = Vec::new();
        for i in 0..n {
            let set = match self.random.u8(..10) {
                0..6 => Set(0),
                6 | 7 if i > 0 => unknowns[0].set,
                _ => self.some_set(),
            };
            // Equations that are none have no solution.
            let set = if has_nothing(set) { Set(0) } else { set };
            let (middle, radius) = self.pick(&[(2.0, 1.0), (0.0, 1.0), (4.0, 2.0), (0.0, 4.0)]).unwrap_or((2.0, 1.0));
            unknowns.push(Unknown { name: String::new(), set, dimension: self.some_dimension(), middle, radius });
        }
        // Terms of the equations besides the unknowns; exact or not.
        let right: Vec<Node> = unknowns.iter().map(|unknown| self.right_side(unknown, out)).collect();
        let mut names = Vec::new();
        let mut error = 0.0_f64;
        for (i, right) in right.into_iter().enumerate() {
            for unknown in &mut unknowns {
                unknown.name = self.name("u");
            }
            let name = self.name("r");
            let found = self.residual(&name, &unknowns, i, right, out);
            error = error.max(found.error / 0.75);
            if self.purpose == Purpose::Derivatives {
                self.residuals.push(found);
            }
            names.push(name);
        }
        let guesses: Vec<Node> = unknowns.iter().map(|unknown| self.guess(unknown)).collect();
        let largest = unknowns.iter().map(|u| u.middle.abs() + u.radius).fold(0.0, f64::max);
        let solution = self.name("n");
        let error = error + AGREEMENT * largest;
        let infos: Vec<Info> = unknowns.iter().map(|unknown| unknown.info(0.0, error)).collect();
        let mut parts = parts![solution.clone()];
        let content = if n == 1 && self.chance(70) { Content::Value(infos[0]) } else { Content::Array(infos) };
        if self.chance(20) {
            parts.extend(parts![" : ", type_text(&content, self)]);
        }
        match content {
            Content::Value(_) => {
                let guess = guesses.into_iter().next();
                parts.extend(parts![format!(" = NewtonSolve({}, ", names[0])]);
                parts.extend(guess.map(Part::from));
                parts.extend(parts![")"]);
            }
            Content::Array(_) | Content::Sequence(_) => {
                parts.extend(parts![format!(" = NewtonSolveSystem([{}], [", names.join(", "))]);
                for (i, guess) in guesses.into_iter().enumerate() {
                    parts.extend(parts![if i == 0 { "" } else { ", " }, guess]);
                }
                parts.extend(parts!["])"]);
            }
        }
        out.push(line(parts));
        self.declare(solution, content, false);
        for node in self.readable(|info| info.bounds.error > 0.0 && info.dimension != [9, 9]).into_iter().rev().take(n) {
            self.put_out(node, out);
        }
    }

    fn right_side(&mut self, unknown: &Unknown, out: &mut Vec<Statement>) -> Node {
        let (prefix, lo, hi) = ("s", -1.0, 1.0);
        // Data that differ from element to element: ties would be decided by round-off.
        let data = self.data(unknown.set, prefix, lo, hi);
        let data = self.times_number(unknown.radius / 16.0, data);
        let data = self.in_dimension(data, unknown.dimension);
        let want = self.want();
        let more = self.scalar(Some(unknown.set), unknown.dimension, want);
        let factor = (unknown.radius / 16.0 / more.info.bounds.magnitude()).log2().floor().exp2().min(1.0);
        let more = self.times_number(factor, more);
        let bounds = data.info.bounds.plus(more.info.bounds);
        let node = Node { info: Info::scalar(Some(unknown.set), unknown.dimension, bounds), parts: parts!["(", data, " + ", more, ")"] };
        let name = self.name("b");
        let content = Content::Value(node.info);
        let info = node.info;
        out.push(line(parts![name.clone(), " = ", node]));
        self.declare(name.clone(), content, false);
        Node { info, parts: parts![name] }
    }

    fn guess(&mut self, unknown: &Unknown) -> Node {
        let want = self.want();
        let guess = self.scalar(Some(unknown.set), unknown.dimension, want);
        self.fitted(guess, unknown.middle - unknown.radius, unknown.middle + unknown.radius)
    }

    /// The function of equation `i`. Its bounds, where its slope is that of all of it and its error
    /// that of everything but the unknowns, for `a0 = 1`.
    fn residual(&mut self, name: &str, unknowns: &[Unknown], i: usize, right: Node, out: &mut Vec<Statement>) -> Bounds {
        let unknown = &unknowns[i];
        let (variables, functions, base) = (self.variables.len(), self.functions.len(), self.base);
        let pure = std::mem::replace(&mut self.pure, true);
        self.base = variables;
        self.nesting += 1;
        for unknown in unknowns {
            let info = unknown.info(1.0, 0.0);
            self.variables.push(Variable { name: unknown.name.clone(), content: Content::Value(info), mutable: false, beyond: None });
        }
        let mut body = Vec::new();
        self.unknown_beyond(&mut body);
        for _ in 0..self.random.usize(..4) {
            self.statement(&mut body);
        }
        let dimension = self.some_dimension();
        let depth = self.random.u32(2..5);
        let inner = self.nonlinear(unknown, dimension, Want { depth, exact: false });
        let found = inner.info.bounds;
        let radius = unknown.radius;
        let limit = (0.25 / found.slope.max(1e-3)).min(radius / 8.0 / found.magnitude().max(1e-3));
        let factor = limit.log2().floor().exp2().min(1.0);
        let inner = self.times_number(factor, inner);
        let inner = self.in_dimension(inner, unknown.dimension);
        let name_of = Node { info: unknown.info(1.0, 0.0), parts: parts![unknown.name.clone()] };
        let linear = if unknown.middle == 0.0 {
            name_of
        } else {
            let middle = self.literal(unknown.middle, unknown.dimension);
            let middle = self.beside(middle, Some(unknown.set));
            let bounds = name_of.info.bounds.minus(middle.info.bounds);
            Node { info: Info { bounds, ..name_of.info }, parts: parts!["(", name_of, " - ", middle, ")"] }
        };
        let linear = if self.chance(40) { self.weighted(unknown.set, linear) } else { linear };
        let slope = linear.info.bounds.slope + inner.info.bounds.slope;
        let magnitude = linear.info.bounds.magnitude() + inner.info.bounds.magnitude() + right.info.bounds.magnitude();
        let error = inner.info.bounds.error + right.info.bounds.error;
        body.push(line(parts!["-> ", linear, " + ", inner, " - ", right]));
        self.nesting -= 1;
        self.variables.truncate(variables);
        self.functions.truncate(functions);
        (self.base, self.pure) = (base, pure);
        let names: Vec<&str> = unknowns.iter().map(|u| u.name.as_str()).collect();
        out.push(Statement::Block { head: parts![format!("{name}({}) =", names.join(", "))], body });
        Bounds { slope, error, ..Bounds::new(-magnitude, magnitude) }
    }

    /// Weights of at least one.
    fn weighted(&mut self, set: Set, node: Node) -> Node {
        let weights = self.data(set, "q", 1.0, 3.0);
        let bounds = weights.info.bounds.times(node.info.bounds);
        Node { info: Info { bounds, ..node.info }, parts: parts!["(", weights, " * ", node, ")"] }
    }

    /// Something of the unknowns: often a flux, upwinded by what may be the unknowns, summed over
    /// faces.
    fn nonlinear(&mut self, unknown: &Unknown, dimension: Dimension, want: Want) -> Node {
        if unknown.set != Set(0) || self.chance(50) {
            return self.scalar(Some(unknown.set), dimension, want);
        }
        let faces = Some(Set(4));
        let drive = self.scalar(faces, PURE, want.deeper());
        let carried = self.scalar(Some(Set(0)), dimension, want.deeper());
        let bounds = drive.info.bounds.times(carried.info.bounds);
        let zero = self.literal(0.0, PURE);
        let zero = self.beside(zero, faces);
        let name = |first: bool| if first { "FirstCell(InteriorFaces())" } else { "SecondCell(InteriorFaces())" };
        let condition = parts!["(", drive.clone(), if self.random.bool() { " >= " } else { " > " }, zero, ")"];
        // Continuous, because the drive is zero where the choice changes.
        let mut parts = parts!["("];
        if self.random.bool() {
            parts.extend(parts![carried, " On ("]);
            parts.extend(condition);
            parts.extend(parts![" ? ", name(true), " : ", name(false), "))"]);
        } else {
            parts.extend(condition);
            parts.extend(parts![" ? (", carried.clone(), " On ", name(true), ") : (", carried, " On ", name(false), "))"]);
        }
        let chosen = Node { info: Info::scalar(faces, dimension, bounds), parts };
        let flux = Node { info: chosen.info, parts: parts!["(", drive, " * ", chosen, ")"] };
        let bounds = bounds.sum(self.ranges.faces, true);
        Node { info: Info::scalar(Some(Set(0)), dimension, bounds), parts: parts!["Divergence(", flux, ")"] }
    }
}
