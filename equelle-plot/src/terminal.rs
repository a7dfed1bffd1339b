//! Pictures of letters, for terminals: a map or a line of the last step that a run has written.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use equelle_runtime::Error;

use crate::axis::short;
use crate::colour::{Colour, WHITE};
use crate::drawing::{Drawing, Item, Map};
use crate::image::Rect;
use crate::options::{Options, Steps};
use crate::panel::Panel;
use crate::panels;
use crate::run::Run;

/// Letters from low to high values, without colours.
const RAMP: &[u8] = b".:-=+*#%@";

/// A picture of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPicture {
    /// Title, picture and numbers, each line with its end.
    pub text: String,
    /// Number of its lines.
    pub n_lines: usize,
}

/// The last step of a tag as letters, `columns` wide; in colours where a terminal has them.
///
/// # Errors
/// As [`crate::plot`].
pub fn text_picture(path: &Path, tag: &str, columns: usize, has_colours: bool) -> Result<TextPicture, Error> {
    let run = Run::open(path)?;
    let options = Options { tags: vec![tag.to_owned()], steps: Steps::Last, ..Options::default() };
    let chosen = panels::choose(&run, &options)?;
    let columns = columns.clamp(20, 200);
    let text = match chosen.frames.first().and_then(|frame| frame.first()) {
        Some(Panel::Map(map)) => {
            let range = map.scale.range;
            let unit = map.unit.as_ref().map_or_else(String::new, |unit| format!(" [{unit}]"));
            let window = map.plane.bounds();
            let extent = [window[1][0] - window[0][0], window[1][1] - window[0][1]];
            // A letter is about twice as high as wide.
            let rows = ((columns as f64 * extent[1] / extent[0] / 2.0).round() as usize).clamp(1, 30);
            let width = ((2 * rows) as f64 * extent[0] / extent[1]).round().clamp(1.0, columns as f64) as usize;
            let mut text = format!("{}{unit}   {} to {}\n", map.title, short(range.low), short(range.high));
            let colours: Vec<Colour> = map.values.iter().map(|&value| map.scale.colour(value)).collect();
            let pixels = |colours: Vec<Colour>| {
                let mut drawing = Drawing::new(width, 2 * rows);
                let frame = Rect { left: 0.0, top: 0.0, right: width as f64, bottom: (2 * rows) as f64 };
                drawing.items.push(Item::Map(Map { frame, window, plane: Arc::clone(&map.plane), colours: Arc::new(colours) }));
                drawing.pixels()
            };
            if has_colours {
                let image = pixels(colours);
                for row in 0..rows {
                    for x in 0..width {
                        let [a, b] = [image.at(x, 2 * row), image.at(x, 2 * row + 1)];
                        let _ = write!(text, "\x1b[38;2;{};{};{}m\x1b[48;2;{};{};{}m\u{2580}", a[0], a[1], a[2], b[0], b[1], b[2]);
                    }
                    text.push_str("\x1b[0m\n");
                }
            } else {
                // Levels as colours, so that the map is drawn once.
                let level = |value: &f64| if value.is_nan() { [b'?'; 3] } else { [RAMP[((range.place(*value) * 9.0) as usize).min(8)]; 3] };
                let image = pixels(map.values.iter().map(level).collect());
                for row in 0..rows {
                    let letters = (0..width).map(|x| if image.at(x, 2 * row) == WHITE { ' ' } else { char::from(image.at(x, 2 * row)[0]) });
                    text.push_str(letters.collect::<String>().trim_end());
                    text.push('\n');
                }
            }
            text
        }
        Some(Panel::Lines(lines)) => {
            let points: Vec<[f64; 2]> = lines.curves.iter().flat_map(|curve| curve.points.iter().copied()).collect();
            // The name of the axis has the unit.
            let moment = lines.title.split_once("   ").map_or_else(String::new, |(_, moment)| format!("   {moment}"));
            letters_of_line(&format!("{}{moment}", lines.axes[1]), &lines.axes[0], lines.extent, &points, columns)
        }
        None => String::new(),
    };
    let n_lines = text.lines().count();
    Ok(TextPicture { text, n_lines })
}

/// A line as letters: in each column the mean of its points.
fn letters_of_line(title: &str, axis: &str, extent: [f64; 2], points: &[[f64; 2]], columns: usize) -> String {
    const ROWS: usize = 12;
    let width = extent[1] - extent[0];
    let mut sums = vec![(0.0, 0_u32); columns];
    for point in points.iter().filter(|point| point[1].is_finite()) {
        let at = if width > 0.0 { (point[0] - extent[0]) / width * columns as f64 } else { 0.0 };
        let (sum, n) = &mut sums[(at as usize).min(columns - 1)];
        (*sum, *n) = (*sum + point[1], *n + 1);
    }
    let means: Vec<Option<f64>> = sums.iter().map(|(sum, n)| (*n > 0).then(|| sum / f64::from(*n))).collect();
    let range = crate::Range::of(means.iter().flatten().copied()).unwrap_or(crate::Range { low: 0.0, high: 1.0 });
    let mut rows = vec![vec![' '; columns]; ROWS];
    for (column, mean) in means.iter().enumerate().filter_map(|(column, mean)| Some((column, (*mean)?))) {
        let row = ((1.0 - range.place(mean)) * (ROWS - 1) as f64).round() as usize;
        rows[row][column] = '*';
    }
    let mut text = format!("{title}   {} to {}\n", short(range.low), short(range.high));
    for row in rows {
        let _ = writeln!(text, "|{}", row.iter().collect::<String>().trim_end());
    }
    let _ = writeln!(text, "+{}\n {axis} from {} to {}", "-".repeat(columns), short(extent[0]), short(extent[1]));
    text
}

#[cfg(test)]
mod tests {
    use super::letters_of_line;

    /// Values 0, 1, 2 in three columns: lower left, middle, upper right.
    #[test]
    fn a_line_of_letters() {
        let text = letters_of_line("u", "x", [0.0, 3.0], &[[0.5, 0.0], [1.5, 1.0], [2.5, 2.0]], 3);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!((rows[0], rows[1], rows[12], rows[13], rows[14]), ("u   0 to 2", "|  *", "|*", "+---", " x from 0 to 3"));
        assert_eq!(rows[2..12].iter().filter(|row| **row == "| *").count(), 1);
    }
}
