//! Tables: the file, how it goes between rows, and what is beyond them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::choice::filename_key;
use super::data_file::DataFormat;
use super::{ConstantTable, Inputs, array, missing};
use crate::error::{Error, ErrorKind};
use crate::io::quantity;
use crate::io::table::{Column, column_error, read_columns};
use crate::math::table::{Interpolation, Outside, Table, TableError};
use crate::math::table2::{Table2, Table2Error};
use crate::params::{Parameters, near_match};
use crate::program::{InputKind, TableColumn};

impl Inputs {
    /// The table in `<name>_filename` with these columns, between its rows as
    /// `<name>_interpolation` says and beyond them as `<name>_outside`.
    ///
    /// # Errors
    /// `Data` for a missing parameter or one that is none of its words, a column that is not there,
    /// what is no number, a unit of another dimension than the program takes, less than two rows,
    /// and arguments that do not ascend (file, line, column); `Io` if the file cannot be read.
    pub fn table(&mut self, parameters: &Parameters, name: &str, argument: &str, value: &str) -> Result<Arc<Table>, Error> {
        let key = [name, argument, value].map(str::to_owned);
        if let Some((_, table)) = self.tables.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(table));
        }
        let (table, range) = self.read_table(parameters, name, argument, value)?;
        let table = Arc::new(table);
        self.note_outside(parameters, name, vec![range])?;
        self.tables.push((key, Arc::clone(&table)));
        Ok(table)
    }

    /// Keeps what a table is beyond its rows, for messages.
    fn note_outside(&mut self, parameters: &Parameters, name: &str, arguments: Vec<[f64; 2]>) -> Result<(), Error> {
        match choice(parameters, &format!("{name}_outside"), OUTSIDES)? {
            Outside::Error => drop(self.table_with_ends.get_or_insert_with(|| name.to_owned())),
            Outside::Constant if self.constant_tables.iter().any(|table| table.name == name) => {}
            Outside::Constant => self.constant_tables.push(ConstantTable { name: name.to_owned(), arguments }),
            Outside::Linear => {}
        }
        Ok(())
    }

    /// The tables read that are constant outside of their rows.
    pub(crate) fn constant_tables(&self) -> &[ConstantTable] {
        &self.constant_tables
    }

    /// The first table read that is not a number beyond its rows.
    pub(crate) fn table_with_ends(&self) -> Option<&str> {
        self.table_with_ends.as_deref()
    }

    /// The table of two arguments in `<name>_filename` with these columns, bilinear between its
    /// rows and beyond them as `<name>_outside` says.
    ///
    /// # Errors
    /// As [`Inputs::table`], and `Data` where a pair of arguments has no row.
    pub fn table2(&mut self, parameters: &Parameters, name: &str, arguments: [&str; 2], value: &str) -> Result<Arc<Table2>, Error> {
        let key = [name, arguments[0], arguments[1], value].map(str::to_owned);
        if let Some((_, table)) = self.tables2.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(table));
        }
        let (table, ranges) = self.read_table2(parameters, name, arguments, value)?;
        let table = Arc::new(table);
        self.note_outside(parameters, name, ranges.to_vec())?;
        self.tables2.push((key, Arc::clone(&table)));
        Ok(table)
    }

    fn read_table(&self, parameters: &Parameters, name: &str, argument: &str, value: &str) -> Result<(Table, [f64; 2]), Error> {
        let interpolation = choice(parameters, &format!("{name}_interpolation"), INTERPOLATIONS)?;
        let outside = choice(parameters, &format!("{name}_outside"), OUTSIDES)?;
        let (path, [mut arguments, mut values], lines) = columns(parameters, name, [argument, value])?;
        let columns = self.program.inputs.iter().filter(|info| &*info.name == name).find_map(|info| match &info.kind {
            InputKind::Table(columns) if columns.names() == (argument, None, value) => Some(columns),
            _ => None,
        });
        convert(&path, &mut arguments, argument, columns.map(|columns| &columns.argument))?;
        convert(&path, &mut values, value, columns.map(|columns| &columns.value))?;
        let bad = |row: usize, what: String| Error::new(ErrorKind::Data, format!("{}:{}: {what}", path.display(), lines[row]));
        let table = Table::new(&arguments.numbers, &values.numbers, interpolation, outside).map_err(|error| match error {
            TableError::TooFewRows => {
                let message = format!("{}: a table has at least two rows, and this one has {}", path.display(), lines.len());
                Error::new(ErrorKind::Data, message)
            }
            TableError::NotAscending(row) => {
                let [before, here] = [row - 1, row].map(|row| arguments.numbers[row]);
                bad(row, format!("column `{argument}`: {here} after {before}, and the arguments of a table ascend"))
                    .hint("sort the rows; a table has one value at an argument")
            }
            TableError::TooSteep(row) => bad(row, format!("column `{value}`: the slope to the next row is beyond the range of numbers")),
        })?;
        Ok((table, range(&arguments.numbers)))
    }

    fn read_table2(
        &self,
        parameters: &Parameters,
        name: &str,
        arguments: [&str; 2],
        value: &str,
    ) -> Result<(Table2, [[f64; 2]; 2]), Error> {
        let key = format!("{name}_interpolation");
        if choice(parameters, &key, INTERPOLATIONS)? == Interpolation::Monotone {
            let message = format!("parameter `{key}`{}: a table of two arguments is `linear` only", parameters.place(&key));
            return Err(Error::new(ErrorKind::Data, message).hint("leave it out, or give the table more rows"));
        }
        let outside = choice(parameters, &format!("{name}_outside"), OUTSIDES)?;
        let [first, second] = arguments;
        let (path, [mut of_first, mut of_second, mut values], lines) = columns(parameters, name, [first, second, value])?;
        let units = self.program.inputs.iter().filter(|info| &*info.name == name).find_map(|info| match &info.kind {
            InputKind::Table(columns) if columns.names() == (first, Some(second), value) => Some(columns),
            _ => None,
        });
        convert(&path, &mut of_first, first, units.map(|columns| &columns.argument))?;
        convert(&path, &mut of_second, second, units.and_then(|columns| columns.second.as_deref()))?;
        convert(&path, &mut values, value, units.map(|columns| &columns.value))?;
        let both = [&of_first.numbers[..], &of_second.numbers[..]];
        let pairs = format!("a table of two arguments has a row for each pair, sorted by `{first}` and then by `{second}`");
        let table = Table2::new(both, &values.numbers, outside).map_err(|error| {
            let bad = |place: String, what: String| Error::new(ErrorKind::Data, format!("{}{place}: {what}", path.display()));
            let at = |row: usize| format!(":{}", lines[row]);
            match error {
                Table2Error::TooFewValues(argument) => {
                    bad(String::new(), format!("column `{}` has less than two values that follow each other", arguments[argument]))
                        .hint(pairs)
                }
                Table2Error::NotAscending(argument, row) => {
                    let found = both[argument][row];
                    bad(at(row), format!("column `{}`: {found}, and the arguments of a table ascend", arguments[argument])).hint(pairs)
                }
                Table2Error::OtherPair(row) => {
                    let found = format!("`{first}` is {}, `{second}` is {}", both[0][row], both[1][row]);
                    bad(at(row), format!("{found}, which is not the pair that comes next")).hint(pairs)
                }
                Table2Error::PairsMissing => bad(String::new(), "the last rows of the table are missing".to_owned()).hint(pairs),
                Table2Error::TooSteep(row) => {
                    bad(at(row), format!("column `{value}`: the slope to the next row is beyond the range of numbers"))
                }
                Table2Error::TooLarge => bad(String::new(), "a table of two arguments has at most 16 million rows".to_owned()),
            }
        })?;
        Ok((table, both.map(range)))
    }
}

