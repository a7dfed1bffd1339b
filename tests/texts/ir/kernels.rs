//! Four programs at kernel level, written by hand: what fusion should make of the heat,
//! shallow-water, two-phase and well models. Beside each stands the CUDA C++ that it should become
//! (`kernels/*.cu`, compiled by `cargo xtask cuda-host-tests`).

use equelle_runtime::grid::Cartesian;

use super::golden::read;
use super::simulate::{Form, Inputs, assert_close, collections, module, run, scalars};

const FORMS: [Form; 2] = [Form::General, Form::Cartesian];

#[test]
fn heat_with_dirichlet_boundary() {
    let module = module(&read("kernels/heat_dirichlet.eqir"));
    let inputs = || {
        Inputs::default()
            .scalar("u_initial", 500.0)
            .domain("dirichlet_boundary", &[0, 4])
            .collection("dirichlet_val", &[1000.0, 0.0])
            .sequence("timesteps", &[0.5, 0.5])
    };
    // Output of the original implementation on 4x3 unit cells. The values are short because 0.3 *
    // 0.5 * 1000 = 150 and so on; each is the result of fewer than ten operations on numbers below
    // 1000, each rounded by at most 1000 * 2^-53 = 1.1e-13.
    let after_1 = [650.0, 500.0, 500.0, 350.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0];
    let after_2 = [710.0, 522.5, 477.5, 290.0, 522.5, 500.0, 500.0, 477.5, 500.0, 500.0, 500.0, 500.0];
    let mut by_form = Vec::new();
    for form in FORMS {
        let records = run(&module, Cartesian::plane([4, 3], [1.0, 1.0]), inputs(), form).unwrap();
        let u = collections(&records, "expU");
        assert_eq!(u.len(), 3);
        assert_close(&u[0], &after_1, 1e-15);
        assert_close(&u[1], &after_2, 1e-15);
        assert_eq!(u[1], u[2], "the last field is put out again after the loop");
        assert_close(&scalars(&records, "maximum of u"), &[650.0, 710.0], 1e-15);
        by_form.push(u);
    }
    assert_eq!(by_form[0], by_form[1], "unit spacing: the forms agree bit for bit");
}

/// In three dimensions on widths that are powers of two, both forms agree bit for bit, and what
/// flows in through the boundary is what the cells gain.
#[test]
fn heat_in_three_dimensions() {
    let module = module(&read("kernels/heat_dirichlet.eqir"));
    let shape = Cartesian::block([4, 3, 5], [0.5, 2.0, 1.0]);
    // Along x there are 5 faces a row; 0 and 4 are the ends of the first row.
    let n = shape.n_cells();
    let u0: Vec<f64> = (0..n).map(|i| 500.0 + 40.0 * (i as f64 * 0.7).sin()).collect();
    let inputs = || {
        Inputs::default()
            .collection("u_initial", &u0)
            .domain("dirichlet_boundary", &[0, 4, 9])
            .collection("dirichlet_val", &[1000.0, 0.0, 700.0])
            .sequence("timesteps", &[0.0625])
    };
    let fields: Vec<Vec<f64>> =
        FORMS.map(|form| collections(&run(&module, shape, inputs(), form).unwrap(), "expU").remove(0)).into_iter().collect();
    assert_eq!(fields[0], fields[1]);
    // Gain = dt * sum over Dirichlet faces of k * area / distance * (value - u): area 2 * 1,
    // distance 0.25. Faces 0, 4, 9 belong to cells 0, 3, 7.
    let volume = 0.5 * 2.0 * 1.0;
    let gained: f64 = fields[0].iter().zip(&u0).map(|(new, old)| (new - old) * volume).sum();
    let flux = |value: f64, cell: usize| 0.3 * 2.0 / 0.25 * (value - u0[cell]);
    let expected = 0.0625 * (flux(1000.0, 0) + flux(0.0, 3) + flux(700.0, 7));
    // 60 cells of about 500, each difference rounded by at most 500 * 2^-52.
    assert!((gained - expected).abs() <= 60.0 * 500.0 * f64::EPSILON, "{gained} {expected}");
}

