//! Vectors: one, or a collection.

use super::{Generator, SMALL, Want};
use crate::bounds::Bounds;
use crate::data::kind;
use crate::tree::{Basic, Dimension, Info, Kind, Node, PURE, Set, parts};

impl Generator<'_> {
    /// Vectors of a dimension.
    pub(super) fn vector(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let made = if let Some(read) = self.some_read(Basic::Vector, on, dimension, want) {
            Some(read)
        } else if want.depth == 0 {
            None
        } else {
            match self.random.u8(..12) {
                0 | 1 => Some(self.vector_sum(on, dimension, want)),
                2 | 3 => Some(self.vector_scaled(on, dimension, want)),
                4 => Some(self.vector_over(on, dimension, want)),
                5 => {
                    let a = self.vector(on, dimension, want.deeper());
                    let bounds = a.info.bounds.negative();
                    Some(Node { info: Info::numbers(Basic::Vector, on, dimension, bounds), parts: parts!["(-", a, ")"] })
                }
                6 => Some(self.choice(Basic::Vector, on, dimension, want)),
                7 => self.moved(Basic::Vector, on, dimension, want),
                8 if on.is_none() => Some(self.reduced_vector(dimension, want)),
                8 if on == Some(Set(0)) => self.vector_of_faces(dimension, want),
                9 | 10 => self.composed(on, dimension, want),
                _ => None,
            }
        };
        let made = made.filter(|node| want.allows(node.info.bounds)).unwrap_or_else(|| self.vector_leaf(on, dimension, want));
        self.tame(made)
    }

    fn vector_leaf(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let fits = |info: &Info| info.basic == Basic::Vector && info.on == on && want.allows(info.bounds);
        if self.chance(60)
            && let Some(found) = self.variable(fits)
        {
            return self.in_dimension(found, dimension);
        }
        match on {
            Some(set) => {
                let geometry = self.geometry(set);
                self.in_dimension(geometry, dimension)
            }
            // There are no literals: the grid has some number of dimensions.
            None => match self.composed(on, dimension, want.leaf()) {
                Some(node) => node,
                None => self.reduced_vector(dimension, want.leaf()),
            },
        }
    }

    /// Centroids and normals.
    fn geometry(&mut self, set: Set) -> Node {
        if kind(set.0) == Kind::Face && self.random.bool() {
            let faces = self.domain(set);
            let info = Info::numbers(Basic::Vector, Some(set), PURE, Bounds::new(-1.0, 1.0));
            let outward = self.lies_in(set, Set(5)) && self.random.bool();
            return Node { info, parts: parts![if outward { "OutwardNormal(" } else { "Normal(" }, faces, ")"] };
        }
        let to = self.centroid(set);
        if kind(set.0) == Kind::Face && self.chance(40) {
            // A way from or to a face, or across it.
            let from = self.centroid(set);
            let (lo, hi) = self.ranges.position;
            let info = Info { bounds: Bounds::new(lo - hi, hi - lo), ..to.info };
            return Node { info, parts: parts!["(", to, " - ", from, ")"] };
        }
        to
    }

    /// Centroids of entities, or of the cells of faces.
    fn centroid(&mut self, set: Set) -> Node {
        let kinds = if kind(set.0) == Kind::Face && self.chance(50) { Kind::Cell } else { kind(set.0) };
        let entities = self.full(kinds, set, Want { depth: 1, exact: true });
        let (lo, hi) = self.ranges.position;
        let info = Info::numbers(Basic::Vector, Some(set), self.dimension(1), Bounds::new(lo, hi));
        Node { info, parts: parts!["Centroid(", entities, ")"] }
    }

    /// `FaceSum` of Vectors.
    fn vector_of_faces(&mut self, dimension: Dimension, want: Want) -> Option<Node> {
        let faces = Some(self.some_faces()?);
        let [left, right] = self.mixed(faces);
        let (a, b) = (self.vector(left, dimension, want.deeper()), self.vector(right, dimension, want.deeper()));
        let bounds = a.info.bounds.either(b.info.bounds).sum(self.ranges.faces, true);
        Some(Node { info: Info::numbers(Basic::Vector, Some(Set(0)), dimension, bounds), parts: parts!["FaceSum(", a, ", ", b, ")"] })
    }

    fn vector_sum(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let [left, right] = self.mixed(on);
        let (a, b) = (self.vector(left, dimension, want.deeper()), self.vector(right, dimension, want.deeper()));
        let (bounds, operator) =
            if self.random.bool() { (a.info.bounds.plus(b.info.bounds), " + ") } else { (a.info.bounds.minus(b.info.bounds), " - ") };
        Node { info: Info::numbers(Basic::Vector, on, dimension, bounds), parts: parts!["(", a, operator, b, ")"] }
    }

    fn vector_scaled(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let first = self.some_dimension();
        let rest = [dimension[0] - first[0], dimension[1] - first[1]];
        let [numbers, vectors] = match (on, self.random.u8(..4)) {
            (Some(_), 0) => [None, on],
            (Some(_), 1) => [on, None],
            (Some(_) | None, _) => [on, on],
        };
        let a = self.scalar(numbers, first, want.deeper());
        let v = self.vector(vectors, rest, want.deeper());
        let bounds = a.info.bounds.times(v.info.bounds);
        let parts = if self.random.bool() { parts!["(", a, " * ", v, ")"] } else { parts!["(", v, " * ", a, ")"] };
        Node { info: Info::numbers(Basic::Vector, on, dimension, bounds), parts }
    }

    fn vector_over(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let under = self.some_dimension();
        let above = [dimension[0] + under[0], dimension[1] + under[1]];
        let by = if self.random.bool() { None } else { on };
        let v = self.vector(on, above, want.deeper());
        let a = self.positive(by, under, want.deeper());
        let bounds = v.info.bounds.over(a.info.bounds);
        Node { info: Info::numbers(Basic::Vector, on, dimension, bounds), parts: parts!["(", v, " / ", a, ")"] }
    }

    /// Composes a Vector from components, on grids with as many dimensions.
    fn composed(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Option<Node> {
        let n = self.grids.components()?;
        let one = self.random.usize(..n);
        let mut bounds: Option<Bounds> = None;
        let mut parts = parts!["Vector("];
        for i in 0..n {
            // One component alone may tell the domain.
            let place = if i == one || self.random.bool() { on } else { None };
            let component = self.scalar(place, dimension, want.deeper());
            bounds = Some(bounds.map_or(component.info.bounds, |b| b.either(component.info.bounds)));
            parts.extend(parts![if i == 0 { "" } else { ", " }, component]);
        }
        parts.extend(parts![")"]);
        Some(Node { info: Info::numbers(Basic::Vector, on, dimension, bounds?), parts })
    }

    /// One Vector from a collection.
    pub(super) fn reduced_vector(&mut self, dimension: Dimension, want: Want) -> Node {
        let want = if self.pure { want.exact() } else { want.deeper() };
        let set = self.some_set();
        let v = self.vector(Some(set), dimension, want);
        let n = self.ranges.largest[Kind::ALL.iter().position(|&k| k == kind(set.0)).unwrap_or(0)];
        let (name, bounds) = match self.random.u8(..3) {
            0 => ("SumReduce(", v.info.bounds.sum(n, false)),
            1 => ("MinReduce(", v.info.bounds),
            _ => ("MaxReduce(", v.info.bounds),
        };
        Node { info: Info::numbers(Basic::Vector, None, dimension, bounds), parts: parts![name, v, ")"] }
    }

    /// The number of a component that every grid of the program has.
    pub(super) fn component(&mut self) -> usize {
        self.grids.components().map_or(0, |n| self.random.usize(..n))
    }

    /// Scalars of Vectors: components, lengths, products.
    pub(super) fn scalar_of_vectors(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Option<Node> {
        if on == Some(super::GENERIC) {
            return None;
        }
        let want = want.deeper();
        let info = |bounds| Info::scalar(on, dimension, bounds);
        Some(match self.random.u8(..4) {
            0 => {
                let v = self.vector(on, dimension, want);
                let index = self.component();
                Node { info: info(v.info.bounds), parts: parts![v, format!("[{index}]")] }
            }
            1 => {
                // The length has no derivative at zero.
                let v = self.vector(on, dimension, Want { exact: true, ..want });
                let bounds = Bounds::new(0.0, 2.0 * v.info.bounds.magnitude());
                Node { info: info(bounds), parts: parts!["|", v, "|"] }
            }
            2 if dimension.iter().all(|d| d % 2 == 0) => {
                let v = self.vector(on, dimension.map(|d| d / 2), want);
                let square = self.dot(v.clone(), v, on);
                let square = self.made_positive(square);
                let bounds = square.info.bounds;
                if bounds.lo < SMALL {
                    return None;
                }
                Node { info: info(bounds), parts: parts![square] }
            }
            _ => {
                let first = self.some_dimension();
                let rest = [dimension[0] - first[0], dimension[1] - first[1]];
                let [left, right] = self.mixed(on);
                let (v, w) = (self.vector(left, first, want), self.vector(right, rest, want));
                self.dot(v, w, on)
            }
        })
    }

    fn dot(&mut self, v: Node, w: Node, on: Option<Set>) -> Node {
        let dimension = [0, 1].map(|i| v.info.dimension[i] + w.info.dimension[i]);
        let bounds = v.info.bounds.times(w.info.bounds).sum(3.0, true);
        Node { info: Info::scalar(on, dimension, bounds), parts: parts!["Dot(", v, ", ", w, ")"] }
    }
}
