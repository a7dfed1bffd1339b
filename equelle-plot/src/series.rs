//! The table of a run: single numbers over time.

use std::path::Path;

use equelle_runtime::{Error, ErrorKind};

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Time, or the number of the step where no row has a time, and value of each row that has one.
    pub points: Vec<[f64; 2]>,
    /// True if the first numbers are times.
    pub has_times: bool,
}

/// Columns of a table as runs write it.
///
/// # Errors
/// `Data` with file and line for text that is not such a table.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Vec<Series>, Error> {
    let bad = |line: usize, what: &str| Error::new(ErrorKind::Data, format!("{}: line {line}: {what}", path.display()));
    let text = std::str::from_utf8(bytes).map_err(|_| bad(1, "not text in UTF-8"))?;
    let mut lines = text.lines();
    let names = fields(lines.next().unwrap_or_default());
    if names.len() < 2 || names[..2] != ["step", "time"] {
        return Err(bad(1, "not the table of a run: its first columns are not `step` and `time`"));
    }
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (index, line) in lines.enumerate() {
        let numbers: Result<Vec<f64>, Error> = fields(line)
            .iter()
            .map(|field| match field.as_str() {
                "" => Ok(f64::NAN),
                field => field.parse().map_err(|_| bad(index + 2, &format!("`{field}` is not a number"))),
            })
            .collect();
        rows.push(numbers?);
    }
    let has_times = rows.iter().any(|row| row.get(1).is_some_and(|time| time.is_finite()));
    let column = |(index, name): (usize, &String)| {
        let point = |row: &Vec<f64>| {
            let at = row.get(usize::from(has_times)).copied().filter(|at| at.is_finite())?;
            row.get(index).filter(|value| !value.is_nan()).map(|&value| [at, value])
        };
        Series { name: name.clone(), points: rows.iter().filter_map(point).collect(), has_times }
    };
    Ok(names.iter().enumerate().skip(2).map(column).collect())
}

/// Fields of a line, in quotes where they have commas.
pub fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_skip_rows_without_a_value() {
        let text = "step,time,m,\"a,\"\"b\"\"\"\n0,0,1.5,\n1,0.1,,2\n2,0.3,2.5,3\n";
        let series = read(Path::new("t.csv"), text.as_bytes()).unwrap();
        assert_eq!((series[0].name.as_str(), &series[0].points[..]), ("m", &[[0.0, 1.5], [0.3, 2.5]][..]));
        assert_eq!((series[1].name.as_str(), &series[1].points[..]), ("a,\"b\"", &[[0.1, 2.0], [0.3, 3.0]][..]));
        let steps = read(Path::new("t.csv"), b"step,time,m\n3,,1\n").unwrap();
        assert_eq!((steps[0].has_times, &steps[0].points[..]), (false, &[[3.0, 1.0]][..]));
        for (text, place) in [("a,b\n", "line 1"), ("step,time,m\n1,2,x\n", "line 2: `x`"), ("", "line 1")] {
            let message = read(Path::new("t.csv"), text.as_bytes()).unwrap_err().message;
            assert!(message.contains(place), "{message}");
        }
    }
}
