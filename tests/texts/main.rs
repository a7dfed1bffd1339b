//! Texts that the compiler writes, against records: diagnostics, IR, generated code,
//! reports, manifests and grids. `cargo xtask bless` rewrites them.

mod forms;
mod golden;
mod grid_convert;
mod ir;
mod manifest;
mod own_names;
mod report;
mod ui;
