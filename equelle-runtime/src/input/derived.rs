//! Values of a collection that no file lists: an array of the grid, a value for each named set, an
//! expression.

use super::choice::Derived;
use super::variables::{Variables, absent, array};
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::io::expression::{Scratch, parse_number};
use crate::io::quantity;
use crate::io::token::{Symbol, TextError, TokenKind, Tokens};
use crate::params::Parameters;
use crate::program::InputUnit;

/// One value for each element of a domain, in its order; `unit` is that which the program takes.
///
/// # Errors
/// `Data` for a text that means nothing (with its place), a name that the grid does not have, an
/// expression without a finite value (names the entity), and an element in no set or in two.
pub fn values(
    parameters: &Parameters,
    key: &str,
    unit: Option<&InputUnit>,
    derived: Derived,
    grid: &Grid,
    domain: &Domain,
) -> Result<Vec<f64>, Error> {
    let text = parameters.text(key).unwrap_or_default();
    let located = |error: TextError| error.into_parameter_error(parameters, key);
    match derived {
        Derived::Property => {
            let name = text.trim().trim_matches('"');
            let array = array(grid, domain.kind(), name).map_err(located)?;
            Ok(array_values(&array.values, grid, domain))
        }
        Derived::Expression => {
            let mut variables = Variables::new(grid, domain.kind());
            let expression = parse_number(text, &mut variables).map_err(located)?;
            let evaluate = |variables: &[Vec<f64>], out: &mut [f64], scratch: &mut Scratch| expression.values(variables, out, scratch);
            let values = variables.each(domain.len(), |position| domain.element(position), evaluate)?;
            if values.iter().all(|value| value.is_finite()) {
                return Ok(values);
            }
            let first = in_file_order(domain).find(|&position| !values[position].is_finite());
            Err(variables.not_finite(key, text, domain.element(first.unwrap_or_default())))
        }
        Derived::Values => {
            let table = Table::parse(text, unit, grid, domain.kind()).map_err(located)?;
            table.values(key, grid, domain)
        }
    }
}

fn array_values(array: &[f64], grid: &Grid, domain: &Domain) -> Vec<f64> {
    let kind = domain.kind();
    (0..domain.len()).map(|position| array[grid.file_index(kind, domain.element(position)) as usize]).collect()
}

/// Positions in the order of the grid's file: the first error is that of the first element there.
fn in_file_order(domain: &Domain) -> impl Iterator<Item = usize> {
    let order = domain.file_order();
    (0..domain.len()).map(move |number| order.map_or(number, |order| order[number] as usize))
}

/// A value for each of some named sets, and one for what is in none of them.
struct Table<'g> {
    rows: Vec<(&'g str, &'g [u32], f64)>,
    default: Option<f64>,
}

impl<'g> Table<'g> {
    /// `rock: 1e-12, clay: 1e-15, default: 1e-13`
    fn parse(text: &str, unit: Option<&InputUnit>, grid: &'g Grid, kind: EntityKind) -> Result<Table<'g>, TextError> {
        let kind = kind.on_grid_of(grid.dim());
        let mut table = Table { rows: Vec::new(), default: None };
        let mut tokens = Tokens::new(text)?;
        loop {
            let token = tokens.peek();
            let (name, quoted) = match token.kind {
                TokenKind::Name(name) => (name, false),
                TokenKind::Quoted(name) => (name, true),
                TokenKind::Number(_) | TokenKind::Symbol(_) | TokenKind::End => {
                    return Err(tokens.unexpected("the name of a set, or `default`"));
                }
            };
            tokens.advance();
            tokens.expect(Symbol::Colon, "`:`")?;
            let minus = tokens.eat(Symbol::Minus);
            let TokenKind::Number(value) = tokens.peek().kind else { return Err(tokens.unexpected("a number")) };
            tokens.advance();
            let value = quantity::before_unit(&mut tokens, if minus { -value } else { value }, unit)?;
            let again = TextError::new(token.offset, format!("a second value for `{name}`"));
            if name == "default" && !quoted {
                if table.default.replace(value).is_some() {
                    return Err(again);
                }
            } else {
                if table.rows.iter().any(|(known, ..)| *known == name) {
                    return Err(again);
                }
                let set = grid.named().set(kind, name).ok_or_else(|| {
                    let all: Vec<(EntityKind, &str)> = grid.named().sets().map(|set| (set.kind, &set.name[..])).collect();
                    absent("set", kind, name, &all).within(token.offset)
                })?;
                table.rows.push((&set.name, &set.members, value));
            }
            if !tokens.eat(Symbol::Comma) {
                tokens.expect_end("`,`")?;
                return Ok(table);
            }
        }
    }

    fn values(&self, key: &str, grid: &Grid, domain: &Domain) -> Result<Vec<f64>, Error> {
        const NO_ROW: u32 = u32::MAX;
        let kind = domain.kind().on_grid_of(grid.dim());
        let bad = |what: String, hint: &str| Error::new(ErrorKind::Data, format!("parameter `{key}`: {what}")).hint(hint);
        // By the numbering of the file, so that the first error does not depend on another one.
        let mut row_of = vec![NO_ROW; grid.n_entities(kind)?];
        for (row, (name, members, _)) in self.rows.iter().enumerate() {
            for &member in *members {
                let before = std::mem::replace(&mut row_of[member as usize], row as u32);
                if before != NO_ROW && domain.rank(grid.entity_of_file(kind, member)).is_some() {
                    let (noun, first) = (kind.noun(), self.rows[before as usize].0);
                    return Err(bad(
                        format!("{noun} {member} is in `{first}` and in `{name}`"),
                        "give sets that have no element in common",
                    ));
                }
            }
        }
        let mut values = vec![0.0; domain.len()];
        for position in in_file_order(domain) {
            let index = grid.file_index(kind, domain.element(position));
            values[position] = match (self.rows.get(row_of[index as usize] as usize), self.default) {
                (Some((.., value)), _) => *value,
                (None, Some(value)) => value,
                (None, None) => {
                    let what = format!("{} {index} is in none of the sets", kind.noun());
                    return Err(bad(what, "add a value for the others: `default: NUMBER`"));
                }
            };
        }
        Ok(values)
    }
}
