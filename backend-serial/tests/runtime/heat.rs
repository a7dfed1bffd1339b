//! Explicit heat conduction written against the trait, one call per Equelle operation, as `-O0`
//! does.

use std::sync::Arc;

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::Cartesian;
use equelle_runtime::operations::*;
use equelle_runtime::*;

use crate::common::{ALL_CELLS, ALL_FACES, BOUNDARY_FACES, INTERIOR_FACES, bits, block, line, plane, runtime, unstructured};

/// Data that does not change from step to step.
struct Heat<R: EquelleRuntime> {
    all_faces: R::Domain,
    boundary: R::Domain,
    volumes: R::ScalarCollection,
    interior_trans: R::ScalarCollection,
    boundary_trans: R::ScalarCollection,
    boundary_sign: R::ScalarCollection,
    boundary_cells: R::EntityCollection,
    dirichlet: R::Domain,
    dirichlet_values: R::ScalarCollection,
}

impl<R: Operations> Heat<R> {
    /// Geometry and transmissibilities for the conductivity `k`.
    fn new(rt: &mut R, k: f64, dirichlet: R::Domain, dirichlet_values: R::ScalarCollection) -> Result<Self, Error> {
        let k = rt.scalar(k);
        let all_cells = rt.domain(ALL_CELLS)?;
        let all_cells = rt.entities(&all_cells)?;
        let volumes = rt.measure(&all_cells)?;

        // itrans = k * |faces| / |Centroid(FirstCell(faces)) - Centroid(SecondCell(faces))|;
        // `a * b / c` is a * (b / c).
        let interior = rt.domain(INTERIOR_FACES)?;
        let faces = rt.entities(&interior)?;
        let (first, second) = (rt.first_cell(&faces)?, rt.second_cell(&faces)?);
        let interior_trans = Self::transmissibility(rt, &k, &faces, &first, &second)?;

        // bcells = IsEmpty(FirstCell(bf)) ? SecondCell(bf) : FirstCell(bf), and the sign of a flux
        // that leaves them.
        let boundary = rt.domain(BOUNDARY_FACES)?;
        let faces = rt.entities(&boundary)?;
        let (first, second) = (rt.first_cell(&faces)?, rt.second_cell(&faces)?);
        let outside_first = rt.is_empty(&first)?;
        let boundary_cells = rt.select(&outside_first, &second, &first)?;
        let (minus_one, one) = (rt.scalar(-1.0), rt.scalar(1.0));
        let (minus_one, one) = (rt.broadcast(&minus_one, &boundary)?, rt.broadcast(&one, &boundary)?);
        let boundary_sign = rt.select(&outside_first, &minus_one, &one)?;
        let boundary_trans = Self::transmissibility(rt, &k, &faces, &faces, &boundary_cells)?;

        let all_faces = rt.domain(ALL_FACES)?;
        Ok(Heat {
            all_faces,
            boundary,
            volumes,
            interior_trans,
            boundary_trans,
            boundary_sign,
            boundary_cells,
            dirichlet,
            dirichlet_values,
        })
    }

    /// `k * |faces| / |Centroid(from) - Centroid(to)|`
    fn transmissibility(
        rt: &mut R,
        k: &R::Scalar,
        faces: &R::EntityCollection,
        from: &R::EntityCollection,
        to: &R::EntityCollection,
    ) -> Result<R::ScalarCollection, Error> {
        let (from, to) = (rt.centroid(from)?, rt.centroid(to)?);
        let distance = rt.sub(&from, &to)?;
        let distance = rt.length(&distance)?;
        let area = rt.measure(faces)?;
        let ratio = rt.div(&area, &distance)?;
        rt.mul(k, &ratio)
    }

