//! NumPy's format `.npy` (versions 1 to 3): one array of numbers or truth values.
//!
//! The layout is that of NumPy's documentation (`numpy.lib.format`).

mod element;

use std::io::Read;
use std::path::Path;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till};
use nom::character::complete::{char, digit1, multispace0};
use nom::combinator::{opt, value};
use nom::multi::separated_list0;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use crate::data_array::{index_text, shape_text};
use crate::error::{Error, ErrorKind};
use element::Value;

pub use element::ElementType;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The beginning of a file that is written: version 1.0, rows one after another; the numbers begin
/// at the next multiple of 64 bytes. One number has no dimension, a list one, rows two.
pub(crate) fn header(element: ElementType, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({sizes}), }}", element.descr());
    let before = MAGIC.len() + 4;
    while !(before + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = [MAGIC, b"\x01\x00"].concat();
    // Short: a type and two numbers.
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

/// Most axes of an array.
const MAX_AXES: usize = 4;

/// How an array lies in its file.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    /// Lengths of its axes.
    shape: Vec<usize>,
    /// Type of the elements.
    element: ElementType,
    /// As the file names it.
    descr: String,
    big_endian: bool,
    /// The first axis is the fastest one in the file, not the last one.
    fortran_order: bool,
    /// Offset of the first element.
    start: usize,
}

/// An array of one to four axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    layout: Layout,
    data: &'a [u8],
    path: &'a Path,
}

/// Fields of the header.
#[derive(Clone, Debug, Default, PartialEq)]
struct Header<'a> {
    descr: Option<&'a str>,
    fortran_order: Option<bool>,
    shape: Option<Vec<&'a str>>,
}

/// True if the bytes begin like a file of this format.
pub fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The array of a file; `path` is for messages.
///
/// # Errors
/// `Data` for another format, a shape of no or more than four axes, another type of elements, and
/// data that is too short or too long.
pub fn read<'a>(path: &'a Path, bytes: &'a [u8]) -> Result<Array<'a>, Error> {
    let layout = layout(path, bytes)?;
    layout.check_size(path, bytes.len())?;
    let data = &bytes[layout.start..];
    Ok(Array { layout, data, path })
}

/// An array of doubles.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubles {
    /// Lengths of its axes.
    pub shape: Vec<usize>,
    /// Its numbers, the last axis fastest.
    pub numbers: Vec<f64>,
}

/// Shape and numbers of a file of `size` bytes that has doubles as they lie in memory, the last
/// axis fastest: they go into place in pieces. `None` for every other file, also for a bad one.
///
/// # Errors
/// `Data` as for [`read`], and for a number that is not finite; `Io`.
pub fn doubles(path: &Path, mut file: impl Read, size: usize) -> Result<Option<Doubles>, Error> {
    let cannot_read = |error: &std::io::Error| Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", path.display()));
    let mut beginning = Vec::new();
    let mut take = |beginning: &mut Vec<u8>, up_to: usize| {
        let missing = up_to.saturating_sub(beginning.len()) as u64;
        file.by_ref().take(missing).read_to_end(beginning).map_err(|error| cannot_read(&error))
    };
    take(&mut beginning, LENGTH_END)?;
    let Some(start) = data_start(&beginning).filter(|&start| is_npy(&beginning) && start <= size) else { return Ok(None) };
    take(&mut beginning, start)?;
    let Ok(layout) = layout(path, &beginning) else { return Ok(None) };
    if layout.element != ElementType::F64 || layout.big_endian || layout.fortran_order {
        return Ok(None);
    }
    layout.check_size(path, size)?;
    let n: usize = layout.shape.iter().product();
    let mut numbers = Vec::new();
    let too_large = |_| Error::new(ErrorKind::Io, format!("cannot read `{}`: no memory for its {n} numbers", path.display()));
    numbers.try_reserve_exact(n).map_err(too_large)?;
    let mut piece = vec![0; PIECE];
    while numbers.len() < n {
        let piece = &mut piece[..PIECE.min(8 * (n - numbers.len()))];
        file.read_exact(piece).map_err(|error| cannot_read(&error))?;
        numbers.extend(piece.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)));
    }
    check_finite(path, &layout.shape, &numbers)?;
    Ok(Some(Doubles { shape: layout.shape, numbers }))
}

