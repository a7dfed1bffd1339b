//! Boxes of cells, and the keywords that compute arrays in them: EQUALS, COPY, ADD, MULTIPLY.

use super::deck::Deck;
use super::text::{DeckPosition, Item, Text, number};
use crate::error::Error;
use crate::number::{parse_integer, quoted};

/// First and last cell along each axis, from 0.
pub(super) type Box3 = [[usize; 2]; 3];

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

/// What a keyword does with each cell of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Equals,
    Copy,
    Add,
    Multiply,
}

/// The records of a keyword, up to an empty one.
pub(super) fn apply(text: &mut Text<'_>, deck: &mut Deck, operation: Operation, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    let n = deck.need_dims(text, keyword, of)?;
    let mut cells_of = deck.current_box;
    loop {
        let items = text.record(keyword, of)?;
        let (Some(Item::Text(name, place)), Some(Item::Text(second, second_place))) = (items.first(), items.get(1)) else {
            return match items.first() {
                None => Ok(()),
                Some(Item::Text(_, place)) => Err(text.error(*place, &format!("{keyword}: expected a name and a value"))),
                Some(Item::Default) => Err(text.error(of, &format!("{keyword}: expected the name of an array"))),
            };
        };
        let name = name.to_ascii_uppercase();
        cells_of = read(text, keyword, &items[2..], n, cells_of)?;
        let unknown = |name: &str, place| text.error(place, &format!("{keyword}: array `{name}` has no values yet"));
        if operation == Operation::Copy {
            let from = deck.arrays.get(&name).ok_or_else(|| unknown(&name, *place))?;
            let values: Vec<f64> = cells(n, cells_of).map(|cell| from.values[cell]).collect();
            deck.set(&second.to_ascii_uppercase(), *second_place, cells_of, &values);
            continue;
        }
        let value = number(second.as_bytes())
            .ok_or_else(|| text.error(*second_place, &format!("{keyword}: {} is not a number", quoted(second.as_bytes()))))?;
        if operation == Operation::Equals {
            let array = deck.array_mut(&name, *place);
            cells(n, cells_of).for_each(|cell| array.values[cell] = value);
            continue;
        }
        let array = deck.arrays.get_mut(&name).ok_or_else(|| unknown(&name, *place))?;
        for cell in cells(n, cells_of) {
            let old = array.values[cell];
            array.values[cell] = if operation == Operation::Add { old + value } else { old * value };
        }
    }
}
