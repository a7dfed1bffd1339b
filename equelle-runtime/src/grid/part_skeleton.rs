//! Edges and vertices of a part of a grid. They are made when they are first asked for, as those of
//! a whole grid.
//!
//! The owner of an edge or vertex is that of its first cell in the file, and its layer the least
//! one of its cells here. What has no cell is of rank 0.

use super::arrays::Edges;
use super::box_entities::BoxEntities;
use super::numbering::{Numbers, Permutation};
use super::part_owners::{KindPart, NumberedPart, SkeletonPart, SkeletonTables};
use super::{BoxLocation, Cartesian, CartesianEdge, Grid};
use crate::entity::EntityKind;
use crate::rank_id::RankId;

/// Edges and vertices of a part that is arrays, of `cells` of the whole grid in layers.
pub(super) fn array_skeleton(whole: &Grid, owners: &[RankId], rank: RankId, cells: &[u32], layers: &[u8]) -> SkeletonPart {
    let Some(whole) = WholeSkeleton::new(whole) else { return SkeletonPart::default() };
    let dim = whole.grid.dim();
    let numbered = |kind: EntityKind, n: usize| {
        let mut least = vec![u8::MAX; n];
        for (&cell, &layer) in cells.iter().zip(layers) {
            whole.visit_cell(kind, cell, &mut |entity| least[entity as usize] = least[entity as usize].min(layer));
        }
        let mut first: Vec<Option<RankId>> = vec![None; n];
        for (cell, &owner) in owners.iter().enumerate() {
            whole.visit_cell(kind, cell as u32, &mut |entity| {
                first[entity as usize].get_or_insert(owner);
            });
        }
        let is_here = |entity: usize| least[entity] < u8::MAX || (first[entity].is_none() && rank == RankId(0));
        let layer = |entity: u32| if first[entity as usize].is_none() { 0 } else { least[entity as usize] };
        let mut here: Vec<u32> = (0..n).filter(|&entity| is_here(entity)).map(|entity| entity as u32).collect();
        here.sort_by_key(|&entity| layer(entity));
        let layers: Vec<u8> = here.iter().map(|&entity| layer(entity)).collect();
        let owners = here.iter().map(|&entity| first[entity as usize].unwrap_or(RankId(0))).collect();
        let numbers = Numbers::Table(Permutation::from_part(here, &layers));
        NumberedPart { part: KindPart::Table { owners, layers, whole: n }, numbers }
    };
    let vertices = (dim >= 2).then(|| numbered(EntityKind::Vertex, whole.positions.len()));
    let edges = (dim == 3).then(|| numbered(EntityKind::Edge, whole.edges.lengths.len()));
    let gather = |numbered: &Option<NumberedPart>| {
        let table = numbered.as_ref().and_then(|numbered| numbered.numbers.table());
        table.map_or_else(Vec::new, |table| table.to_file.clone())
    };
    let (of_vertices, of_edges) = (gather(&vertices), gather(&edges));
    let tables = SkeletonTables {
        edges: Edges {
            lengths: of_edges.iter().map(|&edge| whole.edges.lengths[edge as usize]).collect(),
            centroids: of_edges.iter().map(|&edge| whole.edges.centroids[edge as usize]).collect(),
            on_boundary: of_edges.iter().map(|&edge| whole.is_boundary_edge(edge)).collect(),
        },
        positions: of_vertices.iter().map(|&vertex| whole.positions[vertex as usize]).collect(),
        on_boundary: of_vertices.iter().map(|&vertex| whole.is_boundary_vertex(vertex)).collect(),
    };
    SkeletonPart { edges, vertices, tables: Some(tables) }
}

/// Edges and vertices of a whole grid, by cell.
struct WholeSkeleton<'g> {
    grid: &'g Grid,
    positions: &'g [[f64; 3]],
    edges: &'g Edges,
    /// Edges by their nodes, of a grid without a shape.
    pairs: Vec<u64>,
    /// True for vertices of boundary faces, of a grid without a shape. `[n_vertices]`
    boundary_vertices: Vec<bool>,
}

