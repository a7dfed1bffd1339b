//! State shared by the functions of one kernel: names and lines of CUDA C++ text. The text calls
//! the helpers of `runtime/kernels/prelude/`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use equelle_front::backend::Namer;
use equelle_front::backend::inside::FaceAcross;
use equelle_front::backend::usage::KernelUsage;
use equelle_front::ir::{KExpr, Kernel, LocalId, ParamId};
use equelle_front::types::{Basic, SetId, SetTable};

use super::around::CellsAround;
use super::derivatives::Derivatives;
use super::reals::Reals;
use super::sides::SideNames;
use super::uses::Uses;

/// Body of a kernel that the text implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Form {
    /// Any grid.
    General,
    /// Every cell of a Cartesian grid.
    Cells,
    /// Once per axis (face spaces: `true`) or once (cell spaces) of a Cartesian grid.
    PerAxis(bool),
}

/// Words that names in kernels must avoid: C++ keywords, and what the text itself declares.
const RESERVED: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast constexpr \
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable \
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short signed sizeof static \
static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void \
volatile wchar_t while xor xor_eq DIM sqrt abs fabs min max grid space g cell axis here element checks leaf begin end partial threadIdx \
blockIdx blockDim gridDim warpSize size_t row rows told pattern stage stage_entries stage_columns entries slot slots at step ahead rare rare_divisor ROW";

/// Ends of names that belong to a face of a sum, after its own.
const OF_FACE: [&str; 8] = ["_at", "_cell", "_cells", "_from", "_neighbour", "_prefetched", "_sides", "_sign"];

/// End of the name of a pointer to a single number.
const POINTER: &str = "_at";

/// Names that belong to an unknown of an equation.
#[derive(Clone, Debug)]
pub(in crate::codegen) struct UnknownNames {
    /// Number of its first column.
    pub first: String,
    /// Derivative by the element here.
    pub own: String,
    /// Place of that in the row.
    pub own_slot: String,
    /// Derivatives by the elements beyond the low sides, by axis.
    pub low: String,
    /// The same beyond the high sides.
    pub high: String,
}

/// A kernel, and what is known of it.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Source<'a> {
    pub kernel: &'a Kernel,
    pub sets: &'a SetTable,
    pub usage: &'a KernelUsage,
    pub reals: Reals,
    /// Cells that the program needs along each axis.
    pub cells: [u32; 3],
    /// Name of its general function.
    pub name: &'a str,
}

/// Writes the text of one body.
pub(in crate::codegen) struct Writer<'a> {
    pub kernel: &'a Kernel,
    pub sets: &'a SetTable,
    pub reals: Reals,
    pub form: Form,
    pub usage: &'a KernelUsage,
    /// True if the cells are known to be inside the grid, all their neighbours there.
    pub inside: bool,
    /// True if the text is for one of several cells of a row, number `at`, whose values were loaded
    /// together.
    pub row: bool,
    /// True if values of neighbours are loaded before the first of them is used. Loads left in
    /// place wait for what stands before them, but need no registers until then.
    pub loads_neighbours_first: bool,
    pub out: String,
    /// References of the text.
    pub uses: Uses,
    pub(in crate::codegen) indent: usize,
    pub params: Vec<String>,
    /// Names of the values of each parameter on the sides of cells.
    pub by_side: Vec<String>,
    pub results: Vec<String>,
    pub(in crate::codegen) locals: Vec<String>,
    /// Name of the ranks argument of each set whose ranks the body needs.
    pub ranks: BTreeMap<SetId, String>,
    /// Names for the faces that the sums around go over.
    pub(in crate::codegen) sides: BTreeMap<LocalId, SideNames>,
    /// Results that are stored as soon as a local has their value, which nothing reads after that.
    pub(in crate::codegen) early: Vec<(LocalId, usize)>,
    /// Divisors that are the same for every cell, with the names of their inverses: divisions by
    /// them are written without branches.
    pub(in crate::codegen) inverses: Vec<(KExpr, String)>,
    /// Cells that the grid has at least along each axis.
    pub(in crate::codegen) cells: [u32; 3],
    /// Form::General: the grid is Cartesian, and numbers per axis are stored so.
    pub on_cartesian_grid: bool,
    /// Locals that stand for faces, in the body for cells inside the grid.
    pub(in crate::codegen) faces_across: BTreeMap<LocalId, FaceAcross>,
    /// Cells that are read by index.
    pub(in crate::codegen) around: CellsAround,
    /// Arrays (by axis) that hold values of neighbours, loaded together before the sides are
    /// summed.
    pub(in crate::codegen) neighbours: BTreeMap<(ParamId, u32), String>,
    /// Locals that hold values of the cell itself, loaded first.
    pub(in crate::codegen) here: BTreeMap<ParamId, String>,
    /// Locals that hold what is kept per axis, loaded first: arrays by axis, or one number.
    pub(in crate::codegen) per_axis: BTreeMap<ParamId, String>,
    /// Names for the unknowns of an equation, the first parameters.
    pub unknowns: Vec<UnknownNames>,
    /// State of the derivatives of an equation.
    pub derivatives: Option<Derivatives>,
    pub(in crate::codegen) names: Namer,
}

