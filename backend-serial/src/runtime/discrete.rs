//! Gradient, Divergence and reductions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::Topology;
use equelle_runtime::ranks::RankWork;
use equelle_runtime::reduce::{LEAF, leaf, leaf_count, nothing_to_reduce, reduce_leaves, tree};
use equelle_runtime::{BinaryMath, EntityKind, Error, FaceReduction, Real, Reduction};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::forward::sum_of_rows;
use super::jacobian::Jacobian;
use super::ranks::{Positions, Ranks};

/// For each interior face: value in the second cell minus value in the first. `interior` is
/// `InteriorFaces()`.
///
/// Memory traffic per face: 8 B cells, 16 B values (mostly cached), 8 B result.
pub(super) fn gradient<R: Real>(rt: &SerialRuntime<R>, interior: &Arc<Domain>, values: &ScalarCollection<R>) -> ScalarCollection<R> {
    debug_assert!(values.domain.kind() == EntityKind::Cell && values.domain.len() == rt.grid().n_cells());
    let face_cells = &rt.grid().topology().face_cells;
    let jacobian = &values.jacobian;
    let values = rt.values_of(values);
    let mut out = rt.take_buffer(interior.len());
    for (out, &face) in out.iter_mut().zip(interior.elements()) {
        let [first, second] = face_cells[face as usize];
        *out = values[second as usize] - values[first as usize];
    }
    let mut out = rt.scalar_collection_from(interior, out);
    if let Some(jacobian) = jacobian {
        let pairs = interior.elements().iter().map(|&face| face_cells[face as usize].map(|cell| cell as usize));
        out.jacobian = Some(Rc::new(jacobian.differences(pairs)));
    }
    out
}

/// For each cell the sum over its faces with values, positive where it is the face's first cell.
/// `cells` is `AllCells()`.
///
/// Each cell adds from +0 in the order of its faces: ascending index in the grid's file, where
/// joined faces count as those that they were.
///
/// Memory traffic per face: 8 B cells, 8 B of lists of cells, 8 B value (mostly cached).
pub(super) fn divergence<R: Real>(rt: &SerialRuntime<R>, cells: &Arc<Domain>, values: &ScalarCollection<R>) -> ScalarCollection<R> {
    debug_assert!(values.domain.kind() == EntityKind::Face);
    let fluxes = rt.values_of(values);
    let mut out = rt.take_buffer(cells.len());
    out.fill(R::ZERO);
    let ends = ends(rt.grid().topology(), &values.domain);
    for (cell, position, is_second) in ends.clone() {
        if is_second {
            out[cell] -= fluxes[position];
        } else {
            out[cell] += fluxes[position];
        }
    }
    let mut out = rt.scalar_collection_from(cells, out);
    if let Some(jacobian) = &values.jacobian {
        out.jacobian = Some(Rc::new(jacobian.signed_sums(cells.len(), ends)));
    }
    out
}

/// The faces of all cells, as far as they are in a domain: cell, position of the face, and whether
/// the cell is its second one. Each cell has its faces in the order of the grid.
fn ends<'a>(topology: &'a Topology, domain: &'a Domain) -> impl Iterator<Item = (usize, usize, bool)> + Clone + 'a {
    let ranks = Ranks::mapped(domain);
    let n_cells = topology.cell_face_pos.len() - 1;
    (0..n_cells).flat_map(move |cell| {
        topology.faces_of(cell).iter().filter_map(move |&face| {
            let is_second = topology.face_cells[face as usize][0] != cell as u32;
            Some(ranks.of(face)).filter(|&position| position != usize::MAX).map(|position| (cell, position, is_second))
        })
    })
}

