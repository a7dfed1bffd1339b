//! Sides that are joined, so that a grid is periodic: two faces, one on each side, become one
//! between their cells.
//!
//! The face lies where the one of its first cell lay. The way from the other one is its gap
//! ([`Geometry::face_gaps`]), so that centroids are seen through the face at their distance.

use std::collections::BTreeMap;
use std::fmt;

use super::nearest::Nearest;
use super::shapes::{dot, minus};
use super::{Cartesian, Geometry, Grid, MAX_CELLS_OF_ARRAYS, NONE, Named, NamedArray, NamedSet, Nodes, Topology, sides, too_many_of};
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};

/// How far faces, nodes and areas may be off, in parts of the size of a face.
const TOLERANCE: f64 = 1e-6;

/// Two sides that meet when one of them is moved.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedSides {
    /// Their names, for messages.
    pub names: [String; 2],
    /// Their faces, boundary faces in the numbering of the file.
    pub faces: [Vec<u32>; 2],
}

/// A face that has no partner on the other side.
struct Unmatched<'a> {
    grid: &'a Grid,
    sides: &'a JoinedSides,
    face: u32,
    nearest: u32,
    off: f64,
}

impl fmt::Display for Unmatched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.sides.names;
        let at = position_text(self.grid.geometry().face_centroids[self.face as usize], self.grid.dim());
        let (face, nearest, off) = (self.face, self.nearest, self.off);
        write!(f, "face {face} of `{first}` at {at} meets no face of `{second}`: face {nearest} is nearest, {off:.3e} m off")
    }
}

fn position_text(position: [f64; 3], dim: usize) -> String {
    format!("({})", position[..dim].iter().map(|x| format!("{x}")).collect::<Vec<_>>().join(", "))
}

fn bad(what: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Data, format!("sides cannot be joined: {what}"))
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

impl JoinedSides {
    /// A line for the user.
    pub(super) fn note(&self) -> String {
        let [first, second] = &self.names;
        format!("`{first}` and `{second}` are joined, {} faces", self.faces[0].len())
    }
}

impl Grid {
    /// The same grid with sides joined: pairs such as `x-:x+,west:east`, of named sets of faces or
    /// sides of the box around the grid; or `none`.
    ///
    /// # Errors
    /// `Data` for another text, an unknown side, and as [`Grid::with_joined_sides`].
    pub fn with_periodic_sides(self, text: &str) -> Result<Grid, Error> {
        if text.trim() == "none" {
            return Ok(self);
        }
        let mut joined = Vec::new();
        for pair in text.split(',') {
            let Some((first, second)) = pair.split_once(':').map(|(first, second)| (first.trim(), second.trim())) else {
                let what = format!("expected two sides with a colon, found `{}`", pair.trim());
                return Err(bad(what).hint("such as grid_periodic=x-:x+,y-:y+, or names of sets of faces, west:east"));
            };
            let faces = [side(&self, first)?, side(&self, second)?];
            joined.push(JoinedSides { names: [first.to_owned(), second.to_owned()], faces });
        }
        let mut notes = self.notes.to_vec();
        notes.extend(joined.iter().map(JoinedSides::note));
        Ok(self.with_joined_sides(&joined)?.with_notes(notes))
    }

    /// The same grid as arrays with sides joined. Faces of the first sides take in those of the
    /// second ones, and later faces close up. Named sets of faces have the joined ones; of arrays
    /// of faces the numbers of the faces that stay are kept.
    ///
    /// # Errors
    /// `Data` if a face is no boundary face or is joined twice, sides are no translation of each
    /// other, or a cell would be its own neighbour. Names side, face and distance.
    ///
    /// # Panics
    /// If the grid has been renumbered.
    pub fn with_joined_sides(self, sides: &[JoinedSides]) -> Result<Grid, Error> {
        assert!(self.numbering.cells.is_none() && self.numbering.faces.is_none(), "a grid in the numbering of its file");
        if sides.is_empty() {
            return Ok(self);
        }
        if self.n_cells > MAX_CELLS_OF_ARRAYS {
            return Err(too_many_of("cells", MAX_CELLS_OF_ARRAYS));
        }
        let mut partners = BTreeMap::new();
        for sides in sides {
            for [first, second] in (SideMatch { grid: &self, sides }).pairs()? {
                for (face, other) in [(first, second), (second, first)] {
                    if partners.insert(face, other).is_some() {
                        return Err(bad(format!("face {face} is on two sides that are joined")));
                    }
                }
            }
        }
        joined(self, &partners)
    }
}

