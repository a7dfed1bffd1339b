//! Types of elements of NumPy's arrays, and their numbers.

/// Types of elements that are read; results are written as `F32`, `F64`, `I64` and `Bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// `f2`
    F16,
    /// `f4`
    F32,
    /// `f8`
    F64,
    /// `i1`
    I8,
    /// `i2`
    I16,
    /// `i4`
    I32,
    /// `i8`
    I64,
    /// `u1`
    U8,
    /// `u2`
    U16,
    /// `u4`
    U32,
    /// `u8`
    U64,
    /// `b1`
    Bool,
}

impl ElementType {
    const ALL: [ElementType; 12] = [
        ElementType::F16,
        ElementType::F32,
        ElementType::F64,
        ElementType::I8,
        ElementType::I16,
        ElementType::I32,
        ElementType::I64,
        ElementType::U8,
        ElementType::U16,
        ElementType::U32,
        ElementType::U64,
        ElementType::Bool,
    ];

    pub(super) fn named(name: &str) -> Option<ElementType> {
        ElementType::ALL.into_iter().find(|element| &element.descr()[1..] == name)
    }

    /// As files that are written name it: numbers begin with their lowest byte.
    pub(super) fn descr(self) -> &'static str {
        match self {
            ElementType::F16 => "<f2",
            ElementType::F32 => "<f4",
            ElementType::F64 => "<f8",
            ElementType::I8 => "|i1",
            ElementType::I16 => "<i2",
            ElementType::I32 => "<i4",
            ElementType::I64 => "<i8",
            ElementType::U8 => "|u1",
            ElementType::U16 => "<u2",
            ElementType::U32 => "<u4",
            ElementType::U64 => "<u8",
            ElementType::Bool => "|b1",
        }
    }

    /// In bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            ElementType::I8 | ElementType::U8 | ElementType::Bool => 1,
            ElementType::F16 | ElementType::I16 | ElementType::U16 => 2,
            ElementType::F32 | ElementType::I32 | ElementType::U32 => 4,
            ElementType::F64 | ElementType::I64 | ElementType::U64 => 8,
        }
    }

    /// The number of `size` bytes, the lowest first and zeros behind them.
    pub(super) fn value(self, bytes: [u8; 8]) -> Value {
        let whole = u64::from_le_bytes(bytes);
        let unused = 64 - 8 * self.size() as u32;
        match self {
            ElementType::F16 => Value::Number(half_to_f64(whole as u16)),
            ElementType::F32 => Value::Number(f64::from(f32::from_bits(whole as u32))),
            ElementType::F64 => Value::Number(f64::from_bits(whole)),
            ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => {
                Value::Whole(i128::from((whole << unused).cast_signed() >> unused))
            }
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 | ElementType::Bool => Value::Whole(i128::from(whole)),
        }
    }
}

/// A number of a file.
pub(super) enum Value {
    Number(f64),
    Whole(i128),
}

/// A number of 16 bits: a sign, 5 bits of exponent, 10 of fraction (IEEE 754 binary16).
fn half_to_f64(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let size = match bits >> 10 & 0x1f {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
