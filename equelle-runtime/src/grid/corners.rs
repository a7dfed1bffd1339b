//! Entities by their corners, as files of meshes have them: cells by shape, from the nodes of their
//! faces.
//!
//! Nothing here needs geometry but positions of nodes. Edges that two faces of a cell share tell
//! how the faces turn against each other, and the volume tells which side is outside.

use super::build;
use super::outwards::{self, area_vector, mean};
use super::shapes::{Vector, cross, dot, minus};
use super::{Cartesian, CartesianEdge, CartesianFace, CellShape, Grid, Nodes};
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::threads::{BLOCK, PerBlock, Threads};

/// The shape of an entity, with the order of its corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityShape {
    /// No corners: a face without geometry.
    Nothing,
    /// One corner.
    Vertex,
    /// Two.
    Line,
    /// Three or more, in their order around; cells of the plane turn counter-clockwise.
    Polygon,
    /// Corners in the order of the shape.
    Cell(CellShape),
    /// All corners, each once; and its faces, [`Corners::faces_of`].
    Polyhedron,
}

/// Entities of a kind by their corners, in the numbering of the grid's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corners {
    shapes: Vec<EntityShape>,
    /// End of each entity's slice of `vertices`.
    ends: Vec<usize>,
    vertices: Vec<u32>,
    /// End of each entity's slice of `faces`.
    face_ends: Vec<usize>,
    faces: Vec<u32>,
}

impl Corners {
    /// Number of entities.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// True if there are no entities.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Shapes. `[n]`
    pub fn shapes(&self) -> &[EntityShape] {
        &self.shapes
    }

    /// Corners of an entity, by index of the vertex.
    ///
    /// # Panics
    /// If there is no such entity.
    pub fn of(&self, entity: usize) -> &[u32] {
        slice(&self.ends, &self.vertices, entity)
    }

    /// Faces of a polyhedron: for each the number of its corners, and these, counter-clockwise seen
    /// from outside. Empty for other shapes.
    ///
    /// # Panics
    /// If there is no such entity.
    pub fn faces_of(&self, entity: usize) -> &[u32] {
        slice(&self.face_ends, &self.faces, entity)
    }

    fn end(&mut self, shape: EntityShape) {
        self.shapes.push(shape);
        self.ends.push(self.vertices.len());
        self.face_ends.push(self.faces.len());
    }

    fn add(&mut self, shape: EntityShape, corners: impl IntoIterator<Item = u32>) {
        self.vertices.extend(corners);
        self.end(shape);
    }

    fn append(&mut self, other: &Corners) {
        let (at, face_at) = (self.vertices.len(), self.faces.len());
        self.shapes.extend_from_slice(&other.shapes);
        self.ends.extend(other.ends.iter().map(|end| end + at));
        self.vertices.extend_from_slice(&other.vertices);
        self.face_ends.extend(other.face_ends.iter().map(|end| end + face_at));
        self.faces.extend_from_slice(&other.faces);
    }
}

fn slice<'a>(ends: &[usize], items: &'a [u32], entity: usize) -> &'a [u32] {
    let start = if entity == 0 { 0 } else { ends[entity - 1] };
    &items[start..ends[entity]]
}

impl Grid {
    /// Positions of the vertices of [`Grid::corners`], in the numbering of the file. Keeps nothing.
    /// `[n_vertices]`
    ///
    /// # Errors
    /// `Data` for a grid of arrays without nodes.
    pub fn corner_positions(&self) -> Result<Vec<Vector>, Error> {
        match (self.shape(), self.nodes()) {
            (Some(shape), _) => Ok(match shape.dim {
                1 => (0..shape.n_faces()).map(|face| build::face_centroid(shape, &self.shape.axes(shape), face)).collect(),
                _ => build::vertices(shape, &self.shape.axes(shape)),
            }),
            (None, Some(nodes)) => Ok(nodes.positions.clone()),
            (None, None) => Err(without_nodes()),
        }
    }

