//! Meshes in Gmsh's format MSH, versions 2 to 2.2 and 4.1, as text or binary.
//!
//! The elements of the highest dimension are the cells, in the order of the file; vertices are the
//! nodes in the order of the file. Elements of one dimension less name faces. Physical groups of
//! cells and of faces become named sets; a group without a name is called `physical_` and its
//! number. Groups of lower dimension have no entities in the language and are left out. A mesh of
//! dimension 2 lies in a plane z = const, and becomes a grid of the plane.
//!
//! `$ElementData` with one or three numbers for every cell become named arrays; other data of
//! elements, and those of nodes, are left out. Sides that `$Periodic` links are joined, unless
//! [`GmshOptions`] leave them as boundaries.
//!
//! `reader` reads numbers and sections and the header, `groups` names and entities, `nodes`,
//! `elements`, `periodic` and `data` what they are named after, and `mesh` makes the grid.
//!
//! Source: Gmsh reference manual, "Gmsh file formats", MSH 4.1 and the legacy format 2.2.

mod data;
mod elements;
mod groups;
mod mesh;
mod nodes;
mod periodic;
mod reader;

use std::path::Path;

use crate::error::Error;
use crate::grid::Grid;
use crate::threads::Threads;
use reader::{Reader, Version};

/// Options of the reader of meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GmshOptions {
    /// Joins the sides that `$Periodic` links; else they are boundaries.
    pub joins_sides: bool,
}

impl Default for GmshOptions {
    fn default() -> Self {
        GmshOptions { joins_sides: true }
    }
}

/// Reads a mesh; `path` is for messages. The threads match faces and compute the geometry.
///
/// # Errors
/// `Data` for what is wrong in it, or what it has that a grid has not: elements of second order,
/// cells of different dimensions, faces of three cells, partitions, sides that cannot be joined.
/// Names file, line (of binary files the byte), section and item.
pub fn read(path: &Path, bytes: &[u8], options: &GmshOptions, threads: &Threads) -> Result<Grid, Error> {
    let mut reader = Reader::new(path, bytes);
    let version = reader.format()?;
    let mut mesh = mesh::Mesh::default();
    while let Some(section) = reader.next_section()? {
        let is_first = mesh.sections.insert(section);
        if !is_first && matches!(section, "PhysicalNames" | "Entities" | "Nodes" | "Elements") {
            return Err(reader.error(&format!("the section is there twice: expected one ${section}")));
        }
        match (section, version) {
            ("PhysicalNames", _) => mesh.groups.read_names(&mut reader)?,
            ("Entities", Version::V41) => mesh.groups.read_entities(&mut reader)?,
            ("Nodes", _) => mesh.nodes = nodes::read(&mut reader, version)?,
            ("Elements", _) if !mesh.sections.contains("Nodes") => {
                return Err(reader.error("expected $Nodes before this section, found none"));
            }
            ("Elements", _) => mesh.elements = elements::read(&mut reader, version, &mesh.nodes)?,
            ("PartitionedEntities" | "GhostElements", _) => {
                let error = reader.error("expected a mesh in one part, found partitions or ghost elements");
                return Err(error.hint("save the mesh without partitions"));
            }
            ("ElementData", _) => match data::read(&mut reader)? {
                Some(data) => mesh.data.push(data),
                None => {
                    reader.skip_section(section)?;
                    continue;
                }
            },
            ("Periodic", _) => {
                mesh.links = periodic::read(&mut reader, version)?;
                let n_links = mesh.links.len();
                if !options.joins_sides && n_links > 0 {
                    mesh.links.clear();
                    mesh.notes.push(format!("$Periodic is left out, {n_links} in all: its sides are boundaries"));
                }
            }
            // Data of nodes, comments: nothing of a grid.
            _ => {
                reader.skip_section(section)?;
                continue;
            }
        }
        reader.end_section(section)?;
    }
    mesh.grid(reader, version, threads)
}
