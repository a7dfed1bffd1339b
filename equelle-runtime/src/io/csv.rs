//! A column of numbers in a CSV file (RFC 4180); commas, semicolons or tabs separate fields.
//!
//! The first line has names if one of its fields is not a number. A `#` may stand before them, and
//! remarks that begin with one above them.

use std::path::Path;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::unit::{METRES, parse_unit};
use crate::error::{Error, ErrorKind};
use crate::keys::COLUMN;
use crate::number::{NumberError, decimal_comma, parse_data_number, quoted, without_mark};
use crate::params::near_match;

/// Most fields of a row, which bounds the memory for the first one.
pub(super) const MAX_COLUMNS: usize = 1 << 16;

/// A field and its place.
pub(super) struct Field<'a> {
    pub text: &'a [u8],
    pub line: u64,
    /// From 0.
    pub column: usize,
    pub ends_row: bool,
}

/// Fields of a file, one at a time.
pub(super) struct Fields<'a> {
    reader: Reader,
    rest: &'a [u8],
    column: usize,
    /// At least as long as the longest field.
    text: Vec<u8>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8], separator: u8) -> Fields<'a> {
        Fields::from_line(bytes, separator, 0)
    }

    /// Fields of the text after `skipped` lines, which count in line numbers.
    fn from_line(bytes: &'a [u8], separator: u8, skipped: u64) -> Fields<'a> {
        let mut reader = ReaderBuilder::new().delimiter(separator).build();
        reader.set_line(1 + skipped);
        Fields { reader, rest: bytes, column: 0, text: vec![0; 64] }
    }

    pub(super) fn next(&mut self) -> Option<Field<'_>> {
        let (mut len, line) = (0, self.reader.line());
        loop {
            let (result, read, written) = self.reader.read_field(self.rest, &mut self.text[len..]);
            self.rest = &self.rest[read..];
            len += written;
            match result {
                // More input means its end, which an empty slice tells.
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadFieldResult::Field { record_end } => {
                    let column = self.column;
                    self.column = if record_end { 0 } else { column + 1 };
                    // The end of a row is behind its line.
                    let line = if record_end { line } else { self.reader.line() };
                    return Some(Field { text: self.text[..len].trim_ascii(), line, column, ends_row: record_end });
                }
                ReadFieldResult::End => return None,
            }
        }
    }
}

/// The separator of a file: the first one of its first line that is no remark.
pub(super) fn separator(bytes: &[u8]) -> u8 {
    let is_remark = |line: &&[u8]| line.starts_with(b"#") || line.starts_with(b"--");
    let mut lines = bytes.split(|&b| b == b'\n');
    let first_line = lines.find(|line| !is_remark(line)).unwrap_or_default();
    first_line.iter().copied().find(|b| matches!(b, b',' | b';' | b'\t')).unwrap_or(b',')
}

/// True if fields stand between commas or semicolons, by the first line that is no remark: not
/// where the commas are those of numbers between blanks. Tabs separate in files called `.csv`.
pub fn has_separators(path: &Path, bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let is_remark = |line: &[u8]| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"--");
    let Some(line) = lines.find(|line| !is_remark(line)) else { return false };
    let words = || line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let has_decimal_commas = words().nth(1).is_some() && words().any(|word| decimal_comma(word).is_some());
    let has = |separator: u8| line.contains(&separator);
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    has(b';') || has(b',') && !has_decimal_commas || has(b'\t') && is_csv
}

/// A column, with the positions that stand beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located {
    /// One a row.
    pub values: Vec<f64>,
    /// `None` if the file has no columns of positions.
    pub positions: Option<Positions>,
}

/// Positions of the rows of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Positions {
    /// The axes that have columns.
    pub axes: [bool; 3],
    /// In metres, one a row; 0 along other axes.
    pub points: Vec<[f64; 3]>,
    /// Lines of the rows, from 1.
    pub lines: Vec<u64>,
}

/// The column that an input takes.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The name of the input, and of its column if no other one is given.
    pub input: &'a str,
    /// As given: a name, or a number from 1.
    pub column: Option<&'a str>,
}

