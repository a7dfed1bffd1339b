//! Arguments of kernels: the Rust counterparts of the structs in `prelude.cuh`, field for field.

use std::rc::Rc;

use crate::runtime::device::{DevicePtr, FunctionId, Launch, LaunchShape, Work};
use crate::runtime::kernels::KernelModule;

/// A domain to iterate over.
#[derive(Clone, Copy, Debug, Default)]
pub struct EqSpace {
    /// Address of the sorted entities; 0 for all entities of a kind.
    pub list: u64,
    /// Address of the positions in the order of the grid's file, or 0.
    pub order: u64,
    /// Number of entities.
    pub size: u32,
}

/// A grid of any kind; addresses are 0 for arrays that a kernel does not read.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct EqGrid {
    pub n_cells: u32,
    pub n_faces: u32,
    pub side_starts: u64,
    pub side_neighbours: u64,
    pub side_bases: u64,
    pub side_faces: u64,
    pub side_ranks: u64,
    pub face_cells: u64,
    pub cell_volumes: u64,
    pub cell_centroids: u64,
    pub face_areas: u64,
    pub face_centroids: u64,
    pub face_normals: u64,
    pub face_gaps: u64,
    pub face_transmissibilities: u64,
    pub n_edges: u32,
    pub n_vertices: u32,
    pub edge_lengths: u64,
    pub edge_centroids: u64,
    pub vertex_positions: u64,
    /// Shape of a Cartesian grid, where closed forms replace arrays.
    pub shape: EqCartesian,
}

/// A uniform Cartesian grid.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct EqCartesian {
    pub n: [u32; 3],
    /// 1 when launches over cells are one-dimensional.
    pub flat: u32,
    pub face_start: [u32; 3],
    /// Cells per thread in launches that treat the boundary separately.
    pub cells_per_thread: u32,
    pub boundary_start: [u32; 3],
    pub interior_start: [u32; 3],
    pub spacing: [f64; 3],
    pub area: [f64; 3],
    pub volume: f64,
}

/// Position map of a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EqRanks {
    /// Address of the rank in the canonical superset of each entity, or 0.
    pub outer: u64,
    /// Address of the rank in the set of each element of the canonical superset, or 0.
    pub inner: u64,
    /// Number of the canonical superset.
    pub canonical: u32,
    /// If `outer` is 0: the first entity of the canonical superset, whose entities are consecutive.
    pub first: u32,
    /// If `outer` is 0: the number of these entities.
    pub count: u32,
}

/// Destination of failed conditions.
#[derive(Clone, Copy, Debug)]
pub struct EqChecks {
    /// Address of the flag.
    pub flag: u64,
    /// Number of the kernel's first condition.
    pub first: u32,
}

/// Rows of the Jacobian of an equation.
#[derive(Clone, Copy, Debug)]
pub struct EqRows {
    /// Address of the row pointers, one more than there are rows.
    pub row_ptr: u64,
    /// Address of the columns, ascending within a row.
    pub columns: u64,
    /// Address of the entries.
    pub entries: u64,
}

/// Slots of the additions of an equation in its rows.
#[derive(Clone, Copy, Debug)]
pub struct EqSlots {
    /// Address of the index of each row's first addition.
    pub starts: u64,
    /// Address of the slots within the row, in the order of the additions.
    pub slots: u64,
}

/// Destination of a pattern kernel, which lists the derivatives of each element.
#[derive(Clone, Copy, Debug)]
pub struct EqPattern {
    /// Address of their number, for each element.
    pub counts: u64,
    /// Address of the index of each element's first column; 0 while they are counted.
    pub starts: u64,
    /// Address of the columns; 0 while they are counted.
    pub columns: u64,
}

/// Numeric operand of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EqOperand {
    /// Address of the values; 0 for one `value` for all.
    pub values: u64,
    /// The number, if there are no values.
    pub value: f64,
    /// Distance of consecutive elements; 0 for one number for all.
    pub stride: u32,
    /// Distance of consecutive components; 0 for one number for all.
    pub component_stride: u32,
}

/// Bool operand of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EqBool {
    /// Address of the values; 0 for one `value` for all.
    pub values: u64,
    /// 1 or 0, if there are no values.
    pub value: u32,
    /// 1, or 0 for one Bool for all.
    pub stride: u32,
}

/// A kernel argument.
pub trait Argument {
    /// Appends its words of 8 bytes in memory layout.
    fn words(&self, words: &mut Vec<u64>);
}

/// Packs two numbers into one word.
pub(crate) fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Argument for DevicePtr {
    fn words(&self, words: &mut Vec<u64>) {
        words.push(self.0);
    }
}

impl Argument for u32 {
    fn words(&self, words: &mut Vec<u64>) {
        words.push(u64::from(*self));
    }
}

impl Argument for u64 {
    fn words(&self, words: &mut Vec<u64>) {
        words.push(*self);
    }
}

