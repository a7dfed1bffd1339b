//! Linear systems of Newton's method on ranks: the rows of a rank's own unknowns, with columns for
//! its own unknowns and for those of other ranks that they depend on.
//!
//! Kernels compute the rows of all elements here. Those of the halo are not used: their owners have
//! them.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::linalg::ranks::{HaloColumns, RankMatrix, RankSpace};
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{BlockMatrix, BlockPattern, Csr, CsrError, HostMatrix, Pattern};
use equelle_runtime::newton::NewtonCaches;
use equelle_runtime::ranks::{OwnedNumber, RankContext, RankId, RankUnknowns};
use equelle_runtime::{Error, Real};

use super::jacobian::Jacobian;
use super::newton_state::{CsrArrays, stacked};

/// Solvers of a run between solves.
#[derive(Default)]
pub(super) struct Solvers {
    /// The space of linear solves of one process, for its memory.
    pub(super) space: Option<HostSpace>,
    pub(super) on_ranks: RankSolvers,
}

/// Solvers of a rank between solves.
#[derive(Default)]
pub(super) struct RankSolvers {
    pub(super) caches: NewtonCaches<RankSpace<HostSpace>, Option<RankPattern>>,
    pub(super) space: Option<RankSpace<HostSpace>>,
}

/// The pattern of a system on a rank, and the place of each of its entries in the derivatives.
pub(super) struct RankPattern {
    unknowns: Rc<RankUnknowns>,
    /// Arrays of the derivatives of each equation; none for one without elements. `[equations]`
    parts: Vec<Option<CsrArrays>>,
    own: OwnPattern,
    halo: Arc<Pattern>,
    columns: Arc<HaloColumns>,
    /// Places of entries in the own columns, and in those of others. `[equations]`
    places: Vec<[Places; 2]>,
}

/// The pattern of own rows and own columns.
enum OwnPattern {
    Rows(Arc<Pattern>),
    Blocks(Arc<BlockPattern>),
}

/// The places of entries among the derivatives of an equation.
#[derive(Default)]
struct Places {
    /// That of the first derivative of each entry. `[entries]`
    first: Vec<u32>,
    /// Entries and places of further derivatives: two elements here may be one of the whole grid.
    others: Vec<[u32; 2]>,
}

impl Places {
    /// The entries from derivatives.
    fn values<R: Real>(&self, derivatives: &[R]) -> Vec<f64> {
        let mut values: Vec<f64> = self.first.iter().map(|&place| derivatives[place as usize].to_f64()).collect();
        for &[entry, place] in &self.others {
            let value: f64 = derivatives[place as usize].to_f64();
            values[entry as usize] += value;
        }
        values
    }
}

/// Rows of one equation.
struct Rows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    places: Places,
}

impl Rows {
    fn new() -> Rows {
        Rows { ends: vec![0], columns: Vec::new(), places: Places::default() }
    }

    /// Adds an entry to the row, whose columns ascend.
    fn push(&mut self, column: u32, place: u32) {
        let begin = self.ends.last().copied().unwrap_or(0);
        if self.columns[begin..].last() == Some(&column) {
            self.places.others.push([self.columns.len() as u32 - 1, place]);
            return;
        }
        self.columns.push(column);
        self.places.first.push(place);
    }

    fn end(&mut self) {
        self.ends.push(self.columns.len());
    }
}

/// The rows of all equations, one equation after the other.
fn pattern(n_rows: usize, n_columns: usize, parts: &[Rows]) -> Result<Arc<Pattern>, CsrError> {
    stacked([n_rows, n_columns], parts.iter().map(|part| (&part.ends[..], &part.columns[..]))).map(Arc::new)
}