/// The numbers of a column: the one that is given, or called as the input, or the only one beside
/// positions. `path` is for messages.
///
/// # Errors
/// `Data` for a column that is not there, none given where there are several, a field that is no
/// number, and a row with another number of fields than the first; names line and column.
pub fn read_column(path: &Path, bytes: &[u8], wanted: Wanted<'_>) -> Result<Vec<f64>, Error> {
    Ok(read(path, bytes, wanted, false)?.values)
}

/// [`read_column`] with the columns `x`, `y` and `z` beside it, in either letter case, perhaps with
/// a unit behind them: `x [m]`, `X [Kilo*Meter]`. Where the column itself is one of these, none of
/// them is a position.
///
/// # Errors
/// As [`read_column`]; also for a position that is no number or has a unit of no length.
pub fn read_located(path: &Path, bytes: &[u8], wanted: Wanted<'_>) -> Result<Located, Error> {
    read(path, bytes, wanted, true)
}

/// Without the lines before the names or numbers that begin with `#` or `--`, and without these
/// marks before names; how many lines are left out.
fn without_remarks(mut bytes: &[u8]) -> (&[u8], u64) {
    let mut skipped = 0;
    while let Some(names) = bytes.strip_prefix(b"#").or_else(|| bytes.strip_prefix(b"--")) {
        let end = bytes.iter().position(|&b| b == b'\n').map_or(bytes.len(), |end| end + 1);
        let rest = &bytes[end..];
        let n_fields = |text: &[u8]| text.split(|&b| b == b'\n').next().map_or(0, |line| line.split(|&b| b == separator(rest)).count());
        let first = rest.split(|&b| b == b'\n').next().unwrap_or_default().trim_ascii();
        let has_numbers =
            !first.is_empty() && first.split(|&b| b == separator(rest)).all(|field| parse_data_number(field.trim_ascii()).is_ok());
        // The names of columns stand in the last of these lines.
        if has_numbers && n_fields(names) == n_fields(rest) {
            return (names, skipped);
        }
        bytes = rest;
        skipped += 1;
    }
    (bytes, skipped)
}

fn read(path: &Path, bytes: &[u8], wanted: Wanted<'_>, with_positions: bool) -> Result<Located, Error> {
    let (bytes, skipped) = without_remarks(without_mark(bytes));
    let bad = |message: String| Error::new(ErrorKind::Data, message);
    let mut fields = Fields::from_line(bytes, separator(bytes), skipped);
    let mut first: Vec<(Vec<u8>, u64)> = Vec::new();
    while let Some(field) = fields.next() {
        let ends_row = field.ends_row;
        if first.len() == MAX_COLUMNS {
            return Err(bad(format!("{}:{}: more than {MAX_COLUMNS} fields", path.display(), field.line)));
        }
        first.push((field.text.to_vec(), field.line));
        if ends_row {
            break;
        }
    }
    let has_names = first.iter().any(|(text, _)| !text.is_empty() && parse_data_number(text) == Err(NumberError::NotANumber));
    let names: Vec<String> =
        if has_names { first.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect() } else { Vec::new() };
    let chosen = choose(path, first.len(), &names, wanted)?;
    let line_of_names = first.first().map_or(1, |(_, line)| *line);
    let axes = if with_positions { axes(path, line_of_names, &names, chosen)? } else { Vec::new() };
    let number = |text: &[u8], line: u64, column: usize| {
        parse_data_number(text).map_err(|fault| {
            let what = match fault {
                NumberError::NotANumber => "is not a number",
                NumberError::OutOfRange => "is beyond the range of numbers",
            };
            let name = names.get(column).map_or_else(|| (column + 1).to_string(), |name| format!("`{name}`"));
            let error = bad(format!("{}:{line}: column {name}: {} {what}", path.display(), quoted(text)));
            match decimal_comma(text) {
                Some(point) => error.hint(format!("decimals have a point: `{point}`")),
                None => error,
            }
        })
    };
    let mut values = Vec::new();
    let mut positions = Positions::default();
    axes.iter().for_each(|axis| positions.axes[axis.axis] = true);
    let mut point = [0.0; 3];
    if let Some((text, line)) = first.get(chosen).filter(|_| !has_names) {
        values.push(number(text, *line, chosen)?);
    }
    while let Some(field) = fields.next() {
        if field.column == chosen {
            values.push(number(field.text, field.line, chosen)?);
        }
        if let Some(axis) = axes.iter().find(|axis| axis.column == field.column) {
            let metres = axis.metres * number(field.text, field.line, axis.column)?;
            if !metres.is_finite() {
                let (name, shown) = (&names[axis.column], quoted(field.text));
                return Err(bad(format!("{}:{}: column `{name}`: {shown} is beyond the range of numbers", path.display(), field.line)));
            }
            point[axis.axis] = metres;
        }
        if field.ends_row {
            if field.column + 1 != first.len() {
                let (line, found) = (field.line, field.column + 1);
                let error = bad(format!("{}:{line}: {found} fields, and the first row has {}", path.display(), first.len()));
                let has_commas = separator(bytes) == b',' && found > first.len();
                return Err(if has_commas { error.hint("decimals have a point, as in `0.5`: commas separate fields") } else { error });
            }
            if !axes.is_empty() {
                positions.points.push(point);
                positions.lines.push(field.line);
            }
        }
    }
    if has_names && values.is_empty() {
        return Err(bad(format!("{}: names of columns, and no row of numbers", path.display())));
    }
    Ok(Located { values, positions: (!axes.is_empty()).then_some(positions) })
}

