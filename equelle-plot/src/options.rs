//! Content and form of a picture.

use std::path::Path;

use equelle_runtime::{Error, ErrorKind};

use crate::colour::{ColourMap, Range};
use crate::slice::{AXES, Slice};

/// Most pixels along a side of a picture.
const MAX_PIXELS: usize = 10_000;

/// Formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Shapes.
    Svg,
    /// Pixels.
    Png,
    /// Pixels in 256 colours.
    Gif,
}

impl Format {
    /// That of a file, by the end of its name.
    ///
    /// # Errors
    /// `Usage` for another end than `.png`, `.svg` and `.gif`.
    pub fn of(path: &Path) -> Result<Format, Error> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("png") => Ok(Format::Png),
            Some("svg") => Ok(Format::Svg),
            Some("gif") => Ok(Format::Gif),
            Some(_) | None => Err(Error::new(ErrorKind::Usage, format!("`{}`: pictures are .png, .svg or .gif files", path.display()))),
        }
    }
}

/// Which steps are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// The last one for maps, some from the first to the last for lines.
    Usual,
    /// The first one.
    First,
    /// The last one.
    Last,
    /// All, or as many as fit, evenly chosen.
    All,
    /// These rounds of the outermost loop.
    These(Vec<u64>),
}

/// Content and form of a picture.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tags of outputs; all if there are none. `v_x` is a component of the Vector `v`.
    pub tags: Vec<String>,
    /// Steps.
    pub steps: Steps,
    /// Values of the ends of the colour bar or axis; those of the data if it is missing.
    pub range: Option<Range>,
    /// Width and height in pixels.
    pub size: Option<(usize, usize)>,
    /// Colours of maps.
    pub colours: ColourMap,
    /// Where a grid of three dimensions is cut; in the middle of z if it is missing.
    pub slice: Option<Slice>,
    /// Number of iso-lines of a map.
    pub isolines: usize,
    /// One picture for each step, one after the other.
    pub is_animation: bool,
    /// How long each picture of an animation is shown.
    pub frame_milliseconds: u16,
    /// True if norms of residuals are drawn instead of outputs.
    pub is_convergence: bool,
    /// Parameter to the right, for a sweep; the fineness of the grid if it is missing.
    pub against: Option<String>,
    /// True if the axes of a sweep have logarithms, whatever the parameter is.
    pub is_log: bool,
    /// Format of the file.
    pub format: Format,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tags: Vec::new(),
            steps: Steps::Usual,
            range: None,
            size: None,
            colours: ColourMap::Viridis,
            slice: None,
            isolines: 0,
            is_animation: false,
            frame_milliseconds: 100,
            is_convergence: false,
            against: None,
            is_log: false,
            format: Format::Png,
        }
    }
}

impl Steps {
    /// From `first`, `last`, `all`, or numbers with commas.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(text: &str) -> Result<Steps, String> {
        match text {
            "first" => Ok(Steps::First),
            "last" => Ok(Steps::Last),
            "all" => Ok(Steps::All),
            numbers => {
                let steps: Result<Vec<u64>, _> = numbers.split(',').map(|number| number.trim().parse()).collect();
                steps.map(Steps::These).map_err(|_| "expected first, last, all, or numbers of steps such as 1,10,100".to_owned())
            }
        }
    }
}

impl Slice {
    /// From `z=0.5`.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(text: &str) -> Result<Slice, String> {
        let found = text.split_once('=').and_then(|(axis, at)| {
            let axis = AXES.iter().position(|name| *name == axis.trim())?;
            let at = at.trim().parse::<f64>().ok().filter(|at| at.is_finite())?;
            Some(Slice { axis, at })
        });
        found.ok_or_else(|| "expected an axis and a coordinate, such as z=0.5".to_owned())
    }
}

impl Range {
    /// From `0:1`.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(text: &str) -> Result<Range, String> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let ends = text.split_once(':').and_then(|(low, high)| Some((number(low)?, number(high)?)));
        match ends {
            Some((low, high)) if low < high => Ok(Range { low, high }),
            Some(_) | None => Err("expected two numbers, the lower one first, such as 0:1".to_owned()),
        }
    }
}

/// A size from `800x600`.
///
/// # Errors
/// Says what was expected.
pub fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| (100..=MAX_PIXELS).contains(n));
    let size = text.split_once('x').and_then(|(width, height)| Some((number(width)?, number(height)?)));
    size.ok_or_else(|| format!("expected width and height in pixels from 100 to {MAX_PIXELS}, such as 800x600"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        assert_eq!(Steps::parse("1, 10"), Ok(Steps::These(vec![1, 10])));
        assert_eq!(Slice::parse("y=-0.5"), Ok(Slice { axis: 1, at: -0.5 }));
        assert_eq!(Range::parse("-1:2.5"), Ok(Range { low: -1.0, high: 2.5 }));
        assert_eq!(parse_size("800x600"), Ok((800, 600)));
    }

    #[test]
    fn wrong_options_say_what_was_expected() {
        assert!(["x", "1,,2", "-1", ""].iter().all(|text| Steps::parse(text).is_err()));
        assert!(["z", "w=1", "z=nan", "z=", "=1"].iter().all(|text| Slice::parse(text).is_err()));
        assert!(["1:1", "2:1", "0:inf", "1", "nan:1"].iter().all(|text| Range::parse(text).is_err()));
        assert!(["0x0", "99x600", "800", "100000x100"].iter().all(|text| parse_size(text).is_err()));
        assert!(Format::of(Path::new("a.pdf")).is_err() && Format::of(Path::new("a")).is_err());
    }
}
