//! Values on their way from the ranks that own them to the order of the grid's file.

use std::ops::Range;

use super::transport::{Transport, all_to_all};
use crate::error::Error;
use crate::wire::Wire;

/// Elements of a whole domain in the order of the file, a block of them on each rank.
#[derive(Debug)]
pub(super) struct Routes {
    /// Positions here of the elements that go to each rank. `[n_ranks]`
    sent: Vec<Vec<u32>>,
    /// Places in the block of this rank of the elements that come from each. `[n_ranks]`
    places: Vec<Vec<usize>>,
    /// Number of elements in the block of this rank.
    len: usize,
}

impl Routes {
    /// Routes of the elements that a rank owns, by their position here and in the whole domain.
    /// Rank k gets the elements of `block(k)`; blocks are ascending and cover the domain.
    ///
    /// # Errors
    /// As for [`Transport::receive`].
    pub(super) fn new(transport: &dyn Transport, owned: &[(u32, u64)], block: impl Fn(usize) -> Range<u64>) -> Result<Routes, Error> {
        let blocks: Vec<Range<u64>> = (0..transport.n_ranks()).map(block).collect();
        let mut sent: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
        let mut asked: Vec<Vec<u64>> = vec![Vec::new(); blocks.len()];
        for &(here, position) in owned {
            let rank = blocks.partition_point(|block| block.end <= position);
            sent[rank].push(here);
            asked[rank].push(position);
        }
        let own = &blocks[transport.rank().index()];
        let places = all_to_all(transport, &asked)?.into_iter();
        let places = places.map(|positions| positions.iter().map(|position| (position - own.start) as usize).collect()).collect();
        Ok(Routes { sent, places, len: (own.end - own.start) as usize })
    }

    /// The values of the block of this rank. `values` has one for each element here.
    ///
    /// # Errors
    /// As for [`Transport::receive`].
    pub(super) fn gather<T: Wire>(&self, transport: &dyn Transport, values: &[T]) -> Result<Vec<T>, Error> {
        let lists: Vec<Vec<T>> = self.sent.iter().map(|list| list.iter().map(|&here| values[here as usize]).collect()).collect();
        let mut block = vec![T::default(); self.len];
        for (places, values) in self.places.iter().zip(all_to_all(transport, &lists)?) {
            for (&place, value) in places.iter().zip(values) {
                block[place] = value;
            }
        }
        Ok(block)
    }
}
