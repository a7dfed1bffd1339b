//! Matrices of finite volumes on boxes of cells.

use equelle_runtime::linalg::Csr;

use crate::common::{Random, triplets};

/// A box of cells.
#[derive(Clone, Copy, Debug)]
pub struct Cells(pub [usize; 3]);

impl Cells {
    pub fn cube(n: usize) -> Cells {
        Cells([n; 3])
    }

    pub fn count(self) -> usize {
        self.0.iter().product()
    }

    pub fn place(self, cell: usize) -> [usize; 3] {
        let [nx, ny, _] = self.0;
        [cell % nx, cell / nx % ny, cell / (nx * ny)]
    }

    /// Pairs of neighbours with their axis, the smaller cell first.
    pub fn faces(self) -> Vec<(usize, usize, usize)> {
        let strides = [1, self.0[0], self.0[0] * self.0[1]];
        let of = |cell: usize| {
            (0..3).filter(move |&axis| self.place(cell)[axis] + 1 < self.0[axis]).map(move |axis| (cell, cell + strides[axis], axis))
        };
        (0..self.count()).flat_map(of).collect()
    }

    /// Number of boundary faces of a cell, by axis.
    pub fn boundary(self, cell: usize) -> [usize; 3] {
        let place = self.place(cell);
        std::array::from_fn(|axis| usize::from(place[axis] == 0) + usize::from(place[axis] + 1 == self.0[axis]))
    }

    /// Fluxes out of cells, `t (u_a - u_b)` with the coefficient of each face, and twice that of
    /// the axis where the boundary holds a value.
    pub fn diffusion(self, coefficient: impl Fn(usize, usize, usize) -> f64, held: [f64; 3]) -> Csr {
        let mut entries = Vec::new();
        for (a, b, axis) in self.faces() {
            let t = coefficient(a, b, axis);
            entries.extend([(a, a, t), (a, b, -t), (b, b, t), (b, a, -t)]);
        }
        for cell in 0..self.count() {
            let boundary = self.boundary(cell);
            entries.push((cell, cell, (0..3).map(|axis| boundary[axis] as f64 * held[axis]).sum()));
        }
        triplets(self.count(), &entries)
    }

    /// The seven-point Laplacian with the value of the neighbour beyond the boundary held: 6 on the
    /// diagonal, -1 beside it.
    pub fn poisson(self) -> Csr {
        self.diffusion(|_, _, _| 1.0, [1.0; 3])
    }

    /// Diffusion with a conductivity a cell, harmonic mean at faces; values held at both ends of
    /// the first axis.
    pub fn heterogeneous(self, conductivity: &[f64]) -> Csr {
        let mean = |a: usize, b: usize, _: usize| 2.0 * conductivity[a] * conductivity[b] / (conductivity[a] + conductivity[b]);
        self.diffusion(mean, [1.0, 0.0, 0.0])
    }

    /// Diffusion 1 and upwinded transport by a velocity; values held all around.
    pub fn transport(self, velocity: [f64; 3]) -> Csr {
        let mut entries = Vec::new();
        for (a, b, axis) in self.faces() {
            let (up, down) = (velocity[axis].max(0.0), (-velocity[axis]).max(0.0));
            entries.extend([(a, a, 1.0 + up), (a, b, -1.0 - down), (b, b, 1.0 + down), (b, a, -1.0 - up)]);
        }
        for cell in 0..self.count() {
            let boundary = self.boundary(cell);
            let place = self.place(cell);
            for axis in 0..3 {
                // Outflow through the boundary takes the value of the cell along.
                let out = if velocity[axis] > 0.0 { place[axis] + 1 == self.0[axis] } else { place[axis] == 0 };
                let leaving = if out { velocity[axis].abs() } else { 0.0 };
                entries.push((cell, cell, boundary[axis] as f64 + leaving));
            }
        }
        triplets(self.count(), &entries)
    }

