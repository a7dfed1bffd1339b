//! Gradient, Divergence and reductions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::reduce::{LEAF, leaf, leaf_count, nothing_to_reduce, reduce_leaves, tree};
use equelle_runtime::{EntityKind, Error, Real, Reduction};

use super::SerialRuntime;
use super::collections::ScalarCollection;

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
/// Iterates over faces in the order of the grid's file, so that each cell adds in ascending index
/// there, from +0, as specified.
///
/// Memory traffic per face: 8 B cells, 8 B value, 16 B cell sums (mostly cached).
pub(super) fn divergence<R: Real>(rt: &SerialRuntime<R>, cells: &Arc<Domain>, values: &ScalarCollection<R>) -> ScalarCollection<R> {
    debug_assert!(values.domain.kind() == EntityKind::Face);
    let face_cells = &rt.grid().topology().face_cells;
    let fluxes = rt.values_of(values);
    let mut out = rt.take_buffer(cells.len());
    out.fill(R::ZERO);
    let (faces, order) = (values.domain.elements(), values.domain.file_order());
    for k in 0..faces.len() {
        let position = order.map_or(k, |order| order[k] as usize);
        let (flux, face) = (fluxes[position], faces[position]);
        let [first, second] = face_cells[face as usize];
        // An absent cell has an index beyond every cell and no sum.
        if let Some(sum) = out.get_mut(first as usize) {
            *sum += flux;
        }
        if let Some(sum) = out.get_mut(second as usize) {
            *sum -= flux;
        }
    }
    let mut out = rt.scalar_collection_from(cells, out);
    if let Some(jacobian) = &values.jacobian {
        let terms = (0..faces.len()).flat_map(|k| {
            let row = order.map_or(k, |order| order[k] as usize);
            let [first, second] = face_cells[faces[row] as usize];
            [(first as usize, row, false), (second as usize, row, true)]
        });
        let inside = terms.filter(|&(cell, ..)| cell < cells.len());
        out.jacobian = Some(Rc::new(jacobian.signed_sums(cells.len(), inside)));
    }
    out
}

/// Reduces all elements in the order of [`equelle_runtime::reduce`], in double precision.
pub(super) fn reduce<R: Real>(rt: &SerialRuntime<R>, reduction: Reduction, values: &ScalarCollection<R>) -> Result<f64, Error> {
    let domain = &values.domain;
    let values = rt.values_of(values);
    // A pooled buffer for the leaves, so that a reduction in a step allocates nothing.
    let mut leaves = rt.doubles.take(leaf_count(values.len()));
    reduce_values(rt, reduction, domain, &values, &mut leaves, |value| value).ok_or_else(|| nothing_to_reduce(reduction, domain))
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
    domain: &Domain,
    mut value: impl FnMut(usize) -> f64,
) -> Result<f64, Error> {
    let (n, order) = (domain.len(), domain.file_order());
    let mut leaves = rt.doubles.take(leaf_count(n));
    for (index, result) in leaves.iter_mut().enumerate() {
        let positions = index * LEAF..n.min((index + 1) * LEAF);
        let values = positions.map(|k| value(order.map_or(k, |order| order[k] as usize)));
        *result = leaf(reduction, values).unwrap_or(f64::NAN);
    }
    tree(reduction, &mut leaves).ok_or_else(|| nothing_to_reduce(reduction, domain))
}
