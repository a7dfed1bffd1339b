//! Stencil differentiation against sparse-matrix derivatives: residuals and Jacobians of every
//! iterate, on example programs and on programs made for a rule each.

mod agree;
mod by_index;
mod compiled;
mod forms;
mod rows;
