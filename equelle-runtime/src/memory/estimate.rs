//! Estimate of a memory plan on a grid.

use std::fmt::Write as _;

use super::{Buffers, MemoryPlan, SetMemory, SolveMemory};
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::grid::Grid;
use crate::report::bytes;

/// Vectors of a linear solver beside the matrix: right-hand side, solution and work vectors.
const SOLVER_VECTORS: u64 = 12;
/// Number of unknowns up to which a direct solver is the fastest, and multigrid is not chosen.
pub(crate) const SMALL: usize = 1000;
/// Elements of a leaf of a reduction, which has one result.
const LEAF: u64 = crate::reduce::LEAF as u64;

/// Bytes of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Largest total of collections over canonical sets, by name of the set.
    pub collections: Vec<(String, u64)>,
    /// The same for sets made at run time, as if each were as large as its canonical superset.
    pub at_most: Vec<(String, u64)>,
    /// Arrays of the grid and of positions in its sets.
    pub grid: u64,
    /// Values from files, which stay in memory.
    pub inputs: u64,
    /// Entries of Jacobians, estimated: one iterate for each solve.
    pub jacobians: u64,
    /// Patterns of Jacobians and the positions in them that kernels add to, estimated.
    pub patterns: u64,
    /// The rest of the largest solve, estimated: the matrix, unless kernels wrote it, vectors of
    /// the linear solver, and multigrid if the user chose it.
    pub solvers: u64,
    /// Multigrid for the largest solve that may choose it, estimated.
    pub multigrid: u64,
}

/// True if linear solvers set up multigrid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multigrid {
    /// The user chose another preconditioner.
    No,
    /// The matrix decides.
    Maybe,
    /// The user chose it.
    Yes,
}

/// Size and kind of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSize {
    /// Dimensions.
    pub dim: usize,
    /// True for one that is computed from its shape.
    pub is_cartesian: bool,
    /// True if it has another numbering than its file.
    pub is_renumbered: bool,
    /// Number of cells.
    pub n_cells: u64,
    /// Number of faces.
    pub n_faces: u64,
}

impl From<&Grid> for GridSize {
    fn from(grid: &Grid) -> GridSize {
        GridSize {
            dim: grid.dim(),
            is_cartesian: grid.cartesian_shape().is_some(),
            is_renumbered: grid.is_renumbered(),
            n_cells: grid.n_cells() as u64,
            n_faces: grid.n_faces() as u64,
        }
    }
}

/// Sizes for an estimate.
pub(crate) struct Sizes<'a> {
    /// Its size and kind.
    pub grid: GridSize,
    /// Bytes of a number in a collection.
    pub real: u64,
    /// Number of elements of a canonical set.
    pub len: &'a dyn Fn(CanonicalSet) -> u64,
    /// True if linear solvers set up multigrid.
    pub multigrid: Multigrid,
    /// Number of elements of a set made at run time, if known.
    pub known: &'a dyn Fn(&str) -> Option<u64>,
}

impl Estimate {
    /// The estimate of the part of a plan without solves that is on a grid with these numbers of
    /// elements in canonical sets, in bytes; without inputs. `real` is the size of a number.
    pub fn without_solves(plan: &MemoryPlan, grid: GridSize, real: u64, len: &dyn Fn(CanonicalSet) -> u64) -> Estimate {
        Estimate::of(plan, &Sizes { grid, real, len, multigrid: Multigrid::No, known: &|_| None })
    }

    /// The estimate of a plan on a grid, in bytes.
    pub(crate) fn of(plan: &MemoryPlan, sizes: &Sizes<'_>) -> Estimate {
        let mut estimate = Estimate::default();
        for set in &plan.collections {
            let known = if set.canonical { None } else { (sizes.known)(&set.name) };
            let total = collections(set, known.unwrap_or_else(|| (sizes.len)(set.set)), sizes);
            if total > 0 {
                let list = if set.canonical || known.is_some() { &mut estimate.collections } else { &mut estimate.at_most };
                list.push((set.name.to_string(), total));
            }
        }
        estimate.grid = grid(plan, sizes);
        estimate.patterns = plan.solves.iter().map(|solve| pattern(solve, sizes)).sum();
        estimate.jacobians = plan.solves.iter().map(|solve| written(solve, sizes)).sum();
        estimate.solvers = plan.solves.iter().map(|solve| system(solve, sizes)).max().unwrap_or(0);
        let multigrid = plan.solves.iter().map(|solve| multigrid(unknowns(solve, sizes), rows(solve, sizes, &solve.entries)));
        match sizes.multigrid {
            Multigrid::No => {}
            Multigrid::Yes => estimate.solvers += multigrid.max().unwrap_or(0),
            Multigrid::Maybe => {
                let may = plan.solves.iter().map(|solve| solve.unknowns.len() == 1 && unknowns(solve, sizes) > SMALL as u64);
                estimate.multigrid = multigrid.zip(may).filter_map(|(bytes, may)| may.then_some(bytes)).max().unwrap_or(0);
            }
        }
        estimate
    }

