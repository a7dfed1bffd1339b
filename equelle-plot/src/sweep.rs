//! Numbers of a sweep over one of its parameters, such as errors over the number of cells, with the
//! orders at which they fall.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use equelle_runtime::run::read_plain_file;
use equelle_runtime::{Error, ErrorKind};

use crate::axes::Numbers;
use crate::axis::short;
use crate::colour::ColourMap;
use crate::options::{Options, Steps};
use crate::panel::{Curve, LinePanel, Panel};
use crate::panels::{Chosen, MAX_CURVES, MAX_PANELS, ONLY};
use crate::run::no_such;
use crate::series::fields;

/// The name of the table in the folder of a sweep.
const TABLE: &str = "sweep.csv";

/// The column between the parameters and what runs put out.
const EXIT: &str = "exit";

/// Parameters that say how fine a grid is: counts of cells, of which an error is a negative power,
/// and widths of cells.
const COUNTS: [&str; 3] = ["nx", "ny", "nz"];
const WIDTHS: [&str; 3] = ["dx", "dy", "dz"];

/// The table of a sweep that a path names: the file, or a folder that has it.
pub fn table(path: &Path) -> Option<PathBuf> {
    if path.extension().is_some_and(|extension| extension == "csv") {
        return Some(path.to_owned());
    }
    let file = path.join(TABLE);
    let is_record = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".run.json");
    // Beside the record of a run, it is the table of a run of a program of that name.
    let has_record = || std::fs::read_dir(path).is_ok_and(|entries| entries.flatten().any(|entry| is_record(&entry.file_name())));
    (file.is_file() && !has_record()).then_some(file)
}

/// Rows of the table by its columns.
struct Table {
    keys: Vec<String>,
    tags: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(file: &Path) -> Result<Table, Error> {
        let bytes =
            read_plain_file(file).map_err(|error| Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", file.display())))?;
        let text = String::from_utf8_lossy(&bytes);
        Table::of(&text).ok_or_else(|| {
            let message = format!("{}: line 1: not the table of a sweep: it has no column `{EXIT}` behind parameters", file.display());
            Error::new(ErrorKind::Data, message).hint("`equellec sweep` writes one")
        })
    }

    fn of(text: &str) -> Option<Table> {
        let mut lines = text.lines();
        let names = fields(lines.next().unwrap_or_default());
        let exit = names.iter().position(|name| name == EXIT).filter(|exit| *exit > 0)?;
        let (keys, tags) = (names[..exit].to_vec(), names[exit + 1..].to_vec());
        Some(Table { keys, tags, rows: lines.map(fields).collect() })
    }

    fn key<'a>(&self, row: &'a [String], key: usize) -> &'a str {
        row.get(key).map_or("", String::as_str)
    }

    fn value(&self, row: &[String], tag: usize) -> Option<f64> {
        row.get(self.keys.len() + 1 + tag).and_then(|text| text.parse().ok())
    }

    /// The parameter to the right: the one that is asked for, else one of the grid, else the first
    /// one that is a number in all rows.
    fn against(&self, asked: Option<&str>) -> Result<usize, Error> {
        let is_number = |key: usize| self.rows.iter().all(|row| number(self.key(row, key)).is_some());
        let at = |name: &str| self.keys.iter().position(|key| key == name);
        if let Some(name) = asked {
            let key = at(name).ok_or_else(|| no_such("parameter", name, &self.keys))?;
            let what = || Error::new(ErrorKind::Usage, format!("values of `{name}` are not all numbers"));
            return if is_number(key) { Ok(key) } else { Err(what()) };
        }
        let of_grid = COUNTS.iter().chain(&WIDTHS).find_map(|name| at(name));
        let chosen = of_grid.into_iter().chain(0..self.keys.len()).find(|key| is_number(*key));
        chosen.ok_or_else(|| Error::new(ErrorKind::Data, "no parameter of the sweep is a number in all runs"))
    }

    /// Parameters that tell runs with the same value to the right from each other.
    fn others(&self, against: usize) -> Vec<usize> {
        let differ = |other: usize| {
            let mut first: HashMap<&str, &str> = HashMap::new();
            self.rows.iter().any(|row| {
                let value = self.key(row, other);
                *first.entry(self.key(row, against)).or_insert(value) != value
            })
        };
        (0..self.keys.len()).filter(|other| *other != against && differ(*other)).collect()
    }
}

