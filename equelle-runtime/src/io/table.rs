//! Columns of a table, by name: fields between commas, semicolons or blanks, whatever the file is
//! called.
//!
//! The first line has the names, each perhaps with a unit: `p [Bar]`; or a remark before the
//! numbers has them. Without names columns have their numbers, from 1. Remarks follow `#` or `--`,
//! and a `/` may close the table, as in decks.

use std::path::Path;

use super::csv::{self, Fields, MAX_COLUMNS, Wanted};
use super::token::TextError;
use super::unit::{Unit, parse_unit};
use crate::error::{Error, ErrorKind};
use crate::number::{NumberError, decimal_comma, parse_data_number, quoted, without_mark};

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
#[derive(Clone, Debug, Default)]
struct Row {
    fields: Vec<Vec<u8>>,
    line: u64,
}

/// The columns of these names or numbers, and the lines of their rows. `path` is for messages.
///
/// # Errors
/// `Data` for a column that is not there, a field that is no number, a unit that is none, a row
/// with another number of fields than the first, and no rows; names line and column.
pub fn read_columns<const N: usize>(path: &Path, bytes: &[u8], wanted: [&str; N]) -> Result<([Column; N], Vec<u64>), Error> {
    let bad = |line: u64, message: String| Error::new(ErrorKind::Data, format!("{}:{line}: {message}", path.display()));
    let bytes = without_mark(bytes);
    let has_separators = csv::has_separators(path, bytes);
    let rows = if has_separators { rows_of_csv(bytes) } else { rows_of_words(bytes) };
    let (rows, names) = table_of(rows, has_separators).map_err(|line| {
        let what = "a row after the `/` that closes the table".to_string();
        bad(line, what).hint("a file has one table: put the others into files of their own")
    })?;
    let no_rows = || Error::new(ErrorKind::Data, format!("{}: a table without rows", path.display()));
    let Some(first) = names.as_ref().or(rows.first()) else { return Err(no_rows()) };
    let count = first.fields.len();
    if count > MAX_COLUMNS {
        return Err(bad(first.line, format!("more than {MAX_COLUMNS} fields")));
    }
    let heads: Vec<(String, Option<String>)> = names.iter().flat_map(|row| &row.fields).map(|field| head(field)).collect();
    let names: Vec<String> = heads.iter().map(|(name, _)| name.clone()).collect();
    if rows.is_empty() {
        return Err(no_rows().hint("rows of numbers follow the line with the names"));
    }
    if let Some(row) = rows.iter().find(|row| row.fields.len() != count) {
        let error = bad(row.line, format!("{} fields, and the first row has {count}", row.fields.len()));
        return Err(match &names[..] {
            [keyword] if count == 1 => {
                error.hint(format!("`{keyword}` alone is no name of these columns: put the names into the first line"))
            }
            [..] => error,
        });
    }
    let mut columns = Vec::with_capacity(N);
    for name in wanted {
        let chosen = csv::choose(path, count, &names, Wanted { input: name, column: Some(name) })?;
        let unit = match heads.get(chosen) {
            Some((name, Some(unit))) => Some(parse_unit(unit).map_err(|error| column_error(path, first.line, name, error))?),
            Some((_, None)) | None => None,
        };
        let mut numbers = Vec::with_capacity(rows.len());
        for row in &rows {
            let text = &row.fields[chosen];
            numbers.push(parse_data_number(text).map_err(|fault| {
                let what = match fault {
                    NumberError::NotANumber => "is not a number",
                    NumberError::OutOfRange => "is beyond the range of numbers",
                };
                let error = bad(row.line, format!("column `{name}`: {} {what}", quoted(text)));
                match decimal_comma(text) {
                    Some(point) => error.hint(format!("decimals have a point: `{point}`")),
                    None => error,
                }
            })?);
        }
        columns.push(Column { numbers, unit, line: first.line });
    }
    let lines = rows.iter().map(|row| row.line).collect();
    columns.try_into().map(|columns| (columns, lines)).map_err(|_| no_rows())
}

