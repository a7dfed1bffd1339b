//! Messages between ranks.

use crate::error::Error;
use crate::rank_id::RankId;
use crate::wire::Wire;

/// Sends and receives messages of bytes. Messages between two ranks arrive in the order in which
/// they were sent.
pub trait Transport: Send + Sync {
    /// The rank that this is.
    fn rank(&self) -> RankId;

    /// Number of ranks.
    fn n_ranks(&self) -> usize;

    /// Sends a message, and does not wait until it is received.
    ///
    /// # Errors
    /// `Backend` if the other rank has ended.
    fn send(&self, to: RankId, message: Vec<u8>) -> Result<(), Error>;

    /// Waits for the next message of a rank.
    ///
    /// # Errors
    /// `Backend` if that rank has ended without sending it.
    fn receive(&self, from: RankId) -> Result<Vec<u8>, Error>;

    /// True if an error was that of a rank that had ended, and so follows from one there.
    fn has_lost_rank(&self) -> bool;
}

/// The bytes of values.
pub(super) fn packed<T: Wire>(values: impl ExactSizeIterator<Item = T>) -> Vec<u8> {
    // Attempts add a byte, and transports of bytes another one.
    let mut bytes = Vec::with_capacity(values.len() * T::BYTES + 2);
    values.for_each(|value| value.put_bytes(&mut bytes));
    bytes
}

/// The values of bytes.
pub(super) fn unpacked<T: Wire>(bytes: &[u8]) -> impl ExactSizeIterator<Item = T> {
    bytes.chunks_exact(T::BYTES).map(T::from_bytes)
}

/// Sends a list to each rank, and receives one from each: `[n_ranks]`.
///
/// # Errors
/// As for [`Transport::receive`].
pub(super) fn all_to_all<T: Wire>(transport: &dyn Transport, lists: &[Vec<T>]) -> Result<Vec<Vec<T>>, Error> {
    let own = transport.rank().index();
    for (rank, list) in lists.iter().enumerate().filter(|(rank, _)| *rank != own) {
        transport.send(RankId(rank as u32), packed(list.iter().copied()))?;
    }
    let receive = |rank: usize| match lists.get(own) {
        Some(list) if rank == own => Ok(list.clone()),
        _ => Ok(unpacked(&transport.receive(RankId(rank as u32))?).collect()),
    };
    (0..transport.n_ranks()).map(receive).collect()
}

/// The list of each rank, on every rank.
///
/// # Errors
/// As for [`Transport::receive`].
pub(super) fn all_gather<T: Wire>(transport: &dyn Transport, list: &[T]) -> Result<Vec<Vec<T>>, Error> {
    all_to_all(transport, &vec![list.to_vec(); transport.n_ranks()])
}
