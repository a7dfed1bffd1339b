//! Letters as strokes, drawn for this crate: a picture needs no font of the system, and looks the
//! same everywhere.
//!
//! A glyph is strokes of points `xy`, one digit of base 36 each, in halves of a unit; the size is
//! 13 units. The baseline is y = 8, small letters reach 20 (`k`), capitals 26 (`q`), and descenders
//! 0. A stroke that begins with `~` is a quadratic B-spline of its points. Stems and bars are at
//! even digits where they can: a text of size 13 has them on whole pixels.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Units of the grid in the size of a text.
const UNITS: f64 = 13.0;

/// The baseline on the grid.
const BASELINE: f64 = 4.0;

/// Between two glyphs, and the width of a blank, in units.
const GAP: f64 = 2.4;

/// Width of digits, which stand below each other, in units.
const DIGIT: f64 = 5.0;

/// Width of strokes, relative to the size.
pub const STROKE: f64 = 0.085;

/// Height of capitals, relative to the size.
pub const CAPITAL: f64 = 9.0 / UNITS;

/// Largest depth of a letter below the baseline, relative to the size.
pub const DESCENT: f64 = BASELINE / UNITS;

/// Sizes of titles, and of numbers.
pub const TITLE: f64 = 16.0;
pub const TEXT: f64 = 13.0;

const GLYPHS: &[(char, &str)] = &[
    ('A', "08 6q c8|2e ae"),
    ('B', "08 0q|~0q 6q aq am ai 6i 0i|~0i 6i ci cc c8 68 08"),
    ('C', "~dm cq 7q 0q 08 78 c8 dc"),
    ('D', "08 0q|~0q 6q cq cg c8 68 08"),
    ('E', "cq 0q 08 c8|0i ai"),
    ('F', "cq 0q 08|0i ai"),
    ('G', "~dm cq 7q 0q 08 78 d8 dg|dg 8g"),
    ('H', "08 0q|c8 cq|0i ci"),
    ('I', "0q 6q|3q 38|08 68"),
    ('J', "~8q 8k 8e 88 48 08 0c"),
    ('K', "08 0q|cq 0e|4i c8"),
    ('L', "0q 08 c8"),
    ('M', "08 0q 8g gq g8"),
    ('N', "08 0q c8 cq"),
    ('O', "~7q eq e8 78 08 0q 7q"),
    ('P', "08 0q|~0q 6q cq cm cg 6g 0g"),
    ('Q', "~7q eq e8 78 08 0q 7q|9c f7"),
    ('R', "08 0q|~0q 6q cq cm cg 6g 0g|6g c8"),
    ('S', "~cm bq 6q 0q 0k 6h ce c8 68 18 0c"),
    ('T', "0q cq|6q 68"),
    ('U', "~0q 0g 08 68 c8 cg cq"),
    ('V', "0q 68 cq"),
    ('W', "0q 48 8o c8 gq"),
    ('X', "0q c8|cq 08"),
    ('Y', "0q 6i cq|6i 68"),
    ('Z', "0q cq 08 c8"),
    ('a', "~1i 2k 5k ak ag a8|~af 3f 0e 08 48 98 ac"),
    ('b', "0q 08|~0e 0k 6k ak ae a8 68 08 0e"),
    ('c', "~aj 9k 5k 0k 0e 08 58 98 a9"),
    ('d', "aq a8|~ae ak 4k 0k 0e 08 48 a8 ae"),
    ('e', "0e ae|~ae ak 5k 0k 0e 08 68 99"),
    ('f', "~8q 2q 2k 28|0k 6k"),
    ('g', "ak a6|~a6 a0 40 00 04|~ae ak 4k 0k 0e 08 48 a8 ae"),
    ('h', "0q 08|~0e 0k 6k ak ae a8"),
    ('i', "0k 08|0q 0q"),
    ('j', "~4k 46 40 00|4q 4q"),
    ('k', "0q 08|8k 0c|2e 88"),
    ('l', "~0q 0c 08 48"),
    ('m', "0k 08|~0e 0k 4k 8k 8e 88|~8e 8k ck gk ge g8"),
    ('n', "0k 08|~0e 0k 6k ak ae a8"),
    ('o', "~6k ck c8 68 08 0k 6k"),
    ('p', "0k 00|~0e 0k 6k ak ae a8 68 08 0e"),
    ('q', "ak a0|~ae ak 4k 0k 0e 08 48 a8 ae"),
    ('r', "0k 08|~0e 0k 6k 8k"),
    ('s', "~9j 5l 0k 0g 5e ac a8 57 09"),
    ('t', "~2q 2c 28 88|0k 6k"),
    ('u', "~0k 0c 08 48 a8 ae|ak a8"),
    ('v', "0k 68 ck"),
    ('w', "0k 48 8i c8 gk"),
    ('x', "0k a8|ak 08"),
    ('y', "0k 68|ck 20"),
    ('z', "0k ak 08 a8"),
    ('0', "~5q aq ah a8 58 08 0h 0q 5q"),
    ('1', "2m 6q 68"),
    ('2', "~0m 0q 5q aq al ai 08|08 a8"),
    ('3', "~0n 1q 5q aq ai 4i|~4i ai a8 58 18 0b"),
    ('4', "88 8q 0e ae"),
    ('5', "aq 0q 0i|~0i 2k 5k ak ae a8 58 18 0a"),
    ('6', "~9q 5p 0k 0e|~0e 0i 5i ai ad a8 58 08 0e"),
    ('7', "0q aq 48"),
    ('8', "~5q aq ak 5h 0f 08 58 a8 af 5h 0k 0q 5q"),
    ('9', "~18 59 ae ak|~ak ag 5g 0g 0l 0q 5q aq ak"),
    ('.', "08 08"),
    (',', "28 04"),
    (':', "08 08|0k 0k"),
    (';', "28 04|2k 2k"),
    ('-', "0g 8g"),
    ('−', "0g ag"),
    ('+', "0g cg|6a 6m"),
    ('=', "0c cc|0k ck"),
    ('<', "am 0g aa"),
    ('>', "0m ag 0a"),
    ('/', "06 as"),
    ('\\', "0s a6"),
    ('|', "0s 04"),
    ('(', "~4s 0m 0a 44"),
    (')', "~0s 4m 4a 04"),
    ('[', "4s 0s 04 44"),
    (']', "0s 4s 44 04"),
    ('{', "~6s 2s 2m 2g 0g|~0g 2g 2a 24 64"),
    ('}', "~0s 4s 4m 4g 6g|~6g 4g 4a 44 04"),
    ('_', "06 c6"),
    ('*', "6q 6e|0m ci|cm 0i"),
    ('\'', "0q 0k"),
    ('"', "0q 0k|6q 6k"),
    ('`', "0q 4m"),
    ('!', "0q 0e|08 08"),
    ('?', "~0m 0q 4q aq am ai 4g 4e|48 48"),
    ('#', "28 6q|88 cq|0k ek|0e ce"),
    ('$', "~cm co 6o 0o 0m 0i 6i ci cc ca 6a 0a 0c|6s 66"),
    ('%', "08 eq|~2q 6q 6m 6i 4i 0i 0m 0q 2q|~ag eg ec e8 c8 88 8c 8g ag"),
    ('&', "~e8 2m 2q 6q aq ak 0e 08 68 c8 cg"),
    ('@', "~cm co 6m 4i 4e 6c ac ci|~co ce ge gi gq 8q 0q 0g 08 88 c8"),
    ('^', "0m 4q 8m"),
    ('~', "~0e 0k 4k 6e ae ck"),
    ('°', "~2q 6q 6m 6k 2k 0k 0m 0q 2q"),
    ('²', "~0o 0s 4s 6s 6o 0i|0i 6i"),
    ('³', "~0s 6s 6q 6o 2o|~2o 6o 6i 2i 0k"),
    ('·', "0g 0g"),
    ('×', "0a ak|0k aa"),
    ('µ', "0k 00|~0k 0c 08 48 a8 ae|ak a8"),
    ('Δ', "08 6q c8 08"),
];

