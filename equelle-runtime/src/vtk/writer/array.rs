//! Arrays of VTK's files as bytes, compressed or not.

use std::borrow::Cow;
use std::io::{Result, Write};
use std::ops::Range;

use flate2::{Compress, FlushCompress, Status};

use crate::output::{Field, FieldValues, Support};
use crate::threads::{Parts, Threads};
use crate::vtk::number_type::NumberType;

/// Bytes of an array that are compressed at a time.
const BLOCK_BYTES: usize = 1 << 17;

/// Bytes that are converted at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Compression of the arrays of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// The numbers as they are: the fastest.
    #[default]
    None,
    /// By zlib, in blocks that threads compress side by side.
    Zlib,
}

/// An array: tuples of numbers.
pub(super) struct Array<'a> {
    pub name: Cow<'a, str>,
    pub number: NumberType,
    /// Numbers in a tuple; `None` for plain numbers.
    pub components: Option<usize>,
    /// True if it belongs to no entities: the file then states its length.
    pub is_free: bool,
    n_tuples: usize,
    values: Values<'a>,
}

/// Columns by component; components that are missing are 0.
enum Values<'a> {
    F64(Vec<Cow<'a, [f64]>>),
    F32(Vec<Cow<'a, [f32]>>),
    I8(Cow<'a, [i8]>),
    I64(Cow<'a, [i64]>),
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Array<'a> {
    /// A number that belongs to no entity.
    pub fn number(name: &'a str, value: f64) -> Array<'a> {
        let values = Values::F64(vec![Cow::Owned(vec![value])]);
        Array { name: name.into(), number: NumberType::Float64, components: None, is_free: true, n_tuples: 1, values }
    }

    /// A whole number that belongs to no entity.
    pub fn index(name: &'a str, value: i64) -> Array<'a> {
        let values = Values::I64(Cow::Owned(vec![value]));
        Array { name: name.into(), number: NumberType::Int64, components: None, is_free: true, n_tuples: 1, values }
    }

    /// An array from the bytes of its numbers.
    pub fn from_bytes(name: &'static str, number: NumberType, components: Option<usize>, bytes: Vec<u8>) -> Array<'a> {
        let n_tuples = bytes.len() / (number.size() * components.unwrap_or(1));
        Array { name: name.into(), number, components, is_free: false, n_tuples, values: Values::Bytes(Cow::Owned(bytes)) }
    }

    /// A field, on all entities: NaN, or -1 for Bools and entities, where it has no value. Vectors
    /// have three components, as VTK wants them.
    pub fn from_field(field: &'a Field) -> Array<'a> {
        let support = &field.support;
        let (number, values) = match &field.values {
            FieldValues::F64(columns) => (NumberType::Float64, Values::F64(columns.iter().map(|c| on_all(support, c, f64::NAN)).collect())),
            FieldValues::F32(columns) => (NumberType::Float32, Values::F32(columns.iter().map(|c| on_all(support, c, f32::NAN)).collect())),
            FieldValues::Bool(values) => {
                let values: Vec<i8> = values.iter().map(|&value| i8::from(value != 0)).collect();
                (NumberType::Int8, Values::I8(Cow::Owned(on_all(support, &values, -1).into_owned())))
            }
            FieldValues::Entity(values) => (NumberType::Int64, Values::I64(on_all(support, values, -1))),
        };
        let components = (field.values.components() > 1).then_some(3);
        Array { name: field.label(), number, components, is_free: false, n_tuples: support.n_entities, values }
    }

    /// Number of tuples.
    pub fn n_tuples(&self) -> usize {
        self.n_tuples
    }

    fn tuple_size(&self) -> usize {
        self.number.size() * self.components.unwrap_or(1)
    }

    /// Appends the bytes of some tuples, lowest byte first.
    fn bytes_of(&self, tuples: Range<usize>, bytes: &mut Vec<u8>) {
        let components = self.components.unwrap_or(1);
        match &self.values {
            Values::F64(columns) => interleave(columns, components, tuples, f64::to_le_bytes, bytes),
            Values::F32(columns) => interleave(columns, components, tuples, f32::to_le_bytes, bytes),
            Values::I8(values) => bytes.extend(values[tuples].iter().map(|&value| value as u8)),
            Values::I64(values) => values[tuples].iter().for_each(|value| bytes.extend(value.to_le_bytes())),
            Values::Bytes(all) => bytes.extend_from_slice(&all[tuples.start * self.tuple_size()..tuples.end * self.tuple_size()]),
        }
    }

    /// Encodes the array as files store it.
    pub fn encode(self, compression: Compression, threads: &Threads) -> Encoded<'a> {
        match compression {
            Compression::None => Encoded(Content::Plain(self)),
            Compression::Zlib => {
                let bytes = self.compressed(threads);
                Encoded(Content::Compressed { description: Array { values: Values::Bytes(Cow::Borrowed(&[])), ..self }, bytes })
            }
        }
    }

    /// The compressed blocks after their header: number of blocks, size of a block, size of the
    /// last one if it is smaller, and the compressed sizes.
    fn compressed(&self, threads: &Threads) -> Vec<u8> {
        let per_block = (BLOCK_BYTES / self.tuple_size()).max(1);
        let mut blocks: Vec<Vec<u8>> = vec![Vec::new(); self.n_tuples.div_ceil(per_block)];
        let parts = Blocks { per_block, blocks: &mut blocks };
        threads.each_of(self.n_tuples, per_block, parts, |range, part| {
            let (mut zlib, mut bytes) = (Compress::new(flate2::Compression::fast(), true), Vec::new());
            for (block, start) in part.blocks.iter_mut().zip(range.clone().step_by(per_block)) {
                bytes.clear();
                self.bytes_of(start..range.end.min(start + per_block), &mut bytes);
                *block = compress(&mut zlib, &bytes);
            }
        });
        let rest = self.n_tuples % per_block * self.tuple_size();
        let header = [blocks.len(), per_block * self.tuple_size(), rest].into_iter().chain(blocks.iter().map(Vec::len));
        let mut all: Vec<u8> = header.flat_map(|number| (number as u64).to_le_bytes()).collect();
        blocks.iter().for_each(|block| all.extend_from_slice(block));
        all
    }
}

/// A stream of zlib.
fn compress(zlib: &mut Compress, bytes: &[u8]) -> Vec<u8> {
    zlib.reset();
    // An upper bound of zlib's output: five bytes for each stored block, and the frame.
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 1000 + 128);
    let status = zlib.compress_vec(bytes, &mut out, FlushCompress::Finish);
    assert!(matches!(status, Ok(Status::StreamEnd)), "zlib ends where there is memory enough");
    out
}

/// Interleaves the numbers of columns, tuple by tuple.
fn interleave<T: Copy + Default, const N: usize>(
    columns: &[Cow<'_, [T]>],
    components: usize,
    tuples: Range<usize>,
    to_bytes: fn(T) -> [u8; N],
    bytes: &mut Vec<u8>,
) {
    if let ([column], 1) = (columns, components) {
        column[tuples].iter().for_each(|&value| bytes.extend(to_bytes(value)));
        return;
    }
    for tuple in tuples {
        for component in 0..components {
            bytes.extend(to_bytes(columns.get(component).map_or(T::default(), |column| column[tuple])));
        }
    }
}

/// Values on all entities, `absent` where there is none.
fn on_all<'a, T: Copy>(support: &Support, values: &'a [T], absent: T) -> Cow<'a, [T]> {
    assert_eq!(values.len(), support.len(), "a value for each element of the support");
    let Some(subset) = &support.subset else { return Cow::Borrowed(values) };
    let mut all = vec![absent; support.n_entities];
    for (&entity, &value) in subset.iter().zip(values) {
        all[entity as usize] = value;
    }
    Cow::Owned(all)
}

/// One block for `per_block` elements of a loop.
struct Blocks<'b> {
    per_block: usize,
    blocks: &'b mut [Vec<u8>],
}

impl Parts for Blocks<'_> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (first, rest) = self.blocks.split_at_mut(at / self.per_block);
        (Blocks { per_block: self.per_block, blocks: first }, Blocks { per_block: self.per_block, blocks: rest })
    }

    fn fits(&self, len: usize) -> bool {
        self.blocks.len() == len.div_ceil(self.per_block)
    }
}

/// An array as files store it, after its size.
pub(super) struct Encoded<'a>(Content<'a>);