/// A column of positions along an axis.
struct AxisColumn {
    column: usize,
    axis: usize,
    /// Unit of its numbers, in metres.
    metres: f64,
}

/// The columns of positions; none if the values are in one of them.
fn axes(path: &Path, line: u64, names: &[String], chosen: usize) -> Result<Vec<AxisColumn>, Error> {
    let mut found: Vec<AxisColumn> = Vec::new();
    for (column, name) in names.iter().enumerate() {
        let Some((axis, unit)) = axis_of(name) else { continue };
        if column == chosen {
            return Ok(Vec::new());
        }
        let bad = |message: String| Error::new(ErrorKind::Data, format!("{}:{line}: {message}", path.display()));
        if let Some(other) = found.iter().find(|other| other.axis == axis) {
            return Err(bad(format!("columns {} and {} are both positions along {}", other.column + 1, column + 1, ["x", "y", "z"][axis])));
        }
        let metres = match unit.map(|unit| unit.trim_end().trim_end_matches(']').trim()) {
            None | Some("m") => 1.0,
            Some(text) => match parse_unit(text) {
                Ok(unit) if unit.dimension == METRES => unit.factor,
                Ok(_) => return Err(bad(format!("column `{name}`: `{text}` is no unit of a length"))),
                Err(error) => {
                    return Err(bad(format!("column `{name}`: {}", error.what)).hint("positions are in metres: `x`, or `x [Kilo*Meter]`"));
                }
            },
        };
        found.push(AxisColumn { column, axis, metres });
    }
    Ok(found)
}

/// The axis of a column of positions, with the unit behind its name.
fn axis_of(name: &str) -> Option<(usize, Option<&str>)> {
    let (axis, unit) = name.split_once('[').map_or((name, None), |(axis, unit)| (axis, Some(unit)));
    let axis = ["x", "y", "z"].iter().position(|own| own.eq_ignore_ascii_case(axis.trim()))?;
    Some((axis, unit))
}

/// Index of the column of an input for which none is given: the one that is called as it, or the
/// only one that has no positions.
fn own_column(path: &Path, count: usize, names: &[String], input: &str) -> Result<usize, Error> {
    if count < 2 {
        return Ok(0);
    }
    let only = |mut found: Vec<usize>| found.pop().filter(|_| found.is_empty());
    let matching = |holds: &dyn Fn(&str) -> bool| only((0..names.len()).filter(|&index| holds(&names[index])).collect());
    let own = matching(&|name| name == input)
        .or_else(|| matching(&|name| name.eq_ignore_ascii_case(input)))
        .or_else(|| matching(&|name| axis_of(name).is_none()));
    own.ok_or_else(|| {
        let key = format!("{input}{COLUMN}");
        let (message, hint) = match names.iter().find(|name| axis_of(name).is_none()).or(names.first()) {
            Some(name) => (
                format!("{count} columns: {}, of which none is called `{input}`", listed(names)),
                format!("give the name of one, such as `{key}={name}`"),
            ),
            None => (format!("{count} columns without names"), format!("give the number of one, from 1 to {count}: `{key}=1`")),
        };
        Error::new(ErrorKind::Data, format!("{}: {message}", path.display())).hint(hint)
    })
}

