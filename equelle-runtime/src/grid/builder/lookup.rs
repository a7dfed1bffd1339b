//! Faces by their nodes.

use super::matching::key;
use crate::grid::Nodes;

/// Finds faces, of which each is listed with its smallest node, sorted by the others.
pub(crate) struct FacesByNodes<'a> {
    nodes: &'a Nodes,
    /// Start of the faces of each smallest node. `[n_nodes + 1]`
    starts: Vec<u32>,
    faces: Vec<u32>,
}

impl<'a> FacesByNodes<'a> {
    /// Indexes all faces of a grid. Takes 4 bytes for each face and each node.
    pub(crate) fn new(nodes: &'a Nodes) -> FacesByNodes<'a> {
        let n_faces = nodes.face_node_pos.len().saturating_sub(1);
        let smallest = |face: usize| nodes.face_nodes(face).iter().copied().min().unwrap_or(0) as usize;
        let mut starts = vec![0_u32; nodes.positions.len() + 1];
        (0..n_faces).for_each(|face| starts[smallest(face) + 1] += 1);
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut faces = vec![0; n_faces];
        for face in 0..n_faces {
            let place = &mut starts[smallest(face)];
            faces[*place as usize] = face as u32;
            *place += 1;
        }
        starts.rotate_right(1);
        starts[0] = 0;
        // Sorted, as one node may have most of the faces: that in the middle of a fan.
        for ends in starts.windows(2) {
            faces[ends[0] as usize..ends[1] as usize].sort_unstable_by_key(|&face| (key(nodes.face_nodes(face as usize)).1, face));
        }
        FacesByNodes { nodes, starts, faces }
    }

    /// The face that has these nodes and no others, in whatever order.
    pub(crate) fn find(&self, nodes: &[u32]) -> Option<u32> {
        let wanted = key(nodes);
        let node = wanted.0 as usize;
        let of_node = *self.starts.get(node)? as usize..*self.starts.get(node + 1)? as usize;
        let of_node = &self.faces[of_node];
        let key_of = |face: u32| key(self.nodes.face_nodes(face as usize)).1;
        let first = of_node.partition_point(|&face| key_of(face) < wanted.1);
        let same = of_node[first..].iter().take_while(|&&face| key_of(face) == wanted.1);
        // Four nodes are all of most faces; those of larger ones are told apart by all.
        let has_all = |of_face: &[u32]| nodes.len() <= 4 || sorted(of_face) == sorted(nodes);
        same.copied().find(|&face| {
            let of_face = self.nodes.face_nodes(face as usize);
            of_face.len() == nodes.len() && has_all(of_face)
        })
    }
}

fn sorted(nodes: &[u32]) -> Vec<u32> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}
