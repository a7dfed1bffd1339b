//! One kernel: its CUDA C++ functions.

use std::collections::BTreeSet;

use equelle_front::backend::KernelNames;
use equelle_front::backend::branches::share_across_branches;
use equelle_front::ir::{CartesianForm, Kernel, Module, Numbers, ParamId};
use equelle_front::types::{Basic, SetTable, Type};

use super::cartesian::function::{axis_function, cell_function};
use super::emit::reals::Reals;
use super::jacobian::cartesian::cartesian_equation;
use super::jacobian::unstructured::{EquationText, unstructured_equation};
use super::signature::Function;
use super::unstructured::function::unstructured_function;

/// The functions of one kernel.
#[derive(Clone, Debug)]
pub(super) struct KernelText {
    pub general: Function,
    /// The Cartesian form and whether it is [`CartesianForm::PerAxis`].
    pub cartesian: Option<(Function, bool)>,
    /// Of an equation: what tells its derivatives, in both forms.
    pub pattern: Option<Function>,
    pub cartesian_pattern: Option<Function>,
}

impl KernelText {
    /// All of them.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Function> {
        let cartesian = self.cartesian.as_ref().map(|(function, _)| function);
        [Some(&self.general), cartesian, self.pattern.as_ref(), self.cartesian_pattern.as_ref()].into_iter().flatten()
    }
}

/// Writes the functions of a kernel, given the parameters that stay what they are while a loop goes round. `comment` stands above them.
pub(super) fn kernel_text(
    kernel: &Kernel,
    sets: &SetTable,
    numbers: Numbers,
    steady: &BTreeSet<ParamId>,
    name: &str,
    comment: &str,
) -> KernelText {
    let mut shared = kernel.clone();
    share_across_branches(&mut shared, sets);
    let kernel = &shared;
    let reals = Reals::of(kernel, numbers);
    // Conditions and reductions are those of the general form; only numbers are kept per axis.
    let number = |ty: &Type| ty.basic == Basic::Scalar;
    let plain = kernel.checks.is_empty()
        && kernel.results.iter().all(|r| r.reduce.is_none())
        && kernel.params.iter().all(|p| !p.per_axis || number(&p.ty));
    if let Some(form) = &kernel.jacobian {
        let EquationText { evaluation, pattern } = unstructured_equation(kernel, form, sets, reals, steady, name, comment);
        let cartesian = form.cartesian.as_ref().filter(|_| plain);
        let cartesian = cartesian.map(|block| cartesian_equation(kernel, form.unknowns, block, sets, reals, name, comment));
        let (cartesian, cartesian_pattern) = cartesian.map(|text| ((text.evaluation, false), text.pattern)).unzip();
        return KernelText { general: evaluation, cartesian, pattern: Some(pattern), cartesian_pattern };
    }
    let general = unstructured_function(kernel, sets, reals, steady, name, comment);
    let possible = |form: &&CartesianForm| match form {
        CartesianForm::Full(_) => plain,
        CartesianForm::PerAxis(_) => plain && kernel.results.iter().all(|r| number(&r.ty)),
    };
    let cartesian = kernel.cartesian.as_ref().filter(possible).map(|form| match form {
        CartesianForm::Full(block) => (cell_function(kernel, sets, reals, &format!("{name}_cartesian"), comment, block), false),
        CartesianForm::PerAxis(block) => (axis_function(kernel, sets, reals, &format!("{name}_per_axis"), comment, block), true),
    });
    KernelText { general, cartesian, pattern: None, cartesian_pattern: None }
}

/// Name of the general function of a kernel on the device.
pub(super) fn device_name(names: &KernelNames) -> &str {
    names.method.trim_start_matches("r#")
}

/// The Equelle lines that a kernel came from, as comments, innermost first.
pub(super) fn comment(module: &Module, kernel: &Kernel) -> String {
    let source = &module.source;
    if source.text().is_empty() {
        return String::new();
    }
    let mut lines: Vec<u32> = Vec::new();
    for span in &kernel.spans {
        let line = source.line(span.start);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.sort_unstable();
    lines.iter().map(|&line| format!("// {}:{line}: {}\n", source.name(), source.line_text(line).trim())).collect()
}
