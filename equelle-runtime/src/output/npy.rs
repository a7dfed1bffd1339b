//! NumPy's format `.npy`: one field, one row for each element of its domain.
//!
//! The layout is that of NumPy's documentation (`numpy.lib.format`), version 1.

use std::io::{Result, Write};

use super::field::{Field, FieldValues};

/// Rows that are converted at a time.
const ROWS: usize = 1 << 13;

/// Writes an array of shape `(n,)`, or `(n, dim)` for Vectors: `f8` or `f4` for numbers, `b1` for
/// Bools, `i8` for entities, of which -1 is Empty.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, field: &Field) -> Result<()> {
    let (rows, components) = (field.values.len(), field.values.components());
    match &field.values {
        FieldValues::F64(columns) => {
            header(out, "<f8", rows, components)?;
            numbers(out, columns, f64::to_le_bytes)
        }
        FieldValues::F32(columns) => {
            header(out, "<f4", rows, components)?;
            numbers(out, columns, f32::to_le_bytes)
        }
        FieldValues::Bool(values) => {
            header(out, "|b1", rows, components)?;
            out.write_all(values)
        }
        FieldValues::Entity(values) => {
            header(out, "<i8", rows, components)?;
            values.chunks(ROWS).try_for_each(|chunk| {
                let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
                out.write_all(&bytes)
            })
        }
    }
}

/// Writes what is before the numbers: the data begin at a multiple of 64 bytes.
fn header(out: &mut dyn Write, descr: &str, rows: usize, components: usize) -> Result<()> {
    let shape = if components > 1 { format!("({rows}, {components})") } else { format!("({rows},)") };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    const BEFORE: usize = 10;
    let padding = 64 - (BEFORE + text.len() + 1) % 64;
    text.extend(std::iter::repeat_n(' ', padding % 64));
    text.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
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
