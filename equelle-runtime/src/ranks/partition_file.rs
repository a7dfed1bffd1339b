//! Partitions in files: one number a line, the rank of each cell in the order of the grid's file,
//! as `gpmetis` writes them.

use std::io::{self, Write};
use std::path::Path;

use super::{Partition, RankId};
use crate::error::{Error, ErrorKind};
use crate::io::Sink;
use crate::params::Parameters;

/// The parameter with the file of the partition of a run on ranks.
pub const PARTITION_FILE: &str = "partition_file";

/// The parameter with the file to which that is written.
pub const PARTITION_WRITE: &str = "partition_write";

/// The partition that a text says, of a grid with so many cells. There are as many ranks as the
/// largest number says.
///
/// # Errors
/// `Data`, with the line, if one is not a number, or their count is not that of the cells; or as
/// [`Partition::new`].
pub fn parse(text: &str, n_cells: usize) -> Result<Partition, Error> {
    let mut owners = Vec::with_capacity(n_cells);
    for (line, word) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let rank = word.trim().parse::<u32>().ok().filter(|&rank| rank < u32::MAX);
        let rank =
            rank.ok_or_else(|| Error::new(ErrorKind::Data, format!("line {}: `{}` is not the number of a rank", line + 1, word.trim())))?;
        owners.push(RankId(rank));
    }
    if owners.len() != n_cells {
        let message = format!("{} numbers of ranks for {n_cells} cells", owners.len());
        return Err(Error::new(ErrorKind::Data, message).hint("a partition has one line for each cell of the grid"));
    }
    let n_ranks = owners.iter().map(|rank| rank.0 + 1).max().unwrap_or(0);
    // More ranks than cells cannot each own one; said before anything is allocated for them.
    if n_ranks as usize > n_cells {
        return Err(Error::new(ErrorKind::Data, format!("{n_ranks} ranks for {n_cells} cells")));
    }
    Partition::new(owners, n_ranks)
}

/// [`parse`], with the file in errors.
///
/// # Errors
/// As for [`parse`].
pub fn parse_file(path: &Path, text: &str, n_cells: usize) -> Result<Partition, Error> {
    parse(text, n_cells).map_err(|error| Error { message: format!("`{}`: {}", path.display(), error.message), ..error })
}

/// The partition that the parameter `partition_file` gives to a run on ranks, if there is one.
///
/// # Errors
/// `Io` if there is no such file; as for [`parse`]; `Data` if it is one for another number of
/// ranks.
pub fn from_parameters(parameters: &Parameters, n_cells: usize, n_ranks: u32) -> Result<Option<Partition>, Error> {
    let Some(path) = parameters.path(PARTITION_FILE)? else { return Ok(None) };
    let bytes = parameters.source().read(&path, "")?;
    let partition = parse_file(&path, &String::from_utf8_lossy(&bytes), n_cells)?;
    if partition.n_ranks() != n_ranks as usize {
        let message = format!("`{}` has the cells of {} ranks, and the run has {n_ranks}", path.display(), partition.n_ranks());
        return Err(Error::new(ErrorKind::Data, message).hint(format!("run on as many ranks, or leave `{PARTITION_FILE}` out")));
    }
    Ok(Some(partition))
}

/// Writes the rank that owns each cell to the file of the parameter `partition_write`, if there is
/// one.
///
/// # Errors
/// `Data` for a bad parameter; `Io` if it cannot be written.
pub fn write_for_parameters(parameters: &Parameters, owners: impl IntoIterator<Item = RankId>, sink: &Sink) -> Result<(), Error> {
    let Some(path) = parameters.path(PARTITION_WRITE)? else { return Ok(()) };
    let written = sink.write(&path, |out| write(owners, out));
    written.map_err(|error| Error::cannot_write(&format!("`{}`", path.display()), &error))
}

/// Writes the rank that owns each cell.
///
/// # Errors
/// Those of the writer.
pub fn write(owners: impl IntoIterator<Item = RankId>, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    owners.into_iter().try_for_each(|rank| writeln!(out, "{}", rank.0))?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let partition = Partition::new([2, 0, 1, 1].map(RankId).to_vec(), 3).expect("three parts");
        let mut text = Vec::new();
        write(partition.owners().iter().copied(), &mut text).expect("memory");
        assert_eq!(text, b"2\n0\n1\n1\n");
        assert_eq!(parse("2\n 0\n1\r\n1\n\n", 4).expect("a partition"), partition);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("0\none\n0\n", "line 2: `one`"),
            ("0\n-1\n0\n", "line 2: `-1`"),
            ("0\n1\n", "2 numbers of ranks for 3 cells"),
            ("0\n2\n2\n", "rank 1 of 3 has no cell"),
            ("0\n0\n4000000000\n", "4000000001 ranks for 3 cells"),
        ] {
            let error = parse(text, 3).expect_err(text).to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
