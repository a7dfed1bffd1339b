//! Parts of whole systems for ranks that are threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{
    BlockMatrix, Csr, HaloColumns, HostMatrix, LinearCache, LinearError, LinearOptions, RankMatrix, RankSpace, Solution, solve_on_ranks,
};
use equelle_runtime::ranks::{RankContext, RankId, ThreadTransport};

/// A whole system and the rank that owns each unknown.
pub struct Whole<'a> {
    pub matrix: &'a Csr,
    pub ends: &'a [usize],
    pub owners: Vec<u32>,
    pub n_ranks: usize,
    /// True if own columns are stored in blocks where they can be.
    pub in_blocks: bool,
}

/// The part of a rank.
pub struct Part {
    /// Numbers of own unknowns in the whole system, ascending.
    pub own: Vec<usize>,
    pub ends: Vec<usize>,
    pub matrix: RankMatrix<HostMatrix>,
}

impl<'a> Whole<'a> {
    /// With elements of all fields owned as `owner(element)` says.
    pub fn new(matrix: &'a Csr, ends: &'a [usize], n_ranks: usize, owner: impl Fn(usize) -> usize) -> Whole<'a> {
        let mut start = 0;
        let elements = ends.iter().flat_map(|&end| 0..end - std::mem::replace(&mut start, end));
        let owners = elements.map(|element| owner(element) as u32).collect();
        Whole { matrix, ends, owners, n_ranks, in_blocks: false }
    }

    pub fn part(&self, ranks: &RankContext) -> Part {
        let rank = ranks.rank().0;
        let mut seen = vec![0u32; self.n_ranks];
        let mut next = |&owner: &u32| {
            seen[owner as usize] += 1;
            seen[owner as usize] - 1
        };
        let local: Vec<u32> = self.owners.iter().map(&mut next).collect();
        let own: Vec<usize> = (0..self.owners.len()).filter(|&unknown| self.owners[unknown] == rank).collect();
        let ends: Vec<usize> = self.ends.iter().map(|&end| own.iter().filter(|&&unknown| unknown < end).count()).collect();
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut halo: Vec<(RankId, u32)> = Vec::new();
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for (row, &unknown) in own.iter().enumerate() {
            for (column, value) in self.matrix.row(unknown) {
                if self.owners[column] == rank {
                    inner.push((row, local[column] as usize, value));
                } else {
                    let place = *places.entry(column).or_insert_with(|| {
                        halo.push((RankId(self.owners[column]), local[column]));
                        halo.len() - 1
                    });
                    outer.push((row, place, value));
                }
            }
        }
        let n = own.len();
        let columns = Arc::new(HaloColumns::new(ranks, n, &halo).unwrap());
        let inner = Csr::from_triplets(n, n, &inner).unwrap();
        let blocks = if self.in_blocks { BlockMatrix::from_csr(&inner, self.ends.len()) } else { None };
        let inner = blocks.map_or_else(|| HostMatrix::from(inner.clone()), HostMatrix::from);
        let outer = Csr::from_triplets(n, halo.len(), &outer).unwrap();
        Part { own, ends, matrix: RankMatrix::new(inner, outer, columns) }
    }

    /// Solves on ranks, in turn for each right-hand side with one cache.
    pub fn solve_all(&self, rhs: &[&[f64]], options: &LinearOptions) -> Vec<Result<Solution, LinearError>> {
        let by_rank = on_ranks(self.n_ranks, |ranks| {
            let part = self.part(&ranks);
            let mut space = RankSpace::new(HostSpace::on(&options.threads, part.own.len()), ranks);
            let mut cache = LinearCache::default();
            let solve = |rhs: &&[f64]| {
                let b = part.own.iter().map(|&unknown| rhs[unknown]).collect();
                let solved = solve_on_ranks(&mut space, &part.matrix, &part.ends, b, options, &mut cache);
                (part.own.clone(), solved.unwrap())
            };
            rhs.iter().map(solve).collect::<Vec<_>>()
        });
        (0..rhs.len()).map(|number| self.joined(by_rank.iter().map(|solved| &solved[number]))).collect()
    }

    /// Solves on ranks.
    pub fn solve(&self, rhs: &[f64], options: &LinearOptions) -> Result<Solution, LinearError> {
        self.solve_all(&[rhs], options).pop().unwrap()
    }

    /// The solution of all ranks, who agree on all but their parts.
    fn joined<'s>(&self, parts: impl Iterator<Item = &'s (Vec<usize>, Result<Solution, LinearError>)>) -> Result<Solution, LinearError> {
        let mut x = vec![f64::NAN; self.owners.len()];
        let mut common: Option<Result<Solution, LinearError>> = None;
        for (own, solved) in parts {
            let mut solved = solved.clone();
            if let Ok(solution) = &mut solved {
                own.iter().zip(std::mem::take(&mut solution.x)).for_each(|(&unknown, value)| x[unknown] = value);
            }
            let first = common.get_or_insert_with(|| solved.clone());
            // NaN in an error equals itself here.
            assert_eq!(format!("{first:?}"), format!("{solved:?}"), "ranks agree");
        }
        common.unwrap().map(|solution| Solution { x, ..solution })
    }
}

/// Runs a function on ranks that are threads.
pub fn on_ranks<T: Send>(n_ranks: usize, run: impl Fn(Arc<RankContext>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let ranks = ThreadTransport::connected(n_ranks, None).into_iter();
        let threads: Vec<_> = ranks.map(|transport| scope.spawn(move || run(Arc::new(RankContext::new(Box::new(transport)))))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
