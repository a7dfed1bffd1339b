//! Content of a picture of a run: which tags at which steps, in which diagrams.

use std::sync::Arc;

use equelle_runtime::{Error, ErrorKind};

use crate::axes::Numbers;
use crate::axis::short;
use crate::chart;
use crate::colour::{Colour, ColourMap, Range, Scale};
use crate::contour;
use crate::field::{Component, Field};
use crate::log::Log;
use crate::options::{Options, Steps};
use crate::panel::{Curve, LinePanel, MapPanel, Panel};
use crate::run::{OutputFile, Run, Tag, Units, no_such, with_unit};
use crate::series::{self, Series};
use crate::slice::{self, AXES, Slice};
use crate::solves;

/// Most diagrams of a picture.
pub(crate) const MAX_PANELS: usize = 16;

/// Lines of a diagram: as many as usual, and at most.
const USUAL_CURVES: usize = 6;
pub(crate) const MAX_CURVES: usize = 12;

/// Most pictures of an animation.
const MAX_FRAMES: usize = 300;

/// Colour of a line that stands alone.
pub(crate) const ONLY: Colour = [0x31, 0x68, 0x8e];

/// Diagrams of a picture, or of each picture of an animation.
pub struct Chosen {
    /// The diagrams of each picture.
    pub frames: Vec<Vec<Panel>>,
    /// Notes on parts left out, a sentence each.
    pub notes: Vec<String>,
}

impl Chosen {
    /// A size at which the diagrams can be read.
    pub fn size(&self) -> (usize, usize) {
        chart::size(self.frames.iter().max_by_key(|panels| panels.len()).map_or(&[], Vec::as_slice))
    }
}

/// A tag of collections, and the number of it that is drawn.
pub(crate) struct Wanted {
    pub tag: Tag,
    pub component: Component,
    pub title: String,
}

/// Chooses what is shown.
///
/// # Errors
/// As [`crate::plot`].
pub fn choose(run: &Run, options: &Options) -> Result<Chosen, Error> {
    if options.against.is_some() || options.is_log {
        return Err(Error::new(ErrorKind::Usage, "a run has no parameters to draw against").hint("give the folder of a sweep"));
    }
    if options.is_convergence {
        return convergence(run);
    }
    let (wanted, series) = chosen(run, options)?;
    if wanted.is_empty() && series.is_empty() {
        return Err(Error::new(ErrorKind::Data, format!("the run in `{}` has no outputs that can be drawn", run.dir().display()))
            .hint("run with output_format=vtu,csv"));
    }
    let mut notes = Vec::new();
    if run.state != "done" {
        notes.push(format!("the run is not done: its record says `{}`", run.state));
    }
    notes.extend(run.later_failure());
    let mut frames = if options.is_animation {
        animation(run, &wanted, options, &mut notes)?
    } else {
        let mut panels = Vec::new();
        for wanted in &wanted {
            panels.extend(tag_panels(run, wanted, options, &mut notes)?);
        }
        panels.extend(series.iter().map(|series| Panel::Lines(series_panel(series, &run.units, options))));
        if panels.len() > MAX_PANELS {
            notes.push(format!("the first {MAX_PANELS} of {} diagrams are drawn; choose others with --tag or --step", panels.len()));
            panels.truncate(MAX_PANELS);
        }
        vec![panels]
    };
    if frames.iter().all(Vec::is_empty) {
        return Err(Error::new(ErrorKind::Data, "there is nothing to draw"));
    }
    // A picture of a part of a run is none of a result.
    if matches!(run.state.as_str(), "failed" | "interrupted") {
        frames.iter_mut().flatten().for_each(|panel| panel.title_mut().push_str(&format!("   {}", run.state)));
    }
    Ok(Chosen { frames, notes })
}

