//! Colours of values.
//!
//! Viridis (Smith and van der Walt, 2015, published under CC0) is perceptually uniform: equal
//! differences of values look equally large, also in grey and to readers who do not tell red from
//! green. The diverging map is that of Moreland (2009), doi:10.1007/978-3-642-10520-3_9.

/// Red, green and blue.
pub type Colour = [u8; 3];

/// Colour of paper.
pub const WHITE: Colour = [255, 255, 255];
/// Colour of text and frames.
pub const BLACK: Colour = [0, 0, 0];
/// Colour of lines of the grid of a diagram.
pub const LIGHT: Colour = [224, 224, 224];
/// Colour of cells whose value is NaN; no colour of a map has this hue.
pub const NAN: Colour = [255, 0, 200];

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMap {
    /// From dark violet over green to yellow.
    Viridis,
    /// From blue over grey, in the middle of the range, to red.
    Diverging,
}

/// The 256 colours of viridis, six hexadecimal digits each.
const VIRIDIS: &str = "\
    44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467\
    48166848176948186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677\
    482878482979472a7a472c7a472d7b472e7c472f7d46307e46327e46337f463480453581453781453882\
    443983443a83443b84433d84433e85423f854240864241864142874144874045884046883f47883f4889\
    3e49893e4a893e4c8a3d4d8a3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c\
    38598c375a8c375b8d365c8d365d8d355e8d355f8d34608d34618d33628d33638d32648e32658e31668e\
    31678e31688e30698e306a8e2f6b8e2f6c8e2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e\
    2b748e2b758e2a768e2a778e2a788e29798e297a8e297b8e287c8e287d8e277e8e277f8e27808e26818e\
    26828e26828e25838e25848e25858e24868e24878e23888e23898e238a8d228b8d228c8d228d8d218e8d\
    218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b1f978b1f988b1f998a1f9a8a1e9b8a\
    1e9c891e9d891f9e891f9f881fa0881fa1881fa1871fa28720a38620a48621a58521a68522a78522a884\
    23a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d2eb37c2fb47c31b57b\
    32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf7046c06f48c16e\
    4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f65cb5e\
    67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d549\
    89d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32\
    addc30b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11c\
    d2e21bd5e21ad8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61e\
    f6e620f8e621fbe723fde725";

/// Length of the ends of the diverging map in Moreland's polar form of CIELAB, and their angle from
/// the axis of grey.
const END: [f64; 2] = [80.0, 1.08];

/// Length of its middle, which is grey.
const MIDDLE: f64 = 88.0;

/// How far hues turn away from those of the ends as they pale, since pale colours look shifted:
/// s sqrt(m^2 - M^2) / (M sin s) for the ends (M, s) and the middle m.
const TURN: f64 = 0.561;

impl ColourMap {
    /// The map of this name.
    pub fn named(name: &str) -> Option<ColourMap> {
        match name {
            "viridis" => Some(ColourMap::Viridis),
            "diverging" => Some(ColourMap::Diverging),
            _ => None,
        }
    }

    /// Its 256 colours, from the least to the largest value.
    pub fn table(self) -> Vec<Colour> {
        match self {
            ColourMap::Viridis => VIRIDIS.as_bytes().chunks_exact(6).map(|digits| [0, 2, 4].map(|at| byte(digits, at))).collect(),
            ColourMap::Diverging => (0..256).map(|index| diverging(f64::from(index) / 255.0)).collect(),
        }
    }
}

fn byte(digits: &[u8], at: usize) -> u8 {
    let digit = |at: usize| char::from(digits[at]).to_digit(16).unwrap_or(0) as u8;
    digit(at) * 16 + digit(at + 1)
}

/// Colour at a place from 0 to 1: saturation falls to grey in the middle, where the hue changes.
fn diverging(at: f64) -> Colour {
    let distance = 2.0 * (at - 0.5).abs();
    let (hue, turn) = if at < 0.5 { (-1.1, -TURN) } else { (0.5, TURN) };
    let (magnitude, saturation) = (MIDDLE + (END[0] - MIDDLE) * distance, END[1] * distance);
    let hue = hue + turn * (1.0 - distance);
    let lightness = magnitude * saturation.cos();
    let (a, b) = (magnitude * saturation.sin() * hue.cos(), magnitude * saturation.sin() * hue.sin());
    rgb([lightness, a, b])
}