/// Index of the column that is meant.
pub(super) fn choose(path: &Path, count: usize, names: &[String], wanted: Wanted<'_>) -> Result<usize, Error> {
    let bad = |message: String| Err(Error::new(ErrorKind::Data, format!("{}: {message}", path.display())));
    let Some(wanted) = wanted.column else { return own_column(path, count, names, wanted.input) };
    let same: Vec<usize> = (0..names.len()).filter(|&index| names[index] == wanted).collect();
    if let [first, second, ..] = same[..] {
        return bad(format!("columns {} and {} both have the name `{wanted}`", first + 1, second + 1));
    }
    if let Some(&index) = same.first() {
        return Ok(index);
    }
    if let Ok(number) = wanted.parse::<usize>() {
        return if (1..=count).contains(&number) {
            Ok(number - 1)
        } else {
            bad(format!("there is no column {number}: columns are 1 to {count}"))
        };
    }
    if names.is_empty() {
        return bad(format!("there is no column `{wanted}`: the first line has numbers, not names"));
    }
    let error = bad(format!("there is no column `{wanted}`: columns are {}", listed(names)));
    match near_match(wanted, names.iter().map(String::as_str)) {
        Some(near) => error.map_err(|e| e.hint(format!("did you mean `{near}`?"))),
        None => error,
    }
}

