//! Linear systems of Newton's method on ranks: the rows of a rank's own unknowns, with columns for
//! its own unknowns and for those of other ranks that they depend on.
//!
//! Kernels compute the rows of all elements here. Those of the halo are not used: their owners have
//! them.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::linalg::ranks::{HaloColumns, RankMatrix};
use equelle_runtime::linalg::{BlockMatrix, BlockPattern, Csr, CsrError, HostMatrix, Pattern};
use equelle_runtime::ranks::{RankContext, RankId};
use equelle_runtime::{Error, Real};

use super::jacobian::Jacobian;
use super::newton_state::CsrArrays;

/// The unknowns of a solve on a rank.
pub(super) struct RankUnknowns {
    domains: Vec<Arc<Domain>>,
    /// Positions of the rank's own elements of each unknown, ascending. `[unknowns]`
    own: Vec<Vec<u32>>,
    /// Ends of the fields of own unknowns. `[unknowns]`
    ends: Vec<usize>,
    /// The number of each unknown here, halo included, in the order of derivatives.
    numbers: Vec<Number>,
}

/// The number of an unknown.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// Among those of this rank.
    Own(u32),
    /// Among those of another rank.
    Halo(RankId, u32),
}

impl RankUnknowns {
    /// The unknowns on these domains; all ranks make them together.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn new(rank: &RankContext, domains: Vec<Arc<Domain>>) -> Result<RankUnknowns, Error> {
        let (mut own, mut ends, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        for domain in &domains {
            let part = domain.grid().part().ok_or_else(|| Error::internal("a rank has a part of the grid"))?;
            let mut places = vec![0; domain.len()];
            let of_domain: Vec<u32> = (0..domain.len() as u32).filter(|&position| domain.is_own(position as usize)).collect();
            for &position in &of_domain {
                places[position as usize] = end;
                end += 1;
            }
            rank.exchange(domain, &mut places, u32::MAX)?;
            for (position, &place) in places.iter().enumerate() {
                let owner = part.owner(domain.kind(), domain.element(position)).filter(|owner| *owner != rank.rank());
                numbers.push(owner.map_or(Number::Own(place), |owner| Number::Halo(owner, place)));
            }
            own.push(of_domain);
            ends.push(end as usize);
        }
        Ok(RankUnknowns { domains, own, ends, numbers })
    }

    /// True if these are the unknowns of these domains.
    pub fn are_on(&self, domains: &[Arc<Domain>]) -> bool {
        self.domains.len() == domains.len() && self.domains.iter().zip(domains).all(|(own, other)| Arc::ptr_eq(own, other))
    }

    /// Positions of the rank's own elements of an unknown, ascending.
    pub fn own(&self, unknown: usize) -> &[u32] {
        &self.own[unknown]
    }

    /// Ends of the fields of own unknowns. `[unknowns]`
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Number of own unknowns.
    fn total(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
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
    places: Vec<[Vec<u32>; 2]>,
}

/// The pattern of own rows and own columns.
enum OwnPattern {
    Rows(Arc<Pattern>),
    Blocks(Arc<BlockPattern>),
}

/// Rows of one equation.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    places: Vec<u32>,
}

impl Rows {
    fn new() -> Rows {
        Rows { ends: vec![0], ..Rows::default() }
    }

    fn push(&mut self, column: u32, place: usize) {
        self.columns.push(column);
        self.places.push(place as u32);
    }

    fn end(&mut self) {
        self.ends.push(self.columns.len());
    }
}

/// The rows of all equations, one equation after the other.
fn pattern(n_rows: usize, n_columns: usize, parts: &[Rows]) -> Result<Arc<Pattern>, CsrError> {
    let mut row_ptr = Vec::with_capacity(n_rows + 1);
    let mut columns = Vec::with_capacity(parts.iter().map(|part| part.columns.len()).sum());
    row_ptr.push(0);
    for part in parts {
        let before = columns.len();
        row_ptr.extend(part.ends[1..].iter().map(|end| before + end));
        columns.extend_from_slice(&part.columns);
    }
    Ok(Arc::new(Pattern::new(n_rows, n_columns, Arc::new(row_ptr), Arc::new(columns))?))
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
        let mut halo_columns: Vec<u32> = Vec::new();
        for (jacobian, own) in equations.iter().zip(&unknowns.own) {
            let Some(jacobian) = jacobian else { continue };
            for &row in own {
                let columns = jacobian.row(row as usize).0;
                halo_columns.extend(columns.iter().filter(|&&column| matches!(unknowns.numbers[column as usize], Number::Halo(..))));
            }
        }
        halo_columns.sort_unstable();
        halo_columns.dedup();
        let of_others: Vec<(RankId, u32)> = halo_columns
            .iter()
            .filter_map(|&column| match unknowns.numbers[column as usize] {
                Number::Halo(owner, number) => Some((owner, number)),
                Number::Own(_) => None,
            })
            .collect();
        let columns = Arc::new(HaloColumns::new(rank, unknowns.total(), &of_others)?);
        let (mut own_rows, mut halo_rows) = (Vec::new(), Vec::new());
        for (jacobian, own) in equations.iter().zip(&unknowns.own) {
            let (mut of_own, mut of_halo) = (Rows::new(), Rows::new());
            for &row in own {
                if let Some(jacobian) = jacobian {
                    let begin = jacobian.row_ptr()[row as usize];
                    for (number, &column) in jacobian.row(row as usize).0.iter().enumerate() {
                        match unknowns.numbers[column as usize] {
                            Number::Own(own) => of_own.push(own, begin + number),
                            Number::Halo(..) => of_halo.push(halo_columns.partition_point(|&other| other < column) as u32, begin + number),
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
        let halo = pattern(total, halo_columns.len(), &halo_rows).map_err(malformed)?;
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
            let of_equation = |(jacobian, places): (&Option<Rc<Jacobian<R>>>, &[Vec<u32>; 2])| match jacobian {
                Some(jacobian) => {
                    let values = jacobian.values();
                    places[which].iter().map(|&place| values[place as usize].to_f64()).collect()
                }
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
