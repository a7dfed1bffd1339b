//! Every rule passes a Taylor test: `|f(u + h d) - f(u) - h J d|` falls as the square of h.
//!
//! Operations that are linear are applied to squares and cubes of the unknown, because their own
//! remainder is rounding alone.

use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{
    ALL_CELLS, ALL_FACES, BOUNDARY_CELLS, BOUNDARY_FACES, INTERIOR_FACES, Numbers, cells_of, grids, times, triangles, unknown_on_cells,
};
use crate::residuals;

/// Steps 2^-4 to 2^-9: the remainder at the last, about 1e-6 of the values, is far above their
/// rounding of 1e-15.
const STEPS: std::ops::RangeInclusive<i32> = 4..=9;

/// Below the order 2 by what terms of third order cost at these steps; a wrong Jacobian gives 1.
const MIN_ORDER: f64 = 1.9;

/// Unknowns in 1.2 to 1.7 away from 1.5 by 0.1 at least, more than the largest step.
fn point(n: usize) -> Vec<f64> {
    let mut numbers = Numbers::new(20);
    (0..n).map(|i| if i % 3 == 1 { 1.6 + 0.1 * numbers.draw() } else { 1.2 + 0.2 * numbers.draw() }).collect()
}

fn direction(n: usize) -> Vec<f64> {
    let mut numbers = Numbers::new(7);
    (0..n).map(|_| 2.0 * numbers.draw() - 1.0).collect()
}

/// Least observed order over halvings of the step, with the Jacobian scaled by `factor`.
fn order(
    rt: &mut SerialRuntime,
    function: impl Fn(&mut SerialRuntime, &ScalarCollection) -> Result<ScalarCollection, Error>,
    factor: f64,
) -> Result<f64, Error> {
    let n = rt.grid().n_cells();
    let (u, d) = (point(n), direction(n));
    let unknown = unknown_on_cells(rt, &u)?;
    let result = function(rt, &unknown)?;
    let slope = times(result.jacobian().expect("the function depends on its unknown"), &d);
    let base = rt.values(&result)?;
    let cells = rt.domain(ALL_CELLS)?;
    let mut remainders = Vec::new();
    for exponent in STEPS {
        let h = 0.5f64.powi(exponent);
        let moved = rt.scalar_collection(&cells, u.iter().zip(&d).map(|(u, d)| u + h * d).collect())?;
        let moved = function(rt, &moved)?;
        assert!(moved.jacobian().is_none(), "constants stay constants");
        let moved = rt.values(&moved)?;
        let terms = moved.iter().zip(&base).zip(&slope).map(|((moved, base), slope)| moved - base - h * (factor * slope));
        remainders.push(terms.map(|term| term * term).sum::<f64>().sqrt());
    }
    assert!(remainders.iter().all(|&remainder| remainder > 1e-9), "the remainder must be more than rounding: {remainders:?}");
    Ok(remainders.windows(2).map(|pair| (pair[0] / pair[1]).log2()).fold(f64::INFINITY, f64::min))
}

#[track_caller]
pub fn check(name: &str, function: impl Fn(&mut SerialRuntime, &ScalarCollection) -> Result<ScalarCollection, Error>) {
    for (grid, mut rt) in grids() {
        let order = order(&mut rt, &function, 1.0).unwrap_or_else(|error| panic!("{name} on the {grid}: {error:?}"));
        assert!(order >= MIN_ORDER, "{name} on the {grid}: order {order}");
    }
}

pub fn square(rt: &mut SerialRuntime, u: &ScalarCollection) -> Result<ScalarCollection, Error> {
    rt.mul(u, u)
}

pub fn cube(rt: &mut SerialRuntime, u: &ScalarCollection) -> Result<ScalarCollection, Error> {
    let square = rt.mul(u, u)?;
    rt.mul(&square, u)
}

/// Constants of both signs on all cells, between 0.5 and 1.5 in magnitude.
pub fn constant(rt: &mut SerialRuntime) -> Result<ScalarCollection, Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let mut numbers = Numbers::new(3);
    let values = (0..cells.len()).map(|i| (0.5 + numbers.draw()) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    rt.scalar_collection(&cells, values)
}

#[test]
fn the_test_tells_a_wrong_jacobian() -> Result<(), Error> {
    for (grid, mut rt) in grids() {
        let order = order(&mut rt, cube, 1.1)?;
        assert!(order < 1.5, "a Jacobian that is 10 % off on the {grid}: order {order}");
    }
    Ok(())
}

#[test]
fn sums_and_differences() {
    check("u^2 + u^3", |rt, u| {
        let (a, b) = (square(rt, u)?, cube(rt, u)?);
        rt.add(&a, &b)
    });
    check("u^2 - u^3", |rt, u| {
        let (a, b) = (square(rt, u)?, cube(rt, u)?);
        rt.sub(&a, &b)
    });
    check("c - u^2", |rt, u| {
        let (c, a) = (constant(rt)?, square(rt, u)?);
        rt.sub(&c, &a)
    });
    check("u^2 + c", |rt, u| {
        let (c, a) = (constant(rt)?, square(rt, u)?);
        rt.add(&a, &c)
    });
}

