//! One kernel: its CUDA C++ functions, from which the device text and the host side both come.

use equelle_front::backend::KernelNames;
use equelle_front::backend::forms::{ChosenForm, LoopForm};
use equelle_front::backend::inside::InsideForms;
use equelle_front::backend::usage::{KernelUsage, ModuleUsage};
use equelle_front::ir::{CartesianForm, Kernel, Module, reads_by_index, sums_over_faces};
use equelle_front::types::{Basic, SetTable, Shape, Type};

use super::cartesian::by_index::body_of_cells;
use super::cartesian::function::{axis_function, cell_function, row_function};
use super::cartesian::inside::inside_function;
use super::cartesian::rows_by_index::row_function_by_index;
use super::emit::reals::Reals;
use super::emit::writer::Source;
use super::jacobian::by_index::equation_by_index;
use super::jacobian::cartesian::cartesian_equation;
use super::jacobian::unstructured::unstructured_equation;
use super::leaves::goes_by_leaves;
use super::signature::{EquationText, Function};
use super::unstructured::function::unstructured_function;

/// A kernel and its functions.
#[derive(Clone, Debug)]
pub(super) struct KernelText<'a> {
    pub kernel: &'a Kernel,
    pub names: KernelNames,
    pub usage: KernelUsage,
    /// The Equelle lines that it came from: `file:line: text`.
    pub lines: Vec<String>,
    pub functions: Functions,
}

/// The functions of a kernel.
#[derive(Clone, Debug)]
pub(super) enum Functions {
    /// For any grid, and for Cartesian grids.
    Values { general: Box<Function>, cartesian: Option<Box<CartesianFunction>> },
    /// For every cell of a Cartesian grid, since it reads by index: for a cell a thread, and for
    /// several ones of a row.
    Cells(Box<Function>, Option<Box<Function>>),
    /// The same of an equation.
    Equation { general: Box<EquationText>, cartesian: Option<Box<EquationText>> },
}

/// The function for Cartesian grids.
#[derive(Clone, Debug)]
pub(super) enum CartesianFunction {
    /// Functions of [`CartesianForm::Full`]: for one cell a thread, and for several cells of a row.
    Cells(Function, Option<Function>),
    /// Function of [`CartesianForm::PerAxis`].
    PerAxis(Function),
}

impl KernelText<'_> {
    /// Its loop on Cartesian grids: threads ask for sides at the boundary, which costs them little.
    pub(super) fn form(&self, sets: &SetTable) -> ChosenForm {
        match &self.functions {
            Functions::Values { cartesian: Some(function), .. } => match **function {
                CartesianFunction::Cells(..) => ChosenForm::new(LoopForm::Cells),
                CartesianFunction::PerAxis(_) => ChosenForm::new(LoopForm::PerAxis),
            },
            Functions::Cells(..) | Functions::Equation { cartesian: Some(_), .. } => ChosenForm::new(LoopForm::Cells),
            Functions::Values { cartesian: None, .. } | Functions::Equation { cartesian: None, .. } => {
                ChosenForm::general(self.kernel, sets)
            }
        }
    }

    /// All functions, in the order of the text.
    pub(super) fn functions(&self) -> Vec<&Function> {
        match &self.functions {
            Functions::Values { general, cartesian } => {
                let (cartesian, rows) = match cartesian.as_deref() {
                    Some(CartesianFunction::Cells(function, rows)) => (Some(function), rows.as_ref()),
                    Some(CartesianFunction::PerAxis(function)) => (Some(function), None),
                    None => (None, None),
                };
                [Some(&**general), cartesian, rows].into_iter().flatten().collect()
            }
            Functions::Cells(function, rows) => [Some(&**function), rows.as_deref()].into_iter().flatten().collect(),
            Functions::Equation { general, cartesian } => {
                let evaluations = std::iter::once(&general.evaluation).chain(cartesian.as_ref().map(|text| &text.evaluation));
                let patterns = std::iter::once(&general.pattern).chain(cartesian.as_ref().map(|text| &text.pattern));
                evaluations.chain(patterns).collect()
            }
        }
    }
}

