//! Data that are matched with elements by the positions beside them.

use equelle_runtime::grid::{Cartesian, Grid, Renumber};
use equelle_runtime::io::DataSource;
use equelle_runtime::report::ProgressStyle;
use equelle_runtime::session::Options;
use equelle_runtime::{CanonicalSet, EntityKind, ErrorKind, Parameters, Session};

use crate::common::*;

/// 4 x 3 cells of 0.5 x 0.3: as a shape, of arrays, and renumbered.
fn forms() -> [Grid; 3] {
    let arrays = || {
        let cartesian = four_by_three();
        Grid::unstructured(2, cartesian.topology().clone(), cartesian.geometry().clone()).expect("a grid")
    };
    let mut renumbered = arrays();
    renumbered.renumber(Renumber::Yes);
    [four_by_three(), arrays(), renumbered]
}

/// Values in the order of the grid's file, and what is said; or message and hint.
fn read_on(grid: Grid, set: CanonicalSet, words: &[&str], csv: &str) -> Result<Vec<f64>, (String, String)> {
    let files = vec![("a.csv", csv.as_bytes().to_vec())];
    let mut all = words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    all.extend(["u_initial_filename=a.csv".to_owned(), "u_initial_column=u".to_owned()]);
    let parameters = Parameters::from_words_in(DataSource::memory(files), &all).expect("parameters");
    let mut session = Session::on_grid(heat(), parameters, grid, Options::silent()).expect("a session");
    // As a program does that reads no geometry.
    session.keep_geometry(&[]);
    let domain = session.domain(set).expect("a domain");
    let read = session.inputs().collection("u_initial", &domain).map_err(|error| {
        assert_eq!(error.kind, ErrorKind::Data);
        (error.message, error.hint.unwrap_or_default())
    })?;
    Ok(domain.in_file_order(&read.to_vec(domain.len())).into_owned())
}

/// The same on each form of the grid.
fn read(set: CanonicalSet, csv: &str) -> Result<Vec<f64>, (String, String)> {
    let [first, second, third] = forms().map(|grid| read_on(grid, set, &[], csv));
    assert_eq!((&first, &first), (&second, &third));
    first
}

/// Rows with the centroid and a number of each element, in an order.
fn rows(
    kind: EntityKind,
    set: CanonicalSet,
    order: impl Fn(Vec<usize>) -> Vec<usize>,
    shown: impl Fn([f64; 3], usize) -> String,
) -> String {
    let grid = four_by_three();
    let elements = grid.canonical_elements(set).expect("a set");
    let row = |index: usize| shown(grid.centroid(kind, elements[index]).expect("a centroid"), index);
    order((0..elements.len()).collect()).into_iter().map(row).collect()
}

fn reversed(mut rows: Vec<usize>) -> Vec<usize> {
    rows.reverse();
    rows
}

fn shuffled(mut rows: Vec<usize>) -> Vec<usize> {
    fastrand::Rng::with_seed(3).shuffle(&mut rows);
    rows
}

#[test]
fn rows_in_any_order_go_by_their_positions() {
    for (kind, set) in [
        (EntityKind::Cell, ALL_CELLS),
        (EntityKind::Cell, INTERIOR_CELLS),
        (EntityKind::Face, ALL_FACES),
        (EntityKind::Face, BOUNDARY_FACES),
    ] {
        for order in [std::convert::identity::<Vec<usize>>, reversed, shuffled] {
            let body = rows(kind, set, order, |[x, y, _], index| format!("{x},{y},{}\n", 10 + index));
            let values = read(set, &format!("x,y,u\n{body}")).expect("a permutation");
            let expected: Vec<f64> = (0..values.len()).map(|index| 10.0 + index as f64).collect();
            assert_eq!(values, expected, "{set:?}");
        }
    }
    // Edges and vertices of the shape have centroids, too.
    let grid = four_by_three();
    let centroids = grid.centroids(EntityKind::Vertex).to_vec();
    let body: String = centroids.iter().enumerate().rev().map(|(index, [x, y, _])| format!("{index};{y};{x}\n")).collect();
    let values = read_on(grid, CanonicalSet::new(EntityKind::Vertex, equelle_runtime::Extent::All), &[], &format!("u;Y;X\n{body}"));
    assert_eq!(values, Ok((0..20).map(f64::from).collect()));
}

/// A note says that the order is another one; in the order of the cells nothing is said.
#[test]
fn another_order_is_told() {
    let message = |order: fn(Vec<usize>) -> Vec<usize>| {
        let body = rows(EntityKind::Cell, ALL_CELLS, order, |[x, y, _], index| format!("{x},{y},{index}\n"));
        let files = vec![("a.csv", format!("x,y,u\n{body}").into_bytes())];
        let words = words(&["u_initial_filename=a.csv", "u_initial_column=u"]);
        let parameters = Parameters::from_words_in(DataSource::memory(files), &words).expect("parameters");
        let messages = crate::output::Buffer::default();
        let options = Options { stderr: Box::new(messages.clone()), quiet: false, progress: ProgressStyle::Lines, ..Options::silent() };
        let mut session = Session::on_grid(heat(), parameters, four_by_three(), options).expect("a session");
        let cells = session.domain(ALL_CELLS).expect("cells");
        session.inputs().collection("u_initial", &cells).expect("values");
        messages.text()
    };
    assert_eq!(message(std::convert::identity), "");
    let said = message(reversed);
    assert!(
        said.contains("input `u_initial`: `a.csv` has another order than the cells of the grid; values go by their positions"),
        "{said}"
    );
}

