//! Numbers of an array: where they are and how they are encoded.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};

use super::tags::{Tag, find};
use crate::number::{Words, line_and_column, quoted};
use crate::vtk::names::ZLIB;
use crate::vtk::number_type::NumberType;

/// Largest ratio of plain to compressed bytes that zlib reaches.
const MAX_DEFLATE_RATIO: usize = 1032;

/// Encoding of the arrays of a file.
#[derive(Clone, Debug)]
pub(super) struct Encoding {
    is_big_endian: bool,
    /// Bytes of the numbers that say how long an array is.
    header: usize,
    is_zlib: bool,
    /// Offset of the appended data, and whether they are in base 64.
    appended: Option<(usize, bool)>,
}

/// Byte offsets of the numbers of an array.
#[derive(Clone, Debug)]
pub(super) enum DataLocation {
    Text(usize),
    Base64(usize),
    Appended(usize),
}

impl DataLocation {
    pub fn of(tag: &Tag) -> Result<DataLocation, String> {
        match tag.get("format").unwrap_or("ascii") {
            "ascii" => Ok(DataLocation::Text(tag.end)),
            "binary" => Ok(DataLocation::Base64(tag.end)),
            "appended" => {
                let offset = tag.get("offset").unwrap_or_default().trim();
                offset.parse().map(DataLocation::Appended).map_err(|_| format!("offset `{offset}`"))
            }
            other => Err(format!("format `{other}`; formats that are read are ascii, binary and appended")),
        }
    }
}

/// A number from its bytes, the lowest first; an error for a whole number that no double is.
fn value(number: NumberType, bytes: [u8; 8]) -> Result<f64, String> {
    let whole = u64::from_le_bytes(bytes);
    let value = match number {
        NumberType::Float32 => return Ok(f64::from(f32::from_bits(whole as u32))),
        NumberType::Float64 => return Ok(f64::from_bits(whole)),
        NumberType::UInt8 | NumberType::UInt16 | NumberType::UInt32 | NumberType::UInt64 => i128::from(whole),
        NumberType::Int8 | NumberType::Int16 | NumberType::Int32 | NumberType::Int64 => {
            let unused = 64 - 8 * number.size() as u32;
            i128::from((whole << unused) as i64 >> unused)
        }
    };
    if number.size() == 8 && value.unsigned_abs() > 1 << 53 {
        return Err(format!("{value} is a whole number beyond 2^53"));
    }
    Ok(value as f64)
}

/// True if numbers of a type are read.
pub(super) fn is_read(number: &str) -> bool {
    NumberType::named(number).is_some()
}

impl Encoding {
    pub fn of(file: &Tag) -> Result<Encoding, String> {
        let is_big_endian = match file.get("byte_order").unwrap_or("LittleEndian") {
            "LittleEndian" => false,
            "BigEndian" => true,
            other => return Err(format!("byte order `{other}`; it is LittleEndian or BigEndian")),
        };
        let header = match file.get("header_type").unwrap_or("UInt32") {
            "UInt32" => 4,
            "UInt64" => 8,
            other => return Err(format!("header type `{other}`; it is UInt32 or UInt64")),
        };
        let is_zlib = match file.get("compressor") {
            None | Some("") => false,
            Some(ZLIB) => true,
            Some(other) => return Err(format!("compression `{other}`; the one that is read is {ZLIB}")),
        };
        Ok(Encoding { is_big_endian, header, is_zlib, appended: None })
    }

    /// With appended data behind a tag.
    pub fn append(&mut self, tag: &Tag, bytes: &[u8]) -> Result<(), String> {
        let is_base64 = match tag.get("encoding").unwrap_or("base64") {
            "base64" => true,
            "raw" => false,
            other => return Err(format!("appended data in `{other}`; encodings that are read are raw and base64")),
        };
        let start = find(bytes, tag.end, b"_").ok_or("the appended data do not begin with `_`")?;
        self.appended = Some((start + 1, is_base64));
        Ok(())
    }

    /// The `expected` numbers of an array.
    pub fn numbers(&self, file: &[u8], number: &str, place: &DataLocation, expected: usize) -> Result<Vec<f64>, String> {
        let kind = NumberType::named(number)
            .ok_or_else(|| format!("numbers of type `{number}`; types that are read are Int8 to UInt64, Float32 and Float64"))?;
        let ended = || "the file ends before its data".to_owned();
        let encoded = match *place {
            DataLocation::Text(start) => return text(file, start, expected),
            DataLocation::Base64(start) => Cow::Owned(base64(file.get(start..).ok_or_else(ended)?)?),
            DataLocation::Appended(offset) => {
                let (start, is_base64) = self.appended.ok_or("the file has no appended data, or ends before them")?;
                let data = start.checked_add(offset).and_then(|start| file.get(start..)).ok_or_else(ended)?;
                if is_base64 { Cow::Owned(base64(data)?) } else { Cow::Borrowed(data) }
            }
        };
        let size = expected.checked_mul(kind.size()).ok_or("more numbers than memory can hold")?;
        let bytes = if self.is_zlib { Cow::Owned(self.inflate(&encoded, size)?) } else { Cow::Borrowed(self.plain(&encoded, size)?) };
        bytes
            .chunks_exact(kind.size())
            .map(|chunk| {
                let mut number = [0; 8];
                number[..chunk.len()].copy_from_slice(chunk);
                if self.is_big_endian {
                    number[..chunk.len()].reverse();
                }
                value(kind, number)
            })
            .collect()
    }

