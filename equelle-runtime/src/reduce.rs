//! Reductions in a fixed order, the same on every back-end and for any number of threads.
//!
//! 1. The values, in the order of the grid's file ([`crate::domain::Domain::file_order`]), are
//!    split into *leaves* of [`LEAF`] elements; the last may be shorter.
//! 2. Element k of a leaf belongs to *chain* k modulo [`CHAINS`]; within a chain elements are
//!    combined from left to right. Sum starts from +0.0, Prod from 1.0, Max and Min from the
//!    chain's first element. Then the second half of the chains is combined with the first half,
//!    chain by chain, and so on until one is left; chains without elements are left out. Processors
//!    and GPUs work on many chains at once, where a sum from left to right would wait for each
//!    addition.
//! 3. The results of the leaves are combined by a binary tree, level by level: 0 with 1, 2 with 3,
//!    and so on; an odd last one passes on unchanged.
//!
//! Max and Min: NaN propagates, and -0.0 is less than +0.0, so that no order gives another result.
//! Without elements Sum is 0, Prod is 1, and Max and Min have no value.

use std::ops::Range;

use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::operators::Reduction;
use crate::real::Real;
use crate::threads::{BLOCK, PerBlock, Threads};

/// Elements of a leaf.
pub const LEAF: usize = BLOCK;
/// Chains of a leaf.
pub const CHAINS: usize = 256;

/// The error of Max or Min over a domain without elements.
pub fn nothing_to_reduce(reduction: Reduction, domain: &Domain) -> Error {
    let name = match reduction {
        Reduction::Max => "MaxReduce",
        Reduction::Min => "MinReduce",
        Reduction::Sum => "SumReduce",
        Reduction::Prod => "ProdReduce",
    };
    Error::new(ErrorKind::Simulation, format!("{name} of a collection without elements: {} is empty", domain.name()))
}

/// Reduces values in the documented order and in double precision; `None` for Max or Min without
/// elements.
pub fn reduce<R: Real>(reduction: Reduction, values: &[R]) -> Option<f64> {
    let mut leaves: Vec<f64> = values.chunks(LEAF).filter_map(|chunk| leaf_of(reduction, chunk)).collect();
    tree(reduction, &mut leaves)
}

/// [`reduce`] on several threads: the same bits.
pub fn reduce_on<R: Real>(threads: &Threads, reduction: Reduction, values: &[R]) -> Option<f64> {
    reduce_values(threads, reduction, values, &mut vec![0.0; leaf_count(values.len())])
}

/// Reduces `n` values that are computed on demand: `values` of each leaf's range. `leaves` is a
/// workspace for the results of the leaves.
///
/// ```
/// use equelle_runtime::Reduction;
/// use equelle_runtime::reduce::{leaf_count, reduce_leaves};
/// use equelle_runtime::threads::Threads;
///
/// let (x, y) = (vec![2.0; 5000], vec![3.0; 5000]);
/// let mut leaves = vec![0.0; leaf_count(x.len())];
/// let product = |range: std::ops::Range<usize>| x[range.clone()].iter().zip(&y[range]).map(|(x, y)| x * y);
/// assert_eq!(reduce_leaves(&Threads::new(2), Reduction::Sum, x.len(), &mut leaves, product), Some(30_000.0));
/// ```
///
/// # Panics
/// If there are not [`leaf_count`] leaves.
pub fn reduce_leaves<V: IntoIterator<Item = f64>>(
    threads: &Threads,
    reduction: Reduction,
    n: usize,
    leaves: &mut [f64],
    values: impl Fn(Range<usize>) -> V + Sync,
) -> Option<f64> {
    threads.each_cheap(n, PerBlock(&mut *leaves), |range, PerBlock(leaves)| {
        for (start, result) in range.clone().step_by(LEAF).zip(leaves) {
            // A leaf is never empty, so it has a value.
            *result = leaf(reduction, values(start..range.end.min(start + LEAF))).unwrap_or(f64::NAN);
        }
    });
    tree(reduction, leaves)
}

