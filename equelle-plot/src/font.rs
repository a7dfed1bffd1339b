//! Letters as strokes, drawn for this crate: a picture needs no font of the system, and looks the
//! same everywhere.
//!
//! A glyph is strokes of points `xy` in hexadecimal digits, on a grid of 13 units to the size: the
//! baseline is y = 4, small letters reach 10, capitals 13, and descenders 0. A stroke that begins
//! with `~` is a quadratic B-spline of its points.

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

/// What of a letter may be below the baseline, relative to the size.
pub const DESCENT: f64 = BASELINE / UNITS;

/// Sizes of titles, and of numbers.
pub const TITLE: f64 = 16.0;
pub const TEXT: f64 = 13.0;

const GLYPHS: &[(char, &str)] = &[
    ('A', "04 3d 64|17 57"),
    ('B', "04 0d|~0d 3d 5d 5b 59 39 09|~09 39 69 66 64 34 04"),
    ('C', "~6b 6d 3d 0d 08 04 34 64 66"),
    ('D', "04 0d|~0d 3d 6d 68 64 34 04"),
    ('E', "6d 0d 04 64|09 59"),
    ('F', "6d 0d 04|09 59"),
    ('G', "~6b 6d 3d 0d 08 04 34 64 68|68 38"),
    ('H', "04 0d|64 6d|09 69"),
    ('I', "04 0d"),
    ('J', "~4d 4a 47 44 24 04 06"),
    ('K', "04 0d|6d 07|29 64"),
    ('L', "0d 04 64"),
    ('M', "04 0d 48 8d 84"),
    ('N', "04 0d 64 6d"),
    ('O', "~3d 6d 68 64 34 04 08 0d 3d"),
    ('P', "04 0d|~0d 3d 6d 6b 68 38 08"),
    ('Q', "~3d 6d 68 64 34 04 08 0d 3d|46 73"),
    ('R', "04 0d|~0d 3d 6d 6b 68 38 08|38 64"),
    ('S', "~6b 6d 3d 0d 0b 09 39 69 66 64 34 04 06"),
    ('T', "0d 6d|3d 34"),
    ('U', "~0d 08 04 34 64 68 6d"),
    ('V', "0d 34 6d"),
    ('W', "0d 24 4c 64 8d"),
    ('X', "0d 64|6d 04"),
    ('Y', "0d 39 6d|39 34"),
    ('Z', "0d 6d 04 64"),
    ('a', "5a 54|~57 5a 2a 0a 07 04 24 54 57"),
    ('b', "0d 04|~07 0a 3a 5a 57 54 34 04 07"),
    ('c', "~59 5a 3a 0a 07 04 34 54 55"),
    ('d', "5d 54|~57 5a 2a 0a 07 04 24 54 57"),
    ('e', "07 57|~57 5a 3a 0a 07 04 34 54 55"),
    ('f', "~4d 1d 1a 14|0a 3a"),
    ('g', "5a 53|~53 50 20 00 02|~57 5a 2a 0a 07 04 24 54 57"),
    ('h', "0d 04|~07 0a 3a 5a 57 54"),
    ('i', "0a 04|0d 0d"),
    ('j', "~2a 23 20 00|2d 2d"),
    ('k', "0d 04|4a 06|17 44"),
    ('l', "0d 04"),
    ('m', "0a 04|~07 0a 2a 4a 47 44|~47 4a 6a 8a 87 84"),
    ('n', "0a 04|~07 0a 3a 5a 57 54"),
    ('o', "~3a 6a 67 64 34 04 07 0a 3a"),
    ('p', "0a 00|~07 0a 3a 5a 57 54 34 04 07"),
    ('q', "5a 50|~57 5a 2a 0a 07 04 24 54 57"),
    ('r', "0a 04|~07 0a 3a 4a"),
    ('s', "~59 5a 3a 0a 09 07 37 57 55 54 24 04 05"),
    ('t', "~1d 16 14 44|0a 3a"),
    ('u', "~0a 06 04 24 54 57|5a 54"),
    ('v', "0a 34 6a"),
    ('w', "0a 24 49 64 8a"),
    ('x', "0a 54|5a 04"),
    ('y', "0a 34|6a 10"),
    ('z', "0a 5a 04 54"),
    ('0', "~2d 5d 58 54 24 04 08 0d 2d"),
    ('1', "1b 3d 34"),
    ('2', "~0b 0d 3d 5d 5b 59 04|04 54"),
    ('3', "~0c 0d 3d 5d 5b 59 29|~29 59 56 54 24 04 06"),
    ('4', "44 4d 07 57"),
    ('5', "5d 0d 09|~09 1a 3a 5a 57 54 24 04 05"),
    ('6', "~5c 5d 2d 0d 08 07|~07 0a 3a 5a 57 54 24 04 07"),
    ('7', "0d 5d 24"),
    ('8', "~2d 5d 5b 59 29 09 0b 0d 2d|~29 59 56 54 24 04 06 09 29"),
    ('9', "~05 04 34 54 59 5a|~5a 57 27 07 0a 0d 3d 5d 5a"),
    ('.', "04 04"),
    (',', "14 02"),
    (':', "04 04|0a 0a"),
    (';', "14 02|1a 1a"),
    ('-', "08 48"),
    ('−', "08 58"),
    ('+', "08 68|35 3b"),
    ('=', "06 66|0a 6a"),
    ('<', "5b 08 55"),
    ('>', "0b 58 05"),
    ('/', "03 5e"),
    ('\\', "0e 53"),
    ('|', "0e 02"),
    ('(', "~2e 0b 05 22"),
    (')', "~0e 2b 25 02"),
    ('[', "2e 0e 02 22"),
    (']', "0e 2e 22 02"),
    ('{', "~3e 1e 1b 18 08|~08 18 15 12 32"),
    ('}', "~0e 2e 2b 28 38|~38 28 25 22 02"),
    ('_', "03 63"),
    ('*', "3d 37|0b 69|6b 09"),
    ('\'', "0d 0a"),
    ('"', "0d 0a|3d 3a"),
    ('`', "0d 2b"),
    ('!', "0d 07|04 04"),
    ('?', "~0b 0d 2d 5d 5b 59 28 27|24 24"),
    ('#', "14 3d|44 6d|0a 7a|07 67"),
    ('$', "~6b 6c 3c 0c 0b 09 39 69 66 65 35 05 06|3e 33"),
    ('%', "04 7d|~1d 3d 3b 39 29 09 0b 0d 1d|~58 78 76 74 64 44 46 48 58"),
    ('&', "~74 1b 1d 3d 5d 5a 07 04 34 64 68"),
    ('@', "~6b 6c 3b 29 27 36 56 69|~6c 67 87 89 8d 4d 0d 08 04 44 64"),
    ('^', "0b 2d 4b"),
    ('~', "~07 0a 2a 37 57 6a"),
    ('°', "~1d 3d 3b 3a 1a 0a 0b 0d 1d"),
    ('²', "~0c 0e 2e 3e 3c 09|09 39"),
    ('³', "~0e 3e 3d 3c 1c|~1c 3c 39 19 0a"),
    ('·', "08 08"),
    ('×', "05 5a|5a 05"),
    ('µ', "0a 00|~0a 06 04 24 54 57|5a 54"),
    ('Δ', "04 3d 64 04"),
];

/// What stands for a character without a glyph.
const UNKNOWN: &str = "04 0d 5d 54 04";

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
    let mut digits = text.chars().map(|digit| f64::from(digit.to_digit(16).unwrap_or(0)));
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

/// The strokes of a text of a size, from its left end on the baseline; y points down.
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
        let left = x + (glyph.width - own) / 2.0;
        strokes.extend(glyph.strokes.iter().map(|stroke| stroke.iter().map(|[px, py]| [(left + px) * unit, -py * unit]).collect()));
        x += glyph.width + GAP;
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Two glyphs with the same strokes could not be read.
    #[test]
    fn glyphs_differ() {
        let texts: std::collections::BTreeSet<&str> = GLYPHS.iter().filter(|(c, _)| !"Il|".contains(*c)).map(|(_, text)| *text).collect();
        assert_eq!(texts.len() + 3, GLYPHS.len());
    }

    /// A digit takes 5 units and the gap 2.4 of 13.
    #[test]
    fn digits_have_one_width() {
        assert_eq!(width("11", 13.0), width("88", 13.0));
        assert!((width("88", 13.0) - 12.4).abs() < 1e-12);
        assert_eq!(width("", 13.0), 0.0);
    }
}
