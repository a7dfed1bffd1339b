//! NumPy's format `.npz`: named members in a ZIP archive, stored as they are.
//!
//! The layout is that of PKWARE's APPNOTE 6.3.10 with its 64-bit records. The writer uses them
//! always, so that size makes no difference. The reader takes what `numpy.savez` writes, too, but
//! nothing compressed.

use std::io::{Result as IoResult, Write};
use std::path::Path;

use flate2::Crc;

use crate::error::{Error, ErrorKind};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
/// Version of the format that has 64-bit sizes: 4.5.
const VERSION: u16 = 45;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// The first of January 1980: the same members give the same bytes.
const DATE: u16 = (1 << 5) | 1;
/// Stands for a number that the 64-bit record has.
const BEYOND: u32 = u32::MAX;
/// The end record without its comment.
const END_SIZE: usize = 22;

/// Writes members one after another.
pub struct Writer<W: Write> {
    out: W,
    position: u64,
    central: Vec<u8>,
    members: u64,
}

impl<W: Write> Writer<W> {
    /// An archive without members so far.
    pub fn new(out: W) -> Writer<W> {
        Writer { out, position: 0, central: Vec::new(), members: 0 }
    }

    /// Adds a member; no other has its name. `parts` are its bytes in order.
    ///
    /// # Errors
    /// Those of the system.
    pub fn member(&mut self, name: &str, parts: &[&[u8]]) -> IoResult<()> {
        let crc = sum(parts.iter().copied());
        let size: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let name_len = u16::try_from(name.len()).map_err(|_| std::io::Error::other("the name of a member is too long"))?;
        let offset = self.position;
        let mut local = Vec::with_capacity(64 + name.len());
        put32(&mut local, LOCAL);
        common(&mut local, crc, name_len, 20);
        local.extend(name.bytes());
        put16(&mut local, 1);
        put16(&mut local, 16);
        put64(&mut local, size);
        put64(&mut local, size);
        self.write(&local)?;
        for part in parts {
            self.write(part)?;
        }
        put32(&mut self.central, CENTRAL);
        put16(&mut self.central, VERSION);
        common(&mut self.central, crc, name_len, 28);
        // No comment, disk 0, no attributes.
        self.central.extend([0; 10]);
        put32(&mut self.central, BEYOND);
        self.central.extend(name.bytes());
        put16(&mut self.central, 1);
        put16(&mut self.central, 24);
        put64(&mut self.central, size);
        put64(&mut self.central, size);
        put64(&mut self.central, offset);
        self.members += 1;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> IoResult<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes the list of members. Without it there is no archive.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish(mut self) -> IoResult<W> {
        let (start, central) = (self.position, std::mem::take(&mut self.central));
        self.write(&central)?;
        let end = self.position;
        let mut last = Vec::with_capacity(98);
        put32(&mut last, END_64);
        put64(&mut last, 44);
        put16(&mut last, VERSION);
        put16(&mut last, VERSION);
        put64(&mut last, 0);
        put64(&mut last, self.members);
        put64(&mut last, self.members);
        put64(&mut last, end - start);
        put64(&mut last, start);
        put32(&mut last, LOCATOR_64);
        put32(&mut last, 0);
        put64(&mut last, end);
        put32(&mut last, 1);
        put32(&mut last, END);
        put32(&mut last, 0);
        put16(&mut last, u16::MAX);
        put16(&mut last, u16::MAX);
        put32(&mut last, BEYOND);
        put32(&mut last, BEYOND);
        put16(&mut last, 0);
        self.write(&last)?;
        Ok(self.out)
    }
}

/// Writes the fields that the records of a member share, from the version that is needed to the
/// length of the extra field.
fn common(out: &mut Vec<u8>, crc: u32, name_len: u16, extra: u16) {
    for number in [VERSION, FLAGS, 0, 0, DATE] {
        put16(out, number);
    }
    for number in [crc, BEYOND, BEYOND] {
        put32(out, number);
    }
    put16(out, name_len);
    put16(out, extra);
}

fn put16(out: &mut Vec<u8>, number: u16) {
    out.extend(number.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

/// The members of an archive, checked against their sums.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive<'a> {
    members: Vec<(&'a str, &'a [u8])>,
}

impl<'a> Archive<'a> {
    /// The bytes of a member.
    pub fn member(&self, name: &str) -> Option<&'a [u8]> {
        self.members.iter().find(|(own, _)| *own == name).map(|(_, bytes)| *bytes)
    }

    /// Names of all members, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.members.iter().map(|(name, _)| *name)
    }
}

/// True if the bytes begin like an archive with members.
pub fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(&LOCAL.to_le_bytes())
}

