//! Columns of a table, by name: CSV, or words separated by blanks.
//!
//! The first line has the names, each perhaps with a unit: `p [Bar]`. Without names columns have
//! their numbers, from 1.

use std::path::Path;

use super::csv::{self, Fields, MAX_COLUMNS, Wanted};
use super::token::TextError;
use super::unit::{Unit, parse_unit};
use crate::error::{Error, ErrorKind};
use crate::number::{NumberError, parse_data_number, quoted, without_mark};

/// How the fields of a row are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separation {
    /// As in CSV files.
    Csv,
    /// By blanks, but those between brackets.
    Blanks,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// As given, one per row.
    pub numbers: Vec<f64>,
    /// Their unit, if the column's name has one.
    pub unit: Option<Unit>,
    /// Line of the names, or of the first row.
    pub line: u64,
}

/// A row as text, with its line.
struct Row {
    fields: Vec<Vec<u8>>,
    line: u64,
}

/// The columns of these names or numbers, and the lines of their rows. `path` is for messages.
///
/// # Errors
/// `Data` for a column that is not there, a field that is no number, a unit that is none, a row
/// with another number of fields than the first, and no rows; names line and column.
pub fn read_columns<const N: usize>(
    path: &Path,
    bytes: &[u8],
    separation: Separation,
    wanted: [&str; N],
) -> Result<([Column; N], Vec<u64>), Error> {
    let bad = |line: u64, message: String| Error::new(ErrorKind::Data, format!("{}:{line}: {message}", path.display()));
    let bytes = without_mark(bytes);
    let rows = match separation {
        Separation::Csv => rows_of_csv(bytes),
        Separation::Blanks => rows_of_words(bytes),
    };
    let no_rows = || Error::new(ErrorKind::Data, format!("{}: a table without rows", path.display()));
    let Some(first) = rows.first() else { return Err(no_rows()) };
    let count = first.fields.len();
    if count > MAX_COLUMNS {
        return Err(bad(first.line, format!("more than {MAX_COLUMNS} fields")));
    }
    let is_word = |text: &&Vec<u8>| !text.is_empty() && parse_data_number(text) == Err(NumberError::NotANumber);
    let has_names = first.fields.iter().any(|text| is_word(&text));
    let heads: Vec<(String, Option<String>)> = first.fields.iter().filter(|_| has_names).map(|field| head(field)).collect();
    let names: Vec<String> = heads.iter().map(|(name, _)| name.clone()).collect();
    let rows = &rows[usize::from(has_names)..];
    if rows.is_empty() {
        return Err(no_rows().hint("rows of numbers follow the line with the names"));
    }
    if let Some(row) = rows.iter().find(|row| row.fields.len() != count) {
        return Err(bad(row.line, format!("{} fields, and the first row has {count}", row.fields.len())));
    }
    let mut columns = Vec::with_capacity(N);
    for name in wanted {
        let chosen = csv::choose(path, count, &names, Wanted { input: name, column: Some(name) })?;
        let unit = match heads.get(chosen) {
            Some((name, Some(unit))) => Some(parse_unit(unit).map_err(|error| of_column(path, first.line, name, error))?),
            Some((_, None)) | None => None,
        };
        let mut numbers = Vec::with_capacity(rows.len());
        for row in rows {
            let text = &row.fields[chosen];
            numbers.push(parse_data_number(text).map_err(|fault| {
                let what = match fault {
                    NumberError::NotANumber => "is not a number",
                    NumberError::OutOfRange => "is beyond the range of numbers",
                };
                bad(row.line, format!("column `{name}`: {} {what}", quoted(text)))
            })?);
        }
        columns.push(Column { numbers, unit, line: first.line });
    }
    let lines = rows.iter().map(|row| row.line).collect();
    columns.try_into().map(|columns| (columns, lines)).map_err(|_| no_rows())
}

/// An error about a column.
pub fn of_column(path: &Path, line: u64, name: &str, error: TextError) -> Error {
    let message = format!("{}:{line}: column `{name}`: {}", path.display(), error.what);
    let without_hint = Error::new(ErrorKind::Data, message);
    match error.hint {
        Some(hint) => without_hint.hint(hint),
        None => without_hint,
    }
}

