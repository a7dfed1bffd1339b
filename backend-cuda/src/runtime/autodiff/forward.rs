//! Derivatives at the operation level, forward mode: inside a Newton solve a collection has a
//! [`Jacobian`], and every operation propagates it, by the rules of the serial back-end.
//!
//! | operation | Jacobian of the result |
//! | --- | --- |
//! | arithmetic, functions | rows scaled by numbers of the operands and the result ([`Rule`]), and added |
//! | `On`, `Extend`, `c ? u : v` | rows picked |
//! | `Gradient`, `Divergence`, `FaceSum` | matrices of the grid times the operands' Jacobians |
//! | `FaceMax`, `FaceMin` | the row of the first extreme |
//!
//! Comparisons, reductions, outputs and values copied to the host have no derivatives: a value that
//! depends on an unknown only through them counts as constant.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::autodiff::grid_matrix::{GridMatrix, Sides};
use crate::runtime::autodiff::jacobian;
use crate::runtime::autodiff::rules::Rule;
use crate::runtime::executor::arguments::{EqBool, EqOperand};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::DERIVATIVES_MODULE;
use crate::runtime::linalg::csr::Jacobian;
use crate::runtime::operations::operand::{Extent, Numbers};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::EntityCollection;

/// The derivatives of a function of one or two operands with the result in `values`, by component.
pub(crate) fn differentiate(
    rt: &CudaRuntime,
    first: Rule,
    second: Option<Rule>,
    extent: Extent,
    a: &Numbers,
    b: &Numbers,
    values: &Rc<Buffer>,
) -> Result<[Option<Jacobian>; 3], Error> {
    let mut out = [None, None, None];
    if !a.has_derivatives() && !b.has_derivatives() {
        return Ok(out);
    }
    let results = Numbers::components(values, extent.n, rt.executor.precision());
    for (axis, out) in out.iter_mut().enumerate().take(extent.components) {
        let (a, b, v) = (a.component(axis), b.component(axis), results.component(axis));
        let operands = [a.operand, b.operand, v.operand];
        let (left, right) = (a.jacobians[0].as_ref(), second.and_then(|second| Some((second, b.jacobians[0].as_ref()?))));
        *out = match (left, right) {
            (None, None) => None,
            (Some(left), None) => Some(jacobian::scaled_rows(&rt.executor, first, left, operands)?),
            (None, Some((second, right))) => Some(jacobian::scaled_rows(&rt.executor, second, right, operands)?),
            (Some(left), Some((second, right))) => {
                same_unknowns(rt, left, right)?;
                Some(jacobian::united_rows(&rt.executor, (first, second), [left, right], operands)?)
            }
        };
    }
    Ok(out)
}

/// The derivatives of a ternary: the rows of the chosen branch.
pub(crate) fn select(
    rt: &CudaRuntime,
    extent: Extent,
    condition: EqBool,
    a: &Numbers,
    b: &Numbers,
) -> Result<[Option<Jacobian>; 3], Error> {
    let mut out = [None, None, None];
    for (axis, out) in out.iter_mut().enumerate().take(extent.components) {
        let (left, right) = (a.jacobians[axis].as_ref(), b.jacobians[axis].as_ref());
        if let (Some(left), Some(right)) = (left, right) {
            same_unknowns(rt, left, right)?;
        }
        *out = jacobian::picked_rows(&rt.executor, extent.n, condition, None, [left, right])?;
    }
    Ok(out)
}

/// The derivatives of `On`: the rows of the target's entities.
pub(crate) fn on(
    rt: &mut CudaRuntime,
    extent: Extent,
    from: &Arc<Domain>,
    data: &Numbers,
    target: &EntityCollection,
) -> Result<[Option<Jacobian>; 3], Error> {
    if !data.has_derivatives() {
        return Ok([None, None, None]);
    }
    let n = extent.n;
    let sources = rt.executor.buffer("positions of entities", 4 * n as u64)?;
    let ranks = rt.ranks(from)?;
    let call = rt.executor.call(&DERIVATIVES_MODULE, "equelle_sources_on")?.arg(n as u32).arg(target.pointer()).arg(ranks);
    rt.executor.launch_over(call.arg(sources.address()), n)?;
    rows_from(rt, extent, &sources, data)
}

/// The derivatives of `Extend`: the rows of the elements with data.
pub(crate) fn extend(
    rt: &mut CudaRuntime,
    extent: Extent,
    from: &Arc<Domain>,
    data: &Numbers,
    domain: &Arc<Domain>,
) -> Result<[Option<Jacobian>; 3], Error> {
    if !data.has_derivatives() {
        return Ok([None, None, None]);
    }
    let n = extent.n;
    let sources = rt.executor.buffer("positions of entities", 4 * n as u64)?;
    let (space, ranks) = (rt.space(domain)?, rt.ranks(from)?);
    let call = rt.executor.call(&DERIVATIVES_MODULE, "equelle_sources_extended")?.arg(space).arg(ranks);
    rt.executor.launch_over(call.arg(sources.address()), n)?;
    rows_from(rt, extent, &sources, data)
}

fn rows_from(rt: &CudaRuntime, extent: Extent, sources: &Buffer, data: &Numbers) -> Result<[Option<Jacobian>; 3], Error> {
    let mut out = [None, None, None];
    let always = EqBool { value: 1, ..EqBool::default() };
    for (axis, out) in out.iter_mut().enumerate().take(extent.components) {
        *out = jacobian::picked_rows(&rt.executor, extent.n, always, Some(sources), [data.jacobians[axis].as_ref(), None])?;
    }
    Ok(out)
}

