//! Loops: over sequences and ranges, and those that a condition ends.
//!
//! A loop with a condition ends after a few rounds whatever its values are: it has a counter, or a
//! time that grows by a bounded step, which nothing else assigns.

use super::{Content, Generator, line};
use crate::bounds::Bounds;
use crate::tree::{Dimension, Info, PURE, Statement, parts, text};

/// Most rounds of a loop that a condition ends.
const ROUNDS: u32 = 4;

impl Generator<'_> {
    /// A loop.
    pub(super) fn repeated(&mut self, out: &mut Vec<Statement>) {
        match self.loops.u8(..10) {
            0..5 => self.over_sequence(out),
            5 | 6 => self.over_range(out),
            // Rounds of a residual may not depend on its unknowns.
            _ if self.pure => self.over_sequence(out),
            7 | 8 => self.counted(out),
            _ => self.stepped(out),
        }
    }

    fn over_sequence(&mut self, out: &mut Vec<Statement>) {
        let sequences: Vec<(String, Info)> = self
            .variables
            .iter()
            .filter_map(|v| if let Content::Sequence(info) = v.content { Some((v.name.clone(), info)) } else { None })
            .collect();
        let (sequence, element) = match self.pick(&sequences) {
            Some(found) => found,
            None => self.sequence(out),
        };
        if self.chance(40) {
            self.mutable(out);
        }
        let name = self.name("i");
        let body = self.body(Some((&name, element)), |_, _| {});
        out.push(Statement::Block { head: parts!["For ", name, " In ", sequence], body });
    }

    fn over_range(&mut self, out: &mut Vec<Statement>) {
        if self.chance(40) {
            self.mutable(out);
        }
        let from = f64::from(self.random.u32(..3)) - 1.0;
        let below = from + f64::from(self.random.u32(..ROUNDS));
        let name = self.name("n");
        let (low, high) = (self.literal(from, PURE), self.literal(below, PURE));
        let head = parts!["For ", name.clone(), " In Range(", low, ", ", high, ")"];
        let body = self.body(Some((&name, Info::scalar(None, PURE, Bounds::new(from, below.max(from))))), |_, _| {});
        out.push(Statement::Block { head, body });
    }

    /// A loop that counts its rounds, and may end before by what the program computes.
    fn counted(&mut self, out: &mut Vec<Statement>) {
        let rounds = self.random.u32(1..=ROUNDS);
        let counter = self.mutable_zero("n", PURE, f64::from(rounds), out);
        if self.chance(40) {
            self.mutable(out);
        }
        let want = self.want().exact();
        let condition = if self.chance(60) { Some(self.truth(None, want)) } else { None };
        // Rules there may give no values that are computed.
        let condition = condition.filter(|condition| !text(&condition.parts).contains("Halo("));
        let body = self.body(None, |_, body| body.push(line(parts![counter.clone(), format!(" = {counter} + 1")])));
        let head = match (self.random.bool(), condition) {
            (true, Some(condition)) => parts!["While ", format!("({counter} < {rounds}) And "), condition],
            (true, None) => parts!["While ", format!("{counter} < {rounds}")],
            (false, Some(condition)) => parts!["Repeat Until ", format!("({counter} >= {rounds}) Or "), condition],
            (false, None) => parts!["Repeat Until ", format!("{counter} >= {rounds}")],
        };
        out.push(Statement::Block { head, body });
    }

    /// A loop over a time, by steps that it computes.
    fn stepped(&mut self, out: &mut Vec<Statement>) {
        let dimension = if self.units { [0, 1] } else { PURE };
        let time = self.mutable_zero("time", dimension, 1.0, out);
        if self.chance(40) {
            self.mutable(out);
        }
        let (end, want) = (self.literal(1.0, dimension), self.want().exact());
        let head = parts!["While ", time.clone(), " < ", end.clone()];
        let (computed, by_library) = (self.random.bool(), self.words.bool());
        self.next_step |= by_library;
        let body = self.body(None, |own, body| {
            let longest = own.scalar(None, dimension, want);
            let longest = own.fitted(longest, 0.25, 0.75);
            let step = own.name("dt");
            body.push(line(match by_library {
                true => parts![step.clone(), format!(" = next_step({time}, "), longest, ", ", end, ")"],
                false => parts![step.clone(), " = Min(", longest, ", ", end, format!(" - {time})")],
            }));
            let update = if computed { format!(" = {time} + {step}") } else { format!(" = {step} + {time}") };
            body.push(line(parts![time.clone(), update]));
        });
        out.push(Statement::Block { head, body });
    }

    /// A variable that only its loop assigns, from 0 to `most`.
    fn mutable_zero(&mut self, stem: &str, dimension: Dimension, most: f64, out: &mut Vec<Statement>) -> String {
        let (name, zero) = (self.name(stem), self.literal(0.0, dimension));
        out.push(line(parts![name.clone(), " : Mutable Scalar = ", zero]));
        self.declare(name.clone(), Content::Value(Info::scalar(None, dimension, Bounds::new(0.0, most))), false);
        name
    }

    /// The statements of a loop with its element; `last` adds those that bring its end.
    fn body(&mut self, element: Option<(&str, Info)>, last: impl FnOnce(&mut Self, &mut Vec<Statement>)) -> Vec<Statement> {
        let (variables, functions) = (self.variables.len(), self.functions.len());
        if let Some((name, info)) = element {
            self.declare(name.to_owned(), Content::Value(info), false);
        }
        self.nesting += 1;
        let mut body = Vec::new();
        for _ in 0..self.random.usize(1..4) {
            self.statement(&mut body);
        }
        if self.random.bool() && !self.pure && self.nesting == 1 && self.chance(25) {
            self.solve(&mut body);
        }
        self.assignment(&mut body);
        last(self, &mut body);
        self.nesting -= 1;
        self.variables.truncate(variables);
        self.functions.truncate(functions);
        body
    }
}
