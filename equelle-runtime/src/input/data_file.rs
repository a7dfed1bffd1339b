//! Data files: numbers, truth values and entities, by the format of the file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::choice::{column_key, filename_key};
use super::{array, field};
use crate::data_array::shape_text;
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::io::csv::Wanted;
use crate::io::table::between_blanks;
use crate::io::{csv, npy, npz};
use crate::number::{
    NumberError, Word, Words, decimal_comma, line_and_column, parse_data_number, parse_integer, parse_truth, quoted, without_mark,
};
use crate::params::{Origin, Parameters};
use crate::vtk::reader;

/// The kind of a data file, by its content or the extension of its name.
#[derive(Clone, Copy)]
pub(super) enum DataFormat {
    Text,
    Csv,
    Npy,
    Npz,
    Vtk,
}

pub(super) fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// The note on values that are in another order than the elements.
pub(super) fn sorted(path: &Path, name: &str, domain: &Domain) -> String {
    let (path, nouns) = (path.display(), domain.kind().nouns());
    format!("input `{name}`: `{path}` has another order than the {nouns} of the grid; values go by their positions")
}

impl DataFormat {
    pub(super) fn of(path: &Path, bytes: &[u8]) -> DataFormat {
        let has_extension = |wanted: &str| has_extension(path, wanted);
        if has_extension("npy") || npy::is_npy(bytes) {
            DataFormat::Npy
        } else if has_extension("npz") || npz::is_npz(bytes) {
            DataFormat::Npz
        } else if reader::is_vtk(bytes) || ["vtu", "vti", "vtr"].into_iter().any(has_extension) {
            DataFormat::Vtk
        } else if has_extension("csv") || has_columns(path, without_mark(bytes)) {
            DataFormat::Csv
        } else {
            DataFormat::Text
        }
    }
}

/// True if a text has fields between commas or semicolons; a single number that begins it may have
/// a decimal comma.
fn has_columns(path: &Path, text: &[u8]) -> bool {
    let is_number = |word: Word<'_>| !word.bytes.ends_with(b",") && decimal_comma(word.bytes).is_some();
    csv::has_separators(path, text) && !data_words(text).next().is_some_and(is_number)
}

/// The text of a table, fields between commas or semicolons, that has a column for an input; `None`
/// for other files. A table between blanks is one if a column of it is given or called as the
/// input.
pub(super) fn table_text<'b>(parameters: &Parameters, name: &str, path: &Path, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
    match DataFormat::of(path, bytes) {
        DataFormat::Csv => Some(Cow::Borrowed(bytes)),
        DataFormat::Text => {
            let is_given = column(parameters, name, false).is_some();
            let wanted = |names: &[String]| is_given || names.iter().any(|own| own.eq_ignore_ascii_case(name));
            between_blanks(bytes, wanted).map(Cow::Owned)
        }
        DataFormat::Npy | DataFormat::Npz | DataFormat::Vtk => None,
    }
}

/// The column or array that the parameters name; a file on the command line replaces one with
/// columns, unless it `needs` one.
pub(super) fn column<'p>(parameters: &'p Parameters, name: &str, needs: bool) -> Option<&'p str> {
    let key = column_key(name);
    let direct = |key: &str| parameters.origin(key).is_some_and(Origin::replaces_files);
    let replaced = || direct(&filename_key(name)) && !direct(&key);
    parameters.text(&key).filter(|column| !column.is_empty() && (needs || !replaced()))
}

/// The numbers of a file, and a note on their order where it has one of its own.
type FileNumbers = (Vec<f64>, Option<String>);

/// [`field_of`] of an array of doubles on disk, whose numbers go into place without a copy of the
/// file; `None` for other files.
pub(super) fn field_in_place(
    parameters: &Parameters,
    name: &str,
    path: &Path,
    domain: &Domain,
    each: usize,
) -> Result<Option<FileNumbers>, Error> {
    if column(parameters, name, false).is_some() {
        return Ok(None);
    }
    let Some((file, size)) = parameters.source().open(path) else { return Ok(None) };
    let Some(npy::Doubles { shape, numbers }) = npy::doubles(path, file, size)? else { return Ok(None) };
    let note = axes_note(name, path, &shape, domain, each)?;
    Ok(Some((numbers, note)))
}