    /// `u - (dt / V) * Divergence(fluxes)`
    fn step(&self, rt: &mut R, u: &R::ScalarCollection, dt: &R::Scalar) -> Result<R::ScalarCollection, Error> {
        // -itrans * Gradient(u)
        let (minus_trans, gradient) = (rt.neg(&self.interior_trans)?, rt.gradient(u)?);
        let interior_flux = rt.mul(&minus_trans, &gradient)?;
        // (btrans On dirichlet) * (sign On dirichlet) * ((u On (bcells On dirichlet)) - value),
        // zero on the rest of the boundary.
        let at = rt.entities(&self.dirichlet)?;
        let (trans, sign) = (rt.on(&self.boundary_trans, &at)?, rt.on(&self.boundary_sign, &at)?);
        let cells = rt.on(&self.boundary_cells, &at)?;
        let inside = rt.on(u, &cells)?;
        let difference = rt.sub(&inside, &self.dirichlet_values)?;
        let signed = rt.mul(&sign, &difference)?;
        let flux = rt.mul(&trans, &signed)?;
        let boundary_flux = rt.extend(&flux, &self.boundary)?;
        // Extended to all faces and added.
        let (interior_flux, boundary_flux) = (rt.extend(&interior_flux, &self.all_faces)?, rt.extend(&boundary_flux, &self.all_faces)?);
        let flux = rt.add(&interior_flux, &boundary_flux)?;
        let outflow = rt.divergence(&flux)?;
        let factor = rt.div(dt, &self.volumes)?;
        let change = rt.mul(&factor, &outflow)?;
        rt.sub(u, &change)
    }
}

/// A case on the CPU runtime: faces and values of the Dirichlet condition.
fn case(rt: &mut SerialRuntime, k: f64, faces: Vec<u32>, values: Vec<f64>) -> Result<Heat<SerialRuntime>, Error> {
    let boundary = rt.domain(BOUNDARY_FACES)?;
    let dirichlet = Domain::subset("dirichlet", &boundary, faces)?;
    let values = rt.scalar_collection(&dirichlet, values)?;
    Heat::new(rt, k, dirichlet, values)
}

/// Runs steps of equal length; returns the last field.
fn run_steps(rt: &mut SerialRuntime, heat: &Heat<SerialRuntime>, initial: Vec<f64>, dt: f64, steps: usize) -> Result<Vec<f64>, Error> {
    let cells = rt.domain(ALL_CELLS)?;
    let mut u = rt.scalar_collection(&cells, initial)?;
    for _ in 0..steps {
        u = heat.step(rt, &u, &dt)?;
    }
    rt.values(&u)
}

/// 4 x 3 unit cells at 500, faces 0 and 4 held at 1000 and 0.
fn small_case(rt: &mut SerialRuntime, steps: usize) -> Result<Vec<f64>, Error> {
    let heat = case(rt, 0.3, vec![0, 4], vec![1000.0, 0.0])?;
    run_steps(rt, &heat, vec![500.0; 12], 0.5, steps)
}

#[test]
fn two_steps_reproduce_the_published_numbers() -> Result<(), Error> {
    // By hand: T = 0.3 inside, 0.6 at the held faces. Step 1: 500 +- 0.5 * 0.6 * 500 = 650, 350.
    // Step 2, cell 0: 650 - 0.5 * (0.6 * (650 - 1000) + 0.3 * (650 - 500) + 0.3 * (650 - 500)) =
    // 650 + 105 - 45 = 710; its two neighbours get 22.5.
    let first = [650.0, 500.0, 500.0, 350.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0];
    let second = [710.0, 522.5, 477.5, 290.0, 522.5, 500.0, 500.0, 477.5, 500.0, 500.0, 500.0, 500.0];
    // The published run shows 16 digits. 0.3 is not a binary fraction; each of at most 10 roundings
    // a step is at most 2^-53 of 1000.
    let tolerance = 20.0 * 1000.0 * f64::EPSILON / 2.0;
    for (steps, expected) in [(1, first), (2, second)] {
        let mut rt = plane([4, 3], [1.0, 1.0]);
        let u = small_case(&mut rt, steps)?;
        for (cell, (u, expected)) in u.iter().zip(expected).enumerate() {
            assert!((u - expected).abs() <= tolerance, "step {steps}, cell {cell}: {u}, not {expected}");
        }
    }
    Ok(())
}

