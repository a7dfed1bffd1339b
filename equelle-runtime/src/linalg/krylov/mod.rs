//! Krylov methods: [`cg`], [`bicgstab`], [`gmres`], and their common part [`iteration`].

pub mod bicgstab;
pub mod cg;
pub mod gmres;
pub mod iteration;
