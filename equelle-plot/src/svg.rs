//! SVG. Labels are texts, which readers find, select and read aloud; each has the width of the font
//! of the crate, so that none collides with another one where a reader has a different font.

use std::fmt::Write as _;

use crate::colour::Colour;
use crate::drawing::{Drawing, Item, Label, Map};
use crate::font;
use crate::image::Rect;
use crate::png_file;

/// Most cells that become shapes; of more cells there is an image of pixels in the file.
const MAX_SHAPES: usize = 5_000;

/// Pixels of such an image for each unit of the picture.
const PIXELS: f64 = 2.0;

/// The file.
pub fn text(drawing: &Drawing) -> String {
    text_with(drawing, &|out, map| if map.plane.len() <= MAX_SHAPES { cells(out, map) } else { image(out, map) })
}

/// The same with an image without content, of this id, in place of each map.
pub fn without_maps(drawing: &Drawing, id: &str) -> String {
    text_with(drawing, &|out, map| {
        let begin = format!("<image id=\"{id}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"");
        out.push_str(&shape(map.frame).replacen("<rect", &begin, 1));
        out.push('\n');
    })
}

fn text_with(drawing: &Drawing, draw_map: &dyn Fn(&mut String, &Map)) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans,Verdana,sans-serif\" xml:space=\"preserve\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    // Writing to a String cannot fail.
    for (number, item) in drawing.items.iter().enumerate() {
        match item {
            Item::Fill(rect, colour) => out.push_str(&filled(*rect, *colour)),
            Item::Line { paths, width, colour, clip } => {
                let path = |points: &Vec<[f64; 2]>| match points[..] {
                    // A dot is a line of no length.
                    [dot] => path(&[dot; 2], false),
                    _ => path(points, false),
                };
                let clipped = *clip != drawing.rect();
                let clip_path = if clipped { format!(" clip-path=\"url(#clip{number})\"") } else { String::new() };
                if clipped {
                    let _ = writeln!(out, "<clipPath id=\"clip{number}\">{}</clipPath>", shape(*clip));
                }
                let _ = writeln!(
                    out,
                    "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"{clip_path}/>",
                    paths.iter().map(path).collect::<String>(),
                    hex(*colour),
                    number_text(*width)
                );
            }
            Item::Label(label) => out.push_str(&label_text(label)),
            Item::Map(map) => draw_map(&mut out, map),
        }
    }
    out.push_str("</svg>\n");
    out
}

/// A label; blanks only are none.
fn label_text(label: &Label) -> String {
    if label.text.trim().is_empty() {
        return String::new();
    }
    let [x, y] = label.begin().map(number_text);
    let turn = if label.is_upward { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let [size, width] = [label.size, font::width(&label.text, label.size)].map(number_text);
    format!(
        "<text x=\"{x}\" y=\"{y}\"{turn} font-size=\"{size}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
        escaped(&label.text)
    )
}

/// A text as content, or as the value of an attribute.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Hundredths of a pixel are enough.
fn number_text(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

pub fn path(points: &[[f64; 2]], is_closed: bool) -> String {
    let mut text = String::new();
    for (index, point) in points.iter().enumerate() {
        let _ = write!(text, "{}{} {}", if index == 0 { 'M' } else { 'L' }, number_text(point[0]), number_text(point[1]));
    }
    text.push_str(if is_closed { "Z" } else { "" });
    text
}

fn shape(rect: Rect) -> String {
    let [x, y, width, height] = [rect.left, rect.top, rect.width(), rect.height()].map(number_text);
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
}

fn filled(rect: Rect, colour: Colour) -> String {
    // Rectangles of a colour bar touch: smooth edges would show lines between them.
    shape(rect).replace("/>", &format!(" fill=\"{}\" shape-rendering=\"crispEdges\"/>\n", hex(colour)))
}

/// Cells as shapes without smooth edges, between which the paper would shine through. Where a
/// reader has them in any case, a thin line of the colour of a cell hides the gap.
fn cells(out: &mut String, map: &Map) {
    out.push_str("<g stroke-width=\"0.3\" stroke-linejoin=\"round\" shape-rendering=\"crispEdges\">\n");
    for (cell, &colour) in map.colours.iter().enumerate() {
        let points: Vec<[f64; 2]> = map.plane.polygon(cell).into_iter().map(|point| map.place(point)).collect();
        let colour = hex(colour);
        let _ = writeln!(out, "<path d=\"{}\" fill=\"{colour}\" stroke=\"{colour}\"/>", path(&points, true));
    }
    out.push_str("</g>\n");
}

/// Cells as pixels.
fn image(out: &mut String, map: &Map) {
    let frame = map.frame;
    let size = [frame.width(), frame.height()].map(|length| (length * PIXELS).round().max(1.0));
    let mut pixels = Drawing::new(size[0] as usize, size[1] as usize);
    let whole = pixels.rect();
    pixels.items.push(Item::Map(Map { frame: whole, ..map.clone() }));
    let data = base64(&png_file::file(&[pixels.pixels()], 0));
    let place = shape(frame).replacen("<rect", "<image preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"", 1);
    out.push_str(&place.replace("/>", &format!(" href=\"data:image/png;base64,{data}\"/>\n")));
}

pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let whole = group.iter().chain(&[0; 3]).take(3).fold(0_u32, |whole, &byte| whole << 8 | u32::from(byte));
        for digit in 0..4 {
            let index = whole >> (18 - 6 * digit) & 63;
            text.push(if digit <= group.len() { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4648.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let of = |text: &str| base64(text.as_bytes());
        assert_eq!([of(""), of("f"), of("fo"), of("foo"), of("foobar")], ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]);
    }

    #[test]
    fn numbers_are_short_and_texts_escaped() {
        assert_eq!([number_text(1.0), number_text(0.125), number_text(-0.001)], ["1", "0.12", "0"]);
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