/// Names for a message, at most twenty.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 20 { ", ..." } else { "" };
    shown.join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(text: &str, column: Option<&str>) -> Result<Vec<f64>, String> {
        read_column(Path::new("rock.csv"), text.as_bytes(), Wanted { input: "k", column }).map_err(|e| e.message)
    }

    #[test]
    fn columns_by_name_and_number() {
        let text = "PORO,KX ,\"K \"\"Y\"\"\"\n0.1,1e-12,2\n0.2,1.0D-12,\"3\"\n";
        assert_eq!(column(text, Some("KX")), Ok(vec![1e-12, 1e-12]));
        assert_eq!(column(text, Some("K \"Y\"")), Ok(vec![2.0, 3.0]));
        assert_eq!(column(text, Some("1")), Ok(vec![0.1, 0.2]));
        assert_eq!(column("\u{feff}1;2\r\n3;4\r\n", Some("2")), Ok(vec![2.0, 4.0]));
        assert_eq!(column("a\tb\n1\t2", Some("b")), Ok(vec![2.0]));
        assert_eq!(column("u\n1\n\n2\n", None), Ok(vec![1.0, 2.0]));
        assert_eq!(column("1\n2", None), Ok(vec![1.0, 2.0]));
        assert_eq!(column("0.1,7,\n0.2,8,\n", Some("1")), Ok(vec![0.1, 0.2]));
        assert_eq!(column("", None), Ok(vec![]));
    }

    #[test]
    fn the_column_of_an_input_without_one() {
        assert_eq!(column("a,k\n1,2\n", None), Ok(vec![2.0]));
        assert_eq!(column("x,K,y\n1,2,3\n", None), Ok(vec![2.0]));
        assert_eq!(column("K,k\n1,2\n", None), Ok(vec![2.0]));
        assert_eq!(column("x,y [m],PORO\n1,2,3\n", None), Ok(vec![3.0]));
        let hint = |text: &str| read_column(Path::new("a"), text.as_bytes(), Wanted { input: "k", column: None }).expect_err(text).hint;
        assert_eq!(hint("x,a,b\n1,2,3\n").as_deref(), Some("give the name of one, such as `k_column=a`"));
        assert_eq!(hint("1,2,3\n").as_deref(), Some("give the number of one, from 1 to 3: `k_column=1`"));
    }

    /// As `numpy.savetxt` writes them.
    #[test]
    fn names_and_remarks_after_a_mark() {
        assert_eq!(column("# x, k\n1, 2\n3, 4\n", None), Ok(vec![2.0, 4.0]));
        assert_eq!(column("#k\n1\n", None), Ok(vec![1.0]));
        assert_eq!(column("# two, values\n# by hand\nx,k\n1,2\n", None), Ok(vec![2.0]));
        assert_eq!(column("# by hand, yesterday, twice\n1\n2\n", None), Ok(vec![1.0, 2.0]));
    }

    #[test]
    fn positions_beside_a_column() {
        let read = |text: &str, column: &str| {
            let wanted = Wanted { input: "k", column: Some(column) };
            read_located(Path::new("rock.csv"), text.as_bytes(), wanted).map(|found| found.positions).map_err(|e| e.message)
        };
        let found = read("PORO,Y [Kilo*Meter],x\n0.1,2,3\n\n0.2,4,5\n", "PORO").unwrap().unwrap();
        assert_eq!((found.axes, found.lines), ([true, true, false], vec![2, 4]));
        assert_eq!(found.points, [[3.0, 2000.0, 0.0], [5.0, 4000.0, 0.0]]);
        assert_eq!(read("PORO;z [m]\n1;2\n", "1").unwrap().unwrap().points, [[0.0, 0.0, 2.0]]);
        // Values that are called as axes are no positions, and columns without names have none.
        assert_eq!(read("x,y\n1,2\n", "x"), Ok(None));
        assert_eq!(read("1,2\n", "1"), Ok(None));
        assert_eq!(read("u,x1\n1,2\n", "u"), Ok(None));
        for (text, message) in [
            ("u,x\n1,2\n3,a\n", "rock.csv:3: column `x`: `a` is not a number"),
            ("u,x,X\n1,2,3\n", "rock.csv:1: columns 2 and 3 are both positions along x"),
            ("u,x [Bar]\n1,2\n", "rock.csv:1: column `x [Bar]`: `Bar` is no unit of a length"),
            ("u,x [ell]\n1,2\n", "rock.csv:1: column `x [ell]`: there is no unit `ell`"),
            ("u,x [Kilo*Meter]\n1,1e308\n", "rock.csv:2: column `x [Kilo*Meter]`: `1e308` is beyond the range of numbers"),
        ] {
            assert_eq!(read(text, "u"), Err(message.to_owned()));
        }
    }

    #[test]
    fn what_is_refused() {
        let refused = |text: &str, name: Option<&str>, message: &str| {
            assert_eq!(column(text, name), Err(format!("rock.csv{message}")), "{text}");
        };
        refused("a,b\n1,2\n", None, ": 2 columns: `a`, `b`, of which none is called `k`");
        refused("k,k\n1,2\n", None, ": 2 columns: `k`, `k`, of which none is called `k`");
        refused("1,2\n", None, ": 2 columns without names");
        refused("# a remark\n# a,k\n1,2\n3,b\n", None, ":4: column `k`: `b` is not a number");
        refused("KX,b\n1,2\n", Some("kx"), ": there is no column `kx`: columns are `KX`, `b`");
        refused("1,2\n", Some("kx"), ": there is no column `kx`: the first line has numbers, not names");
        refused("1,2\n", Some("3"), ": there is no column 3: columns are 1 to 2");
        refused("a,a\n1,2\n", Some("a"), ": columns 1 and 2 both have the name `a`");
        refused("a,b\n1,2\n3\n", Some("a"), ":3: 1 fields, and the first row has 2");
        refused("a,b\n1,2\n3,4,5\n", Some("a"), ":3: 3 fields, and the first row has 2");
        refused("a,b\n1,2\nx,4\n", Some("a"), ":3: column `a`: `x` is not a number");
        refused("1,2\n3,nan\n", Some("2"), ":2: column 2: `nan` is not a number");
        refused("a\n1e999\n", None, ":2: column `a`: `1e999` is beyond the range of numbers");
        refused("0.1 0.2 0.3\n", None, ": names of columns, and no row of numbers");
        refused("0.1,,\n", Some("2"), ":1: column 2: `` is not a number");
        refused(&",".repeat(1 << 17), None, ":1: more than 65536 fields");
    }
}
