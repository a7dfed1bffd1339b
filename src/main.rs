//! The `equellec` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    equellec::cli::main()
}
