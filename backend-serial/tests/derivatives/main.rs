//! Derivatives of the operation level: Jacobians by hand, Taylor tests of every rule, patterns,
//! branches not chosen, wrong use.

#![cfg(feature = "runtime")]

mod branches;
mod by_hand;
mod common;
mod pattern;
mod residuals;
mod taylor;
mod vectors;
mod wrong_use;
