//! Kernel modules: CUDA C++ source with compile options.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use equelle_runtime::Error;

use super::prelude::PRELUDE;
use crate::runtime::executor::precision::Precision;

/// Floating-point mode of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatingPoint {
    /// Every operation as written: no contraction to fused multiply-add.
    Strict,
    /// Contraction allowed.
    Fast,
}

/// Compile options of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// Dimension of the grid: `DIM` in the kernels.
    pub dim: usize,
    /// True if offsets into the cells' face lists need 64 bits.
    pub wide_offsets: bool,
    /// True if neighbours across half-faces have 16 bits: `EQ_NARROW_SIDES` in the kernels.
    pub narrow_sides: bool,
    /// True if kernels of programs use closed forms for relations and geometry of an open Cartesian
    /// grid: `EQ_CARTESIAN` in the kernels.
    pub cartesian: bool,
    /// True for the axes of a Cartesian grid whose sides are joined: `EQ_JOINED` in the kernels.
    pub joined: [bool; 3],
    /// Precision of collections: `EqReal` in the kernels.
    pub precision: Precision,
}

impl CompileOptions {
    /// Options of kernels for any small grid, which read arrays.
    pub fn new(dim: usize, precision: Precision) -> CompileOptions {
        CompileOptions { dim, wide_offsets: false, narrow_sides: false, cartesian: false, joined: [false; 3], precision }
    }

    /// Macro definitions, as arguments of every compiler.
    pub(crate) fn definitions(self) -> Vec<String> {
        let mut definitions = vec![format!("-DDIM={}", self.dim)];
        if self.wide_offsets {
            definitions.push("-DEQ_WIDE_OFFSETS=1".to_owned());
        }
        if self.narrow_sides {
            definitions.push("-DEQ_NARROW_SIDES=1".to_owned());
        }
        if self.cartesian {
            definitions.push("-DEQ_CARTESIAN=1".to_owned());
        }
        if self.joined != [false; 3] {
            let mask = self.joined.iter().rev().fold(0, |mask, &joined| 2 * mask + u32::from(joined));
            definitions.push(format!("-DEQ_JOINED={mask}"));
        }
        if self.precision == Precision::Single {
            definitions.push("-DEQ_SINGLE=1".to_owned());
        }
        definitions
    }
}

/// A text of a kernel module. Clones have the same address.
#[derive(Clone, Debug)]
pub enum KernelText {
    /// Generated programs and the runtime have it as a constant.
    Constant(&'static str),
    /// A program that is interpreted shares it.
    Shared(Arc<str>),
}

impl Deref for KernelText {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            KernelText::Constant(text) => text,
            KernelText::Shared(text) => text,
        }
    }
}

impl fmt::Display for KernelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq for KernelText {
    fn eq(&self, other: &KernelText) -> bool {
        **self == **other
    }
}

impl Eq for KernelText {}

impl Hash for KernelText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        str::hash(self, state);
    }
}

impl From<&str> for KernelText {
    fn from(text: &str) -> KernelText {
        KernelText::Shared(text.into())
    }
}

impl From<String> for KernelText {
    fn from(text: String) -> KernelText {
        KernelText::Shared(text.into())
    }
}

/// The kernels of a program; a constant in generated programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelModule {
    /// Name of the program, for messages.
    pub name: KernelText,
    /// CUDA C++ source of the kernels, without the prelude.
    pub source: KernelText,
    /// Floating-point mode.
    pub floating_point: FloatingPoint,
}

/// Kernels of the runtime on Scalars and vectors of linear systems: loops, reduction trees, linear
/// algebra. In double precision, like all kernels that work on no collection.
pub const RUNTIME_MODULE: KernelModule = KernelModule::constant("equelle", include_str!("builtin.cu"), FloatingPoint::Strict);

/// Kernels of the runtime on collections.
pub const COLLECTIONS_MODULE: KernelModule = KernelModule::constant("collections", include_str!("collections.cu"), FloatingPoint::Strict);

/// The kernels of the operation level.
pub const OPERATIONS_MODULE: KernelModule =
    KernelModule::constant("operations", concat!(include_str!("operands.cuh"), include_str!("operations.cu")), FloatingPoint::Strict);