/// The members of a file; `path` is for messages.
///
/// # Errors
/// `Data` if it is no archive, incomplete or damaged, or has compressed members.
pub fn read<'a>(path: &Path, bytes: &'a [u8]) -> Result<Archive<'a>, Error> {
    members(bytes).map(|members| Archive { members }).map_err(|fault| {
        let (what, hint) = match fault {
            Fault::NoArchive => ("not in NumPy's format `.npz`, or incomplete: its list of members is missing".to_owned(), ""),
            Fault::Damaged => ("a damaged file: its list of members does not fit its bytes".to_owned(), ""),
            Fault::Sum(name) => (format!("a damaged file: member `{name}` does not have the sum of its bytes"), ""),
            Fault::Twice(name) => (format!("member `{name}` occurs twice"), ""),
            Fault::Compressed(name) => {
                (format!("member `{name}` is compressed"), "write the file with `numpy.savez`, which does not compress")
            }
        };
        let error = Error::new(ErrorKind::Data, format!("{}: {what}", path.display()));
        if hint.is_empty() { error } else { error.hint(hint) }
    })
}

enum Fault<'a> {
    NoArchive,
    Damaged,
    Sum(&'a str),
    Twice(&'a str),
    Compressed(&'a str),
}

/// The numbers at the beginning of a slice.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn at(bytes: &'a [u8], offset: u64) -> Result<Fields<'a>, Fault<'a>> {
        let offset = usize::try_from(offset).map_err(|_| Fault::Damaged)?;
        bytes.get(offset..).map(Fields).ok_or(Fault::Damaged)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Fault<'a>> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Fault::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<u64, Fault<'a>> {
        let mut padded = [0; 8];
        padded[..N].copy_from_slice(self.bytes(N)?);
        Ok(u64::from_le_bytes(padded))
    }

    fn u16(&mut self) -> Result<u64, Fault<'a>> {
        self.number::<2>()
    }

    fn u32(&mut self) -> Result<u64, Fault<'a>> {
        self.number::<4>()
    }

    fn u64(&mut self) -> Result<u64, Fault<'a>> {
        self.number::<8>()
    }

    fn signature(&mut self, wanted: u32) -> Result<(), Fault<'a>> {
        if self.u32()? == u64::from(wanted) { Ok(()) } else { Err(Fault::Damaged) }
    }
}

fn members(bytes: &[u8]) -> Result<Vec<(&str, &[u8])>, Fault<'_>> {
    let (count, size, start) = list_of_members(bytes)?;
    let list = Fields::at(bytes, start)?.bytes(usize::try_from(size).map_err(|_| Fault::Damaged)?)?;
    let mut list = Fields(list);
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    for _ in 0..count {
        let (name, contents) = member(bytes, &mut list)?;
        if members.iter().any(|(other, _)| *other == name) {
            return Err(Fault::Twice(name));
        }
        members.push((name, contents));
    }
    Ok(members)
}

/// Number of members, and size and offset of their list.
fn list_of_members(bytes: &[u8]) -> Result<(u64, u64, u64), Fault<'_>> {
    let last = bytes.len().checked_sub(END_SIZE).ok_or(Fault::NoArchive)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let mark = END.to_le_bytes();
    let end = (first..=last).rev().find(|&at| bytes[at..].starts_with(&mark)).ok_or(Fault::NoArchive)?;
    let mut fields = Fields::at(bytes, end as u64 + 10)?;
    let (count, size, start) = (fields.u16()?, fields.u32()?, fields.u32()?);
    let beyond = u64::from(BEYOND);
    if count != u64::from(u16::MAX) && size != beyond && start != beyond {
        return Ok((count, size, start));
    }
    let mut locator = Fields::at(bytes, (end as u64).checked_sub(20).ok_or(Fault::Damaged)?)?;
    locator.signature(LOCATOR_64)?;
    locator.u32()?;
    let mut record = Fields::at(bytes, locator.u64()?)?;
    record.signature(END_64)?;
    record.bytes(28)?;
    Ok((record.u64()?, record.u64()?, record.u64()?))
}

