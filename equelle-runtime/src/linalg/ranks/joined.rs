//! Connected unknowns over all ranks.

use std::collections::BTreeSet;

use super::columns::HaloColumns;
use crate::error::Error;
use crate::linalg::null_space::Groups;
use crate::ranks::RankContext;

/// The part of an unknown that is in none.
pub(super) const NONE: u32 = u32::MAX;

/// Parts of connected unknowns, numbered over all ranks in the order of ranks and of their
/// unknowns.
#[derive(Debug, PartialEq)]
pub(super) struct Joined {
    /// Part of each unknown, own ones first, or [`NONE`]: `[n_all]`.
    pub part: Vec<u32>,
    /// Number of parts.
    pub count: usize,
}

/// Joins groups of unknowns, own ones and those of the halo, over all ranks. A part with an unknown
/// that is `fixed` is none.
///
/// # Errors
/// `Backend` if another rank has ended.
pub(super) fn joined(ranks: &RankContext, columns: &HaloColumns, groups: &mut Groups, mut fixed: Vec<bool>) -> Result<Joined, Error> {
    let n = columns.n_all();
    let roots: Vec<usize> = (0..n).map(|unknown| groups.root(unknown)).collect();
    for (unknown, &root) in roots.iter().enumerate() {
        fixed[root] |= fixed[unknown];
    }
    let mut label = vec![NONE; n];
    let mut count = 0;
    for unknown in 0..n {
        if roots[unknown] == unknown && !fixed[unknown] {
            label[unknown] = count;
            count += 1;
        } else {
            label[unknown] = label[roots[unknown]];
        }
    }
    // Where groups meet: the label here, the rank of the other, its label there.
    let there = columns.exchange(ranks, |own| label[own])?;
    let meet = |(place, other): (usize, &u32)| {
        let own = label[columns.n_own() + place];
        (own != NONE || *other != NONE).then(|| [own, columns.halo()[place].0.0, *other])
    };
    let edges: BTreeSet<[u32; 3]> = there.iter().enumerate().filter_map(meet).collect();
    let told: Vec<u32> = std::iter::once(count).chain(edges.into_iter().flatten()).collect();
    let all = ranks.lists(&told)?;

    let mut starts = vec![0usize];
    all.iter().for_each(|told| starts.push(starts[starts.len() - 1] + told[0] as usize));
    let n_labels = starts[all.len()];
    let mut whole = Groups::new(n_labels);
    let mut is_fixed = vec![false; n_labels];
    for (rank, told) in all.iter().enumerate() {
        for &[own, owner, other] in told[1..].as_chunks::<3>().0 {
            let number = |rank: usize, label: u32| starts[rank] + label as usize;
            match (own != NONE, other != NONE) {
                (true, true) => whole.join(number(rank, own), number(owner as usize, other)),
                (true, false) => is_fixed[number(rank, own)] = true,
                (false, true) => is_fixed[number(owner as usize, other)] = true,
                (false, false) => {}
            }
        }
    }
    for number in 0..n_labels {
        let root = whole.root(number);
        is_fixed[root] |= is_fixed[number];
    }
    let mut parts = vec![NONE; n_labels];
    let mut count = 0;
    for number in 0..n_labels {
        let root = whole.root(number);
        if root == number && !is_fixed[number] {
            parts[number] = count;
            count += 1;
        } else {
            parts[number] = parts[root];
        }
    }
    let start = starts[ranks.rank().index()];
    let part = label.into_iter().map(|label| if label == NONE { NONE } else { parts[start + label as usize] }).collect();
    Ok(Joined { part, count: count as usize })
}
