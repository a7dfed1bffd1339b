//! Owners of cells.

use crate::error::{Error, ErrorKind};
use crate::rank_id::RankId;

/// The rank that owns each cell. Every rank owns at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    owners: Vec<RankId>,
    sizes: Vec<usize>,
}

impl Partition {
    /// From the owner of each cell, in the order of the grid's file. `[n_cells]`
    ///
    /// # Errors
    /// `Data` if a rank is out of range, or owns no cell.
    pub fn new(owners: Vec<RankId>, n_ranks: u32) -> Result<Partition, Error> {
        let mut sizes = vec![0; n_ranks as usize];
        for (cell, rank) in owners.iter().enumerate() {
            let Some(size) = sizes.get_mut(rank.index()) else {
                return Err(Error::new(ErrorKind::Data, format!("cell {cell} is of rank {}, and there are {n_ranks} ranks", rank.0)));
            };
            *size += 1;
        }
        if let Some(rank) = sizes.iter().position(|&size| size == 0) {
            let error = Error::new(ErrorKind::Data, format!("rank {rank} of {n_ranks} has no cell"));
            return Err(error.hint(format!("there are {} cells: use fewer ranks", owners.len())));
        }
        Ok(Partition { owners, sizes })
    }

    /// The rank that owns each cell. `[n_cells]`
    pub fn owners(&self) -> &[RankId] {
        &self.owners
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> usize {
        self.sizes.len()
    }

    /// Number of cells of each rank. `[n_ranks]`
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Cells of the largest part over the mean: 1 is balanced.
    pub fn imbalance(&self) -> f64 {
        let largest = self.sizes.iter().max().copied().unwrap_or(0);
        largest as f64 * self.n_ranks() as f64 / self.owners.len() as f64
    }
}