#[test]
fn treated_as_unstructured_it_is_bitwise_the_same() -> Result<(), Error> {
    let shape = Cartesian::plane([4, 3], [1.0, 1.0]);
    let (structured, unstructured) = (small_case(&mut runtime(shape), 2)?, small_case(&mut unstructured(shape), 2)?);
    assert_eq!(bits(&structured), bits(&unstructured));
    Ok(())
}

#[test]
fn the_block_of_9120_cells_reproduces_the_reference() -> Result<(), Error> {
    // 19 x 24 x 20 unit cells at 500, k = 0.3; 50 z at x = 0 and 1000 - 50 z at x = 19, z at the
    // face centroid.
    let (nx, ny, nz) = (19, 24, 20);
    let mut rt = block([nx, ny, nz], [1.0; 3]);
    let (mut faces, mut values) = (vec![], vec![]);
    for row in 0..ny * nz {
        let z = (row / ny) as f64 + 0.5;
        faces.extend([(row * (nx + 1)) as u32, (row * (nx + 1) + nx) as u32]);
        values.extend([50.0 * z, 1000.0 - 50.0 * z]);
    }
    let heat = case(&mut rt, 0.3, faces, values)?;
    // Reference values of the original implementation, first three cells. Tolerance: 1e-12 relative
    // to the largest value, 916, as the reference's digits (16) and its agreement with an
    // independent implementation (3.2e-12 absolute) support.
    let expected: [(usize, [f64; 3]); 3] = [
        (1, [357.5, 500.0, 500.0]),
        (50, [96.154_288_210_964_37, 204.839_967_713_352_6, 290.377_559_469_028_6]),
        (150, [83.778_611_999_806_33, 169.471_536_011_043_1, 236.916_569_054_296]),
    ];
    let tolerance = 3.5e-12;
    let (mut u, mut done) = (vec![500.0; nx * ny * nz], 0);
    for (steps, first_cells) in expected {
        u = run_steps(&mut rt, &heat, u, 0.5, steps - done)?;
        done = steps;
        for (u, expected) in u.iter().zip(first_cells) {
            assert!((u - expected).abs() <= tolerance, "step {steps}: {u}, not {expected}");
        }
    }
    let (min, max) = u.iter().fold((f64::MAX, f64::MIN), |(min, max), &u| (min.min(u), max.max(u)));
    assert!((min - 83.778_611_999_806_33).abs() <= tolerance && (max - 916.221_388_000_193_7).abs() <= tolerance, "{min} {max}");
    // The boundary values are symmetric about 500, so the mean stays. 9120 values of at most 2^10,
    // each off by what 150 steps of rounding leave.
    let mean = u.iter().sum::<f64>() / u.len() as f64;
    assert!((mean - 500.0).abs() <= tolerance, "{mean}");
    Ok(())
}

#[test]
fn without_dirichlet_faces_total_heat_is_conserved_to_round_off() -> Result<(), Error> {
    // Every flux leaves one cell and enters another, so only roundings change the total.
    let n = [5, 4, 3];
    let mut rt = block(n, [1.0, 0.7, 1.3]);
    let heat = case(&mut rt, 0.3, vec![], vec![])?;
    let n_cells = n.iter().product::<usize>();
    let initial: Vec<f64> = (0..n_cells).map(|cell| 300.0 + 100.0 * (cell as f64).sin()).collect();
    let volumes = rt.values(&heat.volumes)?;
    let total = |u: &[f64]| u.iter().zip(&volumes).map(|(u, v)| u * v).sum::<f64>();
    let before = total(&initial);
    let steps = 200;
    let after = run_steps(&mut rt, &heat, initial.clone(), 0.2, steps)?;
    // A cell's update rounds about 2 * 6 + 3 times a step, each time by at most 2^-53 of its
    // temperature (at most 400); the sums below add one per cell.
    let tolerance = (15 * steps + n_cells) as f64 * f64::EPSILON / 2.0 * before;
    assert!((total(&after) - before).abs() <= tolerance, "{before} became {}", total(&after));
    // And something happened: the field has become smoother.
    let range = |u: &[f64]| u.iter().fold(f64::MIN, |m, &v| m.max(v)) - u.iter().fold(f64::MAX, |m, &v| m.min(v));
    assert!(range(&after) < 0.5 * range(&initial));
    Ok(())
}