/// The kernels of derivatives at the operation level.
pub const DERIVATIVES_MODULE: KernelModule =
    KernelModule::constant("derivatives", concat!(include_str!("operands.cuh"), include_str!("derivatives.cu")), FloatingPoint::Strict);

/// Kernels of linear solvers on vectors. Kernels of solvers are in several modules, which threads
/// compile beside each other; [`solver_module`] tells which.
pub const VECTORS_MODULE: KernelModule = KernelModule::constant(
    "vectors",
    concat!(include_str!("sums.cuh"), include_str!("updates.cu"), include_str!("krylov.cu")),
    FloatingPoint::Strict,
);

/// Products with matrices in slices, and their sums.
pub const PRODUCTS_MODULE: KernelModule = KernelModule::constant(
    "products",
    concat!(
        include_str!("sums.cuh"),
        include_str!("formats.cuh"),
        include_str!("products.cu"),
        include_str!("spmv_format.cu"),
        include_str!("product_sum.cu")
    ),
    FloatingPoint::Strict,
);

/// Products with matrices in rows or with two sums.
pub const PRODUCT_SUMS_MODULE: KernelModule = KernelModule::constant(
    "product_sums",
    concat!(include_str!("sums.cuh"), include_str!("formats.cuh"), include_str!("product_sums.cu")),
    FloatingPoint::Strict,
);

/// Matrices in rows: what they are like, and how equations make them.
pub const MATRICES_MODULE: KernelModule =
    KernelModule::constant("matrices", concat!(include_str!("matrices.cu"), include_str!("patterns.cu")), FloatingPoint::Strict);

/// The module of a kernel of linear solvers in double precision.
pub fn solver_module(kernel: &str) -> KernelModule {
    match kernel {
        "equelle_vector"
        | "equelle_fill"
        | "equelle_add_diagonal"
        | "equelle_dot"
        | "equelle_numbers"
        | "equelle_step"
        | "equelle_add_two"
        | "equelle_turn" => VECTORS_MODULE,
        "equelle_format_product"
        | "equelle_slice_widths"
        | "equelle_slice_columns"
        | "equelle_slice_values"
        | "equelle_slice_f32_values"
        | "equelle_format_dot" => PRODUCTS_MODULE,
        "equelle_rows_dot" | "equelle_rows_dots" | "equelle_format_dots" => PRODUCT_SUMS_MODULE,
        _ => MATRICES_MODULE,
    }
}

/// Set-up of multigrid, and its cycles in double precision.
pub const MULTIGRID_MODULE: KernelModule = KernelModule::constant(
    "multigrid",
    concat!(
        include_str!("sums.cuh"),
        include_str!("formats.cuh"),
        include_str!("smoothing.cu"),
        include_str!("mixed_precision.cu"),
        include_str!("coarsening.cu")
    ),
    FloatingPoint::Strict,
);

/// Kernels of multigrid cycles, on vectors and matrices in single precision.
pub const MIXED_PRECISION_MODULE: KernelModule = KernelModule::constant(
    "mixed_precision",
    concat!(
        include_str!("sums.cuh"),
        include_str!("updates.cu"),
        include_str!("formats.cuh"),
        include_str!("products.cu"),
        include_str!("smoothing.cu")
    ),
    FloatingPoint::Strict,
);

/// Kernels of triangular solves and sweeps, separate because they take long to compile.
pub const SUBSTITUTION_MODULE: KernelModule =
    KernelModule::constant("substitution", concat!(include_str!("schedule.cuh"), include_str!("triangular.cu")), FloatingPoint::Strict);

/// Kernels of factorisations and inverses, separate for the same reason.
pub const FACTORISATION_MODULE: KernelModule = KernelModule::constant(
    "factorisation",
    concat!(include_str!("schedule.cuh"), include_str!("elimination.cu"), include_str!("fsai.cu")),
    FloatingPoint::Strict,
);

/// All modules of the runtime.
pub const OWN_MODULES: [KernelModule; 12] = [
    RUNTIME_MODULE,
    COLLECTIONS_MODULE,
    OPERATIONS_MODULE,
    DERIVATIVES_MODULE,
    VECTORS_MODULE,
    PRODUCTS_MODULE,
    PRODUCT_SUMS_MODULE,
    MATRICES_MODULE,
    MULTIGRID_MODULE,
    MIXED_PRECISION_MODULE,
    SUBSTITUTION_MODULE,
    FACTORISATION_MODULE,
];