    /// The certain part: all but sets of unknown size.
    pub fn certain(&self) -> u64 {
        let collections: u64 = self.collections.iter().map(|(_, bytes)| bytes).sum();
        [self.grid, self.inputs, self.jacobians, self.patterns, self.solvers].into_iter().fold(collections, u64::saturating_add)
    }

    /// The upper bound.
    pub fn most(&self) -> u64 {
        self.certain().saturating_add(self.multigrid).saturating_add(self.at_most.iter().map(|(_, bytes)| bytes).sum())
    }

    /// A table with one line for each part.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut line = |what: &str, size: u64| {
            if size > 0 {
                let _ = writeln!(text, "  {:>10}  {what}", bytes(size));
            }
        };
        for (name, size) in &self.collections {
            line(&format!("collections on {name}"), *size);
        }
        for (name, size) in &self.at_most {
            line(&format!("collections on {name}, at most"), *size);
        }
        line("arrays of the grid", self.grid);
        line("values from files", self.inputs);
        line("Jacobians, about", self.jacobians);
        line("patterns of Jacobians, about", self.patterns);
        line("linear solvers, about", self.solvers);
        line("multigrid, if it is chosen, about", self.multigrid);
        text
    }
}

fn collections(set: &SetMemory, len: u64, sizes: &Sizes<'_>) -> u64 {
    let Buffers { numbers, bools, entities } = if sizes.grid.is_cartesian { set.cartesian } else { set.general };
    let numbers = u64::from(numbers[sizes.grid.dim - 1]);
    let each = numbers * sizes.real + u64::from(bools) + 4 * u64::from(entities);
    each.saturating_mul(len) + if set.reduced { 8 * len.div_ceil(LEAF) } else { 0 }
}

/// Arrays of the grid: of a grid from arrays, or as computed for a Cartesian grid.
fn grid(plan: &MemoryPlan, sizes: &Sizes<'_>) -> u64 {
    let grid = sizes.grid;
    let (cells, faces) = (grid.n_cells, grid.n_faces);
    let shape = grid.is_cartesian;
    let mut total = 0;
    if !shape || plan.topology {
        // Row pointers of faces by cell, the faces, and two cells of each face; a face belongs to
        // one or two cells.
        let inside = (sizes.len)(CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior });
        total += 8 * (cells + 1) + 4 * (faces + inside) + 8 * faces;
        if !shape {
            // The neighbour across each face of a cell.
            total += 4 * (faces + inside);
        }
    }
    if !shape || plan.geometry {
        total += (8 + 24) * cells + (8 + 24 + 24) * faces;
    }
    if grid.is_renumbered {
        // From the numbering of the file to that in memory and back.
        total += 2 * 4 * (cells + faces);
    }
    if shape {
        total += plan.lists.iter().map(|&set| 4 * (sizes.len)(set)).sum::<u64>();
    } else {
        // The elements, and the position of each entity of the kind.
        let all = |set: CanonicalSet| (sizes.len)(CanonicalSet { kind: set.kind, extent: Extent::All });
        total += plan.positions.iter().map(|&set| 4 * ((sizes.len)(set) + all(set))).sum::<u64>();
    }
    total
}

fn rows(solve: &SolveMemory, sizes: &Sizes<'_>, of: &[[u32; 3]]) -> u64 {
    let dim = sizes.grid.dim - 1;
    solve.unknowns.iter().zip(of).map(|(&set, row)| (sizes.len)(set).saturating_mul(u64::from(row[dim]))).sum()
}

fn unknowns(solve: &SolveMemory, sizes: &Sizes<'_>) -> u64 {
    solve.unknowns.iter().map(|&set| (sizes.len)(set)).sum()
}

