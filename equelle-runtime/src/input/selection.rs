//! Sets of entities chosen in parameters: `inlet | outlet - wall`, `x-`, `box(0,0,1,1)`,
//! `where x < 0.5 And PORO > 0.1`.
//!
//! | level | operators | chains |
//! | --- | --- | --- |
//! | 1 | `|` (either), `-` (the left without the right) | to the left |
//! | 2 | `&` (both) | to the left |
//!
//! `where` takes all that follows as its condition, up to the `)` of parentheses around it. Sides
//! and boxes and conditions choose among the elements of the domain; a named set is taken whole,
//! and what is chosen in the end must be in the domain.

use std::sync::Arc;

use super::variables::{Variables, absent};
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::grid::sides;
use crate::io::expression::{Scratch, truth_from};
use crate::io::token::{Symbol, TextError, Token, TokenKind, Tokens};
use crate::params::Parameters;

/// The elements of `within` that the text of parameter `key` chooses, as a domain called `name`.
///
/// # Errors
/// `Data` for a text that is no choice (with its place), a name that the grid does not have, a
/// condition without a finite value (names the entity) and an entity outside `within`.
pub fn select(parameters: &Parameters, key: &str, name: &str, grid: &Grid, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
    let text = parameters.text(key).unwrap_or_default();
    let selector = Selector::new(key, text, grid, within);
    let chosen = selector.whole().map_err(|fault| match fault {
        Fault::Text(error) => error.into_parameter_error(parameters, key),
        Fault::Data(error) => error,
    })?;
    selector.domain(name, &chosen)
}

/// The elements of the grid's set `name`, as a domain; `None` if there is no such set.
///
/// # Errors
/// `Data` for an entity of the set outside `within`.
pub fn find_set(name: &str, grid: &Grid, within: &Arc<Domain>) -> Result<Option<Arc<Domain>>, Error> {
    let selector = Selector::new(name, "", grid, within);
    selector.named(name)?.map(|chosen| selector.domain(name, &chosen)).transpose()
}

enum Fault {
    Text(TextError),
    Data(Error),
}

impl From<TextError> for Fault {
    fn from(error: TextError) -> Fault {
        Fault::Text(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Data(error)
    }
}

/// One truth value for each entity of the kind, in the numbering of the grid's file.
type Chosen = Vec<bool>;

struct Selector<'a> {
    key: &'a str,
    text: &'a str,
    grid: &'a Grid,
    within: &'a Arc<Domain>,
    kind: EntityKind,
}

