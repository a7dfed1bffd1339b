//! The polygon that two cells on either side of a row of pillars share.
//!
//! Between two pillars, a cell is a quadrangle: its top and its bottom are lines from the one
//! pillar to the other. Two of them share a convex polygon, whose corners are nodes of pillars, or
//! where a line of the one crosses a line of the other. Lines are compared by the numbers of their
//! nodes, which ascend with depth, so that no rounding decides which polygons there are.

use std::cmp::Ordering;

/// A line between two pillars, by its nodes on both.
pub(super) type Line = [u32; 2];

/// Above and below everything.
pub(super) const ABOVE: Line = [0; 2];
pub(super) const BELOW: Line = [u32::MAX; 2];

/// Part of a column between two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub top: Line,
    pub bottom: Line,
    /// The cell there, if there is one.
    pub cell: Option<u32>,
}

impl Interval {
    /// True if top and bottom are the same line.
    pub(super) fn is_empty(&self) -> bool {
        self.top == self.bottom
    }

    /// True if it lies above another along both pillars, or touches it.
    pub(super) fn is_above(&self, other: &Interval) -> bool {
        (0..2).all(|end| self.bottom[end] <= other.top[end])
    }
}

/// A corner of a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corner {
    /// A node on a pillar: the first or the second.
    Node { end: usize, node: u32 },
    /// Crossing of a line of one side with a line of the other.
    Crossing { own: Line, other: Line },
}

/// Line on which an edge of a polygon lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// On the first or the second pillar.
    Pillar(usize),
    /// On a line of its own cell.
    Own(Line),
    /// On a line of the other.
    Other,
}

/// The polygon that two intervals share, as corners in the order first pillar at the top, second
/// pillar at the top, second at the bottom, first at the bottom. Empty if there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Clipper {
    corners: Vec<(Corner, Edge)>,
    scratch: Vec<(Corner, Edge)>,
}

impl Clipper {
    pub(super) fn shared(&mut self, own: &Interval, other: &Interval) -> &[(Corner, Edge)] {
        let node = |end: usize, node: u32| Corner::Node { end, node };
        self.corners.clear();
        self.corners.push((node(0, own.top[0]), Edge::Own(own.top)));
        self.corners.push((node(1, own.top[1]), Edge::Pillar(1)));
        if own.bottom[1] != own.top[1] {
            self.corners.push((node(1, own.bottom[1]), Edge::Own(own.bottom)));
        } else {
            self.corners[1].1 = Edge::Own(own.bottom);
        }
        if own.bottom[0] != own.top[0] {
            self.corners.push((node(0, own.bottom[0]), Edge::Pillar(0)));
        }
        self.cut(other.top, Ordering::Less);
        self.cut(other.bottom, Ordering::Greater);
        if self.corners.len() < 3 {
            self.corners.clear();
        }
        &self.corners
    }

    /// Takes away what is beyond a line of the other side.
    fn cut(&mut self, line: Line, beyond: Ordering) {
        // Lines of one column do not cross, so that other crossings are inside.
        let side = |corner: &Corner| match corner {
            Corner::Node { end, node } => match node.cmp(&line[*end]) {
                Ordering::Equal => Ordering::Equal,
                order if order == beyond => Ordering::Less,
                _ => Ordering::Greater,
            },
            Corner::Crossing { other, .. } if *other == line => Ordering::Equal,
            Corner::Crossing { .. } => Ordering::Greater,
        };
        if self.corners.iter().all(|(corner, _)| side(corner) != Ordering::Less) {
            return;
        }
        self.scratch.clear();
        for (at, &(corner, edge)) in self.corners.iter().enumerate() {
            let next = side(&self.corners[(at + 1) % self.corners.len()].0);
            let here = side(&corner);
            if here != Ordering::Less {
                // An edge that leaves the inside here goes along the line.
                let leaves = here == Ordering::Equal && next == Ordering::Less;
                self.scratch.push((corner, if leaves { Edge::Other } else { edge }));
            }
            if here != next && here != Ordering::Equal && next != Ordering::Equal {
                let met = match edge {
                    Edge::Pillar(end) => Corner::Node { end, node: line[end] },
                    Edge::Own(own) => Corner::Crossing { own, other: line },
                    // Lines of one column do not cross.
                    Edge::Other => continue,
                };
                self.scratch.push((met, if next == Ordering::Less { Edge::Other } else { edge }));
            }
        }
        std::mem::swap(&mut self.corners, &mut self.scratch);
    }
}
