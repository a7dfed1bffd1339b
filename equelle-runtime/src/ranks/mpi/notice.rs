//! Notices between ranks, which overtake messages.

use crate::rank_id::RankId;

/// A notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// A rank asks whether this one waits for a message too.
    Ask(RankId),
    /// It does.
    Waiting(RankId),
    /// The outcome of a rank that ends without the others: another one does not answer it.
    Fault(Vec<u8>),
}

impl Notice {
    /// As bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let of = |kind: u8, content: &[u8]| [&[kind], content].concat();
        match self {
            Notice::Ask(rank) => of(0, &rank.0.to_le_bytes()),
            Notice::Waiting(rank) => of(1, &rank.0.to_le_bytes()),
            Notice::Fault(outcome) => of(2, outcome),
        }
    }

    /// From bytes; `None` if they are none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Notice> {
        let (kind, content) = bytes.split_first()?;
        let rank = || Some(RankId(u32::from_le_bytes(content.try_into().ok()?)));
        match kind {
            0 => rank().map(Notice::Ask),
            1 => rank().map(Notice::Waiting),
            2 => Some(Notice::Fault(content.to_vec())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_arrive_as_they_were_sent() {
        for notice in [Notice::Ask(RankId(7)), Notice::Waiting(RankId(u32::MAX)), Notice::Fault(vec![1, 2])] {
            assert_eq!(Notice::from_bytes(&notice.bytes()), Some(notice));
        }
        assert_eq!(Notice::from_bytes(&[0, 1]), None);
        assert_eq!(Notice::from_bytes(&[]), None);
    }
}
