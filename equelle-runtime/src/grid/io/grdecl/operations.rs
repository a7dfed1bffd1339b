//! Keywords that compute arrays in boxes and regions: EQUALS, COPY, ADD, MULTIPLY, MAXVALUE,
//! MINVALUE, OPERATE and those of regions.

use super::boxes;
use super::deck::Deck;
use super::table::DeckFeature;
use super::text::{DeckPosition, Item, Text, number};
use crate::error::Error;
use crate::number::quoted;

/// A function of the value of a second array, with two numbers `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    Copy,
    /// a x + b
    MultiplyAndAdd,
    /// old + a x^b
    Polynomial,
    /// 10^(a + b x)
    Exponential,
    Log10,
    LogE,
    Inverse,
    /// a x
    Scale,
    /// a + x
    Shift,
    /// min(a, x)
    Min,
    /// max(a, x)
    Max,
    /// a x^b
    Power,
    Magnitude,
    /// old x
    Product,
}

impl Map {
    fn named(name: &str) -> Option<Map> {
        Some(match name {
            "COPY" => Map::Copy,
            "MULTA" => Map::MultiplyAndAdd,
            "POLY" => Map::Polynomial,
            "SLOG" => Map::Exponential,
            "LOG10" => Map::Log10,
            "LOGE" => Map::LogE,
            "INV" => Map::Inverse,
            "MULTX" => Map::Scale,
            "ADDX" => Map::Shift,
            "MAXLIM" => Map::Min,
            "MINLIM" => Map::Max,
            "MULTP" => Map::Power,
            "ABS" => Map::Magnitude,
            "MULTIPLY" => Map::Product,
            _ => return None,
        })
    }

    fn of(self, old: f64, x: f64, a: f64, b: f64) -> f64 {
        match self {
            Map::Copy => x,
            Map::MultiplyAndAdd => a * x + b,
            Map::Polynomial => old + a * x.powf(b),
            Map::Exponential => 10.0_f64.powf(a + b * x),
            Map::Log10 => x.log10(),
            Map::LogE => x.ln(),
            Map::Inverse => 1.0 / x,
            Map::Scale => a * x,
            Map::Shift => a + x,
            Map::Min => x.min(a),
            Map::Max => x.max(a),
            Map::Power => a * x.powf(b),
            Map::Magnitude => x.abs(),
            Map::Product => old * x,
        }
    }

    /// True if the result has something of the value before.
    fn reads_old(self) -> bool {
        matches!(self, Map::Polynomial | Map::Product)
    }
}

/// A change of the values of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Set(f64),
    Add(f64),
    Multiply(f64),
    /// The smaller of the value and this.
    Min(f64),
    /// The larger of both.
    Max(f64),
    From {
        source: String,
        map: Map,
        a: f64,
        b: f64,
    },
}

/// Changes the values of some cells.
///
/// # Errors
/// An array that has no values and needs some.
pub(super) fn change(
    text: &Text<'_>,
    deck: &mut Deck,
    keyword: &str,
    place: DeckPosition,
    name: &str,
    cells: impl Iterator<Item = usize>,
    change: &Change,
) -> Result<(), Error> {
    let unknown = |name: &str| text.error(place, &format!("{keyword}: array `{name}` has no values yet"));
    if let Some(axis) = ["TRANX", "TRANY", "TRANZ"].iter().position(|known| *known == name) {
        // A multiple of what geometry gives is a multiplier of the side.
        let multiplier = ["MULTX", "MULTY", "MULTZ"][axis];
        let factor = match *change {
            Change::Multiply(factor) => factor,
            Change::Set(0.0) => 0.0,
            _ => return deck.changes_answer(text, DeckFeature::Transmissibility, name, place),
        };
        let array = deck.array_mut(multiplier, place);
        cells.for_each(|cell| array.values[cell] *= factor);
        return Ok(());
    }
    if let Change::From { source, map, a, b } = change {
        let from = deck.arrays.get(source).ok_or_else(|| unknown(source))?.values.clone();
        if map.reads_old() && !deck.arrays.contains_key(name) {
            return Err(unknown(name));
        }
        let array = deck.array_mut(name, place);
        cells.for_each(|cell| array.values[cell] = map.of(array.values[cell], from[cell], *a, *b));
        return Ok(());
    }
    if !matches!(change, Change::Set(_)) && super::deck::default_of(name).is_none() && !deck.arrays.contains_key(name) {
        return Err(unknown(name));
    }
    let array = deck.array_mut(name, place);
    for cell in cells {
        let value = &mut array.values[cell];
        *value = match *change {
            Change::Set(to) => to,
            Change::Add(by) => *value + by,
            Change::Multiply(by) => *value * by,
            Change::Min(most) => value.min(most),
            Change::Max(least) => value.max(least),
            Change::From { .. } => *value,
        };
    }
    Ok(())
}