/// A table between blanks as CSV, line by line, if its names, of which it may have none, are
/// `wanted`; `None` for text that is no table of two columns or more.
pub fn between_blanks(bytes: &[u8], wanted: impl Fn(&[String]) -> bool) -> Option<Vec<u8>> {
    let (rows, names) = table_of(rows_of_words(without_mark(bytes)), false).ok()?;
    let count = rows.first()?.fields.len();
    let fields = names.iter().flat_map(|row| &row.fields).map(|field| String::from_utf8_lossy(field).into_owned());
    if count < 2 || !wanted(&fields.collect::<Vec<String>>()) {
        return None;
    }
    let (mut text, mut line) = (Vec::with_capacity(bytes.len()), 1);
    for row in names.iter().chain(&rows) {
        text.resize(text.len() + (row.line.saturating_sub(line)) as usize, b'\n');
        line = row.line.max(line);
        for (at, field) in row.fields.iter().enumerate() {
            text.extend((at > 0).then_some(b','));
            let needs_quotes = field.iter().any(|byte| b",;\"".contains(byte));
            let mark: &[u8] = if needs_quotes { b"\"" } else { b"" };
            text.extend([mark, &field[..], mark].concat());
        }
    }
    Some(text)
}

/// An error about a column.
pub fn column_error(path: &Path, line: u64, name: &str, error: TextError) -> Error {
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

/// The rows of numbers, and the row of names: the first one, or else the remark before it if that
/// has a word for each number. An error is the line of a row behind the `/` that ends the table.
fn table_of(all: Vec<Row>, is_csv: bool) -> Result<(Vec<Row>, Option<Row>), u64> {
    let (mut rows, mut remark, mut has_ended) = (Vec::new(), None, false);
    for mut row in all {
        let remark_of_row = cut_remark(&mut row, is_csv);
        match (row.fields.is_empty(), has_ended) {
            (true, _) if rows.is_empty() => remark = remark_of_row.or(remark),
            (true, _) => {}
            (false, true) => return Err(row.line),
            (false, false) => {
                has_ended = cut_end(&mut row);
                rows.extend((!row.fields.is_empty()).then_some(row));
            }
        }
    }
    let is_name = |text: &Vec<u8>| !text.is_empty() && parse_data_number(text) == Err(NumberError::NotANumber);
    let names = match rows.first() {
        Some(first) if first.fields.iter().any(is_name) => Some(rows.remove(0)),
        Some(first) => remark.and_then(|(text, line)| {
            let between_marks = text.split(|byte| b",;\t".contains(byte)).map(|field| field.trim_ascii().to_vec()).collect();
            let mut both = [between_marks, words(&text)].into_iter();
            let fields = both.find(|fields: &Vec<Vec<u8>>| fields.len() == first.fields.len() && fields.iter().all(is_name))?;
            Some(Row { fields, line })
        }),
        None => None,
    };
    Ok((rows, names))
}

/// Takes a remark off a row: its text, and its line.
fn cut_remark(row: &mut Row, is_csv: bool) -> Option<(Vec<u8>, u64)> {
    // Names between commas may begin with `#`.
    let begins = |(at, field): (usize, &Vec<u8>)| field.starts_with(b"--") || field.starts_with(b"#") && (at == 0 || !is_csv);
    let at = row.fields.iter().enumerate().position(begins)?;
    let text = row.fields.split_off(at).join(if is_csv { &b","[..] } else { b" " });
    let mark = if text.starts_with(b"#") { 1 } else { 2 };
    Some((text[mark..].trim_ascii().to_vec(), row.line))
}

/// Takes the `/` that ends a table, and what follows it, off a row; whether there was one.
fn cut_end(row: &mut Row) -> bool {
    let number = |field: &[u8]| field.strip_suffix(b"/").is_some_and(|text| parse_data_number(text.trim_ascii()).is_ok());
    let Some(at) = row.fields.iter().position(|field| field.starts_with(b"/") || number(field)) else { return false };
    let last = std::mem::take(&mut row.fields[at]);
    row.fields.truncate(at);
    if let Some(text) = last.strip_suffix(b"/").filter(|text| !text.is_empty() && !last.starts_with(b"/")) {
        row.fields.push(text.trim_ascii().to_vec());
    }
    true
}

fn rows_of_csv(bytes: &[u8]) -> Vec<Row> {
    let mut fields = Fields::new(bytes, csv::separator(bytes));
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while let Some(field) = fields.next() {
        // A remark may follow the last number, with separators of its own.
        let remark = field.text.windows(3).position(|part| part == b" --" || part == b"\t--");
        let (text, remark) = remark.map_or((field.text, None), |at| (field.text[..at].trim_ascii(), Some(&field.text[at + 1..])));
        row.extend([Some(text), remark].into_iter().flatten().map(<[u8]>::to_vec));
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

    fn read(text: &str) -> Result<([Column; 2], Vec<u64>), String> {
        read_columns(Path::new("pvt"), text.as_bytes(), ["p", "mu"]).map_err(|error| error.message)
    }

    #[test]
    fn columns_with_units_in_both_formats() {
        const PRESSURE: Dimension = [-1, -2, 1, 0, 0, 0, 0];
        for text in
            ["mu,x,p [Bar]\n1,0,100\n\n2,0,200\n", "mu x p [ Bar ]\r\n1 0 100\r\n\r\n2  0\t200", "mu x p[Bar]\n1 0 100\n \n2  0\t200"]
        {
            let ([p, mu], lines) = read(text).unwrap();
            assert_eq!((&p.numbers[..], &mu.numbers[..], &lines[..]), (&[100.0, 200.0][..], &[1.0, 2.0][..], &[2, 4][..]), "{text}");
            assert_eq!((p.unit, mu.unit), (Some(Unit { factor: 1e5, dimension: PRESSURE }), None), "{text}");
        }
        let ([a, b], lines) = read_columns(Path::new("t"), b"1 2\n3 4\n", ["2", "1"]).unwrap();
        assert_eq!((a.numbers, b.numbers, lines), (vec![2.0, 4.0], vec![1.0, 3.0], vec![1, 2]));
    }

    /// As decks and other programs have them, whatever separates the fields.
    #[test]
    fn remarks_names_in_remarks_and_the_end_of_a_deck() {
        for text in [
            "-- p mu\np mu\n1 3 -- a remark\n2 4 /\n",
            "-- p mu\n1 3\n# another\n2 4\n/\n",
            "# by hand\n# p mu\n1 3\n2 4/ what follows is none\n\n-- the end\n",
            "# p, mu\n1 3\n2 4\n",
            "# p mu\n1,3\n2,4\n",
            "#p;mu\n1;3\n2;4 /\n",
            "p,mu\n-- a remark, and more\n1, 3 -- here, too\n2, 4\n/\n",
            "p mu # names\n1 3.0D0\n2 4\n",
        ] {
            let ([p, mu], _) = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((p.numbers, mu.numbers), (vec![1.0, 2.0], vec![3.0, 4.0]), "{text}");
        }
        let ([p, _], lines) = read("-- p [Bar]  mu\n\n1 3\n-- a remark\n2 4\n").unwrap();
        assert_eq!((p.unit.map(|unit| unit.factor), lines), (Some(1e5), vec![3, 5]));
        assert_eq!(read("p mu\n1 3\n2 4 /\n5 6 /\n").unwrap_err(), "pvt:4: a row after the `/` that closes the table");
        let hint = |text: &str| read_columns(Path::new("pvt"), text.as_bytes(), ["p", "mu"]).unwrap_err().hint.unwrap_or_default();
        assert!(hint("SWOF\n1 3\n2 4 /\n").contains("`SWOF` alone is no name"));
        assert!(hint("p;mu\n0,5;1,5\n3;4\n").contains("decimals have a point: `0.5`"));
        assert!(hint("p mu\n0,5 1,5\n3 4\n").contains("decimals have a point: `0.5`"));
    }

    #[test]
    fn what_is_no_table() {
        for (text, message) in [
            ("", "pvt: a table without rows"),
            ("p mu\n", "pvt: a table without rows"),
            ("p,mu\n", "pvt: a table without rows"),
            ("p,nu\n1,2\n", "pvt: there is no column `mu`: columns are `p`, `nu`"),
            ("1 2\n3 4\n", "pvt: there is no column `p`: the first line has numbers, not names"),
            ("p mu\n1 2\n3\n", "pvt:3: 1 fields, and the first row has 2"),
            ("p mu\n1 2\n3 nan\n", "pvt:3: column `mu`: `nan` is not a number"),
            ("p,mu\n1,2\n1e999,2\n", "pvt:3: column `p`: `1e999` is beyond the range of numbers"),
            ("p [Barr] mu\n1 2\n", "pvt:1: column `p`: there is no unit `Barr`"),
        ] {
            assert_eq!(read(text).unwrap_err(), message, "{text}");
        }
    }
}
