//! Collections of entities, and what is brought from one domain to another.

use super::{GENERIC, Generator, Purpose, Want, all_of};
use crate::data::{CANONICAL, kind};
use crate::tree::{Basic, Dimension, Info, Kind, Node, Set, parts};

impl Generator<'_> {
    /// Entities of a kind, one for each element of a set, some of which may be Empty. Of another
    /// kind than the set's: cells of faces.
    pub(super) fn entities(&mut self, wanted: Kind, over: Set, want: Want) -> Node {
        if wanted == Kind::Cell && kind(over.0) == Kind::Face && self.random.bool() {
            return self.side(over);
        }
        if wanted == kind(over.0) && self.chance(30) {
            // A part of the set, Empty elsewhere.
            let inner = self.sets(|g, set| set != over && g.lies_in(set, over));
            if let Some(inner) = self.pick(&inner) {
                let (from, to) = (self.domain(inner), self.domain(over));
                return Node { info: Info::entities(wanted, over, inner, true), parts: parts!["(", from, " Extend ", to, ")"] };
            }
        }
        self.full(wanted, over, want)
    }

    /// The cells on one side of faces.
    fn side(&mut self, over: Set) -> Node {
        let name = if self.random.bool() { "FirstCell(" } else { "SecondCell(" };
        let faces = self.domain(over);
        let empty = !self.lies_in(over, Set(4));
        Node { info: Info::entities(Kind::Cell, over, Set(0), empty), parts: parts![name, faces, ")"] }
    }

    /// The same without Empty ones.
    pub(super) fn full(&mut self, wanted: Kind, over: Set, want: Want) -> Node {
        if wanted == Kind::Cell && kind(over.0) == Kind::Face && self.fault(30) {
            let mut side = self.side(over);
            // Some of the faces may have two cells; that all have, the compiler says.
            if over.0 >= CANONICAL.len() && !self.lies_in(over, Set(4)) && self.chance(30) {
                side.parts = parts!["InnerCell(", self.domain(over), ")"];
            }
            return Node { info: Info { empty: false, ..side.info }, ..side };
        }
        let fits = |info: &Info| info.basic == Basic::Entity(wanted) && info.on == Some(over) && !info.empty && !info.domain;
        if self.chance(40)
            && let Some(found) = self.variable(|info| fits(info) && want.allows(info.bounds))
        {
            return found;
        }
        if wanted == kind(over.0) {
            return self.domain(over);
        }
        debug_assert!(wanted == Kind::Cell && kind(over.0) == Kind::Face, "only faces have other entities");
        let outer = self.sets(|g, set| set != over && g.lies_in(over, set));
        if want.depth > 0
            && self.chance(15)
            && let Some(outer) = self.pick(&outer)
        {
            let (cells, place) = (self.full(wanted, outer, want.deeper()), self.domain(over));
            let info = Info { on: Some(over), domain: false, ..cells.info };
            return Node { info, parts: parts!["(", cells, " On ", place, ")"] };
        }
        if self.lies_in(over, Set(4)) {
            if want.depth > 0 && self.chance(40) {
                // Chosen by a condition, as in upwinding.
                let condition = self.truth(Some(over), want.deeper());
                let (a, b) = (self.full(wanted, over, want.leaf()), self.full(wanted, over, want.leaf()));
                let bounds = a.info.bounds.either(b.info.bounds).decided_by(condition.info.bounds);
                let info = Info { bounds, ..Info::entities(Kind::Cell, over, Set(0), false) };
                return Node { info, parts: parts!["(", condition, " ? ", a, " : ", b, ")"] };
            }
            return self.side(over);
        }
        // The cell that there is.
        if self.lies_in(over, Set(5)) && self.random.bool() {
            let faces = self.domain(over);
            return Node { info: Info::entities(Kind::Cell, over, Set(0), false), parts: parts!["InnerCell(", faces, ")"] };
        }
        let [a, b, c] = [self.domain(over), self.domain(over), self.domain(over)];
        let parts = parts!["(IsEmpty(FirstCell(", a, ")) ? SecondCell(", b, ") : FirstCell(", c, "))"];
        Node { info: Info::entities(Kind::Cell, over, Set(0), false), parts }
    }

    /// Values brought from elsewhere, by `On` or `Extend`.
    pub(super) fn moved(&mut self, basic: Basic, on: Option<Set>, dimension: Dimension, want: Want) -> Option<Node> {
        let set = on.filter(|&set| set != GENERIC)?;
        let inner = want.deeper();
        match self.random.u8(..8) {
            0 | 1 => {
                // Restricted.
                let outer = self.sets(|g, other| other != set && g.lies_in(set, other));
                let outer = self.pick(&outer)?;
                let data = self.expression(basic, Some(outer), dimension, inner);
                let place = self.domain(set);
                let info = Info { on, domain: false, ..data.info };
                Some(Node { info, parts: parts!["(", data, " On ", place, ")"] })
            }
            2 | 3 => {
                // Padded with zeros.
                let part = self.sets(|g, other| other != set && g.lies_in(other, set));
                let part = self.pick(&part)?;
                let data = self.expression(basic, Some(part), dimension, inner);
                let place = self.domain(set);
                let info = Info { on, bounds: data.info.bounds.or_zero(), ..data.info };
                Some(Node { info, parts: parts!["(", data, " Extend ", place, ")"] })
            }
            4 => {
                let one = self.expression(basic, None, dimension, inner);
                Some(self.broadcast(one, on))
            }
            _ => {
                // Read at the cells of faces.
                if kind(set.0) != Kind::Face {
                    return None;
                }
                let data = self.expression(basic, Some(all_of(Kind::Cell)), dimension, inner);
                // A choice of cells by an unknown makes a value that jumps.
                let target = self.full(Kind::Cell, set, if self.purpose == Purpose::Run { inner.exact() } else { inner });
                let info = Info { on, domain: false, bounds: data.info.bounds.decided_by(target.info.bounds), ..data.info };
                Some(Node { info, parts: parts!["(", data, " On ", target, ")"] })
            }
        }
    }
}