impl<'a> Selector<'a> {
    fn new(key: &'a str, text: &'a str, grid: &'a Grid, within: &'a Arc<Domain>) -> Selector<'a> {
        Selector { key, text, grid, within, kind: within.kind().on_grid_of(grid.dim()) }
    }

    fn nothing(&self) -> Result<Chosen, Error> {
        Ok(vec![false; self.grid.n_entities(self.kind)?])
    }

    fn whole(&self) -> Result<Chosen, Fault> {
        // A name may have blanks and signs in it.
        if let Some(set) = self.named(self.text.trim())? {
            return Ok(set);
        }
        let mut tokens = Tokens::new(self.text)?;
        let chosen = self.either(&mut tokens)?;
        tokens.expect_end("`|`, `-` or `&`").map_err(|error| match tokens.peek().kind {
            TokenKind::Name(_) | TokenKind::Quoted(_) | TokenKind::Number(_) => {
                error.hint("sets are joined as `a | b`; a name with a blank in it stands between double quotes")
            }
            TokenKind::Symbol(_) | TokenKind::End => error,
        })?;
        Ok(chosen)
    }

    /// The members of a set of the grid; `None` if it has none of this name.
    fn named(&self, name: &str) -> Result<Option<Chosen>, Error> {
        let Some(set) = self.grid.named().set(self.kind, name) else { return Ok(None) };
        let mut chosen = self.nothing()?;
        set.members.iter().for_each(|&member| chosen[member as usize] = true);
        Ok(Some(chosen))
    }

    fn either(&self, tokens: &mut Tokens<'_>) -> Result<Chosen, Fault> {
        let mut chosen = self.both(tokens)?;
        loop {
            let without = tokens.is(Symbol::Minus);
            if !without && !tokens.is(Symbol::Bar) {
                return Ok(chosen);
            }
            tokens.advance();
            let other = self.both(tokens)?;
            chosen.iter_mut().zip(other).for_each(|(own, other)| *own = if without { *own && !other } else { *own || other });
        }
    }

    fn both(&self, tokens: &mut Tokens<'_>) -> Result<Chosen, Fault> {
        let mut chosen = self.one(tokens)?;
        while tokens.eat(Symbol::And) {
            let other = self.one(tokens)?;
            chosen.iter_mut().zip(other).for_each(|(own, other)| *own &= other);
        }
        Ok(chosen)
    }

    fn one(&self, tokens: &mut Tokens<'_>) -> Result<Chosen, Fault> {
        let token = tokens.peek();
        let next = tokens.peek_second();
        match token.kind {
            TokenKind::Symbol(Symbol::Open) => {
                tokens.descend()?;
                tokens.advance();
                let inner = self.either(tokens)?;
                tokens.expect(Symbol::Close, "`|`, `-`, `&` or `)`")?;
                tokens.ascend();
                Ok(inner)
            }
            TokenKind::Name("where") => {
                tokens.advance();
                self.by_condition(tokens)
            }
            TokenKind::Name("box") if next.kind == TokenKind::Symbol(Symbol::Open) => self.in_box(tokens),
            TokenKind::Name(axis @ ("x" | "y" | "z")) if is_side(token, next) => {
                tokens.advance();
                let high = tokens.advance().kind == TokenKind::Symbol(Symbol::Plus);
                self.on_side(token.offset, axis, high)
            }
            TokenKind::Name(name) | TokenKind::Quoted(name) => {
                tokens.advance();
                let set = self.named(name)?;
                set.ok_or_else(|| self.no_set(name, tokens).within(token.offset).into())
            }
            TokenKind::Number(_) | TokenKind::Symbol(_) | TokenKind::End => {
                Err(tokens.unexpected("the name of a set, a side such as `x-`, `box(...)`, `where ...` or `(`").into())
            }
        }
    }

    /// The error for a name, after which these tokens come.
    fn no_set(&self, name: &str, tokens: &Tokens<'_>) -> TextError {
        let all: Vec<(EntityKind, &str)> = self.grid.named().sets().map(|set| (set.kind, &set.name[..])).collect();
        // A name of several words is looked up as a whole.
        let is_first_word =
            matches!(tokens.peek().kind, TokenKind::Name(_) | TokenKind::Number(_)) && self.text.trim_start().starts_with(name);
        let error = absent("set", self.kind, if is_first_word { self.text.trim() } else { name }, &all);
        match name {
            "x" | "y" | "z" => error.hint(format!("a side is written without a blank: `{name}-` or `{name}+`")),
            _ => error,
        }
    }

    /// Chooses those elements of the domain of which a condition holds; asks in the order of the
    /// file.
    fn choose(&self, mut holds: impl FnMut(u32) -> Result<bool, Error>) -> Result<Chosen, Error> {
        let mut chosen = self.nothing()?;
        for (index, chosen) in chosen.iter_mut().enumerate() {
            let entity = self.grid.entity_of_file(self.kind, index as u32);
            if self.within.rank(entity).is_some() {
                *chosen = holds(entity)?;
            }
        }
        Ok(chosen)
    }

    fn by_condition(&self, tokens: &mut Tokens<'_>) -> Result<Chosen, Fault> {
        let mut variables = Variables::new(self.grid, self.kind);
        let condition = truth_from(tokens, &mut variables)?;
        let evaluate = |variables: &[Vec<f64>], out: &mut [Option<bool>], scratch: &mut Scratch| condition.truths(variables, out, scratch);
        let entity = |index: usize| self.grid.entity_of_file(self.kind, index as u32);
        let truths = variables.each(self.grid.n_entities(self.kind)?, entity, evaluate)?;
        let chosen = self.choose(|entity| {
            let truth = truths[self.grid.file_index(self.kind, entity) as usize];
            truth.ok_or_else(|| variables.not_finite(self.key, self.text, entity))
        })?;
        Ok(chosen)
    }

    /// `box(x0, y0, z0, x1, y1, z1)`, or without `z` on grids of two dimensions and so on; with its
    /// sides.
    fn in_box(&self, tokens: &mut Tokens<'_>) -> Result<Chosen, Fault> {
        let start = tokens.advance().offset;
        tokens.advance();
        let mut numbers = Vec::new();
        loop {
            let minus = tokens.eat(Symbol::Minus);
            let TokenKind::Number(number) = tokens.peek().kind else { return Err(tokens.unexpected("a number").into()) };
            tokens.advance();
            numbers.push(if minus { -number } else { number });
            if !tokens.eat(Symbol::Comma) {
                break;
            }
        }
        tokens.expect(Symbol::Close, "`,` or `)`")?;
        let dim = self.grid.dim();
        let axes = numbers.len() / 2;
        if !matches!(numbers.len(), 6) && numbers.len() != 2 * dim {
            let corners = ["x0, x1", "x0, y0, x1, y1", "x0, y0, z0, x1, y1, z1"][dim - 1];
            let error = TextError::new(start, format!("a box of {} numbers on a grid of dimension {dim}", numbers.len()));
            return Err(error.hint(format!("give the low corner, then the high one: `box({corners})`")).into());
        }
        let (low, high) = numbers.split_at(axes);
        if low.iter().zip(high).any(|(low, high)| low > high) {
            return Err(TextError::new(start, "a box whose first corner is not the low one").into());
        }
        let (variables, centroids) = (Variables::new(self.grid, self.kind), self.grid.centroids_of(self.kind));
        let chosen = self.choose(|entity| {
            let centroid = centroids.at(entity);
            let centroid = centroid.ok_or_else(|| Error::internal(format!("no centroid of {}", variables.shown(entity))))?;
            Ok((0..axes).all(|axis| low[axis] <= centroid[axis] && centroid[axis] <= high[axis]))
        })?;
        Ok(chosen)
    }

    fn on_side(&self, offset: usize, axis: &str, high: bool) -> Result<Chosen, Fault> {
        let sign = if high { "+" } else { "-" };
        let axis = ["x", "y", "z"].iter().position(|known| *known == axis).unwrap_or_default();
        if axis >= self.grid.dim() {
            let name = ["x", "y", "z"][axis];
            return Err(TextError::new(offset, format!("side `{name}{sign}` of a grid of dimension {}", self.grid.dim())).into());
        }
        let on_side = match self.kind {
            EntityKind::Face => sides::faces(self.grid, axis, high),
            EntityKind::Cell => sides::cells(self.grid, axis, high),
            EntityKind::Edge | EntityKind::Vertex => {
                let what = format!("a side has faces and cells, and `{}` is a domain of {}", self.within.name(), self.kind.nouns());
                return Err(TextError::new(offset, what).into());
            }
        };
        let mut chosen = self.nothing()?;
        for index in on_side {
            chosen[index as usize] = self.within.rank(self.grid.entity_of_file(self.kind, index)).is_some();
        }
        Ok(chosen)
    }

    fn domain(&self, name: &str, chosen: &Chosen) -> Result<Arc<Domain>, Error> {
        let mut elements = Vec::new();
        for index in (0..chosen.len()).filter(|&index| chosen[index]) {
            let entity = self.grid.entity_of_file(self.kind, index as u32);
            if self.within.rank(entity).is_none() {
                let (noun, within) = (self.kind.noun(), self.within.name());
                let message = if self.text.is_empty() {
                    format!("the grid's set `{name}`: {noun} {index} is not in {within}")
                } else {
                    format!(
                        "parameter `{}`: `{}` chooses {noun} {index}, which is not in {within}",
                        self.key,
                        crate::io::token::shown(self.text)
                    )
                };
                return Err(
                    Error::new(ErrorKind::Data, message).hint(format!("choose elements of {within} alone: `a & b` has what is in both"))
                );
            }
            elements.push(entity);
        }
        elements.sort_unstable();
        Ok(Domain::trusted_subset(name.to_string(), self.within, elements))
    }
}

/// True if a name and a sign stand together without a blank.
fn is_side(name: Token<'_>, sign: Token<'_>) -> bool {
    matches!(sign.kind, TokenKind::Symbol(Symbol::Plus | Symbol::Minus)) && name.end == sign.offset
}