/// For each cell a reduction of `first` on the faces of which it is the first cell and of `second`
/// on those of which it is the second. `cells` is `AllCells()`. Faces as in [`divergence`].
pub(super) fn face_reduce<R: Real>(
    rt: &SerialRuntime<R>,
    cells: &Arc<Domain>,
    reduction: FaceReduction,
    first: &ScalarCollection<R>,
    second: &ScalarCollection<R>,
) -> Result<ScalarCollection<R>, Error> {
    debug_assert!(first.domain.kind() == EntityKind::Face && first.domain.same_elements(&second.domain));
    let (domain, n_cells) = (&first.domain, cells.len());
    let (a, b) = (rt.values_of(first), rt.values_of(second));
    let ends = ends(rt.grid().topology(), domain);
    let number = |position: usize, is_second: bool| if is_second { b[position] } else { a[position] };
    let start = R::from_f64(match reduction {
        FaceReduction::Sum => 0.0,
        FaceReduction::Max => f64::NEG_INFINITY,
        FaceReduction::Min => f64::INFINITY,
    });
    let mut out = rt.take_buffer(n_cells);
    out.fill(start);
    let with_derivatives = first.jacobian.is_some() || second.jacobian.is_some();
    // The position of the extreme, and whether it is of `second`.
    let mut chosen = vec![None; if with_derivatives { n_cells } else { 0 }];
    for (cell, position, is_second) in ends.clone() {
        let number = number(position, is_second);
        let (kept, math) = match reduction {
            FaceReduction::Sum => {
                out[cell] += number;
                continue;
            }
            FaceReduction::Max => (out[cell] >= number, BinaryMath::Max),
            FaceReduction::Min => (out[cell] <= number, BinaryMath::Min),
        };
        if with_derivatives && !(kept || out[cell].is_nan()) {
            chosen[cell] = Some((position, is_second));
        }
        out[cell] = math.of(out[cell], number);
    }
    let mut out = rt.scalar_collection_from(cells, out);
    let rows = |jacobian: &Jacobian<R>, of_second: bool| match reduction {
        FaceReduction::Sum => {
            let terms = ends.clone().filter(|&(.., is_second)| is_second == of_second);
            jacobian.signed_sums(n_cells, terms.map(|(cell, position, _)| (cell, position, false)))
        }
        FaceReduction::Max | FaceReduction::Min => jacobian.gather(chosen.iter().map(|chosen| match chosen {
            Some((position, is_second)) if *is_second == of_second => Some(*position),
            _ => None,
        })),
    };
    let of_first = first.jacobian.as_ref().map(|jacobian| rows(jacobian, false));
    let of_second = second.jacobian.as_ref().map(|jacobian| rows(jacobian, true));
    out.jacobian = sum_of_rows(first, second, of_first, of_second)?.map(Rc::new);
    Ok(out)
}

/// Reduces all elements in the order of [`equelle_runtime::reduce`], in double precision.
pub(super) fn reduce<R: Real>(rt: &SerialRuntime<R>, reduction: Reduction, values: &ScalarCollection<R>) -> Result<f64, Error> {
    let domain = &values.domain;
    let values = rt.values_of(values);
    if let Some(rank) = rt.session().rank() {
        let _time = rank.progress().work().time(RankWork::Reduce);
        return rank.reduce(reduction, domain, &values)?.ok_or_else(|| nothing_to_reduce(reduction, domain));
    }
    // A pooled buffer for the leaves, so that a reduction in a step allocates nothing.
    let mut leaves = rt.doubles.take(leaf_count(values.len()));
    let reduced = match domain.file_order() {
        None => equelle_runtime::reduce::reduce_values(rt.session().threads(), reduction, &values, &mut leaves),
        Some(_) => reduce_values(rt, reduction, domain, &values, &mut leaves, |value| value),
    };
    reduced.ok_or_else(|| nothing_to_reduce(reduction, domain))
}

/// Reduces `f` of each value in the order of the grid's file, on the threads of the run. `leaves`
/// is a workspace for the leaves. `None` for Max or Min without elements.
pub(super) fn reduce_values<R: Real>(
    rt: &SerialRuntime<R>,
    reduction: Reduction,
    domain: &Domain,
    values: &[R],
    leaves: &mut [f64],
    f: impl Fn(f64) -> f64 + Sync,
) -> Option<f64> {
    let (threads, f) = (rt.session().threads(), &f);
    match domain.file_order() {
        None => reduce_leaves(threads, reduction, values.len(), leaves, |range| values[range].iter().map(|value| f(value.to_f64()))),
        Some(order) => {
            let value = |&position: &u32| f(values[position as usize].to_f64());
            reduce_leaves(threads, reduction, order.len(), leaves, |range| order[range].iter().map(value))
        }
    }
}

/// [`reduce`] of values computed on demand: `value` of each position of the domain, called once
/// each in the order of the grid's file.
pub(super) fn reduce_with<R: Real>(
    rt: &SerialRuntime<R>,
    reduction: Reduction,
    domain: &Arc<Domain>,
    mut value: impl FnMut(usize) -> f64,
) -> Result<f64, Error> {
    if let Some(rank) = rt.session().rank() {
        let _time = rank.progress().work().time(RankWork::Reduce);
        let values: Vec<f64> = (0..domain.len()).map(value).collect();
        return rank.reduce(reduction, domain, &values)?.ok_or_else(|| nothing_to_reduce(reduction, domain));
    }
    let (n, order) = (domain.len(), domain.file_order());
    let mut leaves = rt.doubles.take(leaf_count(n));
    for (index, result) in leaves.iter_mut().enumerate() {
        let positions = index * LEAF..n.min((index + 1) * LEAF);
        let values = positions.map(|k| value(order.map_or(k, |order| order[k] as usize)));
        *result = leaf(reduction, values).unwrap_or(f64::NAN);
    }
    tree(reduction, &mut leaves).ok_or_else(|| nothing_to_reduce(reduction, domain))
}