enum Content<'a> {
    /// Converted while it is written.
    Plain(Array<'a>),
    Compressed {
        description: Array<'a>,
        bytes: Vec<u8>,
    },
}

impl<'a> Encoded<'a> {
    /// The array itself; without numbers if it is compressed.
    pub fn array(&self) -> &Array<'a> {
        match &self.0 {
            Content::Plain(array) => array,
            Content::Compressed { description, .. } => description,
        }
    }

    /// Bytes in the file.
    pub fn size(&self) -> u64 {
        match &self.0 {
            Content::Plain(array) => size_of::<u64>() as u64 + (array.n_tuples * array.tuple_size()) as u64,
            Content::Compressed { bytes, .. } => bytes.len() as u64,
        }
    }

    /// Writes the encoded bytes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let array = match &self.0 {
            Content::Plain(array) => array,
            Content::Compressed { bytes, .. } => return out.write_all(bytes),
        };
        out.write_all(&((array.n_tuples * array.tuple_size()) as u64).to_le_bytes())?;
        if let Values::Bytes(bytes) = &array.values {
            return out.write_all(bytes);
        }
        let at_once = BUFFER_BYTES / array.tuple_size();
        let mut bytes = Vec::with_capacity(at_once * array.tuple_size());
        for start in (0..array.n_tuples).step_by(at_once) {
            bytes.clear();
            array.bytes_of(start..array.n_tuples.min(start + at_once), &mut bytes);
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}