/// Two sides that have to meet.
struct SideMatch<'a> {
    grid: &'a Grid,
    sides: &'a JoinedSides,
}

impl SideMatch<'_> {
    /// Faces of two sides that meet.
    fn pairs(&self) -> Result<Vec<[u32; 2]>, Error> {
        let [first, second] = &self.sides.faces;
        self.check_sides()?;
        let geometry = self.grid.geometry();
        let from = minus(self.mean_centroid(first), self.mean_centroid(second));
        let moved = |&face: &u32| {
            let centroid = geometry.face_centroids[face as usize];
            std::array::from_fn(|axis| centroid[axis] + from[axis])
        };
        let places: Vec<[f64; 3]> = second.iter().map(moved).collect();
        let nearest = Nearest::new(&places);
        let mut pairs = Vec::with_capacity(first.len());
        for &face in first {
            let (found, off) = nearest.find(geometry.face_centroids[face as usize], -1.0).expect("a side has faces");
            let other = second[found as usize];
            let size = self.face_size(face as usize);
            if off > TOLERANCE * size {
                return Err(bad(Unmatched { grid: self.grid, sides: self.sides, face, nearest: other, off }));
            }
            self.check_pair([face, other])?;
            pairs.push([face, other]);
        }
        Ok(pairs)
    }

    /// Checks that sides have faces, as many each, all on the boundary.
    fn check_sides(&self) -> Result<(), Error> {
        let topology = self.grid.topology();
        for (name, faces) in self.sides.names.iter().zip(&self.sides.faces) {
            if faces.is_empty() {
                return Err(bad(format!("`{name}` has no faces")));
            }
            if let Some(face) = faces.iter().find(|&&face| !topology.is_boundary_face(face as usize)) {
                return Err(bad(format!("face {face} of `{name}` is no boundary face")));
            }
        }
        let [first, second] = [self.sides.faces[0].len(), self.sides.faces[1].len()];
        if first != second {
            let [a, b] = &self.sides.names;
            return Err(bad(format!("`{a}` has {first} faces and `{b}` has {second}")).hint("mesh one side as a copy of the other"));
        }
        Ok(())
    }

    /// Checks that two faces that meet turn their backs on each other and are equally large.
    fn check_pair(&self, pair: [u32; 2]) -> Result<(), Error> {
        let (topology, geometry) = (self.grid.topology(), self.grid.geometry());
        let [face, other] = pair.map(|face| face as usize);
        let outward = |face: usize| {
            let normal = geometry.face_normals[face];
            if topology.face_cells[face][0] == NONE { normal.map(|x| -x) } else { normal }
        };
        let (a, b) = (outward(face), outward(other));
        let [first, second] = &self.sides.names;
        if length(std::array::from_fn(|axis| a[axis] + b[axis])) > TOLERANCE {
            let what = format!("face {face} of `{first}` does not face face {other} of `{second}`");
            return Err(bad(what).hint("one side must be the other one moved, without a turn"));
        }
        let areas = [geometry.face_areas[face], geometry.face_areas[other]];
        if (areas[0] - areas[1]).abs() > TOLERANCE * areas[0] {
            let what = format!("face {face} of `{first}` has the area {:e}, face {other} of `{second}` {:e}", areas[0], areas[1]);
            return Err(bad(what));
        }
        let cell = |face: usize| topology.face_cells[face].into_iter().find(|&cell| cell != NONE);
        if cell(face) == cell(other) {
            let what = format!("cell {} has a face on `{first}` and its partner on `{second}`", cell(face).unwrap_or(NONE));
            return Err(bad(what).hint("between joined sides there are two cells or more, so that no cell is its own neighbour"));
        }
        Ok(())
    }

    /// Mean of centroids, by area.
    fn mean_centroid(&self, faces: &[u32]) -> [f64; 3] {
        let geometry = self.grid.geometry();
        let total: f64 = faces.iter().map(|&face| geometry.face_areas[face as usize]).sum();
        let mut mean = [0.0; 3];
        for &face in faces {
            let (weight, centroid) = (geometry.face_areas[face as usize] / total, geometry.face_centroids[face as usize]);
            mean.iter_mut().zip(centroid).for_each(|(mean, x)| *mean += weight * x);
        }
        mean
    }

    /// Length of a face along its sides; in 1D that of its cell.
    fn face_size(&self, face: usize) -> f64 {
        let (topology, geometry) = (self.grid.topology(), self.grid.geometry());
        match self.grid.dim {
            1 => topology.face_cells[face].into_iter().find(|&cell| cell != NONE).map_or(1.0, |cell| geometry.cell_volumes[cell as usize]),
            2 => geometry.face_areas[face],
            _ => geometry.face_areas[face].sqrt(),
        }
    }
}