/// Patterns cached between steps: row pointers and columns, for a system once more for all
/// equations together, or by blocks of elements; slots of two bytes, unless cell positions give
/// them.
fn pattern(solve: &SolveMemory, sizes: &Sizes<'_>) -> u64 {
    let closed = solve.cartesian && sizes.grid.is_cartesian;
    let slots = if closed { 0 } else { 2 * rows(solve, sizes, &solve.additions) };
    let (count, entries, k) = (unknowns(solve, sizes), rows(solve, sizes, &solve.entries), solve.unknowns.len().max(1) as u64);
    let once = 8 * count + 4 * entries;
    let together = match (by_kernels(solve), k) {
        (true, 1) => 0,
        (true, _) if solve.blocks => 8 * count / k + 4 * entries / (k * k),
        (true | false, _) => once,
    };
    once + together + slots
}

/// True if kernels write the Jacobian.
fn by_kernels(solve: &SolveMemory) -> bool {
    solve.additions.iter().flatten().any(|&additions| additions > 0)
}

/// The entries that kernels write, whose memory becomes the matrix, and the leaves of residual
/// norms.
fn written(solve: &SolveMemory, sizes: &Sizes<'_>) -> u64 {
    let leaves: u64 = solve.unknowns.iter().map(|&set| 8 * (sizes.len)(set).div_ceil(LEAF)).sum();
    leaves + if by_kernels(solve) { sizes.real * rows(solve, sizes, &solve.entries) } else { 0 }
}

/// The values of the matrix of all equations, unless the kernels of a single equation or of blocks
/// wrote them, and the vectors of its solver; Jacobians of the operation level for two iterates.
fn system(solve: &SolveMemory, sizes: &Sizes<'_>) -> u64 {
    let (count, entries) = (unknowns(solve, sizes), rows(solve, sizes, &solve.entries));
    let made = if by_kernels(solve) { 0 } else { 2 * (8 + 4) * entries };
    let taken_over = by_kernels(solve) && (solve.unknowns.len() == 1 || solve.blocks) && sizes.real == 8;
    made + if taken_over { 0 } else { 8 * entries } + 8 * SOLVER_VECTORS * count
}

