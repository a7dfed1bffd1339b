//! Matches given positions with the elements of a set.
//!
//! A position belongs to the element whose point is within a tolerance of it: a tenth of the
//! distance between that point and the next one of the grid. So positions of few digits are taken,
//! and those of corners or of another grid are not.

use crate::grid::nearest::{Nearest, distance};

/// Part of the distance of the next point that a position may be away from its own.
const TOLERANCE: f64 = 0.1;

/// Part of the largest coordinate that rounding moves a point by: sums of some thousand terms.
const ROUNDING: f64 = 1e-12;

/// Part of the largest coordinate that a position may be away where the grid has one point only.
const ALONE: f64 = 1e-6;

/// The points of elements.
pub(super) struct Elements<'a> {
    /// One for each element, as far as positions tell it.
    pub seen: &'a [[f64; 3]],
    /// Those of the whole grid, with all coordinates.
    pub all: &'a [[f64; 3]],
    /// Index of each element in `all`.
    pub index: &'a [u32],
}

/// Reason why positions are no permutation of the points of elements. Rows and elements count from
/// 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mismatch {
    /// No element is there.
    Nowhere {
        row: usize,
        /// The element that is nearest.
        nearest: usize,
        /// Its distance.
        off: f64,
    },
    /// Two elements are there, as far as the coordinates tell.
    Both { row: usize, elements: [usize; 2] },
    /// Two rows are those of one element.
    Again { row: usize, earlier: usize, element: usize },
}

impl Elements<'_> {
    /// The element of each position; `None` if they have the order of the elements. Cost:
    /// n log n, and n where positions are those of the elements to rounding.
    ///
    /// # Errors
    /// The first position that fits no element, two elements, or that of an earlier one.
    ///
    /// # Panics
    /// If there is not one position for each element.
    pub(super) fn of(&self, positions: &[[f64; 3]]) -> Result<Option<Vec<u32>>, Mismatch> {
        assert_eq!(positions.len(), self.seen.len(), "a position for each element");
        let size = self.all.iter().flatten().fold(0.0, |size: f64, x| size.max(x.abs()));
        let rounding = ROUNDING * size;
        let are_in_order = |tolerance: &dyn Fn(usize) -> f64| {
            let mut pairs = positions.iter().zip(self.seen).enumerate();
            pairs.all(|(row, (position, point))| distance(*position, *point) <= tolerance(row))
        };
        if are_in_order(&|_| rounding) {
            return Ok(None);
        }
        let all = Nearest::new(self.all);
        // Points that differ by rounding are in one place.
        let tolerance = |element: usize| match all.find(self.all[self.index[element] as usize], rounding) {
            Some((_, next)) => (TOLERANCE * next).max(rounding),
            None => ALONE * size,
        };
        if are_in_order(&tolerance) {
            return Ok(None);
        }
        let own = Nearest::new(self.seen);
        let mut row_of: Vec<Option<usize>> = vec![None; self.seen.len()];
        let mut elements = Vec::with_capacity(self.seen.len());
        for (row, position) in positions.iter().enumerate() {
            let Some((element, off)) = own.find(*position, -1.0) else { break };
            let nearest = element as usize;
            if off > tolerance(nearest) {
                return Err(Mismatch::Nowhere { row, nearest, off });
            }
            let second = own.find_other(*position, element).filter(|&(second, off)| off <= tolerance(second as usize));
            if let Some((second, _)) = second {
                return Err(Mismatch::Both { row, elements: [nearest, second as usize] });
            }
            if let Some(earlier) = row_of[nearest].replace(row) {
                return Err(Mismatch::Again { row, earlier, element: nearest });
            }
            elements.push(element);
        }
        Ok(Some(elements))
    }
}
