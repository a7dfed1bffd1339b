//! Derivatives of the operation level, forward mode: inside a Newton solve a collection carries its [`Jacobian`], and every operation passes it on, by the
//! rules of the serial back-end.
//!
//! | operation | Jacobian of the result |
//! | --- | --- |
//! | arithmetic, functions | rows scaled by numbers of the operands and the result ([`Rule`]), and added |
//! | `On`, `Extend`, `c ? u : v` | rows picked |
//! | `Gradient`, `Divergence` | a matrix of the grid times the operand's Jacobian |
//!
//! Comparisons, reductions, outputs and values handed to the host have no derivatives: what depends on an unknown through them alone counts as constant.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::autodiff::jacobian;
use crate::runtime::autodiff::rules::Rule;
use crate::runtime::executor::arguments::EqBool;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::DERIVATIVES_MODULE;
use crate::runtime::linalg::csr::Jacobian;
use crate::runtime::operations::arithmetic::{Extent, Numbers};
use crate::runtime::operations::bools::BoolOperand;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, Collection, Derivatives, EntityCollection};

impl CudaRuntime {
    /// The derivatives that a collection carries.
    pub(crate) fn jacobian_of(&mut self, c: &Collection) -> Result<Option<Jacobian>, Error> {
        match c.derivatives.as_deref() {
            None => Ok(None),
            Some(Derivatives::Rows { rows, entries }) => Ok(Some(Jacobian { rows: Rc::clone(rows), entries: Rc::clone(entries) })),
            Some(Derivatives::Unknown { first, n_cols, identity }) => {
                if let Some(known) = identity.get() {
                    return Ok(Some(known.clone()));
                }
                let made = jacobian::identity_rows(&self.executor, *first, c.domain.len(), *n_cols)?;
                Ok(Some(identity.get_or_init(|| made).clone()))
            }
        }
    }

    /// The derivatives of a function of one or two operands with the result in `values`, by component.
    pub(crate) fn differentiate(
        &mut self,
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
        let results = Numbers::components(values, extent.n, self.executor.precision());
        for (axis, out) in out.iter_mut().enumerate().take(extent.components) {
            let (a, b, v) = (a.component(axis), b.component(axis), results.component(axis));
            let (left, right) = (a.jacobians[0].as_ref(), second.and_then(|second| Some((second, b.jacobians[0].as_ref()?))));
            *out = match (left, right) {
                (None, None) => None,
                (Some(left), None) => Some(jacobian::scaled_rows(&self.executor, first, left, &a, &b, &v)?),
                (None, Some((second, right))) => Some(jacobian::scaled_rows(&self.executor, second, right, &a, &b, &v)?),
                (Some(left), Some((second, right))) => {
                    self.same_unknowns(left, right)?;
                    Some(jacobian::united_rows(&self.executor, (first, second), [left, right], [&a, &b, &v])?)
                }
            };
        }
        Ok(out)
    }

    /// The ternary's derivatives: the rows of the branch chosen.
    pub(crate) fn select_rows(
        &mut self,
        extent: Extent,
        condition: &BoolCollection,
        a: &Numbers,
        b: &Numbers,
    ) -> Result<[Option<Jacobian>; 3], Error> {
        let mut out = [None, None, None];
        let truths = BoolOperand::each(condition);
        for (axis, out) in out.iter_mut().enumerate().take(extent.components) {
            let (left, right) = (a.jacobians[axis].as_ref(), b.jacobians[axis].as_ref());
            if let (Some(left), Some(right)) = (left, right) {
                self.same_unknowns(left, right)?;
            }
            *out = jacobian::picked_rows(&self.executor, extent.n, truths.operand, None, [left, right])?;
        }
        Ok(out)
    }

    /// The derivatives of `On`: the rows of the target's entities.
    pub(crate) fn rows_on(
        &mut self,
        components: usize,
        from: &Arc<Domain>,
        data: &Numbers,
        target: &EntityCollection,
    ) -> Result<[Option<Jacobian>; 3], Error> {
        if !data.has_derivatives() {
            return Ok([None, None, None]);
        }
        let n = target.domain().len();
        let sources = self.executor.buffer("positions of entities", 4 * n as u64)?;
        let ranks = self.ranks(from)?;
        let call = self.executor.call(&DERIVATIVES_MODULE, "equelle_sources_on")?.arg(n as u32).arg(target.pointer()).arg(ranks);
        self.executor.launch_over(call.arg(sources.address()), n)?;
        self.rows_from(components, n, &sources, data)
    }

