//! From nodes, elements and groups to a grid with named sets.

use std::collections::{BTreeMap, BTreeSet};

use super::super::plane;
use super::data::ElementData;
use super::elements::{AllElements, ElementType, Elements, Run};
use super::groups::Groups;
use super::nodes::Nodes;
use super::periodic::{self, Link};
use super::reader::{Reader, Version};
use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::builder::FacesByNodes;
use crate::grid::{BuildError, Grid, GridBuilder, JoinedSides, Named, NamedSet, Repairs};
use crate::threads::Threads;

/// Content of the sections of a file.
#[derive(Debug, Default)]
pub(super) struct Mesh<'a> {
    pub(super) sections: BTreeSet<&'a str>,
    pub(super) groups: Groups,
    pub(super) nodes: Nodes,
    pub(super) elements: AllElements,
    pub(super) data: Vec<ElementData>,
    /// Sides that are joined.
    pub(super) links: Vec<Link>,
    /// For the user: what was put right or left out.
    pub(super) notes: Vec<String>,
}

impl Mesh<'_> {
    /// The grid of the elements of the highest dimension.
    pub(super) fn grid(mut self, mut reader: Reader<'_>, version: Version, threads: &Threads) -> Result<Grid, Error> {
        for section in ["Nodes", "Elements"] {
            if !self.sections.contains(section) {
                return Err(reader.error_of_file(&format!("expected a section ${section}, found none")));
            }
        }
        let dim = self.elements.dim();
        if dim < 2 {
            return Err(reader.error_of_file("$Elements: expected cells of dimension 2 or 3, found none").hint(
                "generate the mesh before it is saved: `gmsh -2` or `gmsh -3`; with physical groups, only what belongs to one is saved",
            ));
        }
        self.check_entities(&reader, version)?;
        let mut positions = std::mem::take(&mut self.nodes.positions);
        if dim == 2 {
            plane::flatten(&mut positions, &self.elements.of_dim[dim].nodes).map_err(|node| self.not_plane(&mut reader, node))?;
        }
        let mut sets = Sets::default();
        for (of, group) in self.groups.named().filter(|(of, _)| *of == dim || of + 1 == dim) {
            sets.members.entry((of, group)).or_default();
        }
        let built = self.build(dim, positions, &mut sets, threads);
        let (grid, repairs) = built.map_err(|error| self.build_error(&mut reader, version, dim, &error))?;
        self.name_faces(&mut reader, version, dim, (&grid, &repairs), &mut sets)?;
        let notes = repairs.notes(|cell| self.cell_name(&reader, version, dim, cell), |node| format!("node {}", self.nodes.tags[node]));
        self.notes.extend(notes);
        let mut named =
            sets.named(dim, &self.groups).map_err(|error| reader.error_of_file(&format!("$PhysicalNames: {}", error.message)))?;
        let tag_of = |place: usize| reader.tag_at(version, place);
        for array in super::data::arrays(self.data, self.elements.of_dim[dim].places.iter().map(|&place| tag_of(place))) {
            named.add_array(array)?;
        }
        let sides = periodic::sides(&self.links, dim, &grid, (&self.nodes, &repairs));
        self.notes.extend(sides.iter().map(JoinedSides::note));
        let grid = grid.with_named(named)?.with_joined_sides(&sides);
        let grid = grid.map_err(|error| {
            let joined = reader.error_of_file(&format!("$Periodic: {}", error.message));
            joined.hint("with grid_periodic=none its sides are boundaries")
        })?;
        Ok(grid.with_notes(self.notes))
    }

    /// In version 4.1 entities have the groups: without them, named sets would be empty.
    fn check_entities(&self, reader: &Reader<'_>, version: Version) -> Result<(), Error> {
        match version {
            Version::V22 => Ok(()),
            Version::V41 if !self.sections.contains("Entities") => match self.groups.named().next() {
                None => Ok(()),
                Some(_) => Err(reader.error_of_file("expected a section $Entities, which $PhysicalNames needs, found none")),
            },
            Version::V41 => {
                let is_unknown = |run: &Run| !self.groups.has_entity(run.kind.dim(), run.entity);
                let unknown = self.elements.of_dim.iter().filter_map(|elements| elements.first_of(is_unknown));
                match unknown.min_by_key(|&(place, _)| place) {
                    None => Ok(()),
                    Some((place, run)) => {
                        let (dim, entity) = (run.kind.dim(), run.entity);
                        Err(reader.error_at(place, &format!("expected an entity of $Entities, found entity {entity} of dimension {dim}")))
                    }
                }
            }
        }
    }

    /// Groups of the elements of a run: their own, and those of their entity.
    fn groups_of(&self, run: Run) -> Vec<u32> {
        let mut groups = self.elements.groups(run.own);
        groups.extend(self.groups.entity_groups(run.kind.dim(), run.entity));
        groups
    }

    fn build(&mut self, dim: usize, positions: Vec<[f64; 3]>, sets: &mut Sets, threads: &Threads) -> Result<(Grid, Repairs), BuildError> {
        let mut builder = GridBuilder::new(dim, positions)?;
        let nodes = std::mem::take(&mut self.elements.of_dim[dim].nodes);
        let mut rest = &nodes[..];
        for &run in &self.elements.of_dim[dim].runs {
            let ElementType::Cell(shape) = run.kind else { continue };
            let (of_run, after) = rest.split_at(run.len as usize * shape.n_corners());
            rest = after;
            let first = builder.n_cells() as u32;
            builder.reserve(shape, run.len as usize);
            of_run.chunks_exact(shape.n_corners()).try_for_each(|corners| builder.add(shape, corners))?;
            for group in self.groups_of(run) {
                sets.add(dim, group, first..builder.n_cells() as u32);
            }
        }
        drop(nodes);
        let repairs = builder.repair(threads);
        Ok((builder.build(threads)?, repairs))
    }

    /// Elements of one dimension less than cells: each is a face.
    fn name_faces(
        &self,
        reader: &mut Reader<'_>,
        version: Version,
        dim: usize,
        (grid, repairs): (&Grid, &Repairs),
        sets: &mut Sets,
    ) -> Result<(), Error> {
        let Elements { runs, nodes: rest, places } = &self.elements.of_dim[dim - 1];
        let Some(nodes) = grid.nodes().filter(|_| !places.is_empty()) else { return Ok(()) };
        let faces = FacesByNodes::new(nodes);
        let (mut rest, mut places) = (&rest[..], places.iter());
        for &run in runs {
            let groups = self.groups_of(run);
            let (of_run, after) = rest.split_at(run.len as usize * run.kind.n_nodes());
            rest = after;
            for (corners, &place) in of_run.chunks_exact(run.kind.n_nodes()).zip(&mut places) {
                let corners: Option<Vec<u32>> = corners.iter().map(|&node| repairs.node(node)).collect();
                let Some(face) = corners.and_then(|corners| faces.find(&corners)) else {
                    reader.go_to(place, "Elements");
                    let name = element_name(reader, version, place);
                    let what = format!(
                        "expected elements of one dimension, found {name}, which has dimension {} and is no face of a cell",
                        dim - 1
                    );
                    return Err(reader
                        .error_at(place, &what)
                        .hint("a mesh of mixed dimension is no grid: mesh and save either surfaces or volumes, with their boundaries"));
                };
                groups.iter().for_each(|&group| sets.add(dim - 1, group, [face]));
            }
        }
        Ok(())
    }

    /// Cells are the elements of their dimension, in the same order.
    fn cell_name(&self, reader: &Reader<'_>, version: Version, dim: usize, cell: usize) -> String {
        let place = self.elements.of_dim[dim].places.get(cell);
        place.map_or_else(|| format!("cell {cell}"), |&place| element_name(reader, version, place))
    }

    fn build_error(&self, reader: &mut Reader<'_>, version: Version, dim: usize, error: &BuildError) -> Error {
        let place_of = |cell: usize| self.elements.of_dim[dim].places.get(cell).copied();
        let element = |cell: usize| self.cell_name(reader, version, dim, cell);
        let node = |node: usize| self.nodes.tags.get(node).map_or_else(|| format!("node {node}"), |tag| format!("node {tag}"));
        let what = error.describe(element, node);
        let (section, place) = match (error.cell().and_then(place_of), error.node().and_then(|node| self.nodes.places.get(node))) {
            (Some(place), _) => ("Elements", Some(place)),
            (None, Some(&place)) => ("Nodes", Some(place)),
            (None, None) => ("Elements", None),
        };
        let error_with_place = match place {
            Some(place) => {
                reader.go_to(place, section);
                reader.error_at(place, &what)
            }
            None => reader.error_of_file(&what),
        };
        match hint(error) {
            Some(hint) => error_with_place.hint(hint),
            None => error_with_place,
        }
    }

    fn not_plane(&self, reader: &mut Reader<'_>, node: usize) -> Error {
        let place = self.nodes.places[node];
        reader.go_to(place, "Nodes");
        reader.error_at(place, &plane::surface(&format!("node {}", self.nodes.tags[node]))).hint(plane::HINT)
    }
}

