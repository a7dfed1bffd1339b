//! Truth values, and choices by them.

use super::{GENERIC, Generator, Purpose, Want};
use crate::tree::{Basic, Dimension, Info, Kind, Node, PURE, Set, parts};

impl Generator<'_> {
    /// Truth values: exact ones, but where residuals may choose by their unknowns.
    pub(super) fn truth(&mut self, on: Option<Set>, want: Want) -> Node {
        let want = if self.purpose == Purpose::Run { want.exact() } else { want.deeper() };
        if let Some(read) = self.some_read(Basic::Bool, on, PURE, want) {
            return read;
        }
        if want.depth == 0 {
            return self.truth_leaf(on, want);
        }
        match self.random.u8(..14) {
            0..7 => self.comparison(on, want),
            7 | 8 => {
                let mixed = match (on, self.random.u8(..3)) {
                    (Some(_), 0) => [on, None],
                    (Some(_) | None, _) => [on, on],
                };
                let (a, b) = (self.truth(mixed[0], want), self.truth(mixed[1], want));
                let operator = self.pick(&[" And ", " Or ", " Xor "]).unwrap_or(" And ");
                Node { info: Info::truth(on, &[a.info.bounds, b.info.bounds]), parts: parts!["(", a, operator, b, ")"] }
            }
            9 => {
                let a = self.truth(on, want);
                Node { info: Info::truth(on, &[a.info.bounds]), parts: parts!["(Not ", a, ")"] }
            }
            10 if on != Some(GENERIC) => self.choice(Basic::Bool, on, [0, 0], want),
            11 if on != Some(GENERIC) => self.moved(Basic::Bool, on, [0, 0], want).unwrap_or_else(|| self.truth_leaf(on, want)),
            12 => match on {
                None => {
                    let set = self.some_set();
                    let a = self.truth(Some(set), want.exact());
                    let name = if self.random.bool() { "AnyReduce(" } else { "AllReduce(" };
                    Node { info: Info::truth(None, &[]), parts: parts![name, a, ")"] }
                }
                Some(set) if set != GENERIC => self.entity_test(set, want),
                Some(_) => self.comparison(on, want),
            },
            _ => self.truth_leaf(on, want),
        }
    }

    fn truth_leaf(&mut self, on: Option<Set>, want: Want) -> Node {
        if self.chance(60)
            && let Some(found) = self.variable(|info| info.basic == Basic::Bool && info.on == on && want.allows(info.bounds))
        {
            return found;
        }
        if on == Some(GENERIC) || self.chance(60) {
            return self.comparison(on, want.leaf());
        }
        let text = if self.random.bool() { "True" } else { "False" };
        let node = Node { info: Info::truth(None, &[]), parts: parts![text] };
        self.broadcast(node, on)
    }

    /// A comparison of numbers.
    fn comparison(&mut self, on: Option<Set>, want: Want) -> Node {
        let dimension = self.some_dimension();
        let places = match (on, self.random.u8(..3)) {
            (Some(_), 0) => [on, None],
            (Some(_), 1) => [None, on],
            (Some(_) | None, _) => [on, on],
        };
        let (a, b) = (self.scalar(places[0], dimension, want.deeper()), self.scalar(places[1], dimension, want.deeper()));
        let operator = self.pick(&[" < ", " > ", " <= ", " >= ", " < ", " > ", " <= ", " >= ", " == ", " != "]).unwrap_or(" < ");
        Node { info: Info::truth(on, &[a.info.bounds, b.info.bounds]), parts: parts!["(", a, operator, b, ")"] }
    }

    /// A comparison of entities, or a test for Empty.
    fn entity_test(&mut self, set: Set, want: Want) -> Node {
        let kind = if crate::data::kind(set.0) == Kind::Face && self.chance(70) { Kind::Cell } else { crate::data::kind(set.0) };
        let a = self.entities(kind, set, want);
        if self.random.bool() {
            return Node { info: Info::truth(Some(set), &[a.info.bounds]), parts: parts!["IsEmpty(", a, ")"] };
        }
        let b = self.entities(kind, set, want);
        let operator = if self.random.bool() { " == " } else { " != " };
        Node { info: Info::truth(Some(set), &[a.info.bounds, b.info.bounds]), parts: parts!["(", a, operator, b, ")"] }
    }

    /// `condition ? a : b`
    pub(super) fn choice(&mut self, basic: Basic, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let place = if self.chance(25) && on != Some(GENERIC) { None } else { on };
        // In a smooth function of any domain nothing is decided by its arguments.
        let generic_smooth = on == Some(GENERIC) && !self.deciding();
        let condition = if generic_smooth { self.truth(None, want.deeper()) } else { self.truth(place, want.deeper()) };
        let [first, second] = match basic {
            // One of them is where the result is: the condition, if neither branch is.
            Basic::Scalar | Basic::Vector | Basic::Bool if place == on && !generic_smooth && self.chance(15) => [None, None],
            Basic::Scalar | Basic::Vector | Basic::Bool => self.mixed(on),
            Basic::Entity(_) => [on, on],
        };
        let (a, b) = (self.expression(basic, first, dimension, want.deeper()), self.expression(basic, second, dimension, want.deeper()));
        let bounds = a.info.bounds.either(b.info.bounds).decided_by(condition.info.bounds);
        let info = Info { on, bounds, empty: a.info.empty || b.info.empty, domain: false, ..a.info };
        Node { info, parts: parts!["(", condition, " ? ", a, " : ", b, ")"] }
    }

    /// True if the parameters of the function of any domain that is being written may decide
    /// something.
    fn deciding(&self) -> bool {
        self.readable(|info| info.on == Some(GENERIC)).iter().all(|node| node.info.bounds.exact())
    }
}
