//! Faces over gaps from end to end. Transmissibilities of OPM Flow 2026.4 for this deck are 170.540
//! and 213.175, which is 0.00852702 times those here.

use crate::support::{EVERY_WAY, assert_close, repository, run};

#[test]
fn distances_are_those_to_the_own_side_of_a_face() {
    let grid = format!("grid_filename={}", repository("tests/run/gaps.grdecl").display());
    for how in EVERY_WAY {
        let outputs = run(how, "tests/run/gaps.equelle", &[&grid, "k_property=PERMZ"]);
        // 2500 / (1 / 10 + 0.25 / 10) and 2500 / (0.25 / 10 + 0.75 / 10). Positions near 1000 have
        // rounding errors of 1e-13, a part of 1e-12 of the shortest distance.
        for (tag, expected) in [
            ("t", &[20_000.0, 25_000.0][..]),
            ("halves", &[20_000.0, 25_000.0]),
            ("apart", &[1.25, 1.0]),
            ("below", &[0.25, 0.75]),
            ("steps", &[1.25, 2.0]),
            ("depths", &[1.25, 1.0]),
            ("flow", &[25_000.0, 25_000.0, -50_000.0]),
        ] {
            assert_close(outputs.last(tag), expected, 1e-11, &format!("{tag}, {how:?}"));
        }
        assert_eq!(outputs.scalars["calls"], [2.0], "{how:?}");
    }
}
