//! The cursor of the parser; sets and types.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::ir::IrLocation;
use crate::ir::text::TextError;
use crate::ir::text::lex::{Token, TokenKind};
use crate::ir::text::names::Name;
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, SetId, SetTable, Shape, Type};

/// Line of the text, from 1, of each place.
pub type Locations = BTreeMap<IrLocation, u32>;

/// Words with the next one; sets and lines of places found so far.
pub(super) struct Parser {
    pub tokens: Vec<Token>,
    pub next: usize,
    pub sets: BTreeMap<(String, Option<u32>), SetId>,
    pub locations: Locations,
}

pub(super) type Parsed<T> = Result<T, TextError>;

impl Parser {
    pub fn peek(&self) -> &TokenKind {
        &self.tokens[self.next.min(self.tokens.len() - 1)].kind
    }

    pub fn peek_second(&self) -> &TokenKind {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind
    }

    pub fn line(&self) -> u32 {
        self.tokens[self.next.min(self.tokens.len() - 1)].line
    }

    pub fn bump(&mut self) -> TokenKind {
        let kind = self.peek().clone();
        self.next += 1;
        kind
    }

    /// An error at the next word.
    pub fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let token = &self.tokens[self.next.min(self.tokens.len() - 1)];
        Err(TextError { line: token.line, column: token.column, message: message.into() })
    }

    /// An error at the word before the next.
    pub fn error_before<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        self.next = self.next.saturating_sub(1);
        self.error(message)
    }

    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.error(format!("expected {what}, found {}", self.peek().describe()))
    }

    pub fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(s) if *s == symbol)
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        self.next += usize::from(found);
        found
    }

    pub fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    /// True if the next word is this one, not in backquotes.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(n) if n.base == word && !n.quoted && n.copy.is_none())
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub fn name(&mut self) -> Parsed<Name> {
        match self.peek() {
            TokenKind::Name(_) => match self.bump() {
                TokenKind::Name(name) => Ok(name),
                _ => self.expected("a name"),
            },
            _ => self.expected("a name"),
        }
    }

    /// A name that is unique by itself: of a module, function, kernel, parameter.
    pub fn plain_name(&mut self) -> Parsed<String> {
        let name = self.name()?;
        if name.copy.is_some() { self.error_before("this name cannot have a number") } else { Ok(name.base) }
    }

    /// A list in which each item but the first follows a comma; ends before `end`, which it takes.
    pub fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.accept(end) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(end) {
                return Ok(items);
            }
            if !self.accept(",") {
                return self.expected(&format!("`,` or `{end}`"));
            }
        }
    }

    /// An optional source range.
    pub fn span(&mut self) -> Option<Span> {
        match self.peek() {
            TokenKind::Span(span) => {
                let span = *span;
                self.next += 1;
                Some(span)
            }
            _ => None,
        }
    }

    pub fn integer<T: FromStr>(&mut self) -> Parsed<T> {
        match self.peek() {
            TokenKind::Number(n) => match n.parse() {
                Ok(i) => {
                    self.next += 1;
                    Ok(i)
                }
                Err(_) => self.expected("a whole number"),
            },
            _ => self.expected("a whole number"),
        }
    }

    /// A number if one stands here: `0.3`, `inf`, `-inf`, `bits(0x...)`.
    pub fn real(&mut self) -> Parsed<Option<f64>> {
        if self.accept_word("inf") {
            return Ok(Some(f64::INFINITY));
        }
        if self.is_word("bits") && matches!(self.peek_second(), TokenKind::Symbol("(")) {
            self.next += 2;
            let bits = match self.peek() {
                TokenKind::Number(n) => n.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()),
                _ => None,
            };
            let Some(bits) = bits else { return self.expected("the bits of a number, as `0x7ff8000000000000`") };
            self.next += 1;
            self.expect(")")?;
            return Ok(Some(f64::from_bits(bits)));
        }
        let TokenKind::Number(number) = self.peek() else { return Ok(None) };
        // Rust also reads `nan` and `infinity`, which do not come here, since they begin with a
        // letter.
        match number.parse::<f64>() {
            Ok(value) => {
                self.next += 1;
                Ok(Some(value))
            }
            Err(_) => self.error(format!("`{number}` is not a number")),
        }
    }

    pub fn set(&mut self, table: &mut SetTable) -> Parsed<()> {
        let line = self.line();
        self.expect_word("set")?;
        let name = self.name()?;
        self.expect_word("in")?;
        let parent = self.set_id(table)?;
        let id = table.add(parent, Some(name.user()));
        self.locations.insert(IrLocation::Set(id), line);
        if self.sets.insert(name.key(), id).is_some() {
            return self.error_before(format!("set `{}` is defined twice", name.base));
        }
        Ok(())
    }

    /// `AllCells()` or the name of a set made at run time.
    pub fn set_id(&mut self, table: &SetTable) -> Parsed<SetId> {
        if let Some(canonical) = self.canonical_set()? {
            return Ok(table.canonical(canonical));
        }
        let name = self.name()?;
        match self.sets.get(&name.key()) {
            Some(id) => Ok(*id),
            None => self.error_before(format!("unknown set `{}`", name.base)),
        }
    }

    /// `AllCells()` if a name with parentheses stands here.
    pub fn canonical_set(&mut self) -> Parsed<Option<CanonicalSet>> {
        let TokenKind::Name(name) = self.peek() else { return Ok(None) };
        if name.quoted || !matches!(self.peek_second(), TokenKind::Symbol("(")) {
            return Ok(None);
        }
        let Some(set) = CanonicalSet::all().find(|set| set.name() == name.base) else { return Ok(None) };
        self.next += 2;
        self.expect(")")?;
        Ok(Some(set))
    }

    /// A type as [`super::print()`] writes it.
    pub fn ty(&mut self, table: &SetTable) -> Parsed<Type> {
        if self.accept_word("Sequence") {
            return Ok(Type::SEQUENCE);
        }
        if self.accept_word("Domain") {
            let set = self.set_id(table)?;
            return Ok(Type::domain(table.get(set).kind, set));
        }
        const BASIC: [(&str, Basic); 5] =
            [("Scalar", Basic::Scalar), ("Vector", Basic::Vector), ("Bool", Basic::Bool), ("Text", Basic::Text), ("Table", Basic::Table)];
        let entities = EntityKind::ALL.map(|kind| (kind.name(), Basic::Entity(kind)));
        let Some((_, basic)) = BASIC.into_iter().chain(entities).find(|(word, _)| self.is_word(word)) else {
            return self.expected("a type");
        };
        self.next += 1;
        let shape = if self.accept_word("On") { Shape::Collection(self.set_id(table)?) } else { Shape::Single };
        let within = if self.accept_word("In") { Some(self.set_id(table)?) } else { None };
        Ok(Type { basic, shape, within, halo: crate::types::Halo::NONE })
    }

    /// An optional dimension: `[Meter^2 * Second^-1]`.
    pub fn dimension(&mut self) -> Parsed<Dimension> {
        if !self.accept("[") {
            return Ok(Dimension::NONE);
        }
        let mut exponents = [0; 7];
        loop {
            let name = self.plain_name()?;
            let base = (0..7).find(|&i| {
                let mut unit = [0; 7];
                unit[i] = 1;
                Dimension(unit).to_string() == format!("[{name}]")
            });
            let Some(base) = base else { return self.error_before(format!("unknown base dimension `{name}`")) };
            exponents[base] = 1;
            if self.accept("^") {
                let TokenKind::Number(n) = self.bump() else { return self.error_before("expected an exponent") };
                let Ok(exponent) = n.parse() else { return self.error_before("expected a whole exponent") };
                exponents[base] = exponent;
            }
            if self.accept("]") {
                return Ok(Dimension(exponents));
            }
            self.expect("*")?;
        }
    }
}