impl RankPattern {
    /// The pattern of a system; all ranks make it together.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn new<R: Real>(
        rank: &RankContext,
        unknowns: &Rc<RankUnknowns>,
        equations: &[Option<Rc<Jacobian<R>>>],
    ) -> Result<RankPattern, Error> {
        let number = |column: u32| unknowns.number(column as usize).ok_or_else(|| Error::internal("a rank reads an unknown of nobody"));
        let mut halo: Vec<OwnedNumber> = Vec::new();
        for (equation, jacobian) in equations.iter().enumerate() {
            let Some(jacobian) = jacobian else { continue };
            for &row in unknowns.own(equation) {
                for &column in jacobian.row(row as usize).0 {
                    halo.extend(Some(number(column)?).filter(|number| number.owner != rank.rank()));
                }
            }
        }
        halo.sort_unstable();
        halo.dedup();
        let of_others: Vec<(RankId, u32)> = halo.iter().map(|column| (column.owner, column.number)).collect();
        let columns = Arc::new(HaloColumns::new(rank, unknowns.total(), &of_others)?);
        let (mut own_rows, mut halo_rows) = (Vec::new(), Vec::new());
        let mut of_row: Vec<(OwnedNumber, u32)> = Vec::new();
        for (equation, jacobian) in equations.iter().enumerate() {
            let (mut of_own, mut of_halo) = (Rows::new(), Rows::new());
            for &row in unknowns.own(equation) {
                if let Some(jacobian) = jacobian {
                    let places = jacobian.row_ptr()[row as usize] as u32..;
                    of_row.clear();
                    for (&column, place) in jacobian.row(row as usize).0.iter().zip(places) {
                        of_row.push((number(column)?, place));
                    }
                    of_row.sort_unstable();
                    for &(column, place) in &of_row {
                        match column.owner == rank.rank() {
                            true => of_own.push(column.number, place),
                            false => of_halo.push(halo.partition_point(|other| *other < column) as u32, place),
                        }
                    }
                }
                of_own.end();
                of_halo.end();
            }
            own_rows.push(of_own);
            halo_rows.push(of_halo);
        }
        let total = unknowns.total();
        let arrays: Vec<(&[usize], &[u32])> = own_rows.iter().map(|rows| (&rows.ends[..], &rows.columns[..])).collect();
        let blocks = if arrays.len() > 1 { BlockPattern::from_equations(&arrays) } else { None };
        // A method for blocks is chosen on all ranks, or on none.
        let any_without = rank.any(blocks.is_none())?;
        let own = match (blocks, any_without) {
            (Some(blocks), false) => OwnPattern::Blocks(Arc::new(blocks)),
            (Some(_) | None, _) => OwnPattern::Rows(pattern(total, total, &own_rows).map_err(malformed)?),
        };
        let halo = pattern(total, halo.len(), &halo_rows).map_err(malformed)?;
        let parts = equations.iter().map(|jacobian| jacobian.as_ref().map(|jacobian| jacobian.shared_arrays())).collect();
        let places = own_rows.into_iter().zip(halo_rows).map(|(own, halo)| [own.places, halo.places]).collect();
        Ok(RankPattern { unknowns: Rc::clone(unknowns), parts, own, halo, columns, places })
    }

    /// True if it is that of these equations and unknowns.
    pub fn is_for<R: Real>(&self, equations: &[Option<Rc<Jacobian<R>>>], unknowns: &Rc<RankUnknowns>) -> bool {
        let is_same = |(part, jacobian): (&Option<CsrArrays>, &Option<Rc<Jacobian<R>>>)| match (part, jacobian) {
            (Some((row_ptr, columns)), Some(jacobian)) => {
                let (other_row_ptr, other_columns) = jacobian.pattern();
                Arc::ptr_eq(row_ptr, other_row_ptr) && Arc::ptr_eq(columns, other_columns)
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.parts.len() == equations.len() && self.parts.iter().zip(equations).all(is_same) && Rc::ptr_eq(&self.unknowns, unknowns)
    }

    /// The unknowns.
    pub fn unknowns(&self) -> &Rc<RankUnknowns> {
        &self.unknowns
    }

    /// The matrix with the values of these equations.
    ///
    /// # Errors
    /// A defect of ours.
    pub fn matrix<R: Real>(&self, equations: &[Option<Rc<Jacobian<R>>>]) -> Result<RankMatrix<HostMatrix>, Error> {
        let values = |which: usize| -> Vec<Vec<f64>> {
            let of_equation = |(jacobian, places): (&Option<Rc<Jacobian<R>>>, &[Places; 2])| match jacobian {
                Some(jacobian) => places[which].values(jacobian.values()),
                None => Vec::new(),
            };
            equations.iter().zip(&self.places).map(of_equation).collect()
        };
        let own = values(0);
        let own: HostMatrix = match &self.own {
            OwnPattern::Rows(pattern) => Csr::with_pattern(Arc::clone(pattern), joined(own)).map_err(malformed)?.into(),
            OwnPattern::Blocks(pattern) => BlockMatrix::with_pattern(Arc::clone(pattern), own).map_err(malformed)?.into(),
        };
        let halo = Csr::with_pattern(Arc::clone(&self.halo), joined(values(1))).map_err(malformed)?;
        Ok(RankMatrix::new(own, halo, Arc::clone(&self.columns)))
    }
}

/// One list of several, without a copy of a single one.
fn joined(mut lists: Vec<Vec<f64>>) -> Vec<f64> {
    if lists.len() == 1 { lists.pop().unwrap_or_default() } else { lists.concat() }
}

fn malformed(fault: CsrError) -> Error {
    Error::internal(format!("the Jacobian is malformed: {fault}"))
}