    /// Entities of a kind by their corners; `None` for a kind that is its own corners: vertices,
    /// and faces of a shape in 1D. Memory and time for each call, nothing is kept.
    ///
    /// # Errors
    /// `Data` for a grid of arrays without nodes, and for a cell or face whose nodes do not
    /// enclose it.
    pub fn corners(&self, kind: EntityKind) -> Result<Option<Corners>, Error> {
        let kind = kind.on_grid_of(self.dim);
        match (kind, self.shape(), self.nodes()) {
            (EntityKind::Vertex, ..) => Ok(None),
            (EntityKind::Face, Some(_), _) if self.dim == 1 => Ok(None),
            (EntityKind::Cell | EntityKind::Face | EntityKind::Edge, Some(shape), _) => {
                in_blocks(&self.threads, self.n_entities(kind)?, |entity, corners| {
                    add_cartesian_corners(shape, kind, entity, corners);
                    Ok(())
                })
            }
            (EntityKind::Edge, None, Some(nodes)) => {
                let pairs = nodes.edge_pairs();
                in_blocks(&self.threads, pairs.len(), |edge, corners| {
                    corners.add(EntityShape::Line, [(pairs[edge] >> 32) as u32, pairs[edge] as u32]);
                    Ok(())
                })
            }
            (EntityKind::Face, None, Some(nodes)) => in_blocks(&self.threads, self.n_faces, |face, corners| {
                let found = without_repeats(nodes.face_nodes(self.entity_of_file(kind, face as u32) as usize));
                match (found.len(), self.dim) {
                    (0, _) => corners.add(EntityShape::Nothing, found),
                    (1, 1) => corners.add(EntityShape::Vertex, found),
                    (2, 2) => corners.add(EntityShape::Line, found),
                    (3.., 3) => corners.add(polygon(found.len()), found),
                    _ => return Err(unknown(kind, face as u32)),
                }
                Ok(())
            }),
            (EntityKind::Cell, None, Some(nodes)) => in_blocks(&self.threads, self.n_cells, |cell, corners| {
                let own = self.entity_of_file(kind, cell as u32) as usize;
                let has_nodes = |face: &u32| !nodes.face_nodes(*face as usize).is_empty();
                let faces = self.topology().faces_of(own).iter().filter(|face| has_nodes(face));
                let mut faces = faces.map(|&face| nodes.seen_from(self.topology(), own, face as usize));
                let is_closed = match self.dim {
                    1 => line_cell(nodes, &mut faces, corners),
                    2 => plane_cell(nodes, &mut faces, corners),
                    _ => SolidCell::new(nodes, &mut faces).add(corners),
                };
                if is_closed { Ok(()) } else { Err(unknown(kind, cell as u32)) }
            }),
            (EntityKind::Cell | EntityKind::Face | EntityKind::Edge, None, None) => Err(without_nodes()),
        }
    }
}

/// Corners of so many entities, in blocks.
fn in_blocks(threads: &Threads, n: usize, add: impl Fn(usize, &mut Corners) -> Result<(), Error> + Sync) -> Result<Option<Corners>, Error> {
    let mut blocks: Vec<Result<Corners, Error>> = vec![Ok(Corners::default()); n.div_ceil(BLOCK)];
    threads.each(n, PerBlock(&mut blocks), |range, PerBlock(part)| {
        for (block, start) in part.iter_mut().zip(range.clone().step_by(BLOCK)) {
            let mut corners = Corners::default();
            let mut entities = start..range.end.min(start + BLOCK);
            *block = entities.try_for_each(|entity| add(entity, &mut corners)).map(|()| corners);
        }
    });
    let mut all = Corners::default();
    for block in blocks {
        all.append(&block?);
    }
    Ok(Some(all))
}

fn unknown(kind: EntityKind, entity: u32) -> Error {
    let what = format!("the nodes of {} {entity} do not enclose it, so that a file of a mesh cannot have it", kind.noun());
    Error::new(ErrorKind::Data, what).hint("write results as `npy` or `text`: output_format=npy")
}

fn without_nodes() -> Error {
    Error::new(ErrorKind::Data, "the grid has no nodes, so that a file of a mesh cannot have it")
        .hint("write results as `npy` or `text`: output_format=npy")
}