/// The numbers of the elements of a domain in a file, `each` for an element: of results of an
/// earlier run, or all that there are; and a note on their order, where they have one of their own.
pub(super) fn field_of(
    parameters: &Parameters,
    name: &str,
    path: &Path,
    bytes: &[u8],
    domain: &Domain,
    each: usize,
) -> Result<FileNumbers, Error> {
    let column = |needs: bool| column(parameters, name, needs);
    let of_array = |label: &Path, bytes: &[u8]| {
        let array = npy::read(label, bytes)?;
        let note = axes_note(name, label, array.shape(), domain, each)?;
        Ok((array.numbers()?, note))
    };
    match DataFormat::of(path, bytes) {
        DataFormat::Vtk => {
            let (numbers, is_sorted) = field::numbers(path, bytes, name, column(false), domain, each)?;
            Ok((numbers, is_sorted.then(|| sorted(path, name, domain))))
        }
        DataFormat::Npy if column(false).is_none() => of_array(path, bytes),
        DataFormat::Npz => {
            let (label, bytes) = npz_member(name, path, bytes, column(false))?;
            of_array(&label, bytes)
        }
        DataFormat::Csv | DataFormat::Npy | DataFormat::Text => Ok((numbers_of(parameters, name, path, bytes, each)?, None)),
    }
}

/// Checks the shape of an array on a domain; a note if it has an axis for each of the grid.
fn axes_note(name: &str, path: &Path, shape: &[usize], domain: &Domain, each: usize) -> Result<Option<String>, Error> {
    match *shape {
        // Another number of values is an error of its own.
        [_] => return Ok(None),
        [_, 1] if each == 1 => return Ok(None),
        [..] => {}
    }
    let subject = format!("{}: input `{name}`", path.display());
    let is_cartesian = array::check_shape(&subject, shape, domain, each)?;
    let note = || format!("{subject}: shape {}: {}", shape_text(shape), array::AXES);
    Ok(is_cartesian.then(note))
}

/// All numbers in a file, `each` for an element: text, a column of a CSV file, an array of NumPy.
pub(crate) fn read_numbers(parameters: &Parameters, name: &str, path: &Path, each: usize) -> Result<Vec<f64>, Error> {
    numbers_of(parameters, name, path, &parameters.source().read(path, "")?, each)
}

pub(super) fn numbers_of(parameters: &Parameters, name: &str, path: &Path, bytes: &[u8], each: usize) -> Result<Vec<f64>, Error> {
    let key = column_key(name);
    if let Some(text) = table_text(parameters, name, path, bytes).filter(|_| each == 1) {
        return csv::read_column(path, &text, Wanted { input: name, column: column(parameters, name, true) });
    }
    let format = DataFormat::of(path, bytes);
    match (format, column(parameters, name, matches!(format, DataFormat::Csv))) {
        (DataFormat::Vtk, _) => {
            let message = format!("{}: fields on a grid, where input `{name}` needs a sequence of numbers", path.display());
            Err(Error::new(ErrorKind::Data, message))
        }
        (DataFormat::Csv | DataFormat::Npy | DataFormat::Text, Some(_)) => {
            let message = format!("parameter `{key}`: `{}` has no columns that are read by name", path.display());
            Err(Error::new(ErrorKind::Data, message)
                .hint("a column is read from a table of two columns or more, for a collection of numbers"))
        }
        (DataFormat::Npy, None) => numbers_of_array(name, path, &npy::read(path, bytes)?, each),
        (DataFormat::Npz, column) => {
            let (label, bytes) = npz_member(name, path, bytes, column)?;
            numbers_of_array(name, &label, &npy::read(&label, bytes)?, each)
        }
        (DataFormat::Csv | DataFormat::Text, None) => numbers_in(path, bytes),
    }
}

/// The numbers of an array, `each` for an element.
pub(super) fn numbers_of_array(name: &str, path: &Path, array: &npy::Array<'_>, each: usize) -> Result<Vec<f64>, Error> {
    match *array.shape() {
        [_] => array.numbers(),
        [_, columns] if columns == each => array.numbers(),
        [..] => {
            let wanted = if each == 1 { "one number".to_owned() } else { format!("{each} numbers") };
            let message = format!("{}: shape {}, and input `{name}` needs {wanted} for each element", path.display(), array.shape_text());
            Err(Error::new(ErrorKind::Data, message))
        }
    }
}