/// Bytes that are read at once; a multiple of 8.
const PIECE: usize = 1 << 18;

/// The longest beginning that tells the length of the header.
const LENGTH_END: usize = 12;

/// Offset of the first element, by the length of the header.
fn data_start(bytes: &[u8]) -> Option<usize> {
    let (start, length) = match bytes.get(6)? {
        1 => (10, usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?))),
        _ => (12, u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize),
    };
    length.checked_add(start)
}

/// The layout of an array, by the beginning of its file.
fn layout(path: &Path, bytes: &[u8]) -> Result<Layout, Error> {
    let bad = |what: &str| bad(path, what);
    if !is_npy(bytes) {
        return Err(bad("not in NumPy's format: it does not begin with `\\x93NUMPY`").hint("write it with `numpy.save`"));
    }
    let ended = || bad(&format!("the header ends after {} bytes", bytes.len()));
    let text_start = match bytes.get(6).copied() {
        Some(1) => 10,
        Some(2 | 3) => 12,
        Some(version) => return Err(bad(&format!("version {version} of NumPy's format; versions 1, 2 and 3 are read"))),
        None => return Err(ended()),
    };
    let start = data_start(bytes).filter(|&end| end <= bytes.len()).ok_or_else(ended)?;
    let header = std::str::from_utf8(&bytes[text_start..start]).ok().and_then(|text| dictionary(text).ok()).map(|(_, header)| header);
    let Some(Header { descr: Some(descr), fortran_order: Some(fortran_order), shape: Some(shape) }) = header else {
        return Err(bad("the header is not that of an array of numbers"))
            .map_err(|e| e.hint("write the array with `numpy.save`, without named fields"));
    };
    let (order, name) = descr.split_at_checked(1).unwrap_or_default();
    let Some(element) = ElementType::named(name).filter(|element| matches!(order, "<" | ">") || (order == "|" && element.size() == 1))
    else {
        return Err(bad(&format!("elements of type `{descr}`; types that are read are f2, f4, f8, i1 to i8, u1 to u8 and b1"))
            .hint("convert the array: `numpy.save(file, array.astype('f8'))`"));
    };
    let sizes: Option<Vec<usize>> = shape.iter().map(|size| size.parse().ok()).collect();
    let Some(sizes) = sizes.filter(|sizes| (1..=MAX_AXES).contains(&sizes.len())) else {
        return Err(bad(&format!("shape ({}); arrays of one to {MAX_AXES} axes are read", shape.join(", "))));
    };
    let fortran_order = fortran_order && sizes.len() > 1;
    Ok(Layout { shape: sizes, element, descr: descr.to_owned(), big_endian: order == ">", fortran_order, start })
}

impl Layout {
    /// Checks the size of a file in bytes.
    fn check_size(&self, path: &Path, size: usize) -> Result<(), Error> {
        let expected = self.shape.iter().try_fold(self.element.size(), |product, &size| product.checked_mul(size));
        let found = size.saturating_sub(self.start);
        if expected == Some(found) {
            return Ok(());
        }
        let expected = expected.map_or("more than a file can hold".to_owned(), |n| format!("{n} bytes"));
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let what = format!("shape ({}) and type `{}` need {expected}, and there are {found}", shape.join(", "), self.descr);
        Err(bad(path, &what))
    }
}

fn check_finite(path: &Path, shape: &[usize], numbers: &[f64]) -> Result<(), Error> {
    match numbers.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(bad_element(path, shape, index, &numbers[index].to_string(), "is not a finite number")),
    }
}

fn bad_element(path: &Path, shape: &[usize], index: usize, value: &str, what: &str) -> Error {
    bad(path, &format!("element [{}]: {value} {what}", index_text(shape, index)))
}

