//! The two half-faces of each face.
//!
//! Half-faces are sorted by their nodes: a counting sort by the smallest node, then the few that
//! share it by the others. Those of a face are then behind one another.

use std::sync::atomic::{AtomicU32, Ordering};

use super::cells::Cells;
use super::error::BuildError;
use super::measure::volume_of;
use crate::grid::NONE;
use crate::threads::{Entries, Threads};

/// A half-face, and its nodes in ascending order after the smallest, as far as they fit; [`NONE`]
/// where there are less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    nodes: [u32; 3],
    half_face: u32,
}

/// The other half-face of each; [`NONE`] on the boundary. `[n_half_faces]`
pub(super) fn partners(cells: &Cells, dim: usize, threads: &Threads) -> Result<Vec<u32>, BuildError> {
    let (starts, mut entries) = by_smallest_node(cells);
    let partners: Vec<AtomicU32> = std::iter::repeat_with(|| AtomicU32::new(NONE)).take(cells.n_half_faces()).collect();
    let n_nodes = cells.positions.len();
    let found = threads.try_each(n_nodes, Entries::new(&starts, &mut entries[..]), |mut range, mut entries| {
        range.try_for_each(|node| {
            let mut fits = true;
            for_each_face(cells, entries.row(node), |face| match *face {
                [_] => {}
                [a, b] if is_pair(cells, dim, a.half_face, b.half_face) => {
                    partners[a.half_face as usize].store(b.half_face, Ordering::Relaxed);
                    partners[b.half_face as usize].store(a.half_face, Ordering::Relaxed);
                }
                [..] => fits = false,
            });
            if fits { Ok(()) } else { Err(node) }
        })
    });
    if let Err(node) = found {
        return Err(error_at(cells, dim, &mut entries[starts[node]..starts[node + 1]]));
    }
    Ok(partners.into_iter().map(AtomicU32::into_inner).collect())
}

/// Half-faces in the order of their smallest nodes; and where those of each node begin.
fn by_smallest_node(cells: &Cells) -> (Vec<usize>, Vec<Entry>) {
    let mut starts = vec![0; cells.positions.len() + 1];
    let smallest = |half_face: usize| cells.nodes_of(half_face).iter().copied().min().unwrap_or(0) as usize;
    (0..cells.n_half_faces()).for_each(|half_face| starts[smallest(half_face) + 1] += 1);
    for node in 1..starts.len() {
        starts[node] += starts[node - 1];
    }
    let mut entries = vec![Entry::default(); cells.n_half_faces()];
    for half_face in 0..cells.n_half_faces() {
        let (node, nodes) = key(cells.nodes_of(half_face));
        // Each start becomes the end, which is the next start.
        let place = &mut starts[node as usize];
        entries[*place] = Entry { nodes, half_face: half_face as u32 };
        *place += 1;
    }
    starts.rotate_right(1);
    starts[0] = 0;
    (starts, entries)
}

/// The smallest node, and the three that follow in size.
pub(super) fn key(nodes: &[u32]) -> (u32, [u32; 3]) {
    let mut least = [NONE; 4];
    for &node in nodes {
        let mut node = node;
        for place in &mut least {
            if node < *place {
                std::mem::swap(place, &mut node);
            }
        }
    }
    (least[0], [least[1], least[2], least[3]])
}

/// Sorts the half-faces of one smallest node, and calls `then` for those of each face.
fn for_each_face(cells: &Cells, entries: &mut [Entry], mut then: impl FnMut(&[Entry])) {
    entries.sort_unstable();
    // Four nodes are all of most faces; equal ones of larger faces are rare, and told apart by all.
    let sorted = |entry: &Entry| {
        let mut nodes = cells.nodes_of(entry.half_face as usize).to_vec();
        nodes.sort_unstable();
        nodes
    };
    for same in entries.chunk_by_mut(|a, b| a.nodes == b.nodes) {
        let is_large = |entry: &Entry| cells.nodes_of(entry.half_face as usize).len() > 4;
        if same.len() > 1 && same.iter().any(is_large) {
            same.sort_by_cached_key(|entry| (sorted(entry), entry.half_face));
            same.chunk_by(|a, b| sorted(a) == sorted(b)).for_each(&mut then);
        } else {
            then(same);
        }
    }
}

/// Relative orientation of two half-faces with the same nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Against,
    Same,
    OtherOrder,
}

fn turn(dim: usize, a: &[u32], b: &[u32]) -> Turn {
    if dim == 2 {
        return if a[0] == b[1] { Turn::Against } else { Turn::Same };
    }
    let n = a.len();
    let Some(start) = b.iter().position(|&node| node == a[0]) else { return Turn::OtherOrder };
    let is_equal = |forwards: bool| (0..n).all(|i| a[i] == b[if forwards { (start + i) % n } else { (start + n - i) % n }]);
    if is_equal(false) {
        Turn::Against
    } else if is_equal(true) {
        Turn::Same
    } else {
        Turn::OtherOrder
    }
}

/// Two half-faces of different cells, seen from opposite sides.
fn is_pair(cells: &Cells, dim: usize, a: u32, b: u32) -> bool {
    let (a, b) = (a as usize, b as usize);
    turn(dim, cells.nodes_of(a), cells.nodes_of(b)) == Turn::Against && cells.cell_of(a) != cells.cell_of(b)
}

/// Finds the error among the half-faces of one smallest node.
fn error_at(cells: &Cells, dim: usize, entries: &mut [Entry]) -> BuildError {
    let mut found = None;
    for_each_face(cells, entries, |face| {
        if found.is_none() {
            found = match *face {
                [_] => None,
                [a, b] => error_of_two(cells, dim, [a.half_face as usize, b.half_face as usize]),
                [..] => Some(error_of_many(cells, face)),
            };
        }
    });
    found.unwrap_or(BuildError::NoCells)
}

fn error_of_two(cells: &Cells, dim: usize, half_faces: [usize; 2]) -> Option<BuildError> {
    let both = half_faces.map(|half_face| cells.cell_of(half_face));
    let turn = turn(dim, cells.nodes_of(half_faces[0]), cells.nodes_of(half_faces[1]));
    if both[0] == both[1] {
        return Some(BuildError::NotClosed { cell: both[0] });
    }
    if turn == Turn::Against {
        return None;
    }
    if cells.corners_of(both[0]) == cells.corners_of(both[1]) {
        return Some(BuildError::CellTwice { cells: both });
    }
    if turn == Turn::OtherOrder {
        return Some(BuildError::FacesDiffer { cells: both });
    }
    let inverted = both.into_iter().find_map(|cell| {
        let volume = volume_of(cells, cell, dim);
        (volume < 0.0).then_some(BuildError::Inverted { cell, volume })
    });
    Some(inverted.unwrap_or(BuildError::Overlap { cells: both }))
}

fn error_of_many(cells: &Cells, face: &[Entry]) -> BuildError {
    let of = |at: usize| cells.cell_of(face[at].half_face as usize);
    let corners: Vec<Vec<u32>> = (0..face.len()).map(|at| cells.corners_of(of(at))).collect();
    for second in 1..face.len() {
        if let Some(first) = (0..second).find(|&first| of(first) != of(second) && corners[first] == corners[second]) {
            return BuildError::CellTwice { cells: [of(first), of(second)] };
        }
    }
    if let Some(at) = (1..face.len()).find(|&at| of(at - 1) == of(at)) {
        return BuildError::NotClosed { cell: of(at) };
    }
    BuildError::ThreeCells { cells: [of(0), of(1), of(2)] }
}
