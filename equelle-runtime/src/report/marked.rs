//! Lines of a run among those of a launcher: what a driver starts by `mpiexec` begins each line
//! with a mark, and ends with a line that has its exit code.

use std::io::{Result, Write};

/// First byte of each line of a run.
const MARK: u8 = 0x1e;

/// Second byte of the last line.
const LAST: u8 = 0x04;

/// Second byte of the first line of a rank.
const FIRST: u8 = 0x01;

/// The process of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankProcess {
    /// Number of the rank.
    pub rank: u32,
    /// Number of its process, on its machine.
    pub process: u32,
    /// Name of the machine.
    pub node: String,
}

/// A line as a driver reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line of the run, without its mark.
    OfRun(&'a [u8]),
    /// A rank begins.
    Begin(RankProcess),
    /// The end of the run, with its exit code.
    End(u8),
    /// A line of the launcher.
    Other(&'a [u8]),
}

impl Line<'_> {
    /// From a line with the byte that ends it, or without.
    pub fn of(bytes: &[u8]) -> Line<'_> {
        match bytes {
            [MARK, FIRST, rank @ ..] => rank_process(rank).map_or(Line::Other(bytes), Line::Begin),
            [MARK, LAST, code @ ..] => {
                let code = std::str::from_utf8(code).ok().and_then(|code| code.trim_end().parse().ok());
                code.map_or(Line::Other(bytes), Line::End)
            }
            [MARK, line @ ..] => Line::OfRun(line),
            line => Line::Other(line),
        }
    }
}

fn rank_process(bytes: &[u8]) -> Option<RankProcess> {
    let mut words = std::str::from_utf8(bytes).ok()?.split_whitespace();
    Some(RankProcess {
        rank: words.next()?.parse().ok()?,
        process: words.next()?.parse().ok()?,
        node: words.next().unwrap_or("").to_owned(),
    })
}

/// The first line of a rank.
pub fn begin(rank: &RankProcess) -> Vec<u8> {
    [&[MARK, FIRST], format!("{} {} {}\n", rank.rank, rank.process, rank.node).as_bytes()].concat()
}

/// The last line of a run.
pub fn end(exit_code: u8) -> Vec<u8> {
    [&[MARK, LAST], format!("{exit_code}\n").as_bytes()].concat()
}

/// Begins each line with a mark.
pub struct Marked<W> {
    to: W,
    is_within: bool,
}

impl<W: Write> Marked<W> {
    /// Writes marked lines there.
    pub fn new(to: W) -> Marked<W> {
        Marked { to, is_within: false }
    }
}

impl<W: Write> Write for Marked<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut marked = Vec::with_capacity(bytes.len() + 8);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_within {
                marked.push(MARK);
            }
            marked.extend_from_slice(line);
            self.is_within = line.last() != Some(&b'\n');
        }
        self.to.write_all(&marked).map(|()| bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_run_are_told_from_others() {
        let mut bytes = Vec::new();
        let mut marked = Marked::new(&mut bytes);
        for part in ["one\n", "tw", "o\n\nth", "ree\n"] {
            marked.write_all(part.as_bytes()).unwrap();
        }
        bytes.extend_from_slice(b"launcher\n");
        bytes.extend_from_slice(&end(10));
        let rank = RankProcess { rank: 1, process: 77, node: "node7".into() };
        bytes.extend_from_slice(&begin(&rank));
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let found: Vec<Line> = lines.iter().map(|line| Line::of(line)).collect();
        let run = |line: &'static [u8]| Line::OfRun(line);
        assert_eq!(
            found,
            [run(b"one\n"), run(b"two\n"), run(b"\n"), run(b"three\n"), Line::Other(b"launcher\n"), Line::End(10), Line::Begin(rank)]
        );
    }
}
