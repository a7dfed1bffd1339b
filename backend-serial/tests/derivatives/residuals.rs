//! Residuals of whole programs, one call per Equelle operation.

use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, BOUNDARY_FACES, INTERIOR_FACES, cells_of};

type Residual = Result<ScalarCollection, Error>;

/// `|faces| / |Centroid(from) - Centroid(to)|` of the interior faces.
fn transmissibility(rt: &mut SerialRuntime) -> Residual {
    let faces = rt.domain(INTERIOR_FACES)?;
    let faces = rt.entities(&faces)?;
    let [first, second] = cells_of(rt, INTERIOR_FACES)?;
    let (from, to) = (rt.centroid(&first)?, rt.centroid(&second)?);
    let difference = rt.sub(&from, &to)?;
    let (area, distance) = (rt.measure(&faces)?, rt.length(&difference)?);
    rt.div(&area, &distance)
}

/// Volumes of all cells.
fn volumes(rt: &mut SerialRuntime) -> Residual {
    let cells = rt.domain(ALL_CELLS)?;
    let cells = rt.entities(&cells)?;
    rt.measure(&cells)
}

/// Backward Euler for heat conduction, Dirichlet values on all boundary faces:
/// `u - u0 + (dt/vol) Divergence(fluxes)`.
pub fn heat(rt: &mut SerialRuntime, u: &ScalarCollection) -> Residual {
    let trans = transmissibility(rt)?;
    let gradient = rt.gradient(u)?;
    let flux = rt.mul(&trans, &gradient)?;
    let flux = rt.neg(&flux)?;
    let all = rt.domain(ALL_FACES)?;
    let flux = rt.extend(&flux, &all)?;

    let boundary = rt.domain(BOUNDARY_FACES)?;
    let faces = rt.entities(&boundary)?;
    let [first, second] = cells_of(rt, BOUNDARY_FACES)?;
    let outside_first = rt.is_empty(&first)?;
    let inside = rt.select(&outside_first, &second, &first)?;
    let (minus_one, one) = (rt.broadcast(&-1.0, &boundary)?, rt.broadcast(&1.0, &boundary)?);
    let sign = rt.select(&outside_first, &minus_one, &one)?;
    let area = rt.measure(&faces)?;
    let at_boundary = rt.on(u, &inside)?;
    let given = rt.broadcast(&2.0, &boundary)?;
    let difference = rt.sub(&at_boundary, &given)?;
    let signed = rt.mul(&sign, &difference)?;
    let outflow = rt.mul(&area, &signed)?;
    let outflow = rt.extend(&outflow, &all)?;

    let fluxes = rt.add(&flux, &outflow)?;
    let divergence = rt.divergence(&fluxes)?;
    let volumes = volumes(rt)?;
    let factor = rt.div(&0.125, &volumes)?;
    let change = rt.mul(&factor, &divergence)?;
    let cells = rt.domain(ALL_CELLS)?;
    let before = rt.broadcast(&1.0, &cells)?;
    let difference = rt.sub(u, &before)?;
    rt.add(&difference, &change)
}

/// Isothermal ideal gas: `(vol/dt) (rho(p) - rho0) + Divergence(v rho)`, with the mean density on
/// faces.
pub fn gas(rt: &mut SerialRuntime, p: &ScalarCollection) -> Residual {
    let trans = transmissibility(rt)?;
    let gradient = rt.gradient(p)?;
    let against = rt.neg(&gradient)?;
    let velocity = rt.mul(&trans, &against)?;
    let density = rt.div(p, &3.0)?;
    let [first, second] = cells_of(rt, INTERIOR_FACES)?;
    let (low, high) = (rt.on(&density, &first)?, rt.on(&density, &second)?);
    let sum = rt.add(&low, &high)?;
    let mean = rt.div(&sum, &2.0)?;
    let flux = rt.mul(&velocity, &mean)?;
    let outflow = rt.divergence(&flux)?;
    let volumes = volumes(rt)?;
    let factor = rt.div(&volumes, &0.25)?;
    let change = rt.mul(&factor, &density)?;
    rt.add(&change, &outflow)
}

/// Transport of a saturation with fractional flow `s^2 / (s^2 + (1 - s)^2)`, upwinded by values in
/// a fixed velocity field.
pub fn transport(rt: &mut SerialRuntime, s: &ScalarCollection, velocity: &ScalarCollection) -> Residual {
    let water = rt.mul(s, s)?;
    let cells = rt.domain(ALL_CELLS)?;
    let one = rt.broadcast(&1.0, &cells)?;
    let rest = rt.sub(&one, s)?;
    let oil = rt.mul(&rest, &rest)?;
    let total = rt.add(&water, &oil)?;
    let fraction = rt.div(&water, &total)?;
    let forward = rt.compare(Comparison::Greater, velocity, &0.0)?;
    let [first, second] = cells_of(rt, INTERIOR_FACES)?;
    let (low, high) = (rt.on(&fraction, &first)?, rt.on(&fraction, &second)?);
    let upstream = rt.select(&forward, &low, &high)?;
    let flux = rt.mul(&upstream, velocity)?;
    let outflow = rt.divergence(&flux)?;
    rt.add(s, &outflow)
}

/// [`transport`] in the velocity field of the unknown itself, `-Gradient(u)`.
pub fn upwind_transport(rt: &mut SerialRuntime, u: &ScalarCollection) -> Residual {
    let gradient = rt.gradient(u)?;
    let velocity = rt.neg(&gradient)?;
    transport(rt, u, &velocity)
}
