//! Vectors carry derivatives by component, and functions of mathematics have theirs.

use backend_serial::runtime::{ScalarCollection, SerialRuntime, VectorCollection};
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
    rt.vector_collection_of(&components)
}

#[test]
fn products_with_vectors() {
    check("Dot(c * u^3, x)", |rt, u| {
        let (c, u) = (centroids(rt)?, cube(rt, u)?);
        let scaled = rt.vector_mul(&c, &u)?;
        rt.dot(&scaled, &c)
    });
    check("(x / u^2)[0]", |rt, u| {
        let (c, u) = (centroids(rt)?, square(rt, u)?);
        let scaled = rt.vector_div(&c, &u)?;
        rt.component(&scaled, 0)
    });
    check("|v * u^3| of one Vector", |rt, u| {
        let components = [1.0, -2.0, 0.5];
        let v = rt.vector_from(&components[..rt.grid().dim()])?;
        let u = cube(rt, u)?;
        let scaled = rt.vectors_mul_collection(&v, &u)?;
        rt.length(&scaled)
    });
    check("(v / u^3)[0] of one Vector", |rt, u| {
        let components = [1.0, -2.0, 0.5];
        let v = rt.vector_from(&components[..rt.grid().dim()])?;
        let u = cube(rt, u)?;
        let scaled = rt.vectors_div_collection(&v, &u)?;
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
        let sum = rt.vector_add(&p, &x)?;
        rt.length(&sum)
    });
    check("Dot(-(x - p), x)", |rt, u| {
        let (p, x) = (powers(rt, u)?, centroids(rt)?);
        let difference = rt.vector_sub(&x, &p)?;
        let difference = rt.vector_neg(&difference)?;
        rt.dot(&difference, &x)
    });
    check("Dot(p * 3 / 7, p)", |rt, u| {
        let p = powers(rt, u)?;
        let scaled = rt.vector_mul_scalar(&p, &3.0)?;
        let scaled = rt.vector_div_scalar(&scaled, &7.0)?;
        rt.dot(&scaled, &p)
    });
    check("(c > 0 ? p : x)[0]", |rt, u| {
        let (p, x) = (powers(rt, u)?, centroids(rt)?);
        let c = constant(rt)?;
        let condition = rt.compare_scalar(Comparison::Greater, &c, &0.0)?;
        let chosen = rt.select_vectors(&condition, &p, &x)?;
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
        let on_faces = rt.on_vectors(&p, &first)?;
        let all = rt.domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
        let extended = rt.extend_vectors(&on_faces, &all)?;
        rt.component(&extended, 0)
    });
}

#[test]
fn functions_of_mathematics() {
    for function in Elementary::ALL.into_iter().filter(|function| function.work() != Work::Steps) {
        // Where arcus functions have values.
        check(&format!("{}(u/4)", function.name()), |rt, u| {
            let quarter = rt.div_scalar(u, &4.0)?;
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
    check("Pow(u, 2.5)", |rt, u| rt.math_scalar(BinaryMath::Pow, u, &2.5));
    check("Pow(2.5, u)", |rt, u| rt.scalar_math(BinaryMath::Pow, &2.5, u));
    // The unknown stays away from 1.5.
    check("Min(u^2, 2.25) + u^3", |rt, u| {
        let (a, b) = (square(rt, u)?, cube(rt, u)?);
        let smaller = rt.math_scalar(BinaryMath::Min, &a, &2.25)?;
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
    let v = rt.vector_collection_of(&[&u])?;
    let component = rt.component(&v, 0)?;
    assert!(component.jacobian().is_some());
    let values = rt.without_derivatives(&u);
    let v = rt.vector_collection_of(&[&values])?;
    assert!(rt.component(&v, 0)?.jacobian().is_none());
    assert_eq!(rt.reduce_vectors(Reduction::Sum, &v)?, [8.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn a_vector_has_as_many_components_as_the_grid_dimensions() -> Result<(), Error> {
    let mut rt = line(2);
    rt.line(7);
    let u = unknown_on_cells(&mut rt, &[3.0, 5.0])?;
    let Err(error) = rt.vector_collection_of(&[&u, &u]) else { panic!("two components on a line") };
    assert_eq!((error.kind, error.lines.as_slice()), (ErrorKind::Data, &[7][..]));
    assert_eq!(error.message, "a Vector of 2 components on a grid of dimension 1");
    Ok(())
}