/// Writes the functions of all kernels of a module.
pub(super) fn kernel_texts(module: &Module) -> Vec<KernelText<'_>> {
    let kernels = module.kernels.iter().zip(KernelNames::for_module(module)).zip(ModuleUsage::of(module).kernels);
    let cells = module.structure.map_or([0; 3], |structure| structure.cells);
    let text = |((kernel, names), usage): ((_, KernelNames), _)| {
        let reals = Reals::of(kernel, module.numbers);
        let functions = functions(Source { kernel, sets: &module.sets, usage: &usage, reals, cells, name: &names.method });
        KernelText { kernel, names, usage, lines: source_lines(module, kernel), functions }
    };
    kernels.map(text).collect()
}

fn functions(source: Source<'_>) -> Functions {
    let kernel = source.kernel;
    // Conditions and reductions are those of the general form; only numbers are kept per axis.
    let number = |ty: &Type| ty.basic == Basic::Scalar;
    let plain = !source.usage.can_fail && !goes_by_leaves(kernel) && kernel.params.iter().all(|p| !p.per_axis || number(&p.ty));
    if let Some(form) = &kernel.jacobian {
        let cartesian = match form.cartesian.as_ref().filter(|_| plain) {
            Some(block) => Some(cartesian_equation(source, form.unknowns, block)),
            None if plain => InsideForms::of(kernel, source.sets).map(|inside| equation_by_index(source, form, &inside)),
            None => None,
        };
        return Functions::Equation { general: Box::new(unstructured_equation(source, form)), cartesian: cartesian.map(Box::new) };
    }
    if plain
        && reads_by_index(kernel)
        && let Some(block) = body_of_cells(kernel, source.sets)
    {
        let function = cell_function(source, block);
        // Both are called with the same arguments.
        let rows = row_function_by_index(source, block).filter(|rows| rows.arguments == function.arguments);
        return Functions::Cells(Box::new(function), rows.map(Box::new));
    }
    let cartesian = match &kernel.cartesian {
        Some(CartesianForm::Full(block)) if plain => {
            let function = cell_function(source, block);
            // Both are called with the same arguments.
            let rows = row_function(source, block).filter(|rows| function.apart && rows.arguments == function.arguments);
            Some(CartesianFunction::Cells(function, rows))
        }
        Some(CartesianForm::PerAxis(block)) if plain && kernel.results.iter().all(|r| number(&r.ty)) => {
            Some(CartesianFunction::PerAxis(axis_function(source, block)))
        }
        Some(CartesianForm::Full(_) | CartesianForm::PerAxis(_)) | None => None,
    };
    let cartesian = cartesian.or_else(|| {
        // A thread loads a Vector as a whole, which the form far from the sides takes apart.
        let loads_vectors =
            kernel.params.iter().any(|param| param.ty.basic == Basic::Vector && matches!(param.ty.shape, Shape::Collection(_)));
        let inside = (plain && kernel.cartesian.is_none() && sums_over_faces(kernel) && !loads_vectors)
            .then(|| InsideForms::of(kernel, source.sets));
        Some(CartesianFunction::Cells(inside_function(source, &inside.flatten()?), None))
    });
    Functions::Values { general: Box::new(unstructured_function(source)), cartesian: cartesian.map(Box::new) }
}

/// The Equelle lines that a kernel came from.
fn source_lines(module: &Module, kernel: &Kernel) -> Vec<String> {
    let source = &module.source;
    if source.text().is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<u32> = kernel.spans.iter().map(|span| source.line(span.start)).collect();
    lines.sort_unstable();
    lines.dedup();
    let shown = |&line: &u32| {
        let (file, own) = source.file_and_line(line);
        format!("{}:{own}: {}", source.file(file).name(), source.line_text(line).trim())
    };
    lines.iter().map(shown).collect()
}