/// Boundary faces of a side, by name.
fn side(grid: &Grid, name: &str) -> Result<Vec<u32>, Error> {
    if let Some(set) = grid.named.set(EntityKind::Face, name) {
        return Ok(set.members.clone());
    }
    let axis = match name {
        "x-" | "x+" => 0,
        "y-" | "y+" => 1,
        "z-" | "z+" => 2,
        _ => grid.dim,
    };
    if axis < grid.dim {
        return Ok(sides::faces(grid, axis, name.ends_with('+')));
    }
    let mut known: Vec<&str> = ["x-", "x+", "y-", "y+", "z-", "z+"][..2 * grid.dim].to_vec();
    known.extend(grid.named.sets().filter(|set| set.kind == EntityKind::Face).map(|set| &set.name[..]));
    Err(bad(format!("there is no side `{name}`")).hint(format!("the sides are {}", known.join(", "))))
}

/// The grid whose boundary faces are joined with their partners.
fn joined(grid: Grid, partners: &BTreeMap<u32, u32>) -> Result<Grid, Error> {
    let joined_shape = grid.cartesian_shape().and_then(|shape| joined_shape(*shape, partners));
    let faces = JoinedFaces::new(grid.n_faces, kept_first(&grid.topology().face_cells, partners));
    let nodes = nodes_of_arrays(&grid)?.map(|nodes| faces.nodes(nodes, grid.geometry())).transpose()?;
    let (topology, geometry) = (faces.topology(grid.topology()), faces.geometry(grid.topology(), grid.geometry()));
    let named = faces.named(&grid.named)?;
    let (threads, notes) = (grid.threads.clone(), grid.notes.clone());
    let mut joined = Grid::unstructured(grid.dim, topology, geometry)?;
    if let Some(nodes) = nodes {
        joined = joined.with_nodes(nodes)?;
    }
    joined.set_threads(threads);
    joined.notes = notes;
    (joined.has_joined_sides, joined.shape.joined) = (true, joined_shape);
    joined.with_named(named)
}

/// Pairs with the face that stays first: that of the first cell, where its normal points out of
/// it already, else that of the cell with the lower number.
fn kept_first(face_cells: &[[u32; 2]], partners: &BTreeMap<u32, u32>) -> Vec<[u32; 2]> {
    let once = partners.iter().filter(|(face, other)| face < other);
    once.map(|(&face, &other)| {
        let rank = |face: u32| match face_cells[face as usize] {
            [NONE, cell] => (1, cell),
            [cell, _] => (0, cell),
        };
        if rank(face) <= rank(other) { [face, other] } else { [other, face] }
    })
    .collect()
}

