//! Regions of cells: the keywords that compute arrays in them, and multipliers between them.

use super::deck::{BetweenRegions, Deck, RegionSet};
use super::operations::{self, Change};
use super::text::{DeckPosition, Item, Text, number, number_of};
use crate::error::Error;
use crate::number::quoted;

/// The set that a letter names, or that GRIDOPTS makes the usual one.
fn set_of(text: &Text<'_>, deck: &Deck, keyword: &str, item: Option<&Item>) -> Result<RegionSet, Error> {
    match item {
        None | Some(Item::Default) => Ok(if deck.regions.has_multipliers { RegionSet::Multiplier } else { RegionSet::Flux }),
        Some(Item::Text(word, place)) => match &word.to_ascii_uppercase()[..] {
            "M" => Ok(RegionSet::Multiplier),
            "F" => Ok(RegionSet::Flux),
            "O" => Ok(RegionSet::Operation),
            _ => Err(text.error(*place, &format!("{keyword}: {}: expected M, F or O", quoted(word.as_bytes())))),
        },
    }
}

/// A region number from 0 on, which has to be given.
fn given_region(text: &Text<'_>, keyword: &str, of: DeckPosition, item: Option<&Item>) -> Result<i64, Error> {
    let Some(Item::Text(word, place)) = item else { return Err(text.error(of, &format!("{keyword}: expected the number of a region"))) };
    let number = crate::number::parse_integer(word.as_bytes()).ok().filter(|&number| number >= 0);
    number.ok_or_else(|| text.error(*place, &format!("{keyword}: {} is not the number of a region", quoted(word.as_bytes()))))
}

/// A region number; `None` if it is left out or below 1.
fn region(text: &Text<'_>, keyword: &str, item: Option<&Item>) -> Result<Option<i64>, Error> {
    let Some(Item::Text(word, place)) = item else { return Ok(None) };
    let number = crate::number::parse_integer(word.as_bytes());
    let number =
        number.map_err(|_| text.error(*place, &format!("{keyword}: {} is not the number of a region", quoted(word.as_bytes()))))?;
    Ok((number > 0).then_some(number))
}

/// Numbers of the regions of all cells; an array that the deck does not have is 1 everywhere.
fn numbers(deck: &Deck, set: RegionSet) -> Vec<i64> {
    match deck.arrays.get(set.array()) {
        Some(array) => array.values.iter().map(|&value| if value.is_nan() { 1 } else { value as i64 }).collect(),
        None => vec![1; deck.n_cells()],
    }
}

/// EQUALREG, ADDREG, MULTIREG and COPYREG: records of an array, a value or a second array, a region
/// and its set.
pub(super) fn apply(text: &mut Text<'_>, deck: &mut Deck, keyword: &str, of: DeckPosition) -> Result<(), Error> {
    deck.need_dims(text, keyword, of)?;
    loop {
        let items = text.record(keyword, of)?;
        let [Item::Text(name, name_place), Item::Text(second, second_place), Item::Text(_, region_place), ..] = &items[..] else {
            return match items.first() {
                None => Ok(()),
                Some(_) => Err(text.error(of, &format!("{keyword}: expected an array, a value and a region"))),
            };
        };
        let set = set_of(text, deck, keyword, items.get(3))?;
        let wanted = given_region(text, keyword, of, items.get(2))?;
        if !deck.arrays.contains_key(set.array()) {
            return Err(text.error(*region_place, &format!("{keyword}: {} has no values yet", set.array())));
        }
        let cells: Vec<usize> =
            numbers(deck, set).iter().enumerate().filter(|(_, region)| **region == wanted).map(|(cell, _)| cell).collect();
        let value = || {
            number(second.as_bytes())
                .ok_or_else(|| text.error(*second_place, &format!("{keyword}: {} is not a number", quoted(second.as_bytes()))))
        };
        let (array, change) = match keyword {
            "EQUALREG" => (name, Change::Set(value()?)),
            "ADDREG" => (name, Change::Add(value()?)),
            "MULTIREG" => (name, Change::Multiply(value()?)),
            _ => (second, Change::From { source: name.to_ascii_uppercase(), map: operations::Map::Copy, a: 1.0, b: 0.0 }),
        };
        let place = if keyword == "COPYREG" { *second_place } else { *name_place };
        operations::change(text, deck, keyword, place, &array.to_ascii_uppercase(), cells.into_iter(), &change)?;
    }
}

/// OPERATER: records of an array, a region, a function, a second array, two numbers and the set.
pub(super) fn operate(text: &mut Text<'_>, deck: &mut Deck, of: DeckPosition) -> Result<(), Error> {
    let keyword = "OPERATER";
    deck.need_dims(text, keyword, of)?;
    loop {
        let items = text.record(keyword, of)?;
        let Some(first) = items.first() else { return Ok(()) };
        let Item::Text(name, place) = first else {
            return Err(text.error(of, "OPERATER: expected the name of an array"));
        };
        let wanted = given_region(text, keyword, of, items.get(1))?;
        let set = set_of(text, deck, keyword, items.get(6))?;
        let change = operations::function(text, deck, keyword, of, &items[2..items.len().min(6)])?;
        let cells: Vec<usize> = (0..).zip(numbers(deck, set)).filter(|(_, region)| *region == wanted).map(|(cell, _)| cell).collect();
        operations::change(text, deck, keyword, *place, &name.to_ascii_uppercase(), cells.into_iter(), &change)?;
    }
}