impl<'a> Writer<'a> {
    pub(in crate::codegen) fn new(source: Source<'a>, form: Form) -> Self {
        let Source { kernel, sets, usage, reals, cells, .. } = source;
        let mut names = Namer::default();
        names.reserve(RESERVED.split(' '));
        let params = kernel.params.iter().map(|p| names.fresh_with(&p.name, &[POINTER])).collect();
        let by_side = kernel.params.iter().map(|p| names.fresh(&format!("{}_by_side", p.name))).collect();
        let results = kernel.results.iter().map(|r| names.fresh(&format!("{}_out", r.name))).collect();
        let local_names = kernel.locals.iter().map(|local| match local.ty.basic {
            Basic::Entity(_) => names.fresh_with(&local.name, &OF_FACE),
            Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => names.fresh(&local.name),
        });
        let locals = local_names.collect();
        let count = kernel.jacobian.as_ref().map_or(0, |form| form.unknowns as usize);
        let unknowns = kernel.params.iter().take(count);
        let unknowns = unknowns
            .map(|p| UnknownNames {
                first: names.fresh(&format!("{}_first", p.name)),
                own: names.fresh(&format!("own_{}", p.name)),
                own_slot: names.fresh(&format!("own_{}_slot", p.name)),
                low: names.fresh(&format!("low_by_{}", p.name)),
                high: names.fresh(&format!("high_by_{}", p.name)),
            })
            .collect();
        let mut writer = Writer {
            kernel,
            sets,
            reals,
            form,
            usage,
            inside: false,
            row: false,
            loads_neighbours_first: true,
            out: String::new(),
            uses: Uses::default(),
            indent: 1,
            params,
            by_side,
            results,
            locals,
            ranks: BTreeMap::new(),
            sides: BTreeMap::new(),
            early: Vec::new(),
            inverses: Vec::new(),
            cells,
            on_cartesian_grid: false,
            faces_across: BTreeMap::new(),
            around: CellsAround::default(),
            neighbours: BTreeMap::new(),
            here: BTreeMap::new(),
            per_axis: BTreeMap::new(),
            unknowns,
            derivatives: None,
            names,
        };
        writer.name_ranks();
        writer
    }

    /// Names a ranks argument for every set; [`Uses::ranks`] tells which are needed.
    fn name_ranks(&mut self) {
        for set in self.sets.ids() {
            let name = self.sets.get(set).name.trim_end_matches("()").to_owned();
            let name = self.names.fresh(&format!("{}_ranks", equelle_front::backend::snake_case(&name)));
            self.ranks.insert(set, name);
        }
    }

    /// Appends the text of another writer of the kernel.
    pub(in crate::codegen) fn append(&mut self, other: Writer<'_>) {
        self.out += &other.out;
        self.uses.append(other.uses);
    }

    /// Name of the pointer argument of a Scalar parameter, whose value is read once.
    pub(in crate::codegen) fn pointer_name(&self, param: usize) -> String {
        format!("{}{POINTER}", self.params[param])
    }

    pub(in crate::codegen) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    pub(in crate::codegen) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
    }

    /// Goes on one level deeper after `} else {`.
    pub(in crate::codegen) fn deeper(&mut self) {
        self.indent += 1;
    }

    pub(in crate::codegen) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * self.indent);
    }

    pub(in crate::codegen) fn local(&self, id: LocalId) -> &str {
        &self.locals[id.0 as usize]
    }

    /// A parameter, as a value or as a pointer to values.
    pub(in crate::codegen) fn param(&mut self, id: ParamId) -> String {
        self.uses.params.insert(id.0 as usize);
        self.params[id.0 as usize].clone()
    }

    /// Number of elements of a collection parameter.
    pub(in crate::codegen) fn size(&mut self, id: ParamId) -> String {
        self.uses.sizes.insert(id.0 as usize);
        self.size_name(id.0 as usize)
    }

    pub(in crate::codegen) fn size_name(&self, param: usize) -> String {
        format!("{}_size", self.params[param])
    }

    /// Number of the first column of an unknown.
    pub(in crate::codegen) fn first_column(&mut self, unknown: usize) -> String {
        self.uses.first_columns.insert(unknown);
        self.unknowns[unknown].first.clone()
    }
}
