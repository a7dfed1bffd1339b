//! Null spaces of systems with several fields: the columns of each field by themselves.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Component, Groups, LeftNullVector, NullSpace, round_off, sum_vanishes, vanishing};
use crate::linalg::matrix::sparse_rows::SparseRows;

/// The ranges that end at these numbers.
pub(in crate::linalg) fn blocks(ends: &[usize]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| start..end).collect()
}

impl NullSpace {
    /// Finds the constant null vectors of a matrix whose unknowns and equations form blocks that
    /// end at `ends`, one for each field.
    ///
    /// Two unknowns of a field are connected if they share a row; a component is singular if all
    /// rows sum to zero over it. If no single field has such a component, all fields together may
    /// ([`NullSpace::find`]), as fields that only exchange something. An unknown in no equation is
    /// a component of its own if the equation of its number is empty too.
    ///
    /// `rounding` is that of the entries ([`crate::linalg::LinearOptions::rounding`]). The left
    /// null vector is tried as constant on the rows of one equation.
    ///
    /// Cost: a few passes over the matrix for each block.
    ///
    /// # Panics
    /// If the last end is not the size of the matrix.
    pub fn find_in_blocks(matrix: &impl SparseRows, ends: &[usize], rounding: f64) -> NullSpace {
        assert_eq!(ends.last().copied().unwrap_or(0), matrix.n_rows(), "the blocks are the whole matrix");
        if ends.len() < 2 {
            return NullSpace::find(matrix, rounding);
        }
        let blocks = blocks(ends);
        let components: Vec<Component> = blocks.iter().flat_map(|block| open_parts(matrix, block, &blocks, rounding)).collect();
        if components.is_empty() { NullSpace::find(matrix, rounding) } else { NullSpace { components } }
    }
}

/// The singular components of one field.
fn open_parts(matrix: &impl SparseRows, block: &Range<usize>, blocks: &[Range<usize>], rounding: f64) -> Vec<Component> {
    let mut groups = Groups::new(block.len());
    // The first unknown of the field in each row.
    let mut first = vec![None; matrix.n_rows()];
    // Unknowns whose component has a row that does not sum to zero; then components by their
    // smallest unknowns.
    let mut is_fixed = vec![false; block.len()];
    for (row, first) in first.iter_mut().enumerate() {
        let of_field = || matrix.row_within(row, block.clone());
        for (column, _) in of_field().filter(|(_, value)| *value != 0.0) {
            match *first {
                None => *first = Some(column - block.start),
                Some(other) => groups.join(other, column - block.start),
            }
        }
        if let Some(first) = *first {
            is_fixed[first] |= !sum_vanishes(of_field().map(|(_, value)| value), rounding);
        }
    }
    for unknown in 0..block.len() {
        if is_fixed[unknown] {
            is_fixed[groups.root(unknown)] = true;
        }
    }
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for unknown in 0..block.len() {
        let root = groups.root(unknown);
        if !is_fixed[root] {
            parts.entry(root).or_default().unknowns.push(block.start + unknown);
        }
    }
    if parts.is_empty() {
        return Vec::new();
    }
    for (row, first) in first.iter().enumerate() {
        let part = first.and_then(|first| parts.get_mut(&groups.root(first)));
        part.into_iter().for_each(|part| part.rows.push(row));
    }
    let is_zero = |row: usize| matrix.row(row).all(|(_, value)| value == 0.0);
    parts.retain(|_, part| !part.rows.is_empty() || is_zero(part.unknowns[0]));

    let parts: Vec<Part> = parts.into_values().collect();
    let mut left: Vec<Option<LeftNullVector>> = vec![None; parts.len()];
    for equation in blocks {
        let candidate = |(part, left): (&Part, &Option<LeftNullVector>)| {
            let rows: Vec<usize> = if part.rows.is_empty() {
                part.unknowns.iter().copied().filter(|unknown| equation.contains(unknown)).collect()
            } else {
                part.rows.iter().copied().filter(|row| equation.contains(row)).collect()
            };
            let weights = vec![1.0; rows.len()];
            (left.is_none() && !rows.is_empty()).then_some(LeftNullVector { rows, weights })
        };
        let candidates = parts.iter().zip(&left).map(candidate).collect();
        let found = vanishing(matrix, candidates, round_off(rounding));
        left.iter_mut().zip(found).for_each(|(left, found)| *left = left.take().or(found));
    }
    parts.into_iter().zip(left).map(|(part, left)| Component { unknowns: part.unknowns, left }).collect()
}

/// Connected unknowns of one field.
#[derive(Default)]
struct Part {
    /// Their columns, ascending.
    unknowns: Vec<usize>,
    /// The rows with some of them, ascending; each sums to zero over them.
    rows: Vec<usize>,
}
