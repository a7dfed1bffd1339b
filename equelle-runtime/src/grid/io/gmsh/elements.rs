//! `$Elements`: cells and the faces that are named, by their nodes.

use std::collections::BTreeMap;

use super::nodes::Nodes;
use super::reader::{Reader, Version};
use crate::error::Error;
use crate::grid::CellShape;

/// Elements of first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementType {
    Point,
    Line,
    Cell(CellShape),
}

impl ElementType {
    /// Returns the type for a number of the format; else what the number stands for.
    fn of(code: i32) -> Result<ElementType, String> {
        let name = match code {
            1 => return Ok(ElementType::Line),
            2 => return Ok(ElementType::Cell(CellShape::Triangle)),
            3 => return Ok(ElementType::Cell(CellShape::Quadrangle)),
            4 => return Ok(ElementType::Cell(CellShape::Tetrahedron)),
            5 => return Ok(ElementType::Cell(CellShape::Hexahedron)),
            6 => return Ok(ElementType::Cell(CellShape::Prism)),
            7 => return Ok(ElementType::Cell(CellShape::Pyramid)),
            15 => return Ok(ElementType::Point),
            8 => "a quadratic line",
            9 => "a quadratic triangle",
            10 | 16 => "a quadratic quadrangle",
            11 => "a quadratic tetrahedron",
            12 | 17 => "a quadratic hexahedron",
            13 | 18 => "a quadratic prism",
            14 | 19 => "a quadratic pyramid",
            20 | 21 => "a cubic triangle",
            22..=25 | 42..=46 | 52 => "a triangle of higher order",
            26 => "a cubic line",
            27 | 28 | 62..=66 => "a line of higher order",
            29 => "a cubic tetrahedron",
            30 | 31 | 32 | 33 | 71..=75 | 79..=83 => "a tetrahedron of higher order",
            34 => "a polygon",
            35 => "a polyhedron",
            36 | 39 => "a cubic quadrangle",
            37 | 38 | 40 | 41 | 47..=51 | 57..=61 => "a quadrangle of higher order",
            90 => "a cubic prism",
            91 | 106..=117 => "a prism of higher order",
            92 | 99 => "a cubic hexahedron",
            93..=98 | 100..=105 => "a hexahedron of higher order",
            118..=131 => "a pyramid of higher order",
            53..=56 | 67..=70 | 76..=78 | 84..=89 | 132..=140 => "an element of another kind",
            _ => return Err(format!("{code}, which is no type of element")),
        };
        Err(format!("{code}, {name}"))
    }

    pub(super) fn dim(self) -> usize {
        match self {
            ElementType::Point => 0,
            ElementType::Line => 1,
            ElementType::Cell(shape) => shape.dim(),
        }
    }

    pub(super) fn n_nodes(self) -> usize {
        match self {
            ElementType::Point => 1,
            ElementType::Line => 2,
            ElementType::Cell(shape) => shape.n_corners(),
        }
    }
}

/// Physical groups that an element names itself (version 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnGroups {
    None,
    One(u32),
    /// An index into the lists of groups.
    Several(u32),
}

/// Elements that follow each other, of one type, one entity and the same groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) kind: ElementType,
    /// Tag of the geometric entity.
    pub(super) entity: i32,
    pub(super) own: OwnGroups,
    pub(super) len: u32,
}

/// Elements of one dimension in the order of the file. They may alternate entities, so that what an
/// element takes must not depend on the length of runs.
#[derive(Debug, Default)]
pub(super) struct Elements {
    pub(super) runs: Vec<Run>,
    /// Numbers of nodes, one element after the other.
    pub(super) nodes: Vec<u32>,
    /// Offset of each element in the file. `[n_elements]`
    pub(super) places: Vec<usize>,
}

impl Elements {
    fn add(&mut self, kind: ElementType, entity: i32, own: OwnGroups, nodes: &[u32], place: usize) {
        self.nodes.extend_from_slice(nodes);
        self.places.push(place);
        match self.runs.last_mut() {
            Some(run) if (run.kind, run.entity, run.own) == (kind, entity, own) && run.len < u32::MAX => run.len += 1,
            Some(_) | None => self.runs.push(Run { kind, entity, own, len: 1 }),
        }
    }

