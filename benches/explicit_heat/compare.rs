//! Explicit heat on a cube: the generated program against loops written by hand, in one process, with the same compiler flags, on one core.
//! Built and started by `cargo xtask bench`, which puts it beside the generated package.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;
use std::{env, fs};

use backend_serial::runtime::SerialRuntime;
use equelle_runtime::Session;
use equelle_runtime::output::Record;
use equelle_runtime::params::Parameters;
use equelle_runtime::report::{bytes, peak_memory};
use equelle_runtime::session::Options;

const K: f64 = 0.3;
const DT: f64 = 0.5;
const START: f64 = 500.0;
const LOW: f64 = 100.0;
const HIGH: f64 = 900.0;

fn main() {
    let mut words = env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let (n, steps) = (words.next().unwrap_or(100), words.next().unwrap_or(50));
    println!("explicit heat, {n}^3 cells, double, strict, one core; milliseconds per step");
    let (from, mut to) = (vec![1.0; n * n * n], vec![0.0; n * n * n]);
    let copy = time(|| black_box(&mut to).copy_from_slice(black_box(&from)), 20);
    drop((from, to));
    report("copy (16 B a cell: the limit of the memory)", copy, n, None);

    // Traffic: reads u, writes u; 16 B a cell.
    let mut by_hand = vec![START; n * n * n];
    let hand = per_step(steps, |steps| by_hand = cartesian_by_hand(n, steps));
    report("Cartesian, by hand", hand, n, None);
    let mut generated = Vec::new();
    let ours = per_step(steps, |steps| generated = generated_program(n, steps, "auto"));
    report("Cartesian, generated", ours, n, Some(hand));
    compare(&generated, &by_hand);
    report_memory("so far");

    // Traffic: u twice, 6 face indices, 12 cell indices and 6 transmissibilities a cell.
    let hand = per_step(steps, |steps| by_hand = unstructured_by_hand(n, steps));
    report("unstructured, by hand", hand, n, None);
    let ours = per_step(steps, |steps| generated = generated_program(n, steps, "unstructured"));
    report("unstructured, generated", ours, n, Some(hand));
    compare(&generated, &by_hand);
    report_memory("at the end");
}

fn report_memory(when: &str) {
    if let Some(peak) = peak_memory() {
        println!("peak memory of this process {when}: {}", bytes(peak));
    }
}

fn report(what: &str, seconds: f64, n: usize, against: Option<f64>) {
    let ratio = against.map_or(String::new(), |other| format!("  {:.2} x by hand", seconds / other));
    println!("{what:<45} {:9.3} ms {:9.1} Mcells/s{ratio}", seconds * 1e3, (n * n * n) as f64 / seconds / 1e6);
}

/// Both add the same terms, in another order: rounding only.
fn compare(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let difference = a.iter().zip(b).fold(0.0_f64, |difference, (a, b)| difference.max((a - b).abs()));
    assert!(difference <= 1e-12 * largest, "results differ by {difference}");
}

/// Seconds of one call, the least of some.
fn time<T>(mut work: impl FnMut() -> T, times: usize) -> f64 {
    let once = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..times).map(once).fold(f64::INFINITY, f64::min)
}

/// Seconds of one step: what a longer run takes more than a shorter one, so that reading and setting up do not count. The least of three.
fn per_step(steps: usize, mut run: impl FnMut(usize)) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let short = time(|| run(steps), 1);
        let long = time(|| run(3 * steps), 1);
        best = best.min((long - short) / (2 * steps) as f64);
    }
    best
}

fn generated_program(n: usize, steps: usize, layout: &str) -> Vec<f64> {
    let folder = env::temp_dir().join(format!("equelle-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    let mut faces = String::new();
    let mut values = String::new();
    for row in 0..n * n {
        let _ = writeln!(faces, "{} {}", row * (n + 1), row * (n + 1) + n);
        let _ = writeln!(values, "{LOW} {HIGH}");
    }
    let mut parameters = Parameters::default();
    let mut file = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).expect("the folder for temporary files can be written");
        parameters.set(&format!("{name}_from_file"), "true");
        parameters.set(&format!("{name}_filename"), &path.to_string_lossy());
    };
    file("dirichlet_boundary", faces);
    file("dirichlet_val", values);
    file("timesteps", format!("{DT} ").repeat(steps));
    for (key, value) in [("k", K.to_string()), ("u_initial", START.to_string()), ("grid_dim", "3".into()), ("grid_layout", layout.into())] {
        parameters.set(key, &value);
    }
    for key in ["nx", "ny", "nz"] {
        parameters.set(key, &n.to_string());
    }
    let mut session = Session::from_parameters(&heat::PROGRAM, parameters, Options::silent()).expect("good parameters");
    let records = session.record_outputs();
    heat::simulate(&mut SerialRuntime::new(session)).expect("the program runs");
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    match records.take().pop() {
        Some(Record::Collection { values, .. }) => values,
        other => panic!("no field was put out: {other:?}"),
    }
}

