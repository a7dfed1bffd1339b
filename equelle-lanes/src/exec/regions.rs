//! Regions: the lanes in which operations have an effect.

use std::ops::Range;

use equelle_runtime::grid::{NONE, Topology};

use equelle_front::ir::FaceFilter;

use crate::program::{EntityReg, LANES, MAX_REGIONS, TruthReg};

/// A region: lanes from `lo` to `hi`, all of them or those that are active.
#[derive(Clone, Copy, Debug, Default)]
pub struct Region {
    pub lo: usize,
    pub hi: usize,
    /// Without gaps.
    pub full: bool,
}

/// The faces that a loop has gone over.
#[derive(Clone, Copy, Debug)]
struct FaceLoop {
    cell: EntityReg,
    face: EntityReg,
    outward: TruthReg,
    only: FaceFilter,
    /// Next face of each cell.
    next: usize,
    /// Most faces of a cell.
    most: usize,
}

/// Truth values of one register.
pub type Truths = [bool; LANES];
/// Entities of one register.
pub type Entities = [u32; LANES];

/// Open regions, the innermost last, and the loops that have opened some.
#[derive(Debug)]
pub struct Regions {
    open: [Region; MAX_REGIONS + 1],
    /// Number of the innermost one.
    depth: usize,
    /// Active lanes of the regions with gaps, by depth.
    active: Vec<Truths>,
    loops: Vec<FaceLoop>,
}

impl Regions {
    /// No region.
    pub fn new() -> Self {
        Regions { open: [Region::default(); MAX_REGIONS + 1], depth: 0, active: vec![[false; LANES]], loops: Vec::new() }
    }

    /// Opens the outermost region.
    pub fn begin(&mut self, lanes: usize) {
        self.depth = 0;
        self.loops.clear();
        self.open[0] = Region { lo: 0, hi: lanes, full: true };
    }

    /// The region that is open.
    #[inline(always)]
    pub fn region(&self) -> Region {
        self.open[self.depth]
    }

    /// Its active lanes, if it has gaps.
    #[inline(always)]
    pub fn active(&self) -> Option<&[bool]> {
        let Region { lo, hi, full } = self.region();
        if full { None } else { Some(&self.active[self.depth][lo..hi]) }
    }

    /// Closes the region.
    #[inline(always)]
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    #[inline(always)]
    fn open(&mut self, region: Region) {
        self.depth += 1;
        self.open[self.depth] = region;
    }

    /// Room for the active lanes of one more region.
    #[cold]
    fn keep_active(&mut self) {
        self.active.resize(self.depth + 2, [false; LANES]);
    }

    /// Opens a region of the active lanes that `wanted` writes down, for these lanes; false, and
    /// none, if there are no such lanes.
    #[inline(always)]
    pub fn enter(&mut self, wanted: impl FnOnce(Range<usize>, &mut [bool])) -> bool {
        let Region { lo, hi, full } = self.region();
        if self.active.len() < self.depth + 2 {
            self.keep_active();
        }
        let depth = self.depth + 1;
        let (outer, inner) = self.active.split_at_mut(depth);
        let inner = &mut inner[0][lo..hi];
        wanted(lo..hi, inner);
        if !full {
            for (inner, &outer) in inner.iter_mut().zip(&outer[depth - 1][lo..hi]) {
                *inner &= outer;
            }
        }
        let mut count = 0_u32;
        for &active in &*inner {
            count += u32::from(active);
        }
        if count == 0 {
            return false;
        }
        let first = inner.iter().position(|&active| active).unwrap_or(0) + lo;
        let last = inner.iter().rposition(|&active| active).unwrap_or(0) + lo;
        self.open(Region { lo: first, hi: last + 1, full: count as usize == last + 1 - first });
        true
    }

    /// Opens a region of the active lanes between two; false, and none, if there are none.
    #[inline(always)]
    pub fn enter_between(&mut self, from: usize, to: usize) -> bool {
        let Region { lo, hi, full } = self.region();
        if !full {
            return self.enter(
                #[inline(always)]
                |lanes, wanted| {
                    for (lane, wanted) in lanes.zip(wanted) {
                        *wanted = from <= lane && lane < to;
                    }
                },
            );
        }
        let (lo, hi) = (lo.max(from), hi.min(to));
        if lo >= hi {
            return false;
        }
        self.open(Region { lo, hi, full: true });
        true
    }

    /// Begins a loop over the faces of cells; `None` where a cell is Empty, else whether there is a
    /// face, whose region is open.
    #[inline(always)]
    pub fn begin_faces(
        &mut self,
        topology: &Topology,
        (cell, cells): (EntityReg, &Entities),
        (face, faces): (EntityReg, &mut Entities),
        (outward, outwards): (TruthReg, &mut Truths),
        only: FaceFilter,
    ) -> Option<bool> {
        let Region { lo, hi, .. } = self.region();
        let mut most = 0;
        for (lane, &cell) in (lo..hi).zip(&cells[lo..hi]) {
            if self.is_active(lane) {
                if cell == NONE {
                    return None;
                }
                most = most.max(topology.faces_of(cell as usize).len());
            }
        }
        self.loops.push(FaceLoop { cell, face, outward, only, next: 0, most });
        Some(self.next_faces(topology, cells, faces, outwards))
    }

    /// Registers of the innermost loop.
    #[inline(always)]
    pub fn face_registers(&self) -> (EntityReg, EntityReg, TruthReg) {
        let FaceLoop { cell, face, outward, .. } = self.loops[self.loops.len() - 1];
        (cell, face, outward)
    }

    /// Opens the region of the next faces of the innermost loop; ends the loop, and false, if there
    /// are none.
    #[inline(always)]
    pub fn next_faces(&mut self, topology: &Topology, cells: &Entities, faces: &mut Entities, outwards: &mut Truths) -> bool {
        let Region { lo, hi, .. } = self.region();
        let number = self.loops.len() - 1;
        while self.loops[number].next < self.loops[number].most {
            let FaceLoop { next, only, .. } = self.loops[number];
            self.loops[number].next += 1;
            for lane in lo..hi {
                faces[lane] = NONE;
                if self.is_active(lane)
                    && let Some(&face) = topology.faces_of(cells[lane] as usize).get(next)
                {
                    let [first, second] = topology.face_cells[face as usize];
                    let is_boundary = first == NONE || second == NONE;
                    let wanted = match only {
                        FaceFilter::All => true,
                        FaceFilter::Interior => !is_boundary,
                        FaceFilter::Boundary => is_boundary,
                    };
                    faces[lane] = if wanted { face } else { NONE };
                    outwards[lane] = first == cells[lane];
                }
            }
            if self.enter(
                #[inline(always)]
                |lanes, wanted| {
                    for (wanted, &face) in wanted.iter_mut().zip(&faces[lanes]) {
                        *wanted = face != NONE;
                    }
                },
            ) {
                return true;
            }
        }
        self.loops.pop();
        false
    }

    #[inline(always)]
    fn is_active(&self, lane: usize) -> bool {
        self.region().full || self.active[self.depth][lane]
    }
}
