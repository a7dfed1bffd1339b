//! Boxes of cells.

use super::text::{Item, Text};
use crate::error::Error;
use crate::number::{parse_integer, quoted};

/// First and last cell along each axis, from 0.
pub(super) type Box3 = [[usize; 2]; 3];

/// A cell by its indices from 1.
pub(super) fn cell_name(n: [usize; 3], cell: usize) -> String {
    format!("cell ({}, {}, {})", cell % n[0] + 1, cell / n[0] % n[1] + 1, cell / (n[0] * n[1]) + 1)
}

/// All cells.
pub(super) fn whole(n: [usize; 3]) -> Box3 {
    n.map(|n| [0, n - 1])
}

pub(super) fn len(of: Box3) -> usize {
    of.iter().map(|[first, last]| last - first + 1).product()
}

/// Cells of a box, the first axis fastest.
pub(super) fn cells(n: [usize; 3], of: Box3) -> impl Iterator<Item = usize> {
    let [i, j, k] = of;
    let rows = (k[0]..=k[1]).flat_map(move |k| (j[0]..=j[1]).map(move |j| (k * n[1] + j) * n[0]));
    rows.flat_map(move |row| row + i[0]..=row + i[1])
}

/// Up to six ends of a box; those that are left out stay as they were.
pub(super) fn read(text: &Text<'_>, keyword: &str, items: &[Item], n: [usize; 3], before: Box3) -> Result<Box3, Error> {
    let mut of = before;
    for (at, item) in items.iter().enumerate() {
        let Item::Text(word, place) = item else { continue };
        let end = parse_integer(word.as_bytes()).ok().and_then(|end| usize::try_from(end).ok());
        let (axis, axis_name) = (at / 2, ["I", "J", "K"][(at / 2).min(2)]);
        if axis > 2 {
            return Err(text.error(*place, &format!("{keyword}: {} after the six ends of a box", quoted(word.as_bytes()))));
        }
        of[axis][at % 2] = end.filter(|end| (1..=n[axis]).contains(end)).ok_or_else(|| {
            let what =
                format!("{keyword}: {} is outside of the grid, which has {axis_name} from 1 to {}", quoted(word.as_bytes()), n[axis]);
            text.error(*place, &what)
        })? - 1;
    }
    for (axis, [first, last]) in of.iter().enumerate() {
        if first > last {
            let place = items.iter().find_map(|item| if let Item::Text(_, place) = item { Some(*place) } else { None });
            let what = format!("{keyword}: the box ends before it begins: {} from {} to {}", ["I", "J", "K"][axis], first + 1, last + 1);
            return Err(place.map_or_else(|| text.error_of_deck(&what), |place| text.error(place, &what)));
        }
    }
    Ok(of)
}