fn hint(error: &BuildError) -> Option<&'static str> {
    match error {
        BuildError::ThreeCells { .. } | BuildError::Overlap { .. } => {
            Some("surfaces or volumes of the geometry overlap: join them (BooleanFragments, Coherence), and mesh again")
        }
        BuildError::NoCells
        | BuildError::TooMany { .. }
        | BuildError::NotFinite { .. }
        | BuildError::NoSuchNode { .. }
        | BuildError::NodeTwice { .. }
        | BuildError::TooFewNodes { .. }
        | BuildError::UnusedNode { .. }
        | BuildError::Inverted { .. }
        | BuildError::Crossed { .. }
        | BuildError::NotClosed { .. }
        | BuildError::CellTwice { .. }
        | BuildError::FacesDiffer { .. }
        | BuildError::NoArea { .. }
        | BuildError::NoVolume { .. }
        | BuildError::Arrays(_) => None,
    }
}

fn element_name(reader: &Reader<'_>, version: Version, place: usize) -> String {
    reader.tag_at(version, place).map_or_else(|| "an element".to_string(), |tag| format!("element {tag}"))
}

/// Members of groups, by dimension and number.
#[derive(Debug, Default)]
struct Sets {
    members: BTreeMap<(usize, u32), Vec<u32>>,
}

impl Sets {
    fn add(&mut self, dim: usize, group: u32, entities: impl IntoIterator<Item = u32>) {
        self.members.entry((dim, group)).or_default().extend(entities);
    }

    fn named(self, dim: usize, groups: &Groups) -> Result<Named, Error> {
        let mut named = Named::default();
        for ((of, group), mut members) in self.members {
            members.sort_unstable();
            members.dedup();
            let kind = if of == dim { EntityKind::Cell } else { EntityKind::Face };
            named.add_set(NamedSet { name: groups.name(of, group), kind, members })?;
        }
        Ok(named)
    }
}