    /// The first element of the runs for which a condition holds.
    pub(super) fn first_of(&self, holds: impl Fn(&Run) -> bool) -> Option<(usize, Run)> {
        let mut first = 0;
        self.runs.iter().find_map(|run| {
            let place = self.places[first];
            first += run.len as usize;
            holds(run).then_some((place, *run))
        })
    }
}

/// Elements by dimension, without points.
#[derive(Debug, Default)]
pub(super) struct AllElements {
    pub(super) of_dim: [Elements; 4],
    /// Groups of elements that are in several, ascending.
    lists: Vec<Vec<u32>>,
    known: BTreeMap<Vec<u32>, u32>,
}

impl AllElements {
    /// Dimension of the cells.
    pub(super) fn dim(&self) -> usize {
        self.of_dim.iter().rposition(|elements| !elements.places.is_empty()).unwrap_or(0)
    }

    /// Groups that the elements of a run name themselves.
    pub(super) fn groups(&self, own: OwnGroups) -> Vec<u32> {
        match own {
            OwnGroups::None => Vec::new(),
            OwnGroups::One(group) => vec![group],
            OwnGroups::Several(list) => self.lists[list as usize].clone(),
        }
    }

    fn own(&mut self, groups: &[u32]) -> OwnGroups {
        match groups {
            [] => OwnGroups::None,
            [group] => OwnGroups::One(*group),
            [..] => {
                let next = self.lists.len() as u32;
                let list = self.known.get(groups).copied().unwrap_or_else(|| {
                    self.known.insert(groups.to_vec(), next);
                    self.lists.push(groups.to_vec());
                    next
                });
                OwnGroups::Several(list)
            }
        }
    }
}

/// Reads the section up to its end.
pub(super) fn read(reader: &mut Reader<'_>, version: Version, nodes: &Nodes) -> Result<AllElements, Error> {
    match version {
        Version::V22 => read_22(reader, nodes),
        Version::V41 => read_41(reader, nodes),
    }
}

fn element_type(reader: &mut Reader<'_>) -> Result<ElementType, Error> {
    let code = reader.int("the type of an element")?;
    ElementType::of(code).map_err(|found| {
        let what = format!("expected an element of first order (types 1 to 7 and 15), found type {found}");
        reader.error(&what).hint("make the mesh of first order: `gmsh -order 1`, or Mesh.ElementOrder = 1")
    })
}

fn node(reader: &Reader<'_>, nodes: &Nodes, tag: u64, place: usize) -> Result<u32, Error> {
    nodes.find(tag).ok_or_else(|| reader.error_at(place, &format!("expected a node of $Nodes, found node {tag}, which is not there")))
}

fn read_41(reader: &mut Reader<'_>, nodes: &Nodes) -> Result<AllElements, Error> {
    let n_blocks = reader.size("the number of blocks of elements")?;
    let total = reader.size("the number of elements")?;
    reader.size("the least tag of an element")?;
    reader.size("the largest tag of an element")?;
    let n_blocks = reader.checked(n_blocks, "blocks of elements", [3, 1, 0])?;
    let total = reader.checked(total, "elements", [0, 2, 0])?;
    let mut elements = AllElements::default();
    let (mut found, mut corners) = (0_usize, Vec::new());
    for _ in 0..n_blocks {
        let start = reader.next_item();
        let dim = reader.int("the dimension of an entity")?;
        let entity = reader.int("the tag of an entity")?;
        let kind = element_type(reader)?;
        if usize::try_from(dim).ok() != Some(kind.dim()) {
            let what = format!("expected elements of dimension {dim}, that of their entity, found dimension {}", kind.dim());
            return Err(reader.error_at(start, &what));
        }
        let count = reader.size("the number of elements of a block")?;
        let count = reader.checked(count, "elements of a block", [0, 1 + kind.n_nodes(), 0])?;
        found += count;
        let of_dim = &mut elements.of_dim[kind.dim()];
        if kind != ElementType::Point {
            of_dim.places.reserve(count);
            of_dim.nodes.reserve(count * kind.n_nodes());
        }
        for _ in 0..count {
            let place = reader.next_item();
            reader.size("the tag of an element")?;
            corners.clear();
            for _ in 0..kind.n_nodes() {
                let tag = reader.size("a node of an element")?;
                corners.push(node(reader, nodes, tag, place)?);
            }
            if kind != ElementType::Point {
                of_dim.add(kind, entity, OwnGroups::None, &corners, place);
            }
        }
    }
    if found == total { Ok(elements) } else { Err(reader.error(&format!("expected {total} elements in all blocks, found {found}"))) }
}

