//! Vectors carry derivatives by component, and functions of mathematics have theirs.

use backend_serial::runtime::{ScalarCollection, SerialRuntime, VectorCollection};
use equelle_runtime::operations::*;
use equelle_runtime::operators::Work;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, line, unknown_on_cells};
use crate::taylor::{check, constant, cube, square};

fn centroids(rt: &mut SerialRuntime) -> Result<VectorCollection, Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let entities = rt.entities(&cells)?;
    rt.centroid(&entities)
}

/// `(u^2, u^3, ...)`, as many components as the grid has dimensions.
fn powers(rt: &mut SerialRuntime, u: &ScalarCollection) -> Result<VectorCollection, Error> {
    let mut powers = vec![square(rt, u)?];
    for _ in 1..rt.grid().dim() {
        let next = rt.mul(&powers[powers.len() - 1], u)?;
        powers.push(next);
    }
    let components: Vec<&ScalarCollection> = powers.iter().collect();
    rt.vector(&components)
}

#[test]
fn products_with_vectors() {
    check("Dot(c * u^3, x)", |rt, u| {
        let (c, u) = (centroids(rt)?, cube(rt, u)?);
        let scaled = rt.mul(&c, &u)?;
        rt.dot(&scaled, &c)
    });
    check("(x / u^2)[0]", |rt, u| {
        let (c, u) = (centroids(rt)?, square(rt, u)?);
        let scaled = rt.div(&c, &u)?;
        rt.component(&scaled, 0)
    });
    check("|v * u^3| of one Vector", |rt, u| {
        let components = [1.0, -2.0, 0.5];
        let v = rt.vector_from(&components[..rt.grid().dim()])?;
        let u = cube(rt, u)?;
        let scaled = rt.mul(&v, &u)?;
        rt.length(&scaled)
    });
    check("(v / u^3)[0] of one Vector", |rt, u| {
        let components = [1.0, -2.0, 0.5];
        let v = rt.vector_from(&components[..rt.grid().dim()])?;
        let u = cube(rt, u)?;
        let scaled = rt.div(&v, &u)?;
        rt.component(&scaled, 0)
    });
}

#[test]
fn vectors_of_unknowns() {
    check("Dot(p, p)", |rt, u| {
        let p = powers(rt, u)?;
        rt.dot(&p, &p)
    });
    check("|p + x|", |rt, u| {
        let (p, x) = (powers(rt, u)?, centroids(rt)?);
        let sum = rt.add(&p, &x)?;
        rt.length(&sum)
    });
    check("Dot(-(x - p), x)", |rt, u| {
        let (p, x) = (powers(rt, u)?, centroids(rt)?);
        let difference = rt.sub(&x, &p)?;
        let difference = rt.neg(&difference)?;
        rt.dot(&difference, &x)
    });
    check("Dot(p * 3 / 7, p)", |rt, u| {
        let p = powers(rt, u)?;
        let scaled = rt.mul(&p, &3.0)?;
        let scaled = rt.div(&scaled, &7.0)?;
        rt.dot(&scaled, &p)
    });
    check("(c > 0 ? p : x)[0]", |rt, u| {
        let (p, x) = (powers(rt, u)?, centroids(rt)?);
        let c = constant(rt)?;
        let condition = rt.compare(Comparison::Greater, &c, &0.0)?;
        let chosen = rt.select(&condition, &p, &x)?;
        rt.component(&chosen, 0)
    });
}

#[test]
fn restricted_and_extended_vectors() {
    check("((p On FirstCell(InteriorFaces())) Extend AllFaces())[0]", |rt, u| {
        let p = powers(rt, u)?;
        let interior = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
        let faces = rt.entities(&interior)?;
        let first = rt.first_cell(&faces)?;
        let on_faces = rt.on(&p, &first)?;
        let all = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
        let extended = rt.extend(&on_faces, &all)?;
        rt.component(&extended, 0)
    });
}

#[test]
fn functions_of_mathematics() {
    for function in Elementary::ALL.into_iter().filter(|function| function.work() != Work::Steps) {
        // Where arcus functions have values.
        check(&format!("{}(u/4)", function.name()), |rt, u| {
            let quarter = rt.div(u, &4.0)?;
            rt.elementary(function, &quarter)
        });
    }
    check("ATan2(u, u^2)", |rt, u| {
        let abscissa = square(rt, u)?;
        rt.math(BinaryMath::ATan2, u, &abscissa)
    });
    check("Pow(u, u^2)", |rt, u| {
        let exponent = square(rt, u)?;
        rt.math(BinaryMath::Pow, u, &exponent)
    });
    check("Pow(u, 2.5)", |rt, u| rt.math(BinaryMath::Pow, u, &2.5));
    check("Pow(2.5, u)", |rt, u| rt.math(BinaryMath::Pow, &2.5, u));
    // The unknown stays away from 1.5.
    check("Min(u^2, 2.25) + u^3", |rt, u| {
        let (a, b) = (square(rt, u)?, cube(rt, u)?);
        let smaller = rt.math(BinaryMath::Min, &a, &2.25)?;
        rt.add(&smaller, &b)
    });
    check("Max(c, u^3) * u", |rt, u| {
        let (a, b) = (constant(rt)?, cube(rt, u)?);
        let larger = rt.math(BinaryMath::Max, &a, &b)?;
        rt.mul(&larger, u)
    });
}

/// If only one component of a Vector depends on the unknown, the others stay constants.
#[test]
fn constant_components_stay_constant() -> Result<(), Error> {
    let mut rt = line(2);
    let u = unknown_on_cells(&mut rt, &[3.0, 5.0])?;
    let v = rt.vector(&[&u])?;
    let component = rt.component(&v, 0)?;
    assert!(component.jacobian().is_some());
    let values = rt.without_derivatives(&u);
    let v = rt.vector(&[&values])?;
    assert!(rt.component(&v, 0)?.jacobian().is_none());
    assert_eq!(rt.reduce(Reduction::Sum, &v)?, [8.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn a_vector_has_as_many_components_as_the_grid_dimensions() -> Result<(), Error> {
    let mut rt = line(2);
    rt.line(7);
    let u = unknown_on_cells(&mut rt, &[3.0, 5.0])?;
    let Err(error) = rt.vector(&[&u, &u]) else { panic!("two components on a line") };
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Data, &[7][..]));
    assert_eq!(error.message, "a Vector of 2 components on a grid of dimension 1");
    Ok(())
}
