//! Keywords of a deck, and what each does.

use super::boxes;
use super::deck::{Array, Deck, FaultSides, Pinch, Section, Side, default_of};
use super::options::DeckOptions;
use super::table::{self, Shape, Use};
use super::text::{DeckPosition, Item, Text, number_of};
use super::units::System;
use super::{nnc, operations, regions};
use crate::error::Error;
use crate::number::{parse_integer, quoted};

/// Reads a deck up to its end, or to where nothing is about the grid any more.
pub(super) fn read(text: &mut Text<'_>, deck: &mut Deck) -> Result<(), Error> {
    while let Some((name, of)) = text.next_keyword()? {
        let name = &name[..];
        match table::find(name) {
            Some((_, Use::End)) => return Ok(()),
            Some((shape, Use::Read)) => keyword(text, deck, name, shape, of)?,
            Some((shape, Use::Harmless)) => {
                skip(text, name, shape, of)?;
                // Flags and titles are not worth a note.
                if matches!(shape, Shape::Record | Shape::Records) {
                    leave_out(deck, "without effect on the grid", name);
                }
            }
            Some((shape, Use::Changes(part))) => {
                deck.changes_answer(text, part, name, of)?;
                skip(text, name, shape, of)?;
            }
            Some((_, Use::Refused(reason))) => return Err(text.error(of, &format!("{name}: {reason}"))),
            None if deck.n[0] == 0 => {
                text.skip(name, of)?;
                leave_out(deck, "not known, left out", name);
            }
            None => match text.perhaps_numbers(name, of, boxes::len(deck.current_box))? {
                Some(values) => store(deck, name, of, deck.current_box, values),
                None => leave_out(deck, "not known, left out", name),
            },
        }
    }
    Ok(())
}

fn leave_out(deck: &mut Deck, reason: &'static str, name: &str) {
    deck.left_out.entry(reason).or_default().insert(name.to_string());
}

/// Leaves out the data of a keyword.
fn skip(text: &mut Text<'_>, name: &str, shape: Shape, of: DeckPosition) -> Result<(), Error> {
    match shape {
        Shape::Flag => text.skip_rest_of_line(),
        Shape::Record => drop(text.record(name, of)?),
        Shape::Records => while !text.record(name, of)?.is_empty() {},
        Shape::Cells | Shape::Own => text.skip(name, of)?,
        Shape::Lines(n) => text.skip_lines(1 + n),
        Shape::Block(end) => text.skip_block(name, of, end)?,
    }
    Ok(())
}

/// Reads a keyword.
fn keyword(text: &mut Text<'_>, deck: &mut Deck, name: &str, shape: Shape, of: DeckPosition) -> Result<(), Error> {
    if shape == Shape::Flag {
        text.skip_rest_of_line();
    }
    match name {
        "INCLUDE" => text.include(of)?,
        "PATHS" => text.read_paths(of)?,
        "ENDINC" => text.end_include(),
        "SKIP" | "SKIP100" => text.skip_block(name, of, "ENDSKIP")?,
        // Text for another simulator than Eclipse 100 is read, as that is whose keywords these are.
        "SKIP300" | "ENDSKIP" => {}
        "GRID" => deck.section = Section::Grid,
        "EDIT" => deck.section = Section::Edit,
        "NONNC" => deck.connections.neighbours_only = Some(of),
        "METRIC" => deck.units.system = Some(System::METRIC),
        "FIELD" => deck.units.system = Some(System::FIELD),
        "LAB" => deck.units.system = Some(System::LAB),
        "SPECGRID" | "DIMENS" => dims(text, deck, name, of)?,
        "COORD" | "ZCORN" => corners(text, deck, name, of)?,
        "GRIDUNIT" => deck.units.grid = Some(grid_unit(text, of)?),
        "GRIDOPTS" => {
            let items = text.record(name, of)?;
            deck.regions.has_multipliers = number_of(text, name, &items, 1)?.is_some_and(|n| n > 0.0);
        }
        "BOX" => {
            let n = deck.need_dims(text, name, of)?;
            let items = text.record(name, of)?;
            deck.current_box = boxes::read(text, name, &items, n, boxes::whole(n))?;
        }
        "ENDBOX" => deck.current_box = boxes::whole(deck.need_dims(text, name, of)?),
        "EQUALS" | "COPY" | "ADD" | "MULTIPLY" | "MAXVALUE" | "MINVALUE" => operations::in_boxes(text, deck, name, of)?,
        "OPERATE" => operations::operate(text, deck, name, of)?,
        "OPERATER" => regions::operate(text, deck, of)?,
        "EQUALREG" | "ADDREG" | "MULTIREG" | "COPYREG" => regions::apply(text, deck, name, of)?,
        "MULTREGT" => regions::between(text, deck, of)?,
        "MULTREGP" => regions::pore_volumes(text, deck, of)?,
        "NNC" | "EDITNNC" | "EDITNNCR" => nnc::read(text, deck, name, of)?,
        "FAULTS" => faults(text, deck, of)?,
        "MULTFLT" => fault_multipliers(text, deck, of)?,
        "MINPV" | "MINPORV" => {
            let items = text.record(name, of)?;
            deck.minpv = Some((number_of(text, name, &items, 0)?.unwrap_or(1e-6), of));
        }
        "PINCH" => deck.connections.pinch = Some(pinch(text, of)?),
        "PINCHOUT" => deck.connections.pinch = Some(Pinch::default()),
        "DXV" | "DYV" | "DZV" => widths(text, deck, name, of)?,
        "DEPTHZ" => {
            let [nx, ny, _] = deck.need_dims(text, name, of)?;
            deck.pillar_tops = Some(text.numbers(name, of, (nx + 1) * (ny + 1))?);
        }
        "TOPS" => {
            deck.need_dims(text, name, of)?;
            // The top of the grid may be given for its first layer alone.
            let mut of_box = deck.current_box;
            let mut n = boxes::len(of_box);
            if of_box == boxes::whole(deck.n) {
                if let Some(values) = text.perhaps_all(of, n) {
                    store(deck, name, of, of_box, values);
                    return Ok(());
                }
                (of_box[2], n) = ([0, 0], n / deck.n[2]);
            }
            let values = text.numbers_or_defaults(name, of, n)?;
            store(deck, name, of, of_box, values);
        }
        _ => {
            deck.need_dims(text, name, of)?;
            let values = text.numbers_or_defaults(name, of, boxes::len(deck.current_box))?;
            store(deck, name, of, deck.current_box, values);
        }
    }
    Ok(())
}

