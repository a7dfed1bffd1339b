//! Grids with joined sides: Cartesian kernels on the device have the bits of the processor.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::{Precision, run_on};
use equelle::interpret::{self, Kernels};
use equelle_cuda::CudaKernels;
use equelle_front::ir::{self, Numbers};
use equelle_front::passes::OptLevel;
use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;
use equelle_interp::Options;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::output::Record;

use super::{BITS, agree, compare, compiled_in, device, records};

/// A grid as words of a run, its shape, and its name.
fn grid(n: &[usize], joined: u32) -> (Vec<String>, Grid, String) {
    let dim = n.len();
    // Widths without a finite binary form: distances of nodes differ in their last bits.
    let widths = [0.3, 0.7, 1.1];
    let axes = ["x", "y", "z"];
    let sides: Vec<String> = (0..dim).filter(|axis| joined >> axis & 1 == 1).map(|axis| format!("{0}-:{0}+", axes[axis])).collect();
    let sides = if sides.is_empty() { "none".to_owned() } else { sides.join(",") };
    let mut words = vec![format!("grid_dim={dim}"), format!("grid_periodic={sides}")];
    for (axis, n) in n.iter().enumerate() {
        words.extend([format!("n{}={n}", axes[axis]), format!("d{}={}", axes[axis], widths[axis])]);
    }
    let sizes = std::array::from_fn(|axis| n.get(axis).copied().unwrap_or(1));
    let shape = match dim {
        1 => Cartesian::line(sizes[0], widths[0]),
        2 => Cartesian::plane([sizes[0], sizes[1]], [widths[0], widths[1]]),
        _ => Cartesian::block(sizes, widths),
    };
    let grid = Grid::cartesian(shape).unwrap();
    let grid = if sides == "none" { grid } else { grid.with_periodic_sides(&sides).unwrap() };
    (words, grid, format!("{n:?} {sides}"))
}

/// Data of all inputs of the program.
fn inputs(grid: &Grid, folder: &Path) -> Vec<String> {
    fs::create_dir_all(folder).unwrap();
    let file = |key: &str, lines: Vec<String>| {
        let path = folder.join(format!("{key}.txt"));
        fs::write(&path, lines.join("\n")).unwrap();
        format!("{key}_filename={}", path.display())
    };
    let values = |n: usize, factor: usize, least: f64| -> Vec<String> {
        (0..n).map(|at| format!("{:?}", least + (((at * factor) % 31) as f64 * 0.7).sin())).collect()
    };
    let interior: Vec<usize> = (0..grid.n_faces()).filter(|&face| !grid.topology().face_cells[face].contains(&u32::MAX)).collect();
    let some: Vec<usize> = interior.iter().copied().filter(|face| face % 3 != 1).collect();
    vec![
        file("of_interior", values(interior.len(), 3, 1.5)),
        file("of_all", values(grid.n_faces(), 7, 0.0)),
        file("of_some", values(some.len(), 5, 0.0)),
        file("some", some.iter().map(ToString::to_string).collect()),
        file("k", values(grid.n_cells(), 11, 1.5)),
        file("u", values(grid.n_cells(), 13, 0.0)),
        "steps=3*0.03125".to_owned(),
    ]
}

const PROGRAM: &str = "tests/cuda/joined_sides.equelle";

/// A folder of this process for data.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-joined-{}", std::process::id())).join(name.replace([' ', ',', ':'], "_"))
}

/// Outputs by kernels on the device, and the bytes that were copied there.
pub(super) fn by_kernels(
    words: &[String],
    program: &(SourceMap, Verified),
    device: &Rc<dyn Device>,
    precision: Precision,
) -> (Vec<Record>, u64) {
    let (source, verified) = program;
    let mut kernels = CudaKernels::new(verified).unwrap();
    let mut uploaded = 0;
    let found = records(words, verified, source, |session| {
        run_on(session, Rc::clone(device), precision, |rt| {
            equelle_interp::interpret_by(verified, rt, Options::default(), &mut kernels)?;
            uploaded = rt.counters().uploaded_bytes;
            Ok(())
        })
    });
    (found, uploaded)
}

/// Kernels give the bits of the processor's, which take Cartesian forms there, and copy less to the
/// device than where the grid is arrays.
fn kernels_agree(program: &(SourceMap, Verified), device: &Rc<dyn Device>, precision: Precision, n: &[usize], joined: u32) {
    let (mut words, grid, name) = grid(n, joined);
    words.extend(inputs(&grid, &folder(&name)));
    words.push("output_to_file=false".to_owned());
    let expected = records(&words, &program.1, &program.0, |session| interpret::run_in(Kernels::Lanes, &program.1, session));
    let (found, uploaded) = by_kernels(&words, program, device, precision);
    compare(&format!("{name} in {precision:?} precision"), &found, &expected, BITS);
    words.push("grid_layout=unstructured".to_owned());
    let (_, of_arrays) = by_kernels(&words, program, device, precision);
    assert!(uploaded < of_arrays, "{name}: {uploaded} bytes copied, {of_arrays} for arrays");
}

#[test]
fn cartesian_kernels_have_the_bits_of_the_processor() {
    let Some(device) = device() else { return };
    let program = compiled_in(PROGRAM, OptLevel::O2, Numbers::default());
    for dim in 1..=3 {
        for joined in 0..1 << dim {
            for n in [[8, 6, 5], [2, 2, 2], [3, 2, 4]] {
                kernels_agree(&program, &device, Precision::Double, &n[..dim], joined);
            }
        }
    }
}

#[test]
fn cartesian_kernels_in_single_precision() {
    let Some(device) = device() else { return };
    let numbers = Numbers { precision: ir::Precision::Single, ..Numbers::default() };
    let program = compiled_in(PROGRAM, OptLevel::O2, numbers);
    for joined in [0b001, 0b110, 0b111] {
        kernels_agree(&program, &device, Precision::Single, &[8, 6, 5], joined);
    }
}

/// The operation level reads arrays.
#[test]
fn operations_have_the_bits_of_the_processor() {
    for (n, joined) in [(&[8][..], 0b1), (&[4, 3], 0b10), (&[4, 3, 2], 0b111)] {
        let (mut words, grid, name) = grid(n, joined);
        words.extend(inputs(&grid, &folder(&format!("operations {name}"))));
        agree(PROGRAM, &words.iter().map(String::as_str).collect::<Vec<_>>(), BITS);
    }
}