/// An element of version 2.2, which is repeated for each further group that it belongs to.
#[derive(Default)]
struct Repeated {
    kind: Option<ElementType>,
    entity: i32,
    groups: Vec<u32>,
    nodes: Vec<u32>,
    place: usize,
}

impl Repeated {
    fn is_same(&self, kind: ElementType, tags: Tags, nodes: &[u32]) -> bool {
        let is_other_group = self.kind == Some(kind) && self.entity == tags.entity && !self.groups.contains(&tags.group);
        is_other_group && (self.nodes == nodes || kind.dim() <= 2 && is_reverse(&self.nodes, nodes))
    }

    fn add_to(&mut self, elements: &mut AllElements) {
        if let Some(kind) = self.kind.take().filter(|&kind| kind != ElementType::Point) {
            self.groups.sort_unstable();
            self.groups.retain(|&group| group != 0);
            let own = elements.own(&self.groups);
            elements.of_dim[kind.dim()].add(kind, self.entity, own, &self.nodes, self.place);
        }
    }
}

/// True if a polygon or line has the corners of another one the other way around, as Gmsh writes an
/// element for a group that has its entity with a minus.
fn is_reverse(a: &[u32], b: &[u32]) -> bool {
    let n = a.len();
    let start = b.iter().position(|&node| Some(&node) == a.first());
    n == b.len() && start.is_some_and(|start| (0..n).all(|i| a[i] == b[(start + n - i) % n]))
}

/// Tags of an element of version 2.2: its physical group, 0 for none, and its entity.
#[derive(Clone, Copy)]
struct Tags {
    group: u32,
    entity: i32,
}

fn read_tags(reader: &mut Reader<'_>, count: i32, place: usize) -> Result<Tags, Error> {
    let mut tags = Tags { group: 0, entity: 0 };
    for at in 0..count {
        let tag = reader.int("a tag of an element")?;
        match at {
            0 => tags.group = tag.unsigned_abs(),
            1 => tags.entity = tag,
            2 if tag > 0 => {
                let error = reader.error_at(place, "expected a mesh in one part, found an element of a partition");
                return Err(error.hint("save the mesh without partitions"));
            }
            _ => {}
        }
    }
    Ok(tags)
}

fn read_22(reader: &mut Reader<'_>, nodes: &Nodes) -> Result<AllElements, Error> {
    let total = reader.count_in_text("the number of elements")?;
    let mut left = reader.checked(total, "elements", [3, 0, 0])?;
    let mut elements = AllElements::default();
    let (mut last, mut corners) = (Repeated::default(), Vec::new());
    while left > 0 {
        let mut place = reader.next_item();
        // In a text, each element has the head that in a binary file many share.
        if reader.is_text() {
            reader.int("the number of an element")?;
        }
        let kind = element_type(reader)?;
        let count = if reader.is_text() { 1 } else { reader.int("the number of elements of a block")? };
        let n_tags = reader.int("the number of tags")?;
        let count = usize::try_from(count).ok().filter(|count| (1..=left).contains(count));
        let (Some(count), true) = (count, n_tags >= 0) else {
            return Err(
                reader.error_at(place, &format!("expected a block of 1 to {left} elements with 0 or more tags, found another number"))
            );
        };
        reader.checked(count as u64, "elements", [n_tags as usize + kind.n_nodes() + usize::from(!reader.is_text()), 0, 0])?;
        for _ in 0..count {
            if !reader.is_text() {
                place = reader.next_item();
                reader.int("the number of an element")?;
            }
            let tags = read_tags(reader, n_tags, place)?;
            corners.clear();
            for _ in 0..kind.n_nodes() {
                let tag = reader.int("a node of an element")?;
                corners.push(node(reader, nodes, tag as u64, place)?);
            }
            if last.is_same(kind, tags, &corners) {
                last.groups.push(tags.group);
            } else {
                last.add_to(&mut elements);
                (last.kind, last.entity, last.place) = (Some(kind), tags.entity, place);
                last.groups.clear();
                last.groups.push(tags.group);
                std::mem::swap(&mut last.nodes, &mut corners);
            }
        }
        left -= count;
    }
    last.add_to(&mut elements);
    Ok(elements)
}
