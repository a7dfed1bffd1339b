//! Program, parameters and grid of a rank, which all ranks have to have in common.

use std::path::Path;

use serde_json::json;

use crate::checkpoint::grid_hash;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::hash::StableHash;
use crate::params::Parameters;
use crate::program::Program;
use crate::rank_id::RankId;

/// Names and values, in the order in which a difference is told.
pub(super) type Fingerprint = Vec<(String, String)>;

/// That of a rank with these parameters and this whole grid. Files that rank 0 alone reads do not
/// count.
pub(super) fn of(program: &Program, parameters: &Parameters, grid: &Grid, back_end: &str) -> Fingerprint {
    let mut all: Fingerprint = [
        ("the version of the runtime", env!("CARGO_PKG_VERSION").to_owned()),
        ("the program", format!("{} {}", program.name, program.source.hash())),
        ("the executable", std::env::current_exe().ok().and_then(|path| file_hash(&path)).unwrap_or_default()),
        ("the back-end", back_end.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    all.extend(parameters.given().map(|(key, value, _)| (format!("parameter `{key}`"), format!("`{value}`"))));
    all.push(("the grid".to_owned(), format!("{} cells, {:016x}", grid.n_cells(), grid_hash::of(grid))));
    all
}

/// As a message.
pub(super) fn bytes(fingerprint: &Fingerprint) -> Vec<u8> {
    json!(fingerprint).to_string().into_bytes()
}

/// Compares that of a rank, as a message, with that of rank 0.
///
/// # Errors
/// `Data` with the first difference.
pub(super) fn compare(root: &Fingerprint, rank: RankId, bytes: &[u8]) -> Result<(), Error> {
    let other: Fingerprint = serde_json::from_slice(bytes).unwrap_or_default();
    let value =
        |of: &Fingerprint, name: &str| of.iter().find(|(known, _)| known == name).map_or("not given".into(), |(_, value)| value.clone());
    let names = root.iter().chain(&other).map(|(name, _)| name);
    let Some(name) = names.into_iter().find(|name| value(root, name) != value(&other, name)) else { return Ok(()) };
    let message = format!("ranks 0 and {} differ in {name}: {} and {}", rank.0, value(root, name), value(&other, name));
    Err(Error::new(ErrorKind::Data, message).hint("all ranks need the same program, parameters and grid, on every machine of the run"))
}

/// Hash of a file, of eight bytes at a time.
fn file_hash(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let words = bytes.chunks(8).map(|chunk| chunk.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte)));
    let mixed = words.fold(0_u64, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Some(StableHash::default().bytes(&mixed.to_le_bytes()).bytes(&bytes.len().to_le_bytes()).digits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told() {
        let of = |pairs: &[(&str, &str)]| -> Fingerprint { pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect() };
        let root = of(&[("the program", "a"), ("parameter `k`", "`1`"), ("the grid", "4")]);
        let message = |other: Fingerprint| compare(&root, RankId(2), &bytes(&other)).err().map(|error| error.message);
        assert_eq!(message(root.clone()), None);
        let other = of(&[("the program", "a"), ("parameter `k`", "`2`"), ("the grid", "5")]);
        assert_eq!(message(other), Some("ranks 0 and 2 differ in parameter `k`: `1` and `2`".into()));
        let other = of(&[("the program", "a"), ("the grid", "4")]);
        assert_eq!(message(other), Some("ranks 0 and 2 differ in parameter `k`: `1` and not given".into()));
        let more = of(&[("the program", "a"), ("parameter `k`", "`1`"), ("parameter `l`", "`2`"), ("the grid", "4")]);
        assert_eq!(message(more), Some("ranks 0 and 2 differ in parameter `l`: not given and `2`".into()));
    }
}
