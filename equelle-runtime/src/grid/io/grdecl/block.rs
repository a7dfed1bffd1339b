//! Corners of a grid of boxes: DX, DY, DZ and the depth of the top.

use super::deck::{Array, Deck};
use super::text::Text;
use crate::error::Error;

/// Widths along an axis that differ by less than this part are equal.
const EQUAL: f64 = 1e-6;

/// COORD and ZCORN of boxes, in the unit of the deck.
pub(super) fn corners(text: &mut Text<'_>, deck: &mut Deck) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let [nx, ny, nz] = deck.n;
    let mut x = vec![0.0];
    let mut y = vec![0.0];
    for (axis, (name, nodes)) in [("DX", &mut x), ("DY", &mut y)].into_iter().enumerate() {
        let array = take(text, deck, name)?;
        let stride = [1, nx][axis];
        for at in 0..deck.n[axis] {
            nodes.push(nodes[at] + array.values[at * stride]);
        }
        let varies = |cell: usize| {
            let first = array.values[cell / stride % deck.n[axis] * stride];
            (array.values[cell] - first).abs() > EQUAL * first
        };
        if let Some(cell) = (0..deck.n_cells()).find(|&cell| varies(cell)) {
            let place = if array.is_listed { text.place_of(array.place, cell) } else { array.place };
            let axis_name = ["I", "J"][axis];
            let error = text.error(place, &format!("{name}[{cell}]: the width differs between cells of the same {axis_name}"));
            return Err(error.hint("boxes of different widths side by side do not fit: give COORD and ZCORN"));
        }
    }
    let dz = take(text, deck, "DZ")?;
    let Some(tops) = deck.arrays.remove("TOPS") else {
        return Err(text.error_of_deck("expected TOPS beside DX, found none"));
    };
    let mut coord = Vec::with_capacity(6 * (nx + 1) * (ny + 1));
    let last = dz.values.iter().sum::<f64>() / (nx * ny) as f64 + 1.0;
    for &y in &y {
        for &x in &x {
            coord.extend([x, y, 0.0, x, y, last]);
        }
    }
    let mut zcorn = vec![0.0; 8 * deck.n_cells()];
    // The bottom of the cell above.
    let mut bottoms = vec![0.0; nx * ny];
    for cell in 0..deck.n_cells() {
        let (i, j, k) = (cell % nx, cell / nx % ny, cell / (nx * ny));
        let top = tops.values.get(cell).copied().filter(|top| !top.is_nan());
        let top = top.or_else(|| (k > 0).then_some(bottoms[j * nx + i]));
        let Some(top) = top else {
            return Err(text.error(tops.place, &format!("TOPS has no value for cell ({}, {}, 1)", i + 1, j + 1)));
        };
        let bottom = top + dz.values[cell];
        bottoms[j * nx + i] = bottom;
        for corner in 0..8 {
            let [x, y, z] = [2 * i + (corner & 1), 2 * j + (corner >> 1 & 1), 2 * k + (corner >> 2)];
            zcorn[(z * 2 * ny + y) * 2 * nx + x] = if corner >> 2 == 0 { top } else { bottom };
        }
    }
    debug_assert!(nz > 0);
    Ok((coord, zcorn))
}

/// An array of widths, all of which must be given; those of DX and DY above 0.
fn take(text: &mut Text<'_>, deck: &mut Deck, name: &str) -> Result<Array, Error> {
    let Some(array) = deck.arrays.remove(name) else {
        return Err(text.error_of_deck(&format!("expected {name} for a grid of boxes, found none")));
    };
    let fits = |width: f64| if name == "DZ" { width >= 0.0 } else { width > 0.0 };
    match array.values.iter().position(|&width| !fits(width)) {
        None => Ok(array),
        Some(cell) => {
            let place = if array.is_listed { text.place_of(array.place, cell) } else { array.place };
            Err(text.error(place, &format!("{name}[{cell}]: {}: expected a width", array.values[cell])))
        }
    }
}