    /// A number of the header.
    fn header(&self, bytes: &[u8], index: usize) -> Result<usize, String> {
        let at = index.checked_mul(self.header);
        let bytes = at.and_then(|at| bytes.get(at..at.checked_add(self.header)?)).ok_or("the file ends before its data")?;
        let mut number = [0; 8];
        number[..bytes.len()].copy_from_slice(bytes);
        if self.is_big_endian {
            number[..bytes.len()].reverse();
        }
        usize::try_from(u64::from_le_bytes(number)).map_err(|_| "more bytes than memory can hold".to_owned())
    }

    fn plain<'b>(&self, encoded: &'b [u8], size: usize) -> Result<&'b [u8], String> {
        let found = self.header(encoded, 0)?;
        if found != size {
            return Err(format!("{found} bytes, where its type and the number of entities need {size}"));
        }
        encoded.get(self.header..).and_then(|data| data.get(..size)).ok_or_else(|| format!("the file ends before its {size} bytes"))
    }

    fn inflate(&self, encoded: &[u8], size: usize) -> Result<Vec<u8>, String> {
        let [n_blocks, block, last] = [self.header(encoded, 0)?, self.header(encoded, 1)?, self.header(encoded, 2)?];
        let total = match (n_blocks, last) {
            (0, _) => Some(0),
            (_, 0) => n_blocks.checked_mul(block),
            (_, last) => (n_blocks - 1).checked_mul(block).and_then(|before| before.checked_add(last)),
        };
        if total != Some(size) {
            return Err(format!("blocks of other lengths than the {size} bytes that its type and the number of entities need"));
        }
        if n_blocks > encoded.len() / self.header || size / MAX_DEFLATE_RATIO > encoded.len() {
            return Err("the file ends before its data".to_owned());
        }
        let mut data = (3 + n_blocks) * self.header;
        let (mut zlib, mut bytes) = (Decompress::new(true), Vec::with_capacity(size));
        for index in 0..n_blocks {
            let length = self.header(encoded, 3 + index)?;
            let input = data.checked_add(length).and_then(|end| encoded.get(data..end)).ok_or("the file ends before its data")?;
            let expected = if index + 1 == n_blocks && last > 0 { last } else { block };
            let before = bytes.len();
            zlib.reset(true);
            let status = zlib.decompress_vec(input, &mut bytes, FlushDecompress::Finish);
            if !matches!(status, Ok(Status::StreamEnd)) || bytes.len() - before != expected {
                return Err(format!("block {index} of its compressed data is damaged"));
            }
            data += length;
        }
        Ok(bytes)
    }
}

/// Numbers in text, up to the next tag.
fn text(file: &[u8], start: usize, expected: usize) -> Result<Vec<f64>, String> {
    let end = find(file, start, b"<").ok_or("the file ends before its data")?;
    let mut numbers = Vec::new();
    for word in Words::from_offset(&file[..end], start) {
        let number = std::str::from_utf8(word.bytes).ok().and_then(|word| word.parse().ok());
        numbers.push(number.ok_or_else(|| {
            let (line, column) = line_and_column(file, word.offset);
            format!("line {line}, column {column}: {} is not a number", quoted(word.bytes))
        })?);
    }
    if numbers.len() != expected {
        return Err(format!("{} numbers, where the number of entities needs {expected}", numbers.len()));
    }
    Ok(numbers)
}

/// Bytes in base 64, up to the next tag. Parts that are padded follow each other.
fn base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let end = text.iter().position(|&byte| byte == b'<').ok_or("the file ends before its data")?;
    let mut bytes = Vec::with_capacity(end / 4 * 3);
    let (mut group, mut digits, mut padding) = (0_u32, 0, 0);
    for &byte in text[..end].iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                0
            }
            _ => return Err(format!("{} is not in base 64", quoted(&[byte]))),
        };
        group = group << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            bytes.extend_from_slice(&group.to_be_bytes()[1..4 - padding.min(2)]);
            (group, digits, padding) = (0, 0, 0);
        }
    }
    if digits != 0 {
        return Err("its data in base 64 are cut off".to_owned());
    }
    Ok(bytes)
}
