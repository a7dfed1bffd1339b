//! Numbers of a text one after the other, from any of its words on.

use std::ops::Range;

use crate::decimal::{is_blank, leading};
use crate::grid::digits::Digits;
use crate::number::{NumberError, Word, Words, parse_integer, parse_number, quoted};
use crate::threads::{PerBlock, Threads};

/// Bytes of a text between counts of its words.
const STRIDE: usize = 1 << 14;

/// Errors of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault<'a> {
    /// There are no more words.
    Missing,
    NotWhole(Word<'a>),
    /// A whole number that is not from 0 to `end - 1`.
    OutOfRange {
        word: Word<'a>,
        value: i64,
        end: usize,
    },
    NotANumber(Word<'a>),
    TooLarge(Word<'a>),
}

impl Fault<'_> {
    /// Byte of the word; of a text that long, its end.
    pub(super) fn offset(self, len: usize) -> usize {
        match self {
            Fault::Missing => len,
            Fault::NotWhole(word) | Fault::OutOfRange { word, .. } | Fault::NotANumber(word) | Fault::TooLarge(word) => word.offset,
        }
    }

    /// Describes the error of an item.
    pub(super) fn describe(self, name: &str, item: usize) -> String {
        match self {
            Fault::Missing => format!("the grid file ends too early: {name}[{item}] is missing"),
            Fault::NotWhole(word) => format!("{name}[{item}]: {} is not a whole number", quoted(word.bytes)),
            Fault::OutOfRange { value, end, .. } => {
                let range = if end == 0 { "nothing is allowed".to_string() } else { format!("allowed is 0 to {}", end - 1) };
                format!("{name}[{item}]: {value} is out of range ({range})")
            }
            Fault::NotANumber(word) => format!("{name}[{item}]: {} is not a number", quoted(word.bytes)),
            Fault::TooLarge(word) => format!("{name}[{item}]: {} is beyond the range of numbers", quoted(word.bytes)),
        }
    }
}

/// Reads numbers one after the other.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Digits of the real numbers so far.
    pub(super) digits: Digits,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], at: usize) -> Scanner<'a> {
        Scanner { text, at, digits: Digits::default() }
    }

    /// Byte offset of the unread text.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The unread text from its next word on.
    #[inline]
    fn rest(&mut self) -> &'a [u8] {
        while self.text.get(self.at).is_some_and(|&byte| is_blank(byte)) {
            self.at += 1;
        }
        &self.text[self.at..]
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<Word<'a>> {
        let mut words = Words::from_offset(self.text, self.at);
        let word = words.next();
        self.at = words.offset();
        word
    }

    /// The next word, a whole number.
    #[inline]
    pub(super) fn integer(&mut self) -> Result<i64, Fault<'a>> {
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let (mut value, mut len) = (0_i64, sign);
        while let Some(digit) = rest.get(len).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            len += 1;
        }
        // 18 digits fit, whatever they are.
        if (sign + 1..=sign + 18).contains(&len) && rest.get(len).is_none_or(|&byte| is_blank(byte)) {
            self.at += len;
            return Ok(if sign == 1 { -value } else { value });
        }
        let word = self.word().ok_or(Fault::Missing)?;
        parse_integer(word.bytes).map_err(|_| Fault::NotWhole(word))
    }

    /// The next word, a whole number from 0 to `end - 1`.
    #[inline]
    pub(super) fn index(&mut self, end: usize) -> Result<usize, Fault<'a>> {
        let start = self.at;
        let value = self.integer()?;
        usize::try_from(value).ok().filter(|&index| index < end).ok_or_else(|| match Words::from_offset(self.text, start).next() {
            Some(word) => Fault::OutOfRange { word, value, end },
            None => Fault::Missing,
        })
    }

    /// The next word, a number.
    #[inline]
    pub(super) fn real(&mut self) -> Result<f64, Fault<'a>> {
        let rest = self.rest();
        if let Some(number) = leading(rest) {
            self.at += number.len;
            if number.has_point {
                self.digits.see_decimal(&number);
            } else {
                self.digits.see(&rest[..number.len], number.value);
            }
            return Ok(number.value);
        }
        let word = self.word().ok_or(Fault::Missing)?;
        let value = parse_number(word.bytes).map_err(|error| match error {
            NumberError::NotANumber => Fault::NotANumber(word),
            NumberError::OutOfRange => Fault::TooLarge(word),
        })?;
        self.digits.see(word.bytes, value);
        Ok(value)
    }
}