/// Name and bytes of the next member of the list.
fn member<'a>(bytes: &'a [u8], list: &mut Fields<'a>) -> Result<(&'a str, &'a [u8]), Fault<'a>> {
    list.signature(CENTRAL)?;
    list.bytes(4)?;
    let (flags, method) = (list.u16()?, list.u16()?);
    list.bytes(4)?;
    let crc = list.u32()?;
    let [mut packed, mut size] = [list.u32()?, list.u32()?];
    let [name_len, extra_len, comment_len] = [list.u16()?, list.u16()?, list.u16()?];
    list.bytes(8)?;
    let mut offset = list.u32()?;
    let name = std::str::from_utf8(list.bytes(name_len as usize)?).map_err(|_| Fault::Damaged)?;
    let mut extra = Fields(list.bytes(extra_len as usize)?);
    list.bytes(comment_len as usize)?;
    while !extra.0.is_empty() {
        let (id, len) = (extra.u16()?, extra.u16()?);
        let mut field = Fields(extra.bytes(len as usize)?);
        if id == 1 {
            for number in [&mut size, &mut packed, &mut offset] {
                if *number == u64::from(BEYOND) {
                    *number = field.u64()?;
                }
            }
        }
    }
    // Bit 0: encrypted.
    if method != 0 || packed != size || flags & 1 != 0 {
        return Err(Fault::Compressed(name));
    }
    let mut local = Fields::at(bytes, offset)?;
    local.signature(LOCAL)?;
    local.bytes(22)?;
    let (name_len, extra_len) = (local.u16()?, local.u16()?);
    local.bytes((name_len + extra_len) as usize)?;
    let contents = local.bytes(usize::try_from(size).map_err(|_| Fault::Damaged)?)?;
    if u64::from(sum([contents])) != crc {
        return Err(Fault::Sum(name));
    }
    Ok((name, contents))
}

/// The sum of the members of ZIP: CRC-32.
fn sum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut crc = Crc::new();
    parts.into_iter().for_each(|part| crc.update(part));
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for (name, bytes) in members {
            let (a, b) = bytes.split_at(bytes.len() / 2);
            writer.member(name, &[a, b]).unwrap();
        }
        writer.finish().unwrap()
    }

    fn message(bytes: &[u8]) -> String {
        read(Path::new("u.npz"), bytes).expect_err("refused").message
    }

    #[test]
    fn sums_are_those_of_zip() {
        // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(sum([&b"123456789"[..]]), 0xcbf4_3926);
        assert_eq!(sum([&b"1234"[..], b"56789"]), 0xcbf4_3926);
    }

    #[test]
    fn what_is_written_reads_back() {
        let members: [(&str, &[u8]); 3] = [("a.npy", b"12345678901"), ("checkpoint.json", b"{}"), ("é", b"")];
        let bytes = archive(&members);
        let read_back = read(Path::new("u.npz"), &bytes).unwrap();
        assert!(is_npz(&bytes) && read_back.names().eq(["a.npy", "checkpoint.json", "é"]));
        for (name, contents) in members {
            assert_eq!(read_back.member(name), Some(contents));
        }
        assert_eq!(read_back.member("b"), None);
        assert!(read(Path::new("u.npz"), &archive(&[])).unwrap().names().next().is_none());
    }

    #[test]
    fn sizes_of_32_bits_are_read() {
        // As `zipfile` of Python writes a small member `a` of two bytes.
        let crc = sum([&b"hi"[..]]).to_le_bytes();
        let mut bytes = [b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0".as_slice(), &crc, b"\x02\0\0\0\x02\0\0\0\x01\0\0\0ahi"].concat();
        let start = bytes.len() as u8;
        bytes.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\x21\0");
        bytes.extend(crc);
        bytes.extend(b"\x02\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a");
        let size = bytes.len() as u8 - start;
        bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        bytes.extend([size, 0, 0, 0, start, 0, 0, 0, 0, 0]);
        assert_eq!(read(Path::new("u.npz"), &bytes).unwrap().member("a"), Some(b"hi".as_slice()));
        bytes[8] = 8;
        let method = usize::from(start) + 10;
        bytes[method] = 8;
        assert_eq!(message(&bytes), "u.npz: member `a` is compressed");
    }

    #[test]
    fn what_is_refused() {
        let whole = archive(&[("a.npy", b"12345678901"), ("b", b"second")]);
        for end in 0..whole.len() {
            assert!(message(&whole[..end]).starts_with("u.npz: not in NumPy's format `.npz`, or incomplete"), "{end}");
        }
        // Each changed byte is refused or changes nothing that is read.
        let first = read(Path::new("u.npz"), &whole).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            if let Ok(archive) = read(Path::new("u.npz"), &bytes) {
                assert!(archive == first || archive.names().ne(first.names()), "{at}");
            }
        }
        let mut bytes = whole.clone();
        let at = whole.windows(6).position(|window| window == b"second").unwrap();
        bytes[at] = b'S';
        assert_eq!(message(&bytes), "u.npz: a damaged file: member `b` does not have the sum of its bytes");
        assert_eq!(message(&archive(&[("a", b"1"), ("a", b"2")])), "u.npz: member `a` occurs twice");
        assert_eq!(message(b"1 2 3"), "u.npz: not in NumPy's format `.npz`, or incomplete: its list of members is missing");
    }
}
