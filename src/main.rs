//! The driver.
fn main() {}