/// [`reduce_on`] with a workspace for the results of the leaves.
///
/// # Panics
/// If there are not [`leaf_count`] leaves.
pub fn reduce_values<R: Real>(threads: &Threads, reduction: Reduction, values: &[R], leaves: &mut [f64]) -> Option<f64> {
    threads.each_cheap(values.len(), PerBlock(&mut *leaves), |range, PerBlock(leaves)| {
        for (values, result) in values[range].chunks(LEAF).zip(leaves) {
            *result = leaf_of(reduction, values).unwrap_or(f64::NAN);
        }
    });
    tree(reduction, leaves)
}

/// Reduces `n` values that are written leaf by leaf: `write` gets a range and the place for its
/// values, which no cache has to give away before they are reduced.
///
/// # Panics
/// If there are not [`leaf_count`] leaves.
pub fn reduce_written<R: Real>(
    threads: &Threads,
    reduction: Reduction,
    n: usize,
    leaves: &mut [f64],
    write: impl Fn(Range<usize>, &mut [R]) + Sync,
) -> Option<f64> {
    threads.each(n, PerBlock(&mut *leaves), |range, PerBlock(leaves)| {
        let mut values = [R::ZERO; LEAF];
        for (start, result) in range.clone().step_by(LEAF).zip(leaves) {
            let end = range.end.min(start + LEAF);
            let values = &mut values[..end - start];
            write(start..end, values);
            *result = leaf_of(reduction, values).unwrap_or(f64::NAN);
        }
    });
    tree(reduction, leaves)
}

/// Number of leaves of `n` elements.
pub fn leaf_count(n: usize) -> usize {
    n.div_ceil(LEAF)
}

/// Initial value of a chain; `None` means its first element.
pub fn start(reduction: Reduction) -> Option<f64> {
    match reduction {
        Reduction::Sum => Some(0.0),
        Reduction::Prod => Some(1.0),
        Reduction::Max | Reduction::Min => None,
    }
}

/// Combines two partial results.
#[inline]
pub fn combine(reduction: Reduction, left: f64, right: f64) -> f64 {
    match reduction {
        Reduction::Sum => left + right,
        Reduction::Prod => left * right,
        // Two equal numbers differ in the sign of zero alone: the bits that both have, or one.
        Reduction::Max => {
            let larger = if right > left { right } else { left };
            let larger = if left == right { f64::from_bits(left.to_bits() & right.to_bits()) } else { larger };
            if right.is_nan() { right } else { larger }
        }
        Reduction::Min => {
            let smaller = if right < left { right } else { left };
            let smaller = if left == right { f64::from_bits(left.to_bits() | right.to_bits()) } else { smaller };
            if right.is_nan() { right } else { smaller }
        }
    }
}

/// Reduces one leaf of at most [`LEAF`] values; `None` for Max or Min without elements. Takes an
/// iterator, so that a fused kernel can compute values on the way.
///
/// ```
/// use equelle_runtime::Reduction;
/// use equelle_runtime::reduce::leaf;
///
/// // Chain 0 has 1e16 and absorbs a 1; then chain 128 with 2 is added, chain 64 with 4 by then,
/// // and so on to 256.
/// let values = (0..512).map(|k| if k == 0 { 1e16 } else { 1.0 });
/// assert_eq!(leaf(Reduction::Sum, values), Some(1e16 + 510.0));
/// ```
#[inline]
pub fn leaf(reduction: Reduction, values: impl IntoIterator<Item = f64>) -> Option<f64> {
    // Values first: loops over slices become vector instructions, loops over iterators seldom do.
    let mut all = [0.0; LEAF];
    let mut n = 0;
    all.iter_mut().zip(values).for_each(|(place, value)| {
        *place = value;
        n += 1;
    });
    leaf_of(reduction, &all[..n])
}

/// [`leaf`] of values that are there.
///
/// # Panics
/// If there are more than [`LEAF`].
pub fn leaf_of<R: Real>(reduction: Reduction, values: &[R]) -> Option<f64> {
    assert!(values.len() <= LEAF, "values of one leaf");
    // One loop for each reduction, without a branch inside.
    match reduction {
        Reduction::Sum => chains(reduction, values, |left, right| combine(Reduction::Sum, left, right)),
        Reduction::Prod => chains(reduction, values, |left, right| combine(Reduction::Prod, left, right)),
        Reduction::Max => chains(reduction, values, |left, right| combine(Reduction::Max, left, right)),
        Reduction::Min => chains(reduction, values, |left, right| combine(Reduction::Min, left, right)),
    }
}