/// Nodes and the nodes of faces, also of a grid made of a shape; `None` if there are none.
fn nodes_of_arrays(grid: &Grid) -> Result<Option<Nodes>, Error> {
    if !grid.has_shape() {
        return Ok(grid.nodes().cloned());
    }
    let mut nodes = Nodes { positions: grid.corner_positions()?, face_node_pos: vec![0], ..Nodes::default() };
    match grid.corners(EntityKind::Face)? {
        None => {
            nodes.face_nodes = (0..grid.n_faces as u32).collect();
            nodes.face_node_pos.extend(1..=grid.n_faces);
        }
        Some(corners) => {
            for face in 0..corners.len() {
                nodes.face_nodes.extend_from_slice(corners.of(face));
                nodes.face_node_pos.push(nodes.face_nodes.len());
            }
        }
    }
    Ok(Some(nodes))
}

/// The shape of a Cartesian grid whose faces are joined, if they are whole sides, each with the
/// opposite one.
fn joined_shape(mut shape: Cartesian, partners: &BTreeMap<u32, u32>) -> Option<Cartesian> {
    let open = shape;
    let mut faces = 0;
    for axis in 0..open.dim {
        let across = (open.n[axis] - 1) * open.stride(axis);
        let mut ends = (0..open.n_cells())
            .filter(|&cell| open.cell_ijk(cell)[axis] == 0)
            .map(|cell| [open.cell_face(cell, axis, false) as u32, open.cell_face(cell + across, axis, true) as u32]);
        if ends.all(|[low, high]| partners.get(&low) == Some(&high)) {
            shape.joined[axis] = true;
            faces += 2 * open.n_cells() / open.n[axis];
        }
    }
    (faces == partners.len()).then_some(shape)
}

/// Faces of a grid before and after sides are joined.
struct JoinedFaces {
    /// Those that stay, by their old numbers, ascending.
    stay: Vec<u32>,
    /// New number of each face, of a joined one that of its partner. `[n_faces]`
    number: Vec<u32>,
    /// Joined ones: the face that stays, and that which does not.
    pairs: Vec<[u32; 2]>,
}

impl JoinedFaces {
    fn new(n_faces: usize, pairs: Vec<[u32; 2]>) -> JoinedFaces {
        let mut is_gone = vec![false; n_faces];
        pairs.iter().for_each(|&[_, gone]| is_gone[gone as usize] = true);
        let mut number = vec![NONE; n_faces];
        let stay: Vec<u32> = (0..n_faces as u32).filter(|&face| !is_gone[face as usize]).collect();
        stay.iter().zip(0..).for_each(|(&face, new)| number[face as usize] = new);
        pairs.iter().for_each(|&[kept, gone]| number[gone as usize] = number[kept as usize]);
        JoinedFaces { stay, number, pairs }
    }

    fn new_number(&self, face: u32) -> u32 {
        self.number[face as usize]
    }

    /// The values of the faces that stay; nothing of an array that is not there.
    fn kept<T: Copy>(&self, values: &[T]) -> Vec<T> {
        if values.is_empty() { Vec::new() } else { self.stay.iter().map(|&face| values[face as usize]).collect() }
    }

    fn topology(&self, old: &Topology) -> Topology {
        let mut face_cells = self.kept(&old.face_cells);
        for &[kept, gone] in &self.pairs {
            let cell = |face: u32| old.face_cells[face as usize].into_iter().find(|&cell| cell != NONE).unwrap_or(NONE);
            face_cells[self.new_number(kept) as usize] = [cell(kept), cell(gone)];
        }
        // Faces of a cell keep their order, so that all cells of a uniform grid add theirs alike.
        let cell_faces = old.cell_faces.iter().map(|&face| self.new_number(face)).collect();
        Topology { cell_face_pos: old.cell_face_pos.clone(), cell_faces, face_cells }
    }

