//! A deck with what decks have: slanted pillars, a fault, layers that pinch out, cells that are not
//! active, porosity and permeability.

use std::fmt::Write as _;

use equelle_runtime::number::write_shortest;

use super::super::args::MakeArgs;
use super::boxes::{BoxShape, random};
use equelle::failure::Failure;

/// Depth of its top, in metres.
const TOP: f64 = 1000.0;
/// Every third layer, from the second on, ends in the middle of the box.
const PINCHED: usize = 3;

/// The text of a deck.
pub(super) fn text(shape: &BoxShape, args: &MakeArgs) -> Result<String, Failure> {
    for (name, value, most) in [("tilt", args.tilt, 100.0), ("throw", args.throw, 1e6), ("inactive", args.inactive, 0.99)] {
        if !(value.abs() <= most && (name != "inactive" || value >= 0.0)) {
            return Err(Failure::usage(format!("--{name}: expected a number up to {most}, found {value}")));
        }
    }
    let [nx, ny, nz] = shape.n;
    let [xs, ys, zs] = [0, 1, 2].map(|axis| shape.axis(axis));
    let n_cells = nx * ny * nz;
    let mut text = String::with_capacity(80 * n_cells);
    text.push_str("-- Made by equellec grid make deck\n");
    // Writing to a String cannot fail, hence the dropped results.
    let _ = write!(text, "SPECGRID\n{nx} {ny} {nz} 1 F /\nGRIDUNIT\nMETRES /\nPINCH\n/\n");
    let bottom = TOP + shape.size[2];
    let pillars = ys.iter().flat_map(|&y| xs.iter().map(move |&x| [x, y, TOP, x + shape.shear * (bottom - TOP), y, bottom]));
    array(&mut text, "COORD", pillars.flatten());
    // On slanted pillars, depths that differ from pillar to pillar move corners along x.
    let narrowest = xs.windows(2).map(|ends| ends[1] - ends[0]).fold(f64::INFINITY, f64::min);
    let uneven = (0.125 * narrowest / (shape.shear.abs() * shape.size[2])).min(0.1);
    // Depth of what is above the layer `k` at a pillar, of a cell in the column `i`.
    let surfaces: Vec<f64> = ys
        .iter()
        .flat_map(|_| &xs)
        .enumerate()
        .flat_map(|(pillar, &x)| depths(shape, &zs, x, 1.0 - uneven + 2.0 * uneven * random(pillar)))
        .collect();
    let shift = |i: usize, y: f64, x: f64| {
        let throw = if i < nx / 2 { 0.0 } else { args.throw * (1.0 - 1.25 * y / shape.size[1]) };
        args.tilt * x + throw
    };
    let corners = (0..2 * nz).flat_map(|z| (0..2 * ny).flat_map(move |y| (0..2 * nx).map(move |x| [x, y, z])));
    let depth = |[x, y, z]: [usize; 3]| {
        let (i, j, k) = (x.div_ceil(2), y.div_ceil(2), z.div_ceil(2));
        surfaces[(j * (nx + 1) + i) * (nz + 1) + k] + shift(x / 2, ys[j], xs[i])
    };
    array(&mut text, "ZCORN", corners.map(depth));
    let cells = || 0..n_cells;
    array(&mut text, "ACTNUM", cells().map(|cell| f64::from(u8::from(random(3 * cell) >= args.inactive))));
    array(&mut text, "PORO", cells().map(|cell| 0.1 + 0.2 * rounded(random(3 * cell + 1))));
    // Millidarcy, over three decades.
    array(&mut text, "PERMX", cells().map(|cell| rounded(10.0_f64.powf(3.0 * random(3 * cell + 2)))));
    text.push_str("COPY\nPERMX PERMY /\nPERMX PERMZ /\n/\nMULTIPLY\nPERMZ 0.1 /\n/\n");
    if nx > 1 {
        let _ = write!(text, "FAULTS\nMIDDLE {0} {0} 1 {ny} 1 {nz} I /\n/\n", nx / 2);
    }
    Ok(text)
}

/// Depths between layers at a pillar, `uneven` times as thick as usual, before it is tilted; a
/// layer that pinches out has no thickness from the middle on.
fn depths(shape: &BoxShape, zs: &[f64], x: f64, uneven: f64) -> Vec<f64> {
    let part = (1.0 - 2.0 * x / shape.size[0]).max(0.0);
    let mut depth = TOP;
    let mut depths = vec![depth];
    for (k, ends) in zs.windows(2).enumerate() {
        depth += (ends[1] - ends[0]) * uneven * if k % PINCHED == 1 { part } else { 1.0 };
        depths.push(depth);
    }
    depths
}

/// To six digits behind the point, as decks have them.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn array(text: &mut String, name: &str, values: impl Iterator<Item = f64>) {
    text.push_str(name);
    text.push('\n');
    for (at, value) in values.enumerate() {
        text.push(if at == 0 {
            ' '
        } else if at % 6 == 0 {
            '\n'
        } else {
            ' '
        });
        write_shortest(text, value);
    }
    text.push_str(" /\n");
}