/// Modules of linear systems: others may have kernels of the same names.
const LINEAR_MODULES: [KernelModule; 8] = [
    VECTORS_MODULE,
    PRODUCTS_MODULE,
    PRODUCT_SUMS_MODULE,
    MATRICES_MODULE,
    MULTIGRID_MODULE,
    MIXED_PRECISION_MODULE,
    SUBSTITUTION_MODULE,
    FACTORISATION_MODULE,
];
/// Their kernels that begin with `EQ_START`.
const PROGRAMMATIC_KERNELS: [&str; 24] = [
    "equelle_add_diagonal",
    "equelle_add_two",
    "equelle_correct",
    "equelle_dot",
    "equelle_format_dot",
    "equelle_format_dots",
    "equelle_format_product",
    "equelle_narrow",
    "equelle_numbers",
    "equelle_product",
    "equelle_relax",
    "equelle_relax_groups",
    "equelle_rows_dot",
    "equelle_rows_dots",
    "equelle_smooth",
    "equelle_smooth_dot",
    "equelle_smooth_from_zero",
    "equelle_step",
    "equelle_step_narrow",
    "equelle_substitute",
    "equelle_substitute_groups",
    "equelle_turn",
    "equelle_vector",
    "equelle_widen",
];

impl KernelModule {
    /// A module of constant texts: name of the program, source and floating-point mode.
    pub const fn constant(name: &'static str, source: &'static str, floating_point: FloatingPoint) -> KernelModule {
        KernelModule { name: KernelText::Constant(name), source: KernelText::Constant(source), floating_point }
    }

    /// The precision of its kernels in a program of this precision: the same for kernels of
    /// programs and on collections, single precision for multigrid cycles, double precision for all
    /// others.
    pub fn precision(&self, of_program: Precision) -> Precision {
        if *self == MIXED_PRECISION_MODULE {
            Precision::Single
        } else if self.is_on_grids() {
            of_program
        } else {
            Precision::Double
        }
    }

    /// True if its kernels depend on the grid. Other modules are compiled once for all grids.
    pub(crate) fn is_on_grids(&self) -> bool {
        *self != RUNTIME_MODULE && !LINEAR_MODULES.contains(self)
    }

    /// Its compile options in a program with these options.
    pub(crate) fn options(&self, of_program: CompileOptions) -> CompileOptions {
        let precision = self.precision(of_program.precision);
        if self.is_on_grids() {
            // The operation level is the reference, and reads arrays.
            let cartesian = of_program.cartesian && !OWN_MODULES.contains(self);
            let has_closed_forms = *self == COLLECTIONS_MODULE || !OWN_MODULES.contains(self);
            let joined = if has_closed_forms { of_program.joined } else { [false; 3] };
            CompileOptions { precision, cartesian, joined, ..of_program }
        } else {
            CompileOptions::new(3, precision)
        }
    }

    /// True if a kernel begins with `EQ_START`: it waits by itself for the previous one in a graph,
    /// and may start while that one ends (programmatic dependent launch).
    pub(crate) fn is_programmatic(&self, kernel: &str) -> bool {
        LINEAR_MODULES.contains(self) && PROGRAMMATIC_KERNELS.contains(&kernel)
    }

    /// Adds to a compiler's error for [`KernelModule::full_source`] the kernel with the error and
    /// its lines of the program. Unchanged if the error is in no kernel.
    #[must_use]
    pub fn with_kernel(&self, mut error: Error) -> Error {
        let kernel = self.line_of(&error.message).and_then(|line| self.kernel_at(line));
        if let Some((name, comments)) = kernel {
            error.message.truncate(error.message.trim_end().len());
            error.message += &format!("\nin kernel `{name}`");
            if !comments.is_empty() {
                error.message += ", made of";
            }
            for comment in comments {
                error.message += &format!("\n  {comment}");
            }
        }
        error
    }

