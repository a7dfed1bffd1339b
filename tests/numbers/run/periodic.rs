//! Grids with joined sides from end to end, against closed forms, larger grids, and reads by index.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use crate::support::{Dimensions, EVERY_WAY, How, Outputs, assert_close, equellec, repository, run_with, scratch, stderr};

fn run(how: How, program: &str, words: &[&str]) -> Outputs {
    run_with(how, Dimensions::Unchecked, &format!("tests/run/periodic_{program}.equelle"), words)
}

/// The parameter that reads numbers from a new file.
fn from_file(key: &str, values: &[f64]) -> String {
    let file = scratch("periodic-numbers").join("numbers.txt");
    let numbers: Vec<String> = values.iter().map(|x| format!("{x:?}")).collect();
    std::fs::write(&file, numbers.join("\n")).unwrap();
    format!("{key}_filename={}", file.display())
}

/// Values by place in the first unit of length along x, those of its copies added.
fn in_first_copy(outputs: &Outputs) -> BTreeMap<[i64; 2], f64> {
    let mut sums = BTreeMap::new();
    let places = outputs.last("x").iter().zip(outputs.last("y"));
    for ((x, y), u) in places.zip(outputs.last("u")) {
        let place = [x.rem_euclid(1.0), *y].map(|x| (1e6 * x).round() as i64);
        *sums.entry(place).or_insert(0.0) += u;
    }
    sums
}

/// Transport is linear: what has gone once around is the sum over five copies of the grid behind
/// each other, without joined sides. Tolerance: a thousand roundings of numbers below 1.
#[test]
fn a_blob_goes_around_as_through_copies() {
    let folder = scratch("periodic-triangles");
    let triangles = |cells: &str, size: &str| {
        let file = folder.join(format!("{}.vtu", cells.replace(',', "-")));
        let words = ["grid", "make", "triangles", &file.display().to_string(), "--cells", cells, "--size", size];
        let output = equellec().args(words).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        format!("grid_filename={}", file.display())
    };
    let (one, five) = (triangles("8,4", "1,0.5"), triangles("40,4", "5,0.5"));
    let cartesian = |cells: &str| ["grid_dim=2", cells, "ny=4", "dx=0.125", "dy=0.125"].map(str::to_owned).to_vec();
    let blob = "u_expression=Max(0, 1-16*((x-0.5)^2+(y-0.25)^2))";
    for (joined, open) in [(vec![one], vec![five]), (cartesian("nx=8"), cartesian("nx=40"))] {
        for how in EVERY_WAY {
            let go = |grid: &[String], more: &[&str]| {
                let grid = grid.iter().map(String::as_str);
                run(how, "advection", &grid.chain([blob, "steps=32*0.03125"]).chain(more.iter().copied()).collect::<Vec<_>>())
            };
            let around = go(&joined, &["grid_periodic=x-:x+"]);
            let (found, expected) = (in_first_copy(&around), in_first_copy(&go(&open, &[])));
            assert!(found.keys().eq(expected.keys()), "{joined:?}");
            for (place, value) in &found {
                assert!((value - expected[place]).abs() < 1e-12, "{how:?} {joined:?} {place:?}: {value} {}", expected[place]);
            }
            // More goes over the joined sides than rounding.
            let closed = in_first_copy(&go(&joined, &[]));
            assert!(found.iter().any(|(place, value)| (value - closed[place]).abs() > 0.01));
        }
    }
}

/// A wave of the length of the grid decays by the factor of its differences in each step, and
/// nothing gets lost.
#[test]
fn waves_decay_and_sums_stay() {
    // Eight cells of 1/8, twelve of 1/16: the grid is 1 by 3/4.
    let grid = ["nx=8", "ny=12", "dx=0.125", "dy=0.0625", "grid_periodic=x-:x+,y-:y+"];
    let (kx, ky, dt) = (2.0 * PI, 2.0 * PI / 0.75, 0.0005);
    let rate = |k: f64, h: f64| (2.0 - 2.0 * (k * h).cos()) / (h * h);
    let factor = (1.0 - dt * (rate(kx, 0.125) + rate(ky, 0.0625))).powi(100);
    let wave = format!("u_expression=Cos({kx:?}*x)*Cos({ky:?}*y)");
    for how in EVERY_WAY {
        let words: Vec<&str> = grid.iter().copied().chain([&*wave, "steps=100*0.0005"]).collect();
        let outputs = run(how, "heat", &words);
        let expected: Vec<f64> = (0..96)
            .map(|cell| {
                let (i, j) = (f64::from(cell % 8) + 0.5, f64::from(cell / 8) + 0.5);
                factor * (kx * 0.125 * i).cos() * (ky * 0.0625 * j).cos()
            })
            .collect();
        assert_close(outputs.last("u"), &expected, 1e-13, &format!("{how:?}"));
        // The sum of |volume| * |u| is below 1.
        assert!(outputs.scalars["gained"][0].abs() < 1e-14, "{how:?}: {:?}", outputs.scalars);
    }
}