impl Argument for f64 {
    fn words(&self, words: &mut Vec<u64>) {
        words.push(self.to_bits());
    }
}

impl Argument for EqSpace {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.list, self.order, pair(self.size, 0)]);
    }
}

impl Argument for EqGrid {
    fn words(&self, words: &mut Vec<u64>) {
        words.push(pair(self.n_cells, self.n_faces));
        words.extend([self.side_starts, self.side_neighbours, self.side_bases, self.side_faces, self.side_ranks]);
        words.extend([self.face_cells, self.cell_volumes, self.cell_centroids]);
        words.extend([self.face_areas, self.face_centroids, self.face_normals, self.face_gaps]);
        words.extend([self.face_transmissibilities, pair(self.n_edges, self.n_vertices)]);
        words.extend([self.edge_lengths, self.edge_centroids, self.vertex_positions]);
        self.shape.words(words);
    }
}

impl Argument for EqCartesian {
    fn words(&self, words: &mut Vec<u64>) {
        for (values, last) in
            [(self.n, self.flat), (self.face_start, self.cells_per_thread), (self.boundary_start, 0), (self.interior_start, 0)]
        {
            words.extend([pair(values[0], values[1]), pair(values[2], last)]);
        }
        words.extend(self.spacing.iter().chain(&self.area).chain([&self.volume]).map(|x| x.to_bits()));
    }
}

impl Argument for EqRanks {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.outer, self.inner, pair(self.canonical, self.first), pair(self.count, 0)]);
    }
}

impl Argument for EqChecks {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.flag, pair(self.first, 0)]);
    }
}

impl Argument for EqRows {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.row_ptr, self.columns, self.entries]);
    }
}

impl Argument for EqSlots {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.starts, self.slots]);
    }
}

impl Argument for EqPattern {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.counts, self.starts, self.columns]);
    }
}

impl Argument for EqOperand {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.values, self.value.to_bits(), pair(self.stride, self.component_stride)]);
    }
}

impl Argument for EqBool {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.values, pair(self.value, self.stride)]);
    }
}

/// A launch under construction: arguments in the order of the kernel's parameters.
#[derive(Clone, Debug)]
pub struct Call {
    function: FunctionId,
    name: Rc<str>,
    words: Vec<u64>,
    offsets: Vec<u32>,
    work: Option<Work>,
    rows: Option<RowFunctions>,
    /// True if it writes what it reads, so that a second launch would give something else.
    in_place: bool,
    /// True if its kernel has `EQ_WIDE`.
    wide: bool,
}

/// Functions of a kernel with several cells of a row a thread, which take the same arguments.
#[derive(Clone, Debug)]
pub(crate) struct RowFunctions {
    pub(crate) module: KernelModule,
    pub(crate) names: RowNames,
    pub(crate) planes: Planes,
}

/// Numbers of cells, which divide the lengths of rows that a function is for; and names.
#[derive(Clone, Debug)]
pub enum RowNames {
    /// A generated program has them as constants.
    Constant(&'static [(u32, &'static str)]),
    /// A program that is interpreted owns them.
    Shared(Rc<[(u32, String)]>),
}

impl RowNames {
    /// The numbers and names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (0..).map_while(move |number| match self {
            RowNames::Constant(names) => names.get(number).map(|(width, name)| (*width, *name)),
            RowNames::Shared(names) => names.get(number).map(|(width, name)| (*width, &**name)),
        })
    }
}

impl<const N: usize> From<&'static [(u32, &'static str); N]> for RowNames {
    fn from(names: &'static [(u32, &'static str); N]) -> RowNames {
        RowNames::Constant(names)
    }
}

/// Planes of the grid that threads have cells in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planes {
    One,
    /// They go through some, one after the other.
    Several,
}

impl Call {
    /// A launch of `function`; `name` is for messages.
    pub fn new(function: FunctionId, name: Rc<str>) -> Self {
        Call { function, name, words: Vec::new(), offsets: Vec::new(), work: None, rows: None, in_place: false, wide: false }
    }

    /// The call with its work, for `--profile`.
    #[must_use]
    pub(crate) fn doing(self, work: Option<Work>) -> Self {
        Call { work, ..self }
    }

    /// The call, or the fastest of these functions with so many cells of a row a thread.
    #[must_use]
    pub fn or_with_rows(self, module: &KernelModule, names: impl Into<RowNames>) -> Self {
        Call { rows: Some(RowFunctions { module: module.clone(), names: names.into(), planes: Planes::One }), ..self }
    }

    /// The same with functions whose threads go through some planes, one after the other.
    #[must_use]
    pub fn or_by_planes(self, module: &KernelModule, names: impl Into<RowNames>) -> Self {
        Call { rows: Some(RowFunctions { module: module.clone(), names: names.into(), planes: Planes::Several }), ..self }
    }

    /// The call, which writes what it reads.
    #[must_use]
    pub fn in_place(self) -> Self {
        Call { in_place: true, ..self }
    }

