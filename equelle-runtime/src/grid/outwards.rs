//! Faces of a closed cell, turned such that their corners are counter-clockwise seen from outside.

use super::shapes::{Vector, cross, dot, minus, plus, times};

/// Faces of a cell that must be reversed. Faces that share an edge are turned alike, and then such
/// that they enclose a volume; no face may be empty. `[n_faces]`
pub(super) fn turned<F: AsRef<[u32]>>(faces: &[F], positions: &[Vector]) -> Vec<bool> {
    // Each edge with a face that has it, and its direction there.
    let mut edges: Vec<([u32; 2], usize, bool)> = Vec::new();
    for (face, corners) in faces.iter().enumerate() {
        let corners = corners.as_ref();
        let next = corners.iter().cycle().skip(1);
        edges.extend(corners.iter().zip(next).map(|(&a, &b)| ([a.min(b), a.max(b)], face, a < b)));
    }
    edges.sort_unstable();
    let mut links: Vec<Vec<(usize, bool)>> = vec![Vec::new(); faces.len()];
    for shared in edges.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, first, along), (_, second, other)] = *shared {
            links[first].push((second, along == other));
            links[second].push((first, along == other));
        }
    }
    let all: Vec<u32> = faces.iter().flat_map(|face| face.as_ref()).copied().collect();
    if all.is_empty() {
        return Vec::new();
    }
    let cell = mean(positions, &all);
    let mut is_turned: Vec<Option<bool>> = vec![None; faces.len()];
    for first in 0..faces.len() {
        if is_turned[first].is_some() {
            continue;
        }
        // Faces that hang together by edges turn alike; those of a closed surface enclose it.
        is_turned[first] = Some(false);
        let (mut surface, mut next) = (vec![first], 0);
        while let Some(&face) = surface.get(next) {
            next += 1;
            for &(other, is_opposite) in &links[face] {
                if is_turned[other].is_none() {
                    is_turned[other] = is_turned[face].map(|turned| turned != is_opposite);
                    surface.push(other);
                }
            }
        }
        let volume: f64 = surface
            .iter()
            .map(|&face| {
                let corners = faces[face].as_ref();
                let part = dot(area_vector(positions, corners), minus(mean(positions, corners), cell));
                if is_turned[face] == Some(true) { -part } else { part }
            })
            .sum();
        if volume < 0.0 {
            surface.iter().for_each(|&face| is_turned[face] = is_turned[face].map(|turned| !turned));
        }
    }
    is_turned.into_iter().map(|turned| turned == Some(true)).collect()
}

/// The mean of nodes, of which there is one at least.
pub(super) fn mean(positions: &[Vector], nodes: &[u32]) -> Vector {
    let origin = positions[nodes[0] as usize];
    let sum = nodes.iter().fold([0.0; 3], |sum, &node| plus(sum, minus(positions[node as usize], origin)));
    plus(origin, times(1.0 / nodes.len() as f64, sum))
}

/// Twice the area of a face times its normal.
pub(super) fn area_vector(positions: &[Vector], nodes: &[u32]) -> Vector {
    let origin = positions[nodes[0] as usize];
    let at = |node: u32| minus(positions[node as usize], origin);
    nodes.windows(2).fold([0.0; 3], |sum, pair| plus(sum, cross(at(pair[0]), at(pair[1]))))
}