#[test]
fn shallow_water_stage() {
    let module = module(&read("kernels/swe_stage.eqir"));
    let (nx, ny) = (5, 3);
    let on_cells =
        |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> { (0..nx * ny).map(|c| f((c % nx) as f64 + 0.5, (c / nx) as f64 + 0.5)).collect() };
    let plane = |x: f64, y: f64| 0.1 * x + 0.05 * y;
    let inputs = || {
        Inputs::default()
            .collection("h_init", &on_cells(&|x, _| if x < 2.0 { 2.0 } else { 1.0 }))
            .scalar("u_init", 0.0)
            .scalar("v_init", 0.0)
            .collection("b_north", &on_cells(&|x, y| plane(x, y + 0.5)))
            .collection("b_south", &on_cells(&|x, y| plane(x, y - 0.5)))
            .collection("b_east", &on_cells(&|x, y| plane(x + 0.5, y)))
            .collection("b_west", &on_cells(&|x, y| plane(x - 0.5, y)))
            .scalar("dx", 1.0)
            .scalar("dy", 1.0)
            .sequence("timesteps", &[0.02, 0.02])
    };
    // Output of the original implementation after two steps.
    let q1 = [
        2.083440940140308,
        2.100274608124082,
        1.356356062123,
        1.383454630950428,
        1.471738749753009,
        2.128444438088585,
        2.145431423526129,
        1.402761985339359,
        1.430021929127021,
        1.518326895670971,
        2.17345605426697,
        2.1905962739566,
        1.449175892925969,
        1.476597149855459,
        1.56492296615211,
    ];
    let q2 = [-0.0493953453956551, 0.1969394678043595, 0.2300508989059184, -0.02108851128429232, -0.03800620584109091];
    let q3 = [-0.0383457002518858, -0.0367899546902815, -0.02088136022992032, -0.01941872154055558, -0.01925912798661559];
    for form in FORMS {
        let records = run(&module, Cartesian::plane([nx, ny], [1.0, 1.0]), inputs(), form).unwrap();
        // Momenta are differences of pressure forces g h^2 / 2 of about 20 times dt, with about 100
        // roundings in two steps: 20 * 0.02 * 100 * 2^-53 = 4e-15 absolute; the published digits
        // end at 1e-15.
        let field = |tag: &str| collections(&records, tag).remove(1);
        assert_close(&field("q1"), &q1, 5e-15);
        assert_close(&field("q2")[..5], &q2, 5e-14);
        assert_close(&field("q3")[..5], &q3, 5e-14);
    }
}

/// Water at rest over an uneven bottom stays at rest, at walls too: pressure and source cancel up
/// to rounding.
#[test]
fn shallow_water_at_rest() {
    let module = module(&read("kernels/swe_stage.eqir"));
    let columns = |v: [f64; 4]| [v, v].concat();
    // Depths 2 2 1 1 below the surface at 3. At a face the momentum flux at rest is the mean of g
    // h^2 / 2 of its cells (of the cell itself at a wall), so the source g d h of a cell balances
    // it where the rise d of the bottom across cell i is (h(i-1)^2 - h(i+1)^2) / (4 h(i)): 0, 3/8,
    // 3/4, 0.
    let rise = [0.0, 0.375, 0.75, 0.0];
    let bottom = [1.0, 1.0, 2.0, 2.0];
    let inputs = || {
        Inputs::default()
            .collection("h_init", &columns([2.0, 2.0, 1.0, 1.0]))
            .scalar("u_init", 0.0)
            .scalar("v_init", 0.0)
            .collection("b_north", &columns(bottom))
            .collection("b_south", &columns(bottom))
            .collection("b_east", &columns(std::array::from_fn(|i| bottom[i] + rise[i] / 2.0)))
            .collection("b_west", &columns(std::array::from_fn(|i| bottom[i] - rise[i] / 2.0)))
            .scalar("dx", 1.0)
            .scalar("dy", 1.0)
            .sequence("timesteps", &[0.015625])
    };
    for form in FORMS {
        let records = run(&module, Cartesian::plane([4, 2], [1.0, 1.0]), inputs(), form).unwrap();
        // Forces of at most 9.81 * 4 / 2 = 20, about 16 roundings each, times dt = 1/64, in two
        // stages.
        let tolerance = 2.0 * 20.0 * 16.0 * f64::EPSILON / 64.0;
        for (tag, rest) in [("q1", 3.0), ("q2", 0.0), ("q3", 0.0)] {
            for value in &collections(&records, tag)[0] {
                assert!((value - rest).abs() <= tolerance, "{form:?} {tag}: {value:e}");
            }
        }
    }
}