    /// True if it may be launched again with the same results.
    pub(crate) fn repeats(&self) -> bool {
        !self.in_place
    }

    /// The call of a kernel with `EQ_WIDE`.
    #[must_use]
    pub fn wide(self) -> Self {
        Call { wide: true, ..self }
    }

    /// The largest number of threads that its blocks may have, with so many cells of a row a
    /// thread.
    pub(crate) fn most_threads(&self, row_cells: u32) -> u32 {
        if self.wide || self.goes_by_planes(row_cells) { 128 } else { 256 }
    }

    /// True if threads that have so many cells of a row go from plane to plane.
    pub(crate) fn goes_by_planes(&self, row_cells: u32) -> bool {
        row_cells > 1 && self.rows.as_ref().is_some_and(|rows| rows.planes == Planes::Several)
    }

    /// Its functions with several cells of a row a thread.
    pub(crate) fn rows(&self) -> Option<&RowFunctions> {
        self.rows.as_ref()
    }

    /// The call of another function with the same arguments.
    pub(crate) fn with_function(self, function: FunctionId, name: Rc<str>) -> Self {
        Call { function, name, ..self }
    }

    /// Appends an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Argument) -> Self {
        self.offsets.push(self.words.len() as u32);
        argument.words(&mut self.words);
        self
    }

    /// The kernel.
    pub(crate) fn function(&self) -> FunctionId {
        self.function
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The call with another number of cells per thread, if the grid is among its arguments.
    pub(crate) fn with_cells_per_thread(mut self, grid: &EqCartesian, cells_per_thread: u32) -> Self {
        let words = |grid: &EqCartesian| {
            let mut words = Vec::new();
            grid.words(&mut words);
            words
        };
        let (old, new) = (words(grid), words(&EqCartesian { cells_per_thread, ..*grid }));
        for &offset in &self.offsets {
            let argument = self.words.get_mut(offset as usize..offset as usize + old.len());
            if let Some(argument) = argument.filter(|argument| **argument == *old) {
                argument.copy_from_slice(&new);
            }
        }
        self
    }

    /// The launch of a call of a single thread.
    pub(crate) fn on_one_thread(self) -> Launch {
        self.shaped(LaunchShape { grid: [1; 3], block: [1; 3] })
    }

    pub(crate) fn shaped(self, shape: LaunchShape) -> Launch {
        Launch { function: self.function, name: self.name, shape, words: self.words, offsets: self.offsets, work: self.work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::executor::autotune::CELL_BLOCK;
    use crate::runtime::kernels::{OWN_MODULES, PRELUDE};

    /// Bounds of launches in the prelude are those of calls.
    #[test]
    fn wide_kernels_have_the_threads_of_the_prelude() {
        let most = Call::new(FunctionId(0), "k".into()).wide().most_threads(1);
        assert_eq!(PRELUDE.matches(&format!("#define EQ_WIDE __launch_bounds__({most}, ")).count(), 2);
        let most = Call::new(FunctionId(0), "k".into()).or_by_planes(&OWN_MODULES[0], &[(2, "k_x2")]).most_threads(2);
        assert_eq!(PRELUDE.matches(&format!("#define EQ_PLANES __launch_bounds__({most}, ")).count(), 1);
        assert!(CELL_BLOCK.iter().product::<u32>() <= most);
    }

    /// Sizes of the structs of the prelude in C++: 8-byte alignment throughout.
    #[test]
    fn words_fill_the_structs() {
        let count = |argument: &dyn Fn(&mut Vec<u64>)| {
            let mut words = Vec::new();
            argument(&mut words);
            words.len() * 8
        };
        assert_eq!(count(&|w| EqSpace::default().words(w)), 24);
        assert_eq!(count(&|w| EqGrid::default().words(w)), 264);
        assert_eq!(count(&|w| EqRanks::default().words(w)), 32);
        assert_eq!(count(&|w| EqChecks { flag: 1, first: 2 }.words(w)), 16);
        assert_eq!(count(&|w| EqRows { row_ptr: 1, columns: 2, entries: 3 }.words(w)), 24);
        assert_eq!(count(&|w| EqSlots { starts: 1, slots: 2 }.words(w)), 16);
        assert_eq!(count(&|w| EqPattern { counts: 1, starts: 2, columns: 3 }.words(w)), 24);
        assert_eq!(count(&|w| EqOperand::default().words(w)), 24);
        assert_eq!(count(&|w| EqBool::default().words(w)), 16);
        let cartesian = EqCartesian {
            n: [1; 3],
            flat: 0,
            face_start: [0; 3],
            cells_per_thread: 1,
            boundary_start: [0; 3],
            interior_start: [0; 3],
            spacing: [1.0; 3],
            area: [1.0; 3],
            volume: 1.0,
        };
        assert_eq!(count(&|w| cartesian.words(w)), 120);
    }
}