/// [`leaf`] for the sum of a slice: vectorised. 0 without elements.
///
/// # Panics
/// If there are more than [`LEAF`] values.
pub fn leaf_sum(values: &[f64]) -> f64 {
    assert!(values.len() <= LEAF, "values of one leaf");
    if values.len() < CHAINS {
        return leaf(Reduction::Sum, values.iter().copied()).unwrap_or(0.0);
    }
    let mut chains = [0.0; CHAINS];
    for values in values.chunks(CHAINS) {
        chains.iter_mut().zip(values).for_each(|(chain, value)| *chain += value);
    }
    let mut half = CHAINS;
    while half > 1 {
        half /= 2;
        let (first, second) = chains[..2 * half].split_at_mut(half);
        first.iter_mut().zip(second).for_each(|(first, second)| *first += *second);
    }
    chains[0]
}

#[inline(always)]
fn chains<R: Real>(reduction: Reduction, values: &[R], combine: impl Fn(f64, f64) -> f64) -> Option<f64> {
    let mut rounds = values.chunks(CHAINS);
    let first = rounds.next().unwrap_or_default();
    let (mut chains, filled) = ([0.0; CHAINS], first.len());
    match start(reduction) {
        Some(start) => chains.iter_mut().zip(first).for_each(|(chain, value)| *chain = combine(start, value.to_f64())),
        None => chains.iter_mut().zip(first).for_each(|(chain, value)| *chain = value.to_f64()),
    }
    for values in rounds {
        chains.iter_mut().zip(values).for_each(|(chain, value)| *chain = combine(*chain, value.to_f64()));
    }
    let mut half = CHAINS;
    while half > 1 {
        half /= 2;
        let (first, second) = chains[..filled.min(2 * half)].split_at_mut(half.min(filled));
        first.iter_mut().zip(second).for_each(|(first, second)| *first = combine(*first, *second));
    }
    if filled > 0 { Some(chains[0]) } else { start(reduction) }
}

