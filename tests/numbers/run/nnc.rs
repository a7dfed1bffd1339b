//! Connections without geometry from end to end.

use crate::support::{EVERY_WAY, assert_close, equellec, repository, run, scratch, stderr};

/// Two connections through 2 m of 10 mD, of 2500 m2 each, and one of 3 cP m3 / (day bar).
#[test]
fn transmissibilities_of_the_deck_take_part() {
    let grid = format!("grid_filename={}", repository("tests/run/nnc.grdecl").display());
    let (layer, given) = (2500.0 * 10.0 * 0.9869233 / 2.0, 3.0 * 1e-3 / (86_400.0 * 1e5) * 1e15);
    // From the first layer to the last one flows 1 in all, half of it in two steps.
    let drop = 1.0 / (given + 0.5 * layer);
    for how in EVERY_WAY {
        let outputs = run(how, "tests/run/nnc.equelle", &[&grid, "k_property=PERMZ", "layer_property=K"]);
        assert_close(outputs.last("t"), &[layer, layer, given], 1e-12, &format!("{how:?}"));
        assert_close(outputs.last("p"), &[0.5 * drop, 0.0, -0.5 * drop], 1e-8 * drop, &format!("{how:?}"));
    }
}

/// Areas, normals and centroids of such connections are not there: no number is made up.
#[test]
fn geometry_of_them_is_refused() {
    let folder = scratch("nnc-geometry");
    let grid = format!("grid_filename={}", repository("tests/run/nnc.grdecl").display());
    let on_ranks = |text: &str, n_ranks: &[&str]| {
        std::fs::write(folder.join("p.equelle"), text).unwrap();
        let output = equellec().current_dir(&folder).args(["run", "--interpret", "p.equelle", &grid]).args(n_ranks).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let interpreted = |text: &str| on_ranks(text, &[]);
    for read in ["|f|", "Normal(f)[2]", "(Centroid(f) - Centroid(FirstCell(f)))[2]", "|AllFaces()|"] {
        // Parts of a grid do not know the deck's indices: rank 0 does.
        for n_ranks in [&[][..], &["--ranks-threads", "1"], &["--ranks-threads", "2"]] {
            let (code, errors) = on_ranks(&format!("f = InteriorFaces()\nOutput(\"x\", 1 * {read})\n"), n_ranks);
            let cells = "cell (1, 1, 1) and cell (1, 1, 3) are joined without geometry (NNC)";
            assert!(code == Some(4) && errors.contains(cells) && errors.contains("p.equelle:2"), "{read} {n_ranks:?}: {code:?} {errors}");
            assert!(errors.contains("nnc=ignore"), "{errors}");
        }
    }
    let (code, errors) = interpreted("f = InteriorFaces()\nd = Where(f, |f| > 0 [Meter^2])\nOutput(\"n\", SumReduce(1 Extend d))\n");
    assert!(code == Some(4) && errors.contains("p.equelle:2"), "{code:?} {errors}");
    // The geometry of the boundary, of cells, and of what the grid gives nothing for.
    for read in ["|BoundaryFaces()|", "|AllCells()|", "GivenTransmissibility(f, |f| * 1 [Meter])"] {
        let (code, errors) = interpreted(&format!("f = InteriorFaces()\nOutput(\"x\", 1 * {read})\n"));
        assert_eq!(code, Some(0), "{read}: {errors}");
    }
}