    /// The derivatives of `Extend`: the rows of the elements that have data.
    pub(crate) fn rows_extended(
        &mut self,
        components: usize,
        from: &Arc<Domain>,
        data: &Numbers,
        domain: &Arc<Domain>,
    ) -> Result<[Option<Jacobian>; 3], Error> {
        if !data.has_derivatives() {
            return Ok([None, None, None]);
        }
        let n = domain.len();
        let sources = self.executor.buffer("positions of entities", 4 * n as u64)?;
        let (space, ranks) = (self.space(domain)?, self.ranks(from)?);
        let call = self.executor.call(&DERIVATIVES_MODULE, "equelle_sources_extended")?.arg(space).arg(ranks);
        self.executor.launch_over(call.arg(sources.address()), n)?;
        self.rows_from(components, n, &sources, data)
    }

    fn rows_from(&mut self, components: usize, n: usize, sources: &Buffer, data: &Numbers) -> Result<[Option<Jacobian>; 3], Error> {
        let mut out = [None, None, None];
        let always = EqBool { value: 1, ..EqBool::default() };
        for (axis, out) in out.iter_mut().enumerate().take(components) {
            *out = jacobian::picked_rows(&self.executor, n, always, Some(sources), [data.jacobians[axis].as_ref(), None])?;
        }
        Ok(out)
    }

    /// The derivatives of Gradient.
    pub(crate) fn gradient_rows(&mut self, interior: &Arc<Domain>, data: &Numbers) -> Result<Option<Jacobian>, Error> {
        let Some(jacobian) = &data.jacobians[0] else { return Ok(None) };
        let matrix = match &self.matrices.gradient {
            Some(matrix) => Rc::clone(matrix),
            None => {
                let grid = Arc::clone(self.session.grid());
                let row = |&face: &u32| {
                    let [first, second] = grid.topology().face_cells[face as usize];
                    let mut row = vec![(first, -1.0), (second, 1.0)];
                    row.sort_unstable_by_key(|&(column, _)| column);
                    row
                };
                let rows: Vec<_> = interior.elements().iter().map(row).collect();
                let matrix = Rc::new(jacobian::grid_matrix(&self.executor, grid.n_cells(), &rows)?);
                self.matrices.gradient = Some(Rc::clone(&matrix));
                matrix
            }
        };
        jacobian::multiplied(&self.executor, &matrix, jacobian).map(Some)
    }

    /// The derivatives of Divergence of values on a set of faces: their rows are added as the values are, in the order in which the faces of a cell are listed.
    pub(crate) fn divergence_rows(&mut self, faces: &Arc<Domain>, data: &Numbers) -> Result<Option<Jacobian>, Error> {
        let Some(jacobian) = &data.jacobians[0] else { return Ok(None) };
        let known = self.matrices.divergence.iter().find(|(domain, _)| Arc::ptr_eq(domain, faces)).map(|(_, matrix)| Rc::clone(matrix));
        let matrix = match known {
            Some(matrix) => matrix,
            None => {
                let grid = Arc::clone(self.session.grid());
                let topology = grid.topology();
                let row = |cell: usize| {
                    let listed = &topology.cell_faces[topology.cell_face_pos[cell]..topology.cell_face_pos[cell + 1]];
                    let term = |&face: &u32| {
                        let sign = if topology.face_cells[face as usize][0] as usize == cell { 1.0 } else { -1.0 };
                        Some((faces.rank(face)?, sign))
                    };
                    listed.iter().filter_map(term).collect::<Vec<_>>()
                };
                let rows: Vec<_> = (0..grid.n_cells()).map(row).collect();
                let matrix = Rc::new(jacobian::grid_matrix(&self.executor, faces.len(), &rows)?);
                self.matrices.divergence.push((Arc::clone(faces), Rc::clone(&matrix)));
                matrix
            }
        };
        jacobian::multiplied(&self.executor, &matrix, jacobian).map(Some)
    }

    /// Two operands with derivatives are of one Newton solve.
    fn same_unknowns(&self, a: &Jacobian, b: &Jacobian) -> Result<(), Error> {
        let (left, right) = (a.rows.n_cols(), b.rows.n_cols());
        if left == right {
            return Ok(());
        }
        let message = format!("operands with derivatives by {left} and by {right} unknowns: they are of different Newton solves");
        self.located(Err(Error::new(ErrorKind::Backend, message)))
    }
}