    /// One implicit step of two-phase flow, pressures first: water and oil balances of each cell,
    /// linearised about random saturations. Total flow through a conductivity a cell, fractional
    /// flows upwinded along the first axis, storage from compressibility and saturation; the step
    /// is so large that what flows through a cell is several times its content.
    pub fn two_phase(self, conductivity: &[f64], compressibility: f64, seed: u64) -> Csr {
        let n = self.count();
        let mut random = Random(seed);
        let saturation: Vec<f64> = (0..n).map(|_| 0.5 + 0.3 * random.number()).collect();
        let mut entries = Vec::new();
        for (a, b, axis) in self.faces() {
            let t = 2.0 * conductivity[a] * conductivity[b] / (conductivity[a] + conductivity[b]);
            let up = a;
            let s = saturation[up];
            let water = s * s;
            let oil = (1.0 - s) * (1.0 - s);
            // Flow that transports saturation: 5 along the first axis.
            let flow = if axis == 0 { 5.0 } else { 0.5 };
            for (equation, mobility, slope) in [(0, water, 2.0 * s), (1, oil, -2.0 * (1.0 - s))] {
                for (cell, sign) in [(a, 1.0), (b, -1.0)] {
                    let row = equation * n + cell;
                    entries.extend([(row, a, sign * t * mobility), (row, b, -sign * t * mobility), (row, n + up, sign * slope * flow)]);
                }
            }
        }
        for (cell, &s) in saturation.iter().enumerate() {
            entries.extend([(cell, cell, compressibility * s), (n + cell, cell, compressibility * (1.0 - s))]);
            entries.extend([(cell, n + cell, 1.0), (n + cell, n + cell, -1.0)]);
            // A value of pressure is held at the end of the first axis, and both phases leave.
            if self.place(cell)[0] + 1 == self.0[0] {
                entries.extend([(cell, cell, s * s), (n + cell, cell, (1.0 - s) * (1.0 - s))]);
                entries.extend([(cell, n + cell, 10.0 * s), (n + cell, n + cell, -10.0 * (1.0 - s))]);
            }
        }
        triplets(2 * n, &entries)
    }

    /// The same without any boundary: the balance of volume and that of water, each with the flow
    /// through a face times a mobility at the cell before it; `coefficient` by axis. The level of
    /// the pressure is open, and the volume balances add up to nothing.
    pub fn closed_two_phase(self, coefficient: [f64; 3], seed: u64) -> Csr {
        let n = self.count();
        let mut random = Random(seed);
        let saturation: Vec<f64> = (0..n).map(|_| 0.5 + 0.3 * random.number()).collect();
        let mut entries = Vec::new();
        for (a, b, axis) in self.faces() {
            let (t, s) = (coefficient[axis], saturation[a]);
            // Mobilities s^2 of water and (1 - s)^2 of the other phase, and their slopes times a
            // flow of 0.5.
            let (total, water) = (s * s + (1.0 - s) * (1.0 - s), s * s);
            for (equation, mobility, slope) in [(0, total, 2.0 * s - 1.0), (1, water, s)] {
                for (cell, sign) in [(a, 1.0), (b, -1.0)] {
                    let row = equation * n + cell;
                    entries.extend([(row, a, sign * t * mobility), (row, b, -sign * t * mobility), (row, n + a, sign * slope)]);
                }
            }
        }
        entries.extend((0..n).map(|cell| (n + cell, n + cell, 1.0)));
        triplets(2 * n, &entries)
    }
}

/// Conductivities between 1 and `contrast`: blocks of cells of one value each, log-uniform.
pub fn blocks_of(cells: Cells, side: usize, contrast: f64, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let counts = cells.0.map(|n| n.div_ceil(side));
    let values: Vec<f64> = (0..counts.iter().product()).map(|_| contrast.powf(0.5 + 0.5 * random.number())).collect();
    (0..cells.count())
        .map(|cell| {
            let [i, j, k] = cells.place(cell).map(|at| at / side);
            values[(k * counts[1] + j) * counts[0] + i]
        })
        .collect()
}