/// Where all cells are dry nothing moves, not even by rounding.
#[test]
fn shallow_water_dry() {
    let module = module(&read("kernels/swe_stage.eqir"));
    for form in FORMS {
        let mut inputs = Inputs::default().scalar("h_init", 0.03125).scalar("u_init", 1.0).scalar("v_init", -1.0);
        for (name, value) in [("b_north", 2.0), ("b_south", 1.0), ("b_east", 4.0), ("b_west", 1.0), ("dx", 1.0), ("dy", 1.0)] {
            inputs = inputs.scalar(name, value);
        }
        let inputs = inputs.sequence("timesteps", &[0.5]);
        let records = run(&module, Cartesian::plane([3, 2], [1.0, 1.0]), inputs, form).unwrap();
        for (tag, value) in [("q1", 2.03125), ("q2", 0.03125), ("q3", -0.03125)] {
            assert_eq!(collections(&records, tag), [[value; 6]], "{form:?} {tag}");
        }
    }
}

/// Transport residual coded independently: fluxes per face, added to both cells.
fn transport_residual(shape: Cartesian, s: &[f64], s0: &[f64], flux: &[f64], source: &[f64], poro: f64, dt: f64) -> Vec<f64> {
    let fraction = |s: f64| {
        let (water, oil) = (s / 0.0005, (1.0 - s) / 0.005);
        water / (water + oil)
    };
    let mut out = vec![0.0; s.len()];
    let interior = (0..shape.n_faces()).filter(|&f| !shape.is_boundary_face(f));
    for (face, &v) in interior.zip(flux) {
        let [first, second] = shape.face_cells(face).map(|c| c as usize);
        let water = fraction(s[if v >= 0.0 { first } else { second }]) * v;
        out[first] += water;
        out[second] -= water;
    }
    let pore_volume = poro * shape.spacing[0] * shape.spacing[1];
    (0..s.len()).map(|c| s[c] - s0[c] + dt / pore_volume * (out[c] - source[c].max(0.0) - source[c].min(0.0) * fraction(s[c]))).collect()
}

#[test]
fn twophase_residual_at_any_state() {
    let module = module(&read("kernels/twophase_upwind.eqir"));
    let shape = Cartesian::plane([4, 3], [10.0, 10.0]);
    let s: Vec<f64> = (0..12).map(|i| 0.5 + 0.4 * (i as f64 * 1.3).sin()).collect();
    let s0: Vec<f64> = (0..12).map(|i| 0.5 + 0.4 * (i as f64 * 0.9).cos()).collect();
    // Both signs of flux, and a zero, where the first cell counts.
    let mut flux: Vec<f64> = (0..17).map(|i| 1e-4 * (i as f64 * 2.1).sin()).collect();
    flux[3] = 0.0;
    assert!(flux.iter().any(|v| *v > 0.0) && flux.iter().any(|v| *v < 0.0));
    let mut source = vec![0.0; 12];
    (source[0], source[5], source[11]) = (1e-4, 2e-5, -1e-4);
    let expected = transport_residual(shape, &s, &s0, &flux, &source, 0.2, 100.0);
    for form in FORMS {
        let inputs = Inputs::default()
            .scalar("poro", 0.2)
            .collection("s", &s)
            .collection("s0", &s0)
            .collection("flux", &flux)
            .domain("source_cells", &[0, 5, 11])
            .collection("source_values", &[1e-4, 2e-5, -1e-4]);
        let records = run(&module, shape, inputs, form).unwrap();
        // The same formulas in another order of summation: a few roundings.
        assert_close(&collections(&records, "residual")[0], &expected, 1e-15);
    }
}

/// Pressures with unit mobility ratio: a dense elimination with pressure 0 in the last cell.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, below) = a.split_at_mut(i);
            below[0].iter_mut().zip(&above[k]).skip(k).for_each(|(x, pivot)| *x -= factor * pivot);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// Newton's method on the kernel's residual gives the saturation that the original implementation
