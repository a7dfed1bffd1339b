//! Keywords of a deck, and what each does.

use super::boxes::{self, Operation};
use super::deck::{Array, Deck, FaultSides, Side};
use super::names::{CELL_ARRAYS, ENDS, FLAGS};
use super::text::{DeckPosition, Item, Text, number};
use crate::error::Error;
use crate::number::{parse_integer, quoted};

pub(super) const FEET: f64 = 0.3048;

/// How a deck is read.
pub(super) struct Rules {
    pub ignore_nnc: bool,
}

/// Reads a deck up to its end, or to where nothing is about the grid any more.
pub(super) fn read(text: &mut Text<'_>, deck: &mut Deck, rules: &Rules) -> Result<(), Error> {
    while let Some((keyword, of)) = text.next_keyword()? {
        let name = &keyword[..];
        match name {
            "INCLUDE" => text.include(of)?,
            "SPECGRID" | "DIMENS" => dims(text, deck, name, of)?,
            "COORD" | "ZCORN" => corners(text, deck, name, of)?,
            "BOX" => {
                let n = deck.need_dims(text, name, of)?;
                let items = text.record(name, of)?;
                deck.current_box = boxes::read(text, name, &items, n, boxes::whole(n))?;
            }
            "ENDBOX" => deck.current_box = boxes::whole(deck.need_dims(text, name, of)?),
            "EQUALS" => boxes::apply(text, deck, Operation::Equals, name, of)?,
            "COPY" => boxes::apply(text, deck, Operation::Copy, name, of)?,
            "ADD" => boxes::apply(text, deck, Operation::Add, name, of)?,
            "MULTIPLY" => boxes::apply(text, deck, Operation::Multiply, name, of)?,
            "FAULTS" => faults(text, deck, of)?,
            "MULTFLT" => fault_multipliers(text, deck, of)?,
            "MINPV" => {
                let items = text.record(name, of)?;
                deck.minpv = Some((number_of(text, name, &items, 0)?.unwrap_or(1e-6), of));
            }
            "PINCH" => {
                let items = text.record(name, of)?;
                deck.pinch = Some(number_of(text, name, &items, 0)?.unwrap_or(0.001));
            }
            "GRIDUNIT" => deck.grid_unit = Some(grid_unit(text, of)?),
            "METRIC" => deck.deck_unit = Some(1.0),
            "FIELD" => deck.deck_unit = Some(FEET),
            "LAB" => deck.deck_unit = Some(0.01),
            "COORDSYS" | "MAPAXES" | "MAPUNITS" | "GDORIENT" => text.skip(name, of)?,
            "NNC" | "EDITNNC" if rules.ignore_nnc => {
                deck.notes.push(format!("{name} is left out: its connections have no geometry (nnc=ignore)"));
                text.skip(name, of)?;
            }
            "NNC" => {
                let error = text.error(of, "NNC: connections without geometry are no faces of a grid");
                return Err(error.hint("leave them out with nnc=ignore: nothing flows there then"));
            }
            "CARFIN" | "RADFIN" | "AMALGAM" => return Err(text.error(of, &format!("{name}: local refinement of grids is not read"))),
            "TITLE" => text.skip_lines(2),
            _ if ENDS.contains(&name) => return Ok(()),
            _ if FLAGS.contains(&name) => {}
            "DXV" | "DYV" | "DZV" => widths(text, deck, name, of)?,
            _ if CELL_ARRAYS.contains(&name) => {
                deck.need_dims(text, name, of)?;
                // The top of the grid may be given for its first layer alone.
                let is_tops = name == "TOPS" && deck.current_box == boxes::whole(deck.n);
                let of_box = if is_tops { [deck.current_box[0], deck.current_box[1], [0, 0]] } else { deck.current_box };
                let n = boxes::len(of_box);
                let values = if is_tops { tops(text, of, n, deck.n[2])? } else { text.numbers(name, of, n)? };
                let of_box = if values.len() == n { of_box } else { deck.current_box };
                store(deck, name, of, of_box, values);
            }
            _ if deck.n[0] == 0 => text.skip(name, of)?,
            _ => match text.perhaps_numbers(name, of, boxes::len(deck.current_box))? {
                Some(values) => store(deck, name, of, deck.current_box, values),
                None => deck.notes.push(format!("{name} is left out: it is no array with a number for each cell")),
            },
        }
    }
    Ok(())
}

/// TOPS of one layer or of all.
fn tops(text: &mut Text<'_>, of: DeckPosition, n: usize, n_layers: usize) -> Result<Vec<f64>, Error> {
    match text.perhaps_all(of, n * n_layers) {
        Some(values) => Ok(values),
        None => text.numbers("TOPS", of, n),
    }
}

fn store(deck: &mut Deck, name: &str, of: DeckPosition, of_box: boxes::Box3, values: Vec<f64>) {
    if of_box == boxes::whole(deck.n) {
        deck.arrays.insert(name.to_string(), Array { values, place: of, is_listed: true });
    } else {
        deck.set(name, of, of_box, &values);
    }
}

