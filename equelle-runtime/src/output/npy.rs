//! NumPy's format `.npy`: one field, one row for each element of its domain.
//!
//! [`crate::io::npy`] has the header.

use std::io::{Result, Write};

use super::field::{Field, FieldValues};
use crate::io::npy::{ElementType, header};

/// Rows that are converted at a time.
const ROWS: usize = 1 << 13;

/// Writes an array of shape `(n,)`, or `(n, dim)` for Vectors: `f8` or `f4` for numbers, `b1` for
/// Bools, `i8` for entities, of which -1 is Empty.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, field: &Field) -> Result<()> {
    let (rows, components) = (field.values.len(), field.values.components());
    let shape = [rows, components];
    let shape = if components > 1 { &shape[..] } else { &shape[..1] };
    match &field.values {
        FieldValues::F64(columns) => {
            out.write_all(&header(ElementType::F64, shape))?;
            numbers(out, columns, f64::to_le_bytes)
        }
        FieldValues::F32(columns) => {
            out.write_all(&header(ElementType::F32, shape))?;
            numbers(out, columns, f32::to_le_bytes)
        }
        FieldValues::Bool(values) => {
            out.write_all(&header(ElementType::Bool, shape))?;
            out.write_all(values)
        }
        FieldValues::Entity(values) => {
            out.write_all(&header(ElementType::I64, shape))?;
            values.chunks(ROWS).try_for_each(|chunk| {
                let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
                out.write_all(&bytes)
            })
        }
    }
}

fn numbers<T: Copy, const N: usize>(out: &mut dyn Write, columns: &[Vec<T>], to_bytes: fn(T) -> [u8; N]) -> Result<()> {
    let rows = columns.first().map_or(0, Vec::len);
    let mut bytes = Vec::with_capacity(ROWS.min(rows) * columns.len() * N);
    for start in (0..rows).step_by(ROWS) {
        bytes.clear();
        for row in start..rows.min(start + ROWS) {
            columns.iter().for_each(|column| bytes.extend(to_bytes(column[row])));
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}
