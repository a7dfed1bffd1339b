//! Text of rows of numbers, formatted by several threads.

use std::ops::Range;

use crate::number::write_shortest;
use crate::real::Real;
use crate::threads::{BLOCK, PerBlock, Threads};

/// Blocks of rows whose text is in memory at a time, for each thread.
const BLOCKS_PER_THREAD: usize = 16;

/// Buffers of text, which files share one after another.
#[derive(Debug, Default)]
pub(super) struct RowText {
    threads: Threads,
    blocks: Vec<String>,
}

impl RowText {
    /// Text is formatted by these threads.
    pub(super) fn new(threads: Threads) -> RowText {
        RowText { threads, blocks: Vec::new() }
    }

    /// The threads that format text.
    pub(super) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Ranges of rows whose text is in memory at a time.
    pub(super) fn ranges(&self, rows: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let size = BLOCK * BLOCKS_PER_THREAD * self.threads.number();
        (0..rows).step_by(size).map(move |start| start..rows.min(start + size))
    }

    /// Text of these rows of columns, a row a line, in pieces.
    pub(super) fn of<R: Real>(&mut self, columns: &[&[R]], rows: Range<usize>) -> &[String] {
        let n_blocks = rows.len().div_ceil(BLOCK);
        if self.blocks.len() < n_blocks {
            self.blocks.resize_with(n_blocks, String::new);
        }
        let blocks = &mut self.blocks[..n_blocks];
        self.threads.each(rows.len(), PerBlock(blocks), |range, PerBlock(part)| {
            for (text, start) in part.iter_mut().zip(range.clone().step_by(BLOCK)) {
                text.clear();
                for row in start..range.end.min(start + BLOCK) {
                    for (i, column) in columns.iter().enumerate() {
                        if i > 0 {
                            text.push(' ');
                        }
                        write_shortest(text, column[rows.start + row]);
                    }
                    text.push('\n');
                }
            }
        });
        &self.blocks[..n_blocks]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_change_no_byte() {
        let x: Vec<f64> = (0..100_000).map(|i| f64::from(i) / 7.0).collect();
        let columns = [&x[..], &x[..]];
        let text = |threads| {
            let mut rows = RowText::new(threads);
            rows.ranges(x.len()).map(|range| rows.of(&columns, range).concat()).collect::<Vec<_>>().concat()
        };
        let one = text(Threads::one());
        assert_eq!(one.lines().count(), x.len());
        assert_eq!(one.lines().nth(21), Some("3 3"));
        assert!(one == text(Threads::new(3)));
    }
}
