//! Boxes cut into cells: graded, sheared, perturbed.

use equelle_runtime::grid::{BuildError, CellShape, Grid, GridBuilder};
use equelle_runtime::threads::Threads;
use equelle_runtime::{Error, ErrorKind};

use super::super::args::{MakeArgs, MakeKind};
use equelle::failure::Failure;

/// Most boxes, so that options ask for no more memory than there is.
const MAX_BOXES: usize = 50_000_000;

/// Corners of boxes, moved.
pub(super) struct BoxShape {
    pub dim: usize,
    pub n: [usize; 3],
    pub size: [f64; 3],
    grade: f64,
    pub shear: f64,
    pub perturb: f64,
}

impl BoxShape {
    pub(super) fn of(args: &MakeArgs) -> Result<BoxShape, Failure> {
        let dim = args.cells.len();
        let wanted = match args.kind {
            MakeKind::Box => 2..=3,
            MakeKind::Triangles | MakeKind::Voronoi => 2..=2,
            MakeKind::Tetrahedra | MakeKind::Deck => 3..=3,
        };
        if !wanted.contains(&dim) {
            let expected = if args.kind == MakeKind::Box { "2 or 3".to_string() } else { wanted.start().to_string() };
            return Err(Failure::usage(format!("--cells: expected {expected} numbers, found {dim}")));
        }
        let total = args.cells.iter().try_fold(1_usize, |total, &n| total.checked_mul(n)).filter(|&total| total <= MAX_BOXES);
        if total.is_none_or(|total| total == 0) {
            return Err(Failure::usage(format!("--cells: expected from 1 to {MAX_BOXES} cells")));
        }
        let lengths = args.size.clone().unwrap_or_else(|| args.cells.iter().map(|&n| n as f64).collect());
        if lengths.len() != dim || !lengths.iter().all(|&length| length > 0.0 && length.is_finite()) {
            return Err(Failure::usage(format!("--size: expected {dim} positive lengths")));
        }
        // Beyond these, cells lose their digits, or turn inside out.
        let in_range = |name: &str, value: f64, least: f64, most: f64| {
            let message = || Failure::usage(format!("--{name}: expected a number from {least} to {most}, found {value}"));
            if (least..=most).contains(&value) { Ok(value) } else { Err(message()) }
        };
        let (mut n, mut size) = ([1; 3], [1.0; 3]);
        n[..dim].copy_from_slice(&args.cells);
        size[..dim].copy_from_slice(&lengths);
        Ok(BoxShape {
            dim,
            n,
            size,
            grade: in_range("grade", args.grade, 1e-3, 1e3)?,
            shear: in_range("shear", args.shear, -100.0, 100.0)?,
            perturb: in_range("perturb", args.perturb, 0.0, 0.3)?,
        })
    }

    /// Where corners are along an axis: widths grow by the same factor from cell to cell.
    pub(super) fn axis(&self, axis: usize) -> Vec<f64> {
        let n = self.n[axis];
        let factor = if n > 1 { self.grade.powf(1.0 / (n - 1) as f64) } else { 1.0 };
        let mut widths = vec![1.0; n];
        (1..n).for_each(|cell| widths[cell] = widths[cell - 1] * factor);
        let total: f64 = widths.iter().sum();
        let mut end = 0.0;
        let inner = widths[..n - 1].iter().map(|width| {
            end += width;
            self.size[axis] * (end / total)
        });
        let mut ends = vec![0.0];
        ends.extend(inner);
        ends.push(self.size[axis]);
        ends
    }

    /// Corners, x fastest.
    fn corners(&self) -> Vec<[f64; 3]> {
        let axes: [Vec<f64>; 3] = std::array::from_fn(|axis| if axis < self.dim { self.axis(axis) } else { vec![0.0] });
        let mut corners = Vec::with_capacity(axes.iter().map(Vec::len).product());
        for (k, &z) in axes[2].iter().enumerate() {
            for (j, &y) in axes[1].iter().enumerate() {
                for (i, &x) in axes[0].iter().enumerate() {
                    let (mut corner, at) = ([x, y, z], [i, j, k]);
                    let is_inner = (0..self.dim).all(|axis| at[axis] > 0 && at[axis] < self.n[axis]);
                    if is_inner && self.perturb > 0.0 {
                        for axis in 0..self.dim {
                            let ends = &axes[axis];
                            let width = (ends[at[axis] + 1] - ends[at[axis]]).min(ends[at[axis]] - ends[at[axis] - 1]);
                            corner[axis] += self.perturb * width * (2.0 * random(3 * corners.len() + axis) - 1.0);
                        }
                    }
                    corner[0] += self.shear * corner[self.dim - 1];
                    corners.push(corner);
                }
            }
        }
        corners
    }

    pub(super) fn grid(&self, kind: MakeKind) -> Result<Grid, Error> {
        let bad = |error: &BuildError| {
            Error::new(ErrorKind::Data, error.describe(|cell| format!("cell {cell}"), |corner| format!("corner {corner}")))
        };
        let threads = Threads::new(std::thread::available_parallelism().map_or(1, usize::from));
        self.build(kind, &threads).map_err(|error| bad(&error))
    }

    fn build(&self, kind: MakeKind, threads: &Threads) -> Result<Grid, BuildError> {
        let mut builder = GridBuilder::new(self.dim, self.corners())?;
        let [nx, ny, nz] = self.n;
        let strides = [1, nx + 1, (nx + 1) * (ny + 1)];
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let first = i + j * strides[1] + k * strides[2];
                    // Bits of a corner say along which axes it is farther.
                    let corner = |bits: usize| (first + (0..3).map(|axis| (bits >> axis & 1) * strides[axis]).sum::<usize>()) as u32;
                    match (kind, self.dim) {
                        (MakeKind::Triangles, _) => {
                            let cuts = if (i + j) % 2 == 0 { [[0, 1, 3], [0, 3, 2]] } else { [[0, 1, 2], [1, 3, 2]] };
                            for cut in cuts {
                                builder.add(CellShape::Triangle, &cut.map(corner))?;
                            }
                        }
                        (MakeKind::Tetrahedra, _) => {
                            // From corner 0 to corner 7, one axis after the other in each order;
                            // every other order turns the other way.
                            for (a, b) in [(1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1)] {
                                builder.add(CellShape::Tetrahedron, &[0, a, b, 7].map(corner))?;
                            }
                        }
                        (_, 2) => builder.add(CellShape::Quadrangle, &[0, 1, 3, 2].map(corner))?,
                        (_, _) => builder.add(CellShape::Hexahedron, &[0, 1, 3, 2, 4, 5, 7, 6].map(corner))?,
                    }
                }
            }
        }
        builder.build(threads)
    }
}

/// In [0, 1), always the same for a number: two rounds of multiplication and shift.
pub(super) fn random(number: usize) -> f64 {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
}