/// Nodes in their order around a face, each once in a row.
fn without_repeats(nodes: &[u32]) -> Vec<u32> {
    let mut found = nodes.to_vec();
    found.dedup();
    while found.len() > 1 && found.first() == found.last() {
        found.pop();
    }
    found
}

fn polygon(corners: usize) -> EntityShape {
    match corners {
        3 => EntityShape::Cell(CellShape::Triangle),
        4 => EntityShape::Cell(CellShape::Quadrangle),
        _ => EntityShape::Polygon,
    }
}

/// Adds an entity of a Cartesian or rectilinear grid by its corners.
fn add_cartesian_corners(shape: &Cartesian, kind: EntityKind, entity: usize, corners: &mut Corners) {
    let at = |ijk: [usize; 3], up: [usize; 3]| {
        let ijk: [usize; 3] = std::array::from_fn(|axis| ijk[axis] + up[axis]);
        if shape.dim == 1 { ijk[0] as u32 } else { shape.vertex(ijk) as u32 }
    };
    let unit = |axis: usize| std::array::from_fn(|a| usize::from(a == axis));
    match kind {
        EntityKind::Cell => {
            let ijk = shape.cell_ijk(entity);
            let lower = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]].map(|up| at(ijk, up));
            match shape.dim {
                1 => corners.add(EntityShape::Line, lower[..2].iter().copied()),
                2 => corners.add(EntityShape::Cell(CellShape::Quadrangle), lower),
                _ => {
                    let upper = [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]].map(|up| at(ijk, up));
                    corners.add(EntityShape::Cell(CellShape::Hexahedron), lower.into_iter().chain(upper));
                }
            }
        }
        EntityKind::Face => {
            let CartesianFace { axis, ijk } = shape.face_ijk(entity);
            if shape.dim == 2 {
                corners.add(EntityShape::Line, [at(ijk, [0; 3]), at(ijk, unit(1 - axis))]);
            } else {
                let [b, c]: [[usize; 3]; 2] = [unit((axis + 1) % 3), unit((axis + 2) % 3)];
                let both = std::array::from_fn(|a| b[a] + c[a]);
                corners.add(EntityShape::Cell(CellShape::Quadrangle), [[0; 3], b, both, c].map(|up| at(ijk, up)));
            }
        }
        EntityKind::Edge => {
            let CartesianEdge { axis, ijk } = shape.edge_ijk(entity);
            corners.add(EntityShape::Line, [at(ijk, [0; 3]), at(ijk, unit(axis))]);
        }
        EntityKind::Vertex => corners.add(EntityShape::Vertex, [entity as u32]),
    }
}

/// A cell of one dimension from its ends, in the order of their positions; false unless it has two.
fn line_cell(nodes: &Nodes, faces: &mut dyn Iterator<Item = &[u32]>, corners: &mut Corners) -> bool {
    let mut ends: Vec<u32> = faces.flatten().copied().collect();
    ends.sort_by(|a, b| nodes.positions[*a as usize][0].total_cmp(&nodes.positions[*b as usize][0]));
    let has_ends = ends.len() == 2;
    corners.add(EntityShape::Line, ends);
    has_ends
}

/// A cell of the plane: its sides, one behind the other, counter-clockwise. Whether they close.
fn plane_cell(nodes: &Nodes, faces: &mut dyn Iterator<Item = &[u32]>, corners: &mut Corners) -> bool {
    let mut sides: Vec<[u32; 2]> = Vec::new();
    for face in faces {
        let &[a, b] = face else { return false };
        sides.push([a, b]);
    }
    let Some(&[start, mut last]) = sides.first() else { return false };
    let mut around = vec![start];
    for next in 1..sides.len() {
        let Some(found) = (next..sides.len()).find(|&side| sides[side].contains(&last)) else { return false };
        sides.swap(next, found);
        around.push(last);
        let [a, b] = sides[next];
        last = if a == last { b } else { a };
    }
    let origin = nodes.positions[start as usize];
    let at = |node: u32| minus(nodes.positions[node as usize], origin);
    let turn: f64 = around.windows(2).map(|pair| cross(at(pair[0]), at(pair[1]))[2]).sum();
    if turn < 0.0 {
        around[1..].reverse();
    }
    let closes = last == start && around.len() >= 3;
    corners.add(polygon(around.len()), around);
    closes
}

