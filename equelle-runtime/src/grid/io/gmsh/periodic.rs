//! `$Periodic`: sides of a mesh that are joined, by their nodes.

use std::collections::BTreeSet;

use super::nodes::Nodes;
use super::reader::{Reader, Version};
use crate::error::Error;
use crate::grid::{Grid, JoinedSides, Repairs};

/// A link of an entity to the one that it is a copy of.
#[derive(Debug)]
pub(super) struct Link {
    dim: usize,
    /// Numbers of the entity and of its master.
    entities: [i32; 2],
    /// Tags of nodes of the entity, and of those that they are copies of.
    nodes: [Vec<u64>; 2],
}

/// Reads the section up to its end. It is text also in binary files of version 2.2.
pub(super) fn read(reader: &mut Reader<'_>, version: Version) -> Result<Vec<Link>, Error> {
    match version {
        Version::V22 => reader.in_text(|reader| links(reader, version)),
        Version::V41 => links(reader, version),
    }
}

fn links(reader: &mut Reader<'_>, version: Version) -> Result<Vec<Link>, Error> {
    let n_links = reader.size("the number of periodic entities")?;
    let n_links = reader.checked(n_links, "periodic entities", [3, 1, 0])?;
    let mut links = Vec::with_capacity(n_links);
    for _ in 0..n_links {
        let (dim, entities) = entities(reader)?;
        skip_transform(reader, version)?;
        let n_nodes = reader.size("the number of nodes of a periodic entity")?;
        links.push(Link { dim, entities, nodes: nodes(reader, n_nodes)? });
    }
    Ok(links)
}

/// Passes the affine transform of a link: its nodes tell the same.
fn skip_transform(reader: &mut Reader<'_>, version: Version) -> Result<(), Error> {
    match version {
        Version::V22 => {
            if reader.next_word_is("Affine") {
                reader.rest_of_line();
            }
        }
        Version::V41 => {
            let n_numbers = reader.size("the number of numbers of an affine transform")?;
            for _ in 0..reader.checked(n_numbers, "numbers of an affine transform", [0, 0, 1])? {
                reader.real("a number of an affine transform")?;
            }
        }
    }
    Ok(())
}

fn entities(reader: &mut Reader<'_>) -> Result<(usize, [i32; 2]), Error> {
    let dim = reader.int("the dimension of a periodic entity")?;
    let dim = usize::try_from(dim).ok().filter(|dim| *dim <= 3);
    let dim = dim.ok_or_else(|| reader.error("expected the dimension of a periodic entity, 0 to 3"))?;
    Ok((dim, [reader.int("a periodic entity")?, reader.int("the entity that it is a copy of")?]))
}

fn nodes(reader: &mut Reader<'_>, n_nodes: u64) -> Result<[Vec<u64>; 2], Error> {
    let n_nodes = reader.checked(n_nodes, "nodes of a periodic entity", [0, 2, 0])?;
    let (mut own, mut masters) = (Vec::with_capacity(n_nodes), Vec::with_capacity(n_nodes));
    for _ in 0..n_nodes {
        own.push(reader.size("the tag of a node")?);
        masters.push(reader.size("the tag of the node that it is a copy of")?);
    }
    Ok([own, masters])
}

/// The sides of links between entities of one dimension less than cells: the boundary faces all of
/// whose nodes belong to an entity.
pub(super) fn sides(links: &[Link], dim: usize, grid: &Grid, (nodes, repairs): (&Nodes, &Repairs)) -> Vec<JoinedSides> {
    let Some(of_grid) = grid.nodes() else { return Vec::new() };
    let boundary: Vec<u32> = (0..grid.n_faces() as u32).filter(|&face| grid.topology().is_boundary_face(face as usize)).collect();
    let noun = if dim == 2 { "curve" } else { "surface" };
    let of_sides = links.iter().filter(|link| link.dim + 1 == dim);
    of_sides
        .map(|link| {
            let faces = [0, 1].map(|side| {
                let own = link.nodes[side].iter().filter_map(|&tag| nodes.find(tag)).filter_map(|node| repairs.node(node));
                let own: BTreeSet<u32> = own.collect();
                let is_own = |face: &u32| of_grid.face_nodes(*face as usize).iter().all(|node| own.contains(node));
                boundary.iter().copied().filter(is_own).collect()
            });
            JoinedSides { names: link.entities.map(|entity| format!("{noun} {entity}")), faces }
        })
        .collect()
}
