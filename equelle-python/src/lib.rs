//! The module `equelle._equelle`: the library `equelle` for Python. The package around it
//! (`python/equelle`) has what users see.
//!
//! [`program`] compiles, [`arguments`] takes parameters and arrays, [`execution`] runs a program in
//! a thread of its own, [`row`] hands arrays over, [`grid`] has grids, [`errors`] exceptions.

#![forbid(unsafe_code)]

mod arguments;
mod errors;
mod execution;
mod grid;
mod program;
mod row;

use pyo3::prelude::*;

/// The library as a module.
#[pymodule]
mod _equelle {
    #[pymodule_export]
    use super::errors::{CompileError, EquelleError, RunError};
    #[pymodule_export]
    use super::execution::Execution;
    #[pymodule_export]
    use super::grid::PyGrid;
    #[pymodule_export]
    use super::program::{PyProgram, command, compile, version};
    #[pymodule_export]
    use super::row::Row;
}