impl<'g> WholeSkeleton<'g> {
    /// `None` for a grid without nodes.
    fn new(grid: &'g Grid) -> Option<WholeSkeleton<'g>> {
        static NO_EDGES: Edges = Edges { lengths: Vec::new(), centroids: Vec::new(), on_boundary: Vec::new() };
        grid.n_entities(EntityKind::Vertex).ok()?;
        let edges = if grid.dim() == 3 { grid.own_edges().ok()? } else { &NO_EDGES };
        let pairs = match (grid.shape(), grid.nodes()) {
            (None, Some(nodes)) if grid.dim() == 3 => nodes.edge_pairs(),
            (Some(_) | None, _) => Vec::new(),
        };
        Some(WholeSkeleton { grid, positions: grid.vertex_positions(), edges, pairs, boundary_vertices: grid.boundary_vertices() })
    }

    fn is_boundary_edge(&self, edge: u32) -> bool {
        match self.grid.shape() {
            Some(shape) => shape.is_boundary_edge(edge as usize),
            None => self.edges.on_boundary[edge as usize],
        }
    }

    fn is_boundary_vertex(&self, vertex: u32) -> bool {
        match self.grid.shape() {
            Some(shape) => shape.is_boundary_vertex(vertex as usize),
            None => self.boundary_vertices[vertex as usize],
        }
    }

    /// Calls a function for the edges or vertices of a cell, for some of them more than once.
    fn visit_cell(&self, kind: EntityKind, cell: u32, found: &mut dyn FnMut(u32)) {
        if let Some(shape) = self.grid.shape() {
            let ijk = shape.cell_ijk(cell as usize);
            return match kind {
                EntityKind::Vertex => corners_of(shape, ijk, None, |ijk| found(shape.vertex(ijk) as u32)),
                EntityKind::Edge => {
                    (0..3).for_each(|axis| corners_of(shape, ijk, Some(axis), |ijk| found(shape.edge(CartesianEdge { axis, ijk }) as u32)));
                }
                EntityKind::Cell | EntityKind::Face => {}
            };
        }
        let Some(nodes) = self.grid.nodes() else { return };
        for &face in self.grid.topology().faces_of(cell as usize) {
            let around = nodes.seen_from(self.grid.topology(), cell as usize, face as usize);
            match kind {
                EntityKind::Vertex => around.iter().for_each(|&node| found(node)),
                EntityKind::Edge => {
                    for (&a, &b) in around.iter().zip(around.iter().cycle().skip(1)).filter(|(a, b)| a != b) {
                        if let Ok(edge) = self.pairs.binary_search(&(u64::from(a.min(b)) << 32 | u64::from(a.max(b)))) {
                            found(edge as u32);
                        }
                    }
                }
                EntityKind::Cell | EntityKind::Face => {}
            }
        }
    }
}

/// Positions of the nodes of a cell; of an edge along an axis those of its ends across it, with the
/// cell along it.
fn corners_of(shape: &Cartesian, ijk: [usize; 3], along: Option<usize>, mut found: impl FnMut([usize; 3])) {
    let moves = |axis: usize| axis < shape.dim && Some(axis) != along;
    for corner in 0..8 {
        let by = |axis: usize| (corner >> axis) & 1;
        if (0..3).all(|axis| moves(axis) || by(axis) == 0) {
            found(std::array::from_fn(|axis| ijk[axis] + by(axis)));
        }
    }
}

/// Edges and vertices of a box of a Cartesian grid, which is cut along no axis that it goes around.
pub(super) fn box_skeleton(whole: &Cartesian, entities: &BoxEntities) -> SkeletonPart {
    let shape = entities.shape();
    let start = shape.place.map_or([0; 3], |BoxLocation { start, .. }| start);
    let in_whole = |ijk: [usize; 3]| -> [usize; 3] { std::array::from_fn(|axis| (ijk[axis] as i64 + start[axis]).max(0) as usize) };
    // Along an axis that it has a length along, an entity has one cell, else one on either side.
    let cells = |axis: usize, at: usize, along: Option<usize>, n: usize| -> (usize, usize) {
        if axis >= shape.dim || Some(axis) == along { (at, at) } else { (at.saturating_sub(1), at.min(n - 1)) }
    };
    let layer = |ijk: [usize; 3], along: Option<usize>| -> u8 {
        let of = |axis: usize| {
            let (low, high) = cells(axis, ijk[axis], along, shape.n[axis]);
            entities.place().layer_along(axis, low).min(entities.place().layer_along(axis, high))
        };
        u8::try_from((0..3).map(of).max().unwrap_or(0)).unwrap_or(u8::MAX)
    };
    let first_cell = |ijk: [usize; 3], along: Option<usize>| -> RankId {
        entities.owner_in_whole(std::array::from_fn(|axis| cells(axis, ijk[axis], along, whole.n[axis]).0))
    };
    let numbered = |n: usize, n_whole: usize, place: &dyn Fn(usize) -> ([usize; 3], Option<usize>, u32)| {
        let places: Vec<_> = (0..n).map(place).collect();
        let layers: Vec<u8> = places.iter().map(|&(ijk, along, _)| layer(ijk, along)).collect();
        let owners = places.iter().map(|&(ijk, along, _)| first_cell(in_whole(ijk), along)).collect();
        let numbers = places.iter().map(|&(.., number)| number).collect();
        let numbers = Numbers::Table(Permutation::from_part(numbers, &layers));
        NumberedPart { part: KindPart::Table { owners, layers, whole: n_whole }, numbers }
    };
    let vertices = (shape.dim >= 2).then(|| {
        numbered(shape.n_vertices(), whole.n_vertices(), &|vertex| {
            let ijk = shape.vertex_ijk(vertex);
            (ijk, None, whole.vertex(in_whole(ijk)) as u32)
        })
    });
    let edges = (shape.dim == 3).then(|| {
        numbered(shape.n_edges(), whole.n_edges(), &|edge| {
            let CartesianEdge { axis, ijk } = shape.edge_ijk(edge);
            (ijk, Some(axis), whole.edge(CartesianEdge { axis, ijk: in_whole(ijk) }) as u32)
        })
    });
    SkeletonPart { edges, vertices, tables: None }
}
