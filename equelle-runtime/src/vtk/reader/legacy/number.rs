//! Types of numbers of VTK's legacy format.

/// A type of numbers, by its name in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Bit,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Number {
    pub(super) fn named(name: &str) -> Result<Number, String> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "bit" => Number::Bit,
            "char" | "signed_char" | "vtktypeint8" => Number::I8,
            "unsigned_char" | "vtktypeuint8" => Number::U8,
            "short" | "vtktypeint16" => Number::I16,
            "unsigned_short" | "vtktypeuint16" => Number::U16,
            "int" | "vtkidtype" | "vtktypeint32" => Number::I32,
            "unsigned_int" | "vtktypeuint32" => Number::U32,
            "long" | "long_long" | "vtktypeint64" => Number::I64,
            "unsigned_long" | "unsigned_long_long" | "vtktypeuint64" => Number::U64,
            "float" | "vtktypefloat32" => Number::F32,
            "double" | "vtktypefloat64" => Number::F64,
            _ => return Err(format!("`{name}` is not a type of numbers")),
        })
    }

    pub(super) fn bits(self) -> usize {
        match self {
            Number::Bit => 1,
            Number::I8 | Number::U8 => 8,
            Number::I16 | Number::U16 => 16,
            Number::I32 | Number::U32 | Number::F32 => 32,
            Number::I64 | Number::U64 | Number::F64 => 64,
        }
    }

    /// `n` numbers of big-endian bytes.
    pub(super) fn decode(self, bytes: &[u8], n: usize) -> Vec<f64> {
        fn all<const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> f64) -> Vec<f64> {
            bytes.as_chunks::<N>().0.iter().map(|&chunk| of(chunk)).collect()
        }
        match self {
            Number::Bit => (0..n).map(|at| f64::from(bytes[at / 8] >> (7 - at % 8) & 1)).collect(),
            Number::I8 => all(bytes, |[byte]| f64::from(byte.cast_signed())),
            Number::U8 => all(bytes, |[byte]| f64::from(byte)),
            Number::I16 => all(bytes, |chunk| f64::from(i16::from_be_bytes(chunk))),
            Number::U16 => all(bytes, |chunk| f64::from(u16::from_be_bytes(chunk))),
            Number::I32 => all(bytes, |chunk| f64::from(i32::from_be_bytes(chunk))),
            Number::U32 => all(bytes, |chunk| f64::from(u32::from_be_bytes(chunk))),
            Number::I64 => all(bytes, |chunk| i64::from_be_bytes(chunk) as f64),
            Number::U64 => all(bytes, |chunk| u64::from_be_bytes(chunk) as f64),
            Number::F32 => all(bytes, |chunk| f64::from(f32::from_be_bytes(chunk))),
            Number::F64 => all(bytes, f64::from_be_bytes),
        }
    }
}