/// A coefficient that differs from face to face, against plain loops over cells. Tolerance: a
/// thousand roundings of numbers near 1.
#[test]
fn a_coefficient_of_each_face_is_that_of_the_face() {
    let n = [7, 6, 5];
    let value = |cell: usize, factor: usize| (((cell * factor) % 31) as f64 * 0.7).sin();
    for dim in 1..=3 {
        let n_cells: usize = n[..dim].iter().product();
        let k: Vec<f64> = (0..n_cells).map(|cell| 1.5 + value(cell, 11)).collect();
        let start: Vec<f64> = (0..n_cells).map(|cell| value(cell, 13)).collect();
        for joined in 0..1 << dim {
            let mut u = start.clone();
            for _ in 0..4 {
                let mut next = u.clone();
                for cell in 0..n_cells {
                    for axis in 0..dim {
                        let stride: usize = n[..axis].iter().product();
                        let at = cell / stride % n[axis];
                        for (is_end, step, turn) in [(at == 0, -1, n[axis]), (at + 1 == n[axis], 1, n[axis])] {
                            if is_end && joined >> axis & 1 == 0 {
                                continue;
                            }
                            let cells = if is_end { step - step * turn as i64 } else { step };
                            let other = (cell as i64 + cells * stride as i64) as usize;
                            next[cell] += 0.05 * 2.0 * k[cell] * k[other] / (k[cell] + k[other]) * (u[other] - u[cell]);
                        }
                    }
                }
                u = next;
            }
            let axes = ["x-:x+", "y-:y+", "z-:z+"].into_iter().enumerate();
            let sides: Vec<&str> = axes.filter(|(axis, _)| joined >> axis & 1 == 1).map(|(_, sides)| sides).collect();
            let sides = if sides.is_empty() { "none".to_owned() } else { sides.join(",") };
            let words = [
                format!("grid_dim={dim}"),
                "nx=7".to_owned(),
                format!("grid_periodic={sides}"),
                "steps=4*0.05".to_owned(),
                from_file("k", &k),
                from_file("u", &start),
            ];
            let more = [(dim > 1).then(|| "ny=6".to_owned()), (dim > 2).then(|| "nz=5".to_owned())];
            let words: Vec<String> = words.into_iter().chain(more.into_iter().flatten()).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            for how in EVERY_WAY {
                assert_close(run(how, "varied", &words).last("u"), &u, 1e-13, &format!("{how:?} {dim} {sides}"));
            }
        }
    }
}

/// The same operations in the same order, so the same bits; and a field that is moved by some cells
/// becomes one that is moved.
#[test]
fn joined_sides_are_halos_to_the_bit() {
    let shape = ["grid_dim=2", "nx=6", "ny=5", "dx=0.5", "dy=0.25"];
    let start = |by: usize| -> Vec<f64> {
        let value = |i: usize, j: usize| (((i * 7 + j * 13) % 30) as f64 * 0.7).sin() * 1.3;
        (0..30).map(|cell| value((cell % 6 + by) % 6, (cell / 6 + by) % 5)).collect()
    };
    let input = |by: usize| from_file("u", &start(by));
    let go = |how: How, program: &str, u: &str, more: &[&str]| {
        let words: Vec<&str> = shape.iter().copied().chain([u, "steps=50*0.01"]).chain(more.iter().copied()).collect();
        run(how, program, &words).last("u").to_vec()
    };
    let joined = ["grid_periodic=x-:x+,y-:y+"];
    for how in EVERY_WAY {
        let by_faces = go(how, "heat", &input(0), &joined);
        assert_eq!(by_faces, go(how, "by_index", &input(0), &[]), "{how:?}");
        let moved = go(how, "heat", &input(2), &joined);
        for (cell, moved) in moved.iter().enumerate() {
            let from = (cell % 6 + 2) % 6 + 6 * ((cell / 6 + 2) % 5);
            assert_eq!(moved.to_bits(), by_faces[from].to_bits(), "{how:?} cell {cell}");
        }
    }
}