fn dims(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    let items = text.record(keyword, of)?;
    let mut n = [0; 3];
    for (axis, n) in n.iter_mut().enumerate() {
        let Some(Item::Text(word, place)) = items.get(axis) else {
            return Err(text.error(of, &format!("{keyword}: expected three numbers of cells")));
        };
        let count = parse_integer(word.as_bytes()).ok().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
        *n = count.ok_or_else(|| text.error(*place, &format!("{keyword}: {} is not a number of cells", quoted(word.as_bytes()))))?;
    }
    let product = n[0].checked_mul(n[1]).and_then(|product| product.checked_mul(n[2]));
    if product.is_none_or(|product| product > deck.most_cells) {
        let [nx, ny, nz] = n;
        let what = format!("{keyword}: {nx} x {ny} x {nz} cells are too many: at most {} are read", deck.most_cells);
        return Err(text.error(of, &what));
    }
    if keyword == "SPECGRID" {
        if let Some(Item::Text(reservoirs, place)) = items.get(3)
            && reservoirs != "1"
        {
            return Err(text.error(*place, "SPECGRID: expected 1 coordinate line system"));
        }
        if let Some(Item::Text(radial, place)) = items.get(4)
            && !radial.eq_ignore_ascii_case("F")
        {
            return Err(text.error(*place, "SPECGRID: expected `F`: radial coordinates are not read"));
        }
    }
    if deck.n[0] > 0 && deck.n != n {
        let what = format!("{keyword}: expected the {} x {} x {} cells that were given before", deck.n[0], deck.n[1], deck.n[2]);
        return Err(text.error(of, &what));
    }
    (deck.n, deck.current_box) = (n, boxes::whole(n));
    Ok(())
}

fn corners(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    let n = deck.need_dims(text, keyword, of)?;
    let is_coord = keyword == "COORD";
    let expected = if is_coord { 6 * (n[0] + 1) * (n[1] + 1) } else { 8 * deck.n_cells() };
    let array = Some(Array { values: text.numbers(keyword, of, expected)?, place: of, is_listed: true });
    if is_coord {
        deck.coord = array;
    } else {
        deck.zcorn = array;
    }
    Ok(())
}

/// Widths of all cells along an axis.
fn widths(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    let n = deck.need_dims(text, keyword, of)?;
    let axis = ["DXV", "DYV", "DZV"].iter().position(|name| *name == keyword).unwrap_or(0);
    let widths = text.numbers(keyword, of, n[axis])?;
    let stride = [1, n[0], n[0] * n[1]][axis];
    let values = (0..deck.n_cells()).map(|cell| widths[cell / stride % n[axis]]).collect();
    deck.arrays.insert(keyword[..2].to_string(), Array { values, place: of, is_listed: false });
    Ok(())
}

/// A number of a record, unless it is left out.
fn number_of(text: &Text<'_>, keyword: &str, items: &[Item], at: usize) -> Result<Option<f64>, Error> {
    match items.get(at) {
        None | Some(Item::Default) => Ok(None),
        Some(Item::Text(word, place)) => {
            let number = number(word.as_bytes()).filter(|&number| number >= 0.0);
            let what = || format!("{keyword}: {} is not a number of 0 or more", quoted(word.as_bytes()));
            number.map(Some).ok_or_else(|| text.error(*place, &what()))
        }
    }
}

fn grid_unit(text: &mut Text<'_>, of: DeckPosition) -> Result<f64, Error> {
    let items = text.record("GRIDUNIT", of)?;
    match items.first() {
        None | Some(Item::Default) => Ok(1.0),
        Some(Item::Text(word, place)) => {
            // The second word, MAP, may also stand in the same quotes.
            unit(word.split_whitespace().next().unwrap_or("METRES")).ok_or_else(|| {
                let what = format!("GRIDUNIT: {}: expected METRES, FEET or CM", quoted(word.as_bytes()));
                text.error(*place, &what)
            })
        }
    }
}

/// Metres in a unit.
pub(super) fn unit(name: &str) -> Option<f64> {
    match &name.to_ascii_uppercase()[..] {
        "METRES" | "METRE" | "METERS" | "METER" | "M" => Some(1.0),
        "FEET" | "FOOT" | "FT" => Some(FEET),
        "CM" | "CENTIMETRES" => Some(0.01),
        _ => None,
    }
}

fn faults(text: &mut Text<'_>, deck: &mut Deck, of: DeckPosition) -> Result<(), Error> {
    let n = deck.need_dims(text, "FAULTS", of)?;
    loop {
        let items = text.record("FAULTS", of)?;
        let Some(Item::Text(name, place)) = items.first() else { return Ok(()) };
        let (Some(Item::Text(side, side_place)), true) = (items.get(7), items.len() == 8) else {
            return Err(text.error(*place, "FAULTS: expected a name, six ends of a box and a side such as `I` or `J-`"));
        };
        let cells = boxes::read(text, "FAULTS", &items[1..7], n, boxes::whole(n))?;
        let side = Side::named(side).ok_or_else(|| {
            text.error(*side_place, &format!("FAULTS: {}: expected a side: I, J, K, I-, J- or K-", quoted(side.as_bytes())))
        })?;
        deck.faults.entry(name.clone()).or_default().push(FaultSides { cells, side });
    }
}

fn fault_multipliers(text: &mut Text<'_>, deck: &mut Deck, of: DeckPosition) -> Result<(), Error> {
    loop {
        let items = text.record("MULTFLT", of)?;
        let Some(Item::Text(name, place)) = items.first() else { return Ok(()) };
        if !deck.faults.contains_key(name) {
            return Err(text.error(*place, &format!("MULTFLT: there is no fault `{name}`")));
        }
        let multiplier = number_of(text, "MULTFLT", &items, 1)?.unwrap_or(1.0);
        deck.fault_multipliers.insert(name.clone(), multiplier);
    }
}