#[test]
fn products() {
    check("u * u", square);
    check("u^2 * u^3", |rt, u| {
        let (a, b) = (square(rt, u)?, cube(rt, u)?);
        rt.mul(&a, &b)
    });
    check("c * u^2", |rt, u| {
        let (c, a) = (constant(rt)?, square(rt, u)?);
        rt.mul(&c, &a)
    });
    check("u^2 * c", |rt, u| {
        let (c, a) = (constant(rt)?, square(rt, u)?);
        rt.mul(&a, &c)
    });
}

#[test]
fn quotients() {
    check("u^2 / u^3", |rt, u| {
        let (a, b) = (square(rt, u)?, cube(rt, u)?);
        rt.div(&a, &b)
    });
    check("u^3 / c", |rt, u| {
        let (c, a) = (constant(rt)?, cube(rt, u)?);
        rt.div(&a, &c)
    });
    check("c / u^3", |rt, u| {
        let (c, a) = (constant(rt)?, cube(rt, u)?);
        rt.div(&c, &a)
    });
}

#[test]
fn with_scalars() {
    check("u^2 * s", |rt, u| {
        let a = square(rt, u)?;
        rt.mul(&a, &-1.75)
    });
    check("s * u^2", |rt, u| {
        let a = square(rt, u)?;
        rt.mul(&-1.75, &a)
    });
    check("u^2 / s", |rt, u| {
        let a = square(rt, u)?;
        rt.div(&a, &-1.75)
    });
    check("s / u", |rt, u| rt.div(&-1.75, u));
}

#[test]
fn functions_of_one_collection() {
    check("-u^2", |rt, u| {
        let a = square(rt, u)?;
        rt.neg(&a)
    });
    check("|c u^2| with c of both signs", |rt, u| {
        let (c, a) = (constant(rt)?, square(rt, u)?);
        let product = rt.mul(&c, &a)?;
        rt.abs(&product)
    });
    check("Sqrt(u)", |rt, u| rt.sqrt(u));
    check("Sqrt(u^3)", |rt, u| {
        let a = cube(rt, u)?;
        rt.sqrt(&a)
    });
}

#[test]
fn restriction_and_extension() {
    check("u^2 On FirstCell(InteriorFaces())", |rt, u| {
        let a = square(rt, u)?;
        let [first, _] = cells_of(rt, INTERIOR_FACES)?;
        rt.on(&a, &first)
    });
    check("u^2 On the inside cells of BoundaryFaces()", |rt, u| {
        let a = square(rt, u)?;
        let [first, second] = cells_of(rt, BOUNDARY_FACES)?;
        let empty = rt.is_empty(&first)?;
        let inside = rt.select(&empty, &second, &first)?;
        rt.on(&a, &inside)
    });
    check("(u^2 On BoundaryCells()) Extend AllCells()", |rt, u| {
        let a = square(rt, u)?;
        let (boundary, all) = (rt.domain(BOUNDARY_CELLS)?, rt.domain(ALL_CELLS)?);
        let cells = rt.entities(&boundary)?;
        let restricted = rt.on(&a, &cells)?;
        rt.extend(&restricted, &all)
    });
    check("u^2 On SecondCell(InteriorFaces()) Extend AllFaces()", |rt, u| {
        let a = square(rt, u)?;
        let [_, second] = cells_of(rt, INTERIOR_FACES)?;
        let on = rt.on(&a, &second)?;
        let all = rt.domain(ALL_FACES)?;
        rt.extend(&on, &all)
    });
}

/// Squares of the unknown in the second and cubes in the first cell of interior faces, each times a
/// power of eight, so that no step changes which is the largest or smallest.
fn reduced(rt: &mut SerialRuntime, u: &ScalarCollection, reduction: FaceReduction) -> Result<ScalarCollection, Error> {
    let faces = rt.domain(INTERIOR_FACES)?;
    let weights = (0..faces.len()).map(|k| 8f64.powi(k as i32 % 16)).collect();
    let weights = rt.scalar_collection(&faces, weights)?;
    let [first, second] = cells_of(rt, INTERIOR_FACES)?;
    let (a, b) = (square(rt, u)?, cube(rt, u)?);
    let (a, b) = (rt.on(&a, &second)?, rt.on(&b, &first)?);
    let (a, b) = (rt.mul(&weights, &a)?, rt.mul(&weights, &b)?);
    rt.face_reduce(reduction, &a, &b)
}

#[test]
fn reductions_over_faces() {
    check("FaceSum", |rt, u| reduced(rt, u, FaceReduction::Sum));
    check("FaceMax", |rt, u| reduced(rt, u, FaceReduction::Max));
    check("FaceMin", |rt, u| reduced(rt, u, FaceReduction::Min));
}

