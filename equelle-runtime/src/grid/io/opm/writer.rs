//! Grids as text in OPM's format.

use std::io::{Result, Write};

use crate::error::{Error, ErrorKind};
use crate::grid::{Grid, NONE, Nodes};
use crate::number::write_shortest;

/// Lines of an array that are composed before they are written.
const AT_ONCE: usize = 1024;

/// A grid that can be written: it has nodes, and 2 or 3 dimensions.
#[derive(Clone, Copy, Debug)]
pub struct OpmText<'g> {
    grid: &'g Grid,
    nodes: &'g Nodes,
}

impl<'g> OpmText<'g> {
    /// The text of a grid from a file or from [`crate::grid::GridBuilder`], which must not have
    /// been renumbered. The format has no place for names and notes.
    ///
    /// # Errors
    /// `Data` for a grid without nodes, for one of 1 dimension, and for faces with two
    /// sides or without geometry.
    pub fn new(grid: &'g Grid) -> std::result::Result<OpmText<'g>, Error> {
        match grid.nodes() {
            Some(nodes) if !nodes.second_sides.is_empty() => {
                let what = format!("faces over gaps: {}, and OPM's text format has one side of each face", nodes.second_sides.len());
                Err(Error::new(ErrorKind::Data, what).hint("give a name that ends with .vtu"))
            }
            Some(_) if !grid.geometry().faces_without_geometry.is_empty() => {
                let what = "connections without geometry (NNC) have no place in OPM's text format";
                Err(Error::new(ErrorKind::Data, what).hint("leave them out by nnc=ignore, or give a name that ends with .vtu"))
            }
            Some(nodes) if grid.dim() > 1 => Ok(OpmText { grid, nodes }),
            _ => Err(Error::new(ErrorKind::Data, "OPM's text format takes grids of 2 or 3 dimensions whose faces have nodes")),
        }
    }

    /// Writes it. Numbers have the shortest digits that read back as the same number.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let (grid, nodes, dim) = (self.grid, self.nodes, self.grid.dim());
        let (topology, geometry) = (grid.topology(), grid.geometry());
        let sizes = [dim, grid.n_cells(), grid.n_faces(), nodes.positions.len(), nodes.face_nodes.len(), topology.cell_faces.len()];
        rows(out, 1, |_, line| integers(line, sizes))?;
        // Neither tags of faces nor an index map; sizes of a Cartesian grid, which it is not.
        rows(out, 1, |_, line| integers(line, [0, 0]))?;
        rows(out, 1, |_, line| integers(line, vec![0; dim]))?;
        rows(out, nodes.positions.len(), |at, line| numbers(line, &nodes.positions[at][..dim]))?;
        rows(out, nodes.face_node_pos.len(), |at, line| integers(line, [nodes.face_node_pos[at]]))?;
        rows(out, grid.n_faces(), |face, line| integers(line, nodes.face_nodes(face).iter().copied()))?;
        rows(out, grid.n_faces(), |face, line| {
            integers(line, topology.face_cells[face].map(|cell| if cell == NONE { -1 } else { i64::from(cell) }));
        })?;
        rows(out, grid.n_faces(), |face, line| numbers(line, &[geometry.face_areas[face]]))?;
        rows(out, grid.n_faces(), |face, line| numbers(line, &geometry.face_centroids[face][..dim]))?;
        rows(out, grid.n_faces(), |face, line| {
            numbers(line, &geometry.face_normals[face].map(|component| component * geometry.face_areas[face])[..dim]);
        })?;
        rows(out, topology.cell_face_pos.len(), |at, line| integers(line, [topology.cell_face_pos[at]]))?;
        rows(out, grid.n_cells(), |cell, line| integers(line, topology.faces_of(cell).iter().copied()))?;
        rows(out, grid.n_cells(), |cell, line| numbers(line, &[geometry.cell_volumes[cell]]))?;
        rows(out, grid.n_cells(), |cell, line| numbers(line, &geometry.cell_centroids[cell][..dim]))
    }
}

fn rows(out: &mut dyn Write, n: usize, write: impl Fn(usize, &mut String)) -> Result<()> {
    let mut text = String::new();
    for start in (0..n).step_by(AT_ONCE) {
        text.clear();
        for at in start..n.min(start + AT_ONCE) {
            write(at, &mut text);
            text.push('\n');
        }
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

fn integers<T: ToString>(line: &mut String, values: impl IntoIterator<Item = T>) {
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        line.push_str(&value.to_string());
    }
}

fn numbers(line: &mut String, values: &[f64]) {
    for (at, &value) in values.iter().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        write_shortest(line, value);
    }
}