/// A number, which may have a unit.
fn number(text: &str) -> Option<f64> {
    let number = text.split_once('[').map_or(text, |(number, _)| number);
    number.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Chooses what is shown of a sweep.
///
/// # Errors
/// `Usage` for a tag or a parameter that is not there, and for what only runs have; `Data` and `Io`
/// of the table.
pub fn choose(file: &Path, options: &Options) -> Result<Chosen, Error> {
    if options.is_animation || options.is_convergence || options.steps != Steps::Usual || options.slice.is_some() {
        return Err(Error::new(ErrorKind::Usage, "the table of a sweep has neither steps nor fields").hint("plot the folder of one run"));
    }
    let table = Table::read(file)?;
    let against = table.against(options.against.as_deref())?;
    let tags = match &options.tags[..] {
        [] => (0..table.tags.len()).collect(),
        names => names
            .iter()
            .map(|name| table.tags.iter().position(|tag| tag == name).ok_or_else(|| no_such("output with the tag", name, &table.tags)))
            .collect::<Result<Vec<usize>, Error>>()?,
    };
    let mut notes = Vec::new();
    let mut panels: Vec<Panel> = Vec::new();
    for tag in tags {
        panels.extend(diagram(&table, against, tag, options, &mut notes)?.map(Panel::Lines));
    }
    if panels.is_empty() {
        return Err(Error::new(ErrorKind::Data, format!("{}: no run put out a number", file.display())));
    }
    if panels.len() > MAX_PANELS {
        notes.push(format!("the first {MAX_PANELS} of {} diagrams are drawn; choose others with --tag", panels.len()));
        panels.truncate(MAX_PANELS);
    }
    Ok(Chosen { frames: vec![panels], notes })
}

/// The diagram of a tag; none where no run has a number.
///
/// # Errors
/// `Usage` for a range that has no logarithms where the axis has.
fn diagram(table: &Table, against: usize, tag: usize, options: &Options, notes: &mut Vec<String>) -> Result<Option<LinePanel>, Error> {
    let others = table.others(against);
    let name =
        |row: &[String]| others.iter().map(|&key| format!("{}={}", table.keys[key], table.key(row, key))).collect::<Vec<_>>().join(", ");
    let mut lines: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    let mut n_missing = 0;
    for row in &table.rows {
        let (Some(x), Some(y)) = (number(table.key(row, against)), table.value(row, tag).filter(|y| y.is_finite())) else {
            n_missing += 1;
            continue;
        };
        let name = name(row);
        match lines.iter_mut().find(|line| line.0 == name) {
            Some(line) => line.1.push([x, y]),
            None => lines.push((name, vec![[x, y]])),
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let title = &table.tags[tag];
    if n_missing > 0 {
        notes.push(format!("`{title}`: {n_missing} of {} runs have no number", table.rows.len()));
    }
    if lines.len() > MAX_CURVES {
        notes.push(format!("`{title}`: the first {MAX_CURVES} of {} lines are drawn", lines.len()));
        lines.truncate(MAX_CURVES);
    }
    lines.iter_mut().for_each(|line| line.1.sort_by(|a, b| a[0].total_cmp(&b[0])));
    let key = table.keys[against].as_str();
    let is_count = COUNTS.contains(&key);
    let points = || lines.iter().flat_map(|line| &line.1);
    let has_logs = points().all(|point| point[0] > 0.0 && point[1] > 0.0);
    let (least, most) = points().fold((f64::MAX, 0.0_f64), |(least, most), point| (least.min(point[1]), most.max(point[1])));
    // A value that hardly changes, such as a sum, is no error.
    let is_error = (is_count || WIDTHS.contains(&key)) && most >= 2.0 * least;
    let is_log = has_logs && (options.is_log || is_error);
    let mut at: Vec<f64> = points().map(|point| point[0]).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    let numbers = if is_log {
        [Numbers::These(at.iter().map(|&x| (x, short(x))).collect()), Numbers::Powers]
    } else {
        [if is_count { Numbers::Whole } else { Numbers::Round }, Numbers::Round]
    };
    let extent = [at[0], at[at.len() - 1]];
    let colours = ColourMap::Viridis.table();
    let n = lines.len();
    let curve = |(index, (name, points)): (usize, (String, Vec<[f64; 2]>))| {
        let order = order(&points).filter(|_| is_log).map(|slope| format!("order {:.2}", if is_count { -slope } else { slope }));
        let name = [Some(name).filter(|name| !name.is_empty()), order].into_iter().flatten().collect::<Vec<_>>().join(", ");
        // The last colours are too bright for lines on white.
        let colour = if n == 1 { ONLY } else { colours[index * 225 / (n - 1)] };
        Curve { name, points, colour }
    };
    let curves: Vec<Curve> = lines.into_iter().enumerate().map(curve).collect();
    let range = options.range.map(|range| [range.low, range.high]);
    if is_log && range.is_some_and(|[low, _]| low <= 0.0) {
        let message = format!("--range of `{title}` begins at or below 0, but its axis is logarithmic");
        return Err(Error::new(ErrorKind::Usage, message).hint("begin above 0, such as --range 1e-6:1"));
    }
    Ok(Some(LinePanel {
        title: title.clone(),
        axes: [key, title.as_str()].map(str::to_owned),
        extent,
        range,
        numbers,
        has_dots: true,
        curves,
        n_nan: 0,
    }))
}

/// The slope of logarithms over logarithms, by least squares.
fn order(points: &[[f64; 2]]) -> Option<f64> {
    let n = points.len() as f64;
    let logs: Vec<[f64; 2]> = points.iter().map(|point| point.map(f64::ln)).collect();
    let mean = [0, 1].map(|axis: usize| logs.iter().map(|point| point[axis]).sum::<f64>() / n);
    let sum = |axis: usize| logs.iter().map(|point| (point[0] - mean[0]) * (point[axis] - mean[axis])).sum::<f64>();
    let slope = sum(1) / sum(0);
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(text: &str, options: &Options) -> Result<(Vec<LinePanel>, Vec<String>), Error> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(TABLE), text).expect("a file");
        let chosen = choose(&table(folder.path()).expect("a table"), options)?;
        let lines = chosen.frames.into_iter().flatten().map(|panel| match panel {
            Panel::Lines(lines) => lines,
            Panel::Map(_) => panic!("a map"),
        });
        Ok((lines.collect(), chosen.notes))
    }

    /// Errors 3 / nx^2 and 5 / nx: orders 2 and 1, one line for each k.
    #[test]
    fn errors_have_their_orders() {
        let text = "k,nx,ny,exit,error\n1,32,32,0,0.0029296875\n1,8,8,0,0.046875\n1,16,16,0,0.01171875\n\
                    2,8,8,0,0.625\n2,16,16,0,0.3125\n2,32,32,3,\n";
        let (found, notes) = panels(text, &Options::default()).expect("a diagram");
        let [panel] = &found[..] else { panic!("{found:?}") };
        let names: Vec<&str> = panel.curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["k=1, order 2.00", "k=2, order 1.00"]);
        assert_eq!((panel.axes[0].as_str(), panel.title.as_str(), panel.extent), ("nx", "error", [8.0, 32.0]));
        assert_eq!(panel.curves[0].points, [[8.0, 0.046875], [16.0, 0.01171875], [32.0, 0.0029296875]]);
        assert!(panel.numbers.iter().all(Numbers::is_log) && panel.has_dots);
        assert_eq!(notes, ["`error`: 1 of 6 runs have no number"]);
    }

    /// Widths of cells have the order itself; other parameters have no logarithms unless asked for.
    #[test]
    fn axes_follow_the_parameter() {
        let widths = "dx,exit,e\n0.5 [Meter],0,0.25\n0.25 [Meter],0,0.0625\n";
        assert_eq!(panels(widths, &Options::default()).expect("a diagram").0[0].curves[0].name, "order 2.00");
        let others = "k,nx,exit,u\n1,4,0,-1\n2,4,0,3\n";
        let of = |against: &str, is_log| Options { against: Some(against.to_owned()), is_log, ..Options::default() };
        let (found, _) = panels(others, &of("k", true)).expect("a diagram");
        assert_eq!((found[0].curves[0].name.as_str(), found[0].numbers[1].is_log()), ("", false));
        // A value that hardly changes with the grid has no order.
        let sums = panels("nx,exit,s\n8,0,1.5\n16,0,1.6\n", &Options::default()).expect("a diagram").0;
        assert_eq!((sums[0].curves[0].name.as_str(), &sums[0].numbers), ("", &[Numbers::Whole, Numbers::Round]));
        let positive = others.replace("-1", "1");
        let is_log = |is_log| panels(&positive, &of("k", is_log)).expect("a diagram").0[0].numbers[0].is_log();
        assert_eq!([false, true].map(is_log), [false, true]);
        // Against the number of cells, each k has a line of one point, which has no order.
        let names: Vec<String> =
            panels(&positive, &Options::default()).unwrap().0[0].curves.iter().map(|curve| curve.name.clone()).collect();
        assert_eq!(names, ["k=1", "k=2"]);
    }

    #[test]
    fn what_a_sweep_has_not_is_told() {
        let text = "nx,file,exit,error\n8,a,0,1\n16,b,0,2\n";
        let refused = |options: &Options| panels(text, options).expect_err("refused").to_string();
        assert!(refused(&Options { tags: vec!["eror".into()], ..Options::default() }).contains("`eror`"));
        assert!(refused(&Options { against: Some("file".into()), ..Options::default() }).contains("not all numbers"));
        assert!(refused(&Options { against: Some("ny".into()), ..Options::default() }).contains("`ny`"));
        assert!(refused(&Options { is_animation: true, ..Options::default() }).contains("neither steps nor fields"));
        let range = Some(crate::colour::Range::parse("0:0.1").expect("a range"));
        assert!(refused(&Options { range, ..Options::default() }).contains("logarithmic"));
        for (text, what) in [("nx,error\n1,2\n", "no column `exit`"), ("", "line 1"), ("nx,exit,e\n8,3,\n", "no run put out a number")] {
            let message = panels(text, &Options::default()).expect_err("refused").message;
            assert!(message.contains(what), "{message}");
        }
    }
}
