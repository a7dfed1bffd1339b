//! ParaView's format `.pvd`: which file belongs to which time.

use std::fmt::Write as _;

use super::escaped;
use crate::number::write_shortest;

/// The text of a collection: of each file its time, its part (empty for the cells of the grid) and
/// its name, relative to the folder of the collection.
///
/// Parts are numbered in the order in which they appear.
pub fn text(files: &[(f64, &str, &str)]) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <Collection>\n",
    );
    for &(time, part, file) in files {
        let number = parts.iter().position(|&known| known == part).unwrap_or_else(|| {
            parts.push(part);
            parts.len() - 1
        });
        text.push_str("    <DataSet timestep=\"");
        write_shortest(&mut text, time);
        let name = if part.is_empty() { String::new() } else { format!(" name=\"{}\"", escaped(part)) };
        let _ = writeln!(text, "\" part=\"{number}\"{name} file=\"{}\"/>", escaped(file));
    }
    text.push_str("  </Collection>\n</VTKFile>\n");
    text
}
