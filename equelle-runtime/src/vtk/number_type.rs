//! Types of numbers of VTK's XML formats.

/// A type of numbers, by its name in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    Float64,
    Float32,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
}

impl NumberType {
    const ALL: [NumberType; 10] = [
        NumberType::Float64,
        NumberType::Float32,
        NumberType::Int8,
        NumberType::Int16,
        NumberType::Int32,
        NumberType::Int64,
        NumberType::UInt8,
        NumberType::UInt16,
        NumberType::UInt32,
        NumberType::UInt64,
    ];

    pub fn named(name: &str) -> Option<NumberType> {
        NumberType::ALL.into_iter().find(|number| number.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            NumberType::Float64 => "Float64",
            NumberType::Float32 => "Float32",
            NumberType::Int8 => "Int8",
            NumberType::Int16 => "Int16",
            NumberType::Int32 => "Int32",
            NumberType::Int64 => "Int64",
            NumberType::UInt8 => "UInt8",
            NumberType::UInt16 => "UInt16",
            NumberType::UInt32 => "UInt32",
            NumberType::UInt64 => "UInt64",
        }
    }

    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            NumberType::Float64 | NumberType::Int64 | NumberType::UInt64 => 8,
            NumberType::Float32 | NumberType::Int32 | NumberType::UInt32 => 4,
            NumberType::Int16 | NumberType::UInt16 => 2,
            NumberType::Int8 | NumberType::UInt8 => 1,
        }
    }
}
