//! Checkpoints: the state of a run after a round of a loop, in a file from which a later run goes
//! on.
//!
//! A file `PROGRAM.checkpoint-00040.npz` has a header in JSON ([`header`]) and an array for each
//! part of the state, in the numbering of the grid's file, so that any back-end goes on with it.
//! [`policy`] says when there is one, [`mod@write`] and [`read`] know the file, [`grid_hash`] tells
//! grids apart. [`Checkpoint`] is what generated programs call; the compiler has found out what is
//! saved. `session/checkpoints.rs` ties these to a run.

pub mod grid_hash;
pub mod header;
pub mod policy;
pub mod read;
mod runtime;
mod value;
pub mod write;

pub use runtime::Checkpoint;
pub use value::{SavedKind, SavedValue};

/// Part of a checkpoint's file name between the program's name and the number of the round.
const INFIX: &str = ".checkpoint-";
const SUFFIX: &str = ".npz";

/// The name of the checkpoint of a program after a round.
pub fn file_name(program: &str, step: u64) -> String {
    format!("{program}{INFIX}{step:05}{SUFFIX}")
}

/// The round in the name of a checkpoint of a program.
pub fn step_of(name: &str, program: &str) -> Option<u64> {
    let step = name.strip_prefix(program)?.strip_prefix(INFIX)?.strip_suffix(SUFFIX)?.parse().ok()?;
    (file_name(program, step) == name).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_checkpoints() {
        assert_eq!(file_name("heat", 40), "heat.checkpoint-00040.npz");
        for step in [0, 40, 123_456] {
            assert_eq!(step_of(&file_name("heat", step), "heat"), Some(step));
        }
        for name in ["heat.checkpoint-40.npz", "heat2.checkpoint-00040.npz", "heat.checkpoint-00040.npz.old", "heat.checkpoint--0001.npz"] {
            assert_eq!(step_of(name, "heat"), None, "{name}");
        }
    }
}
