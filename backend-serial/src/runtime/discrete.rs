//! Gradient, Divergence and reductions.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::reduce::{LEAF, leaf, leaf_count, nothing_to_reduce, reduce_leaves, tree};
use equelle_runtime::{BinaryMath, EntityKind, Error, FaceReduction, Real, Reduction};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::forward::sum_of_rows;
use super::jacobian::Jacobian;

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
    let face_cells = &rt.grid().topology().face_cells;
    let (domain, n_cells) = (&first.domain, cells.len());
    let (a, b) = (rt.values_of(first), rt.values_of(second));
    let (faces, order) = (domain.elements(), domain.file_order());
    let positions = (0..faces.len()).map(|k| order.map_or(k, |order| order[k] as usize));
    // An absent cell has an index beyond every cell.
    let ends = positions.flat_map(|position| {
        let [to_first, to_second] = face_cells[faces[position] as usize].map(|cell| cell as usize);
        [(to_first, position, false), (to_second, position, true)]
    });
    let ends = ends.filter(|&(cell, ..)| cell < n_cells);
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
