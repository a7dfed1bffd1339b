//! Stencil differentiation against sparse-matrix derivatives: residuals and Jacobians of every
//! iterate, on example programs and on programs made for a rule each.

#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;

#[path = "stencil/agree.rs"]
mod agree;
#[path = "stencil/by_index.rs"]
mod by_index;
#[path = "stencil/compiled.rs"]
mod compiled;
#[path = "stencil/forms.rs"]
mod forms;
#[path = "stencil/rows.rs"]
mod rows;