/// Sources in waves give the potential of their differences, whose level is not determined: it is
/// recognised, and the mean is that of the start.
#[test]
fn a_torus_has_no_level() {
    let grid = ["nx=16", "ny=8", "dx=0.0625", "dy=0.125", "grid_periodic=x-:x+,y+:y-"];
    let (h, k) = ([0.0625, 0.125], 2.0 * PI);
    let rate: f64 = h.iter().map(|h| (2.0 - 2.0 * (k * h).cos()) / (h * h)).sum();
    let source = format!("source_expression=Sin({k:?}*x)*Sin({k:?}*y)");
    let expected: Vec<f64> = (0..128)
        .map(|cell| (k * h[0] * (f64::from(cell % 16) + 0.5)).sin() * (k * h[1] * (f64::from(cell / 16) + 0.5)).sin() / rate)
        .collect();
    for (how, solver) in EVERY_WAY.into_iter().flat_map(|how| ["solver=lu", "solver=cg", "solver=bicgstab"].map(|solver| (how, solver))) {
        let words: Vec<&str> = grid.iter().copied().chain([&*source, solver, "linear_tol=1e-13"]).collect();
        assert_close(run(how, "poisson", &words).last("p"), &expected, 1e-11, &format!("{how:?} {solver}"));
    }
}

/// Layers across the flow have the harmonic mean of their permeabilities, layers along it the
/// arithmetic one. Tolerance: that of the solver.
#[test]
fn a_sample_of_layers_has_their_mean() {
    let layers = [1.0, 4.0, 2.0, 8.0];
    let harmonic = 4.0 / layers.iter().map(|k| 1.0 / k).sum::<f64>();
    let arithmetic = layers.iter().sum::<f64>() / 4.0;
    let across = from_file("k", &[layers, layers].concat());
    let along = from_file("k", &layers.map(|k| [k, k]).concat());
    let cases = [(&across, ["nx=4", "ny=2"], harmonic), (&along, ["nx=2", "ny=4"], arithmetic)];
    for (how, (k, shape, expected)) in EVERY_WAY.into_iter().flat_map(|how| cases.map(|case| (how, case))) {
        let words = [k.as_str(), shape[0], shape[1], "dx=0.25", "dy=0.5", "grid_periodic=x-:x+,y-:y+", "linear_tol=1e-13"];
        let outputs = run_with(how, Dimensions::Checked, "tests/run/periodic_channel.equelle", &words);
        assert_close(&outputs.scalars["effective k"], &[expected], 1e-9, &format!("{how:?} {k}"));
    }
}

/// Sides that cannot be joined end a command before anything runs; a mesh joins its own sides.
#[test]
fn on_the_command_line() {
    let folder = scratch("periodic-command");
    let mesh = folder.join("p.msh");
    std::fs::write(&mesh, include_str!("../../run/periodic.msh")).unwrap();
    let call = |words: &[&str]| {
        let output = equellec().args(words).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
    };
    let (mesh, filename) = (mesh.display().to_string(), format!("grid_filename={}", mesh.display()));
    let heat = repository("tests/run/periodic_heat.equelle").display().to_string();
    let u = from_file("u", &[1.0, 2.0]);
    let words = ["run", "--interpret", "--quiet", "--nondimensional", &heat, &filename, &u, "steps=0.25"];
    let run = |more: &[&str]| call(&[&words[..], more].concat());
    // A quarter of the difference of 1 goes over each of two faces, or over one.
    let found = run(&["output_to_file=false"]);
    assert!(found.1.starts_with("u =\n1.5 ") && found.2.is_empty(), "{found:?}");
    assert!(run(&["grid_periodic=none", "output_to_file=false"]).1.starts_with("u =\n1.25 "));
    let (code, _, errors) = run(&["grid_periodic=left:top"]);
    assert!(code == Some(4) && errors.contains("there is no side `top`") && errors.contains("left, right"), "{errors}");
    let (code, out, errors) = call(&["grid", "info", &mesh]);
    assert!(code == Some(0) && (out + &errors).contains("`curve 2` and `curve 1` are joined, 1 faces"), "{errors}");
    let (code, out, errors) = call(&["grid", "info", &mesh, "--periodic", "none"]);
    assert!(code == Some(0) && (out + &errors).contains("$Periodic is left out"), "{errors}");
    let (code, _, errors) = call(&["grid", "check", &mesh, "--periodic", "left:nowhere"]);
    assert!(code == Some(4) && errors.contains("there is no side `nowhere`"), "{code:?} {errors}");
}

