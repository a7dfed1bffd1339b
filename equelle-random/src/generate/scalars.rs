//! Scalars: one, or a collection.

use equelle_core::{Argument, Elementary, Work};

use super::{Content, GENERIC, Generator, SMALL, Want, has_nothing};
use crate::bounds::Bounds;
use crate::data::{CANONICAL, STEEPEST, STEEPEST2, SUBSETS_WITH_ELEMENTS, TABLE_VALUES, TABLES, kind};
use crate::tree::{Basic, Dimension, Info, Kind, Node, PURE, Set, parts};

impl Generator<'_> {
    /// Numbers of a dimension.
    pub(super) fn scalar(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        if let Some(read) = self.some_read(Basic::Scalar, on, dimension, want) {
            return self.tame(read);
        }
        if want.depth == 0 || self.chance(12) {
            let leaf = self.scalar_leaf(on, dimension, want);
            return self.tame(leaf);
        }
        let made = match self.random.u8(..100) {
            0..18 => Some(self.sum(on, dimension, want)),
            18..34 => Some(self.product(on, dimension, want)),
            34..42 => Some(self.quotient(on, dimension, want)),
            42..54 => Some(self.unary_function(on, dimension, want)),
            54..60 => Some(self.binary_function(on, dimension, want)),
            60..68 => Some(self.choice(Basic::Scalar, on, dimension, want)),
            68..74 => self.scalar_of_vectors(on, dimension, want),
            74..78 => self.element_of_array(on, dimension, want),
            78..84 => self.called(on, dimension, want),
            84..90 => self.moved(Basic::Scalar, on, dimension, want),
            _ => match on {
                None => self.reduced(dimension, want),
                Some(set) => self.discrete(set, dimension, want),
            },
        };
        let made = match made {
            Some(made) if want.allows(made.info.bounds) => made,
            Some(_) | None => self.scalar_leaf(on, dimension, want),
        };
        self.tame(made)
    }

    /// A variable, a literal, a measure, a collection brought from elsewhere.
    fn scalar_leaf(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let units = self.units;
        let fits = move |info: &Info| {
            info.basic == Basic::Scalar && info.on == on && want.allows(info.bounds) && (units || info.dimension == PURE)
        };
        if (self.chance(70) || on == Some(GENERIC))
            && let Some(found) = self.variable(fits)
        {
            return self.in_dimension(found, dimension);
        }
        if let Some(set) = on.filter(|&set| set != GENERIC) {
            if self.chance(25) && self.lies_in(set, Set(5)) {
                let faces = self.domain(set);
                let info = Info::scalar(on, PURE, Bounds::new(-1.0, 1.0));
                return self.in_dimension(Node { info, parts: parts!["OutwardSign(", faces, ")"] }, dimension);
            }
            if self.chance(25) {
                let measure = self.measure(set);
                return self.in_dimension(measure, dimension);
            }
            if self.chance(60)
                && let Some(moved) = self.moved(Basic::Scalar, on, dimension, want.leaf())
            {
                return moved;
            }
        }
        if on == Some(GENERIC) {
            // There is a parameter of this kind, but it decides nothing: a number that meets it in
            // a product.
            let found = self.variable(|info| info.basic == Basic::Scalar && info.on == on);
            let found = found.unwrap_or_else(|| unreachable!("a function of any domain has a parameter"));
            return self.in_dimension(found, dimension);
        }
        let value = self.some_number();
        let literal = self.literal(value, dimension);
        self.broadcast(literal, on)
    }

    /// Measures of entities.
    fn measure(&mut self, set: Set) -> Node {
        let kinds = if kind(set.0) == Kind::Face && self.chance(30) { Kind::Cell } else { kind(set.0) };
        let entities = self.full(kinds, set, Want { depth: 1, exact: true });
        let (lo, hi) = self.ranges.measures[Kind::ALL.iter().position(|&k| k == kinds).unwrap_or(0)];
        let length = match kinds {
            Kind::Cell => 3,
            Kind::Face => 2,
            Kind::Edge => 1,
            Kind::Vertex => 0,
        };
        let info = Info::scalar(Some(set), self.dimension(length), Bounds::new(lo, hi));
        Node { info, parts: parts!["|", entities, "|"] }
    }

    fn sum(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let [left, right] = self.mixed(on);
        let (a, b) = (self.scalar(left, dimension, want.deeper()), self.scalar(right, dimension, want.deeper()));
        let (bounds, operator) =
            if self.random.bool() { (a.info.bounds.plus(b.info.bounds), " + ") } else { (a.info.bounds.minus(b.info.bounds), " - ") };
        Node { info: Info::scalar(on, dimension, bounds), parts: parts!["(", a, operator, b, ")"] }
    }

    /// Where the operands of an operator are that takes one number and a collection.
    pub(super) fn mixed(&mut self, on: Option<Set>) -> [Option<Set>; 2] {
        match (on, self.random.u8(..4)) {
            (Some(_), 0) => [None, on],
            (Some(_), 1) => [on, None],
            (Some(_) | None, _) => [on, on],
        }
    }

    fn product(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let [left, right] = self.mixed(on);
        let first = self.some_dimension();
        let rest = [dimension[0] - first[0], dimension[1] - first[1]];
        let (a, b) = (self.scalar(left, first, want.deeper()), self.scalar(right, rest, want.deeper()));
        let bounds = a.info.bounds.times(b.info.bounds);
        Node { info: Info::scalar(on, dimension, bounds), parts: parts!["(", a, " * ", b, ")"] }
    }

    fn quotient(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let [left, right] = self.mixed(on);
        let under = self.some_dimension();
        let above = [dimension[0] + under[0], dimension[1] + under[1]];
        let a = self.scalar(left, above, want.deeper());
        let b = self.positive(right, under, want.deeper());
        let bounds = a.info.bounds.over(b.info.bounds);
        Node { info: Info::scalar(on, dimension, bounds), parts: parts!["(", a, " / ", b, ")"] }
    }

    /// Numbers not near zero, and not negative.
    pub(super) fn positive(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let node = self.scalar(on, dimension, want);
        self.made_positive(node)
    }

    pub(super) fn made_positive(&mut self, node: Node) -> Node {
        let Info { on, dimension, bounds, .. } = node.info;
        if bounds.lo >= SMALL {
            return node;
        }
        let offset = self.pick(&[0.25, 0.5, 1.0]).unwrap_or(1.0);
        let offset = self.literal(offset, dimension);
        let (node, bounds) = if bounds.lo < 0.0 {
            let parts = if self.random.bool() { parts!["Abs(", node, ")"] } else { parts!["|", node, "|"] };
            (Node { info: Info::scalar(on, dimension, bounds.absolute()), parts }, bounds.absolute())
        } else {
            (node, bounds)
        };
        if on == Some(GENERIC) || self.chance(30) {
            let bounds = bounds.max(offset.info.bounds);
            return Node { info: Info::scalar(on, dimension, bounds), parts: parts!["Max(", node, ", ", offset, ")"] };
        }
        let offset = self.beside(offset, on);
        let bounds = bounds.plus(offset.info.bounds);
        Node { info: Info::scalar(on, dimension, bounds), parts: parts!["(", node, " + ", offset, ")"] }
    }

    /// Within an interval, by scaling or by cutting off.
    pub(super) fn fitted(&mut self, node: Node, lo: f64, hi: f64) -> Node {
        let Info { on, dimension, bounds, .. } = node.info;
        if bounds.lo >= lo && bounds.hi <= hi {
            return node;
        }
        if on == Some(GENERIC) || self.random.bool() {
            let (low, high) = (self.literal(lo, dimension), self.literal(hi, dimension));
            let bounds = bounds.max(low.info.bounds).min(high.info.bounds);
            return Node { info: Info::scalar(on, dimension, bounds), parts: parts!["Min(Max(", node, ", ", low, "), ", high, ")"] };
        }
        let (middle, half) = (0.5 * (lo + hi), 0.5 * (hi - lo));
        let factor = (half / bounds.magnitude()).log2().floor().exp2().min(1.0);
        let scaled = self.times_number(factor, node);
        if middle == 0.0 {
            return scaled;
        }
        let middle = self.literal(middle, dimension);
        let middle = self.beside(middle, on);
        let bounds = scaled.info.bounds.plus(middle.info.bounds);
        Node { info: Info::scalar(on, dimension, bounds), parts: parts!["(", middle, " + ", scaled, ")"] }
    }

    /// Functions of one number.
    fn unary_function(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let want = want.deeper();
        let (bounds, parts, dimension_found) = match self.random.usize(..8 + Elementary::ALL.len()) {
            0 => {
                let a = self.scalar(on, dimension, want);
                (a.info.bounds.negative(), parts!["(-", a, ")"], dimension)
            }
            1 => {
                let a = self.scalar(on, dimension, want);
                (a.info.bounds.absolute(), parts!["Abs(", a, ")"], dimension)
            }
            2 => {
                let a = self.scalar(on, dimension, want);
                (a.info.bounds.absolute(), parts!["|", a, "|"], dimension)
            }
            3 | 4 => {
                let a = self.positive(on, dimension.map(|n| 2 * n), want);
                (a.info.bounds.sqrt(), parts!["Sqrt(", a, ")"], dimension)
            }
            5 => {
                let n = self.pick(&[2, 3, -1, -2, 1, 0, 4]).unwrap_or(2);
                let base = if self.units && n != 0 && dimension.iter().all(|d| d % n == 0) { dimension.map(|d| d / n) } else { PURE };
                let a = self.scalar(on, base, want);
                let a = self.fitted(a, -4.0, 4.0);
                let a = if n < 0 { self.made_positive(a) } else { a };
                let bounds = a.info.bounds.power(n);
                let parts = if self.random.bool() { parts!["(", a, format!("^{n})")] } else { parts!["Pow(", a, format!(", {n})")] };
                (bounds, parts, base.map(|d| n * d))
            }
            n => {
                let a = self.scalar(on, PURE, want);
                match n {
                    6 => {
                        let table = self.pick(&TABLES).unwrap_or(TABLES[0]);
                        let bounds = a.info.bounds.tabulated(TABLE_VALUES, STEEPEST);
                        (bounds, parts![format!("Interpolate(InputTable(\"{table}\", \"x\", \"y\"), "), a, ")"], PURE)
                    }
                    7 => {
                        // The arguments are two Scalars, or a collection and a Scalar.
                        let second = self.scalar(None, PURE, want.deeper());
                        let bounds = a.info.bounds.tabulated2(second.info.bounds, TABLE_VALUES, STEEPEST2);
                        (bounds, parts!["Interpolate(InputTable2(\"plane\", \"x\", \"y\", \"z\"), ", a, ", ", second, ")"], PURE)
                    }
                    n => {
                        let (function, a) = self.elementary(Elementary::ALL[n - 8], a);
                        (a.info.bounds.function(function), parts![function.name(), "(", a, ")"], PURE)
                    }
                }
            }
        };
        let node = Node { info: Info::scalar(on, dimension_found, bounds), parts };
        self.in_dimension(node, dimension)
    }

    /// An elementary function, with its argument where it has values.
    fn elementary(&mut self, function: Elementary, a: Node) -> (Elementary, Node) {
        // Functions with jumps take numbers that are the same in every run.
        if function.work() == Work::Steps && !a.info.bounds.exact() {
            return (Elementary::Erf, a);
        }
        let a = match function.argument() {
            Argument::Any(f64::NEG_INFINITY, f64::INFINITY) => a,
            Argument::Any(lo, hi) => self.fitted(a, lo, hi),
            Argument::Positive => self.made_positive(a),
            Argument::SineOrCosine => self.fitted(a, -0.5, 0.5),
        };
        (function, a)
    }

    /// Functions of two numbers.
    fn binary_function(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Node {
        let [left, right] = self.mixed(on);
        let want = want.deeper();
        let n = self.random.u8(..6);
        if n < 4 {
            let (a, b) = (self.scalar(left, dimension, want), self.scalar(right, dimension, want));
            let (bounds, name) =
                if n < 2 { (a.info.bounds.min(b.info.bounds), "Min(") } else { (a.info.bounds.max(b.info.bounds), "Max(") };
            return Node { info: Info::scalar(on, dimension, bounds), parts: parts![name, a, ", ", b, ")"] };
        }
        if n == 5 {
            let (a, b) = (self.scalar(left, dimension, want), self.positive(right, dimension, want));
            let node = Node { info: Info::scalar(on, PURE, a.info.bounds.angle(b.info.bounds)), parts: parts!["ATan2(", a, ", ", b, ")"] };
            return self.in_dimension(node, dimension);
        }
        let a = self.scalar(left, PURE, want);
        let a = self.made_positive(a);
        let a = self.fitted(a, SMALL, 8.0);
        let b = self.scalar(right, PURE, want);
        let b = self.fitted(b, -2.0, 2.0);
        let bounds = a.info.bounds.raised(b.info.bounds);
        let parts = if self.random.bool() { parts!["(", a, "^", b, ")"] } else { parts!["Pow(", a, ", ", b, ")"] };
        let node = Node { info: Info::scalar(on, PURE, bounds), parts };
        self.in_dimension(node, dimension)
    }

    /// An element of an array that is written where it is used.
    fn element_of_array(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Option<Node> {
        if self.chance(50) {
            return None;
        }
        let (a, b) = (self.scalar(on, dimension, want.deeper()), self.scalar(on, dimension, want.deeper()));
        let second = self.random.bool();
        let index = if second { "[1]" } else { "[0]" };
        let bounds = if second { b.info.bounds } else { a.info.bounds };
        let array = parts!["[", a, ", ", b, "]"];
        let info = |bounds| Info::scalar(on, dimension, bounds);
        Some(match self.random.u8(..6) {
            0 => Node { info: info(bounds.negative()), parts: [parts!["(-"], array, parts![")", index]].concat() },
            1 => {
                let (c, d) = (self.scalar(on, dimension, want.deeper()), self.scalar(on, dimension, want.deeper()));
                let bounds = bounds.minus(if second { d.info.bounds } else { c.info.bounds });
                Node { info: info(bounds), parts: [parts!["("], array, parts![" - [", c, ", ", d, "])", index]].concat() }
            }
            2 => {
                let [_, place] = self.mixed(on);
                let c = self.scalar(place, dimension, want.deeper());
                let bounds = c.info.bounds.plus(bounds);
                Node { info: info(bounds), parts: [parts!["(", c, " + "], array, parts![")", index]].concat() }
            }
            3 => {
                let [_, place] = self.mixed(on);
                let c = self.scalar(place, PURE, want.deeper());
                let bounds = bounds.times(c.info.bounds);
                Node { info: info(bounds), parts: [parts!["("], array, parts![" * ", c, ")", index]].concat() }
            }
            4 if on != Some(GENERIC) => {
                let condition = self.truth(on, want.deeper());
                let c = self.scalar(None, dimension, want.deeper());
                let bounds = bounds.either(c.info.bounds).decided_by(condition.info.bounds);
                Node { info: info(bounds), parts: [parts!["(", condition, " ? "], array, parts![" : ", c, ")", index]].concat() }
            }
            _ => Node { info: info(bounds), parts: [array, parts![index]].concat() },
        })
    }

    /// One number from a collection.
    fn reduced(&mut self, dimension: Dimension, want: Want) -> Option<Node> {
        // Reductions of unknowns have no derivatives, so unknowns are not reduced.
        let want = if self.pure { want.exact() } else { want.deeper() };
        let mut set = self.some_set();
        if self.fault(35) {
            let nothing = self.sets(|_, set| has_nothing(set) || set == Set(1));
            set = self.pick(&nothing).unwrap_or(set);
        }
        let n = self.ranges.largest[Kind::ALL.iter().position(|&k| k == kind(set.0)).unwrap_or(0)];
        Some(match self.random.u8(..7) {
            0 | 1 => {
                let a = self.scalar(Some(set), dimension, want);
                let bounds = a.info.bounds.sum(n, false);
                Node { info: Info::scalar(None, dimension, bounds), parts: parts!["SumReduce(", a, ")"] }
            }
            2 | 3 => {
                let a = self.scalar(Some(set), dimension, want);
                let name = if self.random.bool() { "MinReduce(" } else { "MaxReduce(" };
                Node { info: Info::scalar(None, dimension, a.info.bounds), parts: parts![name, a, ")"] }
            }
            4 => {
                let a = self.scalar(Some(set), PURE, want.exact());
                let a = self.fitted(a, -1.0, 1.0);
                let node = Node { info: Info::scalar(None, PURE, Bounds::new(-1.0, 1.0)), parts: parts!["ProdReduce(", a, ")"] };
                self.in_dimension(node, dimension)
            }
            _ => {
                let v = self.reduced_vector(dimension, want);
                let index = self.component();
                let info = Info::scalar(None, dimension, v.info.bounds);
                Node { info, parts: parts![v, format!("[{index}]")] }
            }
        })
    }

    /// A set of faces that has elements.
    pub(super) fn some_faces(&mut self) -> Option<Set> {
        let with_elements = CANONICAL.len() + SUBSETS_WITH_ELEMENTS;
        let faces = self.sets(|_, set| kind(set.0) == Kind::Face && set.0 < with_elements);
        self.pick(&faces)
    }

    /// `FaceSum`, `FaceMax` and `FaceMin` of numbers on some faces.
    fn face_reduction(&mut self, dimension: Dimension, want: Want) -> Option<Node> {
        let faces = Some(self.some_faces()?);
        let [left, right] = self.mixed(faces);
        let (a, b) = (self.scalar(left, dimension, want), self.scalar(right, dimension, want));
        let either = a.info.bounds.either(b.info.bounds);
        let cells = Some(Set(0));
        Some(match self.random.u8(..4) {
            0 => Node {
                info: Info::scalar(cells, dimension, either.sum(self.ranges.faces, true)),
                parts: parts!["FaceSum(", a, ", ", b, ")"],
            },
            // The same number for both cells.
            1 if left == faces => {
                let bounds = a.info.bounds.sum(self.ranges.faces, false);
                Node { info: Info::scalar(cells, dimension, bounds), parts: parts!["FaceSum(", a.clone(), ", ", a, ")"] }
            }
            n => {
                let on = if self.random.bool() { cells } else { None };
                let start = self.scalar(on, dimension, want);
                let bounds = either.either(start.info.bounds);
                let name = if n == 2 { "FaceMax(" } else { "FaceMin(" };
                Node { info: Info::scalar(cells, dimension, bounds), parts: parts![name, a, ", ", b, ", ", start, ")"] }
            }
        })
    }

    /// `Gradient`, `Divergence`, reductions over faces, and `GivenTransmissibility`.
    fn discrete(&mut self, set: Set, dimension: Dimension, want: Want) -> Option<Node> {
        let want = want.deeper();
        match set {
            Set(4) if self.chance(70) => {
                let a = self.scalar(Some(Set(0)), dimension, want);
                let bounds = a.info.bounds.minus(a.info.bounds);
                Some(Node { info: Info::scalar(Some(set), dimension, bounds), parts: parts!["Gradient(", a, ")"] })
            }
            Set(0) if self.chance(50) => self.face_reduction(dimension, want),
            Set(0) => {
                let faces = self.pick(&[Set(4), Set(4), Set(3)]);
                let a = self.scalar(faces, dimension, want);
                let bounds = a.info.bounds.sum(self.ranges.faces, true);
                Some(Node { info: Info::scalar(Some(set), dimension, bounds), parts: parts!["Divergence(", a, ")"] })
            }
            set if set != GENERIC && kind(set.0) == Kind::Face => {
                let faces = self.domain(set);
                let on = if self.random.bool() { Some(set) } else { None };
                let otherwise = self.scalar(on, dimension, want);
                // The grids give 1, and most of them nothing.
                let bounds = otherwise.info.bounds.either(Bounds::new(1.0, 1.0));
                let info = Info::scalar(Some(set), dimension, bounds);
                Some(Node { info, parts: parts!["GivenTransmissibility(", faces, ", ", otherwise, ")"] })
            }
            Set(_) => None,
        }
    }

    /// A call of a function whose result is this.
    fn called(&mut self, on: Option<Set>, dimension: Dimension, want: Want) -> Option<Node> {
        let units = self.units;
        let fits = |content: &Content| match content {
            Content::Value(info) => {
                let place = info.on == on || info.on == Some(GENERIC);
                info.basic == Basic::Scalar && place && (units || info.dimension == PURE)
            }
            Content::Array(infos) => infos.first().is_some_and(|info| info.basic == Basic::Scalar && info.on == on && on != Some(GENERIC)),
            Content::Sequence(_) => false,
        };
        let pure = self.pure;
        let suitable: Vec<_> = self.functions.iter().filter(|f| fits(&f.result) && !(pure && f.effects)).cloned().collect();
        let function = self.pick(&suitable)?;
        // A function that decides something gets only exact arguments.
        let inner = if function.slope.is_none() { want.exact() } else { want.deeper() };
        if function.slope.is_none() && on == Some(GENERIC) {
            return None;
        }
        let node = self.call(&function, on, inner)?;
        Some(self.in_dimension(node, dimension))
    }
}
