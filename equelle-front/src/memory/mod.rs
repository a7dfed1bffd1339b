//! Estimate of a program's memory before it runs: the collections that live at the same time.
//!
//! [`machine`] runs the program over buffers instead of numbers: an operation takes a buffer,
//! handles share it, the last handle gives it back. Loops are run until nothing new can come.
//! Values live as the host program keeps them ([`lifetime`]): to the end of the Equelle statement
//! that uses them last.
//!
//! Buffers come from pools in which lengths do not mix, so what counts is the largest number of
//! buffers of each set and kind; [`Needs`] has these numbers. They bound any run from above: for
//! each set made at run time its size is that of the canonical set that holds it.

pub mod geometry;
pub mod lifetime;
mod machine;
mod solves;

use std::collections::BTreeSet;

use crate::backend::visit::{Node, visit_block};
use crate::backend::{Backend, Scratch};
use crate::ir::{Block, Function, KExpr, Kernel, Module, Op, OpClass, Space, StmtKind};
use crate::types::{CanonicalSet, EntityKind, Extent, SetId, Shape};

pub use machine::Element;
use machine::Run;
pub use solves::SolveNeeds;

/// Memory that a program needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// Collections, by set in the order of the table; sets without any are left out.
    pub sets: Vec<SetNeeds>,
    /// Linear systems, in order.
    pub solves: Vec<SolveNeeds>,
    /// Operations read the arrays of cells and faces. On a Cartesian grid kernels do without them.
    pub topology: bool,
    /// Operations read the arrays of geometry.
    pub geometry: bool,
    /// Canonical sets other than All-sets in which positions are looked up, each once; on a
    /// Cartesian grid they are computed.
    pub positions: Vec<CanonicalSet>,
    /// Those of them whose elements are listed on a Cartesian grid too.
    pub lists: Vec<CanonicalSet>,
}

/// The most collections of one set that live at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetNeeds {
    /// The set.
    pub set: SetId,
    /// On any grid.
    pub general: Buffers,
    /// On Cartesian grids.
    pub cartesian: Buffers,
    /// True if something over the set is reduced.
    pub reduced: bool,
}

/// Numbers of arrays of one value per element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Arrays of numbers, on grids of 1, 2 and 3 dimensions.
    pub numbers: [u32; 3],
    /// Arrays of truth values.
    pub truths: u32,
    /// Arrays of entities.
    pub entities: u32,
}

impl Needs {
    /// Memory of a module as it is compiled, where kernels keep nothing while they run.
    pub fn of(module: &Module) -> Needs {
        Needs::in_run(module, &[], Run::Compiled)
    }

    /// The same on the back-end that needs most, with what kernels keep there while they run.
    pub fn on_back_ends(module: &Module, backends: &[&dyn Backend]) -> Needs {
        let mut scratch = vec![Scratch::default(); module.kernels.len()];
        for backend in backends {
            scratch.iter_mut().zip(backend.scratch(module)).for_each(|(most, own)| *most = own.most(*most));
        }
        Needs::in_run(module, &scratch, Run::Compiled)
    }

    /// Memory of a module that the interpreter runs by lanes: that of the compiled module, but no
    /// result takes the memory of an argument, and general bodies read arrays of Cartesian grids.
    pub fn by_lanes(module: &Module) -> Needs {
        let mut needs = Needs::in_run(module, &[], Run::Lanes);
        let reads = geometry::general_kernel_grid_reads(module);
        needs.topology |= reads.topology;
        needs.geometry |= reads.geometry;
        needs
    }

    /// Memory of a module that the interpreter runs element by element: kernels take their general
    /// bodies on any grid, and copies of their arguments.
    pub fn by_elements(module: &Module) -> Needs {
        let mut needs = Needs::in_run(module, &[], Run::Elements);
        needs.sets.iter_mut().for_each(|set| set.cartesian = set.general);
        needs.solves.iter_mut().for_each(|solve| (solve.cartesian, solve.blocks) = (false, false));
        let reads = geometry::kernel_grid_reads(module);
        needs.topology |= reads.topology;
        needs.geometry |= reads.geometry;
        needs
    }

