//! Reductions and their order: leaves of 1024 by 256 chains, then a binary tree.

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::grid::{Cartesian, Grid, Renumber};
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, failure, line, session};

/// 2^53: from here on doubles are 2 apart, so that adding a single 1 is absorbed (ties go to even)
/// and adding 2 is not.
const BIG: f64 = 9_007_199_254_740_992.0;

fn reduced(reduction: Reduction, values: Vec<f64>) -> Result<f64, Error> {
    let mut rt = line(values.len(), 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let values = rt.scalar_collection(&cells, values)?;
    rt.reduce(reduction, &values)
}

#[test]
fn small_answers() -> Result<(), Error> {
    let values = || vec![3.0, -5.0, 0.5, 2.0];
    assert_eq!(reduced(Reduction::Sum, values())?, 0.5);
    assert_eq!(reduced(Reduction::Prod, values())?, -15.0);
    assert_eq!(reduced(Reduction::Max, values())?, 3.0);
    assert_eq!(reduced(Reduction::Min, values())?, -5.0);
    Ok(())
}

#[test]
fn a_leaf_and_one_more() -> Result<(), Error> {
    let values: Vec<f64> = (1..=1025).map(|i| 1.0 / f64::from(i)).collect();
    // Chain c of leaf 0 is 1/(c+1) + 1/(c+257) + ...; the second half is added to the first until
    // one number is left.
    let mut chains: Vec<f64> = (0..256).map(|chain| values[chain..1024].iter().step_by(256).fold(0.0, |sum, v| sum + v)).collect();
    while chains.len() > 1 {
        let second = chains.split_off(chains.len() / 2);
        chains.iter_mut().zip(second).for_each(|(first, second)| *first += second);
    }
    let expected = chains[0] + values[1024];
    assert_ne!(expected, values.iter().fold(0.0, |sum, v| sum + v), "the order shows");
    assert_eq!(reduced(Reduction::Sum, values)?.to_bits(), expected.to_bits());
    assert_eq!(reduced(Reduction::Sum, vec![1.0; 1025])?, 1025.0);
    Ok(())
}

#[test]
fn the_second_leaf_is_summed_by_itself() -> Result<(), Error> {
    // Leaf 0 = 2^53, leaf 1 = 1 + 1. A running sum would absorb both ones.
    let mut values = vec![0.0; 1026];
    (values[0], values[1024], values[1025]) = (BIG, 1.0, 1.0);
    assert_eq!(reduced(Reduction::Sum, values)?, BIG + 2.0);
    Ok(())
}

#[test]
fn a_full_tree_and_one_more() -> Result<(), Error> {
    // 2^20 + 1 values: 1024 leaves and one of a single element. Level 1: 2^53 + 1 is absorbed;
    // leaves 2 and 3 make 2. Level 2: 2^53 + 2. The odd last leaf joins at the very end: 2^53 + 3
    // lies between 2^53 + 2 and 2^53 + 4, and the latter has the even significand.
    let mut values = vec![0.0; (1 << 20) + 1];
    for leaf in [1, 2, 3, 1024] {
        values[leaf * 1024] = 1.0;
    }
    values[0] = BIG;
    assert_eq!(reduced(Reduction::Sum, values)?, BIG + 4.0);
    Ok(())
}

#[test]
fn a_fused_reduction_equals_that_of_stored_values() -> Result<(), Error> {
    // 2500: two full leaves and a part of one.
    let value = |position: usize| (position as f64 * 0.37).sin() + 2.0;
    let mut rt = line(2500, 1.0);
    let cells = rt.domain(ALL_CELLS)?;
    let values = rt.scalar_collection(&cells, (0..2500).map(value).collect())?;
    for reduction in [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min] {
        let (stored, fused) = (rt.reduce(reduction, &values)?, rt.reduce_with(reduction, &cells, value)?);
        assert_eq!(stored.to_bits(), fused.to_bits(), "{reduction:?}");
    }
    let mut seen = vec![];
    rt.reduce_with(Reduction::Min, &cells, |position| {
        seen.push(position);
        0.0
    })?;
    assert_eq!(seen, (0..2500).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn nan_propagates_through_max_and_min() -> Result<(), Error> {
    for position in [0, 1, 2000] {
        let mut values: Vec<f64> = (0..2001).map(f64::from).collect();
        values[position] = f64::NAN;
        assert!(reduced(Reduction::Max, values.clone())?.is_nan());
        assert!(reduced(Reduction::Min, values)?.is_nan());
    }
    Ok(())
}

#[test]
fn reductions_of_empty_collections() -> Result<(), Error> {
    // A grid of one cell has no interior cells.
    let mut rt = line(1, 1.0);
    let interior = rt.domain(CanonicalSet { kind: EntityKind::Cell, extent: Extent::Interior })?;
    let nothing = rt.scalar_collection(&interior, vec![])?;
    assert_eq!(rt.reduce(Reduction::Sum, &nothing)?.to_bits(), 0.0f64.to_bits());
    assert_eq!(rt.reduce(Reduction::Prod, &nothing)?, 1.0);
    rt.line(8);
    for (reduction, name) in [(Reduction::Max, "MaxReduce"), (Reduction::Min, "MinReduce")] {
        for error in [failure(rt.reduce(reduction, &nothing)), failure(rt.reduce_with(reduction, &interior, |_| 0.0))] {
            assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Simulation, &[8][..]));
            assert!(error.message.contains(name) && error.message.contains("InteriorCells()"), "{}", error.message);
        }
    }
    Ok(())
}

/// Values that a kernel writes range by range are reduced as a collection of the same values is: in
/// the order of the grid's file, on any number of threads; their sum shows another order.
#[test]
fn what_kernels_write_is_reduced_like_collections() -> Result<(), Error> {
    const KERNEL: KernelInfo =
        KernelInfo { name: "total", lines: &[], set: None, bytes: KernelBytes::NONE, takes_joined_sides: false, halo_layers: 0 };
    let grid = |renumber: bool| {
        let mut grid = Grid::cartesian(Cartesian::plane([70, 60], [1.0; 2])).expect("a valid shape").as_unstructured();
        grid.renumber(if renumber { Renumber::Yes } else { Renumber::No });
        grid
    };
    let value = |cell: usize| (cell as f64).sin() * 10f64.powi(cell as i32 % 13 - 6);
    let mut sums = Vec::new();
    for renumber in [false, true] {
        let mut rt = SerialRuntime::new(session(grid(renumber)));
        let cells = rt.domain(ALL_CELLS)?;
        assert_eq!(cells.file_order().is_some(), renumber);
        let values: Vec<f64> = (0..cells.len()).map(value).collect();
        let collection = rt.scalar_collection(&cells, values.clone())?;
        for reduction in [Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min] {
            let written = rt.reduce_written_in_kernel(reduction, &cells, &KERNEL, |range, part| part.copy_from_slice(&values[range]))?;
            assert_eq!(written.to_bits(), rt.reduce(reduction, &collection)?.to_bits(), "{reduction:?}");
            sums.extend((reduction == Reduction::Sum).then_some(written));
        }
    }
    assert_ne!(sums[0], sums[1], "the order shows");
    Ok(())
}
