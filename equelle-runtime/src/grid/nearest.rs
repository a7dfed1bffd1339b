//! The point of a set that is nearest to another one: a tree that halves the set along one axis
//! after another (J. L. Bentley, 1975, doi:10.1145/361002.361007).

use std::ops::Range;

/// Points in a leaf, which are tried one by one.
const LEAF: usize = 8;

/// A set of points to search. Memory: 5 bytes a point.
pub(crate) struct Nearest<'p> {
    points: &'p [[f64; 3]],
    /// Indices of the points; the middle of each range parts it.
    order: Vec<u32>,
    /// The axis along which the middle parts its range.
    axes: Vec<u8>,
}

impl<'p> Nearest<'p> {
    /// Cost: n log n. Of equal points that with the lower index counts as the lower one.
    pub(crate) fn new(points: &'p [[f64; 3]]) -> Nearest<'p> {
        let mut tree = Nearest { points, order: (0..points.len() as u32).collect(), axes: vec![0; points.len()] };
        let mut ranges = vec![(0, points.len())];
        while let Some((start, end)) = ranges.pop() {
            if end - start <= LEAF {
                continue;
            }
            let axis = widest(points, &tree.order[start..end]);
            let middle = (end - start) / 2;
            let at = |index: &u32| points[*index as usize][axis];
            tree.order[start..end].select_nth_unstable_by(middle, |a, b| at(a).total_cmp(&at(b)).then(a.cmp(b)));
            tree.axes[start + middle] = axis as u8;
            ranges.extend([(start, start + middle), (start + middle + 1, end)]);
        }
        tree
    }

    /// Index and distance of the nearest point that is farther than `beyond`, a negative number for
    /// all; of several the one with the lowest index.
    pub(crate) fn find(&self, point: [f64; 3], beyond: f64) -> Option<(u32, f64)> {
        self.search(point, |_, distance| distance > beyond)
    }

    /// [`Nearest::find`] among the points but one.
    pub(crate) fn find_other(&self, point: [f64; 3], than: u32) -> Option<(u32, f64)> {
        self.search(point, |index, _| index != than)
    }

    fn search(&self, point: [f64; 3], takes: impl Fn(u32, f64) -> bool) -> Option<(u32, f64)> {
        let mut best: Option<(u32, f64)> = None;
        let look = |index: u32, best: &mut Option<(u32, f64)>| {
            let distance = distance(point, self.points[index as usize]);
            let is_nearer = best.is_none_or(|(other, least)| distance < least || (distance == least && index < other));
            if is_nearer && takes(index, distance) {
                *best = Some((index, distance));
            }
        };
        // Each with the distance of the plane before it, or 0.
        let mut ranges: Vec<(Range<usize>, f64)> = vec![(0..self.order.len(), 0.0)];
        while let Some((range, plane)) = ranges.pop() {
            if best.is_some_and(|(_, least)| plane > least) {
                continue;
            }
            if range.len() <= LEAF {
                self.order[range].iter().for_each(|&index| look(index, &mut best));
                continue;
            }
            let middle = range.start + range.len() / 2;
            let index = self.order[middle];
            look(index, &mut best);
            let axis = usize::from(self.axes[middle]);
            let offset = point[axis] - self.points[index as usize][axis];
            let (low, high) = (range.start..middle, middle + 1..range.end);
            let (near, far) = if offset < 0.0 { (low, high) } else { (high, low) };
            // The near side is searched first.
            ranges.extend([(far, offset.abs()), (near, 0.0)]);
        }
        best
    }
}

/// The distance of two points, in the unit of their coordinates.
pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum::<f64>().sqrt()
}

/// The axis along which points differ most.
fn widest(points: &[[f64; 3]], indices: &[u32]) -> usize {
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for &index in indices {
        for (bounds, x) in bounds.iter_mut().zip(points[index as usize]) {
            *bounds = [bounds[0].min(x), bounds[1].max(x)];
        }
    }
    let width = |axis: usize| bounds[axis][1] - bounds[axis][0];
    (1..3).fold(0, |widest, axis| if width(axis) > width(widest) { axis } else { widest })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a search of all points, with many of the same place.
    #[test]
    fn the_nearest_of_all() {
        let mut random = fastrand::Rng::with_seed(7);
        for n in [0, 1, 2, 9, 100, 700] {
            for steps in [3.0, 1e6] {
                let mut point = || [0; 3].map(|_| (random.f64() * steps).floor());
                let points: Vec<[f64; 3]> = (0..n).map(|_| point()).collect();
                let tree = Nearest::new(&points);
                for _ in 0..50 {
                    let at = point();
                    let all = |takes: &dyn Fn(u32, f64) -> bool| {
                        let with_distance = points.iter().zip(0..).map(|(other, index)| (index, distance(at, *other)));
                        let taken = with_distance.filter(|&(index, distance)| takes(index, distance));
                        taken.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
                    };
                    assert_eq!(tree.find(at, -1.0), all(&|_, _| true));
                    assert_eq!(tree.find(at, 1.0), all(&|_, distance| distance > 1.0));
                    assert_eq!(tree.find_other(at, 0), all(&|index, _| index != 0));
                }
            }
        }
    }
}