/// The array of an archive that `column` names, or the input's, or the only one; with its name in
/// messages.
pub(super) fn npz_member<'a>(name: &str, path: &Path, bytes: &'a [u8], column: Option<&str>) -> Result<(PathBuf, &'a [u8]), Error> {
    let archive = npz::read(path, bytes)?;
    let arrays: Vec<&str> = archive.names().filter_map(|member| member.strip_suffix(".npy")).collect();
    let array = match (column, &arrays[..]) {
        (Some(column), _) => column,
        (None, [only]) if *only != name => only,
        (None, _) => name,
    };
    let found = archive.member(&format!("{array}.npy")).ok_or_else(|| {
        let message = format!("{}: no array `{array}`; the file has {}", path.display(), arrays.join(", "));
        Error::new(ErrorKind::Data, message).hint(format!("give {}=ARRAY, the name of one of them", column_key(name)))
    })?;
    Ok((PathBuf::from(format!("{}: {array}", path.display())), found))
}

/// All truth values in a file: text, an array of NumPy, results of an earlier run; and a note on
/// their order, where they have one of their own.
pub(super) fn read_truths(parameters: &Parameters, name: &str, path: &Path, domain: &Domain) -> Result<(Vec<bool>, Option<String>), Error> {
    let bytes = parameters.source().read(path, "")?;
    let of_array = |label: &Path, bytes: &[u8]| {
        let array = npy::read(label, bytes)?;
        let note = axes_note(name, label, array.shape(), domain, 1)?;
        Ok((array.truths()?, note))
    };
    match DataFormat::of(path, &bytes) {
        DataFormat::Npy => of_array(path, &bytes),
        DataFormat::Npz => {
            let (label, bytes) = npz_member(name, path, &bytes, column(parameters, name, false))?;
            of_array(&label, bytes)
        }
        DataFormat::Vtk => {
            let (truths, is_sorted) = field::truths(path, &bytes, name, column(parameters, name, false), domain)?;
            Ok((truths, is_sorted.then(|| sorted(path, name, domain))))
        }
        DataFormat::Csv | DataFormat::Text => Ok((truths_in(path, &bytes)?, None)),
    }
}

/// The words of a text without remarks, which reach from `#` or `--` to the end of the line, and
/// without a `/` at the end, as decks close their lists.
pub(super) fn data_words(text: &[u8]) -> impl Iterator<Item = Word<'_>> {
    let mut words = without_remarks(text, 0);
    std::iter::from_fn(move || {
        let word = words.next()?;
        let is_end = word.bytes == b"/" && without_remarks(text, word.offset + 1).next().is_none();
        (!is_end).then_some(word)
    })
}

fn without_remarks(text: &[u8], from: usize) -> impl Iterator<Item = Word<'_>> {
    let mut words = Words::from_offset(text, from);
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            if !word.bytes.starts_with(b"#") && !word.bytes.starts_with(b"--") {
                return Some(word);
            }
            let end = text[word.offset..].iter().position(|&b| b == b'\n').unwrap_or(text.len() - word.offset);
            words = Words::from_offset(text, word.offset + end);
        }
    })
}

/// All numbers in a text; `path` is for messages.
///
/// # Errors
/// `Data` for a word that is not a number; names line and column.
pub fn numbers_in(path: &Path, text: &[u8]) -> Result<Vec<f64>, Error> {
    let text = without_mark(text);
    let mut values = Vec::new();
    for word in data_words(text) {
        match parse_data_number(word.bytes) {
            Ok(value) => values.push(value),
            Err(fault) => {
                let what = match fault {
                    NumberError::NotANumber => "is not a number",
                    NumberError::OutOfRange => "is beyond the range of numbers",
                };
                return Err(at(path, text, word.offset, &format!("{} {what}", quoted(word.bytes))).hint(hint_of_word(word.bytes)));
            }
        }
    }
    Ok(values)
}

/// The hint for a word in a text of numbers.
pub(super) fn hint_of_word(word: &[u8]) -> String {
    let rule = "a data file holds numbers separated by white space, and remarks after `#` or `--`";
    if let Some(point) = decimal_comma(word) {
        return format!("decimals have a point, `{point}`, and numbers are separated by white space");
    }
    if word.iter().any(|b| b",;".contains(b)) {
        return format!("{rule}; numbers between commas are columns, of which one is read");
    }
    if word.first().is_some_and(u8::is_ascii_alphabetic) {
        return format!("{rule}: put `#` before a line of names; columns have commas between them");
    }
    rule.to_owned()
}