/// How Newton's method converged, from the log of events.
fn convergence(run: &Run) -> Result<Chosen, Error> {
    let none =
        |what: &str, hint: &str| Err(Error::new(ErrorKind::Data, format!("the run in `{}` has {what}", run.dir().display())).hint(hint));
    let Some(log) = Log::read(run)? else {
        return none("no log of events", "run with --html or event_log=true");
    };
    match solves::convergence(&log) {
        Some(panel) => Ok(Chosen { frames: vec![vec![Panel::Lines(panel)]], notes: Vec::new() }),
        None => none("no solves of Newton's method", "equellec plot without --convergence draws its outputs"),
    }
}

/// Collections and single numbers that the options name.
///
/// # Errors
/// `Usage` for a tag that is not there; those of files.
pub(crate) fn chosen(run: &Run, options: &Options) -> Result<(Vec<Wanted>, Vec<Series>), Error> {
    let series = match run.rows() {
        Some(file) => series::read(&file.path, &file.read()?)?,
        None => Vec::new(),
    };
    wanted(run.tags()?, series, options)
}

/// Selects outputs that the options name, in their order; everything if they name nothing.
pub(crate) fn wanted(tags: Vec<Tag>, series: Vec<Series>, options: &Options) -> Result<(Vec<Wanted>, Vec<Series>), Error> {
    let of = |tag: &Tag, component, title: &str| Wanted { tag: tag.clone(), component, title: title.to_owned() };
    if options.tags.is_empty() {
        return Ok((tags.iter().map(|tag| of(tag, Component::Length, &tag.name)).collect(), series));
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for name in &options.tags {
        let component = name.rsplit_once('_').and_then(|(stem, axis)| {
            let tag = tags.iter().find(|tag| tag.name == stem)?;
            Some((tag, Component::Axis(AXES.iter().position(|other| *other == axis)?)))
        });
        if let Some(tag) = tags.iter().find(|tag| tag.name == *name) {
            fields.push(of(tag, Component::Length, name));
        } else if let Some(column) = series.iter().find(|series| series.name == *name) {
            columns.push(column.clone());
        } else if let Some((tag, component)) = component {
            fields.push(of(tag, component, name));
        } else {
            let known: Vec<String> =
                tags.iter().map(|tag| tag.name.clone()).chain(series.iter().map(|series| series.name.clone())).collect();
            return Err(no_such("output with the tag", name, &known));
        }
    }
    Ok((fields, columns))
}

/// The files of a tag at the steps that the options name, at most `most`.
pub(crate) fn at_steps<'a>(tag: &'a Tag, steps: &Steps, most: usize, notes: &mut Vec<String>) -> Result<Vec<&'a OutputFile>, Error> {
    let mut files: Vec<&OutputFile> = tag.files.iter().collect();
    files.sort_by_key(|file| file.step);
    let chosen = match steps {
        Steps::First => files.into_iter().take(1).collect(),
        Steps::Last => files.pop().into_iter().collect(),
        Steps::Usual | Steps::All => {
            let n = files.len();
            if n > most && *steps == Steps::All {
                notes.push(format!("`{}`: {most} of {n} steps are drawn, evenly chosen", tag.name));
            }
            evenly(n, most).into_iter().map(|index| files[index]).collect()
        }
        Steps::These(steps) => {
            let mut chosen = Vec::new();
            for &step in steps {
                let at = files.partition_point(|file| file.step < step);
                match files.get(at) {
                    Some(file) if file.step == step => chosen.push(*file),
                    next => {
                        let near = [at.checked_sub(1).map(|before| files[before]), next.copied()].into_iter().flatten();
                        let near: Vec<String> = near.map(|file| file.step.to_string()).collect();
                        return Err(Error::new(ErrorKind::Usage, format!("the run has no file of step {step} of `{}`", tag.name))
                            .hint(format!("the nearest are {}", near.join(" and "))));
                    }
                }
            }
            if chosen.len() > most {
                notes.push(format!("`{}`: the first {most} of {} steps are drawn", tag.name, chosen.len()));
                chosen.truncate(most);
            }
            chosen
        }
    };
    Ok(chosen)
}

