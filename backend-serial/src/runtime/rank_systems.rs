//! Linear systems of Newton's method on ranks: the rows of a rank's own unknowns, with columns for
//! its own unknowns and for those of other ranks that they depend on.
//!
//! Kernels compute the rows of all elements here. Those of the halo are not used: their owners have
//! them.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::linalg::ranks::{HaloColumns, RankMatrix, RankSpace};
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{BlockMatrix, BlockPattern, Csr, CsrError, HostMatrix, Pattern};
use equelle_runtime::newton::NewtonCaches;
use equelle_runtime::ranks::{RankContext, RankId};
use equelle_runtime::wire::Wire;
use equelle_runtime::{Error, Real};

use super::jacobian::Jacobian;
use super::newton_state::CsrArrays;

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

/// The unknowns of a solve on a rank.
pub(super) struct RankUnknowns {
    domains: Vec<Arc<Domain>>,
    /// Positions of the rank's own elements of each unknown, ascending. `[unknowns]`
    own: Vec<Vec<u32>>,
    /// Ends of the fields of own unknowns. `[unknowns]`
    ends: Vec<usize>,
    /// The number of each unknown here, halo included, in the order of derivatives; none for one
    /// that its owner does not have.
    numbers: Vec<Option<Number>>,
    /// Positions whose values are sent to each rank, and received from each. `[unknowns][n_ranks]`
    exchanged: Vec<[Vec<Vec<u32>>; 2]>,
}

/// The number of an unknown among those of the rank that owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    owner: RankId,
    number: u32,
}

impl RankUnknowns {
    /// The unknowns on these domains; all ranks make them together. Every element has one owner,
    /// also where ranks compute it from the same numbers, as faces between them.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn new(rank: &RankContext, domains: Vec<Arc<Domain>>) -> Result<RankUnknowns, Error> {
        let mut unknowns =
            RankUnknowns { domains: Vec::new(), own: Vec::new(), ends: Vec::new(), numbers: Vec::new(), exchanged: Vec::new() };
        let mut end = 0;
        for domain in domains {
            let (grid, kind, this) = (domain.grid(), domain.kind().on_grid_of(domain.grid().dim()), rank.rank());
            let part = grid.part().ok_or_else(|| Error::internal("a rank has a part of the grid"))?;
            let mut numbers: Vec<Option<Number>> = vec![None; domain.len()];
            let mut wanted: Vec<Vec<u32>> = vec![Vec::new(); rank.n_ranks()];
            let mut own = Vec::new();
            for position in 0..domain.len() as u32 {
                let element = domain.element(position as usize);
                if part.owns(this, kind, element) {
                    numbers[position as usize] = Some(Number { owner: this, number: end });
                    own.push(position);
                    end += 1;
                } else if let Some(owner) = part.owner(kind, element) {
                    wanted[owner.index()].push(position);
                }
            }
            let in_file = |&position: &u32| grid.file_index(kind, domain.element(position as usize));
            let asked: Vec<Vec<u32>> = wanted.iter().map(|list| list.iter().map(in_file).collect()).collect();
            let asked = rank.exchange_lists(&asked)?;
            let here = |&index: &u32| grid.find_entity(kind, index).and_then(|entity| domain.rank(entity));
            let mut sent = Vec::with_capacity(asked.len());
            let mut answers: Vec<Vec<u32>> = Vec::with_capacity(asked.len());
            for asked in &asked {
                let found: Vec<Option<u32>> = asked.iter().map(here).collect();
                let number = |position: Option<u32>| Some(numbers[position? as usize].filter(|number| number.owner == this)?.number);
                answers.push(found.iter().map(|&position| number(position).unwrap_or(NOWHERE)).collect());
                sent.push(found.iter().flatten().copied().filter(|&position| number(Some(position)).is_some()).collect());
            }
            let answers = rank.exchange_lists(&answers)?;
            for (owner, (wanted, answers)) in wanted.iter_mut().zip(answers).enumerate() {
                let mut answers = answers.into_iter();
                wanted.retain(|&position| {
                    let number = answers.next().filter(|&number| number != NOWHERE);
                    numbers[position as usize] = number.map(|number| Number { owner: RankId(owner as u32), number });
                    number.is_some()
                });
            }
            unknowns.domains.push(Arc::clone(&domain));
            unknowns.own.push(own);
            unknowns.ends.push(end as usize);
            unknowns.numbers.extend(numbers);
            unknowns.exchanged.push([sent, wanted]);
        }
        Ok(unknowns)
    }

    /// Brings the values of an unknown from the owners of its elements.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn exchange<R: Wire>(&self, rank: &RankContext, unknown: usize, values: &mut [R]) -> Result<(), Error> {
        let [sent, received] = &self.exchanged[unknown];
        rank.exchange_at([sent, received], values)
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

/// The number of an unknown that its owner does not have.
const NOWHERE: u32 = u32::MAX;

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
        let number = |column: u32| unknowns.numbers[column as usize].ok_or_else(|| Error::internal("a rank reads an unknown of nobody"));
        let mut halo: Vec<Number> = Vec::new();
        for (jacobian, own) in equations.iter().zip(&unknowns.own) {
            let Some(jacobian) = jacobian else { continue };
            for &row in own {
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
        let mut of_row: Vec<(Number, u32)> = Vec::new();
        for (jacobian, own) in equations.iter().zip(&unknowns.own) {
            let (mut of_own, mut of_halo) = (Rows::new(), Rows::new());
            for &row in own {
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