/// A name, and the text of its unit.
fn head(field: &[u8]) -> (String, Option<String>) {
    let text = String::from_utf8_lossy(field);
    match text.split_once('[') {
        Some((name, unit)) => {
            let unit = unit.trim_end();
            (name.trim().to_owned(), Some(unit.strip_suffix(']').unwrap_or(unit).to_owned()))
        }
        None => (text.trim().to_owned(), None),
    }
}

fn rows_of_csv(bytes: &[u8]) -> Vec<Row> {
    let mut fields = Fields::new(bytes, csv::separator(bytes));
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while let Some(field) = fields.next() {
        row.push(field.text.to_vec());
        if field.ends_row {
            rows.push(Row { fields: std::mem::take(&mut row), line: field.line });
        }
    }
    rows
}

fn rows_of_words(bytes: &[u8]) -> Vec<Row> {
    let lines = bytes.split(|&byte| byte == b'\n').zip(1..);
    lines.map(|(line, number)| Row { fields: words(line), line: number }).filter(|row| !row.fields.is_empty()).collect()
}

/// The words of a line; a unit in brackets belongs to the word before it.
fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let (mut in_unit, mut in_word) = (false, false);
    for &byte in line {
        let begins_unit = byte == b'[' && !words.is_empty();
        if byte.is_ascii_whitespace() && !in_unit {
            in_word = false;
        } else if in_word || begins_unit {
            words.last_mut().into_iter().for_each(|word| word.push(byte));
            in_word = true;
        } else {
            words.push(vec![byte]);
            in_word = true;
        }
        in_unit = (in_unit || begins_unit) && byte != b']';
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::unit::Dimension;

    fn read(text: &str, separation: Separation) -> Result<([Column; 2], Vec<u64>), String> {
        read_columns(Path::new("pvt"), text.as_bytes(), separation, ["p", "mu"]).map_err(|error| error.message)
    }

    #[test]
    fn columns_with_units_in_both_formats() {
        const PRESSURE: Dimension = [-1, -2, 1, 0, 0, 0, 0];
        for (text, separation) in [
            ("mu,x,p [Bar]\n1,0,100\n\n2,0,200\n", Separation::Csv),
            ("mu x p [ Bar ]\r\n1 0 100\r\n\r\n2  0\t200", Separation::Blanks),
            ("mu x p[Bar]\n1 0 100\n \n2  0\t200", Separation::Blanks),
        ] {
            let ([p, mu], lines) = read(text, separation).unwrap();
            assert_eq!((&p.numbers[..], &mu.numbers[..], &lines[..]), (&[100.0, 200.0][..], &[1.0, 2.0][..], &[2, 4][..]), "{text}");
            assert_eq!((p.unit, mu.unit), (Some(Unit { factor: 1e5, dimension: PRESSURE }), None), "{text}");
        }
        let ([a, b], lines) = read_columns(Path::new("t"), b"1 2\n3 4\n", Separation::Blanks, ["2", "1"]).unwrap();
        assert_eq!((a.numbers, b.numbers, lines), (vec![2.0, 4.0], vec![1.0, 3.0], vec![1, 2]));
    }

    #[test]
    fn what_is_no_table() {
        for (text, separation, message) in [
            ("", Separation::Blanks, "pvt: a table without rows"),
            ("p mu\n", Separation::Blanks, "pvt: a table without rows"),
            ("p,mu\n", Separation::Csv, "pvt: a table without rows"),
            ("p,nu\n1,2\n", Separation::Csv, "pvt: there is no column `mu`: columns are `p`, `nu`"),
            ("1 2\n3 4\n", Separation::Blanks, "pvt: there is no column `p`: the first line has numbers, not names"),
            ("p mu\n1 2\n3\n", Separation::Blanks, "pvt:3: 1 fields, and the first row has 2"),
            ("p mu\n1 2\n3 nan\n", Separation::Blanks, "pvt:3: column `mu`: `nan` is not a number"),
            ("p,mu\n1,2\n1e999,2\n", Separation::Csv, "pvt:3: column `p`: `1e999` is beyond the range of numbers"),
            ("p [Barr] mu\n1 2\n", Separation::Blanks, "pvt:1: column `p`: there is no unit `Barr`"),
        ] {
            assert_eq!(read(text, separation).unwrap_err(), message, "{text}");
        }
    }
}