/// Forward Euler on the cube: rows inside by a loop without tests, the rest cell by cell.
fn cartesian_by_hand(n: usize, steps: usize) -> Vec<f64> {
    let g = K * DT;
    let mut u = vec![START; n * n * n];
    let mut new = vec![0.0; n * n * n];
    let (row, plane) = (n, n * n);
    for _ in 0..steps {
        for k in 0..n {
            for j in 0..n {
                let start = plane * k + row * j;
                let careful = |i: usize| {
                    let (c, here) = (start + i, u[start + i]);
                    let mut sum = 0.0;
                    sum += if i > 0 { u[c - 1] - here } else { 2.0 * (LOW - here) };
                    sum += if i + 1 < n { u[c + 1] - here } else { 2.0 * (HIGH - here) };
                    sum += if j > 0 { u[c - row] - here } else { 0.0 };
                    sum += if j + 1 < n { u[c + row] - here } else { 0.0 };
                    sum += if k > 0 { u[c - plane] - here } else { 0.0 };
                    sum += if k + 1 < n { u[c + plane] - here } else { 0.0 };
                    here + g * sum
                };
                if j == 0 || j + 1 == n || k == 0 || k + 1 == n || n < 3 {
                    for i in 0..n {
                        new[start + i] = careful(i);
                    }
                    continue;
                }
                new[start] = careful(0);
                new[start + n - 1] = careful(n - 1);
                let inside = n - 2;
                let at = |offset: usize| &u[offset..offset + inside];
                let here = at(start + 1);
                let (west, east) = (at(start), at(start + 2));
                let (south, north) = (at(start + 1 - row), at(start + 1 + row));
                let (below, above) = (at(start + 1 - plane), at(start + 1 + plane));
                let out = &mut new[start + 1..start + 1 + inside];
                for i in 0..inside {
                    let c = here[i];
                    out[i] = c + g * ((west[i] - c) + (east[i] - c) + (south[i] - c) + (north[i] - c) + (below[i] - c) + (above[i] - c));
                }
            }
        }
        std::mem::swap(&mut u, &mut new);
    }
    u
}

/// The same through lists of faces and cells, as on any grid: one pass over the cells.
fn unstructured_by_hand(n: usize, steps: usize) -> Vec<f64> {
    let cells = n * n * n;
    let (across_y, across_z) = ((n + 1) * n * n, 2 * (n + 1) * n * n);
    let mut face_cells = vec![[u32::MAX; 2]; 3 * (n + 1) * n * n];
    let mut cell_faces = vec![0_u32; 6 * cells];
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                let cell = i + n * (j + n * k);
                let (x, y, z) = (i + (n + 1) * (j + n * k), across_y + i + n * (j + (n + 1) * k), across_z + cell);
                for (slot, face) in [x, x + 1, y, y + n, z, z + n * n].into_iter().enumerate() {
                    cell_faces[6 * cell + slot] = face as u32;
                    face_cells[face][1 - slot % 2] = cell as u32;
                }
            }
        }
    }
    // Transmissibility of interior faces; of given ones with the temperature; 0 elsewhere.
    let mut trans = vec![0.0; face_cells.len()];
    let mut given = vec![0.0; face_cells.len()];
    for (face, pair) in face_cells.iter().enumerate() {
        if pair.iter().all(|&cell| cell != u32::MAX) {
            trans[face] = K;
        } else if face < across_y {
            trans[face] = 2.0 * K;
            given[face] = if face % (n + 1) == 0 { LOW } else { HIGH };
        }
    }
    let mut u = vec![START; cells];
    let mut new = vec![0.0; cells];
    for _ in 0..steps {
        for cell in 0..cells {
            let here = u[cell];
            let mut sum = 0.0;
            for &face in &cell_faces[6 * cell..6 * cell + 6] {
                let [first, second] = face_cells[face as usize];
                let other = if first == cell as u32 { second } else { first };
                let there = if other == u32::MAX { given[face as usize] } else { u[other as usize] };
                sum += trans[face as usize] * (there - here);
            }
            new[cell] = here + DT * sum;
        }
        std::mem::swap(&mut u, &mut new);
    }
    u
}