/// Keeps the values of an array; NaN leaves what was there. In EDIT, multipliers of sides add to
/// those of GRID.
fn store(deck: &mut Deck, name: &str, of: DeckPosition, of_box: boxes::Box3, values: Vec<f64>) {
    let multiplies = deck.is_in_edit() && super::multipliers::is_of_faces(name);
    if of_box == boxes::whole(deck.n) && !multiplies && !values.iter().any(|value| value.is_nan()) {
        deck.arrays.insert(name.to_string(), Array { values, place: of, is_listed: true });
        return;
    }
    let n = deck.n;
    let array = deck.array_mut(name, of);
    for (cell, value) in boxes::cells(n, of_box).zip(values).filter(|(_, value)| !value.is_nan()) {
        array.values[cell] = if multiplies { array.values[cell] * value } else { value };
    }
    debug_assert!(default_of(name).is_none_or(f64::is_finite));
}

/// PINCH: thickness, GAP or NOGAP, largest gap, TOPBOT or ALL, TOP or ALL.
fn pinch(text: &mut Text<'_>, of: DeckPosition) -> Result<Pinch, Error> {
    let items = text.record("PINCH", of)?;
    let usual = Pinch::default();
    let choice = |at: usize, words: [&str; 2]| match items.get(at) {
        None | Some(Item::Default) => Ok(None),
        Some(Item::Text(word, place)) => {
            let found = words.iter().position(|known| word.eq_ignore_ascii_case(known));
            let what = || format!("PINCH: {}: expected {} or {}", quoted(word.as_bytes()), words[0], words[1]);
            found.map(|found| Some(found == 1)).ok_or_else(|| text.error(*place, &what()))
        }
    };
    Ok(Pinch {
        thickness: number_of(text, "PINCH", &items, 0)?.unwrap_or(usual.thickness),
        bridges_small: choice(1, ["NOGAP", "GAP"])?.unwrap_or(usual.bridges_small),
        largest_gap: number_of(text, "PINCH", &items, 2)?.unwrap_or(usual.largest_gap),
        resists: choice(3, ["TOPBOT", "ALL"])?.unwrap_or(usual.resists),
        smallest_multiplier: choice(4, ["TOP", "ALL"])?.unwrap_or(usual.smallest_multiplier),
    })
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
    if product.is_none_or(|product| product > deck.options.most_cells) {
        let [nx, ny, nz] = n;
        let what = format!("{keyword}: {nx} x {ny} x {nz} cells are too many: at most {} are read", deck.options.most_cells);
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

fn grid_unit(text: &mut Text<'_>, of: DeckPosition) -> Result<f64, Error> {
    let items = text.record("GRIDUNIT", of)?;
    match items.first() {
        None | Some(Item::Default) => Ok(1.0),
        Some(Item::Text(word, place)) => {
            // The second word, MAP, may also stand in the same quotes.
            DeckOptions::unit(word.split_whitespace().next().unwrap_or("METRES")).ok_or_else(|| {
                let what = format!("GRIDUNIT: {}: expected METRES, FEET or CM", quoted(word.as_bytes()));
                text.error(*place, &what)
            })
        }
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
        deck.faults.entry(name.clone()).or_default().sides.push(FaultSides { cells, side });
    }
}

fn fault_multipliers(text: &mut Text<'_>, deck: &mut Deck, of: DeckPosition) -> Result<(), Error> {
    loop {
        let items = text.record("MULTFLT", of)?;
        let Some(Item::Text(name, place)) = items.first() else { return Ok(()) };
        let section = usize::from(deck.is_in_edit());
        let Some(fault) = deck.faults.get_mut(name) else {
            return Err(text.error(*place, &format!("MULTFLT: there is no fault `{name}`")));
        };
        fault.multipliers.get_or_insert([1.0; 2])[section] = number_of(text, "MULTFLT", &items, 1)?.unwrap_or(1.0);
    }
}
