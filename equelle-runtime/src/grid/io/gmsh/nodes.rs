//! `$Nodes`: numbers and positions.

use super::reader::{Reader, Version};
use crate::error::Error;
use crate::grid::MAX_ENTITIES;

/// Nodes in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) positions: Vec<[f64; 3]>,
    pub(super) tags: Vec<u64>,
    /// Offset of each node in the file.
    pub(super) places: Vec<usize>,
    index: Index,
}

/// From the tag of a node to its number.
#[derive(Debug)]
enum Index {
    /// Number by tag; `u32::MAX` for no node.
    Table(Vec<u32>),
    /// Tags that are far apart, ascending.
    Sorted(Vec<(u64, u32)>),
}

impl Default for Index {
    fn default() -> Self {
        Index::Table(Vec::new())
    }
}

impl Nodes {
    /// The number of a node, from 0.
    #[inline]
    pub(super) fn find(&self, tag: u64) -> Option<u32> {
        match &self.index {
            Index::Table(numbers) => {
                usize::try_from(tag).ok().and_then(|tag| numbers.get(tag)).copied().filter(|&number| number != u32::MAX)
            }
            Index::Sorted(numbers) => numbers.binary_search_by_key(&tag, |&(tag, _)| tag).ok().map(|at| numbers[at].1),
        }
    }

    /// Makes the index; the second of two nodes with a tag, if there are such.
    fn make_index(&mut self) -> Option<usize> {
        let most = self.tags.iter().copied().max().unwrap_or(0);
        if most <= 4 * self.tags.len() as u64 + 64 {
            let mut numbers = vec![u32::MAX; most as usize + 1];
            for (number, &tag) in self.tags.iter().enumerate() {
                if std::mem::replace(&mut numbers[tag as usize], number as u32) != u32::MAX {
                    return Some(number);
                }
            }
            self.index = Index::Table(numbers);
            return None;
        }
        let mut numbers: Vec<(u64, u32)> = self.tags.iter().zip(0..).map(|(&tag, number)| (tag, number)).collect();
        numbers.sort_unstable();
        let twice = numbers.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1 as usize);
        self.index = Index::Sorted(numbers);
        twice
    }
}

/// Reads the section up to its end.
pub(super) fn read(reader: &mut Reader<'_>, version: Version) -> Result<Nodes, Error> {
    let mut nodes = Nodes::default();
    match version {
        Version::V22 => read_22(reader, &mut nodes)?,
        Version::V41 => read_41(reader, &mut nodes)?,
    }
    if nodes.tags.len() > MAX_ENTITIES {
        return Err(reader.error(&format!("expected at most {MAX_ENTITIES} nodes, found {}", nodes.tags.len())));
    }
    match nodes.make_index() {
        None => Ok(nodes),
        Some(number) => Err(reader.error_at(nodes.places[number], &format!("node {} is there twice", nodes.tags[number]))),
    }
}

fn position(reader: &mut Reader<'_>) -> Result<[f64; 3], Error> {
    Ok([reader.real("x of a node")?, reader.real("y of a node")?, reader.real("z of a node")?])
}

fn read_22(reader: &mut Reader<'_>, nodes: &mut Nodes) -> Result<(), Error> {
    let count = reader.count_in_text("the number of nodes")?;
    let count = reader.checked(count, "nodes", [1, 0, 3])?;
    nodes.positions.reserve_exact(count);
    nodes.tags.reserve_exact(count);
    nodes.places.reserve_exact(count);
    for _ in 0..count {
        nodes.places.push(reader.next_item());
        let tag = reader.int("the number of a node")?;
        let tag =
            u64::try_from(tag).map_err(|_| reader.error(&format!("expected the number of a node, found {tag}, which is negative")))?;
        nodes.tags.push(tag);
        nodes.positions.push(position(reader)?);
    }
    Ok(())
}

fn read_41(reader: &mut Reader<'_>, nodes: &mut Nodes) -> Result<(), Error> {
    let n_blocks = reader.size("the number of blocks of nodes")?;
    let total = reader.size("the number of nodes")?;
    reader.size("the least tag of a node")?;
    reader.size("the largest tag of a node")?;
    let total = reader.checked(total, "nodes", [0, 1, 3])?;
    let n_blocks = reader.checked(n_blocks, "blocks of nodes", [3, 1, 0])?;
    nodes.positions.reserve_exact(total);
    nodes.tags.reserve_exact(total);
    nodes.places.reserve_exact(total);
    for _ in 0..n_blocks {
        let dim = reader.int("the dimension of an entity")?;
        if !(0..=3).contains(&dim) {
            return Err(reader.error(&format!("expected the dimension of an entity, 0 to 3, found {dim}")));
        }
        reader.int("the tag of an entity")?;
        let n_parameters = match reader.int("whether there are parametric coordinates")? {
            0 => 0,
            1 => dim as usize,
            other => return Err(reader.error(&format!("expected 0 or 1, whether there are parametric coordinates, found {other}"))),
        };
        let count = reader.size("the number of nodes of a block")?;
        let count = reader.checked(count, "nodes of a block", [0, 1, 3 + n_parameters])?;
        for _ in 0..count {
            nodes.places.push(reader.next_item());
            nodes.tags.push(reader.size("the tag of a node")?);
        }
        for _ in 0..count {
            nodes.positions.push(position(reader)?);
            for _ in 0..n_parameters {
                reader.skip_real("a parametric coordinate of a node")?;
            }
        }
    }
    if nodes.tags.len() == total {
        return Ok(());
    }
    Err(reader.error(&format!("expected {total} nodes in all blocks, found {}", nodes.tags.len())))
}
