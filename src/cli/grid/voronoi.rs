//! Voronoi cells in a box: what is nearer to a seed than to any other one. A seed lies in each box
//! of the grid that the options describe, in turn left and right of its middle, moved at random.

use std::collections::HashMap;

use equelle_runtime::grid::{Grid, GridBuilder};
use equelle_runtime::threads::Threads;
use equelle_runtime::{Error, ErrorKind};

use super::boxes::{BoxShape, random};
use equelle::failure::Failure;

/// Labels of the sides of the box, above all numbers of seeds: below, right, above, left.
const SIDES: [u32; 4] = [u32::MAX - 3, u32::MAX - 2, u32::MAX - 1, u32::MAX];

/// How far seeds are from the middle of their box along x, in its widths. So three cells meet in a
/// point, not four, also where no seed moves.
const OFFSET: f64 = 0.25;

/// A corner, and the label of the side from there to the next one: a seed behind it, or a side of
/// the box.
type Corner = ([f64; 2], u32);

struct Seeds {
    n: [usize; 2],
    places: Vec<[f64; 2]>,
}

impl Seeds {
    fn of(shape: &BoxShape) -> Seeds {
        let axes = [shape.axis(0), shape.axis(1)];
        let n = [shape.n[0], shape.n[1]];
        let place = |seed: usize| {
            let at = [seed % n[0], seed / n[0]];
            let offset = if at[1].is_multiple_of(2) { -OFFSET } else { OFFSET };
            [0, 1].map(|axis: usize| {
                let ends = &axes[axis][at[axis]..];
                let moved = shape.perturb * (2.0 * random(2 * seed + axis) - 1.0) / 2.0;
                // Within the box of the seed: its middle, a quarter and 0.15 to a side.
                let part = 0.5 + moved + if axis == 0 { offset } else { 0.0 };
                ends[0] + (ends[1] - ends[0]) * part
            })
        };
        Seeds { n, places: (0..n[0] * n[1]).map(place).collect() }
    }

    /// Seeds of boxes that are `ring` boxes away.
    fn ring(&self, seed: usize, ring: usize) -> impl Iterator<Item = usize> {
        let at = [seed % self.n[0], seed / self.n[0]];
        let span = move |axis: usize| at[axis].saturating_sub(ring)..(at[axis] + ring + 1).min(self.n[axis]);
        let width = self.n[0];
        span(1).flat_map(move |j| span(0).filter(move |&i| i.abs_diff(at[0]).max(j.abs_diff(at[1])) == ring).map(move |i| j * width + i))
    }

    /// The corners of a cell, counter-clockwise.
    fn cell(&self, seed: usize, size: [f64; 3]) -> Vec<Corner> {
        let own = self.places[seed];
        let [right, top] = [size[0], size[1]];
        let mut corners: Vec<Corner> = [[0.0, 0.0], [right, 0.0], [right, top], [0.0, top]].into_iter().zip(SIDES).collect();
        let (mut ring, mut n_idle) = (1, 0);
        // Seeds may lie at the far ends of their boxes: one more ring is asked.
        while n_idle < 2 && ring <= self.n[0].max(self.n[1]) {
            let reach = corners.iter().map(|corner| squared(own, corner.0)).fold(0.0, f64::max);
            let near = self.ring(seed, ring).filter(|&other| squared(own, self.places[other]) < 4.0 * reach);
            let near: Vec<usize> = near.collect();
            n_idle = if near.is_empty() { n_idle + 1 } else { 0 };
            for other in near {
                clip(&mut corners, own, self.places[other], other as u32);
            }
            ring += 1;
        }
        corners
    }
}

fn squared(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])
}

/// Cuts off what is nearer to another seed.
fn clip(corners: &mut Vec<Corner>, own: [f64; 2], other: [f64; 2], label: u32) {
    let normal = [other[0] - own[0], other[1] - own[1]];
    let middle = [(own[0] + other[0]) / 2.0, (own[1] + other[1]) / 2.0];
    let beyond = |point: [f64; 2]| normal[0] * (point[0] - middle[0]) + normal[1] * (point[1] - middle[1]);
    if corners.iter().all(|corner| beyond(corner.0) <= 0.0) {
        return;
    }
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (index, &(point, side)) in corners.iter().enumerate() {
        let next = corners[(index + 1) % corners.len()].0;
        let (here, there) = (beyond(point), beyond(next));
        let crossing = || [0, 1].map(|axis: usize| point[axis] + here / (here - there) * (next[axis] - point[axis]));
        if here <= 0.0 {
            kept.push((point, side));
        }
        match (here <= 0.0, there <= 0.0) {
            (true, false) => kept.push((crossing(), label)),
            (false, true) => kept.push((crossing(), side)),
            (true, true) | (false, false) => {}
        }
    }
    *corners = kept;
}

/// The grid.
pub(super) fn grid(shape: &BoxShape) -> Result<Grid, Failure> {
    if shape.shear != 0.0 {
        return Err(Failure::usage("--shear: Voronoi cells that are sheared are none"));
    }
    let seeds = Seeds::of(shape);
    // A corner is known by the three cells, or sides of the box, that meet there.
    let (mut numbers, mut places) = (HashMap::new(), Vec::new());
    let mut cells: Vec<Vec<u32>> = Vec::with_capacity(seeds.places.len());
    let mut n_boundary = 0;
    for seed in 0..seeds.places.len() {
        let corners = seeds.cell(seed, shape.size);
        let number = |index: usize| {
            let before = corners[(index + corners.len() - 1) % corners.len()].1;
            let mut key = [seed as u32, before, corners[index].1];
            key.sort_unstable();
            *numbers.entry(key).or_insert_with(|| {
                let [x, y] = corners[index].0;
                places.push([x, y, 0.0]);
                places.len() as u32 - 1
            })
        };
        n_boundary += corners.iter().filter(|corner| corner.1 >= SIDES[0]).count();
        cells.push((0..corners.len()).map(number).collect());
    }
    let bad = |what: String| Failure::Error(Error::new(ErrorKind::Data, format!("Voronoi cells: {what}")));
    let describe =
        |error: equelle_runtime::grid::BuildError| bad(error.describe(|cell| format!("cell {cell}"), |corner| format!("corner {corner}")));
    let mut builder = GridBuilder::new(2, places).map_err(describe)?;
    cells.iter().try_for_each(|corners| builder.add_polygon(corners)).map_err(describe)?;
    let threads = Threads::new(std::thread::available_parallelism().map_or(1, usize::from));
    let grid = builder.build(&threads).map_err(describe)?;
    // Where rounding lets cells see each other one way only, a side has one cell.
    let found = (0..grid.n_faces()).filter(|&face| grid.topology().is_boundary_face(face)).count();
    if found == n_boundary { Ok(grid) } else { Err(bad("four of them meet in a point; try another --perturb".to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between seeds at (1, 1) and (3, 1) the line x = 2 is as far from both.
    #[test]
    fn a_box_is_clipped_by_a_line() {
        let mut corners: Vec<Corner> = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]].into_iter().zip(SIDES).collect();
        clip(&mut corners, [1.0, 1.0], [3.0, 1.0], 7);
        assert_eq!(corners, [([0.0, 0.0], SIDES[0]), ([2.0, 0.0], 7), ([2.0, 2.0], SIDES[2]), ([0.0, 2.0], SIDES[3])]);
        let before = corners.clone();
        clip(&mut corners, [1.0, 1.0], [9.0, 1.0], 8);
        assert_eq!(corners, before);
    }
}
