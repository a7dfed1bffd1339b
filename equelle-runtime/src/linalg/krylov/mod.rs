//! Iterative methods: [`iteration`] has what they have in common; [`cg`], [`bicgstab`] and [`gmres`].

pub mod bicgstab;
pub mod cg;
pub mod gmres;
pub mod iteration;