/// Glyph for a character without one.
const UNKNOWN: &str = "08 0q aq a8 08";

/// A letter: strokes in units, and the width up to the next letter without the gap.
#[derive(Debug)]
struct Glyph {
    strokes: Vec<Vec<[f64; 2]>>,
    width: f64,
}

fn glyph(c: char) -> &'static Glyph {
    static ALL: OnceLock<BTreeMap<char, Glyph>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let unknown = std::iter::once((char::REPLACEMENT_CHARACTER, UNKNOWN));
        GLYPHS.iter().copied().chain(unknown).map(|(c, text)| (c, Glyph::read(c, text))).collect()
    });
    all.get(&c).unwrap_or(&all[&char::REPLACEMENT_CHARACTER])
}

impl Glyph {
    fn read(c: char, text: &str) -> Glyph {
        let stroke = |text: &str| {
            let (points, is_spline) = text.strip_prefix('~').map_or((text, false), |points| (points, true));
            let points: Vec<[f64; 2]> = points.split(' ').map(point).collect();
            if is_spline { spline(&points) } else { points }
        };
        let strokes: Vec<Vec<[f64; 2]>> = text.split('|').map(stroke).collect();
        let width = strokes.iter().flatten().map(|point| point[0]).fold(0.0, f64::max);
        Glyph { strokes, width: if c.is_ascii_digit() { DIGIT } else { width } }
    }
}

fn point(text: &str) -> [f64; 2] {
    let mut digits = text.chars().map(|digit| f64::from(digit.to_digit(36).unwrap_or(0)) / 2.0);
    [digits.next().unwrap_or(0.0), digits.next().unwrap_or(0.0) - BASELINE]
}