/// The path of the file of a table, its columns, and the lines of its rows.
fn columns<const N: usize>(parameters: &Parameters, name: &str, wanted: [&str; N]) -> Result<(PathBuf, [Column; N], Vec<u64>), Error> {
    if let Some(array) = parameters.array(name) {
        return array::columns(name, array, wanted);
    }
    let filename = filename_key(name);
    let Some(path) = parameters.path(&filename)? else {
        let error = missing(parameters, &filename, "the file with the rows of the table");
        return Err(if error.hint.is_some() { error } else { error.hint(format!("give {filename}=FILE")) });
    };
    let bytes = parameters.source().read(&path, "")?;
    match DataFormat::of(&path, &bytes) {
        DataFormat::Csv | DataFormat::Text => {}
        DataFormat::Npy | DataFormat::Npz | DataFormat::Vtk => {
            let message = format!("{}: input `{name}` needs a table", path.display());
            return Err(Error::new(ErrorKind::Data, message).hint("tables are text, with blanks, commas or semicolons between the numbers"));
        }
    }
    let (found, lines) = read_columns(&path, &bytes, wanted)?;
    Ok((path, found, lines))
}

/// Least and greatest number.
fn range(numbers: &[f64]) -> [f64; 2] {
    numbers.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, greatest], number| [least.min(*number), greatest.max(*number)])
}

/// In the unit that the program takes.
fn convert(path: &Path, column: &mut Column, name: &str, info: Option<&TableColumn>) -> Result<(), Error> {
    let Some(unit) = column.unit else { return Ok(()) };
    let expected = info.and_then(|info| info.unit.as_ref());
    let hint = match expected {
        Some(_) => None,
        None => Some(
            "give the name alone; a unit is known where the program divides what it asks the table for by one, \
             as in `Interpolate(t, p / (1 [Pascal]))`, or multiplies what the table gives",
        ),
    };
    quantity::convert(&mut column.numbers, unit, expected)
        .map_err(|error| column_error(path, column.line, name, hint.into_iter().fold(error, |error, hint| error.hint(hint))))
}

const INTERPOLATIONS: &[(&str, Interpolation)] = &[("linear", Interpolation::Linear), ("monotone", Interpolation::Monotone)];
const OUTSIDES: &[(&str, Outside)] = &[("constant", Outside::Constant), ("linear", Outside::Linear), ("error", Outside::Error)];

/// Reads a parameter that is one of some words.
fn choice<T: Copy + Default>(parameters: &Parameters, key: &str, words: &[(&str, T)]) -> Result<T, Error> {
    let Some(given) = parameters.text(key) else { return Ok(T::default()) };
    if let Some((_, found)) = words.iter().find(|(word, _)| *word == given) {
        return Ok(*found);
    }
    let listed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    let message = format!("parameter `{key}`{} must be {}, not `{given}`", parameters.place(key), listed.join(" or "));
    let error = Error::new(ErrorKind::Data, message);
    Err(match near_match(given, words.iter().map(|(word, _)| *word)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    })
}
