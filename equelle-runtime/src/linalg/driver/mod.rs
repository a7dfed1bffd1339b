//! The front door: [`options`] (which method, when it stops), [`choose`] (which one where nothing is asked for),
//! [`mod@solve`], `cache` (what is kept from one solve to the next), [`error`].

pub(super) mod cache;
pub mod choose;
pub mod error;
pub mod options;
pub mod solve;
