//! A column of numbers in a CSV file (RFC 4180); commas, semicolons or tabs separate fields.
//!
//! The first line has names if one of its fields is not a number.

use std::path::Path;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use super::unit::{METRES, parse_unit};
use crate::error::{Error, ErrorKind};
use crate::number::{NumberError, parse_data_number, quoted, without_mark};
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
        Fields { reader: ReaderBuilder::new().delimiter(separator).build(), rest: bytes, column: 0, text: vec![0; 64] }
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

/// The separator of a file: the first one of its first line.
pub(super) fn separator(bytes: &[u8]) -> u8 {
    let first_line = bytes.split(|&b| b == b'\n').next().unwrap_or(bytes);
    first_line.iter().copied().find(|b| matches!(b, b',' | b';' | b'\t')).unwrap_or(b',')
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

/// The numbers of a column, by its name or by its number from 1; a file with one column needs
/// neither. `path` is for messages.
///
/// # Errors
/// `Data` for a column that is not there, none given where there are several, a field that is no
/// number, and a row with another number of fields than the first; names line and column.
pub fn read_column(path: &Path, bytes: &[u8], column: Option<&str>) -> Result<Vec<f64>, Error> {
    Ok(read(path, bytes, column, false)?.values)
}

/// [`read_column`] with the columns `x`, `y` and `z` beside it, in either letter case, perhaps with
/// a unit behind them: `x [m]`, `X [Kilo*Meter]`. Where the column itself is one of these, none of
/// them is a position.
///
/// # Errors
/// As [`read_column`]; also for a position that is no number or has a unit of no length.
pub fn read_located(path: &Path, bytes: &[u8], column: Option<&str>) -> Result<Located, Error> {
    read(path, bytes, column, true)
}

fn read(path: &Path, bytes: &[u8], column: Option<&str>, with_positions: bool) -> Result<Located, Error> {
    let bytes = without_mark(bytes);
    let bad = |message: String| Error::new(ErrorKind::Data, message);
    let mut fields = Fields::new(bytes, separator(bytes));
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
    let chosen = choose(path, first.len(), &names, column)?;
    let line_of_names = first.first().map_or(1, |(_, line)| *line);
    let axes = if with_positions { axes(path, line_of_names, &names, chosen)? } else { Vec::new() };
    let number = |text: &[u8], line: u64, column: usize| {
        parse_data_number(text).map_err(|fault| {
            let what = match fault {
                NumberError::NotANumber => "is not a number",
                NumberError::OutOfRange => "is beyond the range of numbers",
            };
            let name = names.get(column).map_or_else(|| (column + 1).to_string(), |name| format!("`{name}`"));
            bad(format!("{}:{line}: column {name}: {} {what}", path.display(), quoted(text)))
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
                return Err(bad(format!("{}:{line}: {found} fields, and the first row has {}", path.display(), first.len())));
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
    /// What a 1 in it is.
    metres: f64,
}

/// The columns of positions; none if the values are in one of them.
fn axes(path: &Path, line: u64, names: &[String], chosen: usize) -> Result<Vec<AxisColumn>, Error> {
    let mut found: Vec<AxisColumn> = Vec::new();
    for (column, name) in names.iter().enumerate() {
        let (axis_name, unit) = name.split_once('[').map_or((name.as_str(), None), |(axis, unit)| (axis, Some(unit)));
        let Some(axis) = ["x", "y", "z"].iter().position(|axis| axis.eq_ignore_ascii_case(axis_name.trim())) else { continue };
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

/// Index of the column that is meant.
pub(super) fn choose(path: &Path, count: usize, names: &[String], column: Option<&str>) -> Result<usize, Error> {
    let bad = |message: String| Err(Error::new(ErrorKind::Data, format!("{}: {message}", path.display())));
    let Some(wanted) = column else {
        return match count {
            0 | 1 => Ok(0),
            _ => {
                let there = if names.is_empty() { String::new() } else { format!(": {}", listed(names)) };
                bad(format!("{count} columns{there}, and no parameter says which"))
                    .map_err(|e| e.hint("give the key with `_column` in place of `_filename`"))
            }
        };
    };
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
        read_column(Path::new("rock.csv"), text.as_bytes(), column).map_err(|e| e.message)
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
    fn positions_beside_a_column() {
        let read = |text: &str, column: &str| {
            read_located(Path::new("rock.csv"), text.as_bytes(), Some(column)).map(|found| found.positions).map_err(|e| e.message)
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
        refused("a,b\n1,2\n", None, ": 2 columns: `a`, `b`, and no parameter says which");
        refused("1,2\n", None, ": 2 columns, and no parameter says which");
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
