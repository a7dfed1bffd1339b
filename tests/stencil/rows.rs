//! Jacobians worked out by hand.
