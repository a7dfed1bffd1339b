//! Standard output.

use equelle::failure::Failure;

/// Writes results to standard output. A closed pipe is not an error: the reader has seen enough.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write};
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::io("write", "standard output".as_ref(), &error)),
        _ => Ok(()),
    }
}