impl Array<'_> {
    /// Lengths of its axes.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Type of its elements.
    pub fn element(&self) -> ElementType {
        self.layout.element
    }

    /// Its shape as Python writes it.
    pub fn shape_text(&self) -> String {
        shape_text(&self.layout.shape)
    }

    /// Its numbers, the last axis fastest.
    ///
    /// # Errors
    /// `Data` for truth values, a number that is not finite, and a whole number that no double
    /// equals; names its index.
    pub fn numbers(&self) -> Result<Vec<f64>, Error> {
        if self.layout.element == ElementType::Bool {
            return Err(bad(self.path, "truth values (type `b1`), where numbers are needed"));
        }
        let numbers = self.values()?;
        check_finite(self.path, &self.layout.shape, &numbers)?;
        Ok(numbers)
    }

    /// Its numbers, the last axis fastest: perhaps NaN or infinite; truth values are 1 and 0.
    ///
    /// # Errors
    /// `Data` for a whole number that no double equals, and a byte that is no truth value; names
    /// its index.
    pub fn values(&self) -> Result<Vec<f64>, Error> {
        if self.layout.element == ElementType::Bool {
            return Ok(self.truths()?.into_iter().map(f64::from).collect());
        }
        let number = |(index, element): (usize, &[u8])| {
            let mut bytes = [0; 8];
            let own = &mut bytes[..element.len()];
            own.copy_from_slice(element);
            if self.layout.big_endian {
                own.reverse();
            }
            match self.layout.element.value(bytes) {
                Value::Number(number) => Ok(number),
                // Beyond 2^53 not every whole number is a double.
                Value::Whole(whole) if whole.unsigned_abs() <= 1 << 53 => Ok(whole as f64),
                Value::Whole(whole) => Err(self.bad_element(index, &whole.to_string(), "is a whole number beyond 2^53")),
            }
        };
        self.elements().map(number).collect()
    }

    /// Its truth values, the last axis fastest.
    ///
    /// # Errors
    /// `Data` for numbers, and for a byte that is neither 0 nor 1.
    pub fn truths(&self) -> Result<Vec<bool>, Error> {
        if self.layout.element != ElementType::Bool {
            return Err(bad(self.path, "numbers, where truth values (type `b1`) are needed"));
        }
        let truth = |(index, byte): (usize, &[u8])| match byte {
            [0] => Ok(false),
            [1] => Ok(true),
            other => Err(self.bad_element(index, &other.first().copied().unwrap_or(0).to_string(), "is not a truth value")),
        };
        self.elements().map(truth).collect()
    }

    /// Bytes of its elements, the last axis fastest, each with its number in that order.
    fn elements(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let size = self.layout.element.size();
        let place = move |index: usize| {
            if !self.layout.fortran_order {
                return index;
            }
            // The axis that is the last one here is the slowest one there.
            let (mut rest, mut place, mut step) = (index, 0, self.data.len() / size);
            for &length in self.layout.shape.iter().rev() {
                step /= length;
                place += rest % length * step;
                rest /= length;
            }
            place
        };
        (0..self.data.len() / size).map(move |index| (index, &self.data[place(index) * size..][..size]))
    }

    fn bad_element(&self, index: usize, value: &str, what: &str) -> Error {
        bad_element(self.path, &self.layout.shape, index, value, what)
    }
}

