//! Messages in pieces: MPI counts bytes with 32 bits.
//!
//! The last byte of a piece has the kind of its message, and whether another piece follows. So
//! order and content need nothing of MPI but bytes.

/// Largest number of bytes of a piece.
pub(crate) const LARGEST: usize = 1 << 30;

/// Set in the last byte of a piece that is not the last one.
const GOES_ON: u8 = 0x80;

/// The pieces of a message of a kind below 128. One piece is the message itself.
pub(crate) fn split(kind: u8, mut message: Vec<u8>, largest: usize) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    if message.len() >= largest {
        let mut whole = message.chunks(largest - 1).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let last = whole.pop().unwrap_or_default();
        for mut piece in whole {
            piece.push(kind | GOES_ON);
            pieces.push(piece);
        }
        message = last;
    }
    message.push(kind & !GOES_ON);
    pieces.push(message);
    pieces
}

/// Adds a piece to those before it; the message with its kind once it is whole.
pub(crate) fn join(before: &mut Vec<u8>, mut piece: Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let last = piece.pop()?;
    if before.is_empty() && last & GOES_ON == 0 {
        return Some((last, piece));
    }
    before.append(&mut piece);
    (last & GOES_ON == 0).then(|| (last, std::mem::take(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_arrive_whole() {
        for len in 0..40 {
            let message: Vec<u8> = (0..len).collect();
            let pieces = split(3, message.clone(), 8);
            assert!(pieces.iter().all(|piece| piece.len() <= 8), "{pieces:?}");
            assert_eq!(pieces.len(), usize::from(len).div_ceil(7).max(1));
            let mut before = Vec::new();
            let found: Vec<_> = pieces.into_iter().filter_map(|piece| join(&mut before, piece)).collect();
            assert_eq!(found, [(3, message)]);
            assert!(before.is_empty());
        }
    }
}