/// A quadratic B-spline from the first to the last of its control points, as short lines.
fn spline(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    const PARTS: usize = 6;
    let middle = |a: [f64; 2], b: [f64; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
    let last = points.len() - 1;
    let mut curve = vec![points[0]];
    for at in 1..last {
        let start = if at == 1 { points[0] } else { middle(points[at - 1], points[at]) };
        let end = if at + 1 == last { points[last] } else { middle(points[at], points[at + 1]) };
        for part in 1..=PARTS {
            let t = part as f64 / PARTS as f64;
            let of = |axis: usize| (1.0 - t) * (1.0 - t) * start[axis] + 2.0 * t * (1.0 - t) * points[at][axis] + t * t * end[axis];
            curve.push([of(0), of(1)]);
        }
    }
    curve
}

/// Width of a text of a size, up to the end of its last letter.
pub fn width(text: &str, size: f64) -> f64 {
    let units: f64 = text.chars().map(|c| if c == ' ' { GAP } else { glyph(c).width } + GAP).sum();
    (units - GAP).max(0.0) * size / UNITS
}

/// A text that fits a width: its end is left out if it does not.
pub fn fitted(text: &str, most: f64, size: f64) -> String {
    let mut text = text.to_owned();
    if width(&text, size) <= most {
        return text;
    }
    while !text.is_empty() && width(&format!("{text}..."), size) > most {
        text.pop();
    }
    format!("{text}...")
}

/// The strokes of a text of a size, from its left end on the baseline; y points down. Glyphs begin
/// at whole pixels, so that equal letters look the same.
pub fn strokes(text: &str, size: f64) -> Vec<Vec<[f64; 2]>> {
    let (unit, mut x, mut strokes) = (size / UNITS, 0.0, Vec::new());
    for c in text.chars() {
        if c == ' ' {
            x += 2.0 * GAP;
            continue;
        }
        let glyph = glyph(c);
        // Narrow digits stand in the middle of their width.
        let own = glyph.strokes.iter().flatten().map(|point| point[0]).fold(0.0, f64::max);
        let left = ((x + (glyph.width - own) / 2.0) * unit).round();
        strokes.extend(glyph.strokes.iter().map(|stroke| stroke.iter().map(|[px, py]| [left + px * unit, -py * unit]).collect()));
        x += glyph.width + GAP;
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::BLACK;
    use crate::image::{Image, Rect};

    #[test]
    fn every_printable_character_has_strokes_on_the_grid() {
        for c in (b'!'..=b'~').map(char::from).chain("−°²³·×µΔ".chars()) {
            assert!(GLYPHS.iter().any(|(known, _)| *known == c), "no glyph for {c:?}");
            let points = strokes(&c.to_string(), UNITS).concat();
            assert!(
                points.iter().all(|[x, y]| (-1e-9..=8.0 + 1e-9).contains(x) && (-10.0 - 1e-9..=4.0 + 1e-9).contains(y)),
                "{c:?} leaves the grid"
            );
        }
    }

    /// Ink that two glyphs of one width do not share, relative to that of the one with less.
    fn difference(a: char, b: char) -> f64 {
        let drawn = |c: char| {
            let all = Rect { left: 0.0, top: 0.0, right: 14.0, bottom: 20.0 };
            let mut image = Image::new(14, 20);
            let widest = glyph(c).strokes.iter().flatten().map(|point| point[0]).fold(0.0, f64::max);
            let own = strokes(&c.to_string(), UNITS);
            let left = own.iter().flatten().map(|point| point[0]).fold(f64::MAX, f64::min);
            for stroke in own {
                let place = |[x, y]: [f64; 2]| [3.5 + (x - left) * 5.0 / widest.max(1.0), 14.5 + y];
                image.line(&stroke.into_iter().map(place).collect::<Vec<_>>(), 1.2, BLACK, all);
            }
            image.pixels.iter().map(|pixel| 255.0 - f64::from(pixel[0])).collect::<Vec<f64>>()
        };
        let (a, b) = (drawn(a), drawn(b));
        let ink = |pixels: &[f64]| pixels.iter().sum::<f64>();
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>() / ink(&a).min(ink(&b))
    }

    /// Pairs that are taken for each other where letters are bare: a reader needs three tenths of
    /// the ink to tell them apart, and of round letters, which their width tells apart too, less.
    #[test]
    fn glyphs_are_told_apart() {
        for pair in "ao ad aq ae 8B 8S 83 6b 56 5S 39 3B 3S es ce co 69 9g Il 1l 1I ×/".split(' ') {
            let letters: Vec<char> = pair.chars().collect();
            let found = difference(letters[0], letters[1]);
            assert!(found > 0.3, "`{}` and `{}`: {found:.2}", letters[0], letters[1]);
        }
        assert!(difference('0', 'O') > 0.15 && width("O", 13.0) > width("0", 13.0));
        let texts: std::collections::BTreeSet<&str> = GLYPHS.iter().map(|(_, text)| *text).collect();
        assert_eq!(texts.len(), GLYPHS.len());
    }

    /// A digit takes 5 units and the gap 2.4 of 13.
    #[test]
    fn digits_have_one_width() {
        assert_eq!(width("11", 13.0), width("88", 13.0));
        assert!((width("88", 13.0) - 12.4).abs() < 1e-12);
        assert_eq!(width("", 13.0), 0.0);
    }
}
