//! A test run of half of the crate is no test of it.

#[test]
fn both_halves_are_tested() {
    let both = cfg!(feature = "codegen") && cfg!(feature = "runtime");
    assert!(both, "tests of the other half were left out: run them with the default features, or with `-- --skip both_halves`");
}