fn bad(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("{}: {what}", path.display()))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }`
fn dictionary(text: &str) -> IResult<&str, Header<'_>> {
    let (mut rest, _) = preceded(multispace0, char('{')).parse(text)?;
    let mut header = Header::default();
    loop {
        if let Ok((after, _)) = preceded(multispace0::<&str, nom::error::Error<&str>>, char('}')).parse(rest) {
            return Ok((after, header));
        }
        let (after, key) = terminated(preceded(multispace0, quoted), (multispace0, char(':'), multispace0)).parse(rest)?;
        let after = match key {
            "descr" => quoted(after).map(|(after, descr)| {
                header.descr = Some(descr);
                after
            })?,
            "fortran_order" => alt((value(true, tag("True")), value(false, tag("False")))).parse(after).map(|(after, order)| {
                header.fortran_order = Some(order);
                after
            })?,
            "shape" => tuple(after).map(|(after, shape)| {
                header.shape = Some(shape);
                after
            })?,
            _ => return Err(nom::Err::Error(nom::error::Error::new(after, nom::error::ErrorKind::Tag))),
        };
        (rest, _) = preceded(multispace0, opt(char(','))).parse(after)?;
    }
}

fn quoted(text: &str) -> IResult<&str, &str> {
    alt((delimited(char('\''), take_till(|c| c == '\''), char('\'')), delimited(char('"'), take_till(|c| c == '"'), char('"')))).parse(text)
}

fn tuple(text: &str) -> IResult<&str, Vec<&str>> {
    let comma = || (multispace0, char(','), multispace0);
    let sizes = separated_list0(comma(), digit1);
    delimited((char('('), multispace0), sizes, (multispace0, opt(char(',')), multispace0, char(')'))).parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    fn header(descr: &str, fortran_order: bool, shape: &str) -> String {
        let order = if fortran_order { "True" } else { "False" };
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}      \n")
    }

    fn numbers(descr: &str, shape: &str, data: &[u8]) -> Result<Vec<f64>, String> {
        let bytes = file(&header(descr, false, shape), data);
        let path = Path::new("u.npy");
        read(path, &bytes).and_then(|array| array.numbers()).map_err(|e| e.message)
    }

    #[test]
    fn types_and_orders() {
        assert_eq!(numbers("<f8", "(2,)", &[1.5f64.to_le_bytes(), (-2.0f64).to_le_bytes()].concat()), Ok(vec![1.5, -2.0]));
        assert_eq!(numbers(">f8", "(1,)", &0.1f64.to_be_bytes()), Ok(vec![0.1]));
        assert_eq!(numbers("<f4", "(1,)", &0.5f32.to_le_bytes()), Ok(vec![0.5]));
        assert_eq!(numbers(">f4", "(1,)", &0.5f32.to_be_bytes()), Ok(vec![0.5]));
        assert_eq!(numbers("<i4", "(1,)", &(-7i32).to_le_bytes()), Ok(vec![-7.0]));
        assert_eq!(numbers(">i8", "(1,)", &(1i64 << 53).to_be_bytes()), Ok(vec![9_007_199_254_740_992.0]));
        assert_eq!(numbers("<f8", "(0,)", &[]), Ok(vec![]));
        let two = [1.0f64.to_le_bytes(), 2.0f64.to_le_bytes()].concat();
        let bytes = file(&header("<f8", false, "(1, 2)"), &two);
        let array = read(Path::new("v.npy"), &bytes).expect("two dimensions");
        assert_eq!((array.shape(), array.numbers()), (&[1, 2][..], Ok(vec![1.0, 2.0])));
        let bytes = file(&header("|b1", false, "(3,)"), &[0, 1, 1]);
        assert_eq!(read(Path::new("b.npy"), &bytes).and_then(|a| a.truths()), Ok(vec![false, true, true]));
        // Version 2 has a longer length; one dimension has one order.
        let text = header("<i4", true, "(1,)");
        let mut bytes = MAGIC.to_vec();
        bytes.extend([2, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(3i32.to_le_bytes());
        assert_eq!(read(Path::new("i.npy"), &bytes).and_then(|a| a.numbers()), Ok(vec![3.0]));
    }

    #[test]
    fn whole_numbers_and_halves() {
        assert_eq!(numbers("|i1", "(2,)", &[0xff, 3]), Ok(vec![-1.0, 3.0]));
        assert_eq!(numbers("|u1", "(2,)", &[0xff, 3]), Ok(vec![255.0, 3.0]));
        assert_eq!(numbers("<i2", "(1,)", &(-2i16).to_le_bytes()), Ok(vec![-2.0]));
        assert_eq!(numbers(">u2", "(1,)", &0xfffe_u16.to_be_bytes()), Ok(vec![65534.0]));
        assert_eq!(numbers("<u4", "(1,)", &u32::MAX.to_le_bytes()), Ok(vec![4_294_967_295.0]));
        assert_eq!(numbers("<u8", "(1,)", &7u64.to_le_bytes()), Ok(vec![7.0]));
        assert_eq!(
            numbers("<u8", "(1,)", &[0xff; 8]),
            Err("u.npy: element [0]: 18446744073709551615 is a whole number beyond 2^53".into())
        );
        // 1, -2, 65504 (the largest), 2^-14 (the smallest normal), 2^-24 (the smallest), about 1/3.
        let halves: Vec<u8> = [0x3c00_u16, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3555].iter().flat_map(|half| half.to_le_bytes()).collect();
        let expected = vec![1.0, -2.0, 65504.0, 2f64.powi(-14), 2f64.powi(-24), 0.333_251_953_125];
        assert_eq!(numbers("<f2", "(6,)", &halves), Ok(expected));
        for half in [0x7c00_u16, 0x7e00] {
            assert!(numbers("<f2", "(1,)", &half.to_le_bytes()).unwrap_err().ends_with("is not a finite number"));
        }
    }

    /// An array `a` with `a[k, j, i] = 100 k + 10 j + i` as NumPy saves it and `asfortranarray` of
    /// it.
    #[test]
    fn axes_in_both_orders() {
        let number = |k: usize, j: usize, i: usize| (100 * k + 10 * j + i) as u8;
        let rows: Vec<u8> = (0..2).flat_map(|k| (0..3).flat_map(move |j| (0..4).map(move |i| number(k, j, i)))).collect();
        let columns: Vec<u8> = (0..4).flat_map(|i| (0..3).flat_map(move |j| (0..2).map(move |k| number(k, j, i)))).collect();
        for (fortran_order, data) in [(false, &rows), (true, &columns)] {
            let bytes = file(&header("|u1", fortran_order, "(2, 3, 4)"), data);
            let array = read(Path::new("a.npy"), &bytes).expect("an array");
            assert_eq!((array.shape_text(), array.numbers()), ("(2, 3, 4)".into(), Ok(rows.iter().map(|&x| f64::from(x)).collect())));
        }
        let bytes = file(&header("<f8", true, "(0, 3)"), &[]);
        assert_eq!(read(Path::new("a.npy"), &bytes).and_then(|array| array.numbers()), Ok(vec![]));
    }

    /// In place and by a copy: the same numbers or the same message, also of files that are cut.
    #[test]
    fn doubles_in_place() {
        let many: Vec<u8> = (0..PIECE / 8 + 3).flat_map(|i| (i as f64).to_le_bytes()).collect();
        let shape = format!("({},)", many.len() / 8);
        let nan = [1.0f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat();
        let files = [
            file(&header("<f8", false, &shape), &many),
            file(&header("<f8", false, "(1, 2)"), &nan),
            file(&header("<f8", false, "(0,)"), &[]),
            file(&header("<f8", false, "(3,)"), &[0; 16]),
            file(&header("<f8", false, "(4611686018427387904, 4)"), &[0; 8]),
        ];
        let path = Path::new("u.npy");
        let whole = |bytes: &[u8]| {
            let array = read(path, bytes)?;
            Ok(Doubles { shape: array.shape().to_vec(), numbers: array.numbers()? })
        };
        for bytes in &files {
            let found = doubles(path, &bytes[..], bytes.len()).map(|found| found.expect("doubles"));
            assert_eq!(found, whole(bytes), "{} bytes", bytes.len());
        }
        let others = [
            file(&header(">f8", false, "(1,)"), &[0; 8]),
            file(&header("<f8", true, "(1, 1)"), &[0; 8]),
            file(&header("<f4", false, "(1,)"), &[0; 4]),
            file("{}", &[]),
            b"1 2 3".to_vec(),
        ];
        let cut = (0..files[1].len()).map(|len| files[1][..len].to_vec());
        for bytes in others.into_iter().chain(cut) {
            match doubles(path, &bytes[..], bytes.len()) {
                Ok(found) => assert_eq!(found, None),
                Err(error) => assert_eq!(Err(error), whole(&bytes)),
            }
        }
        // It got shorter after its size was asked.
        let bytes = &files[0][..files[0].len() - 1];
        assert_eq!(doubles(path, bytes, files[0].len()).map_err(|error| error.kind), Err(ErrorKind::Io));
    }

    #[test]
    fn what_is_refused() {
        let message = |bytes: &[u8]| {
            let path = Path::new("u.npy");
            read(path, bytes).and_then(|array| array.numbers()).expect_err("refused").message
        };
        assert_eq!(message(b"1 2 3"), "u.npy: not in NumPy's format: it does not begin with `\\x93NUMPY`");
        assert_eq!(message(MAGIC), "u.npy: the header ends after 6 bytes");
        assert_eq!(message(b"\x93NUMPY\x01\x00\xff\xff{}"), "u.npy: the header ends after 12 bytes");
        assert_eq!(message(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"), "u.npy: the header ends after 14 bytes");
        assert_eq!(message(b"\x93NUMPY\x09\x00\x02\x00{}"), "u.npy: version 9 of NumPy's format; versions 1, 2 and 3 are read");
        for text in ["{}", "{'descr': '<f8'", "[1, 2]", "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }"] {
            assert_eq!(message(&file(text, &[])), "u.npy: the header is not that of an array of numbers", "{text}");
        }
        let refused = |descr: &str, shape: &str, data: &[u8]| numbers(descr, shape, data).expect_err("refused");
        for descr in ["<c16", "<U4", "|O", "<f16", "", "f8", "|f8"] {
            let expected = format!("u.npy: elements of type `{descr}`; types that are read are f2, f4, f8, i1 to i8, u1 to u8 and b1");
            assert_eq!(refused(descr, "(1,)", &[0; 8]), expected);
        }
        assert_eq!(refused("<f8", "()", &[0; 8]), "u.npy: shape (); arrays of one to 4 axes are read");
        assert_eq!(refused("<f8", "(1, 1, 1, 1, 1)", &[0; 8]), "u.npy: shape (1, 1, 1, 1, 1); arrays of one to 4 axes are read");
        assert_eq!(refused("<f8", "(99999999999999999999,)", &[]), "u.npy: shape (99999999999999999999); arrays of one to 4 axes are read");
        assert_eq!(refused("<f8", "(2,)", &[0; 8]), "u.npy: shape (2) and type `<f8` need 16 bytes, and there are 8");
        assert_eq!(
            refused("<f8", "(4611686018427387904, 4)", &[0; 8]),
            "u.npy: shape (4611686018427387904, 4) and type `<f8` need more than a file can hold, and there are 8"
        );
        assert_eq!(refused("<f8", "(1,)", &f64::NAN.to_le_bytes()), "u.npy: element [0]: NaN is not a finite number");
        assert_eq!(refused("<f4", "(1, 1)", &f32::INFINITY.to_le_bytes()), "u.npy: element [0, 0]: inf is not a finite number");
        assert_eq!(
            refused("<i8", "(1,)", &i64::MIN.to_le_bytes()),
            "u.npy: element [0]: -9223372036854775808 is a whole number beyond 2^53"
        );
        assert_eq!(refused("|b1", "(1,)", &[1]), "u.npy: truth values (type `b1`), where numbers are needed");
        let truths = |descr: &str, data: &[u8]| {
            let bytes = file(&header(descr, false, "(1,)"), data);
            read(Path::new("b.npy"), &bytes).and_then(|array| array.truths()).expect_err("refused").message
        };
        assert_eq!(truths("<i4", &[0; 4]), "b.npy: numbers, where truth values (type `b1`) are needed");
        assert_eq!(truths("|b1", &[2]), "b.npy: element [0]: 2 is not a truth value");
    }
}