/// All truth values in a text, each `true`, `false`, `1` or `0`, separated by white space; `path`
/// is for messages.
///
/// # Errors
/// `Data` for another word; names line and column.
pub fn truths_in(path: &Path, text: &[u8]) -> Result<Vec<bool>, Error> {
    let text = without_mark(text);
    let truth = |word: Word<'_>| {
        parse_truth(word.bytes).ok_or_else(|| {
            at(path, text, word.offset, &format!("{} is not a truth value", quoted(word.bytes)))
                .hint("a file of truth values holds `true` or `1`, and `false` or `0`, separated by white space, nothing else")
        })
    };
    data_words(text).map(truth).collect()
}

/// Entities of a subset in a text, ascending, each in `within`, in the numbering of the grid's
/// file; `path` is for messages.
///
/// # Errors
/// `Data` for the first word that is not one; names line and column.
pub fn read_entities(path: &Path, text: &[u8], within: &Domain) -> Result<Vec<u32>, Error> {
    let text = without_mark(text);
    let mut list = EntityList::new(within);
    for word in data_words(text) {
        let fail = |(what, hint): (String, &str)| at(path, text, word.offset, &what).hint(hint);
        let value = match parse_integer(word.bytes) {
            Ok(value) => value,
            Err(NumberError::NotANumber) => {
                let what = format!("{} is not a {} index", quoted(word.bytes), within.kind().noun());
                return Err(fail((what, "a domain file holds whole numbers separated by white space, nothing else")));
            }
            Err(NumberError::OutOfRange) => i64::MAX,
        };
        list.push(value, &quoted(word.bytes), "file").map_err(fail)?;
    }
    Ok(list.into_elements())
}

/// Entities of a subset, ascending, each in a superset, in the numbering of the grid's file.
pub(super) struct EntityList<'d> {
    within: &'d Domain,
    /// Number of entities of this kind.
    total: usize,
    elements: Vec<u32>,
}

impl<'d> EntityList<'d> {
    pub(super) fn new(within: &'d Domain) -> EntityList<'d> {
        let mut all = within;
        while let Some(base) = all.base() {
            all = base;
        }
        EntityList { within, total: all.len(), elements: Vec::new() }
    }

    pub(super) fn into_elements(self) -> Vec<u32> {
        self.elements
    }

    /// Adds an index, `shown` so in messages, of a `source`: `file`.
    ///
    /// # Errors
    /// The fault and a hint, for one that is out of range, not larger than the one before, or not
    /// in the superset.
    pub(super) fn push(&mut self, value: i64, shown: &str, source: &str) -> Result<(), (String, &'static str)> {
        let EntityList { within, total, .. } = *self;
        let (kind, kinds) = (within.kind().noun(), within.kind().nouns());
        let Some(element) = u32::try_from(value).ok().filter(|&e| (e as usize) < total) else {
            let range = if total == 0 { "none".to_string() } else { format!("0 to {}", total - 1) };
            return Err((
                format!("{kind} index {shown} is out of range: the grid has {total} {kinds} ({range})"),
                "indices count from 0 in the grid's numbering",
            ));
        };
        if let Some(&last) = self.elements.last() {
            if element == last {
                return Err((format!("{kind} {element} occurs twice"), "each element of a domain occurs once"));
            }
            if element < last {
                let hint = match source {
                    "file" => "sort the file in ascending order, and move the lines of data given on this domain alike",
                    _ => "sort the array in ascending order, and move the values given on this domain alike",
                };
                return Err((format!("not sorted: {kind} {element} comes after {last}"), hint));
            }
        }
        if within.rank(within.grid().entity_of_file(within.kind(), element)).is_none() {
            let what = format!("{kind} {element} is not in {}", within.name());
            return Err((what, "indices are in the grid's numbering, not positions in the superset"));
        }
        self.elements.push(element);
        Ok(())
    }
}

pub(super) fn at(path: &Path, text: &[u8], offset: usize, what: &str) -> Error {
    let (line, column) = line_and_column(text, offset);
    Error::new(ErrorKind::Data, format!("{}:{line}:{column}: {what}", path.display()))
}