/// MULTREGP: records of a region, a multiplier of its pore volumes and its set.
pub(super) fn pore_volumes(text: &mut Text<'_>, deck: &mut Deck, of: DeckPosition) -> Result<(), Error> {
    let keyword = "MULTREGP";
    deck.need_dims(text, keyword, of)?;
    loop {
        let items = text.record(keyword, of)?;
        if items.is_empty() {
            return Ok(());
        }
        let factor = number_of(text, keyword, &items, 1)?.unwrap_or(1.0);
        let set = set_of(text, deck, keyword, items.get(2))?;
        let region = region(text, keyword, items.first())?;
        deck.regions.pore_volume_factors.push((set, region, factor));
    }
}

/// MULTREGT: records of two regions, a multiplier, directions, the kind of connections and the set.
pub(super) fn between(text: &mut Text<'_>, deck: &mut Deck, of: DeckPosition) -> Result<(), Error> {
    let keyword = "MULTREGT";
    deck.need_dims(text, keyword, of)?;
    loop {
        let items = text.record(keyword, of)?;
        if items.is_empty() {
            return Ok(());
        }
        let regions = [region(text, keyword, items.first())?, region(text, keyword, items.get(1))?];
        let factor = number_of(text, keyword, &items, 2)?.unwrap_or(1.0);
        let axes = match items.get(3) {
            Some(Item::Text(word, place)) => {
                let word_upper = word.to_ascii_uppercase();
                if word.is_empty() || !word_upper.bytes().all(|letter| b"XYZ".contains(&letter)) {
                    return Err(text.error(*place, &format!("{keyword}: {}: expected directions such as XYZ", quoted(word.as_bytes()))));
                }
                ['X', 'Y', 'Z'].map(|axis| word_upper.contains(axis))
            }
            _ => [true; 3],
        };
        let neighbours = match items.get(4) {
            Some(Item::Text(word, place)) => match &word.to_ascii_uppercase()[..] {
                "ALL" | "NOAQUNNC" => [true, true],
                "NNC" => [false, true],
                "NONNC" => [true, false],
                _ => {
                    let what = format!("{keyword}: {}: expected ALL, NNC, NONNC or NOAQUNNC", quoted(word.as_bytes()));
                    return Err(text.error(*place, &what));
                }
            },
            _ => [true, true],
        };
        let set = set_of(text, deck, keyword, items.get(5))?;
        deck.regions.between.push(BetweenRegions { regions, factor, axes, neighbours, set });
    }
}

/// Multipliers by pairs of regions, of which the last record of each pair holds. The rules are
/// those of OPM Flow.
pub(super) struct RegionFactors {
    numbers: Vec<(RegionSet, Vec<i64>)>,
    records: Vec<BetweenRegions>,
}

impl RegionFactors {
    pub(super) fn new(deck: &Deck) -> RegionFactors {
        let mut sets: Vec<RegionSet> = deck.regions.between.iter().map(|record| record.set).collect();
        sets.sort_unstable();
        sets.dedup();
        let numbers = sets.into_iter().map(|set| (set, numbers(deck, set))).collect();
        RegionFactors { numbers, records: deck.regions.between.clone() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The multiplier of the connection of two cells across an axis.
    pub(super) fn of(&self, cells: [usize; 2], axis: usize, is_neighbour: bool) -> f64 {
        self.where_holds(cells, |record| record.axes[axis] && record.neighbours[usize::from(!is_neighbour)])
    }

    /// The multiplier of a connection of two cells without geometry, which has no axis.
    pub(super) fn without_geometry(&self, cells: [usize; 2]) -> f64 {
        self.where_holds(cells, |record| record.neighbours[1])
    }

    fn where_holds(&self, cells: [usize; 2], holds: impl Fn(&BetweenRegions) -> bool) -> f64 {
        let of_set = |(set, numbers): &(RegionSet, Vec<i64>)| {
            let [a, b] = cells.map(|cell| numbers[cell]);
            let last = |joins: &dyn Fn(&BetweenRegions) -> bool| {
                let record = self.records.iter().rev().find(|record| record.set == *set && joins(record));
                record.filter(|record| holds(record)).map_or(1.0, |record| record.factor)
            };
            // A record of a region with itself is for all connections of its cells.
            let of_region = |region: i64| last(&|record| record.regions == [Some(region); 2]);
            if a == b { of_region(a) } else { of_region(a) * of_region(b) * last(&|record| record.joins([a, b])) }
        };
        self.numbers.iter().map(of_set).product()
    }
}

impl BetweenRegions {
    /// True if the record is for connections between two different regions.
    fn joins(&self, [a, b]: [i64; 2]) -> bool {
        match self.regions {
            [Some(from), Some(to)] => [a, b] == [from, to] || [b, a] == [from, to],
            [Some(one), None] | [None, Some(one)] => a == one || b == one,
            [None, None] => true,
        }
    }
}

impl Deck {
    /// The multiplier of the pore volume of a cell by MULTREGP.
    pub(super) fn apply_pore_volume_factors(&mut self) {
        let factors = std::mem::take(&mut self.regions.pore_volume_factors);
        if factors.is_empty() {
            return;
        }
        let mut of_cells = vec![1.0; self.n_cells()];
        for (set, region, factor) in factors {
            let numbers = numbers(self, set);
            let members = of_cells.iter_mut().zip(numbers).filter(|(_, number)| region.is_none_or(|region| region == *number));
            members.for_each(|(value, _)| *value *= factor);
        }
        let place = self.arrays.values().next().map(|array| array.place);
        if let Some(place) = place {
            let array = self.array_mut("MULTPV", place);
            array
                .values
                .iter_mut()
                .zip(of_cells)
                .for_each(|(value, factor)| *value = if value.is_nan() { factor } else { *value * factor });
        }
    }
}