/// On a torus every way across a face is a width long, and every cell has its volume, in whatever
/// way a program says which cells it means. Exact: widths are powers of two.
#[test]
fn ways_through_joined_faces_are_those_of_neighbours() {
    let (dx, dy) = (0.125, 0.25);
    let grid = ["nx=4", "ny=8", "dx=0.125", "dy=0.25", "u_expression=0", "grid_periodic=x-:x+,y-:y+"];
    let of_faces = |x: f64, y: f64| [[x; 32], [y; 32]].concat();
    for layout in ["auto", "unstructured"] {
        for how in EVERY_WAY {
            let layout = format!("grid_layout={layout}");
            let words: Vec<&str> = grid.iter().copied().chain([&*layout]).collect();
            let outputs = run(how, "ways", &words);
            let what = |tag: &str| format!("{how:?} {layout} {tag}");
            for tag in ["variable", "captured", "passed", "twice", "given"] {
                assert_eq!(outputs.last(tag), of_faces(dx, dy), "{}", what(tag));
            }
            for tag in ["chosen", "chosen by a function"] {
                assert_eq!(outputs.last(tag), of_faces(-dx / 2.0, dy / 2.0), "{}", what(tag));
            }
            for tag in ["never chosen", "restricted", "extended"] {
                assert_eq!(outputs.last(tag), of_faces(dx / 2.0, dy / 2.0), "{}", what(tag));
            }
            // Two axes have the volume once each.
            for tag in ["volume", "solved"] {
                assert_eq!(outputs.last(tag), [2.0 * dx * dy; 32], "{}", what(tag));
            }
        }
    }
}

/// Stored positions are warned of by the first line that reads them through faces, on joined grids
/// alone; values that positions merely shape are none.
#[test]
fn stored_positions_are_warned_of() {
    let folder = scratch("periodic-positions");
    let warned = |text: &str, sides: &str| {
        std::fs::write(folder.join("p.equelle"), format!("# dimensions: ignore\nf = InteriorFaces()\nx = Centroid(AllCells())\n{text}\n"))
            .unwrap();
        let words = ["run", "--interpret", "p.equelle", "nx=4", sides, "output_to_file=false"];
        let output = equellec().current_dir(&folder).args(words).output().unwrap();
        let errors = stderr(&output);
        assert!(output.status.success(), "{errors}");
        errors.lines().find_map(|line| Some(line.split_once("p.equelle:")?.1.split_once(": stored positions")?.0.parse::<u32>().unwrap()))
    };
    let positions = [
        ("Output(\"d\", (x On SecondCell(f))[0])", 4),
        ("d = 1\ny = 2 * (x[0] - 1) / 3\nOutput(\"d\", Gradient(y))", 6),
        (
            "m : Mutable Collection Of Scalar On AllCells() = 0 Extend AllCells()\nFor t In Range(0, 2) {\n    Output(\"d\", Gradient(m))\n    m = -x[0]\n}",
            6,
        ),
        ("g(u) = { -> Gradient(u) }\nOutput(\"d\", g(x[0]))", 4),
        ("Output(\"d\", (x On FirstCell(f))[0] - Centroid(SecondCell(f))[0])", 4),
    ];
    for (text, line) in positions {
        assert_eq!(warned(text, "grid_periodic=x-:x+"), Some(line), "{text}");
        assert_eq!(warned(text, "ny=1"), None, "{text}");
    }
    let others = [
        "Output(\"d\", Centroid(SecondCell(f))[0] - Centroid(FirstCell(f))[0])",
        "Output(\"d\", Gradient(Sin(x[0])))",
        "Output(\"d\", Gradient(x[0] - Centroid(AllCells())[0]))",
        "Output(\"d\", x[0])",
        "b = BoundaryCells()\nOutput(\"d\", (x On b)[0])",
    ];
    for text in others {
        assert_eq!(warned(text, "grid_periodic=x-:x+"), None, "{text}");
    }
}