#[test]
fn a_linear_steady_state_stays_to_round_off() -> Result<(), Error> {
    // u = 100 + 25 x between held ends: all fluxes are equal, so every sum is zero but for
    // roundings.
    let n = 10;
    let mut rt = line(n, 0.4);
    let heat = case(&mut rt, 0.3, vec![0, n as u32], vec![100.0, 100.0 + 25.0 * 0.4 * n as f64])?;
    let initial: Vec<f64> = (0..n).map(|cell| 100.0 + 25.0 * 0.4 * (cell as f64 + 0.5)).collect();
    let after = run_steps(&mut rt, &heat, initial.clone(), 0.1, 500)?;
    // Fluxes of size 7.5 come from differences of temperatures up to 200, each rounded to 2^-53 of
    // it; times T / V * dt < 0.4 a step. The scheme contracts (0.3 * 0.1 / 0.16 < 1/2), so that
    // errors do not grow beyond what 500 steps could add up to.
    let tolerance = 500.0 * 2.0 * 200.0 * f64::EPSILON;
    for (before, after) in initial.iter().zip(&after) {
        assert!((before - after).abs() <= tolerance, "{before} became {after}");
    }
    Ok(())
}

#[test]
fn a_steady_step_takes_every_buffer_from_the_pool() -> Result<(), Error> {
    let mut rt = plane([4, 3], [1.0, 1.0]);
    let heat = case(&mut rt, 0.3, vec![0, 4], vec![1000.0, 0.0])?;
    let cells = rt.domain(ALL_CELLS)?;
    let mut u = rt.scalar_collection(&cells, vec![500.0; 12])?;
    for _ in 0..2 {
        u = heat.step(&mut rt, &u, &0.5)?;
        rt.reduce(Reduction::Max, &u)?;
    }
    let before = rt.buffer_counters();
    for _ in 0..10 {
        u = heat.step(&mut rt, &u, &0.5)?;
        rt.reduce(Reduction::Max, &u)?;
    }
    let after = rt.buffer_counters();
    assert_eq!((after.allocated, after.bytes), (before.allocated, before.bytes));
    // 18 results (an Extend to the same set would be none) and the leaves of the reduction, ten
    // times.
    assert_eq!(after.taken - before.taken, 10 * 19);
    Ok(())
}

#[test]
fn a_field_that_is_held_keeps_its_values() -> Result<(), Error> {
    // Handles to earlier fields must not be overwritten by later steps that reuse buffers.
    let mut rt = plane([4, 3], [1.0, 1.0]);
    let heat = case(&mut rt, 0.3, vec![0, 4], vec![1000.0, 0.0])?;
    let cells: Arc<Domain> = rt.domain(ALL_CELLS)?;
    let initial = rt.scalar_collection(&cells, vec![500.0; 12])?;
    let first = heat.step(&mut rt, &initial, &0.5)?;
    let kept = rt.values(&first)?;
    let mut u = first.clone();
    for _ in 0..5 {
        u = heat.step(&mut rt, &u, &0.5)?;
    }
    assert_eq!(rt.values(&first)?, kept);
    assert_eq!(rt.values(&initial)?, [500.0; 12]);
    assert_ne!(rt.values(&u)?, kept);
    Ok(())
}