/// Records of an array, a value or a second array, and a box, up to an empty one. Ends of a box
/// that a record leaves out are those of the record before.
pub(super) fn in_boxes(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
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
        cells_of = boxes::read(text, keyword, &items[2..], n, cells_of)?;
        let cells = boxes::cells(n, cells_of);
        let name = name.to_ascii_uppercase();
        if keyword == "COPY" {
            let copy = Change::From { source: name.clone(), map: Map::Copy, a: 1.0, b: 0.0 };
            // A missing source is named where it stands.
            if !deck.arrays.contains_key(&name) {
                return Err(text.error(*place, &format!("{keyword}: array `{name}` has no values yet")));
            }
            change(text, deck, keyword, *second_place, &second.to_ascii_uppercase(), cells, &copy)?;
            continue;
        }
        let value = number(second.as_bytes())
            .ok_or_else(|| text.error(*second_place, &format!("{keyword}: {} is not a number", quoted(second.as_bytes()))))?;
        let of_value = match keyword {
            "EQUALS" => Change::Set(value),
            "ADD" => Change::Add(value),
            "MULTIPLY" => Change::Multiply(value),
            "MAXVALUE" => Change::Min(value),
            _ => Change::Max(value),
        };
        change(text, deck, keyword, *place, &name, cells, &of_value)?;
    }
}

/// OPERATE: records of an array, a box, a function, a second array and two numbers.
pub(super) fn operate(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    let n = deck.need_dims(text, keyword, of)?;
    let mut cells_of = deck.current_box;
    loop {
        let items = text.record(keyword, of)?;
        if items.is_empty() {
            return Ok(());
        }
        let Some(Item::Text(name, place)) = items.first() else {
            return Err(text.error(of, &format!("{keyword}: expected the name of an array")));
        };
        cells_of = boxes::read(text, keyword, items.get(1..7).unwrap_or(&[]), n, cells_of)?;
        let by = function(text, deck, keyword, of, items.get(7..).unwrap_or(&[]))?;
        change(text, deck, keyword, *place, &name.to_ascii_uppercase(), boxes::cells(n, cells_of), &by)?;
    }
}

/// A function, a second array and two numbers.
pub(super) fn function(text: &Text<'_>, deck: &Deck, keyword: &str, of: DeckPosition, items: &[Item]) -> Result<Change, Error> {
    let word = |at: usize, what: &str| match items.get(at) {
        Some(Item::Text(word, place)) => Ok((word.to_ascii_uppercase(), *place)),
        _ => Err(text.error(of, &format!("{keyword}: expected {what}"))),
    };
    let (function, place) = word(0, "a function such as MULTX, ADDX or COPY")?;
    let map = Map::named(&function).ok_or_else(|| {
        text.error(place, &format!("{keyword}: {}: expected a function such as MULTX, ADDX or COPY", quoted(function.as_bytes())))
    })?;
    let (source, place) = word(1, "a second array behind the function")?;
    let number_at = |at: usize, otherwise: f64| match items.get(at) {
        Some(Item::Text(word, place)) => {
            number(word.as_bytes()).ok_or_else(|| text.error(*place, &format!("{keyword}: {} is not a number", quoted(word.as_bytes()))))
        }
        _ => Ok(otherwise),
    };
    let (a, b) = (number_at(2, 1.0)?, number_at(3, 0.0)?);
    if !deck.arrays.contains_key(&source) {
        return Err(text.error(place, &format!("{keyword}: array `{source}` has no values yet")));
    }
    Ok(Change::From { source, map, a, b })
}
