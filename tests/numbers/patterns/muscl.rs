//! MUSCL with the limiter of Barth and Jespersen, on triangles. Orders with 2 n^2 of them: of a
//! square in L1 0.63 and 0.66 from n = 16 to 32 to 64; of a blob without the limiter in L2 2.01 and
//! 1.96 from 64 to 128 to 256.

use std::f64::consts::PI;
use std::fs;

use super::grid_file::{GridFile, input, write};
use crate::support::{How, Outputs, run, scratch};
use crate::triangles::{Order, triangles};

const PROGRAM: &str = "tests/patterns/muscl.equelle";

/// A run on n times n squares of two triangles each: until when, and the field at first.
fn turned(how: How, n: usize, until: f64, stable: f64, more: &[&str], initial: impl Fn(&[f64]) -> f64) -> (GridFile, Outputs) {
    let folder = scratch(&format!("muscl-{n}-{}-{how:?}", more.len()));
    let text = triangles(n, n, Order::Rows);
    let grid = GridFile::read(&text);
    fs::write(folder.join("grid"), &text).unwrap();
    let steps = (until / (stable * longest_step(&grid))).ceil();
    let mut words = vec![format!("grid_filename={}", folder.join("grid").display())];
    words.extend(input(&folder, "u_initial", &grid.centroids.iter().map(|x| initial(x)).collect::<Vec<_>>()));
    words.push(format!("timesteps_filename={}", write(&folder, "steps", &vec![until / steps; steps as usize])));
    words.extend(more.iter().map(ToString::to_string));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outputs = run(how, PROGRAM, &words);
    fs::remove_dir_all(&folder).unwrap();
    (grid, outputs)
}

/// With it no more leaves through a face than the third of a triangle that belongs to it.
fn longest_step(grid: &GridFile) -> f64 {
    let faces = grid.face_cells.iter().zip(&grid.face_centroids).zip(&grid.normals);
    let of_faces = faces.map(|((cells, x), normal)| {
        let flux = 2.0 * PI * ((0.5 - x[1]) * normal[0] + (x[0] - 0.5) * normal[1]).abs();
        let volumes = cells.iter().filter_map(|&cell| grid.volumes.get(usize::try_from(cell).ok()?));
        volumes.fold(f64::INFINITY, |least, &volume| least.min(volume)) / (3.0 * flux)
    });
    of_faces.fold(f64::INFINITY, f64::min)
}

/// Cells whose neighbours differ in both directions keep the slope of a linear field.
#[test]
fn linear_fields_are_exact_where_the_limiter_is_off() {
    let (grid, outputs) = turned(How::Interpreted2, 12, 1e-9, 1.0, &[], |x| 3.0 + 0.7 * x[0] - 1.3 * x[1]);
    let limiter = outputs.last("limiter");
    let off: Vec<usize> = (0..limiter.len()).filter(|&cell| limiter[cell] >= 1.0 - 1e-12).collect();
    assert!(2 * off.len() > grid.volumes.len(), "it is off in {} of {} cells", off.len(), limiter.len());
    assert!(limiter.iter().all(|part| (0.0..=1.0).contains(part)));
    for (tag, slope) in [("dx", 0.7), ("dy", -1.3)] {
        let error = off.iter().fold(0.0_f64, |error, &cell| error.max((outputs.last(tag)[cell] - slope).abs()));
        assert!(error < 1e-12, "{tag} is off by {error:e}");
    }
}

#[test]
fn a_square_gets_no_new_extremes() {
    let error = square_after_a_turn(How::Interpreted2, 8);
    assert!(error < 0.095, "{error}");
}

/// Error of a square in L1, which has no new extremes.
fn square_after_a_turn(how: How, n: usize) -> f64 {
    let square = |x: &[f64]| if (x[0] - 0.7).abs() < 0.15 && (x[1] - 0.5).abs() < 0.15 { 1.0 } else { 0.0 };
    let (grid, outputs) = turned(how, n, 1.0, 0.95, &[], square);
    let found = outputs.last("u");
    assert!(found.iter().all(|u| (-1e-12..=1.0 + 1e-12).contains(u)));
    grid.volumes.iter().zip(found).zip(&grid.centroids).map(|((volume, u), x)| volume * (u - square(x)).abs()).sum()
}

/// A quarter of a turn without a limiter; smaller grids do not resolve the blob.
#[test]
fn a_blob_converges_without_limiter() {
    let (coarse, fine) = (blob_after_a_quarter(How::Interpreted2, 10), blob_after_a_quarter(How::Interpreted2, 20));
    assert!((coarse / fine).log2() >= 1.8, "{coarse} {fine}");
}

/// Error of a blob in L2.
fn blob_after_a_quarter(how: How, n: usize) -> f64 {
    let blob = |x: &[f64], middle: [f64; 2]| (-((x[0] - middle[0]).powi(2) + (x[1] - middle[1]).powi(2)) / 0.0225).exp();
    let (grid, outputs) = turned(how, n, 0.25, 1.5, &["limited=0", "blob=1"], |x| blob(x, [0.7, 0.5]));
    let squares = grid.volumes.iter().zip(outputs.last("u")).zip(&grid.centroids);
    squares.map(|((volume, u), x)| volume * (u - blob(x, [0.5, 0.7])).powi(2)).sum::<f64>().sqrt()
}

/// Orders on finer grids: a discontinuity smeared by a scheme of second order has 2/3 in L1.
#[test]
#[ignore = "compiles a simulator and runs it for five minutes; .ci/full runs it"]
fn orders_on_fine_grids() {
    let [coarse, middle, fine] = [16, 32, 64].map(|n| square_after_a_turn(How::Compiled2, n));
    println!("square, L1: {coarse:.4e} {middle:.4e} {fine:.4e}");
    assert!((coarse / middle).log2() >= 0.55 && (middle / fine).log2() >= 0.55, "{coarse} {middle} {fine}");
    let [coarse, middle, fine] = [64, 128, 256].map(|n| blob_after_a_quarter(How::Compiled2, n));
    println!("blob, L2: {coarse:.4e} {middle:.4e} {fine:.4e}");
    assert!((coarse / middle).log2() >= 1.8 && (middle / fine).log2() >= 1.8, "{coarse} {middle} {fine}");
}