/// The centroids are 0.5 and 0.3 apart, so a row may be 0.03 away from its own.
#[test]
fn positions_within_a_tenth_of_the_distance_of_centroids() {
    let moved = |by: [f64; 2], order: fn(Vec<usize>) -> Vec<usize>| {
        let body = rows(EntityKind::Cell, ALL_CELLS, order, |[x, y, _], index| format!("{},{},{index}\n", x + by[0], y + by[1]));
        read(ALL_CELLS, &format!("x,y,u\n{body}"))
    };
    let in_order: Vec<f64> = (0..12).map(f64::from).collect();
    for order in [std::convert::identity::<Vec<usize>>, reversed] {
        assert_eq!(moved([0.029, 0.0], order), Ok(in_order.clone()));
        assert_eq!(moved([0.0, -0.029], order), Ok(in_order.clone()));
        assert!(moved([0.031, 0.0], order).is_err() && moved([-0.02, 0.025], order).is_err());
    }
    // Another grid; corners in place of centres; millimetres in place of metres.
    let (message, hint) = moved([0.25, 0.15], reversed).expect_err("corners");
    assert_eq!(
        message,
        "a.csv:2: input `u_initial`: (2, 0.9) is the centroid of no cell of AllCells(): the nearest is cell 11 at (1.75, 0.75), 0.29154759474226505 away"
    );
    assert!(hint.starts_with("a row belongs to the cell whose centroid its columns x, y have, in metres"), "{hint}");
    let body = rows(EntityKind::Cell, ALL_CELLS, reversed, |[x, y, _], index| format!("{},{},{index}\n", 1000.0 * x, 1000.0 * y));
    assert!(read(ALL_CELLS, &format!("x,y,u\n{body}")).is_err());
    assert_eq!(read(ALL_CELLS, &format!("x [Milli*Meter],y [Milli*Meter],u\n{body}")), Ok(in_order));
}

/// Coordinates along some axes are compared; they order rows where they tell elements apart.
#[test]
fn some_coordinates() {
    let in_order: Vec<f64> = (0..12).map(f64::from).collect();
    let only_x = |order: fn(Vec<usize>) -> Vec<usize>| {
        let body = rows(EntityKind::Cell, ALL_CELLS, order, |[x, ..], index| format!("{x},{index}\n"));
        read(ALL_CELLS, &format!("x,u\n{body}"))
    };
    assert_eq!(only_x(std::convert::identity), Ok(in_order.clone()));
    let (message, hint) = only_x(reversed).expect_err("rows of one column of cells");
    assert_eq!(message, "a.csv:2: input `u_initial`: both cell 3 at (1.75) and cell 7 at (1.75) have these coordinates");
    assert_eq!(hint, "the rows are not in the order of the cells, and x alone cannot tell: give all coordinates");
    // z of a plane says nothing.
    let body = rows(EntityKind::Cell, ALL_CELLS, reversed, |[x, y, _], index| format!("{x},{y},1200,{index}\n"));
    assert_eq!(read(ALL_CELLS, &format!("x,y,z,u\n{body}")), Ok(in_order));
    // One layer of a block: x and y are enough.
    let block = || Grid::cartesian(Cartesian::block([2, 2, 1], [1.0, 1.0, 5.0])).expect("a grid");
    let values = read_on(block(), ALL_CELLS, &[], "x,y,u\n1.5,1.5,3\n0.5,1.5,2\n1.5,0.5,1\n0.5,0.5,0\n");
    assert_eq!(values, Ok(vec![0.0, 1.0, 2.0, 3.0]));
    // Values that are called as an axis are no positions.
    let values = read_on(block(), ALL_CELLS, &["u_initial_column=x"], "u,x,y\n1,4,9\n2,3,9\n3,2,9\n4,1,9\n");
    assert!(values.is_err(), "the last word counts: u, beside x and y");
}

#[test]
fn what_is_no_permutation() {
    let grid = || Grid::cartesian(Cartesian::line(3, 2.0)).expect("a grid");
    let message = |csv: &str| read_on(grid(), ALL_CELLS, &[], csv).expect_err("refused").0;
    assert_eq!(message("u,x\n7,3\n8,1\n9,3.1\n"), "a.csv:4: input `u_initial`: cell 1 at (3) again: line 2 has it, too");
    assert_eq!(message("u,x\n7,3\n8,1\n"), "`a.csv`: input `u_initial` on AllCells(): expected 3 values, found 2");
    assert_eq!(message("u,x\n7,3\n8,one\n9,5\n"), "a.csv:3: column `x`: `one` is not a number");
    // A grid of one cell has no next centroid: a millionth of its coordinate.
    let one = |x: &str| read_on(Grid::cartesian(Cartesian::line(1, 2.0)).expect("a grid"), ALL_CELLS, &[], &format!("u,x\n7,{x}\n"));
    assert_eq!(one("1.0000009"), Ok(vec![7.0]));
    assert!(one("1.000002").is_err());
}

/// A million rows take seconds, in whatever order; a search of all cells for each would take hours.
#[test]
fn many_rows() {
    let n: usize = 300;
    let grid = Grid::cartesian(Cartesian::plane([n, n], [0.1, 7.0])).expect("a grid");
    let mut order: Vec<usize> = (0..n * n).collect();
    fastrand::Rng::with_seed(5).shuffle(&mut order);
    let centroids = grid.centroids_of(EntityKind::Cell);
    let row = |cell: &usize| {
        let [x, y, _] = centroids.at(*cell as u32).expect("a cell");
        format!("{x},{y},{cell}\n")
    };
    let body: String = order.iter().map(row).collect();
    let grid = Grid::cartesian(Cartesian::plane([n, n], [0.1, 7.0])).expect("a grid");
    let values = read_on(grid, ALL_CELLS, &[], &format!("x,y,u\n{body}")).expect("a permutation");
    assert!(values.iter().enumerate().all(|(cell, value)| *value == cell as f64));
}
