//! Numbers of ranks.

/// Number of a rank, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankId(pub u32);

impl RankId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