/// The derivatives of Gradient.
pub(crate) fn gradient(rt: &mut CudaRuntime, interior: &Arc<Domain>, data: &Numbers) -> Result<Option<Jacobian>, Error> {
    let Some(jacobian) = &data.jacobians[0] else { return Ok(None) };
    let matrix = match &rt.matrices.gradient {
        Some(matrix) => Rc::clone(matrix),
        None => {
            let grid = Arc::clone(rt.session.grid());
            let row = |&face: &u32| {
                let [first, second] = grid.topology().face_cells[face as usize];
                let mut row = vec![(first, -1.0), (second, 1.0)];
                row.sort_unstable_by_key(|&(column, _)| column);
                row
            };
            let rows: Vec<_> = interior.elements().iter().map(row).collect();
            let matrix = Rc::new(jacobian::grid_matrix(&rt.executor, grid.n_cells(), &rows)?);
            rt.matrices.gradient = Some(Rc::clone(&matrix));
            matrix
        }
    };
    jacobian::multiplied(&rt.executor, &matrix, jacobian).map(Some)
}

/// The derivatives of Divergence of values on a set of faces: rows are added like the values, in
/// the order of the faces of a cell.
pub(crate) fn divergence(rt: &mut CudaRuntime, faces: &Arc<Domain>, data: &Numbers) -> Result<Option<Jacobian>, Error> {
    rows_of_faces(rt, faces, Sides::Signed, data)
}

/// The derivatives of FaceSum, as [`divergence`].
pub(crate) fn face_sum(rt: &mut CudaRuntime, faces: &Arc<Domain>, [first, second]: [&Numbers; 2]) -> Result<Option<Jacobian>, Error> {
    let of_first = rows_of_faces(rt, faces, Sides::First, first)?;
    let of_second = rows_of_faces(rt, faces, Sides::Second, second)?;
    united(rt, of_first, of_second)
}

/// The derivatives of FaceMax and FaceMin: the rows at these positions of either operand.
pub(crate) fn face_extreme(rt: &CudaRuntime, n: usize, operands: [(&Rc<Buffer>, &Numbers); 2]) -> Result<Option<Jacobian>, Error> {
    let always = EqBool { value: 1, ..EqBool::default() };
    let rows = |(positions, numbers): (&Rc<Buffer>, &Numbers)| {
        jacobian::picked_rows(&rt.executor, n, always, Some(positions), [numbers.jacobians[0].as_ref(), None])
    };
    let [first, second] = operands;
    united(rt, rows(first)?, rows(second)?)
}

/// The sum of two Jacobians.
fn united(rt: &CudaRuntime, a: Option<Jacobian>, b: Option<Jacobian>) -> Result<Option<Jacobian>, Error> {
    let (Some(left), Some(right)) = (&a, &b) else { return Ok(a.or(b)) };
    same_unknowns(rt, left, right)?;
    let rules = (Rule::Keep, Rule::Keep);
    jacobian::united_rows(&rt.executor, rules, [left, right], [EqOperand::default(); 3]).map(Some)
}

/// Sums of the rows of faces over those of each cell.
fn rows_of_faces(rt: &mut CudaRuntime, faces: &Arc<Domain>, sides: Sides, data: &Numbers) -> Result<Option<Jacobian>, Error> {
    let Some(jacobian) = &data.jacobians[0] else { return Ok(None) };
    let same = |(domain, of, _): &&(Arc<Domain>, Sides, Rc<GridMatrix>)| Arc::ptr_eq(domain, faces) && *of == sides;
    let known = rt.matrices.face_sums.iter().find(same).map(|(.., matrix)| Rc::clone(matrix));
    let matrix = match known {
        Some(matrix) => matrix,
        None => {
            let grid = Arc::clone(rt.session.grid());
            let topology = grid.topology();
            let row = |cell: usize| {
                let listed = &topology.cell_faces[topology.cell_face_pos[cell]..topology.cell_face_pos[cell + 1]];
                let term = |&face: &u32| {
                    let is_first = topology.face_cells[face as usize][0] as usize == cell;
                    let factor = match (sides, is_first) {
                        (Sides::Signed, false) => -1.0,
                        (Sides::Signed | Sides::First, true) | (Sides::Second, false) => 1.0,
                        (Sides::First, false) | (Sides::Second, true) => return None,
                    };
                    Some((faces.rank(face)?, factor))
                };
                listed.iter().filter_map(term).collect::<Vec<_>>()
            };
            let rows: Vec<_> = (0..grid.n_cells()).map(row).collect();
            let matrix = Rc::new(jacobian::grid_matrix(&rt.executor, faces.len(), &rows)?);
            rt.matrices.face_sums.push((Arc::clone(faces), sides, Rc::clone(&matrix)));
            matrix
        }
    };
    jacobian::multiplied(&rt.executor, &matrix, jacobian).map(Some)
}

/// Checks that two operands with derivatives belong to one Newton solve.
fn same_unknowns(rt: &CudaRuntime, a: &Jacobian, b: &Jacobian) -> Result<(), Error> {
    let (left, right) = (a.rows.n_cols(), b.rows.n_cols());
    if left == right {
        return Ok(());
    }
    let message = format!("operands with derivatives by {left} and by {right} unknowns: they are of different Newton solves");
    rt.located(Err(Error::new(ErrorKind::Backend, message)))
}