    /// The first line of the module with a compiler error: NVRTC writes `name.cu(12): error`,
    /// others `name.cu:12:3: error`.
    fn line_of(&self, message: &str) -> Option<usize> {
        let file = format!("{}.cu", self.name);
        let number = |line: &str| {
            let place = line.split_once(&file)?.1.strip_prefix(['(', ':'])?;
            place.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        message.lines().filter(|line| line.contains("error")).find_map(number)
    }

    /// The kernel that contains a line, and the comments above it, which are the lines of the
    /// program.
    fn kernel_at(&self, line: usize) -> Option<(&str, Vec<&str>)> {
        let lines: Vec<&str> = self.source.lines().take(line).collect();
        let head = lines.iter().rposition(|line| line.contains("__global__"))?;
        let name = lines[head].split('(').next()?.split_whitespace().next_back()?;
        let above = lines[..head].iter().rposition(|line| !line.starts_with("//")).map_or(0, |other| other + 1);
        Some((name, lines[above..head].iter().map(|line| line.trim_start_matches(['/', ' '])).collect()))
    }

    /// Prelude and kernels as one source; line numbers of compiler messages are those of `source`.
    pub fn full_source(&self) -> String {
        // Kernels on linear systems call no elementary function.
        let before = if self.is_on_grids() { before_kernels() } else { PRELUDE.to_owned() };
        format!("{before}\n#line 1 \"{}.cu\"\n{}\n", self.name, self.source)
    }
}

/// Returns the text before kernels on grids: the prelude and the elementary functions.
pub fn before_kernels() -> String {
    format!("{PRELUDE}\n{}{}", equelle_runtime::math::cuda_text(), equelle_runtime::math::cuda_dispatch_text())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Kernels of an iteration wait by themselves, others do not; a name that is a prefix of
    /// another is distinguished from it.
    #[test]
    fn kernels_that_wait_by_themselves_are_known() {
        for kernel in ["equelle_format_dot", "equelle_format_dots", "equelle_dot", "equelle_numbers"] {
            assert!(solver_module(kernel).is_programmatic(kernel), "{kernel}");
        }
        for kernel in ["equelle_slice_values", "equelle_inverse_diagonal", "equelle_for", "no_kernel", "equelle_fill"] {
            assert!(!solver_module(kernel).is_programmatic(kernel), "{kernel}");
        }
        assert!(MIXED_PRECISION_MODULE.is_programmatic("equelle_smooth_dot"));
        assert!(MULTIGRID_MODULE.is_programmatic("equelle_smooth"));
    }

    /// Kernels in the text of a module.
    fn kernels(module: &KernelModule) -> Vec<&str> {
        let heads = module.source.split("extern \"C\" __global__").skip(1).map(|kernel| kernel.split('(').collect::<Vec<_>>());
        // Launch bounds are in parentheses too.
        heads
            .filter_map(|parts| parts.iter().find_map(|part| part.split_whitespace().last().filter(|word| word.starts_with("equelle_"))))
            .collect()
    }

    #[test]
    fn kernels_of_solvers_are_in_their_modules() {
        let modules = [VECTORS_MODULE, PRODUCTS_MODULE, PRODUCT_SUMS_MODULE, MATRICES_MODULE];
        for module in &modules {
            let kernels = kernels(module);
            assert!(!kernels.is_empty(), "{}", module.name);
            kernels.iter().for_each(|kernel| assert_eq!(solver_module(kernel).name, module.name, "{kernel}"));
        }
    }

    /// The list names the kernels that begin with `EQ_START`. Reads through a restricted pointer
    /// may be moved before the wait.
    #[test]
    fn kernels_that_wait_by_themselves_are_listed_and_restrict_no_pointer() {
        let mut found = BTreeSet::new();
        let modules = OWN_MODULES;
        for module in &modules {
            for kernel in module.source.split("extern \"C\" __global__").skip(1) {
                let (head, body) = kernel.split_once('{').expect("a body");
                let name = head.split_once('(').and_then(|(words, _)| words.split_whitespace().last()).expect("a name");
                let waits = body.trim_start().starts_with("EQ_START");
                assert_eq!(module.is_programmatic(name), waits, "{name}");
                if waits {
                    found.insert(name);
                    assert!(!head.contains("__restrict__"), "{head}");
                }
            }
        }
        assert_eq!(found, BTreeSet::from(PROGRAMMATIC_KERNELS));
        let of_a_program = KernelModule { name: "program".into(), ..VECTORS_MODULE };
        assert!(!of_a_program.is_programmatic("equelle_dot"));
    }
}
