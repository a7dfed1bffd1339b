//! Path of the Equelle source in a package, and facts of its loops and solves for the runtime.

use std::collections::BTreeSet;

use equelle_front::ir::{Block, Equation, FunctionId, Module, Op, StmtKind};
use equelle_front::source::{FileId, Span};
use equelle_front::time_steps::TimeLoop;
use equelle_runtime::Retry;

/// Name of the Equelle file, without its folder.
pub(super) fn file_name(module: &Module) -> &str {
    module.source.name().rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or("program.equelle")
}

/// Path of the Equelle source in the package; `None` for modules without one.
pub(super) fn source_path(module: &Module) -> Option<String> {
    (!module.source.text().is_empty()).then(|| file_name(module).to_owned())
}

/// Name in messages, path in the package and text of each file that the program imports.
pub(super) fn imported(module: &Module) -> Vec<(&str, String, &str)> {
    let mut taken = BTreeSet::new();
    let mut path = |name: &str| {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let plain: String = last.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
        // Files of one name may come from several folders.
        let mut unique = format!("imports/{plain}");
        let mut number = 1;
        while !taken.insert(unique.clone()) {
            number += 1;
            unique = format!("imports/{number}_{plain}");
        }
        unique
    };
    module.source.imported().iter().map(|file| (file.name(), path(file.name()), file.text())).collect()
}

/// `heat.equelle:12`
pub(super) fn place(module: &Module, line: u32) -> String {
    let (file, own) = module.source.file_and_line(line);
    let name = if file == FileId::MAIN { file_name(module) } else { module.source.file(file).name() };
    format!("{name}:{own}")
}

/// Describes the loops that solve equations to the runtime.
pub(crate) fn retries(module: &Module, loops: &[TimeLoop]) -> Vec<Retry> {
    let line = |span: Span| if module.source.text().is_empty() { 0 } else { module.source.line(span.start) };
    let retry = |time_loop: &TimeLoop| Retry {
        line: line(time_loop.span),
        obstacle: time_loop.obstacle.map(|(construct, span)| (construct.into(), line(span))),
    };
    loops.iter().map(retry).collect()
}

/// The Equelle line of each solve, and what its unknowns are called.
pub(crate) fn solves(module: &Module) -> Vec<(u32, Vec<String>)> {
    let unknowns = |residuals: &[FunctionId], equations: &[Equation], count: usize| -> Vec<String> {
        // Kernels begin with the unknowns, as the functions do that they are made of.
        let of_kernel = equations.first().and_then(|equation| module.kernels.get(equation.kernel.0 as usize));
        let of_function = residuals.first().and_then(|residual| module.functions.get(residual.0 as usize));
        let names: Vec<&String> = match (of_kernel, of_function) {
            (Some(kernel), _) => kernel.params.iter().map(|param| &param.name).collect(),
            (None, Some(function)) => {
                let named = function.params.iter().filter_map(|param| function.values.get(param.0 as usize));
                named.map(|value| &value.name).collect()
            }
            (None, None) => Vec::new(),
        };
        names.into_iter().take(count).cloned().collect()
    };
    let mut solves = Vec::new();
    each_newton(module, &mut |op, span| {
        if let Op::Newton { residuals, guesses, equations, .. } = op {
            let line = if module.source.text().is_empty() { 0 } else { module.source.line(span.start) };
            solves.push((line, unknowns(residuals, equations, guesses.len())));
        }
    });
    solves.sort_by_key(|(line, _)| *line);
    solves
}

/// Span of the first use of Newton's method in a program, if any.
pub(super) fn newton_place(module: &Module) -> Option<Span> {
    let mut first = None;
    each_newton(module, &mut |_, span| first = first.or(Some(span)));
    first
}

/// Calls `f` with each solve and its place.
pub(super) fn each_newton(module: &Module, f: &mut impl FnMut(&Op, Span)) {
    fn in_block(block: &Block, f: &mut impl FnMut(&Op, Span)) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { op: op @ Op::Newton { .. }, .. } => f(op, statement.span),
                StmtKind::For { body, .. } => in_block(body, f),
                StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {
                }
            }
        }
    }
    module.functions.iter().chain([&module.main]).for_each(|function| in_block(&function.body, f));
}