/// At most `most` of `n` numbers from the first to the last, evenly.
pub(crate) fn evenly(n: usize, most: usize) -> Vec<usize> {
    match (n, most) {
        (n, most) if n <= most => (0..n).collect(),
        (n, 1) => vec![n - 1],
        (n, most) => (0..most).map(|index| index * (n - 1) / (most - 1)).collect(),
    }
}

/// Time of a field, or its step where the time is not known.
pub(crate) fn moment(field: &Field, units: &Units) -> String {
    match field.time {
        Some(time) => format!("time {}{}", short(time), units.time.as_ref().map_or_else(String::new, |unit| format!(" {unit}"))),
        None => format!("step {}", field.step),
    }
}

fn read_all(run: &Run, wanted: &Wanted, files: &[&OutputFile]) -> Result<Vec<Field>, Error> {
    let mut fields = Vec::new();
    for file in files {
        fields.extend(Field::read(run, file, &wanted.tag.name, wanted.component)?);
    }
    Ok(fields)
}

/// The range of values: as the options say, else that of the fields.
fn range_of(fields: &[Field], options: &Options) -> Range {
    let found = || Range::of(fields.iter().flat_map(|field| field.values.iter().copied()));
    options.range.or_else(found).unwrap_or(Range { low: 0.0, high: 1.0 })
}

fn tag_panels(run: &Run, wanted: &Wanted, options: &Options, notes: &mut Vec<String>) -> Result<Vec<Panel>, Error> {
    // The last file tells the dimension, and with it how many steps fit.
    let is_line = match at_steps(&wanted.tag, &Steps::Last, 1, notes)?.first() {
        Some(file) => Field::read(run, file, &wanted.tag.name, wanted.component)?.is_some_and(|field| field.dim() == 1),
        None => return Ok(Vec::new()),
    };
    let (steps, most) = match (&options.steps, is_line) {
        (Steps::Usual, false) => (&Steps::Last, 1),
        (Steps::Usual, true) => (&Steps::Usual, USUAL_CURVES),
        (steps, false) => (steps, MAX_PANELS),
        (steps, true) => (steps, MAX_CURVES),
    };
    let fields = read_all(run, wanted, &at_steps(&wanted.tag, steps, most, notes)?)?;
    let range = range_of(&fields, options);
    if is_line {
        return Ok(vec![Panel::Lines(line_panel(wanted, &fields, &run.units, options))]);
    }
    fields.into_iter().map(|field| Ok(Panel::Map(map_panel(wanted, field, &run.units, range, options)?))).collect()
}

/// A map of a field; of three dimensions, of a slice.
pub(crate) fn map_panel(wanted: &Wanted, field: Field, units: &Units, range: Range, options: &Options) -> Result<MapPanel, Error> {
    let mut title = format!("{}   {}", wanted.title, moment(&field, units));
    let (plane, values, axes) = if field.dim() == 3 {
        let slice = options.slice.unwrap_or_else(|| {
            let [low, high] = slice::extent(&field.geometry, 2);
            Slice { axis: 2, at: low / 2.0 + high / 2.0 }
        });
        title.push_str(&format!("   {} = {}", AXES[slice.axis], short(slice.at)));
        let cut = slice::cut(&field.geometry, slice)?;
        let values = match &cut.cells {
            Some(cells) => cells.iter().map(|&cell| field.values[cell]).collect(),
            None => field.values,
        };
        (cut.plane, values, cut.axes)
    } else {
        (slice::plane(&field.geometry), field.values, [0, 1])
    };
    let levels: Vec<f64> =
        (1..=options.isolines).map(|level| range.low + (range.high - range.low) * level as f64 / (options.isolines + 1) as f64).collect();
    let isolines = if levels.is_empty() { Vec::new() } else { contour::segments(&plane, &values, &levels) };
    let scale = Scale { table: options.colours.table(), range };
    let axes = axes.map(|axis| with_unit(AXES[axis], units.coordinates.as_deref()));
    Ok(MapPanel { title, unit: field.unit, axes, plane: Arc::new(plane), values, scale, isolines })
}

