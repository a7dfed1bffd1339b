//! Rows of Cartesian grids: the compiled program evaluates a face once for both of its cells, cuts long rows, and evaluates cells with sources again. The interpreter, the operation level and
//! unstructured grids do nothing of that, and must give the same bits.

use std::fmt::Write as _;
use std::fs;

use crate::support::{Dimensions, How, run_with, scratch};

/// Numbers between 0 and 2 without any order.
fn numbers(count: usize, seed: u64) -> String {
    let mut state = seed;
    (0..count).fold(String::new(), |mut text, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let _ = writeln!(text, "{}", (state >> 11) as f64 / (1_u64 << 52) as f64);
        text
    })
}

/// Cell widths are powers of two, so that all ways agree to the bit.
fn same_bits(n: &[usize]) {
    let folder = scratch(&format!("rows-{}", n.iter().map(ToString::to_string).collect::<Vec<_>>().join("-")));
    let cells: usize = n.iter().product();
    let interior = n.iter().map(|n| cells / n * (n - 1)).sum();
    // Every seventh cell has a source, and all faces at the low end of the first axis are open.
    let wells: Vec<usize> = (0..cells).step_by(7).collect();
    let open: Vec<usize> = (0..cells / n[0]).map(|row| row * (n[0] + 1)).collect();
    let list = |numbers: &[usize]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut parameters = format!("grid_dim = {}\n", n.len());
    for ((axis, n), width) in ["x", "y", "z"].into_iter().zip(n).zip([0.5, 0.25, 2.0]) {
        let _ = writeln!(parameters, "n{axis} = {n}\nd{axis} = {width}");
    }
    for (name, text) in [
        ("u0", numbers(cells, 1)),
        ("b", numbers(cells, 2)),
        ("wells", list(&wells)),
        ("rate", numbers(wells.len(), 3)),
        ("open", list(&open)),
        ("inflow", numbers(open.len(), 4)),
        ("resistance", numbers(interior, 5)),
        ("timesteps", "0.01 ".repeat(5)),
    ] {
        fs::write(folder.join(name), text).unwrap();
        let _ = writeln!(parameters, "{name}_filename = {name}\n{name}_from_file = true");
    }
    fs::write(folder.join("case.param"), parameters).unwrap();
    let case = folder.join("case.param").display().to_string();
    let run = |how, words: &[&str]| {
        let words: Vec<&str> = [case.as_str()].into_iter().chain(words.iter().copied()).collect();
        run_with(how, Dimensions::Unchecked, "tests/run/rows.equelle", &words).last("u").to_vec()
    };
    let expected = run(How::Interpreted0, &[]);
    assert!(expected.iter().all(|u| u.is_finite()) && expected.iter().any(|u| *u > 0.0));
    for (how, words) in [
        (How::Interpreted2, vec![]),
        (How::Compiled2, vec!["threads=1"]),
        (How::Compiled2, vec!["threads=3"]),
        (How::Compiled2, vec!["grid_layout=unstructured"]),
    ] {
        let found = run(how, &words);
        let differ = expected.iter().zip(&found).position(|(a, b)| a.to_bits() != b.to_bits());
        assert!(found.len() == expected.len() && differ.is_none(), "{n:?} {how:?} {words:?}: cell {differ:?}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn faces_evaluated_once_give_the_bits_of_the_program() {
    same_bits(&[1100]);
    same_bits(&[37, 23]);
    same_bits(&[1030, 20]);
    same_bits(&[13, 9, 11]);
    same_bits(&[1, 7]);
    same_bits(&[2, 3, 1]);
}
