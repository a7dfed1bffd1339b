//! Caches of Newton's method between solves: the pattern of a system.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{BlockPattern, CsrError, Pattern};
use equelle_runtime::{Real, newton};

use super::jacobian::Jacobian;

/// Caches of Newton's method between solves.
pub(super) type NewtonState = newton::NewtonCaches<HostSpace, Option<Assembled>>;

/// Row pointers and columns of an equation.
pub(super) type CsrArrays = (Arc<Vec<usize>>, Arc<Vec<u32>>);

/// The pattern of a Jacobian, and the rows of the equations in it.
pub(super) struct Assembled {
    /// Arrays of each equation. `[equations]`
    parts: Vec<CsrArrays>,
    pub(super) pattern: Shared,
}

/// The pattern that the matrices of a solve share.
pub(super) enum Shared {
    /// The rows of all equations, one equation after the other.
    Rows(Arc<Pattern>),
    /// The common rows of all equations, in blocks of elements.
    Blocks(Arc<BlockPattern>),
}

/// The rows of all equations, one equation after the other, as a matrix of this size.
pub(super) fn stacked<'a>([rows, columns]: [usize; 2], parts: impl Iterator<Item = (&'a [usize], &'a [u32])>) -> Result<Pattern, CsrError> {
    let (mut row_ptr, mut of_all) = (Vec::with_capacity(rows + 1), Vec::new());
    row_ptr.push(0);
    for (ends, of_part) in parts {
        let before = of_all.len();
        row_ptr.extend(ends[1..].iter().map(|end| before + end));
        of_all.extend_from_slice(of_part);
    }
    Pattern::new(rows, columns, Arc::new(row_ptr), Arc::new(of_all))
}

impl Assembled {
    /// Its memory in bytes; for a single equation counted with its stencil.
    pub(super) fn bytes(&self) -> usize {
        match &self.pattern {
            Shared::Rows(_) if self.parts.len() < 2 => 0,
            Shared::Rows(pattern) => size_of_val(pattern.row_ptr()) + size_of_val(pattern.col_idx()),
            Shared::Blocks(pattern) => pattern.bytes(),
        }
    }

    /// Uses blocks if all equations of a system depend on the unknowns of the same elements.
    pub(super) fn new<R: Real>(equations: &[Rc<Jacobian<R>>], total: usize) -> Result<Assembled, CsrError> {
        let parts: Vec<CsrArrays> = equations.iter().map(|jacobian| jacobian.shared_arrays()).collect();
        if parts.len() > 1 {
            let arrays: Vec<(&[usize], &[u32])> = parts.iter().map(|(row_ptr, columns)| (&row_ptr[..], &columns[..])).collect();
            if let Some(blocks) = BlockPattern::from_equations(&arrays) {
                return Ok(Assembled { parts, pattern: Shared::Blocks(Arc::new(blocks)) });
            }
        }
        let pattern = match &parts[..] {
            [(row_ptr, columns)] => Pattern::new(total, total, Arc::clone(row_ptr), Arc::clone(columns))?,
            parts => stacked([total, total], parts.iter().map(|(row_ptr, columns)| (&row_ptr[..], &columns[..])))?,
        };
        Ok(Assembled { parts, pattern: Shared::Rows(Arc::new(pattern)) })
    }

    /// True if these rows have the same arrays.
    pub(super) fn is_for<R: Real>(&self, equations: &[Rc<Jacobian<R>>], total: usize) -> bool {
        let rows = match &self.pattern {
            Shared::Rows(pattern) => pattern.row_ptr().len() - 1,
            Shared::Blocks(pattern) => pattern.k() * pattern.n(),
        };
        let same = |(part, jacobian): (&CsrArrays, &Rc<Jacobian<R>>)| {
            let (row_ptr, columns) = jacobian.pattern();
            Arc::ptr_eq(&part.0, row_ptr) && Arc::ptr_eq(&part.1, columns)
        };
        rows == total && self.parts.len() == equations.len() && self.parts.iter().zip(equations).all(same)
    }
}