/// From CIELAB, with the white of D65.
fn rgb([lightness, a, b]: [f64; 3]) -> Colour {
    let y = (lightness + 16.0) / 116.0;
    let inverse = |t: f64| if t > 6.0 / 29.0 { t * t * t } else { (t - 16.0 / 116.0) * 108.0 / 841.0 };
    let [x, y, z] = [0.95047 * inverse(y + a / 500.0), inverse(y), 1.08883 * inverse(y - b / 200.0)];
    let linear = [3.2406 * x - 1.5372 * y - 0.4986 * z, -0.9689 * x + 1.8758 * y + 0.0415 * z, 0.0557 * x - 0.2040 * y + 1.0570 * z];
    linear.map(|c| {
        let c = if c > 0.003_130_8 { 1.055 * c.powf(1.0 / 2.4) - 0.055 } else { 12.92 * c };
        (c.clamp(0.0, 1.0) * 255.0).round() as u8
    })
}

/// The range of values that a colour map covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The value of the first colour.
    pub low: f64,
    /// The value of the last colour; not below `low`.
    pub high: f64,
}

impl Range {
    /// From the least to the largest finite value; `None` without one.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Range> {
        values.into_iter().filter(|value| value.is_finite()).fold(None, |range: Option<Range>, value| match range {
            None => Some(Range { low: value, high: value }),
            Some(range) => Some(Range { low: range.low.min(value), high: range.high.max(value) }),
        })
    }

    /// Where a value is: 0 at the low end, 1 at the high one, 1/2 where all values are equal.
    pub fn place(self, value: f64) -> f64 {
        // Halves, since the width of a range may overflow.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 { ((value / 2.0 - self.low / 2.0) / width).clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// Values to colours: a table and a range.
#[derive(Clone, Debug)]
pub struct Scale {
    /// 256 colours.
    pub table: Vec<Colour>,
    /// Values outside of it have the colour of its nearer end.
    pub range: Range,
}

impl Scale {
    /// The colour of a value; NaN has its own.
    pub fn colour(&self, value: f64) -> Colour {
        if value.is_nan() { NAN } else { self.table[((self.range.place(value) * 256.0) as usize).min(255)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First, middle and last colour as published.
    #[test]
    fn viridis_is_as_published() {
        let table = ColourMap::Viridis.table();
        assert_eq!((table.len(), table[0], table[128], table[255]), (256, [0x44, 0x01, 0x54], [0x21, 0x91, 0x8c], [0xfd, 0xe7, 0x25]));
    }

    /// The ends of Moreland's map are (59, 76, 192) and (180, 4, 38), its middle (221, 221, 221).
    #[test]
    fn the_diverging_map_has_the_published_ends() {
        let table = ColourMap::Diverging.table();
        let near = |a: Colour, b: [i32; 3]| a.iter().zip(b).all(|(&a, b)| (i32::from(a) - b).abs() <= 4);
        assert!(near(table[0], [59, 76, 192]) && near(table[255], [180, 4, 38]), "{:?} {:?}", table[0], table[255]);
        assert!(near(table[127], [221, 221, 221]) && near(table[128], [221, 221, 221]), "{:?}", table[127]);
    }

    #[test]
    fn places_of_values() {
        let range = Range::of([2.0, f64::NAN, -2.0, f64::INFINITY]).unwrap();
        assert_eq!((range.low, range.high, range.place(0.0), range.place(9.0)), (-2.0, 2.0, 0.5, 1.0));
        assert_eq!(Range::of([f64::NAN]), None);
        assert_eq!(Range { low: 3.0, high: 3.0 }.place(3.0), 0.5);
        assert_eq!(Range { low: -f64::MAX, high: f64::MAX }.place(0.0), 0.5);
        let scale = Scale { table: ColourMap::Viridis.table(), range };
        assert_eq!([scale.colour(-2.0), scale.colour(2.0), scale.colour(f64::NAN)], [[0x44, 1, 0x54], [0xfd, 0xe7, 0x25], NAN]);
    }
}