/// Lines of fields of one dimension, through the centres of cells.
pub(crate) fn line_panel(wanted: &Wanted, fields: &[Field], units: &Units, options: &Options) -> LinePanel {
    let colours = ColourMap::Viridis.table();
    let (mut curves, mut extent) = (Vec::new(), [f64::MAX, f64::MIN]);
    for (index, field) in fields.iter().enumerate() {
        let intervals = slice::intervals(&field.geometry);
        for [low, high] in &intervals {
            extent = [extent[0].min(*low), extent[1].max(*high)];
        }
        let mut points: Vec<[f64; 2]> = match &intervals[..] {
            // The line of one cell is as long as the cell.
            [[low, high]] => vec![[*low, field.values[0]], [*high, field.values[0]]],
            several => several.iter().zip(&field.values).map(|([low, high], &value)| [low / 2.0 + high / 2.0, value]).collect(),
        };
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        // The last colours are too bright for lines on white.
        let colour = if fields.len() == 1 { ONLY } else { colours[index * 225 / (fields.len() - 1)] };
        let name = if fields.len() == 1 { String::new() } else { moment(field, units) };
        curves.push(Curve { name, points, colour });
    }
    let name = with_unit(&wanted.title, fields.first().and_then(|field| field.unit.as_deref()));
    let mut title = wanted.title.clone();
    if let [field] = fields {
        title.push_str(&format!("   {}", moment(field, units)));
    }
    let range = options.range.map(|range| [range.low, range.high]);
    LinePanel {
        title,
        axes: [with_unit(AXES[0], units.coordinates.as_deref()), name],
        extent,
        range,
        numbers: [Numbers::Round, Numbers::Round],
        has_dots: false,
        curves,
        n_nan: fields.iter().map(Field::n_nan).sum(),
    }
}

/// A single number over time.
pub(crate) fn series_panel(series: &Series, units: &Units, options: &Options) -> LinePanel {
    let ends = Range::of(series.points.iter().map(|point| point[0])).unwrap_or(Range { low: 0.0, high: 1.0 });
    let axis = if series.has_times { with_unit("time", units.time.as_deref()) } else { "step".to_owned() };
    LinePanel {
        title: series.name.clone(),
        axes: [axis, with_unit(&series.name, units.output(&series.name))],
        extent: [ends.low, ends.high],
        range: options.range.map(|range| [range.low, range.high]),
        // A line through one point is none.
        has_dots: series.points.len() == 1,
        numbers: [if series.has_times { Numbers::Round } else { Numbers::Whole }, Numbers::Round],
        curves: vec![Curve { name: String::new(), points: series.points.clone(), colour: ONLY }],
        n_nan: 0,
    }
}

/// A picture for each step, with one scale for all.
fn animation(run: &Run, wanted: &[Wanted], options: &Options, notes: &mut Vec<String>) -> Result<Vec<Vec<Panel>>, Error> {
    let mut frames: Vec<Vec<Panel>> = Vec::new();
    let steps = if options.steps == Steps::Usual { &Steps::All } else { &options.steps };
    for wanted in wanted {
        let fields = read_all(run, wanted, &at_steps(&wanted.tag, steps, MAX_FRAMES, notes)?)?;
        let range = range_of(&fields, options);
        let of_all = Options { range: Some(range), ..options.clone() };
        for (index, field) in fields.into_iter().enumerate() {
            let panel = match field.dim() {
                1 => Panel::Lines(line_panel(wanted, &[field], &run.units, &of_all)),
                _ => Panel::Map(map_panel(wanted, field, &run.units, range, options)?),
            };
            match frames.get_mut(index) {
                Some(frame) => frame.push(panel),
                None => frames.push(vec![panel]),
            }
        }
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_evenly_with_both_ends() {
        assert_eq!(evenly(3, 6), [0, 1, 2]);
        assert_eq!(evenly(101, 6), [0, 20, 40, 60, 80, 100]);
        assert_eq!(evenly(100_000, 2), [0, 99_999]);
        assert_eq!((evenly(5, 1), evenly(0, 4)), (vec![4], vec![]));
    }
}