/// A cell of 3 dimensions by its faces.
struct SolidCell<'a> {
    positions: &'a [Vector],
    faces: Vec<Vec<u32>>,
}

impl<'a> SolidCell<'a> {
    fn new<'f>(nodes: &'a Nodes, faces: impl Iterator<Item = &'f [u32]>) -> SolidCell<'a> {
        let faces = faces.map(without_repeats).collect();
        SolidCell { positions: &nodes.positions, faces }
    }

    /// True if its faces enclose something.
    fn add(&mut self, corners: &mut Corners) -> bool {
        if self.faces.len() < 4 || self.faces.iter().any(|face| face.len() < 3) {
            return false;
        }
        if let Some((shape, ordered)) = self.standard() {
            corners.add(EntityShape::Cell(shape), ordered);
            return true;
        }
        let is_turned = outwards::turned(&self.faces, self.positions);
        self.faces.iter_mut().zip(is_turned).filter(|(_, is_turned)| *is_turned).for_each(|(face, _)| face.reverse());
        let mut all: Vec<u32> = self.faces.concat();
        all.sort_unstable();
        all.dedup();
        corners.vertices.extend(all);
        for face in &self.faces {
            corners.faces.push(face.len() as u32);
            corners.faces.extend_from_slice(face);
        }
        corners.end(EntityShape::Polyhedron);
        true
    }

    /// The standard cell that it is, with its corners in order.
    fn standard(&self) -> Option<(CellShape, Vec<u32>)> {
        let of = |n: usize| self.faces.iter().filter(|face| face.len() == n).count();
        let (shape, sides) = match (of(3), of(4), self.faces.len()) {
            (4, 0, 4) => (CellShape::Tetrahedron, 3),
            (4, 1, 5) => (CellShape::Pyramid, 4),
            (2, 3, 5) => (CellShape::Prism, 3),
            (0, 6, 6) => (CellShape::Hexahedron, 4),
            _ => return None,
        };
        let base = self.faces.iter().find(|face| face.len() == sides)?;
        let mut corners = base.clone();
        for &node in base {
            let mut above = self.faces.iter().flat_map(|face| neighbours(face, node)).filter(|other| !base.contains(other));
            let first = above.next()?;
            if above.any(|other| other != first) {
                return None;
            }
            corners.push(first);
        }
        // One node above all of the base, or one above each.
        if shape.n_corners() == sides + 1 {
            let apex = corners[sides];
            if corners[sides..].iter().any(|&other| other != apex) {
                return None;
            }
            corners.truncate(sides + 1);
        }
        let of_shape = |face: &&[u8]| normal_form(face.iter().map(|&corner| corners[usize::from(corner)]).collect());
        let mut expected: Vec<Vec<u32>> = shape.faces().iter().map(of_shape).collect();
        let mut found: Vec<Vec<u32>> = self.faces.iter().map(|face| normal_form(face.clone())).collect();
        expected.sort_unstable();
        found.sort_unstable();
        if expected != found || found.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let up = minus(mean(self.positions, &corners[sides..]), mean(self.positions, base));
        if dot(area_vector(self.positions, base), up) < 0.0 {
            corners[..sides].reverse();
            corners[sides..].reverse();
        }
        Some((shape, corners))
    }
}

/// The nodes before and behind a node of a face.
fn neighbours(face: &[u32], node: u32) -> impl Iterator<Item = u32> + '_ {
    let place = face.iter().position(|&other| other == node);
    let at = move |step: usize| place.map(|place| face[(place + step) % face.len()]);
    at(1).into_iter().chain(at(face.len() - 1))
}

/// The same cycle of nodes, in either sense, in one form.
fn normal_form(mut face: Vec<u32>) -> Vec<u32> {
    let least = (0..face.len()).min_by_key(|&place| face[place]).unwrap_or(0);
    face.rotate_left(least);
    if face.last() < face.get(1) {
        face[1..].reverse();
    }
    face
}
