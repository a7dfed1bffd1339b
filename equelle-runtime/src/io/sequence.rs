//! Sequences of numbers in parameters: `0.5, 0.25`, `40*0.01`, `10*1 [Day], 5*10 [Day]`.

use super::token::{Symbol, TextError, TokenKind, Tokens};
use super::unit::{Dimension, bracketed_unit};

/// Most numbers that a text may repeat: half a gigabyte of them.
const MAX_LEN: usize = 1 << 26;

/// The numbers of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// In SI units where the text has units.
    pub values: Vec<f64>,
    /// Dimension of the units; `None` if the text has none.
    pub dimension: Option<Dimension>,
}

/// The numbers of a text: items with a comma between them, each a number or `COUNT*NUMBER`, each
/// with a unit or none. Empty if there is no item.
///
/// # Errors
/// The first thing that is out of place; a unit in some items only, or of another dimension; more
/// numbers than a sequence may have.
pub fn parse_sequence(text: &str) -> Result<Sequence, TextError> {
    let mut tokens = Tokens::new(text)?;
    let mut sequence = Sequence { values: Vec::new(), dimension: None };
    if tokens.peek().kind == TokenKind::End {
        return Ok(sequence);
    }
    loop {
        item(&mut tokens, &mut sequence)?;
        if !tokens.eat(Symbol::Comma) {
            tokens.expect_end("`,` or the end")?;
            return Ok(sequence);
        }
    }
}

fn item(tokens: &mut Tokens<'_>, sequence: &mut Sequence) -> Result<(), TextError> {
    let start = tokens.peek().offset;
    let repeats = tokens.peek_second().kind == TokenKind::Symbol(Symbol::Star);
    let count = if repeats {
        let TokenKind::Number(count) = tokens.peek().kind else { return Err(tokens.unexpected("a count")) };
        if count.fract() != 0.0 || count < 1.0 {
            return Err(tokens.unexpected("a count, a whole number of at least 1").hint("write COUNT*NUMBER, such as `40*0.01`"));
        }
        tokens.advance();
        tokens.advance();
        count
    } else {
        1.0
    };
    let minus = tokens.eat(Symbol::Minus);
    if !minus {
        tokens.eat(Symbol::Plus);
    }
    let TokenKind::Number(number) = tokens.peek().kind else { return Err(tokens.unexpected("a number")) };
    tokens.advance();
    let number = if minus { -number } else { number };
    let unit = bracketed_unit(tokens)?;
    let dimension = unit.map(|unit| unit.dimension);
    if !sequence.values.is_empty() && dimension != sequence.dimension {
        return Err(TextError::new(start, "this number has another unit than those before it").hint("give each number a unit, or none"));
    }
    if count + sequence.values.len() as f64 > MAX_LEN as f64 {
        return Err(TextError::new(start, format!("more than {MAX_LEN} numbers")));
    }
    let value = unit.map_or(number, |unit| number * unit.factor);
    if !value.is_finite() {
        return Err(TextError::new(start, "this number is beyond the range of numbers in SI units"));
    }
    sequence.values.resize(sequence.values.len() + count as usize, value);
    sequence.dimension = dimension;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_counts_and_units() {
        let of = |text: &str| parse_sequence(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(of("0.5"), Sequence { values: vec![0.5], dimension: None });
        assert_eq!(of("3*0.01, -2, +1").values, [0.01, 0.01, 0.01, -2.0, 1.0]);
        let days = of("2*1 [Day], 10 [Hour]");
        assert_eq!(days, Sequence { values: vec![86400.0, 86400.0, 36000.0], dimension: Some([0, 1, 0, 0, 0, 0, 0]) });
        assert!(of(" ").values.is_empty());
        assert_eq!(of("67108864*1").values.len(), MAX_LEN);
    }

    #[test]
    fn what_is_no_sequence() {
        for (text, offset, what) in [
            ("1 2", 2, "expected `,` or the end, found `2`"),
            ("1,", 2, "expected a number, the text ends"),
            ("0.5*2", 0, "expected a count, a whole number of at least 1, found `0.5`"),
            ("0*2", 0, "expected a count, a whole number of at least 1, found `0`"),
            ("n*2", 0, "expected a count, found `n`"),
            ("2*", 2, "expected a number, the text ends"),
            ("1 [Day], 2", 9, "this number has another unit than those before it"),
            ("1, 2 [Day]", 3, "this number has another unit than those before it"),
            ("1 [Day], 2 [Meter]", 9, "this number has another unit than those before it"),
            ("1, 67108864*1", 3, "more than 67108864 numbers"),
            ("1e300*1", 0, "more than 67108864 numbers"),
            ("1e308 [Kilo*Meter]", 0, "this number is beyond the range of numbers in SI units"),
            ("1 [Dya]", 3, "there is no unit `Dya`"),
        ] {
            let error = parse_sequence(text).expect_err(text);
            assert_eq!((error.offset, &error.what[..]), (offset, what), "{text}");
        }
    }
}
