//! Text on standard output.

use std::fmt::Write as _;
use std::io::Write;

use crate::error::{Error, ErrorKind};
use crate::number::write_shortest;
use crate::real::Real;

/// Least width of a number of a collection; longer numbers shift the next ones to the right.
const WIDTH: usize = 15;

/// Number of rows whose text is in memory at a time.
const CHUNK: usize = 16 * 1024;

/// Prints a text and flushes.
pub(super) fn print(console: &mut dyn Write, text: &str) -> Result<(), Error> {
    console.write_all(text.as_bytes()).and_then(|()| console.flush()).map_err(cannot_print)
}

/// Prints `tag =` and columns of equal length, one line a row or one for all; buffers some thousand
/// rows of text.
pub(super) fn print_columns<R: Real>(
    console: &mut dyn Write,
    tag: &str,
    columns: &[&[R]],
    one_line: bool,
    text: &mut String,
) -> Result<(), Error> {
    let rows = columns.first().map_or(0, |column| column.len());
    let mut print = || -> std::io::Result<()> {
        console.write_all(tag.as_bytes())?;
        console.write_all(b" =\n")?;
        for start in (0..rows).step_by(CHUNK) {
            text.clear();
            for row in start..rows.min(start + CHUNK) {
                for column in columns {
                    field(text, column[row]);
                }
                if !one_line {
                    text.push('\n');
                }
            }
            console.write_all(text.as_bytes())?;
        }
        if one_line {
            console.write_all(b"\n")?;
        }
        console.flush()
    };
    print().map_err(cannot_print)
}

/// Appends a number in all its digits, padded with blanks.
fn field<R: Real>(text: &mut String, value: R) {
    let begin = text.len();
    write_shortest(text, value);
    let blanks = WIDTH.saturating_sub(text.len() - begin) + 1;
    // Writing to a String cannot fail.
    let _ = write!(text, "{:blanks$}", "");
}

fn cannot_print(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write to standard output: {error}"))
}
