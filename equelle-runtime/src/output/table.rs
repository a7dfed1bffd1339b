//! The table of a run: a row for each step with its single numbers and probes, as CSV (RFC 4180).

use std::collections::BTreeMap;
use std::io::{Result, Write};

use crate::number::write_shortest;

/// A row; cells of columns that came later are missing.
#[derive(Debug)]
struct Row {
    step: u64,
    time: f64,
    cells: Vec<Option<f64>>,
}

/// Rows and columns, the latter in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Table {
    columns: Vec<String>,
    by_name: BTreeMap<String, usize>,
    rows: Vec<Row>,
}

impl Table {
    /// Adds a row.
    pub(super) fn push(&mut self, step: u64, time: f64, cells: impl IntoIterator<Item = (String, f64)>) {
        let mut row = Row { step, time, cells: vec![None; self.columns.len()] };
        for (name, value) in cells {
            let column = *self.by_name.entry(name).or_insert_with_key(|name| {
                self.columns.push(name.clone());
                self.columns.len() - 1
            });
            row.cells.resize(self.columns.len(), None);
            row.cells[column] = Some(value);
        }
        self.rows.push(row);
    }

    /// The first `rows` rows of a file, up to a round: what follows comes again. A file that nobody
    /// has written this way gives what can be read.
    pub(super) fn read(text: &str, last: u64, rows: u64) -> Table {
        let mut table = Table::default();
        let mut records = records(text).into_iter();
        let names: Vec<String> = records.next().unwrap_or_default().into_iter().skip(2).collect();
        for (column, name) in names.iter().enumerate() {
            table.by_name.insert(name.clone(), column);
        }
        table.columns = names;
        for record in records {
            let mut fields = record.iter();
            let (Some(Ok(step)), time) = (fields.next().map(|step| step.parse::<u64>()), fields.next()) else { break };
            if step > last || table.rows.len() as u64 == rows {
                break;
            }
            let time = time.and_then(|time| time.parse().ok()).unwrap_or(f64::NAN);
            table.rows.push(Row { step, time, cells: fields.map(|field| field.parse().ok()).collect() });
        }
        table
    }

    /// Writes all rows below the names of the columns. A missing number is an empty field.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut line = "step,time".to_owned();
        for column in &self.columns {
            line.push(',');
            push_name(&mut line, column);
        }
        for row in &self.rows {
            line.push('\n');
            out.write_all(line.as_bytes())?;
            line.clear();
            line.push_str(&row.step.to_string());
            line.push(',');
            if !row.time.is_nan() {
                write_shortest(&mut line, row.time);
            }
            for column in 0..self.columns.len() {
                line.push(',');
                if let Some(Some(value)) = row.cells.get(column) {
                    write_shortest(&mut line, *value);
                }
            }
        }
        line.push('\n');
        out.write_all(line.as_bytes())
    }
}

/// Records and their fields.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut fields, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                fields.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut fields));
            }
            other => field.push(other),
        }
    }
    records
}

/// A name, in quotes where it needs them.
fn push_name(line: &mut String, name: &str) {
    if name.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&name.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_has_the_rows_before() {
        let mut whole = Table::default();
        whole.push(0, 0.0, [("a".to_owned(), 1.0)]);
        whole.push(1, 0.1, [("b \"x\", y".to_owned(), -2.5), ("a".to_owned(), 0.3)]);
        whole.push(2, f64::NAN, [("a".to_owned(), 5.0)]);
        let text = |table: &Table| {
            let mut bytes = Vec::new();
            table.write(&mut bytes).expect("memory");
            String::from_utf8(bytes).expect("text")
        };
        whole.push(2, 0.2, [("after the loop".to_owned(), 1.0)]);
        whole.push(3, 0.3, [("a".to_owned(), 7.0)]);
        let rows = 3;
        let cut = text(&Table::read(&text(&whole), 2, rows));
        assert_eq!(cut, "step,time,a,\"b \"\"x\"\", y\",after the loop\n0,0,1,,\n1,0.1,0.3,-2.5,\n2,,5,,\n");
    }

    #[test]
    fn columns_that_come_later_and_go() {
        let mut table = Table::default();
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        assert_eq!(text, b"step,time\n");
        table.push(0, 0.0, [("m".to_owned(), 1.5)]);
        table.push(1, 0.1, [("u(0.5 1)".to_owned(), f64::NAN), ("m".to_owned(), 0.1 + 0.2)]);
        table.push(2, f64::NAN, [("a,\"b\"".to_owned(), -1e-10)]);
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        let expected = "step,time,m,u(0.5 1),\"a,\"\"b\"\"\"\n0,0,1.5,,\n1,0.1,0.30000000000000004,nan,\n2,,,,-1e-10\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