/// Combines the results of the leaves by the tree, in place. Without leaves: 0, 1, or `None` for
/// Max and Min.
pub fn tree(reduction: Reduction, leaves: &mut [f64]) -> Option<f64> {
    if leaves.is_empty() {
        return start(reduction);
    }
    let mut n = leaves.len();
    while n > 1 {
        for pair in 0..n / 2 {
            leaves[pair] = combine(reduction, leaves[2 * pair], leaves[2 * pair + 1]);
        }
        if n % 2 == 1 {
            leaves[n / 2] = leaves[n - 1];
        }
        n = n.div_ceil(2);
    }
    Some(leaves[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_of_nothing() {
        assert_eq!(reduce(Reduction::Sum, &[0.0; 0]).map(f64::to_bits), Some(0.0f64.to_bits()));
        assert_eq!(reduce(Reduction::Prod, &[0.0; 0]), Some(1.0));
        assert_eq!(reduce(Reduction::Max, &[0.0; 0]), None);
        assert_eq!(reduce(Reduction::Min, &[0.0; 0]), None);
    }

    #[test]
    fn sums_of_slices_are_those_of_leaves() {
        for n in [0, 1, 2, 255, 256, 257, 700, 1023, 1024] {
            let values: Vec<f64> = (0..n).map(|k| (f64::from(k) * 0.7).sin() * 10f64.powi(k % 7)).collect();
            assert_eq!(leaf_sum(&values).to_bits(), leaf(Reduction::Sum, values.iter().copied()).unwrap_or(0.0).to_bits(), "{n}");
        }
        assert_eq!(leaf_sum(&[-0.0; 300]).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn the_order_is_chains_then_leaves() {
        // 1e16 absorbs a single 1 (its neighbours are 2 apart), so the sum reveals the order of
        // additions. Leaf 0: its first chain is 1e16, which absorbs 3 ones one by one; 255 chains
        // of 4 ones are 1020. Leaf 1: 1024 ones = 1024. Leaf 2: chains of one, (1 + 1) + 1.
        let mut values = vec![1.0; 2 * LEAF + 3];
        values[0] = 1e16;
        // Tree: (1e16 + 1020 + 1024) then + 3, which is halfway between + 2046 and + 2048; the even
        // mantissa wins: (1e16 + 2048) / 2 = 5e15 + 1024.
        assert_eq!(reduce(Reduction::Sum, &values), Some(1e16 + 2048.0));
        // A sum from left to right would have absorbed every one.
        assert_eq!(values.iter().sum::<f64>(), 1e16);
    }

    #[test]
    fn an_odd_last_leaf_passes_on() {
        // Five leaves: ((a+b)+(c+d))+e.
        let mut leaves = [1e16, -1e16, 1.0, 1.0, 0.5];
        assert_eq!(tree(Reduction::Sum, &mut leaves), Some(2.5));
        let mut leaves = [1.0, 1e16, -1e16, 1.0, 1.0];
        // Doubles near 1e16 are 2 apart and ties go to even, so both pairs absorb their 1: (1e16) +
        // (-1e16), then + 1. A sum from left to right would give 2.
        assert_eq!(tree(Reduction::Sum, &mut leaves), Some(1.0));
    }

    #[test]
    fn max_and_min() {
        assert_eq!(reduce(Reduction::Max, &[1.0, 3.0, 2.0]), Some(3.0));
        assert_eq!(reduce(Reduction::Min, &[1.0, -3.0, 2.0]), Some(-3.0));
        assert_eq!(reduce(Reduction::Max, &[f64::NEG_INFINITY]), Some(f64::NEG_INFINITY));
        for position in [0, 1, 1023, 1024, 2000] {
            let mut values = vec![1.0; 2001];
            values[position] = f64::NAN;
            assert!(reduce(Reduction::Max, &values).is_some_and(f64::is_nan), "Max with NaN at {position}");
            assert!(reduce(Reduction::Min, &values).is_some_and(f64::is_nan), "Min with NaN at {position}");
        }
        for zeros in [[-0.0, 0.0], [0.0, -0.0]] {
            assert!(reduce(Reduction::Max, &zeros).is_some_and(f64::is_sign_positive), "{zeros:?}");
            assert!(reduce(Reduction::Min, &zeros).is_some_and(f64::is_sign_negative), "{zeros:?}");
        }
    }

    /// Sums whose bits reveal the order: the values differ in size by twelve orders of magnitude.
    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        for n in [0, 1, 1023, 1024, 1025, 40_000, 100_001] {
            let values: Vec<f64> = (0..n).map(|i| f64::from(i).sin() * 10f64.powi(i % 13 - 6)).collect();
            for reduction in [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min] {
                let expected = reduce(reduction, &values).map(f64::to_bits);
                for threads in 1..=4 {
                    assert_eq!(
                        reduce_on(&Threads::new(threads), reduction, &values).map(f64::to_bits),
                        expected,
                        "{n} {reduction:?} {threads}"
                    );
                    let mut leaves = vec![0.0; leaf_count(values.len())];
                    let write = |range: Range<usize>, place: &mut [f64]| place.copy_from_slice(&values[range]);
                    let written = reduce_written(&Threads::new(threads), reduction, values.len(), &mut leaves, write);
                    assert_eq!(written.map(f64::to_bits), expected, "written, {n} {reduction:?} {threads}");
                }
            }
        }
        // Element 256 is the second one of chain 0, where it cancels element 0; from left to right,
        // the ones between would be lost.
        let mut values = vec![1.0; 257];
        (values[0], values[256]) = (1e16, -1e16);
        assert_eq!(reduce(Reduction::Sum, &values), Some(255.0));

        let mut values = vec![1.0; 100_001];
        values[70_000] = f64::NAN;
        assert!(reduce_on(&Threads::new(3), Reduction::Max, &values).is_some_and(f64::is_nan));
    }

    #[test]
    fn products() {
        assert_eq!(reduce(Reduction::Prod, &[2.0; 10]), Some(1024.0));
        assert_eq!(reduce(Reduction::Sum, &[-0.0]).map(f64::to_bits), Some(0.0f64.to_bits()), "Sum starts from +0.0");
    }
}