    fn geometry(&self, topology: &Topology, old: &Geometry) -> Geometry {
        let mut face_normals = self.kept(&old.face_normals);
        let mut face_gaps = match old.face_gaps.is_empty() {
            true => vec![[0.0; 3]; self.stay.len()],
            false => self.kept(&old.face_gaps),
        };
        for &[face, gone] in &self.pairs {
            let new = self.new_number(face) as usize;
            face_gaps[new] = minus(old.face_centroids[face as usize], old.face_centroids[gone as usize]);
            // The cell behind the face becomes its first one.
            if topology.face_cells[face as usize][0] == NONE {
                face_normals[new] = face_normals[new].map(|x| -x);
            }
        }
        Geometry {
            cell_volumes: old.cell_volumes.clone(),
            cell_centroids: old.cell_centroids.clone(),
            face_areas: self.kept(&old.face_areas),
            face_centroids: self.kept(&old.face_centroids),
            face_normals,
            face_gaps,
            face_transmissibilities: self.kept(&old.face_transmissibilities),
            faces_without_geometry: old.faces_without_geometry.iter().map(|&face| self.new_number(face)).collect(),
        }
    }

    /// Nodes of the faces that stay; of joined ones those of both sides, in one order.
    fn nodes(&self, old: Nodes, geometry: &Geometry) -> Result<Nodes, Error> {
        let mut second_sides: BTreeMap<u32, Vec<u32>> =
            old.second_sides.iter().map(|(&face, nodes)| (self.new_number(face), nodes.clone())).collect();
        for &[kept, gone] in &self.pairs {
            let gap = minus(geometry.face_centroids[kept as usize], geometry.face_centroids[gone as usize]);
            second_sides.insert(self.new_number(kept), opposite_nodes(&old, [kept, gone], gap)?);
        }
        let mut face_nodes = Vec::with_capacity(old.face_nodes.len());
        let mut face_node_pos = vec![0];
        for &face in &self.stay {
            face_nodes.extend_from_slice(old.face_nodes(face as usize));
            face_node_pos.push(face_nodes.len());
        }
        Ok(Nodes { positions: old.positions, face_node_pos, face_nodes, second_sides })
    }

    fn named(&self, old: &Named) -> Result<Named, Error> {
        let mut named = Named::default();
        for set in old.sets() {
            let mut set: NamedSet = set.clone();
            if set.kind == EntityKind::Face {
                set.members.iter_mut().for_each(|face| *face = self.new_number(*face));
                set.members.sort_unstable();
                set.members.dedup();
            }
            named.add_set(set)?;
        }
        for array in old.arrays() {
            let mut array: NamedArray = array.clone();
            if array.kind == EntityKind::Face {
                array.values = self.kept(&array.values);
            }
            named.add_array(array)?;
        }
        Ok(named)
    }
}

/// For each node of a face the one of its partner that it meets when that is moved.
fn opposite_nodes(nodes: &Nodes, [kept, gone]: [u32; 2], gap: [f64; 3]) -> Result<Vec<u32>, Error> {
    let (own, others) = (nodes.face_nodes(kept as usize), nodes.face_nodes(gone as usize));
    let at = |node: u32| nodes.positions[node as usize];
    let moved = |node: u32| std::array::from_fn(|axis| at(node)[axis] + gap[axis]);
    let size = own.iter().map(|&node| length(minus(at(node), at(own[0])))).fold(0.0, f64::max);
    let tolerance = if own.len() == 1 { f64::INFINITY } else { TOLERANCE * size };
    let mut opposite = Vec::with_capacity(own.len());
    for &node in own {
        let off = |other: u32| length(minus(moved(other), at(node)));
        match others.iter().copied().min_by(|&a, &b| off(a).total_cmp(&off(b))) {
            Some(other) if off(other) <= tolerance && own.len() == others.len() => opposite.push(other),
            Some(_) | None => return Err(bad(format!("faces {kept} and {gone} have corners that do not meet"))),
        }
    }
    Ok(opposite)
}