    fn in_run(module: &Module, scratch: &[Scratch], run: Run) -> Needs {
        let mut needs = Needs::default();
        let runs = |cartesian| [1, 2, 3].map(|dim| machine::peaks(module, scratch, dim, cartesian, run));
        let (general, cartesian) = (runs(false), runs(true));
        let buffers = |peaks: &[machine::Peaks; 3], set: SetId| {
            let of = |peaks: &machine::Peaks, element| peaks.get(&(set, element)).copied().unwrap_or(0);
            Buffers {
                numbers: std::array::from_fn(|i| of(&peaks[i], Element::Number)),
                truths: of(&peaks[2], Element::Truth),
                entities: of(&peaks[2], Element::Entity),
            }
        };
        // Buffers of other lengths than collections have serve nothing else.
        let terms: BTreeSet<u32> = scratch.iter().map(|kept| kept.of_faces).collect();
        let faces = module.sets.canonical(CanonicalSet { kind: EntityKind::Face, extent: Extent::All });
        let mut uses = Uses::default();
        for function in module.functions.iter().chain([&module.main]) {
            uses.block(module, function, &function.body);
        }
        for set in module.sets.ids() {
            let mut in_general = buffers(&general, set);
            if set == faces {
                in_general.numbers.iter_mut().for_each(|numbers| *numbers += terms.iter().sum::<u32>());
            }
            let entry = SetNeeds { set, general: in_general, cartesian: buffers(&cartesian, set), reduced: uses.reduced.contains(&set) };
            if entry.general != Buffers::default() || entry.cartesian != Buffers::default() || entry.reduced {
                needs.sets.push(entry);
            }
        }
        needs.solves = solves::of(module);
        (needs.topology, needs.geometry) = (uses.topology, uses.geometry);
        needs.positions = uses.positions.into_iter().collect();
        needs.lists = uses.lists.into_iter().collect();
        needs
    }
}

/// Grid data that a program uses.
#[derive(Default)]
struct Uses {
    topology: bool,
    geometry: bool,
    positions: BTreeSet<CanonicalSet>,
    lists: BTreeSet<CanonicalSet>,
    reduced: BTreeSet<SetId>,
}

impl Uses {
    fn block(&mut self, module: &Module, function: &Function, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { op, .. } => self.operation(module, function, op),
                StmtKind::Launch { kernel, .. } => self.kernel(module, &module.kernels[kernel.0 as usize]),
                StmtKind::For { body, .. } => self.block(module, function, body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn operation(&mut self, module: &Module, function: &Function, op: &Op) {
        self.topology |= matches!(op, Op::FirstCell(_) | Op::SecondCell(_) | Op::Gradient(_) | Op::Divergence(_) | Op::FaceReduce { .. });
        self.geometry |= op.class() == OpClass::Geometry;
        op.equations().iter().for_each(|equation| self.kernel(module, &module.kernels[equation.kernel.0 as usize]));
        for value in op.operands() {
            if let Some(set) = function.values[value.0 as usize].ty.mapping() {
                self.position(module, set);
                if op.class() == OpClass::Reduction {
                    self.reduced.insert(set);
                }
                if !matches!(op.class(), OpClass::Call | OpClass::Solve) {
                    self.list(module, set);
                }
            }
        }
    }

    fn position(&mut self, module: &Module, set: SetId) {
        let canonical = module.sets.get(set).canonical;
        self.positions.extend(canonical.filter(|set| set.extent != Extent::All));
    }

    fn list(&mut self, module: &Module, set: SetId) {
        let canonical = module.sets.get(set).canonical;
        self.lists.extend(canonical.filter(|set| set.extent != Extent::All));
    }

    fn kernel(&mut self, module: &Module, kernel: &Kernel) {
        if let Space::Set(set) = kernel.space
            && kernel.results.iter().any(|result| result.reduce.is_some())
        {
            self.reduced.insert(set);
        }
        for param in &kernel.params {
            if let Shape::Collection(set) | Shape::Domain(set) = param.ty.shape {
                self.position(module, set);
            }
        }
        if let (Space::Set(set), None) = (kernel.space, &kernel.cartesian) {
            self.list(module, set);
        }
        let jacobian = kernel.jacobian.iter().map(|form| &form.body);
        for body in std::iter::once(&kernel.body).chain(jacobian) {
            visit_block(body, &mut |node| {
                if let Node::Expr(KExpr::Member { set, .. }) = node {
                    self.position(module, *set);
                }
            });
        }
    }
}