/// Finds words of a text by their number.
pub(super) struct WordIndex<'a> {
    text: &'a [u8],
    /// Words that begin before each [`STRIDE`]; empty if nobody asks.
    before: Vec<usize>,
}

impl<'a> WordIndex<'a> {
    /// Counts the words, if there are threads for which it pays.
    pub(super) fn new(text: &'a [u8], threads: &Threads) -> WordIndex<'a> {
        if threads.number() == 1 {
            return WordIndex { text, before: Vec::new() };
        }
        let mut before = vec![0; text.len().div_ceil(STRIDE)];
        let n = before.len();
        threads.each(n * crate::threads::BLOCK, PerBlock(&mut before), |range, PerBlock(part)| {
            for (count, stride) in part.iter_mut().zip(range.start / crate::threads::BLOCK..) {
                *count = words_in(text, stride * STRIDE..text.len().min((stride + 1) * STRIDE));
            }
        });
        let mut sum = 0;
        for count in &mut before {
            sum += std::mem::replace(count, sum);
        }
        WordIndex { text, before }
    }

    /// The offset of a word, or of a place before it with nothing but blanks between; `from` is
    /// that of an earlier word, with its number. The end of the text if there are less words.
    pub(super) fn offset(&self, word: usize, from: (usize, usize)) -> usize {
        if word <= from.0 {
            return from.1;
        }
        let stride = self.before.partition_point(|&before| before <= word).saturating_sub(1);
        let known = self.before.get(stride).map_or(from, |&before| (before, self.start_of(stride * STRIDE)));
        let (number, offset) = if known.0 < from.0 { from } else { known };
        let mut words = Words::from_offset(self.text, offset);
        let skipped = words.by_ref().take(word - number).count();
        if skipped == word - number { words.offset() } else { self.text.len() }
    }

    /// The end of a word that began before.
    fn start_of(&self, at: usize) -> usize {
        let inside = at > 0 && !is_blank(self.text[at - 1]);
        if !inside {
            return at;
        }
        self.text[at..].iter().position(|&byte| is_blank(byte)).map_or(self.text.len(), |len| at + len)
    }
}

/// Words that begin within a range of bytes.
fn words_in(text: &[u8], range: Range<usize>) -> usize {
    let before = range.start.checked_sub(1).map_or(b' ', |at| text[at]);
    let first = usize::from(is_blank(before) && text.get(range.start).is_some_and(|&byte| !is_blank(byte)));
    let (left, right) = (&text[range.start..range.end - 1], &text[range.start + 1..range.end]);
    first + left.iter().zip(right).filter(|&(&left, &right)| is_blank(left) && !is_blank(right)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_number() {
        // Words of every length, so that strides begin within words, at their ends and in blanks.
        let text: String = (0..30_000).map(|word| format!("{}{}", "x".repeat(1 + word % 7), " \n\t".repeat(1 + word % 3))).collect();
        let text = text.as_bytes();
        let index = WordIndex::new(text, &Threads::new(2));
        let all: Vec<usize> = Words::new(text).map(|word| word.offset).collect();
        for (number, &offset) in all.iter().enumerate().step_by(97) {
            for from in [0, number / 2, number] {
                let found = index.offset(number, (from, all[from]));
                assert_eq!(Words::from_offset(text, found).next().map(|word| word.offset), Some(offset), "word {number} from {from}");
            }
        }
        assert_eq!(index.offset(all.len() + 1, (0, 0)), text.len());
    }

    #[test]
    fn whole_numbers() {
        let mut scanner = Scanner::new(b" 12 -3 +4 1234567890123456789012 5x 6", 0);
        assert_eq!((scanner.integer(), scanner.integer(), scanner.integer()), (Ok(12), Ok(-3), Ok(4)));
        assert!(matches!(scanner.integer(), Err(Fault::NotWhole(_))));
        assert!(matches!(scanner.integer(), Err(Fault::NotWhole(Word { bytes: b"5x", .. }))));
        assert!(matches!(scanner.index(6), Err(Fault::OutOfRange { value: 6, end: 6, .. })));
        assert_eq!(scanner.integer(), Err(Fault::Missing));
    }
}