/// Smoothed aggregation for a matrix of `count` rows: the finest level has its own values, the
/// others together about 0.8 of the matrix with images of their prolongations; prolongations and
/// restrictions have about three entries each a row of the finest level; cycles need about seven
/// vectors.
pub(crate) fn multigrid(count: u64, entries: u64) -> u64 {
    8 * entries + 12 * entries * 8 / 10 + 2 * (12 * 3 + 8) * count + 8 * 7 * count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Cartesian;
    use crate::linalg::Csr;
    use crate::linalg::precond::amg::{AmgOptions, Hierarchy};
    use crate::linalg::space::host::HostSpace;

    const CELLS: CanonicalSet = CanonicalSet { kind: EntityKind::Cell, extent: Extent::All };
    const INTERIOR: CanonicalSet = CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior };

    fn estimate(plan: &MemoryPlan, grid: &Grid) -> Estimate {
        // 10 x 10 x 10 cells: 3 x 11 x 100 faces, of which 3 x 9 x 100 are interior.
        let len = |set: CanonicalSet| match (set.kind, set.extent) {
            (EntityKind::Cell, Extent::All) => 1000,
            (EntityKind::Face, Extent::All) => 3300,
            (EntityKind::Face, Extent::Interior) => 2700,
            _ => panic!("{set:?}"),
        };
        let known = |name: &str| (name == "wells").then_some(3);
        Estimate::of(plan, &Sizes { grid: grid.into(), real: 8, len: &len, multigrid: Multigrid::No, known: &known })
    }

    fn set(name: &str, canonical: bool) -> SetMemory {
        let (general, cartesian) = (Buffers::new([9, 9, 2], 1, 0), Buffers::new([9, 9, 1], 0, 3));
        SetMemory { name: name.into(), set: CELLS, canonical, general, cartesian, reduced: false }
    }

    /// Compared with the hierarchy of the seven-point Laplacian on a cube, the estimate is within a
    /// quarter.
    #[test]
    fn multigrid_of_a_cube() {
        let (n, mut triplets) = (24, Vec::new());
        let at = |i: usize, j: usize, k: usize| i + n * (j + n * k);
        for (k, j, i) in (0..n).flat_map(|k| (0..n).flat_map(move |j| (0..n).map(move |i| (k, j, i)))) {
            let row = at(i, j, k);
            triplets.push((row, row, 6.0));
            let beyond = [(i > 0).then(|| at(i - 1, j, k)), (j > 0).then(|| at(i, j - 1, k)), (k > 0).then(|| at(i, j, k - 1))];
            for other in beyond.into_iter().flatten() {
                triplets.extend([(row, other, -1.0), (other, row, -1.0)]);
            }
        }
        let matrix = Csr::from_triplets(n * n * n, n * n * n, &triplets).expect("a matrix");
        let mut space = HostSpace::new(n * n * n);
        let Ok(hierarchy) = Hierarchy::new(&mut space, matrix.clone().into(), &[n * n * n], &AmgOptions::default());
        let bytes = |m: &Csr| (12 * m.n_entries() + 8 * (m.n_rows() + 1)) as u64;
        let mut held = 8 * matrix.n_entries() as u64 + 8 * 7 * matrix.n_rows() as u64;
        for (number, level) in hierarchy.levels.iter().enumerate() {
            held += bytes(level.prolongation.rows())
                + level.image.as_ref().map_or(0, |image| bytes(image.rows()))
                + bytes(level.restriction.rows())
                + if number > 0 { bytes(level.matrix.rows()) } else { 0 };
        }
        let found = multigrid(matrix.n_rows() as u64, matrix.n_entries() as u64);
        assert!(found as f64 >= 0.9 * held as f64 && found as f64 <= 1.25 * held as f64, "{held} bytes, estimated {found}");
    }

    #[test]
    fn sizes_by_hand() {
        let grid = || Grid::cartesian(Cartesian::block([10, 10, 10], [1.0; 3])).expect("a grid");
        let plan = MemoryPlan {
            collections: vec![set("AllCells()", true), set("wells", false), set("later", false)],
            solves: vec![SolveMemory {
                line: 1,
                unknowns: vec![CELLS],
                entries: vec![[3, 5, 7]],
                additions: vec![[4, 8, 12]],
                cartesian: false,
                blocks: false,
            }],
            topology: false,
            geometry: false,
            positions: vec![INTERIOR],
            lists: vec![INTERIOR],
        };
        let cartesian = estimate(&plan, &grid());
        // One number and three entities for each element.
        assert_eq!(cartesian.collections, [("AllCells()".to_owned(), 20_000), ("wells".to_owned(), 60)]);
        assert_eq!(cartesian.at_most, [("later".to_owned(), 20_000)]);
        // The elements of the interior faces.
        assert_eq!(cartesian.grid, 4 * 2700);
        // Entries, and one leaf of a norm.
        assert_eq!(cartesian.jacobians, 8 * 7000 + 8);
        // Rows, columns and slots; the values are the entries that kernels wrote, and there are
        // twelve vectors.
        assert_eq!((cartesian.patterns, cartesian.solvers), (8000 + 28_000 + 24_000, 96_000));
        assert_eq!(cartesian.most() - cartesian.certain(), 20_000);
        let any = estimate(&plan, &grid().as_unstructured());
        assert_eq!(any.collections[0].1, 17_000);
        let topology = 8 * 1001 + (4 + 4) * (3300 + 2700) + 8 * 3300;
        assert_eq!(any.grid, topology + 32 * 1000 + 56 * 3300 + 4 * (2700 + 3300));
        assert!(any.table().contains("17 kB  collections on AllCells()\n"), "{}", any.table());
    }

    #[test]
    fn blocks_are_not_copied() {
        let plan = |blocks: bool| {
            let (unknowns, entries, additions) = (vec![CELLS; 2], vec![[6, 10, 14]; 2], vec![[4, 8, 12]; 2]);
            MemoryPlan {
                solves: vec![SolveMemory { line: 1, unknowns, entries, additions, cartesian: true, blocks }],
                ..MemoryPlan::default()
            }
        };
        let grid = Grid::cartesian(Cartesian::block([10, 10, 10], [1.0; 3])).expect("a grid");
        let [blocks, rows] = [true, false].map(|blocks| estimate(&plan(blocks), &grid));
        // 14 entries a row in both equations; a block of four has one column. Twelve vectors of
        // both unknowns.
        assert_eq!((blocks.jacobians, rows.jacobians), (8 * 28_000 + 16, 8 * 28_000 + 16));
        assert_eq!((blocks.patterns, blocks.solvers), ((16_000 + 4 * 28_000) + (8000 + 4 * 7000), 192_000));
        assert_eq!((rows.patterns, rows.solvers), (2 * (16_000 + 4 * 28_000), 192_000 + 8 * 28_000));
    }
}