/// found.
#[test]
fn twophase_solution() {
    let module = module(&read("kernels/twophase_upwind.eqir"));
    let shape = Cartesian::plane([4, 3], [10.0, 10.0]);
    // First step: no water yet, so mobility is 1 / oilvisc = 200 everywhere; square cells:
    // transmissibility is the permeability 1e-12. Fluxes do not depend on either, as the problem is
    // linear and pure Neumann: unit transmissibility gives the same ones.
    let interior: Vec<[usize; 2]> =
        (0..shape.n_faces()).filter(|&f| !shape.is_boundary_face(f)).map(|f| shape.face_cells(f).map(|c| c as usize)).collect();
    let mut a = vec![vec![0.0; 12]; 12];
    for &[i, j] in &interior {
        a[i][i] += 1.0;
        a[j][j] += 1.0;
        a[i][j] -= 1.0;
        a[j][i] -= 1.0;
    }
    let mut b = vec![0.0; 12];
    (b[0], b[11]) = (1e-4, -1e-4);
    a[11] = (0..12).map(|j| f64::from(u8::from(j == 11))).collect();
    b[11] = 0.0;
    let p = solve(a, b);
    let flux: Vec<f64> = interior.iter().map(|&[i, j]| p[i] - p[j]).collect();
    // Published pressure difference of cells 0 and 1, 268115.942, times 1e-12 * 200.
    assert!((flux[0] - 268115.942 * 2e-10).abs() <= 1e-3 * 2e-10, "{}", flux[0]);
    let s = [
        0.0004975174015049462,
        1.327688723956984e-06,
        2.305014676816761e-09,
        2.336050780009823e-12,
        1.148686406507558e-06,
        2.742845895383645e-09,
        5.831097575746383e-12,
        9.952607524838935e-15,
        1.164152805956325e-09,
        3.163093043746018e-12,
        1.096469621555302e-14,
        5.221553109599167e-17,
    ];
    // The original stopped after two Newton iterations from 0.5, where the residual was below 1e-6:
    // the same here, with the kernel's residual.
    let factor = 100.0 / (0.2 * 100.0);
    for form in FORMS {
        let mut found = vec![0.5; 12];
        for _ in 0..2 {
            let inputs = Inputs::default()
                .scalar("poro", 0.2)
                .collection("s", &found)
                .scalar("s0", 0.0)
                .collection("flux", &flux)
                .domain("source_cells", &[0, 11])
                .collection("source_values", &[1e-4, -1e-4]);
            let residual = collections(&run(&module, shape, inputs, form).unwrap(), "residual").remove(0);
            // The producing cell, 11, loses water in proportion to its fraction.
            let mut jacobian = vec![vec![0.0; 12]; 12];
            for (c, row) in jacobian.iter_mut().enumerate() {
                row[c] = 1.0 + if c == 11 { factor * 1e-4 * fraction_derivative(found[c]) } else { 0.0 };
            }
            for (&[i, j], &v) in interior.iter().zip(&flux) {
                let upwind = if v >= 0.0 { i } else { j };
                let change = factor * fraction_derivative(found[upwind]) * v;
                jacobian[i][upwind] += change;
                jacobian[j][upwind] -= change;
            }
            for (value, update) in found.iter_mut().zip(solve(jacobian, residual)) {
                *value -= update;
            }
        }
        for (cell, (found, expected)) in found.iter().zip(&s).enumerate() {
            // Every cell on its own, as they differ by 13 orders of magnitude. A dozen roundings in
            // the residual and as many in the solution.
            assert!((found / expected - 1.0).abs() <= 1e-14, "cell {cell}: found {found:?}, expected {expected:?}");
        }
    }
}

/// Derivative of the water fraction by saturation.
fn fraction_derivative(s: f64) -> f64 {
    let (water, oil) = (s / 0.0005, (1.0 - s) / 0.005);
    let total = water + oil;
    (total / 0.0005 - water * (1.0 / 0.0005 - 1.0 / 0.005)) / (total * total)
}

#[test]
fn cells_and_wells() {
    let module = module(&read("kernels/cells_wells.eqir"));
    // Four unit cells in a row, mobility 2, so transmissibility 2; dt = 0.5 and compressibility
    // 0.25, so (V / dt) c = 0.5. Fluxes: 2 (4 - 2) = 4, 2 (2 - 1) = 2, 2 (1 - 3) = -4. Outflow: 4,
    // 2 - 4 = -2, -4 - 2 = -6, 4. Accumulation 0.5 (p - p0): 0, 0.5, 0, 1. Wells take 1.5 (2 - 1) =
    // 1.5 and 0.5 (3 - 5) = -1.
    let (cells, wells) = ([4.0, 0.0, -6.0, 4.0], [-0.5, 0.0]);
    for form in FORMS {
        let inputs = Inputs::default()
            .domain("wells", &[1, 3])
            .collection("p", &[4.0, 2.0, 1.0, 3.0])
            .collection("p0", &[4.0, 1.0, 1.0, 1.0])
            .collection("bhp", &[1.0, 5.0])
            .collection("index", &[1.5, 0.5])
            .collection("rate", &[2.0, -1.0]);
        let records = run(&module, Cartesian::line(4, 1.0), inputs, form).unwrap();
        // All numbers are small multiples of 1/4: exact.
        assert_eq!(collections(&records, "cells"), [cells]);
        assert_eq!(collections(&records, "wells"), [wells]);
    }
}
