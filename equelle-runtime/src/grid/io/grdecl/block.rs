//! Corners of a grid of boxes: DX, DY, DZ and the depth of the top.

use super::deck::{Array, Deck};
use super::text::Text;
use crate::error::Error;

/// COORD and ZCORN of boxes, in the unit of the deck. Widths may differ between rows: a pillar is
/// where the cell of the first layer with the same indices puts it, or the last one of a row. That
/// is how OPM Flow places them.
pub(super) fn corners(text: &mut Text<'_>, deck: &mut Deck) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let [nx, ny, nz] = deck.n;
    let [dx, dy, dz] = [take(text, deck, "DX")?, take(text, deck, "DY")?, take(text, deck, "DZ")?];
    let mut coord = Vec::with_capacity(6 * (nx + 1) * (ny + 1));
    let last = dz.values.iter().sum::<f64>() / (nx * ny) as f64 + 1.0;
    let mut y = vec![0.0; nx + 1];
    for j in 0..=ny {
        let mut x = 0.0;
        for (i, y) in y.iter_mut().enumerate() {
            coord.extend([x, *y, 0.0, x, *y, last]);
            let (row, column) = (j.min(ny - 1), i.min(nx - 1));
            if i < nx {
                x += dx.values[row * nx + i];
            }
            if j < ny {
                *y += dy.values[j * nx + column];
            }
        }
    }
    let tops = tops(text, deck)?;
    let mut zcorn = vec![0.0; 8 * deck.n_cells()];
    // Depths of the bottoms of the cells above, by column and corner.
    let mut above = vec![[0.0; 4]; nx * ny];
    for cell in 0..deck.n_cells() {
        let (i, j, k) = (cell % nx, cell / nx % ny, cell / (nx * ny));
        let column = &mut above[j * nx + i];
        if let Some(tops) = tops(cell, k > 0) {
            *column = tops;
        }
        for corner in 0..8 {
            let [x, y, z] = [2 * i + (corner & 1), 2 * j + (corner >> 1 & 1), 2 * k + (corner >> 2)];
            if corner >> 2 == 1 {
                column[corner & 3] += dz.values[cell];
            }
            zcorn[(z * 2 * ny + y) * 2 * nx + x] = column[corner & 3];
        }
    }
    debug_assert!(nz > 0);
    Ok((coord, zcorn))
}

/// Depths of the top of a cell, at its four pillars; `None` for the bottom of the cell above it.
type Tops = Box<dyn Fn(usize, bool) -> Option<[f64; 4]>>;

/// From TOPS, or from DEPTHZ.
fn tops(text: &mut Text<'_>, deck: &mut Deck) -> Result<Tops, Error> {
    let [nx, ny, _] = deck.n;
    let Some(tops) = deck.arrays.remove("TOPS") else {
        let Some(depths) = deck.pillar_tops.take() else {
            return Err(text.error_of_deck("expected TOPS or DEPTHZ beside DX, found neither"));
        };
        return Ok(Box::new(move |cell, is_below| {
            let (i, j) = (cell % nx, cell / nx % ny);
            (!is_below).then(|| std::array::from_fn(|corner| depths[(j + (corner >> 1)) * (nx + 1) + i + (corner & 1)]))
        }));
    };
    if let Some(cell) = tops.values[..nx * ny].iter().position(|top| top.is_nan()) {
        return Err(text.error(tops.place, &format!("TOPS has no value for cell ({}, {}, 1)", cell % nx + 1, cell / nx + 1)));
    }
    Ok(Box::new(move |cell, is_below| {
        let top = tops.values[cell];
        // The same depth for all layers is meant for the first one.
        let is_repeated = is_below && (top.is_nan() || top == tops.values[cell - nx * ny]);
        (!is_repeated).then_some([top; 4])
    }))
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