#[test]
fn gradient_and_divergence() {
    check("Gradient(u^2)", |rt, u| {
        let a = square(rt, u)?;
        rt.gradient(&a)
    });
    check("Divergence of interior faces", |rt, u| {
        let a = cube(rt, u)?;
        let [first, _] = cells_of(rt, INTERIOR_FACES)?;
        let on = rt.on(&a, &first)?;
        rt.divergence(&on)
    });
    check("Divergence of all faces", |rt, u| {
        let a = cube(rt, u)?;
        let [first, second] = cells_of(rt, ALL_FACES)?;
        let empty = rt.is_empty(&first)?;
        let inside = rt.select(&empty, &second, &first)?;
        let on = rt.on(&a, &inside)?;
        rt.divergence(&on)
    });
}

#[test]
fn ternaries() {
    check("c > 0 ? u^2 : u^3", |rt, u| {
        let (c, a, b) = (constant(rt)?, square(rt, u)?, cube(rt, u)?);
        let condition = rt.compare(Comparison::Greater, &c, &0.0)?;
        rt.select(&condition, &a, &b)
    });
    check("u > 1.5 ? u^2 : c", |rt, u| {
        let (c, a) = (constant(rt)?, square(rt, u)?);
        let condition = rt.compare(Comparison::Greater, u, &1.5)?;
        rt.select(&condition, &a, &c)
    });
    check("u^2 On (FirstCell u > 1.5 ? FirstCell : SecondCell)", |rt, u| {
        let a = square(rt, u)?;
        let [first, second] = cells_of(rt, INTERIOR_FACES)?;
        let at_first = rt.on(u, &first)?;
        let condition = rt.compare(Comparison::Greater, &at_first, &1.5)?;
        let chosen = rt.select(&condition, &first, &second)?;
        rt.on(&a, &chosen)
    });
}

#[test]
fn residuals_of_programs() {
    check("implicit heat of u^2", |rt, u| {
        let a = square(rt, u)?;
        residuals::heat(rt, &a)
    });
    check("gas", residuals::gas);
    check("transport", |rt, u| {
        // Velocities of both signs that do not change with u.
        let interior = rt.domain(INTERIOR_FACES)?;
        let velocity = (0..interior.len()).map(|i| if i % 3 == 0 { -0.5 } else { 0.75 }).collect();
        let velocity = rt.scalar_collection(&interior, velocity)?;
        residuals::transport(rt, u, &velocity)
    });
}

#[test]
fn two_unknowns_on_different_domains() -> Result<(), Error> {
    // f(u, q) = Divergence(q (u On FirstCell)): the product of both steps is the remainder, h^2
    // times that of the directions, for every h the same factor; so is the order. u on 60 cells, q
    // on the interior faces.
    let mut rt = triangles();
    let [first, _] = cells_of(&mut rt, INTERIOR_FACES)?;
    let (cells, faces) = (rt.domain(ALL_CELLS)?, rt.domain(INTERIOR_FACES)?);
    let total = cells.len() + faces.len();
    let mut numbers = Numbers::new(11);
    let (u, d): (Vec<f64>, Vec<f64>) = (0..total).map(|_| (numbers.draw(), numbers.draw() - 0.5)).unzip();
    let mut evaluate = |h: f64, offsets: Option<(usize, usize)>| -> Result<ScalarCollection, Error> {
        let moved: Vec<f64> = u.iter().zip(&d).map(|(u, d)| u + h * d).collect();
        let mut at_cells = rt.scalar_collection(&cells, moved[..cells.len()].to_vec())?;
        let mut at_faces = rt.scalar_collection(&faces, moved[cells.len()..].to_vec())?;
        if let Some((of_cells, of_faces)) = offsets {
            (at_cells, at_faces) = (rt.unknown(&at_cells, of_cells, total)?, rt.unknown(&at_faces, of_faces, total)?);
        }
        let upstream = rt.on(&at_cells, &first)?;
        let flux = rt.mul(&at_faces, &upstream)?;
        rt.divergence(&flux)
    };
    let base = evaluate(0.0, Some((0, cells.len())))?;
    let slope = times(base.jacobian().expect("it depends on both"), &d);
    let moved: Vec<_> = STEPS.map(|exponent| (0.5f64.powi(exponent), evaluate(0.5f64.powi(exponent), None))).collect();
    let base = rt.values(&base)?;
    let mut remainders = Vec::new();
    for (h, moved) in moved {
        let moved = rt.values(&moved?)?;
        let terms = moved.iter().zip(&base).zip(&slope).map(|((moved, base), slope)| moved - base - h * slope);
        remainders.push(terms.map(|term| term * term).sum::<f64>().sqrt());
    }
    for pair in remainders.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((MIN_ORDER..2.1).contains(&order), "{remainders:?}");
    }
    Ok(())
}
